"""Arithmetic of the closed forms. Everything broadcasts; nothing is checked or clipped here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: Any
    low: Any
    high: Any


def invert(p: Any, q0: Any, q1: Any) -> Any:
    """Rogan-Gladen: source 1, eq. (5). `nan` or `inf` where q0 + q1 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(np.subtract(np.add(p, q0), 1), np.subtract(np.add(q0, q1), 1))


def delta_variance(p: Any, q0: Any, q1: Any, n: Any, m0: Any, m1: Any) -> Any:
    """Variance of `invert` by the delta method: source 1, eq. (9)."""
    theta = invert(p, q0, q1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (
            p * (1 - p) / n + (1 - theta) ** 2 * q0 * (1 - q0) / m0 + theta**2 * q1 * (1 - q1) / m1
        )
        return parts / np.square(q0 + q1 - 1)


def lang_reiczigel(p: Any, q0: Any, q1: Any, n: Any, m0: Any, m1: Any, z: float) -> Interval:
    """Source 1, eqs. (6)-(8), before clipping; the value is the interval's centre.

    The listing printed with the paper (its Figure 8) divides by q0 + q1 - 1 inside the root and
    subtracts the shift from the upper end; the equations, and Lang & Reiczigel (2014), do not.
    """
    n_, m0_, m1_ = n + z**2, m0 + 2, m1 + 2
    p_, q0_, q1_ = (n * p + z**2 / 2) / n_, (m0 * q0 + 1) / m0_, (m1 * q1 + 1) / m1_
    var0, var1 = q0_ * (1 - q0_) / m0_, q1_ * (1 - q1_) / m1_
    with np.errstate(invalid="ignore"):  # nan where q0 + q1 = 1 after the adjustment
        theta = invert(p_, q0_, q1_)
        shift = 2 * z**2 * (theta * var1 - (1 - theta) * var0)
        half = z * np.sqrt(delta_variance(p_, q0_, q1_, n_, m0_, m1_))
        return Interval(theta + shift, theta + shift - half, theta + shift + half)


def difference(p: Any, n: Any, table: Any, z: float, weight: Any = None) -> tuple[Interval, Any]:
    """Difference estimator: the pass rate plus the labelled items' mean correction.

    Parameters
    ----------
    p, n : array_like
        Pass rate and number of test items.
    table : tuple of array_like
        Labelled items: good and passed, good and failed, bad and passed, bad and failed.
    z : float
        Normal quantile.
    weight : array_like, optional
        How much of the judge to use: 1 is the classical estimator; by default the weight of least
        variance (Angelopoulos, Duchi & Zrnic 2023, eq. 5), between 0 and 1.

    Returns
    -------
    Interval, weight
    """
    # a stratum that is labelled throughout has no other verdicts to use
    others = np.asarray(n) > 0
    p, n = np.where(others, p, 0.0), np.maximum(n, 1)
    good_pass, good_fail, bad_pass, bad_fail = (np.asarray(x, float) for x in table)
    m = good_pass + good_fail + bad_pass + bad_fail
    with np.errstate(divide="ignore", invalid="ignore"):
        good, passed = (good_pass + good_fail) / m, (good_pass + bad_pass) / m
        covariance = good_pass / m - good * passed
        if weight is None:
            pooled = (n * p + m * passed) / (n + m)
            variance = pooled * (1 - pooled) * (n + m) / (n + m - 1)
            # a judge that never varies has nothing to weigh
            best = np.where(variance > 0, covariance / ((1 + m / n) * variance), 0.0)
            weight = np.clip(best, 0, 1)
        weight = np.where(others, weight, 0.0)
        value = weight * p + good - weight * passed
        rest = good * (1 - good) + weight**2 * passed * (1 - passed) - 2 * weight * covariance
        half = z * np.sqrt(weight**2 * p * (1 - p) / n + np.maximum(rest, 0) / m)
    return Interval(value, value - half, value + half), weight


def post_stratified(p: Any, ppv: Any, npv: Any, n: Any, n1: Any, n0: Any, z: float) -> Interval:
    """Share of good items from the predictive values of passes and fails.

    value = p ppv + (1 - p)(1 - npv), with a delta-method interval in which each share is moved
    towards one half as in source 1, eq. (7), so that a stratum without an error has a variance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = p * ppv + (1 - p) * (1 - npv)
        n_, n1_, n0_ = n + z**2, n1 + 2, n0 + 2
        p_, ppv_, npv_ = (n * p + z**2 / 2) / n_, (n1 * ppv + 1) / n1_, (n0 * npv + 1) / n0_
        variance = (
            (ppv_ + npv_ - 1) ** 2 * p_ * (1 - p_) / n_
            + p_**2 * ppv_ * (1 - ppv_) / n1_
            + (1 - p_) ** 2 * npv_ * (1 - npv_) / n0_
        )
        centre, half = p_ * ppv_ + (1 - p_) * (1 - npv_), z * np.sqrt(variance)
    return Interval(value, centre - half, centre + half)
