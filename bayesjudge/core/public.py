"""Public names of classes: what saved fits and reports call them, whatever file they live in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from bayesjudge.core.errors import InputError, expect


def public_name(kind: type) -> str:
    """Name a class as a user does: ``prevalence.Counts``, whatever file it is defined in.

    A user's own is ``module:Class``.
    """
    for path, module in _public_modules(import_module("bayesjudge")):
        if kind.__name__ in module.__all__ and getattr(module, kind.__name__) is kind:
            return f"{path}{kind.__name__}"
    return f"{kind.__module__}:{kind.__qualname__}"


def stored_name(kind: type) -> str:
    """The public name, by which `find_public` finds the class again."""
    name = public_name(kind)
    foreign = kind.__module__.partition(".")[0] != "bayesjudge"
    nameable = ":" not in name or (foreign and _loaded(name) is kind)
    expect("Fit.save", nameable, "no-name-in-a-file", name=name)
    return name


def _public_modules(module: ModuleType, path: str = "") -> Iterator[tuple[str, ModuleType]]:
    """Yield a module and those that it exports; one not imported yet has made no value."""
    yield path, module
    for name in module.__all__:
        inner = vars(module).get(name)
        if isinstance(inner, ModuleType):
            yield from _public_modules(inner, f"{path}{name}.")


def find_public(name: str) -> Any:
    """Look up what a file names, from one ``__all__`` to the next, or a user's loaded class.

    No module is imported, which would run code that a file names.
    """
    if ":" in name:
        target: Any = _loaded(name)
        module, _, kind = name.partition(":")
        expect("names", target is not None, "no-class", kind=kind, module=module)
        return target
    target = import_module("bayesjudge")
    for part in name.split("."):
        exported = part in getattr(target, "__all__", ())
        if not exported:
            raise InputError("names", [f"{name!r} is not a public name of this bayesjudge"])
        target = getattr(target, part)
    return target


def _loaded(name: str) -> Any:
    """The class ``module:Class`` of a module that is imported, or None."""
    module, _, path = name.partition(":")
    target: Any = sys.modules.get(module)
    for part in path.split("."):
        target = getattr(target, part, None)
    return target
