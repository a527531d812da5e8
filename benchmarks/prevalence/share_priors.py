"""Is the default prior of a share also the better one of classes, scores and people?

    python benchmarks/prevalence/share_priors.py --tables 200      # about 3 CPU minutes

`priors.py` chose Jeffreys' prior of a share with one judge, two classes and one system. Here flat
priors and the default stand in presets that follow it: three classes (`Confusions`: Dirichlet
weights of the shares 3 or 2 in all, or 1, the default), four bins of a score that rise
(`ScoreGivenTruth`), and two people who err (`PeopleErrors`). 1,000 items, labels at random; nominal
95 %, equal tails, of people the shortest interval. Posteriors of classes and bins are draws of
Dirichlet distributions of verdicts, and of truths given each, weighed by the density of the model;
tables of which too few draws rise are left out. Of people they are the draws of `exact`, weighed by
the ratio of the priors.

Not here: rows that share items, whose exact answer is that of each system's counts; labels with
known propensities, whose closed form has no prior; groups whose rates pool, of whose rare shares
such weights are too uneven.

Quick: ``--tables 4``

Found: with 200 tables a cell (its coverage has an error of .017) the default has the lower score of
each preset: relative to the better prior of each cell, classes 1.019 (a weight of 2: 1.026, flat
1.050, up to 1.257), covering .956 (.952, .946); scores 1.006 (flat 1.036, up to 1.211), covering
.934 (.930); people 1.000 (1.015), covering .972 (.968). None of its cells covers less than .94 by
two errors; the least is .906.

Writes to benchmarks/prevalence/results: share_priors.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence import people
from bayesjudge.truth.importance import interval_of

RESULTS = Path(__file__).parent / "results"
ITEMS, DRAWS, SEED = 1000, 6000, 11
#: Logarithms of unnormalised densities of the share, by prior.
SHARES = {"flat": (1.0, 1.0), "jeffreys": (0.5, 0.5)}
#: Low and high by prior, and the share that each is to hold.
Answers = dict[str, tuple[np.ndarray, float]]


def kernel(share: np.ndarray, shape: tuple[float, float]) -> np.ndarray:
    """Logarithm of a Beta density but for its constant."""
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    return (shape[0] - 1) * np.log(inside) + (shape[1] - 1) * np.log1p(-inside)


def joint_draws(
    labels: np.ndarray, others: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of the classes, of verdicts given each, and the logarithms of weights under flat ones.

    `labels` counts by verdict and truth, `others` by verdict. Verdicts, and truths given each, are
    Dirichlet, and the Jacobian leads from these to shares and to verdicts given the truth.
    """
    verdicts, classes = labels.shape
    p = rng.dirichlet(labels.sum(axis=1) + others + 0.5, DRAWS)
    given = np.stack([rng.dirichlet(row + 0.5, DRAWS) for row in labels], axis=1)
    p, given = np.maximum(p, 1e-12), np.maximum(given, 1e-12)
    joint = p[:, :, None] * given
    shares = joint.sum(axis=1)
    weight = (classes - 0.5) * np.log(p).sum(axis=1) + np.log(given).sum(axis=(1, 2)) / 2
    weight -= verdicts * np.log(shares).sum(axis=1)
    return shares, joint / shares[:, None], weight + np.log(shares).sum(axis=1)


def weighed(draws: np.ndarray, logs: np.ndarray, kind: str = "eti") -> np.ndarray:
    """Ends of the interval of draws with these logarithms of weights."""
    weight = np.exp(logs - logs.max())
    return interval_of(draws, weight / weight.sum(), 0.95, kind)[1:]


def classes(
    shares: tuple[float, ...], accuracy: float, labelled: int, rng: np.random.Generator
) -> Answers:
    """The first class's share is the largest, the last one's the rarest."""
    wrong = (1 - accuracy) / (len(shares) - 1)
    chances = np.array(shares)[:, None] * np.where(np.eye(len(shares)) > 0, accuracy, wrong)
    labels = rng.multinomial(labelled, chances.ravel()).reshape(chances.shape).T
    others = rng.multinomial(ITEMS, chances.sum(axis=0))
    good, given, logs = joint_draws(labels, others, rng)
    own = np.eye(len(shares)) > 0
    weights = np.where(own, 1.0, 1 / (len(shares) - 1))  # of verdicts given the truth
    logs = logs + ((weights - 1) * np.log(given)).sum(axis=(1, 2))
    answers = {}
    for total in (1, 2, 3):
        prior = (total / len(shares) - 1) * np.log(good).sum(axis=1)
        for at in (0, len(shares) - 1):
            ends = weighed(good[:, at], logs + prior)
            answers[f"weight {total}, class {at + 1}"] = ends, shares[at]
    return answers


def bins(share: float, slope: float, labelled: int, rng: np.random.Generator) -> Answers:
    """Four bins, whose likelihood ratio rises by this logarithm from bin to bin."""
    bad = np.array([0.4, 0.3, 0.2, 0.1])
    good = bad * np.exp(slope * np.arange(4))
    chances = np.stack([(1 - share) * bad, share * good / good.sum()], axis=1)
    labels = rng.multinomial(labelled, chances.ravel()).reshape(chances.shape)
    others = rng.multinomial(ITEMS, chances.sum(axis=1))
    shares, given, logs = joint_draws(labels, others, rng)
    rises = np.diff(np.log(given[:, :, 1]) - np.log(given[:, :, 0]), axis=1)
    # the defaults of `ScoreGivenTruth`: Dirichlet weight 2 of bad items' bins, a rise of 4 in all
    prior = (2 / 4 - 1) * np.log(given[:, :, 0]).sum(axis=1) - np.log(given[:, :, 1]).sum(axis=1)
    prior -= 3 / 4 * rises.sum(axis=1)
    logs = np.where((rises > 0).all(axis=1), logs + prior, -np.inf)
    weight = np.exp(logs - max(logs.max(), -1e300))
    if weight.sum() ** 2 < 50 * (weight**2).sum() or not weight.any():
        return {}  # too few draws rise
    x = shares[:, 1]
    return {name: (weighed(x, logs + kernel(x, shape)), share) for name, shape in SHARES.items()}


def of_people(share: float, labelled: int, rng: np.random.Generator) -> Answers:
    """A judge, and two people who err on 5 % and both label the labelled items."""
    table = people.simulate(
        prevalence=share, labelled=labelled, shared=labelled, items=ITEMS, random_seed=rng
    )
    counts = people.PeopleCounts.from_frame(table, truth=["ann1", "ann2"], calibration="random")
    draws = people.PeopleErrors(prevalence=BetaPrior())._posterior(counts).weighed()
    x, flat = draws.values["prevalence"][:, 0], np.log(np.maximum(draws.weight, 1e-300))
    return {
        name: (weighed(x, flat + kernel(x, shape), "hdi"), share) for name, shape in SHARES.items()
    }


def cells() -> Iterator[tuple[str, str, int, object]]:
    """Preset, world, labels, and what draws a table and answers it."""
    three = {"mixed": (0.5, 0.3, 0.2), "rare": (0.9, 0.08, 0.02)}
    for labels in (50, 200):
        for name, shares in three.items():
            for accuracy in (0.6, 0.9):
                world = f"{name}, accuracy {accuracy}"
                yield "classes", world, labels, (classes, shares, accuracy, labels)
        for share in (0.02, 0.3, 0.9):
            for slope in (0.4, 1.2):
                yield "scores", f"share {share}, rise {slope}", labels, (bins, share, slope, labels)
    for share in (0.05, 0.5, 0.95):
        yield "people", f"share {share}", 100, (of_people, share, 100)


def main() -> None:
    """Answer each table under each prior, and summarise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200, help="of each cell")
    parser.add_argument("--presets", nargs="*", default=["classes", "scores", "people"])
    asked = parser.parse_args()
    rows = []
    for at, (preset, world, labels, (answer, *settings)) in enumerate(cells()):
        for table in range(asked.tables if preset in asked.presets else 0):
            rng = np.random.default_rng([SEED, at, table])
            for name, ((low, high), share) in answer(*settings, rng).items():
                outside = max(low - share, share - high, 0)
                prior, _, quantity = name.partition(", ")
                rows.append((preset, world, labels, quantity, prior, outside == 0,
                             high - low, high - low + 40 * outside))  # fmt: skip
    names = ["preset", "world", "labels", "quantity", "prior", "covered", "width", "score"]
    table = pd.DataFrame(rows, columns=names)
    by = ["preset", "world", "labels", "quantity", "prior"]
    each = table.groupby(by).agg(
        tables=("score", "size"), covered=("covered", "mean"), width=("width", "mean"),
        score=("score", "mean"), score_se=("score", "sem"),
    )  # fmt: skip
    best = each.groupby(by[:-1])["score"].transform("min")
    each["ratio"] = each["score"] / best
    each["below"] = each["covered"] < 0.94 - 2 * np.sqrt(0.06 * 0.94 / each["tables"])
    print(each.round(3).to_string())
    print(each.groupby(["preset", "prior"]).agg(
        covered=("covered", "mean"), least=("covered", "min"), below=("below", "mean"),
        ratio=("ratio", "mean"), worst=("ratio", "max"),
    ).round(3))  # fmt: skip
    each.drop(columns="below").round(4).to_csv(RESULTS / "share_priors.csv")


if __name__ == "__main__":
    main()
