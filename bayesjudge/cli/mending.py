"""Suggest a working command for one that failed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bayesjudge.cli.commands import command_of
from bayesjudge.core.errors import Problem
from bayesjudge.core.screen import as_words

if TYPE_CHECKING:
    from cyclopts import App

#: Options whose values are names of columns of a table.
COLUMNS = {"--item", "--by", "--generator", "--judges", "--vote", "--verdict", "--score", "--truth",
           "--variant", "--stratum", "--propensity", "--order", "--rater", "--choice", "--people",
           "--response-set", "--shown-first", "--shown-second", "--first", "--second"}  # fmt: skip
#: Options whose values suit a file or not: kept if the line runs with them.
KEPT = {"--baseline", "--rerun", "--judge", "--scale", "--truth-scale", "--half-width"}
#: Options of which each table has its own.
SHAPE = {"--judges", "--judge", "--vote", "--verdict", "--score", "--item", "--variant",
         "--baseline", "--rerun"}  # fmt: skip
#: Options of which one takes the place of the others.
INSTEAD = (
    {"--verdict", "--score"},
    {"--judges", "--vote"},
    {"--choice", "--response-set", "--people"},
)
#: Options that say what cells mean.
VALUES = {"--pass-value", "--fail-value", "--missing-value", "--classes", "--unparsed"}
#: Bytes of a file that is looked at, and commands that `doctor` has lines for.
MOST_BYTES = 20_000_000
MENDED = ("judge", "prevalence", "gate", "panel", "bias", "repeats", "ratings")
#: Options that say what only the person who made the file knows, which others do not tell.
DECISIONS = {"calibration", "design", "units", "scale"}
#: Problems that are mended by naming columns, and those that are by naming values.
OF_COLUMNS = {"no-column", "no-variant", "not-given", "rows-repeat"}
OF_VALUES = {"unread-labels", "unread-numbers", "no-verdict"}

Options = dict[str, list[str]]


def mended(app: App, tokens: Sequence[str], problems: Sequence[Problem]) -> str:
    """A sentence and the line with what the file tells, if there is one that runs; else empty."""
    wrong = any(problem.id in OF_COLUMNS | OF_VALUES for problem in problems)
    if tokens[:1] and tokens[0] in MENDED and wrong:
        with suppress(Exception):  # what went wrong first is what is told
            return _mended(app, tokens, problems)
    return ""


def _mended(app: App, tokens: Sequence[str], problems: Sequence[Problem]) -> str:
    from bayesjudge.cli.doctor import examine
    from bayesjudge.cli.source import open_source

    command, path, rest = _parts(app, tokens)
    if path is None or path.stat().st_size > MOST_BYTES:
        return ""
    given = _options(app, command, rest)
    source = open_source(path)
    have = None if source.log is not None else set(source.columns())
    absent = have is not None and any({*given[name]} - have for name in COLUMNS & {*given})
    columns = absent or not COLUMNS & {*given}
    columns |= any(p.id in OF_COLUMNS and p.argument not in DECISIONS for p in problems)
    decided = columns or any(p.id in OF_VALUES for p in problems)
    labels = Path(given["--labels"][0]) if "--labels" in given else None
    truth = next(iter(given.get("--truth", ())), None)
    known = have is not None and truth in have
    diagnosis = examine(path, truth if known or labels else None, labels)
    runs: list[list[str]] = []
    condition = ""
    for answer in diagnosis.answers:
        line = answer.line
        if line.command.split() == command and line.path == str(path):
            meant = _options(app, command, line.words[len(command) + 1 :])
            ways = [_joined(given, meant, have, keep=keep) for keep in (KEPT, set[str]())]
            chosen = {} if decided else {"--calibration": meant.get("--calibration", [])}
            ways = ways if columns else [_with_values(given, meant) | chosen]
            good = _first_that_runs([_words(command, path, way) for way in ways], runs)
            runs, condition = [*runs, *good], answer.condition if good else condition
    if len(runs) != 1:
        return ""
    used = _options(app, command, runs[0][len(command) + 1 :])
    if not decided and not VALUES & ({*used} - {*given}):  # only how labels were chosen is asked
        return ""
    return _mended_line(runs[0], path, given, used, condition)


def _first_that_runs(lines: Sequence[list[str]], known: Sequence[list[str]]) -> list[list[str]]:
    """The first line that runs, unless one is known that asks the same, or less."""
    from bayesjudge.cli.shapes.running import run_line

    for line in lines:
        if any({*other} <= {*line} for other in known):
            break
        if run_line(line)[0]:
            return [line]
    return []


def _mended_line(
    line: Sequence[str], path: Path, given: Options, used: Options, condition: str
) -> str:
    chosen = " ".join([] if "--calibration" in given else used.get("--calibration", []))
    lost = " and ".join(name for name in given if name not in {*used, *SHAPE})
    other = [name for name in KEPT - SHAPE if name in used and used[name] != given.get(name)]
    turned = " and ".join(name for name in sorted(other) if name in given)
    so = f", {condition[:1].lower()}{condition[1:]}" * bool(condition)
    so += f", {'and ' * bool(condition)}if labels were chosen so ({chosen})" * bool(chosen)
    so += f", without {lost}" * bool(lost) + f", with another {turned}" * bool(turned)
    hint = f"This line runs{so}; bayesjudge doctor {shlex.quote(str(path))} tells what it guesses:"
    return f"{hint}\n  {shlex.join(['bayesjudge', *line])}"


def _parts(app: App, tokens: Sequence[str]) -> tuple[list[str], Path | None, list[str]]:
    """The command, its file if there is one, and what follows."""
    _, command = command_of(app, tokens)
    words = tokens[len(command) :]
    path = Path(words[0]) if words and Path(words[0]).is_file() else None
    return command, path, [*words[1:]]


def _options(app: App, command: Sequence[str], words: Sequence[str]) -> Options:
    """Options and their values, by the name that comes first in the help."""
    step, _ = command_of(app, command)
    arguments = step.assemble_argument_collection(parse_docstring=False)
    first = {name: argument.names[0] for argument in arguments for name in argument.names}
    options: Options = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            option, tied, value = word.partition("=")
            name = first.get(option, option)
            options.setdefault(name, []).extend([value] if tied else [])
        elif name:
            options[name].append(word)
    return options


def _joined(given: Options, meant: Options, have: set[str] | None, *, keep: set[str]) -> Options:
    """What was meant, and what was given in its place where the file has it.

    Values of the options to `keep` stay, which may be of a column that is named otherwise.
    """
    right = {
        name: values
        for name, values in given.items()
        if (name not in COLUMNS or have is None or {*values} <= have)
        and (name not in KEPT or name in keep)
    }
    for instead in INSTEAD:
        if instead & {*right}:
            meant = {name: v for name, v in meant.items() if name not in instead - {*right}}
    return meant | right


def _with_values(given: Options, meant: Mapping[str, list[str]]) -> Options:
    """What was given, and what cells mean."""
    more = {
        name: list(dict.fromkeys([*given.get(name, ()), *values]))
        for name, values in meant.items()
        if name in VALUES
    }
    return given | more


def _words(command: Sequence[str], path: Path, options: Options) -> list[str]:
    each = [as_words(name, values) or [name] for name, values in options.items()]
    return [*command, str(path), *(word for words in each for word in words)]
