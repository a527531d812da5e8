"""Is the model of battles calibrated, sampled at once? Simulation-based calibration.

    python benchmarks/leaderboard/sbc.py                      # 60 simulations, seconds
    python benchmarks/leaderboard/sbc.py --simulations 400    # a minute

Truths are drawn from the priors by NumPy, written out here: strengths of a judge and of people of
four systems, sharpness, scales, ties and the order effect. Each pair has 15 battles by the judge in
either order, a third of which people judge too. Posteriors are those of `approximate`. Writes
``results/sbc.csv``.

Quick: ``--simulations 4``

Found: ranks of all 14 unknowns are uniform over 240 simulations (least adjusted p .18, of the scale
of likings, whose ranks spread .90 ± .03 times as far as they should, though its mean and standard
deviation are those of weighted prior draws within 1 %; the sharpness 1.03, where a step of its own
reaches small values; the others .95 to 1.06).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from bayesjudge import lab, leaderboard
from bayesjudge.leaderboard.likelihood import chances

RESULTS = Path(__file__).parent / "results"
SYSTEMS, EACH = 4, 15
NAMES = tuple(f"s{i}" for i in range(SYSTEMS))
QUANTITIES = ("strength", "judge_favour", "sharpness", "liking_scale", "judge_scale",
              "order_effect", "people_tie", "judge_tie_judge")  # fmt: skip


def draw_prior(rng: np.random.Generator, systems: int = SYSTEMS) -> dict[str, np.ndarray]:
    """Draw every unknown."""
    spread = abs(rng.normal(0, 2))
    judge = rng.normal(0, spread, systems)
    sharpness, scale = abs(rng.normal()), rng.rayleigh(0.3)
    people = sharpness * judge + scale * rng.standard_t(4, systems)
    centred = people - people.mean()
    return {
        "people": people,
        "judge": judge,
        "strength": centred,
        "judge_favour": (sharpness * (judge - judge.mean()) - centred)[None],
        "sharpness": np.array([sharpness]),
        "liking_scale": np.array(scale),
        "judge_scale": np.array([spread]),
        "order_effect": rng.normal(0, 0.5, 1),
        "people_tie": np.exp(rng.normal(-1, 1)),
        "judge_tie_judge": np.exp(rng.normal(-1, 1)),
    }


def draw_data(truths: dict[str, np.ndarray], rng: np.random.Generator) -> leaderboard.Battles:
    """Draw battles of every pair in both orders."""
    a, b = (np.repeat(x, EACH) for x in np.nonzero(~np.eye(SYSTEMS, dtype=bool)))
    ties = np.eye(3)

    def verdicts(level: np.ndarray, shift: float, tie: float) -> np.ndarray:
        share = np.stack(chances(level[a] - level[b] + shift, np.log(tie)), axis=1)
        return ties[(rng.random((len(a), 1)) > share.cumsum(axis=1)).sum(axis=1).clip(0, 2)]

    order = float(truths["order_effect"][0])
    judged = verdicts(truths["judge"], order, float(truths["judge_tie_judge"]))
    people = verdicts(truths["people"], 0.0, float(truths["people_tie"]))
    people[rng.random(len(a)) > 1 / 3] = 0
    if not (judged[:, 1].any() or people[:, 1].any()):  # once in thousands: no tie parameter then
        judged[0] = ties[1]
    return leaderboard.Battles(
        NAMES, ["judge"], a, b, np.ones(len(a), int), judged[:, None], people
    )


def posterior(battles: leaderboard.Battles, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of `approximate`."""
    fit = leaderboard.approximate(battles, draws=4000, random_seed=int(rng.integers(2**31)))
    found = fit.idata["posterior"]
    return {name: found[name].transpose("chain", "draw", ...).to_numpy() for name in QUANTITIES}


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=60)
    asked = parser.parse_args()
    study = lab.sbc(posterior, draw_prior=draw_prior, draw_data=draw_data, random_seed=1,
                    simulations=asked.simulations, workers=1, progress=False)  # fmt: skip
    table = study.uniformity().round(4)
    print(table.to_string())
    if asked.simulations >= 100:
        table.to_csv(RESULTS / "sbc.csv")


if __name__ == "__main__":
    main()
