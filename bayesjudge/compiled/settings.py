"""PyTensor's settings, and what compilers say, wherever the package makes or compiles a graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from bayesjudge.compiled.compile_folder import tell_of_compile_folder
from bayesjudge.compiled.operations import tell_numba

#: PyTensor's settings wherever something is compiled: without a C++ compiler, and without the lines
#: that made each variable, which take two fifths of making a graph.
SETTINGS = {"cxx": "", "traceback__limit": 0}
#: The user's settings, once for each block in which they are put aside.
_put_aside: list[dict[str, Any]] = []
_changing = Lock()


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
    tell_numba()
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
