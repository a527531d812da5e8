"""The density that the sampler runs, in Python, against SciPy and the transforms one by one."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytensor import function
from scipy.special import expit, softmax
from scipy.stats import halfnorm, norm

from bayesjudge.compiled import compiling
from bayesjudge.repeats import CumulativeLogit, JudgeCutpoints, Scores, simulate
from bayesjudge.repeats import _pymc as passes
from bayesjudge.repeats import model as models
from bayesjudge.repeats.components import Effects, cutpoints, noise_at, stretched

#: Four cells of two judges; one value is in no cell, one cell has a single answer.
SEEN = np.array([[3, 0, 1, 0], [0, 0, 2, 2], [1, 0, 0, 0], [2, 0, 4, 1]])
ROW = np.array([0, 1, 1, 0])
ETA = np.array([-0.4, 1.3, 0.2, 2.5])
CUTS = np.array([[-1.0, 0.3, 1.7], [-2.1, -0.2, 0.9]])
QUIET = np.zeros(4)


def by_hand(eta, cuts, noise=QUIET):
    """Of differences of logistic functions."""
    z = (cuts[ROW] - eta[:, None]) / np.exp(noise)[:, None]
    below = np.column_stack([np.zeros(4), expit(z), np.ones(4)])
    return (SEEN * np.log(np.diff(below, axis=1))).sum()


def answers(eta, cuts, noise=QUIET, each=False, seen=SEEN, row=ROW):
    terms = passes.terms_of(seen, row, each)
    return passes._answers(*terms, eta, cuts.ravel(), noise, each)


@pytest.mark.parametrize("each", [False, True])
def test_it_is_that_of_differences_of_logistic_functions(each):
    noise = np.array([0.2, -0.5, 0.1, 0.8]) if each else QUIET
    assert_allclose(answers(ETA, CUTS, noise, each)[0], by_hand(ETA, CUTS, noise), rtol=1e-12)


def test_answers_without_noise_of_their_own_are_those_of_noise_zero():
    for one, other in zip(answers(ETA, CUTS)[:3], answers(ETA, CUTS, each=True)[:3], strict=True):
        assert_allclose(one, other, rtol=1e-12)


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


@pytest.mark.parametrize("far", [0.0, 800.0])
def test_values_in_reverse_are_the_mirrored_scale(far):
    value, *slopes = answers(ETA + far, CUTS)
    again, *mirrored = answers(-ETA - far, -CUTS[:, ::-1], seen=SEEN[:, ::-1])
    assert_allclose(again, value, rtol=1e-12)
    assert_allclose(mirrored[0], -slopes[0], rtol=1e-9)


@pytest.mark.slow
def test_the_product_of_very_many_answers_is_no_zero():
    many = 6000
    value, *_ = answers(
        np.tile(ETA, many),
        CUTS,
        np.zeros(4 * many),
        False,
        np.tile(SEEN, (many, 1)),
        np.tile(ROW, many),
    )
    assert_allclose(value, many * by_hand(ETA, CUTS), rtol=1e-12)


# The whole density -------------------------------------------------------------------------------


def zero_sum(raw):
    n = raw.shape[-1] + 1
    total = raw.sum(axis=-1, keepdims=True)
    every = np.concatenate([raw, total / (np.sqrt(n) + n) - total / np.sqrt(n)], axis=-1)
    return every - total / (np.sqrt(n) + n)


def density_by_hand(x, model, scores, as_is):
    """Block by block, with SciPy's densities and the functions that translate draws."""
    rest, values = x, len(scores.scale)
    n_items, n_judges = len(scores.items), len(scores.judges)
    item, judge = np.nonzero(scores.repeats)

    def take(n):
        nonlocal rest
        found, rest = rest[:n], rest[n:]
        return found

    y = take(values - 1)
    share = softmax(np.append(y, -y.sum()))
    value = model.concentration * np.log(share).sum()

    def block(name, shape, clear, turned=zero_sum):
        nonlocal value
        scale = getattr(model, name) * np.exp(take(1)[0])
        raw = take(int(np.prod(shape))).reshape(shape)
        value += halfnorm.logpdf(scale, scale=getattr(model, name)) + np.log(scale)
        value += norm.logpdf(raw, scale=scale if clear else 1).sum()
        return scale, turned(raw) if clear else scale * turned(raw)

    sds, eta = {}, np.zeros(item.size)
    if n_items > 1:
        sds["item"], effect = block("item_scale", (n_items - 1,), as_is["item"])
        eta += effect[item]
    if n_judges > 1:
        sds["judge"], effect = block("judge_scale", (n_judges - 1,), as_is["judge"])
        eta += effect[judge]
    if len(sds) == 2:
        sds["item_judge"], effect = block("item_judge_scale", item.shape, False, lambda raw: raw)
        eta += effect
    cuts = np.broadcast_to(cutpoints(share), (item.size, values - 1))
    if isinstance(model, JudgeCutpoints):
        _, own = block("cutpoint_scale", (values - 2, n_judges - 1), as_is["gap"])
        cuts = stretched(cutpoints(share), own.T)[judge]
    noise = {}
    if model.noise == "by_level":
        noise = dict(zip(("noise_slope", "noise_curve"), take(2), strict=True))
        value += norm.logpdf(list(noise.values()), scale=0.5).sum()
    value += norm.logpdf(rest).sum()
    wide = np.broadcast_to(noise_at(eta, Effects(**sds, **noise)), eta.shape)
    below = expit((cuts - eta[:, None]) / wide[:, None])
    below = np.column_stack([np.zeros(item.size), below, np.ones(item.size)])
    return value + (scores.counts[item, judge] * np.log(np.diff(below, axis=1))).sum()


def designs():
    """Items, judges, own cutpoints, noise, and what is sampled as it is: each with each."""
    sizes = {"both": (3, 4), "judges": (1, 3), "items": (4, 1)}
    for (size, n), own, noise in product(sizes.items(), (False, True), ("constant", "by_level")):
        for as_is in (True, False) if not (own and size == "items") else ():
            name = f"{size}-{'own' if own else 'shared'}-{noise}-{'as is' if as_is else 'unit'}"
            yield pytest.param(n, own, noise, as_is, id=name)


@pytest.mark.parametrize(("sizes", "own", "noise", "as_is"), list(designs()))
def test_density_and_slope_are_those_by_hand(sizes, own, noise, as_is, monkeypatch):
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
    given = {v.name: v.get_value() for v in form.data_vars}
    rng, size = np.random.default_rng(1), given["places"][-1]
    points = rng.normal(0, 0.7, (3, size))
    found = [passes._evaluate(x, *given.values()) for x in points]
    hand = [density_by_hand(x, model, scores, clear) for x in points]
    differences = [np.diff([value for value, _ in found]), np.diff(hand)]
    assert_allclose(*differences, rtol=1e-10)
    step = 1e-5
    for x, (_, slope) in zip(points[:1], found, strict=False):
        for i, move in enumerate(step * np.eye(size)):
            up, down = (density_by_hand(x + m, model, scores, clear) for m in (move, -move))
            assert_allclose(slope[i], (up - down) / (2 * step), rtol=1e-6, atol=1e-6)


def test_the_operation_is_the_pass_and_its_gradient_the_slope():
    import pytensor.tensor as pt

    scores = Scores.from_frame(
        simulate(items=3, judges=2, random_seed=1), scale=range(1, 6), judge="judge"
    )
    form = JudgeCutpoints()._sampling_form(scores)
    density = form.logp()
    with compiling():
        run = function(
            form.value_vars,
            [density, pt.grad(2 * density, form.value_vars[0])],
            mode="FAST_COMPILE",
        )
    given = [v.get_value() for v in form.data_vars]
    x = np.random.default_rng(1).normal(size=given[0][-1])
    value, slope = passes._evaluate(x, *given)
    found, gradient = run(x)
    assert_allclose(found, value)
    assert_allclose(gradient, 2 * slope)
