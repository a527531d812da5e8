"""Do the intervals of pairs judged in both orders cover, and does taking the position out work?

The nine ways to judge a pair twice, with ties, under eight truths: judges without a preference for
a place and with a strong one, few ties and many, rare flips. The posterior whose prior is worth one
pair in all (`position_bias`) is held against one with a mass of 1/2 for each value that a pair can
have, and against percentiles of resampled pairs.

Quick: ``--runs 20``

Found: intervals of the gap between places cover .946 to .963 on average over the truths with 20, 60
and 240 pairs, .907 at worst; of the win rate .947 to .955, and .924 at worst. With a mass of 1/2 a
value the worst are .802 and .852, and of resampled pairs .560 and .467 (20 pairs).

    python benchmarks/bias/orders.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.bias.position import QUANTITIES, Orders, position_bias
from bayesjudge.core import dirichlet

RESULTS = Path(__file__).parent / "results"
WEIGHTS = {
    name: np.asarray(QUANTITIES[name], float) for name in ("position_preference", "win_rate")
}
#: Shares of pairs by the winner in the first order (1, 2, tie) and in the second.
TRUTHS = {
    "fair, no ties": [[0.45, 0.05, 0], [0.05, 0.45, 0], [0, 0, 0]],
    "fair, ties": [[0.3, 0.05, 0.05], [0.05, 0.3, 0.05], [0.05, 0.05, 0.1]],
    "first place": [[0.3, 0.3, 0.1], [0.02, 0.15, 0.02], [0.02, 0.05, 0.04]],
    "second place": [[0.3, 0.02, 0.02], [0.3, 0.15, 0.1], [0.05, 0.02, 0.04]],
    "always first": [[0.02, 0.96, 0.01], [0, 0.01, 0], [0, 0, 0]],
    "one answer": [[0.93, 0.03, 0.01], [0.01, 0.01, 0], [0.01, 0, 0]],
    "consistent": [[0.6, 0.01, 0], [0.01, 0.38, 0], [0, 0, 0]],
    "ties only": [[0.02, 0, 0.03], [0, 0.02, 0.03], [0.02, 0.02, 0.86]],
}


def level_counts(counts, weights):
    """Distinct values that a pair can have, and how many pairs have each."""
    levels, at = np.unique(weights.ravel(), return_inverse=True)
    return levels, counts @ np.eye(len(levels))[at.ravel()]


def posterior(counts, weights, each):
    levels, seen = level_counts(counts, weights)
    return dirichlet.interval(seen + each, levels)


def asked_for(counts, quantity):
    """What `position_bias` says, each table as one judge."""
    judges = [str(i) for i in range(len(counts))]
    made = position_bias(Orders(counts.reshape(-1, 3, 3), judges, answers=("a", "b")))
    found = made.quantities[quantity]
    each = len(found.dims)  # of a win rate, the first answer's
    return found.low[::each], found.high[::each]


def bootstrap(counts, weights, rng):
    """Percentiles of 1,000 resamples of the pairs."""
    levels, seen = level_counts(counts, weights)
    n = counts.sum(axis=1)[0]
    drawn = rng.multinomial(n, seen / n, size=(1000, len(seen))) @ levels / n
    return tuple(np.quantile(drawn, [0.025, 0.975], axis=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    asked = parser.parse_args()
    rows = []
    for i, (name, truth) in enumerate(TRUTHS.items()):
        shares = np.ravel(truth) / np.sum(truth)
        for n in (20, 60, 240):
            rng = np.random.default_rng([i, n])
            counts = rng.multinomial(n, shares, size=asked.runs)
            for quantity, weights in WEIGHTS.items():
                true = shares @ weights.ravel()
                made = {
                    "position_bias": asked_for(counts, quantity),
                    "posterior, 1/2 a value": posterior(counts, weights, 0.5),
                    "bootstrap": bootstrap(counts, weights, rng),
                }
                for method, (low, high) in made.items():
                    covered = ((low <= true) & (true <= high)).mean()
                    about = {"truth": name, "pairs": n, "quantity": quantity, "method": method}
                    wide = float(np.mean(high - low))
                    rows.append(about | {"covered": covered, "width": round(wide, 4)})
    found = pd.DataFrame(rows)
    found.to_csv(RESULTS / "orders.csv", index=False, lineterminator="\n")
    by = found.groupby(["quantity", "method", "pairs"])
    print(by["covered"].agg(["min", "mean", "max"]).round(3).join(by["width"].mean().round(3)))


if __name__ == "__main__":
    main()
