"""Closed-form intervals of a share, that broadcast.

SciPy's special functions take longer to load than these to compute: only what has no shorter way
imports them.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from bayesjudge.core.errors import check_ci_prob, expect

#: With fewer labelled items of a kind (misjudged, good, bad) difference estimators do not read the
#: variance of their corrections off these alone.
FEW = 5


def z_score(ci_prob: float) -> float:
    """Half-width of a standard normal interval.

    Parameters
    ----------
    ci_prob : float
        Probability that it holds, in (0, 1).

    Returns
    -------
    float
        1.96 for 0.95.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    return NormalDist().inv_cdf((1 + check_ci_prob(ci_prob)) / 2)


def wilson(successes: Any, trials: Any, ci_prob: float = 0.95) -> tuple[Any, Any, Any]:
    """Share of successes with its Wilson score interval.

    Parameters
    ----------
    successes, trials : array_like of int
        Counts; they broadcast.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    value, low, high : numpy.ndarray or float
        ``nan`` where there are no trials.

    Raises
    ------
    InputError
        If successes are not between 0 and trials, or `ci_prob` is out of range.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> [round(float(x), 4) for x in wilson(8, 10)]
    [0.8, 0.4902, 0.9433]
    """
    k, n = _checked("wilson", successes, trials)
    z = z_score(ci_prob)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = k / n
        centre = (k + z**2 / 2) / (n + z**2)
        half = z / (n + z**2) * np.sqrt(k * (n - k) / n + z**2 / 4)
    low, high = np.where(k == 0, 0.0, centre - half), np.where(k == n, 1.0, centre + half)
    return value[()], _known(low, n), _known(high, n)


def wilson_by_units(
    value: float, worth: float, units: float, ci_prob: float
) -> tuple[float, float, float]:
    """Share with the Wilson interval of as many trials as its standard error is worth.

    Parameters
    ----------
    value : float
        The share.
    worth : float
        Trials that would have its standard error.
    units : float
        Independent units from which that error was estimated: Student's quantile, of one degree of
        freedom fewer, takes the place of the normal's.
    ci_prob : float
        Coverage that the interval aims at.

    Returns
    -------
    value, low, high : float
        ``nan`` where nothing is known.
    """
    from scipy.special import stdtrit

    trials = worth * (z_score(ci_prob) / stdtrit(units - 1, (1 + ci_prob) / 2)) ** 2
    _, low, high = wilson(value * trials, trials, ci_prob)
    value, low, high = map(float, holding(value, low, high))
    return value, low, high


def clopper_pearson(successes: Any, trials: Any, ci_prob: float = 0.95) -> tuple[Any, Any, Any]:
    """Share of successes with its exact (conservative) interval.

    Parameters
    ----------
    successes, trials : array_like of int
        Counts; they broadcast.
    ci_prob : float, default 0.95
        Coverage that the interval has at least.

    Returns
    -------
    value, low, high : numpy.ndarray or float
        ``nan`` where there are no trials.

    Raises
    ------
    InputError
        If successes are not between 0 and trials, or `ci_prob` is out of range.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> [round(float(x), 4) for x in clopper_pearson(10, 10)]
    [1.0, 0.6915, 1.0]
    """
    from scipy.special import betaincinv

    k, n = _checked("clopper_pearson", successes, trials)
    tail = (1 - check_ci_prob(ci_prob)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        value = k / n
        low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 1), n - k + 1, tail))
        high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return value[()], _known(low, n), _known(high, n)


def jeffreys(
    successes: Any, trials: Any, ci_prob: float = 0.95, kinds: int = 2
) -> tuple[Any, Any, Any]:
    """Share of successes with the equal-tailed interval of its posterior, moved to hold the share.

    Parameters
    ----------
    successes, trials : array_like of float
        Counts; they broadcast.
    ci_prob : float, default 0.95
        Probability of the interval.
    kinds : int, default 2
        Outcomes of a trial: the prior is one trial, spread evenly over them. Of two it is
        Jeffreys'.

    Returns
    -------
    value, low, high : numpy.ndarray or float
        ``nan`` where there are no trials.

    Raises
    ------
    InputError
        If successes are not between 0 and trials, or `ci_prob` is out of range.

    References
    ----------
    Brown, Cai & DasGupta (2001), Stat. Sci. 16, 101-133.

    Examples
    --------
    >>> [round(float(x), 4) for x in jeffreys(10, 10)]
    [1.0, 0.7828, 1.0]
    """
    from scipy.special import betaincinv

    expect("jeffreys", kinds > 0, "must be positive", kinds=kinds)
    k, n = _checked("jeffreys", successes, trials)
    tail = (1 - check_ci_prob(ci_prob)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        value = k / n
    ends = (betaincinv(k + 1 / kinds, n - k + 1 - 1 / kinds, x) for x in (tail, 1 - tail))
    return holding(value[()], *(_known(end, n) for end in ends))


def added(first: Any, second: Any, less: float = 0.0) -> tuple[Any, Any, Any]:
    """Sum of two independent estimates, less a constant, from the value and ends of each.

    Zou & Donner (2008), Stat. Med. 27, 1693-1702 (MOVER).
    """
    (x, low1, high1), (y, low2, high2) = first, second
    value = x + y - less
    return value, value - np.hypot(x - low1, y - low2), value + np.hypot(high1 - x, high2 - y)


def holding(value: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Move an end to the value that it leaves out: a centre adjusted for few labels may do so.

    Parameters
    ----------
    value, low, high : array_like
        They broadcast; ``nan`` stays.

    Returns
    -------
    value, low, high : numpy.ndarray or float
        With low at most the value, and the value at most high.
    """
    low, high = np.where(low > value, value, low), np.where(high < value, value, high)
    return value, low[()], high[()]


def _known(end: np.ndarray, trials: np.ndarray) -> Any:
    return np.where(trials > 0, end, np.nan)[()]


def _checked(subject: str, successes: Any, trials: Any) -> tuple[np.ndarray, np.ndarray]:
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    rounding = 1e-12 * np.maximum(1.0, np.abs(n))  # effective counts are sums of fractions
    bad = ~((k >= -rounding) & (k <= n + rounding))
    shown = [(x, y) for x, y in zip(k[bad][:3].tolist(), n[bad][:3].tolist(), strict=True)]
    problem = f"successes must lie between 0 and trials, got (successes, trials) {shown}"
    expect(subject, not bad.any(), problem)
    return np.clip(k, 0, n), n


def hypergeometric_tails(k: float, items: float, right: float, drawn: float) -> tuple[float, float]:
    """P(at most k) and P(at least k) right ones among those drawn."""
    from scipy.special import gammaln

    low, high = max(0.0, drawn + right - items), min(drawn, right)
    x = np.arange(low, high + 1)
    logs = gammaln(right + 1) - gammaln(x + 1) - gammaln(right - x + 1)
    rest, missed = items - right, drawn - x
    logs += gammaln(rest + 1) - gammaln(missed + 1) - gammaln(rest - missed + 1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return float(weights[x <= k].sum()), float(weights[x >= k].sum())
