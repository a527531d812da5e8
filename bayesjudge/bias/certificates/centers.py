"""What scores can be shrunk towards, and how far that moves when one of them does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking

How = Literal["mean", "median", "trimmed"]


class Center(NamedTuple):
    """A centre computed from the scores that are released.

    Parameters
    ----------
    how : {"mean", "median", "trimmed"}
        What it is of the scores.
    value : float
        In score points.
    largest_move : float
        How far it can move when one score becomes any other on the scale, in score points.
    trim : float
        Share of the scores left out at either end, of a trimmed mean.
    """

    how: How
    value: float
    largest_move: float
    trim: float = 0.0

    def __str__(self) -> str:
        return self.how

    def of(self, scores: np.ndarray) -> float:
        """Compute this centre of any scores.

        Parameters
        ----------
        scores : numpy.ndarray of float, shape (n,)
            In score points.

        Returns
        -------
        float
            In score points.
        """
        return _location(scores, self.how, self.trim)


def robust_center(
    scores: Any, *, scale: tuple[float, float], how: How = "median", trim: float = 0.1
) -> Center:
    """Compute a centre from the scores themselves, with how far one score can move it.

    Parameters
    ----------
    scores : array_like of float
        That are to be released, in score points.
    scale : tuple of float
        Lowest and highest score.
    how : {"median", "trimmed", "mean"}
        The centre.
    trim : float, default 0.1
        Share of the scores that a trimmed mean leaves out at either end, in [0, 0.5).

    Returns
    -------
    Center
        For `certify(..., center=...)`; its largest move is exact.

    Raises
    ------
    InputError
        If a score is missing or off the scale, or `trim` is out of its range.

    References
    ----------
    Feuer et al. (2026), Appendix B, "Center strategies".

    Examples
    --------
    >>> robust_center([2, 3, 3, 3, 5], scale=(1, 5))
    Center(how='median', value=3.0, largest_move=0.0, trim=0.0)
    >>> robust_center([2, 3, 3, 3, 5], scale=(1, 5), how="mean").largest_move
    0.8
    """
    x = np.asarray(scores, dtype=float).ravel()
    low, high = scale
    with checking("robust_center") as require:
        require(x.size > 0, "give at least one score")
        require(low < high, "must be rising", scale=scale)
        bad = x[~((x >= low) & (x <= high))]
        require(bad.size == 0, f"{bad[:3].tolist()} are missing or not between {low} and {high}")
        require(
            how in ("mean", "median", "trimmed"), f"how must be mean, median or trimmed: {how!r}"
        )
        require(0 <= trim < 0.5, "must lie in [0, 0.5)", trim=trim)
    trim = trim if how == "trimmed" else 0.0
    value = _location(x, how, trim)
    # such a centre rises with every score: none moves it further down than the highest that falls
    # to the lowest score there is, or further up than the lowest that rises to the highest
    ordered = np.sort(x)
    ends = (np.append(ordered[:-1], low), np.append(ordered[1:], high))
    move = max(abs(_location(other, how, trim) - value) for other in ends)
    return Center(how, value, round(move, 12), trim)


def _location(x: np.ndarray, how: How, trim: float) -> float:
    if how == "median":
        return float(np.median(x))
    out = int(trim * x.size)
    return float(np.sort(x)[out : x.size - out].mean())


def moving_average(means: Iterable[float], *, weight: float = 0.1) -> float:
    r"""Exponential moving average of earlier batches' means, a centre fixed for the next batch.

    .. math:: \mu_t = (1 - w)\,\mu_{t-1} + w\,m_t, \qquad \mu_1 = m_1

    Parameters
    ----------
    means : iterable of float
        Mean score of each earlier batch, oldest first; never of the batch that is released.
    weight : float, default 0.1
        Of a new batch, in (0, 1].

    Returns
    -------
    float
        In score points, for `release(..., center=...)` under ``certify(..., center="fixed")``.

    Raises
    ------
    InputError
        If there is no batch, or the weight is out of its range.

    References
    ----------
    Feuer et al. (2026), Appendix B, "Center strategies".

    Examples
    --------
    >>> moving_average([3.0, 4.0], weight=0.5)
    3.5
    """
    batches = [float(mean) for mean in means]
    with checking("moving_average") as require:
        require(len(batches) > 0, "give the mean of at least one earlier batch")
        require(0 < weight <= 1, "must lie in (0, 1]", weight=weight)
    at = batches[0]
    for mean in batches[1:]:
        at += weight * (mean - at)
    return at
