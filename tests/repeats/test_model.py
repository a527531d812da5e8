"""The hierarchical model against sums by hand, the closed forms, and known truth."""

import numpy as np
import pytest
import xarray as xr
from conftest import MODULES
from numpy.testing import assert_allclose
from oracles import assert_mc_mean, assert_mc_quantile
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import halfnorm, multinomial, norm

import bayesjudge as bj
from bayesjudge.core.fit import Fit
from bayesjudge.repeats import (
    CumulativeLogit,
    Scores,
    build_model,
    fit,
    log_likelihood,
    score_components,
    simulate,
)
from bayesjudge.repeats.model import _effective_repeats

RANGE = range(1, 6)
CONTRACT = next(one for one in MODULES if one.name == "repeats")


def read(table):
    return Scores.from_frame(table, scale=RANGE, item="item", judge="judge", order="repeat")


def shares_of(eta, share, noise=1.0):
    """Probabilities of the values, by differences of logistic functions."""
    cuts = np.log(np.cumsum(share)[:-1] / (1 - np.cumsum(share)[:-1]))
    above = np.concatenate([[1.0], expit((eta - cuts) / noise), [0.0]])
    return above[:-1] - above[1:]


def test_a_panel_is_worth_its_judges_or_all_their_repeats():
    """By the harmonic mean of the repeats, where a judge saw an item."""
    counts = [[[0, 0], [2, 0], [1, 1]], [[4, 0], [0, 4], [2, 2]]]
    scores = Scores(counts, scale=[0, 1], items="xy", judges="abc")
    worth = _effective_repeats(scores, np.array([0.0, 1.0]))
    assert_allclose(worth, [3 * 5 / (2 / 2 + 3 / 4), 3])


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["constant", "by_level"])
def test_likelihood_is_that_of_the_shares(noise):
    scores = read(simulate(items=3, judges=2, repeats=4, random_seed=1))
    model = build_model(scores, CumulativeLogit(noise=noise))
    share = np.array([0.1, 0.15, 0.35, 0.3, 0.1])
    a, b, c = np.array([0.4, -1.2, 0.8]), np.array([0.3, -0.3]), np.linspace(-1, 1, 6)
    values = {"value_share": share, "item_judge_effect": 0.6 * c, "item_judge_scale": 0.6}
    values |= {"item_scale": 1.1, "judge_scale": 0.5, "item_offset": 0.0, "judge_offset": 0.0}
    values |= {"item_effect": a, "judge_effect": b}
    if noise == "by_level":
        values |= {"noise_slope": 0.7, "noise_curve": -0.4}
    by_hand = 0.0
    for i in range(3):
        for j in range(2):
            eta = a[i] + b[j] + 0.6 * c[2 * i + j]
            t = np.tanh(eta / np.sqrt(1.1**2 + 0.5**2 + 0.6**2))
            wide = np.exp(0.7 * t - 0.4 * t**2) if noise == "by_level" else 1.0
            p = shares_of(eta, share, wide)
            by_hand += float(multinomial(scores.counts[i, j].sum(), p).logpmf(scores.counts[i, j]))
    import pytensor

    given = model["given"]
    logp = model.logp(vars=given, sum=True)
    inputs = {v.name: v for v in model.free_RVs}
    replaced = {model.rvs_to_values[v]: values_to(model, v, values[n]) for n, v in inputs.items()}
    found = pytensor.graph.replace.graph_replace(logp, replaced, strict=False).eval()
    assert_allclose(found, by_hand, rtol=1e-10)


def values_to(model, variable, value):
    """A value on the scale that the model's transform samples on."""
    import pytensor.tensor as pt

    transform = model.rvs_to_transforms[variable]
    constant = pt.as_tensor(np.asarray(value, float))
    if transform is None:
        return constant
    return transform.forward(constant, *variable.owner.inputs)


@pytest.mark.study  # the likelihood is held above, and sampling by the contract
def test_one_judge_pair_agrees_with_quadrature():
    """One item, two judges, two values: a three-dimensional integral on a grid."""
    counts = np.array([[[9, 3], [4, 8]]])
    scores = Scores(counts, scale=[0, 1], items=["x"], judges=["a", "b"])
    made = fit(scores, CumulativeLogit(judge_scale=1.0), random_seed=1, draws=2000)
    # the share of 1 for the average of both, half the difference, and the standard deviation:
    # two zero-sum effects (h, -h) with h ~ N(0, sd / sqrt 2)
    share = np.linspace(0, 1, 402)[1:-1]
    half = np.linspace(-4, 4, 241)
    sd = halfnorm.ppf((np.arange(120) + 0.5) / 120)
    logit = np.log(share / (1 - share))[:, None]
    one, two = expit(logit + half), expit(logit - half)
    like = one**3 * (1 - one) ** 9 * two**8 * (1 - two) ** 4
    width = sd[:, None] / np.sqrt(2)
    normal = np.exp(-0.5 * (half / width) ** 2) / width
    joint = np.einsum("pd,sd->ps", like, normal)
    joint /= joint.sum()
    assert_mc_mean(made.idata["posterior"]["value_share"].to_numpy()[..., 1], joint.sum(1) @ share)
    scale_draws = made.idata["posterior"]["judge_scale"].to_numpy()
    assert_mc_mean(scale_draws, float(joint.sum(0) @ sd))
    for prob in (0.1, 0.5, 0.9):
        cumulative = joint.sum(1).cumsum()
        at = np.interp(prob, cumulative, share + (share[1] - share[0]) / 2)
        assert_mc_quantile(made.idata["posterior"]["value_share"].to_numpy()[..., 1], prob, at)


@pytest.mark.study
def test_derived_quantities_are_the_latent_ones_translated(fit_of):
    """Components of single draws against the simulator's own translation."""
    after = fit_of(CONTRACT).idata["posterior"]
    for draw in (0, 500, 999):
        one = after.isel(chain=1, draw=draw)
        share = one["value_share"].to_numpy()
        n_items, n_judges = one["item"].size, one["judge"].size
        sds = {name: float(one[name]) for name in ("item_scale", "judge_scale", "item_judge_scale")}
        offset = float(
            one["item_offset"] * sds["item_scale"] / np.sqrt(n_items)
            + one["judge_offset"] * sds["judge_scale"] / np.sqrt(n_judges)
        )
        # the population's average lies off the average of those at hand
        shifted = shares_of(offset, share)
        expected = bj.repeats.score_components(shifted, scale=RANGE, **sds)
        for name, value in expected.items():
            assert_allclose(float(one[name]), value, rtol=2e-3, atol=2e-3, err_msg=name)
        rho = 1 - expected["repeat_sd"] ** 2 / (
            expected["repeat_sd"] ** 2 + expected["judge_sd"] ** 2 + expected["item_judge_sd"] ** 2
        )
        assert_allclose(float(one["effective_repeats"]), 30 / (1 + 4 * rho), rtol=5e-3)


@pytest.mark.own_model
@pytest.mark.sampling
def test_effects_follow_the_scores(fit_of):
    made = fit_of(CONTRACT)
    effects = made.idata["posterior"]["item_effect"].mean(("chain", "draw")).to_numpy()
    assert_allclose(effects.sum(), 0, atol=1e-9)
    assert np.corrcoef(effects, made.data.means.mean(axis=1))[0, 1] > 0.98
    # partial pooling: an item's score lies between its own mean and that of all
    pulled = made.draws("item_score").mean(axis=0) - made.draws("mean_score").mean()
    raw = made.data.means.mean(axis=1) - made.data.means.mean()
    far = np.abs(raw) > 0.3
    assert ((pulled / raw)[far] < 1).all()
    assert ((pulled / raw)[far] > 0.5).all()


@pytest.mark.slow
def test_a_missing_combination_is_no_obstacle():
    table = simulate(items=4, judges=3, repeats=3, random_seed=3)
    table = table[~((table["item"] == "item2") & (table["judge"] == "judge3"))]
    model = build_model(read(table))
    assert len(model.coords["cell"]) == 11
    assert model["counts"].get_value().sum() == 33


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "there"),
    [
        ({"items": 6, "judges": 1}, {"mean_score", "item_score", "item_sd", "repeat_sd"}),
        ({"items": 1, "judges": 4}, {"mean_score", "judge_sd", "repeat_sd", "effective_repeats"}),
    ],
)
def test_effects_that_the_design_cannot_show_are_left_out(sizes, there):
    scores = read(simulate(**sizes, random_seed=4))
    assert set(bj.repeats.anova(scores).quantities) == there
    assert set(CumulativeLogit()._quantities(scores)) == there
    names = {v.name for v in build_model(scores).free_RVs}
    assert {name for name in ("item_scale", "judge_scale") if name in names} == {
        name.replace("_sd", "_scale") for name in there if name in ("item_sd", "judge_sd")
    }
    assert "item_judge_scale" not in names


def test_one_item_and_one_judge_are_refused():
    with pytest.raises(bj.InputError, match="use exact"):
        build_model(Scores.from_values([1, 2, 2], scale=RANGE))


def test_priors_must_be_positive():
    with pytest.raises(bj.InputError, match="judge_scale must be positive"):
        CumulativeLogit(judge_scale=0)


# Noise that depends on the level ------------------------------------------------------------------


@pytest.mark.slow
def test_components_under_noise_by_level_are_those_of_simulated_scores():
    sizes = {"item_scale": 1.5, "judge_scale": 0.0, "item_judge_scale": 0.0}
    noise = {"noise_slope": 0.6, "noise_curve": -0.7}
    expected = score_components((0.05, 0.2, 0.4, 0.25, 0.1), scale=RANGE, **sizes, **noise)
    scores = read(simulate(items=4000, judges=1, repeats=30, random_seed=1, **sizes, **noise))
    within = scores.deviations[:, 0] / 29
    error = within.std() / np.sqrt(4000)
    assert abs(within.mean() - expected["repeat_sd"] ** 2) < 4 * error
    assert abs(scores.means.std() ** 2 - within.mean() / 30 - expected["item_sd"] ** 2) < 0.05
    constant = score_components((0.05, 0.2, 0.4, 0.25, 0.1), scale=RANGE, **sizes)
    assert abs(within.mean() - constant["repeat_sd"] ** 2) > 8 * error  # the planted difference


@pytest.fixture(scope="module")
def by_level():
    """Noise .45 at the lowest and .8 times at the highest level of what it is in the middle."""
    sizes = {"item_scale": 3.0, "judge_scale": 0.0, "item_judge_scale": 0.0}
    table = simulate(
        items=40, judges=1, noise_slope=0.8, noise_curve=-0.8, repeats=8, random_seed=3, **sizes
    )
    quick = {"random_seed": 1, "draws": 1000, "tune": 500, "chains": 2, "progress": False}
    return {
        noise: fit(read(table), CumulativeLogit(noise=noise), **quick)
        for noise in ("constant", "by_level")
    }


@pytest.mark.study
def test_noise_by_level_is_found_and_preferred(by_level):
    import arviz_stats

    after = by_level["by_level"].idata["posterior"]
    for name, truth in (("noise_slope", 0.8), ("noise_curve", -0.8)):
        low, high = np.quantile(after[name], [0.005, 0.995])
        assert low < truth < high, name
    assert np.quantile(after["noise_slope"], 0.005) > 0
    table = arviz_stats.compare({name: log_likelihood(made) for name, made in by_level.items()})
    assert table.index[0] == "by_level"
    assert table["elpd_diff"].abs().max() > 2 * table["dse"].max()


@pytest.mark.slow
def test_log_likelihood_of_an_item_is_an_integral_over_its_effect():
    scores = read(simulate(items=40, judges=1, repeats=8, random_seed=3))
    scale, slope, curve = 3.1, 0.75, -0.85
    share = np.array([0.05, 0.2, 0.4, 0.25, 0.1])
    point = {"item_scale": scale, "noise_slope": slope, "noise_curve": curve}
    drawn = {name: (("chain", "draw"), [[value]]) for name, value in point.items()}
    drawn["value_share"] = (("chain", "draw", "value"), share[None, None])
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(drawn)})
    made = Fit(tree, scores, CumulativeLogit(noise="by_level"), (), "", "")
    found = log_likelihood(made)["log_likelihood"]["score"]
    sd = scale * np.sqrt(1 - 1 / 40)

    def density(eta):
        t = np.tanh(eta / scale)
        p = shares_of(eta, share, np.exp(slope * t + curve * t**2))
        return np.prod(p ** scores.counts[0, 0]) * norm.pdf(eta, scale=sd)

    by_hand = quad(density, -8 * sd, 8 * sd, limit=400, epsabs=0, epsrel=1e-9)[0]
    assert_allclose(float(found[0, 0, 0]), np.log(by_hand), rtol=1e-6)


def test_items_without_a_score_are_left_out_with_a_caution():
    table = simulate(items=6, judges=2, repeats=3, random_seed=1).astype({"score": float})
    table.loc[table["item"] == "item4", "score"] = np.nan
    full = table[table["item"] != "item4"]
    for made, without in zip(
        bj.repeats.closed_forms(read(table)), bj.repeats.closed_forms(read(full)), strict=True
    ):
        told = {c.id: c.numbers for c in made.cautions}["no-score"]
        assert (told["empty"], told["items"], list(told["names"])) == (1, 6, ["item4"])
        assert made.table.equals(without.table)
