"""Do sequential labels cover at the stop, and how many do they save on real judges?

XSTest (GPT-4 on five systems) and the code feedback panel (one judge on six generators): items are
drawn, labelled with the human label, and the gate (5 points below, and 5 above, the true share of
these items) is looked at after each label.

Found: on two of the five XSTest systems (60 runs each, 300 labels at most; the others and the
panel were not run) the limits hold .95 to 1.00 of the shares at the stop, and 1 of 480 gates is
false. With the judge, random labels decide after 144 and 201 labels on average, labels only after
244 and 237 (and in half of the runs not at all); uncertain items more often 133 and 183, by
verdict 151 and 216.

    python benchmarks/decide/labelling.py --code-feedback votes_repaired.csv.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.datasets import xstest
from bayesjudge.decide import Monitor

RESULTS = Path(__file__).parent / "results"
WAYS = {
    "labels only, random": ("random", False),
    "random": ("random", True),
    "by_verdict": ("by_verdict", True),
    "uncertain": ("uncertain", True),
}
BATCH, MOST, GAP, JUDGE = 10, 300, 0.05, "gpt-4o"


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


def one_run(verdict, truth, threshold, strategy, judge, seed):
    """Labels until the gate decides, and what it says there."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(truth.size)  # numbers of items tell nothing
    settings = {"strategy": strategy, "judge": judge, "random_seed": seed}
    monitor = Monitor(range(truth.size), verdict[order], at_least=threshold, **settings)
    share = truth.mean()
    while monitor.n_labels < min(MOST, truth.size):
        batch = monitor.draw(min(BATCH, MOST - monitor.n_labels))
        monitor.add(batch["item"], truth[order][batch["item"].astype(int)])
    path = monitor.path
    decided = path.index[path["outcome"] != "unknown"]
    stop = path.loc[decided[0]] if len(decided) else path.iloc[-1]
    right = "pass" if share >= threshold else "fail"
    return {
        "labels": int(stop["labels"]),
        "decided": bool(len(decided)),
        "false": stop["outcome"] not in (right, "unknown"),
        "covered": stop["low"] <= share <= stop["high"],
        "bias": stop["value"] - share,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code-feedback", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", help="one data set")
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--part", default="", help="ending of the results' name, for a part")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for data, system, verdict, truth in tables(asked.code_feedback):
        if asked.only not in (None, data):
            continue
        for name in asked.ways:
            strategy, judge = WAYS[name]
            made = []
            for seed in range(asked.runs):
                gap = GAP if seed % 2 else -GAP
                threshold = float(np.clip(truth.mean() + gap, 0.02, 0.98))
                made.append(one_run(verdict, truth, threshold, strategy, judge, seed))
            means = pd.DataFrame(made).mean().round(3).to_dict()
            about = {"data": data, "system": system, "items": truth.size, "way": name}
            rows.append(about | {"runs": asked.runs} | means)
            pd.DataFrame(rows).to_csv(
                RESULTS / f"labelling{asked.part}.csv", index=False, lineterminator="\n"
            )
    made = pd.DataFrame(rows)
    print(
        made.groupby(["data", "way"], sort=False)[["labels", "decided", "false", "covered"]].mean()
    )


if __name__ == "__main__":
    main()
