"""Which estimate should be quoted under each label design?

    python benchmarks/prevalence/advice.py                  # 14 settings to choose, 14 to score
    python benchmarks/prevalence/advice.py --settings 2 --tables 20
    python benchmarks/prevalence/advice.py --settings 40 --start 14   # goes on

Settings are drawn at random: prevalence .05 to .95, sensitivity .6 to 1, specificity .4 to 1
(their sum at least 1.1), 20 to 500 labels and 200 to 5,000 items. The first half chooses one method
a design, by the mean interval score (Gneiting & Raftery 2007; width plus 40 times what was missed)
relative to that of the best method in the same setting; the other half, with settings of its own,
scores that choice. A closed form that refuses a table is scored as the interval (0, 1).

Writes to benchmarks/prevalence/results: ``advice.csv``, one row a setting and method.

Quick: ``--settings 1 --tables 2``

Found: the posterior, which is quoted under every design, scores on the second half 1.030 times the
best method of each setting with random labels (PPI++ 1.047, labels alone 1.116, Rogan-Gladen
2.910), 1.056 by truth and 1.085 with separate labels (Rogan-Gladen 1.064 and 1.062), and 1.013 by
verdict, where post-stratification has 1.026. The first half would have chosen it with random labels
and by verdict (1.027 against 1.053, 1.027 against 1.040); by truth and separately it named
Rogan-Gladen (1.011 and 1.034 against 1.165 and 1.133), and the second half agrees of separate
labels alone. The posterior covers .939 and .930 by verdict in the two halves (post-stratification
.959 and .946), elsewhere .948 to .977. Priors are the default ones. 14 settings of 40 tables in
each half and design: differences of .03 are noise.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import InputError, prevalence

RESULTS = Path(__file__).parent / "results"
SEED, CI_PROB = 20_611, 0.95
DESIGNS = ("random", "by_truth", "separate", "by_verdict")


def setting(design: str, rng: np.random.Generator) -> dict[str, Any]:
    """One world and the sizes of its table."""
    while True:
        sensitivity, specificity = rng.uniform(0.6, 1), rng.uniform(0.4, 1)
        if sensitivity + specificity >= 1.1:
            break
    labels = round(np.exp(rng.uniform(np.log(20), np.log(500))))
    return {
        "design": design,
        "prevalence": rng.uniform(0.05, 0.95),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "labels": labels,
        "items": max(round(np.exp(rng.uniform(np.log(200), np.log(5000)))), 2 * labels),
        "good": rng.uniform(0.25, 0.75),
    }


def draw(about: dict[str, Any], tables: int, rng: np.random.Generator) -> prevalence.Counts:
    """So many tables of one setting, as systems."""
    theta, q1, q0 = (about[name] for name in ("prevalence", "sensitivity", "specificity"))
    m, n, design = about["labels"], about["items"], about["design"]
    rate = theta * q1 + (1 - theta) * (1 - q0)
    if design == "by_verdict":
        ppv, npv = theta * q1 / rate, (1 - theta) * q0 / (1 - rate)
        passed = np.clip(rng.binomial(n, rate, tables), m // 2, n - m // 2)
        hits, caught = rng.binomial(m // 2, ppv, tables), rng.binomial(m // 2, npv, tables)
        cells = (hits + m // 2 - caught, hits, caught + m // 2 - hits, caught)
        test = (np.full(tables, n - 2 * (m // 2)), passed - m // 2)
    else:
        good = rng.binomial(m, theta, tables)
        if design == "by_truth":
            good = np.full(tables, round(m * about["good"]))
        elif design == "separate":
            good = rng.binomial(m, about["good"], tables)
        cells = (good, rng.binomial(good, q1), m - good, rng.binomial(m - good, q0))
        rest = n - m if design == "random" else n
        test = (np.full(tables, rest), rng.binomial(rest, rate, tables))
    names = tuple(f"table {i}" for i in range(tables))
    return prevalence.Counts(*test, *cells, calibration=design, systems=names)


def scored(about: dict[str, Any], counts: prevalence.Counts) -> list[dict[str, Any]]:
    """Interval score, coverage and error of every method that suits the design."""
    made = list(prevalence.closed_forms(counts, ci_prob=CI_PROB))
    try:
        made.append(prevalence.exact(counts, ci_prob=CI_PROB))
    except InputError as error:
        print(about, error)
    truth, rows = about["prevalence"], []
    for one in made:
        found = one.quantities["prevalence"]
        refused = np.isnan(found.low)
        low, high = np.where(refused, 0.0, found.low), np.where(refused, 1.0, found.high)
        value = np.where(np.isnan(found.value), 0.5, found.value)
        missed = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
        rows.append(
            {
                **about,
                "method": one.method.title,
                "tables": len(low),
                "refused": refused.mean(),
                "coverage": np.mean(missed == 0),
                "width": np.mean(high - low),
                "score": np.mean(high - low + 2 / (1 - CI_PROB) * missed),
                "error": np.mean(np.abs(value - truth)),
            }
        )
    return rows


def chosen(rows: pd.DataFrame) -> pd.DataFrame:
    """By half, design and method: score relative to the best in the setting, and coverage."""
    best = rows[rows["method"] != "Judge's pass rate"].groupby(["half", "number"])["score"].min()
    rows = rows.join(best.rename("best"), on=["half", "number"])
    rows = rows.assign(relative=rows["score"] / rows["best"], below=rows["coverage"] < 0.9)
    return (
        rows.groupby(["half", "design", "method"], sort=False)
        .agg(
            settings=("score", "size"),
            relative=("relative", "mean"),
            worst=("relative", "max"),
            coverage=("coverage", "mean"),
            least=("coverage", "min"),
            below_90=("below", "mean"),
            width=("width", "mean"),
            error=("error", "mean"),
            refused=("refused", "mean"),
        )
        .reset_index()
    )


def main() -> None:
    """Run the study, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--settings", type=int, default=14, help="of each half and design")
    parser.add_argument("--start", type=int, default=0, help="go on from this setting")
    parser.add_argument("--tables", type=int, default=40, help="of a setting")
    parser.add_argument("--out", type=Path, default=RESULTS / "advice.csv")
    asked = parser.parse_args()
    with asked.out.open("a" if asked.start else "w", newline="") as file:
        for i in range(asked.start, asked.settings):
            rows = []
            for half, seed in (("choose", SEED), ("score", SEED + 1)):
                for k, design in enumerate(DESIGNS):
                    rng = np.random.default_rng([seed, k, i])
                    about = setting(design, rng)
                    for row in scored(about, draw(about, asked.tables, rng)):
                        numbers = {
                            name: round(x, 5) if isinstance(x, float) else x
                            for name, x in row.items()
                        }
                        rows.append({"half": half, "number": f"{half} {k} {i}", **numbers})
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            if i == 0:
                writer.writeheader()
            writer.writerows(rows)  # at once: a study that is stopped leaves whole settings
            file.flush()
    print(chosen(pd.read_csv(asked.out)).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
