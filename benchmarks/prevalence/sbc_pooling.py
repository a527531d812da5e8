"""Are the models of several systems, of covariates, and of several classes, calibrated?

    python benchmarks/prevalence/sbc_pooling.py                     # 500 simulations a study
    python benchmarks/prevalence/sbc_pooling.py --simulations 2000  # continues the last run
    python benchmarks/prevalence/sbc_pooling.py --only linear       # one study

Studies: three systems whose rates are partially pooled, the last without labels; three systems with
one judge's rates; three strata whose rates are linear in a covariate; three classes. Truths and
data are drawn here with NumPy, not by the models.
Writes to benchmarks/prevalence/results: ``sbc_pooling_STUDY.jsonl`` (every rank),
``sbc_pooling.csv`` (the tests) and ``sbc_pooling.png``.

Quick: ``--simulations 2 --workers 1 --only full``

Found: ranks of all 28 unknowns of ``full``, ``partial`` and ``classes`` are uniform over 100
simulations (least adjusted p .096; spread of the ranks .90 to 1.06, standard error .045), and those
of the 16 of ``linear`` over 110 (least adjusted p .73; spread .96 to 1.07, standard error .043).
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
from scipy.special import expit, logit

from bayesjudge import BetaPrior, lab, prevalence

RESULTS = Path(__file__).parent / "results"
SEED = 20_252
SYSTEMS = ("a", "b", "c")
ITEMS, LABELS = 150, 30
#: Not flat, so that a wrong exponent of a prior shows.
PRIORS = (BetaPrior(2, 1.5), BetaPrior(4, 2), BetaPrior(3, 2))
FULL = prevalence.ErrorRates(*PRIORS, pooling="full")
PARTIAL = prevalence.PooledErrorRates(*PRIORS, spread=0.7)
LINEAR = prevalence.LinearErrorRates("1 + x", *PRIORS, slope=0.8)
X = (0.0, 1.0, 3.0)
CLASS_MODEL = prevalence.classes.Confusions(share_concentration=4.5, right=4, wrong=1.6)
RATES = ("prevalence", "sensitivity", "specificity")
STUDIES = ("full", "partial", "linear", "classes")


def draw_systems(rng: np.random.Generator, *, pooling: str) -> dict[str, Any]:
    """Draw what is true of three systems."""
    size = len(SYSTEMS)
    while True:
        typical = rng.beta(*FULL.sensitivity), rng.beta(*FULL.specificity)
        if sum(typical) > 1:
            break
    truths: dict[str, Any] = {"prevalence": rng.beta(*FULL.prevalence, size)}
    if pooling == "full":
        return truths | {"sensitivity": typical[0], "specificity": typical[1]}
    for name, centre in zip(RATES[1:], typical, strict=True):
        spread = abs(rng.normal(0, PARTIAL.spread))
        truths[f"{name}_spread"] = spread
        truths[name] = expit(logit(centre) + spread * rng.normal(size=size))
    return truths


def draw_linear(rng: np.random.Generator) -> dict[str, Any]:
    """Draw what is true of three strata, of as many items each, whose covariate is X."""
    x = (np.array(X) - np.mean(X)) / np.std(X)
    truths: dict[str, Any] = {}
    for name in RATES:
        typical, slope = rng.beta(*getattr(LINEAR, name)), rng.normal(0, LINEAR.slope)
        truths |= {f"typical_{name}": typical, f"{name}_slope": np.array([slope])}
        truths[name] = expit(logit(typical) + slope * x)
    return truths | {"overall_prevalence": truths["prevalence"].mean()}


def draw_counts(
    truths: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    labels: tuple[int, ...],
    **named: Any,
) -> prevalence.Counts:
    """Draw labels and verdicts of three systems; labels are a random sample."""
    good_share, hit, caught = (np.broadcast_to(truths[name], 3) for name in RATES)
    good = rng.binomial(labels, good_share)
    bad = np.array(labels) - good
    rate = good_share * hit + (1 - good_share) * (1 - caught)
    return prevalence.Counts(
        *([ITEMS] * 3, rng.binomial(ITEMS, rate), good, rng.binomial(good, hit)),
        *(bad, rng.binomial(bad, caught)),
        calibration="random",
        systems=SYSTEMS,
        **named,
    )


def draw_classes(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw what is true of three classes."""
    weights = np.full((3, 3), CLASS_MODEL.wrong / 2)
    np.fill_diagonal(weights, CLASS_MODEL.right)
    confusion = np.array([rng.dirichlet(row) for row in weights])
    return {
        "prevalence": rng.dirichlet([CLASS_MODEL.share_concentration / 3] * 3),
        "confusion": confusion,
    }


def draw_class_counts(
    truths: Mapping[str, Any], rng: np.random.Generator
) -> prevalence.classes.ClassCounts:
    """Draw labels by truth, ten of each class, and verdicts."""
    labelled = [rng.multinomial(10, row) for row in truths["confusion"]]
    test = rng.multinomial(ITEMS, truths["prevalence"] @ truths["confusion"])
    return prevalence.classes.ClassCounts(test, labelled, classes=SYSTEMS, calibration="by_truth")


def study_of(name: str, simulations: int, **how: Any) -> lab.RankStudy:
    """Run, or continue, one study."""
    if name == "classes":
        quantities: tuple[str, ...] = ("prevalence", "confusion")
        posterior = lab.Nuts(prevalence.classes.build_model, CLASS_MODEL, quantities)
        draw: dict[str, Any] = {"draw_prior": draw_classes, "draw_data": draw_class_counts}
    elif name == "linear":
        names = [(rate, f"typical_{rate}", f"{rate}_slope") for rate in RATES]
        quantities = sum(names, ())
        posterior = lab.Nuts(prevalence.build_model, LINEAR, ("overall_prevalence", *quantities))
        strata = {"dim": "stratum", "covariates": {"x": X}}
        draw = {
            "draw_prior": draw_linear,
            "draw_data": partial(draw_counts, labels=(LABELS,) * 3, **strata),
        }
    else:
        spreads = ("sensitivity_spread", "specificity_spread") if name == "partial" else ()
        model, accept = (PARTIAL, 0.98) if name == "partial" else (FULL, 0.9)
        posterior = lab.Nuts(
            prevalence.build_model, model, (*RATES, *spreads), target_accept=accept
        )
        labels = (LABELS, LABELS, 0 if name == "partial" else LABELS)
        draw = {
            "draw_prior": partial(draw_systems, pooling=name),
            "draw_data": partial(draw_counts, labels=labels),
        }
    path = RESULTS / f"sbc_pooling_{name}.jsonl"
    return lab.sbc(posterior, **draw, simulations=simulations, random_seed=SEED, path=path, **how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--only", choices=STUDIES, help="one study; the tests of all stay")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    tables, figure = [], plt.figure(figsize=(14, 4), layout="constrained")
    for i, name in enumerate(STUDIES if asked.only is None else (asked.only,)):
        begin = time.perf_counter()
        study = study_of(name, asked.simulations, workers=asked.workers, resume=not asked.fresh)
        ax = lab.plot_ranks(study, ax=figure.add_subplot(1, 4 if asked.only is None else 1, i + 1))
        ax.set_title(name, loc="left")
        table = study.uniformity().reset_index()
        table.insert(0, "study", name)
        tables.append(table)
        seconds = time.perf_counter() - begin
        print(f"{name}: {asked.simulations} simulations, {seconds:.0f} s now", flush=True)
    table, path = pd.concat(tables), RESULTS / "sbc_pooling.csv"
    if asked.only is not None and path.exists():
        others = pd.read_csv(path)
        table = pd.concat([others[others["study"] != asked.only], table])
    table.to_csv(path, index=False, float_format="%.4g")
    end = "" if asked.only is None else f"_{asked.only}"
    figure.savefig(RESULTS / f"sbc_pooling{end}.png", dpi=110)
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
