import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import refused
from scipy.special import chdtrc
from scipy.stats import beta, norm

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.cautions import tail_factor
from bayesjudge.bias.certificates import noise
from bayesjudge.core.methods import WORST_CASE
from bayesjudge.decide import gate

ABOUT = {"dim": 6, "tolerance": 0.5, "failure_prob": 0.01}


def test_no_shift_leaves_all_the_room_to_noise():
    # Corollary 3.5 with a shift of 0
    log = np.log(200)
    expected = 0.5 / np.sqrt(2 * (6 + 2 * np.sqrt(6 * log) + 2 * log))
    assert_allclose(noise.noise_scale(0.0, **ABOUT), expected, rtol=1e-12)


def test_nothing_is_certified_at_the_threshold_and_beyond():
    edge = 0.5 * np.sqrt(0.005)
    found = noise.noise_scale(np.array([edge * 0.999, edge, 1.0]), **ABOUT)
    assert np.isfinite(found).tolist() == [True, False, False]


@pytest.mark.slow
@given(st.floats(1e-4, 0.04), st.integers(1, 2000), st.sampled_from(["laurent_massart", "chi2"]))
def test_the_best_split_is_not_beaten(rms, dim, bound):
    about = {**ABOUT, "dim": dim, "bound": bound}
    best = noise.best_split(rms, **about)
    most = noise.noise_scale(rms, **about, noise_prob=best)
    others = noise.noise_scale(rms, **about, noise_prob=np.linspace(1e-5, 0.00999, 500))
    assert np.nanmax(np.append(others, 0)) <= most * (1 + 1e-6)


def test_no_split_is_feasible_beyond_markovs_reach():
    assert np.isnan(noise.best_split(0.5 * np.sqrt(0.01), **ABOUT))
    assert np.isfinite(noise.best_split(0.5 * np.sqrt(0.01) * 0.999, **ABOUT))


def test_the_exact_quantile_allows_more_noise_than_the_inequality():
    rms = np.linspace(0, 0.03, 7)
    exact = noise.noise_scale(rms, **ABOUT, bound="chi2")
    assert np.all(exact > noise.noise_scale(rms, **ABOUT))


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 6, 300])
def test_exact_failure_matches_simulation(dim):
    rng = np.random.default_rng(3)
    lengths, probs = np.array([0.0, 0.3, 0.6]), np.array([0.5, 0.3, 0.2])
    sigma, runs = 0.3 / np.sqrt(dim), 20_000
    shift = np.zeros((runs, dim))
    shift[:, 0] = rng.choice(lengths, p=probs, size=runs)
    blurred = shift + rng.normal(0, sigma * np.sqrt(2), size=(runs, dim))
    left = np.linalg.norm(blurred, axis=1) > 0.6
    exact = noise.exact_failure(sigma, lengths=lengths, probs=probs, dim=dim, tolerance=0.6)
    assert abs(left.mean() - exact) < 5 * np.sqrt(exact * (1 - exact) / runs)


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("left", [1e-3, 1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("dim", [1, 300, 30_000])
def test_a_shift_that_all_but_reaches_the_tolerance_leaves_that_little_to_noise(dim, left):
    """SciPy's distribution ends here; along the shift the noise is normal, across it chi-squared.

    The length exceeds 1 if z > left / sd - across * sd / 2 to first order in the noise.
    """
    about = {"lengths": [1 - left], "probs": [1.0], "dim": dim, "tolerance": 1.0}
    sd = np.sqrt(2) * noise.exact_noise_scale(**about, failure_prob=0.01)
    assert 0 < sd < left
    z, weight = np.polynomial.legendre.leggauss(400)
    z = 9 * z
    across = (left / sd - z) * (2 - left + sd * z) / sd
    beyond = chdtrc(dim - 1, np.maximum(across, 0)) if dim > 1 else across < 0
    failure = 9 * weight @ (norm.pdf(z) * beyond)
    # the rule meets a step, in a normal density of 0.027, within one of its spacings
    assert failure == pytest.approx(0.01, abs=0.027 * 18 / 400 * np.pi / 2)
    assert noise.exact_failure(sd / np.sqrt(2), **about) == pytest.approx(0.01, rel=1e-4)
    louder = noise.exact_failure(1.1 * sd / np.sqrt(2), **about)
    assert louder > 0.015


def test_a_shift_at_the_tolerance_leaves_nothing_to_noise():
    about = {"probs": [1.0], "dim": 300, "tolerance": 1.8, "failure_prob": 0.01}
    assert noise.exact_noise_scale(lengths=[1.8 * (1 - 1e-16)], **about) < 1e-14
    assert noise.exact_noise_scale(lengths=[1.8], **about) < 1e-14


def test_a_mean_centre_needs_the_root_mean_square():
    """The source's mean distance of the centres is too small: shifts of 1 in one case of 100."""
    dim, prob = 4, 0.01
    moved = np.array([1.0, 0.0])
    share = np.array([prob, 1 - prob])
    alpha = 0.5
    one = np.zeros((2, dim))
    one[:, 0] = moved
    released = alpha * one + (1 - alpha) * one.mean(axis=1, keepdims=True)
    effective = np.sqrt(share @ (released**2).sum(axis=1))
    rms = np.sqrt(share @ moved**2)
    as_printed = np.sqrt(dim) * share @ (moved / dim)
    assert alpha * rms + (1 - alpha) * as_printed < effective
    assert alpha * rms + (1 - alpha) * noise.center_shift(rms, dim=dim) >= effective


def test_a_moving_centre_costs_shrinkage():
    fixed = noise.largest_alpha(0.3, tolerance=0.5, failure_prob=0.05)
    moving = noise.largest_alpha(0.3, tolerance=0.5, failure_prob=0.05, center_shift=0.03)
    assert moving < fixed
    assert np.isnan(noise.largest_alpha(3, tolerance=0.5, failure_prob=0.05, center_shift=0.3))


def test_the_rms_combination_leaves_the_worst_out():
    found = noise.combine({"a": 1.0, "b": 0.0, "c": 0.0}, rule="rms")
    assert found.value == pytest.approx(1 / np.sqrt(3))
    assert found.leaves_out == ("a",)
    assert noise.combine({"a": 1.0, "b": 0.0}).leaves_out == ()


def test_subtracting_repeat_noise_would_certify_a_judge_that_fails_itself():
    """Reruns move in 40 % of cases, perturbed scores as often: nothing is left."""
    moves = np.repeat([0.0, 1.0], [60, 40])
    shifts = bias.Shifts.from_differences(moves, scale=(0, 1))
    rms = bias.rms_shift(shifts)["rms_shift", "perturbed"].value
    with pytest.warns(noise.VoidCertificateWarning, match="must not be used to certify"):
        left = noise.without_repeat_noise(rms, rms)
    about = {"dim": 100, "tolerance": 0.5, "failure_prob": 0.01}
    assert np.isfinite(noise.noise_scale(left, **about))
    exact = noise.exact_failure(0, lengths=[0, 1], probs=[0.6, 0.4], dim=100, tolerance=0.5)
    assert exact == 0.4
    assert np.isnan(noise.noise_scale(rms, **about))
    card = certificates.certify(shifts, tolerance=0.5, failure_prob=0.01, units="points", alpha=1.0)
    assert not card.certified


# Intervals ---------------------------------------------------------------------------------------


def test_distribution_free_interval_is_clopper_pearsons_for_two_points():
    shifts = bias.Shifts.from_differences([0] * 17 + [1] * 3, scale=(0, 1))
    row = bias.rms_shift(shifts, interval="distribution_free")["rms_shift", "perturbed"]
    _, low, high = bj.prevalence.clopper_pearson(3, 20)
    assert_allclose(np.square(row), [3 / 20, low, high], rtol=1e-6)


@pytest.mark.parametrize(
    ("draw", "said"),
    [(lambda rng: rng.normal(0, 2, 300), False), (lambda rng: rng.laplace(0, 2, 300), True)],
)
def test_heavy_tails_speak_against_the_normal_interval_only(draw, said):
    values = np.clip(draw(np.random.default_rng(6)), -50, 50)
    shifts = bias.Shifts.from_differences(values, scale=(0, 50), signed=True)
    for interval, expected in (("normal", said), ("distribution_free", False)):
        found = bias.rms_shift(shifts, interval=interval)
        assert ("heavy-tailed-shifts" in {c.id for c in found.cautions}) is expected


@pytest.mark.slow
def test_the_tail_factor_is_that_of_the_variance_of_a_mean_square():
    rng = np.random.default_rng(7)
    samples = rng.laplace(size=(20_000, 100))
    spread = (samples**2).mean(axis=1).std() / 2  # the mean square is 2
    moments = (samples**2).mean(), (samples**4).mean()
    assert spread / np.sqrt(2 / 100) == pytest.approx(tail_factor(moments, 2_000_000), rel=0.03)


def test_unsigned_and_unrepeated_say_so():
    found = bias.variance_parts(bias.Shifts.from_differences([0, 1, 2], scale=(1, 5)))
    assert np.isnan(found["mean_shift", "perturbed"].value)
    assert np.isnan(found["repeat_noise"].value)
    assert {"unsigned", "repeat-noise-unknown"} <= {c.id for c in found.cautions}


@pytest.mark.parametrize("design", ["item", "batch"])
def test_parts_add_up(design):
    rows = bias.simulate(items=400, random_seed=5, reruns=2)
    shifts = bias.Shifts.from_frame(rows, scale=(0, 100), design=design, rerun=["rerun", "rerun2"])
    found = bias.variance_parts(shifts)
    factor = np.sqrt(400) if design == "batch" else 1
    parts = np.array(
        [found["mean_shift", "format"].value * factor, found["repeat_noise"].value, 4 * factor]
    )
    assert_allclose(found["rms_shift", "format"].value, np.sqrt((parts**2).sum()), rtol=0.05)


# All of them together ----------------------------------------------------------------------------


@pytest.mark.slow
def test_closed_forms_are_those_that_suit():
    values = np.random.default_rng(8).normal(0, 1, 1100)
    for few, scale, methods, why in (
        (True, (0, 10), ["Variance parts", "Dirichlet, prior worst"], None),
        (False, (0, 10), ["Variance parts"], "1100 different sizes"),
        (True, (-np.inf, np.inf), ["Variance parts"], "has no ends"),
    ):
        x = np.clip(values[:100] if few else values, -5, 5)
        made = bias.closed_forms(bias.Shifts.from_differences(x, scale=scale))
        assert [one.method.title for one in made] == methods
        said = {c.id: c.text for c in made[0].cautions}
        assert why is None or why in said["no-exact-posterior"]
    steps = bias.Shifts.from_differences([0, 1, 2], scale=(0, 4))
    assert bias.closed_forms(steps, step=1)[1].method.id == "dirichlet:spread"


@pytest.mark.slow
def test_compare_says_what_contradicts_a_method():
    rows = bias.simulate(items=30, random_seed=1).assign(repeat=1)
    again = rows[rows["variant"] == "order"].assign(score=50)
    shifts = bias.Shifts.from_frame(
        pd.concat([rows, again]), scale=(0, 100), design="item", repeats="neighbours"
    )
    table = bias.compare(shifts, ci_prob=0.9)
    assert set(table.columns) >= {"quantity", "perturbation", "method", "low", "contradicted_by"}
    against = table.groupby("method")["contradicted_by"].first()
    assert against[WORST_CASE.title] == "clustered-neighbours"
    assert against["Variance parts"] == ""


# Shares beyond a limit, and what stays within ----------------------------------------------------


def test_the_share_that_moved_is_counted_with_clopper_and_pearsons_ends():
    """Of 40 shifts 6 are larger than 3; a shift of 3 itself is no larger."""
    sizes = [3.0] * 10 + [0.0] * 24 + [3.5, -4.0] * 3
    shifts = bias.Shifts.from_differences(sizes, scale=(0, 100))
    row = bias.share_moved(shifts, limit=3)["share_moved", "perturbed"]
    ends = beta.ppf(0.025, 6, 35), beta.ppf(0.975, 7, 34)
    assert tuple(row) == pytest.approx((0.15, *ends))
    outcomes = [gate(bias.share_moved(shifts, limit=3), at_most=x).outcome
                for x in (0.03, 0.1, 0.4)]  # fmt: skip
    assert outcomes == ["fail", "unknown", "pass"]
    for wrong in (-1, np.inf, np.nan):
        with refused("limit="):
            bias.share_moved(shifts, limit=wrong)


def points_told(lengths):
    """The bound that the answer tells."""
    made = bias.variance_parts(bias.Shifts.from_differences(lengths, scale=(0, 1000)))
    *_, note = bias.answer(made).notes
    return note, float(re.search(r"(?:at most|more than) ([\d.e+]+) points", note)[1])


@pytest.mark.slow
def test_what_95_percent_of_shifts_stay_within_is_true_as_often_as_it_says():
    """Of skewed shifts, by their known 95 % quantile; two digits are told, to either side."""
    rng, true, runs = np.random.default_rng(1), np.exp(2 + norm.ppf(0.95)), 400
    covered, larger = 0, 0
    for _ in range(runs):
        lengths = rng.lognormal(2, 1, 160) * rng.choice([-1, 1], 160)
        _, told = points_told(lengths)
        covered += told >= 0.95 * true
        larger += told >= np.abs(lengths).max() * 0.99
    assert covered / runs >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / runs)
    assert larger / runs < 0.1  # the largest shift itself is no longer what is told


def test_the_scale_is_said_once_whether_one_change_was_made_or_several():
    rng = np.random.default_rng(1)
    rows = [(i, name, 50 + rng.normal(0, 8)) for i in range(30) for name in ("original", "a", "b")]
    table = pd.DataFrame(rows, columns=["item", "variant", "score"])
    for left_out in ("", "b"):
        kept = table[table["variant"] != left_out]
        how = {"baseline": "original", "design": "item", "scale": (0, 100)}
        shifts = bias.Shifts.from_frame(kept, **how)
        made = bias.answer(bias.variance_parts(shifts))
        assert f"{made.text} {' '.join(made.notes)}".count("on a scale of 0 to 100") == 1
        assert len(made.text.split()) <= 25


def test_with_few_shifts_the_next_one_is_told_and_with_fewer_nothing():
    rng = np.random.default_rng(1)
    note, told = points_told(lengths := rng.normal(0, 5, 40))
    # one of 41 may be as large as the largest, two as the second
    assert told == pytest.approx(np.sort(np.abs(lengths))[-2], rel=0.05)
    assert note.startswith("The next such change moves a score by at most")
    made = bias.variance_parts(bias.Shifts.from_differences(lengths[:18], scale=(0, 1000)))
    *_, note = bias.answer(made).notes
    assert "19 changed scores of each kind would tell more" in note
