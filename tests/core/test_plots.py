"""Names in pictures are text, whatever they hold."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

import bayesjudge as bj
from bayesjudge.core.estimate import in_words
from bayesjudge.core.plots import COLOURS, for_a_phone, new_axes, plot_intervals, write_title

NAME = r"a $\frac{1}$ b"
QUANTITY = in_words("prevalence").capitalize()
TABLE = pd.DataFrame(
    {"quantity": "prevalence", "system": NAME, "method": NAME, "value": [0.5], "low": 0.4,
     "high": 0.6, "width": 0.2, "interval": "eti"}
)  # fmt: skip


@pytest.mark.slow
def test_dollar_signs_in_names_are_no_mathematics():
    # as mathematics, the name does not parse, so that drawing fails
    ax = plot_intervals(TABLE)
    ax.figure.canvas.draw()
    assert [one.get_text() for one in ax.get_yticklabels()] == [NAME]


@pytest.mark.slow
def test_intervals_state_what_they_say_first():
    two = pd.concat([TABLE.assign(system="x"), TABLE.assign(system="y", value=0.55)])
    title = plot_intervals(two.reset_index(drop=True)).get_title(loc="left")
    assert title == f"{QUANTITY}: highest for y, 0.55 (0.4 to 0.6)"
    several = pd.concat([TABLE, TABLE.assign(method="other", value=0.45)], ignore_index=True)
    title = plot_intervals(several).get_title(loc="left")
    assert title == f"{QUANTITY}: 0.45 to 0.5 by 2 methods"


def test_a_title_names_the_quoted_method_or_none():
    made = [
        TABLE.assign(system=system, method=method, value=value)
        for system, value in (("x", 0.5), ("y", 0.55))
        for method in ("one", "two")
    ]
    table = pd.concat(made, ignore_index=True)
    said = QUANTITY
    assert plot_intervals(table).get_title(loc="left") == said
    table.attrs["quoted"] = "two"
    title = plot_intervals(table).get_title(loc="left")
    assert title == f"{said}: highest for y, 0.55 (0.4 to 0.6) by two"
    table.attrs["quoted"] = "another, which is not drawn"
    assert plot_intervals(table).get_title(loc="left") == said


def test_bounds_are_drawn_and_called_so():
    bounds = TABLE.assign(value=np.nan)
    ax = plot_intervals(bounds)
    assert not ax.texts
    assert ax.get_title(loc="left") == f"{QUANTITY}: bounds only"
    ax = plot_intervals(bounds.assign(low=np.nan, high=np.nan))
    assert [text.get_text() for text in ax.texts] == ["no answer"]
    assert ax.get_title(loc="left") == f"{QUANTITY}: no answer"


def test_the_answer_is_marked_where_a_long_name_is_cut():
    table = pd.concat([TABLE.assign(method="m" * 90), TABLE.assign(method="b")], ignore_index=True)
    table.attrs["quoted"] = "m" * 90
    first, second = plot_intervals(table).get_yticklabels()
    assert first.get_text().startswith("answer: mmm")
    assert second.get_text() == "b"


@pytest.mark.slow
def test_many_intervals_fit_on_a_page():
    many = [TABLE.assign(system=f"s{i}", method=m) for i in range(50) for m in "abcdefg"]
    assert plot_intervals(pd.concat(many, ignore_index=True)).figure.get_size_inches()[1] < 40


def test_a_dot_stands_at_the_value_and_a_line_from_low_to_high():
    line, dot = plot_intervals(TABLE.assign(value=0.47)).lines[:2]
    assert list(line.get_xdata()) == [0.4, 0.6]
    assert list(dot.get_xdata()) == [0.47]


@pytest.mark.slow
def test_text_that_a_user_wrote_on_the_axes_stays_mathematics():
    _, ax = plt.subplots()
    ax.set_title(r"$\theta$")
    plot_intervals(TABLE, ax=ax)
    assert ax.title.get_parse_math()
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    "module",
    [
        "prevalence",
        "panel",
        "ratings",
        "repeats",
        "bias",
        "bias.certificates",
        "lab",
        "prevalence.scores",
        "decide",
    ],
)
def test_each_plot_of_each_module_draws_plain_text(module):
    from importlib import import_module

    plots = vars(import_module(f"bayesjudge.{module}.plots"))
    public = {k: v for k, v in plots.items() if k.startswith("plot_")}
    assert public
    assert all(hasattr(one, "__wrapped__") for one in public.values())


# The picture of the answer -----------------------------------------------------------------------


def answered(n):
    """An answer about so many systems, with the judge's own numbers."""
    rng = np.random.default_rng(n)
    value = rng.uniform(0.2, 0.8, n)
    coords = {"system": [f"system-{i}" for i in range(n)]} if n > 1 else {}
    columns = (value, value - 0.1, value + 0.1)
    about = {"method": "m", "ci_prob": 0.95, "source": "s"}
    made = bj.Estimate({"prevalence": bj.Quantity.over(columns, coords)}, **about)
    judge = bj.Estimate(
        {"prevalence": bj.Quantity.over(tuple(c + 0.05 for c in columns), coords)}, **about
    )
    return bj.Answer("People would pass 39 % of outputs like these; the judge passes 59 %.",
                     "basis", "why", quoted=made, judge=judge)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 5, 50])
def test_the_answer_is_drawn_best_first_with_the_judge_beside(n):
    found = answered(n)
    ax = bj.plot_answer(found, truth={("prevalence", "system-0"): 0.5})
    assert " ".join(ax.get_title(loc="left").split()) == found.text
    quoted, judge, *rest = ax.get_lines()
    values = np.asarray(quoted.get_xdata(), float)
    assert len(values) == n
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(np.asarray(judge.get_xdata(), float) - values, 0.05)
    assert len(rest) == (n > 1)  # the truth, of the one system where it is known
    height = ax.figure.get_size_inches()[1]
    assert height / n >= 0.25  # rows that a reader tells apart
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == n
    assert to_hex(quoted.get_color()).upper() == COLOURS[0]


@pytest.mark.slow
def test_the_legend_of_numbers_without_an_interval_does_not_name_one():
    votes = bj.panel.Votes.from_frame(bj.panel.simulate(labelled=0, random_seed=1))
    ax = bj.plot_answer(bj.panel.answer(bj.panel.dawid_skene_em(votes)))
    assert ax.get_legend().get_texts()[0].get_text() == "estimate (no interval)"


@pytest.mark.slow
def test_several_systems_by_several_methods_are_named_once():
    """At the axis the systems, below the methods, so that long names leave room for the data."""
    methods = ("one method", "another " * 9)
    rows = [("prevalence", s, m, 0.5) for s in ("a", "b", "c") for m in methods]
    table = pd.DataFrame(rows, columns=["quantity", "system", "method", "value"])
    table = table.assign(low=0.4, high=0.6, width=0.2, interval="eti")
    ax = plot_intervals(table)
    assert [one.get_text() for one in ax.get_yticklabels()] == ["a", "b", "c"]
    told = [one.get_text().replace("\n", " ") for one in ax.get_legend().get_texts()]
    assert told == ["one method", ("another " * 9).strip()]
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.8


@pytest.mark.slow
def test_powers_of_ten_are_numbers():
    """As mathematics, which is not drawn, they read $\\mathdefault{10^{1}}$."""
    from bayesjudge.core.plots import new_axes, plain_text

    @plain_text
    def logarithmic():
        ax = new_axes()
        ax.plot([8, 3000], [1, 2])
        ax.set_xscale("log")
        return ax

    ax = logarithmic()
    ax.figure.canvas.draw()
    shown = [one.get_text() for one in ax.get_xticklabels()]
    assert {"10", "100", "1,000"} <= {*shown}
    assert not any("$" in text for text in shown)


def test_a_backend_stays_interactive_that_the_first_plot_loads(monkeypatch):
    """Loading matplotlib's inline backend turns it on: here the first figure does."""
    made = plt.subplots

    def first(*args, **kwargs):
        mpl.interactive(True)
        return made(*args, **kwargs)

    monkeypatch.setattr(plt, "subplots", first)
    mpl.interactive(False)
    try:
        plot_intervals(TABLE)
        assert mpl.is_interactive()
    finally:
        mpl.interactive(False)


@pytest.mark.slow
def test_few_rows_are_drawn_of_very_many():
    assert len(bj.plot_answer(answered(80), most=30).get_yticks()) == 30


def test_colours_stay_when_the_settings_change():
    """A line looks its colour up when it is drawn: outside the package's style."""
    ax = bj.plot_answer(answered(5))
    with mpl.rc_context({"axes.prop_cycle": cycler(color=["#ff0000", "#00ff00"])}):
        assert [to_hex(line.get_color()).upper() for line in ax.get_lines()] == list(COLOURS[:2])


@pytest.mark.slow
def test_a_title_stays_in_its_figure_however_long_the_names_of_the_rows():
    def drawn(ax):
        ax.figure.canvas.draw()
        return ax._left_title.get_window_extent()

    said = "People would pass 86 % of the outputs of this system and 22 % of those of the other one"
    ax = new_axes(6.5, 2.0)
    ax.set_yticks([0, 1], ["a system whose name fills a third of the picture", "another"])
    write_title(ax, said)
    box, figure = drawn(ax), ax.figure.bbox
    assert figure.x0 <= box.x0
    assert box.x1 <= figure.x1
    left, right = plt.subplots(1, 2, figsize=(9, 3))[1]
    write_title(right, said)  # beside another, above itself
    assert drawn(right).x0 > left.get_window_extent().x1


@pytest.mark.slow
def test_a_legend_below_a_figure_has_one_entry_a_line_on_a_phone():
    ax = new_axes()
    for name in ("a", "b", "c"):
        ax.plot([0, 1], label=name)
    ax.figure.legend(loc="outside lower center", ncols=3)
    high = ax.figure.get_size_inches()[1]
    for_a_phone(ax.figure, 3.9, 20)
    (legend,) = ax.figure.legends
    ax.figure.canvas.draw()
    places = [text.get_window_extent() for text in legend.texts]
    assert [text.get_text() for text in legend.texts] == ["a", "b", "c"]
    assert places[0].y0 > places[1].y1 > places[1].y0 > places[2].y1
    assert ax.figure.get_size_inches()[1] > high
