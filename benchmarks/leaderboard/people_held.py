"""Are people's strengths held, and how much does the judge help? Real battles and simulated worlds.

    python benchmarks/leaderboard/people_held.py --draws 8                    # seconds
    python benchmarks/leaderboard/people_held.py --data ../shared/data        # 200 draws, minutes
    python benchmarks/leaderboard/people_held.py --every --data ../shared/data
    python benchmarks/leaderboard/people_held.py --priors 200             # of the scale of likings

PandaLM: 999 battles of five systems, ten pairings, two judges; labels are those of one of three
people, drawn anew for each of so many random battles; the truth is Davidson's maximum of all three
people on all battles. Simulated: six systems, 15 pairings of 60 battles each, strengths drawn from
a normal distribution with standard deviation 0.6; a judge that likes two systems more than people
do (by 1.2 and 0.8), one with an order effect of 0.8, one whose strengths have nothing to do with
people's, one that is a perfect judge of strengths, and one with likings of its own of every size.

Of each method: root mean square error of strengths (Elo points against the average system), width
of 95 % intervals, share of strengths and of leads held, and draws without a finite estimate. Of the
model also how often the system that it calls first is, by the probability that it gives. Writes
``results/people_held.csv`` and ``results/people_held_first.csv``; with ``--priors`` what other
priors make of fresh simulated worlds: ``results/people_held_priors.csv``.

Quick: ``--draws 2``

Found: on PandaLM, with 50, 100 and 200 of people's verdicts, the model is off by 40, 31 and 23
points (root mean square, ± 1.7, .8 and .7; judge gpt35) and by 41, 32 and 25 (pandalm7b), where
people only are off by 82, 49 and 32 and prediction-powered by 70, 42 and 28; it holds .99 (± .004;
pandalm7b .98 ± .005) of strengths and .98 to .99 (.96 to .97) of leads, and its intervals are 206,
156 and 115 (201, 152 and 115) points wide against 318, 207 and 141. At 100 verdicts it is worth 2.5
(2.3) times the labels, prediction-powered 1.4 (1.3) times. Priors of the scale of likings in 200
worlds a kind (``--priors 200``), 50, 100 and 200 verdicts: with two favourites Rayleigh(0.3), the
default, holds .952, .933 and .943 (± .008) of strengths and .942, .940 and .953 (± .01) of leads
and is off by 61, 50 and 36 points; half-normal(0.5) holds .941, .920 and .938, and .928, .926 and
.937, and is off by 62, 51 and 37; Rayleigh(0.4) .953, .938 and .950 with 64, 51 and 37. With a
perfect judge they are off by 47, 39 and 29, by 46, 37 and 28, and by 51, 41 and 30 points, and hold
.97 to .98. The slope of who is first on the stated log-odds is, with two favourites, .78, .74 and
.97 (± .07), with the half-normal .72, .69 and .91.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from ranks import scored as scored_draws
from ranks import slope_of, under_priors

from bayesjudge import InputError, leaderboard
from bayesjudge.leaderboard import laplace

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
    with mock.patch.object(laplace, "CHAINS", 40):  # the same draws in less time
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
            kept(table, RESULTS / name)
    return tables


def compare_priors(worlds: int, kinds: Collection[str]) -> None:
    """Score fresh worlds under several priors of the likings; rows of other kinds stay."""
    rows, firsts = [], []
    for name in kinds:
        for size, seed in product(SIZES, range(worlds)):
            table, truth = world(WORLDS[name], size, np.random.default_rng(50_000 + seed))
            battles = leaderboard.Battles.from_frame(table, people="human")
            for about, draws, _ in under_priors(battles, seed, np.random.default_rng(seed)):
                row, chance = scored_draws(draws, truth, levels=())
                about = {"data": name, "labels": size, **about}
                rows.append({**about, **row, "squares": row["rmse"] ** 2})
                firsts.extend({**about, "chance": p, "right": i == truth.argmax()}
                              for i, p in enumerate(chance))  # fmt: skip
    keys = ["data", "labels", "sharpness", "likings"]
    by = pd.DataFrame(rows).astype({"leads_held": float, "held": float}).groupby(keys, sort=False)
    slopes = pd.DataFrame(firsts).groupby(keys, sort=False)[["chance", "right"]].apply(slope_of)
    made = pd.DataFrame({
        "rmse": ELO * np.sqrt(by["squares"].mean()),
        "width": ELO * by["width"].mean(),
        "held": by["held"].mean(),
        "held_error": by["held"].sem(),
        "lead_held": by["leads_held"].mean(),
        "lead_held_error": by["leads_held"].sem(),
        "slope": slopes.str[0],
        "slope_error": slopes.str[1],
        "worlds": by.size(),
    }).round(4)  # fmt: skip
    print(made.to_string())
    if worlds >= 100:
        kept(made, RESULTS / "people_held_priors.csv")


def kept(table: pd.DataFrame, path: Path) -> None:
    """Write a table; rows of other data stay in the file."""
    if path.exists():
        before = pd.read_csv(path).set_index(table.index.names)
        table = pd.concat([table, before[~before.index.isin(table.index)]])
    table.to_csv(path)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--every", action="store_true", help="all sizes of simulated worlds")
    parser.add_argument("--worlds", nargs="*", choices=WORLDS, default=WORLDS)
    parser.add_argument("--priors", type=int, default=0, help="worlds of a kind, no others")
    parser.add_argument("--judges", nargs="*", default=("gpt35", "pandalm7b"))
    asked = parser.parse_args()
    if asked.priors:
        compare_priors(asked.priors, asked.worlds)
        return
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
        for judge in asked.judges:
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
