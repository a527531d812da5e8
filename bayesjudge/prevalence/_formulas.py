"""Arithmetic of the closed forms. Everything broadcasts; nothing is checked or clipped here.

Strata that make up one whole are weighed. What a closed form adds to a sample (imaginary items, a
shift) is added to the whole, each stratum having its share of it, and each stratum's mean of its
own costs a degree of freedom, less one for the whole. So one stratum is the whole, and a table
split at random into many has the same overall value and interval, up to chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.intervals import FEW

#: Stands for a sample of all items: an interval that is as wide as rounding.
ALL = 1e18


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: Any
    low: Any
    high: Any


def invert(p: Any, q0: Any, q1: Any) -> Any:
    """Rogan-Gladen: source 1, eq. (5). `nan` or `inf` where q0 + q1 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(np.subtract(np.add(p, q0), 1), np.subtract(np.add(q0, q1), 1))


def delta_variance(p: Any, q0: Any, q1: Any, n: Any, m0: Any, m1: Any, items: bool = False) -> Any:
    """Variance of `invert` by the delta method: source 1, eq. (9).

    About these `items`, whose number of good ones is fixed, the pass rate varies by the judge's
    errors alone: by theta (1 - theta) (q0 + q1 - 1)^2 / n less.
    """
    theta = invert(p, q0, q1)
    with np.errstate(divide="ignore", invalid="ignore"):
        good = np.clip(theta, 0, 1)
        passes = good * q1 * (1 - q1) + (1 - good) * q0 * (1 - q0) if items else p * (1 - p)
        parts = passes / n + (1 - theta) ** 2 * q0 * (1 - q0) / m0 + theta**2 * q1 * (1 - q1) / m1
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
) -> Interval:
    """Source 1, eqs. (6)-(8), before clipping; the value is the interval's centre.

    The listing printed with the paper (its Figure 8) divides by q0 + q1 - 1 inside the root and
    subtracts the shift from the upper end; the equations, and Lang & Reiczigel (2014), do not.

    With few labels the shift grows faster in z than the half-width does, so that an end would turn
    back at a high level: it stays where it turned, and intervals are nested in the level.
    """

    def at(z: Any) -> Interval:
        return _lang_reiczigel(p, q0, q1, n, m0, m1, z, share, items)

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
        one, other = high - golden * (high - low), low + golden * (high - low)
        rises = end(one) < end(other)
        low, high = np.where(rises, one, low), np.where(rises, high, other)
    return np.where(before > last, np.fmax(end((low + high) / 2), last), last)


def _lang_reiczigel(
    p: Any, q0: Any, q1: Any, n: Any, m0: Any, m1: Any, z: Any, share: Any, items: bool
) -> Interval:
    n_, m0_, m1_ = n + share * z**2, m0 + 2 * share, m1 + 2 * share
    p_ = (n * p + share * z**2 / 2) / n_
    q0_, q1_ = (m0 * q0 + share) / m0_, (m1 * q1 + share) / m1_
    free, *sizes = (size - 1 + share for size in (n_, m0_, m1_))
    with np.errstate(divide="ignore", invalid="ignore"):  # nan where q0_ + q1_ = 1
        var0, var1 = q0_ * (1 - q0_) / sizes[0], q1_ * (1 - q1_) / sizes[1]
        theta = invert(p_, q0_, q1_)
        shift = 2 * z**2 * share * (theta * var1 - (1 - theta) * var0)
        half = z * np.sqrt(delta_variance(p_, q0_, q1_, free, sizes[0], sizes[1], items))
        chance = np.equal(q0_ + q1_, 1)  # which excludes nothing
        low = np.where(chance, -np.inf, theta + shift - half)
        high = np.where(chance, np.inf, theta + shift + half)
        return Interval(theta + shift, low[()], high[()])


class _Sample(NamedTuple):
    """Moments of truth and verdict among labelled items."""

    size: Any
    good: Any
    passed: Any
    covariance: Any

    @classmethod
    def of(cls, cells: np.ndarray) -> _Sample:
        good_pass, good_fail, bad_pass, bad_fail = cells
        m = good_pass + good_fail + bad_pass + bad_fail
        with np.errstate(divide="ignore", invalid="ignore"):
            good, passed = (good_pass + good_fail) / m, (good_pass + bad_pass) / m
            return cls(m, good, passed, good_pass / m - good * passed)


def difference(
    p: Any,
    n: Any,
    table: Any,
    z: float,
    weight: Any = None,
    shares: Any = None,
    items: bool = False,
) -> tuple[Interval, Any]:
    """Difference estimator: the pass rate plus the labelled items' mean correction.

    If fewer than `FEW` labelled items are misjudged, good, or bad, their variance is not told
    by themselves: one imaginary item of each of the four kinds joins them, and four, two of them
    passed, the test items, for the interval and the weight.

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
    shares : array_like, optional
        Of strata that make up one whole. They have one weight (Cochran 1977, Section 7.10: the
        combined regression estimator), since a weight found from a few labels is correlated with
        their mean, and that bias adds up; and they share the imaginary items.
    items : bool
        About these very items: labels are a sample without replacement, so that only the items
        without one are uncertain (Cochran 1977, Section 7.4).

    Returns
    -------
    Interval, weight
        One for each entry of the arguments; to be weighed where there are `shares`.
    """
    # a stratum that is labelled throughout has no other verdicts to use
    others = np.asarray(n) > 0
    p, n = np.where(others, p, 0.0), np.maximum(n, 1)
    share = np.asarray(1.0 if shares is None else shares)

    def total(values: Any) -> Any:
        return values if shares is None else np.sum(values)

    cells = np.array(np.broadcast_arrays(*table), float)
    seen = _Sample.of(cells)
    extra = np.where((seen.size > 0) & (too_few(cells, total) | (seen.size < 2)), share, 0.0)
    used = _Sample.of(cells + extra)
    p_, n_ = (n * p + 2 * extra) / (n + 4 * extra), n + 4 * extra
    m_free, n_free = used.size - 1 + share, n_ - 1 + share
    # of the items, those that the labels do not tell of by themselves
    left = np.where(others, n / (n + seen.size), 0.0) if items else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        if weight is None:
            sizes = n_ + used.size
            pooled = (n_ * p_ + used.size * used.passed) / sizes
            among_test = 0.0 if items else 1 / n_
            variance = pooled * (1 - pooled) * sizes / (sizes - 1) * (1 / used.size + among_test)
            gain, cost = (
                total(np.where(others, share**2 * left * x, 0.0))
                for x in (used.covariance / m_free, variance)
            )
            # a judge that never varies has nothing to weigh
            weight = np.clip(np.where(cost > 0, gain / cost, 0.0), 0, 1)
        weight = np.where(others, weight, 0.0)
        value = seen.good + left * weight * (p - seen.passed)
        centre = used.good + weight * (p_ - used.passed)
        centre = np.where(left > 0, (1 - left) * seen.good, seen.good) + left * centre
        rest = used.good * (1 - used.good) + weight**2 * used.passed * (1 - used.passed)
        rest = np.maximum(rest - 2 * weight * used.covariance, 0) / m_free
        of_test = 0.0 if items else weight**2 * p_ * (1 - p_) / n_free
        half = z * np.sqrt(of_test + left * rest)
    return Interval(value, centre - half, centre + half), weight


def too_few(cells: Any, total: Callable[[Any], Any] = np.asarray) -> Any:
    """Whether fewer than `FEW` labelled items are misjudged, good, or bad."""
    good_pass, good_fail, bad_pass, bad_fail = cells
    kinds = (good_fail + bad_pass, good_pass + good_fail, bad_pass + bad_fail)
    return np.minimum.reduce([total(kind) for kind in kinds]) < FEW


def post_stratified(
    p: Any,
    ppv: Any,
    npv: Any,
    n: Any,
    n1: Any,
    n0: Any,
    z: float,
    share: Any = 1.0,
    items: bool = False,
) -> Interval:
    """Share of good items from the predictive values of passes and fails.

    value = p ppv + (1 - p)(1 - npv), with a delta-method interval in which each share is moved
    towards one half as in source 1, eq. (7), so that a stratum without an error has a variance.
    About these `items` the pass rate is known, and so are the labelled ones.
    """
    n, n1, n0 = (np.asarray(size, float) for size in (n, n1, n0))  # 0 / 0 is nan, no error
    if items:
        return _post_stratified_items(p, ppv, npv, n, n1, n0, z, share)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = p * ppv + (1 - p) * (1 - npv)
        n_, n1_, n0_ = n + share * z**2, n1 + 2 * share, n0 + 2 * share
        p_ = (n * p + share * z**2 / 2) / n_
        ppv_, npv_ = (n1 * ppv + share) / n1_, (n0 * npv + share) / n0_
        variance = (
            (ppv_ + npv_ - 1) ** 2 * p_ * (1 - p_) / (n_ - 1 + share)
            + p_**2 * ppv_ * (1 - ppv_) / (n1_ - 1 + share)
            + (1 - p_) ** 2 * npv_ * (1 - npv_) / (n0_ - 1 + share)
        )
        centre, half = p_ * ppv_ + (1 - p_) * (1 - npv_), z * np.sqrt(variance)
    return Interval(value, centre - half, centre + half)


def _post_stratified_items(
    p: Any, ppv: Any, npv: Any, n: Any, n1: Any, n0: Any, z: float, share: Any
) -> Interval:
    value: Any = 0.0
    centre: Any = 0.0
    variance: Any = 0.0
    for rate, good, labelled in ((p, ppv, n1), (1 - p, 1 - np.asarray(npv), n0)):
        size = n * rate
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(size > labelled, 1 - labelled / size, 0.0)
            padded = labelled + 2 * share
            moved = (labelled * good + share) / padded
            own = rate * ((1 - left) * good + left * moved)
            spread = rate**2 * left * moved * (1 - moved) / (padded - 1 + share)
        # no item has this verdict: nothing is missing
        value = value + np.where(rate > 0, rate * good, 0.0)
        centre = centre + np.where(rate > 0, own, 0.0)
        variance = variance + np.where(rate > 0, spread, 0.0)
    half = z * np.sqrt(variance)
    return Interval(value, centre - half, centre + half)


def finite(k: Any, m: Any, total: Any) -> tuple[Any, Any]:
    """Successes and trials of a sample that tells as much as `m` of `total` items do of these.

    The finite-population correction as a larger sample: Cochran (1977), Section 3.5.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(total > m, (np.asarray(total) - 1) / (np.asarray(total) - m), ALL)
    gain = np.where(np.asarray(m) > 0, np.maximum(gain, 1.0), 1.0)
    return k * gain, m * gain


# Numbers in place of pass and fail --------------------------------------------------------------


class Moments(NamedTuple):
    """Size, means, variances and covariance of predictions f and truths y, both in [0, 1]."""

    size: Any
    f: Any
    y: Any
    ff: Any
    yy: Any
    fy: Any

    @classmethod
    def of(cls, f: Any, y: Any, n: Any, corners: float = 0.0) -> Moments:
        """Of patterns with counts `n`, joined by `corners` items of each extreme kind."""
        f, y, n = (np.asarray(x, float) for x in (f, y, n))
        size = n.sum(axis=-1) + 4 * corners

        def mean(values: Any, ones: int) -> Any:
            return ((n * values).sum(axis=-1) + ones * corners) / size

        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = mean(f, 2), mean(y, 2)
            parts = mean(f * f, 2) - one**2, mean(y * y, 2) - two**2, mean(f * y, 1) - one * two
        return cls(size, one, two, *parts)


def linear_difference(
    labelled: tuple[Any, Any, Any],
    test: tuple[Any, Any],
    z: float,
    *,
    weight: Any = None,
    corners: float = 0.0,
    free: float = 0.0,
) -> tuple[Interval, Any]:
    """`difference` of any numbers in [0, 1]: predictions and truths as patterns with counts.

    `corners` imaginary items of each of the four extreme kinds join the interval and the weight,
    as in `difference`; `free` degrees of freedom are lost to means (0 there, 1 for a t interval).
    """
    f, y, n = labelled
    seen, used = Moments.of(f, y, n), Moments.of(f, y, n, corners)
    other, f_test, n_test = Moments.of(test[0], test[0], test[1]), *test
    other_ = Moments.of(f_test, f_test, n_test)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = other.size + 4 * corners
        second = (other.size * (other_.ff + other_.f**2) + 2 * corners) / sizes
        first = (other.size * other_.f + 2 * corners) / sizes
        spread = second - first**2
        total = sizes + used.size
        mean = (sizes * first + used.size * used.f) / total
        pooled = (sizes * second + used.size * (used.ff + used.f**2)) / total - mean**2
        if weight is None:
            cost = pooled * total / (total - 1) * (1 / used.size + 1 / sizes)
            gain = used.fy / used.size
            weight = np.maximum(np.where(cost > 1e-15, gain / cost, 0.0), 0)
        weight = np.where(other.size > 0, weight, 0.0)
        w = np.where(weight > 0, weight, 0.0)
        value = np.where(w > 0, w * np.nan_to_num(other.f), 0.0) + seen.y - w * seen.f
        centre = np.where(w > 0, w * np.nan_to_num(first), 0.0) + used.y - w * used.f
        rest = np.maximum(used.yy + w**2 * used.ff - 2 * w * used.fy, 0) / (used.size - free)
        half = z * np.sqrt(np.nan_to_num(w**2 * spread / (sizes - free)) + rest)
    return Interval(value, centre - half, centre + half), w


def binned(
    items: Any, labels: Any, sums: Any, squares: Any, z: float, corners: float = 4.0
) -> Interval:
    """Mean truth from its means by bin of the prediction; `post_stratified` of two bins.

    `items` counts all items by bin (last axis), `labels` those with a truth in [0, 1], `sums` and
    `squares` add their truths up. What joins the interval is spread over the bins: z^2 items, and
    `corners` labels, half of them 0 and half 1; without any, a bin costs a degree of freedom.
    """
    items, labels, sums, squares = (np.asarray(x, float) for x in (items, labels, sums, squares))
    bins, total = items.shape[-1], items.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(items > 0, sums / labels, 0.0)
        value = (items / total * means).sum(axis=-1)
        more = z**2 if corners else 0.0
        n, p = total + more, (items + more / bins) / (total + more)
        m = labels + corners / bins
        y = np.where(p > 0, (sums + corners / bins / 2) / m, 0.0)
        spread = np.where(p > 0, np.maximum((squares + corners / bins / 2) / m - y**2, 0), 0.0)
        m = m if corners else np.where(p > 0, m - 1, 1.0)
        centre = (p * y).sum(axis=-1)
        between = (p * (y - centre[..., None]) ** 2 / n).sum(axis=-1)
        half = z * np.sqrt(between + (p**2 * spread / m).sum(axis=-1))
    half = np.where(np.isnan(value), np.nan, half)  # a bin without a label says nothing
    return Interval(value, centre - half, centre + half)


# Strata ------------------------------------------------------------------------------------------


def weighed(shares: Any, raw: Any, low: Any, high: Any, axis: int | None = None) -> Interval:
    """Overall value of strata: values and centres of the intervals add up, and variances do."""
    with np.errstate(invalid="ignore"):  # ends at infinity leave the whole without an interval
        half = np.sqrt(np.sum((shares * (high - low) / 2) ** 2, axis=axis))
        centre = np.sum(shares * (low + high) / 2, axis=axis)
        return Interval(np.sum(shares * raw, axis=axis), centre - half, centre + half)


def effective(shares: Any, k: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Successes and trials of one sample that tells the overall share as well as the strata do.

    Korn & Graubard (1998), Survey Methodology 24, 193-201, with the variances of `wilson`.
    """
    n_ = n + shares * z**2
    p_ = (k + shares * z**2 / 2) / n_
    centre = np.sum(shares * p_)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.sum(shares**2 * p_ * (1 - p_) / (n_ - 1 + shares))
        # strata of single items may tell less than none at all would, by this rule
        trials = np.maximum(centre * (1 - centre) / variance - z**2, 1.0)
        share = np.minimum(np.sum(shares * k / n), 1.0)  # whatever rounding says
        # nothing of nothing where a stratum has no trials: no share, no interval
        return (0.0, 0.0) if np.isnan(share) else (share * trials, trials)


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
