"""Are planted drifts of a judge found at the stated power, and is none invented?

Two judges flip a share of their verdicts at random; the new one passes fewer outputs. Systems share
items, and half of the outputs have a label.

Quick: ``--runs 4``

Found: without a drift one is called in 1.1 % of 360 runs (5 % is promised); planted ones of 3 and
6 points are found in 0.50 of the runs on average over 18 settings (40 runs each), where the
stated power is 0.52; 0.15 off at most in one of them. With 27 % flips and 200 outputs a drift of
6 points is found in .15 of the runs, with 600 in .68.

    python benchmarks/decide/drift.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.decide import drift

RESULTS = Path(__file__).parent / "results"
SETTINGS = [
    (items, systems, flip, shift)
    for items, systems in ((200, 1), (600, 1), (200, 3))
    for flip in (0.02, 0.1, 0.27)
    for shift in (0.0, 0.03, 0.06)
]


def logs(rng, items, systems, flip, shift):
    """Verdicts of the old and of the new judge; what is hard for one system is for the others."""
    hard = rng.beta(4, 1, (items, 1))
    good = rng.random((items, systems)) < hard
    base = rng.random(good.shape) < np.where(good, 0.9, 0.25)
    old, new = (np.where(rng.random(good.shape) < flip / 2, ~base, base) for _ in range(2))
    passes = good.mean() * 0.9 + (1 - good.mean()) * 0.25
    new &= rng.random(good.shape) >= shift / passes
    item, system = (a.ravel() for a in np.indices(good.shape))
    truth = np.where(rng.random(good.size) < 0.5, good.ravel(), np.nan)
    about = {"item": item, "system": system.astype(str), "truth": truth}
    return [pd.DataFrame({**about, "verdict": v.ravel().astype(int)}) for v in (old, new)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for i, (items, systems, flip, shift) in enumerate(SETTINGS):
        rng, made = np.random.default_rng(i), []
        for _ in range(asked.runs):
            pair = logs(rng, items, systems, flip, shift)
            found = drift(*pair, truth="truth", by="system")
            change = found.estimate["pass_rate_change"]
            made.append(
                {
                    "any_seen": bool(found.seen),
                    "pass_rate_seen": "pass_rate_change" in found.seen,
                    "stated_power": found.power(shift) if shift else np.nan,
                    "flipped": found.flipped / (items * systems),
                    "width": change.high - change.low,
                }
            )
        about = {"items": items, "systems": systems, "flip": flip, "shift": shift}
        rows.append(about | {"runs": asked.runs} | pd.DataFrame(made).mean().round(3).to_dict())
        pd.DataFrame(rows).to_csv(RESULTS / "drift.csv", index=False, lineterminator="\n")
    print(pd.DataFrame(rows).to_string())


if __name__ == "__main__":
    main()
