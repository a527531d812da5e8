"""Does the posterior at once agree with NUTS on many systems, with and without its correction?

    python benchmarks/leaderboard/large.py --systems 100

One judge, ten items, every pair of systems a battle; people judge 2 % of them. Means of people's
strengths are compared in standard deviations of NUTS (4 chains of 500 draws), and standard
deviations as ratios. NUTS itself is off by a few hundredths of a standard deviation.

Quick: ``--systems 12 --draws 200``

Found: of 100 systems (49,500 battles, 943 of people; 2 chains of 500 draws) the approximation is
off by .23 standard deviations (root mean square; .49 at most) and its standard deviations are 1.24
times as wide on average (.85 to 1.51); corrected it is off by .04 (.09 at most), 1.02 times (.86 to
1.28, where NUTS has 200 effective draws). Processor seconds: .7, 13 and 35. So up to about 100
systems draws are corrected (`laplace.MOST_CORRECTED`).
"""

from __future__ import annotations

import argparse
import time
from unittest import mock

import numpy as np

from bayesjudge.leaderboard import Battles, approximate, fit, laplace, simulate


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--draws", type=int, default=500)
    asked = parser.parse_args()
    rng = np.random.default_rng(7)
    strengths = tuple(rng.normal(0, 0.6, asked.systems))
    table = simulate(strengths=strengths, favours=(0,) * asked.systems, items=10,
                     labelled=0.02 if asked.systems > 50 else 0.2, random_seed=3)  # fmt: skip
    battles = Battles.from_frame(table, people="human")
    print(battles)
    roads = {"plain": (0, approximate), "corrected": (10_000, approximate), "NUTS": (0, fit)}
    strength = {}
    for name, (most, road) in roads.items():
        given = {"draws": asked.draws} if road is fit else {}
        begin = time.process_time()
        with mock.patch.object(laplace, "MOST_CORRECTED", most):
            strength[name] = road(battles, random_seed=1, **given).draws("strength")
        print(f"{name}: {time.process_time() - begin:.1f} CPU s")
    mean, sd = strength["NUTS"].mean(axis=0), strength["NUTS"].std(axis=0)
    for name in ("plain", "corrected"):
        off = (strength[name].mean(axis=0) - mean) / sd
        ratio = strength[name].std(axis=0) / sd
        print(
            f"{name}: off by {np.sqrt((off**2).mean()):.3f} sd (at most {abs(off).max():.3f}); "
            f"sd {ratio.mean():.3f} times ({ratio.min():.3f} to {ratio.max():.3f})"
        )


if __name__ == "__main__":
    main()
