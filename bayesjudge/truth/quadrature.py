"""Exact posterior of a prevalence by quadrature, its normaliser checked by a second rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, legendre

#: Where the posterior density of the logit has fallen by this much (in logs) it is negligible.
DROP = 24.0
#: Nodes of a panel of the density, and of one of the log density.
NODES, LOG_NODES = 18, 14
#: Last Chebyshev coefficients, in units of the density's maximum, to which panels are halved.
SMOOTH = 1e-10
#: Panels of a density at once, of which ordinary ones take twenty.
MOST = 2000


#: First panels of a log density end where it has fallen by so much.
STAGES = (6.0,)


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


class Care(NamedTuple):
    """What a posterior is given before another is tried, or none is."""

    #: Change by a halving of the step, as in `Rule`.
    settled: float
    #: Disagreement of the two rules, relative to the normaliser and in posterior standard
    #: deviations of the mean, that is too much.
    agree: float
    #: A density that takes more panels is not resolved.
    panels: int
    #: Last Chebyshev coefficients of the log density, in units of the density's maximum.
    smooth: float = 1e-6
    #: Nodes of a panel of the log density at which the second rule is held against the first.
    second: int = 6
    #: By how much further (in logs) the two integrals go, behind cliffs too, and by which factor
    #: their steps are shorter.
    further: float = 0.0
    shorter: float = 1.0

    def of(self, rule: Rule) -> Rule:
        """Take this care of a rule."""
        drop, step = rule.drop + self.further, rule.step * self.shorter
        return rule._replace(settled=self.settled, drop=drop, step=step, behind=self.further > 0)


#: Ordinary posteriors take the first; a steep edge of an integrand takes the second; a cliff that
#: follows on a long slope, which few labels and a prior without weight leave, the third.
CARES = (
    Care(settled=5e-4, agree=3e-6, panels=24),
    Care(settled=1e-5, agree=1e-5, panels=200),
    Care(settled=1e-6, agree=1e-5, panels=400, smooth=1e-8, second=12, further=18.0, shorter=0.66),
)


class Marginal(NamedTuple):
    """Log density of a logit, up to a constant, in three ways."""

    rough: Callable[[np.ndarray], np.ndarray]
    first: Callable[[np.ndarray], np.ndarray]
    second: Callable[[np.ndarray], np.ndarray] | None
    power: Beta
    noise: float
    care: Care
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
        #: Log of the integral of prior times likelihood, both without their constants.
        self.log_evidence = float(self._top + np.log(total))
        self.mean = float((mass * share).sum() / total)
        other = float((mass * rest).sum() / total)
        off = share - self.mean if self.mean < 0.5 else other - rest
        self.sd = float(np.sqrt((mass * off**2).sum() / total))
        self._edges, self._nodes, self._log = edges, nodes, log
        below = chebyshev.chebint(series, lbnd=-1) * half
        ends = np.concatenate([[0.0], np.cumsum(below.sum(axis=0))])
        below[0] += ends[:-1]
        self._cdf, self._ends = below / ends[-1], ends / ends[-1]
        if marginal.second is not None:
            self._agree(curve, total, marginal, marginal.second)

    def _agree(self, curve: LogCurve, total: float, marginal: Marginal, second: Any) -> None:
        """Do normaliser and mean again by the second rule: integrate the difference of the two."""
        points, weights = legendre.leggauss(marginal.care.second)
        edges = curve.edges[curve.highest > -DROP + 6]
        nodes = _nodes_of(edges, points).ravel()
        log = second(nodes) - curve.top
        off = np.exp(log) - np.exp(curve(nodes))
        off *= (np.diff(edges, axis=1) / 2 * weights).ravel()
        share, _ = self._shares(nodes)
        # how far it is off: in units of the normaliser, and the mean in posterior sd
        self.checked = (
            float(off.sum() / total),
            float((off * (share - self.mean)).sum() / (total * self.sd)),
        )
        if not np.all(np.abs(self.checked) < marginal.care.agree + 10 * marginal.noise):
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
        below = chebyshev.chebval(inside, self._cdf[:, panel], tensor=False)
        below = np.clip(below, 0, 1)
        return 1 - below if self._marginal.mirrored else below

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
        allowed = marginal.care.smooth + 10 * marginal.noise
        while len(waiting):
            nodes = _nodes_of(waiting, points)
            log = marginal.first(nodes.ravel()).reshape(nodes.shape)
            self.top = max(self.top, float(log.max()))
            series = _series(log)
            # between its nodes too: they may lie on both sides of a peak
            highest = chebyshev.chebval(_between_nodes(), series).max(axis=1)
            weight = np.exp(np.clip(highest - self.top, -700, 0))
            rough = np.abs(series[-2:]).max(axis=0) * weight > allowed
            # what stays rough however short the panels are is the error of the integrals
            allowed = min(1.7 * allowed, marginal.care.agree + 10 * marginal.noise)
            panels = len(waiting) + sum(len(panel[0]) for panel in done)
            if not np.isfinite(series).all() or panels > marginal.care.panels:
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
    while len(waiting):
        if len(waiting) > MOST:
            raise NotIntegrated("the density could not be resolved")
        log = curve(_nodes_of(waiting, _cosines()).ravel()).reshape(len(waiting), NODES)
        series = _series(np.exp(log))
        rough = np.abs(series[-3:]).max(axis=0) > SMOOTH
        done.append((waiting[~rough], log[~rough], series.T[~rough]))
        waiting = _halved(waiting[rough])
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
def _between_nodes() -> np.ndarray:
    return np.cos(np.linspace(0, np.pi, 4 * LOG_NODES + 1))


@functools.cache
def _fejer() -> np.ndarray:
    """Weights of the values at `_cosines` in the integral over [-1, 1]."""
    whole = chebyshev.chebint(_series(np.eye(NODES)), lbnd=-1)
    return whole.sum(axis=0)


#: Keeps logarithms finite where a share underflows.
TINY = 1e-300
#: Pieces of a sum that are smaller than it by this much (in logs) are left out.
NEGLIGIBLE = 30.0
#: How often the step of all of an integral is halved, and how often panels are from then on.
HALVINGS, PANEL_HALVINGS = 4, 30
#: Rough panels of an integral, on average, with which it is given up.
PANELS_EACH = 64
#: Last Chebyshev coefficients, in units of an integral's change, to which its panels are halved.
PANEL_SETTLED = 1e-2


class Rule(NamedTuple):
    """How the two integrals are done."""

    #: Where an integrand has fallen by this much (in logs) its integral ends.
    drop: float = 23.0
    #: Steps of the trapezoidal rule, in thirds of the peak's width where it is narrow.
    step: float = 0.25
    #: Whether the inner integral is over w, rather than over u.
    swap: bool = False
    #: Change of a log integral by a halving of the step from which on it is short enough: the
    #: next change is about the square of it.
    settled: float = 1e-5
    #: Whether a far end is looked for until the integrand has fallen there as it should.
    behind: bool = False


class Shares(NamedTuple):
    """Shares with their complements and the logarithms of both."""

    share: Any
    rest: Any
    log_share: Any
    log_rest: Any

    def taken(self, chosen: Any) -> Shares:
        """Take some of its entries, or add an axis."""
        return Shares(*(part[chosen] for part in self))


def shares_at(logit: Any) -> Shares:
    """Shares at logits, with complements that lose no digits."""
    share, rest, log = _shares(logit)
    return Shares(share, rest, np.minimum(logit, 0) - log, np.minimum(-logit, 0) - log)


def _shares(logit: Any) -> tuple[Any, Any, Any]:
    """Share, complement, and minus the log of the larger one."""
    small = np.exp(-np.abs(logit))
    large = 1 / (1 + small)
    less, above = small * large, logit > 0
    return np.where(above, large, less), np.where(above, less, large), np.log1p(small)


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


class Line(NamedTuple):
    """Log integrand along one of the two logits, the other fixed.

    Besides the share itself and its complement it has three factors that are linear in the share.
    """

    power: Any
    fixed: Any
    powers: np.ndarray
    at_0: np.ndarray
    at_1: np.ndarray
    change: np.ndarray  # at_1 - at_0, no digit lost

    def taken(self, chosen: Any) -> Line:
        """Take some lines, by their numbers."""
        return Line(*(np.take(part, chosen, axis=-1) for part in self))

    def column(self) -> Line:
        """Add an axis for the nodes."""
        return Line(*(part[..., None] for part in self))

    def log(self, x: Any) -> Any:
        """Log integrand at logits."""
        share, rest, log = _shares(x)
        height = self.power * np.minimum(x, 0) + np.minimum(-x, 0) - (self.power + 1) * log
        height += self.fixed
        for power, at_0, at_1 in zip(self.powers, self.at_0, self.at_1, strict=True):
            height += power * np.log(np.maximum(at_0 * rest + at_1 * share, TINY))
        return height

    def slopes(self, x: Any) -> tuple[Any, Any]:
        """Slope and curvature at logits."""
        share, rest, _ = _shares(x)
        each = share * rest
        size = self.at_0 * rest + self.at_1 * share
        ratio = self.change * each / np.maximum(size, TINY)
        terms = self.powers * ratio
        slope = self.power * rest - share + terms.sum(axis=0)
        return slope, (terms * (rest - share - ratio)).sum(axis=0) - (self.power + 1) * each


def line_of(piece: Piece, theta: Shares, fixed: Shares, along_w: bool) -> Line:
    """Log integrand along w with u fixed, or along u with w fixed."""
    good, bad = theta.share, theta.rest
    if along_w:
        near = fixed.rest + good * fixed.share
        lost = good * fixed.share
        constant = piece.u * fixed.log_share + fixed.log_rest + piece.near * _log(near)
        powers = piece.cross, piece.far, piece.rest
        at_0 = 1.0, 1.0, 1.0
        at_1 = bad * fixed.share, bad + good * fixed.rest, bad
        change = -near, -lost, -good
    else:
        failed = bad + good * fixed.rest
        lost = bad * fixed.share
        constant = piece.w * fixed.log_share + fixed.log_rest + piece.rest * _log(failed)
        powers = piece.near, piece.cross, piece.far
        at_0 = 1.0, fixed.rest, 1.0
        at_1 = good, fixed.rest + lost, failed
        change = -bad, lost, -good * fixed.share
    stacked = np.empty((4, 3, *constant.shape))
    for row, parts in zip(stacked, (powers, at_0, at_1, change), strict=True):
        row[0], row[1], row[2] = parts
    return Line(
        np.broadcast_to(piece.w if along_w else piece.u, constant.shape), constant, *stacked
    )


def _log(share: Any) -> Any:
    return np.log(np.maximum(share, TINY))


def mixed_curvature(piece: Piece, theta: Shares, w: Shares, u: Shares) -> Any:
    """Derivative of the log integrand by both logits: of the two factors that have both shares."""
    lost = theta.rest * w.share
    cross = np.maximum(w.rest + lost * u.share, TINY)
    far = np.maximum(theta.rest + theta.share * (w.rest + w.share * u.rest), TINY)
    by_w, by_u = w.share * w.rest, u.share * u.rest
    curved = piece.cross * theta.rest * (by_w / cross) * (by_u / cross)
    return curved - piece.far * theta.share * (by_w / far) * (by_u / far)


#: Logits of w and of u at which integrands are highest, or near which they may be.
Highest = tuple[Any, Any]


def log_integral(
    piece: Piece, theta: Shares, group: np.ndarray, near: Highest | None, rule: Rule = Rule()
) -> tuple[np.ndarray, Highest]:
    """Log of the integrals over both shares, summed by group; where each integrand is highest."""
    with np.errstate(all="ignore"):
        peak, outside, height = _peaks(piece, theta, near, rule)
        top = np.full(group.max() + 1, -np.inf)
        np.maximum.at(top, group, height)
        kept = np.flatnonzero(height > top[group] - NEGLIGIBLE)
        logs = np.full(height.shape, -np.inf)
        logs[kept] = outside[kept] + _outer_integral(
            piece.taken(kept), theta.taken(kept), Peak(*(part[kept] for part in peak)), rule
        )
        return _summed(logs, group), peak.highest(rule)


def log_height(
    piece: Piece, theta: Shares, group: np.ndarray, near: Highest | None
) -> tuple[np.ndarray, Highest]:
    """Laplace's approximation of `log_integral`: cheap, and enough to find where the mass is."""
    with np.errstate(all="ignore"):
        peak, _, height = _peaks(piece, theta, near, Rule())
        return _summed(height, group), peak.highest(Rule())


def _summed(logs: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials by group."""
    sums = np.full(group.max() + 1, -np.inf)
    np.logaddexp.at(sums, group, logs)
    return sums


class Peak(NamedTuple):
    """Where an integrand is highest, and how wide it is there along the first logit."""

    x1: Any
    x2: Any
    log: Any
    sd: Any
    lean: Any  # by how much the second logit's best value moves with the first

    def highest(self, rule: Rule) -> Highest:
        """Where it is, whichever logit comes first."""
        return (self.x2, self.x1) if rule.swap else (self.x1, self.x2)


def _peaks(piece: Piece, theta: Shares, near: Highest | None, rule: Rule) -> tuple[Peak, Any, Any]:
    """Peak of each integrand, log of the factor before it, and Laplace's approximation."""
    outside = np.where(piece.theta_power == 0, 0.0, piece.theta_power * theta.log_share)
    outside = outside + np.where(piece.rest_power == 0, 0.0, piece.rest_power * theta.log_rest)
    peak, wide = _outer_peak(piece, theta, near, rule.swap)
    return peak, outside, outside + peak.log + np.log(2 * np.pi * peak.sd * wide)


def _outer_peak(piece: Piece, theta: Shares, near: Highest | None, swap: bool) -> tuple[Peak, Any]:
    """Climb along the first logit, with the second at its best for each."""
    firsts = _logit(piece.rate / theta.share), np.zeros_like(piece.rate)
    seconds = _logit(piece.second), np.full_like(piece.rate, -3.0)
    every = [(x1, x2) for x1 in firsts for x2 in seconds]
    every += [] if near is None else [near]
    x1, x2 = (np.stack(part) for part in zip(*every, strict=True))
    if swap:
        x1, x2 = x2, x1
    log = line_of(piece, theta, shares_at(x1), swap).log(x2)
    best = np.argmax(np.where(np.isnan(log), -np.inf, log), axis=0)[None]
    x1, x2 = (np.take_along_axis(x, best, axis=0)[0] for x in (x1, x2))
    low, high = np.full(x1.shape, -np.inf), np.full(x1.shape, np.inf)
    for _ in range(60):
        first = shares_at(x1)
        line = line_of(piece, theta, first, swap)
        x2, *along = _best_along(line, x2)
        bend, lean, slope, off = _profiled(piece, theta, first, x1, x2, along, swap)
        move, low, high = _newton(x1, slope, bend, low, high)
        sd = 1 / np.sqrt(np.maximum(np.abs(bend), 1e-4))
        if np.all(np.abs(move) < 0.1 * np.minimum(sd, 1)):
            break
        x1, x2 = x1 + move, x2 + off + np.clip(lean * move, -5, 5)
    x2 = x2 + off
    return Peak(x1, x2, line.log(x2), sd, lean), 1 / np.sqrt(np.maximum(-along[1], 1e-4))


def _profiled(
    piece: Piece, theta: Shares, first: Shares, x1: Any, x2: Any, along: Any, swap: bool
) -> tuple[Any, ...]:
    """Curvature along the first logit with the second at its best; that one's slope; the slope."""
    second = shares_at(x2)
    g2, h22 = along
    g1, h11 = line_of(piece, theta, second, not swap).slopes(x1)
    h12 = mixed_curvature(piece, theta, *((second, first) if swap else (first, second)))
    sound = h22 < 0
    curved = np.where(sound, h22, -1.0)
    lean, off = (np.where(sound, -x / curved, 0.0) for x in (h12, g2))
    return h11 + h12 * lean, lean, g1 + lean * g2, np.clip(off, -1, 1)


def _logit(share: Any) -> Any:
    share = np.clip(np.nan_to_num(share, nan=0.5), 1e-12, 1 - 1e-3)
    return np.log(share) - np.log1p(-share)


def _newton(x: Any, slope: Any, bend: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """One step towards the root of a slope that is positive below it, and the new bracket."""
    low, high = np.where(slope > 0, x, low), np.where(slope < 0, x, high)
    steep = np.where(bend < 0, slope / np.maximum(-bend, TINY), 3 * np.sign(slope))
    target = x + np.minimum(np.maximum(steep, -3), 3)
    outside = ((target <= low) | (target >= high)) & np.isfinite(high - low)
    return np.where(outside, (low + high) / 2, target) - x, low, high


def _best_along(line: Line, x: Any) -> tuple[Any, Any, Any]:
    """Where the integrand is highest along a line, to a tenth of its width; its slopes there."""
    return _climbed(line, x, np.full(x.shape, -np.inf), np.full(x.shape, np.inf), 80)


def _climbed(line: Line, x: Any, low: Any, high: Any, rounds: int) -> tuple[Any, Any, Any]:
    for done in range(rounds):
        slope, bend = line.slopes(x)
        move, low, high = _newton(x, slope, bend, low, high)
        far = ~(np.abs(move) < 0.1 / np.sqrt(np.maximum(-bend, 1.0)))
        if not far.any():
            break
        if x.size > FEW:
            on = np.flatnonzero(far)
            at, below, above = (np.take(values, on) for values in (x + move, low, high))
            left = _climbed(line.taken(on), at, below, above, rounds - done - 1)
            x[on], slope[on], bend[on] = left
            break
        x = x + move
    return x, slope, bend


#: Adds an axis.
COLUMN = (slice(None), None)


def _outer_integral(piece: Piece, theta: Shares, peak: Peak, rule: Rule) -> np.ndarray:
    """Log integral over both logits."""
    wide, at = piece.taken(COLUMN), theta.taken(COLUMN)
    x1, x2, lean = peak.x1[:, None], peak.x2[:, None], peak.lean[:, None]
    tilt = lean  # by how much the second logit's best value moves on the way to an end

    def fallen(d: Any, _: Any) -> tuple[Any, Any]:
        nonlocal tilt
        d = d.reshape(-1, 4)
        line = line_of(wide, at, shares_at(x1 + d), rule.swap)
        best, _, _ = _best_along(line, x2 + np.clip(tilt * d, -30, 30))
        tilt = (best - x2) / d
        slope, _ = line_of(wide, at, shares_at(best), not rule.swap).slopes(x1 + d)
        return (peak.log[:, None] - line.log(best)).ravel(), slope.ravel()

    def inner(nodes: Any, kept: Any) -> Any:
        guess = x2[kept] + np.clip(lean[kept] * (nodes - x1[kept]), -30, 30)
        each = np.repeat(kept, nodes.shape[1])
        line = line_of(piece.taken(each), theta.taken(each), shares_at(nodes.ravel()), rule.swap)
        return _inner_integral(line, guess, rule)

    return _trapezoid(inner, peak.x1, _ends(fallen, peak.sd, rule, 6), rule)


def _inner_integral(line: Line, guess: Any, rule: Rule) -> np.ndarray:
    """Log integral along each line, of which a row makes up an integral over both logits."""
    x, _, bend = _best_along(line, guess.ravel())
    top = line.log(x)
    sd = 1 / np.sqrt(np.maximum(-bend, 1.0))

    def integrand(nodes: Any, kept: Any) -> Any:
        log = np.empty(nodes.shape)
        step = max(BLOCK // nodes.shape[1], 1)
        for start in range(0, kept.size, step):
            block = slice(start, start + step)
            log[block] = line.taken(kept[block]).column().log(nodes[block])
        return log

    rows = top.reshape(guess.shape)
    lower = (rows.max(axis=1, keepdims=True) - rows).ravel()
    ends = _inner_ends(line, Peak(x, None, top, sd, None), guess.shape, rule)
    return _trapezoid(integrand, x, ends, rule, lower).reshape(guess.shape)


def _inner_ends(line: Line, peak: Peak, shape: tuple[int, ...], rule: Rule) -> Any:
    """Ends of some lines of each row; in units of the width, those of lines between are between."""
    row = np.arange(shape[1])
    some = np.append(row[:-1:EVERY], row[-1])
    kept = np.arange(peak.sd.size).reshape(shape)[:, some].ravel()
    part, x, top, sd = line.taken(kept), peak.x1[kept], peak.log[kept], peak.sd[kept]

    def fallen(d: Any, ends: Any) -> tuple[Any, Any]:
        which = ends // 4
        taken, at = part.taken(which), x[which] + d
        return top[which] - taken.log(at), taken.slopes(at)[0]

    widths = np.log(_ends(fallen, sd, rule, 3) / sd[:, None]).reshape(shape[0], some.size, 4)
    right = np.searchsorted(some, row)
    left = np.maximum(right - 1, 0)
    weight = (row - some[left]) / np.maximum(some[right] - some[left], 1)
    weight = weight[:, None]
    between = widths[:, left] * (1 - weight) + widths[:, right] * weight
    return peak.sd[:, None] * np.exp(between.reshape(-1, 4))


def _trapezoid(integrand: Any, peak: Any, ends: Any, rule: Rule, lower: Any = 0.0) -> np.ndarray:
    """Log integrals of peaks by the trapezoidal rule, its step halved until it matters no more.

    A peak that is `lower` (in logs) than others to which it is added is allowed a larger change:
    the next one is about the square, and its weight is known.
    """
    sums = np.empty(peak.shape)
    kept = np.arange(peak.size)
    allowed = np.minimum(rule.settled * np.exp(lower / 2), max(LOW_SETTLED, rule.settled))
    allowed = np.broadcast_to(allowed, peak.shape)
    for halving in range(HALVINGS):
        nodes, log_steps = _grid(peak[kept], ends[kept], rule.step / 2**halving)
        sums[kept], change = _log_sum(integrand(nodes, kept) + log_steps)
        kept = kept[~(change < allowed[kept])]
        if kept.size == 0:
            return sums
    sums[kept] = _by_panels(integrand, peak, ends, kept, allowed)
    return sums


def _by_panels(integrand: Any, peak: Any, ends: Any, kept: Any, allowed: Any) -> np.ndarray:
    """Log integrals of peaks with a cliff, to which no step is short: panels are halved there."""
    scale, low, high = _stretched(ends)
    ahead, behind = np.column_stack([low, 0 * low])[kept], np.column_stack([0 * high, high])[kept]
    edges, owner = _halved(np.concatenate([ahead, behind])), np.tile(kept, 4)
    sums, top = np.full((2, peak.size), -np.inf)
    for _ in range(PANEL_HALVINGS):
        tau, wide = _nodes_of(edges, _cosines()), scale[owner, None]
        log = integrand(peak[owner, None] + wide * np.sinh(tau), owner)
        log += np.log(wide * np.cosh(tau))
        np.maximum.at(top, owner, log.max(axis=1))
        half = np.diff(edges, axis=1)[:, 0] / 2
        each = np.exp(log - top[owner, None])
        last = np.abs(_series(each)[-3:]).max(axis=0) * half
        rough = ~(last < PANEL_SETTLED * allowed[owner])
        done = np.log(each @ _fejer() * half) + top[owner]
        np.logaddexp.at(sums, owner[~rough], done[~rough])
        edges, owner = _halved(edges[rough]), np.tile(owner[rough], 2)
        if not 0 < owner.size <= PANELS_EACH * kept.size:  # rough all over: noise, not a cliff
            break
    sums[owner] = np.nan
    return sums[kept]


def _ends(fallen: Any, sd: Any, rule: Rule, rounds: int) -> Any:
    """Distances from the peak, on a new last axis: far below, near below, near above, far above."""
    side, wanted = (
        np.tile(values, sd.size) for values in ([-1, -1, 1, 1], [rule.drop, 2, 2, rule.drop])
    )
    log_d = np.log(np.repeat(sd, 4) * np.sqrt(2 * wanted))
    low, high = np.full(log_d.shape, -np.inf), np.full(log_d.shape, np.inf)
    kept = np.arange(log_d.size)
    for _ in range(4 * rounds if rule.behind else rounds):
        at, far = log_d[kept], wanted[kept]
        d = np.exp(at)
        fall, slope = fallen(side[kept] * d, kept)
        low[kept] = below = np.where(fall < far, at, low[kept])
        high[kept] = above = np.where(fall < far, high[kept], at)
        steep = np.maximum(d * np.abs(slope), TINY)
        step = (np.log(np.maximum(fall, 1e-3)) - np.log(far)) * fall / steep
        step = np.minimum(np.maximum(np.where(fall > 0, step, -1.0), -1.5), 1.5)
        target = at - step
        beyond = ((target <= below) | (target >= above)) & np.isfinite(above - below)
        log_d[kept] = np.where(beyond, (below + above) / 2, target)
        unsure = np.abs(step) > 0.1
        if rule.behind:  # a cliff is steep in front of it too, and the step small
            unsure |= fall < far - NEAR_DROP
        if not unsure.any():
            break
        if kept.size > FEW:
            kept, unsure = kept[unsure], unsure[unsure]
    # behind a cliff that was not found in time, rather than before it
    behind = kept[unsure & np.isfinite(high[kept])]
    log_d[behind] = high[behind]
    return np.exp(log_d).reshape(*sd.shape, 4)


def _grid(peak: Any, ends: Any, step: float) -> tuple[Any, Any]:
    """Nodes of the trapezoidal rule along a new last axis, and the logs of their steps."""
    scale, low, high = _stretched(ends)
    count = int(np.ceil(np.nanmax((high - low) * (1 + scale / 3) / step))) + 1
    each = ((high - low) / (count - 1))[..., None]
    tau = low[..., None] + each * np.arange(count)
    scale = scale[..., None]
    return peak[..., None] + scale * np.sinh(tau), np.log(scale * each * np.cosh(tau))


def _stretched(ends: Any) -> tuple[Any, Any, Any]:
    """Width of peaks, and their ends where its nodes are evenly spaced."""
    scale = 3 * np.minimum(np.minimum(ends[..., 1], ends[..., 2]) / 2, 1.0)
    return scale, -np.arcsinh(ends[..., 0] / scale), np.arcsinh(ends[..., 3] / scale)


def _log_sum(log: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log of the sum over the last axis, and how far it is from that of twice every second one."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    each = np.exp(log - top)
    whole = np.log(each.sum(axis=-1))
    change = np.abs(np.log(2 * each[..., ::2].sum(axis=-1)) - whole)
    return whole + top[..., 0], change


#: The second rule has other ends, other nodes, and the integrals in the other order.
FIRST_RULE, SECOND_RULE = Rule(step=0.3, swap=True), Rule(drop=26.0, step=0.27)
Pair = tuple[float, float]
#: By so much less than it should an integrand may have fallen at an end.
NEAR_DROP = 1.0
#: Change of a log integral that a lower one among several is allowed at most.
LOW_SETTLED = 0.1
#: Of so many neighbouring lines of an integral the ends of one are looked for.
EVERY = 3
#: Integrals done at once: bounds the memory.
AT_ONCE = 256
#: Of more lines than this those that are done are put aside: than the outer integrals have.
FEW = 4 * AT_ONCE
#: Nodes at which an integrand is evaluated at once: what a processor's cache holds.
BLOCK = 8192
#: Posteriors kept in memory, of some 30 kB each.
KEPT = 256


def posterior_of(counts: Any, priors: Any, *, checked: bool = True) -> Posterior:
    """Exact posterior of one system's prevalence; data to come, for a plan, go without the check.

    The second rule takes a third of the time.
    """
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
    exact = tuple((Piece(*map(float, piece)), side) for piece, side in pieces)
    noise = float(size) * np.finfo(float).eps
    of = exact, Beta(*map(float, power)), noise, mirrored
    return _integrated(*of, CARES, FIRST_RULE, SECOND_RULE if checked else None)


@functools.lru_cache(maxsize=KEPT)
def _integrated(
    pieces: tuple[tuple[Piece, int], ...],
    power: Beta,
    noise: float,
    mirrored: bool,
    cares: tuple[Care, ...],
    first_rule: Rule,
    second_rule: Rule | None,
) -> Posterior:
    """The same question is asked several times: by an estimate, its diagnostics, and a gate."""
    density = partial(_log_density, pieces, power, Climbs())
    rough = partial(density, log_height)

    def by(rule: Rule, care: Care) -> Callable[[np.ndarray], np.ndarray]:
        return partial(density, partial(log_integral, rule=care.of(rule)))

    for care in cares:
        second = by(second_rule, care) if second_rule else None
        try:
            first = by(first_rule, care)
            return Posterior(Marginal(rough, first, second, power, noise, care, mirrored))
        except NotIntegrated:
            if care is cares[-1]:
                raise
    raise AssertionError


def _error_rates(counts: Any, priors: Any) -> list[tuple[Piece, int]]:
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


def _predictive(counts: Any, priors: Any) -> list[tuple[Piece, int]]:
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


class Climbs:
    """Where the integrands of a posterior were highest: near there those of other logits are."""

    def __init__(self) -> None:
        self._at, self._best = np.empty(0), np.empty((2, 0, 0))

    def near(self, logit: np.ndarray) -> Highest | None:
        """Where integrands at some logits may be highest, by those that are known."""
        if self._at.size == 0:
            return None
        w, u = (
            np.concatenate([np.interp(logit, self._at, values) for values in share])
            for share in self._best
        )
        return w, u

    def add(self, logit: np.ndarray, highest: Highest) -> None:
        """Add what was found at logits."""
        finite = np.isfinite(logit)
        new = np.stack(highest).reshape(2, -1, logit.size)[..., finite]
        known = self._best if self._at.size else new[..., :0]
        at, best = np.append(self._at, logit[finite]), np.concatenate([known, new], axis=-1)
        order = np.argsort(at, kind="stable")
        self._at, self._best = at[order], best[..., order]


def _log_density(
    pieces: tuple[tuple[Piece, int], ...],
    power: Beta,
    climbs: Climbs,
    integral: Any,
    logit: np.ndarray,
) -> np.ndarray:
    """Log density of a prevalence's logit; at the ends themselves, but for its power there."""
    blocks = []
    for x in np.array_split(logit, -(-logit.size * len(pieces) // AT_ONCE)):
        every = Piece(
            *(
                np.repeat(np.array(part, float), x.size)
                for part in zip(*(p for p, _ in pieces), strict=True)
            )
        )
        theta = shares_at(np.concatenate([side * x for _, side in pieces]))
        group = np.tile(np.arange(x.size), len(pieces))
        log, highest = integral(every, theta, group, climbs.near(x))
        climbs.add(x, highest)
        blocks.append(log)
    theta = shares_at(logit)
    ends = np.isinf(logit)
    prior = np.where(ends, 0.0, power.a * theta.log_share + power.b * theta.log_rest)
    return prior + np.concatenate(blocks)
