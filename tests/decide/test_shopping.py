"""The shopping list: sizes against a search by hand, published savings, and its command."""

import importlib
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.special import ndtr, ndtri

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core import planning
from bayesjudge.core.planning import Parts, explained_by_calls, fewest
from bayesjudge.core.worth import more_labels
from bayesjudge.decide import Pilot, shopping_list
from bayesjudge.decide.shopping import FLATTERED, sure_with_pilot
from bayesjudge.repeats import required_repeats

Z = 1.959964


def _pilot(n=200_000, right=(0.8, 0.93), good=0.7, seed=1, **more):
    """So large that its posterior is a point."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < good
    judged = [np.where(rng.random(n) < r, truth, ~truth) for r in right]
    names = ["cheap", "dear"][: len(right)]
    return Pilot(truth, np.column_stack(judged), names, **more)


# The formula -----------------------------------------------------------------------------------


def test_labels_and_errors_are_inverse():
    parts = Parts.of(np.array([0.2, 0.25]), 0.4, 0.6)
    error = parts.error(120.0, 3000.0, 500.0)
    assert_allclose(parts.labels(error, 3000.0, 500.0), 120.0)
    assert_allclose(error**2, np.array([0.2, 0.25]) * (0.4 / 120 + 0.4 / 3000 + 0.2 / 500))
    assert np.isinf(parts.labels(0.001, 3000.0, 500.0)).all()
    assert_allclose(Parts(0.25).labels(0.05, items=400), 100 / (1 + 100 / 400))


def test_every_planner_rests_on_it():
    assert more_labels(0.5, 100, 300) == pytest.approx(50.0)
    assert required_repeats(0.6, 0.267, ci_prob=0.9) == np.ceil((1.644854 * 0.6 / 0.267) ** 2)
    # three calls of a judge whose calls correlate by .96 explain 2.7 % more
    assert explained_by_calls(0.5, 3, 0.96) / 0.5 == pytest.approx(1.027, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("start", [None, 0.6, 1.7])
@pytest.mark.parametrize("part", [0.0, 0.005])
def test_the_search_finds_the_smallest_number_that_is_enough(start, part):
    rng = np.random.default_rng(1)
    rises = (
        lambda m, n: np.sqrt(np.maximum(m, 0)) - np.sqrt(n),
        lambda m, n: np.tanh(m / n - 1),
        lambda m, n: np.where(m >= n, 1.0, -np.inf),
        lambda m, n: np.where(m >= n, 1e-3, -1.0),
    )
    asked = []
    for case in range(200):
        low, wanted = int(rng.integers(-1, 30)), int(rng.integers(30, 5000))
        most, spare = int(rng.integers(31, 9000)), rises[case % 4]
        calls = []

        def counted(m, spare=spare, calls=calls, wanted=wanted):
            calls.append(m)
            return spare(m, wanted)

        given = fewest(counted, low, most, start=start and start * wanted, part=part)
        expected = wanted if wanted <= most else np.inf
        assert (
            given == expected if part == 0 else given == pytest.approx(expected, rel=0.006, abs=1)
        )
        assert all(low < m <= most for m in calls)
        assert len(calls) < 100
        asked += [len(calls)] * (case % 4 < 2)
    assert np.mean(asked) < (16 if start is None else 12)
    many = np.arange(1, 300)
    found = fewest(lambda m: m - many, 0, np.full(299, 200))
    assert_allclose(found, np.where(many <= 200, many, np.inf))
    for low, most, first in ((5, 5, None), (7, 3, None), (7, 3, 90), (0, 40, 90)):
        assert np.isinf(fewest(lambda m: m - 41, low, most, start=first, part=part))


def _gate_with_needs(data):
    return bj.decide.gate(data, at_least=0.7).checks[0].needs


def _votes():
    rows = [[1, 1], [1, 0], [0, 0]]
    return bj.panel.Votes(rows, [-1] * 3, [0] * 3, ["x"], ["a", "b"], count=[600, 200, 200])


def _prompts():
    rng = np.random.default_rng(3)
    truth = rng.random(60) < 0.5
    table = pd.DataFrame({name: np.where(rng.random(60) < right, truth, ~truth)
                          for name, right in (("a", 0.7), ("b", 0.8))})  # fmt: skip
    return bj.Verdicts.from_frame(table.assign(truth=truth), verdict=["a", "b"],
                                  calibration="random")  # fmt: skip


RATES = {"prevalence": 0.8, "sensitivity": 0.9, "specificity": 0.7}
#: By planner of a command: the module, what it takes from `core.planning`, and a call.
PLANNERS = {
    "plan --pilot": ("decide.shopping", "fewest",
                     lambda: shopping_list(_pilot(n=50), {"label": 1.0}, width=0.2)),
    "plan --at-least": ("decide.power", "fewest", lambda: bj.decide.labels_to_pass(0.7, **RATES)),
    "plan --width": ("prevalence.budget.plan", "fewest",
                     lambda: bj.prevalence.budget.labels_by_design(0.1, **RATES, items=900)),
    "gate": ("decide.needs", "fewest", lambda: _gate_with_needs(
        bj.prevalence.Counts(900, 690, 70, 65, 30, 20, calibration="random"))),
    "judge": ("core.worth", "Parts", lambda: more_labels(0.5, 100, 300)),
    "judge, several": ("judge.selection", "fewest", lambda: bj.judge.select(_prompts())),
    "panel": ("panel.budget", "Parts", lambda: bj.panel.labels_needed(_votes())),
    "repeats": ("repeats.planning", "Parts", lambda: required_repeats(0.6, 0.2)),
}  # fmt: skip


@pytest.mark.parametrize("command", PLANNERS)
def test_every_command_that_plans_takes_its_number_from_one_formula_or_one_search(
    command, monkeypatch
):
    name, taken, call = PLANNERS[command]

    class Asked(Exception):
        """It was."""

    class Refusing:
        def __init__(self, *_, **__):
            raise Asked

        of = __init__

    module = importlib.import_module(f"bayesjudge.{name}")
    assert getattr(module, taken) is getattr(planning, taken)
    monkeypatch.setattr(module, taken, Refusing)
    with pytest.raises(Asked):
        call()


# What is promised ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("probability", "power"), [(0.95, 0.8), (0.9, 0.8), (0.975, 0.5)])
def test_a_pilot_whose_labels_count_again_makes_no_more_false_decisions_than_allowed(
    probability, power
):
    """Pilots at the threshold, each with the plan that its posterior makes, by simulation."""
    rng = np.random.default_rng(4)
    pilots = rng.normal(size=4000)
    draws = pilots[:, None] + rng.normal(size=300)

    def false(sure):
        margin = ndtri(sure)

        def spare(hundredths):
            return ndtr(np.abs(draws) * np.sqrt(hundredths / 100)[:, None] - margin).mean(1) - power

        times = np.minimum(fewest(spare, np.full(4000, 99), 10**7, part=0.01), 10**7) / 100
        new = rng.normal(size=4000) * np.sqrt(times - 1)
        return np.mean(np.abs(pilots + new) > margin * np.sqrt(times))

    allowed, error = 2 * (1 - probability), np.sqrt(2 * (1 - probability) / 4000)
    sure = sure_with_pilot(probability, power)
    assert sure > probability
    assert false(sure) == pytest.approx(allowed, abs=4 * error)
    assert false(probability) > allowed + 4 * error


@pytest.mark.slow
def test_a_decision_is_planned_as_surely_as_it_is_to_be_made():
    pilot = _pilot(n=100, judged_n=[4000, 100])
    made = shopping_list(pilot, {"label": 1.0}, at_least=0.6)
    assert set(made["sure"]) == {sure_with_pilot(0.95, 0.8)}
    assert shopping_list(pilot, {"label": 1.0}, width=0.2)["sure"].isna().all()


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "saved"), [(0.5, 0.16), (0.7, 0.38), (0.9, 0.72)])
def test_a_judge_at_a_hundredth_of_a_persons_price_saves(correlation, saved):
    """Neyman's sizes, n/m = sqrt(r2/(1 - r2) c_h/c_n), found by the search."""
    rng = np.random.default_rng(2)
    truth = rng.normal(size=400_000)
    judged = correlation * truth + np.sqrt(1 - correlation**2) * rng.normal(size=truth.size)
    few = slice(0, 3000)
    pilot = Pilot(truth[few], judged[few][:, None], ["judge"])
    r2 = np.corrcoef(pilot.truth, pilot.judged[:, 0])[0, 1] ** 2
    made = shopping_list(pilot, {"label": 1.0, "item": 0.01}, width=0.01, items=3000).set_index(
        "way"
    )
    row, people = made.loc["judge"], made.loc["people only"]
    expected = np.sqrt(r2 / (1 - r2) * 100)
    assert row["items"] / row["labels"] == pytest.approx(expected, rel=0.25)
    # people's items cost as much to make as a judge's
    cost, alone = (one["labels"] + 0.01 * one["items"] for one in (row, people))
    assert 1 - cost / (alone / 1.01) == pytest.approx(saved, abs=0.03)


class _Known(Pilot):
    """A pilot whose shares are those of the population, and known to be."""

    def moments(self, random_seed=1):
        covariance = np.cov(np.column_stack([self.truth, self.judged]).T, bias=True)
        mean = np.array([self.truth.mean()])
        drawn = super().moments(random_seed)
        return drawn._replace(mean=mean, covariance=covariance[None], items=1e9)


def _known(good, right, items):
    """Of a judge that is as often right on good items as on bad ones."""
    shares = np.array([good * right, good * (1 - right), (1 - good) * (1 - right)])
    n = np.rint(200 * np.append(shares, (1 - good) * right)).astype(int)
    truth, judged = np.repeat([1, 1, 0, 0], n), np.repeat([1, 0, 1, 0], n)
    pilot = _Known(truth, judged[:, None], ["judge"], judged_n=[items])
    hit, caught = n[0] / (n[0] + n[1]), n[3] / (n[2] + n[3])
    rates = {"prevalence": truth.mean(), "sensitivity": hit, "specificity": caught}
    return pilot, {**rates, "items": items}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("good", "right", "at_least", "width"),
    [(0.5, 0.8, 0.44, 0.09), (0.7, 0.9, 0.66, 0.06), (0.9, 0.85, 0.87, 0.05),
     (0.3, 0.85, 0.35, 0.08)],
)  # fmt: skip
def test_both_roads_to_a_number_of_labels_agree_away_from_the_ends(good, right, at_least, width):
    """The list's normal form, and the exact chance and Wilson's width: docs/decide.md says so."""
    pilot, rates = _known(good, right, 5000)
    ways = {"judge": "random sample", "people only": "people only"}
    free = {"label": 1.0}
    narrow = shopping_list(pilot, free, width=width, power=0.5).set_index("way")["labels"]
    exact = bj.prevalence.budget.labels_by_design(width, **rates)
    for way, strategy in ways.items():
        assert narrow[way] == pytest.approx(exact[strategy], rel=0.04)
    made = shopping_list(pilot, free, at_least=at_least).set_index("way")
    decides, rates["probability"] = made["labels"], made["sure"].iloc[0]
    if at_least > good:  # a fail is a pass of the share of bad outputs
        hit, caught = rates["specificity"], rates["sensitivity"]
        rates |= {"prevalence": 1 - rates["prevalence"], "sensitivity": hit, "specificity": caught}
        at_least = 1 - at_least
    exact = bj.decide.labels_to_pass(at_least, **rates)
    for way, strategy in ways.items():
        assert decides[way] == pytest.approx(exact[strategy], rel=0.06)


# The list ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_cheapest_sizes_are_those_of_a_search_by_hand():
    pilot = _pilot(n=400, judged_n=[3000, 400])
    prices = {"label": 2.0, "call cheap": 0.002, "call dear": 0.05}
    made = shopping_list(pilot, prices, width=0.07, items=20_000, random_seed=3).set_index("way")
    parts = pilot.moments(3).parts(0)
    spread = np.sqrt(max(pilot.kurtosis(0) - 1, 1e-6) / 4)
    best = np.inf
    for n in np.unique(np.geomspace(3000, 20_000, 150).astype(int)):
        for m in range(400, 900):
            far = np.log(0.07 / (2 * Z * parts.error(m, n))) / (spread / np.sqrt(m))
            if ndtri(ndtr(far).mean()) - FLATTERED >= ndtri(0.8):
                best = min(best, 2.0 * (m - 400) + 0.002 * (n - 3000))
                break
    assert made.loc["cheap", "cost"] == pytest.approx(best, rel=0.02)
    assert made["cost"].is_monotonic_increasing
    assert made.loc["people only", "cost"] > made.loc["cheap", "cost"]
    row = made.loc["cheap, and dear on a part"]
    assert row["cost"] <= min(made.loc["cheap", "cost"], made.loc["dear", "cost"]) * 1.001
    assert row["second"] <= row["items"]
    assert row["more"] == row["labels"] - 400


@pytest.mark.slow
def test_what_is_promised_is_what_the_posterior_says():
    """Of plans that a small pilot makes, as many are narrow enough as was asked for, or more."""
    narrow = []
    for seed in range(40):
        pilot = _pilot(n=80, right=(0.85,), seed=seed, judged_n=[2000])
        row = shopping_list(pilot, {"label": 1.0}, width=0.1, random_seed=seed).iloc[0]
        assert row["reached"] >= 0.8
        data = _pilot(n=int(row["items"]), right=(0.85,), seed=1000 + seed)
        known = np.where(np.arange(len(data.truth)) < row["labels"], data.truth, np.nan)
        counts = bj.rubric.data.counted(data.judged[:, 0] == 1, known, "random")
        low, high = bj.prevalence.difference(counts)["prevalence"][1:]
        narrow.append(high - low <= 0.1)
    assert np.mean(narrow) >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / 40)


@pytest.mark.slow
def test_a_gate_far_away_needs_fewer_labels_and_one_at_the_mean_none_does():
    pilot = _pilot(n=100, judged_n=[4000, 100])
    far, near = (shopping_list(pilot, {"label": 1.0}, at_least=t)["cost"].min() for t in (0.3, 0.6))
    assert far <= near
    at = float(pilot.truth.mean())
    made = shopping_list(pilot, {"label": 1.0}, at_least=at, items=200)
    assert np.isinf(made["cost"]).all()
    assert made["reached"].between(0.05, 0.8).all()


def test_repeats_help_a_judge_who_wavers_only():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=300)
    steady = truth + rng.normal(size=300)
    prices = {"label": 1.0, "call": 0.0001}

    def three(noise):
        calls = steady[:, None] + noise * rng.normal(size=(300, 3))
        pilot = Pilot(truth, calls[:, :1], ["judge"], repeats=[calls], judged_n=[5000])
        made = shopping_list(pilot, prices, width=0.15, items=5000).set_index("way")
        return pilot.icc(0), made.loc["judge, asked 3 times", "labels"], made.loc["judge", "labels"]

    icc, several, one = three(1.0)
    assert icc == pytest.approx(2 / 3, abs=0.06)
    assert several < 0.9 * one
    icc, several, one = three(0.05)
    assert icc > 0.99
    assert several > 0.97 * one


def _two_systems(n=300, labelled=120):
    rng = np.random.default_rng(5)
    easy = rng.normal(size=n)
    rows = []
    for name, shift in (("new", 0.4), ("old", 0.0)):
        truth = easy + shift + 0.5 * rng.normal(size=n) > 0
        judge = np.where(rng.random(n) < 0.9, truth, ~truth)
        seen = np.where(np.arange(n) < labelled, truth.astype(float), np.nan)
        rows.append(
            pd.DataFrame({"id": range(n), "system": name, "judge": judge * 1, "human": seen})
        )
    return pd.concat(rows, ignore_index=True)


@pytest.mark.slow
def test_pairing_is_worth_its_labels():
    how = {"judges": {"judge": "judge"}, "truth": "human", "by": "system", "item": "id"}
    pilot = Pilot.from_frame(_two_systems(), **how)
    assert (pilot.outputs, pilot.judged_n, len(pilot.truth)) == (2, (300,), 120)
    made = shopping_list(pilot, {"label": 1.0}, difference=True, items=3000).set_index("way")
    made_width = shopping_list(pilot, {"label": 1.0}, width=0.06, items=9000).set_index("way")
    apart = "judge, on items that are not shared"
    assert made.loc["judge", "cost"] <= made.loc[apart, "cost"]
    assert made_width.loc[apart, "labels"] > 1.3 * made_width.loc["judge", "labels"]
    with refused("by=", subject="decide.shopping_list"):
        shopping_list(_pilot(n=50), {"label": 1.0}, difference=True)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "one goal"),
        ({"width": 0.1, "at_least": 0.5}, "one goal"),
        ({"width": -1.0}, "width must be above 0"),
        ({"width": 0.1, "items": 20}, "the pilot has 50"),
        ({"width": 0.1, "power": 1.0}, "power must lie in"),
        ({"at_least": 1.0}, r"at_least must lie in \(0, 1\) of passes and fails, got 1.0"),
    ],
)
def test_refusals(how, words):
    with pytest.raises(bj.InputError, match=words):
        shopping_list(_pilot(n=50), {"label": 1.0}, **how)
    with refused(id="no-such-price", unknown="beer"):
        shopping_list(_pilot(n=50), {"beer": 1.0}, width=0.1)
    with refused(10, subject="decide.Pilot"):
        _pilot(n=9)


def test_prices_are_numbers():
    with refused("label", "1.5", subject="decide.shopping_list"):
        shopping_list(_pilot(n=50), {"label": "1.5"}, width=0.1)


def test_a_pilot_without_a_judge_buys_labels():
    found = shopping_list(Pilot(_pilot(n=50).truth, np.empty((50, 0)), []), {"label": 1}, width=0.4)
    assert found["way"].tolist() == ["people only"]


def test_a_judge_that_was_not_asked_twice_has_no_correlation_of_its_calls():
    pilot = _pilot(n=50)
    once = np.column_stack([pilot.judged[:, 0], np.full(50, np.nan)])
    for repeats in ([once, once], [once[:, :1]] * 2, [np.empty((0, 0))] * 2, ()):
        asked = Pilot(pilot.truth, pilot.judged, pilot.judges, repeats=repeats)
        assert np.isnan(asked.icc(0))


def test_no_fewer_items_are_judged_than_the_judge_saw():
    pilot = _pilot(n=50)
    seen = Pilot(pilot.truth, pilot.judged, pilot.judges, judged_n=[500, 500])
    found = shopping_list(seen, {"label": 1.0, "call": 0.1}, width=0.2)
    assert found["items"].tolist()[:2] == [500, 500]


# Command -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_lists_what_to_buy(tmp_path, capsys):
    pilot = _pilot(n=600, right=(0.8,))
    table = pd.DataFrame({"id": range(600), "judge": pilot.judged[:, 0].astype(int)})
    table["human"] = np.where(np.arange(600) < 90, pilot.truth, np.nan)
    table.to_csv(tmp_path / "t.csv", index=False)
    line = ["plan", "--pilot", str(tmp_path / "t.csv"), "--width", "0.1", "--items", "3000"]
    prices = ["--price", "label=1.5", "call=0.01"]
    assert main([*line, *prices]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert " buys an interval 0.1 wide with a chance of 8" in out
    assert "items judged by judge, one call each. That is $" in out
    assert main([*line, *prices, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["way"] for row in found["rows"]] == ["judge", "people only"]
    assert found["rows"][0]["cost"] == pytest.approx(
        1.5 * found["rows"][0]["more"] + 0.01 * (found["rows"][0]["items"] - 600)
    )
    for more, words in (
        ([], "--price is needed"),
        (
            ["--price", "label"],
            "write NAME=PRICE, such as label=1.50, of a label, call, call:JUDGE",
        ),
        ([*prices, "--power", "0"], "power must lie in (0, 1), got 0.0"),
        ([*prices, "--ci-prob", "0"], "(write 95 % as 0.95), got 0.0"),
        ([*prices, "--prevalence", "0.7"], "--prevalence is not for a pilot"),
        ([*prices, "--price", "beer=2"], "price of beer"),
    ):
        assert main([*line, *more]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    assert main(["plan", "--width", "0.1", "--price", "label=1"]) == 2
    assert "--price is of a pilot" in capsys.readouterr().err
