"""Are people's strengths held, and how much does the judge help? Real battles and simulated worlds.

    python benchmarks/leaderboard/people_held.py --draws 8                    # seconds
    python benchmarks/leaderboard/people_held.py --data ../shared/data        # 200 draws, minutes
    python benchmarks/leaderboard/people_held.py --every --data ../shared/data

PandaLM: 999 battles of five systems, ten pairings, two judges; labels are those of one of three
people, drawn anew for each of so many random battles; the truth is Davidson's maximum of all three
people on all battles. Simulated: six systems, 15 pairings of 60 battles each, strengths drawn from
a normal distribution with standard deviation 0.6; a judge that likes two systems more than people
do (by 1.2 and 0.8), one with an order effect of 0.8, one whose strengths have nothing to do with
people's, one that is a perfect judge of strengths, and one with likings of its own of every size.

Of each method: root mean square error of strengths (Elo points against the average system), width
of 95 % intervals, share of strengths and of leads held, and draws without a finite estimate. Of the
model also how often the system that it calls first is, by the probability that it gives. Writes
``results/people_held.csv`` and ``results/people_held_first.csv``.

Quick: ``--draws 2``

Found: with the half-normal prior of the sharpness 40 draws on PandaLM (gpt35) give errors of 35, 29
and 24 points and .985, .990 and .980 (± .01) held at 50, 100 and 200 of people's verdicts. The rest
is of the log-normal prior before:
on PandaLM, with 50, 100 and 200 of people's verdicts, the model is off by 37, 26 and 21
points (root mean square; judge gpt35) where people only are off by 82, 49 and 32 and prediction-
powered by 70, 42 and 28; it holds .99 to 1.00 (± .003), and with the judge pandalm7b .985 to .989.
At 100 verdicts it is worth 3.4 (2.6) times the labels, prediction-powered 1.4 (1.3) times.
Simulated, 100 verdicts: held .92 to .99 (± .01), people only .94 to .95; least with large
favourites (.923, leads .89 ± .02); an order effect and a perfect judge help as they should (37 and
35 points against 65), and a judge of no use does no harm (62 against 72). The judge's own
intervals hold .15 to .97. Systems called first with a probability of .9 to .98 are first in .989
(± .005).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import InputError, leaderboard

RESULTS = Path(__file__).parent / "results"
ELO = 400 / np.log(10)
SIZES = (50, 100, 200)
PEOPLE = ("annotator1", "annotator2", "annotator3")
WORLDS = {
    "a favourite": {"favours": (0, 1.2, 0, 0, 0.8, 0)},
    "an order effect": {"order_effect": 0.8},
    "of no use": {"useless": True},
    "perfect": {"sharpness": 1.0},
    "likings of its own": {"scatter": 0.5},
}


def pandalm(path: Path, judge: str, labels: int, rng: np.random.Generator) -> pd.DataFrame:
    """Battles with one person's verdict on a random part of them."""
    table = pd.read_csv(path / "pandalm" / "battles.csv.gz")
    said = table[list(PEOPLE)].to_numpy()[np.arange(len(table)), rng.integers(0, 3, len(table))]
    chosen = np.isin(np.arange(len(table)), rng.choice(len(table), labels, replace=False))
    table["human"] = np.where(chosen, said, np.nan)
    return table.rename(columns={"first": "model_a", "second": "model_b", judge: "winner"})


def world(about: dict, labels: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A simulated table, and people's strengths."""
    about = {"favours": (0,) * 6, "order_effect": 0.3, "sharpness": 0.7} | about
    strengths = rng.normal(0, 0.6, 6)
    favours = np.array(about.pop("favours"), float) + about.pop("scatter", 0) * rng.normal(size=6)
    if about.pop("useless", False):
        favours = rng.normal(0, 0.6, 6) - strengths
    table = leaderboard.simulate(strengths=tuple(strengths), favours=tuple(favours), items=60,
                                 labelled=1, random_seed=rng, **about)  # fmt: skip
    chosen = rng.choice(len(table), labels, replace=False)
    table.loc[~table.index.isin(chosen), "human"] = None
    return table, strengths - strengths.mean()


def methods(battles: leaderboard.Battles, seed: int) -> dict[str, object]:
    """Estimates by method; None without a finite one."""
    fit = leaderboard.approximate(battles, draws=1000, random_seed=seed)
    found = {"model": fit.estimate(), "fit": fit}
    formulas = {
        "people only": lambda: leaderboard.davidson(battles, order=False),
        "prediction-powered": lambda: leaderboard.power_tuned(battles),
        "judge alone": lambda: leaderboard.davidson(battles, battles.judges[0]),
    }
    for name, make in formulas.items():
        try:
            found[name] = make()
        except InputError:
            found[name] = None
    return found


def scored(name: str, size: int, found: dict, truth: np.ndarray) -> list[dict]:
    """Errors and whether intervals hold, by method."""
    rows = []
    for method, made in found.items():
        if method == "fit":
            continue
        row = {"data": name, "labels": size, "method": method, "finite": made is not None}
        if made is not None:
            own, gap = made.quantities["strength"], made.quantities["lead"]
            row |= {
                "squares": ELO**2 * float(((own.value - truth) ** 2).mean()),
                "width": ELO * float((own.high - own.low).mean()),
                "held": float(((own.low <= truth) & (truth <= own.high)).mean()),
                "lead_held": float(_lead_held(gap, own.value, truth)),
            }
        rows.append(row)
    return rows


def _lead_held(gap, estimate: np.ndarray, truth: np.ndarray) -> float:
    """Share of contrasts with the estimated first, and of it with the second, that are held."""
    order = np.argsort(-estimate)
    rival = np.where(np.arange(len(truth)) == order[0], order[1], order[0])
    true = truth - truth[rival]
    return ((gap.low <= true) & (true <= gap.high)).mean()


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--every", action="store_true", help="all sizes of simulated worlds")
    asked = parser.parse_args()
    rows, firsts = [], []

    def run(name: str, size: int, battles: leaderboard.Battles, truth: np.ndarray, seed: int):
        found = methods(battles, seed)
        rows.extend(scored(name, size, found, truth))
        strength = found["fit"].draws("strength")
        chances = np.bincount(strength.argmax(axis=1), minlength=len(truth)) / len(strength)
        firsts.extend({"data": name, "labels": size, "chance": p, "right": i == truth.argmax()}
                      for i, p in enumerate(chances))  # fmt: skip

    if asked.data is not None:
        whole = pd.read_csv(asked.data / "pandalm" / "battles.csv.gz")
        every = leaderboard.Battles.from_frame(whole, first="first", second="second", verdict=None,
                                               people=PEOPLE)  # fmt: skip
        truth = leaderboard.davidson(every, order=False).quantities["strength"].value
        for judge in ("gpt35", "pandalm7b"):
            for size in SIZES:
                for seed in range(asked.draws):
                    table = pandalm(asked.data, judge, size, np.random.default_rng(seed))
                    battles = leaderboard.Battles.from_frame(table, people="human",
                                                             missing_value=["garbage"])  # fmt: skip
                    run(f"PandaLM, {judge}", size, battles, truth, seed)
    for name, about in WORLDS.items():
        for size in SIZES if asked.every else SIZES[1:2]:
            for seed in range(-(-asked.draws // 2)):
                table, truth = world(dict(about), size, np.random.default_rng(1000 + seed))
                run(name, size, leaderboard.Battles.from_frame(table, people="human"), truth, seed)
    every = pd.DataFrame(rows)
    by = every.groupby(["data", "labels", "method"], sort=False)
    made = pd.DataFrame({
        "rmse": np.sqrt(by["squares"].mean()),
        "rmse_error": by["squares"].sem() / (2 * np.sqrt(by["squares"].mean())),
        "width": by["width"].mean(),
        "held": by["held"].mean(),
        "held_error": by["held"].sem(),
        "lead_held": by["lead_held"].mean(),
        "lead_held_error": by["lead_held"].sem(),
        "no_estimate": 1 - by["finite"].mean(),
    }).round(4)  # fmt: skip
    first = pd.DataFrame(firsts)
    first["stated"] = pd.cut(first["chance"], [-1, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1])
    called = first.groupby("stated", observed=True).agg(
        chance=("chance", "mean"), right=("right", "mean"), n=("right", "size")
    )
    called["error"] = np.sqrt(called["right"] * (1 - called["right"]) / called["n"])
    print(made.to_string())
    print(called.round(3).to_string())
    if asked.draws >= 50:
        made.to_csv(RESULTS / "people_held.csv")
        called.round(4).to_csv(RESULTS / "people_held_first.csv")


if __name__ == "__main__":
    main()
