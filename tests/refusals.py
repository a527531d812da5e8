"""What is refused, by its fields and by what it names: sentences may change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

import bayesjudge as bj


@contextmanager
def refused(
    *named: str | float, subject: str | None = None, id: str | None = None, **given: Any
) -> Iterator[pytest.ExceptionInfo[bj.InputError]]:
    """Expect an `InputError` of a subject, or with a problem of an id, that names some values.

    A text that ends in ``=`` is an argument; another is quoted in the message, as a value is.
    What was `given` is a problem's argument with its value, or a number of its sentence.
    """
    with pytest.raises(bj.InputError) as caught:
        yield caught
    _hold(caught.value, named, subject, id, given)


@contextmanager
def command_refused(
    *named: str | float, subject: str | None = None, id: str | None = None, **given: Any
) -> Iterator[None]:
    """Expect that a command words one `InputError` for the screen, as `refused` does in Python."""
    from bayesjudge.cli import app

    worded = []

    def noting(error: bj.InputError, *rest: Any) -> str:
        worded.append(error)
        return in_words(error, *rest)

    in_words = app._problems
    with patch.object(app, "_problems", noting):
        yield
    (error,) = worded
    _hold(error, named, subject, id, given)


def _hold(
    error: bj.InputError,
    named: tuple[str | float, ...],
    subject: str | None,
    id: str | None,
    given: dict[str, Any],
) -> None:
    """Hold an error against what is expected of it."""
    assert subject in (None, error.subject), error
    assert id is None or error.has(id), error
    fields = [(problem.argument, problem.value) for problem in error.problems]
    fields += [field for problem in error.problems for field in problem.numbers.items()]
    at_fault = {(name, str(value)) for name, value in fields}
    assert {(name, str(value)) for name, value in given.items()} <= at_fault, error.problems
    arguments = {f"{problem.argument}=" for problem in error.problems}
    for value in {*named} - arguments:
        assert re.search(_as_named(value), str(error)), f"{value!r} is not in: {error}"


def _as_named(value: str | float) -> str:
    """A pattern of a value in a message."""
    if isinstance(value, str):
        return re.escape(value if value.endswith("=") else repr(value))
    number = f"(?:{value:,}|{value})" if isinstance(value, int) else re.escape(f"{value:g}")
    return rf"(?<![\w.]){number}(?!\w)"
