"""From the latent scale of the hierarchical model to the units of the scores, within PyMC."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.ordinal import COARSE, FINE, grid


def cutpoints_of(share: Any) -> Any:
    """Turn shares into thresholds; both sums are positive, so that neither tail loses digits.

    Parameters
    ----------
    share : tensor, shape (..., n_values)
        Positive, adds up to 1.

    Returns
    -------
    tensor, shape (..., n_values - 1)
        On the logit scale, rising.
    """
    import pytensor.tensor as pt

    above = share[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return pt.log(share.cumsum(axis=-1)[..., :-1]) - pt.log(above[..., 1:])


def derive(scores: Scores, cuts: Any, scales: dict[str, Any]) -> None:
    """Add means and components of variance in the units of the scale, by sums over normal grids.

    Parameters
    ----------
    scores : Scores
        Design and scale.
    cuts : tensor, shape (n_values - 1,)
        Thresholds.
    scales : dict of str to tensor
        Standard deviations of the effects by name, with ``item_effect`` and the offsets of items
        and judges at hand from all.
    """
    import pymc as pm
    import pytensor.tensor as pt

    points = np.array(scores.scale)
    steps, square_steps = (
        pm.Data(f"{n}", np.diff(points**p)) for n, p in (("steps", 1), ("squares", 2))
    )
    bottom = pm.Data("bottom", points[0])
    nodes, weights = (
        pm.Data(name, x) for name, x in zip(("nodes", "weights"), grid(FINE), strict=True)
    )
    few, light = (pm.Data(name, x) for name, x in zip(("few", "light"), grid(COARSE), strict=True))

    def mean_of(eta: Any) -> Any:
        return bottom + (pt.sigmoid(eta[..., None] - cuts) * steps).sum(-1)

    def spread(values: Any) -> Any:
        return pt.maximum((weights * values**2).sum() - (weights * values).sum() ** 2, 0)

    zero = pt.zeros(())
    own = {name: scales.get(name, zero) for name in ("item", "judge", "item_judge")}
    centre_of_judges = scales.get("judge_offset", zero)
    centre = centre_of_judges + scales.get("item_offset", zero)
    judges = pt.sqrt(own["judge"] ** 2 + own["item_judge"] ** 2)
    eta = centre + pt.sqrt(own["item"] ** 2 + judges**2) * nodes
    means = mean_of(eta)
    second = bottom**2 + (pt.sigmoid(eta[:, None] - cuts) * square_steps).sum(-1)
    overall = pm.Deterministic("mean_score", (weights * means).sum())
    repeat = (weights * (second - means**2)).sum()
    pm.Deterministic("repeat_sd", pt.sqrt(repeat))
    rest = (weights * means**2).sum() - overall**2
    if "item" in scales:
        over = mean_of(scales["item_effect"][:, None] + centre_of_judges + judges * few)
        pm.Deterministic("item_score", (over * light).sum(-1), dims="item")
        around = centre + own["item"] * nodes[:, None]
        item = spread((mean_of(around + judges * few) * light).sum(-1))
        pm.Deterministic("item_sd", pt.sqrt(item))
        rest = rest - item
    if "judge" in scales:
        others = pt.sqrt(own["item"] ** 2 + own["item_judge"] ** 2)
        judge = rest
        if "item" in scales:
            around = centre + own["judge"] * nodes[:, None]
            judge = spread((mean_of(around + others * few) * light).sum(-1))
            pm.Deterministic("item_judge_sd", pt.sqrt(pt.maximum(rest - judge, 0)))
        pm.Deterministic("judge_sd", pt.sqrt(judge))
        add_effective(scores, rest / (rest + repeat))


def add_effective(scores: Scores, rho: Any) -> None:
    """Add how many scores of judges drawn anew each time the panel's scores are worth.

    Parameters
    ----------
    scores : Scores
        Design.
    rho : tensor
        Share of the variance of an item's scores that lies between judges.
    """
    import pymc as pm

    n = scores.repeats[scores.repeats > 0]
    j = pm.Data("panel", np.array(float(len(scores.judges))))
    r = pm.Data("mean_repeats", np.array(n.size / (1 / n).sum()))
    pm.Deterministic("effective_repeats", j * r / (1 + (r - 1) * rho))
