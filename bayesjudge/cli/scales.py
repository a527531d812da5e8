"""The scale of scores, as every command has it on its line."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

#: What stands between numbers, or ``inf``: a minus in front of one is its own.
BETWEEN = re.compile(r"(?<=[\d.f])\s*[-:,]\s*")
ENDS = "the lowest and the highest, such as 0:1, 1:5 or 0:100"
EVERY = "every value in rising order, such as 1-5 or 0,0.5,1; of pass and fail leave it out"


def scale_ends(option: str, text: str | None, require: Any) -> tuple[float, float] | None:
    """Read ``1:5``; or ``1-5`` and ``0,0.5,1``, of which the first and the last are the ends."""
    values = _numbers(text or "")
    wrong = text is not None and len(values) < 2
    require(not wrong, "scale-unread", option=option, text=text, scales=ENDS)
    return (values[0], values[-1]) if len(values) > 1 else None


def scale_values(text: str, require: Any) -> tuple[float, ...]:
    """Read every value of ``--scale``: whole steps between two ends, or all of them.

    Examples
    --------
    >>> scale_values("1-3", print), scale_values("0:2", print), scale_values("0,0.5,1", print)
    ((1.0, 2.0, 3.0), (0.0, 1.0, 2.0), (0.0, 0.5, 1.0))
    """
    values = _numbers(text)
    if len(values) == 2 and "," not in text:
        whole = all(x.is_integer() for x in values)
        values = [float(x) for x in range(int(values[0]), int(values[1]) + 1)] if whole else []
    rising = len(values) > 1 and all(a < b for a, b in pairwise(values))
    if not rising:
        require(False, "scale-unread", option="--scale", text=text, scales=EVERY)
    return tuple(values)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in BETWEEN.split(text.strip())]
    except ValueError:
        return []
