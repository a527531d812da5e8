"""Confidence sequences: intervals that hold at every look at once, however one stops.

Scores must lie in a known range and have, given the past, the same mean; nothing else is assumed,
not even that they are independent.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking

#: Bets stay below this share of the capital that could be lost; Waudby-Smith & Ramdas advise
#: 1/2 or 3/4.
MOST_BET = 0.5


def confidence_sequence(
    values: Any,
    scale: Any,
    *,
    ci_prob: float = 0.95,
    kind: Literal["betting", "bernstein"] = "betting",
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
    kind : {"betting", "bernstein"}
        The hedged capital process (Theorem 3), narrower, or the predictable plug-in
        empirical-Bernstein sequence (Theorem 2), a closed form.
    looks : array_like of int, shape (n_looks,), optional
        After how many scores to look, in rising order; after each by default.

    Returns
    -------
    low, high : numpy.ndarray, shape (..., n_looks)
        At each look, the tightest so far; in the units of the scale.

    Raises
    ------
    InputError
        Where a score lies outside the range, or an argument out of its own.

    References
    ----------
    Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86, 1-27.

    Examples
    --------
    >>> low, high = confidence_sequence([5, 4] * 20, [1, 5], ci_prob=0.9)
    >>> [round(float(x), 2) for x in (low[-1], high[-1])]
    [4.01, 4.73]
    """
    values, scale = np.asarray(values, float), np.asarray(scale, float)
    bottom, width = scale.min(), np.ptp(scale)
    with checking("confidence_sequence") as require:
        require(kind in ("betting", "bernstein"), f"kind must be betting or bernstein, got {kind}")
        inside = (values >= scale.min()) & (values <= scale.max())
        off = values[~inside][:3].tolist()
        require(inside.all(), f"scores {off} lie outside {scale.min():g} to {scale.max():g}")
    error = 1 - check_ci_prob(ci_prob)
    unit = (values - bottom) / width
    find = _betting if kind == "betting" else _bernstein
    seen = np.arange(1, unit.shape[-1] + 1) if looks is None else np.asarray(looks)
    low, high = find(unit, _bets(unit, error), error, seen)
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


def _bernstein(
    unit: np.ndarray, bets: np.ndarray, error: float, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    t = np.arange(1, unit.shape[-1] + 1)
    bets = np.minimum(bets, MOST_BET)
    mean = (0.5 + unit.cumsum(axis=-1)) / (t + 1)
    before = np.concatenate([np.full((*unit.shape[:-1], 1), 0.5), mean[..., :-1]], axis=-1)
    surprise = np.square(unit - before) * (-np.log1p(-bets) - bets)
    total = bets.cumsum(axis=-1)
    centre = (bets * unit).cumsum(axis=-1) / total
    half = (np.log(2 / error) + surprise.cumsum(axis=-1)) / total
    low, high = centre - half, centre + half
    return low[..., seen - 1], high[..., seen - 1]


def _betting(
    unit: np.ndarray, bets: np.ndarray, error: float, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the ends of the set of means against which no better has won 2 / error.

    The capital of one who bets that scores exceed m falls in m, so that bisection finds the one
    end; the other end is the mirror image.
    """
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
