"""Whether a judge changes along the rows: its verdicts, and its errors on labelled rows.

Passes and fails of one judge come in any order if nothing changes along the rows. The largest
difference of their positions' distribution functions, over all places where the judge may have
changed, is Kolmogorov's and Smirnov's. Rows that are sorted by a column are looked at within each
of its values, and of rows of one item the first. A table may be sorted by what no column tells, and
labels of all rows alike are right of all rows: so a change is told only if rows are in the order of
a column of times, or if labels reach one part of the rows more than the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.estimate import Caution
from bayesjudge.core.tables import is_counted_in_place
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.reading import ITEM_COLUMNS, Reading
from bayesjudge.verdicts.selection import DATE, LARGEST, cells_of, labels_in, names_of, whole_of

#: Probability of a false alarm by table, of verdicts and of errors each one half.
ALARM = 0.005
#: Standard errors by which labels are rarer in one part than in the other.
APART = 3.0
#: Labels that show outputs that change along the rows: then verdicts should change with them.
OUTPUTS_CHANGE = 0.1
#: Fewest of either kind, most values of a column by which rows are sorted, fewest rows of each.
FEWEST, MOST_BLOCKS, FEWEST_ROWS = 5, 50, 20
#: Rows that show that a column does not sort a table.
SOME_ROWS = 1000


class Split(NamedTuple):
    """Where two kinds of rows differ most: shares before and from a row on, and the p-value."""

    p_value: float
    row: int = 0
    before: float = 0.0
    after: float = 0.0


def most_different(rows: np.ndarray, kind: np.ndarray) -> Split:
    """Test whether rows of two kinds (booleans, in the order of `rows`) come in any order."""
    n, first = len(kind), int(kind.sum())
    if min(first, n - first) < FEWEST:
        return Split(1.0)
    bridge = np.cumsum(kind - first / n)[:-1]
    at = int(np.abs(bridge).argmax()) + 1
    p_value = _kolmogorov(abs(bridge[at - 1]) * np.sqrt(n / first / (n - first)))
    return Split(p_value, int(rows[at]) + 1, float(kind[:at].mean()), float(kind[at:].mean()))


def _kolmogorov(x: float) -> float:
    """Probability of a larger distance; SciPy's takes longer to load than a closed form takes."""
    k = np.arange(1, 101)
    terms = np.exp(-2 * (k * x) ** 2)
    return float(2 * (terms[::2].sum() - terms[1::2].sum())) if x > 0.1 else 1.0


def changes_midway(table: Any, how: Reading) -> Caution | None:
    """What changes along the rows of a table of passes and fails of one judge, if anything does.

    Errors are tested of good and of bad labelled rows. Verdicts of all rows are tested if labels do
    not say that the outputs change too.
    """
    if how.judge or how.rater or how.scale or how.classes is not None or len(how.verdict) > 1:
        return None
    if is_counted_in_place(table) or not 2 * FEWEST_ROWS <= len(table) <= LARGEST:
        return None
    names = [how.verdict[0], *([how.truth] if how.truth else [])]
    cells = {name: cells_of(table, name) for name in how.labels}  # a value may be of one of them
    labels = labels_in(cells, how)
    places = [labels.of(name, cells[name]) for name in names]
    verdict, truth = (*places, np.full(len(table), MISSING))[:2]
    if len(labels.classes) != 2 or any(map(_is_sorted, places)):
        return None
    whole, _ = whole_of(table, how)
    blocks = list(_blocks(whole, how, len(table)))
    caution = _of_errors(verdict, truth, blocks) or _of_verdicts(verdict, truth, blocks)
    if caution is None or _is_dated(whole, how):
        return caution
    return caution if _reaches_a_part(truth != MISSING, caution.numbers["row"]) else None


def _is_dated(whole: Any, how: Reading) -> bool:
    """Whether rows are in the order of a column of times."""
    some = np.linspace(0, len(whole) - 1, min(len(whole), SOME_ROWS)).astype(int)
    names = [name for name in names_of(whole) if name not in how.labels]
    return any(_are_rising_dates(cells_of(whole, name, some)) for name in names)


def _are_rising_dates(cells: Sequence[Any]) -> bool:
    texts = list(map(str, cells))
    return all(map(DATE.match, texts)) and texts == sorted(texts) and texts[0] != texts[-1]


def _reaches_a_part(labelled: np.ndarray, row: int) -> bool:
    """Whether labels reach the rows before a row otherwise than those from there on."""
    part = np.arange(len(labelled)) < row - 1
    before, after, share = labelled[part].mean(), labelled[~part].mean(), labelled.mean()
    error = np.sqrt(share * (1 - share) * (1 / part.sum() + 1 / (~part).sum()))
    return bool(abs(before - after) > APART * error)


def _of_errors(
    verdict: np.ndarray, truth: np.ndarray, blocks: Sequence[np.ndarray]
) -> Caution | None:
    splits = []
    for block in blocks:
        for kind in (0, 1):
            rows = block[(truth[block] == kind) & (verdict[block] != MISSING)]
            splits.append((most_different(rows, verdict[rows] != kind), kind))
    split, kind = min(splits, key=lambda both: both[0].p_value)
    p_value = split.p_value * len(splits)
    if p_value > ALARM / 2:
        return None
    return _caution("good" if kind else "bad", split, p_value)


def _of_verdicts(
    verdict: np.ndarray, truth: np.ndarray, blocks: Sequence[np.ndarray]
) -> Caution | None:
    splits = []
    for block in blocks:
        rows = block[verdict[block] != MISSING]
        labelled = block[truth[block] != MISSING]
        outputs = most_different(labelled, truth[labelled] == 1)
        if outputs.p_value > OUTPUTS_CHANGE:
            splits.append(most_different(rows, verdict[rows] == 1))
    split = min(splits, default=Split(1.0), key=lambda each: each.p_value)
    p_value = split.p_value * len(blocks)
    if p_value > ALARM / 2:
        return None
    return _caution("verdicts", split, p_value)


def _caution(kind: str, split: Split, p_value: float) -> Caution:
    numbers: dict[str, Any] = split._asdict() | {"p_value": p_value}
    return Caution.of("judge-changes", kind, **numbers)


def _is_sorted(values: Any) -> bool:
    """Whether equal values stand together, so that the order of rows is that of their values."""
    changes = sum(value != other for value, other in pairwise(values))
    return changes + 1 == len({*map(str, values)})


def _blocks(whole: Any, how: Reading, rows: int) -> Iterator[np.ndarray]:
    """Rows within which no column sorts them, of each item the first."""
    start, item = np.zeros(rows, bool), None
    some = np.linspace(0, rows - 1, min(rows, SOME_ROWS)).astype(int)
    for name in names_of(whole):
        if name in how.labels:
            continue
        shown = list(map(str, cells_of(whole, name, some)))
        if _are_rising_dates(shown):
            continue
        names_rows = name == how.item or name.lower() in ITEM_COLUMNS
        if not names_rows and (len({*shown}) > MOST_BLOCKS or not _is_sorted(shown)):
            continue  # then it does not sort all rows either
        values = list(map(str, cells_of(whole, name)))
        distinct = len({*values})
        if 2 <= distinct <= min(MOST_BLOCKS, rows // FEWEST_ROWS) and _is_sorted(values):
            start[1:] |= np.array(values[1:]) != np.array(values[:-1])
        elif names_rows and distinct < rows:
            item = np.unique(values, return_inverse=True)[1]
    for block in np.split(np.arange(rows), np.flatnonzero(start)):
        firsts = slice(None) if item is None else np.unique(item[block], return_index=True)[1]
        yield np.sort(block[firsts])
