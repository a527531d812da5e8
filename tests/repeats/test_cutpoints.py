"""Thresholds that differ from judge to judge: by hand, by quadrature, by brute force."""

import numpy as np
import pytest
from contract import gaps_between
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_quantile
from pytensor.graph.traversal import ancestors
from scipy.special import expit, log_expit, ndtr
from scipy.stats import halfnorm, multinomial

import bayesjudge as bj
from bayesjudge.repeats import (
    CumulativeLogit,
    JudgeCutpoints,
    Scores,
    build_model,
    fit,
    score_components,
    simulate,
)
from bayesjudge.repeats import model as models

RANGE = range(1, 6)
SDS = {"item_scale": 1.2, "judge_scale": 0.8, "item_judge_scale": 0.5, "cutpoint_scale": 0.6}
SHARE = np.array([0.1, 0.15, 0.35, 0.3, 0.1])


def widened(cuts, stretch):
    """The definition, one gap at a time."""
    at = [0.0]
    for gap, s in zip(np.diff(cuts), stretch, strict=True):
        at.append(at[-1] + gap * np.exp(s))
    weights = [expit(c) * (1 - expit(c)) for c in cuts]
    off = sum(w * (c - x) for w, c, x in zip(weights, cuts, at, strict=True)) / sum(weights)
    return np.array(at) + off


def cuts_of(share):
    return np.log(np.cumsum(share)[:-1] / (1 - np.cumsum(share)[:-1]))


def shares_between(eta, cuts):
    above = np.concatenate([[1.0], expit(eta - cuts), [0.0]])
    return above[:-1] - above[1:]


def point_of(model, values):
    """Values of the free variables, on the scales that the model samples on."""
    point = {}
    for variable in model.free_RVs:
        transform, value = model.rvs_to_transforms[variable], np.asarray(values[variable.name])
        if transform is not None:
            import pytensor.tensor as pt

            moved = transform.forward(pt.as_tensor(value.astype(float)), *variable.owner.inputs)
            value = moved.eval()
        point[model.rvs_to_values[variable].name] = value
    return point


@pytest.fixture(scope="module")
def at_a_point():
    """A model, values of its unknowns, and judges' thresholds by the definition."""
    scores = Scores.from_frame(
        simulate(items=3, judges=2, repeats=4, random_seed=1),
        scale=RANGE,
        item="item",
        judge="judge",
    )
    model = build_model(scores, JudgeCutpoints())
    stretch = np.array([0.5, -0.2, 0.3])  # and its negative for the other judge
    offset = np.array([2.0, -1.5, 1.0])  # far out, so that a wrong scale of it shows
    b, a = np.array([0.3, -0.3]), np.array([0.4, -1.2, 0.8])
    c = np.linspace(-1, 1, 6)
    values = {**SDS, "value_share": SHARE, "item_judge_effect": SDS["item_judge_scale"] * c}
    values |= {"item_offset": 0.7, "judge_offset": -0.5, "cutpoint_offset": offset}
    values["cutpoint_stretch"] = np.stack([stretch, -stretch], axis=1)
    values |= {"item_effect": a, "judge_effect": b}
    own = np.array([widened(cuts_of(SHARE), s) for s in (stretch, -stretch)])
    return scores, model, values, own


@pytest.mark.sampling
@pytest.mark.usefixtures("uncompiled")
def test_likelihood_has_each_judges_own_thresholds(at_a_point):
    scores, model, values, own = at_a_point
    by_hand = 0.0
    for i in range(3):
        for j in range(2):
            eta = values["item_effect"][i] + values["judge_effect"][j]
            eta += values["item_judge_effect"][2 * i + j]
            counts, p = scores.counts[i, j], shares_between(eta, own[j])
            by_hand += multinomial(counts.sum(), p).logpmf(counts)
    logp = model.compile_logp(vars=model["given"], mode="FAST_COMPILE")
    assert_allclose(logp(point_of(model, values)), by_hand, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "clear"),
    [
        ("constant", True),
        ("by_level", False),
        pytest.param("constant", False, marks=pytest.mark.study),
        pytest.param("by_level", True, marks=pytest.mark.study),
    ],
)
def test_both_shapes_of_the_sampler_are_the_model_of_the_text(clear, noise, monkeypatch):
    scores = Scores.from_frame(
        simulate(items=3, judges=2, repeats=4, random_seed=1),
        scale=RANGE,
        item="item",
        judge="judge",
    )
    as_is = {"item": not clear, "judge": clear, "gap": clear}
    monkeypatch.setattr(models, "_clear_effects", lambda _: as_is)
    model = JudgeCutpoints(noise=noise)
    form = model._sampling_form(scores)
    unit = {v.name for v in form.free_RVs if v.name.endswith("_in_sd")}
    assert ("item_effect_in_sd" in unit, "cutpoint_stretch_in_sd" in unit) == (clear, not clear)
    gaps, off = gaps_between(build_model(scores, model), form, points=3)
    assert np.ptp(gaps) < 1e-5
    assert off < 1e-9


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("model", [CumulativeLogit(noise="by_level"), JudgeCutpoints()])
def test_answers_one_by_one_have_the_likelihood_of_the_counts(model):
    """PyMC's ordered logistic of each answer, against the multinomial of each cell."""
    scores = Scores.from_frame(
        simulate(items=3, judges=2, repeats=3, random_seed=2),
        scale=RANGE,
        item="item",
        judge="judge",
    )
    counted, single = (build_model(scores, model, collapsed=c) for c in (True, False))
    assert single["score"].eval().shape == (18,)
    densities = [m.compile_logp(mode="FAST_COMPILE") for m in (counted, single)]
    rng, start = np.random.default_rng(1), counted.initial_point()
    points = [{k: v + rng.normal(0, 0.5, np.shape(v)) for k, v in start.items()} for _ in range(3)]
    gaps = [densities[0](point) - densities[1](point) for point in points]
    assert_allclose(gaps, gaps[0], rtol=1e-9)


@pytest.mark.slow
def test_judges_that_differ_much_are_told_from_judges_that_do_not():
    def table(cutpoint_scale, seed):
        made = simulate(cutpoint_scale=cutpoint_scale, repeats=40, random_seed=seed)
        return Scores.from_frame(made, scale=RANGE, item="item", judge="judge")

    # 800 answers of each of six judges leave no doubt
    assert all(models._clearly_stretched(table(0.8, seed)) for seed in range(10))
    assert not any(models._clearly_stretched(table(0.0, seed)) for seed in range(10))


def derived(scores, values):
    """Quantities in the units of the scale, at given values of the unknowns."""
    import xarray as xr

    dims = {"value_share": ["value"], "item_effect": ["item"], "cutpoint_offset": ["gap"]}
    names = [*SDS, *dims, "item_offset", "judge_offset"]
    point = {
        name: (["chain", "draw", *dims.get(name, [])], np.asarray(values[name])[None, None])
        for name in names
    }
    found = JudgeCutpoints()._with_derived(scores, xr.Dataset(point))
    return {name: found[name].to_numpy()[0, 0] for name in found if name not in names}


@pytest.mark.sampling
@pytest.mark.usefixtures("uncompiled")
def test_a_judges_cutpoints_are_shifted_by_its_effect(at_a_point):
    _, model, values, own = at_a_point
    (output,) = model.replace_rvs_by_values([model["judge_cutpoint"]])
    point = point_of(model, values)
    found = output.eval(
        {v: point[v.name] for v in model.value_vars if v in set(ancestors([output]))}
    )
    assert_allclose(found, own - values["judge_effect"][:, None], rtol=1e-10)


def test_components_without_offsets_are_score_components(at_a_point):
    scores, _, values, _ = at_a_point
    centred = values | {"item_offset": 0.0, "judge_offset": 0.0, "cutpoint_offset": np.zeros(3)}
    expected = score_components(SHARE, scale=RANGE, **SDS)
    found = derived(scores, centred)
    for name, wanted in expected.items():
        # 128 judges by the model, 2,048 others by the function
        assert_allclose(found[name], wanted, rtol=0.01, err_msg=name)


@pytest.mark.slow
def test_derived_quantities_are_averages_over_judges_drawn_by_brute_force(at_a_point):
    scores, _, values, _ = at_a_point
    found = derived(scores, values)

    rng, many = np.random.default_rng(1), 20_000
    stretch = SDS["cutpoint_scale"] * (
        values["cutpoint_offset"] / np.sqrt(2) + rng.normal(size=(many, 3))
    )
    cuts = np.array([widened(cuts_of(SHARE), s) for s in stretch])
    judges = SDS["judge_scale"] * (values["judge_offset"] / np.sqrt(2) + rng.normal(size=many))
    z, weight = np.polynomial.hermite_e.hermegauss(15)
    weight /= weight.sum()
    items = SDS["item_scale"] * (values["item_offset"] / np.sqrt(3) + z)

    def average(eta):
        """Mean score and mean square of every judge, combinations averaged; the mean's square."""
        both = eta + judges + SDS["item_judge_scale"] * z[:, None]
        above = expit(both[..., None] - cuts)
        mean = 1 + above.sum(axis=-1)
        square = 1 + above @ np.diff(np.arange(1, 6) ** 2)
        return weight @ mean, weight @ square, weight @ mean**2

    over, square, squared = np.moveaxis([average(x) for x in items], 1, 0)
    of_items, of_judges = over.mean(axis=1), weight @ over
    overall = of_judges.mean()
    variances = {
        "item_sd": weight @ of_items**2 - overall**2,
        "judge_sd": of_judges.var(),
        "repeat_sd": (weight @ (square - squared)).mean(),
    }
    total = (weight @ squared).mean() - overall**2
    variances["item_judge_sd"] = total - variances["item_sd"] - variances["judge_sd"]
    error = of_judges.std() / np.sqrt(many)
    assert_allclose(found["mean_score"], overall, atol=5 * error)
    for name, variance in variances.items():
        relative = 5 * np.sqrt(2 / many) * variances["judge_sd"] / min(variance, 1)
        assert_allclose(found[name] ** 2, variance, rtol=relative, err_msg=name)
    scores = [average(a)[0].mean() for a in values["item_effect"]]
    # an item's score has no offset of items, but one of judges
    assert_allclose(found["item_score"], scores, atol=5 * error)


@pytest.mark.slow
def test_components_are_those_of_simulated_tables():
    """`score_components` and `simulate` against each other: means of many judges' own means."""
    table = simulate(items=40, judges=400, repeats=3, value_share=SHARE, **SDS, random_seed=2)
    cells = table.groupby(["item", "judge"])["score"].agg(["mean", "var"]).unstack("judge")
    expected = score_components(SHARE, scale=RANGE, **SDS)
    by_item = cells["var"].mean(axis=1)
    within = by_item.mean()
    error = by_item.std() / np.sqrt(len(by_item))
    assert_allclose(within, expected["repeat_sd"] ** 2, atol=5 * error)
    judges = cells["mean"].mean(axis=0)  # over the same 40 items for all of them
    noise = (expected["item_judge_sd"] ** 2 + within / 3) / 40
    assert_allclose(np.sqrt(judges.var() - noise), expected["judge_sd"], rtol=5 / np.sqrt(800))
    plain = score_components(SHARE, scale=RANGE, **SDS | {"cutpoint_scale": 0.0})
    near = score_components(SHARE, scale=RANGE, **SDS | {"cutpoint_scale": 1e-6})
    for name, value in plain.items():
        assert_allclose(near[name], value, atol=2e-3, err_msg=name)


@pytest.mark.study
def test_two_judges_agree_with_quadrature():
    """One item, two judges, three values: thresholds and a shift apart, on a grid."""
    counts = np.array([[[3, 14, 3], [8, 4, 8]]])
    scores = Scores(counts, scale=[1, 2, 3], items=["x"], judges=["a", "b"])
    made = fit(scores, JudgeCutpoints(judge_scale=1.0, cutpoint_scale=0.8), random_seed=1)
    # the middle value's share and the split of the rest, by a flat Dirichlet: density 1 - middle
    middle, low = np.meshgrid((np.arange(60) + 0.5) / 60, (np.arange(60) + 0.5) / 60)
    prior = (1 - middle).ravel()
    bottom = ((1 - middle) * low).ravel()
    first = np.log(bottom / (1 - bottom))
    second = np.log((bottom + middle.ravel()) / (1 - bottom - middle.ravel()))
    weights = np.stack([expit(c) * expit(-c) for c in (first, second)])
    half, stretch = np.linspace(-2.5, 2.5, 51), np.linspace(-2.2, 2.2, 45)

    def like(sign, given):
        """Log-likelihood of a judge; axes share, stretch, shift."""
        gap = (second - first)[:, None] * np.exp(sign * stretch)
        centre = weights[0] * first + weights[1] * second
        cut = (centre[:, None] - weights[1][:, None] * gap) / weights.sum(axis=0)[:, None]
        low, high = cut[..., None] - sign * half, (cut + gap)[..., None] - sign * half
        between = np.log(np.maximum(expit(high) - expit(low), 1e-300))
        return given[0] * log_expit(low) + given[1] * between + given[2] * log_expit(-high)

    joint = like(1, counts[0, 0]) + like(-1, counts[0, 1])
    joint = np.exp(joint - joint.max()) * prior[:, None, None]
    marginal = joint.sum(axis=0)
    sd = halfnorm.ppf((np.arange(150) + 0.5) / 150)

    def normal(values, scale):
        """Probability of each cell of the grid, for each standard deviation."""
        edges = np.append(values, 2 * values[-1] - values[-2]) - (values[1] - values[0]) / 2
        return np.diff(ndtr(edges / (scale * sd[:, None] / np.sqrt(2))), axis=1)

    by_stretch, by_half = normal(stretch, 0.8), normal(half, 1.0)
    both = by_stretch @ marginal @ by_half.T
    both /= both.sum()
    after = made.idata["posterior"]
    assert_mc_mean(after["cutpoint_scale"].to_numpy(), float(both.sum(axis=1) @ sd) * 0.8)
    assert_mc_mean(after["judge_scale"].to_numpy(), float(both.sum(axis=0) @ sd))
    cumulative = both.sum(axis=1).cumsum()
    for prob in (0.1, 0.5, 0.9):
        at = np.interp(prob, cumulative, 0.8 * sd)
        assert_mc_quantile(after["cutpoint_scale"].to_numpy(), prob, at)
    mixed = joint @ by_half.sum(axis=0) @ by_stretch.sum(axis=0)
    mixed /= mixed.sum()
    drawn = after["value_share"].to_numpy()[..., 1]
    assert_mc_mean(drawn, float(mixed @ middle.ravel()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "scale", "words"),
    [
        (simulate(items=3, judges=1, random_seed=1), RANGE, "no others to differ from"),
        (
            simulate(judges=2, value_share=[0.5, 0.5], scale=[0, 1], random_seed=1),
            [0, 1],
            "has one cutpoint",
        ),
    ],
)
def test_cutpoints_that_the_design_cannot_have_are_refused(table, scale, words):
    scores = Scores.from_frame(table, scale=scale, judge="judge")
    with pytest.raises(bj.InputError, match=words):
        build_model(scores, JudgeCutpoints())
    build_model(scores, CumulativeLogit())


def test_a_stretch_leaves_an_average_items_mean_where_it_is():
    from bayesjudge.repeats.components import Effects, cutpoints, moments, stretched

    cuts = cutpoints(SHARE)
    scale = np.arange(1.0, 6.0)
    mean, square = moments(0.0, cuts, scale, Effects())
    step = 1e-4
    moved, wider = moments(0.0, stretched(cuts, [step, step, step]), scale, Effects())
    assert abs(moved - mean) < 0.02 * step  # to first order
    assert wider - moved**2 < square - mean**2  # all gaps wider: fewer answers at the ends
    assert_allclose(stretched(cuts, [0.5, -0.2, 0.3]), widened(cuts, [0.5, -0.2, 0.3]))
