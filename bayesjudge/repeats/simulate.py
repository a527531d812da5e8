"""Simulated scores, from a cumulative logit with random effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of
from bayesjudge.repeats.components import Effects, cutpoints, noise_at, stretched

if TYPE_CHECKING:
    import pandas as pd

#: Shares of the values that an average judge gives an average item.
SHARE = (0.05, 0.2, 0.4, 0.25, 0.1)


def simulate(
    *,
    items: int = 20,
    judges: int = 6,
    repeats: int = 5,
    value_share: Sequence[float] = SHARE,
    scale: Sequence[float] = (1, 2, 3, 4, 5),
    item_scale: float = 1.5,
    judge_scale: float = 0.7,
    item_judge_scale: float = 0.7,
    cutpoint_scale: float = 0.0,
    noise_slope: float = 0.0,
    noise_curve: float = 0.0,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `Scores.from_frame` reads, from a cumulative logit with random effects.

    Parameters
    ----------
    items, judges, repeats : int
        20 items, 6 judges and 5 repeats of each by default.
    value_share : sequence of float
        How often an average judge gives an average item each value; positive, adds up to 1.
    scale : sequence of float
        The values, in rising order.
    item_scale, judge_scale, item_judge_scale : float
        Standard deviations of the effects on the logit scale. 0 for an effect that is not there.
    cutpoint_scale : float, default 0
        Standard deviation of the logarithms of judges' gaps between cutpoints; at 0 all judges
        have the same cutpoints.
    noise_slope, noise_curve : float, default 0
        How the noise of an answer depends on the level, as `CumulativeLogit` with
        ``noise="by_level"`` has it.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``judge``, ``repeat``, ``score``; one row per answer.

    Raises
    ------
    InputError
        If a size is below 1, a standard deviation negative, or shares do not fit the scale.

    Examples
    --------
    >>> simulate(items=2, judges=1, repeats=3, random_seed=1).shape
    (6, 4)
    """
    import pandas as pd

    share = np.asarray(value_share, float)
    with checking("repeats.simulate") as require:
        for name, size in {"items": items, "judges": judges, "repeats": repeats}.items():
            require(size >= 1, "must be 1 or more", **{name: size})
        fits = share.shape == (len(scale),) and (share > 0).all() and abs(share.sum() - 1) < 1e-9
        require(fits, f"value_share must be {len(scale)} positive shares that add up to 1")
        sds = (item_scale, judge_scale, item_judge_scale, cutpoint_scale)
        require(min(sds) >= 0, f"standard deviations must be 0 or more, got {sds}")
    rng = rng_of(random_seed)
    eta = (
        item_scale * rng.normal(size=(items, 1))
        + judge_scale * rng.normal(size=judges)
        + item_judge_scale * rng.normal(size=(items, judges))
    )
    effects = Effects(*sds[:3], noise_slope=noise_slope, noise_curve=noise_curve)
    noise = noise_at(eta, effects)[..., None]
    latent = eta[..., None] + noise * rng.logistic(size=(items, judges, repeats))
    cuts = cutpoints(share)
    if cutpoint_scale > 0:
        cuts = stretched(cuts, cutpoint_scale * rng.normal(size=(judges, len(cuts) - 1)))
        cuts = cuts[:, None, :]  # judges, repeats, cutpoints
    at = (latent[..., None] > cuts).sum(axis=-1)
    where = pd.MultiIndex.from_product(
        [
            [f"item{i + 1}" for i in range(items)],
            [f"judge{j + 1}" for j in range(judges)],
            range(1, repeats + 1),
        ],
        names=["item", "judge", "repeat"],
    )
    values = np.asarray(scale)[at.ravel()]
    return pd.DataFrame({"score": values}, index=where).reset_index()
