"""What do a few labels on the generator in question give, and which items should have them?

    python benchmarks/panel/labels.py                 # minutes: study, check and curve
    python benchmarks/panel/labels.py curve           # a part of it

The votes are the table of `code_feedback.py`. Each of its six generators is the target in turn.

``study``: 50, 100 and 200 random items of the target are labelled, 34 times a generator (204 draws
of each size). Errors and 90 % intervals of the share among the target's items, for the difference
estimator, `VoteRegression` and `PooledDawidSkene`; ``alone`` with the target's items only,
``others`` with the other five labelled as well. So many fits cannot be sampled: the first model is
replaced by its Laplace approximation (`model_assisted`), the second by EM (`dawid_skene_em`).
``check``: both models sampled by NUTS on some of the same draws, beside what replaces them.
``curve``: labels chosen one batch after another by `label_next`'s rule against random ones, from 20
random labels on; the posterior is that of the approximation. Writes ``labels_PART.csv``, and
``.png`` of the curve.

Quick: ``study --draws 1``

Found: 100 random labels on the target give intervals of 7.5 points alone and 7.3 with the others
labelled (`VoteRegression`, 90 % intervals, .94 held alone); Dawid-Skene's are 3.1 points wide and
hold .55 at most. Items chosen by expected reduction give intervals that look narrower (4.3
against 7.1 points at 100 labels) and hold .78, not .97: they are not to be trusted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from code_feedback import read
from matplotlib import pyplot as plt
from scipy.special import expit

from bayesjudge import panel
from bayesjudge.core.errors import ConvergenceWarning
from bayesjudge.panel._approximations import Regression
from bayesjudge.panel.data import MISSING
from bayesjudge.panel.labelling import _choose
from bayesjudge.panel.voting import true_prevalence

RESULTS = Path(__file__).parent / "results"
SIZES = (50, 100, 200)
CLOSED = {
    "difference": panel.difference,
    "vote_regression": panel.model_assisted,
    "dawid_skene": panel.dawid_skene_em,
}
#: What is sampled in `check`.
MODELS = {
    "vote_regression": (panel.VoteRegression(), {}),
    "dawid_skene": (panel.PooledDawidSkene(), {"draws": 400, "tune": 400}),
}
#: The target's items only, or the other generators as well, all labelled.
SETTINGS = ("alone", "others")


class Target:
    """One generator whose labels are given out item by item."""

    def __init__(self, votes: panel.Votes, name: str, *, others: bool):
        self.name, self.share = name, float(true_prevalence(votes.only(name))[0])
        self.votes = votes if others else votes.only(name)
        index = self.votes.generators.index(name)
        mine = self.votes.generator == index
        self.cells = np.flatnonzero(mine)
        self.items = np.repeat(self.cells, self.votes.count[mine])
        self.rest = np.flatnonzero(~mine)

    def labelled(self, chosen: np.ndarray) -> panel.Votes:
        """Label the items in `chosen`, places in ``items``."""
        v, known = self.votes, np.zeros(len(self.items), bool)
        known[chosen] = True
        rows = np.concatenate([self.rest, self.items])
        truth = v.truth[rows].astype(int)
        truth[len(self.rest) :][~known] = MISSING
        count = np.concatenate([v.count[self.rest], np.ones(len(self.items), int)])
        return panel.Votes(
            v.votes[rows],
            truth,
            v.generator[rows],
            v.generators,
            v.judges,
            count=count,
            calibration="random",
        )


def scored(target: Target, estimate: Any) -> dict[str, float]:
    """Error, width and coverage of a 90 % interval."""
    row = estimate["prevalence", target.name]
    covered = row.low <= target.share <= row.high
    error = row.value - target.share
    return {"value": row.value, "error": error, "width": row.high - row.low, "covered": covered}


def study(votes: panel.Votes, draws: int) -> Iterator[dict[str, Any]]:
    for setting in SETTINGS:
        for name in votes.generators:
            target = Target(votes, name, others=setting == "others")
            for draw in range(draws):
                order = np.random.default_rng(draw).permutation(len(target.items))
                for size in SIZES:
                    seen = target.labelled(order[:size])
                    about = {"setting": setting, "generator": name, "labels": size, "draw": draw}
                    for method, run in CLOSED.items():
                        yield about | {"method": method} | scored(target, run(seen, ci_prob=0.9))


def check(votes: panel.Votes) -> Iterator[dict[str, Any]]:
    for setting in SETTINGS:
        for name in votes.generators[::3]:
            target = Target(votes, name, others=setting == "others")
            order = np.random.default_rng(0).permutation(len(target.items))
            for size in (100,):
                seen = target.labelled(order[:size])
                for method, (model, settings) in MODELS.items():
                    fit = panel.fit(
                        seen, model, random_seed=1, chains=2, progress=False, **settings
                    )
                    stand_in = scored(target, CLOSED[method](seen, ci_prob=0.9))
                    sampled = scored(target, fit.estimate(ci_prob=0.9))
                    yield {
                        **{"setting": setting, "generator": name, "labels": size},
                        **{"method": method, "converged": fit.converged},
                        **{"sampled": sampled["value"], "stand_in": stand_in["value"]},
                        "width_sampled": sampled["width"],
                        "width_stand_in": stand_in["width"],
                    }


def curve(votes: panel.Votes, repeats: int = 10, batch: int = 20) -> Iterator[dict[str, Any]]:
    for name in votes.generators:
        target = Target(votes, name, others=True)
        for repeat in range(repeats):
            for strategy in ("random", "expected reduction"):
                rng = np.random.default_rng(repeat)
                order = rng.permutation(len(target.items))
                chosen = order[:20]
                while True:
                    seen = target.labelled(chosen)
                    learnt = Regression(seen, panel.VoteRegression())
                    row = scored(target, panel.model_assisted(seen, ci_prob=0.9))
                    about = {"generator": name, "repeat": repeat, "strategy": strategy}
                    yield about | {"labels": len(chosen)} | row
                    if len(chosen) >= 200:
                        break
                    left = np.setdiff1d(order, chosen, assume_unique=True)
                    if strategy == "random":
                        more = order[len(chosen) : len(chosen) + batch]
                    else:
                        more = told_most(target, seen, learnt, left, batch, rng)
                    chosen = np.concatenate([chosen, more])


def told_most(
    target: Target,
    seen: panel.Votes,
    learnt: Regression,
    left: np.ndarray,
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose items as `label_next` does, with draws from the Laplace approximation."""
    index = seen.generators.index(target.name)
    cells = np.flatnonzero((seen.generator == index) & (seen.truth == MISSING))
    draws = rng.multivariate_normal(learnt.weights, learnt.covariance, 1000, method="cholesky")
    chance = expit(draws @ learnt.design(seen)[cells].T)
    picked = _choose(chance, seen.count[cells], int(seen.items[index]), n)[0]
    pattern = {tuple(row): [] for row in seen.votes[cells]}
    for place in left:
        pattern[tuple(target.votes.votes[target.items[place]])].append(place)
    return np.array([pattern[tuple(seen.votes[cells[p]])].pop() for p in picked])


def summed(part: str, table: pd.DataFrame) -> pd.DataFrame:
    """Means over draws and generators, in points."""
    if part == "check":
        return table
    keys = ["setting", "labels", "method"] if part == "study" else ["strategy", "labels"]
    table = table.assign(off=table["error"].abs(), square=table["error"] ** 2)
    grouped = table.groupby(keys, sort=False)
    return pd.DataFrame(
        {
            "fits": grouped.size(),
            "mean_error": 100 * grouped["off"].mean(),
            "rms_error": 100 * np.sqrt(grouped["square"].mean()),
            "bias": 100 * grouped["error"].mean(),
            "width": 100 * grouped["width"].mean(),
            "covered": grouped["covered"].mean(),
        }
    ).reset_index()


PARTS = {"check": check, "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=Path, help="a table; fetched if none is given")
    parser.add_argument("parts", nargs="*", default=["study", "check", "curve"])
    parser.add_argument("--draws", type=int, default=34, help="of the labels, for each generator")
    asked = parser.parse_args()
    votes = read(asked.votes)
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    for part in asked.parts:
        begin = time.perf_counter()
        rows = study(votes, asked.draws) if part == "study" else PARTS[part](votes)
        table = pd.DataFrame(rows)
        shown = summed(part, table)
        RESULTS.mkdir(exist_ok=True)
        shown.to_csv(RESULTS / f"labels_{part}.csv", index=False, float_format="%.4g")
        print(
            f"{part}: {time.perf_counter() - begin:.0f} s\n{shown.round(3).to_string()}", flush=True
        )
        if part == "curve":
            drawn(table)


def drawn(table: pd.DataFrame) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    points = table.assign(error=100 * table["error"].abs(), width=100 * table["width"])
    for ax, value in zip(axes, ("error", "width"), strict=True):
        for strategy, rows in points.groupby("strategy", sort=False):
            by_labels = rows.groupby("labels")[value]
            mean, error = by_labels.mean(), by_labels.sem().fillna(0)
            ax.errorbar(mean.index, mean, error, marker="o", ms=4, capsize=2, label=str(strategy))
        ax.set(xlabel="labelled items of the generator", ylim=(0, None))
        ax.grid(alpha=0.3)
        ax.legend(frameon=False)
        ax.set_ylabel(f"mean {'absolute error' if value == 'error' else '90 % width'} (points)")
    figure.savefig(RESULTS / "labels_curve.png", dpi=110)


if __name__ == "__main__":
    main()
