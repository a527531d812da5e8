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

Found: on PandaLM, with 50, 100 and 200 of people's verdicts, the model is off by 39, 28 and 21
points (root mean square, ± 1.9, .8 and .7; judge gpt35) where people only are off by 82, 49 and 32
and prediction-powered by 70, 42 and 28; it holds .99 (± .004), its intervals are 195, 145 and 107
points wide against 318, 207 and 141, and with the judge pandalm7b (50 and 100) it holds .98 (±
.005). At 100 verdicts it is worth 3.0 (2.5) times the labels, prediction-powered 1.4 (1.3) times.
Simulated (100 worlds a kind: ``--every --draws 200``), 50, 100 and 200 verdicts: off by 63, 53 and
42 points with two favourites, 48, 38 and 29 with an order effect, 45, 37 and 30 of a perfect judge,
61, 51 and 39 with likings of its own, where people only are off by 104, 65 and 45; of no use 72, 61
and 40 against 104, 72 and 43. It holds .92 to 1.00 (± .014) of strengths, but with two favourites
.95, .93 and .90 (people only .98, .95 and .95), and leads .91 to 1.00, but with two favourites .95,
.90 and .91 (± .02): fixed favourites are no draws of the model's likings. Systems given .9 to .98
of being first (.941) are so in .941 (± .016), of those given .7 to .9 (.79) .84 (± .02).
ranks.py has more worlds.
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


def stored(rows: list[dict], firsts: list[dict], write: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Averages of what has been run, and whether those called first are; written if asked.

    Rows of other data stay in the files.
    """
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
    first["of"] = np.where(first["data"].str.startswith("PandaLM"), "PandaLM", "simulated")
    cuts = [-1, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1]
    first["stated"] = pd.cut(first["chance"], cuts).astype(str)
    called = first.groupby(["of", "stated"]).agg(
        chance=("chance", "mean"), right=("right", "mean"), n=("right", "size")
    )
    called["error"] = np.sqrt(called["right"] * (1 - called["right"]) / called["n"])
    tables = made, called.round(4)
    for table, name in zip(tables, ("people_held.csv", "people_held_first.csv"), strict=True):
        if write:
            before = pd.read_csv(RESULTS / name).set_index(table.index.names)
            rest = before[~before.index.isin(table.index)]
            pd.concat([table, rest]).to_csv(RESULTS / name)
    return tables


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--every", action="store_true", help="all sizes of simulated worlds")
    parser.add_argument("--worlds", nargs="*", choices=WORLDS, default=WORLDS)
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
                stored(rows, firsts, asked.draws >= 20)
    for name in asked.worlds:
        for size in SIZES if asked.every else SIZES[1:2]:
            for seed in range(-(-asked.draws // 2)):
                table, truth = world(WORLDS[name], size, np.random.default_rng(1000 + seed))
                run(name, size, leaderboard.Battles.from_frame(table, people="human"), truth, seed)
            stored(rows, firsts, asked.draws >= 20)
    for table in stored(rows, firsts, False):
        print(table.to_string())


if __name__ == "__main__":
    main()
