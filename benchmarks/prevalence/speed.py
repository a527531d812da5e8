"""How much faster is one call for many systems than a loop over single ones?

    python benchmarks/prevalence/speed.py                 # 1,000 systems, NUTS on 100: minutes
    python benchmarks/prevalence/speed.py --sampled 1000  # NUTS on all of them too

Closed forms, quadrature and NUTS (rates separate and pooled) of many systems in one call; beside
each, what as many single calls would take, timed on a few. The second table is the engine of
``intervals.py``, which integrates for whole families of tables at once, against a loop
over `bayesjudge.prevalence.exact`. All times are CPU seconds of this process, so that ratios hold
on a busy machine. Prints, and writes benchmarks/prevalence/results/speed.csv.

Quick: ``--systems 30 --sampled 0``

Found: one call for 1,000 systems is 16 to 17 times as fast as a loop for closed forms and 1.15
times for quadrature; one NUTS run for 100 systems 1.6 to 8 times. 210,000 posteriors take the
coverage engine 1.2 s.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from intervals import PRIORS, SIZES, Grid, intervals_of

from bayesjudge import ConvergenceWarning, prevalence

RESULTS = Path(__file__).parent / "results"
SEED, SINGLES = 20_273, 10


def draw(systems: int) -> prevalence.Counts:
    """Draw systems of 500 items under one judge, 60 of them labelled."""
    rng = np.random.default_rng(SEED)
    theta = rng.beta(4, 2, systems)
    good = rng.binomial(60, theta)
    return prevalence.Counts(
        test_n=np.full(systems, 440),
        test_pass=rng.binomial(440, theta * 0.9 + (1 - theta) * 0.3),
        correct_n=good,
        correct_pass=rng.binomial(good, 0.9),
        incorrect_n=60 - good,
        incorrect_fail=rng.binomial(60 - good, 0.7),
        calibration="random",
        systems=tuple(f"system {i}" for i in range(systems)),
    )


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call."""
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def sampled(model: Any) -> Callable[[prevalence.Counts], Any]:
    """NUTS, compiled beforehand by a first call."""
    return lambda counts: prevalence.fit(counts, model, random_seed=1, progress=False)


def one_call(many_systems: int, sampled_systems: int) -> pd.DataFrame:
    """Time each method on all systems, and on a few one by one."""
    separate = sampled(prevalence.ErrorRates())
    methods: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "Rogan-Gladen": (prevalence.rogan_gladen,) * 2,
        "difference": (prevalence.difference,) * 2,
        "quadrature": (prevalence.exact,) * 2,
        "NUTS, separate rates": (separate, separate),
        "NUTS, partial pooling": (sampled(prevalence.PooledErrorRates()), separate),
        "NUTS, full pooling": (sampled(prevalence.ErrorRates(pooling="full")), separate),
    }
    rows = []
    for name, (many, single) in methods.items():
        systems = sampled_systems if name.startswith("NUTS") else many_systems
        if not systems:
            continue
        counts = draw(systems)
        singles = [counts.system(one) for one in (counts.systems or ())[: SINGLES + 1]]
        single(singles[0])  # compiles
        loop, _ = seconds(lambda f=single, ones=singles: [f(one) for one in ones[1:]])
        many(counts)
        together, found = seconds(lambda f=many, counts=counts: f(counts))
        rows.append(
            {
                "method": name,
                "systems": systems,
                "one_call_s": together,
                "loop_s": loop / SINGLES * systems,
                "ratio": loop / SINGLES * systems / max(together, 1e-6),
                "converged": getattr(found, "converged", ""),
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def families() -> pd.DataFrame:
    """Time the coverage study's engine on some numbers of passes, and single quadratures."""
    grid, passes = Grid(SIZES, 1000), (100, 300, 500)
    intervals_of(np.ones((1, 161)), True, 0.95, 0.15)  # compiles

    def engine() -> int:
        made = 0
        for k in passes:
            for name, parts in grid.likelihoods(k).items():
                for part in parts:
                    rows = np.ascontiguousarray(part.T)
                    intervals_of(rows, PRIORS[name].theta == 1, 0.95, 0.15)
                    made += len(rows)
        return made

    spent, made = seconds(engine)
    counts = [
        prevalence.Counts(1000, k, 100, a, 100, b, calibration="by_truth")
        for k in passes
        for a, b in ((90, 70), (70, 90), (95, 60))
    ]
    alone, _ = seconds(lambda: [prevalence.exact(one) for one in counts])
    each = alone / len(counts)
    row = {
        "method": f"coverage engine, {made:,} posteriors",
        "one_call_s": spent,
        "loop_s": each * made,
        "ratio": each * made / spent,
        "for_210000_s": spent / made * 210_000,
    }
    print(row, f"one quadrature: {1000 * each:.1f} ms")
    return pd.DataFrame([row])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--sampled", type=int, default=100, help="systems for NUTS")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # told in the column
    table = pd.concat([families(), one_call(asked.systems, asked.sampled)], ignore_index=True)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "speed.csv", index=False, float_format="%.4g")
    print(table.to_string(index=False, float_format="%.4g"))


if __name__ == "__main__":
    main()
