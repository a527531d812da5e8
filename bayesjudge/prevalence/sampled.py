"""Closed forms in which labelled items speak of the prevalence itself, not of the judge only."""

from __future__ import annotations

import numpy as np

from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.core.estimate import Estimate
from bayesjudge.prevalence import formulas
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import (
    LEE,
    PER_VERDICT,
    SAMPLED,
    described,
    pass_rate,
    passes_of_all,
)


def difference(counts: Counts, *, ci_prob: float = 0.95, tuned: bool = True) -> Estimate:
    """Add the labelled items' mean correction to the pass rate: prediction-powered inference.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    tuned : bool, default True
        Weigh the judge so that the variance is least (PPI++), rather than fully (PPI).

    Returns
    -------
    Estimate
        ``prevalence``, clipped to [0, 1] with the unclipped value as ``raw``.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.

    References
    ----------
    Angelopoulos et al. (2023), Science 382, 669-674; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453.

    Examples
    --------
    >>> counts = Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    >>> [round(x, 3) for x in difference(counts)["prevalence"]]
    [0.723, 0.67, 0.775]
    """
    table = (
        counts.correct_pass,
        counts.correct_n - counts.correct_pass,
        counts.incorrect_n - counts.incorrect_fail,
        counts.incorrect_fail,
    )
    found, _ = formulas.difference(
        pass_rate(counts),
        counts.test_n,
        table,
        z_score(ci_prob),
        weight=None if tuned else 1.0,
    )
    return described(
        counts,
        {"prevalence": (*(np.clip(x, 0, 1) for x in found), found.value)},
        method="Difference (PPI++)" if tuned else "Difference (PPI)",
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iii); Angelopoulos et al. (2023)",
        interval="normal",
        assumptions=(SAMPLED,),
        needs=("random", "known_propensity"),
    )


def post_stratified(counts: Counts, *, ci_prob: float = 0.95) -> Estimate:
    """Weigh the share of good items among passes and among fails by the pass rate.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels; the pass rate is that of labelled and test items together.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items; ``ppv`` and ``npv``, the positive and negative predictive
        value, with Wilson's intervals. ``nan`` where no pass or no fail is labelled.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.

    References
    ----------
    Source 1, Table 1 (iv), with the pass rate of the test items; Tenenbein (1970).

    Examples
    --------
    >>> counts = Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    >>> [round(x, 3) for x in post_stratified(counts)["prevalence"]]
    [0.74, 0.66, 0.8]
    """
    passes, items = passes_of_all(counts)
    n1, n0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    ppv, npv = wilson(counts.correct_pass, n1, ci_prob), wilson(counts.incorrect_fail, n0, ci_prob)
    found = formulas.post_stratified(
        passes / items, ppv[0], npv[0], items, n1, n0, z_score(ci_prob)
    )
    return described(
        counts,
        {"prevalence": tuple(np.clip(x, 0, 1) for x in found), "ppv": ppv, "npv": npv},
        method="Post-stratified",
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iv); Tenenbein (1970)",
        interval={"prevalence": "adjusted delta method", "ppv": "Wilson", "npv": "Wilson"},
        assumptions=(PER_VERDICT,),
        needs=("random", "by_verdict", "known_propensity"),
    )


def conditional_calibration(counts: Counts, *, ci_prob: float = 0.95) -> Estimate:
    """Weigh the predictive values of the labelled items by the pass rate of the test items alone.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items, as source 1 defines it; `post_stratified` uses the
        verdicts on the labelled items too, and is a little more precise. ``nan`` where no pass or
        no fail is labelled.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.

    Notes
    -----
    Predictive values depend on how many items are good. Labels from a sample in which good items
    are more or less common bias this estimator towards that sample; `rogan_gladen` is not biased.

    Examples
    --------
    >>> counts = Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    >>> [round(x, 3) for x in conditional_calibration(counts)["prevalence"]]
    [0.725, 0.67, 0.775]
    """
    n1, n0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    with np.errstate(divide="ignore", invalid="ignore"):
        ppv, npv = np.divide(counts.correct_pass, n1), np.divide(counts.incorrect_fail, n0)
    rate = pass_rate(counts)
    found = formulas.post_stratified(rate, ppv, npv, counts.test_n, n1, n0, z_score(ci_prob))
    return described(
        counts,
        {"prevalence": tuple(np.clip(x, 0, 1) for x in found)},
        method="Conditional calibration",
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iv)",
        interval="adjusted delta method",
        assumptions=(PER_VERDICT,),
        needs=("random", "known_propensity"),
    )
