"""Shrinkage that could be certified, by the number of neighbours measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.bias.certificates.bounds import best_estimation_prob, spared
from bayesjudge.bias.data import Shifts, Units
from bayesjudge.core.errors import checking

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of neighbours that are looked at by default.
NEIGHBOURS = (10, 30, 50, 100, 150, 200, 300, 500, 800, 1000, 2000, 5000)


def trade_off(
    shifts: Shifts,
    *,
    tolerances: Sequence[float],
    failure_prob: float,
    units: Units,
    neighbours: Sequence[int] = NEIGHBOURS,
) -> pd.DataFrame:
    """Tell which shrinkage factor could be certified, were more neighbours measured.

    Further neighbours are taken to move like those measured so far.

    Parameters
    ----------
    shifts : Shifts
        Of one judge; perhaps a pilot.
    tolerances : sequence of float
        To compare.
    failure_prob : float
        In (0, 1), estimation error included.
    units : {"points", "range"}
        What tolerances are numbers of.
    neighbours : sequence of int
        Of each perturbation.

    Returns
    -------
    pandas.DataFrame
        Columns ``tolerance`` (as given), ``neighbours``, ``shift_bound`` (score points), ``alpha``,
        and ``range_only``: whether the scale alone gives it.

    Raises
    ------
    InputError
        If there are several judges or a number is out of its range.

    Examples
    --------
    >>> shifts = Shifts.from_differences([0, 0, 0, 0, 0, 0, 0, 0, 0, 1], scale=(1, 5))
    >>> about = {"tolerances": [0.5], "failure_prob": 0.05, "units": "points"}
    >>> trade_off(shifts, neighbours=[50, 500], **about)["alpha"].tolist()
    [0.125, 0.5]
    """
    import pandas as pd

    with checking("trade_off") as require:
        require(len(shifts.judges) == 1, f"take one of the judges {list(shifts.judges)}")
        require(0 < failure_prob < 1, "must lie in (0, 1)", failure_prob=failure_prob)
        require(len(tolerances) > 0, "give at least one tolerance")
        require(min(neighbours, default=0) >= 1, "neighbours must be 1 or more")
    groups = [lengths for _, lengths in shifts._lengths_by()]
    rows = []
    for m in sorted(neighbours):
        part = best_estimation_prob(failure_prob, m, len(groups))
        beyond = int(spared(m, failure_prob - part, part / len(groups)))
        bound = shifts.largest
        if beyond >= 0:
            # as many of m beyond it as the tail bound would leave, in proportion
            bound = max(
                float(np.quantile(x, 1 - beyond / m, method="inverted_cdf")) for x in groups
            )
        for tolerance in tolerances:
            length = shifts.points(tolerance, units)
            rows.append((tolerance, m, bound, length / bound if bound > length else 1.0))
    table = pd.DataFrame(rows, columns=["tolerance", "neighbours", "shift_bound", "alpha"])
    return table.assign(range_only=table["shift_bound"] >= shifts.largest)
