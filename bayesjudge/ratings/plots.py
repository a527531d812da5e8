"""Plots of judges under many definitions, of shifts, and of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import expect
from bayesjudge.core.plots import (
    COLOURS,
    below,
    draw_rows,
    name_rows,
    new_axes,
    plain_text,
    write_title,
)
from bayesjudge.core.words import words_for
from bayesjudge.ratings.items import item_profiles
from bayesjudge.ratings.metrics import Definition
from bayesjudge.ratings.performance import Performance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayesjudge.core.fit import Fit

#: Metrics as their field writes them.
METRICS_IN_WORDS = words_for("metrics")
#: What is compared of either side; see `aggregate`.
SIDES = words_for("sides")


@plain_text
def plot_ranks(performance: Performance, *, ax: Axes | None = None) -> Axes:
    """Draw the rank of each judge under each definition, a row each.

    Parameters
    ----------
    performance : Performance
        From `agreement` or from a fit.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line per judge, those ahead in colour; a dot's size is the share of draws in which the
        judge is best.
    """
    ranks, best = performance.ranks(), performance.best()
    n, judges = ranks.shape
    words = {str(d): _metric_words(d) for d in performance.definitions}
    ax = ax or new_axes(8.0, 0.3 * n + 1.6)
    rows = np.arange(n)
    leaders = list(ranks.mean().sort_values().index[: len(COLOURS)])
    for judge in ranks.columns:
        # of more judges than there are colours, those that are ahead have one
        leads = judge in leaders
        colour = f"C{leaders.index(judge)}" if leads else "0.7"
        look: dict[str, Any] = {"color": colour, "zorder": 4 if leads else 2}
        name = str(judge) if leads else None
        ax.plot(ranks[judge], rows, lw=2, alpha=0.5, label=name, **look)
        ax.scatter(ranks[judge], rows, s=15 + 200 * best[judge], **look)
    if judges > len(leaders):
        ax.plot([], [], color="0.7", lw=2, label=f"{judges - len(leaders)} others")
    ax.set_yticks(rows, [words[str(label)] for label in ranks.index])
    ax.set(xlim=(0.5, judges + 0.5), ylim=(n - 0.4, -0.6), xlabel="rank (1 is best)")
    ax.locator_params(axis="x", integer=True)
    ax.tick_params(axis="y", length=0)
    ax.legend(ncols=4, **below(ax))
    first = ranks.idxmin(axis=1).value_counts()
    write_title(
        ax,
        f"{first.index[0]} is first under {first.iloc[0]} of {n} definitions (dot size: share of "
        "draws in which a judge is best)",
    )
    return ax


@plain_text
def plot_shift(
    table: pd.DataFrame, *, of: Definition | str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how judges, or the prevalence, move with what forced choices may hide.

    Parameters
    ----------
    table : pandas.DataFrame
        From `shift_sensitivity`.
    of : Definition or str, optional
        A definition or its name: one line per judge. ``"prevalence"``: one line per cutoff. By
        default the decision consistency of the judge that each definition selects.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Over the shift strength.

    Raises
    ------
    InputError
        If the table has no such definition.
    """
    judged, value = table[table["quantity"] != "prevalence"], "value"
    known = [*dict.fromkeys(judged["definition"]), "prevalence"]
    ok = of is None or str(of) in known
    expect("plot_shift", ok, f"of={str(of)!r} is not in the table; expected one of {known}")
    if of is None:
        groups, value = _by_selection(judged), "chosen_best"
        label = "consistency of the judge selected"
    elif str(of) == "prevalence":
        shares = table[table["quantity"] == "prevalence"]
        groups = [(f"at {cutoff:g}", rows) for cutoff, rows in shares.groupby("cutoff", sort=False)]
        label = "prevalence, by cutoff"
    else:
        rows = judged[judged["definition"] == str(of)]
        groups, label = list(rows.groupby("judge", sort=False)), str(of)
    ax = ax or new_axes(7.5, 4.2)
    for name, group in groups:
        ax.plot(group["shift_strength"].astype(str), group[value], "o-", alpha=0.8, label=name)
    ax.set_xlabel("shift strength: share who would accept the positive option too")
    ax.set_ylabel(label)
    ax.grid()
    ax.figure.legend(loc="outside lower center", ncols=1, fontsize=8)
    drawn = np.concatenate([group[value].to_numpy(float) for _, group in groups])
    if np.isfinite(drawn).any():
        least, most = np.nanmin(drawn), np.nanmax(drawn)
        write_title(ax, f"{label}: {least:.2f} to {most:.2f}, by what choices may hide")
    return ax


def _by_selection(judged: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """One group for all definitions that select the same judge everywhere."""
    rows = judged.drop_duplicates(["shift_strength", "definition"])
    wide = rows.pivot(index="definition", columns="shift_strength", values="chosen_best")
    same = wide.round(9).groupby(list(wide.columns), sort=False).groups
    names = {m: _two_of([str(d) for d in members]) for members in same.values() for m in members}
    rows = rows.assign(named=rows["definition"].map(names))
    return list(rows.drop_duplicates(["shift_strength", "named"]).groupby("named", sort=False))


@plain_text
def plot_items(
    fit: Fit,
    *,
    source: str = "people",
    most: int = 12,
    cutoff: float = 0.5,
    ci_prob: float = 0.95,
    draws: int = 400,
    ax: Axes | None = None,
) -> Axes:
    """Draw the items whose category is most uncertain.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`.
    source : str, default "people"
        Whose ratings.
    most : int, default 12
        Items to draw, the most contested first.
    cutoff : float, default 0.5
        Share of raters from which an item is positive.
    ci_prob : float, default 0.95
        Probability of the intervals.
    draws : int, default 400
        Draws of the fit to use.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Posterior of the share who accept the positive option, one row per item; a cross is the
        share of choices, if there are any.

    Raises
    ------
    InputError
        If there is no such source.
    """
    ratings = fit.data
    ratings.source(source)
    k = ratings.positive_index
    drawn = item_profiles(fit, draws=draws)[source].endorsed[..., k]
    doubt = np.abs((drawn >= cutoff).mean(axis=0) - 0.5)
    shown = np.argsort(doubt, kind="stable")[:most]
    ax = ax or new_axes(6.5, 0.28 * len(shown) + 1.4)
    tail = (1 - ci_prob) / 2
    low, high = np.quantile(drawn[:, shown], [tail, 1 - tail], axis=0)
    rows = np.arange(len(shown))
    draw_rows(ax, rows, drawn[:, shown].mean(axis=0), low, high, label="posterior mean")
    counts = ratings.chosen[ratings.source(source)][shown]
    n = counts.sum(axis=1)
    at = n > 0
    chosen = counts[at, k] / n[at]
    ax.plot(chosen, rows[at], "x", color="C1", label="share of choices")
    ax.axvline(cutoff, color="k", ls="--", lw=1, label="cutoff")
    name_rows(ax, [ratings.items[i] for i in shown])
    ax.set(xlim=(-0.02, 1.02), ylabel="item")
    ax.set_xlabel(f"share of {source} who accept {ratings.positive!r}")
    ax.figure.legend(loc="outside lower center", ncols=3)
    open_ = int(((low < cutoff) & (high > cutoff)).sum())
    write_title(ax, f"{open_} of these {len(shown)} items may be on either side of the cutoff")
    return ax


def _metric_words(definition: Definition) -> str:
    """A definition for a reader who knows metrics, and none of our shorthand."""
    metric = METRICS_IN_WORDS.get(definition.metric, definition.metric.replace("_", " "))
    if not definition.aggregation:
        return metric
    both = (definition.judge, definition.human)[: 1 if "–" in definition.aggregation else 2]
    return f"{metric}, {' against '.join(dict.fromkeys(SIDES[side] for side in both))}"


def _two_of(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
