"""Pictures of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesjudge.core.errors import checking
from bayesjudge.core.plots import new_axes, plain_text, write_title
from bayesjudge.decide.monitor import Monitor

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@plain_text
def plot_monitor(monitor: Monitor, *, ax: Axes | None = None) -> Axes:
    """Draw the confidence sequence against the number of labels.

    Parameters
    ----------
    monitor : Monitor
        With labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Estimate, limits that hold at all looks, the threshold, and the label that decided.

    Raises
    ------
    InputError
        If there is no label yet.
    """
    path = monitor.path
    with checking("plot_monitor") as require:
        require(len(path), "there is no label yet")
    ax = ax or new_axes(6.4, 3.6)
    n = path["labels"]
    ax.fill_between(n, path["low"], path["high"], step="mid", alpha=0.25, label="limits")
    ax.plot(n, path["value"], label="estimate")
    ax.axhline(monitor.at_least, color="black", linestyle="--", label="threshold")
    decided = path[path["outcome"] != "unknown"]
    told = f"Not decided after {n.iloc[-1]} labels"
    if len(decided):
        first = decided.iloc[0]
        ax.axvline(first["labels"], color="black", linestyle=":", label="decided")
        told = f"{first['outcome'].capitalize()} at {first['labels']} labels"
    write_title(ax, f"{told}: at least {monitor.at_least:g} wanted")
    ax.set(xlabel="labels", ylabel="share of good outputs", ylim=(0, 1))
    ax.legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncols=4)
    return ax
