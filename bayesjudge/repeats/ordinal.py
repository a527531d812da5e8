r"""From the latent scale of a cumulative logit to the scale of the scores.

A score exceeds the k-th value with probability :math:`\sigma(\eta - c_k)`, where
:math:`\eta` adds the effects of item, judge and their interaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

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


def expected(eta: Any, cuts: np.ndarray, scale: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a score, given the latent value.

    Parameters
    ----------
    eta : array_like, shape (...)
        Sum of the effects.
    cuts : numpy.ndarray, shape (n_values - 1,)
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
        require(min(sds) >= 0, f"standard deviations must be 0 or more, got {sds}")
    cuts = cutpoints(share)
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
    variances = {
        "item_sd": item,
        "judge_sd": judge,
        "item_judge_sd": rest,
        "repeat_sd": float(weight @ within),
    }
    roots = {name: float(np.sqrt(max(v, 0.0))) for name, v in variances.items()}
    return {"mean_score": overall, **roots}
