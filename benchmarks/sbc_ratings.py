"""Calibration of the ratings model: simulation-based calibration with NUTS.

    python benchmarks/sbc_ratings.py                    # 100 simulations a study, minutes
    python benchmarks/sbc_ratings.py --simulations 500  # continues where the last run ended

Truths are drawn from the priors, and from them three forced choices of each of 40 items. In the
study ``sets`` a fifth of the items have three response sets besides, in ``choices`` none has, so
that endorsements are identified by the prior only: uniform ranks there say that the intervals are
as wide as ignorance is. Writes ``sbc_ratings_STUDY.jsonl``, ``sbc_ratings.csv`` and ``.png``.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import lab, ratings

RESULTS = Path(__file__).parent / "results"
SEED = 20_255
OPTIONS = ("yes", "no")
MEMBERS = ratings.membership(OPTIONS, ratings.all_response_sets(OPTIONS))
PRIORS = ratings.Priors()
STUDIES = {"sets": 8, "choices": 0}
ITEMS, EACH = 40, 3


def draw_prior(rng: np.random.Generator) -> dict[str, Any]:
    """Draw mean shares, pool size and choices of one source."""
    share = rng.dirichlet(np.ones(3), 1)
    size = np.exp(np.log(PRIORS.pool_size) + PRIORS.pool_spread * rng.normal(size=1))
    return {
        "set_share": share,
        "pool_size": size,
        "choice_of_2": rng.dirichlet(np.ones(2), (1, 1)),
        "endorsement": share @ MEMBERS.T,
    }


def draw_data(truths: Any, rng: np.random.Generator, *, asked: int) -> ratings.Ratings:
    """Draw items' shares, then choices of all and response sets of some."""
    shares = rng.dirichlet(truths["pool_size"][0] * truths["set_share"][0] + 1e-9, ITEMS)
    choice = MEMBERS.copy()
    choice[:, 2] = truths["choice_of_2"][0, 0]
    chosen = rng.multinomial(EACH, shares @ choice.T)
    endorsed = np.zeros((ITEMS, 3), int)
    if asked:
        endorsed[:asked] = rng.multinomial(EACH, shares[:asked])
    return ratings.Ratings(
        chosen[None], OPTIONS, "yes", endorsed=endorsed[None], sources=("people",)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    asked = parser.parse_args()
    tables, figure = [], plt.figure(figsize=(10, 4), layout="constrained")
    for i, (name, items) in enumerate(STUDIES.items()):
        study = lab.sbc(
            lab.Nuts(ratings.build_model, PRIORS, ("endorsement", "pool_size", "choice_of_2")),
            draw_prior=draw_prior,
            draw_data=partial(draw_data, asked=items),
            simulations=asked.simulations,
            random_seed=SEED,
            path=RESULTS / f"sbc_ratings_{name}.jsonl",
            workers=asked.workers,
        )
        ax = lab.plot_ranks(study, ax=figure.add_subplot(1, 2, i + 1))
        ax.set_title(name)
        table = study.uniformity().reset_index()
        table.insert(0, "study", name)
        tables.append(table)
        print(table.round(4).to_string(index=False), flush=True)
    pd.concat(tables).to_csv(RESULTS / "sbc_ratings.csv", index=False, float_format="%.4g")
    figure.savefig(RESULTS / "sbc_ratings.png", dpi=90)


if __name__ == "__main__":
    main()
