"""Closed forms by inversion of the judge's error matrix: Rogan-Gladen, and of K classes.

Everything that has no matrix broadcasts; nothing is checked or clipped here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesjudge.truth.influence import Interval


def invert(p: Any, q0: Any, q1: Any) -> Any:
    """Rogan-Gladen: source 1, eq. (5). `nan` or `inf` where q0 + q1 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(np.subtract(np.add(p, q0), 1), np.subtract(np.add(q0, q1), 1))


def delta_variance(
    p: Any,
    q0: Any,
    q1: Any,
    n: Any,
    m0: Any,
    m1: Any,
    items: bool = False,
    between: tuple[Any, Any, Any] = (0.0, 0.0, 0.0),
) -> Any:
    """Variance of `invert` by the delta method: source 1, eq. (9).

    About these `items`, whose number of good ones is fixed, the pass rate varies by the judge's
    errors alone: by theta (1 - theta) (q0 + q1 - 1)^2 / n less. Scores that lie `between` 0 and 1
    vary less than passes and fails of the same mean, by their means of f (1 - f).
    """
    theta = invert(p, q0, q1)
    with np.errstate(divide="ignore", invalid="ignore"):
        good = np.clip(theta, 0, 1)
        variances = [q * (1 - q) - less for q, less in zip((p, q0, q1), between, strict=True)]
        passes = good * q1 * (1 - q1) + (1 - good) * q0 * (1 - q0) if items else variances[0]
        parts = passes / n + (1 - theta) ** 2 * variances[1] / m0 + theta**2 * variances[2] / m1
        return parts / np.square(q0 + q1 - 1)


def lang_reiczigel(
    p: Any,
    q0: Any,
    q1: Any,
    n: Any,
    m0: Any,
    m1: Any,
    z: float,
    share: Any = 1.0,
    items: bool = False,
    between: tuple[Any, Any, Any] = (0.0, 0.0, 0.0),
) -> Interval:
    """Source 1, eqs. (6)-(8), before clipping; the value is the interval's centre.

    The listing printed with the paper (its Figure 8) divides by q0 + q1 - 1 inside the root and
    subtracts the shift from the upper end; the equations, and Lang & Reiczigel (2014), do not.

    With few labels the shift grows faster in z than the half-width does, so that an end would turn
    back at a high level: it stays where it turned, and intervals are nested in the level.

    `share`, `items` and `between` as in `delta_variance`, and in `influence`.
    """

    def at(z: Any) -> Interval:
        return _lang_reiczigel(p, q0, q1, n, m0, m1, z, share, items, between)

    return nested(at, z)


def nested(at: Callable[[Any], Interval], z: float) -> Interval:
    """The interval at a level, with the furthest ends of all lower levels."""
    centre, low, high = at(z)
    if np.isnan(low).all():
        return Interval(centre, low, high)
    low, high = -_highest(lambda x: -at(x).low, z), _highest(lambda x: at(x).high, z)
    return Interval(centre, low, high)


def _highest(end: Callable[[Any], Any], z: float) -> Any:
    """The highest value of `end` at 0 to `z`; it rises, or rises and then falls."""
    last, before = end(z), end(z * (1 - 1e-4))
    if not np.any(before > last):
        return last
    low, high = np.zeros(np.shape(last)), np.full(np.shape(last), float(z))
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(60):
        first, other = high - golden * (high - low), low + golden * (high - low)
        rises = end(first) < end(other)
        low, high = np.where(rises, first, low), np.where(rises, high, other)
    return np.where(before > last, np.fmax(end((low + high) / 2), last), last)


def _lang_reiczigel(
    p: Any,
    q0: Any,
    q1: Any,
    n: Any,
    m0: Any,
    m1: Any,
    z: Any,
    share: Any = 1.0,
    items: bool = False,
    between: tuple[Any, Any, Any] = (0.0, 0.0, 0.0),
) -> Interval:
    n_, m0_, m1_ = n + share * z**2, m0 + 2 * share, m1 + 2 * share
    p_ = (n * p + share * z**2 / 2) / n_
    q0_, q1_ = (m0 * q0 + share) / m0_, (m1 * q1 + share) / m1_
    free, *sizes = (size - 1 + share for size in (n_, m0_, m1_))
    less = between[0] * n / n_, between[1] * m0 / m0_, between[2] * m1 / m1_
    with np.errstate(divide="ignore", invalid="ignore"):  # nan where q0_ + q1_ = 1
        var0 = (q0_ * (1 - q0_) - less[1]) / sizes[0]
        var1 = (q1_ * (1 - q1_) - less[2]) / sizes[1]
        theta = invert(p_, q0_, q1_)
        shift = 2 * z**2 * share * (theta * var1 - (1 - theta) * var0)
        half = z * np.sqrt(delta_variance(p_, q0_, q1_, free, sizes[0], sizes[1], items, less))
        chance = np.equal(q0_ + q1_, 1)  # which excludes nothing
        low = np.where(chance, -np.inf, theta + shift - half)
        high = np.where(chance, np.inf, theta + shift + half)
        return Interval(theta + shift, low[()], high[()])


def ratio_bias(shares: Any, p: Any, q0: Any, q1: Any, m0: Any, m1: Any) -> Any:
    """By how much splitting into strata moves the expected weighed sum of `invert`.

    A ratio of means is biased by about 1/m, in all strata to the same side, so that its sum is
    biased by as much while its standard error falls. This is the second order of the delta method
    at the judge's average rates, less what the whole has of it (Cochran 1977, Section 6.8).
    """
    rate, caught, hit = (np.sum(shares * x) for x in (p, q0, q1))
    theta = invert(rate, caught, hit)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = theta * hit * (1 - hit) / m1 - (1 - theta) * caught * (1 - caught) / m0
        return np.sum(shares * (1 - shares) * each) / np.square(caught + hit - 1)


# K classes ---------------------------------------------------------------------------------------


def inverted(test: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Shares that give the verdicts exactly or, of more verdicts than classes, best by squares.

    `test` counts verdicts, `table` labelled items by class and verdict. Shares sum to 1 and may be
    negative.
    """
    solve, _, start = _solution(table)
    return start + solve @ (test / test.sum() - start @ rows_of(table))


def covariance(test: np.ndarray, table: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Covariance of `inverted` by the delta method; with two classes, source 1's eq. (9).

    Each row sums to 0, since the shares sum to 1.
    """

    def multinomial(p: np.ndarray, n: float) -> np.ndarray:
        return (np.diag(p) - np.outer(p, p)) / n

    solve, rows, _ = _solution(table)
    verdicts = multinomial(test / test.sum(), test.sum())
    for share, row, size in zip(shares, rows, table.sum(axis=1), strict=True):
        verdicts = verdicts + share**2 * multinomial(row, size)
    return solve @ verdicts @ solve.T


def rows_of(table: np.ndarray) -> np.ndarray:
    """Share of each verdict among labelled items of each class."""
    return table / table.sum(axis=1, keepdims=True)


def _solution(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrix from the shares of verdicts to those of classes, along directions that sum to 0."""
    rows, size = rows_of(table), len(table)
    contrasts = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
    solve = contrasts @ np.linalg.pinv(rows.T @ contrasts)
    return solve, rows, np.full(size, 1 / size)


def projected(test: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Shares at least 0 that sum to 1 and fit the verdicts best, by least squares.

    With s = 1'x, min |Cx|^2 + (1'x - 1)^2 over x >= 0 equals |Cu|^2 / (1 + |Cu|^2) at u = x / s on
    the simplex, which grows with |Cu|^2: non-negative least squares solves the constrained problem.
    """
    from scipy.optimize import nnls  # takes longer to load than everything else here

    matrix, seen = rows_of(table).T, test / test.sum()
    system = np.vstack([matrix - seen[:, None], np.ones(len(table))])
    weights, _ = nnls(system, np.append(np.zeros(len(seen)), 1.0))
    return weights / weights.sum()
