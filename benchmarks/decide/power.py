"""Does a gate pass as often as planned, with the labels that the plan says?

For each setting and way of choosing what is labelled, `labels_to_pass` is asked for a chance of .8,
tables with so many labels are simulated, and the gate decides each: a pass if the posterior under
the prior least favourable to one has at most .05 below the threshold.

Quick: ``--tables 100 --settings 1``

Found: over seven settings (thresholds .5 to .9, 5 to 15 points below the truth) and four ways of
choosing, 600 tables each, the gate passes in .77 to .84 of the tables with the labels of the plan,
within two standard errors (.016) of what the plan says in 26 of 27; with 65 labels, half good and
half bad, in .76, where it says .81. At the number of the rule of thumb, by which the distance to
the threshold is 2.5 standard errors, the chance is .63 to .78 with a random sample, .38 to .78
without a judge and .36 to .71 with labels by verdict.

    python benchmarks/decide/power.py
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.decide import chance_to_pass, labels_to_pass
from bayesjudge.decide._posterior import LESS, posterior
from bayesjudge.decide.power import PEOPLE, STRATEGIES
from bayesjudge.prevalence import Counts, budget

RESULTS = Path(__file__).parent / "results"
POWER, PROBABILITY = 0.8, 0.95
#: Threshold, prevalence, sensitivity, specificity, items.
SETTINGS = [
    (0.8, 0.85, 0.85, 0.85, 2000),
    (0.8, 0.9, 0.85, 0.85, 2000),
    (0.8, 0.85, 0.94, 0.34, 2000),
    (0.6, 0.7, 0.9, 0.7, 1000),
    (0.9, 0.95, 0.9, 0.8, 2000),
    (0.8, 0.95, 0.85, 0.85, 1000),
    (0.5, 0.6, 0.8, 0.8, 3000),
]
NAMES = ("at_least", "prevalence", "sensitivity", "specificity", "items")
BLOCK = 100


@cache
def passes(cells, design, at_least):
    """Whether `gate` passes, without what it adds for the reader."""
    counts = Counts(*cells, calibration=design)
    return bool(posterior(counts, *LESS).cdf(at_least) <= 1 - PROBABILITY)


def drawn(rng, strategy, labels, prevalence, sensitivity, specificity, items):
    """Six counts of a table to come."""
    rate = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    first, second = (labels + 1) // 2, labels // 2
    if strategy == "by verdict":
        seen = rng.binomial(items + labels, rate)
        passed, failed = min(first, seen), min(second, items + labels - seen)
        right = rng.binomial(passed, prevalence * sensitivity / rate)
        refused = rng.binomial(failed, (1 - prevalence) * specificity / (1 - rate))
        good, bad = right + failed - refused, passed - right + refused
        return items + labels - passed - failed, seen - passed, good, right, bad, refused
    good = first if strategy == "half good, half bad" else rng.binomial(labels, prevalence)
    hits, caught = rng.binomial(good, sensitivity), rng.binomial(labels - good, specificity)
    if strategy == PEOPLE:  # a judge who says nothing, about one item
        return 1, 1, good, good, labels - good, 0
    return items, rng.binomial(items, rate), good, hits, labels - good, caught


def planned(settings):
    """One row a setting and strategy that a plan has labels for."""
    rows = []
    for setting in SETTINGS[:settings]:
        asked = dict(zip(NAMES, setting, strict=True))
        assumed = {name: asked[name] for name in NAMES[1:]}
        distance = 2 * (asked["prevalence"] - asked["at_least"])
        rule = budget.labels_by_design(min(1.96 / (1.645 + 0.842) * distance, 0.99), **assumed)
        for strategy, labels in labels_to_pass(**asked, power=POWER).items():
            if labels is not None:
                of_rule, chance = (
                    round(chance_to_pass(labelled=n, strategy=strategy, **asked), 4)
                    for n in (rule[strategy], labels)
                )
                row = {"strategy": strategy, "rule": rule[strategy], "rule_chance": of_rule}
                row |= {"labels": labels, "chance": chance, "tables": 0, "passed": 0}
                rows.append({**asked, **row})
    return rows


def more(i, row):
    """Add a block of tables to a row."""
    rng = np.random.default_rng([4, i, row["tables"]])
    sizes = [row[name] for name in ("strategy", "labels", *NAMES[1:])]
    for _ in range(BLOCK):
        cells = tuple(map(int, drawn(rng, *sizes)))
        row["passed"] += passes(cells, STRATEGIES[row["strategy"]], row["at_least"])
    row["tables"] += BLOCK
    row["share"] = round(row["passed"] / row["tables"], 4)
    share = row["chance"]
    error = np.sqrt(share * (1 - share) / row["tables"])
    row["errors_off"] = round(float((row["share"] - share) / error), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=600, help="of a row; goes on from results")
    parser.add_argument("--settings", type=int, default=len(SETTINGS), help="the first of them")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "power.csv"
    rows = pd.read_csv(path).to_dict("records") if path.exists() else planned(asked.settings)
    for _ in range(0, asked.tables, BLOCK):
        for i, row in enumerate(rows):
            if row["tables"] < asked.tables:
                more(i, row)
                pd.DataFrame(rows).to_csv(path, index=False)
                print(row, flush=True)


if __name__ == "__main__":
    main()
