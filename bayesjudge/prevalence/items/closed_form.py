"""Closed forms of repeated items: those of counts, with variances by item."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import findings, is_led_elsewhere, selection_of
from bayesjudge.core.errors import check_by_name, check_ci_prob, expect
from bayesjudge.core.estimate import (
    Assumption,
    Caution,
    Diagnosis,
    Estimate,
    Place,
    Quantity,
    Target,
)
from bayesjudge.core.intervals import z_score
from bayesjudge.core.label_design import (
    RANDOM_LABELS,
    LabelDesign,
    checked,
)
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence._bounds import judged_so, verdicts_without_label
from bayesjudge.prevalence._samples import (
    Columns,
    CountsSample,
    Form,
    Intervals,
    Pairs,
    Prediction,
    Sample,
    Words,
    described,
    design_mismatch,
    pairs_of,
    sample_of,
    worded,
)
from bayesjudge.prevalence.cautions import SHIFT_P, of_one_kind, weak_judge
from bayesjudge.prevalence.closed_form import difference
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import diagnose, granted
from bayesjudge.prevalence.items._same_labels import same_labels
from bayesjudge.prevalence.items.data import INDEPENDENT_ITEMS, Items
from bayesjudge.truth import by_item, pairs
from bayesjudge.truth.by_item import Clusters, Spread
from bayesjudge.truth.influence import Errors
from bayesjudge.truth.within_classes import (
    bounded_difference,
    differences_within,
    estimate_of,
    shares_within,
)
from bayesjudge.verdicts.reading import UNLABELLED

CLUSTERED = "Binder (1983), Int. Stat. Rev. 51, 279-292; Korn & Graubard (1998)"
#: With fewer labelled items, t intervals by item are reported with a caution.
FEW_ITEMS = 10


def clusters_of(items: Items, system: str) -> Clusters:
    """One system's rows, by pattern of all systems."""
    place = items.systems.index(system)
    return Clusters.of(items.units[:, place], items.count)


def own_clusters(items: Items, system: str) -> Clusters:
    """One system's rows, by its own patterns, of which there are fewer."""
    return clusters_of(items.system(system), system)


def rows_per_output(items: Items, system: str) -> float:
    """Rows of a system by item, on average over its rows; 1 if no item repeats."""
    i = items.systems.index(system)
    size = items.cells[:, i].sum(axis=(1, 2)).astype(float)
    return float(items.count @ size**2 / (items.count @ size))


# Effective counts --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EffectiveCounts(Counts):
    """Counts of independent rows that tell as much; they need not be whole."""

    def __post_init__(self) -> None:
        """Skip the checks of whole numbers: these come from counts that passed them."""


class Effective(NamedTuple):
    """One system's rows, and how much less they tell than independent ones."""

    name: str
    clusters: Clusters
    factor: float
    design_effect: float
    shared: bool
    design: LabelDesign

    @property
    def totals(self) -> np.ndarray:
        """Independent rows that tell as much, by kind."""
        return self.clusters.totals / self.factor

    @property
    def counts(self) -> EffectiveCounts:
        """The same as counts."""
        return _counts_of(self.totals, self.design)


def _counts_of(totals: np.ndarray, design: LabelDesign, **about: Any) -> EffectiveCounts:
    """Counts of rows by kind, the last axis."""
    hits, missed, wrong, caught, passes, fails = np.moveaxis(totals, -1, 0)
    rows = passes + fails, passes, hits + missed, hits, wrong + caught, caught
    return EffectiveCounts(*rows, design, **about)


def effective_counts(
    items: Items,
    spread: Callable[[Clusters], Spread],
    ci_prob: float,
    *,
    by_labels: bool = True,
) -> list[Effective]:
    """Counts of independent rows that tell as much, by system.

    Design effects below that of independent rows are chance, and count as 1; the mean of an
    output's verdicts may be as precise as that of as many outputs. Rows of which none share an item
    stay what they are.
    """
    every = []
    for name in items.systems:
        clusters = own_clusters(items, name)
        effect, factor, shared = 1.0, 1.0, rows_per_output(items, name) > 1
        if shared:
            found_spread = spread(clusters.padded() if clusters.few() else clusters)
            effect = max(found_spread.design_effect, _least_effect(items, name))
            size = clusters.labelled if by_labels else clusters.items
            factor = effect * by_item.small_sample(size, ci_prob, found_spread.corrected)
        every.append(Effective(name, clusters, factor, effect, shared, items.design))
    return every


def _least_effect(items: Items, system: str) -> float:
    return 1 / rows_per_output(items, system) if items.repeats == "judge" else 1.0


class _ItemsSample(CountsSample):
    """Rows of systems that share items: as counts of independent ones."""

    targets = ("population",)
    predictions = ("linear",)

    def __init__(self, items: Items, effects: Sequence[Effective]) -> None:
        names = items.systems if len(items.systems) > 1 else None
        totals = np.array([effect.totals for effect in effects])
        super().__init__(
            _counts_of(totals[0] if names is None else totals, items.design, systems=names)
        )
        self.data, self.effects = items, effects
        by_student = {"interval": "t, by item (CR3)"} if items.repeated else {}
        self.words = worded(
            {
                form: {"source": f"{words.source}; {CLUSTERED}"}
                | (by_student if form == "difference" else {})
                for form, words in self.words.items()
            }
        )

    def forms(self, mismatched: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        yield from Sample.forms(self, mismatched)
        if self.coords and self.identifies("prevalence"):
            yield "paired_difference", {}

    def kind_of_interval(self, words: str) -> str:
        by_student = words == self.words["difference"].interval
        return words if by_student else f"{words}, effective counts"

    def effective(self, form: Form, ci_prob: float) -> _ItemsSample:
        same = self.data.design.same_items
        values: dict[Form, Callable[[np.ndarray], np.ndarray]] = {
            "naive": partial(by_item.of_pass_rate, with_labelled=same),
            "human_only": lambda totals: by_item.of_rates(totals)[0],
            "post_stratified": partial(by_item.of_strata, with_labelled=same),
            "rogan_gladen": by_item.of_inversion,
        }
        if form == "difference":  # which sums its contributions itself
            return self
        counts = effective_counts(
            self.data, _spread(values[form]), ci_prob, by_labels=form != "naive"
        )
        return _ItemsSample(self.data, counts)

    def predictive_values(self, ci_prob: float) -> dict[str, Columns]:
        return {}

    def rates(self, ci_prob: float) -> tuple[Columns, Columns]:
        if not self.identifies("error_rates"):
            return super().rates(ci_prob)
        places = range(len(self.data.systems)) if self.coords else [None]
        tables = [pairs.Pairs.of_verdicts(self.data.verdicts, 0, at) for at in places]
        each = [table.rates(self.design, ci_prob) for table in tables]
        columns = (
            np.transpose([rates[name] for rates in each]) for name in ("sensitivity", "specificity")
        )
        q1, q0 = (tuple(x if self.coords else x[:, 0]) for x in columns)
        return q1, q0

    def difference(self, ci_prob: float, g: Prediction, items: bool, **folds: Any) -> Intervals:
        columns, _ = super().difference(ci_prob, g, items)
        rows, effects = np.transpose(np.atleast_2d(np.transpose(columns))).copy(), []
        for i, system in enumerate(self.effects):
            if rows_per_output(self.data, system.name) > 1:
                least = _least_effect(self.data, system.name)
                interval, effect = by_item.difference(system.clusters, least, ci_prob)
                rows[:, i] = *interval, interval.value
                system = system._replace(design_effect=effect, shared=True)
            effects.append(system)
        self.effects = effects
        return tuple(rows if self.coords else rows[:, 0]), None

    def diagnosis(self, assumptions: Sequence[Assumption], target: Target) -> Diagnosis:
        marked, raised = diagnose(self.data, (*assumptions, INDEPENDENT_ITEMS), target)
        return marked, (*_effects(self.effects), *raised)


def _spread(values: Callable[[np.ndarray], np.ndarray]) -> Callable[[Clusters], Spread]:
    return lambda clusters: by_item.spread_of(clusters, values(clusters.totals))


@sample_of.register
def _(items: Items) -> Sample:
    clusters = [(name, own_clusters(items, name)) for name in items.systems]
    return _ItemsSample(
        items, [Effective(*named, 1.0, 1.0, False, items.design) for named in clusters]
    )


# Likeness of rows --------------------------------------------------------------------------------


def agreement_within(items: Items, *, ci_prob: float = 0.95) -> Estimate:
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
        two labels or more; ``design_effect``, 1 + (n - 1) icc for n rows per item, by which the
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
    >>> round(items.agreement_within(read)["icc"].value, 1)
    0.4
    """
    check_ci_prob(ci_prob)
    table: dict[str, list[Any]] = {"icc": [], "design_effect": [], "effective_items": []}
    for name in items.systems:
        clusters = own_clusters(items, name)
        icc = by_item.correlation_within(clusters, z_score(ci_prob))
        rows = float(clusters.totals.sum())
        for quantity, values in in_rows(icc, rows_per_output(items, name), rows).items():
            table[quantity].append(values)
    sample = sample_of(items)
    columns = {name: tuple(np.transpose(rows)) for name, rows in table.items()}
    return described(
        sample,
        columns,
        method=methods.AGREEMENT_WITHIN,
        ci_prob=ci_prob,
        source="Kish (1965), Survey Sampling; pairs of labels of one item",
        interval="delta method, by item",
        assumptions=(RANDOM_LABELS,),
        needs="prevalence",
        known=True,
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


def by_judge(items: Mapping[str, Items], *, ci_prob: float = 0.95) -> Estimate:
    """Put the estimates of several judges of the same outputs side by side.

    They are `difference`, or regressions within classes of a column that labels clearly go with.

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
    check_by_name(Items, items=items)
    estimates = {
        judge: within_classes(table, ci_prob)[0]
        if is_led_elsewhere(table)
        else difference(table, ci_prob=ci_prob)
        for judge, table in items.items()
    }
    first = next(iter(estimates.values()))
    systems = {tuple(table.systems) for table in items.values()}
    problem = f"judges must have the same systems, got {sorted(systems)}"
    expect("items.by_judge", len(systems) == 1, problem)
    rows = {
        (judge, *where): (*estimate.quantities["prevalence"].row(i),)
        for judge, estimate in estimates.items()
        for i, where in enumerate(estimate.quantities["prevalence"].labels)
    }
    cautions = [
        c.within(f"judge {judge!r}", c.where)
        for judge, estimate in estimates.items()
        for c in estimate.cautions
    ]
    panel = Caution.of("several-judges", judges=len(estimates))
    dims = ("judge", *first.quantities["prevalence"].dims)
    return replace(
        first,
        quantities={"prevalence": Quantity.of_rows(rows, dims)},
        cautions=tuple(dict.fromkeys((panel, *cautions))),
    )


# Differences of systems on the same items -------------------------------------------------------


def share_items(items: Items) -> bool:
    """Whether any item has outputs of two systems."""
    there = [(items.rows(s).labelled > 0) | (items.rows(s).test > 0) for s in items.systems]
    return bool((np.sum(there, axis=0) > 1).any())


def contrast(items: Items, first: str, second: str) -> by_item.Contrast:
    """Difference of two systems, from the items' patterns of these two."""
    return _contrast(items._of(first, second), first, second)


def _contrast(items: Items, first: str, second: str) -> by_item.Contrast:
    return by_item.contrast(clusters_of(items, first), clusters_of(items, second))


@pairs_of.register
def _(items: Items) -> Pairs:
    several = len(items.systems) >= 2
    problem = f"needs two systems or more, got {list(items.systems)}; name them: by="
    expect("paired_difference", several, problem)
    names = list(itertools.combinations(items.systems, 2))
    contrasts = {pair: contrast(items, *pair) for pair in names}
    sample = sample_of(items)
    assumptions, cautions = sample.diagnosis((RANDOM_LABELS,), "population")
    method = methods.PAIRED if share_items(items) else methods.UNPAIRED_PPI
    cautions = (*design_mismatch(sample, "prevalence", method), *cautions)

    def together(ci_prob: float) -> float:
        of_all = [_contrast(items, *pair) for pair in names]
        return by_item.largest_deviation(of_all, items.count, ci_prob)

    return Pairs(
        {
            pair: Errors(c.value, c.centre, float(np.sqrt(c.variance)), c.labelled - 1)
            for pair, c in contrasts.items()
        },
        1.0,
        Words(
            method,
            f"Miller (2024); Angelopoulos et al. (2023); {CLUSTERED}",
            "t, by item (CR3)",
            RANDOM_LABELS,
        ),
        assumptions,
        tuple(dict.fromkeys(cautions)),
        together,
    )


# Labels that go with a column --------------------------------------------------------------------


def within_classes(items: Items, ci_prob: float) -> list[Estimate]:
    """Shares, and differences on shared items, where labels are random within a column's classes.

    Influence values of all rows of an item add up, as they do of a random sample of items.
    """
    seen, several = selection_of(items), len(items.systems) > 1
    names = [(name,) * several for name in items.systems]
    shares = shares_within(names, ("system",) * several, seen, ci_prob, items)
    if not several:
        return [shares]
    pairs = _pairs_within(items)
    rows = {
        pair: bounded_difference(errors, (seen.untold[pair[0]], seen.untold[pair[1]]), ci_prob)
        for pair, errors in pairs.items()
    }
    gaps = {"difference": Quantity.of_rows(rows, ("first", "second"))}
    return [shares, estimate_of(gaps, seen, ci_prob, items)]


def _pairs_within(items: Items) -> dict[tuple[str, str], Errors]:
    def few_apart(*pair: str) -> bool:
        return by_item.few_apart(*(clusters_of(items._of(*pair), name) for name in pair))

    return differences_within(selection_of(items), items.systems, few_apart)


def errors_of(difference: Estimate) -> dict[tuple[str, str], Errors]:
    """The errors of differences that an estimate has of some items."""
    within, items = difference.method == methods.WITHIN_CLASSES, difference.data
    return _pairs_within(items) if within else pairs_of(items).errors


# Cautions ----------------------------------------------------------------------------------------


def _effects(effects: Sequence[Effective]) -> Iterator[Caution]:
    """Tell the design effects, and where labels are on few items."""
    shared = [effect for effect in effects if effect.shared]
    if shared:
        largest = max(shared, key=lambda effect: effect.design_effect)
        n, name = float(largest.clusters.totals.sum()), largest.name
        kinds = kind_of((effect.name for effect in effects), several=True)
        where = f" of {kind_of([name])} {name!r}" if name != "system" else ""
        most = f", the largest of {len(shared)} {kinds}" if len(shared) > 1 else ""
        yield Caution.of(
            "design-effect",
            place=where,
            design_effect=largest.design_effect,
            most=most,
            n=n,
            worth=n / largest.design_effect,
        )


@granted.register
def _assumed(items: Items) -> tuple[Assumption, ...]:
    return (items.design.assumption, INDEPENDENT_ITEMS)


@findings.register
def _findings(items: Items, target: Target) -> Iterator[Caution]:
    yield from checked(items.design, items)
    same = same_labels(items)
    if same is not None:
        yield same
    weak: list[tuple[str, str]] = []
    for i, name in enumerate(items.systems):
        clusters = own_clusters(items, name)
        where = f" of {kind_of(items.systems)} {name!r}" if len(items.systems) > 1 else ""
        labelled, (hits, missed, wrong, caught, *_) = clusters.labelled, clusters.totals
        good, bad = hits + missed, wrong + caught
        if rows_per_output(items, name) > 1 and labelled < FEW_ITEMS:
            yield Caution.of("few-labelled-items", place=where, labelled=round(labelled))
        yield from _shift(items, i, where)
        alike = of_one_kind(good, hits, bad, caught, Place((), where))
        single = _counts_of(clusters.totals, items.design)
        for verdict, without in verdicts_without_label(single).items():
            if single.predictive and without:
                those, alike = judged_so(verdict, items.pass_name), None
                yield Caution.of("empty-class", "verdict", place=where, those=those)
        if alike is not None:
            yield alike
        if min(good, bad) > 0 and items.design.identifies != {"predictive_values"}:
            q1, q0 = hits / good, caught / bad
            _, *rates = (by_item.spread_of(clusters, v) for v in by_item.of_rates(clusters.totals))
            half = z_score(0.95) * np.sqrt(sum(rate.variance for rate in rates))
            if q1 + q0 - 1 - half <= 0:
                weak.append((where, f"{q1 + q0 - 1:.2f}"))
    if weak:
        of = len(items.systems), kind_of(items.systems, several=True)
        yield weak_judge("sensitivity + specificity", weak, *of)
    if items.unparsed:
        total = how_many(items.n_rows, "row")
        yield Caution.of(
            "unparsed-verdicts", "verdicts", count=items.unparsed, place="", total=total
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
        yield Caution.of(
            "label-shift", "items", labelled=labelled, place=where, others=others, p_value=p_value
        )
