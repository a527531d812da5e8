"""Shift over two or more positions: a t test, least squares with every effect, and coverage."""

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from refusals import refused
from scipy import stats

from bayesjudge.bias import position_shift


def table(shift, answers=40, noise=0.5, seed=1, dropped=0.0, repeats=1):
    rng, rows = np.random.default_rng(seed), []
    for i in range(answers):
        level = rng.normal(5, 2)
        for p, moved in enumerate(shift, start=1):
            rows += [(f"a{i}", p, level + moved + rng.normal(0, noise)) for _ in range(repeats)]
    frame = pd.DataFrame(rows, columns=["answer", "position", "score"])
    return frame[rng.random(len(frame)) >= dropped]


def test_of_two_positions_it_is_the_paired_t_test():
    frame = table([0.3, 0.0])
    wide = frame.pivot(index="answer", columns="position", values="score")
    paired = stats.ttest_rel(wide[1], wide[2]).confidence_interval(0.95)
    found = position_shift(frame)["position_shift", "judge", "1"]
    assert found.value == pytest.approx((wide[1] - wide[2]).mean() / 2)
    assert 2 * found.low == pytest.approx(paired.low)
    assert 2 * found.high == pytest.approx(paired.high)


def test_shifts_are_least_squares_with_an_effect_of_every_answer():
    frame = table([0.5, 0.0, -0.2, 0.1], dropped=0.3, repeats=2)
    frame = frame[frame.groupby("answer")["position"].transform("nunique") > 1]
    design = pd.get_dummies(frame[["answer", "position"]].astype(str), dtype=float)
    solved = np.linalg.lstsq(design.to_numpy(), frame["score"].to_numpy(), rcond=None)[0]
    shifts = solved[-4:] - solved[-4:].mean()
    found = position_shift(frame).quantities["position_shift"]
    np.testing.assert_allclose(found.value.ravel(), shifts, atol=1e-9)


@pytest.mark.slow
def test_intervals_cover_though_repeats_of_an_answer_err_together():
    shift, covered, runs = np.array([0.4, 0.0, -0.1]), 0, 300
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        frame = table(shift, answers=25, seed=seed, dropped=0.2)
        own = {(a, p): rng.normal(0, 0.5) for a in set(frame["answer"]) for p in (1, 2, 3)}
        frame = pd.concat([frame] * 3)
        frame["score"] += [
            own[a, p] for a, p in zip(frame["answer"], frame["position"], strict=True)
        ]
        row = position_shift(frame)["position_shift", "judge", "1"]
        covered += row.low <= shift[0] - shift.mean() <= row.high
    assert abs(covered / runs - 0.95) < 0.02 + 4 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([100, 300], 100))
def test_a_shift_is_named_and_none_is_rarely_named(runs):
    (told,) = position_shift(table([0.6, 0, 0])).cautions
    assert told.id == "position-bias"
    assert "higher at position 1 than at" in told.text
    alarms = sum(bool(position_shift(table([0, 0, 0], seed=s)).cautions) for s in range(runs))
    assert alarms <= stats.binom.ppf(0.999, runs, 0.01)


def test_each_judge_has_its_own_and_what_cannot_be_told_is_refused():
    one, other = table([0.6, 0, 0]).assign(llm="x"), table([0, 0, 0.6], seed=2).assign(llm="y")
    found = position_shift(pd.concat([one, other]), judge="llm")
    assert found["position_shift", "x", "1"].value > 0.2 > found["position_shift", "y", "1"].value
    apart = table([0, 0, 0, 0])
    even = apart["answer"].str[1:].astype(int) % 2 == 0
    apart = apart[even == apart["position"].isin([1, 2])]  # no answer links 1 and 2 with 3 and 4
    with refused(4, subject="bias.position_shift"):
        position_shift(apart)
    with refused(1, id="scores-not-finite"):
        position_shift(table([0, 0]).assign(score=[None, *[1.0] * 79]))
