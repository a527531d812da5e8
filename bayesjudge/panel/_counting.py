"""Patterns of votes, found by the engine that holds a table: DuckDB, Spark, polars lazily.

The votes on an item are packed into one whole number, a digit a judge, by one grouping of the
rows; a second counts the items of each number. What comes back is as long as there are patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.counting import LARGEST_KEY
from bayesjudge.core.errors import checking
from bayesjudge.core.names import names_of
from bayesjudge.core.tables import (
    code_of,
    count_cells,
    no_name,
    require_distinct,
    require_named,
    total,
)
from bayesjudge.panel._reading import MISSING, ONE_GENERATOR, Labels, require_readable

if TYPE_CHECKING:
    import narwhals as nw

#: Columns of the engine's table, by no name that a user's table would have.
PREFIX = "__bayesjudge_"


def count_votes(
    table: Any,
    *,
    columns: dict[str, str | None],
    wide: tuple[str, ...] | None,
    long: tuple[str, str],
    meanings: tuple[Any, Any, Any],
    classes: tuple[Any, ...] | None,
    repeated: str,
) -> dict[str, Any]:
    """Fields of `Votes`, one row a pattern; the arguments are those of `Votes.from_frame`."""
    require_readable(columns, wide, meanings, classes, repeated)
    given = [c for c in (columns["generator"], columns["truth"]) if c]
    if wide is not None:
        if columns["item"]:
            keys = [c for c in (columns["generator"], columns["item"]) if c]
            require_distinct(table, *keys, remedy="keep one row for each item")
        cells, count = count_cells(table, *wide, *given)
        labels = _labels(cells, [*wide, columns["truth"]], meanings, classes)
        votes = np.column_stack([labels.of(name) for name in wide])
        judges, of_column = tuple(wide), np.arange(len(wide))
        truth, place = labels.of(columns["truth"], len(count)), _Generators(cells, columns)
        generator = np.array([place[cell] for cell in place.cells], np.int64)
        names = place.names
    else:
        read = _Long(table, columns, long, meanings, classes)
        votes, truth, generator, count, of_column = read.patterns(repeated == "keep")
        labels, judges, names = read.labels, read.judges, read.generators.names
    return {
        "votes": votes,
        "truth": truth,
        "generator": generator,
        "count": count,
        "generators": names,
        "judges": judges,
        "classes": labels.read.classes,
        "judge_of_column": of_column,
        "spelling": labels.read.spelling,
    }


class _Cells:
    """Labels of counted combinations, and what each distinct one means."""

    def __init__(self, cells: dict[str, list[Any]], read: Labels, distinct: dict[str, list[Any]]):
        self.cells, self.read = cells, read
        self.codes = {
            name: dict(zip(found, read.code[name].tolist(), strict=True))
            for name, found in distinct.items()
        }

    def of(self, name: str | None, n: int = 0) -> np.ndarray:
        """Index of each combination's label; of no column, none."""
        if name is None:
            return np.full(n, MISSING, np.int8)
        return np.array([self.codes[name].get(c, MISSING) for c in self.cells[name]], np.int8)


def _labels(
    cells: dict[str, list[Any]],
    names: Sequence[str | None],
    meanings: tuple[Any, Any, Any],
    classes: tuple[Any, ...] | None,
) -> _Cells:
    distinct = {
        name: [c for c in dict.fromkeys(cells[name]) if c is not None] for name in names if name
    }
    return _Cells(cells, Labels(distinct, meanings, classes), distinct)


class _Generators:
    """Names of generators, in order: an engine has no order of rows."""

    def __init__(self, cells: dict[str, list[Any]], columns: dict[str, str | None]):
        column = columns["generator"]
        self.cells = cells[column] if column else [None] * len(next(iter(cells.values())))
        found = list(dict.fromkeys(self.cells))
        named = dict(zip(found, names_of(found, column), strict=True)) if column else {}
        self.names = tuple(sorted(set(named.values()))) or (ONE_GENERATOR,)
        self._place = {cell: self.names.index(name) for cell, name in named.items()}

    def __getitem__(self, cell: Any) -> int:
        return self._place.get(cell, 0)


class _Long:
    """A table of one row a vote."""

    def __init__(
        self,
        table: Any,
        columns: dict[str, str | None],
        long: tuple[str, str],
        meanings: tuple[Any, Any, Any],
        classes: tuple[Any, ...] | None,
    ):
        import narwhals as nw

        (judge, vote), truth = long, columns["truth"]
        item, generator = str(columns["item"]), columns["generator"]
        self.keys = [*([generator] if generator else []), item]
        others = [c for c in (generator, truth) if c]
        cells, count = count_cells(table, judge, vote, *others)
        self.labels = _labels(cells, [vote, truth], meanings, classes)
        self.generators = _Generators(cells, columns)
        named = {c: _name(c, judge) for c in dict.fromkeys(cells[judge])}
        self.judges = tuple(sorted({name for name in named.values() if name}))
        self.place = {c: self.judges.index(name) for c, name in named.items() if name}
        nobody = np.array([c not in self.place for c in cells[judge]])
        with checking("panel.Votes.from_frame") as require:
            require(self.judges, f"column {judge!r} names no judge")
            lost = int(count[nobody & (self.labels.of(vote) >= 0)].sum())
            require(not lost, f"{lost} votes have no judge in column {judge!r}")
        frame = nw.from_native(table).lazy()
        self.nameless = no_name(frame, item)
        told = code_of(truth, self.labels.codes[truth]) if truth else nw.lit(None, nw.Int64)
        self.frame = frame.select(
            *self.keys,
            nw.col(judge).alias(PREFIX + "by"),
            code_of(judge, self.place).alias(PREFIX + "judge"),
            code_of(vote, self.labels.codes[vote]).alias(PREFIX + "vote"),
            nw.when(told >= 0).then(told).alias(PREFIX + "truth"),
        )

    @property
    def n_classes(self) -> int:
        return len(self.labels.read.classes)

    def patterns(
        self, keep: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Votes, truth, generator and count of each pattern, and the judge of each column."""
        import narwhals as nw

        codes = self._counters() if keep else self._packed()
        truth = nw.col(PREFIX + "truth")
        each = self.frame.group_by(self.keys).agg(
            truth.min().alias(PREFIX + "least"),
            truth.max().alias(PREFIX + "most"),
            **{name: total(values) for name, values in codes.items()},
        )
        seen = each.with_columns(self.nameless.alias(PREFIX + "nameless"))
        by = [*self.keys[:-1], *(PREFIX + n for n in ("least", "most", "nameless")), *codes]
        counted = seen.group_by(by).agg(nw.len().alias(PREFIX + "items")).collect()
        found = {name: counted[name] for name in counted.columns}
        count = found[PREFIX + "items"].to_numpy().astype(np.int64)
        nameless = found[PREFIX + "nameless"].to_numpy().astype(bool)
        require_named(int(count[nameless].sum()), self.keys[-1])
        least, most = (
            found[PREFIX + n].fill_null(MISSING).to_numpy().astype(np.int8)
            for n in ("least", "most")
        )
        if (least != most).any():
            self._refuse_two_truths(each)
        generator = np.zeros(len(count), np.int64)
        if len(self.keys) > 1:
            cells = found[self.keys[0]].to_list()
            generator = np.array([self.generators[cell] for cell in cells], np.int64)
        values = {name: found[name].fill_null(0).to_numpy().astype(np.int64) for name in codes}
        votes, of_column = (self._spread if keep else self._unpacked)(values)
        return votes, most, generator, count, of_column

    def _packed(self) -> dict[str, nw.Expr]:
        """Votes of some judges as one number, who voted as another, and how many votes."""
        import narwhals as nw

        vote = nw.col(PREFIX + "vote").fill_null(MISSING) + 1
        judge = PREFIX + "judge"
        made = {}
        for i, part in enumerate(self._parts()):
            digit = {j: (self.n_classes + 1) ** k for k, j in enumerate(part)}
            bit = {j: 2**k for k, j in enumerate(part)}
            made[f"{PREFIX}votes_{i}"] = vote * code_of(judge, digit)
            made[f"{PREFIX}who_{i}"] = code_of(judge, bit)
        voted = ~nw.col(judge).is_null()
        return made | {PREFIX + "n": voted.cast(nw.Int64)}

    def _parts(self) -> list[list[int]]:
        """Judges whose votes fit into one number."""
        most = int(np.log(LARGEST_KEY) / np.log(self.n_classes + 1)) - 1
        every = list(range(len(self.judges)))
        return [every[i : i + most] for i in range(0, len(every), most)]

    def _unpacked(self, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Digits back to votes, after a look whether a judge voted twice."""
        base, columns = self.n_classes + 1, []
        # a sum of powers of two has as many bits as terms only if all of these differ
        bits = np.zeros(len(values[PREFIX + "n"]), np.int64)
        for i, part in enumerate(self._parts()):
            bits += np.bitwise_count(values[f"{PREFIX}who_{i}"])
            packed = values[f"{PREFIX}votes_{i}"]
            columns += [packed // base**k % base - 1 for k in range(len(part))]
        if (bits != values[PREFIX + "n"]).any():
            self._refuse_two_votes()
        return np.column_stack(columns).astype(np.int8), np.arange(len(self.judges))

    def _counters(self) -> dict[str, nw.Expr]:
        """How often each judge gave each vote, and none, to an item."""
        import narwhals as nw

        judge, vote = nw.col(PREFIX + "judge"), nw.col(PREFIX + "vote").fill_null(MISSING)
        return {
            f"{PREFIX}n_{j}_{k}": ((judge == j) & (vote == k - 1)).cast(nw.Int64)
            for j in range(len(self.judges))
            for k in range(self.n_classes + 1)
        }

    def _spread(self, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Counters back to votes, as many columns a judge as it voted at most on one item."""
        columns, of_column = [], []
        for j in range(len(self.judges)):
            each = np.column_stack(
                [values[f"{PREFIX}n_{j}_{k}"] for k in range(self.n_classes + 1)]
            )
            ends = np.cumsum(each[:, ::-1], axis=1)  # the last class first, no vote last
            for turn in range(int(each.sum(axis=1).max())):
                later = (ends <= turn).sum(axis=1)
                columns.append(np.maximum(self.n_classes - 1 - later, MISSING))
                of_column.append(j)
        return np.column_stack(columns).astype(np.int8), np.array(of_column)

    def _refuse_two_votes(self) -> None:
        import narwhals as nw

        by, item = PREFIX + "by", self.keys[-1]
        judged = self.frame.filter(~nw.col(PREFIX + "judge").is_null())
        several = judged.group_by([*self.keys, by]).agg(nw.len().alias("n")).filter(nw.col("n") > 1)
        times = several.select(total(nw.col("n") - 1)).collect().to_numpy()[0, 0]
        head = several.sort([*self.keys, by]).head(3).select(item, by).collect()
        shown = [dict(zip((item, "judge"), row, strict=True)) for row in head.rows()]
        with checking("panel.Votes.from_frame") as require:
            require(
                False,
                f"a judge voted more than once on an item ({times} times), for example {shown}; "
                "keep one, or pass repeated='keep'",
            )

    def _refuse_two_truths(self, each: nw.LazyFrame) -> None:
        import narwhals as nw

        torn = each.filter(nw.col(PREFIX + "least") != nw.col(PREFIX + "most"))
        item = self.keys[-1]
        shown = torn.select(item).sort(item).head(3).collect()[item].to_list()
        with checking("panel.Votes.from_frame") as require:
            require(False, f"items {shown} have more than one truth; keep one for each")


def _name(cell: Any, column: str) -> str | None:
    """A judge's name; None if there is none."""
    if cell is None or not str(cell).strip():
        return None
    return names_of([cell], column)[0]
