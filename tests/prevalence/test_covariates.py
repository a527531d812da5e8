"""Rates that depend on covariates: against strata, against importance sampling, and known truth."""

import sys

import numpy as np
import pandas as pd
import pytest
from pymc.model.transform.conditioning import remove_value_transforms
from refusals import refused
from scipy.special import expit, logit, xlog1py, xlogy

import bayesjudge as bj
from bayesjudge.prevalence._covariates import design_of_strata

P = bj.prevalence
RATES = ("prevalence", "sensitivity", "specificity")
FORMULA = "1 + C(topic) + length"


def table(n=400, seed=1, label=lambda topic: 0.4, effect=1.0):
    """Items of two topics and any length; prevalence and errors depend on both."""
    rng = np.random.default_rng(seed)
    topic, length = rng.integers(0, 2, n), rng.integers(1, 4, n)
    x = topic - 0.5 + 0.5 * (length - 2)
    good = rng.random(n) < expit(0.5 + effect * x)
    passes = np.where(good, expit(1.5 + 0.5 * effect * x), 1 - expit(1 - effect * x))
    labelled = rng.random(n) < np.vectorize(label)(topic)
    return pd.DataFrame(
        {
            "topic": np.array(["art", "law"])[topic],
            "length": length,
            "verdict": (rng.random(n) < passes).astype(int),
            "truth": np.where(labelled, good.astype(float), np.nan),
            "good": good,
        }
    )


def read(rows, **more):
    return P.Counts.from_frame(
        rows.drop(columns="good"),
        **{"calibration": "random", "covariates": ["topic", "length"]} | more,
    )


def test_rows_that_agree_in_all_covariates_are_one_stratum():
    rows = table()
    counts = read(rows)
    assert counts.dim == "stratum"
    assert counts.systems[:2] == ("topic=art, length=1", "topic=art, length=2")
    assert counts.covariates["topic"] == ("art",) * 3 + ("law",) * 3
    assert counts.covariates["length"] == (1.0, 2.0, 3.0) * 2
    first = rows[(rows["topic"] == "art") & (rows["length"] == 1)]
    assert counts.test_n[0] == first["truth"].isna().sum()
    whole = P.Counts.from_frame(rows.drop(columns="good"), calibration="random")
    assert (counts.merged().test_pass, counts.merged().correct_pass) == (
        whole.test_pass,
        whole.correct_pass,
    )


def test_parts_add_up():
    rows = table()
    parts = [rows[rows["length"] < 3], rows[rows["length"] > 1].iloc[::2]]
    made, whole = read(parts[0]) + read(parts[1]), read(pd.concat(parts))
    assert made.systems == whole.systems
    assert made.covariates == whole.covariates
    np.testing.assert_array_equal(made.test_pass, whole.test_pass)
    with refused("length", subject="prevalence.Counts"):
        made + read(rows, covariates=["topic"])


def test_columns_are_about_the_average_item():
    counts = read(table())
    names, columns = design_of_strata(FORMULA, counts)
    assert names == ["C(topic)[T.law]", "length"]
    np.testing.assert_allclose(counts.shares @ columns, 0, atol=1e-12)
    assert counts.shares @ columns[:, 1] ** 2 == pytest.approx(1)
    np.testing.assert_allclose(np.ptp(columns[:, 0]), 1)


@pytest.mark.slow
def test_one_saturated_factor_is_the_model_of_strata():
    """The same likelihood, and the same overall prevalence, at the same rates."""
    rows = table()
    strata = read(rows, covariates=None, stratum="topic")
    linear = P.build_model(strata, P.LinearErrorRates("1 + C(stratum)"))
    separate = P.build_model(strata, P.ErrorRates(better_than_chance=False))
    columns = np.column_stack([np.ones(2), design_of_strata("1 + C(stratum)", strata)[1]])
    plain = [remove_value_transforms(model) for model in (linear, separate)]
    run = [
        m.compile_fn(
            [m.logp(vars=m.observed_RVs), *m.replace_rvs_by_values([m["overall_prevalence"]])],
            mode="FAST_COMPILE",
            on_unused_input="ignore",
            point_fn=True,
        )
        for m in plain
    ]
    rng = np.random.default_rng(2)
    for _ in range(3):
        rates, point = {name: rng.uniform(0.1, 0.9, 2) for name in RATES}, {}
        for name, rate in rates.items():
            typical, *slopes = np.linalg.solve(columns, logit(rate))
            point |= {f"typical_{name}": expit(typical), f"{name}_slope": np.array(slopes)}
        np.testing.assert_allclose(run[0](point), run[1](rates), rtol=1e-10)


def by_importance(counts, model, draws=1_000_000, seed=1):
    """Of the overall prevalence by weighed prior draws: mean, standard deviation, their worth."""
    rng = np.random.default_rng(seed)
    design = design_of_strata(model.formula, counts)[1]
    drawn = [
        expit(
            logit(rng.beta(*prior, (draws, 1)))
            + rng.normal(0, model.slope, (draws, design.shape[1])) @ design.T
        )
        for prior in ((0.5, 0.5), (1, 1), (1, 1))  # of the share Jeffreys'
    ]
    good, hit, caught = drawn
    rate = good * hit + (1 - good) * (1 - caught)
    log = 0.0
    for k, n, p in (
        (counts.test_pass, counts.test_n, rate),
        (counts.correct_n, counts.labelled_n, good),
        (counts.correct_pass, counts.correct_n, hit),
        (counts.incorrect_fail, counts.incorrect_n, caught),
    ):
        log = log + (xlogy(k, p) + xlog1py(n - k, -p)).sum(axis=1)
    weights = np.exp(log - log.max())
    overall = good @ counts.shares
    mean = np.average(overall, weights=weights)
    worth = weights.sum() ** 2 / (weights**2).sum()
    return mean, np.sqrt(np.average((overall - mean) ** 2, weights=weights)), worth


@pytest.mark.study
def test_draws_have_the_posterior_of_importance_sampling():
    # one column: with more, a million prior draws are worth no more than hundreds
    counts, model = read(table(60, seed=3)), P.LinearErrorRates("1 + length")
    fit = P.fit(counts, model, random_seed=1)
    assert fit.converged
    mean, sd, worth = by_importance(counts, model)
    assert worth > 500
    draws = fit.idata["posterior"]["overall_prevalence"]
    error = np.sqrt(1 / worth + 1 / fit.diagnostics().loc["overall_prevalence", "ess_bulk"])
    assert abs(float(draws.mean()) - mean) < 5 * error * sd
    assert float(draws.std()) == pytest.approx(sd, rel=5 * error / np.sqrt(2))


@pytest.mark.study
def test_labels_of_one_topic_mostly():
    """Labels that were chosen by topic mislead a model without it, and not the model with it."""
    rows = table(20_000, seed=4, label=lambda topic: 0.3 if topic else 0.02, effect=2.0)
    truth = rows["good"].mean()
    with_topic = P.fit(read(rows), P.LinearErrorRates(FORMULA), random_seed=1)
    row = with_topic.estimate()["overall_prevalence"]
    assert row.low < truth < row.high
    without = P.exact(read(rows, covariates=None))["prevalence"]
    assert without.low > truth
    slopes = with_topic.estimate()
    assert slopes["prevalence_slope", "C(topic)[T.law]"].low > 1
    ax = P.plot_strata(with_topic)  # the strata are drawn, though the slopes are what is reported
    assert len(ax.get_lines()[0].get_xdata()) == len(with_topic.data.systems)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("1 + C(subject)", "cannot be used on the covariates .'stratum', 'topic', 'length'."),
        ("0 + length", "needs an intercept: begin with 1"),
        ("1 +", "cannot be used"),
        ("1 + I(length * 0)", "have one value in all items"),
    ],
)
def test_formulas_that_cannot_be_used(formula, words):
    with pytest.raises(bj.InputError, match=words):
        P.build_model(read(table()), P.LinearErrorRates(formula))


def test_what_the_model_is_not_for():
    plain = P.Counts(60, 40, 9, 7, 8, 5, calibration="random")
    with refused("covariates=", subject="build_model"):
        P.build_model(plain, P.LinearErrorRates())
    with refused(slope=0):
        P.LinearErrorRates(slope=0)
    with refused("dim=", subject="prevalence.Counts"):
        P.Counts(60, 40, 9, 7, 8, 5, calibration="random", covariates={"x": [1]})


def test_without_formulaic(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with refused("bayesjudge[covariates]", subject="LinearErrorRates"):
        P.build_model(read(table()), P.LinearErrorRates(FORMULA))
