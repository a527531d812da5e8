"""Verdicts by source and pair of systems: what the model's likelihood sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bayesjudge.leaderboard.data import Battles
from bayesjudge.leaderboard.likelihood import dispersion


class Pairs(NamedTuple):
    """Verdicts of one source: pairs in the order shown, and the weight of each verdict."""

    first: np.ndarray
    second: np.ndarray
    #: Shape (n, 3): for the first, ties, for the second; counts over the design effect.
    weight: np.ndarray
    #: Logarithm of the ratio of lengths; 0 if it does not count.
    style: np.ndarray
    tied: bool
    whole: bool


class Cells(NamedTuple):
    """Verdicts of each source that gave any; whether order and length have effects."""

    of: Mapping[str, Pairs]
    ordered: bool
    style: bool


def cells_of(battles: Battles, *, style: bool) -> Cells:
    """Verdicts by source; pairs are counted together if the length (style) has no effect."""
    pairs = {}
    for source, said in battles.verdicts.items():
        if not said:
            continue
        shares = battles.shares(source)
        if style:
            at = shares.any(axis=1)
            first, second, x = battles.first[at], battles.second[at], battles.style[at]
            weight = battles.count[at, None] * shares[at]
        else:
            counts = battles.counted(source)
            first, second = np.nonzero(counts.sum(axis=-1))
            weight, x = counts[first, second], np.zeros(len(first))
        weight = weight / dispersion(battles, source)
        whole = bool(np.all(np.abs(weight - np.round(weight)) < 1e-9))
        tied = battles.tied and not battles.is_graded(source)
        pairs[source] = Pairs(first, second, weight, x, tied, whole)
    return Cells(pairs, battles.both_orders and bool(battles.judges), style)
