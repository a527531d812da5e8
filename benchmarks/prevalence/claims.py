"""Are systems that are said to be better, or probably better, so as often as the sentence says?

    python benchmarks/prevalence/claims.py               # 200 pairs a setting

Two systems: their logits differ by a normal number of standard deviation ``spread``, and a judge
passes .9 of the good outputs and .25 of the bad ones. ``items``: 300 shared items whose difficulty
has standard deviation 1 in logits, some labelled for both (`paired_difference`); ``apart``: 300
outputs each, some labelled (`exact`, the difference by MOVER); ``scores``: numbers from 1 to 5 of
shared items, the judge's with noise .7 (`paired_difference` of scores). A claim is the sentence of
`difference_words` ("is better", "is probably better", "may or may not be better"); ``said`` is the
mean of the probabilities that stand beside it, ``right`` the share in which the system that is
named is the better one.

Writes benchmarks/prevalence/results/claims.csv.

Quick: ``--runs 2``

Found: of 5,400 pairs, 200 a setting, the system that is said to be better is so in .993 of 2,143,
the one that is probably better in .894 of 824 (beside them stand .996 and .941 on average), the
first of those that may or may not be in .670 of 2,433 (.717). It depends on how far systems differ:
with a spread of .2, where labels hardly tell them apart, .977 and .836; with .5, .991 and .926;
with 1, .998 and .935. Least right are probable claims on shared items of spread .2: .758 of 91.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from bayesjudge import prevalence
from bayesjudge.core.answer import difference_words
from bayesjudge.prevalence import items, scores
from bayesjudge.prevalence.answer import differences
from bayesjudge.prevalence.items.answer import differences as item_differences
from bayesjudge.prevalence.scores.unpaired import differences as score_differences

RESULTS = Path(__file__).parent / "results"
SEED, ITEMS, PASSED = 20_511, 300, (0.25, 0.9)
SPREADS, LABELLED = (0.2, 0.5, 1.0), (30, 60, 150)
CLAIMS = {
    " is better": "is",
    " is probably better": "probably",
    " may or may not": "may or may not",
}


def on_items(gap: float, labelled: int, rng: np.random.Generator) -> dict[str, Any]:
    """The paired difference of verdicts on shared items."""
    hard, known = rng.normal(0, 1, ITEMS), rng.permutation(ITEMS) < labelled
    level = rng.normal(0.7, 0.5)
    tables = []
    for name, logit in (("a", level + gap), ("b", level)):
        truth = rng.random(ITEMS) < expit(logit + hard)
        verdict = rng.random(ITEMS) < np.where(truth, PASSED[1], PASSED[0])
        table = {"item": np.arange(ITEMS), "system": name, "verdict": verdict.astype(int)}
        tables.append(pd.DataFrame({**table, "truth": np.where(known, truth, np.nan)}))
    read = items.Items.from_frame(pd.concat(tables), by="system", calibration="random")
    (found,) = item_differences(prevalence.paired_difference(read))
    return found


def apart(gap: float, labelled: int, rng: np.random.Generator) -> dict[str, Any]:
    """The difference of two exact posteriors."""
    level, cells = rng.normal(0.7, 0.5), []
    for logit in (level + gap, level):
        truth = rng.random(ITEMS) < expit(logit)
        passed = rng.random(ITEMS) < np.where(truth, PASSED[1], PASSED[0])
        y, v = truth[:labelled], passed[:labelled]
        test = passed[labelled:]
        cells.append((len(test), test.sum(), y.sum(), (y & v).sum(), (~y).sum(), (~y & ~v).sum()))
    columns = [np.array(column) for column in zip(*cells, strict=True)]
    counts = prevalence.Counts(*columns, calibration="random", systems=("a", "b"))
    (found,) = differences(prevalence.exact(counts))
    return found


def on_scores(gap: float, labelled: int, rng: np.random.Generator) -> dict[str, Any]:
    """The paired difference of scores on shared items; ``gap`` in points of the scale."""
    hard, known = rng.normal(3.3, 0.8, ITEMS), rng.permutation(ITEMS) < labelled
    tables = []
    for name, more in (("a", gap), ("b", 0.0)):
        worth = hard + more + rng.normal(0, 0.6, ITEMS)
        truth = np.clip(np.round(worth), 1, 5)
        given = np.clip(np.round(worth + 0.3 + rng.normal(0, 0.7, ITEMS)), 1, 5)
        table = {"item": np.arange(ITEMS), "system": name, "score": given}
        tables.append(pd.DataFrame({**table, "truth": np.where(known, truth, np.nan)}))
    read = scores.PairedScores.from_frame(
        pd.concat(tables), by="system", item="item", calibration="random",
        scale=(1, 5), truth_scale=(1, 5),
    )  # fmt: skip
    (found,) = score_differences(prevalence.paired_difference(read))
    return found


KINDS = {"items": on_items, "apart": apart, "scores": on_scores}


def study(runs: int) -> pd.DataFrame:
    """How often each claim is made, the probability that it states, and how often it is right."""
    rng, rows = np.random.default_rng(SEED), []
    for kind, draw in KINDS.items():
        for spread in SPREADS:
            for labelled in LABELLED:
                for _ in range(runs):
                    gap = rng.normal(0, spread)
                    found = draw(gap, labelled, rng)
                    words = difference_words(found)
                    claim = next(told for start, told in CLAIMS.items() if start in words)
                    named = "a" if words.startswith("a ") else "b"
                    said = found["probability"] if named == "a" else 1 - found["probability"]
                    rows.append((kind, spread, labelled, claim, said, named == "ba"[gap > 0]))
    made = pd.DataFrame(rows, columns=["kind", "spread", "labelled", "claim", "said", "right"])
    by = made.groupby(["kind", "spread", "labelled", "claim"])
    return by[["said", "right"]].mean().assign(pairs=by.size()).round(4).reset_index()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="pairs a setting")
    study(parser.parse_args().runs).to_csv(RESULTS / "claims.csv", index=False)
