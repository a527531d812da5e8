"""Does a card's calibration hold on another run within 3 points? Wrong PASS and wrong FAIL.

    python benchmarks/judge/equivalence.py                 # 40 runs a cell, five minutes
    python benchmarks/judge/equivalence.py --runs 400

A judge (.9, .85) has a card of 200 labels of each of one or of five systems, whose rates scatter
with a correlation of .002; a new run has 3,000 items, 60 % of them good, and 150, 600 or 1,200
random probes. Its specificity is moved so that the share by the card's rates alone is off by 0, 1,
3 (the margin), 5 or 8 points. PASS: `Card.estimate` has ``within_margin`` of .95 or more; FAIL: .05
or less. A PASS is wrong if the run is off by the margin or more, a FAIL if by less; at the margin
itself a test of level .05 passes wrongly in .05 of the runs. ``after``: as many probes as
``more_probes`` says after 150.

Writes to benchmarks/judge/results: equivalence.csv, a row a cell.

Quick: ``--runs 2``

Found: with 40 runs a cell (standard error .034 of .05) a PASS is wrong in .00 to .075 of the runs
that are off by the margin itself (11 of 320, .034 +- .010), and in none of 640 that are off by 5 or
8 points; a FAIL is wrong in 1 of 640 that are off by less. Of runs that are not off .00 pass with
150 probes, .35 and .475 with 600, .75 and .775 with 1,200, and .75 and .775 with the 1,040 that
``more_probes`` asks for, which aims at .80. Of runs off by 8 points .45 to .475 fail with 150
probes, .825 to .875 with 600 and all with 1,200; of runs off by 5, .35 to .55 with 1,200.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.judge import Card
from bayesjudge.prevalence import Counts

RESULTS = Path(__file__).parent / "results"
ITEMS, SHARE, HIT, CAUGHT, SCATTER, MARGIN, SEED = 3000, 0.6, 0.9, 0.85, 0.002, 0.03, 20_436


def card_of(systems: int, rng: np.random.Generator) -> Card:
    """Of a judge whose rates scatter between systems."""
    size = 1 / SCATTER - 1
    rows = {}
    for i in range(systems):
        hit, caught = (rng.beta(size * q, size * (1 - q)) for q in (HIT, CAUGHT))
        rows[f"s{i}"] = 100, int(rng.binomial(100, hit)), 100, int(rng.binomial(100, caught))
    return Card("judge", rows, "random", date="2026-01-01")


def off_by(card: Card, caught: float) -> float:
    """Share by the card's rates alone, less the share."""
    good, hit, bad, seen = card.totals
    q1, q0 = (hit + 1) / (good + 2), (seen + 1) / (bad + 2)
    return (SHARE * (HIT - q1) - (1 - SHARE) * (caught - q0)) / (q1 + q0 - 1)


def specificity(card: Card, off: float) -> float:
    """Of a run on which the card's rates are off by so much."""
    slope = off_by(card, 1.0) - off_by(card, 0.0)
    return float(np.clip((off - off_by(card, 0.0)) / slope, 0.01, 0.99))


def run(caught: float, probes: int, rng: np.random.Generator) -> Counts:
    """A run with random probes."""
    good = rng.random(ITEMS) < SHARE
    passed = rng.random(ITEMS) < np.where(good, HIT, 1 - caught)
    kept = np.arange(ITEMS) < probes
    right, wrong = kept & good, kept & ~good
    cells = (~kept, ~kept & passed, right, right & passed, wrong, wrong & ~passed)
    return Counts(*(int(x.sum()) for x in cells), calibration="random")


def verdict_of(card: Card, counts: Counts) -> tuple[str, Any]:
    """PASS, FAIL or unknown."""
    made = card.estimate(counts, margin=MARGIN)
    within = made["within_margin"].value
    word = "PASS" if within >= 0.95 else "FAIL" if within <= 0.05 else "unknown"
    return word, made


def main() -> None:
    """Run every cell and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    rng, rows = np.random.default_rng(SEED), []
    for systems in (1, 5):
        for off in (0.0, 0.01, 0.03, 0.05, 0.08):
            for probes in (150, 600, 1200, "after"):
                words, used = [], []
                for _ in range(runs):
                    card = card_of(systems, rng)
                    caught = specificity(card, off)
                    word, made = verdict_of(
                        card, run(caught, 150 if probes == "after" else probes, rng)
                    )
                    if probes == "after":
                        used.append(150 + int(made["more_probes"].value))
                        word, _ = verdict_of(card, run(caught, used[-1], rng))
                    words.append(word)
                shares = {w: np.mean([x == w for x in words]) for w in ("PASS", "FAIL", "unknown")}
                wrong = shares["PASS"] if off >= MARGIN else shares["FAIL"]
                row = {"systems": systems, "off": off, "probes": probes, "runs": runs, **shares}
                row |= {"wrong": wrong, "wrong_mc": np.sqrt(wrong * (1 - wrong) / runs)}
                rows.append(row | {"used": np.mean(used) if used else probes})
    table = pd.DataFrame(rows)
    print(table.round(3).to_string(index=False))
    if runs > 2:
        table.round(4).to_csv(RESULTS / "equivalence.csv", index=False)


if __name__ == "__main__":
    main()
