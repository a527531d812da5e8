"""Does the gate keep its promise at one look, with a judge, few labels and rows that share items?

A/A runs: the true share is the threshold itself. Without repeats the gate rests on the exact
posterior under the priors least favourable to its decision; with five rows an item on the
difference estimator with a variance by item.

    python benchmarks/decide/fixed.py
"""

from __future__ import annotations

import argparse
import csv
from functools import cache
from pathlib import Path

import numpy as np

from bayesjudge.decide import gate
from bayesjudge.prevalence import Counts, items

RESULTS = Path(__file__).parent / "results"
SETTINGS = [
    (design, theta, youden, labels)
    for design in ("random", "by_verdict", "repeats")
    for theta in (0.5, 0.9, 0.95)
    for youden, labels in ((0.5, 50), (0.8, 100))
]
ITEMS = 1000


@cache
def outcome(cells, design, theta):
    """Of counts; few labels give the same ones again and again."""
    return gate(Counts(*cells, calibration=design), at_least=theta).outcome


def counted(rng, theta, youden, labels, design):
    """Six counts of a log with random labels, or half passes and half fails."""
    rate = (1 + youden) / 2
    passes = theta * rate + (1 - theta) * (1 - rate)
    if design == "random":
        good = rng.binomial(labels, theta)
        hit, caught = rng.binomial(good, rate), rng.binomial(labels - good, rate)
        return ITEMS, rng.binomial(ITEMS, passes), good, hit, labels - good, caught
    seen = rng.binomial(ITEMS, passes)
    passed = min(labels // 2, seen)
    failed = min(labels // 2, ITEMS - seen)
    right = rng.binomial(passed, theta * rate / passes)
    refused = rng.binomial(failed, (1 - theta) * rate / (1 - passes))
    good, bad = right + failed - refused, passed - right + refused
    return ITEMS - passed - failed, seen - passed, good, right, bad, refused


def repeated(seed, theta, youden, labels):
    """200 items of five rows, half as many of them labelled as there are labels elsewhere."""
    rate = (1 + youden) / 2
    log = items.simulate(
        systems=theta,
        items=200,
        repeats=5,
        labelled=labels // 2,
        sensitivity=rate,
        specificity=rate,
        random_seed=seed,
    )
    read = items.Items.from_frame(log, calibration="random", repeats="system")
    return gate(read, at_least=theta).outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--settings", type=int, default=len(SETTINGS))
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for i, (design, theta, youden, labels) in enumerate(SETTINGS[: asked.settings]):
        rng, found = np.random.default_rng([3, i]), []
        for run in range(asked.runs):
            if design == "repeats":
                found.append(repeated([i, run], theta, youden, labels))
            else:
                cells = tuple(map(int, counted(rng, theta, youden, labels, design)))
                found.append(outcome(cells, design, theta))
        shares = {f"false_{o}": round(found.count(o) / asked.runs, 4) for o in ("pass", "fail")}
        about = {"design": design, "prevalence": theta, "youden": youden, "labels": labels}
        rows.append(about | {"runs": asked.runs} | shares)
        with (RESULTS / "fixed.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
