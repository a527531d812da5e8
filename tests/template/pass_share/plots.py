"""Plots: they take a result, draw on `ax`, return it and compute nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesjudge.core.estimate import Estimate
from bayesjudge.core.plots import plot_intervals
from bayesjudge.core.side_by_side import side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_shares(result: Estimate, *, ax: Axes | None = None) -> Axes:
    """Draw each system's share with its interval.

    Parameters
    ----------
    result : Estimate
        From `wilson_share`, or a fit's ``estimate()``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.
    """
    return plot_intervals(side_by_side(result, ci_prob=result.ci_prob), ax=ax)
