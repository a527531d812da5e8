"""One reader of tables of verdicts: rows are counted where they live, and come as patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from bayesjudge.core.errors import InputError, Problem, check_several, checking, expect
from bayesjudge.core.item_keys import hash_items
from bayesjudge.core.label_design import LabelDesign, declared, design_of
from bayesjudge.core.labels import folded, listed, pass_name_of, says_nothing, spell
from bayesjudge.core.numbers import number_of
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import (
    code_of,
    columns_of,
    each_name,
    is_counted_in_place,
    is_in_memory,
    missing_columns,
    read_rows,
    require_columns,
    require_distinct,
    require_spoken,
    total,
)
from bayesjudge.core.words import words_for
from bayesjudge.verdicts.by_item import (
    Combinations,
    Packing,
    Patterns,
    Rows,
    most_rows,
    patterns_in_engine,
)
from bayesjudge.verdicts.labels import MISSING, Labels, meanings_of

#: Columns that identify items by custom, looked at where none is named.
ITEM_COLUMNS = (
    *("item", "item_id", "id", "sample_id", "question_id", "doc_id"),
    *("example_id", "prompt_id", "instance_id"),
)
#: Columns that name systems by custom, looked at where none is named.
SYSTEM_COLUMNS = ("system", "model", "generator", "model_name", "model_id", "system_id")
REPEATED = (
    "rows of one item are not independent: say what repeats (repeats='system': a new output of the "
    "system; repeats='judge': the same output judged again), in Python to "
    "prevalence.items.Items.from_frame; or keep one row for each, or name the column that "
    "identifies rows (item=)"
)
#: More probabilities of labelling than this are not strata any more.
MOST_PROPENSITIES = 20
#: The response of rows without a verdict, if that is one more verdict.
UNPARSED = "(unparsed)"
#: What `unparsed` makes of rows without a verdict, of passes and fails and of classes; of several
#: judges they stay votes that are missing.
OF_VERDICTS: tuple[str, ...] = ("fail", "drop")
OF_CLASSES, OF_SCORES, KEPT = ("verdict", "drop"), ("drop",), "keep"
#: What repeats where rows share an item and a system, for messages and reports.
REPEATS = words_for("repeated_verdicts")
#: Arguments that name columns.
COLUMNS = (
    *("verdict", "truth", "adjudicated", "rater", "judge", "item", "by", "stratum", "covariates"),
    "propensity",
)
#: Axes of an item's cells: a row's truth (bad, good, none) and its verdict.
BAD, GOOD, UNLABELLED = range(3)
TRUTHS, VERDICTS = 3, 2


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which columns of a table say what, and how: the arguments of `Verdicts.from_frame`."""

    subject: str
    calibration: str | LabelDesign
    verdict: str | Sequence[str] = "verdict"
    truth: str | None = "truth"
    adjudicated: str | None = None
    rater: str | None = None
    judge: str | None = None
    item: str | None = None
    by: str | None = None
    stratum: str | None = None
    covariates: Sequence[str] | None = None
    propensity: str | None = None
    classes: Sequence[Any] | None = None
    pass_value: Any = None
    fail_value: Any = None
    missing_value: Any = None
    unparsed: str | None = None
    #: What `unparsed` may be, if not what the labels' kind says.
    ways: tuple[str, ...] = ()
    repeated: str = "error"
    scale: tuple[float, float] | str | None = None
    truth_scale: tuple[float, float] | None = None
    truth_from: float | None = None
    #: Columns of what each of several people said; then `truth` is what was adjudicated.
    people: tuple[str, ...] = ()
    #: Whether these are all rows, of which each column of verdicts has some.
    all_rows: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", tuple(each_name(self.verdict)))
        labels: Any = self.truth  # of several people, a column each
        several = self.adjudicated is not None and self.rater is None and not self.people
        if isinstance(labels, str) and several:
            labels = (labels,)
        if isinstance(labels, Iterable) and not isinstance(labels, str):
            self._several_people(tuple(labels))
        if self.classes is not None:
            object.__setattr__(self, "classes", check_several(classes=self.classes))
        lost, ways = "unparsed", OF_VERDICTS if self.classes is None else OF_CLASSES
        if self.scale is not None:
            lost, ways = "unscored", OF_SCORES
        kept = () if self.ways else (KEPT,)
        ways = self.ways or ways
        several, grouped = len(self.verdict) > 1, self._grouped
        with checking(self.subject) as require:
            known = self.unparsed in (None, *kept, *ways)
            require(known, f"must be {' or '.join(map(repr, ways))}", **{lost: self.unparsed})
            require(
                self.repeated in ("error", "keep"), "must be error or keep", repeated=self.repeated
            )
            differ = len(set(self.verdict)) == len(self.verdict)
            require(differ, f"verdict columns must differ, got {list(self.verdict)}")
            require(
                self.classes is None or self.pass_value is None is self.fail_value,
                "give classes=, or pass_value= and fail_value=, not both",
            )
            require(self.judge is None or self.item is not None, "no-item")
            if self.scale is not None:
                require(len(self.labels) > len(self.verdict), "scores need human labels (truth=)")
                alone = self.kind in ("", "propensity")
                require(alone, "for several systems use prevalence.scores.read_systems")
            if self.unparsed != KEPT:
                several_of = [*grouped, *(["several verdict columns"] if several else [])]
                words = "one at a time, so take a part of the table first"
                if several and self.by:
                    words = (
                        f"one at a time: read one judge's column (verdict={self.verdict[0]!r}, "
                        f"by={self.by!r}), for partial pooling of its rates over the "
                        "systems, or all judges' votes with bayesjudge.panel"
                    )
                require(len(several_of) < 2, "one-at-a-time", several_of=several_of, words=words)
            stated = design_of(self.calibration).name == "known_propensity"
            words = "calibration='known_propensity' and propensity= (a column) come together"
            require(stated == (self.propensity is not None), words)
            words = "adjudicated= goes with what people said before: truth="
            require(self.adjudicated is None or self.people or self.rater, words)

    def _several_people(self, people: tuple[str, ...]) -> None:
        """Take what each person said for one more verdict, and what was adjudicated for the truth.

        A list of one column, without an adjudicated one, is that column.
        """
        columns = [*people, *([self.adjudicated] if self.adjudicated else []), *self.verdict]
        with checking(self.subject) as require:
            require(people, "truth= names no column; give the columns of people's labels")
            twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
            words = "a column is what one person, or the judge, said"
            require(not twice, f"columns {twice} are named twice: {words}")
            plain = self.judge is None and self.classes is None
            words = "labels of several people are passes and fails, a column per person"
            require(plain, f"{words}; in a row per vote, people are judges: bayesjudge.panel")
        alone = len(people) == 1 and self.adjudicated is None
        object.__setattr__(self, "truth", people[0] if alone else self.adjudicated)
        object.__setattr__(self, "people", () if alone else people)

    @classmethod
    def of(cls, subject: str, given: Mapping[str, Any], *, several_people: bool = False) -> Self:
        """Take the arguments of a reader, all that have the name of a field; the design is asked.

        A reader hands over its `locals()`, so that its arguments stand once, in its signature. One
        that does not say that it reads labels of several people refuses them.
        """
        known = ({field.name for field in fields(cls)} - {"people"}) & set(given)
        values = {name: given[name] for name in known}
        try:
            values |= {"subject": subject, "calibration": declared(given["calibration"])}
            how = cls(**values)
        except InputError as error:  # columns that are not there are told with an unknown design
            columns = [given[name] for name in COLUMNS if given.get(name) is not None]
            named = [name for each in columns for name in each_name(each)]
            have = columns_of(given.get("table"))
            error.problems += missing_columns(have, *dict.fromkeys(named)) if have else []
            raise
        if not several_people:
            refuse_people(how, "one label per output")
        return how

    @property
    def _grouped(self) -> dict[str, Any]:
        """Which of `by`, `stratum`, `propensity` and `covariates` are given, and their columns."""
        kinds = ("by", "stratum", "propensity", "covariates")
        return {kind: columns for kind in kinds if (columns := getattr(self, kind)) is not None}

    @cached_property
    def kind(self) -> str:
        """What names groups: one of the arguments, or none."""
        return next(iter(self._grouped), "")

    @cached_property
    def keys(self) -> list[str]:
        """Columns that name groups."""
        return each_name(self._grouped.get(self.kind))

    @property
    def labels(self) -> list[str]:
        """Columns of verdicts and of truths."""
        return [*self.verdict, *self.people, *([self.truth] if self.truth else [])]

    def meanings(self, source: Combinations | Rows) -> Labels:
        """What the labels of a table mean."""
        cells = {column: source.counts_of(column) for column in dict.fromkeys(self.labels)}
        meant = self.pass_value, self.fail_value, self.missing_value
        labels = meanings_of(cells, meant, self.classes, self.subject)
        if self.all_rows and source.count.any():
            people = [name for name in self.people if not labels.known(name)]
            people = people if len(people) < len(self.people) else []  # else nobody labelled yet
            silent = [*(name for name in self.verdict if not labels.known(name)), *people]
            require_spoken(self.subject, silent)
        return labels

    def require_settled(self, lost: Mapping[str, int]) -> None:
        """Ask what rows without a verdict are, if there are any, by column."""
        ways = "unparsed='verdict' (one more verdict, whose classes the labels tell)"
        if self.classes is None:
            ways = f"unparsed='fail' ({not_passed(self.pass_value)}, and calibration corrects that)"
        if "verdict" in self.ways:
            ways = f"unparsed='verdict' (one more verdict, whose rates the labels tell), {ways}"
        single = len(self.verdict) == 1
        with checking(f"column {self.verdict[0]!r}" if single else "table") as require:
            for column, n in lost.items():
                where = "" if single else f"column {column!r}: "
                problem = f"{how_many(n, 'row', 'have')} no verdict; say what they are: {ways}"
                words = f"{where}{problem} or unparsed='drop'"
                require(not n or self.unparsed, Problem(words, "no-verdict", "unparsed", n))


def refuse_people(how: Reading, of: str) -> None:
    """Refuse labels of several people where there is one truth per item."""
    with checking(how.subject) as require:
        require(
            not how.people,
            f"{of}: one column of labels (truth=); labels of several people are read by "
            "prevalence.people.PeopleCounts, of which `agreed` has those that two gave alike, and "
            "by prevalence.scores.Scores, as what people say on average",
        )


def not_passed(passes: Any) -> str:
    """What it means that a verdict that could not be read is the judge's fail."""
    name = pass_name_of(passes)
    return f"the judge did not call them {name!r}" if name else "the judge did not pass them"


# A row per output ---------------------------------------------------------------------------------


class Read(NamedTuple):
    """Fields of a table of verdicts before it is collapsed, and of which items its rows are.

    If `items` is given `of_item` has the row of each; else hashes are of items somewhere in it.
    """

    fields: dict[str, Any]
    items: np.ndarray | None = None
    of_item: np.ndarray | None = None
    hashes: np.ndarray | None = None


def read_table(table: Any, how: Reading, guess_items: bool = False) -> Read:
    """Read a row per vote, a column of each of several judges, or a verdict per row.

    `guess_items` looks at a column that names items by custom, if none is named, and lets the
    table remember its items.
    """
    if how.judge is not None:
        return (_long_in_engine if is_counted_in_place(table) else long_in_memory)(table, how)
    if how.unparsed == KEPT:
        return _wide(table, how)
    if how.propensity:
        _require_few(table, how.propensity)
    if how.item is not None:
        require_distinct(table, *how.keys, how.item, remedy=REPEATED)
    custom = item_columns(table, how) if guess_items else []
    for column in custom:
        require_distinct(table, *how.keys, column, remedy=REPEATED, optional=True)
    source = Combinations(table, *how.labels, names=how.keys)
    named = [how.item] if how.item else custom[:1]
    fields = _counted(source, how, _Groups(how, source.cells), distinct=bool(named))
    if not (guess_items and named and is_in_memory(table)):
        return Read(fields)
    rows = read_rows(table, names=how.keys, optional=named).dropna()
    return Read(fields, hashes=hash_items(*(rows[column] for column in (*how.keys, *named))))


def _wide(table: Any, how: Reading) -> Read:
    if how.item:
        require_distinct(table, *how.keys, how.item, remedy="keep one row for each item")
    if is_counted_in_place(table):
        source = Combinations(table, *how.labels, *how.keys)
        return Read(_counted(source, how, _Groups.by_name(source, how)))
    read = wide_in_memory(table, how)
    return read if how.item else Read(read.fields)


def one_row_an_output(table: Any, how: Reading) -> tuple[Any, Reading]:
    """A table with a row per person as one with a column per person, who is named in `how.rater`.

    Rows without a name are of outputs that nobody labelled. A judge may be named there too, if no
    column has its verdicts.
    """
    import pandas as pd

    rater, label = str(how.rater), str(how.truth)
    names = [*([how.item] if how.item else []), *how.keys]
    have = columns_of(table)
    judges = {name for name in how.verdict if name not in have}
    said = [name for name in (*how.verdict, how.adjudicated) if name and name not in judges]
    words = "a row per person takes item= (a column), and truth= with what that person said"
    problem = f"rater=: {words}"
    single = how.truth is not None and each_name(how.truth) == [how.truth]
    expect(how.subject, how.item and single and not how.people, problem)
    rows = read_rows(table, *said, label, names=names, optional=[rater])
    rows = rows.astype(object).where(rows.notna(), None)
    none = {folded(value) for value in listed(how.missing_value) or ()}
    labels = map(str, rows[label][rows[rater].isna()].dropna())
    nameless = sum(folded(x) not in none and not says_nothing(x) for x in labels)
    named = rows[rows[rater].notna() & rows[label].notna()]
    raters = tuple(map(str, sorted(named[rater].unique())))
    people = tuple(name for name in raters if name not in judges)
    outputs = rows.groupby(names, sort=False)[said].agg(
        lambda cells: tuple(cells.dropna().unique())
    )
    by_person = named.groupby([*names, rater], sort=False)[label].agg(lambda x: tuple(x.unique()))
    with checking(how.subject) as require:
        absent = sorted(judges - {*raters})
        require(not absent, "columns-of-people", absent=absent, rater=rater, raters=few(raters))
        for column in said:
            torn = outputs.index[outputs[column].map(len) > 1].tolist()
            require(not torn, f"column {column!r} says two things of {torn[:3]}: one per output")
        torn = by_person.index[by_person.map(len) > 1].tolist()
        require(not torn, f"one person labels an output twice, and differs: {torn[:3]}")
        require(people, f"column {rater!r} names nobody who gave a label")
        words = f"{how_many(nameless, 'label')} without a name in column {rater!r}: name who gave"
        require(not nameless, f"{words} each, or leave these rows out")
        taken = sorted({*people} & {*names, *said})
        require(not taken, f"people are called {taken} as columns are; rename those columns")
    first = outputs.map(lambda cells: cells[0] if cells else None)
    wide = by_person.map(lambda cells: cells[0]).unstack(rater).rename(columns=str)
    wide_rows = first.join(wide).astype(object)
    wide_rows = wide_rows.where(wide_rows.notna(), None).reset_index()
    of_people: dict[str, Any] = {"truth": people, "rater": None}
    return pd.DataFrame(wide_rows), replace(how, **of_people)


def wide_in_memory(table: Any, how: Reading, in_order: bool = False) -> Read:
    """A pattern per row, of a table with a column per judge; groups in order, or as they occur."""
    names = [*([how.item] if how.item else []), *how.keys]
    source = Rows(table, *how.labels, names=names, in_order=in_order)
    fields = _counted(source, how, _Groups.by_name(source, how))
    rows = np.arange(len(source.count))
    return Read(fields, source.rows(how.item) if how.item else rows, rows)


def _counted(
    source: Combinations | Rows, how: Reading, groups: _Groups, distinct: bool = True
) -> dict[str, Any]:
    """The fields of a table of counted combinations, or of rows."""
    labels = how.meanings(source)
    response = np.column_stack([source.places(labels, column) for column in how.verdict])
    people = [source.places(labels, column) for column in how.people]
    parsed = response != MISSING
    lost = (~parsed).T @ source.count
    how.require_settled(dict(zip(how.verdict, lost.tolist(), strict=True)))
    several = len(how.verdict) > 1 or how.unparsed == KEPT
    responses, kept = labels.classes, parsed[:, 0] | several
    if how.unparsed == "fail":
        response, kept = np.where(parsed, response, 0), np.ones_like(kept)
    if how.unparsed == "verdict" and lost.any():
        response, kept = np.where(parsed, response, len(responses)), np.ones_like(kept)
        responses, parsed = (*responses, UNPARSED), np.ones_like(parsed)
    unparsed = np.zeros((len(groups.names), len(how.verdict) + len(people)), np.int64)
    if how.unparsed != KEPT:
        for judge, there in enumerate(parsed.T):
            np.add.at(unparsed[:, judge], groups.of_row[~there], source.count[~there])
    return {
        "response": np.column_stack([response, *people])[kept],
        "truth": source.places(labels, how.truth)[kept],
        "group": groups.of_row[kept],
        "count": source.count[kept],
        "calibration": how.calibration,
        "groups": groups.names,
        "judges": (*how.verdict, *how.people),
        "people": how.people,
        "classes": labels.classes,
        "responses": responses,
        "dim": "system" if how.kind in ("", "by") else "stratum",
        "propensity": groups.propensity,
        "covariates": groups.covariates,
        "unparsed": unparsed,
        "dropped": how.unparsed == "drop" and bool(lost.any()),
        "distinct": distinct,
        "spelling": f"{labels.spelling}{_asked_fails(source, labels, how)}",
        "pass_name": pass_name_of(how.pass_value, labels.spelling),
    }


def _asked_fails(source: Combinations | Rows, labels: Labels, how: Reading) -> str:
    """How many verdicts are fails only because that was asked for, beside the judge's own."""
    asked = {folded(name): spell(name) for name in listed(how.fail_value) or ()}
    clauses: list[str] = []
    for column in how.verdict if asked and how.unparsed != KEPT else ():
        cells = source.counts_of(column)
        fails = {cell for cell in cells if labels.places[column].get(cell) == 0}
        if any(folded(cell) not in asked for cell in fails):
            n = {
                word: sum(cells[x] for x in cells if folded(x) == name)
                for name, word in asked.items()
            }
            words = ", ".join(f"{many:,} {word}" for word, many in n.items() if many)
            clauses += [f"; of the verdicts {words}, read as fail"] if words else []
    return "".join(clauses)


class _Groups:
    """Systems or strata: their names in order, that of each counted row, and what they have."""

    def __init__(self, how: Reading, cells: Mapping[str, Sequence[Any]]):
        self.propensity: np.ndarray | None = None
        self.covariates: dict[str, tuple[Any, ...]] | None = None
        self.names: tuple[str, ...] = ("",)
        self.of_row = np.zeros(len(next(iter(cells.values()))), np.int64)
        rows = list(zip(*(cells[key] for key in how.keys), strict=True))
        if how.propensity:
            self.propensity, self.of_row = np.unique(
                _chances([name for (name,) in rows]), return_inverse=True
            )
            self.names = tuple(f"{x:g}" for x in self.propensity)
        elif how.keys:
            labels = [row[0] for row in rows]
            if how.covariates is not None:  # for example topic=law, length=120
                pairs = [zip(how.keys, row, strict=True) for row in rows]
                labels = [", ".join(f"{key}={value}" for key, value in each) for each in pairs]
            names, first, self.of_row = np.unique(
                np.array(labels, object), return_index=True, return_inverse=True
            )
            self.names = tuple(names.tolist())
            if how.covariates is not None:
                columns = zip(*(rows[i] for i in first), strict=True)
                self.covariates = dict(zip(how.keys, columns, strict=True))

    @classmethod
    def by_name(cls, source: Combinations | Rows, how: Reading) -> _Groups:
        """As a column names them: of rows in memory, in the order in which they occur."""
        others = replace(how, by=None)
        cells = {key: source.rows(key) for key in others.keys}
        groups = cls(others, {"": source.count.tolist(), **cells})
        if how.by:
            groups.names, groups.of_row = source.groups(how.by)
        return groups


def _chances(names: Sequence[str]) -> np.ndarray:
    """Propensities as numbers: 0.1 and 0.10 are one."""
    numbers = np.array([number_of(name) for name in names], float)
    with checking("column of propensities") as require:
        inside = (numbers > 0) & (numbers <= 1)
        wrong = list(dict.fromkeys(np.array(names, object)[~inside]))
        require(not wrong, f"{wrong[:3]} are not probabilities in (0, 1]")
        distinct = np.unique(numbers).size
        most = MOST_PROPENSITIES
        require(distinct <= most, "many-strata", distinct=distinct, most=most)
    return numbers


def _require_few(table: Any, column: str) -> None:
    """Refuse what is far from strata before counting it."""
    import narwhals as nw

    require_columns(table, column)
    count = nw.from_native(table).lazy().select(nw.col(column).n_unique()).collect()
    distinct = int(count[column][0])
    with checking("column of propensities") as require:
        # 0.1 and 0.10 are one, as text they are two
        most = MOST_PROPENSITIES
        require(distinct <= 50 * most, "many-strata", distinct=distinct, most=most)


def item_columns(table: Any, how: Reading) -> list[str]:
    """Columns that identify items by custom, if none is named and they are not read otherwise."""
    if how.item is not None:
        return []
    read = {*how.labels, *how.keys}
    return [c for c in columns_of(table) if c.lower() in ITEM_COLUMNS and c not in read]


def other_systems(tables: Sequence[Any], how: Reading) -> tuple[str, ...]:
    """Systems that labels come from and the items asked about do not, if a column names systems.

    Labels in the first table count if they are not of the items asked about, those in others do.
    """
    column = next((c for c in columns_of(tables[0]) if c.lower() in SYSTEM_COLUMNS), None)
    if how.kind or column is None or column in how.labels:
        return ()
    apart = not design_of(how.calibration).same_items
    single = replace(how, verdict=how.verdict[0])  # labels are the same for all judges
    asked: set[str] = set()
    labels: set[str] = set()
    for part in tables:
        if column not in columns_of(part):
            continue
        source = Combinations(part, *single.labels, column)
        labels_of = single.meanings(source)
        given = [source.places(labels_of, column) for column in (*single.people, single.truth)]
        for name, label in zip(source.cells[column], np.max(given, axis=0), strict=True):
            elsewhere = part is not tables[0] or (apart and label != MISSING)
            (labels if elsewhere else asked).add(str(name))
    return tuple(sorted(labels - asked))


# Several rows per item ----------------------------------------------------------------------------


def read_item_cells(table: Any, how: Reading, repeats: str | None) -> dict[str, Any]:
    """Count rows that share items; with ``repeats="judge"`` those of an output have one truth."""
    refuse_people(how, "rows that share items")
    (verdict,), item = how.verdict, str(how.item)
    in_place = is_counted_in_place(table)
    if in_place:
        source: Combinations | Rows = Combinations(table, *how.labels, *how.keys)
    else:
        source = Rows(table, *how.labels, names=[item, *how.keys], in_order=True)
    labels = how.meanings(source)
    lost = source.places(labels, verdict) == MISSING
    how.require_settled({verdict: int(source.count[lost].sum())})
    if isinstance(source, Combinations):
        systems, by_item = _cells_in_engine(table, source, labels, how, repeats)
    else:
        systems, by_item = _cells_in_memory(source, labels, how, repeats)
    system = source.groups(how.by)[1] if how.by else np.zeros(len(lost), np.int64)
    seen = by_item.rows.any(axis=1)
    cells = by_item.rows[seen].reshape(-1, len(systems), TRUTHS, VERDICTS)
    return {
        "cells": cells,
        "items": by_item.n_items[seen],
        "groups": systems,
        "unparsed": np.bincount(system[lost], source.count[lost], len(systems))[:, None],
        "spelling": str(labels.spelling),
        "pass_name": pass_name_of(how.pass_value, labels.spelling),
    }


def _cells_in_memory(
    source: Rows, labels: Labels, how: Reading, repeats: str | None
) -> tuple[tuple[str, ...], Patterns]:
    verdict, truth = (source.places(labels, column) for column in how.labels)
    item, items = source.columns[str(how.item)]
    systems, system = source.groups(how.by) if how.by else (("system",), np.zeros_like(verdict))
    if how.unparsed == "fail":
        verdict = np.where(verdict == MISSING, 0, verdict)
    if repeats == "judge":
        _, output = np.unique(item * len(systems) + system, return_inverse=True)
        truth, torn = _one_truth(output, truth)
        _require_one_truth(int(torn.sum()))
    judged = verdict != MISSING
    kind = (system * TRUTHS + np.where(truth == MISSING, UNLABELLED, truth)) * VERDICTS + verdict
    item, kind = item[judged], kind[judged]
    packing = Packing(len(systems) * TRUTHS * VERDICTS, int(np.bincount(item).max(initial=1)))
    numbers = packing.packed(item, kind, len(items))
    return systems, Patterns.of(packing, numbers, np.zeros((len(items), 0), np.int64))


def _cells_in_engine(
    table: Any, source: Combinations, labels: Labels, how: Reading, repeats: str | None
) -> tuple[tuple[str, ...], Patterns]:
    import narwhals as nw

    systems, place = source.named(how.by) if how.by else (("system",), {})
    verdict, truth = (code_of(column, labels.known(column)) for column in how.labels)
    if how.unparsed == "fail":
        verdict = verdict.fill_null(0)
    n = {f"n_{v}": (verdict == v).cast(nw.Int64).fill_null(0) for v in range(VERDICTS)}
    rows = nw.from_native(table).lazy().select(
        nw.col(str(how.item)).alias("item"),
        (code_of(how.by, place) if how.by else nw.lit(0, nw.Int64)).alias("system"),
        truth.alias("truth"),
        nw.lit(0, nw.Int64).alias("torn"),
        **n,
    )  # fmt: skip
    if repeats == "judge":  # one row per output, of several verdicts
        label = nw.col("truth")
        rows = rows.group_by("item", "system").agg(
            label.max().alias("truth"),
            (label.max() - label.min()).fill_null(0).alias("torn"),
            *(total(nw.col(name)).alias(name) for name in n),
        )
    known = nw.col("truth").fill_null(UNLABELLED)
    kind = (nw.col("system") * TRUTHS + known) * VERDICTS
    rows = rows.select("item", "torn", kind.alias("kind"), *n)
    packing = Packing(len(systems) * TRUTHS * VERDICTS, most_rows(rows, ["item"], VERDICTS))
    others = {"torn": total(nw.col("torn"))}
    patterns, _ = patterns_in_engine(
        rows, ["item"], packing, others, several=VERDICTS, called=str(how.item)
    )
    _require_one_truth(int(patterns.n_items @ patterns.others[:, 0]))
    return systems, patterns


def _one_truth(unit: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The truth of each row's output, if one of its rows has it; and where rows have another."""
    most = np.full(int(unit.max(initial=-1)) + 1, MISSING)
    np.maximum.at(most, unit, truth)
    torn = np.zeros(len(most), bool)
    torn[unit[(truth != MISSING) & (truth != most[unit])]] = True
    return most[unit], torn


def _require_one_truth(torn: int) -> None:
    expect("prevalence.items", torn == 0, "outputs-torn", n=torn)


# A row per vote -----------------------------------------------------------------------------------


def long_in_memory(table: Any, how: Reading) -> Read:
    """The patterns of votes of a table with a row per vote."""
    (vote,), judge, item = how.verdict, str(how.judge), str(how.item)
    # an engine's names have no order, and are counted in this one
    in_order = is_counted_in_place(table)
    names = [item, *how.keys]
    source = Rows(table, *how.labels, names=names, optional=[judge], in_order=in_order)
    labels = how.meanings(source)
    given, truth = source.places(labels, vote), source.places(labels, how.truth)
    judges, by = source.groups(judge)
    group = _Groups.by_name(source, how)
    judged = by != MISSING  # a row without a judge is an item that nobody voted on
    _require_judges(judge, judges, int((given[~judged] != MISSING).sum()), how)
    code, items = source.columns[item]
    key, unit = np.unique(group.of_row * len(items) + code, return_inverse=True)
    settled, torn = _one_truth(unit, truth)
    vote_of = unit[judged] * len(judges) + by[judged]
    votes = np.bincount(vote_of)
    if how.repeated == "error" and votes.max(initial=0) > 1:
        again = np.delete(np.flatnonzero(judged), np.unique(vote_of, return_index=True)[1])
        shown = [{item: items[code[row]], judge: judges[by[row]]} for row in again[:3]]
        _refuse_two_votes(len(again), shown, how)
    _refuse_two_truths(items[code][torn[unit]], how)
    kinds = len(labels.classes) + 1
    packing = Packing(len(judges) * kinds, int(votes.max(initial=1)))
    numbers = packing.packed(unit[judged], (by * kinds + given + 1)[judged], len(key))
    others = np.zeros((len(key), 2), np.int64)
    others[unit] = np.column_stack([group.of_row, settled])
    patterns = Patterns.of(packing, numbers, others)
    fields = _of_votes(patterns, judges, group.names, labels, how)
    return Read(fields, items[key % len(items)], patterns.of_item)


def _long_in_engine(table: Any, how: Reading) -> Read:
    import narwhals as nw

    (vote,), judge, item = how.verdict, str(how.judge), str(how.item)
    source = Combinations(table, *how.labels, judge, *how.keys)
    labels = how.meanings(source)
    judges, place = source.named(judge, optional=True)
    nobody = np.array([cell not in place for cell in source.cells[judge]])
    given = source.places(labels, vote) != MISSING
    _require_judges(judge, judges, int(source.count[nobody & given].sum()), how)
    groups, of_group = source.named(how.by) if how.by else (("",), {})
    kinds = len(labels.classes) + 1
    said = code_of(vote, labels.known(vote)).fill_null(MISSING) + 1
    by = code_of(judge, place)
    truth = nw.lit(None, nw.Int64)
    if how.truth:
        truth = code_of(how.truth, labels.known(how.truth))
    frame = nw.from_native(table).lazy().select(
        nw.col(item).alias("item"),
        (code_of(how.by, of_group) if how.by else nw.lit(0, nw.Int64)).alias("group"),
        nw.col(judge).alias("by"),
        (by * kinds + said).alias("kind"),
        (~by.is_null()).cast(nw.Int64).alias("n_0"),
        truth.alias("truth"),
    )  # fmt: skip
    keys, keep = ["group", "item"], how.repeated == "keep"
    most = most_rows(frame, keys, 1) if keep else len(judges)
    packing = Packing(len(judges) * kinds, most)
    others = {"least": nw.col("truth").min(), "most": nw.col("truth").max()}
    patterns, each = patterns_in_engine(frame, keys, packing, others, called=item)
    group, least, settled, over = patterns.others.T
    if not keep and (over.any() or _by_judge(patterns, judges).sum(axis=2).max() > 1):
        by_judge = frame.filter(nw.col("n_0") > 0).group_by(*keys, "by")
        again = by_judge.agg(nw.len().alias("n")).filter(nw.col("n") > 1)
        times = again.select(total(nw.col("n") - 1)).collect().to_numpy()[0, 0]
        head = again.sort(*keys, "by").head(3).select("item", "by").collect()
        shown = [dict(zip((item, judge), row, strict=True)) for row in head.rows()]
        _refuse_two_votes(times, shown, how)
    if (least != settled).any():
        torn = each.filter(nw.col("least") != nw.col("most"))
        shown = torn.select("item").sort("item").head(3).collect()["item"].to_list()
        _refuse_two_truths(shown, how)
    patterns = patterns._replace(others=np.column_stack([group, settled]))
    return Read(_of_votes(patterns, judges, groups, labels, how))


def _by_judge(patterns: Patterns, judges: Sequence[str]) -> np.ndarray:
    """How often each judge gave no vote, and each vote, by pattern."""
    return patterns.rows.reshape(len(patterns.rows), len(judges), -1)


def _of_votes(
    patterns: Patterns, judges: Sequence[str], groups: Sequence[str], labels: Labels, how: Reading
) -> dict[str, Any]:
    """As many columns a judge as it voted at most on one item: the last class first."""
    columns, of_column = [], []
    by_judge = _by_judge(patterns, judges)
    if how.all_rows:
        voted = by_judge[:, :, 1:].any(axis=(0, 2))
        silent = [judge for judge, some in zip(judges, voted, strict=True) if not some]
        expect(how.subject, not silent, "judges-silent", silent=silent, column=str(how.judge))
    for judge in range(len(judges)):
        ends = np.cumsum(by_judge[:, judge, ::-1], axis=1)
        for turn in range(int(ends[:, -1].max(initial=0))):
            later = (ends <= turn).sum(axis=1)
            columns.append(np.maximum(len(labels.classes) - 1 - later, MISSING))
            of_column.append(judge)
    group, truth = patterns.others.T
    return {
        "response": np.column_stack(columns),
        "truth": truth,
        "group": group,
        "count": patterns.n_items,
        "calibration": how.calibration,
        "groups": groups,
        "judges": judges,
        "classes": labels.classes,
        "judge_of_column": of_column,
        "distinct": True,
        "spelling": str(labels.spelling),
        "pass_name": pass_name_of(how.pass_value, labels.spelling),
    }


def _require_judges(column: str, judges: Sequence[str], lost: int, how: Reading) -> None:
    with checking(how.subject) as require:
        require(len(judges) > 0, f"column {column!r} names no judge")
        require(not lost, "votes-without-judge", n=lost, column=column)


def _refuse_two_votes(times: int, shown: Sequence[Any], how: Reading) -> None:
    with checking(how.subject) as require:
        require(
            False,
            f"a judge voted more than once on an item ({times} times), for example {shown}; keep "
            "one"
            + ("" if how.by else ", or name what made each item (generator=)")
            + "; in Python, Votes.from_frame counts them all with repeated='keep'",
            "votes-repeat",
        )


def _refuse_two_truths(items: Sequence[Any], how: Reading) -> None:
    shown = list(dict.fromkeys(items))[:3]
    expect(how.subject, not shown, "truths-differ", torn=shown)
