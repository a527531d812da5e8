"""What several readers do with the cells of a log."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from typing import Any

#: Most parts of a nested object that become columns.
MOST_FIELDS = 200


def parts(value: Any) -> Any:
    """A list or mapping that a table holds as text, as JSON or as Python writes it."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text or text[0] not in "[{" or len(text) > 2**22:
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return value


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping, or an empty one in place of anything else."""
    whole = parts(value)
    return whole if isinstance(whole, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """A list, or an empty one in place of anything else."""
    whole = parts(value)
    return list(whole) if isinstance(whole, list | tuple) else []


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Cells of a mapping by name, those of mappings within as ``outer.inner``."""
    fields: dict[str, Any] = {}
    for name, cell in mapping(value).items():
        if isinstance(cell, Mapping):
            inner = {f"{prefix}{name}.{key}": part for key, part in cell.items()}
            fields |= {k: v for k, v in inner.items() if not isinstance(v, Mapping | list)}
        elif not isinstance(cell, list):
            fields[f"{prefix}{name}"] = cell
        if len(fields) > MOST_FIELDS:
            break
    return fields


def number(value: Any) -> float | None:
    """A finite number, also as text; None in place of anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        as_float = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return as_float if math.isfinite(as_float) else None


def text(value: Any) -> str:
    """Text of a cell, empty if there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else str(value)


def verdict(value: Any) -> Any:
    """A value as a log has it: booleans, numbers and words stay, emptiness and NaN are None."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if number(value) is not None else None
    return text(value).strip() or None


def name_of(value: Any) -> str:
    """Name of a model: text, or what a mapping calls its model, id or name."""
    whole = parts(value)
    if isinstance(whole, Mapping):
        names = (whole.get(key) for key in ("model", "id", "name", "label"))
        return next((name_of(name) for name in names if name), "")
    return text(whole)
