"""People's labels in a file of their own: more rows, or labels of the same items."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.cli.rows import Rows
from bayesjudge.core.answer import listed
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.names import name_of
from bayesjudge.core.screen import few, how_many
from bayesjudge.readers.log import COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns of a log that name nothing.
NO_NAMES = ("judge", "verdict", "swapped", "score", "truth", "failure")
#: Part of the labels' names that a column of the table must have to be the one that is meant.
MOST = 0.5
#: Names from which a column of a table may be that of items.
FEWEST = 10


@dataclass
class Labels:
    """People's labels in a file of their own: more rows, or labels of the same items."""

    source: Rows
    #: Columns of what people said, and with a `rater` of who said it.
    truths: tuple[str, ...]
    item: str | None
    by: str | None
    verdicts: tuple[str, ...]
    rater: str | None = None
    #: Columns of the table that tell an item's outputs apart, beside the system's.
    within: tuple[str, ...] = ()
    #: Options that name the columns by which the two files are joined.
    options: tuple[str, ...] = ("--item", "--by")
    note: str = ""
    #: Columns that name an output: of the table, and of the labels' file.
    keys: dict[str, str] = field(default_factory=dict)
    #: The table's column that the option --by means.
    system: str | None = None

    @property
    def truth(self) -> str:
        """The first column of what people said."""
        return self.truths[0]

    @property
    def stacked(self) -> bool:
        """Whether the rows have verdicts too, so that they are more rows."""
        return set(self.verdicts) <= set(self.source.columns())

    def added(self, to: Rows, columns: list[str], numbers: Sequence[str]) -> pa.Table:
        """The rows of a table with these labels."""
        import pyarrow as pa

        have = to.columns()
        without = [c for c in columns if c not in self.truths or c in have]
        if not self.stacked:
            keys = self.keys | self._shared(columns, have)
            without = list(dict.fromkeys([*without, *keys]))
            rows = to.own_table(without, [n for n in numbers if n in without])
            return self._joined(rows, keys).select(columns)
        rows = to.own_table(without, [n for n in numbers if n in without])
        more = self.source.own_table(columns, numbers)
        for truth in (name for name in self.truths if name not in without):
            rows = rows.append_column(truth, pa.nulls(len(rows), more[truth].type))
        rows = rows.select(columns).unify_dictionaries()
        self.note = f"added from {self.source.path}: {how_many(len(more), 'row')}"
        return pa.concat_tables([_plain(rows, numbers), _plain(more, numbers)])

    def find_keys(self, to: Rows) -> None:
        """Find which columns of both files name an output: the item, and what else is asked for."""
        if self.stacked:
            return
        mine, have = self.source.columns(), to.columns()
        with checking(str(self.source.path)) as require:
            words = f"labels of the same items are joined by name: say {self.options[0]}"
            require(self.item, words)
            for truth in self.truths:
                require(truth not in have, f"both files have a column {truth!r}; leave one out")
                require(truth in mine, f"has no column {truth!r}; it has {few(mine)}: --truth")
        names = (self.item, self.by, *to.outputs, *self.within)
        for name in dict.fromkeys(name for name in names if name):
            pair = self._pair(name, to, mine, have)
            if pair is None or pair[0] in self.keys or pair[1] in self.keys.values():
                continue
            self.keys[pair[0]] = pair[1]
            if name == self.by:
                self.system = pair[0]
        alone = [c for c in (self.by,) if c in have and c not in self.keys]
        several = [*(to.outputs or alone), *self.within]
        if several:
            self._tell_outputs_apart(to, several)

    def item_and_system(self, to: Rows) -> tuple[str | None, str | None]:
        """The table's columns of the item and of the system that options of this file name.

        An item of a log may have several numbers, such as one of each repeat: it is the item still.
        """
        if not self.keys:
            return self.item, self.by
        item = next(iter(self.keys))
        if to.log is not None and item != "item":
            names = to.table_of_names([item, "item"])
            within = len({*zip(*names.values(), strict=True)}) == len({*names[item]})
            item = "item" if within else item
        return item, self.system or self.by

    def _shared(self, columns: list[str], have: list[str]) -> dict[str, str]:
        """Columns that are asked for, and are in both files."""
        mine = self.source.columns()
        taken = {*self.truths, *self.verdicts, *self.keys, *self.keys.values()}
        return {c: c for c in columns if c in mine and c in have and c not in taken}

    def _pair(
        self, name: str, to: Rows, cols: list[str], have: list[str]
    ) -> tuple[str, str] | None:
        """The table's column of a name, and the labels' column: by name, or by what they hold."""
        is_item, log = name == self.item, to.log is not None
        # a sheet of `bayesjudge label` names what was drawn in a column of its own
        here = name if name in cols else "item" if is_item and "item" in cols else ""
        if here:
            wanted = self._labelled([here])[here]
            if name in have and (not log or _share(wanted, to.table_of_names([name])[name])):
                return name, here
            near = best(wanted, to.table_of_names(naming(to, have)))
            if near or name in have:
                return (near[0] if near else name), here
        elif name in have and log:
            there = to.table_of_names([name])[name]
            free = [c for c in cols if c not in (*self.truths, *self.keys.values())]
            fits = [c for c, cells in self._labelled(free).items() if _share(cells, there) >= MOST]
            if len(fits) == 1:
                return name, fits[0]
        if not (is_item or (name == self.by and here)):
            return None
        holds = f"has no column {name!r}; it has {few(cols)}"
        if here:
            example = next(filter(None, wanted), "")
            shown = f", such as {example!r}" if example else ""
            holds = f"no column of {to.path} holds what its column {here!r} does{shown}"
            alike = best({*map(as_number, wanted)}, to.table_of_names(naming(to, have)))
            if alike and wanted:
                holds += f" (in {alike[0]!r} they are as {as_number(example)!r}: write both alike)"
        words = f"{listed(self.options)} say which of its columns name the item and the system"
        expect(str(self.source.path), False, f"{holds}: {words}{self._proposed(to)}")
        return None

    def _labelled(self, columns: list[str]) -> dict[str, list[str]]:
        """Names of what has a label."""
        cells = self.source.table_of_names([*columns, *self.truths])
        labelled = [any(labels) for labels in zip(*(cells[c] for c in self.truths), strict=True)]
        return {
            c: [x for x, there in zip(cells[c], labelled, strict=True) if there] for c in columns
        }

    def _tell_outputs_apart(self, to: Rows, several: list[str]) -> None:
        """Refuse labels whose names do not tell an item's outputs, in `several` columns, apart."""
        outputs = ["item" if to.log is not None else next(iter(self.keys)), *several]
        cells = to.table_of_names([*self.keys, *outputs])
        rows = zip(_tuples(cells, self.keys), _tuples(cells, outputs), strict=True)
        of: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for name, output in rows:
            of.setdefault(name, set()).add(output)
        labels = self._labelled(list(self.keys.values()))
        torn = [name for name in _tuples(labels, self.keys.values()) if len(of.get(name, ())) > 1]
        absent = [c for c in several if c not in self.keys] or several
        with checking(str(self.source.path)) as require:
            if not torn:
                return
            shown = few([" · ".join(part[1:]) for part in sorted(of[torn[0]])], 3)
            named, options = " · ".join(torn[0]), listed(self.options)
            more = self._proposed(to) if to.outputs else ""
            how = {"named": named, "n": len(of[torn[0]]), "shown": shown, "options": options}
            require(False, "labels-of-outputs", absent=few(absent), **how, more=more)

    def _proposed(self, to: Rows) -> str:
        """Options that would join the files, of a command that has --item."""
        return proposed_keys(to, self.source, self.truth) if "--item" in self.options else ""

    def _joined(self, rows: pa.Table, keys: Mapping[str, str]) -> pa.Table:
        import pyarrow as pa

        table = self.source.own_table([*keys.values(), *self.truths])
        of_rows = _names(rows, list(keys))
        there = set(of_rows)
        labels_of: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        torn = set()
        names = _names(table, list(keys.values()))
        for name, labels in zip(names, _names(table, self.truths), strict=True):
            if not all(name) or not any(labels):
                continue
            if name not in there:  # an apostrophe keeps a spreadsheet from running a name
                name = tuple(part.removeprefix("'") for part in name)
            person = labels[self.truths.index(self.rater)] if self.rater else ""
            if labels_of.setdefault(name, {}).setdefault(person, labels) != labels:
                torn.add(name)
        with checking(str(self.source.path)) as require:
            shown = few(sorted(" · ".join(name) for name in torn), 3)
            require(not torn, "labelled-twice", n=len(torn), shown=shown)
            none = not there & set(labels_of)
            named = few([" · ".join(name) for name in labels_of], 3)
            first = " · ".join(of_rows[0]) if of_rows else "nothing"
            columns = few([k if k == c else f"{c} for {k}" for k, c in keys.items()])
            where = {"columns": columns, "named": named, "first": first}
            require(not none, "labels-of-others", n=len(labels_of), **where)
        known = len(there & set(labels_of))
        self.note = f"labels of {known} items from {self.source.path}"
        if known < len(labels_of):
            self.note += f"; {len(labels_of) - known} labelled items are not in the table"
        nobody = {"": ("",) * len(self.truths)}
        every = [list(labels_of.get(name, nobody).values()) for name in of_rows]
        rows = rows.take(np.repeat(np.arange(len(of_rows)), [len(each) for each in every]))
        for truth, cells in zip(
            self.truths, zip(*itertools.chain(*every), strict=True), strict=True
        ):
            labels = pa.array([cell or None for cell in cells], pa.string())
            rows = rows.append_column(truth, labels.dictionary_encode())
        return rows


def as_number(name: str) -> str:
    """A name without what a table of numbers adds or leaves out: ``3.0`` and ``003`` are ``3``."""
    return re.sub(r"^0+(?=\d)|\.0$", "", name)


def naming(source: Rows, columns: Sequence[str]) -> list[str]:
    """Columns by which rows may be named, the log's own first."""
    return [c for c in columns if source.log is None or c not in NO_NAMES]


def best(wanted: Collection[str], columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns that hold most of some names, at least half of them; a log's own come first."""
    shares = {c: _share(wanted, cells) for c, cells in columns.items()}
    most = max(shares.values(), default=0.0)
    best_columns = [c for c, share in shares.items() if share == most and share >= MOST]
    return sorted(best_columns, key=lambda c: c not in COLUMNS)


def keys_of(to: Rows, labels: Rows, truth: str, system: str = "") -> tuple[str, str] | None:
    """The labels' columns that name the item and the system (or nothing), by what they hold.

    The item is a column that the table has by the same name, if one matches, then that of the most
    names; `system` is the table's column of systems, if they are to be told apart.
    """
    table = labels.table_of_names([c for c in labels.readable() if c != truth])
    there = to.table_of_names(naming(to, to.readable()))
    matched = {c: near[0] for c, cells in table.items() if (near := best(cells, there))}
    sizes = {c: len({*there[matched[c]]}) for c in matched}
    fewest = len({*there["item"]}) / 2 if to.log is not None else FEWEST
    named = [c for c in matched if sizes[c] >= fewest]
    items = sorted(
        named, key=lambda c: (c != matched[c], -len({*table[c]}), -sizes[c], c != "item")
    )
    if not items:
        return None
    by = ""
    for c in matched if system else ():
        if c == items[0] or sizes[c] < 2:
            continue
        pairs = {*zip(there[matched[c]], there[system], strict=True)}
        by = by or (c if len(pairs) == len({*there[system]}) else "")  # of each system one name
    return items[0], by


def proposed_keys(to: Rows, labels: Rows, truth: str) -> str:
    """Options that would join two files, if what their columns hold tells."""
    keys = keys_of(to, labels, truth, "system" if "system" in to.outputs else "")
    if keys is None or ("system" in to.outputs and not keys[1]):
        return ""
    item, system = keys
    return f"; for example --item {item}" + (f" --by {system}" if system else "")


def _share(wanted: Collection[str], cells: Collection[str]) -> float:
    """Part of some names that cells hold."""
    there, names = {*cells}, {*wanted} - {""}
    known = sum(name in there or name.removeprefix("'") in there for name in names)
    return known / max(len(names), 1)


def _tuples(cells: Mapping[str, Sequence[str]], columns: Collection[str]) -> list[tuple[str, ...]]:
    return list(zip(*(cells[c] for c in columns), strict=True))


def _names(table: pa.Table, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Each row's name; an empty cell is an empty part of it."""
    cells = (
        ["" if c is None or c != c else name_of(c).strip() for c in table[n].to_pylist()]
        for n in columns
    )
    return list(zip(*cells, strict=True))


def _plain(table: pa.Table, numbers: Sequence[str]) -> pa.Table:
    """Columns as text but for numbers, so that tables of several files are one."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in table.column_names:
        cells = table[name]
        if hasattr(cells.type, "value_type"):
            cells = cells.cast(cells.type.value_type)
        texts = [None if c is None or c != c else name_of(c) for c in cells.to_pylist()]
        columns[name] = cells if name in numbers else pa.array(texts, pa.string())
    return pa.table(columns)
