"""What a compiled model must bear: any kind of unknown, and chains that start at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import nutpie
import pymc as pm
import pytest

import bayesjudge as bj
from bayesjudge.core.compiling import _start_of, compile_model


def test_chains_may_start_at_once():
    counts = bj.prevalence.Counts(
        *([100, 100], [60, 50], [10, 10], [9, 9], [10, 10], [7, 7]),
        calibration="random",
        systems="ab",
    )
    start = _start_of(bj.prevalence.build_model(counts))
    seeds = range(400)
    alone = [start(seed) for seed in seeds]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(start, seeds))
    finally:
        sys.setswitchinterval(interval)
    assert np.array_equal(alone, together)


@pytest.mark.parametrize("road", ["quick", "full"])
def test_every_unknown_is_kept_by_its_own_name(road):
    with pm.Model(coords={"judge": ["a", "b"]}) as model:
        offset = pm.Normal("offset", dims="judge")  # needs no transform, so has no second name
        spread = pm.HalfNormal("spread")
        pm.Deterministic("scaled", offset * spread, dims="judge")
        pm.Normal("seen", offset[0], spread, observed=pm.Data("data", 1.0))
    tree = nutpie.sample(
        compile_model(model, road).runnable, draws=20, tune=20, chains=1, seed=1, progress_bar=False
    )
    found = tree["posterior"]
    assert {"offset", "spread", "scaled"} <= set(found.data_vars)
    assert found["offset"].dims == ("chain", "draw", "judge")
    np.testing.assert_allclose(found["scaled"], found["offset"] * found["spread"])
