"""The words of ``words.toml``: terms, cautions, assumptions, and other names of options."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def glossary(kind: str) -> dict[str, Any]:
    """One table: ``"terms"``, ``"cautions"``, ``"assumptions"`` or ``"options"``."""
    text = files("bayesjudge.render").joinpath("words.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)[kind]
    return found
