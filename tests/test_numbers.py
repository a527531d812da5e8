"""Every number of every closed form, posterior at once, reader and command is that of today.

Each was checked another way where it was made (tests beside its module). Here all of them are held
to a digest, those beside an estimate too (standard errors, p-values, degrees of freedom, ends of
intervals), so that none moves unseen. Where some are to move, write them anew:

    python tests/test_numbers.py

`tools/snapshot.py` shows which numbers moved, and tests/test_snapshot.py holds its own to a digest.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from commands import commands  # noqa: E402
from conftest import MODULES  # noqa: E402
from digests import digest, moved, write  # noqa: E402
from readings import readings  # noqa: E402
from relations import entries  # noqa: E402

import bayesjudge as bj  # noqa: E402

STORED = HERE / "numbers.json"
#: Random tables of each module.
TABLES = 6


def numbers_of(found: Any) -> Iterator[float]:
    """Every number of a result, in its order; a text and what has no number count for nothing."""
    if isinstance(found, dict):
        for value in found.values():
            yield from numbers_of(value)
    elif isinstance(found, list | tuple | np.ndarray):
        for value in found:
            yield from numbers_of(value)
    elif isinstance(found, int | float | np.number) and not isinstance(found, bool):
        yield float(found)


def of_module(one: Any, seed: int) -> dict[str, Any]:
    """Closed forms and the exact posterior of a random table, with what is said of them."""
    table, read = one.sample(np.random.default_rng([45, seed]))
    try:
        data = read(table)
        made = one.module.closed_forms(data, **one.quick)
    except bj.InputError:  # a table that has no answer
        return {}
    found = {f"{' '.join(map(str, key))}": row for key, row in entries(made).items()}
    for estimate in made:
        about = [len(estimate.cautions), len(estimate.assumptions)]
        found[f"{estimate.method.title} about"] = about
    if exact := getattr(one.module, "exact", None):
        with contextlib.suppress(bj.InputError):  # what it does not answer
            made = exact(data)
            found["exact"] = list(entries([made]).values()) if hasattr(made, "rows") else []
    return found


def each(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What each reader, command and random table gives, once it is called."""
    for name, reading in readings().items():
        yield f"reading {name}", partial(reading.of, reading.table)
    for name, command in commands().items():
        path = folder / f"{name}.csv"
        command.table.to_csv(path, index=False)
        yield f"command {name}", partial(command.numbers, path)
    for one in MODULES:
        for seed in range(TABLES):
            yield f"module {one.name} {seed}", partial(of_module, one, seed)


def today(folder: Path, every: int = 1) -> dict[str, tuple[int, float]]:
    """One digest of each, or of every so many."""
    return {
        name: digest(x for _, value in sorted(make().items(), key=str) for x in numbers_of(value))
        for name, make in islice(each(folder), None, None, every)
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_number_is_that_of_today(every, tmp_path):
    now = today(tmp_path, every)
    wrong = [name for name in moved(now, STORED) if name in now or every == 1]
    assert not wrong, f"{wrong} moved; python tests/test_numbers.py writes those of today"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(today(Path(place)), STORED)
