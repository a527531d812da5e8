"""Laplace approximations against their models, by differences and by sampling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cho_solve
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logit
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.panel._approximations import (
    Regression,
    _Bias,
    _LatentTruth,
    _VoteMatrices,
    share_estimate,
)
from bayesjudge.panel._summaries import Summary
from tests.panel.effect_likelihood import likelihood_of_votes
from tests.panel.test_recommend import FULL, simulated, some_labelled

panel = bj.panel


@pytest.mark.slow
@pytest.mark.parametrize("model", [panel.PooledDawidSkene(), panel.Correlated()])
def test_slope_of_the_approximate_posterior_by_differences(model):
    votes = simulated(40, shared_effect=1.0)
    learnt, told = _LatentTruth(votes, model), _VoteMatrices(votes)
    at = learnt.at + np.random.default_rng(1).normal(0, 0.2, learnt.at.size)

    def density(x):
        return float(told.count @ learnt._expect(x, told)[0] + learnt._prior(x)[0])

    _, resp, at_node = learnt._expect(at, told)
    slope = told.count @ learnt._scores(at, told, resp, at_node) + learnt._prior(at)[1]
    assert_allclose(slope, approx_fprime(at, density, 1e-6), rtol=1e-4, atol=1e-2)


@pytest.mark.fast_named("model0")
@pytest.mark.parametrize("model", [panel.PooledDawidSkene(), panel.Correlated()])
def test_numbers_of_good_items_vary_as_their_slopes_by_differences_say(model):
    learnt = _LatentTruth(simulated(40, shared_effect=1.0), model)
    items = panel.Votes.from_frame(panel.simulate(items=30, labelled=0, random_seed=2))
    known = _VoteMatrices(items)

    def chances(x):
        return learnt._expect(x, known)[1][:, 1].sum(axis=1)

    def summed(each):
        return np.bincount(items.generator, known.count * each)

    mean, variance = learnt.good(items)
    chance = chances(learnt.at)
    assert_allclose(mean, summed(chance))
    slopes = [
        approx_fprime(learnt.at, lambda x, i=i: summed(chances(x))[i], 1e-6) for i in (0, 1, 2)
    ]
    delta = np.sum(slopes * cho_solve(learnt.factor, np.transpose(slopes)).T, axis=1)
    assert_allclose(variance, delta + summed(chance * (1 - chance)), rtol=1e-3)


@pytest.mark.slow
def test_likelihood_of_the_approximation_is_that_of_the_model():
    votes = simulated(40, shared_effect=1.0)
    learnt, told = _LatentTruth(votes, panel.Correlated()), _VoteMatrices(votes)
    half, leniency, effect = learnt._parts(learnt.at)
    logits = np.stack([leniency - half, leniency + half], axis=1)
    share = expit(learnt.at[:3])
    expected = likelihood_of_votes(votes, logits, effect, share, 11)
    assert told.count @ learnt._expect(learnt.at, told)[0] == pytest.approx(expected)


@pytest.mark.parametrize("calibration", ["by_truth", "separate"])
@pytest.mark.slow
def test_far_starts_of_a_search_stay_numbers(calibration):
    # labels of one class, or of next to nothing, on few items: effects run away
    for seed in range(8):
        table = panel.simulate(
            prevalence=(0.95, 0.9), sensitivity=(0.99, 0.98), specificity=(0.9, 0.97),
            items=12, labelled=2, missing=0, random_seed=seed,
        )  # fmt: skip
        votes = panel.Votes.from_frame(table, calibration=calibration)
        for target in ("items", "population"):
            found = np.array(share_estimate(votes, panel.Correlated(), 0.95, target))
            assert np.isfinite(found).all()
            assert (np.diff(found[[1, 0, 2]], axis=0) >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", [panel.PooledDawidSkene(), panel.Correlated()])
def test_steps_far_out_of_a_search_have_a_density_and_a_slope(model):
    votes = simulated(40)
    learnt, told = _LatentTruth(votes, model), _VoteMatrices(votes)
    for i in range(learnt.at.size):
        far = learnt.at.copy()
        far[i] += 1000
        log, resp, at_node = learnt._expect(far, told)
        assert np.isfinite(log).all()
        assert np.isfinite(learnt._scores(far, told, resp, at_node)).all()
        assert np.isfinite(learnt._prior(far)[0])


@pytest.mark.sampling
@pytest.mark.parametrize("target", ["items", "population"])
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
def test_an_approximation_is_near_its_model(model, target, fits):
    votes, fit = fits(model)
    sampled = fit.estimate(target=target).quantities["prevalence"]
    value, low, high = share_estimate(votes, model, 0.95, target)
    spread = (sampled.high - sampled.low) / 3.92
    assert (np.abs(value - sampled.value) < spread).all()
    ratio = (high - low) / (sampled.high - sampled.low)
    assert (ratio > 0.6).all()
    assert (ratio < 1.6).all()


@pytest.fixture(scope="module")
def fits():
    """One fit of a model for both targets."""
    votes, made = simulated(150, shared_effect=1.0), {}

    def get(model):
        if model not in made:
            settings = {"chains": 2, "draws": 1000, "tune": 500}
            made[model] = panel.fit(votes, model, random_seed=1, **settings)
        return votes, made[model]

    return get


def test_a_label_moves_its_own_items_to_what_people_said():
    votes = some_labelled(FULL, 400, 1)  # all
    value, low, high = share_estimate(votes, panel.VoteRegression(), 0.95)
    share = votes.labelled[:, 1] / votes.items
    assert_allclose(value, share)
    assert_array_equal(low, high)


@pytest.mark.parametrize("good", [0, 1, 40, 79, 80])
def test_a_population_whose_items_are_all_known_has_jeffreys_interval(good):
    truth = (np.arange(80) < good).astype(int)
    votes = panel.Votes(np.ones((80, 1), int), truth, np.zeros(80, int), ["g"], ["a"])
    for prob in (0.5, 0.95):
        ends = share_estimate(votes, panel.VoteRegression(), prob, "population")
        expected = beta(good + 0.5, 80.5 - good).ppf([(1 - prob) / 2, (1 + prob) / 2])
        assert ends[0][0] == pytest.approx(good / 80)
        if 0 < good < 80:
            assert_allclose([ends[1][0], ends[2][0]], expected, atol=1e-6)
        else:  # the value itself is held
            assert ends[1][0] <= good / 80 <= ends[2][0]
            assert min(abs(ends[1][0] - expected[0]), abs(ends[2][0] - expected[1])) < 1e-6


def test_half_widths_of_a_population_add_as_squares():
    """On the logit scale: those of the items' share, and Jeffreys' if that share were known."""
    votes = some_labelled(FULL, 120, 3)
    value, *ends = share_estimate(votes, panel.VoteRegression(), 0.9)
    *_, low, high = share_estimate(votes, panel.VoteRegression(), 0.9, "population")
    a, b = votes.items * value + 0.5, votes.items * (1 - value) + 0.5
    half = (logit(ends[1]) - logit(ends[0])) / 2
    centre = logit(a / (a + b))
    for end, prob in ((low, 0.05), (high, 0.95)):
        jeffreys = centre - logit(beta(a, b).ppf(prob))
        assert_allclose((centre - logit(end)) ** 2, half**2 + jeffreys**2, rtol=1e-6)


@pytest.mark.slow
def test_a_population_is_known_less_than_its_items_and_as_well_of_many():
    votes = some_labelled(FULL, 100, 2)
    widths = {}
    for target in ("items", "population"):
        _, low, high = share_estimate(votes, panel.VoteRegression(), 0.95, target)
        widths[target] = logit(high) - logit(low)
    assert (widths["population"] > widths["items"]).all()
    rows = np.array([[1, 1], [1, 0], [0, 0]])
    for n, most in ((1, 3.0), (10_000, 1.02)):
        given, truth = np.concatenate([rows, rows]), [1, 1, 0, -1, -1, -1]
        count = [30, 10, 30, *(np.array([300, 100, 300]) * n)]
        about = (np.zeros(6, int), ["g"], ["a", "b"])
        many = panel.Votes(given, truth, *about, count=count, calibration="random")
        ends = [
            share_estimate(many, panel.VoteRegression(), 0.95, target)
            for target in ("population", "items")
        ]
        ratio = float((ends[0][2] - ends[0][1])[0] / (ends[1][2] - ends[1][1])[0])
        assert 1 < ratio < most


def test_chances_are_those_of_a_logistic_regression_where_labels_are_many():
    rng = np.random.default_rng(3)
    given = rng.integers(0, 2, (6000, 3))
    chance = expit(-0.3 + (given - 0.5) @ [2.0, 1.0, 0.5])
    truth = (rng.random(6000) < chance).astype(int)
    votes = panel.Votes(given, truth, np.zeros(6000, int), ["g"], list("abc"))
    found = Regression(votes, panel.VoteRegression()).chance(votes)
    expected = expit(-0.3 + (votes.votes - 0.5) @ [2.0, 1.0, 0.5])
    n = np.bincount(
        (given @ [4, 2, 1]), minlength=8
    ).min()  # of the rarest pattern; the regression learns from all eight
    assert np.abs(found - expected).max() < 4 * np.sqrt(0.25 / n)


@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_a_spread_says_how_far_a_generator_without_labels_may_be(factor):
    votes = some_labelled(FULL, 80, 1, only=["g1"])
    prior = panel.VoteRegression()
    other = panel.VoteRegression(generator_spread=prior.generator_spread * factor)
    one, two = (np.subtract(*share_estimate(votes, m, 0.95)[:0:-1]) for m in (prior, other))
    assert ((two[1:] > one[1:]) == (factor > 1)).all()


def test_summaries_are_those_of_a_loop_over_items():
    """Of a generator with one label, with one other item, with labels alone and with none."""
    numbers = {"a": (1, 30), "b": (30, 1), "c": (12, 0), "d": (0, 5)}
    rng = np.random.default_rng(7)
    of = [g for g, n in enumerate(numbers.values()) for _ in range(sum(n))]
    truth = [
        int(rng.random() < 0.6) if i < n[0] else -1 for n in numbers.values() for i in range(sum(n))
    ]
    given = (rng.random((len(of), 3)) < np.where(np.abs(truth), 0.8, 0.3)[:, None]).astype(int)
    given[rng.random(given.shape) < 0.15] = -1
    votes = panel.Votes(given, truth, of, [*numbers], [*"xyz"], calibration="random")
    found = Summary.of(votes)
    for g in range(4):
        rows = [
            ([v for v in vote if v >= 0], t)
            for vote, t, place in zip(given.tolist(), truth, of, strict=True)
            if place == g and max(vote) >= 0
        ]
        known = [sum(vote) / len(vote) for vote, t in rows if t >= 0]
        other = [sum(vote) / len(vote) for vote, t in rows if t < 0]
        assert (found.labelled_n[g], found.other_n[g]) == (len(known), len(other))
        assert found.labelled_good[g] == sum(t == 1 for _, t in rows)
        means = [sum(part) / len(part) if part else 0.5 for part in (known, other)]
        assert (found.labelled_rate[g], found.other_rate[g]) == pytest.approx(means)
        assert found.rate[g] == pytest.approx(sum(known + other) / len(rows))
        centre = found.rate[g]
        squares = sum((value - centre) ** 2 for value in known + other)
        assert found.spread[g] ** 2 == pytest.approx((squares + 0.5) / (len(rows) + 1))


@pytest.mark.slow
def test_pooled_biases_are_a_mixture_of_normals_at_modes_that_a_search_finds():
    """By SciPy's search for each spread and slopes by differences."""
    votes = some_labelled(FULL, 60, 3, only=["g1", "g2", "g4"])
    model = panel.BiasPooling(level=panel.NormalPrior(0.3, 1), bias=panel.NormalPrior(-0.4, 1))
    s, size = Summary.of(votes), len(votes.generators)
    known, other = s.labelled_n > 0, s.other_n > 0
    sd = np.ones(2 + 2 * size)
    sd[:2] = model.level.sd, model.bias.sd
    centre = np.zeros(2 + 2 * size)
    centre[:2] = model.level.mean, model.bias.mean

    def level(x):
        return x[0] + model.level_spread * x[2 : 2 + size]

    evidence, levels, variances = [], [], []
    for ratio in (0.05, 0.2, 0.4, 0.7, 1.1, 1.7, 2.5):

        def standardised(x, ratio=ratio):
            good = expit(level(x))
            passing = expit(level(x) + x[1] + ratio * model.bias_spread * x[2 + size :])
            seen = s.labelled_rate - s.slope * s.labelled_good / np.maximum(s.labelled_n, 1)
            first = (seen - passing + s.slope * good) / s.residual * np.sqrt(s.labelled_n)
            second = (s.other_rate - passing) / s.spread * np.sqrt(s.other_n)
            return np.concatenate([first[known], second[other], (x - centre) / sd])

        def height(x):
            good = s.labelled_good @ level(x) - s.labelled_n @ np.logaddexp(0, level(x))
            return good - 0.5 * (standardised(x) ** 2).sum()

        mode = minimize(lambda x: -height(x), centre, method="BFGS", options={"gtol": 1e-6}).x
        steps = 1e-5 * np.eye(mode.size)
        slopes = np.array([standardised(mode + h) - standardised(mode - h) for h in steps]) / 2e-5
        g = expit(level(mode))
        to_level = np.zeros((size, mode.size))
        to_level[:, 0], to_level[:, 2 : 2 + size] = 1, model.level_spread * np.eye(size)
        of_labels = (to_level.T * (s.labelled_n * g * (1 - g))) @ to_level
        curvature = slopes @ slopes.T + of_labels
        prior = np.log(ratio) - 0.5 * ratio**2  # of a spread on its grid, which is nearly geometric
        evidence.append(height(mode) + prior - 0.5 * np.linalg.slogdet(curvature)[1])
        levels.append(level(mode))
        variances.append(np.diag(to_level @ np.linalg.inv(curvature) @ to_level.T))
    weight = np.exp(np.array(evidence) - max(evidence))
    weight /= weight.sum()
    mean = weight @ np.array(levels)
    variance = weight @ (np.array(variances) + (np.array(levels) - mean) ** 2)
    learnt = _Bias(votes, model)
    assert_allclose(learnt.level, mean, rtol=1e-4, atol=1e-4)
    assert_allclose(learnt.level_variance, variance, rtol=1e-3)
