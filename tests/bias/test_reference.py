"""Numbers that others computed: the reference file, and the published neighbours."""

import json

import numpy as np
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from scipy.special import bdtr

import bayesjudge as bj
from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.bias.certificates import noise


@pytest.fixture(scope="module")
def reference():
    return json.loads(shared("reference/bias.json").read_text())


@pytest.fixture(scope="module")
def neighbours():
    return json.loads(shared("data/bias_neighbours/neighbour_differences.json").read_text())[
        "judges"
    ]


def test_noise_scale(reference):
    for case in reference["sigma_max"]:
        i = case["inputs"]
        found = noise.noise_scale(
            i["rms_sensitivity"], dim=i["d"], tolerance=i["tau"], failure_prob=i["delta"]
        )
        expected = np.nan if case["sigma_max"] is None else case["sigma_max"]
        assert_allclose(found, expected, rtol=1e-12)
        assert bool(np.isfinite(found)) is case["feasible"]
        radius = noise.squared_radius(i["d"], i["delta"] / 2)
        assert_allclose(np.sqrt(2 * radius), case["denominator"], rtol=1e-12)
        assert (i["tau"] > case["threshold"]) is case["feasible"]


def test_radius_by_inequality_and_exactly(reference):
    for case in reference["laurent_massart"]:
        about = (case["d"], case["delta_B"])
        assert_allclose(noise.squared_radius(*about), case["laurent_massart"], rtol=1e-12)
        assert_allclose(noise.squared_radius(*about, "chi2"), case["chi2_quantile"], rtol=1e-9)
        # what the inequality leaves in the tail: noise alone, beyond its own bound
        left = noise.exact_failure(
            np.sqrt(0.5), lengths=[0.0], probs=[1.0], dim=case["d"],
            tolerance=np.sqrt(noise.squared_radius(*about)),
        )  # fmt: skip
        assert_allclose(left, case["true_tail_at_LM"], rtol=1e-6, atol=1e-12)


def test_exact_failure_and_exact_noise(reference):
    for case in reference["exact_failure"]:
        i = case["inputs"]
        known = {"lengths": i["norms"], "probs": i["probs"], "dim": i["d"], "tolerance": i["tau"]}
        rms = np.sqrt(np.dot(i["probs"], np.square(i["norms"])))
        sigma = noise.noise_scale(rms, dim=i["d"], tolerance=i["tau"], failure_prob=i["delta"])
        assert_allclose(rms, case["rms"], rtol=1e-12)
        assert_allclose(sigma, case["sigma_max"], rtol=1e-12)
        at_sigma = noise.exact_failure(sigma, **known)
        assert_allclose(at_sigma, case["exact_failure_at_sigma_max"], rtol=1e-6, atol=1e-12)
        assert noise.exact_failure(0, **known) == case["exact_failure_at_sigma_zero"]
        exact = noise.exact_noise_scale(**known, failure_prob=i["delta"])
        assert_allclose(exact, case["exact_sigma_max"], rtol=1e-6)


def test_rms_shift_of_the_published_neighbours(reference, neighbours):
    for case in reference["rms_from_data"]:
        if "rms" not in case:
            own = neighbours[case["judge"]]
            values = [own[kind]["value"] for kind in ("formatting", "intrinsic")]
            with pytest.warns(noise.VoidCertificateWarning):
                assert_allclose(noise.without_repeat_noise(*values), case["value"], rtol=1e-9)
            continue
        one = neighbours[case["judge"]][case["kind"]]
        shifts = bias.Shifts.from_differences(one["diffs"], scale=(1, 5))
        row = bias.rms_shift(shifts)["rms_shift", "perturbed"]
        assert_allclose(row.value, case["rms"], rtol=1e-9)
        assert len(one["diffs"]) == case["m"]
        assert row.low < row.value < row.high


def test_how_often_the_sources_certificate_is_false(reference):
    """Two-point shifts: k of m neighbours moved by 1; issued where the plug-in allows it."""
    for case in reference["finite_m"]:
        i = case["inputs"]
        most = np.floor(i["tau"] ** 2 * i["delta"] / 2 * i["m"] - 1e-12)
        assert_allclose(bdtr(most, i["m"], i["q"]), case["P_issued_and_false"], rtol=1e-9)
        for k in (most, most + 1):
            shifts = bias.Shifts.from_differences(np.arange(i["m"]) < k, scale=(0, 1), items=i["m"])
            card = certificates.certify(
                shifts,
                tolerance=i["tau"],
                failure_prob=i["delta"],
                units="points",
                alpha=1.0,
                noise_prob=i["delta"] / 2,
                basis="source",
            )
            assert card.certified is bool(k == most)


def test_combination(reference):
    for case in reference["combination"]:
        components = dict(zip("abc", case["components"], strict=True))
        for rule in ("rms", "conservative"):
            assert_allclose(noise.combine(components, rule).value, case[rule], rtol=1e-12)


def test_largest_alpha(reference):
    for case in reference["shrinkage"]:
        i = case["inputs"]
        found = noise.largest_alpha(i["rms"], tolerance=i["tau"], failure_prob=i["delta"])
        assert_allclose(found, case["alpha_max"], rtol=1e-12)


def test_largest_alpha_of_the_four_judges(neighbours):
    # tolerance half of the range, failure_prob 0.01; sensitivities as published, over the range 4
    expected = {
        "gpt-4o-mini": 0.057,
        "gpt-3.5-turbo": 0.095,
        "qwq-32b": 0.047,
        "deepseek-r1-32b": 0.112,
    }
    for judge, alpha in expected.items():
        rms = neighbours[judge]["formatting"]["value"] / 4
        found = noise.largest_alpha(rms, tolerance=0.5, failure_prob=0.01)
        assert round(float(found), 3) == alpha


def test_four_judges_are_answered_honestly(neighbours):
    for own in neighbours.values():
        shifts = bias.Shifts.from_differences(own["formatting"]["diffs"], scale=(1, 5))
        about = {"failure_prob": 0.01, "units": "range"}
        card = certificates.certify(shifts, tolerance=0.5, **about)
        # 2 to 40 neighbours cannot speak of a tail of 1 %: the scale alone can
        assert card.range_only
        assert card.alpha == 0.5
        assert "rests on the scale alone" in card.text
        refused = certificates.certify(shifts, tolerance=0.5, alpha=1.0, **about)
        assert not refused.certified
        assert "cannot be excluded" in refused.text


def test_two_equal_neighbours_do_not_give_a_point(neighbours):
    assert neighbours["qwq-32b"]["formatting"]["diffs"] == [3, 3]
    shifts = bias.Shifts.from_differences([3, 3], scale=(1, 5))
    estimate = bias.rms_shift(shifts)
    row = estimate["rms_shift", "perturbed"]
    assert row.low < 2
    assert row.high > 3.8
    assert "few-neighbours" in {c.id for c in estimate.cautions}


def test_nothing_left_after_subtraction_is_said_loudly(neighbours):
    own = neighbours["deepseek-r1-32b"]
    with pytest.warns(noise.VoidCertificateWarning, match="Nothing is left"):
        left = noise.without_repeat_noise(own["formatting"]["value"], own["intrinsic"]["value"])
    assert left == 0
    assert bj.bias.rms_shift(
        bias.Shifts.from_differences(own["formatting"]["diffs"], scale=(1, 5))
    )["rms_shift", "perturbed"].value == pytest.approx(1.2649, abs=1e-4)
