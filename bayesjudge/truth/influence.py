"""Closed forms by influence values: means of people's labels, corrected by what a judge predicts.

A table is patterns with counts: predictions f and truths y, both in [0, 1] (pass and fail are 1 and
0), on the last axis; systems, strata and classes are axes before it. Everything broadcasts; nothing
is checked or clipped here.

Strata that make up one whole are weighed. What a closed form adds to a sample (imaginary items, a
shift) is added to the whole, each stratum having its share of it, and each stratum's mean of its
own costs a degree of freedom, less one for the whole. So one stratum is the whole, and a table
split at random into many has the same overall value and interval, up to chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.intervals import FEW, z_score

#: Stands for a sample of all items: an interval that is as wide as rounding.
ALL = 1e18
#: Variance of predictions below which they are one number, but for rounding.
CONSTANT = 1e-15
#: Verdicts and truths of labelled items: good and passed, good and failed, bad and passed, bad and
#: failed; and verdicts of the others.
PASSED, GOOD = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])
TEST_PASSED = np.array([1.0, 0])


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: Any
    low: Any
    high: Any


class Moments(NamedTuple):
    """Size, means, variances and covariance of predictions f and truths y."""

    size: Any
    f: Any
    y: Any
    ff: Any
    yy: Any
    fy: Any

    @classmethod
    def of(cls, f: Any, y: Any, n: Any, corners: Any = 0.0) -> Moments:
        """Of patterns with counts `n`, joined by `corners` items of each extreme kind."""
        f, y, n = (np.asarray(x, float) for x in (f, y, n))
        size = n.sum(axis=-1) + 4 * corners

        def mean(values: Any, ones: int) -> Any:
            return ((n * values).sum(axis=-1) + ones * corners) / size

        with np.errstate(divide="ignore", invalid="ignore"):
            mean_f, mean_y = mean(f, 2), mean(y, 2)
            ff, yy = mean(f * f, 2) - mean_f**2, mean(y * y, 2) - mean_y**2
            fy = mean(f * y, 1) - mean_f * mean_y
        return cls(size, mean_f, mean_y, ff, yy, fy)


class Labelled(NamedTuple):
    """Predictions, truths and counts of labelled items by pattern."""

    f: Any
    y: Any
    n: Any


class Others(NamedTuple):
    """Predictions and counts of items without a label by pattern."""

    f: Any
    n: Any


def of_verdicts(test_pass: Any, test_n: Any, table: Any) -> tuple[Labelled, Others]:
    """Patterns of pass and fail; `table` has four counts of labelled items, as `PASSED`, `GOOD`."""
    cells = np.stack(np.broadcast_arrays(*table), axis=-1).astype(float)
    test_pass = np.asarray(test_pass, float)
    rest = np.stack(np.broadcast_arrays(test_pass, test_n - test_pass), axis=-1)
    return Labelled(PASSED, GOOD, cells), Others(TEST_PASSED, rest)


def few(labelled: Labelled, *, whole: bool = False) -> Any:
    """Whether fewer than `FEW` labelled items' worth are misjudged, good, or bad.

    Of strata that make up one `whole`, in all of them (their axis is the first).
    """
    f, y, n = (np.asarray(x, float) for x in labelled)
    kinds = [(n * kind).sum(axis=-1) for kind in (np.abs(y - f), y, 1 - y)]
    return np.minimum.reduce([kind.sum(axis=0) if whole else kind for kind in kinds]) < FEW


def few_differ(values: np.ndarray, n: np.ndarray) -> bool:
    """Whether fewer than `FEW` numbers are other than the commonest: `few` of numeric truths."""
    _, which = np.unique(np.round(values, 9), return_inverse=True)
    return bool(n.sum() - np.bincount(which, n).max() < FEW)


def difference(
    labelled: Labelled,
    others: Others,
    z: float,
    *,
    weight: Any = None,
    most: float = 1.0,
    corners: Any = None,
    lost: float = 0.0,
    shares: Any = None,
    items: bool = False,
) -> tuple[Interval, Any]:
    """Difference estimator: the mean prediction plus the labelled items' mean correction.

    Where labelled items are `few`, their variance is not told by themselves: one imaginary item of
    each of the four extreme kinds joins them, and four, two of them predicted 1, the others, for
    the interval and the weight (Bonett & Price 2012).

    Parameters
    ----------
    labelled, others : Labelled, Others
        Items with and without a label.
    z : float
        Quantile of the interval.
    weight : array_like, optional
        How much of the judge to use: 1 is the classical estimator; by default the weight of least
        variance (Angelopoulos, Duchi & Zrnic 2023, eq. 5), from 0 to `most`.
    most : float
        1 of verdicts; of scores there is no limit, since they may be compressed.
    corners : array_like, optional
        Imaginary items of each kind; by default one where labelled items are `few`.
    lost : float
        Degrees of freedom lost to means: 0, or 1 for a t interval.
    shares : array_like, optional
        Of strata that make up one whole, along the first axis. They have one weight (Cochran 1977,
        Section 7.10: the combined regression estimator), since a weight found from a few labels is
        correlated with their mean, and that bias adds up; and they share the imaginary items.
    items : bool
        About these very items: labels are a sample without replacement, so that only the items
        without one are uncertain (Cochran 1977, Section 7.4).

    Returns
    -------
    Interval, weight
        One for each entry of the arguments; to be weighed where there are `shares`.
    """
    strata = shares is not None
    share = np.asarray(1.0 if shares is None else shares)

    def total(values: Any) -> Any:
        return np.sum(values, axis=0) if strata else values

    seen, rest = Moments.of(*labelled), Moments.of(others.f, others.f, others.n)
    if corners is None:
        so = few(labelled, whole=strata) | (seen.size < 2)
        corners = np.where((seen.size > 0) & so, share, 0.0)
    used = Moments.of(*labelled, corners)
    # a stratum that is labelled throughout has no other predictions to use
    have = rest.size > 0
    rate, n = np.where(have, rest.f, 0.0), rest.size + 4 * corners
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(have, (rest.size * rate + 2 * corners) / n, 0.0)
        square = np.where(have, rest.ff + rest.f**2, 0.0)
        second = np.where(have, (rest.size * square + 2 * corners) / n, 0.0)
        # each stratum's mean costs a degree of freedom, less one for the whole
        m_free, n_free = used.size - 1 + share, n - 1 + share
        # of the items, those that the labels do not tell of by themselves
        left = np.where(have, rest.size / (rest.size + seen.size), 0.0) if items else 1.0
        sizes = n + used.size
        mean = (n * first + used.size * used.f) / sizes
        pooled = (n * second + used.size * (used.ff + used.f**2)) / sizes - mean**2
        of_one = pooled * sizes / (sizes - 1)  # variance of a prediction
        if weight is None:
            among_others = 0.0 if items else 1 / n
            variance = of_one * (1 / used.size + among_others)
            gain, cost = (
                total(np.where(have, share**2 * left * x, 0.0))
                for x in (used.fy / m_free, np.where(pooled > CONSTANT, variance, 0.0))
            )
            # a judge that never varies has nothing to weigh
            weight = np.clip(np.where(cost > 0, gain / cost, 0.0), 0, most)
        weight = np.where(have, weight, 0.0)
        value = seen.y + left * weight * (rate - seen.f)
        centre = used.y + weight * (first - used.f)
        centre = np.where(left > 0, (1 - left) * seen.y, seen.y) + left * centre
        noise = np.maximum(used.yy + weight**2 * used.ff - 2 * weight * used.fy, 0)
        noise = noise / (m_free - lost)
        # one item alone does not tell how far predictions scatter, but it and the labelled ones do
        alone = (second - first**2) / (n_free - lost)
        spread = weight**2 * np.where(n_free > lost, alone, of_one / n)
        half = z * np.sqrt(np.where(have & ~np.asarray(items), spread, 0.0) + left * noise)
    return Interval(value, centre - half, centre + half), weight


def post_stratified(
    items: Any,
    labels: Any,
    sums: Any,
    squares: Any,
    z: float,
    *,
    corners: float = 4.0,
    share: Any = 1.0,
    known: bool = False,
) -> Interval:
    """Mean truth from its means by bin of the prediction: by verdict, or by bin of a score.

    What joins the interval is spread over the bins, as source 1, eq. (7), moves each share towards
    one half, so that a bin without an error has a variance: z^2 items, and `corners` labels, half
    of them 0 and half 1. Without any, a bin costs a degree of freedom (Cochran 1977, Section 5A.9).

    Parameters
    ----------
    items, labels, sums, squares : array_like, shape (…, n_bins)
        All items by bin, those with a truth, and the sums and squares of their truths.
    z : float
        Quantile of the interval.
    corners : float
        4, or 0 of numeric truths.
    share : array_like
        Of strata that make up one whole.
    known : bool
        Whether about these very items: the bins' shares are known, and so are labelled truths.
    """
    items, labels, sums, squares = (np.asarray(x, float) for x in (items, labels, sums, squares))
    share = np.asarray(share, float)[..., None]
    bins, total = items.shape[-1], items.sum(axis=-1, keepdims=True)
    half_of_them = share * corners / bins / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(items > 0, sums / labels, 0.0)
        value = (items / total * means).sum(axis=-1)
        more = share * z**2 if corners and not known else 0.0
        n = total + more
        p = (items + more / bins) / n
        m = labels + 2 * half_of_them
        moved = np.where(p > 0, (sums + half_of_them) / m, 0.0)
        spread = np.maximum((squares + half_of_them) / m - moved**2, 0)
        left = np.where(items > labels, 1 - labels / items, 0.0) if known else 1.0
        y = np.where(left < 1, (1 - left) * means, 0.0) + left * moved
        centre = (p * y).sum(axis=-1, keepdims=True)
        between = 0.0 if known else p * (y - centre) ** 2 / (n - 1 + share)
        free = m - 1 + share if corners else m - 1
        within = np.where(p > 0, p**2 * left * spread / free, 0.0)
        half = z * np.sqrt((between + within).sum(axis=-1))
    centre, half = centre[..., 0], np.where(np.isnan(value), np.nan, half)
    return Interval(value, centre - half, centre + half)


class Errors(NamedTuple):
    """A number, and centre, standard error and degrees of freedom of its interval."""

    value: float
    centre: float
    error: float
    df: float = np.inf

    @property
    def probability(self) -> float:
        """That it is above 0, by the distribution of the interval."""
        from scipy.special import stdtr

        return float(stdtr(self.df, self.centre / self.error)) if self.error > 0 else np.nan

    def interval(self, ci_prob: float) -> Interval:
        """Normal or, with finite degrees of freedom, Student's."""
        half = t_quantile(self.df, ci_prob) * self.error
        return Interval(self.value, self.centre - half, self.centre + half)

    def less(self, other: Errors) -> Errors:
        """The difference to another number, which is independent of it (Welch 1947)."""
        parts = np.array([self.error, other.error]) ** 2
        total, each = parts.sum(), (parts**2 / [self.df, other.df]).sum()
        return Errors(
            self.value - other.value,
            self.centre - other.centre,
            float(np.sqrt(total)),
            float(total**2 / each) if each > 0 else np.inf,
        )


def t_quantile(df: float, ci_prob: float) -> float:
    """Half-width of an interval by Student's t, in standard errors; endless below one freedom."""
    from scipy.special import stdtrit  # slow to load

    if np.isinf(df):
        return z_score(ci_prob)
    return float(stdtrit(df, (1 + ci_prob) / 2)) if df > 0 else np.inf


def propensity_weighted(
    labelled: Labelled,
    others: Others,
    propensity: tuple[Any, Any],
    *,
    weight: float | None = None,
    most: float = 1.0,
    corners: float | None = None,
    items: bool = False,
) -> Errors:
    """Difference estimator of items that were labelled with known probabilities of their own.

    Each labelled item counts for as many as it stands for (Hájek 1971; Zrnic & Candès 2024). The
    weight on the judge is that of least variance, as in `difference`; so are the imaginary items,
    which the classes of propensity share by their numbers of items.

    Parameters
    ----------
    labelled, others : Labelled, Others
        One-dimensional.
    propensity : tuple of array_like
        Of labelled and of other patterns.
    weight, most, corners, items
        As in `difference`; of these items it is left to chance which of them were labelled.
    """
    of_labelled, rest = (np.asarray(x, float) for x in propensity)
    known = np.concatenate([np.ones(of_labelled.size), np.zeros(rest.size)])
    table = np.array(
        [
            np.concatenate([labelled.f, others.f]),
            np.concatenate([labelled.y, np.zeros(rest.size)]),
            np.concatenate([labelled.n, others.n]),
            np.concatenate([of_labelled, rest]),
            known,
        ],
        float,
    )
    corners = float(few(labelled)) if corners is None else corners
    padded = table
    if corners:
        # items that had to be labelled tell of no other
        chances = np.unique(
            of_labelled[(np.asarray(labelled.n) > 0) & ((of_labelled < 1) | (not items))]
        )
        size = table[2].sum()
        share = [
            corners * table[2, np.isclose(table[3], chance)].sum() / size for chance in chances
        ]
        kinds = np.tile([PASSED, GOOD], chances.size)
        extra = np.array(
            [*kinds, np.repeat(share, 4), np.repeat(chances, 4), np.ones(4 * chances.size)]
        )
        padded = np.concatenate([table, extra], axis=1)
    by_judge, by_truth = _hajek(padded)
    n = padded[2]
    if weight is None:
        variance = (n * by_judge.influence**2).sum()
        gain = -(n * by_judge.influence * by_truth.influence).sum()
        weight = float(np.clip(gain / variance if variance > 0 else 0.0, 0, most))
    influence = by_truth.influence + weight * by_judge.influence
    if items:  # of an independent draw of the labels: (1 - propensity) of each labelled item's
        influence -= weight * by_judge.of_all
        influence *= padded[4] * np.sqrt(1 - padded[3])
    judge, truth = _hajek(table)
    return Errors(
        float(truth.mean + weight * judge.mean),
        float(by_truth.mean + weight * by_judge.mean),
        float(np.sqrt((n * influence**2).sum()) / n.sum()),
    )


class _Part(NamedTuple):
    """A part of the estimate, each item's influence on it, and what is there without labels."""

    mean: float
    influence: np.ndarray
    of_all: np.ndarray | float = 0.0


def _hajek(table: np.ndarray) -> tuple[_Part, _Part]:
    """What the judge's predictions add; what the labels say."""
    f, y, n, propensity, known = table
    total, w = n.sum(), known / propensity
    # Hájek: the weights of the labelled items sum to the number of items
    w = w * total / (n * w).sum()
    mean, labelled_mean, good = ((n * x).sum() / total for x in (f, w * f, w * y))
    judge = (f - mean) - w * (f - labelled_mean)
    return _Part(mean - labelled_mean, judge, f - mean), _Part(good, w * (y - good))


def finite(k: Any, m: Any, total: Any) -> tuple[Any, Any]:
    """Successes and trials of a sample that tells as much as `m` of `total` items do of these.

    The finite-population correction as a larger sample: Cochran (1977), Section 3.5.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(total > m, (np.asarray(total) - 1) / (np.asarray(total) - m), ALL)
    gain = np.where(np.asarray(m) > 0, np.maximum(gain, 1.0), 1.0)
    return k * gain, m * gain


def as_binomial(moments: Moments) -> tuple[Any, Any]:
    """Successes and trials that vary as much as truths in [0, 1] do, for Wilson's interval."""
    most = moments.y * (1 - moments.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(moments.yy > 1e-12, most / moments.yy, 1.0)
    trials = moments.size * gain
    return trials * moments.y, trials


# Strata ------------------------------------------------------------------------------------------


def weighed(shares: Any, raw: Any, low: Any, high: Any) -> Interval:
    """Overall value of strata: values and centres of the intervals add up, and variances do."""
    with np.errstate(invalid="ignore"):  # ends at infinity leave the whole without an interval
        half = np.sqrt(np.sum((shares * (high - low) / 2) ** 2, axis=0))
        centre = np.sum(shares * (low + high) / 2, axis=0)
        return Interval(np.sum(shares * raw, axis=0), centre - half, centre + half)


def effective(shares: Any, k: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Successes and trials of one sample that tells the overall share as well as the strata do.

    Korn & Graubard (1998), Survey Methodology 24, 193-201, with the variances of `wilson`.
    """
    n_ = n + shares * z**2
    p_ = (k + shares * z**2 / 2) / n_
    centre = np.sum(shares * p_, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.sum(shares**2 * p_ * (1 - p_) / (n_ - 1 + shares), axis=0)
        # strata of single items may tell less than none at all would, by this rule
        trials = np.maximum(centre * (1 - centre) / variance - z**2, 1.0)
        share = np.minimum(np.sum(shares * k / n, axis=0), 1.0)  # whatever rounding says
    # nothing of nothing where a stratum has no trials: no share, no interval
    none = np.isnan(share)
    return np.where(none, 0.0, share * trials)[()], np.where(none, 0.0, trials)[()]
