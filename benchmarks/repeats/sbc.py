"""Is the hierarchical model of repeated scores calibrated? Simulation-based calibration.

    python benchmarks/repeats/sbc.py                      # 200 simulations, minutes
    python benchmarks/repeats/sbc.py --simulations 1000   # continues the last run
    python benchmarks/repeats/sbc.py --cutpoints by_judge # the model with judges' own cutpoints

Truths are drawn from the priors, three effects and all, by NumPy: the model's own random draws are
not used. Four items, three judges, three repeats on a scale of four values. Writes to
benchmarks/repeats/results: ``sbc.jsonl`` (every rank), ``sbc.csv`` (tests) and ``.png``;
``sbc_cutpoints.*`` for judges' own cutpoints.

Quick: ``--simulations 2 --workers 1``

The judges' standard deviation seems to lean over the first 150 truths (p = .02 of 13 tests,
unadjusted), as it did over the first 120 with the likelihood before (p = .03): over 500 it was
uniform.

Found: ranks of all 13 unknowns are uniform over 150 simulations (least adjusted p .26; spread of
the ranks .91 to 1.06), and those of all 23 with judges' own cutpoints over 500, which were run
before repeats and levels went into one likelihood (least adjusted p .57).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from bayesjudge import lab, repeats
from bayesjudge.repeats import components

RESULTS = Path(__file__).parent / "results"
SCALE = np.arange(1.0, 5.0)
ITEMS, JUDGES, REPEATS = 4, 3, 3
PRIORS = {"concentration": 2.0, "item_scale": 2.0, "judge_scale": 1.0, "item_judge_scale": 0.7}
SHARED = repeats.CumulativeLogit(**PRIORS)
BY_JUDGE = repeats.JudgeCutpoints(**PRIORS)
#: Nodes for the truths of judges' own cutpoints: many more than the model has, and others.
TRUE_NODES = 1024
QUANTITIES = (
    *("mean_score", "item_score", "item_sd", "judge_sd", "item_judge_sd", "repeat_sd"),
    *("effective_repeats", "item_scale", "judge_scale", "item_judge_scale"),
)


def draw_prior(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw shares, standard deviations and effects, and translate them to the scale."""
    share = rng.dirichlet(np.full(len(SCALE), SHARED.concentration))
    sds = {
        name: abs(rng.normal(0, getattr(BY_JUDGE, name)))
        for name in ("item_scale", "judge_scale", "item_judge_scale")
    }
    a = rng.normal(0, sds["item_scale"], ITEMS)
    b = rng.normal(0, sds["judge_scale"], JUDGES)
    c = rng.normal(0, sds["item_judge_scale"], (ITEMS, JUDGES))
    # the shares are those of the average of the items and judges at hand
    cuts = components.cutpoints(share) + a.mean() + b.mean()
    z, weight = components.grid(201)
    among_judges = np.hypot(sds["judge_scale"], sds["item_judge_scale"])
    effects = components.Effects(*sds.values())
    latent = a[:, None] + among_judges * z
    of_items = components.expected(latent, cuts, SCALE, effects) @ weight
    above = 1 / (1 + np.exp(cuts))
    at_centre = -np.diff(np.concatenate([[1.0], above, [0.0]]))
    found = repeats.score_components(at_centre / at_centre.sum(), scale=SCALE, **sds)
    between = found["judge_sd"] ** 2 + found["item_judge_sd"] ** 2
    rho = between / (between + found["repeat_sd"] ** 2)
    truths = {
        **found,
        **sds,
        "item_score": of_items,
        "effective_repeats": JUDGES * REPEATS / (1 + (REPEATS - 1) * rho),
        "eta": a[:, None] + b + c,
        "cuts": cuts,
    }
    return {name: np.asarray(value) for name, value in truths.items()}


def draw_prior_by_judge(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw cutpoints of each judge, too."""
    share = rng.dirichlet(np.full(len(SCALE), SHARED.concentration))
    names = ("item_scale", "judge_scale", "item_judge_scale", "cutpoint_scale")
    sds = {name: abs(rng.normal(0, getattr(BY_JUDGE, name))) for name in names}
    a = rng.normal(0, sds["item_scale"], ITEMS)
    b = rng.normal(0, sds["judge_scale"], JUDGES)
    c = rng.normal(0, sds["item_judge_scale"], (ITEMS, JUDGES))
    s = rng.normal(0, sds["cutpoint_scale"], (JUDGES, len(SCALE) - 2))
    # the shares are those of the average of the items and judges at hand
    shift, stretch = a.mean() + b.mean(), s.mean(axis=0)
    cuts = components.cutpoints(share)
    three = tuple(sds[name] for name in names[:3])
    nodes = components.judge_nodes(TRUE_NODES, len(SCALE) - 1)
    away = sds["cutpoint_scale"] * nodes[:, 1:] - stretch
    all_cuts = shift + components.stretched(cuts, away)
    effects = components.Effects(*three)
    found = components.components(all_cuts, SCALE, effects, nodes[:, 0], nodes=101)
    among_judges = np.hypot(sds["judge_scale"], sds["item_judge_scale"]) * nodes[:, 0]
    latent = a[:, None] + among_judges
    of_items = components.expected(latent, all_cuts, SCALE, effects).mean(axis=1)
    between = found["judge_sd"] ** 2 + found["item_judge_sd"] ** 2
    rho = between / (between + found["repeat_sd"] ** 2)
    own = components.stretched(cuts, s - stretch)
    truths = {
        **found,
        **sds,
        "item_score": of_items,
        "effective_repeats": JUDGES * REPEATS / (1 + (REPEATS - 1) * rho),
        "judge_cutpoint": own - (b - b.mean())[:, None],
        "eta": a[:, None] + b + c,
        "cuts": (own + shift)[:, None, :],
    }
    return {name: np.asarray(value) for name, value in truths.items()}


def draw_data(truths: dict[str, np.ndarray], rng: np.random.Generator) -> repeats.Scores:
    """Answers by comparing latent values with cutpoints."""
    noise = rng.logistic(size=(ITEMS, JUDGES, REPEATS))
    latent = truths["eta"][..., None] + noise
    at = (latent[..., None] > truths["cuts"]).sum(axis=-1)
    counts = (at[..., None] == np.arange(len(SCALE))).sum(axis=2)
    names = {"items": [f"i{k}" for k in range(ITEMS)], "judges": [f"j{k}" for k in range(JUDGES)]}
    return repeats.Scores(counts, scale=SCALE, **names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--cutpoints", choices=["shared", "by_judge"], default="shared")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    begin = time.perf_counter()
    shared = asked.cutpoints == "shared"
    posterior = lab.Nuts(repeats.build_model, SHARED, QUANTITIES)
    if not shared:
        posterior = replace(
            posterior,
            quantities=(*QUANTITIES, "cutpoint_scale", "judge_cutpoint"),
            model=BY_JUDGE,
            target_accept=0.95,
        )
    name = "sbc" if shared else "sbc_cutpoints"
    study = lab.sbc(
        posterior,
        draw_prior=draw_prior if shared else draw_prior_by_judge,
        draw_data=draw_data,
        simulations=asked.simulations,
        random_seed=20_256,
        path=RESULTS / f"{name}.jsonl",
        workers=asked.workers,
        resume=not asked.fresh,
    )
    table = study.uniformity()
    table.to_csv(RESULTS / f"{name}.csv", float_format="%.4g")
    ax = lab.plot_ranks(study, ax=plt.subplots(figsize=(8, 5), layout="constrained")[1])
    ax.figure.savefig(RESULTS / f"{name}.png", dpi=110)
    once = study.table.drop_duplicates("simulation")
    print(
        f"{len(once)} simulations, {time.perf_counter() - begin:.0f} s now, "
        f"{once['seconds'].median():.2f} s a simulation (median), "
        f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition"
    )
    print(table.round(4).to_string())


if __name__ == "__main__":
    main()
