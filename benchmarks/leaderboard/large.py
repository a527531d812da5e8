"""Does the posterior at once agree with NUTS on many systems, with and without its correction?

    python benchmarks/leaderboard/large.py                       # 100 systems, two minutes
    python benchmarks/leaderboard/large.py --systems 200 --draws 400 --posteriors parabola NUTS
    python benchmarks/leaderboard/large.py --systems 300 --draws 300 --posteriors parabola NUTS

One judge, ten items, every pair of systems a battle, with likings of its own (t4 times .3); people
judge 2 % of them. `parabola` has the likelihood by its second derivative at the mode, `corrected`
has Metropolis' correction, whatever the number of systems. Means of people's strengths are compared
in standard deviations of NUTS, and standard deviations as ratios; then the probabilities that one
system is ahead of another, and the ranks that hold at once. What is due to chance is shown by the
second half of NUTS' chains against the first. Rows of other numbers of systems stay in
``results/large.csv``.

Quick: ``--systems 12 --draws 200``

Found: of 200 systems (199,000 battles, 3,940 of people) the parabola is off by .065 standard
deviations (root mean square; .205 at most) where the two halves of NUTS' draws differ by .041 (.122
at most); standard deviations are .97 of those of NUTS on average (.87 to 1.08; its halves 1.00, .83
to 1.15); probabilities to be ahead differ by .07 at most (.09), and ranks that hold at once by 1.8
places on average (1.6). Processor seconds: 10 and 172. (The scale of likings had a half-normal
prior then.) Of 300 systems (448,500 battles, 8,964 of people; 300 draws and as many to tune, of
which NUTS says that R-hat is 1.03 at most) it is off by .084 (.27 at most; halves .037 and .14), as
wide times .97 (.82 to 1.13; halves 1.01, .78 to 1.28), by .09 in probabilities to be ahead (.11)
and by 6.4 places in ranks (3.3); 26 and 286 seconds. Of 100
systems without likings (49,500 battles, 943 of people) corrected draws were off by .03 (.09 at
most), 1.00 times as wide (.91 to 1.20); draws about the mode at each scale of likings (plain, as
they were made until then) by .21, and 1.22 times as wide.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from bayesjudge.leaderboard import Battles, approximate, fit, laplace, simulate
from bayesjudge.leaderboard.standings import simultaneous_ranks

RESULTS = Path(__file__).parent / "results"
POSTERIORS = ("parabola", "corrected", "NUTS")


def drawn(posterior: str, battles: Battles, draws: int) -> np.ndarray:
    """Draws of people's strengths."""
    if posterior == "NUTS":
        return fit(battles, random_seed=1, draws=draws, tune=draws).draws("strength")
    most = 0 if posterior == "parabola" else 10_000
    with mock.patch.object(laplace, "MOST_CORRECTED", most):
        return approximate(battles, random_seed=1).draws("strength")


def beside(draws: np.ndarray, nuts: np.ndarray) -> dict[str, float]:
    """How far draws are from those of NUTS."""
    off = (draws.mean(axis=0) - nuts.mean(axis=0)) / nuts.std(axis=0)
    ratio = draws.std(axis=0) / nuts.std(axis=0)
    ahead = [(each[:, :, None] > each[:, None]).mean(axis=0) for each in (draws, nuts)]
    ranks = [np.array(simultaneous_ranks(each, 0.95)) for each in (draws, nuts)]
    return {
        "off_in_sd": np.sqrt((off**2).mean()),
        "off_at_most": abs(off).max(),
        "sd_ratio": ratio.mean(),
        "sd_ratio_least": ratio.min(),
        "sd_ratio_most": ratio.max(),
        "ahead_off_at_most": abs(ahead[0] - ahead[1]).max(),
        "ranks_off": abs(ranks[0] - ranks[1]).mean(),
    }


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--draws", type=int, default=500, help="of each of 4 chains of NUTS")
    parser.add_argument("--posteriors", nargs="+", choices=POSTERIORS, default=POSTERIORS)
    asked = parser.parse_args()
    rng, k = np.random.default_rng(7), asked.systems
    table = simulate(strengths=tuple(rng.normal(0, 0.6, k)), items=10, random_seed=3,
                     favours=tuple(0.3 * rng.standard_t(4, k)),
                     labelled=0.02 if k > 50 else 0.2)  # fmt: skip
    battles = Battles.from_frame(table, people="human")
    print(battles)
    strength, seconds = {}, {}
    for posterior in asked.posteriors:
        begin = time.process_time()
        strength[posterior] = drawn(posterior, battles, asked.draws)
        seconds[posterior] = time.process_time() - begin
    if "NUTS" not in strength:
        print("processor seconds:", seconds)
        return
    halves = np.split(strength.pop("NUTS"), 2)
    nuts = np.concatenate(halves)
    rows = {posterior: beside(draws, nuts) for posterior, draws in strength.items()}
    rows["NUTS, its other half"] = beside(*halves)
    seconds["NUTS, its other half"] = seconds["NUTS"]
    rows = [{"systems": k, "posterior": posterior, **row, "cpu_seconds": seconds[posterior]}
            for posterior, row in rows.items()]  # fmt: skip
    compared = pd.DataFrame(rows).round(3)
    print(compared.to_string(index=False))
    if k >= 100:
        stored = pd.read_csv(RESULTS / "large.csv")
        every = pd.concat([stored[stored["systems"] != k], compared]).sort_values("systems")
        every.to_csv(RESULTS / "large.csv", index=False)


if __name__ == "__main__":
    main()
