"""Do sequential labels cover at the stop, and how many do they save on real judges?

XSTest (GPT-4 on five systems) and the code feedback panel (one judge on six generators): items are
drawn, labelled with the human label, and the gate (5 points below, and 5 above, the true share of
these items, half of the runs each) is looked at after each label. The limits hold the share at
the stop if no bet against it has won by then; runs are computed side by side, as `Monitor` does
one, which a test holds them to.

Quick: ``--runs 2``

Found: at the stop the limits hold .945 to .995 of the shares (44 settings of 200 runs each), and 14
of 8,800 gates are false. On XSTest random labels decide after 187 on average with the judge and
after 226 without (where a third of the runs is undecided after 300), uncertain items more often
after 172, by verdict 184. On code feedback, whose judge tells little, 175 with the judge, 165
uncertain ones and 173 by verdict, against 163 labels only: such a judge costs 2 to 15 %.

    python benchmarks/decide/labelling.py --code-feedback votes_repaired.csv.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from always_valid import first_looks, labelled

from bayesjudge.datasets import xstest

RESULTS = Path(__file__).parent / "results"
WAYS = {
    "labels only, random": ("random", False),
    "random": ("random", True),
    "by_verdict": ("by_verdict", True),
    "uncertain": ("uncertain", True),
}
MOST, GAP, JUDGE = 300, 0.05, "gpt-4o"


def tables(path):
    """Verdict and truth of each item, by data set and system."""
    known = xstest().fillna({"verdict": 0.0})
    for system, part in known.groupby("system"):
        yield "xstest", system, part["verdict"].to_numpy(), part["truth"].to_numpy()
    if path is None:
        return
    votes = pd.read_csv(path)
    votes = votes[votes["human"].notna()].fillna({JUDGE: 0})
    for generator, part in votes.groupby("generator"):
        yield "code_feedback", generator, part[JUDGE].to_numpy(float), part["human"].to_numpy(float)


def stops(draws, share, threshold, *, judge):
    """Of each run: labels until the gate decides, what it says there, and what the limits hold."""
    most = draws.truth.shape[1]
    passes, fails = first_looks(draws, threshold, "random", judge=judge)
    first = np.minimum(passes, fails)
    labels = np.minimum(first, most)
    against = np.minimum(*first_looks(draws, share, "random", judge=judge))
    return pd.DataFrame(
        {
            "labels": labels,
            "decided": np.isfinite(first),
            "false": np.isfinite(first) & ((passes < fails) != (share >= threshold)),
            "covered": against > labels,
        }
    )


def runs_of(verdict, truth, strategy, judge, runs, seed):
    """Half of the runs with the threshold below the share of good items, half above."""
    rng, share = np.random.default_rng(seed), np.full(runs, truth.mean())
    gap = np.where(np.arange(runs) % 2, GAP, -GAP)
    threshold = np.clip(share + gap, 0.02, 0.98)
    each = (np.tile(one, (runs, 1)).astype(float) for one in (truth, verdict))
    draws = labelled(rng, *each, strategy, min(MOST, truth.size))
    return stops(draws, share, threshold, judge=judge)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code-feedback", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for i, (data, system, verdict, truth) in enumerate(tables(asked.code_feedback)):
        for j, (name, (strategy, judge)) in enumerate(WAYS.items()):
            made = runs_of(verdict, truth, strategy, judge, asked.runs, [4, i, j])
            about = {"data": data, "system": system, "items": truth.size, "way": name}
            rows.append(about | {"runs": asked.runs} | made.mean().round(3).to_dict())
        pd.DataFrame(rows).to_csv(RESULTS / "labelling.csv", index=False, lineterminator="\n")
    made = pd.DataFrame(rows)
    # by the first way's labels in the same system
    saved = made["labels"] / made.groupby(["data", "system"])["labels"].transform("first")
    made = made.assign(of_labels_only=saved)
    columns = ["labels", "of_labels_only", "decided", "false", "covered"]
    print(made.groupby(["data", "way"], sort=False)[columns].mean().round(3))
    print("lowest coverage", made["covered"].min(), "most false", made["false"].max())


if __name__ == "__main__":
    main()
