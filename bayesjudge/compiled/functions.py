"""Functions in Numba that stand in a file of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from bayesjudge.compiled.operations import tell_numba
from bayesjudge.compiled.telling import tell_of_failure


def compile_function(function: Callable[..., Any], file: Path) -> Callable[..., Any]:
    """Compile a function of `file` when it is called, and keep it where PyTensor keeps its own.

    Numba keeps a function by its own text; here the whole file's counts, as it may call others.
    """
    import numba

    tell_numba()
    text = hashlib.sha256(file.read_bytes()).hexdigest()
    try:
        from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS

        CACHED_SRC_FUNCTIONS[function] = f"{function.__module__}_{function.__name__}_{text}"
        made = numba.njit(cache=True, nogil=True)(function)
    except Exception as error:
        tell_of_failure(error, "each process compiles it anew")
        made = numba.njit(nogil=True)(function)
    return cast("Callable[..., Any]", made)
