"""Gibbs steps for the shares of single items, given the unknowns of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.compiled import compiling
from bayesjudge.core.errors import expect
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.metrics import Profile
from bayesjudge.ratings.response_sets import error_matrix

if TYPE_CHECKING:
    from bayesjudge.core.fit import Fit

#: Share of the starting point that may be left in an item's draw.
LEFT_OVER = 0.02
MOST_SWEEPS = 200
#: Draws whose items are held at a time.
BLOCK = 200


# Unknowns of a fit --------------------------------------------------------------------------------


def spaced_draws(fit: Fit, draws: int) -> np.ndarray:
    """Positions of evenly spaced draws of a fit, chains joined."""
    n = len(fit.draws("concentration"))
    expect("draws of a fit", 1 <= draws <= n, f"must lie between 1 and {n}", draws=draws)
    return np.linspace(0, n - 1, draws).astype(int)


def dirichlet_weights(fit: Fit, taken: np.ndarray) -> np.ndarray:
    """Dirichlet weights of each source's items, shape (n_draws, n_sources, Q)."""
    return fit.draws("concentration")[taken][..., None] * fit.draws("set_share")[taken]


def matrices(fit: Fit, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """F of each draw, shape (n_draws, n_sources, K, Q), and E, None if nobody errs."""
    choice = fit.draws("choice")[taken]
    if "error_rate" not in fit.idata["posterior"]:
        return choice, None
    ratings = fit.data
    error = np.tile(np.eye(len(ratings.sets)), (len(taken), len(ratings.sources), 1, 1))
    rates, skews = fit.draws("error_rate")[taken], fit.draws("skew")[taken]
    for i, (rate, skew) in enumerate(zip(rates, skews, strict=True)):
        error[i, 0] = error_matrix(ratings.members, rate, skew, ratings.positive_index)
    return choice, error


def profile_of(
    ratings: Ratings, s: int, shares: np.ndarray, choice: np.ndarray, error: np.ndarray | None
) -> Profile:
    """Compute the expected answers of source `s`, from drawn shares of stable response sets."""
    observed = shares if error is None else shares @ np.swapaxes(error[:, s], -1, -2)
    return Profile(observed @ np.swapaxes(choice[:, s], -1, -2), shares @ ratings.members.T)


# Steps --------------------------------------------------------------------------------------------


def split_ratings(
    ratings: Ratings, s: int, choice: np.ndarray, error: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratings of source `s` that show the stable set, the other ratings, and their probabilities.

    Shapes (n_items, Q), (n_items, n_types) and (n_draws, n_types, Q). A choice always leaves the
    set open; a response set does so if the rater may err, which judges never do.
    """
    chosen, given = ratings.unpaired[s], ratings.endorsed[s]
    if error is None or s > 0:
        return given.astype(float), chosen, choice[:, s]
    seen = np.concatenate([choice[:, s] @ error[:, s], error[:, s]], axis=1)
    return np.zeros(given.shape), np.concatenate([chosen, given], axis=1), seen


def sweeps_to_forget(n: int, concentration: float) -> int:
    """Sweeps after which little is left of an item's starting point, if it has `n` ratings."""
    kept = n / (n + max(concentration, 0.1))  # of the starting point, after one sweep
    return int(np.clip(np.ceil(np.log(LEFT_OVER) / np.log(max(kept, 1e-9))), 2, MOST_SWEEPS))


def draw_dirichlet(rng: np.random.Generator, alpha: np.ndarray) -> np.ndarray:
    """Draw shares, none of them exactly 0."""
    drawn = np.maximum(rng.standard_gamma(alpha), 1e-300)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def draw_shares(
    ratings: Ratings,
    alpha: np.ndarray,
    choice: np.ndarray,
    error: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw every item's shares once for each draw of the Dirichlet weights `alpha`."""
    from bayesjudge.ratings._sweeps import compiled, side_of

    n_draws, n_sources, q = alpha.shape
    out = np.empty((n_sources, n_draws, ratings.chosen.shape[1], q))
    for s in range(n_sources):
        certain, counts, seen = split_ratings(ratings, s, choice, error)
        n, weights = int(counts.sum(axis=1).max(initial=0)), np.ascontiguousarray(alpha[:, s])
        sweeps = sweeps_to_forget(n, float(np.median(weights.sum(axis=1)))) if n else 1
        with compiling():
            compiled("items")(rng, weights, side_of(certain, counts, seen), sweeps, out[s])
    return out.swapaxes(0, 1)


def draw_endorsements(fit: Fit, rng: np.random.Generator) -> np.ndarray:
    """Endorsements averaged over these items, for every draw: (n_draws, n_sources, K)."""
    n = len(fit.draws("concentration"))
    blocks = []
    for start in range(0, n, BLOCK):  # every item's shares of all draws at once are many
        taken = np.arange(start, min(start + BLOCK, n))
        choice, error = matrices(fit, taken)
        shares = draw_shares(fit.data, dirichlet_weights(fit, taken), choice, error, rng)
        blocks.append(shares.mean(axis=2) @ fit.data.members.T)
    return np.concatenate(blocks)
