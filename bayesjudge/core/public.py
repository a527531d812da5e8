"""Public names of classes: what saved fits and reports call them, whatever file they live in."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from bayesjudge.core.errors import InputError


def public_name(kind: type) -> str:
    """Name a class as a user does: ``prevalence.Counts``, whatever file it is defined in."""
    for path, module in _public_modules(import_module("bayesjudge")):
        if kind.__name__ in module.__all__ and getattr(module, kind.__name__) is kind:
            return f"{path}{kind.__name__}"
    raise InputError(
        "Fit.save",
        [
            f"a {kind.__name__} is not a public class of bayesjudge, so no file can name it; fit "
            "with the package's own class"
        ],
    )


def _public_modules(module: ModuleType, path: str = "") -> Iterator[tuple[str, ModuleType]]:
    """Yield a module and those that it exports; one not imported yet has made no value."""
    yield path, module
    for name in module.__all__:
        inner = vars(module).get(name)
        if isinstance(inner, ModuleType):
            yield from _public_modules(inner, f"{path}{name}.")


def find_public(name: str) -> Any:
    """Look up what a file names, from one ``__all__`` to the next; nothing else is reached."""
    found: Any = import_module("bayesjudge")
    for part in name.split("."):
        exported = part in getattr(found, "__all__", ())
        if not exported:
            raise InputError("names", [f"{name!r} is not a public name of this bayesjudge"])
        found = getattr(found, part)
    return found
