"""Priors from quantiles and earlier counts, prior-data conflict, and answers without labels."""

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import bayesjudge as bj
from bayesjudge.core.prior_check import conflicts
from bayesjudge.prevalence import classes, scores
from bayesjudge.prevalence._prior_check import prior_rates

P, B = bj.prevalence, bj.BetaPrior
CLAIMED = P.ErrorRates(sensitivity=B.worth(0.99, 1000), specificity=B.worth(0.99, 1000))


# Priors that people have ------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0.5, 0.5), (1, 1), (2, 30), (46, 6), (900, 12)])
@pytest.mark.parametrize("probs", [(0.025, 0.975), (0.05, 0.5), (0.4, 0.9)])
def test_quantiles_give_the_prior_that_has_them(shape, probs):
    quantiles = stats.beta(*shape).ppf(probs)
    found = B.from_quantiles(dict(zip(probs, quantiles, strict=True)))
    np.testing.assert_allclose(tuple(found), shape, rtol=1e-5)
    if probs == (0.025, 0.975):
        np.testing.assert_allclose(tuple(B.from_interval(*quantiles)), shape, rtol=1e-5)


def test_earlier_counts_are_so_many_trials_less():
    assert B.from_counts(90, 100) == B(91, 11)
    assert B.from_counts(90, 100, discount=0.1) == B(10, 2)
    assert B.from_counts(90, 100, discount=0) == B()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: B.from_interval(0.9, 0.8), "quantiles must rise"),
        (lambda: B.from_interval(0.8, 1.2), r"must lie in \(0, 1\)"),
        (lambda: B.from_interval(0.8, 0.9, prob=95), r"prob must lie in \(0, 1\), got 95"),
        (lambda: B.from_quantiles({0.5: 0.8}), "expected two quantiles"),
        (lambda: B.from_counts(11, 10), "successes <= trials, got 11 and 10"),
        (lambda: B.from_counts(5, 10, discount=20), r"discount must lie in \[0, 1\], got 20"),
    ],
)
def test_what_is_no_prior_is_refused(make, words):
    with pytest.raises(bj.InputError, match=words):
        make()


# Prior-data conflict ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_claim_that_the_labels_deny_is_told():
    """Vendor's .99 and .99 worth 1,000 labels, own labels .70 and .60: not a word before."""
    counts = P.Counts(1000, 620, 100, 70, 100, 60, calibration="by_truth")
    found = P.exact(counts, CLAIMED)
    (text,) = [c.text for c in found.cautions if c.id == "prior-data-conflict"]
    assert "specificity is 0.6, where the priors expect 0.97 to 1" in text
    agreeing = P.ErrorRates(sensitivity=B.worth(0.7, 50), specificity=B.worth(0.6, 50))
    for model in (None, P.ErrorRates.jeffreys(), agreeing):
        assert "prior-data-conflict" not in {c.id for c in P.exact(counts, model).cautions}


def test_p_values_are_those_of_the_beta_binomial():
    counts = P.Counts(1000, 620, 40, 27, 30, 28, calibration="random")
    model = P.ErrorRates(B(3, 4), B(9, 2), B(5, 3), better_than_chance=False)
    table = P.check_prior(counts, model, random_seed=1).set_index("statistic")
    for name, k, n, prior in (
        ("sensitivity", 27, 40, model.sensitivity),
        ("specificity", 28, 30, model.specificity),
        ("prevalence", 40, 70, model.prevalence),
    ):
        exact = stats.betabinom(n, *prior)
        p = 2 * min(exact.cdf(k), exact.sf(k - 1))
        assert table.p_value[name] == pytest.approx(p, abs=0.06), name  # 2,000 draws of the prior
        assert table.observed[name] == k / n
        error = 4 * np.sqrt(0.025 * 0.975 / 2000)
        for end, prob in ((table.low[name], 0.025), (table.high[name], 0.975)):
            at = round(end * n)
            assert exact.cdf(at - 1) - error < prob < exact.cdf(at) + error, name


def test_rates_of_systems_are_one_in_the_prior_if_they_are_one_in_the_model():
    counts = P.Counts(*([x, x] for x in (100, 60, 9, 8, 6, 5)), calibration="random", systems="ab")
    for pooling, alike in (("full", True), ("separate", False)):
        drawn = prior_rates(counts, P.ErrorRates(pooling=pooling), np.random.default_rng(1))
        for name in ("sensitivity", "specificity"):
            assert (drawn[name][:, 0] == drawn[name][:, 1]).all() == alike
        assert (drawn["prevalence"][:, 0] != drawn["prevalence"][:, 1]).all()


def test_one_label_conflicts_with_pooled_rates_as_much_as_with_its_systems():
    counts = P.Counts([9, 9], [6, 5], [1, 0], [1, 0], [0, 0], [0, 0], "random", systems="ab")
    model = P.PooledErrorRates(sensitivity=B(2, 9))
    table = P.check_prior(counts, model, random_seed=1)
    own, together = table.p_value[table.statistic == "sensitivity"]
    assert own == together < 1


def drawn_from(model, calibration, rng, systems=3, n=200, m=40):
    """One table whose unknowns come from the model's own prior."""
    base = P.Counts(
        *([x] * systems for x in (n, n // 2, m // 2, 15, m // 2, 12)),
        calibration=calibration,
        systems=[f"s{i}" for i in range(systems)],
    )
    rates = {name: values[0] for name, values in prior_rates(base, model, rng).items()}
    first, second = model._rates
    if calibration == "by_verdict":
        hit, caught = (rng.binomial(m // 2, rates[name]) for name in (first, second))
        passes = rng.binomial(n, rates["pass_rate"])
        good = hit + m // 2 - caught
        cells = (passes, good, hit, m - good, caught)
    else:
        theta, q1, q0 = rates["prevalence"], rates[first], rates[second]
        good = rng.binomial(m, theta) if calibration == "random" else np.full(systems, m // 2)
        passes = rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0))
        cells = (passes, good, rng.binomial(good, q1), m - good, rng.binomial(m - good, q0))
    return P.Counts(base.test_n, *cells, calibration=calibration, systems=base.systems)


INFORMED = {"sensitivity": B.worth(0.9, 20), "specificity": B.worth(0.8, 20)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "calibration"),
    [
        (P.ErrorRates(B(5, 2), **INFORMED), "random"),
        pytest.param(P.ErrorRates(**INFORMED, pooling="full"), "by_truth", marks=pytest.mark.study),
        pytest.param(P.PooledErrorRates(**INFORMED), "by_truth", marks=pytest.mark.study),
        (P.PredictiveValues(ppv=B.worth(0.9, 20), npv=B.worth(0.8, 10)), "by_verdict"),
    ],
    ids=["separate", "full", "partial", "by verdict"],
)
def test_tables_from_the_prior_seldom_conflict_with_it(model, calibration):
    """One table in a hundred at most; and the alarm works: another prior's tables raise it."""
    rng, runs = np.random.default_rng(4), 150
    alarms = sum(bool(conflicts(model, drawn_from(model, calibration, rng))) for _ in range(runs))
    assert alarms / runs < 0.01 + 4 * np.sqrt(0.01 * 0.99 / runs)
    first, second = model._rates
    tight = {"spread": 0.1} if isinstance(model, P.PooledErrorRates) else {}
    other = type(model)(**{first: B.worth(0.5, 200), second: B.worth(0.55, 200)}, **tight)
    found = sum(bool(conflicts(other, drawn_from(model, calibration, rng))) for _ in range(20))
    assert found >= 10


# No labels --------------------------------------------------------------------------------------

UNLABELLED = (1000, 620, 0, 0, 0, 0)
STATED = P.ErrorRates(sensitivity=B.worth(0.9, 50), specificity=B.worth(0.8, 50))


@pytest.mark.slow
def test_stated_accuracy_answers_without_labels_and_says_so():
    """What was refused: prior draws weighed by the likelihood of the pass rate give the same."""
    counts = P.Counts(*UNLABELLED, calibration="separate")
    found = P.exact(counts, STATED)
    assert {"no-labels", "rests-on-priors"} <= {c.id for c in found.cautions}
    rng = np.random.default_rng(1)
    theta, q1, q0 = (rng.beta(*shape, 400_000) for shape in ((0.5, 0.5), (46, 6), (41, 11)))
    weight = stats.binom.pmf(620, 1000, theta * q1 + (1 - theta) * (1 - q0)) * (q1 + q0 > 1)
    mean = np.average(theta, weights=weight)
    error = np.sqrt(np.average((theta - mean) ** 2, weights=weight**2) / 400_000)
    error *= np.sqrt(np.sum(weight**2) * 400_000) / np.sum(weight)
    assert found["prevalence"].value == pytest.approx(mean, abs=4 * error)


@pytest.mark.slow
def test_a_system_without_labels_may_have_stated_rates():
    counts = P.Counts(
        *([1000, 1000], [620, 700], [30, 0], [27, 0], [30, 0], [24, 0]),
        calibration="by_truth",
        systems="ab",
    )
    found = P.exact(counts, STATED)
    alone = P.exact(P.Counts(1000, 700, 0, 0, 0, 0, calibration="by_truth"), STATED)
    assert found["prevalence", "b"] == pytest.approx(alone["prevalence"])
    assert np.isnan(P.exact(counts)["prevalence", "b"].value)
    P.build_model(counts, STATED)
    with refused("b", id="no-labels"):
        P.build_model(counts)


@pytest.mark.parametrize("calibration", ["random", "by_truth", "separate", "by_verdict"])
def test_flat_priors_and_no_labels_have_no_answer(calibration):
    counts = P.Counts(*UNLABELLED, calibration=calibration)
    assert np.isnan(P.exact(counts)["prevalence"].value)
    forms = P.closed_forms(counts)
    assert all(np.isnan(e["prevalence"].value) for e in forms[1:])
    assert all("no-labels" in {c.id for c in e.cautions} for e in forms)
    with refused(id="no-labels"):
        P.build_model(counts)


@pytest.mark.slow
def test_p_values_of_classes_and_of_scores_are_those_of_the_beta_binomial():
    known = np.array([[9, 1, 2], [2, 6, 1], [1, 3, 7]])
    counts = classes.ClassCounts([30, 20, 10], known, "abc", "random")
    model = classes.Confusions(share_concentration=6, right=12, wrong=2)
    table = classes.check_prior(counts, model, random_seed=1)
    of_classes = table[table["statistic"] == "labelled_truth"].set_index("class")
    cells = table[table["statistic"] == "labelled"].set_index(["class", "verdict"])
    for k, name in enumerate("abc"):
        assert_beta_binomial(of_classes.loc[name], known[k].sum(), known.sum(), (2, 4))
        for v, verdict in enumerate("abc"):
            prior = (12, 2) if k == v else (1, 13)
            assert_beta_binomial(cells.loc[(name, verdict)], known[k, v], known[k].sum(), prior)
    assert cells.loc[("a", "a"), "p_value"] > 0.1
    wrong = classes.ClassCounts([30, 20, 10], np.roll(known, 1, axis=1), "abc", "random")
    assert classes.check_prior(wrong, model, random_seed=1)["surprising"].any()
    seen = scores.Scores([0, 1] * 3, [1, 1, 0, 0, np.nan, np.nan], [2, 8, 9, 1, 30, 20],
                         "by_verdict", (0, 1), edges=(0.5,))  # fmt: skip
    rising = scores.TruthGivenScore(truth_concentration=4, monotone=False)
    found = scores.check_prior(seen, rising, random_seed=1).set_index(["statistic", "bin"])
    for i, (good, labels) in enumerate(((2, 11), (8, 9))):
        assert_beta_binomial(found.loc["good"].iloc[i], good, labels, (4, 4))


def assert_beta_binomial(row, k, n, prior):
    exact = stats.betabinom(n, *prior)
    p = min(1, 2 * min(exact.cdf(k), exact.sf(k - 1)))
    assert row["p_value"] == pytest.approx(p, abs=0.06)  # 2,000 draws of the prior
    assert row["observed"] == k / n
