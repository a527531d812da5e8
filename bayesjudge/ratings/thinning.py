"""Fewer ratings of the items that have many, where summing over all would cost too much."""

from __future__ import annotations

import numpy as np

from bayesjudge.ratings.lattice import distinct_patterns, lattice_of

#: Additions that one evaluation may cost: about a millisecond. NUTS needs some hundred thousand.
MOST_ADDITIONS = 250_000
#: Up to this bound points are counted; above, the bound itself is taken.
COUNTED_TO = 1_000_000
#: Choices an item of a source that gave no response sets.
MOST_ALONE = 10
SEED = 20_261
#: Ratings an item to try, most first, until the cost is bearable.
THINNED_TO = (100, 80, 60, 50, 40, 30, 25, 20, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)


def cost(chosen: np.ndarray, endorsed: np.ndarray, *, fold: np.ndarray) -> int:
    """Count the additions that a lattice would cost, or bound them where they are far too many.

    Parameters
    ----------
    chosen, endorsed, fold : numpy.ndarray
        As in `bayesjudge.ratings.lattice.lattice_of`.

    Returns
    -------
    int
        One for each step of the lattice and each response set.
    """
    bound = _bound(chosen, endorsed, fold)
    if bound > COUNTED_TO:
        return bound
    return len(lattice_of(chosen, endorsed, fold=fold).steps) * endorsed.shape[-1]


def _bound(chosen: np.ndarray, endorsed: np.ndarray, fold: np.ndarray) -> int:
    """Points times types times sets, before those points are left out that coincide."""
    k, q = chosen.shape[-1], endorsed.shape[-1]
    rows, _ = distinct_patterns(chosen, endorsed)
    total = 0.0
    for s, folds in enumerate(fold):
        mine = rows[rows[:, 0] == s, 1:].astype(float)
        own, sets = (mine[:, :k], mine[:, k:]) if folds else (mine, mine[:, :0])
        groups, group = np.unique(sets, axis=0, return_inverse=True)
        points = np.prod(own + 1, axis=1)
        most = own.sum(axis=1)
        for g in range(len(groups)):
            here = group.ravel() == g
            n, types = most[here].max(), int((own[here] > 0).any(axis=0).sum())
            # all patterns of a group share one simplex of counts
            shared = np.prod([(n + j) / j for j in range(1, types + 1)])
            total += min(points[here].sum(), shared) * types * q
    return int(min(total, 1e15))


def thinned(
    chosen: np.ndarray, endorsed: np.ndarray, *, fold: np.ndarray, most: int = MOST_ADDITIONS
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Draw fewer ratings of the items that have many, so that the recurrence stays bearable.

    Response sets are kept before choices. The draw has a fixed seed: same data, same draw.

    Parameters
    ----------
    chosen, endorsed, fold : numpy.ndarray
        As in `bayesjudge.ratings.lattice.lattice_of`; sets that are folded are free and all kept.
    most : int
        Additions that are bearable.

    Returns
    -------
    chosen, endorsed : numpy.ndarray
        No more than were given.
    kept : int or None
        Ratings kept an item; None where all are.
    """
    if cost(chosen, endorsed, fold=fold) <= most:
        return chosen, endorsed, None
    folds = np.asarray(fold, bool)[:, None]
    for kept in THINNED_TO:
        rng = np.random.default_rng(SEED)
        sets = _draw(rng, endorsed, np.where(folds, endorsed.sum(axis=-1), kept))
        room = np.where(folds, kept, np.maximum(kept - sets.sum(axis=-1), 0))
        choices = _draw(rng, chosen, room)
        if cost(choices, sets, fold=fold) <= most:
            break
    return choices, sets, kept


def choices_alone(chosen: np.ndarray, endorsed: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Draw few choices of an item of the sources that gave no response sets.

    Their choices fix the mean share of choices, and leave open what lies behind it. Many choices
    an item say more only by the shape that the model assumes of how items differ: the posterior
    then has several modes, narrow and apart, which no chain moves between
    (``benchmarks/ratings/varierr.py``).

    Parameters
    ----------
    chosen, endorsed : numpy.ndarray
        As in `bayesjudge.ratings.lattice.lattice_of`.

    Returns
    -------
    chosen : numpy.ndarray
        No more than were given.
    kept : int or None
        Choices kept an item; None where all are.
    """
    alone = endorsed.sum(axis=(1, 2)) == 0
    n = chosen.sum(axis=-1)
    room = np.where(alone[:, None], MOST_ALONE, n)
    if (n <= room).all():
        return chosen, None
    return _draw(np.random.default_rng(SEED), chosen, room), MOST_ALONE


def _draw(rng: np.random.Generator, counts: np.ndarray, room: np.ndarray) -> np.ndarray:
    """At most `room` of the ratings, without replacement."""
    out = counts.copy()
    for at in np.argwhere(counts.sum(axis=-1) > room):
        i = tuple(at)
        out[i] = rng.multivariate_hypergeometric(counts[i], int(room[i]))
    return out
