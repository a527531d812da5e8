"""Do random tables ever give an error of another library, or a number that makes no sense?

    python benchmarks/core/fuzz.py                                   # 10,000 tables a module
    python benchmarks/core/fuzz.py --tables 100000 --modules panel
    python benchmarks/core/fuzz.py --tables 200 --seed 7 --show 5     # prints what went wrong
    python benchmarks/core/fuzz.py --seconds 600                      # continues, so long

The modules take turns of 100 tables; a run with the seed of the stored results continues them.

Each module of the contract draws random small tables (`Module.sample` in tests/contract.py). Half
of them are damaged: cells of another type, columns that are missing, twice there, shuffled or
constant, no rows, another library's table. They are read, and all closed forms that suit are made
at a random level, with every warning an error. Counted are tables that were answered; that were
refused by the package's own error; other exceptions; and of those answered, the ones with a nan
that no caution explains, and the ones with a value outside its interval.

Quick: ``--tables 20 --modules prevalence panel``

Found: of 20,500 tables of nine modules (seed 8) 9 raised another library's error, of two causes
(integers of 128 bits, columns of nothing in blocks), mended since. Of 900,000 others, 100,000 a
module (`--tables 100000 --seed 1623`), 494,871 were answered and 405,129 refused by the package's
own error; 0 raised another library's, 0 had a nan without a reason, 0 a value outside its interval.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from conftest import MODULES
from contract import Module
from relations import RELATIONS

import bayesjudge as bj

HERE = Path(__file__).parent / "results"
#: Tables of a module before the next has its turn.
TURN = 100
KINDS = ("answered", "own_error", "other_exception", "unexplained_nan", "value_outside")
#: What no column of verdicts, scores or names should hold, and what it may hold by accident.
STRANGE: tuple[Any, ...] = (
    *([1], {"a": 1}, (1, 2), {1}, np.array([1, 2]), b"yes", b"\xff", "\ud800", object(), 1 + 2j),
    *(float("inf"), -1, 0.5, 2, 1e300, 10**30, True, None, np.nan, pd.NA, pd.NaT, "", "  ", "yes"),
    *("NaN", "1.0", " 1", "ä|b", "people", "baseline", "\x00", "*_<b>", "x" * 5000),
    *(datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), timedelta(1)),
)


def damaged(table: pd.DataFrame, rng: np.random.Generator) -> Any:
    """One to three things go wrong with a table."""
    for _ in range(rng.integers(1, 4)):
        column = str(rng.choice(table.columns))
        at = table.columns.get_loc(column)
        if not isinstance(at, int) or not len(table):  # it is there twice, or there are no rows
            return table
        match rng.integers(9):
            case 0 | 1 | 2:  # some cells
                value = STRANGE[rng.integers(len(STRANGE))]
                cells = list(table[column])
                share = rng.choice([0.02, 0.3, 1.0])
                cells = [value if rng.random() < share else cell for cell in cells]
                table = table.assign(**{column: pd.Series(cells, table.index, dtype=object)})
            case 3:
                table = table.drop(columns=column)
                if not len(table.columns):
                    return table
            case 4:
                table = pd.concat([table, table[[column]]], axis=1)
            case 5:
                table = table.iloc[: int(rng.integers(0, 4))]
            case 6:
                order = rng.permutation(len(table))
                cells = pd.Series(table[column].iloc[order].tolist(), table.index, dtype=object)
                table = table.assign(**{column: cells})
            case 7:  # the same value throughout
                cell = table[column].iloc[rng.integers(len(table))]
                cells = pd.Series([cell] * len(table), table.index, dtype=object)
                table = table.assign(**{column: cells})
            case 8:
                table = pd.concat([table, table.sample(frac=0.3, random_state=1)])
    return table


def in_another_library(table: pd.DataFrame, rng: np.random.Generator) -> Any:
    """The same table in Arrow or polars, if they can hold it."""
    import polars as pl
    import pyarrow as pa

    try:
        match rng.integers(4):
            case 0:
                return pa.Table.from_pandas(table, preserve_index=False)
            case 1:
                return pl.DataFrame({c: table[c].tolist() for c in table.columns}, strict=False)
    except Exception:  # these libraries refuse much of it; then it stays as it is
        return table
    return table


def one_table(one: Module, seed: Any) -> tuple[str, str]:
    """What becomes of a random table: its kind, and the details of what went wrong."""
    rng = np.random.default_rng(seed)
    table, read = one.sample(rng)
    if rng.random() < 0.5:
        table = in_another_library(damaged(table, rng), rng)
    level = float(rng.choice([0.5, 0.8, 0.95, 0.999]))
    try:
        made = one.module.closed_forms(read(table), ci_prob=level, **one.quick)
    except bj.InputError:
        return "own_error", ""
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f"{Path(f.filename).name}:{f.name}" for f in frames if "bayesjudge" in f.filename]
        return "other_exception", f"{type(error).__name__}: {str(error)[:90]} in {own[-1:]}"
    for kind, name in (
        ("unexplained_nan", "nan_has_a_caution"),
        ("value_outside", "value_lies_in_its_interval"),
    ):
        if found := list(RELATIONS[name](one, table, read, made)):
            return kind, found[0]
    return "answered", ""


def run(one: Module, tables: int, seed: int, begin: int = 0) -> Iterator[tuple[int, str, str]]:
    """What becomes of each of `tables` tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(begin, begin + tables):
            yield (i, *one_table(one, [seed, i]))


def main() -> None:
    """Let the modules take turns, and write a row a module after each."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--modules", nargs="*", default=[one.name for one in MODULES])
    parser.add_argument("--seconds", type=float, default=1e9, help="processor seconds, about")
    parser.add_argument("--show", type=int, default=3, help="examples of each failure")
    parser.add_argument("--output", type=Path, default=HERE / "fuzz.csv")
    asked = parser.parse_args()
    found = stored(asked.output, asked.seed)
    shown: dict[str, Counter[str]] = {one.name: Counter() for one in MODULES}
    left = [one for one in MODULES if one.name in asked.modules]
    while left and time.process_time() < asked.seconds:
        one = left.pop(0)
        counted = found.setdefault(one.name, Counter())
        begin = counted.total()
        for i, kind, text in run(one, min(TURN, asked.tables - begin), asked.seed, begin):
            counted[kind] += 1
            seen = shown[one.name]
            if text and text not in seen and len(seen) < 10 * asked.show:
                print(f"{one.name} table [{asked.seed}, {i}]: {kind}: {text}", flush=True)
            seen[text] += 1
        if counted.total() < asked.tables:
            left.append(one)
        write(asked.output, asked.seed, found)
    for name, counted in found.items():
        print(name, dict(counted))


def stored(path: Path, seed: int) -> dict[str, Counter[str]]:
    """Counts by module of an earlier run with the same seed, which this one continues."""
    if not path.exists():
        return {}
    with path.open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["seed"] == str(seed)]
    return {row["module"]: Counter({kind: int(row[kind]) for kind in KINDS}) for row in rows}


def write(path: Path, seed: int, found: dict[str, Counter[str]]) -> None:
    """A row a module."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(("module", "tables", "seed", *KINDS))
        for name, counted in sorted(found.items()):
            writer.writerow((name, counted.total(), seed, *(counted[kind] for kind in KINDS)))


if __name__ == "__main__":
    main()
