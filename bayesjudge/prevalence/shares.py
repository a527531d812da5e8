"""Densities of one share in [0, 1]: the Beta, and the posterior that quadrature makes of many.

Each share is handled on the scale phi = 2 asin(sqrt(share)), where a share known from n trials has
standard deviation 1 / sqrt(n) whatever it is, and where Jeffreys' prior is flat.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import dct


class Contradiction(ArithmeticError):
    """Labels and verdicts disagree by so much that the posterior is out of the windows' reach."""


class Beta(NamedTuple):
    """What is known of one share."""

    a: Any
    b: Any

    @property
    def mean(self) -> Any:
        """Mean."""
        return self.a / (self.a + self.b)

    @property
    def sd(self) -> Any:
        """Standard deviation."""
        return np.sqrt(self.mean * (1 - self.mean) / (self.a + self.b + 1))

    def log_density(self, x: Any) -> Any:
        """Up to a constant. Shares are kept off 0 and 1, where a logarithm is not a number."""
        x = np.clip(x, 1e-300, 1 - 1e-16)
        return (self.a - 1) * np.log(x) + (self.b - 1) * np.log1p(-x)

    def window(self, reach: float) -> tuple[Any, Any]:
        """Interval of `reach` standard deviations (on the phi scale) about the mean."""
        centre, radius = angle(self.mean), reach / np.sqrt(self.a + self.b)
        low, high = (np.clip(centre + side * radius, 0, np.pi) for side in (-1, 1))
        return np.sin(low / 2) ** 2, np.sin(high / 2) ** 2


def angle(share: Any) -> Any:
    """Take a share to the phi scale."""
    return 2 * np.arcsin(np.sqrt(share))


def inversion(more: Beta, less: Beta) -> float:
    """By how many standard deviations `more`, which should be the larger share, is the smaller."""
    sd = np.hypot(1 / np.sqrt(more.a + more.b), 1 / np.sqrt(less.a + less.b))
    return max(float((angle(less.mean) - angle(more.mean)) / sd), 0.0)


class Posterior:
    """The posterior of one share, as a polynomial on the phi scale.

    Parameters
    ----------
    log_density : callable
        Log density, up to a constant, of an array of shares.
    window : tuple of float
        Outside it the density is negligible.

    Attributes
    ----------
    mean, sd : float
        Of the share.
    """

    def __init__(
        self, log_density: Callable[[np.ndarray], np.ndarray], window: tuple[float, float]
    ):
        def log_height(phi: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return log_density(np.sin(phi / 2) ** 2) + np.log(np.sin(phi) / 2)

        self._log_density = log_density
        low, high = angle(np.clip(window, 0, 1))
        low, high = _shrunk(log_height, low, high)
        for degree in (64, 128, 256, 512, 1024):
            points = chebyshev.chebpts1(degree + 1)
            phi = low + (high - low) * (points + 1) / 2
            log = log_height(phi)
            series = _series(np.exp(log - log.max()))
            if np.abs(series[-degree // 8 :]).max() < 1e-9:
                break
        mass = chebyshev.chebint(series, lbnd=-1)
        self._ends = np.array([low, high])
        self._shares, self._log = np.sin(phi / 2) ** 2, log - np.log(np.sin(phi) / 2)
        self._cdf = mass / chebyshev.chebval(1.0, mass)
        nodes, weights = _gauss(degree)
        weights = weights * chebyshev.chebval(nodes, series)
        weights /= weights.sum()
        shares = np.sin((low + (high - low) * (nodes + 1) / 2) / 2) ** 2
        self.mean = float(weights @ shares)
        self.sd = float(np.sqrt(weights @ (shares - self.mean) ** 2))

    def cdf(self, share: Any) -> Any:
        """Posterior probability that the share is at most `share`."""
        low, high = self._ends
        phi = angle(np.clip(share, 0, 1))
        x = np.clip(2 * (phi - low) / (high - low) - 1, -1, 1)
        return np.clip(chebyshev.chebval(x, self._cdf), 0, 1)

    def quantile(self, prob: Any) -> Any:
        """Share below which lies the probability `prob`; has the shape of `prob`."""
        prob = np.asarray(prob, float)
        low, high = np.full(prob.shape, -1.0), np.full(prob.shape, 1.0)
        for _ in range(45):
            middle = (low + high) / 2
            below = chebyshev.chebval(middle, self._cdf) < prob
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        low = np.where(prob <= 0, -1.0, np.where(prob >= 1, 1.0, low))  # whatever rounding says
        start, end = self._ends
        return (np.sin((start + (end - start) * (low + 1) / 2) / 2) ** 2)[()]

    def interval(self, ci_prob: float, kind: str = "eti") -> tuple[float, float]:
        """Equal-tailed (``"eti"``) or shortest (``"hdi"``) interval that holds `ci_prob`."""
        spare = 1 - ci_prob
        tails = np.array([spare / 2])
        if kind == "hdi":
            tails = np.linspace(0, spare, 65)
            for _ in range(4):  # the width has one minimum: zoom in on it
                best = int(np.argmin(self.quantile(tails + ci_prob) - self.quantile(tails)))
                tails = np.linspace(tails[max(best - 1, 0)], tails[min(best + 1, 64)], 65)
            # one that leans on the edge of the range ends there, not a rounding error beside it
            tails = np.array([0.0, spare, tails[32]])
            widths = self.quantile(tails + ci_prob) - self.quantile(tails)
            tails = tails[widths <= widths.min() * (1 + 1e-9)]
        low, high = self.quantile(tails[0]), self.quantile(tails[0] + ci_prob)
        return float(low), float(high)

    def depths(self, prior: Beta) -> tuple[float, float]:
        """By how much the log likelihood at 0, and at 1, is below its maximum: 0 or negative."""
        seen = self._log - prior.log_density(self._shares)
        with np.errstate(divide="ignore"):
            ends = self._log_density(np.array([0.0, 1.0]))
        ends = ends - prior.log_density(np.array([0.0, 1.0]))
        top = max(_peak(seen, self._shares), *ends)
        return float(ends[0] - top), float(ends[1] - top)

    def reaches(self, prior: Beta, drop: float) -> tuple[bool, bool]:
        """Whether the likelihood at 0, and at 1, is within `drop` (in logs) of its maximum."""
        at_0, at_1 = self.depths(prior)
        return at_0 > -drop, at_1 > -drop


def _peak(log: np.ndarray, shares: np.ndarray) -> float:
    """Maximum between nodes that lie densely: of the parabola through the three highest."""
    j = int(np.argmax(log))
    if j in (0, log.size - 1) or not np.isfinite(log[j - 1 : j + 2]).all():
        return float(log[j])
    bend, slope, level = np.polyfit(
        angle(shares[j - 1 : j + 2]) - angle(shares[j]), log[j - 1 : j + 2], 2
    )
    return float(level - slope**2 / (4 * bend)) if bend < 0 else float(log[j])


def _series(values: np.ndarray) -> np.ndarray:
    """Chebyshev coefficients of the polynomial through values at `chebpts1`: a cosine transform."""
    series = dct(values[::-1]) / values.size
    series[0] /= 2
    return series


@functools.lru_cache(maxsize=8)
def _gauss(degree: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(degree)


def _shrunk(
    log_height: Callable[[np.ndarray], np.ndarray], low: float, high: float
) -> tuple[float, float]:
    """Cut off both ends where the density is below e-36 of its maximum, until little is cut."""
    for _ in range(12):
        phi = np.linspace(low, high, 25)
        log = log_height(phi[1:-1])
        held = np.flatnonzero(log > log.max() - 36)
        if held.size == 0:
            raise Contradiction
        low, high = phi[held[0]], phi[held[-1] + 2]
        if held.size > 11:
            break
    return float(low), float(high)
