"""Tables as a user would bring them, from known parameters and a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def simulate(
    *, prevalence: tuple[float, ...] = (0.8, 0.5), items: int = 200, random_seed: Any = None
) -> pd.DataFrame:
    """Draw verdicts on the outputs of several systems.

    Parameters
    ----------
    prevalence : tuple of float, default (0.8, 0.5)
        Share that each system passes.
    items : int, default 200
        Items of each system.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``system``, ``verdict``.
    """
    rng = np.random.default_rng(random_seed)
    names = [f"s{i + 1}" for i in range(len(prevalence))]
    verdicts = rng.random((len(prevalence), items)) < np.array(prevalence)[:, None]
    return pd.DataFrame(
        {
            "item": [f"item {i}" for _ in names for i in range(items)],
            "system": np.repeat(names, items),
            "verdict": verdicts.ravel().astype(int),
        }
    )
