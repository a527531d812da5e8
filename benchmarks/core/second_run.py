"""How long does the main job take, the first time and the second, in fresh processes?

    python benchmarks/core/second_run.py    # a minute or two

It prints seconds of CPU and of the wall, and ratios within this run, which hold on a busy machine
too. Nothing is written.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

CLOSED = """
import bayesjudge as bj
counts = bj.prevalence.Counts(350, 200, 58, 57, 42, 36, calibration="random")
bj.side_by_side(*bj.prevalence.closed_forms(counts), bj.prevalence.exact(counts))
"""
FIT = (
    CLOSED
    + """
from functools import partial
from bayesjudge.core import sampling
sampling.sample = partial(sampling.sample, backend={backend!r})
bj.prevalence.fit(counts, random_seed=1).estimate()
"""
)
FREEZE = "import gc; gc.freeze(); gc.disable()\n"


def timed(code: str, cache: str) -> tuple[float, float]:
    """Seconds of CPU and of the wall that a fresh process takes."""
    env = os.environ | {"PYTENSOR_FLAGS": f"base_compiledir={cache}"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as empty:
        found["closed forms and quadrature"] = timed(CLOSED, empty)
        for backend in ("full", "quick"):
            cache = f"{empty}/{backend}"
            for run in ("first", "second", "third"):
                found[f"NUTS, {backend}, {run} run"] = timed(FIT.format(backend=backend), cache)
        code = FIT.format(backend="quick") + FREEZE
        found["NUTS, quick, fourth run, without teardown"] = timed(code, f"{empty}/quick")
    base = found["NUTS, full, second run"]
    print(f"{'':<48} {'CPU s':>6} {'wall s':>6}   CPU and wall against the second run of full")
    for name, (cpu, wall) in found.items():
        print(f"{name:<48} {cpu:6.2f} {wall:6.2f}   {cpu / base[0]:.2f} {wall / base[1]:.2f}")


if __name__ == "__main__":
    main()
