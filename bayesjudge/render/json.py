"""A page as JSON, of the schema in ``schema.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from bayesjudge.core.version import __version__
from bayesjudge.render.page import Page

#: Changes where a field changes its meaning or goes; a new field is no change.
SCHEMA = "bayesjudge/3"


def to_json(page: Page) -> str:
    """Write what a machine reads: the fields of `schema`; no NaN, no arrays."""
    document = {
        "schema": SCHEMA,
        "bayesjudge": __version__,
        "command": page.command,
        "inputs": page.inputs,
        **page.fields(),
        **{section.key: section.fields for section in page.sections if section.key},
        "cautions": [vars(caution) for caution in page.cautions],
        **page.methods(),
    }
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Read the JSON schema of every document."""
    text = files("bayesjudge.render").joinpath("schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _plain(value: Any) -> Any:
    """Values that JSON has: nothing else, and no NaN."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
