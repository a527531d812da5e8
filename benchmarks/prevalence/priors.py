"""Which default prior of a judge's rates and of the share loses least where it loses most?

    python benchmarks/prevalence/priors.py --tables 200      # all of it, about 6 CPU minutes

Nominal 95 %, 1,000 items without a label, 25 to 400 labels, judges with sensitivity = specificity =
(1 + J) / 2 for J of .1 to .95, shares of .005 to .995, labels at random, half of them good ones (by
truth), or half of them on passes (by verdict). Priors: flat, Jeffreys' on everything, Jeffreys' on
the share only, and rates learnt from 83 published judges (published_judges.csv: judge by data set,
hits among good items and catches among bad ones; each of four data sets has the same weight) with
a flat share. Posteriors are weighed draws: exact but for Monte Carlo error, from Beta distributions
of the predictive values (random), or of the rates and the pass rate (by truth). By verdict the
priors are of the predictive values, flat or Jeffreys'. Ends are moved to 0 and 1 where labels do
not exclude them, as `exact` does. ``--check`` holds the draws against `exact`.

The interval score is the width and 40 times what the truth lies outside. `worst` is the largest
ratio of a prior's score to the best prior's of a cell (design, labels, J, share).

Quick: ``--tables 2``

Found: with --tables 80 --labels 50 200 (108 cells a design, Monte Carlo error of a cell's coverage
.027, so that no cell is shown to reach .94): a flat prior, the default of rates and shares, loses
up to 1.96 (random) and 1.53 (by truth) of the best prior's interval score, Jeffreys' on everything
1.54 and 1.50, learnt rates 1.62 and 1.87, Jeffreys' on the share with flat rates 1.39 and 1.41, and
it alone has no cell below .94 by more than two errors in both designs (flat .009 and .019 of the
cells, learnt .065 and .019). By verdict Jeffreys', the default, loses up to 1.08 and has 4 of 108
cells below, flat 2.17 and .38 of the cells. Of judges of J .9 or more a flat prior is 1.155, learnt
rates 1.040 (random). The default is not changed by so few tables.

Writes to benchmarks/prevalence/results: priors.csv, by design, prior, labels, J and share.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln

from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence import Counts, ErrorRates, PredictiveValues, exact

RESULTS = Path(__file__).parent / "results"
ITEMS, DRAWS, SEED = 1000, 1000, 20_431
LABELS = (25, 50, 100, 200, 400)
YOUDEN = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
SHARES = (0.005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.995)
FLAT, JEFFREYS = (1.0, 1.0), (0.5, 0.5)


def learnt(right: pd.Series, of: pd.Series, weight: pd.Series) -> tuple[float, float]:
    """The Beta distribution of rates with the largest beta-binomial likelihood."""

    def loss(logs: np.ndarray) -> float:
        a, b = np.exp(logs)
        return -float((weight * (betaln(a + right, b + of - right) - betaln(a, b))).sum())

    a, b = np.exp(minimize(loss, np.log([4.0, 2.0]), method="Nelder-Mead").x)
    return round(float(a), 2), round(float(b), 2)


def priors() -> dict[str, tuple[tuple[float, float], ...]]:
    """Of the share, sensitivity and specificity."""
    judges = pd.read_csv(RESULTS / "published_judges.csv")
    weight = 1 / judges.groupby("data")["judge"].transform("size")
    rates = (learnt(judges[r], judges[n], weight) for r, n in (("hits", "good"), ("caught", "bad")))
    return {
        "flat": (FLAT, FLAT, FLAT),
        "jeffreys": (JEFFREYS, JEFFREYS, JEFFREYS),
        "jeffreys share": (JEFFREYS, FLAT, FLAT),
        "learnt": (FLAT, *rates),
    }


def kernel(x: np.ndarray, shape: tuple[float, float]) -> np.ndarray:
    """Logarithm of a Beta density but for its constant."""
    return (shape[0] - 1) * np.log(x) + (shape[1] - 1) * np.log1p(-x)


def drawn(a: np.ndarray, b: np.ndarray, shape: tuple[float, float], rng: np.random.Generator):
    """Of a share by table, given successes and failures; inside (0, 1)."""
    found = rng.beta(a[:, None] + shape[0], b[:, None] + shape[1], (a.size, DRAWS))
    return np.clip(found, 1e-12, 1 - 1e-12)


def at_random(cells: np.ndarray, passes: np.ndarray, prior: tuple, rng: np.random.Generator):
    """Draws of the share and logarithms of their weights; cells are tp, fp, fn, tn."""
    tp, fp, fn, tn = cells.T
    p = drawn(passes + tp + fp, ITEMS - passes + fn + tn, JEFFREYS, rng)
    ppv, npv = drawn(tp, fp, JEFFREYS, rng), drawn(tn, fn, JEFFREYS, rng)
    good = np.clip(p * ppv + (1 - p) * (1 - npv), 1e-12, 1 - 1e-12)
    hit = np.clip(p * ppv / good, 1e-12, 1 - 1e-12)
    caught = np.clip((1 - p) * npv / (1 - good), 1e-12, 1 - 1e-12)
    weight = sum(kernel(x, shape) for x, shape in zip((good, hit, caught), prior, strict=True))
    weight += np.log(p * (1 - p)) - np.log(good * (1 - good))
    return good, weight - sum(kernel(x, JEFFREYS) for x in (p, ppv, npv))


def by_truth(cells: np.ndarray, passes: np.ndarray, prior: tuple, rng: np.random.Generator):
    """The same, of labels that tell the rates only."""
    tp, fp, fn, tn = cells.T
    p = drawn(passes, ITEMS - passes, JEFFREYS, rng)
    hit, caught = drawn(tp, fn, prior[1], rng), drawn(tn, fp, prior[2], rng)
    youden = hit + caught - 1
    good = (p + caught - 1) / np.where(np.abs(youden) < 1e-9, 1e-9, youden)
    inside = (good > 0) & (good < 1)
    good = np.clip(good, 1e-12, 1 - 1e-12)
    weight = kernel(good, prior[0]) - np.log(np.abs(youden) + 1e-12) - kernel(p, JEFFREYS)
    return good, np.where(inside, weight, -np.inf)


def by_verdict(cells: np.ndarray, passes: np.ndarray, prior: tuple, rng: np.random.Generator):
    """The same, of labels that tell the predictive values only."""
    tp, fp, fn, tn = cells.T
    p = drawn(passes + tp + fp, ITEMS - passes + fn + tn, prior[0], rng)
    good = p * drawn(tp, fp, prior[0], rng) + (1 - p) * (1 - drawn(tn, fn, prior[0], rng))
    return good, np.zeros_like(good)


DESIGNS = {"random": at_random, "by_truth": by_truth, "by_verdict": by_verdict}


def tables(design: str, m: int, rate: float, share: float, size: int, rng: np.random.Generator):
    """Labelled items by kind, and passes of the others."""
    pass_rate = share * rate + (1 - share) * (1 - rate)
    passes = rng.binomial(ITEMS, pass_rate, size)
    chances = [share * rate, (1 - share) * (1 - rate), share * (1 - rate), (1 - share) * rate]
    if design == "random":
        return rng.multinomial(m, chances, size), passes
    first, second = (m + 1) // 2, m // 2
    if design == "by_truth":
        tp, tn = rng.binomial(first, rate, size), rng.binomial(second, rate, size)
        return np.stack([tp, second - tn, first - tp, tn], axis=1), passes
    total = rng.binomial(ITEMS + m, pass_rate, size)
    labelled = np.clip(first, m - (ITEMS + m - total), total)  # as many as there are
    tp = rng.binomial(labelled, chances[0] / pass_rate)
    tn = rng.binomial(m - labelled, chances[3] / (1 - pass_rate))
    return np.stack([tp, labelled - tp, m - labelled - tn, tn], axis=1), total - labelled


def intervals(good: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Ends of equal-tailed intervals by table."""
    logs = np.where(np.isinf(logs).all(axis=1, keepdims=True), 0, logs)  # all outside: an end
    order = np.argsort(good, axis=1)
    weight = np.take_along_axis(np.exp(logs - logs.max(axis=1, keepdims=True)), order, axis=1)
    below = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    at = [np.minimum((below < tail).sum(axis=1), DRAWS - 1) for tail in (0.025, 0.975)]
    sorted_good = np.take_along_axis(good, order, axis=1)
    return np.stack([sorted_good[np.arange(len(good)), one] for one in at], axis=1)


def moved(ends: np.ndarray, design: str, cells: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """Ends at 0 and 1 where labels do not exclude them."""
    tp, fp, fn, tn = cells.T
    none = [tp + fn == 0, fp + tn == 0]
    if design == "by_truth":
        p = passes / ITEMS
        for i, (k, m) in enumerate(((fp, fp + tn), (tp, tp + fn))):
            rate = (k + 1) / (m + 2)
            error = np.sqrt(rate * (1 - rate) / m + p * (1 - p) / ITEMS)
            none[i] = np.abs(p - k / m) < 1.96 * error
    return np.where(np.stack(none, axis=1), [0.0, 1.0], ends)


def check(prior: dict) -> None:
    """The draws' intervals beside those of `exact`."""
    global DRAWS
    DRAWS = 40_000
    rng = np.random.default_rng(SEED)
    for design, name in itertools.product(DESIGNS, prior):
        if design == "by_verdict" and name not in ("flat", "jeffreys"):
            continue
        cells, passes = tables(design, 100, 0.85, 0.3, 1, rng)
        ends = intervals(*DESIGNS[design](cells, passes, prior[name], rng))[0]
        (tp, fp, fn, tn), k = cells[0], passes[0]
        counts = Counts(ITEMS, k, tp + fn, tp, fp + tn, tn, calibration=design)
        beliefs = [BetaPrior(*one) for one in prior[name]]
        model = PredictiveValues(*beliefs) if design == "by_verdict" else ErrorRates(*beliefs)
        print(design, name, ends.round(4), exact(counts, model)["prevalence"][1:])


def main() -> None:
    """Run the grid and summarise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--labels", type=int, nargs="+", default=LABELS)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    every, rows = priors(), []
    print(every)
    if asked.check:
        check(every)
        return
    for i, cell in enumerate(itertools.product(DESIGNS, asked.labels, YOUDEN, SHARES)):
        design, labels, youden, share = cell
        rng = np.random.default_rng([SEED, i])
        rate = (1 + youden) / 2
        cells, passes = tables(design, labels, rate, share, asked.tables, rng)
        for name, prior in every.items():
            if design == "by_verdict" and name not in ("flat", "jeffreys"):
                continue
            ends = intervals(*DESIGNS[design](cells, passes, prior, rng))
            low, high = moved(ends, design, cells, passes).T
            outside = np.maximum(np.maximum(low - share, share - high), 0)
            score = high - low + 40 * outside
            numbers = (outside == 0).mean(), (high - low).mean(), score.mean()
            rows.append((*cell, name, *numbers))
    columns = ["design", "labels", "youden", "share", "prior", "covered", "width", "score"]
    made = pd.DataFrame(rows, columns=columns)
    best = made.groupby(columns[:4])["score"].transform("min")
    made["ratio"] = made["score"] / best
    made.round(4).to_csv(RESULTS / "priors.csv", index=False)
    error = np.sqrt(0.06 * 0.94 / asked.tables)
    made["below"] = made["covered"] < 0.94 - 2 * error
    whole = made.groupby(["design", "prior"]).agg(
        covered=("covered", "mean"), least=("covered", "min"), below=("below", "mean"),
        ratio=("ratio", "mean"), worst=("ratio", "max"),
    )  # fmt: skip
    print(f"Monte Carlo error of a cell's coverage {error:.3f}")
    print(whole.round(3).to_string())
    print(made[made["ratio"] > 1.5].sort_values("ratio").tail(12).round(3).to_string())
    print(made[made["below"]].sort_values("covered").head(12).round(3).to_string())
    good = made[(made["youden"] >= 0.9)].groupby(["design", "prior"])
    print(good[["covered", "width", "ratio"]].mean().round(3).to_string())


if __name__ == "__main__":
    main()
