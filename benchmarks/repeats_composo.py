"""Four repeats predict the mean of the next four, on published scores of two GPT judges.

    python benchmarks/repeats_composo.py base_both_k8.jsonl.gz

The file is of composo-ai/llm-judge-criteria-ensembling (MIT): for each item four responses, eight
scores each from two judges. Prints how often 95 % intervals hold the mean of repeats 5 to 8, made
from repeats 1 to 4 in three ways, and writes benchmarks/results/repeats_composo.csv.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

from bayesjudge.repeats import Scores, order_effects, predict_means

RESULTS = Path(__file__).parent / "results"
SCALE = np.arange(1.0, 11.0)
JUDGES = ("full_scores", "mini_scores")


def read(path: Path, judge: str) -> np.ndarray:
    """Eight scores of each response that has them all."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [response for line in file for response in json.loads(line)[judge]]
    values = np.array([[np.nan if s is None else s for s in row] for row in rows], float)
    return values[~np.isnan(values).any(axis=1)]


def counted(values: np.ndarray) -> Scores:
    """Scores of one judge, in the order asked."""
    items = np.repeat(np.arange(len(values)), values.shape[1])
    table = pd.DataFrame({"item": items, "score": values.ravel()})
    return Scores.from_frame(table, scale=SCALE, item="item")


def intervals(values: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Bound the mean of four more scores, by each method."""
    mean, variance = values.mean(axis=1), values.var(axis=1, ddof=1)
    alone = t.ppf(0.975, 3) * np.sqrt(variance / 2)
    pooled = t.ppf(0.975, 3 * len(values)) * np.sqrt(variance.mean() / 2)
    moderated = predict_means(counted(values), repeats=4).table
    return {
        "t, each response alone": (mean - alone, mean + alone),
        "t, one variance for all": (mean - pooled, mean + pooled),
        "predict_means": (moderated["low"].to_numpy(), moderated["high"].to_numpy()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file
    rows = []
    for judge in JUDGES:
        values = read(path, judge)
        further = values[:, 4:].mean(axis=1)
        agree = values[:, :4].std(axis=1) == 0
        for method, (low, high) in intervals(values[:, :4]).items():
            held = (low <= further + 1e-9) & (further <= high + 1e-9)
            rows.append(
                {
                    "judge": judge,
                    "method": method,
                    "covered": held.mean(),
                    "covered_where_four_agree": held[agree].mean(),
                    "width": (high - low).mean(),
                    "responses": len(values),
                    "share_that_agree": agree.mean(),
                }
            )
        effects = order_effects(counted(values))
        print(
            judge, {name: (round(e.effect, 4), f"p={e.p_value:.2g}") for name, e in effects.items()}
        )
    table = pd.DataFrame(rows)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "repeats_composo.csv", index=False, float_format="%.4g")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
