"""Are the models of strata, of mixed and of weighted labels, and of pairs calibrated?

    python benchmarks/prevalence/sbc_designs.py                         # 500 simulations a study
    python benchmarks/prevalence/sbc_designs.py --simulations 2000      # continues the last run
    python benchmarks/prevalence/sbc_designs.py --only strata,pairs     # some of the studies

Studies: ``strata``, three of them, partially pooled; ``propensities``, three classes of items whose
labels were drawn with different known probabilities; ``mixed_random`` and ``mixed_by_verdict``,
labels of that design with external labels by truth; ``pairs``, win, tie and loss in both
orders. Truths and verdicts are drawn here with NumPy, not by the models, and tables are read as a
user's would be. Writes to benchmarks/prevalence/results: ``sbc_designs_STUDY.jsonl`` (every rank),
``sbc_designs.csv`` (the tests) and ``sbc_designs.png``.

Quick: ``--simulations 2 --workers 1 --only strata``

Found: ranks of all 52 unknowns of the five studies are uniform over 500 simulations (least adjusted
p .43; spread of the ranks .95 to 1.03).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.special import expit, logit, xlog1py, xlogy

from bayesjudge import BetaPrior, lab, prevalence

RESULTS = Path(__file__).parent / "results"
SEED = 20_261
RATES = ("prevalence", "sensitivity", "specificity")
#: Not flat, so that a wrong exponent of a prior shows.
MODEL = prevalence.ErrorRates(BetaPrior(2, 1.5), BetaPrior(4, 2), BetaPrior(3, 2))
POOLED = prevalence.PooledErrorRates(
    MODEL.prevalence, MODEL.sensitivity, MODEL.specificity, spread=0.7
)
CLASS_MODEL = prevalence.classes.Confusions(share_concentration=1.5, right=4, wrong=0.8)
CLASSES = ("win", "tie", "loss")
#: Items of each stratum, and how many of them are labelled.
STRATA = {"long": (120, 30), "mid": (200, 20), "short": (60, 25)}
PROPENSITIES = (0.05, 0.1, 0.4)
ITEMS = 400


def judged(truth: np.ndarray, hit: Any, caught: Any, rng: np.random.Generator) -> np.ndarray:
    """Draw the verdict on each item."""
    return rng.binomial(1, np.where(truth == 1, hit, 1 - np.asarray(caught)))


def draw_rates(rng: np.random.Generator) -> tuple[float, float]:
    """Draw sensitivity and specificity of a judge better than chance."""
    while True:
        rates = rng.beta(*MODEL.sensitivity), rng.beta(*MODEL.specificity)
        if sum(rates) > 1:
            return rates


def draw_strata(rng: np.random.Generator, *, weighted: bool) -> dict[str, Any]:
    """Draw three partially pooled strata; if `weighted`, also how common they are."""
    typical = (rng.beta(*MODEL.prevalence), *draw_rates(rng))
    truths: dict[str, Any] = {}
    for name, centre in zip(RATES, typical, strict=True):
        truths[f"{name}_spread"] = spread = abs(rng.normal(0, POOLED.spread))
        truths[name] = expit(logit(centre) + spread * rng.normal(size=3))
    sizes = np.array([n for n, _ in STRATA.values()])
    shares = rng.dirichlet([1, 1, 1]) if weighted else sizes / sizes.sum()
    return truths | {"stratum_share": shares, "overall_prevalence": shares @ truths["prevalence"]}


def draw_table(truths: Mapping[str, Any], sizes: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Draw items of each stratum, with truth and verdict."""
    which = np.repeat(np.arange(3), sizes)
    good, hit, caught = (np.asarray(truths[name])[which] for name in RATES)
    truth = rng.binomial(1, good)
    return pd.DataFrame(
        {"which": which, "verdict": judged(truth, hit, caught, rng), "truth": truth * 1.0}
    )


def draw_stratified(truths: Mapping[str, Any], rng: np.random.Generator) -> prevalence.Counts:
    """Label the first so many items of each stratum."""
    sizes, labelled = np.array(list(STRATA.values())).T
    table = draw_table(truths, sizes, rng)
    table["stratum"] = np.array(list(STRATA))[table["which"]]
    place = table.groupby("which").cumcount()
    table.loc[place >= labelled[table["which"]], "truth"] = np.nan
    return prevalence.Counts.from_frame(table, calibration="random", stratum="stratum")


def draw_weighted(truths: Mapping[str, Any], rng: np.random.Generator) -> prevalence.Counts:
    """Label each item with the probability of its class; all three classes occur."""
    sizes = rng.multinomial(ITEMS, truths["stratum_share"])
    table = draw_table(truths, sizes, rng)
    propensity = np.array(PROPENSITIES)[table["which"]]
    table.loc[rng.random(ITEMS) >= propensity, "truth"] = np.nan
    good, verdict = table["truth"] == 1, table["verdict"] == 1
    bad, test = table["truth"] == 0, table["truth"].isna()
    cells = (test, test & verdict, good, good & verdict, bad, bad & ~verdict)
    # counted here, since a class that is missing by chance is no class of a user's table
    counts = [np.bincount(table["which"], cell, minlength=3).astype(int) for cell in cells]
    return prevalence.Counts(
        *counts,
        calibration="known_propensity",
        systems=[f"{x:g}" for x in PROPENSITIES],
        dim="stratum",
        propensity=PROPENSITIES,
    )


def draw_one(rng: np.random.Generator) -> dict[str, float]:
    """Draw prevalence and rates of one system."""
    return dict(zip(RATES, (rng.beta(*MODEL.prevalence), *draw_rates(rng)), strict=True))


def draw_mixed(
    truths: Mapping[str, Any], rng: np.random.Generator, *, calibration: str
) -> prevalence.Counts:
    """Draw 300 items with 30 labels of one design, and 40 external labels by truth."""
    known = {name: truths[name] for name in RATES}
    table = prevalence.simulate(
        **known, items=270, labelled=30, calibration=calibration, random_seed=rng
    )
    truth = np.arange(40) % 2
    verdict = judged(truth, truths["sensitivity"], truths["specificity"], rng)
    more = pd.DataFrame({"verdict": verdict, "truth": truth})
    return prevalence.Counts.from_frame(table, calibration=calibration, external_labels=more)


def draw_classes(rng: np.random.Generator) -> dict[str, Any]:
    """Draw what is true of wins, ties and losses."""
    weights = np.full((3, 3), CLASS_MODEL.wrong)
    np.fill_diagonal(weights, CLASS_MODEL.right)
    confusion = np.array([rng.dirichlet(row) for row in weights])
    shares = rng.dirichlet([CLASS_MODEL.share_concentration] * 3)
    return {
        "prevalence": shares,
        "confusion": confusion,
        "win_rate": shares @ np.array([1, 0.5, 0]),
    }


def draw_pairs(
    truths: Mapping[str, Any], rng: np.random.Generator
) -> prevalence.classes.ClassCounts:
    """Draw 200 pairs in both orders, and 15 labelled ones of each class beside them.

    The verdict of both orders together has the drawn confusion; a tie is, at random, one that both
    orders gave or one in which they differ.
    """
    truth = np.concatenate(
        [np.repeat(np.arange(3), 15), rng.choice(3, 200, p=truths["prevalence"])]
    )
    both = np.array([rng.choice(3, p=truths["confusion"][t]) for t in truth])
    first, second = both.copy(), both.copy()
    differ = (both == 1) & (rng.random(truth.size) < 0.5)
    first[differ] = rng.choice(3, differ.sum())
    second[differ] = (first[differ] + rng.choice([1, 2], differ.sum())) % 3
    names = np.array(CLASSES, object)
    label = np.where(np.arange(truth.size) < 45, names[truth], None)
    table = pd.DataFrame({"verdict": names[first], "swapped": names[second], "truth": label})
    return prevalence.classes.ClassCounts.from_pairs(table, calibration="by_truth")


def log_likelihood(
    values: Mapping[str, np.ndarray], counts: prevalence.Counts
) -> dict[str, np.ndarray]:
    """Write the likelihood out by hand: its ranks tie the posterior to the data."""
    good, hit, caught = (values[name] for name in RATES)
    rate = good * hit + (1 - good) * (1 - caught)
    more = counts.external_labels
    more = np.zeros((4, *np.shape(counts.test_n))) if more is None else more
    parts = [
        (rate, counts.test_pass, counts.test_n),
        (good, counts.correct_n, counts.labelled_n),
        (hit, counts.correct_pass + more[1], counts.correct_n + more[0]),
        (caught, counts.incorrect_fail + more[3], counts.incorrect_n + more[2]),
    ]
    log = sum(xlogy(k, p) + xlog1py(n - k, -p) for p, k, n in parts)
    return {"log_likelihood": log if np.ndim(counts.test_n) == 0 else log.sum(axis=-1)}


def _pooled(weighted: bool) -> dict[str, Any]:
    spreads = tuple(f"{name}_spread" for name in RATES)
    shares = ("stratum_share",) if weighted else ()
    names = ("overall_prevalence", *RATES, *spreads, *shares)
    posterior = lab.Nuts(prevalence.build_model, POOLED, names, target_accept=0.98)
    return {
        "posterior": posterior,
        "draw_prior": partial(draw_strata, weighted=weighted),
        "draw_data": draw_weighted if weighted else draw_stratified,
        "also": log_likelihood,
    }


def _mixed(calibration: str) -> dict[str, Any]:
    return {
        "posterior": lab.Nuts(prevalence.build_model, MODEL, RATES),
        "draw_prior": draw_one,
        "draw_data": partial(draw_mixed, calibration=calibration),
        "also": log_likelihood,
    }


STUDIES: dict[str, dict[str, Any]] = {
    "strata": _pooled(weighted=False),
    "propensities": _pooled(weighted=True),
    "mixed_random": _mixed("random"),
    "mixed_by_verdict": _mixed("by_verdict"),
    "pairs": {
        "posterior": lab.Nuts(
            prevalence.classes.build_model, CLASS_MODEL, ("win_rate", "prevalence", "confusion")
        ),
        "draw_prior": draw_classes,
        "draw_data": draw_pairs,
    },
}


def study_of(name: str, simulations: int, **how: Any) -> lab.RankStudy:
    """Run, or continue, one study."""
    study = dict(STUDIES[name])
    return lab.sbc(
        study.pop("posterior"),
        **study,
        simulations=simulations,
        random_seed=SEED + list(STUDIES).index(name),  # truths of its own for each study
        path=RESULTS / f"sbc_designs_{name}.jsonl",
        **how,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--only", default=",".join(STUDIES), help="studies, with commas")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    tables, figure = [], plt.figure(figsize=(14, 8), layout="constrained")
    for i, name in enumerate(asked.only.split(",")):
        begin = time.perf_counter()
        study = study_of(name, asked.simulations, workers=asked.workers, resume=not asked.fresh)
        ax = lab.plot_ranks(study, ax=figure.add_subplot(2, 3, i + 1))
        ax.set_title(name.replace("_", " "), loc="left")
        once = study.table.drop_duplicates("simulation")
        table = study.uniformity().reset_index()
        table.insert(0, "study", name)
        tables.append(table)
        print(
            f"{name}: {len(once)} simulations, {time.perf_counter() - begin:.0f} s now, "
            f"{once['seconds'].median():.2f} s a simulation (median), "
            f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition",
            flush=True,
        )
    table = pd.concat(tables)
    print(table.round(4).to_string(index=False))
    if set(asked.only.split(",")) == set(STUDIES):
        table.to_csv(RESULTS / "sbc_designs.csv", index=False, float_format="%.4g")
        figure.savefig(RESULTS / "sbc_designs.png", dpi=110)


if __name__ == "__main__":
    main()
