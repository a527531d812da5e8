import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.special import betainc
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias.answer import _hundred
from bayesjudge.bias.position import QUANTITIES, chance_ahead


def test_binary_scores_give_the_root_of_a_beta():
    shifts = bias.Shifts.from_differences([0] * 8 + [1] * 4, scale=(0, 1))
    spread = bias.exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]
    known = beta(4.5, 8.5)  # half a pseudo-neighbour for each of the two sizes
    expected = [known.expect(np.sqrt), *np.sqrt(known.ppf([0.025, 0.975]))]
    assert_allclose(spread, expected, rtol=1e-6)
    worst = bias.exact(shifts, prior="worst")["rms_shift", "perturbed"]
    assert_allclose(worst.high, np.sqrt(beta(5, 8).ppf(0.975)), rtol=1e-6)


@pytest.mark.slow
def test_posterior_matches_draws_on_a_likert_scale():
    values = np.array([0, 0, 1, 1, 2, 2, 2, 0, 2, 2])
    shifts = bias.Shifts.from_differences(values, scale=(1, 5))
    row = bias.exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]
    weight = np.bincount(values, minlength=5) + 0.2
    draws = np.sqrt(np.random.default_rng(1).dirichlet(weight, 200_000) @ np.arange(5) ** 2)
    assert abs(row.value - draws.mean()) < 5 * draws.std() / np.sqrt(draws.size)
    for prob, end in ((0.025, row.low), (0.975, row.high)):
        noise = 5 * np.sqrt(prob * (1 - prob) / draws.size)
        assert abs((draws <= end).mean() - prob) < noise


@pytest.mark.slow
def test_it_narrows_to_the_closed_form():
    rng = np.random.default_rng(2)
    shifts = bias.Shifts.from_differences(rng.integers(0, 3, 5000), scale=(1, 5))
    posterior = bias.exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]
    closed = bias.rms_shift(shifts)["rms_shift", "perturbed"]
    assert_allclose(posterior, closed, rtol=3e-3)


def test_a_shift_off_the_steps_is_refused():
    shifts = bias.Shifts.from_differences([0.5, 1], scale=(1, 5))
    with refused("prior=", subject="bias.exact"):
        bias.exact(shifts, step=1, prior="spread")
    with refused(step=None):
        bias.exact(shifts, prior="spread")
    assert np.isfinite(bias.exact(shifts)["rms_shift", "perturbed"]).all()


# Position bias -----------------------------------------------------------------------------------


def kinds(same, first=0, second=0, tie=0):
    """Pairs of one judge by what happens when their answers swap places."""
    return [[same, first, tie], [second, 0, 0], [0, 0, 0]]


def test_orders_are_counted_by_content():
    table = pd.DataFrame(
        [("a", *pair) for pair in [(1, 1), (1, 2), (1, 2), (2, 1), (0, 0), (0, 1)]]
        + [("b", 2, None), ("b", 2, 2)],
        columns=["judge", "order1", "order2"],
    )
    with pytest.raises(bj.InputError, match="missing='drop'"):
        bias.Orders.from_frame(table, judge="judge", tie_value=0)
    orders = bias.Orders.from_frame(table, judge="judge", tie_value=0, missing="drop")
    assert orders.judges == ("a", "b")
    assert orders.counts.tolist() == [
        [[1, 2, 0], [1, 0, 0], [1, 0, 1]],
        [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
    ]
    assert orders.missing.tolist() == [0, 1]
    with pytest.raises(bj.InputError, match="neither"):
        bias.Orders.from_frame(table, judge="judge", missing="drop")


def test_repeats_of_a_pair_are_noise_and_pairs_the_sample():
    rows = pd.DataFrame({"pair": ["p", "p", "q"], "llm": ["a", "b", "a"], "order1": 1, "order2": 2})
    orders = bias.Orders.from_frame(rows, judge="llm", item="pair")
    assert orders.pairs.tolist() == [2, 1]
    assert repr(orders).splitlines()[1:] == ["  a: 2 pairs", "  b: 1 pair"]
    both = bias.Orders.from_frame(rows, item="pair")
    assert (both.pairs.tolist(), both.counts.tolist()) == ([2], [kinds(0, 3)])
    # three identical rounds of 72 pairs tell what one tells; pairs that differ inside tell more
    rng = np.random.default_rng(3)
    once = pd.DataFrame({"pair": range(72), "order1": rng.choice([1, 2], 72, p=[0.7, 0.3])})
    once["order2"] = np.where(rng.random(72) < 0.7, once["order1"], 3 - once["order1"])
    noisy = pd.concat([once] * 3, ignore_index=True)
    flip = rng.random(len(noisy)) < 0.15
    noisy["order2"] = np.where(flip, 3 - noisy["order2"], noisy["order2"])

    def width(table, **how):
        orders = bias.Orders.from_frame(table, **how)
        row = bias.position_bias(orders)["position_preference", "judge"]
        return row.high - row.low

    one, copied = width(once), width(pd.concat([once] * 3), item="pair")
    assert copied == pytest.approx(one, rel=0.03)  # t for 72 pairs
    assert width(once, item="pair") == one
    assert width(noisy) < width(noisy, item="pair") < 1.05 * np.sqrt(3) * width(noisy)


def test_shares_are_beta_by_aggregation():
    """Values are the shares that a reader counts, and intervals those of Jeffreys."""
    counts = np.array([80, 15, 5, 20])
    found = bias.position_bias(bias.Orders([kinds(*counts)], judges=["a"]))
    names = ("consistency", "primacy", "recency", "tie_in_one_order")
    for name, k in zip(names, counts, strict=True):
        row = found[name, "a"]
        assert row.value == pytest.approx(k / 120)
        shape = (k + 0.5, 120 - k + 0.5)
        assert_allclose([betainc(*shape, x) for x in row[1:]], [0.025, 0.975], atol=1e-8)
    assert sum(found[name, "a"].value for name in names) == pytest.approx(1)
    none = bias.position_bias(bias.Orders([kinds(50)], judges=["a"]))["primacy", "a"]
    assert none.value == none.low == 0 < none.high


def test_preference_matches_draws_and_changes_sign_with_the_places():
    one = bias.position_bias(bias.Orders([kinds(30, 12, 5, 3)], judges=["a"]))
    row = one["position_preference", "a"]
    swapped = np.transpose([kinds(30, 12, 5, 3)], (0, 2, 1))
    other = bias.position_bias(bias.Orders(swapped, judges=["a"]))
    assert_allclose(row, [-x for x in np.array(other["position_preference", "a"])[[0, 2, 1]]])
    # -1, -1/2, 0, 1/2, 1: ties in the second order only, after a win of the first place
    p = np.random.default_rng(0).dirichlet(np.array([5, 0, 30, 3, 12]) + 0.2, 100_000)
    drawn = p @ [-1, -0.5, 0, 0.5, 1]
    for end, prob in ((row.low, 0.025), (row.high, 0.975)):
        assert abs((drawn <= end).mean() - prob) < 5 * np.sqrt(0.025 / 100_000)


def duels(n=150, seed=2):
    """One row per verdict: a judge who likes the first place, and 'new' better than 'old'."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        better = rng.normal(0.5)
        for first, second, sign in (("new", "old", 1), ("old", "new", -1)):
            seen = sign * better + 0.4 + 0.5 * rng.normal()
            rows.append((i, first, second, "tie" if abs(seen) < 0.3 else "A" if seen > 0 else "B"))
    columns = ["prompt", "left", "right", "says"]
    return pd.DataFrame(rows, columns=columns).sample(frac=1, random_state=seed)


LONG = {"item": "prompt", "shown_first": "left", "shown_second": "right", "verdict": "says"}


@pytest.mark.slow
def test_one_row_a_verdict_tells_the_plain_gap_and_who_wins():
    """Counted by hand: wins of the places and points of the answers, over all verdicts."""
    table = duels()
    orders = bias.Orders.from_verdicts(table, **LONG, tie_value="tie")
    assert (orders.answers, orders.pairs.tolist()) == (("new", "old"), [150])
    found = bias.position_bias(orders)
    gap = (table["says"] == "A").mean() - (table["says"] == "B").mean()
    assert found["position_preference", "judge"].value == pytest.approx(gap)
    place = np.where(table["left"] == "new", "A", "B")
    points = np.where(table["says"] == "tie", 0.5, table["says"] == place)
    assert found["win_rate", "judge", "new"].value == pytest.approx(points.mean())
    flips = found["primacy", "judge"].value - found["recency", "judge"].value
    assert flips < gap - 0.02  # ties in one order lean to the first place too
    # the other systems' points, if the names change places
    names = {"new": "a", "old": "b"}
    other = bias.Orders.from_verdicts(
        table.replace({"new": "b", "old": "a"}), **LONG, tie_value="tie"
    )
    mirrored = bias.position_bias(other)
    assert_allclose(mirrored["win_rate", "judge", "b"], found["win_rate", "judge", "new"])
    assert_allclose(mirrored["win_rate", "judge", "a"], found["win_rate", "judge", "old"])
    value, low, high = found["win_rate", "judge", "new"]
    assert_allclose(found["win_rate", "judge", "old"], [1 - value, 1 - high, 1 - low])
    assert other.answers == tuple(names.values())
    # the same as one row per pair
    said = np.where(table["says"] == "A", table["left"], table["right"])
    wide = table.assign(winner=np.where(table["says"] == "tie", "tie", said))
    wide = wide.pivot(index="prompt", columns="left", values="winner").reset_index()
    pairs = bias.Orders.from_frame(
        wide, first="new", second="old", winners=("new", "old"), tie_value="tie"
    )
    assert pairs.counts.tolist() == orders.counts.tolist()
    assert pairs.answers == orders.answers
    # three systems: nobody's points, and each pair by itself
    third = table.assign(left=table["left"].where(table["prompt"] > 9, "x" + table["left"]))
    assert (
        bias.Orders.from_verdicts(
            table.assign(
                left=table["left"].where(
                    table["prompt"] > 9, table["left"].replace("old", "third")
                ),
                right=table["right"].where(
                    table["prompt"] > 9, table["right"].replace("old", "third")
                ),
            ),
            **LONG,
            tie_value="tie",
        ).answers
        is None
    )
    with pytest.raises(bj.InputError, match="20 pairs lack"):
        bias.Orders.from_verdicts(third, **LONG, tie_value="tie")
    with refused("tie", subject="bias.Orders.from_verdicts"):
        bias.Orders.from_verdicts(table, **LONG)
    with refused(300, subject="bias.Orders.from_verdicts"):
        bias.Orders.from_verdicts(table.assign(right=table["left"]), **LONG, tie_value="tie")


@pytest.mark.slow
def test_the_answer_names_the_gap_the_winner_and_parts_of_a_hundred():
    orders = bias.Orders.from_verdicts(duels(), **LONG, tie_value="tie")
    made = bias.position_bias(orders)
    told = bias.answer(made)
    gap, rate = made["position_preference", "judge"], made["win_rate", "judge", "new"]
    assert f"wins {gap.value * 100:.0f} points more often" in told.text
    assert "new wins: " + f"{rate.value * 100:.0f} %" in told.notes[0]
    parts = [int(x) for x in re.findall(r"(\d+) %", told.notes[1])]
    assert sum(parts) == 100
    assert told.quoted["position_preference", "judge"] == gap
    p = np.random.default_rng(0).dirichlet
    levels, seen = np.unique(np.ravel(QUANTITIES["win_rate"]), return_inverse=True)
    counts = orders.counts[0].ravel() @ np.eye(len(levels))[seen.ravel()]
    ahead = float((p(counts + 0.2, 100_000) @ levels > 0.5).mean())
    (own,) = chance_ahead(orders)
    assert abs(own - ahead) < 5 * np.sqrt(max(own * (1 - own), 1e-4) / 100_000)
    # nobody is named where nobody is known, nor a winner where none is sure
    few = bias.Orders([kinds(10, 3, 1)], judges=["a"])
    assert not any("wins: " in note for note in bias.answer(bias.position_bias(few)).notes)
    even = bias.Orders([[[6, 1, 0], [1, 5, 0], [0, 0, 0]]], ["a"], answers=("x", "y"))
    assert "x may or may not win" in bias.answer(bias.position_bias(even)).notes[0]


@pytest.mark.slow
def test_repeats_of_one_row_a_verdict_are_paired_in_turn():
    table = duels(40)
    twice = bias.Orders.from_verdicts(pd.concat([table, table]), **LONG, tie_value="tie")
    once = bias.Orders.from_verdicts(table, **LONG, tie_value="tie")
    assert twice.counts.tolist() == (2 * once.counts).tolist()
    assert twice.pairs.tolist() == once.pairs.tolist() == [40]
    short = bias.Orders.from_verdicts(table.iloc[1:], **LONG, tie_value="tie", missing="drop")
    assert (short.pairs.tolist(), short.missing.tolist()) == ([39], [1])
    # the other answer ahead
    other = table.replace({"A": "B", "B": "A"})
    made = bias.position_bias(bias.Orders.from_verdicts(other, **LONG, tie_value="tie"))
    assert "old probably wins: " in bias.answer(made).notes[0]
    assert "shown second" in bias.answer(made).text


@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 6, 1 / 6), (0.575, 0.25, 2 / 240, 40 / 240)])
def test_percents_add_up(shares):
    found = _hundred(list(shares))
    assert sum(found) == 100
    assert np.abs(np.array(found) - 100 * np.array(shares)).max() < 1


@pytest.mark.slow
def test_position_intervals_cover():
    rng = np.random.default_rng(4)
    truth, runs = np.array([[0.4, 0.2, 0.04], [0.06, 0.2, 0.02], [0.02, 0.02, 0.04]]), 300
    drawn = rng.multinomial(60, truth.ravel(), size=runs).reshape(-1, 3, 3)
    found = bias.position_bias(bias.Orders(drawn, judges=range(runs), answers=("x", "y")))
    for name, weights in QUANTITIES.items():
        rows, value = found.quantities[name], (truth * np.array(weights)).sum()
        # of a win rate, the first answer's
        rows = replace(
            rows,
            **{k: getattr(rows, k)[:: len(rows.dims)] for k in ("value", "low", "high")},
            labels=rows.labels[:: len(rows.dims)],
        )
        covered = ((rows.low <= value) & (value <= rows.high)).mean()
        assert covered > 0.95 - 5 * np.sqrt(0.05 * 0.95 / runs), name
