"""One file a study: a header that says what was asked, then one line for each finished task.

JSON lines can be appended to, so that an interrupted study loses only what was in the making. The
header describes every function and setting in words, with a checksum of their source code: results
of different code are never mixed in one file.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking

FORMAT = "bayesjudge.lab 1"
#: What must be the same for a study to be continued.
IDENTITY = ("format", "kind", "random_seed", "study", "code")
CORE = Path(__file__).parents[1] / "core"

Task = tuple[int, ...]


def header_of(kind: str, random_seed: int, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Say in words what a study does.

    Parameters
    ----------
    kind : {"sbc", "coverage"}
        What sort of study.
    random_seed : int
        Its seed.
    parts : mapping
        Functions and settings by name.

    Returns
    -------
    dict
        Goes on the first line of the file.
    """
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
    """Name a function, or write out a value, the same way in every process.

    Parameters
    ----------
    thing : object
        A function, `functools.partial`, dataclass, container or value.
    modules : set of str
        Gets the names of the modules whose code `thing` stands for.

    Returns
    -------
    str
        Without memory addresses.
    """
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
    """Read what is done, or begin a file.

    Parameters
    ----------
    path : pathlib.Path
        Of the study.
    header : mapping
        What is asked now.
    resume : bool
        Continue a file that is there, rather than replace it.

    Returns
    -------
    dict
        Finished results by task.

    Raises
    ------
    InputError
        Where the file holds another study.
    """
    done: dict[Task, Any] = {}
    if resume and path.exists():
        found, done = read_study(path)
        with checking(f"study in {path}") as require:
            for key in IDENTITY:
                require(
                    found.get(key) == header[key],
                    f"the file was made with other {key}: {_differing(found.get(key), header[key])}"
                    "; take another path, or resume=False to start over",
                )
    write_study(path, header, done)
    return done


def read_study(path: str | Path) -> tuple[dict[str, Any], dict[Task, Any]]:
    """Read header and results.

    Parameters
    ----------
    path : str or pathlib.Path
        Written by a study. A last line that was cut off is left out.

    Returns
    -------
    header : dict
        What was asked.
    results : dict
        By task.

    Raises
    ------
    InputError
        Where it is not the file of a study.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    parsed = [_parsed(line) for line in lines]
    header = parsed[0] if parsed else None
    with checking(f"study in {path}") as require:
        made = isinstance(header, dict) and header.get("format") == FORMAT
        require(made, f"expected a first line with format {FORMAT!r}, which lab studies write")
        bad = [i + 1 for i, line in enumerate(parsed[:-1]) if line is None]
        require(not bad, f"lines {bad[:5]} cannot be read; start over with resume=False")
    results = {tuple(line["task"]): line["result"] for line in parsed[1:] if line is not None}
    return header or {}, results


def write_study(path: Path, header: Mapping[str, Any], results: Mapping[Task, Any]) -> None:
    """Write everything in the order of the tasks, replacing the file at one stroke.

    Parameters
    ----------
    path : pathlib.Path
        Its folder is made where it is missing.
    header : mapping
        First line.
    results : mapping
        One line a task.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    lines = [json.dumps(header), *(line_of(task, results[task]) for task in sorted(results))]
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(path)


def line_of(task: Task, result: Any) -> str:
    """Write one result as a line.

    Parameters
    ----------
    task : tuple of int
        Which one.
    result : object
        Numbers, text, lists and dictionaries.

    Returns
    -------
    str
        JSON, without a line break.
    """
    return json.dumps({"task": task, "result": result})


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def _differing(found: Any, asked: Any) -> str:
    if isinstance(found, dict) and isinstance(asked, dict):
        keys = [k for k in {**asked, **found} if found.get(k) != asked.get(k)]
        return ", ".join(f"{k} was {found.get(k)}, now {asked.get(k)}" for k in keys)
    return f"was {found!r}, now {asked!r}"


def _checksum_of(modules: Iterable[str]) -> str:
    """Checksum of the code behind a study: comments, docstrings and layout do not count.

    A module of this package counts with its whole folder but the plots, and with the core.
    """
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
