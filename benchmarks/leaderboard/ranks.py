"""Do ranks hold at once, is the first place calibrated, and what do item effects do to intervals?

    python benchmarks/leaderboard/ranks.py                   # 4 worlds of each kind, seconds
    python benchmarks/leaderboard/ranks.py --worlds 300      # five minutes
    python benchmarks/leaderboard/ranks.py --priors 120      # other priors
    python benchmarks/leaderboard/ranks.py --neighbours 60   # do rows in order tell prompts?

Six systems; 60 prompts, on each of which the judge sees all 15 pairs, and people a part. Strengths
are normal with standard deviation 0.6, the judge's likings t4 times 0.4, its sharpness 0.7. With
item effects each answer is better or worse than its system by a normal amount of standard deviation
1, for people and judge alike, so that all five battles of an answer go together; strengths are then
those at which Davidson's model is closest to people's verdicts over all prompts. Labels lie on
random battles, or on all battles of random prompts.

Beside these: worlds whose truths are drawn from the model's priors, with which its draws must agree
on average (strengths and likings of every size), and worlds in which the judge always likes the
same two systems by 1.2 and .8 more than people do, without item effects.

Of `approximate`: how often all ranks (95 % and 80 %) hold at once and the systems that are not
separated from the first hold the best one; how many those are; the share of strengths, and of leads
over the best of the others, held by 95 % intervals; and, in 120 worlds, intervals without the item.
By the probability of being the best that a system is given, how often it is; the same for what the
sentence claims ("People prefer", from .975, "People probably prefer", from .9); and the slope of
the outcome's log-odds on the stated ones, with errors by world. Every kind has worlds of its own.
Writes ``results/ranks.csv`` and ``results/ranks_first.csv``. With ``--priors`` fresh worlds of
every kind are scored under other priors of the sharpness and of the scale of likings
(``results/ranks_priors.csv``): draws of one fit with wide priors, weighted by each of the others.
With ``--neighbours`` it is counted how
often verdicts on rows that follow each other are said to go together (caution
``neighbouring-battles``, ``results/neighbours.csv``): of the tables as they are, in which a
prompt's rows stand together, with rows in random order, and sorted by pair.

Quick: ``--worlds 1``

Found: of 600 worlds (120 of each kind) that had no part in the choice of a prior (``--priors 120``)
95 % intervals hold .965 (± .003) of strengths and .959 of leads, and all 95 % ranks hold at once in
.975 (± .006): without item effects .975, with them .950 (± .020) with labels on random battles and
.992 on whole prompts, .983 with truths of the priors and .975 with two favourites. With a
half-normal(0.5) prior of the scale of likings it was .956, .951 and .967 (item effects on random
battles .908 ± .026). The slope of who is first on the stated log-odds is .945 (± .050), with the
half-normal .888 and with a log-normal prior of the sharpness .826; of systems given more than .5
(.766 on average) .748 (± .020) are first (.773 and .726 with the half-normal). Of 100
worlds of each kind, with the half-normal: with whole prompts and the item not named 95 % intervals
hold .89 of strengths and .87 of leads (± .02); of the systems given .975 and more (.994) of being
first .983 (± .017) are so, .9 to .975 (.944) .92 (± .03), .7 to .9 (.801) .73 (± .04), .5 to .7
(.591) .59 (± .04). Whether rows
share prompts is noticed in .98 and 1.00 of 60 tables with item effects, and in .004 (± .002) of 780
without them, or whose rows are in random order or sorted by pair.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from sbc import draw_prior

from bayesjudge import leaderboard
from bayesjudge.leaderboard import laplace
from bayesjudge.leaderboard.closed_form import TOGETHER, rivals
from bayesjudge.leaderboard.likelihood import agreement_of_neighbours, chances
from bayesjudge.leaderboard.standings import simultaneous_ranks

RESULTS = Path(__file__).parent / "results"
K, PROMPTS, SHARPNESS, TIE, ORDER = 6, 60, 0.7, 0.4, 0.3
NAMES = tuple(f"s{i}" for i in range(K))
#: Spread of an item's effects, people's verdicts, and whether they lie on whole prompts.
WORLDS = {
    "no item effects": (0.0, 120, False),
    "item effects, random battles": (1.0, 120, False),
    "item effects, whole prompts": (1.0, 240, True),
    "truths of the priors": (0.0, 120, False),
    "two favourites": (0.0, 120, False),
}
#: Logarithms of densities that are compared: of the sharpness c and of the scale t of likings; and
#: the priors of the draws that are weighted.
SHARPNESS_PRIORS = {
    "half-normal(1)": lambda c: -0.5 * c**2,
    "log-normal(log 1, 0.5)": lambda c: -np.log(c) - 0.5 * (np.log(c) / 0.5) ** 2,
}
LIKING_PRIORS = {
    "Rayleigh(0.2)": lambda t: np.log(t) - 0.5 * (t / 0.2) ** 2,
    "Rayleigh(0.3)": lambda t: np.log(t) - 0.5 * (t / 0.3) ** 2,
    "Rayleigh(0.4)": lambda t: np.log(t) - 0.5 * (t / 0.4) ** 2,
    "half-normal(0.5)": lambda t: -0.5 * (t / 0.5) ** 2,
}
WIDE = {"sharpness": 3.0, "liking_scale": 0.5}
#: What the judge likes more than people do where it always has the same favourites.
FAVOURS = np.array([0.0, 1.2, 0.0, 0.0, 0.8, 0.0])
#: Worlds in which the item is left unnamed too, and bounds of stated probabilities.
UNNAMED, BOUNDS = 120, (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 1)


def strengths(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """People's strengths and the judge's."""
    if kind == "truths of the priors":
        truths = draw_prior(rng, K)
        return truths["people"], truths["judge"]
    people = rng.normal(0, 0.6, K)
    favours = FAVOURS if kind == "two favourites" else 0.4 * rng.standard_t(4, K)
    return people, (people + favours) / SHARPNESS


def world(kind: str, rng: np.random.Generator) -> tuple[leaderboard.Battles, np.ndarray]:
    """Battles, and people's strengths."""
    spread, labels, whole = WORLDS[kind]
    people, judge = strengths(kind, rng)
    one, other = np.triu_indices(K, 1)
    item = np.repeat(np.arange(PROMPTS), len(one))
    a, b = np.tile(one, PROMPTS), np.tile(other, PROMPTS)
    turned = rng.random(len(a)) < 0.5
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    effect = rng.normal(0, spread, (PROMPTS, K)) if spread else np.zeros((PROMPTS, K))
    gap = effect[item, a] - effect[item, b]

    def verdicts(eta: np.ndarray) -> np.ndarray:
        share = np.stack(chances(eta, np.log(TIE)), axis=1)
        return np.eye(3)[(rng.random((len(eta), 1)) > share.cumsum(axis=1)).sum(axis=1).clip(0, 2)]

    judged = verdicts(judge[a] - judge[b] + gap / SHARPNESS + ORDER)
    said = verdicts(people[a] - people[b] + gap)
    if whole:
        chosen = np.isin(item, rng.choice(PROMPTS, labels // len(one), replace=False))
    else:
        chosen = np.isin(np.arange(len(a)), rng.choice(len(a), labels, replace=False))
    said[~chosen] = 0
    battles = leaderboard.Battles(
        NAMES, ["judge"], a, b, np.ones(len(a), int), judged[:, None], said, item
    )
    return battles, closest(people, spread)


def closest(people: np.ndarray, spread: float) -> np.ndarray:
    """Strengths at which Davidson's model is closest to people's verdicts over all prompts."""
    a, b = np.triu_indices(K, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    eta = (people[a] - people[b])[:, None] + np.sqrt(2) * spread * nodes
    share = np.stack(chances(eta, np.log(TIE)), axis=1) @ weights / weights.sum()
    every = leaderboard.Battles(NAMES, [], a, b, np.full(len(a), 1000), np.zeros((len(a), 0, 3)),
                                share)  # fmt: skip
    return leaderboard.davidson(every, order=False).quantities["strength"].value


def scored(
    draws: np.ndarray, truth: np.ndarray, levels: Sequence[float] = (0.95, 0.8)
) -> tuple[dict, np.ndarray]:
    """What holds in one world, and the probability of each system to be the first."""
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    rival = rivals(draws.mean(axis=0))
    least, most = np.quantile(draws - draws[:, rival], [0.025, 0.975], axis=0)
    leads = truth - truth[rival]
    rank = 1 + np.argsort(np.argsort(-truth))
    row = {"held": ((low <= truth) & (truth <= high)).mean(), "width": (high - low).mean(),
           "leads_held": ((least <= leads) & (leads <= most)).mean(),
           "rmse": np.sqrt(((draws.mean(axis=0) - truth) ** 2).mean())}  # fmt: skip
    for level in levels:
        best, worst = simultaneous_ranks(draws, level)
        row[f"ranks_{level:g}"] = ((best <= rank) & (rank <= worst)).all()
        row[f"best_in_{level:g}"] = best[truth.argmax()] == 1
        row[f"tied_{level:g}"] = (best == 1).sum()
    return row, np.bincount(draws.argmax(axis=1), minlength=K) / len(draws)


def drawn(battles: leaderboard.Battles, seed: int) -> np.ndarray:
    """Draws of people's strengths."""
    return leaderboard.approximate(battles, draws=1000, random_seed=seed).draws("strength")


def without_item(battles: leaderboard.Battles) -> leaderboard.Battles:
    """The same battles, each taken as independent."""
    return leaderboard.Battles(battles.systems, battles.judges, battles.first, battles.second,
                               battles.count, battles.verdict, battles.people)  # fmt: skip


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument("--priors", type=int, default=0, help="worlds for other priors, no others")
    parser.add_argument("--neighbours", type=int, default=0, help="tables of each kind and order")
    asked = parser.parse_args()
    if asked.neighbours:
        notice_neighbours(asked.neighbours)
        return
    if asked.priors:
        compare_priors(asked.priors)
        return
    rows, firsts = [], []
    for place, (kind, (spread, *_)) in enumerate(WORLDS.items()):
        for number in range(asked.worlds):
            seed = 100_000 * place + number
            battles, truth = world(kind, np.random.default_rng(seed))
            truth = truth - truth.mean()
            row, chance = scored(drawn(battles, seed), truth)
            rows.append({"world": kind, **row})
            firsts.extend({"kind": kind, "world": seed, "chance": p, "right": i == truth.argmax()}
                          for i, p in enumerate(chance))  # fmt: skip
            if spread and number < UNNAMED:
                row, _ = scored(drawn(without_item(battles), seed), truth)
                rows.append({"world": f"{kind}; item not named", **row})
    by = pd.DataFrame(rows).astype({"world": str}).groupby("world", sort=False)
    means = by.mean(numeric_only=False).astype(float)
    table = means.join(by.sem().astype(float).add_suffix("_error")).round(4)
    table["worlds"] = by.size()
    print(table.T.round(3).to_string())
    called = pd.concat([reliability(of, kind) for kind, of in each_kind(pd.DataFrame(firsts))])
    print(called.round(3).to_string(index=False))
    if asked.worlds >= 50:
        table.to_csv(RESULTS / "ranks.csv")
        called.round(4).to_csv(RESULTS / "ranks_first.csv", index=False)


def notice_neighbours(tables: int) -> None:
    """Count tables whose neighbouring rows are said to share prompts."""
    rows = []
    for place, kind in enumerate(WORLDS):
        for number in range(tables):
            rng = np.random.default_rng(9_000_000 + 100_000 * place + number)
            battles = without_item(world(kind, rng)[0])
            pair = np.sort([battles.first, battles.second], axis=0)
            orders = {"by prompt": np.arange(len(battles.first)),
                      "random": rng.permutation(len(battles.first)),
                      "by pair": np.lexsort(pair)}  # fmt: skip
            for order, at in orders.items():
                parts = ("first", "second", "count", "verdict", "people")
                ordered = leaderboard.Battles(
                    NAMES, ["judge"], *(getattr(battles, part)[at] for part in parts)
                )
                errors = agreement_of_neighbours(ordered)
                rows.append({"kind": kind, "order": order, "noticed": errors > TOGETHER,
                             "errors": errors})  # fmt: skip
    table = pd.DataFrame(rows).groupby(["kind", "order"], sort=False).agg(
        noticed=("noticed", "mean"), errors=("errors", "mean"), spread=("errors", "std"),
        tables=("errors", "size"))  # fmt: skip
    print(table.round(3).to_string())
    if tables >= 50:
        table.round(3).to_csv(RESULTS / "neighbours.csv")


def compare_priors(worlds: int) -> None:
    """Score fresh worlds with several priors, by weighted draws."""
    rng = np.random.default_rng(0)
    each, firsts = [], []
    for place, kind in enumerate(WORLDS):
        begin = 8_000_000 + 100_000 * place
        for seed in range(begin, begin + worlds):
            battles, truth = world(kind, np.random.default_rng(seed))
            truth = truth - truth.mean()
            for about, draws, worth in under_priors(battles, seed, rng):
                about = {"kind": kind, **about}
                row, chance = scored(draws, truth)
                each.append({**about, **row, "worth_of_draws": worth})
                firsts.extend({**about, "chance": p, "right": i == truth.argmax()}
                              for i, p in enumerate(chance))  # fmt: skip
    columns = ["held", "leads_held", "ranks_0.95", "width", "rmse", "worth_of_draws"]
    scores = pd.DataFrame(each).astype(dict.fromkeys(columns, float))
    rows = []
    priors = ["sharpness", "likings"]
    for prior, of_prior in pd.DataFrame(firsts).groupby(priors, sort=False):
        for kind, first in each_kind(of_prior):
            same = (scores[priors] == list(prior)).all(axis=1) & scores["kind"].isin(
                [*first["kind"]]
            )
            score = scores[same]
            slope, error = slope_of(first)
            leading = first[first["chance"] > 0.5]
            rows.append({"kind": kind, **dict(zip(priors, prior, strict=True)),
                         "worlds": len(score),
                         **score[columns].mean(), "held_error": score["held"].sem(),
                         "ranks_error": score["ranks_0.95"].sem(), "slope": slope,
                         "slope_error": error, "stated": leading["chance"].mean(),
                         "right": leading["right"].mean(), "n": len(leading)})  # fmt: skip
    table = pd.DataFrame(rows).sort_values("kind", kind="stable").round(3)
    print(table.to_string(index=False))
    if worlds >= 50:
        table.to_csv(RESULTS / "ranks_priors.csv", index=False)


def under_priors(
    battles: leaderboard.Battles, seed: int, rng: np.random.Generator
) -> Iterator[tuple[dict[str, str], np.ndarray, float]]:
    """Draws of people's strengths under each of the priors, and what the weighted ones are worth.

    The prior of the sharpness is varied with the default of the likings, and those of the likings
    with the default of the sharpness.
    """
    wide = leaderboard.CalibratedBattles(**WIDE)
    with mock.patch.object(laplace, "CHAINS", 40):
        fit = leaderboard.approximate(battles, wide, draws=2000, random_seed=seed)
    c, t = fit.draws("sharpness")[:, 0], fit.draws("liking_scale")
    drawn_from = np.log(t) - 0.5 * (t / WIDE["liking_scale"]) ** 2
    drawn_from -= 0.5 * (c / WIDE["sharpness"]) ** 2
    for sharpness, likings in product(SHARPNESS_PRIORS, LIKING_PRIORS):
        if sharpness != "half-normal(1)" and likings != "Rayleigh(0.3)":
            continue
        weight = np.exp(SHARPNESS_PRIORS[sharpness](c) + LIKING_PRIORS[likings](t) - drawn_from)
        at = (rng.random() + np.arange(2000)) / 2000 * weight.sum()
        chosen = np.searchsorted(weight.cumsum(), at).clip(max=len(weight) - 1)
        about = {"sharpness": sharpness, "likings": likings}
        yield about, fit.draws("strength")[chosen], weight.sum() ** 2 / (weight**2).sum()


def each_kind(firsts: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Stated probabilities of the first place, of each kind of worlds and of all."""
    return [*firsts.groupby("kind", sort=False), ("all", firsts)]


def reliability(firsts: pd.DataFrame, kind: str) -> pd.DataFrame:
    """How often what has so much probability of being the best is it, and the slope of log-odds."""
    firsts = firsts.assign(stated=pd.cut(firsts["chance"], BOUNDS, include_lowest=True))
    called = firsts.groupby("stated", observed=True).agg(
        chance=("chance", "mean"), right=("right", "mean"), n=("right", "size")
    )
    called["error"] = np.sqrt(called["right"] * (1 - called["right"]) / called["n"])
    slope, error = slope_of(firsts)
    called.insert(0, "kind", kind)
    return called.reset_index().assign(slope=slope, slope_error=error)


def slope_of(firsts: pd.DataFrame) -> tuple[float, float]:
    """Slope of a conditional logit of who is best on the stated log-chances: 1 if calibrated."""
    stated = np.log(np.maximum(firsts["chance"].to_numpy(), 0.0005)).reshape(-1, K)
    right = firsts["right"].to_numpy().reshape(-1, K)
    slope = 1.0
    for _ in range(30):
        share = np.exp(slope * (stated - stated.max(axis=1, keepdims=True)))
        share /= share.sum(axis=1, keepdims=True)
        mean = (share * stated).sum(axis=1)
        bend = ((share * stated**2).sum(axis=1) - mean**2).sum()
        slope += float(np.clip(((right * stated).sum(axis=1) - mean).sum() / bend, -0.5, 0.5))
    return slope, float(bend**-0.5)


if __name__ == "__main__":
    main()
