"""Scores of a judge that are as wrong as is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd

#: Beta distributions of the items' quality: what share of people would pass them.
SHAPES = {"skewed": (2, 5), "bimodal": (0.5, 0.5), "ceiling": (8, 1), "even": (1, 1)}


def simulate(
    *,
    shape: str = "skewed",
    noise: float = 1.0,
    lenience: float = 0.0,
    numeric: bool = False,
    calibration: str = "random",
    items: int = 1000,
    labelled: int = 200,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `Scores.from_frame` reads.

    Parameters
    ----------
    shape : {"skewed", "bimodal", "ceiling", "even"}
        How good items are: quality Beta(2, 5), Beta(.5, .5), Beta(8, 1) or Beta(1, 1). Its mean is
        the prevalence.
    noise : float, default 1
        Standard deviation of the score about the quality, in logits.
    lenience : float, default 0
        By how much the score is too high, in logits; such a judge is also too sure, by a fifth.
    numeric : bool, default False
        Whether people give whole numbers from 1 to 5 rather than pass and fail.
    calibration : {"random", "by_truth"}
        How the labelled items are chosen; by truth, half of them pass.
    items, labelled : int
        Items without and with a human label: 1000 and 200 by default.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``score``, from 0 to 1 to two digits, and ``truth`` (empty if there is no label).

    Raises
    ------
    InputError
        If `shape` or `calibration` is unknown, or a size is out of range.
    """
    import pandas as pd

    with checking("prevalence.scores.simulate") as require:
        require(shape in SHAPES, f"must be one of {list(SHAPES)}", shape=shape)
        designs = ("random", "by_truth")
        require(calibration in designs, f"calibration must be one of {designs}: {calibration!r}")
        require(not (numeric and calibration == "by_truth"), "numeric truths: random labels only")
        require(items >= 1 and labelled >= 1, f"sizes: items={items}, labelled={labelled}")
        require(noise >= 0, "must be 0 or more", noise=noise)
    rng = rng_of(random_seed)
    size = items + (labelled if calibration == "random" else 40 * labelled)
    quality = np.clip(rng.beta(*SHAPES[shape], size), 1e-9, 1 - 1e-9)
    sure = 1.2 if lenience else 1.0
    score = np.round(expit(sure * logit(quality) + lenience + noise * rng.normal(size=size)), 2)
    if numeric:
        truth = np.round(1 + 4 * expit(logit(quality) + 0.5 * rng.normal(size=size)))
    else:
        truth = rng.binomial(1, quality).astype(float)
    kept = np.arange(size)
    if calibration == "by_truth":
        half = (labelled + 1) // 2, labelled // 2
        rows = [
            items + np.flatnonzero(truth[items:] == t)[:h]
            for t, h in zip((1, 0), half, strict=True)
        ]
        kept = np.concatenate([np.arange(items), *rows])
    table = pd.DataFrame({"score": score[kept], "truth": truth[kept]})
    table.loc[kept < items, "truth"] = np.nan
    return table
