"""The commands, and the app with the one that is called."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from importlib.resources import files

from cyclopts import App

from bayesjudge.core.errors import Problem
from bayesjudge.core.screen import as_words
from bayesjudge.core.version import __version__
from bayesjudge.core.words import words_in


def _line(name: str) -> str:
    """The first line of a command's docstring, read in its source: imports would take seconds."""
    source = files("bayesjudge.cli").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return re.findall(rf'^def (?:{name}|shifts)\(.*?"""(.+?)$', source, re.M | re.S)[0]


_WORDS = words_in("bayesjudge.cli")
#: Each command with its line in the help. The function or app is called as the command is, in a
#: module of that name, which is imported when the command is called.
COMMANDS: dict[str, str] = {
    name: _WORDS["apps"].get(name) or _line(name) for name in _WORDS["commands"]
}


def command_of(app: App, words: Sequence[str]) -> tuple[App, list[str]]:
    """The command that words begin with, and its own words."""
    named: list[str] = []
    for word in words:
        if word.startswith("-") or word not in app:
            break
        app = app[word]
        named.append(word)
    return app, named


#: Arguments whose option has another name: a score is one kind of what a judge's output is read as.
CALLED = {"unscored": "unparsed"}


def in_options(problems: Sequence[Problem], app: App, tokens: Sequence[str]) -> list[str]:
    """The problems, with options named where they name arguments: ``--judge`` for ``judges=``."""
    step, _ = command_of(app, tokens)
    known = step.default_command is not None
    arguments = step.assemble_argument_collection(parse_docstring=False) if known else ()
    names = [argument.name for argument in arguments]
    options = {name.removeprefix("--").replace("-", "_"): name for name in names}

    def spelled(name: str, value: str) -> str:
        name = CALLED.get(name, name)
        single = name if value[:1] in set("[-0123456789") else name.removesuffix("s")
        option = options.get(name) or options.get(single)
        try:
            given = ast.literal_eval(value or "[]")
        except (SyntaxError, ValueError):
            return ""
        values = [str(each) for each in (given if isinstance(given, list) else [given])]
        return (shlex.join(as_words(option, values)) or option) if option else ""

    return [problem.in_words(spelled) for problem in problems]


def build_app(tokens: Sequence[str], *, every: bool = False) -> App:
    """The app with the command that is called; the others are their lines in the help."""
    app = App(
        name="bayesjudge",
        help="From the verdicts of an LLM judge and a few human labels to numbers with honest "
        "intervals.\n\nStart with `bayesjudge demo`, or on your own with `bayesjudge doctor FILE`.",
        help_format="markdown",
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, line in COMMANDS.items():
        if every or list(tokens[:1]) == [name]:
            app.command(f"bayesjudge.cli.{name}:{name}", name=name)
        else:
            app.command(App(name=name, help=line))
    return app
