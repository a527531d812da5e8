"""What is drawn, not how it looks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from lab import toys
from matplotlib.colors import to_hex
from refusals import refused

from bayesjudge import lab
from bayesjudge.core.errors import InputError
from bayesjudge.lab.uniformity import band


@pytest.fixture(scope="module")
def ranks():
    return lab.sbc(
        toys.posterior,
        draw_prior=toys.draw_prior,
        draw_data=toys.draw_data,
        also=toys.log_likelihood,
        simulations=60,
        random_seed=1,
        workers=1,
    )


@pytest.fixture(scope="module")
def covered():
    methods = {"Wilson": toys.wilson_interval, "half": toys.half_wilson}
    settings = lab.grid(rate=[0.5, 0.1], era=["old", "new"])
    return lab.coverage(
        methods,
        settings,
        draw_data=toys.draw_passes,
        random_seed=1,
        replications=20,
        workers=1,
        truth=lambda setting: {"rate": setting["rate"]},
    )


@pytest.mark.slow
def test_ecdf_shows_each_quantity_and_the_band(ranks):
    ax = lab.plot_ranks(ranks)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["95 % band", "mean", "log likelihood"]
    assert ax.get_title(loc="left") == "All 2 quantities stay in the band (60 simulations)"
    curve = ax.get_lines()[1].get_ydata()
    assert curve[49] == pytest.approx((ranks.ranks("mean") < 50).mean() - 0.5)
    ends = ax.collections[0].get_paths()[0].vertices[:, 1]
    low, _ = band(60, 99, 0.95)
    assert ends.min() == pytest.approx((low / 60 - np.arange(1, 100) / 100).min())


@pytest.mark.slow
def test_no_two_curves_look_alike(ranks):
    mean = ranks.table[ranks.table["quantity"] == "mean"]
    many = pd.concat([mean.assign(quantity=f"q{i}") for i in range(20)])
    lines = lab.plot_ranks(replace(ranks, table=many)).get_lines()[1:]
    assert len({(to_hex(line.get_color()), line.get_linestyle()) for line in lines}) == 20


def test_histogram_counts_every_simulation(ranks):
    ax = lab.plot_ranks(ranks, kind="histogram", quantities=["mean"])
    (stairs,) = (patch for patch in ax.patches if hasattr(patch, "get_data"))
    assert stairs.get_data().values.sum() == 60
    odd = (stairs.get_data().values > ax.patches[0].get_height()).sum()
    assert ax.get_title(loc="left").startswith(f"{odd} of 20 classes are outside")


def test_ranks_outside_the_band_are_in_the_title(ranks):
    low = np.where(ranks.table["quantity"] == "mean", 0, ranks.table["rank"])
    ax = lab.plot_ranks(replace(ranks, table=ranks.table.assign(rank=low)))
    assert "1 of 2 leave the band (60 simulations): mean" in ax.get_title(loc="left")


@pytest.mark.slow
def test_coverage_is_drawn_in_order_with_its_claim(covered):
    ax = lab.plot_coverage(covered, "rate", where={"era": "old"})
    wilson, half, claim = ax.get_lines()
    assert list(wilson.get_xdata()) == [0.1, 0.5]
    rows = covered.table.query("method == 'half' and era == 'old'").sort_values("rate")
    assert list(half.get_ydata()) == list(rows["coverage"])
    assert claim.get_ydata()[0] == 0.95
    shown = covered.table.query("era == 'old'")
    worst = shown.loc[shown["coverage"].idxmin()]
    title = f"Least coverage: {worst['coverage']:.3g}, {worst['method']} at rate {worst['rate']:g}"
    assert ax.get_title(loc="left") == title


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("shown", ["width", "bias", "rmse", "score"])
def test_other_columns_are_drawn_on_the_axes_given(covered, shown):
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert lab.plot_coverage(covered, "rate", shown=shown, where={"era": "new"}, ax=ax) is ax
    assert "rate" in ax.get_ylabel()


def test_unknown_names_are_refused(ranks, covered):
    with refused("sd", subject="plot_ranks"):
        lab.plot_ranks(ranks, quantities=["sd"])
    with refused("violin", subject="plot_ranks"):
        lab.plot_ranks(ranks, kind="violin")
    with refused("coverage", subject="plot_coverage"):
        lab.plot_coverage(covered, "rate", shown="beauty")
    with refused("where=", subject="plot_coverage"):
        lab.plot_coverage(covered, "rate")
    with pytest.raises(InputError, match="no rows"):
        lab.plot_coverage(covered, "rate", where={"era": "never"})
