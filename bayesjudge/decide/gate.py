"""`gate`: pass, fail or unknown, from any module's result."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.diagnosis import is_led_elsewhere, selection_of
from bayesjudge.core.errors import InputError, checking, expect, problem
from bayesjudge.core.estimate import (
    INTERVALS,
    Assumption,
    Caution,
    Estimate,
    Row,
    pass_name_in,
    words_of_passes,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.decide._posterior import LESS, MORE, model_of, posterior
from bayesjudge.decide.decision import UNDECIDABLE, Check, Gate, Need, decided
from bayesjudge.decide.needs import (
    items_wanted,
    labels_wanted,
    missing_labels,
    times_the_data,
)
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.truth.within_classes import within_classes

if TYPE_CHECKING:
    from bayesjudge.prevalence import Counts
    from bayesjudge.prevalence.items import Items
    from bayesjudge.prevalence.people import PeopleCounts

#: What labels are taken for: none are, the truth, or what people who err said.
LabelsAre = Literal["", "right", "people"]
Entry = str | tuple[Hashable, ...]
#: Weight of the prior of a share that people judge at the end next to a limit; Jeffreys' is 0.5.
END = 0.05
#: Quantities of ratings that forced choices alone do not identify.
ENDORSED = ("endorsement", "mean_endorsement", "prevalence")


def gate(
    result: Any,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    probability: float = 0.95,
    entry: Entry | None = None,
    against: Any = None,
    margin: float = 0.0,
) -> Gate:
    """Decide whether a number meets a threshold: pass, fail, or unknown with what would decide.

    Parameters
    ----------
    result : Counts, Items or PeopleCounts of prevalence, Estimate, Fit or Monitor
        What was counted or estimated. Counts and items are estimated at the level that is needed;
        an `Estimate` must have been made with ``ci_prob = 2 * probability - 1`` or more (more
        decides less often), with `probability` if it has shortest intervals; of a `Fit`, posterior
        draws decide.
    at_least, at_most : float, optional
        The threshold; one of them, or `against`.
    probability : float, default 0.95
        How sure a pass, or a fail, must be, in [0.5, 1). Both are wrong with probability
        ``1 - probability`` at most.
    entry : str or tuple, optional
        What to hold against the threshold, as in ``estimate[entry]``: a quantity (all of its
        entries) or one entry. By default the first quantity.
    against : str, Estimate, Fit, Counts or Items, optional
        A baseline: the name of a system of `result`, compared on the items that both answered
        (`Items`, or a `Fit`, whose draws of both belong together), or another result, taken as
        independent. Then the difference from it is held against ``-margin``.
    margin : float, default 0
        By how much the result may be worse than the baseline.

    Returns
    -------
    Gate
        One check per entry; `Gate.outcome` is that of all. A check whose numbers mean nothing
        (`Check.undecidable`) is unknown, whatever they are.

    Raises
    ------
    InputError
        If no threshold or more than one is given, a number is out of range, there is no such
        entry, or an estimate's interval is too narrow for `probability`.

    Examples
    --------
    >>> from bayesjudge.prevalence import Counts
    >>> counts = Counts(1000, 880, 180, 174, 20, 15, calibration="random")
    >>> gate(counts, at_least=0.8).outcome
    'pass'
    >>> gate(counts, at_least=0.9).outcome
    'unknown'
    """
    from bayesjudge.decide.monitor import Monitor
    from bayesjudge.prevalence.label_errors import SHARES

    with checking("gate") as require:
        given = [x for x in (at_least, at_most) if x is not None]
        if against is None:
            require(len(given) == 1, "give one threshold: at_least= or at_most=")
            require(margin == 0, "margin= needs against=")
        else:
            require(not given, "against= compares with a baseline: leave at_least=, at_most= out")
            require(margin >= 0, "must be 0 or more", margin=margin)
        inside = isinstance(probability, int | float) and 0.5 <= probability < 1
        require(inside, "must lie in [0.5, 1)", probability=probability)
        require(all(np.isfinite(given)), f"the threshold must be a number, got {given}")
    if isinstance(result, Monitor):
        with checking("gate") as require:
            same = against is None and given == [result.at_least]
            require(
                same and probability == result.probability,
                "fixed-before",
                at_least=result.at_least,
                probability=result.probability,
            )
        return result.gate
    if against is not None:
        limits = list(_contrasts(result, against, probability, entry))
        threshold, upward = 0.0 - margin, True  # no minus in front of a zero
    else:
        limits = list(_limits(result, probability, entry, given[0]))
        threshold, upward = given[0], at_least is not None
        of_share = any(limit.quantity in (*SHARES, "people_pass") for limit in limits)
        words = f"a share lies in [0, 1], got a threshold of {threshold:g}; write 90 % as 0.9"
        expect("gate", not of_share or 0 <= threshold <= 1, words)
    name = pass_name_in([result])
    checks = [_check(limit, threshold, upward, probability, name) for limit in limits]
    cautions = dict.fromkeys(caution for limit in limits for caution in limit.cautions)
    return Gate(tuple(checks), tuple(cautions))


class Limits(NamedTuple):
    """One number with limits, each of which holds with the probability asked for."""

    quantity: str
    where: dict[str, Hashable]
    value: float
    low: float
    high: float
    method: Method
    #: Probability that the number is at least the threshold; ``nan`` if there is none.
    chance: Any = None
    #: What would decide, given how far the limit has to move and for which threshold.
    planner: Any = None
    cautions: tuple[Caution, ...] = ()
    #: Whether the limits are those of one good item less and one more.
    clopper_pearson: bool = False
    #: The probability with one good item less, and with one more.
    chances: Any = None
    #: Whether labels tell the number without the judge's errors: they are on the same items.
    labels_tell: bool = False
    #: What it takes people's labels for, if it rests on some: the truth, or what they said.
    labels: LabelsAre = ""


def _check(limits: Limits, threshold: float, upward: bool, probability: float, name: str) -> Check:
    void = _undecidable(limits)
    outcome = "unknown" if void else decided(limits.low, limits.high, threshold, upward)
    chance = np.nan if limits.chance is None or void else float(limits.chance(threshold))
    needs: tuple[Need, ...] = ()
    known = np.isfinite([limits.value, limits.low]).any()
    if outcome == "unknown" and not void and limits.planner is not None and known:
        needs = tuple(limits.planner(threshold, probability))
    chances = None if limits.chances is None or void else tuple(limits.chances(threshold))
    if chances is not None and not upward:
        chances = (1 - chances[1], 1 - chances[0])
    return Check(
        limits.quantity,
        limits.where,
        outcome,
        limits.value,
        limits.low,
        limits.high,
        threshold,
        upward,
        probability,
        chance if upward else 1 - chance,
        limits.method,
        needs,
        undecidable=void,
        clopper_pearson=limits.clopper_pearson,
        chance_limits=chances,
        labels=() if void else _granted(limits, outcome, threshold, upward, name),
        pass_name=name,
    )


def _granted(
    limits: Limits, outcome: str, threshold: float, upward: bool, name: str
) -> tuple[Assumption, ...]:
    """What is taken for granted of labels, and how many wrong ones would undo the outcome.

    If people pass a share f of bad outputs and fail none, (x - f) / (1 - f) are good of x that they
    pass; if they fail a share f of good ones and pass no bad one, x / (1 - f).
    """
    from bayesjudge.prevalence.label_errors import ONE_IN_TWENTY, SHARES, behind

    if limits.labels == "people":
        return (Assumption.of("labels-right", "people"),)
    if not limits.labels or np.isnan(limits.low) or limits.quantity not in (*SHARES, "difference"):
        return ()
    if limits.quantity == "difference":
        undone = Assumption.of("labels-right", "difference")
    elif outcome == "unknown":
        if np.isnan(limits.value):
            return ()
        undone = Assumption.of("labels-right", "unknown", moved=behind(limits.value, ONE_IN_TWENTY))
    elif upward == (outcome == "pass"):  # the share is above the threshold
        above = (limits.low - threshold) / (1 - threshold) if threshold < 1 else 0.0
        undone = Assumption.of("labels-right", "bad", share=above, **words_of_passes(name))
    else:
        below = 1 - limits.high / threshold if threshold > 0 else 0.0
        undone = Assumption.of("labels-right", "good", share=below, **words_of_passes(name))
    return Assumption.of("labels-right", "granted"), undone


def _undecidable(limits: Limits) -> tuple[str, ...]:
    """Cautions under which a number means nothing: of a number without one, none is needed."""
    ids = [c.id for c in limits.cautions if c.id in UNDECIDABLE and _is_about(c, limits)]
    return tuple(dict.fromkeys(ids)) if np.isfinite(limits.value) else ()


def _is_about(caution: Caution, limits: Limits) -> bool:
    """Whether a caution is about this number: some name one system, or one quantity."""
    if caution.id == "zero-width":
        return limits.low == limits.high
    if caution.id == "pass-rate-out-of-range" and limits.labels_tell:
        return False
    if caution.id == "not-identified":
        return limits.quantity in ENDORSED
    return not caution.where or not {*map(str, limits.where.values())}.isdisjoint(caution.where)


# Limits of each kind of result ------------------------------------------------------------------


def _limits(
    result: Any, probability: float, entry: Entry | None, threshold: float
) -> Iterator[Limits]:
    from bayesjudge.prevalence import Counts
    from bayesjudge.prevalence.items import Items
    from bayesjudge.prevalence.people import PeopleCounts

    kinds: dict[type, Any] = {
        PeopleCounts: _of_people,
        Fit: _of_fit,
        Estimate: _of_estimate,
        Counts: _of_counts,
        Items: _of_items,
    }
    limits_of = next((of for kind, of in kinds.items() if isinstance(result, kind)), None)
    words = "expected Counts, Items, an Estimate, a Fit or a Monitor, got "
    words += f"{type(result).__name__}; make an estimate of it first (closed_forms, fit)"
    expect("gate", limits_of, words, "no-estimate")
    data = getattr(result, "data", result)
    counted = isinstance(data, Counts | Items)
    labels: LabelsAre = "right" if getattr(data, "takes_labels_as_right", False) else ""
    labels = "people" if isinstance(data, PeopleCounts) else labels
    for limit in limits_of(result, probability, entry):  # type: ignore[misc]
        if np.isnan(limit.value) and counted:
            limit = limit._replace(planner=partial(missing_labels, data, limit.where))
        yield limit._replace(labels_tell=counted and data.design.same_items, labels=labels)


def _chosen(
    estimate: Estimate, entry: Entry | None
) -> list[tuple[str, int, dict[str, Hashable], Row]]:
    """The entries that are asked for: quantity, position, coordinates and numbers."""
    name = next(iter(estimate.quantities)) if entry is None else entry
    key = name if isinstance(name, tuple) else (name,)
    entries = [
        (q, i, dict(zip(numbers.dims, at, strict=True)), numbers.row(i))
        for q, numbers in estimate.quantities.items()
        for i, at in enumerate(numbers.labels)
        if key in ((q,), (q, *at))
    ]
    known = {q: [*map(list, x.labels)][:8] for q, x in estimate.quantities.items()}
    expect("gate", entries, f"no entry {entry!r}; there are {known}")
    return entries


def _of_estimate(estimate: Estimate, probability: float, entry: Entry | None) -> Iterator[Limits]:
    for quantity, _, where, row in _chosen(estimate, entry):
        with checking("gate") as require:
            _require_level(estimate, estimate.interval_of(quantity), probability, require)
        planner, cautions = partial(times_the_data, *row), tuple(estimate.cautions)
        about = quantity, where, *row, estimate.method
        yield Limits(*about, planner=planner, cautions=cautions)


def _require_level(estimate: Estimate, kind: str, probability: float, require: Any) -> None:
    """Note an interval whose limits hold with less than a probability, each by itself.

    Beyond one end of the shortest interval there may be all that is outside it.
    """
    shortest, level = kind == INTERVALS["hdi"], estimate.ci_prob
    holds = level if shortest else (1 + level) / 2
    wanted = probability if shortest else 2 * probability - 1
    words = f"each limit of a {100 * level:g} % {kind} interval holds with probability {holds:g}; "
    words += f"make it with ci_prob={wanted:g} for probability={probability:g}"
    require(level >= wanted - 1e-9, words)


def _of_fit(fit: Fit, probability: float, entry: Entry | None) -> Iterator[Limits]:
    estimate = fit.estimate(ci_prob=max(2 * probability - 1, 0.01), interval="eti")
    for quantity, i, where, row in _chosen(estimate, entry):
        if np.isnan(row.value):
            yield Limits(quantity, where, *row, fit.method, cautions=tuple(fit.cautions))
            continue
        draws = fit.draws(quantity)
        yield _of_draws(fit, draws.reshape(len(draws), -1)[:, i], probability, quantity, where)


def _of_draws(
    fit: Fit, draws: np.ndarray, probability: float, quantity: str, where: dict[str, Hashable]
) -> Limits:
    low, high = np.quantile(draws, [1 - probability, probability])
    row = float(draws.mean()), float(low), float(high)
    chance, planner = (lambda t: (draws >= t).mean()), partial(times_the_data, *row)
    about = quantity, where, *row, fit.method, chance, planner
    return Limits(*about, cautions=tuple(fit.cautions))


def _of_counts(counts: Counts, probability: float, entry: Entry | None) -> Iterator[Limits]:
    """The exact posterior; where there is none, the closed form of the design.

    Of labels that clearly came otherwise (`verdicts.selection`), what they tell in spite of it.
    """
    from bayesjudge.prevalence import closed_forms, exact

    level, seen = 2 * probability - 1, selection_of(counts)
    if seen is not None and seen.untold:  # labels are random within classes of a column
        declared = exact(counts, ci_prob=max(level, 0.01))
        estimate = within_classes(declared, seen, declared.ci_prob, counts)
        yield from _of_estimate(estimate, probability, entry)
        return
    if seen is not None and seen.instead is not None:
        for limits in _of_counts(type(counts).of(seen.instead), probability, entry):
            yield limits._replace(cautions=(seen.caution, *limits.cautions))
        return
    if counts.propensity is not None or counts.design.likelihood is not None:
        estimate = closed_forms(counts, ci_prob=max(level, 0.01))[-1]
        yield from _of_estimate(estimate, probability, entry)
        return
    estimate = exact(counts, ci_prob=max(level, 0.01), interval="eti")
    if counts.adds_up:
        of_strata = _of_estimate(estimate, probability, entry or next(iter(estimate.quantities)))
        yield from (_of_whole(counts, limits, estimate.ci_prob) for limits in of_strata)
        return
    for quantity, i, where, (value, least, _) in _chosen(estimate, entry):
        of_system = counts if counts.systems is None else counts.system(counts.systems[i])
        low, high, chance, chances = np.nan, np.nan, None, None
        if np.isfinite(value):  # there is an answer
            low, high, chance, chances = _with_one_item_more(of_system, probability)
        elif np.isfinite(least):  # there are bounds
            low, high = _bounds_with_one_item_more(of_system, level)
        yield Limits(
            quantity,
            where,
            value,
            low,
            high,
            estimate.method,
            chance=chance,
            planner=partial(labels_wanted, of_system, value),
            cautions=tuple(estimate.cautions),
            clopper_pearson=bool(np.isfinite(low)),
            chances=chances,
        )


def _of_whole(counts: Counts, limits: Limits, level: float) -> Limits:
    """What strata make up: their priors at the end next to a limit add up to that of one share.

    Jeffreys' of each would say that of three strata 1.5 labels more are bad: a gate at .98 failed
    in .14 of tables, where .05 are promised (``python benchmarks/decide/strata.py``).
    """
    from bayesjudge.prevalence import exact

    if limits.quantity != OVERALL or not np.isfinite(limits.value):
        return limits
    end = END / len(counts.places)
    models = (model_of(counts, *shape) for shape in ((end, 0.5), (0.5, end)))
    less, more = (exact(counts, model, ci_prob=level, interval="eti")[OVERALL] for model in models)
    return limits._replace(low=less.low, high=more.high)


def _with_one_item_more(counts: Counts, probability: float) -> tuple[float, float, Any, Any]:
    """Limits under the priors least and most favourable to a pass; the posterior probability that a
    threshold is met, under the estimate's prior and under those two.

    Without a judge they are those of Clopper and Pearson, which keep their word for any number of
    labels; under a flat prior false fails near 1 are more frequent than promised.
    """
    from bayesjudge.prevalence import ErrorRates, PredictiveValues
    from bayesjudge.truth.quadrature import NotIntegrated, posterior_of

    try:
        less, more = (posterior(counts, *shape) for shape in (LESS, MORE))
        density = posterior_of(counts, PredictiveValues() if counts.predictive else ErrorRates())
    except NotIntegrated:
        return np.nan, np.nan, None, None
    low, high = float(less.quantile(1 - probability)), float(more.quantile(probability))

    def met(posterior: Any, t: float) -> float:
        return 1 - float(posterior.cdf(np.clip(t, 0, 1)))

    return low, high, partial(met, density), lambda t: (met(less, t), met(more, t))


def _bounds_with_one_item_more(counts: Counts, level: float) -> tuple[float, float]:
    """Limits of a share that labels bound, under the same two priors."""
    from bayesjudge.prevalence._bounds import bounded

    none = (np.nan, np.nan, np.nan)
    less, more = (
        bounded(none, counts, model_of(counts, *shape), level, "population")
        for shape in (LESS, MORE)
    )
    return less[1], more[2]


def _of_people(counts: PeopleCounts, probability: float, entry: Entry | None) -> Iterator[Limits]:
    """The exact posterior, of what is so; `entry` ``"people_pass"`` asks what people say."""
    from bayesjudge.prevalence import exact
    from bayesjudge.prevalence.people import PeopleErrors

    estimate = exact(counts, ci_prob=max(2 * probability - 1, 0.01), interval="eti")
    weighed = cache(lambda: PeopleErrors()._posterior(counts).weighed())  # once for all systems
    names = counts.systems or (None,)
    for limits in _of_estimate(estimate, probability, entry or next(iter(estimate.quantities))):
        if limits.quantity in ("prevalence", OVERALL) and np.isfinite(limits.value):
            whole = limits.quantity == OVERALL
            at = range(len(names)) if whole else [names.index(limits.where.get(counts.dim))]
            parts = weighed().values["prevalence"][:, at]
            of_whole = counts.shares if whole else np.ones(1)
            about = parts, of_whole, weighed().weight, probability
            low, high, chance, chances = _next_to_an_end(*about)
            limits = limits._replace(low=low, high=high, chance=chance, chances=chances)
        yield limits


def _next_to_an_end(
    parts: np.ndarray, of_whole: np.ndarray, weight: np.ndarray, probability: float
) -> tuple[float, float, Any, Any]:
    """What `_with_one_item_more` has, of draws under Jeffreys' prior: more weight at each end.

    Next to 1 people's slips explain all fails, and the prior decides where the posterior ends:
    under Jeffreys' a gate at the share fails in .067 of tables, where .05 are promised
    (``python benchmarks/prevalence/people.py --only gate --tables 200``). Of strata (columns of
    `parts`, which are `of_whole`) the priors at an end add up to that of one share.
    """
    from bayesjudge.truth.importance import interval_of

    parts, level = np.clip(parts, 1e-15, 1 - 1e-15), max(2 * probability - 1, 0.01)
    share, more_weight = parts @ of_whole, END / len(of_whole) - 0.5
    moved = (weight * (near**more_weight).prod(axis=1) for near in (parts, 1 - parts))
    less, more = (draws / draws.sum() for draws in moved)
    low, high = (interval_of(share, by, level, "eti")[i] for i, by in ((1, less), (2, more)))

    def met(by: np.ndarray, threshold: float) -> float:
        return float(by @ (share >= threshold))

    return float(low), float(high), partial(met, weight), lambda t: (met(less, t), met(more, t))


def _of_items(items: Items, probability: float, entry: Entry | None) -> Iterator[Limits]:
    """Counts divided by the design effect of rows that share an item, as `items.exact` has them.

    A normal interval of the difference estimator passes falsely in 9 % of runs with 50 labelled
    items near .9, where 5 % are promised (benchmarks/decide/fixed.py).
    """
    from bayesjudge.prevalence import items as module
    from bayesjudge.prevalence.items.closed_form import within_classes
    from bayesjudge.prevalence.items.effective import counts_of

    level = max(2 * probability - 1, 0.01)
    if is_led_elsewhere(items):
        yield from _of_estimate(within_classes(items, level)[0], probability, entry)
        return
    estimate = module.exact(items, ci_prob=level, interval="eti")
    for limits in _of_estimate(estimate, probability, entry or "prevalence"):
        system = str(limits.where.get("system", items.systems[0]))
        if np.isfinite(limits.value):
            counts = counts_of(items, system, level)
            low, high, chance, chances = _with_one_item_more(counts, probability)
            known = bool(np.isfinite(low))
            limits = limits._replace(
                low=low, high=high, chance=chance, chances=chances, clopper_pearson=known
            )
        row = limits.value, limits.low, limits.high
        yield limits._replace(planner=partial(items_wanted, items, system, row))


# Against a baseline -----------------------------------------------------------------------------


def _contrasts(
    result: Any, against: Any, probability: float, entry: Entry | None
) -> Iterator[Limits]:
    from bayesjudge.prevalence.items import Items

    if isinstance(against, str) and isinstance(result, Items):
        yield from _paired(result, against, probability)
    elif isinstance(against, str) and isinstance(result, Fit):
        yield from _of_two_systems(result, against, probability, entry)
    elif isinstance(against, str):
        raise InputError(
            "gate",
            [problem("shared-items-unknown", against=against, kind=type(result).__name__)],
        )
    else:
        yield from _independent(result, against, probability, entry)


def _paired(items: Items, against: str, probability: float) -> Iterator[Limits]:
    from bayesjudge.prevalence import paired_difference
    from bayesjudge.prevalence.items import exact
    from bayesjudge.prevalence.items.closed_form import within_classes

    known = against in items.systems
    expect("gate", known, f"no system {against!r}; there are {list(items.systems)}")
    level = max(2 * probability - 1, 0.01)
    if is_led_elsewhere(items):
        _, estimate = within_classes(items, level)
    else:
        estimate = paired_difference(items, ci_prob=level)
    against_all = tuple(c for c in exact(items).cautions if c.id == "contradiction")
    for _, where, row in estimate.rows():
        if against not in where.values():
            continue
        sign = 1 if where["second"] == against else -1
        other = where["first"] if sign > 0 else where["second"]
        low, high = sorted((sign * row.low, sign * row.high))
        ends = (sign * row.value, low, high)
        yield Limits(
            "difference",
            {"first": other, "second": against},
            *ends,
            estimate.method,
            planner=partial(times_the_data, *ends),
            cautions=(*estimate.cautions, *against_all),
            labels="right",
        )


def _of_two_systems(
    fit: Fit, against: str, probability: float, entry: Entry | None
) -> Iterator[Limits]:
    asked = entry if isinstance(entry, tuple) else (entry or fit.quantities[0],)
    quantity = str(asked[0])
    draws = fit.draws(quantity)
    draws = draws.reshape(len(draws), -1)
    shares = fit.estimate(interval="eti").quantities[quantity]
    with checking("gate") as require:
        names = [at[0] if len(at) == 1 else at for at in shares.labels]
        absent = [name for name in (against, *asked[1:]) if name not in names]
        for name in absent:
            require(False, f"{quantity}: no entry {name!r}; there are {names}")
    for i, name in enumerate(names):
        if name != against and (name in asked[1:] or len(asked) == 1):
            where = {"first": name, "second": against}
            gap = draws[:, i] - draws[:, names.index(against)]
            yield _of_draws(fit, gap, probability, "difference", where)


def _independent(
    result: Any, against: Any, probability: float, entry: Entry | None
) -> Iterator[Limits]:
    """Of two results that share no items: squared distances add up (Zou & Donner)."""
    first = list(_limits(result, probability, entry, 0.0))
    second = list(_limits(against, probability, entry, 0.0))
    same = len(first) == len(second) and all(
        a.where == b.where for a, b in zip(first, second, strict=True)
    )
    expect("gate", same, "both results must have the same entries; choose one with entry=")
    for a, b in zip(first, second, strict=True):
        gap = a.value - b.value
        low = gap - float(np.hypot(a.value - a.low, b.high - b.value))
        high = gap + float(np.hypot(a.high - a.value, b.value - b.low))
        cautions = (*a.cautions, *b.cautions, Caution.of("unpaired"))
        yield Limits(
            "difference",
            a.where,
            gap,
            low,
            high,
            a.method.variant("independent", "difference of independent results"),
            planner=partial(times_the_data, gap, low, high),
            cautions=cautions,
            labels_tell=a.labels_tell and b.labels_tell,
            labels=a.labels,
        )
