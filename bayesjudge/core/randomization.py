"""Randomization tests: is what was labelled as unusual as a random sample rarely is?"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtrc

#: Random samples that the labelled items are compared with, at least.
SAMPLES = 5_000
#: Statistics that differ by so much, or by this part of them, are the same.
ROUNDING = 1e-9
#: Expected counts from which on Pearson's statistic has its limiting distribution, nearly.
FEW_EXPECTED = 5
#: Tables are drawn where it has not, unless even then nothing is near a rejection.
CLEAR = 0.05


def samples_for(level: float) -> int:
    """Samples of which few enough can be as unusual for a test at this level to reject."""
    return max(SAMPLES, math.ceil(2 / level))


def p_value(drawn: np.ndarray, seen: float) -> float:
    """Share of random samples, the one that was seen among them, with a statistic as large."""
    as_large = drawn >= seen - ROUNDING * max(1.0, seen)
    return float((1 + np.sum(as_large)) / (1 + len(drawn)))


def same_shares(table: np.ndarray, level: float) -> float:
    """P-value of Pearson's statistic for equal rows, by drawing if counts are few.

    Of rows, or columns, that are two; ``nan`` if nothing varies.
    """
    table = table[:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return float("nan")
    if table.shape[1] > 2:
        table = table.T
    size, right = table.sum(axis=1), int(table[:, 1].sum())
    expected = np.outer(size, table.sum(axis=0)) / table.sum()
    statistic = np.sum((table - expected) ** 2 / expected)
    p = float(chdtrc((table.shape[0] - 1) * (table.shape[1] - 1), statistic))
    if expected.min() >= FEW_EXPECTED or p > CLEAR:
        return p
    drawn = np.random.default_rng(0).multivariate_hypergeometric(
        size.astype(int), right, samples_for(level), method="marginals"
    )
    others = (drawn - expected[:, 1]) ** 2 * (1 / expected[:, 0] + 1 / expected[:, 1])
    return p_value(others.sum(axis=1), statistic)
