"""The one progress bar: on stderr, on a terminal or in a notebook unless told otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


class Progress:
    """What a long job reports to: does nothing if no bar is shown."""

    def __init__(self, bar: Any = None, task: Any = None):
        self._bar, self._task = bar, task

    @property
    def shown(self) -> bool:
        """Whether anybody sees it."""
        return self._bar is not None

    def advance(self, steps: int = 1) -> None:
        """Count steps as done."""
        if self._bar is not None:
            self._bar.advance(self._task, steps)

    def update(
        self, description: str | None = None, *, done: int | None = None, total: int | None = None
    ) -> None:
        """Change the words, the steps done or their total."""
        if self._bar is not None:
            self._bar.update(self._task, description=description, completed=done, total=total)


def in_notebook() -> bool:
    """Whether the code runs in a notebook: its kernel's shell is a ZMQ one."""
    ipython = sys.modules.get("IPython")  # if nobody imported it, no kernel runs
    shell = None if ipython is None else ipython.get_ipython()
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)


@contextmanager
def progress(
    show: bool | None,
    description: str,
    *,
    total: int | None = None,
    done: int = 0,
    keep: bool = False,
) -> Iterator[Progress]:
    """Show a bar while the block runs, and after it if `keep`; without a total it only moves."""
    notebook = in_notebook()
    if show is None:
        show = notebook or sys.stderr.isatty()
    # without widgets rich draws nothing in a notebook, and warns at every step instead
    if not show or (notebook and find_spec("ipywidgets") is None):
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=not keep) as bar:
        yield Progress(bar, bar.add_task(description, total=total, completed=done))
