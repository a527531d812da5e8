"""Are columns in which a judge errs more seen, and others left alone?

150 and 400 labelled outputs with a topic of five values, a system of two and a length. Alarms: the
share of tables with any finding, if no column matters. Seen: errors of 15 %, and 30 or 45 % in one
topic; a judge that passes an output of any label the more often the longer it is (10 or 20 points a
doubling).

Quick: as it is.

Found: of tables in which no column matters .044 and .036 show one (150 and 400 labels, 250 tables
each, standard error .014). Errors of 45 % in one topic of five are seen in .73 and 1.00, of 30 % in
.16 and .64; a length worth 10 points a doubling in .24 and .78, worth 20 in .94 and 1.00.

    python benchmarks/judge/where.py --runs 300
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.judge import where_it_errs

RESULTS = Path(__file__).parent / "results"
CASES = {"none": (0.15, 0.0), "topic 30 %": (0.3, 0.0), "topic 45 %": (0.45, 0.0),
         "length 10": (0.15, 0.1), "length 20": (0.15, 0.2)}  # fmt: skip


def draw(rng: np.random.Generator, n: int, law: float, slope: float) -> pd.DataFrame:
    """One table."""
    truth, length = rng.integers(0, 2, n), np.round(np.exp(rng.normal(5, 1, n)))
    topic = rng.choice(["art", "law", "war", "sea", "sky"], n)
    err = np.where(topic == "law", law, 0.15)
    said = np.where(rng.random(n) < err, 1 - truth, truth)
    more = slope * (np.log2(length) - 7)
    said = np.where(rng.random(n) < np.abs(more), (more > 0).astype(int), said)
    system = rng.choice(["a", "b"], n)
    return pd.DataFrame(
        {"verdict": said, "truth": truth, "topic": topic, "system": system, "length": length}
    )


def study(runs: int) -> pd.DataFrame:
    """Alarms and planted columns that are seen, by case and number of labels."""
    rows = []
    for case, how in CASES.items():
        for n in (150, 400):
            rng, any_, seen, others = np.random.default_rng([len(case), n]), [], [], []
            column = case.split()[0]
            for _ in range(runs):
                found = {(one.column, one.value) for one in where_it_errs(draw(rng, n, *how))}
                planted = {("topic", "law")} if column == "topic" else {("length", "")}
                planted = set() if column == "none" else planted
                any_.append(bool(found))
                seen.append(bool(found & planted))
                others.append(bool(found - planted))
            rows.append((case, n, np.mean(any_), np.mean(seen), np.mean(others), runs))
    return pd.DataFrame(rows, columns=["case", "labels", "any", "seen", "others", "runs"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    made = study(parser.parse_args().runs)
    made.round(4).to_csv(RESULTS / "where.csv", index=False)
    print(made.round(3).to_string())
    print(f"standard error of .05: {np.sqrt(0.05 * 0.95 / made['runs'].iloc[0]):.3f}")
