"""Plots of repeated scores, their components and what precision costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core import dirichlet
from bayesjudge.core.answer import numbers
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import name_rows, new_axes, plain_text, write_title
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.stopping_rules import METHODS, Method, _asked_prob, mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COMPONENTS = ("item_sd", "judge_sd", "item_judge_sd", "repeat_sd")

#: Values of a scale that are all named at its axis.
MOST_TICKS = 21


@plain_text
def plot_half_width(
    scores: Sequence[float | None],
    half_width: float,
    *,
    scale: Sequence[float],
    ci_prob: float = 0.95,
    methods: Sequence[Method] = ("dirichlet", "z"),
    pilot: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw how an item's interval narrows from call to call, and when each rule stops.

    Parameters
    ----------
    scores : sequence of float or None
        One item's scores in the order asked.
    half_width : float
        What was wanted, in the units of the scale.
    scale : sequence of float
        Every value that the judge can give, in rising order.
    ci_prob : float, default 0.95
        Probability of the interval; for ``"dirichlet"`` the half-width is the one that its rule
        looks at, of a higher probability.
    methods : sequence of str, default ("dirichlet", "z")
        Rules to draw; see `next_batch`.
    pilot : int, default 10
        Readable scores before the first decision.
    ax : matplotlib.axes.Axes, optional
        If to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A line a rule, a dot at its last call, a dashed line at the half-width wanted.
    """
    ax = ax or new_axes(6.5, 3.2)
    endings = []
    known = [s for s in scores if s is not None and not np.isnan(s)]
    calls = np.arange(2, len(known) + 1)
    for i, method in enumerate(methods):
        prob = _asked_prob(ci_prob, method)
        half_widths = [
            mean_interval(known[:n], scale, ci_prob=prob, method=method).half_width for n in calls
        ]
        half = np.array(half_widths)
        colour = f"C{i}"
        ax.plot(calls, half, color=colour, label=METHODS[method])
        stops = np.flatnonzero((half <= half_width) & (calls >= pilot))
        if stops.size:
            ax.plot(calls[stops[0]], half[stops[0]], "o", color=colour)
        when = f"after {calls[stops[0]]}" if stops.size else f"not within {len(known)}"
        endings.append(f"{METHODS[method]} {when}")
    ax.axhline(half_width, ls="--", color="k", lw=1, label="half-width wanted")
    top = (max(scale) - min(scale)) / 2  # of the scale itself; t begins far above it
    ax.set(xlabel="calls", ylabel="half-width (units of the scale)", ylim=(0, top))
    ax.legend()
    write_title(ax, f"Calls until the mean is known to ±{half_width:g}: {'; '.join(endings)}")
    return ax


@plain_text
def plot_scores(
    scores: Scores,
    *,
    item: str | None = None,
    ci_prob: float = 0.95,
    truth: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often an item got each value, with the exact posterior of its mean.

    Parameters
    ----------
    scores : Scores
        Judges are taken together.
    item : str, optional
        Which item; the first by default.
    ci_prob : float, default 0.95
        Probability of the interval.
    truth : float, optional
        A known true mean, drawn as a dashed line.
    ax : matplotlib.axes.Axes, optional
        If to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Bars of shares, the density of the mean (its height is arbitrary), its interval.

    Raises
    ------
    InputError
        If there is no such item.
    """
    known = item is None or item in scores.items
    expect("repeats.plot_scores", known, f"no item {item!r}; there are {list(scores.items[:5])} …")
    ax = ax or new_axes(6.5, 3.2)
    at = 0 if item is None else scores.items.index(item)
    counts, points = scores.counts[at].sum(axis=0), np.array(scores.scale)
    share = counts / counts.sum()
    ax.bar(points, share, 0.6 * np.diff(points).min(), color="0.85", label="answers")
    weights = dirichlet.posterior(counts)
    ends = dirichlet.quantile(weights, points, [5e-4, 1 - 5e-4])
    fine = np.linspace(ends[0], ends[1], 200)
    density = dirichlet.distribution(weights, points, fine)[1]
    ax.fill_between(fine, share.max() * density / density.max(), color="C0", alpha=0.5, lw=0)
    low, high = dirichlet.interval(weights, points, ci_prob=ci_prob)
    mean, _ = dirichlet.moments(weights, points)
    ax.plot([low, high], [0, 0], color="C0", lw=5, solid_capstyle="butt")
    ax.plot(mean, 0, "o", color="C0", label=f"mean, {100 * ci_prob:g} % interval", clip_on=False)
    if truth is not None:
        ax.axvline(truth, ls="--", color="k", label="truth")
    ax.set(xlabel="score", ylabel="share of answers")
    if len(points) <= MOST_TICKS:
        ax.set_xticks(points)
    row = Row(float(mean), float(low), float(high))
    write_title(ax, f"{scores.items[at]}: mean score {numbers(row, ci_prob)}")
    ax.legend()
    return ax


@plain_text
def plot_components(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    truth: dict[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what scores vary with: items, judges, their combination, and repeats.

    Parameters
    ----------
    *results : Estimate or Fit
        From `anova` and `fit`.
    ci_prob : float, default 0.95
        Probability of the intervals of fits.
    truth : dict of str to float, optional
        From `score_components`, drawn as ticks.
    ax : matplotlib.axes.Axes, optional
        If to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Standard deviations with intervals, one row per component and result.
    """
    estimates = [r.estimate(ci_prob=ci_prob) if isinstance(r, Fit) else r for r in results]
    names = [c for c in COMPONENTS if any(c in estimate for estimate in estimates)]
    ax = ax or new_axes(6.5, 0.55 * len(names) + 1.2)
    for k, estimate in enumerate(estimates):
        for row, name in enumerate(names):
            if name not in estimate:
                continue
            value, low, high = estimate[name]
            at = row + 0.22 * (k - (len(estimates) - 1) / 2)
            ax.plot([low, high], [at, at], color=f"C{k}", lw=2.5, alpha=0.7)
            label = estimate.method if row == 0 else None
            ax.plot(value, at, "o", color=f"C{k}", ms=5, label=label)
    for row, name in enumerate(names):
        if truth and name in truth:
            ax.plot([truth[name]] * 2, [row - 0.35, row + 0.35], color="k", ls="--", lw=1)
    words = {"item_sd": "items", "judge_sd": "judges", "item_judge_sd": "items × judges"}
    name_rows(ax, [words.get(name, "repeats") for name in names])
    ax.set_xlim(0, None)
    ax.set_xlabel("standard deviation of scores (units of the scale)")
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    sizes = [
        {name: estimate[name].value for name in names if name in estimate} for estimate in estimates
    ]
    largest = dict.fromkeys(
        max(component_sizes, key=lambda name: component_sizes[name])
        for component_sizes in sizes
        if component_sizes
    )
    if largest:
        by = ", by method" if len(largest) > 1 else ""
        said = " or ".join(words.get(name, "repeats") for name in largest)
        write_title(ax, f"Scores vary most with {said}{by}")
    return ax


@plain_text
def plot_cost(table: pd.DataFrame, *, column: str = "calls", ax: Axes | None = None) -> Axes:
    """Draw what precision costs, one line per probability.

    Parameters
    ----------
    table : pandas.DataFrame
        From `cost_table`.
    column : {"calls", "cost", "repeats", "seconds"}
        What to draw.
    ax : matplotlib.axes.Axes, optional
        If to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Both axes logarithmic, so that the square law is a straight line.

    Raises
    ------
    InputError
        If `column` is unknown.
    """
    with checking("repeats.plot_cost") as require:
        known = ["calls", "cost", "repeats", "seconds"]
        require(column in known, f"must be one of {known}", column=column)
        free = column in table and not (table[column] > 0).any()
        require(not free, "no-cost", column=column)
    ax = ax or new_axes(6.5, 3.2)
    probs: Any = sorted(set(table["ci_prob"]))
    for i, prob in enumerate(probs):
        part = table[table["ci_prob"] == prob].sort_values("half_width")
        ax.plot(part["half_width"], part[column], "o-", color=f"C{i}", label=f"{prob:.0%}")
    ax.set(xscale="log", yscale="log", xlabel="half-width (units of the scale)", ylabel=column)
    widths = sorted(set(table["half_width"]))
    ax.set_xticks(widths, [f"{width:.2g}" for width in widths])
    ax.tick_params(axis="x", which="minor", labelbottom=False)
    ax.grid(which="both")
    ax.legend(title="probability")
    surest = table[table["ci_prob"] == probs[-1]]
    least = surest.loc[surest["half_width"].idxmin()]
    write_title(
        ax,
        f"A mean known to ±{least['half_width']:.2g} with {probs[-1]:.0%} takes "
        f"{least[column]:,.6g} {'of cost' if column == 'cost' else column}",
    )
    return ax
