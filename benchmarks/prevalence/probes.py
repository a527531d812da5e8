"""Which rows of a new run should be labelled, to learn whether a card's calibration holds on it?

    python benchmarks/prevalence/probes.py                    # 2,000 runs a setting, 5 s
    python benchmarks/prevalence/probes.py --runs 20000

A part of the run, a share of .05 to .4, is thin in the card's systems: longer outputs, another
language. There the judge errs as elsewhere, more, much more, or passes nearly all; elsewhere it is
fair (.9, .8) or good (.95, .95); of the thin part .3 or .7 are good, elsewhere .7. 200 rows are
labelled. The share by the card's rates alone is known, so that the shift of the card is known as
well as the share is: what counts is the variance of the share (post-stratified by verdict within
parts), by that of random rows, which is how many labels a way takes for the same interval.

``half thin``: half of the labels on the thin part. ``thin twice``: its rows twice as often as
others. ``best parts``, ``best cells``: Neyman's allocation over the parts, and over parts and
verdicts, by rates that nobody knows beforehand. ``pooled``: random rows, post-stratified by verdict
alone, as an answer without the column does. ``thin part``: the variance of the thin part's own
share, if half of the labels lie on it. Each variance is a formula; of ``random`` and ``half thin``
runs are drawn as well (``drawn``: their variance by the formula's).

Writes to benchmarks/prevalence/results: probes.csv.

Quick: ``--runs 200``

Found: random rows are near the best. Over 64 settings, labels on the thin part twice as often take
.99 times as many labels on average (.88 to 1.12), half of the labels there 1.33 (.90 to 1.81); the
best split over parts .96 (.88 at the least), and over parts and verdicts .90 (.80), by rates that
are not known. What does count is that the answer is given the column: random rows without it take
1.14 times as many labels, and 1.70 at most. Only a claim about the thin part by itself is worth
labels there: half of them on it are a tenth of the variance where it is a twentieth of the rows.
Drawn variances are .99 of the formula's on average (20,000 runs; .96 to 1.02, error .01).
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
LABELS, GOOD, CORNERS = 200, 0.7, 0.5
THIN = {"as elsewhere": None, "more": (0.8, 0.65), "much more": (0.7, 0.5), "passes": (0.97, 0.2)}


def cells_of(good: float, rates: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Of fails and passes: how many there are, and how many of them are good."""
    hit, caught = rates
    passed = np.array([good * hit, (1 - good) * (1 - caught)])
    failed = np.array([good * (1 - hit), (1 - good) * caught])
    sizes = np.array([failed.sum(), passed.sum()])
    return sizes, np.array([failed[0], passed[0]]) / sizes


def variances(thin: float, sizes: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """Of the share, times the labels, by how these lie; arrays of part (thin first) and verdict."""
    parts = np.array([thin, 1 - thin])
    within = (sizes * right * (1 - right)).sum(axis=1)  # of an item, given its verdict
    share = parts[:, None] * sizes

    def split(on_thin: float) -> float:
        return float((parts**2 * within / [on_thin, 1 - on_thin]).sum())

    verdict = share.sum(axis=0)
    pooled = (share * right).sum(axis=0) / verdict
    error = np.sqrt(right * (1 - right))
    return {
        "random": split(thin),
        "pooled": float((verdict * pooled * (1 - pooled)).sum()),
        "half thin": split(0.5),
        "thin twice": split(2 * thin / (1 + thin)),
        "best parts": float((parts * np.sqrt(within)).sum() ** 2),
        "best cells": float((share * error).sum() ** 2),
        "thin part": float(thin / 0.5),
    }


def drawn(
    rng: Any, runs: int, thin: float, on_thin: float, sizes: np.ndarray, right: np.ndarray
) -> float:
    """Variance of the post-stratified share over runs, times the labels."""
    parts, total = (thin, 1 - thin), np.zeros(runs)
    of_thin = rng.binomial(LABELS, thin, runs) if on_thin == thin else np.full(runs, LABELS // 2)
    for part, labels in enumerate((of_thin, LABELS - of_thin)):
        passed = rng.binomial(labels, sizes[part, 1])
        for verdict, n in enumerate((labels - passed, passed)):
            # an empty cell is taken to be as the model has it, with half a row
            mean = right[part, verdict]
            good = (rng.binomial(n, mean) + CORNERS * mean) / (n + CORNERS)
            total += parts[part] * sizes[part, verdict] * good
    return float(total.var() * LABELS)


def main() -> None:
    """Work out each setting, and draw runs of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    asked = parser.parse_args()
    rng, rows = np.random.default_rng(43), []
    settings = itertools.product(
        (0.05, 0.1, 0.2, 0.4), THIN, ((0.9, 0.8), (0.95, 0.95)), (0.3, 0.7)
    )
    for thin, errs, elsewhere, good in settings:
        each = [cells_of(good, THIN[errs] or elsewhere), cells_of(GOOD, elsewhere)]
        sizes, right = (np.array(column) for column in zip(*each, strict=True))
        known = variances(thin, sizes, right)
        row: dict[str, Any] = {"thin": thin, "errs there": errs, "elsewhere": elsewhere[0]}
        row |= {"good there": good}
        row |= {way: value / known["random"] for way, value in known.items() if way != "thin part"}
        row["thin part"] = known["thin part"]
        for way, on_thin in (("random", thin), ("half thin", 0.5)):
            got = drawn(rng, asked.runs, thin, on_thin, sizes, right)
            row[f"{way}, drawn"] = got / known[way]
        rows.append(row)
    table = pd.DataFrame(rows)
    RESULTS.mkdir(exist_ok=True)
    table.round(3).to_csv(RESULTS / "probes.csv", index=False, lineterminator="\n")
    ways = [*table.columns[4:]]
    print(table[ways].agg(["mean", "min", "max"]).T.round(3).to_string())
    print(table.groupby(["thin", "errs there"], sort=False)[ways].mean().round(2).to_string())
    print(f"error of a drawn variance: {np.sqrt(2 / asked.runs):.3f} of it")


if __name__ == "__main__":
    main()
