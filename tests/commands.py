"""Every command that reads a table, with a table for it, and the numbers that it prints."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from cyclopts import App
from readings import readings

from bayesjudge.cli import main
from bayesjudge.cli.commands import build_app
from bayesjudge.cli.explain import steps


def apps() -> dict[str, App]:
    """Commands that can be called, by their words."""
    return {" ".join(words): app for words, app in steps(build_app([], every=True))}


def options_by_command() -> dict[str, dict[str, str]]:
    """Every command that can be called, with all names of its options and their help."""
    collections = {
        name: app.assemble_argument_collection(parse_docstring=True) for name, app in apps().items()
    }
    return {
        command: {name: str(one.parameter.help or "") for one in every for name in one.names}
        for command, every in collections.items()
    }


class Command(NamedTuple):
    """Words of a command line before and after the file, of which options name columns."""

    words: Sequence[str]
    table: pd.DataFrame
    columns: Mapping[str, str | Sequence[str]]
    settings: Sequence[str]

    def line(self, path: Path | str, renamed: Mapping[str, str] | None = None) -> list[str]:
        """The command line for a file, perhaps with columns of other names."""
        called, options = renamed or {}, []
        for option, names in self.columns.items():
            each = [names] if isinstance(names, str) else names
            options += [f"--{option}={called.get(name, name)}" for name in each]
        return [*self.words, *[str(path)] * (1 + (self.words == ["drift"])), *options,
                *self.settings]  # fmt: skip

    def numbers(self, path: Path | str, renamed: Mapping[str, str] | None = None) -> dict[Any, Any]:
        """What the command prints as JSON, each number by where it stands."""
        code, text, told = run(self.line(path, renamed))
        assert code in (0, 1, 3), told
        return dict(leaves(json.loads(text)))


def run(line: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(line))
    return code, out.getvalue(), err.getvalue()


def leaves(found: Any, *place: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Numbers of a JSON document; one of a list by the words beside it, for lists have an order."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name not in ("inputs", "paragraph"):
                yield from leaves(value, *place, name)
    elif isinstance(found, list):
        for i, value in enumerate(found):
            words = [str(i)]
            if isinstance(value, dict):
                beside = {
                    name: inner
                    for name, inner in value.items()
                    if isinstance(inner, str)
                    or (isinstance(inner, dict) and all(isinstance(x, str) for x in inner.values()))
                }
                words = [json.dumps(beside, sort_keys=True)] if beside else words
            yield from leaves(value, *place, *words)
    elif isinstance(found, int | float) or found is None:
        yield place, float("nan") if found is None else float(found)


@functools.cache
def commands() -> dict[str, Command]:
    """The commands that print JSON of a table."""
    read = readings()
    log, votes, repeated = (read[n].table for n in ("Items", "Votes", "repeats.Scores"))
    wide, runs = (
        read[n].table for n in ("Votes of a wide table", "repeats.Scores of a wide table")
    )
    rated, shifts, pairs = (read[n].table for n in ("Ratings", "Shifts", "Orders"))
    of_log, end = {"verdict": "verdict", "truth": "truth"}, ["--no-nuts", "--json"]
    random = ["--calibration=random", "--unparsed=drop"]
    labels = {"truth": "truth"}
    of_shifts = {"item": "item", "variant": "variant", "score": "score", "judge": "judge"}
    return {
        "prevalence": Command(["prevalence"], log, of_log, [*random, *end]),
        "prevalence of systems": Command(
            ["prevalence"], log, {**of_log, "by": "system"}, [*random, *end]
        ),
        "prevalence of items": Command(
            ["prevalence"], log, {**of_log, "by": "system", "item": "case"}, [*random, *end]
        ),
        "prevalence of scores": Command(
            ["prevalence"],
            log,
            {**labels, "score": "fine", "by": "system", "item": "case"},
            ["--calibration=random", "--scale=0:1", *end],
        ),
        "prevalence of classes": Command(
            ["prevalence"],
            log,
            {"verdict": "kind", "truth": "human"},
            ["--calibration=random", "--classes=a", "--classes=b", "--classes=c", *end],
        ),
        "prevalence of people": Command(
            ["prevalence"],
            read["PeopleCounts"].table,
            {"verdict": "verdict", "truth": ["truth", "again"], "by": "system", "item": "case"},
            [*random, *end],
        ),
        "panel": Command(
            ["panel"],
            votes,
            {**labels, "item": "item", "generator": "generator", "judge": "judge", "vote": "vote"},
            ["--calibration=random", *end],
        ),
        "panel of a wide table": Command(
            ["panel"],
            wide,
            {**labels, "item": "item", "generator": "generator", "judges": list("abcd")},
            ["--calibration=random", *end],
        ),
        "ratings": Command(
            ["ratings"],
            rated,
            {"item": "item", "rater": "rater", "choice": "choice", "response-set": "response_set"},
            ["--positive=yes", "--judge=gpt", "--judge=claude", *end],
        ),
        "repeats report": Command(
            ["repeats", "report"],
            repeated,
            {"item": "item", "judge": "judge", "score": "score", "order": "repeat"},
            ["--scale=1-5", *end],
        ),
        "repeats report of a wide table": Command(
            ["repeats", "report"],
            runs,
            {"item": "item", "judge": "judge", "score": ["run1", "run2", "run3", "run4"]},
            ["--scale=1-5", *end],
        ),
        "bias": Command(
            ["bias"],
            shifts,
            of_shifts,
            ["--scale=0:100", "--design=item", "--rerun=rerun", "--missing=drop", *end],
        ),
        "bias orders": Command(
            ["bias", "orders"],
            pairs,
            {"first": "first", "second": "second", "judge": "judge", "item": "pair"},
            ["--missing=drop", *end],
        ),
        "bias orders of verdicts": Command(
            ["bias", "orders"],
            read["Orders of verdicts"].table,
            {"item": "prompt", "shown-first": "shown", "shown-second": "beside",
             "verdict": "won", "judge": "judge"},
            ["--tie-value=tie", *end],
        ),
        "drift": Command(
            ["drift"], log, {**of_log, "item": "case", "by": "system"}, ["--json"]
        ),
        "gate": Command(
            ["gate"],
            log,
            {**of_log, "by": "system", "item": "case"},
            [*random, "--at-least=0.5", "--json"],
        ),
    }  # fmt: skip
