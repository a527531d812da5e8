"""Does the posterior stay uncertain of what choices hide, if there are no response sets?

    python benchmarks/ratings/hidden.py

People alone, two options, no response sets, more and more items and choices. What choices show
(the mean share of choices) becomes sharp; the endorsement, which they hide, stays as wide as the
prior leaves it between its two bounds: chosen at the least, everybody at the most. Also the place
of the truth in the posterior, over worlds drawn far from the prior's mean. Calibration over the
prior is in sbc.py (``choices``, ``three``). Writes hidden.csv and .png.

Quick: ``--sizes 1``

Found: from 50 to 800 items the share of choices grows sharp (standard deviation .043 to .011), the
endorsement does not (.152 to .145), and its 95 % interval holds the truth in 12 of 12 runs.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import ratings

RESULTS = Path(__file__).parent / "results"
OPTIONS = ("yes", "no")
MEMBERS = ratings.response_sets.membership(
    OPTIONS, ratings.response_sets.all_response_sets(OPTIONS)
)
#: Mean shares of {yes}, {no} and both, and of choices of yes from both.
TRUTHS = {
    "half accept both": ((0.25, 0.25, 0.5), 0.5),
    "hardly any accept both": ((0.45, 0.5, 0.05), 0.5),
    "both, but no is chosen": ((0.1, 0.4, 0.5), 0.1),
}
SIZES = ((50, 3), (200, 3), (800, 3), (200, 30))


def one(name: str, items: int, choices: int) -> dict[str, object]:
    """Widths of what is shown and of what is hidden."""
    share, picked = TRUTHS[name]
    rng = np.random.default_rng([7, items, choices])
    choice = MEMBERS.copy()
    choice[:, 2] = picked, 1 - picked
    shares = rng.dirichlet(4 * np.array(share), items)
    chosen = rng.multinomial(choices, shares @ choice.T)
    data = ratings.Ratings(chosen[None], OPTIONS, "yes", sources=("people",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ratings.fit(data, random_seed=1)
    # of yes, whatever people accept
    shown = (fit.draws("set_share")[:, 0] * fit.draws("choice")[:, 0, 0]).sum(axis=-1)
    hidden = fit.draws("endorsement")[:, 0, 0]
    truth = share[0] + share[2]
    low, high = np.quantile(hidden, [0.025, 0.975])
    return {
        "truth": name,
        "items": items,
        "choices": choices,
        "choice_share": shown.mean(),
        "choice_share_sd": shown.std(),
        "endorsement_true": truth,
        "endorsement": hidden.mean(),
        "endorsement_sd": hidden.std(),
        "low": low,
        "high": high,
        "covered": low <= truth <= high,
        "r_hat": fit.diagnostics()["r_hat"].max(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="the first so many of them")
    sizes = SIZES[: parser.parse_args().sizes]
    rows = pd.DataFrame([one(name, *size) for name in TRUTHS for size in sizes])
    rows.to_csv(RESULTS / "hidden.csv", index=False, float_format="%.4g")
    print(rows.round(3).to_string(index=False))
    draw(rows)


def draw(rows: pd.DataFrame) -> None:
    """Draw intervals of the endorsement beside what was chosen and what is true."""
    ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    for i, (name, here) in enumerate(rows.groupby("truth", sort=False)):
        at = np.arange(len(here)) + 0.2 * (i - 1)
        ax.vlines(at, here["low"], here["high"], color=f"C{i}", lw=4, alpha=0.5, label=name)
        ax.plot(at, here["endorsement_true"], "kx")
        ax.plot(at, here["choice_share"], "o", color=f"C{i}", ms=4)
    ax.set_xticks(np.arange(len(here)), [f"{i} items\n{c} choices" for i, c in SIZES[: len(here)]])
    ax.set(ylim=(0, 1), ylabel="yes: chosen (dot), endorsed\n(bar 95 %; cross true)")
    ax.figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    ax.figure.savefig(RESULTS / "hidden.png", dpi=90)


if __name__ == "__main__":
    main()
