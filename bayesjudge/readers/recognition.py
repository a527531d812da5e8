"""Which tool wrote a log: `read_log` asks the reader of each format, other packages' too."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from bayesjudge.core.errors import InputError, expect, problem
from bayesjudge.readers.files import File
from bayesjudge.readers.formats import FORMATS
from bayesjudge.readers.log import Grade, Log, Notes, log_of

#: Entry points of this group name readers of other packages.
GROUP = "bayesjudge.readers"


class Format(Protocol):
    """A reader of one format: a module, or an object that an entry point names."""

    NAME: str

    def recognise(self, file: File) -> bool:
        """Whether the file is of this format, by its first bytes or members."""
        ...

    def read(self, file: File, notes: Notes) -> Iterable[Grade]:
        """All grades."""
        ...


def read_log(path: str | Path, tool: str | None = None) -> Log:
    """Read an evaluation log of any tool that is known.

    Parameters
    ----------
    path : str or pathlib.Path
        A log as the tool wrote it: Inspect (``.eval``, ``.json``), lm-eval samples, promptfoo,
        DeepEval, MLflow, Phoenix, LangSmith, Langfuse, OpenAI Evals, alpaca_eval, arena-hard,
        MT-bench, or of a reader that another package adds (entry point ``bayesjudge.readers``).
    tool : str, optional
        Which of these, if its contents do not tell.

    Returns
    -------
    Log
        Its grades, and what was left out.

    Raises
    ------
    InputError
        If it is broken, or none of these.
    """
    file = File(path)
    chosen = _format_of(file, tool)
    if chosen is None:
        raise InputError(str(path), [problem("no-log", what=", ".join(sorted(formats())))])
    return read_as(chosen, file)


def recognise(file: File) -> Format | None:
    """Which format a file is of; None if it is no log."""
    return _format_of(file, None)


def _format_of(file: File, tool: str | None) -> Format | None:
    known = formats()
    if tool is not None:
        expect("tool", tool in known, f"no reader of {tool!r}; there are {sorted(known)}")
        return known[tool]
    for known_format in known.values():
        if known_format.recognise(file):
            return known_format
    return None


def read_as(chosen: Format, file: File) -> Log:
    """Read a file as one format; what a reader trips over is the file's fault, in words."""
    notes = Notes()
    try:
        grades = list(chosen.read(file, notes))
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError) as error:
        message = f"{type(error).__name__} {str(error)[:200]}"
        problem = f"is not as {chosen.NAME} writes it: {message}"
        raise InputError(file.name, [problem]) from error
    return log_of(chosen.NAME, file.name, grades, notes)


def formats() -> dict[str, Format]:
    """All readers by name: the package's own, then those of other packages."""
    by_name: dict[str, Format] = {known.NAME: known for known in FORMATS}
    for added in _added():
        by_name.setdefault(added.NAME, added)
    return by_name


@cache
def _added() -> tuple[Format, ...]:
    """Readers of other packages: looking for entry points takes longer than reading a log."""
    return tuple(point.load()() for point in entry_points(group=GROUP))
