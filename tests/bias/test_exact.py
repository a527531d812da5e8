import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import betainc
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge import bias


def test_binary_scores_give_the_root_of_a_beta():
    shifts = bias.Shifts.from_differences([0] * 8 + [1] * 4, scale=(0, 1))
    spread = bias.exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]
    known = beta(4.5, 8.5)  # half a pseudo-neighbour for each of the two sizes
    expected = [known.expect(np.sqrt), *np.sqrt(known.ppf([0.025, 0.975]))]
    assert_allclose(spread, expected, rtol=1e-6)
    worst = bias.exact(shifts, prior="worst")["rms_shift", "perturbed"]
    assert_allclose(worst.high, np.sqrt(beta(5, 8).ppf(0.975)), rtol=1e-6)


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


def test_it_narrows_to_the_closed_form():
    rng = np.random.default_rng(2)
    shifts = bias.Shifts.from_differences(rng.integers(0, 3, 5000), scale=(1, 5))
    posterior = bias.exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]
    closed = bias.rms_shift(shifts)["rms_shift", "perturbed"]
    assert_allclose(posterior, closed, rtol=3e-3)


def test_a_shift_off_the_steps_is_refused():
    shifts = bias.Shifts.from_differences([0.5, 1], scale=(1, 5))
    with pytest.raises(bj.InputError, match="no multiple of step"):
        bias.exact(shifts, step=1, prior="spread")
    with pytest.raises(bj.InputError, match="step must be positive"):
        bias.exact(shifts, prior="spread")
    assert np.isfinite(bias.exact(shifts)["rms_shift", "perturbed"]).all()


# Position bias -----------------------------------------------------------------------------------


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
    assert orders.counts.tolist() == [[2, 2, 1, 1], [1, 0, 0, 0]]
    assert orders.missing.tolist() == [0, 1]
    with pytest.raises(bj.InputError, match="neither"):
        bias.Orders.from_frame(table, judge="judge", missing="drop")


@pytest.mark.slow
def test_repeats_of_a_pair_are_noise_and_pairs_the_sample():
    rows = pd.DataFrame({"pair": ["p", "p", "q"], "llm": ["a", "b", "a"], "order1": 1, "order2": 2})
    orders = bias.Orders.from_frame(rows, judge="llm", item="pair")
    assert orders.pairs.tolist() == [2, 1]
    assert repr(orders).splitlines()[1:] == ["  a: 2 pairs", "  b: 1 pair"]
    both = bias.Orders.from_frame(rows, item="pair")
    assert (both.pairs.tolist(), both.counts.tolist()) == ([2], [[0, 3, 0, 0]])
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
    counts = np.array([80, 15, 5, 0])
    found = bias.position_bias(bias.Orders([counts], judges=["a"]))
    for name, k in zip(("consistency", "primacy", "recency"), counts, strict=False):
        row = found[name, "a"]
        shape = (k + 0.5, 102 - k - 0.5)
        assert row.value == pytest.approx((k + 0.5) / 102)
        assert_allclose([betainc(*shape, x) for x in row[1:]], [0.025, 0.975], atol=1e-8)


def test_preference_matches_draws_and_changes_sign_with_the_places():
    one = bias.position_bias(bias.Orders([[30, 12, 5, 3]], judges=["a"]))
    other = bias.position_bias(bias.Orders([[30, 5, 12, 3]], judges=["a"]))
    row = one["position_preference", "a"]
    assert_allclose(row, [-x for x in np.array(other["position_preference", "a"])[[0, 2, 1]]])
    p = np.random.default_rng(0).dirichlet(np.array([30, 12, 5, 3]) + 0.5, 100_000)
    assert abs((p[:, 1] - p[:, 2] <= row.low).mean() - 0.025) < 5 * np.sqrt(0.025 / 100_000)


def test_position_intervals_cover():
    rng = np.random.default_rng(4)
    truth, runs = np.array([0.7, 0.2, 0.08, 0.02]), 300
    orders = bias.Orders(rng.multinomial(60, truth, size=runs), judges=range(runs))
    found = bias.position_bias(orders)
    at = {"consistency": 0.7, "primacy": 0.2, "recency": 0.08, "position_preference": 0.12}
    for name, value in at.items():
        rows = found.quantities[name]
        covered = ((rows.low <= value) & (value <= rows.high)).mean()
        assert covered > 0.95 - 5 * np.sqrt(0.05 * 0.95 / runs), name
