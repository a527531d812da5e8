"""Is a judge that changes midway seen by the order of rows, and how often is one seen that is not?

Tables of 1,000 rows in the order of their times, with 200 labels at random. Honest: rows in any
order; of several systems one after another; rows of one item together; sorted by a column that says
how hard they are. Planted: from the middle row on (or from 4 of 5 rows on) the judge passes more of
the bad outputs, or fails more of the good ones. Coverage is that of `prevalence.exact`, by whether
labels are of all rows or of the first half. Without times a change is told only where labels reach
one part more than the other: labels of all rows are right of all rows.

Quick: ``--tables 40 --power 10``

Found: of 600 honest tables of each of six kinds 0 to .5 % have the caution (error .2 to .3 %). With
labels at random a judge that from the middle row on passes bad outputs in 60 % of cases and not in
20 is seen in .75 of 60 tables (error .06), in 40 % in .08; one that fails good ones in 30 % and not
in 10, in .82; from row 800 on .23, .02 and .42. The row is off by 17 to 29 on the median where it
is seen in .75 or more. Coverage is .95 or more with labels of all rows; with labels of the first
half .65 and .68 under the two larger changes from the middle row on, .75 and .77 of which are seen.

    python benchmarks/verdicts/row_order.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import bayesjudge as bj
from bayesjudge.core.diagnosis import OF_ROWS
from bayesjudge.prevalence import Counts, exact

RESULTS = Path(__file__).parent / "results"
ROWS, LABELS = 1000, 200
HONEST = ("any order", "systems", "items", "sorted", "few labels", "rare")
PLANTED = [
    (change, start, labels)
    for change in ((0.0, 0.2), (0.0, 0.4), (0.2, 0.0))
    for start in (0.5, 0.8)
    for labels in ("all", "first half")
]


def table(rng, kind="any order", change=(0.0, 0.0), start=0.5, labels="all"):
    """Rows with verdicts, some labels, and what else is known; and the share of good ones."""
    share = np.full(ROWS, {"rare": 0.97}.get(kind, 0.7))
    columns = {}
    if kind == "systems":
        columns["system"] = np.repeat(list("abcde"), ROWS // 5)
        share = np.repeat(rng.uniform(0.4, 0.9, 5), ROWS // 5)
    if kind == "items":
        columns["item"] = np.repeat(np.arange(ROWS // 5), 5)
        share = np.repeat(rng.beta(1.4, 0.6, ROWS // 5), 5)
    if kind == "sorted":
        columns["hard"] = np.sort(rng.integers(1, 6, ROWS))
        share = 1 - columns["hard"] / 8
    good = rng.random(ROWS) < share
    later = np.arange(ROWS) >= start * ROWS
    hit, wrong = 0.9 - change[0] * later, 0.2 + change[1] * later
    verdict = rng.random(ROWS) < np.where(good, hit, wrong)
    most = ROWS if labels == "all" else ROWS // 2
    n = 40 if kind == "few labels" else LABELS
    labelled = np.isin(np.arange(ROWS), rng.permutation(most)[:n])
    truth = np.where(labelled, good, np.nan)
    columns["at"] = pd.date_range("2026-01-01", periods=ROWS, freq="h")
    return pd.DataFrame({**columns, "verdict": verdict * 1, "truth": truth}), good.mean()


def seen(frame):
    """The caution of the order of rows, if there is one."""
    how = {"item": "item", "repeats": "system"} if "item" in frame else {}
    read = bj.Verdicts.from_frame(frame, calibration="random", **how)
    return next((c for c in getattr(read, OF_ROWS) if c.id == "judge-changes"), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=600)
    parser.add_argument("--power", type=int, default=60)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for i, kind in enumerate(HONEST):
        rng = np.random.default_rng([1, i])
        alarms = np.mean([seen(table(rng, kind)[0]) is not None for _ in range(asked.tables)])
        error = np.sqrt(max(alarms, 1 / asked.tables) / asked.tables)
        rows.append({"kind": kind, "tables": asked.tables, "seen": alarms, "mc_error": error})
    for i, (change, start, labels) in enumerate(PLANTED):
        rng, cautions, rows_off, held = np.random.default_rng([2, i]), [], [], []
        for _ in range(asked.power):
            frame, share = table(rng, change=change, start=start, labels=labels)
            caution = seen(frame)
            cautions.append(caution is not None)
            if caution is not None:
                rows_off.append(abs(caution.numbers["row"] - start * ROWS))
            _, low, high = exact(Counts.from_frame(frame, calibration="random"))["prevalence"]
            held.append(low <= share <= high)
        rows.append(
            {
                "kind": f"planted, labels of {labels}",
                "tables": asked.power,
                "fails_good_more": change[0],
                "passes_bad_more": change[1],
                "start": start,
                "seen": np.mean(cautions),
                "mc_error": np.sqrt(0.25 / asked.power),
                "rows_off": np.median(rows_off) if rows_off else np.nan,
                "coverage": np.mean(held),
            }
        )
    made = pd.DataFrame(rows).round(4)
    made.to_csv(RESULTS / "row_order.csv", index=False, lineterminator="\n")
    print(made.to_string())


if __name__ == "__main__":
    main()
