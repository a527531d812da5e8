"""By how much must another run's labels be discounted? Leave one system out, real judges.

Each system's prevalence is estimated with a passport made of the other systems' labels, alone or
with 50 random labels of its own: XSTest (GPT-4 on five systems) and the code feedback panel (14
judges on six generators).

Found: without labels of their own and without a discount the intervals hold .63 of 84 held-out
shares of the panel and 4 of 5 of XSTest; with an overdispersion of .01 (a class of labels counts
as 100 at most, the default) .988 and 5 of 5, at twice the width (.33 and .23, from .17 and .15),
and no alarm is raised (.048 falsely without a discount). More discount costs width only. With 50
labels of their own the others' labels add little: the panel's intervals hold .905 and are .125 wide
at the default, .94 and .130 at an overdispersion of .03, .917 and .131 without a passport, .69 and
.104 without a discount (84 runs, one draw a system).

    python benchmarks/decide/passport.py --code-feedback votes_repaired.csv.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.datasets import xstest_counts
from bayesjudge.decide import Passport
from bayesjudge.prevalence import Counts, exact

RESULTS = Path(__file__).parent / "results"
DISCOUNTS = (0.0, 0.01, 0.03, 0.1, 0.2)
OWN = 50
NOT_JUDGES = ("item", "generator", "program", "line", "human")


def tables(path):
    """Of each judge: good and passed, good and failed, bad and passed, bad and failed by system."""
    found = xstest_counts()
    found["fn"] += found.pop("unparsed_good")  # the judge did not pass them
    yield "xstest", "gpt4", found
    if path is None:
        return
    votes = pd.read_csv(path)
    judges = [c for c in votes.columns if c not in NOT_JUDGES]
    for judge in judges:
        seen = votes[votes[judge].notna() & votes["human"].notna()]
        y, v = seen["human"] == 1, seen[judge] == 1
        cells = {"tp": y & v, "fn": y & ~v, "fp": ~y & v, "tn": ~y & ~v}
        counted = pd.DataFrame({k: c.groupby(seen["generator"]).sum() for k, c in cells.items()})
        yield "code_feedback", judge, counted


def one_left_out(table, system, rng, own):
    """The passport of the others, and the run of one system with few labels."""
    others = {
        name: (row.tp + row.fn, row.tp, row.fp + row.tn, row.tn)
        for name, row in table.iterrows()
        if name != system
    }
    passport = Passport("judge", others, "random")
    row = table.loc[system, ["tp", "fn", "fp", "tn"]].to_numpy()
    tp, fn, fp, tn = rng.multivariate_hypergeometric(row, own) if own else np.zeros(4, int)
    rest = row - [tp, fn, fp, tn]
    cells = map(int, (rest.sum(), rest[0] + rest[2], tp + fn, tp, fp + tn, tn))
    counts = Counts(*cells, calibration="random" if own else "separate")
    return passport, counts, (row[0] + row[1]) / row.sum()


def summarised(made):
    """Coverage, width, error and alarms by data set, own labels and discount."""
    keys = ["data", "own", "discount"]
    grouped = made.groupby(keys, dropna=False)
    summary = grouped[["covered", "width", "error", "transport"]].mean()
    # of runs without an alarm: what a user who minds alarms gets
    quiet = made[~made["transport"]].groupby(keys, dropna=False)
    summary["covered_without_alarm"] = quiet["covered"].mean()
    return summary.round(3).assign(runs=grouped.size()).reset_index()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code-feedback", type=Path)
    parser.add_argument("--draws", type=int, default=1, help="of a system's own labels")
    parser.add_argument("--own", type=int, nargs="+", default=(0,))
    parser.add_argument("--judges", nargs="+", help="some judges only")
    parser.add_argument("--part", default="", help="ending of the results' name, for a part")
    parser.add_argument("--discounts", type=float, nargs="+", default=DISCOUNTS)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for data, judge, table in tables(asked.code_feedback):
        if asked.judges and judge not in asked.judges:
            continue
        for i, system in enumerate(table.index):
            for own in asked.own:
                for draw in range(asked.draws if own else 1):
                    rng = np.random.default_rng([i, own, draw])
                    passport, counts, truth = one_left_out(table, system, rng, own)
                    about = {"data": data, "judge": judge, "system": system, "own": own}
                    runs = [(d, passport.applied(counts, d)) for d in asked.discounts]
                    if own:
                        runs.append((np.nan, counts))  # its own labels alone
                    for discount, one in runs:
                        value, low, high = exact(one)["prevalence"]
                        alarms = (
                            passport.check(counts, overdispersion=discount or 0.0)
                            if (discount == discount)
                            else ()
                        )
                        rows.append(
                            about
                            | {
                                "discount": discount,
                                "truth": truth,
                                "covered": low <= truth <= high,
                            }
                            | {"width": high - low, "error": abs(value - truth)}
                            | {"transport": any(c.name == "transport" for c in alarms)}
                        )
        summary = summarised(pd.DataFrame(rows))
        summary.to_csv(RESULTS / f"passport{asked.part}.csv", index=False, lineterminator="\n")
    print(summary.to_string())


if __name__ == "__main__":
    main()
