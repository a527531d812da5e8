"""Small, odd tables: a number with its reason, or a refusal; and what draws are of."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge import attempts as module
from bayesjudge.attempts import Attempts, PersistentErrors

pytestmark = pytest.mark.slow


def some_table(rng):
    """A few tasks of a few agents, many of them without an attempt or a label."""
    tasks, agents = int(rng.integers(1, 9)), int(rng.integers(1, 3))
    many = rng.choice([0, 0.3, 1.5], (1, agents, 3, 2))
    cells = rng.poisson(rng.random((tasks, agents, 3, 2)) * many)
    names = [f"t{i}" for i in range(tasks)], [f"a{i}" for i in range(agents)]
    return Attempts(cells, *names, str(rng.choice(["random", "by_truth", "by_verdict"])))


def test_odd_tables_have_numbers_with_reasons_or_are_refused():
    rng, answered = np.random.default_rng(11), 0
    for _ in range(12):
        try:
            data = some_table(rng)
        except bj.InputError:
            continue
        answered += 1
        made = [*module.closed_forms(data), module.exact(data).estimate()]
        module.answer(*made)
        for one in made:
            for quantity, at, row in one.rows():
                inside = row.low <= row.value <= row.high
                assert inside or (np.isnan(row.value) and one.cautions), (quantity, at, row)
    assert answered > 5


def test_three_agents_share_a_judge_if_they_are_to():
    table = module.simulate(prevalence=(0.7, 0.5, 0.3), tasks=30, labels=40, random_seed=1)
    data = Attempts.from_frame(table, by="system", calibration="random", k=(1, 4))
    one = module.exact(data, PersistentErrors(pooling="full"))
    assert one.values["sensitivity"].shape[1] == 1
    assert one.holds
    gaps = one.differences()
    pairs = {tuple(at.values())[:2] for _, at, _ in gaps.rows()}
    assert len(pairs) == 3
    sure = gaps["probability_better", "agent 1", "agent 3", 1].value
    assert sure > 0.97
    priors = dict.fromkeys(data.systems, bj.BetaPrior(9, 1))
    with refused(id="one-prior"):
        module.exact(data, PersistentErrors(sensitivity=priors, pooling="full"))


def test_tasks_that_are_seldom_done_are_those_of_the_distribution():
    table = module.simulate(prevalence=(0.4,), task_correlation=0.6, random_seed=2)
    posterior = module.exact(Attempts.from_frame(table, calibration="random"))
    rng = np.random.default_rng(1)
    weight = 1 / posterior.values["task_correlation"][:, 0] - 1
    share, always, never = (posterior.values[n][:, 0] for n in ("prevalence", "always", "never"))
    sure, none = always * share, never * (1 - share)
    mean = (share - sure) / (1 - sure - none)
    drawn = rng.beta(mean * weight, (1 - mean) * weight, (400, len(mean))) < 0.05
    expected = (1 - sure - none) * drawn.mean(axis=0) + none
    assert posterior.seldom().mean() == pytest.approx(expected.mean(), abs=0.003)


def test_a_table_without_a_common_task_has_nothing_shared():
    table = module.simulate(tasks=12, labels=24, random_seed=3)
    table["task"] = table["task"] + table["system"]
    data = Attempts.from_frame(table, by="system", calibration="random")
    assert not data.paired
    assert "shared_difficulty" not in module.exact(data).values


def test_agents_without_a_task_in_common_have_no_difference():
    table = module.simulate(tasks=12, random_seed=1)
    other = table[table["system"] == "agent 2"].assign(system="agent 3")
    other["task"] = other["task"] + " of another"
    data = Attempts.from_frame(pd.concat([table, other]), calibration="random", by="system")
    (paired,) = (e for e in module.closed_forms(data) if "pass_at_k_difference" in e)
    values = {at["second"]: row[0] for q, at, row in paired.rows() if at["first"] == "agent 1"}
    assert np.isfinite(values["agent 2"])
    assert np.isnan(values["agent 3"])
