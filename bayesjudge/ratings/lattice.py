r"""The exact likelihood of an item's ratings, with its shares of response sets integrated out.

An item's shares are Dirichlet, and each of its ratings is of a type t (an option chosen, a set
given) with probability :math:`\sum_v B_{tv}\theta_v`. Free shares for each item do not mix under
NUTS: forced choices leave directions that only the prior fills. Summed out, none are left.

Since :math:`\sum_m (a)_m y^m / m! = (1-y)^{-a}`, the probability of counts c is

.. math:: \frac{\prod_t c_t!}{(\alpha_0)_n}\,[z^c]\,H(z), \qquad
          H(z) = \prod_v \Bigl(1 - \sum_t B_{tv} z_t\Bigr)^{-\alpha_v},

a coefficient of a power series. Euler's operator on log H gives the recurrence

.. math:: n\,h_c = \sum_{0<e\le c} q_e\, h_{c-e}, \qquad
          q_e = \frac{|e|!}{\prod_t e_t!} \sum_v \alpha_v \prod_t B_{tv}^{e_t},

with positive terms only, so that nothing cancels. The counts below those of any item form a
lattice, which items share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import factorial

import numpy as np
from scipy.special import gammaln

#: Products q * h that one evaluation may cost. NUTS evaluates some hundred thousand times.
MOST_PAIRS = 30_000
#: Ratings an item to try, most first, until the cost is bearable.
THINNED_TO = (20, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Which coefficient is made of which, those of few ratings first.

    Parameters
    ----------
    layout : numpy.ndarray of int, shape (n_coefficients, 4)
        Of each coefficient: its group (which concentrations it uses), the kind of its last rating
        as ``source * n_types + type``, the coefficient without that rating, and how many ratings
        it is about.
    ways : numpy.ndarray, shape (n_coefficients,)
        |e|! / prod e_t!.
    pair_start : numpy.ndarray of int, shape (n_coefficients + 1,)
        Where the pairs of each coefficient start.
    pairs : numpy.ndarray of int, shape (n_pairs, 2)
        Coefficients whose q and h are multiplied.
    source : numpy.ndarray, shape (n_groups,)
        Source of each group.
    folded : numpy.ndarray, shape (n_groups, Q)
        Response sets that were seen without error, which add to the concentrations.
    pattern : numpy.ndarray, shape (n_patterns,)
        The coefficient of each distinct pattern of ratings.
    weight : numpy.ndarray, shape (n_patterns,)
        How many items have it.
    constant : numpy.ndarray, shape (n_patterns,)
        log prod c_t!.
    counts : numpy.ndarray, shape (n_patterns, n_types)
        The pattern: choices of each option, then response sets.
    """

    layout: np.ndarray
    ways: np.ndarray
    pair_start: np.ndarray
    pairs: np.ndarray
    source: np.ndarray
    folded: np.ndarray
    pattern: np.ndarray
    weight: np.ndarray
    constant: np.ndarray
    counts: np.ndarray

    @property
    def pattern_group(self) -> np.ndarray:
        """Group of each pattern."""
        return self.layout[self.pattern, 0]

    def log_likelihood(self, alpha: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Log probability of each pattern's ratings in one order.

        Parameters
        ----------
        alpha : numpy.ndarray, shape (n_sources, Q)
            Concentrations.
        seen : numpy.ndarray, shape (n_sources, n_types, Q)
            B: probability of each type of rating given the stable response set.

        Returns
        -------
        numpy.ndarray, shape (n_patterns,)
            In natural logarithms.
        """
        flat = seen.reshape(-1, seen.shape[-1])
        mine = alpha[self.source] + self.folded
        group, kind, parent, size = self.layout.T
        target = np.repeat(np.arange(size.size), np.diff(self.pair_start))
        h, q = np.ones(size.size), np.zeros(size.size)
        path = np.ones((size.size, alpha.shape[1]))
        for n in range(1, size.max() + 1):
            at = size == n
            path[at] = path[parent[at]] * flat[kind[at]]
            q[at] = self.ways[at] * (path[at] * mine[group[at]]).sum(axis=1)
            mine_too = size[target] == n
            terms = q[self.pairs[mine_too, 0]] * h[self.pairs[mine_too, 1]]
            h[at] = np.bincount(target[mine_too], terms, minlength=size.size)[at] / n
        g = self.pattern_group
        total = self.counts.sum(axis=1)
        first = alpha[self.source[g]]
        held = (gammaln(first + self.folded[g]) - gammaln(first)).sum(axis=1)
        every = gammaln(first.sum(axis=1) + total) - gammaln(first.sum(axis=1))
        return np.log(h[self.pattern]) + self.constant + held - every


def lattice_of(
    chosen: np.ndarray, endorsed: np.ndarray, *, fold: bool, support: np.ndarray
) -> Lattice:
    """Lay out the coefficients that these ratings need.

    Parameters
    ----------
    chosen : numpy.ndarray, shape (n_sources, n_items, K)
        Choices.
    endorsed : numpy.ndarray, shape (n_sources, n_items, Q)
        Response sets.
    fold : bool
        Response sets are given without error, so that they add to the concentrations.
    support : numpy.ndarray of bool, shape (n_types, Q)
        Which stable set can lead to which type of rating.

    Returns
    -------
    Lattice
        Of all sources together.
    """
    n_sources, _, k = chosen.shape
    q = endorsed.shape[-1]
    rows = np.concatenate([chosen, endorsed], axis=-1)
    sources = np.repeat(np.arange(n_sources), rows.shape[1])
    table = np.column_stack([sources, rows.reshape(-1, k + q)])
    table = table[table[:, 1:].sum(axis=1) > 0]
    distinct, weight = np.unique(table, axis=0, return_counts=True)
    open_, folded = distinct[:, 1:].copy(), np.zeros((len(distinct), q), int)
    if fold:
        folded, open_[:, k:] = open_[:, k:].copy(), 0
    groups, group_of = np.unique(
        np.column_stack([distinct[:, :1], folded]), axis=0, return_inverse=True
    )
    layout = _layout(open_, group_of.ravel(), groups[:, 0], support)
    return Lattice(
        **layout,
        source=groups[:, 0],
        folded=groups[:, 1:],
        weight=weight,
        constant=gammaln(open_ + 1).sum(axis=1),
        counts=distinct[:, 1:],
    )


def _layout(
    patterns: np.ndarray, group_of: np.ndarray, source: np.ndarray, support: np.ndarray
) -> dict:
    """Enumerate every (group, counts below those of a pattern), in order of level."""
    n_types = patterns.shape[1]
    below: dict[tuple[int, tuple[int, ...]], None] = {}
    for row, g in zip(patterns.tolist(), group_of.tolist(), strict=True):
        for counts in product(*(range(n + 1) for n in row)):
            below[(g, counts)] = None
    for g in range(len(source)):
        below[(g, (0,) * n_types)] = None
    order = sorted(below, key=lambda key: (sum(key[1]), key))
    place = {key: i for i, key in enumerate(order)}
    layout, ways = np.zeros((len(order), 4), int), np.ones(len(order))
    pairs: list[tuple[int, int]] = []
    pair_start = np.zeros(len(order) + 1, int)
    possible: dict[tuple[int, ...], bool] = {}
    for i, (g, counts) in enumerate(order):
        n = sum(counts)
        layout[i, 0], layout[i, 3] = g, n
        if n:
            last = max(t for t in range(n_types) if counts[t])
            less = (*counts[:last], counts[last] - 1, *counts[last + 1 :])
            layout[i, 1:3] = source[g] * n_types + last, place[(g, less)]
            ways[i] = factorial(n) / np.prod([float(factorial(c)) for c in counts])
        for part in product(*(range(c + 1) for c in counts)):
            if part not in possible:
                used = [t for t in range(n_types) if part[t]]
                possible[part] = bool(used) and bool(support[used].all(axis=0).any())
            if possible[part]:
                rest = tuple(c - p for c, p in zip(counts, part, strict=True))
                pairs.append((place[(g, part)], place[(g, rest)]))
        pair_start[i + 1] = len(pairs)
    at = [
        place[(int(g), tuple(row))]
        for row, g in zip(patterns.tolist(), group_of.tolist(), strict=True)
    ]
    return {
        "layout": layout,
        "ways": ways,
        "pair_start": pair_start,
        "pairs": np.array(pairs, int).reshape(-1, 2),
        "pattern": np.array(at, int),
    }


def cost(chosen: np.ndarray, endorsed: np.ndarray, *, fold: bool) -> int:
    """Bound the number of pairs that `lattice_of` would lay out, without laying them out.

    Parameters
    ----------
    chosen, endorsed : numpy.ndarray
        As in `lattice_of`.
    fold : bool
        As in `lattice_of`.

    Returns
    -------
    int
        Pairs, before those are left out that coincide.
    """
    n_items = chosen.shape[0] * chosen.shape[1]
    rows = np.concatenate([chosen, endorsed], axis=-1).reshape(n_items, -1).astype(float)
    sources = np.repeat(np.arange(chosen.shape[0]), chosen.shape[1])
    table = np.unique(np.column_stack([sources, rows]), axis=0)
    k = chosen.shape[-1]
    groups = np.unique(table[:, [0, *range(1 + k, table.shape[1])]], axis=0) if fold else None
    own = table[:, 1 : 1 + k] if fold else table[:, 1:]
    boxes = np.prod((own + 1) * (own + 2) / 2, axis=1)
    if groups is not None and len(groups) <= chosen.shape[0]:
        # nobody gave a set: all patterns of a source share one simplex of counts
        n = own.sum(axis=1).max()
        shared = np.prod([(n + j) / j for j in range(1, 2 * k + 1)])
        return int(min(boxes.sum(), chosen.shape[0] * shared))
    return int(min(boxes.sum(), 1e12))


def thinned(
    chosen: np.ndarray, endorsed: np.ndarray, *, fold: bool, most: int = MOST_PAIRS
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Draw fewer ratings of the items that have many, so that the recurrence stays bearable.

    Response sets are kept before choices. The draw has a fixed seed: same data, same draw.

    Parameters
    ----------
    chosen, endorsed : numpy.ndarray
        As in `lattice_of`.
    fold : bool
        As in `lattice_of`; response sets are then free and all are kept.
    most : int
        Pairs that are bearable.

    Returns
    -------
    chosen, endorsed : numpy.ndarray
        No more than were given.
    kept : int or None
        Ratings kept an item; None where all are.
    """
    if chosen.sum(axis=-1).max() <= THINNED_TO[0] and cost(chosen, endorsed, fold=fold) <= most:
        return chosen, endorsed, None
    for kept in THINNED_TO:
        rng = np.random.default_rng(20_261)
        sets = endorsed if fold else _draw(rng, endorsed, np.full(endorsed.shape[:-1], kept))
        room = np.full(chosen.shape[:-1], kept)
        if not fold:
            room = np.maximum(kept - sets.sum(axis=-1), 0)
        choices = _draw(rng, chosen, room)
        if cost(choices, sets, fold=fold) <= most:
            break
    return choices, sets, kept


def _draw(rng: np.random.Generator, counts: np.ndarray, room: np.ndarray) -> np.ndarray:
    """At most `room` of the ratings, without replacement."""
    out = counts.copy()
    for at in np.argwhere(counts.sum(axis=-1) > room):
        i = tuple(at)
        out[i] = rng.multivariate_hypergeometric(counts[i], int(room[i]))
    return out
