"""The published formulas and the published rule, against the reference file and enumeration."""

import json

import numpy as np
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import norm

import bayesjudge as bj
from bayesjudge.core import methods
from bayesjudge.core.intervals import z_score
from bayesjudge.repeats import (
    Scores,
    anova,
    answer,
    closed_forms,
    required_calls,
    required_repeats,
    simulate,
    simulate_rule,
    third_of_a_bin,
)
from bayesjudge.repeats.stopping_rules import interval_of_counts, more_calls


@pytest.fixture(scope="module")
def reference():
    return json.loads(shared("reference/repeats.json").read_text())


def test_required_repeats_are_the_references(reference):
    for case in reference["n_req"]:
        given = case["inputs"]
        half = third_of_a_bin(given["R"], given["K"])
        assert_allclose(half, case["d"], rtol=1e-14)
        found = required_repeats(given["S"], half, ci_prob=1 - given["alpha"])
        assert found == case["n_req"]


def test_required_repeats_of_the_article():
    # the article's example: a 1-5 scale, standard deviation 0.6, 90 %: n = 14
    assert required_repeats(0.6, third_of_a_bin(4, 5), ci_prob=0.9) == 14


def test_scaling_laws():
    half = third_of_a_bin(4, 5)
    n = required_repeats(np.array([3.0, 6.0]), half)
    assert_allclose(n[1] / n[0], 4, rtol=1e-2)  # twice the noise, four times the calls
    fine, coarse = (required_repeats(3.0, third_of_a_bin(4, k)) for k in (10, 5))
    assert_allclose(fine / coarse, 4, rtol=1e-2)  # twice the bins, four times the calls
    sure, usual = (required_repeats(30.0, half, ci_prob=p) for p in (0.99, 0.95))
    assert_allclose(sure / usual, 1.7, atol=0.03)  # "only 1.7 times" from 95 % to 99 %


def test_cost_follows_from_calls():
    table = bj.repeats.cost_table(
        0.6,
        value_range=4,
        bins=[5],
        ci_probs=[0.9],
        items=10,
        cost_per_call=0.5,
        seconds_per_call=2,
        concurrency=7,
    )
    row = table.iloc[0]
    assert (row["repeats"], row["calls"], row["cost"], row["seconds"]) == (14, 140, 70, 40)


def enumerate_rule(q, ci_prob, bins, pilot, batch):
    """The published rule on scores in {0, 1}, every path weighed: no simulation."""
    half = third_of_a_bin(1, bins)
    states = {(pilot, k): p for k, p in enumerate(_binomial(pilot, q))}
    out = {"E_n": 0.0, "E_mean": 0.0, "coverage_pm_d": 0.0, "coverage_pm_h": 0.0, "P_h_zero": 0.0}
    while states:
        n, k = min(states)  # by number of scores, so that paths to one state meet before it leaves
        p = states.pop((n, k))
        mean, low, high = (float(x) for x in interval_of_counts([n - k, k], [0, 1], ci_prob, "z"))
        more = int(more_calls(n, (high - low) / 2, half, batch))
        if more == 0 or p < 1e-15:
            out["E_n"] += p * n
            out["E_mean"] += p * mean
            out["coverage_pm_d"] += p * (abs(mean - q) <= half + 1e-12)
            out["coverage_pm_h"] += p * (low - 1e-12 <= q <= high + 1e-12)
            out["P_h_zero"] += p * (high == low)
            continue
        for extra, weight in enumerate(_binomial(more, q)):
            key = (n + more, k + extra)
            states[key] = states.get(key, 0.0) + p * weight
    return out


def _binomial(n, q):
    from scipy.stats import binom

    return binom.pmf(np.arange(n + 1), n, q)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(7))
def test_published_rule_enumerated(reference, case):
    expected = reference["exact_binary"][case]
    given = expected["inputs"]
    found = enumerate_rule(given["q"], 1 - given["alpha"], given["K"], given["n0"], given["batch"])
    for name, value in found.items():
        assert_allclose(value, expected[name], atol=2e-6, rtol=2e-6, err_msg=name)


@pytest.mark.parametrize("case", range(3))
def test_published_rule_simulated(reference, case):
    expected = reference["monte_carlo"][case]
    given, runs = expected["inputs"], 20_000
    found = simulate_rule(
        given["p"],
        third_of_a_bin(given["R"], given["K"]),
        scale=range(1, 6),
        ci_prob=1 - given["alpha"],
        method="z",
        pilot=given["n0"],
        batch=given["batch"],
        runs=runs,
        random_seed=1,
    )
    pairs = [
        (found.covered_as_found, expected["coverage_pm_h"]),
        (found.within, expected["coverage_pm_d"]),
        (found.no_width, expected["P_h_zero"]),
    ]
    for value, wanted in pairs:
        error = np.sqrt(wanted * (1 - wanted) * (1 / runs + 1 / expected["reps"]))
        assert abs(value - wanted) < 5 * error
    assert_allclose(found.calls, expected["E_n"], rtol=0.02)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: third_of_a_bin(0, 5), "value_range must be positive"),
        (lambda: third_of_a_bin(4, 0), "bins must be 1 or more"),
        (lambda: required_repeats(-1, 0.1), "sd must be 0 or more"),
        (lambda: required_repeats(1, 0), "half_width must be positive"),
        (lambda: bj.repeats.cost_table(1, value_range=4, concurrency=0), "concurrency"),
    ],
)
def test_arguments_out_of_range(call, words):
    with pytest.raises(bj.InputError, match=words):
        call()


# Calls that an item needs ------------------------------------------------------------------------


def read(table, judge=None):
    return Scores.from_frame(table, scale=range(1, 6), judge=judge)


def test_calls_are_those_of_the_components():
    scores = read(simulate(items=30, judges=4, repeats=4, random_seed=1), "judge")
    parts, found = anova(scores), required_calls(scores, 0.4)
    z = norm.ppf(0.975)
    between = parts["judge_sd"].value ** 2 + parts["item_judge_sd"].value ** 2
    repeat = parts["repeat_sd"].value ** 2
    assert found["calls_per_item"].value == np.ceil(z**2 * repeat / 0.4**2)
    assert_allclose(found["half_width_of_one"].value, z * np.sqrt(repeat))
    assert_allclose(found["half_width_now"].value, z * np.sqrt((between + repeat / 4) / 4))
    assert_allclose(found["half_width_left"].value, z * np.sqrt(between / 4))
    assert found["judges_needed"].value == np.ceil(z**2 * (between + repeat) / 0.4**2)


@pytest.mark.slow
def test_one_call_is_told_alike_whatever_was_asked_for():
    scores = read(simulate(items=30, judges=1, repeats=4, random_seed=1))
    once = required_calls(scores, 0.3)["half_width_of_one"].value
    for wanted in (0.3, 0.5, 1.25, round(once, 2) + 0.01):
        told = answer(*closed_forms(scores), half_width=wanted)
        said = told.text
        assert said.endswith(f"known to ± {wanted:g}.")
        sd = once / norm.ppf(0.975)
        assert (
            f"One call has a standard deviation of {sd:.2g} and gives the mean to ± {once:.2g},"
            in told.notes[0]
        )
    assert said.startswith("An item needs 1 call (")


@pytest.mark.slow
def test_a_model_with_another_spread_of_one_call_is_named():
    scores = read(simulate(items=30, judges=1, repeats=4, random_seed=1))
    spread = anova(scores)["repeat_sd"]

    def notes(value):
        row = (value, value - 0.1, value + 0.1)
        modelled = bj.Estimate(
            {"repeat_sd": bj.Quantity.of_rows({(): row}, ())},
            method=methods.ORDINAL,
            ci_prob=0.95,
            source="s",
        )
        return " ".join(answer(*closed_forms(scores), modelled).notes)

    assert "sampled model" not in notes(spread.value)
    told = notes(spread.high + 0.2)
    assert f"standard deviation of one call of {spread.high + 0.2:.2g}" in told
    assert f"outside of {spread.low:.2g} to {spread.high:.2g} as counted" in told


def test_so_many_calls_give_the_half_width():
    """A second sample of that size: means are within the half-width as often as it says."""
    sizes = {"items": 400, "judges": 1, "item_scale": 1.0, "item_judge_scale": 0, "judge_scale": 0}
    pilot = read(simulate(repeats=4, random_seed=1, **sizes))
    n = int(required_calls(pilot, 0.3)["calls_per_item"].value)
    rng_of = {"random_seed": 2, **sizes}
    both = read(simulate(repeats=2 * n, **rng_of))
    place = np.arange(both.sequence.size) % (2 * n)
    value = both.sequence.reshape(400, 2 * n) + 1.0
    assert place.max() == 2 * n - 1
    # two means of n differ with twice the variance of one from the truth
    off = np.abs(value[:, :n].mean(axis=1) - value[:, n:].mean(axis=1)) / np.sqrt(2)
    inside = (off <= 0.3).mean()
    assert abs(inside - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 400)


def test_one_item_and_one_judge_have_an_answer():
    found = required_calls(Scores.from_values([4, 4, 5, 3, 4, 5], scale=range(1, 6)), 0.3)
    variance = np.var([4, 4, 5, 3, 4, 5], ddof=1)
    n = np.ceil(norm.ppf(0.975) ** 2 * variance / 0.09)
    assert found["calls_per_item"].value == n
    assert found["calls_per_item"].low < n < found["calls_per_item"].high
    with refused(id="judge-not-repeated"):
        required_calls(Scores.from_values([4], scale=range(1, 6)), 0.3)


def test_scaling_of_bins_and_of_the_level_as_the_source_prints_them():
    # "2 bins 6, 4 bins 36": whatever the spread, twice the bins take four times the calls
    sds = np.linspace(0.01, 0.6, 600)
    two = required_repeats(sds, third_of_a_bin(1, 2))
    four = required_repeats(sds, third_of_a_bin(1, 4))
    assert set(four[two == 6]) <= {21, 22, 23, 24}
    # z^2 is ln(1 / alpha) within 2 to 57 % for alpha from .2 to .001, and not in proportion
    alpha = np.array([0.2, 0.05, 0.01, 0.001])
    ratio = np.array([z_score(1 - a) ** 2 for a in alpha]) / np.log(1 / alpha)
    assert_allclose(ratio[[0, -1]], [1.02, 1.57], atol=0.005)
    # 95 to 99 % does take 1.7 times the calls
    assert (z_score(0.99) / z_score(0.95)) ** 2 == pytest.approx(1.7, abs=0.03)
