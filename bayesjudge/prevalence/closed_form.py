"""Closed forms of what people would say: one function per name, of every table of one judge.

The arithmetic is in `bayesjudge.truth`; what each table has to say to it, in its `Sample`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import (
    InputError,
    UninformativeJudgeError,
    check_ci_prob,
    checking,
    expect,
)
from bayesjudge.core.estimate import TARGETS, Caution, Estimate, Quantity, Target
from bayesjudge.core.intervals import clopper_pearson, holding, wilson
from bayesjudge.core.label_design import SAME_JUDGE, STATED_PROPENSITIES
from bayesjudge.core.methods import Method
from bayesjudge.core.randomness import rng_of
from bayesjudge.prevalence._samples import (
    LEE,
    Columns,
    CountsSample,
    Form,
    Intervals,
    Prediction,
    Sample,
    described,
    pairs_of,
    row_of,
    sample_of,
)
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.truth import influence, inversion

PREDICTIONS: dict[Prediction, Method] = {
    "linear": methods.PPI_TUNED,
    "identity": methods.PPI,
    "binned": methods.PPI_TUNED.variant("binned", "binned"),
    "isotonic": methods.PPI_TUNED.variant("isotonic", "isotonic"),
    "spline": methods.PPI_TUNED.variant("spline", "spline"),
    "stacked": methods.STACKED,
}


def naive(data: Any, *, ci_prob: float = 0.95, target: Target = "population") -> Estimate:
    """Take the judge at its word: its pass rate, its shares, or its mean score.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Verdicts. Labelled items are counted in, unless their design says that they are not a
        sample of the same items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the judge's own rate.
    target : {"population", "items"}
        About the process that the items come from, or about these very items, whose pass rate
        is known: the interval is that one number. Other tables than counts answer for the
        population.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items (rows, if these share items), by class if there are
        several, with Wilson's interval; of rows that share items for effective counts. Of numeric
        truths ``mean_score``, where the ends of the judge's scale stand for those of the truths',
        at the number of 0s and 1s that would vary as much. With credits of classes also
        ``win_rate``, their mean.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `target` does not suit the table, or no class is among the
        verdicts.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> [round(x, 3) for x in naive(counts)["prevalence"]]
    [0.62, 0.59, 0.65]
    """
    sample, items = _asked(data, "naive", ci_prob, target)
    find = _known if items else wilson
    return _estimate(
        sample,
        "naive",
        lambda part: part.mean("said", ci_prob, find),
        ci_prob=ci_prob,
        interval="none needed" if items else None,
        known=items,
        target=target,
    )


def human_only(
    data: Any,
    *,
    ci_prob: float = 0.95,
    interval: Literal["wilson", "exact"] = "wilson",
    target: Target = "population",
) -> Estimate:
    """Leave the judge out: what people say of the labelled items, on average.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"wilson", "exact"}
        Wilson's, or the conservative one of Clopper and Pearson, which counts have.
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then with the
        finite-population correction, which Wilson's interval of counts has.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items, by class if there are several; of numeric truths
        ``mean_score`` with Student's interval. ``nan`` for a system without labels.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `interval` or `target` unknown or not of this table, or
        Clopper and Pearson's interval is asked for these very items.

    References
    ----------
    Cochran (1977), Sampling Techniques, Section 3.5, for the correction.
    """
    kinds: dict[str, Any] = {"wilson": wilson, "exact": clopper_pearson}
    sample, items = _asked(data, "human_only", ci_prob, target)
    with checking("human_only") as require:
        require(interval in kinds, f"must be one of {tuple(kinds)}", interval=interval)
        suits = not items or interval == "wilson"
        require(suits, f"interval={interval!r} answers for the population; use interval='wilson'")
        suits = interval == "wilson" or isinstance(data, Counts)
        require(suits, f"interval={interval!r} needs Counts; use interval='wilson'")

    find = _known if items and np.all(sample.complete()) else kinds[interval]
    return _estimate(
        sample,
        "human_only",
        lambda part: part.mean("truths", ci_prob, find, items),
        ci_prob=ci_prob,
        interval="Clopper-Pearson" if interval == "exact" else None,
        needs="prevalence",
        target=target,
    )


def difference(
    data: Any,
    *,
    ci_prob: float = 0.95,
    g: Prediction = "linear",
    folds: int = 5,
    random_seed: int | np.random.Generator | None = 1,
    target: Target = "population",
) -> Estimate:
    """Add the labelled items' mean correction to the judge's mean: prediction-powered inference.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Verdicts or scores, and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    g : {"linear", "identity", "binned", "isotonic", "spline", "stacked"}
        What predicts a label: the judge's word with the weight that makes the variance least
        (PPI++); its word as it is (PPI); or, of scores, a curve fitted to the labels of the other
        folds and weighed as in PPI++: means of bins, the best rising step function, a natural
        cubic spline, or all of these and a straight line, stacked.
    folds : int, default 5
        Folds of the curves, 2 or more.
    random_seed : int or numpy.random.Generator, default 1
        Of the folds.
    target : {"population", "items"}
        About the process that the items come from, or about these very items: the classical
        difference estimator of survey sampling, whose labels are drawn without replacement.
        Counts alone have it.

    Returns
    -------
    Estimate
        ``prevalence`` or ``mean_score``, cut off at the ends of its range with the value before
        that as ``raw``. Classes have one weight on the judge, so that the shares before they are
        cut sum to 1; so have strata, whose ``overall_prevalence`` weighs their values (a weight of
        its own for each of many strata biases the sum). Two scores, two classes, or rows of which
        none share an item, give the numbers of passes and fails.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `g`, `folds` or `target` does not suit the table, or no class
        is among the verdicts.

    Notes
    -----
    The interval is normal, and Student's of numeric truths. Value and interval are those of the
    references where the labelled items hold at least 5 that the judge gets wrong, 5 good and 5 bad
    ones (in all strata together, for the overall row). With fewer, their variance says little: 59
    labels without an error would give an interval of the width of the pass rate's, as if the judge
    never erred. Then one imaginary item of each of the four kinds (good or bad, passed or failed)
    joins the labelled items, and two passed and two failed ones the others, for the interval and
    for the judge's weight; the value is that of the real items with this weight. Over 315 settings
    of 5 to 200 labels, prevalences of .05 to .9 and 0 to 30 % of the items misjudged, the interval
    covers .98 on average and .90 at the lowest; the plain one .79, and .08 at the lowest (``python
    benchmarks/prevalence/difference.py``). Of numeric truths the items join if fewer than 5 errors
    of prediction differ from the commonest.

    Of rows that share items the variance is that of the estimator's contributions summed by item,
    each divided by 1 less its leverage (the correction known as CR3, all but the jackknife over
    items), and the interval takes Student's t with C - 1 degrees of freedom for C labelled items.
    The judge's weight is the one that makes the variance by item least. Where fewer than five
    labelled items hold a misjudged row, a good one or a bad one, an imaginary item of each kind
    joins them; the quantile is then the normal one. All rows of an imaginary item are of its kind,
    since so few items do not tell how alike rows of one item are: such intervals cover more often
    than they say.

    Scores with known propensities are weighted, as in `propensity_weighted`.

    References
    ----------
    Angelopoulos et al. (2023), Science 382, 669-674; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453; Agresti & Coull (1998), Am. Stat. 52, 119-126; Bonett & Price (2012), J. Educ.
    Behav. Stat. 37, 479-488; Cochran (1977), Sampling Techniques, Section 7.10. By item: Binder
    (1983), Int. Stat. Rev. 51, 279-292; Cameron & Miller (2015), J. Human Resources 50, 317-372;
    Miller (2024), arXiv:2411.00640. Curves: Breiman (1996), Machine Learning 24, 49-64;
    Chernozhukov et al. (2018), Econometrics J. 21, C1-C68.

    Examples
    --------
    >>> counts = Counts(1000, 760, 140, 126, 60, 42, calibration="random")
    >>> [round(x, 3) for x in difference(counts)["prevalence"]]
    [0.723, 0.67, 0.775]
    """
    sample, items = _asked(data, "difference", ci_prob, target)
    known = sample.predictions
    expect("difference", g in known, f"must be one of {list(known)} of {type(data).__name__}", g=g)
    how, plain = {"folds": folds, "random_seed": random_seed}, g in ("linear", "identity")
    return _estimate(
        sample,
        "difference",
        lambda part: part.difference(ci_prob, g, items, **how),
        ci_prob=ci_prob,
        method=PREDICTIONS[g],
        source="" if plain else "Chernozhukov et al. (2018); Breiman (1996)",
        interval=None if plain else "t",
        needs="prevalence",
        target=target,
    )


def post_stratified(data: Any, *, ci_prob: float = 0.95, target: Target = "population") -> Estimate:
    """Weigh what people say of each verdict, or bin of the score, by all items in it.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Verdicts or scores, and labels; how often a verdict occurs is read from labelled and test
        items together.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    target : {"population", "items"}
        About the process that the items come from, or about these very items, whose pass rate
        and labelled items are known. Counts alone have it.

    Returns
    -------
    Estimate
        ``prevalence`` or ``mean_score``; of counts also ``ppv`` and ``npv``, the positive and
        negative predictive value, with the intervals of `judge.quality`. ``nan`` if a verdict or a
        bin occurs and has no label; of numbers without an interval if a bin has one label. With
        known propensities, a bin holds items of one propensity.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or `target` does not suit the table.

    References
    ----------
    Source 1, Table 1 (iv), with the pass rate of the test items; Tenenbein (1970); Cochran (1977),
    Section 5A.9.

    Examples
    --------
    >>> counts = Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    >>> [round(x, 3) for x in post_stratified(counts)["prevalence"]]
    [0.74, 0.66, 0.8]
    """
    sample, items = _asked(data, "post_stratified", ci_prob, target)
    return _estimate(
        sample,
        "post_stratified",
        lambda part: part.post_stratify(ci_prob, items),
        ci_prob=ci_prob,
        rates=sample.predictive_values(ci_prob),
        needs="predictive_values",
        target=target,
    )


def rogan_gladen(
    data: Any,
    *,
    ci_prob: float = 0.95,
    interval: Literal["lang_reiczigel", "delta"] = "lang_reiczigel",
    method: Literal["least_squares", "inverse"] = "least_squares",
    target: Target = "population",
) -> Estimate:
    r"""Correct the judge's verdicts for its errors.

    With pass rate :math:`\hat p`, sensitivity :math:`\hat q_1` and specificity :math:`\hat q_0`,

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1};

    of scores their means stand for the rates, among all items, good and bad labelled ones; of
    several classes the matrix of the judge's confusions is inverted.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Verdicts or scores on test and labelled items; labels of pass and fail, or of classes.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"lang_reiczigel", "delta"}
        Lang and Reiczigel's adjusted interval (eqs. 6-8), or the plain delta method (eq. 9), which
        is that of several classes.
    method : {"least_squares", "inverse"}
        Of several classes: the shares that fit the verdicts best among those that are none below 0
        and sum to 1, or the inverse of the confusion matrix, which may leave that range (a caution
        says so).
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then the pass
        rate varies by the judge's errors alone, and labelled ones among them are known. Counts
        alone have it.

    Returns
    -------
    Estimate
        ``prevalence``, a share of items clipped to [0, 1] with the unclipped value as ``raw``;
        ``sensitivity`` and ``specificity`` of counts and rows, or ``confusion`` by class and
        verdict, with the intervals of `judge.quality`. ``nan`` where a class of labels is empty
        and, among several systems, where the judge is no better than chance. Of strata,
        ``overall_prevalence`` weighs their unclipped values, of counts less the bias that ratios of
        few labels add up to (second order, at the judge's average rates), and clips the sum. If
        classes have a credit, also ``win_rate``, their mean credit.

    Raises
    ------
    UninformativeJudgeError
        If sensitivity + specificity <= 1 (in every system), good items do not score higher than bad
        ones, or a confusion matrix cannot be inverted: the judge does not tell some classes apart,
        or a class has no label.
    InputError
        If an argument is unknown or does not suit the table, truths are numbers, or there are more
        verdicts than classes and the inverse is asked for.

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
        require(interval in kinds, f"must be one of {kinds}", interval=interval)
        known = method in ("inverse", "least_squares")
        require(known, "must be inverse or least_squares", method=method)
    sample, items = _asked(data, "rogan_gladen", ci_prob, target)
    asked = ci_prob, interval, method, items
    inverted = sample.invert(*asked)
    return _estimate(
        sample,
        "rogan_gladen",
        lambda part: inverted.intervals if part is sample else part.invert(*asked).intervals,
        method=inverted.method,
        ci_prob=ci_prob,
        interval="delta method" if interval == "delta" else None,
        rates=inverted.rates,
        others=inverted.others,
        needs="error_rates",
        more=inverted.cautions,
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
    sample = CountsSample(counts)
    return _estimate(
        sample,
        "post_stratified",
        lambda part: part.post_stratify(ci_prob, False, sample.bins(with_labelled=False)),
        ci_prob=ci_prob,
        method=methods.CONDITIONAL,
        source=f"{LEE}, Table 1 (iv)",
        needs="prevalence",
    )


def propensity_weighted(
    counts: Counts,
    *,
    ci_prob: float = 0.95,
    g: Literal["linear", "identity"] = "linear",
    target: Target = "population",
) -> Estimate:
    """Correct the pass rate by the labelled items' weighted mean correction.

    Parameters
    ----------
    counts : Counts
        With ``calibration="known_propensity"``.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    g : {"linear", "identity"}
        What predicts a label: the judge's word with the weight that makes the variance least, or
        its word as it is. With a weight of 0 this is Hájek's estimator, which leaves the judge out.
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
    sample, items = _asked(counts, "difference", ci_prob, target)
    known = counts.propensity is not None
    problem = "needs calibration='known_propensity', with the propensity of each item"
    expect("propensity_weighted", known, problem)
    labelled, others = sample.patterns()
    each = np.asarray(counts.propensity)[:, None]
    *labels, drawn = (x.ravel() for x in np.broadcast_arrays(*labelled, each))
    *rest, not_drawn = (x.ravel() for x in np.broadcast_arrays(*others, each))
    weighted = influence.propensity_weighted(
        influence.Labelled(*labels),
        influence.Others(*rest),
        (drawn, not_drawn),
        weight=None if g == "linear" else 1.0,
        items=items,
    )
    value, *ends = weighted.interval(ci_prob)
    cut = holding(*(np.clip(x, 0, 1) for x in (value, *ends)))
    assumptions, cautions = diagnose(counts, (STATED_PROPENSITIES,), target)
    return Estimate(
        {OVERALL: Quantity.over((*cut, value))},
        method=methods.PROPENSITY,
        ci_prob=ci_prob,
        source="Hájek (1971); Zrnic & Candès (2024)",
        interval="normal",
        assumptions=assumptions,
        cautions=cautions,
        target=target,
        data=counts,
    )


def paired_difference(data: Any, *, ci_prob: float = 0.95, simultaneous: bool = False) -> Estimate:
    """Compare every two systems on the items that they share (paired PPI++).

    `difference` of the differences: what makes an item easy for both systems cancels, in what the
    judge says and in the labels.

    Parameters
    ----------
    data : Items or PairedScores
        Two systems or more; items may be missing for some.
    ci_prob : float, default 0.95
        Coverage that each interval aims at; with ``simultaneous=True``, all together.
    simultaneous : bool, default False
        Widen the intervals so that all hold at once with probability `ci_prob` (the largest
        deviation of all pairs, from 10,000 draws of the items' contributions). Items have it.

    Returns
    -------
    Estimate
        ``difference`` by ``first`` and ``second``, of shares or on the truths' scale; pairs of
        which too few items have both labels are absent. The judge has the weight that suits the
        difference best, so that it may differ a little from the difference of two separate
        estimates, and so may the items of scores.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, there are fewer than two systems, or no two of them share
        items with labels of both.

    Notes
    -----
    Of items, contributions to both estimates are summed by item; leverage and degrees of freedom
    are those of `difference`. Where the systems' truths differ on fewer than five labelled items,
    or otherwise than the verdicts do, the interval has centre and variance of a posterior: signs of
    both differences are multinomial, with .75 of an item for each sign of truths before the data.
    If all items of a system are labelled, items have several rows, or some are labelled for one
    system alone, four imaginary items join them instead, one for each sign of either difference
    (Bonett & Price 2012). Without such a rule intervals of systems that rarely differ cover as
    little as .29, and with imaginary items alone they are wider
    (``benchmarks/prevalence/paired.py``). With every row labelled and none repeated, the value is
    that of McNemar's table, and the variance too, times n / (n - 1) squared. Of scores the rule is
    that of imaginary items, for differences other than the commonest.

    References
    ----------
    Miller (2024), arXiv:2411.00640; Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453; Bonett &
    Price (2012), J. Educ. Behav. Stat. 37, 479-488; Montiel Olea & Plagborg-Møller (2019), J. Appl.
    Econometrics 34, 1-17.

    Examples
    --------
    >>> from bayesjudge.prevalence import items
    >>> log = items.simulate(items=600, repeats=1, labelled=200, random_seed=1)
    >>> read = items.Items.from_frame(log, by="system", calibration="random")
    >>> value, low, high = paired_difference(read)["difference", "a", "b"]
    >>> low < 0.1 < high
    True
    """
    check_ci_prob(ci_prob)
    pairs = pairs_of(data)
    known = pairs.together is not None or not simultaneous
    expect("paired_difference", known, "simultaneous=True: intervals of scores hold one by one")
    together = pairs.together(ci_prob) if pairs.together and simultaneous else None
    rows = {
        pair: row_of(error, ci_prob, pairs.most, together) for pair, error in pairs.errors.items()
    }
    suffix = ", simultaneous" if simultaneous else ""
    return Estimate(
        {"difference": Quantity.of_rows(rows, ("first", "second"))},
        method=methods.PAIRED_SIMULTANEOUS if simultaneous else pairs.words.method,
        ci_prob=ci_prob,
        source=pairs.words.source,
        interval=f"{pairs.words.interval}{suffix}",
        assumptions=pairs.assumptions,
        cautions=pairs.cautions,
        data=data,
    )


def closed_forms(
    data: Any,
    *,
    ci_prob: float = 0.95,
    mismatched: bool = False,
    target: Target = "population",
) -> tuple[Estimate, ...]:
    """Make the closed forms that suit the declared design, the naive one first.

    Parameters
    ----------
    data : Counts, Items, ClassCounts or Scores
        Verdicts or scores, and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    mismatched : bool, default False
        Return all that the table allows, for counts all of source 1's Table 1 and their
        relatives; those that the design does not support have a caution ``design-mismatch``.
    target : {"population", "items"}
        About the process that the items come from, or about these very items. Then closed forms
        that answer for the population alone are left out, each with a caution.

    Returns
    -------
    tuple of Estimate
        Ready for `bayesjudge.side_by_side`. A closed form that refuses is left out, and its reason
        is a caution of the first estimate. If labels tell the shares of classes or the mean of
        scores, confusions are not inverted. Of several systems on the same items their paired
        differences are the last.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `target` unknown, or no closed form suits the table.

    Examples
    --------
    Half of the items are labelled: their share of good ones is not in doubt.

    >>> counts = Counts(200, 152, 140, 126, 60, 42, calibration="random")
    >>> for target in ("population", "items"):
    ...     value, low, high = closed_forms(counts, target=target)[1]["prevalence"]
    ...     print(f"{target}: {value:.2f} ({low:.3f}, {high:.3f})")
    population: 0.70 (0.633, 0.759)
    items: 0.70 (0.653, 0.743)
    """
    check_ci_prob(ci_prob)
    estimates, refused = [], []
    for named, options in sample_of(data).forms(mismatched):
        method = named if callable(named) else globals()[named]
        how = {**options, **({} if target == "population" else {"target": target})}
        if "target" in how and "target" not in inspect.signature(method).parameters:
            refused.append(Caution.of("population-only", named=named))
            continue
        try:
            estimates.append(method(data, ci_prob=ci_prob, **how))
        except UninformativeJudgeError as error:
            refused.append(Caution.of("no-better-than-chance", "refused", why=error.message))
    refused = list(dict.fromkeys(refused))
    if not estimates:
        raise InputError("closed_forms", [problem.text for problem in refused])
    return (replace(estimates[0], cautions=(*estimates[0].cautions, *refused)), *estimates[1:])


def _asked(data: Any, form: Form, ci_prob: float, target: str) -> tuple[Sample, bool]:
    """The sample that a closed form is asked of, and whether it is about these very items."""
    check_ci_prob(ci_prob)
    sample = sample_of(data)
    with checking(form) as require:
        require(target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        known = target in sample.targets or target not in TARGETS
        words = f"{type(data).__name__} answer for target='population' only"
        require(known, words)
    return sample.effective(form, ci_prob), target == "items"


def _known(successes: Any, trials: Any, ci_prob: float) -> tuple[Any, Any, Any]:
    """A share that is not estimated: the interval is the number itself."""
    value = wilson(successes, trials, ci_prob)[0]
    return value, value, value


def _estimate(
    sample: Sample,
    form: Form,
    estimate: Callable[[Sample], Intervals],
    *,
    method: Method | None = None,
    source: str = "",
    interval: str | None = None,
    rates: Mapping[str, Columns] = MappingProxyType({}),
    others: Mapping[str, Quantity] = MappingProxyType({}),
    known: Any = None,
    target: Target = "population",
    **about: Any,
) -> Estimate:
    """What a closed form says of a sample and, if its classes have credits, of their mean."""
    words = sample.words[form]
    intervals, overall = estimate(sample)
    win_rate = None
    credit = sample.credit_for(form)
    if credit is not None:
        each, whole = estimate(credit)
        win_rate = each if whole is None else whole
    kind: Any = sample.kind_of_interval(interval or words.interval)
    if rates or others:
        more = dict.fromkeys(("win_rate",) if win_rate is not None else (), kind)
        kind = {sample.answer: kind, **more, **dict.fromkeys((*rates, *others), "equal-tailed")}
    return described(
        sample,
        {sample.answer: intervals, **rates},
        others=others,
        overall=overall,
        win_rate=win_rate,
        method=method or words.method,
        source=source or words.source,
        interval=kind,
        assumptions=(words.assumption,),
        known=(target == "items") & np.asarray(sample.complete()) if known is None else known,
        target=target,
        **about,
    )


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
    expect("bootstrap", resamples >= 100, "must be 100 or more", resamples=resamples)
    estimates = _resampled(counts, resamples, rng_of(random_seed))
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
    raw = np.where(rates[1] + rates[2] > 1, inversion.invert(*rates), np.nan)
    known = np.isfinite(raw)
    ends = (np.where(known, np.clip(end, 0, 1), np.nan) for end in (low, high))
    overall = None
    if counts.adds_up:
        bias = inversion.ratio_bias(counts.shares, *rates, bad_n, good_n)
        overall = _overall(counts.shares, raw, estimates, bias, tail)
    return described(
        CountsSample(counts),
        {"prevalence": (raw, *ends, raw)},
        overall=overall,
        method=methods.BOOTSTRAP,
        ci_prob=ci_prob,
        source=f"{LEE}, eq. (5); Efron (1979)",
        interval="bootstrap percentile",
        assumptions=(SAME_JUDGE,),
        needs="error_rates",
        more=list(_bad_resamples(counts, np.atleast_1d(bad.sum(axis=0)), resamples)),
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
        shares = inversion.invert(passes / counts.test_n, specificity, sensitivity)
        return np.where(sensitivity + specificity > 1, shares, np.nan)


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


def _bad_resamples(counts: Counts, bad: np.ndarray, resamples: int) -> Iterator[Caution]:
    for where, count in zip(counts.places, bad, strict=True):
        if count:
            yield Caution.of("bad-resamples", count=count, resamples=resamples, place=where)
