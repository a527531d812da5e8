r"""Bounds on shifts that hold at any number of neighbours, whatever the shifts' distribution.

All of them are posteriors of one prior: a Dirichlet whose whole mass, 1, sits on the largest shift
that the scale allows. One pseudo-neighbour has moved as far as it can. With it

* the upper credible bound of a tail probability is Clopper and Pearson's upper limit, which never
  covers less than it claims, so the bound of a quantile is the one of order statistics;
* the posterior predictive probability that the next neighbour moves further than ``t`` is
  ``(1 + number of neighbours beyond t) / (m + 1)``, which is exact under exchangeability;
* the upper credible bound of the mean square is Gaffke's.

The same mass spread over all sizes of shift gives bounds of the RMS shift that are too small more
often than they say. ``benchmarks/bias/certificates.py`` measures that, and what certificates from
each of these bounds are worth.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, ndtr

from bayesjudge.bias.closed_form import with_one_more
from bayesjudge.core.draws import split_draws
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.fit import Fit

__all__ = ["neighbours_needed", "predictive_bound", "rms_bound", "tail_bound"]

#: Parts of the failure probability that are tried for the estimation error.
SHARES = np.geomspace(0.002, 0.95, 400)


def tail_bound(lengths: Any, *, largest: float, shift_prob: float, estimation_prob: float) -> float:
    """Length that a shift exceeds with probability `shift_prob` at most, by order statistics.

    Parameters
    ----------
    lengths : array_like, shape (m,)
        Lengths of independent neighbours' shifts; may be empty.
    largest : float
        Largest length possible; may be infinite.
    shift_prob : float
        Probability in the tail.
    estimation_prob : float
        Probability, over the neighbours measured, that the bound is too small.

    Returns
    -------
    float
        One of `lengths`, or `largest` where there are too few of them.

    Raises
    ------
    InputError
        If a probability is not in (0, 1).

    References
    ----------
    Wilks (1941), Ann. Math. Stat. 12, 91-96.

    Examples
    --------
    >>> about = {"largest": 4.0, "shift_prob": 0.05, "estimation_prob": 0.01}
    >>> float(tail_bound([0.0] * 90 + [1.0], **about)), float(tail_bound([0.0] * 80, **about))
    (1.0, 4.0)
    """
    _require_probs(shift_prob, estimation_prob)
    x = np.sort(np.asarray(lengths, dtype=float))
    beyond = spared(x.size, shift_prob, estimation_prob)
    return float(largest if beyond < 0 else x[x.size - 1 - beyond])


def spared(neighbours: Any, shift_prob: Any, estimation_prob: Any) -> Any:
    """How many of the largest shifts the tail bound may leave beyond it.

    The largest ``k`` with ``P(Binomial(m, shift_prob) <= k) <= estimation_prob``; -1 if none.
    """
    m, p, e = np.broadcast_arrays(neighbours, shift_prob, estimation_prob)
    most = np.full(m.shape, -1)
    k = -1
    while True:
        k += 1
        more = (k < m) & (bdtr(np.minimum(k, m), m, p) <= e)
        if not more.any():
            return most[()]
        most = np.where(more, k, most)


def best_estimation_prob(failure_prob: float, neighbours: int, groups: int = 1) -> float:
    """Part of the failure probability to spend on the estimation error; looks at no shift.

    The part, of all `groups` together, that lets `tail_bound` leave the most shifts beyond it; if
    that is none in any case, the one that needs the fewest neighbours.
    """
    parts, needed = _needed(failure_prob, groups)
    beyond = spared(neighbours, failure_prob - parts, parts / groups) if neighbours else -1
    if np.max(beyond) < 0:
        return float(parts[np.argmin(needed)])
    best = np.flatnonzero(beyond == np.max(beyond))
    return float(parts[best[len(best) // 2]])


def rms_bound(lengths: Any, *, largest: float, estimation_prob: float) -> float:
    r"""Upper credible bound of the RMS shift, with one pseudo-neighbour at the largest shift.

    Parameters
    ----------
    lengths : array_like, shape (m,)
        Lengths of independent neighbours' shifts.
    largest : float
        Largest length possible.
    estimation_prob : float
        Probability that the bound is too small.

    Returns
    -------
    float
        In the units of `lengths`; infinite if `largest` is.

    Raises
    ------
    InputError
        If the probability is not in (0, 1).

    Notes
    -----
    The square is Gaffke's bound of a mean: the quantile of :math:`\sum_i D_i x_{(i)}^2` with
    :math:`D \sim` Dirichlet(1, …, 1) over the neighbours and the largest shift. For shifts that are
    0 or the largest it is Clopper and Pearson's, which holds; that it holds for every bounded
    distribution is a conjecture that no simulation has broken (Gaffke 2005; Learned-Miller & Thomas
    2019). `tail_bound` needs no conjecture.

    Examples
    --------
    >>> round(rms_bound([3, 3], largest=4, estimation_prob=0.05), 3)
    3.799
    """
    _require_probs(0.5, estimation_prob)
    square = np.asarray(lengths, dtype=float) ** 2
    return float(np.sqrt(with_one_more(square, largest**2, 1 - estimation_prob)))


def predictive_bound(lengths: Any, *, largest: float, failure_prob: float) -> float:
    """Length that the next neighbour's shift exceeds with probability `failure_prob` at most.

    Parameters
    ----------
    lengths : array_like, shape (m,)
        Lengths of exchangeable neighbours' shifts.
    largest : float
        Largest length possible.
    failure_prob : float
        Probability over the neighbours measured *and* the next one.

    Returns
    -------
    float
        One of `lengths`, or `largest` where there are fewer than ``1 / failure_prob - 1``.

    Raises
    ------
    InputError
        If the probability is not in (0, 1).

    Examples
    --------
    >>> predictive_bound(range(99), largest=200, failure_prob=0.01)
    98.0
    """
    _require_probs(failure_prob, 0.5)
    x = np.sort(np.asarray(lengths, dtype=float))
    beyond = int(np.floor(failure_prob * (x.size + 1) + 1e-9)) - 1
    return float(largest if beyond < 0 else x[x.size - 1 - beyond])


def neighbours_needed(failure_prob: float, *, groups: int = 1, basis: str = "tail") -> int:
    """How many neighbours must be measured before they can say more than the scale does.

    Parameters
    ----------
    failure_prob : float
        In (0, 1).
    groups : int, default 1
        Perturbations that are bounded one by one; so many neighbours of *each*.
    basis : {"tail", "rms", "predictive"}, default "tail"
        What bounds them; `predictive_bound` needs the fewest, however many the groups.

    Returns
    -------
    int
        With fewer, every certificate rests on the scale's range alone.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> [neighbours_needed(prob) for prob in (0.1, 0.05, 0.01)]
    [47, 113, 761]
    """
    _require_probs(failure_prob, 0.5)
    expect("neighbours_needed", groups >= 1, "must be 1 or more", groups=groups)
    bases = ["tail", "rms", "predictive"]
    expect("neighbours_needed", basis in bases, f"must be one of {bases}", basis=basis)
    if basis == "predictive":
        return int(np.ceil(1 / failure_prob - 1 - 1e-9))
    return int(np.ceil(_needed(failure_prob, groups)[1].min() - 1e-9))


def _needed(failure_prob: float, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Parts of the failure probability, and how many neighbours each needs."""
    parts = SHARES * failure_prob
    return parts, np.log(parts / groups) / np.log1p(-(failure_prob - parts))


def _require_probs(shift_prob: float, estimation_prob: float) -> None:
    with checking("probabilities") as require:
        for name, p in (("shift_prob", shift_prob), ("estimation_prob", estimation_prob)):
            require(0 < p < 1, "must lie strictly between 0 and 1", **{name: p})


class Bound(NamedTuple):
    """Length that shifts do not exceed, the failure probability that its own error uses, and the
    perturbation (and judge) that set it.
    """

    length: float
    estimation_prob: float
    worst: str


def bound_of_shifts(
    groups: list[tuple[str, np.ndarray]], basis: str, budget: float, largest: float
) -> Bound:
    """Bound the lengths measured of every group; the worst group's bound holds for all."""
    fewest = min(x.size for _, x in groups)
    part = 0.0
    if basis in ("tail", "rms"):
        part = best_estimation_prob(budget, fewest, len(groups))
    each = part / len(groups)

    def length(x: np.ndarray) -> float:
        if basis == "tail":
            about = {"largest": largest, "shift_prob": budget - part, "estimation_prob": each}
            return tail_bound(x, **about)
        if basis == "rms":
            rms = rms_bound(x, largest=largest, estimation_prob=each)
            return min(rms / np.sqrt(budget - part), largest)
        if basis == "predictive":
            return predictive_bound(x, largest=largest, failure_prob=budget)
        return float(np.sqrt((x**2).mean() / budget))

    lengths = [length(x) for _, x in groups]
    worst = int(np.argmax(lengths))
    return Bound(float(lengths[worst]), part, groups[worst][0])


def bound_of_fit(fit: Fit, basis: str, budget: float, largest: float) -> Bound:
    """Bound the shifts of every perturbation of a fit, with Markov's inequality or its tails."""
    expect("certify", basis in ("rms", "predictive"), "needs-shifts", basis=basis)
    if basis == "predictive":
        return _predictive(fit, budget, largest)
    draws = _draws_of(fit, "rms_shift")
    part = budget / 2
    bounds = {where: _upper(values, part / len(draws)) for where, values in draws.items()}
    worst = max(bounds, key=lambda where: bounds[where])
    length = min(bounds[worst] / np.sqrt(budget - part), largest)
    return Bound(length, part, ", ".join(map(str, worst)))


def tail_probability(fit: Fit, at: Any) -> dict[tuple[Hashable, ...], Any]:
    """Posterior predictive probability that a shift is longer than `at`, by (judge and)
    perturbation.
    """
    problem = "it is for one-item neighbours; for batches use rms"
    expect("tail_probability", fit.data.design == "item", problem)
    rms, chances = _draws_of(fit, "rms_shift"), {}
    t = np.asarray(at, dtype=float)[..., None, None]
    for where, centre in _draws_of(fit, "mean_shift").items():
        spread = np.sqrt(np.maximum(rms[where] ** 2 - centre**2, 1e-300))
        beyond = ndtr((-t - centre) / spread) + ndtr((centre - t) / spread)
        chances[where] = beyond.mean(axis=(-2, -1))[()]
    return chances


def _draws_of(fit: Fit, quantity: str) -> dict[tuple[Hashable, ...], np.ndarray]:
    """Draws (chain, draw) by coordinates."""
    ((_, _, labels, draws),) = split_draws(fit.idata["posterior"].to_dataset(), (quantity,))
    return dict(zip(labels, draws, strict=True))


def _upper(draws: np.ndarray, prob: float) -> float:
    """Quantile of the draws, moved up by three standard errors of their number beyond it."""
    flat = np.sort(np.ravel(draws))
    expected = prob * flat.size
    beyond = int(np.floor(expected - 3 * np.sqrt(expected)))
    return float(flat[-1 - max(beyond, 0)])


def _predictive(fit: Fit, budget: float, largest: float) -> Bound:
    from scipy.optimize import brentq  # slow to load

    high = largest if np.isfinite(largest) else 1e3 * float(np.max(fit.draws("rms_shift")))
    lengths = {}
    for where in tail_probability(fit, 0.0):

        def excess(at: float, where: tuple[Hashable, ...] = where) -> float:
            return float(tail_probability(fit, at)[where]) - budget

        lengths[where] = high if excess(high) > 0 else float(brentq(excess, 0.0, high))
    worst = max(lengths, key=lambda where: lengths[where])
    return Bound(lengths[worst], 0.0, ", ".join(map(str, worst)))
