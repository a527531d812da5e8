"""Posteriors of many data sets at once, by weighted draws: no compiler, no chains.

Under every design there are coordinates in which the unknowns are independent Betas, up to a weight
that is nearly constant. So draws are made at random and weighted. For one posterior quadrature is
better; for a thousand, this is quicker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from bayesjudge.core.errors import checking
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import Priors


def weighted_draws(
    counts: Counts, priors: Priors, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw from the posterior of every system at once.

    Where labels are a random sample, the likelihood is one of the pass rate and both predictive
    values, which makes them independent; where they are not, of the pass rate and the judge's
    rates. What the change of variables and the priors add is the weight.

    Parameters
    ----------
    counts : Counts
        With systems.
    priors : Priors
        One for each unknown.
    draws : int
        For each system.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    theta, weights : numpy.ndarray, shape (n_systems, draws)
        Weights of a system sum to 1.

    Raises
    ------
    InputError
        Where there are labels from elsewhere, or propensities.
    """
    with checking("weighted_draws") as require:
        plain = counts.elsewhere is None and counts.propensity is None
        require(plain, "takes no labels from elsewhere and no propensities")
    passes, items = np.asarray(counts.test_pass), np.asarray(counts.test_n)
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    good, caught = counts.correct_pass, counts.incorrect_fail

    def beta(prior: BetaPrior, right: Any, total: Any) -> np.ndarray:
        shape = np.array([prior.alpha + right, prior.beta + total - right], float)[..., None]
        return rng.beta(shape[0], shape[1], (*shape.shape[1:-1], draws))

    flat = BetaPrior()
    sampled = counts.calibration == "random"
    if counts.calibration == "by_verdict" or sampled:
        # the Jacobian has the factor rate * (1 - rate), which raises both parameters by one
        start = BetaPrior(2, 2) if sampled else priors.pass_rate
        rate = beta(start, passes + passed, items + passed + failed)
        ppv = beta(flat if sampled else priors.ppv, good, passed)
        npv = beta(flat if sampled else priors.npv, caught, failed)
        theta, kept = rate * ppv + (1 - rate) * (1 - npv), ppv + npv > 1
        log = np.zeros_like(theta)
        if sampled:
            with np.errstate(divide="ignore", invalid="ignore"):
                hit, refused = rate * ppv / theta, (1 - rate) * npv / (1 - theta)
            log = -np.log(theta) - np.log1p(-theta)
            log += _log_prior(priors.sensitivity, hit) + _log_prior(priors.specificity, refused)
            log += _log_prior(priors.prevalence, theta)
    else:
        rate = beta(flat, passes, items)
        hit = beta(priors.sensitivity, good, counts.correct_n)
        refused = beta(priors.specificity, caught, counts.incorrect_n)
        youden = hit + refused - 1
        theta, kept = (rate + refused - 1) / youden, youden > 0
        inside = (theta > 0) & (theta < 1)
        theta = np.clip(theta, 1e-300, 1 - 1e-16)
        log = np.where(inside, _log_prior(priors.prevalence, theta), -np.inf)
        log -= np.log(np.abs(youden))
    if priors.better_than_chance:
        log = np.where(kept, log, -np.inf)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return theta, weights / weights.sum(axis=1, keepdims=True)


def _log_prior(prior: BetaPrior, share: np.ndarray) -> np.ndarray:
    return xlogy(prior.alpha - 1, share) + xlog1py(prior.beta - 1, -share)


def weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, probs: tuple[float, ...]
) -> np.ndarray:
    """Quantiles of weighted draws.

    Parameters
    ----------
    values, weights : numpy.ndarray, shape (rows, draws)
        Weights of a row sum to 1.
    probs : tuple of float
        Probabilities.

    Returns
    -------
    numpy.ndarray, shape (n_probs, rows)
        Linear between draws.
    """
    order = np.argsort(values, axis=1)
    values, weights = (np.take_along_axis(a, order, axis=1) for a in (values, weights))
    below = np.cumsum(weights, axis=1) - weights / 2
    return np.array([np.interp(probs, b, v) for b, v in zip(below, values, strict=True)]).T
