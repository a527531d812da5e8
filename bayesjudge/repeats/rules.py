"""When to stop asking: each rule as a pure function of the scores so far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core import dirichlet
from bayesjudge.repeats.sequences import confidence_sequence

Method = Literal["dirichlet", "sequence", "t", "z"]
#: What each rule is, for a report.
METHODS: dict[str, str] = {
    "dirichlet": "exact Dirichlet posterior",
    "sequence": "betting confidence sequence",
    "t": "Student's t",
    "z": "published z rule",
}


#: The posterior's interval is asked for at this share of the error probability before the rule
#: stops. To look after each batch is to stop early where the scores so far agree too well by
#: chance; benchmarks/repeats/coverage.py shows what that costs and what this restores.
LOOKING = 0.5


class MeanInterval(NamedTuple):
    """A mean score with its interval.

    Parameters
    ----------
    value, low, high : float
        In the units of the scale; ``nan`` where there are too few scores.
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's width; infinite where there is no interval."""
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
        How the interval is made. ``"z"`` and ``"t"`` have no width where all scores agree.
    half_width : float, optional
        What `next_batch` was asked for: the interval is widened to it, inside the scale, since a
        rule that stops where the interval happens to be narrow promises no more.

    Returns
    -------
    MeanInterval
        Value, low and high, in the units of the scale.

    Raises
    ------
    InputError
        Where a score is not on the scale, or an argument is out of its range.

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval([4, 5, 4, 4, 5], [1, 2, 3, 4, 5])]
    [4.167, 3.325, 4.7]
    """
    values, points = _checked(scores, scale, method, ci_prob)
    if method != "sequence":
        counts = (values[:, None] == points).sum(axis=0)
        found: tuple[Any, Any, Any] = interval_of_counts(counts, points, ci_prob, method)
    elif values.size == 0:
        return MeanInterval(math.nan, math.nan, math.nan)
    else:
        low, high = confidence_sequence(values, points, ci_prob=ci_prob)
        found = values.mean(), low[-1], high[-1]
    if half_width is not None:
        found = found[0], *widened(found[1], found[2], half_width, points)
    return MeanInterval(*(float(x) for x in found))


def widened(low: Any, high: Any, half_width: float, scale: Any) -> tuple[Any, Any]:
    """Widen intervals to a half-width, and shift them into the scale.

    Parameters
    ----------
    low, high : float or numpy.ndarray
        Ends, in the units of the scale.
    half_width : float
        Narrower intervals are widened to it about their centre.
    scale : array_like
        Only its least and greatest value matter.

    Returns
    -------
    low, high : float or numpy.ndarray
        An interval that would pass an end of the scale is moved to that end, not cut.
    """
    scale = np.asarray(scale, float)
    bottom, top = scale.min(), scale.max()
    half = np.minimum(np.maximum((high - low) / 2, half_width), (top - bottom) / 2)
    centre = np.clip((low + high) / 2, bottom + half, top - half)
    return centre - half, centre + half


def interval_of_counts(
    counts: Any, scale: Any, ci_prob: float, method: Method
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and interval of many items at once, from how often each value was given.

    Parameters
    ----------
    counts : array_like, shape (..., n_values)
        Scores by value.
    scale : array_like, shape (n_values,)
        What each value is worth, in rising order.
    ci_prob : float
        Probability of the interval.
    method : {"dirichlet", "t", "z"}
        A confidence sequence needs the order of the scores: see `confidence_sequence`.

    Returns
    -------
    value, low, high : numpy.ndarray, shape (...)
        In the units of the scale; ``nan`` where there are too few scores.
    """
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
    """How often to ask the judge about this item now; 0 means that its mean is known well enough.

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
        Where a score is not on the scale, or an argument is out of its range.

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
        require(half_width > 0, f"half_width must be positive, got {half_width!r}")
        require(pilot >= 2, f"pilot must be 2 or more, got {pilot!r}")
        require(batch >= 1, f"batch must be 1 or more, got {batch!r}")
    n = values.size
    if n < pilot:
        return min(pilot - n, batch)
    wanted = asked_prob(ci_prob, method)
    found = mean_interval(known, scale, ci_prob=wanted, method=method)
    return int(more_calls(n, found.half_width, half_width, batch))


def asked_prob(ci_prob: float, method: Method) -> float:
    """Probability of the interval that must be narrow for the rule to stop.

    Parameters
    ----------
    ci_prob : float
        Probability of the interval that will be reported.
    method : {"dirichlet", "sequence", "t", "z"}
        Which rule.

    Returns
    -------
    float
        Greater than `ci_prob` for ``"dirichlet"``, which pays for looking often.
    """
    return 1 - (1 - ci_prob) * LOOKING if method == "dirichlet" else ci_prob


def more_calls(n: Any, found: Any, wanted: float, batch: int) -> np.ndarray:
    """Count the calls until an interval, narrowing with the root of their number, is narrow.

    Parameters
    ----------
    n : array_like of int
        Scores so far.
    found : array_like of float
        Half-width of their interval; infinite where there is none.
    wanted : float
        Half-width to reach, in the same units.
    batch : int
        Most calls at once.

    Returns
    -------
    numpy.ndarray of int
        0 where `found` is narrow enough, else from 1 to `batch`.
    """
    n, found = np.asarray(n), np.asarray(found, float)
    # a share of 1e-12 is rounding: 9 z^2 K^2 delta^2 may be whole
    needed = np.ceil(np.minimum(n * (found / wanted) ** 2 * (1 - 1e-12), 1e15))
    return np.where(found <= wanted, 0, np.clip(needed - n, 1, batch)).astype(np.int64)


def _checked(
    scores: Iterable[float | None], scale: Sequence[float], method: str, ci_prob: float
) -> tuple[np.ndarray, np.ndarray]:
    """Readable scores and the scale, as arrays."""
    check_ci_prob(ci_prob)
    points = np.asarray(scale, float)
    values = np.array([np.nan if s is None else s for s in scores], float)
    values = values[~np.isnan(values)]
    with checking("repeats scores") as require:
        require(method in METHODS, f"method must be one of {list(METHODS)}, got {method!r}")
        rising = points.ndim == 1 and points.size >= 2 and bool((np.diff(points) > 0).all())
        require(rising, f"scale must be two or more rising numbers, got {scale!r}")
        if rising:
            off = sorted(set(values[~np.isin(values, points)].tolist()))
            require(not off, f"{off[:3]} are not on the scale {points.tolist()}")
    return values, points
