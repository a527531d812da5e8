"""How precise a mean will be, and what that takes: the formula that every plan rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


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


def fewest(enough: Callable[[int], bool], low: int, most: int, part: float = 0.0) -> int | None:
    """The smallest number above `low` that is enough, to a `part` of it; None if `most` is not."""
    if most <= low or not enough(most):
        return None
    high, step = most, max(low, 1)
    while low + step < most:  # larger numbers cost more
        if enough(low + step):
            high = low + step
            break
        low, step = low + step, 2 * step
    while high - low > max(1, part * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def explained_by_calls(squared_correlation: Any, calls: Any, icc: Any) -> Any:
    r"""What the mean of several calls explains: :math:`\rho^2 k / (1 + (k - 1)\,\mathrm{ICC})`.

    `icc` is the correlation of two calls on one output (Spearman 1910; Brown 1910).
    """
    return np.minimum(squared_correlation * calls / (1 + (calls - 1) * np.asarray(icc)), 1.0)
