"""Truth of single items, by closed form and by posterior, against enumeration."""

import dataclasses
import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from refusals import refused
from scipy import optimize, stats

import bayesjudge as bj
from bayesjudge.panel import _em as em
from bayesjudge.panel.data import patterns_of
from bayesjudge.panel.loo import spaced
from benchmarks.panel import crowd as study
from benchmarks.panel import systems
from tests.panel.conftest import crowd

module = sys.modules["bayesjudge.panel.consensus"]  # the name is the function's
panel = bj.panel
consensus = panel.consensus


def some(**settings):
    table = panel.simulate(items=60, labelled=[15, 0, 5], random_seed=2, **settings)
    return table, panel.Votes.from_frame(table, calibration="random")


def test_probabilities_are_those_of_every_truth_summed_by_hand():
    rows, truth = [[1, 1, 0], [1, 0, -1], [0, 0, 0], [1, 1, 1], [0, 1, 1]], [-1, -1, 0, -1, -1]
    votes = panel.Votes(
        *(rows, truth, [0, 0, 0, 1, 1], ["g", "h"], ["a", "b", "c"]), calibration="random"
    )
    rates = em.posterior_mode(votes, "skip", 0.5)[2].rates
    total, weight = np.zeros((5, 2)), 0.0
    for truths in itertools.product((0, 1), repeat=5):
        if any(t >= 0 and t != z for t, z in zip(votes.truth, truths, strict=True)):
            continue
        likelihood = 1.0
        for given, g, z in zip(votes.votes, votes.generator, truths, strict=True):
            likelihood *= rates.shares[g, z]
            for j, vote in enumerate(given):
                likelihood *= rates.confusion[j, z, vote] if vote >= 0 else 1
        weight += likelihood
        for i, z in enumerate(truths):
            total[i, z] += likelihood
    found = consensus(votes)
    assert_allclose(found.probability, total / weight, atol=1e-9)
    open_ = votes.truth < 0
    expected = (total / weight).max(axis=1)[open_].mean()
    assert found.accuracy["accuracy"].value == pytest.approx(expected)
    assert np.isnan(found.accuracy["accuracy"].low)
    assert "no-interval" in {c.id for c in found.accuracy.cautions}


@pytest.mark.slow
def test_what_people_said_is_the_label():
    _, votes = some()
    found = consensus(votes)
    known = votes.is_labelled
    assert (found.label[known] == votes.truth[known]).all()
    assert (found.probability[known].max(axis=1) == 1).all()
    everything = panel.Votes.from_frame(panel.simulate(items=20, labelled=20, random_seed=1))
    assert np.isnan(consensus(everything).accuracy["accuracy"].value)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_expected_accuracy_is_the_accuracy_where_the_model_holds(several):
    rng, n, k = np.random.default_rng(3), 40_000, 3 if several else 2
    truth = rng.choice(k, n, p=[0.5, 0.3, 0.2][:k] if several else [0.4, 0.6])
    skill = np.array([0.85, 0.75, 0.7, 0.65])
    wrong = (truth[:, None] + rng.integers(1, k, (n, 4))) % k
    given = np.where(rng.random((n, 4)) < skill, truth[:, None], wrong)
    seen = np.where(np.arange(n) < 15, truth, -1)  # too few to measure it by
    about = (np.zeros(n, int), ["g"], list("abcd"))
    votes = panel.Votes(given, seen, *about, classes="xyz"[:k], calibration="random")
    found = consensus(votes)
    rows = patterns_of(votes, given, seen, np.zeros(n, int))
    right = (found.label[rows] == truth)[15:].mean()
    value = found.accuracy["accuracy"].value
    # the rates are estimated from as many items: twice the drawing's own error
    assert abs(value - right) < 5 * 2 * np.sqrt(right * (1 - right) / n)
    assert 0.7 < right < 0.95


def copied(seed, labelled, n=600, copies=6):
    """Judges of whom most repeat what the first says, with few changes."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.6).astype(int)
    first = np.where(rng.random(n) < 0.8, truth, 1 - truth)
    twins = np.where(rng.random((n, copies)) < 0.9, first[:, None], 1 - first[:, None])
    own = np.where(rng.random((n, 2)) < 0.75, truth[:, None], 1 - truth[:, None])
    names = [f"j{i}" for i in range(copies + 2)]
    seen = np.where(np.arange(n) < labelled, truth, -1)
    given = np.column_stack([twins, own])
    votes = panel.Votes(given, seen, np.zeros(n, int), ["g"], names, calibration="random")
    return votes, given, truth, seen


@pytest.mark.slow
def test_labels_measure_what_judges_who_err_together_are_too_sure_of():
    covered = 0
    for seed in range(8):
        votes, given, truth, seen = copied(seed, 60)
        found = consensus(votes)
        rows = patterns_of(votes, given, seen, np.zeros(len(truth), int))
        right = (found.label[rows] == truth)[60:].mean()
        value, low, high = found.accuracy["accuracy"]
        assert low < value < high
        covered += low <= right <= high
        unlabelled = consensus(copied(seed, 0)[0]).accuracy
        assert unlabelled["accuracy"].value > right + 0.1
        assert "accuracy-by-the-model" in {c.id for c in unlabelled.cautions}
        assert "accuracy-by-the-model" not in {c.id for c in found.accuracy.cautions}
        assert_allclose(found.probability.sum(axis=1), 1)
    assert covered >= stats.binom.ppf(0.01, 8, 0.95)


def logistic(x, y, new):
    """Labels by a logistic regression with a little shrinkage: what a reader would try first."""
    x, new = (np.column_stack([np.ones(len(one)), one]) for one in (x, new))

    def loss(w):
        at = x @ w
        return np.logaddexp(0, at).sum() - y @ at + 0.5 * w @ w

    return (new @ optimize.minimize(loss, np.zeros(x.shape[1])).x > 0).astype(int)


@pytest.mark.parametrize("name", ["xstest", "pandalm", "llm_rubric", "simulated"])
@pytest.mark.slow
def test_labels_of_every_generator_are_read_as_a_logistic_regression_reads_them(name):
    full = None if name == "simulated" else systems.REAL[name](shared("data"))
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        drawn, _ = (
            systems.simulated("differing", rng) if full is None else systems.resampled(full, rng)
        )
        table = drawn.reset_index(names="item")
        judges = [c for c in table if c not in ("item", "generator", "truth")]
        seen = np.isin(np.arange(len(table)), rng.permutation(len(table))[:150])
        table["human"] = table["truth"].where(seen)
        reading = {"judges": judges, "truth": "human", "calibration": "random"}
        votes = panel.Votes.from_frame(table, **reading)
        truth = table["truth"].astype(int).to_numpy()[~seen]
        items = pd.concat(consensus(votes).items(table, **reading))
        right = (items["label"].astype(int).to_numpy()[~seen] == truth).mean()
        x = pd.get_dummies(table["generator"], dtype=float).to_numpy()
        x = np.column_stack([x, table[judges].astype(float).sub(0.5).fillna(0)])
        label = logistic(x[seen], table["truth"].to_numpy(float)[seen], x[~seen])
        gaps.append(right - (label == truth).mean())
    assert np.mean(gaps) > -3 * np.std(gaps) / np.sqrt(len(gaps))


@pytest.mark.slow
def test_settings_of_dawid_and_skenes_model_are_read():
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(300) < 100, rng.integers(0, 2, 300), -1)
    given = np.where(rng.random((300, 3)) < 0.2, -1, rng.integers(0, 2, (300, 3)))
    votes = panel.Votes(given, truth, np.zeros(300, int), ["g"], list("abc"), calibration="random")
    method = consensus(votes).accuracy.method.title
    assert method == "Consensus labels: Truth given votes (Laplace)"
    for asked in ({"missing": "response"}, {"prior_count": 2.0}):
        assert "Dawid-Skene" in consensus(votes, **asked).accuracy.method.title
    for few in (votes.hide("g"), panel.Votes(given, np.where(np.arange(300) < 19, truth, -1),
                np.zeros(300, int), ["g"], list("abc"), calibration="random")):  # fmt: skip
        assert "Dawid-Skene" in consensus(few).accuracy.method.title
    both = votes + panel.Votes(given, np.full(300, -1), np.zeros(300, int), ["h"], list("abc"))
    assert "Dawid-Skene" in consensus(both).accuracy.method.title  # of h no label tells the truth
    other = dataclasses.replace(votes, calibration="by_truth")
    assert "Dawid-Skene" in consensus(other).accuracy.method.title


@pytest.mark.slow
def test_one_item_without_a_label_is_right_or_wrong():
    """The accuracy of one item is 0 or 1; of a generator without such an item there is none."""
    given = np.tile([[1, 1, 0], [0, 1, 0], [1, 1, 1]], (9, 1))
    truth = np.where(np.arange(27) == 26, -1, given[:, 0])
    generator = np.where(np.arange(27) < 13, 1, 0)
    about = (generator, ["one left", "none left"], ["a", "b", "c"])
    found = consensus(panel.Votes(given, truth, *about, calibration="random"))
    value, low, high = found.accuracy["accuracy_by_generator", "one left"]
    assert (low, high) == (0, 1) or low == high == 1
    assert 0.5 < value <= 1
    assert np.isnan(found.accuracy["accuracy_by_generator", "none left"].value)


@pytest.mark.slow
def test_a_temperature_and_a_lapse_are_found_again():
    """Classes drawn with the odds of a known power of what is believed."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.3, 0.3, (4000, 1))
    p = np.clip(np.column_stack([1 - p, p]), 1e-6, 1)
    p /= p.sum(axis=1, keepdims=True)
    by_hand = p**0.4 / (p**0.4).sum(axis=1, keepdims=True)
    assert_allclose(module._softened(p, 2.5), by_hand, rtol=1e-9)
    truth = (rng.random(4000) < by_hand[:, 1]).astype(int)
    weight = module._weight(p, truth)
    assert weight.sum(axis=1) @ module.LOG_TEMPERATURES == pytest.approx(np.log(2.5), abs=0.2)
    assert weight.sum(axis=0) @ module.LAPSES < 0.03
    # on every fifth item nobody can tell
    truth = np.where(rng.random(4000) < 0.2, rng.integers(0, 2, 4000), truth)
    weight = module._weight(p, truth)
    assert weight.sum(axis=0) @ module.LAPSES == pytest.approx(0.2, abs=0.06)


@pytest.mark.slow
def test_items_of_a_table_keep_its_names_and_order():
    table, votes = some(missing=0.2)
    found = consensus(votes)
    read = pd.concat(found.items(table))
    first = table.drop_duplicates(["generator", "item"])
    assert read["item"].astype(str).tolist() == first["item"].astype(str).tolist()
    assert read["generator"].tolist() == first["generator"].tolist()
    known = first["truth"].notna().to_numpy()
    assert (read["truth"].notna().to_numpy() == known).all()
    assert (read["label"][known] == first["truth"][known].astype(int).astype(str).to_numpy()).all()
    assert_allclose(read["p_0"] + read["p_1"], 1)
    wide = table.pivot(index=["generator", "item"], columns="judge", values="vote").reset_index()
    wide = wide.sample(frac=1, random_state=1)
    unlabelled = panel.Votes.from_frame(wide, judges=list("abcd"), truth=None)
    again = pd.concat(consensus(unlabelled).items(wide, judges=list("abcd"), truth=None))
    assert again["item"].astype(str).tolist() == wide["item"].astype(str).tolist()
    shares = consensus(unlabelled).probability[:, 1] @ unlabelled.count / unlabelled.n_items
    assert again["p_1"].mean() == pytest.approx(shares)


@pytest.mark.slow
def test_items_come_in_parts(monkeypatch):
    table, votes = some()
    found = consensus(votes)
    (whole,) = found.items(table)
    monkeypatch.setattr(module, "ROWS", 25)
    parts = list(found.items(table))
    assert [len(part) for part in parts] == [25] * 7 + [5]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)


@pytest.mark.slow
def test_another_table_is_refused():
    table, votes = some()
    other = table.assign(vote=1 - table["vote"])
    with refused("0", subject="panel.Consensus.items"):
        list(consensus(votes).items(other))
    with refused(id="other-table"):
        list(consensus(votes).items(table[table["judge"] != "a"]))


@pytest.mark.slow
def test_consensus_of_a_crowd_is_as_accurate_as_published():
    for name, accuracy in (("rte", 0.9275), ("bluebird", 0.898)):
        full = crowd(name)
        votes = full.hide("all")
        found = consensus(votes, prior_count=0)
        rows = patterns_of(votes, full.votes, np.full(len(full.count), -1), full.generator)
        right = full.count @ (found.label[rows] == full.truth) / full.n_items
        assert right >= accuracy - 5e-4


def by_hand(fit, draws):
    """Probability of a good item by draw and pattern, judge by judge."""
    votes = fit.data
    g, s, c = (fit.draws(name)[draws] for name in ("prevalence", "sensitivity", "specificity"))
    good, bad = g[:, votes.generator], 1 - g[:, votes.generator]
    for j in range(len(votes.judges)):
        vote = votes.votes[:, j]
        good = good * np.where(vote == 1, s[:, [j]], np.where(vote == 0, 1 - s[:, [j]], 1))
        bad = bad * np.where(vote == 0, c[:, [j]], np.where(vote == 1, 1 - c[:, [j]], 1))
    return good / (good + bad)


@pytest.mark.sampling
def test_a_fit_averages_over_the_posterior(model_fit, monkeypatch):
    fit = model_fit(panel.PooledDawidSkene())
    votes, draws = fit.data, spaced(fit)
    p = by_hand(fit, draws)
    known = votes.is_labelled
    p[:, known] = votes.truth[known]
    found = consensus(fit)
    assert_allclose(found.probability[:, 1], p.mean(axis=0), atol=1e-9)
    right, count = np.where(p.mean(axis=0) > 0.5, p, 1 - p)[:, ~known], votes.count[~known]
    chosen, n = right @ count, count.sum()
    value, low, high = found.accuracy["accuracy"]
    noise = np.sqrt(value * (1 - value) / n / len(draws))
    assert abs(value - (chosen / n).mean()) < 5 * noise
    # of what the draws say, and of items that are right or wrong; ends are whole items
    spread = np.hypot(chosen.std(), np.sqrt(((right * (1 - right)) @ count).mean())) / n
    assert (high - low) == pytest.approx(3.92 * spread, rel=0.05, abs=1 / n)
    monkeypatch.setattr(module, "HELD", 50_000)  # pattern by pattern, the same
    assert_allclose(consensus(fit).probability, found.probability, atol=1e-9)


@pytest.mark.study
def test_models_of_labels_and_of_shared_effects_know_items_too(model_fit):
    for model in (panel.VoteRegression(), panel.Correlated(nodes=7)):
        found = consensus(model_fit(model))
        assert_allclose(found.probability.sum(axis=1), 1)
        assert 0.5 < found.accuracy["accuracy"].low < found.accuracy["accuracy"].high <= 1
    with refused(id="no-items", name="BiasPooling"):
        consensus(model_fit(panel.BiasPooling()))


@pytest.mark.study
def test_intervals_of_the_accuracy_cover():
    covered, runs = 0, 40
    for seed in range(runs):
        settings = {"prevalence": (0.7,), "items": 200, "missing": 0.0, "random_seed": seed}
        table = panel.simulate(labelled=50, **settings)
        votes = panel.Votes.from_frame(table, calibration="random")
        fit = panel.fit(votes, panel.PooledDawidSkene(), random_seed=1, progress=False)
        found = consensus(fit)
        open_ = pd.concat(found.items(table))
        truth = panel.simulate(labelled=200, **settings).drop_duplicates(["generator", "item"])
        hidden = open_["truth"].isna().to_numpy()
        right = (open_["label"].astype(int).to_numpy() == truth["truth"].to_numpy())[hidden].mean()
        covered += found.accuracy["accuracy"].low <= right <= found.accuracy["accuracy"].high
    assert covered >= stats.binom.ppf(0.001, runs, 0.95)


@pytest.mark.slow
def test_raters_of_few_items_are_no_worse_than_the_majority_by_a_point():
    # 461 raters with 1,720 votes: half a vote of every kind was 7 points below the majority
    for seed in range(2):
        full = study.simulated(seed)
        votes = full.hide("all")
        found = consensus(votes)
        rows = patterns_of(votes, full.votes, np.full(len(full.count), -1), full.generator)
        right = full.count @ (found.label[rows] == full.truth) / full.n_items
        assert right > study.majority(full) - 0.01
        assert "too-few-votes" in {c.id for c in found.accuracy.cautions}
