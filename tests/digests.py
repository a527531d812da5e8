"""Many numbers in one, so that those of a whole package can be kept in a small file.

Each number counts by its logarithm with a weight of its own: one that moves by a ten-thousandth of
itself moves the digest, and an error of rounding does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

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
