"""What does an answer cost: on a cold machine, in a second process, and the second time in one?

    python benchmarks/core/first_answer.py            # every model, and pm.sample beside it
    python benchmarks/core/first_answer.py --ways now --rows panel bias
    python benchmarks/core/first_answer.py --ways before --before OTHER   # the checkout in OTHER
    python benchmarks/core/first_answer.py --ways stan --rows dawid_skene --stan PYTHON

Each row is a module's own simulated table. A fresh process imports, reads, builds, compiles or
loads, draws 4 x (1,000 + 1,000) or what the model asks for, and summarises; then it fits again with
another seed. Figures are CPU seconds, teardown included; compare them within a run. ``pm.sample``
is PyMC's way with nutpie for the same graph and settings: it compiles in each process, and again
for each fit. ``imports`` is what `import pymc, nutpie` takes at that moment: it is part of cold and
second, and tells how busy the machine is.

Quick: ``--ways now --rows prevalence``

Found: on a quiet machine, where importing PyMC and nutpie takes 2.1 to 3.2 s, a second process
takes 1.8 to 3.7 s in 19 of 21 rows and a refit .2 to 1.4 s in 18, within the bars of 4 and 1.5 s.
``correlated`` (5.18 and 3.67), ``repeats_cutpoints`` (5.59 and 3.05) and the refit of ``repeats``
(2.12) are beyond: they took 1.2 to 1.5 s until their likelihoods were written once, as PyTensor
graphs, in place of 1,200 lines of operations with slopes by hand; NUTS makes as many steps, each
about three times as dear. Cold first fits take 6 to 26 s; draws of both processes are the same.
Rows but ``ratings``, ``repeats`` and ``correlated`` are of 23 November.
Stan with its program cached takes 1.88 s for ``dawid_skene``, .39 of it imports, and ours 2.18,
most of it PyMC's import; refits take the same, .64 and .63.
``pm.sample`` takes 13 to 19 s in a second process and 7 to 13 s for a refit of ``prevalence``,
``dawid_skene`` and ``panel``, measured earlier while another job ran.
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
COLUMNS = ("row", "way", "imports", "cold", "second_process", "refit", "draws_agree")
#: How a row's data and model are made, the public interface only.
VOTES = "m = bj.panel; d = m.Votes.from_frame(T(m), **drawn()); "
RATINGS = (
    "m = bj.ratings; d = m.Ratings.from_frame(T(m), positive='yes', judges=['gpt', 'claude'], "
    "response_set='response_set'); "
)
SCORES = "m = bj.prevalence.scores; d = m.Scores.from_frame(T(m{0}), scale=(0, 1), {1}); "
ROWS = {
    "prevalence": "m = bj.prevalence; d = m.Counts.from_frame(T(m), calibration='random')",
    "prevalence_by_verdict": "m = bj.prevalence; "
    "d = m.Counts.from_frame(T(m, calibration='by_verdict'), calibration='by_verdict')",
    "prevalence_pooled": "m = bj.prevalence; d = m.Counts([300, 200, 100], [180, 150, 40], "
    "[40, 30, 20], [36, 28, 17], [30, 25, 20], [24, 20, 15], calibration='by_truth', "
    "systems=['a', 'b', 'c']); model = m.PooledErrorRates()",
    "prevalence_linear": "m = bj.prevalence; d = m.Counts([300, 200], [180, 150], [40, 30], "
    "[36, 28], [30, 25], [24, 20], calibration='random', systems=['a', 'b'], dim='stratum', "
    "covariates={'length': [2, 3]}); model = m.LinearErrorRates('1 + length')",
    "items": "m = bj.prevalence.items; d = m.Items.from_frame(T(m, systems={'a': .8, 'b': .7}), "
    "by='system', calibration='random', repeats='system')",
    "scores": SCORES.format("", "calibration='random'"),
    "scores_by_verdict": SCORES.format("", "calibration='by_verdict', edges=(.2, .5)"),
    "scores_mean": SCORES.format(", numeric=True", "calibration='random', truth_scale=(1, 5)"),
    "classes": "m = bj.prevalence.classes; "
    "d = m.ClassCounts.from_frame(T(m), calibration='random')",
    "classes_by_verdict": "m = bj.prevalence.classes; "
    "d = m.ClassCounts.from_frame(T(m), calibration='by_verdict')",
    "panel": VOTES,
    "dawid_skene": f"{VOTES}votes, tally = np.unique(d.votes, axis=0, return_counts=True); "
    "tally = np.array([d.count[(d.votes == v).all(1)].sum() for v in votes]); "
    "d = m.Votes(votes, [-1] * len(votes), [0] * len(votes), ['all'], d.judges, tally, "
    "**drawn()); "
    "rate = bj.BetaPrior(4.8, 3.2); "
    "model = m.DawidSkene(bj.BetaPrior(3, 3), rate, rate, better_than_chance=False)",
    "correlated": f"{VOTES}model = m.Correlated()",
    "multiclass": "m = bj.panel; v = np.random.default_rng(1).integers(0, 3, (300, 1)); "
    "v = np.where(np.random.default_rng(2).random((300, 4)) < .8, v, (v + 1) % 3); "
    "d = m.Votes(v, np.where(np.arange(300) < 60, v[:, 0], -1), [0] * 300, ['g'], 'abcd', "
    "classes='lmh', **drawn())",
    "bias_pooling": f"{VOTES}model = m.BiasPooling()",
    "vote_regression": f"{VOTES}model = m.VoteRegression()",
    "repeats": "m = bj.repeats; d = m.Scores.from_frame(T(m), scale=range(1, 6), judge='judge', "
    "order='repeat')",
    "repeats_cutpoints": "m = bj.repeats; d = m.Scores.from_frame(T(m, cutpoint_scale=.5), "
    "scale=range(1, 6), judge='judge', order='repeat'); model = m.JudgeCutpoints()",
    "bias": "m = bj.bias; d = m.Shifts.from_frame(T(m), scale=(0, 100), design='item', "
    "rerun='rerun')",
    "ratings": RATINGS,
    "ratings_tied": f"{RATINGS}model = m.ResponseSets(choice=m.TiedChoice())",
}
START = """
import hashlib, inspect, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import bayesjudge as bj
def T(m, **more): return m.simulate(random_seed=1, **more)
model = None
def drawn():  # older checkouts do not ask how items were chosen
    asked = "calibration" in inspect.signature(m.Votes.from_frame).parameters
    return dict(calibration="random") if asked else dict()
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


#: The program of R's rater, on the votes that `dawid_skene` has.
STAN = """
import json, warnings
warnings.simplefilter("ignore")
import numpy as np, stan
given, program = json.load(open({data!r})), open({program!r}).read()
rates = [.8] * given["judges"]
start = dict(prevalence=.7, sensitivity=rates, specificity=[.6] * given["judges"])
def answer(seed):
    model = stan.build(program, data=given, random_seed=seed)
    fit = model.sample(num_chains=4, num_samples=1000, num_warmup=1000, delta=.9, init=[start] * 4)
    for name in start:
        np.mean(fit[name], -1), np.std(fit[name], -1), np.quantile(fit[name], (.025, .975), -1)
    return hashlib.sha256(fit["prevalence"].tobytes()).hexdigest()[:12]
import hashlib
found = answer(1)
if {again}: answer(2)
print(found)
"""
WRITTEN = """
import json
given = dict(rows=len(d.count), judges=len(d.judges), vote=d.votes.tolist())
given |= dict(tally=d.count.astype(float).tolist(), share_prior=[3, 3], rate_prior=[4.8, 3.2])
json.dump(given, open({data!r}, "w"))
"""


def process(
    code: str, compiled: str, checkout: Path, python: str = sys.executable
) -> tuple[float, list[str]]:
    """CPU seconds of a fresh process, and what it prints last."""
    environment = os.environ | {
        "PYTENSOR_FLAGS": f"base_compiledir={compiled}",
        "XDG_CACHE_HOME": compiled,  # where Stan's programs are kept
        "PYTHONPATH": "",
        "OMP_NUM_THREADS": "1",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, "-c", code]  # which imports from the folder that it starts in
    done = subprocess.run(
        command, cwd=checkout, env=environment, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, "".join(done.stdout.splitlines()[-1:]).split()


def measure(row: str, way: str, checkout: Path) -> dict[str, object]:
    """Three fresh processes: cold, warm, and warm with a refit."""
    code = START.format(make=ROWS[row]) + (THEIRS if way == "pm.sample" else OURS) + END
    with tempfile.TemporaryDirectory() as compiled:
        once, twice = (code.replace("{again}", again) for again in ("False", "True"))
        imports, _ = process("import pymc, nutpie", compiled, checkout)
        cold, first = process(once, compiled, checkout)
        second, then = process(once, compiled, checkout)
        refit = float(process(twice, compiled, checkout)[1][1])
    return found_as(row, way, imports, cold, second, refit, first[0] == then[0])


def measure_stan(row: str, python: str) -> dict[str, object]:
    """The same three by `python`, which has pystan; a refit is what the third process adds."""
    here = HERE.parents[1]
    with tempfile.TemporaryDirectory() as compiled:
        data = str(Path(compiled) / "votes.json")
        process(START.format(make=ROWS[row]) + WRITTEN.format(data=data), compiled, here)
        about = {"data": data, "program": str(HERE.parent / "panel" / "dawid_skene.stan")}
        once, twice = (STAN.format(again=again, **about) for again in (False, True))
        imports, _ = process("import stan", compiled, here, python)
        cold, first = process(once, compiled, here, python)
        second, then = process(once, compiled, here, python)
        both, _ = process(twice, compiled, here, python)
    return found_as(row, "stan", imports, cold, second, both - second, first == then)


def found_as(row: str, way: str, *figures: float | bool) -> dict[str, object]:
    """One row of the results."""
    *seconds, agree = figures
    return dict(zip(COLUMNS, (row, way, *(round(x, 2) for x in seconds), agree), strict=True))


def main() -> None:
    """Measure, print and write: a row that is measured again takes the place of the old one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    ways = ("now", "pm.sample", "stan", "before")
    parser.add_argument("--ways", nargs="*", default=ways[:2], choices=ways)
    parser.add_argument("--before", type=Path, help="another checkout, measured as well")
    parser.add_argument("--stan", metavar="PYTHON", help="an interpreter that has pystan")
    given = parser.parse_args()
    here = HERE.parents[1]
    OUT.parent.mkdir(exist_ok=True)
    found = {}
    if OUT.exists():
        with OUT.open(newline="") as file:
            found = {(line["row"], line["way"]): line for line in csv.DictReader(file)}
    for way, row in ((way, row) for way in given.ways for row in given.rows):
        if way == "stan":
            line = measure_stan(row, given.stan)
        else:
            line = measure(row, way, (given.before if way == "before" else here).resolve())
        found[row, way] = line
        with OUT.open("w", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(found[key] for key in sorted(found))
        print(*(f"{value!s:>21}" for value in line.values()), flush=True)


if __name__ == "__main__":
    main()
