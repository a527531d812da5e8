"""What do the panel's latent-class model and its EM cost, and what does that cost grow with?

    python benchmarks/panel/speed.py                        # everything, about ten minutes
    python benchmarks/panel/speed.py sample em              # some of it
    pip install crowd-kit                                   # the peer of `em`; optional

Parts: ``sample``: 14k items of 14 judges with 10 % of the votes missing, 100k of 10, 1M of 10: time
to 1,000 effective draws of every prevalence, peak memory, and the gradient's time against one pass
over the bytes of the votes. ``em``: expectation-maximisation against crowd-kit's Dawid-Skene on the
same votes in the same process, an iteration and to the same likelihood. crowd-kit 1.4.2 adds the
classes' prior once for every vote to the bound that it watches, which then falls, and stops after
two or three iterations; here its bound has the prior once an item. ``growth``: the same patterns,
ever more items. Each size runs in a process of its own. Writes ``speed_PART.csv``.

The same model in Stan, as rater writes it, is in ``against_stan.py``.

CPU seconds are what to compare on a machine that does other things; wall seconds are beside them.

Quick: ``em --sizes "14k x 14"``

Found: 1,000 effective draws take 8 CPU s at 14,000 items, 29 at 100,000 and 81 at a million, 8
steps a draw (the first two were measured before judges of 10,000 votes and more had longer steps: a
million then took 130, and 15 steps); with the code of commit b11fd37, 23, 54 and 196. A gradient
costs what the distinct patterns cost, .054 ms for 3,000 items as for 30 million with the same 1,166
patterns; EM reaches its goal in a ninth to a nineteenth of crowd-kit's CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import panel
from bayesjudge.compiled import compile_model
from bayesjudge.panel import _em as em

RESULTS = Path(__file__).parent / "results"
#: Items, generators, generators whose items are labelled, judges.
SIZES = {"14k x 14": (14_000, 14, 6, 14), "100k x 10": (100_000, 10, 2, 10), "1M x 10": (
    1_000_000, 10, 1, 10)}  # fmt: skip
MISSING = 0.1
WANTED = 1000
DRAWS = 400
#: EM to the maximum of the likelihood.
FLAT = em.Pseudo(0.0, 0.0)


def drawn(items: int, generators: int, judges: int, seed: int = 1) -> tuple[np.ndarray, ...]:
    """Draw votes, truths and generators as arrays, item by item."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.6, 0.95, generators)
    sensitivity = np.linspace(0.97, 0.85, judges)
    specificity = np.linspace(0.35, 0.75, judges)
    generator = np.arange(items) % generators
    truth = (rng.random(items) < share[generator]).astype(np.int8)
    votes = np.empty((items, judges), np.int8)
    for j in range(judges):
        chance = np.where(truth == 1, sensitivity[j], 1 - specificity[j])
        votes[:, j] = rng.random(items) < chance
        votes[rng.random(items) < MISSING, j] = -1
    return votes, truth, generator


def named(prefix: str, size: int) -> list[str]:
    return [f"{prefix}{i + 1}" for i in range(size)]


@contextmanager
def clocked(into: dict[str, Any], name: str) -> Iterator[None]:
    """Note wall and CPU seconds of a block, all threads counted."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into[f"{name}_s"] = time.perf_counter() - wall
    into[f"{name}_cpu_s"] = time.process_time() - cpu


def fastest(run: Callable[[], Any], least: float = 1.0) -> float:
    """Time of the fastest of many runs: what the machine can do when left alone."""
    times, begin = [], time.perf_counter()
    while time.perf_counter() - begin < least or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def sample_one(name: str) -> dict[str, Any]:
    """Fit one size, and time what the fit is made of."""
    items, generators, labelled, judges = SIZES[name]
    votes, truth, generator = drawn(items, generators, judges)
    seen = np.where(generator < labelled, truth, -1)
    row: dict[str, Any] = {"size": name, "votes": int((votes >= 0).sum())}
    with clocked(row, "collapse"):
        data = panel.Votes(
            votes,
            seen,
            generator,
            named("g", generators),
            named("judge ", judges),
            calibration="random",
        )
    row["patterns"] = len(data.count)
    row["pass_ms"] = 1e3 * fastest(lambda: votes.sum(dtype=np.int64))
    row["gradient_ms"] = 1e3 * gradient_time(panel.PooledDawidSkene()._sampling_form(data))
    with clocked(row, "compile"):
        # is kept, and found again by `fit`
        compile_model(panel.PooledDawidSkene()._sampling_form(data))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with clocked(row, "sampling"):
        fit = panel.fit(data, random_seed=1, draws=DRAWS, tune=DRAWS, progress=False)
    ess = fit.diagnostics().filter(like="prevalence[", axis=0)
    row["least_ess"] = float(ess[["ess_bulk", "ess_tail"]].to_numpy().min())
    row["r_hat"] = float(ess["r_hat"].max())
    row["steps"] = float(fit.idata["sample_stats"]["n_steps"].mean())
    row["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row["peak_before_sampling_mib"] = before / 1024
    # tuning is paid once, draws until there are enough
    for kind in ("s", "cpu_s"):
        share = (1 + WANTED / row["least_ess"]) / 2
        row[f"to_1000_{kind}"] = row[f"sampling_{kind}"] * share
    row["error"] = float(
        np.abs(fit.draws("prevalence").mean(axis=0) - np.bincount(generator, truth) * generators
               / items).max()
    )  # fmt: skip
    return row


def gradient_time(model: Any) -> float:
    """Seconds of one log-density with its gradient, as the sampler computes it."""
    function = model.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")
    function.set_extra_values({})
    start = np.concatenate([np.ravel(v) for v in model.initial_point(0).values()])
    function._pytensor_function.trust_input = True
    return fastest(lambda: function._pytensor_function(start))


def em_one(name: str) -> list[dict[str, Any]]:
    """Run both algorithms on the same votes; one share for all, as crowd-kit has it."""
    items, _, _, judges = SIZES[name]
    votes, _, _ = drawn(items, 10, judges)
    ours: dict[str, Any] = {"size": name, "method": "bayesjudge"}
    nobody, one = np.full(items, -1), np.zeros(items, int)
    with clocked(ours, "collapse"):
        data = panel.Votes(votes, nobody, one, ["all"], named("judge ", judges))
    with clocked(ours, "build"):
        problem = em.Problem(data)
    with clocked(ours, "run"):
        found = em.solve(problem)
    # the same mended bound decides for both: within a millionth of the maximum
    goal = found.log_likelihood - 1e-6 * abs(found.log_likelihood)
    posterior, short, reached = problem.first_guess(), {}, -np.inf
    with clocked(short, "run"):
        steps = 0
        while reached < goal:
            log, posterior = problem.expect(problem.maximise(posterior, FLAT))
            reached, steps = float(log @ problem.count), steps + 1
    ours |= {"iterations": found.iterations, "log_likelihood": found.log_likelihood}
    ours |= {"to_goal_iterations": steps}
    ours["per_iteration_cpu_s"] = short["run_cpu_s"] / steps
    ours["to_goal_cpu_s"] = ours["collapse_cpu_s"] + ours["build_cpu_s"] + short["run_cpu_s"]
    ours["to_goal_s"] = ours["collapse_s"] + ours["build_s"] + short["run_s"]
    ours["prevalence"] = float(found.rates.shares[0, 1])
    rows = [ours]
    peer = crowd_kit(votes, goal)
    if peer is not None:
        peer |= {"size": name, "method": "crowd-kit, bound mended"}
        for kind in ("per_iteration_cpu_s", "to_goal_cpu_s", "to_goal_s"):
            peer[f"{kind}_ratio"] = peer[kind] / ours[kind]
        rows.append(peer)
    return rows


def crowd_kit(votes: np.ndarray, goal: float) -> dict[str, Any] | None:
    """Run crowd-kit's Dawid-Skene until its mended bound reaches `goal`; None without it."""
    try:
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        print("crowd-kit is not installed: no peer", file=sys.stderr)
        return None
    at, judge = np.nonzero(votes >= 0)
    table = pd.DataFrame({"task": at, "worker": judge, "label": votes[at, judge].astype(int)})

    class Mended(DawidSkene):
        """Its bound with the prior once an item, and a stop where the goal is reached."""

        watched = 0.0  # CPU seconds spent on the bound

        def _evidence_lower_bound(self, data: Any, probas: Any, priors: Any, errors: Any) -> float:
            begin = time.process_time()
            joined = data.join(np.log(errors), on=["worker", "label"])
            by_item = joined.groupby("task", sort=False)[[0, 1]].sum()
            log = by_item.to_numpy() + np.log(priors.loc[[0, 1]].to_numpy())
            total = float(np.logaddexp(*log.T).sum())
            self.bounds.append(total)
            self.watched += time.process_time() - begin
            # `fit` divides this by the votes, and stops where it has not grown by `tol`
            return -np.inf if total >= goal else float(len(self.bounds)) * len(data)

    row: dict[str, Any] = {}
    mended = Mended(n_iter=500)
    mended.bounds = []
    with clocked(row, "run"):
        mended.fit(table)
    steps = len(mended.bounds)
    row |= {"to_goal_iterations": steps, "log_likelihood": mended.bounds[-1]}
    # the first guess by majority is a part of the whole; the bound that we wrote is not counted
    row["to_goal_cpu_s"] = row["run_cpu_s"] - mended.watched
    row["to_goal_s"] = row["run_s"] - mended.watched
    row["per_iteration_cpu_s"] = row["to_goal_cpu_s"] / steps
    row["prevalence"] = float(mended.priors_.loc[1])
    shipped = DawidSkene(n_iter=100)
    with clocked(row, "shipped"):
        shipped.fit(table)
    row["shipped_iterations"] = len(shipped.loss_history_)
    row["shipped_prevalence"] = float(shipped.priors_.loc[1])
    return row


def growth_one(name: str) -> dict[str, Any]:
    """Time an iteration of EM and a gradient where items grow and patterns do not."""
    items = int(name)
    votes, truth, generator = drawn(3000, 3, 8)
    base = panel.Votes(
        votes, np.where(generator == 0, truth, -1), generator, named("g", 3), named("j", 8)
    )
    count = base.count * (items // 3000)
    data = panel.Votes(
        base.votes,
        base.truth,
        base.generator,
        base.generators,
        base.judges,
        count=count,
        calibration="random",
    )
    problem = em.Problem(data)
    posterior = problem.first_guess()
    return {
        "items": data.n_items,
        "patterns": len(data.count),
        "gradient_ms": 1e3 * gradient_time(panel.PooledDawidSkene()._sampling_form(data)),
        "em_iteration_ms": 1e3 * fastest(lambda: problem.expect(problem.maximise(posterior, FLAT))),
    }


PARTS = {"sample": sample_one, "em": em_one, "growth": growth_one}
GROWTH = ("3000", "30000", "300000", "3000000", "30000000")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--sizes", nargs="*", default=list(SIZES))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(PARTS[asked.one[0]](asked.one[1])))
        return
    RESULTS.mkdir(exist_ok=True)
    for part in asked.parts:
        rows: list[dict[str, Any]] = []
        for name in GROWTH if part == "growth" else asked.sizes:
            command = [sys.executable, __file__, "--one", part, name]
            load = os.getloadavg()[0]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            found = found if isinstance(found, list) else [found]
            rows += [one | {"load_at_start": load} for one in found]
        table, path = pd.DataFrame(rows), RESULTS / f"speed_{part}.csv"
        if part != "growth" and path.exists():  # other sizes stay
            old = pd.read_csv(path)
            table = pd.concat([old[~old["size"].isin(table["size"])], table])
        table.to_csv(path, index=False, float_format="%.4g")
        print(table.T.to_string(), flush=True)


if __name__ == "__main__":
    main()
