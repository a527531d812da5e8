"""The PyMC graphs of the models: each model in the form of the text, and in that of the sampler.

Each function adds to the model in whose context it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.distributions import beta_share, half_normal, pair_above_one
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence._covariates import design_of_strata
from bayesjudge.prevalence.data import LABELS, Counts

RATES = ("sensitivity", "specificity")
#: The dimension of a Beta prior's parameters.
PARAMETERS = {"parameter": ("alpha", "beta")}


def separate_rates(counts: Counts, spec: Any, text: bool) -> dict[str, Any]:
    """Each system has a prevalence, a sensitivity and a specificity of its own."""
    dims = None if counts.systems is None else counts.dim
    if spec.better_than_chance and not text:
        return _around_the_pass_rate(counts, spec, dims)
    prevalence = pm.Beta("prevalence", *beta_prior("prevalence", spec, counts), dims=dims)
    pair = _pair(RATES, spec, counts, dims, text)
    return _with_pass_rate(prevalence, pair, dims)


def shared_rates(counts: Counts, spec: Any, text: bool) -> dict[str, Any]:
    """One sensitivity and one specificity serve all systems."""
    prevalence = pm.Beta("prevalence", *beta_prior("prevalence", spec, counts), dims=counts.dim)
    pair = _pair(RATES, spec, counts, None, text)
    rates = _with_pass_rate(prevalence, pair, counts.dim)
    return rates | {name: rates[name] * pt.ones_like(prevalence) for name in RATES}


def pooled_rates(counts: Counts, spec: Any, text: bool) -> dict[str, Any]:
    """Each system's rates lie some logits from a typical system's; the data say how far.

    Strata pool their prevalences in the same way.
    """
    scale, dim = pm.Data("spread_prior", np.array(spec.spread)), counts.dim
    prior = beta_prior("prevalence", spec, counts)
    if dim == "stratum":
        typical_share = beta_share("typical_prevalence", *prior, text=text)
        prevalence = _spread_out("prevalence", typical_share, scale, dim, text)
    else:
        prevalence = beta_share("prevalence", *prior, text=text, dims=dim)
    typical = _pair(RATES, spec, counts, None, text, prefix="typical_")
    pair = [
        _spread_out(name, centre, scale, dim, text)
        for name, centre in zip(RATES, typical, strict=True)
    ]
    return _with_pass_rate(prevalence, pair, dim)


def linear_rates(counts: Counts, spec: Any, text: bool) -> dict[str, Any]:
    """Logits of all rates are linear in covariates, about those of the average item."""
    names, columns = design_of_strata(spec.formula, counts)
    pm.modelcontext(None).add_coord("coefficient", names)
    dims = (counts.dim, "coefficient")
    design = pm.Data("covariate", columns, dims=dims)
    scale = pm.Data("slope_prior", np.array(spec.slope))

    def linear(name: str) -> Any:
        typical = pm.Beta(f"typical_{name}", *beta_prior(name, spec, counts))
        logits = pt.log(typical) - pt.log1p(-typical)
        if names:
            logits = logits + design @ pm.Normal(f"{name}_slope", 0, scale, dims="coefficient")
        logits = logits * pt.ones(len(columns))
        return pm.Deterministic(name, pm.math.sigmoid(logits), dims=counts.dim)

    prevalence = linear("prevalence")
    return _with_pass_rate(prevalence, [linear(name) for name in RATES], counts.dim)


def predictive_values(counts: Counts, spec: Any, text: bool) -> dict[str, Any]:
    """The truth, seen from the judge's verdicts: what a pass and what a fail are worth."""
    dims = None if counts.systems is None else counts.dim
    rate = pm.Beta("pass_rate", *beta_prior("pass_rate", spec, counts), dims=dims)
    ppv, npv = _pair(("ppv", "npv"), spec, counts, dims, text)
    good = pm.Deterministic("prevalence", rate * ppv + (1 - rate) * (1 - npv), dims=dims)
    return {"prevalence": good, "pass_rate": rate, "ppv": ppv, "npv": npv}


def observed(counts: Counts, rates: Mapping[str, Any], text: bool = True) -> None:
    """Verdicts and labels, the unlabelled items' truths summed out."""
    seen = binomial if text else _add_binomial
    if counts.design.likelihood is not None:
        return counts.design.likelihood(counts, rates)
    dims = None if counts.systems is None else counts.dim
    if "ppv" in rates:
        passed = counts.labelled_pass
        items, failed = counts.test_n + counts.labelled_n, counts.labelled_n - passed
        seen("all_pass", counts.test_pass + passed, items, rates["pass_rate"], dims)
        seen("pass_correct", counts.correct_pass, passed, rates["ppv"], dims)
        seen("fail_incorrect", counts.incorrect_fail, failed, rates["npv"], dims)
        return None
    correct, hits, incorrect, caught = counts.all_labels.values()
    seen("test_pass", counts.test_pass, counts.test_n, rates["pass_rate"], dims)
    seen("correct_pass", hits, correct, rates["sensitivity"], dims)
    seen("incorrect_fail", caught, incorrect, rates["specificity"], dims)
    if counts.labels_tell_prevalence:
        seen("labelled_correct", counts.correct_n, counts.labelled_n, rates["prevalence"], dims)
    return None


def observed_by_item(counts: Counts, rates: Mapping[str, Any]) -> None:
    """Verdicts and labels, one variable an item: the truth of an unlabelled one is unknown."""
    place, verdict, truth, own = _one_row_an_item(counts)
    shape, known = len(counts.places), truth >= 0
    each = {k: pt.broadcast_to(pt.atleast_1d(v), (shape,))[place] for k, v in rates.items()}
    sizes = {"item": ~known, "labelled_item": known, "own_labelled_item": known & own}
    pm.modelcontext(None).add_coords({dim: np.arange(rows.sum()) for dim, rows in sizes.items()})

    def bernoulli(name: str, chance: Any, dim: str, values: np.ndarray | None) -> Any:
        rows = sizes[dim]
        seen = None if values is None else values[rows]
        return pm.Bernoulli(name, chance[rows], observed=seen, dims=dim)

    if "ppv" in rates:
        good = pt.where(verdict, each["ppv"], 1 - each["npv"])
        bernoulli("verdict", each["pass_rate"], "item", verdict)
        bernoulli("truth", good, "item", None)
        bernoulli("labelled_verdict", each["pass_rate"], "labelled_item", verdict)
        bernoulli("labelled_truth", good, "labelled_item", truth)
        return
    latent = bernoulli("truth", each["prevalence"], "item", None)
    if counts.labels_tell_prevalence:
        bernoulli("labelled_truth", each["prevalence"], "own_labelled_item", truth)
    good = pt.set_subtensor(pt.as_tensor(truth)[np.flatnonzero(~known)], latent)
    passes = pt.where(good, each["sensitivity"], 1 - each["specificity"])
    bernoulli("verdict", passes, "item", verdict)
    bernoulli("labelled_verdict", passes, "labelled_item", verdict)


def _one_row_an_item(counts: Counts) -> tuple[np.ndarray, ...]:
    """Place, verdict, truth (-1: no label) and whether the item is one that is asked about."""
    cells = [(counts.test_pass, 1, -1, True), (counts.test_n - counts.test_pass, 0, -1, True)]
    cells += _labelled_cells([getattr(counts, name) for name in LABELS], True)
    if counts.external_labels is not None:
        cells += _labelled_cells(counts.external_labels, False)
    rows = [
        np.repeat([[place, *kind]], n, axis=0)
        for number, *kind in cells
        for place, n in enumerate(np.atleast_1d(number))
    ]
    place, verdict, truth, own = np.concatenate(rows).astype(int).T
    return place, verdict, truth, own.astype(bool)


def _labelled_cells(labels: Sequence[Any], own: bool) -> list[Any]:
    good, hits, bad, caught = labels
    return [
        *((hits, 1, 1, own), (good - hits, 0, 1, own)),
        *((bad - caught, 1, 0, own), (caught, 0, 0, own)),
    ]


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
    pm.modelcontext(None).add_coords(PARAMETERS)
    if isinstance(prior, BetaPrior):
        both = np.array([prior.alpha, prior.beta])
        values = pm.Data(f"{name}_prior", both, dims="parameter")
    else:
        each = np.array([tuple(prior[system]) for system in counts.systems or ()]).T
        values = pm.Data(f"{name}_prior", each, dims=("parameter", counts.dim))
    return values[0], values[1]


def binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Counts that were seen; a single one is an array too, as ArviZ's plots ask."""
    if dims is None:
        dims = "outputs"
        pm.modelcontext(None).add_coord(dims, ("",))
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    total = pm.Data(f"{name}_of", np.atleast_1d(np.asarray(trials, dtype=float)), dims=dims)
    seen = pm.Data(f"{name}_seen", np.atleast_1d(np.asarray(successes, dtype=float)), dims=dims)
    pm.Binomial(name, total.astype("int64"), pt.atleast_1d(rate), observed=seen, dims=dims)


def _add_binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Their density for the sampler, without what does not depend on the rate."""
    seen, failed = np.asarray(successes, float), np.asarray(trials, float) - successes
    right = pm.Data(f"{name}_seen", seen, dims=dims)
    wrong = pm.Data(f"{name}_failed", failed, dims=dims)
    pm.Potential(name, (right * pt.log(rate) + wrong * pt.log1p(-rate)).sum())


def multinomial(name: str, counts: np.ndarray, shares: Any, dims: tuple[str, ...]) -> None:
    """Counts that were seen."""
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    seen = pm.Data(f"{name}_seen", np.asarray(counts, float), dims=dims)
    total = pm.Data(f"{name}_of", np.asarray(counts.sum(axis=-1), float), dims=dims[:-1] or None)
    pm.Multinomial(name, total.astype("int64"), shares, observed=seen, dims=dims)


def categories_by_item(
    first: tuple[str, Any, np.ndarray],
    second: tuple[str, Callable[[Any], Any], np.ndarray],
    told: np.ndarray,
) -> None:
    """Two categories of each item, the second given the first; an unknown one is -1.

    Each comes with a name, the chances of each item, and the categories. Of items that are not
    `told`, a known first category says nothing about its chances.
    """
    (name, chances, codes), (other, given, seen) = first, second
    model = pm.modelcontext(None)
    sizes = {f"{name}_unknown": codes < 0, f"{name}_known": (codes >= 0) & told}
    z = pt.as_tensor(codes)
    for dim, mine in sizes.items():
        if mine.any():
            model.add_coord(f"{dim}_item", np.flatnonzero(mine))
            observed = codes[mine] if dim.endswith("_known") else None
            label = f"{name}_seen" if dim.endswith("_known") else name
            drawn = pm.Categorical(label, chances[mine], observed=observed, dims=f"{dim}_item")
            z = pt.set_subtensor(z[np.flatnonzero(mine)], drawn)
    after = given(z)
    for label, mine in ((other, seen < 0), (f"{other}_seen", seen >= 0)):
        if mine.any():
            model.add_coord(f"{label}_item", np.flatnonzero(mine))
            observed = seen[mine] if label.endswith("_seen") else None
            pm.Categorical(label, after[mine], observed=observed, dims=f"{label}_item")


def _with_pass_rate(prevalence: Any, pair: Sequence[Any], dims: str | None) -> dict[str, Any]:
    sensitivity, specificity = pair
    rate = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return {
        "prevalence": prevalence,
        "sensitivity": sensitivity,
        "specificity": specificity,
        "pass_rate": pm.Deterministic("pass_rate", rate, dims=dims),
    }


def _pair(
    names: Sequence[str], spec: Any, counts: Counts, dims: str | None, text: bool, prefix: str = ""
) -> tuple[Any, Any]:
    """Two shares, independent or restricted to a sum above 1.

    The sampler's restriction is a change of variables: the second is ``1 - first * (1 - share)``
    with ``share`` in (0, 1), whose Jacobian is the first.
    """
    one, other = (f"{prefix}{name}" for name in names)
    priors = [beta_prior(name, spec, counts) for name in names]
    if not spec.better_than_chance:
        first, second = (
            pm.Beta(name, *prior, dims=dims)
            for name, prior in zip((one, other), priors, strict=True)
        )
        return first, second
    if text:
        return pair_above_one((one, other), priors, dims)
    first = beta_share(one, *priors[0], text=False, dims=dims)
    share = pm.Uniform(f"{other}_share", dims=dims)
    missed, (alpha, beta) = first * (1 - share), priors[1]
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(first)
    pm.Potential(f"{other}_prior_density", density.sum())
    return first, pm.Deterministic(other, 1 - missed, dims=dims)


def _around_the_pass_rate(counts: Counts, spec: Any, dims: str | None) -> dict[str, Any]:
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


def _spread_out(name: str, typical: Any, scale: Any, dim: str, text: bool) -> Any:
    """Each system's rate, some logits from the typical one.

    The sampler counts them in standard deviations (non-centred), since most systems have few
    labels.
    """
    spread = half_normal(f"{name}_spread", scale, text=text)
    centre = pt.log(typical) - pt.log1p(-typical)
    if text:
        unbounded = pm.distributions.transforms.logodds  # which PyMC leaves out for this one
        return pm.LogitNormal(name, centre, spread, dims=dim, default_transform=unbounded)
    steps = pm.Normal(f"{name}_steps", dims=dim)
    return pm.Deterministic(name, pm.math.sigmoid(centre + spread * steps), dims=dim)
