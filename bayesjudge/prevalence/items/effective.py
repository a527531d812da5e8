"""Posterior by quadrature for effective counts, as an `Estimate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import (
    INTERVALS,
    Assumption,
    Caution,
    Estimate,
    Interval,
    Place,
    Target,
)
from bayesjudge.core.periods import kind_of
from bayesjudge.core.prior_check import conflicts_of_parts
from bayesjudge.prevalence._bounds import bounded
from bayesjudge.prevalence._samples import described
from bayesjudge.prevalence.cautions import contradictions
from bayesjudge.prevalence.exact import posterior_estimate, row_of
from bayesjudge.prevalence.items.closed_form import (
    CLUSTERED,
    EffectiveCounts,
    _ItemsSample,
    effective_counts,
)
from bayesjudge.prevalence.items.data import Items
from bayesjudge.prevalence.model import SOURCE, ErrorRates, PredictiveValues
from bayesjudge.truth import by_item
from bayesjudge.truth.by_item import Clusters, Spread
from bayesjudge.truth.quadrature import NotIntegrated, posterior_of

EFFECTIVE = Assumption.of("effective-counts")


@posterior_estimate.register(Items)
def _of_items(
    items: Items,
    model: ErrorRates | PredictiveValues | None,
    ci_prob: float,
    interval: Interval,
    target: Target,
) -> Estimate:
    """Of effective counts."""
    predictive = "error_rates" not in items.design.identifies
    model = model or (PredictiveValues() if predictive else ErrorRates())
    suits = isinstance(model, PredictiveValues if predictive else ErrorRates)
    wanted = "PredictiveValues()" if predictive else "ErrorRates()"
    expect("exact", suits and not model._pools, f"expected {wanted}, got {type(model).__name__}")
    systems = effective_counts(items, _spread_of(items, predictive), ci_prob)
    rows, raised = [], []
    for system in systems:
        of_system, posterior = model.of_system(system.name), None
        try:
            if system.counts.labelled_n > 0:  # else one labelled item, of several rows: no variance
                posterior = posterior_of(system.counts, of_system)
        except NotIntegrated as error:
            raised.append(Caution.of("no-quadrature", "items", error=error))
        row, _ = row_of(posterior, system.counts, of_system, ci_prob, interval)
        if posterior is not None:
            row = bounded(row, system.counts, of_system, ci_prob, target)
            raised += _contradicting(system, of_system, items)
        rows.append(row)
    raised += conflicts_of_parts(
        {system.name: (model.of_system(system.name), system.counts) for system in systems}
    )
    sample = _ItemsSample(items, systems)
    columns = np.transpose(rows) if sample.coords else np.array(rows[0])
    return described(
        sample,
        {"prevalence": tuple(columns)},
        method=methods.EXACT_EFFECTIVE if items.repeated else methods.EXACT,
        ci_prob=ci_prob,
        source=f"{SOURCE}; quadrature; {CLUSTERED}",
        interval=INTERVALS[interval],
        assumptions=(items.design.assumption, *((EFFECTIVE,) if items.repeated else ())),
        more=raised,
    )


def _contradicting(system: Any, model: Any, items: Items) -> list[Caution]:
    """Contradictions of one system's counts, by its name."""
    place = f" in {kind_of(items.systems)} {system.name!r}" if len(items.systems) > 1 else ""
    where = Place((system.name,) if place else (), place)
    return list(contradictions(system.counts, getattr(model, "better_than_chance", False), where))


def counts_of(items: Items, system: str, ci_prob: float) -> EffectiveCounts:
    """Counts of independent rows that tell as much of one system at this level."""
    predictive = "error_rates" not in items.design.identifies
    systems = effective_counts(items, _spread_of(items, predictive), ci_prob)
    return next(effective.counts for effective in systems if effective.name == system)


def _spread_of(items: Items, predictive: bool) -> Callable[[Clusters], Spread]:
    """Variance by item of the closed form that is the posterior's counterpart."""

    def spread(clusters: Clusters) -> Spread:
        if predictive:
            return by_item.spread_of(clusters, by_item.of_strata(clusters.totals))
        if "prevalence" not in items.design.identifies:
            return by_item.spread_of(clusters, by_item.of_inversion(clusters.totals))
        return by_item.difference_spread(clusters, by_item.independent_weight(clusters))

    return spread
