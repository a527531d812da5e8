"""From a fit to its items: each item's response sets, and what judges are worth on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.ratings.aggregation import Profile
from bayesjudge.ratings.algebra import error_matrix
from bayesjudge.ratings.data import Ratings

#: Share of the starting point that may be left in an item's draw.
LEFT_OVER = 0.02
MOST_SWEEPS = 200


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
    share, size = fit.draws("set_share"), fit.draws("pool_size")
    with checking("item_shares") as require:
        require(1 <= draws <= len(share), f"draws must lie between 1 and {len(share)}, got {draws}")
    taken = np.linspace(0, len(share) - 1, draws).astype(int)
    rng = np.random.default_rng(random_seed)
    alpha = size[taken][..., None] * share[taken]
    choice, error = _matrices(fit, taken)
    return draw_shares(fit.data, alpha, choice, error, rng)


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
        chosen, given = ratings.alone[s], ratings.endorsed[s]
        if error is None:
            fixed, counts, seen = given.astype(float), chosen, choice[:, s]
        else:
            fixed, counts = np.zeros(given.shape), np.concatenate([chosen, given], axis=1)
            seen = np.concatenate([choice[:, s] @ error[:, s], error[:, s]], axis=1)
        n = counts.sum(axis=1).max(initial=0)
        # what is left of the start after a sweep is about n / (n + alpha)
        kept = n / (n + max(float(np.median(alpha[:, s].sum(axis=1))), 0.1))
        sweeps = int(np.clip(np.ceil(np.log(LEFT_OVER) / np.log(max(kept, 1e-9))), 2, MOST_SWEEPS))
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
    types = np.flatnonzero(counts.sum(axis=0))
    shares = _dirichlet(rng, first)
    for _ in range(sweeps if types.size else 0):
        held = first.copy()
        for t in types:
            items = np.flatnonzero(counts[:, t])
            chance = shares[:, items] * seen[:, None, t]
            chance = chance / chance.sum(axis=-1, keepdims=True)
            held[:, items] += rng.multinomial(counts[items, t], chance)
        shares = _dirichlet(rng, held)
    return shares


def _dirichlet(rng: np.random.Generator, alpha: np.ndarray) -> np.ndarray:
    drawn = np.maximum(rng.standard_gamma(alpha), 1e-300)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def _matrices(fit: Fit, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
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
    taken = np.linspace(0, len(fit.draws("pool_size")) - 1, draws).astype(int)
    choice, error = _matrices(fit, taken)
    made = {}
    for s, name in enumerate(fit.data.sources):
        observed = shares[:, s]
        if error is not None:
            observed = observed @ np.swapaxes(error[:, s], -1, -2)
        chosen = observed @ np.swapaxes(choice[:, s], -1, -2)
        made[name] = Profile(chosen, shares[:, s] @ fit.data.members.T)
    return made
