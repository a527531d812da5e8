"""The likelihood of votes as one operation, and its slopes, against a sum over items in NumPy."""

import numpy as np
import pytest
from contract import gaps_between
from numpy.testing import assert_allclose
from scipy.special import log_expit, logsumexp
from scipy.stats import norm

import bayesjudge as bj
from bayesjudge.panel import Correlated, MulticlassDawidSkene, Votes, _marginal
from bayesjudge.panel._marginal import Ballots, VotesByClass, VotesByJudges
from bayesjudge.truth.effects import plain
from bayesjudge.truth.likelihood import group_of_shares

pytestmark = pytest.mark.usefixtures("uncompiled")

NODES, JUDGES, GENERATORS = 5, 3, 2
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
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


def arrays(ballots):
    return list(vars(ballots).values())


def point_of(kind, seed=0):
    """Logits, spread, log probabilities of answering and log shares, some of them extreme."""
    rng = np.random.default_rng(seed)
    logits, spread = rng.normal(size=(JUDGES, 2)), np.array([0.4, 1.3])
    share = np.log([[0.3, 0.7], [0.8, 0.2]])
    if kind == "sure judges":
        logits *= 300
    if kind == "very dependent":
        spread = np.array([150.0, 80.0])
    if kind == "no bad items":
        share = np.array([[-400.0, 0.0], [-1e-12, -27.6]])
    if kind == "hardly an answer":
        return logits, spread, np.log(rng.uniform(size=(JUDGES * 3, 2))) * 100, share
    return logits, spread, np.log(rng.uniform(size=(JUDGES * 3, 2))), share


KINDS = ("ordinary", "sure judges", "very dependent", "no bad items", "hardly an answer")


def of_logits(kind):
    """The inputs of the operation, and what they mean as a table."""
    votes = votes_of(2, twice=True)
    logits, spread, answering, share = point_of(kind)
    at = logits[..., None] + spread[:, None] * POINTS
    table = np.stack([log_expit(-at), log_expit(at), np.zeros_like(at)], axis=2)
    table += answering.reshape(JUDGES, 3, 2).transpose(0, 2, 1)[..., None]
    ballots = Ballots.of(votes, "response", group_of_shares(votes.verdicts), weighted=True)
    inputs = [logits, spread, answering, share, POINTS, WEIGHTS, *arrays(ballots)]
    return inputs, by_items(votes, table, share, np.log(WEIGHTS))


def of_classes(kind):
    votes, rng = votes_of(3, twice=True), np.random.default_rng(1)
    logs = np.log(rng.dirichlet(np.ones(3), (JUDGES, 3)))  # judge, class, response
    if kind == "sure judges":
        logs = logs * 300
    share = np.log(rng.dirichlet(np.ones(3), GENERATORS))
    if kind == "no bad items":
        share[0] = -400.0, 0.0, -30.0
    ballots = Ballots.of(votes, "skip", group_of_shares(votes.verdicts), weighted=False)
    inputs = [logs.transpose(0, 2, 1).reshape(-1, 3), share, *arrays(ballots)]
    return inputs, by_items(votes, logs[..., None], share, 0.0)


def of_judges(kind):
    """Logits of judges that are counted from guesses, with the density of where they are."""
    votes, rng = votes_of(2, twice=True), np.random.default_rng(4)
    _, shared, answering, share = point_of(kind)
    judge, density, unknown, guesses = {}, 0.0, [], []
    for name, mean, spread in (("discrimination", 0.7, 0.4), ("leniency", -0.3, 1.2)):
        own, guess, error = rng.normal(size=(3, JUDGES))
        error = np.exp(error)
        if kind == "sure judges":
            guess, error = guess + 5 * (name == "discrimination"), error / 1e3
        # the product of the population and of the guess, and how much wider the one is
        precision = spread**-2 + error**-2
        part = (mean / spread**2 + guess / error**2) / precision + own / np.sqrt(precision)
        density += (norm.logpdf(part, mean, spread) - np.log(precision) / 2).sum()
        density += np.log(2 * np.pi) / 2 * JUDGES - np.log(error).sum()
        judge[name] = part
        unknown += [np.array(mean), np.array(spread), own]
        guesses += [guess, error]
    half = np.exp(judge["discrimination"]) / 2
    logits = np.stack([judge["leniency"] - half, judge["leniency"] + half], axis=1)
    at = logits[..., None] + shared[:, None] * POINTS
    table = np.stack([log_expit(-at), log_expit(at), np.zeros_like(at)], axis=2)
    table += answering.reshape(JUDGES, 3, 2).transpose(0, 2, 1)[..., None]
    ballots = Ballots.of(votes, "response", group_of_shares(votes.verdicts), weighted=True)
    inputs = [*unknown, shared, answering, share, *guesses, POINTS, WEIGHTS, *arrays(ballots)]
    return inputs, by_items(votes, table, share, np.log(WEIGHTS)) + density


CASES = [(of_logits, _marginal._of_logits(2, NODES, plain), kind) for kind in KINDS]
CASES += [
    (of_judges, _marginal._of_judges(2, NODES, plain), kind)
    for kind in ("ordinary", "sure judges", "very dependent")
]
CASES += [
    (of_classes, _marginal._of_classes(3, 1, plain), kind)
    for kind in ("ordinary", "sure judges", "no bad items")
]
each_case = pytest.mark.parametrize(
    ("make", "function", "kind"), CASES, ids=[f"{m.__name__}, {k}" for m, _, k in CASES]
)


@each_case
def test_value_is_the_sum_over_items(make, function, kind):
    inputs, expected = make(kind)
    assert_allclose(function(*inputs)[0], expected, rtol=1e-12)


@each_case
def test_slopes_are_those_of_the_value(make, function, kind):
    """Toward a random direction in each input by which there are slopes."""
    inputs, _ = make(kind)
    _, *slopes = function(*inputs)
    rng = np.random.default_rng(3)
    for place, slope in enumerate(slopes):
        toward = rng.normal(size=slope.shape)

        def value(step, place=place, toward=toward):
            moved = [*inputs]
            moved[place] = inputs[place] + step * toward
            return float(function(*moved)[0])

        step = 1e-5
        found = (value(step) - value(-step)) / (2 * step)
        assert_allclose((slope * toward).sum(), found, rtol=1e-5, atol=1e-4)


def tiny_in(make, kind):
    """Whether some ballot's probability is too small for a product."""
    inputs, _ = make(kind)
    prob, sizes = np.exp(inputs[0]), (3, 1)
    if make is of_logits:
        (prob, _), sizes = _marginal._responses(NODES)(*inputs[:3], POINTS, WEIGHTS), (2, NODES)
    products = _marginal._products(prob.shape[1])(prob, *inputs[-8:-6])
    return _marginal._sums(*sizes)(products, inputs[-6]).min() < _marginal.TINY


def test_some_cases_are_so_extreme_that_products_would_not_do():
    cases = [(make, kind) for make, _, kind in CASES if make is not of_judges]
    found = {(make.__name__, kind) for make, kind in cases if tiny_in(make, kind)}
    logits = {("of_logits", kind) for kind in ("sure judges", "hardly an answer")}
    assert found == logits | {("of_classes", "sure judges")}


@pytest.mark.parametrize("calibration", ["random", "separate"])
def test_slopes_are_by_every_share_whoever_has_items(calibration):
    """A generator without items, and labels of which there are none, have a share too."""
    votes = Votes([[1, 0], [0, 0]], [-1, -1], [0, 0], ("g", "h"), "ab", calibration=calibration)
    ballots = Ballots.of(votes, "skip", group_of_shares(votes.verdicts), weighted=False)
    log_share = np.full((2 + (calibration == "separate"), 2), np.log(0.5))
    likelihood = _marginal._of_classes(2, 1, plain)
    *_, slope = likelihood(np.full((4, 2), np.log(0.5)), log_share, *arrays(ballots))
    assert slope.shape == log_share.shape
    assert_allclose(slope.sum(), 2)


def test_one_judge_is_a_half():
    votes = Votes([[1], [0], [-1]], [1, -1, -1], [0, 0, 0], "g", "a", calibration="random")
    ballots = Ballots.of(votes, "skip", group_of_shares(votes.verdicts), weighted=False)
    table, share = np.log([[0.9, 0.3], [0.1, 0.7]]), np.log([[0.2, 0.8]])  # column, class
    value, *_ = _marginal._of_classes(2, 1, plain)(table, share, *arrays(ballots))
    assert_allclose(value, np.log(0.8 * 0.7) + np.log(0.2 * 0.9 + 0.8 * 0.3))


def test_halves_are_few_and_make_up_their_ballots():
    votes = votes_of(2, size=400)
    ballots = Ballots.of(votes, "skip", group_of_shares(votes.verdicts), weighted=False)
    distinct = np.unique(votes.votes, axis=0)
    assert len(ballots.halves) == len(distinct)
    assert len(ballots.start) - 1 <= 3**2 + 3
    held = [
        sorted(np.concatenate([ballots.column[ballots.start[h] : ballots.start[h + 1]] for h in b]))
        for b in ballots.halves
    ]
    expected = [[2 * j + v for j, v in enumerate(row) if v >= 0] for row in distinct.tolist()]
    assert sorted(held) == sorted(expected)
    assert ballots.count.sum() + ballots.labelled.sum() == votes.count.sum()


@pytest.mark.slow
@pytest.mark.parametrize("op", [VotesByJudges, VotesByClass])
def test_machine_code_is_the_loops(op):
    from pytensor import config, function
    from pytensor import tensor as pt

    from bayesjudge.compiled import tell_numba

    tell_numba()
    sizes, make = ((2, NODES), of_judges) if op is VotesByJudges else ((3,), of_classes)
    for kind in ("ordinary", "sure judges"):
        inputs, _ = make(kind)
        with config.change_flags(cxx=""):
            variables = [pt.as_tensor(x).type() for x in inputs]
            run = function(variables, op(*sizes)(*variables), mode="NUMBA")
        expected = op.function(plain, *sizes)(*inputs)
        for one, other in zip(run(*inputs), expected, strict=True):
            assert_allclose(one, other, rtol=1e-10, atol=1e-12)


FORMS = [
    (Correlated(nodes=5), "random"),
    (Correlated(nodes=5, answering=bj.BetaPrior(3, 2)), "random"),
    (Correlated(nodes=5), "separate"),
    (MulticlassDawidSkene(off_diagonal=0.7), "random"),
    (MulticlassDawidSkene(missing="response", share_concentration=3.0), "by_truth"),
    (MulticlassDawidSkene(diagonal=4.0), "separate"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "calibration"), FORMS)
def test_the_sampler_runs_the_model_of_the_text(model, calibration):
    classes = 2 if isinstance(model, Correlated) else 3
    votes = votes_of(classes, calibration)
    gaps, off = gaps_between(bj.panel.build_model(votes, model), model._sampling_form(votes))
    assert np.ptp(gaps) < 1e-7
    assert off < 1e-12
