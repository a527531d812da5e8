"""`target="items"`: the unlabelled truths are one binomial more, checked by enumeration."""

import numpy as np
import pytest
from oracles import assert_mc_mean, assert_mc_sd, flat_model, unit_nodes
from scipy.stats import beta, betabinom

import bayesjudge as bj

P = bj.prevalence
CELLS = (12, 8, 9, 7, 8, 5)
UNRESTRICTED = {"better_than_chance": False}


def spread_over_the_grid(counts):
    """Distribution of the good items among the unlabelled ones: each theta, q1, q0 in turn."""
    x, w = unit_nodes(1, 40)
    theta, q1, q0 = x[:, None, None], x[:, None], x
    rate = theta * q1 + (1 - theta) * (1 - q0)
    k, n = counts.test_pass, counts.test_n
    weight = w[:, None, None] * w[:, None] * w * rate**k * (1 - rate) ** (n - k)
    for share, right, total in (
        (q1, counts.correct_pass, counts.correct_n),
        (q0, counts.incorrect_fail, counts.incorrect_n),
        (theta, counts.correct_n, counts.labelled_n if counts.design.same_items else 0),
    ):
        if total:
            weight = weight * share**right * (1 - share) ** (total - right)
    weight /= weight.sum()
    of_pass, of_fail = theta * q1 / rate, theta * (1 - q1) / (1 - rate)
    mean = k * of_pass + (n - k) * of_fail
    within = k * of_pass * (1 - of_pass) + (n - k) * of_fail * (1 - of_fail)
    first = (weight * mean).sum()
    return first, np.sqrt((weight * (within + mean**2)).sum() - first**2)


def sum_of_two_beta_binomials(counts):
    """By verdict, passes and fails are apart: the labels of each tell of its own."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    good, caught = counts.correct_pass, counts.incorrect_fail
    k, n = counts.test_pass, counts.test_n
    parts = [betabinom(k, 1 + good, 1 + passed - good)]
    parts.append(betabinom(n - k, 1 + failed - caught, 1 + caught))
    return sum(p.mean() for p in parts), np.sqrt(sum(p.var() for p in parts))


@pytest.mark.sampling
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
def test_items_are_what_enumeration_gives(calibration):
    counts = P.Counts(*CELLS, calibration=calibration)
    fit = P.fit(counts, flat_model(counts, **UNRESTRICTED), random_seed=1, target_accept=0.95)
    oracle = sum_of_two_beta_binomials if counts.predictive else spread_over_the_grid
    mean, sd = oracle(counts)
    known, items = (9, 29) if counts.design.same_items else (0, 12)
    made = fit.estimate(target="items")
    assert made.target == "items"
    draws = fit._drawn_for("items")["prevalence"]
    assert_mc_mean(draws, (known + mean) / items)
    assert_mc_sd(draws, sd / items)
    assert made["prevalence"].value == pytest.approx(float(draws.mean()))
    # a share of these items is a number of items
    assert np.allclose(draws * items, np.round(draws * items))
    assert fit.estimate().target == "population"
    assert made["prevalence"] == fit.estimate(target="items")["prevalence"]
    with pytest.raises(bj.InputError, match="expected one of"):
        fit.estimate(target="everything")


@pytest.mark.sampling
def test_items_of_strata_add_up_to_the_items():
    names = ["short", "long"]
    counts = P.Counts([12, 30], [8, 10], [9, 6], [7, 5], [8, 7], [5, 6],
                      calibration="random", systems=names, dim="stratum")  # fmt: skip
    fit = P.fit(counts, random_seed=1)
    drawn = fit._drawn_for("items")
    good = drawn["prevalence"].to_numpy() * [29, 43]
    np.testing.assert_allclose(drawn["overall_prevalence"], good.sum(axis=-1) / 72)
    of_items, of_all = (fit.estimate(target=t, interval="eti") for t in ("items", "population"))
    for entry in (("prevalence", "short"), ("overall_prevalence",)):
        widths = [one[entry].high - one[entry].low for one in (of_items, of_all)]
        assert widths[0] < widths[1]


# Tables in which every item is labelled ----------------------------------------------------------

COMPLETE = P.Counts(0, 0, 60, 54, 40, 30, calibration="random")


def test_of_a_complete_table_the_population_is_what_the_labels_say():
    # flat priors without a restriction: the judge's verdicts leave Beta(61, 41) alone
    made = P.exact(COMPLETE, P.ErrorRates(**UNRESTRICTED), interval="eti")
    expected = beta(61, 41)
    ends = [expected.mean(), *expected.ppf([0.025, 0.975])]
    np.testing.assert_allclose(made["prevalence"], ends, atol=1e-7)
    assert made.target == "population"
    for one in P.closed_forms(COMPLETE, mismatched=True):
        assert "all-labelled" in {caution.name for caution in one.cautions}
        value = one["prevalence"].value
        if one.method.startswith(("Rogan-Gladen", "Conditional")):
            assert np.isnan(value), one.method  # which divide by the number of unlabelled items
        elif one.method != "Judge's pass rate":
            assert value == pytest.approx(0.6), one.method
    partly = P.Counts([0, 50], [0, 20], [60, 9], [54, 7], [40, 8], [30, 5],
                      calibration="random", systems="ab")  # fmt: skip
    (caution,) = [c for c in P.difference(partly).cautions if c.name == "all-labelled"]
    assert "in system 'a'" in caution.text


@pytest.mark.sampling
def test_of_a_complete_table_the_items_are_known():
    fit = P.fit(COMPLETE, random_seed=1)
    assert fit.estimate(target="items")["prevalence"] == (0.6, 0.6, 0.6)
    low, high = fit.estimate()["prevalence"][1:]
    assert low < 0.55 < 0.65 < high
