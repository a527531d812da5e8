"""Does the paired difference of two systems cover if they rarely differ?

    python benchmarks/prevalence/paired.py               # 400 logs a setting

Nominal 95 %; two systems on the same items, some of which are labelled for both; a judge that errs
on 15 % of the outputs. Truths are the same but for a share of items, where the second system's is
drawn anew, good with another probability than the .7 of the first. Three rules for systems that
differ, in truth or otherwise than in verdict, on fewer than five items labelled for both: imaginary
items, but only where they differ otherwise than in verdict on few (``errors``); imaginary items in
either case (``imaginary``); and the posterior of the signs of both differences (``posterior``, the
package's).

Writes benchmarks/prevalence/results/paired.csv.

Quick: ``--runs 4``

Found: with --runs 150 (a cell's coverage has an error of up to .02): where systems differ on few
labelled items, the rule by errors alone leaves intervals that are too short, or of no width: it
covers .29 to 1 over 15 settings. Imaginary items cover .933 to 1, the posterior .927 to 1, with
.873 to 1.009 of the interval score of imaginary items (mean .942).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from bayesjudge.prevalence import paired_difference
from bayesjudge.prevalence.items import Items
from bayesjudge.truth import by_item

RESULTS = Path(__file__).parent / "results"
SEED, GOOD, RIGHT = 20_301, 0.7, 0.85
SIZES = ((200, 60), (400, 100), (1000, 200))
#: Share of items drawn anew, and probability that such an item is good.
APART = ((0.0, 0.7), (0.02, 0.9), (0.05, 0.9), (0.1, 0.9), (0.3, 0.8))


def by_errors(first: by_item.Clusters, second: by_item.Clusters) -> bool:
    """Whether they differ otherwise than in verdict on few items."""
    labels = [one.rows @ by_item.LABELLED for one in (first, second)]
    gap = by_item.LABELLED * (by_item.GOOD - by_item.PASSED)
    with np.errstate(divide="ignore", invalid="ignore"):
        truth, passed = first.rows @ gap / labels[0], second.rows @ gap / labels[1]
    apart = np.abs(truth - passed) > 1e-9
    seen = first.has_label & second.has_label
    return bool(first.count[seen & apart].sum() < by_item.FEW)


def no_posterior(*clusters: by_item.Clusters) -> None:
    """Leave imaginary items in its place."""


def log_of(items: int, labelled: int, anew: float, good: float, rng: Any) -> Items:
    """Draw a log of two systems."""
    first = rng.random(items) < GOOD
    second = np.where(rng.random(items) < anew, rng.random(items) < good, first)
    known = np.isin(np.arange(items), rng.choice(items, labelled, replace=False))
    rows = [
        pd.DataFrame(
            {
                "item": np.arange(items),
                "system": name,
                "verdict": (truth == (rng.random(items) < RIGHT)).astype(int),
                "truth": np.where(known, truth, np.nan),
            }
        )
        for name, truth in (("a", first), ("b", second))
    ]
    return Items.from_frame(pd.concat(rows), by="system", calibration="random")


def study(runs: int) -> pd.DataFrame:
    """Coverage, width and interval score under each rule."""
    rules: dict[str, dict[str, Callable[..., Any]]] = {
        "errors": {"few_apart": by_errors, "few_posterior": no_posterior},
        "imaginary": {"few_posterior": no_posterior},
        "posterior": {},
    }
    rows, rng = [], np.random.default_rng(SEED)
    for items, labelled in SIZES:
        for anew, good in APART:
            gap, found = anew * (GOOD - good), {name: [] for name in rules}
            for _ in range(runs):
                read = log_of(items, labelled, anew, good, rng)
                for name, rule in rules.items():
                    with patch.multiple(by_item, **rule) if rule else nullcontext():
                        made = paired_difference(read)["difference", "a", "b"]
                    outside = max(made.low - gap, gap - made.high, 0)
                    width = made.high - made.low
                    found[name].append((outside < 1e-12, width, width + 40 * outside))
            for name, each in found.items():
                numbers = np.mean(each, axis=0)
                rows.append((items, labelled, anew, good, gap, name, *numbers, runs))
    columns = ["items", "labelled", "anew", "good", "difference", "rule", "covered", "width"]
    return pd.DataFrame(rows, columns=[*columns, "score", "logs"]).round(4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="logs a setting")
    study(parser.parse_args().runs).to_csv(RESULTS / "paired.csv", index=False)
