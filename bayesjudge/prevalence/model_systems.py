"""The model of several systems under one judge, who need not treat them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.errors import checking
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model_designs import beta_prior, observed, restricted_pair

if TYPE_CHECKING:
    from bayesjudge.prevalence.model import Pooling, Priors


def pooled_rates(counts: Counts, priors: Priors, pooling: Pooling) -> None:
    """Add to the model in whose context it is called.

    Fully pooled, one sensitivity and one specificity serve all systems. Partially pooled, each
    system has its own, normal on the logit scale around a typical judge's, and the data say how
    far they spread; strata pool their prevalences in the same way. They are written as so many
    standard deviations from the typical one
    (non-centred), since most systems have few labels.

    Parameters
    ----------
    counts : Counts
        With systems.
    priors : Priors
        Those of sensitivity and specificity are the typical system's.
    pooling : {"partial", "full"}
        How far systems share the judge's rates.

    Raises
    ------
    InputError
        Where labels were chosen by verdict, there are no systems, or they are judges.
    """
    with checking("prevalence.build_model") as require:
        several = counts.systems is not None and counts.dim != "judge"
        require(several, f"pooling={pooling!r} needs several systems or strata, under one judge")
        require(
            not counts.predictive,
            f"pooling={pooling!r}: labels by verdict tell predictive values, which depend on each "
            "system's prevalence and do not carry over; use pooling='separate'",
        )
    dim, scale = counts.dim, None
    if pooling == "partial":
        scale = pm.Data("spread_prior", np.array(priors.spread))
    prevalence = _prevalence(counts, priors, scale)
    prefix = "" if pooling == "full" else "typical_"
    names = [f"{prefix}sensitivity", f"{prefix}specificity"]
    pair = [priors.sensitivity, priors.specificity]
    rates = restricted_pair(names, pair, None, priors.better_than_chance)
    if pooling == "partial":
        rates = tuple(
            _spread_out(name, typical, scale, dim)
            for name, typical in zip(("sensitivity", "specificity"), rates, strict=True)
        )
    hit, caught = rates
    rate = prevalence * hit + (1 - prevalence) * (1 - caught)
    pm.Deterministic("pass_rate", rate, dims=dim)
    whole = pt.ones_like(prevalence)
    observed(counts, (prevalence, hit * whole, caught * whole, rate), dim)


def _prevalence(counts: Counts, priors: Priors, scale: Any) -> Any:
    """Each system's own; strata of one system's items are alike to a degree that the data tell."""
    alpha, beta = beta_prior("prevalence", priors.prevalence)
    if counts.dim != "stratum" or scale is None:
        return pm.Beta("prevalence", alpha, beta, dims=counts.dim)
    typical = pm.Beta("typical_prevalence", alpha, beta)
    return _spread_out("prevalence", typical, scale, counts.dim)


def _spread_out(name: str, typical: Any, scale: Any, dim: str) -> Any:
    """Each system's rate, some logits from the typical one."""
    spread = pm.HalfNormal(f"{name}_spread", scale)
    steps = pm.Normal(f"{name}_steps", dims=dim)
    centre = pt.log(typical) - pt.log1p(-typical)
    return pm.Deterministic(name, pm.math.sigmoid(centre + spread * steps), dims=dim)
