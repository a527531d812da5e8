"""Confidence sequences: false decisions under peeking, files, draws."""

import json

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.decide import Monitor, _betting
from bayesjudge.decide._betting import Draws, increments, log_wealth

LEVEL = np.log(20)


def finite(rng, theta, hit, caught, *, runs, items=400, labels=200):
    """Random labels without replacement of items whose share of good ones is exactly theta."""
    y = np.zeros((runs, items))
    y[:, : round(items * theta)] = 1
    f = (rng.random(y.shape) < np.where(y > 0, hit, 1 - caught)).astype(float)
    order = np.argsort(rng.random(y.shape), axis=1)
    y, f = (np.take_along_axis(a, order, 1) for a in (y, f))
    rest = 1 - np.arange(labels) / items
    pool = (f.sum(1, keepdims=True) - (np.cumsum(f, 1) - f)[:, :labels]) / (rest * items)
    y, f = y[:, :labels], f[:, :labels]
    ones = np.ones_like(y)
    weights = np.ones((*y.shape, 2))
    return Draws(f, y, ones, weights, (np.cumsum(y, 1) - y) / items, rest * ones, pool)


def rounds(rng, theta, hit, caught, *, runs, labels=200, size=10, fresh=True):
    """One label of each round of new items."""
    y = (rng.random((runs, labels)) < theta).astype(float)
    f = (rng.random(y.shape) < np.where(y > 0, hit, 1 - caught)).astype(float)
    rate = theta * hit + (1 - theta) * (1 - caught)
    pool = (rng.binomial(size - 1, rate, y.shape) + f) / size
    ones = np.ones_like(y)
    return Draws(f, y, ones, np.ones((*y.shape, 2)), 0 * ones, ones, pool, fresh)


def false_decisions(draws, theta, trust=1.0):
    made = increments(draws, trust=trust)
    return [(log_wealth(made, theta, above).max(axis=1) >= LEVEL).mean() for above in (True, False)]


RUNS = 1500
#: A share of .05 seen in so many runs, and four standard errors.
MOST = 0.05 + 4 * np.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.slow
@pytest.mark.parametrize(("theta", "rate"), [(0.5, 0.97), (0.9, 0.6), (0.95, 0.9)])
def test_false_decisions_under_peeking_are_as_rare_as_promised(theta, rate):
    rng = np.random.default_rng(1)
    found = false_decisions(finite(rng, theta, rate, rate, runs=RUNS), theta)
    found += false_decisions(rounds(rng, theta, rate, rate, runs=RUNS), theta, trust=0.9)
    assert max(found) <= MOST


def by_verdict(rng, theta, rate, *, runs, labels=200, weighed=True):
    """Rounds of which a pass or a fail of the judge is labelled with probability 1/2 each."""
    draws = rounds(rng, theta, rate, rate, runs=runs, labels=labels, size=50)
    passes = theta * rate + (1 - theta) * (1 - rate)
    f = (rng.random(draws.truth.shape) < 0.5).astype(float)
    ppv, missed = theta * rate / passes, theta * (1 - rate) / (1 - passes)
    y = (rng.random(f.shape) < np.where(f > 0, ppv, missed)).astype(float)
    weight = np.where(f > 0, 2 * draws.pool, 2 * (1 - draws.pool)) if weighed else np.ones_like(f)
    weights = np.full((*f.shape, 2), 2.0)
    return draws._replace(verdict=f, truth=y, weight=weight, weights=weights)


@pytest.mark.slow
def test_planted_faults_make_false_decisions():
    """A bet that knows the round's verdicts; labels drawn by verdict and taken for random ones."""
    rng = np.random.default_rng(2)
    told = rounds(rng, 0.5, 0.95, 0.95, runs=RUNS, fresh=False)
    assert max(false_decisions(told, 0.5)) > MOST
    assert max(false_decisions(by_verdict(rng, 0.9, 0.8, runs=RUNS), 0.9, trust=0)) <= MOST
    biased = by_verdict(rng, 0.9, 0.8, runs=RUNS, weighed=False)
    assert max(false_decisions(biased, 0.9, trust=0)) > MOST


def test_increments_stay_in_their_range_and_are_unbiased():
    rng = np.random.default_rng(3)
    made = increments(finite(rng, 0.8, 0.9, 0.7, runs=400))
    assert (made.low - 1e-12 <= made.value).all()
    assert (made.value <= made.high + 1e-12).all()
    means = made.value.mean(axis=0)
    errors = made.value.std(axis=0) / np.sqrt(400)
    assert np.abs((means - 0.8) / errors).max() < 4.5


def test_one_label_is_computed_by_hand():
    """First label: the judge's imaginary items only; a pass of a pool of .6 that is good."""
    one = np.ones((1,))
    draws = Draws(one, one, one, np.ones((1, 2)), 0 * one, one, np.array([0.6]))
    made = increments(draws)
    mean = 0.25 + 0.5 * 0.6
    assert made.value[0] == pytest.approx(mean + 1 - 0.75)
    assert made.low[0] == pytest.approx(mean - 0.75)
    ratio = (made.value[0] - made.low[0]) / (0.5 - made.low[0])
    by_hand = np.mean([1 - k + k * ratio for k in _betting.FRACTIONS])
    assert log_wealth(made, 0.5, True)[0] == pytest.approx(np.log(by_hand))


def monitored(strategy="random", n=300, **more):
    rng = np.random.default_rng(5)
    truth = (np.arange(n) < 0.9 * n).astype(int)
    verdict = np.where(rng.random(n) < 0.9, truth, 1 - truth)
    names = [f"q{i}" for i in range(n)]
    monitor = Monitor(names, verdict, at_least=0.8, strategy=strategy, random_seed=1, **more)
    return monitor, dict(zip(names, truth.tolist(), strict=True))


@pytest.mark.parametrize("strategy", ["random", "by_verdict", "uncertain"])
def test_all_items_labelled_is_known_exactly(strategy):
    monitor, truth = monitored(strategy, n=60)
    batch = monitor.draw(100)
    assert len(batch) == 60
    assert batch["probability"].iloc[-1] == pytest.approx(1)
    monitor.add(batch["item"], batch["item"].map(truth))
    value, low, high = monitor.estimate()["prevalence"]
    assert (value, low, high) == pytest.approx((0.9,) * 3)
    assert monitor.outcome == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "by_verdict", "uncertain"])
@pytest.mark.parametrize("target", ["items", "population"])
def test_the_class_is_valid_under_every_strategy(strategy, target):
    """Estimates of single labels, weighted as drawn, have the right mean."""
    values, runs = [], 50
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        truth = rng.permutation((np.arange(120) < 84).astype(int))
        verdict = np.where(rng.random(120) < 0.85, truth, 1 - truth)
        most = {"most_labels": 20} if target == "population" else {}
        monitor = Monitor(
            range(120),
            verdict,
            at_least=0.7,
            strategy=strategy,
            target=target,
            random_seed=seed,
            **most,
        )
        for _ in range(4):
            batch = monitor.draw(5)
            monitor.add(batch["item"], truth[batch["item"].astype(int)])
        made = monitor._increments()
        assert (made.low - 1e-9 <= made.value).all()
        assert (made.value <= made.high + 1e-9).all()
        values.append(made.value)
    values = np.array(values)
    errors = values.std(axis=0) / np.sqrt(runs)
    assert np.abs((values.mean(axis=0) - 0.7) / errors).max() < 4.2


def test_what_is_known_of_an_item_is_known_before_its_label():
    monitor, _ = monitored(n=40)
    batch = monitor.draw(4)
    monitor.add(batch["item"], [1, 0, 1, 1])
    assert monitor._draws().known.tolist() == [0, 1 / 40, 1 / 40, 2 / 40]
    fresh, truth = monitored(n=40, target="population", most_labels=10)
    batch = fresh.draw(4)
    fresh.add(batch["item"], batch["item"].map(truth))
    expected = increments(fresh._draws(), trust=1 - 10 / 40)  # a round of 4 is a sample
    assert fresh._increments().value.tolist() == expected.value.tolist()


def test_items_are_drawn_with_the_probabilities_that_are_told():
    monitor, _ = monitored("by_verdict", n=40)
    (row,) = monitor.draw(1).itertuples()
    assert row.probability == pytest.approx(0.5 / (monitor.verdicts == row.verdict).sum())


def test_limits_never_widen():
    """A wealth that falls again leaves the limit where it was."""
    monitor, _ = monitored(n=200, judge=False)
    batch = monitor.draw(120)
    monitor.add(batch["item"], [1] * 40 + [0] * 80)
    path = monitor.path
    assert (path["low"].diff().dropna() >= 0).all()
    assert path["low"].iloc[-1] >= path["low"].iloc[39] > 0.8


def test_labels_count_in_the_order_drawn():
    monitor, truth = monitored()
    items = list(monitor.draw(10)["item"])
    monitor.add(items[1:], [truth[i] for i in items[1:]])
    assert monitor.n_labels == 0
    assert monitor.pending == (items[0],)
    monitor.add(items[:1], [truth[items[0]]])
    assert monitor.n_labels == 10


def test_what_was_not_drawn_is_refused():
    monitor, _ = monitored()
    monitor.draw(3)
    other = [name for name in monitor.names if name not in monitor.pending][:2]
    with refused("q0", subject="Monitor.add"):
        monitor.add(other, [1, 1])
    monitor.add(monitor.pending, [1, 1, 1])
    with refused("q153", subject="Monitor.add"):
        monitor.add([monitor.names[monitor._drawn[0].place]], [0])
    monitor.add(other, [1, 1], drawn_at_random=True)
    assert monitor.n_labels == 5


@pytest.mark.slow
def test_a_file_resumes_and_refuses_other_data(tmp_path):
    monitor, truth = monitored("uncertain")
    for _ in range(3):
        batch = monitor.draw(20)
        monitor.add(batch["item"], batch["item"].map(truth))
    last = monitor.draw(5)
    path = monitor.save(tmp_path / "state.json")
    again = monitored("uncertain")[0].resume(path)
    assert again.pending == tuple(last["item"])
    pd.testing.assert_frame_equal(again.path, monitor.path)
    # what is drawn next is the same too
    for one in (monitor, again):
        one.add(last["item"], last["item"].map(truth))
    pd.testing.assert_frame_equal(again.draw(5), monitor.draw(5))
    with refused(id="other-items"):
        monitored("uncertain", n=299)[0].resume(path)
    with pytest.raises(bj.InputError, match=r"has strategy='uncertain', not 'random'"):
        monitored("random")[0].resume(path)
    with refused(id="drawn-already"):
        again.resume(path)
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "schema": "x"}))
    with pytest.raises(bj.InputError, match="expected schema"):
        monitored("uncertain")[0].resume(path)
    path.write_text("{")
    with refused(id="not-a-state", kind="monitor"):
        monitored("uncertain")[0].resume(path)


def test_the_path_narrows_and_the_gate_agrees_with_it():
    monitor, truth = monitored()
    batch = monitor.draw(150)
    monitor.add(batch["item"], batch["item"].map(truth))
    path = monitor.path
    assert (path["low"].diff().dropna() >= 0).all()
    assert (path["high"].diff().dropna() <= 0).all()
    decided = path[path["outcome"] != "unknown"]
    # limits are on a grid, the decision is not
    assert decided["low"].iloc[0] >= 0.8 - 1 / 400
    assert monitor.gate.checks[0].always_valid
    assert str(bj.decide.gate(monitor, at_least=0.8)) == str(monitor.gate)
    with refused(id="fixed-before"):
        bj.decide.gate(monitor, at_least=0.7)


def test_a_good_judge_makes_labels_worth_more():
    worth = {}
    for judge in (True, False):
        monitor, truth = monitored(judge=judge)
        batch = monitor.draw(150)
        assert np.isnan(monitor.worth)
        monitor.add(batch["item"], batch["item"].map(truth))
        worth[judge] = monitor.worth
    assert worth[False] == pytest.approx(150)
    assert worth[True] > 160  # 150 / (1 - .39) in the long run, less what is learnt on the way


def test_several_rows_of_an_item_are_averaged():
    log = pd.DataFrame({"item": ["a", "a", "b"], "verdict": ["yes", "no", "yes"]})
    monitor = Monitor.from_frame(log, pass_value="yes", at_least=0.5)
    assert monitor.names == ("a", "b")
    assert monitor.verdicts.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"at_least": 1.5}, "at_least must lie in"),
        ({"probability": 0.4}, "probability must lie in"),
        ({"target": "population"}, "needs most_labels"),
        ({"strategy": "best"}, "expected one of"),
        ({"verdicts": [2, 0]}, "must lie in"),
        ({"names": ["a", "a"]}, "different names"),
    ],
)
def test_bad_settings_are_refused(wrong, words):
    given = {"names": ["a", "b"], "verdicts": [1, 0], "at_least": 0.5} | wrong
    with pytest.raises(bj.InputError, match=words):
        Monitor(**given)


def test_the_picture_states_the_decision():
    truth = np.random.default_rng(1).random(200) < 0.97
    monitor = Monitor(range(200), truth, at_least=0.8, random_seed=1)
    while monitor.outcome == "unknown":
        batch = monitor.draw(10)
        monitor.add(batch["item"], truth[batch["item"].astype(int)])
    ax = bj.decide.plot_monitor(monitor)
    first = monitor.path.query("outcome != 'unknown'")["labels"].iloc[0]
    assert ax.get_title(loc="left") == f"Pass at {first} labels: at least 0.8 wanted"
    at = {line.get_label(): line for line in ax.get_lines()}
    assert list(at["decided"].get_xdata()) == [first, first]
    assert list(at["threshold"].get_ydata()) == [0.8, 0.8]
    np.testing.assert_array_equal(at["estimate"].get_ydata(), monitor.path["value"])
