"""Machine code that a sampler calls as C, kept on disk from one process to the next.

Numba keeps what `njit` compiles, but not a C callback around a function that lives in memory only:
its cache is named by a source file. Here the name is given: whoever compiles says in words what
the code depends on, and this adds what Numba does, which are its versions and the processor. A
callback takes the addresses and lengths of its arrays when it is called, so that nothing of the
data is in the code. Another version, processor or text is another file, so that a file is either
right or not found.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba.core import cgutils, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.extending import intrinsic

#: What a file begins with; the number changes with what is written after it.
FORMAT = b"bayesjudge machine code 2\n"
#: Bytes of code that a folder may hold: what was used longest ago goes first.
LARGEST = 400_000_000
_POINTER = types.CPointer(types.float64)
_DATA = types.CPointer(types.int64)
SIGNATURES = {
    "density": types.int64(types.uint64, _POINTER, _POINTER, _POINTER, _DATA),
    "expand": types.int64(types.uint64, types.uint64, _POINTER, _POINTER, _DATA),
}
#: What nutpie calls. It takes a result above 0 for a point without density, below 0 for the end.
#: Numbers are copied one by one: Numba compiles a lot for `out[...] = values`, mostly its message.
SOURCES = {
    "density": """
def density(size, x, slope, value, data):
    try:
        found, gradient = inner({arguments})
        value[0] = found[()]
        for i in range({size}):
            slope[i] = gradient[i]
    except Exception:
        return 1
    for i in range({size}):
        if not np.isfinite(slope[i]):
            return 3
    return 0 if np.isfinite(value[0]) else 4
""",
    "expand": """
def expand(size, length, x, out, data):
    try:
        (values,) = inner({arguments})
        if values.size != length:
            return -1
        for i in range(values.size):
            out[i] = values[i]
    except Exception:
        return -2
    return 0
""",
}


class Array(NamedTuple):
    """An array that a function takes after its first argument."""

    name: str
    dtype: str
    ndim: int


class Callback(NamedTuple):
    """A function in machine code, and the arrays whose addresses it wants."""

    result: CompileResult
    arrays: tuple[Array, ...]

    @property
    def address(self) -> int:
        """Where the code begins."""
        name = self.result.fndesc.llvm_cfunc_wrapper_name
        return int(self.result.library.get_pointer_to_function(name))

    def addresses(self, data: dict[str, np.ndarray]) -> np.ndarray:
        """What the callback takes as its last argument; `data` must outlive it."""
        found: list[int] = []
        for name, dtype, ndim in self.arrays:
            array = data[name]
            if (array.dtype.str, array.ndim) != (dtype, ndim) or not array.flags.c_contiguous:
                raise TypeError(f"{name} must be {dtype} with {ndim} dimensions, is {array.dtype}")
            found += [array.ctypes.data, *array.shape]
        return np.array([*found, 0], dtype=np.int64)


def make_code(translated: dict[str, Callback]) -> dict[str, Callback]:
    """Make machine code of callbacks that were translated."""
    return {name: one._replace(result=_with_code(one.result)) for name, one in translated.items()}


def _with_code(result: CompileResult) -> CompileResult:
    """Let nothing but the callback be seen from outside.

    Functions that several libraries of a process define are one to LLVM, which takes the first that
    comes. That may have been optimised in another way, and its results then differ in their last
    bits, from one process to the next. Names of their own are needed too: LLVM finds an internal
    function by its name, and may have changed what arguments that one takes.
    """
    library, callback = result.library, result.fndesc.llvm_cfunc_wrapper_name
    optimise = library._optimize_final_module

    def closed() -> None:
        for function in library._final_module.functions:
            if not function.is_declaration and function.name != callback:
                function.linkage = "internal"
                function.name = f"{function.name}.of.{callback}"
        optimise()

    library._optimize_final_module = closed
    with global_compiler_lock:
        library.finalize()
    environments = result._find_referenced_environments()  # of parts that call Python
    for one in environments:
        library.codegen.set_env(one.env_name, one)
    return result._replace(referenced_envs=tuple(environments))


@intrinsic
def _pointer(typing_context, address):
    """The pointer that a number is."""

    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


def translate_callback(
    kind: str, inner: Callable[..., Any], size: int, arrays: Sequence[Array]
) -> Callback:
    """Translate a callback around `inner`, of `size` numbers and `arrays`; `make_code` follows."""
    arguments, place = [f"carray(x, ({size},))"], 0
    for i, (_, _, ndim) in enumerate(arrays):
        lengths = "".join(f"data[{place + 1 + j}], " for j in range(ndim))
        arguments.append(f"carray(pointer(data[{place}]), ({lengths}), dtype_{i})")
        place += 1 + ndim
    scope: dict[str, Any] = {f"dtype_{i}": np.dtype(one.dtype) for i, one in enumerate(arrays)}
    # with the name of a module that can be imported, Numba can read what it writes
    scope |= {"__name__": __name__, "inner": inner, "pointer": _pointer}
    scope |= {"np": np, "carray": numba.carray}
    exec(SOURCES[kind].format(arguments=", ".join(arguments), size=size), scope)
    signature = sigutils.normalize_signature(SIGNATURES[kind])
    function = CFunc(scope[kind], signature, locals={}, options={})
    return Callback(function._compile_uncached(), tuple(arrays))


def machine() -> str:
    """What machine code depends on besides what it was compiled from."""
    codegen = cpu_target.target_context.codegen()
    versions = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version())
    settings = (numba.config.OPT, numba.config.BOUNDSCHECK, sys.flags.optimize)
    sources = hashlib.sha256(repr((SOURCES, SIGNATURES)).encode()).hexdigest()
    return repr((FORMAT, versions, settings, codegen.magic_tuple(), sources))


def file_of(folder: Path, key: str) -> Path:
    """Where code with this key is kept."""
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"


def write(folder: Path, key: str, callbacks: dict[str, Callback]) -> str | None:
    """Keep callbacks; say in words why that is not possible, if it is not."""
    if any(one.result.library.has_dynamic_globals for one in callbacks.values()):
        return "it holds an address or a large array"
    reduced = {name: (one.result._reduce(), one.arrays) for name, one in callbacks.items()}
    body = dumps((key, reduced))
    path = file_of(folder, key)
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
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


def _prune(folder: Path, kept: Path) -> None:
    """Remove what was used longest ago: versions and models come and go."""
    found = {path: path.stat() for path in folder.glob("*.code")}
    spare = sum(one.st_size for one in found.values()) - LARGEST
    for path in sorted(found, key=lambda path: found[path].st_mtime):
        if spare <= 0:
            return
        if path != kept:
            path.unlink(missing_ok=True)
            spare -= found[path].st_size


def read(folder: Path, key: str) -> dict[str, Callback] | str | None:
    """Take callbacks that were kept: None if there are none, or why they cannot be used."""
    path = file_of(folder, key)
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    digest, body = content[len(FORMAT) : len(FORMAT) + 32], content[len(FORMAT) + 32 :]
    if not content.startswith(FORMAT) or hashlib.sha256(body).digest() != digest:
        return f"{path} is damaged"
    found, reduced = pickle.loads(body)
    if found != key:
        return f"{path} holds the code of something else"
    with suppress(OSError):
        os.utime(path)  # used just now
    context = cpu_target.target_context
    context.refresh()
    return {
        name: Callback(CompileResult._rebuild(context, *parts), arrays)
        for name, (parts, arrays) in reduced.items()
    }
