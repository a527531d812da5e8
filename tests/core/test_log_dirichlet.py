"""Coordinates for the sampler have the density of the prior that they stand for."""

import numpy as np
import pymc as pm
import pytest
from numpy.testing import assert_allclose
from scipy.stats import dirichlet

from bayesjudge.compiled import compiling
from bayesjudge.core.distributions import log_dirichlet

pytestmark = pytest.mark.usefixtures("uncompiled")

WEIGHT = np.array([[2.0, 0.5, 1.0, 3.0], [1.0, 4.0, 0.7, 1.0]])
TABLES = 2


@pytest.fixture(scope="module")
def split():
    """Log shares and prior density at logits of the splits."""
    with compiling(), pm.Model() as model:
        logs = log_dirichlet("share", WEIGHT, np.array([0, 1]), TABLES)
        (logs,) = model.replace_rvs_by_values([logs])
        return model.compile_fn([logs, model.logp()], mode="FAST_COMPILE")


def shares_at(split, x):
    logs, density = split({"share_logits": x})
    return np.exp(logs).transpose(0, 2, 1), float(density)  # table, row, share


def test_splits_have_the_density_of_a_dirichlet(split):
    """With the change of variables, measured by moving each logit."""
    rng, gaps = np.random.default_rng(1), []
    for _ in range(3):
        x = rng.normal(0, 1.5, (TABLES, 6))
        shares, density = shares_at(split, x)
        assert_allclose(shares.sum(axis=2), 1, rtol=1e-12)
        columns = []
        for i in range(x.size):
            step = np.zeros(x.size)
            step[i] = 1e-6
            up, down = (shares_at(split, x + s * step.reshape(x.shape))[0] for s in (1, -1))
            columns.append((up - down)[..., :-1].ravel() / 2e-6)
        log_prior = sum(
            dirichlet(WEIGHT[row]).logpdf(shares[t, row] / shares[t, row].sum())
            for t in range(TABLES)
            for row in range(len(WEIGHT))
        )
        gaps.append(log_prior + np.linalg.slogdet(np.array(columns))[1] - density)
    assert_allclose(gaps, gaps[0], atol=1e-6)


def test_the_first_split_is_the_share_that_is_named(split):
    """Its logit, counted from the prior's own, moves no other proportion of its row."""
    x = np.zeros((TABLES, 6))
    before, _ = shares_at(split, x)
    x[0, 3] = 2.0  # of the second row
    after, _ = shares_at(split, x)
    one, other = before[0, 1], after[0, 1]
    assert_allclose(np.log(other[1] / (1 - other[1])) - np.log(one[1] / (1 - one[1])), 2)
    assert_allclose(np.delete(other, 1) / (1 - other[1]), np.delete(one, 1) / (1 - one[1]))
    assert_allclose(one[1], WEIGHT[1, 1] / WEIGHT[1].sum())
    assert_allclose(after[0, 0], before[0, 0])


def test_a_share_may_be_smaller_than_any_number(split):
    x = np.full((TABLES, 6), -2000.0)
    logs, density = split({"share_logits": x})
    assert np.isfinite(logs).all()
    assert np.isfinite(density)
