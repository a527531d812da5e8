"""Is a judge worth as many labels as is predicted?

Five systems of XSTest (450 outputs each, GPT-4 as judge) and six of code_feedback: 100 random
labels, many times. Predicted is `judge.worth` (median of the draws, and how often its 95 % interval
holds the truth, of all labels by Tenenbein's formula); achieved is how many labels alone, less
these 100, have intervals that are on average as narrow as the exact posterior's with the judge. Of
strata, whose worth goes with one regression on the verdict for all, simulated tables.

Quick: as it is.

Found: on top of 100 labels the five systems of XSTest are worth 153, 54, 40, 56 and .5 by all
labels; predicted is 131, 46, 35, 50 and .7 (medians of 200 draws; 10 to 90 %: 100 to 180 of the
first), and achieved by the exact posterior 125, 48, 33, 50 and 1.7. Intervals hold the truth in .90
(the first) to 1.00 of the draws (standard error .015). Of six generators of code_feedback, whose
judges are worth 3 to 9 labels, 3 to 10 are predicted; the exact posterior's intervals are narrower
(3 to 34), since its prior leaves out judges that are no better than chance. Of strata the median is
below the truth (774 of 805, 125 of 139, 72 of 84, 23 of 28, 165 of 176), and intervals hold it in
.87 (20 strata of 10 labels, standard error .024) to .94 of the draws (.92 and more else).

    python benchmarks/judge/worth.py --runs 200
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta

from bayesjudge.core.worth import more_labels, worth_of_pairs
from bayesjudge.datasets import code_feedback_votes, xstest
from bayesjudge.prevalence import Counts, exact
from bayesjudge.prevalence._worth import worth_of

RESULTS = Path(__file__).parent / "results"
LABELS, SAID, TRUE = 100, np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])


def tables() -> dict[str, np.ndarray]:
    """Good passed, good failed, bad passed, bad failed, by data set and system."""
    rows = xstest().fillna({"verdict": 0.0})
    found = {
        f"xstest {name}": _cells(own["truth"] == 1, own["verdict"] == 1)
        for name, own in rows.groupby("system")
    }
    votes = code_feedback_votes()
    judges = list(votes.columns[3:])
    for i, (name, own) in enumerate(votes.groupby("generator")):
        judge = judges[i % len(judges)]
        own = own.dropna(subset=[judge])
        found[f"code_feedback {name}, {judge}"] = _cells(own["truth"] == 1, own[judge] == 1)
    return found


def _cells(truth: pd.Series, said: pd.Series) -> np.ndarray:
    kinds = (truth & said, truth & ~said, ~truth & said, ~truth & ~said)
    return np.array([kind.sum() for kind in kinds])


def narrower(width: float, good: int, bad: int, rng: np.random.Generator) -> float:
    """Labels alone whose interval is on average as narrow."""
    sizes = np.unique(np.geomspace(50, good + bad, 40).astype(int))
    widths = []
    for n in sizes:
        k = rng.hypergeometric(good, bad, n, 200)
        low, high = (beta.ppf(q, k + 1, n - k + 1) for q in (0.025, 0.975))
        widths.append((high - low).mean())
    return float(np.interp(-width, -np.array(widths), sizes))


def study(runs: int, exact_runs: int) -> pd.DataFrame:
    """Predicted and achieved worth of each system."""
    rows = []
    for name, cells in tables().items():
        rng, n = np.random.default_rng(len(name)), int(cells.sum())
        a, b, c, _ = cells / n
        good, passed = a + b, a + c
        squared = (a - good * passed) ** 2 / (good * (1 - good) * passed * (1 - passed))
        truth = float(more_labels(squared, LABELS, n))
        found, widths = [], []
        for run in range(runs):
            seen = rng.multivariate_hypergeometric(cells, LABELS)
            one = worth_of_pairs(SAID, TRUE, seen, items=n, prior=1)
            found.append((one.value, one.low <= truth <= one.high))
            if run < exact_runs:
                rest = cells - seen
                counts = Counts(rest.sum(), rest[0] + rest[2], seen[0] + seen[1], seen[0],
                                seen[2] + seen[3], seen[3], calibration="random")  # fmt: skip
                row = exact(counts)["prevalence"]
                widths.append(row.high - row.low)
        values, held = np.array(found, float).T
        achieved = narrower(np.mean(widths), cells[:2].sum(), cells[2:].sum(), rng) - LABELS
        rows.append((name, n, truth, np.median(values), *np.quantile(values, [0.1, 0.9]),
                     held.mean(), achieved, runs))  # fmt: skip
    columns = ["system", "outputs", "truth", "predicted", "p10", "p90", "held", "achieved", "runs"]
    return pd.DataFrame(rows, columns=columns)


#: Shares of good outputs, of agreement, labels and outputs of strata.
STRATA = {
    "2 of 200 and 400": ([0.5, 0.8], [0.9, 0.8], [200, 400], [3000, 1000]),
    "2 of 50, unlike": ([0.5, 0.8], [0.9, 0.75], [50, 50], [3000, 1000]),
    "5 of 20": ([0.6] * 5, [0.85] * 5, [20] * 5, [400] * 5),
    "5 of 10, unlike": ([0.3, 0.5, 0.7, 0.8, 0.9], [0.9, 0.8, 0.9, 0.7, 0.85], [10] * 5, [400] * 5),
    "20 of 10": ([0.6] * 20, [0.85] * 20, [10] * 20, [400] * 20),
}


def of_strata(runs: int) -> pd.DataFrame:
    """How often the interval of the worth of strata holds the truth."""
    rows = []
    for name, setting in STRATA.items():
        good, agree, labels, n = map(np.array, setting)
        rng = np.random.default_rng(len(name))
        parts = good * agree, good * (1 - agree), (1 - good) * (1 - agree), (1 - good) * agree
        passed = parts[0] + parts[2]
        weight = (n / n.sum()) ** 2 / labels
        alone, known = weight @ (good * (1 - good)), (weight * labels / n) @ (good * (1 - good))
        both = weight @ (parts[0] - good * passed)
        squared = both**2 / (alone * (weight @ (passed * (1 - passed))))
        truth = labels.sum() * (alone / (alone - squared * (alone - known)) - 1)
        found = []
        for _ in range(runs):
            a, b, c, d = rng.multinomial(labels, np.stack(parts, axis=1)).T
            rest = n - labels
            counts = Counts(*(column.tolist() for column in (rest, rng.binomial(rest, passed),
                            a + b, a, c + d, d)), "random", [*map(str, range(len(n)))],
                            dim="stratum")  # fmt: skip
            one = worth_of(counts, 0.95)[""]
            found.append((one.value, one.low <= truth <= one.high))
        values, held = np.array(found, float).T
        rows.append((name, truth, np.median(values), *np.quantile(values, [0.1, 0.9]),
                     held.mean(), runs))  # fmt: skip
    columns = ["strata", "truth", "predicted", "p10", "p90", "held", "runs"]
    return pd.DataFrame(rows, columns=columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--exact", type=int, default=20)
    asked = parser.parse_args()
    made = study(asked.runs, asked.exact)
    made.round(3).to_csv(RESULTS / "worth.csv", index=False)
    print(made.round(2).to_string())
    strata = of_strata(asked.runs)
    strata.round(3).to_csv(RESULTS / "worth_strata.csv", index=False)
    print(strata.round(2).to_string())
    print(f"standard error of held: {np.sqrt(0.05 * 0.95 / asked.runs):.3f}")
