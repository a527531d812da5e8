"""The likelihood of votes, truths and a shared effect summed out, against a sum over items."""

import numpy as np
import pytest
from contract import gaps_between
from numpy.testing import assert_allclose
from pytensor import function
from scipy.special import log_expit, logsumexp

import bayesjudge as bj
from bayesjudge.panel import Correlated, MulticlassDawidSkene, Votes
from bayesjudge.truth.likelihood import group_of_shares

NODES, JUDGES, GENERATORS = 5, 3, 2
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def votes_of(classes, calibration="random", *, twice=False, size=60):
    """Votes of three judges, the first of whom may have voted twice; a third is labelled."""
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, size)
    right = rng.random((size, JUDGES + twice)) < 0.7
    votes = np.where(right, truth[:, None], rng.integers(0, classes, right.shape))
    votes[rng.random(votes.shape) < 0.2] = -1
    known = rng.random(size) < 1 / 3
    more = {"judge_of_column": np.array([0, 0, 1, 2])} if twice else {}
    names = "lmh"[:classes] if classes > 2 else ("fail", "pass")
    return Votes(
        votes, np.where(known, truth, -1), np.arange(size) % GENERATORS, ("g", "h"), "abc",
        classes=tuple(names), calibration=calibration, **more,
    )  # fmt: skip


def by_items(votes, table, log_share, log_weight):
    """Add up items in logarithms; `table` is by judge, class, response and node."""
    total, none = 0.0, table.shape[2] == votes.n_classes + 1
    for given, truth, generator, count in zip(
        votes.votes, votes.truth, group_of_shares(votes.verdicts), votes.count, strict=True
    ):
        by_node = np.zeros((votes.n_classes, table.shape[-1])) + log_weight
        for judge, vote in zip(votes.judge_of_column, given, strict=True):
            if vote >= 0 or none:
                by_node = by_node + table[judge, :, vote]
        by_class = logsumexp(by_node, axis=1) + log_share[generator]
        total += count * (logsumexp(by_class) if truth < 0 else by_class[truth])
    return total


def summed(votes, table, log_share, log_weight):
    """The same of the generators' shares alone: labels that tell none of them have a share of 1."""
    untold = np.zeros((1, votes.n_classes))
    return by_items(votes, table, np.concatenate([log_share, untold]), log_weight)


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("calibration", ["random", "separate"])
@pytest.mark.parametrize("kind", ["ordinary", "sure judges", "very dependent", "no bad items"])
def test_a_shared_effect_is_summed_out_of_each_item(kind, calibration):
    votes, rng = votes_of(2, calibration, twice=True), np.random.default_rng(0)
    parts, spread = rng.normal(size=(2, JUDGES)), np.array([0.4, 1.3])
    if kind == "sure judges":
        parts *= 3
    if kind == "very dependent":
        spread = np.array([150.0, 80.0])
    share = np.array([0.3, 0.8]) if kind != "no bad items" else np.array([1 - 1e-12, 1e-12])
    answering = rng.uniform(0.2, 0.9, (JUDGES, 2))
    half = np.exp(parts[0]) / 2
    logits = np.stack([parts[1] - half, parts[1] + half], axis=1)
    at = logits[..., None] + spread[:, None] * POINTS
    table = np.stack([log_expit(-at), log_expit(at), np.zeros_like(at)], axis=2)
    table[:, :, :2] += np.log(answering)[..., None, None]
    table[:, :, 2] += np.log1p(-answering)[..., None]
    draws = {"discrimination": parts[:1], "leniency": parts[1:], "shared_effect": spread[None]}
    draws |= {"prevalence": share[None], "answering": answering[None]}
    model = Correlated(nodes=NODES, answering=bj.BetaPrior(1, 1))
    log_share = np.log(np.stack([1 - share, share], axis=1))
    found = model._log_likelihood_of_items(votes, draws)[0] @ votes.count
    assert_allclose(found, summed(votes, table, log_share, np.log(WEIGHTS)), rtol=1e-10)


@pytest.mark.parametrize("calibration", ["random", "separate"])
@pytest.mark.parametrize("sure", [False, True])
def test_truths_of_several_classes_are_summed_out_of_each_item(sure, calibration):
    votes, rng = votes_of(3, calibration, twice=True), np.random.default_rng(1)
    rows = rng.dirichlet(np.full(3, 0.02 if sure else 1.0), (JUDGES, 3))  # judge, class, response
    rows = np.maximum(rows, 1e-200)
    share = rng.dirichlet(np.ones(3), GENERATORS)
    draws = {"share": share[None], "confusion": rows[None]}
    found = MulticlassDawidSkene()._log_likelihood_of_items(votes, draws)[0] @ votes.count
    assert_allclose(found, summed(votes, np.log(rows)[..., None], np.log(share), 0.0), rtol=1e-10)


FORMS = [
    (Correlated(nodes=5), "random"),
    (Correlated(nodes=5, answering=bj.BetaPrior(3, 2)), "random"),
    (Correlated(nodes=5), "separate"),
    (MulticlassDawidSkene(off_diagonal=0.7), "random"),
    (MulticlassDawidSkene(missing="response", share_concentration=3.0), "by_truth"),
    (MulticlassDawidSkene(diagonal=4.0), "separate"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(("model", "calibration"), FORMS)
def test_the_sampler_runs_the_model_of_the_text(model, calibration):
    classes = 2 if isinstance(model, Correlated) else 3
    votes = votes_of(classes, calibration)
    gaps, off = gaps_between(bj.panel.build_model(votes, model), model._sampling_form(votes))
    assert np.ptp(gaps) < 1e-7
    assert off < 1e-12


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(("model", "calibration"), FORMS)
def test_the_graph_has_the_likelihood_of_the_draws(model, calibration):
    votes = votes_of(2 if isinstance(model, Correlated) else 3, calibration)
    form = model._sampling_form(votes)
    names = [name for part in model._parts(votes) for name in part.names]
    outputs = form.replace_rvs_by_values([form["items"], *(form[name] for name in names)])
    run = function(form.value_vars, outputs, on_unused_input="ignore")
    rng, start = np.random.default_rng(5), form.initial_point()
    value, *drawn = run(**{k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()})
    draws = {name: values[None] for name, values in zip(names, drawn, strict=True)}
    expected = model._log_likelihood_of_items(votes, draws)[0] @ votes.count
    assert_allclose(value, expected, rtol=1e-10)
