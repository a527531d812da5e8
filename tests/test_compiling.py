"""What a compiled model must bear: chains that start at the same moment."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import bayesjudge as bj
from bayesjudge.core.compiling import _start_of


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
