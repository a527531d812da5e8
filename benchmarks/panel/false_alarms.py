"""How often does a panel's caution speak where nothing is wrong?

    python benchmarks/panel/false_alarms.py               # 200 draws a setting, 1,000 honest tables
    python benchmarks/panel/false_alarms.py --draws 40 --tables 100    # a minute

Judges have the same error rates on all generators, and labels are a random sample of all items. A
draw counts if the caution ``error-rates-differ`` is raised for sensitivity, for specificity, or
either: nominal are 1 % each, 2 % together. ``power``: the same with one judge's votes on one
generator turned at random, and the share of draws in which exactly that cell is named first. Writes
``false_alarms.csv``.

``false_alarms_honest.csv``: tables drawn with 1 to 6 generators, 2 to 8 judges, shares and error
rates of any size, labels at random or by truth, and judges who err independently or (every other
table) have an effect in common. Each caution of any closed form, its nominal level if it is a test,
and the share of the tables that raise it, of those in which it would be wrong: ``dependent-judges``
and ``near-duplicates`` only if judges err independently, ``other-systems`` never, since every
generator has labels. ``labels-contradict`` is counted beside what is quoted, beside the labels
alone, and beside any closed form: the panel's mean and Dawid and Skene's model may well be wrong.

Quick: ``--draws 2 --tables 4``

Found: of 3,200 draws, 200 of each of sixteen settings, 29 are called different, .9 % (nominal 2 %):
.8 % at 50 labels, .6 % at 100, 1.3 % at 200, 1.0 % at 400, and 2.5 % in the worst setting. A cell
of votes at random is seldom found by so few labels: in 0 to .08 of the draws up to 200, in .03 to
.58 with 400. Of 1,000 honest tables .4 % raise ``label-shift`` (nominal 1 %), .5 %
``error-rates-differ`` (2 %), .2 % ``dependent-judges`` (2 %), and none ``other-systems``, or
``labels-contradict`` beside what is quoted or the labels alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import panel
from bayesjudge.panel.checks import cautions_of

RESULTS = Path(__file__).parent / "results"
LABELS = (50, 100, 200, 400)
RATES = ("sensitivity", "specificity")
ALONE = "Human labels only"
#: Nominal levels: of a test for each of two rates, or of bad and of good items, twice one per cent.
LEVELS = {
    "label-shift": 0.01,
    "votes-out-of-range": 0.01,
    "error-rates-differ": 0.02,
    "dependent-judges": 0.02,
    "near-duplicates": float("nan"),
    "majority-contradicted": float("nan"),
    "other-systems": 0.0,
    "labels-contradict": float("nan"),
    "labels-contradict, quoted": 0.01,
    "labels-contradict, labels alone": 0.01,
}
PANELS = {
    "10 judges, 6 generators": (10, 6, 0.0),
    "10 judges, 6 generators, shared effect": (10, 6, 1.5),
    "8 judges, 8 generators": (8, 8, 0.0),
    "14 judges, 3 generators": (14, 3, 0.0),
}


def draw(
    rng: np.random.Generator, labels: int, judges: int, generators: int, effect: float, turned: bool
) -> panel.Votes:
    """Labelled items of a panel; on the first generator the first judge may vote at random."""
    generator = rng.integers(0, generators, labels)
    truth = rng.random(labels) < np.linspace(0.85, 0.6, generators)[generator]
    level = np.where(truth[:, None], np.linspace(1, 2.5, judges), np.linspace(0.5, -1.5, judges))
    logits = level + effect * rng.standard_normal(labels)[:, None]
    given = rng.random((labels, judges)) < 1 / (1 + np.exp(-logits))
    if turned:
        mine = generator == 0
        given[mine, 0] = rng.random(mine.sum()) < 0.5
    names = [f"g{i}" for i in range(generators)], [f"j{i}" for i in range(judges)]
    return panel.Votes(given.astype(int), truth.astype(int), generator, *names)


def honest(rng: np.random.Generator, calibration: str, effect: float) -> panel.Votes:
    """A table of which its label design, and equal error rates, are true."""
    generators, judges = int(rng.integers(1, 7)), int(rng.integers(2, 9))
    items = int(rng.integers(60, 300))
    table = panel.simulate(
        prevalence=rng.uniform(0.1, 0.95, generators),
        sensitivity=rng.uniform(0.65, 0.97, judges),
        specificity=rng.uniform(0.55, 0.95, judges),
        items=items,
        labelled=items,
        missing=float(rng.choice([0, 0.1])),
        shared_effect=effect,
        random_seed=rng,
    )
    each = table.groupby(["generator", "item"])["truth"].first().sample(frac=1, random_state=rng)
    kinds = ["generator"] if calibration == "random" else ["generator", "truth"]
    kept = each.reset_index().groupby(kinds).head(int(rng.integers(15, items // 2)))
    keys = pd.MultiIndex.from_frame(kept[["generator", "item"]])
    there = pd.MultiIndex.from_frame(table[["generator", "item"]]).isin(keys)
    return panel.Votes.from_frame(table.assign(truth=table["truth"].where(there)),
                                  calibration=calibration)  # fmt: skip


def alarms(tables: int) -> pd.DataFrame:
    """Share of honest tables that raise each caution."""
    rows = []
    for seed in range(tables):
        rng, calibration = (
            np.random.default_rng(10_000 + seed),
            ("random", "by_truth")[seed % 4 == 3],
        )
        effect = 1.5 * (seed % 2)
        votes = honest(rng, calibration, effect)
        made = panel.closed_forms(votes)
        row = {c.id: True for one in made for c in one.cautions if c.id in LEVELS}
        if effect:
            row |= dict.fromkeys(("dependent-judges", "near-duplicates"))
        names = {one.method.title: {c.id for c in one.cautions} for one in made}
        quoted = panel.answer(*made).method.title
        row["labels-contradict, quoted"] = "labels-contradict" in names[quoted]
        if calibration == "random":
            row["labels-contradict, labels alone"] = "labels-contradict" in names[ALONE]
        rows.append({**dict.fromkeys(LEVELS, False), **row})
    found = pd.DataFrame(rows).astype(float)
    return pd.DataFrame(
        {"level": pd.Series(LEVELS), "raised": found.mean(), "tables": found.notna().sum()}
    ).rename_axis("caution")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--tables", type=int, default=1000)
    asked = parser.parse_args()
    told = alarms(asked.tables)
    told.to_csv(RESULTS / "false_alarms_honest.csv", float_format="%.4g")
    print(told.round(4).to_string())
    rows = []
    for name, about in PANELS.items():
        for labels in LABELS:
            rng, found = np.random.default_rng(labels), []
            for i in range(asked.draws):
                told = [
                    c.text
                    for c in cautions_of(draw(rng, labels, *about, turned=False))
                    if c.id == "error-rates-differ"
                ]
                kinds = [any(f"equal {k} on" in t for t in told) for k in RATES]
                found.append({**dict(zip(RATES, kinds, strict=True)), "either": bool(told)})
                if i % 5 == 0:
                    votes = draw(rng, labels, *about, turned=True)
                    texts = [c.text for c in cautions_of(votes) if c.id == "error-rates-differ"]
                    found[-1]["power"] = bool(texts)
                    found[-1]["named"] = any("'j0' on 'g0'" in t for t in texts)
            means = pd.DataFrame(found).astype(float).mean()
            rows.append({"panel": name, "labels": labels, "draws": asked.draws, **means})
            pd.DataFrame(rows).to_csv(
                RESULTS / "false_alarms.csv", index=False, float_format="%.4g"
            )
    print(pd.DataFrame(rows).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
