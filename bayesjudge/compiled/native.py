"""Machine code that a sampler calls as C, kept on disk from one process to the next.

Numba keeps what `njit` compiles, but not a C callback around a function that lives in memory only:
its cache is named by a source file. Here the name is given: whoever compiles says in words what
the code depends on, and this adds what Numba does, which are its versions and the processor. A
callback takes the addresses and lengths of its arrays when it is called, and the lengths of the
parts of a point, so that nothing of the data is in the code. Another version, processor or text is
another file, so that a file is either right or not found.

A file is read if it is this user's alone, and so is its folder, and if it begins with what it was
asked for; names stand in JSON, apart from the code. LLVM links it to the C functions that Numba
brings along. `compiler.py` makes it.
"""

from __future__ import annotations

import builtins
import ctypes
import hashlib
import json
import math
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from bayesjudge.compiled.compile_folder import not_private

#: What a file begins with; the number changes with what is written after it.
FORMAT = b"bayesjudge machine code 4\n"
#: Bytes of code that a folder may hold: what was used longest ago goes first.
LARGEST = 400_000_000
#: Files whose functions make the code.
MAKERS = ("compiler.py",)
#: Settings of Numba that change code, and what they are unless somebody asks.
SETTINGS = {"OPT": 3, "BOUNDSCHECK": None, "CPU_NAME": None, "CPU_FEATURES": None}
#: Settings that depend on the processor, unless somebody asks.
OF_PROCESSOR = ("ENABLE_AVX",)
#: Functions of mathematics that Numba takes from the library of C with which it was built.
MATHEMATICS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos"),
    *("cosh", "exp", "expm1", "fabs", "floor", "fmod", "log", "log10", "log1p"),
    *("pow", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
#: Whether LLVM's linker is known to link such code here.
LINKS = sys.platform == "linux" and platform.machine() == "x86_64"

#: A link is not followed, nobody is waited for who writes to a pipe, and lines end as they are.
WITH_CARE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

_numbers = count()
_linking = Lock()


class Array(NamedTuple):
    """An array that a function takes after its first argument."""

    name: str
    dtype: str
    ndim: int


class Code(NamedTuple):
    """Machine code of a callback, and what it wants to find in memory."""

    binary: bytes
    name: str
    #: By name, what code that calls Python wants to know, in JSON: nearly always nothing.
    environments: dict[str, str]


class Callback(NamedTuple):
    """A function in memory, and the arrays whose addresses it wants."""

    address: int
    arrays: tuple[Array, ...]
    #: What lives as long as the function.
    owner: Any
    #: What can be kept of it: code, or what Numba would keep; None if nothing can.
    kept: Code | bytes | None

    def addresses(
        self, data: dict[str, np.ndarray], parts: Sequence[tuple[int, ...]]
    ) -> np.ndarray:
        """What the callback takes as its last argument; `data` must outlive it.

        `parts` are the shapes of which a point consists.
        """
        numbers: list[int] = []
        begin = 0
        for shape in parts:
            numbers += [begin, *shape]
            begin += np.dtype(float).itemsize * math.prod(shape)
        for name, dtype, ndim in self.arrays:
            array = data[name]
            if (array.dtype.str, array.ndim) != (dtype, ndim) or not array.flags.c_contiguous:
                raise TypeError(f"{name} must be {dtype} with {ndim} dimensions, is {array.dtype}")
            numbers += [array.ctypes.data, *array.shape]
        return np.array([*numbers, 0], dtype=np.int64)


# What code depends on -----------------------------------------------------------------------------


def machine() -> str:
    """What machine code depends on besides what it was compiled from."""
    versions = [version(name) for name in ("numba", "llvmlite", "numpy")]
    processor = llvm.get_process_triple(), llvm.get_host_cpu_name(), _features()
    sources = [Path(__file__).with_name(name).read_bytes() for name in MAKERS]
    digest = hashlib.sha256(b"".join(sources)).hexdigest()
    settings = _settings(), sys.flags.optimize, LINKS
    return repr((FORMAT, versions, platform.python_version(), settings, processor, digest))


def _features() -> str:
    with suppress(RuntimeError):
        return llvm.get_host_cpu_features().flatten()
    return ""


def _settings() -> dict[str, Any]:
    """Settings of Numba that somebody changed."""
    from numba.core import config

    asked = Path(".numba_config.yaml").exists()
    asked = asked or any(f"NUMBA_{name}" in os.environ for name in (*SETTINGS, *OF_PROCESSOR))

    settings = {name: getattr(config, name) for name in SETTINGS}
    changed = {name: str(value) for name, value in settings.items() if value != SETTINGS[name]}
    return changed | {name: getattr(config, name) for name in OF_PROCESSOR if asked}


# Code becomes a function --------------------------------------------------------------------------


def link(code: Code, arrays: tuple[Array, ...]) -> Callback:
    """Link code to what it calls; RuntimeError if something is missing."""
    with _linking:
        library = llvm.JITLibraryBuilder().add_object_img(code.binary).add_current_process()
        for name, address in _symbols().items():
            library.import_symbol(name, address)
        for name in (code.name, *code.environments):
            library.export_symbol(name)
        linked = library.link(_linker(), f"callback {next(_numbers)}")
        environments = [_environment(known) for known in code.environments.values()]
    for name, environment in zip(code.environments, environments, strict=True):
        ctypes.c_void_p.from_address(linked[name]).value = id(environment)
    return Callback(linked[code.name], arrays, (linked, environments), code)


@cache
def _linker() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(suppress_errors=True)


@cache
def _symbols() -> dict[str, int]:
    """C functions that Numba's code calls, and exceptions of Python, by the names it has for them.

    As Numba itself makes them known to LLVM.
    """
    helpers = (
        import_module("numba._helperlib").c_helpers | import_module("numba._dynfunc").c_helpers
    )
    memory = import_module("numba.core.runtime._nrt_python")
    memory.memsys_use_cpython_allocator()
    known = {f"numba_{name}": address for name, address in helpers.items()}
    names = [f"{name}{end}" for name in MATHEMATICS for end in ("", "f")]
    known |= {name: helpers[name] for name in names if name in helpers}
    known |= {
        name if name.startswith("_") else f"NRT_{name}": address
        for name, address in memory.c_helpers.items()
    }
    errors = [error for error in vars(builtins).values() if isinstance(error, type)]
    known |= {f"PyExc_{e.__name__}": id(e) for e in errors if issubclass(e, BaseException)}
    return known | {"_Py_NoneStruct": id(None)}


def _environment(known: str) -> Any:
    """What code that calls Python knows: names of a module, and values."""
    make = import_module("numba._dynfunc").Environment
    if not known:
        return make({})
    module, values = json.loads(known)
    environment = make(vars(import_module(module)))
    environment.consts[:] = [
        np.dtype(value["dtype"]) if isinstance(value, dict) else value for value in values
    ]
    return environment


# Code is kept -------------------------------------------------------------------------------------


def file_of(folder: Path, key: str) -> Path:
    """Where code with this key is kept."""
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"


def write(folder: Path, key: str, callbacks: dict[str, Callback]) -> str | None:
    """Keep callbacks; say in words why that is not possible, if it is not."""
    if any(callback.kept is None for callback in callbacks.values()):
        return "it holds an address or a large array, or calls Python"
    parts = {name: _part(callback) for name, callback in callbacks.items()}
    names = json.dumps([key, {name: about for name, (about, _) in parts.items()}]).encode()
    body = b"".join([len(names).to_bytes(8), names, *(binary for _, binary in parts.values())])
    path = file_of(folder, key)
    temporary = ""
    try:
        if problem := _opened(folder, make=True):
            return f"{folder} {problem}"
        handle, temporary = tempfile.mkstemp(dir=folder)
        with open(handle, "wb") as file:
            file.write(FORMAT + hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)  # whole or not at all, also for who reads at this moment
        _prune(folder, kept=path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        return f"{error.strerror}: {folder}"
    return None


def _part(callback: Callback) -> tuple[dict[str, Any], bytes]:
    """What is kept of a callback: what JSON can hold, and code."""
    kept = callback.kept
    assert kept is not None
    binary = kept.binary if isinstance(kept, Code) else kept
    names = (kept.name, kept.environments) if isinstance(kept, Code) else None
    return {"arrays": callback.arrays, "names": names, "bytes": len(binary)}, binary


def _opened(folder: Path, *, make: bool = False) -> str:
    """Make a folder this user's alone; say in words why it is not, if it is not."""
    if make and folder.is_absolute():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    problem = not_private(folder, others=0o077)
    if problem and not not_private(folder, others=0):  # it is, but for who may read or write there
        with suppress(OSError):
            folder.chmod(0o700)
        problem = not_private(folder)
    return problem


def _prune(folder: Path, kept: Path) -> None:
    """Remove what was used longest ago: versions and models come and go."""
    files = {path: path.stat() for path in folder.glob("*.code")}
    spare = sum(status.st_size for status in files.values()) - LARGEST
    for path in sorted(files, key=lambda path: files[path].st_mtime):
        if spare <= 0:
            return
        if path != kept:
            path.unlink(missing_ok=True)
            spare -= files[path].st_size


def read(
    folder: Path, key: str, rebuild: Callable[[bytes, tuple[Array, ...]], Callback]
) -> dict[str, Callback] | str | None:
    """Take callbacks that were kept: None if there are none, or why they cannot be used.

    `rebuild` loads what Numba kept of one, where LLVM's linker is not known to do without it; only
    that is a pickle.
    """
    path = file_of(folder, key)
    if not path.exists():
        return None
    if problem := _opened(folder):
        return f"{folder} {problem}"
    content, problem = _content(path)
    digest, body = content[len(FORMAT) : len(FORMAT) + 32], content[len(FORMAT) + 32 :]
    if problem:
        return f"{path} {problem}"
    if not content.startswith(FORMAT) or hashlib.sha256(body).digest() != digest:
        return f"{path} is damaged"
    place = 8 + int.from_bytes(body[:8])
    stored_key, parts = json.loads(body[8:place])
    if stored_key != key:
        return f"{path} holds the code of something else"
    callbacks = {}
    try:
        for name, about in parts.items():
            binary, place = body[place : place + about["bytes"]], place + about["bytes"]
            arrays = tuple(Array(*array) for array in about["arrays"])
            if about["names"] is not None:
                function, environments = about["names"]
                callbacks[name] = link(Code(binary, function, environments), arrays)
            elif LINKS:
                return f"{path} is of another platform"
            else:
                callbacks[name] = rebuild(binary, arrays)
    except RuntimeError:
        return f"{path} calls functions that are not here"
    return callbacks


def _content(path: Path) -> tuple[bytes, str]:
    """What a file of this user holds, or why it is not read: it may be anybody's."""
    try:
        handle = os.open(path, os.O_RDONLY | WITH_CARE)
    except OSError as error:
        return b"", f"cannot be read ({error.strerror})"
    try:
        if problem := not_private(handle):
            return b"", problem
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b"", "is no file"
        with suppress(OSError):
            os.utime(path)  # used just now
        with open(handle, "rb", closefd=False) as file:
            return file.read(), ""
    finally:
        os.close(handle)
