"""State files: written all at once, read back with their schema checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bayesjudge.core.errors import InputError, expect, problem
from bayesjudge.core.storage import replacing


def digest_of(values: Any) -> str:
    """SHA-256 of what JSON can hold."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()


def write_state(path: str | Path, state: Mapping[str, Any]) -> Path:
    """Write JSON beside the file and put it in the file's place."""
    path = Path(path)
    with replacing(path) as beside:
        beside.write_text(json.dumps(state, indent=1), encoding="utf-8")
    return path


def read_state[T](path: str | Path, schema: str, parts: Callable[[Any], T]) -> T:
    """The parts of a state that `write_state` wrote."""
    path, kind = Path(path), schema.partition("/")[2].partition("-")[0]
    expect(str(path), path.is_file(), "there is no such file")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        written = state["schema"]
        if written == schema:
            return parts(state)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(str(path), [problem("not-a-state", kind=kind, error=error)]) from error
    raise InputError(str(path), [problem("other-state", kind=kind, schema=schema, written=written)])
