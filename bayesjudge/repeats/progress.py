"""How far a run has come, on a terminal or in a notebook only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class Counter:
    """Items settled, calls and cost, shown if there is a bar.

    Parameters
    ----------
    bar : rich.progress.Progress, optional
        Where to show them.
    task : object, optional
        The bar's task.
    stream : file object, optional
        Where to say what a bar does not show.
    """

    def __init__(self, bar: Any = None, task: Any = None, stream: TextIO | None = None):
        self._bar, self._task, self._stream = bar, task, stream

    def update(self, calls: int, cost: float) -> None:
        """Show calls and cost.

        Parameters
        ----------
        calls : int
            Attempts so far, of earlier runs too.
        cost : float
            As judges reported it.
        """
        if self._bar is not None:
            spent = f", cost {cost:.4g}" if cost else ""
            self._bar.update(self._task, description=f"items settled ({calls:,} calls{spent})")

    def stopping(self, in_flight: int, timeout: float) -> None:
        """Say why a run that was stopped does not end at once.

        Parameters
        ----------
        in_flight : int
            Calls that are waited for.
        timeout : float
            Seconds that they may take.
        """
        if self._stream is not None and in_flight:
            calls = "1 call" if in_flight == 1 else f"{in_flight} calls"
            print(
                f"stopping: {calls} in flight may take up to {timeout:g} s; the answers will be "
                "kept. Stop once more to give them up",
                file=self._stream,
            )

    def settled(self) -> None:
        """Count one item more."""
        if self._bar is not None:
            self._bar.advance(self._task)


@contextmanager
def showing(progress: bool | None, items: int) -> Iterator[Counter]:
    """Show a bar while the block runs.

    Parameters
    ----------
    progress : bool or None
        None shows it on a terminal and in a notebook.
    items : int
        How many there are to settle.

    Yields
    ------
    Counter
        To be told of progress.
    """
    quiet = progress is False
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not progress:
        yield Counter(stream=None if quiet else sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield Counter(bar, bar.add_task("items settled", total=items), sys.stderr)
