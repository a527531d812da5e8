"""Is the posterior of attempts calibrated? Simulation-based calibration without a sampler.

    python benchmarks/attempts/sbc.py                      # 40 simulations, one agent
    python benchmarks/attempts/sbc.py --simulations 200 \
        --output benchmarks/attempts/results/sbc.csv
    python benchmarks/attempts/sbc.py --agents 2 --simulations 60 \
        --output benchmarks/attempts/results/sbc_two.csv
    python benchmarks/attempts/sbc.py --unparsed --simulations 80 \
        --output benchmarks/attempts/results/sbc_unparsed.csv
    python benchmarks/attempts/sbc.py --people --simulations 80 \
        --output benchmarks/attempts/results/sbc_people.csv

Truths are drawn from the priors (rates of a judge better than chance), tables from `simulate`, 30
tasks of four attempts, 50 labels an agent, and ranked among 99 draws of `exact`. Two agents share
the difficulty of tasks and the judge's rates. Tests are those of `bayesjudge.lab`, adjusted by
Holm.

Quick: ``--simulations 2``

Found: of one agent (200 simulations) ranks of all seven unknowns are uniform (least p .12, .86
adjusted; spread of the ranks .97 to 1.06), of two agents (60 simulations) those of all eight (least
p .10, .78 adjusted; .96 to 1.12), with attempts without a verdict as a third verdict (80
simulations) those of all nine (least p .18; .91 to 1.04), and with labels of two people who err (80
simulations) those of all nine (least p .13; .94 to 1.05).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import bayesjudge as bj
from bayesjudge import attempts as module
from bayesjudge.attempts import Attempts
from bayesjudge.lab.uniformity import holm, p_value

RETAINED = 99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("--agents", type=int, nargs="+", default=[1])
    parser.add_argument("--unparsed", action="store_true", help="attempts without a verdict too")
    parser.add_argument("--people", action="store_true", help="labels of two people who err")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    for agents in arguments.agents:
        rng = np.random.default_rng([39, agents])
        ranks: dict[str, list[int]] = {}
        for _ in range(arguments.simulations):
            for name, rank in of_one(agents, arguments.unparsed, arguments.people, rng).items():
                ranks.setdefault(name, []).append(rank)
        for name, found in ranks.items():
            scaled = (np.array(found) + 0.5) / (RETAINED + 1)
            rows.append({"agents": agents, "unknown": name, "simulations": len(found),
                         "mean": scaled.mean(), "sd": scaled.std() * np.sqrt(12),
                         "p": p_value(np.array(found), RETAINED)})  # fmt: skip
    table = pd.DataFrame(rows)
    table["p_adjusted"] = holm(table["p"].to_numpy())
    table = table.round(4)
    print(table.to_string(index=False))
    if arguments.output:
        table.to_csv(arguments.output, index=False)


def of_one(agents: int, unparsed: bool, people: bool, rng: np.random.Generator) -> dict[str, int]:
    """Ranks of one simulation, by unknown; of agents, and of people, those of the first."""
    names = ("task_correlation", "always", "never", "persistence", "shared_difficulty")
    truth = {name: rng.random() for name in names}
    prevalence = rng.random(agents)
    rates = rng.random(2)
    while rates.sum() <= 1:
        rates = rng.random(2)
    truth |= {"sensitivity": rates[0], "specificity": rates[1]}
    lost = rng.beta(1, 4, 2) if unparsed else (0.0, 0.0)
    right = rng.beta(20, 2, (2, 2))  # person, and good or bad
    about = {"tasks": 30, "labels": 50, "unparsed": lost, "random_seed": rng}
    if people:
        about["errors"] = [(1 - hit, 1 - fail) for hit, fail in right]
    table = module.simulate(**truth, prevalence=prevalence, **about)
    truth |= {"unparsed_good": lost[0], "unparsed_bad": lost[1]}
    truth |= {"person_sensitivity": right[0, 0], "person_specificity": right[0, 1]}
    how = {"calibration": "random", "unparsed": "verdict" if unparsed else None, "k": (1, 4)}
    names = ["ann1", "ann2"] if people else "truth"
    data = Attempts.from_frame(table, by="system", truth=names, **how)
    model = module.PersistentErrors(pooling="full", unparsed=bj.BetaPrior(1, 4))
    posterior = module.exact(data, model)
    draws = {n: v if v.ndim == 1 else v[:, 0] for n, v in posterior.values.items()}
    truth["prevalence"] = prevalence[0]
    ranks = {}
    for name, values in draws.items():
        thinned = rng.choice(values, RETAINED, replace=False)
        ranks[name] = int((thinned < truth[name]).sum())
    return ranks


if __name__ == "__main__":
    main()
