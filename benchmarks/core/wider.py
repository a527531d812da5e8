"""How many times as wide is an interval that says too little to contradict the quoted one?

    python benchmarks/core/wider.py               # 400 tables of prevalence, 200 of panels

The screen says by how much other methods differ from the quoted one, and leaves out those whose
interval is more than `bayesjudge.render.screen.MUCH_WIDER` times as wide. For each factor: how many
of the other methods' numbers are left out, how often such a number is further from the truth than
the quoted one, and the root mean square errors of those left out, of those kept and of the quoted.

Writes benchmarks/core/results/wider.csv.

Quick: ``--tables 6``

Found: at the factor of 4 that the screen uses, 2 % of the other methods' numbers of prevalence and
20 % of a panel's are left out; of these .96 and .84 are further from the truth than the quoted
number, with root mean square errors of .29 and .13, where those kept have .09 and .05 and the
quoted .05 and .04. A factor of 2 leaves out more that are less often further off (.72 and .84); of
the panel's numbers it hardly matters which factor is taken.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesjudge import panel, prevalence
from bayesjudge.core.answer import entries

RESULTS = Path(__file__).parent / "results"
SEED, FACTORS = 20_401, (1.5, 2.0, 3.0, 4.0, 6.0, 10.0)


class Number(NamedTuple):
    """Another method's number beside the quoted one."""

    ratio: float
    error: float
    quoted: float


def beside(answer: Any, made: Any, truth: dict[tuple[Any, ...], float]) -> Iterator[Number]:
    """Each other method's width in units of the quoted one's, and both errors."""
    quoted = entries(answer.quoted)
    left = {answer.method, *([answer.judge.method] if answer.judge else [])}
    for one in made:
        for entry, row in entries(one).items() if one.method not in left else ():
            mine = quoted.get(entry)
            if mine is None or not np.isfinite([*row, *mine]).all():
                continue
            ratio = (row.high - row.low) / (mine.high - mine.low)
            yield Number(ratio, abs(row.value - truth[entry]), abs(mine.value - truth[entry]))


def of_prevalence(rng: Any) -> list[Number]:
    """One table: a judge of any quality, labels at random."""
    good = rng.uniform(0.1, 0.9)
    hit, caught = rng.uniform(0.55, 0.98, 2)
    items, labels = rng.choice([300, 1000]), rng.choice([30, 60, 120])
    n = rng.binomial(labels, good)
    passes = good * hit + (1 - good) * (1 - caught)
    cells = (items - labels, rng.binomial(items - labels, passes))
    known = (n, rng.binomial(n, hit), labels - n, rng.binomial(labels - n, caught))
    counts = prevalence.Counts(*map(int, (*cells, *known)), calibration="random")
    made = [*prevalence.closed_forms(counts), prevalence.exact(counts)]
    return list(beside(prevalence.answer(*made), made, {("prevalence",): good}))


def of_panel(rng: Any) -> list[Number]:
    """One table of three generators and four judges, who may err on the same items."""
    goods = rng.uniform(0.3, 0.95, 3)
    table = panel.simulate(
        prevalence=goods,
        labelled=int(rng.choice([20, 50, 100])),
        shared_effect=float(rng.choice([0.0, 1.0])),
        random_seed=rng,
    )
    made = panel.closed_forms(panel.Votes.from_frame(table, calibration="random"))
    truth = {("prevalence", f"g{i + 1}"): float(good) for i, good in enumerate(goods)}
    return list(beside(panel.answer(*made), made, truth))


def scored(kind: str, found: list[Number]) -> Iterator[dict[str, Any]]:
    """Numbers left out and kept at each factor."""
    ratio, error, quoted = np.array(found).T
    for factor in FACTORS:
        out = ratio > factor
        yield {
            "tables": kind,
            "factor": factor,
            "left_out": out.mean(),
            "worse": (error > quoted)[out].mean() if out.any() else np.nan,
            "rmse_left_out": np.sqrt((error[out] ** 2).mean()) if out.any() else np.nan,
            "rmse_kept": np.sqrt((error[~out] ** 2).mean()),
            "rmse_quoted": np.sqrt((quoted**2).mean()),
        }


def main() -> None:
    """Draw the tables, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400, help="of prevalence; half of panels")
    tables, rng, rows = parser.parse_args().tables, np.random.default_rng(SEED), []
    for kind, draw, n in (("prevalence", of_prevalence, tables), ("panel", of_panel, tables // 2)):
        found = [number for _ in range(n) for number in draw(rng)]
        rows += scored(kind, found)
    pd.DataFrame(rows).round(4).to_csv(RESULTS / "wider.csv", index=False)


if __name__ == "__main__":
    main()
