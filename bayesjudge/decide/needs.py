"""What would decide an unknown of a gate: labels, items or repeats."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc

from bayesjudge.core.planning import Parts, fewest
from bayesjudge.decide._posterior import LESS, MORE
from bayesjudge.decide.decision import Need
from bayesjudge.decide.power import PEOPLE, chance_to_pass, labels_to_pass

if TYPE_CHECKING:
    from bayesjudge.core.estimate import Quantity
    from bayesjudge.prevalence import Counts
    from bayesjudge.prevalence.items import Items

#: Chance of a decision that `Need` plans for, and as a normal quantile.
PLANNED, Z_PLANNED = 0.8, 0.8416
#: How the labels of a design are chosen, by the names of `chance_to_pass`.
OF_DESIGN = {"random": "random sample", "by_verdict": "by verdict"}
#: A number of labels is told to this part of it.
PRECISION = 0.05
#: Items that are no limit.
MANY = 10**9


def _reach(value: float, low: float, high: float, threshold: float) -> tuple[float, float]:
    """How far the limit is off the estimate, and how far it may be."""
    half = value - low if value >= threshold else high - value
    return half, abs(value - threshold)


def _spare(probability: float) -> float:
    """By how much further a limit must be, for the chance of a decision that is planned for."""
    from bayesjudge.core.intervals import z_score

    return 1 + Z_PLANNED / max(z_score(max(2 * probability - 1, 1e-6)), 0.1)


def times_the_data(
    value: float, low: float, high: float, threshold: float, probability: float
) -> list[Need]:
    """How often the data again, by a rule of thumb."""
    half, distance = _reach(value, low, high, threshold)
    if distance <= 0 or not np.isfinite(half):
        return [Need("data", 1, np.inf)]
    return [Need("data", 1, float((half * _spare(probability) / distance) ** 2))]


def missing_labels(
    data: Counts | Items, where: Mapping[str, Hashable], threshold: float, probability: float
) -> list[Need]:
    """Labels on items of a verdict that has none: how many, the data cannot say."""
    from bayesjudge.prevalence import Counts
    from bayesjudge.prevalence._bounds import judged_so, verdicts_without_label

    counts = data if isinstance(data, Counts) else data.pooled()
    if not counts.predictive:
        return []
    if counts.systems is not None:
        counts = counts.system(str(next(iter(where.values()), counts.systems[0])))
    return [
        Need(f"labels on items that {judged_so(verdict, counts.pass_name)}", 0, np.nan)
        for verdict, without in verdicts_without_label(counts).items()
        if without
    ]


def labels_wanted(counts: Counts, value: float, threshold: float, probability: float) -> list[Need]:
    """Labels with which a decision has the chance that is planned for; or items, all labelled."""
    labelled, total = int(counts.labelled_n), int(counts.test_n) + int(counts.labelled_n)
    if value == threshold or not 0 < threshold < 1:
        return []
    needs = []
    if labelled and counts.external_labels is None:
        balanced = "" if counts.design.same_items else ", as many good as bad ones"
        wanted = _labels(counts, value, threshold, probability)
        needs.append(Need(f"labels{balanced}", labelled, wanted, PLANNED))
    if counts.design.same_items and (not needs or np.isinf(needs[0].wanted)):
        every = _if_all_labelled(counts, threshold, probability)
        if every is not None:
            needs = [Need("labels on all of these items", labelled, total, every, False)]
        at_least, share = _upward(threshold, value)
        how: dict[str, Any] = {"probability": max(probability, 0.5), "power": PLANNED}
        how |= {"items": MANY, "strategies": (PEOPLE,)}
        items = labels_to_pass(at_least, prevalence=share, **how)[PEOPLE] or np.inf
        needs.append(Need("items, all of them labelled", total, float(items), PLANNED))
    return needs


def _if_all_labelled(counts: Counts, threshold: float, probability: float) -> float | None:
    """Posterior probability that labels on all items decide; None of too many to enumerate."""
    from bayesjudge.prevalence import ErrorRates, PredictiveValues
    from bayesjudge.prevalence._unlabelled import NotEnumerated, good_items

    model: Any = PredictiveValues() if counts.predictive else ErrorRates()
    try:
        chances = good_items(counts, model)
    except NotEnumerated:
        return None
    good = float(counts.correct_n) + np.arange(chances.size)
    bad = float(counts.test_n + counts.labelled_n) - good
    below = {prior: betainc(prior[0] + good, prior[1] + bad, threshold) for prior in (LESS, MORE)}
    spare = 1 - probability
    # at or above the threshold, and below it: either is a decision, a pass or a fail
    decided = (below[LESS] <= spare) | (below[MORE] >= 1 - spare)
    return float(chances[decided].sum())


def _upward(threshold: float, value: float) -> tuple[float, float]:
    """A fail is a pass of the share of bad outputs."""
    return (threshold, value) if value > threshold else (1 - threshold, 1 - value)


def _labels(counts: Counts, value: float, threshold: float, probability: float) -> float:
    """Labels for the planned chance, chosen as those that there are; infinite if none is enough."""
    same, total = counts.design.same_items, int(counts.test_n) + int(counts.labelled_n)
    rates = _rates(counts) if value > threshold else _rates(counts)[::-1]
    strategy = OF_DESIGN.get(counts.design.name, "half good, half bad")
    asked: dict[str, Any] = {"sensitivity": rates[0], "specificity": rates[1]}
    if sum(rates) <= 1:  # such a judge tells nothing
        strategy, asked = PEOPLE, {}
        if not same:
            return np.inf
    at_least, share = _upward(threshold, value)

    def spare(m: float) -> float:
        items = max(total - int(m), 1) if same else int(counts.test_n)
        how: dict[str, Any] = {"strategy": strategy, "probability": max(probability, 0.5)}
        how |= {"prevalence": share, "items": items, **asked}
        return chance_to_pass(at_least, int(m), **how) - PLANNED

    most = total - 1 if same else 100 * int(counts.labelled_n)
    if not same and spare(most) < 0:  # the judge's items are the limit: no search finds another
        return np.inf
    return float(fewest(spare, int(counts.labelled_n), most, part=PRECISION))


def _rates(counts: Counts) -> tuple[float, float]:
    """Sensitivity and specificity, with half an item of each kind more."""
    good, right = counts.correct_n, counts.correct_pass
    bad, caught = counts.incorrect_n, counts.incorrect_fail
    if not counts.predictive:
        return float((right + 0.5) / (good + 1)), float((caught + 0.5) / (bad + 1))
    labelled = good + bad
    passed = right + bad - caught
    share = float((counts.test_pass + passed + 0.5) / (counts.test_n + labelled + 1))
    ppv = float((right + 0.5) / (passed + 1))
    npv = float((caught + 0.5) / (labelled - passed + 1))
    hits, misses = share * ppv, (1 - share) * (1 - npv)
    refused, let_by = (1 - share) * npv, share * (1 - ppv)
    return hits / (hits + misses), refused / (refused + let_by)


def items_wanted(
    items: Items,
    system: str,
    row: tuple[float, float, float],
    threshold: float,
    probability: float,
) -> list[Need]:
    """Labelled items, or repeats of them, from the parts of the variance by item."""
    from bayesjudge.prevalence.items.closed_form import (
        agreement_within,
        clusters_of,
        rows_per_output,
    )
    from bayesjudge.truth import by_item

    half, distance = _reach(*row, threshold)
    clusters = clusters_of(items, system)
    if distance <= 0 or not np.isfinite(half):
        return [Need("labelled items", clusters.labelled, np.inf)]
    weight, parts = by_item.best_weight(clusters), by_item.parts_of(clusters)
    of_labels = float(clusters.count @ (parts.truth - weight * parts.labelled_pass) ** 2)
    rest = float(clusters.count @ (weight * parts.test_pass) ** 2)
    spread = float(of_labels + rest) ** 0.5  # in the units of the weights, of today's half-width
    goal = spread * distance / (half * _spare(probability)) if spread else 0.0
    planned = Parts(of_labels * clusters.labelled, (rest,))
    wanted = float(planned.labels(goal, 1.0)) if of_labels else np.inf
    times = wanted / clusters.labelled
    most = clusters.items
    needs = [
        Need("labelled items", clusters.labelled, np.ceil(wanted) if wanted < most else np.inf)
    ]
    if np.isinf(needs[0].wanted):
        total = (half * _spare(probability) / distance) ** 2
        needs.append(Need("items, labelled in the same share", most, float(np.ceil(most * total))))
    repeats = rows_per_output(items, system)
    if items.repeats == "system" and repeats > 1:
        icc = agreement_within(replace(items), ci_prob=0.95)
        quantity: Quantity = icc.quantities["icc"]
        place = items.systems.index(system) if len(items.systems) > 1 else 0
        rho = float(quantity.value[place])
        if np.isfinite(rho):
            spread = rho + (1 - rho) / repeats
            goal = spread / times if np.isfinite(times) else 0.0
            more = (1 - rho) / (goal - rho) if goal > rho else np.inf
            needs.append(Need("repeats of each labelled item", repeats, float(np.ceil(more))))
    return needs
