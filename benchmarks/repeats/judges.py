"""What does it cost to take the answers of judges that differ for those of one judge?

    python benchmarks/repeats/judges.py              # 300 tables a row for the models, minutes
    python benchmarks/repeats/judges.py --settings 0.85 drawn  # the results at hand

A run that was ended goes on where it was (``judges.jsonl``).

One item, three judges with normal offsets on the logit scale, twelve answers of each. The truth is
the item's mean over all judges that could have been drawn; intervals are at 90 %. Writes
benchmarks/repeats/results/judges.csv and .png.

Three judges say little of how much judges differ, so that the width of the model's interval depends
on the prior of their standard deviation. What that means for coverage:

* **over the prior** (rows ``drawn``: standard deviation, shares and judges drawn anew for each
  table) a posterior covers as promised: .887 in 1,000 tables, with a standard error of .010
  (``--settings drawn --tables 1000``); the first 300 of them had given .863;
* **at one fixed standard deviation** it need not: judges more alike than the prior expects are
  covered more often than promised, judges further apart less often. At 0.85, the article's,
  N+(0, 1) covers .943, and the package's default, N+(0, 2), .983;
* ANOVA uses no prior, covers .903, and pays with a t quantile of two degrees of freedom: its
  interval is 1.6 times as wide as the model's with N+(0, 1), 1.3 times with N+(0, 2).

Taken as independent answers of one judge, the same scores cover .635 there.

Quick: ``--settings drawn --tables 1 --closed 30 --workers 1``

Found: of judges whose standard deviation is drawn from the prior, 90 % intervals of the model hold
.887 (standard error .010), of ANOVA .903 at 1.7 times the width; taken as one judge's independent
answers the same scores hold .70, and .63 at the article's standard deviation.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import lab, repeats
from bayesjudge.repeats import components

RESULTS = Path(__file__).parent / "results"
SCALE = np.arange(1.0, 6.0)
SHARE = (0.05, 0.2, 0.4, 0.25, 0.1)
JUDGES, REPEATS = 3, 12
#: Standard deviations of judges on the logit scale. 0.85 moves a mean score by a standard deviation
#: of 0.41: the article's 0.4.
FIXED = (0.3, 0.85, 1.7)
CI_PROB = 0.9
MATCHED = "model, N+(0, 1)"
SPECS = {
    MATCHED: repeats.CumulativeLogit(judge_scale=1.0),
    "model, N+(0, 2)": repeats.CumulativeLogit(),
}
#: Ends that are quantiles of n draws lie inward: of 100, they cover .9 * 99 / 101.
ENOUGH = 800
MODELS = {
    name: lab.Nuts(repeats.build_model, spec, ("mean_score",), min_ess=ENOUGH)
    for name, spec in SPECS.items()
}


def drawn(setting: str, rng: np.random.Generator) -> tuple[repeats.Scores, float]:
    """One table and its truth."""
    if setting == "drawn":  # from the priors of the first model
        spec = SPECS[MATCHED]
        share = rng.dirichlet(np.full(len(SCALE), spec.concentration))
        scale = abs(rng.normal(0, spec.judge_scale))
    else:
        share, scale = np.array(SHARE), float(setting)
    judges = rng.normal(0, scale, JUDGES)
    cuts = components.cutpoints(share)
    if setting == "drawn":  # the prior is of the shares for the average of the judges at hand
        cuts = cuts + judges.mean()
    z, weight = components.grid(201)
    effects = components.Effects(0.0, scale, 0.0)
    truth = float(components.expected(scale * z, cuts, SCALE, effects) @ weight)
    latent = judges[:, None] + rng.logistic(size=(JUDGES, REPEATS))
    at = (latent[..., None] > cuts).sum(axis=-1)
    counts = (at[..., None] == np.arange(len(SCALE))).sum(axis=1)
    names = [f"judge{j + 1}" for j in range(JUDGES)]
    return repeats.Scores(counts[None], scale=SCALE, items=["item"], judges=names), truth


def one(task: tuple[str, int], tables: int) -> list[dict[str, object]]:
    """Intervals of every method for one table; of the models for the first tables only."""
    setting, table = task
    key = [*FIXED, "drawn"].index("drawn" if setting == "drawn" else float(setting))
    rng = np.random.default_rng([20_257, key, table])
    scores, truth = drawn(setting, rng)
    found = {"as if IID": repeats.as_if_iid(scores, ci_prob=CI_PROB)["item_score", "item"][1:]}
    found["ANOVA"] = repeats.anova(scores, ci_prob=CI_PROB)["mean_score"][1:]
    divergent = {}
    for name, model in MODELS.items():
        # truths drawn from the one model's prior say nothing of the other's
        if table < tables and (setting != "drawn" or name == MATCHED):
            draws = model(scores, rng)
            tails = ((1 - CI_PROB) / 2, (1 + CI_PROB) / 2)
            found[name] = tuple(np.quantile(draws.values["mean_score"], tails))
            divergent[name] = draws.divergent
    return [
        {
            "judge_sd": setting,
            "method": method,
            "covered": bool(low <= truth <= high),
            "width": float(high - low),
            "divergent": divergent.get(method, 0) > 0,
        }
        for method, (low, high) in found.items()
    ]


def every_row(
    settings: list[str], tables: int, closed: int, workers: int | None
) -> list[dict[str, object]]:
    """Answer all tables, those of an earlier run from its file."""
    path = RESULTS / "judges.jsonl"
    done = {}
    if path.exists():
        for line in path.read_text().splitlines():
            kept = json.loads(line)
            done[kept["setting"], kept["table"], kept["tables"]] = kept["rows"]
    tasks = [(s, t) for s in settings for t in range(tables)]
    tasks += [(s, t) for s in settings for t in range(tables, closed)]
    left = [task for task in tasks if (*task, tables) not in done]
    with path.open("a") as file, ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        answers = pool.map(partial(one, tables=tables), left, chunksize=10)
        for (setting, table), rows in zip(left, answers, strict=True):
            kept = {"setting": setting, "table": table, "tables": tables, "rows": rows}
            file.write(json.dumps(kept) + "\n")
            file.flush()
            done[setting, table, tables] = rows
    return [row for task in tasks for row in done[*task, tables]]


def draw(table: pd.DataFrame, path: Path) -> None:
    """Coverage and width, one group a standard deviation of the judges."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    settings, methods = list(table["judge_sd"].unique()), list(table["method"].unique())
    for ax, column in zip(axes, ("covered", "width"), strict=True):
        for k, method in enumerate(methods):
            part = table[table["method"] == method].set_index("judge_sd").reindex(settings)
            x = np.arange(len(settings)) + 0.18 * (k - 1.5)
            error = 2 * part["error"] if column == "covered" else None
            ax.errorbar(x, part[column], error, fmt="o", color=f"C{k}", label=method)
        words = [s if s == "drawn" else f"sd {s}" for s in settings]
        ax.set_xticks(range(len(settings)), words)
        ax.set_xlabel("judges (logit scale)")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].axhline(CI_PROB, color="k", lw=1)
    axes[0].set_ylabel("coverage of the mean over judges")
    axes[1].set_ylabel("mean width (points)")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False
    )
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=300, help="for the models")
    parser.add_argument("--closed", type=int, default=3000, help="for the closed forms")
    known = ["0.85", "drawn", "0.3", "1.7"]  # what matters most first
    parser.add_argument("--settings", nargs="+", choices=known, default=known)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    many = max(asked.tables, asked.closed)
    rows = every_row(asked.settings, asked.tables, many, asked.workers)
    every = pd.DataFrame(rows)
    table = every.groupby(["judge_sd", "method"], sort=False).agg(
        covered=("covered", "mean"),
        width=("width", "mean"),
        tables=("covered", "size"),
        divergent=("divergent", "mean"),
    )
    table = table.loc[[s for s in [*map(str, FIXED), "drawn"] if s in asked.settings]]
    table["error"] = np.sqrt(table["covered"] * (1 - table["covered"]) / table["tables"])
    table = table.reset_index()
    if (RESULTS / "judges.csv").exists():  # rows of other settings are kept
        earlier = pd.read_csv(RESULTS / "judges.csv", dtype={"judge_sd": str})
        table = pd.concat([earlier[~earlier["judge_sd"].isin(asked.settings)], table])
    order = [*map(str, FIXED), "drawn"]
    table = table.sort_values("judge_sd", key=lambda column: column.map(order.index), kind="stable")
    table.to_csv(RESULTS / "judges.csv", index=False, float_format="%.4g")
    draw(table, RESULTS / "judges.png")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
