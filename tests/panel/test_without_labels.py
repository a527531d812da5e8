"""Votes without a label: near copies, no interval as if judges were independent, labels needed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.core.intervals import z_score
from bayesjudge.panel._approximations import share_estimate
from bayesjudge.panel.checks import cautions_of, near_copies, vote_weights
from tests.panel.conftest import code_feedback
from tests.panel.test_recommend import some_labelled

panel = bj.panel


def simulated(seed=1, **settings):
    return panel.Votes.from_frame(panel.simulate(labelled=0, random_seed=seed, **settings))


def with_copies(votes, copies, differ=0.003, seed=1):
    """The same judges, and copies of the first with few votes changed."""
    rows = np.repeat(np.arange(len(votes.count)), votes.count)
    given, rng = votes.votes[rows], np.random.default_rng(seed)
    twins = np.repeat(given[:, :1], copies, axis=1)
    turned = (rng.random(twins.shape) < differ) & (twins >= 0)
    names = [*votes.judges, *(f"copy {i + 1}" for i in range(copies))]
    return panel.Votes(
        *(np.column_stack([given, np.where(turned, 1 - twins, twins)]), votes.truth[rows]),
        *(votes.generator[rows], votes.generators, names),
        calibration=votes.calibration,
    )


@pytest.mark.slow
def test_near_copies_are_seen_without_labels_and_named():
    votes = with_copies(simulated(), 2)
    pairs = {(a, b) for a, b, *_ in near_copies(votes)}
    assert pairs == {("a", "copy 1"), ("a", "copy 2"), ("copy 1", "copy 2")}
    (told,) = [c for c in cautions_of(votes) if c.id == "near-duplicates"]
    assert "a and copy 1 (99." in told.text
    em = panel.dawid_skene_em(votes)
    by_id = {one.id: one for one in em.assumptions}
    assert "near-duplicates" in by_id["independent-errors"].contradicted_by


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"shared_effect": 1.5},
        {"sensitivity": (0.99,) * 4, "specificity": (0.99,) * 4},  # good judges agree too
        {"sensitivity": (0.99, 0.99, 0.98, 0.6), "specificity": (0.98, 0.99, 0.99, 0.6)},
    ],
)
def test_judges_that_are_no_copies_are_not_called_so(settings):
    assert not any(near_copies(simulated(seed, **settings)) for seed in range(10))


def test_near_copies_count_once():
    votes = simulated()
    tripled = with_copies(votes, 2, differ=0.0)
    assert_allclose(vote_weights(tripled), [1 / 3, 1, 1, 1, 1 / 3, 1 / 3])
    for method in (panel.panel_mean, panel.dawid_skene_em):
        once, thrice = (method(one).quantities["prevalence"].value for one in (votes, tripled))
        # with a label each vote counts, and the copies carry the others with them
        known = tripled.truth.copy()
        known[-1] = 1
        every = panel.Votes(
            *(tripled.votes, known, tripled.generator, tripled.generators, tripled.judges),
            count=tripled.count,
            calibration="random",
        )
        assert (vote_weights(every) == 1).all()
        gap = np.abs(method(every).quantities["prevalence"].value - once).max()
        assert np.abs(thrice - once).max() < gap / 4


def test_nobody_is_called_a_copy_where_all_vote_alike():
    rows = [[1, 1, 1], [0, 0, 0]]
    votes = panel.Votes(rows, [-1, -1], [0, 0], ["g"], list("abc"), count=[300, 200])
    assert near_copies(votes) == []


@pytest.mark.slow
def test_no_interval_holds_only_if_judges_are_independent():
    found = panel.dawid_skene_em(simulated())
    assert found.table[["low", "high"]].isna().all(axis=None)
    assert found.table["value"].notna().all()
    assert [c.id for c in found.cautions if c.id == "no-interval"] == ["no-interval"]


@pytest.mark.slow
def test_the_interval_without_labels_is_bias_poolings_prior():
    votes = simulated(items=3000)
    for found in (panel.panel_mean(votes), panel.voting(votes)):
        assert "rests-on-priors" in {c.id for c in found.cautions}
        value, low, high = found["prevalence", "g1"]
        z = z_score(0.95) * np.sqrt(1 + 0.5**2)
        odds = value / (1 - value) * np.exp([-z, z])
        # the votes' own sampling error adds a little
        assert_allclose([low, high], odds / (1 + odds), atol=0.005)
    more = panel.Votes.from_frame(
        panel.simulate(items=3000, labelled=100, random_seed=1), calibration="random"
    )
    assert (panel.panel_mean(more).table.eval("high - low") < 0.05).all()


@pytest.mark.slow
def test_a_real_panel_without_labels_is_covered():
    full = code_feedback()
    votes, share = full.hide(*full.generators), full.labelled[:, 1] / full.items
    for table in (panel.panel_mean(votes).table, panel.voting(votes).table):
        assert ((table["low"] <= share) & (share <= table["high"])).all()
    advice = panel.recommend(votes)
    assert advice.model == panel.BiasPooling()
    _, low, high = share_estimate(votes, advice.model, 0.95)
    assert ((low <= share) & (share <= high)).all()


def test_the_default_model_believes_something_of_the_panels_bias():
    for classes, labels, model in (
        (2, False, panel.BiasPooling()),
        (2, True, panel.VoteRegression()),
        (3, False, panel.MulticlassDawidSkene()),
    ):
        truth = [0 if labels else -1, -1]
        about = ([0, 0], ["g"], ["a", "b"])
        names = {"classes": "xyz"[:classes], "calibration": "random"}
        votes = panel.Votes([[1, 1], [1, 0]], truth, *about, **names)
        assert panel.recommend(votes).model == model


def test_it_is_said_how_many_labels_are_needed():
    votes = simulated()
    more = panel.labels_needed(votes)["more"].sum()
    why = panel.recommend(votes).why
    assert f"label some: {more:,} more" in why
    assert "no item is labelled" in why


def test_labels_needed_by_hand():
    rows = [[1, 1], [1, 0], [0, 0]]
    votes = panel.Votes(rows, [-1] * 3, [0] * 3, ["gpt"], ["a", "b"], count=[600, 200, 200])
    share = (700 + 0.5) / 1001
    at_once = (2 * z_score(0.9) / 0.08) ** 2 * share * (1 - share)
    table = panel.labels_needed(votes, width=0.08, ci_prob=0.9)
    assert table.loc["gpt", "needed"] == np.ceil(at_once / (1 + at_once / 1000))
    assert np.isnan(table.loc["gpt", "width"])
    with pytest.raises(bj.InputError, match="width=1"):
        panel.labels_needed(votes, width=1)


def test_a_generator_without_labels_has_the_bias_that_labels_of_another_show():
    """Of `old` the judge passes .75 where half are good, and its votes tell nothing."""
    rows, truth = [[1], [1], [0], [0], [1], [0]], [1, 0, 1, 0, -1, -1]
    about = truth, [0, 0, 0, 0, 1, 1], ["old", "new"], ["judge"]
    count = [30, 30, 10, 10, 600, 400]
    votes = panel.Votes(rows, *about, count=count, calibration="random")
    share = ((0.6 - 0.25) * 1000 + 0.5) / 1001
    at_once = (2 * z_score(0.95) / 0.1) ** 2 * share * (1 - share)
    needed = panel.labels_needed(votes, width=0.1).loc["new", "needed"]
    assert needed == np.ceil(at_once / (1 + at_once / 1000))


def test_of_all_items_no_more_can_be_labelled():
    votes = panel.Votes.from_frame(panel.simulate(items=30, labelled=30, random_seed=1))
    table = panel.labels_needed(votes, width=0.001)
    assert (table["more"] == 0).all()
    assert_allclose(table["width"], 0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("begin", [0, 120])
def test_so_many_labels_give_intervals_of_that_width(begin):
    table = panel.simulate(items=1000, labelled=1000, shared_effect=1.0, random_seed=1)
    full = panel.Votes.from_frame(table)
    today = some_labelled(full, begin, 1) if begin else full.hide(*full.generators)
    needed = panel.labels_needed(today, width=0.12)["needed"]
    widths = []
    for seed in range(5):
        votes = some_labelled(full, int(needed.sum()), seed)
        widths.append(panel.model_assisted(votes).table.eval("high - low").mean())
    if begin:
        assert 0.85 * 0.12 < np.mean(widths) < 1.15 * 0.12
        return
    # without labels votes are taken to explain nothing: so wide if nothing but labels is used
    good = np.bincount(full.generator, full.count * full.truth) / full.items
    alone = 2 * z_score(0.95) * np.sqrt(good * (1 - good) * (1 / needed - 1 / full.items))
    assert 0.85 * 0.12 < alone.mean() < 1.15 * 0.12
    assert np.mean(widths) < 0.12


@pytest.mark.study
def test_bias_pooling_samples_votes_without_labels():
    votes = simulated()
    fit = panel.fit(votes, panel.BiasPooling(), random_seed=1, chains=2)
    sampled = fit.estimate(target="items").quantities["prevalence"]
    value, low, high = share_estimate(votes, panel.BiasPooling(), 0.95)
    assert "no-labels" in {c.id for c in cautions_of(votes)}
    assert (np.abs(value - sampled.value) < 0.05).all()
    ratio = (high - low) / (sampled.high - sampled.low)
    assert (ratio > 0.7).all()
    assert (ratio < 1.4).all()
