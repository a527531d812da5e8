"""The model of several systems under one judge, who need not treat them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.errors import checking
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model_designs import beta_prior, binomial, restricted_pair

if TYPE_CHECKING:
    from bayesjudge.prevalence.model import Pooling, Priors


def pooled_rates(counts: Counts, priors: Priors, pooling: Pooling) -> None:
    """Add to the model in whose context it is called.

    Fully pooled, one sensitivity and one specificity serve all systems. Partially pooled, each
    system has its own, normal on the logit scale around a typical judge's, and the data say how
    far they spread. They are written as so many standard deviations from the typical one
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
        Where labels were chosen by verdict, or there are no systems.
    """
    with checking("prevalence.build_model") as require:
        require(counts.systems is not None, f"pooling={pooling!r} needs several systems")
        require(
            counts.calibration != "by_verdict",
            f"pooling={pooling!r}: labels by verdict tell predictive values, which depend on each "
            "system's prevalence and do not carry over; use pooling='separate'",
        )
    prevalence = pm.Beta("prevalence", *beta_prior("prevalence", priors.prevalence), dims="system")
    prefix = "" if pooling == "full" else "typical_"
    names = [f"{prefix}sensitivity", f"{prefix}specificity"]
    pair = [priors.sensitivity, priors.specificity]
    rates = restricted_pair(names, pair, None, priors.better_than_chance)
    if pooling == "partial":
        scale = pm.Data("spread_prior", np.array(priors.spread))
        rates = tuple(
            _spread_out(name, typical, scale)
            for name, typical in zip(("sensitivity", "specificity"), rates, strict=True)
        )
    hit, caught = rates
    rate = prevalence * hit + (1 - prevalence) * (1 - caught)
    pm.Deterministic("pass_rate", rate, dims="system")
    whole = pt.ones_like(prevalence)
    binomial("test_pass", counts.test_pass, counts.test_n, rate, "system")
    binomial("correct_pass", counts.correct_pass, counts.correct_n, hit * whole, "system")
    binomial("incorrect_fail", counts.incorrect_fail, counts.incorrect_n, caught * whole, "system")
    if counts.calibration == "random":
        binomial("labelled_correct", counts.correct_n, counts.labelled_n, prevalence, "system")


def _spread_out(name: str, typical: Any, scale: Any) -> Any:
    """Each system's rate, some logits from the typical one."""
    spread = pm.HalfNormal(f"{name}_spread", scale)
    steps = pm.Normal(f"{name}_steps", dims="system")
    centre = pt.log(typical) - pt.log1p(-typical)
    return pm.Deterministic(name, pm.math.sigmoid(centre + spread * steps), dims="system")
