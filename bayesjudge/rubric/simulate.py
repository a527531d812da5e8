"""Outputs judged on criteria whose errors go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    outputs: int = 1000,
    labelled: int = 200,
    criteria: int = 4,
    met: float = 0.6,
    agreement: float = 0.85,
    error_correlation: float = 0.2,
    truth_correlation: float = 0.2,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw a table with two columns a criterion.

    Parameters
    ----------
    outputs, labelled : int
        Outputs in all, and those that people judged: the first ones, which are in no order.
    criteria : int, default 4
        How many criteria.
    met : float, default 0.6
        Share of outputs that meet each criterion.
    agreement : float, default 0.85
        Share of verdicts that are right, on met and on unmet criteria alike.
    error_correlation, truth_correlation : float, default 0.2
        Of the normal variables behind errors, and truths, of one output: errors that go together
        are errors of one kind, too lenient or too strict.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``judge_c1``, ``human_c1`` and so on, 1 or 0, people's empty where nobody labelled.

    Raises
    ------
    InputError
        If a number is out of range.
    """
    import pandas as pd

    with checking("rubric.simulate") as require:
        require(1 <= labelled <= outputs, f"must lie in [1, {outputs}]", labelled=labelled)
        require(criteria >= 1, "must be 1 or more", criteria=criteria)
        for name, share in (("met", met), ("agreement", agreement)):
            require(0 < share < 1, "must lie in (0, 1)", **{name: share})
        for correlation in (error_correlation, truth_correlation):
            require(0 <= correlation < 1, f"correlations must lie in [0, 1), got {correlation}")
    rng = rng_of(random_seed)

    def normal(correlation: float) -> np.ndarray:
        shared, apart = rng.normal(size=(outputs, 1)), rng.normal(size=(outputs, criteria))
        return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * apart

    truth = normal(truth_correlation) < ndtri(met)
    lenient = ndtr(normal(error_correlation))
    judge = np.where(truth, lenient > 1 - agreement, lenient > agreement)
    names = [f"c{i + 1}" for i in range(criteria)]
    people = np.where(np.arange(outputs)[:, None] < labelled, truth.astype(float), np.nan)
    columns = {f"judge_{name}": judge[:, i].astype(int) for i, name in enumerate(names)}
    columns |= {f"human_{name}": people[:, i] for i, name in enumerate(names)}
    return pd.DataFrame(columns)
