"""Plots of any module's results: takes tables, returns axes, computes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayesjudge.core.estimate import entries_of, label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def new_axes(width: float = 6.5, height: float = 3.0) -> Axes:
    """Make a figure of one panel."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is an extra: pip install 'bayesjudge[plots]'"
        ) from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain_text[**P](plot: Callable[P, Axes]) -> Callable[P, Axes]:
    """Draw text as it is: to matplotlib a name with two dollar signs is mathematics.

    Text that was on the axes before, and stays, is its owner's.
    """

    @functools.wraps(plot)
    def plotted(*args: P.args, **kwargs: P.kwargs) -> Axes:
        from matplotlib.text import Text

        given: Any = kwargs.get("ax")
        owned = {} if given is None else {t: t.get_text() for t in given.findobj(Text)}
        ax = plot(*args, **kwargs)
        for text in ax.findobj(Text):
            if text not in owned or owned[text] != text.get_text():
                text.set_parse_math(False)
        return ax

    return plotted


@plain_text
def plot_intervals(
    table: pd.DataFrame,
    *,
    truth: Mapping[Any, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one interval a row, grouped by quantity and coloured by method.

    Parameters
    ----------
    table : pandas.DataFrame
        What `side_by_side` returned. Rows without an interval are left empty and say so.
    truth : mapping, optional
        True value by quantity and its coordinates, ``{("prevalence", "gpt"): 0.8}``, where it is
        known; a dashed line.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on. The figure is neither shown nor saved.
    """
    ax = ax or new_axes(6.5, 0.34 * len(table) + 1.1)
    colours = {method: f"C{i % 10}" for i, method in enumerate(dict.fromkeys(table["method"]))}
    keys = entries_of(table)
    one_quantity = keys.nunique() == 1
    known = {k if isinstance(k, tuple) else (k,): value for k, value in (truth or {}).items()}
    row, ticks, labels = 0.0, [], []
    for key, rows in table.groupby(keys, sort=False):
        top, name = row, label(key[0], key[1:])
        for _, one in rows.iterrows():
            colour = colours[one["method"]]
            ax.plot([one["low"], one["high"]], [row, row], color=colour, lw=2.5, alpha=0.7)
            ax.plot(one["value"], row, "o", color=colour, ms=5)
            if one["value"] != one["value"]:  # nan
                place: dict[str, Any] = {
                    "transform": ax.get_yaxis_transform(),
                    "va": "center",
                    "ha": "center",
                }
                ax.text(0.5, row, "no answer", color="0.5", **place)
            ticks.append(row)
            labels.append(one["method"] if one_quantity else f"{name}  ·  {one['method']}")
            row += 1
        if key in known:
            ax.plot([known[key]] * 2, [top - 0.5, row - 0.5], color="k", lw=1, ls="--")
        row += 0.6
    ax.set_yticks(ticks, labels)
    ax.set_ylim(row - 0.6, -0.6)
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if table["quantity"].nunique() == 1:
        ax.set_xlabel(str(table["quantity"].iloc[0]))
    return ax
