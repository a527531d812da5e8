"""Is the judge that is said to err least the one that does, and does a rate in doubt mean more?

    python benchmarks/panel/trust.py               # 200 panels a setting

Panels of 3 and of 6 judges, whose sensitivity and specificity are drawn evenly between .6 and .95,
each about 400 outputs of one generator, .6 of them good, some of them labelled at random. The
judge with the largest sum of rates on the labelled ones is held against each other by `less_error`,
as the answer of a panel does. ``least`` is the sentence that names one judge, ``more`` that a judge
errs more than it, ``set`` that one is to be trusted of those that are named. ``right`` is how often
that is so.

The second table is of a caution that was not made: a rate of a judge by Dawid and Skene's model
outside the 95 % interval of the labelled items alone, judges' errors being independent or not.

Writes benchmarks/panel/results/trust.csv and trust_rates.csv.

Quick: ``--runs 2``

Found: with 200 panels a setting, the judge that errs least is so in .969 of 193 and the one that
probably does in .868 of 190 (the least of the probabilities beside them are .993 and .942 on
average), one that errs more, or probably errs more, than it in .984 of 1,889 and .903 of 854 (.995
and .944); of those that are to be trusted one is the best in .969 of 817, .950 of six judges. No
caution of rates that differ was made: of panels whose judges err independently .13 would have it
(.41 of six judges with 40 labels) and .04 have ``dependent-judges``; where they err together, .26
and .66 against .29 and .81.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import panel
from bayesjudge.core.answer import PROBABLE, claim, entries
from bayesjudge.panel.checks import less_error

RESULTS = Path(__file__).parent / "results"
SEED, ITEMS, GOOD = 20_512, 400, 0.6
JUDGES, LABELLED, EFFECTS = (3, 6), (40, 80, 200), (0.0, 1.0, 2.0)


def drawn(
    judges: int, labelled: int, effect: float, rng: np.random.Generator
) -> tuple[panel.Votes, np.ndarray]:
    """A panel, and the sum of each judge's rates."""
    rates = rng.uniform(0.6, 0.95, (2, judges))
    table = panel.simulate(
        prevalence=[GOOD], sensitivity=rates[0], specificity=rates[1], items=ITEMS,
        labelled=labelled, missing=0.0, shared_effect=effect, random_seed=rng,
    )  # fmt: skip
    return panel.Votes.from_frame(table, calibration="random"), rates.sum(axis=0)


def claims(votes: panel.Votes, worth: np.ndarray) -> list[tuple[str, str, float, bool]]:
    """What is claimed, with what probability, and whether it is right."""
    found = entries(panel.rogan_gladen(votes))
    total = [found["sensitivity", j].value + found["specificity", j].value for j in votes.judges]
    best = int(np.nanargmax(total))
    chances = {
        j: less_error(votes, votes.judges[best], votes.judges[j])
        for j in range(len(worth))
        if j != best
    }
    alike = [j for j, prob in chances.items() if prob < PROBABLE]
    least = min(chances.values())
    made = [("set", "all", np.nan, int(worth.argmax()) in (best, *alike))] if alike else []
    if not alike:
        made.append(("least", claim(least, "errs"), least, bool(worth.argmax() == best)))
    return made + [
        ("more", claim(prob, "errs", "err"), prob, bool(worth[j] < worth[best]))
        for j, prob in chances.items()
        if j not in alike
    ]


def outside(votes: panel.Votes) -> dict[str, bool]:
    """Whether a rate by the model is outside of its interval by labels, and the caution's alarm."""
    by_labels = panel.rogan_gladen(votes)
    by_model = entries(panel.dawid_skene_em(votes))
    beyond = [
        not row.low <= by_model[key].value <= row.high
        for key, row in entries(by_labels).items()
        if len(key) == 2 and key[0] in ("sensitivity", "specificity") and not np.isnan(row.low)
    ]
    return {
        "outside": any(beyond),
        "dependent_votes": any("dependent" in c.id for c in panel.panel_mean(votes).cautions)
        or any("independent-errors" in a.id and a.contradicted_by
               for a in panel.dawid_skene_em(votes).assumptions),
    }  # fmt: skip


def study(runs: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How often claims are right; how often rates are outside."""
    rng, rows, rates = np.random.default_rng(SEED), [], []
    for judges in JUDGES:
        for labelled in LABELLED:
            for _ in range(runs):
                votes, worth = drawn(judges, labelled, 0.0, rng)
                rows += [(judges, labelled, *one) for one in claims(votes, worth)]
            for effect in EFFECTS:
                for _ in range(runs // 2):
                    votes, _ = drawn(judges, labelled, effect, rng)
                    rates.append({"judges": judges, "labelled": labelled, "effect": effect,
                                  **outside(votes)})  # fmt: skip
    columns = ["judges", "labelled", "kind", "claim", "said", "right"]
    by = pd.DataFrame(rows, columns=columns).groupby(columns[:4])
    first = by[["said", "right"]].mean().assign(claims=by.size()).round(4).reset_index()
    of = pd.DataFrame(rates).groupby(["judges", "labelled", "effect"])
    return first, of.mean().assign(panels=of.size()).round(4).reset_index()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="panels a setting")
    for name, made in zip(("trust", "trust_rates"), study(parser.parse_args().runs), strict=True):
        made.to_csv(RESULTS / f"{name}.csv", index=False)
