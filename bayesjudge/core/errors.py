"""What the package raises, and how it words it.

A message names the value at fault, what was expected, and what to do next.
All the problems of one input are raised together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bayesjudge.core.words import sentence, sentences

#: An argument in a sentence: its name, and the value that is proposed for it.
ARGUMENT = re.compile(
    r"""\b([a-z_]\w*)=(\[[^][]*\]|'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|(?=[,) ]|$))"""
    r"(?:(?<=\]),(?= \w+=\[))?"
)


@dataclass(frozen=True)
class Problem:
    """What is wrong with one input: a sentence for people, and fields by which code decides.

    Parameters
    ----------
    sentence : str
        The value at fault, what was expected, and what to do next.
    id : str
        What kind of problem it is, such as ``"no-column"``; empty if no code asks.
    argument : str
        The argument at fault.
    value : object
        What was given, or found: the column that is not there, the labels that nobody knows.
    known : sequence of str
        What could have been given.
    predicate : bool
        Whether the sentence begins after the argument's name, and ends before the value.
    numbers : mapping, optional
        What stands in the sentence of its id in ``words.toml``.
    """

    sentence: str = ""
    id: str = ""
    argument: str = ""
    value: Any = field(default=None, hash=False)
    known: tuple[str, ...] = ()
    predicate: bool = False
    numbers: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, spelled: Callable[[str, str], str] = lambda name, value: "") -> str:
        """The whole sentence, with arguments as they are spelled where it is read.

        A sentence is a template, whose arguments stand in it as Python has them: ``item=``,
        ``unparsed='drop'``, ``judges=['a', 'b']``, ``kept=5``; the one of a predicate is before it.
        ``spelled(name, value)`` writes them, or nothing where they stay as they are.
        """
        if not self.sentence:
            text = sentence("problems", self.id, "", self.numbers)
        elif self.predicate:
            shown = repr(self.value) if isinstance(self.value, str) else self.value
            text = f"{spelled(self.argument, '') or self.argument} {self.sentence}, got {shown}"
        else:
            text = self.sentence
        return ARGUMENT.sub(lambda mark: spelled(mark[1], mark[2]) or mark[0], text)

    def of(self, name: object) -> Problem:
        """The same problem, of one of several things that are named."""
        return replace(self, sentence=f"{name}: {self}", predicate=False)


def problem(id: str, /, **numbers: Any) -> Problem:
    """A problem whose sentence is the one of its id in ``words.toml``."""
    return Problem(id=id, numbers=numbers)


class InputError(ValueError):
    """Data or an argument that no estimator can use.

    Parameters
    ----------
    subject : str
        What was being read, for example ``"prevalence.Counts"``.
    problems : list of Problem
        In the order found; a plain sentence is a problem without an id.
    """

    def __init__(self, subject: str, problems: Iterable[str | Problem]):
        self.subject = subject
        self.problems = [p if isinstance(p, Problem) else Problem(p) for p in problems]
        super().__init__(subject, self.problems)

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}"

    @property
    def message(self) -> str:
        """All problems in one line."""
        return "; ".join(map(str, self.problems))

    def has(self, *ids: str, value: Any = None) -> bool:
        """Whether a problem has one of these ids, and is about `value` if that is given.

        Parameters
        ----------
        *ids : str
            Kinds of problems.
        value : object, optional
            What must be at fault.

        Returns
        -------
        bool
            Whether there is such a problem.
        """
        return any(value is None or p.value == value for p in self.problems if p.id in ids)


class UninformativeJudgeError(InputError):
    """The judge is no better than chance, so a closed form cannot be inverted.

    Parameters
    ----------
    subject : str
        What was being computed.
    problems : list of Problem
        As of `InputError`.
    """


class ConvergenceError(RuntimeError):
    """The sampler did not converge, and ``strict=True`` asked for an error."""


class ConvergenceWarning(UserWarning):
    """The sampler did not converge; the fit carries the same words as a caution."""


class Require(Protocol):
    """Notes a problem unless all is well: ``require(n > 0, "must be positive", n=n)``.

    The problem is an id of ``words.toml``, with what stands in its sentence; or what an argument
    must be, with what was given; or a whole sentence, which may have an id.
    """

    def __call__(self, ok: object, problem: str | Problem, id: str = "", /, **given: Any) -> None:
        """Note a problem unless what is asked is true."""


@contextmanager
def checking(subject: str) -> Iterator[Require]:
    """Collect problems inside the block and raise them together, at its end or with its error."""
    problems: list[str | Problem] = []

    def require(ok: object, problem: str | Problem, id: str = "", /, **given: Any) -> None:
        if ok:
            return
        if isinstance(problem, str) and problem in sentences("problems"):
            problem = Problem(id=problem, numbers=given)
        elif isinstance(problem, str):
            argument, value = next(iter(given.items()), ("", None))
            problem = Problem(problem, id, argument, value, predicate=bool(given))
        problems.append(problem)

    try:
        yield require
    except InputError as error:
        if problems:
            if error.subject != subject:
                error.problems = [problem.of(error.subject) for problem in error.problems]
            error.subject, error.problems[:0] = subject, InputError(subject, problems).problems
        raise
    if problems:
        raise InputError(subject, problems)


def expect(subject: str, ok: object, problem: str | Problem, id: str = "", /, **given: Any) -> None:
    """Raise the one problem that a subject can have here, where it is not in order."""
    with checking(subject) as require:
        require(ok, problem, id, **given)


def check_several(**given: Any) -> tuple[Any, ...]:
    """Return the values of an argument that takes several, or raise where it is one number."""
    ((name, value),) = given.items()
    expect("arguments", isinstance(value, Iterable), "must be a list", **{name: value})
    return tuple(value)


def check_by_name(*kinds: type, **given: Any) -> Mapping[str, Any]:
    """Return a dict that gives something of these kinds for each name, or raise."""
    ((name, value),) = given.items()
    wanted = " or ".join(kind.__name__ for kind in kinds)
    got = value if isinstance(value, str) else type(value).__name__
    ok = isinstance(value, Mapping)
    if ok:
        odd = {key: type(x).__name__ for key, x in value.items() if not isinstance(x, kinds)}
        ok, got = not odd, str(odd)
    expect("arguments", ok, f"must be a dict of {wanted} by name", "by-name", **{name: got})
    return value


def check_ci_prob(ci_prob: float) -> float:
    """Return `ci_prob`, or raise where it is not a probability inside (0, 1)."""
    words = "must lie strictly between 0 and 1 (write 95 % as 0.95)"
    expect("arguments", 0 < ci_prob < 1, words, "no-probability", ci_prob=ci_prob)
    return ci_prob
