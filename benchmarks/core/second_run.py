"""How long the main job takes: first and second run, quick road and full road, in fresh processes.

Run ``python benchmarks/core/second_run.py``; a minute or two. It prints seconds of CPU and of the wall,
and ratios within this run, which hold on a busy machine too. Nothing is written.
"""

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
FIT = CLOSED + "bj.prevalence.fit(counts, random_seed=1, road={road!r}).estimate()\n"
FREEZE = "import gc; gc.freeze(); gc.disable()\n"


def timed(code, cache):
    """Seconds of CPU and of the wall that a fresh process takes."""
    env = os.environ | {"PYTENSOR_FLAGS": f"base_compiledir={cache}"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def main():
    """Print the table."""
    found = {}
    with tempfile.TemporaryDirectory() as empty:
        found["closed forms and quadrature"] = timed(CLOSED, empty)
        for road in ("full", "quick"):
            cache = f"{empty}/{road}"
            for run in ("first", "second", "third"):
                found[f"NUTS, {road} road, {run} run"] = timed(FIT.format(road=road), cache)
        code = FIT.format(road="quick") + FREEZE
        found["NUTS, quick road, fourth run, without teardown"] = timed(code, f"{empty}/quick")
    base = found["NUTS, full road, second run"]
    print(f"{'':<48} {'CPU s':>6} {'wall s':>6}   CPU and wall against the full road's second run")
    for name, (cpu, wall) in found.items():
        print(f"{name:<48} {cpu:6.2f} {wall:6.2f}   {cpu / base[0]:.2f} {wall / base[1]:.2f}")


if __name__ == "__main__":
    main()
