"""Every estimator side by side: what each assumes, what speaks against it, and weak judges."""

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import binomtest

import bayesjudge as bj
from bayesjudge.core.comparing import _apart
from bayesjudge.core.methods import HUMAN_ONLY, JUDGE, PPI, PPI_TUNED
from bayesjudge.prevalence.answer import neighbours

P = bj.prevalence
classes = P.classes
TABLE_1 = [
    *("Judge's pass rate", "Human labels only", "Difference (PPI)", "Difference (PPI++)"),
    *("Conditional calibration", "Post-stratified", "Rogan-Gladen", "Rogan-Gladen (bootstrap)"),
    "Bayesian (exact)",
]
CELLS = (1000, 620, 100, 90, 100, 70)


@pytest.mark.slow
def test_one_call_shows_every_estimator_with_its_assumption():
    counts = P.Counts(*CELLS, calibration="by_truth")
    table = P.compare(counts).set_index("method")
    assert table.index.tolist() == TABLE_1
    assert table["suited"].tolist() == [True] + [False] * 5 + [True] * 3
    assert_allclose(table.loc["Difference (PPI)", ["value", "low", "high"]].astype(float),
                    P.difference(counts, g="identity")["prevalence"])  # fmt: skip
    assert_allclose(table["width"], table["high"] - table["low"])
    assumed = "; ".join(map(str, P.naive(counts).assumptions))
    assert table.loc[JUDGE.title, "assumes"] == assumed
    assert "same sensitivity and specificity" in table.loc["Rogan-Gladen", "assumes"]
    random = P.compare(P.Counts(*CELLS, calibration="random")).set_index("method")
    assert random["suited"].all()


@pytest.mark.slow
def test_the_data_speak_against_what_they_contradict():
    """Half the labelled items good, a fifth of the others: a shift that one estimator allows."""
    shifted = (2000, 860, 150, 135, 150, 105)
    table = P.compare(P.Counts(*shifted, calibration="separate")).set_index("method")
    against = table["contradicted_by"]
    assert (against[[HUMAN_ONLY.title, PPI.title, PPI_TUNED.title]]
            == "label-shift").all()  # fmt: skip
    assert against["Conditional calibration"] == "label-shift"
    assert against[JUDGE.title] == "errors-do-not-cancel"
    assert (against[["Rogan-Gladen", "Rogan-Gladen (bootstrap)", "Bayesian (exact)"]] == "").all()
    text = bj.report(*P.closed_forms(P.Counts(*shifted, calibration="separate"), mismatched=True))
    assert "(contradicted by label-shift)" in text
    # labels by verdict have another pass rate by design
    by_verdict = P.compare(P.Counts(*shifted, calibration="by_verdict")).set_index("method")
    assert by_verdict.loc["Post-stratified", "contradicted_by"] == ""
    assert by_verdict.loc[HUMAN_ONLY.title, "contradicted_by"] == "label-shift"


@pytest.mark.slow
def test_a_pass_rate_that_no_prevalence_gives_speaks_against_the_same_judge():
    outside = P.compare(P.Counts(1000, 990, 100, 80, 100, 70, calibration="by_truth"))
    found = outside.set_index("method")["contradicted_by"]
    assert "pass-rate-out-of-range" in found["Rogan-Gladen"]
    assert "pass-rate-out-of-range" in found["Bayesian (exact)"]
    weak = P.compare(P.Counts(1000, 550, 20, 12, 20, 10, calibration="by_truth"))
    assert weak.set_index("method")["contradicted_by"]["Rogan-Gladen"] == "weak-judge"


def test_errors_cancel_or_not_by_mcnemar():
    for false_fails, false_passes in ((3, 12), (1, 14), (10, 10), (0, 7), (0, 8)):
        counts = P.Counts(
            *(1000, 620, 100, 100 - false_fails, 100, 100 - false_passes), calibration="random"
        )
        p_value = binomtest(false_fails, false_fails + false_passes).pvalue
        named = "errors-do-not-cancel" in P.naive(counts).assumptions[0].contradicted_by
        assert named == (p_value < 0.01), p_value


def by_kind(rng, design, items=900):
    """Labels of a judge that passes as many bad ones as it fails good ones: 4 of 100 each."""
    if design == "by_verdict":  # 80 % passed: 5 % of passes and 20 % of fails are wrong
        passed = int(rng.binomial(items, 0.8))
        wrong = rng.binomial(80, 0.05), rng.binomial(60, 0.2)
        good = 80 - wrong[0] + wrong[1]
        cells = good, 80 - wrong[0], 140 - good, 60 - wrong[1]
        return P.Counts(items - 140, passed - 80, *cells, calibration=design)
    rates = rng.binomial(100, 0.95), rng.binomial(60, 0.8)  # 80 % good
    return P.Counts(items, rng.binomial(items, 0.8), 100, rates[0], 60, rates[1], design)


def cancel_not(counts):
    return "errors-do-not-cancel" in P.naive(counts).assumptions[0].contradicted_by


@pytest.mark.slow
@pytest.mark.parametrize("design", ["by_verdict", "by_truth"])
def test_errors_of_labels_chosen_by_kind_are_weighed_by_how_many_there_are_of_it(design):
    """As counted they differ 3 to 1 and more; weighed they cancel, which 1 of 100 tables denies."""
    rng, runs = np.random.default_rng(1), 1500
    alarms = sum(cancel_not(by_kind(rng, design)) for _ in range(runs)) / runs
    assert alarms < 0.01 + 4 * np.sqrt(0.01 * 0.99 / runs)
    # 2 wrong of 80 passes, 18 of 60 fails, of 778 and 122: 22 and 41 of 1,000
    assert not cancel_not(P.Counts(760, 698, 96, 78, 44, 42, calibration="by_verdict"))
    far = P.naive(P.Counts(760, 698, 50, 48, 90, 58, calibration="by_verdict"))
    (text,) = [c.text for c in far.cautions if c.id == "errors-do-not-cancel"]
    assert f"passed {1000 * 778 / 900 * 32 / 80:.0f} bad and failed" in text
    assert f"failed {1000 * 122 / 900 * 2 / 60:.0f} good ones of 1,000 items" in text


def test_strict_refuses_labels_that_contradict_their_design():
    counts = P.Counts(1000, 900, 50, 45, 50, 30, calibration="random")
    with pytest.raises(bj.InputError, match="label-shift: "):
        P.fit(counts, strict=True, random_seed=1)


@pytest.mark.slow
def test_a_narrow_design_is_right_only_where_it_holds():
    table = P.compare_designs(P.Counts(*CELLS, calibration="random")).set_index("calibration")
    assert table["declared"].tolist() == [True, False, False, False]
    for design in table.index:
        alone = P.exact(P.Counts(*CELLS, calibration=design))["prevalence"]
        assert_allclose(table.loc[design, "width"], alone.high - alone.low)
    assert table.loc["random", "width"] < table.loc["by_truth", "width"] / 1.5
    assert "label shift" in table.loc["separate", "assumes"]


# Weak judges -------------------------------------------------------------------------------------

#: Youden's J clearly 0, barely positive, negative; and labels so few that anything goes.
WEAK = [
    (1000, 500, 50, 25, 50, 25),
    (1000, 520, 50, 27, 50, 25),
    (1000, 480, 50, 20, 50, 25),
    (1000, 990, 50, 49, 50, 2),
    (1000, 3, 50, 1, 50, 49),
    (1000, 700, 3, 2, 3, 2),
    (1000, 0, 10, 6, 10, 5),
    (1000, 1000, 10, 6, 10, 5),
]
#: How each public estimator is called. Those after the first three divide by Youden's J, or
#: integrate over a judge who may have none, so that their width has to tell.
ESTIMATORS = {
    "naive": P.naive,
    "human_only": P.human_only,
    "human_only exact": lambda c: P.human_only(c, interval="exact"),
    "rogan_gladen": P.rogan_gladen,
    "rogan_gladen delta": lambda c: P.rogan_gladen(c, interval="delta"),
    "bootstrap": lambda c: P.bootstrap(c, random_seed=1),
    "exact": P.exact,
    "exact eti": lambda c: P.exact(c, interval="eti"),
    "exact hdi": lambda c: P.exact(c, interval="hdi"),
    "difference": P.difference,
    "difference classical": lambda c: P.difference(c, g="identity"),
    "post_stratified": P.post_stratified,
    "conditional_calibration": P.conditional_calibration,
}


def test_no_public_estimator_is_left_out_of_the_loop():
    made_of_counts = {"naive", "human_only", "rogan_gladen", "bootstrap", "exact", "difference"}
    made_of_counts |= {"post_stratified", "conditional_calibration"}
    others = {"propensity_weighted", "closed_forms", "compare", "compare_designs", "fit"}
    others |= {"paired_difference", "conformal_sets"}
    others |= {"agreement", "build_model", "check_prior", "change_point"}
    takes = {
        name
        for name in P.__all__
        if {"counts", "data"} & {*getattr(getattr(P, name), "__annotations__", {})}
        and name not in others
    }
    assert takes == made_of_counts
    assert {name.split()[0] for name in ESTIMATORS} == made_of_counts


@pytest.mark.fast_one_in(17)
@pytest.mark.parametrize("calibration", ["by_truth", "random"])
@pytest.mark.parametrize("cells", WEAK, ids=str)
@pytest.mark.parametrize("method", ESTIMATORS)
def test_a_weak_judge_is_named_and_no_interval_inverts(method, cells, calibration):
    counts = P.Counts(*cells, calibration=calibration)
    hopeless = cells[3] / cells[2] + cells[5] / cells[4] <= 1
    if hopeless and method.startswith("rogan_gladen"):
        with pytest.raises(bj.UninformativeJudgeError, match="no better than chance"):
            ESTIMATORS[method](counts)
        return
    made = ESTIMATORS[method](counts)
    names = {c.id for c in made.cautions}
    assert "weak-judge" in names
    value, low, high = made["prevalence"]
    if np.isnan(value):
        assert hopeless
        return
    assert 0 <= low <= value <= high <= 1
    inverts = method.startswith(("rogan_gladen", "bootstrap", "exact"))
    if inverts and calibration == "by_truth" and 100 < cells[1] < 900:
        assert high - low > 0.6


def test_a_weak_judge_of_classes_is_named():
    labelled = [[5, 5, 5], [6, 4, 5], [1, 2, 12]]
    counts = classes.ClassCounts([40, 35, 25], labelled, classes="abc", calibration="by_truth")
    for method in ("inverse", "least_squares"):
        made = P.rogan_gladen(counts, method=method)
        (caution,) = [c for c in made.cautions if c.id == "weak-judge"]
        assert (caution.numbers["first"], caution.numbers["other"]) == ("a", "b")
        table = made.table
        assert ((table["low"] >= 0) & (table["low"] <= table["value"])).all()
        assert ((table["value"] <= table["high"]) & (table["high"] <= 1)).all()
        assert made["prevalence", "a"].high - made["prevalence", "a"].low > 0.6


def test_a_weak_judge_of_weighted_labels_is_named():
    counts = P.Counts(
        *([200, 300], [100, 150], [30, 12], [15, 6], [20, 18], [10, 9]),
        calibration="known_propensity",
        systems="ab",
        dim="stratum",
        propensity=[0.2, 0.1],
    )
    made = P.propensity_weighted(counts)
    assert "weak-judge" in {c.id for c in made.cautions}
    value, low, high = made["overall_prevalence"]
    # of no use, the judge has no weight: what is left is the labels' weighted share
    weights = np.array([5, 10])
    share = (weights * counts.correct_n).sum() / (weights * counts.labelled_n).sum()
    assert value == pytest.approx(share, abs=1e-9)
    assert 0 <= low < value < high <= 1


@pytest.mark.sampling
def test_a_sampled_posterior_of_a_weak_judge_is_wide_and_says_so():
    fit = P.fit(P.Counts(*WEAK[1], calibration="by_truth"), random_seed=1)
    assert fit.cautions[-1].id == "weak-judge"
    assert fit.assumptions[0].contradicted_by == ("weak-judge",)
    _, low, high = fit.estimate()["prevalence"]
    assert high - low > 0.6
    assert 0 <= low < high <= 1


def test_periods_are_compared_in_time_and_the_first_with_the_last():
    rows = [
        {"first": a, "second": b, "value": gap, "low": gap - 0.1, "high": gap + 0.1}
        for a, b, gap in (("w1", "w10", 0.2), ("w1", "w2", -0.1), ("w10", "w2", -0.3))
    ]
    near, far = neighbours(rows)
    assert [(row["first"], row["second"]) for row in near] == [
        ("w1", "w10"), ("w1", "w2"), ("w10", "w2"),
    ]  # fmt: skip
    assert not far
    named = [{**row, "first": f"m-{row['first']}", "second": f"m-{row['second']}"} for row in rows]
    near, far = neighbours(named)  # of systems, by rank: w2, w1, w10
    assert [(row["first"], row["second"]) for row in near] == [("m-w1", "m-w2"), ("m-w1", "m-w10")]
    assert [(row["first"], row["second"]) for row in far] == [("m-w10", "m-w2")]


def test_draws_of_fits_apart_are_put_beside_each_other_in_an_order_by_chance():
    def fit(name, *sizes):
        drawn = np.random.default_rng(1).normal(size=sizes)
        posterior = xr.Dataset({name: (("chain", "draw"), drawn)})
        idata = xr.DataTree.from_dict({"posterior": posterior})
        return bj.Fit(idata, None, P.ErrorRates(), (name,), method="sampled", source="s")

    fits = {"a": fit("prevalence", 2, 300), "b": fit("prevalence", 2, 400)}
    draws, names = _apart(fits)
    assert names == ["a", "b"]
    assert draws.shape == (600, 2)
    assert_allclose(np.sort(draws[:, 0]), np.sort(fits["a"].draws("prevalence")))
    assert {*draws[:, 1]} < {*fits["b"].draws("prevalence")}
    assert abs(np.corrcoef(draws.T)[0, 1]) < 4 / np.sqrt(600)  # those of one seed are alike
    with refused(subject="systems"):
        _apart({**fits, "c": fit("mean", 2, 300)})
