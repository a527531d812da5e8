"""Does Stan, with the program of R's rater, give the same posterior as ours, and how fast?

    pip install pystan psutil       # Python 3.12, a C++ compiler
    python benchmarks/panel/against_stan.py # three sizes, minutes
    python benchmarks/panel/against_stan.py --sizes "14k x 14"

rater itself needs R. Its fastest program is the one for grouped data: items with the same votes are
one row with a tally, and the truth is summed out. ``dawid_skene.stan`` is that model in our words,
with missing votes left out of the product (rater's own wants all votes of grouped data). It has one
prevalence and separate judges, so ours is asked for the same: one generator, no labels,
`DawidSkene`, rater's default priors. The two posteriors must then agree, and do so up to
their Monte Carlo error (``apart``, the largest difference of means in units of it).

Both: four chains, 400 draws after 400 for tuning, one thread a chain, started in the mode of
judges better than chance. CPU seconds, compilation not counted but shown; ``to_1000_cpu_s`` is
tuning, and draws until the least effective size of any unknown is 1,000. Writes
``against_stan.csv``.

Found: the posteriors of 14,000 and 100,000 items agree (means apart by at most 1.8 and 3.2 Monte
Carlo errors), and Stan takes 6.9 and 6.5 times the CPU time for 1,000 effective draws, compiling
not counted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import psutil
from speed import SIZES, drawn, named

from bayesjudge import BetaPrior, panel
from bayesjudge.compiled import compile_model

RESULTS = Path(__file__).parent / "results"
DRAWS, CHAINS, WANTED = 400, 4, 1000
#: rater's defaults for two classes: 3 and 3 for the share; eight votes' worth, 0.6 of them right.
SHARE, RATE = BetaPrior(3, 3), BetaPrior(4.8, 3.2)

PROGRAM = (Path(__file__).parent / "dawid_skene.stan").read_text()
UNKNOWNS = ["prevalence", "sensitivity", "specificity"]


def cpu_seconds() -> float:
    """CPU seconds of this process and of all that it has started and that still run."""
    here = psutil.Process()
    times = [p.cpu_times() for p in [here, *here.children(recursive=True)]]
    return sum(t.user + t.system for t in times)


def by_stan(data: panel.Votes) -> tuple[az.InferenceData, dict[str, float]]:
    """Sample the program; draws, and what they cost."""
    import stan

    given = {"rows": len(data.count), "judges": len(data.judges), "vote": data.votes.tolist()}
    given |= {"tally": data.count.astype(float).tolist()}
    given |= {"share_prior": list(SHARE), "rate_prior": list(RATE)}
    start = time.perf_counter()
    model = stan.build(PROGRAM, data=given, random_seed=1)
    row = {"compile_s": time.perf_counter() - start}
    many = len(data.judges)
    init = {"prevalence": 0.7, "sensitivity": [0.8] * many, "specificity": [0.6] * many}
    begin, wall = cpu_seconds(), time.perf_counter()
    fit = model.sample(
        num_chains=CHAINS, num_samples=DRAWS, num_warmup=DRAWS, init=[init] * CHAINS, delta=0.8
    )
    row |= {"sampling_s": time.perf_counter() - wall, "sampling_cpu_s": cpu_seconds() - begin}
    # pystan: (unknown..., draw x chain), chains changing fastest
    shaped = {
        name: np.moveaxis(fit[name].reshape(-1, DRAWS, CHAINS), (2, 1, 0), (0, 1, 2)).squeeze()
        for name in UNKNOWNS
    }
    return az.from_dict({"posterior": shaped}), row


def by_us(data: panel.Votes) -> tuple[az.InferenceData, dict[str, float]]:
    """Sample the same model with the package."""
    spec = panel.DawidSkene(SHARE, RATE, RATE, better_than_chance=False)
    start = time.perf_counter()
    compile_model(spec._sampling_form(data))  # is kept, and found by `fit`
    row = {"compile_s": time.perf_counter() - start}
    begin, wall = cpu_seconds(), time.perf_counter()
    fit = panel.fit(
        data, spec, draws=DRAWS, tune=DRAWS, chains=CHAINS, random_seed=1, progress=False
    )
    row |= {"sampling_s": time.perf_counter() - wall, "sampling_cpu_s": cpu_seconds() - begin}
    return fit.idata, row


def one(size: str) -> list[dict[str, Any]]:
    """Sample one size both ways."""
    items, _, _, judges = SIZES[size]
    votes, _, _ = drawn(items, 10, judges)
    data = panel.Votes(
        votes,
        np.full(items, -1),
        np.zeros(items, int),
        named("g", 1),
        named("judge ", judges),
        calibration="random",
    )
    found = {"bayesjudge": by_us(data), "Stan": by_stan(data)}
    tables = {
        name: az.summary(draws, var_names=UNKNOWNS, round_to="none")
        for name, (draws, _) in found.items()
    }
    ours, theirs = (table.to_dict("list") for table in tables.values())
    error = np.hypot(ours["mcse_mean"], theirs["mcse_mean"])
    apart = np.abs(np.subtract(ours["mean"], theirs["mean"])) / error
    rows = []
    for name, (_, costs) in found.items():
        least = float(tables[name][["ess_bulk", "ess_tail"]].to_numpy(float).min())
        row = {"size": size, "program": name, "patterns": len(data.count), **costs}
        row |= {"least_ess": least, "r_hat": float(tables[name]["r_hat"].astype(float).max())}
        row["to_1000_cpu_s"] = costs["sampling_cpu_s"] * (1 + WANTED / least) / 2
        rows.append(row | {"apart": float(apart.max())})
    rows[1]["ratio"] = rows[1]["to_1000_cpu_s"] / rows[0]["to_1000_cpu_s"]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    rows: list[dict[str, Any]] = []
    for size in parser.parse_args().sizes:
        rows += one(size)
        table = pd.DataFrame(rows)
        table.to_csv(RESULTS / "against_stan.csv", index=False, float_format="%.4g")
    print(table.T.to_string())


if __name__ == "__main__":
    main()
