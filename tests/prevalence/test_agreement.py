"""The judge against people: published examples, counting by hand, and no interval of width 0."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.prevalence import Counts, agreement


def table(a, b, c, d, **settings):
    """Good passed, good failed, bad passed, bad failed."""
    settings = {"calibration": "random", "test_n": 0, "test_pass": 0} | settings
    return Counts(
        **{"correct_n": a + b, "correct_pass": a, "incorrect_n": c + d, "incorrect_fail": d},
        **settings,
    )


def test_gwets_example():
    # Gwet (2008), Table 2: 118, 5, 2 and 0 of 125: AC1 .9408 where kappa is -.0234
    found = agreement(table(118, 5, 2, 0))
    assert found["agreement"].value == pytest.approx(0.944)
    assert found["kappa"].value == pytest.approx(-0.0234, abs=5e-5)
    assert found["ac1"].value == pytest.approx(0.9408, abs=5e-5)


def test_fleiss_cohen_and_everitts_error():
    # the large-sample standard error of kappa, their equation (13), term by term
    cells = np.array([[45.0, 12.0], [9.0, 34.0]])
    p = cells / cells.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = np.trace(p), rows @ columns
    kappa = (agreed - chance) / (1 - chance)
    on = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
    off = sum(p[i, j] * (columns[i] + rows[j]) ** 2 * (1 - kappa) ** 2 for i, j in ((0, 1), (1, 0)))
    variance = (on + off - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2 / cells.sum()
    found = agreement(table(45, 12, 9, 34))["kappa"]
    assert found.value == pytest.approx(kappa)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * np.sqrt(variance), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kappa", "ac1"])
def test_intervals_cover(name):
    rng, n, runs = np.random.default_rng(1), 120, 2000
    p = np.array([0.55, 0.1, 0.1, 0.25])
    truth = agreement(table(*(p * 10_000).astype(int)))[name].value
    drawn = rng.multinomial(n, p, runs).T
    systems = [f"s{i}" for i in range(runs)]
    nothing = np.zeros(runs, int)
    found = agreement(table(*drawn, systems=systems, test_n=nothing, test_pass=nothing))
    low, high = found.quantities[name].low, found.quantities[name].high
    covered = ((low <= truth) & (truth <= high)).mean()
    assert abs(covered - 0.95) < 0.015 + 4 * np.sqrt(0.95 * 0.05 / runs)


def test_a_perfect_judge_has_an_interval():
    found = agreement(table(30, 0, 0, 20))
    for name in ("kappa", "ac1", "sensitivity", "specificity"):
        assert found[name].value == 1
        assert 0.5 < found[name].low < 0.99
    assert "zero-width" not in {c.id for c in found.cautions}


def test_confusion_table_and_designs():
    found = agreement(table(40, 10, 5, 45))
    names = ("good_passed", "good_failed", "bad_passed", "bad_failed")
    assert_allclose([found[name].value for name in names], [0.4, 0.1, 0.05, 0.45])
    by_truth = agreement(table(40, 10, 5, 45, test_n=100, test_pass=50, calibration="by_truth"))
    assert by_truth["sensitivity"].value == 0.8
    assert by_truth.cautions[0].id == "design-mismatch"
    one = agreement(table(10, 0, 0, 0))
    assert np.isnan(one["kappa"].value)
    assert "undefined" in {c.id for c in one.cautions}
    with pytest.raises(bj.InputError, match="needs a human label"):
        agreement(Counts(10, 5, 0, 0, 0, 0, calibration="random"))


def test_all_labelled_tables_are_told_where_to_look():
    texts = [c.text for c in bj.prevalence.naive(table(40, 10, 5, 45)).cautions]
    assert any("prevalence.agreement" in text for text in texts)


def test_an_interval_of_no_width_is_flagged():
    # one good label and no error: Rogan-Gladen's interval lies beyond 1, and is shown as 1
    counts = Counts(50, 50, 1, 1, 20, 20, calibration="by_truth")
    found = bj.prevalence.rogan_gladen(counts)
    assert found["prevalence"].low == found["prevalence"].high == 1
    assert "zero-width" in {c.id for c in found.cautions}
    for form in bj.prevalence.closed_forms(Counts(500, 300, 60, 50, 40, 10, calibration="random")):
        assert "zero-width" not in {c.id for c in form.cautions}
    known = bj.prevalence.human_only(table(40, 10, 5, 45), target="items")
    assert known["prevalence"].low == known["prevalence"].high
    assert "zero-width" not in {c.id for c in known.cautions}


def test_the_pass_rate_of_a_picture_is_that_of_the_table():
    counts = Counts(500, 300, 60, 50, 40, 10, calibration="random")
    value = bj.prevalence.naive(counts)["prevalence"].value
    assert value == pytest.approx((300 + 50 + 30) / 600)
    corrected = bj.prevalence.rogan_gladen(counts)
    fit = SimpleNamespace(data=counts, estimate=lambda ci_prob: corrected)
    ax = bj.prevalence.plot_correction(fit)
    drawn = [line.get_xdata()[0] for line in ax.lines if line.get_label() == "judge's pass rate"]
    assert drawn == [pytest.approx(value)]


@pytest.mark.parametrize("calibration", ["random", "by_truth", "by_verdict"])
@pytest.mark.parametrize("target", ["population", "items"])
def test_no_labelled_pass_leaves_post_stratified_without_an_answer(calibration, target):
    # counts by hand are Python's integers: these items were a ZeroDivisionError
    some = {"test_n": 50, "test_pass": 20, "calibration": calibration}
    for counts in (table(0, 0, 0, 8, **some), table(0, 3, 0, 4, **some)):
        found = bj.prevalence.post_stratified(counts, target=target)["prevalence"]
        assert np.isnan(found.value) == np.isnan(found.low)
