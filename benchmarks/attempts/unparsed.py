"""What should become of attempts without a verdict: a third verdict, the judge's fail, or none?

    python benchmarks/attempts/unparsed.py                      # 10 data sets a world
    python benchmarks/attempts/unparsed.py --simulations 25 \
        --output benchmarks/attempts/results/unparsed.csv

One agent with pass@1 of .5, 50 tasks of four attempts, 100 of them labelled, a judge with
sensitivity .9, specificity .8 and persistence .6. Of the good attempts 5 % lack a verdict, of the
bad ones 40 %: each by itself (world ``alone``, as the model has it), or with a probability of its
own on each task (world ``by task``, correlation .3 of two attempts, which no model here assumes).
Nominal 95 % intervals of the exact posterior.

Quick: ``--simulations 1``

Found: over 25 data sets a world (standard error of a coverage .04 to .10) pass^4 is as right with
attempts without a verdict as a third verdict (off by +.026 and +.027, covered in .96 and .96) as
with them as fails (+.022 and +.024, .96 and 1.00), and as wide: labels correct either, and what is
left is the model's room for tasks that are always done (`intervals.py`). As fails they make errors
look as if they did not persist (persistence off by -.25 and -.16, covered in .52 and .92, against
-.05 and -.02, .96 and 1.00). Dropped, they make pass^4 too high by .12 and .15 (.64 and .48).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import attempts as module
from bayesjudge.attempts import Attempts

MEAN, CORRELATION, LOST, PERSISTENCE, K = 0.5, 0.4, (0.05, 0.4), 0.6, 4
BY_TASK = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=10)
    parser.add_argument("--seed", type=int, default=39)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for number, world in enumerate(("alone", "by task")):
        rng = np.random.default_rng([arguments.seed, number])
        for _ in range(arguments.simulations):
            rows += [{"world": world, **row} for row in of_one(world, rng)]
    table = summarised(pd.DataFrame(rows))
    print(table.to_string(index=False))
    if arguments.output:
        table.to_csv(arguments.output, index=False)


def of_one(world: str, rng: np.random.Generator) -> list[dict[str, object]]:
    """Numbers of one data set, by what became of attempts without a verdict."""
    table = module.simulate(
        prevalence=(MEAN,), task_correlation=CORRELATION, persistence=PERSISTENCE,
        labels=200, random_seed=rng,
    )  # fmt: skip
    good = table["truth"] == 1  # all are labelled, until most labels are taken away
    chance = [np.full(len(table), rate) for rate in LOST]
    if world == "by task":
        weight, task = 1 / BY_TASK - 1, table["task"].factorize()[0]
        chance = [rng.beta(r * weight, (1 - r) * weight, task.max() + 1)[task] for r in LOST]
    table["verdict"] = table["verdict"].mask(rng.random(len(table)) < np.where(good, *chance))
    table["truth"] = table["truth"].where(rng.permutation(len(table)) < 100)
    steps, weight = np.arange(K), 1 / CORRELATION - 1
    truths = {
        "pass_at_k": 1 - np.prod(((1 - MEAN) * weight + steps) / (weight + steps)),
        "pass_hat_k": np.prod((MEAN * weight + steps) / (weight + steps)),
        "persistence": PERSISTENCE,
    }
    rows: list[dict[str, object]] = []
    for way in ("verdict", "fail", "drop"):
        data = Attempts.from_frame(table, calibration="random", unparsed=way, k=(1, K))
        found = module.exact(data).estimate()
        for name, truth in truths.items():
            row = found[name] if name == "persistence" else found[name, K]
            rows.append({"unparsed": way, "quantity": name, "truth": truth, **row._asdict()})
    return rows


def summarised(found: pd.DataFrame) -> pd.DataFrame:
    """Bias, coverage and width by setting, with the Monte Carlo errors."""
    found = found.assign(
        error=found.value - found.truth,
        covered=(found.low <= found.truth) & (found.truth <= found.high),
        width=found.high - found.low,
    )
    by = found.groupby(["world", "unparsed", "quantity"], sort=False)
    made = by.agg(
        truth=("truth", "first"), n=("error", "size"), bias=("error", "mean"),
        bias_error=("error", "sem"), coverage=("covered", "mean"), width=("width", "mean"),
    )  # fmt: skip
    made["coverage_error"] = np.sqrt(made.coverage * (1 - made.coverage) / made.n)
    return made.reset_index().round(4)


if __name__ == "__main__":
    main()
