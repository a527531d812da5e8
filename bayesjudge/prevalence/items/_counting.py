"""Rows counted by item, and items by their counts: in memory, or by the engine that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.counting import collapse
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
        output = item_of * len(systems) + system_of
        if repeats == "judge":
            t = _one_truth(output, t, len(items) * len(systems))
        truth_of = np.where(np.isnan(t), UNLABELLED, t).astype(np.int64)
        told = ~np.isnan(v)
        place = ((output * TRUTHS + truth_of) * VERDICTS)[told] + v[told].astype(np.int64)
        shape = (len(items), len(systems), TRUTHS, VERDICTS)
        cells = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)
        seen = cells[cells.any(axis=(1, 2, 3))]
        first, count = collapse(seen.reshape(len(seen), -1))
        return seen[first], count, tuple(map(str, systems))


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

        counts = self._by_item(unparsed, repeats)
        names = [c for c in counts.collect_schema().names() if c.startswith("n_")]
        by = [nw.col(c) for c in (*names, "torn", "nameless")]
        found = counts.group_by(*by).agg(nw.len().alias("items")).collect()
        items = found["items"].to_numpy().astype(np.int64)
        require_named(int(items[found["nameless"].to_numpy().astype(bool)].sum()), self._item)
        if repeats == "judge":
            _require_one_truth(int(items @ found["torn"].to_numpy().astype(np.int64)))
        shape = (len(items), len(self._systems), TRUTHS, VERDICTS)
        cells = np.column_stack([found[c].to_numpy().astype(np.int64) for c in names])
        seen = cells.any(axis=1)
        first, count = collapse(cells[seen], items[seen])
        return cells[seen][first].reshape(-1, *shape[1:]), count, self._systems

    def _by_item(self, unparsed: str | None, repeats: str | None) -> nw.LazyFrame:
        """One row an item: its rows by system, truth and verdict."""
        import narwhals as nw

        frame = nw.from_native(self._table).lazy()
        verdict, truth = (code_of(c, self._codes[c]) for c in self._columns)
        if unparsed == "fail":
            verdict = verdict.fill_null(0)
        system = code_of(self._by, self._system) if self._by else nw.lit(0, nw.Int64)
        nameless, item = no_name(frame, self._item), nw.col(self._item)
        rows = frame.select(
            item.alias("item"), nameless.alias("nameless"), system.alias("system"),
            truth.alias("truth"), nw.lit(0, nw.Int64).alias("torn"),
            *((verdict == v).cast(nw.Int64).fill_null(0).alias(f"v{v}") for v in range(VERDICTS)),
        )  # fmt: skip
        if repeats == "judge":
            t = nw.col("truth")
            rows = rows.group_by("item", "nameless", "system").agg(
                t.max().alias("truth"), (t.max() - t.min()).fill_null(0).alias("torn"),
                *(total(nw.col(f"v{v}")).alias(f"v{v}") for v in range(VERDICTS)),
            )  # fmt: skip
        known = nw.col("truth").fill_null(UNLABELLED)
        places = [
            (s, t, v)
            for s in range(len(self._systems))
            for t in range(TRUTHS)
            for v in range(VERDICTS)
        ]
        sums = [
            nw.when((nw.col("system") == s) & (known == t))
            .then(nw.col(f"v{v}"))
            .otherwise(nw.lit(0, nw.Int64))
            .alias(f"n_{i}")
            for i, (s, t, v) in enumerate(places)
        ]
        each = rows.select("item", "nameless", "torn", *sums)
        return each.group_by("item", "nameless").agg(
            *(total(nw.col(c)).alias(c) for c in ("torn", *(f"n_{i}" for i in range(len(places)))))
        )


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
