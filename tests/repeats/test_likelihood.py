"""The density that the sampler runs, against SciPy and the transforms one by one."""

from itertools import product

import numpy as np
import pymc as pm
import pytest
from numpy.testing import assert_allclose
from pytensor import function, grad
from scipy.special import expit, softmax
from scipy.stats import halfnorm, norm

from bayesjudge.repeats import CumulativeLogit, JudgeCutpoints, Scores, simulate
from bayesjudge.repeats import model as models
from bayesjudge.repeats.components import Effects, cutpoints, noise_at, stretched

#: Four cells of two judges; one value is in no cell, one cell has a single answer.
SEEN = np.array([[3, 0, 1, 0], [0, 0, 2, 2], [1, 0, 0, 0], [2, 0, 4, 1]])
ROW = np.array([0, 1, 1, 0])
ETA = np.array([-0.4, 1.3, 0.2, 2.5])
CUTS = np.array([[-1.0, 0.3, 1.7], [-2.1, -0.2, 0.9]])


def answers(eta, cuts, seen=SEEN, row=ROW):
    """Log-likelihood of counts, and its slopes by effects and by cutpoints."""
    with pm.Model() as model:
        effects, steps = pm.Flat("eta", shape=eta.shape), pm.Flat("cuts", shape=cuts.shape)
        models._add_density(seen, effects, steps, row)
    value, places = model.potentials[0], [effects, steps]
    found = [value, *grad(value, places)]
    return function(places, found, mode="FAST_COMPILE")(eta, cuts)


@pytest.mark.slow
def test_it_is_that_of_differences_of_logistic_functions():
    below = expit(CUTS[ROW] - ETA[:, None])
    below = np.column_stack([np.zeros(4), below, np.ones(4)])
    assert_allclose(answers(ETA, CUTS)[0], (SEEN * np.log(np.diff(below, axis=1))).sum())


@pytest.mark.slow
@pytest.mark.parametrize("far", [40.0, 500.0])
def test_tails_lose_no_digits(far):
    """So far above every cutpoint differences of logistic functions would be 0."""
    value, *slopes = answers(np.full(4, far), CUTS)
    # far above, log s(c - eta) is c - eta and log s(eta - c) is 0, up to exp(-38)
    low = SEEN[:, 0] @ (CUTS[ROW, 0] - far)
    middle = sum(
        SEEN[:, k] @ (CUTS[ROW, k] - far + np.log(-np.expm1(CUTS[ROW, k - 1] - CUTS[ROW, k])))
        for k in (1, 2)
    )
    assert_allclose(value, low + middle, rtol=1e-12)
    assert_allclose(slopes[0], -SEEN[:, :3].sum(axis=1), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("far", [0.0, 800.0])
def test_values_in_reverse_are_the_mirrored_scale(far):
    value, *slopes = answers(ETA + far, CUTS)
    again, *mirrored = answers(-ETA - far, -CUTS[:, ::-1], seen=SEEN[:, ::-1])
    assert_allclose(again, value, rtol=1e-12)
    assert_allclose(mirrored[0], -slopes[0], rtol=1e-9)


@pytest.mark.slow
def test_a_value_that_nobody_gave_may_have_no_room_between_its_cutpoints():
    value, *slopes = answers(ETA, np.array([[-1.0, -1.0, 1.7], [-2.1, -2.1, 0.9]]))
    assert np.isfinite(value)
    assert all(np.isfinite(slope).all() for slope in slopes)


# The whole density -------------------------------------------------------------------------------


def zero_sum(raw):
    n = raw.shape[-1] + 1
    total = raw.sum(axis=-1, keepdims=True)
    every = np.concatenate([raw, total / (np.sqrt(n) + n) - total / np.sqrt(n)], axis=-1)
    return every - total / (np.sqrt(n) + n)


def density_by_hand(at, model, scores, as_is):
    """Block by block, with SciPy's densities and the functions that translate draws."""
    n_items, n_judges = len(scores.items), len(scores.judges)
    item, judge = np.nonzero(scores.repeats)
    y = at["value_share_simplex__"]
    share = softmax(np.append(y, -y.sum()))
    value = model.concentration * np.log(share).sum()

    def block(scale_name, name, clear, turned=zero_sum):
        nonlocal value
        scale = np.exp(at[f"{scale_name}_log__"])
        (raw,) = (v for k, v in at.items() if k.startswith(name))
        value += halfnorm.logpdf(scale, scale=getattr(model, scale_name)) + np.log(scale)
        value += norm.logpdf(raw, scale=scale if clear else 1).sum()
        return scale, turned(raw) if clear else scale * turned(raw)

    sds, eta = {}, np.zeros(item.size)
    if n_items > 1:
        sds["item"], effect = block("item_scale", "item_effect", as_is["item"])
        eta += effect[item]
    if n_judges > 1:
        sds["judge"], effect = block("judge_scale", "judge_effect", as_is["judge"])
        eta += effect[judge]
    if len(sds) == 2:
        name = "item_judge_effect"
        sds["item_judge"], effect = block("item_judge_scale", name, False, lambda raw: raw)
        eta += effect
    cuts = np.broadcast_to(cutpoints(share), (item.size, len(scores.scale) - 1))
    if isinstance(model, JudgeCutpoints):
        _, own = block("cutpoint_scale", "cutpoint_stretch", as_is["gap"])
        cuts = stretched(cutpoints(share), own.T)[judge]
    noise = {}
    if model.noise == "by_level":
        noise = {name: at[name] for name in ("noise_slope", "noise_curve")}
        value += norm.logpdf(list(noise.values()), scale=0.5).sum()
    value += sum(norm.logpdf(v).sum() for name, v in at.items() if name.endswith("_offset"))
    wide = np.broadcast_to(noise_at(eta, Effects(**sds, **noise)), eta.shape)
    below = expit((cuts - eta[:, None]) / wide[:, None])
    below = np.column_stack([np.zeros(item.size), below, np.ones(item.size)])
    return value + (scores.counts[item, judge] * np.log(np.diff(below, axis=1))).sum()


def designs():
    """Items, judges, own cutpoints, noise, what is sampled as it is; all of them as a study."""
    sizes = {"both": (3, 4), "judges": (1, 3), "items": (4, 1)}
    few = {
        "both-own-by_level-unit",
        "both-shared-constant-as is",
        "judges-own-constant-as is",
        "items-shared-by_level-unit",
    }
    for (size, n), own, noise in product(sizes.items(), (False, True), ("constant", "by_level")):
        for as_is in (True, False) if not (own and size == "items") else ():
            name = f"{size}-{'own' if own else 'shared'}-{noise}-{'as is' if as_is else 'unit'}"
            marks = pytest.mark.slow if name in few else pytest.mark.study
            yield pytest.param(n, own, noise, as_is, id=name, marks=marks)


@pytest.mark.parametrize(("sizes", "own", "noise", "as_is"), list(designs()))
def test_density_is_that_by_hand(sizes, own, noise, as_is, monkeypatch):
    items, judges = sizes
    table = simulate(items=items, judges=judges, repeats=4, random_seed=1)
    table = (
        table.drop(table.index[table["item"].eq(table["item"].iloc[0])][:4]) if items > 1 else table
    )
    scores = Scores.from_frame(table, scale=range(1, 6), item="item", judge="judge")
    clear = {"item": as_is, "judge": not as_is, "gap": as_is}
    monkeypatch.setattr(models, "_clear_effects", lambda _: clear)
    kind = JudgeCutpoints if own else CumulativeLogit
    model = kind(concentration=1.3, item_scale=4.0, judge_scale=1.5, noise=noise)
    form = model._sampling_form(scores)
    run = function(form.value_vars, form.logp(), mode="FAST_COMPILE")
    rng, start = np.random.default_rng(1), form.initial_point()
    points = [{k: v + rng.normal(0, 0.7, np.shape(v)) for k, v in start.items()} for _ in range(3)]
    found = [run(**point) for point in points]
    hand = [density_by_hand(point, model, scores, clear) for point in points]
    assert_allclose(np.diff(found), np.diff(hand), rtol=1e-10)
