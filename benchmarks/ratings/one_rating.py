"""How good are decisions from one rating an item, by three closed forms and by the posterior?

    python benchmarks/ratings/one_rating.py

The source's Section 6 names .69 for each item's own reverse matrix F' and .55 for one for all, in
a setting that it does not state. Here: three options, even choices, cutoff .5, 100 items a world.

``own``       F' of each item, which nobody knows: it is made from the item's true shares.
``pooled``    F' from the mean shares, which response sets of other items would give.
``choices``   shares of choices as they are.
``posterior`` the model's guess, an item being positive if that is more likely than not; F is
              known, response sets were given by five raters on 50 further items or nowhere.
``expected``  what the posterior itself says its guess is worth.

Writes one_rating.csv.

Quick: ``--worlds 0 --closed 20``

Found: with one choice an item the posterior decides .66 of the items as they are (response sets of
50 others), between .53 of one reverse matrix for all and .68 of each item's own, which nobody
knows; it expects .67 of itself, and with choices alone .70 where it reaches .65 (six worlds,
standard errors .014).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import ratings
from bayesjudge.ratings.experiment import Setting, make_world, observed_people
from bayesjudge.ratings.experiment.world import World
from bayesjudge.ratings.metrics import Profile
from bayesjudge.ratings.response_sets import reverse

RESULTS = Path(__file__).parent / "results"
SETTING = Setting(options=3)
OPTIONS = ("0", "1", "2")
BUDGETS, CUTOFF, WORLDS, CLOSED_WORLDS, ASKED = (1, 10), 0.5, 6, 200, 50


def closed_forms(worlds: int) -> pd.DataFrame:
    """Each budget's decision consistency, and its standard error over worlds."""
    rng, rows = np.random.default_rng(2), []
    for w in range(worlds):
        world = make_world(SETTING, rng)
        for budget in BUDGETS:
            own = observed_people(world, budget, rng)
            pooled = observed_people(world, budget, rng, pooled=True)
            made = {"own": own, "pooled": pooled, "choices": Profile(own.chosen, own.chosen)}
            for name, profile in made.items():
                consistency = ratings.Definition("decision_consistency", cutoff=CUTOFF)
                value = consistency.value(profile, world.people)
                rows.append((budget, name, w, float(value)))
    return pd.DataFrame(rows, columns=["budget", "method", "world", "consistency"])


def posterior(world: World, budget: int, rng: np.random.Generator, *, asked: bool) -> dict:
    """Categorise the world's items by the posterior, from its choices alone."""
    n, q = world.shares.shape
    chosen = np.zeros((1, n + ASKED, 3), int)
    endorsed = np.zeros((1, n + ASKED, q), int)
    chosen[0, :n] = rng.multinomial(budget, world.people.chosen)
    others = rng.dirichlet(np.ones(q), ASKED)
    chosen[0, n:] = rng.multinomial(budget, others @ world.choice.T)
    if asked:
        endorsed[0, n:] = rng.multinomial(5, others)
    data = ratings.Ratings(chosen, OPTIONS, "0", endorsed=endorsed, sources=("people",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = ratings.ResponseSets(choice=ratings.KnownChoice(world.choice))
        fit = ratings.fit(data, known, random_seed=int(rng.integers(2**31)))
    drawn = ratings.item_profiles(fit, draws=400)["people"].endorsed[:, :n, 0]
    positive = (drawn >= CUTOFF).mean(axis=0)
    guess = positive > 0.5
    right = guess == (world.people.endorsed[:, 0] >= CUTOFF)
    name = "posterior, sets of others" if asked else "posterior, choices only"
    sure = np.maximum(positive, 1 - positive)
    return {
        "budget": budget,
        "method": name,
        "consistency": right.mean(),
        "expected": sure.mean(),
        "converged": fit.converged,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=WORLDS, help="sampled with NUTS")
    parser.add_argument("--closed", type=int, default=CLOSED_WORLDS, help="for the closed forms")
    asked = parser.parse_args()
    closed = closed_forms(asked.closed)
    rng, rows = np.random.default_rng(3), []
    for w in range(asked.worlds):
        world = make_world(SETTING, rng)
        for budget in BUDGETS:
            rows += [{"world": w, **posterior(world, budget, rng, asked=a)} for a in (True, False)]
    every = pd.concat([closed, pd.DataFrame(rows)])
    every = every.reindex(columns=[*every.columns.union(["expected", "converged"], sort=False)])
    by = every.groupby(["budget", "method"])
    table = by["consistency"].agg(consistency="mean", error="sem", worlds="size")
    table["expected"] = by["expected"].mean()
    table["converged"] = by["converged"].mean()
    # the closed forms' guesses with F' of a flat mean, to see where .55 and .69 come from
    flat = reverse(np.full(7, 1 / 7), make_world(SETTING, rng).choice, np.eye(7))[0]
    members = ratings.response_sets.membership(
        OPTIONS, ratings.response_sets.all_response_sets(OPTIONS)
    )
    print("endorsement of option 0 given a choice of 0, 1, 2 (pooled F'):", (members @ flat)[0])
    table.reset_index().to_csv(RESULTS / "one_rating.csv", index=False, float_format="%.4g")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
