"""Numeric scores: two of them are pass and fail, linear ones PPI++, all shapes are covered."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from numpy.testing import assert_allclose
from oracles import SIGMAS, assert_mc_mean, assert_mc_quantile
from refusals import refused
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp, ndtr, xlogy
from scipy.stats import mannwhitneyu, sem, t

import bayesjudge as bj
from bayesjudge.core.errors import UninformativeJudgeError
from bayesjudge.core.methods import HUMAN_ONLY, JUDGE_SCORE, MEAN_SCORE
from bayesjudge.prevalence.scores.cautions import not_rising
from bayesjudge.prevalence.scores.closed_form import _ScoresSample
from bayesjudge.prevalence.scores.curves import CURVES
from bayesjudge.prevalence.scores.model import NumbersByBin
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
S = P.scores
NAN = float("nan")
MANY = P.Counts(1000, 760, 140, 126, 60, 42, calibration="random")
FEW_ERRORS = P.Counts(500, 430, 52, 50, 8, 7, calibration="random")
FEW_GOOD = P.Counts(500, 150, 3, 2, 97, 77, calibration="random")


def two(counts, scale=(0, 1), ends=(0, 1)):
    """The same counts as scores: the ends of a scale for fail and pass."""
    c = counts
    n = [c.correct_pass, c.correct_n - c.correct_pass, c.incorrect_n - c.incorrect_fail]
    n += [c.incorrect_fail, c.test_pass, c.test_n - c.test_pass]
    score = [ends[1], ends[0]] * 3
    return S.Scores(score, [1, 1, 0, 0, NAN, NAN], n, c.calibration, scale)


def read(**how):
    numeric = how.get("numeric", False)
    table = S.simulate(**how)
    return S.Scores.from_frame(
        table, calibration=how.get("calibration", "random"), scale=(0, 1),
        truth_scale=(1, 5) if numeric else None,
    )  # fmt: skip


# Two scores are pass and fail --------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts", [MANY, FEW_ERRORS, FEW_GOOD], ids=["many errors", "few errors", "few good"]
)
def test_two_scores_are_the_closed_forms_of_pass_and_fail(counts):
    scores = two(counts)
    for form in (P.naive, P.human_only, P.difference, P.post_stratified):
        expected = form(counts)["prevalence"]
        assert_allclose(form(scores)["prevalence"], expected, rtol=1e-12, err_msg=str(form))
    classical = P.difference(counts, g="identity")["prevalence"]
    assert_allclose(P.difference(scores, g="identity")["prevalence"], classical, rtol=1e-12)


@pytest.mark.parametrize("interval", ["lang_reiczigel", "delta"])
def test_two_scores_by_truth_are_rogan_gladen(interval):
    counts = P.Counts(1000, 620, 100, 90, 80, 56, calibration="by_truth")
    expected = P.rogan_gladen(counts, interval=interval)["prevalence"]
    for scores in (two(counts), two(counts, (1, 5), (2, 4))):
        found = P.rogan_gladen(scores, interval=interval)["prevalence"]
        assert_allclose(found, expected, rtol=1e-12)
    made = {one.method.title: one for one in S.closed_forms(two(counts))}
    assert list(made) == [JUDGE_SCORE.title, MEAN_SCORE.title]
    judge = made["Judge's mean score"]["prevalence"]
    assert_allclose(judge, P.naive(counts)["prevalence"], rtol=1e-12)


@pytest.mark.parametrize("interval", ["lang_reiczigel", "delta"])
def test_scores_between_the_ends_vary_less_than_passes_and_fails(interval):
    """Eqs. (6)-(9) with variances of scores, written out; half of what joins is at either end."""
    rng, z = np.random.default_rng(4), 1.959964
    sizes, shares = (
        (400, 60, 70),
        ([0.2, 0.2, 0.2, 0.4], [0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]),
    )
    drawn = [rng.multinomial(n, p) for n, p in zip(sizes, shares, strict=True)]
    steps = np.array([1.0, 2.0, 4.0, 5.0])
    truth = np.repeat([NAN, 0.0, 1.0], 4)
    scores = S.Scores(np.tile(steps, 3), truth, np.concatenate(drawn), "by_truth", (1, 5))
    extra = (0, 0, 0) if interval == "delta" else (z**2, 2, 2)
    moments = []
    for n, more in zip(drawn, extra, strict=True):
        f, weight = np.append((steps - 1) / 4, [0, 1]), np.append(n, [more / 2] * 2)
        mean = np.average(f, weights=weight)
        moments.append((mean, np.average((f - mean) ** 2, weights=weight) / weight.sum()))
    (p, var), (wrong, var0), (hit, var1) = moments
    theta = (p - wrong) / (hit - wrong)
    shift = 0 if interval == "delta" else 2 * z**2 * (theta * var1 - (1 - theta) * var0)
    half = z * np.sqrt(var + (1 - theta) ** 2 * var0 + theta**2 * var1) / (hit - wrong)
    found = P.rogan_gladen(scores, interval=interval)["prevalence"]
    assert_allclose(found[1:], (theta + shift - half, theta + shift + half), rtol=1e-6)


def test_two_scores_by_score_are_post_stratified():
    counts = P.Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict")
    found = P.post_stratified(two(counts))["prevalence"]
    assert_allclose(found, P.post_stratified(counts)["prevalence"], rtol=1e-12)


def test_two_scores_with_propensities_are_the_weighted_difference():
    test, passed = [400, 500], [100, 450]
    good, bad = [20, 45], [80, 5]
    for hits, shown in (([10, 44], [65, 3]), ([20, 44], [79, 5])):  # many errors, and few
        counts = P.Counts(
            test, passed, good, hits, bad, shown, calibration="known_propensity",
            propensity=[0.2, 0.1], systems=["0.2", "0.1"], dim="stratum",
        )  # fmt: skip
        rows = []
        for i, p in enumerate((0.2, 0.1)):
            cells = (hits[i], good[i] - hits[i], bad[i] - shown[i], shown[i])
            cells += (passed[i], test[i] - passed[i])
            truths = (1, 1, 0, 0, NAN, NAN)
            rows += [(s, t, n, p) for s, t, n in zip((1, 0) * 3, truths, cells, strict=True) if n]
        score, truth, n, p = np.array(rows).T
        scores = S.Scores(score, truth, n, "known_propensity", (0, 1), propensity=p)
        for g in ("linear", "identity"):
            expected = P.propensity_weighted(counts, g=g)["overall_prevalence"]
            assert_allclose(P.difference(scores, g=g)["prevalence"], expected, rtol=1e-12)


# Many scores -------------------------------------------------------------------------------------


def ppi_plus_plus(f, y, f_test, z=1.959964):
    """As published (eqs. 1, 5 and 6 of arXiv:2311.01453, for a mean), in plain NumPy."""
    m, n = len(y), len(f_test)
    cov = np.cov(f, y)[0, 1]
    weight = cov / ((1 + m / n) * np.var(np.concatenate([f, f_test]), ddof=1))
    value = np.mean(y) + weight * (np.mean(f_test) - np.mean(f))
    error = np.sqrt(weight**2 * np.var(f_test) / n + np.var(y - weight * f) / m)
    return value, value - z * error, value + z * error


@pytest.mark.parametrize("numeric", [False, True])
def test_linear_scores_are_ppi_plus_plus(numeric):
    table = S.simulate(random_seed=1, numeric=numeric, shape="even")
    scores = read(random_seed=1, numeric=numeric, shape="even")
    known = table["truth"].notna()
    f, y = table["score"].to_numpy(), table["truth"].to_numpy()
    expected = ppi_plus_plus(f[known], y[known], f[~known])
    value, low, high = P.difference(scores)[scores.answer]
    width = expected[2] - expected[1]
    assert abs(value - expected[0]) < 0.02 * width
    assert abs((high - low) / width - 1) < 0.02


@pytest.mark.slow
def test_scales_change_nothing():
    table = S.simulate(random_seed=2, shape="ceiling")
    first = S.Scores.from_frame(table, calibration="random", scale=(0, 1))
    for low, high in ((0, 100), (1, 5), (1, 10)):
        stretched = table.assign(score=low + (high - low) * table["score"])
        scores = S.Scores.from_frame(stretched, calibration="random", scale=(low, high))
        for one, other in zip(S.closed_forms(scores), S.closed_forms(first), strict=True):
            assert_allclose(one["prevalence"], other["prevalence"], rtol=1e-9, err_msg=one.method)
    kept = table[(table["score"] > 0) & (table["score"] < 1)]
    odds = kept.assign(score=np.log(kept["score"] / (1 - kept["score"])))
    one = S.Scores.from_frame(odds, calibration="random", scale="log_odds")
    other = S.Scores.from_frame(kept, calibration="random", scale=(0, 1))
    assert_allclose(P.difference(one)["prevalence"], P.difference(other)["prevalence"], rtol=1e-9)


def cross_fitted(f, y, f_test, folds, seed):
    """Isotonic cross-fitting by hand: pool-adjacent-violators of the other folds' labels."""
    fold = np.random.default_rng(seed).permutation(np.arange(len(y)) % folds)
    own, test = np.empty(len(y)), np.zeros(len(f_test))
    for k in range(folds):
        x, t = f[fold != k], y[fold != k]
        knots = np.unique(x)
        blocks = [[t[x == v].mean(), (x == v).sum(), 1] for v in knots]
        i = 0
        while i < len(blocks) - 1:
            if blocks[i][0] > blocks[i + 1][0]:
                (a, n, p), (b, m, q) = blocks[i], blocks.pop(i + 1)
                blocks[i] = [(a * n + b * m) / (n + m), n + m, p + q]
                i = max(i - 1, 0)
            else:
                i += 1
        fitted = np.concatenate([[a] * p for a, _, p in blocks])
        own[fold == k] = np.interp(f[fold == k], knots, fitted)
        test += np.interp(f_test, knots, fitted) / folds
    every = np.concatenate([own, test])
    m, n = len(y), len(test)
    weight = np.cov(own, y, ddof=0)[0, 1] / (every.var(ddof=1) * (1 + m / n))
    return weight * test.mean() + np.mean(y - weight * own)


def test_isotonic_is_cross_fitting_by_hand():
    scores = read(random_seed=3, labelled=120)
    known, n = scores.known, scores.n
    f, y = (np.repeat(x[known], n[known]) for x in (scores.unit, scores.truth))
    f, y = (x[np.lexsort((y, f))] for x in (f, y))
    expected = cross_fitted(f, y, np.repeat(scores.unit[~known], n[~known]), 5, 1)
    assert_allclose(P.difference(scores, g="isotonic")["prevalence"].value, expected, rtol=1e-9)


def u_shaped(seed, numeric=True, labelled=100):
    """Scores far from the middle are good."""
    table = S.simulate(numeric=numeric, labelled=labelled, noise=0.5, random_seed=seed)
    side = np.random.default_rng([seed, 1]).choice([-0.5, 0.5], len(table))
    table["score"] = 0.5 + side * table["score"]
    return S.Scores.from_frame(
        table, calibration="random", scale=(0, 1), truth_scale=(1, 5) if numeric else None
    )


def test_a_curve_predicts_what_it_was_fitted_to():
    f, weight = np.linspace(0, 1, 41), np.repeat([1.0, 3.0], [20, 21])
    for name, y in (("line", 0.2 + 0.6 * f), ("isotonic", f**3), ("spline", 0.3 + 0.4 * f)):
        assert_allclose(CURVES[name](f, y, weight)(f), y, atol=1e-9, err_msg=name)
    knots = np.quantile(f, np.linspace(0.05, 0.95, 4))
    bent = CubicSpline(knots, [0.9, 0.2, 0.3, 0.8], bc_type="natural")
    inside = f[(f >= knots[0]) & (f <= knots[-1])]
    found = CURVES["spline"](inside, bent(inside), np.ones(inside.size))
    assert np.abs(found(inside) - bent(inside)).max() < 0.05
    beyond = CURVES["spline"](f, np.sin(6 * f) + f**2, np.ones(41))(np.linspace(0.96, 1, 5))
    assert_allclose(np.diff(beyond, 2), 0, atol=1e-9)  # straight beyond the last knot
    means = CURVES["binned"](f, f, np.ones(41))(np.array([0.0, 1.0]))
    assert_allclose(means, [(f[:9].sum() + 0.5) / 10, (f[33:].sum() + 0.5) / 9], rtol=1e-9)


@pytest.mark.slow
def test_stacked_curves_are_fitted_where_they_are_not_used():
    """Of labels that scores do not predict, predictions of their own labels would gain."""
    gains = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        f, y = rng.random(80), rng.random(80)
        made = S.Scores(np.append(f, rng.random(400)), np.append(y, np.full(400, NAN)),
                        np.ones(480, int), "random", (0, 1), truth_scale=(0, 1))  # fmt: skip
        found = P.difference(made, g="stacked")["mean_score"]
        alone = P.human_only(made)["mean_score"]
        gains.append((found.high - found.low) / (alone.high - alone.low))
    assert 0.99 < np.mean(gains) < 1.05
    assert sum(_ScoresSample(made).predicted("stacked")[-1].values()) == pytest.approx(1)


@pytest.mark.slow
def test_stacked_curves_are_quoted_whether_they_gain_or_cost():
    straight = read(numeric=True, labelled=40, random_seed=1)
    for scores, shorter in ((u_shaped(1), True), (straight, False)):
        made = S.closed_forms(scores)
        found = S.answer(*made)
        assert found.quoted.method.id == "difference-stacked"
        assert found.why.endswith("corrects the judge's scores by curves fitted to the labels.")
        widths = {one.method.id: np.ptp(one["mean_score"][1:]) for one in made}
        assert (widths["difference-stacked"] < widths["difference-tuned"]) == shorter
    few = read(numeric=True, labelled=15, random_seed=1)
    found = S.answer(*S.closed_forms(few))
    assert found.quoted.method.id == "difference-tuned"
    assert found.why.endswith("corrects the judge's scores by the labelled items.")


@pytest.mark.slow
def test_models_of_a_rising_truth_say_so_where_it_does_not_rise():
    numbers, passes = u_shaped(2, labelled=200), u_shaped(2, numeric=False, labelled=400)
    models = [
        (S.RisingMean(), numbers),
        (S.TruthGivenScore(), passes),
        (S.ScoreGivenTruth(), passes),
    ]
    for model, scores in models:
        assert "not-rising" in {one.id for one in model._diagnosis(scores)[1]}
    for free in (S.TruthGivenScore(monotone=False), S.ScoreGivenTruth(rise=None)):
        assert "not-rising" not in {one.id for one in free._diagnosis(passes)[1]}


@pytest.mark.slow
def test_scores_that_rise_are_seldom_taken_for_scores_that_do_not():
    """At most 1 % and chance of 200 where nothing rises; none of 100 where truths do."""
    raised = {False: 0, True: 0}
    for rises, runs in ((False, 200), (True, 100)):
        for seed in range(runs):
            rng = np.random.default_rng([seed, 7])
            f = rng.random(100)
            y = np.round(4 * np.clip(rises * f / 2 + rng.random(100) / 2, 0, 1)) / 4
            made = S.Scores(f, y, np.ones(100, int), "random", (0, 1), truth_scale=(0, 1))
            raised[rises] += bool(list(not_rising(made)))
    assert raised[True] == 0
    assert raised[False] <= 5


@pytest.mark.slow
def test_a_few_labels_that_fall_by_chance_are_not_taken_for_scores_that_do_not_rise():
    """Three to six passes and fails drawn by chance: at most 1 % and chance of 1,200."""
    raised = 0
    for seed in range(1200):
        rng = np.random.default_rng([seed, 8])
        n = 3 + seed % 4
        made = S.Scores(rng.random(n), rng.integers(0, 2, n), np.ones(n, int), "random", (0, 1))
        raised += bool(list(not_rising(made)))
    assert raised <= 12 + 4 * 12**0.5


def simple_truth(shape, numeric):
    """The mean truth of very many items."""
    table = S.simulate(items=1, labelled=400_000, shape=shape, numeric=numeric, random_seed=0)
    return table["truth"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("shape", ["skewed", "bimodal", "ceiling"])
def test_intervals_cover_and_gain_on_labels_alone(shape, numeric):
    truth, runs = simple_truth(shape, numeric), 50
    inside, widths = {}, {}
    for seed in range(runs):
        scores = read(
            shape=shape, numeric=numeric, lenience=1.0, noise=0.7, labelled=100, random_seed=seed
        )
        for one in S.closed_forms(scores):
            _, low, high = one[scores.answer]
            inside.setdefault(one.method.title, []).append(low <= truth <= high)
            widths.setdefault(one.method.title, []).append(high - low)
    alone = np.mean(widths["Human labels only"])
    noise = np.sqrt(0.95 * 0.05 / runs)
    for method in ("Human labels only", "Difference (PPI++)", "Difference (curves)",
                   "Binned scores"):  # fmt: skip
        assert np.mean(inside[method]) > 0.95 - 4 * noise, method
        assert np.mean(widths[method]) < 1.1 * alone, method
    assert np.mean(widths["Difference (PPI++)"]) < alone
    if shape != "bimodal":  # a lenient judge's own mean is off where qualities lie to one side
        assert np.mean(inside[JUDGE_SCORE.title]) < 0.5


def test_the_judges_bias_is_students_interval_of_the_differences():
    """Of 60 items that all have a label, on the truths' scale."""
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    score = np.clip(truth + rng.choice([0, 1, 2], 60, p=[0.5, 0.4, 0.1]), 1, 7)
    made = S.Scores(score, truth, np.ones(60, int), "random", (1, 7), truth_scale=(1, 5))
    gap = 1 + 4 * (score - 1) / 6 - truth
    row = S.judge_bias(made)["judge_less_people"]
    half = t.ppf(0.975, 59) * sem(gap)
    assert_allclose(row, [gap.mean(), gap.mean() - half, gap.mean() + half])
    level = S.judge_bias(made, ci_prob=0.8)["judge_less_people"]
    assert level.high - level.low == pytest.approx(2 * t.ppf(0.9, 59) * sem(gap))


def test_the_judges_bias_is_its_mean_less_the_estimate_of_the_truth():
    """Labels of some items, one weight for both: what PPI++ takes out is what the judge adds."""
    scores = read(items=300, labelled=80, random_seed=3, numeric=True)
    row = S.judge_bias(scores)["judge_less_people"]
    judge, people = P.naive(scores)["mean_score"], P.difference(scores)["mean_score"]
    assert row.value == pytest.approx(judge.value - people.value, abs=1e-12)
    rng = np.random.default_rng(1)  # people use more of the scale than the judge: weight above 1
    truth = np.clip(np.round(rng.normal(3, 1.2, 200)), 1, 5)
    flat = np.round(3 + 0.4 * (truth - 3) + rng.normal(0, 0.2, 200), 1)
    labels = np.where(np.arange(200) < 60, truth, np.nan)
    own = S.Scores(flat, labels, np.ones(200, int), "random", (1, 5), truth_scale=(1, 5))
    gap = P.naive(own)["mean_score"].value - P.difference(own)["mean_score"].value
    assert S.judge_bias(own)["judge_less_people"].value == pytest.approx(gap, abs=1e-12)
    known = own.known
    assert gap != pytest.approx(4 * (own.unit - own.unit_truth)[known].mean(), abs=1e-3)
    with pytest.raises(bj.InputError, match="known propensities"):
        S.judge_bias(
            replace(scores, calibration="known_propensity", propensity=np.full(scores.n.size, 0.5))
        )
    with refused(1.5, subject="prevalence.Scores"):
        S.Scores([0.1, 0.9, 0.5], [0, 1, np.nan], [1, 1.5, 2], "random", (0, 1))
    with refused(id="shapes-differ"):
        S.Scores([0.1, 0.9], [0, np.nan], [1, 2], "known_propensity", (0, 1), propensity=[0.5])
    told = S.answer(*S.closed_forms(scores))
    _judge, bias, _worth = told.notes
    assert f"{abs(row.value):.2f}" in bias
    assert ("too lenient:" in bias) == (row.low > 0)


@pytest.mark.parametrize(("labelled", "numeric"), [(300, True), (60, True), (60, False)])
@pytest.mark.slow
def test_intervals_of_the_judges_bias_cover(labelled, numeric):
    rng, covered, widths, runs = np.random.default_rng(labelled), 0, [], 400
    for _ in range(runs):
        ability = rng.normal(size=300)
        noise = rng.normal(size=(2, 300))
        score = np.clip(np.round(3.6 + 0.8 * ability + 0.5 * noise[0]), 1, 5)
        truth = np.clip(np.round(3.2 + 1.1 * ability + 0.7 * noise[1]), 1, 5)
        how = {"calibration": "random", "scale": (1, 5), "truth_scale": (1, 5)}
        if not numeric:
            truth, how["truth_scale"] = 1.0 * (truth >= 3), None
        known = np.where(np.arange(300) < labelled, truth, np.nan)
        row = S.judge_bias(S.Scores(score, known, np.ones(300, int), **how))["judge_less_people"]
        covered += row.low <= BIAS[numeric] <= row.high
        widths.append(row.high - row.low)
    assert covered / runs > 0.95 - 5 * np.sqrt(0.05 * 0.95 / runs)
    assert covered / runs < 0.95 + 5 * np.sqrt(0.05 * 0.95 / runs)


def _true_bias(numeric):
    """By quadrature over the ability: two normals, rounded and clipped."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    cuts = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf])

    def mean(centre, sd, values):
        chances = np.diff(ndtr((cuts - centre[:, None]) / sd), axis=1)
        return weights @ (chances @ values) / weights.sum()

    grades = np.arange(1.0, 6)
    judge = mean(3.6 + 0.8 * nodes, 0.5, grades)
    if numeric:
        return judge - mean(3.2 + 1.1 * nodes, 0.7, grades)
    return (judge - 1) / 4 - mean(3.2 + 1.1 * nodes, 0.7, grades >= 3)


BIAS = {numeric: _true_bias(numeric) for numeric in (True, False)}


def test_labels_without_an_error_do_not_prove_a_judge_without_bias():
    """All pass: the scores' scatter alone would make the interval far too narrow."""
    score, truth = [0.9, 0.95, 1.0] * 2, [1] * 3 + [NAN] * 3
    row = S.judge_bias(S.Scores(score, truth, [10] * 3 + [100] * 3, "random", (0, 1)))[
        "judge_less_people"
    ]
    assert row.value == pytest.approx(-0.05)
    assert row.high - row.low > 0.1


def test_the_share_above_a_human_threshold():
    table = S.simulate(numeric=True, shape="even", random_seed=5)
    words = {"calibration": "random", "scale": (0, 1)}
    scores = S.Scores.from_frame(table, truth_scale=(1, 5), **words)
    high = S.Scores.from_frame(table, truth_from=4, **words)
    for g in ("linear", "stacked"):
        one, other = P.difference(scores.at_least(4), g=g), P.difference(high, g=g)
        assert_allclose(one["prevalence"], other["prevalence"], rtol=1e-9)
    counts = high.to_counts(pass_from=0.6)
    passed = table["score"] >= 0.6
    assert counts.test_pass == (passed & table["truth"].isna()).sum()
    assert counts.correct_pass == (passed & (table["truth"] >= 4)).sum()
    assert counts.incorrect_fail == (~passed & (table["truth"] < 4)).sum()
    with refused("truth_from=", subject="prevalence.Scores.to_counts"):
        scores.to_counts(0.6)


# Intervals by hand -------------------------------------------------------------------------------


def test_the_interval_of_a_mean_score_is_as_wide_as_scores_vary():
    scores = S.Scores(
        [2, 3, 4, 3, 3], [NAN] * 3 + [0, 1], [3000, 5000, 2000, 5, 5], "random", (1, 5)
    )
    f = np.repeat(scores.unit, scores.n)
    value, low, high = P.naive(scores)["prevalence"]
    assert_allclose(value, f.mean())
    assert_allclose(high - low, 2 * 1.959964 * sem(f), rtol=1e-3)


def test_one_item_without_a_label_scatters_as_all_do():
    rng = np.random.default_rng(1)
    f = rng.uniform(size=31)
    y = np.clip(f + rng.normal(0, 0.1, 31), 0, 1)
    y[30] = NAN
    scores = S.Scores(f, y, np.ones(31, int), "random", (0, 1), truth_scale=(0, 1))
    for found in S.closed_forms(scores):
        assert not any(np.isnan(row).any() for _, _, row in found.rows()), found.method
    # PPI: the one prediction has the variance of all of them
    away = (y - f)[:30]
    error = np.sqrt(away.var(ddof=1) / 30 + f.var(ddof=1))
    low, high = f[30] + away.mean() + t.ppf([0.025, 0.975], 29) * error
    with_all = P.difference(scores, g="identity")["mean_score"]
    assert_allclose(with_all, [f[30] + away.mean(), max(low, 0), min(high, 1)])


def test_an_interval_of_human_numbers_is_students():
    """With the judge's own predictions: two means, each less a degree of freedom."""
    table = S.simulate(numeric=True, shape="even", labelled=12, items=300, random_seed=3)
    scores = S.Scores.from_frame(table, calibration="random", scale=(0, 1), truth_scale=(1, 5))
    known = table["truth"].notna()
    errors = (table["truth"][known] - 1) / 4 - table["score"][known]
    variance = errors.var() / 12 + table["score"][~known].var() / 300
    value, low, high = P.difference(scores, g="identity")["mean_score"]
    assert_allclose((value - 1) / 4, errors.mean() + table["score"][~known].mean())
    assert_allclose(high - low, 8 * t.ppf(0.975, 11) * np.sqrt(variance))
    rows = P.post_stratified(scores), P.post_stratified(scores, ci_prob=0.5)
    wide, narrow = (np.ptp([one["mean_score"].low, one["mean_score"].high]) for one in rows)
    free = 12 - len(scores.bins)
    assert_allclose(wide / narrow, t.ppf(0.975, free) / t.ppf(0.75, free))


def test_labels_without_an_error_do_not_prove_a_judge_without_errors():
    score, truth = [1, 3, 5] * 2, [1, 3, 5] + [NAN] * 3
    scores = S.Scores(score, truth, [4, 4, 4, 50, 50, 50], "random", (1, 5), truth_scale=(1, 5))
    _, low, high = P.difference(scores, g="identity")["mean_score"]
    of_test = np.sqrt(np.var([1, 3, 5]) / 149)
    assert high - low > 1.5 * 2 * t.ppf(0.975, 11) * of_test


def test_a_judge_who_is_the_wrong_way_round_gets_no_weight():
    rng = np.random.default_rng(7)
    score = rng.uniform(size=3000)
    truth = (rng.uniform(size=3000) > score).astype(float)
    propensity = np.where(score < 0.5, 0.05, 0.1)
    truth[rng.uniform(size=3000) > propensity] = NAN
    known = ~np.isnan(truth)
    scores = S.Scores(
        score, truth, np.ones(3000), "known_propensity", (0, 1), propensity=propensity
    )
    expected = np.average(truth[known], weights=1 / propensity[known])
    assert_allclose(P.difference(scores)["prevalence"].value, expected)
    assert HUMAN_ONLY.title not in {one.method.title for one in S.closed_forms(scores)}
    cells = pd.DataFrame({"bin": scores.bin_of, "p": propensity, "y": truth}).groupby(["bin", "p"])
    mean = (cells["y"].mean() * cells.size()).sum() / 3000
    assert_allclose(P.post_stratified(scores)["prevalence"].value, mean)


def test_an_estimate_ends_where_its_range_does():
    scores = S.Scores([0.9, 1, 0.97], [1, 1, NAN], [20, 20, 400], "random", (0, 1))
    made = P.difference(scores, g="identity")
    assert made.quantities["prevalence"].raw > 1
    value, low, high = made["prevalence"]
    assert low < value == high == 1


def test_what_a_design_or_an_empty_bin_does_not_tell_is_said():
    def names(made):
        return {c.id for c in made.cautions}

    by_score = two(P.Counts(900, 650, 62, 46, 38, 34, calibration="by_verdict"))
    assert "design-mismatch" in names(P.difference(by_score))
    assert "design-mismatch" not in names(P.post_stratified(by_score))
    empty = S.Scores([1, 2, 3, 3], [0, 1, NAN, NAN], [9, 9, 40, 40], "random", (1, 3),
                     edges=(1.5, 2.5))  # fmt: skip
    made = P.post_stratified(empty)
    assert np.isnan(made["prevalence"].value)
    assert "empty-bin" in names(made)
    single = S.Scores([1, 1, 3, 3], [2, 4, 5, NAN], [4, 3, 1, 40], "random", (1, 3),
                      truth_scale=(1, 5))  # fmt: skip
    made = P.post_stratified(single)
    assert np.isnan(made["mean_score"][1:]).all()
    assert "no-interval" in names(made)
    few = S.Scores([1, 2, 3], [0, 1, NAN], [9, 10, 400], "random", (1, 3))
    assert "Difference (curves)" not in {one.method.title for one in S.closed_forms(few)}


# Data --------------------------------------------------------------------------------------------


def test_numbers_outside_their_scales_are_told_together_and_briefly():
    table = pd.DataFrame({"score": np.arange(300.0), "truth": [7.0] * 150 + [NAN] * 150})
    with pytest.raises(bj.InputError) as error:
        S.Scores.from_frame(table, calibration="random", scale=(0, 10), truth_scale=(1, 5))
    assert len(error.value.problems) == 2
    assert "289 items have scores outside scale=(0.0, 10.0)" in str(error.value)
    assert "150 items have truths outside truth_scale=(1.0, 5.0)" in str(error.value)
    assert len(str(error.value)) < 500
    words = table.assign(score=[f"bad{i}" for i in range(300)], truth=1)
    with refused(300, subject="column 'score'") as error:
        S.Scores.from_frame(words, calibration="random", scale=(0, 10))
    assert len(str(error.value)) < 300


def test_as_many_good_as_bad_items_are_drawn_and_one_more_of_an_odd_number():
    truth = S.simulate(calibration="by_truth", items=20, labelled=5, random_seed=1)["truth"]
    assert (int(truth.isna().sum()), int(truth.sum()), int((truth == 0).sum())) == (20, 3, 2)


@pytest.mark.slow
def test_numeric_truths_of_labels_by_truth_are_refused_with_the_reason():
    table = S.simulate(numeric=True, random_seed=1)
    for calibration in ("by_truth", "separate"):
        with refused("truth_from=", subject="prevalence.Scores"):
            S.Scores.from_frame(table, calibration=calibration, scale=(0, 1), truth_scale=(1, 5))
    with refused("edges=", subject="prevalence.Scores"):
        S.Scores.from_frame(table, calibration="by_verdict", scale=(0, 1), truth_scale=(1, 5))
    with refused(id="unknown-calibration"):
        S.Scores.from_frame(table, calibration="by_hand", scale=(0, 1), truth_scale=(1, 5))
    lost = table.assign(score=table["score"].where(table.index % 7 > 0))
    with refused("unscored=", "drop", subject="column 'score'"):
        S.Scores.from_frame(lost, calibration="random", scale=(0, 1), truth_scale=(1, 5))
    kept = S.Scores.from_frame(
        lost, calibration="random", scale=(0, 1), truth_scale=(1, 5), unscored="drop"
    )
    assert "unscored" in {c.id for c in P.difference(kept).cautions}


def test_bins_hold_labels_and_equal_scores_stay_together():
    scores = read(random_seed=1, labelled=100)
    cells = scores.tally()
    assert len(scores.bins) == len(cells["labels"]) <= 10
    assert cells["labels"].min() >= 5
    assert cells["labels"].sum() == 100
    assert cells["test"].sum() == 1000
    few = S.Scores([1, 2, 3, 4, 5, 3], [0, 0, 0, 1, 1, NAN], [1, 1, 1, 1, 1, 50], "random", (1, 5))
    assert len(few.bins) == 2


def test_a_bin_begins_at_its_edge():
    scores = S.Scores([1, 2, 3, 3], [0, 1, 1, NAN], [1, 2, 4, 8], "random", (1, 4), edges=(2, 3))
    assert scores.bins == ("below 2", "2 to 3", "3 and above")
    assert scores.bin_of.tolist() == [0, 1, 2, 2]


def test_a_mean_of_human_numbers_has_students_interval():
    scores = read(random_seed=1, numeric=True, labelled=12)
    y = np.repeat(scores.truth[scores.known], scores.n[scores.known])
    low, high = t.interval(0.95, y.size - 1, y.mean(), sem(y))
    assert_allclose(P.human_only(scores)["mean_score"], (y.mean(), low, high), rtol=1e-9)


@pytest.mark.slow
def test_cautions_name_what_speaks_against_the_numbers():
    def names(scores):
        return {c.id for c in P.difference(scores).cautions}

    fine = read(random_seed=1)
    assert not names(fine)
    table = S.simulate(random_seed=1)
    high = table["truth"].isna() | (table["score"] > 0.5)
    biased = S.Scores.from_frame(table[high], calibration="random", scale=(0, 1))
    assert {"outside-labelled-range", "label-shift"} <= names(biased)
    declared = P.difference(biased).assumptions[0]
    assert declared.contradicted_by == ("label-selection", "label-shift")
    shuffled = table.assign(score=np.random.default_rng(1).permutation(table["score"]))
    weak = S.Scores.from_frame(shuffled, calibration="random", scale=(0, 1))
    assert "weak-judge" in names(weak)
    lenient = read(random_seed=1, lenience=2)
    told = P.naive(lenient)
    assert told.assumptions[0].contradicted_by == ("errors-do-not-cancel",)
    known = table["truth"].notna()
    p_value = mannwhitneyu(table["score"][known], table["score"][~known], use_continuity=False,
                           method="asymptotic").pvalue  # fmt: skip
    assert (p_value < 0.01) == ("label-shift" in names(fine))
    coarse = table[high].assign(score=np.digitize(table["score"][high], [0.5, 0.75]))
    known = coarse["truth"].notna()
    p_value = mannwhitneyu(coarse["score"][known], coarse["score"][~known], use_continuity=False,
                           method="asymptotic").pvalue  # fmt: skip
    tied = P.difference(S.Scores.from_frame(coarse, calibration="random", scale=(0, 2)))
    shift = next(c for c in tied.cautions if c.id == "label-shift")
    assert shift.numbers["p_value"] == pytest.approx(p_value)
    worse = two(P.Counts(100, 60, 20, 8, 20, 9, calibration="by_truth"))
    with pytest.raises(UninformativeJudgeError, match="scores that are not higher"):
        P.rogan_gladen(worse)
    assert "no-better-than-chance" in {c.id for c in S.closed_forms(worse)[0].cautions}


def test_pictures_draw_what_the_scores_hold():
    scores = read(random_seed=1, numeric=True)
    axes = S.plot_reliability(scores)
    assert axes.get_ylabel() == "mean human score"
    assert len(axes.patches) == len(scores.bins)
    n = scores.n * scores.known
    means = [
        scores.in_units(np.average(np.where(scores.known, one, 0), weights=n))
        for one in (scores.unit_truth, scores.unit)
    ]
    told = "Labelled items: people give {:.3g} on average, the judge {:.3g}".format(*means)
    assert axes.get_title(loc="left") == told
    axes = S.plot_residuals(scores)
    assert len(axes.collections[0].get_offsets()) == scores.known.sum()


# The models --------------------------------------------------------------------------------------


def sampled(scores, model, draws=700):
    fit = S.fit(scores, model, random_seed=1, draws=draws, tune=700, chains=2)
    assert fit.converged, fit.cautions
    return fit, fit.idata["posterior"][scores.answer]


@pytest.mark.study
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_two_bins_given_the_truth_are_the_quadrature(calibration):
    counts = P.Counts(60, 40, 12, 11, 10, 7, calibration=calibration)
    exact = posterior_of(counts, P.ErrorRates(better_than_chance=False))
    fit, draws = sampled(two(counts), S.ScoreGivenTruth(rise=None), draws=2500)
    assert_mc_mean(draws, exact.mean)
    assert_mc_quantile(draws, 0.025, float(exact.quantile(0.025)))
    assert fit.spec._build(fit.data).coords["bin"] == fit.data.bins


@pytest.mark.study
def test_two_bins_by_score_are_the_quadrature():
    counts = P.Counts(60, 40, 12, 11, 10, 7, calibration="by_verdict")
    exact = posterior_of(counts, P.PredictiveValues())
    _, draws = sampled(two(counts), S.TruthGivenScore())
    assert_mc_mean(draws, exact.mean)
    assert_mc_quantile(draws, 0.975, float(exact.quantile(0.975)))


@pytest.mark.study
def test_bins_without_an_order_are_conjugate():
    scores = read(random_seed=4, labelled=60)
    cells, bins = scores.tally(), len(scores.bins)
    items = cells["test"] + cells["labels"] + 2 / bins
    means = (cells["sums"] + 2 / bins) / (cells["labels"] + 4 / bins)
    _, draws = sampled(scores, S.TruthGivenScore(monotone=False))
    assert_mc_mean(draws, (items / items.sum()) @ means)


@pytest.mark.study
def test_rising_means_are_those_of_an_independent_sampler():
    """Importance sampling from the prior, with the likelihood written out, of two bins."""
    score, truth, n = [0, 0, 0, 1, 1, 0, 1], [1, 2, 3, 2, 3, NAN, NAN], [2, 2, 1, 2, 2, 30, 20]
    scores = S.Scores(score, truth, n, "random", (0, 1), truth_scale=(1, 3))
    _, draws = sampled(scores, S.RisingMean())
    rng, size = np.random.default_rng(1), 400_000
    shares = rng.dirichlet([1 + 35, 1 + 24], size)
    steps = rng.dirichlet([1, 1, 1], size)
    location = 2 * np.cumsum(steps, axis=1)[:, :2] - 0.5
    typical = np.abs(rng.normal(0, 0.5, size))
    spread = typical[:, None] * np.exp(0.5 * rng.normal(size=(size, 2)))
    noise = np.hypot(spread, 0.2 / 2)
    ends = ndtr((np.array([0.25, 0.75]) - location[..., None]) / noise[..., None])
    chances = np.diff(
        np.concatenate([np.zeros((size, 2, 1)), ends, np.ones((size, 2, 1))], axis=-1)
    )
    log = xlogy([[2, 2, 1], [0, 2, 2]], np.maximum(chances, 1e-12)).sum(axis=(1, 2))
    weight = np.exp(log - log.max())
    mean = (shares * (chances @ [1.0, 2.0, 3.0])).sum(axis=1)
    expected = (weight * mean).sum() / weight.sum()
    error = np.sqrt((weight**2 * (mean - expected) ** 2).sum()) / weight.sum()
    mcse = float(array_stats.mcse(draws.to_numpy(), method="mean"))
    assert abs(float(draws.mean()) - expected) < SIGMAS * np.hypot(error, mcse)


def test_scores_that_fall_as_the_truth_rises_are_weak_without_a_warning():
    """A correlation of -1, or beyond it by rounding, had no arctanh."""
    table = pd.DataFrame(
        {"score": [0.1, 0.3, 0.7, 0.9, 0.2, 0.5], "truth": [1, 1, 0, 0] + [np.nan] * 2}
    )
    for score in ([0.1, 0.1, 0.9, 0.9, 0.2, 0.5], [0.1, 0.1, 0.7, 0.7, 0.2, 0.5]):
        scores = S.Scores.from_frame(table.assign(score=score), calibration="random", scale=(0, 1))
        assert "weak-judge" in {c.id for c in P.human_only(scores).cautions}


@pytest.mark.study
def test_bins_whose_labels_agree_have_no_walls():
    """One draw in seven diverged, if nothing but the spread of a bin blurred the numbers."""
    score, truth, n = [0, 1, 2, 3, 0, 1, 2, 3], [1, 3, 4, 5] + [NAN] * 4, [10, 9, 21, 10] + [40] * 4
    scores = S.Scores(score, truth, n, "random", (0, 3), truth_scale=(1, 5), edges=(0.5, 1.5, 2.5))
    fit = S.fit(scores, S.RisingMean(spread=0.4), random_seed=1)
    assert fit.idata["sample_stats"]["diverging"].mean() < 0.002


def test_a_bin_whose_numbers_are_alike_is_read_to_a_fifth_of_a_step():
    """Of five numbers, 1 to 5: a bin that lies on 3, and one a quarter of a step above 4."""
    levels = np.linspace(0, 1, 5)
    values = {"location": np.array([0.5, 0.8125]), "bin_spread": np.full(2, 1e-9)}
    on, above = NumbersByBin(None, 2.0, 1.0, 0.5, levels, None).chances(values, np)
    assert_allclose(on[2], 1 - 2 * ndtr(-0.5 / 0.2), rtol=1e-9)
    assert_allclose(above[3], ndtr(0.25 / 0.2) - ndtr(-0.75 / 0.2), rtol=1e-9)


@pytest.mark.slow
def test_the_models_means_of_bins_are_those_that_draws_have():
    """The graph's, by its own normal integral, and the one in NumPy; on a scale from 1 to 5."""
    scores = read(numeric=True, random_seed=1)
    made = S.build_model(scores, S.RisingMean())
    point, rng = made.initial_point(), np.random.default_rng(2)
    point = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in point.items()}
    names = ("location", "bin_spread", "bin_mean")
    wanted = made.replace_rvs_by_values([made[n] for n in names])
    run = made.compile_fn(wanted, mode="FAST_COMPILE", on_unused_input="ignore")
    for unused in ("cell_share_simplex__", "typical_spread_log__"):
        del point[unused]
    found = dict(zip(names, run(point), strict=True))
    chances = S.RisingMean()._errors(scores).chances(found, np)
    assert_allclose(chances @ np.arange(1, 6), found["bin_mean"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("model", [S.TruthGivenScore(), S.RisingMean()])
def test_all_shares_of_cells_together_weigh_what_the_model_says(model):
    model = replace(model, share_concentration=3.0)
    scores = read(numeric=model._numeric, random_seed=1)
    made = S.build_model(scores, model)
    assert made["cell_share_prior"].get_value().sum() == pytest.approx(3.0)


@pytest.mark.slow
def test_increments_of_rising_means_weigh_as_two_flat_ones_do_however_many_bins():
    for edges in ((0.5,), (0.3, 0.5, 0.7)):
        scores = replace(read(numeric=True, random_seed=1), edges=edges)
        made = S.build_model(scores, S.RisingMean(truth_concentration=1.5))
        assert made["location_steps_prior"].get_value().shape == (len(edges) + 2,)
        assert made["location_steps_prior"].get_value().sum() == pytest.approx(4.5)


FEW = {
    "score given truth": ("random", S.ScoreGivenTruth(), {}),
    "labelled items are others": ("by_truth", S.ScoreGivenTruth(rise=None), {}),
    "truth given score": ("by_verdict", S.TruthGivenScore(), {}),
    "numbers": ("random", S.RisingMean(), {"truth_scale": (0, 2)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_summing_the_truths_out_gives_the_collapsed_model(name):
    calibration, model, how = FEW[name]
    scores = S.Scores(
        [0, 1, 0, 1, 0, 1], [1, 1, 0, 0, NAN, NAN], [2, 3, 2, 1, 2, 2], calibration, (0, 1),
        edges=(0.5,), **how,
    )  # fmt: skip
    made = [S.build_model(scores, model, collapsed=c) for c in (True, False)]
    density = [m.compile_logp(jacobian=False, mode="FAST_COMPILE") for m in made]
    rng, gaps = np.random.default_rng(3), []
    for _ in range(2):
        start = made[0].initial_point()
        point = {k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()}
        ways = itertools.product(range(3 if how else 2), repeat=4)
        logs = [density[1]({**point, "item_truth": np.array(z)}) for z in ways]
        gaps.append(density[0](point) - logsumexp(logs))
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-7)  # the multinomial coefficients


# Second numbers, by hand -------------------------------------------------------------------------


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("g", ["identity", "linear", "spline", "stacked"])
@pytest.mark.parametrize("numeric", [False, True], ids=["pass and fail", "numbers"])
def test_an_interval_of_the_difference_costs_the_means_and_curves_that_it_estimates(numeric, g):
    """By a loop over items: what is lost, and Student's quantile that goes with it."""
    scores = read(items=460, labelled=60, numeric=numeric, random_seed=5)
    curved = g in ("spline", "stacked")
    sample = _ScoresSample(scores)
    labelled, others = sample.predicted(g)[:2] if curved else sample.patterns()
    each = [(f, y) for f, y, n in zip(*labelled, strict=True) for _ in range(int(n))]
    rest = [f for f, n in zip(*others, strict=True) for _ in range(int(n))]
    (f, y), m, n = np.transpose(each), len(each), len(rest)
    spread = np.var([*f, *rest], ddof=1) * (1 / m + 1 / n)
    weight = 1.0 if g == "identity" else max(np.cov(f, y, ddof=0)[0, 1] / m / spread, 0)
    lost = numeric + curved
    error = np.sqrt(np.var(y - weight * f) / (m - lost) + weight**2 * np.var(rest) / (n - lost))
    # pass and fail are of no unknown variance; a sum of curves has one
    quantile = t.ppf(0.975, m - 1 - curved if numeric or curved else np.inf)
    value = y.mean() + weight * (np.mean(rest) - f.mean())
    found = P.difference(scores, g=g)
    found = found[next(iter(found.quantities))]
    expected = scores.in_units(value + quantile * error * np.array([0, -1, 1]))
    assert_allclose([found.value, found.low, found.high], expected, rtol=1e-9)
