"""`panel.build_model` is the model of the text: totals, replicates, and latent truths."""

import itertools

import numpy as np
import pymc as pm
import pytest
from contract import in_python
from refusals import refused
from scipy.special import logsumexp

import bayesjudge as bj
from bayesjudge.core.counting import draw_patterns
from bayesjudge.truth.patterns import Patterns

pytestmark = pytest.mark.usefixtures("uncompiled")

panel = bj.panel
Votes = panel.Votes
TINY = {
    "votes": [[1, 0], [1, -1], [0, 0], [1, 1]],
    "truth": [1, -1, 0, -1],
    "generator": [0, 0, 1, 1],
    "generators": ("x", "y"),
    "judges": ("a", "b"),
    "count": [1, 2, 1, 1],
}
THREE = Votes([[0, 1], [1, -1], [2, 2]], [0, -1, -1], [0] * 3, "g", "ab", classes="lmh",
              calibration="random")  # fmt: skip
ANSWERING = {"answering": bj.BetaPrior(3, 2)}


def simulated(calibration, **more):
    table = panel.simulate(items=60, labelled=(30, 20, 0), missing=0.1, random_seed=1, **more)
    return Votes.from_frame(table, calibration=calibration)


DESIGNS = ["random", "by_truth", "separate", "by_verdict"]


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("calibration", DESIGNS)
def test_replicates_have_as_many_items_as_were_observed(calibration):
    """542 of 600 items were replicated: those with votes that nobody has were left out."""
    votes = simulated(calibration)
    made = panel.build_model(votes, panel.DawidSkene())
    drawn = pm.sample_prior_predictive(50, model=made, random_seed=1)
    items = drawn["prior_predictive"]["items"].to_numpy()[0]
    patterns = Patterns.of(votes.verdicts)
    groups = patterns.group.max() + 1
    assert (items[:, -groups:] > 0).any()
    for group in range(groups):
        mine = patterns.group == group
        np.testing.assert_array_equal(items[:, mine].sum(axis=1), patterns.count[mine].sum())


RATES = np.array([[0.3, 0.8], [0.1, 0.9], [0.4, 0.7]])  # of a pass, by judge and truth
G = 0.6


def chance_of(votes, row):
    """Of votes and label among items with as many of both, by the definition of the model."""
    given, truth = votes.votes[row], votes.truth[row]
    by_truth = [
        np.prod([p if v else 1 - p for v, p in zip(given, RATES[:, z], strict=True) if v >= 0])
        for z in (0, 1)
    ]
    share = (1 - G, G)
    joint = [s * p for s, p in zip(share, by_truth, strict=True)]
    if truth < 0:
        return sum(joint)
    return joint[truth] if votes.design.same_items else by_truth[truth]


@pytest.mark.slow
@pytest.mark.parametrize("calibration", DESIGNS)
def test_replicates_have_the_models_chances(calibration):
    rng = np.random.default_rng(1)
    truth = rng.random(300) < G
    given = (rng.random((300, 3)) < RATES[:, truth.astype(int)].T).astype(int)
    # with labels by verdict, items that all judges pass are labelled twice as often
    often = (given.all(axis=1) + 1) / 3 if calibration == "by_verdict" else np.full(300, 0.5)
    known = rng.random(300) < often
    votes = Votes(given, np.where(known, truth, -1), [0] * 300, "g", "abc", calibration=calibration)
    patterns = Patterns.of(votes.verdicts)
    n = len(votes.count)
    others = [1.0] * (patterns.group.max() + 1)
    density = np.log([chance_of(votes, row) for row in range(n)] + others)
    inputs = (density, patterns.group, patterns.chosen, patterns.count)
    drawn = np.array([draw_patterns(*inputs, rng=rng) for _ in range(4000)])[:, :n]
    for row in range(n):
        label = votes.truth[row]
        same = votes.truth == -1 if label < 0 else votes.truth >= 0
        chance = np.exp(density[row])
        if calibration in ("by_truth", "separate"):
            same = votes.truth == label
        if calibration == "by_verdict":
            like = (votes.votes == votes.votes[row]).all(axis=1)
            same = np.full(n, True)
            share = votes.count[like & (votes.truth >= 0)].sum() / votes.count[like].sum()
            chance *= share if label >= 0 else 1 - share
        expected = chance * votes.count[same].sum()
        error = drawn[:, row].std() / np.sqrt(len(drawn))
        assert abs(drawn[:, row].mean() - expected) < 5 * error


def test_patterns_are_named():
    names = Patterns.of(Votes(**TINY, calibration="random").verdicts).names
    assert names[:4] == ["x, unlabelled: 1 -", "x, 1: 1 0", "y, unlabelled: 1 1", "y, 0: 0 0"]
    assert set(names[4:]) == {
        *("x, unlabelled: ? -", "x, labelled: ? ?", "y, unlabelled: ? ?", "y, labelled: ? ?"),
    }


# The uncollapsed model --------------------------------------------------------------------------

CASES = {
    "pooled": (Votes(**TINY, calibration="random"), panel.PooledDawidSkene()),
    "answering": (Votes(**TINY, calibration="random"), panel.PooledDawidSkene(**ANSWERING)),
    "separate": (Votes(**TINY, calibration="random"), panel.DawidSkene(**ANSWERING)),
    "by truth": (Votes(**TINY, calibration="by_truth"), panel.DawidSkene()),
    "three classes": (THREE, panel.MulticlassDawidSkene(missing="response")),
}


def points_of(model, n=3):
    rng, start = np.random.default_rng(3), model.initial_point()
    return [{k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()} for _ in range(n)]


def densities(*models):
    """Functions of a point; few are asked, so that nothing is compiled."""
    runs = [in_python(m.value_vars, m.logp(jacobian=False)) for m in models]
    names = [[str(v.name) for v in m.value_vars] for m in models]
    return [
        lambda point, run=run, own=own: run(*(point[name] for name in own))
        for run, own in zip(runs, names, strict=True)
    ]


@pytest.mark.fast_named("by truth")
@pytest.mark.parametrize("name", CASES)
def test_summing_the_truths_out_gives_the_collapsed_model(name):
    votes, model = CASES[name]
    collapsed = panel.build_model(votes, model)
    full = panel.build_model(votes, model, collapsed=False)
    one, every = densities(collapsed, full)
    unknown = int(votes.count[votes.truth < 0].sum())
    gaps = []
    for point in points_of(collapsed):
        truths = itertools.product(range(votes.n_classes), repeat=unknown)
        logs = [every({**point, "item_truth": np.array(t)}) for t in truths]
        gaps.append(one(point) - logsumexp(logs))
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)


@pytest.mark.study
def test_summing_truth_and_effect_out_gives_the_correlated_model():
    """By the midpoint rule over two items' effects."""
    votes = Votes([[1, 0], [1, 1]], [1, -1], [0, 0], "g", "ab", calibration="random")
    model = panel.Correlated(nodes=61)
    collapsed = panel.build_model(votes, model)
    full = panel.build_model(votes, model, collapsed=False)
    one, every = densities(collapsed, full)
    grid = np.linspace(-6, 6, 61)
    gaps = []
    for point in points_of(collapsed):
        point["shared_effect_log__"] -= 1.0  # on large effects 61 nodes are 5e-5 off
        logs = [
            every({**point, "item_truth": np.array([z]), "item_effect": np.array(effects)})
            for z in (0, 1)
            for effects in itertools.product(grid, repeat=2)
        ]
        gaps.append(one(point) - logsumexp(logs))
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-5)


def test_without_latent_truths_there_is_nothing_to_uncollapse():
    with refused(id="no-latent-variable"):
        panel.build_model(simulated("random"), panel.BiasPooling(), collapsed=False)


@pytest.mark.sampling
def test_intervening_on_a_generator_moves_its_votes():
    votes = simulated("random")
    made = panel.build_model(votes, panel.BiasPooling())
    fixed = pm.do(made, {"prevalence": np.array([0.9, 0.5, 0.2]), "bias": np.zeros(3)})
    np.testing.assert_allclose(fixed["pass_rate"].eval(), [0.9, 0.5, 0.2])
