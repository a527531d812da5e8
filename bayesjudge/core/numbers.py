"""Columns of numbers, of whatever type they are: numbers, or text and objects that say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import expect
from bayesjudge.core.labels import listed, spell

if TYPE_CHECKING:
    import pandas as pd

#: Values that a message shows.
SHOWN = 3


def numbers_of(
    column: pd.Series, missing_value: Any = None, *, remedy: str = "leave cells without one empty"
) -> np.ndarray:
    """Numbers of a column; empty cells, and those that mean none, are nan."""
    import pandas as pd

    if missing_value is None and pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(float, na_value=np.nan)
    none = {spell(marker) for marker in listed(missing_value) or ()}
    codes, cells = pd.factorize(column.astype(object))
    texts = [spell(cell) for cell in cells]
    values = [np.nan if text in none or not text else number_of(text) for text in texts]
    wrong = [str(cell)[:40] for cell, value in zip(cells, values, strict=True) if value is None]
    many = len(wrong) > SHOWN
    shown = f"{len(wrong)} different values such as " * many + str(wrong[:SHOWN])
    expect(f"column {column.name!r}", not wrong, f"{shown} are not numbers; {remedy}")
    return np.array([*values, np.nan], float)[codes]


def number_of(text: str) -> float | None:
    """The number that a text says; None if it says none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if "_" in text or value != value else value
