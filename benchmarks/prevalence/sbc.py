"""Is the prevalence model calibrated under each label design? Simulation-based calibration.

    python benchmarks/prevalence/sbc.py                     # 500 simulations a study, minutes
    python benchmarks/prevalence/sbc.py --simulations 2000  # continues where the last run ended

One study for each way of choosing the labels, with the judge better than chance and without.
Truths are drawn from the priors, tables of 300 items and 60 labels from `simulate`, and each table
goes through `Counts.from_frame` and the model as a user's would. Writes to
benchmarks/prevalence/results: ``sbc_STUDY.jsonl`` (every rank), ``sbc.csv`` (the tests) and
``sbc.png``.

Quick: ``--simulations 2 --workers 1``

Found: ranks of all 26 unknowns of the six studies are uniform over 500 simulations (least adjusted
p .011, the threshold being .01; spread of the ranks .96 to 1.03).
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
from scipy.special import xlog1py, xlogy

from bayesjudge import BetaPrior, lab, prevalence

RESULTS = Path(__file__).parent / "results"
SEED = 20_251
RATES = ("prevalence", "sensitivity", "specificity")
VALUES = ("prevalence", "pass_rate", "ppv", "npv")
#: Not flat, so that a wrong exponent of a prior shows.
PRIORS = (BetaPrior(2, 1.5), BetaPrior(4, 2), BetaPrior(3, 2))
#: How labels are chosen; each with the judge better than chance, as is the default, and without.
MODELS = {
    "random": prevalence.ErrorRates,
    "by_truth": prevalence.ErrorRates,
    "by_verdict": prevalence.PredictiveValues,
}
DESIGNS = {
    f"{calibration}_{name}": (calibration, model(*PRIORS, better_than_chance=restricted))
    for name, restricted in (("better_than_chance", True), ("any_judge", False))
    for calibration, model in MODELS.items()
}


def draw_prior(
    rng: np.random.Generator, *, better_than_chance: bool, names: tuple[str, str, str] = RATES
) -> dict[str, float]:
    """Draw the three unknowns; if asked, again until the judge is better than chance."""
    while True:
        first, second, third = (rng.beta(*prior) for prior in PRIORS)
        if not better_than_chance or second + third > 1:
            return dict(zip(names, (first, second, third), strict=True))


def draw_by_verdict(rng: np.random.Generator, *, better_than_chance: bool) -> dict[str, float]:
    """Draw pass rate, ppv and npv, of which the simulator's rates are functions."""
    names = ("pass_rate", "ppv", "npv")
    truths = draw_prior(rng, better_than_chance=better_than_chance, names=names)
    rate, ppv, npv = truths.values()
    share = rate * ppv + (1 - rate) * (1 - npv)
    hits, rejections = rate * ppv / share, (1 - rate) * npv / (1 - share)
    return {**truths, "prevalence": share, "sensitivity": hits, "specificity": rejections}


def log_likelihood(
    values: Mapping[str, np.ndarray], counts: prevalence.Counts
) -> dict[str, np.ndarray]:
    """Write the likelihood out by hand: its ranks tie the posterior to the data."""
    if counts.calibration == "by_verdict":
        passed, items = counts.labelled_pass, counts.test_n + counts.labelled_n
        rates = [(values["pass_rate"], counts.test_pass + passed, items)]
        rates.append((values["ppv"], counts.correct_pass, passed))
        rates.append((values["npv"], counts.incorrect_fail, counts.labelled_n - passed))
    else:
        good, hit, miss = (values[name] for name in RATES)
        rate = good * hit + (1 - good) * (1 - miss)
        rates = [(rate, counts.test_pass, counts.test_n)]
        rates.append((hit, counts.correct_pass, counts.correct_n))
        rates.append((miss, counts.incorrect_fail, counts.incorrect_n))
        if counts.calibration == "random":
            rates.append((good, counts.correct_n, counts.labelled_n))
    return {"log_likelihood": sum(xlogy(k, p) + xlog1py(n - k, -p) for p, k, n in rates)}


def study_of(design: str, simulations: int, **how: Any) -> lab.RankStudy:
    """Run, or continue, the study of one design."""
    calibration, model = DESIGNS[design]
    fixed = {"items": 300, "labelled": 60, "calibration": calibration}
    by_verdict = calibration == "by_verdict"
    draw, quantities = (draw_by_verdict, VALUES) if by_verdict else (draw_prior, RATES)
    return lab.sbc(
        lab.Nuts(prevalence.build_model, model, quantities),
        draw_prior=partial(draw, better_than_chance=model.better_than_chance),
        draw_data=lab.Simulated(
            prevalence.simulate,
            partial(prevalence.Counts.from_frame, calibration=calibration),
            fixed=fixed,
            names=RATES,
        ),
        also=log_likelihood,
        simulations=simulations,
        random_seed=SEED + list(DESIGNS).index(design),  # truths of its own for each study
        path=RESULTS / f"sbc_{design}.jsonl",
        **how,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    tables, figure = [], plt.figure(figsize=(14, 7), layout="constrained")
    for i, design in enumerate(DESIGNS):
        begin = time.perf_counter()
        study = study_of(design, asked.simulations, workers=asked.workers, resume=not asked.fresh)
        ax = lab.plot_ranks(study, ax=figure.add_subplot(2, 3, i + 1))
        ax.set_title(design.replace("_", " "), loc="left")
        once = study.table.drop_duplicates("simulation")
        table = study.uniformity().reset_index()
        table.insert(0, "study", design)
        tables.append(table)
        print(
            f"{design}: {len(once)} simulations, {time.perf_counter() - begin:.0f} s now, "
            f"{once['seconds'].median():.3f} s a simulation (median), "
            f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition"
        )
    table = pd.concat(tables)
    table.to_csv(RESULTS / "sbc.csv", index=False, float_format="%.4g")
    figure.savefig(RESULTS / "sbc.png", dpi=110)
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
