"""Gates of every kind of result, on the command line, in CI and in pytest."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import MODULES, study_but
from refusals import refused
from scipy.stats import beta, binom, norm

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core.answer import chance
from bayesjudge.core.estimate import in_words
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.planning import OUT_OF_REACH
from bayesjudge.decide import (
    Check,
    Gate,
    Need,
    chance_to_pass,
    gate,
    needs,
    plot_gate,
    to_html,
    to_json,
    to_junit,
    to_markdown,
)
from bayesjudge.decide.decision import UNDECIDABLE
from bayesjudge.prevalence import Counts, items
from bayesjudge.prevalence.cautions import RANGE_P, _out_of_range

pytest_plugins = ["pytester"]


def labels_only(good, n):
    """So bad a judge, seen on one item, that labels are all there is."""
    return Counts(1, 1, good, good, n - good, 0, calibration="random")


def estimated(value, low, high, ci_prob=0.9, interval="equal-tailed"):
    return bj.Estimate(
        {"prevalence": (value, low, high)},
        method="m",
        ci_prob=ci_prob,
        source="s",
        interval=interval,
    )


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ((0.95, 0.91, 0.98), "pass"),
        ((0.95, 0.9, 0.98), "pass"),
        ((0.85, 0.8, 0.89), "fail"),
        ((0.85, 0.8, 0.9), "unknown"),
        ((0.91, 0.85, 0.95), "unknown"),
        ((np.nan, np.nan, np.nan), "unknown"),
    ],
)
def test_limits_decide(row, outcome):
    found = gate(estimated(*row), at_least=0.9)
    assert found.outcome == outcome
    assert found.exit_code() == {"pass": 0, "fail": 1, "unknown": 3}[outcome]


def test_at_most_is_the_mirror_of_at_least():
    for row in ((0.05, 0.02, 0.09), (0.15, 0.11, 0.2), (0.1, 0.05, 0.15)):
        mirror = [1 - row[0], 1 - row[2], 1 - row[1]]
        below = gate(estimated(*row), at_most=0.1).outcome
        assert below == gate(estimated(*mirror), at_least=0.9).outcome


def test_unknown_can_be_forced():
    found = gate(estimated(0.9, 0.8, 0.95), at_least=0.9)
    assert [found.exit_code(u) for u in ("unknown", "pass", "fail")] == [3, 0, 1]
    with refused("pass", "fail", subject="exit_code"):
        found.exit_code("maybe")


def test_a_narrower_interval_than_needed_is_refused():
    with refused(0.98, 0.99, subject="gate"):
        gate(estimated(0.95, 0.91, 0.98), at_least=0.9, probability=0.99)
    shortest = estimated(0.95, 0.91, 0.98, interval="highest density")
    assert gate(shortest, at_least=0.9, probability=shortest.ci_prob).outcome == "pass"
    with refused("ci_prob=", 0.9, 0.97, subject="gate"):
        gate(shortest, at_least=0.9, probability=0.97)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "one threshold"),
        ({"at_least": 0.9, "at_most": 0.1}, "one threshold"),
        ({"at_least": 0.9, "margin": 0.1}, "needs against"),
        ({"at_least": 0.9, "probability": 1.0}, "probability must lie"),
        ({"at_least": 0.9, "entry": "sensitivity"}, "no entry"),
        ({"against": "old"}, "does not hold which items"),
        ({"at_least": np.nan}, "must be a number"),
    ],
)
def test_bad_arguments_are_refused(wrong, words):
    with pytest.raises(bj.InputError, match=words):
        gate(estimated(0.95, 0.91, 0.98), **wrong)
    with refused(id="no-estimate"):
        gate({"prevalence": 1}, at_least=0.9)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [{"at_least": 90}, {"at_most": -0.1}, {"at_least": 1.01}])
def test_a_share_of_which_no_threshold_can_be_met_is_refused(threshold):
    """90 for 90 % was a fail, which stops a release."""
    table = bj.prevalence.people.simulate(items=200, labelled=150, random_seed=1)
    about = {"calibration": "random", "truth": ["ann1", "ann2"]}
    people = bj.prevalence.people.PeopleCounts.from_frame(table, **about)
    counts = bj.prevalence.Counts(900, 690, 70, 65, 30, 20, calibration="random")
    for result in (counts, people, *bj.prevalence.closed_forms(counts)[:1]):
        with refused(*threshold.values(), subject="gate"):
            gate(result, **threshold)


def test_all_checks_have_to_pass():
    made = bj.Estimate(
        {"share": bj.Quantity.over(([0.95, 0.9], [0.91, 0.85], [0.98, 0.95]), {"judge": "ab"})},
        method="m",
        ci_prob=0.9,
        source="s",
    )
    both = gate(made, at_least=0.9)
    assert [check.outcome for check in both.checks] == ["pass", "unknown"]
    assert both.outcome == "unknown"
    assert gate(made, at_least=0.9, entry=("share", "a")).outcome == "pass"
    assert (both & gate(made, at_least=0.96, entry=("share", "b"))).outcome == "fail"


@pytest.mark.fast_one_in(7)
@pytest.mark.parametrize("name", UNDECIDABLE)
@pytest.mark.parametrize("row", [(0.95, 0.91, 0.98), (0.85, 0.8, 0.89)])
def test_numbers_that_mean_nothing_decide_nothing(name, row):
    """Whether they lie above the threshold or below, and whatever an unknown counts as."""
    row = (row[0],) * 3 if name == "zero-width" else row
    made = replace(estimated(*row), cautions=(bj.Caution(name, "why"),))
    found = gate(made, at_least=0.9)
    assert (found.outcome, found.checks[0].undecidable) == ("unknown", (name,))
    assert [found.exit_code(u) for u in ("unknown", "pass", "fail")] == [3, 3, 1]
    assert UNDECIDABLE[name] in str(found)
    assert "0.9" not in str(found).split(", and no number decides")[1]
    assert name in to_markdown(found)
    assert f"no number decides ({name})" in to_html(found)
    for unknown in ("unknown", "pass", "fail"):
        suite = ElementTree.fromstring(to_junit(found, unknown=unknown))
        assert (suite.attrib["errors"], len(suite.findall(".//error"))) == ("1", 1)
    (told,) = json.loads(to_json(found))["checks"]
    assert (told["undecidable"], told["chance"]) == ([name], None)
    assert gate(estimated(0.95, 0.91, 0.98), at_least=0.9).exit_code() == 0


def test_every_caution_that_voids_a_number_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "decide.md").read_text(encoding="utf-8")
    table = page.split("| caution | why |")[1].split("\n\n")[0]
    told = re.findall(r"^\| `([a-z-]+)` \|", table, flags=re.MULTILINE)
    assert told == list(UNDECIDABLE)


@pytest.mark.slow
def test_labels_chosen_by_verdict_and_declared_random_decide_nothing():
    """A judge without errors, 60 labels of each verdict: 0.81 would pass, where 0.97 is true."""
    about = (780, 756, 60, 60, 60, 60)
    found = gate(Counts(*about, calibration="random"), at_least=0.8)
    assert found.checks[0].undecidable == ("contradiction",)
    assert found.checks[0].chance_limits is None
    assert gate(Counts(*about, calibration="by_verdict"), at_least=0.8).outcome == "pass"


def by_verdict_as_by_truth(rng, items, rates, labelled):
    """Counts of labels chosen by verdict and declared as chosen by truth."""
    prevalence, sensitivity, specificity = rates
    share = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    right = prevalence * sensitivity / share, (1 - prevalence) * specificity / (1 - share)
    passed = rng.binomial(items, share)
    good, bad = (int(rng.binomial(n, p)) for n, p in zip(labelled, right, strict=True))
    hits, missed = good, labelled[1] - bad
    cells = (hits + missed, hits, labelled[0] - good + bad, bad)
    rest = items - sum(labelled)
    return Counts(rest, passed - labelled[0], *cells, calibration="by_truth")


@pytest.mark.slow
def test_errors_that_do_not_fit_the_other_items_decide_nothing():
    """Of 80 passes 2 were bad, of 60 fails 18 good: declared by truth, 0.99 would pass."""
    counts = Counts(760, 697, 96, 78, 44, 42, calibration="by_truth")
    found = gate(counts, at_least=0.85)
    assert (found.outcome, found.exit_code("pass")) == ("unknown", 3)
    assert found.checks[0].undecidable == ("pass-rate-out-of-range",)
    (caution,) = found.cautions
    assert "declare by_verdict" in caution.text
    # labels of the same items, drawn at random, tell the share by themselves
    other = Counts(760, 640, 140, 100, 10, 8, calibration="random")
    checks = gate(other, at_least=0.5)
    assert "pass-rate-out-of-range" in {c.id for c in checks.cautions}
    assert checks.outcome == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([1500, 4000], 1500))
def test_errors_that_do_not_fit_are_rare_if_labels_were_drawn_as_declared(runs):
    """At most 1 of 44, where all outputs are good; the wrong design passes falsely less often."""
    rng, alarms = np.random.default_rng(1), 0
    for good, bad in ((100, 100), (200, 10)):
        for _ in range(runs):
            drawn = (760, rng.binomial(760, 0.8), good, rng.binomial(good, 0.8), bad)
            counts = Counts(*drawn, rng.binomial(bad, 0.6), calibration="by_truth")
            alarms += bool([*_out_of_range(counts)])
    error = np.sqrt(RANGE_P * (1 - RANGE_P) / (2 * runs))
    assert 0.5 * RANGE_P < alarms / (2 * runs) < RANGE_P + 4 * error
    wrong = [
        gate(by_verdict_as_by_truth(rng, 900, (0.87, 0.95, 0.75), (80, 60)), at_least=0.9)
        for _ in range(40)
    ]
    # 0.99 of them passed before, 0.175 now (120 runs): this is four standard errors away
    assert np.mean([one.outcome == "pass" for one in wrong]) < 0.42


@pytest.mark.slow
def test_a_contradiction_of_one_system_leaves_the_others():
    both = Counts(
        [780, 780],
        [756, 600],
        [60, 90],
        [60, 82],
        [60, 30],
        [60, 25],
        calibration="random",
        systems=["a", "aa"],
    )
    found = gate(both, at_least=0.5)
    assert [check.undecidable for check in found.checks] == [("contradiction",), ()]
    assert [check.outcome for check in found.checks] == ["unknown", "pass"]


@pytest.mark.slow
def test_repeats_and_comparisons_know_a_contradiction_too():
    log = items.simulate(
        systems={"a": 0.9, "b": 0.9}, items=600, repeats=2, labelled=200, random_seed=1
    )
    worse = log.assign(truth=log["truth"].where(log["verdict"] == 0))
    worse.loc[worse.index[worse["verdict"] == 1][:150], "truth"] = 1
    read = {"by": "system", "calibration": "random", "repeats": "system"}
    for table, undecidable in ((log, ()), (worse, ("contradiction",))):
        both = items.Items.from_frame(table, **read)
        for found in (gate(both, at_least=0.1), gate(both, against="b", margin=0.9)):
            assert [check.undecidable for check in found.checks] == [undecidable] * len(
                found.checks
            )


@pytest.mark.slow
def test_limits_are_quantiles_with_one_good_item_less_and_one_more():
    """By drawing both predictive values and the pass rate under these priors."""
    counts = Counts(780, 756, 56, 56, 64, 60, calibration="by_verdict")
    (check,) = gate(counts, at_least=0.85).checks
    passed, failed = (56 + 64 - 60, 56), (60, 60)
    rng, n = np.random.default_rng(1), 400_000
    for limit, (a, b), prob in ((check.low, (0.05, 1), 0.05), (check.high, (1, 0.05), 0.95)):
        ppv = rng.beta(passed[1] + a, passed[0] - passed[1] + b, n)
        wrong = rng.beta(failed[0] - failed[1] + a, failed[1] + b, n)
        rate = rng.beta(0.5 + 756 + 60, 0.5 + 24 + 60, n)
        below = (rate * ppv + (1 - rate) * wrong <= limit).mean()
        assert below == pytest.approx(prob, abs=4 * np.sqrt(0.05 * 0.95 / n))
    assert check.clopper_pearson
    assert "0.95 or more (Clopper-Pearson)" in str(check)
    assert f"({check.low:.3f} to {check.high:.3f})" in str(check)
    made = bj.prevalence.exact(counts, ci_prob=0.9, interval="eti")["prevalence"]
    assert check.low < made.low < made.high < check.high
    (again,) = gate(counts, at_least=made.low).checks  # under Jeffreys' prior
    assert again.chance == pytest.approx(0.95, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.5, 0.9])
def test_without_a_judge_limits_are_those_of_clopper_and_pearson(theta):
    """So that false passes and fails are as rare as promised for any number of labels."""
    n = 60
    passes = next(k for k in range(n) if binom.sf(k - 1, n, theta) <= 0.05)
    fails = next(k for k in range(n, 0, -1) if binom.cdf(k, n, theta) <= 0.05)
    for good, outcome in ((passes, "pass"), (passes - 2, "unknown"), (fails, "fail")):
        check = gate(labels_only(good, n), at_least=theta).checks[0]
        # the least favourable prior is worth a twentieth of a label; the judge saw one item more
        assert check.low == pytest.approx(beta.ppf(0.05, good, n - good + 1), abs=0.006)
        assert check.high == pytest.approx(beta.ppf(0.95, good + 1, n - good), abs=0.006)
        assert check.outcome in (outcome, "unknown")


@pytest.mark.slow
def test_a_flat_prior_fails_falsely_more_often_than_promised():
    """What the gate would do without the least favourable priors: 41 of 50 at .9 is a fail."""
    n, good, theta = 50, 41, 0.9
    assert beta.cdf(theta, good + 1, n - good + 1) >= 0.95
    assert binom.cdf(good, n, theta) > 0.05
    assert gate(labels_only(good, n), at_least=theta).outcome == "unknown"


@pytest.mark.slow
def test_what_would_decide_decides():
    """With the labels it names the gate passes about four times in five."""
    counts = Counts(800, 690, 88, 86, 12, 9, calibration="random")
    found = gate(counts, at_least=0.82)
    assert found.outcome == "unknown"
    need = found.checks[0].needs[0]
    assert need.what == "labels"
    assert need.now == 100
    theta, hit, caught = found.checks[0].value, 86.5 / 89, 9.5 / 13
    rng, passes, m, runs = np.random.default_rng(1), 0, int(need.wanted), 16
    for _ in range(runs):
        good = rng.binomial(m, theta)
        k = rng.binomial(900 - m, theta * hit + (1 - theta) * (1 - caught))
        drawn = (rng.binomial(good, hit), m - good, rng.binomial(m - good, caught))
        again = Counts(900 - m, k, good, *drawn, calibration="random")
        passes += gate(again, at_least=0.82).outcome == "pass"
    assert 0.8 * runs - 6.4 <= passes <= runs  # four standard errors


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.85, 0.89])  # a pass is likely, and a fail
def test_labels_on_all_items_decide_as_often_as_in_tables_drawn_from_the_posterior(share):
    """Of the wrong passes and fails that are left, by predictive values under Jeffreys' priors."""
    counts = Counts(760, 697, 96, 78, 44, 42, calibration="by_verdict")
    check = gate(counts, at_least=share).checks[0]
    every = check.needs[0]
    assert (every.now, every.wanted, every.given_value) == (140, 900, False)
    rng, runs = np.random.default_rng(1), 20_000
    good = rng.binomial(697, rng.beta(78.5, 2.5, runs)) + 96
    good += rng.binomial(63, rng.beta(18.5, 42.5, runs))
    passes = beta.ppf(0.05, good, 901 - good) >= share
    fails = beta.ppf(0.95, good + 1, 900 - good) < share
    error = np.sqrt(every.chance * (1 - every.chance) / runs)
    # Clopper and Pearson's rule is worth a twentieth of a label less: one number of good items
    assert every.chance == pytest.approx((passes | fails).mean(), abs=4 * error + 0.02)
    assert "What would decide: labels on all of these items (140 of 900" in str(check)
    assert f"; if the share is {check.value:.3f}, " in str(check)


def test_needs_in_words():
    assert str(Need("labels", 50, 120)) == "roughly 120 labels (there are 50)"
    every = Need("labels on all of these items", 140, 900, 0.69, given_value=False)
    assert str(every) == "labels on all of these items (140 of 900 have one), with a chance of 69 %"
    sure = "120 labels (there are 50), with a chance of 80 %"
    assert str(Need("labels", 50, 120, 0.8)) == sure
    far = Need("items, all of them labelled", 150, 150 * OUT_OF_REACH + 1, 0.8)
    assert str(far) == "no number of items within reach (there are 150)"
    assert str(Need("labels", 50, 50 * OUT_OF_REACH, 0.8)).startswith("1,000 labels")
    assert str(Need("labels", 50, np.inf)) == "no number of labels alone (there are 50)"
    assert str(Need("data", 1, 2.5)) == "roughly 2.5 times the data"


@pytest.mark.slow
@pytest.mark.parametrize(("design", "strategy"), [("random", "random sample"),
                                                  ("by_verdict", "by verdict")])  # fmt: skip
def test_labels_that_would_decide_have_the_chance_that_a_plan_gives_them(design, strategy):
    """To a twentieth of them; and for a fail as for a pass of what was turned round."""
    counts = Counts(2000, 1500, 80, 76, 20, 17, calibration=design)
    value = gate(counts, at_least=0.6).checks[0].value
    need = gate(counts, at_least=value - 0.04).checks[0].needs[0]
    assert (need.what, need.chance) == ("labels", 0.8)
    rates = (76.5 / 81, 17.5 / 21)
    if design == "by_verdict":  # of the labelled passes and fails, weighed by what was passed
        passed = 1579.5 / 2101
        ppv, npv = 76.5 / 80, 17.5 / 22
        hits, caught = passed * ppv, (1 - passed) * npv
        rates = (
            hits / (hits + (1 - passed) * (1 - npv)),
            caught / (caught + passed * (1 - ppv)),
        )
    for labels, enough in ((need.wanted, True), (0.94 * need.wanted, False)):
        chance = chance_to_pass(
            value - 0.04, int(labels), prevalence=value, sensitivity=rates[0],
            specificity=rates[1], items=2100 - int(labels), strategy=strategy,
        )  # fmt: skip
        assert (chance >= 0.8) == enough
    turned = Counts(2000, 500, 20, 17, 80, 76, calibration=design)
    other = gate(turned, at_least=1 - value + 0.04).checks[0].needs[0]
    assert other.wanted == pytest.approx(need.wanted, rel=0.05)


def test_rates_of_labels_by_verdict_are_weighed_by_all_verdicts():
    """80 % of 10,000 passes are good, 10 % of as many fails; of fails more are labelled."""
    passed, failed = (1000, 800), (4000, 3600)
    cells = (800 + 400, 800, 200 + 3600, 3600)  # good and passed of them, bad and failed of them
    counts = Counts(15_000, 9000, *cells, calibration="by_verdict")
    assert counts.labelled_n == passed[0] + failed[0]
    hits, caught = 0.5 * 0.8, 0.5 * 0.9
    expected = hits / (hits + 0.5 * 0.1), caught / (caught + 0.5 * 0.2)
    assert needs._rates(counts) == pytest.approx(expected, rel=2e-3)  # half an item more of each


def test_rates_have_half_an_item_more_of_each_kind():
    counts = Counts(100, 60, 10, 8, 4, 3, calibration="by_truth")
    assert needs._rates(counts) == pytest.approx((8.5 / 11, 3.5 / 5))
    counts = Counts(100, 60, 10, 8, 4, 3, calibration="by_verdict")  # 9 passes and 5 fails labelled
    share, ppv, npv = 69.5 / 115, 8.5 / 10, 3.5 / 6
    expected = share * ppv / (share * ppv + (1 - share) * (1 - npv))
    assert needs._rates(counts)[0] == pytest.approx(expected)


def test_a_fail_is_a_pass_of_bad_outputs():
    assert needs._upward(0.8, 0.9) == (0.8, 0.9)
    assert needs._upward(0.9, 0.7) == pytest.approx((0.1, 0.3))


def test_labels_of_a_judge_that_tells_nothing_are_those_without_one():
    """Right on half of each kind: as many as people alone need."""
    drawn = Counts(100_000, 50_000, 80, 40, 20, 10, calibration="random")
    (need,) = needs.labels_wanted(drawn, 0.85, 0.8, 0.95)
    chance = [
        chance_to_pass(0.8, int(x * need.wanted), prevalence=0.85, strategy="people only")
        for x in (1, 0.9)
    ]
    assert chance[0] >= 0.8 > chance[1]


def log_of(systems, seed=1, **more):
    return items.simulate(systems=systems, random_seed=seed, **more)


@pytest.mark.slow
def test_repeats_are_clusters_and_comparisons_are_paired():
    log = log_of(0.85, items=200, repeats=5, labelled=60)
    clustered = items.Items.from_frame(log, calibration="random", repeats="system")
    pooled = clustered.pooled()
    wide, narrow = (gate(d, at_least=0.8).checks[0] for d in (clustered, pooled))
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)
    assert {need.what for need in wide.needs} >= {"labelled items"} or wide.outcome != "unknown"
    both = log_of({"new": 0.82, "old": 0.8}, items=600, repeats=1, labelled=200)
    read = items.Items.from_frame(both, by="system", calibration="random")
    found = gate(read, against="old", margin=0.1)
    (check,) = found.checks
    assert check.where == {"first": "new", "second": "old"}
    made = bj.prevalence.paired_difference(read, ci_prob=0.9)["difference", "new", "old"]
    assert (check.value, check.low, check.high) == pytest.approx(tuple(made))
    # the other way round
    (turned,) = gate(read, against="new", margin=0.1).checks
    assert (turned.low, turned.high) == pytest.approx((-check.high, -check.low))
    with pytest.raises(bj.InputError, match="no system"):
        gate(read, against="other")


def test_a_fully_labelled_log_with_repeats_says_what_would_decide():
    log = log_of(0.8, items=12, repeats=3, labelled=12)
    read = items.Items.from_frame(log, calibration="random", repeats="system")
    found = gate(read, at_least=0.8)
    assert found.outcome == "unknown"
    (check,) = found.checks
    assert "items, labelled in the same share" in {need.what for need in check.needs}


@pytest.mark.slow
def test_labels_alone_do_not_help_where_the_verdicts_of_few_items_vary():
    """300 items: with 231 labels the part of the labels would fit, with the verdicts' it cannot."""
    log = log_of(0.85, items=300, repeats=3, labelled=60, sensitivity=0.8, specificity=0.75)
    read = items.Items.from_frame(log, calibration="random", repeats="system")
    few, many = (gate(read, at_least=x).checks[0].needs[0] for x in (0.81, 0.82))
    assert (few.what, few.now, many.now) == ("labelled items", 60, 60)
    assert 60 < few.wanted < 300
    assert np.isinf(many.wanted)


@pytest.mark.slow
def test_items_without_repeats_are_counts():
    """Both keep one promise: limits under the prior least favourable to the decision."""
    log = log_of(0.9, items=300, repeats=1, labelled=50)
    rows = items.Items.from_frame(log, calibration="random")
    counts = Counts.from_frame(log, calibration="random", item="item")
    one, other = (gate(data, at_least=0.9).checks[0] for data in (rows, counts))
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert one.chance == pytest.approx(other.chance)
    assert one.chance_limits == pytest.approx(other.chance_limits)


@pytest.mark.slow
def test_few_items_near_the_end_of_the_range_do_not_pass_by_a_normal_limit():
    """49 of 50 good items of five rows: a normal interval would begin above .9."""
    rows = [(i, i > 0, 1) for i in range(50) for _ in range(5)]
    rows += [(i, None, 1 if i < 195 else 0) for i in range(50, 200) for _ in range(5)]
    log = pd.DataFrame(rows, columns=["item", "truth", "verdict"])
    log["truth"] = log["truth"].map({True: 1, False: 0})
    read = items.Items.from_frame(log, calibration="random", repeats="system")
    (check,) = gate(read, at_least=0.92).checks
    normal = bj.prevalence.difference(read, ci_prob=0.9)["prevalence"]
    assert check.low < normal.low
    assert check.low > 0.75


@pytest.mark.parametrize(("threshold", "half"), [(0.87, 0.05), (0.91, 0.02)])
def test_how_many_times_the_data_is_computed_by_hand(threshold, half):
    """The limit on the threshold's side has to come as near, with room for bad luck."""
    (check,) = gate(estimated(0.9, 0.85, 0.92), at_least=threshold).checks
    room = 1 + norm.ppf(0.8) / norm.ppf(0.95)
    wanted = (half * room / abs(0.9 - threshold)) ** 2
    assert check.needs == (("data", 1, pytest.approx(wanted, rel=1e-3), None, True),)


def test_independent_results_widen_each_other():
    one, two = estimated(0.9, 0.88, 0.93), estimated(0.88, 0.83, 0.92)
    (check,) = gate(one, against=two, margin=0.05).checks
    assert check.low == pytest.approx(0.02 - np.hypot(0.02, 0.04))
    assert check.high == pytest.approx(0.02 + np.hypot(0.03, 0.05))
    assert gate(one, against=two, margin=0.05).cautions[0].id == "unpaired"


@pytest.mark.sampling
def test_draws_of_a_fit_decide():
    counts = Counts(1000, 880, 180, 174, 20, 15, calibration="random")
    fit = bj.prevalence.fit(counts, draws=500, chains=2, random_seed=1)
    (check,) = gate(fit, at_least=0.87).checks
    assert check.chance == (fit.draws("prevalence") >= 0.87).mean()
    assert (check.chance >= 0.95) == (check.outcome == "pass")


def test_two_systems_of_a_fit_are_compared_draw_by_draw():
    rng = np.random.default_rng(1)
    draws = np.stack([rng.beta(90, 10, 4000), rng.beta(80, 20, 4000)], axis=1).reshape(4, 1000, 2)
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), draws)}, coords={"system": ["new", "old"]}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    fit = Fit(tree, None, bj.prevalence.ErrorRates(), ("prevalence",), "m", "s")
    found = gate(fit, against="old", margin=0.02)
    (check,) = found.checks
    gap = (draws[..., 0] - draws[..., 1]).ravel()
    assert check.where == {"first": "new", "second": "old"}
    assert check.value == pytest.approx(gap.mean())
    assert check.chance == pytest.approx((gap >= -0.02).mean())
    assert (check.low, check.high) == pytest.approx(tuple(np.quantile(gap, [0.05, 0.95])))
    (below,) = gate(fit, at_most=0.85, entry=("prevalence", "old")).checks
    assert below.chance == pytest.approx((draws[..., 1] < 0.85).mean())
    with refused("other", subject="gate"):
        gate(fit, against="other")
    with refused(id="shared-items-unknown"):
        gate(labels_only(9, 10), against="old")


def test_of_three_systems_of_a_fit_those_that_are_asked_for_are_compared():
    draws = np.random.default_rng(1).beta([90, 85, 80], [10, 15, 20], (4, 500, 3))
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), draws)}, coords={"system": [*"abc"]}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    fit = Fit(tree, None, bj.prevalence.ErrorRates(), ("prevalence",), "m", "s")
    expected_of = {None: "ac", "prevalence": "ac", ("prevalence", "c"): "c"}
    for asked, expected in expected_of.items():
        checks = gate(fit, against="b", margin=0.02, entry=asked).checks
        assert [check.where["first"] for check in checks] == [*expected]
        assert {check.where["second"] for check in checks} == {"b"}


def test_strata_and_propensities_are_gated_by_the_estimate_of_their_design():
    cells = ([300, 300], [200, 120], [100, 90], [92, 70], [60, 80], [48, 70])
    strata = Counts(*cells, calibration="random", systems=["short", "long"], dim="stratum")
    exact = bj.prevalence.exact(strata, ci_prob=0.9, interval="eti")
    (check,) = gate(strata, at_least=0.5).checks
    assert (check.quantity, check.outcome) == ("overall_prevalence", "unknown")  # too few labels
    (check,) = gate(strata, at_least=0.5, entry=("prevalence", "short")).checks
    assert (check.value, check.low) == exact["prevalence", "short"][:2]
    known = Counts(*cells, calibration="known_propensity", systems=["short", "long"],
                   dim="stratum", propensity=[0.15, 0.4])  # fmt: skip
    closed = bj.prevalence.closed_forms(known, ci_prob=0.9)[-1]
    (check,) = gate(known, at_least=0.5, entry="overall_prevalence").checks
    assert (check.method, check.low) == (closed.method, closed["overall_prevalence"].low)


@pytest.mark.slow
@pytest.mark.parametrize("one", MODULES, ids=lambda one: one.name)
def test_any_modules_closed_form_can_be_gated(one):
    """Whatever the quantity and its dimensions: one check an entry."""
    for made in one.module.closed_forms(one.simulated(1), ci_prob=0.9):
        quantity = next(iter(made.quantities))
        found = gate(made, at_least=0.5, entry=quantity)
        assert len(found.checks) == len(made.quantities[quantity].labels)


@pytest.mark.slow
def test_a_generators_share_a_judges_agreement_and_a_shift_decide():
    of = {one.name: one for one in MODULES}

    def outcome(name, entry, made=None, **threshold):
        made = made or of[name].closed_form(of[name].simulated(1))
        return gate(made, entry=entry, probability=0.9, **threshold).outcome

    found = [outcome("panel", ("prevalence", f"g{i}"), at_least=0.75) for i in (1, 3)]
    assert found == ["pass", "fail"]  # .9 and .6
    shift = ("mean_shift", "format")
    made = of["bias"].closed_form(of["bias"].simulated(1))
    _, low, high = made[shift]
    found = [outcome("bias", shift, made, at_most=x) for x in (high + 0.1, low - 0.1)]
    assert found == ["pass", "fail"]
    counts = Counts(0, 0, 180, 174, 100, 85, calibration="random")
    made = bj.judge.quality(counts, ci_prob=0.9)
    found = [outcome("prevalence", "kappa", made, at_least=x) for x in (0.7, 0.97)]
    assert found == ["pass", "fail"]


# Reports ----------------------------------------------------------------------------------------


def mixed():
    made = bj.Estimate(
        {
            "share": bj.Quantity.over(
                ([0.95, 0.9], [0.91, 0.85], [0.98, 0.95]), {"judge": ["a", "<b|"]}
            )
        },
        method="m",
        ci_prob=0.9,
        source="s",
        cautions=(bj.Caution("odd", "a | b"),),
    )
    return gate(made, at_least=0.9) & gate(made, at_least=0.99, entry=("share", "a"))


def test_reports_hold_every_check():
    found = mixed()
    page = to_markdown(found)
    assert page.startswith("# bayesjudge gate\n\n**FAIL: 1 pass, 1 fail, 1 unknown**")
    assert "&lt;b\\|" in page
    assert "probability 0.05 at most" in page
    suite = ElementTree.fromstring(to_junit(found))
    assert suite.attrib["tests"] == "3"
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("1", "1")
    assert len(suite.findall("testcase/failure")) == 1
    assert ElementTree.fromstring(to_junit(found, unknown="fail")).attrib["failures"] == "2"
    document = json.loads(to_json(found))
    assert document["outcome"] == "fail"
    assert [c["outcome"] for c in document["checks"]] == ["pass", "unknown", "fail"]
    assert document["checks"][0]["chance"] is None


def test_a_page_and_a_picture_hold_every_check():
    found = mixed()
    ax = plot_gate(found)
    named = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [one.rpartition(", ")[2] for one in named] == ["a: pass", "<b|: unknown", "a: fail"]
    assert ax.get_title(loc="left") == "FAIL: 1 pass, 1 fail, 1 unknown"
    thresholds = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert thresholds == [0.9, 0.9, 0.99]
    pictures = {"Numbers": ax.get_figure()}
    page = to_html(found, figures=pictures, inputs={"data": "<log>"}, command="bayesjudge gate")
    assert "<h1>FAIL: 1 pass, 1 fail, 1 unknown</h1>" in page
    for text in ("&lt;b|", "&lt;log&gt;", "probability 0.05 at most", "a | b", "<svg", "≥ 0.99"):
        assert text in page, text
    assert not re.search(r"None|Sources|src=|href=\"[^#]", page)


# The command ------------------------------------------------------------------------------------


def write_log(path, *, system="a", theta=0.9, seed=1, labelled=200, items=600):
    log = log_of({system: theta}, seed=seed, items=items, repeats=1, labelled=labelled, icc=0)
    log.drop(columns="system").to_csv(path, index=False)
    return str(path)


NAMED = ["--truth", "truth", "--calibration", "random"]


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "code"), [(0.7, 0), (0.97, 1), (0.9, 3)])
def test_the_command_answers_with_its_exit_code(tmp_path, capsys, wanted, code):
    log = write_log(tmp_path / "log.csv")
    assert main(["gate", log, *NAMED, "--at-least", str(wanted)]) == code
    out = capsys.readouterr().out
    assert out.startswith({0: "PASS", 1: "FAIL", 3: "UNKNOWN"}[code])
    assert ("would decide" in " ".join(out.split())) == (code == 3)
    assert main(["gate", log, *NAMED, "--at-least", str(wanted), "--unknown", "fail"]) == min(
        code, 1
    )


@pytest.mark.slow
def test_the_command_writes_reports(tmp_path, capsys):
    log = write_log(tmp_path / "log.csv")
    summary, junit, page = tmp_path / "s.md", tmp_path / "j.xml", tmp_path / "p.html"
    summary.write_text("before\n")
    more = ["--summary", str(summary), "--junit", str(junit), "--html", str(page), "--json"]
    assert main(["gate", log, *NAMED, "--at-least", "0.7", *more]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "pass"
    read = pd.read_csv(log)
    sizes = {"items": len(read), "labelled": int(read["truth"].notna().sum())}
    assert document["inputs"].items() >= sizes.items()
    assert summary.read_text().startswith("before\n# bayesjudge gate, log.csv\n\n**PASS")
    assert ElementTree.parse(junit).getroot().attrib["tests"] == "1"
    assert "bayesjudge gate, log.csv" in page.read_text()
    assert "--at-least 0.7" in page.read_text()


@pytest.mark.slow
def test_the_command_compares_with_a_baseline(tmp_path, capsys):
    both = log_of({"new": 0.85, "old": 0.85}, items=600, repeats=1, labelled=250, correlation=1)
    paths = []
    for name, part in both.groupby("system"):
        paths.append(str(tmp_path / f"{name}.csv"))
        part.drop(columns="system").to_csv(paths[-1], index=False)
    new, old = paths
    about = [*NAMED, "--margin", "0.06", "--json", "--against", old]
    codes = {}
    for words in (["--item", "item"], []):
        codes[len(words)] = main(["gate", new, *about, *words])
        (check,) = json.loads(capsys.readouterr().out)["checks"]
        codes[len(words)] = check["high"] - check["low"]
    assert codes[2] < 0.9 * codes[0]  # pairing tells more
    whole = tmp_path / "both.csv"
    both.to_csv(whole, index=False)
    about = ["--by", "system", "--item", "item", "--against", "old", "--margin", "0.06", "--json"]
    main(["gate", str(whole), *NAMED, *about])
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert check["high"] - check["low"] == pytest.approx(codes[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--at-least"),
        (["--at-least", "0.9", "--margin", "0.1"], "--margin needs --against"),
        (["--against", "nowhere.csv"], "there is no such file"),
        (["--at-least", "0.9", "--junit", "no/where/x.xml"], "there is no folder"),
        (["--at-least", "0.9", "--repeats", "judge"], "--repeats needs --item"),
    ],
)
def test_the_command_refuses_with_2(tmp_path, capsys, options, words):
    log = write_log(tmp_path / "log.csv")
    assert main(["gate", log, *NAMED, *options]) == 2
    assert words in capsys.readouterr().err


# pytest -----------------------------------------------------------------------------------------

SUITE = """
import pytest
from bayesjudge.prevalence import Counts
COUNTS = Counts(1000, 880, 180, 174, 20, 15, calibration="random")

def test_good_enough(gate):
    assert gate(COUNTS, at_least=0.8).outcome == "pass"

@pytest.mark.gate(at_least=0.97)
def test_too_bad(gate):
    gate(COUNTS)

@pytest.mark.gate(at_least=0.5)
def test_unknown(gate):
    gate(COUNTS, at_least=0.9)
"""
VOID = """
from bayesjudge.prevalence import Counts

def test_contradiction(gate):
    gate(Counts(780, 756, 60, 60, 60, 60, calibration="random"), at_least=0.8)
"""
#: pytest finds it by itself, unless the package was installed before it had a plugin.
INSTALLED = "bayesjudge" in entry_points(group="pytest11").names
#: Others' plugins take seconds to import, and what is tested needs none of them.
OTHERS = [f"no:{name}" for name in ("anyio", "cacheprovider", "hypothesispytest", "xdist", "zarr")]
PLUGIN = [
    *(() if INSTALLED else ("-p", "bayesjudge.pytest_plugin")),
    *(word for one in OTHERS for word in ("-p", one)),
]


@pytest.mark.slow
def test_the_plugin_passes_fails_and_skips_with_the_reason(pytester):
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess(*PLUGIN, "-rs")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*gates (bayesjudge)*",
            "*test_good_enough",
            "  PASS: the share of good outputs*",
            "*would decide*",
        ]
    )
    # once in a process of its own; the options in this one
    result = pytester.runpytest_inprocess(*PLUGIN, "--gate-unknown", "fail")
    result.assert_outcomes(passed=1, failed=2)
    result = pytester.runpytest_inprocess(*PLUGIN, "--gate-unknown", "pass")
    result.assert_outcomes(passed=2, failed=1)
    pytester.makepyfile(VOID)
    for unknown in ("skip", "pass"):
        result = pytester.runpytest_inprocess(*PLUGIN, "--gate-unknown", unknown)
        result.assert_outcomes(failed=1)


def test_the_plugin_is_an_entry_point():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"bayesjudge": "bayesjudge.pytest_plugin"}


def test_the_example_workflow_runs_the_gate():
    from pathlib import Path

    import yaml

    path = Path(__file__).parents[2] / "docs" / "examples" / "gate.yml"
    steps = yaml.safe_load(path.read_text())["jobs"]["gate"]["steps"]
    lines = " ".join(step.get("run", "") for step in steps)
    assert "bayesjudge gate" in lines
    assert '--summary "$GITHUB_STEP_SUMMARY"' in lines


@pytest.mark.parametrize("design", ["random", "by_verdict"])
@pytest.mark.parametrize("at_least", [True, False])
@pytest.mark.slow
def test_the_probability_that_is_told_decides_as_the_limits_do(design, at_least, monkeypatch):
    """One rule: 96.8 % sure by one prior, and unknown by another, is told as a range."""
    of_gates = sys.modules["bayesjudge.decide.gate"]  # a function has its name
    monkeypatch.setattr(of_gates, "labels_wanted", lambda *asked: [])  # which would take longest
    counts = Counts(400, 320, 60, 54, 20, 6, calibration=design)
    seen, astray = set(), 0
    for threshold in np.linspace(0.6, 0.95, 71):
        asked = {"at_least" if at_least else "at_most": float(threshold)}
        (check,) = gate(counts, **asked).checks
        low, high = check.chance_limits
        assert low <= check.chance <= high
        by_chance = "pass" if low >= 0.95 else "fail" if high <= 0.05 else "unknown"
        assert check.outcome == by_chance
        seen.add(check.outcome)
        astray += check.outcome == "unknown" and not 0.05 < check.chance < 0.95
        less, more = map(chance, check.chance_limits)
        both = less if less == more else f"{less} to {more}"
        number = {"pass": less, "fail": more, "unknown": both}[check.outcome]
        assert f"with probability {number}" in str(check)
    assert seen == {"pass", "fail", "unknown"}
    assert astray  # where the prior of the estimate alone would have decided


@pytest.mark.slow
def test_the_plugin_costs_a_suite_without_gates_nothing():
    """pytest imports it in every run, wherever the package is installed."""
    code = "import bayesjudge.pytest_plugin, sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_checks_are_told_in_words():
    def said(outcome, quantity="prevalence", threshold=0.9, **where):
        numbers = (0.8, 0.7, 0.9, threshold, True, 0.95, 0.0, "method")
        return str(Check(quantity, where, outcome, *numbers))

    (bare,) = gate(estimated(0.8, np.nan, np.nan), at_least=0.7).checks
    assert bare.sentence.endswith(": estimate 0.800, without an interval")
    good = in_words("prevalence")
    assert said("pass").startswith(f"PASS: the {good} is at least 0.9: ")
    assert said("fail", system="b").startswith(f"FAIL: the {good} of b is below 0.9:")
    assert said("unknown").startswith(f"UNKNOWN: it is open whether the {good} is at")
    assert said("unknown").endswith("with probability <.001 (a pass takes 0.95, a fail 0.05)")
    pair = {"first": "new", "second": "old"}
    assert "FAIL: new is worse than old: difference 0.800 (0.700 to 0.900). One" in said(
        "fail", "difference", 0.0, **pair
    )
    assert "not worse than old by more than 0.02" in said("pass", "difference", -0.02, **pair)


@pytest.mark.slow
def test_a_baseline_without_a_margin_has_no_minus():
    made = items.simulate(systems={"a": 0.8, "b": 0.7}, items=60, labelled=30, random_seed=1)
    read = items.Items.from_frame(made, calibration="random", by="system", repeats="system")
    (check,) = gate(read, against="a").checks
    assert f"{check.threshold:g}" == "0"


@pytest.mark.slow
def test_a_limit_next_to_an_end_is_that_of_a_prior_with_more_weight_there():
    """As a fit with that prior has it; the chance is that of the estimate."""
    from bayesjudge.prevalence import people

    table = people.simulate(prevalence=0.93, items=200, labelled=150, random_seed=1)
    data = people.PeopleCounts.from_frame(table, calibration="random", truth=["ann1", "ann2"])
    (check,) = gate(data, at_least=0.9).checks
    usual = bj.prevalence.exact(data, ci_prob=0.9, interval="eti")["prevalence"]
    for end, prior in (("low", (0.05, 0.5)), ("high", (0.5, 0.05))):
        model = people.PeopleErrors(prevalence=bj.BetaPrior(*prior))
        row = bj.prevalence.exact(data, model, ci_prob=0.9, interval="eti")["prevalence"]
        assert getattr(check, end) == pytest.approx(getattr(row, end), abs=0.004)
    assert check.low < usual.low
    assert check.high > usual.high + 0.001
    assert check.value == usual.value
    less, more = check.chance_limits
    assert less < check.chance < more
    (said,) = gate(data, at_least=0.9, entry="people_pass").checks
    assert said.quantity == "people_pass"
    assert said.chance_limits is None


@pytest.mark.slow
def test_limits_of_each_of_several_systems_are_those_of_its_own_prior():
    from bayesjudge.prevalence import people

    shares = {"a": 0.8, "b": 0.95}
    tables = [people.simulate(prevalence=share, items=200, labelled=150, random_seed=1)
              .assign(system=name) for name, share in shares.items()]  # fmt: skip
    data = people.PeopleCounts.from_frame(
        pd.concat(tables), calibration="random", truth=["ann1", "ann2"], by="system"
    )
    for check in gate(data, at_least=0.5).checks:
        (name,) = check.where.values()
        priors = dict.fromkeys(shares, bj.BetaPrior.jeffreys()) | {name: bj.BetaPrior(0.5, 0.05)}
        model = people.PeopleErrors(prevalence=priors)
        row = bj.prevalence.exact(data, model, ci_prob=0.9, interval="eti")["prevalence", name]
        assert check.high == pytest.approx(row.high, abs=0.004)


@pytest.mark.slow
def test_limits_of_what_strata_make_up_are_those_of_priors_that_add_up_to_one_share():
    from bayesjudge.prevalence import people

    cells = ([1000, 1000], [900, 910], [290, 295], [280, 280], [10, 5], [8, 4])
    counts = Counts(*cells, calibration="random", systems=["x", "y"], dim="stratum")
    rows = people.simulate(prevalence=0.93, items=400, labelled=300, random_seed=1)
    rows["topic"] = np.where(np.arange(len(rows)) % 3, "x", "y")
    how = {"calibration": "random", "truth": ["ann1", "ann2"], "stratum": "topic"}
    by_people = people.PeopleCounts.from_frame(rows, **how)
    for data, model, error in ((counts, bj.prevalence.ErrorRates, 0),
                               (by_people, people.PeopleErrors, 0.004)):  # fmt: skip
        (check,) = gate(data, at_least=0.93).checks
        assert check.quantity == "overall_prevalence"
        usual = bj.prevalence.exact(data, ci_prob=0.9, interval="eti")["overall_prevalence"]
        assert check.low < usual.low < usual.high < check.high
        for end, prior in (("low", (0.025, 0.5)), ("high", (0.5, 0.025))):
            with_prior = model(prevalence=bj.BetaPrior(*prior))
            row = bj.prevalence.exact(data, with_prior, ci_prob=0.9, interval="eti")
            expected = getattr(row["overall_prevalence"], end)
            assert getattr(check, end) == pytest.approx(expected, abs=error)


@pytest.mark.slow
def test_what_all_checks_take_for_granted_is_said_once():
    table = bj.prevalence.people.simulate(items=200, labelled=150, random_seed=1)
    table["system"] = np.resize(["a", "b"], len(table))
    data = bj.prevalence.people.PeopleCounts.from_frame(
        table, calibration="random", truth=["ann1", "ann2"], by="system"
    )
    decision = gate(bj.prevalence.exact(data), at_least=0.5)
    (granted,) = {each.text for check in decision.checks for each in check.labels}
    assert len(decision.checks) == 2
    assert str(decision).count(granted) == 1
    assert to_html(decision).count(granted) == 1
    alone = Counts([800] * 2, [600, 700], [90, 90], [80, 80], [30] * 2, [25] * 2,
                   calibration="random", systems=["a", "b"])  # fmt: skip
    decision = gate(alone, at_least=0.76)
    first, second = ([each.text for each in check.labels] for check in decision.checks)
    assert first[0] == second[0]
    assert first[1] != second[1]
    for page in (str(decision), unescape(to_html(decision))):
        assert page.count(f"{first[0]};") == 1
        assert f"a: {first[1]}." in page
        assert f"b: {second[1]}." in page


def test_how_limits_are_made_and_what_a_pass_takes_is_said_once_and_not_never():
    numbers = (0.8, 0.7, 0.9, 0.85, True, 0.95, 0.3, Method("m", "m"))
    void, failed, first, second = (
        Check("prevalence", {"system": name}, outcome, *numbers, undecidable=undecidable)
        for name, outcome, undecidable in (
            ("a", "unknown", ("contradiction",)),
            ("b", "fail", ()),
            ("c", "unknown", ()),
            ("d", "unknown", ()),
        )
    )
    text = str(Gate((void, failed, first, second)))
    limits, takes = "One-sided limits", "(a pass takes 0.95, a fail 0.05)"
    assert text.count(limits) == text.count(takes) == 1
    lines = text.splitlines()
    assert limits in lines[2]  # of b: of a numbers mean nothing
    assert takes in lines[3]  # of c: b has decided
