"""What the models of counts observe, and the coordinates in which NUTS takes few steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pymc as pm
import pytensor.tensor as pt

from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.components import Apart, BetaShares, RateErrors, prior_data
from bayesjudge.truth.likelihood import add_binomial, binomial

RATES = ("sensitivity", "specificity")


def separate_rates(spec: Any, dim: str | None, text: bool) -> dict[str, Any]:
    """A prevalence, a sensitivity and a specificity of each system, or one of each."""
    if spec.better_than_chance and not text:
        return _around_the_pass_rate(spec, dim)
    rates = spec.sensitivity, spec.specificity, spec.better_than_chance
    parts = BetaShares(spec.prevalence, Apart(dim)), RateErrors(*rates, Apart(dim))
    values = [part.variables(text) for part in parts]
    return with_pass_rate(values[0] | values[1], dim)


def with_pass_rate(values: Mapping[str, Any], dims: str | None) -> dict[str, Any]:
    """Add the judge's pass rate."""
    good, (hit, right) = values["prevalence"], (values[name] for name in RATES)
    rate = pm.Deterministic("pass_rate", good * hit + (1 - good) * (1 - right), dims=dims)
    return {**values, "pass_rate": rate}


def _dim(counts: Counts) -> str | None:
    return None if counts.systems is None else counts.dim


def observed(counts: Counts, values: Mapping[str, Any], text: bool) -> None:
    """Verdicts and labels, the unlabelled items' truths summed out."""
    good = values["prevalence"]  # each rate is one of each system, though they share it
    shared = {name: rate for name, rate in values.items() if rate.ndim < good.ndim}
    values = {**values, **{name: rate * pt.ones_like(good) for name, rate in shared.items()}}
    if counts.design.likelihood is not None:
        return counts.design.likelihood(counts, values)
    dims, seen = _dim(counts), binomial if text else add_binomial
    if "ppv" in values:
        passed = counts.labelled_pass
        items, failed = counts.test_n + counts.labelled_n, counts.labelled_n - passed
        seen("all_pass", counts.test_pass + passed, items, values["pass_rate"], dims)
        seen("pass_correct", counts.correct_pass, passed, values["ppv"], dims)
        seen("fail_incorrect", counts.incorrect_fail, failed, values["npv"], dims)
        return None
    correct, hits, incorrect, caught = counts.all_labels.values()
    seen("test_pass", counts.test_pass, counts.test_n, values["pass_rate"], dims)
    seen("correct_pass", hits, correct, values["sensitivity"], dims)
    seen("incorrect_fail", caught, incorrect, values["specificity"], dims)
    if counts.labels_tell_prevalence:
        seen("labelled_correct", counts.correct_n, counts.labelled_n, values["prevalence"], dims)
    return None


def _around_the_pass_rate(spec: Any, dims: str | None) -> dict[str, Any]:
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
        alpha, beta = prior_data(name, getattr(spec, name), dims)
        density += (alpha - 1) * pt.log(success) + (beta - 1) * pt.log(failure)
    pm.Potential("rates_prior_density", density.sum())
    variables = {name: pm.Deterministic(name, pair[0], dims=dims) for name, pair in pairs.items()}
    return {**variables, "pass_rate": rate}
