"""Run the tasks of a study: in parallel, with seeds of their own, from where it stopped.

A task's seed depends on the study's seed and the task's number only, so that the results are the
same for any number of workers and any interruption.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import os
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.progress import progress as progress_bar

_held: list[Callable[[Task], Any]] = []


def seed_of(random_seed: int, *task: int) -> np.random.SeedSequence:
    """Give a task its own source of randomness."""
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
    """Do every task that is not done."""
    count = min(_cores() if workers is None else workers, max(len(tasks), 1))
    with checking("lab") as require:
        require(count >= 1, "must be 1 or more", workers=workers)
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
        progress_bar(progress, str(header["kind"]), total=len(tasks), done=len(done)) as bar,
        nullcontext() if file is None else file.open("a", encoding="utf-8") as stream,
    ):
        for task, result in finished:
            done[task] = result
            _note(stream, task, result)
            bar.advance()
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


FORMAT = "bayesjudge.lab 1"
#: What must be the same for a study to be continued.
IDENTITY = ("format", "kind", "random_seed", "study", "code")
CORE = Path(__file__).parents[1] / "core"

Task = tuple[int, ...]


def header_of(kind: str, random_seed: int, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Say in words what a study does."""
    modules: set[str] = set()
    study = {name: describe(part, modules) for name, part in parts.items()}
    return {
        "format": FORMAT,
        "kind": kind,
        "random_seed": random_seed,
        "study": study,
        "code": _checksum_of(modules),
        "versions": {name: version(name) for name in ("bayesjudge", "nutpie", "numpy", "pymc")},
    }


def describe(thing: Any, modules: set[str]) -> str:
    """Name a function, or write out a value, the same way in every process."""
    if isinstance(thing, functools.partial):
        given = [describe(value, modules) for value in thing.args]
        given += [f"{key}={describe(value, modules)}" for key, value in thing.keywords.items()]
        return f"{describe(thing.func, modules)}({', '.join(given)})"
    if inspect.ismethod(thing):
        return f"{describe(thing.__self__, modules)}.{thing.__name__}"
    if inspect.isroutine(thing) or inspect.isclass(thing):
        modules.add(thing.__module__ or "")
        where = "" if thing.__module__ == "__main__" else f"{thing.__module__}."
        return f"{where}{thing.__qualname__}"
    if is_dataclass(thing):
        each = [f"{f.name}={describe(getattr(thing, f.name), modules)}" for f in fields(thing)]
        return f"{describe(type(thing), modules)}({', '.join(each)})"
    if isinstance(thing, Mapping):
        pairs = [f"{key!r}: {describe(value, modules)}" for key, value in thing.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(thing, list | tuple):
        return "[" + ", ".join(describe(value, modules) for value in thing) + "]"
    if isinstance(thing, np.ndarray):
        return f"array({thing.tolist()})"
    text = repr(thing.item() if isinstance(thing, np.generic) else thing)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def open_study(path: Path, header: Mapping[str, Any], resume: bool) -> dict[Task, Any]:
    """Read what is done, or begin a file."""
    done: dict[Task, Any] = {}
    if resume and path.exists():
        stored, done = read_study(path)
        with checking(f"study in {path}") as require:
            for key in IDENTITY:
                before, now = stored.get(key), header[key]
                require(before == now, "other-study", key=key, changed=_differing(before, now))
    write_study(path, header, done)
    return done


def read_study(path: str | Path) -> tuple[dict[str, Any], dict[Task, Any]]:
    """Read header and results."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    parsed = [_parsed(line) for line in lines]
    header = parsed[0] if parsed else None
    with checking(f"study in {path}") as require:
        is_header = isinstance(header, dict) and header.get("format") == FORMAT
        require(is_header, f"expected a first line with format {FORMAT!r}, which lab studies write")
        bad = [i + 1 for i, line in enumerate(parsed[:-1]) if line is None]
        require(not bad, f"lines {bad[:5]} cannot be read; start over with resume=False")
    results = {tuple(line["task"]): line["result"] for line in parsed[1:] if line is not None}
    return header or {}, results


def write_study(path: Path, header: Mapping[str, Any], results: Mapping[Task, Any]) -> None:
    """Write everything in the order of the tasks, replacing the file at one stroke."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    lines = [json.dumps(header), *(line_of(task, results[task]) for task in sorted(results))]
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(path)


def line_of(task: Task, result: Any) -> str:
    """Write one result as a line."""
    return json.dumps({"task": task, "result": result})


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def _differing(stored: Any, asked: Any) -> str:
    if isinstance(stored, dict) and isinstance(asked, dict):
        keys = [k for k in {**asked, **stored} if stored.get(k) != asked.get(k)]
        return ", ".join(f"{k} was {stored.get(k)}, now {asked.get(k)}" for k in keys)
    return f"was {stored!r}, now {asked!r}"


def _checksum_of(modules: Iterable[str]) -> str:
    """Checksum of the code behind a study: comments, docstrings and layout do not count."""
    files: set[Path] = set()
    for name in modules:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None or not file.endswith(".py"):
            continue
        inside = name.startswith("bayesjudge.")
        files |= {*Path(file).parent.glob("*.py"), *CORE.glob("*.py")} if inside else {Path(file)}
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.parts[-2:]):
        if path.name != "plots.py":
            digest.update(_code_of(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:16]


@functools.cache
def _code_of(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                del body[0]
    return ast.dump(tree)
