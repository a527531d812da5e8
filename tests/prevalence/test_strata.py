"""Strata, known propensities, external labels, several judges: each checked another way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from numpy.testing import assert_allclose
from oracles import (
    assert_mc_mean,
    assert_mc_quantile,
    assert_mc_sd,
    assert_same_mean,
    pooled_oracle,
)
from refusals import refused
from scipy.special import xlog1py, xlogy

import bayesjudge as bj
from bayesjudge.compiled import compile_model
from bayesjudge.core.methods import JUDGE, POST_STRATIFIED, ROGAN_GLADEN
from bayesjudge.core.sampling import sample_draws
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
STRATA = P.Counts(
    *([60, 50], [48, 20], [9, 6], [8, 5], [7, 8], [5, 7]),
    calibration="random",
    systems=["short", "long"],
    dim="stratum",
)
PROPENSITY = P.Counts(
    *([200, 300], [130, 120], [30, 12], [26, 11], [20, 25], [14, 19]),
    calibration="known_propensity",
    systems=["0.2", "0.1"],
    dim="stratum",
    propensity=[0.2, 0.1],
)
EXTERNAL = [25, 23, 20, 14]
CELLS = (60, 40, 9, 7, 8, 5)


# Strata ------------------------------------------------------------------------------------------


def test_strata_of_which_one_has_no_answer_have_no_interval_together():
    # in stratum a the judge does no better than chance: .743 of the good pass, and all the bad
    counts = P.Counts(
        *([43, 27], [31, 20], [35, 30], [26, 26], [3, 4], [0, 2]),
        calibration="separate",
        systems=["a", "b"],
        dim="stratum",
    )
    for made in (P.rogan_gladen(counts), P.bootstrap(counts, random_seed=1)):
        assert np.isnan(made["overall_prevalence"]).all(), made.method
        assert np.isfinite(made["prevalence", "b"]).all()


@pytest.fixture(scope="module")
def strata_fit():
    return P.fit(STRATA, random_seed=3)


@pytest.mark.own_model
@pytest.mark.sampling
def test_strata_are_pooled_as_weighting_the_prior_pools_them(strata_fit):
    assert strata_fit.converged, strata_fit.cautions
    assert strata_fit.spec == P.PooledErrorRates()
    means, errors = pooled_oracle(STRATA)
    posterior = strata_fit.idata["posterior"]
    exact = P.exact(STRATA, P.PooledErrorRates(), interval="eti")
    for i in range(2):
        for j, name in enumerate(("prevalence", "sensitivity", "specificity")):
            draws = posterior[name].isel(stratum=i)
            assert_same_mean(draws, means[i, j], errors[i, j])
            value, low, high = exact[name, STRATA.systems[i]]
            error = float(draws.std()) / 500**0.5  # the weighed points are worth more draws
            assert_same_mean(draws, value, error)
            for end, prob in ((low, 0.025), (high, 0.975)):
                assert abs(float(draws.quantile(prob)) - end) < 12 * error, (name, prob)


@pytest.mark.sampling
def test_the_overall_prevalence_weighs_the_strata_by_their_items(strata_fit):
    # 76 short items and 64 long ones, labelled or not
    draws = strata_fit.draws("prevalence") @ np.array([76, 64]) / 140
    assert_allclose(strata_fit.draws("overall_prevalence"), draws)
    by_truth = P.Counts(
        *([60, 30], [48, 20], [9, 6], [8, 5], [7, 8], [5, 7]),
        calibration="by_truth",
        systems="ab",
        dim="stratum",
    )
    assert_allclose(by_truth.shares, [2 / 3, 1 / 3])  # labelled items are no sample of them


@pytest.mark.slow
def test_exact_adds_up_what_the_strata_are():
    cells = ([600, 500], [480, 200], [90, 60], [80, 50], [110, 140], [78, 122])
    counts = P.Counts(*cells, calibration="random", systems=["short", "long"], dim="stratum")
    made = P.exact(counts, interval="eti")
    rng, size = np.random.default_rng(4), 400_000
    whole = 0.0
    for name, share in zip(counts.systems, counts.shares, strict=True):
        posterior = posterior_of(counts.system(name), P.ErrorRates())
        assert made["prevalence", name].value == posterior.mean
        grid = np.linspace(0, 1, 4001)
        whole = whole + share * np.interp(rng.random(size), posterior.cdf(grid), grid)
    mean, low, high = made["overall_prevalence"]
    sd = whole.std()
    assert abs(mean - whole.mean()) < 5 * sd / np.sqrt(size)
    # an end's Monte Carlo error is sd sqrt(p (1 - p) / size) / density(1.96)
    error = 5 * sd * np.sqrt(0.025 * 0.975 / size) / 0.0584
    assert_allclose([low, high], np.quantile(whole, [0.025, 0.975]), atol=error)
    _, *shortest = P.exact(counts, interval="hdi")["overall_prevalence"]
    assert shortest[1] - shortest[0] < high - low
    held = np.mean((shortest[0] <= whole) & (whole <= shortest[1]))
    assert abs(held - 0.95) < 5 * np.sqrt(0.95 * 0.05 / size) + 1e-4


@pytest.mark.slow
def test_one_stratum_is_the_whole():
    cells = ([300], [210], [40], [35], [20], [13])
    for design, methods in SPLIT.items():
        one = P.Counts(*cells, calibration=design, systems=["all"], dim="stratum")
        for method in methods:
            found, alone = method(one), method(one.merged())
            assert_allclose(found["overall_prevalence"], alone["prevalence"], rtol=1e-12)
            assert found.interval_of("overall_prevalence").endswith(", strata combined")


def split(counts, strata, seed=1):
    """Deal the items of each kind out to equal strata at random, as evenly as can be."""
    rng, dealt = np.random.default_rng(seed), {}
    kinds = {"test": (counts.test_pass, counts.test_n - counts.test_pass)}
    labelled = (counts.correct_pass, counts.correct_n - counts.correct_pass)
    labelled += (counts.incorrect_n - counts.incorrect_fail, counts.incorrect_fail)
    # by truth each stratum has its labels of each kind; in a sample, labels
    pairs = {"good": labelled[:2], "bad": labelled[2:]}
    kinds |= pairs if counts.calibration == "by_truth" else {"labelled": labelled}
    for name, cells in kinds.items():
        items = rng.permutation(np.repeat(np.arange(len(cells)), cells))
        place = np.arange(items.size) % strata
        dealt[name] = [np.bincount(place[items == i], minlength=strata) for i in range(len(cells))]
    hit, missed, passed, caught = dealt.get(
        "labelled", dealt.get("good", []) + dealt.get("bad", [])
    )
    test = dealt["test"]
    return P.Counts(
        *(test[0] + test[1], test[0], hit + missed, hit, passed + caught, caught),
        calibration=counts.calibration,
        systems=[f"s{i}" for i in range(strata)],
        dim="stratum",
    )


def bootstrap(counts):
    return P.bootstrap(counts, resamples=1000, random_seed=1)


SPLIT = {
    "by_truth": (P.naive, P.rogan_gladen, bootstrap),
    "random": (
        *(P.naive, P.human_only, P.difference, P.post_stratified, P.conditional_calibration),
        *(lambda c: P.difference(c, g="identity"), lambda c: P.human_only(c, interval="exact")),
    ),
    "by_verdict": (P.naive, P.post_stratified),
}
WHOLE = {
    # 3 % good, of which a judge right on 90 % of either passes 12.4 %
    "by_truth": P.Counts(20_000, 2480, 4000, 3600, 4000, 3600, calibration="by_truth"),
    "random": P.Counts(20_000, 6800, 600, 540, 1400, 1260, calibration="random"),
    "by_verdict": P.Counts(20_000, 6800, 600, 540, 1400, 1260, calibration="by_verdict"),
}
CASES = [(design, i) for design, methods in SPLIT.items() for i in range(len(methods))]


@pytest.mark.fast_one_in(14)
@pytest.mark.parametrize("strata", [5, 20, 100])
@pytest.mark.parametrize(("design", "method"), CASES)
def test_splitting_a_table_leaves_the_overall_answer_where_it_was(design, method, strata):
    counts, method = WHOLE[design], SPLIT[design][method]
    value, low, high = method(counts)["prevalence"]
    found = [method(split(counts, strata, seed))["overall_prevalence"] for seed in range(3)]
    moved = np.mean(found, axis=0) - [value, low, high]
    error = (high - low) / 2 / 1.96
    assert abs(moved[0]) < error / 3
    assert_allclose(moved[1:], 0, atol=error / 2)
    widths = [(one.high - one.low) / (high - low) for one in found]
    assert 0.9 < min(widths) <= max(widths) < 1.2  # thin strata cost some precision


@pytest.mark.slow
def test_thin_strata_together_have_intervals_nested_in_the_level():
    # each stratum's shift grows faster than its half-width, and shifts add up where widths do not
    counts = P.Counts(
        *([52, 50, 41], [14, 9, 15], [1, 1, 5], [1, 1, 4], [10, 7, 14], [10, 7, 13]),
        calibration="by_truth",
        systems="abc",
        dim="stratum",
    )
    levels = [0.5, 0.9, 0.95, 0.99, 0.999]
    ends = [P.rogan_gladen(counts, ci_prob=level)["overall_prevalence"][1:] for level in levels]
    low, high = np.transpose(ends)
    assert (np.diff(low) <= 1e-12).all()
    assert (np.diff(high) > 0).all()


@pytest.mark.slow
def test_thin_strata_have_an_interval_about_the_value_or_say_why_not():
    rng = np.random.default_rng(3)
    for _ in range(40):
        strata, design = int(rng.choice([1, 2, 6])), str(rng.choice(list(SPLIT)))
        test, good, bad = rng.integers([[1], [0], [0]], [[40], [6], [6]], (3, strata))
        good[0] += 1
        cells = (test, rng.binomial(test, rng.random()), good, rng.binomial(good, rng.random()))
        cells += (bad, rng.binomial(bad, rng.random()))
        names = [str(i) for i in range(strata)]
        counts = P.Counts(*cells, calibration=design, systems=names, dim="stratum")
        for made in P.closed_forms(counts, mismatched=True):
            value, low, high = made["overall_prevalence"]
            if np.isnan(value):
                assert "empty-stratum" in {c.id for c in made.cautions}
            else:
                assert 0 <= low <= value + 1e-12, made.method
                assert value - 1e-12 <= high <= 1, made.method


@pytest.mark.parametrize("g", ["linear", "identity"])
def test_strata_share_the_imaginary_items(g):
    counts = P.Counts(20_000, 6000, 60, 60, 140, 140, calibration="random")
    value, low, high = P.difference(counts, g=g)["prevalence"]
    found = P.difference(split(counts, 20), g=g)["overall_prevalence"]
    assert_allclose(found, [value, low, high], atol=(high - low) / 20)


def test_a_stratum_without_an_estimate_moves_the_bootstrap_by_no_more_than_its_share():
    # a tenth of the items, in which half of the resamples of the judge are worse than chance
    cells = ([900, 100], [300, 50], [200, 6], [180, 4], [200, 6], [180, 3])
    counts = P.Counts(*cells, calibration="by_truth", systems="ab", dim="stratum")
    made = P.bootstrap(counts, random_seed=1)
    value, low, high = made["overall_prevalence"]
    assert any("in stratum 'b'" in c.text for c in made.cautions)
    _, first, last = P.bootstrap(counts.system("a"), random_seed=1)["prevalence"]
    share = counts.shares[1]
    assert low > (1 - share) * first - share - 0.05
    assert high < (1 - share) * last + share + 0.05
    assert 0.1 < low < value < high < 0.6


@pytest.mark.slow
def test_exact_has_an_overall_value_by_the_number_of_labels():
    """Whatever the labels say: a rule that looked at them would select among tables."""
    rng = np.random.default_rng(6)
    for strata, labels, answered in (
        (1, 5, True),
        (2, 200, True),
        (2, 199, False),
        (3, 299, False),
    ):
        for _ in range(3):
            good = rng.binomial(labels, rng.random(), strata)
            cells = (np.full(strata, 300), rng.integers(1, 300, strata), good)
            cells += (rng.binomial(good, 0.9), labels - good, rng.binomial(labels - good, 0.9))
            names = [str(i) for i in range(strata)]
            counts = P.Counts(*cells, calibration="random", systems=names, dim="stratum")
            made = P.exact(counts)
            assert np.isfinite(made["overall_prevalence"]).all() == answered
            told = [c.text for c in made.cautions if c.id == "stratum-priors"]
            assert bool(told) != answered
            if told:
                assert f"{100 * strata} labels in each" in told[0]
                assert "PooledErrorRates()" in told[0]
            assert np.isfinite(made.quantities["prevalence"].value).all()


@pytest.mark.slow
def test_labels_that_tell_only_the_judges_errors_give_no_overall_value():
    made = P.exact(split(P.Counts(4000, 496, 800, 720, 800, 720, calibration="by_truth"), 2))
    assert np.isnan(made["overall_prevalence"]).all()
    assert made.cautions[0].id == "stratum-priors"
    assert np.isfinite(made["prevalence", "s0"]).all()


@pytest.mark.slow
def test_labels_by_verdict_are_counted_by_verdict():
    # 1000 labels, of which one stratum has too few fails
    for failed, answered in ((100, True), (99, False)):
        passed = [500 - failed, 100]
        cells = [900, 900], [600, 600]
        good = np.array(passed) - 20 + 30  # of passes all but 20, of fails 30
        labels = np.array(passed) + failed
        caught = np.full(2, failed - 30)
        counts = P.Counts(*cells, good, np.array(passed) - 20, labels - good, caught,
                          calibration="by_verdict", systems="ab", dim="stratum")  # fmt: skip
        assert counts.labelled_pass.tolist() == passed
        assert np.isfinite(P.exact(counts)["overall_prevalence"]).all() == answered


@pytest.mark.slow
@pytest.mark.parametrize("design", ["random", "by_verdict"])
def test_many_labels_in_each_stratum_leave_the_priors_nothing_to_say(design):
    counts = P.Counts(80_000, 28_000, 16_000, 14_400, 16_000, 14_400, calibration=design)
    value, low, high = P.exact(counts)["prevalence"]
    found = P.exact(split(counts, 5))["overall_prevalence"]
    assert_allclose(found, [value, low, high], atol=(high - low) / 2 / 1.96 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.9, 0.9), (0.9, 0.7)])
def test_rogan_gladen_in_twenty_strata_covers(rates):
    """Good items are rare: raw values of the strata fall below 0, and are weighed as they are."""
    rng, runs, covered, values = np.random.default_rng(8), 100, 0, []
    hit, caught = rates
    pass_rate = 0.03 * hit + 0.97 * (1 - caught)
    for _ in range(runs):
        cells = [np.full(20, 200), rng.binomial(200, pass_rate, 20)]
        cells += [np.full(20, 40), rng.binomial(40, hit, 20)]
        cells += [np.full(20, 40), rng.binomial(40, caught, 20)]
        names = [str(i) for i in range(20)]
        counts = P.Counts(*cells, calibration="by_truth", systems=names, dim="stratum")
        found = P.rogan_gladen(counts).quantities["overall_prevalence"]
        covered += found.low[0] <= 0.03 <= found.high[0]
        values.append(found.raw[0])
    assert covered / runs > 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)
    assert abs(np.mean(values) - 0.03) < 5 * np.std(values) / np.sqrt(runs)


@pytest.mark.slow
def test_strata_with_one_label_each_still_have_an_honest_interval():
    rng, runs, covered = np.random.default_rng(9), 60, 0
    for _ in range(runs):
        cells = rng.multinomial(1, [0.25, 0.05, 0.07, 0.63], 100).T
        passed = rng.binomial(50, 0.32, 100)
        counts = P.Counts(
            *([50] * 100, passed, cells[0] + cells[1], cells[0], cells[2] + cells[3], cells[3]),
            calibration="random",
            systems=[str(i) for i in range(100)],
            dim="stratum",
        )
        _, low, high = P.difference(counts)["overall_prevalence"]
        covered += low <= 0.3 <= high
        assert high - low < 0.6
    assert covered / runs > 0.95 - 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([150, 400], 150))
def test_strata_cover_where_leaving_them_out_does_not(runs):
    """Labels are many in one stratum and few in the other: a sample in each, not of all."""
    rng, covered, blind = np.random.default_rng(5), 0, 0
    theta, q1, q0 = np.array([0.9, 0.4]), np.array([0.95, 0.8]), np.array([0.6, 0.8])
    items, labels = np.array([500, 500]), np.array([150, 30])
    for _ in range(runs):
        good = rng.binomial(labels, theta)
        cells = (rng.binomial(items, theta * q1 + (1 - theta) * (1 - q0)), good)
        cells += (rng.binomial(good, q1), labels - good, rng.binomial(labels - good, q0))
        counts = P.Counts(items, *cells, calibration="random", systems="ab", dim="stratum")
        truth = counts.shares @ theta
        _, low, high = P.difference(counts)["overall_prevalence"]
        covered += low <= truth <= high
        _, low, high = P.difference(counts.merged())["prevalence"]
        blind += low <= truth <= high
    assert covered / runs > 0.95 - 0.015 - 5 * np.sqrt(0.95 * 0.05 / runs)
    assert blind / runs < 0.5


@pytest.mark.study
def test_a_spread_without_bound_leaves_the_strata_separate():
    """With the spread fixed at 20 logits, rates have the prior of the limit, Beta(0, 0)."""
    import pymc as pm

    model = P.PooledErrorRates(better_than_chance=False)._sampling_form(STRATA)
    names = ("prevalence", "sensitivity", "specificity")
    # from a typical judge at one half, since any centre is as good
    fixed = {f"{name}_spread_signed": 20.0 for name in names}
    fixed |= {f"typical_{name}": 0.5 for name in names}
    apart = pm.do(model, fixed)
    settings = {"draws": 1000, "tune": 1000, "chains": 4, "target_accept": 0.95}
    tree = sample_draws(compile_model(apart), random_seed=1, **settings)
    almost = bj.BetaPrior(1e-6, 1e-6)
    priors = P.ErrorRates(almost, almost, almost, better_than_chance=False)
    for i, name in enumerate(STRATA.systems):
        exact = posterior_of(STRATA.system(name), priors)
        draws = tree["posterior"]["prevalence"].isel(stratum=i)
        assert_mc_mean(draws, exact.mean)
        assert_mc_quantile(draws, 0.025, float(exact.quantile(0.025)))


@pytest.mark.sampling
def test_the_forest_shows_every_stratum_and_the_whole(strata_fit):
    ax = P.plot_strata(strata_fit)
    made = strata_fit.estimate()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["short", "long", "all"]
    dots, diamond, _ = ax.get_lines()
    assert_allclose(dots.get_xdata(), made.quantities["prevalence"].value)
    assert_allclose(diamond.get_xdata(), made["overall_prevalence"].value)
    assert [text.get_text() for text in ax.texts] == ["of items", "54%", "46%"]


@pytest.mark.slow
def test_a_stratum_without_an_answer_leaves_none_overall():
    counts = P.Counts(
        *([60, 50], [48, 20], [9, 6], [8, 5], [7, 0], [5, 0]),
        calibration="by_truth",
        systems="ab",
        dim="stratum",
    )
    made = P.rogan_gladen(counts)
    assert np.isnan(made["overall_prevalence"]).all()
    assert "empty-stratum" in {c.id for c in made.cautions}
    assert np.isfinite(P.exact(counts).quantities["prevalence"].value).all()


# Known propensities ------------------------------------------------------------------------------


def rows_of(counts):
    """One row per item: verdict, truth (nan where unknown), propensity."""
    c, rows = counts, []
    for i, p in enumerate(c.propensity):
        a1, a0, m1, m0 = c.correct_pass[i], c.incorrect_fail[i], c.correct_n[i], c.incorrect_n[i]
        k, n = c.test_pass[i], c.test_n[i]
        cells = ((1, 1, a1), (0, 1, m1 - a1), (1, 0, m0 - a0), (0, 0, a0))
        cells += ((1, np.nan, k), (0, np.nan, n - k))
        rows += [(v, t, p) for v, t, count in cells for _ in range(count)]
    return pd.DataFrame(rows, columns=["verdict", "truth", "p"])


@pytest.mark.parametrize("power", [1.0, None])
def test_the_weighted_estimate_is_a_mean_over_items(power):
    rows = rows_of(PROPENSITY)
    verdict, known = rows["verdict"].to_numpy(), rows["truth"].notna().to_numpy()
    truth, weight = rows["truth"].fillna(0).to_numpy(), known / rows["p"].to_numpy()
    made = P.propensity_weighted(PROPENSITY, g="linear" if power is None else "identity")[
        "overall_prevalence"
    ]

    def estimate(lam):
        gap = np.sum(weight * (truth - lam * verdict)) / weight.sum()
        influence = lam * (verdict - verdict.mean()) + weight * len(rows) / weight.sum() * (
            truth - lam * verdict - gap
        )
        return lam * verdict.mean() + gap, np.sqrt((influence**2).sum()) / len(rows)

    if power is None:
        tried = [estimate(lam) for lam in np.linspace(0, 1, 2001)]
        value, error = min(tried, key=lambda pair: pair[1])
    else:
        value, error = estimate(power)
    assert_allclose(made.value, value, atol=1e-3 if power is None else 1e-12)
    assert_allclose((made.high - made.low) / 2, 1.959964 * error, rtol=1e-6)


def test_classes_of_propensity_share_the_imaginary_items_by_their_numbers():
    cells = ([200, 300], [130, 120], [30, 12], [30, 12], [20, 25], [19, 24])  # two errors
    counts = P.Counts(
        *cells, calibration="known_propensity", systems=["0.2", "0.1"], dim="stratum",
        propensity=[0.2, 0.1],
    )  # fmt: skip
    rows = rows_of(counts)
    kinds = [(1, 1), (0, 1), (1, 0), (0, 0)]
    joined = pd.DataFrame([(v, t, p) for p in (0.2, 0.1) for v, t in kinds], columns=rows.columns)
    n = np.append(np.ones(len(rows)), np.repeat([250 / 587, 337 / 587], 4))
    rows = pd.concat([rows, joined])
    verdict, known = rows["verdict"].to_numpy(), rows["truth"].notna().to_numpy()
    error = rows["truth"].fillna(0).to_numpy() - verdict
    weight = known / rows["p"].to_numpy()
    weight *= n.sum() / (n @ weight)
    gap, mean = n @ (weight * error) / n.sum(), n @ verdict / n.sum()
    influence = verdict - mean + weight * (error - gap)
    half = 1.959964 * np.sqrt(n @ influence**2) / n.sum()
    made = P.propensity_weighted(counts, g="identity")["overall_prevalence"]
    assert_allclose(made[1:], (mean + gap - half, mean + gap + half), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([200, 500], 200))
def test_propensities_are_corrected_for(runs):
    rng, n = np.random.default_rng(6), 1500
    errors, covered, naive = [], 0, []
    for _ in range(runs):
        hard = rng.random(n) < 0.4
        truth = rng.random(n) < np.where(hard, 0.4, 0.9)
        verdict = rng.random(n) < np.where(truth, 0.9, 0.3)
        known = rng.random(n) < np.where(hard, 0.3, 0.08)
        cells = [
            np.bincount(hard, mask, minlength=2).astype(int)
            for mask in (~known, ~known & verdict, known & truth, known & truth & verdict)
        ]
        more = [known & ~truth, known & ~truth & ~verdict]
        cells += [np.bincount(hard, mask, minlength=2).astype(int) for mask in more]
        counts = P.Counts(
            *cells,
            calibration="known_propensity",
            systems="eh",
            dim="stratum",
            propensity=[0.08, 0.3],
        )
        value, low, high = P.propensity_weighted(counts)["overall_prevalence"]
        errors.append(value - 0.7)
        covered += low <= 0.7 <= high
        naive.append(counts.merged().correct_n / counts.merged().labelled_n - 0.7)
    error = np.std(errors) / np.sqrt(runs)
    assert abs(np.mean(errors)) < 5 * error
    assert abs(np.mean(naive)) > 0.1
    assert covered / runs > 0.95 - 0.015 - 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("g", ["linear", "identity"])
def test_weighted_labels_without_an_error_do_not_say_that_there_is_none(g):
    counts = P.Counts(
        *([2000, 3000], [1400, 1200], [13, 12], [13, 12], [7, 18], [7, 18]),
        calibration="known_propensity",
        systems=["0.010", "0.011"],
        dim="stratum",
        propensity=[0.010, 0.011],
    )
    value, low, high = P.propensity_weighted(counts, g=g)["overall_prevalence"]
    # of 50 items without an error as many as 6 in 100 may be misjudged
    assert low < value - 0.8 * 0.058
    assert value + 0.8 * 0.058 < high < value + 0.15


@pytest.mark.study
def test_the_model_of_propensities_is_strata_whose_shares_are_unknown():
    # classes so different, and labelled so much, that their shares are most of what is unknown
    counts = P.Counts(
        *([4, 20], [4, 2], [34, 1], [33, 1], [2, 19], [1, 18]),
        calibration="known_propensity",
        systems=["0.9", "0.5"],
        dim="stratum",
        propensity=[0.9, 0.5],
    )
    fit = P.fit(counts, P.ErrorRates(), random_seed=2)
    assert fit.converged, fit.cautions
    parts = [posterior_of(counts.system(name), P.ErrorRates()) for name in counts.systems]
    items = np.array([40, 40]) + 1.0  # a flat Dirichlet prior
    share, total = items / items.sum(), items.sum()
    mean, sd = np.array([p.mean for p in parts]), np.array([p.sd for p in parts])
    second = (np.outer(items, items) + np.diag(items)) / (total * (total + 1))
    square = np.sum(second * (np.outer(mean, mean) + np.diag(sd**2)))
    draws = fit.idata["posterior"]["overall_prevalence"]
    assert_mc_mean(draws, share @ mean)
    assert_mc_sd(draws, np.sqrt(square - (share @ mean) ** 2))
    with refused(id="no-quadrature"):
        P.exact(PROPENSITY)


def test_propensities_are_read_and_called_by_their_simplest_name():
    table = rows_of(PROPENSITY)
    how = {"calibration": "known_propensity", "propensity": "p"}
    counts = P.Counts.from_frame(table, **how)
    assert counts.systems == ("0.1", "0.2")
    assert counts.propensity.tolist() == [0.1, 0.2]
    assert counts.test_n.tolist() == [300, 200]
    same = P.Counts.from_frame(table.assign(p="0.10"), **how)
    assert (same.calibration, same.systems, same.test_n) == ("random", None, 500)
    by_verdict = table.assign(p=np.where(table["verdict"] == 1, 0.3, 0.1))
    assert P.Counts.from_frame(by_verdict, **how).calibration == "by_verdict"
    with refused("1.5", subject="column of propensities"):
        P.Counts.from_frame(table.replace({"p": {0.2: 1.5}}), **how)
    with refused(id="many-strata"):
        P.Counts.from_frame(table.assign(p=np.linspace(0.1, 0.9, len(table))), **how)
    with pytest.raises(bj.InputError, match="come together"):
        P.Counts.from_frame(table, calibration="random", propensity="p")


@pytest.mark.slow
def test_simulated_propensities_are_kept_to_and_leave_the_prevalence_as_it_is():
    table = P.simulate(
        prevalence=0.7, items=40_000, labelled=10_000, calibration="known_propensity", random_seed=1
    )
    counts = P.Counts.from_frame(table, calibration="known_propensity", propensity="propensity")
    assert counts.propensity.tolist() == [0.08, 0.32]
    made = P.propensity_weighted(counts)
    value, low, high = made["overall_prevalence"]
    assert abs(value - 0.7) < 5 * (high - low) / 2 / 1.96
    assert "propensity-mismatch" not in {c.id for c in made.cautions}
    labelled = P.human_only(P.Counts.from_frame(table, calibration="random"))["prevalence"]
    assert labelled.high < 0.7  # hard items were labelled more often


def test_a_class_that_is_labelled_throughout_is_what_its_labels_say():
    counts = P.Counts(
        *([0, 50], [0, 20], [30, 8], [28, 7], [10, 6], [7, 5]),
        calibration="known_propensity",
        systems=["1", "0.2"],
        dim="stratum",
        propensity=[1, 0.2],
    )
    for g in ("linear", "identity"):
        made = P.difference(counts, g=g)
        assert made["prevalence", "1"].value == pytest.approx(30 / 40)
        assert np.isfinite(made["overall_prevalence"]).all()
    assert np.isfinite(P.propensity_weighted(counts)["overall_prevalence"]).all()


def test_propensities_that_were_not_kept_to_are_seen():
    assert "propensity-mismatch" not in {c.id for c in P.naive(PROPENSITY).cautions}
    wrong = replace(PROPENSITY, propensity=[0.2, 0.2])
    made = P.propensity_weighted(wrong)
    assert [c.id for c in made.cautions] == ["propensity-mismatch"]
    assert "in stratum '0.1'" in made.cautions[0].text
    assert made.assumptions[0].contradicted_by == ("propensity-mismatch",)


# External labels ---------------------------------------------------------------------------------


def brute_force(cells, external, joint):
    """Mean of the prevalence over a grid of all three unknowns, better than chance."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, w = (nodes + 1) / 2, weights / 2
    q0 = x[:, None, None]
    q1 = 1 - q0 + q0 * x[None, :, None]
    theta = x[None, None, :]
    n, k, m1, a1, m0, a0 = cells
    good, hits, bad, caught = external
    rate = theta * q1 + (1 - theta) * (1 - q0)
    log = xlogy(k, rate) + xlog1py(n - k, -rate)
    log = log + xlogy(a1 + hits, q1) + xlog1py(m1 - a1 + good - hits, -q1)
    log = log + xlogy(a0 + caught, q0) + xlog1py(m0 - a0 + bad - caught, -q0)
    if joint:
        log = log + xlogy(m1, theta) + xlog1py(m0, -theta)
    mass = np.exp(log - log.max()) * q0 * w[:, None, None] * w[None, :, None] * w
    return float((mass * theta).sum() / mass.sum())


@pytest.mark.sampling
@pytest.mark.parametrize("calibration", ["random", "by_verdict", "by_truth"])
def test_external_labels_tell_the_rates_only(calibration):
    counts = P.Counts(*CELLS, calibration=calibration, external_labels=EXTERNAL)
    expected = brute_force(CELLS, EXTERNAL, joint=calibration != "by_truth")
    flat = P.ErrorRates(bj.BetaPrior())
    assert_allclose(P.exact(counts, flat)["prevalence"].value, expected, rtol=1e-6)
    if calibration != "by_truth":
        fit = P.fit(counts, flat, random_seed=5)
        exact = posterior_of(counts, flat)
        assert_mc_mean(fit.idata["posterior"]["prevalence"], exact.mean)
        assert_mc_sd(fit.idata["posterior"]["prevalence"], exact.sd)


@pytest.mark.slow
def test_closed_forms_take_each_label_for_what_it_tells():
    both = {
        d: P.Counts(*CELLS, calibration=d, external_labels=EXTERNAL)
        for d in ("random", "by_verdict")
    }
    summed = P.Counts(60, 40, 34, 30, 28, 19, calibration="by_truth")
    assert_allclose(
        P.rogan_gladen(both["random"])["prevalence"], P.rogan_gladen(summed)["prevalence"]
    )
    # labels by verdict tell no rate by a share, so that the others stand alone
    alone = P.Counts(60, 40, *EXTERNAL, calibration="by_truth")
    assert_allclose(P.rogan_gladen(both["by_verdict"])["prevalence"],
                    P.rogan_gladen(alone)["prevalence"])  # fmt: skip
    for method in (P.human_only, P.difference, P.post_stratified, P.conditional_calibration):
        own = P.Counts(*CELLS, calibration="random")
        assert_allclose(method(both["random"])["prevalence"], method(own)["prevalence"])
    methods = [one.method.title for one in P.closed_forms(both["by_verdict"])]
    assert methods == [JUDGE.title, POST_STRATIFIED.title, ROGAN_GLADEN.title]
    for made in P.closed_forms(both["by_verdict"]):
        assert "design-mismatch" not in {c.id for c in made.cautions}
    resampled = P.bootstrap(both["by_verdict"], random_seed=1)["prevalence"]
    assert_allclose(resampled, P.bootstrap(alone, random_seed=1)["prevalence"], atol=0.02)
    # where all of the sample is good, it is so in each resample, as if chosen by truth
    sample = P.Counts(60, 40, 12, 10, 0, 0, calibration="random", external_labels=EXTERNAL)
    chosen = P.Counts(60, 40, 37, 33, 20, 14, calibration="by_truth")
    ends = (P.bootstrap(one, resamples=20_000, random_seed=1) for one in (sample, chosen))
    assert_allclose(*(one["prevalence"] for one in ends), atol=0.02)


@pytest.mark.slow
def test_external_labels_are_read_with_the_same_columns():
    table = P.simulate(systems=["a", "b"], items=40, labelled=10, random_seed=1)
    more = pd.DataFrame({"verdict": [1, 0, 1], "truth": [1, 1, 0], "system": ["b", "b", "b"]})
    how = {"calibration": "random", "by": "system"}
    counts = P.Counts.from_frame(table, external_labels=more, **how)
    assert counts.external_labels.tolist() == [[0, 2], [0, 1], [0, 1], [0, 0]]
    assert counts.system("b").external_labels.tolist() == [2, 1, 1, 0]
    with refused(id="unlabelled-rows"):
        P.Counts.from_frame(table, external_labels=more.assign(truth=[1, 0, None]), **how)
    with refused("c", subject="external_labels"):
        P.Counts.from_frame(table, external_labels=more.assign(system="c"), **how)
    with pytest.raises(bj.InputError, match="correct_pass among external labels must lie between"):
        P.Counts(*CELLS, calibration="random", external_labels=[2, 3, 1, 1])


# Several judges ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_judges_of_the_same_items_are_one_estimate_each():
    table = P.simulate(items=200, labelled=60, random_seed=4)
    flips = np.random.default_rng(1).random(len(table)) < 0.15
    table["other"] = np.where(flips, 1 - table["verdict"], table["verdict"])
    counts = P.Counts.from_frame(table, calibration="random", verdict=["verdict", "other"])
    assert (counts.dim, counts.systems) == ("judge", ("verdict", "other"))
    for judge in counts.systems:
        alone = P.Counts.from_frame(table, calibration="random", verdict=judge)
        for method in (P.naive, P.difference, P.rogan_gladen, P.exact):
            assert_allclose(method(counts)["prevalence", judge], method(alone)["prevalence"])
    assert bj.side_by_side(P.exact(counts))["judge"].tolist() == ["verdict", "other"]
    with refused(id="needs-groups"):
        P.build_model(counts, P.PooledErrorRates())
    with refused(id="one-at-a-time"):
        P.Counts.from_frame(table, calibration="random", verdict=["verdict", "other"], by="truth")
