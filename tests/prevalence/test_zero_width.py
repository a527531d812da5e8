"""No interval of width 0 passes for knowledge; pictures show the table's own rate."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayesjudge as bj
from bayesjudge.prevalence import Counts


def table(a, b, c, d, **settings):
    """Good passed, good failed, bad passed, bad failed."""
    settings = {"calibration": "random", "test_n": 0, "test_pass": 0} | settings
    return Counts(
        **{"correct_n": a + b, "correct_pass": a, "incorrect_n": c + d, "incorrect_fail": d},
        **settings,
    )


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
