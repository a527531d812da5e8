"""Tables of which little is left, or that are odd: what each command says of them is that of today.

It answers or refuses, and prints no ``nan``. What it answers, advises and refuses is held to a
digest of its numbers. Where some are to move, write them anew:

    python tests/cli/test_poor_tables.py
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from commands import Command, commands, run  # noqa: E402
from digests import digest, moved, write  # noqa: E402

STORED = HERE / "held" / "poor_tables.json"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def poorer(command: Command) -> Iterator[tuple[str, pd.DataFrame]]:
    """The table with one row, and with each column of one value, or empty, by what was done."""
    table = command.table
    yield "one row", table.head(1)
    each = [[names] if isinstance(names, str) else names for names in command.columns.values()]
    for column in [name for names in each for name in names]:
        first = table[column].dropna().iloc[0]
        yield f"{column} of its first value", table[table[column] == first]
        yield f"{column} empty", table.assign(**{column: None})


def odd(command: Command) -> Iterator[tuple[str, pd.DataFrame]]:
    """A judge that is always right or wrong, and labels that came otherwise than is said."""
    table, named = command.table, command.columns
    yield "few rows", table.head(max(len(table) // 6, 4))
    yield "twice", pd.concat([table, table], ignore_index=True)
    judged, label = named.get("verdict", ""), named.get("truth")
    if not (isinstance(judged, str) and isinstance(label, str)):
        return
    truth = table[label]
    known, place = truth.notna() & (truth != ""), np.arange(len(table))
    kinds = sorted({*truth[known]}, key=str)
    for kind in kinds[:2]:
        yield f"labels of {kind} alone", table.assign(truth=truth.where(truth == kind))
    for what, kept in {
        "first labelled": place < len(table) // 3,
        "seldom labelled": place % 4 == 0,
    }.items():
        yield what, table.assign(**{label: truth.where(known & kept)})
    for column in [name for name in ("fine", "topic") if name in table]:
        chosen = table[column] > table[column].dropna().sort_values().iloc[len(table) // 3]
        yield f"labelled by {column}", table.assign(**{label: truth.where(chosen)})
        note = np.where(known, table[column].astype(str), "")
        yield f"{column} noted beside labels", table.assign(note=note)
    if judged in table:
        said = table[judged]
        values = sorted({*said.dropna()} - {""}, key=str)[:2]
        for what, (one, other) in {"right": values, "wrong": values[::-1]}.items():
            by_truth = np.where(truth == kinds[-1], other, one)
            yield f"always {what}", table.assign(**{judged: said.where(~known, by_truth)})
        yield (
            "labelled by verdict",
            table.assign(**{label: truth.where(known & ((said == values[0]) | (place % 3 == 0)))}),
        )


def numbers(line: list[str], what: str) -> Iterator[float]:
    """Exit code and numbers of the page, and of what is told or refused."""
    words = ["--markdown=-" if word == "--json" else word for word in line]
    code, text, told = run(words)  # what is a fault of the package is raised
    assert code in (0, 1, 2, 3), what
    assert text or told, what
    assert not re.search(r"\bnan\b", text + told), what
    yield code
    yield from map(float, NUMBER.findall(text.partition("## Sources")[0] + told))


def tables() -> Iterator[tuple[str, Command, pd.DataFrame]]:
    """Each by its command and what was done to it."""
    for name, command in commands().items():
        for done, table in (*poorer(command), *odd(command)):
            yield f"{name}: {done}", command, table


def today(first: int = 0, every: int = 1) -> dict[str, tuple[int, float]]:
    """A digest of what each command says of each table, or of every so many from the first on."""
    path, found = Path("poor.csv"), {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for what, command, table in islice(tables(), first, None, every):
            table.to_csv(path, index=False)
            found[what] = digest(numbers(command.line(path), what))
    return found


@pytest.mark.slow
def test_each_table_has_a_digest():
    assert {what for what, *_ in tables()} == {*json.loads(STORED.read_text())}


#: A twelfth of the tables, and each third of them.
PARTS = [(0, 12), *(pytest.param(first, 3, marks=pytest.mark.slow) for first in range(3))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("first", "every"), PARTS)
def test_what_is_said_of_poor_tables_is_that_of_today(first, every):
    now = today(first, every)
    wrong = [what for what in moved(now, STORED) if what in now]
    assert not wrong, f"{wrong} moved; python tests/cli/test_poor_tables.py writes those of today"


#: Options that name columns of what judges said.
SAID = ("verdict", "vote", "judges", "score", "first", "second")


def test_no_answer_rests_on_an_empty_column(tmp_path):
    """What the prior says is no answer; the problem names the columns."""
    path = tmp_path / "poor.csv"
    for name, command in commands().items():
        for option in {*SAID} & {*command.columns}:
            named = command.columns[option]
            each = [[named]] if isinstance(named, str) else [list(named)]
            each += [[column] for column in named] if option == "judges" else []
            for columns in each:
                command.table.assign(**dict.fromkeys(columns)).to_csv(path, index=False)
                code, text, told = run(command.line(path))
                assert (code, text) == (2, ""), f"{name}: {columns}"
                if option in ("verdict", "vote", "judges") and name != "bias orders of verdicts":
                    assert all(repr(column) in told for column in columns), told


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(today(), STORED)
