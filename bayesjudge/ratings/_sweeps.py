"""Compiled sweeps of the Gibbs samplers: of one source's items, and of people's with a judge's.

The model of a judge is that of `bayesjudge.ratings.tracking`. Functions that are called for each
item take plain arrays: what is taken out of a tuple or a larger array there costs more than a draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.compiled import compile_function, jitable

#: Metropolis steps of a judge's unknowns in a sweep, and the share that follow other chains.
STEPS, FOLLOWING = 8, 0.7
#: Standard deviations from their prior's median that logarithms of the concentration may reach.
FARTHEST = 5.0
#: Log odds of u and of w that are not exceeded: further, 1 minus a number loses its digits.
MOST_LOG_ODDS = 20.0


class Side(NamedTuple):
    """A source's ratings, one by one, and the sets that may be behind each type of rating.

    Types are those of `split_ratings`, and then each response set, shown for certain.
    """

    start: np.ndarray  #: where each item's ratings begin, shape (n_items + 1,)
    kind: np.ndarray  #: type of each rating
    behind_start: np.ndarray  #: where the sets of each type begin, shape (n_types + Q + 1,)
    behind: np.ndarray  #: sets behind each type
    chance: np.ndarray  #: of the type given each of them, shape (n_draws, len(behind))

    def of(self, draws: Any) -> Side:
        """Given some of the draws."""
        return self._replace(chance=self.chance[draws])


class Pairs(NamedTuple):
    """State of the chains: what is drawn of people and of a judge."""

    theta: np.ndarray  #: people's shares, shape (n_chains, n_items, Q)
    xi: np.ndarray  #: the judge's own
    rho: np.ndarray  #: shape (n_chains, Q)
    unknowns: np.ndarray  #: log odds of u and of w, logarithm of kappa, shape (n_chains, 3)
    n_own: np.ndarray  #: ratings of each set from the judge's own shares, shape of `theta`


def side_of(certain: np.ndarray, counts: np.ndarray, seen: np.ndarray) -> Side:
    """List ratings of shapes (n_items, Q), (n_items, n_types); `seen` is (n_draws, n_types, Q)."""
    both = np.concatenate([counts, certain], axis=1).astype(np.int64)
    (n_items, n_kinds), (n_draws, n_types, q) = both.shape, seen.shape
    at, behind = np.nonzero(np.concatenate([seen.any(axis=0), np.eye(q, dtype=bool)]))
    uncertain = at < n_types
    chance = [seen[:, at[uncertain], behind[uncertain]], np.ones((n_draws, q))]
    return Side(
        start=np.concatenate([[0], np.cumsum(both.sum(axis=1))]),
        kind=np.repeat(np.tile(np.arange(n_kinds), n_items), both.ravel()),
        behind_start=np.searchsorted(at, np.arange(n_kinds + 1)),
        behind=behind,
        chance=np.concatenate(chance, axis=1),
    )


# One source ---------------------------------------------------------------------------------------


@jitable
def _pick(rng, added, n):
    """Draw a position by weights that were added up."""
    x, at = rng.random() * added[n - 1], 0
    for i in range(n - 1):
        at += added[i] <= x
    return at


@jitable
def _count_sets(rng, first, end, kind, behind_start, behind, chance, share, added, counts):
    """Draw the sets of ratings `first` to `end` of an item, given its shares; add to `counts`."""
    for r in range(first, end):
        start = behind_start[kind[r]]
        n = behind_start[kind[r] + 1] - start
        v = behind[start]
        if n > 1:
            total = 0.0
            for b in range(n):
                total += chance[start + b] * share[behind[start + b]]
                added[b] = total
            v = behind[start + _pick(rng, added, n)]
        counts[v] += 1


@jitable
def _draw_dirichlet(rng, weights, share):
    """Draw shares, none of them exactly 0."""
    total = 0.0
    for v in range(weights.size):
        share[v] = max(rng.standard_gamma(weights[v]), 1e-300)
        total += share[v]
    for v in range(weights.size):
        share[v] /= total


def _items(rng, alpha, side, sweeps, shares):
    """Draw items' shares, of shape (n_draws, n_items, Q), by so many sweeps for each draw."""
    start, kind, behind_start, behind = side.start, side.kind, side.behind_start, side.behind
    added, weights = np.empty(alpha.shape[1]), np.empty(alpha.shape[1])
    for c in range(alpha.shape[0]):
        chance, mine, drawn = side.chance[c], alpha[c], shares[c]
        for i in range(start.size - 1):
            share = drawn[i]
            _draw_dirichlet(rng, mine, share)
            for _ in range(sweeps):
                weights[:] = mine
                _count_sets(
                    rng, start[i], start[i + 1], kind, behind_start, behind, chance, share, added,
                    weights,
                )  # fmt: skip
                _draw_dirichlet(rng, weights, share)


# People and a judge -------------------------------------------------------------------------------


@jitable
def _log_given_own(m, n_own, theta, rho, u, w, kappa):
    """Log probability of an item's ratings and of which are the judge's own."""
    log, have, mine = 0.0, 0, 0
    for v in range(m.size):
        if n_own[v] > 0:
            size = kappa * (w * theta[v] + (1 - w) * rho[v])
            log += math.lgamma(size + n_own[v]) - math.lgamma(size)
        have += m[v]
        mine += n_own[v]
    log += math.lgamma(kappa) - math.lgamma(kappa + mine)
    return log + mine * np.log(1 - u) + (have - mine) * np.log(u)


@jitable
def _log_density(m, n_own, theta, rho, x, centre, spread):
    """Of a judge's unknowns, given people's shares, rho, and which ratings are its own."""
    u, w, kappa = 1 / (1 + math.exp(-x[0])), 1 / (1 + math.exp(-x[1])), math.exp(x[2])
    # Beta(1/2, 3/2) of u and Beta(1/2, 1) of w, by their log odds
    value = 0.5 * np.log(u) + 1.5 * np.log(1 - u) + 0.5 * np.log(w) + np.log(1 - w)
    value -= 0.5 * ((x[2] - centre) / spread) ** 2
    for i in range(m.shape[0]):
        value += _log_given_own(m[i], n_own[i], theta[i], rho, u, w, kappa)
    return value


@jitable
def _propose(rng, unknowns, c, new):
    """Step by the difference of two other chains (ter Braak 2006), or by any length."""
    chains = unknowns.shape[0]
    if chains > 3 and rng.random() < FOLLOWING:
        a, b = int(rng.random() * (chains - 1)), int(rng.random() * (chains - 1))
        a, b = a + (a >= c), b + (b >= c)
        length = 1.0 if rng.random() < 0.5 else rng.random()
        for d in range(3):
            step = length * (unknowns[a, d] - unknowns[b, d])
            new[d] = unknowns[c, d] + step + 0.02 * rng.standard_normal()
    else:
        length = math.exp(-5 * rng.random())
        for d in range(3):
            new[d] = unknowns[c, d] + length * rng.standard_normal()


@jitable
def _draw_new(rng, n_own, v, theta, rho, w, kappa, held, besides):
    """Draw how many of a judge's own ratings of a set are new: people's, or from rho."""
    size = kappa * (w * theta[v] + (1 - w) * rho[v])
    for j in range(n_own):
        if rng.random() * (size + j) < size:
            if rng.random() * size < kappa * w * theta[v]:
                held[v] += 1
            else:
                besides[v] += 1


def _pairs(rng, alpha, people, judge, pairs, share, centre, spread):
    """Sweep once: draw everything, given the Dirichlet weights `share` of rho."""
    n_chains, n_items, q = pairs.theta.shape
    new, added, shown = np.empty(3), np.empty(q), np.empty(q)
    held, m = np.empty((n_items, q)), np.empty((n_items, q), np.int64)
    start, kind, behind_start, behind = people[:4]
    start_j, kind_j, behind_start_j, behind_j = judge[:4]
    for c in range(n_chains):
        theta, xi, rho, n_own = pairs.theta[c], pairs.xi[c], pairs.rho[c], pairs.n_own[c]
        x, chance, chance_j = pairs.unknowns[c], people.chance[c], judge.chance[c]
        u = 1 / (1 + math.exp(-x[0]))
        for i in range(n_items):
            held[i], m[i] = alpha[c], 0
            for v in range(q):
                shown[v] = u * theta[i, v] + (1 - u) * xi[i, v]
            _count_sets(
                rng, start[i], start[i + 1], kind, behind_start, behind, chance, theta[i], added,
                held[i],
            )  # fmt: skip
            _count_sets(
                rng, start_j[i], start_j[i + 1], kind_j, behind_start_j, behind_j, chance_j, shown,
                added, m[i],
            )  # fmt: skip
            for v in range(q):
                n_own[i, v] = rng.binomial(m[i, v], (1 - u) * xi[i, v] / shown[v])
        now = _log_density(m, n_own, theta, rho, x, centre, spread)
        for _ in range(STEPS):
            _propose(rng, pairs.unknowns, c, new)
            far = abs(new[2] - centre) > FARTHEST * spread
            if far or max(abs(new[0]), abs(new[1])) > MOST_LOG_ODDS:
                continue
            then = _log_density(m, n_own, theta, rho, new, centre, spread)
            if np.log(rng.random()) < then - now:
                now = then
                x[:] = new
        w, kappa = 1 / (1 + math.exp(-x[1])), math.exp(x[2])
        besides = share.copy()
        for i in range(n_items):
            for v in range(q):
                held[i, v] += m[i, v] - n_own[i, v]
                _draw_new(rng, n_own[i, v], v, theta[i], rho, w, kappa, held[i], besides)
            _draw_dirichlet(rng, held[i], theta[i])
        _draw_dirichlet(rng, besides, rho)
        for i in range(n_items):
            for v in range(q):
                shown[v] = kappa * (w * theta[i, v] + (1 - w) * rho[v]) + n_own[i, v]
            _draw_dirichlet(rng, shown, xi[i])


@cache
def compiled(name: str) -> Any:
    """Take one of these, compiled."""
    functions: dict[str, Callable[..., Any]] = {
        "items": _items,
        "pairs": _pairs,
    }
    return compile_function(functions[name], Path(__file__))
