"""What a shell sees of a command and of its failure: one message and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shlex
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)

import bayesjudge
from bayesjudge.cli.commands import COMMANDS, build_app, command_of, in_options
from bayesjudge.cli.mending import mended
from bayesjudge.cli.options import needed
from bayesjudge.core.calls import note_call
from bayesjudge.core.errors import ConvergenceError, InputError, Problem, expect
from bayesjudge.core.screen import as_wide_as, as_words, read_no_more
from bayesjudge.core.words import glossary

#: Exit codes.
OK, NO_ANSWER = 0, 2
#: Endings of tables, which no column has.
TABLES = {".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".db"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``bayesjudge``; by default what the shell gave.

    Returns
    -------
    int
        Exit code: 0; 2 for bad input (one message on stderr), and if the sampler did not converge
        and ``--strict`` asked for a failure. A command that decides gives 0 for pass, 1 for fail
        and 3 for unknown.
    """
    # pictures go to files, whether or not there is a screen
    os.environ.setdefault("MPLBACKEND", "Agg")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show "–" gets "?"
    tokens = _of_a_file(list(sys.argv[1:] if arguments is None else arguments))
    app = build_app(tokens)
    code = None
    note_call(tokens)
    tokens = _files_apart(tokens)
    try:
        _require_file_names(app, tokens)
        code = app(tokens, exit_on_error=False, print_error=False, verbose=False)
        sys.stdout.flush()
    except CycloptsError as error:
        message = _usage(error, app, tokens)
        return _refuse(_with_line(message, app, tokens, _not_given(error, app, tokens)))
    except InputError as error:
        message = _problems(error, app, tokens)
        return _refuse(_with_line(message, app, tokens, error.problems))
    except ConvergenceError as error:
        _complain(str(error))
        return NO_ANSWER
    except SystemExit as error:  # so Rich ends the help if its reader, such as `head`, has gone
        code = error.code if error.code != 1 else OK
    except BrokenPipeError:
        read_no_more()
    finally:
        if arguments is None:  # the process ends here
            # Python would look for garbage once more before it goes, which takes a second of
            # every run that loaded PyMC, and finds nothing that the system does not free anyway
            gc.freeze()
            gc.disable()
            if "duckdb" in sys.modules:
                atexit.register(_mute)
    # a command that decides gives its own code: 0 pass, 1 fail, 3 unknown
    return code if isinstance(code, int) else OK


def _mute() -> None:
    """Close stderr to what libraries say of themselves when Python ends.

    DuckDB 2 lists what it takes for leaks, on 26 lines: objects that narwhals keeps, and those that
    are not collected above.
    """
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _of_a_file(tokens: list[str]) -> list[str]:
    """``bayesjudge FILE`` is ``bayesjudge doctor FILE``, which says if there is no such file."""
    if not tokens or tokens[0] in COMMANDS or tokens[0].startswith("-"):
        return tokens
    path = Path(tokens[0].partition("::")[0])
    return ["doctor", *tokens] if path.exists() or path.suffix or path.name != str(path) else tokens


def _files_apart(tokens: Sequence[str]) -> list[str]:
    """Files, and ``-`` for stdin, go before options, some of which take all words that follow.

    They keep their order: what follows an option at once, its value or not, stays where it is.
    ``-`` is written as what is no option.
    """
    first = next((i for i, word in enumerate(tokens) if _is_option(word)), len(tokens))
    named = any(map(_is_file, tokens[1:first]))
    apart: list[str] = []
    place = None  # of the next file: before the first option since a file that stays
    for word in tokens:
        at_once = bool(apart) and _is_option(apart[-1])
        if word == "-" and at_once:
            apart[-1] += "=-"
            continue
        file = word == "-" or (not named and _is_file(word))
        word = "./-" if word == "-" else word
        if file and not at_once and place is not None:
            apart.insert(place, word)
            place += 1
            continue
        if at_once and file:
            place = None
        elif _is_option(word) and place is None:
            place = len(apart)
        apart.append(word)
    return apart


def _require_file_names(app: App, tokens: Sequence[str]) -> None:
    """Refuse a file without a name, which would be this folder."""
    if not any(word == "" or word.endswith("=") for word in tokens) or "." in tokens:
        return
    _, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False, verbose=False)
    fields = [getattr(value, "__dict__", {name: value}) for name, value in bound.arguments.items()]
    empty = [name for each in fields for name, value in each.items() if value == Path()]
    expect("options", not empty, "file-unnamed", empty=empty)


def _is_option(word: str) -> bool:
    return word[:2] == "--" != word


def _is_file(word: str) -> bool:
    """Whether a word names a file: one that there is, or a table by its ending."""
    path = Path(word.partition("::")[0])
    return path.is_file() or path.suffix.lower() in TABLES


def _with_line(message: str, app: App, tokens: Sequence[str], problems: Sequence[Problem]) -> str:
    """What is wrong, and the line to paste, if the file's columns tell it."""
    line = mended(app, tokens, problems)
    return f"{message}\n{line}" if line else message


def _problems(error: InputError, app: App, tokens: Sequence[str]) -> str:
    """The problems, with options spelled as the command line spells them."""
    problems = in_options(error.problems, app, tokens)
    in_python = re.fullmatch(rf"({'|'.join(bayesjudge.__all__)})\.[\w.]+", error.subject)
    first = [*takewhile(lambda word: not _is_option(word), tokens[1:])]
    files = [Path(word).name for word in first or tokens if _is_file(word)]
    unnamed = in_python or error.subject == "table"
    subject = {"arguments": "options"}.get(error.subject, error.subject)
    subject = (" and ".join(files) or "table") if unnamed else subject
    if len(problems) == 1:
        return f"{subject}: {problems[0]}"
    return "\n  - ".join([f"{subject}:", *problems])


def _usage(error: CycloptsError, app: App, tokens: Sequence[str]) -> str:
    """What is wrong with the command line, and which help to read."""
    message = str(error)
    argument = getattr(error, "argument", None)
    if isinstance(error, UnknownOptionError):
        message = _meant(error, message)
    if isinstance(error, MissingArgumentError) and argument is not None:
        # a command may have more to say of an option that it cannot do without
        lessons = getattr(error.target, "lessons", {})
        needed = _missing(error, app, tokens)
        guessed = "Did you mean" in message  # the words of cyclopts
        if error.keyword is None and len(needed) > 1 and not guessed:
            lines = [lessons.get(name) or f"{name} is needed: {text}" for name, text in needed]
            message = "\n".join(lines)
        elif lessons.get(argument.name):
            lesson = lessons[argument.name]
            return f"{message}\n{lesson}" if guessed else lesson
        elif error.keyword is None and not guessed:
            helped = {option.name: str(option.parameter.help) for option in _arguments(error, app)}
            message = f"{argument.name} is needed: {helped.get(argument.name, 'no default')}"
    if isinstance(error, UnusedCliTokensError):
        message = _unused(list(error.unused_tokens or ()), tokens)
    command = " ".join(["bayesjudge", *(error.command_chain or ())])
    return f"{message}\nSee: {command} --help"


def _unused(values: list[str], tokens: Sequence[str]) -> str:
    """What a value may be that belongs to no option: a second one, or one without quotes."""
    at = next((i for i in range(len(tokens)) if list(tokens[i:])[: len(values)] == values), 0)
    message = f"did not expect {values}; a value with a space in it needs quotes"
    if at >= 2 and tokens[at - 2].startswith("--") and not tokens[at - 1].startswith("-"):
        option = tokens[at - 2]
        each = " ".join(shlex.join(as_words(option, [v])) for v in (tokens[at - 1], values[0]))
        message += f", and an option that takes several is repeated: {each}"
    return message


def _meant(error: UnknownOptionError, message: str) -> str:
    """Name the option that goes by another word here."""
    said = (error.token.keyword or error.token.value).partition("=")[0]
    there = {argument.names[0] for argument in error.argument_collection if argument.names}
    meant = [name for name, other in glossary("options").items() if said in other and name in there]
    return f"Unknown option: {said}. Did you mean {' or '.join(meant)}?" if meant else message


def _not_given(error: CycloptsError, app: App, tokens: Sequence[str]) -> list[Problem]:
    """The options that are needed and were not given, if that is what is wrong."""
    if not isinstance(error, MissingArgumentError) or error.keyword is not None:
        return []
    return [needed(name, text) for name, text in _missing(error, app, tokens)]


def _missing(error: CycloptsError, app: App, tokens: Sequence[str]) -> list[tuple[str, str]]:
    """Every option that is needed and was not given, with its help."""
    given = {token.partition("=")[0] for token in tokens}
    first = getattr(error, "argument", None)
    return [
        (argument.name, str(argument.parameter.help))
        for argument in _arguments(error, app)
        # what has no option is missing if it is what the parser stopped at
        if argument.required
        and not given & set(argument.names)
        and (argument.name.startswith("--") or (first is not None and first.name == argument.name))
    ]


def _arguments(error: CycloptsError, app: App) -> Any:
    """Arguments of the command that was called, with their help."""
    step, _ = command_of(app, error.command_chain or ())
    return step.assemble_argument_collection(parse_docstring=True)


def _refuse(message: str) -> int:
    _complain(message)
    return NO_ANSWER


def _complain(message: str) -> None:
    print(as_wide_as(sys.stderr, f"bayesjudge: {message}"), file=sys.stderr)
