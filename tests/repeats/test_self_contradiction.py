"""Self-contradiction of verdicts and flips of majorities: by hand, enumeration, quadrature."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from conftest import study_but
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta, betabinom, binom, t

import bayesjudge as bj
from bayesjudge.repeats import Scores, answer, closed_forms, self_contradiction
from bayesjudge.repeats.self_contradiction import (
    _atypical_of_beta,
    _flips_in_subsamples,
    _flips_of_beta,
    _mixed_of_beta,
    _of_judge,
    _row,
    _shapes,
    _Share,
)


def of(passes, n):
    """One judge's passes in n calls an item."""
    passes = np.asarray(passes)
    n = np.broadcast_to(n, passes.shape)
    counts = np.stack([n - passes, passes], axis=1)[:, None]
    names = [f"i{i}" for i in range(passes.size)]
    return Scores(counts, scale=[0, 1], items=names, judges=["judge"])


def test_contradiction_is_the_share_of_pairs_that_differ():
    calls = ["PPFP", "FFFF", "PF", "P", "PPPPP"]
    pairs = [[a != b for a, b in combinations(item, 2)] for item in calls if len(item) > 1]
    found = self_contradiction(of([c.count("P") for c in calls], [len(c) for c in calls]))
    values = np.array([np.mean(item) for item in pairs])
    assert_allclose(found["self_contradiction"].value, values.mean())
    assert found["not_unanimous"].value == 2 / 4


def test_flips_in_subsamples_are_those_of_all_pairs_of_majorities():
    """Every way to take two triples from eight calls of which five pass."""
    calls = np.array([1, 1, 1, 1, 1, 0, 0, 0])
    flips = [
        (calls[list(a)].sum() > 1) != (calls[list(b)].sum() > 1)
        for a in combinations(range(8), 3)
        for b in combinations(sorted(set(range(8)) - set(a)), 3)
    ]
    assert_allclose(_flips_in_subsamples(3, np.array([5]), np.array([8])), np.mean(flips))


@pytest.mark.parametrize("k", [1, 3, 7])
def test_subsamples_are_unbiased(k):
    """Over all passes in 2k + 3 calls of a given probability, weighed: exactly."""
    n, p = 2 * k + 3, 0.37
    s = np.arange(n + 1)
    mean = binom.pmf(s, n, p) @ _flips_in_subsamples(k, s, np.full(n + 1, n))
    q = binom.sf(k // 2, k, p)
    assert_allclose(mean, 2 * q * (1 - q), rtol=1e-12)


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize(("a", "b"), [(0.6, 0.5), (2.0, 1.0), (0.05, 0.08), (30.0, 20.0)])
@pytest.mark.parametrize("k", [1, 5, 51, 101])
def test_flips_of_a_beta_are_the_quadrature(a, b, k):
    angle, weight = np.polynomial.legendre.leggauss(300)
    # p = sin^2 of an angle takes the poles of the density, and powers of it those of small shapes
    power = 12
    t = ((angle + 1) / 2) ** power
    total = 0.0
    for lower, (one, other) in ((True, (a, b)), (False, (b, a))):  # halves of (0, 1), by symmetry
        p = t / 2
        q = binom.sf(k // 2, k, p if lower else 1 - p)
        density = np.exp(beta.logpdf(p, one, other)) * power * ((angle + 1) / 2) ** (power - 1) / 4
        total += (weight * density) @ (2 * q * (1 - q))
    assert_allclose(_flips_of_beta(k, np.array([a]), np.array([b])), total, rtol=1e-6)
    assert_allclose(
        _mixed_of_beta(k + 1, np.array([a]), np.array([b])),
        1 - betabinom.pmf([0, k + 1], k + 1, a, b).sum(),
        rtol=1e-6,
    )


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(("a", "b"), [(0.6, 0.5), (2.0, 1.0), (0.05, 0.08), (30.0, 20.0)])
@pytest.mark.parametrize("k", [1, 5, 101])
def test_atypical_majorities_of_a_beta_are_the_quadrature(a, b, k):
    angle, weight = np.polynomial.legendre.leggauss(300)
    power = 12
    t = ((angle + 1) / 2) ** power
    total = 0.0
    for one, other in ((a, b), (b, a)):  # halves of (0, 1), by symmetry: most calls fail
        p = t / 2
        density = np.exp(beta.logpdf(p, one, other)) * power * ((angle + 1) / 2) ** (power - 1) / 4
        total += (weight * density) @ binom.sf(k // 2, k, p)
    assert_allclose(_atypical_of_beta(k, np.array([a]), np.array([b])), total, rtol=1e-6)


@pytest.mark.slow
def test_limits_of_atypical_majorities():
    """Never without contradiction; half of the time of coins that are nearly fair."""
    assert _atypical_of_beta(5, np.array([0.0, 1.0]), np.array([2.0, 0.0])).tolist() == [0, 0]
    fair = _atypical_of_beta(3, np.array([1e6]), np.array([1e6]))
    assert_allclose(fair, 0.5, atol=0.001)
    steady = self_contradiction(of([0] * 20 + [5] * 20, 5))
    assert steady["majority_atypical", 5].value == 0
    torn = self_contradiction(of(np.repeat(np.arange(6), [20, 6, 3, 3, 8, 30]), 5))
    values = [torn["majority_atypical", k].value for k in (1, 3, 5, 11, 101)]
    assert values == sorted(values, reverse=True)
    # two that differ: at least one is atypical, and both are at most half of the time
    flips = [torn["majority_flips", k].value for k in (5, 11, 101)]
    assert all(f / 2 < v < f for f, v in zip(flips, values[2:], strict=True))


def test_the_beta_has_the_contradiction_observed():
    passes, n = np.arange(6), np.full(6, 5)
    items = np.array([20, 6, 3, 3, 8, 30])
    differ = 2 * passes * (n - passes) / (n * (n - 1))
    a, b = _shapes(passes / n, differ, items)
    assert_allclose(_flips_of_beta(1, a[:1], b[:1])[0], items @ differ / items.sum(), rtol=0.02)


@pytest.mark.slow
def test_limits_of_the_flips():
    """No contradiction: an upper end all the same. Fair coins: half of all majorities flip."""
    never = self_contradiction(of([0] * 20 + [5] * 20, 5))
    for row in (never["self_contradiction"], never["majority_flips", 101]):
        assert row.value == row.low == 0
        assert 0.05 < row.high < 0.12  # Wilson of 0 in 40
    assert never["majority_calls"].value == 1
    assert np.isnan(never["majority_calls"].high)
    many = 1000 * np.array([1, 5, 10, 10, 5, 1])
    coins = self_contradiction(of(np.repeat(np.arange(6), many), 5))
    assert_allclose(coins["self_contradiction"].value, 0.5)
    assert_allclose(coins["majority_flips", 101].value, 0.5, atol=0.01)
    assert np.isnan(coins["majority_calls"].value)


def test_the_fewest_calls_are_the_first_that_suffice():
    scores = of(np.repeat(np.arange(6), [60, 15, 9, 9, 15, 60]), 5)
    every = self_contradiction(scores, calls=range(1, 102, 2), flips_at_most=0.05)
    fewest = every["majority_calls"]
    rows = {k: every["majority_flips", k] for k in range(1, 102, 2)}
    for end in ("value", "low", "high"):
        k = int(getattr(fewest, end))
        assert getattr(rows[k], end) <= 0.05 < getattr(rows[k - 2], end)
    assert fewest.low < fewest.value < fewest.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "n", "a", "b"), [(120, 5, 0.6, 0.5), (30, 3, 0.6, 0.5), (40, 5, 0.15, 0.05)]
)
@pytest.mark.parametrize("runs", study_but([100, 300], 100))
def test_intervals_cover_and_pairs_are_unbiased(items, n, a, b, runs):
    rng, calls = np.random.default_rng(1), (1, 5, 25)
    shape = np.array([a]), np.array([b])
    truth = {k: _flips_of_beta(k, *shape)[0] for k in calls}
    truth |= {-k: _atypical_of_beta(k, *shape)[0] for k in calls}
    held, values = dict.fromkeys(truth, 0), []
    for _ in range(runs):
        passes = rng.binomial(n, rng.beta(a, b, items))
        one = _of_judge(np.stack([n - passes, passes], axis=1))
        values.append(one.contradiction.value)
        for k in truth:
            share = one.flips[k] if k > 0 else one.atypical[-k]
            _, low, high = _row(share, items, 0.95)
            held[k] += low <= truth[k] <= high
    assert abs(np.mean(values) - truth[1]) < 4 * np.std(values) / np.sqrt(runs)
    least = 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)
    assert min(held.values()) / runs > least, held


@pytest.mark.slow
def test_items_in_two_camps_contradict_the_beta():
    """Of 200 items half pass for certain and half are coins: no Beta has that."""
    rng = np.random.default_rng(2)
    passes = np.concatenate([np.full(200, 8), rng.binomial(8, 0.5, 200)])
    found = self_contradiction(of(passes, 8))
    assert "not-beta" in {c.id: c.text for c in found.cautions}
    against = {one.id: one.contradicted_by for one in found.assumptions}
    assert against["beta-items"] == ("not-beta",)
    calm = self_contradiction(of(rng.binomial(8, rng.beta(0.6, 0.5, 400)), 8))
    assert "not-beta" not in {c.id: c.text for c in calm.cautions}


def test_judges_are_told_apart():
    counts = np.array([[[4, 0], [2, 2]], [[0, 4], [2, 2]], [[0, 4], [1, 3]]])
    scores = Scores(counts, scale=[0, 1], items="xyz", judges=["steady", "torn"])
    found = self_contradiction(scores, calls=[1])
    assert found["self_contradiction", "steady"].value == 0
    assert_allclose(found["self_contradiction", "torn"].value, (2 / 3 + 2 / 3 + 1 / 2) / 3)
    assert found["majority_flips", 1, "steady"].value == 0
    told = answer(*closed_forms(scores)).text
    assert told.index("torn 61 %") < told.index("steady 0 %")


def test_one_item_has_no_interval():
    found = self_contradiction(of([5], [12]))
    assert found["self_contradiction"].value == pytest.approx(2 * 5 * 7 / (12 * 11))
    assert np.isnan(found["self_contradiction"].low)
    assert np.isnan(found["majority_flips", 101].value)  # that takes several items
    assert "(no interval)" in answer(*closed_forms(of([5], [12]))).text


def test_what_cannot_be_answered_is_refused():
    table = pd.DataFrame({"item": list("aabb"), "score": [1, 2, 3, 3]})
    wide = Scores.from_frame(table, scale=[1, 2, 3])
    with refused(3, id="not-two-values"):
        self_contradiction(wide)
    with refused(id="not-repeated"):
        self_contradiction(of([1, 0], 1))
    with pytest.raises(bj.InputError, match=r"flips_at_most must lie between 0 and 0\.5, got 0\.5"):
        self_contradiction(of([1, 0], 2), flips_at_most=0.5)
    with refused(101, 4, subject="repeats.self_contradiction"):
        self_contradiction(of([1, 0], 2), calls=[4])
    told = answer(*closed_forms(of([1, 0], 1)))
    assert not told.known


def test_the_answer_of_verdicts_tells_contradiction_and_no_mean():
    scores = of(np.repeat(np.arange(6), [30, 5, 3, 3, 5, 30]), 5)
    found = self_contradiction(scores, flips_at_most=0.08)
    told = answer(*closed_forms(scores), flips_at_most=0.08, cost_per_call=0.5)
    assert "mean score" not in str(told)
    calls = f"{found['majority_calls'].value:.0f}"
    assert f"A majority of {calls} calls" in told.notes[0]
    assert f"at a cost of {int(calls) * 38:g} for all items." in told.notes[0]
    atypical = 100 * found["majority_atypical", 5].value
    assert re.search(rf"\b{atypical:.1f} % \(|\b{atypical:.0f} % \(", told.notes[0])
    assert not any("Default" in note for note in told.notes)
    assert "16 of 76 items" in told.notes[1]
    torn = answer(*closed_forms(of(np.repeat(np.arange(6), [1, 5, 10, 10, 5, 1]), 5)))
    assert "a majority of 101" in torn.notes[0]
    assert "let people decide" in torn.notes[0]
    with_width = answer(*closed_forms(scores), half_width=0.3)
    assert any("not a majority that stays" in note for note in with_width.notes)


@pytest.mark.slow
def test_what_is_extrapolated_is_told_as_such():
    """Rounded, with both ends, the calls made, and that 5 % is nobody's wish."""
    torn = of(np.repeat(np.arange(6), [7, 10, 17, 22, 23, 41]), 5)
    needed = self_contradiction(torn)["majority_calls"]
    assert needed.value > 50
    told = answer(*closed_forms(torn))
    high = f"{needed.high:.0f}" if needed.high == needed.high else "more than 100"
    rounded = round(needed.value / 10) * 10
    assert f"a majority of about {rounded} calls ({needed.low:.0f} to {high})" in told.notes[0]
    assert told.notes[0].endswith("an extrapolation far beyond the 5 made.")
    assert any(note.startswith("Default: at most 5 % may flip") for note in told.notes)
    assert told.basis.endswith("of 1 judge, 5 each.")
    uneven = of(np.repeat(np.arange(6), [7, 10, 17, 22, 23, 41]), np.repeat([5, 6], 60))
    assert "about 5 each" in answer(*closed_forms(uneven)).basis or "about 6 each" in (
        answer(*closed_forms(uneven)).basis
    )
    loose = str(answer(*closed_forms(torn), flips_at_most=0.3))
    assert "3 calls (1 to 3)" in loose
    assert "extrapolation" not in loose


def test_few_items_that_tell_an_error_widen_the_interval():
    """Wilson's interval of 80 trials, with the quantile that eight items allow."""
    value, low, high = _row(_Share(0.2, 0.002), 8, 0.95)
    for end in (low, high):
        assert_allclose((0.2 - end) ** 2, t(7).ppf(0.975) ** 2 * end * (1 - end) / 80, rtol=1e-9)
    assert low < value < high
