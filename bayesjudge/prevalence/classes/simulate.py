"""Verdicts of a judge that mixes classes up in a known way."""

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
    shares: Sequence[float] = (0.5, 0.3, 0.2),
    accuracy: float = 0.8,
    classes: Sequence[str] = ("a", "b", "c"),
    items: int = 1000,
    labelled: int = 300,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `ClassCounts.from_frame` reads; labels are a random sample.

    Parameters
    ----------
    shares : sequence of float, default (0.5, 0.3, 0.2)
        True share of each class; they sum to 1.
    accuracy : float, default 0.8
        Probability of the right verdict; the wrong ones are equally probable.
    classes : sequence of str
        Names.
    items, labelled : int
        Items without and with a human label: 1000 and 300 by default.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``verdict`` and ``truth`` (empty if there is no label), one row per item.

    Raises
    ------
    InputError
        If shares do not sum to 1, or names and shares differ in number.
    """
    import pandas as pd

    size = len(classes)
    with checking("prevalence.classes.simulate") as require:
        require(len(shares) == size >= 2, f"{len(shares)} shares for the classes {list(classes)}")
        require(abs(sum(shares) - 1) < 1e-9, f"shares must sum to 1, got {list(shares)}")
        require(0 <= accuracy <= 1, "must lie in [0, 1]", accuracy=accuracy)
    rng = rng_of(random_seed)
    truth = rng.choice(size, items + labelled, p=shares)
    wrong = (truth + rng.integers(1, size, truth.size)) % size
    verdict = np.where(rng.random(truth.size) < accuracy, truth, wrong)
    names = np.array(classes, dtype=object)
    known = np.where(np.arange(truth.size) < items, np.array(None, object), names[truth])
    return pd.DataFrame({"verdict": names[verdict], "truth": known})
