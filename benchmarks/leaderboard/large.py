"""Does the posterior at once agree with NUTS on many systems, with and without its correction?

    python benchmarks/leaderboard/large.py

One judge, ten items, every pair of systems a battle; people judge 2 % of them. Means of people's
strengths are compared in standard deviations of NUTS (4 chains of 500 draws), and standard
deviations as ratios. NUTS itself is off by a few hundredths of a standard deviation.

Quick: ``--systems 12 --draws 200``

Found: of 100 systems (49,500 battles, 943 of people) the approximation is off by .21 standard
deviations (root mean square; .45 at most) and its standard deviations are 1.22 times as wide on
average (.73 to 1.41); corrected it is off by .03 (.09 at most), 1.00 times (.91 to 1.20). Processor
seconds: .8, 13 and 59. So up to about 100 systems draws are corrected (`laplace.MOST_CORRECTED`).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from bayesjudge.leaderboard import Battles, approximate, fit, laplace, simulate

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--draws", type=int, default=500)
    asked = parser.parse_args()
    rng = np.random.default_rng(7)
    strengths = tuple(rng.normal(0, 0.6, asked.systems))
    table = simulate(strengths=strengths, favours=(0,) * asked.systems, items=10,
                     labelled=0.02 if asked.systems > 50 else 0.2, random_seed=3)  # fmt: skip
    battles = Battles.from_frame(table, people="human")
    print(battles)
    roads = {"plain": (0, approximate), "corrected": (10_000, approximate), "NUTS": (0, fit)}
    strength, seconds = {}, {}
    for name, (most, road) in roads.items():
        given = {"draws": asked.draws} if road is fit else {}
        begin = time.process_time()
        with mock.patch.object(laplace, "MOST_CORRECTED", most):
            strength[name] = road(battles, random_seed=1, **given).draws("strength")
        seconds[name] = time.process_time() - begin
    mean, sd = strength["NUTS"].mean(axis=0), strength["NUTS"].std(axis=0)
    rows = []
    for name, draws in strength.items():
        off, ratio = (draws.mean(axis=0) - mean) / sd, draws.std(axis=0) / sd
        rows.append(
            {
                "systems": asked.systems,
                "posterior": name,
                "off_in_sd": np.sqrt((off**2).mean()),
                "off_at_most": abs(off).max(),
                "sd_ratio": ratio.mean(),
                "sd_ratio_least": ratio.min(),
                "sd_ratio_most": ratio.max(),
                "cpu_seconds": seconds[name],
            }
        )
    found = pd.DataFrame(rows).round(3)
    print(found.to_string(index=False))
    found.to_csv(RESULTS / "large.csv", index=False)


if __name__ == "__main__":
    main()
