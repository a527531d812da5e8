"""Does the gate keep its promise at one look, with a judge, few labels and rows that share items?

A/A runs: the true share is the threshold itself. Without repeats the gate rests on the exact
posterior under the priors least favourable to its decision; with five rows an item on that of
counts divided by their design effect.

Quick: ``--runs 20 --settings 0``

Found: in each of twelve settings of 10,000 runs (labels at random and by verdict, items of five
rows; standard error .002) the gate passes falsely in .040 at most and fails falsely in .041 at most
(.05 is promised). Of items of five rows at .9 a normal limit of the difference estimator passed
falsely in .092; the effective counts do in .026.

    python benchmarks/decide/fixed.py
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import prevalence
from bayesjudge.decide._posterior import posterior
from bayesjudge.decide.gate import LESS, MORE
from bayesjudge.prevalence import Counts, difference, items, post_stratified
from bayesjudge.prevalence.items.effective import counts_of

RESULTS = Path(__file__).parent / "results"
SETTINGS = [
    *[("random", t, j, m) for t in (0.5, 0.9, 0.95) for j, m in ((0.5, 50), (0.8, 100))],
    *[("by_verdict", t, 0.8, 100) for t in (0.5, 0.9, 0.95)],
    *[("repeats", t, 0.8, 100) for t in (0.9, 0.5, 0.95)],
]
ITEMS, PROBABILITY = 1000, 0.95
BLOCK = 250


@cache
def outcome(cells, design, theta):
    """What `gate` says of counts, without what it adds for the reader."""
    counts = Counts(*cells, calibration=design)
    made = (difference if design == "random" else post_stratified)(counts, ci_prob=0.68)
    return decided_at(theta, *made["prevalence"], counts)


def decided_at(theta, value, low, high, counts):
    """As the gate decides, from one of its three posteriors: that of the end beyond the threshold.

    What lies within .8 standard errors of the threshold is unknown, beyond 3 it is decided.
    """
    off = (value - theta) / max((high - low) / 2, 1e-9)
    if abs(off) < 0.8:
        return "unknown"
    if abs(off) > 3:
        return "pass" if off > 0 else "fail"
    below = posterior(counts, *(LESS if off > 0 else MORE)).cdf(theta)
    if off > 0:
        return "pass" if below <= 1 - PROBABILITY else "unknown"
    return "fail" if below > PROBABILITY else "unknown"


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
    made = prevalence.difference(read, ci_prob=0.68)["prevalence"]
    return decided_at(theta, *made, counts_of(read, read.systems[0], 2 * PROBABILITY - 1))


def more(i: int, row: dict[str, object]) -> None:
    """Add a block of runs to a setting's row."""
    design, theta, youden, labels = SETTINGS[i]
    done = int(row["runs"])
    rng, found = np.random.default_rng([3, i, done]), []
    for run in range(done, done + BLOCK):
        if design == "repeats":
            found.append(repeated([i, run], theta, youden, labels))
        else:
            cells = tuple(map(int, counted(rng, theta, youden, labels, design)))
            found.append(outcome(cells, design, theta))
    row["runs"] = done + BLOCK
    for kind in ("pass", "fail"):
        before = round(float(row[f"false_{kind}"]) * done)
        row[f"false_{kind}"] = round((before + found.count(kind)) / row["runs"], 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=10_000, help="of a setting; goes on from results"
    )
    parser.add_argument("--settings", type=int, nargs="+", default=range(len(SETTINGS)))
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path, names = RESULTS / "fixed.csv", ("design", "prevalence", "youden", "labels")
    start = {"runs": 0, "false_pass": 0.0, "false_fail": 0.0}
    rows = [dict(zip(names, setting, strict=True)) | start for setting in SETTINGS]
    if path.exists():
        rows = pd.read_csv(path).to_dict("records")
    for _ in range(0, asked.runs, BLOCK):
        for i in asked.settings:
            if rows[i]["runs"] < asked.runs:
                more(i, rows[i])
                pd.DataFrame(rows).to_csv(path, index=False)
                print(rows[i], flush=True)


if __name__ == "__main__":
    main()
