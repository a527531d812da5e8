"""What do a thousand items and five judges cost, from the table to P(judge is best)?

    python benchmarks/ratings/scale.py               # 1,000 items
    python benchmarks/ratings/scale.py --items 250

Three options (seven response sets); people and each judge choose five times an item and give three
response sets on every fifth item. Writes scale.csv, one row a size: seconds, memory, R-hat and
effective draws; a size that was measured before is replaced.

Quick: ``--items 20``

Found: 1,000 items and 33,600 answers take 71 CPU s, from the table to P(best), 105 in the first
process, which compiles, and .6 GB; R-hat 1.005, at least 3,000 effective draws, 16 steps a draw.
The machine was busy, so that seconds by the clock are of no use.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import pandas as pd

from bayesjudge import ratings

PATH = Path(__file__).parent / "results" / "scale.csv"
JUDGES = tuple(f"judge {j}" for j in range(1, 6))
OF = (ratings.Definition("mse"), ratings.Definition("decision_consistency"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1000)
    items = parser.parse_args().items
    table = ratings.simulate(
        items=items,
        options=("a", "b", "c"),
        shares=(0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.1),
        judges=JUDGES,
        similarity=(0.9, 0.8, 0.7, 0.5, 0.3),
        judge_strength=(1.0, -1.0, 0.0, 0.5, 1.0),
        choices=5,
        set_items=0.2,
        random_seed=1,
    )
    clock = [time.perf_counter()]
    data = ratings.Ratings.from_frame(
        table, positive="a", judges=JUDGES, options=("a", "b", "c"), response_set="response_set"
    )
    clock.append(time.perf_counter())
    fit = ratings.fit(data, random_seed=1)
    clock.append(time.perf_counter())
    found = ratings.performance(fit, of=OF, draws=200)
    clock.append(time.perf_counter())
    told = fit.diagnostics()
    row = {
        "items": items,
        "answers": len(table),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "read_s": clock[1] - clock[0],
        "fit_s": clock[2] - clock[1],
        "tied_performance_s": clock[3] - clock[2],
        "cpu_s": time.process_time(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "steps": float(fit.idata["sample_stats"]["n_steps"].mean()),
        "r_hat": told["r_hat"].max(),
        "ess_bulk": told["ess_bulk"].min(),
        "ess_tail": told["ess_tail"].min(),
        "converged": fit.converged,
        "cautions": " ".join(c.id for c in found.cautions),
        "p_best_mse": found.best().iloc[0, 0],
    }
    made = pd.DataFrame([row])
    if PATH.exists():
        old = pd.read_csv(PATH)
        made = pd.concat([old[old["items"] != items], made]).sort_values("items")
    made.to_csv(PATH, index=False, float_format="%.4g")
    print(made.T.to_string())


if __name__ == "__main__":
    main()
