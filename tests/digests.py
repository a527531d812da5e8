"""Many numbers in one, so that those of a whole package can be kept in a small file.

Each number counts by its logarithm with a weight of its own: one that moves by a ten-thousandth of
itself moves the digest, and an error of rounding does not.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesjudge.core.answer import Answer
from bayesjudge.core.estimate import Estimate

#: Of longer tables and lists so many are looked at, of longer arrays their sums.
MOST = 60
NUMBER = re.compile(r"\d+(?:\.\d+)?")
Digests = Mapping[str, tuple[int, float]]


def digest(numbers: Iterable[float]) -> tuple[int, float]:
    """How many there are, and their weighed sum."""
    x = np.array(list(numbers), float)
    weight = np.random.default_rng(45).uniform(0.5, 1.5, x.size)
    size = np.sign(x) * np.log1p(1e6 * np.minimum(np.abs(x), 1e12))
    return x.size, round(float((weight * np.where(np.isnan(x), 7.0, size)).sum()), 6)


def moved(now: Digests, path: Path) -> list[str]:
    """Names of digests that are not those of a file, or are in one of the two only."""
    before = json.loads(path.read_text())
    return [
        name
        for name in sorted({*before, *now})
        if name not in before
        or name not in now
        or before[name][0] != now[name][0]
        or abs(before[name][1] - now[name][1]) > 2e-5 + 1e-8 * now[name][0]
    ]


def write(now: Digests, path: Path) -> None:
    """A line each."""
    lines = [f"{json.dumps(name)}: {json.dumps(list(one))}" for name, one in sorted(now.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


# Of results --------------------------------------------------------------------------------------


def numbers(found: Any, depth: int = 0) -> Iterator[float]:
    """Every number of a result, those of its sentences, and each name by a number of its own."""
    if isinstance(found, str):
        if " " in found:
            yield from (float(x) for x in NUMBER.findall(found))
        elif "/" not in found:  # a path
            yield zlib.crc32(found.encode()) % 997
    elif isinstance(found, bool | np.bool_ | int | float | np.number):
        yield float(found)
    elif isinstance(found, Estimate):
        for quantity, where, row in found.rows():
            yield from numbers([quantity, *where.values(), *row], depth)
        yield from numbers([c.id for c in found.cautions], depth)
        yield from numbers([a.contradicted_by for a in found.assumptions], depth)
    elif isinstance(found, Answer):
        yield from numbers(found.as_dict(), depth)
    elif isinstance(found, pd.DataFrame):
        yield from numbers([found.reset_index()[name].iloc[:MOST] for name in found], depth)
    elif isinstance(found, np.ndarray | pd.Series | xr.DataArray):
        every = np.asarray(found).ravel()
        if every.size > MOST and every.dtype.kind in "biuf":  # two sums tell their order
            every = np.nan_to_num(every.astype(float), nan=7.0, posinf=7.0, neginf=-7.0)
            every = [every.size, every.sum(), every @ np.linspace(1, 2, every.size)]
        yield from numbers([*every], depth)
    elif isinstance(found, xr.Dataset):
        yield from numbers(list(found.data_vars.values()), depth)
    elif depth > 6:
        return
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        names = [f.name for f in dataclasses.fields(found)]
        if depth == 0 and type(found).__module__.startswith("bayesjudge"):
            names += [n for n in dir(type(found)) if n[0] != "_" and is_property(type(found), n)]
        yield from numbers([getattr(found, name) for name in names], depth + 1)
    elif isinstance(found, Mapping):
        yield from numbers([*found, *found.values()], depth + 1)
    elif isinstance(found, list | tuple):
        for value in found[:MOST]:
            yield from numbers(value, depth + 1)


def shown(found: Any) -> Iterator[float]:
    """Every number of a result, and of what it prints."""
    yield from numbers(found)
    if dataclasses.is_dataclass(found):
        yield from numbers(f"{found} ")


def is_property(owner: type, name: str) -> bool:
    """Whether a class computes what it shows under a name."""
    return isinstance(inspect.getattr_static(owner, name), property | functools.cached_property)
