"""Are the ranks uniform? An exact test, with the band that belongs to it.

Ranks of a calibrated posterior are uniform on 0, 1, … retained. The number of ranks below j is then
binomial for each j, and the test looks at the j where it is most surprising: Säilynoja, Bürkner &
Vehtari (2022, Statistics and Computing 32:32, Section 2). The joint distribution over all j is
computed, not simulated, and on the ranks' own discrete scale, so that the p-value is exact: it is
at most 5 % in at most 5 % of calibrated studies.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln

from bayesjudge.core.errors import expect


def p_value(ranks: np.ndarray, retained: int) -> float:
    """Probability that uniform ranks depart from uniformity as much as these."""
    ranks = np.asarray(ranks)
    inside = ranks.size and ranks.min() >= 0 and ranks.max() <= retained
    expect("ranks", inside, f"expected whole numbers from 0 to {retained}, and at least one")
    below = cumulative(ranks, retained)
    surprise = _surprise(ranks.size, retained)
    observed = surprise[np.arange(retained), below].min()
    return float(np.clip(1 - _inside(surprise > observed * (1 + 1e-12)), 1e-15, 1))


def band(simulations: int, retained: int, prob: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Where the cumulative counts of uniform ranks lie, all of them at once, with `prob`."""
    mask = _band_mask(simulations, retained, prob)
    return mask.argmax(axis=1), simulations - mask[:, ::-1].argmax(axis=1)


def cumulative(ranks: np.ndarray, retained: int) -> np.ndarray:
    """Count ranks below 1, 2, … retained."""
    return np.cumsum(np.bincount(ranks, minlength=retained + 1))[:-1]


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values of several quantities, so that any false alarm is as rare as promised."""
    order = np.argsort(p_values)
    scaled = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return adjusted


@lru_cache(maxsize=8)
def _surprise(simulations: int, retained: int) -> np.ndarray:
    """Two-sided binomial tail probability of each possible count, shape (retained, n + 1)."""
    share = (np.arange(1, retained + 1) / (retained + 1))[:, None]
    count = np.arange(simulations + 1.0)[None, :]
    least = bdtr(count, simulations, share)
    most = np.ones_like(least)
    most[:, 1:] = bdtrc(count[:, :-1], simulations, share)
    return 2 * np.minimum(least, most)


def _inside(mask: np.ndarray) -> float:
    """Probability that the cumulative counts of uniform ranks stay where `mask` is true."""
    retained, n = mask.shape[0], mask.shape[1] - 1
    mean = n / (retained + 1)
    step = _poisson(np.arange(n + 1), mean)
    step = step[: np.flatnonzero(step > 1e-18).max() + 1]
    state = np.zeros(n + 1)
    state[0] = 1.0
    for allowed in mask:
        state = np.convolve(state, step)[: n + 1] * allowed
    total = np.convolve(state, step)[n]
    return float(total / _poisson(np.array(n), n))


def _poisson(count: np.ndarray, mean: float) -> np.ndarray:
    return np.exp(count * np.log(mean) - mean - gammaln(count + 1))


@lru_cache(maxsize=8)
def _band_mask(simulations: int, retained: int, prob: float) -> np.ndarray:
    surprise = _surprise(simulations, retained)
    low, high = np.log(1e-12), 0.0  # of the pointwise tail probability; wide band, no band
    for _ in range(30):
        middle = (low + high) / 2
        if _inside(surprise > np.exp(middle)) >= prob:
            low = middle
        else:
            high = middle
    return surprise > np.exp(low)
