"""Rows counted by item, and items by their counts: in memory, or by the engine that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.core.errors import checking
from bayesjudge.core.labels import read_labels
from bayesjudge.core.names import names_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import (
    code_of,
    count_cells,
    no_name,
    read_rows,
    require_named,
    total,
)

if TYPE_CHECKING:
    import narwhals as nw

#: Axes of `Items.cells`: a row's truth and its verdict.
BAD, GOOD, UNLABELLED = range(3)
#: What a row counts for: cells of an item, its system, truth and verdict.
TRUTHS, VERDICTS = 3, 2

Counted = tuple[np.ndarray, np.ndarray, tuple[str, ...]]


class Packing:
    """The rows of an item as a few whole numbers: so many bits for each cell's count.

    Sums over an item's rows tell its cells without a counter a cell, of which there are many: six
    a system.
    """

    def __init__(self, systems: int, most_rows: int):
        self.shape = (systems, TRUTHS, VERDICTS)
        self.bits = max(int(most_rows).bit_length(), 1)
        self.per_part = max(62 // self.bits, 1)
        self.cells = int(np.prod(self.shape))
        self.parts = -(-self.cells // self.per_part)

    def patterns(
        self, parts: np.ndarray, count: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distinct cells, of shape (patterns, systems, 3, 2), and the items of each.

        Of numbers of shape (items, parts), or of patterns with the items of each.
        """
        seen = parts.any(axis=1)
        first, count = collapse(parts[seen], None if count is None else count[seen])
        part, place = np.divmod(np.arange(self.cells), self.per_part)
        cells = (parts[seen][first][:, part] >> (self.bits * place)) & (2**self.bits - 1)
        order, _ = distinct(cells)
        return cells[order].reshape(-1, *self.shape), count[order]


class RowsInMemory:
    """Rows of a table that pandas, polars or Arrow hold."""

    def __init__(
        self,
        table: Any,
        columns: tuple[str, str],
        item: str,
        by: str | None,
        meanings: tuple[Any, Any, Any],
    ):
        import pandas as pd

        self._item, self._by = item, by
        self._rows = read_rows(table, *columns, names=[item, *([by] if by else [])])
        coded = {column: pd.factorize(self._rows[column].astype(object)) for column in columns}
        read, self.spelling = _read({c: list(found) for c, (_, found) in coded.items()}, meanings)
        self._verdict, self._truth = (
            np.append(read[column], np.nan)[coded[column][0]] for column in columns
        )
        self.n_missing = int(np.isnan(self._verdict).sum())

    def cells(self, unparsed: str | None, repeats: str | None) -> Counted:
        """Patterns of an item's rows, items of each, and the systems' names."""
        import pandas as pd

        rows, v, t = self._rows, self._verdict, self._truth
        if unparsed == "fail":
            v = np.where(np.isnan(v), 0.0, v)
        item_of, items = pd.factorize(rows[self._item])
        system_of, systems = (
            (np.zeros(len(rows), int), ["system"])
            if self._by is None
            else pd.factorize(rows[self._by], sort=True)
        )
        if repeats == "judge":
            output, outputs = pd.factorize(item_of * len(systems) + system_of)
            t = _one_truth(output, t, len(outputs))
        told = ~np.isnan(v)
        truth_of = np.where(np.isnan(t), UNLABELLED, t).astype(np.int64)
        cell = ((system_of * TRUTHS + truth_of) * VERDICTS)[told] + v[told].astype(np.int64)
        item_of = item_of[told]
        packing = Packing(len(systems), int(np.bincount(item_of).max(initial=1)))
        part, place = np.divmod(cell, packing.per_part)
        parts = np.zeros((len(items), packing.parts), np.int64)
        np.add.at(parts, (item_of, part), np.int64(1) << (packing.bits * place))
        return *packing.patterns(parts), tuple(map(str, systems))


class RowsInPlace:
    """Rows that an engine holds (DuckDB, Spark, polars lazily): what comes back is patterns."""

    def __init__(
        self,
        table: Any,
        columns: tuple[str, str],
        item: str,
        by: str | None,
        meanings: tuple[Any, Any, Any],
    ):
        self._table, self._columns, self._item, self._by = table, columns, item, by
        cells, n_rows = count_cells(table, *columns, *([by] if by else []))
        distinct = {c: [x for x in dict.fromkeys(cells[c]) if x is not None] for c in columns}
        read, self.spelling = _read(distinct, meanings)
        self._codes = {
            c: {x: int(k) for x, k in zip(distinct[c], read[c], strict=True) if not np.isnan(k)}
            for c in columns
        }
        known = [x in self._codes[columns[0]] for x in cells[columns[0]]]
        self.n_missing = int(n_rows[~np.array(known)].sum())
        found = list(dict.fromkeys(cells[by])) if by else []
        named = dict(zip(found, names_of(found, by), strict=True)) if by else {}
        self._systems = tuple(sorted(set(named.values()))) or ("system",)
        self._system = {x: self._systems.index(name) for x, name in named.items()}

    def cells(self, unparsed: str | None, repeats: str | None) -> Counted:
        """Patterns of an item's rows, items of each, and the systems' names."""
        import narwhals as nw

        rows = self._rows(unparsed, repeats)
        n = [nw.col(f"n_{v}") for v in range(VERDICTS)]
        sizes = rows.group_by("item").agg(total(sum(n[1:], n[0])).alias("rows"))
        most = sizes.select(nw.col("rows").max()).collect()["rows"][0]
        packing = Packing(len(self._systems), most or 1)
        names = [f"part_{p}" for p in range(packing.parts)]
        parts = [self._part(packing, p).alias(name) for p, name in enumerate(names)]
        by_item = (
            rows.select("item", "nameless", "torn", *parts)
            .group_by("item", "nameless")
            .agg(*(total(nw.col(c)).alias(c) for c in ("torn", *names)))
        )
        counted = by_item.group_by("nameless", "torn", *names).agg(nw.len().alias("items"))
        found = counted.collect()
        count = found["items"].to_numpy().astype(np.int64)
        require_named(int(count[found["nameless"].to_numpy().astype(bool)].sum()), self._item)
        if repeats == "judge":
            _require_one_truth(int(count @ found["torn"].to_numpy().astype(np.int64)))
        numbers = np.column_stack([found[c].to_numpy().astype(np.int64) for c in names])
        return *packing.patterns(numbers, count), self._systems

    def _part(self, packing: Packing, part: int) -> nw.Expr:
        """What a row adds to a part of its item's numbers: a power of two for each verdict."""
        import narwhals as nw

        added = nw.lit(0, nw.Int64)
        for v in range(VERDICTS):
            place = nw.col("cell") + v - part * packing.per_part
            weight = (nw.lit(2.0) ** (packing.bits * place).cast(nw.Float64)).cast(nw.Int64)
            here = (place >= 0) & (place < packing.per_part)
            added = added + nw.when(here).then(weight * nw.col(f"n_{v}")).otherwise(0)
        return added

    def _rows(self, unparsed: str | None, repeats: str | None) -> nw.LazyFrame:
        """One row a verdict, or an output of several: its first cell, and its fails and passes."""
        import narwhals as nw

        frame = nw.from_native(self._table).lazy()
        verdict, truth = (code_of(c, self._codes[c]) for c in self._columns)
        if unparsed == "fail":
            verdict = verdict.fill_null(0)
        system = code_of(self._by, self._system) if self._by else nw.lit(0, nw.Int64)
        n = {f"n_{v}": (verdict == v).cast(nw.Int64).fill_null(0) for v in range(VERDICTS)}
        rows = frame.select(
            nw.col(self._item).alias("item"),
            no_name(frame, self._item).alias("nameless"),
            system.alias("system"),
            truth.alias("truth"),
            nw.lit(0, nw.Int64).alias("torn"),
            *(one.alias(name) for name, one in n.items()),
        )
        if repeats == "judge":
            t = nw.col("truth")
            rows = rows.group_by("item", "nameless", "system").agg(
                t.max().alias("truth"),
                (t.max() - t.min()).fill_null(0).alias("torn"),
                *(total(nw.col(name)).alias(name) for name in n),
            )
        known = nw.col("truth").fill_null(UNLABELLED)
        cell = (nw.col("system") * TRUTHS + known) * VERDICTS
        return rows.select("item", "nameless", "torn", cell.alias("cell"), *n)


def _read(
    cells: dict[str, list[Any]], meanings: tuple[Any, Any, Any]
) -> tuple[dict[str, np.ndarray], str]:
    """Distinct labels of verdict and truth as 1, 0 and nan, and how they were read."""
    passes, fails, missing = meanings
    return read_labels(cells, pass_value=passes, fail_value=fails, missing_value=missing)


def _one_truth(output: np.ndarray, t: np.ndarray, n: int) -> np.ndarray:
    """Give each verdict on an output the label that one of them has."""
    known = ~np.isnan(t)
    labels, good = (np.bincount(output[known], w, n) for w in (None, t[known]))
    _require_one_truth(int(((good > 0) & (good < labels)).sum()))
    share = np.divide(good, labels, out=np.full(n, np.nan), where=labels > 0)
    return share[output]


def _require_one_truth(torn: int) -> None:
    with checking("prevalence.items") as require:
        require(
            torn == 0,
            f"{how_many(torn, 'output', 'have')} rows labelled good and rows labelled bad; "
            "repeats='judge' means one truth for all verdicts on an output, repeats='system' a "
            "truth for each row",
        )
