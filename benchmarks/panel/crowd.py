"""Are consensus labels by expectation-maximisation as good as the majority's, and as is expected?

    python benchmarks/panel/crowd.py [SHARED]                # the folder with crowd/ and llmbar/
    python benchmarks/panel/crowd.py --thinnings 2    # fewer draws of thinned crowds
    python benchmarks/panel/crowd.py --labels 20 50   # the accuracy measured by labels

No label is used. Sets are the crowds RTE and bluebird, the 90 judges (6 models by 15 prompts) of
LLMBar, crowds with only 2, 3 and 5 random votes kept of each item, and simulated ones in the shape
of a crowd of 461 raters who gave 1,720 votes in five classes. For each set, ``prior_count``, and
prior (``common``: votes are added in the proportions of all judges; ``level``: as many of each):
share of right consensus labels, right ones among the majority's (ties count in part), the accuracy
that `panel.consensus` expects, and whether the caution ``too-few-votes`` is raised. Writes
``crowd.csv``.

Quick: ``--thinnings 1``

Found: over ten sets the share of right consensus labels is .845 with half a vote in the proportions
of all judges, the default, .823 by maximum likelihood and .809 with half a vote of every kind. The
default is nowhere worse than the majority; half a vote of every kind is worse by .086,
.071 and .071 on RTE and bluebird with two votes an item and with 461 raters. The expected accuracy
is too high where judges err together: 1.00 on LLMBar (.870 right) and bluebird (.898), .99 on RTE
(.926). 20 or 50 random labels measure it (12 draws each): .90 to .92 is expected where .88 to .93
is right, 95 % intervals cover .92 to 1.00, and the log score of the hidden items, -.39 to -2.72
without, is -.21 to -.34.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import panel
from bayesjudge.panel import _em
from bayesjudge.panel.data import patterns_of

RESULTS = Path(__file__).parent / "results"
#: Beside a developer's checkout.
DATA = Path(__file__).parents[3] / "shared" / "data"
PRIOR_COUNTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
KEPT = (2, 3, 5)


def crowd(folder: Path) -> panel.Votes:
    """Votes of a crowd with the truth of every item."""
    parts = (pd.read_csv(folder / f"{part}.csv") for part in ("label", "truth"))
    about = {"judge": "worker", "vote": "label", "generator": None}
    return panel.Votes.from_frame(pd.merge(*parts, on="item"), **about)


def llmbar(path: Path) -> panel.Votes:
    """One judge a model and prompt, in the first order; passing is to prefer the first answer."""
    table = pd.read_csv(path)
    about = {"item": table["item"], "judge": table["llm"] + " " + table["strategy"]}
    long = pd.DataFrame(about | {"vote": table["order1"], "truth": table["gold"]})
    meanings = {"pass_value": 1, "fail_value": 2}
    return panel.Votes.from_frame(long, generator=None, **meanings)


def thinned(full: panel.Votes, kept: int, seed: int) -> panel.Votes:
    """Some random votes of each item."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    given = full.votes[rows]
    rank = np.where(given >= 0, np.random.default_rng(seed).random(given.shape), 2.0)
    given = np.where(rank.argsort(axis=1).argsort(axis=1) < kept, given, -1)
    used = (given >= 0).any(axis=0)
    about = (full.generator[rows], full.generators, np.array(full.judges)[used])
    return panel.Votes(given[:, used], full.truth[rows], *about, classes=full.classes)


def simulated(seed: int, items: int = 300, raters: int = 461, votes: int = 1720) -> panel.Votes:
    """Few votes of many raters; most give few, and one in ten votes at random."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, items, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    busy = rng.gamma(0.7, size=raters)
    skill = np.where(rng.random(raters) < 0.1, 0.2, rng.beta(12, 3, raters))
    given = np.full((items, raters), -1)
    for i, n in enumerate(rng.multinomial(votes, np.full(items, 1 / items))):
        who = rng.choice(raters, max(n, 1), replace=False, p=busy / busy.sum())
        right = rng.random(len(who)) < skill[who]
        given[i, who] = np.where(right, truth[i], rng.integers(0, 5, len(who)))
    used = (given >= 0).any(axis=0)
    names = [f"r{j}" for j in np.flatnonzero(used)]
    return panel.Votes(given[:, used], truth, np.zeros(items, int), ["all"], names, classes="abcde")


def sets(shared: Path, thinnings: int) -> Iterator[tuple[str, panel.Votes]]:
    """Name and votes of every crowd."""
    full = {name: crowd(shared / "crowd" / name) for name in ("rte", "bluebird")}
    yield from full.items()
    yield "llmbar", llmbar(shared / "llmbar" / "judgments_natural.csv.gz")
    for seed in range(thinnings):
        for name, votes in full.items():
            for kept in KEPT:
                yield f"{name}, {kept} votes an item", thinned(votes, kept, seed)
        yield "461 raters, simulated", simulated(seed)


def majority(votes: panel.Votes) -> float:
    """Share of right labels of the majority; of a tie its part."""
    tally = np.stack([(votes.votes == c).sum(axis=1) for c in range(votes.n_classes)], axis=1)
    first = tally == tally.max(axis=1, keepdims=True)
    right = first[np.arange(len(tally)), votes.truth] / first.sum(axis=1)
    return float(right @ votes.count / votes.n_items)


def score(full: panel.Votes, prior_count: float) -> list[dict[str, object]]:
    """Accuracy with all labels hidden, and what was expected of it, under either prior."""
    votes, scored = full.hide(*full.generators), []
    # patterns of the hidden votes are fewer: two truths may share one
    rows = patterns_of(votes, full.votes, np.full(len(full.count), -1), full.generator)
    found = panel.consensus(votes, prior_count=prior_count)
    told = float("too-few-votes" in {c.id for c in found.accuracy.cautions})
    level = _em.solve(_em.Problem(votes), pseudo=prior_count).posterior
    for prior, probability in (("common", found.probability), ("level", level)):
        best = probability.max(axis=1)
        chance = probability[rows, full.truth]
        right = (probability.argmax(axis=1)[rows] == full.truth) @ full.count / full.n_items
        scored.append(
            {
                "prior": prior,
                "prior_count": prior_count,
                "accuracy": float(right),
                "majority": majority(full),
                "expected": float(best @ votes.count / votes.n_items),
                "log_score": float(np.log(np.maximum(chance, 1e-12)) @ full.count / full.n_items),
                "told": told if prior == "common" else np.nan,
            }
        )
    return scored


def some_labelled(full: panel.Votes, n: int, seed: int) -> panel.Votes:
    """The same votes with the labels of `n` random items."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    known = np.random.default_rng(seed).permutation(len(rows)) < n
    about = (full.generator[rows], full.generators, full.judges)
    truth = np.where(known, full.truth[rows], -1)
    kept = {"classes": full.classes, "calibration": "random"}
    return panel.Votes(full.votes[rows], truth, *about, **kept)


def calibrated(name: str, full: panel.Votes, n: int, seed: int) -> dict[str, object]:
    """Accuracy on the items without a label, and what is expected of it with and without labels."""
    votes = some_labelled(full, n, seed)
    open_ = ~votes.is_labelled
    hidden = full.count - np.bincount(
        patterns_of(full, votes.votes, votes.truth, votes.generator)[~open_],
        votes.count[~open_],
        len(full.count),
    )
    rows = patterns_of(votes, full.votes, np.full(len(full.count), -1), full.generator)
    there = rows >= 0
    found = panel.consensus(votes)
    model = _em.posterior_mode(votes, "skip", 0.5)[2].posterior
    _, low, high = found.accuracy["accuracy"]
    each = (found.label[rows] == full.truth) * hidden
    right = float(each[there].sum() / hidden.sum())
    sums = {}
    for kind, probability in (("model", model), ("labels", found.probability)):
        best = probability.max(axis=1)[open_] @ votes.count[open_] / votes.count[open_].sum()
        chance = np.log(np.maximum(probability[rows, full.truth], 1e-12))
        sums[f"expected_by_{kind}"] = float(best)
        sums[f"log_score_by_{kind}"] = float((chance * hidden)[there].sum() / hidden.sum())
    about = {"set": name, "labels": n, "seed": seed, "accuracy": right}
    return about | sums | {"covered": low <= right <= high, "width": high - low}


def measured(shared: Path, labels: list[int], draws: int) -> None:
    """Accuracy expected with and without labels, by set and number of labels."""
    full = {name: crowd(shared / "crowd" / name) for name in ("rte", "bluebird")}
    full["llmbar"] = llmbar(shared / "llmbar" / "judgments_natural.csv.gz")
    rows = []
    for name, votes in full.items():
        for n in labels:
            rows += [calibrated(name, votes, n, seed) for seed in range(draws)]
            grouped = pd.DataFrame(rows).drop(columns="seed").groupby(["set", "labels"], sort=False)
            table = grouped.mean().assign(draws=grouped.size())
            table.to_csv(RESULTS / "crowd_labels.csv", float_format="%.4g")
    print(table.round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", type=Path, nargs="?", default=DATA)
    parser.add_argument("--thinnings", type=int, default=10)
    parser.add_argument("--labels", type=int, nargs="+", help="measure the accuracy by labels")
    parser.add_argument("--draws", type=int, default=50)
    asked = parser.parse_args()
    if asked.labels:
        measured(asked.shared, asked.labels, asked.draws)
        return
    rows = []
    for name, votes in sets(asked.shared, asked.thinnings):
        for count in PRIOR_COUNTS:
            rows += [{"set": name, **row} for row in score(votes, count)]
        table = pd.DataFrame(rows).groupby(["set", "prior", "prior_count"], sort=False).mean()
        table.to_csv(RESULTS / "crowd.csv", float_format="%.4g")
    print(table.round(3).to_string())
    means = table.groupby(["prior", "prior_count"])[["accuracy", "expected", "log_score"]].mean()
    print(means.round(4))


if __name__ == "__main__":
    main()
