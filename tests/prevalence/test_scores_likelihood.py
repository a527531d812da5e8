"""What NUTS runs for the truth given the score: likelihood, gradient and whole density."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from contract import gaps_between
from numpy.testing import assert_allclose
from scipy.special import ndtr

from bayesjudge.compiled import compiling
from bayesjudge.prevalence import scores as S
from bayesjudge.prevalence.scores._pymc import LEAST, add_labels

#: Three bins, of which one has labels of one number and one has none; four numbers.
SEEN = np.array([[4, 2, 0, 1], [0, 0, 7, 0], [0, 0, 0, 0]])
MIDDLE = np.array([1, 3, 5]) / 6
LOCATION, NOISE = np.array([0.3, 0.7, 1.2]), np.array([0.4, 0.1, 0.2])
NAN = float("nan")


def by_hand(location, noise):
    below = ndtr((MIDDLE - location[:, None]) / noise[:, None])
    chances = np.diff(np.column_stack([np.zeros(3), below, np.ones(3)]), axis=1)
    return (SEEN * np.log(chances + LEAST)).sum()


@pytest.fixture(scope="module")
def found():
    location, noise = pt.dvector(), pt.dvector()
    with pm.Model() as model:
        add_labels(SEEN, pt.as_tensor(MIDDLE), location, noise)
    (value,) = model.potentials
    outputs = [value, *pt.grad(value, [location, noise])]
    with compiling():
        return pytensor.function([location, noise], outputs, mode="FAST_COMPILE")


def test_it_is_that_of_normal_probabilities(found):
    assert_allclose(found(LOCATION, NOISE)[0], by_hand(LOCATION, NOISE), rtol=1e-12)


def test_its_gradient_is_that_of_small_differences(found):
    _, by_location, by_noise = found(LOCATION, NOISE)
    for i, move in enumerate(1e-6 * np.eye(3)):
        slopes = [
            by_hand(LOCATION + move, NOISE) - by_hand(LOCATION - move, NOISE),
            by_hand(LOCATION, NOISE + move) - by_hand(LOCATION, NOISE - move),
        ]
        expected = np.array(slopes) / 2e-6
        assert_allclose([by_location[i], by_noise[i]], expected, rtol=1e-6, atol=1e-7)
    assert by_location[2] == by_noise[2] == 0  # of a bin without labels


@pytest.mark.parametrize("away", [-1, 1])
def test_tails_lose_no_digits(away):
    """Six spreads above or below, where a difference of numbers near 1 keeps six digits."""
    location, noise = pt.dvector(), pt.dvector()
    seen = np.array([[0, 1, 0]])
    with pm.Model() as model:
        add_labels(seen, pt.as_tensor([-0.5, 0.5]), location, noise)
    value = model.potentials[0].eval({location: [away * 6.0], noise: [1.0]}, mode="FAST_COMPILE")
    assert_allclose(value, np.log(ndtr(-5.5) - ndtr(-6.5) + LEAST), rtol=1e-13)


def test_a_number_far_from_its_bin_has_a_finite_density_and_slope(found):
    far = found(np.full(3, 80.0), np.full(3, 0.1))
    assert all(np.isfinite(x).all() for x in far)
    assert_allclose(far[0], SEEN[:, :3].sum() * np.log(LEAST), rtol=1e-12)


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
