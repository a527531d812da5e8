"""Do pass@k and pass^k cover if people who label attempts err too?

    python benchmarks/attempts/people.py                      # 3 data sets a setting
    python benchmarks/attempts/people.py --simulations 12 \
        --output benchmarks/attempts/results/people.csv

One agent, 50 tasks of four attempts, a judge with sensitivity .9, specificity .8 and persistence
.3. Of the attempts 100 have a label of one person, drawn at random, and 50 of these one of a second
person; both err in 2, 5 or 10 % of good and of bad attempts. Success is Beta over tasks with a
correlation of .4. ``people``: the exact posterior that lets people err; ``one``: that which takes
the first person's labels as right. Nominal 95 % intervals.

Quick: ``--simulations 1``

Found: with 12 data sets a setting (error of a coverage .08, over all six .02) the model with
people's errors covers pass^1 in .986, pass^4 in .972 and pass@4 in .986, with widths of .218, .303
and .217 on average; pass^1 is off by .022 at most, pass^4 by +.061, +.050 and +.042 at a pass@1 of
.5, and by .027 at most at .85, as the model is without people's errors (`intervals.py`). With one
person's labels taken as right pass^1 of .85 is off by -.025, -.053 and -.081, and pass^4 by -.021,
-.096 and -.172, covered in .92, .67 and .33; at .5, where slips of both kinds cancel, they are as
right as with two people and .01 to .05 narrower.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import attempts as module
from bayesjudge.attempts import Attempts

SHARES, ERRORS, KS = (0.5, 0.85), (0.02, 0.05, 0.1), (1, 4)
CORRELATION, LABELS, SHARED, SEED = 0.4, 100, 50, 40
TRUTHS = {"people": ["ann1", "ann2"], "one": "ann1"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for share, error in itertools.product(SHARES, ERRORS):
        for i in range(arguments.simulations):
            rng = np.random.default_rng([SEED, int(100 * share), int(100 * error), i])
            rows += of_one(share, error, rng)
    table = pd.DataFrame(rows)
    by = table.groupby(["share", "error", "labels", "quantity", "k"], sort=False)
    made = by.agg(
        bias=("bias", "mean"),
        bias_error=("bias", "sem"),
        coverage=("covered", "mean"),
        width=("width", "mean"),
        data_sets=("bias", "count"),
    )
    made["coverage_error"] = np.sqrt(made.coverage * (1 - made.coverage) / made.data_sets)
    made = made.reset_index().round(4)
    print(made.to_string(index=False))
    if arguments.output:
        made.to_csv(arguments.output, index=False)


def of_one(share: float, error: float, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Both answers on one data set, beside the population's numbers."""
    table = module.simulate(
        prevalence=(share,), task_correlation=CORRELATION, errors=(error, error), labels=LABELS,
        random_seed=rng,
    )  # fmt: skip
    labelled = table.index[table["ann2"].notna()]
    table.loc[rng.permutation(labelled)[SHARED:], "ann2"] = np.nan
    for name, truth in TRUTHS.items():
        data = Attempts.from_frame(table, calibration="random", truth=truth, k=KS)
        estimate = module.exact(data).estimate()
        for quantity, k in (("pass_hat_k", 1), ("pass_hat_k", 4), ("pass_at_k", 4)):
            row, true = estimate[quantity, k], truth_of(share, quantity, k)
            about = {"share": share, "error": error, "labels": name, "quantity": quantity, "k": k}
            about |= {"covered": row.low <= true <= row.high, "width": row.high - row.low}
            yield about | {"bias": row.value - true}


def truth_of(share: float, quantity: str, k: int) -> float:
    """The population's pass^k, or pass@k, of success that is Beta over tasks."""
    weight, steps = 1 / CORRELATION - 1, np.arange(k)
    mean = share if quantity == "pass_hat_k" else 1 - share
    power = float(np.prod((mean * weight + steps) / (weight + steps)))
    return power if quantity == "pass_hat_k" else 1 - power


if __name__ == "__main__":
    main()
