"""Plots: they take a result, draw on `ax`, return it and compute nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesjudge.core.answer import chance
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import below, draw_rows, name_rows, new_axes, plain_text, write_title
from bayesjudge.leaderboard.standings import ahead, standings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Systems from which on cells are too small for numbers.
MANY = 16


@plain_text
def plot_standings(
    fit: Fit, *, baseline: str | None = None, ci_prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw each system's Elo points for people, and by the judge alone beside them.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.
    baseline : str, optional
        System with 0 points; the average of all by default.
    ci_prob : float, default 0.95
        Probability of the intervals.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the rows need.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.
    """
    table = standings(fit, baseline=baseline, ci_prob=ci_prob)
    at = range(len(table))
    ax = ax or new_axes(8.0, 0.32 * len(table) + 1.6)
    ax.axvline(0, color="0.8", lw=1, zorder=0)
    columns = (table[name] for name in ("elo", "low", "high"))
    draw_rows(ax, at, *columns, label=f"people, {100 * ci_prob:g} % interval")
    if "judge_elo" in table:
        said: Any = {"mfc": "none", "color": "C1", "ms": 6, "ls": "none"}
        ax.plot(table["judge_elo"], at, marker="s", label="the judge alone", **said)
    for i, likely in enumerate(table["first"]):
        if likely >= 0.01:
            ax.annotate(f"{likely:.0%}", (1.01, i), xycoords=("axes fraction", "data"),
                        va="center", fontsize="small", color="0.35")  # fmt: skip
    ax.annotate("first", (1.01, -0.8), xycoords=("axes fraction", "data"), fontsize="small",
                color="0.35")  # fmt: skip
    name_rows(ax, table.index)
    origin = "the average system" if baseline is None else baseline
    ax.set_xlabel(f"Elo points against {origin}")
    ax.legend(ncols=2, **below(ax))
    likely, name = table["first"].iloc[0], table.index[0]
    write_title(ax, f"For people {name} is first with probability {chance(likely)}")
    return ax


@plain_text
def plot_ahead(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that people prefer the row's system to the column's.

    Parameters
    ----------
    fit : Fit
        Of `fit` or `approximate`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.
    """
    table = ahead(fit)
    k = len(table)
    size = min(0.55 * k + 2.0, 12.0)
    ax = ax or new_axes(size + 0.6, size)
    ax.imshow(table, cmap="RdBu", vmin=0, vmax=1, aspect="equal")
    ax.set_xticks(range(k), list(table), rotation=45, ha="right")
    ax.set_yticks(range(k), list(table))
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0)
    for i in range(k if k <= MANY else 0):
        for j in range(k):
            value = table.iloc[i, j]
            if i != j:
                strong = abs(value - 0.5) > 0.35
                shown = ">.99" if value > 0.995 else "<.01" if value < 0.005 else f"{value:.2f}"
                ax.text(j, i, shown.replace("0.", ".", 1) if shown[0] == "0" else shown,
                        ha="center", va="center", fontsize="small",
                        color="white" if strong else "0.15")  # fmt: skip
    open_pairs = int(((table > 0.025) & (table < 0.975)).to_numpy().sum()) // 2
    write_title(ax, f"Is the row ahead of the column for people? {open_pairs} of "
                    f"{k * (k - 1) // 2} pairs are open")  # fmt: skip
    return ax
