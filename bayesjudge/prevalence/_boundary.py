"""Which ends of [0, 1] the data do not exclude: what boundary-extended intervals reach."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from bayesjudge.core.fit import Fit
from bayesjudge.core.intervals import z_score
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.closed_form import OVERALL
from bayesjudge.prevalence.model import Priors
from bayesjudge.prevalence._quadrature import posterior_of
from bayesjudge.prevalence._quadrature import Beta, NotIntegrated, Posterior

#: A prevalence whose posterior mean is so many standard deviations from an end excludes it.
FAR = 4.0
NEVER = (-np.inf, -np.inf)


def reached(fit: Fit, *, ci_prob: float = 0.95) -> dict[str, tuple[bool, bool]]:
    """Tell which ends of [0, 1] an interval of the prevalence should reach.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.fit`.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    dict of str to tuple of bool
        By row of ``fit.estimate()``, whether 0 and whether 1 is within: where the likelihood there
        is more than exp(-z**2 / 2) of its maximum, with z the normal quantile of `ci_prob`; the
        likelihoods of strata multiply. It is integrated over the judge's rates by quadrature;
        where rates are pooled it is read off the draws.

    Raises
    ------
    InputError
        Where `ci_prob` is out of range.
    """
    drop = z_score(ci_prob) ** 2 / 2
    counts, priors = fit.data, fit.priors
    if isinstance(counts, ClassCounts):
        return {}
    draws = np.atleast_2d(fit.draws("prevalence").T)
    pooled = fit.options.get("pooling") != "separate"
    found: dict[str, tuple[float, float]] = {}
    for i, name in enumerate(counts.systems or ("",)):
        row = f"prevalence[{name}]" if counts.systems else "prevalence"
        if not _near(draws[i]):
            found[row] = NEVER
        elif pooled:  # also a system that has no labels of its own
            found[row] = _seen_in(draws[i], priors.prevalence)
        else:
            one = counts.system(name) if counts.systems else counts
            found[row] = _by_quadrature(one, priors)
    if counts.dim == "stratum":
        found[OVERALL] = tuple(np.sum(list(found.values()), axis=0).tolist())
    return {row: (at_0 > -drop, at_1 > -drop) for row, (at_0, at_1) in found.items()}


def depths_of(counts: Counts, priors: Priors, found: Posterior) -> tuple[float, float]:
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
    return found.depths(Beta(*priors.prevalence))


def _by_quadrature(counts: Counts, priors: Priors) -> tuple[float, float]:
    try:
        return depths_of(counts, priors, posterior_of(counts, priors))
    except NotIntegrated:
        return NEVER


def _near(draws: np.ndarray) -> bool:
    """Whether an end is close enough to be worth a look."""
    mean, sd = draws.mean(), draws.std()
    return bool(mean < FAR * sd or 1 - mean < FAR * sd)


def _seen_in(draws: np.ndarray, prior: BetaPrior) -> tuple[float, float]:
    """Read the same off draws: how dense they are at the ends, in relation to the prior."""
    edges = np.linspace(0, 1, int(np.clip(np.ceil(3 / draws.std()), 3, 2000)) + 1)
    held = np.histogram(draws, edges)[0] / np.diff(betainc(*prior, edges))
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
