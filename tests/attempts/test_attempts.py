"""Attempts: closed forms, likelihood and posterior, each against another road."""

import re
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from conftest import MODULES
from refusals import refused
from scipy.special import betaln, ndtr, ndtri, stdtrit

import bayesjudge as bj
from bayesjudge import attempts as module
from bayesjudge import datasets
from bayesjudge.attempts import Attempts, PersistentErrors
from bayesjudge.attempts._likelihood import (
    PLAIN,
    Tasks,
    by_pattern,
    can_be_weighed,
    chances,
    log_likelihood,
)
from bayesjudge.attempts.closed_form import _corrected, _rates, _sums, unbiased
from bayesjudge.core import methods

#: Labelled bad and good, then unlabelled attempts, each by fails and passes.
CELLS = np.array([[[1, 0], [0, 1], [1, 2]], [[0, 1], [2, 1], [0, 1]], [[0, 0], [0, 2], [2, 0]]])
#: The same with attempts without a verdict.
LOST = np.concatenate([CELLS, [[[1], [0], [1]], [[0], [1], [0]], [[0], [0], [2]]]], axis=2)
UNPARSED = ("unparsed_good", [0.1]), ("unparsed_bad", [0.35])
POINT = {
    "prevalence": 0.6,
    "task_correlation": 0.3,
    "always": 0.25,
    "never": 0.15,
    "sensitivity": 0.85,
    "specificity": 0.7,
    "persistence": 0.4,
}


def of_cells(cells, calibration="random", **more):
    """Attempts of one agent."""
    cells = np.asarray(cells)
    return Attempts(cells[:, None], [str(i) for i in range(len(cells))], ["agent"], calibration,
                    **more)  # fmt: skip


def of_rates(*rows, tells=True):
    """Values of one draw, for the likelihood."""
    point = {**POINT, **dict(rows)}
    shared = {name: np.array([point[name]]) for name in ("persistence", "shared_difficulty")
              if name in point}  # fmt: skip
    agents = {n: np.atleast_2d(v) for n, v in point.items() if n not in shared}
    return {**agents, **shared}


def states(cells):
    """Cells with a third verdict, none, that no attempt has."""
    return np.concatenate([cells, np.zeros_like(cells[..., :1])], axis=-1)


def mixed_of(point):
    """Shares of tasks done always and never, and the mean of the others."""
    sure = point["always"] * point["prevalence"]
    never = point["never"] * (1 - point["prevalence"])
    return sure, never, (point["prevalence"] - sure) / (1 - sure - never)


def by_hand(cells, point, tells=True):
    """Log-likelihood of one task: every truth of every attempt, and both kinds of judge."""
    (bad, good, unknown), total = cells, 0.0
    kinds = range(len(bad))
    verdicts = [(v, t) for t, row in ((0, bad), (1, good)) for v in kinds for _ in range(row[v])]
    open_ones = [v for v in kinds for _ in range(unknown[v])]
    lost = dict(zip((1, 0), (point.get(name, [0])[0] for name, _ in UNPARSED), strict=True))
    weight = 1 / point["task_correlation"] - 1
    sure, lost_tasks, mean = mixed_of(point)
    a, b = mean * weight, (1 - mean) * weight
    hit, right, again = (point[n] for n in ("sensitivity", "specificity", "persistence"))
    known = [t for _, t in verdicts] if tells else []
    for truths in product((0, 1), repeat=len(open_ones)):
        rows = [*verdicts, *zip(open_ones, truths, strict=True)]
        counted = [*known, *truths]
        g, n = sum(counted), len(counted)
        of_truths = (1 - sure - lost_tasks) * np.exp(betaln(a + g, b + n - g) - betaln(a, b))
        of_truths += sure * (g == n) + lost_tasks * (g == 0)
        of_truths *= np.prod([lost[t] if v == 2 else 1 - lost[t] for v, t in rows])
        rows = [(v, t) for v, t in rows if v < 2]
        alone = np.prod([(hit if v else 1 - hit) if t else (1 - right if v else right)
                         for v, t in rows])  # fmt: skip
        once = 0.0  # one draw for the good attempts, one for the bad ones
        for h, r in product((0, 1), repeat=2):
            fits = all(v == (h if t else 1 - r) for v, t in rows)
            once += fits * (hit if h else 1 - hit) * (right if r else 1 - right)
        total += of_truths * ((1 - again) * alone + again * once)
    return np.log(total)


@pytest.mark.parametrize("tells", [True, False])
def test_likelihood_is_the_sum_over_all_truths(tells):
    tasks = Tasks.of_cells(states(CELLS)[:, None], tells)
    expected = sum(by_hand(cells, POINT, tells) for cells in CELLS)
    assert log_likelihood(tasks, of_rates())[0] == pytest.approx(expected, abs=1e-10)
    some = Tasks.of_cells(LOST[:, None], tells)
    expected = sum(by_hand(cells, {**POINT, **dict(UNPARSED)}, tells) for cells in LOST)
    assert log_likelihood(some, of_rates(*UNPARSED))[0] == pytest.approx(expected, abs=1e-10)


def test_tasks_are_apart_though_as_many_of_their_attempts_are_good():
    known = [[[1, 0], [0, 1], [0, 0]], [[0, 1], [1, 0], [0, 0]]]
    expected = sum(by_hand(np.array(cells), POINT) for cells in known)
    tasks = Tasks.of_cells(states(np.array(known))[:, None], True)
    assert log_likelihood(tasks, of_rates())[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.slow
def test_likelihood_of_two_agents_is_integrated_over_what_they_share():
    cells = np.stack([CELLS, CELLS[::-1]], axis=1)
    shared = 0.35
    point = [(name, [POINT[name]] * 2) for name in POINT if name != "persistence"]
    found = log_likelihood(Tasks.of_cells(states(cells), True),
                           of_rates(*point, ("shared_difficulty", shared)))[0]  # fmt: skip
    z = np.linspace(-8, 8, 4001)
    means = ndtr((ndtri(0.6) + np.sqrt(shared) * z) / np.sqrt(1 - shared))
    expected = 0.0
    for first, second in zip(CELLS, CELLS[::-1], strict=True):
        both = [sum(by_hand(own, {**POINT, "prevalence": m}) for own in (first, second))
                for m in means[::20]]  # fmt: skip
        density = np.exp(-(z[::20] ** 2) / 2) / np.sqrt(2 * np.pi)
        expected += np.log(np.trapezoid(np.exp(both) * density, z[::20]))
    assert found == pytest.approx(expected, abs=1e-5)


def test_powers_are_unbiased():
    """E C(c, k)/C(n, k) = p^k, of binomial c."""
    p, n = 0.37, 6
    chance = np.array([comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    for k in range(1, n + 1):
        assert chance @ unbiased(np.arange(n + 1), n, k) == pytest.approx(p**k)
    assert not unbiased(2, 3, 4)


def test_corrected_form_is_exact_on_expected_counts():
    """Tasks as common as the judge's passes make them: the polynomial gives back the powers."""
    hit, right, n = 0.9, 0.7, 4
    cells, weights = [], []
    for p in (0.2, 0.8):
        q = p * hit + (1 - p) * (1 - right)
        for c in range(n + 1):
            cells.append([[0, 0], [0, 0], [n - c, c]])
            weights.append(comb(n, c) * q**c * (1 - q) ** (n - c) / 2)
    times = np.round(np.array(weights) * 1_000_000).astype(int) // 10  # tasks of each kind
    rows = np.array(cells)
    sums = {name: (one * times).sum(axis=-1, keepdims=True)
            for name, one in _sums(rows, (1, 2, 4)).items()}  # fmt: skip
    sums["labels"] = np.array([[700.0], [300.0], [100.0], [900.0]])
    asked = of_cells([[[1, 0], [0, 1], [0, 0]]])
    never, always = _corrected(sums, asked)
    for k, at_least, every in zip((1, 2, 4), never, always, strict=True):
        assert every[0] == pytest.approx((0.2**k + 0.8**k) / 2, abs=2e-4)
        assert at_least[0] == pytest.approx(1 - (0.8**k + 0.2**k) / 2, abs=2e-4)


def test_the_error_of_a_difference_leaves_out_one_task_after_another():
    """By hand, of tasks of which some have the same counts, and one is tried by one agent alone."""
    rng = np.random.default_rng(5)
    drawn = rng.poisson([[3, 1], [1, 3], [2, 2]], (12, 2, 3, 2))
    cells = np.repeat(drawn, rng.integers(1, 3, 12), axis=0)
    cells[-1, 1] = 0
    names, agents = [f"t{i}" for i in range(len(cells))], ["a", "b"]

    def difference(rows):
        kept = [names[i] for i in rows]
        made = module.paired(module.Attempts(cells[rows], kept, agents, "random", k=(1, 2)))
        return made.quantities["pass_hat_k_difference"]

    every, n = np.arange(len(cells)), len(cells) - 1
    found = difference(every)
    without = np.array([difference(np.delete(every, i)).value for i in every[:-1]])
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = stdtrit(n - 1, 0.975) * error
    assert np.ravel(found.high) == pytest.approx(np.ravel(found.value + half))
    assert np.ravel(found.low) == pytest.approx(np.ravel(found.value - half))


def test_a_perfect_judge_leaves_its_number():
    data = of_cells([[[2, 0], [0, 2], [0, 0]], [[0, 0], [0, 4], [0, 0]], [[3, 0], [0, 1], [0, 0]]])
    made = [make(data) for make in (module.by_judge, module.corrected, module.from_truths)]
    for quantity, at, row in made[0].rows():
        for other in made[1:]:
            assert other[(quantity, *at.values())].value == pytest.approx(row.value)


def test_rates_by_verdict_are_those_of_all_attempts():
    """Labels on half of the passes and a quarter of the fails tell the rates of all."""
    every = np.array([[[40, 10], [20, 80], [0, 0]]])
    bad, good, _ = every[0]
    labelled = [[bad[0] // 4, bad[1] // 2], [good[0] // 4, good[1] // 2]]
    rest = np.array([60, 90]) - np.sum(labelled, axis=0)
    cells = np.array([[*labelled, rest]])
    with refused(100, id="too-many-attempts"):
        of_cells(cells, "by_verdict")
    few = of_cells([[[1, 0], [0, 1], [0, 0]]], "by_verdict")
    sums = {name: one.sum(axis=-1, keepdims=True) for name, one in _sums(cells, (1,)).items()}
    hit, right = _rates(sums, few)
    assert hit[0] == pytest.approx(0.8, abs=0.005)
    assert right[0] == pytest.approx(0.8, abs=0.01)


@pytest.mark.slow
def test_one_attempt_a_task_is_prevalence():
    rows = [([[1, 0], [0, 0], [0, 0]], 14), ([[0, 1], [0, 0], [0, 0]], 5),
            ([[0, 0], [1, 0], [0, 0]], 4), ([[0, 0], [0, 1], [0, 0]], 27),
            ([[0, 0], [0, 0], [1, 0]], 60), ([[0, 0], [0, 0], [0, 1]], 90)]  # fmt: skip
    cells = np.concatenate([np.repeat([cell], n, axis=0) for cell, n in rows])
    found = module.exact(of_cells(cells)).estimate()["pass_hat_k", 1]
    counts = bj.prevalence.Counts(150, 90, 31, 27, 19, 14, calibration="random")
    expected = bj.prevalence.exact(counts, interval="eti")["prevalence"]
    sd = (expected.high - expected.low) / 4
    for one, other in zip(found, expected, strict=True):
        assert abs(one - other) < 0.12 * sd  # a quantile of some 4,000 draws


@pytest.mark.slow
def test_all_attempts_labelled_need_no_judge():
    """A judge that guesses adds nothing where every truth is known."""
    rng = np.random.default_rng(3)
    passes = rng.binomial(4, rng.beta(0.8, 1.2, 60))
    sure = of_cells([[[4 - c, 0], [0, c], [0, 0]] for c in passes])
    noisy = of_cells([[[(4 - c) - (4 - c) // 2, (4 - c) // 2], [c // 3, c - c // 3], [0, 0]]
                      for c in passes])  # fmt: skip
    one, other = (module.exact(data).estimate()["pass_hat_k", 4] for data in (sure, noisy))
    assert np.allclose(one, other, atol=0.012)
    assert sure.known


@pytest.mark.slow
def test_labels_by_truth_do_not_tell_the_success():
    """Twice as many labelled good attempts move nothing but the rates."""
    rng = np.random.default_rng(4)
    table = module.simulate(prevalence=(0.5,), labels=0, random_seed=rng).assign(truth=None)
    good = pd.DataFrame({"task": [f"x{i}" for i in range(80)], "verdict": [1] * 72 + [0] * 8,
                         "truth": 1})  # fmt: skip
    bad = pd.DataFrame({"task": [f"y{i}" for i in range(40)], "verdict": [0] * 32 + [1] * 8,
                        "truth": 0})  # fmt: skip
    rows = pd.concat([table, good, bad], ignore_index=True)
    found = module.exact(Attempts.from_frame(rows, calibration="separate")).estimate()
    assert found["pass_hat_k", 1].low < 0.5 < found["pass_hat_k", 1].high
    as_random = module.exact(Attempts.from_frame(rows, calibration="random")).estimate()
    assert as_random["pass_hat_k", 1].value > found["pass_hat_k", 1].value


@pytest.mark.slow
def test_one_agent_twice_does_not_differ():
    one = module.simulate(prevalence=(0.5,), random_seed=5)
    both = pd.concat([one.assign(system="a"), one.assign(system="b")])
    data = Attempts.from_frame(both, by="system", calibration="random")
    closed = module.paired(data)
    assert closed["pass_hat_k_difference", "a", "b", 4].value == 0
    gaps = module.exact(data).differences()
    assert gaps["probability_better", "a", "b", 4].value == pytest.approx(0.5, abs=0.04)
    gap = gaps["pass_hat_k_difference", "a", "b", 4]
    assert abs(gap.value) < 0.01


@pytest.mark.slow
def test_persistence_is_said_to_be_unknown_and_known_with_two_labels():
    table = module.simulate(prevalence=(0.5,), labels=200, random_seed=6)
    one_each = table.assign(truth=table.truth.where(table.attempt == 1))
    for rows, unknown in ((table, False), (one_each, True)):
        data = Attempts.from_frame(rows, calibration="random")
        found = module.exact(data).estimate()
        assert (not data.labelled_twice) == unknown
        told = [c for c in found.cautions if c.id == "persistence-unknown"]
        assert bool(told) == unknown
        if unknown:
            low, high = told[-1].numbers["low"], told[-1].numbers["high"]
            assert abs(low - high) > 0.01
    # the prior is then the answer's width
    sure = PersistentErrors(persistence=bj.BetaPrior(1, 200))
    wide, narrow = (module.exact(Attempts.from_frame(one_each, calibration="random"), m)
                    for m in (None, sure))  # fmt: skip
    assert narrow.values["persistence"].std() < 0.2 * wide.values["persistence"].std()


def test_cost_of_a_success_and_of_the_first_of_k():
    """Of sure outcomes: 1 + (1 - p) tries at most two, each at the mean cost."""
    cells = [[[2, 0], [0, 2], [0, 0]], [[4, 0], [0, 0], [0, 0]], [[0, 0], [0, 4], [0, 0]]]
    data = of_cells(cells, k=(1, 2), cost=np.array([[4.0], [8.0], [4.0]]))
    made = module.cost_per_success(data)
    each, once, twice = 16 / 12, 0.5, (1 + 5 / 6 + 0) / 3
    assert made["cost_per_success", 1].value == pytest.approx(each / once)
    assert made["cost_per_success", 2].value == pytest.approx(each * (1 + 1 - once) / twice)


def test_a_number_that_is_missing_says_why():
    """More tries than attempts, a judge that guesses, and a success that no task or one has."""
    guess = [[[1, 1], [1, 1], [0, 0]]] * 4
    costs = np.ones((4, 1))

    def why(make, cells, **more):
        return {one.id for one in make(of_cells(cells, **more)).cautions}

    assert why(module.corrected, guess, k=(1, 4)) == {"weak-judge"}
    assert why(module.by_judge, guess, k=(1, 8)) == {"few-attempts"}
    never, once = ([[[0, 0], [0, 4], [0, 0]]] * n + [[[4, 0], [0, 0], [0, 0]]] * (4 - n)
                   for n in (0, 1))  # fmt: skip
    assert why(module.cost_per_success, never, cost=costs) == {"not-computed"}
    assert why(module.cost_per_success, once, cost=costs) == {"not-computed"}
    assert why(module.cost_per_success, guess, cost=costs, k=(1, 8)) == {"few-attempts"}


def test_an_answer_is_of_the_most_tries_that_have_a_number():
    known = of_cells([[[3 - good, 0], [0, good], [0, 0]] for good in (3, 3, 2, 1, 0)], k=(1, 2, 8))
    found = module.answer(*module.closed_forms(known))
    assert np.isnan(found.quoted["pass_hat_k", 8].value)
    assert "every time in 2 tries" in found.text


@pytest.mark.slow
def test_more_tries_than_attempts_rest_on_the_shape():
    table = module.simulate(prevalence=(0.5,), tasks=12, labels=24, random_seed=1)
    for k, few in ((4, False), (16, True)):
        data = Attempts.from_frame(table, calibration="random", k=k)
        found = {one.id for one in module.exact(data).estimate().cautions}
        assert ("few-attempts" in found) == few


@pytest.mark.slow
def test_draws_that_are_worth_little_have_no_number():
    table = module.simulate(tasks=12, labels=24, random_seed=1)
    data = Attempts.from_frame(table, by="system", calibration="random", k=(1, 4))
    poor = replace(module.exact(data), effective=10.0)
    gaps = poor.differences()
    assert np.isnan(gaps["probability_better", "agent 1", "agent 2", 4].value)
    assert [one.id for one in gaps.cautions] == ["no-quadrature"]
    assert "better" not in str(module.answer(poor, module.by_judge(data)))
    with pytest.raises(bj.InputError, match="worth 10 draws"):
        module.tasks_needed(poor, k=4, half_width=0.1)


def test_one_point_with_all_weight_is_no_answer(monkeypatch):
    def weighed(density, centre, root, n, seed):
        weights = np.full(n, 1e-30)
        weights[7] = 1.0
        return centre + np.zeros((n, len(centre))), weights

    monkeypatch.setitem(module.exact.__globals__, "weighed_points", weighed)
    posterior = module.exact(of_cells(CELLS))
    assert not posterior.holds
    assert np.isnan(posterior.estimate()["pass_hat_k", 1].value)


def many():
    """Verdicts of 68 can be shared out in 1,190 ways at most: of 30 such tasks too many terms."""
    passes = np.arange(19, 49)
    cells = np.tile([[5, 1], [1, 5], [68, 0]], (30, 1, 1))
    cells[:, 2] = np.column_stack([68 - passes, passes])
    return of_cells(cells, k=(1, 4))


def test_tasks_that_differ_too_much_are_left_to_closed_forms():
    data = many()
    posterior = module.exact(data)
    assert not posterior.holds
    assert not data.can_be_weighed
    of_model, of_form = posterior.estimate(), module.corrected(data)
    assert np.isnan(of_model["pass_hat_k", 4].value)
    for made in (of_model, of_form):
        (told,) = (one for one in made.cautions if one.id == "no-quadrature")
        assert told.numbers == {"tasks": 30}
    assert module.answer(*module.closed_forms(data), of_model).known
    with refused(30, id="many-tasks"):
        module.fit(data)
    fewer = of_cells(data.cells[:5, 0], k=(1, 4))
    assert fewer.can_be_weighed
    assert not [one for one in module.corrected(fewer).cautions if one.id == "no-quadrature"]


@pytest.mark.parametrize("agents", [1, 2])
def test_numbers_of_a_density_are_counted_before_they_are_made(agents, monkeypatch):
    data = Attempts.from_frame(module.simulate(prevalence=(0.6, 0.4)[:agents], random_seed=1),
                               calibration="random", by="system")  # fmt: skip
    tasks = Tasks.of_cells(data.states, True)
    numbers = 6 * sum(len(one.task) for one in tasks.terms)
    numbers += len(tasks.times) * agents * (21 if agents > 1 else 1)
    for most, few in ((numbers, True), (numbers - 1, False)):
        monkeypatch.setattr("bayesjudge.attempts._likelihood.MOST_NUMBERS", most)
        assert can_be_weighed(data.states, PLAIN) is few


@pytest.mark.slow
def test_tasks_needed_have_the_width_that_was_asked_for():
    data = Attempts.from_frame(module.simulate(prevalence=(0.5,), random_seed=1),
                               calibration="random")  # fmt: skip
    posterior = module.exact(data)
    plan = module.tasks_needed(posterior, k=2, half_width=0.05, attempts=(2, 8))
    assert plan.tasks.is_monotonic_decreasing
    assert (plan.tasks >= plan.floor).all()
    # by simulation: variance of the unbiased estimate of one task
    rng = np.random.default_rng(1)
    draws = {name: one[:400, 0] for name, one in posterior.values.items() if one.ndim == 2}
    weight = 1 / draws["task_correlation"] - 1
    sure, never, mean = mixed_of(draws)
    p = rng.beta(mean * weight, (1 - mean) * weight, (400, 400))
    kind = rng.random(p.shape)
    p = np.where(kind < sure, 1.0, np.where(kind > 1 - never, 0.0, p))
    for n, tasks in zip(plan.attempts, plan.tasks, strict=True):
        spread = unbiased(rng.binomial(n, p), n, 2).var(axis=0).mean()
        assert tasks == pytest.approx((1.96 / 0.05) ** 2 * spread, rel=0.03)


@pytest.mark.slow
def test_answer_quotes_truths_where_all_are_known_and_the_model_elsewhere():
    table = module.simulate(random_seed=2)
    data = Attempts.from_frame(table, by="system", calibration="random", k=(1, 4))
    found = module.answer(module.exact(data), *module.closed_forms(data))
    assert found.method == methods.EXACT_ATTEMPTS
    assert "he judge says" in str(found)
    assert "better than" in str(found)
    once = found.quoted["pass_hat_k", "agent 1", 1]
    assert f"agent 1 does {100 * once.value:.0f} in one try" in str(found)
    assert found.value["agent 1, 4"] == found.quoted["pass_hat_k", "agent 1", 4].value
    plain = module.answer(*module.closed_forms(data))
    assert plain.method == methods.CORRECTED_TRIES
    truths = table.assign(truth=table.verdict)
    known = Attempts.from_frame(truths, verdict=None, by="system", k=(1, 4))
    assert module.answer(*module.closed_forms(known)).method == methods.TRUE_TRIES
    assert not known.judged


@pytest.mark.slow
def test_tables_are_read_with_all_problems_named():
    table = pd.DataFrame({"task": ["a", "a", "b"], "n": [1, 1, 1], "verdict": [1, None, 0],
                          "truth": [1, None, 0], "cost": [1, 2, 3]})  # fmt: skip
    with refused("task", subject="table"):
        Attempts.from_frame(table, calibration="random", attempt="n")
    with pytest.raises(bj.InputError, match="unparsed='fail'"):
        Attempts.from_frame(table, calibration="random")
    kept = Attempts.from_frame(table, calibration="random", unparsed="fail", cost="cost")
    assert kept.cells.sum() == 3
    assert kept.cost[:, 0].tolist() == [3, 3]
    state = Attempts.from_frame(table, calibration="random", unparsed="verdict", cost="cost")
    assert (state.cells == kept.cells).all()
    assert state.unparsed[:, 0].tolist() == [[0, 0, 1], [0, 0, 0]]
    assert state.states[0, 0].tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    told = Attempts.from_frame(table.assign(truth=1), calibration="random", unparsed="verdict")
    assert not told.labelled_twice  # task a has two labelled attempts, one of them with a verdict
    assert state.system("agent").without_verdict == ", 1 without a verdict"
    with refused(id="among-fails"):
        Attempts(kept.cells, kept.tasks, ["agent"], "random", unparsed=[[[1, 1, 1]], [[0, 0, 0]]])
    with refused("verdict=", "unparsed=", subject="column 'truth'"):
        Attempts.from_frame(table, verdict=None)
    with refused("fail", "drop", unparsed="verdict"):
        Attempts.from_frame(table, verdict=None, unparsed="verdict")
    with refused("verdict", "fail", "drop", unparsed="keep"):
        Attempts.from_frame(table, calibration="random", unparsed="keep")
    dropped = Attempts.from_frame(table, calibration="random", unparsed="drop", cost="cost")
    assert dropped.cost[:, 0].tolist() == [1, 3]
    assert re.findall(r"\d+", repr(dropped)) == ["2", "2", "2", "1"]
    assert dropped.system("agent").dropped.tolist() == [1]
    for made in (module.corrected(dropped), module.exact(dropped).estimate()):
        (caution,) = [one for one in made.cautions if one.id == "unparsed-verdicts"]
        assert caution.numbers["n"] == 1
    assert Attempts.from_frame(table, calibration="random", unparsed="fail", k=2).k == (2,)
    with refused(-1, id="not-costs"):
        Attempts.from_frame(table.assign(cost=-1), calibration="random", unparsed="fail",
                            cost="cost")  # fmt: skip
    with refused(id="no-truth"):
        Attempts.from_frame(table.assign(truth=None), calibration="random", unparsed="fail")
    with refused(np.inf, id="not-costs"):
        Attempts.from_frame(table.assign(cost=np.inf), calibration="random", unparsed="fail",
                            cost="cost")  # fmt: skip
    with refused(k=(4, 2)):
        Attempts.from_frame(table, calibration="random", unparsed="fail", k=(4, 2))
    with pytest.raises(bj.InputError, match="pooling"):
        PersistentErrors(pooling="some")


@pytest.mark.slow
def test_closed_forms_take_what_two_people_said_alike_and_what_was_decided():
    table = pd.DataFrame({"task": list("aabb"), "verdict": [1, 0, 1, 1], "a": [1, 0, 1, None],
                          "b": [1, 1, None, None], "truth": [None, 0, None, None]})  # fmt: skip
    alike = Attempts.from_frame(table, calibration="random", truth=["a", "b"])
    one = Attempts.from_frame(table.assign(truth=[1, None, None, None]), calibration="random")
    assert (alike.cells == one.cells).all()
    assert alike.labelled_n == 3
    assert not alike.known
    decided = Attempts.from_frame(table, calibration="random", truth=["a", "b"],
                                  adjudicated="truth")  # fmt: skip
    one = Attempts.from_frame(table.assign(truth=[1, 0, None, None]), calibration="random")
    assert (decided.cells == one.cells).all()
    assert sorted(decided.kinds.tolist()) == [[-1, -1, -1], [-1, 1, -1], [-1, 1, 1], [0, 0, 1]]
    with refused("verdict=", subject="attempts.Attempts"):
        Attempts.from_frame(table, verdict=None, truth=["a", "b"])
    with refused(id="none-agree"):
        Attempts.from_frame(table.iloc[1:], calibration="random", truth=["a", "b"])
    for design in ("by_truth", "separate"):  # of how many such attempts are good nothing is known
        with refused("truth=", subject="attempts.Attempts"):
            Attempts.from_frame(table, calibration=design, truth=["a", "b"])


@pytest.mark.slow
def test_a_row_a_person_is_read_as_a_column_a_person():
    table = module.simulate(tasks=8, labels=20, errors=(0.1, 0.1), random_seed=1)
    table = table.drop(columns=["truth", "cost"])
    keys, names = ["system", "task", "attempt"], ["ann1", "ann2"]
    how = {"calibration": "random", "by": "system", "attempt": "attempt"}
    wide = Attempts.from_frame(table, truth=names, **how)
    by_person = table.melt([*keys, "verdict"], names, "who", "label")
    empty = by_person["label"].isna()
    by_person.loc[empty, "who"] = None
    rows = table.melt(keys, ["verdict", *names], "who", "label").dropna()
    for long in (by_person, rows):
        read = Attempts.from_frame(long, truth="label", rater="who", **how)
        for name in ("people", "tasks", "systems"):
            assert getattr(read, name) == getattr(wide, name)
        assert (read.cells == wide.cells).all()
        assert read.labelled_n == wide.labelled_n
    plain = how | {"attempt": None, "truth": "label"}
    with refused("attempt", "rater=", "who", subject="attempts.Attempts"):
        Attempts.from_frame(by_person, **plain)
    with refused("rater=", subject="table"):
        Attempts.from_frame(by_person, **how, truth="label")
    by_one = table.assign(who=table["ann1"].map({0: "x", 1: "x"}), score=table["verdict"] / 2)
    for each in (by_one, by_one.drop(columns="attempt"), by_one.dropna(subset="ann1")):
        Attempts.from_frame(each, **plain | {"truth": "ann1"})
    with refused("rater=", "attempt=", subject="attempts.Attempts"):
        Attempts.from_frame(rows, truth="label", rater="who", by="system", calibration="random")
    with refused("cost=", "rater=", subject="attempts.Attempts"):
        Attempts.from_frame(rows.assign(cost=1), truth="label", rater="who", cost="cost", **how)


def test_what_people_said_is_asked_for_where_a_table_is_made_by_hand():
    table = pd.DataFrame({"task": list("ab"), "verdict": [1, 0], "a": [1, 0], "b": [1, 1]})
    right = Attempts.from_frame(table, calibration="random", truth=["a", "b"])
    about = (right.cells, right.tasks, right.systems, "random")
    by_hand = {"people": right.people, "kinds": right.kinds, "states": right.states}
    assert Attempts(*about, **by_hand).labelled_n == right.labelled_n
    for wrong, match in (
        ({"kinds": None, "states": None}, "kinds="),
        ({"kinds": right.kinds[:, :2]}, "kinds"),
        ({"kinds": right.kinds + 1}, "kinds"),
        ({"states": 2 * right.states}, "states"),
        ({"states": right.states[:1]}, "states"),
    ):
        with pytest.raises(bj.InputError, match=match):
            Attempts(*about, **by_hand | wrong)


def test_a_task_with_more_ways_than_can_be_summed_is_refused():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 2, (90, 3)), columns=["verdict", "a", "b"])
    with refused(50_000, subject="attempts.Attempts"):
        Attempts.from_frame(table.assign(task=1), calibration="random", truth=["a", "b"])
    few = Attempts.from_frame(table.assign(task=table.index // 9), calibration="random",
                              truth=["a", "b"])  # fmt: skip
    assert len(few.tasks) == 10


KINDS = np.array([[-1, -1, -1], [-1, 1, 0], [-1, 1, -1], [1, 0, 1]])
PEOPLE = ("person_sensitivity", [[0.95, 0.8]]), ("person_specificity", [[0.9, 0.85]])


@pytest.mark.parametrize("tells", [True, False])
def test_likelihood_of_several_people_is_the_sum_over_what_they_may_have_seen(tells):
    """Each truth of each attempt with a label, times what people say of it."""
    cells = states(np.random.default_rng(4).integers(0, 2, (4, 4, 2)))
    (_, (hits,)), (_, (rights,)) = PEOPLE
    expected = 0.0
    for task in cells:
        labelled = [(k, v) for k in (1, 2, 3) for v in (0, 1) for _ in range(task[k, v])]
        total = 0.0
        for truths in product((0, 1), repeat=len(labelled)):
            known, chance = np.zeros((3, 3), int), 1.0
            known[2] = task[0]
            for (kind, verdict), truth in zip(labelled, truths, strict=True):
                known[truth, verdict] += 1
                chance *= KINDS[kind, 0] in (-1, truth)
                for said, hit, right in zip(KINDS[kind, 1:], hits, rights, strict=True):
                    passes = hit if truth else 1 - right
                    chance *= {1: passes, 0: 1 - passes, -1: 1.0}[int(said)]
            total += chance * np.exp(by_hand(known, POINT, tells))
        expected += np.log(total)
    tasks = Tasks.of_cells(cells[:, None], tells, KINDS)
    found = log_likelihood(tasks, of_rates() | {n: np.array(v) for n, v in PEOPLE})[0]
    assert found == pytest.approx(expected, abs=1e-10)


SAID = np.array([[-1, -1, -1], *([-1, *said] for said in product((0, 1), repeat=2))])


@pytest.mark.parametrize(
    ("kinds", "tells", "groups"), [(SAID, True, 1), (PLAIN, True, 1), (PLAIN, False, 3)]
)
def test_tasks_that_could_have_been_each_other_have_probability_one(kinds, tells, groups):
    """Of two labelled attempts and one without; given truths that do not tell the success."""
    known = (kinds != -1).any(axis=1)
    cells = []
    for pair in combinations_with_replacement(product(np.flatnonzero(known), (0, 1)), 2):
        for verdict in (0, 1):
            task = np.zeros((len(kinds), 3), int)
            for kind, said in (*pair, (np.flatnonzero(~known)[0], verdict)):
                task[kind, said] += 1
            cells.append(task)
    tasks = Tasks.of_cells(np.array(cells)[:, None], tells, kinds)
    values = of_rates() | ({n: np.array(v) for n, v in PEOPLE} if kinds is SAID else {})
    group, orders, _ = tasks.replicable(tells)
    chance = np.exp(by_pattern(tasks, values)[0]) * orders[: len(cells)]
    assert np.bincount(group[: len(cells)], chance) == pytest.approx(np.ones(groups), abs=1e-10)


def test_people_who_never_err_are_the_truth():
    table = module.simulate(prevalence=(0.5,), errors=(0, 0), tasks=12, labels=20, random_seed=3)
    plain = Attempts.from_frame(table, calibration="random")
    people = Attempts.from_frame(table, calibration="random", truth=["ann1", "ann2"])
    sure = {f"person_{rate}": np.full((1, 2), 1 - 1e-13) for rate in ("sensitivity", "specificity")}
    assert (people.cells == plain.cells).all()
    with_labels = Tasks.of_cells(people.states, True, people.kinds)
    without = log_likelihood(Tasks.of_cells(plain.states, True), of_rates())
    assert log_likelihood(with_labels, of_rates() | sure) == pytest.approx(without, abs=1e-10)


@pytest.mark.slow
def test_one_attempt_a_task_with_people_is_prevalence_with_people():
    """No task says anything of another attempt: the share that is good, and everybody's rates."""
    table = bj.prevalence.people.simulate(items=200, labelled=150, random_seed=1)
    how = {"calibration": "random", "truth": ["ann1", "ann2"]}
    made = module.exact(Attempts.from_frame(table.assign(task=table.index), **how)).estimate()
    flat = bj.prevalence.people.PeopleErrors(prevalence=bj.BetaPrior())
    other = bj.prevalence.exact(bj.prevalence.people.PeopleCounts.from_frame(table, **how), flat)
    for ours, theirs in {
        ("prevalence",): ("prevalence",),
        ("people_pass",): ("people_pass",),
        ("person_sensitivity", "ann2"): ("sensitivity", "ann2"),
        ("person_specificity", "ann1"): ("specificity", "ann1"),
    }.items():
        row, expected = made[ours], other[theirs]
        sd = (expected.high - expected.low) / 4
        assert abs(row.value - expected.value) < 4 * sd / np.sqrt(1000), ours


@pytest.mark.slow
def test_one_person_s_slips_are_not_the_agent_s():
    """pass^4 of six tables: taken as right, 10 % of wrong labels make it too low."""
    rng, off = np.random.default_rng(6), {"people": [], "one": []}
    for _ in range(6):
        table = module.simulate(prevalence=(0.85,), errors=(0.1, 0.1), tasks=60, labels=160,
                                persistence=0.0, always=0.5, random_seed=rng)  # fmt: skip
        for name, truth in (("people", ["ann1", "ann2"]), ("one", "ann1")):
            data = Attempts.from_frame(table, calibration="random", truth=truth, k=(1, 4))
            off[name].append(module.exact(data).estimate()["pass_hat_k", 1].value - 0.85)
    assert abs(np.mean(off["people"])) < 0.03
    assert np.mean(off["one"]) < -0.05


@pytest.mark.slow
def test_attempts_without_a_verdict_are_a_state_of_their_own():
    """Rates are found again; dropping such attempts, most of them bad, is wrong by far."""
    table = module.simulate(prevalence=(0.5,), unparsed=(0.05, 0.4), persistence=0.6, tasks=300,
                            labels=500, random_seed=1)  # fmt: skip
    made = {}
    for way in ("verdict", "fail", "drop"):
        data = Attempts.from_frame(table, calibration="random", unparsed=way, k=(1, 4))
        made[way] = module.exact(data).estimate()
    state = made["verdict"]
    truths = {"unparsed_good": 0.05, "unparsed_bad": 0.4, "sensitivity": 0.9, "specificity": 0.8,
              "persistence": 0.6, "prevalence": 0.5}  # fmt: skip
    for name, truth in truths.items():
        row = state[name]
        assert abs(row.value - truth) < 3.5 * (row.high - row.low) / 4, name
    assert made["drop"]["prevalence"].low > 0.52
    assert made["fail"]["persistence"].high < 0.6  # a lost verdict looks like an error anew
    assert "unparsed-alone" in {one.id for one in state.assumptions}


def test_tasks_that_are_all_alike_have_an_interval_of_as_many_tasks():
    """Their values do not scatter, which is chance: the interval is Wilson's, of four tasks."""
    row = module.from_truths(of_cells([[[1, 0], [0, 1], [0, 0]]] * 4, k=(1,)))["pass_hat_k", 1]
    assert row.value == pytest.approx(0.5)
    assert 0.0 < row.low < 0.2
    assert 0.8 < row.high < 1.0


def test_model_sums_to_one_over_all_numbers_of_passes():
    """pass^k and pass@k of the population are those of its Beta distribution and its two ends."""
    at_k, hat_k = chances(of_rates(), (1, 3))
    weight = 1 / 0.3 - 1
    sure, never, mean = mixed_of(POINT)
    a, b, rest = mean * weight, (1 - mean) * weight, 1 - sure - never
    assert hat_k[0, 0, 0] == pytest.approx(at_k[0, 0, 0]) == pytest.approx(0.6)
    powers = rest * np.exp(betaln([a + 3, a], [b, b + 3]) - betaln(a, b)) + [sure, never]
    assert hat_k[0, 0, 1] == pytest.approx(powers[0])
    assert at_k[0, 0, 1] == pytest.approx(1 - powers[1])


@pytest.mark.slow
def test_a_bump_of_tasks_that_are_always_done_is_held():
    """Twenty times tau-bench's airline tasks, outcomes known: pass^4 is .2."""
    table = datasets.tau_bench_airline()
    cells = Attempts.from_frame(table, verdict=None, truth="success", attempt="trial").cells[:, 0]
    posterior = module.exact(of_cells(np.tile(cells, (20, 1, 1)), k=(1, 4), judged=False))
    assert posterior.chance("pass_hat_k", 4).mean() == pytest.approx(0.2, abs=0.01)
    assert posterior.chance("pass_hat_k", 1).mean() == pytest.approx(0.42, abs=0.01)


def test_tau_bench_airline():
    """50 tasks of four trials: unbiased .200, where usual formulas say .239 and .031."""
    table = datasets.tau_bench_airline()
    data = Attempts.from_frame(table, verdict=None, truth="success", attempt="trial")
    found = module.from_truths(data)
    assert found["pass_hat_k", 4].value == pytest.approx(0.2)
    assert found["pass_hat_k", 1].value == pytest.approx(0.42)
    assert found["pass_hat_k", 4].low == pytest.approx(0.11, abs=0.005)
    share = data.cells[:, 0, 1, 1] / 4
    assert (share**4).mean() == pytest.approx(0.239, abs=5e-4)
    assert share.mean() ** 4 == pytest.approx(0.031, abs=5e-4)


@pytest.mark.own_model
@pytest.mark.sampling
def test_importance_sampling_is_nuts(fit_of):
    _agree(fit_of(next(one for one in MODULES if one.name == "attempts")))


@pytest.mark.study  # the graph is held against the likelihood by the contract
def test_importance_sampling_is_nuts_with_attempts_without_a_verdict():
    table = module.simulate(prevalence=(0.5,), unparsed=(0.05, 0.3), tasks=30, random_seed=2)
    _agree(sampled(Attempts.from_frame(table, calibration="random", unparsed="verdict", k=(1, 4))))


def sampled(data):
    return module.fit(data, draws=700, tune=700, chains=2, random_seed=1)


def _agree(fit):
    posterior = module.exact(fit.data)
    assert posterior.effective > 2000
    ours, mcse = posterior.estimate(), fit.diagnostics()["mcse_mean"]
    for quantity, at, row in fit.estimate().rows():
        entry = f"[{', '.join(map(str, at.values()))}]" if at else ""
        other = ours[quantity, *at.values()]
        error = (other.high - other.low) / 3.92 * np.sqrt(2 / posterior.effective)  # resampled
        assert abs(row.value - other.value) < 4 * np.hypot(mcse[quantity + entry], error)
    for name, one in posterior.values.items():
        assert fit.draws(name).std() == pytest.approx(one.std(), rel=0.12), name


@pytest.mark.study
def test_importance_sampling_is_nuts_with_people_who_err():
    table = module.simulate(prevalence=(0.6,), errors=(0.05, 0.1), tasks=30, labels=60,
                            random_seed=2)  # fmt: skip
    how = {"calibration": "random", "truth": ["ann1", "ann2"], "k": (1, 4)}
    data = Attempts.from_frame(table, **how)
    fit = sampled(data)
    _agree(fit)
    assert {"people_pass", "person_sensitivity"} <= {*fit.quantities}
    notes = module.answer(fit).notes  # what these people say, as of the exact answer
    assert len(notes) == len(module.answer(module.exact(data)).notes)


def test_an_agent_without_a_value_leaves_the_others_their_worth():
    """Of two labelled attempts the judge was wrong twice: through it there is no number."""
    counts = np.array([[[2, 0], [0, 2], [1, 3]], [[1, 1], [1, 0], [4, 5]]])
    places = np.repeat(np.arange(counts.size), counts.ravel())
    cells = np.zeros((len(places), *counts.shape), int)
    cells.reshape(len(places), -1)[np.arange(len(places)), places] = 1
    tasks = [f"t{i}" for i in range(len(places))]
    data = module.Attempts(cells, tasks, ["a", "b"], "random")
    made = module.closed_forms(data)
    through = next(one for one in made if np.isnan(one["pass_at_k", "b", 1].value))
    assert through["pass_at_k", "a", 1].value > 0
    assert module.answer(*made).text
