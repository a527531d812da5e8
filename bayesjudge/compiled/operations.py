"""What Numba is told of operations of our own, before it compiles anything.

To tell it at once would import it, and PyTensor's part for it: half a second that a process does
not need if it finds its code on disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bayesjudge.compiled.telling import tell_of_failure

Function = Callable[..., Any]
_waiting: list[Callable[[], Any]] = []


def before_compiling(tell: Callable[[], Any]) -> None:
    """Call `tell` before anything is compiled: at once, if PyTensor has imported Numba."""
    if "pytensor.link.numba.dispatch" in sys.modules:
        tell()
    else:
        _waiting.append(tell)


def tell_numba() -> None:
    """Call what waits: wherever something may be compiled after this."""
    with _told_if_it_fails():
        import pytensor.link.numba.dispatch  # noqa: F401

    while _waiting:
        with _told_if_it_fails():
            _waiting.pop(0)()


@contextmanager
def _told_if_it_fails() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # of a version that is told otherwise
        tell_of_failure(error, "Python runs an operation in the place of Numba, slowly")


def in_numba(operation: type) -> Callable[[Function], Function]:
    """Register what Numba does for an operation, and that its properties tell it from others."""

    def register(function: Function) -> Function:
        def tell() -> None:
            from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key

            register_funcify_default_op_cache_key(operation)(function)

        before_compiling(tell)
        return function

    return register


def jitable[F: Callable[..., Any]](function: F) -> F:
    """Let functions that Numba compiles call this one."""

    def tell() -> None:
        from numba.extending import register_jitable

        register_jitable(function)

    before_compiling(tell)
    return function
