"""Each caution fires where it should, and is silent where it should be."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import bdtr, ndtr
from scipy.stats import fisher_exact

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.prevalence.cautions import (
    _at_most,
    _normal,
    above_chance,
    shift_p_value,
)
from bayesjudge.prevalence.items import Items, exact
from bayesjudge.prevalence.model import REFUSED

Counts = bj.prevalence.Counts


def names(*counts, calibration="random", **kwargs):
    return {c.id for c in cautions_of(Counts(*counts, calibration=calibration, **kwargs))}


def test_good_data_raise_none():
    assert names(1000, 690, 140, 126, 60, 42) == set()


@pytest.mark.parametrize("design", ["random", "by_truth", "by_verdict"])
def test_weak_judge(design):
    # source 2's judge: sensitivity .97, specificity .2, twenty labels
    labels = (10, 5, 10, 5) if design == "by_verdict" else (10, 10, 10, 2)
    assert "weak-judge" in names(1000, 950, *labels, calibration=design)
    assert "weak-judge" not in names(1000, 950, 500, 485, 500, 100, calibration=design)


@pytest.mark.parametrize("design", ["random", "by_truth", "by_verdict"])
def test_a_judge_that_goes_against_the_labels_is_asked_about(design):
    """Swapped 0 and 1, J = -.64: called weak before."""
    labels = (50, 9, 50, 9)
    found = cautions_of(Counts(1000, 400, *labels, calibration=design))
    (caution,) = [c for c in found if c.id in ("weak-judge", "inverted-judge")]
    assert caution.id == "inverted-judge"
    assert caution.numbers["value"] == pytest.approx(-0.64)
    # not clearly below: weak
    assert "weak-judge" in names(1000, 400, 10, 4, 10, 5, calibration=design)


@pytest.mark.slow
@pytest.mark.parametrize("systems", [20, 60])
def test_honest_tables_of_many_systems_are_seldom_refused(systems):
    """On 17 % of 20 and 43 % of 60 systems `strict` refused: now on 2 % at most, and it can."""
    rng, runs, refused, shifted = np.random.default_rng(1), 250, 0, 0
    n, m, labels = 300, 60, [f"s{i}" for i in range(systems)]
    for run in range(runs):
        theta, q1, q0 = (rng.uniform(*ends, systems) for ends in ((0.3, 0.95), (0.75, 0.98),
                                                                  (0.6, 0.95)))  # fmt: skip
        good = rng.binomial(m, theta)
        cells = [rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0)), good]
        cells += [rng.binomial(good, q1), m - good, rng.binomial(m - good, q0)]
        counts = Counts(np.full(systems, n), *cells, calibration="random", systems=labels)
        refused += bool({c.id for c in cautions_of(counts)} & set(REFUSED))
        if run < 10:  # one system's labels are all of passes
            cells[2][0], cells[4][0] = good[0], 0
            counts = Counts(np.full(systems, n), *cells, calibration="random", systems=labels)
            shifted += bool({c.id for c in cautions_of(counts)} & set(REFUSED))
    assert refused / runs < 0.02
    assert shifted >= 7


def test_empty_class():
    assert "empty-class" in names(100, 50, 0, 0, 10, 8)
    assert "empty-class" in names(100, 50, 10, 9, 0, 0)


@pytest.mark.slow
def test_labels_all_of_one_kind_where_the_judge_says_otherwise():
    """Of 40 labels none is bad, and 10 verdicts on them are fails: whatever the label design."""
    for calibration in ("random", "by_truth", "by_verdict"):
        for cells, told in (
            ((40, 30, 0, 0), {"kind": "bad", "did": "failed", "wrong": 10, "labelled": 40}),
            ((0, 0, 40, 31), {"kind": "good", "did": "passed", "wrong": 9, "labelled": 40}),
        ):
            found = cautions_of(Counts(100, 75, *cells, calibration=calibration))
            (caution,) = (c for c in found if c.id == "empty-class")
            assert caution.numbers.items() >= told.items()
    agreed = cautions_of(Counts(100, 75, 40, 40, 0, 0, calibration="random"))
    assert all("wrong" not in c.numbers for c in agreed)
    rows = pd.DataFrame({"item": range(80), "verdict": [i % 4 > 0 for i in range(80)]})
    rows["system"] = [("a", "b")[i % 2] for i in range(80)]
    rows["item"] //= 2
    items = Items.from_frame(rows.assign(human=1), by="system", calibration="random", truth="human")
    (told,) = (c.numbers for c in exact(items).cautions if c.id == "empty-class")
    assert (told["place"], told["did"], told["wrong"]) == (" of system 'a'", "failed", 20)


def test_pass_rate_out_of_range():
    assert "pass-rate-out-of-range" in names(1000, 1000, 100, 90, 100, 90, calibration="by_truth")
    assert "pass-rate-out-of-range" in names(1000, 20, 100, 90, 100, 90, calibration="by_truth")
    # below the range by less than chance allows, and a design whose labels do not tell the range
    assert names(1000, 95, 100, 90, 100, 90, calibration="by_truth") == set()
    assert names(1000, 20, 100, 90, 100, 90, calibration="by_verdict") == set()


def test_unparsed_verdicts_are_counted():
    (caution,) = cautions_of(Counts(1000, 690, 140, 126, 60, 42, calibration="random", unparsed=11))
    assert caution.id == "unparsed-verdicts"
    assert caution.numbers["count"] == 11


def test_shift_is_seen_only_where_the_labels_are_said_to_be_random():
    shifted = (1000, 900, 50, 45, 50, 30)
    assert "label-shift" in names(*shifted)
    assert "label-shift" not in names(*shifted, calibration="by_truth")


def test_shift_p_value_is_fishers():
    counts = Counts([1000, 40], [900, 20], [50, 5], [45, 4], [50, 6], [30, 2],
                    calibration="random", systems="ab")  # fmt: skip
    for i, p in enumerate(shift_p_value(counts)):
        k, n = counts.test_pass[i], counts.test_n[i]
        a, m = counts.labelled_pass[i], counts.labelled_n[i]
        assert p == pytest.approx(fisher_exact([[k, n - k], [a, m - a]]).pvalue, rel=1e-9)


def test_tails_are_those_of_scipy():
    """Which takes longer to load than they take."""
    n = np.array([0, 1, 7, 40, 1000, 20_000])[:, None]
    k = np.floor(n * [0.0, 0.1, 0.45, 0.5]).astype(int)
    np.testing.assert_allclose(_at_most(k, n), bdtr(k, n, 0.5), rtol=1e-9, atol=1e-300)
    z = np.linspace(-30, 8, 39)
    np.testing.assert_allclose(_normal(z), ndtr(z), rtol=1e-12)


@pytest.mark.slow
def test_shift_raises_a_false_alarm_at_its_stated_rate_or_less():
    rng = np.random.default_rng(3)
    n, m, runs = 500, 100, 4000
    k, a = rng.binomial(n, 0.7, runs), rng.binomial(m, 0.7, runs)
    counts = Counts([n] * runs, k, [m] * runs, a, [0] * runs, [0] * runs,
                    calibration="random", systems=range(runs))  # fmt: skip
    alarms = (shift_p_value(counts) < 0.01).mean()
    assert alarms < 0.01 + 5 * np.sqrt(0.01 * 0.99 / runs)
    assert alarms > 0  # it can fire


def test_a_caution_names_the_system():
    counts = Counts(
        *([1000, 1000], [690, 500], [140, 10], [126, 5], [60, 10], [42, 5]),
        calibration="random",
        systems=["good", "weak"],
    )
    (found,) = cautions_of(counts)
    assert found.id == "weak-judge"
    assert "system 'weak'" in found.text


def test_above_chance_covers():
    rng = np.random.default_rng(5)
    runs, m, q1, q0 = 4000, 50, 0.9, 0.7
    passed, caught = rng.binomial(m, q1, runs), rng.binomial(m, q0, runs)
    counts = Counts(
        *([1] * runs, [0] * runs, [m] * runs, passed, [m] * runs, caught),
        calibration="by_truth",
        systems=range(runs),
    )
    _, low, high = above_chance(counts)
    covered = ((low <= q1 + q0 - 1) & (q1 + q0 - 1 <= high)).mean()
    assert abs(covered - 0.95) < 0.012 + 5 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize(
    ("systems", "kind"),
    [(["w1", "w2", "w3", "w4", "w5"], "period"), (["a", "b", "c", "d", "e"], "system")],
)
def test_where_a_judge_is_weak_is_told_once(systems, kind):
    counts = bj.prevalence.Counts(
        [500] * 5, [300] * 5, [20] * 5, [10, 18, 10, 11, 10], [20] * 5, [10, 18, 10, 9, 10],
        calibration="random", systems=systems,
    )  # fmt: skip
    (weak,) = [c for c in bj.prevalence.naive(counts).cautions if c.id == "weak-judge"]
    first, third = systems[0], systems[2]
    told = {"what": "sensitivity + specificity", "weak": 4, "of": 5, "kinds": f"{kind}s"}
    assert weak.numbers.items() >= told.items()
    shown = [f"0.00 (-0.29 to 0.29) in {kind} {name!r}" for name in (first, third)]
    assert weak.numbers["values"].startswith(", ".join(shown))
    assert weak.numbers["values"].endswith("and 1 more")
    one = counts.system(systems[1])
    assert "weak-judge" not in {c.id for c in bj.prevalence.naive(one).cautions}
