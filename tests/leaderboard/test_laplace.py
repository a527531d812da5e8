"""The posterior at once, against prior draws weighted by the likelihood, and against NUTS."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import MODULES

from bayesjudge.core.convergence import ess_bulk
from bayesjudge.leaderboard import (
    Battles,
    CalibratedBattles,
    approximate,
    davidson,
    laplace,
    simulate,
)
from bayesjudge.leaderboard.cells import cells_of
from bayesjudge.leaderboard.laplace import Density, Scales
from bayesjudge.leaderboard.likelihood import dispersion

MODEL = CalibratedBattles()
#: Of no prior the scale or the place is 0 or 1, where multiplying and dividing are the same.
OTHER = CalibratedBattles(
    sharpness=0.6, liking_scale=0.4, judge_scale=1.7, tie_location=-0.8, order_scale=0.7,
    target="equal length",
)  # fmt: skip


def few(labelled=0.5, items=4, **about):
    return Battles.from_frame(
        simulate(strengths=(0.6, 0.1, -0.7), favours=(0.0, 0.5, 0.0), items=items,
                 labelled=labelled, random_seed=2),
        people="human", **about,
    )  # fmt: skip


def by_hand(battles, model, draws=400_000, seed=1):
    """Posterior means and standard deviations by draws from the priors, written out again.

    Of people's strengths, and beside a judge of the scale of likings and the sharpness.
    """
    rng = np.random.default_rng(seed)
    k = len(battles.systems)
    spread = np.abs(rng.normal(0, model.judge_scale, (draws, 1)))
    judge = spread * rng.normal(size=(draws, k))
    if battles.judges:
        times = np.abs(rng.normal(0, model.sharpness, (draws, 1)))
        scale = rng.rayleigh(model.liking_scale, (draws, 1))
        people = times * judge + scale * rng.standard_t(4, (draws, k))
    else:
        people = judge
    order = rng.normal(0, model.order_scale, draws)
    ties = np.exp(rng.normal(model.tie_location, 1, (2, draws)))
    logs = np.zeros(draws)
    for source, level, shift, tie in (
        ("people", people, 0.0, ties[0]),
        ("judge", judge, order, ties[1]),
    ):
        if source not in battles.sources:
            continue
        for (a, b, verdict), n in np.ndenumerate(battles.counted(source)):
            if n:
                eta = level[:, a] - level[:, b] + shift
                worth = [np.exp(eta / 2), tie, np.exp(-eta / 2)]
                logs += n * np.log(worth[verdict] / sum(worth))
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    unknown = people - people.mean(axis=1, keepdims=True)
    if battles.judges:
        unknown = np.hstack([unknown, scale, times])
    mean = weight @ unknown
    sd = np.sqrt(weight @ (unknown - mean) ** 2)
    return mean, sd, 1 / (weight**2).sum()


@pytest.mark.slow
@pytest.mark.parametrize("verdict", ["winner", None], ids=["with a judge", "people alone"])
@pytest.mark.parametrize("model", [MODEL, replace(OTHER, target="any length")])
def test_posterior_is_that_of_weighted_prior_draws(model, verdict):
    battles = few(verdict=verdict)
    mean, sd, worth = by_hand(battles, model)
    made = approximate(battles, model, draws=8000)
    draws = made.draws("strength")
    if battles.judges:
        draws = np.column_stack([draws, made.draws("liking_scale"), made.draws("sharpness")])
    own = [ess_bulk(column.reshape(4, -1)) for column in draws.T]
    error = sd * np.sqrt(1 / worth + 1 / np.array(own))
    assert worth > 1000
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean), 4 * error)
    np.testing.assert_array_less(np.abs(draws.std(axis=0) - sd), 4 * error)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("model", [CalibratedBattles(target="equal length"), OTHER])
def test_derivatives(model, safe):
    battles = few(lengths=("length_a", "length_b"))
    density = Density.of(battles, cells_of(battles, style=True), model)
    x = density.start() + np.random.default_rng(0).normal(0, 0.3, density.size)
    steps, scales = np.eye(density.size) * 1e-5, Scales(np.array([0.8]), 0.3)
    slope, curved = density.given(x, scales, safe=safe)
    numeric = [(density.at(x + h, scales) - density.at(x - h, scales)) / 2e-5 for h in steps]
    np.testing.assert_allclose(slope, numeric, atol=1e-6)
    if not safe:
        change = [
            density.given(x - h, scales, safe=False)[0]
            - density.given(x + h, scales, safe=False)[0]
            for h in steps
        ]
        np.testing.assert_allclose(curved, np.array(change) / 2e-5, atol=1e-6)
    else:
        assert np.linalg.eigvalsh(curved)[0] > 0


@pytest.mark.slow
def test_many_labels_leave_people_alone():
    """The judge's favourites do not move what people say often enough."""
    table = simulate(items=3000, labelled=1, favours=(0, 1.5, 0, 0, 0), random_seed=1)
    made = approximate(Battles.from_frame(table, people="human")).estimate()
    for i, value in enumerate((0.8, 0.3, 0.0, -0.3, -0.8)):
        row = made["strength", f"s{i + 1}"]
        assert abs(row.value - value) < 3 * (row.high - row.low) / 4


@pytest.mark.slow
def test_without_labels_people_follow_the_judge_with_room_for_its_errors():
    table = simulate(items=300, random_seed=1)
    battles = Battles.from_frame(table)
    made = approximate(battles)
    assert {"unlabelled-battles"} <= {c.id for c in made.cautions}
    judge = made.draws("judge_strength")[:, 0]
    strength = made.draws("strength")
    assert strength.std(axis=0).min() > 4 * judge.std(axis=0).max()
    assert np.corrcoef(strength.mean(axis=0), judge.mean(axis=0))[0, 1] > 0.99


@pytest.mark.slow
def test_uncorrected_draws_are_close(monkeypatch):
    """Of many systems the likelihood is a parabola; scales and heavy tails are the model's."""
    table = simulate(strengths=np.linspace(-1, 1, 12), favours=(0.0,) * 10 + (1.0, 0.0), items=25,
                     labelled=0.5, random_seed=2)  # fmt: skip
    battles = Battles.from_frame(table, people="human")
    exact = approximate(battles)
    monkeypatch.setattr(laplace, "MOST_CORRECTED", 0)
    plain = approximate(battles)
    assert plain.method.id == "laplace-battles:plain"
    assert {"approximate-posterior"} <= {c.id for c in plain.cautions}
    for name, off in (("liking_scale", 0.2), ("sharpness", 0.1)):
        assert plain.draws(name).mean() == pytest.approx(exact.draws(name).mean(), rel=off)
    one, other = (made.draws("strength") for made in (plain, exact))
    np.testing.assert_allclose(one.std(axis=0), other.std(axis=0), rtol=0.1)
    np.testing.assert_allclose(one.mean(axis=0), other.mean(axis=0), atol=0.05)


@pytest.mark.slow
def test_same_seed_same_draws():
    battles = few()
    one, same, other = (approximate(battles, random_seed=s).draws("strength") for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.own_model
@pytest.mark.sampling
def test_nuts_agrees(fit_of):
    sampled = fit_of(next(one for one in MODULES if one.name == "leaderboard"))
    made = approximate(sampled.data, draws=8000)
    assert sampled.converged
    for name in ("strength", "judge_favour", "sharpness", "liking_scale", "order_effect"):
        one, other = (f.draws(name).reshape(len(f.draws(name)), -1) for f in (sampled, made))
        for a, b in zip(one.T, other.T, strict=True):
            ess = [ess_bulk(x.reshape(4, -1)) for x in (a, b)]
            error = np.sqrt(a.var() / ess[0] + b.var() / ess[1])
            assert abs(a.mean() - b.mean()) < 4 * error, name
            assert abs(a.std() / b.std() - 1) < 4 * np.sqrt(1 / ess[0] + 1 / ess[1]), name


def test_item_effects_count_fewer_battles():
    table = simulate(items=40, labelled=0.5, random_seed=1)
    twice = pd.concat([table, table], ignore_index=True)
    pair, alone = (
        dispersion(Battles.from_frame(t, people="human", item="item"), "judge")
        for t in (twice, table)
    )
    assert alone == 1
    assert pair == pytest.approx(2, rel=0.1)


@pytest.mark.slow
def test_the_text_counts_longer_responses_as_the_battles_do(uncompiled):
    """The density of the verdicts by a loop over battles, but for what no unknown changes."""
    battles = few(lengths=("length_a", "length_b"))
    model = CalibratedBattles(target="equal length")._build(battles)
    density = model.compile_logp([*model.observed_RVs, *model.potentials])
    names = ["strength", "judge_level", "people_style", "judge_style", "order_effect"]
    names += ["people_tie", *(f"judge_tie_{name}" for name in battles.judges)]
    wanted = model.replace_rvs_by_values([model[n] for n in names])
    values = model.compile_fn(wanted, inputs=model.value_vars, on_unused_input="ignore")
    rng, gaps = np.random.default_rng(1), []
    for _ in range(3):
        point = {k: v + rng.normal(0, 0.4, np.shape(v)) for k, v in model.initial_point().items()}
        people, (judge,), slope, (of_judge,), (order,), *ties = values(point)
        expected = 0.0
        for source, level, by_length, shift, tie in (
            ("people", people, slope, 0.0, ties[0]),
            ("judge", judge, of_judge, order, ties[1]),
        ):
            for i, n in enumerate(battles.count):
                a, b = battles.first[i], battles.second[i]
                eta = level[a] - level[b] + shift + by_length * battles.style[i]
                worth = np.array([np.exp(eta / 2), tie, np.exp(-eta / 2)])
                logs = np.log(worth / worth.sum())
                expected += n * battles.shares(source)[i] @ logs / dispersion(battles, source)
        gaps.append(density(point) - expected)
    assert np.ptp(battles.style) > 0.5
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)


@pytest.mark.slow
def test_of_a_judge_of_no_use_the_answer_is_that_of_people():
    """Where a safe curvature of the sharpness is all but 0 and chains by it stand still."""
    rng = np.random.default_rng(1041)
    strengths, _, judged = rng.normal(0, 0.6, (3, 6))
    table = simulate(strengths=tuple(strengths), favours=tuple(judged - strengths),
                     items=60, labelled=1, random_seed=rng)  # fmt: skip
    table.loc[~table.index.isin(rng.choice(len(table), 200, replace=False)), "human"] = None
    battles = Battles.from_frame(table, people="human")
    fit = approximate(battles, draws=1000, random_seed=1)
    assert fit.idata.attrs["accepted"] > laplace.ENOUGH
    assert not {caution.id for caution in fit.cautions} & {"approximate-posterior"}
    alone = davidson(battles, order=False).quantities["strength"].value
    drawn = fit.draws("strength")
    assert (np.abs(drawn.mean(0) - alone) < 1.5 * drawn.std(0)).all()
