"""What PyTensor and Numba are told where the package makes or compiles a graph, and its users."""

from __future__ import annotations

import hashlib
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, cast

from bayesjudge.compiled.compile_folder import tell_of_compile_folder

Function = Callable[..., Any]
#: PyTensor's settings wherever something is compiled: without a C++ compiler, and without the lines
#: that made each variable, which take two fifths of making a graph.
SETTINGS = {"cxx": "", "traceback__limit": 0}
#: The user's settings, once for each block in which they are put aside.
_put_aside: list[dict[str, Any]] = []
_changing = Lock()
#: Lines that were printed.
_shown: set[str] = set()


@contextmanager
def compiling() -> Iterator[None]:
    """Open wherever something is compiled: silences what a compiler tells its own developers.

    A function is compiled when it is first called, so the calls belong inside. What Numba says
    there is how PyTensor's code could run faster or be kept; it changes no number, nobody who uses
    this package can act on it, and it comes on a machine that has compiled nothing yet and never
    again. PyTensor hides it too, but once, when it is imported: filters that a caller sets later,
    as pytest does for each test, bring it back. The first such block of a process also says where
    a temporary folder is used.
    """
    tell_of_compile_folder()
    with own_settings():
        with suppress(ImportError):
            from numba.core.errors import NumbaPerformanceWarning, NumbaWarning

            warnings.simplefilter("ignore", NumbaPerformanceWarning)
            uncached = ".*Cannot cache compiled function"  # may begin with the codes of a colour
            warnings.filterwarnings("ignore", uncached, NumbaWarning)
        # a distribution that draws with NumPy, which Numba calls as it is
        warnings.filterwarnings("ignore", message="Numba will use object mode")
        yield


@contextmanager
def own_settings() -> Iterator[None]:
    """Put the user's settings of PyTensor aside; the last thread that leaves puts them back.

    Open wherever a graph is made, or runs in Python. Inside, PyTensor has no C++ compiler: nothing
    needs one, and graphs are the same, and so are draws, whether or not a machine has one.
    """
    from pytensor import config

    with _changing:
        theirs = {name: getattr(config, name) for name in SETTINGS if hasattr(config, name)}
        _put_aside.append(_put_aside[0] if _put_aside else theirs)
        _set({name: SETTINGS[name] for name in theirs})
    try:
        with warnings.catch_warnings():
            # without a C++ compiler PyTensor fuses fewer operations, and says so
            warnings.filterwarnings("ignore", message="Loop fusion failed")
            yield
    finally:
        with _changing:
            theirs = _put_aside.pop()
            if not _put_aside:
                _set(theirs)


def _set(settings: dict[str, Any]) -> None:
    from pytensor import config

    for name, value in settings.items():
        setattr(config, name, value)


# Operations and functions of our own, in Numba ---------------------------------------------------


@contextmanager
def telling_numba() -> Iterator[None]:
    """Where Numba cannot be told of something of ours, a line says so, and Python runs it."""
    try:
        yield
    except Exception as error:  # of a version that is told otherwise
        tell_of_failure(error, "Python runs an operation in the place of Numba, slowly")


def in_numba(operation: type) -> Callable[[Function], Function]:
    """Register what Numba does for an operation, and that its properties tell it from others."""

    def register(function: Function) -> Function:
        with telling_numba():
            from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

            register_funcify_default_op_cache_key(operation)(function)
        return function

    return register


def jitable[F: Callable[..., Any]](function: F) -> F:
    """Let functions that Numba compiles call this one."""
    with telling_numba():
        from numba.extending import register_jitable

        register_jitable(function)
    return function


def compile_function(function: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """Compile a function of `file` when it is called, and keep it where PyTensor keeps its own.

    Numba's cache goes by a function's text; here by the whole file's, since it may call others.
    """
    import numba

    text = hashlib.sha256(file.read_bytes()).hexdigest()
    try:
        from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS

        CACHED_SRC_FUNCTIONS[function] = f"{function.__module__}_{function.__name__}_{text}"
        compiled = numba.njit(cache=True, nogil=True)(function)
    except Exception as error:
        tell_of_failure(error, "each process compiles it anew")
        compiled = numba.njit(nogil=True)(function)
    return cast("Callable[..., Any]", compiled)


# Lines on stderr, each once a process ------------------------------------------------------------


def tell(text: str) -> None:
    """Print one line, once a process."""
    if text not in _shown:
        _shown.add(text)
        print(f"bayesjudge: {text}", file=sys.stderr)


def tell_of_failure(error: Exception, instead: str) -> None:
    """Name what of this package failed, and what is done instead."""
    here = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(here)]
    place = f"{Path(frames[-1].filename).stem}.{frames[-1].name}"
    tell(f"{place} failed ({type(error).__name__}: {error}): {instead}")
