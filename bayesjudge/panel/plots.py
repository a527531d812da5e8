"""Plots: they take results, draw on `ax`, return it and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.answer import claim, entries
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Estimate, in_words, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.plots import COLOURS, new_axes, plain_text, plot_intervals, write_title
from bayesjudge.core.side_by_side import side_by_side
from bayesjudge.panel.answer import answer
from bayesjudge.panel.checks import correlate_votes
from bayesjudge.panel.data import Votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: So many names fit beside their judges; more go to a legend.
FEW_NAMES = 6


@plain_text
def plot_generators(
    *results: Estimate | Fit,
    truth: Mapping[str, float] | None = None,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw each generator's prevalence as several methods have it.

    Parameters
    ----------
    *results : Estimate or Fit
        For example `panel_mean`, `voting` and a fit, all with the same `ci_prob`.
    truth : mapping of str to float, optional
        True prevalence by generator, if it is known; a dashed line.
    ci_prob : float, default 0.95
        Probability of the intervals.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One row per generator and method.
    """
    table = side_by_side(*results, ci_prob=ci_prob)
    known = {("prevalence", name): share for name, share in (truth or {}).items()}
    ax = plot_intervals(table[table["quantity"] == "prevalence"], truth=known, ax=ax)
    name = pass_name_in(results)
    ax.set_xlabel(f"{in_words('prevalence', name)} ({100 * ci_prob:g} % intervals)")
    said = answer(*results, ci_prob=ci_prob)
    shares = {key: row for key, row in entries(said.quoted).items() if row.value == row.value}
    if said.known and shares:
        best = max(shares, key=lambda key: shares[key].value)
        first = f"has most {name!r}" if name else "is best"
        write_title(ax, f"{best[1]} {first}: {shares[best].value:.0%} by {said.quoted.method}")
    return ax


@plain_text
def plot_judges(fit: Fit, *, ci_prob: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw each judge in the plane of specificity and sensitivity, with its posterior's contour.

    Parameters
    ----------
    fit : Fit
        With sensitivity and specificity: of `PooledDawidSkene`, `DawidSkene` or `Correlated`.
    ci_prob : float, default 0.95
        Posterior probability inside each contour, of a normal distribution on the logit scale.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Contours, posterior means as dots with the judges' names, and the line of no information.

    Raises
    ------
    InputError
        If the fit has no sensitivity.
    """
    has = "sensitivity" in fit.idata["posterior"]
    expect("panel.plot_judges", has, "needs a fit of PooledDawidSkene, DawidSkene or Correlated")
    ax = ax or new_axes(7.5 if len(fit.data.judges) > FEW_NAMES else 6.0, 5.5)
    both = np.stack([fit.draws("specificity"), fit.draws("sensitivity")])
    draws = np.log(both) - np.log1p(-both)
    around = np.linspace(0, 2 * np.pi, 120)
    circle = np.sqrt(-2 * np.log(1 - ci_prob)) * np.stack([np.cos(around), np.sin(around)])
    crowded = len(fit.data.judges) > FEW_NAMES
    lowest = 1.0
    for j, name in enumerate(fit.data.judges):
        centre, spread = draws[:, :, j].mean(axis=1), np.cov(draws[:, :, j])
        ring = 1 / (1 + np.exp(-(centre[:, None] + np.linalg.cholesky(spread) @ circle)))
        lowest = min(lowest, float(ring[1].min()))
        colour, marker = f"C{j}", "os^D"[j // len(COLOURS) % 4]
        ax.fill(*ring, color=colour, alpha=0.2)
        ax.plot(*ring, color=colour, lw=1)
        at = (float(both[0, :, j].mean()), float(both[1, :, j].mean()))
        ax.plot(*at, marker, color=colour, ms=4, ls="none", label=name if crowded else None)
        if not crowded:
            ax.annotate(name, at, xytext=(4, 4), textcoords="offset points", fontsize=8)
    ax.plot([0, 1], [1, 0], ls=":", color="0.5", label="no information")
    ax.set(xlim=(0, 1), xlabel="specificity", ylabel="sensitivity")
    ax.set_ylim(max(0.0, lowest - 0.05), 1.01)
    ax.grid()
    if crowded:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    else:
        ax.legend(loc="lower left")
    best = int(both.mean(axis=1).sum(axis=0).argmax())
    fails, passes = both[:, :, best].mean(axis=1)
    total = both.sum(axis=0)
    beaten = [(total[:, best] > other).mean() for j, other in enumerate(total.T) if j != best]
    judged = f"passes {passes:.0%} of good outputs, fails {fails:.0%} of bad ones"
    if name := fit.data.pass_name:
        judged = f"calls {passes:.0%} of {name!r} outputs so, {fails:.0%} of the others not"
    errs = claim(float(min(beaten, default=1.0)), "errs", "err")
    write_title(ax, f"{fit.data.judges[best]} {errs} least: {judged}")
    return ax


@plain_text
def plot_correlation(votes: Votes, *, truth: int = 0, ax: Axes | None = None) -> Axes:
    """Draw how the votes of every two judges correlate on items of one truth.

    Parameters
    ----------
    votes : Votes
        Some items labelled.
    truth : {0, 1}
        Items that people call bad (0) or good (1).
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A matrix, blue if judges vote alike and red if they vote against each other; judges
        who err independently leave it white.
    """
    size = len(votes.judges)
    ax = ax or new_axes(0.42 * size + 2.6, 0.42 * size + 1.6)
    values = correlate_votes(votes, truth).copy()
    np.fill_diagonal(values, np.nan)
    image = ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1)
    ax.set_xticks(np.arange(size), votes.judges, rotation=90, fontsize=8)
    ax.set_yticks(np.arange(size), votes.judges, fontsize=8)
    above = values[np.triu_indices(size, 1)]
    mean = float(np.nanmean(above)) if np.isfinite(above).any() else float("nan")
    kind = ["bad", "good"][truth]
    write_title(ax, f"Judges' votes on {kind} items: mean correlation {mean:.2f}")
    bar: Any = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("correlation")
    return ax
