"""What do the usual ways of deciding promise if they are looked at again and again?

Of 1,000 items, random ones are labelled, and every way looks at the same labels after each 25, up
to 300. False decisions: the true share is the threshold itself, so that no way should pass or fail
more than .05 of its runs. Power and mean labels: it lies 5 points above and below. The ways:

rerun_until_green  pass rate of 100 items against the threshold, up to five runs, fail if none is
                   green; the judge is right on average and flips 9 to 25 % of its verdicts
share              share of good labels against the threshold, at the first look
wald               normal interval of the labels' share, at every look
clopper_pearson    exact interval of the labels' share, at every look
difference         interval of the difference estimator (PPI++), at every look: the fixed gate's
                   question put twelve times
bonferroni         the same at a twelfth of the error
obrien_fleming     the same with O'Brien and Fleming's boundary, which plans the twelve looks
sprt               Wald's test of 5 points below against 5 above, labels only, at every look
labels_only, always_valid   `Monitor` without and with the judge, looked at after every label

Quick: ``--runs 20 --settings 0``

Found: over six settings of 1,000 runs (.05 is promised; thresholds .5 to .9, J .5 and .8), looked
at twelve times the fixed gate's estimator passes falsely in .19 to .24 and fails falsely in .17 to
.20, a normal interval of the labels in up to .28 and .16, exact ones in .12 and .13, and a suite
run until it is green passes in .87 to .89 (and 5 points too low in .26 to .46). O'Brien and
Fleming's boundary passes falsely in .06 to .10, since it is normal near the end of the range; a
twelfth of the error in .04 at most. The always-valid gate passes falsely in .035 and fails falsely
in .041 at most. A decision takes it 198 labels on average (300 at most), labels only 230, a twelfth
of the error, which allows twelve looks and no thirteenth, 187, and the fixed gate's question put
again and again 109. Power within 300 labels is .36 to .98, .26 to .86, .50 to 1.00 and .84 to 1.00.
Wald's test is right as often as any 5 points away (.89 to .99 in 114 labels), and promises nothing
between.

    python benchmarks/decide/baselines.py
"""

from __future__ import annotations

import argparse
import csv
from functools import cache
from typing import Any

import numpy as np
from always_valid import ITEMS, LABELS, PROBABILITY, RESULTS, Draws, first_looks, items_drawn
from scipy.special import ndtr
from scipy.stats import beta

from bayesjudge.prevalence import Counts, difference

LOOKS = np.arange(25, LABELS + 1, 25)
ERROR, GAP, SUITE, RERUNS, Z = 1 - PROBABILITY, 0.05, 100, 5, 1.6449
SETTINGS = [(theta, youden) for theta in (0.5, 0.8, 0.9) for youden in (0.5, 0.8)]
NEVER = np.inf


def first_decisions(low: np.ndarray, high: np.ndarray, threshold: float) -> list[np.ndarray]:
    """Labels at which limits (run, look) pass and fail for the first time, whichever is first."""
    passes, fails = low >= threshold, high < threshold
    when = [np.where(x.any(1), LOOKS[x.argmax(1)], NEVER) for x in (passes, fails)]
    return [
        np.where(when[0] < when[1], when[0], NEVER),
        np.where(when[1] < when[0], when[1], NEVER),
    ]


def of_labels(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Good labels at each look (run, look), and labels (look,)."""
    return np.cumsum(draws.truth, 1)[:, LOOKS - 1], LOOKS


def wald(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Normal limits of the labels' share."""
    good, n = of_labels(draws)
    share = good / n
    half = Z * np.sqrt(share * (1 - share) / n)
    return share - half, share + half


def clopper_pearson(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Exact limits of the labels' share, as if items were drawn with replacement."""
    good, n = of_labels(draws)
    low, high = beta.ppf(ERROR, good, n - good + 1), beta.ppf(PROBABILITY, good + 1, n - good)
    return np.where(good > 0, low, 0), np.where(good < n, high, 1)


def by_difference(draws: Draws, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the difference estimator with an error of its own at each look."""
    found = []
    for n, error in zip(LOOKS, errors, strict=True):
        f, y = draws.verdict[:, :n], draws.truth[:, :n]
        passed = (draws.pool[:, 0] * ITEMS).round() - f.sum(1)
        good, hit, caught = y.sum(1), (y * f).sum(1), ((1 - y) * (1 - f)).sum(1)
        columns = [np.full(len(f), ITEMS - n), passed, good, hit, n - good, caught]
        counts = Counts(
            *[c.astype(int) for c in columns],
            calibration="random",
            systems=[str(i) for i in range(len(f))],
        )
        row = difference(counts, ci_prob=1 - 2 * error, target="items").quantities["prevalence"]
        found.append((row.low, row.high))
    low, high = (np.stack(x, 1) for x in zip(*found, strict=True))
    return low, high


@cache
def obrien_fleming(looks: int) -> np.ndarray:
    """Error of each look: a walk crosses c sqrt(looks / k) at any look k in ERROR of its runs."""
    walks = np.random.default_rng(0).standard_normal((200_000, looks)).cumsum(1)
    c = np.quantile(walks.max(1) / np.sqrt(looks), PROBABILITY)
    return ndtr(-c * np.sqrt(looks / np.arange(1, looks + 1)))


def sprt(draws: Draws, threshold: float) -> list[np.ndarray]:
    """Wald's test: stop where the likelihood ratio leaves (error, 1 / error)."""
    good, n = of_labels(draws)
    above, below = min(threshold + GAP, 1 - 1e-6), threshold - GAP
    log_ratio = good * np.log(above / below) + (n - good) * np.log((1 - above) / (1 - below))
    edge = np.log(1 / ERROR)
    limits = np.where(log_ratio >= edge, 1.0, 0.0), np.where(log_ratio <= -edge, 0.0, 1.0)
    return first_decisions(*limits, threshold)


def rerun_until_green(rng: np.random.Generator, share: float, threshold: float, runs: int) -> Any:
    """Up to five runs of a suite, by a judge who is right on average and of two minds on many."""
    chance = rng.beta(share, 1 - share, (runs, SUITE, 1))  # of a pass, item by item
    rates = (rng.random((runs, SUITE, RERUNS)) < chance).mean(1)
    green, none = (rates >= threshold).any(1), np.zeros(runs)
    return [np.where(green, none, NEVER), np.where(green, NEVER, none)]


def decisions(
    rng: np.random.Generator, draws: Draws, share: float, threshold: float
) -> dict[str, list[np.ndarray]]:
    """Labels at which each way passes and fails."""
    every, looks = np.full(len(draws.truth), threshold), len(LOOKS)
    once = np.full(looks, ERROR)
    good, n = of_labels(draws)
    at_first = np.repeat((good[:, :1] / n[0]), looks, 1)
    limits = {
        "share": (at_first, at_first),
        "wald": wald(draws),
        "clopper_pearson": clopper_pearson(draws),
        "difference": by_difference(draws, once),
        "bonferroni": by_difference(draws, once / looks),
        "obrien_fleming": by_difference(draws, obrien_fleming(looks)),
    }
    found = {"rerun_until_green": rerun_until_green(rng, share, threshold, len(every))}
    found |= {way: first_decisions(*two, threshold) for way, two in limits.items()}
    found["sprt"] = sprt(draws, threshold)
    for way, judge in (("labels_only", False), ("always_valid", True)):
        when = [np.asarray(x) for x in first_looks(draws, every, "random", judge=judge)]
        first = when[0] < when[1]
        found[way] = [np.where(first, when[0], NEVER), np.where(first, NEVER, when[1])]
    return found


def rows_of(theta: float, youden: float, runs: int, seed: list[int]) -> list[dict[str, object]]:
    """False decisions, power and mean labels of every way in one setting."""
    rng, rows = np.random.default_rng(seed), {}
    for gap in (0.0, GAP, -GAP):
        draws = items_drawn(rng, theta + gap, youden, runs, "random", LABELS)
        for way, (passes, fails) in decisions(rng, draws, theta + gap, theta).items():
            row = rows.setdefault(
                way, {"threshold": theta, "youden": youden, "way": way, "runs": runs}
            )
            if gap == 0:
                row["false_pass"] = np.isfinite(passes).mean().round(4)
                row["false_fail"] = np.isfinite(fails).mean().round(4)
            else:
                side, right, wrong = (
                    ("above", passes, fails) if gap > 0 else ("below", fails, passes)
                )
                row[f"power_{side}"] = np.isfinite(right).mean().round(4)
                row[f"wrong_{side}"] = np.isfinite(wrong).mean().round(4)
                stopped = np.minimum(np.minimum(right, wrong), LABELS)
                row[f"mean_labels_{side}"] = stopped.mean().round(1)
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--settings", type=int, nargs="+", default=range(len(SETTINGS)))
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows: list[dict[str, object]] = []
    for i in asked.settings:
        rows += rows_of(*SETTINGS[i], asked.runs, [4, i])
        with (RESULTS / "baselines.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(SETTINGS[i], flush=True)


if __name__ == "__main__":
    main()
