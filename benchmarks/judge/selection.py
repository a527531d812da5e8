"""How much worse than it looks is the best of many prompts, and does the shrunk value tell it?

LLMBar's six judges with their prompts on 100 items: 25 or 50 random ones are labelled, the best
prompt is chosen on them, and its accuracy on the other items is the truth.

Quick: as it is.

Found: the best prompt looks .039 better than it is with 25 labels and .023 with 50, on average over
six judges (.069 at most, 200 draws each, standard errors .003 to .007); its shrunk value is off by
.000 and -.002 on average, from -.026 to .027 by judge. That is the limit: somebody who knows the
accuracies of all prompts, but not which prompt has which (known), is off by .022 and -.025 for the
same judges.

    python benchmarks/judge/selection.py --runs 200
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.datasets import llmbar
from bayesjudge.judge.selection import Scored, _two_way, posterior

RESULTS = Path(__file__).parent / "results"


def right_by_judge() -> dict[str, np.ndarray]:
    """Of each judge, right or not: items by prompts; no answer counts as wrong."""
    found = {}
    for name, own in llmbar().groupby("judge"):
        columns = [
            (one["order1"] == one["gold"]).to_numpy(float) for _, one in own.groupby("prompt")
        ]
        found[str(name)] = np.column_stack([c for c in columns if len(c) == len(columns[0])])
    return found


def by_accuracies(scored: Scored, accuracies: np.ndarray) -> np.ndarray:
    """Values by somebody who knows the prompts' accuracies, but not which prompt has which."""
    mean, apart = scored.observed.mean(), accuracies - accuracies.mean()
    off = (scored.observed - mean)[:, None] - apart
    weight = np.exp(-(off**2) / (2 * scored.alone))
    return mean + weight @ apart / weight.sum(axis=1)


def study(runs: int) -> pd.DataFrame:
    """Observed and shrunk value of the chosen prompt, less its accuracy on the other items."""
    rows = []
    for name, right in right_by_judge().items():
        for labels in (25, 50):
            rng = np.random.default_rng([labels, len(name)])
            for _ in range(runs):
                order = rng.permutation(len(right))
                seen, rest = right[order[:labels]], right[order[labels:]]
                scored = _two_way(seen, np.ones(labels))
                values = posterior(scored, int(rng.integers(2**31))).mean(axis=0)
                known = by_accuracies(scored, right.mean(axis=0))
                best = scored.observed.argmax()
                truth = rest[:, best].mean()
                rows.append((name, right.shape[1], labels, scored.observed[best] - truth,
                             values[best] - truth, known[best] - truth))  # fmt: skip
    columns = ["judge", "prompts", "labels", "looks", "shrunk", "known"]
    made = pd.DataFrame(rows, columns=columns)
    found = made.groupby(["judge", "prompts", "labels"])[["looks", "shrunk", "known"]]
    return found.agg(["mean", "sem"]).pipe(_flat).assign(runs=runs)


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    table.columns = ["_".join(one).removesuffix("_mean") for one in table.columns]
    return table.reset_index()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    asked = parser.parse_args()
    made = study(asked.runs)
    made.round(4).to_csv(RESULTS / "selection.csv", index=False)
    print(made.round(3).to_string())
    print(made.groupby("labels")[["looks", "shrunk", "known"]].mean().round(4))
