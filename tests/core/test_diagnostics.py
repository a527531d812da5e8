"""Sampled means against exact ones."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from bayesjudge.core.convergence import _normal_scores, ess_bulk, ess_tail, mcse_mean, r_hat
from bayesjudge.core.diagnostics import against_exact, gate


def drawn(means, shape=(4, 1000)):
    """Independent draws around each mean; a mean is off by its own Monte Carlo error."""
    values = np.random.default_rng(1).normal(size=(*shape, len(means)))
    values = (values - values.mean(axis=(0, 1))) / values.std(axis=(0, 1)) + means
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), values)},
        coords={"system": [f"s{i}" for i in range(len(means))]},
    )
    return xr.DataTree.from_dict({"posterior": posterior})


ERROR = 1 / np.sqrt(4000)


def test_the_furthest_mean_is_told_in_monte_carlo_errors():
    line, cautions = against_exact(drawn([0.0, 2 * ERROR]), {"prevalence": np.zeros(2)})
    assert line.startswith("the mean of prevalence[s1] is 2.0 Monte Carlo errors from the exact")
    assert line.endswith("the furthest of 2")
    assert cautions == ()


def test_a_mean_that_is_far_off_is_a_caution():
    _, (caution,) = against_exact(drawn([0.0, 6 * ERROR]), {"prevalence": np.zeros(2)})
    assert caution.id == "off-exact"
    assert "prevalence[s1]" in caution.text


@pytest.mark.slow
def test_the_furthest_of_many_may_be_further_off_by_chance():
    off = np.zeros(300)
    off[7] = 4.5 * ERROR
    assert not against_exact(drawn(off), {"prevalence": np.zeros(300)})[1]
    assert against_exact(drawn(off[7:8]), {"prevalence": np.zeros(1)})[1]


def test_nothing_is_told_where_nothing_is_exact():
    assert against_exact(drawn([0.0]), {}) == ("", ())
    assert against_exact(drawn([0.0]), {"prevalence": np.array([np.nan])}) == ("", ())


@pytest.mark.parametrize("draws", [1, 3, 4])
def test_a_few_draws_have_not_converged(draws):
    """Diagnostics take four draws of a chain: of fewer an error of pandas was all that was told."""
    tree = drawn([0.5], shape=(4, draws))
    rng = np.random.default_rng(2)
    stats = {"diverging": np.zeros((4, draws), bool), "energy": rng.normal(size=(4, draws))}
    tree["sample_stats"] = xr.Dataset({k: (("chain", "draw"), v) for k, v in stats.items()})
    (caution,) = gate(tree, ("prevalence",))
    assert caution.id == "not-converged"
    assert (caution.numbers.get("draws") == draws) == (draws < 4)


# The same numbers as ArviZ's ---------------------------------------------------------------------


def chains(seed):
    """Autoregressive chains of any length, rounded, skewed or apart, by turns."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6), rng.integers(3, 60 if seed % 2 else 600)
    values, last = rng.normal(size=shape), rng.uniform(-0.99, 0.999)
    for i in range(1, shape[1]):
        values[:, i] += last * values[:, i - 1]
    if seed % 3 == 0:
        values = values.round(1)
    if seed % 5 == 0:
        values = np.exp(values)
    return values + (seed % 7 == 0) * rng.normal(size=(shape[0], 1))


@pytest.mark.slow
def test_diagnostics_are_those_of_arviz():
    from arviz_stats.base import array_stats

    for values in map(chains, range(300)):
        expected = [
            array_stats.rhat(values) if len(values) > 1 else np.nan,
            array_stats.ess(values, method="bulk"),
            array_stats.ess(values, method="tail", prob=(0.05, 0.95)),
            array_stats.mcse(values, method="mean"),
        ]
        found = [f(values) for f in (r_hat, ess_bulk, ess_tail, mcse_mean)]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_draws_that_say_nothing_have_no_diagnostics():
    for values in (np.zeros((4, 3)), np.array([[0.0, 1, 2, 3, np.nan]] * 4)):
        assert np.isnan([f(values) for f in (r_hat, ess_bulk, ess_tail, mcse_mean)]).all()
    assert ess_bulk(np.ones((4, 100))) == 400


def test_ranks_become_normal_quantiles_by_bloms_formula():
    draws = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]])
    ranks = np.array([[3, 1.5, 4], [1.5, 5, 6]])
    expected = norm.ppf((ranks - 0.375) / 6.25)
    np.testing.assert_allclose(_normal_scores(draws), expected, rtol=1e-12)
