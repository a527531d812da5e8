"""The PyMC graph of the models; each function adds to the model in whose context it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.data import Counts

RATES = ("prevalence", "sensitivity", "specificity")


def separate_rates(counts: Counts, spec: Any) -> None:
    """Each system has a prevalence, a sensitivity and a specificity of its own."""
    dims = None if counts.systems is None else counts.dim
    unknowns = _better_than_chance if spec.better_than_chance else _unrestricted
    observed(counts, unknowns(counts, spec, dims), dims)


def shared_rates(counts: Counts, spec: Any) -> None:
    """One sensitivity and one specificity serve all systems."""
    prevalence = pm.Beta("prevalence", *beta_prior("prevalence", spec, counts), dims=counts.dim)
    hit, caught = restricted_pair(("sensitivity", "specificity"), spec, counts, None)
    _observe_pooled(counts, prevalence, hit, caught)


def pooled_rates(counts: Counts, spec: Any) -> None:
    """Each system's rates lie some logits from a typical system's; the data say how far.

    They are written as so many standard deviations from the typical one (non-centred), since most
    systems have few labels. Strata pool their prevalences in the same way.
    """
    scale = pm.Data("spread_prior", np.array(spec.spread))
    if counts.dim == "stratum":
        alpha, beta = beta_prior("prevalence", spec, counts)
        typical = pm.Beta("typical_prevalence", alpha, beta)
        prevalence = _spread_out("prevalence", typical, scale, counts.dim)
    else:
        prevalence = pm.Beta("prevalence", *beta_prior("prevalence", spec, counts), dims=counts.dim)
    pair = restricted_pair(("sensitivity", "specificity"), spec, counts, None, prefix="typical_")
    hit, caught = (
        _spread_out(name, typical, scale, counts.dim)
        for name, typical in zip(("sensitivity", "specificity"), pair, strict=True)
    )
    _observe_pooled(counts, prevalence, hit, caught)


def predictive_values(counts: Counts, spec: Any) -> None:
    """The truth, seen from the judge's verdicts: what a pass and what a fail are worth."""
    dims = None if counts.systems is None else counts.dim
    passed = counts.labelled_pass
    rate = pm.Beta("pass_rate", *beta_prior("pass_rate", spec, counts), dims=dims)
    ppv, npv = restricted_pair(("ppv", "npv"), spec, counts, dims)
    pm.Deterministic("prevalence", rate * ppv + (1 - rate) * (1 - npv), dims=dims)
    if counts.design.likelihood is not None:
        return counts.design.likelihood(counts, {"pass_rate": rate, "ppv": ppv, "npv": npv})
    items = counts.test_n + counts.labelled_n
    binomial("all_pass", counts.test_pass + passed, items, rate, dims)
    binomial("pass_correct", counts.correct_pass, passed, ppv, dims)
    binomial("fail_incorrect", counts.incorrect_fail, counts.labelled_n - passed, npv, dims)
    return None


def observed(counts: Counts, rates: Mapping[str, Any], dims: str | None) -> None:
    """Verdicts, and what the labels tell of the judge's rates and of the prevalence."""
    if counts.design.likelihood is not None:
        return counts.design.likelihood(counts, rates)
    correct, hits, incorrect, caught = counts.all_labels.values()
    binomial("test_pass", counts.test_pass, counts.test_n, rates["pass_rate"], dims)
    binomial("correct_pass", hits, correct, rates["sensitivity"], dims)
    binomial("incorrect_fail", caught, incorrect, rates["specificity"], dims)
    if counts.labels_tell_prevalence:
        binomial("labelled_correct", counts.correct_n, counts.labelled_n, rates["prevalence"], dims)
    return None


def post_stratified(counts: Counts, prevalence: Any) -> None:
    """Weigh the strata by their shares of the items.

    Strata of a covariate are weighed by the shares that the items have. Classes of propensity are
    not of the user's making, so their shares in the population are unknown too.
    """
    if counts.propensity is None:
        shares = pm.Data("stratum_share", np.asarray(counts.shares, float), dims="stratum")
    else:
        items = np.asarray(counts.test_n + counts.labelled_n, float)
        flat = pm.Data("stratum_share_prior", np.ones(items.size), dims="stratum")
        shares = pm.Dirichlet("stratum_share", flat, dims="stratum")
        total = pm.Data("stratum_items_of", np.array(items.sum()))
        seen = pm.Data("stratum_items_seen", items, dims="stratum")
        pm.Multinomial(
            "stratum_items", total.astype("int64"), shares, observed=seen, dims="stratum"
        )
    pm.Deterministic("overall_prevalence", (shares * prevalence).sum())


def beta_prior(name: str, spec: Any, counts: Counts) -> tuple[Any, Any]:
    """Both parameters as data, so that other priors need no other compilation."""
    prior = getattr(spec, name)
    if isinstance(prior, BetaPrior):
        values = pm.Data(f"{name}_prior", np.array([prior.alpha, prior.beta]))
    else:
        each = np.array([tuple(prior[system]) for system in counts.systems or ()]).T
        values = pm.Data(f"{name}_prior", each)
    return values[0], values[1]


def binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Counts that were seen."""
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    total = pm.Data(f"{name}_of", np.asarray(trials, dtype=float), dims=dims)
    seen = pm.Data(f"{name}_seen", np.asarray(successes, dtype=float), dims=dims)
    pm.Binomial(name, total.astype("int64"), rate, observed=seen, dims=dims)


def restricted_pair(
    names: Sequence[str], spec: Any, counts: Counts, dims: str | None, prefix: str = ""
) -> tuple[Any, Any]:
    """Two shares, independent or restricted to a sum above 1.

    The restriction is a change of variables, not a rejection: the second is
    ``1 - first * (1 - share)`` with ``share`` in (0, 1), whose Jacobian is the first.
    """
    one, other = (f"{prefix}{name}" for name in names)
    first = pm.Beta(one, *beta_prior(names[0], spec, counts), dims=dims)
    alpha, beta = beta_prior(names[1], spec, counts)
    if not spec.better_than_chance:
        return first, pm.Beta(other, alpha, beta, dims=dims)
    share = pm.Uniform(f"{other}_share", dims=dims)
    missed = first * (1 - share)
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(first)
    pm.Potential(f"{other}_prior_density", density.sum())
    return first, pm.Deterministic(other, 1 - missed, dims=dims)


def _unrestricted(counts: Counts, spec: Any, dims: str | None) -> dict[str, Any]:
    """Prevalence, sensitivity and specificity as they come, and the pass rate that follows."""
    made = {name: pm.Beta(name, *beta_prior(name, spec, counts), dims=dims) for name in RATES}
    prevalence, sensitivity, specificity = made.values()
    rate = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return {**made, "pass_rate": pm.Deterministic("pass_rate", rate, dims=dims)}


def _better_than_chance(counts: Counts, spec: Any, dims: str | None) -> dict[str, Any]:
    """Put the same priors on coordinates in which the posterior is easy to sample.

    A judge better than chance passes good items more often than all items, and all items more
    often than bad ones. So the pass rate is free, sensitivity is some way from it up to 1, the
    rate of wrong passes some way from 0 up to it, and every point is a valid prevalence. The test
    items fix the pass rate, however many they are, and leave the two others alone; sampled as they
    come, the three unknowns would lie on a ridge that ten million items make too thin to walk.
    """
    rate, above, below = (
        pm.Uniform(name, dims=dims) for name in ("pass_rate", "above_share", "below_share")
    )
    # each probability with its complement, from products: a difference would lose digits near 0, 1
    hit, miss = rate + (1 - rate) * above, (1 - rate) * (1 - above)
    wrong, right = rate * below, 1 - rate * below
    youden = (1 - rate) * above + rate * (1 - below)
    good, bad = rate * (1 - below) / youden, (1 - rate) * above / youden
    pairs = {"prevalence": (good, bad), "sensitivity": (hit, miss), "specificity": (right, wrong)}
    # the Jacobian of (prevalence, sensitivity, specificity) by the coordinates
    density = pt.log(rate) + pt.log1p(-rate) - pt.log(youden)
    for name, (success, failure) in pairs.items():
        alpha, beta = beta_prior(name, spec, counts)
        density += (alpha - 1) * pt.log(success) + (beta - 1) * pt.log(failure)
    pm.Potential("rates_prior_density", density.sum())
    made = {name: pm.Deterministic(name, pair[0], dims=dims) for name, pair in pairs.items()}
    return {**made, "pass_rate": rate}


def _observe_pooled(counts: Counts, prevalence: Any, hit: Any, caught: Any) -> None:
    rate = prevalence * hit + (1 - prevalence) * (1 - caught)
    pm.Deterministic("pass_rate", rate, dims=counts.dim)
    whole = pt.ones_like(prevalence)
    rates = {"prevalence": prevalence, "sensitivity": hit * whole, "specificity": caught * whole}
    observed(counts, {**rates, "pass_rate": rate}, counts.dim)


def _spread_out(name: str, typical: Any, scale: Any, dim: str) -> Any:
    """Each system's rate, some logits from the typical one."""
    spread = pm.HalfNormal(f"{name}_spread", scale)
    steps = pm.Normal(f"{name}_steps", dims=dim)
    centre = pt.log(typical) - pt.log1p(-typical)
    return pm.Deterministic(name, pm.math.sigmoid(centre + spread * steps), dims=dim)
