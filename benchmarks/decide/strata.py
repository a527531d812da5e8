"""Does a gate on a share that strata make up keep its promise at the true share?

    python benchmarks/decide/strata.py                 # 10 tables a setting, 6 s
    python benchmarks/decide/strata.py --tables 60     # the stored results

A gate takes the limits of such a share from priors that add up over the strata, at the end next to
a limit, to the one that a gate of one share has there (`decide.gate`); the columns ``posterior_…``
are those of the exact posterior's equal-tailed 90 % interval, with Jeffreys' prior in each stratum.
Each setting has two or three strata of a judge of sensitivity .9 and specificity .8, with random
labels, as many as the posterior of strata asks for (100 by the number of strata in each), or two
people's labels (`people`; they err in 5 %, 200 items with both). ``false_fail`` and ``false_pass``
are those of a gate at the share itself, promised .05 each; ``no_number`` tables have no posterior.

Writes to benchmarks/decide/results: strata.csv.

Quick: ``--tables 5``

Found: with 60 tables a setting (error .028, of a mean of four settings .014) false fails are .056
on average with one label an item and .046 with two people's, where .05 are promised; of the same
tables the posterior's own limits fail .082 and .122. The most of a setting is .100 (posterior
.183). False passes are .039 and .008. Next to 1 Jeffreys' prior of each stratum adds half a bad
item, so that strata failed too often there; up to 5 % of the tables have no posterior, and no
outcome.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.decide import gate
from bayesjudge.prevalence import Counts, exact, people

RESULTS = Path(__file__).parent / "results"
SEED = 43_100
LABELS = {2: 440, 3: 1000}


def table_of(rng: Any, share: float, strata: int, by_people: bool) -> Any:
    """Data of one table."""
    how: dict[str, Any] = {"calibration": "random", "stratum": "topic"}
    if by_people:
        rates = {"sensitivity": 0.9, "specificity": 0.8, "random_seed": rng}
        rows = people.simulate(prevalence=share, items=800, labelled=200, **rates)
        rows["topic"] = rng.integers(strata, size=len(rows)).astype(str)
        return people.PeopleCounts.from_frame(rows, truth=["ann1", "ann2"], **how)
    good = rng.random(3000) < share
    passed = np.where(good, rng.random(3000) < 0.9, rng.random(3000) < 0.2)
    known = rng.random(3000).argsort() < LABELS[strata]
    columns = {"verdict": passed.astype(int), "truth": np.where(known, good, np.nan)}
    return Counts.from_frame(
        pd.DataFrame({**columns, "topic": rng.integers(strata, size=3000).astype(str)}), **how
    )


def main() -> None:
    """Count how often the limits leave the share out, at either side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10)
    asked = parser.parse_args()
    rows = []
    for by_people, strata, share in itertools.product((False, True), LABELS, (0.9, 0.98)):
        low, high = np.empty((2, 2, asked.tables))  # of the gate, and of the posterior itself
        for i in range(asked.tables):
            rng = np.random.default_rng([SEED, by_people, strata, int(100 * share), i])
            data = table_of(rng, share, strata, by_people)
            (check,) = gate(data, at_least=share).checks
            usual = exact(data, ci_prob=0.9, interval="eti")["overall_prevalence"]
            low[:, i], high[:, i] = (check.low, usual.low), (check.high, usual.high)
        there = np.isfinite(low).all(axis=0)
        row: dict[str, Any] = {"labels": "people" if by_people else "one", "strata": strata}
        row |= {"share": share, "tables": asked.tables, "no_number": (~there).mean()}
        for name, at in (("", 0), ("posterior_", 1)):
            row[f"{name}false_fail"] = (high[at][there] < share).mean()
            row[f"{name}false_pass"] = (low[at][there] >= share).mean()
        rows.append({**row, "mc_error": (0.05 * 0.95 / max(there.sum(), 1)) ** 0.5})
    table = pd.DataFrame(rows).round(4)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "strata.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))
    print(table.groupby("labels")[list(table.columns[5:9])].mean().round(4).to_string())


if __name__ == "__main__":
    main()
