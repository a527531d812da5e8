"""From a table of one row an answer to counts, with what is needed to see an order effect."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.tables import read_rows


def read_scores(
    table: Any,
    scale: tuple[float, ...],
    *,
    score: str,
    item: str | None,
    judge: str | None,
    order: str | None,
) -> dict[str, Any]:
    """Count scores by item, judge and value.

    Parameters
    ----------
    table : dataframe
        One row an answer.
    scale : tuple of float
        Values that may occur.
    score, item, judge, order : str or None
        Columns.

    Returns
    -------
    dict
        ``counts``, ``items``, ``judges``, ``unparsed``, ``first`` and ``drift`` of `Scores`.

    Raises
    ------
    InputError
        Where a column is missing, or a score is not a number of the scale.
    """
    names = [c for c in (item, judge) if c is not None]
    rows = read_rows(table, score, *([] if order is None else [order]), names=names)
    if order is not None:
        rows = rows.iloc[np.argsort(_moments(rows[order], order), kind="stable")]
    items, item_at = _codes(rows, item, "item")
    judges, judge_at = _codes(rows, judge, "judge")
    values = _numbers(rows[score], score, scale)
    cells = (len(items), len(judges))
    cell = item_at * len(judges) + judge_at
    known = ~np.isnan(values)
    unparsed = np.bincount(cell[~known], minlength=cells[0] * cells[1])
    cell, values = cell[known], values[known]
    flat = np.zeros((cells[0] * cells[1], len(scale)), np.int64)
    np.add.at(flat, (cell, np.searchsorted(scale, values)), 1)
    first, drift = _in_order(cell, values, len(flat))
    return {
        "counts": flat.reshape(*cells, -1),
        "items": items,
        "judges": judges,
        "unparsed": unparsed.reshape(cells),
        "first": first.reshape(cells),
        "drift": drift.reshape(cells),
    }


def _codes(rows: pd.DataFrame, column: str | None, name: str) -> tuple[list[str], np.ndarray]:
    if column is None:
        return [name], np.zeros(len(rows), np.int64)
    codes, labels = pd.factorize(rows[column])
    return list(labels), codes.astype(np.int64)


def _moments(column: pd.Series, name: str) -> np.ndarray:
    """Place of each row in time, 0 the first."""
    codes, cells = pd.factorize(column)
    with checking(f"column {name!r}") as require:
        empty = int(np.sum(codes < 0))
        require(not empty, f"{empty} rows do not say when; fill the column or leave them out")
    if isinstance(cells.dtype, pd.CategoricalDtype) and cells.dtype.ordered:
        keys = cells.codes
    elif cells.dtype.kind in "iufMm":  # numbers, times and spans of time
        keys = np.asarray(cells)
    else:
        keys = _parsed_moments([str(cell).strip() for cell in cells], name)
    return np.unique(keys, return_inverse=True)[1][codes]


def _parsed_moments(cells: list[str], name: str) -> np.ndarray:
    """Read all cells as numbers, or all as times."""
    for read in (Decimal, datetime.fromisoformat):
        try:
            moments = np.array([read(cell) for cell in cells], dtype=object)
            np.sort(moments)
        except (ArithmeticError, ValueError, TypeError):
            continue
        return moments
    with checking(f"column {name!r}") as require:
        words = [cell for cell in cells if not cell.replace(".", "", 1).lstrip("+-").isdecimal()]
        require(
            False,
            f"{words[:3]} give no order: expected numbers only, or ISO times only (such as "
            "2026-01-31T12:00:00, with an offset from UTC in all of them or in none)",
        )
    raise AssertionError


def _numbers(column: pd.Series, name: str, scale: tuple[float, ...]) -> np.ndarray:
    values = pd.to_numeric(column, errors="coerce").to_numpy(float)
    words = sorted(set(column[np.isnan(values) & column.notna().to_numpy()].astype(str)))
    off = sorted(set(values[~np.isnan(values) & ~np.isin(values, scale)].tolist()))
    with checking(f"column {name!r}") as require:
        require(
            not words,
            f"{words[:3]} are not numbers; leave the cells of answers without a score empty",
        )
        require(not off, f"{off[:3]} are not on the scale {list(scale)}")
    return values


def _in_order(cell: np.ndarray, values: np.ndarray, n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """First score of each cell, and sum of (position - mean position) * score."""
    by_cell = np.argsort(cell, kind="stable")
    n = np.bincount(cell, minlength=n_cells)
    starts = np.cumsum(n) - n
    position = np.arange(len(cell)) - np.repeat(starts, n)
    ordered = values[by_cell]
    first = np.full(n_cells, np.nan)
    first[n > 0] = ordered[starts[n > 0]]
    centred = position - np.repeat((n - 1) / 2, n)
    drift = np.bincount(cell[by_cell], weights=centred * ordered, minlength=n_cells)
    return first, np.where(n > 0, drift, np.nan)
