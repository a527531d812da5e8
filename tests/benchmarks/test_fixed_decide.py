"""The study of the fixed gate decides as the gate does."""

import numpy as np
import pytest

from bayesjudge.decide import gate
from bayesjudge.decide.decision import decided
from bayesjudge.prevalence import Counts
from benchmarks.decide import fixed as study


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "design"),
    [
        ((1000, 850, 90, 81, 10, 9), "random"),
        ((900, 700, 55, 47, 45, 42), "by_verdict"),
    ],
)
def test_outcomes_are_the_gates(cells, design):
    counts, found = Counts(*cells, calibration=design), set()
    (check,) = gate(counts, at_least=0.9).checks
    for threshold in np.linspace(0.5, 0.98, 25):
        outcome = decided(check.low, check.high, threshold, at_least=True)
        assert study.outcome(cells, design, threshold) == outcome
        found.add(outcome)
    assert found == {"pass", "unknown", "fail"}
