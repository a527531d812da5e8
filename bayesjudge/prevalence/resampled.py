"""The bootstrap of the Rogan-Gladen estimate: both samples drawn again, and none hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.prevalence import formulas
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import LEE, SAME_JUDGE, described, rate_designs


def bootstrap(
    counts: Counts,
    *,
    ci_prob: float = 0.95,
    resamples: int = 4000,
    random_seed: Any = None,
) -> Estimate:
    """Correct the judge's pass rate for its errors, with a percentile interval.

    Test items and labelled items are drawn again with replacement, the labelled ones among the good
    and among the bad, or among all of them where they are a random sample. A resample is *bad*
    where the judge does no better than chance in it, or a class of labels is empty: it has no
    estimate. Leaving those out would describe a better judge than the one seen, so that each counts
    as 0 for the lower end and as 1 for the upper end, and a caution says how many there were.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    resamples : int, default 4000
        How many are drawn; 100 or more.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same interval.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items clipped to [0, 1], with the unclipped value as ``raw``.
        With very few errors among the labelled items the interval is too short, since a resample
        cannot hold an error that was not seen; `rogan_gladen` and the models are not fooled.

    Raises
    ------
    InputError
        Where `ci_prob` or `resamples` is out of range.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> value, low, high = bootstrap(counts, random_seed=1)["prevalence"]
    >>> round(value, 3), abs(low - 0.42) < 0.02, abs(high - 0.63) < 0.02
    (0.533, True, True)
    """
    check_ci_prob(ci_prob)
    with checking("bootstrap") as require:
        require(resamples >= 100, f"resamples must be 100 or more, got {resamples}")
    estimates = _resampled(counts, resamples, np.random.default_rng(random_seed))
    bad = np.isnan(estimates)
    tail = (1 - ci_prob) / 2
    low = np.quantile(np.where(bad, 0, estimates), tail, axis=0)
    high = np.quantile(np.where(bad, 1, estimates), 1 - tail, axis=0)
    good_n, hits, bad_n, caught = counts.rate_labels.values()
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (
            np.divide(counts.test_pass, counts.test_n),
            np.divide(caught, bad_n),
            np.divide(hits, good_n),
        )
    raw = np.where(rates[1] + rates[2] > 1, formulas.invert(*rates), np.nan)
    known = np.isfinite(raw)
    ends = (np.where(known, np.clip(end, 0, 1), np.nan) for end in (low, high))
    overall = None
    if counts.dim == "stratum":
        bias = formulas.ratio_bias(counts.shares, *rates, bad_n, good_n)
        overall = _overall(counts.shares, raw, estimates, bias, tail)
    return described(
        counts,
        {"prevalence": (np.clip(raw, 0, 1), *ends, raw)},
        overall=overall,
        method="Rogan-Gladen (bootstrap)",
        ci_prob=ci_prob,
        source=f"{LEE}, eq. (5); Efron (1979)",
        interval="bootstrap percentile",
        assumptions=(SAME_JUDGE,),
        needs=rate_designs(counts),
        more=list(_told(counts, np.atleast_1d(bad.sum(axis=0)), resamples)),
    )


def _resampled(counts: Counts, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Estimates of shape (resamples, ...); nan where a resample has none."""
    shape = (resamples, *np.shape(counts.test_n))
    good, hits, bad, caught = (np.asarray(n) for n in counts.rate_labels.values())
    rates = _share(hits, good), _share(caught, bad)
    if counts.calibration in ("random", "known_propensity"):
        drawn = rng.binomial(counts.labelled_n, _share(counts.correct_n, counts.labelled_n), shape)
        good, bad = good - counts.correct_n + drawn, bad + counts.correct_n - drawn
    hits, caught = rng.binomial(good, rates[0], shape), rng.binomial(bad, rates[1], shape)
    passes = rng.binomial(counts.test_n, _share(counts.test_pass, counts.test_n), shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        sensitivity, specificity = np.divide(hits, good), np.divide(caught, bad)
        found = formulas.invert(passes / counts.test_n, specificity, sensitivity)
        return np.where(sensitivity + specificity > 1, found, np.nan)


def _overall(
    shares: Any, raw: Any, estimates: np.ndarray, bias: float, tail: float
) -> tuple[float, float, float]:
    """Of the weighed sum, which has no estimate where a stratum has none."""
    value, drawn = np.sum(shares * raw) - bias, estimates @ shares - 2 * bias
    none = np.isnan(drawn) & np.isfinite(value)  # a resample is biased twice: seen, and drawn again
    low, high = np.where(none, 0, drawn), np.where(none, 1, drawn)
    return float(value), float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))


def _share(part: Any, total: Any) -> Any:
    """Part of total, and 0 of nothing."""
    return np.divide(part, np.maximum(total, 1))


def _told(counts: Counts, bad: np.ndarray, resamples: int) -> Iterator[Caution]:
    for where, count in zip(counts.places, bad, strict=True):
        if count:
            yield Caution(
                "bad-resamples",
                f"{count} of {resamples} resamples have no estimate{where}: the judge is no better "
                "than chance in them, or a class of labels is empty; each counts as 0 for the "
                "lower and as 1 for the upper end of the interval",
            )
