"""Closed forms: what each promises, assumes and refuses. The arithmetic is in `formulas`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bayesjudge.core.errors import UninformativeJudgeError, checking
from bayesjudge.core.intervals import clopper_pearson, wilson, z_score
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.prevalence import formulas
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import (
    CANCEL,
    LEE,
    SAME_JUDGE,
    SAMPLED,
    described,
    pass_rate,
    passes_of_all,
    rate_designs,
)


def naive(counts: Counts, *, ci_prob: float = 0.95) -> Estimate:
    """Take the judge at its word: its pass rate, with Wilson's interval.

    Parameters
    ----------
    counts : Counts
        Verdicts. Labelled items are counted in, unless their design says that they are not a
        sample of the same items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the pass rate.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> [round(x, 3) for x in naive(counts)["prevalence"]]
    [0.62, 0.59, 0.65]
    """
    passes, items = passes_of_all(counts)
    return described(
        counts,
        {"prevalence": wilson(passes, items, ci_prob)},
        overall=_share_of_all(counts, passes, items, wilson, ci_prob),
        method="Judge's pass rate",
        ci_prob=ci_prob,
        source=f"{LEE}, eq. (2); Wilson (1927)",
        interval="Wilson",
        assumptions=(CANCEL,),
    )


def human_only(
    counts: Counts, *, ci_prob: float = 0.95, interval: Literal["wilson", "exact"] = "wilson"
) -> Estimate:
    """Leave the judge out: the share of good ones among the labelled items.

    Parameters
    ----------
    counts : Counts
        Labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"wilson", "exact"}
        Wilson's, or the conservative one of Clopper and Pearson.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.
    """
    find = {"wilson": wilson, "exact": clopper_pearson}[interval]
    return described(
        counts,
        {"prevalence": find(counts.correct_n, counts.labelled_n, ci_prob)},
        overall=_share_of_all(counts, counts.correct_n, counts.labelled_n, find, ci_prob),
        method="Human labels only",
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (ii)",
        interval={"wilson": "Wilson", "exact": "Clopper-Pearson"}[interval],
        assumptions=(SAMPLED,),
        needs=("random", "known_propensity"),
    )


def rogan_gladen(
    counts: Counts,
    *,
    ci_prob: float = 0.95,
    interval: Literal["lang_reiczigel", "delta"] = "lang_reiczigel",
) -> Estimate:
    r"""Correct the judge's pass rate for its errors.

    With pass rate :math:`\hat p`, sensitivity :math:`\hat q_1` and specificity :math:`\hat q_0`,

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1}.

    Parameters
    ----------
    counts : Counts
        Verdicts on test and labelled items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"lang_reiczigel", "delta"}
        Lang and Reiczigel's adjusted interval (eqs. 6-8), or the plain delta method (eq. 9).

    Returns
    -------
    Estimate
        ``prevalence``, a share of items clipped to [0, 1] with the unclipped value as ``raw``;
        ``sensitivity`` and ``specificity`` with Wilson's intervals. ``nan`` where a class of
        labels is empty and, among several systems, where the judge is no better than chance. Of
        strata, ``overall_prevalence`` weighs their unclipped values, less the bias that ratios
        of few labels add up to (second order, at the judge's average rates), and clips the sum.

    Raises
    ------
    UninformativeJudgeError
        Where sensitivity + specificity <= 1 (in every system), so that nothing can be inverted.
    InputError
        Where `ci_prob` or `interval` is unknown.

    Notes
    -----
    The interval is eq. (6). The listing printed with the paper (its Figure 8) divides once by
    :math:`q_0 + q_1 - 1` inside the root and subtracts the shift from the upper end; this function
    follows the equation.

    Examples
    --------
    >>> counts = Counts(test_n=1000, test_pass=620, correct_n=100, correct_pass=90,
    ...                 incorrect_n=100, incorrect_fail=70, calibration="by_truth")
    >>> value, low, high = rogan_gladen(counts)["prevalence"]
    >>> f"{value:.3f} ({low:.3f}, {high:.3f})"
    '0.533 (0.430, 0.636)'
    """
    with checking("rogan_gladen") as require:
        kinds = ("lang_reiczigel", "delta")
        require(interval in kinds, f"interval must be one of {kinds}, got {interval!r}")
    z = z_score(ci_prob)
    good, hits, bad, caught = counts.rate_labels.values()
    q1, q0 = wilson(hits, good, ci_prob), wilson(caught, bad, ci_prob)
    chance = np.asarray(q0[0] + q1[0] <= 1)
    if chance.all():
        raise UninformativeJudgeError(
            "rogan_gladen",
            [
                f"sensitivity {np.atleast_1d(q1[0])[0]:.3f} + specificity "
                f"{np.atleast_1d(q0[0])[0]:.3f} <= 1: on the labelled items the judge does no "
                "better than chance, so its pass rate cannot be corrected; use a better judge, "
                "more labels, or bayesjudge.prevalence.fit, whose interval will be wide"
            ],
        )
    p = pass_rate(counts)
    sizes = (counts.test_n, bad, good)
    raw = np.where(chance, np.nan, formulas.invert(p, q0[0], q1[0]))

    def ends(share: Any = 1.0) -> tuple[Any, Any]:
        if interval == "lang_reiczigel":
            return formulas.lang_reiczigel(p, q0[0], q1[0], *sizes, z, share)[1:]
        free = (np.asarray(size) - 1 + share for size in sizes)
        half = z * np.sqrt(formulas.delta_variance(p, q0[0], q1[0], *free))
        return raw - half, raw + half

    low, high = ends()
    overall = None
    if counts.dim == "stratum":
        bias = formulas.ratio_bias(counts.shares, p, q0[0], q1[0], bad, good)
        whole = formulas.weighed(counts.shares, raw, *ends(counts.shares))
        overall = formulas.Interval(*(x - bias for x in whole))
    parts = [np.where(chance, np.nan, np.clip(x, 0, 1)) for x in (raw, low, high)]
    told = [
        Caution("no-better-than-chance", f"no Rogan-Gladen estimate{where}")
        for where, refused in zip(counts.places, np.atleast_1d(chance), strict=True)
        if refused
    ]
    return described(
        counts,
        {
            "prevalence": (*parts, raw),
            "sensitivity": q1,
            "specificity": q0,
        },
        overall=overall,
        method="Rogan-Gladen",
        ci_prob=ci_prob,
        source=f"{LEE}, eqs. (5)-(9); Rogan & Gladen (1978); Lang & Reiczigel (2014)",
        interval={
            "prevalence": {"lang_reiczigel": "Lang-Reiczigel", "delta": "delta method"}[interval],
            "sensitivity": "Wilson",
            "specificity": "Wilson",
        },
        assumptions=(SAME_JUDGE,),
        needs=rate_designs(counts),
        more=told,
    )


def _share_of_all(
    counts: Counts, successes: Any, trials: Any, interval: Any, ci_prob: float
) -> formulas.Interval | None:
    """Overall share of strata, with the interval of a sample that is as informative as they are."""
    if counts.dim != "stratum":
        return None
    sample = formulas.effective(counts.shares, successes, trials, z_score(ci_prob))
    return formulas.Interval(*interval(*sample, ci_prob))
