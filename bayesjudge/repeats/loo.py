"""Log-likelihood of items that a fit has not seen, for PSIS-LOO."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logsumexp

from bayesjudge.core.errors import expect
from bayesjudge.core.fit import Fit
from bayesjudge.repeats.checks import usable
from bayesjudge.repeats.components import COARSE, Effects, cutpoints, grid, noise_at
from bayesjudge.repeats.data import Scores

if TYPE_CHECKING:
    import xarray as xr

#: Nodes of the integral over an item's effect, a unit of the logit scale: the likelihood of repeats
#: is narrower than the effects are wide. Draws of each chain that are looked at.
NODES, KEPT = 8, 250
MOST_NODES = 20_000


def log_likelihood(fit: Fit, *, chains: np.ndarray | None = None, kept: int = KEPT) -> xr.DataTree:
    r"""Compute the log-likelihood of each item, its own effects summed out.

    All scores of an item, by every judge, are one observation: what is left out at a time is an
    item, which the remaining ones know by the distribution of the effects only. Models of the same
    scores, with ``noise="by_level"`` or cutpoints of each judge, compare on it.

    Parameters
    ----------
    fit : Fit
        Of several items.
    chains : array_like of int, optional
        Which chains; all by default.
    kept : int, default 250
        Draws of each chain, evenly spaced.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` and ``log_likelihood`` (variable ``score``, dimension ``item``), which
        `arviz.loo` and `arviz.compare` take.

    Raises
    ------
    InputError
        If the fit is of one item.
    """
    import xarray as xr

    scores, after = usable(fit.data), fit.idata["posterior"].to_dataset()
    problem = "one item cannot be left out; fit several"
    expect("repeats.log_likelihood", len(scores.items) > 1, problem)
    if chains is not None:
        after = after.isel(chain=chains)
    spaced = np.linspace(0, after.sizes["draw"] - 1, min(kept, after.sizes["draw"])).astype(int)
    after = after.isel(draw=np.unique(spaced))
    sizes = after.sizes["chain"], after.sizes["draw"]
    each = after.stack(sample=("chain", "draw"))
    by_draw = [_of_items(scores, each.isel(sample=i)) for i in range(each.sizes["sample"])]
    logs = np.reshape(by_draw, (*sizes, len(scores.items)))
    return xr.DataTree.from_dict(
        {
            "posterior": after,
            "log_likelihood": xr.Dataset(
                {"score": (("chain", "draw", "item"), logs)}, coords={"item": list(scores.items)}
            ),
        }
    )


def _of_items(scores: Scores, draw: xr.Dataset) -> np.ndarray:
    """Log-likelihood of each item at one draw."""
    sds = {n: float(draw.get(f"{n}_scale", 0)) for n in ("item", "judge", "item_judge")}
    noise = {n: float(draw[n]) for n in ("noise_slope", "noise_curve") if n in draw}
    of_judge = draw["judge_effect"].to_numpy() if "judge_effect" in draw else np.zeros(1)
    # the effects of the items at hand add up to 0: each has a little less than their variance
    wide = sds["item"] * np.sqrt(1 - 1 / len(scores.items))
    effects = Effects(**sds, **noise)
    # answers that are less noisy at some level tell more sharply where an item lies
    sharp = max(1.0, float(1 / np.min(noise_at(np.linspace(-6, 6, COARSE) * wide, effects))))
    z, weight = grid(max(COARSE, min(int(12 * wide * NODES * sharp), MOST_NODES) | 1))
    few, light = grid(COARSE) if sds["item_judge"] > 0 else (np.zeros(1), np.ones(1))
    cuts = cutpoints(draw["value_share"].to_numpy())
    if "judge_cutpoint" in draw:
        cuts = draw["judge_cutpoint"].transpose("judge", "step").to_numpy() + of_judge[:, None]
    log = np.log(weight)[:, None]
    for j, counts in enumerate(scores.counts.transpose(1, 0, 2)):
        eta = wide * z[:, None] + of_judge[j] + sds["item_judge"] * few
        at = np.broadcast_to(cuts, (len(of_judge), cuts.shape[-1]))[j]
        spread = np.broadcast_to(noise_at(eta, effects), eta.shape)[..., None]
        above = expit((eta[..., None] - at) / spread)
        edge = np.ones_like(above[..., :1])
        share = -np.diff(np.concatenate([edge, above, 0 * edge], axis=-1))
        cells = np.log(np.maximum(share, 1e-300)) @ counts.T  # nodes, nodes, items
        log = log + logsumexp(cells + np.log(light)[:, None], axis=1)
    return logsumexp(log, axis=0)
