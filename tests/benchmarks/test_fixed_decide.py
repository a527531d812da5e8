"""The study of the fixed gate decides as the gate does."""

import pytest

from bayesjudge.decide import gate
from bayesjudge.prevalence import Counts
from benchmarks.decide import fixed as study


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "design", "thresholds"),
    [
        ((1000, 850, 90, 81, 10, 9), "random", (0.82, 0.97)),
        ((900, 700, 55, 47, 45, 42), "by_verdict", (0.6, 0.85)),
    ],
)
def test_outcomes_are_the_gates(cells, design, thresholds):
    for threshold, outcome in zip(thresholds, ("pass", "fail"), strict=True):
        assert study.outcome(cells, design, threshold) == outcome
        assert gate(Counts(*cells, calibration=design), at_least=threshold).outcome == outcome
