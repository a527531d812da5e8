"""Ids and names as text: of items, raters, judges, systems, generators, strata and variants.

Two that differ stay two, however much they look like one number, and are the same from whatever
type of column they come.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import Require, checking

if TYPE_CHECKING:
    import pandas as pd


#: Longest name in a sentence, and what its end is of no use for there; the table has it whole.
LONGEST_NAME, DATED = 24, re.compile(r"(?<=\w)[-_@:.](20\d\d-?\d\d-?\d\d|latest)$")


def to_names(values: pd.Series, column: str, *, optional: bool = False) -> pd.Series:
    """Write ids and names as text, so that each stays what it is: names are never numbers."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind.startswith("mixed"):  # to a hash table of Python objects, 1 and True are one
        codes, cells = np.where(values.isna(), -1, np.arange(len(values))), list(values)
    else:
        codes, distinct = pd.factorize(values)
        cells = list(distinct)
    plain = kind in ("string", "integer")  # most often, and then millions may differ
    written = map(str if plain else name_of, cells)
    text = np.array([*(name if name.strip() else None for name in written), None], dtype=object)
    named = pd.Series(text[codes], index=values.index, name=values.name, dtype=object)
    check_names(column, int(named.isna().sum()), () if plain else cells, optional)
    return named


def names_of(cells: Sequence[Any], column: str, *, optional: bool = False) -> list[str]:
    """Write a short column of ids and names as text; see `to_names`."""
    names = ["" if cell is None else name_of(cell) for cell in cells]
    check_names(column, sum(not name.strip() for name in names), cells, optional)
    return names


def check_names(column: str, empty: int, cells: Sequence[Any] = (), optional: bool = False) -> None:
    """Raise if so many cells are empty, or some are floats that have lost digits."""
    lost = [cell for cell in cells if _has_lost_digits(cell)]
    with checking("table") as require:
        require(
            optional or not empty,
            f"column {column!r} has {empty} empty cells; every row needs a name there",
        )
        require(not lost, "ids-as-floats", column=column, lost=lost[:2])


def name_of(cell: Any) -> str:
    """Write one id or name as text; see `to_names`."""
    if isinstance(cell, float | np.floating | Decimal) and math.isfinite(cell) and cell % 1 == 0:
        return str(int(cell))
    return str(cell)


def _has_lost_digits(cell: Any) -> bool:
    if not isinstance(cell, float | np.floating) or not math.isfinite(cell):
        return False
    return abs(float(cell)) >= 2.0 ** (np.finfo(type(cell)).nmant + 1)


def require_names(names: Collection[str], what: str, require: Require) -> None:
    """Note a problem where a name is empty, or two are the same."""
    empty = [i for i, name in enumerate(names) if not name.strip()]
    require(not empty, f"{what} need names, and an empty name stands at place {empty[:3]}")
    several = Counter(names) if len(set(names)) < len(names) else {}
    repeated = [name for name, n in several.items() if n > 1][:3]
    require(not repeated, "names-repeat", what=what, repeated=repeated)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names as a sentence says them: without path and date, and cut, if they stay different."""
    whole = list(names)
    bare = [DATED.sub("", name.rpartition("/")[-1]) or name for name in whole]
    cut = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in bare]
    different = [names for names in (cut, bare, whole) if len({*names}) == len({*whole})]
    return dict(zip(whole, different[0], strict=True))
