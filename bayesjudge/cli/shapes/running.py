"""Lines are run before they are shown."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesjudge.cli.output import write_csv
from bayesjudge.cli.shapes import Line, Reading
from bayesjudge.core.errors import InputError
from bayesjudge.verdicts.selection import CLEAR

#: What keeps a command from sampling, and makes it print what is read here.
INSTANT = {"label": [], "gate": ["--json"], "drift": ["--json"]}


def run_line(line: Sequence[str]) -> tuple[bool, str]:
    """Run a command without sampling; what it printed, or what it had against the input."""
    from cyclopts import CycloptsError

    from bayesjudge.cli.commands import build_app

    more = INSTANT.get(line[0], ["--no-nuts", "--json"])
    tokens, out = [*line, *(word for word in more if word not in line)], io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            build_app(tokens)(tokens, exit_on_error=False, print_error=False, verbose=False)
    except (InputError, CycloptsError) as error:
        return False, getattr(error, "message", str(error))
    except Exception as error:  # a fault of ours: other lines may answer
        return False, f"{type(error).__name__}: {error}"
    return True, out.getvalue()


def first_that_runs(reading: Reading) -> tuple[Line | None, Mapping[str, Sequence[str]], str]:
    """The line with the first ending with which it runs, and what it printed, or the problem."""
    problem = ""
    for more in reading.ways:
        line = reading.line.plus(more)
        done, text = run_line(line.words)
        if done:
            return line, more, text
        problem = problem or text
    return None, {}, problem


def following_columns(line: Line, text: str) -> tuple[Line, str]:
    """A line, and what it printed, that does not hold the verdict to be all that chose labels.

    Where these clearly go with a column within each verdict too, the answer to labels that are
    said to be random follows it.
    """
    if line.options.get("--calibration") == ["by_verdict"]:
        seen = [c["numbers"]["p_value"] for c in cautions_in(text) if c["id"] == "label-selection"]
        other = line.plus({"--calibration": ["random"]})
        if seen and min(seen) <= CLEAR:
            done, instead = run_line(other.words)
            return (other, instead) if done else (line, text)
    return line, text


def cautions_in(text: str) -> list[dict[str, Any]]:
    """The cautions that a command printed."""
    cautions: list[dict[str, Any]] = json.loads(text)["cautions"]
    return cautions


def try_labelling(
    draw: Line, read: Line, said: Sequence[str], ways: Sequence[Mapping[str, Sequence[str]]]
) -> tuple[list[Line], str]:
    """Run a line that draws items into a sheet and one that reads what people wrote there.

    Both are run before they are shown, on labels that are made up of what can be `said`.
    """
    sheet = read.options["--labels"]
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / "made_up.csv"
        aside = {"--sheet": [str(trial)], "--state": [f"{folder}/state.json"],
                 "--form": [f"{folder}/f.html"]}  # fmt: skip
        done, problem = run_line(draw.plus(aside).words)
        if not done:
            return [], problem
        _fill_in(trial, said)
        line, more, problem = first_that_runs(
            Reading(read.plus({"--labels": [str(trial)]}), ways=ways)
        )
    return ([draw, read.plus({"--labels": sheet, **more})], "") if line else ([], problem)


def _fill_in(sheet: Path, said: Sequence[str]) -> None:
    """Labels of nobody, to see that a line runs."""
    import pandas as pd

    rows = pd.read_csv(sheet, dtype=str, keep_default_na=False)[["item"]]
    write_csv(rows.assign(truth=[said[i % len(said)] for i in range(len(rows))]), sheet)
