"""Planning: the source's own numbers, brute force, and the posteriors that a plan foretells."""

import importlib
import json

import numpy as np
import pandas as pd
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose
from oracles import flat_model, prevalence_moments

import bayesjudge as bj
from bayesjudge.prevalence.budget.expected_width import _drawn
from bayesjudge.truth import inversion
from bayesjudge.truth.quadrature import posterior_of

P = bj.prevalence
expected_width = importlib.import_module("bayesjudge.prevalence.budget.expected_width")
budget = P.budget
JUDGE = {"sensitivity": 0.9, "specificity": 0.7}
TRUE = {"prevalence": 0.6, **JUDGE}


def reference(name):
    return json.loads(shared("reference/prevalence.json").read_text())[name]


# Which items -------------------------------------------------------------------------------------


def test_allocation_is_algorithm_1():
    cases = reference("allocation")
    assert len(cases) >= 6
    for case in cases:
        i = case["inputs"]
        judge = {"sensitivity": i["q1_pilot"], "specificity": i["q0_pilot"]}
        found = budget.allocate(i["m"], i["p"], **judge, pilot=i["m_pilot"])
        assert (found.incorrect_n, found.correct_n) == tuple(case["algorithm1"])


def test_allocation_by_hand():
    # kappa = (1 - 8/12) / (1 - 10/12) = 2; 200 / (1 + 1.5 sqrt 2) = 64.07
    assert budget.allocate(200, 0.4, **JUDGE) == (64, 136)
    # as the pass rate goes to 0, all but the pilot are bad items; the published code swaps them
    assert budget.allocate(200, 0.0, **JUDGE) == (10, 190)
    assert budget.allocate(200, 1.0, **JUDGE) == (190, 10)
    found = budget.allocate([200, 300], [0.0, 1.0], **JUDGE)
    assert found.correct_n.tolist() == [10, 290]


def test_the_algorithm_is_near_the_best_of_all_allocations():
    m1 = np.arange(10, 51)
    for rate in (0.35, 0.5, 0.8):
        widths = budget.interval_width(m1, 60 - m1, rate, **JUDGE)
        adaptive = budget.allocate(60, rate, **JUDGE)
        assert widths.min() <= widths[adaptive.correct_n - 10] <= 1.05 * widths.min()


def test_interval_width_is_that_of_the_estimate():
    counts = P.Counts(1000, 620, 100, 90, 80, 56, calibration="by_truth")
    _, low, high = P.rogan_gladen(counts)["prevalence"]
    found = budget.interval_width(100, 80, 0.62, **JUDGE, items=1000)
    assert_allclose(found, high - low, rtol=1e-12)
    endless = budget.interval_width(100, 80, 0.62, **JUDGE)
    assert_allclose(budget.interval_width(100, 80, 0.62, **JUDGE, items=10**12), endless, rtol=1e-6)
    # no better than chance: the whole range
    assert budget.interval_width(10, 10, 0.5, sensitivity=0.5, specificity=0.4) == 1


# How many ----------------------------------------------------------------------------------------


def test_labels_by_truth_are_the_first_that_are_enough():
    for good in (0.25, 0.5):
        rate = 0.9 * good + 0.3 * (1 - good)
        found = budget.labels_by_design(0.25, prevalence=good, **JUDGE, items=10**9)
        found = found["half good, half bad"]
        curve = budget.width_curves(range(20, found + 40), [rate], **JUDGE, splits=["equal"])
        widths = curve.set_index("labelled")["width"]
        assert widths[found] <= 0.25 < widths[found - 1]
        assert (widths[found:] < 0.2505).all()  # rounding makes a label's difference either way


def test_labels_at_the_sources_example():
    # "p = .3, equal split, length < .1": read off Figure 3 as about 200; eq. (6) gives 362
    how = {"prevalence": 0.0, **JUDGE, "items": 10**12}
    assert budget.labels_by_design(0.1, **how)["half good, half bad"] == 362
    few = budget.labels_by_design(0.01, prevalence=0.4, **JUDGE, items=1000)
    assert few["half good, half bad"] is None


# Judge or people ---------------------------------------------------------------------------------


def test_regime_is_proposition_6_1():
    cases = reference("prop61")
    assert len(cases) >= 4
    for case in cases:
        found = budget.judge_regime(case["q"], case["q"])
        expected = case["theta_interval"] or [np.nan, np.nan]
        assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(("q1", "q0", "m", "n"), [(0.95, 0.9, 200, 1000), (0.99, 0.9, 100, 300)])
def test_regime_is_where_the_variances_cross(q1, q0, m, n):
    def gain(theta):
        rate = theta * q1 + (1 - theta) * (1 - q0)
        judged = inversion.delta_variance(rate, q0, q1, n, m * (1 - theta), m * theta)
        return theta * (1 - theta) / m - judged

    low, high = budget.judge_regime(q1, q0, labelled=m, items=n)
    assert 0 < low < high < 1
    assert_allclose([gain(low), gain(high)], 0, atol=1e-15)
    assert gain((low + high) / 2) > 0
    assert gain(low - 0.02) < 0 > gain(min(high + 0.02, 0.999))
    # fewer verdicts than labels: never worth it, and infinitely many: the widest
    assert np.isnan(budget.judge_regime(q1, q0, labelled=n, items=n)).all()
    # where the quadratic is negative outside [0, 1] only, neither
    assert np.isnan(budget.judge_regime(0.957, 0.68, labelled=400, items=480)).all()
    wide = budget.judge_regime(q1, q0)
    assert wide[0] < low < high < wide[1]


@pytest.mark.slow
def test_regime_holds_for_simulated_estimates():
    m, n, runs, judge = 400, 4000, 40_000, (0.95, 0.9)
    low, high = budget.judge_regime(*judge, labelled=m, items=n)
    rng = np.random.default_rng(4)
    for theta, better in (((low + high) / 2, True), (low - 0.04, False), (high + 0.04, False)):
        good = rng.binomial(m, theta, runs)
        q1, q0 = rng.binomial(good, judge[0]) / good, rng.binomial(m - good, judge[1]) / (m - good)
        rate = theta * judge[0] + (1 - theta) * (1 - judge[1])
        judged = inversion.invert(rng.binomial(n, rate, runs) / n, q0, q1)
        ratio = judged.var() / (good / m).var()
        # each variance has a relative error of about sqrt(2 / runs)
        assert (ratio < 1) == better
        assert abs(ratio - 1) > 5 * np.sqrt(4 / runs)


# Expected widths ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "random", "by_verdict"])
def test_expected_width_of_an_accurate_judge_and_many_items(calibration):
    # weighted draws put all their weight on one, so that their interval was a point
    assumed = {"prevalence": 0.001, "sensitivity": 1.0, "specificity": 1.0, "items": 1_000_000}
    found = budget.expected_width(
        **assumed, labelled=200, calibration=calibration, repeats=4, random_seed=1
    )
    # nothing is known better than the pass rate, and labels bound what the judge misses
    assert found.width > 2 * 1.96 * np.sqrt(0.001 / 1_000_000)
    cells = {
        "by_verdict": (999_800, 900, 100, 100, 100, 100),
        "random": (10**6, 1000, 0, 0, 200, 200),
    }
    seen = cells.get(calibration, (10**6, 1000, 100, 100, 100, 100))
    counts = P.Counts(*seen, calibration=calibration)
    _, sd = prevalence_moments(counts, flat_model(counts), nodes=(84, 112))
    assert 2 < found.width / sd < 6


def test_data_sets_that_are_alike_are_integrated_once(monkeypatch):
    done = []
    monkeypatch.setattr(
        expected_width,
        "posterior_of",
        lambda *told, **how: done.append(told) or posterior_of(*told, **how),
    )
    sure = {"prevalence": 0.0, "sensitivity": 1.0, "specificity": 1.0, "items": 53}
    found = budget.expected_width(**sure, labelled=22, calibration="by_truth", repeats=30)
    assert len(done) == 1
    assert found.sd < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
def test_expected_width_is_the_mean_over_exact_posteriors(calibration):
    rates, sizes = {"prevalence": 0.6, **JUDGE}, (300, (40, 40), calibration)
    found = budget.expected_width(
        **rates, items=300, labelled=80, calibration=calibration, repeats=24, random_seed=1
    )
    fresh = _drawn(rates, *sizes, 8, np.random.default_rng(2))
    widths = [
        np.subtract(*posterior_of(fresh.system(s), flat_model(fresh)).interval(0.95)[::-1])
        for s in fresh.systems
    ]
    error = np.hypot(found.mc_error, found.sd / np.sqrt(8))
    assert abs(found.width - np.mean(widths)) < 5 * error
    assert_allclose(found.mc_error, found.sd / np.sqrt(24))


def test_planned_data_are_the_designs():
    rng = np.random.default_rng(1)
    rates = {"prevalence": 0.2, **JUDGE}
    by_truth = _drawn(rates, 500, (30, 20), "by_truth", 4000, rng)
    assert set(by_truth.correct_n) == {30}
    random = _drawn(rates, 500, (30, 20), "random", 4000, rng)
    assert_allclose(random.correct_n.mean(), 10, atol=5 * np.sqrt(50 * 0.16 / 4000))
    chosen = _drawn(rates, 500, (30, 20), "by_verdict", 4000, rng)
    assert set(chosen.labelled_pass) == {30}
    assert set(chosen.labelled_n + chosen.test_n) == {550}
    ppv = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.3)
    noise = 5 * np.sqrt(ppv * (1 - ppv) / (30 * 4000))
    assert_allclose(chosen.correct_pass.mean() / 30, ppv, atol=noise)
    told = budget.plan([50], **rates, items=500, repeats=2).set_index("strategy")["correct_n"]
    assert_allclose(told["by verdict"], 25 * ppv + 25 * 0.02 / (0.02 + 0.8 * 0.7))


@pytest.mark.slow
def test_plan_tells_what_each_design_buys():
    table = budget.plan([60, 240], **TRUE, items=2000, repeats=8, random_seed=1)
    # same seed, same random numbers, for each number of labels
    again = budget.plan([60], **TRUE, items=2000, repeats=8, random_seed=1)
    pd.testing.assert_frame_equal(table[table["labelled"] == 60], again)
    assert_allclose(table["correct_n"] + table["incorrect_n"], table["labelled"])
    width = table.set_index(["labelled", "strategy"])
    for m in (60, 240):
        for column in ("width", "expected_width"):
            one = width.loc[m, column]
            assert one["random sample"] < one["people only"] < one["half good, half bad"]
    assert (width.loc[240, "expected_width"] < width.loc[60, "expected_width"]).all()
    # with many labels the posterior is as wide as the closed form's interval
    assert_allclose(width.loc[240, "expected_width"], width.loc[240, "width"], rtol=0.15)
    with pytest.raises(bj.InputError, match="labelled=1: two labels or more"):
        budget.plan([1], **TRUE, items=2000)


# Which label next --------------------------------------------------------------------------------


def test_label_next_averages_over_what_the_label_may_say():
    counts = P.Counts(200, 120, 12, 10, 15, 11, calibration="by_truth")
    table = budget.label_next(counts)
    now = posterior_of(counts, P.ErrorRates())
    # the next good item is passed with probability E[sensitivity], which ties theta's means
    right = posterior_of(P.Counts(200, 120, 13, 11, 15, 11, calibration="by_truth"), P.ErrorRates())
    wrong = posterior_of(P.Counts(200, 120, 13, 10, 15, 11, calibration="by_truth"), P.ErrorRates())
    share = table.loc["good", "right"]
    assert_allclose(share * right.mean + (1 - share) * wrong.mean, now.mean, rtol=1e-6)
    assert 0.6 < share < 0.95
    assert (table["expected_sd"] < now.sd).all()


@pytest.mark.slow
def test_label_next_names_the_kind_that_tells_more():
    few_bad = P.Counts(500, 250, 60, 54, 12, 8, calibration="by_truth")
    assert budget.label_next(few_bad).index[0] == "bad"
    few_good = P.Counts(500, 250, 12, 10, 60, 48, calibration="by_truth")
    assert budget.label_next(few_good).index[0] == "good"
    few_failed = P.Counts(500, 250, 48, 45, 20, 7, calibration="by_verdict")
    assert few_failed.labelled_pass > 4 * (few_failed.labelled_n - few_failed.labelled_pass)
    assert budget.label_next(few_failed).index[0] == "failed"
    with pytest.raises(bj.InputError, match="random sample"):
        budget.label_next(P.Counts(500, 250, 12, 10, 60, 48, calibration="random"))


# Pictures and the command ------------------------------------------------------------------------


@pytest.mark.slow
def test_pictures_hold_the_numbers_of_the_tables():
    curve = budget.width_curves([20, 100, 200], [0.4, 0.6], **JUDGE)
    lines = P.plot_widths(curve).get_lines()
    drawn = {line.get_label(): line.get_ydata() for line in lines}
    picked = curve[(curve["pass_rate"] == 0.6) & (curve["split"] == "adaptive")]
    assert_allclose(drawn["pass rate 0.6, adaptive"], picked["width"])
    accuracy = np.linspace(0.8, 1, 21)
    regime = budget.judge_regime(accuracy, accuracy)
    ax = P.plot_regime(accuracy, regime)
    low, high = ax.get_lines()
    least = accuracy[np.isfinite(regime[0])].min()
    title = " ".join(ax.get_title(loc="left").split())
    assert title == f"A judge of accuracy below {least:.2f} is not worth its calibration"
    known = np.isfinite(regime[0])
    assert_allclose(low.get_ydata(), regime[0][known])
    assert_allclose(high.get_ydata(), regime[1][known])
    table = budget.plan([40, 80], **TRUE, items=500, repeats=4, random_seed=1)
    ax = P.plot_plan(table, width=0.2)
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    picked = table[table["strategy"] == "by verdict"]
    assert_allclose(drawn["by verdict"], picked["expected_width"])
    assert drawn["wanted: 0.2"][0] == 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", study_but(["random sample", "people only", "by verdict"], "random sample")
)
def test_labels_by_design_by_simulation(name):
    """The count of the closed form, and the posterior's width averaged over simulated data."""
    rates = {"prevalence": 0.7, "sensitivity": 0.9, "specificity": 0.7, "items": 1000}
    found = budget.labels_by_design(0.1, **rates)
    assert found["half good, half bad"] is None  # 3,871 labels, of 1,000 items
    table = budget.plan([found[name]], **rates, repeats=50, random_seed=1)
    row = table.set_index("strategy").loc[name]
    assert abs(row.expected_width - 0.1) < 0.003 + 4 * row.mc_error
    assert row.width <= 0.1


@pytest.mark.slow
def test_labels_by_design_is_the_first_that_is_enough():
    rates = {"prevalence": 0.7, "sensitivity": 0.9, "specificity": 0.7, "items": 4000}
    found = budget.labels_by_design(0.12, **rates)
    widths = {
        m: budget.plan([m], **rates, repeats=2, random_seed=1).set_index("strategy")["width"]
        for n in found.values()
        for m in (n - 1, n)
    }
    for name, n in found.items():
        assert widths[n][name] <= 0.12 < widths[n - 1][name], name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["people only", "random sample", "by verdict"])
def test_labels_with_a_chance_are_those_of_drawn_tables(name):
    """With a wide and a narrow spread, and by the closed form of tables drawn otherwise."""
    rates = {"prevalence": 0.6, "sensitivity": 0.9, "specificity": 0.7, "items": 2000}
    few, middle, many = (
        budget.labels_by_design(0.15, **rates, chance=chance)[name] for chance in (0.1, 0.5, 0.9)
    )
    assert few <= middle <= many
    assert abs(middle - budget.labels_by_design(0.15, **rates)[name]) <= 3
    pair = (many + 1) // 2, many // 2
    design = {"by verdict": "by_verdict"}.get(name, "random")
    drawn = _drawn(
        {k: rates[k] for k in ("prevalence", "sensitivity", "specificity")},
        2000,
        pair,
        design,
        400,
        np.random.default_rng(5),
    )
    form = {
        "people only": P.human_only,
        "random sample": P.difference,
        "by verdict": P.post_stratified,
    }
    made = form[name](drawn)
    table = made.quantities["prevalence"]
    share = np.mean(table.high - table.low <= 0.15)
    assert abs(share - 0.9) < 4 * np.sqrt(0.09 / 400)


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.088, 0.093, 0.2])
def test_a_width_takes_more_labels_than_there_are_items(width, capsys):
    from bayesjudge.cli import main

    guess = {"prevalence": 0.7, "sensitivity": 0.9, "specificity": 0.8}
    options = [word for name, value in guess.items() for word in (f"--{name}", str(value))]
    options += ["--items", "300", "--width", str(width), "--labelled", "20"]
    assert main(["plan", *options]) == 0
    shown = capsys.readouterr().out
    worse = guess | {"sensitivity": 0.85, "specificity": 0.75}
    by_design = budget.labels_by_design(width, **guess, items=300)
    needed = [*by_design.values()]
    needed.append(budget.labels_by_design(width, **worse, items=300)["random sample"])
    if by_design["random sample"] is not None:
        needed.append(
            budget.labels_by_design(width, **guess, items=300, chance=0.9)["random sample"]
        )
    assert " ".join(shown.split()).count("more than 300") == needed.count(None)


@pytest.mark.slow
def test_the_command_prints_the_table(tmp_path, capsys, monkeypatch):
    from bayesjudge.cli import main

    plan, found = budget.plan, []

    def once(sizes, **asked):
        """The table of the first call, for calls that ask for the same."""
        if not found:
            found.append((sizes, asked, plan(sizes, **asked)))
        assert found[0][:2] == (sizes, asked)
        return found[0][2]

    monkeypatch.setattr(budget, "plan", once)
    assumed = ["--prevalence", "0.6", "--sensitivity", "0.9", "--specificity", "0.7"]
    asked = ["plan", *assumed, "--items", "500", "--labelled", "40", "--width", "0.2"]
    page = tmp_path / "plan.html"
    assert main([*asked, "--html", str(page)]) == 0
    out = capsys.readouterr().out
    ((sizes, asked_of_plan, table),) = found
    expected = {**TRUE, "items": 500, "ci_prob": 0.95, "random_seed": 1}
    assert (sizes, asked_of_plan) == ((40,), expected)
    for row in table.itertuples():
        line = next(text for text in out.splitlines() if f" {row.strategy} " in text)
        assert f"{row.width:.3f}" in line
        assert f"{row.expected_width:.3f}" in line
        assert line.endswith(f"{row.width_90:.3f}")
    needed = budget.labels_by_design(0.2, **TRUE, items=500)["half good, half bad"]
    shown = " ".join(out.split())
    assert f"half good and half bad, it takes {needed or 'more than 500'}." in shown
    sure = budget.labels_by_design(0.2, **TRUE, items=500, chance=0.9)
    assert f"to be as narrow, it takes {sure['random sample']}." in shown
    worse = {"prevalence": 0.6, "sensitivity": 0.85, "specificity": 0.65, "items": 500}
    more = budget.labels_by_design(0.2, **worse)["random sample"]
    assert f"on good outputs and on bad ones, it takes {more} labels." in shown
    assert out.startswith("An interval 0.2 wide takes about ")
    assert "Width 0.2" not in out  # told once
    assert "<svg" in page.read_text()
    assert main([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == table.to_dict("records")
    assert document["labels_needed"]["half good, half bad"] == needed
    assert document["labels_needed_90"] == sure
    assert main(["plan", *assumed, "--items", "500", "--width", "2"]) == 2
    assert "--width must lie in (0, 1)" in capsys.readouterr().err
