"""Grades out of a number, as people write them: ``4/5``, ``8 out of 10``, ``85%``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

NUMBER = r"(\d+(?:\.\d+)?)"
OUT_OF = re.compile(rf"{NUMBER}\s*(?:(?:/|out of)\s*{NUMBER}|%)", re.IGNORECASE)


class Grade(NamedTuple):
    """How much of the most that there is."""

    value: float
    most: float


def grade_of(text: str) -> Grade | None:
    """The grade that a text says, a percentage out of 100; None of what is none.

    Examples
    --------
    >>> [grade_of(text) for text in ("8 out of 10", "85%", "4", "1/2/2024")]
    [Grade(value=8.0, most=10.0), Grade(value=85.0, most=100.0), None, None]
    """
    said = OUT_OF.fullmatch(text.strip())
    return Grade(float(said[1]), float(said[2] or 100)) if said else None


def most_of(texts: Iterable[str]) -> float | None:
    """Out of which number all of some texts are grades; None if not all are, or of several."""
    grades = [grade_of(text) for text in texts]
    most = {grade and grade.most for grade in grades}
    within = all(grade and grade.value <= grade.most for grade in grades)
    return most.pop() if len(most) == 1 and within else None
