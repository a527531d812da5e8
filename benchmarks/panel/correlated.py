"""Do intervals cover if judges err together, with and without a shared effect in the model?

    python benchmarks/panel/correlated.py                     # 100 data sets, half an hour
    python benchmarks/panel/correlated.py --data-sets 200     # continues the last run
    python benchmarks/panel/correlated.py VOTES.csv.gz        # `correlated` on the real panel

Data sets come from `panel.simulate` with a shared effect: two generators with 60 labels among 200
items, and a third without any. Both models are sampled on each; coverage of their 90 % intervals,
for prevalences of the third generator, and sensitivities and specificities. With VOTES (the table
of `code_feedback.py`) one generator's labels are left out, and both models predict it.
``converged`` is the share of fits that pass the gate, ``cpu_seconds`` the median of a fit. On the
real panel `correlated` converges and is further off than the plain model: there error rates differ
between generators, which neither allows for; its check of dependence fails too.
Writes ``correlated.jsonl`` (every interval), ``.csv`` and ``correlated_real.csv``.

Quick: ``--data-sets 1 --models dawid_skene``

Found: if judges err together, 90 % intervals of the plain model hold .45 of the sensitivities and
.51 of the specificities, those of `Correlated` .89 and .90, 1.5 times as wide; prevalences .85 and
.88 (standard error .03).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from code_feedback import read

from bayesjudge import panel
from bayesjudge.core.errors import ConvergenceWarning

RESULTS = Path(__file__).parent / "results"
RATES = {
    "prevalence": (0.85, 0.65, 0.75),
    "sensitivity": (0.95, 0.9, 0.85, 0.8, 0.9),
    "specificity": (0.5, 0.6, 0.7, 0.8, 0.6),
}
TRUTH = {
    ("prevalence", "g3"): 0.75,
    **{("sensitivity", j): r for j, r in zip("abcde", RATES["sensitivity"], strict=True)},
    **{("specificity", j): r for j, r in zip("abcde", RATES["specificity"], strict=True)},
}
EFFECT = 1.5
MODELS = {"dawid_skene": panel.PooledDawidSkene(), "correlated": panel.Correlated(nodes=15)}
QUICK = {"chains": 2, "draws": 1000, "tune": 500, "progress": False}


def one(seed: int, name: str) -> list[dict[str, Any]]:
    """Draw one data set, and ask one model."""
    table = panel.simulate(
        **RATES, items=200, labelled=(60, 60, 0), shared_effect=EFFECT, random_seed=seed
    )
    votes = panel.Votes.from_frame(table, calibration="random")
    begin = time.process_time()
    fit = panel.fit(votes, MODELS[name], random_seed=seed, **QUICK)
    about = {"cpu_seconds": time.process_time() - begin, "converged": fit.converged}
    estimate = fit.estimate(ci_prob=0.9)
    rows = []
    for (kind, label), truth in TRUTH.items():
        row = estimate[kind, label]
        found = {"error": row.value - truth, "width": row.high - row.low}
        found["covered"] = row.low <= truth <= row.high
        rows.append({"seed": seed, "model": name, "kind": kind, "of": label, **about, **found})
    return rows


def simulated(data_sets: int, models: list[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / "correlated.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    rows = [row for line in lines for row in json.loads(line)]
    done = {(row["seed"], row["model"]) for row in rows}
    with file.open("a") as stream:
        for asked in product(range(data_sets), models):
            if asked not in done:
                made = one(*asked)
                rows += made
                stream.write(json.dumps(made, default=float) + "\n")
                stream.flush()
    grouped = pd.DataFrame(rows).groupby(["model", "kind"], sort=False)
    n = grouped["seed"].nunique()
    coverage = grouped["covered"].mean()
    shown = pd.DataFrame(
        {
            "data_sets": n,
            "covered": coverage,
            # judges of one data set are not independent: data sets are the units
            "covered_error": np.sqrt(coverage * (1 - coverage) / n),
            "width": grouped["width"].mean(),
            "bias": grouped["error"].mean(),
            "mean_error": grouped["error"].apply(lambda e: e.abs().mean()),
            "converged": grouped["converged"].mean(),
            "cpu_seconds": grouped["cpu_seconds"].median(),
        }
    ).reset_index()
    shown.to_csv(RESULTS / "correlated.csv", index=False, float_format="%.4g")
    print(shown.round(3).to_string())


def real(path: Path, models: list[str]) -> None:
    votes = read(path)
    generator = "gpt-4o"
    rows = []
    for name in models:
        begin = time.process_time()
        settings = QUICK | {"chains": 4}
        fit = panel.fit(votes.hide(generator), MODELS[name], random_seed=1, **settings)
        row = fit.estimate(ci_prob=0.9)["prevalence", generator]
        check = panel.dependence_check(fit, random_seed=1)
        own = votes.only(generator)
        truth = float(own.labelled[0, 1] / own.n_items)
        rows.append(
            {
                **{"model": name, "generator": generator, "truth": truth, "value": row.value},
                **{"low": row.low, "high": row.high, "converged": fit.converged},
                **{f"observed_{k}": check.loc[k, "observed"] for k in check.index},
                **{f"expected_{k}": check.loc[k, "expected"] for k in check.index},
                **{f"rejected_{k}": check.loc[k, "rejected"] for k in check.index},
                "cpu_seconds": time.process_time() - begin,
            }
        )
    table = pd.DataFrame(rows)
    table.to_csv(RESULTS / "correlated_real.csv", index=False, float_format="%.4g")
    print(table.T.to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("votes", type=Path, nargs="?")
    parser.add_argument("--data-sets", type=int, default=100)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    if asked.votes is None:
        simulated(asked.data_sets, asked.models)
    else:
        real(asked.votes, asked.models)


if __name__ == "__main__":
    main()
