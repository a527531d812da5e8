"""Verdicts of a judge and labels of people, all of whom err at known rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    prevalence: float = 0.8,
    sensitivity: float = 0.9,
    specificity: float = 0.8,
    errors: float | Sequence[float] = (0.05, 0.05),
    items: int = 1000,
    labelled: int = 200,
    shared: int | None = None,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `PeopleCounts.from_frame` reads; labels are a random sample.

    Parameters
    ----------
    prevalence, sensitivity, specificity : float
        True share of good items, and the judge's rates.
    errors : sequence of float, default (0.05, 0.05)
        Share of good, and of bad, items that each person calls wrongly.
    items, labelled : int
        Items without and with a label: 1000 and 200 by default.
    shared : int, optional
        Labelled items that all people labelled, not the first alone; by default all of them.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``verdict``, ``ann1``, ``ann2`` and so on (1, 0 or empty), one row per item.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], or a size does not fit.

    Examples
    --------
    >>> list(simulate(random_seed=1))
    ['verdict', 'ann1', 'ann2']
    """
    import pandas as pd

    every = np.atleast_1d(np.asarray(errors, float))
    shared = labelled if shared is None else shared
    with checking("prevalence.people.simulate") as require:
        rates = (prevalence, sensitivity, specificity, *every)
        require(all(0 <= rate <= 1 for rate in rates), "must lie in [0, 1]", rates=rates)
        fits = 0 <= shared <= labelled and items >= 0
        require(fits, f"sizes: items={items}, labelled={labelled}, shared={shared}")
    rng = rng_of(random_seed)
    size = items + labelled
    truth = rng.random(size) < prevalence
    right = rng.random(size) < np.where(truth, sensitivity, specificity)
    columns = {"verdict": (truth == right).astype(int)}
    for i, error in enumerate(every):
        said = (truth ^ (rng.random(size) < error)).astype(float)
        known = np.arange(size) < (shared if i else labelled)
        columns[f"ann{i + 1}"] = np.where(known, said, np.nan)
    return pd.DataFrame(columns)
