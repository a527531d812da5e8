"""Advice on the model: by labels that were hidden, and never by labels that a model saw."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import bayesjudge as bj
from bayesjudge.panel._approximations import _LatentTruth, _Told, approximate, share_estimate
from bayesjudge.panel._folds import folds
from bayesjudge.panel._likelihood import likelihood_of_votes
from bayesjudge.panel.checks import rows_of
from bayesjudge.panel.recommend import _by_generator, _by_label, _ranked, _surely
from tests.panel.conftest import code_feedback

panel = bj.panel
MODELS = (panel.VoteRegression(), panel.Correlated(), panel.PooledDawidSkene())


def some_labelled(full, n, seed, calibration="random"):
    """The same votes with the labels of `n` random items."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    known = np.random.default_rng(seed).permutation(len(rows)) < n
    about = (full.generator[rows], full.generators, full.judges)
    truth = np.where(known, full.truth[rows], -1)
    return panel.Votes(full.votes[rows], truth, *about, calibration=calibration)


def simulated(n=100, seed=1, **settings):
    table = panel.simulate(items=300, labelled=300, random_seed=seed, **settings)
    return some_labelled(panel.Votes.from_frame(table), n, seed)


def test_every_label_is_hidden_once_and_then_not_seen():
    votes = simulated(60)
    hidden_labels = np.zeros_like(votes.labelled)
    for seen, hidden in folds(votes, np.random.default_rng(1)):
        hidden_labels += hidden.labelled
        np.testing.assert_array_equal(seen.labelled + hidden.labelled, votes.labelled)
        np.testing.assert_array_equal(seen.items, votes.items)
    np.testing.assert_array_equal(hidden_labels, votes.labelled)


def test_a_hidden_label_does_not_move_its_own_prediction():
    # a method that saw the labels it is scored on would change its mind with them
    votes = simulated(60)
    turned = votes.truth.copy()
    seen, hidden = next(folds(votes, np.random.default_rng(1)))
    turned = panel.Votes(
        *(hidden.votes, 1 - hidden.truth, hidden.generator, votes.generators, votes.judges),
        count=hidden.count,
        calibration="random",
    )
    for model in MODELS:
        learnt = approximate(seen, model)
        chance = [np.exp(learnt.log_score(one)) for one in (hidden, turned)]
        by_votes = [
            {
                (*v, g, t if i == 0 else 1 - t): p
                for v, g, t, p in zip(one.votes.tolist(), one.generator, one.truth, c, strict=True)
            }
            for i, (one, c) in enumerate(zip((hidden, turned), chance, strict=True))
        ]
        for key, p in by_votes[0].items():
            assert p + by_votes[1][key] == pytest.approx(1)


def test_labels_of_a_hidden_generator_are_not_seen():
    full = panel.Votes.from_frame(panel.simulate(labelled=300, random_seed=1))
    votes = panel.Votes(
        *(full.votes, full.truth, full.generator, full.generators, full.judges), count=full.count
    )
    turned = np.where(full.generator == 2, 1 - full.truth, full.truth)
    other = panel.Votes(
        *(full.votes, turned, full.generator, full.generators, full.judges), count=full.count
    )
    share = full.labelled[2] / full.items[2]
    models = (panel.BiasPooling(),)
    learnt = approximate(votes.hide("g3"), models[0])
    for one, good in ((votes, share[1]), (other, share[0])):
        hidden = rows_of(one, one.generator == 2)
        mean, variance = (
            part[2] / one.items[2] ** k for k, part in enumerate(learnt.good(hidden), 1)
        )
        half = 1.6448536 * np.sqrt(variance)
        by_hand = 2 * half + 20 * max(mean - half - good, good - mean - half, 0)
        found = _by_generator(one, models, np.full(3, True))[2, 0]
        assert found == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.slow
def test_correlated_errors_of_a_real_panel_do_not_tempt_it():
    # 100 random labels over all generators: `correlated` was named in 20 of 20 such draws, and
    # is up to .16 wrong there
    full = code_feedback()
    for seed in range(2):
        advice = panel.recommend(some_labelled(full, 100, seed))
        assert advice.model == panel.VoteRegression()
        assert advice.ranking.loc["VoteRegression", "score"] == advice.ranking["score"].min()


@pytest.mark.slow
def test_independent_judges_are_found_out():
    # with so many labels it is plain that Dawid-Skene predicts them best
    votes = simulated(400, specificity=(0.7, 0.75, 0.8, 0.85), seed=2)
    advice = panel.recommend(votes)
    assert type(advice.model) in (panel.PooledDawidSkene, panel.Correlated)
    assert advice.sure > 0.5
    assert "better than models that assume less" in advice.why


def test_too_few_labels_leave_the_model_that_assumes_least():
    advice = panel.recommend(simulated(15, prevalence=(0.7,)))
    assert advice.model == panel.VoteRegression()
    assert "fewer than 20 labels" in advice.why
    assert np.isnan(advice.sure)
    assert advice.ranking.empty


@pytest.mark.slow
def test_generators_without_labels_are_what_is_predicted():
    shares = (0.9, 0.75, 0.6, 0.8, 0.7, 0.85)
    full = panel.Votes.from_frame(
        panel.simulate(prevalence=shares, items=100, labelled=100, random_seed=1)
    )
    advice = panel.recommend(full.hide("g6"))
    assert set(advice.ranking.index) == {"BiasPooling", "Correlated", "PooledDawidSkene"}
    assert (advice.ranking["scored"] == 5).all()
    few = panel.recommend(full.only("g1", "g2", "g3", "g4").hide("g4"))
    assert few.model == panel.BiasPooling()
    assert "fewer than 5 generators" in few.why
    alone = panel.recommend(full.only("g1", "g2").hide("g1"))  # no bias of one generator
    assert type(alone.model) in (panel.Correlated, panel.PooledDawidSkene)


@pytest.mark.slow
def test_labels_by_truth_leave_models_of_error_rates():
    votes = simulated(100)
    by_truth = panel.Votes(
        *(votes.votes, votes.truth, votes.generator, votes.generators, votes.judges),
        count=votes.count,
        calibration="by_truth",
    )
    advice = panel.recommend(by_truth)
    assert type(advice.model) in (panel.Correlated, panel.PooledDawidSkene)
    # the score is of votes given the truth: how many were labelled of each kind does not enter
    learnt = _LatentTruth(by_truth, panel.PooledDawidSkene())
    hidden = rows_of(by_truth, by_truth.is_labelled)
    half, leniency, _ = learnt._parts(learnt.at)
    rates = np.stack([1 / (1 + np.exp(-(leniency - half))), 1 / (1 + np.exp(-(leniency + half)))])
    p = rates[hidden.truth]
    by_hand = np.where(hidden.votes == 1, np.log(p), np.where(hidden.votes == 0, np.log1p(-p), 0))
    np.testing.assert_allclose(learnt.log_score(hidden), by_hand.sum(axis=1))


def test_a_model_that_assumes_more_has_to_be_surely_better():
    rng = np.random.default_rng(1)
    least, noise = rng.normal(1, 0.3, 50), rng.normal(0, 0.2, 50)
    noise -= noise.mean()
    for gain, taken in ((-0.05, 0), (0.0, 0), (0.3, 1)):
        scores = np.column_stack([least, least - gain + noise])
        advice = _ranked((panel.VoteRegression(), panel.Correlated()), scores, "least", "labels")
        assert advice.model == (panel.VoteRegression(), panel.Correlated())[taken]
    unsure = np.column_stack([least, least - 0.01 + noise])
    kept = _ranked((panel.VoteRegression(), panel.Correlated()), unsure, "least", "labels")
    assert kept.model == panel.VoteRegression()
    assert "Correlated, which assumes more, is better with probability 0." in kept.why
    assert _surely(least, least) == 0.5
    assert _surely(least - 1, least) == 1


@pytest.mark.slow
def test_advice_is_short_to_read():
    shown = repr(panel.recommend(simulated(60)))
    assert shown.startswith("Advice(")
    assert len(shown) < 300
    assert "\n" not in shown


@pytest.mark.parametrize("model", [panel.PooledDawidSkene(), panel.Correlated()])
def test_slope_of_the_approximate_posterior_by_differences(model):
    votes = simulated(40, shared_effect=1.0)
    learnt, told = _LatentTruth(votes, model), _Told(votes)
    at = learnt.at + np.random.default_rng(1).normal(0, 0.2, learnt.at.size)

    def density(x):
        return float(told.count @ learnt._expect(x, told)[0] + learnt._prior(x)[0])

    _, resp, at_node = learnt._expect(at, told)
    summed = learnt._slope(at, told, resp, at_node)
    np.testing.assert_allclose(summed, told.count @ learnt._scores(at, told, resp, at_node))
    slope = summed + learnt._prior(at)[1]
    np.testing.assert_allclose(slope, approx_fprime(at, density, 1e-6), rtol=1e-4, atol=1e-2)


def test_likelihood_of_the_approximation_is_that_of_the_model():
    votes = simulated(40, shared_effect=1.0)
    learnt, told = _LatentTruth(votes, panel.Correlated()), _Told(votes)
    half, leniency, effect = learnt._parts(learnt.at)
    logits = np.stack([leniency - half, leniency + half], axis=1)
    share = 1 / (1 + np.exp(-learnt.at[:3]))
    expected = likelihood_of_votes(votes)(logits, effect, share, 11)
    assert told.count @ learnt._expect(learnt.at, told)[0] == pytest.approx(expected)


@pytest.mark.sampling
@pytest.mark.parametrize(
    "model",
    [
        panel.VoteRegression(),
        panel.BiasPooling(),
        panel.PooledDawidSkene(),
        pytest.param(panel.Correlated(nodes=11), marks=pytest.mark.study),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_approximation_is_near_its_model(model):
    votes = simulated(150, shared_effect=1.0)
    fit = panel.fit(votes, model, random_seed=1, chains=2, draws=1000, tune=500)
    sampled = fit.estimate(target="items").quantities["prevalence"]
    value, low, high = share_estimate(votes, model, 0.95)
    spread = (sampled.high - sampled.low) / 3.92
    assert (np.abs(value - sampled.value) < spread).all()
    ratio = (high - low) / (sampled.high - sampled.low)
    assert (ratio > 0.6).all()
    assert (ratio < 1.6).all()


@pytest.mark.slow
def test_scores_of_labels_are_by_item():
    votes = simulated(50)
    scores = _by_label(votes, MODELS[::2], np.random.default_rng(1))
    assert scores.shape == (50, 2)
    assert (scores > 0).all()
