"""`build_model` is the model of the text, and what NUTS runs is the same density."""

import itertools

import numpy as np
import pymc as pm
import pytest
from contract import gaps_between, items_and_likelihood
from pymc.model.transform.conditioning import remove_value_transforms
from refusals import refused
from scipy.special import logsumexp
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.compiled import compiling
from bayesjudge.core.distributions import GreaterBeta, pair_above_one

P = bj.prevalence
B = bj.BetaPrior
ONE = (60, 40, 9, 7, 8, 5)
TWO = ([60, 90], [40, 50], [9, 12], [7, 11], [8, 10], [5, 9])
EXTERNAL = np.array([[7, 3], [6, 3], [5, 4], [4, 2]])
INFORMED = {"sensitivity": B.worth(0.9, 20), "specificity": B(3, 2)}
EACH = P.ErrorRates({"a": B(2, 1), "b": B(1, 3)}, **INFORMED)


def several(calibration, dim="system", **more):
    return P.Counts(*TWO, calibration=calibration, systems="ab", dim=dim, **more)


SETTINGS = {
    "one system": (P.Counts(*ONE, calibration="by_truth"), P.ErrorRates(**INFORMED)),
    "random": (P.Counts(*ONE, calibration="random"), P.ErrorRates.jeffreys()),
    "a prior each": (several("separate"), EACH),
    "external": (several("by_verdict", external_labels=EXTERNAL), P.ErrorRates(**INFORMED)),
    "by verdict": (several("by_verdict"), P.PredictiveValues(B(2, 3), B(4, 2), B(3, 3))),
    "full": (several("random"), P.ErrorRates(**INFORMED, pooling="full")),
    "partial": (several("by_truth"), P.PooledErrorRates(**INFORMED, spread=0.5)),
    "partial, unrestricted": (several("random"), P.PooledErrorRates(better_than_chance=False)),
    "strata": (several("random", "stratum"), P.PooledErrorRates(**INFORMED)),
    "propensity": (
        several("known_propensity", "stratum", propensity=[0.2, 0.3]),
        P.PooledErrorRates(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_sampler_runs_the_same_density(setting):
    counts, model = SETTINGS[setting]
    gaps, off = gaps_between(P.build_model(counts, model), model._sampling_form(counts), points=3)
    assert np.ptp(gaps) < 1e-5
    assert off < 1e-9


@pytest.mark.slow
def test_another_density_is_noticed():
    """The comparison sees a prior that differs, and a Jacobian that is missing."""
    counts, model = SETTINGS["full"]
    other = P.ErrorRates(INFORMED["sensitivity"], **INFORMED, pooling="full")
    gaps, _ = gaps_between(P.build_model(counts, other), model._sampling_form(counts), points=5)
    assert np.ptp(gaps) > 0.1
    form = model._sampling_form(counts)
    with form:
        pm.Potential("jacobian forgotten", -pm.math.log(form["sensitivity"]))
    gaps, _ = gaps_between(P.build_model(counts, model), form, points=5)
    assert np.ptp(gaps) > 0.1


@pytest.mark.slow
def test_names_and_dims():
    counts, model = SETTINGS["strata"]
    made = P.build_model(counts, model)
    free = {str(v.name) for v in made.free_RVs}
    assert free == {
        *("typical_prevalence", "typical_sensitivity", "typical_specificity"),
        *("prevalence", "sensitivity", "specificity"),
        *("prevalence_spread", "sensitivity_spread", "specificity_spread"),
    }
    assert not made.potentials
    for v in (*made.basic_RVs, *made.deterministics, *made.data_vars):
        assert len(made.named_vars_to_dims.get(v.name, ())) == v.ndim, v.name


# Prior draws ------------------------------------------------------------------------------------


def restricted_means(first, second, n=400_000):
    """Means of two Beta variables given that their sum exceeds 1, by quadrature on a grid."""
    u = (np.arange(n) + 0.5) / n
    s = beta(*first).ppf(u)
    weight = beta(*second).sf(1 - s)
    c = beta(*second).ppf(u)
    other = beta(*first).sf(1 - c)
    return np.average(s, weights=weight), np.average(c, weights=other)


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        pytest.param((B(), B()), (2 / 3, 2 / 3), marks=pytest.mark.study, id="flat"),
        pytest.param(
            *[(B.worth(0.95, 100),) * 2, (0.9412, 0.9412)], marks=pytest.mark.study, id="worth"
        ),
        pytest.param((B.jeffreys(), B(2, 3)), None, id="unlike"),
    ],
)
def test_prior_draws_respect_the_restriction(priors, expected, uncompiled):
    """What gave a sensitivity of .745 whatever the prior."""
    model = P.ErrorRates(sensitivity=priors[0], specificity=priors[1])
    made = P.build_model(several("by_truth"), model)
    with compiling():
        draws = pm.sample_prior_predictive(2000, model=made, random_seed=1)["prior"]
    pair = draws["sensitivity"].to_numpy().ravel(), draws["specificity"].to_numpy().ravel()
    assert (pair[0] + pair[1] > 1).all()
    right = restricted_means(*map(tuple, priors))
    if expected is not None:
        np.testing.assert_allclose(right, expected, atol=1e-4)
    for values, mean in zip(pair, right, strict=True):
        assert abs(values.mean() - mean) < 4 * values.std() / np.sqrt(values.size)


@pytest.mark.study
def test_python_draws_as_numba_does():
    a, b, c, d = 3.0, 2.0, 2.0, 4.0
    rng = np.random.default_rng(1)
    drawn = GreaterBeta.rv_op.rng_fn(rng, np.array([a, a]), b, c, d, None)
    assert drawn.shape == (2,)
    many = GreaterBeta.rv_op.rng_fn(rng, a, b, c, d, (20_000,))
    with compiling():
        numba = pm.draw(GreaterBeta.dist(a, b, c, d), 20_000, random_seed=2)
    right, _ = restricted_means((a, b), (d, c))
    for values in (many, numba):
        assert abs(values.mean() - right) < 4 * values.std() / np.sqrt(20_000)
    with pytest.raises(ValueError, match="all but exclude a judge better than chance"):
        GreaterBeta.rv_op.rng_fn(rng, 1e-3, 1e3, 1e3, 1e-3, None)


@pytest.mark.slow
def test_an_intervention_reaches_the_pass_rate(uncompiled):
    """Fixing sensitivity and specificity left the pass rate at .620."""
    made = P.build_model(P.Counts(*ONE, calibration="by_truth"))
    fixed = pm.do(made, {"sensitivity": 0.5, "specificity": 0.9})
    prior = pm.sample_prior_predictive(100, model=fixed, random_seed=1)["prior"]
    expected = 0.5 * prior["prevalence"] + 0.1 * (1 - prior["prevalence"])
    np.testing.assert_allclose(prior["pass_rate"], expected)
    everything = pm.do(made, {"prevalence": 0.625, "sensitivity": 0.5, "specificity": 0.9})
    assert everything["pass_rate"].eval() == pytest.approx(0.35)


@pytest.mark.study
def test_five_systems_with_strong_priors_have_as_many_prior_draws_as_asked_for():
    """Weights of all systems at once left 3 distinct draws of 1,000."""
    strong = P.ErrorRates(sensitivity=B.worth(0.9, 100), specificity=B.worth(0.8, 100))
    counts = P.Counts(*([n] * 5 for n in ONE), calibration="by_truth", systems="abcde")
    fit = P.fit(counts, strong, random_seed=1)
    prior = fit.extended(random_seed=1).idata["prior"]
    assert len(np.unique(prior["sensitivity"].to_numpy())) == 5 * 1000
    mean = restricted_means(tuple(strong.sensitivity), tuple(strong.specificity))[0]
    drawn = prior["sensitivity"].to_numpy().ravel()
    assert abs(drawn.mean() - mean) < 4 * drawn.std() / np.sqrt(drawn.size)


# The uncollapsed model --------------------------------------------------------------------------

TINY = {
    "random": (P.Counts(4, 3, 2, 1, 2, 1, calibration="random"), None),
    "by_truth": (P.Counts(4, 3, 2, 1, 2, 1, calibration="by_truth"), None),
    "by_verdict": (P.Counts(4, 3, 2, 1, 2, 1, calibration="by_verdict"), None),
    "external": (
        P.Counts(3, 1, 2, 2, 1, 1, calibration="random", external_labels=[2, 1, 2, 2]),
        None,
    ),
    "full": (
        P.Counts([2, 1], [1, 1], [1, 2], [1, 1], [2, 1], [1, 1],
                 calibration="random", systems="ab"),
        P.ErrorRates(pooling="full"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_summing_the_truths_out_gives_the_collapsed_model(name):
    counts, model = TINY[name]
    collapsed = P.build_model(counts, model)
    full = P.build_model(counts, model, collapsed=False)
    (truth,) = [v for v in full.free_RVs if v.name == "item_truth"]
    size = int(np.sum(counts.test_n))
    at = {
        "collapsed": collapsed.compile_logp(jacobian=False, mode="FAST_COMPILE"),
        "full": full.compile_logp(jacobian=False, mode="FAST_COMPILE"),
    }
    rng, gaps = np.random.default_rng(3), []
    for _ in range(3):
        start = collapsed.initial_point()
        point = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()}
        truths = itertools.product([0, 1], repeat=size)
        logs = [at["full"]({**point, str(truth.name): np.array(t)}) for t in truths]
        gaps.append(at["collapsed"](point) - logsumexp(logs))
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)  # the binomial coefficients


def test_a_design_with_a_likelihood_by_counts_has_no_uncollapsed_model():
    design = P.LabelDesign(
        "own", "of my own", frozenset({"error_rates"}), False,
        P.DESIGNS["separate"].assumption, (), likelihood=lambda counts, rates: None,
    )  # fmt: skip
    counts = P.Counts(*ONE, calibration=design)
    with refused("own", subject="prevalence.build_model"):
        P.build_model(counts, P.ErrorRates(), collapsed=False)


# The log-likelihood by item ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_items_add_up_to_the_likelihood(setting):
    """Item by item, the log-likelihood is that of the counts but for binomial coefficients."""
    counts, model = SETTINGS[setting]
    whole, summed, items = items_and_likelihood(P.build_model(counts, model), model, counts)
    np.testing.assert_allclose(whole - summed, (whole - summed)[0], atol=1e-8)
    external = 0 if counts.external_labels is None else EXTERNAL[[0, 2]].sum()
    assert items == np.sum(counts.test_n) + np.sum(counts.labelled_n) + external


@pytest.mark.slow
def test_pair_above_one_is_a_density_of_both():
    """Joint density proportional to the two Betas where they sum to more than 1, 0 elsewhere."""
    with pm.Model() as made:
        first, second = pair_above_one(("first", "second"), ((3.0, 2.0), (2.0, 4.0)))
    density = remove_value_transforms(made).compile_logp(mode="FAST_COMPILE")
    assert {str(first.name), str(second.name)} == {"first", "second"}
    points = [(0.8, 0.5), (0.6, 0.9), (0.99, 0.02)]
    gaps = [
        density({"first": x, "second": y}) - beta(3, 2).logpdf(x) - beta(2, 4).logpdf(y)
        for x, y in points
    ]
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)
    assert density({"first": 0.3, "second": 0.5}) == -np.inf
