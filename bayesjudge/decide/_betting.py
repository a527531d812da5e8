"""Test martingales by betting on prediction-powered increments, for any number of runs at once.

Each labelled item gives an increment whose mean, given all that came before, is the share of good
items under any way of drawing with known probabilities. Betting that it is larger than ``mean``
multiplies the wealth by a factor of mean at most 1 if the share is ``mean`` or less, so that the
wealth ever exceeds 1 / a with probability a at most (Ville), however often one looks.
Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86, 1-27; without replacement: Shekhar, Xu, Lipton,
Liang & Ramdas (2023), arXiv:2305.06884; with a judge: Angelopoulos et al. (2023), arXiv:2301.09633.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Fractions of the largest bet that cannot lose all; wealth is spread evenly over them.
FRACTIONS = (0.02, 0.05, 0.1, 0.18, 0.28, 0.4, 0.55, 0.7, 0.85, 0.95)
#: What is believed of the judge before any label: so many imaginary items of either verdict.
IMAGINARY = 4.0
GOOD_OF_PASSED, GOOD_OF_FAILED = 0.75, 0.25
#: Differences of means smaller than this are rounding.
ROUNDING = 1e-9


class Draws(NamedTuple):
    """Labelled items in the order drawn, arrays of shape (..., n_labels).

    An item is drawn from a pool; the share of good items is ``known + rest`` times the pool's.
    ``weight`` is 1 / (size of the pool times the item's probability), and ``weights`` of shape
    (..., n_labels, 2) has the largest weight that a failed and a passed item could have. ``fresh``
    pools are random too, so that a bet may depend on nothing that is known of them.
    """

    verdict: np.ndarray
    truth: np.ndarray
    weight: np.ndarray
    weights: np.ndarray
    known: np.ndarray
    rest: np.ndarray
    pool: np.ndarray  #: mean verdict of the pool
    fresh: bool = False


class Increments(NamedTuple):
    """What each label adds, and the range it was in before the label was seen."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _before(values: np.ndarray) -> np.ndarray:
    """Sums over all earlier labels."""
    return np.cumsum(values, axis=-1) - values


def predicted(draws: Draws, trust: Any = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Share of good items expected among failed and among passed ones, from earlier labels.

    A regression of truth on verdict with a few imaginary items. ``trust`` below 1 shrinks the
    slope: the pool's mean verdict is then a sample's.
    """
    f, y = draws.verdict, draws.truth
    n, s1, s2 = _before(np.ones_like(f)), _before(f), _before(f * f)
    t, c = _before(y), _before(f * y)
    n, s1, s2 = n + 2 * IMAGINARY, s1 + IMAGINARY, s2 + IMAGINARY
    t = t + IMAGINARY * (GOOD_OF_PASSED + GOOD_OF_FAILED)
    c = c + IMAGINARY * GOOD_OF_PASSED
    slope = (c - s1 * t / n) / (s2 - s1 * s1 / n) * trust
    failed = np.clip(t / n - slope * s1 / n, 0, 1)
    return failed, np.clip(t / n + slope * (1 - s1 / n), 0, 1)


def increments(draws: Draws, *, judge: bool = True, trust: Any = 1.0) -> Increments:
    """The label's surprise, weighted, on top of what the judge's verdicts predict."""
    if judge:
        failed, passed = predicted(draws, trust)
    else:
        failed = passed = np.broadcast_to(predicted(draws, 0.0)[0], draws.truth.shape)
    slope = passed - failed
    mean = failed + slope * draws.pool
    value = mean + (draws.truth - failed - slope * draws.verdict) * draws.weight
    w0, w1 = draws.weights[..., 0], draws.weights[..., 1]
    least, most = (
        (np.minimum(failed, passed), np.maximum(failed, passed)) if draws.fresh else (mean, mean)
    )
    low = least - np.maximum(failed * w0, passed * w1)
    high = most + np.maximum((1 - failed) * w0, (1 - passed) * w1)
    known, rest = draws.known, draws.rest
    return Increments(known + rest * value, known + rest * low, known + rest * high)


def log_wealth(increments: Increments, mean: Any, above: bool) -> np.ndarray:
    """Log of the wealth after each label of bets that the share is above (or below) `mean`.

    Products are not kept as logs, which would take most of the time: what overflows has won
    long ago, what underflows is lost for good, which errs to the safe side.
    """
    gain, span = (
        (increments.value - increments.low, mean - increments.low)
        if above
        else (increments.high - increments.value, increments.high - mean)
    )
    # no bet if the share can be nothing but `mean`; and it cannot be what lies outside the range
    even = np.abs(span) < ROUNDING
    outside = np.logical_or.accumulate((span < 0) & ~even, axis=-1)
    gain, span = np.broadcast_arrays(gain, span)
    ratio = np.divide(gain, span, out=np.ones(gain.shape), where=~(even | outside)) - 1
    wealth = np.zeros(ratio.shape)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        for fraction in FRACTIONS:
            wealth += np.cumprod(1 + fraction * ratio, axis=-1)
        return np.where(outside, np.inf, np.log(wealth / len(FRACTIONS)))
