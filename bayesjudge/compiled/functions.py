"""Functions in Numba that stand in a file of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from bayesjudge.compiled.operations import tell_numba


def compile_function(function: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """Compile a function of `file` when it is called, and keep it where PyTensor keeps its own.

    Numba keeps a function by its own text; here the whole file's counts, as it may call others.
    """
    import numba
    from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS

    tell_numba()
    text = hashlib.sha256(file.read_bytes()).hexdigest()
    CACHED_SRC_FUNCTIONS[function] = f"{function.__module__}_{function.__name__}_{text}"
    return cast("Callable[..., Any]", numba.njit(cache=True, nogil=True)(function))
