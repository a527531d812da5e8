"""Checks of the arrays that tables of verdicts and their views are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import Require

#: How many offending values a message shows.
SHOWN = 3


def whole_numbers(
    name: str, value: Any, shape: tuple[int, ...], require: Require, expected: str = ""
) -> np.ndarray:
    """Whole numbers of 0 or more, of that shape and read-only; what they are not is noted."""
    array = np.asarray(value)
    fits = array.shape == shape
    require(fits, "other-shape", name=name, shape=array.shape, what=expected or shape)
    right = np.zeros(array.shape, bool)
    if np.issubdtype(array.dtype, np.number):
        right = np.isfinite(array) & (array >= 0) & (array == np.floor(array))
    wrong = array[~right][:SHOWN].tolist()
    require(not wrong, "must be whole numbers, 0 or more", **{name: wrong})
    if wrong or not fits:
        return array
    frozen = array.astype(np.int64)
    frozen.flags.writeable = False
    return frozen


def require_places(
    name: str, array: np.ndarray, rows: int, low: float, high: float, require: Require
) -> None:
    """Note an array of another length, and places or counts below `low` or not below `high`."""
    fits = array.shape[:1] == (rows,)
    require(fits, f"{name} has shape {array.shape}, expected one for each of {rows}")
    odd = np.unique(array[~((array >= low) & (array < high) & (array == np.floor(array)))])
    shown = odd[:SHOWN].tolist()
    require(not shown, "out-of-range", name=name, shown=shown, low=low, what=high - 1)
