"""The study of certificates judges what `certify` issues, not something like it."""

import numpy as np
import pytest
from scipy.special import bdtr

from bayesjudge import bias
from benchmarks.bias import certificates as study

NAMES = list(study.distributions(0.05))


def card_of(values, count, failure_prob, basis, tolerance=0.5):
    lengths = np.repeat(values, count)
    shifts = bias.Shifts.from_differences(lengths, scale=(0, 1))
    about = {"tolerance": tolerance, "failure_prob": failure_prob, "units": "points"}
    return bias.certificates.certify(shifts, **about, basis=basis)


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("failure_prob", [0.01, 0.1])
def test_bounds_are_those_of_the_module(name, failure_prob):
    values, probs, _ = study.distributions(failure_prob)[name]
    values = np.asarray(values)
    rng = np.random.default_rng(1)
    for m in (10, 40, 300):
        counts = rng.multinomial(m, probs, size=4)
        for basis in ("tail", "predictive"):
            found = study.bounds_of(basis, counts, values, failure_prob)
            for bound, count in zip(found, counts, strict=True):
                assert bound == card_of(values, count, failure_prob, basis).shift_bound


def test_dirichlet_bounds_are_those_of_the_module():
    values, probs, _ = study.distributions(0.1)["Likert, mild"]
    values = np.asarray(values)
    counts = np.random.default_rng(2).multinomial(100, probs, size=5)
    snapped, exact, short = study.dirichlet_bounds("rms", counts, values, 0.1, rms=0.2)
    for at, bound, below, count in zip(snapped, exact, short, counts, strict=True):
        card = card_of(values, count, 0.1, "rms")
        assert bound == pytest.approx(card.shift_bound)
        assert at == values[values <= card.shift_bound + 1e-9].max()
        rms = card.shift_bound * np.sqrt(card.shift_prob)
        assert below == (rms < 0.2)


def test_the_sources_failures_are_the_binomials():
    """Two-point shifts: the simulated share of false certificates against the exact one."""
    runs = 4000
    rows = study.study(
        runs, seed=3, neighbours=(10, 300), failure_probs=(0.01,), methods=("source",)
    )
    rows = rows[rows["shifts"] == "two-point, 2x"]
    for m, share in zip(rows["neighbours"], rows["false_unshrunk"], strict=True):
        exact = bdtr(np.floor(0.9**2 * 0.005 * m), m, 0.02)
        assert abs(share - exact) < 5 * np.sqrt(exact * (1 - exact) / runs)
