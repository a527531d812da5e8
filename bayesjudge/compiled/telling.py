"""Lines about compiling, on stderr: each once a process."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

_told: set[str] = set()


def tell(text: str) -> None:
    """Print one line, once a process."""
    if text not in _told:
        _told.add(text)
        print(f"bayesjudge: {text}", file=sys.stderr)


def tell_of_failure(error: Exception, instead: str) -> None:
    """Name what of this package failed, and what is done instead."""
    own = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(own)]
    place = f"{Path(frames[-1].filename).stem}.{frames[-1].name}"
    tell(f"{place} failed ({type(error).__name__}: {error}): {instead}")
