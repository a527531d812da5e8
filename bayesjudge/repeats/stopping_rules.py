"""Stopping rules: how often to ask about an item, from its scores so far, and what a rule costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core import dirichlet
from bayesjudge.core.counting import distinct
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.intervals import z_score
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.words import words_for

Method = Literal["dirichlet", "sequence", "t", "z"]
#: What each rule is, for a report.
METHODS = words_for("stopping_rules")
#: The posterior's interval is asked for at this share of the error probability before the rule
#: stops. To look after each batch is to stop early if the scores so far agree too well by
#: chance; benchmarks/repeats/stopping.py shows what that costs and what this restores.
LOOKING = 0.5
#: Bets stay below this share of the capital that could be lost; Waudby-Smith & Ramdas advise
#: 1/2 or 3/4.
MOST_BET = 0.5


class MeanInterval(NamedTuple):
    """A mean score with its interval.

    Parameters
    ----------
    value, low, high : float
        In the units of the scale; ``nan`` if there are too few scores.
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's width; infinite if there is no interval."""
        half = (self.high - self.low) / 2
        return half if np.isfinite(half) else math.inf


def mean_interval(
    scores: Iterable[float | None],
    scale: Sequence[float],
    *,
    ci_prob: float = 0.95,
    method: Method = "dirichlet",
    half_width: float | None = None,
) -> MeanInterval:
    """Mean of one item's scores so far, with an interval.

    Parameters
    ----------
    scores : iterable of float or None
        In the order in which they came. None and ``nan`` are answers that could not be read;
        they say nothing of the mean and are left out.
    scale : sequence of float
        Every value that the judge can give, in rising order.
    ci_prob : float, default 0.95
        Probability of the interval.
    method : {"dirichlet", "sequence", "t", "z"}
        How the interval is made. ``"z"`` and ``"t"`` have no width if all scores agree.
    half_width : float, optional
        What `next_batch` was asked for: the interval is widened to it, inside the scale, since a
        rule that stops when the interval happens to be narrow promises no more.

    Returns
    -------
    MeanInterval
        Value, low and high, in the units of the scale.

    Raises
    ------
    InputError
        If a score is not on the scale, or an argument is out of its range.

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval([4, 5, 4, 4, 5], [1, 2, 3, 4, 5])]
    [4.167, 3.325, 4.7]
    """
    values, points = _checked(scores, scale, method, ci_prob)
    if method != "sequence":
        counts = (values[:, None] == points).sum(axis=0)
        ends: tuple[Any, Any, Any] = interval_of_counts(counts, points, ci_prob, method)
    elif values.size == 0:
        return MeanInterval(math.nan, math.nan, math.nan)
    else:
        low, high = confidence_sequence(values, points, ci_prob=ci_prob)
        ends = values.mean(), low[-1], high[-1]
    if half_width is not None:
        ends = ends[0], *_widened(ends[1], ends[2], half_width, points)
    return MeanInterval(*(float(x) for x in ends))


def _widened(low: Any, high: Any, half_width: float, scale: Any) -> tuple[Any, Any]:
    """Widen intervals to a half-width, and shift them into the scale."""
    scale = np.asarray(scale, float)
    bottom, top = scale.min(), scale.max()
    half = np.minimum(np.maximum((high - low) / 2, half_width), (top - bottom) / 2)
    centre = np.clip((low + high) / 2, bottom + half, top - half)
    return centre - half, centre + half


def interval_of_counts(
    counts: Any, scale: Any, ci_prob: float, method: Method
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and interval of many items at once, from how often each value was given."""
    counts, scale = np.asarray(counts, float), np.asarray(scale, float)
    if method == "dirichlet":
        weights = dirichlet.posterior(counts)
        return dirichlet.moments(weights, scale)[0], *dirichlet.interval(
            weights, scale, ci_prob=ci_prob
        )
    n = counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = counts @ scale / n
        deviation = (counts * (scale - mean[..., None]) ** 2).sum(axis=-1)
        error = np.sqrt(deviation / (n - 1) / n)
        times = z_score(ci_prob) if method == "z" else stdtrit(n - 1, (1 + ci_prob) / 2)
        half = np.where(n >= 2, times * error, np.nan)
    return mean, mean - half, mean + half


def next_batch(
    scores: Iterable[float | None],
    half_width: float,
    *,
    scale: Sequence[float],
    ci_prob: float = 0.95,
    method: Method = "dirichlet",
    pilot: int = 10,
    batch: int = 10,
) -> int:
    """Count the calls to make about an item now; 0 means that its mean is known well enough.

    Parameters
    ----------
    scores : iterable of float or None
        This item's scores so far; None and ``nan`` are answers that could not be read.
    half_width : float
        Wanted half-width of the interval of the mean, in the units of the scale; see
        `third_of_a_bin`.
    scale : sequence of float
        Every value that the judge can give, in rising order.
    ci_prob : float, default 0.95
        Probability of the interval.
    method : {"dirichlet", "sequence", "t", "z"}
        Which interval decides. ``"z"`` is the rule as published.
    pilot : int, default 10
        Readable scores before the first decision, at least 2.
    batch : int, default 10
        Most calls to ask for at once.

    Returns
    -------
    int
        Between 0 and `batch`. The same scores give the same answer.

    Raises
    ------
    InputError
        If a score is not on the scale, or an argument is out of its range.

    References
    ----------
    Source 3, 'Sequential Sampling Algorithm', for ``"z"``.

    Examples
    --------
    Ten equal answers settle the published rule, whatever the judge would have said next.

    >>> scale = [1, 2, 3, 4, 5]
    >>> [next_batch([5] * 10, 4 / 15, scale=scale, method=m) for m in ("z", "dirichlet")]
    [0, 10]
    """
    known = list(scores)
    values, _ = _checked(known, scale, method, ci_prob)
    with checking("repeats.next_batch") as require:
        require(half_width > 0, "must be positive", half_width=half_width)
        require(pilot >= 2, "must be 2 or more", pilot=pilot)
        require(batch >= 1, "must be 1 or more", batch=batch)
    n = values.size
    if n < pilot:
        return min(pilot - n, batch)
    wanted = _asked_prob(ci_prob, method)
    interval = mean_interval(known, scale, ci_prob=wanted, method=method)
    return int(more_calls(n, interval.half_width, half_width, batch))


def _asked_prob(ci_prob: float, method: Method) -> float:
    """Probability of the interval that must be narrow for the rule to stop."""
    return 1 - (1 - ci_prob) * LOOKING if method == "dirichlet" else ci_prob


def more_calls(n: Any, half_width: Any, wanted: float, batch: int) -> np.ndarray:
    """Count the calls until an interval, narrowing with the root of their number, is narrow."""
    n, half_width = np.asarray(n), np.asarray(half_width, float)
    # a share of 1e-12 is rounding: 9 z^2 K^2 delta^2 may be whole
    needed = np.ceil(np.minimum(n * (half_width / wanted) ** 2 * (1 - 1e-12), 1e15))
    return np.where(half_width <= wanted, 0, np.clip(needed - n, 1, batch)).astype(np.int64)


def _checked(
    scores: Iterable[float | None], scale: Sequence[float], method: str, ci_prob: float
) -> tuple[np.ndarray, np.ndarray]:
    """Readable scores and the scale, as arrays."""
    check_ci_prob(ci_prob)
    points = np.asarray(scale, float)
    values = np.array([np.nan if s is None else s for s in scores], float)
    values = values[~np.isnan(values)]
    with checking("repeats scores") as require:
        require(method in METHODS, f"must be one of {list(METHODS)}", method=method)
        rising = points.ndim == 1 and points.size >= 2 and bool((np.diff(points) > 0).all())
        require(rising, "must be two or more rising numbers", scale=scale)
        if rising:
            off = sorted(set(values[~np.isin(values, points)].tolist()))
            require(not off, f"{off[:3]} are not on the scale {points.tolist()}")
    return values, points


def confidence_sequence(
    values: Any,
    scale: Any,
    *,
    ci_prob: float = 0.95,
    looks: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the mean after each score, so that all bounds hold together.

    Parameters
    ----------
    values : array_like, shape (..., n)
        Scores in the order in which they came, within the range of `scale`.
    scale : array_like
        Only its least and greatest value matter: the range of the scores.
    ci_prob : float, default 0.95
        Least probability that every interval of the sequence contains the mean.
    looks : array_like of int, shape (n_looks,), optional
        After how many scores to look, in rising order; after each by default.

    Returns
    -------
    low, high : numpy.ndarray, shape (..., n_looks)
        At each look, the tightest so far; in the units of the scale.

    Raises
    ------
    InputError
        If a score lies outside the range, or an argument out of its own.

    References
    ----------
    Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86, 1-27, Theorem 3: the hedged capital
    process.

    Examples
    --------
    >>> low, high = confidence_sequence([5, 4] * 20, [1, 5], ci_prob=0.9)
    >>> [round(float(x), 2) for x in (low[-1], high[-1])]
    [4.01, 4.73]
    """
    values, scale = np.asarray(values, float), np.asarray(scale, float)
    seen = np.arange(1, values.shape[-1] + 1) if looks is None else np.asarray(looks)
    with checking("confidence_sequence") as require:
        ends = scale.size > 1 and np.isfinite(scale).all() and np.ptp(scale) > 0
        require(ends, "needs a least and a greatest value that differ", scale=scale.tolist())
        rising = seen.ndim == 1 and seen.dtype.kind in "iu" and (np.diff(seen, prepend=0) > 0).all()
        words = f"must be whole numbers in rising order, from 1 to {values.shape[-1]}"
        require(rising and (seen <= values.shape[-1]).all(), words, looks=seen.tolist())
    bottom, width = scale.min(), np.ptp(scale)
    inside = (values >= scale.min()) & (values <= scale.max())
    off = values[~inside][:3].tolist()
    problem = f"scores {off} lie outside {scale.min():g} to {scale.max():g}"
    expect("confidence_sequence", inside.all(), problem)
    error = 1 - check_ci_prob(ci_prob)
    unit = (values - bottom) / width
    low, high = _betting(unit, _bets(unit, error), error, seen)
    low = np.maximum.accumulate(np.clip(low, 0, 1), axis=-1)
    high = np.minimum.accumulate(np.clip(high, 0, 1), axis=-1)
    return bottom + width * low, bottom + width * high


def _bets(unit: np.ndarray, error: float) -> np.ndarray:
    """How much to bet on each score, from those before it (eq. 26 of the reference)."""
    t = np.arange(1, unit.shape[-1] + 1)
    mean = (0.5 + unit.cumsum(axis=-1)) / (t + 1)
    variance = (0.25 + np.square(unit - mean).cumsum(axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*unit.shape[:-1], 1), 0.25), variance[..., :-1]], axis=-1)
    return np.sqrt(2 * np.log(2 / error) / (before * t * np.log1p(t)))


def _betting(
    unit: np.ndarray, bets: np.ndarray, error: float, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the ends of the set of means against which no bettor has won 2 / error."""
    # the capital of one who bets that scores exceed m falls in m: bisection finds one end, and the
    # other is its mirror image
    return _lower_end(unit, bets, error, seen), 1 - _lower_end(1 - unit, bets, error, seen)


def _lower_end(unit: np.ndarray, bets: np.ndarray, error: float, seen: np.ndarray) -> np.ndarray:
    shape = (*unit.shape[:-1], seen.size)
    low, high = np.zeros(shape), np.ones(shape)
    looks = np.arange(unit.shape[-1]) < seen[:, None]
    limit = np.log(2 / error)
    for _ in range(32):
        m = (low + high) / 2
        stake = np.minimum(bets[..., None, :], MOST_BET / m[..., :, None])
        gain = np.log1p(stake * (unit[..., None, :] - m[..., :, None]))
        ruled_out = np.where(looks, gain, 0).sum(axis=-1) >= limit
        low, high = np.where(ruled_out, m, low), np.where(ruled_out, high, m)
    return low


class StoppedRuns(NamedTuple):
    """Cost and coverage of a stopping rule, over many runs.

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
) -> StoppedRuns:
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
    StoppedRuns
        Mean calls and coverage.

    Raises
    ------
    InputError
        If shares do not fit the scale, or an argument is out of its range.

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
        require(method in METHODS, f"must be one of {list(METHODS)}", method=method)
        require(half_width > 0, "must be positive", half_width=half_width)
        require(2 <= pilot <= most, f"must lie between 2 and {most}", pilot=pilot)
    check_ci_prob(ci_prob)
    rng = rng_of(random_seed)
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
    shown = _widened(low, high, half_width, points) if method == "dirichlet" else (low, high)
    return StoppedRuns(
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
        first, place = distinct(counts[running])
        patterns = counts[running][first]
        wanted = _asked_prob(ci_prob, method)
        _, low, high = interval_of_counts(patterns, points, wanted, method)
        n = patterns.sum(axis=1)
        more = np.minimum(more_calls(n, (high - low) / 2, half_width, batch), most - n)
        more = more[place]
        running, more = running[more > 0], more[more > 0]
        counts[running] += rng.multinomial(more, share)
    first, place = distinct(counts)
    _, low, high = interval_of_counts(counts[first], points, ci_prob, method)
    return counts, low[place], high[place]


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
