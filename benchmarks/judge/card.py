"""Do intervals that take a passport's labels cover, of judges that err as before and of others?

    python benchmarks/judge/card.py --code-feedback votes_repaired.csv.gz   # 200 draws a cell
    python benchmarks/judge/card.py --parts simulated --draws 50

Real judges: the passport has 100 labels of each of the other systems, or of one of them, and the
run is that of a system left out, with 0 or 50 random labels of its own: XSTest (GPT-4 on five
systems) and the code feedback panel (14 judges on six generators); judge and system are drawn each
time. Simulated judges (sensitivity .9, specificity .8; 1,000 items, shares of .3, .6 and .85) had
200 labels of each of one or five systems, their rates scatter between data sets with a correlation
of .02, and on the run's items the specificity is as it was or has fallen by .2.

Beside each other: the labels added up with the older discount, n / (1 + .01 n) of all systems
together (``before``); the same with `Card.applied` (``added``); `Card.estimate`
(``estimate``); and the run's own labels (``own``). ``alarm``: whether `Card.check` raised
``transport``.

Writes to benchmarks/judge/results: card.csv (real judges) and card_simulated.csv.

Quick: ``--parts simulated --draws 1``

Found: with 200 draws a cell (standard error .015 to .035) and no labels of the run's own, intervals
of `Card.applied` hold .98 and 1.00 of XSTest's shares (one system, all others; .80 and .92
before), .995 and .995 of the panel's (.99 and .975), and of simulated judges that err as before .98
and .94 (.77 and .865). Of judges whose specificity fell by .2 they hold .69 and .54 (.49 and .385):
no discount makes up for a change, and without labels of the run nothing tells it. With 50 of them
`Card.estimate` holds .945 and .92 of these (.73 and .56), .95 and .96 of judges that err as
before (.90 and .91; own labels alone .95 and .945, wider by .01 and .02) and .955 to .985 on real
judges; ``transport`` is raised in .085 and .105 of the runs of judges that fell, in .005 and .01 of
the others, and in .13 to .185 of XSTest's, whose systems do differ.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.datasets import xstest_counts
from bayesjudge.judge import Card
from bayesjudge.prevalence import Counts, exact

RESULTS = Path(__file__).parent / "results"
OWN = (0, 50)
LABELS = 100
#: Correlation of simulated judges' errors within a data set.
SCATTER = 0.02
NOT_JUDGES = ("item", "generator", "program", "line", "human")
CELLS = ["tp", "fn", "fp", "tn"]


def tables(path):
    """Of each judge: good and passed, good and failed, bad and passed, bad and failed by system."""
    found = xstest_counts()
    found["fn"] += found.pop("unparsed_good")  # the judge did not pass them
    yield "xstest", "gpt4", found
    if path is None:
        return
    votes = pd.read_csv(path)
    judges = [c for c in votes.columns if c not in NOT_JUDGES]
    for judge in judges:
        seen = votes[votes[judge].notna() & votes["human"].notna()]
        y, v = seen["human"] == 1, seen[judge] == 1
        cells = {"tp": y & v, "fn": y & ~v, "fp": ~y & v, "tn": ~y & ~v}
        counted = pd.DataFrame({k: c.groupby(seen["generator"]).sum() for k, c in cells.items()})
        yield "code_feedback", judge, counted


def run_of(cells, own, rng):
    """A run of one system, some of whose items are labelled at random."""
    tp, fn, fp, tn = rng.multivariate_hypergeometric(cells, own) if own else np.zeros(4, int)
    rest = np.asarray(cells) - [tp, fn, fp, tn]
    counted = map(int, (rest.sum(), rest[0] + rest[2], tp + fn, tp, fp + tn, tn))
    return Counts(*counted, calibration="random" if own else "separate")


def real(judged, systems, own, rng):
    """The passport of other systems of a judge, and the run of one left out."""
    _, _, table = judged[rng.integers(len(judged))]
    left = str(rng.choice(table.index))
    others = [name for name in table.index if name != left]
    kept = others if systems == "all" else [str(rng.choice(others))]
    labels = {}
    for name in kept:
        cells = table.loc[name, CELLS].to_numpy(int)
        tp, fn, fp, tn = rng.multivariate_hypergeometric(cells, min(LABELS, cells.sum()))
        labels[name] = (tp + fn, tp, fp + tn, tn)
    cells = table.loc[left, CELLS].to_numpy(int)
    return (
        Card("judge", labels, "random"),
        run_of(cells, own, rng),
        cells[:2].sum() / cells.sum(),
    )


def simulated(fallen, systems, own, rng):
    """The same of a judge whose specificity has fallen."""

    def near(rate):
        return rng.beta(*(np.array([rate, 1 - rate]) * (1 / SCATTER - 1)))

    labels = {}
    for i in range(systems):
        good = int(rng.binomial(200, 0.6))
        right = rng.binomial(good, near(0.9)), rng.binomial(200 - good, near(0.8))
        labels[str(i)] = (good, right[0], 200 - good, right[1])
    share, items = rng.choice([0.3, 0.6, 0.85]), 1000
    hit, caught = near(0.9), near(0.8 - fallen)
    chances = share * hit, share * (1 - hit), (1 - share) * (1 - caught), (1 - share) * caught
    cells = rng.multinomial(items, chances)
    return Card("judge", labels, "random"), run_of(cells, own, rng), share


def added_up(passport, counts, overdispersion=0.01):
    """The older discount: of all systems together, as if the new run's items did not scatter."""
    good, hit, bad, caught = passport.totals
    labels = []
    for n, k in ((good, hit), (bad, caught)):
        worth = int(n / (1 + n * overdispersion))
        labels += [worth, round(worth * k / n) if n else 0]
    return replace(counts, external_labels=labels)


def estimates(passport, counts):
    """Value and interval of each method."""
    made = {"before": exact(added_up(passport, counts)), "added": exact(passport.applied(counts))}
    if counts.labelled_n:
        made["estimate"], made["own"] = passport.estimate(counts), exact(counts)
    return {name: one["prevalence"] for name, one in made.items()}


def summary(draws):
    """Coverage, width, interval score and alarms by method."""
    names = draws[0][0]
    for name in names:
        rows = np.array([made[name] for made, _, _ in draws])
        truth = np.array([share for _, share, _ in draws])
        beyond = np.maximum(rows[:, 1] - truth, 0) + np.maximum(truth - rows[:, 2], 0)
        width = rows[:, 2] - rows[:, 1]
        yield {
            "method": name,
            "covered": float((beyond <= 1e-12).mean()),
            "width": float(width.mean()),
            "score": float((width + 40 * beyond).mean()),
            "alarm": float(np.mean([alarm for _, _, alarm in draws])),
            "draws": len(draws),
        }


def study(cells, draw, path):
    """Draw each cell, and write what is known after each."""
    found = []
    for place, about in enumerate(cells):
        rng, draws = np.random.default_rng([20_272, place]), []
        for _ in range(about.pop("draws")):
            passport, counts, share = draw(about, rng)
            alarm = any(c.id == "transport" for c in passport.check(counts))
            draws.append((estimates(passport, counts), share, alarm))
        found += [{**about, **row} for row in summary(draws)]
        pd.DataFrame(found).round(3).to_csv(path, index=False, lineterminator="\n")
    print(pd.DataFrame(found).round(3).to_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code-feedback", type=Path)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--parts", nargs="+", default=("real", "simulated"))
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if "real" in asked.parts:
        judged = list(tables(asked.code_feedback))
        names = dict.fromkeys(name for name, _, _ in judged)
        cells = [
            {"data": name, "systems": systems, "own": own, "draws": asked.draws}
            for own, name, systems in itertools.product(OWN, names, (1, "all"))
        ]
        study(
            cells,
            lambda about, rng: real(
                [one for one in judged if one[0] == about["data"]],
                about["systems"], about["own"], rng,
            ),
            RESULTS / "card.csv",
        )  # fmt: skip
    if "simulated" in asked.parts:
        cells = [
            {"fallen": fallen, "systems": systems, "own": own, "draws": asked.draws}
            for own, fallen, systems in itertools.product(OWN, (0.0, 0.2), (1, 5))
        ]
        study(cells, lambda about, rng: simulated(**about, rng=rng),
              RESULTS / "card_simulated.csv")  # fmt: skip


if __name__ == "__main__":
    main()
