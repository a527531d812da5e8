"""Steps of Gibbs sampling that items by themselves, and items tied to people's, have in common."""

from __future__ import annotations

import numpy as np

from bayesjudge.ratings.data import Ratings

#: Share of the starting point that may be left in an item's draw.
LEFT_OVER = 0.02
MOST_SWEEPS = 200


def what_is_seen(
    ratings: Ratings, s: int, choice: np.ndarray, error: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tell one source's ratings whose stable set is certain from those that leave it open.

    Parameters
    ----------
    ratings : Ratings
        What was seen.
    s : int
        Position of the source.
    choice : numpy.ndarray, shape (n_draws, n_sources, K, Q)
        Forced-choice matrices F.
    error : numpy.ndarray, shape (n_draws, n_sources, Q, Q), or None
        Error matrices E; None where nobody errs. Judges never do.

    Returns
    -------
    certain : numpy.ndarray, shape (n_items, Q)
        Response sets that were given without error.
    counts : numpy.ndarray of int, shape (n_items, n_types)
        The other ratings: choices, and the sets of people who may err.
    seen : numpy.ndarray, shape (n_draws, n_types, Q)
        Probability of each type given the stable set.
    """
    chosen, given = ratings.alone[s], ratings.endorsed[s]
    if error is None or s > 0:
        return given.astype(float), chosen, choice[:, s]
    seen = np.concatenate([choice[:, s] @ error[:, s], error[:, s]], axis=1)
    return np.zeros(given.shape), np.concatenate([chosen, given], axis=1), seen


def sweeps_to_forget(n: int, size: float) -> int:
    """Count the Gibbs sweeps after which little is left of an item's starting point.

    Parameters
    ----------
    n : int
        Ratings of the item.
    size : float
        Concentration of its shares; after a sweep about ``n / (n + size)`` is left.

    Returns
    -------
    int
        From 2 to `MOST_SWEEPS`.
    """
    kept = n / (n + max(size, 0.1))
    return int(np.clip(np.ceil(np.log(LEFT_OVER) / np.log(max(kept, 1e-9))), 2, MOST_SWEEPS))


def latent_sets(
    shares: np.ndarray, counts: np.ndarray, seen: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the stable response sets behind ratings.

    Parameters
    ----------
    shares : numpy.ndarray, shape (n_draws, n_items, Q)
        Shares of stable response sets.
    counts : numpy.ndarray of int, shape (n_items, n_types)
        Ratings by type.
    seen : numpy.ndarray, shape (n_draws, n_types, Q)
        Probability of each type given the set.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_items, Q)
        How many ratings come from each set.
    """
    held = np.zeros(shares.shape)
    for t in np.flatnonzero(counts.sum(axis=0)):
        items = np.flatnonzero(counts[:, t])
        behind = np.flatnonzero(seen[:, t].any(axis=0))  # a draw costs by the set
        chance = shares[:, items[:, None], behind] * seen[:, None, t, behind]
        chance = chance / chance.sum(axis=-1, keepdims=True)
        held[:, items[:, None], behind] += rng.multinomial(counts[items, t], chance)
    return held


def draw_dirichlet(rng: np.random.Generator, alpha: np.ndarray) -> np.ndarray:
    """Draw shares, none of them exactly 0.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of chance.
    alpha : numpy.ndarray, shape (..., Q)
        Concentrations.

    Returns
    -------
    numpy.ndarray, shape (..., Q)
        Sums to 1 over the last axis.
    """
    drawn = np.maximum(rng.standard_gamma(alpha), 1e-300)
    return drawn / drawn.sum(axis=-1, keepdims=True)
