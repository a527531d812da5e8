"""May the method of a share be chosen by the table at hand, and what could such a choice gain?

    python benchmarks/prevalence/choice.py --tables 200      # about 2 CPU minutes

With labels at random three intervals of a share are valid: the posterior, PPI++ and the labels'
alone (Wilson). The package quotes the posterior, chosen before any table is seen. Here the others
stand beside it on the same tables of 1,000 items without a label and 50 or 200 with one (judges
with sensitivity + specificity - 1 of .3 to .95, "even" or "lenient" as in `priors.py`; shares of
.02 to .98), and with them what a choice by the table would quote: the shortest of the three, the
one whose score in 10 tables drawn from the table's own shares of verdicts and truths is the least
(a parametric bootstrap of the risk), and, as the bound of any choice, the best method of each cell,
which nobody knows.

The interval score is the width and 40 times what the truth lies outside.

Quick: ``--tables 4``

Found: over 60 cells of 200 tables (error of a cell's coverage .017) the posterior covers .962
(least .925) and has the lowest score of the fixed methods: PPI++ 1.085 of it (up to 1.49), the
labels alone 1.318. A choice by the table gains nothing: the shortest interval scores 1.007 (worst
1.154) and covers .957, the least risk redrawn 1.025. Who knew the best method of each cell would
score .980 of the posterior, and .849 at best.

Writes to benchmarks/prevalence/results: choice.csv, by labels, J, share, judge and rule.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.core.intervals import wilson
from bayesjudge.prevalence import Counts, difference

sys.path.append(str(Path(__file__).parent))
import priors

RESULTS = Path(__file__).parent / "results"
SEED, AGAIN = 23, 10
METHODS = ("posterior", "PPI++", "labels alone")
CELL = ["labels", "youden", "share", "judge"]


def intervals(cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ends by table and method: the default posterior's, PPI++'s, and Wilson's of the labels."""
    good, _, _, weight = priors.at_random(cells, passes, rng)
    order = np.argsort(good, axis=1)
    logs = weight + priors.kernel(good, priors.JEFFREYS)
    good, logs = (np.take_along_axis(x, order, axis=1) for x in (good, logs))
    exact = priors.moved(priors.intervals(good, logs), "random", cells, passes)
    tuned, alone = np.empty_like(exact), np.empty_like(exact)
    for i, ((tp, fp, fn, tn), k) in enumerate(zip(cells.tolist(), passes.tolist(), strict=True)):
        counts = Counts(priors.ITEMS, k, tp + fn, tp, fp + tn, tn, calibration="random")
        tuned[i] = difference(counts)["prevalence"][1:]
        alone[i] = wilson(tp + fn, tp + fp + fn + tn)[1:]
    return np.stack([exact, tuned, alone], axis=1)


def scores(ends: np.ndarray, share: float | np.ndarray) -> np.ndarray:
    """Interval scores of these ends."""
    low, high = ends[..., 0], ends[..., 1]
    return high - low + 40 * np.maximum(np.maximum(low - share, share - high), 0)


def redrawn(
    cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables drawn from each table's own shares of verdicts and truths, and their share."""
    tp, fp, fn, tn = np.repeat(cells, AGAIN, axis=0).T
    labels = tp + fp + fn + tn
    p = (np.repeat(passes, AGAIN) + tp + fp + 0.5) / (priors.ITEMS + labels + 1)
    ppv, npv = (tp + 0.5) / (tp + fp + 1), (tn + 0.5) / (fn + tn + 1)
    chances = np.stack([p * ppv, p * (1 - ppv), (1 - p) * (1 - npv), (1 - p) * npv], axis=1)
    return (
        rng.multinomial(labels, chances),
        rng.binomial(priors.ITEMS, p),
        chances[:, [0, 2]].sum(1),
    )


def by_rule(
    cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Ends by rule, a row a table."""
    ends = intervals(cells, passes, rng)
    again, others, share = redrawn(cells, passes, rng)
    risk = scores(intervals(again, others, rng), share[:, None])
    risk = risk.reshape(len(cells), AGAIN, -1).mean(axis=1)
    row, width = np.arange(len(cells)), ends[..., 1] - ends[..., 0]
    chosen = {"shortest": width.argmin(axis=1), "least risk redrawn": risk.argmin(axis=1)}
    fixed = dict(zip(METHODS, np.moveaxis(ends, 1, 0), strict=True))
    return fixed | {name: ends[row, at] for name, at in chosen.items()}


def main() -> None:
    """Run the cells and summarise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    asked = parser.parse_args()
    grid = itertools.product(
        (50, 200), (0.3, 0.7, 0.95), (0.02, 0.1, 0.5, 0.9, 0.98), ("even", "lenient")
    )
    rows = []
    for i, cell in enumerate(grid):
        labels, youden, share, judge = cell
        rng = np.random.default_rng([SEED, i])
        missed = (1 - youden) * (0.5 if judge == "even" else 0.15)
        rates = 1 - missed, youden + missed
        drawn = priors.tables("random", labels, *rates, share, asked.tables, rng)
        for rule, ends in by_rule(*drawn, rng).items():
            held = (ends[:, 0] <= share) & (share <= ends[:, 1])
            rows.append((*cell, rule, held.mean(), scores(ends, share).mean()))
    table = pd.DataFrame(rows, columns=[*CELL, "rule", "covered", "score"])
    fixed = table[table["rule"].isin(METHODS)].groupby(CELL)["score"].min().rename("bound")
    table = table.join(fixed, on=CELL)
    table["to_posterior"] = table["score"] / table.groupby(CELL)["score"].transform("first")
    table["bound"] = table["bound"] / table.groupby(CELL)["score"].transform("first")
    table["below"] = table["covered"] < 0.94 - 2 * np.sqrt(0.06 * 0.94 / asked.tables)
    summary = table.groupby("rule", sort=False).agg(
        covered=("covered", "mean"), least=("covered", "min"), below=("below", "mean"),
        to_posterior=("to_posterior", "mean"), worst=("to_posterior", "max"),
    )  # fmt: skip
    print(summary.round(3).to_string())
    bound = table.groupby(CELL)["bound"].first()
    print(f"the best method of each cell: {bound.mean():.3f} of the posterior's score, "
          f"least {bound.min():.3f}")  # fmt: skip
    table.drop(columns="below").round(4).to_csv(RESULTS / "choice.csv", index=False)


if __name__ == "__main__":
    main()
