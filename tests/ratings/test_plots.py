"""Plots show the numbers that they are given."""

import numpy as np
import pytest
from conftest import MODULES
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.ratings import Ratings

(CONTRACT,) = (one for one in MODULES if one.name == "ratings")


@pytest.fixture(scope="module")
def ratings():
    return CONTRACT.simulated(1)


@pytest.mark.slow
def test_plot_ranks_has_a_line_a_judge(ratings):
    found = bj.ratings.agreement(ratings, replicates=50, pseudo_count=0.5)
    ax = bj.ratings.plot_ranks(found)
    assert len(ax.get_lines()) == 2
    assert_allclose(ax.get_lines()[0].get_xdata(), found.ranks()["gpt"])
    named = [text.get_text() for text in ax.get_yticklabels()]
    assert len(set(named)) == len(named) == len(found.ranks())
    assert "Cohen's kappa, choices" in named
    assert not any("_" in name or "hrs" in name or "h/h" in name for name in named)


def test_plot_ranks_names_judges_that_tie(ratings):
    chosen, endorsed = ratings.chosen[[0, 1, 1]], ratings.endorsed[[0, 1, 1]]
    twins = Ratings(chosen, ratings.options, "yes", endorsed=endorsed)
    ax = bj.ratings.plot_ranks(bj.ratings.agreement(twins, replicates=20, pseudo_count=0.5))
    assert len({text.get_text() for text in ax.get_legend().get_texts()}) == 2


@pytest.mark.slow
def test_plot_shift_draws_a_definition_or_what_each_selects(ratings):
    shifts = bj.ratings.shift_sensitivity(ratings)
    (line,) = bj.ratings.plot_shift(shifts, of="prevalence").get_lines()
    assert_allclose(line.get_ydata(), shifts[shifts["quantity"] == "prevalence"]["value"])
    mse = bj.ratings.Definition("mse")
    lines = bj.ratings.plot_shift(shifts, of=mse).get_lines()
    assert [line.get_label() for line in lines] == ["gpt", "claude"]
    rows = shifts[(shifts["definition"] == str(mse)) & (shifts["judge"] == "gpt")]
    assert_allclose(lines[0].get_ydata(), rows["value"])
    every = bj.ratings.plot_shift(shifts)
    assert all(isinstance(line.get_label(), str) for line in every.get_lines())
    with pytest.raises(bj.InputError, match="kappa"):
        bj.ratings.plot_shift(shifts, of="kappa")


@pytest.mark.sampling
def test_plot_items_shows_the_most_contested(fit_of):
    ax = bj.ratings.plot_items(fit_of(CONTRACT), most=5, draws=100)
    means = ax.get_lines()[0].get_xdata()
    assert len(means) == 5
    assert (np.abs(means - 0.5) < 0.2).all()
