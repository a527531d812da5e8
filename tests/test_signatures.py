"""Arguments and defaults of every public function, class and command are those of today.

A default that moves, or an argument that is renamed, is seen in review. Where it is meant:

    python tests/test_signatures.py
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

from commands import apps  # noqa: E402

import bayesjudge as bj  # noqa: E402

STORED = HERE / "signatures.txt"


def public(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """What a module and those below it export, and the methods of its classes."""
    for name in sorted(module.__all__):
        found = getattr(module, name)
        if id(found) in seen or name == "pass_share":  # the template that conftest.py adds
            continue
        seen.add(id(found))
        where = f"{module.__name__}.{name}"
        if inspect.ismodule(found):
            yield from public(found, seen)
        elif callable(found):
            yield where, found
        if inspect.isclass(found):
            for method in sorted(n for n in vars(found) if not n.startswith("_")):
                if callable(getattr(found, method)):
                    yield f"{where}.{method}", getattr(found, method)


def today() -> str:
    """A line for each."""
    lines = []
    for where, found in public(bj, set()):
        try:
            arguments = inspect.signature(found).parameters.values()
        except ValueError:  # of an exception
            continue
        lines.append(f"{where}({', '.join(map(_argument, arguments))})")
    for words, app in apps().items():
        options = app.assemble_argument_collection(parse_docstring=False)
        said = [_argument(one.field_info, one.names[0]) for one in options if one.names]
        lines.append(f"{words}: {', '.join(said)}")
    return "\n".join(lines) + "\n"


def _argument(argument: Any, name: str = "") -> str:
    default = argument.default
    if default is inspect.Parameter.empty:
        return name or str(argument.name)
    return f"{name or argument.name}={re.sub(r' at 0x[0-9a-f]+', '', repr(default))}"


def test_arguments_and_defaults_are_those_of_today():
    assert today().splitlines() == STORED.read_text().splitlines()


if __name__ == "__main__":
    STORED.write_text(today())
