"""From a table where everything is known to one as a user has it: a few labels, and the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.names import to_names
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.tables import require_columns


def keep_labels(
    table: pd.DataFrame,
    n: int,
    random_seed: int | np.random.Generator | None = None,
    *,
    by: str | None = None,
    truth: str = "truth",
) -> pd.DataFrame:
    """Keep the human label of `n` random rows, and blank it in all others.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per item. Left as it is.
    n : int
        Labels kept, 1 or more; of each system where `by` is given.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same rows.
    by : str, optional
        Column that names the system of each row.
    truth : str, default "truth"
        Column with the human label.

    Returns
    -------
    pandas.DataFrame
        The same rows and columns; `truth` is empty where no label was kept.

    Raises
    ------
    InputError
        If a column is missing, or a system has fewer than `n` labels.

    Examples
    --------
    >>> from bayesjudge.datasets import xstest
    >>> keep_labels(xstest(), 100, 1, by="system").groupby("system")["truth"].count().tolist()
    [100, 100, 100, 100, 100]
    """
    require_columns(table, *([by] if by else []), truth)
    labelled = table[truth].notna().to_numpy()
    groups = to_names(table[by], by).to_numpy(str) if by else np.zeros(len(table))
    rows: dict[Any, np.ndarray] = {
        name: np.flatnonzero(labelled & (groups == name)) for name in np.unique(groups)
    }
    with checking("keep_labels") as require:
        require(n >= 1, "must be 1 or more", n=n)
        for name, places in rows.items():
            where = f" in {by} {str(name)!r}" if by else ""
            require(places.size >= n, f"{n} labels wanted, there are {places.size}{where}")
    rng = rng_of(random_seed)
    kept = np.concatenate([rng.choice(places, n, replace=False) for places in rows.values()])
    mask = np.isin(np.arange(len(table)), kept)
    return table.assign(**{truth: table[truth].where(mask)})
