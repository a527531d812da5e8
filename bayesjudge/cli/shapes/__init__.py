"""Shapes of tables, a file each: which lines of the command line answer which question with one.

Each module here with a function `matches` is a shape: of a `Table` it gives readings, questions and
what is lacking. `doctor` sorts and runs them. A new shape is a new file.
"""

from __future__ import annotations

import pkgutil
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from bayesjudge.cli.shapes.table import Asked, Table
from bayesjudge.core.screen import as_words
from bayesjudge.core.words import words_in

_QUESTIONS = words_in("bayesjudge.cli")["questions"]
#: Questions by the command that answers them, in the order of the screen, and in few words.
WANTED: dict[str, str] = _QUESTIONS["wanted"]
BRIEFLY: dict[str, str] = WANTED | _QUESTIONS["briefly"]
#: What a question needs.
NEEDS: dict[str, str] = _QUESTIONS["needs"]
#: Options that take one value each time they are given.
REPEATED = {"--people", "--judge", "--winner", "--tie-value", "--recode"}


@dataclass(frozen=True)
class Line:
    """A line of the command line: the command, the file and its options with their values."""

    command: str
    path: str
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: The file that is compared with it, if there is one.
    other: str = ""

    def __contains__(self, option: str) -> bool:
        return option in self.options

    def __str__(self) -> str:
        return shlex.join(["bayesjudge", *self.words])

    @property
    def words(self) -> list[str]:
        """What follows ``bayesjudge``."""
        words = [*self.command.split(), self.path, *([self.other] if self.other else [])]
        for name, values in self.options.items():
            each = [[part] for part in values] if name in REPEATED else [values]
            words += [word for value in each for word in as_words(name, value) or [name]]
        return words

    def plus(self, more: Mapping[str, Sequence[str]]) -> Line:
        """The line with more options."""
        return replace(self, options={**self.options, **more})

    def in_python(self, what: str) -> list[tuple[str, str]]:
        """Python that draws rows of a pandas frame, and that reads `what` people said of them."""
        named = {name[2:].replace("-", "_"): values for name, values in self.options.items()}
        given: dict[str, Any] = {name: each for name, each in named.items() if name != "labels"}
        for name, values in given.items():
            if name.endswith("scale"):
                given[name] = tuple(map(float, values[0].split(":")))
            elif name != "classes" and len(values) == 1:
                given[name] = values[0]
        call = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return [
            ("Draw rows at random:", "labels = table.sample(20, random_state=1)"),
            (
                f"Give them a column, labels['truth'], with {what}, then run:",
                f"bj.ask(bj.read(table.join(labels['truth']), {call}))",
            ),
        ]


@dataclass(frozen=True)
class Reading:
    """A line that may answer a question of a table, and why it is proposed."""

    line: Line
    question: str = ""
    #: How sure it is that the line is of this table, from 0 to 1.
    score: float = 0.5
    reasons: Sequence[str] = ()
    #: What to tell if the line runs: guesses that it rests on.
    notes: Sequence[str] = ()
    #: Endings, tried in turn until the line runs.
    ways: Sequence[Mapping[str, Sequence[str]]] = ({},)
    #: What must be so for the line to be right, if only who made the table knows.
    condition: str = ""
    #: What is told with an ending, by its first word.
    note_of_way: Mapping[str, str] = field(default_factory=dict)
    #: Whether the line of the gate follows.
    gate: bool = False
    #: What a line says more that takes all systems together; None if there must be none.
    together: Mapping[str, Sequence[str]] | None = None
    #: Name of the shape that proposes it.
    shape: str = ""

    def __str__(self) -> str:
        return f"{self.question}\n  {self.line}"

    def asks(self, question: str) -> str:
        """A question, after what must be so."""
        condition = self.condition
        return f"{condition}: {question[0].lower()}{question[1:]}" if condition else question


@dataclass(frozen=True)
class Lacking:
    """What a command needs that the table does not have."""

    command: str
    why: str
    #: Whether people's labels are what it needs, and `why` says where they may be.
    more: bool = False


@dataclass(frozen=True)
class Noted:
    """What a table holds, or what is odd about it."""

    text: str
    odd: bool = False


@dataclass(frozen=True)
class Labelling:
    """Two lines that add people's labels: one draws items into a sheet, one reads what they say."""

    draw: Line
    read: Line
    #: What a person may write, and how to say it.
    said: Sequence[str]
    what: str = ""


Match = Reading | Lacking | Noted | Asked | Labelling


def shapes() -> list[str]:
    """Names of the modules that are shapes."""
    return [m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("of_")]


def matches(table: Table) -> Iterator[Match]:
    """What each shape finds in a table; one that fails says so, and the others go on.

    Verdicts that say which of two answers won are no verdicts on one output.
    """
    every = [*_matches(table)]
    battles = any(isinstance(m, Reading) and m.line.command == OF_PAIRS for m in every)
    for match in every:
        single = isinstance(match, Reading) and match.line.command not in (OF_PAIRS, "bias orders")
        if not (battles and (single or isinstance(match, Labelling))):
            yield match


def of_shape(match: Match, name: str) -> Match:
    """The match, which knows what proposes it."""
    return replace(match, shape=name) if isinstance(match, Reading) else match


#: The command whose verdicts are on two answers.
OF_PAIRS = "leaderboard"


def _matches(table: Table) -> Iterator[Match]:
    for name in shapes():
        try:
            for match in import_module(f"{__name__}.{name}").matches(table):
                yield of_shape(match, name)
        except Exception as error:  # a fault of ours: other shapes may answer
            yield Noted(f"{name} could not look: {type(error).__name__}: {error}", odd=True)
