r"""From the latent scale of a cumulative logit to the scale of the scores.

A score exceeds the k-th value with probability :math:`\sigma(\eta - c_k)`, where
:math:`\eta` adds the effects of item, judge and their interaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from bayesjudge.core.errors import checking

#: Normal integrals as sums over an even grid, which converge faster than any power of its step:
#: the finer grid for effects that are many times as wide as the steps of the cumulative logit.
FINE, COARSE = 61, 33


def grid(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a standard normal distribution.

    Parameters
    ----------
    nodes : int
        How many.

    Returns
    -------
    nodes, weights : numpy.ndarray
        From -6 to 6; weights add up to 1.
    """
    z = np.linspace(-6, 6, nodes)
    weights = np.exp(-0.5 * z**2)
    return z, weights / weights.sum()


def cutpoints(value_share: Any) -> np.ndarray:
    """Thresholds between the values, from how often an average item gets each.

    Parameters
    ----------
    value_share : array_like, shape (n_values,)
        Positive, adds up to 1.

    Returns
    -------
    numpy.ndarray, shape (n_values - 1,)
        On the logit scale, rising.
    """
    share = np.asarray(value_share, float)
    return np.log(share.cumsum()[:-1]) - np.log(share[::-1].cumsum()[::-1][1:])


def stretched(cuts: np.ndarray, stretch: Any) -> np.ndarray:
    """Widen the gaps between thresholds, leaving their weighted mean where it is.

    Parameters
    ----------
    cuts : numpy.ndarray, shape (n_values - 1,)
        On the logit scale, rising.
    stretch : array_like, shape (..., n_values - 2)
        Logarithm of each gap's width by what it was.

    Returns
    -------
    numpy.ndarray, shape (..., n_values - 1)
        With the same mean, weighted by the slope of the average item's share above each
        threshold: a stretch changes the scatter of scores and, to first order, not their mean.
    """
    gaps = np.diff(cuts) * np.exp(np.asarray(stretch, float))
    moved = np.concatenate([np.zeros((*gaps.shape[:-1], 1)), gaps.cumsum(axis=-1)], axis=-1)
    weights = expit(cuts) * expit(-cuts)
    return moved + ((cuts - moved) @ weights / weights.sum())[..., None]


def judge_nodes(number: int, dims: int) -> np.ndarray:
    """Points that stand for all judges: evenly spread draws of independent standard normals.

    Parameters
    ----------
    number : int
        Even; half of them mirror the other half.
    dims : int
        Variables of each.

    Returns
    -------
    numpy.ndarray, shape (number, dims)
        The same at every call; with means 0, variances 1 and no correlation, exactly.
    """
    root = 1.0  # of x^(dims + 1) = x + 1: multiples of its powers fill the cube evenly
    for _ in range(100):
        root = (1 + root) ** (1 / (dims + 1))
    steps = root ** -np.arange(1, dims + 1)
    half = ndtri((0.5 + np.arange(1, number // 2 + 1)[:, None] * steps) % 1)
    points = np.concatenate([half, -half])
    spread = np.linalg.cholesky(points.T @ points / number)
    return np.linalg.solve(spread, points.T).T


def expected(eta: Any, cuts: np.ndarray, scale: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a score, given the latent value.

    Parameters
    ----------
    eta : array_like, shape (...)
        Sum of the effects.
    cuts : numpy.ndarray, shape (n_values - 1,) or (..., n_values - 1)
        Thresholds.
    scale : array_like, shape (n_values,)
        What each value is worth.

    Returns
    -------
    mean, variance : numpy.ndarray, shape (...)
        In units of the scale, and squared.
    """
    scale = np.asarray(scale, float)
    above = expit(np.asarray(eta, float)[..., None] - cuts)
    mean = scale[0] + above @ np.diff(scale)
    return mean, scale[0] ** 2 + above @ np.diff(scale**2) - mean**2


def score_components(
    value_share: Sequence[float],
    *,
    scale: Sequence[float],
    item_scale: float = 0.0,
    judge_scale: float = 0.0,
    item_judge_scale: float = 0.0,
    cutpoint_scale: float = 0.0,
) -> dict[str, float]:
    """Translate latent standard deviations to the scale of the scores.

    Parameters
    ----------
    value_share : sequence of float
        How often an average judge gives an average item each value; positive, adds up to 1.
    scale : sequence of float
        What each value is worth, in rising order.
    item_scale, judge_scale, item_judge_scale : float, default 0
        Standard deviations of the effects on the logit scale, 0 or more.
    cutpoint_scale : float, default 0
        Standard deviation of the logarithms of judges' gaps between thresholds, 0 or more.

    Returns
    -------
    dict of str to float
        ``mean_score``, ``item_sd``, ``judge_sd``, ``item_judge_sd`` and ``repeat_sd``: the
        components of variance that `anova` estimates.

    Raises
    ------
    InputError
        Where shares do not fit the scale, or a standard deviation is negative.

    Examples
    --------
    >>> found = score_components([0.25, 0.5, 0.25], scale=[1, 2, 3], judge_scale=1)
    >>> {name: round(value, 3) for name, value in found.items()}
    {'mean_score': 2.0, 'item_sd': 0.0, 'judge_sd': 0.346, 'item_judge_sd': 0.0, 'repeat_sd': 0.672}
    """
    share = np.asarray(value_share, float)
    with checking("repeats.score_components") as require:
        fits = share.shape == (len(scale),) and (share > 0).all() and abs(share.sum() - 1) < 1e-9
        require(fits, f"value_share must be {len(scale)} positive shares that add up to 1")
        sds = (item_scale, judge_scale, item_judge_scale)
        every = (*sds, cutpoint_scale)
        require(min(every) >= 0, f"standard deviations must be 0 or more, got {every}")
    cuts = cutpoints(share)
    if cutpoint_scale > 0:
        return components_by_judge(cuts, scale, sds, cutpoint_scale)
    z, weight = grid(201)

    def between(own: float, *others: float) -> float:
        """Variance, over one effect, of the mean over the others."""
        eta = own * z[:, None] + np.linalg.norm(others) * z
        mean = expected(eta, cuts, scale)[0] @ weight
        return float(weight @ mean**2 - (weight @ mean) ** 2)

    total = float(np.linalg.norm(sds))
    mean, within = expected(total * z, cuts, scale)
    overall = float(weight @ mean)
    item = between(item_scale, judge_scale, item_judge_scale)
    judge = between(judge_scale, item_scale, item_judge_scale)
    rest = float(weight @ mean**2) - overall**2 - item - judge
    return _roots(overall, item, judge, rest, float(weight @ within))


def components_by_judge(
    cuts: np.ndarray,
    scale: Any,
    sds: tuple[float, float, float],
    cutpoint_scale: float,
    *,
    stretch: Any = 0.0,
    shift: float = 0.0,
) -> dict[str, float]:
    """Translate latent standard deviations where each judge has thresholds of its own.

    Parameters
    ----------
    cuts : numpy.ndarray, shape (n_values - 1,)
        Thresholds.
    scale : array_like, shape (n_values,)
        What each value is worth.
    sds : tuple of float
        Of items, judges and their combinations, on the logit scale.
    cutpoint_scale : float
        Of the logarithms of judges' gaps between thresholds.
    stretch : float or array_like, shape (n_values - 2,), default 0
        Their means, less the logarithms of the gaps of `cuts`.
    shift : float, default 0
        What all thresholds are moved by, after that.

    Returns
    -------
    dict of str to float
        As `score_components` gives it.
    """
    item_scale, judge_scale, both = sds
    z, weight = grid(101)
    nodes = judge_nodes(2048, len(cuts))
    own = shift + stretched(cuts, stretch + cutpoint_scale * nodes[:, 1:])
    eta = judge_scale * nodes[:, 0] + np.hypot(item_scale, both) * z[:, None]
    mean, within = expected(eta, own, scale)
    of_judges = weight @ mean
    overall = float(of_judges.mean())
    eta = item_scale * z[:, None] + np.hypot(judge_scale, both) * nodes[:, 0]
    of_items = expected(eta, own, scale)[0].mean(axis=1)
    item = float(weight @ of_items**2 - (weight @ of_items) ** 2)
    judge = float((of_judges**2).mean()) - overall**2
    rest = float((weight @ mean**2 - of_judges**2).mean()) - item
    return _roots(overall, item, judge, rest, float((weight @ within).mean()))


def _roots(
    overall: float, item: float, judge: float, rest: float, repeat: float
) -> dict[str, float]:
    variances = {
        "item_sd": item,
        "judge_sd": judge,
        "item_judge_sd": rest,
        "repeat_sd": repeat,
    }
    roots = {name: float(np.sqrt(max(v, 0.0))) for name, v in variances.items()}
    return {"mean_score": overall, **roots}
