"""Densities of one share in [0, 1]: the Beta, and the posterior that quadrature makes of many.

A posterior is held on the logit scale, in panels that adapt to it: a prevalence may be known to a
billionth beside 0 or 1, or have a narrow peak with a tail over nine orders of magnitude.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, legendre
from scipy.fft import dct

#: Where the posterior density of the logit has fallen by this much (in logs) it is negligible.
DROP = 24.0
#: Nodes of a panel of the density, of one of the log density, and of the second rule on it.
NODES, LOG_NODES, SECOND = 18, 14, 6
#: Last Chebyshev coefficients, in units of the density's maximum, to which panels are halved.
SMOOTH, LOG_SMOOTH = 1e-10, 3e-7
#: Disagreement of the two rules, relative to the normaliser and in posterior standard deviations of
#: the mean, from which on there is no answer.
AGREE = 1e-5
#: A density that takes more panels is not resolved.
MOST_PANELS = 400


#: First panels of a log density end where it has fallen by so much.
STAGES = (3.0, 10.0)


class NotIntegrated(ArithmeticError):
    """Two rules disagree about an integral, or a density could not be resolved."""


class Beta(NamedTuple):
    """What is known of one share."""

    a: Any
    b: Any

    @property
    def mean(self) -> Any:
        """Mean."""
        return self.a / (self.a + self.b)


class Marginal(NamedTuple):
    """Log density of a logit, up to a constant, in three ways.

    Parameters
    ----------
    rough : callable
        Cheap: tells where the mass is.
    first, second : callable
        Two independent rules for the same.
    power : Beta
        Powers of the share and of its complement that the density has as factors at the ends.
    noise : float
        Rounding error of a log density.
    """

    rough: Callable[[np.ndarray], np.ndarray]
    first: Callable[[np.ndarray], np.ndarray]
    second: Callable[[np.ndarray], np.ndarray]
    power: Beta
    noise: float


class Posterior:
    """The posterior of one share: on each panel of the logit scale, a polynomial.

    Parameters
    ----------
    marginal : Marginal
        Its density.

    Attributes
    ----------
    mean, sd : float
        Of the share.

    Raises
    ------
    NotIntegrated
        Where the panels do not resolve the density, or a second rule disagrees.
    """

    def __init__(self, marginal: Marginal):
        self._marginal = marginal
        curve = LogCurve(marginal)
        edges, log, series = _panels(curve)
        self._top = curve.top
        half = np.diff(edges, axis=1)[:, 0] / 2
        nodes = _nodes_of(edges, _cosines())
        share, rest = logistic(nodes)
        mass = np.exp(log) * half[:, None] * _fejer()
        total = mass.sum()
        self.mean = float((mass * share).sum() / total)
        other = float((mass * rest).sum() / total)
        off = share - self.mean if self.mean < 0.5 else other - rest
        self.sd = float(np.sqrt((mass * off**2).sum() / total))
        self._edges, self._nodes, self._log = edges, nodes, log
        below = chebyshev.chebint(series, lbnd=-1) * half
        ends = np.concatenate([[0.0], np.cumsum(below.sum(axis=0))])
        below[0] += ends[:-1]
        self._cdf, self._ends = below / ends[-1], ends / ends[-1]
        self._agree(curve, total, marginal)

    def _agree(self, curve: LogCurve, total: float, marginal: Marginal) -> None:
        """Do normaliser and mean again by the second rule: integrate the difference of the two."""
        points, weights = legendre.leggauss(SECOND)
        edges = curve.edges[curve.highest > -DROP + 6]
        nodes = _nodes_of(edges, points).ravel()
        log = marginal.second(nodes) - curve.top
        off = np.exp(log) - np.exp(curve(nodes))
        off *= (np.diff(edges, axis=1) / 2 * weights).ravel()
        share, _ = logistic(nodes)
        # how far it is off: in units of the normaliser, and the mean in posterior sd
        self.checked = (
            float(off.sum() / total),
            float((off * (share - self.mean)).sum() / (total * self.sd)),
        )
        if not np.all(np.abs(self.checked) < AGREE + 10 * marginal.noise):
            raise NotIntegrated(f"two rules differ by {self.checked[0]:.1e} of the normaliser")

    def cdf(self, share: Any) -> Any:
        """Posterior probability that the share is at most `share`."""
        share = np.clip(share, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            x = np.log(share) - np.log1p(-share)
        panel = np.clip(np.searchsorted(self._edges[:, 1], x), 0, len(self._edges) - 1)
        low, high = self._edges[panel, 0], self._edges[panel, 1]
        inside = np.clip((2 * x - low - high) / (high - low), -1, 1)
        found = chebyshev.chebval(inside, self._cdf[:, panel], tensor=False)
        return np.clip(found, 0, 1)

    def quantile(self, prob: Any) -> Any:
        """Share below which lies the probability `prob`; has the shape of `prob`."""
        prob = np.asarray(prob, float)
        panel = np.clip(np.searchsorted(self._ends, prob) - 1, 0, len(self._edges) - 1)
        series = self._cdf[:, panel]
        low, high = np.full(prob.shape, -1.0), np.full(prob.shape, 1.0)
        for _ in range(45):
            middle = (low + high) / 2
            below = chebyshev.chebval(middle, series, tensor=False) < prob
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        start, end = self._edges[panel, 0], self._edges[panel, 1]
        share, _ = logistic(start + (end - start) * (low + 1) / 2)
        return np.where(prob <= 0, 0.0, np.where(prob >= 1, 1.0, share))[()]

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
        share, rest = log_logistic(self._nodes)
        seen = self._log - prior.a * share - prior.b * rest
        far = self._marginal.first(np.array([-np.inf, np.inf])) - self._top
        power = self._marginal.power
        ends = np.where([power.a > prior.a, power.b > prior.b], -np.inf, far)
        top = max(_peak(seen.ravel(), self._nodes.ravel()), *ends)
        return float(ends[0] - top), float(ends[1] - top)

    def reaches(self, prior: Beta, drop: float) -> tuple[bool, bool]:
        """Whether the likelihood at 0, and at 1, is within `drop` (in logs) of its maximum."""
        at_0, at_1 = self.depths(prior)
        return at_0 > -drop, at_1 > -drop


def logistic(logit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares and their complements."""
    return 1 / (1 + np.exp(-np.clip(logit, -700, 700))), 1 / (1 + np.exp(np.clip(logit, -700, 700)))


def log_logistic(logit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logs of shares and of their complements."""
    return -np.logaddexp(0, -logit), -np.logaddexp(0, logit)


class LogCurve:
    """A log density, which is smooth where the density is not: on each panel, a polynomial."""

    def __init__(self, marginal: Marginal):
        self.top = -np.inf
        done: list[tuple[np.ndarray, ...]] = []
        waiting = _between(_support(marginal.rough))
        points = chebyshev.chebpts1(LOG_NODES)
        while len(waiting):
            nodes = _nodes_of(waiting, points)
            log = marginal.first(nodes.ravel()).reshape(nodes.shape)
            self.top = max(self.top, float(log.max()))
            series = _series(log)
            weight = np.exp(np.clip(log.max(axis=1) - self.top, -700, 0))
            rough = np.abs(series[-2:]).max(axis=0) * weight > LOG_SMOOTH + 10 * marginal.noise
            if not np.isfinite(series).all() or sum(len(one[0]) for one in done) > MOST_PANELS:
                raise NotIntegrated("the density could not be resolved")
            done.append((waiting[~rough], series.T[~rough]))
            waiting = _halved(waiting[rough])
        self.edges, series = _ordered(done)
        series[:, 0] -= self.top
        self.series = series.T
        self.highest = chebyshev.chebval(points, self.series).max(axis=1)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Log density at some logits between the ends, less its maximum."""
        panel = np.clip(np.searchsorted(self.edges[:, 1], x), 0, len(self.edges) - 1)
        low, high = self.edges[panel].T
        inside = (2 * x - low - high) / (high - low)
        return chebyshev.chebval(inside, self.series[:, panel], tensor=False)


def _panels(curve: LogCurve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Panels on which the density is a polynomial: their ends, log densities and series."""
    done: list[tuple[np.ndarray, ...]] = []
    waiting = _halved(_halved(curve.edges))
    for _ in range(60):
        log = curve(_nodes_of(waiting, _cosines()).ravel()).reshape(len(waiting), NODES)
        series = _series(np.exp(log))
        rough = np.abs(series[-3:]).max(axis=0) > SMOOTH
        done.append((waiting[~rough], log[~rough], series.T[~rough]))
        waiting = _halved(waiting[rough])
        if not len(waiting):
            break
    edges, log, series = _ordered(done)
    return edges, log, series.T


def _between(ends: np.ndarray) -> np.ndarray:
    return np.column_stack([ends[:-1], ends[1:]])


def _halved(edges: np.ndarray) -> np.ndarray:
    middle = edges.mean(axis=1)
    return np.concatenate(
        [np.column_stack([edges[:, 0], middle]), np.column_stack([middle, edges[:, 1]])]
    )


def _ordered(done: list[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Panels of all rounds, in the order of their ends."""
    parts = [np.concatenate(part) for part in zip(*done, strict=True)]
    order = np.argsort(parts[0][:, 0])
    return [part[order] for part in parts]


def _support(rough: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Ends of the first panels: where the density is not negligible, and its modes.

    Zooms in on every mode of the density until it is resolved, and on both of its ends.
    """
    x = np.sinh(np.linspace(-8.5, 8.5, 61))
    log = rough(x)
    for _ in range(40):
        new = _where_next(x, log)
        if new.size == 0:
            break
        x, log = np.concatenate([x, new]), np.concatenate([log, rough(new)])
        x, kept = np.unique(x, return_index=True)
        log = log[kept]
    held = np.flatnonzero(log > log.max() - DROP)
    low, high = x[max(held[0] - 1, 0)], x[min(held[-1] + 1, x.size - 1)]
    modes = [i for i in _modes(log) if log[i] > log.max() - DROP]
    level = log.max() - log
    down = [np.interp(drop, *part) for drop in STAGES for part in (
        (level[held[-1]:modes[-1]:-1][::-1], x[held[-1]:modes[-1]:-1][::-1]),
        (level[held[0]:modes[0]][::-1], x[held[0]:modes[0]][::-1]),
    ) if len(part[0]) > 1]
    return np.unique([low, *x[modes], *down, high])


def _modes(log: np.ndarray) -> np.ndarray:
    padded = np.concatenate([[-np.inf], log, [-np.inf]])
    return np.flatnonzero((log >= padded[:-2]) & (log > padded[2:]))


def _where_next(x: np.ndarray, log: np.ndarray) -> np.ndarray:
    """Logits at which the density should be known too."""
    last = x.size - 1
    new = []
    for i in _modes(log):
        left, right = max(i - 1, 0), min(i + 1, last)
        if log[i] - min(log[left], log[right]) > 2:
            new.append(np.linspace(x[left], x[right], 12)[1:-1])
    held = np.flatnonzero(log > log.max() - DROP)
    width = x[held[-1]] - x[held[0]]
    for inner, outer in ((held[0], held[0] - 1), (held[-1], held[-1] + 1)):
        if 0 <= outer <= last and abs(x[outer] - x[inner]) > max(width / 6, 1e-9):
            new.append(np.linspace(x[inner], x[outer], 6)[1:-1])
    return np.concatenate(new) if new else np.empty(0)


def _peak(log: np.ndarray, x: np.ndarray) -> float:
    """Maximum between nodes that lie densely: of the parabola through the three highest."""
    j = int(np.argmax(log))
    if j in (0, log.size - 1) or not np.isfinite(log[j - 1 : j + 2]).all():
        return float(log[j])
    bend, slope, level = np.polyfit(x[j - 1 : j + 2] - x[j], log[j - 1 : j + 2], 2)
    return float(level - slope**2 / (4 * bend)) if bend < 0 else float(log[j])


def _nodes_of(edges: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points of [-1, 1] on each panel, shape (panels, points)."""
    return edges[:, :1] + np.diff(edges, axis=1) * (points + 1) / 2


def _series(values: np.ndarray) -> np.ndarray:
    """Chebyshev coefficients, shape (nodes, panels), of polynomials through values at the nodes."""
    series = dct(values[:, ::-1]).T / values.shape[1]
    series[0] /= 2
    return series


@functools.cache
def _cosines() -> np.ndarray:
    return chebyshev.chebpts1(NODES)


@functools.cache
def _fejer() -> np.ndarray:
    """Weights of the values at `_cosines` in the integral over [-1, 1]."""
    whole = chebyshev.chebint(_series(np.eye(NODES)), lbnd=-1)
    return whole.sum(axis=0)
