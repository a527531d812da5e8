"""Judges side by side: against brute force, NUTS and the winner's curse."""

import numpy as np
import pytest
from conftest import study_but
from refusals import refused

from bayesjudge import Verdicts, judge
from bayesjudge.judge.selection import SPREAD, Scored, posterior


def drawn(seed, labels, shares, items=0.0):
    """Right or wrong of judges on outputs that share an effect; the truth is good."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, items, (labels, 1))
    right = rng.random((labels, len(shares))) < np.clip(shares + hard, 0, 1)
    truth = rng.integers(0, 2, labels)
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    return Verdicts(
        said, truth, np.zeros(labels), np.ones(labels), "random",
        judges=[f"p{i}" for i in range(len(shares))],
    )  # fmt: skip


def test_grid_and_a_sampled_posterior_agree():
    """Importance sampling from the prior of the spread, 400,000 draws."""
    scored = Scored(np.array([0.9, 0.84, 0.8]), 0.0006, 0.0008, 100)
    rng = np.random.default_rng(2)
    tau2 = np.abs(rng.normal(0, SPREAD, 400_000)) ** 2
    x = scored.observed - scored.observed.mean()
    log = -np.log(scored.alone + tau2) - (x**2).sum() / (2 * (scored.alone + tau2))
    weight = np.exp(log - log.max())
    shrink = (weight * tau2 / (tau2 + scored.alone)).sum() / weight.sum()
    found = posterior(scored)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert found.mean(axis=0) == pytest.approx(0.8466667 + shrink * x, abs=4 * error.max())


def test_two_judges_paired():
    """Much data: the difference and its error are those of McNemar's table."""
    verdicts = drawn(1, 4000, np.array([0.85, 0.8]), items=0.1)
    found = judge.select(verdicts)
    right = verdicts.response == verdicts.truth[:, None]
    gap = right[:, 0].astype(float) - right[:, 1]
    n = verdicts.count
    mean = (n * gap).sum() / n.sum()
    error = np.sqrt(((n * gap**2).sum() / n.sum() - mean**2) / n.sum())
    row = found["difference", "p0", "p1"]
    assert row.value == pytest.approx(mean, abs=0.3 * error)
    assert row.high - row.low == pytest.approx(2 * 1.96 * error, rel=0.05)
    assert found["p_better", "p0", "p1"].value > 0.99
    assert found["p_best", "p0"].value > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([60, 150], 60))
def test_the_best_of_many_is_not_as_good_as_it_looks(runs):
    """Twelve prompts that are alike, 40 labels: shrunk values are right on average."""
    looks, told = [], []
    for seed in range(runs):
        found = judge.select(drawn(seed, 40, np.full(12, 0.8)))
        observed = found.quantities["observed"].value
        best = observed.argmax()
        looks.append(observed[best] - 0.8)
        told.append(found.quantities["accuracy"].value[best] - 0.8)
    error = np.std(told) / np.sqrt(runs)
    assert np.mean(looks) > 0.07
    assert abs(np.mean(told)) < 0.02 + 3 * error


def test_youden_takes_labels_by_truth_and_accuracy_does_not():
    verdicts = drawn(3, 300, np.array([0.9, 0.7]))
    by_truth = Verdicts(
        verdicts.response, verdicts.truth, verdicts.group, verdicts.count, "by_truth",
        judges=verdicts.judges,
    )  # fmt: skip
    with refused("measure=", subject="judge.select"):
        judge.select(by_truth)
    found = judge.select(by_truth, measure="youden")
    quality = judge.quality(by_truth)
    observed = found["observed", "p0"].value
    assert observed == pytest.approx(quality["youden", "p0"].value)
    assert found["p_better", "p0", "p1"].value > 0.99


def test_labels_needed_fall_with_the_difference_and_outputs_are_told():
    near = judge.select(drawn(4, 200, np.array([0.84, 0.8])))
    far = judge.select(drawn(4, 200, np.array([0.95, 0.7])))

    def needed(found):
        return found.quantities["labels_needed"].value[0]

    assert needed(far) < 200 < needed(near)
    labels = 100 * np.ceil(needed(near) / 100)  # two digits, upwards
    assert any(f"{labels:,.0f} labels" in n for n in judge.answer(judge.quality(near.data)).notes)
    verdicts = drawn(5, 50, np.array([0.9, 0.7]))
    response = verdicts.response.copy()
    response[0, 0] = -1
    some = Verdicts(
        response, verdicts.truth, verdicts.group, verdicts.count, "random", judges=("a", "b")
    )
    assert [c.id for c in judge.select(some).cautions] == ["judged-by-some"]
    with refused("verdict=", subject="judge.select"):
        judge.select(Verdicts([1, 0], [1, 0], [0, 0], [5, 5], "random"))


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([200, 1000], 200))
def test_as_many_labels_decide_as_often_as_said(runs):
    """New outputs of two judges that differ by as much: .8 of runs know which is better."""
    found = judge.select(drawn(6, 4000, np.array([0.86, 0.78])))
    labels = int(found["labels_needed", "p0", "p1"].value)
    shares = 0.82 + found["difference", "p0", "p1"].value * np.array([0.5, -0.5])
    again = [judge.select(drawn(100 + seed, labels, shares)) for seed in range(runs)]
    sure = [one.quantities["p_better"].value[0] >= 0.975 for one in again]
    assert np.mean(sure) == pytest.approx(0.8, abs=0.02 + 3 * np.sqrt(0.16 / runs))


@pytest.mark.sampling
def test_nuts_agrees_with_the_grid():
    """The model of the docstring in PyMC: item effects, judges and residuals, one spread."""
    import arviz as az
    import pymc as pm

    scored = Scored(np.array([0.9, 0.84, 0.8, 0.78]), 0.0006, 0.0, 100)
    with pm.Model():
        tau = pm.HalfNormal("tau", SPREAD)
        mu = pm.Flat("mu")
        z = pm.Normal("z", shape=4)
        a = pm.Deterministic("a", mu + tau * z)
        pm.Normal("seen", a, np.sqrt(scored.alone), observed=scored.observed)
        idata = pm.sample(
            1000, tune=1000, chains=2, cores=1, random_seed=1, progressbar=False,
            target_accept=0.95, initvals={"mu": 0.8},
        )  # fmt: skip
    found = posterior(scored)
    draws = idata.posterior["a"].to_numpy().reshape(-1, 4)
    error = draws.std(axis=0) / np.sqrt(az.ess(idata, var_names="a")["a"].to_numpy())
    assert np.all(np.abs(draws.mean(axis=0) - found.mean(axis=0)) < 5 * error)
    assert draws.std(axis=0) == pytest.approx(found.std(axis=0), rel=0.1)
