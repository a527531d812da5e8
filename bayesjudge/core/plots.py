"""Plots of any module's results: takes tables, returns axes, computes nothing."""

from __future__ import annotations

import functools
import io
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.answer import Answer, entries
from bayesjudge.core.estimate import coordinate, entries_of, in_words, label, pass_name_in
from bayesjudge.core.side_by_side import in_order, records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_axes(width: float = 6.5, height: float = 3.0) -> Axes:
    """Make a figure of one panel, in the package's style."""
    try:
        import matplotlib as mpl
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is an extra: pip install 'bayesjudge[plots]'"
        ) from error
    with styled(mpl, STYLE):
        return plt.subplots(figsize=(width, height), layout="constrained")[1]


@contextmanager
def styled(mpl: Any, style: Any) -> Iterator[None]:
    """Settings for a while, but for whether figures are shown at once.

    The first plot loads the backend, whose choice is not part of the style: a notebook whose
    backend is no longer interactive shows no second figure.
    """
    with mpl.rc_context(style):
        yield
        live = mpl.is_interactive()
    mpl.interactive(live)


def below(ax: Axes, inches: float = 0.45) -> dict[str, Any]:
    """Where a legend stands below ticks and their label, however high the figure is."""
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -inches, ax.figure.dpi_scale_trans)
    place = ax.transAxes + down
    return {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": place}


#: Told apart by people with any kind of colour vision (Okabe & Ito 2008), on white; the yellow
#: is left out, which white hides.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
#: One look: what a reader compares is dark, the frame is not.
STYLE: Any = {
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}
#: Of more intervals each row is lower and each line thinner.
MANY_ROWS = 40
#: Letters of a title that fit on an inch.
LETTERS = 11


def plain_text[**P](plot: Callable[P, Axes]) -> Callable[P, Axes]:
    """Draw in the package's style, and text as it is: two dollar signs are no mathematics.

    What was on the axes before, and stays, is its owner's.
    """

    @functools.wraps(plot)
    def plotted(*args: P.args, **kwargs: P.kwargs) -> Axes:
        try:
            import matplotlib as mpl
        except ImportError:
            return plot(*args, **kwargs)  # says what to install
        from cycler import cycler
        from matplotlib.colors import to_rgba
        from matplotlib.lines import Line2D
        from matplotlib.text import Text

        given: Any = kwargs.get("ax")
        owned = {} if given is None else {t: t.get_text() for t in given.findobj(Text)}
        lines = set() if given is None else set(given.findobj(Line2D))
        style: Any = STYLE | {"axes.prop_cycle": cycler(color=COLOURS)}
        with styled(mpl, style):
            ax = plot(*args, **kwargs)
            ax.spines[["top", "right"]].set_visible(False)
            _plain_ticks(ax)
            # lines look their colours up when they are drawn, with the settings of that moment
            for line in set(ax.findobj(Line2D)) - lines:
                for part in ("color", "markerfacecolor", "markeredgecolor"):
                    colour = getattr(line, f"get_{part}")()
                    if isinstance(colour, str) and colour.startswith("C") and colour[1:].isdigit():
                        getattr(line, f"set_{part}")(to_rgba(colour))
            for text in ax.findobj(Text):
                if text not in owned or owned[text] != text.get_text():
                    text.set_parse_math(False)
                    text.set_color(to_rgba(text.get_color()))
        return ax

    return plotted


def _plain_ticks(ax: Axes) -> None:
    """Powers of ten as numbers: as matplotlib writes them they are mathematics."""
    from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        named = isinstance(axis.get_major_locator(), FixedLocator)
        if axis.get_scale() == "log" and not named:
            axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            few = high < 10 * low  # then most ticks are no powers
            axis.set_minor_formatter(StrMethodFormatter("{x:,g}") if few else NullFormatter())


def name_rows(ax: Axes, names: Sequence[Any], at: Any = None, top: float = -0.6) -> None:
    """Name the rows of a forest, the first on top: rows are compared, and need no axis."""
    at = np.arange(len(names)) if at is None else at
    ax.set_yticks(at, names)
    ax.set_ylim(at[-1] + 0.6 if len(at) else -0.4, top)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def draw_rows(
    ax: Axes, at: Any, value: Any, low: Any, high: Any, *, colour: str = "C0", **dots: Any
) -> None:
    """Draw the intervals of a forest, and their values as dots."""
    ax.hlines(at, low, high, color=colour, lw=3, alpha=0.6)
    ax.plot(value, at, **{"marker": "o", "ls": "none", "color": colour, **dots})


def write_title(ax: Axes, text: str) -> None:
    """State the finding above the axes, in lines as wide as the figure and from its left edge.

    Names of rows push the axes to the right, where a long title would leave the figure. Of several
    axes each has its title above itself.
    """
    from matplotlib.transforms import blended_transform_factory

    figure: Any = ax.figure
    alone = len(figure.axes) == 1
    width = figure.get_size_inches()[0] * (1 if alone else ax.get_position().width)
    title = ax.set_title(textwrap.fill(" ".join(text.split()), int(LETTERS * width)), loc="left")
    if alone:
        place = blended_transform_factory(figure.transSubfigure, ax.transAxes)
        title.set_transform(place + ax.titleOffsetTrans)  # type: ignore[attr-defined]
        title.set_x(0.01)


@plain_text
def plot_answer(
    answer: Answer,
    *,
    truth: Mapping[Any, float] | None = None,
    most: int = 60,
    ax: Axes | None = None,
) -> Axes:
    """Draw the quoted numbers, in the order of the table, with the judge's own beside them.

    Of several quantities the first is drawn: others have other units.

    Parameters
    ----------
    answer : Answer
        From a module's ``answer``.
    truth : mapping, optional
        True value by quantity and its coordinates, where it is known; a tick.
    most : int, default 60
        Rows that are drawn; of more, the first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the rows need.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, its title the answer. The figure is neither shown nor saved.
    """
    name = next(iter(answer.quoted.quantities))
    ordered = in_order(records(answer.quoted, ci_prob=answer.quoted.ci_prob))
    rows = [(record.entry, record.row) for record in ordered if record.quantity == name][:most]
    of_judge = {} if answer.judge is None else entries(answer.judge)
    known = {k if isinstance(k, tuple) else (k,): value for k, value in (truth or {}).items()}
    ax = ax or new_axes(8.0, 0.32 * len(rows) + 1.6)
    at = range(len(rows))
    drawn = any(r.high - r.low == r.high - r.low for _, r in rows)  # not nan
    level = f", {100 * answer.quoted.ci_prob:g} % interval" if drawn else " (no interval)"
    columns = np.array([row for _, row in rows], float).reshape(-1, 3).T
    draw_rows(ax, at, *columns, label=f"estimate{level}")
    beside = [(of_judge[key].value, i) for i, (key, _) in enumerate(rows) if key in of_judge]
    if beside:
        said: Any = {"mfc": "none", "color": "C1", "ms": 6, "ls": "none"}
        ax.plot(*zip(*beside, strict=True), marker="s", label="the judge's own", **said)
    true = [(known[key], i) for i, (key, _) in enumerate(rows) if key in known]
    if true:
        ax.plot(*zip(*true, strict=True), "k|", ms=14, mew=1.5, label="truth")
    differ = [len(set(each)) > 1 for each in zip(*(key[1:] for key, _ in rows), strict=True)]
    dims = answer.quoted.quantities[name].dims
    places = [map(coordinate, dims, key[1:]) for key, _ in rows]
    name_rows(ax, [", ".join(compress(place, differ)) for place in places])
    classes = name == "prevalence" and "class" in dims
    ax.set_xlabel(in_words("share" if classes else name, pass_name_in([answer.quoted])))
    ax.legend(ncols=3, **below(ax))
    write_title(ax, answer.text)
    return ax


@plain_text
def plot_intervals(
    table: pd.DataFrame, *, truth: Mapping[Any, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw one interval per row, grouped by what is estimated and coloured by method.

    Of several methods for several systems, the systems are named at the axis and the methods below.

    Parameters
    ----------
    table : pandas.DataFrame
        What `side_by_side` returned. Rows without an interval are left empty and say so. Of several
        methods the title tells the one that ``table.attrs["quoted"]`` names, if any, which is
        marked as the answer.
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
    colours = {method: f"C{i % 10}" for i, method in enumerate(dict.fromkeys(table["method"]))}
    quoted = table.attrs.get("quoted")
    named = {method: f"answer: {method}" if method == quoted else method for method in colours}
    keys = entries_of(table)
    one_thing, one_quantity = keys.nunique() == 1, table["quantity"].nunique() == 1
    grouped = not one_thing and len(colours) > 1
    many = len(table) > MANY_ROWS
    pitch = 0.34 if not many else 0.1 if grouped else 0.22
    ax = ax or new_axes(6.5, pitch * len(table) + 1.1)
    known = {k if isinstance(k, tuple) else (k,): value for k, value in (truth or {}).items()}
    row, ticks, labels = 0.0, [], []
    for key, rows in table.groupby(keys, sort=False):
        top, name = row, label(key[0], key[1:])
        short = ", ".join(map(str, key[1:])) if one_quantity and key[1:] else name
        for _, entry in rows.iterrows():
            colour = colours[entry["method"]]
            thick: Any = {"lw": 1.2 if many else 2.5, "alpha": 0.7}
            ax.plot([entry["low"], entry["high"]], [row, row], color=colour, **thick)
            ax.plot(entry["value"], row, "o", color=colour, ms=3 if many else 5)
            if np.isnan(entry["value"]) and np.isnan(entry["low"]):  # not even bounds
                place: dict[str, Any] = {
                    "transform": ax.get_yaxis_transform(),
                    "va": "center",
                    "ha": "center",
                }
                ax.text(0.5, row, "no answer", color="0.5", **place)
            if not grouped:
                ticks.append(row)
                labels.append(named[entry["method"]] if one_thing else short)
            row += 1
        if grouped:
            ticks.append((top + row - 1) / 2)
            labels.append(short)
        if key in known:
            ax.plot([known[key]] * 2, [top - 0.5, row - 0.5], color="k", lw=1, ls="--")
        row += 0.6
    name_rows(ax, labels, ticks)
    ax.set_ylim(row - 0.6, -0.6)
    if grouped:
        marks = [
            ax.plot([], [], "o-", color=colour, lw=2.5, ms=5, label=textwrap.fill(name, 60))[0]
            for name, colour in zip(named.values(), colours.values(), strict=True)
        ]
        ax.legend(handles=marks, **below(ax, 0.45 if one_quantity else 0.25))
    about = [_quantity_of(table)] if one_quantity else []
    about += [] if grouped or one_thing else [str(table["method"].iloc[0])]
    ax.set_xlabel("; ".join(about))
    if not any(ax.get_title(loc=place) for place in ("left", "center", "right")):
        write_title(ax, _title(table, keys))
    return ax


def _quantity_of(table: pd.DataFrame) -> str:
    """The first quantity in words; of classes the prevalence is a share of outputs."""
    name = str(table["quantity"].iloc[0])
    shown = "share" if name == "prevalence" and "class" in table else name
    return in_words(shown, table.attrs.get("pass_name", ""))


def _title(table: pd.DataFrame, keys: pd.Series) -> str:
    """What the intervals of the first quantity say, in one line."""
    first = table["quantity"] == table["quantity"].iloc[0]
    rows = table[first].dropna(subset="value")
    name = _quantity_of(table)
    name = name[:1].upper() + name[1:]
    if not len(rows):
        return f"{name}: {'bounds only' if table[first]['low'].notna().any() else 'no answer'}"
    several = rows["method"].nunique() > 1
    quoted = rows[rows["method"] == table.attrs.get("quoted")] if several else rows
    if several and not len(quoted):  # a title that names a method would quote it
        low, high = rows["value"].min(), rows["value"].max()
        span = f"{name}: {low:.3g} to {high:.3g} by {len(rows)} methods"
        return name if keys[first].nunique() > 1 else span
    best = quoted.loc[quoted["value"].idxmax()]
    text = f"{best['value']:.3g} ({best['low']:.3g} to {best['high']:.3g})"
    text += f" by {best['method']}" if several else ""
    if keys[first].nunique() > 1:
        return f"{name}: highest for {', '.join(map(str, keys[best.name][1:]))}, {text}"
    return f"{name}: {text}"


def for_a_phone(figure: Figure, inches: float, letters: int) -> None:
    """Make a figure as narrow as a phone: names cut, few ticks, a legend of one entry per line."""
    from matplotlib.ticker import AutoLocator, FixedLocator, MaxNLocator

    titles = {ax: ax.get_title(loc="left") for ax in figure.axes}
    lines = max((title.count("\n") for title in titles.values()), default=0)
    keys = [*figure.legends, *(key for ax in figure.axes if (key := ax.get_legend()) is not None)]
    entries = sum(len(key.texts) for key in keys)
    height = figure.get_size_inches()[1] + 0.25 * (lines + max(0, entries - 2))
    figure.set_size_inches(inches, max(height, 0.55 * inches))
    for key in [*figure.legends]:
        marks = [mark for mark in key.legend_handles if mark is not None]
        names = [text.get_text() for text in key.texts]
        key.remove()
        figure.legend(marks, names, loc="outside lower center", frameon=False)
    for ax, title in titles.items():
        if isinstance(ax.yaxis.get_major_locator(), FixedLocator):
            names = [tick.get_text() for tick in ax.get_yticklabels()]
            cut = [name if len(name) <= letters else f"{name[: letters - 1]}…" for name in names]
            ax.set_yticks(ax.get_yticks(), cut if len({*cut}) == len({*names}) else names)
        if isinstance(ax.xaxis.get_major_locator(), AutoLocator):
            ax.xaxis.set_major_locator(MaxNLocator(4))
        legend = ax.get_legend()
        if legend and legend._ncols > 1:  # type: ignore[attr-defined]
            handles, labels = ax.get_legend_handles_labels()
            ax.legend(handles, labels, frameon=False, **below(ax))
        write_title(ax, title)


def as_svg(figure: Figure, name: str, alt: str) -> str:
    """Draw a figure as text, without what would change from run to run; `name` keeps ids apart."""
    import matplotlib as mpl

    buffer = io.StringIO()
    # letters stay letters: a screen reader reads them, and the page stays small
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        about: Any = {"metadata": {"Date": None}, "transparent": True}  # a page may be dark
        figure.savefig(buffer, format="svg", bbox_inches="tight", **about)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    # ids of groups are the same in each figure
    text = re.sub(r'(<g id=")', rf"\g<1>{name}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
