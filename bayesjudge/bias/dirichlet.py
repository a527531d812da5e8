"""Exact distribution of a weighted sum of Dirichlet shares, such as a mean squared shift."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from bayesjudge.core.errors import checking

#: Nodes of the inversion, and where its ends may be cut: what is left out is below this.
NODES, CUT = 3000, 1e-13


def weighted_sum_cdf(at: Any, values: Any, concentration: Any) -> Any:
    r"""Probability that :math:`\sum_k p_k v_k \le t` for :math:`p \sim` Dirichlet.

    With :math:`p_k = G_k / \sum G`, the event is :math:`\sum_k G_k (v_k - t) \le 0` for independent
    gamma variables, whose characteristic function is inverted on a logarithmic grid.

    Parameters
    ----------
    at : float or array_like
        :math:`t`.
    values : array_like, shape (n,)
        :math:`v_k`.
    concentration : array_like, shape (n,)
        Positive weights :math:`a_k`.

    Returns
    -------
    float or numpy.ndarray
        Probabilities, right to about 1e-9.

    Raises
    ------
    InputError
        Where shapes differ or a concentration is not positive.

    References
    ----------
    Imhof (1961), Biometrika 48, 419-426, with gamma in place of chi-squared variables.

    Examples
    --------
    >>> round(float(weighted_sum_cdf(0.3, [0, 1], [8, 2])), 4)  # Beta(2, 8)
    0.804
    """
    v, a = _checked(values, concentration)
    t = np.asarray(at, dtype=float)
    found = np.array([_below(float(one), v, a) for one in t.ravel()])
    return found.reshape(t.shape)[()]


def weighted_sum_quantile(prob: Any, values: Any, concentration: Any) -> Any:
    """Quantile of a weighted sum of Dirichlet shares.

    Parameters
    ----------
    prob : float or array_like
        Probability, in (0, 1).
    values, concentration : array_like, shape (n,)
        As in `weighted_sum_cdf`.

    Returns
    -------
    float or numpy.ndarray
        Between the least and the greatest of `values`.

    Raises
    ------
    InputError
        Where a probability is out of range, shapes differ or a concentration is not positive.

    Examples
    --------
    >>> round(float(weighted_sum_quantile(0.975, [0, 1], [8, 2])), 4)
    0.4825
    """
    v, a = _checked(values, concentration)
    p = np.asarray(prob, dtype=float)
    with checking("weighted_sum_quantile") as require:
        require(np.all((p > 0) & (p < 1)), f"prob must lie in (0, 1), got {prob}")
    low, high = float(v.min()), float(v.max())
    if low == high:
        return np.full(p.shape, low)[()]
    tiny = (high - low) * 1e-12

    def one(q: float) -> float:
        ends = low + tiny, high - tiny
        if _below(ends[0], v, a) >= q:
            return low
        if _below(ends[1], v, a) <= q:
            return high
        return float(brentq(lambda t: _below(t, v, a) - q, *ends, xtol=tiny))

    return np.array([one(q) for q in p.ravel()]).reshape(p.shape)[()]


def _checked(values: Any, concentration: Any) -> tuple[np.ndarray, np.ndarray]:
    v, a = np.asarray(values, dtype=float), np.asarray(concentration, dtype=float)
    with checking("Dirichlet") as require:
        require(v.ndim == 1 and v.shape == a.shape and v.size > 0, "give a weight for each value")
        require(np.all(a > 0) and np.isfinite(v).all(), "weights must be positive, values finite")
    return v, a


def _below(t: float, v: np.ndarray, a: np.ndarray) -> float:
    distance = v - t
    if np.all(distance <= 0):
        return 1.0
    if np.all(distance >= 0):
        return 0.0
    d, a = distance[distance != 0], a[distance != 0]
    scale = np.abs(d).max()
    d = d / scale
    # in u = exp(s) the integrand falls like u at the low end and like u ** -sum(a) at the high end
    low = np.log(CUT / max(1.0, np.abs(a @ d), (a @ d**2) ** 0.5))
    size = np.abs(d)
    high = 0.0
    while np.sum(a / 2 * np.log1p((np.exp(high) * size) ** 2)) < -np.log(CUT) and high < 300:
        high += 1.0
    s = np.linspace(low, high, NODES)
    u = np.exp(s)[:, None] * d
    phase = np.arctan(u) @ a
    size_log = np.log1p(u**2) @ (a / 2)
    integral = np.sum(np.sin(phase) * np.exp(-size_log)) * (s[1] - s[0])
    return float(np.clip(0.5 - integral / np.pi, 0.0, 1.0))
