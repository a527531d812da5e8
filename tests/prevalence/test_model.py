"""NUTS against quadrature, the likelihood against its formula, and the gate."""

import signal
import threading

import numpy as np
import pytest
from oracles import assert_mc_mean, assert_mc_quantile, assert_mc_sd, flat_model
from scipy import stats

import bayesjudge as bj
from bayesjudge.compiled import compile_model
from bayesjudge.core.sampling import sample_draws
from bayesjudge.prevalence.model import default_model
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
RNG = np.random.default_rng(2026)

#: n, k, m1, a1, m0, a0: ends of every range, tiny, skewed, surprising and ordinary.
EDGES = [
    (1000, 0, 50, 47, 50, 50),
    (1000, 1000, 50, 50, 50, 44),
    (1000, 620, 40, 40, 60, 45),
    (1000, 620, 60, 52, 1, 1),
    (1000, 620, 1, 1, 60, 44),
    (300, 200, 25, 25, 25, 25),
    (1000, 330, 100, 92, 100, 68),
    (1000, 905, 100, 90, 100, 71),
    (30, 18, 6, 5, 6, 4),
    (1000, 950, 10, 10, 10, 2),
]


def random_counts():
    theta, q1, q0 = RNG.uniform(0.05, 0.95), RNG.uniform(0.6, 1), RNG.uniform(0.5, 1)
    n, m = int(RNG.choice([100, 1000, 5000])), int(RNG.choice([20, 100, 400]))
    m1 = RNG.binomial(m, theta)
    k = RNG.binomial(n, theta * q1 + (1 - theta) * (1 - q0))
    return n, k, m1, RNG.binomial(m1, q1), m - m1, RNG.binomial(m - m1, q0)


DATA = [*EDGES, *(random_counts() for _ in range(12))]


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("design", "counts"),
    [
        *(("by_truth", one) for one in EDGES[::2]),
        *(("random", one) for one in DATA[::6]),
        *(("by_verdict", one) for one in DATA[3::6]),
        *(
            pytest.param("by_truth", one, marks=pytest.mark.study)
            for one in DATA
            if one not in EDGES[::2]
        ),
        *(pytest.param("random", one, marks=pytest.mark.study) for one in DATA[3::6]),
        *(pytest.param("by_verdict", one, marks=pytest.mark.study) for one in DATA[::6]),
    ],
    ids=str,
)
def test_nuts_is_the_exact_posterior(design, counts):
    counts = P.Counts(*counts, calibration=design)
    fit = P.fit(counts, random_seed=5)
    draws = fit.idata["posterior"]["prevalence"]
    exact = posterior_of(counts, default_model(counts))
    assert_mc_mean(draws, exact.mean, sigmas=4)
    assert_mc_sd(draws, exact.sd, sigmas=4)
    for prob in (0.025, 0.5, 0.975):
        assert_mc_quantile(draws, prob, float(exact.quantile(prob)), sigmas=4)


@pytest.mark.sampling
def test_a_fit_is_held_against_the_exact_posterior(monkeypatch):
    counts = P.Counts(1000, 620, 40, 40, 60, 45, calibration="by_truth")
    fit = P.fit(counts, draws=400, random_seed=5)
    assert "Monte Carlo errors from the exact one" in bj.report(fit)
    assert "off-exact" not in bj.report(fit)
    # a planted fault: means of another posterior
    other = P.Counts(1000, 650, 40, 40, 60, 45, calibration="by_truth")
    means = default_model(other)._exact_means(other)
    monkeypatch.setattr(P.ErrorRates, "_exact_means", lambda self, data: means)
    assert P.fit(counts, draws=400, random_seed=5).cautions[0].id == "off-exact"


@pytest.mark.sampling
@pytest.mark.parametrize(
    "models",
    [
        (P.ErrorRates.jeffreys(), P.PredictiveValues(ppv=bj.BetaPrior(), npv=bj.BetaPrior())),
        pytest.param(
            (P.ErrorRates(better_than_chance=False), P.PredictiveValues(better_than_chance=False)),
            marks=pytest.mark.study,
        ),
        (
            P.ErrorRates(bj.BetaPrior(2, 5), sensitivity=bj.BetaPrior.worth(0.9, 20)),
            P.PredictiveValues(ppv=bj.BetaPrior(3, 2)),
        ),
    ],
    ids=["Jeffreys", "unrestricted", "informed"],
)
@pytest.mark.parametrize(
    "design",
    [
        pytest.param("by_truth", marks=pytest.mark.study),
        "random",
        pytest.param("by_verdict", marks=pytest.mark.study),
    ],
)
def test_priors_reach_the_sampler_as_they_reach_the_quadrature(design, models):
    counts = P.Counts(60, 40, 9, 7, 8, 5, calibration=design)
    model = models[counts.predictive]
    fit = P.fit(counts, model, random_seed=6, target_accept=0.95)
    exact = posterior_of(counts, model)
    assert fit.converged
    assert_mc_mean(fit.idata["posterior"]["prevalence"], exact.mean)
    for prob in (0.025, 0.975):
        assert_mc_quantile(fit.idata["posterior"]["prevalence"], prob, float(exact.quantile(prob)))


@pytest.mark.sampling
@pytest.mark.usefixtures("uncompiled")
def test_likelihood_is_what_the_docstring_says():
    counts = P.Counts(50, 30, 12, 10, 8, 6, calibration="random")
    theta, q1, q0 = 0.7, 0.85, 0.6
    expected = (
        stats.binom.logpmf(30, 50, theta * q1 + (1 - theta) * (1 - q0))
        + stats.binom.logpmf(10, 12, q1)
        + stats.binom.logpmf(6, 8, q0)
        + stats.binom.logpmf(12, 20, theta)
        + sum(stats.beta(2, 3).logpdf(x) for x in (theta, q1, q0))
    )
    prior = bj.BetaPrior(2, 3)
    model = P.build_model(counts, flat_model(counts, prior, better_than_chance=False))
    point = {
        f"{name}_logodds__": np.log(x / (1 - x))
        for name, x in {"prevalence": theta, "sensitivity": q1, "specificity": q0}.items()
    }
    np.testing.assert_allclose(model.compile_logp(jacobian=False)(point), expected, rtol=1e-10)


@pytest.mark.sampling
def test_much_data_gives_the_delta_method():
    n, m = 400_000, 100_000
    counts = P.Counts(n, int(0.62 * n), m, int(0.9 * m), m, int(0.7 * m), calibration="by_truth")
    fit = P.fit(counts, random_seed=1)
    value, low, high = P.rogan_gladen(counts, interval="delta")["prevalence"]
    draws = fit.idata["posterior"]["prevalence"]
    assert_mc_mean(draws, value)
    assert_mc_sd(draws, (high - low) / 2 / 1.959964)


@pytest.mark.sampling
def test_ten_billion_items_do_not_wrap_around():
    counts = P.Counts(10**10, 62 * 10**8, 100, 90, 100, 70, calibration="by_truth")
    fit = P.fit(counts, random_seed=1)
    assert fit.draws("pass_rate").mean() == pytest.approx(0.62, abs=1e-4)
    assert_mc_mean(
        fit.idata["posterior"]["prevalence"], posterior_of(counts, flat_model(counts)).mean
    )


@pytest.mark.sampling
def test_systems_share_a_model_and_nothing_else():
    table = P.simulate(systems=["a", "b"], prevalence=[0.3, 0.8], random_seed=4)
    counts = P.Counts.from_frame(table, calibration="random", by="system")
    fit = P.fit(counts, random_seed=1)
    for i, name in enumerate("ab"):
        exact = posterior_of(counts.system(name), flat_model(counts))
        assert_mc_mean(fit.idata["posterior"]["prevalence"].isel(system=i), exact.mean)


def sampled(counts):
    """Draws without the gate that a fit has."""
    compiled = compile_model(default_model(counts)._sampling_form(counts))
    settings = {"draws": 1000, "tune": 1000, "chains": 4, "target_accept": 0.9}
    return sample_draws(compiled, random_seed=1, **settings)["posterior"]["prevalence"]


@pytest.mark.study
def test_many_systems_share_a_compiled_model():
    names = list("abcdefgh")
    table = P.simulate(systems=names, prevalence=np.linspace(0.2, 0.9, 8), random_seed=4)
    counts = P.Counts.from_frame(table, calibration="by_verdict", by="system")
    draws = sampled(counts)
    assert np.array_equal(draws, sampled(counts))
    for i, name in enumerate(names):
        exact = posterior_of(counts.system(name), default_model(counts))
        assert_mc_mean(draws.isel(system=i), exact.mean)


@pytest.mark.sampling
def test_a_failed_gate_is_seen_everywhere_and_strict_raises():
    counts = P.Counts(100, 60, 10, 9, 10, 7, calibration="random")
    with pytest.warns(bj.ConvergenceWarning, match="effective draws"):
        fit = P.fit(counts, random_seed=1, draws=20, tune=20)
    assert not fit.converged
    assert fit.cautions[0].id == "not-converged"
    assert "not-converged" in bj.report(fit)
    assert "not-converged" in {caution.id for caution in fit.estimate().cautions}
    with pytest.raises(bj.ConvergenceError, match="effective draws"):
        P.fit(counts, random_seed=1, draws=20, tune=20, strict=True)


def test_settings_out_of_range_are_refused_together():
    counts = P.Counts(100, 60, 10, 9, 10, 7, calibration="random")
    with pytest.raises(bj.InputError) as error:
        P.fit(counts, draws=0, chains=-1, target_accept=2)
    assert len(error.value.problems) == 3


@pytest.mark.sampling
def test_a_generator_is_a_seed_that_moves_on():
    counts = P.Counts(100, 60, 10, 9, 10, 7, calibration="random")
    rng = np.random.default_rng(1)
    one, two = (P.fit(counts, random_seed=rng).draws("prevalence") for _ in range(2))
    again = P.fit(counts, random_seed=np.random.default_rng(1)).draws("prevalence")
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)


@pytest.mark.study
def test_prior_draws_keep_to_the_restriction():
    counts = P.Counts(100, 60, 10, 9, 10, 7, calibration="by_truth")
    prior = P.fit(counts, random_seed=1).extended(random_seed=1).idata["prior"]
    youden = prior["sensitivity"] + prior["specificity"] - 1
    assert float(youden.min()) > 0
    # on the triangle q0 + q1 > 1 each rate has mean 2/3 and variance 1/18; draws repeat a little,
    # having been resampled from 20 times as many
    error = np.sqrt(1 / 18 / 1000) * 1.05
    assert abs(float(prior["sensitivity"].mean()) - 2 / 3) < 5 * error
    assert abs(float(prior["specificity"].mean()) - 2 / 3) < 5 * error


@pytest.mark.sampling
def test_a_compiled_model_samples_the_posterior():
    counts = P.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    exact = posterior_of(counts, flat_model(counts))
    draws = sampled(counts)
    assert_mc_mean(draws, exact.mean)
    assert_mc_sd(draws, exact.sd)


@pytest.mark.sampling
def test_ctrl_c_while_sampling_leaves_no_half_of_a_fit():
    counts = P.Counts(1000, 620, 100, 90, 100, 70, calibration="random")
    P.fit(counts, random_seed=1, progress=False)  # from now on it is compiled
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell ignore it
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            P.fit(counts, draws=3_000_000, tune=100, chains=2, random_seed=1, progress=False)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
