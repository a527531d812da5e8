"""Posterior by quadrature for effective counts, as an `Estimate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import INTERVALS, Assumption, Caution, Estimate, Interval
from bayesjudge.core.periods import kind_of
from bayesjudge.core.prior_check import conflicts_of_parts
from bayesjudge.prevalence._boundary import depths_of, extended
from bayesjudge.prevalence._bounds import bounded
from bayesjudge.prevalence._samples import described
from bayesjudge.prevalence.cautions import contradictions
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

EFFECTIVE = Assumption(
    "effective-counts",
    "rows that share items tell as much as fewer independent ones: counts divided by the design "
    "effect (Rao & Scott 1992)",
)


def exact(
    items: Items,
    model: ErrorRates | PredictiveValues | None = None,
    *,
    ci_prob: float = 0.95,
    interval: Interval = "eti_bounded",
) -> Estimate:
    """Posterior mean and interval for effective counts, in milliseconds and without sampling.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    model : bayesjudge.prevalence.ErrorRates or PredictiveValues, optional
        Priors, flat by default (Jeffreys' of labels by verdict); each system has its own unknowns.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti_bounded", "eti", "hdi"}
        As in `bayesjudge.prevalence.exact`.

    Returns
    -------
    Estimate
        ``prevalence`` by system. If no item repeats it is that of `bayesjudge.prevalence.exact`;
        else counts are divided by the design effect of the closed form that suits the labels, and
        by what few labelled items cost (t for normal quantiles). The caution ``design-effect``
        has the figure.

    Raises
    ------
    InputError
        If `ci_prob` or `interval` is unknown, or the model does not suit the label design.

    References
    ----------
    Rao & Scott (1992), Biometrics 48, 577-585; Korn & Graubard (1998), Survey Methodology 24,
    193-201.

    Examples
    --------
    >>> from bayesjudge.prevalence import items
    >>> log = items.simulate(systems=0.7, items=200, repeats=5, labelled=40, random_seed=1)
    >>> read = items.Items.from_frame(log, calibration="random", repeats="system")
    >>> value, low, high = items.exact(read)["prevalence"]
    >>> low < 0.7 < high
    True
    """
    check_ci_prob(ci_prob)
    predictive = "error_rates" not in items.design.identifies
    model = model or (PredictiveValues() if predictive else ErrorRates())
    with checking("items.exact") as require:
        require(interval in INTERVALS, f"expected one of {list(INTERVALS)}, got {interval!r}")
        suits = isinstance(model, PredictiveValues if predictive else ErrorRates)
        wanted = "PredictiveValues()" if predictive else "ErrorRates()"
        require(suits and not model._pools, f"expected {wanted}, got {type(model).__name__}")
    found = effective_counts(items, _spread_of(items, predictive), ci_prob)
    rows: list[tuple[float, ...]] = []
    told: list[Caution] = []
    for one in found:
        own = model.of_system(one.name)
        if one.counts.labelled_n <= 0:  # one labelled item, of several rows: no variance
            rows.append((np.nan,) * 3)
            continue
        try:
            posterior = posterior_of(one.counts, own)
        except NotIntegrated as error:
            told.append(Caution("no-quadrature", f"the quadrature cannot be trusted ({error})"))
            rows.append((np.nan,) * 3)
            continue
        ends = posterior.interval(ci_prob, "hdi" if interval == "hdi" else "eti")
        if interval == "eti_bounded":
            ends = extended(ends, depths_of(one.counts, own, posterior), ci_prob)
        rows.append(bounded((posterior.mean, *ends), one.counts, own, ci_prob, "population"))
        told += _contradicting(one, own, items)
    told += conflicts_of_parts({one.name: (model.of_system(one.name), one.counts) for one in found})
    sample = _ItemsSample(items, found)
    columns = np.transpose(rows) if sample.coords else np.array(rows[0])
    return described(
        sample,
        {"prevalence": tuple(columns)},
        method=methods.EXACT_EFFECTIVE if items.repeated else methods.EXACT,
        ci_prob=ci_prob,
        source=f"{SOURCE}; quadrature; {CLUSTERED}",
        interval=INTERVALS[interval],
        assumptions=(items.design.assumption, *((EFFECTIVE,) if items.repeated else ())),
        more=told,
    )


def _contradicting(one: Any, model: Any, items: Items) -> list[Caution]:
    """Contradictions of one system's counts, by its name."""
    place = f" in {kind_of(items.systems)} {one.name!r}" if len(items.systems) > 1 else ""
    told = contradictions(one.counts, getattr(model, "better_than_chance", False))
    own = (one.name,) if place else ()
    return [c._replace(text=c.text.replace(": ", f"{place}: ", 1), where=own) for c in told]


def counts_of(items: Items, system: str, ci_prob: float) -> EffectiveCounts:
    """Counts of independent rows that tell as much of one system at this level."""
    predictive = "error_rates" not in items.design.identifies
    found = effective_counts(items, _spread_of(items, predictive), ci_prob)
    return next(one.counts for one in found if one.name == system)


def _spread_of(items: Items, predictive: bool) -> Callable[[Clusters], Spread]:
    """Variance by item of the closed form that is the posterior's counterpart."""

    def spread(clusters: Clusters) -> Spread:
        if predictive:
            return by_item.spread_of(clusters, by_item.of_strata(clusters.totals))
        if "prevalence" not in items.design.identifies:
            return by_item.spread_of(clusters, by_item.of_inversion(clusters.totals))
        return by_item.difference_spread(clusters, by_item.independent_weight(clusters))

    return spread
