"""Pictures of the correction. They draw what results hold, and compute nothing new."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.answer import judge_passes, owned, percents, would_pass
from bayesjudge.core.estimate import Estimate, Row, in_words, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import COLOURS, draw_rows, name_rows, new_axes, plain_text, write_title
from bayesjudge.prevalence._samples import passes_of_all
from bayesjudge.prevalence.label_errors import if_people_err

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@plain_text
def plot_correction(fit: Fit, *, ci_prob: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw how the judge's pass rate becomes a prevalence, one arrow per system.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.fit`.
    ci_prob : float, default 0.95
        Probability of the interval drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Raw pass rates as open circles, posterior means as dots with their intervals.
    """
    counts, name = fit.data, fit.data.pass_name
    names = list(counts.systems or [""])
    ax = ax or new_axes(6.5, 0.45 * len(names) + 1.4)
    raw = np.atleast_1d(np.divide(*passes_of_all(counts)))
    table = vars(fit.estimate(ci_prob=ci_prob).quantities["prevalence"])
    rows = np.arange(len(names))
    label = f"prevalence, {100 * ci_prob:g} % interval"
    draw_rows(ax, rows, **_numbers_of(table), label=label)
    ax.plot(raw, rows, "o", mfc="none", color="C1", label="judge's pass rate")
    for row, start, end in zip(rows, raw, table["value"], strict=True):
        if np.isnan(end):  # bounds have no dot
            continue
        arrow = {"arrowstyle": "->", "color": "0.5", "shrinkA": 5, "shrinkB": 5}
        ax.annotate("", xy=(end, row - 0.18), xytext=(start, row - 0.18), arrowprops=arrow)
    name_rows(ax, names, top=-0.7)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of items")
    ax.figure.legend(loc="outside lower center", ncols=2)
    gap = raw - table["value"]
    if np.isnan(gap).all():
        text = f"{would_pass(percents(Row(*(table[k][0] for k in Row._fields))), name)}"
        text += f" of {owned(names[0])}" * bool(names[0])
    elif len(names) == 1:
        text = f"{would_pass(f'{table["value"][0]:.0%}', name)}, "
        text += judge_passes(f"{raw[0]:.0%}", name)
    else:
        most = int(np.nanargmax(np.abs(gap)))
        text = f"The judge is furthest off for {names[most]}: by {100 * gap[most]:+.0f} points"
    write_title(ax, text)
    return ax


@plain_text
def plot_posterior(
    fit: Fit, *, quantity: str = "prevalence", truth: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the posterior of one quantity, one histogram per system.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.fit`.
    quantity : str, default "prevalence"
        A variable of the posterior.
    truth : float, optional
        A known true value, drawn as a dashed line.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Densities over [0, 1]; for the prevalence also the raw pass rate, as a dotted line.
    """
    draws = fit.draws(quantity)
    draws = draws[:, None] if draws.ndim == 1 else draws
    many = draws.shape[1] > len(COLOURS)
    ax = ax or new_axes(6.5, 0.3 * draws.shape[1] + 1.2 if many else 3.0)
    raw = np.atleast_1d(np.divide(*passes_of_all(fit.data)))
    names = list(fit.data.systems or [None])
    bins = np.linspace(0, 1, 151).tolist()
    for i, name in enumerate(names if len(names) <= len(COLOURS) else []):
        colour = f"C{i}"
        ax.hist(draws[:, i], bins=bins, density=True, color=colour, alpha=0.5, label=name)
        if quantity == "prevalence":
            label = "judge's pass rate" if i == 0 else None
            ax.axvline(raw[i], ls=":", color=colour, label=label)
    if many:
        _ridges(ax, draws, names, raw if quantity == "prevalence" else None)
    if truth is not None:
        ax.axvline(truth, ls="--", color="k", label="truth")
    held = np.quantile(draws, [0.0005, 0.9995])
    edges = [*held, *(raw if quantity == "prevalence" else []), *([] if truth is None else [truth])]
    ax.set_xlabel(in_words(quantity, pass_name_in([fit])))
    if not many:
        ax.set(yticks=[], ylabel="posterior density")
    ax.set_xlim(max(0, min(edges) - 0.05), min(1, max(edges) + 0.05))
    ax.spines["left"].set_visible(False)
    if ax.get_legend_handles_labels()[0]:
        below: Any = {} if many else {"loc": "upper left", "bbox_to_anchor": (0, -0.2), "ncols": 4}
        ax.legend(**below)
    if draws.shape[1] == 1:
        row = Row(float(draws.mean()), *map(float, np.quantile(draws, [0.025, 0.975])))
        write_title(ax, f"{quantity.replace('_', ' ').capitalize()}: {percents(row, 0.95)}")
    else:
        highest = names[int(draws.mean(axis=0).argmax())]
        chance = (draws.argmax(axis=1) == draws.mean(axis=0).argmax()).mean()
        write_title(
            ax, f"{highest} has the highest {quantity.replace('_', ' ')}: probability {chance:.2f}"
        )
    return ax


def _ridges(ax: Axes, draws: np.ndarray, names: list[Any], raw: np.ndarray | None) -> None:
    """One row per system: more than there are colours would hide each other."""
    edges = np.linspace(0, 1, 151)
    for i in range(draws.shape[1]):
        height = np.histogram(draws[:, i], edges)[0]
        shape = i - 0.85 * height / height.max()
        ax.fill_between(edges[:-1], i, shape, step="post", color="C0", alpha=0.6, lw=0)
    rows = np.arange(len(names))
    if raw is not None:
        ax.plot(raw, rows - 0.2, "|", color="C1", ms=9, mew=1.5, label="judge's pass rate")
    ax.set_yticks(rows, names)
    ax.set_ylim(len(names) - 0.4, -1.1)
    ax.grid(axis="x")


@plain_text
def plot_widths(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the interval's width by number of labels, as in Figure 3 of source 1.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bayesjudge.prevalence.width_curves`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One colour per pass rate, one line style per split.
    """
    ax = ax or new_axes(6.5, 3.6)
    styles = {"equal": "--", "adaptive": "-", "best": ":"}
    for i, (rate, rows) in enumerate(table.groupby("pass_rate", sort=False)):
        for split, curve in rows.groupby("split", sort=False):
            label = f"pass rate {rate:g}, {split}"
            ax.plot(
                curve["labelled"], curve["width"], styles[str(split)], color=f"C{i}", label=label
            )
    ax.set(xlabel="labels", ylabel="width of the interval (share of items)", ylim=(0, None))
    ax.grid()
    ax.legend(ncols=2, fontsize="small")
    least = table.loc[table["width"].idxmin()]
    write_title(ax, f"{least['labelled']:,.0f} labels narrow the interval to {least['width']:.3f}")
    return ax


@plain_text
def plot_regime(
    accuracy: Any, regime: tuple[Any, Any], *, label: str = "", ax: Axes | None = None
) -> Axes:
    """Draw where labels are better spent on calibrating a judge, as in Figure 4 of source 1.

    Parameters
    ----------
    accuracy : array_like
        Of symmetric judges: sensitivity and specificity, rising.
    regime : tuple of array_like
        From ``bayesjudge.prevalence.judge_regime(accuracy, accuracy)``.
    label : str, optional
        For a legend.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default. Several regimes may be drawn on one.

    Returns
    -------
    matplotlib.axes.Axes
        Accuracy to the right, prevalence up; shaded where the judge is worth it.
    """
    ax = ax or new_axes(5.0, 3.6)
    known = np.isfinite(regime[0])
    x, low, high = (np.asarray(part, float)[known] for part in (accuracy, *regime))
    colour = f"C{len(ax.collections)}"
    ax.fill_between(x, low, high, color=colour, alpha=0.25, lw=0, label=label or None)
    ax.plot(x, low, color=colour, lw=1)
    ax.plot(x, high, color=colour, lw=1)
    ax.set(ylabel="share of good outputs", ylim=(0, 1))
    ax.set_xlabel("judge's accuracy (sensitivity = specificity)")
    ax.set_xlim(float(np.min(accuracy)), float(np.max(accuracy)))
    if label:
        ax.legend(loc="center left")
    text = f"No judge of accuracy up to {np.max(accuracy):.2f} is worth its calibration"
    if known.any():
        text = f"A judge of accuracy below {x.min():.2f} is not worth its calibration"
    write_title(ax, f"{label}: {text}" if label else text)
    return ax


@plain_text
def plot_plan(table: pd.DataFrame, *, width: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw what each way of spending labels is expected to buy.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bayesjudge.prevalence.plan`.
    width : float, optional
        A width that is wanted, drawn as a dashed line.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Expected width of the posterior's interval by number of labels, a line a strategy.
    """
    ax = ax or new_axes(6.5, 3.6)
    for strategy, rows in table.groupby("strategy", sort=False):
        ax.plot(rows["labelled"], rows["expected_width"], "o-", ms=4, label=strategy)
    if width is not None:
        ax.axhline(width, ls="--", color="k", lw=1, label=f"wanted: {width:g}")
    ax.set(xlabel="labels", ylabel="expected width (share of items)", ylim=(0, None))
    ax.grid()
    ax.figure.legend(loc="outside lower center", ncols=3)
    last = table[table["labelled"] == table["labelled"].max()]
    best = last.loc[last["expected_width"].idxmin()]
    write_title(
        ax,
        f"With {best['labelled']} labels, {best['strategy']} gives the narrowest interval: "
        f"{best['expected_width']:.3f}",
    )
    return ax


def _numbers_of(table: Any) -> dict[str, Any]:
    """Values and ends of a table's rows."""
    return {name: table[name] for name in Row._fields}


def _write_shares(ax: Axes, title: str, shares: Any) -> None:
    """Write a share beside each row, on the right."""
    place: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
    ax.text(1.02, -0.9, title, **place)
    for row, share in enumerate(shares):
        ax.text(1.02, row, f"{share:.0%}", **place)


def _pitch(rows: int) -> float:
    """Inches of a row: of many less."""
    return 0.4 if rows <= 20 else 0.24


@plain_text
def plot_systems(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a ranking as a forest: one interval per system, the best on top.

    Parameters
    ----------
    table : pandas.DataFrame
        From `bayesjudge.prevalence.ranking`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Prevalences with their intervals; the probability of being the best on the right.
    """
    ax = ax or new_axes(6.5, _pitch(len(table)) * len(table) + 1.3)
    rows, name = np.arange(len(table)), table.attrs.get("pass_name", "")
    draw_rows(ax, rows, **_numbers_of(table))
    _write_shares(ax, "P(best)", table["best"])
    name_rows(ax, table.index, top=-1.2)
    ax.set(xlim=(-0.02, 1.02), xlabel=in_words("prevalence", name))
    first = table["best"].idxmax()
    best = f"has most {name!r}" if name else "is best"
    write_title(ax, f"{first} {best} with probability {table['best'].max():.2f}")
    return ax


@plain_text
def plot_strata(fit: Fit | Estimate, *, ci_prob: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the strata as a forest, with the prevalence of all of them below.

    Parameters
    ----------
    fit : Fit or Estimate
        From `bayesjudge.prevalence.fit` or `bayesjudge.prevalence.exact`, of strata.
    ci_prob : float, default 0.95
        Probability of a fit's intervals; an estimate has its own.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One interval per stratum, with its share of the items on the right.
    """
    if isinstance(fit, Estimate):
        shown = fit
    else:  # a model with covariates reports its slopes, and has the strata's prevalence beside them
        both = replace(fit, quantities=("overall_prevalence", "prevalence"))
        shown = both.estimate(ci_prob=ci_prob)
    strata = fit.data.systems
    overall, each = shown["overall_prevalence"]._asdict(), vars(shown.quantities["prevalence"])
    ax = ax or new_axes(6.5, _pitch(len(strata)) * len(strata) + 1.8)
    rows, last = np.arange(len(strata)), len(strata) + 0.3
    draw_rows(ax, rows, **_numbers_of(each))
    draw_rows(ax, last, **overall, colour="C1", marker="D")
    ax.axvline(overall["value"], color="C1", lw=1, ls=":", zorder=0)
    _write_shares(ax, "of items", fit.data.shares)
    name_rows(ax, [*strata, "all"], [*rows, last], top=-1.2)
    name = fit.data.pass_name
    ax.set(xlim=(-0.02, 1.02), xlabel=in_words("prevalence", name))
    share = percents(Row(**overall), shown.ci_prob)
    write_title(ax, f"{would_pass(share, name)}, over all strata")
    return ax


@plain_text
def plot_if_people_err(estimate: Estimate, *, ax: Axes | None = None) -> Axes:
    """Draw a share against how often people's labels are wrong, one band per system.

    Parameters
    ----------
    estimate : Estimate
        As for `bayesjudge.prevalence.if_people_err`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Lines of values within bands of the intervals; the share as people's labels have it is on
        the left.
    """
    table = if_people_err(estimate, np.linspace(0, 0.1, 41).tolist())
    ax = ax or new_axes()
    dims = [name for name in table if name not in ("error", *Row._fields)]
    names = table[dims].astype(str).agg(", ".join, axis=1) if dims else table["error"] * 0
    for i, (name, rows) in enumerate(table.groupby(names, sort=False)):
        if i == len(COLOURS):
            break
        ax.fill_between(rows["error"], rows["low"], rows["high"], color=f"C{i}", alpha=0.2, lw=0)
        ax.plot(rows["error"], rows["value"], color=f"C{i}", label=name if dims else None)
    ax.set(xlim=(0, 0.1), xlabel="share of people's labels that are wrong", ylabel="share of items")
    if dims:
        ax.legend()
    return ax
