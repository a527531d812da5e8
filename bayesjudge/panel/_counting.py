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
        # a user's columns may be called anything: none keeps its name
        self.item, self.keys = item, [*(["generator"] if generator else []), "item"]
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
        told = {c: k for c, k in self.labels.codes[truth].items() if k >= 0} if truth else {}
        self.frame = frame.select(
            *([nw.col(generator).alias("generator")] if generator else []),
            nw.col(item).alias("item"),
            nw.col(judge).alias("by"),
            code_of(judge, self.place).alias("judge"),
            code_of(vote, self.labels.codes[vote]).alias("vote"),
            code_of(truth or judge, told).cast(nw.Int8).alias("truth"),
            *self._packing(judge, vote),
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
        truth = nw.col("truth")
        each = self.frame.group_by(self.keys).agg(
            truth.min().alias("least"),
            truth.max().alias("most"),
            **codes,
        )
        bounded = [] if keep else self._within_bounds()
        seen = each.with_columns(no_name(each, "item").alias("nameless"), *bounded)
        by = [*self.keys[:-1], "least", "most", "nameless", *codes]
        counted = seen.group_by(by).agg(nw.len().alias("items")).collect()
        found = {name: counted[name] for name in counted.columns}
        count = found["items"].to_numpy().astype(np.int64)
        nameless = found["nameless"].to_numpy().astype(bool)
        require_named(int(count[nameless].sum()), self.item)
        least, most = (
            found[n].fill_null(MISSING).to_numpy().astype(np.int8) for n in ("least", "most")
        )
        if (least != most).any():
            self._refuse_two_truths(each)
        generator = np.zeros(len(count), np.int64)
        if len(self.keys) > 1:
            cells = found["generator"].to_list()
            generator = np.array([self.generators[cell] for cell in cells], np.int64)
        values = {name: found[name].fill_null(0).to_numpy().astype(np.int64) for name in codes}
        votes, of_column = (self._spread if keep else self._unpacked)(values)
        return votes, most, generator, count, of_column

    def _packing(self, judge: str, vote: str) -> list[nw.Expr]:
        """Each row's term of its item's numbers: low a bit for who voted, above a digit for how.

        A term is chosen by vote and then by judge among constants, since comparing names is what
        takes time.
        """
        import narwhals as nw

        base, terms = self.n_classes + 1, []
        spelt: dict[int, list[Any]] = {}
        for cell, code in self.labels.codes[vote].items():
            spelt.setdefault(code + 1, []).append(cell)
        for i, part in enumerate(self._parts()):
            place = {c: j - part[0] for c, j in self.place.items() if j in part}
            above = 2 ** len(part)
            term = [
                code_of(judge, {c: 2**k + digit * above * base**k for c, k in place.items()})
                for digit in range(base)
            ]
            found = term[0]
            for digit, cells in spelt.items():
                found = nw.when(nw.col(vote).is_in(cells)).then(term[digit]).otherwise(found)
            terms.append(found.alias(f"part_{i}"))
        return terms

    def _packed(self) -> dict[str, nw.Expr]:
        """Votes of some judges and who voted as one number, and how many votes."""
        import narwhals as nw

        parts = [nw.col(f"part_{i}") for i in range(len(self._parts()))]
        return {f"part_{i}": part.sum() for i, part in enumerate(parts)} | {
            f"n_{i}": part.count() for i, part in enumerate(parts)
        }

    def _within_bounds(self) -> list[nw.Expr]:
        """Sums of no more votes than judges, which fit into 64 bits; others as 0, for nobody."""
        import narwhals as nw

        return [
            nw.when(nw.col(f"n_{i}") <= len(part))
            .then(nw.col(f"part_{i}"))
            .otherwise(0)
            .cast(nw.Int64)
            .alias(f"part_{i}")
            for i, part in enumerate(self._parts())
        ]

    def _parts(self) -> list[list[int]]:
        """Judges whose votes fit into one number, also if one of them gave all the votes."""
        most = 1
        while (most + 1) * (2 * (self.n_classes + 1)) ** (most + 1) < LARGEST_KEY:
            most += 1
        every = list(range(len(self.judges)))
        return [every[i : i + most] for i in range(0, len(every), most)]

    def _unpacked(self, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Digits back to votes, after a look whether a judge voted twice."""
        base, columns = self.n_classes + 1, []
        for i, part in enumerate(self._parts()):
            packed, who = np.divmod(values[f"part_{i}"], 2 ** len(part))
            # a sum of powers of two has as many bits as terms only if all of these differ
            if (np.bitwise_count(who) != values[f"n_{i}"]).any():
                self._refuse_two_votes()
            columns += [packed // base**k % base - 1 for k in range(len(part))]
        return np.column_stack(columns).astype(np.int8), np.arange(len(self.judges))

    def _counters(self) -> dict[str, nw.Expr]:
        """How often each judge gave each vote, and none, to an item."""
        import narwhals as nw

        judge, vote = nw.col("judge"), nw.col("vote").fill_null(MISSING)
        return {
            f"n_{j}_{k}": total(((judge == j) & (vote == k - 1)).cast(nw.Int64))
            for j in range(len(self.judges))
            for k in range(self.n_classes + 1)
        }

    def _spread(self, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Counters back to votes, as many columns a judge as it voted at most on one item."""
        columns, of_column = [], []
        for j in range(len(self.judges)):
            each = np.column_stack([values[f"n_{j}_{k}"] for k in range(self.n_classes + 1)])
            ends = np.cumsum(each[:, ::-1], axis=1)  # the last class first, no vote last
            for turn in range(int(each.sum(axis=1).max())):
                later = (ends <= turn).sum(axis=1)
                columns.append(np.maximum(self.n_classes - 1 - later, MISSING))
                of_column.append(j)
        return np.column_stack(columns).astype(np.int8), np.array(of_column)

    def _refuse_two_votes(self) -> None:
        import narwhals as nw

        judged = self.frame.filter(~nw.col("judge").is_null())
        keys = [*self.keys, "by"]
        several = judged.group_by(keys).agg(nw.len().alias("n")).filter(nw.col("n") > 1)
        times = several.select(total(nw.col("n") - 1)).collect().to_numpy()[0, 0]
        head = several.sort(keys).head(3).select("item", "by").collect()
        shown = [dict(zip((self.item, "judge"), row, strict=True)) for row in head.rows()]
        with checking("panel.Votes.from_frame") as require:
            require(
                False,
                f"a judge voted more than once on an item ({times} times), for example {shown}; "
                "keep one, or pass repeated='keep'",
            )

    def _refuse_two_truths(self, each: nw.LazyFrame) -> None:
        import narwhals as nw

        torn = each.filter(nw.col("least") != nw.col("most"))
        shown = torn.select("item").sort("item").head(3).collect()["item"].to_list()
        with checking("panel.Votes.from_frame") as require:
            require(False, f"items {shown} have more than one truth; keep one for each")


def _name(cell: Any, column: str) -> str | None:
    """A judge's name; None if there is none."""
    if cell is None or not str(cell).strip():
        return None
    return names_of([cell], column)[0]
