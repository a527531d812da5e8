"""Every method side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesjudge.pass_share.closed_form import wilson_share
from bayesjudge.pass_share.data import Passes

from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import side_by_side

if TYPE_CHECKING:
    import pandas as pd


def closed_forms(passes: Passes, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the data.

    Parameters
    ----------
    passes : Passes
        Counts.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        One.
    """
    return (wilson_share(passes, ci_prob=ci_prob),)


def compare(passes: Passes, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Put every method side by side.

    Parameters
    ----------
    passes : Passes
        Counts.
    fit : Fit, optional
        A sampled posterior to add.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per method and system, as `bayesjudge.side_by_side` has them.
    """
    made = closed_forms(passes, ci_prob=ci_prob)
    return side_by_side(*made, *([] if fit is None else [fit]), ci_prob=ci_prob)
