"""Does labelling what is hard to predict decide a gate with fewer labels than labelling at random?

1,000 items without replacement; the judge gives a verdict, a calibrated score of eleven values, or
three judges a verdict each, of which the mean is what `Monitor` takes. The threshold is 5 points
below the share of good items, or above. Labels until the gate decides, looked at after each.

Quick: ``--runs 20``

Found: over six settings a judge (250 runs each, errors of a ratio .01 to .05), drawing what is
hard to predict takes .92 to 1.01 times the labels of random draws with one judge's verdicts where
the gate passes, .85 and .66 where it fails (by verdict .69 and .42); with calibrated scores .96
to 1.03; with verdicts of three judges .99 to 1.40. By verdict takes more than random in 13 of 18
settings.

    python benchmarks/decide/strategies.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.decide._betting import (
    GOOD_OF_FAILED,
    GOOD_OF_PASSED,
    IMAGINARY,
    Draws,
    increments,
    log_wealth,
)
from bayesjudge.decide.monitor import FLOOR

RESULTS = Path(__file__).parent / "results"
ITEMS, PROBABILITY, GAP = 1000, 0.95, 0.05
LEVEL = -np.log1p(-PROBABILITY)
JUDGES = ("verdict", "three judges", "score")


def pools(rng, kind, share, quality, runs):
    """Truths of items by what the judges say of them: values, and good and bad items of each."""
    truth = np.zeros((runs, ITEMS), int)
    truth[:, : round(share * ITEMS)] = 1
    if kind == "score":  # normal scores with the same quality, as the share of good ones at each
        spread = 2 * quality
        latent = rng.normal(np.where(truth, spread / 2, -spread / 2), 1)
        odds = spread * latent + np.log(share / (1 - share))
        said = np.round(10 / (1 + np.exp(-odds))).astype(int)
        values = np.arange(11) / 10
    else:
        n = 3 if kind == "three judges" else 1
        right = rng.random((n, runs, ITEMS)) < (1 + quality) / 2
        said = np.where(right, truth, 1 - truth).sum(0)
        values = np.arange(n + 1) / n
    counts = np.zeros((2, len(values), runs), int)
    for v in range(len(values)):
        counts[1, v] = ((said == v) & (truth == 1)).sum(1)
        counts[0, v] = ((said == v) & (truth == 0)).sum(1)
    return values, counts


def drawn(rng, values, counts, strategy):
    """Draw all items one after another, as `Monitor` does; a row a run."""
    left, runs = counts.sum(0), counts.shape[2]
    bad_good, run = counts.copy(), np.arange(runs)
    n, s1, s2 = 2 * IMAGINARY * np.ones(runs), IMAGINARY * np.ones(runs), IMAGINARY * np.ones(runs)
    t, c = IMAGINARY * (GOOD_OF_PASSED + GOOD_OF_FAILED) * np.ones(runs), IMAGINARY * GOOD_OF_PASSED
    c = c * np.ones(runs)
    out = {name: np.empty((runs, ITEMS)) for name in "fywkrp"}
    tops = np.empty((runs, ITEMS, 2))
    known = np.zeros(runs)
    for step in range(ITEMS):
        total = left.sum(0)
        share = left / total
        chance = share
        if strategy == "uncertain":
            slope = (c - s1 * t / n) / (s2 - s1 * s1 / n)
            ends = [np.clip(t / n + slope * (x - s1 / n), 0, 1) for x in (0, 1)]
            expected = ends[0] + (ends[1] - ends[0]) * values[:, None]
            doubt = left * (np.sqrt(expected * (1 - expected)) + 1e-6)
            chance = FLOOR * share + (1 - FLOOR) * doubt / doubt.sum(0)
        elif strategy == "by_verdict":
            passed = values[:, None] >= 0.5
            sizes = [(left * side).sum(0) for side in (passed, ~passed)]
            both = (sizes[0] > 0) & (sizes[1] > 0)
            half = left * np.where(
                passed, 0.5 / np.maximum(sizes[0], 1), 0.5 / np.maximum(sizes[1], 1)
            )
            chance = np.where(both, half, share)
        v = (rng.random(runs) > np.cumsum(chance, 0)).sum(0).clip(0, len(values) - 1)
        v = np.where(left[v, run] > 0, v, left.argmax(0))
        weights = np.divide(share, chance, out=np.zeros_like(share), where=chance > 0)
        y = rng.random(runs) < bad_good[1, v, run] / left[v, run]
        f = values[v]
        out["f"][:, step], out["y"][:, step], out["w"][:, step] = f, y, weights[v, run]
        out["k"][:, step], out["r"][:, step] = known, total / ITEMS
        out["p"][:, step] = (share * values[:, None]).sum(0)
        tops[:, step] = weights[[0, -1]].T if len(values) == 2 else weights.max(0)[:, None]
        known = known + y / ITEMS
        left[v, run] -= 1
        bad_good[y.astype(int), v, run] -= 1
        n, s1, s2, t, c = n + 1, s1 + f, s2 + f * f, t + y, c + f * y
    return Draws(out["f"], out["y"], out["w"], tops, out["k"], out["r"], out["p"])


def labels_to_decide(draws, threshold, above):
    """Labels at which each run decides rightly for the first time."""
    over = log_wealth(increments(draws), threshold, above) >= LEVEL
    return np.where(over.any(1), over.argmax(1) + 1, ITEMS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for j, kind in enumerate(JUDGES):
        for quality in (0.5, 0.8):
            for share, above in ((0.7, True), (0.9, True), (0.9, False)):
                row = {"judge": kind, "quality": quality, "share": share, "above": above}
                for strategy in ("random", "by_verdict", "uncertain"):
                    rng = np.random.default_rng([j, round(10 * quality), round(10 * share)])
                    values, counts = pools(rng, kind, share, quality, asked.runs)
                    draws = drawn(rng, values, counts, strategy)
                    threshold = share - GAP if above else share + GAP
                    labels = labels_to_decide(draws, threshold, above)
                    row[strategy] = labels.mean()
                    row[f"{strategy}_error"] = labels.std(ddof=1) / np.sqrt(asked.runs)
                row["ratio"] = row["uncertain"] / row["random"]
                rows.append(row)
    table = pd.DataFrame(rows).round(3)
    table.to_csv(RESULTS / "strategies.csv", index=False, lineterminator="\n")
    print(table.to_string())
    print(
        table.groupby("judge", sort=False)["ratio"].agg(["min", "mean", "max"]).round(3).to_string()
    )


if __name__ == "__main__":
    main()
