"""How many of the unlabelled items are good: the exact distribution, by enumeration.

Of the k items that the judge passed g1 are good, and g0 of those that it failed. Given both, every
item has a truth, so that prevalence and rates have Beta posteriors and integrate out. What is left
to integrate is whether the judge is better than chance: in the two by two table of truths and
verdicts, whether the odds ratio exceeds 1. That probability grows by an explicit amount with each
bad pass that turns good, so that it is a sum of positive terms, and needs no integral either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.prevalence.data import Counts

#: Pairs of g1 and g0 that are looked at, at most: a second's work.
PAIRS = 2**24
#: Pairs at once: bounds the memory.
BLOCK = 2**18
#: Steps beyond the size of a table after which what a chance consists of is less than rounding.
BEYOND = 400

_log_gamma: Callable[..., Any] = np.vectorize(lgamma, otypes=[float])


class NotEnumerated(ArithmeticError):
    """Too many items, or a judge that the model rules out."""


class _Table(NamedTuple):
    """Beta parameters of the four kinds of items, before the unlabelled ones have a truth."""

    good_pass: float
    good_fail: float
    bad_pass: float
    bad_fail: float
    passed: int
    failed: int
    #: Beta parameters of the prevalence, where it has a prior of its own.
    good: float | None = None
    bad: float | None = None

    @property
    def size(self) -> float:
        """Sum of the parameters with every item in them."""
        return sum(self[:4]) + self.passed + self.failed


def good_items(counts: Counts, model: Any) -> np.ndarray:
    """Probability of each number of good ones, from none to all, among the unlabelled items.

    `counts` has plain numbers, and `model` plain priors and rates that nobody shares.
    """
    table = _table_of(counts, model)
    probability, top = np.zeros(table.passed + table.failed + 1), -np.inf
    for good, log in _logs(table, model.better_than_chance):
        highest = max(top, log.max())
        if highest > -np.inf:
            probability *= np.exp(top - highest)
            weights = np.exp(log - highest).ravel()
            probability += np.bincount(good.ravel(), weights, minlength=probability.size)
            top = highest
    if not probability.sum() > 0:
        raise NotEnumerated("no judge better than chance is left")
    return probability / probability.sum()


def _table_of(counts: Counts, model: Any) -> _Table:
    passed, failed = counts.test_pass, counts.test_n - counts.test_pass
    if (passed + 1) * (failed + 1) > PAIRS:
        raise NotEnumerated(f"{counts.test_n} unlabelled items are too many to enumerate")
    correct, hits, incorrect, caught = counts.all_labels.values()
    missed, wrong = correct - hits, incorrect - caught
    if counts.predictive:
        (a, b), (d, c) = model.ppv, model.npv
        return _Table(a + hits, c + missed, b + wrong, d + caught, passed, failed)
    (a, b), (d, c) = model.sensitivity, model.specificity
    good, bad = model.prevalence
    if counts.labels_tell_prevalence:
        good, bad = good + counts.correct_n, bad + counts.incorrect_n
    return _Table(a + hits, b + missed, c + wrong, d + caught, passed, failed, good, bad)


def _logs(table: _Table, better_than_chance: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of good ones and log weights, a block of rows of the lattice of g1 and g0 at once."""
    a, b, c, d, k, f, good, bad = table
    g1, g0, g = np.arange(k + 1), np.arange(f + 1), np.arange(k + f + 1)
    cells = _log_gamma(a + g1), _log_gamma(b + g0), _log_gamma(c + k - g1), _log_gamma(d + f - g0)
    along = cells[0] + cells[2] - _log_gamma(1 + g1) - _log_gamma(1 + k - g1)
    across = cells[1] + cells[3] - _log_gamma(1 + g0) - _log_gamma(1 + f - g0)
    both = np.zeros(k + f + 1)
    if good is not None and bad is not None:
        # each truth is a draw of the prevalence, and its items are draws of a rate
        both = _log_gamma(good + g) + _log_gamma(bad + k + f - g)
        both -= _log_gamma(a + b + g) + _log_gamma(c + d + k + f - g)
    if better_than_chance:
        ends = _chances_without_good_passes(table)
        # of each step of g1: what depends on g1, on g0, and on both
        along_step = -_log_gamma(a + g1[1:]) - _log_gamma(c + k - g1[:-1])
        along_step += lgamma(a + c + k) + lgamma(b + d + f) - lgamma(table.size - 1)
        across_step = -cells[1] - cells[3]
        both_step = _log_gamma(a + b + g[:-1]) + _log_gamma(c + d + k + f - g[:-1] - 1)
    rows = max(BLOCK // (k + 1), 1)
    for start in range(0, f + 1, rows):
        row = g0[start : start + rows, None]
        log = along + across[row] + both[row + g1]
        if better_than_chance:
            steps = np.exp(along_step + across_step[row] + both_step[row + g1[:-1]])
            with np.errstate(divide="ignore"):
                log += np.log(np.cumsum(np.hstack([ends[row], steps]), axis=1))
        yield row + g1, log


def _chances_without_good_passes(table: _Table) -> np.ndarray:
    """Probability that the odds ratio exceeds 1 if g1 = 0, for each g0."""
    a, _, c, _, k, f, _, _ = table
    g0 = np.arange(f, 0, -1)
    # of the smaller table that has one good fail less
    b, d = table.good_fail + g0 - 1, table.bad_fail + f - g0
    steps = _log_gamma(a + c + k) + _log_gamma(b + d + 1) + _log_gamma(a + b)
    steps += _log_gamma(c + k + d) - lgamma(table.size - 1)
    steps -= lgamma(a) + _log_gamma(b + 1) + lgamma(c + k) + _log_gamma(d + 1)
    least = _chance(a, table.good_fail + f, c + k, table.bad_fail)
    return np.cumsum([least, *np.exp(steps)])[::-1]


def _chance(a: float, b: float, c: float, d: float) -> float:
    """Probability that a Beta(a, b) exceeds a Beta(c, d), which is an odds ratio above 1.

    With b and c one larger each time it goes to 0, by steps that are known.
    """
    j = np.arange(int(BEYOND + 4 * (a + d)))
    total = 0.0
    for more in (0, 1):  # first b grows, then c
        left, right = b + j + more, c + j
        log = _log_gamma(a + right) + _log_gamma(left + d) - _log_gamma(a + right + left + d)
        log += _log_gamma(a + left) - lgamma(a) - _log_gamma(left)
        log += _log_gamma(right + d) - _log_gamma(right) - lgamma(d)
        total += float((np.exp(log) / (right if more else left)).sum())
    return total
