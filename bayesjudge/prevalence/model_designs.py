"""What each design's model consists of; each function adds to the model in whose context it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.data import Counts

if TYPE_CHECKING:
    from bayesjudge.prevalence.model import Priors

RATES = ("prevalence", "sensitivity", "specificity")


def error_rates(counts: Counts, priors: Priors) -> None:
    """Labels by truth, or a random sample: the judge's errors, seen from the truth.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    """
    dims = None if counts.systems is None else counts.dim
    unknowns = _three_better_than_chance if priors.better_than_chance else _three_independent
    prevalence, sensitivity, specificity, rate = unknowns(priors, dims)
    observed(counts, (prevalence, sensitivity, specificity, rate), dims)


def observed(counts: Counts, rates: tuple[Any, Any, Any, Any], dims: str | None) -> None:
    """Add what was seen of the judge's rates and, where labels tell it, of the prevalence.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    rates : tuple of tensor
        Prevalence, sensitivity, specificity and pass rate.
    dims : str or None
        Their dimension.
    """
    prevalence, sensitivity, specificity, rate = rates
    correct, hits, incorrect, caught = counts.all_labels.values()
    binomial("test_pass", counts.test_pass, counts.test_n, rate, dims)
    binomial("correct_pass", hits, correct, sensitivity, dims)
    binomial("incorrect_fail", caught, incorrect, specificity, dims)
    if counts.sampled:
        binomial("labelled_correct", counts.correct_n, counts.labelled_n, prevalence, dims)


def post_stratified(counts: Counts, prevalence: Any) -> None:
    """Weigh the strata by their shares of the items.

    Strata of a covariate are weighed by the shares that the items have. Classes of propensity are
    not of the user's making, so that their shares in the population are unknown too.

    Parameters
    ----------
    counts : Counts
        With strata.
    prevalence : tensor
        Of each stratum.
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


def _three_independent(priors: Priors, dims: str | None) -> tuple[Any, Any, Any, Any]:
    """Prevalence, sensitivity and specificity as they come, and the pass rate that follows."""
    prevalence, sensitivity, specificity = (
        pm.Beta(name, *beta_prior(name, getattr(priors, name)), dims=dims) for name in RATES
    )
    rate = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return prevalence, sensitivity, specificity, pm.Deterministic("pass_rate", rate, dims=dims)


def _three_better_than_chance(priors: Priors, dims: str | None) -> tuple[Any, Any, Any, Any]:
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
        alpha, beta = beta_prior(name, getattr(priors, name))
        density += (alpha - 1) * pt.log(success) + (beta - 1) * pt.log(failure)
    pm.Potential("rates_prior_density", density.sum())
    found = {name: pm.Deterministic(name, pair[0], dims=dims) for name, pair in pairs.items()}
    return found["prevalence"], found["sensitivity"], found["specificity"], rate


def predictive_values(counts: Counts, priors: Priors) -> None:
    """Labels by verdict: the truth, seen from the judge's verdicts.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors
        One for each unknown.
    """
    dims = None if counts.systems is None else counts.dim
    passed = counts.labelled_pass
    rate = pm.Beta("pass_rate", *beta_prior("pass_rate", priors.pass_rate), dims=dims)
    pair = (priors.ppv, priors.npv)
    ppv, npv = restricted_pair(("ppv", "npv"), pair, dims, priors.better_than_chance)
    pm.Deterministic("prevalence", rate * ppv + (1 - rate) * (1 - npv), dims=dims)
    items = counts.test_n + counts.labelled_n
    binomial("all_pass", counts.test_pass + passed, items, rate, dims)
    binomial("pass_correct", counts.correct_pass, passed, ppv, dims)
    binomial("fail_incorrect", counts.incorrect_fail, counts.labelled_n - passed, npv, dims)


def beta_prior(name: str, prior: BetaPrior) -> tuple[Any, Any]:
    """Add both parameters as data, so that other priors need no other compilation.

    Parameters
    ----------
    name : str
        Of the variable.
    prior : BetaPrior
        Its prior.

    Returns
    -------
    tuple
        Alpha and beta.
    """
    values = pm.Data(f"{name}_prior", np.array([prior.alpha, prior.beta]))
    return values[0], values[1]


def binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Add counts that were seen.

    Parameters
    ----------
    name : str
        Of the variable.
    successes, trials : int or numpy.ndarray
        Counts.
    rate : tensor
        Probability of a success.
    dims : str or None
        Dimension of all three.
    """
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    total = pm.Data(f"{name}_of", np.asarray(trials, dtype=float), dims=dims)
    seen = pm.Data(f"{name}_seen", np.asarray(successes, dtype=float), dims=dims)
    pm.Binomial(name, total.astype("int64"), rate, observed=seen, dims=dims)


def restricted_pair(
    names: Sequence[str], priors: Sequence[BetaPrior], dims: str | None, better_than_chance: bool
) -> tuple[Any, Any]:
    """Add two shares, independent or restricted to a sum above 1.

    The restriction is a change of variables, not a rejection: the second is
    ``1 - first * (1 - share)`` with ``share`` in (0, 1), whose Jacobian is the first.

    Parameters
    ----------
    names : sequence of str
        Of the two variables.
    priors : sequence of BetaPrior
        Of each.
    dims : str or None
        Dimension of both.
    better_than_chance : bool
        Whether to restrict.

    Returns
    -------
    tuple
        Both variables.
    """
    first = pm.Beta(names[0], *beta_prior(names[0], priors[0]), dims=dims)
    alpha, beta = beta_prior(names[1], priors[1])
    if not better_than_chance:
        return first, pm.Beta(names[1], alpha, beta, dims=dims)
    share = pm.Uniform(f"{names[1]}_share", dims=dims)
    missed = first * (1 - share)
    density = (alpha - 1) * pt.log1p(-missed) + (beta - 1) * pt.log(missed) + pt.log(first)
    pm.Potential(f"{names[1]}_prior_density", density.sum())
    return first, pm.Deterministic(names[1], 1 - missed, dims=dims)
