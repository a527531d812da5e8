"""A table as doctor sees it: of each column what its cells are, and which columns are for what."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

from bayesjudge.cli.shapes.coding import MOST_LABELS, kind_of, usual_scale
from bayesjudge.cli.shapes.words import (
    is_called,
    is_id,
    is_model,
    says_judge,
    says_person,
    vocabulary,
    words_of,
)
from bayesjudge.core.grades import grade_of, most_of
from bayesjudge.core.labels import folded, says_nothing, spell, unread

#: The longest label.
LONGEST = 40
#: Part of a column that is empty from which it seems to hold labels of a sample.
MOSTLY = 0.2
#: Probability below which two columns go together by more than chance.
BY_CHANCE = 1e-3
#: Groups from which a column's values are such as conversations, and no systems or strata.
FEWEST_GROUPS = 10
#: Most values of a column of what made the outputs.
MOST_MAKERS = 50
ROW_NAME = re.compile(r"[^\d.]{0,12}\d+")
DATES = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}$")


@dataclass(frozen=True)
class Column:
    """A column's cells, as text, and what kind of thing they are."""

    name: str
    cells: Sequence[str]
    #: Out of which number the cells were grades.
    most: float | None = None

    @cached_property
    def kinds(self) -> Counter[str]:
        """How often each value occurs, in the order of the table; empty cells left out."""
        kinds = Counter(self.cells)
        kinds.pop("", None)
        return kinds

    @cached_property
    def words(self) -> set[str]:
        """Words of the name."""
        return {*words_of(self.name)}

    def called(self, *kinds: str) -> bool:
        """Whether a word of the name is of some kinds."""
        return not self.words.isdisjoint(vocabulary(*kinds))

    @cached_property
    def said(self) -> set[str]:
        """What cells say, however they are spelled; nothing of those that say nothing."""
        return {folded(cell) for cell in self.kinds if not says_nothing(cell)}

    @cached_property
    def meanings(self) -> set[str | bool]:
        """What cells say, words of pass and fail alike."""
        return {kind_of(cell) for cell in self.kinds}

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

    @property
    def within_scale(self) -> list[float]:
        """Numbers that its scale holds: what cells say, and out of how much."""
        return [*map(float, self.kinds), *([] if self.most is None else [self.most])]

    @cached_property
    def scale(self) -> str:
        """The shortest usual scale that holds all numbers, as options have it."""
        return usual_scale(self.within_scale)

    def within(self, other: Column) -> bool:
        """Whether numbers may be on the scale of another column, and use half of it or more."""
        mine, theirs = ([*map(float, c.scale.rsplit(":", 1))] for c in (self, other))
        inside = theirs[0] <= mine[0] and mine[1] <= theirs[1]
        return inside and 2 * (mine[1] - mine[0]) >= theirs[1] - theirs[0]

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
        if self.called("no_scores") or is_id(self.name):
            return True
        whole = all(float(c).is_integer() for c in self.kinds)
        return whole and len(self.kinds) > MOST_LABELS and max(self.kinds.values()) == 1

    @cached_property
    def counts_to(self) -> int:
        """How many whole numbers a column counts, each about as often; 0 if it is no counter."""
        other = ("other_counts", "scores", "variants", "systems", "judges", "people")
        if self.called(*other) or says_person(self.name) or says_judge(self.name):
            return 0
        begin = re.match(r"\D*", next(iter(self.kinds), ""))
        called = begin[0] if begin else ""
        said = self.words | {*words_of(called)}
        pattern = re.compile(rf"{re.escape(called)}\d{{1,3}}(\.0)?")
        repeats = bool(said & vocabulary("repeats"))
        if (called and not repeats) or not all(map(pattern.fullmatch, self.kinds)):
            return 0
        numbers = sorted(map(number_in, self.kinds))
        in_turn = bool(numbers) and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
        if not in_turn:
            return 0
        first = numbers[0]
        enough = len(numbers) >= 2 and first <= 1 if repeats else len(numbers) >= 3 and first == 1
        even = min(self.kinds.values()) > (1 - 2 * MOSTLY) * max(self.kinds.values())
        return len(numbers) if enough and even else 0


class Guess(NamedTuple):
    """What columns are taken for without being called so."""

    columns: tuple[str, ...]
    text: str


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
    #: Whether somebody named the columns of people's labels, of several people a column each.
    named: bool = False
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
    guessed: Sequence[Guess] = ()
    #: What two readings are left open.
    asked: Sequence[Asked] = ()
    #: The file, and the options by which lines read these columns there.
    path: str = ""
    about: Mapping[str, list[str]] = field(default_factory=dict)
    #: Whether the file is a log, whose columns commands know.
    log: bool = False
    #: The metric of a log, for sentences.
    where: str = ""
    #: How people's labels in another file are joined, by what a command calls a system.
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Out of which number grades are, by column: the number alone stands in the cells.
    most: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns, most = dict(self.columns), dict(self.most)
        for name, cells in columns.items():
            if (of := _most_in(cells)) is not None:
                grades, most[name] = map(grade_of, cells), of
                columns[name] = [f"{grade.value:g}" if grade else "" for grade in grades]
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "most", most)

    def __getitem__(self, name: str) -> Column:
        """A column."""
        described = self.__dict__.setdefault("_described", {})
        if name not in described:
            described[name] = Column(name, self.columns[name], self.most.get(name))
        return described[name]

    def __iter__(self) -> Iterator[Column]:
        """All columns."""
        return map(self.__getitem__, self.columns)

    def but(self, **changes: Any) -> Table:
        """The same table with other columns for something."""
        other = replace(self, **changes)
        if not {"columns", "most"} & {*changes}:
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
        """Names of the judges, of a table with one row per verdict."""
        return [] if self.judge is None else [*self[self.judge].kinds]

    @property
    def baseline(self) -> str | None:
        """The value of the variant in which nothing was changed: by its name, or the first."""
        kinds = [*self[self.variant].kinds] if self.variant else []
        called = [kind for kind in kinds if is_called(kind, "baselines")]
        return next(iter([*called, *kinds]), None)

    @property
    def row_name(self) -> str | None:
        """The column of the item, or the first one that names each row by a number of its own."""
        distinct = (c for c in self if c.full and len(c.kinds) == len(c.cells) > 4)
        named = (c for c in distinct if all(map(ROW_NAME.fullmatch, c.kinds)))
        return self.item or next((c.name for c in named if not c.called("no_scores")), None)

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
        others = (c for c in self if c.called("other_counts"))
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

    def labels_differ(self, truth: str) -> bool:
        """Whether rows of an item are labelled otherwise too often to be slips of who labelled."""
        labels: dict[str, list[str]] = {}
        for item, label in self.rows([str(self.item), truth]):
            labels.setdefault(item, []).extend([label] if label else [])
        several = [{*of_item} for of_item in labels.values() if len(of_item) > 1]
        apart = sum(len(kinds) > 1 for kinds in several)
        return apart > 4 and apart > MOSTLY * len(several)

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
        several = [item for item in of_item.values() if item[2] > 1 and item[0] != {""}]
        alike = sum(len(labels) == 1 for labels, *_ in several)
        differ = sum(len(verdicts) > 1 for _, verdicts, _ in several)
        return alike == len(several) > 4 and differ > 4

    def having(self, name: str) -> Table:
        """The rows in which a column is filled."""
        there = [cell != "" for cell in self.columns[name]]
        return self.but(columns={n: [*compress(c, there)] for n, c in self.columns.items()})

    def labels_end_items(self, truth: str) -> bool:
        """Whether labels stand in the last row of items, and in no other row, past chance."""
        rows = self.rows([str(self.item), truth])
        last = {item: i for i, (item, _) in enumerate(rows)}
        labelled = [i for i, (_, label) in enumerate(rows) if label]
        ends = set(last.values())
        share = len(ends) / len(rows)
        return {*labelled} <= ends and share ** len(labelled) < BY_CHANCE


def _all_alike(share: float, sizes: Mapping[str, int]) -> float:
    """Probability that rows labelled one by one leave every group whole or without a label."""
    each = (share**n + (1 - share) ** n for n in sizes.values())
    return math.exp(sum(map(math.log, each)))


def _most_in(cells: Sequence[str]) -> float | None:
    """Out of which number cells are grades, of a column of several; None of other cells."""
    first = next(filter(None, cells), "")
    if grade_of(first) is None:
        return None
    kinds = {*cells} - {""}
    return most_of(kinds) if len(kinds) > 1 else None


def is_number(cell: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        return float(cell) == float(cell)
    except (TypeError, ValueError):
        return False


def number_in(cell: str) -> int:
    """The number at the end of a cell: of ``3``, ``3.0`` and ``run3``."""
    return int(re.sub(r"^\D*|\.0$", "", cell))
