"""Arithmetic of random-effects analysis of variance, on cell means. Nothing here checks input."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import fdtri, gammaincinv


class Squares(NamedTuple):
    """Mean squares of items by judges by repeats, with their degrees of freedom.

    Parameters
    ----------
    item, judge, item_judge, repeat : tuple of float
        (mean square, degrees of freedom); ``nan`` and 0 where the design has no such term.
    n_items, n_judges : int
        Size of the design.
    repeats : float
        Scores in a cell: their harmonic mean.
    repeat_spread : tuple of float
        The mean square of repeats again, with the degrees of freedom that its own scatter over
        items and over judges implies: fewer, where some items or judges are noisier than others.
    """

    item: tuple[float, float]
    judge: tuple[float, float]
    item_judge: tuple[float, float]
    repeat: tuple[float, float]
    n_items: int
    n_judges: int
    repeats: float
    repeat_spread: tuple[float, float]


class Component(NamedTuple):
    """A variance with its interval; any of them may be negative.

    Parameters
    ----------
    value, low, high : float
        In squared units of the scale.
    """

    value: float
    low: float
    high: float


def squares(means: np.ndarray, deviations: np.ndarray, n: np.ndarray) -> Squares:
    """Analyse cell means as if every cell held as many scores: unweighted-means analysis.

    Parameters
    ----------
    means : numpy.ndarray, shape (n_items, n_judges)
        Mean score of each cell, none missing.
    deviations : numpy.ndarray
        Sum of squared deviations from it.
    n : numpy.ndarray
        Scores in it.

    Returns
    -------
    Squares
        Exact where every cell holds equally many scores.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, sections 4.3 and 5.
    """
    i, j = means.shape
    r = means.size / (1 / n).sum()
    grand = means.mean()
    rows, columns = means.mean(axis=1) - grand, means.mean(axis=0) - grand
    rest = means - grand - rows[:, None] - columns

    def mean_square(total: float, df: float) -> tuple[float, float]:
        return (total / df, df) if df > 0 else (np.nan, 0)

    repeat = mean_square(deviations.sum(), (n - 1).sum())
    return Squares(
        item=mean_square(j * r * (rows**2).sum(), i - 1),
        judge=mean_square(i * r * (columns**2).sum(), j - 1),
        item_judge=mean_square(r * (rest**2).sum(), (i - 1) * (j - 1)),
        repeat=repeat,
        n_items=i,
        n_judges=j,
        repeats=r,
        repeat_spread=(repeat[0], _scatter_df(deviations, n - 1, repeat)),
    )


def _scatter_df(deviations: np.ndarray, df: np.ndarray, repeat: tuple[float, float]) -> float:
    """Degrees of freedom with which the variance of repeats is known.

    On a scale with ends, items near an end scatter less: scores are not equally noisy, and the
    chi-square interval would be too narrow.
    """
    noise = 0.0
    for axis in (0, 1):
        totals, weights = deviations.sum(axis=axis), df.sum(axis=axis)
        if len(totals) > 2 and (weights > 0).all():
            noise += float((totals / weights).var(ddof=1)) / len(totals)
    return min(repeat[1], 2 * repeat[0] ** 2 / noise) if noise > 0 else repeat[1]


def difference(
    one: tuple[float, float], other: tuple[float, float], size: float, ci_prob: float
) -> Component:
    """(one - other) / size, for mean squares that are independent multiples of chi-squares.

    Parameters
    ----------
    one, other : tuple of float
        (mean square, degrees of freedom).
    size : float
        Scores that share the effect.
    ci_prob : float
        Coverage that the interval aims at.

    Returns
    -------
    Component
        With the modified large-sample interval.

    References
    ----------
    Ting, Burdick, Graybill, Jeyaratnam & Lu (1990), J. Stat. Comput. Simul. 35, 135-143.
    """
    (a, n1), (b, n2) = one, other
    tail = (1 - ci_prob) / 2
    g1, g2 = (1 - 1 / (_chi2(n, 1 - tail) / n) for n in (n1, n2))
    h1, h2 = (1 / (_chi2(n, tail) / n) - 1 for n in (n1, n2))
    upper, lower = fdtri(n1, n2, 1 - tail), fdtri(n1, n2, tail)
    g12 = ((upper - 1) ** 2 - g1**2 * upper**2 - h2**2) / upper
    h12 = ((1 - lower) ** 2 - h1**2 * lower**2 - g2**2) / lower
    down = max((g1 * a) ** 2 + (h2 * b) ** 2 + g12 * a * b, 0.0)
    up = max((h1 * a) ** 2 + (g2 * b) ** 2 + h12 * a * b, 0.0)
    value = a - b
    return Component(value / size, (value - down**0.5) / size, (value + up**0.5) / size)


def alone(one: tuple[float, float], ci_prob: float) -> Component:
    """Take a mean square for a variance, with the exact chi-square interval.

    Parameters
    ----------
    one : tuple of float
        (mean square, degrees of freedom).
    ci_prob : float
        Coverage of the interval.

    Returns
    -------
    Component
        With its interval.
    """
    (a, n), tail = one, (1 - ci_prob) / 2
    return Component(a, a * n / _chi2(n, 1 - tail), a * n / _chi2(n, tail))


def combined(*parts: tuple[float, tuple[float, float]]) -> tuple[float, float]:
    """Weighted sum of mean squares with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    *parts : tuple
        (weight, (mean square, degrees of freedom)); weights are positive.

    Returns
    -------
    tuple of float
        (mean square, degrees of freedom).
    """
    total = sum(w * ms for w, (ms, _) in parts)
    noise = sum((w * ms) ** 2 / df for w, (ms, df) in parts)
    return total, (total**2 / noise if noise > 0 else np.inf)


def effective_repeats(
    between: tuple[float, float], within: tuple[float, float], judges: int, repeats: float, p: float
) -> tuple[float, float, float]:
    """How many scores of judges drawn anew each time tell as much as this panel's scores do.

    With intraclass correlation rho between scores of one item by one judge, `judges` x `repeats`
    scores are worth ``judges * repeats / (1 + (repeats - 1) * rho)``.

    Parameters
    ----------
    between, within : tuple of float
        Mean squares between judges within an item, and between repeats.
    judges : int
        Judges.
    repeats : float
        Scores of each.
    p : float
        Coverage that the interval aims at.

    Returns
    -------
    tuple of float
        Value, low, high: between `judges` and ``judges * repeats``.
    """
    (a, n1), (b, n2) = between, within
    tail = (1 - p) / 2
    ratio = a / b if b > 0 else np.inf
    found = []
    for f in (ratio, ratio / fdtri(n1, n2, tail), ratio / fdtri(n1, n2, 1 - tail)):
        rho = 1.0 if np.isinf(f) else np.clip((f - 1) / (f + repeats - 1), 0, 1)
        found.append(float(judges * repeats / (1 + (repeats - 1) * rho)))
    return found[0], found[1], found[2]


def _chi2(df: Any, prob: float) -> Any:
    return 2 * gammaincinv(df / 2, prob)
