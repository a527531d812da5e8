"""Variances by item: linearised estimators, design effects, effective counts.

An estimator is a smooth function of means over rows; its linearised contributions, summed by item,
have the variance of independent items (Taylor series; Binder 1983). Divided by the variance that
independent rows would have, that is the design effect (Kish 1965). Counts divided by it are those
of a sample of independent rows that tells as much (Rao & Scott 1992; Korn & Graubard 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core.intervals import FEW, z_score
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.items.data import Items, Rows

#: Imaginary items: good and passed, good and failed, bad and passed, bad and failed.
KINDS = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]], float)

#: An item with more of it would be all that the estimate rests on.
MOST_LEVERAGE = 0.9
#: Effective counts are no whole numbers: sensitivity + specificity - 1 is 0 but for so much.
ROUNDING = 1e-12
#: In place of no rows, of which nothing is a share.
TINY = 1e-300


class Clusters(NamedTuple):
    """Rows of one system by item, and how many items of each pattern there are."""

    rows: Rows
    count: np.ndarray  # type: ignore[assignment]

    @property
    def labelled(self) -> float:
        """Items with a label."""
        return float(self.count[self.rows.labelled > 0].sum())

    @property
    def items(self) -> float:
        """Items with a row."""
        return float(self.count[self.rows.labelled + self.rows.test > 0].sum())

    @property
    def totals(self) -> Rows:
        """Rows of all items."""
        return Rows(*(self.count @ column for column in self.rows))

    def few(self) -> bool:
        """Whether fewer than `FEW` labelled items hold a row that is misjudged, good, or bad."""
        r = self.rows
        wrong = r.good + r.labelled_pass - 2 * r.good_pass
        kinds = (wrong, r.good, r.labelled - r.good)
        return min(self.count[kind > 0].sum() for kind in kinds) < FEW

    def padded(self) -> Clusters:
        """Add an imaginary item of each kind, and test items, of the usual number of rows."""
        sizes = [
            self.count[n > 0] @ n[n > 0] / max(self.count[n > 0].sum(), 1)
            for n in (self.rows.labelled, self.rows.test)
        ]
        labelled = np.column_stack([KINDS * sizes[0], np.zeros((4, 2))])
        test = np.zeros((2, 6))
        test[:, 4], test[0, 5] = sizes[1], sizes[1]
        more = np.vstack([labelled, test]).T
        rows = Rows(*(np.append(a, b) for a, b in zip(self.rows, more, strict=True)))
        return Clusters(rows, np.append(self.count, [1, 1, 1, 1, 2, 2]))


def clusters_of(items: Items, system: str) -> Clusters:
    """Take one system's, by pattern of all systems."""
    return Clusters(items.rows(system), np.asarray(items.count, float))


def own_clusters(items: Items, system: str) -> Clusters:
    """Take one system's, by its own patterns, of which there are fewer."""
    return clusters_of(items.system(system), system)


def _means(rows: Rows) -> tuple[Any, ...]:
    """Share good and share passed of the labelled rows, share passed of the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            rows.good / rows.labelled,
            rows.labelled_pass / rows.labelled,
            np.divide(rows.test_pass, rows.test) if rows.test > 0 else 0.0,
        )


class Parts(NamedTuple):
    """Contributions of each pattern to the means of truth and of verdicts."""

    truth: np.ndarray
    labelled_pass: np.ndarray
    test_pass: np.ndarray


def parts_of(clusters: Clusters) -> Parts:
    """Linearise the three means."""
    rows, total = clusters.rows, clusters.totals
    good, passed, p = _means(total)
    return Parts(
        (rows.good - good * rows.labelled) / total.labelled,
        (rows.labelled_pass - passed * rows.labelled) / total.labelled,
        (rows.test_pass - p * rows.test) / max(total.test, TINY),  # nought if all is labelled
    )


@dataclass(frozen=True)
class Spread:
    """Variance of an estimator by item, and the one that independent rows would have."""

    variance: float
    independent: float
    corrected: bool = False  #: for a small sample of items

    @property
    def design_effect(self) -> float:
        """Their ratio; 1 if nothing varies."""
        return self.variance / self.independent if self.independent > 0 else 1.0


def naive_spread(clusters: Clusters, with_labelled: bool) -> Spread:
    """Of the judge's pass rate."""
    rows = clusters.rows
    size = rows.test + (rows.labelled if with_labelled else 0)
    passed = rows.test_pass + (rows.labelled_pass if with_labelled else 0)
    return _share_spread(passed, size, clusters.count)


def _share_spread(part: np.ndarray, size: np.ndarray, count: np.ndarray) -> Spread:
    total = count @ size
    if total <= 0:
        return Spread(0.0, 0.0)
    share = count @ part / total
    z = (part - share * size) / total
    return Spread(float(count @ z**2), float(share * (1 - share) / total))


def rate_spreads(clusters: Clusters) -> tuple[Spread, Spread, Spread]:
    """Of the labelled share of good rows, of the sensitivity and of the specificity."""
    r, count = clusters.rows, clusters.count
    bad = r.labelled - r.good
    caught = bad - (r.labelled_pass - r.good_pass)
    return (
        _share_spread(r.good, r.labelled, count),
        _share_spread(r.good_pass, r.good, count),
        _share_spread(caught, bad, count),
    )


def best_weight(clusters: Clusters) -> float:
    """Weight on the judge that makes the difference estimator's variance by item least."""
    parts = parts_of(clusters)
    move = parts.labelled_pass - parts.test_pass
    cost = float(clusters.count @ move**2)
    if clusters.totals.test <= 0 or cost <= 0:
        return 0.0
    return float(np.clip(clusters.count @ (parts.truth * move) / cost, 0, 1))


def leverage(clusters: Clusters, parts: Parts) -> np.ndarray:
    """How far each labelled item draws the mean of truth and the judge's weight to itself."""
    spread = float(clusters.count @ parts.labelled_pass**2)
    own = parts.labelled_pass**2 / spread if spread > 0 else 0.0
    found = clusters.rows.labelled / clusters.totals.labelled + own
    return np.minimum(np.where(clusters.rows.labelled > 0, found, 0.0), MOST_LEVERAGE)


def difference_spread(clusters: Clusters, weight: float, corrected: bool = True) -> Spread:
    """Of the difference estimator; `corrected` divides contributions by 1 - leverage (CR3).

    That is all but the jackknife over items: the weight is chosen on the same items, so that what
    they leave over is too small.
    """
    parts, total = parts_of(clusters), clusters.totals
    good, passed, p = _means(total)
    z = parts.truth - weight * (parts.labelled_pass - parts.test_pass)
    z = z / (1 - leverage(clusters, parts)) if corrected else z
    covariance = total.good_pass / total.labelled - good * passed
    rest = good * (1 - good) + weight**2 * passed * (1 - passed) - 2 * weight * covariance
    free = weight**2 * p * (1 - p) / total.test if total.test > 0 else 0.0
    return Spread(float(clusters.count @ z**2), float(rest / total.labelled + free), corrected)


def difference_interval(
    clusters: Clusters, least: float, ci_prob: float
) -> tuple[formulas.Interval, float]:
    """Difference estimator by item, and its design effect, which counts as `least` at least.

    Student's t and CR3; of few labelled items, imaginary ones join them and stand for both, as they
    do in part 1, so that the quantile is the normal one.
    """
    few = clusters.few()
    used = clusters.padded() if few else clusters
    weight = best_weight(used)
    spread = difference_spread(used, weight, corrected=not few)
    free = clusters.labelled - 1
    quantile = z_score(ci_prob) if few else float(stdtrit(free, (1 + ci_prob) / 2))
    effect = max(spread.design_effect, least)
    half = quantile * np.sqrt(effect * spread.independent)
    (good, passed, p), own = _means(used.totals), _means(clusters.totals)
    centre = good - weight * (passed - p)
    value = own[0] - weight * (own[1] - own[2])
    return formulas.Interval(value, centre - half, centre + half), effect


def inverted_spread(clusters: Clusters) -> Spread:
    """Of the Rogan-Gladen estimator: the covariance of its three rates by item."""
    r, total, count = clusters.rows, clusters.totals, clusters.count
    bad, total_bad = r.labelled - r.good, total.labelled - total.good
    wrong, total_wrong = r.labelled_pass - r.good_pass, total.labelled_pass - total.good_pass
    if min(total.good, total_bad, total.test) <= 0:
        return Spread(0.0, 0.0)
    q1, q0, p = total.good_pass / total.good, 1 - total_wrong / total_bad, _means(total)[2]
    youden = q1 + q0 - 1
    if youden <= ROUNDING:
        return Spread(0.0, 0.0)
    theta = (p + q0 - 1) / youden
    z = (
        (r.test_pass - p * r.test) / total.test
        + (1 - theta) * (bad - wrong - q0 * bad) / total_bad
        - theta * (r.good_pass - q1 * r.good) / total.good
    ) / youden
    independent = formulas.delta_variance(p, q0, q1, total.test, total_bad, total.good)
    return Spread(float(count @ z**2), float(independent))


def stratified_spread(clusters: Clusters, with_labelled: bool = True) -> Spread:
    """Of the post-stratified estimator; of what is known, if one verdict has no label."""
    r, total, count = clusters.rows, clusters.totals, clusters.count
    failed, total_failed = r.labelled - r.labelled_pass, total.labelled - total.labelled_pass
    if total.labelled <= 0:
        return Spread(0.0, 0.0)
    passes, fails = max(total.labelled_pass, TINY), max(total_failed, TINY)
    size, passed = r.test, r.test_pass
    if with_labelled:
        size, passed = size + r.labelled, passed + r.labelled_pass
    whole = count @ size
    p = count @ passed / whole
    ppv = total.good_pass / passes
    missed = (total.good - total.good_pass) / fails
    z = (
        (ppv - missed) * (passed - p * size) / whole
        + p * (r.good_pass - ppv * r.labelled_pass) / passes
        + (1 - p) * (r.good - r.good_pass - missed * failed) / fails
    )
    independent = (
        (ppv - missed) ** 2 * p * (1 - p) / whole
        + p**2 * ppv * (1 - ppv) / passes
        + (1 - p) ** 2 * missed * (1 - missed) / fails
    )
    return Spread(float(count @ z**2), float(independent))


def small_sample(labelled: float, ci_prob: float, corrected: bool = False) -> float:
    """Square of t over the normal quantile, and C / (C - 1) for C labelled items (CR1)."""
    if labelled < 2:
        return np.inf
    t = stdtrit(labelled - 1, (1 + ci_prob) / 2)
    return float((1 if corrected else labelled / (labelled - 1)) * (t / z_score(ci_prob)) ** 2)


@dataclass(frozen=True, eq=False)
class EffectiveCounts(Counts):
    """Counts of independent rows that tell as much; they need not be whole."""

    def __post_init__(self) -> None:
        """Skip the checks of whole numbers: these come from counts that passed them."""


def effective(clusters: Clusters, design: Any, factor: float) -> EffectiveCounts:
    """Divide all counts of rows by `factor`."""
    total = Rows(*(column / factor for column in clusters.totals))
    bad, wrong = total.labelled - total.good, total.labelled_pass - total.good_pass
    return EffectiveCounts(
        total.test, total.test_pass, total.good, total.good_pass, bad, bad - wrong, design
    )
