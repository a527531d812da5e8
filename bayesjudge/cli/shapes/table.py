"""One description of a table: of each column what its cells are, and what the column is for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesjudge.cli.shapes.coding import MOST_LABELS, kind_of, usual_scale
from bayesjudge.cli.shapes.words import (
    BASELINES,
    CHANGES,
    CHOICES,
    ITEMS,
    JUDGES,
    JURORS,
    LLMS,
    MAKERS,
    NO_SCORES,
    NUMBERED,
    OTHER_COUNTS,
    PEOPLE,
    RATERS,
    REPEATS,
    SCORES,
    SYSTEMS,
    TOPICS,
    VARIANTS,
    is_id,
    is_model,
    named,
    says_judge,
    says_person,
    words_of,
)
from bayesjudge.core.labels import DASHES, folded, says_nothing, spell, unread
from bayesjudge.verdicts.reading import ITEM_COLUMNS

#: The longest label.
LONGEST = 40
#: Part of a column that is empty from which it seems to hold labels of a sample.
MOSTLY = 0.2
#: Probability below which two columns go together by more than chance.
BY_CHANCE = 1e-3
#: Groups from which a column's values are such as conversations, and no systems or strata.
FEWEST_GROUPS = 10
#: Most values of a column of judges, and of one of what made the outputs.
MOST_JUDGES, MOST_MAKERS = 12, 50
#: Words that stand for an empty cell where most cells say so; a dash always does.
NOTHING = {"na", "n/a", "nan", "null", "#n/a"}
ROW_NAME = re.compile(r"[^\d.]{0,12}\d+")
DATES = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}$")


@dataclass(frozen=True)
class Column:
    """A column's cells, as text, and what kind of thing they are."""

    name: str
    cells: Sequence[str]

    @cached_property
    def kinds(self) -> Counter[str]:
        """How often each value occurs, in the order of the table; empty cells left out."""
        found = Counter(self.cells)
        found.pop("", None)
        return found

    @cached_property
    def words(self) -> set[str]:
        """Words of the name."""
        return {*words_of(self.name)}

    @cached_property
    def said(self) -> set[str]:
        """What cells say, however they are spelled; nothing of those that say nothing."""
        return {folded(one) for one in self.kinds if not says_nothing(one)}

    @cached_property
    def meanings(self) -> set[str | bool]:
        """What cells say, words of pass and fail alike."""
        return {kind_of(one) for one in self.kinds}

    @property
    def lacks(self) -> bool:
        """Whether a good part of the cells is empty."""
        return len(self.cells) - self.kinds.total() > MOSTLY * len(self.cells)

    @property
    def full(self) -> bool:
        """Whether no cell is empty."""
        return self.kinds.total() == len(self.cells)

    @cached_property
    def numeric(self) -> bool:
        """Whether all cells are numbers."""
        return bool(self.kinds) and all(map(is_number, self.kinds))

    @cached_property
    def labels(self) -> bool:
        """Whether cells are a few short words."""
        if not 0 < len(self.kinds) <= MOST_LABELS or any(len(c) > LONGEST for c in self.kinds):
            return False
        return len(self.kinds) <= 4 or not self.numeric

    @cached_property
    def numbers(self) -> bool:
        """Whether cells are numbers, and not just 0 and 1."""
        return self.numeric and not {spell(c) for c in self.kinds} <= {"0", "1"}

    @cached_property
    def binary(self) -> bool:
        """Whether cells say pass and fail, and nothing else."""
        return len(self.kinds) <= MOST_LABELS and not unread({"": self.kinds})

    @cached_property
    def grades(self) -> set[float]:
        """Whole numbers, if there are few of these and nothing else."""
        few = len(self.kinds) <= MOST_LABELS
        whole = few and all(is_number(c) and float(c) % 1 == 0 for c in self.kinds)
        return {float(c) for c in self.kinds} if whole else set()

    @cached_property
    def scale(self) -> str:
        """The shortest usual scale that holds all numbers, as options have it."""
        return usual_scale([float(c) for c in self.kinds])

    def within(self, other: Column) -> bool:
        """Whether numbers may be on the scale of another column, and use half of it or more."""
        own, theirs = ([*map(float, c.scale.rsplit(":", 1))] for c in (self, other))
        inside = theirs[0] <= own[0] and own[1] <= theirs[1]
        return inside and 2 * (own[1] - own[0]) >= theirs[1] - theirs[0]

    @property
    def constant(self) -> bool:
        """Whether several rows say one and the same thing."""
        return self.kinds.total() > 1 and len({*map(folded, self.kinds)}) == 1

    @property
    def times(self) -> bool:
        """Dates in ISO form, or numbers under the name of a time."""
        dated = bool(self.kinds) and all(re.match(r"\d{4}-\d\d-\d\d", c) for c in self.kinds)
        called = self.words & {"time", "timestamp", "created", "asked"}
        return dated or (bool(called) and self.numeric)

    @property
    def dates(self) -> bool:
        """Whether cells are dates, however they are written."""
        return bool(self.kinds) and all(DATES.match(c) for c in self.kinds)

    @property
    def models(self) -> bool:
        """Whether cells name language models."""
        return len(self.kinds) <= MOST_MAKERS and any(map(is_model, self.kinds))

    @property
    def index(self) -> bool:
        """Whether numbers only tell rows apart, or measure something else than quality."""
        if self.words & NO_SCORES or is_id(self.name):
            return True
        whole = all(float(c).is_integer() for c in self.kinds)
        return whole and len(self.kinds) > MOST_LABELS and max(self.kinds.values()) == 1

    @cached_property
    def counts_to(self) -> int:
        """How many whole numbers a column counts, each about as often; 0 if it is no counter."""
        other = {*OTHER_COUNTS, *SCORES, *VARIANTS, *SYSTEMS, *JUDGES, *PEOPLE}
        if self.words & other or says_person(self.name) or says_judge(self.name):
            return 0
        begin = re.match(r"\D*", next(iter(self.kinds), ""))
        called = begin[0] if begin else ""
        said = self.words | {*words_of(called)}
        pattern = re.compile(rf"{re.escape(called)}\d{{1,3}}(\.0)?")
        if (called and not said & REPEATS) or not all(map(pattern.fullmatch, self.kinds)):
            return 0
        numbers = sorted(map(number_in, self.kinds))
        in_turn = bool(numbers) and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
        if not in_turn:
            return 0
        repeats, first = bool(said & REPEATS), numbers[0]
        enough = len(numbers) >= 2 and first <= 1 if repeats else len(numbers) >= 3 and first == 1
        even = min(self.kinds.values()) > (1 - 2 * MOSTLY) * max(self.kinds.values())
        return len(numbers) if enough and even else 0


class Asked(NamedTuple):
    """A question that only who made the table can answer, about some columns."""

    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Table:
    """Columns of a table by what they are for; those with labels, verdicts and scores in order."""

    columns: Mapping[str, list[str]]
    item: str | None = None
    system: str | None = None
    judge: str | None = None
    variant: str | None = None
    order: str | None = None
    truths: Sequence[str] = ()
    verdicts: Sequence[str] = ()
    scores: Sequence[str] = ()
    counter: str | None = None
    #: Columns that only repeat another one: its further answers, or the number of the repeat.
    again: Sequence[str] = ()
    #: Columns with numbers like a judge's in some rows, which people may have given.
    perhaps: Sequence[str] = ()
    #: What stands for an empty cell, by column; such cells are empty here.
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: What is taken for what without being called so.
    guessed: Sequence[str] = ()
    #: What two readings are left open.
    asked: Sequence[Asked] = ()
    #: The file, and the options by which lines read these columns there.
    path: str = ""
    about: Sequence[str] = ()
    #: Whether the file is a log, whose columns commands know.
    log: bool = False
    #: The metric of a log, for sentences.
    where: str = ""
    #: How people's labels in another file are joined, by what a command calls a system.
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Column:
        """A column."""
        described = self.__dict__.setdefault("_described", {})
        if name not in described:
            described[name] = Column(name, self.columns[name])
        return described[name]

    def __iter__(self) -> Iterator[Column]:
        """All columns."""
        return map(self.__getitem__, self.columns)

    def but(self, **changes: Any) -> Table:
        """The same table with other columns for something."""
        other = replace(self, **changes)
        if "columns" not in changes:
            other.__dict__["_described"] = self.__dict__.setdefault("_described", {})
        return other

    @property
    def keys(self) -> list[str]:
        """Columns that tell rows apart, those that there are."""
        return [n for n in (self.item, self.system, self.judge, self.variant) if n]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return [] if self.system is None else [*self[self.system].kinds]

    @property
    def judges(self) -> list[str]:
        """Names of the judges, of a table with one row a verdict."""
        return [] if self.judge is None else [*self[self.judge].kinds]

    @property
    def baseline(self) -> str | None:
        """The value of the variant in which nothing was changed: by its name, or the first."""
        kinds = [*self[self.variant].kinds] if self.variant else []
        called = [kind for kind in kinds if {*words_of(kind)} & BASELINES]
        return next(iter([*called, *kinds]), None)

    @property
    def row_name(self) -> str | None:
        """The column of the item, or the first one that names each row by a number of its own."""
        names = (c.name for c in self if c.full and len(c.kinds) == len(c.cells) > 4
                 and not c.words & NO_SCORES and all(map(ROW_NAME.fullmatch, c.kinds)))  # fmt: skip
        return self.item or next(names, None)

    def rows(self, names: Iterable[str]) -> list[tuple[str, ...]]:
        """The cells of some columns, row by row."""
        return [*zip(*(self.columns[n] for n in names), strict=True)]

    @cached_property
    def several(self) -> bool:
        """Whether an item has several rows."""
        return self.item is not None and len({*self.rows(self.keys)}) < len(self.columns[self.item])

    @property
    def repeats(self) -> bool:
        """Whether an item has several rows that nothing but the answers tells apart."""
        return self.several and self.part is None  # turns of one item are no repeats

    @cached_property
    def part(self) -> str | None:
        """The column that counts the parts of an item that has several rows, such as its turns."""
        if not self.several:
            return None
        rows = self.rows(self.keys)
        others = (c for c in self if c.words & OTHER_COUNTS)
        apart = (c.name for c in others if len({*zip(rows, c.cells, strict=True)}) == len(rows))
        return next(apart, None)

    def labelled_together(self, truth: str) -> tuple[str, int, int] | None:
        """A column whose groups are labelled as a whole or not at all; how many are, of how many.

        Rows drawn one by one would be so with a probability below `BY_CHANCE`.
        """
        labelled = [cell != "" for cell in self.columns[truth]]
        share = sum(labelled) / max(len(labelled), 1)
        taken = {truth, *self.verdicts, *self.scores}
        for column in self:
            if column.name in taken or not column.full or len(column.kinds) < FEWEST_GROUPS:
                continue
            whole = {*zip(column.cells, labelled, strict=True)}
            if len(whole) == len(column.kinds) and _all_alike(share, column.kinds) < BY_CHANCE:
                return column.name, sum(there for _, there in whole), len(column.kinds)
        return None

    def one_label_an_item(self, truth: str) -> bool:
        """Whether labels are the same in all rows of an item past chance, while verdicts differ."""
        judged = [*self.verdicts, *self.scores]
        if self.item is None or not judged:
            return False
        rows = self.rows([self.item, truth, judged[0]])
        of_item: dict[str, tuple[set[str], set[str], int]] = {}
        for item, label, verdict in rows:
            labels, verdicts, n = of_item.get(item, (set(), set(), 0))
            of_item[item] = (labels | {label}, verdicts | {verdict}, n + 1)
        several = [own for own in of_item.values() if own[2] > 1 and own[0] != {""}]
        alike = sum(len(labels) == 1 for labels, *_ in several)
        differ = sum(len(verdicts) > 1 for _, verdicts, _ in several)
        return alike == len(several) > 4 and differ > 4


def _all_alike(share: float, sizes: Mapping[str, int]) -> float:
    """Probability that rows labelled one by one leave every group whole or without a label."""
    each = (share**n + (1 - share) ** n for n in sizes.values())
    return math.exp(sum(map(math.log, each)))


def is_number(cell: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        return float(cell) == float(cell)
    except (TypeError, ValueError):
        return False


def number_in(cell: str) -> int:
    """The number at the end of a cell: of ``3``, ``3.0`` and ``run3``."""
    return int(re.sub(r"^\D*|\.0$", "", cell))


# What columns are for ----------------------------------------------------------------------------


def describe(
    columns: Mapping[str, list[str]],
    truth: str | None = None,
    people: Mapping[str, list[str]] = MappingProxyType({}),
) -> Table:
    """Say what each column is for.

    `truth` names the column with people's labels; `people` are the columns of a file with them.
    """
    absent = {name: _stand_for_nothing(cells) for name, cells in columns.items()}
    absent = {name: words for name, words in absent.items() if words}
    full = {n: ["" if c in words else c for c in columns[n]] for n, words in absent.items()}
    table = Table({**columns, **full}, absent=absent)
    counted = _repeats_in(table)
    if counted is None:
        return _by_names(table, truth, None, people)
    item, counter = counted
    twins = [n for n in columns if _one_to_one(table[n], table[counter])]
    rest = Table({n: c for n, c in table.columns.items() if n not in twins}, absent=absent)
    found = _by_names(rest, truth, item, people)
    judged = bool(found.scores) != bool(found.verdicts)
    if judged and not (found.truths or found.system or found.variant or found.asked):
        first = min(map(number_in, table[counter].kinds))
        told = f"{counter} counts from {first} within each {item}, and is read as the number of"
        order = next((n for n in twins if table[n].numeric), None)
        return found.but(columns=table.columns, order=order, counter=counter, again=twins,
                         guessed=[f"{told} the repeat"])  # fmt: skip
    plain = _by_names(table, truth, item, people)
    return plain.but(
        scores=[n for n in plain.scores if n != counter],
        counter=counter if table[counter].words & REPEATS else None,
    )


def _stand_for_nothing(cells: Sequence[str]) -> list[str]:
    """What a column has in place of empty cells, beside other words."""
    kinds = Counter(cells)
    found = [one for one in kinds if one in DASHES and "+" not in kinds]
    most = [k for k, n in kinds.items() if 2 * n > len(cells)]
    found += [k for k in most if k.casefold() in NOTHING]
    found += [k for k in most if k.casefold() == "none" and not unread({"": {*kinds} - {k, ""}})]
    return found if len({*kinds} - {*found, ""}) else []


def _by_names(
    table: Table, truth: str | None, counted: str | None, people: Mapping[str, list[str]]
) -> Table:
    """Say what each column is for; `counted` is the item, if its rows are counted."""
    labels = _labels(table)
    numbers = [c for c in table if c.name not in labels and c.numbers]
    system = named(table.columns, SYSTEMS)
    if system in labels and _are_verdicts(table, str(system), labels):
        system = None
    table = table.but(
        item=counted or _item_of(table) or _crossed(table, labels),
        system=system,
        judge=_judge_of(table, labels, numbers),
        order=next((c.name for c in table if c.times), None),
    )
    taken = {*table.keys, table.order, *(c.name for c in numbers if c.name.lower() in RATERS)}
    few = [n for n in labels if n not in taken]
    found, rest = _what_was_said(table, truth, few, [c for c in numbers if c.name not in taken])
    return _who_made_what(found, rest, people)


def _what_was_said(
    table: Table, truth: str | None, labels: Sequence[str], numbers: Sequence[Column]
) -> tuple[Table, list[str]]:
    """Find scores, people's labels and verdicts; the columns of labels that are not people's."""
    from bayesjudge.cli.shapes.people import find_labels

    scores = [c.name for c in numbers if not c.index and not says_person(c.name)]
    scores.sort(key=lambda n: not (table[n].words & SCORES or says_judge(n)))
    seen = find_labels(table, truth, labels, scores, [c.name for c in numbers])
    scores = [n for n in scores if n not in seen.truths]
    scores.sort(key=seen.perhaps.__contains__)
    rest = [n for n in labels if n not in {*seen.truths, *seen.people}]
    verdicts = _verdicts(table, seen.truths, [table[n] for n in rest])
    said = table.but(truths=seen.truths, verdicts=verdicts, scores=scores, perhaps=seen.perhaps,
                     guessed=seen.guessed, asked=seen.asked)  # fmt: skip
    return said, rest


def _verdicts(table: Table, truths: Sequence[str], among: Sequence[Column]) -> list[str]:
    """Columns that are called a judge's; else those of pass and fail, or in people's words."""
    usable = [c for c in among if not c.models
              and (not c.constant or (c.binary and says_judge(c.name)))]  # fmt: skip
    verdicts = [c.name for c in usable if says_judge(c.name)]
    verdicts = verdicts or [c.name for c in usable if c.binary]
    if truths and not verdicts:
        said = table[truths[0]].said
        verdicts = [c.name for c in usable if len(said) > 1 and c.said == said]
        verdicts = verdicts or _gone_with(table[truths[0]], usable)
    return verdicts


def _who_made_what(table: Table, rest: Sequence[str], people: Mapping[str, list[str]]) -> Table:
    """Find the columns of systems, judges and versions among those that hold no verdicts."""
    item, system, judge, truths = table.item, table.system, table.judge, table.truths
    names = _names_among(table, table.verdicts, truths)
    names = [n for n in names if len(table[n].kinds) != 2 or _arm(table, item, [n])]
    verdicts = [n for n in table.verdicts if n not in names]
    system = system or named([n for n in rest if n in names], LLMS)
    counting = {c.name for c in table if c.numeric and c.words & (OTHER_COUNTS | REPEATS)}
    free = [n for n in rest if n not in verdicts and n not in counting]
    jury = None
    if item and judge is None and len(verdicts) == 1 and _one_label_each(table, item, truths):
        jury = jury_in(table, item, system, free, people)
    if jury is not None:
        told = [*table.guessed, jury.told]
        return table.but(verdicts=verdicts, judge=jury.judge, system=jury.generator, guessed=told)
    arm = None if system else _arm(table, item, free)
    changed = arm is not None and not truths and _changed(table, arm, table.scores, verdicts)
    return table.but(verdicts=verdicts, system=system or (None if changed else arm),
                     variant=arm if changed else None)  # fmt: skip


def _gone_with(truth: Column, columns: Sequence[Column]) -> list[str]:
    """The one column of two words that go with people's past any chance."""
    from bayesjudge.cli.shapes.people import go_together

    two = [c for c in columns if len(c.said) == len(truth.said) == 2 and not c.lacks]
    found = [c.name for c in two if go_together(truth, c)]
    return found if len(found) == 1 else []


def _labels(table: Table) -> list[str]:
    """Columns of a few short words; grades on a scale that another column shows are numbers."""
    found = [c for c in table if c.labels]
    wide = [c.grades for c in table if not c.labels and says_judge(c.name)]
    found = [c for c in found if not (len(c.grades) > 2 and any(c.grades <= own for own in wide))]
    called = any(says_person(c.name) for c in table)  # then a judge's few grades are classes
    graded = [c for c in table if len(c.grades) > 2]
    judges = [c for c in graded if not c.lacks and (
        c.words & SCORES or (says_judge(c.name) and not called))]  # fmt: skip
    some = [c for c in graded if c not in judges and c in found and c.lacks and not c.index
            and any(c.grades <= judge.grades for judge in judges)]  # fmt: skip
    numbers = {c.name for c in (*some, *(judges if some else ()))}
    return [c.name for c in found if c.name not in numbers]


def _judge_of(table: Table, labels: Sequence[str], numbers: Sequence[Column]) -> str | None:
    """The column that names who judged, which does not hold the verdicts."""
    called = [c for c in table if c.name.lower() in JUDGES and c not in numbers]
    called = [c for c in called if c.name not in labels or not _are_verdicts(table, c.name, labels)]
    called += [c for c in table if c.models and c.words & JURORS]  # such as judge.model
    return next((c.name for c in sorted(called, key=lambda c: c.constant)), None)


def _are_verdicts(table: Table, name: str, labels: Sequence[str]) -> bool:
    """Whether cells say what another column says, pass and fail, or two that name no model.

    Two such words may name judges too, unless the column is alone in saying anything.
    """
    own, others = table[name], [table[n] for n in labels if n != name]
    people = [c for c in others if says_person(c.name) or c.lacks]
    if own.binary or any(len(own.said & c.said) > 1 for c in people):
        return not own.models
    if any(len(own.said) > 1 and own.said <= c.said for c in others):
        return not own.models
    called = any(says_judge(c.name) or c.name.lower() in CHOICES for c in others)
    scored = any(c.words & SCORES for c in table if c.name not in labels and c.numbers)
    said = any(c.binary and not c.lacks for c in others)
    alone = not (called or scored or said) and name.lower() in JUDGES
    return alone and len(own.said) == 2 and not own.models


def _item_of(table: Table) -> str | None:
    """A column by a usual name, or the first one called some id, or some word for an item."""
    usual = [n for n in table.columns if n.lower() in ITEM_COLUMNS]
    ids = [c.name for c in table if is_id(c.name) and not (says_person(c.name) and c.labels)
           and c.name.lower() not in (*SYSTEMS, *JUDGES)]  # fmt: skip
    ids = [n for n in ids if not table[n].words & {"annotator", "reviewer", "user", "rater", "run"}]
    called = [c.name for c in table if c.words & ITEMS and c.words <= ITEMS | NUMBERED
              and len(c.kinds) > 4 and not (c.numeric and c.words & OTHER_COUNTS)]  # fmt: skip
    coming = [n for n in [*usual, *ids, *called] if not table[n].counts_to]
    return next(iter([*coming, *usual, *ids, *called]), None)


def _crossed(table: Table, labels: Sequence[str]) -> str | None:
    """A column whose values have each of some few words once, but for a few rows lost."""
    for words in (table[n] for n in labels):
        several = len(words.kinds)
        if several < 2 or not words.full or words.counts_to:
            continue
        for column in table:
            most = several * len(column.kinds)
            few = len(column.kinds) <= MOST_LABELS
            if not column.full or few or most * (1 - MOSTLY) > len(words.cells):
                continue
            if len({*zip(column.cells, words.cells, strict=True)}) == len(words.cells):
                return column.name
    return None


def _repeats_in(table: Table) -> tuple[str, str] | None:
    """The item and the counter of its rows: 1 to k within each item, but for a few rows lost."""
    counters = sorted((c for c in table if c.counts_to), key=lambda c: not c.numeric)
    usual = _item_of(table) if counters else None
    for name in dict.fromkeys([*([usual] if usual else []), *table.columns]):
        column = table[name]
        for counter in counters:
            times = counter.counts_to
            if column is counter or not column.full or max(column.kinds.values()) != times:
                continue
            items = len(column.kinds)
            pairs = len({*zip(column.cells, counter.cells, strict=True)})
            if items > 4 and pairs == len(column.cells) and pairs > (1 - MOSTLY) * items * times:
                return name, counter.name
    return None


def _one_to_one(one: Column, other: Column) -> bool:
    same = len({*one.cells}) == len({*other.cells})
    return same and len({*zip(one.cells, other.cells, strict=True)}) == len({*one.cells})


def _one_label_each(table: Table, item: str, truths: Sequence[str]) -> bool:
    """Whether no item has two labels of people: judges vote on one output."""
    rows = {*table.rows([item, *truths[:1]])}
    labelled = [row[0] for row in rows if row[-1] != ""]
    return not truths or len(labelled) == len({*labelled})


def _arm(table: Table, item: str | None, among: Sequence[str]) -> str | None:
    """The column whose few values each item has once: systems, or variants of the item."""
    for name in among if item else ():
        pairs = Counter(table.rows([str(item), name]))
        shared = len(pairs) > 1.5 * len({*table.columns[str(item)]})
        if shared and len(table[name].kinds) > 1 and max(pairs.values()) == 1:
            return name
    return None


def _changed(table: Table, arm: str, scores: Sequence[str], verdicts: Sequence[str]) -> bool:
    """Whether the values of a column are versions of an item, of which scores are compared."""
    values = {word for kind in table[arm].kinds for word in words_of(kind)}
    if scores and not verdicts:
        return bool(values & BASELINES or table[arm].words & VARIANTS)
    zero_one = len(verdicts) == 1 and {spell(c) for c in table[verdicts[0]].kinds} == {"0", "1"}
    return zero_one and bool(values & BASELINES)


def _names_among(table: Table, verdicts: Sequence[str], truths: Sequence[str]) -> list[str]:
    """Columns that say nothing that people, or else other judges, say, beside some that do."""
    said = {n: {kind_of(k) for k in table[n].kinds if not says_nothing(k)} for n in verdicts}
    people = table[truths[0]].meanings if truths else set()
    judge = [n for n in verdicts if said[n] & people]
    judge = judge or [n for n in verdicts if said[n] <= {True, False}]
    judge = judge or [n for n in verdicts if any(said[n] & said[m] for m in verdicts if m != n)]
    models = [n for n in verdicts if table[n].models]
    return [n for n in verdicts if n in models or (judge and n not in judge)]


class Jury(NamedTuple):
    """Columns of a table with one row a vote: of the judge, and of what made the output."""

    judge: str
    generator: str | None
    told: str


def jury_in(
    table: Table,
    item: str,
    system: str | None,
    among: Sequence[str],
    people: Mapping[str, list[str]],
) -> Jury | None:
    """The column of which each output has every value once, if its values are those of judges.

    They are if the column is called so, if another one with few values says what made each item,
    or if `people`'s labels, in a file of their own, are of items whatever the value. A column that
    is called a system is none of judges.
    """
    outputs = [" ".join(name) for name in table.rows([n for n in (item, system) if n])]
    no_judges = MAKERS | TOPICS | CHANGES | REPEATS
    votes = [n for n in among if n not in (item, system)
             and 2 <= len(table[n].kinds) <= MOST_JUDGES and table[n].full
             and not table[n].words & no_judges and _once_each(outputs, table[n])]  # fmt: skip
    if not votes:
        return None
    judge = min(votes, key=lambda n: not table[n].words & JURORS)
    makers = [c.name for c in table if c.name not in (item, judge) and _made(c, table[item])]
    generator = min(makers, key=lambda n: not table[n].words & MAKERS, default=None)
    of_items = bool(people) and not any({*c} & {*table[judge].kinds} for c in people.values())
    if not (table[judge].words & JURORS or generator or of_items):
        return None
    told = f"{judge} is read as the judge: each {item} has one row of each"
    if generator and generator != system:
        told += f", and {generator}, the same in all rows of one {item}, as what made the output"
    told += f"; if {judge} made the outputs: --generator {judge}"
    return Jury(judge, system or generator, told)


def _once_each(items: Sequence[str], column: Column) -> bool:
    """Whether an item has each of some values once, but for some rows lost."""
    pairs = Counter(zip(items, column.cells, strict=True))
    return len(pairs) > 1.5 * len({*items}) and max(pairs.values()) == 1


def _made(column: Column, item: Column) -> bool:
    """Whether a column may say what made an item: few words, the same in all rows of one."""
    few = 2 <= len(column.kinds) <= MOST_MAKERS and column.full
    called = not column.words & TOPICS and (column.words & MAKERS or not column.numeric)
    if not (few and called and 2 * len(column.kinds) < len(item.kinds)):
        return False
    return len({*zip(item.cells, column.cells, strict=True)}) == len(item.kinds)
