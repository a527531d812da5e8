"""Rows counted by item, and items by their counts: in memory, or by the engine that holds them.

The rows of an item are packed into a few whole numbers, so many bits for each kind of row, by one
grouping; a second counts the items of each number. What an engine hands over is as long as there
are patterns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.core.names import names_of
from bayesjudge.core.tables import (
    code_rows,
    count_cells,
    group_rows,
    no_name,
    require_named,
    total,
)
from bayesjudge.verdicts.labels import MISSING, Labels

if TYPE_CHECKING:
    import narwhals as nw


class Combinations:
    """Distinct combinations of the cells of some columns, and how many rows have each."""

    def __init__(self, table: Any, *columns: str, names: Collection[str] = ()):
        self.cells, self.count = count_cells(table, *columns, names=names)

    def counts_of(self, column: str) -> dict[Any, int]:
        """How often each label of a column occurs."""
        seen: dict[Any, int] = {}
        for cell, n in zip(self.cells[column], self.count.tolist(), strict=True):
            if cell is not None:
                seen[cell] = seen.get(cell, 0) + n
        return seen

    def places(self, labels: Labels, column: str | None) -> np.ndarray:
        """What each label of a column means, -1 where there is none."""
        if column is None:
            return np.full(len(self.count), MISSING)
        return labels.of(column, self.cells[column])

    def rows(self, column: str) -> Sequence[Any]:
        """The cells of a column."""
        return self.cells[column]

    def named(self, column: str, optional: bool = False) -> tuple[tuple[str, ...], dict[Any, int]]:
        """The names in a column, in order, and each cell's place; some blank, if optional."""
        cells = list(dict.fromkeys(self.cells[column]))
        if optional:
            cells = [cell for cell in cells if cell is not None and str(cell).strip()]
        name_of = dict(zip(cells, names_of(cells, column), strict=True))
        names = sorted(set(name_of.values()))
        place = {name: i for i, name in enumerate(names)}
        return tuple(names), {cell: place[name] for cell, name in name_of.items()}

    def groups(self, column: str) -> tuple[tuple[str, ...], np.ndarray]:
        """The names in a column, and the place of each row's."""
        names, place = self.named(column)
        return names, np.array([place[cell] for cell in self.cells[column]], np.int64)


class Rows:
    """Rows of a table in memory, or of one that is read into it; those alike once, if `grouped`."""

    def __init__(
        self,
        table: Any,
        *columns: str,
        names: Collection[str] = (),
        optional: Collection[str] = (),
        in_order: bool = False,
        grouped: bool = False,
    ):
        if grouped:
            self.columns, self.count = group_rows(table, *columns, names=names)
        else:
            self.columns = code_rows(table, *columns, names=names, optional=optional)
            n = len(next(iter(self.columns.values())).place)
            self.count = np.ones(n, np.int64)
        self._in_order = in_order  # of names; else as they occur

    def counts_of(self, column: str) -> dict[Any, int]:
        """How often each label of a column occurs."""
        place, cells = self.columns[column]
        there = place >= 0
        counts = np.bincount(place[there], self.count[there], len(cells)).astype(np.int64)
        return dict(zip(cells, counts.tolist(), strict=True))

    def places(self, labels: Labels, column: str | None) -> np.ndarray:
        """What each label of a column means, -1 where there is none."""
        if column is None:
            return np.full(len(self.count), MISSING)
        place, cells = self.columns[column]
        return np.append(labels.of(column, cells), MISSING)[place]

    def rows(self, column: str) -> Any:
        """The cells of a column."""
        return self.columns[column].rows()

    def groups(self, column: str) -> tuple[tuple[str, ...], np.ndarray]:
        """The names in a column, and the place of each row's; -1 where there is none."""
        place, names = self.columns[column]
        if self._in_order:
            order = np.argsort(names)
            names, place = names[order], np.append(np.argsort(order), MISSING)[place]
        return tuple(names), place.astype(np.int64)


class Packing:
    """Counts of an item's rows of several kinds as a few whole numbers."""

    def __init__(self, kinds: int, most: int):
        self.kinds, self.most = kinds, most
        self.bits = max(int(most).bit_length(), 1)
        self.per_part = max(62 // self.bits, 1)
        self.parts = -(-kinds // self.per_part)

    def packed(self, item: np.ndarray, kind: np.ndarray, items: int) -> np.ndarray:
        """The numbers of each item, of rows in memory."""
        part, place = np.divmod(kind, self.per_part)
        parts = np.zeros((items, self.parts), np.int64)
        np.add.at(parts, (item, part), np.int64(1) << (self.bits * place))
        return parts

    def terms(self, several: int) -> list[nw.Expr]:
        """What a row adds to its item's numbers, in an engine.

        A row stands for ``n_0`` rows of its ``kind``, ``n_1`` of the next and so on.
        """
        import narwhals as nw

        terms = []
        for part in range(self.parts):
            added = nw.lit(0, nw.Int64)
            for v in range(several):
                place = nw.col("kind") + v - part * self.per_part
                power = (nw.lit(2.0) ** (self.bits * place).cast(nw.Float64)).cast(nw.Int64)
                here = (place >= 0) & (place < self.per_part)
                added = added + nw.when(here).then(power * nw.col(f"n_{v}")).otherwise(0)
            terms.append(added)
        return terms

    def unpacked(self, numbers: np.ndarray) -> np.ndarray:
        """Counts of each kind, shape (n, kinds)."""
        part, place = np.divmod(np.arange(self.kinds), self.per_part)
        return (numbers[:, part] >> (self.bits * place)) & (2**self.bits - 1)


class Patterns(NamedTuple):
    """Items by what they hold: counts of rows by kind, what else, and how many items are so."""

    rows: np.ndarray
    others: np.ndarray
    n_items: np.ndarray
    of_item: np.ndarray

    @classmethod
    def of(
        cls,
        packing: Packing,
        numbers: np.ndarray,
        others: np.ndarray,
        count: np.ndarray | None = None,
    ) -> Patterns:
        """From each item's numbers, or from patterns of them with the items of each."""
        first, place = distinct(np.column_stack([others + 1, numbers]))
        summed = np.zeros(len(first), np.int64)
        np.add.at(summed, place, 1 if count is None else count)
        rows, others = packing.unpacked(numbers[first]), others[first]
        order, _ = distinct(np.column_stack([others + 1, rows]))
        rank = np.argsort(order)
        return cls(rows[order], others[order], summed[order], rank[place])


def most_rows(frame: nw.LazyFrame, keys: Sequence[str], several: int) -> int:
    """The most rows that an item has."""
    import narwhals as nw

    n = sum((nw.col(f"n_{v}") for v in range(1, several)), nw.col("n_0"))
    sizes = frame.group_by(keys).agg(total(n).alias("rows"))
    most = sizes.select(nw.col("rows").max()).collect()["rows"][0]
    return int(most or 1)


def patterns_in_engine(
    frame: nw.LazyFrame,
    keys: Sequence[str],
    packing: Packing,
    others: Mapping[str, nw.Expr],
    *,
    several: int = 1,
    called: str,
) -> tuple[Patterns, nw.LazyFrame]:
    """Patterns of items by `others`, with ``over`` the most rows last, and the items themselves.

    The last of `keys` is the item's own; `called` is that column's name.
    """
    import narwhals as nw

    names = [f"part_{p}" for p in range(packing.parts)]
    terms = dict(zip(names, packing.terms(several), strict=True))
    n = sum((nw.col(f"n_{v}") for v in range(1, several)), nw.col("n_0"))
    rows = frame.with_columns(n.alias("n"), **terms)
    each = rows.group_by(keys).agg(
        total(nw.col("n")).alias("n"), *(nw.col(name).sum() for name in names), **others
    )
    over = nw.col("n") > packing.most
    # what more rows than that add up to may not fit into 64 bits
    bounded = [nw.when(~over).then(nw.col(name)).otherwise(0).cast(nw.Int64) for name in names]
    seen = each.with_columns(
        no_name(each, keys[-1]).alias("nameless"),
        over.cast(nw.Int64).alias("over"),
        *(column.alias(name) for column, name in zip(bounded, names, strict=True)),
    )
    by = [*keys[:-1], *others, "over", *names]
    counted = seen.group_by(*by, "nameless").agg(nw.len().alias("items")).collect()

    def numbers(of: Sequence[str]) -> np.ndarray:
        columns = [counted[name].fill_null(MISSING).to_numpy().astype(np.int64) for name in of]
        return np.column_stack(columns)

    count = numbers(["items"])[:, 0]
    require_named(int(count[counted["nameless"].to_numpy().astype(bool)].sum()), called)
    of_rows = numbers([*keys[:-1], *others, "over"])
    return Patterns.of(packing, numbers(names), of_rows, count), each
