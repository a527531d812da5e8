"""Pictures of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import in_words
from bayesjudge.core.plots import below, draw_rows, name_rows, new_axes, plain_text, write_title
from bayesjudge.decide.decision import Gate, finding, names_of
from bayesjudge.decide.drift import TESTED, Drift, change_in_words, drift_in_words
from bayesjudge.decide.monitor import Monitor

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Blue, vermilion and grey, as in every picture; the word stands beside.
COLOUR_OF = {"pass": "C0", "fail": "C1", "unknown": "C6"}


@plain_text
def plot_gate(gate: Gate, *, ax: Axes | None = None) -> Axes:
    """Draw each number with its limits, and the threshold that it is held against.

    Parameters
    ----------
    gate : Gate
        From `bayesjudge.decide.gate`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the checks need.

    Returns
    -------
    matplotlib.axes.Axes
        One row per check, coloured by its outcome, which its name says too; title: the outcome.
    """
    checks = gate.checks
    ax = ax or new_axes(8.0, 0.36 * len(checks) + 1.3)
    for i, check in enumerate(checks):
        colour = COLOUR_OF[check.outcome]
        draw_rows(ax, i, check.value, check.low, check.high, colour=colour)
        ax.plot([check.threshold] * 2, [i - 0.4, i + 0.4], color="k", ls="--", lw=1.2)
    about, names = names_of(checks)
    name_rows(ax, [f"{n}: {each.outcome}" for n, each in zip(names, checks, strict=True)])
    ax.set_xlabel(f"{about}\nlimits; dashed: threshold".strip())
    write_title(ax, finding(gate))
    return ax


@plain_text
def plot_drift(drift: Drift, *, ax: Axes | None = None) -> Axes:
    """Draw each change from the old judge to the new one, with its interval.

    Parameters
    ----------
    drift : Drift
        From `bayesjudge.decide.drift`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the changes need.

    Returns
    -------
    matplotlib.axes.Axes
        One row per change; of those that were tested the name says whether a drift was seen, and
        the colour too. Title: the finding.
    """
    rows = list(drift.estimate.rows())
    ax = ax or new_axes(8.0, 0.36 * len(rows) + 1.3)
    names = []
    for i, (quantity, where, row) in enumerate(rows):
        colour = "C1" if quantity in drift.seen else "C0" if quantity in TESTED else "C6"
        draw_rows(ax, i, *row, colour=colour)
        name = ", ".join([change_in_words(quantity, drift.pass_name), *map(str, where.values())])
        tested = ": drift" if quantity in drift.seen else ": no drift seen"
        names.append(name + tested * (quantity in TESTED))
    ax.axvline(0, color="k", ls="--", lw=1.2)
    name_rows(ax, names)
    ax.set_xlabel(f"new judge less old, {100 * drift.ci_prob:g} % intervals")
    write_title(ax, drift_in_words(drift))
    return ax


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
    expect("plot_monitor", len(path), "there is no label yet")
    ax = ax or new_axes(6.4, 3.6)
    n = path["labels"]
    ax.fill_between(n, path["low"], path["high"], step="mid", alpha=0.25, label="limits")
    ax.plot(n, path["value"], label="estimate")
    ax.axhline(monitor.at_least, color="black", linestyle="--", label="threshold")
    decided = path[path["outcome"] != "unknown"]
    title = f"Not decided after {n.iloc[-1]} labels"
    if len(decided):
        first = decided.iloc[0]
        ax.axvline(first["labels"], color="black", linestyle=":", label="decided")
        title = f"{first['outcome'].capitalize()} at {first['labels']} labels"
    write_title(ax, f"{title}: at least {monitor.at_least:g} wanted")
    share = in_words("prevalence", monitor.pass_name)
    ax.set(xlabel="labels", ylabel=share, ylim=(0, 1))
    ax.legend(ncols=4, **below(ax))
    return ax
