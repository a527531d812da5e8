"""One thread for matrix products: of small matrices more of them only wait for each other."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


def one_blas_thread() -> Any:
    """Let a matrix product use one thread, within ``with``."""
    return _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _libraries(scipy_too: bool) -> Any:
    """Those that are loaded, NumPy's and perhaps SciPy's: to look for them takes a while."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
