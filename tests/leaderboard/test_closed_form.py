"""Closed forms against maxima found otherwise, and their limits."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy.optimize import minimize

from bayesjudge.leaderboard import Battles, davidson, power_tuned, simulate

K = 5


@pytest.mark.fast_one_in(7)
@pytest.mark.parametrize("wins", range(1, 12))
@pytest.mark.parametrize("losses", [0, 1, 4])
def test_what_separates_systems_has_no_finite_estimate(losses, wins):
    """Whatever rounding makes of the last step: one always wins where it is shown second."""
    rows = (
        [("x", "y", "A")] * wins + [("x", "y", "B")] * losses + [("y", "x", "B")] * (wins + losses)
    )
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    with refused(id="no-finite-estimate"):
        davidson(Battles.from_frame(table), "judge")


@pytest.fixture(scope="module")
def table():
    return simulate(random_seed=3, labelled=0.3, length_effect=0.6)


@pytest.fixture(scope="module")
def battles(table):
    return Battles.from_frame(table, people="human", item="item", lengths=("length_a", "length_b"))


def plain_maximum(battles, source, ties=True, order=False, style=False):
    """Davidson's likelihood battle by battle, as the paper has it."""
    shares = battles.shares(source)
    keep = shares.any(axis=1)
    a, b, y = battles.first[keep], battles.second[keep], shares[keep]
    x = battles.style[keep]

    def minus(p):
        eta = p[a] - p[b] + order * p[K] + style * p[K + 1] * x
        worth = [np.exp(eta / 2), np.exp(p[K + 2]) * np.ones_like(eta), np.exp(-eta / 2)]
        if not ties:
            worth[1] *= 0
            shared = y[:, [0, 2]] + y[:, [1]] / 2
            chance = np.column_stack([worth[0], worth[2]])
            return -(shared * np.log(chance / chance.sum(axis=1, keepdims=True))).sum()
        chance = np.column_stack(worth)
        return -(y * np.log(chance / chance.sum(axis=1, keepdims=True))).sum()

    found = minimize(minus, np.zeros(K + 3), method="BFGS", options={"gtol": 1e-7}).x
    return found[:K] - found[:K].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{}, {"order": True}, {"ties": False}, {"style": True, "order": True}], ids=str
)
def test_maximum(battles, asked):
    found = davidson(
        battles,
        "judge",
        order=asked.get("order", False),
        ties="davidson" if asked.get("ties", True) else "half",
        target="equal length" if "style" in asked else "any length",
    ).quantities["strength"]
    np.testing.assert_allclose(found.value, plain_maximum(battles, "judge", **asked), atol=2e-6)


@pytest.mark.slow
def test_sandwich_is_by_item(table):
    """Each row twice in one item tells no more; as two battles it would."""

    twice = pd.concat([table, table], ignore_index=True)
    made = [
        davidson(Battles.from_frame(t, people="human", item=item), "judge")
        for t, item in ((table, "item"), (twice, "item"), (twice, None))
    ]
    widths = [m.quantities["lead"].high - m.quantities["lead"].low for m in made]
    np.testing.assert_allclose(widths[1], widths[0], rtol=1e-6)
    np.testing.assert_allclose(widths[2], widths[0] / np.sqrt(2), rtol=0.01)


def test_lead_has_the_width_of_a_contrast(battles):
    """Of two systems: the delta method of the log-odds of wins."""

    rows = {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["A", "B"], "count": [75, 25]}
    found = davidson(Battles.from_counts(pd.DataFrame(rows)), "judge")["lead", "x"]
    half = 1.959964 * np.sqrt((1 / 75 + 1 / 25) * 100 / 98)
    assert found.value == pytest.approx(np.log(3), abs=1e-9)
    assert found.high - found.value == pytest.approx(half, rel=1e-5)


def test_without_weight_on_the_judge_it_is_people_only(battles):
    alone = davidson(battles, order=False).quantities["strength"]
    powered = power_tuned(battles, weight=0.0).quantities["strength"]
    np.testing.assert_allclose(powered.value, alone.value, atol=1e-8)
    np.testing.assert_allclose(powered.high, alone.high, rtol=0.02)


@pytest.mark.slow
def test_all_labelled_the_judge_does_not_move_people(table):
    every = table.assign(human=table["winner"].where(table.index % 3 > 0, "B"))
    read = Battles.from_frame(every, people="human")
    alone = davidson(read, order=False).quantities["strength"].value
    for weight in (None, 1.0):
        made = power_tuned(read, weight=weight).quantities["strength"]
        np.testing.assert_allclose(made.value, alone, atol=1e-7)


@pytest.mark.slow
def test_a_judge_that_says_what_people_say_is_worth_all_its_battles():
    covered, width = [], []
    for seed in range(60):
        table = simulate(random_seed=seed, labelled=1)
        said = table["human"].where(np.random.default_rng(seed).random(len(table)) < 0.2)
        read = Battles.from_frame(table.assign(winner=table["human"], human=said), people="human")
        found = power_tuned(read)["lead", "s5"]
        every = davidson(read, "judge")["lead", "s5"]
        covered.append(found.low <= -1.6 <= found.high)
        width.append((found.high - found.low) / (every.high - every.low))
    assert np.mean(covered) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)
    assert 0.97 < np.median(width) < 1.05


@pytest.mark.slow
def test_the_weight_makes_contrasts_shortest():
    table = simulate(random_seed=1, labelled=1)
    rng = np.random.default_rng(1)
    noise = rng.choice(["A", "B", "tie"], len(table))
    table["winner"] = table["human"].where(rng.random(len(table)) < 0.7, noise)
    table["human"] = table["human"].where(rng.random(len(table)) < 0.3)
    read = Battles.from_frame(table, people="human")

    def width(**about):
        found = power_tuned(read, **about).quantities["strength"]
        return np.sqrt(((found.high - found.low) ** 2).mean())

    widths = [width(weight=weight) for weight in np.linspace(0, 1, 11)]
    assert width() < 1.005 * min(widths)
    assert min(widths) < 0.97 * widths[-1] < widths[0]


def test_a_system_that_won_all_has_no_finite_estimate(table):
    won = table[(table["model_a"] != "s1") & (table["model_b"] != "s1")]
    extra = won.head(3).assign(model_a="s1", model_b=["s2", "s3", "s4"], winner="A")

    read = Battles.from_frame(pd.concat([won, extra]))
    with refused(id="no-finite-estimate", apart="s1"):
        davidson(read, "judge")


def test_a_length_that_only_names_the_system_has_no_finite_estimate():
    """The likelihood is flat along one direction, and its value there is small."""
    rows = [("x", "y", who, 300, 200) for who in ["A"] * 6 + ["tie", "B", "B"]]
    rows += [("y", "x", who, 200, 300) for who in ["A"] * 3 + ["tie"] + ["B"] * 5]
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "a", "b"])
    battles = Battles.from_frame(table, lengths=("a", "b"))
    with refused(id="no-finite-estimate"):
        davidson(battles, "judge", target="equal length")


#: Wins of the first, ties and wins of the second, by pair.
COUNTED = {
    ("w", "x"): (30, 8, 12), ("w", "y"): (25, 5, 10), ("w", "z"): (40, 4, 6),
    ("x", "y"): (22, 9, 18), ("x", "z"): (31, 7, 12), ("y", "z"): (28, 6, 16),
}  # fmt: skip


def test_strengths_are_those_of_evalica_and_arena_rank():
    """By evalica 0.4.2 (logarithms of `bradley_terry`'s scores, centred) and arena-rank 0.1.1."""
    rows = [
        (*pair, word, n)
        for pair, counts in COUNTED.items()
        for word, n in zip(("A", "tie", "B"), counts, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "count"])
    found = davidson(Battles.from_counts(table), "judge", ties="half").quantities["strength"]
    theirs = [0.7953336546785, 0.0520267648145, -0.1246590905872, -0.7227013289058]
    np.testing.assert_allclose(found.value, theirs, atol=1e-9)
    # halves of the intervals by 300 resamples of the battles, known to 4 %
    resampled = [0.255, 0.221, 0.252, 0.254]
    np.testing.assert_allclose(found.high - found.value, resampled, rtol=0.09)


def test_options_that_there_are_not_are_refused(battles):
    for make in (davidson, power_tuned):
        with refused("davidson", subject="leaderboard"):
            make(battles, ties="halves")
    with refused(weight=1.5):
        power_tuned(battles, weight=1.5)


@pytest.mark.slow
def test_ties_as_half_wins_are_another_method(battles):
    for make in (davidson, power_tuned):
        half, own = make(battles, ties="half").method, make(battles).method
        assert (half.id, half.title) == (f"{own.id}:half", f"{own.title}, ties as half a win")
