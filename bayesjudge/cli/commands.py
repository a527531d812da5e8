"""The commands, and the app with the one that is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from cyclopts import App

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
