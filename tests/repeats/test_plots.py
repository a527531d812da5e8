import numpy as np
import pytest
from matplotlib import pyplot as plt
from refusals import refused

import bayesjudge as bj
from bayesjudge.repeats import (
    Scores,
    anova,
    cost_table,
    next_batch,
    plot_components,
    plot_cost,
    plot_half_width,
    plot_scores,
    simulate,
)

SCALE = [1, 2, 3, 4, 5]


@pytest.fixture
def ax():
    return plt.subplots()[1]


@pytest.mark.slow
def test_half_width_marks_where_the_rule_stops(ax):
    rng = np.random.default_rng(1)
    scores = rng.choice(SCALE, size=60, p=[0.05, 0.1, 0.2, 0.4, 0.25]).tolist()
    assert plot_half_width(scores, 0.4, scale=SCALE, ax=ax) is ax
    lines = ax.get_lines()
    stop = int(lines[1].get_xdata()[0])
    assert lines[1].get_marker() == "o"
    assert next_batch(scores[:stop], 0.4, scale=SCALE) == 0
    assert next_batch(scores[: stop - 1], 0.4, scale=SCALE) > 0
    assert [line.get_label() for line in lines][-1] == "half-width wanted"
    assert lines[-1].get_ydata()[0] == 0.4
    title = " ".join(ax.get_title(loc="left").split())
    assert title.startswith(
        f"Calls until the mean is known to ±0.4: {lines[0].get_label()} after {stop};"
    )


def test_scores_and_posterior_of_the_mean(ax):
    scores = Scores.from_values([4, 4, 5, 3, 4], scale=SCALE)
    assert plot_scores(scores, truth=4.0, ax=ax) is ax
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0, 0, 0.2, 0.6, 0.2])
    interval, mean, truth = ax.get_lines()
    row = bj.repeats.exact(scores)["item_score", "item"]
    assert interval.get_xdata() == pytest.approx([row.low, row.high])
    assert mean.get_xdata()[0] == pytest.approx(row.value)
    assert truth.get_label() == "truth"


@pytest.mark.slow
def test_a_long_scale_does_not_name_each_value(ax):
    scores = Scores.from_values([40, 42, 55], scale=range(101))
    assert len(plot_scores(scores, ax=ax).get_xticks()) < 20


def test_an_unknown_item_is_refused():
    with pytest.raises(bj.InputError, match="no item 'z'"):
        plot_scores(Scores.from_values([1], scale=SCALE), item="z")


def test_a_title_tells_where_methods_differ_on_what_scores_vary_with(ax):
    table = simulate(items=6, judges=3, random_seed=1)
    found = anova(Scores.from_frame(table, scale=SCALE, item="item", judge="judge"))
    parts = {name: tuple(found[name]) for name in ("item_sd", "judge_sd")}
    swapped = dict(zip(parts, reversed(parts.values()), strict=True))
    made = [
        bj.Estimate(own, method=method, ci_prob=0.95, source="a test")
        for method, own in (("one", parts), ("other", swapped))
    ]
    title = plot_components(*made, ax=ax).get_title(loc="left")
    assert "items" in title
    assert "judges" in title
    assert title.endswith(", by method")


@pytest.mark.slow
def test_components_show_every_result(ax):
    table = simulate(items=6, judges=3, random_seed=1)
    found = anova(Scores.from_frame(table, scale=SCALE, item="item", judge="judge"))
    assert plot_components(found, truth={"repeat_sd": 1.0}, ax=ax) is ax
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "items",
        "judges",
        "items × judges",
        "repeats",
    ]
    assert ax.get_title(loc="left").startswith("Scores vary most with ")
    drawn = [line.get_xdata() for line in ax.get_lines()]
    assert drawn[0] == pytest.approx(found["item_sd"][1:])
    assert list(drawn[-1]) == [1.0, 1.0]


@pytest.mark.slow
def test_cost_is_a_line_a_probability(ax):
    table = cost_table(0.6, value_range=4, bins=[2, 5, 10], ci_probs=[0.9, 0.95], items=3)
    assert plot_cost(table, ax=ax) is ax
    assert [line.get_label() for line in ax.get_lines()] == ["90%", "95%"]
    drawn = ax.get_lines()[0].get_ydata()
    assert sorted(drawn) == sorted(table.loc[table["ci_prob"] == 0.9, "calls"])
    dearest = table.sort_values(["ci_prob", "half_width"]).query("ci_prob == .95").iloc[0]
    title = " ".join(ax.get_title(loc="left").split())
    assert title.endswith(f"with 95% takes {dearest['calls']:.0f} calls")
    widths = [text.get_text() for text in ax.get_xticklabels()]
    assert widths == [f"{width:.2g}" for width in sorted(set(table["half_width"]))]
    with refused("cost", id="no-cost"):
        plot_cost(table, column="cost")
    with refused("column="):
        plot_cost(table, column="money")
