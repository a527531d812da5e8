r"""The exact likelihood of an item's ratings, with its shares of response sets integrated out.

An item's shares are Dirichlet, and each of its ratings is of a type t (an option chosen, a set
given) with probability :math:`\sum_v B_{tv}\theta_v`. Free shares for each item do not mix under
NUTS: forced choices leave directions that only the prior fills. Summed out, none are left.

Let :math:`p_c` be the probability of counts c, in one order, and :math:`p^{(v)}_c` the same where
one more rating, of set v, is known. The first rating shows its set, or another one does:

.. math:: p_c = \sum_v \frac{\alpha_v}{\alpha_0}\, B_{tv}\, p^{(v)}_{c - 1_t}, \qquad
          p^{(v)}_c = \frac{\alpha_0\, p_c + \sum_t c_t B_{tv}\, p^{(v)}_{c - 1_t}}{\alpha_0 + n}.

The first line takes any t that occurs. The second follows from the generating function
:math:`\prod_v (1 - \sum_t B_{tv} z_t)^{-\alpha_v}`, of which the known rating divides one factor
out. All terms are positive and none exceeds 1, so that nothing cancels, over- or underflows. The
counts below those of any item form a lattice, which items share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln


@dataclass(frozen=True, eq=False)
class Lattice:
    """Which probability is made of which; each comes after those that it is made of.

    Parameters
    ----------
    group : numpy.ndarray of int, shape (n_points,)
        Which concentrations each point uses.
    step_start : numpy.ndarray of int, shape (n_points + 1,)
        Where the steps of each point start; the one without ratings has none.
    steps : numpy.ndarray of int, shape (n_steps, 3)
        For each type of rating that a point has: the kind as ``source * n_types + type``, the
        point without one of it, and how many of it there are.
    source : numpy.ndarray, shape (n_groups,)
        Source of each group.
    folded : numpy.ndarray, shape (n_groups, Q)
        Response sets that were seen without error, which add to the concentrations.
    pattern : numpy.ndarray, shape (n_patterns,)
        The point of each distinct pattern of ratings.
    weight : numpy.ndarray, shape (n_patterns,)
        How many items have it.
    counts : numpy.ndarray, shape (n_patterns, n_types)
        The pattern: choices of each option, then response sets.
    """

    group: np.ndarray
    step_start: np.ndarray
    steps: np.ndarray
    source: np.ndarray
    folded: np.ndarray
    pattern: np.ndarray
    weight: np.ndarray
    counts: np.ndarray

    @property
    def pattern_group(self) -> np.ndarray:
        """Group of each pattern."""
        return self.group[self.pattern]

    def log_likelihood(self, alpha: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Log probability of each pattern's ratings in one order, by NumPy and slowly.

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
        p, more = np.ones(self.group.size), np.ones((self.group.size, alpha.shape[1]))
        for i, g in enumerate(self.group):
            kind, less, n = self.steps[self.step_start[i] : self.step_start[i + 1]].T
            if n.size:
                total = mine[g].sum()
                p[i] = mine[g] @ (flat[kind[0]] * more[less[0]]) / total
                more[i] = (total * p[i] + n @ (flat[kind] * more[less])) / (total + n.sum())
        g = self.pattern_group
        first = alpha[self.source[g]]
        held = (gammaln(first + self.folded[g]) - gammaln(first)).sum(axis=1)
        total, n = first.sum(axis=1), self.folded[g].sum(axis=1)
        return np.log(p[self.pattern]) + held - gammaln(total + n) + gammaln(total)


def lattice_of(chosen: np.ndarray, endorsed: np.ndarray, *, fold: np.ndarray) -> Lattice:
    """Lay out the probabilities that these ratings need.

    Parameters
    ----------
    chosen : numpy.ndarray, shape (n_sources, n_items, K)
        Choices.
    endorsed : numpy.ndarray, shape (n_sources, n_items, Q)
        Response sets.
    fold : numpy.ndarray of bool, shape (n_sources,)
        Whose response sets are given without error, so that they add to the concentrations.

    Returns
    -------
    Lattice
        Of all sources together.
    """
    k = chosen.shape[-1]
    distinct, weight = distinct_patterns(chosen, endorsed)
    folds = np.asarray(fold, bool)[distinct[:, 0], None]
    folded = np.where(folds, distinct[:, 1 + k :], 0)
    counts = np.hstack([distinct[:, 1 : 1 + k], distinct[:, 1 + k :] - folded])
    groups, group = np.unique(
        np.column_stack([distinct[:, :1], folded]), axis=0, return_inverse=True
    )
    own = np.column_stack([group.ravel(), counts])
    points = _points_below(own)
    pattern = _find(points, own)
    return Lattice(
        group=points[:, 0],
        **_steps(points, groups[:, 0]),
        source=groups[:, 0],
        folded=groups[:, 1:],
        pattern=pattern,
        weight=weight,
        counts=distinct[:, 1:],
    )


def distinct_patterns(chosen: np.ndarray, endorsed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Collapse items whose ratings by one source are the same.

    Parameters
    ----------
    chosen, endorsed : numpy.ndarray
        As in `lattice_of`.

    Returns
    -------
    patterns : numpy.ndarray of int, shape (n_patterns, 1 + K + Q)
        Source, choices and response sets; items without a rating are left out.
    weight : numpy.ndarray, shape (n_patterns,)
        How many items have it.
    """
    rows = np.concatenate([chosen, endorsed], axis=-1)
    n_sources, n_items, n_types = rows.shape
    sources = np.repeat(np.arange(n_sources), n_items)
    table = np.column_stack([sources, rows.reshape(-1, n_types)])
    return np.unique(table[table[:, 1:].sum(axis=1) > 0], axis=0, return_counts=True)


def _points_below(own: np.ndarray) -> np.ndarray:
    """All counts up to those of each pattern, sorted, each once; the first column is the group."""
    made = [_below(row) for row in own]
    sizes = _sizes(own)
    if sizes is None:
        return np.unique(np.concatenate(made), axis=0)
    codes = np.unique(np.concatenate([np.ravel_multi_index(tuple(m.T), sizes) for m in made]))
    return np.stack(np.unravel_index(codes, sizes), axis=1)


def _below(row: np.ndarray) -> np.ndarray:
    """All counts up to those of a pattern, with its group."""
    types = np.flatnonzero(row[1:])
    sizes = row[1:][types] + 1
    grid = np.indices(tuple(sizes.tolist())).reshape(types.size, int(np.prod(sizes))).T
    out = np.zeros((len(grid), row.size), row.dtype)
    out[:, 0] = row[0]
    out[:, 1 + types] = grid
    return out


def _sizes(rows: np.ndarray) -> tuple[int, ...] | None:
    """Sizes of the columns, by which a row is one number; None where it would be too large."""
    sizes = rows.max(axis=0) + 1
    return tuple(sizes.tolist()) if np.log2(sizes.astype(float)).sum() < 62 else None


def _find(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Position of each row among the sorted points."""
    sizes = _sizes(points)
    if sizes is None:
        both = np.unique(np.concatenate([points, rows]), axis=0, return_inverse=True)[1]
        return both.ravel()[len(points) :]
    codes = (np.ravel_multi_index(tuple(x.T), sizes) for x in (points, rows))
    return np.searchsorted(*codes)


def _steps(points: np.ndarray, source: np.ndarray) -> dict[str, np.ndarray]:
    """From each point one rating down, for every type that it has; sorted points come after."""
    n_types = points.shape[1] - 1
    at, kind = np.nonzero(points[:, 1:])
    less = points[at]
    less[np.arange(at.size), 1 + kind] -= 1
    count = points[at, 1 + kind]
    kinds = source[points[at, 0]] * n_types + kind
    start = np.searchsorted(at, np.arange(len(points) + 1))
    return {"step_start": start, "steps": np.column_stack([kinds, _find(points, less), count])}
