"""The likelihood of the sampler, run by Python, against SciPy's logistic functions."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from bayesjudge.core.compiling import compiling
from bayesjudge.repeats._pymc import log_probability

#: Four cells of two judges; one value is in no cell, one cell has a single answer.
SEEN = np.array([[3, 0, 1, 0], [0, 0, 2, 2], [1, 0, 0, 0], [2, 0, 4, 1]])
ROW = np.array([0, 1, 1, 0])
ETA = np.array([-0.4, 1.3, 0.2, 2.5])
CUTS = np.array([[-1.0, 0.3, 1.7], [-2.1, -0.2, 0.9]])


def by_hand(eta, cuts):
    """Of differences of logistic functions."""
    below = np.column_stack([np.zeros(4), expit(cuts[ROW] - eta[:, None]), np.ones(4)])
    return (SEEN * np.log(np.diff(below, axis=1))).sum()


@pytest.fixture(scope="module")
def found():
    eta, cuts = pt.dvector(), pt.dmatrix()
    with pm.Model(coords={"cell": range(4), "value": range(4)}):
        value = log_probability(SEEN, eta, cuts, ROW)
    found = [value, *pt.grad(value, [eta, cuts])]
    with compiling():
        return pytensor.function([eta, cuts], found, mode="FAST_COMPILE")


def test_it_is_that_of_differences_of_logistic_functions(found):
    assert_allclose(found(ETA, CUTS)[0], by_hand(ETA, CUTS), rtol=1e-12)


def test_its_gradient_is_that_of_small_differences(found):
    _, by_eta, by_cuts = found(ETA, CUTS)
    step = 1e-6
    for i in range(4):
        move = step * np.eye(4)[i]
        slope = (by_hand(ETA + move, CUTS) - by_hand(ETA - move, CUTS)) / (2 * step)
        assert_allclose(by_eta[i], slope, rtol=1e-7, atol=1e-8)
    for at in np.ndindex(CUTS.shape):
        move = np.zeros(CUTS.shape)
        move[at] = step
        slope = (by_hand(ETA, CUTS + move) - by_hand(ETA, CUTS - move)) / (2 * step)
        assert_allclose(by_cuts[at], slope, rtol=1e-7, atol=1e-8)


def test_tails_lose_no_digits(found):
    """Forty logits above every cutpoint differences of logistic functions would be 0."""
    far = np.full(4, 40.0)
    values = found(far, CUTS)
    # far above, log s(c - eta) is c - eta and log s(eta - c) is 0, up to exp(-38)
    low = SEEN[:, 0] @ (CUTS[ROW, 0] - 40)
    middle = sum(
        SEEN[:, k] @ (CUTS[ROW, k] - 40 + np.log(-np.expm1(CUTS[ROW, k - 1] - CUTS[ROW, k])))
        for k in (1, 2)
    )
    assert_allclose(values[0], low + middle, rtol=1e-12)
    assert np.isfinite(np.concatenate([v.ravel() for v in values[1:]])).all()
