"""One thread for matrix products: of small matrices more of them only wait for each other."""

from __future__ import annotations

from typing import Any


def one_blas_thread() -> Any:
    """Let a matrix product use one thread, within ``with`` or as a decorator."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")
