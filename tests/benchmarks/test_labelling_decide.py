"""The study of sequential labels computes what `Monitor` says."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from bayesjudge.decide import Monitor

FOLDER = Path(__file__).parents[2] / "benchmarks" / "decide"


@pytest.fixture
def study(monkeypatch):
    """The study beside the one that it takes its draws from."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("labelling")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "by_verdict", "uncertain"])
@pytest.mark.parametrize("judge", [True, False])
def test_stops_and_limits_are_those_of_the_monitor(study, strategy, judge):
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.7).astype(int)
    verdict = np.where(rng.random(300) < 0.9, truth, 1 - truth)
    share, seen = truth.mean(), set()
    for seed in range(4):
        threshold = share + (0.08 if seed % 2 else -0.08)
        settings = {"strategy": strategy, "judge": judge, "random_seed": seed}
        monitor = Monitor(range(300), verdict, at_least=threshold, **settings)
        batch = monitor.draw(200)
        monitor.add(batch["item"], truth[batch["item"].astype(int)])
        path = monitor.path
        decided = path.index[path["outcome"] != "unknown"]
        stop = path.loc[decided[0]] if len(decided) else path.iloc[-1]
        draws = monitor._draws()
        one = study.stops(
            type(draws)(*(x[None] for x in draws[:-1])),
            np.array([share]),
            np.array([threshold]),
            judge=judge,
        ).iloc[0]
        assert one["labels"] == stop["labels"]
        assert one["decided"] == bool(len(decided))
        right = "pass" if share >= threshold else "fail"
        assert one["false"] == (stop["outcome"] not in (right, "unknown"))
        # limits are on a grid of 1/400, and hold everything between two of its points
        if min(abs(stop["low"] - share), abs(stop["high"] - share)) > 1 / 400:
            assert one["covered"] == (stop["low"] <= share <= stop["high"])
        seen.add(bool(one["decided"]))
    assert True in seen


def test_labels_are_drawn_as_the_design_says(study):
    """Random labels of these items: as many of each verdict as there are, no item twice."""
    rng = np.random.default_rng(2)
    truth = (rng.random(120) < 0.7).astype(float)
    verdict = (rng.random(120) < 0.5).astype(float)
    each = (np.tile(one, (400, 1)) for one in (truth, verdict))
    draws = study.labelled(rng, *each, "random", 120)
    assert (draws.truth.sum(axis=1) == truth.sum()).all()
    assert (draws.verdict.sum(axis=1) == verdict.sum()).all()
    first = draws.verdict[:, 0].mean() - verdict.mean()
    assert abs(first) < 4 * np.sqrt(0.25 / 400)
