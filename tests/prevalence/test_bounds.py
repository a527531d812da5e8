"""Labels of one verdict alone: bounds by every route, and the labels that are missing."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from oracles import assert_mc_mean
from refusals import refused
from scipy.stats import betabinom

import bayesjudge as bj
from bayesjudge import prevalence as P
from bayesjudge.cli import main
from bayesjudge.decide import gate
from bayesjudge.prevalence import items as module
from bayesjudge.prevalence._bounds import of_sum

#: 80 of 281 fails are labelled, of which 47 are good; none of 719 passes is.
FAILS = P.Counts(920, 719, 47, 0, 33, 33, calibration="by_verdict")
#: 80 of 719 passes are labelled, of which 5 are bad; none of 281 fails is.
PASSES = P.Counts(920, 639, 75, 75, 5, 0, calibration="by_verdict")
BOTH = P.Counts(
    [920, 200], [719, 150], [47, 40], [0, 30], [33, 30], [33, 20], "by_verdict", systems=["a", "b"]
)  # fmt: skip
ONE_VERDICT = pytest.mark.parametrize(
    ("counts", "words"), [(FAILS, "the judge passed"), (PASSES, "the judge failed")]
)


def worst_cases(counts, n=400_000):
    """Draws of the share were all items without a label of their verdict bad, and all good."""
    rng = np.random.default_rng(1)
    k = counts.test_pass + counts.labelled_pass
    rate = rng.beta(0.5 + k, 0.5 + counts.test_n + counts.labelled_n - k, n)
    good = rng.beta(0.5 + counts.correct_n, 0.5 + counts.incorrect_n, n)
    known = rate if counts.labelled_pass else 1 - rate
    return known * good, known * good + 1 - known


@pytest.mark.slow
@ONE_VERDICT
def test_the_share_lies_between_the_worst_cases(counts, words):
    value, low, high = P.exact(counts)["prevalence"]
    assert np.isnan(value)
    for end, draws, prob in zip((low, high), worst_cases(counts), (0.025, 0.975), strict=True):
        below = (draws <= end).mean()
        assert below == pytest.approx(prob, abs=4 * np.sqrt(prob * (1 - prob) / draws.size))


@ONE_VERDICT
def test_of_these_items_the_labelled_ones_are_known(counts, words):
    value, low, high = P.exact(counts, target="items")["prevalence"]
    assert np.isnan(value)
    passed = counts.labelled_pass > 0
    known = counts.test_pass if passed else counts.test_n - counts.test_pass
    good = betabinom(known, 0.5 + counts.correct_n, 0.5 + counts.incorrect_n)
    least, most = good.ppf([0.025, 0.975]) + counts.correct_n
    free = counts.test_n - known
    assert (1000 * low, 1000 * high) == pytest.approx((least, most + free))


@pytest.mark.slow
@pytest.mark.parametrize("worth", [0.0, 1.0])
@pytest.mark.parametrize("labelled", ["passes", "fails"])
@pytest.mark.parametrize("runs", study_but([100, 300], 100))
def test_bounds_hold_in_the_worst_case(labelled, worth, runs):
    """Whatever items without a label are worth, all good or all bad."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(runs):
        k = rng.binomial(400, 0.7)
        size = k if labelled == "passes" else 400 - k
        good = rng.binomial(40, 0.9)
        rest = 360, k - 40 if labelled == "passes" else k
        cells = (
            (good, good, 40 - good, 0) if labelled == "passes" else (good, 0, 40 - good, 40 - good)
        )
        _, low, high = P.exact(P.Counts(*rest, *cells, calibration="by_verdict"))["prevalence"]
        share = 0.7 if labelled == "passes" else 0.3
        held += low <= share * 0.9 + (1 - share) * worth <= high
        assert size >= 40
    assert held / runs >= 0.975 - 4 * np.sqrt(0.025 * 0.975 / runs)


@pytest.mark.slow
def test_no_bad_label_excludes_1_and_no_good_one_0():
    all_good = P.Counts(920, 719, 80, 0, 0, 0, calibration="by_verdict")
    assert P.exact(all_good)["prevalence"].high == 1
    all_bad = P.Counts(920, 719, 0, 0, 80, 80, calibration="by_verdict")
    assert P.exact(all_bad)["prevalence"].low == 0


@pytest.mark.slow
@ONE_VERDICT
def test_the_answer_is_bounds_and_the_labels_to_buy(counts, words):
    made = [*P.closed_forms(counts), P.exact(counts)]
    answer = P.answer(*made)
    _, low, high = made[-1]["prevalence"]
    assert not answer.known
    assert f"between {100 * low:.0f} and {100 * high:.0f} %" in answer.text
    assert f"No item that {words} has a label: label some that {words}." in answer.notes
    (row,) = answer.as_dict()["estimates"]
    assert not row["known"]
    (caution,) = [c for c in answer.cautions if c.id == "empty-class"]
    assert caution.numbers["those"] == words


def test_words_are_those_of_the_label_that_was_read_as_pass():
    told = P.Counts(920, 719, 47, 0, 33, 33, "by_verdict", pass_name="unsafe")
    (note, *_) = P.answer(*P.closed_forms(told), P.exact(told)).notes
    assert note.endswith("label some that the judge called 'unsafe'.")


@pytest.mark.slow
def test_of_several_systems_those_without_such_labels_have_bounds():
    made = P.exact(BOTH)
    assert np.isnan(made["prevalence", "a"].value)
    assert made["prevalence", "b"] == P.exact(BOTH.system("b"))["prevalence"]
    answer = P.answer(*P.closed_forms(BOTH), made)
    assert answer.known
    assert "13 and 91 % of a's" in answer.text
    assert "No item that the judge passed has a label in a: label" in answer.notes[0]
    assert [row["known"] for row in answer.as_dict()["estimates"]] == [False, True]
    assert P.answer.__module__  # differences leave out what has no value
    from bayesjudge.prevalence.answer import differences

    assert differences(made) == []


def test_a_stated_prior_answers_in_place_of_labels():
    model = P.PredictiveValues(ppv=bj.BetaPrior.worth(0.9, 20))
    value, low, high = P.exact(FAILS, model)["prevalence"]
    assert low < value < high < 0.9


@pytest.mark.slow
def test_few_items_without_a_label_leave_the_value():
    """Two fails of a hundred items: most of the width is the labels'."""
    few = P.Counts(60, 58, 38, 38, 2, 0, calibration="by_verdict")
    value, low, high = P.exact(few)["prevalence"]
    for end, draws, prob in zip((low, high), worst_cases(few), (0.025, 0.975), strict=True):
        assert (draws <= end).mean() == pytest.approx(prob, abs=2e-3)
    assert low < value < high
    assert P.answer(*P.closed_forms(few), P.exact(few)).known


@pytest.mark.slow
def test_without_items_of_a_verdict_nothing_is_missing():
    """A judge that passes everything: labels on passes tell the share."""
    made = P.exact(P.Counts(960, 960, 38, 38, 2, 0, calibration="by_verdict"))
    assert made["prevalence"].value == pytest.approx(38 / 40, abs=0.02)
    assert not [c for c in made.cautions if c.id == "empty-class"]


@pytest.mark.fast_one_in(2)
@ONE_VERDICT
def test_a_gate_decides_by_bounds_or_names_the_labels(counts, words):
    _, low, high = P.exact(counts, ci_prob=0.9)["prevalence"]
    (open_,) = gate(counts, at_least=0.8).checks
    assert open_.outcome == "unknown"
    assert np.isnan(open_.value)
    assert np.isnan(open_.chance)
    assert (open_.low, open_.high) == pytest.approx((low, high), abs=0.02)
    assert open_.low <= low < high <= open_.high  # one good label less, one more
    assert f"labels on items that {words} (there are 0)" in str(open_)
    assert gate(counts, at_least=high + 0.02).outcome == "fail"
    assert gate(counts, at_least=low - 0.02).outcome == "pass"
    assert gate(counts, at_most=low - 0.02).outcome == "fail"


def rows_of(kind, repeats=1, n=300):
    """A log in which people labelled 60 rows that the judge passed, or failed."""
    rng = np.random.default_rng(2)
    good = rng.random((n, repeats)) < rng.beta(4, 1, n)[:, None]
    verdict = np.where(good, rng.random(good.shape) < 0.8, rng.random(good.shape) < 0.2)
    rows = pd.DataFrame({"item": np.repeat(np.arange(n), repeats), "verdict": verdict.ravel() * 1})
    kept = rng.choice(np.flatnonzero(rows["verdict"] == kind), 60, replace=False)
    rows["truth"] = pd.Series(good.ravel() * 1.0).where(rows.index.isin(kept))
    rows["week"] = np.where(rows["item"] % 2 == 1, "w1", "w2")
    return rows, good.mean()


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.slow
def test_rows_that_share_items_have_bounds_too(kind, repeats):
    rows, truth = rows_of(kind, repeats)
    how = {"repeats": "system"} if repeats > 1 else {}
    read = module.Items.from_frame(rows, calibration="by_verdict", **how)
    made = module.exact(read)
    value, low, high = made["prevalence"]
    assert np.isnan(value)
    assert low < truth < high
    answer = module.answer(*module.closed_forms(read), made)
    assert not answer.known
    assert "between" in answer.text
    words = "the judge passed" if kind == 0 else "the judge failed"
    assert f"label some that {words}." in answer.notes[0]
    (check,) = gate(read, at_least=0.5 * (low + high)).checks
    assert check.outcome == "unknown"
    assert f"labels on items that {words} (there are 0)" in str(check)
    if repeats == 1:
        np.testing.assert_array_equal(made["prevalence"], P.exact(read.pooled())["prevalence"])


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--by", "week"], ["--by", "week", "--item", "item"]])
def test_the_command_says_at_most(options, tmp_path, capsys):
    rows, _ = rows_of(0)
    rows.to_csv(tmp_path / "log.csv", index=False)
    asked = [str(tmp_path / "log.csv"), "--truth", "truth", "--calibration", "by_verdict", *options]
    said = [*asked, "--verdict", "verdict"]
    assert main(["prevalence", *said, "--no-nuts", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["answer"]
    assert not answer["known"]
    assert "between" in answer["text"]
    assert all(row["value"] is None and row["low"] < row["high"] for row in answer["estimates"])
    assert "label some that the judge passed" in answer["notes"][0]
    assert main(["gate", *said, "--at-least", "0.8"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "labels on items that the judge passed (there are 0)" in text


@pytest.mark.sampling
def test_a_sampled_model_has_the_same_bounds(tmp_path):
    fit = P.fit(FAILS, random_seed=1)
    made = fit.estimate()
    assert made["prevalence"][1:] == pytest.approx(P.exact(FAILS)["prevalence"][1:])
    assert np.isnan(made["prevalence"].value)
    assert np.isnan(made["ppv"].value)
    assert gate(fit, at_least=0.8).checks[0].outcome == "unknown"
    with refused(id="nothing-to-compare"):
        P.contrasts(fit)
    P.plot_correction(fit)
    path = fit.save(tmp_path / "fit.nc")
    assert np.isnan(bj.load(path).estimate()["prevalence"].value)


@pytest.mark.sampling
def test_strata_without_such_labels_widen_their_sum():
    """By what items without a label may be worth: half of one stratum in four."""
    sizes = np.array([[400, 200, 90, 0, 10, 10]] + [[300, 150, 140, 90, 60, 50]] * 3).T
    strata = P.Counts(*sizes, "by_verdict", systems=list("abcd"), dim="stratum")
    fit = P.fit(strata, random_seed=1)
    value, low, high = fit.estimate()["overall_prevalence"]
    alone = np.quantile(fit.draws("overall_prevalence"), [0.025, 0.975])
    assert (low, high) == pytest.approx(alone + np.array([-0.1, 0.1]), abs=1e-9)
    assert low < value < high or np.isnan(value)
    assert np.isnan(fit.estimate()["prevalence", "a"].value)
    exact = P.exact(strata)["prevalence", "b"]
    assert_mc_mean(fit.idata["posterior"]["prevalence"].sel(stratum="b"), exact.value)
    assert {*P.contrasts(fit)["first"]} == {*"bc"}


# Which prior -------------------------------------------------------------------------------------


def enumerated(prior, share=0.99, rates=(0.9, 0.7), m=50, n=1000):
    """Bias and coverage over every table of labels, at the expected number of passes."""
    from scipy.stats import binom

    passed = share * rates[0] + (1 - share) * (1 - rates[1])
    ppv, npv = share * rates[0] / passed, (1 - share) * rates[1] / (1 - passed)
    k, bias, held = round(n * passed), 0.0, 0.0
    right, caught = (binom.pmf(np.arange(m + 1), m, p) for p in (ppv, npv))
    for a, b in np.argwhere(right[:, None] * caught > 1e-5):
        counts = P.Counts(
            n - 2 * m, k - m, a + m - b, a, m - a + b, b, calibration="by_verdict"
        )  # fmt: skip
        model = None if prior is None else P.PredictiveValues(prior, prior, prior)
        value, low, high = P.exact(counts, model)["prevalence"]
        bias += right[a] * caught[b] * (value - share)
        held += right[a] * caught[b] * (low <= share <= high)
    return bias, held


@pytest.mark.slow
def test_of_rare_failures_the_default_prior_adds_less_than_a_flat_one():
    bias, held = enumerated(None)
    flat_bias, flat_held = enumerated(bj.BetaPrior())
    assert (bias, held) == enumerated(bj.BetaPrior.jeffreys())
    assert abs(bias) < 0.6 * abs(flat_bias)
    assert held > 0.93 > flat_held


@pytest.mark.slow
def test_the_command_takes_jeffreys_prior_unless_told_otherwise(tmp_path, capsys):
    rows, _ = rows_of(0)
    rows.loc[rows[rows["verdict"] == 1].index[:40], "truth"] = 1.0
    rows.to_csv(tmp_path / "log.csv", index=False)
    asked = ["prevalence", str(tmp_path / "log.csv"), "--truth", "truth", "--no-nuts", "--json"]
    asked += ["--verdict", "verdict", "--calibration", "by_verdict"]
    values = {}
    for prior in (None, "jeffreys", "flat"):
        assert main([*asked, *(["--prior", prior] if prior else [])]) == 0
        values[prior] = json.loads(capsys.readouterr().out)["answer"]["estimates"][0]["value"]
    assert values[None] == values["jeffreys"] != values["flat"]


@pytest.mark.slow
def test_strata_with_labels_of_one_verdict_have_bounds_together():
    """By the worst and the best that unlabelled fails can be worth; and they hold the truth."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        n, share = rng.integers(100, 300, 3), rng.uniform(0.3, 0.9, 3)
        good = rng.binomial(n, share)
        hits, false = rng.binomial(good, 0.9), rng.binomial(n - good, 0.3)
        passed = hits + false
        right = np.array([rng.hypergeometric(h, f, 20) for h, f in zip(hits, false, strict=True)])
        sizes = (n - 20, passed - 20, right, right, 20 - right, np.zeros(3, int))
        strata = P.Counts(*sizes, "by_verdict", systems=list("abc"), dim="stratum")
        made = P.exact(strata)
        value, low, high = made["overall_prevalence"]
        assert np.isnan(value)
        assert low <= n @ share / n.sum() <= high
        ends = np.array([made["prevalence", name][1:] for name in "abc"])
        assert (low, high) == pytest.approx(n @ ends / n.sum())
        free = (n - passed).sum() / n.sum()
        assert free < high - low <= 2 * free
        assert "stratum-priors" not in {c.id for c in made.cautions}


@pytest.mark.slow
def test_strata_of_which_labels_tell_most_keep_their_refusal():
    sizes = np.array([[400, 360, 20, 15, 20, 0]] + [[300, 150, 40, 30, 40, 30]] * 3).T
    strata = P.Counts(*sizes, "by_verdict", systems=list("abcd"), dim="stratum")
    made = P.exact(strata)
    assert np.isnan(made["overall_prevalence"].low)
    assert "stratum-priors" in {c.id for c in made.cautions}


def test_a_sum_of_strata_is_off_by_what_has_no_label():
    """Of the first one 281 of 1,000 items are fails without a label. The draws' mean is told where
    labels explain most of the width.
    """
    draws = np.linspace(0.3, 0.5, 2001)
    parts = [(PASSES, P.PredictiveValues()), (BOTH.system("b"), P.PredictiveValues())]
    for share, known in ((0.25, 0.4), (0.4, np.nan), (1.0, np.nan)):
        ((value, low, high),) = of_sum(draws, parts, np.array([share, 1 - share]), 0.9)
        assert value == pytest.approx(known, nan_ok=True)
        np.testing.assert_allclose([low, high], [0.31 - 0.281 * share, 0.49 + 0.281 * share])
    ((_, low, high),) = of_sum(draws - 0.3, parts, np.array([1.0, 0.0]), 0.9)
    np.testing.assert_allclose([low, high], [0, 0.19 + 0.281])
