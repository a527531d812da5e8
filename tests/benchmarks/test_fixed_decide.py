"""The study of the fixed gate decides as the gate does."""

import pytest

from bayesjudge.decide import gate
from bayesjudge.prevalence import Counts
from benchmarks.decide import fixed as study

RANDOM = (1000, 850, 90, 81, 10, 9)


@pytest.mark.parametrize(
    ("cells", "design", "theta", "outcome"),
    [
        (RANDOM, "random", 0.83, "pass"),
        (RANDOM, "random", 0.94, "fail"),
        ((900, 700, 55, 47, 45, 42), "by_verdict", 0.68, "pass"),
        ((900, 700, 55, 47, 45, 42), "by_verdict", 0.82, "fail"),
    ],
)
def test_outcomes_are_the_gates(cells, design, theta, outcome):
    assert study.outcome(cells, design, theta) == outcome
    assert gate(Counts(*cells, calibration=design), at_least=theta).outcome == outcome
