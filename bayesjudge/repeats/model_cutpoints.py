"""Cutpoints of the hierarchical model that differ from judge to judge, within PyMC."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.model_scale import add_effective, cutpoints_of
from bayesjudge.repeats.ordinal import FINE, grid, judge_nodes

#: By how much judges must differ to be sampled as they are, and degrees of freedom to see it.
CLEAR, MOST_FEW = 5.0, 6
#: Judges, drawn evenly from all that could be asked, over which the model averages.
NODES = 128


def check_cutpoints(scores: Scores, cutpoints: str) -> None:
    """Refuse cutpoints that the design cannot have.

    Parameters
    ----------
    scores : Scores
        Design and scale.
    cutpoints : str
        As `build_model` was given it.

    Raises
    ------
    InputError
        Where the word is unknown, there is one judge, or the scale has two values.
    """
    with checking("cutpoints") as require:
        known = ["shared", "by_judge"]
        require(cutpoints in known, f"expected one of {known}, got {cutpoints!r}")
        if cutpoints == "by_judge":
            several = len(scores.judges) > 1
            require(several, 'one judge has no others to differ from; take cutpoints="shared"')
            gaps = len(scores.scale) > 2
            require(gaps, "a scale of two values has one cutpoint, which the judge's effect moves")


def stretched(share: Any, stretch: Any) -> Any:
    r"""Thresholds of a judge whose gaps between them are :math:`e^{stretch}` times as wide.

    The thresholds keep their mean, weighted by :math:`F_k (1 - F_k)`, the slope of the average
    item's share above each: so that, to first order, a stretch changes how scores scatter and not
    their mean, which is what the judge's effect is for.

    Parameters
    ----------
    share : tensor, shape (..., n_values)
        Of the average judge, positive, adds up to 1.
    stretch : tensor, shape (..., n_values - 2)
        Logarithm of each gap's width by that of the average judge.

    Returns
    -------
    tensor, shape (..., n_values - 1)
        On the logit scale, rising.
    """
    import pytensor.tensor as pt

    cuts = cutpoints_of(share)
    gaps = (cuts[..., 1:] - cuts[..., :-1]) * pt.exp(stretch)
    moved = pt.concatenate([pt.zeros_like(gaps[..., :1]), gaps.cumsum(axis=-1)], axis=-1)
    weights = pt.sigmoid(cuts) * pt.sigmoid(-cuts)
    off = (weights * (cuts - moved)).sum(-1) / weights.sum(-1)
    return moved + off[..., None]


def clearly_stretched(scores: Scores) -> bool:
    """Whether judges' gaps scatter by much more than their answers' noise, roughly.

    It decides how they are sampled, as they are or as multiples of their standard deviation: the
    same posterior, in the shape that NUTS likes better.

    Parameters
    ----------
    scores : Scores
        Of several judges.

    Returns
    -------
    bool
        False where there are too few gaps to tell.
    """
    counts = scores.counts.sum(axis=0) + 0.5  # judges by values, items together
    n = counts.sum(axis=1, keepdims=True)
    below = counts.cumsum(axis=1)[:, :-1] / n
    low, high = below[:, :-1], below[:, 1:]
    if low.shape[1] * (len(low) - 1) < MOST_FEW:
        return False
    cuts = np.log(below / (1 - below))
    gaps = np.diff(cuts, axis=1)
    # of multinomial shares, by the delta method
    noise = 1 / (low * (1 - low)) + 1 / (high * (1 - high)) - 2 / ((1 - low) * high)
    relative = noise / n / gaps**2
    ratios = np.log(gaps).var(axis=0, ddof=1) / np.median(relative, axis=0)
    return bool(np.median(ratios) > CLEAR)  # medians: a value that a judge never gives is all noise


def stretches(scores: Scores, prior_scale: float, scales: dict[str, Any]) -> Any:
    """Add the judges' stretches, partially pooled, and note their scale and offset.

    Parameters
    ----------
    scores : Scores
        Design and scale.
    prior_scale : float
        Of the half-normal prior of their standard deviation.
    scales : dict of str to tensor
        ``cutpoint`` and ``cutpoint_offset`` are added.

    Returns
    -------
    tensor, shape (n_gaps, n_judges)
        Sums over judges are 0: the shares are those of the average of the judges at hand.
    """
    import pymc as pm

    model = pm.modelcontext(None)
    steps = [f"{x:g}|{y:g}" for x, y in zip(scores.scale[:-1], scores.scale[1:], strict=True)]
    model.add_coord("step", steps)
    model.add_coord("gap", [f"{x:g}" for x in scores.scale[1:-1]])
    scale = pm.HalfNormal("cutpoint_scale", pm.Data("cutpoint_prior", np.array(prior_scale)))
    if clearly_stretched(scores):
        stretch = pm.ZeroSumNormal("cutpoint_stretch", scale, dims=("gap", "judge"))
    else:
        stretch = scale * pm.ZeroSumNormal("cutpoint_unit", dims=("gap", "judge"))
    size = pm.Data("cutpoint_number", np.array(float(len(scores.judges))))
    scales["cutpoint"] = scale
    scales["cutpoint_offset"] = scale / np.sqrt(size) * pm.Normal("cutpoint_offset", dims="gap")
    return stretch


def derive_by_judge(scores: Scores, share: Any, stretch: Any, scales: dict[str, Any]) -> None:
    """Add what `derive` adds, and ``judge_cutpoint``; over judges by a sum over fixed nodes.

    Parameters
    ----------
    scores : Scores
        Design and scale.
    share : tensor, shape (n_values,)
        Of the average judge.
    stretch : tensor, shape (n_gaps, n_judges)
        From `stretches`.
    scales : dict of str to tensor
        Standard deviations, effects and offsets by name.
    """
    import pymc as pm
    import pytensor.tensor as pt

    at = stretched(share[None, :], stretch.T) - scales["judge_effect"][:, None]
    pm.Deterministic("judge_cutpoint", at, dims=("judge", "step"))

    points = np.array(scores.scale)
    steps, squares = (
        pm.Data(f"{n}", np.diff(points**p)) for n, p in (("steps", 1), ("squares", 2))
    )
    bottom = pm.Data("bottom", points[0])
    drawn = pm.Data("judge_nodes", judge_nodes(NODES, len(points) - 1))
    nodes, weights = (
        pm.Data(name, x) for name, x in zip(("nodes", "weights"), grid(FINE), strict=True)
    )
    u = drawn[:, 0]
    away = scales["cutpoint_offset"] + scales["cutpoint"] * drawn[:, 1:]
    cuts = stretched(share[None, :], away)

    def above(eta: Any) -> Any:
        return pt.sigmoid(eta[..., None] - cuts)

    def mean_of(eta: Any) -> Any:
        return bottom + (above(eta) * steps).sum(-1)

    zero = pt.zeros(())
    item, both = scales.get("item", zero), scales.get("item_judge", zero)
    judge, centre_of_judges = scales["judge"], scales["judge_offset"]
    centre = centre_of_judges + scales.get("item_offset", zero)
    # rows: items and combinations; columns: judges. Every sum over judges has the same nodes, so
    # that the components add up
    eta = centre + judge * u + pt.sqrt(item**2 + both**2) * nodes[:, None]
    means = mean_of(eta)
    of_judges = weights @ means
    overall = pm.Deterministic("mean_score", of_judges.mean())
    judge_variance = pt.maximum((of_judges**2).mean() - overall**2, 0)
    within_judge = pt.maximum((weights @ means**2 - of_judges**2).mean(), 0)
    second = bottom**2 + (above(eta) * squares).sum(-1)
    repeat = (weights @ (second - means**2)).mean()
    pm.Deterministic("judge_sd", pt.sqrt(judge_variance))
    pm.Deterministic("repeat_sd", pt.sqrt(repeat))
    between = judge_variance
    if "item" in scales:
        someone = centre_of_judges + pt.sqrt(judge**2 + both**2) * u
        score = mean_of(scales["item_effect"][:, None] + someone).mean(-1)
        pm.Deterministic("item_score", score, dims="item")
        over = mean_of(scales.get("item_offset", zero) + someone + item * nodes[:, None]).mean(-1)
        spread = pt.maximum((weights * over**2).sum() - (weights * over).sum() ** 2, 0)
        pm.Deterministic("item_sd", pt.sqrt(spread))
        left = pt.maximum(within_judge - spread, 0)
        pm.Deterministic("item_judge_sd", pt.sqrt(left))
        between = between + left
    add_effective(scores, between / (between + repeat))
