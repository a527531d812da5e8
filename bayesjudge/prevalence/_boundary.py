"""Which ends of [0, 1] the data do not exclude: what boundary-extended intervals reach."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.intervals import z_score
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.quadrature import Beta, Posterior

#: A prevalence whose posterior mean is so many standard deviations from an end excludes it.
FAR = 4.0


def depths_of(counts: Counts, priors: Any, posterior: Posterior) -> tuple[float, float]:
    """By how much the log likelihood at 0, and at 1, is below its maximum.

    Parameters
    ----------
    counts : Counts
        Plain numbers.
    priors : Priors
        One for each unknown.
    found : Posterior
        Of these.

    Returns
    -------
    tuple of float
        0 or negative. One good item among labels by verdict excludes 0, one bad item 1; where there
        is none, nothing does.
    """
    if counts.predictive:
        labels = counts.correct_n, counts.incorrect_n
        return tuple(-np.inf if n else 0.0 for n in labels)  # type: ignore[return-value]
    return posterior.depths(Beta(*priors.prevalence))


def near_an_end(draws: np.ndarray) -> bool:
    """Whether an end is close enough to be worth a look."""
    mean, sd = draws.mean(), draws.std()
    return bool(mean < FAR * sd or 1 - mean < FAR * sd)


def depths_in_draws(draws: np.ndarray, prior: BetaPrior) -> tuple[float, float]:
    """Read the same off draws: how dense they are at the ends, in relation to the prior."""
    from scipy.special import betainc

    edges = np.linspace(0, 1, int(np.clip(np.ceil(3 / draws.std()), 3, 2000)) + 1)
    below, above = betainc(*prior, edges), betainc(prior.beta, prior.alpha, 1 - edges)
    believed = np.maximum(np.diff(below), -np.diff(above))  # of next to 1 differences are nothing
    held = np.histogram(draws, edges)[0] / np.maximum(believed, np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        first, last = np.log(held[[0, -1]] / held.max())
    return float(first), float(last)


def extended(
    ends: tuple[float, float], depths: tuple[float, ...], ci_prob: float
) -> tuple[float, float]:
    """Move an end to 0 or 1 where the likelihood there is not far below its maximum.

    Parameters
    ----------
    ends : tuple of float
        Of an equal-tailed interval.
    depths : tuple of float
        By how much the log likelihood at 0, and at 1, is below its maximum.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    tuple of float
        Low and high.
    """
    at_0, at_1 = (depth > -(z_score(ci_prob) ** 2) / 2 for depth in depths)
    return (0.0 if at_0 else ends[0]), (1.0 if at_1 else ends[1])
