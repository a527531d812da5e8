"""Scores counted: each different one, or, of too many in an engine, by cells of the scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayesjudge.core.labels import spell
from bayesjudge.core.tables import count_cells, count_rows, is_counted_in_place, require_columns

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd

#: More different scores than this are grouped, if an engine holds them, into so many cells.
MOST_SCORES, CELLS = 100_000, 2**14


def count_scores(
    table: Any,
    score: str,
    truth: str,
    propensity: str | None,
    scale: tuple[float, float] | str,
    none: set[str],
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Scores and truths, how many rows have each, and how many rows were grouped."""
    import narwhals as nw
    import pandas as pd

    columns = [score, truth, *([] if propensity is None else [propensity])]
    require_columns(table, *columns)
    if propensity is not None or not is_counted_in_place(table):
        return *count_rows(table, *columns), 0
    frame = nw.from_native(table).lazy().select(*columns)
    several = frame.select(nw.col(score).n_unique()).collect()[score][0]
    if not frame.collect_schema()[score].is_numeric() or several <= MOST_SCORES:
        return *count_rows(table, *columns), 0
    cells, _ = count_cells(table, truth)
    empty = [x for x in cells[truth] if x is not None and _is_none(x, none)]
    known = nw.col(truth).is_in([x for x in cells[truth] if x is not None and x not in empty])
    if len(empty) == sum(x is not None for x in cells[truth]):
        return *count_rows(table, *columns), 0  # without a label there is no estimate
    labelled, n_labelled = count_rows(frame.filter(known).to_native(), score, truth)
    means, n = _by_cell(frame.filter(~known | nw.col(truth).is_null()), score, scale)
    others = pd.DataFrame({score: means, truth: None}, dtype=object)
    rows = pd.concat([labelled.astype(object), others], ignore_index=True)
    return rows, np.concatenate([n_labelled, n]), int(n[~np.isnan(means)].sum())


def _is_none(cell: Any, none: set[str]) -> bool:
    return not str(cell).strip() or spell(cell) in none


def _by_cell(
    frame: nw.LazyFrame, score: str, scale: tuple[float, float] | str
) -> tuple[np.ndarray, np.ndarray]:
    """Mean score and number of rows of each cell of the scale; one more of rows without a score."""
    import narwhals as nw

    value = nw.col(score).cast(nw.Float64)
    value = nw.when(~value.is_nan()).then(value)
    cell = (unit_of(value, scale) * CELLS).floor()
    each = frame.select(value.alias("score"), cell.alias("cell"))
    found = (
        each.group_by("cell")
        .agg(nw.col("score").mean().alias("mean"), nw.len().alias("n_rows"))
        .sort("cell")
        .collect()
    )
    means = found["mean"].cast(nw.Float64).to_list()
    return np.array(means, float), found["n_rows"].to_numpy().astype(np.int64)


def unit_of(value: Any, scale: tuple[float, float] | str) -> Any:
    """A score, or an engine's column of them, between 0 and 1."""
    if isinstance(scale, str):
        return expit(value) if isinstance(value, np.ndarray) else 1 / (1 + (-value).exp())
    return (value - scale[0]) / (scale[1] - scale[0])


def cell_of(scores: np.ndarray, scale: tuple[float, float] | str) -> np.ndarray:
    """Cell of each score."""
    return np.floor(unit_of(np.asarray(scores, float), scale) * CELLS).astype(np.int64)
