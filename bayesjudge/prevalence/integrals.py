"""Integrals over the judge's two rates, for many prevalences at once, whatever the counts.

Every unknown is integrated on the logit scale, where a Beta density is smooth and falls at least
exponentially on both sides, so that the trapezoidal rule converges exponentially. Each integral
has its own peak and its own ends, found before a node is placed: no window is guessed.
Shares are held together with their complements, and every difference that occurs is written as a
sum of positive terms, so that nothing cancels near 0 and 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Keeps logarithms finite where a share underflows.
TINY = 1e-300
#: Pieces of a sum that are smaller than it by this much (in logs) are left out.
NEGLIGIBLE = 36.0


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
    """One piece of a likelihood, as an integral over two shares w and u in (0, 1).

    Prevalence t, pass rate, sensitivity and false-pass rate are tied by one equation. Its surface
    has an edge where sensitivity is 1 and the false-pass rate 0, where the pass rate is t, and a
    border where both rates are equal. Cut there, it falls into pieces on each of which all four,
    and their complements, are products of powers of t, 1 - t, w, 1 - w, u, 1 - u and of

    - ``near``, 1 - (1 - t) u,
    - ``cross``, 1 - w + (1 - t) w u,
    - ``far``, 1 - t w u,
    - ``rest``, 1 - t w.

    The fields of these names are the powers (those of 1 - w and 1 - u are 1), one number or one
    for each integral; `theta_power` and `rest_power` are those of t and 1 - t; `rate` is a guess
    of t w, and `second` of u.
    """

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
        """Some of its entries, or with a new axis."""
        return Piece(*(part[chosen] for part in self))


def factors_of(
    piece: Piece, theta: Shares, first: Shares, second: Shares, swap: bool
) -> tuple[tuple[Any, ...], ...]:
    """Power, value, derivative by the first share, by the second, and by both, of each factor.

    Each is linear in each of the two shares; a derivative of 0 is None. `first` is w and `second`
    u, or with `swap` the other way round.
    """
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


def log_integral(
    piece: Piece, theta: Shares, group: np.ndarray, rule: Rule = Rule()
) -> np.ndarray:
    """Log of the integrals over both shares, summed by group.

    Parameters
    ----------
    piece : Piece
        With an entry an integral.
    theta : Shares
        Its prevalence.
    group : numpy.ndarray of int
        To which sum it belongs. Integrals that are negligible in it are left out.
    rule : Rule
        How they are done.

    Returns
    -------
    numpy.ndarray
        One entry a group.
    """
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
    """Curvature along the first logit with the second at its best; that one's slope; the slope.

    And by how much the second is off its best.
    """
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
    piece, theta = piece.taken(column), _taken(theta, column)
    x1, x2, lean = peak.x1[:, None], peak.x2[:, None], peak.lean[:, None]

    def fallen(d: Any) -> tuple[Any, Any]:
        first = shares_at(x1 + d)
        best = x2 + np.clip(lean * d, -30, 30)
        best = _inner_peak(piece, theta, first, best, rule.swap)
        log = log_of(piece, theta, first, shares_at(best), rule.swap)
        slope, _, _ = first_slopes_of(piece, theta, first, shares_at(best), rule.swap)
        return peak.log[:, None] - log, slope

    nodes, log_steps = _grid(peak.x1, _ends(fallen, peak.sd, rule, 6), rule)
    guess = x2 + np.clip(lean * (nodes - x1), -30, 30)
    return _log_sum(_inner_integral(piece, theta, shares_at(nodes), guess, rule) + log_steps)


def _inner_integral(
    piece: Piece, theta: Shares, first: Shares, guess: Any, rule: Rule
) -> np.ndarray:
    """Log integral over the second logit for each first one."""
    x2 = _inner_peak(piece, theta, first, guess, rule.swap)
    top = log_of(piece, theta, first, shares_at(x2), rule.swap)[..., None]
    _, bend = slopes_of(piece, theta, first, shares_at(x2), rule.swap)
    sd = 1 / np.sqrt(np.maximum(-bend, 1.0))
    last = (..., None)
    piece, theta, first = piece.taken(last), _taken(theta, last), _taken(first, last)

    def fallen(d: Any) -> tuple[Any, Any]:
        second = shares_at(x2[..., None] + d)
        slope, _ = slopes_of(piece, theta, first, second, rule.swap)
        return top - log_of(piece, theta, first, second, rule.swap), slope

    nodes, log_steps = _grid(x2, _ends(fallen, sd, rule, 3), rule)
    log = log_of(piece, theta, first, shares_at(nodes), rule.swap)
    return _log_sum(log + log_steps)


def _ends(fallen: Any, sd: Any, rule: Rule, rounds: int) -> Any:
    """Distances from the peak, along a new last axis: far below, near below, near above, far above.

    Near is where a normal density is two standard deviations from its peak, far where the integral
    ends. Newton's method for the log of the distance: exact where the fall is a power of it.
    """
    side, wanted = np.array([-1, -1, 1, 1]), np.array([rule.drop, 2, 2, rule.drop])
    log_d = np.log(sd[..., None] * np.sqrt(2 * wanted))
    for _ in range(rounds):
        d = np.exp(log_d)
        fall, slope = fallen(side * d)
        steep = np.maximum(d * np.abs(slope), TINY)
        step = (np.log(np.maximum(fall, 1e-3)) - np.log(wanted)) * fall / steep
        log_d = log_d - np.clip(np.where(fall > 0, step, -1.0), -1.5, 1.5)
    return np.exp(log_d)


def _grid(peak: Any, ends: Any, rule: Rule) -> tuple[Any, Any]:
    """Nodes of the trapezoidal rule along a new last axis, and the logs of their steps.

    Nodes are even about the peak and thin out beyond three of its widths, where the density of a
    share that was never seen falls slowly. Their number is one for all integrals.
    """
    sd = np.minimum(np.minimum(ends[..., 1], ends[..., 2]) / 2, 1.0)
    scale = 3 * sd
    low, high = -np.arcsinh(ends[..., 0] / scale), np.arcsinh(ends[..., 3] / scale)
    count = int(np.ceil(np.nanmax((high - low) * (1 + sd) / rule.step))) + 1
    step = ((high - low) / (count - 1))[..., None]
    tau = low[..., None] + step * np.arange(count)
    scale = scale[..., None]
    return peak[..., None] + scale * np.sinh(tau), np.log(scale * step * np.cosh(tau))


def _log_sum(log: np.ndarray) -> np.ndarray:
    """Log of the sum over the last axis."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.exp(log - top).sum(axis=-1)) + top[..., 0]
