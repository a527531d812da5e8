"""Closed forms: by hand, by the published code's numbers, by other packages, by symmetry."""

import json
import warnings

import numpy as np
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import binomtest

import bayesjudge as bj
from bayesjudge.core.intervals import jeffreys, z_score
from bayesjudge.core.methods import JUDGE
from bayesjudge.truth import influence, inversion

P = bj.prevalence
COUNTS = P.Counts(
    test_n=1000,
    test_pass=620,
    correct_n=100,
    correct_pass=90,
    incorrect_n=100,
    incorrect_fail=70,
    calibration="by_truth",
)
SAMPLE = P.Counts(1000, 760, 140, 126, 60, 42, calibration="random")


def items_of(counts):
    """Expand counts to arrays: truth and verdict of labelled items, verdict of test items."""
    c = counts
    missed, caught = c.correct_n - c.correct_pass, c.incorrect_fail
    truth = np.repeat(
        [1.0, 1.0, 0.0, 0.0], [c.correct_pass, missed, c.incorrect_n - caught, caught]
    )
    verdict = np.repeat(
        [1.0, 0.0, 1.0, 0.0], [c.correct_pass, missed, c.incorrect_n - caught, caught]
    )
    return truth, verdict, np.repeat([1.0, 0.0], [c.test_pass, c.test_n - c.test_pass])


# Shares ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (8, 10), (333, 1000)])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95, 0.999])
def test_intervals_of_a_share_are_those_of_scipy_and_statsmodels(k, n, ci_prob):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for ours, scipy_name, statsmodels_name in (
        (P.wilson, "wilson", "wilson"),
        (P.clopper_pearson, "exact", "beta"),
    ):
        value, low, high = ours(k, n, ci_prob)
        reference = binomtest(k, n).proportion_ci(ci_prob, method=scipy_name)
        assert_allclose([value, low, high], [k / n, *reference], rtol=1e-9, atol=1e-12)
        other = proportion.proportion_confint(k, n, alpha=1 - ci_prob, method=statsmodels_name)
        assert_allclose([low, high], other, rtol=1e-9, atol=1e-12)


def test_intervals_of_a_share_broadcast():
    value, low, high = P.wilson([1, 2, 0], [4, 4, 0])
    assert_allclose(value[:2], [0.25, 0.5])
    assert np.isnan([value[2], low[2], high[2]]).all()
    assert_allclose([low[0], high[1]], [P.wilson(1, 4)[1], P.wilson(2, 4)[2]])
    with pytest.raises(bj.InputError, match=r"\(successes, trials\) \[\(5.0, 4.0\)\]"):
        P.wilson([1, 5], 4)


# Rogan-Gladen ------------------------------------------------------------------------------------


def test_point_matches_hand_calculation():
    # Eq. (5): (0.62 + 0.70 - 1) / (0.70 + 0.90 - 1) = 0.32 / 0.60
    assert_allclose(P.rogan_gladen(COUNTS)["prevalence"].value, 0.32 / 0.60, rtol=1e-12)


def test_delta_method_matches_hand_calculation():
    # Eq. (9) at theta = 8/15: (.62 .38/1000 + (7/15)^2 .7 .3/100 + (8/15)^2 .9 .1/100) / .36
    variance = (0.2356e-3 + (7 / 15) ** 2 * 0.0021 + (8 / 15) ** 2 * 0.0009) / 0.36
    value, low, high = P.rogan_gladen(COUNTS, interval="delta")["prevalence"]
    assert_allclose((high - low) / 2 / 1.959963984540054, np.sqrt(variance), rtol=1e-12)
    assert_allclose(value, (low + high) / 2, rtol=1e-12)


def test_every_reference_case():
    cases = json.loads(shared("reference/prevalence.json").read_text())["ci"]
    assert len(cases) >= 12
    for case in cases:
        i = case["inputs"]
        args = [i[name] for name in ("p", "q0", "q1", "n", "m0", "m1")]
        found = inversion.lang_reiczigel(*args, z_score(1 - i["alpha"]))
        assert_allclose(np.clip(found[1:], 0, 1), case["ci_eq6"], rtol=0, atol=1e-10)
        assert_allclose(inversion.invert(*args[:3]), case["point_unclipped"], rtol=0, atol=1e-10)
        whole = np.array([i["p"] * i["n"], i["q1"] * i["m1"], i["q0"] * i["m0"]])
        if np.abs(whole - whole.round()).max() > 1e-9:
            continue  # a case with 166.6 passes cannot be counted
        k, a1, a0 = whole.round().astype(int)
        counts = P.Counts(i["n"], k, i["m1"], a1, i["m0"], a0, calibration="by_truth")
        made = P.rogan_gladen(counts, ci_prob=1 - i["alpha"])
        assert_allclose(made["prevalence"][1:], case["ci_eq6"], rtol=0, atol=1e-10)
        assert_allclose(made["prevalence"].value, case["point_clipped"], rtol=0, atol=1e-10)
        raw = made.quantities["prevalence"].raw[0]
        assert_allclose(raw, case["point_unclipped"], rtol=0, atol=1e-10)


def test_raw_value_is_kept_beside_the_clipped_one():
    counts = P.Counts(1000, 1000, 100, 90, 100, 90, calibration="by_truth")
    found = P.rogan_gladen(counts).quantities["prevalence"]
    assert found.value == 1
    assert_allclose(found.raw, 0.9 / 0.8)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_a_perfect_judge_needs_no_correction(rate):
    assert_allclose(inversion.invert(rate, 1.0, 1.0), rate)


def test_swapping_the_labels_mirrors_the_answer():
    mirrored = P.Counts(1000, 380, 100, 70, 100, 90, calibration="by_truth")
    one, other = (P.rogan_gladen(c)["prevalence"] for c in (COUNTS, mirrored))
    assert_allclose(
        [one.value, one.low, one.high], [1 - other.value, 1 - other.high, 1 - other.low]
    )


def test_a_judge_no_better_than_chance_is_refused():
    with pytest.raises(bj.UninformativeJudgeError, match=r"0.400 \+ specificity 0.500 <= 1"):
        P.rogan_gladen(P.Counts(100, 50, 10, 4, 10, 5, calibration="by_truth"))
    with pytest.raises(bj.UninformativeJudgeError, match=r"0.500 \+ specificity 0.500 <= 1"):
        P.rogan_gladen(P.Counts(100, 50, 10, 5, 10, 5, calibration="by_truth"))


def test_among_systems_a_hopeless_judge_leaves_the_others_alone():
    counts = P.Counts(
        [1000, 100], [620, 50], [100, 10], [90, 4], [100, 10], [70, 5],
        calibration="by_truth", systems=["fine", "hopeless"],
    )  # fmt: skip
    made = P.rogan_gladen(counts)
    assert made["prevalence", "fine"] == P.rogan_gladen(COUNTS)["prevalence"]
    assert np.isnan(made["prevalence", "hopeless"]).all()
    told = {c.id: c.text for c in made.cautions}
    assert told["no-better-than-chance"].endswith(" in system 'hopeless'")


def test_an_empty_class_gives_no_number_and_says_why():
    made = P.rogan_gladen(P.Counts(100, 50, 0, 0, 10, 8, calibration="random"))
    assert np.isnan(made["prevalence"]).all()
    assert made.cautions[0].id == "empty-class"


def test_an_unknown_interval_is_refused():
    with pytest.raises(bj.InputError, match="'wald'"):
        P.rogan_gladen(COUNTS, interval="wald")


def test_pseudo_labels_that_put_a_judge_at_chance_exclude_nothing():
    # 3 of 10 and 1 of 1: with one label more in each cell 4 / 12 and 2 / 3, whose sum is 1
    rows = np.array([[27, 7, 10, 3, 1, 1], [27, 7, 100, 80, 100, 80]])
    both = P.rogan_gladen(P.Counts(*rows.T, calibration="separate", systems=["a", "b"]))
    one, other = (P.rogan_gladen(P.Counts(*row, calibration="separate")) for row in rows)
    assert both["prevalence", "a"][1:] == one["prevalence"][1:] == (0, 1)
    assert both["prevalence", "b"] == other["prevalence"]


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("formula", ["equation", "listing"])
def test_interval_covers_by_the_equation_and_not_by_the_printed_listing(theta, formula):
    q0, q1, n, m, runs = 0.7, 0.9, 1000, 100, 20_000
    rng = np.random.default_rng(20_261)
    p = rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0), runs) / n
    q0_hat, q1_hat = rng.binomial(m, q0, runs) / m, rng.binomial(m, q1, runs) / m
    value, low, high = inversion.lang_reiczigel(p, q0_hat, q1_hat, n, m, m, 1.959964)
    if formula == "listing":  # source 1, Figure 8
        youden = (m * q0_hat + 1) / (m + 2) + (m * q1_hat + 1) / (m + 2) - 1
        half = (high - low) / 2 * np.sqrt(youden)
        centre = inversion.invert(
            (n * p + 1.92) / (n + 3.84), (m * q0_hat + 1) / (m + 2), (m * q1_hat + 1) / (m + 2)
        )
        low, high = value - half, 2 * centre - value + half
    covered = ((low <= theta) & (theta <= high)).mean()
    noise = 5 * np.sqrt(0.95 * 0.05 / runs)  # the simulation's own error
    # the source: "close to or slightly above" 95 %
    assert (0.95 - noise < covered < 0.97 + noise) == (formula == "equation"), covered


# Difference, post-stratified ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("ci_prob", [0.8, 0.95])
@pytest.mark.parametrize(
    "counts",
    [
        SAMPLE,
        P.Counts(1000, 760, 140, 100, 60, 12, calibration="random"),
        P.Counts(30, 11, 9, 2, 17, 17, calibration="random"),
        P.Counts(500, 100, 10, 1, 90, 20, calibration="random"),  # worse than chance: weight 0
    ],
)
def test_difference_is_the_authors_own(counts, ci_prob):
    with warnings.catch_warnings():  # the package switches warnings off when it is imported
        ppi_py = pytest.importorskip("ppi_py")
    truth, verdict, test = items_of(counts)
    tuned = P.difference(counts, ci_prob=ci_prob)
    plain = P.difference(counts, ci_prob=ci_prob, g="identity")
    for ours, weight in ((tuned, None), (plain, 1)):
        ends = ppi_py.ppi_mean_ci(truth, verdict, test, alpha=1 - ci_prob, lam=weight)
        point = ppi_py.ppi_mean_pointestimate(truth, verdict, test, lam=weight)
        expected = np.clip(np.ravel([point, *ends]), 0, 1)
        assert_allclose(ours["prevalence"], expected, rtol=1e-12, atol=1e-14)


def mirrored(c):
    """The same labels and verdicts, with good called bad and passed called failed."""
    return P.Counts(
        *(c.test_n, c.test_n - c.test_pass),
        *(c.incorrect_n, c.incorrect_fail, c.correct_n, c.correct_pass),
        calibration=c.calibration,
    )


@pytest.mark.parametrize("g", ["linear", "identity"])
@pytest.mark.parametrize(
    "cells",
    [
        (400_000, 364_860, 54, 54, 5, 5),
        (400_000, 364_860, 34, 34, 0, 0),
        (400_000, 364_860, 1, 1, 0, 0),
        (400_000, 400_000, 34, 34, 0, 0),
        (400_000, 364_860, 55, 53, 4, 4),
    ],
)
def test_labels_without_an_error_do_not_say_that_there_is_none(cells, g):
    """With as many errors as would go unseen one time in twenty, the interval is not surprised."""
    counts = P.Counts(*cells, calibration="random")
    value, low, high = P.difference(counts, g=g)["prevalence"]
    assert 0 <= low < value <= high <= 1
    unseen = 1 - 0.05 ** (1 / counts.labelled_n)
    assert high - low > 0.6 * unseen
    if counts.labelled_n > 1:
        assert high - low < 6 / counts.labelled_n + 0.1
    mirror = P.difference(mirrored(counts), g=g)["prevalence"]
    assert_allclose([value, low, high], [1 - mirror[0], 1 - mirror[2], 1 - mirror[1]], atol=1e-12)


#: Labels; share of good items; shares of items that are wrongly failed, and wrongly passed.
FEW_ERRORS = [
    (labels, good, *errors)
    for labels in (5, 20, 59, 200)
    for good in (0.2, 0.9)
    for errors in ((0, 0), (0.005, 0), (0, 0.02), (0.05, 0.05))
]


@pytest.mark.slow
@pytest.mark.parametrize("g", ["linear", "identity"])
def test_difference_covers_with_few_labels_and_few_errors(g):
    rng, runs, n = np.random.default_rng(7), 4000, 1000
    covered = []
    for labels, good, failed, passed in FEW_ERRORS:
        cells = rng.multinomial(labels, [good - failed, failed, passed, 1 - good - passed], runs)
        rate = rng.binomial(n, good - failed + passed, runs) / n
        patterns = influence.of_verdicts(n * rate, n, cells.T)
        found, _ = influence.difference(*patterns, 1.959964, weight=None if g == "linear" else 1.0)
        covered.append(np.mean((found.low <= good) & (good <= found.high)))
    noise = 5 * np.sqrt(0.95 * 0.05 / runs)
    assert min(covered) > 0.93 - noise, dict(zip(FEW_ERRORS, covered, strict=True))
    assert np.mean(covered) > 0.95


def test_few_good_labels_are_joined_by_an_item_of_each_kind():
    """Eight misjudged, but three good: the interval is that of the padded table, written out."""
    counts = P.Counts(200, 40, 3, 3, 60, 52, calibration="random")
    cells, others = np.array([3, 0, 8, 52]) + 1.0, np.array([40, 160]) + 2.0
    truth, verdict, said = [1, 1, 0, 0], [1, 0, 1, 0], [1, 0]
    z = z_score(0.95)

    def moments(values, weights):
        mean = np.average(values, weights=weights)
        return mean, np.average((np.array(values) - mean) ** 2, weights=weights) / weights.sum()

    errors, error = moments(np.subtract(truth, verdict), cells)
    rate, spread = moments(said, others)
    low, high = P.difference(counts, g="identity")["prevalence"][1:]
    centre, half = rate + errors, z * np.sqrt(error + spread)
    assert_allclose([low, high], [max(centre - half, 0), centre + half], rtol=1e-12)


def test_difference_without_tuning_by_hand():
    # .76 + mean(truth - verdict) = .76 + (140 - 144) / 200
    assert_allclose(P.difference(SAMPLE, g="identity")["prevalence"].value, 0.74, rtol=1e-12)


def test_a_judge_that_never_fails_is_given_no_weight():
    counts = P.Counts(1000, 1000, 140, 140, 60, 0, calibration="random")
    value, low, high = P.difference(counts)["prevalence"]
    assert_allclose(
        [value, (high - low) / 2], [0.7, 1.959964 * np.sqrt(0.7 * 0.3 / 200)], rtol=1e-6
    )


def test_post_stratified_by_hand():
    # 700 of 1000 passed; 45 of 50 labelled passes and 10 of 50 labelled fails are good
    counts = P.Counts(900, 650, 55, 45, 45, 40, calibration="by_verdict")
    made = P.post_stratified(counts)
    assert_allclose(made["prevalence"].value, 0.7 * 0.9 + 0.3 * 0.2, rtol=1e-12)
    assert_allclose(made["ppv"], jeffreys(45, 50), rtol=1e-12)
    assert_allclose(made["npv"], jeffreys(40, 50), rtol=1e-12)


def test_post_stratified_needs_both_verdicts_labelled():
    made = P.post_stratified(P.Counts(100, 50, 5, 5, 5, 0, calibration="by_verdict"))
    assert np.isnan(made["prevalence"]).all()


# What is put side by side ------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["random", "by_truth", "separate", "by_verdict"])
def test_each_design_gets_its_own_closed_forms(design):
    counts = P.Counts(900, 650, 62, 46, 38, 34, calibration=design)
    suited = {one.method.title for one in P.closed_forms(counts)}
    assert JUDGE.title in suited
    expected = {
        "random": {"Human labels only", "Difference (PPI++)", "Rogan-Gladen"},
        "by_truth": {"Rogan-Gladen"},
        "separate": {"Rogan-Gladen"},
        "by_verdict": {"Post-stratified"},
    }
    assert suited - {JUDGE.title} == expected[design]
    for one in P.closed_forms(counts, mismatched=True):
        names = {caution.id for caution in one.cautions}
        valid = suited | ({"Rogan-Gladen (bootstrap)"} if "Rogan-Gladen" in suited else set())
        if design == "random":  # under which all of them are valid
            valid = {one.method.title}
        assert ("design-mismatch" in names) == (one.method.title not in valid), one.method.title


def test_a_refusal_is_told_by_the_estimates_that_remain():
    made = P.closed_forms(P.Counts(100, 50, 10, 4, 10, 5, calibration="by_truth"))
    assert [one.method.title for one in made] == [JUDGE.title]
    assert "no-better-than-chance" in {caution.id for caution in made[0].cautions}


def test_naive_counts_labelled_items_where_they_are_of_the_same_kind():
    designs = {"random": 1200, "by_verdict": 1200, "by_truth": 1000, "separate": 1000}
    for design, items in designs.items():
        counts = P.Counts(1000, 760, 140, 126, 60, 42, calibration=design)
        passes = 760 + (144 if items == 1200 else 0)
        assert_allclose(P.naive(counts)["prevalence"], P.wilson(passes, items))


def test_human_labels_only_with_either_interval():
    assert_allclose(P.human_only(SAMPLE)["prevalence"], P.wilson(140, 200))
    exact = P.human_only(SAMPLE, interval="exact")
    assert_allclose(exact["prevalence"], P.clopper_pearson(140, 200))


@pytest.mark.parametrize("ci_prob", [0, 1, 95, -0.1, float("nan")])
def test_a_probability_must_be_one(ci_prob):
    for method in (P.naive, P.human_only, P.rogan_gladen, P.difference, P.post_stratified, P.exact):
        with refused(ci_prob=ci_prob):
            method(COUNTS, ci_prob=ci_prob)
