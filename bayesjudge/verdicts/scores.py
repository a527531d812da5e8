"""Tables of scores: numbers that a judge gave, with labels that are passes and fails or numbers.

Each different score is one response or, of too many in an engine, each cell of the scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.labels import listed, pass_name_of, read_labels, spell
from bayesjudge.core.numbers import graded, numbers_of, scale_of_threshold, scores_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import (
    count_cells,
    count_rows,
    has_repeats,
    is_counted_in_place,
    read_rows,
    require_columns,
    require_spoken,
)
from bayesjudge.verdicts.labels import MISSING, PASS_OR_FAIL, Meanings

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd

    from bayesjudge.verdicts.reading import Reading

#: Lowest and highest score that a judge can give, or log-odds, which have no ends.
Scale = tuple[float, float] | str
#: More different scores than this are grouped, if an engine holds them, into so many cells.
MOST_SCORES, CELLS = 100_000, 2**14
NO_SCORE = "missing_value= names what stands for none"


def read_scores(table: Any, how: Reading) -> dict[str, Any]:
    """The fields of a table of scores; rows of one item count as one, with their means."""
    (score,), truths, scale = how.verdict, how.labels[1:], how.scale
    assert scale is not None
    several, n_rows = how.item is not None and has_repeats(table, how.item), 0
    if several:
        rows, grouped = read_rows(table, score, *truths, names=[str(how.item)]), 0
        n = np.ones(len(rows), np.int64)
    else:
        rows, n, grouped = count_scores(table, how)
    meanings = how.pass_value, how.fail_value, how.missing_value
    scales = how.truth_scale, how.truth_from, meanings
    read = _of_people(
        [read_cells(rows[score], rows[truth], scale, *scales) for truth in truths], len(how.people)
    )
    kept = ~np.isnan(read.score)
    require_spoken(how.subject, [] if kept.any() or not len(kept) else [score])
    lost = int(n[~kept].sum())
    words = "say unscored='drop' if items without one are as good as the others"
    problem = f"{how_many(lost, 'row', 'have')} no score; {words}"
    expect(f"column {score!r}", not lost or how.unparsed, problem)
    groups: dict[str, Any] = {}
    group = np.zeros(len(n), np.int64)
    if how.propensity is not None and not several:
        chances, group = np.unique(numbers_of(rows[how.propensity]), return_inverse=True)
        names = tuple(map(str, chances.tolist()))
        groups = {"groups": names, "propensity": chances, "dim": "stratum"}
    unparsed = np.bincount(group[~kept], n[~kept], int(group.max(initial=0)) + 1)
    given, labels, group, n = read.score[kept], read.truth[kept], group[kept], n[kept]
    if several:
        given, scale = as_numbers(given, scale)
        items, design = {"item": rows[how.item][kept]}, design_of(how.calibration)
        means = by_item(items, given, labels, design, read.truth_scale)
        given, labels = means["score"].to_numpy(), means["truth"].to_numpy()
        n_rows, group, n = int(n.sum()), group[: len(means)], np.ones(len(means), np.int64)
    responses, response = np.unique(given, return_inverse=True)
    classes, place = truths_of(labels, read.truth_scale)
    return {
        "response": response,
        "truth": place,
        "group": group,
        "count": n,
        "calibration": how.calibration,
        "judges": how.verdict,
        "classes": classes,
        "responses": responses.tolist(),
        "unparsed": unparsed[:, None],
        "distinct": how.item is not None,
        "spelling": read.spelling,
        "pass_name": read.pass_name,
        "scale": scale,
        "truth_scale": read.truth_scale,
        "grouped": grouped,
        "rows": n_rows,
        **groups,
    }


def _of_people(read: Sequence[Cells], people: int) -> Cells:
    """What people say of an output on average, or what was settled: a number, of several people."""
    if not people:
        return read[0]
    said = np.array([person.truth for person in read[:people]])
    given = ~np.isnan(said)
    with np.errstate(invalid="ignore"):
        mean = np.where(given, said, 0.0).sum(axis=0) / given.sum(axis=0)
    settled = read[people].truth if len(read) > people else np.full(len(mean), np.nan)
    spelling = "; ".join(dict.fromkeys(each.spelling for each in read if each.spelling))
    truth = np.where(np.isnan(settled), mean, settled)
    scale = read[0].truth_scale or (0.0, 1.0)
    return read[0]._replace(truth=truth, truth_scale=scale, spelling=spelling)


def truths_of(
    truth: np.ndarray, truth_scale: tuple[float, float] | None
) -> tuple[tuple[Any, ...], np.ndarray]:
    """What can be true, and the place of each truth, of numbers or of 1 and 0; -1 if none."""
    known = ~np.isnan(truth)
    levels = np.array([0.0, 1.0]) if truth_scale is None else np.unique(truth[known])
    place = np.where(known, np.searchsorted(levels, truth), MISSING)
    return PASS_OR_FAIL if truth_scale is None else tuple(levels.tolist()), place


class Cells(NamedTuple):
    """Scores and human labels of a table, on which scale labels are, and how they were read."""

    score: np.ndarray
    truth: np.ndarray
    truth_scale: tuple[float, float] | None
    spelling: str
    pass_name: str


def read_cells(
    score: Any,
    truth: Any,
    scale: Scale,
    truth_scale: tuple[float, float] | None,
    truth_from: float | None,
    meanings: Meanings,
) -> Cells:
    """Read a column of scores and one of labels: numbers, numbers with a threshold, or passes."""
    s = scores_of(score, meanings[2], scale=scale, remedy=NO_SCORE)
    said = graded(score, s)
    if truth_scale is not None or truth_from is not None:
        of_people = truth_scale if truth_from is None else scale_of_threshold(truth_from)
        t = scores_of(truth, meanings[2], scale=of_people, remedy=NO_SCORE)
        said = "; ".join(dict.fromkeys(filter(None, [said, graded(truth, t)])))
        if truth_from is not None:
            t, truth_scale = np.where(np.isnan(t), np.nan, (t >= truth_from).astype(float)), None
        return Cells(s, t, truth_scale, said, "")
    labels = truth.astype(object)
    passes, fails, none = meanings
    read, spelling = read_labels(
        {truth.name: labels.where(labels.notna(), None).tolist()},
        pass_value=passes,
        fail_value=fails,
        missing_value=none,
    )
    plain = "" if passes or labels.map(type).eq(str).any() else "1 read as pass, 0 as fail"
    said = "; ".join(filter(None, [said, str(spelling) or plain]))
    return Cells(s, read[truth.name], None, said, pass_name_of(passes, spelling))


def as_probability(log_odds: Any) -> Any:
    """Probabilities of log-odds."""
    from scipy.special import expit  # slow to load

    return expit(log_odds)


def as_numbers(score: Any, scale: Scale) -> tuple[Any, tuple[float, float]]:
    """Scores of which means and differences are taken: log-odds as probabilities."""
    return (as_probability(score), (0.0, 1.0)) if isinstance(scale, str) else (score, scale)


def by_item(
    names: Mapping[str, Any],
    score: Any,
    truth: Any,
    design: LabelDesign,
    truth_scale: tuple[float, float] | None,
) -> pd.DataFrame:
    """Mean ``score`` and ``truth`` of the rows of each item, which are not independent items."""
    import pandas as pd

    rows = pd.DataFrame({**names, "score": score, "truth": truth})
    means = rows.groupby(list(names), sort=False)[["score", "truth"]].mean().reset_index()
    with checking("scores of items with several rows") as require:
        require(design.is_sample, f"calibration={design.name!r}: keep one row of each item")
        mixed = truth_scale is None and not means["truth"].dropna().isin((0, 1)).all()
        words = "labels of an item say pass and fail; truth_scale=(0, 1) asks for their mean"
        require(not mixed, words)
    return means


def count_scores(table: Any, how: Reading) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Scores and truths, how many rows have each, and how many rows were grouped."""
    import narwhals as nw
    import pandas as pd

    score, truth = how.labels[:2]
    require_columns(table, *how.labels, *how.keys)
    if how.keys or how.people or not is_counted_in_place(table):
        return *count_rows(table, *how.labels, *how.keys), 0
    frame = nw.from_native(table).lazy().select(*how.labels)
    several = frame.select(nw.col(score).n_unique()).collect()[score][0]
    if not frame.collect_schema()[score].is_numeric() or several <= MOST_SCORES:
        return *count_rows(table, *how.labels), 0
    none = {"", *(spell(cell) for cell in listed(how.missing_value) or ())}
    labels = [cell for cell in count_cells(table, truth)[0][truth] if cell is not None]
    labels = [cell for cell in labels if spell(cell) not in none]
    if not labels:
        return *count_rows(table, *how.labels), 0  # without a label there is no estimate
    known = nw.col(truth).is_in(labels)
    labelled, n_labelled = count_rows(frame.filter(known).to_native(), score, truth)
    assert how.scale is not None
    means, n = _by_cell(frame.filter(~known | nw.col(truth).is_null()), score, how.scale)
    others = pd.DataFrame({score: means, truth: None}, dtype=object)
    rows = pd.concat([labelled.astype(object), others], ignore_index=True)
    return rows, np.concatenate([n_labelled, n]), int(n[~np.isnan(means)].sum())


def _by_cell(frame: nw.LazyFrame, score: str, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """Mean score and number of rows of each cell of the scale; one more of rows without a score."""
    import narwhals as nw

    value = nw.col(score).cast(nw.Float64)
    value = nw.when(~value.is_nan()).then(value)
    cell = (unit_of(value, scale) * CELLS).floor()
    each = frame.select(value.alias("score"), cell.alias("cell"))
    by_cell = (
        each.group_by("cell")
        .agg(nw.col("score").mean().alias("mean"), nw.len().alias("n_rows"))
        .sort("cell")
        .collect()
    )
    means = by_cell["mean"].cast(nw.Float64).to_list()
    return np.array(means, float), by_cell["n_rows"].to_numpy().astype(np.int64)


def unit_of(value: Any, scale: Scale) -> Any:
    """A score, or an engine's column of them, between 0 and 1."""
    if isinstance(scale, str):
        return as_probability(value) if isinstance(value, np.ndarray) else 1 / (1 + (-value).exp())
    return (value - scale[0]) / (scale[1] - scale[0])


def cell_of(scores: np.ndarray, scale: Scale) -> np.ndarray:
    """Cell of each score."""
    return np.floor(unit_of(np.asarray(scores, float), scale) * CELLS).astype(np.int64)
