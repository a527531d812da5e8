"""What a stopping rule does to a judge whose scores have a known distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.repeats.rules import (
    METHODS,
    Method,
    asked_prob,
    interval_of_counts,
    more_calls,
    widened,
)
from bayesjudge.repeats.sequences import confidence_sequence


class Stopped(NamedTuple):
    """How a rule fared, over many runs.

    Parameters
    ----------
    calls : float
        Mean number of calls to an item.
    covered : float
        Share of runs whose reported interval holds the true mean: for ``"dirichlet"`` widened to
        the half-width asked for, as `mean_interval` reports it.
    covered_as_found : float
        The same for the interval as found when the rule stopped, not widened.
    within : float
        Share of runs whose mean is within the half-width asked for of the truth.
    no_width : float
        Share of runs that stopped on an interval without width.
    runs : int
        Runs.
    capped : float
        Share of runs ended at the greatest number of calls.
    """

    calls: float
    covered: float
    covered_as_found: float
    within: float
    no_width: float
    runs: int
    capped: float


def simulate_rule(
    value_share: Sequence[float],
    half_width: float,
    *,
    scale: Sequence[float],
    ci_prob: float = 0.95,
    method: Method = "dirichlet",
    pilot: int = 10,
    batch: int = 10,
    runs: int = 2000,
    most: int = 2000,
    random_seed: Any = None,
) -> Stopped:
    """Run a stopping rule on scores drawn from a known distribution, as often as `runs`.

    Parameters
    ----------
    value_share : sequence of float
        Probability of each value of the scale; adds up to 1.
    half_width : float
        Wanted half-width, in the units of the scale.
    scale : sequence of float
        The values, in rising order.
    ci_prob : float, default 0.95
        Probability of the interval.
    method : {"dirichlet", "sequence", "t", "z"}
        The rule; see `next_batch`, which takes the same decisions.
    pilot, batch : int, default 10
        Scores before the first decision, and most calls at once.
    runs : int, default 2000
        Items.
    most : int, default 2000
        Calls after which a run ends.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same answer.

    Returns
    -------
    Stopped
        Mean calls and coverage.

    Raises
    ------
    InputError
        Where shares do not fit the scale, or an argument is out of its range.

    Examples
    --------
    A judge that says 1 in a tenth of the calls and 5 else: a pilot of ten fives ends the rule as
    published.

    >>> found = simulate_rule([0.1, 0, 0, 0, 0.9], 4 / 15, scale=[1, 2, 3, 4, 5], method="z",
    ...                       runs=500, random_seed=1)
    >>> found.covered < 0.7, found.no_width > 0.3
    (True, True)
    """
    share, points = np.asarray(value_share, float), np.asarray(scale, float)
    with checking("repeats.simulate_rule") as require:
        fits = share.shape == points.shape and (share >= 0).all() and abs(share.sum() - 1) < 1e-6
        require(fits, f"value_share must be {points.size} shares that add up to 1")
        require(method in METHODS, f"method must be one of {list(METHODS)}, got {method!r}")
        require(half_width > 0, f"half_width must be positive, got {half_width!r}")
        require(2 <= pilot <= most, f"pilot must lie between 2 and {most}, got {pilot!r}")
    check_ci_prob(ci_prob)
    rng = np.random.default_rng(random_seed)
    about = points, ci_prob, method
    run = _by_order if method == "sequence" else _by_count
    counts, low, high = run(
        share / share.sum(), about, (half_width, pilot, batch, most), (runs, rng)
    )
    n = counts.sum(axis=1)
    value = counts @ points / n
    if method == "dirichlet":
        value = (counts @ points + points.mean()) / (n + 1)
    mean, slack = share @ points, 1e-9 * np.ptp(points)
    shown = widened(low, high, half_width, points) if method == "dirichlet" else (low, high)
    return Stopped(
        calls=float(n.mean()),
        covered=float(((shown[0] <= mean + slack) & (mean <= shown[1] + slack)).mean()),
        covered_as_found=float(((low <= mean + slack) & (mean <= high + slack)).mean()),
        within=float((np.abs(value - mean) <= half_width + slack).mean()),
        no_width=float((high == low).mean()),
        runs=runs,
        capped=float((n >= most).mean()),
    )


def _by_count(
    share: np.ndarray, about: tuple[Any, ...], rule: tuple[Any, ...], runs: tuple[Any, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rules that see counts: runs with the same counts are decided on together."""
    (points, ci_prob, method), (half_width, pilot, batch, most), (n_runs, rng) = about, rule, runs
    counts = rng.multinomial(pilot, share, size=n_runs)
    running = np.arange(n_runs)
    while running.size:
        distinct, where = np.unique(counts[running], axis=0, return_inverse=True)
        wanted = asked_prob(ci_prob, method)
        _, low, high = interval_of_counts(distinct, points, wanted, method)
        n = distinct.sum(axis=1)
        more = np.minimum(more_calls(n, (high - low) / 2, half_width, batch), most - n)
        more = more[where.ravel()]
        running, more = running[more > 0], more[more > 0]
        counts[running] += rng.multinomial(more, share)
    distinct, where = np.unique(counts, axis=0, return_inverse=True)
    _, low, high = interval_of_counts(distinct, points, ci_prob, method)
    return counts, low[where.ravel()], high[where.ravel()]


def _by_order(
    share: np.ndarray, about: tuple[Any, ...], rule: tuple[Any, ...], runs: tuple[Any, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the confidence sequence, which sees the order of scores: a look after each batch."""
    (points, ci_prob, _), (half_width, pilot, batch, most), (n_runs, rng) = about, rule, runs
    at = rng.choice(points.size, p=share, size=(n_runs, most))
    low, high = np.full(n_runs, points[0]), np.full(n_runs, points[-1])
    n = np.full(n_runs, pilot)
    running = np.arange(n_runs)
    while running.size:
        for size in np.unique(n[running]):
            these = running[n[running] == size]
            ends = confidence_sequence(
                points[at[these, :size]], points, ci_prob=ci_prob, looks=[size]
            )
            low[these] = np.maximum(low[these], ends[0][:, 0])
            high[these] = np.minimum(high[these], ends[1][:, 0])
        half = (high - low)[running] / 2
        more = np.minimum(more_calls(n[running], half, half_width, batch), most - n[running])
        n[running] += more
        running = running[more > 0]
    asked = np.arange(most) < n[:, None]
    counts = np.stack([((at == k) & asked).sum(axis=1) for k in range(points.size)], axis=1)
    return counts, low, high
