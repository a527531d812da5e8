"""The command line that runs, which pages and Markdown name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

_CALLED: ContextVar[tuple[str, ...]] = ContextVar("called", default=())


def note_call(tokens: Sequence[str]) -> None:
    """Remember what follows ``bayesjudge``."""
    _CALLED.set(tuple(tokens))


def called(command: str) -> str:
    """The command line as a shell takes it; the command's name if there is none."""
    return shlex.join(["bayesjudge", *(_CALLED.get() or command.split())])
