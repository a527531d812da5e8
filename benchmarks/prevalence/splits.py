"""With a tenth of real labels kept, does the interval hold the share among the other nine tenths?

    python benchmarks/prevalence/splits.py                                     # 200 splits, minutes
    python benchmarks/prevalence/splits.py votes_repaired.csv.gz --judge gpt-4o

As in Lee et al., Table 2: each generator's items are split at random into test items (90 %) and
labelled ones (10 %), over and over, and each interval is held against the share of valid items
among the test items. The file is of ai-cet/llm-judge-calibration (MIT): a row an item, with its
generator, the human label and a column a judge; without one,
`bayesjudge.datasets.code_feedback` fetches it. A missing vote counts as "not valid".

A split is *degenerate* for a method that gives no interval: the judge does no better than chance on
the labels, or a class of labels is empty. Bias and the widths that are compared are those of the
splits that a method answers. Columns: ``coverage_there`` is the coverage where eq. (6) gives none,
``width_both`` the width where it gives one. Intervals are for a generator's long-run share. The
share among the other nine tenths varies by itself, so that an interval from labels that is right to
the letter holds it in 93.7 % of the splits, not 95; ``coverage_whole`` is against all ten tenths,
where it is 96.1 % for want of a finite-population correction. Writes
benchmarks/prevalence/results/splits.csv.

Quick: ``--splits 2``

Found: over generators, labels alone hold the share among the other items in .934 of the splits,
`random` in .929, PPI++ in .909 (of all items .969, .967, .923). Eq. (6) has no answer in 26 % of
the splits (9.5 % or more for each generator), and is 3.6 times as wide (.36 against .10) where it
has.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import Estimate, InputError, datasets, prevalence

RESULTS = Path(__file__).parent / "results"
#: Beside a developer's checkout.
VOTES = Path(__file__).parents[3] / "shared/data/code_feedback/votes_repaired.csv.gz"
SEED, CI_PROB = 20_272, 0.95
METHODS = {
    "eq. (6), Lang-Reiczigel": prevalence.rogan_gladen,
    "labels only": prevalence.human_only,
    "difference, PPI++": prevalence.difference,
    "posterior, random": partial(prevalence.exact, interval="eti_bounded"),
    "posterior, by_truth": partial(prevalence.exact, interval="eti_bounded"),
}


def read(path: Path | None) -> pd.DataFrame:
    """The table in a file, beside the checkout, or as the authors published it."""
    if path is not None or VOTES.exists():
        return pd.read_csv(path or VOTES)
    return datasets.code_feedback().rename(columns={"truth": "human"})


def split(
    table: pd.DataFrame, judge: str, rng: np.random.Generator
) -> tuple[dict[str, Any], float]:
    """Cells of one split, and the share of valid items among its test items."""
    labelled = np.zeros(len(table), bool)
    labelled[rng.choice(len(table), round(len(table) / 10), replace=False)] = True
    good = table["human"].to_numpy() == 1
    passed = table[judge].to_numpy() == 1  # a missing vote is no pass
    cells = {
        "test_n": int((~labelled).sum()),
        "test_pass": int((passed & ~labelled).sum()),
        "correct_n": int((good & labelled).sum()),
        "correct_pass": int((good & passed & labelled).sum()),
        "incorrect_n": int((~good & labelled).sum()),
        "incorrect_fail": int((~good & ~passed & labelled).sum()),
    }
    return cells, float(good[~labelled].mean())


def answer(name: str, cells: dict[str, Any]) -> tuple[float, float, float]:
    """Value and ends, nan where the method refuses."""
    calibration = "by_truth" if name.endswith("by_truth") else "random"
    try:
        found: Estimate = METHODS[name](prevalence.Counts(**cells, calibration=calibration))
    except InputError:
        return np.nan, np.nan, np.nan
    row = found["prevalence"]
    return row.value, row.low, row.high


def study(table: pd.DataFrame, judge: str, splits: int) -> pd.DataFrame:
    """One row a generator, split and method."""
    rows = []
    for generator, part in table.groupby("generator"):
        rng = np.random.default_rng([SEED, len(rows)])
        whole = part["human"].mean()
        for number in range(splits):
            cells, truth = split(part, judge, rng)
            for name in METHODS:
                value, low, high = answer(name, cells)
                rows.append((generator, number, name, truth, whole, value, low, high))
    columns = ["generator", "split", "method", "truth", "whole", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage and its kin, one row a generator and method, and over all generators."""
    answered = rows["low"].notna()
    covered, covered_whole = (
        (rows["low"] <= rows[target]) & (rows[target] <= rows["high"])
        for target in ("truth", "whole")
    )
    theirs = answered[rows["method"] == "eq. (6), Lang-Reiczigel"]
    key = ["generator", "split"]
    both = rows[key].merge(rows.loc[theirs[theirs].index, key].assign(both=True), "left")["both"]
    width = rows["high"] - rows["low"]
    table = rows.assign(
        degenerate=~answered,
        coverage=covered.where(answered),
        coverage_whole=covered_whole.where(answered),
        coverage_there=covered.where(answered & ~both.fillna(False).to_numpy(bool)),
        width=width,
        width_both=width.where(both.fillna(False).to_numpy(bool)),
        bias=rows["value"] - rows["truth"],
    )
    columns = [
        "degenerate",
        "coverage",
        "coverage_whole",
        "coverage_there",
        "width",
        "width_both",
        "bias",
    ]
    each = table.groupby(["generator", "method"], sort=False)[columns].mean(numeric_only=False)
    whole = table.groupby("method", sort=False)[columns].mean(numeric_only=False)
    whole.index = pd.MultiIndex.from_product([["all"], whole.index], names=each.index.names)
    return pd.concat([each, whole]).astype(float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("votes", type=Path, nargs="?")
    parser.add_argument("--judge", default="gpt-4.1-mini")
    parser.add_argument("--splits", type=int, default=200)
    asked = parser.parse_args()
    found = read(asked.votes)
    table = summary(study(found, asked.judge, asked.splits))
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "splits.csv", float_format="%.4g")
    error = np.sqrt(CI_PROB * (1 - CI_PROB) / asked.splits)
    print(
        f"judge {asked.judge}, {asked.splits} splits; Monte Carlo error of a coverage {error:.3f}"
    )
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
