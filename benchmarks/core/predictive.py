"""Are predictive p-values right on data that the model made?

    python benchmarks/core/predictive.py                    # 100 tables of each module
    python benchmarks/core/predictive.py --only panel --tables 20
    python benchmarks/core/predictive.py --summary

Truths are drawn from the priors and tables from the truths, with NumPy; the model is fitted to each
table, and its posterior predictive draws are counted. Two p-values of a statistic: of the data that
were fitted (``seen``), and of as many data again, drawn from the same truths (``new``). The second
is uniform if replicates are of the model and of the posterior. The first looks at data twice: it
keeps to the middle, more than a uniform one does, and its mean is 1/2 (Meng 1994, Annals of
Statistics 22, 1142-1160).

- ``prevalence``: one system, 200 unlabelled and 60 labelled items. Passes among the unlabelled, and
  among the good labelled ones.
- ``panel``: one generator, 150 items, a third labelled, three judges drawn from a population. Items
  that all judges pass, and items on which they disagree, without a label.
- ``repeats``: six items, three judges, three scores each, on a scale of four values. Lowest scores,
  and cells that hold one value only.

A row a table and statistic (predictive.csv), written as it comes; a second run goes on after the
last. Writes to benchmarks/core/results: predictive.csv and predictive.md.

Found: not run yet.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm
from scipy.special import expit

from bayesjudge import BetaPrior, panel, prevalence, repeats
from bayesjudge.core.compiling import compiling
from bayesjudge.lab.uniformity import p_value

RESULTS = Path(__file__).parent / "results"
SEED = 20_265
#: Replicates that a p-value is counted among.
DRAWS = 400
COLUMNS = ("module", "table", "statistic", "seen", "new")

Statistics = dict[str, np.ndarray]


class Case(NamedTuple):
    """A module's model, truths, tables, and statistics of replicates and of data."""

    module: Any
    model: Any
    truths: Callable[[np.random.Generator], Any]
    data: Callable[[Any, np.random.Generator], Any]
    of_replicates: Callable[[Any, Any], Statistics]
    of_data: Callable[[Any], Statistics]


# One system -------------------------------------------------------------------------------------

RATES = prevalence.ErrorRates(BetaPrior(2, 1.5), BetaPrior(4, 2), BetaPrior(3, 2))
COUNTED = ("test_pass", "correct_pass")


def system_truths(rng: np.random.Generator) -> tuple[float, float, float]:
    """Draw rates of a judge that is better than chance."""
    while True:
        hit, caught = rng.beta(*RATES.sensitivity), rng.beta(*RATES.specificity)
        if hit + caught > 1:
            return rng.beta(*RATES.prevalence), hit, caught


def system_data(truths: Any, rng: np.random.Generator) -> prevalence.Counts:
    """Draw counts."""
    share, hit, caught = truths
    good = rng.binomial(60, share)
    passes = rng.binomial(200, share * hit + (1 - share) * (1 - caught))
    caught_n = rng.binomial(60 - good, caught)
    return prevalence.Counts(
        *(200, passes, good, rng.binomial(good, hit), 60 - good, caught_n), calibration="random"
    )


# A panel ----------------------------------------------------------------------------------------

POOLED = panel.PooledDawidSkene(prevalence=BetaPrior(2, 1.5))


def panel_truths(rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """Draw the share of good items, and logits of a pass by judge and truth."""
    parts = {}
    for name in ("discrimination", "leniency"):
        mean, sd = getattr(POOLED, name)
        spread = abs(rng.normal(0, getattr(POOLED, f"{name}_spread")))
        parts[name] = rng.normal(mean, sd) + spread * rng.normal(size=3)
    half = np.exp(parts["discrimination"]) / 2
    logits = np.stack([parts["leniency"] - half, parts["leniency"] + half], axis=1)
    return rng.beta(*POOLED.prevalence), expit(logits)


def panel_data(truths: Any, rng: np.random.Generator) -> panel.Votes:
    """Draw votes of three judges."""
    share, rates = truths
    good = rng.random(150) < share
    given = (rng.random((150, 3)) < rates[:, good.astype(int)].T).astype(int)
    truth = np.where(np.arange(150) < 50, good, -1)
    return panel.Votes(given, truth, np.zeros(150, int), ["g"], "abc", calibration="random")


def unanimous(votes: panel.Votes) -> Statistics:
    """Of the unlabelled items."""
    alone = votes.truth == -1
    passed = votes.votes.sum(axis=1)
    return {
        "all pass": np.sum(votes.count[alone & (passed == 3)]),
        "disagree": np.sum(votes.count[alone & (passed > 0) & (passed < 3)]),
    }


def unanimous_replicates(votes: panel.Votes, drawn: Any) -> Statistics:
    """The same; patterns that nobody has are what is missing from the total."""
    items = drawn["items"].to_numpy()
    alone, passed = votes.truth == -1, votes.votes.sum(axis=1)
    rows = items[:, : len(votes.count)]
    every = [rows[:, alone & (passed == k)].sum(axis=1) for k in (0, 3)]
    return {"all pass": every[1], "disagree": votes.count[alone].sum() - sum(every)}


# Repeated scores --------------------------------------------------------------------------------

SCORED = repeats.CumulativeLogit(concentration=2.0, item_scale=2.0, judge_scale=1.0,
                                 item_judge_scale=0.7)  # fmt: skip


def score_truths(rng: np.random.Generator) -> np.ndarray:
    """Draw chances of each value by item and judge."""
    share = rng.dirichlet(np.full(4, SCORED.concentration))
    a, b, c = (
        abs(rng.normal(0, getattr(SCORED, f"{name}_scale"))) * rng.normal(size=size)
        for name, size in (("item", (6, 1)), ("judge", (1, 3)), ("item_judge", (6, 3)))
    )
    # the shares are those of the average of the items and judges at hand
    cuts = repeats.components.cutpoints(share) + a.mean() + b.mean()
    below = expit(cuts - (a + b + c)[..., None])
    ends = np.zeros((6, 3, 1))
    return np.diff(np.concatenate([ends, below, ends + 1], axis=-1), axis=-1)


def score_data(chances: np.ndarray, rng: np.random.Generator) -> repeats.Scores:
    """Draw three scores for each item and judge."""
    values = rng.multinomial(3, chances)
    item, judge, value = (
        np.repeat(at, values.ravel()) for at in np.indices(values.shape).reshape(3, -1)
    )
    rows = pd.DataFrame({"item": item, "judge": judge, "score": value + 1})
    rows["repeat"] = rows.groupby(["item", "judge"]).cumcount()
    return repeats.Scores.from_frame(rows, scale=range(1, 5), judge="judge", order="repeat")


def scores_of(given: np.ndarray) -> Statistics:
    """Of counts by cell and value, in the last two dimensions."""
    return {"lowest": given[..., 0].sum(-1), "one value": (given.max(-1) == 3).sum(-1)}


CASES = {
    "prevalence": Case(
        prevalence,
        RATES,
        system_truths,
        system_data,
        lambda _, drawn: {name: drawn[name].to_numpy().ravel() for name in COUNTED},
        lambda counts: {name: np.asarray(getattr(counts, name)) for name in COUNTED},
    ),
    "panel": Case(panel, POOLED, panel_truths, panel_data, unanimous_replicates, unanimous),
    "repeats": Case(
        repeats,
        SCORED,
        score_truths,
        score_data,
        lambda _, drawn: scores_of(drawn["given"].to_numpy()),
        lambda scores: scores_of(scores.counts.reshape(-1, scores.counts.shape[-1])),
    ),
}


def one(name: str, table: int) -> list[dict[str, Any]]:
    """P-values of one table, counted among replicates, ties broken at random."""
    case = CASES[name]
    rng = np.random.default_rng([SEED, *map(ord, name), table])
    truths = case.truths(rng)
    data, again = case.data(truths, rng), case.data(truths, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = case.module.fit(data, case.model, random_seed=table, cores=1)
        posterior = fit.idata["posterior"].stack(sample=("chain", "draw"))
        at = np.linspace(0, posterior.sizes["sample"] - 1, DRAWS).astype(int)
        kept = fit.idata["posterior"].to_dataset().stack(sample=("chain", "draw")).isel(sample=at)
        flat = (
            kept.drop_vars(["sample", "chain", "draw"]).rename(sample="draw").expand_dims("chain")
        )
        with compiling():
            drawn = pm.sample_posterior_predictive(
                flat, model=fit.model, random_seed=rng, progressbar=False,
                compile_kwargs={"mode": "FAST_COMPILE"},
            )["posterior_predictive"].isel(chain=0)  # fmt: skip
    replicated = case.of_replicates(data, drawn)
    rows = []
    for statistic, values in replicated.items():
        row: dict[str, Any] = {"module": name, "table": table, "statistic": statistic}
        for kind, part in (("seen", data), ("new", again)):
            value = case.of_data(part)[statistic]
            below, ties = int((values < value).sum()), int((values == value).sum())
            row[kind] = below + int(rng.integers(ties + 1))
        rows.append(row)
    return rows


def summary(rows: pd.DataFrame) -> str:
    """Whether those of new data are uniform, and those of the fitted data no wider."""
    lines = [
        "| module | statistic | tables | new: p of uniformity | new: outside 90 % | seen: mean "
        "(standard error) | seen: outside 90 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for (name, statistic), part in rows.groupby(["module", "statistic"], sort=False):
        share = part[["seen", "new"]] / DRAWS
        outside = ((share - 0.5).abs() > 0.45).mean()
        error = share["seen"].std() / np.sqrt(len(part))
        lines.append(
            f"| {name} | {statistic} | {len(part)} | {p_value(part['new'].to_numpy(), DRAWS):.3f} "
            f"| {outside['new']:.2f} | {share['seen'].mean():.3f} ({error:.3f}) "
            f"| {outside['seen']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing, and summarise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "predictive.csv"
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["module", "table"]].itertuples(index=False, name=None))
    wanted = [
        (name, table)
        for table in range(asked.tables)
        for name in ([asked.only] if asked.only else CASES)
        if (name, table) not in done and not asked.summary
    ]
    for name, table in wanted:
        rows, new = one(name, table), not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if new:
                writer.writeheader()
            writer.writerows(rows)
    text = summary(pd.read_csv(path))
    path.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
