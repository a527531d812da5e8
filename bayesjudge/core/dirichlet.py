r"""Exact distribution of a weighted sum of Dirichlet shares: a mean score, a mean squared shift.

With values :math:`s_k` and shares :math:`p \sim Dirichlet(a)`, the sum :math:`\sum_k s_k p_k` lies
below t exactly if :math:`\sum_k (s_k - t) G_k < 0` for independent :math:`G_k \sim Gamma(a_k, 1)`:
one integral by Gil-Pelaez' formula, no sampling. All functions broadcast over leading axes, so one
call serves thousands of items.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking, expect

#: Nodes to begin with, of the trapezoidal rule in the logarithm of the frequency.
NODES, MOST_NODES = 32, 8192
#: Two interleaved rules that agree to this are closer still together, unless the weights are far
#: apart: then their errors fall slowly, and are near their difference.
AGREED = 1e-10
#: How far off a quantile is at most, as a share of the range of the scale.
TOLERANCE = 1e-9
#: Numbers of an array of rows, values and nodes.
_CHUNK = 2_000_000


def posterior(counts: Any, *, concentration: float = 1.0) -> np.ndarray:
    """Add a prior worth `concentration` values in all, spread evenly, to counts (..., n_values)."""
    expect(
        "concentration",
        0 < concentration < np.inf,
        "must be positive and finite",
        concentration=concentration,
    )
    counts = np.asarray(counts, float)
    return counts + concentration / counts.shape[-1]


def moments(weights: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the weighted sum, shape (...)."""
    weights, scale = np.asarray(weights, float), np.asarray(values, float)
    total = weights.sum(axis=-1)
    mean = weights @ scale / total
    spread = (weights * (scale - mean[..., None]) ** 2).sum(axis=-1) / total
    return mean, np.sqrt(spread / (total + 1))


def distribution(weights: Any, values: Any, at: Any) -> tuple[np.ndarray, np.ndarray]:
    r"""Distribution function and density of the weighted sum at points `at`, shape (...)."""
    weights, scale, at = (np.asarray(x, float) for x in (weights, values, at))
    width, shape = np.ptp(scale), np.broadcast_shapes(weights.shape[:-1], at.shape)
    if width == 0:  # the sum is that one value
        return np.broadcast_to(at >= scale.min(), shape).astype(float), np.zeros(shape)
    steps = (scale - at[..., None]) / width
    weights = np.broadcast_to(weights, (*shape, scale.size))
    steps = np.broadcast_to(steps, (*shape, scale.size))
    flat_w, flat_s = weights.reshape(-1, scale.size), steps.reshape(-1, scale.size)
    below, density = _gil_pelaez(flat_w, flat_s)
    return below.reshape(shape), density.reshape(shape) / width


def quantile(weights: Any, values: Any, prob: Any) -> np.ndarray:
    """Quantiles of the weighted sum, to `TOLERANCE` of its range."""
    weights, scale, prob = (np.asarray(x, float) for x in (weights, values, prob))
    with checking("quantile of a weighted sum") as require:
        require(((prob > 0) & (prob < 1)).all(), "must lie in (0, 1)", prob=prob)
        require((weights > 0).all(), "weights must be positive")
        require(np.isfinite(scale).all(), "values must be finite")
    bottom, width = scale.min(), np.ptp(scale)
    shape = np.broadcast_shapes(weights.shape[:-1], prob.shape)
    if width == 0:
        return np.full(shape, bottom)
    unit = (scale - bottom) / width
    flat = np.broadcast_to(weights, (*shape, scale.size)).reshape(-1, scale.size)
    wanted = np.broadcast_to(prob, shape).ravel()
    low, high = np.zeros(wanted.size), np.ones(wanted.size)
    at = np.clip(_beta_start(flat, unit, wanted), 1e-12, 1 - 1e-12)
    open_ = np.arange(wanted.size)
    while open_.size:
        below, slope = distribution(flat[open_], unit, at[open_])
        miss = below - wanted[open_]
        low[open_] = np.where(miss < 0, at[open_], low[open_])
        high[open_] = np.where(miss < 0, high[open_], at[open_])
        with np.errstate(divide="ignore", invalid="ignore"):
            step = miss / slope
        newton = at[open_] - step
        inside = (newton > low[open_]) & (newton < high[open_])  # False for nan
        at[open_] = np.where(inside, newton, (low[open_] + high[open_]) / 2)
        settled = (inside & (np.abs(step) < TOLERANCE)) | (high[open_] - low[open_] < TOLERANCE)
        open_ = open_[~settled]
    return (bottom + width * at).reshape(shape)


def half_width(weights: Any, values: Any, *, ci_prob: float = 0.95) -> np.ndarray:
    """Half the width of the equal-tailed interval, shape (...)."""
    low, high = interval(weights, values, ci_prob=ci_prob)
    return (high - low) / 2


def interval(weights: Any, values: Any, *, ci_prob: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Equal-tailed interval of the weighted sum, each end of shape (...)."""
    tail = (1 - check_ci_prob(ci_prob)) / 2
    weights = np.asarray(weights, float)[..., None, :]
    ends = quantile(weights, values, np.array([tail, 1 - tail]))
    ends = np.sort(ends, axis=-1)  # which are off by `TOLERANCE`, and may be nearer still
    return ends[..., 0], ends[..., 1]


def _beta_start(weights: np.ndarray, unit: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Quantiles of the Beta distribution with the same mean and variance."""
    from scipy.special import betaincinv

    mean, sd = moments(weights, unit)
    size = mean * (1 - mean) / sd**2 - 1
    return betaincinv(mean * size, (1 - mean) * size, prob)


def _gil_pelaez(weights: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # In v = log u the integrand falls off like e^v to the left and exponentially to the right, and
    # is smooth between: the trapezoidal rule converges faster than any power of its step. So the
    # step is halved, for the rows that need it, until two interleaved rules agree.
    low = np.log(1e-4 / np.sqrt((weights * steps**2).sum(axis=-1)))
    h = (_end(weights, steps) - low) / (NODES - 1)
    integrals = _trapezoid(weights, steps, low, h, NODES)
    open_, nodes = np.arange(len(h)), NODES
    while open_.size and nodes < MOST_NODES:
        part = weights[open_], steps[open_]
        between = _trapezoid(*part, low[open_] + h[open_] / 2, h[open_], nodes)
        apart = np.abs(between[0] - integrals[0][open_])
        for total, more in zip(integrals, between, strict=True):
            total[open_] = (total[open_] + more) / 2
        h[open_] /= 2
        nodes *= 2
        open_ = open_[apart > AGREED]
    return np.clip(integrals[0], 0, 1), np.maximum(integrals[1], 0)


def _trapezoid(
    weights: np.ndarray, steps: np.ndarray, low: np.ndarray, h: np.ndarray, nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """P(mean <= t) and its derivative by the trapezoidal rule from `low` in steps of `h`."""
    rows = max(1, _CHUNK // (nodes * weights.shape[1]))
    if len(low) > rows:
        parts = [slice(i, i + rows) for i in range(0, len(low), rows)]
        each = [_trapezoid(weights[p], steps[p], low[p], h[p], nodes) for p in parts]
        below, density = map(np.concatenate, zip(*each, strict=True))
        return below, density
    u = np.exp(low[:, None] + h[:, None] * np.arange(nodes))
    x = u[:, None, :] * steps[:, :, None]
    squared = 1 + x * x
    size = np.exp(-0.5 * _weighed(weights, np.log(squared)))
    phase = _weighed(weights, np.arctan(x))
    real, imaginary = _weighed(weights, 1 / squared), _weighed(weights, x / squared)
    slope = size * (np.cos(phase) * real - np.sin(phase) * imaginary) * u
    # the nodes left of the first one, where the integrand is linear in u, are a geometric series
    left = u[:, 0] / np.expm1(h)
    swing = (size * np.sin(phase)).sum(axis=1) + (weights * steps).sum(axis=1) * left
    density = slope.sum(axis=1) + weights.sum(axis=1) * left
    return 0.5 - h / np.pi * swing, h / np.pi * density


def _weighed(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum over categories; without an array of the products."""
    return np.einsum("rk,rkn->rn", weights, values)


def _end(weights: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Log frequency past which the characteristic function is below e^-36."""
    order = np.argsort(-np.abs(steps), axis=-1)
    size = np.maximum(np.take_along_axis(np.abs(steps), order, axis=-1), 1e-300)
    power = 72 / np.take_along_axis(weights, order, axis=-1).cumsum(axis=-1)
    needed = np.where(power > 50, power / 2, 0.5 * np.log(np.expm1(np.minimum(power, 50))))
    return (needed - np.log(size)).min(axis=-1)
