"""Variances by item: influence values of rows, summed by item.

An estimator is a smooth function of means over rows; its linearised contributions, summed by item,
have the variance of independent items (Taylor series; Binder 1983). Divided by the variance that
independent rows would have, that is the design effect (Kish 1965). Counts divided by it are those
of a sample of independent rows that tells as much (Rao & Scott 1992; Korn & Graubard 1998).

Rows are of six kinds, so that an estimator's influence values are six numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesjudge.core.intervals import FEW, z_score
from bayesjudge.truth import influence
from bayesjudge.truth.influence import Interval, t_quantile

#: Verdict, truth and label of the six kinds of rows: labelled ones as in `influence`, then others.
PASSED = np.array([*influence.PASSED, *influence.TEST_PASSED])
GOOD = np.array([*influence.GOOD, 0, 0])
LABELLED = np.array([1.0, 1, 1, 1, 0, 0])

#: An item with more of it would be all that the estimate rests on.
MOST_LEVERAGE = 0.9
#: Effective counts are no whole numbers: sensitivity + specificity - 1 is 0 but for so much.
ROUNDING = 1e-12
#: Labelled items of each sign of a difference of truths, before any are seen.
BEFORE = 0.75
#: In place of no rows, of which nothing is a share.
TINY = 1e-300


class Clusters(NamedTuple):
    """Rows of one system by pattern of items and kind of row, and items of each pattern."""

    rows: np.ndarray
    count: np.ndarray  # type: ignore[assignment]

    @classmethod
    def of(cls, cells: np.ndarray, count: np.ndarray) -> Clusters:
        """From cells of shape (n_patterns, 3, 2): truth bad, good, unknown; fail, pass."""
        flipped = cells[:, [1, 0, 2], ::-1].astype(float)
        return cls(flipped.reshape(-1, 6), np.asarray(count, float))

    @property
    def totals(self) -> np.ndarray:
        """Rows of all items by kind."""
        return self.count @ self.rows

    @property
    def has_label(self) -> np.ndarray:
        """Whether items of each pattern have a label."""
        return self.rows @ LABELLED > 0

    @property
    def labelled(self) -> float:
        """Items with a label."""
        return float(self.count[self.has_label].sum())

    @property
    def items(self) -> float:
        """Items with a row."""
        return float(self.count[self.rows.any(axis=1)].sum())

    def few(self) -> bool:
        """Whether fewer than `FEW` labelled items hold a row that is misjudged, good, or bad."""
        kinds = (np.abs(GOOD - PASSED), GOOD, 1 - GOOD)
        held = [self.count[self.rows @ (LABELLED * kind) > 0].sum() for kind in kinds]
        return min(held) < FEW

    def padded(self) -> Clusters:
        """Add an imaginary item of each kind, and test items, of the usual number of rows."""
        sizes = [
            self.count[n > 0] @ n[n > 0] / max(self.count[n > 0].sum(), 1)
            for n in (self.rows @ LABELLED, self.rows @ (1 - LABELLED))
        ]
        more = np.diag(np.where(LABELLED > 0, *sizes))
        return Clusters(np.vstack([self.rows, more]), np.append(self.count, [1, 1, 1, 1, 2, 2]))


class Means(NamedTuple):
    """Share good and share passed of the labelled rows, share passed of the others."""

    good: float
    passed: float
    others: float

    @classmethod
    def of(cls, totals: np.ndarray) -> Means:
        """The last is 0 if all rows are labelled."""
        with np.errstate(divide="ignore", invalid="ignore"):
            good, passed = (totals[:4] @ x[:4] / totals[:4].sum() for x in (GOOD, PASSED))
        others = totals[4:].sum()
        return cls(good, passed, totals[4] / others if others > 0 else 0.0)


class Spread(NamedTuple):
    """Variance of an estimator by item, and the one that independent rows would have."""

    variance: float
    independent: float
    corrected: bool = False  #: for a small sample of items

    @property
    def design_effect(self) -> float:
        """Their ratio; 1 if nothing varies."""
        return self.variance / self.independent if self.independent > 0 else 1.0


def spread_of(clusters: Clusters, values: np.ndarray) -> Spread:
    """Of an estimator with these influence values of the six kinds of rows."""
    by_item = clusters.rows @ values
    return Spread(float(clusters.count @ by_item**2), float(clusters.totals @ values**2))


# Influence values --------------------------------------------------------------------------------


def of_share(totals: np.ndarray, among: np.ndarray, what: np.ndarray) -> np.ndarray:
    """Of the share of rows that are `what` `among` some kinds; none if there are none."""
    size = totals @ among
    return among * (what - totals @ (among * what) / size) / size if size > 0 else 0 * among


def of_pass_rate(totals: np.ndarray, with_labelled: bool) -> np.ndarray:
    """Of the judge's pass rate."""
    return of_share(totals, np.ones(6) if with_labelled else 1 - LABELLED, PASSED)


def of_rates(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the labelled share of good rows, of the sensitivity and of the specificity."""
    return (
        of_share(totals, LABELLED, GOOD),
        of_share(totals, LABELLED * GOOD, PASSED),
        of_share(totals, LABELLED * (1 - GOOD), 1 - PASSED),
    )


class Parts(NamedTuple):
    """Contributions to the means of truths, of verdicts on labelled rows, and on others."""

    truth: np.ndarray
    labelled_pass: np.ndarray
    test_pass: np.ndarray


def of_means(totals: np.ndarray) -> Parts:
    """Of the three means of a difference estimator."""
    return Parts(
        of_share(totals, LABELLED, GOOD),
        of_share(totals, LABELLED, PASSED),
        of_share(totals, 1 - LABELLED, PASSED),
    )


def parts_of(clusters: Clusters) -> Parts:
    """Contributions of an item of each pattern."""
    return Parts(*(clusters.rows @ part for part in of_means(clusters.totals)))


def of_inversion(totals: np.ndarray) -> np.ndarray:
    """Of the Rogan-Gladen estimator; none where it has no value."""
    _, hit, caught = of_rates(totals)
    good, bad = totals[:2].sum(), totals[2:4].sum()
    if min(good, bad, totals[4:].sum()) <= 0:
        return np.zeros(6)
    q1, q0, p = totals[0] / good, totals[3] / bad, Means.of(totals).others
    youden = q1 + q0 - 1
    if youden <= ROUNDING:
        return np.zeros(6)
    theta = (p + q0 - 1) / youden
    return (of_pass_rate(totals, False) + (1 - theta) * caught - theta * hit) / youden


def of_strata(totals: np.ndarray, with_labelled: bool = True) -> np.ndarray:
    """Of the post-stratified estimator; of what is known, if one verdict has no label."""
    if totals[:4].sum() <= 0:
        return np.zeros(6)
    passes, fails = LABELLED * PASSED, LABELLED * (1 - PASSED)
    ppv, missed = (totals @ (x * GOOD) / max(totals @ x, TINY) for x in (passes, fails))
    whole = totals if with_labelled else totals * (1 - LABELLED)
    p = whole @ PASSED / whole.sum()
    rate = of_pass_rate(totals, with_labelled)
    within = p * of_share(totals, passes, GOOD) + (1 - p) * of_share(totals, fails, GOOD)
    return (ppv - missed) * rate + within


# Intervals ---------------------------------------------------------------------------------------


def best_weight(clusters: Clusters) -> float:
    """Weight on the judge that makes the difference estimator's variance by item least."""
    parts = parts_of(clusters)
    move = parts.labelled_pass - parts.test_pass
    cost = float(clusters.count @ move**2)
    if clusters.totals[4:].sum() <= 0 or cost <= 0:
        return 0.0
    return float(np.clip(clusters.count @ (parts.truth * move) / cost, 0, 1))


def independent_weight(clusters: Clusters) -> float:
    """Weight on the judge that independent rows would have, as in the posterior."""
    totals = clusters.totals
    labelled, others = totals[:4].sum(), totals[4:].sum()
    if others <= 0:
        return 0.0
    good, passed, p = Means.of(totals)
    cost = p * (1 - p) * (1 + labelled / others)
    gain = totals[0] / labelled - good * passed
    return float(np.clip(gain / cost, 0, 1)) if cost > 0 else 0.0


def leverage(passed: np.ndarray, count: np.ndarray, share: np.ndarray) -> np.ndarray:
    """How far each labelled item draws the mean of truth and the judge's weight to itself.

    `share` is its part of the labelled rows, 0 of items without a label.
    """
    known = float(count[share > 0] @ passed[share > 0] ** 2)
    drawn = share + passed**2 / known if known > 0 else share
    return np.minimum(np.where(share > 0, drawn, 0.0), MOST_LEVERAGE)


def difference_spread(clusters: Clusters, weight: float, corrected: bool = True) -> Spread:
    """Of the difference estimator; `corrected` divides contributions by 1 - leverage (CR3).

    That is all but the jackknife over items: the weight is chosen on the same items, so that what
    they leave over is too small (Cameron & Miller 2015).
    """
    each = of_means(clusters.totals)
    values = each.truth - weight * (each.labelled_pass - each.test_pass)
    spread = spread_of(clusters, values)
    if not corrected:
        return spread
    share = clusters.rows @ LABELLED / clusters.totals[:4].sum()
    drawn = leverage(clusters.rows @ each.labelled_pass, clusters.count, share)
    by_item = clusters.rows @ values / (1 - drawn)
    return Spread(float(clusters.count @ by_item**2), spread.independent, True)


def difference(clusters: Clusters, least: float, ci_prob: float) -> tuple[Interval, float]:
    """Difference estimator by item, and its design effect, which counts as `least` at least.

    Student's t and CR3; of few labelled items, imaginary ones join them and stand for both, as they
    do of independent rows, so that the quantile is the normal one.
    """
    few = clusters.few()
    used = clusters.padded() if few else clusters
    weight = best_weight(used)
    spread = difference_spread(used, weight, corrected=not few)
    quantile = z_score(ci_prob) if few else t_quantile(clusters.labelled - 1, ci_prob)
    effect = max(spread.design_effect, least)
    half = quantile * np.sqrt(effect * spread.independent)
    (good, passed, p), each = Means.of(used.totals), Means.of(clusters.totals)
    centre = good - weight * (passed - p)
    value = each.good - weight * (each.passed - each.others)
    return Interval(value, centre - half, centre + half), effect


def small_sample(labelled: float, ci_prob: float, corrected: bool = False) -> float:
    """Square of t over the normal quantile, and C / (C - 1) for C labelled items (CR1)."""
    if labelled < 2:
        return np.inf
    t = t_quantile(labelled - 1, ci_prob)
    return float((1 if corrected else labelled / (labelled - 1)) * (t / z_score(ci_prob)) ** 2)


def correlation_within(clusters: Clusters, z: float) -> tuple[float, float, float]:
    """Correlation of two labels of an item: pairs against the labels' own variance (Kish 1965)."""
    count = clusters.count
    labelled, good = clusters.rows @ LABELLED, clusters.rows @ GOOD
    pairs = labelled * (labelled - 1)
    theta = count @ good / max(count @ labelled, 1)
    if count @ pairs <= 0 or theta in (0, 1):
        return np.nan, np.nan, np.nan
    # products of deviations of two different labels: (sum of deviations)^2 less the squares
    products = (good - theta * labelled) ** 2
    products = products - good * (1 - theta) ** 2 - (labelled - good) * theta**2
    variance = theta * (1 - theta)
    value = count @ products / (count @ pairs) / variance
    shared = (products - value * variance * pairs) / (count @ pairs * variance)
    slope = (1 - 2 * theta) / variance * (good - theta * labelled) / (count @ labelled)
    half = z * np.sqrt(count @ (shared - value * slope) ** 2)
    low, high = np.clip((value - half, value + half), 0, 1)
    return float(np.clip(value, 0, 1)), float(low), float(high)


# Differences of systems on the same items -------------------------------------------------------


class Contrast(NamedTuple):
    """Difference of two systems' prevalences, and each pattern's contribution to it."""

    value: float
    centre: float
    variance: float
    labelled: float
    influence: np.ndarray


def contrast(first: Clusters, second: Clusters) -> Contrast:
    """Contributions of both systems, summed by item, with one weight on the judge.

    Both have the same patterns. Where they are `few_apart`, centre and variance are those of
    `few_posterior`. Where it has none, imaginary items, each as large as a labelled one, join them:
    one for each sign of the difference of truths and of verdicts.
    """
    count = first.count
    truth, passed, tests = (a - b for a, b in zip(parts_of(first), parts_of(second), strict=True))
    gap, gap_labelled, gap_test = np.array(Means.of(first.totals)) - Means.of(second.totals)
    whole = all(clusters.totals[4:].sum() > 0 for clusters in (first, second))
    labelled = first.has_label | second.has_label
    size = float(count[labelled].sum())
    extra_y = extra_v = extra_t = np.zeros(0)
    shrink, held = 1.0, size
    if few_apart(first, second):
        held, shrink = size + 4, size / (size + 4)
        truth, passed = truth * shrink, passed * shrink
        extra_y, extra_v = np.array([1, -1, 0, 0.0]) / held, np.array([0, 0, 1, -1.0]) / held
        seen = (first.rows[:, 4:] + second.rows[:, 4:]).any(axis=1)
        others = float(count[seen].sum())
        if others:
            tests = tests * others / (others + 4)
            extra_t = np.array([1, 1, -1, -1.0]) / (others + 4)
    move = passed - tests
    cost = count @ move**2 + extra_v @ extra_v + extra_t @ extra_t
    gain = count @ (truth * move) + extra_y @ extra_v
    weight = float(np.clip(gain / cost, 0, 1)) if whole and cost > 0 else 0.0
    known = float(count[labelled] @ passed[labelled] ** 2 + extra_v @ extra_v)
    pull = passed**2 / known if weight > 0 and known > 0 else 0 * passed
    drawn = np.minimum(np.where(labelled, 1 / held + pull, 0.0), MOST_LEVERAGE)
    z = (truth - weight * move) / (1 - drawn)
    extra = (extra_y - weight * extra_v) / (1 - 1 / held)
    variance = count @ z**2 + extra @ extra + weight**2 * (extra_t @ extra_t)
    value = weight * (gap_test if whole else 0.0) + gap - weight * gap_labelled
    centre = gap * shrink - weight * gap_labelled * shrink + weight * gap_test * whole
    posterior = few_posterior(first, second) if held > size and whole else None
    centre, variance = posterior or (centre, variance)
    return Contrast(float(value), float(centre), float(variance), size, z)


def few_posterior(first: Clusters, second: Clusters) -> tuple[float, float] | None:
    """Posterior mean and variance of the difference, from the signs of differences by item.

    None unless each item has one row of each system, both labelled or neither. Shares of the signs
    of the difference of verdicts are Dirichlet, by all items, with one more of each sign. Among
    items of one such sign, shares of the signs of the difference of truths are Dirichlet, by the
    labelled ones, with `BEFORE` items of each sign of truths shared out as the verdicts' signs are.
    """
    rows = np.stack([first.rows, second.rows])
    known = rows @ LABELLED
    if (rows.sum(axis=2) != 1).any() or (known[0] != known[1]).any():
        return None
    truth, passed = (np.rint(x[0] - x[1]).astype(int) + 1 for x in (rows @ GOOD, rows @ PASSED))
    items = np.bincount(passed, first.count, 3) + 1
    total = items.sum()
    share = items / total
    cells = np.tile(BEFORE * share, (3, 1))
    np.add.at(cells, (truth, passed), first.count * known[0])
    labelled = cells.sum(axis=0)
    gap = (cells[2] - cells[0]) / labelled
    within = ((cells[2] + cells[0]) / labelled - gap**2) / (labelled + 1)
    mean = share @ gap
    between = share @ gap**2 - mean**2 + share * (1 - share) @ within
    return float(mean), float(share**2 @ within + between / (total + 1))


def few_apart(first: Clusters, second: Clusters) -> bool:
    """Whether few items labelled for both differ in truth, or otherwise than in verdict."""
    seen = first.has_label & second.has_label

    def gap(what: np.ndarray) -> np.ndarray:
        shares = [
            side.rows @ (LABELLED * what) / (side.rows @ LABELLED) for side in (first, second)
        ]
        return shares[0] - shares[1]

    with np.errstate(divide="ignore", invalid="ignore"):
        truth, passed = gap(GOOD), gap(PASSED)
    all_labelled = (first.totals + second.totals)[4:].sum() <= 0
    rests_on = [truth] if all_labelled else [truth, truth - passed]
    return bool(min(first.count[seen & (np.abs(apart) > 1e-9)].sum() for apart in rests_on) < FEW)


def largest_deviation(contrasts: Sequence[Contrast], count: np.ndarray, ci_prob: float) -> float:
    """Quantile of the largest deviation among all differences, in standard errors.

    Montiel Olea & Plagborg-Møller (2019), from 10,000 draws of the items' contributions.
    """
    rng = np.random.default_rng(1)
    z = np.array([c.influence for c in contrasts]) * np.sqrt(count)
    errors = np.sqrt((z**2).sum(axis=1))
    shape = z[errors > 0] / errors[errors > 0, None]
    df = min(c.labelled for c in contrasts) - 1
    if not len(shape) or df < 1:
        return np.inf
    largest = []
    for _ in range(20):
        draws = np.abs(shape @ rng.standard_normal((shape.shape[1], 500))).max(axis=0)
        largest.append(draws / np.sqrt(rng.chisquare(df, 500) / df))
    return float(np.quantile(np.concatenate(largest), ci_prob))
