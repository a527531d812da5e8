r"""The exact likelihood of an item's ratings, with its shares of response sets integrated out.

An item's shares are Dirichlet, and each of its ratings is of a type t (an option chosen, a set
given) with probability :math:`\sum_v B_{tv}\theta_v`. Free shares for each item do not mix under
NUTS: forced choices leave directions that only the prior determines. Integrated out, none are left.

Let :math:`p_c` be the probability of counts c, in one order, and :math:`p^{(v)}_c` the same if one
more rating, of set v, is known. The first rating shows its set, or another one does:

.. math:: p_c = \sum_v \frac{\alpha_v}{\alpha_0}\, B_{tv}\, p^{(v)}_{c - 1_t}, \qquad
          p^{(v)}_c = \frac{\alpha_0\, p_c + \sum_t c_t B_{tv}\, p^{(v)}_{c - 1_t}}{\alpha_0 + n}.

The first line takes any t that occurs. The second follows from the generating function
:math:`\prod_v (1 - \sum_t B_{tv} z_t)^{-\alpha_v}`, of which the known rating divides one factor
out. All terms are positive and none exceeds 1, so that nothing cancels, over- or underflows. Items
share the counts below their own, and items with the same ratings are one pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from pytensor.gradient import disconnected_type

from bayesjudge.core.counting import distinct
from bayesjudge.truth.effects import Operation

#: Additions that one evaluation may cost: about a millisecond. NUTS needs some hundred thousand.
MOST_ADDITIONS = 250_000
#: Up to this bound the additions are counted; above, the bound itself is taken.
COUNTED_TO = 1_000_000
#: Choices an item of a source that gave no response sets.
MOST_CHOICES_ONLY = 10
SEED = 20_261
#: Ratings an item to try, most first, until the cost is bearable.
SUBSAMPLED_TO = (100, 80, 60, 50, 40, 30, 25, 20, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)


# Patterns -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct patterns of ratings, and the counts below them from which they are computed.

    A row of counts belongs to a group: a source, and the response sets that were seen without
    error, which add to its Dirichlet weights. Rows come after those that they are computed from.
    """

    group: np.ndarray  #: of each row of counts
    step_start: np.ndarray  #: where the steps of each row start; the empty one has none
    #: For each type of rating of a row: the kind as ``source * n_types + type``, the row without
    #: one of it, and how many of it there are.
    steps: np.ndarray
    source: np.ndarray  #: of each group
    certain: np.ndarray  #: response sets of each group that were seen without error
    row: np.ndarray  #: of each distinct pattern
    weight: np.ndarray  #: how many items have the pattern
    counts: np.ndarray  #: of the pattern: choices of each option, then response sets
    rated: np.ndarray  #: items that have ratings, as ``source * n_items + item``
    pattern_of_rated: np.ndarray  #: position of each one's pattern

    @property
    def pattern_group(self) -> np.ndarray:
        """Group of each pattern."""
        return self.group[self.row]


def patterns_of(chosen: np.ndarray, endorsed: np.ndarray, *, error_free: np.ndarray) -> Patterns:
    """Collapse ratings of shapes (n_sources, n_items, K) and (n_sources, n_items, Q).

    The response sets of a source that is `error_free` are the stable ones.
    """
    k = chosen.shape[-1]
    table, rated = _rated(chosen, endorsed)
    first, of_rated = distinct(table)
    patterns = table[first]
    exact = np.asarray(error_free, bool)[patterns[:, 0], None]
    certain = np.where(exact, patterns[:, 1 + k :], 0)
    counts = np.hstack([patterns[:, 1 : 1 + k], patterns[:, 1 + k :] - certain])
    grouped = np.column_stack([patterns[:, :1], certain])
    first, group = distinct(grouped)
    groups = grouped[first]
    patterns_in_group = np.column_stack([group, counts])
    rows = _rows_below(patterns_in_group)
    return Patterns(
        group=rows[:, 0],
        **_steps(rows, groups[:, 0]),
        source=groups[:, 0],
        certain=groups[:, 1:],
        row=_find(rows, patterns_in_group),
        weight=np.bincount(of_rated),
        counts=patterns[:, 1:],
        rated=rated,
        pattern_of_rated=of_rated,
    )


def _rated(chosen: np.ndarray, endorsed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Source, choices and response sets of each item that has any, and which these are."""
    rows = np.concatenate([chosen, endorsed], axis=-1)
    n_sources, n_items, n_types = rows.shape
    sources = np.repeat(np.arange(n_sources), n_items)
    table = np.column_stack([sources, rows.reshape(-1, n_types)])
    rated = np.flatnonzero(table[:, 1:].sum(axis=1))
    return table[rated], rated


def _rows_below(patterns: np.ndarray) -> np.ndarray:
    """All counts up to those of each pattern, sorted, each once; the first column is the group."""
    below = np.concatenate([_below(row) for row in patterns])
    return below[distinct(below)[0]]


def _below(row: np.ndarray) -> np.ndarray:
    """All counts up to those of a pattern, with its group."""
    types = np.flatnonzero(row[1:])
    sizes = row[1:][types] + 1
    grid = np.indices(tuple(sizes.tolist())).reshape(types.size, int(np.prod(sizes))).T
    out = np.zeros((len(grid), row.size), row.dtype)
    out[:, 0] = row[0]
    out[:, 1 + types] = grid
    return out


def _find(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Position of each wanted row among the sorted rows."""
    return distinct(np.concatenate([rows, wanted]))[1][len(rows) :]


def _steps(rows: np.ndarray, source: np.ndarray) -> dict[str, np.ndarray]:
    """From each row one rating down, for every type that it has; sorted rows come after."""
    n_types = rows.shape[1] - 1
    at, kind = np.nonzero(rows[:, 1:])
    less = rows[at]
    less[np.arange(at.size), 1 + kind] -= 1
    count = rows[at, 1 + kind]
    kinds = source[rows[at, 0]] * n_types + kind
    start = np.searchsorted(at, np.arange(len(rows) + 1))
    return {"step_start": start, "steps": np.column_stack([kinds, _find(rows, less), count])}


# Subsampling: fewer ratings of the items that have many -------------------------------------------


def subsampled(
    chosen: np.ndarray,
    endorsed: np.ndarray,
    *,
    error_free: np.ndarray,
    most: int = MOST_ADDITIONS,
) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Subsample ratings until `most` additions are enough, and say how many an item are kept.

    Response sets are kept before choices; those without error cost nothing and are all kept. The
    seed is fixed: same data, same subsample.
    """
    if _cost(chosen, endorsed, error_free) <= most:
        return chosen, endorsed, None
    exact = np.asarray(error_free, bool)[:, None]
    for kept in SUBSAMPLED_TO:
        rng = np.random.default_rng(SEED)
        sets = _draw(rng, endorsed, np.where(exact, endorsed.sum(axis=-1), kept))
        limit = np.where(exact, kept, np.maximum(kept - sets.sum(axis=-1), 0))
        choices = _draw(rng, chosen, limit)
        if _cost(choices, sets, error_free) <= most:
            break
    return choices, sets, kept


def subsampled_choices(chosen: np.ndarray, endorsed: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Subsample the choices of sources that gave no response sets.

    Their choices fix the mean share of choices, and leave open what lies behind it. Many choices
    an item add information only through the assumed distribution over items: the posterior then
    has several narrow modes, far apart, between which no chain moves
    (``benchmarks/ratings/varierr.py``).
    """
    choices_only = endorsed.sum(axis=(1, 2)) == 0
    n = chosen.sum(axis=-1)
    limit = np.where(choices_only[:, None], MOST_CHOICES_ONLY, n)
    if (n <= limit).all():
        return chosen, None
    return _draw(np.random.default_rng(SEED), chosen, limit), MOST_CHOICES_ONLY


def _draw(rng: np.random.Generator, counts: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """At most `limit` of the ratings, without replacement."""
    out = counts.copy()
    for at in np.argwhere(counts.sum(axis=-1) > limit):
        i = tuple(at)
        out[i] = rng.multivariate_hypergeometric(counts[i], int(limit[i]))
    return out


def _cost(chosen: np.ndarray, endorsed: np.ndarray, error_free: np.ndarray) -> int:
    """Additions that one evaluation costs, or a bound if they are far too many."""
    bound = _bound(chosen, endorsed, error_free)
    if bound > COUNTED_TO:
        return bound
    return len(patterns_of(chosen, endorsed, error_free=error_free).steps) * endorsed.shape[-1]


def _bound(chosen: np.ndarray, endorsed: np.ndarray, error_free: np.ndarray) -> int:
    """Rows times types times sets, before rows that coincide are counted once."""
    k, q = chosen.shape[-1], endorsed.shape[-1]
    rows = np.unique(_rated(chosen, endorsed)[0], axis=0)
    total = 0.0
    for s, exact in enumerate(error_free):
        mine = rows[rows[:, 0] == s, 1:].astype(float)
        uncertain, sets = (mine[:, :k], mine[:, k:]) if exact else (mine, mine[:, :0])
        groups, group = np.unique(sets, axis=0, return_inverse=True)
        below = np.prod(uncertain + 1, axis=1)
        most = uncertain.sum(axis=1)
        for g in range(len(groups)):
            here = group.ravel() == g
            n, types = most[here].max(), int((uncertain[here] > 0).any(axis=0).sum())
            # all patterns of a group share one simplex of counts
            shared = np.prod([(n + j) / j for j in range(1, types + 1)])
            total += min(below[here].sum(), shared) * types * q
    return int(min(total, 1e15))


# The recurrence as one operation ------------------------------------------------------------------
# As a graph of array operations it takes a minute to compile, and again for each number of ratings;
# as one operation it compiles in seconds, once. Inner loops run over the response sets: with their
# number known to the compiler an evaluation takes half the time. Unsigned positions, since others
# are checked for counting from the end.


@cache
def _forward(sets: int) -> Callable[..., Any]:
    def forward(mine: Any, seen: Any, group: Any, step_start: Any, steps: Any) -> Any:
        """Probability of each row of counts, and of each with one more rating of a set."""
        n = group.shape[0]
        p, more, totals, one_more = (
            np.ones(n),
            np.ones((n, sets)),
            mine.sum(axis=1),
            np.empty(sets),
        )
        for i in range(n):
            first, end = step_start[i], step_start[i + 1]
            if first == end:
                continue
            g, ratings, chance = np.uint64(group[i]), 0, 0.0
            kind, less, total = np.uint64(steps[first, 0]), np.uint64(steps[first, 1]), totals[g]
            for v in range(sets):
                chance += mine[g, v] * seen[kind, v] * more[less, v]
            p[i] = chance / total
            for v in range(sets):
                one_more[v] = chance
            for s in range(first, end):
                kind, less, count = np.uint64(steps[s, 0]), np.uint64(steps[s, 1]), steps[s, 2]
                ratings += count
                for v in range(sets):
                    one_more[v] += count * seen[kind, v] * more[less, v]
            share = 1 / (total + ratings)
            for v in range(sets):
                more[i, v] = one_more[v] * share
        return p, more

    return forward


@cache
def _backward(sets: int) -> Callable[..., Any]:
    def backward(
        mine: Any,
        seen: Any,
        group: Any,
        step_start: Any,
        steps: Any,
        bar: Any,
        log_p: Any,
        more: Any,
    ) -> Any:
        """Slopes by Dirichlet weights and probabilities, from those by each row's logarithm."""
        n, totals = group.shape[0], mine.sum(axis=1)
        mine_bar, seen_bar = np.zeros(mine.shape), np.zeros(seen.shape)
        more_bar, total_bar, row_bar = np.zeros((n, sets)), np.zeros(mine.shape[0]), np.empty(sets)
        for i in range(n - 1, -1, -1):
            first, end = step_start[i], step_start[i + 1]
            if first == end:
                continue
            g, ratings = np.uint64(group[i]), 0
            total = totals[g]
            slope, slope_of_total = bar[i] / np.exp(log_p[i]) / total, total_bar[g] - bar[i] / total
            for s in range(first, end):
                ratings += steps[s, 2]
            share = 1 / (total + ratings)
            for v in range(sets):
                row_bar[v] = more_bar[i, v] * share
            for v in range(sets):
                slope += row_bar[v]
                slope_of_total -= row_bar[v] * more[i, v]
            total_bar[g] = slope_of_total
            kind, less, count = (
                np.uint64(steps[first, 0]),
                np.uint64(steps[first, 1]),
                steps[first, 2],
            )
            for v in range(sets):
                step = count * row_bar[v] + slope * mine[g, v]
                mine_bar[g, v] += slope * seen[kind, v] * more[less, v]
                more_bar[less, v] += step * seen[kind, v]
                seen_bar[kind, v] += step * more[less, v]
            for s in range(first + 1, end):
                kind, less, count = np.uint64(steps[s, 0]), np.uint64(steps[s, 1]), steps[s, 2]
                for v in range(sets):
                    step = count * row_bar[v]
                    more_bar[less, v] += step * seen[kind, v]
                    seen_bar[kind, v] += step * more[less, v]
        for j in range(mine.shape[0]):
            for v in range(sets):
                mine_bar[j, v] += total_bar[j]
        return mine_bar, seen_bar

    return backward


class LogProbabilities(Operation):
    """Logarithms of the probabilities of rows of counts, of so many response sets.

    Inputs are Dirichlet weights by group (n_groups, Q), probabilities of each kind of rating
    (n_kinds, Q), and group, step_start and steps of `Patterns`. Beside the logarithms stands what
    `_forward` found of one more rating, of which the gradient is made.
    """

    value, unknown, beside = 1, (2, 2), (2,)

    @staticmethod
    def function(compiled: Callable[..., Any], *sizes: Any) -> Callable[..., Any]:
        """Of so many sets."""
        forward = compiled(_forward(*sizes))

        def logs(mine, seen, group, step_start, steps):
            p, more = forward(mine, seen, group, step_start, steps)
            return np.log(p), more

        return compiled(logs)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        mine_bar, seen_bar = _Gradient(*self.sizes)(*inputs, cotangents[0], *outputs)
        return [mine_bar, seen_bar, *(disconnected_type() for _ in inputs[2:])]


class _Gradient(Operation):
    """Of `LogProbabilities`: of its inputs, the gradient by its logarithms, and what is beside."""

    value, unknown, beside = 2, (), (2,)

    @staticmethod
    def function(compiled: Callable[..., Any], *sizes: Any) -> Callable[..., Any]:
        return compiled(_backward(*sizes))
