"""Is the hierarchical model of shifts calibrated? Simulation-based calibration with NUTS.

    python benchmarks/bias/sbc.py                     # 500 simulations a study, half an hour
    python benchmarks/bias/sbc.py --simulations 1000  # continues the last run

Two studies: one judge with two perturbations (no pooling), and two judges with three perturbations
(everything pooled). Truths are drawn from the priors, tables from `simulate`, unrounded, and each
table goes through `Shifts.from_frame` and the model as a user's would. Writes to
benchmarks/bias/results: ``sbc_STUDY.jsonl`` (every rank), ``sbc.csv`` (the tests) and
``sbc.png``.

Quick: ``--simulations 2 --workers 1 --only one_judge``

Found: ranks of all 29 unknowns of the two studies are uniform over 500 simulations (least adjusted
p 1; spread of the ranks .96 to 1.03).
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

from bayesjudge import bias, lab

RESULTS = Path(__file__).parent / "results"
SEED = 20_261
#: Far ends, so that no score is cut; the priors' unit is given in points instead.
SCALE = (-10_000.0, 10_000.0)
MODEL = bias.NormalShifts(unit=100.0)
PARTS = ("mean_shift", "item_spread", "repeat_noise", "rms_shift")
STUDIES = {
    "one_judge": (("a",), ("format", "order")),
    "two_judges": (("a", "b"), ("format", "length", "order")),
}


def table_of(
    truths: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    judges: tuple[str, ...],
    perturbations: tuple[str, ...],
) -> bias.Shifts:
    """Draw one judge after the other, since each has shifts and noise of its own."""
    size = (len(judges), len(perturbations))
    mean, spread = (np.reshape(truths[name], size) for name in ("mean_shift", "item_spread"))
    noise = np.atleast_1d(truths["repeat_noise"]) / np.sqrt(2)
    tables = [
        bias.simulate(
            mean_shift=mean[j],
            item_spread=spread[j],
            noise=float(noise[j]),
            perturbations=perturbations,
            items=25,
            scale=SCALE,
            step=None,
            judges=[judge],
            random_seed=rng,
        )
        for j, judge in enumerate(judges)
    ]
    about = {"scale": SCALE, "design": "item", "rerun": "rerun", "judge": "judge"}
    return bias.Shifts.from_frame(pd.concat(tables), **about)


def log_likelihood(values: Mapping[str, np.ndarray], shifts: bias.Shifts) -> dict[str, np.ndarray]:
    """Write the likelihood out by hand: its ranks tie the posterior to the data."""
    judges, items, variants = shifts.counts.shape
    draws = len(values["mean_shift"])
    mean = values["mean_shift"].reshape(draws, judges, variants - 1)
    spread = values["item_spread"].reshape(mean.shape)
    variance = values["repeat_noise"].reshape(draws, judges) ** 2 / 2
    total = np.zeros(draws)
    for j in range(judges):
        difference = shifts.means[j, :, 1:] - shifts.means[j, :, :1]
        for d in range(draws):
            own = spread[d, j] ** 2 + variance[d, j]
            covariance = np.diag(own) + variance[d, j] / 2  # the baseline was judged twice
            off = difference - mean[d, j]
            square = np.einsum("iv,vw,iw->", off, np.linalg.inv(covariance), off)
            total[d] -= (items * np.linalg.slogdet(covariance)[1] + square) / 2
        total -= shifts.freedom[j] / 2 * np.log(variance[:, j])
        total -= shifts.squares[j] / (2 * variance[:, j])
    return {"log_likelihood": total}


def study_of(name: str, simulations: int, **how: Any) -> lab.RankStudy:
    """Run, or continue, one study."""
    judges, perturbations = STUDIES[name]
    draw_data = partial(table_of, judges=judges, perturbations=perturbations)
    zeros = np.zeros((len(judges), len(perturbations)))
    some = {"mean_shift": zeros, "item_spread": zeros + 1, "repeat_noise": np.ones(len(judges))}
    template = draw_data(some, np.random.default_rng(0))
    return lab.sbc(
        lab.Nuts(bias.build_model, MODEL, PARTS, target_accept=0.95),
        draw_prior=lab.PriorDraws(bias.build_model, template, MODEL, PARTS),
        draw_data=draw_data,
        also=log_likelihood,
        simulations=simulations,
        random_seed=SEED,
        path=RESULTS / f"sbc_{name}.jsonl",
        **how,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--only", nargs="*", default=list(STUDIES), choices=list(STUDIES))
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    tables, figure = [], plt.figure(figsize=(13, 6.5), layout="constrained")
    for i, name in enumerate(asked.only):
        begin = time.perf_counter()
        study = study_of(name, asked.simulations, workers=asked.workers, resume=not asked.fresh)
        ax = lab.plot_ranks(study, ax=figure.add_subplot(1, 2, i + 1))
        ax.set_title(name.replace("_", " "), loc="left")
        ax.get_legend().remove()  # too many names to lie over the lines
        lines, names = ax.get_legend_handles_labels()
        side = ("outside lower left", "outside lower right")[i]
        figure.legend(lines, names, loc=side, ncols=(2, 4)[i], frameon=False, fontsize="x-small")
        once = study.table.drop_duplicates("simulation")
        table = study.uniformity().reset_index()
        table.insert(0, "study", name)
        tables.append(table)
        print(
            f"{name}: {len(once)} simulations, {time.perf_counter() - begin:.0f} s now, "
            f"{once['seconds'].median():.3f} s a simulation (median), "
            f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition"
        )
    table = pd.concat(tables)
    table.to_csv(RESULTS / "sbc.csv", index=False, float_format="%.4g")
    figure.savefig(RESULTS / "sbc.png", dpi=110)
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
