"""What is refused, by its fields and by what it names: sentences may change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import bayesjudge as bj


@contextmanager
def refused(
    *named: str | float, subject: str | None = None, id: str | None = None
) -> Iterator[pytest.ExceptionInfo[bj.InputError]]:
    """Expect an `InputError` of a subject, or with a problem of an id, that names some values.

    A text that ends in ``=`` is an argument; another is quoted in the message, as a value is.
    """
    with pytest.raises(bj.InputError) as caught:
        yield caught
    error = caught.value
    assert subject in (None, error.subject), error
    assert id is None or error.has(id), error
    for value in named:
        assert re.search(_as_named(value), str(error)), f"{value!r} is not in: {error}"


def _as_named(value: str | float) -> str:
    """A pattern of a value in a message."""
    if isinstance(value, str):
        return re.escape(value if value.endswith("=") else repr(value))
    number = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return rf"(?<![\w.]){re.escape(number)}(?!\w)"
