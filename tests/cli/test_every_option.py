"""Every option of every command, at another value than its default: the numbers are those of today.

The lines stand in lines.txt. Options are combined, so that a command takes a few lines; which
options there are is asked of the commands. What is sampled is drawn as tests/points.py draws.
Pictures are not drawn: what the functions that would draw them are given is held too. Where
numbers are to move, write them anew:

    python tests/cli/test_every_option.py
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from commands import apps, leaves, run  # noqa: E402
from digests import digest, moved, numbers, write  # noqa: E402
from points import in_place_of_nuts  # noqa: E402
from readings import readings  # noqa: E402

import bayesjudge as bj  # noqa: E402
from bayesjudge.cli.output import COLLECTED  # noqa: E402
from bayesjudge.render.page import Page  # noqa: E402

PACKAGE, STORED = Path(bj.__file__).parent, HERE / "held" / "options.json"
#: Options that choose a form of what is found, sample, or save it: tests of their own.
ELSEWHERE = {
    *("--html", "--markdown", "--json", "--csv", "--save", "--junit"),
    *("--why", "--quiet", "--study", "--arm"),
    *("--separator", "--option", "--shift-from", "--scores"),
    *("--attempt", "--read"),
}
NUMBER, DATE = re.compile(r"\d+(?:\.\d+)?"), re.compile(r"\d{4}-\d\d-\d\d")

#: Lines of the fast tier, and those that take longer or run no code that others do not.
LINES, LONG = (
    [line for line in part.splitlines() if line and not line.startswith("#")]
    for part in (HERE / "lines.txt").read_text().split("# slow\n")
)
LOG = "--verdict verdict --truth truth --calibration random --unparsed drop"


def _tables(folder: Path) -> None:
    """Write the tables that the lines name."""
    from readers.logs import inspect_samples, write_inspect, write_phoenix

    read = readings()
    log, people = (read[n].table for n in ("Items", "PeopleCounts"))
    log = log.assign(
        shown=[i % 7 == 0 for i in range(len(log))],
        again=people["again"].where(people["again"] == people["truth"]),
    )
    keyed = log[log["system"] == "1"].assign(key=range(60), who="Ann")
    votes = read["Votes"].table
    wide = read["Votes of a wide table"].table
    attempts = bj.attempts.simulate(tasks=6, random_seed=1)
    attempts["cost"] = np.arange(len(attempts)) % 5 / 10
    tables = {
        "log": log,
        "people": people,
        "other": log[["verdict", "truth"]].dropna().query("verdict != ''"),
        "raters": read["PeopleCounts of a row a person"].table,
        "votes": votes,
        "classes": votes.assign(system="one"),
        "wide": wide.assign(shown=[i % 9 == 0 for i in range(len(wide))]),
        "bare": keyed[["key", "flag", "who"]],
        "labels": keyed[["key", "truth"]].dropna(),
        "outputs": log.drop(columns=["truth", "human"]),
        "by_system": log[["case", "system", "truth"]].dropna().iloc[::-1],
        "other_names": log[["case", "system", "truth"]]
        .dropna()
        .set_axis(["prompt", "model", "people"], axis=1),
        "by_id": pd.DataFrame({"item": [f"q{i}" for i in range(8)], "people": [1, 0] * 4}),
        "votes_alone": votes.drop(columns="truth"),
        "by_item": votes[["item", "generator", "truth"]].dropna().drop_duplicates(),
        "ratings": read["Ratings"].table,
        "repeats": read["repeats.Scores"].table,
        "runs": read["repeats.Scores of a wide table"].table,
        "one": read["repeats.Scores"].table[["score"]].dropna(),
        "shifts": read["Shifts"].table,
        "versions": read["Shifts of a wide table"].table,
        "pairs": read["Orders"].table,
        "swaps": read["Orders of verdicts"].table,
        "places": read["position_shift"].table,
        "answers": read["make_variants"].table,
        "attempts": attempts,
        "battles": (battles := read["Battles"].table),
        "preferred": battles[["prompt", "shown", "beside", "human"]]
        .dropna()
        .drop_duplicates(["prompt", "shown", "beside"]),
        "judged": battles.drop(columns="human"),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "prompt.txt").write_text("Is it good?")
    write_phoenix(folder / "phoenix.csv")
    write_inspect(folder / "run.eval", inspect_samples(), epochs=3)
    assert run(f"judge log.csv {LOG} --name j --card card.json --no-nuts".split())[0] == 0


def _options() -> Iterator[tuple[str, set[str]]]:
    """Names of each command's options."""
    for command, app in apps().items():
        collection = app.assemble_argument_collection(parse_docstring=False)
        yield command, {one.names[0] for one in collection if one.names}


def _numbers(line: str, options: set[str]) -> Iterator[float]:
    """Exit code and numbers of a line's JSON and page, or of its screen if it has no JSON or shows
    details.
    """
    words, page = line.split(), Path("page.md")
    words += ["--no-nuts"] * ("--nuts" in options and "--nuts" not in words)
    as_json = "--json" in options and "--details" not in words
    page.unlink(missing_ok=True)
    code, out, err = run([*words, *["--json", f"--markdown={page}"] * as_json])
    assert code in (0, 1, 3), (line, err)
    yield code
    if as_json:
        yield from (n for _, n in leaves(json.loads(out)))
        said, _, _ = page.read_text().partition("## Sources")
        yield from map(float, NUMBER.findall(DATE.sub("", said)))
    else:
        yield from map(float, NUMBER.findall(out))


@contextlib.contextmanager
def _nothing_is_drawn() -> Iterator[list[Any]]:
    """Functions that draw pictures keep their names and what they are given instead."""
    given: list[Any] = []

    def instead(name: str) -> Any:
        def draw(*data: Any, **settings: Any) -> Any:
            given.extend([name, *data, settings])
            return SimpleNamespace(get_figure=lambda: None)

        return draw

    for path in PACKAGE.rglob("plots.py"):
        import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    with contextlib.ExitStack() as stack:
        for module in [m for name, m in sys.modules.items() if name.startswith("bayesjudge.")]:
            for name, found in vars(module).copy().items():
                draws = name.startswith("plot_") or name == "new_axes"
                if draws and isinstance(found, FunctionType):
                    stack.enter_context(mock.patch.object(module, name, instead(name)))
        yield given


def today(lines: Sequence[str]) -> dict[str, tuple[int, float]]:
    """A digest of each line's numbers, and of what its pictures would show."""
    options, pages, found = dict(_options()), dict[str, list[Page]](), {}
    place, no_pages = tempfile.TemporaryDirectory(), COLLECTED.set(None)
    with place as folder, contextlib.chdir(folder), in_place_of_nuts():
        _tables(Path(folder))
        for line in lines:
            COLLECTED.set(pages.setdefault(line, []))
            found[line] = digest(_numbers(line, options[_command(line, options)]))
    COLLECTED.reset(no_pages)
    with _nothing_is_drawn() as given:
        for line in lines:
            given.clear()
            captions = [name for page in pages[line][-1:] for name in page.pictures()]
            found[f"{line} drawn"] = digest(numbers([*captions, *given]))
    return found


def _command(line: str, known: Collection[str]) -> str:
    return max((name for name in known if f"{line} ".startswith(f"{name} ")), key=len)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lines", [LINES, pytest.param(LONG, marks=pytest.mark.slow)])
def test_the_numbers_of_every_line_are_those_of_today(lines):
    wrong = [name for name in moved(today(lines), STORED) if name.removesuffix(" drawn") in lines]
    assert not wrong, f"{wrong} moved; python tests/cli/test_every_option.py writes those of today"


def test_every_option_stands_in_a_line():
    """Of one command at least: several commands share some, which are read in one place."""
    options = {name for own in dict(_options()).values() for name in own if name.startswith("--")}
    used = {word.replace("--no-", "--") for line in [*LINES, *LONG] for word in line.split()}
    assert options - used == ELSEWHERE


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(today([*LINES, *LONG]), STORED)
