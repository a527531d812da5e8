"""The exact posterior of a mean score, against Beta distributions, simulation and symmetry."""

import time
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.special import betainc, betaincinv
from scipy.stats import beta

from bayesjudge.core import dirichlet

TOLERANCE = dirichlet.TOLERANCE
SCALE = np.arange(1.0, 6)


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.5, 10.5), (300, 200), (3000, 2)])
def test_two_values_are_a_beta_distribution(weights):
    t = np.linspace(0.001, 0.999, 97)
    below, density = dirichlet.distribution(weights, [0, 1], t)
    assert_allclose(below, beta.cdf(t, weights[1], weights[0]), atol=1e-9)
    expected = beta.pdf(t, weights[1], weights[0])
    assert_allclose(density, expected, rtol=1e-3, atol=1e-6 * expected.max())
    probs = np.array([0.005, 0.025, 0.5, 0.975, 0.995])
    found = dirichlet.quantile(weights, [0, 1], probs)
    assert_allclose(found, beta.ppf(probs, weights[1], weights[0]), rtol=0, atol=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0, 10), (0, 1, 0, 3, 2), (5, 30, 100, 200, 165), (0, 0, 1, 0, 0)]
)
def test_distribution_agrees_with_simulation(counts):
    weights = dirichlet.posterior(counts)
    means = np.random.default_rng(1).dirichlet(weights, 200_000) @ SCALE
    for prob in (0.01, 0.05, 0.5, 0.95, 0.99):
        at = np.clip(np.quantile(means, prob), 1 + 1e-9, 5 - 1e-9)
        below = float(dirichlet.distribution(weights, SCALE, at)[0])
        error = np.sqrt(prob * (1 - prob) / means.size)
        assert abs(below - prob) < 5 * error


def test_twice_the_nodes_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    weights = dirichlet.posterior(rng.multinomial(14, [0.1, 0.2, 0.4, 0.2, 0.1], size=50))
    few = np.stack(dirichlet.interval(weights, SCALE, ci_prob=0.9))
    monkeypatch.setattr(dirichlet, "NODES", 2 * dirichlet.NODES)
    many = np.stack(dirichlet.interval(weights, SCALE, ci_prob=0.9))
    assert_allclose(many, few, rtol=0, atol=2 * 4 * TOLERANCE)  # of a range of 4, either way


def test_prior_is_worth_one_score():
    assert_allclose(dirichlet.posterior([0, 0, 0, 0, 3]).sum(), 4)
    mean, sd = dirichlet.moments(dirichlet.posterior([0, 0, 0, 0, 3]), SCALE)
    assert_allclose(mean, (3 * 5 + 3) / 4)
    draws = np.random.default_rng(3).dirichlet([0.2, 0.2, 0.2, 0.2, 3.2], 100_000) @ SCALE
    assert_allclose(sd, draws.std(), rtol=0.02)


def test_turning_the_scale_round_mirrors_the_answer():
    low, high = dirichlet.interval(dirichlet.posterior([7, 2, 1, 0, 0]), SCALE)
    mirrored = dirichlet.interval(dirichlet.posterior([0, 0, 1, 2, 7]), SCALE)
    turned = [6 - mirrored[1], 6 - mirrored[0]]
    assert_allclose([low, high], turned, rtol=0, atol=2 * 4 * TOLERANCE)


def test_units_of_the_scale_carry_through():
    weights = dirichlet.posterior([1, 4, 5])
    one = np.array(dirichlet.interval(weights, [0, 0.5, 1]))
    other = np.array(dirichlet.interval(weights, [10, 20, 30]))
    assert_allclose(other, 10 + 20 * one, rtol=0, atol=2 * 20 * TOLERANCE)


def test_interval_narrows_when_equal_answers_go_on():
    widths = [
        float(dirichlet.half_width(dirichlet.posterior([0, 0, 0, 0, n]), SCALE))
        for n in (5, 10, 20)
    ]
    assert widths[0] > widths[1] > widths[2] > 0


@pytest.mark.slow
def test_thousands_of_updates_a_second():
    rng = np.random.default_rng(4)
    counts = rng.multinomial(14, [0.001, 0.001, 0.177, 0.643, 0.178], size=2000)
    started = time.process_time()
    dirichlet.half_width(dirichlet.posterior(counts), SCALE, ci_prob=0.9)
    assert 2000 / (time.process_time() - started) > 2000


def test_concentration_must_be_positive():
    with refused("concentration="):
        dirichlet.posterior([1, 2], concentration=0)


@pytest.mark.parametrize("shape", [(3, 1), (1, 300), (0.5, 0.5), (0.2, 1.8), (700, 3), (40, 2)])
def test_two_values_at_the_ends_are_a_beta_distribution(shape):
    at = np.array([0.001, 0.2, 0.5, 0.9, 0.999])
    found = dirichlet.distribution(shape[::-1], [0, 1], at)[0]
    assert_allclose(found, betainc(*shape, at), atol=1e-10)
    for prob in (0.0005, 0.5, 0.9995):
        quantile = dirichlet.quantile(shape[::-1], [0, 1], prob)
        assert_allclose(quantile, betaincinv(*shape, prob), rtol=0, atol=TOLERANCE)


@pytest.mark.slow
def test_quantiles_keep_their_promise_however_lopsided_the_weights():
    """Weights from 0.05 to 3,000: the rules' difference falls slowly if one is a few hundredths."""
    shapes = 10 ** np.random.default_rng(0).uniform(-1.3, 3.5, (1000, 2))
    for prob in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        found = dirichlet.quantile(shapes[:, ::-1], [0, 1], prob)
        assert_allclose(found, betaincinv(*shapes.T, prob), rtol=0, atol=TOLERANCE)


def test_many_values_match_draws():
    values, weights = np.array([0.0, 1, 4, 9, 16]), np.array([5, 1, 0.2, 2, 1])
    draws = np.random.default_rng(0).dirichlet(weights, 100_000) @ values
    for at in (1.0, 3.0, 5.0, 9.0):
        exact = float(dirichlet.distribution(weights, values, at)[0])
        noise = 5 * np.sqrt(exact * (1 - exact) / draws.size)
        assert abs((draws <= at).mean() - exact) < noise


@pytest.mark.slow
def test_nodes_that_are_doubled_are_asked_in_parts(monkeypatch):
    """Of weights far apart, in rows that all need most nodes: the same bits in as much memory."""
    values = np.sort(np.random.default_rng(1).normal(size=400))
    weights = np.full((100, 400), 1 / 400)
    weights[:, 200], weights[:, 10:40] = 3000, 1
    at = np.linspace(values[100], values[300], 100)
    tracemalloc.start()
    found = dirichlet.distribution(weights, values, at)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * 8 * dirichlet._CHUNK
    monkeypatch.setattr(dirichlet, "_CHUNK", dirichlet._CHUNK // 8)
    assert np.array_equal(dirichlet.distribution(weights, values, at), found)
