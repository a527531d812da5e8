"""Small checks of what `Ratings` is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesjudge.core.names import require_names


def place_in(options: Sequence[str]) -> Any:
    """Make a sort key: the position among `options`, unknown ones last.

    Parameters
    ----------
    options : sequence of str
        In their order.

    Returns
    -------
    callable
        From an option to its position.
    """
    order = {option: i for i, option in enumerate(options)}
    return lambda option: order.get(option, len(order))


def distinct_names(names: Any, n: int, what: str, require: Any) -> tuple[str, ...]:
    """Turn names into strings, as many as wanted and all different.

    Parameters
    ----------
    names : sequence or None
        Numbers by default.
    n : int
        How many.
    what : str
        For messages.
    require : callable
        Notes a problem.

    Returns
    -------
    tuple of str
        The names.
    """
    names = tuple(map(str, range(n) if names is None else names))
    require(len(names) == n, f"{len(names)} names for {n} {what}")
    require_names(names, what, require)
    return names


def whole_counts(name: str, value: Any, shape: tuple[int, ...], require: Any) -> np.ndarray:
    """Turn counts into a frozen array of whole numbers.

    Parameters
    ----------
    name : str
        For messages.
    value : array_like or None
        Zeros by default.
    shape : tuple of int
        What is wanted.
    require : callable
        Notes a problem.

    Returns
    -------
    numpy.ndarray
        Of int.
    """
    array = np.zeros(shape, np.int64) if value is None else np.asarray(value)
    require(array.shape == shape, f"{name} has shape {array.shape}, expected {shape}")
    whole = np.issubdtype(array.dtype, np.number) and bool(np.all(array == np.floor(array)))
    require(whole and bool(np.all(array >= 0)), f"{name} must be whole numbers, 0 or more")
    if not whole:
        return array
    frozen = array.astype(np.int64)
    frozen.flags.writeable = False
    return frozen
