"""What closed forms see of a table: patterns along axes, and how its numbers become an `Estimate`.

`sample_of` is registered for each table beside its data class. A `Sample` has the arithmetic that
all tables share, from patterns whose last axis is the pattern; strata or systems are the first axis
if there are any, and classes the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Estimate, Quantity, Row, Target
from bayesjudge.core.intervals import holding, jeffreys, wilson, z_score
from bayesjudge.core.label_design import (
    ERRORS_CANCEL,
    RANDOM_BY_VERDICT,
    RANDOM_LABELS,
    SAME_JUDGE,
    STRATUM_SHARES,
    Identified,
    LabelDesign,
)
from bayesjudge.core.methods import Method
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.truth import influence, inversion
from bayesjudge.truth.by_item import ROUNDING
from bayesjudge.truth.influence import Errors, Labelled, Others

Prediction = Literal["linear", "identity", "binned", "isotonic", "spline", "stacked"]
Form = Literal["naive", "human_only", "difference", "post_stratified", "rogan_gladen"]
EVERY: tuple[Form, ...] = get_args(Form)
#: Of counts, source 1's Table 1 and their relatives.
EVERY_OF_COUNTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("naive", {}),
    ("human_only", {}),
    ("difference", {"g": "identity"}),
    ("difference", {}),
    ("conditional_calibration", {}),
    ("post_stratified", {}),
    ("rogan_gladen", {}),
    ("bootstrap", {"random_seed": 1}),
)
#: Value, low and high (and the value before it was cut to its range); each of a `Sample`'s shape.
Columns = tuple[Any, ...]
#: Of each entry and, of strata that make up one whole, overall.
Intervals = tuple[Columns, Columns | None]


@dataclass(frozen=True)
class Words:
    """What a closed form is called for a table, and what it assumes."""

    method: Method
    source: str
    interval: str
    assumption: Assumption


LEE = "Lee et al. (2025), How to Correctly Report LLM-as-a-Judge Evaluations"
PPI = "Angelopoulos et al. (2023); Angelopoulos, Duchi & Zrnic (2023)"
FORMS: dict[Form, Words] = {
    "naive": Words(methods.JUDGE, f"{LEE}, eq. (2); Wilson (1927)", "Wilson", ERRORS_CANCEL),
    "human_only": Words(
        methods.HUMAN_ONLY, f"{LEE}, Table 1 (ii); Wilson (1927)", "Wilson", RANDOM_LABELS
    ),
    "difference": Words(methods.PPI_TUNED, f"{LEE}, Table 1 (iii); {PPI}", "normal", RANDOM_LABELS),
    "post_stratified": Words(
        methods.POST_STRATIFIED,
        f"{LEE}, Table 1 (iv); Tenenbein (1970); Cochran (1977), Section 5A.9",
        "adjusted delta method",
        RANDOM_BY_VERDICT,
    ),
    "rogan_gladen": Words(
        methods.ROGAN_GLADEN,
        f"{LEE}, eqs. (5)-(9); Rogan & Gladen (1978); Lang & Reiczigel (2014)",
        "Lang-Reiczigel",
        SAME_JUDGE,
    ),
}


def worded(changes: Mapping[Form, Mapping[str, Any]], words: Mapping[Form, Words] = FORMS) -> Any:
    """What closed forms are called for a table that has words of its own for some."""
    return {form: replace(sentence, **changes.get(form, {})) for form, sentence in words.items()}


@dataclass
class Inverted:
    """What an inversion of the error matrix finds."""

    intervals: Intervals
    rates: dict[str, Columns] = field(default_factory=dict)
    others: dict[str, Quantity] = field(default_factory=dict)
    cautions: Sequence[Caution] = ()
    method: Method | None = None


class Sample:
    """A table as closed forms see it; this one holds what they share."""

    #: Entries that make up one whole: shares that broadcast against their values.
    shares: Any = None
    #: What is estimated, and on what scale.
    answer = "prevalence"
    #: The same table with another value of each class, if there is one: `win_rate`.
    credit: Sample | None = None
    #: Degrees of freedom that a mean costs; of numeric truths, whose intervals are Student's, 1.
    lost = 0.0
    targets: tuple[Target, ...] = ("population",)
    predictions: tuple[Prediction, ...] = ("linear", "identity")

    words: Mapping[Form, Words] = FORMS
    data: Any
    places: Sequence[str]
    coords: dict[str, Sequence[Any]]

    # What a table has to say

    @property
    def design(self) -> LabelDesign:
        """How the labelled items were chosen."""
        return self.data.design

    def identifies(self, what: Identified) -> bool:
        """Whether the labels tell it without bias."""
        return what in self.design.identifies

    def said(self) -> tuple[Any, Any]:
        """Successes and trials of the judge, on all items that the estimate is about."""
        raise NotImplementedError

    def truths(self, items: bool = False) -> tuple[Any, Any]:
        """Successes and trials of people; about `items`, of a sample that tells as much."""
        raise NotImplementedError

    def patterns(self) -> tuple[Labelled, Others]:
        """Predictions and truths of labelled and other items."""
        raise NotImplementedError

    def bins(self) -> tuple[Any, Any, Any, Any]:
        """All items, labelled ones, sums and squares of their truths by bin of the prediction."""
        raise NotImplementedError

    def invert(self, ci_prob: float, interval: str, method: str, items: bool) -> Inverted:
        """Correct verdicts for the judge's errors."""
        raise NotImplementedError

    def diagnosis(self, assumptions: Sequence[Assumption], target: Target) -> Diagnosis:
        """Assumptions with what contradicts them, and what the data say against an estimate."""
        return diagnose(self.data, assumptions, target)

    def effective(self, form: Form, ci_prob: float) -> Sample:
        """The sample of independent rows that tells as much to a closed form."""
        return self

    def in_units(self, values: Any) -> Any:
        """From [0, 1] to the scale of the answer."""
        return values

    def credit_for(self, form: Form) -> Sample | None:
        """The sample of mean credits, if a closed form has one."""
        return self.credit

    def kind_of_interval(self, words: str) -> str:
        """What an interval is called."""
        return words

    def predictive_values(self, ci_prob: float) -> dict[str, Columns]:
        """Quantities of their own that post-stratification rests on."""
        return {}

    def complete(self) -> Any:
        """Of which entries all items are labelled."""
        return False

    def unanswered(self, columns: Columns, method: Method) -> Iterator[Caution]:
        """Why entries of the answer have no value or no interval."""
        yield from ()

    @property
    def entries(self) -> Sequence[str]:
        """Where each number is, for a sentence."""
        return self.places

    @property
    def whole_coords(self) -> dict[str, Sequence[Any]]:
        """Coordinates of what strata make up together."""
        return {}

    def forms(self, mismatched: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Closed forms, by name or as a function, with their options: those that suit the design.

        All of the table's own if those are asked for that are `mismatched`.
        """
        for name in EVERY if mismatched else self.design.closed_forms:
            yield name, {}

    # What all tables share

    def quantile(self, ci_prob: float) -> float:
        """Standard errors to an end of an interval."""
        return z_score(ci_prob)

    def mean(
        self, of: Literal["said", "truths"], ci_prob: float, find: Any = wilson, items: bool = False
    ) -> Intervals:
        """Share with its interval; of strata, with that of a sample as informative as they are."""
        successes, trials = self.said() if of == "said" else self.truths(items)
        interval = find(successes, trials, ci_prob)
        if self.shares is None:
            return interval, None
        z = z_score(ci_prob)
        return interval, find(*influence.effective(self.shares, successes, trials, z), ci_prob)

    def difference(self, ci_prob: float, g: Prediction, items: bool, **folds: Any) -> Intervals:
        """Mean prediction plus the labelled items' mean correction."""
        weight = None if g == "linear" else 1.0
        patterns, z = self.patterns(), z_score(ci_prob)
        interval, _ = influence.difference(*patterns, z, weight=weight, items=items)
        if self.shares is None:
            return (*interval, interval.value), None
        parts, _ = influence.difference(
            *patterns, z, weight=weight, items=items, shares=self.shares
        )
        whole = influence.weighed(self.shares, *parts)
        return (*interval, interval.value), (*whole, whole.value)

    def post_stratify(self, ci_prob: float, items: bool, bins: Any = None) -> Intervals:
        """Mean truths of the bins, weighed by all items in them."""
        each: tuple[Any, Any, Any, Any] = self.bins() if bins is None else bins
        z = self.quantile(ci_prob)
        how: dict[str, Any] = {"corners": 0.0 if self.lost else 4.0, "known": items}
        interval = influence.post_stratified(*each, z, **how)
        if self.shares is None:
            return interval, None
        parts = influence.post_stratified(*each, z, share=self.shares, **how)
        return interval, influence.weighed(self.shares, *parts)


@singledispatch
def sample_of(data: Any) -> Sample:
    """The sample of a table; registered beside each data class."""
    tables = "Counts, Items, ClassCounts or Scores"
    expect("closed forms", False, f"expected {tables}, got {type(data).__name__}")
    raise AssertionError


# Counts ------------------------------------------------------------------------------------------


class CountsSample(Sample):
    """Passes and fails of one or more systems, or of strata."""

    targets: tuple[Target, ...] = ("population", "items")

    def __init__(self, counts: Counts) -> None:
        self.data = self.counts = counts
        self.places = counts.places
        self.coords = {} if counts.systems is None else {counts.dim: counts.systems}
        self.shares = counts.shares if counts.adds_up else None

    def identifies(self, what: Identified) -> bool:
        return self.counts.identifies(what)

    def forms(self, mismatched: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        forms: list[tuple[Any, dict[str, Any]]] = [(form, {}) for form in self.design.closed_forms]
        if self.counts.external_labels is not None:
            forms = [*(form for form in forms if form[0] != "rogan_gladen"), ("rogan_gladen", {})]
        if mismatched:
            yield from EVERY_OF_COUNTS
            forms = [form for form in forms if form not in EVERY_OF_COUNTS]
        yield from forms

    def said(self) -> tuple[Any, Any]:
        return passes_of_all(self.counts)

    def truths(self, items: bool = False) -> tuple[Any, Any]:
        c = self.counts
        if items and c.design.same_items:
            return influence.finite(c.correct_n, c.labelled_n, c.test_n + c.labelled_n)
        return c.correct_n, c.labelled_n

    def predictive_values(self, ci_prob: float) -> dict[str, Columns]:
        c = self.counts
        n1, n0 = c.labelled_pass, c.labelled_n - c.labelled_pass
        return {
            "ppv": jeffreys(c.correct_pass, n1, ci_prob),
            "npv": jeffreys(c.incorrect_fail, n0, ci_prob),
        }

    def patterns(self) -> tuple[Labelled, Others]:
        c = self.counts
        return influence.of_verdicts(c.test_pass, c.test_n, table_of(c))

    def bins(self, with_labelled: bool = True) -> tuple[Any, Any, Any, Any]:
        c = self.counts
        passes, items = passes_of_all(c) if with_labelled else (c.test_pass, c.test_n)
        labels = by_verdict(c.labelled_pass, c.labelled_n)
        good = by_verdict(c.correct_pass, c.correct_n)
        return by_verdict(passes, items), labels, good, good

    def complete(self) -> Any:
        return self.counts.test_n == 0

    def unanswered(self, columns: Columns, method: Method) -> Iterator[Caution]:
        missing = np.isnan(columns[0]) & self.complete()
        for where, without in _entries(self, missing):
            if without:
                yield Caution.of("no-unlabelled", method=method, place=where)

    def rates(self, ci_prob: float) -> tuple[Columns, Columns]:
        """Sensitivity and specificity."""
        good, hits, bad, caught = self.counts.rate_labels.values()
        return jeffreys(hits, good, ci_prob), jeffreys(caught, bad, ci_prob)

    def invert(self, ci_prob: float, interval: str, method: str, items: bool) -> Inverted:
        counts, z = self.counts, z_score(ci_prob)
        good, _, bad, _ = counts.rate_labels.values()
        q1, q0 = self.rates(ci_prob)
        chance = np.asarray(q0[0] + q1[0] - 1 <= ROUNDING)
        if chance.all():
            raise no_better_than_chance(
                f"sensitivity {np.atleast_1d(q1[0])[0]:.3f} + specificity "
                f"{np.atleast_1d(q0[0])[0]:.3f} <= 1: on the labelled items the judge does no "
                "better than chance, so its pass rate cannot be corrected"
            )
        p = pass_rate(counts)
        sizes = (counts.test_n, bad, good)
        raw = np.where(chance, np.nan, inversion.invert(p, q0[0], q1[0]))

        def ends(share: Any = 1.0, z: Any = z) -> tuple[Any, Any]:
            if interval == "lang_reiczigel":
                return inversion.lang_reiczigel(p, q0[0], q1[0], *sizes, z, share, items)[1:]
            n, m0, m1 = (np.asarray(size) - 1 + share for size in sizes)
            half = z * np.sqrt(inversion.delta_variance(p, q0[0], q1[0], n, m0, m1, items))
            return raw - half, raw + half

        # labelled items among these very items are known, the others estimated
        known = items and counts.design.same_items
        estimated = (
            counts.test_n / (counts.test_n + counts.labelled_n) if known else np.asarray(1.0)
        )

        def of_all(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return _with_labelled(counts, values) if known else values

        overall = None
        if self.shares is not None:
            left = np.sum(self.shares * estimated)
            rates = (np.where(estimated > 0, p, 0.0), q0[0], q1[0], bad, good)
            shares = self.shares * estimated / np.maximum(left, 1e-300)
            bias = left * inversion.ratio_bias(shares, *rates)
            whole = inversion.nested(
                lambda z: influence.weighed(self.shares, *of_all((raw, *ends(self.shares, z)))), z
            )
            overall = (*(x - bias for x in whole), whole.value - bias)
        raw, low, high = of_all((raw, *ends()))
        cut = (np.where(chance, np.nan, np.clip(x, 0, 1)) for x in (raw, low, high))
        cautions = [
            Caution.of("no-better-than-chance", "rogan-gladen", place=where)
            for where, refused in zip(self.places, np.atleast_1d(chance), strict=True)
            if refused
        ]
        both = {"sensitivity": q1, "specificity": q0}
        return Inverted(((*cut, raw), overall), both, cautions=cautions)


@sample_of.register
def _(counts: Counts) -> Sample:
    return CountsSample(counts)


def no_better_than_chance(why: str) -> UninformativeJudgeError:
    """The error of a judge that cannot be corrected, and what to do."""
    remedy = "use a better judge, more labels, or a model (fit), whose interval will be wide"
    return UninformativeJudgeError("rogan_gladen", [f"{why}; {remedy}"])


def table_of(counts: Counts) -> tuple[Any, Any, Any, Any]:
    """Labelled items: good and passed, good and failed, bad and passed, bad and failed."""
    return (
        counts.correct_pass,
        counts.correct_n - counts.correct_pass,
        counts.incorrect_n - counts.incorrect_fail,
        counts.incorrect_fail,
    )


def by_verdict(passes: Any, items: Any) -> np.ndarray:
    """Passes and fails along a last axis."""
    passes = np.asarray(passes, float)
    return np.stack(np.broadcast_arrays(passes, items - passes), axis=-1)


def passes_of_all(counts: Counts) -> tuple[Any, Any]:
    """Passes and items, with the labelled ones if they are some of the same items."""
    if not counts.design.same_items:
        return counts.test_pass, counts.test_n
    return counts.test_pass + counts.labelled_pass, counts.test_n + counts.labelled_n


def pass_rate(counts: Counts) -> Any:
    """Share of the test items that the judge passed; ``nan`` in a stratum labelled throughout."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(counts.test_pass, counts.test_n)


def _with_labelled(counts: Counts, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Shares of the unlabelled items, as shares of all of them."""
    items = counts.test_n + counts.labelled_n
    others = np.where(counts.test_n > 0, values, 0.0)
    return tuple((counts.test_n * rate + counts.correct_n) / items for rate in others)


# Estimates ---------------------------------------------------------------------------------------


def described(
    sample: Sample,
    columns: dict[str, Columns],
    *,
    method: Method,
    interval: str | dict[str, str],
    assumptions: tuple[Assumption, ...],
    overall: Columns | None = None,
    win_rate: Columns | None = None,
    others: Mapping[str, Quantity] = MappingProxyType({}),
    needs: Identified | None = None,
    more: Sequence[Caution] = (),
    known: Any = False,
    target: Target = "population",
    **about: Any,
) -> Estimate:
    """Make the `Estimate`: cautions of clipping, of zero width, of what labels do not tell, once.

    `columns` has value, low, high (and raw) by quantity, `overall` those of the strata together;
    the answer's are cut to its range here. Entries that are `known` may have an interval of width
    0.
    """
    held = {
        name: _within(row) if name == sample.answer else (*holding(*row[:3]), *row[3:])
        for name, row in columns.items()
    }
    cautions = list(more)
    for name, row in held.items():
        if len(row) > 3 and "outside-simplex" not in {c.id for c in more}:  # which says so
            cautions += _clipped(sample, method, name, sample.entries, row)
    variables: dict[str, Any] = {}
    if win_rate is not None and sample.credit is not None:
        values = tuple(sample.credit.in_units(x) for x in _within(win_rate))
        variables["win_rate"] = Quantity.over(values, sample.credit.coords)
    if overall is not None:
        cut = _within((*overall, overall[0])[:4])
        cautions = [*_overall_cautions(sample, held, cut, method), *cautions]
        kinds = dict.fromkeys(columns, interval) if isinstance(interval, str) else interval
        interval = {OVERALL: f"{kinds[sample.answer]}, strata combined", **kinds}
        # without a value the ends of its strata add up to nothing
        held_whole = tuple(np.where(np.isnan(cut[0]), np.nan, x) for x in cut)
        variables[OVERALL] = Quantity.over(held_whole, sample.whole_coords)
    cautions = [*design_mismatch(sample, needs, method), *cautions]
    assumed, raised = sample.diagnosis(assumptions, target)
    if overall is not None and STRATUM_SHARES not in assumed:
        assumed = (*assumed, STRATUM_SHARES)
    cautions += [*raised, *_without_width(sample, held, method, known)]
    if sample.answer in held:
        cautions += sample.unanswered(held[sample.answer], method)
    for name, row in held.items():
        if name == sample.answer:
            row = tuple(map(sample.in_units, row))
        variables[name] = Quantity.over(row, sample.coords)
    return Estimate(
        {**variables, **others},
        method=method,
        interval=interval,
        assumptions=assumed,
        cautions=tuple(dict.fromkeys(cautions)),
        target=target,
        data=sample.data,
        **about,
    )


def design_mismatch(
    sample: Sample, needs: Identified | None, method: Method
) -> tuple[Caution, ...]:
    """That the labels do not tell without bias what a method needs."""
    if needs is None or sample.identifies(needs):
        return ()
    meaning = sample.design.meaning
    return (Caution.of("design-mismatch", "method", method=method, meaning=meaning),)


def _within(columns: Columns) -> Columns:
    """Value and ends cut to [0, 1]."""
    return (*holding(*(np.clip(x, 0, 1) for x in columns[:3])), *columns[3:])


def _entries(sample: Sample, values: Any) -> Iterator[tuple[str, Any]]:
    """``(" in system 'x'", value)`` of each entry."""
    size = len(sample.entries)
    yield from zip(sample.entries, np.broadcast_to(np.ravel(values), (size,)), strict=True)


def _clipped(
    sample: Sample, method: Method, quantity: str, entries: Sequence[str], columns: Columns
) -> Iterator[Caution]:
    """Tell of each value that lies outside its range and is shown at the end of it."""
    low, high = (f"{sample.in_units(end):g}" for end in (0, 1))
    shown, raw = (np.broadcast_to(np.ravel(x), (len(entries),)) for x in (columns[0], columns[-1]))
    for where, value, before in zip(entries, shown, raw, strict=True):
        if (before < 0 or before > 1) and value == np.clip(before, 0, 1):
            numbers = {"raw": sample.in_units(before), "low": low, "high": high}
            yield Caution.of("clipped", method=method, quantity=quantity, place=where, **numbers)


def _overall_cautions(
    sample: Sample, held: dict[str, Columns], overall: Columns, method: Method
) -> Iterator[Caution]:
    """Tell why there is no overall value, or that it lies outside its range."""
    if any(np.isnan(column).any() for column in overall):
        missing = np.isnan(held[sample.answer][0]).reshape(len(sample.places), -1).any(axis=1)
        strata = next(iter(sample.coords.values()))
        empty = [name for name, without in zip(strata, missing, strict=True) if without]
        yield Caution.of("empty-stratum", method=method, empty=empty)
        return
    each = [f" of {dim} {name!r}" for dim, names in sample.whole_coords.items() for name in names]
    yield from _clipped(sample, method, OVERALL, each or [""], overall)


def _without_width(
    sample: Sample, held: dict[str, Columns], method: Method, known: Any
) -> Iterator[Caution]:
    """Tell of an interval that is one number though items are unknown."""
    for quantity, (_, low, high, *_raw) in held.items():
        alike = (np.asarray(low) == high) & ~np.asarray(known, bool)
        for where, without in _entries(sample, alike):
            if without:
                yield Caution.of("zero-width", method=method, quantity=quantity, place=where)


# Differences of systems --------------------------------------------------------------------------


@dataclass
class Pairs:
    """Differences of every two systems on the items that they share, and what is said of them."""

    errors: dict[tuple[str, str], Errors]
    most: float
    words: Words
    assumptions: tuple[Assumption, ...]
    cautions: tuple[Caution, ...]
    #: Standard errors to the ends of intervals that all hold at once, by their probability.
    together: Callable[[float], float] | None = None


@singledispatch
def pairs_of(data: Any) -> Pairs:
    """The pairs of a table of several systems; registered beside its data class."""
    expect("paired_difference", False, f"expected Items or PairedScores, got {type(data).__name__}")
    raise AssertionError


def row_of(errors: Errors, ci_prob: float, most: float, together: float | None = None) -> Row:
    """A difference and its interval, within `most` of 0."""
    interval = errors.interval(ci_prob)
    low, high = interval.low, interval.high
    if together is not None:
        low, high = errors.centre - together * errors.error, errors.centre + together * errors.error
    return Row(*map(float, holding(interval.value, *np.clip((low, high), -most, most))))
