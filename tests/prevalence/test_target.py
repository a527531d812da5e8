"""`target="items"`: the unlabelled truths are one binomial more, checked by enumeration."""

import numpy as np
import pytest
from oracles import assert_mc_mean, assert_mc_sd, flat_model, unit_nodes
from refusals import refused
from scipy.special import comb
from scipy.stats import beta, betabinom

import bayesjudge as bj
from bayesjudge.core.words import sentences, words_for
from bayesjudge.prevalence._unlabelled import PAIRS, good_items

OTHERS = sentences("assumptions")["same-judge"]["others"].removeprefix("{assumption}")
P = bj.prevalence
CELLS = (12, 8, 9, 7, 8, 5)
UNRESTRICTED = {"better_than_chance": False}


def spread_over_the_grid(counts):
    """Distribution of the good items among the unlabelled ones: each theta, q1, q0 in turn, of a
    judge better than chance.
    """
    x, w = unit_nodes(1, 40)
    theta, q1 = x[:, None, None], x[:, None]
    q0 = 1 - q1 * x
    rate = theta * q1 + (1 - theta) * (1 - q0)
    k, n = counts.test_pass, counts.test_n
    weight = w[:, None, None] * w[:, None] * w * q1 * rate**k * (1 - rate) ** (n - k)
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
@pytest.mark.parametrize(
    "calibration",
    [
        "random",
        pytest.param("by_truth", marks=pytest.mark.study),
        pytest.param("by_verdict", marks=pytest.mark.study),
    ],
)
def test_items_are_what_enumeration_gives(calibration):
    counts = P.Counts(*CELLS, calibration=calibration)
    flat = flat_model(counts, **(UNRESTRICTED if counts.predictive else {}))
    fit = P.fit(counts, flat, random_seed=1, target_accept=0.95)
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
    enumerated = P.exact(counts, fit.spec, target="items")["prevalence"]
    assert_mc_mean(draws, enumerated.value)
    table = P.compare(counts, fit, target="items").set_index("method")
    assert abs(table.loc[fit.method.title, "mc_errors"]) < 5
    assert table.loc[fit.method.title, "value"] == made["prevalence"].value
    assert fit.estimate().target == "population"
    assert made["prevalence"] == fit.estimate(target="items")["prevalence"]
    with refused(target="everything"):
        fit.estimate(target="everything")


@pytest.mark.own_model
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


# These items without sampling ---------------------------------------------------------------------


def numbers_over_the_grid(counts, better_than_chance):
    """The same distribution by integrating over the rates, each way of having good items in turn.

    Integrands are polynomials, so that 40 nodes for each share are exact.
    """
    x, w = unit_nodes(1, 40)
    first, second = x[:, None], x
    weight = w[:, None] * w
    if better_than_chance:
        second = 1 - first + first * x  # the triangle above 1
        weight = weight * first
    hits, wrong = counts.correct_pass, counts.incorrect_n - counts.incorrect_fail
    missed, caught = counts.correct_n - hits, counts.incorrect_fail
    k, n = counts.test_pass, counts.test_n
    found = np.zeros(n + 1)
    for g1 in range(k + 1):
        for g0 in range(n - k + 1):
            cells = hits + g1, missed + g0, wrong + k - g1, caught + n - k - g0
            ways = comb(k, g1) * comb(n - k, g0)
            if counts.predictive:  # first is the PPV, second the NPV
                good_pass, good_fail, bad_pass, bad_fail = cells
            else:  # first is the sensitivity, second the specificity
                good_pass, bad_pass, good_fail, bad_fail = cells
                known = counts.correct_n, counts.incorrect_n
                good, bad = known if counts.design.same_items else (0, 0)
                ways *= (w * x ** (good + g1 + g0) * (1 - x) ** (bad + n - g1 - g0)).sum()
            rates = first**good_pass * (1 - first) ** bad_pass
            rates = rates * second**bad_fail * (1 - second) ** good_fail
            found[g1 + g0] += ways * (weight * rates).sum()
    return found / found.sum()


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize("better_than_chance", [True, False])
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
@pytest.mark.parametrize("cells", [CELLS, (9, 3, 5, 2, 6, 4), (7, 7, 3, 3, 2, 0)], ids=str)
def test_numbers_of_good_items_are_those_of_the_grid(cells, calibration, better_than_chance):
    counts = P.Counts(*cells, calibration=calibration)
    model = flat_model(counts, better_than_chance=better_than_chance)
    found, expected = good_items(counts, model), numbers_over_the_grid(counts, better_than_chance)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    known, items = (counts.correct_n, counts.labelled_n) if counts.design.same_items else (0, 0)
    made = P.exact(counts, model, target="items", ci_prob=0.9)
    shares = (known + np.arange(counts.test_n + 1)) / (items + counts.test_n)
    value, low, high = made["prevalence"]
    assert value == pytest.approx((shares * expected).sum(), abs=1e-13)
    below, above = expected[shares < low].sum(), expected[shares > high].sum()
    assert max(below, above) <= 0.05
    assert below + expected[shares == low].sum() > 0.05 < above + expected[shares == high].sum()
    assert made.target == "items"
    assert made.interval_of("prevalence") == words_for("intervals")["eti"]


LARGE = (1000, 640, 70, 61, 50, 33)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [LARGE, (400, 210, 12, 8, 15, 8)], ids=str)
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_means_of_items_and_of_the_population_are_tied(cells, calibration):
    """Given g good ones the prevalence has a Beta posterior: quadrature and enumeration agree."""
    prior, external = bj.BetaPrior(3, 2), (20, 19, 10, 6)
    rates = {"sensitivity": bj.BetaPrior(4, 1.5), "specificity": bj.BetaPrior.jeffreys()}
    counts = P.Counts(*cells, calibration=calibration, external_labels=external)
    model = P.ErrorRates(prevalence=prior, **rates)
    share = P.exact(counts, model, target="items")["prevalence"].value
    own = (counts.correct_n, counts.incorrect_n) if counts.design.same_items else (0, 0)
    good = share * (counts.test_n + sum(own))  # labelled ones are counted in
    expected = (prior.alpha + good) / (sum(prior) + counts.test_n + sum(own))
    assert P.exact(counts, model)["prevalence"].value == pytest.approx(expected, abs=1e-7)


def test_the_shortest_interval_of_items_is_the_shortest():
    counts = P.Counts(*LARGE, calibration="random")
    found = good_items(counts, P.ErrorRates())
    _, low, high = P.exact(counts, target="items", interval="hdi")["prevalence"]
    first, last = (round(end * 1120) - 70 for end in (low, high))
    assert found[first : last + 1].sum() >= 0.95
    narrower = np.convolve(found, np.ones(last - first), "valid")  # each window one shorter
    assert narrower.max() < 0.95
    same = np.convolve(found, np.ones(last - first + 1), "valid")
    assert found[first : last + 1].sum() == pytest.approx(same.max(), abs=1e-12)


def test_numbers_of_strata_add_up():
    columns = [[30, 12], [21, 4], [120, 60], [110, 50], [90, 150], [70, 120]]
    counts = P.Counts(*columns, calibration="random", systems="ab", dim="stratum")
    one, other = (good_items(counts.system(name), P.ErrorRates()) for name in "ab")
    both = np.array(
        [sum(one[i] * other[g - i] for i in range(31) if 0 <= g - i <= 12) for g in range(43)]
    )
    made = P.exact(counts, target="items")
    value, low, high = made["overall_prevalence"]
    shares = (180 + np.arange(43)) / 462
    assert value == pytest.approx((both * shares).sum(), abs=1e-12)
    assert both[(shares >= low) & (shares <= high)].sum() >= 0.95
    assert max(both[shares < low].sum(), both[shares > high].sum()) <= 0.025
    parts = made.quantities["prevalence"].value
    assert value == pytest.approx((parts * [240, 222]).sum() / 462, abs=1e-12)
    few = P.Counts(*np.divide(columns, 2).astype(int), calibration="random", systems="ab",
                   dim="stratum")  # fmt: skip
    refused = P.exact(few, target="items")
    assert refused.cautions[0].id == "stratum-priors"
    assert np.isnan(refused["overall_prevalence"]).all()


@pytest.mark.slow
def test_too_many_items_are_for_sampling():
    items = round(2 * PAIRS**0.5)
    for n, answered in ((items - 10, True), (items + 10, False)):
        counts = P.Counts(n, n // 2, 30, 30, 30, 30, calibration="by_truth")
        if answered:  # looked at only
            assert (counts.test_pass + 1) * (n - counts.test_pass + 1) <= PAIRS
            continue
        made = P.exact(counts, target="items")
        assert np.isnan(made["prevalence"]).all()
        (caution,) = [c for c in made.cautions if c.id == "no-enumeration"]
        assert str(n) in str(caution.numbers["error"])
        assert not np.isnan(P.exact(counts)["prevalence"]).any()


def test_a_judge_that_the_model_rules_out_leaves_no_number():
    worse = P.Counts(4, 2, 4000, 0, 4000, 0, calibration="by_truth")
    assert "no judge better than chance" in " ".join(
        c.text for c in P.exact(worse, target="items").cautions
    )
    free = P.exact(worse, P.ErrorRates(**UNRESTRICTED), target="items")["prevalence"]
    assert free.value == pytest.approx(0.5, abs=0.01)  # the two that failed are good
    assert free.high - free.low <= 0.5


def test_methods_stand_side_by_side_for_the_items():
    counts = P.Counts(200, 152, 140, 126, 60, 42, calibration="random")
    table = P.compare(counts, target="items").set_index("method")
    expected = P.exact(counts, target="items")["prevalence"]
    assert tuple(table.loc["Bayesian (exact)", ["value", "low", "high"]]) == expected
    # the closed form that knows as much, and no closed form about the population
    other = table.loc["Post-stratified"]
    assert abs(other["value"] - expected.value) < 0.01
    assert other["width"] == pytest.approx(expected.high - expected.low, rel=0.15)
    assert not any("onditional" in name or "ootstrap" in name for name in table.index)
    with refused("population", "everything"):
        P.compare(counts, target="everything")
    with refused("population", "everything"):
        P.exact(counts, target="everything")


# Tables in which every item is labelled ----------------------------------------------------------

COMPLETE = P.Counts(0, 0, 60, 54, 40, 30, calibration="random")


def test_of_a_complete_table_the_population_is_what_the_labels_say():
    # without a restriction the judge's verdicts leave Jeffreys' Beta(60.5, 40.5) alone
    made = P.exact(COMPLETE, P.ErrorRates(**UNRESTRICTED), interval="eti")
    expected = beta(60.5, 40.5)
    ends = [expected.mean(), *expected.ppf([0.025, 0.975])]
    np.testing.assert_allclose(made["prevalence"], ends, atol=1e-7)
    assert made.target == "population"
    for one in P.closed_forms(COMPLETE, mismatched=True):
        assert "all-labelled" in {caution.id for caution in one.cautions}
        value = one["prevalence"].value
        if one.method.title.startswith(("Rogan-Gladen", "Conditional")):
            assert np.isnan(value), one.method  # which divide by the number of unlabelled items
        elif one.method.id != "judge":
            assert value == pytest.approx(0.6), one.method
    partly = P.Counts([0, 50], [0, 20], [60, 9], [54, 7], [40, 8], [30, 5],
                      calibration="random", systems="ab")  # fmt: skip
    (caution,) = [c for c in P.difference(partly).cautions if c.id == "all-labelled"]
    assert "in system 'a'" in caution.text


def test_a_method_that_needs_unlabelled_items_says_that_there_are_none():
    for one in P.closed_forms(COMPLETE, mismatched=True):
        told = [c.text for c in one.cautions if c.id == "no-unlabelled"]
        assert bool(told) == bool(np.isnan(one["prevalence"].value)), one.method
    partly = P.Counts([0, 50], [0, 20], [60, 9], [54, 7], [40, 8], [30, 5],
                      calibration="random", systems="ab")  # fmt: skip
    (told,) = [c for c in P.rogan_gladen(partly).cautions if c.id == "no-unlabelled"]
    assert "in system 'a'" in told.text
    assert told.numbers["method"] == "Rogan-Gladen"


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
        if counts is not certain:
            made += (P.exact(counts, target="items"),)
        answer = "prevalence" if counts.dim != "stratum" else "overall_prevalence"
        for one in made:
            assert one.target == "items"
            assert "all-labelled" not in {caution.id for caution in one.cautions}
            if one.method.id != "judge":
                assert one[answer] == pytest.approx((0.6, 0.6, 0.6), abs=1e-12), one.method


def test_closed_forms_that_answer_for_the_population_alone_say_so():
    counts = P.Counts(200, 152, 140, 126, 60, 42, calibration="random")
    first, *rest = P.closed_forms(counts, target="items", mismatched=True)
    told = " ".join(c.text for c in first.cautions if c.id == "population-only")
    assert "conditional_calibration answers" in told
    assert "bootstrap answers" in told
    assert {one.target for one in (first, *rest)} == {"items"}
    for method in (P.naive, P.human_only, P.rogan_gladen, P.difference, P.post_stratified):
        with refused("population", "items", "everything"):
            method(counts, target="everything")
    with refused("interval=", "exact", subject="human_only"):
        P.human_only(counts, interval="exact", target="items")


# The same items, verdicts and labels drawn again: every table of a study is one system -----------

RUNS, ITEMS, GOOD = 600, 300, 210


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        of_items = P.propensity_weighted(counts, target="items")["overall_prevalence"]
        covered.append(of_items.low <= 0.7 <= of_items.high)
        if len(widths) < 100:
            of_all = P.propensity_weighted(counts)["overall_prevalence"]
            assert of_items.value == of_all.value
            widths.append([of_items.high - of_items.low, of_all.high - of_all.low])
    assert abs(np.mean(covered) - 0.95) < 5 * np.sqrt(0.05 * 0.95 / 600)
    assert np.less(*np.mean(widths, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "separate", "random"])
def test_it_is_said_that_labelled_items_do_not_count_if_they_are_others(calibration):
    """Forty good and forty bad ones of 200 were labelled: of the other 120, 80 % are good."""
    rows = P.simulate(prevalence=0.8, items=120, labelled=80, calibration="by_truth", random_seed=1)
    scored = rows.assign(score=rows["verdict"] * 0.5 + 0.2)
    named = rows.astype({"verdict": str, "truth": object}).assign(
        truth=rows["truth"].map({1.0: "1", 0.0: "0"}), item=range(200)
    )
    how = {"calibration": calibration}
    counts = P.Counts.from_frame(rows, **how)
    items = P.items.Items.from_frame(named, **how, pass_value="1", fail_value="0")
    found = [*P.closed_forms(counts)[-1:], P.exact(counts), P.rogan_gladen(items)]
    found += [P.rogan_gladen(P.scores.Scores.from_frame(scored, scale=(0, 1), **how))]
    for one in found:
        told = [a.text for a in one.assumptions if a.id == "same-judge"]
        said = [text for text in told if text.endswith(OTHERS)]
        assert bool(said) == (calibration != "random"), (one.method, told)
