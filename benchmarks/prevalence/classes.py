"""Do intervals of several classes cover, and how wide are they beside the labels alone?

    python benchmarks/prevalence/classes.py --simulations 200     # continues where it ended

Nominal 95 %, 1,000 unlabelled items; three and five classes, even and uneven; labels a random
sample or by truth; every closed form that suits the design, and the exact posterior under the
default priors (worth two items a row) and under flat ones. Each simulation is written as it ends.

Quick: ``--simulations 1 --design random --shares "3 even"``

Found: with random labels, over 18 settings and 6 to 7 runs each (too few for a setting by itself),
shares are covered .957 by the difference, .960 post-stratified, .944 by the exact posterior (.966
with flat priors) and .967 by the labels alone, at widths of .116, .118, .113 (.116) and .139; the
judge's own shares .418. Labels by truth were not run.

Writes to benchmarks/prevalence/results: classes.csv, by setting and method; classes.jsonl (runs).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.prevalence import classes

RESULTS = Path(__file__).parent / "results"
SEED, ITEMS = 20_311, 1000
SHARES = {
    "3 even": (0.34, 0.33, 0.33),
    "3 uneven": (0.8, 0.15, 0.05),
    "5 uneven": (0.45, 0.25, 0.15, 0.1, 0.05),
}


def settings() -> Iterator[tuple[str, float, int, str]]:
    """Yield shares, accuracy, labels and design."""
    yield from itertools.product(SHARES, (0.6, 0.85), (60, 120, 300), ("random", "by_truth"))


def draw(
    rng: np.random.Generator, name: str, accuracy: float, labels: int, design: str
) -> classes.ClassCounts:
    """Counts of a judge whose wrong verdicts are equally probable."""
    shares = np.array(SHARES[name])
    size = len(shares)
    rows = np.full((size, size), (1 - accuracy) / (size - 1))
    np.fill_diagonal(rows, accuracy)
    own = rng.multinomial(labels, shares) if design == "random" else np.full(size, labels // size)
    table = np.array([rng.multinomial(n, row) for n, row in zip(own, rows, strict=True)])
    test = rng.multinomial(ITEMS, shares @ rows)
    return classes.ClassCounts(test, table, [f"c{i}" for i in range(size)], design)


def estimates(counts: classes.ClassCounts) -> Iterator[tuple[str, np.ndarray]]:
    """Yield methods with value, low and high by class."""
    size = len(counts.classes)
    flat = classes.Confusions(share_concentration=size, right=1, wrong=size - 1)
    made = {one.method.title: one for one in classes.closed_forms(counts)}
    made |= {"exact": classes.exact(counts), "exact, flat priors": classes.exact(counts, flat)}
    for method, one in made.items():
        found = one.quantities["prevalence"]
        yield method, np.array([found.value, found.low, found.high])


def main() -> None:
    """Run what is missing, and summarise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--design", choices=("random", "by_truth"), help="one of the designs only")
    parser.add_argument("--shares", choices=SHARES, help="some of the shares only")
    asked = parser.parse_args()
    wanted, chosen = asked.simulations, [*enumerate(settings())]
    chosen = [(i, one) for i, one in chosen if asked.design in (None, one[-1])]
    chosen = [(i, one) for i, one in chosen if asked.shares in (None, one[0])]
    path = RESULTS / "classes.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {tuple(one["key"]) for one in done}
    with path.open("a") as file:
        for seed, (i, setting) in itertools.product(range(wanted), chosen):
            key = (*setting, seed)
            if key in have:
                continue
            counts = draw(np.random.default_rng([SEED, i, seed]), *setting)
            rows = {m: np.round(x, 5).tolist() for m, x in estimates(counts)}
            done.append({"key": key, "rows": rows})
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
    summary(done).to_csv(RESULTS / "classes.csv", index=False)


def summary(done: list[dict]) -> pd.DataFrame:
    """Coverage, width and error by setting and method; no answer covers nothing."""
    rows = []
    for one in done:
        truth = np.array(SHARES[one["key"][0]])
        for method, columns in one["rows"].items():
            value, low, high = np.array(columns, float)
            known = np.isfinite(low)
            rows.append(
                {
                    **dict(
                        zip(("shares", "accuracy", "labels", "design"), one["key"], strict=False)
                    ),
                    "method": method,
                    "answered": known.mean(),
                    "covered": np.mean((low <= truth) & (truth <= high)),
                    "lowest": ((low <= truth) & (truth <= high)).astype(float),
                    "width": np.nanmean(high - low) if known.any() else np.nan,
                    "rmse": np.sqrt(np.mean((value - truth) ** 2)),
                }
            )
    table = pd.DataFrame(rows)
    by = ["shares", "accuracy", "labels", "design", "method"]
    numbers = table.groupby(by, sort=False)[["answered", "covered", "width", "rmse"]].mean()
    lowest = table.groupby(by, sort=False)["lowest"].agg(lambda x: np.mean(list(x), axis=0).min())
    runs = table.groupby(by, sort=False).size()
    return numbers.assign(lowest=lowest, runs=runs).round(4).reset_index()


if __name__ == "__main__":
    main()
