"""Do intervals of shares of classes cover where strata are added up?

    python benchmarks/prevalence/class_strata.py --simulations 400

Nominal 95 %, three classes, two or three strata of different shares, a random sample of each
labelled; every closed form that has an overall share. Shares, labels and verdicts are drawn from a
judge that is right on 80 to 85 %.

Quick: ``--simulations 2``

Found: over four settings and 400 tables each, intervals of the overall shares cover .944 to .953
by the difference, .934 to .964 by the labels alone and .949 to .966 post-stratified (Monte Carlo
errors .006 to .008); the judge's own shares .40 to .73.

Writes benchmarks/prevalence/results/class_strata.csv.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import prevalence
from bayesjudge.core.errors import InputError
from bayesjudge.prevalence.classes import ClassCounts

OUT = Path(__file__).parent / "results" / "class_strata.csv"
SEED = 20_351
JUDGE = np.array([[0.85, 0.1, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])
SHARES = np.array([[0.6, 0.3, 0.1], [0.3, 0.3, 0.4], [0.9, 0.07, 0.03]])
#: Items without a label, labels, and what part of both each stratum has.
SETTINGS = (
    (1000, 60, (0.5, 0.5)),
    (1000, 150, (0.5, 0.5)),
    (400, 60, (0.8, 0.2)),
    (1000, 90, (0.4, 0.4, 0.2)),
)


def table(
    rng: np.random.Generator, items: int, labels: int, parts: tuple[float, ...]
) -> ClassCounts:
    """Counts of one sample of each stratum."""
    tests, labelled = [], []
    for share, part in zip(SHARES, parts, strict=False):
        truths = rng.multinomial(round(labels * part), share)
        labelled.append([rng.multinomial(n, row) for n, row in zip(truths, JUDGE, strict=True)])
        tests.append(rng.multinomial(round(items * part), share @ JUDGE))
    names = [f"stratum {i}" for i in range(len(parts))]
    return ClassCounts(tests, labelled, "abc", "random", systems=names, dim="stratum")


def main() -> None:
    """Draw, estimate, and write coverage and width by setting and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    simulations = parser.parse_args().simulations
    rows = []
    for items, labels, parts in SETTINGS:
        truth = np.array(parts) @ SHARES[: len(parts)]
        for run in range(simulations):
            counts = table(np.random.default_rng([SEED, items, labels, run]), items, labels, parts)
            try:
                made = prevalence.closed_forms(counts)
            except InputError:  # a class without a label in any stratum
                continue
            for one in (x for x in made if "overall_prevalence" in x):
                found = one.quantities["overall_prevalence"]
                low, high = (np.ravel(end) for end in (found.low, found.high))
                known = np.isfinite(low)
                if not known.any():  # a stratum without a label of one verdict
                    continue
                rows.append(
                    {
                        **{"items": items, "labels": labels, "strata": len(parts)},
                        **{
                            "method": one.method.id,
                            "covered": ((low <= truth) & (truth <= high))[known].mean(),
                        },
                        "width": (high - low)[known].mean(),
                    }
                )
    by = ["items", "labels", "strata", "method"]
    grouped = pd.DataFrame(rows).groupby(by, sort=False)
    found = grouped[["covered", "width"]].mean()
    found["covered_error"], found["tables"] = grouped["covered"].sem(), grouped.size()
    print(found.round(4).to_string())
    if simulations > 100:
        found.round(4).reset_index().to_csv(OUT, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
