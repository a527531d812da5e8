"""How labels came: whether having a label goes with a row's place, or with what its columns say.

If labels are drawn as declared, any rows of a stratum could have got them. Each column becomes a
few numbers a row, whose sums over the labelled rows are compared with those of rows drawn anew
within strata; the largest standardised sum of all columns is the test. It holds exactly for any
number of rows and labels, needs no model to be fitted, and names the column. (A joint regression
sees weak traces spread over many columns better, and names none.)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Caution
from bayesjudge.core.label_design import design_of
from bayesjudge.core.labels import listed, says_nothing
from bayesjudge.core.names import names_of as to_names
from bayesjudge.core.numbers import number_of, scores_of
from bayesjudge.core.tables import (
    columns_of,
    count_cells,
    every_cell,
    free_name,
    is_counted_in_place,
    require_columns,
)
from bayesjudge.verdicts.labels import MISSING, Labels, meanings_of
from bayesjudge.verdicts.reading import ITEM_COLUMNS, KEPT, SYSTEM_COLUMNS, Reading

#: Probability of a false alarm by table, and below which an answer follows the column instead.
ALARM, CLEAR = 0.005, 1e-6
#: Draws of labels, those after which most tables are done, and how many may be as far off then.
DRAWS, FIRST, MOST_AS_FAR = 999, 99, 2
#: No labels are drawn if Bonferroni's bound by the normal distribution is larger than this.
UNSUSPICIOUS = 0.2
#: Rows above which a table is only counted: its cells would be read one by one.
LARGEST = 1_000_000
#: Rows that are looked at: all of fewer, else half of them labelled ones if there are so many.
MOST_ROWS = 5_000
#: Most values of a column of classes, fewest rows of one, and mean letters of a text.
MOST_VALUES, FEWEST, TEXT = 20, 5, 40
#: Most classes of numbers; if several people labelled, their posterior takes fewer strata.
MOST_CLASSES, MOST_OF_PEOPLE = 10, 4
#: Letters by which cells are told apart, and the fewest groups that are labelled as a whole.
LETTERS, FEWEST_GROUPS = 60, 10
#: Part of the rows that may break a rule.
FEW = 0.01
#: Part at most of the rows in which a column is filled, all labelled ones among them, that have no
#: label though people looked at them.
UNANSWERED = 0.2
#: What Python calls a cell without anything in it.
NOTHING = {"None", "nan", "NaT", "<NA>"}
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Whole(NamedTuple):
    """The whole table of which the one that is read has some columns."""

    read: Callable[[], Any]
    #: Rows that lost a label before the table was read, which tell nothing of how labels came.
    lost: Sequence[int] = ()


#: Of the table that is being read, if it is known.
WHOLE: ContextVar[Whole | None] = ContextVar("whole table", default=None)


class Selection(NamedTuple):
    """What having a label goes with, and what the labels tell in spite of it."""

    caution: Caution
    #: What was read with labels by verdict, or with classes of the column as groups; if clear.
    instead: Any = None
    #: Of classes: by system, the share of its rows in some without labels, which `instead` lacks.
    untold: Mapping[str, float] = {}
    #: Whose column the classes are of, if rows of an item differ in it: their own, or the item's.
    of: Literal["", "row", "item"] = ""


class Came(NamedTuple):
    """How labels came: what having one goes with, and whether people left rows without."""

    selection: Selection | None = None
    unanswered: Caution | None = None

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What is told of them."""
        chosen = None if self.selection is None else self.selection.caution
        return tuple(filter(None, (chosen, self.unanswered)))


class Column(NamedTuple):
    """A column's cells: places among distinct values, and numbers if that is what they are."""

    name: str
    kind: str
    values: list[str]
    place: np.ndarray
    number: np.ndarray

    def is_note(self, labelled: np.ndarray) -> bool:
        """Whether it was filled when rows were labelled: then it cannot tell why they were."""
        inside, outside = (np.bincount(self.place[rows], minlength=len(self.values))
                           for rows in (labelled, ~labelled))  # fmt: skip
        usual = int(outside.argmax())
        if outside[usual] < (1 - FEW) * outside.sum():
            return False
        apart = inside[usual] <= FEW * inside.sum() and self.name.lower() not in SYSTEM_COLUMNS
        return bool(apart or _is_empty(self.values[usual]))

    def unanswered(self, labelled: np.ndarray) -> np.ndarray:
        """Other rows in which it is filled, if it is in all labelled ones and few others."""
        empty = np.array([_is_empty(value) for value in self.values])[self.place]
        others = ~empty & ~labelled
        few = others.sum() <= min(UNANSWERED * (~empty).sum(), (empty & ~labelled).sum())
        few &= (empty & labelled).sum() <= FEW * labelled.sum()
        return others if few else np.zeros_like(others)

    def features(self) -> Iterator[tuple[str | None, np.ndarray]]:
        """Numbers of each row: whether it has a value, by value; or ranks, and their squares."""
        if self.kind == "value":
            sizes = np.bincount(self.place)
            for at in np.flatnonzero((sizes >= FEWEST) & (sizes < len(self.place))).tolist():
                yield self.values[at], (self.place == at).astype(float)
            return
        known = ~np.isnan(self.number)
        if FEWEST <= (~known).sum() < len(known):
            yield "", (~known).astype(float)
        _, place, n = np.unique(self.number[known], return_inverse=True, return_counts=True)
        rank = np.zeros(len(known))
        rank[known] = (np.cumsum(n) - n / 2)[place] / known.sum() - 0.5
        yield None, rank
        yield None, rank**2 - known / 12


def _is_empty(text: str) -> bool:
    return not text or says_nothing(text)


def column_of(name: str, cells: Sequence[Any]) -> Column:
    """What the cells of a column are, by their values."""
    text = ["" if cell in NOTHING else cell for cell in (str(cell).strip() for cell in cells)]
    short = [cell if len(cell) <= LETTERS else f"{cell[:LETTERS]} … {len(cell)}" for cell in text]
    distinct, place = np.unique(short, return_inverse=True)
    values = distinct.tolist()
    known = np.array([not _is_empty(value) for value in values])
    number = np.full(len(values), np.nan)
    if known.sum() <= MOST_VALUES:
        return Column(name, "value", values, place, number[place])
    read = [
        number_of(value) if there else np.nan for value, there in zip(values, known, strict=True)
    ]
    if None not in read:
        number = np.array(read, float)[place]
        counts_rows = len(values) == len(cells) and bool((number % 1 == 0).all())
        return Column(name, "name" if counts_rows else "number", values, place, number)
    lengths = np.fromiter(map(len, text), float, len(text))
    if lengths[lengths > 0].mean() >= TEXT:
        return Column(name, "length", values, place, lengths)
    number[known] = np.arange(known.sum())  # in the order of the alphabet
    dated = all(DATE.match(value) for value in distinct[known])
    return Column(name, "time" if dated else "name", values, place, number[place])


class Asked(NamedTuple):
    """Cells of criteria that people were asked about, by row of a table.

    `excess` are a row's labelled cells beyond the share of each criterion (and system) that is
    labelled: zero on average for any row, whether outputs were drawn or cells. Of rows with nothing
    to be asked (`askable`) nothing is expected.
    """

    labelled: np.ndarray
    excess: np.ndarray
    askable: np.ndarray

    def sampled(self, item: np.ndarray) -> np.ndarray:
        """Rows of some items, all that could be asked about of each."""
        any_label = np.bincount(item, self.labelled) > 0
        return np.flatnonzero(self.askable & np.isin(item, _sampled(any_label)))


class Tested(NamedTuple):
    """The feature that labels go with most, and the probability of one so far off."""

    feature: int
    p_value: float


def most_extreme(x: np.ndarray, flag: np.ndarray, strata: np.ndarray) -> Tested:
    """Test the largest standardised sum over labelled rows, with labels drawn within strata.

    Parameters
    ----------
    x : array of float, shape (n_rows, n_features)
        Features.
    flag : array of float, shape (n_rows,)
        Whether a row is labelled, or how many rows of an item are.
    strata : array of int, shape (n_rows,)
        Rows of one could have changed their flags.

    Returns
    -------
    Tested
        With the permutation p; if no draw is as far off, Bonferroni's bound if that is lower.
    """
    order = np.argsort(strata, kind="stable")
    x, flag, strata = x[order], flag[order], strata[order]
    _, start, size = np.unique(strata, return_index=True, return_counts=True)
    x = x - np.repeat(np.add.reduceat(x, start) / size[:, None], size, axis=0)
    flag = flag - np.repeat(np.add.reduceat(flag, start) / size, size)
    weight = np.add.reduceat(flag**2, start) / np.maximum(size - 1, 1)
    spread = np.sqrt(weight @ np.add.reduceat(x**2, start))
    scale = np.where(spread > 1e-9, 1 / np.maximum(spread, 1e-9), 0.0)
    z = np.abs(flag @ x) * scale
    at, bound = int(z.argmax()), min(1.0, len(z) * math.erfc(float(z.max()) / math.sqrt(2)))
    if bound > UNSUSPICIOUS:
        return Tested(at, 1.0)
    varies = np.repeat(weight > 0, size)
    x, flag, strata = x[varies], flag[varies], strata[varies]
    rng, as_far = np.random.default_rng(1), 0
    for draw in range(1, DRAWS + 1):
        drawn = rng.permutation(flag)
        if len(size) > 1:
            drawn = flag[np.lexsort((rng.random(len(flag)), strata))]
        as_far += bool((np.abs(drawn @ x) * scale).max() >= z[at] - 1e-9)
        if draw == FIRST and as_far > MOST_AS_FAR:
            return Tested(at, (1 + as_far) / (1 + FIRST))
    p_value = (1 + as_far) / (1 + DRAWS)
    return Tested(at, p_value if as_far else min(p_value, bound))


def how_labels_came(
    table: Any,
    how: Reading,
    read: Callable[[Any, Reading], Any] | None,
    asked: Asked | None = None,
    repeats: str | None = None,
) -> Came:
    """What having a label goes with, though labels were declared to be drawn otherwise.

    Of labels from elsewhere or by truth, of tables in an engine and of a row per rating nothing is
    said. `read` reads a table anew, as labels are taken instead; without, it is the class of each
    row, -1 of those without labels. Of `asked` cells, whose rows may
    share an item, items are compared: any of their cells may have been drawn. With `repeats`, what
    is read knows which rows share an item.
    """
    design = design_of(how.calibration)
    by_verdict = design.identifies == {"predictive_values"}
    labels = [*how.people, *filter(None, (how.truth, how.adjudicated))]
    drawn = design.is_sample or by_verdict or design.name == "known_propensity"
    if not (drawn and labels) or how.rater or (by_verdict and (how.scale or how.judge)):
        return Came()
    if is_counted_in_place(table) or len(table) > LARGEST:
        return Came()
    labelled, refused = _answers(table, how) if asked is None else (asked.labelled, None)
    table, lost = whole_of(table, how)
    if how.judge is not None:  # a label in one vote's row is of its output, whichever judge's it is
        output = _together(table, [str(how.item), *filter(None, [how.by])])
        labelled = (np.bincount(output, labelled) > 0)[output]
    by_item = how.item is not None and (asked is not None or repeats is not None)
    item = _together(table, [str(how.item)]) if by_item else np.arange(len(labelled))
    if asked is None:
        rows = _of_items(item, labelled) if by_item else _sampled(labelled)
    else:
        rows = asked.sampled(item)
    rows = np.setdiff1d(rows, lost)
    keys = [*how.keys, *(how.verdict if by_verdict else ())]
    said = labels if how.judge is None else (*labels, how.judge, *how.verdict)  # of a row per vote
    cells = {c: cells_of(table, c, rows) for c in names_of(table) if c not in said}
    columns = [column_of(c, cells[c]) for c in cells if c not in how.keys]
    groups = ["\t".join(map(str, row)) for row in zip(*(cells[c] for c in keys), strict=True)]
    strata = np.unique(groups or np.zeros(len(rows)), return_inverse=True)[1]
    inside = labelled[rows]
    looked_at, unanswered = inside, None
    if refused is not None:
        others = [c for c in columns if c.name not in how.verdict]
        looked_at, unanswered = _unanswered(others, labelled, refused, rows)
    if asked is None:
        unit = _shared(columns, inside, looked_at, how.item)
    else:
        unit = next((c.place for c in columns if c.name == how.item), None)
    if unit is not None and keys and how.by is None:
        return Came(unanswered=unanswered)  # how items were drawn within strata is not known
    names = [_names_items(c, unit, how) for c in columns]
    kept = [c for c, is_name in zip(columns, names, strict=True)
            if not (is_name or c.is_note(looked_at))]  # fmt: skip
    features = list(_features(kept, _in_order(rows, kept if asked is None else columns)))
    if not features or inside.all() or not inside.any():
        return Came(unanswered=unanswered)
    x = np.column_stack([x for *_, x in features])
    flag = inside.astype(float) if asked is None else asked.excess[rows]
    if unit is None:
        tested = most_extreme(x, flag, strata)
    else:
        rows_too = how.by is None and asked is None
        systems = strata if asked is None else np.zeros_like(strata)
        tested = _by_unit(x, flag, unit, systems, rows_too=rows_too, by_size=any(names))
    if tested.p_value > ALARM:
        return Came(unanswered=unanswered)
    column, value, _ = features[tested.feature]
    selection = Selection(_in_words(column, value, inside, tested.p_value, len(labelled)))
    shared = unit is not None and unit is not column.place
    shared = shared and how.judge is None and asked is None  # else outputs have several rows
    if unit is not None and repeats is not None:
        shared = shared and not _alike(unit, item[rows])
    if tested.p_value <= CLEAR and not shared and design.is_sample:
        several = how.judge is not None or repeats == "judge"
        several = several or (asked is not None and how.item is not None)
        about = column, labelled, selection, several
        selection = _instead(table, how, read, *about, item if repeats is not None else None)
    return Came(selection, unanswered)


def _features(
    columns: Sequence[Column], order: Sequence[Column]
) -> Iterator[tuple[Column, str | None, np.ndarray]]:
    """Features of columns: of times first, then of the order of rows, which they explain."""
    times = [c for c in columns if c.kind == "time"]
    for column in (*times, *order, *(c for c in columns if c.kind != "time")):
        for value, x in column.features():
            yield column, value, x


def _unanswered(
    columns: Sequence[Column], labelled: np.ndarray, refused: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, Caution | None]:
    """Rows that people looked at, whether or not they gave a label, and a caution of the others."""
    inside, usual = labelled[rows], Counter(refused[rows].tolist())
    # what more rows say than have a label means that nobody looked yet
    said = np.array([cell != "" and usual[cell] <= inside.sum() for cell in refused[rows]], bool)
    each = {c.name: c.unanswered(inside) for c in columns}
    name = max(each, key=lambda name: int(each[name].sum()), default="")
    without = np.logical_or.reduce([said, *each.values()])
    there = (~labelled).sum() / max((~inside).sum(), 1)  # rows without a label to one that is seen
    n, of = round(there * without.sum()), int(labelled.sum())
    if n <= FEW * (n + of):
        return inside | without, None
    why: dict[str, Any]
    kind, why = "filled", {"column": name}
    if said.any():
        kind, why = "said", {"value": max(refused[rows][said].tolist(), key=usual.__getitem__)}
    return inside | without, Caution.of("unanswered-labels", kind, n=n, of=n + of, **why)


def _names_items(column: Column, unit: np.ndarray | None, how: Reading) -> bool:
    """Whether it names items, of which all rows or none are labelled; numbers only by its name."""
    called = column.name == how.item or column.name.lower() in ITEM_COLUMNS
    return column.place is unit and (called or column.kind != "number")


def _alike(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether rows are together by both or by none."""
    both = {*zip(first.tolist(), second.tolist(), strict=True)}
    return len(both) == len({*first.tolist()}) == len({*second.tolist()})


def _by_unit(
    x: np.ndarray,
    flag: np.ndarray,
    unit: np.ndarray,
    systems: np.ndarray,
    *,
    rows_too: bool,
    by_size: bool = True,
) -> Tested:
    """Which items have labels, of those with as many rows of each system; and which rows of these.

    Of some systems more rows may have labels than of others.
    """
    size = np.bincount(unit)
    means = np.zeros((len(size), x.shape[1]))
    np.add.at(means, unit, x)
    rows_of = np.zeros((len(size), int(systems.max()) + 1))
    np.add.at(rows_of, (unit, systems), 1)
    strata = np.unique(rows_of, axis=0, return_inverse=True)[1] if by_size else np.zeros_like(size)
    share = np.bincount(unit, flag) if by_size else np.bincount(unit, flag) / size
    items = most_extreme(means / size[:, None], share, strata)
    if not rows_too:
        return items
    tested = min(items, most_extreme(x, flag, unit), key=lambda tested: tested.p_value)
    return tested._replace(p_value=min(1.0, 2 * tested.p_value))


def whole_of(table: Any, how: Reading) -> tuple[Any, Sequence[int]]:
    """The table with all its columns, if these are known, and its rows that lost a label."""
    whole = WHOLE.get()
    more = table if whole is None else whole.read()
    fits = len(more) == len(table) and {*how.labels, *how.keys} <= {*columns_of(more)}
    return (more, whole.lost) if whole is not None and fits else (table, ())


def of_each[T](table: Any, by: str, read: Callable[[Any], T]) -> dict[str, T]:
    """What is read of the rows of each name in a column, in their order, problems of all at once.

    Of the table that is being read they are looked at beside all of their columns.
    """
    import narwhals as nw

    require_columns(table, by)
    cells, _ = count_cells(table, by)
    named: dict[str, list[Any]] = {}
    for cell, name in zip(cells[by], to_names(cells[by], by), strict=True):
        named.setdefault(name, []).append(cell)
    whole, by_name, problems = WHOLE.get(), {}, []
    all_cells = [] if whole is None else cells_of(table, by)
    for name, mine in sorted(named.items()):
        chosen = nw.col(by).is_in(mine)
        if whole is not None:
            there = np.flatnonzero([cell in mine for cell in all_cells])
            lost = np.flatnonzero(np.isin(there, whole.lost)).tolist()
            part = Whole(partial(_rows_of, whole.read, chosen), lost)
        token = WHOLE.set(None if whole is None else part)
        try:
            by_name[name] = read(_rows_of(lambda: table, chosen))
        except InputError as error:
            problems += [problem.of(name) for problem in error.problems]
        finally:
            WHOLE.reset(token)
    if problems:
        raise InputError("scores of several systems", problems)
    return by_name


def _rows_of(read: Callable[[], Any], chosen: Any) -> Any:
    import narwhals as nw

    return nw.from_native(read()).filter(chosen).to_native()


def names_of(table: Any) -> list[str]:
    """Columns that have a text for a name."""
    arrow = getattr(table, "column_names", None)  # of pandas it may be a column
    names = arrow if isinstance(arrow, list) else table.columns
    return [name for name in names if isinstance(name, str)]


def cells_of(table: Any, name: str, rows: np.ndarray | None = None) -> list[Any]:
    """Cells of a column, of all rows or of some in order; Arrow's by itself, as it is quicker."""
    column = table[name]
    if hasattr(column, "combine_chunks"):
        if rows is None or len(rows) == len(column):
            return every_cell(column)
        return [column[row].as_py() for row in rows.tolist()]  # `take` would load pandas
    import narwhals as nw

    series = nw.from_native(column, series_only=True)
    return series.to_list() if rows is None else series[rows].to_list()


def _answers(table: Any, how: Reading) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label, as they were read; and what was said in place of one, or ""."""
    cells = {name: cells_of(table, name) for name in how.labels}
    truths = [*how.people, *([how.truth] if how.truth else [])]
    text = {name: [str(cell).strip() for cell in cells[name]] for name in truths}
    none = {*NOTHING, "", *map(str, listed(how.missing_value) or ())}
    if how.scale is not None:
        has = [[cell not in none for cell in text[name]] for name in truths]
    else:
        labels = labels_in(cells, how)
        has = [labels.of(name, cells[name]) != MISSING for name in truths]
    labelled, refused = np.any(has, axis=0), np.full(len(table), "", object)
    for name in truths:
        words = [cell if cell not in NOTHING else "" for cell in text[name]]
        refused = np.where(labelled | (refused != ""), refused, words)
    return labelled, np.where(labelled, "", refused)


def labels_in(cells: Mapping[str, Sequence[Any]], how: Reading) -> Labels:
    """What cells of verdicts and labels mean, by column."""
    seen = {
        name: Counter(x for x in values if str(x) not in NOTHING) for name, values in cells.items()
    }
    meant = how.pass_value, how.fail_value, how.missing_value
    return meanings_of(seen, meant, how.classes, how.subject)


def _sampled(labelled: np.ndarray, rows: int = MOST_ROWS) -> np.ndarray:
    """Rows to look at, among which labels are as random as among all."""
    if len(labelled) <= rows:
        return np.arange(len(labelled))
    rng, n = np.random.default_rng(1), int(labelled.sum())
    most = max(rows // 2, rows - len(labelled) + n)
    inside = rng.choice(np.flatnonzero(labelled), min(n, most), replace=False)
    outside = rng.choice(np.flatnonzero(~labelled), rows - len(inside), replace=False)
    return np.sort(np.concatenate([inside, outside]))


def _of_items(item: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    """All rows of items to look at, about as many as `_sampled` has."""
    any_label = np.bincount(item, labelled) > 0
    items = max(MOST_ROWS * len(any_label) // len(item), FEWEST_GROUPS)
    return np.flatnonzero(np.isin(item, _sampled(any_label, items)))


def _shared(
    columns: Sequence[Column], labelled: np.ndarray, looked_at: np.ndarray, item: str | None
) -> np.ndarray | None:
    """The item of each row, if rows share items, or groups that are labelled as a whole."""
    share = labelled.mean()
    for column in columns:
        size = np.bincount(column.place)
        if size.max() == 1:
            continue
        usual = column.name.lower() in ITEM_COLUMNS and item is None
        inside = np.bincount(column.place, labelled)
        alike = np.log(share**size + (1 - share) ** size + 1e-300).sum()
        whole = bool(((inside == 0) | (inside == size)).all()) and alike < math.log(1e-3)
        whole = whole and not column.is_note(looked_at)  # else each comment would be a group
        if column.name == item or usual or (whole and len(size) >= FEWEST_GROUPS):
            return column.place
    return None


def _in_order(rows: np.ndarray, others: Sequence[Column]) -> list[Column]:
    """The order of rows as a column, if another one rises or falls with it.

    Without, rows may have been sorted, or joined, after they were labelled.
    """
    numbers = [column.number for column in others if column.kind not in ("value", "length")]
    if not any((x[1:] >= x[:-1]).all() or (x[1:] <= x[:-1]).all() for x in numbers):
        return []
    return [Column("", "order", [""], np.zeros(len(rows), int), rows + 1.0)]


def _in_words(
    column: Column, value: str | None, labelled: np.ndarray, p_value: float, rows: int
) -> Caution:
    """The caution that names what labels go with."""
    name = column.name
    if value is not None:
        has = np.array([cell == value or (not value and _is_empty(cell)) for cell in column.values])
        shares: dict[str, Any] = {"inside": has[column.place][labelled].mean()}
        shares |= {"outside": has[column.place][~labelled].mean()}
        kind = "value" if value else "empty"
        return Caution.of(
            "label-selection", kind, column=name, p_value=p_value, value=value, **shares
        )
    if column.kind == "order":
        number, n = column.number[labelled], int(labelled.sum())
        if number.max() == n:
            return Caution.of("label-selection", "first", n=n, rows=rows, p_value=p_value)
        low, high = np.quantile(number, [0.05, 0.95])
        return Caution.of(
            "label-selection", "order", low=low, high=high, rows=rows, p_value=p_value
        )
    quarters: dict[str, Any] = dict(
        zip(("low", "high", "least", "most"), _quarters(column, labelled), strict=True)
    )
    kind = "length" if column.kind == "length" else "number"
    return Caution.of("label-selection", kind, column=name, p_value=p_value, **quarters)


def _quarters(column: Column, labelled: np.ndarray) -> list[str]:
    """First and third quartile of the labelled rows and of the others, as the column has them."""
    known = ~np.isnan(column.number)
    parts = [np.flatnonzero(known & rows) for rows in (labelled, ~labelled)]
    ordered = [part[np.argsort(column.number[part], kind="stable")] for part in parts]
    ends = [part[int(share * (len(part) - 1))] for part in ordered for share in (0.25, 0.75)]
    if column.kind == "length":
        return [f"{column.number[row]:,.0f}" for row in ends]
    return [column.values[column.place[row]] for row in ends]


def _instead(
    table: Any,
    how: Reading,
    read: Callable[[Any, Reading], Any] | None,
    column: Column,
    labelled: np.ndarray,
    selection: Selection,
    several: bool,
    shared: np.ndarray | None,
) -> Selection:
    """With what labels tell in spite of that: by verdict, or within classes of the column.

    An output may have several rows, and items that are `shared` several outputs.
    """
    import narwhals as nw

    if column.kind in ("order", "name"):
        return selection  # rows may have been sorted or numbered after they were labelled
    by_verdict = column.name in how.verdict and len(how.verdict) == 1
    if by_verdict and read is not None and shared is None and not (how.scale or how.covariates):
        return selection._replace(instead=read(table, replace(how, calibration="by_verdict")))
    column, item = column_of(column.name, cells_of(table, column.name)), np.arange(len(labelled))
    if several:
        item = _together(table, [str(how.item), *filter(None, [how.by])])
    _, first, item = np.unique(item, return_index=True, return_inverse=True)
    if (column.place != column.place[first][item]).any():
        if not by_verdict:
            return selection  # rows of an output are of several classes
        column = column._replace(kind="value", place=np.zeros(len(item), int))  # by what is said
    if shared is not None:
        column, selection = _of_shared(column, shared, labelled, selection)
    once = np.isin(np.arange(len(item)), first)
    systems = np.array(to_names(cells_of(table, how.by), how.by) if how.by else [""] * len(item))
    place = _classes(table, how, column, once & (np.bincount(item, labelled) > 0)[item])
    kept = place >= 0
    if len({*place.tolist()}) == 1 and not by_verdict:
        return selection
    untold = {str(each): 1 - float(kept[once & (systems == each)].mean()) for each in {*systems}}
    if read is None:
        return selection._replace(instead=place, untold=untold)
    name = free_name("class", columns_of(table))
    within: dict[str, Any] = {"stratum": name, "by": None, "covariates": None, "all_rows": False}
    if shared is not None:  # which classes have items in common
        within |= {"stratum": None, "by": name}
    cells: list[Any] = [f"{at}|{system}" for at, system in zip(place, systems, strict=True)]
    if len(how.verdict) > 1:
        within["unparsed"] = KEPT  # each judge's regression has all outputs
    if how.scale is not None:  # scores have no strata, but items of one propensity are alike
        within |= {"stratum": None, "propensity": name, "calibration": "known_propensity"}
        at = np.unique(place, return_inverse=True)[1]
        cells = (np.bincount(at, labelled) / np.bincount(at))[at].tolist()
    frame = nw.from_native(table, eager_only=True)
    classes = nw.new_series(name, cells, backend=frame.implementation)
    part = frame.with_columns(classes).filter(kept.tolist()).to_native()
    instead = read(part, replace(how, **within))
    if len(how.verdict) > 1 and how.unparsed == "drop":  # it is about what all could judge
        instead = replace(instead, count=instead.count * (instead.response != MISSING).all(axis=1))
    return selection._replace(instead=instead, untold=untold)


def _of_shared(
    column: Column, item: np.ndarray, labelled: np.ndarray, selection: Selection
) -> tuple[Column, Selection]:
    """The column by row or, where whole items were labelled and it has numbers, its mean by item.

    That is also what was tested.
    """
    size, inside = np.bincount(item), np.bincount(item, labelled)
    cells = column.place if column.kind == "value" else column.number
    _, first = np.unique(item, return_index=True)
    if np.array_equal(cells, cells[first][item], equal_nan=True):
        return column, selection
    in_part = (inside > 0) & (inside < size)
    if column.kind == "value" or in_part.sum() > FEW * (inside > 0).sum():
        return column, selection._replace(of="row")
    known = ~np.isnan(column.number)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(item, np.where(known, column.number, 0)) / np.bincount(item, known)
    return column._replace(number=mean[item]), selection._replace(of="item")


def system_of(name: str) -> str:
    """The system of a class of a column."""
    return name.partition("|")[2]


def _classes(table: Any, how: Reading, column: Column, labelled: np.ndarray) -> np.ndarray:
    """The class of each row, within its system or stratum; -1 in those with too few labels.

    Its value or, of numbers, between which of the labelled ones it lies.
    """
    import pandas as pd

    if column.name in how.verdict and how.scale is not None:
        said = pd.Series(column.values, name=column.name, dtype=object)
        values = scores_of(said, how.missing_value, scale=how.scale)
        column = column._replace(kind="number", number=values[column.place])
    group, place = _together(table, how.keys), np.full(len(labelled), -1)
    for each in range(int(group.max()) + 1):
        rows = group == each
        classes, has = column.place[rows], labelled[rows]
        if column.kind != "value":
            most = MOST_OF_PEOPLE if how.people else MOST_CLASSES
            classes = _between_labels(column.number[rows], has, most)
        enough = np.bincount(classes, has) >= FEWEST
        place[rows] = np.where(enough[classes], int(place.max()) + 1 + classes, -1)
    return place


def _together(table: Any, keys: Sequence[str]) -> np.ndarray:
    """The place of each row among what some columns say together."""
    cells = [list(map(str, cells_of(table, key))) for key in keys]
    names = ["\t".join(row) for row in zip(*cells, strict=True)] or [""] * len(table)
    places = {name: i for i, name in enumerate(sorted({*names}))}
    return np.array([places[name] for name in names])


def _between_labels(number: np.ndarray, labelled: np.ndarray, most: int) -> np.ndarray:
    """Classes of numbers with as many labels each, and one of empty cells.

    Rows without a label that follow each other in a class, more than by chance, are one of none.
    """
    known = ~np.isnan(number)
    values = np.sort(number[known & labelled])
    parts = min(most, len(values) // FEWEST)
    ends = np.unique(np.quantile(values, np.arange(1, parts) / parts)) if parts > 1 else values[:0]
    classes = np.where(known, np.searchsorted(ends, number), len(ends) + 1)
    for each in range(len(ends) + 1):
        rows = np.flatnonzero(classes == each)
        rows = rows[np.argsort(number[rows], kind="stable")]
        at = np.concatenate([[-1], np.flatnonzero(labelled[rows]), [len(rows)]])
        longest = int(np.diff(at).argmax())
        gap = rows[at[longest] + 1 : at[longest + 1]]
        if (len(at) - 1) * (1 - len(gap) / max(len(rows), 1)) ** (len(at) - 2) < ALARM:
            classes[gap] = len(ends) + 2
    return classes
