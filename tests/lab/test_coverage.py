"""Coverage studies against enumeration and hand calculation."""

import numpy as np
import pytest
from lab import toys
from refusals import refused
from scipy.stats import binom

from bayesjudge import lab
from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import wilson
from bayesjudge.lab.coverage import merged, rates, tally


def study(methods, rates=(0.1, 0.5), draw_data=toys.draw_passes, **changes):
    how = {"workers": 1, "random_seed": 1, "replications": 1000, **changes}
    return lab.coverage(methods, lab.grid(rate=list(rates)), draw_data=draw_data, **how)


@pytest.fixture(scope="module")
def wilson_study():
    return study({"Wilson": toys.wilson_interval, "half": toys.half_wilson})


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_study_finds_what_enumeration_finds(wilson_study, rate):
    row = wilson_study.table.query("method == 'Wilson' and rate == @rate").iloc[0]
    passes = np.arange(toys.ITEMS + 1)
    weight = binom.pmf(passes, toys.ITEMS, rate)
    value, low, high = wilson(passes, toys.ITEMS)
    score = high - low + 40 * (np.maximum(low - rate, 0) + np.maximum(rate - high, 0))
    expected = {
        "coverage": (low <= rate) & (rate <= high),
        "too_high": low > rate,
        "too_low": high < rate,
        "width": high - low,
        "bias": value - rate,
        "score": score,
    }
    for name, values in expected.items():
        mean = (values * weight).sum()
        sd = np.sqrt((np.square(values - mean) * weight).sum())
        assert abs(row[name] - mean) < 5 * sd / np.sqrt(1000) + 1e-12, name
        if f"{name}_error" in row:
            assert row[f"{name}_error"] == pytest.approx(sd / np.sqrt(1000), rel=0.15)
    assert row["rmse"] == pytest.approx(np.sqrt(rate * (1 - rate) / toys.ITEMS), rel=0.1)
    assert (row["n"], row["unanswered"], row["truth"]) == (1000, 0, rate)


@pytest.mark.slow
def test_an_interval_that_is_too_narrow_is_caught(wilson_study):
    narrow = wilson_study.table.query("method == 'half'")
    assert (narrow["coverage_high"] < 0.9).all()


@pytest.mark.slow
def test_coverage_comes_with_its_monte_carlo_interval(wilson_study):
    from statsmodels.stats.proportion import proportion_confint

    for row in wilson_study.table.itertuples():
        held = round(row.coverage * row.n)
        ends = proportion_confint(held, row.n, method="wilson")
        assert (row.coverage_low, row.coverage_high) == pytest.approx(ends)


@pytest.mark.slow
def test_many_systems_count_as_many_data_sets(wilson_study):
    many = study({"Wilson": toys.wilson_interval}, draw_data=toys.draw_many, replications=20)
    table = many.table
    assert list(table["n"]) == [1000, 1000]
    one = wilson_study.table.query("method == 'Wilson'")
    noise = np.hypot(table["width_error"].to_numpy(), one["width_error"].to_numpy())
    assert (np.abs(table["width"].to_numpy() - one["width"].to_numpy()) < 5 * noise).all()


def test_rows_that_the_truth_names_are_kept_apart():
    answer = Estimate({"a": Quantity.over(([1, 1], [0, 0], [2, 2]), {"b": "xy"})}, **toys.about())
    found = tally([answer], {"a[x]": 1.0, "a[y]": 5.0, "a": 0.0})
    assert {name: sums[2] for name, sums in found["sums"].items()} == {"a[x]": 1, "a[y]": 0}


def test_sums_by_hand():
    answers = [Estimate({"a": row}, **toys.about(ci_prob=0.9)) for row in [(3, 2, 4), (6, 5, 9)]]
    row = rates(merged([tally(answers[:1], {"a": 3.0}), tally(answers[1:], {"a": 3.0})]), "a")
    # widths 2 and 4; errors 0 and 3; the second lies 2 too high, for 2 / 0.1 a unit
    hand = {"n": 2, "coverage": 0.5, "too_high": 0.5, "too_low": 0, "width": 3, "bias": 1.5}
    hand |= {"rmse": np.sqrt(4.5), "score": (2 + 4 + 20 * 2) / 2, "unanswered": 0}
    assert {name: row[name] for name in hand} == pytest.approx(hand)


@pytest.mark.slow
def test_what_was_not_answered_is_counted():
    row = study({"picky": toys.picky}, rates=[0.2], replications=1000).table.iloc[0]
    passes = np.arange(toys.ITEMS + 1)
    answered = binom.pmf(passes[4::2], toys.ITEMS, 0.2).sum()
    noise = 5 * np.sqrt(answered * (1 - answered) / 1000)
    assert abs(row["n"] / 1000 - answered) < noise
    assert row["unanswered"] == pytest.approx(1 - row["n"] / 1000)


def test_a_method_that_never_answers_has_a_row():
    def never(passes):
        raise InputError("never", ["no"])

    table = study({"never": never, "Wilson": toys.wilson_interval}, replications=20).table
    rows = table[table["method"] == "never"]
    assert (rows["unanswered"] == 1).all()
    assert len(rows) == 2


def test_cautions_are_counted():
    def warned(passes):
        caution = (Caution("small", "few items"),) if passes < 4 else ()
        return Estimate({"rate": (0.5, 0, 1)}, **toys.about(cautions=caution))

    row = study({"warned": warned}, rates=[0.1], replications=100).table.iloc[0]
    name, count = row["cautions"].split()
    assert name == "small"
    assert 40 < int(count) < 90  # 65 of 100 expected


def test_an_estimate_without_a_truth_is_refused():
    def other(passes):
        return Estimate({"other": (0.5, 0, 1)}, **toys.about())

    with refused("other", "rate", subject="coverage"):
        study({"other": other})


def test_impossible_studies_are_refused():
    with refused(id="no-methods") as caught:
        lab.coverage({}, [], draw_data=toys.draw_passes, random_seed=1)
    assert caught.value.has("no-settings")
    with refused(100, subject="coverage"):
        study({"Wilson": toys.wilson_interval}, replications=150)
    with refused("rate", "share", subject="coverage"):
        lab.coverage(
            {"Wilson": toys.wilson_interval},
            [{"rate": 0.1}, {"share": 0.1}],
            draw_data=toys.draw_passes,
            random_seed=1,
        )
