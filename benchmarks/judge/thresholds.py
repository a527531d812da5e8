"""Does a threshold keep its promise that at most 5 % of the accepted verdicts are wrong?

Nine cells: probabilities of a judge who is calibrated, overconfident (log odds twice too large) or
knows two kinds of output (a step, .7 and .98), with 100, 300 and 1,000 labels of 3,000 outputs;
promised with probability .9, so that .10 may break. Beside `judge.trust`'s threshold the smallest
of which the observed error is at most 5 %, Clopper and Pearson's bound down a fixed sequence of
twenty thresholds from the first at which it could hold, and (known) the threshold of somebody who
knows how often each verdict is wrong.

Quick: as it is.

Found: in 120 draws a cell (standard error .027 at .1) `judge.trust` breaks its promise in 0 to .117
of the draws, the observed share in .48 to .77 and Clopper and Pearson's sequence in 0 to .025.
Accepted are .107, .203 and .292 of the outputs of a calibrated judge (sequence .007, .060, .151),
.087, .346 and .486 of a step (.114, .116, .128), and .005 or less of an overconfident one (.001):
at least twice the sequence's in seven of nine cells, 1.9 times with 1,000 labels of a calibrated
judge, and .76 times with 100 labels of a step. In these two twice as much is out of reach. Somebody
who knows how often each verdict is wrong accepts .361 of the calibrated judge's outputs, .025 of
the overconfident one's and .535 of the step: with 1,000 labels `judge.trust` has .81 of that, and
twice the sequence would be .84. Of 100 labels 48 lie beyond the step on average, and 45 without an
error are the fewest that promise 5 % with probability .9 (77 with one error): .27 of tables have
them, which is .13 to .15 of the outputs for any rule that has to be sure from labels alone, and
.114 the sequence's. No rule has twice of it there: somebody who knows all of the step but its
height accepts .193 by a test that breaks in .10, .213 by one that breaks in .12 (twice is .228).
Somebody who knows that the calibrated judge's curve is logistic, and has 1,000 labels for its level
and slope, accepts .294 and .301 (twice is .302).

    python benchmarks/judge/thresholds.py --runs 150
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betainc, expit, logit
from scipy.stats import binom, norm

from bayesjudge.judge.trust import Labelled, threshold

ALPHA, PROMISED, OUTPUTS = 0.05, 0.9, 3000
WORLDS = {
    "calibrated": lambda p: p,
    "overconfident": lambda p: expit(logit(p) / 2),
    "step": lambda p: np.where(p < 0.85, 0.7, 0.98),
}
RESULTS = Path(__file__).parent / "results"


def others(p: np.ndarray, x: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    """Thresholds by observed error, and by Clopper and Pearson's bound in a fixed sequence."""
    order = np.argsort(-x)
    n, k = np.arange(1, len(x) + 1), np.cumsum(wrong[order])
    good = np.flatnonzero(k / n <= ALPHA)
    found = {"observed": x[order][good[-1]] if good.size else np.nan, "fixed_sequence": np.nan}
    need = int(np.ceil(np.log(1 - PROMISED) / np.log(1 - ALPHA)))
    for cut in np.quantile(p, np.linspace(0.95, 0, 20)):
        m = int((x >= cut).sum())
        if m < need:
            continue
        errors = wrong[x >= cut].sum()
        if errors < m and 1 - betainc(errors + 1, m - errors, ALPHA) <= 1 - PROMISED:
            found["fixed_sequence"] = cut
        else:
            break
    return found


def most(p: np.ndarray, q: np.ndarray) -> float:
    """The lowest threshold at which no more are wrong, if all is known; there may be none."""
    order = np.argsort(-p)
    good = np.flatnonzero(np.cumsum(1 - q[order]) <= ALPHA * np.arange(1, len(p) + 1))
    return p[order][good[-1]] if good.size else np.nan


def limits(draws: int = 400) -> dict[str, float]:
    """Most traffic of rules that know all but a number or two, which labels have to tell them.

    Step, 100 labels: somebody knows where it is and what lies below, and tests whether .02 or .05
    are wrong beyond it (Neyman and Pearson's test of both numbers, which no other beats).
    Calibrated, 1,000 labels: somebody knows that the curve is logistic, and promises by the normal
    approximation of its level and slope.
    """
    rng = np.random.default_rng(1)
    p = np.sort(rng.beta(4, 1, 400_000))[::-1]
    beyond = (p >= 0.85).mean()
    n, k = np.meshgrid(np.arange(101), np.arange(12))
    chance = binom.pmf(n, 100, beyond)
    wrong, right = (chance * binom.pmf(k, n, share) for share in (0.05, 0.02))
    ratio = np.where(k <= n, k * np.log(0.4) + (n - k) * np.log(0.98 / 0.95), -np.inf)
    order = np.argsort(-ratio.ravel())
    x = logit(p[::200])
    w = expit(x) * expit(-x)
    moments = [np.mean(w * x**power) for power in range(3)]
    covariance = np.linalg.inv(1000 * np.array([moments[:2], moments[1:]]))
    found = {}
    for broken in (0.1, 0.12):
        kept = np.cumsum(wrong.ravel()[order]) <= broken
        found[f"step, 100, broken {broken}"] = beyond * right.ravel()[order][kept].sum()
        traffic = []
        for level, slope in rng.multivariate_normal([0, 0], covariance, draws):
            q, upto = expit(level + (1 + slope) * x), np.arange(1, len(x) + 1)
            by_level, by_slope = (np.cumsum(q * (1 - q) * x**power) / upto for power in (0, 1))
            slopes = np.stack([by_level, by_slope])
            error = np.sqrt(np.einsum("ij,ik,kj->j", slopes, covariance, slopes))
            good = np.cumsum(1 - q) / upto + norm.isf(broken) * error <= ALPHA
            traffic.append((np.flatnonzero(good)[-1] + 1) / len(x) if good.any() else 0)
        found[f"calibrated, 1000, broken {broken}"] = float(np.mean(traffic))
    return found


def study(runs: int) -> pd.DataFrame:
    """Broken promises and traffic by cell and rule."""
    rows = []
    for world, right in WORLDS.items():
        for labels in (100, 300, 1000):
            rng = np.random.default_rng([len(world), labels])
            for _ in range(runs):
                p = np.clip(rng.beta(4, 1, OUTPUTS), 1e-4, 1 - 1e-4)
                q = right(p)
                x, y = p[:labels], (rng.random(labels) < q[:labels]).astype(float)
                table = Labelled(x, y, np.ones(labels), p, np.ones(OUTPUTS), True)
                cuts = others(p, x, 1 - y) | {"trust": threshold(table, True, ALPHA, PROMISED)}
                cuts["known"] = most(p, q)
                for rule, cut in cuts.items():
                    taken = p >= cut
                    broken = taken.any() and (1 - q[taken]).mean() > ALPHA
                    rows.append((world, labels, rule, broken, taken.mean()))
    made = pd.DataFrame(rows, columns=["world", "labels", "rule", "broken", "traffic"])
    found = made.groupby(["world", "labels", "rule"], sort=False).mean().reset_index()
    return found.assign(runs=runs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    made = study(parser.parse_args().runs)
    made.round(4).to_csv(RESULTS / "thresholds.csv", index=False)
    print(made.pivot_table(index=["world", "labels"], columns="rule", values=["broken", "traffic"],
                           sort=False).round(3))  # fmt: skip
    for cell, share in limits().items():
        print(f"most traffic, {cell}: {share:.3f}")
    print(f"standard error of a broken share of .1: {np.sqrt(0.09 / made['runs'].iloc[0]):.3f}")
