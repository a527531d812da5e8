"""Dirichlet shares in coordinates for NUTS, against SciPy's density and quantiles."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.gradient import jacobian
from scipy.special import expit, ndtri
from scipy.stats import beta, dirichlet

from bayesjudge.core.distributions import _log_shares, log_dirichlet

WEIGHTS = [[1, 1], [0.06, 2, 0.3, 5], [0.27] * 11, [40, 3, 200, 0.1, 1]]


def run(outputs, inputs):
    return function(inputs, outputs, mode="FAST_COMPILE")


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.slow
def test_shares_by_halves_are_dirichlet(weights):
    """Density by the coordinates: that of the shares, and the determinant of their slopes."""
    weights = np.array(weights, float)
    with pm.Model() as model:
        shares = pt.exp(log_dirichlet("share", weights))
    (t,) = model.value_vars
    shares, *_ = model.replace_rvs_by_values([shares])
    found = run([model.logp(), shares, jacobian(shares[:-1], t)], [t])
    gaps = []
    for point in np.random.default_rng(1).normal(0, 0.7, (4, weights.size - 1)):
        density, share, slopes = found(point)
        expected = dirichlet.logpdf(share / share.sum(), weights)
        gaps.append(density - expected - np.linalg.slogdet(slopes)[1])
        assert share.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_rows_of_shares_stand_for_themselves():
    """Two rows of weights: as each alone."""
    weights = np.array([[0.3, 2, 1, 0.5], [4, 1, 1, 7.0]])
    point = np.random.default_rng(2).normal(size=(2, 3))
    made = []
    for rows in (weights, *weights):
        with pm.Model() as model:
            shares = pt.exp(log_dirichlet("share", rows))
        made.append(run([*model.replace_rvs_by_values([shares]), model.logp()], model.value_vars))
    (both, density), *single = (one(at) for one, at in zip(made, (point, *point), strict=True))
    np.testing.assert_allclose(both, [share for share, _ in single])
    assert density == pytest.approx(sum(density for _, density in single))


@pytest.mark.slow
def test_one_part_is_the_whole():
    with pm.Model() as model:
        share = pt.exp(log_dirichlet("share", np.array([3.0])))
    found = run(model.replace_rvs_by_values([share]), model.value_vars)
    assert found(np.empty(0))[0].tolist() == [1.0]


@pytest.mark.slow
def test_a_share_may_be_smaller_than_any_number():
    with pm.Model() as model:
        logs = log_dirichlet("share", np.array([2.0, 0.5, 1.0, 3.0]))
    (logs,) = model.replace_rvs_by_values([logs])
    found, density = run([logs, model.logp()], model.value_vars)(np.full(3, -2000.0))
    assert np.isfinite(found).all()
    assert found.min() < -1000
    assert np.isfinite(density)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.3, 0.3), (1, 1), (5, 5), (1.5, 0.5), (90, 30)])
def test_the_coordinate_of_a_share_is_about_standard_normal(a, b):
    """Median at 0, and up to three standard deviations within a third of one."""
    with pm.Model() as model:
        logs = _log_shares("share", np.array([a], float), np.array([b], float))
        logs = model.replace_rvs_by_values(list(logs))
    share, rest = (float(x[0]) for x in run(logs, model.value_vars)([0.0]))
    assert np.exp(share) == pytest.approx(beta.median(a, b), rel=1e-9)
    assert np.exp(rest) == pytest.approx(beta.median(b, a), rel=1e-9)
    for t in (1, 2, 3):
        _, rest = (float(x[0]) for x in run(logs, model.value_vars)([float(t)]))
        assert abs(-ndtri(beta.cdf(np.exp(rest), b, a)) - t) < 1 / 3


def test_logarithms_of_shares_near_an_end_keep_their_digits():
    with pm.Model() as model:
        logs = _log_shares("share", np.array([0.3, 0.3]), np.array([0.3, 0.3]))
        logs = model.replace_rvs_by_values(list(logs))
    share, rest = run(logs, model.value_vars)([-6.0, 6.0])
    z = rest[0] - share[0]
    assert z > 50
    np.testing.assert_allclose(share, [-z, np.log(expit(z))], atol=1e-12)
    np.testing.assert_allclose(share, rest[::-1], rtol=1e-9, atol=1e-12)
