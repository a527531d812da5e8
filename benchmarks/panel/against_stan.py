"""Does Stan, with the program of R's rater, give the same posterior as ours, and how fast?

    pip install pystan psutil       # Python 3.12, a C++ compiler
    python benchmarks/panel/against_stan.py # three sizes, minutes
    python benchmarks/panel/against_stan.py --sizes "14k x 14"
    python benchmarks/panel/against_stan.py --without-stan  # our half; writes nothing

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

Quick: ``--sizes "2k x 8" --without-stan``

Found: the posteriors of 14,000 and 100,000 items agree (means apart by at most 1.8 and 3.2 Monte
Carlo errors), and Stan takes 6.9 and 6.5 times the CPU time for 1,000 effective draws, compiling
not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import psutil
import xarray as xr
from speed import SIZES as LARGE
from speed import drawn, named

from bayesjudge import BetaPrior, panel
from bayesjudge.compiled import compile_model

PATH = Path(__file__).parent / "results" / "against_stan.csv"
DRAWS, CHAINS, WANTED = 400, 4, 1000
#: rater's defaults for two classes: 3 and 3 for the share; eight votes' worth, 0.6 of them right.
SHARE, RATE = BetaPrior(3, 3), BetaPrior(4.8, 3.2)

PROGRAM = (Path(__file__).parent / "dawid_skene.stan").read_text()
#: `speed`'s, and a panel of which the comparison takes seconds.
SIZES = LARGE | {"2k x 8": (2_000, 1, 1, 8)}
UNKNOWNS = ["prevalence", "sensitivity", "specificity"]
#: What samples votes, by its name: draws, and what they cost.
Programs = dict[str, Callable[[panel.Votes], tuple[xr.DataTree, dict[str, float]]]]


def cpu_seconds() -> float:
    """CPU seconds of this process and of all that it has started and that still run."""
    here = psutil.Process()
    times = [p.cpu_times() for p in [here, *here.children(recursive=True)]]
    return sum(t.user + t.system for t in times)


def by_stan(data: panel.Votes) -> tuple[xr.DataTree, dict[str, float]]:
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


def by_us(data: panel.Votes) -> tuple[xr.DataTree, dict[str, float]]:
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


def one(size: str, programs: Programs) -> list[dict[str, Any]]:
    """Sample one size with each program; how far the second is from the first."""
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
    found = {name: sampled(data) for name, sampled in programs.items()}
    tables = {
        name: az.summary(draws, var_names=UNKNOWNS, round_to="none")
        for name, (draws, _) in found.items()
    }
    rows = []
    for name, (_, costs) in found.items():
        least = float(tables[name][["ess_bulk", "ess_tail"]].to_numpy(float).min())
        row = {"size": size, "program": name, "patterns": len(data.count), **costs}
        row |= {"least_ess": least, "r_hat": float(tables[name]["r_hat"].astype(float).max())}
        row["to_1000_cpu_s"] = costs["sampling_cpu_s"] * (1 + WANTED / least) / 2
        rows.append(row)
    if len(rows) == 2:
        apart = largest_difference(*tables.values())
        for row in rows:
            row["apart"] = apart
        rows[1]["ratio"] = rows[1]["to_1000_cpu_s"] / rows[0]["to_1000_cpu_s"]
    return rows


def largest_difference(ours: pd.DataFrame, theirs: pd.DataFrame) -> float:
    """Largest difference of two posteriors' means, in units of its Monte Carlo error."""
    error = np.hypot(ours["mcse_mean"].to_numpy(float), theirs["mcse_mean"].to_numpy(float))
    apart = ours["mean"].to_numpy(float) - theirs["mean"].to_numpy(float)
    return float((np.abs(apart) / error).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=list(LARGE), choices=list(SIZES))
    parser.add_argument("--without-stan", action="store_true", help="ours only; writes nothing")
    asked = parser.parse_args()
    programs: Programs = {"bayesjudge": by_us}
    if not asked.without_stan:
        if find_spec("stan") is None:
            parser.error("Stan is not installed: pip install pystan, or --without-stan")
        programs["Stan"] = by_stan
    rows: list[dict[str, Any]] = []
    for size in asked.sizes:
        rows += one(size, programs)
        if not asked.without_stan:
            pd.DataFrame(rows).to_csv(PATH, index=False, float_format="%.4g")
    print(pd.DataFrame(rows).T.to_string())


if __name__ == "__main__":
    main()
