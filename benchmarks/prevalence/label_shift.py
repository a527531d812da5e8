"""How often does `label-shift` speak of random labels, and of labels that are not?

    python benchmarks/prevalence/label_shift.py                    # 1,000 tables a cell, 20 minutes
    python benchmarks/prevalence/label_shift.py --tables 100 --readings items

A table has 1 to 20 systems on 40 to 800 shared items with 1 to 10 rows each, of which 10 to 100
items, or as many rows, have a label. Shares of good outputs lie between .02 and .995, so that a
system whose few labels are all good is common; items differ in difficulty and in the judge's
leniency, and the judge's rates are .8, .95 or 1. Four ways of reading it: `Counts`, `ClassCounts`
of three classes and `Scores` of each system (one row an item), and `items.Items` (all rows).

``honest``: labels are a random sample of items or of rows. ``easy``: items of which the judge
passes as many rows as of the median item, or more, are labelled three times as often as the others.
``passes``: rows that the judge passed are. Counted: tables with the caution ``label-shift``, of any
system; stated is .01 of the honest ones at most.

Writes to benchmarks/prevalence/results: label_shift.csv (a row a reading and kind of labels).

Quick: ``--tables 5``

Found: of 4,000 honest tables 16 are blamed: .006 of those read as `Counts`, .001 as `Items`, .006
as `ClassCounts` and .003 as `Scores`. Of tables whose labels lean to easy items .111, .138, .109
and .060, of those that lean to the judge's passes .356, .370, .379 and .265: such labels are seldom
many enough to show it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import InputError, prevalence
from bayesjudge.prevalence import classes, items, scores

RESULTS = Path(__file__).parent / "results"
LABELS = ("honest", "easy", "passes")
SHARES = (0.02, 0.3, 0.6, 0.9, 0.98, 0.995)
ODDS = 3.0


def log(rng: np.random.Generator, labels: str, repeats: tuple[int, ...]) -> tuple[Any, Any]:
    """A table as a user would bring it, and what it is like."""
    about: dict[str, Any] = {
        "systems": int(rng.choice([1, 2, 5, 10, 20])),
        "items": int(rng.choice([40, 100, 300, 800])),
        "repeats": int(rng.choice(repeats)),
        "labelled": int(rng.choice([10, 30, 100])),
        "by": str(rng.choice(["item", "row"])) if labels == "honest" else "item",
        "of": str(rng.choice(["system", "judge"])),
    }
    if labels == "passes":
        about |= {"by": "row", "of": "system"}
    if about["of"] == "judge":
        about["by"] = "item"
    about["labelled"] = min(about["labelled"], about["items"] // 2)
    rows = items.simulate(
        systems={f"s{i}": float(x) for i, x in enumerate(rng.choice(SHARES, about["systems"]))},
        items=about["items"],
        repeats=about["repeats"],
        of=about["of"],
        labelled=about["items"] if labels != "honest" else about["labelled"],
        label="item" if labels != "honest" else about["by"],
        icc=float(rng.choice([0, 1 / 3, 0.8])),
        sensitivity=float(rng.choice([0.8, 0.95, 1.0])),
        specificity=float(rng.choice([0.8, 0.95, 1.0])),
        leniency=float(rng.choice([0.0, 1.0])),
        random_seed=rng,
    )
    if labels != "honest":
        rows["truth"] = rows["truth"].where(chosen(rows, labels, about["labelled"], rng))
    return rows, about


def chosen(rows: pd.DataFrame, labels: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Which rows are labelled: the judge's passes, or items that it passes, more often."""
    passed = rows["verdict"].to_numpy().astype(bool)
    if labels == "easy":
        by_item = rows.groupby("item")["verdict"].transform("mean")
        passed = by_item.to_numpy() >= by_item.median()
        unit = rows["item"].to_numpy()
    else:
        unit = np.arange(len(rows))
    names, first = np.unique(unit, return_index=True)
    weight = np.where(passed[first], ODDS, 1.0)
    size *= 1 if labels == "easy" else rows["system"].nunique()
    picked = rng.choice(names, min(size, len(names)), replace=False, p=weight / weight.sum())
    return np.isin(unit, picked)


def alarms(reading: str, rows: pd.DataFrame, about: Mapping[str, Any]) -> bool:
    """Whether the caution is raised, of any system."""
    asked: dict[str, Any] = {"calibration": "random"}
    if reading == "counts":
        made = [prevalence.naive(prevalence.Counts.from_frame(rows, by="system", **asked))]
    elif reading == "items":
        repeats = about["of"] if about["repeats"] > 1 else None
        made = [
            prevalence.naive(items.Items.from_frame(rows, by="system", repeats=repeats, **asked))
        ]
    elif reading == "classes":
        three = np.array(["no", "yes", "very"])
        sure = np.random.default_rng(len(rows)).integers(0, 2, len(rows))
        told = pd.DataFrame({"system": rows["system"], "truth": None})
        told["verdict"] = three[rows["verdict"] * (1 + sure)]
        known = rows["truth"].notna()
        told.loc[known, "truth"] = three[(rows["truth"][known] * (1 + sure[known])).astype(int)]
        counts = classes.ClassCounts.from_frame(told, by="system", classes=list(three), **asked)
        made = [prevalence.naive(counts)]
    else:
        noise = np.random.default_rng(len(rows)).integers(0, 3, len(rows))
        read = scores.read_systems(
            rows.assign(score=1 + noise + 2 * rows["verdict"]), by="system", scale=(1, 5), **asked
        )
        made = [prevalence.naive(one) for one in read.values()]
    return any(c.id == "label-shift" for one in made for c in one.cautions)


#: Rows an item, by reading.
READINGS = {"counts": (1,), "items": (1, 2, 5, 10), "classes": (1,), "scores": (1,)}


def main() -> None:
    """Draw tables, and count alarms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--readings", nargs="+", default=list(READINGS))
    asked = parser.parse_args()
    found = []
    for place, (reading, repeats) in enumerate(READINGS.items()):
        for labels in LABELS if reading in asked.readings else ():
            for i in range(asked.tables):
                rng = np.random.default_rng([place, LABELS.index(labels), i])
                rows, about = log(rng, labels, repeats)
                row = {"reading": reading, "labels": labels, "systems": about["systems"]}
                try:
                    found.append(row | {"alarm": alarms(reading, rows, about)})
                except InputError:  # a system without a label, or labels of one kind only
                    continue
    table = pd.DataFrame(found)
    every = table.assign(systems="all")
    keys = ["reading", "labels", "systems"]
    summary = pd.concat([every, table]).groupby(keys, sort=False)["alarm"]
    summary = summary.agg(tables="size", alarms="sum", share="mean").round(3).reset_index()
    summary = summary.sort_values(keys[:2], kind="stable")
    summary.to_csv(RESULTS / "label_shift.csv", index=False, lineterminator="\n")
    print(summary[summary["systems"] == "all"].to_string(index=False))


if __name__ == "__main__":
    main()
