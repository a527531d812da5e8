"""Are the models of shared items, of scores and of classes calibrated?

    python benchmarks/prevalence/sbc_items.py                        # 500 simulations a study
    python benchmarks/prevalence/sbc_items.py --only outputs,rising  # some of the studies
    python benchmarks/prevalence/sbc_items.py --turn 25 --seconds 1500 --workers 1

Studies of items: ``outputs``, two systems that answer each item twice; ``verdicts``, a judge who
sees each output of two systems three times; ``pairs``, three systems that answer once, single rows
labelled; ``by_truth``, one system, labelled items beside those asked about. Of scores:
``score_given_truth``, ``truth_given_score`` and ``rising``, four bins each. Of classes:
``confusions`` of two systems and ``predictive``, three classes each. Truths, item effects, rows and
scores are drawn here with NumPy, not by the models. Writes to benchmarks/prevalence/results:
``sbc_items_STUDY.jsonl`` (every rank) and ``sbc_items.csv`` (the tests).

Quick: ``--simulations 2 --workers 1 --only score_given_truth``

Found: no rank differs from uniform in 500 simulations of each study (1,199 of ``predictive``, 200
of ``truth_given_score`` and ``rising``, whose coordinates came later): of 105 quantities 4 have p
below .05, and none below .27 once corrected within its study (Holm). Spreads of the ranks are .95
to 1.04 of uniform ones (standard error .02), and .95 to 1.08 in the 200 (.03), so that a posterior
a tenth too narrow would show. Of the fits 5.6 % of ``score_given_truth`` and 2.0 % of ``rising``
have a divergent transition, none of the others. Two alarms on the way: ranks of ``rising``'s means
at the ends of the scale, whose truth was 1 where draws were 1 + 1e-11 (p = 5e-11 before they were
rounded, .49 since), and the third class's shares of ``predictive`` (p = .003 in 500; .59 in the 698
that followed). 3,700 + 294 CPU s for 500 of each.
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
from scipy.special import expit, ndtr

from bayesjudge import BetaPrior, lab
from bayesjudge.prevalence import classes, items, scores

RESULTS = Path(__file__).parent / "results"
SEED = 20_333
RATES = ("prevalence", "sensitivity", "specificity")
#: Not flat, so that a wrong exponent of a prior shows.
EFFECTS = items.ItemEffects(
    BetaPrior(2, 1.5),
    BetaPrior(4, 2),
    BetaPrior(3, 2),
    difficulty_spread=1.5,
    leniency_spread=0.8,
    interaction_spread=0.8,
)
GIVEN_TRUTH = scores.ScoreGivenTruth(BetaPrior(2, 1.5), concentration=3)
GIVEN_SCORE = scores.TruthGivenScore(share_concentration=3, truth_concentration=1.5)
RISING = scores.RisingMean(truth_concentration=1.5, spread=0.4)
CONFUSIONS = classes.Confusions(share_concentration=4, right=4, wrong=1.5)
PREDICTIVE = classes.PredictiveShares(verdict_concentration=4, class_concentration=3)
#: Standard normal quantiles that stand for an item effect.
GRID = np.linspace(-8, 8, 2001)
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
BINS, LEVELS, CLASSES = 4, 5, ("a", "b", "c")


# Items -------------------------------------------------------------------------------------------


def centre(share: float, spread: float) -> float:
    """Logit of an average item at which the mean over items is `share`: bisection."""
    low, high = -80.0, 80.0
    for _ in range(80):
        middle = (low + high) / 2
        below = DENSITY @ expit(middle + spread * GRID) < share
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def draw_effects(
    rng: np.random.Generator, *, systems: int, effects: tuple[str, ...]
) -> dict[str, Any]:
    """Draw rates of each system, and how much items differ."""
    truths: dict[str, Any] = {name: np.empty(systems) for name in RATES}
    for s in range(systems):
        truths["prevalence"][s] = rng.beta(*EFFECTS.prevalence)
        while True:
            rates = rng.beta(*EFFECTS.sensitivity), rng.beta(*EFFECTS.specificity)
            if sum(rates) > 1:
                break
        truths["sensitivity"][s], truths["specificity"][s] = rates
    for name in effects:
        truths[f"{name}_spread"] = abs(rng.normal(0, getattr(EFFECTS, f"{name}_spread")))
    return truths if systems > 1 else {k: np.squeeze(v)[()] for k, v in truths.items()}


def draw_rows(
    truths: Mapping[str, Any], rng: np.random.Generator, n: int, repeats: int, of: str
) -> tuple[np.ndarray, np.ndarray]:
    """Draw truth and verdict of each item, system and row."""
    spread = {k: float(truths.get(f"{k}_spread", 0.0)) for k in ("difficulty", "leniency")}
    own = float(truths.get("interaction_spread", 0.0))
    on_truth, on_verdict = (own, 0.0) if of == "system" else (0.0, own)
    rates = [np.atleast_1d(truths[name]) for name in RATES]
    size = rates[0].size
    a, b = (spread[k] * rng.normal(size=(n, 1)) for k in ("difficulty", "leniency"))
    a, b = a + on_truth * rng.normal(size=(n, size)), b + on_verdict * rng.normal(size=(n, size))
    wide = [np.hypot(spread["difficulty"], on_truth), np.hypot(spread["leniency"], on_verdict)]
    shares = (rates[0], rates[1], 1 - rates[2])
    spreads = (wide[0], wide[1], wide[1])
    good, hit, wrong = (
        np.array([centre(x, w) for x in rate]) for rate, w in zip(shares, spreads, strict=True)
    )
    outputs = rng.random((n, size, repeats if of == "system" else 1)) < expit(good + a)[..., None]
    truth = np.broadcast_to(outputs, (n, size, repeats))
    passes = np.where(truth, expit(hit + b)[..., None], expit(wrong + b)[..., None])
    return truth.astype(int), (rng.random(truth.shape) < passes).astype(int)


def cells_of(truth: np.ndarray, verdict: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Count rows by item, system, truth (2: no label) and verdict."""
    cells = np.zeros((*truth.shape[:2], 3, 2), int)
    i, s, _ = np.indices(truth.shape)
    np.add.at(cells, (i, s, np.where(known, truth, 2), verdict), 1)
    return cells


def draw_items(
    truths: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    n: int,
    repeats: int,
    labelled: int,
    of: str = "system",
    rows: bool = False,
) -> items.Items:
    """Draw items, with labels of all rows of the first of them, or of single rows."""
    truth, verdict = draw_rows(truths, rng, n, repeats, of)
    known = np.zeros(truth.shape, bool)
    if rows:  # every system has one label at least
        known[:labelled] = rng.random(known[:labelled].shape) < 0.7
        known[0] = True
    else:
        known[:labelled] = True
    names = ("x", "y", "z")[: truth.shape[1]] if truth.shape[1] > 1 else ("system",)
    repeated: Any = of if repeats > 1 else None
    return items.Items(
        cells_of(truth, verdict, known), np.ones(n, int), names, "random", repeats=repeated
    )


def draw_by_truth(truths: Mapping[str, Any], rng: np.random.Generator) -> items.Items:
    """Draw 30 items of three outputs, and 20 others with a good and a bad output each."""
    cells = cells_of(*draw_rows(truths, rng, 30, 3, "system"), np.zeros((30, 1, 3), bool))
    spread = float(truths["leniency_spread"])
    lean = spread * rng.normal(size=20)
    more = np.zeros((20, 1, 3, 2), int)
    for z, share in enumerate((1 - truths["specificity"], truths["sensitivity"])):
        passed = rng.random(20) < expit(centre(float(share), spread) + lean)
        more[np.arange(20), 0, z, passed.astype(int)] = 1
    both = np.concatenate([cells, more])
    return items.Items(both, np.ones(len(both), int), ("system",), "by_truth", repeats="system")


# Scores ------------------------------------------------------------------------------------------


def draw_given_truth(rng: np.random.Generator) -> dict[str, Any]:
    """Draw bins' shares of bad items, and the likelihood ratio that rises with them."""
    fails = rng.dirichlet(np.full(BINS, GIVEN_TRUTH.concentration / BINS))
    steps = rng.exponential(GIVEN_TRUTH.rise / (BINS - 1), BINS - 1)
    tilted = fails * np.exp(np.concatenate([[0], np.cumsum(steps)]))
    shares = np.array([fails, tilted / tilted.sum()])
    return {"prevalence": rng.beta(*GIVEN_TRUTH.prevalence), "bin_share": shares}


def rising(rng: np.random.Generator, concentration: float) -> np.ndarray:
    """Draw numbers in (0, 1) that rise with the bins."""
    return np.cumsum(rng.dirichlet(np.full(BINS + 1, 3 * concentration / (BINS + 1))))[:-1]


def draw_given_score(rng: np.random.Generator) -> dict[str, Any]:
    """Draw bins' shares, and the share of good items that rises with them."""
    shares = rng.dirichlet(np.full(BINS, GIVEN_SCORE.share_concentration / BINS))
    good = rising(rng, GIVEN_SCORE.truth_concentration)
    return {"cell_share": shares, "pass_share": good, "prevalence": shares @ good}


def draw_rising(rng: np.random.Generator) -> dict[str, Any]:
    """Draw bins' shares, and location and spread of the truths in each."""
    shares = rng.dirichlet(np.full(BINS, RISING.share_concentration / BINS))
    location = 2 * rising(rng, RISING.truth_concentration) - 0.5
    typical = abs(rng.normal(0, RISING.spread))
    spread = typical * np.exp(0.5 * rng.normal(size=BINS))
    middle = (np.arange(LEVELS - 1) + 0.5) / (LEVELS - 1)
    noise = np.hypot(spread, 0.2 / (LEVELS - 1))
    below = ndtr((middle - location[:, None]) / noise[:, None])
    chances = np.diff(np.column_stack([np.zeros(BINS), below, np.ones(BINS)]), axis=1)
    mean = chances @ np.arange(1, LEVELS + 1)
    about = {"location": location, "typical_spread": typical, "bin_spread": spread}
    return {**about, "chances": chances, "bin_mean": mean, "mean_score": shares @ mean,
            "cell_share": shares}  # fmt: skip


def whole(values: Mapping[str, np.ndarray], _: Any) -> dict[str, np.ndarray]:
    """Means of bins to nine digits: at an end of the scale the model keeps chances above 1e-12.

    Without it a mean of exactly 1 lies below draws of 1 + 1e-11, which are the same number.
    """
    return {"bin_mean": np.round(values["bin_mean"], 9)}


def scores_of(counted: Mapping[float, np.ndarray], **about: Any) -> scores.Scores:
    """Scores from the number of items of each bin, by truth (nan: no label)."""
    rows = [(v, y, n) for y, each in counted.items() for v, n in enumerate(each) if n]
    score, truth, n = zip(*rows, strict=True)
    edges = tuple(np.arange(1, BINS) - 0.5)
    return scores.Scores(score, truth, n, scale=(0, BINS - 1), edges=edges, **about)


def draw_scores(truths: Mapping[str, Any], rng: np.random.Generator) -> scores.Scores:
    """Draw 150 items, and 60 labelled ones of the same kind."""
    shares, good = truths["bin_share"], rng.binomial(60, truths["prevalence"])
    passed = rng.binomial(150, truths["prevalence"])
    test = rng.multinomial(passed, shares[1]) + rng.multinomial(150 - passed, shares[0])
    seen = {1.0: rng.multinomial(good, shares[1]), 0.0: rng.multinomial(60 - good, shares[0])}
    return scores_of({np.nan: test, **seen}, calibration="random")


def draw_by_score(truths: Mapping[str, Any], rng: np.random.Generator) -> scores.Scores:
    """Draw 200 items, at most 12 of each bin labelled."""
    seen = rng.multinomial(200, truths["cell_share"])
    labels = np.minimum(seen, 12)
    good = rng.binomial(labels, truths["pass_share"])
    counted = {np.nan: seen - labels, 1.0: good, 0.0: labels - good}
    return scores_of(counted, calibration="by_verdict")


def draw_numbers(truths: Mapping[str, Any], rng: np.random.Generator) -> scores.Scores:
    """Draw 150 items, and 50 labelled ones with a whole number from 1 to 5."""
    test, labels = (rng.multinomial(n, truths["cell_share"]) for n in (150, 50))
    pairs = zip(labels, truths["chances"], strict=True)
    given = np.array([rng.multinomial(n, p) for n, p in pairs])
    numbers = {float(y): given[:, i] for i, y in enumerate(range(1, LEVELS + 1))}
    about: dict[str, Any] = {"calibration": "random", "truth_scale": (1, LEVELS)}
    return scores_of({np.nan: test, **numbers}, **about)


# Classes -----------------------------------------------------------------------------------------


def draw_confusions(rng: np.random.Generator) -> dict[str, Any]:
    """Draw shares and confusions of two systems."""
    size = len(CLASSES)
    weights = np.full((size, size), CONFUSIONS.wrong / (size - 1))
    np.fill_diagonal(weights, CONFUSIONS.right)
    return {
        "prevalence": rng.dirichlet(np.full(size, CONFUSIONS.share_concentration / size), 2),
        "confusion": np.array([[rng.dirichlet(row) for row in weights] for _ in range(2)]),
    }


def draw_table(truths: Mapping[str, Any], rng: np.random.Generator) -> classes.ClassCounts:
    """Draw 150 items of each system and 45 labelled ones at random."""
    test, labelled = [], []
    for shares, rows in zip(truths["prevalence"], truths["confusion"], strict=True):
        each, known = rng.multinomial(150, shares), rng.multinomial(45, shares)
        test.append(sum(rng.multinomial(n, row) for n, row in zip(each, rows, strict=True)))
        labelled.append([rng.multinomial(n, row) for n, row in zip(known, rows, strict=True)])
    return classes.ClassCounts(
        np.array(test), np.array(labelled), CLASSES, "random", systems=("x", "y")
    )


def draw_predictive(rng: np.random.Generator) -> dict[str, Any]:
    """Draw verdicts' shares, and the classes' shares given each."""
    size = len(CLASSES)
    verdicts = rng.dirichlet(np.full(size, PREDICTIVE.verdict_concentration / size))
    given = rng.dirichlet(np.full(size, PREDICTIVE.class_concentration / size), size)
    return {"verdict_share": verdicts, "class_share": given, "prevalence": verdicts @ given}


def draw_by_verdict(truths: Mapping[str, Any], rng: np.random.Generator) -> classes.ClassCounts:
    """Draw 200 items, at most 20 of each verdict labelled."""
    seen = rng.multinomial(200, truths["verdict_share"])
    labels = np.minimum(seen, 20)
    known = [rng.multinomial(n, p) for n, p in zip(labels, truths["class_share"], strict=True)]
    return classes.ClassCounts(seen - labels, np.array(known).T, CLASSES, "by_verdict")


# Studies -----------------------------------------------------------------------------------------


def _nuts(module: Any, model: Any, quantities: tuple[str, ...], **how: Any) -> lab.Nuts:
    small = {"draws": 400, "tune": 400, "chains": 1, "min_ess": 40, **how}
    return lab.Nuts(module.build_model, model, quantities, **small)


def _of_items(systems: int, effects: tuple[str, ...], draw: Any) -> Any:
    spreads = tuple(f"{name}_spread" for name in effects)
    return {
        "posterior": _nuts(items, EFFECTS, (*RATES, *spreads)),
        "draw_prior": partial(draw_effects, systems=systems, effects=effects),
        "draw_data": draw,
    }


ALL = ("difficulty", "leniency", "interaction")
STUDIES: dict[str, dict[str, Any]] = {
    "outputs": _of_items(2, ALL, partial(draw_items, n=30, repeats=2, labelled=15)),
    "verdicts": _of_items(2, ALL, partial(draw_items, n=30, repeats=3, labelled=15, of="judge")),
    "pairs": _of_items(3, ALL[:2], partial(draw_items, n=40, repeats=1, labelled=25, rows=True)),
    "by_truth": _of_items(1, ALL[:2], draw_by_truth),
    "score_given_truth": {
        "posterior": _nuts(scores, GIVEN_TRUTH, ("prevalence", "bin_share")),
        "draw_prior": draw_given_truth,
        "draw_data": draw_scores,
    },
    "truth_given_score": {
        "posterior": _nuts(scores, GIVEN_SCORE, ("prevalence", "pass_share", "cell_share")),
        "draw_prior": draw_given_score,
        "draw_data": draw_by_score,
    },
    "rising": {
        "posterior": _nuts(
            scores,
            RISING,
            ("mean_score", "location", "typical_spread", "bin_spread", "bin_mean"),
            **RISING.sampling,
        ),
        "draw_prior": draw_rising,
        "draw_data": draw_numbers,
        "also": whole,
    },
    "confusions": {
        "posterior": _nuts(classes, CONFUSIONS, ("prevalence", "confusion")),
        "draw_prior": draw_confusions,
        "draw_data": draw_table,
    },
    "predictive": {
        "posterior": _nuts(classes, PREDICTIVE, ("prevalence", "verdict_share", "class_share")),
        "draw_prior": draw_predictive,
        "draw_data": draw_by_verdict,
    },
}


def study_of(name: str, simulations: int, **how: Any) -> lab.RankStudy:
    """Run, or continue, one study."""
    study = dict(STUDIES[name])
    return lab.sbc(
        study.pop("posterior"),
        **study,
        simulations=simulations,
        retained=39,
        random_seed=SEED + list(STUDIES).index(name),  # truths of its own for each study
        path=RESULTS / f"sbc_items_{name}.jsonl",
        **how,
    )


def tested(name: str, study: lab.RankStudy) -> None:
    """Write the tests of one study beside those of the others, and show them."""
    path = RESULTS / "sbc_items.csv"
    table = study.uniformity().reset_index()
    table.insert(0, "study", name)
    if path.exists():
        others = pd.read_csv(path)
        table = pd.concat([others[others["study"] != name], table])
    table.to_csv(path, index=False, float_format="%.4g")
    table = table[table["study"] == name]
    once = study.table.drop_duplicates("simulation")
    print(table.round(4).to_string(index=False))
    print(
        f"{name}: {len(once)} simulations, {once['seconds'].median():.2f} s each (median), "
        f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--only", default=",".join(STUDIES), help="studies, with commas")
    parser.add_argument("--turn", type=int, default=500, help="simulations before the next study")
    parser.add_argument("--seconds", type=float, help="CPU seconds after which no turn begins")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    for end in range(asked.turn, asked.simulations + asked.turn, asked.turn):
        for name in asked.only.split(","):
            if asked.seconds and time.process_time() > asked.seconds:
                return
            resume = not (asked.fresh and end == asked.turn)
            simulations = min(end, asked.simulations)
            tested(name, study_of(name, simulations, workers=asked.workers, resume=resume))
    print(f"{time.process_time():.0f} CPU s")


if __name__ == "__main__":
    main()
