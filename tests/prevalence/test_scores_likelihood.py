"""What NUTS runs for the truth given the score: likelihood, gradient and whole density."""

import numpy as np
import pytest
from contract import gaps_between
from numpy.testing import assert_allclose
from scipy.special import ndtr

from bayesjudge.prevalence import scores as S
from bayesjudge.prevalence.scores.model import GRAIN, LEAST, NumbersByBin

#: Three bins, of which one has labels of one number and one has none; four numbers.
SEEN = np.array([[4, 2, 0, 1], [0, 0, 7, 0], [0, 0, 0, 0]])
LEVELS, MIDDLE = np.arange(4) / 3, np.array([1, 3, 5]) / 6
LOCATION, NOISE = np.array([0.3, 0.7, 1.2]), np.array([0.4, 0.1, 0.2])
NAN = float("nan")


def chances(location, noise, levels=LEVELS):
    """Of the numbers of bins with these locations; `noise` is as wide as a spread of nothing."""
    numbers = NumbersByBin(None, 1.0, 1.0, 1.0, levels, SEEN)
    grain = GRAIN / (levels.size - 1)
    values = {"location": location, "bin_spread": np.sqrt(noise**2 - grain**2)}
    return numbers.chances(values, np)


def test_they_are_normal_probabilities():
    below = ndtr((MIDDLE - LOCATION[:, None]) / NOISE[:, None])
    expected = np.diff(np.column_stack([np.zeros(3), below, np.ones(3)]), axis=1)
    assert_allclose(chances(LOCATION, NOISE), (expected + LEAST) / (1 + 4 * LEAST), rtol=1e-12)


@pytest.mark.parametrize("away", [-1, 1])
def test_tails_lose_no_digits(away):
    """Six spreads above or below, where a difference of numbers near 1 keeps six digits."""
    found = chances(np.array([away * 6.0]), np.array([1.0]), np.array([-1.0, 0.0, 1.0]))
    assert_allclose(found[0, 1], (ndtr(-5.5) - ndtr(-6.5) + LEAST) / (1 + 3 * LEAST), rtol=1e-13)


def test_a_number_far_from_its_bin_has_a_finite_density():
    far = chances(np.full(3, 80.0), np.full(3, 0.1))
    assert_allclose(far[:, :3], LEAST, rtol=1e-9)


def numbers(**more):
    """Five bins, of which one has no label, and one labels that agree."""
    score, truth = [0, 0, 1, 3, 3, 4, 4, *range(5)], [1, 2, 2, 3, 5, 4, 5, *[NAN] * 5]
    n = [3, 2, 6, 2, 1, 2, 3, 20, 30, 9, 30, 11]
    return S.Scores(score, truth, n, "random", (0, 4), edges=(0.5, 1.5, 2.5, 3.5), **more)


def passes(calibration, **more):
    score, truth = [0, 0, 1, 2, 2, 0, 1, 2], [0, 1, 1, 0, 1, *[NAN] * 3]
    n = [6, 1, 4, 2, 7, 30, 20, 25]
    return S.Scores(score, truth, n, calibration, (0, 2), edges=(0.5, 1.5), **more)


SETTINGS = {
    "numbers": (numbers(truth_scale=(1, 5)), S.RisingMean(3.0, 1.5, spread=0.4)),
    "hundredths": (numbers(truth_scale=(0.5, 5.5)), S.RisingMean()),
    "by the score": (passes("by_verdict"), S.TruthGivenScore(3.0, 1.5)),
    "classes of propensity": (
        passes("known_propensity", propensity=[0.1, 0.3] * 4),
        S.TruthGivenScore(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_sampler_runs_the_density_of_the_text(setting):
    data, model = SETTINGS[setting]
    gaps, off = gaps_between(S.build_model(data, model), model._sampling_form(data), points=3)
    assert np.ptp(gaps) < 1e-9 * np.abs(gaps).max()
    assert off < 1e-9
