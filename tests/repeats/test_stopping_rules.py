"""Stopping rules: what they ask for, and what their intervals hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.repeats import (
    confidence_sequence,
    mean_interval,
    next_batch,
    simulate_rule,
    third_of_a_bin,
)
from bayesjudge.repeats.stopping_rules import METHODS, _by_order

SCALE = [1, 2, 3, 4, 5]
LIKERT = [0.0, 0.001, 0.1772, 0.6429, 0.1789]
HALF = third_of_a_bin(4, 5)


def test_a_pilot_of_equal_answers_does_not_end_our_rules():
    assert next_batch([5] * 10, HALF, scale=SCALE, method="z") == 0
    assert next_batch([5] * 10, HALF, scale=SCALE, method="t") == 0
    assert next_batch([5] * 10, HALF, scale=SCALE, method="dirichlet") > 0
    assert next_batch([5] * 10, HALF, scale=SCALE, method="sequence") > 0


@pytest.mark.parametrize("method", METHODS)
def test_the_loop_ends_with_a_narrow_interval(method):
    rng = np.random.default_rng(5)
    scores = []
    while more := next_batch(scores, HALF, scale=SCALE, ci_prob=0.9, method=method):
        assert 1 <= more <= 10
        scores += rng.choice(SCALE, size=more, p=np.array(LIKERT) / sum(LIKERT)).tolist()
    assert len(scores) >= 10
    found = mean_interval(scores, SCALE, ci_prob=0.9, method=method)
    assert found.half_width <= HALF
    assert found.low <= found.value <= found.high


def test_unreadable_answers_neither_count_nor_crash():
    with_gaps = [4, None, 5, float("nan"), 4, 4]
    assert next_batch(with_gaps, HALF, scale=SCALE, pilot=6, batch=10) == 2
    for method in METHODS:
        assert mean_interval(with_gaps, SCALE, method=method) == mean_interval(
            [4, 5, 4, 4], SCALE, method=method
        )
    assert next_batch([None] * 50, HALF, scale=SCALE) == 10


def test_t_and_z_by_hand():
    # source 3, evaluator 1: 4, 4, 5, 5, 5: mean 4.6, sd 0.548
    z = mean_interval([4, 4, 5, 5, 5], SCALE, method="z")
    t = mean_interval([4, 4, 5, 5, 5], SCALE, method="t")
    error = np.sqrt(0.3 / 5)
    assert_allclose(
        [z.value, z.half_width, t.half_width], [4.6, 1.959964 * error, 2.776445 * error]
    )


def test_a_reported_interval_is_no_narrower_than_what_was_asked_for():
    plain = mean_interval([5] * 60, SCALE)
    shown = mean_interval([5] * 60, SCALE, half_width=HALF)
    assert plain.half_width < HALF
    assert_allclose([shown.low, shown.high], [5 - 2 * HALF, 5])


@pytest.mark.slow
def test_simulated_decisions_are_next_batchs():
    rng = np.random.default_rng(7)
    calls, runs, share = [], 400, np.array(LIKERT) / sum(LIKERT)
    for _ in range(runs):
        scores = []
        while more := next_batch(scores, HALF, scale=SCALE, ci_prob=0.9):
            scores += rng.choice(SCALE, size=more, p=share).tolist()
        calls.append(len(scores))
    found = simulate_rule(LIKERT, HALF, scale=SCALE, ci_prob=0.9, runs=4000, random_seed=8)
    error = np.std(calls) * np.sqrt(1 / runs + 1 / 4000)
    assert abs(np.mean(calls) - found.calls) < 5 * error


@pytest.mark.slow
def test_simulated_looks_of_the_confidence_sequence_are_next_batchs():
    rng = np.random.default_rng(9)
    calls, runs, share = [], 100, np.array(LIKERT) / sum(LIKERT)
    rule = {"scale": SCALE, "method": "sequence", "pilot": 10, "batch": 10}
    for _ in range(runs):
        scores = []
        while (more := next_batch(scores, 0.8, **rule)) and len(scores) < 100:
            scores += rng.choice(SCALE, size=more, p=share).tolist()
        calls.append(min(len(scores), 100))
    found = simulate_rule(LIKERT, 0.8, **rule, runs=400, most=100, random_seed=10)
    assert np.std(calls) > 0
    error = np.std(calls) * np.sqrt(1 / runs + 1 / 400)
    assert abs(np.mean(calls) - found.calls) < 5 * error
    assert found.covered >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("pilot", [5, 10])
@pytest.mark.parametrize(
    ("share", "scale", "bins"),
    [
        (LIKERT, SCALE, 5),
        ([0.1, 0, 0, 0, 0.9], SCALE, 5),
        ([0.3, 0.7], [0, 1], 2),
        ([0.05, 0.95], [0, 1], 3),
    ],
)
def test_our_rule_covers_where_the_published_one_fails(share, scale, bins, pilot):
    half, runs = third_of_a_bin(scale[-1] - scale[0], bins), 2000
    for ci_prob in (0.9, 0.95):
        found = simulate_rule(
            share, half, scale=scale, ci_prob=ci_prob, pilot=pilot, runs=runs, random_seed=3
        )
        noise = 5 * np.sqrt(ci_prob * (1 - ci_prob) / runs)
        assert found.covered > ci_prob - 0.01 - noise


@pytest.mark.slow
def test_confidence_sequence_holds_at_every_look():
    runs, n = 400, 120
    rng = np.random.default_rng(9)
    values = rng.choice(SCALE, size=(runs, n), p=[0.1, 0, 0, 0.2, 0.7])
    looks = np.arange(5, n + 1, 5)
    low, high = confidence_sequence(values, SCALE, ci_prob=0.9, looks=looks)
    mean = 0.1 * 1 + 0.2 * 4 + 0.7 * 5
    always = ((low <= mean) & (mean <= high)).all(axis=1).mean()
    assert always > 0.9 - 5 * np.sqrt(0.09 / runs)
    assert (np.diff(high - low, axis=1) <= 1e-9).all()


def test_bets_can_be_checked_by_hand():
    # One score of 1 on [0, 1]: the stake is capped at 1/2 of what m lets one lose, so the capital
    # against m is 1 + (0.5 / m) (1 - m), at least 2 / 0.5 = 4 where m <= 1 / 7.
    low, high = confidence_sequence([1.0], [0, 1], ci_prob=0.5)
    first_bet = np.sqrt(2 * np.log(4) / (0.25 * np.log(2)))
    assert first_bet > 0.5 * 7
    assert_allclose([low[0], high[0]], [1 / 7, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"half_width": 0}, "half_width must be positive"),
        ({"pilot": 1}, "pilot must be 2 or more"),
        ({"batch": 0}, "batch must be 1 or more"),
        ({"method": "bayes"}, "method must be one of"),
        ({"scale": [3, 2, 1]}, "rising"),
        ({"scores": [4, 9]}, r"\[9.0\] are not on the scale"),
        ({"ci_prob": 95}, "write 95 % as 0.95"),
    ],
)
def test_arguments_out_of_range(arguments, words):
    given = {"scores": [4, 5], "half_width": HALF, "scale": SCALE} | arguments
    with pytest.raises(bj.InputError, match=words):
        next_batch(given.pop("scores"), given.pop("half_width"), **given)


def test_a_rule_by_order_looks_after_each_batch_until_it_is_narrow():
    share, points, most, wanted = [0.2, 0.3, 0.5], np.array([1.0, 2.0, 3.0]), 60, 0.45
    rule = wanted, 4, 3, most
    counts, low, high = _by_order(
        share, (points, 0.9, None), rule, (12, np.random.default_rng(3))
    )  # fmt: skip
    scores = points[np.random.default_rng(3).choice(3, p=share, size=(12, most))]
    for run, seen in enumerate(scores):
        n, ends, more = 4, [1.0, 3.0], 1
        while more:
            one = confidence_sequence(seen[:n], points, ci_prob=0.9, looks=[n])
            ends = [max(ends[0], one[0][0]), min(ends[1], one[1][0])]
            half = (ends[1] - ends[0]) / 2
            needed = np.ceil(n * (half / wanted) ** 2 * (1 - 1e-12)) - n
            more = 0 if half <= wanted else int(min(max(needed, 1), 3, most - n))
            n += more
        assert counts[run].tolist() == [(seen[:n] == point).sum() for point in points]
        assert (low[run], high[run]) == tuple(ends)
