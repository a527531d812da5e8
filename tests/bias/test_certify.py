from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused
from scipy import stats
from scipy.special import betaincinv

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.certificates import bounds, noise
from bayesjudge.bias.certificates.bounds import best_estimation_prob

POINTS = {"tolerance": 0.5, "failure_prob": 0.05, "units": "points"}


def shifts_of(*values, scale=(1, 5)):
    return bias.Shifts.from_differences(np.concatenate(values), scale=scale)


def test_tail_bound_is_clopper_and_pearsons_limit():
    """k beyond the bound: the upper limit of their probability is within what is allowed."""
    for m in (130, 300, 1000):
        lengths = np.arange(m, dtype=float)
        bound = bounds.tail_bound(lengths, largest=m, shift_prob=0.04, estimation_prob=0.01)
        beyond = (lengths > bound).sum()
        limit = betaincinv(beyond + 1, m - beyond, 0.99)
        over = betaincinv(beyond + 2, m - beyond - 1, 0.99)
        assert limit <= 0.04 < over


def test_rms_bound_is_clopper_and_pearsons_for_two_points():
    found = bounds.rms_bound([0] * 17 + [2] * 3, largest=2, estimation_prob=0.05)
    assert found**2 / 4 == pytest.approx(betaincinv(4, 17, 0.95), rel=1e-6)


@pytest.mark.parametrize("failure_prob", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("groups", [1, 3])
def test_with_fewer_neighbours_than_needed_the_scale_speaks(failure_prob, groups):
    needed = bounds.neighbours_needed(failure_prob, groups=groups)
    for m, speaks in ((needed - 1, False), (needed, True)):
        part = best_estimation_prob(failure_prob, m, groups)
        about = {"shift_prob": failure_prob - part, "estimation_prob": part / groups}
        assert (bounds.tail_bound(np.zeros(m), largest=4, **about) == 0) is speaks


def test_the_parts_of_the_failure_probability_add_up():
    card = certificates.certify(shifts_of([0] * 300), **POINTS, noise_prob=0.01)
    parts = card.shift_prob + card.noise_prob + card.estimation_prob
    assert parts == pytest.approx(0.05)
    assert card.alpha == 1
    assert card.noise_scale > 0


def test_noise_and_shift_stay_within_the_failure_probability():
    """All of them exactly: shifts as large as the bound allows, noise as large as allowed."""
    card = certificates.certify(
        shifts_of([0] * 200, [1] * 100),
        tolerance=2,
        failure_prob=0.05,
        units="points",
        noise_prob=0.02,
        alpha=1.0,
    )
    probs = [1 - card.shift_prob, card.shift_prob]
    failure = noise.exact_failure(
        card.noise_scale, lengths=[card.shift_bound, 4], probs=probs, dim=card.dim, tolerance=2
    )
    assert failure <= card.shift_prob + card.noise_prob
    louder = noise.exact_failure(
        card.noise_scale * 1.02, lengths=[1, 4], probs=probs, dim=card.dim, tolerance=2
    )
    assert louder > card.shift_prob + card.noise_prob


def test_worst_perturbation_sets_the_bound():
    table = pd.DataFrame(
        [
            (i, v, 3 + (v == "bold") * (i % 2))
            for i in range(200)
            for v in ("baseline", "bold", "caps")
        ],
        columns=["item", "variant", "score"],
    )
    shifts = bias.Shifts.from_frame(table, scale=(1, 5), design="item")
    card = certificates.certify(shifts, **POINTS)
    assert (card.worst, card.shift_bound, card.alpha) == ("bold", 1, 0.5)
    assert not card.range_only
    mixed = certificates.certify(shifts, **POINTS, mixture=True)
    assert mixed.neighbours == 400
    assert "[the" not in mixed.text


def test_a_mean_centre_is_counted():
    shifts = shifts_of([0] * 150, [1] * 50)
    fixed = certificates.certify(shifts, **POINTS)
    moving = certificates.certify(shifts, **POINTS, center="mean")
    assert moving.alpha < fixed.alpha
    # one score moves by 1, shrunk towards the mean of all 200
    scores = np.zeros((2, 200))
    scores[1, 0] = 1
    released = moving.alpha * scores + (1 - moving.alpha) * scores.mean(axis=1, keepdims=True)
    assert np.linalg.norm(released[1] - released[0]) == pytest.approx(0.5)
    noisy = [
        certificates.certify(
            shifts, **POINTS, center=center, alpha=0.4, noise_prob=0.01
        ).noise_scale
        for center in ("fixed", "mean")
    ]
    assert noisy[0] > noisy[1] > 0  # the centre's own movement leaves less room


def test_a_batch_and_its_own_mean_cannot_be_certified():
    rows = bias.simulate(items=20, random_seed=1)
    shifts = bias.Shifts.from_frame(rows, scale=(0, 100), design="batch")
    card = certificates.certify(
        shifts, tolerance=1, failure_prob=0.05, units="points", center="mean"
    )
    assert not card.certified
    assert "holdout" in card.text
    assert np.isnan(card.alpha)
    assert np.isnan(card.noise_scale)


def test_without_ends_of_the_scale_few_neighbours_certify_nothing():
    open_ended = shifts_of([0] * 20, scale=(-np.inf, np.inf))
    card = certificates.certify(open_ended, **POINTS)
    assert not card.certified
    assert "no bound" in card.reason
    assert np.isnan(card.alpha)


def test_reruns_are_not_certified_against_but_told():
    rows = bias.simulate(items=200, random_seed=2)
    shifts = bias.Shifts.from_frame(rows, scale=(0, 100), design="item", rerun="rerun")
    card = certificates.certify(shifts, tolerance=5, failure_prob=0.05, units="points")
    assert card.worst in ("format", "order")
    assert "reruns-move" in card.text


def test_every_problem_of_a_request_is_named():
    with pytest.raises(bj.InputError) as error:
        certificates.certify(
            shifts_of([0, 1]), tolerance=1, failure_prob=2, units="points", alpha=3, basis="best"
        )
    assert len(error.value.problems) >= 3


def test_a_fit_of_another_module_is_refused():
    other = bj.Fit(None, data=[0, 1], spec=None, quantities=(), method="", source="")
    for source, words in ((other, "got Fit of list"), ([0, 1], "got list")):
        with pytest.raises(bj.InputError, match=words):
            certificates.certify(source, **POINTS)


def test_several_judges_must_be_taken_one_by_one():
    rows = bias.simulate(items=5, judges=["a", "b"], random_seed=1)
    shifts = bias.Shifts.from_frame(rows, scale=(0, 100), design="item", judge="judge")
    with pytest.raises(bj.InputError, match="one judge"):
        certificates.certify(shifts, **POINTS)
    assert certificates.certify(shifts.only(judge="a"), **POINTS).certified


@pytest.mark.parametrize(("moved", "tolerance"), [(9, 0.5), (20, 0.9), (9, 0.4)])
def test_the_largest_shrinkage_leaves_nothing_to_noise(moved, tolerance):
    """Rounding puts the shift that is left at the tolerance, or (the first two) a hair below it."""
    about = {"failure_prob": 0.05, "units": "points", "noise_prob": 0.01, "basis": "source"}
    card = certificates.certify(shifts_of([0] * 50, [1] * moved), tolerance=tolerance, **about)
    assert card.alpha < 1
    assert 0 <= card.noise_scale < 1e-12
    assert "estimation-error-ignored" in {c.id for c in card.cautions}


def test_a_shift_to_come_is_longer_than_the_bound_as_often_as_is_allowed():
    """Over draws, the chance of a normal shift by the formula; the worst perturbation counts."""
    rng = np.random.default_rng(1)
    mean = rng.normal([0.0, 0.4, -0.2], 0.05, (2, 200, 3))
    spread = rng.uniform(0.5, 0.7, (2, 200, 3)) * [1, 1, 2]
    dims = ("chain", "draw", "perturbation")
    drawn = {"mean_shift": (dims, mean), "rms_shift": (dims, np.hypot(mean, spread))}
    posterior = xr.Dataset(drawn, {"perturbation": ["bold", "long", "order"]})
    fit = SimpleNamespace(
        idata=xr.DataTree.from_dict({"posterior": posterior}),
        data=SimpleNamespace(design="item"),
        draws=lambda name: posterior[name].to_numpy(),
    )

    def longer(length, k):
        each = stats.norm(mean[..., k], spread[..., k])
        return (each.cdf(-length) + each.sf(length)).mean()

    chances = bounds.tail_probability(fit, [0.5, 1.0])
    for k, name in enumerate(["bold", "long", "order"]):
        assert chances[(name,)] == pytest.approx([longer(t, k) for t in (0.5, 1.0)])
    for largest in (np.inf, 9.0):
        bound = bounds.bound_of_fit(fit, "predictive", 0.05, largest)
        assert bound.worst == "order"
        assert longer(bound.length, 2) == pytest.approx(0.05)
    assert bounds.bound_of_fit(fit, "predictive", 0.05, 1.5).length == 1.5  # the scale ends there
    fit.data.design = "batch"
    with refused(subject="tail_probability"):
        bounds.tail_probability(fit, 0.5)
