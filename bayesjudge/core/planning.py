"""How precise a mean will be, and what that takes: the formula that every plan rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: More than so many times the labels or items that there are is out of reach.
OUT_OF_REACH = 20


class Parts(NamedTuple):
    r"""The variance of a mean, by what each part of it is divided by.

    Of :math:`m` random labels among :math:`n` items that a judge saw,

    .. math:: \mathrm{Var} = \sigma^2 \left(\frac{1 - \rho^2}{m} + \frac{\rho^2}{n}\right),

    and with more judges, each on a part of the items that the one before saw, one more term each
    (Tenenbein 1970; Cochran 1977, Section 12.6). Numbers or arrays of draws.

    Parameters
    ----------
    within : array_like
        What labels leave unknown, of one label.
    judged : tuple of array_like
        What each judge tells beyond the one before, of one item.
    """

    within: Any
    judged: tuple[Any, ...] = ()

    @classmethod
    def of(cls, variance: Any, *explained: Any) -> Parts:
        """Of a truth's variance, and the parts of it that judges explain one after another."""
        steps, last = [], np.zeros_like(np.asarray(variance, float))
        for share in explained:
            now = np.clip(np.maximum(share, last), 0, 1)
            steps.append(variance * (now - last))
            last = now
        return cls(variance * (1 - last), tuple(steps))

    def variance(self, labels: Any, *sizes: Any) -> Any:
        """With so many labels, and items that each judge saw."""
        return self.within / labels + self._others(sizes)

    def error(self, labels: Any, *sizes: Any) -> Any:
        """Standard error with so many labels, and items that each judge saw."""
        return np.sqrt(self.variance(labels, *sizes))

    def labels(self, error: Any, *sizes: Any, items: Any = np.inf) -> Any:
        """Labels until the standard error is as small; infinite if no number of them is enough.

        About these very `items`, of which the labelled ones are known, fewer.
        """
        left = np.square(error) - self._others(sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(left > 0, 1 / (left / self.within + 1 / np.asarray(items)), np.inf)

    def _others(self, sizes: tuple[Any, ...]) -> Any:
        return sum(np.asarray(p) / n for p, n in zip(self.judged, sizes, strict=True))


def fewest(
    spare: Callable[[Any], Any], low: Any, most: Any, *, start: float | None = None, part: float = 0
) -> Any:
    """The smallest whole number above `low` that is enough, to a `part` of it: every plan's search.

    Parameters
    ----------
    spare : callable
        What a number has beyond what is enough, below 0 if it is too small; rises with it.
    low, most : array_like
        Arrays are searched together, with one call for all.
    start : float, optional
        A guess; without one numbers are tried from `low` upwards, since larger ones cost more.
    part : float, default 0
        Precision, as a part of the number.

    Returns
    -------
    numpy.ndarray or float
        Infinite where `most` is not enough.
    """
    low, most = (np.array(x, float) for x in np.broadcast_arrays(low, most))
    high, step = most + 1, np.maximum(low if start is None else start / 3, 1)
    under, over = np.full(low.shape, np.nan), np.full(low.shape, np.nan)
    guess = low + step if start is None else np.full(low.shape, float(start))
    last: Any = None
    while True:
        near = np.where(np.isnan(over), 1, np.maximum(1, part * low))
        is_open = high - low > near
        if not is_open.any():
            return np.where(high > most, np.inf, high)[()]
        guess = np.where(is_open, np.clip(np.ceil(guess), low + 1, high - 1), most)
        left = np.asarray(spare(guess), float)
        enough = left >= 0
        high, low = np.where(is_open & enough, guess, high), np.where(is_open & ~enough, guess, low)
        # an end that stays twice counts half (Illinois' rule): both ends close in
        kept = np.where(enough == last, 0.5, 1.0)
        over, under = np.where(enough, left, over * kept), np.where(enough, under * kept, left)
        last = enough
        with np.errstate(invalid="ignore"):
            ends = np.sqrt(np.maximum([low, high], 0))
            guess = (ends[0] + (ends[1] - ends[0]) * under / (under - over)) ** 2
            # a little beyond, so that the other end comes near
            guess = guess + np.where(enough, -0.5, 0.5) * np.maximum(part * guess, 1)
        below = np.maximum((low + high) / 2, high - step)
        guess = np.where(np.isnan(over), low + step, np.where(np.isfinite(guess), guess, below))
        step = 2 * step


def explained_by_calls(squared_correlation: Any, calls: Any, icc: Any) -> Any:
    r"""What the mean of several calls explains: :math:`\rho^2 k / (1 + (k - 1)\,\mathrm{ICC})`.

    `icc` is the correlation of two calls on one output (Spearman 1910; Brown 1910).
    """
    return np.minimum(squared_correlation * calls / (1 + (calls - 1) * np.asarray(icc)), 1.0)
