"""What the cells of a column of battles mean: the first answer, the second, a tie, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import Problem
from bayesjudge.core.labels import folded
from bayesjudge.core.names import name_of
from bayesjudge.core.numbers import number_of
from bayesjudge.core.screen import few

#: Shares of a verdict for the first answer, a tie, and the second answer.
FIRST, TIE, SECOND = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NONE = (0.0, 0.0, 0.0)
#: The place that won, by the words in use for it, in lower case.
WORDS: Mapping[str, tuple[float, float, float]] = {
    **dict.fromkeys(("a", "first", "left", "1", "win", "wins", "won"), FIRST),
    **dict.fromkeys(("b", "second", "right", "2", "loss", "lose", "loses", "lost"), SECOND),
    **dict.fromkeys(("tie", "ties", "tied", "draw", "equal", "same", "both", "neither"), TIE),
    **dict.fromkeys(("bothbad", "bothgood", "tiebothbad", "tiebothgood", "c"), TIE),
    **dict.fromkeys(("", "none", "nan", "null", "na", "error", "unparsed", "invalid"), NONE),
}
#: What may stand before the word of a place: ``model_a``, ``assistant 1``, ``answer-b``.
PREFIXES = {"winner", "model", "assistant", "answer", "response", "output", "system", "option",
            "generator"}  # fmt: skip
STEPS = re.compile(r"\[*\s*([ab])\s*(>>|>|=|<|<<)\s*([ab])\s*\]*")


class Read(NamedTuple):
    """Shares (first, tie, second) of each distinct cell; -1 or the place of the system it names."""

    shares: np.ndarray
    system: np.ndarray
    problems: list[Problem]


def read_cells(
    cells: Sequence[Any], column: str, systems: Sequence[str], meant: Mapping[str, Sequence[str]]
) -> Read:
    """Read the distinct cells of a column.

    `meant` holds the words of one's own: ``first``, ``second``, ``tie`` and ``missing``.
    """
    stated = {
        folded(word): shares
        for name, shares in zip(
            ("first", "second", "tie", "missing"), (FIRST, SECOND, TIE, NONE), strict=True
        )
        for word in meant.get(name, ())
    }
    place = {name: i for i, name in enumerate(systems)}
    numbers = [None if folded(c) in stated else number_of(folded(c)) for c in cells]
    by_number = _scale([x for x in numbers if x is not None])
    shares, named, unknown = np.zeros((len(cells), 3)), np.full(len(cells), -1), []
    for i, (cell, number) in enumerate(zip(cells, numbers, strict=True)):
        word = folded(cell)
        verdict = stated.get(word)
        if verdict is None and name_of(cell) in place:
            named[i] = place[name_of(cell)]
            continue
        if verdict is None and number is not None:
            verdict = by_number(number)
        verdict = _in_words(word) if verdict is None else verdict
        if verdict is None:
            unknown.append(cell)
        else:
            shares[i] = verdict
    if not unknown:
        return Read(shares, named, [])
    words = (
        f"column {column!r}: {few([repr(cell) for cell in unknown], 5)}: expected the place that "
        "won (A, B, 1, 2, model_a …), a system's name, tie, or a probability; say what else means "
        "the first answer, the second, a tie or nothing (first_value=, second_value=, tie_value=, "
        "missing_value=)"
    )
    return Read(shares, named, [Problem(words, "unknown-verdict", column, unknown)])


def _in_words(word: str) -> tuple[float, float, float] | None:
    """Shares of a word; None if it is not known."""
    step = STEPS.fullmatch(word)
    if step is not None:
        left, sign, right = step.groups()
        if left == right:
            return None
        won = left if ">" in sign else right
        return TIE if sign == "=" else FIRST if won == "a" else SECOND
    parts = [part for part in re.split(r"[\W_]+", word) if part]
    while parts and parts[0] in PREFIXES:
        parts = parts[1:]
    return WORDS.get("".join(parts)) if parts or not word else None


def _scale(numbers: Sequence[float]) -> Callable[[float], tuple[float, float, float] | None]:
    """How numbers are read, by which of them occur.

    Places 1 and 2 with 0 a tie; 1, 0 and -1; a probability of the first answer from 0 to 1; or
    AlpacaEval's preference from 1 (the first) to 2 (the second).
    """
    seen, whole = {*numbers}, all(x % 1 == 0 for x in numbers)
    low, high = min(seen, default=0.0), max(seen, default=0.0)
    if whole and seen <= {0.0, 1.0, 2.0} and 2.0 in seen:
        return {1.0: FIRST, 2.0: SECOND, 0.0: TIE}.get
    if whole and seen <= {-1.0, 0.0, 1.0} and -1.0 in seen:
        return {1.0: FIRST, 0.0: TIE, -1.0: SECOND}.get
    if seen <= {0.0, 0.5, 1.0}:
        return {1.0: FIRST, 0.5: TIE, 0.0: SECOND}.get
    if low >= 0 and high <= 1:
        return lambda p: (p, 0.0, 1 - p)
    if seen <= {0.0, 1.0, 1.5, 2.0}:
        return {1.0: FIRST, 2.0: SECOND, 0.0: TIE, 1.5: TIE}.get
    if low >= 1 and high <= 2:
        return lambda p: (2 - p, 0.0, p - 1)
    return lambda _: None
