"""Does the watch of a judge keep its promise at every look, and how soon does it see a drift?

A judge is asked about the same 400 outputs again and again; a share of its verdicts flips at
random. A/A: it never changes. Planted: from look 20 on it passes fewer outputs, or flips more in
both directions. Beside it the test of two runs, repeated at every look against the baseline.
``--scores`` has the A/A of the scores alone, which are independent standard normals, exactly.

Quick: ``--series 2 --long 0 --scores 200``

Found: never changed, the watch alarms in .7 % of series of 50 looks and 1.1 % of 500 (1.0 and 1.5 %
if as many are planned; by scores, errors .1 and .3; 5 % is promised), and in none of 225 series of
50 looks and 10 of 500; the test of two runs in 16, 45 and 48 % of series of 50 looks (2, 10, 27 %
flips). Of a change at look 20 the watch sees, within 30 looks, 2 points of the pass rate in 1.00,
.80 and .12 of series, 4 points in 1.00, 1.00 and .92, flips in 5 % more in 1.00, 1.00 and .80
(errors .04 to .08); the repeated test, in series without a false alarm before, .79, .63 and .35,
1.00, .67 and .69, .95, .69 and .56. Within five looks: the watch .84, .24 and .08 for 2 points and
1.00, .80 and .32 for 4; the repeated test .58, .32 and .15, and 1.00, .47 and .46.

    python benchmarks/decide/watch.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.decide import Watch, drift
from bayesjudge.decide.watch import log_evidence

RESULTS = Path(__file__).parent / "results"
OUTPUTS, LOOKS, CHANGE, LEVEL = 400, 50, 20, 0.05
#: Verdicts that flip at random; what changes: points of the pass rate, and further flips.
SETTINGS = [
    (flip, shift, more)
    for flip in (0.02, 0.1, 0.27)
    for shift, more in ((0.0, 0.0), (0.02, 0.0), (0.04, 0.0), (0.0, 0.05))
]


class Judge:
    """Verdicts on the same outputs, each with a probability of its own."""

    def __init__(self, rng, flip):
        self.rng, self.flip = rng, flip
        self.good = rng.random(OUTPUTS) < 0.8
        self.base = rng.random(OUTPUTS) < np.where(self.good, 0.9, 0.25)
        harsh = rng.random(OUTPUTS)  # which outputs a stricter judge fails first
        self.order = np.where(self.base, harsh, 2.0)

    def verdicts(self, shift=0.0, more=0.0):
        """One look."""
        passed = self.base & (self.order >= shift / self.base.mean())
        flipped = self.rng.random(OUTPUTS) < self.flip / 2 + more / 2
        verdict = np.where(flipped, ~passed, passed).astype(int)
        return pd.DataFrame({"item": range(OUTPUTS), "verdict": verdict, "truth": self.good * 1})


def series(rng, flip, shift, more, looks, named=True, weekly=True):
    """Look of the first alarm of the watch and of the repeated test; ``looks`` if there is none."""
    judge = Judge(rng, flip)
    baseline = judge.verdicts()
    watch, first = Watch(baseline, truth="truth"), looks
    for t in range(looks):
        changed = t >= CHANGE
        table = judge.verdicts(shift * changed, more * changed)
        watch.look(table, f"{t}" if named else None)
        if weekly and first == looks:
            first = t if drift(baseline, table, truth="truth").seen else looks
    at = list(watch.names).index(watch.alarm) if watch.alarm else looks
    return at, first


def shares(firsts, looks):
    """False alarms, and alarms within 1, 5 and all looks from the change on, of series without."""
    firsts = np.array(firsts)
    clean = firsts[firsts >= CHANGE]
    kept = {"false_alarms": (firsts < CHANGE).mean(), "alarms": (firsts < looks).mean()}
    for after in (1, 5):
        kept[f"within_{after}"] = (clean < CHANGE + after).mean() if len(clean) else np.nan
    kept["within_all"] = (clean < looks).mean() if len(clean) else np.nan
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=25)
    parser.add_argument("--long", type=int, default=10)
    parser.add_argument("--scores", type=int, default=20_000)
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    rows = []

    def add(kind, method, runs, looks, firsts, **about):
        row = {"kind": kind, "method": method, "looks": looks, "series": runs, **about}
        alarms = shares(firsts, looks)
        row |= alarms
        row["mc_error"] = np.sqrt(max(alarms["alarms"] * (1 - alarms["alarms"]), 1 / runs) / runs)
        rows.append(row)
        table = pd.DataFrame(rows).round(4)
        table.to_csv(RESULTS / "watch.csv", index=False, lineterminator="\n")

    for looks in (50, 500):
        runs = max(asked.scores * 50 // looks, 1)
        for planned in (None, looks):
            rng = np.random.default_rng(looks)
            firsts = np.full(runs, looks)
            for stream in range(4):  # at the level of each of four streams
                scores = rng.standard_normal((runs, looks))
                one_sided = stream == 1
                over = log_evidence(scores, one_sided=one_sided, planned=planned)[0] > np.log(80)
                firsts = np.minimum(firsts, np.where(over.any(1), over.argmax(1), looks))
            add("scores", f"watch, planned {planned}", runs, looks, firsts)
    for i, (flip, shift, more) in enumerate(SETTINGS):
        rng = np.random.default_rng([1, i])
        runs = asked.series * (3 if not shift and not more else 1)
        firsts = [series(rng, flip, shift, more, LOOKS) for _ in range(runs)]
        about = {"flip": flip, "shift": shift, "more_flips": more}
        kind = "planted" if shift or more else "A/A"
        for method, each in zip(("watch", "two runs"), zip(*firsts, strict=True), strict=True):
            add(kind, method, runs, LOOKS, each, **about)
    for flip, named in ((0.1, True), (0.002, True), (0.002, False)):
        if not asked.long:
            break
        rng = np.random.default_rng([2, round(1000 * flip)])
        looks = 500 if named and flip == 0.1 else 100
        firsts = [series(rng, flip, 0, 0, looks, named, weekly=False)[0] for _ in range(asked.long)]
        kind = "A/A" if named else "A/A without names"
        add(kind, "watch", asked.long, looks, firsts, flip=flip, shift=0.0, more_flips=0.0)
    print(pd.DataFrame(rows).round(3).to_string())


if __name__ == "__main__":
    main()
