"""When do a panel's labels tell more without the regression of the truth on the votes?

    python benchmarks/panel/own_labels.py                   # 300 tables, 10 s
    python benchmarks/panel/own_labels.py --tables 3000     # the stored results

Settings are drawn at random: 300 to 1,000 outputs of one generator (of four in a fifth of the
tables), 25 to 200 random labels, 3 to 9 judges of sensitivity and specificity .55 to .97 whose
errors correlate by 0, .3 or .6, of which .02 to .98 are good; and a fifth real: rows of code
feedback drawn with replacement, and three or all five of its judges. Asked are the regression's
normal approximation (`VoteRegression`) and the difference estimator (`difference`), at 95 %, about
the process.

By how many labelled outputs of the rarer kind there are to a judge (``fewer``): interval scores,
coverage, and the score of the difference estimator by the regression's (``ratio``, with its Monte
Carlo error). The last rows hold what rules of choice come to, on the half of the tables on which
none was chosen: always one of them; the difference estimator below so many to a judge.

Writes to benchmarks/panel/results: own_labels.csv.

Quick: ``--tables 100``

Found: with two labelled outputs of the rarer kind to a judge, or more, both are as good (the
difference estimator .98 ± .03 of the regression's score with two to three, 1.04 ± .03 with more);
with fewer the difference estimator has .89 ± .03 of it, and down to .44 ± .04 where all labels are
of one kind (1,800 tables of one generator); on real rows .67 ± .06 with one to two to a judge. On
the half of the tables that chose nothing the rule "below 2" has .802 ± .015 of the regression's
score ("below 3" .796, always .807) and covers .986; on real rows .773 ± .034, covering .953 where
the regression covers .937. Of four generators, which pool what votes are worth, the difference
estimator has 1.29 ± .04 of the regression's score.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from bayesjudge import datasets, panel
from bayesjudge.panel.closed_form import _laplace

RESULTS = Path(__file__).parent / "results"
SEED, EDGES = 43_000, [-1, 0, 0.5, 1, 2, 3, 5, 10, 100]


def simulated(rng: Any, n: int, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Votes and truths of each group's outputs, and the shares of good ones."""
    judges, least = int(rng.choice([3, 5, 9])), rng.choice([0.55, 0.75])
    hit, caught = rng.uniform(least, 0.97, (2, judges))
    shared, share = rng.choice([0, 0.3, 0.6]), float(rng.choice([0.5, 0.7, 0.85, 0.93, 0.98]))
    share = 1 - share if rng.random() < 0.3 else share
    shares = share + (0.1 * rng.uniform(-1, 1, groups) * (share * (1 - share)) ** 0.5) * (
        groups > 1
    )
    truth = rng.random((groups, n)) < shares[:, None]
    common, each = rng.standard_normal((groups, n, 1)), rng.standard_normal((groups, n, judges))
    level = ndtr(np.sqrt(shared) * common + np.sqrt(1 - shared) * each)
    return np.where(truth[..., None], level < hit, level < 1 - caught), truth, shares


def real(rng: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of rows of code feedback."""
    rows = datasets.code_feedback_votes().dropna()
    votes, truth = rows.iloc[:, 3:].to_numpy(float), rows["truth"].to_numpy(float)
    at = rng.integers(len(votes), size=n)
    judges = rng.choice(votes.shape[1], int(rng.choice([3, 5])), replace=False)
    return votes[at][None][..., judges], truth[at][None], np.array([truth.mean()])


def one(seed: int) -> dict[str, Any]:
    """A table: what it is, and how both methods fare on it."""
    rng = np.random.default_rng([SEED, seed])
    kind = ("real", "several", "one", "one", "one")[seed % 5]
    n, m = int(rng.choice([300, 600, 1000])), int(rng.choice([25, 50, 100, 200]))
    votes, truth, shares = real(rng, n) if kind == "real" else (
        simulated(rng, n, 4 if kind == "several" else 1))  # fmt: skip
    known = rng.random(truth.shape).argsort(axis=1) < m
    names = [f"j{k}" for k in range(votes.shape[-1])]
    frame = pd.DataFrame(votes.reshape(-1, len(names)).astype(int), columns=names)
    frame["truth"] = np.where(known, truth, np.nan).ravel()
    frame["generator"] = np.repeat([f"g{i}" for i in range(len(truth))], n)
    several = len(truth) > 1
    table = panel.Votes.from_frame(
        frame, judges=names, item=None, generator="generator" if several else None,
        calibration="random",
    )  # fmt: skip
    good = int(truth[known].sum())
    row: dict[str, Any] = {"kind": kind, "m": m, "half": seed // 5 % 2}
    row["fewer"] = min(good, int(known.sum()) - good) / len(names)
    about: dict[str, Any] = {"ci_prob": 0.95, "target": "population"}
    for name, made in (
        ("regression", _laplace(table, panel.VoteRegression(), **about)),
        ("difference", panel.difference(table, **about)),
    ):
        share = made.quantities["prevalence"]
        low, high = np.atleast_1d(share.low), np.atleast_1d(share.high)
        miss = np.maximum(low - shares, 0) + np.maximum(shares - high, 0)
        row[name] = float((high - low + 40 * miss).mean())
        row[f"{name} covers"] = float((miss == 0).mean())
    return row


def summary(rows: pd.DataFrame, **about: Any) -> dict[str, Any]:
    """Means of both, and the ratio of their scores."""
    columns = ["regression", "difference", "regression covers", "difference covers"]
    mean = rows[columns].mean()
    ratio = mean["difference"] / mean["regression"]
    error = (rows["difference"] - ratio * rows["regression"]).sem() / mean["regression"]
    return {**about, "tables": len(rows), **mean, "ratio": ratio, "error": error}


def chosen(rows: pd.DataFrame, least: float) -> pd.DataFrame:
    """The difference estimator's row below so many to a judge, put beside the regression's."""
    own = rows["fewer"] < least
    both = rows.copy()
    for end in ("", " covers"):
        picked = rows[f"difference{end}"].where(own, rows[f"regression{end}"])
        both[f"difference{end}"] = picked
    return both


def main() -> None:
    """Draw tables, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = pd.DataFrame([one(seed) for seed in range(asked.tables)])
    rows["bin"] = pd.cut(rows["fewer"], EDGES)
    made = [
        summary(part, kind=kind, fewer=str(of))
        for (kind, of), part in rows.groupby(["kind", "bin"], observed=True)
    ]
    held = rows[rows["half"] == 1]
    for kind, part in held.groupby("kind"):
        for least in (0, 1, 2, 3, 5, np.inf):
            made.append(summary(chosen(part, least), kind=kind, fewer=f"rule: below {least:g}"))
    table = pd.DataFrame(made).round(3)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "own_labels.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
