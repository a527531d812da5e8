"""Identical rows as one row and a count: the cost of every model grows with distinct rows."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Packed keys stay below this, well inside an int64.
LARGEST_KEY = 2**62


def ratio(part: Any, whole: Any) -> np.ndarray:
    """A part over its whole; ``nan`` where there is nothing of that."""
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def collapse(rows: np.ndarray, count: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows of a table of whole numbers, and how often each occurs."""
    first, place = distinct(rows)
    weights = np.ones(len(rows), np.int64) if count is None else count
    summed = np.zeros(len(first), np.int64)
    np.add.at(summed, place, weights)
    return first, summed


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows of a table of whole numbers, and which of them each row is."""
    key = np.zeros(len(rows), np.int64)
    span = 1
    for column in rows.T:
        base = int(column.max(initial=0)) + 1
        if span * base >= LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        if span * base >= LARGEST_KEY:
            column = np.unique(column, return_inverse=True)[1].astype(np.int64)
            base = int(column.max(initial=0)) + 1
        key = key * base + column
        span *= base
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return first, place


def draw_patterns(
    density: Any, group: Any, weight: Any, count: Any, rng: Any = None, size: Any = None
) -> np.ndarray:
    """Multinomial numbers of items within each group; the last pattern of it is the remainder."""
    groups = int(group.max()) + 1
    n = density.shape[-1] - groups
    chance = np.exp(np.minimum(density, 0)) * weight
    chance[n:] = np.maximum(1 - np.bincount(group[:n], chance[:n], groups), 0)
    items = np.bincount(group, count, groups).astype(int)
    order, patterns = np.argsort(group, kind="stable"), np.bincount(group)
    starts = np.cumsum(patterns) - patterns
    drawn = np.empty(density.shape)
    for many in np.unique(patterns):  # groups of as many patterns at once
        mine = np.flatnonzero(patterns == many)
        at = order[starts[mine, None] + np.arange(many)]
        share = chance[at] / chance[at].sum(axis=1, keepdims=True)
        drawn[at] = rng.multinomial(items[mine], share)
    return drawn


def weigh_patterns(count: Any, density: Any, *_: Any) -> Any:
    """Log-likelihood of numbers of items, given that of one of each."""
    return (count * density).sum(axis=-1)
