"""Run the tasks of a study: in parallel, with seeds of their own, from where it stopped.

A task's seed depends on the study's seed and the task's number only, so that the results are the
same for any number of workers and any interruption.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.lab.stored import Task, line_of, open_study, write_study

_held: list[Callable[[Task], Any]] = []


def seed_of(random_seed: int, *task: int) -> np.random.SeedSequence:
    """Give a task its own source of randomness.

    Parameters
    ----------
    random_seed : int
        Of the study.
    *task : int
        Numbers that tell the task from others.

    Returns
    -------
    numpy.random.SeedSequence
        What ``SeedSequence(random_seed).spawn`` would give to that child.
    """
    return np.random.SeedSequence(random_seed, spawn_key=task)


def run(
    work: Callable[[Task], Any],
    tasks: Sequence[Task],
    header: Mapping[str, Any],
    *,
    path: str | Path | None = None,
    workers: int | None = None,
    resume: bool = True,
    progress: bool | None = None,
) -> list[Any]:
    """Do every task that is not done.

    Parameters
    ----------
    work : callable
        From a task to its result: numbers, text, lists and dictionaries. With several workers it
        must be known to other processes, so nothing defined inside a function.
    tasks : sequence of tuple of int
        What to do.
    header : mapping
        What the study is; see `bayesjudge.lab.stored`.
    path : str or pathlib.Path, optional
        File to keep results in, and to continue. Nothing is kept by default.
    workers : int, optional
        Processes; as many as there are cores by default. Each compiles its model once.
    resume : bool, default True
        Continue the file, rather than start over.
    progress : bool, optional
        Show progress; by default in a terminal only.

    Returns
    -------
    list
        Results in the order of `tasks`.

    Raises
    ------
    InputError
        Where the file holds another study, `workers` is below 1, or `work` cannot be sent to
        another process.
    """
    count = min(_cores() if workers is None else workers, max(len(tasks), 1))
    with checking("lab") as require:
        require(count >= 1, f"workers must be 1 or more, got {workers}")
        if count > 1:
            try:
                pickle.dumps(work)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                advice = "define functions at the top level of a module, or pass workers=1"
                require(False, f"cannot be sent to other processes ({error}); {advice}")
    file = None if path is None else Path(path)
    done = {} if file is None else open_study(file, header, resume)
    missing = [task for task in tasks if task not in done]
    finished = _alone(work, missing) if count == 1 else _together(work, missing, count)
    with (
        _progress(progress, str(header["kind"]), len(tasks), len(tasks) - len(missing)) as advance,
        nullcontext() if file is None else file.open("a", encoding="utf-8") as stream,
    ):
        for task, result in finished:
            done[task] = result
            _note(stream, task, result)
            advance()
    if file is not None and missing:
        write_study(file, header, done)
    return [done[task] for task in tasks]


def _note(stream: TextIO | None, task: Task, result: Any) -> None:
    if stream is not None:
        stream.write(line_of(task, result) + "\n")
        stream.flush()


def _alone(work: Callable[[Task], Any], tasks: Sequence[Task]) -> Iterator[tuple[Task, Any]]:
    for task in tasks:
        yield task, work(task)


def _together(
    work: Callable[[Task], Any], tasks: Sequence[Task], workers: int
) -> Iterator[tuple[Task, Any]]:
    """Fresh processes rather than forked ones, since samplers and thread pools do not fork."""
    if not tasks:
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _hold, (work,))
    try:
        with _one_thread_each():
            futures = {pool.submit(_work, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes started inside: matrix products that spread over all cores would fight."""
    names = [f"{library}_NUM_THREADS" for library in ("MKL", "OMP", "OPENBLAS")]
    mine = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(mine, "1"))
    try:
        yield
    finally:
        for name in mine:
            del os.environ[name]


def _hold(work: Callable[[Task], Any]) -> None:
    _held[:] = [work]
    # a parent that is killed cannot send them home: without this they would wait for ever
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: Task) -> Any:
    return _held[0](task)


def _cores() -> int:
    # what this process may use, where Python (3.13) and the system can tell
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1


@contextmanager
def _progress(
    show: bool | None, what: str, total: int, already: int
) -> Iterator[Callable[[], None]]:
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=already)
        yield lambda: bar.advance(task)
