"""Errors by the number of labelled generators, and items that judges miss."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge.panel._pass_rate_regression import PassRates, minimise
from bayesjudge.panel.voting import true_prevalence
from tests.panel.conftest import code_feedback


@pytest.fixture(scope="module")
def votes():
    return bj.panel.Votes.from_frame(
        bj.panel.simulate(labelled=200, random_seed=1), calibration="random"
    )


@pytest.mark.slow
def test_every_combination_is_scored_by_the_regression_itself(votes):
    table = bj.panel.study(votes, starts=2, random_seed=4)
    mine = table[table["method"] == "regression"]
    size = len(votes.generators)
    assert len(mine) == 2**size - 1
    truth = true_prevalence(votes)
    for kept in itertools.combinations(range(size), 1):
        hidden = [g for g in range(size) if g not in kept]
        known = votes.hide(*(votes.generators[g] for g in hidden))
        found = minimise(PassRates.of(known), solver="source", starts=2, random_seed=4)
        row = mine[mine["combination"].map(", ".join) == votes.generators[kept[0]]]
        error = np.abs(found.prevalence - truth)[hidden]
        assert_allclose(row["max_error"], error.max())
        assert_allclose(row["mean_error"], error.mean())
        assert_allclose(row["loss"], found.loss)


@pytest.mark.slow
def test_single_judges_are_ranked_in_hindsight(votes):
    table = bj.panel.study(votes, starts=1)
    none = table[table["labelled"] == 0].set_index("method")["max_error"]
    rates, truth = PassRates.of(votes).rates, true_prevalence(votes)
    errors = np.abs(rates - truth[:, None]).max(axis=0)
    assert none["worst_judge"] == pytest.approx(errors.max())
    assert none["best_judge"] == pytest.approx(errors.min())
    mean = np.abs(rates.mean(axis=1) - truth).max()
    assert none["panel_mean"] == pytest.approx(mean)
    assert "veto" not in none.index


def test_a_judge_in_hindsight_voted_on_every_hidden_generator():
    """Judge a, who is always right, has no vote on g1: only b can be the best judge there."""
    votes = bj.panel.Votes(
        *([[1, 0], [0, 0], [-1, 0]], [1, 0, 1], [0, 0, 1], ["g0", "g1"], ["a", "b"]),
        **{"count": [8, 8, 8], "calibration": "random"},
    )
    errors = bj.panel.study(votes, starts=1).set_index(["labelled", "method"])["max_error"]
    single = errors[errors.index.get_level_values("method").isin(["best_judge", "worst_judge"])]
    assert single.loc[0].tolist() == [1, 1]  # both hidden
    assert sorted(single.loc[1]["best_judge"].tolist()) == [0, 1]  # g1 hidden: b; g0 hidden: a
    assert sorted(single.loc[1]["worst_judge"].tolist()) == [0.5, 1]


@pytest.mark.slow
def test_a_grid_of_weights_and_several_runs(votes):
    triples = [(2.0, 1.0, 10.0), (1.0, 1.0, 1.0)]
    table = bj.panel.study(votes, weights=triples, starts=1, runs=2)
    mine = table[table["method"] == "regression"]
    each = mine.groupby(mine["weights"].map(str))["run"].nunique()
    assert each.tolist() == [2, 2]
    with refused("runs="):
        bj.panel.study(votes, runs=0)


def test_items_that_judges_find_by_hand():
    votes = bj.panel.Votes(
        [[1, 1], [0, 1], [1, -1], [1, 1]], [1, 0, 0, 0], [0, 0, 0, 0], ["g"], ["a", "b"]
    )
    found = bj.panel.found_by(votes)
    assert_allclose(found["bad"], [2 / 3, 1 / 3, 0])
    assert_allclose(found["good"], [0, 0, 1])


@pytest.mark.slow
def test_the_published_shares_of_items_that_all_miss_or_find():
    # Figure 7: 26 % of the invalid missed by all, 2 % found by all, 58 % of the valid found by all
    found = bj.panel.found_by(code_feedback())
    assert found.loc[0, "bad"] == pytest.approx(0.26, abs=0.005)
    assert found.loc[14, "bad"] == pytest.approx(0.02, abs=0.0051)
    assert found.loc[14, "good"] == pytest.approx(0.58, abs=0.015)


@pytest.mark.slow
def test_the_worst_judge_and_the_fall_of_the_error_on_the_published_votes():
    # 17.6 % for the worst single judge; with more labelled generators the regression errs less
    table = bj.panel.study(code_feedback(), starts=1)
    worst = table.groupby(["labelled", "method"])["max_error"].mean().unstack()
    assert worst.loc[0, "worst_judge"] == pytest.approx(0.176, abs=0.004)
    assert worst.loc[5, "regression"] < worst.loc[1, "regression"] / 2
