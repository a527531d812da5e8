"""The words of ``words.toml``: terms, sentences of cautions and assumptions, names of options."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _file() -> dict[str, Any]:
    text = files("bayesjudge.core").joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def glossary(kind: str) -> dict[str, Any]:
    """One table: ``"terms"``, ``"cautions"``, ``"assumptions"`` or ``"options"``."""
    found: dict[str, Any] = _file()[kind]
    return found


def sentences(kind: str) -> dict[str, str | dict[str, str]]:
    """Templates of ``"cautions"`` or ``"assumptions"`` by id, those with variants by variant."""
    found: dict[str, str | dict[str, str]] = _file()["sentences"][kind]
    return found


def sentence(
    kind: str, id: str, variant: str = "", numbers: Mapping[str, Any] | None = None
) -> str:
    """The sentence of a caution or an assumption, with its numbers."""
    template = sentences(kind)[id]
    if isinstance(template, dict):
        template = template[variant]
    return template.format_map(numbers or {})
