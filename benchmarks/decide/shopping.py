"""Is an interval as wide as the shopping list predicted, and what does the cheapest plan save?

    python benchmarks/decide/shopping.py                    # 20 splits a panel
    python benchmarks/decide/shopping.py --splits 200 --battles battles.csv.gz --save

Published panels, taken as populations: feedback on code (two of five judges), GPT-4's verdicts on
XSTest's answers of three systems, first scores of Composo's responses (people planted: the mean of
eight scores with noise), and AlpacaEval's win probabilities of two systems (people planted: they
prefer the system with probability .1 + .8 p). Each split draws a pilot of 80 labelled items, lists
what a width takes (two widths a panel: of 150 and 300 labels by people only), then draws other
items, as many as the list says, judges and labels them, and makes PPI++'s interval. ``ratio`` is
its width by the predicted median (``low``, ``high``: tenths), ``reached`` the share of splits
whose interval is as narrow as was asked for (.8 is promised), ``cost`` that of the cheapest plan,
``people`` and ``judge`` those of each alone, a label at 1.50, a call at .01; ``splits`` those in
which a plan reaches the width, ``broken`` the share of all splits whose plan did not keep its word.
Writes benchmarks/decide/results/shopping.csv.

Other goods likewise: a judge asked three times (Composo's calls, as they are and with noise of 2.5
added to each; verdicts drawn from AlpacaEval's win probabilities), and a stronger judge on a part
(two judges of code feedback; AlpacaEval's drawn verdict and then the probability), each with the
sizes of that way, and the regression interval of three phases (`three_phase`).

Decisions likewise (thresholds that 50 and 150 labels by people only pass with a chance of .8, and
the truth itself; pairs of AlpacaEval's systems whose difference they see), with items drawn with
replacement, and `gate`'s rule: ``reached`` of new items throughout, ``kept`` where the pilot's 80
labels count again and the decision is as sure as the plan says (``unmended`` 95 %), ``of_all`` at
the truth, the share of all pilots that end with a decision, either of which is false (.1 is
allowed). Writes shopping_decisions.csv there; kept results are of 200 splits at the truth, and of
40 at the thresholds.

Quick: ``--splits 1``

Found: over 29 settings of 200 splits each the median interval is .98 to 1.08 times as wide as
predicted (standard errors .002 to .04; eight of ten single splits .76 to 1.48, since 80 items tell
a variance so well): of three calls .99 to 1.02, of a stronger judge on a part 1.01 to 1.08. One
setting more is 1.11 (.01): there 79 of 200 pilots see a plan at all, those that flatter (XSTest's
mistralinstruct). As narrow as was asked for are .76 to 1.00 (errors to .03), four below .8 and none
by two errors but that one (.58); of all its pilots .17 have a plan that fails, of those of the
other settings .24 at most. Before the chance was told for less by the flattery, .72 to 1.00. At the
truth .07 to .115 (.02) of all pilots end with a false decision where the pilot counts again and
`sure` is asked, .09 on average (.01); with 95 %, .11 to .18 of those with a plan. Of ten thresholds
.81 to 1.00 (.06) are decided by new items, of two differences .92 and .95 (.04). The cheapest plan
costs .02 to 1.00 times as much as people only: 2 and 51 of 140 and 395 where the judge's scores are
good, 200 of 224 with a judge of code feedback, 342 of 342 where all items must be labelled anyway;
three calls are cheaper than one only of the judge with noise (43 of 70).
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from bayesjudge import datasets
from bayesjudge.decide import Pilot, shopping_list
from bayesjudge.decide._posterior import LESS, MORE, posterior
from bayesjudge.prevalence import difference
from bayesjudge.prevalence.scores import Scores
from bayesjudge.rubric.data import counted

RESULTS = Path(__file__).parent / "results"
SEED, PILOT = 41_015, 80
PRICES = {"label": 1.5, "call": 0.01}
#: Labels without a judge that a wanted width takes, and a decision; none is enough at the truth.
LABELS, DECIDED = (150, 300), (50, 150, np.inf)
#: Panels of which decisions are planned, and items that there are.
AGAINST = ("code_feedback, gpt-4o-mini", "XSTest, gpt4", "XSTest, mistralinstruct",
           "Composo, planted people", "AlpacaEval, gpt4_0613_concise")  # fmt: skip
MOST, PROBABILITY, POWER = 4000, 0.95, 0.8


def panels(battles: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Truths and judged values, one population a name."""
    votes = datasets.code_feedback_votes()
    found = {}
    for judge in ("gpt-4o-mini", "gemini-2.5-pro"):
        rows = votes.dropna(subset=[judge])
        found[f"code_feedback, {judge}"] = rows["truth"], rows[judge]
    answers = datasets.xstest()
    for system in ("gpt4", "llama2new", "mistralinstruct"):
        rows = answers[answers["system"] == system].dropna(subset=["verdict"])
        found[f"XSTest, {system}"] = rows["truth"], rows["verdict"]
    rng = np.random.default_rng(SEED)
    scores = datasets.composo_scores("mini").groupby("item")["score"]
    people = scores.mean().dropna()
    noisy = np.clip(np.rint(people + rng.normal(0, 1.0, len(people))), 1, 10)
    found["Composo, planted people"] = noisy, scores.first().loc[people.index].fillna(people)
    if battles is not None:
        table = pd.read_csv(battles).dropna(subset=["win_probability"])
        for system in table["model"].unique()[[5, 30]]:
            wins = table.loc[table["model"] == system, "win_probability"].to_numpy()
            wins = np.tile(wins, 3)  # each item three times, so that a plan has some to choose
            found[f"AlpacaEval, {system}"] = rng.random(len(wins)) < 0.1 + 0.8 * wins, wins
    return {name: (np.asarray(y, float), np.asarray(f, float)) for name, (y, f) in found.items()}


def pairs(battles: Path) -> dict[float, tuple[str, np.ndarray, np.ndarray]]:
    """Two of AlpacaEval's systems each, whose difference takes so many labels of people to see."""
    table = pd.read_csv(battles).pivot(index="item", columns="model", values="win_probability")
    wins = table.fillna(table.mean()).to_numpy().repeat(3, axis=0)
    people = np.random.default_rng(SEED).random(wins.shape) < 0.1 + 0.8 * wins
    far = {}
    for a, b in itertools.permutations(range(wins.shape[1]), 2):
        gap = people[:, a].astype(float) - people[:, b]
        far[a, b] = gap.mean() / max(gap.std(), 1e-9)
    found = {}
    for labels in DECIDED[:2]:
        wanted = (ndtri(PROBABILITY) + ndtri(POWER)) / np.sqrt(labels)
        a, b = min(far, key=lambda pair: abs(far[pair] - wanted))
        name = f"AlpacaEval, {table.columns[a]} - {table.columns[b]}"
        found[labels] = name, people[:, a].astype(float) - people[:, b], wins[:, a] - wins[:, b]
    return found


def goods(battles: Path | None) -> dict[str, tuple[str, np.ndarray, list[np.ndarray]]]:
    """Ways that buy more than labels and one call: name of the way, truths, calls by judge."""
    rng = np.random.default_rng(SEED)
    scores = datasets.composo_scores("mini").dropna().groupby("item")["score"].apply(list)
    eight = np.array([rng.permutation(each) for each in scores if len(each) == 8], float)
    people = np.clip(np.rint(eight.mean(axis=1) + rng.normal(0, 1.0, len(eight))), 1, 10)
    wavering = np.clip(eight[:, :3] + rng.normal(0, 2.5, (len(eight), 3)), 1, 10)
    votes = datasets.code_feedback_votes().dropna(subset=["claude_3.5_haiku", "gemini-2.5-pro"])
    two = [votes[[name]].to_numpy(float) for name in ("claude_3.5_haiku", "gemini-2.5-pro")]
    second, repeats = "first, and second on a part", "first, asked 3 times"
    found = {
        "Composo": (repeats, people, [eight[:, :3]]),
        "Composo, noise of 2.5": (repeats, people, [wavering]),
        "code_feedback, haiku and gemini": (second, votes["truth"].to_numpy(float), two),
    }
    if battles is not None:
        table = pd.read_csv(battles).dropna(subset=["win_probability"])
        for system in table["model"].unique()[[5, 30]]:
            wins = np.tile(table.loc[table["model"] == system, "win_probability"], 3)
            people = (rng.random(len(wins)) < 0.1 + 0.8 * wins).astype(float)
            drawn = (rng.random((len(wins), 3)) < wins[:, None]).astype(float)
            found[f"AlpacaEval, {system}, drawn verdicts"] = repeats, people, [drawn]
            pair = [drawn[:, :1], wins[:, None]]
            found[f"AlpacaEval, {system}, verdict and probability"] = second, people, pair
    return found


def three_phase(
    truth: np.ndarray, first: np.ndarray, second: np.ndarray, labels: int, part: int
) -> float:
    """Width of the regression interval where a second judge saw a part, and people some of it.

    People's labels are predicted by both judges, that prediction by the first alone; each step's
    mean is corrected by what it leaves on the items that the next one saw (Cochran 1977, 12.6).
    """

    def fitted(target: np.ndarray, *columns: np.ndarray) -> Any:
        design = np.column_stack([np.ones(len(target)), *(c[: len(target)] for c in columns)])
        line = np.linalg.lstsq(design, target, rcond=None)[0]
        return lambda *wide: np.column_stack([np.ones(len(wide[0])), *wide]) @ line

    both = fitted(truth[:labels], first, second)(first[:part], second[:part])
    one = fitted(both, first)(first)
    rest = (truth[:labels] - both[:labels]).var() * labels / (labels - 3)
    variance = rest / labels + (both - one[:part]).var(ddof=1) / part + one.var() / len(first)
    return float(2 * stdtrit(labels - 3, 0.975) * np.sqrt(variance))


def interval(
    truth: np.ndarray, judged: np.ndarray, labels: int, binary: bool, ci_prob: float = 0.95
) -> tuple[float, float]:
    """PPI++'s, of items of which the first are labelled."""
    known = np.where(np.arange(len(truth)) < labels, truth, np.nan)
    low, high = min(truth.min(), judged.min()), max(truth.max(), judged.max())
    ends = (0.0, 1.0) if binary else (low - 1e-9, high + 1e-9)
    scale = (min(0.0, judged.min()), max(1.0, judged.max())) if binary else ends
    scores = Scores(judged, known, np.ones(len(truth), int), "random", scale,
                    truth_scale=None if binary else ends)  # fmt: skip
    (_, _, row), *_ = difference(scores, ci_prob=ci_prob).rows()
    return row.low, row.high


def outcome(
    truth: np.ndarray, judged: np.ndarray, labels: int, at: float, share: bool, sure: float
) -> int:
    """Whether the mean is called higher (1), lower (-1), or neither: as `gate` does."""
    if not share:
        ends = interval(truth, judged, labels, False, 2 * sure - 1)
        return int(ends[0] > at) - int(ends[1] < at)
    known = np.where(np.arange(len(truth)) < labels, truth, np.nan)
    counts = counted(judged == 1, known, "random")
    higher = judged.mean() + (truth - judged)[:labels].mean() > at
    below = posterior(counts, *(LESS if higher else MORE)).cdf(at)
    return int(below <= 1 - sure) if higher else -int(below >= sure)


def split(
    truth: np.ndarray,
    calls: list[np.ndarray],
    width: float,
    items: int,
    rng: Any,
    way: str | None = None,
) -> dict[str, float]:
    """Plan from one pilot, and make the interval of what the plan says: the cheapest, or a way."""
    order = rng.permutation(len(truth))
    first, rest = order[:PILOT], order[PILOT:]
    names = ["judge"] if way is None else ["first", "second"][: len(calls)]
    once = np.column_stack([each[:, 0] for each in calls])
    repeats = [each[first] if each.shape[1] > 1 else np.empty((0, 0)) for each in calls]
    pilot = Pilot(truth[first], once[first], names, repeats)
    prices = PRICES if len(calls) == 1 else {"label": 1.5, "call first": 0.002, "call second": 0.05}
    made = shopping_list(pilot, prices, width=width, items=items, random_seed=rng).set_index("way")
    best = made.iloc[0] if way is None else made.loc[way]
    found = {"cost": best["cost"], "people": made.loc["people only", "cost"],
             "judge": made.loc[names[0], "cost"], "labels": best["labels"]}  # fmt: skip
    if not np.isfinite(best["cost"]):
        return {**found, "ratio": np.nan, "reached": np.nan}
    labels, n = int(best["labels"]), int(max(best["items"], best["labels"]))
    drawn = rest[rng.permutation(len(rest))[: min(n, len(rest))]]
    if len(calls) > 1:
        own = three_phase(truth[drawn], *once[drawn].T, labels, int(best["second"]))
    else:
        mean = calls[0][drawn, : int(best["calls"])].mean(axis=1)
        own = float(np.ptp(interval(truth[drawn], mean, labels, pilot.binary)))
    return {**found, "ratio": own / best["width"], "reached": float(own <= width)}


def decision(truth: np.ndarray, judged: np.ndarray, at: float | None, rng: Any) -> dict[str, float]:
    """Plan a decision from one pilot, and decide: with the pilot's items among the others, or not.

    All items are drawn with replacement; without a threshold two systems are compared.
    """
    first = rng.integers(len(truth), size=PILOT)
    pilot = Pilot(truth[first], judged[first][:, None], ["judge"], outputs=2 if at is None else 1)
    goal: dict[str, Any] = {"difference": True} if at is None else {"at_least": at}
    how: dict[str, Any] = {**goal, "probability": PROBABILITY, "power": POWER, "items": MOST}
    made = shopping_list(pilot, PRICES, **how, random_seed=rng).set_index("way")
    best, threshold = made.iloc[0], 0.0 if at is None else at
    found = {"cost": best["cost"], "people": made.loc["people only", "cost"],
             "judge": made.loc["judge", "cost"], "labels": best["labels"]}  # fmt: skip
    if not np.isfinite(best["cost"]):
        return {**found, "kept": np.nan, "reached": np.nan, "unmended": np.nan}
    share = pilot.verdicts and at is not None
    n = int(max(best["items"], best["labels"] + share))  # counts need an item to judge
    rows = rng.integers(len(truth), size=n)
    again = np.append(first, rows[PILOT:])
    for name, drawn, sure in (("reached", rows, PROBABILITY), ("kept", again, best["sure"]),
                              ("unmended", again, PROBABILITY)):  # fmt: skip
        labels = int(best["labels"])
        called = outcome(truth[drawn], judged[drawn], labels, threshold, share, sure)
        found[name] = abs(called) if truth.mean() == at else called == 1
    return found


def row_of(found: pd.DataFrame) -> dict[str, float]:
    """What splits show: the promise, and the price."""
    kept = found.dropna(subset="reached")
    reached, n = kept["reached"].mean(), len(kept)
    return {
        "labels": found["labels"].median(), "reached": reached,
        "reached_error": np.sqrt(reached * (1 - reached) / max(n, 1)),
        "cost": found["cost"].median(), "people": found["people"].median(),
        "judge": found["judge"].median(), "splits": n,
    }  # fmt: skip


def widths(
    splits: int,
    populations: dict[str, tuple[np.ndarray, np.ndarray]],
    bought: dict[str, tuple[str, np.ndarray, list[np.ndarray]]],
) -> pd.DataFrame:
    """Predicted against achieved width, by panel and width."""
    rows = []
    every = [
        (name, None, truth, [judged[:, None]]) for name, (truth, judged) in populations.items()
    ]
    every += [(name, *about) for name, about in bought.items()]
    for name, way, truth, calls in every:
        for labels in LABELS:
            rng = np.random.default_rng([SEED, crc32(name.encode()), labels])
            width = float(2 * 1.96 * truth.std() / np.sqrt(labels))
            items = min(len(truth) - PILOT, MOST)
            made = [split(truth, calls, width, items, rng, way) for _ in range(splits)]
            found = pd.DataFrame(made)
            ratio = found["ratio"].dropna()
            rows.append({
                "panel": name, "goal": way or "width", "asked": width,
                "ratio": ratio.median(), "ratio_error": 1.25 * ratio.std() / np.sqrt(len(ratio)),
                "low": ratio.quantile(0.1), "high": ratio.quantile(0.9), **row_of(found),
                "broken": (found["reached"] == 0).mean(),
            })  # fmt: skip
            print(name, labels, flush=True)
    return pd.DataFrame(rows)


def decisions(
    splits: int, populations: dict[str, tuple[np.ndarray, np.ndarray]], battles: Path | None
) -> pd.DataFrame:
    """How often what was planned decides, by panel and distance."""
    cases: list[tuple[str, np.ndarray, np.ndarray, float | None]] = []
    for name in (one for one in AGAINST if one in populations):
        truth, judged = populations[name]
        far = (ndtri(PROBABILITY) + ndtri(POWER)) * truth.std() / np.sqrt(DECIDED)
        cases += [(name, truth, judged, float(truth.mean() - one)) for one in far]
    cases += [] if battles is None else [(*one, None) for one in pairs(battles).values()]
    rows = []
    for name, truth, judged, at in cases:
        rng = np.random.default_rng([SEED, crc32(f"{name} {at}".encode())])
        found = pd.DataFrame([decision(truth, judged, at, rng) for _ in range(splits)])
        goal = "difference" if at is None else "at_least" if at < truth.mean() else "at the truth"
        told = {"panel": name, "goal": goal, "asked": at, "distance": truth.mean() - (at or 0.0)}
        every = found["kept"].fillna(0).mean() if goal == "at the truth" else np.nan
        told |= {"kept": found["kept"].mean(), "unmended": found["unmended"].mean()}
        rows.append({**told, "of_all": every, **row_of(found)})
        print(name, goal, flush=True)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=20, help="of each panel and goal")
    parser.add_argument("--battles", type=Path, help="AlpacaEval's win probabilities, a CSV file")
    parser.add_argument("--save", action="store_true", help="keep the results")
    asked = parser.parse_args()
    populations = panels(asked.battles)
    made = {
        "shopping": widths(asked.splits, populations, goods(asked.battles)),
        "shopping_decisions": decisions(asked.splits, populations, asked.battles),
    }
    for name, table in made.items():
        print(table.round(4).to_string(index=False))
        if asked.save:
            table.round(4).to_csv(RESULTS / f"{name}.csv", index=False)
