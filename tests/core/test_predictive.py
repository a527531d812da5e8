"""Groups beside a posterior, and how far priors move it, of draws that nobody had to sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from points import in_place_of_nuts
from refusals import refused
from scipy import stats

import bayesjudge as bj
from bayesjudge.core import predictive

P = bj.prevalence
STATED = {"pass_rate": bj.BetaPrior(2, 2), "ppv": bj.BetaPrior(8, 2), "npv": bj.BetaPrior(3, 4)}
#: 60 outputs without a label, 33 labelled passes of which 26 are good, 17 fails and 13 bad ones.
COUNTS = P.Counts(60, 40, 30, 26, 20, 13, calibration="by_verdict")
pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture(scope="module")
def extended():
    """Three binomial counts with a Beta prior each; few draws from the prior."""
    from pytensor import config

    with (
        in_place_of_nuts(),
        pytest.MonkeyPatch.context() as patch,
        config.change_flags(mode="FAST_COMPILE"),
    ):
        patch.setattr(predictive, "PRIOR_DRAWS", 400)
        model = P.PredictiveValues(**STATED, better_than_chance=False)
        return P.fit(COUNTS, model, random_seed=1).extended(random_seed=1)


def rates_of(fit, group="posterior"):
    return [fit.idata[group][name].to_numpy() for name in STATED]


def test_log_prior_and_likelihood_are_those_of_each_draw(extended):
    for (name, prior), draws in zip(STATED.items(), rates_of(extended), strict=True):
        expected = stats.beta(*prior).logpdf(draws)
        assert_allclose(extended.idata["log_prior"][name], expected, rtol=1e-9)
    passes, ppv, npv = rates_of(extended)
    of_items = 73 * np.log(passes) + 37 * np.log(1 - passes)
    of_items += 26 * np.log(ppv) + 7 * np.log(1 - ppv) + 13 * np.log(npv) + 4 * np.log(1 - npv)
    likelihood = extended.idata["log_likelihood"]["items"]
    assert likelihood.sizes["item"] == 110
    assert_allclose(likelihood.sum("item"), of_items, rtol=1e-9)


def test_replicates_and_prior_draws_are_of_the_model(extended):
    sizes, idata = {"all_pass": 110, "pass_correct": 33, "fail_incorrect": 17}, extended.idata
    for group, draws in (("prior", 400), ("posterior", 480)):
        rates = rates_of(extended, group)
        for (name, n), rate in zip(sizes.items(), rates, strict=True):
            made = idata[f"{group}_predictive"][name].to_numpy()[..., 0]
            assert made.size == draws
            z = (made - n * rate).sum() / np.sqrt((n * rate * (1 - rate)).sum())
            assert abs(z) < 4
    passes, ppv, npv = rates_of(extended, "prior")
    assert_allclose(idata["prior"]["prevalence"], passes * ppv + (1 - passes) * (1 - npv))
    for prior, drawn in zip(STATED.values(), (passes, ppv, npv), strict=True):
        assert stats.kstest(drawn.ravel(), stats.beta(*prior).cdf).pvalue > 1e-4


@pytest.mark.filterwarnings("ignore")
def test_another_prior_moves_means_as_weights_by_hand_do(extended):
    table = bj.prior_sensitivity(extended)
    assert [*table.index] == ["prevalence", "ppv", "npv"]
    for column, other in (("to_flat", 1.0), ("to_jeffreys", 0.5)):
        weight = 1.0
        for prior, x in zip(STATED.values(), rates_of(extended), strict=True):
            weight = weight * x ** (other - prior.alpha) * (1 - x) ** (other - prior.beta)
        for name in table.index:
            x = extended.idata["posterior"][name].to_numpy()
            moved = ((x * weight).sum() / weight.sum() - x.mean()) / x.std()
            assert table.loc[name, column] == pytest.approx(moved, rel=1e-6)


def test_a_density_beside_the_prior_weighs_its_draws():
    """Uniform draws weighed by 2x have mean 2/3 and variance 1/18."""
    import pymc as pm

    with pm.Model() as model:
        x = pm.Uniform("x")
        pm.Potential("x_prior_density", pm.math.log(2 * x))
        pm.Binomial("seen", 10, x, observed=7)
    drawn = predictive.prior_draws(model, np.random.default_rng(1), 500)
    assert [drawn[group].sizes["draw"] for group in ("prior", "prior_predictive")] == [500, 500]
    x, seen = drawn["prior"]["x"].to_numpy(), drawn["prior_predictive"]["seen"].to_numpy()
    assert abs(x.mean() - 2 / 3) < 4 * np.sqrt(1 / 18 / 500)
    assert np.unique(x).size > 450  # of 10,000, weighed
    assert abs((seen - 10 * x).sum()) < 4 * np.sqrt((10 * x * (1 - x)).sum())
    with pm.Model() as narrow:
        pm.Potential("x_prior_density", 1e5 * pm.Uniform("x"))
    with refused(subject="prior draws"):
        predictive.prior_draws(narrow, np.random.default_rng(1), 500)


def test_a_log_likelihood_of_too_many_numbers_is_left_out_with_a_warning(extended, monkeypatch):
    monkeypatch.setattr(predictive, "MOST_NUMBERS", 480 * 110 - 1)
    with pytest.warns(UserWarning, match="no log_likelihood: 110 items times 480 draws"):
        assert predictive._log_likelihood(extended) is None
    assert predictive._thinned(extended).posterior.sizes["draw"] == 120
    monkeypatch.setattr(predictive, "MOST_NUMBERS", 480 * 110)
    assert predictive._log_likelihood(extended) is not None
    monkeypatch.setattr(predictive, "MOST_NUMBERS", 500)  # of 3 times 480
    assert predictive._thinned(extended).posterior.sizes["draw"] == 40


def test_draws_of_a_model_that_was_changed_since_are_refused(extended):
    import pymc as pm

    pm.set_data({"ppv_prior": np.array([9.0, 2.0])}, model=extended.model)
    with refused("ppv_prior", id="data-changed"):
        predictive.require_unchanged(extended)
    pm.set_data({"ppv_prior": np.array([8.0, 2.0])}, model=extended.model)
    predictive.require_unchanged(extended)
