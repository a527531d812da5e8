"""Calibration studies: pass what is right, catch what is wrong, find the old results again."""

from functools import partial

import numpy as np
import pytest
from lab import toys
from refusals import refused

import bayesjudge as bj
from bayesjudge import lab
from bayesjudge.core.errors import InputError

RATES = ("prevalence", "sensitivity", "specificity")


def study(posterior=toys.posterior, **changes):
    settings = {
        "draw_prior": toys.draw_prior,
        "draw_data": toys.draw_data,
        "simulations": 500,
        "random_seed": 1,
        "workers": 1,
    }
    return lab.sbc(posterior, **{**settings, **changes})


@pytest.mark.slow
def test_a_conjugate_posterior_passes():
    table = study(also=toys.log_likelihood).uniformity()
    assert list(table.index) == ["mean", "log_likelihood"]
    assert table["uniform"].all()
    assert (table["shift"].abs() < 4).all()
    assert ((table["spread"] - 1).abs() < 4 * table["spread_error"]).all()


@pytest.mark.slow
def test_calibrated_studies_raise_alarms_as_seldom_as_promised():
    runs, level = 60, 0.1
    alarms = [
        not study(simulations=40, random_seed=i, retained=19)
        .uniformity(false_alarm=level)["uniform"]
        .all()
        for i in range(runs)
    ]
    assert np.mean(alarms) < level + 4 * np.sqrt(level * (1 - level) / runs)


@pytest.mark.slow
def test_a_posterior_that_is_too_narrow_is_caught():
    row = study(toys.narrow).uniformity().loc["mean"]
    assert not row["uniform"]
    assert row["spread"] > 1 + 4 * row["spread_error"]


@pytest.mark.slow
def test_a_posterior_that_is_shifted_is_caught():
    row = study(toys.shifted).uniformity().loc["mean"]
    assert not row["uniform"]
    assert row["shift"] < -4  # it lies too high, so that the truth has few draws below


@pytest.mark.slow
def test_a_posterior_that_ignores_the_data_is_caught_by_the_likelihood_only():
    table = study(toys.prior_again, also=toys.log_likelihood).uniformity()
    assert table["uniform"].to_dict() == {"mean": True, "log_likelihood": False}


def test_too_few_effective_draws_show():
    row = study(toys.stuck, simulations=20).uniformity().loc["mean"]
    assert row["least_ess"] < 99


@pytest.mark.slow
def test_ties_are_broken_at_random():
    study_of_ones = study(
        lambda data, rng: {"mean": np.zeros((1, 100))}, draw_prior=lambda rng: {"mean": 0.0}
    )
    assert study_of_ones.uniformity().loc["mean", "uniform"]
    assert np.ptp(study_of_ones.ranks("mean")) > 90


def test_kept_draws_come_from_all_chains_and_all_along():
    def steps(data, rng):
        return {"mean": np.repeat(np.arange(4.0), 100).reshape(2, 200)}

    found = study(steps, draw_prior=lambda rng: {"mean": 1.5}, simulations=3)
    assert set(found.ranks("mean")) <= {49, 50}


def test_arrays_are_split_into_labelled_scalars():
    table = study(
        lambda data, rng: {"pair": rng.normal(size=(2, 100, 2))},
        draw_prior=lambda rng: {"mean": 0.0, "pair": rng.normal(size=2)},
        simulations=3,
    ).table
    assert list(table["quantity"]) == ["pair[0]", "pair[1]"] * 3


def test_mismatches_are_named_together():
    def posterior(data, rng):
        return {"mean": rng.normal(size=(1, 50)), "other": rng.normal(size=(1, 100))}

    with refused("mean", "other", 50, 99, subject="sbc"):
        study(posterior)


# The model of a module ----------------------------------------------------------------------------


def read(table):
    return bj.prevalence.Counts.from_frame(table, calibration="by_truth")


def draw_rates(rng):
    return {
        name: float(rng.uniform(low, 1)) for name, low in zip(RATES, (0, 0.6, 0.6), strict=True)
    }


def by_quadrature(data, rng):
    """The exact mean, as if it were draws: the seeds give this study the other one's data."""
    return {"prevalence": np.full((1, 100), bj.prevalence.exact(data)["prevalence"].value)}


@pytest.mark.study
def test_nuts_samples_each_data_set_with_one_compiled_model():
    """Posterior means are those of quadrature, data set by data set."""
    fixed = {"items": 300, "labelled": 100, "calibration": "by_truth"}
    settings = {
        "draw_prior": draw_rates,
        "draw_data": lab.Simulated(bj.prevalence.simulate, read, fixed=fixed),
        "simulations": 12,
    }
    nuts = lab.Nuts(bj.prevalence.build_model, bj.prevalence.ErrorRates(), RATES)
    found = study(nuts, **settings).table.query("quantity == 'prevalence'")
    exact = study(by_quadrature, **settings).table["mean"].to_numpy()
    error = (found["sd"] / np.sqrt(found["ess"])).to_numpy()
    assert (found["ess"] >= nuts.min_ess).all()
    assert found["mean"].std() > 0.1
    assert (np.abs(found["mean"].to_numpy() - exact) < 5 * error).all()


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_prior_draws_are_the_models_own():
    counts = bj.prevalence.Counts(10, 5, 5, 3, 5, 3, calibration="by_verdict")
    model = bj.prevalence.PredictiveValues(
        pass_rate=bj.BetaPrior(8, 2), ppv=bj.BetaPrior(3, 1), better_than_chance=False
    )
    names = ("prevalence", "pass_rate", "ppv", "npv")
    draw = lab.PriorDraws(bj.prevalence.build_model, counts, model, names)
    draws = [draw(np.random.default_rng(i)) for i in range(2000)]
    means = {name: float(np.mean([d[name] for d in draws])) for name in names}
    expected = {"pass_rate": 0.8, "ppv": 0.75, "npv": 0.5, "prevalence": 0.8 * 0.75 + 0.2 * 0.5}
    for name in names:
        noise = np.std([d[name] for d in draws]) / np.sqrt(2000)
        assert abs(means[name] - expected[name]) < 5 * noise, name
    for d in draws[:10]:  # derived ones belong to the same draw
        blend = d["pass_rate"] * d["ppv"] + (1 - d["pass_rate"]) * (1 - d["npv"])
        assert d["prevalence"] == pytest.approx(float(blend))
    assert draw(np.random.default_rng(3)) == draws[3]


def test_prior_draws_refuse_a_prior_that_a_potential_shapes():
    import pymc as pm

    def build_model(data, model):
        with pm.Model() as made:
            pm.Potential("rate_prior_density", pm.Uniform("rate"))
        return made

    draw = lab.PriorDraws(build_model, None, bj.prevalence.ErrorRates(), ("rate",))
    with pytest.raises(InputError, match=r"_prior_density.*write draw_prior"):
        draw(np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_prior_draws_are_of_a_judge_better_than_chance():
    counts = bj.prevalence.Counts(10, 5, 5, 3, 5, 3, calibration="by_truth")
    draw = lab.PriorDraws(bj.prevalence.build_model, counts, bj.prevalence.ErrorRates(), RATES)
    draws = np.array([[draw(np.random.default_rng(i))[n] for n in RATES] for i in range(2000)])
    assert (draws[:, 1] + draws[:, 2] > 1).all()
    # on the triangle above 1 each rate has mean 2/3 and variance 1/18
    means = draws.mean(axis=0)
    noise = np.sqrt(np.array([1 / 12, 1 / 18, 1 / 18]) / 2000)
    assert (np.abs(means - [1 / 2, 2 / 3, 2 / 3]) < 5 * noise).all()


def test_simulated_hands_on_what_the_simulator_takes():
    draw = lab.Simulated(
        bj.prevalence.simulate,
        partial(bj.prevalence.Counts.from_frame, calibration="random"),
        fixed={"items": 40, "labelled": 10},
        names=("prevalence",),
    )
    counts = draw({"prevalence": 1.0, "ppv": 0.5}, np.random.default_rng(1))
    assert (counts.test_n, counts.correct_n, counts.incorrect_n) == (40, 10, 0)
