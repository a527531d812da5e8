"""Closed forms of repeated items: part 1's estimators, with variances by item."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, check_ci_prob, checking
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import FEW, holding, wilson, z_score
from bayesjudge.core.label_design import (
    ERRORS_CANCEL,
    RANDOM_BY_VERDICT,
    RANDOM_LABELS,
    SAME_JUDGE,
    about_others,
    checked,
)
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence._bounds import bounds_words, judged_so, verdicts_without_label
from bayesjudge.prevalence.cautions import SHIFT_P, of_one_kind, unparsed_words, weak_words
from bayesjudge.prevalence.closed_form import LEE
from bayesjudge.prevalence.items import _clusters as by_item
from bayesjudge.prevalence.items._clusters import Clusters, EffectiveCounts, Spread
from bayesjudge.prevalence.items._same_labels import same_labels
from bayesjudge.prevalence.items.data import INDEPENDENT_ITEMS, Items
from bayesjudge.verdicts.reading import UNLABELLED

CLUSTERED = "Binder (1983), Int. Stat. Rev. 51, 279-292; Korn & Graubard (1998)"
#: With fewer labelled items, t intervals by item are reported with a caution.
FEW_ITEMS = 10


class Effective(NamedTuple):
    """One system's rows, and how much less they tell than independent ones."""

    name: str
    clusters: Clusters
    counts: EffectiveCounts
    design_effect: float
    df: float


def effective_counts(
    items: Items, spread: Callable[[Clusters], Spread], ci_prob: float, *, by_labels: bool = True
) -> list[Effective]:
    """Counts of independent rows that tell as much, by system.

    Design effects below that of independent rows are chance, and count as 1; the mean of an
    output's verdicts may be as precise as that of as many outputs. Rows of which none share an item
    stay what they are.
    """
    found = []
    for name in items.systems:
        clusters = by_item.own_clusters(items, name)
        repeats = rows_per_output(items, name)
        if repeats == 1:
            found.append(Effective(name, clusters, _counts(items, clusters, 1.0), 1.0, np.inf))
            continue
        used = clusters.padded() if clusters.few() else clusters
        least = 1 / repeats if items.repeats == "judge" else 1.0
        found_spread = spread(used)
        effect = max(found_spread.design_effect, least)
        size = clusters.labelled if by_labels else clusters.items
        factor = effect * by_item.small_sample(size, ci_prob, found_spread.corrected)
        counts = _counts(items, clusters, factor)
        found.append(Effective(name, clusters, counts, effect, size - 1))
    return found


def _counts(items: Items, clusters: Clusters, factor: float) -> EffectiveCounts:
    return by_item.effective(clusters, items.design, factor)


def rows_per_output(items: Items, system: str) -> float:
    """Rows of a system by item, on average over its rows; 1 if no item repeats."""
    i = items.systems.index(system)
    size = items.cells[:, i].sum(axis=(1, 2)).astype(float)
    return float(items.count @ size**2 / (items.count @ size))


def naive(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Take the judge at its word: its pass rate, with Wilson's interval for effective counts.

    Parameters
    ----------
    items : Items
        Verdicts. Labelled rows are counted in, unless their design says that they are not a sample
        of the same items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the pass rate.

    Returns
    -------
    Estimate
        ``prevalence`` by system, a share of rows.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    same = items.design.same_items

    def interval(one: Effective) -> tuple[Any, ...]:
        c = one.counts
        passes = c.test_pass + (c.labelled_pass if same else 0)
        return wilson(passes, c.test_n + (c.labelled_n if same else 0), ci_prob)

    found = effective_counts(
        items, lambda c: by_item.naive_spread(c, same), ci_prob, by_labels=False
    )
    return _described(
        items,
        found,
        {"prevalence": [interval(one) for one in found]},
        method=methods.JUDGE,
        ci_prob=ci_prob,
        source=f"Wilson (1927); {CLUSTERED}",
        interval="Wilson, effective counts",
        assumptions=(ERRORS_CANCEL,),
    )


def human_only(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Leave the judge out: the share of good rows among the labelled ones.

    Parameters
    ----------
    items : Items
        Labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` by system, with Wilson's interval for effective counts.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    found = effective_counts(items, lambda c: by_item.rate_spreads(c)[0], ci_prob)
    rows = [wilson(one.counts.correct_n, one.counts.labelled_n, ci_prob) for one in found]
    return _described(
        items,
        found,
        {"prevalence": rows},
        method=methods.HUMAN_ONLY,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (ii); {CLUSTERED}",
        interval="Wilson, effective counts",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def difference(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Add the labelled rows' mean correction to the pass rate (PPI++), with a variance by item.

    Parameters
    ----------
    items : Items
        Verdicts and labels; labels may be on rows or on all rows of an item.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` by system, clipped to [0, 1] with the unclipped value as ``raw``. If no item
        repeats it is that of `bayesjudge.prevalence.difference`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Notes
    -----
    The variance is that of the estimator's contributions summed by item, each divided by 1 less its
    leverage (the correction known as CR3, all but the jackknife over items), and the interval takes
    Student's t with C - 1 degrees of freedom for C labelled items. The judge's weight is the one
    that makes the variance by item least. Where fewer than five labelled items hold a misjudged
    row, a good one or a bad one, an imaginary item of each kind joins them, as in
    `bayesjudge.prevalence.difference`; as there, the quantile is then the normal one. All rows of
    an imaginary item are of its kind, since so few items do not tell how alike rows of one item
    are: such intervals cover more often than they say.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453; Binder (1983), Int. Stat. Rev. 51,
    279-292; Cameron & Miller (2015), J. Human Resources 50, 317-372; Miller (2024),
    arXiv:2411.00640.

    Examples
    --------
    >>> from bayesjudge.prevalence import items
    >>> log = items.simulate(systems=0.7, items=200, repeats=5, labelled=40, random_seed=1)
    >>> read = items.Items.from_frame(log, calibration="random", repeats="system")
    >>> value, low, high = items.difference(read)["prevalence"]
    >>> low < 0.7 < high
    True
    """
    z, rows, found = z_score(ci_prob), [], []
    for name in items.systems:
        clusters, repeats = by_item.own_clusters(items, name), rows_per_output(items, name)
        if repeats == 1:
            counts, effect, df = _counts(items, clusters, 1.0), 1.0, np.inf
            made = _of_single_rows(counts, z)
        else:
            least = 1 / repeats if items.repeats == "judge" else 1.0
            made, effect = by_item.difference_interval(clusters, least, ci_prob)
            counts, df = _counts(items, clusters, effect), clusters.labelled - 1
        found.append(Effective(name, clusters, counts, effect, df))
        rows.append((*holding(*np.clip(made, 0, 1)), made.value))
    return _described(
        items,
        found,
        {"prevalence": rows},
        method=methods.PPI_TUNED,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iii); Angelopoulos et al. (2023); {CLUSTERED}",
        interval="t, by item (CR3)" if items.repeated else "normal",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def _of_single_rows(c: EffectiveCounts, z: float) -> formulas.Interval:
    """The estimator of part 1."""
    wrong = c.incorrect_n - c.incorrect_fail
    table = c.correct_pass, c.correct_n - c.correct_pass, wrong, c.incorrect_fail
    p = np.divide(c.test_pass, c.test_n) if c.test_n > 0 else 0.0
    return formulas.difference(p, c.test_n, table, z)[0]


def rogan_gladen(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Correct the judge's pass rate for its errors, with the covariance by item of its rates.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` by system, clipped to [0, 1] with the unclipped value as ``raw``, with Lang
        and Reiczigel's interval for effective counts; ``sensitivity`` and ``specificity`` with
        Wilson's. If no item repeats it is that of `bayesjudge.prevalence.rogan_gladen`.

    Raises
    ------
    UninformativeJudgeError
        If sensitivity + specificity <= 1 for every system.
    InputError
        If `ci_prob` is out of range.
    """
    z = z_score(ci_prob)
    found = effective_counts(items, by_item.inverted_spread, ci_prob)
    rates = [effective_counts(items, _rate(i), ci_prob) for i in (1, 2)]
    made: dict[str, list[tuple[Any, ...]]] = {"prevalence": []}
    told = []
    made["sensitivity"] = [
        wilson(r.counts.correct_pass, r.counts.correct_n, ci_prob) for r in rates[0]
    ]
    made["specificity"] = [
        wilson(r.counts.incorrect_fail, r.counts.incorrect_n, ci_prob) for r in rates[1]
    ]
    for one, q1, q0 in zip(found, made["sensitivity"], made["specificity"], strict=True):
        c = one.counts
        if not q1[0] + q0[0] - 1 > by_item.ROUNDING or c.test_n <= 0:
            made["prevalence"].append((np.nan,) * 4)
            text = f"no Rogan-Gladen estimate{_of(one, found)}"
            told.append(Caution("no-better-than-chance", text))
            continue
        p = c.test_pass / c.test_n
        raw = formulas.invert(p, q0[0], q1[0])
        ends = formulas.lang_reiczigel(p, q0[0], q1[0], c.test_n, c.incorrect_n, c.correct_n, z)
        made["prevalence"].append((*holding(*np.clip((raw, *ends[1:]), 0, 1)), raw))
    if len(told) == len(found):
        raise UninformativeJudgeError(
            "rogan_gladen",
            [
                "sensitivity + specificity <= 1 (or a class of labels is empty): on the labelled "
                "rows the judge does no better than chance, so its pass rate cannot be corrected; "
                "use a better judge, more labels, or bayesjudge.prevalence.items.fit"
            ],
        )
    return _described(
        items,
        found,
        made,
        method=methods.ROGAN_GLADEN,
        ci_prob=ci_prob,
        source=f"{LEE}, eqs. (5)-(9); Lang & Reiczigel (2014); {CLUSTERED}",
        interval={
            "prevalence": "Lang-Reiczigel, effective counts",
            "sensitivity": "Wilson, effective counts",
            "specificity": "Wilson, effective counts",
        },
        assumptions=(SAME_JUDGE,),
        needs="error_rates",
        more=told,
    )


def post_stratified(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Weigh the share of good rows among passes and among fails by the pass rate.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``prevalence`` by system, for effective counts. If no item repeats it is that of
        `bayesjudge.prevalence.post_stratified`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    z = z_score(ci_prob)
    same = items.design.same_items
    found = effective_counts(items, lambda c: by_item.stratified_spread(c, same), ci_prob)
    rows = []
    for one in found:
        c = one.counts
        n1, n0 = c.labelled_pass, c.labelled_n - c.labelled_pass
        with np.errstate(divide="ignore", invalid="ignore"):
            ppv, npv = np.divide(c.correct_pass, n1), np.divide(c.incorrect_fail, n0)
        whole = c.test_n + (c.labelled_n if same else 0)
        p = (c.test_pass + (c.labelled_pass if same else 0)) / whole
        made = formulas.post_stratified(p, ppv, npv, whole, n1, n0, z)
        rows.append(holding(*np.clip(made, 0, 1)))
    return _described(
        items,
        found,
        {"prevalence": rows},
        method=methods.POST_STRATIFIED,
        ci_prob=ci_prob,
        source=f"{LEE}, Table 1 (iv); Tenenbein (1970); {CLUSTERED}",
        interval="adjusted delta method, effective counts",
        assumptions=(RANDOM_BY_VERDICT,),
        needs="predictive_values",
    )


def agreement(items: Items, *, ci_prob: float = 0.95) -> Estimate:
    """Tell how alike the truths of rows of one item are, and what that costs.

    Parameters
    ----------
    items : Items
        Labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        By system: ``icc``, the correlation of the truths of two rows of an item, from items with
        two labels or more; ``design_effect``, 1 + (n - 1) icc for n rows an item, by which the
        variance of a mean over rows is larger than that of as many independent ones; and
        ``effective_items``, rows divided by it. Intervals by item (delta method), cut off at 0 and
        1. ``nan`` if no item has two labels; an output that is judged several times has one truth.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> from bayesjudge.prevalence import items
    >>> log = items.simulate(systems=0.7, items=400, repeats=5, labelled=200, random_seed=1)
    >>> read = items.Items.from_frame(log, calibration="random", repeats="system")
    >>> round(items.agreement(read)["icc"].value, 1)
    0.4
    """
    check_ci_prob(ci_prob)
    made: dict[str, list[tuple[Any, ...]]] = {"icc": [], "design_effect": [], "effective_items": []}
    for name in items.systems:
        icc = _icc(by_item.own_clusters(items, name), ci_prob)
        rows = items.count @ items.rows(name).labelled + items.count @ items.rows(name).test
        for quantity, values in in_rows(icc, rows_per_output(items, name), float(rows)).items():
            made[quantity].append(values)
    return _described(
        items,
        [],
        made,
        method=methods.AGREEMENT_WITHIN,
        ci_prob=ci_prob,
        source="Kish (1965), Survey Sampling; pairs of labels of one item",
        interval="delta method, by item",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def in_rows(icc: Any, repeats: float, rows: float) -> dict[str, Any]:
    """What a correlation within items means for a mean over rows; low and high change places."""
    value, low, high = np.asarray(icc, float)
    effect = [1 + (repeats - 1) * x for x in (value, low, high)]
    worth = [rows / effect[0], rows / effect[2], rows / effect[1]]
    return {
        "icc": (value, low, high),
        "design_effect": tuple(effect),
        "effective_items": tuple(worth),
    }


def _icc(clusters: Clusters, ci_prob: float) -> tuple[float, float, float]:
    """Correlation of two labels of an item: pairs against the labels' own variance."""
    r, count = clusters.rows, clusters.count
    pairs = r.labelled * (r.labelled - 1)
    total = clusters.totals
    theta = total.good / max(total.labelled, 1)
    if count @ pairs <= 0 or theta in (0, 1):
        return np.nan, np.nan, np.nan
    # products of deviations of two different labels: (sum of deviations)^2 less the squares
    products = (r.good - theta * r.labelled) ** 2
    products = products - r.good * (1 - theta) ** 2 - (r.labelled - r.good) * theta**2
    variance = theta * (1 - theta)
    value = count @ products / (count @ pairs) / variance
    shared = (products - value * variance * pairs) / (count @ pairs * variance)
    own = (1 - 2 * theta) / variance * (r.good - theta * r.labelled) / total.labelled
    z = shared - value * own
    half = z_score(ci_prob) * np.sqrt(count @ z**2)
    low, high = np.clip((value - half, value + half), 0, 1)
    return float(np.clip(value, 0, 1)), float(low), float(high)


def by_judge(items: Mapping[str, Items], *, ci_prob: float = 0.95) -> Estimate:
    """Put the difference estimates of several judges of the same outputs side by side.

    Parameters
    ----------
    items : mapping of str to Items
        By judge: the same rows with another verdict.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``prevalence`` by ``judge`` and, of several, ``system``. Each system has one prevalence: the
        rows of its judges are estimates of the same number, and `bayesjudge.panel` joins them.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or the judges' systems differ.
    """
    made = {judge: difference(one, ci_prob=ci_prob) for judge, one in items.items()}
    first = next(iter(made.values()))
    systems = {tuple(one.systems) for one in items.values()}
    with checking("items.by_judge") as require:
        require(len(systems) == 1, f"judges must have the same systems, got {sorted(systems)}")
    rows = {
        (judge, *where): (*one.quantities["prevalence"].row(i),)
        for judge, one in made.items()
        for i, where in enumerate(one.quantities["prevalence"].labels)
    }
    told = [
        c._replace(text=f"judge {judge!r}: {c.text}")
        for judge, one in made.items()
        for c in one.cautions
    ]
    panel = Caution(
        "several-judges",
        f"{len(made)} judges, one prevalence of each system: these are estimates of the same "
        "numbers; bayesjudge.panel joins the judges into one",
    )
    dims = ("judge", *first.quantities["prevalence"].dims)
    return replace(
        first,
        quantities={"prevalence": Quantity.of_rows(rows, dims)},
        cautions=tuple(dict.fromkeys((panel, *told))),
    )


# Differences of systems on the same items -------------------------------------------------------


class Contrast(NamedTuple):
    """Difference of two systems' prevalences, and each pattern's contribution to it."""

    value: float
    centre: float
    variance: float
    labelled: float
    influence: np.ndarray


def paired_difference(
    items: Items, *, ci_prob: float = 0.95, simultaneous: bool = False
) -> Estimate:
    """Compare every two systems on the items that they share (paired PPI++).

    Parameters
    ----------
    items : Items
        Two systems or more; items may be missing for some.
    ci_prob : float, default 0.95
        Coverage that each interval aims at; with ``simultaneous=True``, all together.
    simultaneous : bool, default False
        Widen the intervals so that all hold at once with probability `ci_prob` (the largest
        deviation of all pairs, from 10,000 draws of the items' contributions).

    Returns
    -------
    Estimate
        ``difference`` by ``first`` and ``second``, a difference of shares. The judge has the weight
        that suits the difference best, so that it may differ a little from the difference of two
        separate estimates.

    Raises
    ------
    InputError
        If `ci_prob` is out of range or there are fewer than two systems.

    Notes
    -----
    Contributions to both estimates are summed by item, so that what makes an item easy for all
    systems cancels; leverage and degrees of freedom are those of `difference`. Where the systems'
    truths differ on fewer than five labelled items, or otherwise than the verdicts do, four
    imaginary items join them, one for each sign of either difference (Bonett & Price 2012): without
    the first part of this rule intervals of systems that rarely differ cover as little as .30
    (``benchmarks/prevalence/paired.py``). With every row labelled and none repeated, the value is
    that of McNemar's table, and the variance too, times n / (n - 1) squared.

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
    >>> value, low, high = items.paired_difference(read)["difference", "a", "b"]
    >>> low < 0.1 < high
    True
    """
    check_ci_prob(ci_prob)
    with checking("paired_difference") as require:
        several = len(items.systems) >= 2
        require(several, f"needs two systems or more, got {list(items.systems)}; name them: by=")
    pairs = list(itertools.combinations(items.systems, 2))
    found = [(_contrast if simultaneous else contrast)(items, *pair) for pair in pairs]
    critical = [
        float(stdtrit(c.labelled - 1, (1 + ci_prob) / 2)) if c.labelled > 1 else np.inf
        for c in found
    ]
    if simultaneous:
        critical = [_largest(items, found, ci_prob)] * len(found)
    rows = {
        pair: holding(c.value, *np.clip((c.centre - t * s, c.centre + t * s), -1, 1))
        for pair, c, t in zip(pairs, found, critical, strict=True)
        for s in [np.sqrt(c.variance)]
    }
    return _described(
        items,
        [],
        {},
        more_quantities={"difference": Quantity.of_rows(rows, ("first", "second"))},
        method=methods.PAIRED_SIMULTANEOUS if simultaneous else methods.PAIRED,
        ci_prob=ci_prob,
        source=f"Miller (2024); Angelopoulos et al. (2023); {CLUSTERED}",
        interval="t, by item (CR3)" + (", simultaneous" if simultaneous else ""),
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
    )


def contrast(items: Items, first: str, second: str) -> Contrast:
    """Difference of two systems, from the items' patterns of these two."""
    return _contrast(items._of(first, second), first, second)


def _contrast(items: Items, first: str, second: str) -> Contrast:
    """Contributions of both systems, summed by item, with one weight on the judge."""
    both = [by_item.clusters_of(items, name) for name in (first, second)]
    made = [by_item.parts_of(one) for one in both]
    count = both[0].count
    truth = made[0].truth - made[1].truth
    passed = made[0].labelled_pass - made[1].labelled_pass
    tests = made[0].test_pass - made[1].test_pass
    means = np.array([by_item._means(one.totals) for one in both])
    gap, gap_labelled, gap_test = means[0] - means[1]
    whole = all(one.totals.test > 0 for one in both)
    labelled = (both[0].rows.labelled > 0) | (both[1].rows.labelled > 0)
    size = float(count[labelled].sum())
    few = _few_apart(both)
    extra_y = extra_v = extra_t = np.zeros(0)
    if few:  # imaginary items, each as large as a labelled one
        each = 1 / (size + 4)
        shrunk = size / (size + 4)
        truth, passed = truth * shrunk, passed * shrunk
        extra_y, extra_v = each * np.array([1, -1, 0, 0.0]), each * np.array([0, 0, 1, -1.0])
        seen = (both[0].rows.test > 0) | (both[1].rows.test > 0)
        others = float(count[seen].sum())
        if others:
            tests = tests * others / (others + 4)
            extra_t = np.array([1, 1, -1, -1.0]) / (others + 4)
    move, with_extra = passed - tests, count @ (passed - tests) ** 2 + extra_v @ extra_v
    cost = with_extra + extra_t @ extra_t
    gain = count @ (truth * move) + extra_y @ extra_v
    weight = float(np.clip(gain / cost, 0, 1)) if whole and cost > 0 else 0.0
    z = truth - weight * move
    known = float(count[labelled] @ passed[labelled] ** 2 + extra_v @ extra_v)
    held = size + extra_y.size
    own = passed**2 / known if weight > 0 and known > 0 else 0 * passed
    z = z / (1 - np.minimum(np.where(labelled, 1 / held + own, 0.0), by_item.MOST_LEVERAGE))
    extra = (extra_y - weight * extra_v) / (1 - 1 / held)
    variance = count @ z**2 + extra @ extra + weight**2 * (extra_t @ extra_t)
    value = weight * (gap_test if whole else 0.0) + gap - weight * gap_labelled
    shrink = size / (size + 4) if few else 1.0
    centre = gap * shrink - weight * gap_labelled * shrink + weight * gap_test * whole
    return Contrast(float(value), float(centre), float(variance), size, z)


def _few_apart(both: Sequence[Clusters]) -> bool:
    """Whether few items labelled for both differ in truth, or otherwise than in verdict."""
    r, s = (one.rows for one in both)
    seen = (r.labelled > 0) & (s.labelled > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        truth = r.good / r.labelled - s.good / s.labelled
        passed = r.labelled_pass / r.labelled - s.labelled_pass / s.labelled
    all_labelled = both[0].totals.test + both[1].totals.test <= 0
    rests_on = [truth] if all_labelled else [truth, truth - passed]
    apart = [both[0].count[seen & (np.abs(one) > 1e-9)].sum() for one in rests_on]
    return bool(min(apart) < FEW)


def _largest(items: Items, found: Sequence[Contrast], ci_prob: float) -> float:
    """Quantile of the largest deviation among all pairs, in standard errors."""
    rng = np.random.default_rng(1)
    z = np.array([c.influence for c in found]) * np.sqrt(items.count)
    errors = np.sqrt((z**2).sum(axis=1))
    shape = z[errors > 0] / errors[errors > 0, None]
    df = min(c.labelled for c in found) - 1
    if not len(shape) or df < 1:
        return np.inf
    largest = []
    for _ in range(20):
        draws = np.abs(shape @ rng.standard_normal((shape.shape[1], 500))).max(axis=0)
        largest.append(draws / np.sqrt(rng.chisquare(df, 500) / df))
    return float(np.quantile(np.concatenate(largest), ci_prob))


# What every estimate has -------------------------------------------------------------------------


def _rate(i: int) -> Callable[[Clusters], Spread]:
    return lambda clusters: by_item.rate_spreads(clusters)[i]


def _only(items: Items, name: str) -> Items:
    return items if len(items.systems) == 1 else items.system(name)


def _of(one: Effective, found: Sequence[Effective]) -> str:
    kind = kind_of(each.name for each in found)
    return "" if one.name == "system" else f" of {kind} {one.name!r}"


def _described(
    items: Items,
    found: Sequence[Effective],
    made: dict[str, list[tuple[Any, ...]]],
    *,
    needs: str | None = None,
    more: Sequence[Caution] = (),
    more_quantities: dict[str, Quantity] | None = None,
    **about: Any,
) -> Estimate:
    """Make the `Estimate`: assumptions, cautions and the design effect of each system."""
    coords = None if len(items.systems) == 1 else {"system": items.systems}
    quantities = {
        name: Quantity.over(tuple(np.transpose(rows)), coords) for name, rows in made.items()
    }
    raised = list(cautions_of(items))
    shifted = tuple(c.name for c in raised if c.name == "label-shift")
    assumptions = tuple(
        a._replace(contradicted_by=shifted)
        if a.id.startswith("random-labels")
        else about_others(items.design, a)
        for a in about.pop("assumptions")
    )
    told = [*more, *_clipped(items, quantities), *_effects(found), *raised]
    if needs is not None and needs not in items.design.identifies:
        text = f"{about['method']} is not valid if {items.design.meaning}"
        told.insert(0, Caution("design-mismatch", text))
    return Estimate(
        {**quantities, **(more_quantities or {})},
        assumptions=(*assumptions, INDEPENDENT_ITEMS),
        cautions=tuple(dict.fromkeys(told)),
        data=items,
        **about,
    )


def _clipped(items: Items, quantities: dict[str, Quantity]) -> Iterator[Caution]:
    for name, one in quantities.items():
        for where, raw in zip(one.labels, () if one.raw is None else one.raw, strict=False):
            if raw < 0 or raw > 1:
                place = f" of {kind_of(items.systems)} {where[0]!r}" if where else ""
                text = f"the {name}{place} comes out at {raw:.3f}, shown at the end of [0, 1]"
                yield Caution("clipped", text)


def _effects(found: Sequence[Effective]) -> Iterator[Caution]:
    """Tell the design effects, and where labels are on few items."""
    shared = [one for one in found if np.isfinite(one.df)]
    if shared:
        one = max(shared, key=lambda one: one.design_effect)
        rows = one.clusters.totals
        n = float(rows.labelled + rows.test)
        kinds = kind_of((each.name for each in found), several=True)
        most = f", the largest of {len(shared)} {kinds}" if len(shared) > 1 else ""
        yield Caution(
            "design-effect",
            f"rows{_of(one, found)} share items: design effect {one.design_effect:.2f}{most}, so "
            f"that {n:,.0f} rows tell as much as {n / one.design_effect:,.0f} independent ones; "
            "intervals take it into account",
        )


def cautions_of(items: Items) -> Iterator[Caution]:
    """List what a reader should know before believing an estimate from these items.

    Parameters
    ----------
    items : Items
        Verdicts and labels.

    Yields
    ------
    Caution
        ``same-labels``, ``few-labelled-items``, ``label-shift`` (by item), ``empty-class``,
        ``weak-judge``, ``unparsed-verdicts``.
    """
    yield from checked(items.design, items)
    same = same_labels(items)
    if same is not None:
        yield same
    weak: list[tuple[str, str]] = []
    for i, name in enumerate(items.systems):
        clusters = by_item.own_clusters(items, name)
        where = f" of {kind_of(items.systems)} {name!r}" if len(items.systems) > 1 else ""
        labelled, total = clusters.labelled, clusters.totals
        if rows_per_output(items, name) > 1 and labelled < FEW_ITEMS:
            yield Caution(
                "few-labelled-items",
                f"labels{where} are on {how_many(round(labelled), 'item')}: variances between "
                "items rest on these few; label other items rather than more rows of the same ones",
            )
        yield from _shift(items, i, where)
        bad = total.labelled - total.good
        caught = bad - (total.labelled_pass - total.good_pass)
        alike = of_one_kind(total.good, total.good_pass, bad, caught, where)
        single = _counts(items, clusters, 1.0)
        for verdict, without in verdicts_without_label(single).items():
            if single.predictive and without:
                those, alike = judged_so(verdict, items.pass_name), None
                yield Caution("empty-class", bounds_words(those, where))
        if alike is not None:
            yield alike
        if min(total.good, bad) > 0 and items.design.identifies != {"predictive_values"}:
            q1 = total.good_pass / total.good
            q0 = caught / bad
            spreads = by_item.rate_spreads(clusters)[1:]
            half = z_score(0.95) * np.sqrt(sum(s.variance for s in spreads))
            if q1 + q0 - 1 - half <= 0:
                weak.append((where, f"{q1 + q0 - 1:.2f}"))
    if weak:
        of = len(items.systems), kind_of(items.systems, several=True)
        yield Caution("weak-judge", weak_words("sensitivity + specificity", weak, *of))
    if items.unparsed:
        yield Caution(
            "unparsed-verdicts",
            unparsed_words(items.unparsed, "", items.n_rows, "row"),
        )


def _shift(items: Items, system: int, where: str) -> Iterator[Caution]:
    """Compare verdicts on labelled and other rows, by item."""
    if "prevalence" not in items.design.identifies:
        return
    p_value = items.shift_p_values[system]
    if p_value < SHIFT_P / len(items.systems):
        rows = np.tensordot(items.count, items.cells[:, system], 1)
        labelled, others = (
            part[..., 1].sum() / part.sum() for part in np.split(rows, [UNLABELLED])
        )
        yield Caution(
            "label-shift",
            f"the judge passes {labelled:.0%} of the labelled rows{where} and {others:.0%} of the "
            f"others; a random sample of items would differ so with probability {p_value:.1e}: "
            "declare how the labelled items were chosen",
        )
