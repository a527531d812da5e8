"""Which default prior of a judge's rates and of the share loses least where it loses most?

    python benchmarks/prevalence/priors.py --tables 600      # all of it, about 8 CPU minutes

Nominal 95 %, 1,000 items without a label, 25 to 400 labels, shares of .005 to .995, and judges with
sensitivity + specificity - 1 = J of .1 to .95, who err on good and bad items alike ("even") or pass
most bad ones that they err on ("lenient": .15 of 1 - J is the good items'). Labels at random, half
of them good ones (by truth), or half of them on passes (by verdict). A prior is one of the share
and one of both rates, which may be a mixture: flat, Jeffreys', Beta(.75, .75), Beta(1.25, .75) and
others, and rates learnt from 83 published judges (published_judges.csv: judge by data set, hits
among good items and catches among bad ones; each of four data sets has the same weight). By verdict
they are priors of the predictive values and the pass rate, flat or Jeffreys'. Posteriors are draws
of Beta distributions, weighed by what each prior differs from them: exact but for Monte Carlo
error. Ends are moved to 0 and 1 where labels do not exclude them, as `exact` does. ``--check``
holds them against `exact`.

The interval score is the width and 40 times what the truth lies outside; `ratio` is a prior's
divided by that of the best of 16 priors of the cell (design, labels, J, share, judge).

Quick: ``--tables 2``

Found: with 600 tables in each of 1,080 cells of labels at random and by truth (Monte Carlo error of
a cell's coverage .010), flat priors of the share and the rates cover less than .94 by two errors in
11.9 % of the cells (random) and 2.0 % (by truth), with a mean ratio of 1.228 and 1.179 and a worst
of 3.75 and 1.89; Jeffreys' on the share with flat rates, the default, in 1.1 and .6 %, 1.104 and
1.116, 2.41 and 1.72; Jeffreys' on everything in 1.1 and .2 %, 1.111 and 1.135, 3.03 and 1.79; rates
learnt with Jeffreys' on the share in 2.8 and 4.8 %, 1.063 and 1.089, 1.49 and 1.65, and half of
them learnt in 1.1 and 1.5 %, 1.071 and 1.094, 1.75 and 1.50. The least coverage is .86 to .92, of
25 labels of a useless judge: no prior has .94 in every cell. By verdict (540 cells) Jeffreys', the
default, covers less than .94 in 14.4 % (mean ratio 1.005, worst 1.11), flat in 45.7 % (1.281 and
2.11).

Writes to benchmarks/prevalence/results: priors.csv, coverage and score of seven of the priors by
design, labels, J, share and judge.
"""

from __future__ import annotations

import argparse
import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln

from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence import Counts, ErrorRates, PredictiveValues, exact

RESULTS = Path(__file__).parent / "results"
ITEMS, DRAWS, SEED = 1000, 800, 7
LABELS = (25, 50, 100, 200, 400)
YOUDEN = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
SHARES = (0.005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.995)
FLAT, JEFFREYS, BETWEEN, THIRD = (1.0, 1.0), (0.5, 0.5), (0.75, 0.75), (1 / 3, 1 / 3)
CELL = ["design", "labels", "youden", "share", "judge"]
#: Those that the file keeps.
KEPT = (
    *("flat / flat", "jeffreys / flat", "jeffreys / jeffreys", "flat / learnt"),
    *("jeffreys / learnt", "jeffreys / half learnt", "jeffreys / up"),
)


def learnt(right: pd.Series, of: pd.Series, weight: pd.Series) -> tuple[float, float]:
    """The Beta distribution of rates with the largest beta-binomial likelihood."""

    def loss(logs: np.ndarray) -> float:
        a, b = np.exp(logs)
        return -float((weight * (betaln(a + right, b + of - right) - betaln(a, b))).sum())

    a, b = np.exp(minimize(loss, np.log([4.0, 2.0]), method="Nelder-Mead").x)
    return round(float(a), 2), round(float(b), 2)


@cache
def rates() -> dict[str, list[tuple]]:
    """Priors of both rates: components with their weights, sensitivities' and specificities'."""
    judges = pd.read_csv(RESULTS / "published_judges.csv")
    weight = 1 / judges.groupby("data")["judge"].transform("size")
    each = ("hits", "good"), ("caught", "bad")
    of_judges = [learnt(judges[right], judges[n], weight) for right, n in each]
    single = {"flat": FLAT, "jeffreys": JEFFREYS, "between": BETWEEN, "up": (1.25, 0.75)}
    single |= {"upper": (1.0, 0.5)}
    return {
        **{name: [(1.0, shape, shape)] for name, shape in single.items()},
        "learnt": [(1.0, *of_judges)],
        "half learnt": [(0.5, FLAT, FLAT), (0.5, *of_judges)],
        "half high": [(0.5, FLAT, FLAT), (0.5, (8.0, 1.0), (8.0, 1.0))],
    }


#: Priors of the share with those of the rates that are tried beside them.
PRIORS = {
    "flat": (FLAT, ("flat", "jeffreys", "learnt", "half learnt")),
    "jeffreys": (
        JEFFREYS,
        ("flat", "jeffreys", "between", "learnt", "half learnt", "half high", "up", "upper"),
    ),
    "between": (BETWEEN, ("flat", "between", "up")),
    "third": (THIRD, ("flat",)),
}


def at_random(cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator) -> tuple:
    """Draws of the share and both rates, and logarithms of their weights under Beta(0, 0) priors.

    Cells are tp, fp, fn, tn.
    """
    tp, fp, fn, tn = cells.T
    p = drawn(passes + tp + fp, ITEMS - passes + fn + tn, JEFFREYS, rng)
    ppv, npv = drawn(tp, fp, JEFFREYS, rng), drawn(tn, fn, JEFFREYS, rng)
    good = np.clip(p * ppv + (1 - p) * (1 - npv), 1e-12, 1 - 1e-12)
    hit = np.clip(p * ppv / good, 1e-12, 1 - 1e-12)
    caught = np.clip((1 - p) * npv / (1 - good), 1e-12, 1 - 1e-12)
    weight = np.log(p * (1 - p)) - np.log(good * (1 - good))
    return good, hit, caught, weight - sum(kernel(x, JEFFREYS) for x in (p, ppv, npv))


def by_truth(cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator) -> tuple:
    """The same, of labels that tell the rates only."""
    tp, fp, fn, tn = cells.T
    p = drawn(passes, ITEMS - passes, JEFFREYS, rng)
    hit, caught = drawn(tp, fn, BETWEEN, rng), drawn(tn, fp, BETWEEN, rng)
    youden = hit + caught - 1
    good = (p + caught - 1) / np.where(np.abs(youden) < 1e-9, 1e-9, youden)
    inside = (good > 0) & (good < 1)
    good = np.clip(good, 1e-12, 1 - 1e-12)
    weight = -np.log(np.abs(youden) + 1e-12) - kernel(p, JEFFREYS)
    weight -= kernel(hit, BETWEEN) + kernel(caught, BETWEEN)
    return good, hit, caught, np.where(inside, weight, -np.inf)


def by_verdict(
    cells: np.ndarray, passes: np.ndarray, shape: tuple[float, float], rng: np.random.Generator
) -> np.ndarray:
    """Draws of the share, of labels that tell the predictive values only."""
    tp, fp, fn, tn = cells.T
    p = drawn(passes + tp + fp, ITEMS - passes + fn + tn, shape, rng)
    return p * drawn(tp, fp, shape, rng) + (1 - p) * (1 - drawn(tn, fn, shape, rng))


def log_density(mixture: list[tuple], hit: np.ndarray, caught: np.ndarray) -> np.ndarray:
    """Of a prior of the rates."""
    parts = [
        np.log(w) + kernel(hit, a) + kernel(caught, b) - betaln(*a) - betaln(*b)
        for w, a, b in mixture
    ]
    return np.logaddexp.reduce(parts)


def posteriors(design: str, cells: np.ndarray, passes: np.ndarray, rng: np.random.Generator):
    """By prior, sorted draws of the share with their weights' logarithms."""
    if design == "by_verdict":
        for name, shape in (("flat", FLAT), ("jeffreys", JEFFREYS)):
            good = np.sort(by_verdict(cells, passes, shape, rng), axis=1)
            yield f"{name} / {name}", good, np.zeros_like(good)
        return
    draws = (at_random if design == "random" else by_truth)(cells, passes, rng)
    order = np.argsort(draws[0], axis=1)
    good, hit, caught, weight = (np.take_along_axis(x, order, axis=1) for x in draws)
    of_rates = {name: log_density(mixed, hit, caught) for name, mixed in rates().items()}
    for name, (shape, beside) in PRIORS.items():
        for rate in beside:
            yield f"{name} / {rate}", good, weight + kernel(good, shape) + of_rates[rate]


def tables(
    design: str, m: int, hit: float, caught: float, share: float, size: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Labelled items by kind, and passes of the others."""
    pass_rate = share * hit + (1 - share) * (1 - caught)
    passes = rng.binomial(ITEMS, pass_rate, size)
    chances = [share * hit, (1 - share) * (1 - caught), share * (1 - hit), (1 - share) * caught]
    if design == "random":
        return rng.multinomial(m, chances, size), passes
    first, second = (m + 1) // 2, m // 2
    if design == "by_truth":
        tp, tn = rng.binomial(first, hit, size), rng.binomial(second, caught, size)
        return np.stack([tp, second - tn, first - tp, tn], axis=1), passes
    total = rng.binomial(ITEMS + m, pass_rate, size)
    labelled = np.clip(first, m - (ITEMS + m - total), total)  # as many as there are
    tp = rng.binomial(labelled, chances[0] / pass_rate)
    tn = rng.binomial(m - labelled, chances[3] / (1 - pass_rate))
    return np.stack([tp, labelled - tp, m - labelled - tn, tn], axis=1), total - labelled


def intervals(good: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Ends of equal-tailed intervals by table, of sorted draws."""
    logs = np.where(np.isinf(logs).all(axis=1, keepdims=True), 0, logs)  # all outside: an end
    below = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    below /= below[:, -1:]
    at = [np.minimum((below < tail).sum(axis=1), DRAWS - 1) for tail in (0.025, 0.975)]
    return np.stack([good[np.arange(len(good)), place] for place in at], axis=1)


def kernel(x: np.ndarray, shape: tuple[float, float]) -> np.ndarray:
    """Logarithm of a Beta density but for its constant."""
    return (shape[0] - 1) * np.log(x) + (shape[1] - 1) * np.log1p(-x)


def drawn(a: np.ndarray, b: np.ndarray, shape: tuple[float, float], rng: np.random.Generator):
    """Of a share by table, given successes and failures; inside (0, 1)."""
    shares = rng.beta(a[:, None] + shape[0], b[:, None] + shape[1], (a.size, DRAWS))
    return np.clip(shares, 1e-12, 1 - 1e-12)


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


def check() -> None:
    """The draws' intervals beside those of `exact`."""
    global DRAWS
    DRAWS = 40_000
    rng, of_rates = np.random.default_rng(SEED), rates()
    for design in ("random", "by_truth", "by_verdict"):
        cells, passes = tables(design, 100, 0.85, 0.85, 0.3, 1, rng)
        (tp, fp, fn, tn), k = cells[0], passes[0]
        counts = Counts(ITEMS, k, tp + fn, tp, fp + tn, tn, calibration=design)
        for name, *draws in posteriors(design, cells, passes, rng):
            share, rate = name.split(" / ")
            _, *shapes = of_rates[rate][0]
            if len(of_rates[rate]) > 1:
                continue  # a mixture has no `exact`
            beliefs = [BetaPrior(*shape) for shape in (PRIORS[share][0], *shapes)]
            model = PredictiveValues(*beliefs) if design == "by_verdict" else ErrorRates(*beliefs)
            ends = exact(counts, model)["prevalence"][1:]
            print(design, name, intervals(*draws)[0].round(4), ends)


def summarise(scores: pd.DataFrame, size: int) -> None:
    """What the docstring tells."""
    error = np.sqrt(0.06 * 0.94 / size)
    scores["ratio"] = scores["score"] / scores.groupby(CELL)["score"].transform("min")
    scores["below"] = scores["covered"] < 0.94 - 2 * error
    whole = scores.groupby(["design", "prior"]).agg(
        covered=("covered", "mean"), least=("covered", "min"), below=("below", "mean"),
        ratio=("ratio", "mean"), worst=("ratio", "max"),
    )  # fmt: skip
    print(f"Monte Carlo error of a cell's coverage {error:.3f}")
    print(whole.round(3).to_string())


def main() -> None:
    """Run the grid and summarise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=600)
    parser.add_argument("--labels", type=int, nargs="+", default=LABELS)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        check()
        return
    rows = []
    grid = itertools.product(
        ("random", "by_truth", "by_verdict"), asked.labels, YOUDEN, SHARES, ("even", "lenient")
    )
    for i, cell in enumerate(grid):
        design, labels, youden, share, judge = cell
        rng = np.random.default_rng([SEED, i])
        missed = (1 - youden) * (0.5 if judge == "even" else 0.15)
        hit, caught = 1 - missed, youden + missed
        cells, passes = tables(design, labels, hit, caught, share, asked.tables, rng)
        for prior, good, logs in posteriors(design, cells, passes, rng):
            low, high = moved(intervals(good, logs), design, cells, passes).T
            outside = np.maximum(np.maximum(low - share, share - high), 0)
            score = (high - low + 40 * outside).mean()
            rows.append((*cell, prior, (outside == 0).mean(), score))
    scores = pd.DataFrame(rows, columns=[*CELL, "prior", "covered", "score"])
    summarise(scores, asked.tables)
    kept = scores[scores["prior"].isin(KEPT)]
    wide = kept.pivot(index=CELL, columns="prior", values=["covered", "score"])
    wide.columns = [f"{number} {prior}" for number, prior in wide.columns]
    wide.round(3).to_csv(RESULTS / "priors.csv")


if __name__ == "__main__":
    main()
