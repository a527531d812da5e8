"""Exact posterior of a prevalence by quadrature, its normaliser checked by a second rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, legendre

from bayesjudge.prevalence.data import Counts

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
MOST_PANELS = 200


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
    """Log density of a logit, up to a constant, in three ways."""

    rough: Callable[[np.ndarray], np.ndarray]
    first: Callable[[np.ndarray], np.ndarray]
    second: Callable[[np.ndarray], np.ndarray]
    power: Beta
    noise: float
    mirrored: bool = False


class Posterior:
    """The posterior of one share: on each panel of the logit scale, a polynomial."""

    def __init__(self, marginal: Marginal):
        self._marginal = marginal
        curve = LogCurve(marginal)
        edges, log, series = _panels(curve)
        self._top = curve.top
        half = np.diff(edges, axis=1)[:, 0] / 2
        nodes = _nodes_of(edges, _cosines())
        share, rest = self._shares(nodes)
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
        share, _ = self._shares(nodes)
        # how far it is off: in units of the normaliser, and the mean in posterior sd
        self.checked = (
            float(off.sum() / total),
            float((off * (share - self.mean)).sum() / (total * self.sd)),
        )
        if not np.all(np.abs(self.checked) < AGREE + 10 * marginal.noise):
            raise NotIntegrated(f"two rules differ by {self.checked[0]:.1e} of the normaliser")

    def _shares(self, logit: Any) -> tuple[Any, Any]:
        """Shares at logits of the density, and their complements."""
        share, rest = logistic(logit)
        return (rest, share) if self._marginal.mirrored else (share, rest)

    def cdf(self, share: Any) -> Any:
        """Posterior probability that the share is at most `share`."""
        share = np.clip(share, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            x = np.log(share) - np.log1p(-share)
        x = -x if self._marginal.mirrored else x
        panel = np.clip(np.searchsorted(self._edges[:, 1], x), 0, len(self._edges) - 1)
        low, high = self._edges[panel, 0], self._edges[panel, 1]
        inside = np.clip((2 * x - low - high) / (high - low), -1, 1)
        found = chebyshev.chebval(inside, self._cdf[:, panel], tensor=False)
        found = np.clip(found, 0, 1)
        return 1 - found if self._marginal.mirrored else found

    def quantile(self, prob: Any) -> Any:
        """Share below which lies the probability `prob`; has the shape of `prob`."""
        asked = np.asarray(prob, float)
        prob = 1 - asked if self._marginal.mirrored else asked
        panel = np.clip(np.searchsorted(self._ends, prob) - 1, 0, len(self._edges) - 1)
        series = self._cdf[:, panel]
        low, high = np.full(prob.shape, -1.0), np.full(prob.shape, 1.0)
        for _ in range(45):
            middle = (low + high) / 2
            below = chebyshev.chebval(middle, series, tensor=False) < prob
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        start, end = self._edges[panel, 0], self._edges[panel, 1]
        share, _ = self._shares(start + (end - start) * (low + 1) / 2)
        return np.where(asked <= 0, 0.0, np.where(asked >= 1, 1.0, share))[()]

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
        mirrored = self._marginal.mirrored
        prior = Beta(prior.b, prior.a) if mirrored else prior
        share, rest = log_logistic(self._nodes)
        seen = self._log - prior.a * share - prior.b * rest
        far = self._marginal.first(np.array([-np.inf, np.inf])) - self._top
        power = self._marginal.power
        ends = np.where([power.a > prior.a, power.b > prior.b], -np.inf, far)
        top = max(_peak(seen.ravel(), self._nodes.ravel()), *ends)
        first, last = (float(end - top) for end in ends)
        return (last, first) if mirrored else (first, last)

    def reaches(self, prior: Beta, drop: float) -> tuple[bool, bool]:
        """Whether the likelihood at 0, and at 1, is within `drop` (in logs) of its maximum."""
        at_0, at_1 = self.depths(prior)
        return at_0 > -drop, at_1 > -drop


def logistic(logit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares and their complements."""
    return 1 / (1 + np.exp(-np.clip(logit, -700, 700))), 1 / (1 + np.exp(np.clip(logit, -700, 700)))


def log_logistic(logit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take logs of shares and of their complements."""
    return -np.logaddexp(0, -logit), -np.logaddexp(0, logit)


class LogCurve:
    """A log density, which is smooth where the density is not: on each panel, a polynomial."""

    def __init__(self, marginal: Marginal):
        self.top = -np.inf
        done: list[tuple[np.ndarray, ...]] = []
        waiting = _between(_support(marginal.rough))
        points = chebyshev.chebpts1(LOG_NODES)
        allowed = LOG_SMOOTH + 10 * marginal.noise
        while len(waiting):
            nodes = _nodes_of(waiting, points)
            log = marginal.first(nodes.ravel()).reshape(nodes.shape)
            self.top = max(self.top, float(log.max()))
            series = _series(log)
            weight = np.exp(np.clip(log.max(axis=1) - self.top, -700, 0))
            rough = np.abs(series[-2:]).max(axis=0) * weight > allowed
            # what stays rough however short the panels are is the error of the integrals
            allowed = min(1.7 * allowed, AGREE + 10 * marginal.noise)
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
    """Choose ends of the first panels: where the density is not negligible, and its modes."""
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
    down = [
        np.interp(drop, *part)
        for drop in STAGES
        for part in (
            (level[held[-1] : modes[-1] : -1][::-1], x[held[-1] : modes[-1] : -1][::-1]),
            (level[held[0] : modes[0]][::-1], x[held[0] : modes[0]][::-1]),
        )
        if len(part[0]) > 1
    ]
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
    n = values.shape[1]
    # a cosine transform of type 2: `scipy.fft` has it, and takes longer to load than this to run
    spectrum = np.fft.rfft(np.hstack([values[:, ::-1], values]))[:, :n]
    series = (spectrum * np.exp(-0.5j * np.pi * np.arange(n) / n)).real.T / n
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


#: Keeps logarithms finite where a share underflows.
TINY = 1e-300
#: Pieces of a sum that are smaller than it by this much (in logs) are left out.
NEGLIGIBLE = 30.0
#: Difference of two trapezoidal rules, one with half the nodes, at which the other is right.
HALF = 1e-4
#: How often a step is halved before an integral is given up.
HALVINGS = 7


class Rule(NamedTuple):
    """How the two integrals are done."""

    #: Where an integrand has fallen by this much (in logs) its integral ends.
    drop: float = 23.0
    #: Steps of the trapezoidal rule, in thirds of the peak's width where it is narrow.
    step: float = 0.25
    #: Whether the inner integral is over w, rather than over u.
    swap: bool = False


class Shares(NamedTuple):
    """Shares with their logits, complements and logarithms."""

    logit: Any
    share: Any
    rest: Any
    log_share: Any
    log_rest: Any


def shares_at(logit: Any) -> Shares:
    """Shares at logits, with complements that lose no digits."""
    small = np.exp(-np.abs(logit))
    log = np.log1p(small)
    large = 1 / (1 + small)
    above = logit > 0
    return Shares(
        logit,
        np.where(above, large, small * large),
        np.where(above, small * large, large),
        np.minimum(logit, 0) - log,
        np.minimum(-logit, 0) - log,
    )


class Piece(NamedTuple):
    """One piece of a likelihood, as an integral over two shares w and u in (0, 1)."""

    theta_power: Any
    rest_power: Any
    w: Any
    u: Any
    near: Any
    cross: Any
    far: Any
    rest: Any
    rate: Any
    second: Any

    def taken(self, chosen: Any) -> Piece:
        """Take some of its entries, or add an axis."""
        return Piece(*(part[chosen] for part in self))


def factors_of(
    piece: Piece, theta: Shares, first: Shares, second: Shares, swap: bool
) -> tuple[tuple[Any, ...], ...]:
    """Power, value, derivative by the first share, by the second, and by both, of each factor."""
    w, u = (second, first) if swap else (first, second)
    good, bad = theta.share, theta.rest
    near = u.rest + good * u.share
    lost = bad * w.share
    found = (
        (piece.near, near, None, -bad, None),
        (piece.cross, w.rest + lost * u.share, -near, lost, bad),
        (
            piece.far,
            bad + good * (w.rest + w.share * u.rest),
            -good * u.share,
            -good * w.share,
            -good,
        ),
        (piece.rest, bad + good * w.rest, -good, None, None),
    )
    return tuple((f[0], f[1], f[3], f[2], f[4]) for f in found) if swap else found


def log_of(piece: Piece, theta: Shares, first: Shares, second: Shares, swap: bool) -> Any:
    """Log integrand on the logit scale."""
    w, u = (second, first) if swap else (first, second)
    log = piece.w * w.log_share + w.log_rest + (piece.u * u.log_share + u.log_rest)
    for power, size, *_ in factors_of(piece, theta, first, second, swap):
        log = log + power * np.log(np.maximum(size, TINY))
    return log


def slopes_of(
    piece: Piece, theta: Shares, first: Shares, second: Shares, swap: bool
) -> tuple[Any, Any]:
    """Slope and curvature of the log integrand by the second logit."""
    power = piece.w if swap else piece.u
    each = second.share * second.rest
    slope, bend = power * second.rest - second.share, -(power + 1) * each
    uneven = second.rest - second.share
    for power, size, _, by_second, _ in factors_of(piece, theta, first, second, swap):
        if by_second is not None:
            ratio = by_second * each / np.maximum(size, TINY)
            change = power * ratio
            slope, bend = slope + change, bend + change * (uneven - ratio)
    return slope, bend


def first_slopes_of(
    piece: Piece, theta: Shares, first: Shares, second: Shares, swap: bool
) -> tuple[Any, Any, Any]:
    """Slope and curvature by the first logit, and the mixed curvature."""
    power = piece.u if swap else piece.w
    each, other = first.share * first.rest, second.share * second.rest
    slope, bend, mixed = power * first.rest - first.share, -(power + 1) * each, 0.0
    uneven = first.rest - first.share
    for power, size, by_first, by_second, by_both in factors_of(piece, theta, first, second, swap):
        if by_first is None:
            continue
        inverse = 1 / np.maximum(size, TINY)
        ratio = by_first * each * inverse
        change = power * ratio
        slope, bend = slope + change, bend + change * (uneven - ratio)
        if by_second is not None:
            mixed = mixed + power * other * inverse * (by_both * each - ratio * by_second)
    return slope, bend, mixed


def log_integral(piece: Piece, theta: Shares, group: np.ndarray, rule: Rule = Rule()) -> np.ndarray:
    """Log of the integrals over both shares, summed by group."""
    with np.errstate(all="ignore"):
        peak, outside, height = _peaks(piece, theta, rule)
        top = np.full(group.max() + 1, -np.inf)
        np.maximum.at(top, group, height)
        kept = np.flatnonzero(height > top[group] - NEGLIGIBLE)
        logs = np.full(height.shape, -np.inf)
        logs[kept] = outside[kept] + _outer_integral(
            piece.taken(kept), _taken(theta, kept), Peak(*(part[kept] for part in peak)), rule
        )
        return _summed(logs, group)


def log_height(piece: Piece, theta: Shares, group: np.ndarray) -> np.ndarray:
    """Laplace's approximation of `log_integral`: cheap, and enough to find where the mass is."""
    with np.errstate(all="ignore"):
        return _summed(_peaks(piece, theta, Rule())[2], group)


def _summed(logs: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials by group."""
    found = np.full(group.max() + 1, -np.inf)
    np.logaddexp.at(found, group, logs)
    return found


def _taken(shares: Shares, chosen: Any) -> Shares:
    return Shares(*(part[chosen] for part in shares))


class Peak(NamedTuple):
    """Where an integrand is highest, and how wide it is there along the first logit."""

    x1: Any
    x2: Any
    log: Any
    sd: Any
    lean: Any  # by how much the second logit's best value moves with the first


def _peaks(piece: Piece, theta: Shares, rule: Rule) -> tuple[Peak, Any, Any]:
    """Peak of each integrand, log of the factor before it, and Laplace's approximation."""
    outside = np.where(piece.theta_power == 0, 0.0, piece.theta_power * theta.log_share)
    outside = outside + np.where(piece.rest_power == 0, 0.0, piece.rest_power * theta.log_rest)
    peak = _outer_peak(piece, theta, rule.swap)
    _, bend = slopes_of(piece, theta, shares_at(peak.x1), shares_at(peak.x2), rule.swap)
    wide = 1 / np.sqrt(np.maximum(-bend, 1e-4))
    return peak, outside, outside + peak.log + np.log(2 * np.pi * peak.sd * wide)


def _outer_peak(piece: Piece, theta: Shares, swap: bool) -> Peak:
    """Climb along the first logit, with the second at its best for each."""
    firsts = np.stack([_logit(piece.rate / theta.share), np.zeros_like(piece.rate)])
    seconds = np.stack([_logit(piece.second), np.full_like(piece.rate, -3.0)])
    if swap:
        firsts, seconds = seconds, firsts
    every = [(x1, x2) for x1 in firsts for x2 in seconds]
    x1, x2 = (np.stack(part) for part in zip(*every, strict=True))
    log = log_of(piece, theta, shares_at(x1), shares_at(x2), swap)
    best = np.argmax(log, axis=0)[None]
    x1, x2 = (np.take_along_axis(x, best, axis=0)[0] for x in (x1, x2))
    low, high = np.full(x1.shape, -np.inf), np.full(x1.shape, np.inf)
    x2 = _inner_peak(piece, theta, shares_at(x1), x2, swap)
    for _ in range(60):
        bend, lean, slope, off = _profiled(piece, theta, x1, x2, swap)
        move, low, high = _newton(x1, slope, bend, low, high)
        sd = 1 / np.sqrt(np.maximum(np.abs(bend), 1e-4))
        if np.all(np.abs(move) < 0.1 * np.minimum(sd, 1)):
            break
        x1, x2 = x1 + move, x2 + off + np.clip(lean * move, -5, 5)
        x2 = _inner_peak(piece, theta, shares_at(x1), x2, swap)
    x2 = x2 + off
    return Peak(x1, x2, log_of(piece, theta, shares_at(x1), shares_at(x2), swap), sd, lean)


def _profiled(piece: Piece, theta: Shares, x1: Any, x2: Any, swap: bool) -> tuple[Any, ...]:
    """Curvature along the first logit with the second at its best; that one's slope; the slope."""
    at = shares_at(x1), shares_at(x2)
    g2, h22 = slopes_of(piece, theta, *at, swap)
    g1, h11, h12 = first_slopes_of(piece, theta, *at, swap)
    sound = h22 < 0
    curved = np.where(sound, h22, -1.0)
    lean, off = (np.where(sound, -x / curved, 0.0) for x in (h12, g2))
    return h11 + h12 * lean, lean, g1 + lean * g2, np.clip(off, -1, 1)


def _logit(share: Any) -> Any:
    share = np.clip(np.nan_to_num(share, nan=0.5), 1e-12, 1 - 1e-3)
    return np.log(share) - np.log1p(-share)


def _newton(x: Any, slope: Any, bend: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """One step towards the root of a slope that is positive below it, and the new bracket."""
    low = np.where(slope > 0, np.maximum(low, x), low)
    high = np.where(slope < 0, np.minimum(high, x), high)
    steep = np.where(bend < 0, slope / np.maximum(-bend, TINY), 3 * np.sign(slope))
    target = x + np.clip(steep, -3, 3)
    outside = ((target <= low) | (target >= high)) & np.isfinite(high - low)
    return np.where(outside, (low + high) / 2, target) - x, low, high


def _inner_peak(piece: Piece, theta: Shares, first: Shares, x2: Any, swap: bool) -> Any:
    """Second logit at which the integrand is highest, given the first, to a tenth of its width."""
    low, high = np.full(x2.shape, -np.inf), np.full(x2.shape, np.inf)
    for _ in range(80):
        slope, bend = slopes_of(piece, theta, first, shares_at(x2), swap)
        move, low, high = _newton(x2, slope, bend, low, high)
        if np.all(np.abs(move) < 0.1 / np.sqrt(np.maximum(-bend, 1.0))):
            break
        x2 = x2 + move
    return x2


def _outer_integral(piece: Piece, theta: Shares, peak: Peak, rule: Rule) -> np.ndarray:
    """Log integral over both logits."""
    column = (slice(None), None)
    wide, at = piece.taken(column), _taken(theta, column)
    x1, x2, lean = peak.x1[:, None], peak.x2[:, None], peak.lean[:, None]

    def fallen(d: Any) -> tuple[Any, Any]:
        first = shares_at(x1 + d)
        best = x2 + np.clip(lean * d, -30, 30)
        best = shares_at(_inner_peak(wide, at, first, best, rule.swap))
        slope, _, _ = first_slopes_of(wide, at, first, best, rule.swap)
        return peak.log[:, None] - log_of(wide, at, first, best, rule.swap), slope

    def inner(nodes: Any, kept: Any) -> Any:
        guess = x2[kept] + np.clip(lean[kept] * (nodes - x1[kept]), -30, 30)
        each = np.repeat(kept, nodes.shape[1])
        some = piece.taken(each), _taken(theta, each), shares_at(nodes.ravel())
        return _inner_integral(*some, guess.ravel(), rule).reshape(nodes.shape)

    return _trapezoid(inner, peak.x1, _ends(fallen, peak.sd, rule, 6), rule)


def _inner_integral(
    piece: Piece, theta: Shares, first: Shares, guess: Any, rule: Rule
) -> np.ndarray:
    """Log integral over the second logit for each first one."""
    x2 = _inner_peak(piece, theta, first, guess, rule.swap)
    top = log_of(piece, theta, first, shares_at(x2), rule.swap)[:, None]
    _, bend = slopes_of(piece, theta, first, shares_at(x2), rule.swap)
    sd = 1 / np.sqrt(np.maximum(-bend, 1.0))
    column = (slice(None), None)
    piece, theta, first = piece.taken(column), _taken(theta, column), _taken(first, column)

    def fallen(d: Any) -> tuple[Any, Any]:
        second = shares_at(x2[:, None] + d)
        slope, _ = slopes_of(piece, theta, first, second, rule.swap)
        return top - log_of(piece, theta, first, second, rule.swap), slope

    def integrand(nodes: Any, kept: Any) -> Any:
        if kept.size == x2.size:
            return log_of(piece, theta, first, shares_at(nodes), rule.swap)
        some = piece.taken(kept), _taken(theta, kept), _taken(first, kept)
        return log_of(*some, shares_at(nodes), rule.swap)

    return _trapezoid(integrand, x2, _ends(fallen, sd, rule, 3), rule)


def _trapezoid(integrand: Any, peak: Any, ends: Any, rule: Rule) -> np.ndarray:
    """Log integrals of peaks by the trapezoidal rule, its step halved until it matters no more."""
    found = np.empty(peak.shape)
    kept = np.arange(peak.size)
    for halving in range(HALVINGS):
        nodes, log_steps = _grid(peak[kept], ends[kept], rule.step / 2**halving)
        log = integrand(nodes, kept) + log_steps
        found[kept] = whole = _log_sum(log)
        kept = kept[~(np.abs(_log_sum(log[:, ::2]) + np.log(2) - whole) < HALF)]
        if kept.size == 0:
            return found
    found[kept] = np.nan
    return found


def _ends(fallen: Any, sd: Any, rule: Rule, rounds: int) -> Any:
    """Distances from the peak, on a new last axis: far below, near below, near above, far above."""
    side, wanted = np.array([-1, -1, 1, 1]), np.array([rule.drop, 2, 2, rule.drop])
    log_d = np.log(sd[..., None] * np.sqrt(2 * wanted))
    for _ in range(rounds):
        d = np.exp(log_d)
        fall, slope = fallen(side * d)
        steep = np.maximum(d * np.abs(slope), TINY)
        step = (np.log(np.maximum(fall, 1e-3)) - np.log(wanted)) * fall / steep
        log_d = log_d - np.clip(np.where(fall > 0, step, -1.0), -1.5, 1.5)
    return np.exp(log_d)


def _grid(peak: Any, ends: Any, step: float) -> tuple[Any, Any]:
    """Nodes of the trapezoidal rule along a new last axis, and the logs of their steps."""
    sd = np.minimum(np.minimum(ends[..., 1], ends[..., 2]) / 2, 1.0)
    scale = 3 * sd
    low, high = -np.arcsinh(ends[..., 0] / scale), np.arcsinh(ends[..., 3] / scale)
    count = int(np.ceil(np.nanmax((high - low) * (1 + sd) / step))) + 1
    each = ((high - low) / (count - 1))[..., None]
    tau = low[..., None] + each * np.arange(count)
    scale = scale[..., None]
    return peak[..., None] + scale * np.sinh(tau), np.log(scale * each * np.cosh(tau))


def _log_sum(log: np.ndarray) -> np.ndarray:
    """Log of the sum over the last axis."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.exp(log - top).sum(axis=-1)) + top[..., 0]


#: The second rule has other ends, other nodes, and the integrals in the other order.
FIRST_RULE, SECOND_RULE = Rule(step=0.3, swap=True), Rule(drop=26.0, step=0.27)
Pair = tuple[float, float]
#: Integrals done at once: bounds the memory.
AT_ONCE = 256


def posterior_of(counts: Counts, priors: Any) -> Posterior:
    """Exact posterior of one system's prevalence."""
    power = Beta(1.0, 1.0)
    if counts.predictive:
        pieces = _predictive(counts, priors)
        size = counts.test_n + 2 * counts.labelled_n
    else:
        prior = priors.prevalence
        good, bad = (
            (counts.correct_n, counts.incorrect_n) if counts.labels_tell_prevalence else (0, 0)
        )
        power = Beta(prior.alpha + good, prior.beta + bad)
        pieces = _error_rates(counts, priors)
        size = counts.test_n + sum(counts.all_labels.values())
    # of a problem and its mirror one is done, so that they agree to the last digit
    mirrored = tuple(pieces[0][0]) > tuple(pieces[1][0])
    if mirrored:
        order = (1, 0, 3, 2)[: len(pieces)]
        pieces, power = [(pieces[i][0], -pieces[i][1]) for i in order], Beta(*power[::-1])
    density = partial(_log_density, pieces, power)
    return Posterior(
        Marginal(
            rough=partial(density, log_height),
            first=partial(density, partial(log_integral, rule=FIRST_RULE)),
            second=partial(density, partial(log_integral, rule=SECOND_RULE)),
            power=power,
            noise=size * np.finfo(float).eps,
            mirrored=mirrored,
        )
    )


def _error_rates(counts: Counts, priors: Any) -> list[tuple[Piece, int]]:
    """Labels tell the judge's rates: pieces, and the side from which each sees the prevalence."""
    correct, hits, incorrect, caught = counts.all_labels.values()
    q1, q0 = priors.sensitivity, priors.specificity
    hit = q1.alpha + hits, q1.beta + correct - hits
    wrong = q0.beta + incorrect - caught, q0.alpha + caught
    seen = counts.test_pass, counts.test_n - counts.test_pass
    pieces = [
        (_from_rates(hit, wrong, seen), 1),
        (_from_rates(wrong[::-1], hit[::-1], seen[::-1]), -1),
    ]
    if not priors.better_than_chance:
        pieces += [
            (_from_rates(wrong, hit, seen), -1),
            (_from_rates(hit[::-1], wrong[::-1], seen[::-1]), 1),
        ]
    return pieces


def _from_rates(hit: Pair, wrong: Pair, seen: Pair) -> Piece:
    """Pass rate w t, false-pass rate u w t: the density of both rates times the likelihood."""
    return Piece(
        theta_power=wrong[0] + seen[0],
        rest_power=0.0,
        w=hit[0] + wrong[0] + seen[0],
        u=wrong[0],
        near=hit[0] - 1,
        cross=hit[1] - 1,
        far=wrong[1] - 1,
        rest=seen[1],
        rate=(seen[0] + 0.5) / (sum(seen) + 1),
        second=wrong[0] / sum(wrong),
    )


def _predictive(counts: Counts, priors: Any) -> list[tuple[Piece, int]]:
    """Labels by verdict: pass rate, ppv and npv are independent Betas, prevalence follows."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    k, n = counts.test_pass + passed, counts.test_n + counts.labelled_n
    prior, right, refused = priors.pass_rate, counts.correct_pass, counts.incorrect_fail
    rate = prior.alpha + k, prior.beta + n - k
    good = priors.ppv.alpha + right, priors.ppv.beta + passed - right
    missed = priors.npv.beta + failed - refused, priors.npv.alpha + refused
    pieces = [
        (_from_values(rate, good, missed), 1),
        (_from_values(rate[::-1], missed[::-1], good[::-1]), -1),
    ]
    if not priors.better_than_chance:
        pieces += [
            (_from_values(rate[::-1], missed, good), 1),
            (_from_values(rate, good[::-1], missed[::-1]), -1),
        ]
    return pieces


def _from_values(rate: Pair, good: Pair, missed: Pair) -> Piece:
    """Pass rate w t, positive predictive value 1 - (1 - t) u."""
    return Piece(
        theta_power=rate[0] + missed[0] - 1,
        rest_power=good[1] + missed[1] - 1,
        w=rate[0],
        u=good[1],
        near=good[0] - 1,
        cross=missed[0] - 1,
        far=missed[1] - 1,
        rest=rate[1] - sum(missed),
        rate=rate[0] / sum(rate),
        second=good[1] / sum(good),
    )


def _log_density(
    pieces: list[tuple[Piece, int]], power: Beta, integral: Any, logit: np.ndarray
) -> np.ndarray:
    """Log density of a prevalence's logit; at the ends themselves, but for its power there."""
    found = []
    for x in np.array_split(logit, -(-logit.size * len(pieces) // AT_ONCE)):
        every = Piece(
            *(
                np.repeat(np.array(part, float), x.size)
                for part in zip(*(p for p, _ in pieces), strict=True)
            )
        )
        theta = shares_at(np.concatenate([side * x for _, side in pieces]))
        found.append(integral(every, theta, np.tile(np.arange(x.size), len(pieces))))
    theta = shares_at(logit)
    ends = np.isinf(logit)
    prior = np.where(ends, 0.0, power.a * theta.log_share + power.b * theta.log_rest)
    return prior + np.concatenate(found)
