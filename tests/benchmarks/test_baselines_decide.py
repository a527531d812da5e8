"""The study of the usual ways of deciding: limits, boundaries and who decided first."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm

FOLDER = Path(__file__).parents[2] / "benchmarks" / "decide"


@pytest.fixture
def study(monkeypatch):
    """The study beside the one that it takes its draws from."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("baselines")


@pytest.mark.slow
def test_a_planned_boundary_spends_its_error(study):
    errors = study.obrien_fleming(12)
    walks = np.random.default_rng(5).standard_normal((40_000, 12)).cumsum(1)
    z = walks / np.sqrt(np.arange(1, 13))
    crossed = (z >= -norm.ppf(errors)).any(1).mean()
    assert abs(crossed - study.ERROR) < 4 * np.sqrt(0.05 * 0.95 / 40_000) + 0.002
    assert (np.diff(errors) > 0).all()


def test_exact_limits_are_those_of_the_tails(study):
    truth = np.zeros((1, study.LABELS))
    truth[0, :20] = 1  # 20 of the first 25
    draws = study.Draws(*[truth] * 7)
    low, high = study.clopper_pearson(draws)
    assert binom.sf(19, 25, low[0, 0]) == pytest.approx(study.ERROR)
    assert binom.cdf(20, 25, high[0, 0]) == pytest.approx(study.ERROR)


def test_the_first_decision_stands(study):
    low, high = np.full((3, 12), 0.4), np.full((3, 12), 0.6)
    low[0, 3], high[0, 5] = 0.55, 0.45
    high[1, 2] = 0.45
    passes, fails = study.first_decisions(low, high, 0.5)
    assert passes.tolist() == [100, np.inf, np.inf]
    assert fails.tolist() == [np.inf, 75, np.inf]
