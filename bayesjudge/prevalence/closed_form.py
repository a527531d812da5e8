"""Closed forms of the prevalence; the arithmetic is in `_formulas`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, check_ci_prob, checking
from bayesjudge.core.estimate import TARGETS, Caution, Estimate, Quantity, Target
from bayesjudge.core.intervals import clopper_pearson, holding, wilson, z_score
from bayesjudge.core.label_design import (
    ERRORS_CANCEL,
    RANDOM_BY_VERDICT,
    RANDOM_LABELS,
    SAME_JUDGE,
    STATED_PROPENSITIES,
    STRATUM_SHARES,
    Identified,
)
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence.cautions import OVERALL, cautions_of, judged
from bayesjudge.prevalence.data import Counts

NAIVE = "Judge's pass rate"
LEE = "Lee et al. (2025), How to Correctly Report LLM-as-a-Judge Evaluations"


def naive(counts: Counts, *, ci_prob: float = 0.95, target: Target = "population") -> Estimate:
    """Take the judge at its word: its pass rate, with Wilson's interval.

    Parameters
    ----------
    counts : Counts
        Verdicts. Labelled items are counted in, unless their design says that they are not a
        sample of the same items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the pass rate.
    target : {"population", "items"}
        About the process that the items come from, or about these very items, whose pass rate
        is known: the interval is that one number.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or `target` unknown.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> [round(x, 3) for x in naive(counts)["prevalence"]]
    [0.62, 0.59, 0.65]
    """
    passes, items = passes_of_all(counts)
    find = _known if _about_items("naive", target) else wilson
    return described(
        counts,
        {"prevalence": find(passes, items, ci_prob)},
        overall=_share_of_all(counts, passes, items, find, ci_prob),
        method=methods.JUDGE,
        ci_prob=ci_prob,
        source=f"{LEE}, eq. (2); Wilson (1927)",
        interval="none needed" if target == "items" else "Wilson",
        assumptions=(ERRORS_CANCEL,),
        target=target,
    )


def human_only(
    counts: Counts,
    *,
    ci_prob: float = 0.95,
    interval: Literal["wilson", "exact"] = "wilson",
    target: Target = "population",
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
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then with the
        finite-population correction, which Wilson's interval has.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `interval` or `target` unknown, or Clopper and Pearson's
        interval is asked for these very items.

    References
    ----------
    Cochran (1977), Sampling Techniques, Section 3.5, for the correction.
    """
    items = _about_items("human_only", target)
    kinds: dict[str, Any] = {"wilson": wilson, "exact": clopper_pearson}
    with checking("human_only") as require:
        require(interval in kinds, f"interval must be one of {tuple(kinds)}, got {interval!r}")
        suits = not items or interval == "wilson"
        require(suits, f"interval={interval!r} answers for the population; use interval='wilson'")
    find, sample = kinds[interval], (counts.correct_n, counts.labelled_n)
    if items and counts.design.same_items:
        sample = formulas.finite(*sample, counts.test_n + counts.labelled_n)
        find = _known if np.all(counts.test_n == 0) else find
    return described(
        counts,
        {"prevalence": find(*sample, ci_prob)},
        overall=_share_of_all(counts, *sample, find, ci_prob),
        method=methods.HUMAN_ONLY,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (ii)",
        interval={"wilson": "Wilson", "exact": "Clopper-Pearson"}[interval],
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
        target=target,
    )


def rogan_gladen(
    counts: Counts,
    *,
    ci_prob: float = 0.95,
    interval: Literal["lang_reiczigel", "delta"] = "lang_reiczigel",
    target: Target = "population",
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
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then the pass
        rate varies by the judge's errors alone, and labelled ones among them are known.

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
        If sensitivity + specificity <= 1 (in every system), so that nothing can be inverted.
    InputError
        If `ci_prob`, `interval` or `target` is unknown.

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
    z, items = z_score(ci_prob), _about_items("rogan_gladen", target)
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

    def ends(share: Any = 1.0, z: Any = z) -> tuple[Any, Any]:
        if interval == "lang_reiczigel":
            return formulas.lang_reiczigel(p, q0[0], q1[0], *sizes, z, share, items)[1:]
        n, m0, m1 = (np.asarray(size) - 1 + share for size in sizes)
        half = z * np.sqrt(formulas.delta_variance(p, q0[0], q1[0], n, m0, m1, items))
        return raw - half, raw + half

    # labelled items among these very items are known, the others estimated
    known = items and counts.design.same_items
    estimated = counts.test_n / (counts.test_n + counts.labelled_n) if known else np.asarray(1.0)

    def of_all(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return _with_labelled(counts, values) if known else values

    overall = None
    if counts.dim == "stratum":
        left = np.sum(counts.shares * estimated)
        rates = (np.where(estimated > 0, p, 0.0), q0[0], q1[0], bad, good)
        shares = counts.shares * estimated / np.maximum(left, 1e-300)
        bias = left * formulas.ratio_bias(shares, *rates)
        whole = formulas.nested(
            lambda z: formulas.weighed(counts.shares, *of_all((raw, *ends(counts.shares, z)))), z
        )
        overall = formulas.Interval(*(x - bias for x in whole))
    raw, low, high = of_all((raw, *ends()))
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
        method=methods.ROGAN_GLADEN,
        ci_prob=ci_prob,
        source=f"{LEE}, eqs. (5)-(9); Rogan & Gladen (1978); Lang & Reiczigel (2014)",
        interval={
            "prevalence": {"lang_reiczigel": "Lang-Reiczigel", "delta": "delta method"}[interval],
            "sensitivity": "Wilson",
            "specificity": "Wilson",
        },
        assumptions=(SAME_JUDGE,),
        needs="error_rates",
        more=told,
        target=target,
    )


def _about_items(name: str, target: str) -> bool:
    with checking(name) as require:
        require(target in TARGETS, f"target must be one of {list(TARGETS)}, got {target!r}")
    return target == "items"


def _known(successes: Any, trials: Any, ci_prob: float) -> tuple[Any, Any, Any]:
    """A share that is not estimated: the interval is the number itself."""
    value = wilson(successes, trials, ci_prob)[0]
    return value, value, value


def _with_labelled(counts: Counts, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Shares of the unlabelled items, as shares of all of them."""
    items = counts.test_n + counts.labelled_n
    others = np.where(counts.test_n > 0, values, 0.0)
    return tuple((counts.test_n * one + counts.correct_n) / items for one in others)


def _share_of_all(
    counts: Counts, successes: Any, trials: Any, interval: Any, ci_prob: float
) -> formulas.Interval | None:
    """Overall share of strata, with the interval of a sample that is as informative as they are."""
    if counts.dim != "stratum":
        return None
    sample = formulas.effective(counts.shares, successes, trials, z_score(ci_prob))
    return formulas.Interval(*interval(*sample, ci_prob))


def difference(
    counts: Counts, *, ci_prob: float = 0.95, tuned: bool = True, target: Target = "population"
) -> Estimate:
    """Add the labelled items' mean correction to the pass rate: prediction-powered inference.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    tuned : bool, default True
        Weigh the judge so that the variance is least (PPI++), rather than fully (PPI).
    target : {"population", "items"}
        About the process that the items come from, or about these very items: the classical
        difference estimator of survey sampling, whose labels are drawn without replacement.

    Returns
    -------
    Estimate
        ``prevalence``, clipped to [0, 1] with the unclipped value as ``raw``. Of strata,
        ``overall_prevalence`` weighs their unclipped values, all with one weight on the judge (a
        weight of its own for each of many strata biases the sum), and clips it.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or `target` unknown.

    Notes
    -----
    Value and normal interval are those of the references where the labelled items hold at least 5
    that the judge gets wrong, 5 good and 5 bad ones (in all strata together, for the overall row).
    With fewer, their variance says little: 59 labels without an error would give an interval of
    the width of the pass rate's, as if the judge never erred. Then one imaginary item of each of
    the four kinds (good or bad, passed or failed) joins the labelled items, and two passed and two
    failed ones the others, for the interval and for the judge's weight; the value is that of the
    real items with this weight. Over 315 settings of 5 to 200 labels, prevalences of .05 to .9 and
    0 to 30 % of the items misjudged, the interval covers .98 on average and .90 at the lowest; the
    plain one .79, and .08 at the lowest (``python benchmarks/prevalence/difference.py``).

    References
    ----------
    Angelopoulos et al. (2023), Science 382, 669-674; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453; Agresti & Coull (1998), Am. Stat. 52, 119-126; Bonett & Price (2012), J. Educ.
    Behav. Stat. 37, 479-488; Cochran (1977), Sampling Techniques, Section 7.10.

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
    items = _about_items("difference", target)
    sample = (pass_rate(counts), counts.test_n, table, z_score(ci_prob), None if tuned else 1.0)
    found, _ = formulas.difference(*sample, items=items)
    overall = None
    if counts.dim == "stratum":
        parts, _ = formulas.difference(*sample, counts.shares, items)
        overall = formulas.weighed(counts.shares, *parts)
    return described(
        counts,
        {"prevalence": (*(np.clip(x, 0, 1) for x in found), found.value)},
        overall=overall,
        method=methods.PPI_TUNED if tuned else methods.PPI,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iii); Angelopoulos et al. (2023)",
        interval="normal",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
        target=target,
    )


def post_stratified(
    counts: Counts, *, ci_prob: float = 0.95, target: Target = "population"
) -> Estimate:
    """Weigh the share of good items among passes and among fails by the pass rate.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels; the pass rate is that of labelled and test items together.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    target : {"population", "items"}
        About the process that the items come from, or about these very items, whose pass rate
        and labelled items are known.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items; ``ppv`` and ``npv``, the positive and negative predictive
        value, with Wilson's intervals. ``nan`` where no pass or no fail is labelled.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or `target` unknown.

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
    with np.errstate(invalid="ignore"):  # no items that labels are not about: nan
        rate = np.divide(passes, items)
    found, overall = _post_stratified(
        counts,
        rate,
        ppv[0],
        npv[0],
        (items, n1, n0),
        z_score(ci_prob),
        items=_about_items("post_stratified", target),
    )
    return described(
        counts,
        {"prevalence": tuple(np.clip(x, 0, 1) for x in found), "ppv": ppv, "npv": npv},
        overall=overall,
        method=methods.POST_STRATIFIED,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iv); Tenenbein (1970)",
        interval={"prevalence": "adjusted delta method", "ppv": "Wilson", "npv": "Wilson"},
        assumptions=(RANDOM_BY_VERDICT,),
        needs="predictive_values",
        target=target,
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
        If `ci_prob` is out of range.

    Notes
    -----
    Predictive values depend on how many items are good. Labels from a sample in which good items
    are more or less common bias this estimator towards that sample; `rogan_gladen` is not biased.
    It leaves labelled items out, so it answers for the population alone; for these very items see
    `post_stratified`.

    Examples
    --------
    >>> counts = Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    >>> [round(x, 3) for x in conditional_calibration(counts)["prevalence"]]
    [0.725, 0.67, 0.775]
    """
    n1, n0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    with np.errstate(divide="ignore", invalid="ignore"):
        ppv, npv = np.divide(counts.correct_pass, n1), np.divide(counts.incorrect_fail, n0)
    found, overall = _post_stratified(
        counts, pass_rate(counts), ppv, npv, (counts.test_n, n1, n0), z_score(ci_prob)
    )
    return described(
        counts,
        {"prevalence": tuple(np.clip(x, 0, 1) for x in found)},
        overall=overall,
        method=methods.CONDITIONAL,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iv)",
        interval="adjusted delta method",
        assumptions=(RANDOM_BY_VERDICT,),
        needs="prevalence",
    )


def _post_stratified(
    counts: Counts,
    p: Any,
    ppv: Any,
    npv: Any,
    sizes: tuple[Any, Any, Any],
    z: float,
    items: bool = False,
) -> tuple[formulas.Interval, formulas.Interval | None]:
    """Apply the formula to each entry and, of strata, to the whole."""
    found = formulas.post_stratified(p, ppv, npv, *sizes, z, items=items)
    if counts.dim != "stratum":
        return found, None
    parts = formulas.post_stratified(p, ppv, npv, *sizes, z, counts.shares, items)
    return found, formulas.weighed(counts.shares, *parts)


def propensity_weighted(
    counts: Counts, *, ci_prob: float = 0.95, tuned: bool = True, target: Target = "population"
) -> Estimate:
    """Correct the pass rate by the labelled items' weighted mean correction.

    Parameters
    ----------
    counts : Counts
        With ``calibration="known_propensity"``.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    tuned : bool, default True
        Weigh the judge so that the variance is least, rather than fully. At a weight of 0 this is
        Hájek's estimator, which leaves the judge out.
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then only which
        items were labelled is left to chance.

    Returns
    -------
    Estimate
        ``overall_prevalence``, clipped to [0, 1] with the unclipped value as ``raw``; the strata
        have none of their own. The interval is normal.

    Raises
    ------
    InputError
        If there are no propensities, `ci_prob` is out of range, or `target` unknown.

    Notes
    -----
    With fewer than 5 labelled items that the judge gets wrong, or that are good, or bad, one
    imaginary item of each of the four kinds joins them for the interval and the judge's weight, as
    in `difference`; the strata share it by their numbers of items.

    References
    ----------
    Horvitz & Thompson (1952), J. Am. Stat. Assoc. 47, 663-685; Hájek (1971); Zrnic & Candès (2024),
    Active Statistical Inference, arXiv:2403.03208.

    Examples
    --------
    >>> counts = Counts([400, 500], [100, 450], [20, 45], [10, 44], [80, 5], [72, 3],
    ...                 calibration="known_propensity", propensity=[0.2, 0.1],
    ...                 systems=["0.2", "0.1"], dim="stratum")
    >>> [round(x, 3) for x in propensity_weighted(counts)["overall_prevalence"]]
    [0.578, 0.522, 0.633]
    """
    z, items = z_score(ci_prob), _about_items("propensity_weighted", target)
    with checking("propensity_weighted") as require:
        known = counts.propensity is not None
        require(known, "needs calibration='known_propensity', with the propensity of each item")
    value, centre, sd = _weighted(counts, tuned, items)
    ends = holding(*(np.clip(x, 0, 1) for x in (value, centre - z * sd, centre + z * sd)))
    assumptions, raised = judged(counts, (STATED_PROPENSITIES,))
    return Estimate(
        {OVERALL: Quantity.over((*ends, value))},
        method=methods.PROPENSITY,
        ci_prob=ci_prob,
        source="Hájek (1971); Zrnic & Candès (2024)",
        interval="normal",
        assumptions=assumptions,
        cautions=tuple(dict.fromkeys((*raised, *cautions_of(counts, target)))),
        target=target,
        data=counts,
    )


def _weighted(counts: Counts, tuned: bool, items: bool) -> tuple[float, float, float]:
    """Value, centre of the interval and standard error."""
    c = counts
    labelled = [c.correct_pass, c.correct_n - c.correct_pass, c.incorrect_n - c.incorrect_fail]
    cells = np.array([*labelled, c.incorrect_fail, c.test_pass, c.test_n - c.test_pass], float)
    padded = cells.copy()
    if formulas.too_few(cells[:4], np.sum):
        # items that had to be labelled tell of no other
        told = (c.labelled_n > 0) & ((c.propensity < 1) | (not items))
        padded[:4] += c.shares * told
    best, by_judge, by_truth = _parts(padded, c.propensity)
    power = best if tuned else 1.0
    influence = by_truth.parts + power * by_judge.parts
    if items:  # of an independent draw of the labels: (1 - propensity) of each labelled item's
        influence = by_truth.parts + power * (by_judge.parts - by_judge.verdicts)
        influence *= np.array([1, 1, 1, 1, 0, 0])[:, None] * np.sqrt(1 - c.propensity)
    error = np.sqrt((padded * influence**2).sum()) / padded.sum()
    _, judged, labels = _parts(cells, c.propensity)
    value, centre = labels.mean + power * judged.mean, by_truth.mean + power * by_judge.mean
    return float(value), float(centre), float(error)


class _Part(NamedTuple):
    """A part of the estimate, and each item's influence on it."""

    mean: float
    parts: np.ndarray
    #: What of the influence is there without labels.
    verdicts: np.ndarray | float = 0.0


def _parts(cells: np.ndarray, propensity: np.ndarray) -> tuple[float, _Part, _Part]:
    """Weight of least variance of the judge; what its verdicts add; what the labels say."""
    verdict, truth = np.array([[1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 0, 0]])[..., None]
    known = np.array([1, 1, 1, 1, 0, 0])[:, None]
    weight = known / propensity
    total, weights = cells.sum(), (cells * weight).sum()
    # Hájek: the weights of the labelled items sum to the number of items
    weight = weight * total / weights
    passes = (cells * verdict).sum() / total
    weighted_passes = (cells * weight * verdict).sum() / total
    good = (cells * weight * truth).sum() / total
    by_truth = weight * (truth - good)
    by_judge = (verdict - passes) - weight * (verdict - weighted_passes)
    variance = (cells * by_judge**2).sum()
    best = -(cells * by_judge * by_truth).sum() / variance if variance > 0 else 0.0
    judge = _Part(passes - weighted_passes, by_judge, verdict - passes)
    return float(np.clip(best, 0, 1)), judge, _Part(good, by_truth)


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
        About the population alone. With very few errors among the labelled items the interval is
        too short, since a resample
        cannot hold an error that was not seen; `rogan_gladen` and the models are not fooled.

    Raises
    ------
    InputError
        If `ci_prob` or `resamples` is out of range.

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
        method=methods.BOOTSTRAP,
        ci_prob=ci_prob,
        source=f"{LEE}, eq. (5); Efron (1979)",
        interval="bootstrap percentile",
        assumptions=(SAME_JUDGE,),
        needs="error_rates",
        more=list(_told(counts, np.atleast_1d(bad.sum(axis=0)), resamples)),
    )


def _resampled(counts: Counts, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Estimates of shape (resamples, ...); nan where a resample has none."""
    shape = (resamples, *np.shape(counts.test_n))
    good, hits, bad, caught = (np.asarray(n) for n in counts.rate_labels.values())
    rates = _share(hits, good), _share(caught, bad)
    if counts.identifies("prevalence"):
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
    """Of the weighed sum: a stratum without an estimate may have any, of its share of the items."""
    value = np.sum(shares * raw) - bias
    none = np.isnan(estimates) & np.isfinite(value)
    # a resample is biased twice: seen, and drawn again
    low, high = (np.where(none, end, estimates) @ shares - 2 * bias for end in (0, 1))
    # where strata are so thin that a value lies far beyond 0 or 1, still an interval about it
    low, high = np.fmin(np.quantile(low, tail), value), np.fmax(np.quantile(high, 1 - tail), value)
    return float(value), float(low), float(high)


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


def passes_of_all(counts: Counts) -> tuple[Any, Any]:
    """Count passes and items, with the labelled ones where they are some of the same items.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.

    Returns
    -------
    tuple of int or numpy.ndarray
        Passes, items.
    """
    if not counts.design.same_items:
        return counts.test_pass, counts.test_n
    return counts.test_pass + counts.labelled_pass, counts.test_n + counts.labelled_n


def pass_rate(counts: Counts) -> Any:
    """Share of the test items that the judge passed.

    Parameters
    ----------
    counts : Counts
        Verdicts.

    Returns
    -------
    float or numpy.ndarray
        ``nan`` in a stratum that is labelled throughout.
    """
    with np.errstate(invalid="ignore"):
        return np.divide(counts.test_pass, counts.test_n)


def described(
    counts: Counts,
    arrays: dict[str, tuple[Any, ...]],
    *,
    overall: tuple[float, float, float] | None = None,
    needs: Identified | None = None,
    more: Sequence[Caution] = (),
    **about: Any,
) -> Estimate:
    """Make the `Estimate`: a caution if the label design does not identify what the method needs.

    `arrays` has value, low, high (and raw) by quantity; `overall` is, of strata, the weighed sum
    before it is clipped; `more` adds cautions to those that the counts raise.
    """
    method = about["method"]
    arrays = {name: (*holding(*c[:3]), *c[3:]) for name, c in arrays.items()}
    about["assumptions"], raised = judged(counts, about["assumptions"])
    told = cautions_of(counts, about.get("target", "population"))
    cautions = [*_clipped(arrays, counts, method), *told, *raised, *more]
    cautions += _without_width(arrays, counts, method, about.get("target", "population"))
    cautions += _without_others(arrays, counts, method)
    if needs is not None and not counts.identifies(needs):
        text = f"{method} is not valid if {counts.design.meaning}"
        cautions.insert(0, Caution("design-mismatch", text))
    coords = None if counts.systems is None else {counts.dim: counts.systems}
    made: dict[str, Any] = {name: Quantity.over(c, coords) for name, c in arrays.items()}
    if counts.dim == "stratum" and overall is not None:
        cautions = [*_overall_cautions(counts, arrays, overall, method), *cautions]
        about["assumptions"] += (STRATUM_SHARES,)
        kinds = about["interval"]
        kinds = dict.fromkeys(arrays, kinds) if isinstance(kinds, str) else kinds
        about["interval"] = {OVERALL: f"{kinds['prevalence']}, strata combined", **kinds}
        # without a value the ends of its strata add up to nothing
        clipped = holding(*np.clip((np.nan,) * 3 if np.isnan(overall[0]) else overall, 0, 1))
        made = {OVERALL: (*clipped, overall[0]), **made}
    return Estimate(made, cautions=tuple(dict.fromkeys(cautions)), data=counts, **about)


def _overall_cautions(
    counts: Counts,
    arrays: dict[str, tuple[Any, ...]],
    overall: tuple[float, float, float],
    method: str,
) -> Iterator[Caution]:
    """Tell why there is no overall value, or that it lies outside its range."""
    if np.isnan(overall).any():
        values = zip(counts.systems or (), arrays["prevalence"][0], strict=True)
        empty = [name for name, value in values if np.isnan(value)]
        text = f"{method} has no answer in strata {empty}, so none overall; merge strata"
        yield Caution("empty-stratum", text)
    elif not 0 <= overall[0] <= 1:
        text = f"{method} puts the {OVERALL} at {overall[0]:.3f}, shown at the end of [0, 1]"
        yield Caution("clipped", text)


def _without_others(
    arrays: dict[str, tuple[Any, ...]], counts: Counts, method: str
) -> Iterator[Caution]:
    """Tell why there is no prevalence where a method needs items without a label."""
    if "prevalence" not in arrays:
        return
    missing = np.isnan(arrays["prevalence"][0]) & (counts.test_n == 0)
    for place, without in zip(counts.places, np.atleast_1d(missing), strict=True):
        if without:
            text = f"{method} corrects the pass rate of items without a label, and there are none"
            yield Caution("no-unlabelled", f"{text}{place}; the labels alone have an answer")


def _without_width(
    arrays: dict[str, tuple[Any, ...]], counts: Counts, method: str, target: str
) -> Iterator[Caution]:
    """Tell of an interval that is one number though items are unknown."""
    known = (counts.test_n == 0) | (method == NAIVE) if target == "items" else False
    for quantity, (_, low, high, *_) in arrays.items():
        for place, without in zip(
            counts.places,
            np.broadcast_to((low == high) & ~np.asarray(known, bool), (len(counts.places),)),
            strict=True,
        ):
            if without:
                text = (
                    f"{method} gives the {quantity}{place} an interval of width 0: the labels show "
                    "no variation, or all of it lies beyond an end of [0, 1]; that does not mean "
                    "that it is known: label more items, or use exact or fit"
                )
                yield Caution("zero-width", text)


def _clipped(arrays: dict[str, tuple[Any, ...]], counts: Counts, method: str) -> Iterator[Caution]:
    """Tell of each value that lies outside its range and is shown at the end of it."""
    for quantity, columns in arrays.items():
        if len(columns) < 4:
            continue
        for where, raw in zip(counts.places, np.atleast_1d(columns[3]), strict=True):
            if raw < 0 or raw > 1:
                text = (
                    f"{method} puts the {quantity}{where} at {raw:.3f}, shown at the end of [0, 1]"
                )
                yield Caution("clipped", text)
