"""What does an answer cost: on a cold machine, in a second process, and the second time in one?

    python benchmarks/core/first_answer.py                  # every model, and pm.sample beside it
    python benchmarks/core/first_answer.py --rows panel bias
    python benchmarks/core/first_answer.py --before OTHER   # also for the checkout in folder OTHER

Each row is a module's own simulated table. A fresh process imports, reads, builds, compiles or
loads, draws 4 x (1,000 + 1,000) or what the model asks for, and summarises; then it fits again with
another seed. Figures are CPU seconds, teardown included; compare them within a run. ``pm.sample``
is PyMC's way with nutpie for the same graph and settings: it compiles in each process, and again
for each fit.

Found: on a busy machine (`--rows bias --alone`), 28.5 s cold, 6.2 in a second process, 0.9 for a
refit, and the same draws cold and warm. When models
were compiled in each process: 34.4, 23.6 and 1.1, and draws that differed in their last bits.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "first_answer.csv"
COLUMNS = ("row", "way", "cold", "second_process", "refit", "draws_agree")
#: How a row's data and model are made, the public interface only.
ROWS = {
    "prevalence": "m = bj.prevalence; d = m.Counts.from_frame(T(m), calibration='random')",
    "panel": "m = bj.panel; d = m.Votes.from_frame(T(m))",
    "bias_pooling": "m = bj.panel; d = m.Votes.from_frame(T(m)); model = m.BiasPooling()",
    "vote_regression": "m = bj.panel; d = m.Votes.from_frame(T(m)); model = m.VoteRegression()",
    "repeats": "m = bj.repeats; d = m.Scores.from_frame(T(m), scale=range(1, 6), judge='judge', "
    "order='repeat')",
    "bias": "m = bj.bias; d = m.Shifts.from_frame(T(m), scale=(0, 100), design='item', "
    "rerun='rerun')",
    "ratings": "m = bj.ratings; d = m.Ratings.from_frame(T(m), positive='yes', "
    "judges=['gpt', 'claude'], response_set='response_set')",
}
START = """
import hashlib, time, warnings
warnings.simplefilter("ignore")
import bayesjudge as bj
def T(m): return m.simulate(random_seed=1)
model = None
{make}
def cost(answer, seed):
    begin = time.process_time()
    draws = answer(seed)
    return time.process_time() - begin, hashlib.sha256(draws).hexdigest()[:12]
"""
OURS = """
def answer(seed):
    fit = m.fit(d, model, random_seed=seed)
    fit.estimate()
    return fit.draws(fit.quantities[0]).tobytes()
"""
THEIRS = """
import pymc as pm
def answer(seed):
    with m.build_model(d, model):
        tree = pm.sample(draws=1000, tune=1000, chains=4, random_seed=seed, progressbar=False,
                         nuts_sampler="nutpie", quiet=True, target_accept=0.9)
    return next(iter(tree["posterior"].data_vars.values())).to_numpy().tobytes()
"""
END = """
first, draws = cost(answer, 1)
print(draws, cost(answer, 2)[0] if {again} else "")
"""


def process(code: str, compiled: str, checkout: Path) -> tuple[float, list[str]]:
    """CPU seconds of a fresh process, and what it prints."""
    environment = os.environ | {
        "PYTENSOR_FLAGS": f"base_compiledir={compiled}",
        "PYTHONPATH": "",
        "OMP_NUM_THREADS": "1",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]  # which imports from the folder that it starts in
    done = subprocess.run(
        command, cwd=checkout, env=environment, check=True, text=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, done.stdout.split()


def measure(row: str, way: str, checkout: Path) -> dict[str, object]:
    """Three fresh processes: cold, warm, and warm with a refit."""
    answer = THEIRS if way == "pm.sample" else OURS
    code = START.format(make=ROWS[row]) + answer + END
    once, twice = code.format(again=False), code.format(again=True)
    with tempfile.TemporaryDirectory() as compiled:
        cold, first = process(once, compiled, checkout)
        second, then = process(once, compiled, checkout)
        refit = float(process(twice, compiled, checkout)[1][1])
    figures = (round(x, 2) for x in (cold, second, refit))
    return dict(zip(COLUMNS, (row, way, *figures, first[0] == then[0]), strict=True))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--before", type=Path, help="another checkout, measured as well")
    parser.add_argument("--alone", action="store_true", help="leave pm.sample out")
    given = parser.parse_args()
    here = HERE.parents[1]
    ways = [("now", here)] + ([] if given.alone else [("pm.sample", here)])
    ways += [("before", given.before)] if given.before else []
    OUT.parent.mkdir(exist_ok=True)
    new = not OUT.exists()
    with OUT.open("a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        if new:
            table.writeheader()
        for row in given.rows:
            for way, checkout in ways:
                found = measure(row, way, checkout.resolve())
                table.writerow(found)
                file.flush()
                print(*(f"{value!s:>15}" for value in found.values()), flush=True)


if __name__ == "__main__":
    main()
