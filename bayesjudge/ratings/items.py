"""Posteriors of single items: shares of response sets, profiles of answers, and prevalences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.draws import summarise_interval
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import TARGETS, Estimate, Quantity, Target
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings._gibbs import (
    dirichlet_weights,
    draw_shares,
    matrices,
    profile_of,
    spaced_draws,
)
from bayesjudge.ratings.metrics import Profile, prevalence_at
from bayesjudge.ratings.model import _ratings_of

if TYPE_CHECKING:
    from bayesjudge.core.fit import Fit


def item_shares(fit: Fit, *, draws: int = 400, random_seed: Any = 0) -> np.ndarray:
    """Draw each item's shares of stable response sets from their posterior.

    The model integrates them out; given its unknowns they are drawn by Gibbs sampling: each
    rating's stable response set given the shares, the shares given those. All ratings are used.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    draws : int, default 400
        Draws of the fit to use, evenly spaced.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    numpy.ndarray, shape (draws, n_sources, n_items, Q)
        Sums to 1 over response sets.

    Raises
    ------
    InputError
        If more draws are asked for than the fit has.
    """
    ratings = _ratings_of(fit)
    taken = spaced_draws(fit, draws)
    choice, error = matrices(fit, taken)
    rng = rng_of(random_seed)
    return draw_shares(ratings, dirichlet_weights(fit, taken), choice, error, rng)


def item_profiles(fit: Fit, *, draws: int = 400, random_seed: Any = 0) -> dict[str, Profile]:
    """Draw how raters would answer each item: shares of choices, and of endorsements.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    draws : int, default 400
        Draws of the fit to use.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    dict of str to Profile
        By source; arrays of shape (draws, n_items, K). Choices include raters' errors,
        endorsements are those of stable response sets.

    Raises
    ------
    InputError
        If more draws are asked for than the fit has.
    """
    shares = item_shares(fit, draws=draws, random_seed=random_seed)
    choice, error = matrices(fit, spaced_draws(fit, draws))
    return {
        name: profile_of(fit.data, s, shares[:, s], choice, error)
        for s, name in enumerate(fit.data.sources)
    }


def prevalences(
    fit: Fit,
    *,
    cutoffs: Sequence[float] = (0.3, 0.5, 0.7),
    ci_prob: float = 0.95,
    target: Target = "population",
    draws: int = 400,
    random_seed: Any = 0,
) -> Estimate:
    """Estimate the share of items whose positive option enough raters would accept.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    cutoffs : sequence of float
        Shares of raters that are enough.
    ci_prob : float, default 0.95
        Probability that an interval should hold.
    target : {"population", "items"}
        Items that the answer is about: the process that they come from, or these very items, which
        takes draws of each.
    draws : int, default 400
        Draws of the fit to use, if the answer is about these items.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Estimate
        ``prevalence`` by cutoff and source.

    Raises
    ------
    InputError
        If a setting is out of range, or more draws are asked for than the fit has.
    """
    check_ci_prob(ci_prob)
    with checking("prevalences") as require:
        require(target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        wrong = [c for c in cutoffs if not 0 < c <= 1]
        require(not wrong, f"cutoffs must lie in (0, 1], got {wrong}")
    rows, ratings, profiles = {}, _ratings_of(fit), None
    if target == "items":
        profiles = item_profiles(fit, draws=draws, random_seed=random_seed)
    for name in ratings.sources:
        for cutoff in cutoffs:
            drawn = _prevalence_draws(fit, name, cutoff, profiles)
            rows[cutoff, name] = (drawn.mean(), *summarise_interval(drawn, ci_prob, "eti"))
    return Estimate(
        {"prevalence": Quantity.of_rows(rows, ("cutoff", "source"))},
        method=fit.method,
        ci_prob=ci_prob,
        source=fit.source,
        interval="equal-tailed",
        assumptions=fit.assumptions,
        cautions=fit.cautions,
        target=target,
    )


def _prevalence_draws(
    fit: Fit, source: str, cutoff: float, profiles: dict[str, Profile] | None
) -> np.ndarray:
    """Draws of the prevalence among these items, or in the population if there are no profiles.

    An item's share of a Dirichlet is Beta by aggregation, so that the population's is a tail of it.
    """
    from scipy.special import betainc

    k = fit.data.positive_index
    if profiles is not None:
        return prevalence_at(profiles[source], positive=k, cutoff=cutoff)
    s = fit.data.source(source)
    mean, concentration = fit.draws("endorsement")[:, s, k], fit.draws("concentration")[:, s]
    return betainc(concentration * (1 - mean), concentration * mean, 1 - cutoff)
