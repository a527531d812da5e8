"""What stands on the screen before the draws arrive."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import bayesjudge as bj
from bayesjudge.core import preview as module
from bayesjudge.core import sampling
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.preview import _around_mode, preview_line
from bayesjudge.core.progress import Progress

CENTRE = np.array([1.0, -2.0, 0.5])
PRECISION = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 9.0]])


def normal(x):
    slope = -PRECISION @ (x - CENTRE)
    return float(slope @ (x - CENTRE)) / 2, slope


def test_a_normal_density_is_met():
    drawn = _around_mode(normal, np.zeros(3), 1)
    np.testing.assert_allclose(drawn.mean(0), CENTRE, atol=1e-4)  # half mirrors the other half
    # 200 independent draws: each entry of the covariance within 4 of its standard errors
    wanted = np.linalg.inv(PRECISION)
    error = np.sqrt((wanted**2 + np.outer(np.diag(wanted), np.diag(wanted))) / 200)
    assert (np.abs(np.cov(drawn.T) - wanted) < 4 * error).all()


def test_a_flat_direction_stays_within_bounds():
    def flat(x):
        return -(x[0] ** 2) / 2, np.array([-x[0], 0.0])

    drawn = _around_mode(flat, np.zeros(2), 1)
    assert 1.5 < drawn[:, 1].std() < 2.5


def test_no_mode_no_preview():
    assert _around_mode(lambda x: (-np.inf, np.zeros(2)), np.zeros(2), 1) is None


def test_the_line_names_an_approximation():
    made = bj.Estimate({"prevalence": (0.8, 0.7, 0.9)}, method="m", ci_prob=0.95, source="s")
    line = preview_line(made)
    assert "prevalence 0.8 (0.7 to 0.9)" in line


class Compiled(SimpleNamespace):
    """What is compiled of a model with three unknowns, of which two are shown."""

    n_dim, dims, coords = 3, {"x": ("of",)}, {"of": ["a", "b"]}

    @staticmethod
    def expanded(drawn):
        return {"x": drawn[None, :, :2], "z": drawn[None, :, 2]}


class Twice(BayesianModel):
    """What is derived of the draws."""

    def _with_derived(self, data, draws):
        return draws.assign(twice=2 * draws["x"])


def test_a_preview_is_of_what_the_posterior_will_show(monkeypatch):
    about = {"data": None, "spec": Twice(), "quantities": ("twice", "z"), "random_seed": 1}
    compiled = Compiled(log_density=normal, start=lambda seed: np.zeros(3))
    settings = {"chains": 4, "draws": 500, "tune": 500}
    made = module.preview(compiled, **about)
    assert made["twice", "a"].value == pytest.approx(2, abs=1e-3)
    assert made["twice", "b"].value == pytest.approx(-4, abs=1e-3)
    assert made["z"].value == pytest.approx(0.5, abs=1e-3)
    sd = np.linalg.inv(PRECISION)[2, 2] ** 0.5
    assert made["z"].high - made["z"].low == pytest.approx(2 * 1.96 * sd, rel=0.25)
    assert "twice[a] 2" in sampling._first_look(compiled, **about)
    for odd in (
        {"n_dim": module.MOST_UNKNOWNS + 1},
        {"log_density": lambda x: (-np.inf, np.zeros(3))},
        {"log_density": lambda x: (normal(x)[0], np.full(3, np.nan))},
        {"expanded": lambda drawn: {"z": np.full((1, 2), np.nan)}},
    ):
        without = Compiled(**{**vars(compiled), **odd})
        assert module.preview(without, **about) is None
        assert sampling._first_look(without, **about) == ""
    # 1,000 draws and steps of 4 chains on 2 cores: two turns
    monkeypatch.setattr(module, "STEPS", 10)
    ticks = iter(range(10))
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(ticks) * 1e-3)
    assert module.seconds_of(compiled, 10 * 1000 * 2) == pytest.approx(20)
    for seconds, long in ((19.9, True), (20.1, False)):
        ticks = iter(range(10))
        monkeypatch.setattr(module, "SECONDS", seconds)
        assert sampling._is_long(compiled, settings, 2) == long


class Recorded(Progress):
    """A bar that writes down what it is told."""

    def __init__(self):
        super().__init__(bar=self)
        self.lines = []

    def update(self, description=None, **_):
        self.lines.append(description)


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("seconds", "has_one", "shown"), [(0.0, True, True), (1e6, True, False), (0.0, False, False)]
)
def test_a_long_fit_says_about_what_it_will_say(monkeypatch, seconds, has_one, shown):
    bar = Recorded()

    @contextmanager
    def recorded(*_, **__):
        yield bar

    monkeypatch.setattr(module, "SECONDS", seconds)
    monkeypatch.setattr(bj.prevalence.ErrorRates, "_has_preview", has_one)
    monkeypatch.setattr("bayesjudge.core.sampling.progress_bar", recorded)
    made = []
    real = module.preview
    monkeypatch.setattr(module, "preview", lambda *a, **k: made.append(real(*a, **k)) or made[-1])
    counts = bj.prevalence.Counts(1000, 700, 90, 81, 60, 42, calibration="by_truth")
    fit = bj.prevalence.fit(counts, random_seed=1)
    assert any("approximation" in line for line in bar.lines) == shown
    if shown:
        value = made[0]["prevalence"].value
        draws = fit.draws("prevalence")
        assert abs(value - draws.mean()) < 0.5 * draws.std()
        assert made[0].method != fit.method


def test_models_whose_mode_is_far_from_the_posterior_have_none():
    without = (
        bj.repeats.CumulativeLogit,
        bj.repeats.JudgeCutpoints,
        bj.prevalence.PooledErrorRates,
        bj.prevalence.scores.RisingMean,
    )
    assert not any(one._has_preview for one in without)
    assert bj.panel.PooledDawidSkene._has_preview
