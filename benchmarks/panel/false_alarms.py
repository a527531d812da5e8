"""How often is a judge's rate on a generator called different where none differs?

    python benchmarks/panel/false_alarms.py               # 200 draws a setting
    python benchmarks/panel/false_alarms.py --draws 40    # a minute

Judges have the same error rates on all generators, and labels are a random sample of all items. A
draw counts if the caution ``error-rates-differ`` is raised for sensitivity, for specificity, or
either: nominal are 1 % each, 2 % together. ``power``: the same with one judge's votes on one
generator turned at random, and the share of draws in which exactly that cell is named first. Writes
``false_alarms.csv``.

Found: of 3,200 draws, 200 of each of sixteen settings, 29 are called different, .9 % (nominal 2 %):
.8 % at 50 labels, .6 % at 100, 1.3 % at 200, 1.0 % at 400, and 2.5 % in the worst setting. A cell
of votes at random is seldom found by so few labels: in 0 to .08 of the draws up to 200, in .03 to
.58 with 400.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    asked = parser.parse_args()
    rows = []
    for name, about in PANELS.items():
        for labels in LABELS:
            rng, found = np.random.default_rng(labels), []
            for i in range(asked.draws):
                told = [
                    c.text
                    for c in cautions_of(draw(rng, labels, *about, turned=False))
                    if c.name == "error-rates-differ"
                ]
                kinds = [any(f"equal {k} on" in t for t in told) for k in RATES]
                found.append({**dict(zip(RATES, kinds, strict=True)), "either": bool(told)})
                if i % 5 == 0:
                    votes = draw(rng, labels, *about, turned=True)
                    texts = [c.text for c in cautions_of(votes) if c.name == "error-rates-differ"]
                    found[-1]["power"] = bool(texts)
                    found[-1]["named"] = any("'j0' on 'g0'" in t for t in texts)
            means = pd.DataFrame(found).astype(float).mean()
            rows.append({"panel": name, "labels": labels, "draws": asked.draws, **means})
            pd.DataFrame(rows).to_csv(
                RESULTS / "false_alarms.csv", index=False, float_format="%.4g"
            )
    print(pd.DataFrame(rows).round(4).to_string(index=False))


RATES = ("sensitivity", "specificity")

if __name__ == "__main__":
    main()
