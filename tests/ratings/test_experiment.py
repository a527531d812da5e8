"""The synthetic study of source 5, Section 6: its findings, with the study's own error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge.ratings import Definition, experiment
from bayesjudge.ratings.experiment import Setting, make_world, observed_people
from bayesjudge.ratings.experiment.world import _to_simplex

HARD, SRS = Definition("hit_rate", "hard", "hard"), Definition("mse", "srs", "srs")
SOFT = Definition("js_divergence", "soft", "soft")


def test_projection_is_the_nearest_point_of_the_simplex():
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    for point in rng.normal(0.3, 0.5, (5, 4)):
        found = _to_simplex(point)
        assert_allclose(found.sum(), 1)
        nearest = minimize(
            lambda x, at=point: ((x - at) ** 2).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert_allclose(found, nearest.x, atol=1e-6)


def test_a_large_budget_gives_people_back_by_each_items_own_matrix():
    world = make_world(Setting(error=0.2, skew=0.5, people=1.0), np.random.default_rng(2))
    exact = observed_people(world, 10**9, np.random.default_rng(3))
    assert_allclose(exact.endorsed, world.people.endorsed, atol=1e-3)
    pooled = observed_people(world, 10**9, np.random.default_rng(3), pooled=True)
    assert np.abs(pooled.endorsed - world.people.endorsed).max() > 0.1


@pytest.fixture(scope="module")
def selected():
    settings = {
        "specified": Setting(options=7, specified=True),
        "symmetric": Setting(people=1.0, judges=1.0),
        "asymmetric": Setting(people=1.0, judges=-1.0),
    }
    return {
        name: experiment.select(
            setting, budgets=[1, 3, 100], of=[HARD, SOFT, SRS], worlds=20, random_seed=1
        ).set_index(["definition", "budget"])
        for name, setting in settings.items()
    }


def clearly_above(one, other):
    return one["consistency"] - other["consistency"] > 3 * np.hypot(
        one["consistency_error"], other["consistency_error"]
    )


@pytest.mark.slow
def test_finding_1_specified_tasks_need_fewer_ratings(selected):
    for d in (HARD, SOFT):
        one = selected["specified"].loc[str(d), 1]
        assert clearly_above(one, selected["symmetric"].loc[str(d), 3])
    more = selected["symmetric"].loc[str(SOFT), 100]
    assert clearly_above(more, selected["symmetric"].loc[str(SOFT), 1])


@pytest.mark.slow
def test_finding_2_categorical_metrics_fail_under_asymmetric_selection(selected):
    symmetric, asymmetric = selected["symmetric"], selected["asymmetric"]
    assert clearly_above(symmetric.loc[str(HARD), 100], asymmetric.loc[str(HARD), 100])
    for d in (SOFT, SRS):
        assert clearly_above(asymmetric.loc[str(d), 100], asymmetric.loc[str(HARD), 100])
        assert not clearly_above(symmetric.loc[str(d), 100], asymmetric.loc[str(d), 100])


@pytest.mark.slow
def test_finding_4_choices_underestimate_and_one_rating_misleads():
    bias = experiment.choice_bias(Setting(), worlds=20, random_seed=1)
    assert (bias < -0.1).all()
    full = experiment.choice_bias(Setting(specified=True), worlds=3, random_seed=1)
    assert (full == 0).all()
    budget = experiment.rating_budget(
        Setting(), budgets=[1, 10], worlds=60, cutoffs=[0.5], random_seed=2
    )
    # .69 with each item's own reverse matrix and .55 with one for all, in a setting that nobody
    # states; in ours (three options, even choices, cutoff .5) 200 worlds give .68 and .53
    assert budget.loc[1, "own"] == pytest.approx(0.68, abs=0.03)
    assert budget.loc[1, "pooled"] == pytest.approx(0.53, abs=0.03)
    assert budget.loc[10, "own"] > budget.loc[1, "own"] + 0.1


def test_one_world_by_hand():
    setting = Setting(items=8, n_judges=3)
    people = make_world(setting, np.random.default_rng(5)).people
    found = experiment.choice_bias(setting, worlds=1, cutoffs=[0.3, 0.5], random_seed=5)
    for cutoff in (0.3, 0.5):
        positive = [np.mean(x[:, 0] >= cutoff) for x in (people.chosen, people.endorsed)]
        assert found[cutoff] == pytest.approx(positive[0] - positive[1])
    # so many ratings that people's shares are known: only one matrix for all items errs
    asked = {"budgets": [2, 100_000], "worlds": 2, "cutoffs": [0.5], "random_seed": 3}
    table = experiment.rating_budget(setting, **asked)
    assert table.columns.tolist() == ["own", "pooled", "choices"]
    assert table.loc[100_000, "own"] == 1
    assert table.loc[2, "own"] < 1
    full = experiment.rating_budget(Setting(specified=True, items=8, n_judges=3), **asked)
    assert full.loc[100_000].tolist() == [1, 1, 1]
    of_all = {"budgets": [2, 100_000], "worlds": 2, "random_seed": 3}
    by_item = of_all | {"pooled": False}
    enough = experiment.rating_budget(setting, **of_all)["own"]
    assert enough[2] < enough[100_000]
    between = {"consistency": (enough[2] + enough[100_000]) / 2, **by_item}
    assert experiment.ratings_needed(setting, **between) == 100_000
    assert experiment.ratings_needed(setting, **between | {"consistency": enough[2] - 1e-9}) == 2
    few = between | {"budgets": [2], "consistency": 1 - 1e-9}
    assert experiment.ratings_needed(setting, **few) is None


def test_advice_follows_the_experiment():
    table = experiment.choose_definition(
        Setting(people=1.0, judges=-1.0), budget=10, worlds=15, random_seed=1
    )
    trusted = set(table.loc[table["trust"], "definition"])
    assert "mse (srs/srs)" in trusted
    assert not trusted & {"hit_rate (h/h)", "scott_pi (h/h)", "krippendorff_alpha (h/h)"}
    assert table["worth"].is_monotonic_decreasing
    with refused("use="):
        experiment.choose_definition(Setting(), use="speed")


@pytest.mark.slow
def test_ratings_needed_grow_with_what_is_asked():
    settings = {"worlds": 10, "random_seed": 1, "pooled": False}
    few = experiment.ratings_needed(Setting(), 0.7, **settings)
    many = experiment.ratings_needed(Setting(), 0.85, **settings)
    assert few < many
    # one matrix for all items: no number of forced choices is enough
    assert experiment.ratings_needed(Setting(), 0.95, worlds=10, random_seed=1) is None


def test_set_items_needed_reach_the_half_width():
    """Simulated: the interval of `endorsement_rates` on that many items is that wide."""
    items = experiment.set_items_needed(0.08, raters=3, spread=1 / 5)
    table = bj.ratings.simulate(
        items=items, set_items=1.0, shares=(0.4, 0.5, 0.1), concentration=4.0, random_seed=3
    )
    ratings = bj.ratings.Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    row = bj.ratings.endorsement_rates(ratings)["endorsement", "people", "yes"]
    # a Dirichlet of size 4 has an intra-item correlation of 1 / (1 + 4)
    assert (row.high - row.low) / 2 == pytest.approx(0.08, rel=0.2)
