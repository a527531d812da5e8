"""What the normal model leaves out is said, and what it does not leave out is not."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias.cautions import model_cautions

READ = {"scale": (-1000, 1000), "design": "item"}
ITEMS = 400


def scores(differences, noise=0.5, seed=0):
    """A baseline and one variant a column of differences, each judged with noise."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(differences.shape[1])]
    quality = rng.normal(0, 10, size=(len(differences), 1))
    after = quality + np.column_stack([np.zeros(len(differences)), differences])
    wide = pd.DataFrame(after + rng.normal(0, noise, after.shape), columns=["baseline", *names])
    again = pd.DataFrame({"rerun": quality[:, 0] + rng.normal(0, noise, len(quality))})
    return (
        pd.concat([wide, again], axis=1)
        .rename_axis("item")
        .reset_index()
        .melt("item", var_name="variant", value_name="score")
    )


def said(differences, **how):
    shifts = bias.Shifts.from_frame(scores(differences, **how), **READ, rerun="rerun")
    return {c.id: c.numbers for c in model_cautions(shifts)}


def test_heavy_tails_and_the_factor_that_intervals_are_too_narrow_by():
    rng = np.random.default_rng(1)
    laplace = rng.laplace((0, 5), 3, size=(ITEMS, 2))  # kurtosis 6: the square root of 5 / 2
    found = said(laplace)
    assert set(found) == {"heavy-tailed-shifts"}
    shown = [float(part.split()[1]) for part in found["heavy-tailed-shifts"]["factors"]]
    x = laplace  # the noise adds little to a spread of 4
    narrow = np.sqrt((((x - x.mean(0)) / x.std(0)) ** 4).mean(0) / 2 - 0.5)
    assert_allclose(shown, narrow, atol=0.15)


def test_items_that_move_alike_under_two_perturbations():
    rng = np.random.default_rng(2)
    covariance = 9 * np.array([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])
    found = said(rng.multivariate_normal(np.zeros(3), covariance, size=ITEMS))
    assert set(found) == {"shifts-together"}
    correlation = found["shifts-together"]["most"]
    assert correlation == pytest.approx(0.5, abs=4 * 0.75 / np.sqrt(ITEMS) + 0.05)


@pytest.mark.parametrize("noise", [0.5, 6.0])
def test_normal_shifts_of_their_own_raise_nothing(noise):
    """The baseline's noise makes differences correlate too, which the model has."""
    rng = np.random.default_rng(3)
    assert said(rng.normal(0, 3, size=(ITEMS, 3)), noise=noise) == {}


def alike(*, omega, together, seed, items=160):
    """Scores of two changes, nothing judged twice: what an item's shifts share is `together`."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 4, (items, 3))
    shared = rng.normal(0, together, (items, 1)) if together else 0.0
    after = noise[:, 1:] + shared + rng.normal(0, omega, (items, 2))
    wide = pd.DataFrame({"baseline": noise[:, 0], "a": after[:, 0], "b": after[:, 1]})
    table = wide.rename_axis("item").reset_index().melt("item", var_name="variant",
                                                        value_name="score")  # fmt: skip
    return {c.id for c in model_cautions(bias.Shifts.from_frame(table, **READ))}


@pytest.mark.slow
def test_a_shared_baseline_correlates_shifts_by_a_half_where_nothing_was_judged_twice():
    """Of shifts that are noise alone 0.5; more than noise can explain is told, less is not."""
    runs = 100
    rare = sum("shifts-together" in alike(omega=0, together=0, seed=i) for i in range(runs))
    assert rare <= 1
    assert all("shifts-together" in alike(omega=0, together=8, seed=i) for i in range(15))


def test_noise_of_a_baseline_asked_twice_is_shared_as_that_of_two_calls():
    """The variants were asked once: shifts that are noise alone do not go together."""
    rng = np.random.default_rng(1)
    quality, table = rng.normal(0, 10, ITEMS), []
    for name in ("baseline", "a", "b", "rerun"):
        score = quality + rng.normal(0, 3, ITEMS)
        table.append(pd.DataFrame({"item": range(ITEMS), "variant": name, "score": score}))
    shifts = bias.Shifts.from_frame(pd.concat(table), **READ, rerun="rerun")
    assert shifts.counts[0, 0].tolist() == [2, 1, 1]
    assert "shifts-together" not in {caution.id for caution in model_cautions(shifts)}


def test_few_items_cannot_tell():
    few = bias.Shifts.from_frame(bias.simulate(items=30, random_seed=1), scale=(0, 100),
                                 design="item", rerun="rerun")  # fmt: skip
    assert model_cautions(few) == ()


# One judge or one perturbation by itself ---------------------------------------------------------


def two_judges():
    table = bias.simulate(items=40, judges=["a", "b"], random_seed=4)
    return bias.Shifts.from_frame(
        table, scale=(0, 100), design="item", judge="judge", rerun="rerun"
    ), table


@pytest.mark.slow
def test_one_judge_is_as_if_it_had_been_read_alone():
    both, table = two_judges()
    about = {"scale": (0, 100), "design": "item", "judge": "judge", "rerun": "rerun"}
    alone = bias.Shifts.from_frame(table[table["judge"] == "b"], **about)
    taken = both.only(judge="b")
    for name in ("counts", "means", "squares", "freedom"):
        assert_allclose(getattr(taken, name), getattr(alone, name), rtol=1e-12)
    pd.testing.assert_frame_equal(
        bias.variance_parts(taken).table, bias.variance_parts(alone).table
    )


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.slow
def test_one_perturbation_keeps_its_cells_and_the_judges_noise():
    both, _ = two_judges()
    one = both.only(perturbation="order")
    assert_allclose(one.means, both.means[..., [0, 2]])
    assert_allclose(one.squares, both.squares)
    assert bias.build_model(one).named_vars["mean_shift"].eval().shape == (2, 1)
    with refused(id="only-reruns"):
        bias.build_model(both.only(perturbation="rerun"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bias.Shifts.from_differences([0, 1], scale=(1, 5)), "sizes of differences"),
        (
            lambda: bias.Shifts.from_differences([0, 1], scale=(1, 5), signed=True),
            "needs the score",
        ),
        (lambda: vector(), "there are 2"),
    ],
)
def test_what_cannot_be_sampled_is_told_what_can_be_done(make, words):
    with pytest.raises(bj.InputError, match=words):
        bias.fit(make())


def vector():
    table = bias.simulate(items=5, random_seed=1).assign(tone=50)
    return bias.Shifts.from_frame(table, scale=(0, 100), design="item", score=["score", "tone"])


# Two items of one name ---------------------------------------------------------------------------


def test_two_items_of_one_name_are_noticed():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        [
            (item, v, rng.integers(1, 6))
            for item in "aabcd"
            for v in ("baseline", "x")
            for _ in "12"
        ],
        columns=["item", "variant", "score"],
    )
    shifts = bias.Shifts.from_frame(table, scale=(1, 5), design="item", repeats="mean")
    (caution,) = (c for c in bias.rms_shift(shifts).cautions if c.id == "more-repeats-than-usual")
    assert caution.text.startswith("2 of 8 combinations")
    right = table.assign(item=np.repeat(list("aebcd"), 4))
    shifts = bias.Shifts.from_frame(right, scale=(1, 5), design="item", repeats="mean")
    assert "more-repeats-than-usual" not in {c.id for c in bias.rms_shift(shifts).cautions}


def composo(prompt, key):
    with gzip.open(shared(f"data/composo/{prompt}_both_k8.jsonl.gz"), "rt") as file:
        found = {key(item): item["full_scores"] for item in map(json.loads, file)}
    return pd.DataFrame(
        [
            (f"{name}/{r}", prompt, s)
            for name, responses in found.items()
            for r, scores in enumerate(responses)
            for s in scores
        ],
        columns=["item", "variant", "score"],
    ).astype({"score": float})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        # the documented figures come from joining by an id that is not unique across subsets
        (lambda item: item["id"], [-0.191, 0.592, 0.233]),
        (lambda item: (item["subset"], item["id"]), [-0.192, 0.581, 0.234]),
    ],
)
def test_shifts_of_real_prompts(key, expected):
    # these figures are of the means of the scores that there are
    base, other = (composo(prompt, key).dropna() for prompt in ("base", "cal-low"))
    table = pd.concat([base, other[other["item"].isin(base["item"])]])
    shifts = bias.Shifts.from_frame(
        table, scale=(1, 10), design="item", baseline="base", repeats="mean"
    )
    found = bias.variance_parts(shifts)
    entries = (("mean_shift", "cal-low"), ("rms_shift", "cal-low"), "repeat_noise")
    assert [round(found[entry].value, 3) for entry in entries] == expected
