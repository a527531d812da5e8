"""The data class: checked counts, made from a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.labels import to_binary
from bayesjudge.core.tables import count_rows, require_distinct


@dataclass(frozen=True, eq=False)
class Passes(ReadAtOnce):
    """How many items each system was given, and how many it passed.

    Parameters
    ----------
    items, passes : array_like of int, shape (n_systems,)
        Items, and those of them that passed.
    systems : sequence of str
        Names.

    Raises
    ------
    InputError
        If passes exceed items, or a system has no items.

    Examples
    --------
    >>> Passes([10], [7], ["gpt"]).passes.tolist()
    [7]
    """

    items: Any
    passes: Any
    systems: Sequence[str]

    def __post_init__(self) -> None:
        items, passes = np.asarray(self.items, int), np.asarray(self.passes, int)
        names = tuple(map(str, self.systems))
        with checking("pass_share.Passes") as require:
            same = items.shape == passes.shape == (len(names),)
            require(same, f"expected {len(names)} numbers each, got {items.size}, {passes.size}")
            for name, n, k in zip(names, items, passes, strict=False):
                require(0 <= k <= n > 0, f"system {name!r}: {k} passes of {n} items")
        for field, value in {"items": items, "passes": passes, "systems": names}.items():
            object.__setattr__(self, field, value)

    @classmethod
    def from_frame(
        cls, table: Any, *, verdict: str = "verdict", system: str = "system", item: str = "item"
    ) -> Self:
        """Count the rows of a table, one row per item and system.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark; counted where it lives.
        verdict, system, item : str
            Columns.

        Returns
        -------
        Passes
            One entry a system.

        Raises
        ------
        InputError
            If a column is missing, a verdict is not understood, or an item repeats.
        """
        require_distinct(table, system, item)
        rows, n_rows = count_rows(table, system, verdict)
        passed = to_binary(rows[verdict], verdict)
        with checking(f"column {verdict!r}") as require:
            require(
                passed.notna().all(), "some rows have no verdict; drop them, or name them fails"
            )
        names, which = np.unique(rows[system].to_numpy(str), return_inverse=True)
        items, passes = (np.bincount(which, n).astype(int) for n in (n_rows, n_rows * passed))
        return cls(items, passes, tuple(names))
