"""``bayesjudge explain``: what a word on the screen means."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Annotated

from cyclopts import App, Parameter

from bayesjudge.core.errors import InputError, problem
from bayesjudge.core.estimate import of_passes
from bayesjudge.core.screen import in_lines, width_of
from bayesjudge.core.words import glossary, words_for

#: Words beside quantities in tables, which explain those that the glossary has not.
QUANTITIES = ("of_bias", "of_judge", "of_counts", "of_items", "of_people")
#: What can be explained.
HEADINGS = {
    "terms": "Terms",
    "cautions": "Cautions",
    "assumptions": "Assumptions, as --json names them",
}
#: The number of tries of pass@k and pass^k.
TRIES = re.compile(r"(?<=^pass[@^])\d+(?=$|\s)")


def explain(*term: Annotated[str, Parameter(negative="", allow_leading_hyphen=True)]) -> None:
    """Say what a word on the screen means, or an option.

    ```
    bayesjudge explain label shift
    ```

    Parameters
    ----------
    term : str
        The word, in quotes or not; all words, cautions and assumptions if none is given.

    Raises
    ------
    InputError
        If the word is not known.
    """
    width = min(width_of(sys.stdout) - 1, 110)
    if not term:
        for kind, heading in HEADINGS.items():
            print(heading)
            for name, text in sorted(glossary(kind).items()):
                print("\n".join(in_lines(f"  {name}: {text}", width, later=" " * 6)))
        return
    asked = " ".join(term)
    entry = meaning(asked)
    options = [] if entry else _options(f"--{spelled(asked.lstrip('-')).replace(' ', '-')}")
    for text, commands in options:
        print("\n".join(in_lines(f"{asked} (option of {', '.join(commands)}): {text}", width)))
    if options:
        return
    if entry is None:
        every = [name for kind in HEADINGS for name in glossary(kind)]
        known = get_close_matches(spelled(asked), every, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(known)}?" if known else "bayesjudge explain lists all"
        raise InputError("explain", [problem("not-explained", asked=asked, hint=hint)])
    print("\n".join(in_lines(f"{asked}: {entry}", width)))


def _options(name: str) -> list[tuple[str, list[str]]]:
    """What the help says of an option, and the commands that say so."""
    from bayesjudge.cli.commands import build_app

    commands_by_text: dict[str, list[str]] = {}
    for words, command in steps(build_app([], every=True)):
        for option in command.assemble_argument_collection(parse_docstring=True):
            if name in option.names and option.parameter.help:
                commands_by_text.setdefault(str(option.parameter.help), []).append(" ".join(words))
    return [*commands_by_text.items()]


def steps(app: App, *before: str) -> Iterator[tuple[tuple[str, ...], App]]:
    """Every command of an app by its words, those of a group too."""
    for name in app:
        if not name.startswith("-"):
            yield from steps(app[name], *before, name)
    if before and app.default_command is not None:
        yield before, app


def spelled(term: str) -> str:
    """A term as the glossary has it."""
    return " ".join(term.strip().lower().replace("_", " ").split())


@cache
def entries() -> dict[str, str]:
    """What each word of the glossary and of the tables means, by its spelling."""
    known: dict[str, str] = {}
    for table in QUANTITIES:
        words = words_for(table).items()
        known |= {name: of_passes(f"{text[0].upper()}{text[1:]}.") for name, text in words}
    known |= glossary("assumptions") | glossary("cautions") | glossary("terms")
    by_name = {spelled(name): text for name, text in known.items()}
    for name, shown in words_for("quantities").items():  # as tables have them
        inside = re.search(r"\((pass.k)\)$|(pass.k)$", shown)
        text = by_name.get(spelled(inside[0].strip("()") if inside else name))
        by_name |= {spelled(shown): text} if text and spelled(shown) not in by_name else {}
    return by_name


def meaning(term: str) -> str | None:
    """What a term means; also of a name that begins with a term, such as ``Voting: most``.

    Also of several (``votes``), and of a model as Python names it (``VoteRegression``).
    """
    by_name = entries()
    term = TRIES.sub("k", term)
    apart = spelled(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", term))
    for plain in dict.fromkeys((spelled(term), apart, apart.replace(" ", "-"))):
        starts = [plain[:i] for i, letter in enumerate(plain) if letter in ",:; "]
        for name in (plain, plain.removesuffix("s"), *reversed(starts)):
            if name in by_name:
                return by_name[name]
    return None
