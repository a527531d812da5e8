"""How often a judge of two verdicts contradicts itself, and how often a majority of calls does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, betaln, gammaln

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import contradicted
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import wilson_by_units
from bayesjudge.repeats.checks import EXCHANGEABLE, checked
from bayesjudge.repeats.consistency import RANDOM_ITEMS
from bayesjudge.repeats.data import Scores

SOURCE = "U-statistic of pairs (Hoeffding 1948); beta-binomial decision consistency (Huynh 1976)"
BETA_ITEMS = Assumption.of("beta-items")
#: Most calls of a majority that are looked at.
MOST_CALLS = 101
#: Majorities of so many calls are told.
CALLS = (1, 3, 5, 11, 25, 51, 101)
#: Standard errors by which the share of items that are not unanimous contradicts the Beta.
FAR = 3.0
#: Items that the shape of a Beta takes at least.
FEWEST = 3
#: Calls from which on that share says more than pairs do.
TELLING = 4


def self_contradiction(
    scores: Scores,
    *,
    flips_at_most: float = 0.05,
    calls: Sequence[int] = CALLS,
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Estimate how often a judge of two verdicts contradicts itself, and a majority of its calls.

    An item passes a call with probability :math:`p`. Two calls differ with probability
    :math:`E[2p(1-p)]`, of which :math:`2s(n-s)/n(n-1)` of an item with :math:`s` passes in
    :math:`n` calls is an unbiased estimate. A majority of :math:`k` calls flips, when all are made
    again, with probability :math:`E[2q(1-q)]`, with :math:`q = P(\mathrm{Bin}(k, p) > k/2)`:

    .. math:: E[2q(1-q)] = \sum_{u=0}^{2k} P(U = u)\, h_k(u),

    where :math:`U` counts passes in :math:`2k` calls and :math:`h_k(u)` is the hypergeometric
    probability that they fall into halves with different majorities. If every item has
    :math:`2k` calls or more, :math:`U` is a subsample of them, which is unbiased; if not, it is
    beta-binomial, with the mean and the self-contradiction observed. That distribution also tells
    how often a majority is not the verdict that more than half of endless calls would give:
    :math:`E[q]` of items with :math:`p < 1/2`, and :math:`E[1-q]` of the others.

    Parameters
    ----------
    scores : Scores
        On a scale of two values, such as 0 and 1; some item was judged twice or more by one judge.
    flips_at_most : float, default 0.05
        How often a majority may flip, for ``majority_calls``; in (0, 0.5).
    calls : sequence of int, default (1, 3, 5, 11, 25, 51, 101)
        Sizes of the majorities to report; odd, 101 at most.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        By judge, if there are several. ``self_contradiction``: probability that two calls on one
        item differ. ``not_unanimous``: share of items with both verdicts in the calls at hand.
        ``majority_flips`` and ``majority_atypical`` by ``calls``: how often the majority is another
        one when asked again, and than in the long run. ``majority_calls``: fewest calls, an odd
        number, of which the majority flips at most `flips_at_most`; ``nan`` if that takes more
        than 101. Each item counts alike; items with one call are left out.

    Raises
    ------
    InputError
        If the scale has more than two values, nothing was asked twice, or an argument is out of
        its range.

    Notes
    -----
    Items are the independent units: variances are those of means over items, or of the jackknife
    over items, and intervals are Wilson's at the effective number of items (Korn & Graubard 1998),
    which keeps an upper end if no item contradicts itself.

    References
    ----------
    Hoeffding (1948), Ann. Math. Stat. 19, 293-325. Huynh (1976), J. Educ. Meas. 13, 253-264.
    Korn & Graubard (1998), Surv. Methodol. 24, 193-201.

    Examples
    --------
    >>> passes = [5, 5, 4, 3, 1, 0, 0, 2, 5, 0]
    >>> counts = [[[5 - s, s]] for s in passes]
    >>> scores = Scores(counts, scale=[0, 1], items=list("abcdefghij"), judges=["judge"])
    >>> found = self_contradiction(scores)
    >>> round(found["self_contradiction"].value, 3), found["not_unanimous"].value
    (0.2, 0.4)
    >>> [round(found["majority_flips", k].value, 3) for k in (1, 5)]
    [0.2, 0.103]
    """
    check_ci_prob(ci_prob)
    _check(scores, flips_at_most, calls)
    given = scores
    scores, raised = checked(given)
    twice = (scores.repeats > 1).any(axis=0)
    items_of = {
        judge: _of_judge(scores.counts[:, j]) for j, judge in enumerate(scores.judges) if twice[j]
    }
    expect("repeats.self_contradiction", items_of, "not-repeated")
    alone = len(scores.judges) == 1
    rows: dict[str, dict[tuple[Any, ...], tuple[float, float, float]]] = {}
    cautions = list(raised)
    for judge, items in items_of.items():
        who = () if alone else (judge,)
        for name, row in _rows(items, calls, flips_at_most, ci_prob):
            rows.setdefault(name[0], {})[(*name[1:], *who)] = row
        cautions += _misfit(items, "" if alone else f" of {judge}")
    dims: tuple[str, ...] = () if alone else ("judge",)
    by = dict.fromkeys(("majority_flips", "majority_atypical"), ("calls", *dims))
    return Estimate(
        {name: Quantity.of_rows(of, by.get(name, dims)) for name, of in rows.items()},
        method=methods.SELF_CONTRADICTION,
        ci_prob=ci_prob,
        source=SOURCE,
        interval="Wilson, effective number of items",
        assumptions=_assumed(tuple(cautions)),
        cautions=tuple(cautions),
        data=given,
    )


def _check(scores: Scores, flips_at_most: float, calls: Sequence[int]) -> None:
    with checking("repeats.self_contradiction") as require:
        shown = [f"{x:g}" for x in scores.scale]
        two = len(shown) == 2
        require(two, "not-two-values", n=len(shown))
        fits = 0 < flips_at_most < 0.5
        require(fits, "must lie between 0 and 0.5", flips_at_most=flips_at_most)
        odd = all(k % 2 == 1 and 1 <= k <= MOST_CALLS for k in calls)
        require(odd, f"calls must be odd numbers from 1 to {MOST_CALLS}, got {list(calls)}")


class _Share(NamedTuple):
    """A mean over items with the variance of its error; ``nan`` of one item."""

    value: float
    variance: float


class _Items(NamedTuple):
    """Items of one judge: calls and number of items by pattern, and shares over items."""

    n: np.ndarray
    items: np.ndarray
    contradiction: _Share
    not_unanimous: _Share
    #: Difference between the share that is not unanimous and what the Beta expects.
    misfit: _Share
    flips: dict[int, _Share]
    #: Majorities that are not those of endless calls.
    atypical: dict[int, _Share]

    @property
    def size(self) -> int:
        return int(self.items.sum())

    @property
    def counted(self) -> int:
        """Most calls of a majority that subsamples tell, without the Beta."""
        return int(self.n.min()) // 2


def _of_judge(counts: np.ndarray) -> _Items:
    """Shares of a judge's items, shape (n_items, 2), of those that were asked about twice."""
    n = counts.sum(axis=1)
    pairs = np.stack([counts[:, 1], n], axis=1)[n > 1]
    patterns, items = np.unique(pairs, axis=0, return_counts=True)
    passes, n = patterns.T
    differ = 2 * passes * (n - passes) / (n * (n - 1))
    mixed = ((passes > 0) & (passes < n)).astype(float)
    flips, atypical = {}, {}
    shapes = _shapes(passes / n, differ, items)
    for k in range(1, MOST_CALLS + 1, 2):
        if 2 * k <= n.min():
            flips[k] = _mean(_flips_in_subsamples(k, passes, n), items)
        else:
            flips[k] = _jackknife(_flips_of_beta(k, *shapes), items)
        atypical[k] = _jackknife(_atypical_of_beta(k, *shapes), items)
    means = (_mean(differ, items), _mean(mixed, items))
    return _Items(n, items, *means, _gap(mixed, n, items, shapes), flips, atypical)


def _gap(mixed: np.ndarray, n: np.ndarray, items: np.ndarray, shapes: tuple[Any, Any]) -> _Share:
    """Share of items that are not unanimous, less what the Beta expects of it."""
    sizes, place = np.unique(n, return_inverse=True)
    expected = np.stack([_mixed_of_beta(size, *shapes) for size in sizes])
    of_own = np.arange(n.size)
    size = _left(items)
    total = np.bincount(place, weights=items) @ expected
    total[1:] -= expected[place, 1 + of_own]  # of one item of each pattern
    seen = items @ mixed - np.array([0, *mixed])
    return _jackknife((seen - total) / size, items)


def _mean(values: np.ndarray, items: np.ndarray) -> _Share:
    """Mean over items of values by pattern."""
    size = items.sum()
    mean = items @ values / size
    if size < 2:
        return _Share(float(mean), np.nan)
    return _Share(float(mean), float(items @ (values - mean) ** 2 / (size - 1) / size))


def _jackknife(values: np.ndarray, items: np.ndarray) -> _Share:
    """The first value, with the variance of the others: one item of each pattern left out."""
    size, left = items.sum(), values[1:]
    if size < FEWEST:
        return _Share(np.nan, np.nan)
    centre = items @ left / size
    return _Share(float(values[0]), float((size - 1) / size * (items @ (left - centre) ** 2)))


def _left(items: np.ndarray) -> np.ndarray:
    """Number of items: of all, then with one item of each pattern left out."""
    size = items.sum() - np.array([0, *np.ones(items.size)])
    return np.maximum(size, FEWEST - 1)  # of fewer nothing is told


def _shapes(share: np.ndarray, differ: np.ndarray, items: np.ndarray) -> tuple[Any, Any]:
    """Shapes of the Beta by moments: of all items, then with one item of each pattern left out."""
    size = _left(items)
    first, second, pairs = (
        items @ x - np.array([0, *x]) for x in (share, share**2, differ.astype(float))
    )
    mean = first / size
    # the mean's own error makes mean * (1 - mean) too small on average
    spread = mean * (1 - mean) + np.maximum(second / size - mean**2, 0) / (size - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.clip(pairs / size / (2 * spread), 0, 1 - 1e-6)  # 1 less correlation of calls
    ratio = np.where(spread > 0, ratio, 0)
    total = ratio / (1 - ratio)
    return mean * total, (1 - mean) * total


def _flips_of_beta(k: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    u = np.arange(2 * k + 1)
    return _beta_binomial(u, 2 * k, a, b) @ _halves_differ(k)


def _atypical_of_beta(k: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Probability that a majority of k calls is not the verdict of most of endless calls."""
    s = np.arange(k + 1)
    certain = (a <= 0) | (b <= 0)
    first, other = (np.where(certain, 1.0, x)[:, None] for x in (a, b))
    below = betainc(first + s, other + k - s, 0.5)  # that most calls fail, after s passes
    wrong = np.where(2 * s > k, below, 1 - below)
    return np.where(certain, 0.0, (_beta_binomial(s, k, a, b) * wrong).sum(axis=-1))


def _mixed_of_beta(n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Probability that n calls hold both verdicts."""
    return 1 - _beta_binomial(np.array([0, n]), n, a, b).sum(axis=-1)


def _beta_binomial(u: np.ndarray, n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Probability (draw, u) of u passes in n calls; without contradiction all or none."""
    certain = (a <= 0) | (b <= 0)
    first, other = (np.where(certain, 1.0, x)[:, None] for x in (a, b))
    chance = np.exp(_log_choose(n, u) + betaln(first + u, other + n - u) - betaln(first, other))
    ends = np.where((u == 0) | (u == n), 0.5, 0.0)
    return np.where(certain[:, None], ends, chance)


def _flips_in_subsamples(k: int, passes: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Unbiased, by pattern: two majorities of k calls each, drawn from an item's calls."""
    u = np.arange(2 * k + 1)
    s, n = passes[:, None], n[:, None]
    log = _log_choose(s, u) + _log_choose(n - s, 2 * k - u) - _log_choose(n, 2 * k)
    return np.exp(log) @ _halves_differ(k)


@cache
def _halves_differ(k: int) -> np.ndarray:
    """Probability, by passes in 2k calls, that two halves of them have different majorities."""
    u, s = np.arange(2 * k + 1)[:, None], np.arange(k + 1)
    log = _log_choose(k, s) + _log_choose(k, u - s) - _log_choose(2 * k, u)
    return (np.exp(log) * ((2 * s > k) != (2 * (u - s) > k))).sum(axis=1)


def _log_choose(n: Any, k: Any) -> np.ndarray:
    """Logarithm of a binomial coefficient; minus infinity if there is no such choice."""
    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    fits = (k >= 0) & (k <= n)
    n, k = np.where(fits, n, 0), np.where(fits, k, 0)
    return np.where(fits, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


# Intervals ---------------------------------------------------------------------------------------


def _rows(
    of_judge: _Items, calls: Sequence[int], flips_at_most: float, ci_prob: float
) -> list[tuple[tuple[Any, ...], tuple[float, float, float]]]:
    """Rows of one judge, by quantity and coordinates."""
    rows = {k: _row(share, of_judge.size, ci_prob) for k, share in of_judge.flips.items()}
    fewest = np.array([[k, *row] for k, row in rows.items()])
    with np.errstate(invalid="ignore"):
        enough = fewest[:, 1:] <= flips_at_most

    def first(column: int) -> float:
        return float(fewest[enough[:, column].argmax(), 0]) if enough[:, column].any() else np.nan

    return [
        (("self_contradiction",), _row(of_judge.contradiction, of_judge.size, ci_prob)),
        (("not_unanimous",), _row(of_judge.not_unanimous, of_judge.size, ci_prob)),
        *((("majority_flips", k), rows[k]) for k in calls),
        *(
            (("majority_atypical", k), _row(of_judge.atypical[k], of_judge.size, ci_prob))
            for k in calls
        ),
        (("majority_calls",), (first(0), first(1), first(2))),
    ]


def _row(share: _Share, items: int, ci_prob: float) -> tuple[float, float, float]:
    """Wilson's interval at the number of independent items that a variance is worth."""
    value, variance = share
    if not variance >= 0:
        return value, np.nan, np.nan
    worth = value * (1 - value) / variance if variance > 0 else float(items)
    return wilson_by_units(value, worth, items, ci_prob)


def _misfit(of_judge: _Items, whose: str) -> list[Caution]:
    """Whether the Beta expects as many unanimous items as there are."""
    gap, variance = of_judge.misfit
    if of_judge.n.max() < TELLING or not variance > 0 or abs(gap) < FAR * variance**0.5:
        return []
    seen = of_judge.not_unanimous.value
    return [
        Caution.of(
            "not-beta", seen=seen, whose=whose, expected=seen - gap, calls=max(of_judge.counted, 1)
        )
    ]


def _assumed(cautions: tuple[Caution, ...]) -> tuple[Assumption, ...]:
    return contradicted((EXCHANGEABLE, RANDOM_ITEMS, BETA_ITEMS), cautions)
