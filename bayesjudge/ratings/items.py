"""From a fit to its items: each item's response sets, and what judges are worth on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.ratings.aggregation import Profile
from bayesjudge.ratings.algebra import error_matrix
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.gibbs import (
    draw_dirichlet,
    latent_sets,
    sweeps_to_forget,
    what_is_seen,
)


def item_shares(fit: Fit, *, draws: int = 400, random_seed: Any = 0) -> np.ndarray:
    """Draw each item's shares of stable response sets from their posterior.

    The fit sums them out; given its unknowns they are drawn back by Gibbs sampling: each rating's
    stable response set given the shares, the shares given those. All ratings are used.

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
        Where more draws are asked for than the fit has.
    """
    taken = taken_from(fit, draws)
    alpha = concentrations(fit, taken)
    choice, error = matrices(fit, taken)
    return draw_shares(fit.data, alpha, choice, error, np.random.default_rng(random_seed))


def taken_from(fit: Fit, draws: int) -> np.ndarray:
    """Choose evenly spaced draws of a fit.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    draws : int
        How many.

    Returns
    -------
    numpy.ndarray of int, shape (draws,)
        Positions among all draws, chains joined.

    Raises
    ------
    InputError
        Where more are asked for than the fit has.
    """
    n = len(fit.draws("pool_size"))
    with checking("draws of a fit") as require:
        require(1 <= draws <= n, f"draws must lie between 1 and {n}, got {draws}")
    return np.linspace(0, n - 1, draws).astype(int)


def concentrations(fit: Fit, taken: np.ndarray) -> np.ndarray:
    """Give the concentrations of each source's shares over items.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    taken : numpy.ndarray of int, shape (n_draws,)
        Which draws.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_sources, Q)
        Pool size times mean share.
    """
    return fit.draws("pool_size")[taken][..., None] * fit.draws("set_share")[taken]


def draw_shares(
    ratings: Ratings,
    alpha: np.ndarray,
    choice: np.ndarray,
    error: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw items' shares given concentrations and matrices.

    Parameters
    ----------
    ratings : Ratings
        What was seen.
    alpha : numpy.ndarray, shape (n_draws, n_sources, Q)
        Concentrations.
    choice : numpy.ndarray, shape (n_draws, n_sources, K, Q)
        Forced-choice matrices F.
    error : numpy.ndarray, shape (n_draws, n_sources, Q, Q), or None
        Error matrices E; None where nobody errs.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_sources, n_items, Q)
        One draw for each draw of the concentrations.
    """
    n_draws, n_sources, q = alpha.shape
    out = np.empty((n_draws, n_sources, ratings.chosen.shape[1], q))
    for s in range(n_sources):
        fixed, counts, seen = what_is_seen(ratings, s, choice, error)
        n = int(counts.sum(axis=1).max(initial=0))
        sweeps = sweeps_to_forget(n, float(np.median(alpha[:, s].sum(axis=1))))
        step = max(1, int(4e6 / (counts.size * q)))
        for start in range(0, n_draws, step):
            at = slice(start, start + step)
            out[at, s] = _gibbs(alpha[at, s], fixed, counts, seen[at], sweeps, rng)
    return out


def _gibbs(
    alpha: np.ndarray,
    fixed: np.ndarray,
    counts: np.ndarray,
    seen: np.ndarray,
    sweeps: int,
    rng: np.random.Generator,
) -> np.ndarray:
    first = alpha[:, None, :] + fixed
    shares = draw_dirichlet(rng, first)
    for _ in range(sweeps if counts.any() else 0):
        shares = draw_dirichlet(rng, first + latent_sets(shares, counts, seen, rng))
    return shares


def matrices(fit: Fit, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Give the forced-choice and error matrices of some draws.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    taken : numpy.ndarray of int, shape (n_draws,)
        Which draws.

    Returns
    -------
    choice : numpy.ndarray, shape (n_draws, n_sources, K, Q)
        F.
    error : numpy.ndarray, shape (n_draws, n_sources, Q, Q), or None
        E; None where nobody errs.
    """
    choice = fit.draws("choice")[taken]
    if fit.priors.error is None:
        return choice, None
    ratings = fit.data
    q = len(ratings.sets)
    error = np.tile(np.eye(q), (len(taken), len(ratings.sources), 1, 1))
    rates, skews = fit.draws("error_rate")[taken], fit.draws("skew")[taken]
    for i, (rate, skew) in enumerate(zip(rates, skews, strict=True)):
        error[i, 0] = error_matrix(ratings.members, rate, skew, ratings.positive_index)
    return choice, error


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
        Where more draws are asked for than the fit has.
    """
    shares = item_shares(fit, draws=draws, random_seed=random_seed)
    choice, error = matrices(fit, taken_from(fit, draws))
    return {
        name: profile_of(fit.data, s, shares[:, s], choice, error)
        for s, name in enumerate(fit.data.sources)
    }


def profile_of(
    ratings: Ratings, s: int, shares: np.ndarray, choice: np.ndarray, error: np.ndarray | None
) -> Profile:
    """Turn drawn shares of one source into how its raters would answer.

    Parameters
    ----------
    ratings : Ratings
        For its response sets.
    s : int
        Position of the source.
    shares : numpy.ndarray, shape (n_draws, n_items, Q)
        Of stable response sets.
    choice, error : numpy.ndarray
        From `matrices`.

    Returns
    -------
    Profile
        Arrays of shape (n_draws, n_items, K).
    """
    observed = shares if error is None else shares @ np.swapaxes(error[:, s], -1, -2)
    return Profile(observed @ np.swapaxes(choice[:, s], -1, -2), shares @ ratings.members.T)
