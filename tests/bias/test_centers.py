"""Centres that a score can move, projection, weighted mixtures, and answers written otherwise."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.certificates import noise
from bayesjudge.bias.variants import ERRORS, FORMATTING

SHIFTS = bias.Shifts.from_differences([0] * 250 + [1] * 50, scale=(1, 5))


@pytest.mark.parametrize("values", [(1, 6), (4, 6), (1, 3)])
@pytest.mark.parametrize("how", ["mean", "median", "trimmed"])
def test_no_score_moves_a_centre_further_than_it_says(how, values):
    scores = np.random.default_rng(1).integers(*values, 31).astype(float)
    found = certificates.robust_center(scores, scale=(1, 5), how=how)
    of = {
        "mean": np.mean,
        "median": np.median,
        "trimmed": lambda x: np.sort(x)[3:-3].mean(),
    }[how]
    assert found.value == pytest.approx(of(scores))
    moves = []
    for at in range(31):
        for new in np.linspace(1, 5, 9):
            other = scores.copy()
            other[at] = new
            moves.append(abs(of(other) - of(scores)))
    assert found.largest_move == pytest.approx(max(moves))


@pytest.mark.parametrize("how", ["median", "trimmed"])
def test_released_scores_keep_to_the_tolerance_around_a_centre_of_their_own(how):
    scores = np.array([3.0] * 200 + [1.0] * 50 + [5.0] * 50)
    center = certificates.robust_center(scores, scale=(1, 5), how=how)
    about = {"tolerance": 0.5, "failure_prob": 0.05, "units": "points"}
    card = certificates.certify(SHIFTS, **about, center=center)
    move = np.sqrt(card.dim) * center.largest_move
    assert card.alpha * card.shift_bound + (1 - card.alpha) * move == pytest.approx(0.5)
    before = certificates.release(scores, card).scores[:, 0]
    assert_allclose(before, card.alpha * scores + (1 - card.alpha) * center.value)
    farthest = 0.0
    for at in (0, 210, 299):
        for to in (-1, 1):
            other = scores.copy()
            other[at] = np.clip(other[at] + to * card.shift_bound, 1, 5)
            after = card.alpha * other + (1 - card.alpha) * center.of(other)
            farthest = max(farthest, np.linalg.norm(after - before))
    assert farthest <= 0.5 + 1e-12
    assert how in card.promise
    other = np.where(np.arange(300) < 150, 2.0, scores)
    with refused(id="other-centre"):
        certificates.release(other, card)


def test_a_centre_that_moves_too_far_certifies_nothing():
    scores = np.array([1.0] * 150 + [5.0] * 150)
    center = certificates.robust_center(scores, scale=(1, 5))
    assert center.largest_move == 2.0
    card = certificates.certify(
        SHIFTS, tolerance=0.5, failure_prob=0.05, units="points", center=center
    )
    assert not card.certified
    assert "center" in card.reason


def test_an_average_of_batches_is_fixed_for_the_next():
    means = [3.0, 4.0, 2.5]
    assert certificates.moving_average(means, weight=0.25) == pytest.approx(
        0.75 * (0.75 * 3 + 0.25 * 4) + 0.25 * 2.5
    )
    with pytest.raises(bj.InputError, match="weight"):
        certificates.moving_average(means, weight=0)


@pytest.mark.slow
def test_a_projection_moves_no_two_releases_apart():
    card = certificates.certify(SHIFTS, tolerance=0.5, failure_prob=0.05, units="points")
    rng = np.random.default_rng(2)
    pairs = rng.uniform(1, 5, (20, 2, 300))
    for one, other in pairs:
        plain = [certificates.release(x, card, center=3).scores[:, 0] for x in (one, other)]
        inside = [
            certificates.release(x, card, center=3, radius=5.0).scores[:, 0] for x in (one, other)
        ]
        assert all(np.linalg.norm(x - 3) <= 5 + 1e-9 for x in inside)
        assert np.linalg.norm(inside[0] - inside[1]) <= np.linalg.norm(plain[0] - plain[1]) + 1e-9
    with pytest.raises(bj.InputError, match="radius"):
        certificates.release(pairs[0, 0], card, center=3, radius=-1)


def test_a_mixture_by_weights_and_a_floor():
    found = noise.combine({"a": 2.0, "b": 0.0}, "rms", weights={"a": 1, "b": 3})
    assert found.value == pytest.approx(1.0)
    assert found.leaves_out == ("a",)
    floored = noise.combine({"a": 2.0, "b": 0.0}, "rms", floor=1.0)
    assert floored.value == pytest.approx(np.sqrt(2.5))
    with pytest.raises(bj.InputError, match="must name"):
        noise.combine({"a": 2.0}, "rms", weights={"b": 1})


def test_the_rms_combination_fails_for_the_worst_bias():
    # three biases, one of them alone: the RMS is sqrt(3) below it, and Markov's bound for the RMS
    # at delta / 2 = .005 lets the worst exceed the tolerance three times as often
    tolerance, delta = 1.0, 0.01
    rms = tolerance * np.sqrt(delta / 2) * (1 - 1e-6)
    worst = np.sqrt(3) * rms
    combined = noise.combine({"worst": worst, "b": 0.0, "c": 0.0}, "rms").value
    assert combined == pytest.approx(rms)
    sigma = noise.noise_scale(combined, tolerance=tolerance, failure_prob=delta, dim=500)
    length = tolerance * (1 + 1e-3)
    prob = (worst / length) ** 2
    failure = noise.exact_failure(
        sigma, lengths=[0, length], probs=[1 - prob, prob], dim=500, tolerance=tolerance
    )
    assert failure == pytest.approx(0.0149, abs=2e-4)


TEXT = "Use 12 eggs. The oven is hot! Then wait for 3 minutes."


def test_formatting_keeps_every_word_and_errors_do_not():
    table = pd.DataFrame({"item": ["a", "b"], "answer": [TEXT, "No."]})
    made = bias.make_variants(table, changes=[*FORMATTING, *ERRORS], random_seed=3)
    words = set(TEXT.replace("!", ".").replace(".", "").split())
    for row in made[made["item"] == "a"].itertuples():
        kept = words <= set(row.answer.replace("!", "").replace(".", "").replace("*", "").split())
        assert kept == (row.variant in ("baseline", *FORMATTING)) or row.variant == "negation"
    assert not made[(made["item"] == "b") & made["variant"].isin(ERRORS)]["changed"].any()
    again = bias.make_variants(table, changes=[*FORMATTING, *ERRORS], random_seed=3)
    pd.testing.assert_frame_equal(made, again)


def test_variants_leave_alone_what_they_would_spoil():
    texts = {
        "code": "Run it. ```\nif x:\n    f(2**3)\n``` Then stop.",
        "power": "It is 2**3**2 and x**2. Done.",
        "contraction": "You can't do it. It can wait.",
        "list": "1. Mix.\n2. Bake for 20 minutes.",
        "thousands": "It cost 2,000 euros or 35.",
    }
    table = pd.DataFrame({"item": list(texts), "answer": list(texts.values())})
    made = bias.make_variants(table, changes=[*FORMATTING, *ERRORS], random_seed=1)
    of = made.set_index(["item", "variant"])["answer"]
    assert all(of["code", name] == texts["code"] for name in FORMATTING if name != "heading")
    assert of["power", "plain"] == texts["power"]
    assert of["contraction", "negation"] == "You can't do it. It cannot wait."
    assert of["list", "number"].startswith("1. Mix.\n2. Bake for ")
    assert of["list", "number"] != texts["list"]
    assert of["thousands", "number"].startswith("It cost 2,000 euros or ")
    plain = bias.make_variants(
        pd.DataFrame({"item": ["a"], "answer": ["# Title\n- **Bold** and `code`."]}),
        changes=["plain"],
    )
    assert plain["answer"][1] == "Title\nBold and code."


def test_what_variants_refuse():
    table = pd.DataFrame({"item": ["a", "a"], "answer": ["x", "y"]})
    with pytest.raises(bj.InputError) as error:
        bias.make_variants(table, changes=["upside_down"])
    assert len(error.value.problems) == 2
