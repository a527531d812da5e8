"""Is P(judge is best) right, at 1, 3, 10 and 100 ratings an item?

    python benchmarks/ratings/best.py               # 12 worlds a budget
    python benchmarks/ratings/best.py --worlds 40   # continues the last run

Three judges and 60 items; a judge's shares of response sets are a mix of people's and of its own,
those of half the judges sharpened (the third power: they repeat themselves, which is not the
model's own form). A judge chooses from a set in its own way, and a third of the items have three
response sets of every source besides. ``tied`` draws each judge together with people
(`bayesjudge.ratings.tracking`), ``untied`` every source by itself, ``counted`` takes frequencies
of the bootstrap. Writes best.csv (by budget and method), best.png (reliability)
and every probability to best.jsonl. ``coverage`` is of 95 % intervals of the definition's
value, over all judges, and ``sharp`` over the sharpened ones.

Quick: ``--worlds 1 --budgets 1``

Found: drawn together with people (`tied`), 95 % intervals of a judge's value hold .85 to .90 at 1
to 10 choices an item; `untied` .39 to .56, the bootstrap .24 to .40. At 100 choices (three worlds)
tied and untied always name the best judge, the bootstrap in .83.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import ratings
from bayesjudge.ratings.metrics import Profile

RESULTS = Path(__file__).parent / "results"
OPTIONS = ("yes", "no")
MEMBERS = ratings.response_sets.membership(
    OPTIONS, ratings.response_sets.all_response_sets(OPTIONS)
)
BUDGETS = (1, 3, 10, 100)
ITEMS, JUDGES, ASKED = 60, 3, 20
OF = (
    ratings.Definition("mse"),
    ratings.Definition("decision_consistency"),
    ratings.Definition("js_divergence", "soft", "soft"),
    ratings.Definition("hit_rate", "hard", "hard"),
)
SEED = 20_261


def world(rng: np.random.Generator, budget: int) -> tuple[ratings.Ratings, np.ndarray, np.ndarray]:
    """Ratings, the true value of each definition for each judge, and who is sharpened."""
    mean = rng.dirichlet((4, 4, 3))
    people = rng.dirichlet(rng.uniform(2, 6) * mean, ITEMS)
    alike = rng.uniform(0.2, 0.95, JUDGES)
    shares, strengths = [people], rng.normal(0, 1, JUDGES + 1)
    sharp = rng.random(JUDGES) < 0.5
    for a, power in zip(alike, np.where(sharp, 3, 1), strict=True):
        own = rng.dirichlet(4 * rng.dirichlet(11 * mean), ITEMS)
        mixed = (a * people + (1 - a) * own) ** power
        shares.append(mixed / mixed.sum(axis=1, keepdims=True))
    profiles, chosen, endorsed = [], [], np.zeros((JUDGES + 1, ITEMS, 3), int)
    for s, (share, strength) in enumerate(zip(shares, strengths, strict=True)):
        choices = share @ ratings.response_sets.choice_matrix(MEMBERS, strength).T
        profiles.append(Profile(choices, share @ MEMBERS.T))
        chosen.append(rng.multinomial(budget, choices))
        endorsed[s, :ASKED] = rng.multinomial(3, share[:ASKED])
    names = ("people", *(f"judge {j}" for j in range(1, JUDGES + 1)))
    data = ratings.Ratings(np.array(chosen), OPTIONS, "yes", endorsed=endorsed, sources=names)
    true = [[d.value(judge, profiles[0]) for judge in profiles[1:]] for d in OF]
    return data, np.array(true), sharp


def one(seed: int, budget: int) -> list[dict[str, Any]]:
    """Every method's values and P(best) in one world."""
    data, true, sharp = world(np.random.default_rng([SEED, budget, seed]), budget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ratings.fit(data, random_seed=seed, draws=500, tune=400, chains=4)
    found = {
        "tied": ratings.performance(fit, of=OF, draws=200, random_seed=seed),
        "untied": ratings.performance(fit, of=OF, draws=200, tracking=None, random_seed=seed),
        "counted": ratings.agreement(
            data, of=OF, replicates=200, pseudo_count=0.5, random_seed=seed
        ),
    }
    rows = []
    for method, one_found in found.items():
        best = one_found.best().to_numpy()
        for i, d in enumerate(OF):
            loss = d.loss(true[i])
            alone = replace(
                one_found,
                definitions=(d,),
                values=one_found.values[[i]],
                draws=one_found.draws[:, [i]],
            )
            ends = alone.estimate().quantities[d.metric]
            rows.append(
                {
                    "budget": budget,
                    "world": seed,
                    "method": method,
                    "definition": str(d),
                    "converged": fit.converged,
                    "mixed": "not-mixed" not in {c.id for c in one_found.cautions},
                    "best": int(loss.argmin()),
                    "sharp": sharp.tolist(),
                    "probability": best[i].round(4).tolist(),
                    "error": (one_found.values[i] - true[i]).round(5).tolist(),
                    "covered": ((ends.low <= true[i]) & (true[i] <= ends.high)).tolist(),
                }
            )
    return rows


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores of the probabilities, and bias of the values, by budget, method and definition."""
    p = np.array(rows["probability"].tolist())
    hit = np.eye(JUDGES)[rows["best"].to_numpy()]
    right = (p * hit).sum(axis=1)
    scored = rows[["budget", "method", "definition"]].assign(
        top_is_best=p.argmax(axis=1) == rows["best"].to_numpy(),
        top_claimed=p.max(axis=1),
        given_to_best=right,
        brier=((p - hit) ** 2).sum(axis=1),
        log_loss=-np.log(np.maximum(right, 1 / 400)),
        bias=[np.mean(e) for e in rows["error"]],
        coverage=[np.mean(c) for c in rows["covered"]],
        sharp=[
            np.mean(np.array(c)[s]) if any(s) else np.nan
            for c, s in zip(rows["covered"], rows["sharp"], strict=True)
        ],
    )
    by = scored.groupby(["budget", "method", "definition"])
    return by.mean().assign(worlds=by.size()).reset_index()


def draw(rows: pd.DataFrame) -> None:
    """Reliability: among judges given a probability, how many were the best."""
    figure, axes = plt.subplots(1, len(BUDGETS), figsize=(14, 3.9), layout="constrained")
    edges = np.array([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0001])
    for ax, budget in zip(axes, BUDGETS, strict=True):
        for method in ("tied", "untied", "counted"):
            here = rows[(rows["budget"] == budget) & (rows["method"] == method)]
            if here.empty:
                continue
            p = np.array(here["probability"].tolist())
            hit = np.eye(JUDGES)[here["best"].to_numpy()]
            at = np.digitize(p.ravel(), edges) - 1
            n = np.bincount(at, minlength=len(edges) - 1)
            seen = np.bincount(at, hit.ravel(), len(edges) - 1)[n > 0] / n[n > 0]
            claimed = np.bincount(at, p.ravel(), len(edges) - 1)[n > 0] / n[n > 0]
            ax.plot(claimed, seen, "o-", label=method, alpha=0.8)
        ax.plot([0, 1], [0, 1], "k:", lw=1)
        ax.set_title(f"{budget} choice{'s' * (budget > 1)} an item")
        ax.set(xlabel="P(best) claimed", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("share that were the best")
    axes[0].legend(frameon=False)
    figure.savefig(RESULTS / "best.png", dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=12)
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    asked = parser.parse_args()
    path = RESULTS / "best.jsonl"
    path.touch()
    done = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    have = set(zip(done["budget"], done["world"], strict=True)) if len(done) else set()
    with path.open("a", encoding="utf-8") as file:
        for seed in range(asked.worlds):
            for budget in asked.budgets:
                # a hundred choices cost most and leave least to learn: every fourth world
                if (budget, seed) not in have and (budget < 100 or seed % 4 == 3):
                    lines = [json.dumps(row) for row in one(seed, budget)]
                    file.write("\n".join(lines) + "\n")
                    file.flush()
    rows = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    table = summarise(rows)
    table.to_csv(RESULTS / "best.csv", index=False, float_format="%.4g")
    print(table.round(3).to_string(index=False))
    print(rows.groupby("budget")[["converged", "mixed"]].mean())
    draw(rows)


if __name__ == "__main__":
    main()
