"""Pictures of studies. They draw what tables hold, and compute nothing new but the band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.plots import COLOURS, new_axes, plain_text, write_title
from bayesjudge.lab.coverage import CoverageStudy
from bayesjudge.lab.sbc import RankStudy
from bayesjudge.lab.uniformity import band, cumulative

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What can be drawn of a coverage study, and how its axis is called.
SHOWN = {
    "coverage": "coverage",
    "width": "mean width of the interval",
    "bias": "bias of the estimate",
    "rmse": "root mean squared error",
    "score": "interval score",
}
#: As many names fit over the lines.
FEW = 12
DASHES = ("-", "--", ":", "-.")


@plain_text
def plot_ranks(
    study: RankStudy,
    *,
    quantities: list[str] | None = None,
    kind: Literal["ecdf", "histogram"] = "ecdf",
    prob: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw how far the ranks are from uniform, with the band that uniform ranks stay in.

    Parameters
    ----------
    study : RankStudy
        From `bayesjudge.lab.sbc`.
    quantities : list of str, optional
        Which; all by default.
    kind : {"ecdf", "histogram"}, default "ecdf"
        Distribution of the ranks less the uniform one, whose band holds a whole curve at once; or
        counts in 20 classes, whose band holds each class separately.
    prob : float, default 0.95
        Probability that uniform ranks of *one* quantity stay inside.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One curve per quantity. Above the band on the left: the truth lies low in the posterior. An
        S that starts above: the posterior is too narrow; that starts below: too wide.

    Raises
    ------
    InputError
        If a quantity or the kind is unknown.
    """
    known = list(dict.fromkeys(study.table["quantity"]))
    names = known if quantities is None else quantities
    with checking("plot_ranks") as require:
        unknown = [name for name in names if name not in known]
        require(not unknown, f"no quantities {unknown}; there are {known}")
        require(kind in ("ecdf", "histogram"), "must be ecdf or histogram", kind=kind)
    ax = ax or new_axes(5.5, 3.4)
    draw = _differences if kind == "ecdf" else _histograms
    draw(study, names, prob, ax)
    write_title(ax, _uniform(study, names, prob) if kind == "ecdf" else _outside(ax, names))
    ax.set_xlabel("rank of the truth among the draws, as a share")
    if len(names) <= FEW:
        ax.legend(fontsize="small", ncols=2)
    else:  # too many to lie over the lines
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02)}
        columns = -(-len(names) // 24)
        ax.legend(fontsize="x-small", borderaxespad=0, ncols=columns, **beside)
    return ax


def _words(name: str) -> str:
    return name.replace("_", " ")


def _uniform(study: RankStudy, names: list[str], prob: float) -> str:
    """Which quantities leave the band, in one line."""
    outside = []
    for name in names:
        ranks = study.ranks(name)
        low, high = band(ranks.size, study.retained, prob)
        below = cumulative(ranks, study.retained)
        if ((below < low) | (below > high)).any():
            outside.append(_words(name))
    n = study.ranks(names[0]).size
    if not outside:
        return f"All {len(names)} quantities stay in the band ({n:,} simulations)"
    listed = ", ".join(outside[:3]) + (" …" if len(outside) > 3 else "")
    return f"{len(outside)} of {len(names)} leave the band ({n:,} simulations): {listed}"


def _outside(ax: Axes, names: list[str]) -> str:
    """How many classes of the histograms are outside their band, in one line."""
    band_, *stairs = ax.patches
    low, high = band_.get_extents().transformed(ax.transData.inverted()).intervaly
    heights = np.concatenate([stair.get_data().values for stair in stairs])  # type: ignore[attr-defined]
    odd = int(((heights < low) | (heights > high)).sum())
    return f"{odd} of {heights.size} classes are outside their band ({len(names)} quantities)"


def _style(i: int) -> dict[str, Any]:
    """Tell the i-th line from all others: colours, then dashes."""
    n = len(COLOURS)
    return {"color": f"C{i % n}", "lw": 1.4, "linestyle": DASHES[i // n % len(DASHES)]}


def _differences(study: RankStudy, names: list[str], prob: float, ax: Axes) -> None:
    share = np.arange(1, study.retained + 1) / (study.retained + 1)
    n = study.ranks(names[0]).size
    low, high = band(n, study.retained, prob)
    label = f"{100 * prob:g} % band"
    ax.fill_between(share, low / n - share, high / n - share, color="0.88", lw=0, label=label)
    ax.axhline(0, color="0.6", lw=0.8)
    for i, name in enumerate(names):
        gap = cumulative(study.ranks(name), study.retained) / n - share
        ax.step(share, gap, where="mid", label=_words(name), **_style(i))
    ax.set(ylabel="share below less uniform share", xlim=(0, 1))


def _histograms(study: RankStudy, names: list[str], prob: float, ax: Axes) -> None:
    from scipy.special import bdtrik

    edges = np.linspace(0, 1, 21)
    n = study.ranks(names[0]).size
    ends = bdtrik(np.array([1 - prob, 1 + prob]) / 2, n, 1 / 20)
    ax.axhspan(*np.ceil(ends), color="0.88", lw=0, label=f"{prob:.0%} of each class")
    for i, name in enumerate(names):
        shares = (study.ranks(name) + 0.5) / (study.retained + 1)
        ax.stairs(np.histogram(shares, edges)[0], edges, label=_words(name), **_style(i))
    ax.set(ylabel="simulations", xlim=(0, 1), ylim=(0, None))


@plain_text
def plot_coverage(
    study: CoverageStudy,
    x: str,
    *,
    shown: str = "coverage",
    quantity: str | None = None,
    where: dict[str, object] | None = None,
    ci_prob: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw coverage, width, bias, error or score against what varied, one line per method.

    Parameters
    ----------
    study : CoverageStudy
        From `bayesjudge.lab.coverage`.
    x : str
        Entry of the settings for the horizontal axis.
    shown : {"coverage", "width", "bias", "rmse", "score"}, default "coverage"
        What to draw.
    quantity : str, optional
        Which; the table's first by default.
    where : dict, optional
        Values of the other entries of the settings, which pick the rows.
    ci_prob : float, default 0.95
        What the intervals claim, drawn as a line under coverage.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Monte Carlo errors as shades: 95 % intervals.

    Raises
    ------
    InputError
        If a name is unknown, no row is left, or two rows have the same place.
    """
    table = study.table
    with checking("plot_coverage") as require:
        require(shown in SHOWN, f"must be one of {list(SHOWN)}", shown=shown)
        unknown = [name for name in (x, *(where or {})) if name not in table]
        require(not unknown, f"no columns {unknown}; there are {list(table)}")
    quantity = quantity or table["quantity"].iloc[0]
    rows = table[table["quantity"] == quantity]
    for name, value in (where or {}).items():
        rows = rows[rows[name] == value]
    with checking("plot_coverage") as require:
        require(len(rows), f"no rows for {quantity!r} where {where}")
        twice = rows.duplicated([x, "method"]).any()
        require(not twice, f"several rows have the same {x} and method; pick some with where=")
    ax = ax or new_axes(5.5, 3.4)
    for i, (method, part) in enumerate(rows.groupby("method", sort=False)):
        part = part.sort_values(x)
        ax.plot(part[x], part[shown], "o-", ms=3, lw=1.2, color=f"C{i % 10}", label=method)
        if shown == "coverage":
            ends = part["coverage_low"], part["coverage_high"]
        elif f"{shown}_error" in part:
            error = 1.96 * part[f"{shown}_error"]
            ends = part[shown] - error, part[shown] + error
        else:
            continue
        ax.fill_between(part[x], *ends, color=f"C{i % 10}", alpha=0.2, lw=0)
    if shown in ("coverage", "bias"):
        ax.axhline(ci_prob if shown == "coverage" else 0, color="0.4", lw=0.8, ls="--")
    better = " (lower is better)" if shown == "score" else ""
    ax.set(xlabel=_words(x), ylabel=f"{SHOWN[shown]}{better}, {_words(quantity)}")
    write_title(ax, _worst(rows, x, shown))
    ax.legend(fontsize="small")
    return ax


def _worst(rows: Any, x: str, shown: str) -> str:
    """The worst of all points drawn, in one line."""
    known = rows.dropna(subset=shown)
    if not len(known):
        return f"No {SHOWN[shown]} is known"
    size = known[shown].abs()
    worst = known.loc[size.idxmin() if shown == "coverage" else size.idxmax()]
    place = worst[x] if isinstance(worst[x], str) else f"{worst[x]:.3g}"
    word = "Least" if shown == "coverage" else "Largest"
    return f"{word} {SHOWN[shown]}: {worst[shown]:.3g}, {worst['method']} at {_words(x)} {place}"
