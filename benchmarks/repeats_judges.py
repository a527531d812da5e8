"""Three judges that differ: all answers taken as one judge's, against the model with judges.

    python benchmarks/repeats_judges.py                     # 100 tables for the model, minutes
    python benchmarks/repeats_judges.py --tables 300

One item, three judges with normal offsets on the logit scale, twelve answers of each. The truth is
the item's mean over all judges that could have been drawn. Writes
benchmarks/results/repeats_judges.csv and .png.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import ConvergenceWarning, repeats

RESULTS = Path(__file__).parent / "results"
SCALE = (1, 2, 3, 4, 5)
SHARE = (0.05, 0.2, 0.4, 0.25, 0.1)
#: 0.85 on the logit scale moves a mean score by a standard deviation of 0.41: the article's 0.4.
JUDGE_SCALE = 0.85
CI_PROB = 0.9


def one(seed: int, judges: int, sampled: bool) -> list[dict[str, object]]:
    """Intervals of every method for one table; the model where asked."""
    truth = repeats.score_components(SHARE, scale=SCALE, judge_scale=JUDGE_SCALE)["mean_score"]
    table = repeats.simulate(
        items=1,
        judges=judges,
        repeats=12,
        value_share=SHARE,
        judge_scale=JUDGE_SCALE,
        item_scale=0,
        item_judge_scale=0,
        random_seed=seed,
    )
    scores = repeats.Scores.from_frame(table, scale=SCALE, judge="judge", order="repeat")
    found = {
        "as if IID": repeats.as_if_iid(scores, ci_prob=CI_PROB)["item_score[item]"],
        "ANOVA": repeats.anova(scores, ci_prob=CI_PROB)["mean_score"],
    }
    converged = True
    if sampled:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = repeats.fit(
                scores, repeats.Priors(judge_scale=1.0), random_seed=seed, cores=1, road="full"
            )
        found["model with judges"] = fit.estimate(ci_prob=CI_PROB)["mean_score"]
        converged = fit.converged
    return [
        {
            "table": seed,
            "judges": judges,
            "method": method,
            "covered": row.low <= truth <= row.high,
            "width": row.high - row.low,
            "value": row.value,
            "converged": converged,
        }
        for method, row in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100, help="for the model")
    parser.add_argument("--closed", type=int, default=1500, help="for the closed forms")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    many = max(asked.tables, asked.closed)
    rows = [row for seed in range(many) for row in one(seed, 3, seed < asked.tables)]
    every = pd.DataFrame(rows)
    table = every.groupby(["judges", "method"], sort=False).agg(
        covered=("covered", "mean"),
        width=("width", "mean"),
        tables=("table", "nunique"),
        converged=("converged", "mean"),
    )
    table["error"] = np.sqrt(CI_PROB * (1 - CI_PROB) / table["tables"])
    table.to_csv(RESULTS / "repeats_judges.csv", float_format="%.4g")
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    names = list(dict.fromkeys(every["method"]))
    for ax, column in zip(axes, ("covered", "width"), strict=True):
        ax.bar(names, table[column], color=[f"C{i}" for i in range(len(names))])
        ax.set_ylabel({"covered": "coverage of the mean over judges", "width": "width"}[column])
    axes[0].axhline(CI_PROB, color="k", lw=1)
    figure.savefig(RESULTS / "repeats_judges.png", dpi=110)
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
