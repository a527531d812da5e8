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


def test_of_a_complete_table_closed_forms_know_the_items():
    names = ["short", "long"]
    columns = [[0, 0], [0, 0], [30, 30], [26, 28], [30, 10], [24, 6]]
    strata = P.Counts(*columns, calibration="random", systems=names, dim="stratum")
    by_verdict = P.Counts(0, 0, 60, 54, 40, 30, calibration="by_verdict")
    certain = {"calibration": "known_propensity", "propensity": [1.0, 1.0]}
    certain = P.Counts(*columns, systems=names, dim="stratum", **certain)
    for counts in (COMPLETE, by_verdict, strata, certain):
        made = P.closed_forms(counts, target="items")
        answer = "prevalence" if counts.dim != "stratum" else "overall_prevalence"
        for one in made:
            assert one.target == "items"
            assert "all-labelled" not in {caution.name for caution in one.cautions}
            if one.method != "Judge's pass rate":
                assert one[answer] == pytest.approx((0.6, 0.6, 0.6), abs=1e-12), one.method


def test_closed_forms_that_answer_for_the_population_alone_say_so():
    counts = P.Counts(200, 152, 140, 126, 60, 42, calibration="random")
    first, *rest = P.closed_forms(counts, target="items", mismatched=True)
    told = " ".join(c.text for c in first.cautions if c.name == "population-only")
    assert "conditional_calibration answers" in told
    assert "bootstrap answers" in told
    assert {one.target for one in (first, *rest)} == {"items"}
    for method in (P.naive, P.human_only, P.rogan_gladen, P.difference, P.post_stratified):
        with pytest.raises(bj.InputError, match="target must be one of"):
            method(counts, target="everything")
    with pytest.raises(bj.InputError, match="interval='exact' answers for the population"):
        P.human_only(counts, interval="exact", target="items")


# The same items, verdicts and labels drawn again: every table of a study is one system -----------

RUNS, ITEMS, GOOD = 1500, 300, 210


def labelled(design, rng):
    """Tables of these 300 items, of which 210 are good."""
    truth = np.broadcast_to(np.arange(ITEMS) < GOOD, (RUNS, ITEMS)).astype(int)
    verdict = np.where(truth, rng.random(truth.shape) < 0.9, rng.random(truth.shape) > 0.7)
    order = rng.random(truth.shape)
    if design == "random":
        chosen = order.argsort(1).argsort(1) < 150
    else:  # 75 passes and 40 fails
        ranks = [np.where(verdict == k, order, 9).argsort(1).argsort(1) for k in (0, 1)]
        chosen = np.where(verdict, ranks[1] < 75, ranks[0] < 40)
    kinds = (~chosen, ~chosen & verdict, chosen & truth, chosen & truth & verdict)
    kinds += (chosen & (1 - truth), chosen & (1 - truth) & ~verdict)
    cells = [np.sum(kind.astype(bool), axis=1) for kind in kinds]
    return P.Counts(*cells, calibration=design, systems=[str(i) for i in range(RUNS)])


@pytest.mark.parametrize(
    ("design", "method"),
    [
        *(("random", m) for m in (P.human_only, P.difference, P.post_stratified, P.rogan_gladen)),
        ("by_verdict", P.post_stratified),
    ],
)
def test_closed_forms_cover_the_share_of_these_items(design, method):
    counts = labelled(design, np.random.default_rng(1))
    noise = 5 * np.sqrt(0.05 * 0.95 / RUNS)
    covered, width = {}, {}
    for target in ("items", "population"):
        found = method(counts, target=target).quantities["prevalence"]
        covered[target] = np.mean((found.low <= GOOD / ITEMS) & (found.high >= GOOD / ITEMS))
        width[target] = np.mean(found.high - found.low)
    assert 0.95 - noise < covered["items"] < 0.95 + noise
    assert width["items"] < 0.85 * width["population"]  # which has the drawing of the items in it


def test_rogan_gladen_knows_how_many_items_there_are():
    """With labels of other items, verdicts on the same 300 items vary by the judge's errors."""
    rng = np.random.default_rng(2)
    errs = rng.binomial([[GOOD], [ITEMS - GOOD]], [[0.9], [0.3]], (2, RUNS)).sum(axis=0)
    hits, caught = rng.binomial(2000, 0.9, RUNS), rng.binomial(2000, 0.7, RUNS)
    names, many = [str(i) for i in range(RUNS)], np.full(RUNS, 2000)
    sample = (np.full(RUNS, ITEMS), errs, many, hits, many, caught)
    counts = P.Counts(*sample, calibration="by_truth", systems=names)
    for interval in ("lang_reiczigel", "delta"):
        found = P.rogan_gladen(counts, target="items", interval=interval).quantities["prevalence"]
        covered = np.mean((found.low <= GOOD / ITEMS) & (found.high >= GOOD / ITEMS))
        assert abs(covered - 0.95) < 5 * np.sqrt(0.05 * 0.95 / RUNS)


def test_propensities_leave_only_the_labelling_to_chance():
    rng = np.random.default_rng(3)
    propensity, covered, widths = np.array([0.2, 0.6]), [], []
    good, bad = np.array([120, 90]), np.array([60, 30])
    for _ in range(600):
        cells = [rng.binomial(n, q) for n, q in ((good, 0.9), (bad, 0.3))]  # passed, by truth
        four = [cells[0], good - cells[0], cells[1], bad - cells[1]]
        told = [rng.binomial(n, propensity) for n in four]
        test = sum(n - k for n, k in zip(four, told, strict=True))
        passes = four[0] - told[0] + four[2] - told[2]
        counts = P.Counts(
            test, passes, told[0] + told[1], told[0], told[2] + told[3], told[3],
            calibration="known_propensity", propensity=propensity, systems="ab", dim="stratum",
        )  # fmt: skip
        of_items, of_all = (
            P.propensity_weighted(counts, target=target)["overall_prevalence"]
            for target in ("items", "population")
        )
        assert of_items.value == of_all.value
        covered.append(of_items.low <= 0.7 <= of_items.high)
        widths.append([of_items.high - of_items.low, of_all.high - of_all.low])
    assert abs(np.mean(covered) - 0.95) < 5 * np.sqrt(0.05 * 0.95 / 600)
    assert np.less(*np.mean(widths, axis=0))
