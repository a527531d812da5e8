"""Are predictive p-values, of priors and of posteriors, right on data that the model made?

    python benchmarks/core/predictive.py                    # 30 tables of each module
    python benchmarks/core/predictive.py --only panel --tables 20
    python benchmarks/core/predictive.py --summary
    python benchmarks/core/predictive.py --only items --alarms 300    # the priors' check alone

Truths are drawn from the priors and tables from the truths, with NumPy and not by the models. Of
each table:

- ``conflict``: whether `check_prior` calls a statistic of it surprising: one table in a hundred.
- ``new``: the model is fitted, and as many data again, drawn from the same truths, are counted
  among 400 posterior predictive draws. Ranks are uniform if replicates are of model and posterior.
- ``seen``: the rank of the data that were fitted. It looks at data twice, keeps to the middle more
  than a uniform one does, and its mean is 1/2 (Meng 1994, Annals of Statistics 22, 1142-1160).

Cases, two statistics each:

- ``prevalence``: 200 unlabelled items, 30 good and 30 bad labelled ones. Passes of the unlabelled
  and of the good ones.
- ``classes``: three classes, 150 items, ten labelled ones of each class. Verdicts of the first
  kind, among the unlabelled and among the first class.
- ``panel``: one generator, 90 items, a third labelled, three judges drawn from a population. Items
  without a label that all judges pass, and on which they disagree.
- ``repeats``: six items, three judges, three scores each, on a scale of four values. Lowest scores,
  and cells that hold one value only.
- ``bias``: 15 items, two perturbations and a rerun. Mean and standard deviation of the differences.
- ``pooled``: three systems of 150 unlabelled items, two of them with 30 labelled ones, whose rates
  are partially pooled. Passes of the unlabelled, and those of the good ones.
- ``items``: a system that answers each of 40 items twice, 14 of them labelled. Passes, and items
  whose verdicts agree.
- ``scores``: four bins, 150 unlabelled items, 30 good and 30 bad labelled ones. Items in the
  highest bin, among the unlabelled and among the bad.
- ``ratings``: people choose three times for each of 40 items, and give their response sets for
  eight. Choices of yes, and items whose choices agree.

A row a table and statistic (predictive.csv), written as it comes; a second run goes on after the
last. With ``--alarms`` tables are only held against the priors, which takes no sampling
(predictive_alarms.csv). Writes to benchmarks/core/results: predictive.csv, predictive_alarms.csv
and predictive.md.

Quick: ``--only items --alarms 3``

Found: in 520 tables (120 of ``prevalence``, 200 of ``ratings``, 40 of ``scores`` and ``items``, 30
of the others) the priors' check is surprised by 2. Ranks of new data are uniform: the least of
sixteen p-values is .086, and .10 of the ranks lie outside the middle 90 %. Those of the fitted data
do so in .01, and their means are 1/2 within 2.4 standard errors (.544 at most and .449 at least,
both of ``scores``). ``ratings`` were continued twice, since the p-value of one statistic was .009:
of choices of yes after 40 tables, of agreement after 120. In the tables that came after, the same
p-values are .072 and .785. With --alarms the priors' check is surprised by none of 149 more tables
of ``scores``, by none of 150 each of ``ratings``, ``panel`` and ``pooled``, and by 1 of 150 of
``items``: at a rate of .01 none comes in .22 of such studies. A fit of ``items`` takes 4 CPU s and
one of ``ratings`` 2, after 31 and 40 for the first, which is compiled. Tables of ``pooled`` are not
among the fits.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from scipy.special import expit

from bayesjudge import BetaPrior, bias, panel, prevalence, ratings, repeats
from bayesjudge.compiled import compiling
from bayesjudge.core.prior_check import check_prior
from bayesjudge.lab.uniformity import p_value
from bayesjudge.prevalence.items._pymc import _verdicts
from bayesjudge.repeats.components import cutpoints

sys.path.append(str(Path(__file__).parents[1] / "prevalence"))  # what its calibration draws
import sbc_items
import sbc_pooling

RESULTS = Path(__file__).parent / "results"
SEED = 20_265
#: Replicates that a p-value is counted among, and what they are thinned from.
DRAWS = 400
SETTINGS = {"draws": 1000, "chains": 2}

Statistics = dict[str, np.ndarray]


def replicates(
    model: pm.Model, posterior: xr.DataTree, rng: np.random.Generator, names: list[str]
) -> dict[str, np.ndarray]:
    """Draw variables of a model given draws of its parameters, chains joined."""
    with compiling():
        drawn = pm.sample_posterior_predictive(
            posterior, model=model, var_names=names, random_seed=rng, progressbar=False,
            compile_kwargs={"mode": "FAST_COMPILE"},
        )["posterior_predictive"]  # fmt: skip
    return {name: drawn[name].to_numpy().reshape(-1, *drawn[name].shape[2:]) for name in names}


class Case(NamedTuple):
    """A module's model, truths, tables, and statistics of replicates and of data."""

    module: Any
    model: Any
    truths: Callable[[np.random.Generator], Any]
    data: Callable[[Any, np.random.Generator], Any]
    of_replicates: Callable[[Any, Any, Any], Statistics]
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
    """Draw counts; so many good and bad ones are labelled."""
    share, hit, caught = truths
    passes = rng.binomial(200, share * hit + (1 - share) * (1 - caught))
    labels = 30, rng.binomial(30, hit), 30, rng.binomial(30, caught)
    return prevalence.Counts(200, passes, *labels, calibration="by_truth")


# Systems that pool their rates -------------------------------------------------------------------


def summed(counted: dict[str, np.ndarray]) -> Statistics:
    """Counts of all systems, in the last dimension."""
    return {name: np.asarray(counted[name]).sum(-1) for name in COUNTED}


# Several classes ---------------------------------------------------------------------------------

CLASSES = prevalence.classes.Confusions(share_concentration=4.5, right=4, wrong=1.6)


def class_truths(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw shares of the classes and the judge's confusions."""
    weights = np.full((3, 3), CLASSES.wrong / 2)
    np.fill_diagonal(weights, CLASSES.right)
    return rng.dirichlet([CLASSES.share_concentration / 3] * 3), np.array(
        [rng.dirichlet(row) for row in weights]
    )


def class_data(truths: Any, rng: np.random.Generator) -> prevalence.classes.ClassCounts:
    """Draw verdicts, and those on ten labelled items of each class."""
    share, confusion = truths
    labelled = [rng.multinomial(10, row) for row in confusion]
    test = rng.multinomial(150, share @ confusion)
    return prevalence.classes.ClassCounts(test, labelled, "abc", "by_truth")


# A panel ----------------------------------------------------------------------------------------

POOLED = panel.PooledDawidSkene(prevalence=BetaPrior(2, 1.5))
ITEMS, LABELLED = 90, 30


def panel_truths(rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """Draw the share of good items, and chances of a pass by judge and truth."""
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
    good = rng.random(ITEMS) < share
    given = (rng.random((ITEMS, 3)) < rates[:, good.astype(int)].T).astype(int)
    truth = np.where(np.arange(ITEMS) < LABELLED, good, -1)
    return panel.Votes(given, truth, np.zeros(ITEMS, int), ["g"], "abc", calibration="random")


def unanimous(passed: np.ndarray) -> Statistics:
    """Of passes by item, in the last dimension."""
    return {"all pass": (passed == 3).sum(-1), "disagree": ((passed > 0) & (passed < 3)).sum(-1)}


def unanimous_votes(votes: panel.Votes) -> Statistics:
    """Of the unlabelled items."""
    rows = np.repeat(np.flatnonzero(votes.truth == -1), votes.count[votes.truth == -1])
    return unanimous(votes.votes[rows].sum(axis=1))


def unanimous_replicates(fit: Any, posterior: Any, rng: np.random.Generator) -> Statistics:
    """The same, by the model with a variable for each truth and each vote: patterns of votes that
    nobody gave are not told apart otherwise.
    """
    text = panel.build_model(fit.data, POOLED, collapsed=False)
    given = replicates(text, posterior, rng, ["item_truth", "item_verdict"])["item_verdict"]
    alone = np.repeat(fit.data.truth, fit.data.count) == -1
    return unanimous(given.reshape(len(given), ITEMS, 3)[:, alone].sum(-1))


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
    cuts = cutpoints(share) + a.mean() + b.mean()
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


# Shifts of scores --------------------------------------------------------------------------------

SHIFTS = bias.NormalShifts(mean_shift=2.0, item_spread=1.0, noise=0.7, log_sd=0.5, unit=1.0)


def shift_truths(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Draw mean shifts and item spreads of two perturbations, and the noise of a score."""
    spread = SHIFTS.item_spread * np.exp(SHIFTS.log_sd * rng.normal(size=2))
    noise = SHIFTS.noise * np.exp(SHIFTS.log_sd * rng.normal())
    return SHIFTS.mean_shift * rng.normal(size=2), spread, noise


def shift_data(truths: Any, rng: np.random.Generator) -> bias.Shifts:
    """Draw scores of 15 items: a baseline, a rerun and both perturbations."""
    mean, spread, noise = truths
    level = rng.normal(0, 20, 15)[:, None]
    moved = np.column_stack([np.zeros((15, 2)), mean + spread * rng.normal(size=(15, 2))])
    scores = level + moved + noise * rng.normal(size=(15, 4))
    item, variant = np.indices(scores.shape).reshape(2, -1)
    names = np.array(["baseline", "rerun", "format", "order"])
    table = pd.DataFrame({"item": item, "variant": names[variant], "score": scores.ravel()})
    return bias.Shifts.from_frame(table, scale=(-1e6, 1e6), design="item", rerun="rerun")


def moments(difference: np.ndarray) -> Statistics:
    """Of the first perturbation: differences (…, row, perturbation)."""
    first = difference[..., 0]
    return {"mean": first.mean(-1), "sd": first.std(-1)}


def differences(shifts: bias.Shifts) -> np.ndarray:
    """Of the mean scores from the baseline's; the rerun counts with it."""
    return shifts.means[0][:, 1:] - shifts.means[0][:, :1]


# Rows that share items ----------------------------------------------------------------------------


def alike(item: np.ndarray, verdict: np.ndarray) -> Statistics:
    """Of verdicts in the last dimension, and the item of each."""
    passes = np.array([np.bincount(item, one) for one in np.atleast_2d(verdict)])
    agree = (passes == 0) | (passes == np.bincount(item))
    found = {"passes": passes.sum(axis=-1), "alike": agree.sum(axis=-1)}
    return {name: np.squeeze(value) for name, value in found.items()}


def items_replicates(fit: Any, posterior: Any, rng: np.random.Generator) -> Statistics:
    """By the model with a variable for each effect, truth and verdict, of items not seen."""
    text = prevalence.items.build_model(fit.data, fit.spec, collapsed=False)
    given = replicates(text, posterior, rng, ["verdict"])["verdict"]
    return alike(_verdicts(fit.data).item, given)


def items_of(data: prevalence.items.Items) -> Statistics:
    """The same of what was seen."""
    rows = _verdicts(data)
    return alike(rows.item, rows.verdict)


# Scores of a judge --------------------------------------------------------------------------------


def binned_data(truths: Any, rng: np.random.Generator) -> prevalence.scores.Scores:
    """Draw scores of unlabelled items, and of 30 good and 30 bad labelled ones."""
    bad, good = truths["bin_share"]
    passed = rng.binomial(150, truths["prevalence"])
    test = rng.multinomial(passed, good) + rng.multinomial(150 - passed, bad)
    seen = {1.0: rng.multinomial(30, good), 0.0: rng.multinomial(30, bad)}
    return sbc_items.scores_of({np.nan: test, **seen}, calibration="by_truth")


def by_bin(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Items by bin, without a label, and with one by truth."""
    counted = data.verdicts.counts[0, 0]
    return counted[-1], counted[:-1]


def highest(tables: tuple[np.ndarray, np.ndarray]) -> Statistics:
    """Of items by bin, and of labelled ones by truth and bin."""
    test, seen = (np.asarray(table) for table in tables)
    return {"unlabelled": test[..., -1], "of the bad": seen[..., 0, -1]}


# Ratings ------------------------------------------------------------------------------------------

SETS = ratings.ResponseSets(share=1.5, concentration=3.0, concentration_spread=0.7)
OPTIONS, ASKED = ("yes", "no"), 8


def rating_truths(rng: np.random.Generator) -> tuple[np.ndarray, float, np.ndarray]:
    """Draw mean shares of {yes}, {no} and both, how much they vary, and choices from both."""
    share = rng.dirichlet(np.full(3, SETS.share))
    size = SETS.concentration * np.exp(SETS.concentration_spread * rng.normal())
    return share, float(size), rng.dirichlet([1, 1])


def rating_data(truths: Any, rng: np.random.Generator) -> ratings.Ratings:
    """Draw items' shares, choices of all and response sets of some."""
    share, size, both = truths
    sets = [("yes",), ("no",), OPTIONS]
    chosen_from = np.array([[1, 0], [0, 1], both])
    own = np.array([rng.dirichlet(size * share + 1e-9) for _ in range(40)])
    endorsed = rng.multinomial(3, own)
    endorsed[ASKED:] = 0
    chosen = rng.multinomial(3, own @ chosen_from)
    return ratings.Ratings(
        *([chosen], OPTIONS, "yes"), endorsed=[endorsed], sets=sets, sources=("people",)
    )


def choices(given: np.ndarray) -> Statistics:
    """Of choices by item and option, in the last two dimensions."""
    return {"yes": given[..., 0].sum(-1), "agree": (given[..., :2].max(-1) == 3).sum(-1)}


def drawn_of(name: str, summarise: Callable[[np.ndarray], Statistics]) -> Any:
    """Statistics of replicates of one variable of the fitted model."""
    return lambda fit, posterior, rng: summarise(
        replicates(fit.model, posterior, rng, [name])[name]
    )


def first_verdict(tables: tuple[np.ndarray, np.ndarray]) -> Statistics:
    """Of verdicts of the unlabelled, and of the labelled by class."""
    test, labelled = tables
    return {"unlabelled": test[..., 0], "of class a": labelled[..., 0, 0]}


CASES = {
    "prevalence": Case(
        *(prevalence, RATES, system_truths, system_data),
        lambda fit, posterior, rng: replicates(fit.model, posterior, rng, list(COUNTED)),
        lambda counts: {name: np.asarray(getattr(counts, name)) for name in COUNTED},
    ),
    "classes": Case(
        *(prevalence.classes, CLASSES, class_truths, class_data),
        lambda fit, posterior, rng: first_verdict(
            tuple(replicates(fit.model, posterior, rng, ["test", "labelled"]).values())
        ),
        lambda counts: first_verdict((counts.test, counts.labelled)),
    ),
    "panel": Case(
        *(panel, POOLED, panel_truths, panel_data, unanimous_replicates, unanimous_votes)
    ),
    "repeats": Case(
        *(repeats, SCORED, score_truths, score_data, drawn_of("given", scores_of)),
        lambda scores: scores_of(scores.counts.reshape(-1, scores.counts.shape[-1])),
    ),
    "bias": Case(
        *(bias, SHIFTS, shift_truths, shift_data, drawn_of("difference", moments)),
        lambda shifts: moments(differences(shifts)),
    ),
    "pooled": Case(
        *(prevalence, sbc_pooling.PARTIAL, partial(sbc_pooling.draw_systems, pooling="partial")),
        partial(sbc_pooling.draw_counts, labels=(30, 30, 0)),
        lambda fit, posterior, rng: summed(replicates(fit.model, posterior, rng, list(COUNTED))),
        lambda counts: summed({name: getattr(counts, name) for name in COUNTED}),
    ),
    "items": Case(
        *(prevalence.items, sbc_items.EFFECTS),
        lambda rng: sbc_items.draw_effects(rng, systems=1, effects=("difficulty", "leniency")),
        lambda truths, rng: sbc_items.draw_items(truths, rng, n=40, repeats=2, labelled=14),
        *(items_replicates, items_of),
    ),
    "scores": Case(
        *(prevalence.scores, sbc_items.GIVEN_TRUTH, sbc_items.draw_given_truth, binned_data),
        lambda fit, posterior, rng: highest(
            tuple(replicates(fit.model, posterior, rng, ["test", "labelled"]).values())
        ),
        lambda scores: highest(by_bin(scores)),
    ),
    "ratings": Case(
        *(ratings, SETS, rating_truths, rating_data, drawn_of("ratings", choices)),
        lambda data: choices(np.asarray(data.chosen[0])),
    ),
}


def one(name: str, table: int) -> list[dict[str, Any]]:
    """Ranks of one table among replicates, ties broken at random."""
    case = CASES[name]
    rng = np.random.default_rng([SEED, *map(ord, name), table])
    truths = case.truths(rng)
    data, again = case.data(truths, rng), case.data(truths, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        conflict = check_prior(data, case.model, random_seed=table)["surprising"].any()
        fit = case.module.fit(data, case.model, random_seed=table, cores=1, **SETTINGS)
        posterior = fit.idata.copy()
        steps = slice(None, None, SETTINGS["draws"] * SETTINGS["chains"] // DRAWS)
        posterior["posterior"] = fit.idata["posterior"].isel(draw=steps)
        replicated = case.of_replicates(fit, posterior, rng)
    rows = []
    for statistic, values in replicated.items():
        row = {"module": name, "table": table, "statistic": statistic, "conflict": int(conflict)}
        for kind, part in (("seen", data), ("new", again)):
            value = case.of_data(part)[statistic]
            below, ties = int((values < value).sum()), int((values == value).sum())
            row[kind] = below + int(rng.integers(ties + 1))
        rows.append(row)
    return rows


def alarm(name: str, table: int) -> dict[str, Any]:
    """Whether the check of the priors is surprised by one table that they made, without a fit."""
    case = CASES[name]
    rng = np.random.default_rng([SEED + 1, *map(ord, name), table])
    data = case.data(case.truths(rng), rng)
    found = check_prior(data, case.model, random_seed=table)
    return {"module": name, "table": table, "conflict": int(found["surprising"].any())}


def of_alarms(rows: pd.DataFrame) -> str:
    """Share of tables with an alarm, which should be .01 at most."""
    lines = ["| module | tables | conflicts | rate (standard error) |", "|---|---|---|---|"]
    for name, part in rows.groupby("module", sort=False):
        rate, n = part["conflict"].mean(), len(part)
        error = np.sqrt(max(rate, 1 / n) * (1 - rate) / n)
        lines.append(f"| {name} | {n} | {part['conflict'].sum()} | {rate:.4f} ({error:.4f}) |")
    return "\n".join(lines) + "\n"


def summary(rows: pd.DataFrame) -> str:
    """Whether those of new data are uniform, and those of the fitted data no wider."""
    lines = [
        "| module | statistic | tables | conflicts | new: p of uniformity | new: outside 90 % "
        "| seen: mean (standard error) | seen: outside 90 % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (name, statistic), part in rows.groupby(["module", "statistic"], sort=False):
        share = part[["seen", "new"]] / DRAWS
        outside = ((share - 0.5).abs() > 0.45).mean()
        error = share["seen"].std() / np.sqrt(len(part))
        lines.append(
            f"| {name} | {statistic} | {len(part)} | {part['conflict'].sum()} "
            f"| {p_value(part['new'].to_numpy(), DRAWS):.3f} | {outside['new']:.2f} "
            f"| {share['seen'].mean():.3f} ({error:.3f}) | {outside['seen']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def write_missing(
    path: Path, make: Callable[[str, int], list[dict[str, Any]]], names: list[str], tables: int
) -> None:
    """Append the rows of tables that a file does not have, as they come."""
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["module", "table"]].itertuples(index=False, name=None))
    for name, table in product(names, range(tables)):
        if (name, table) in done:
            continue
        rows, new = make(name, table), not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            if new:
                writer.writeheader()
            writer.writerows(rows)


def main() -> None:
    """Run what is missing, and summarise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(CASES), action="append")
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--alarms", type=int, help="tables of the priors' check alone")
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    fits, alarms = RESULTS / "predictive.csv", RESULTS / "predictive_alarms.csv"
    names = asked.only or list(CASES)
    if asked.alarms and not asked.summary:
        write_missing(alarms, lambda *table: [alarm(*table)], names, asked.alarms)
    elif not asked.summary:
        write_missing(fits, one, names, asked.tables)
    parts = [(fits, summary), (alarms, of_alarms)]
    text = "\n".join(say(pd.read_csv(path)) for path, say in parts if path.exists())
    fits.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
