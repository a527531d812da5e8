"""What do forced choices hide, on items of which the same people gave both?

Run ``python benchmarks/ratings/varierr.py [FOLDER]`` with the folder that holds VariErr-NLI's
response_sets_long.csv and varierr_compact.csv (Weber-Genzel et al. 2024; not ours to pass on);
``--known "choices only"`` runs that part of part 2 alone, and keeps the other results.

Part 1 estimates how people choose from a response set, from paired answers. Part 2 takes 100 items
of which only their 100 forced choices are known, with 100 choices of each of 400 others, and
compares the endorsements found with the sets that four annotators gave to the 100:

``sets of others``  the 400 others have response sets too: F and the mean shares are learnt;
``F known``         F is taken from the 400 others' paired answers, and no set is known;
``choices only``    neither.

The annotators of the sets are four experts and those of the choices a hundred others, so none
of the three can agree with the annotators exactly. Writes varierr.csv, varierr_choice.csv and
varierr.png to benchmarks/ratings/results.

No quick setting: ``--known "F known" --items 50`` takes 26 CPU s once its models are compiled.

Found: from 485 paired answers all nine observed shares of choices lie in the posterior's 95 %
intervals. Of 100 items with choices alone, intervals of the endorsements hold the annotators'
shares in .96 if 400 other items have response sets, in .89 if F is known from them, and in .84 with
neither.
"""

import argparse
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import ratings

RESULTS = Path(__file__).parent / "results"
#: Beside a developer's checkout.
DATA = Path(__file__).parents[3] / "shared" / "data" / "varierr"
OPTIONS = ("e", "n", "c")
KNOWN = ("sets of others", "F known", "choices only")


def read(folder: Path, items: int) -> tuple[ratings.Ratings, pd.DataFrame, np.ndarray, np.ndarray]:
    """Both rounds of the annotators, the 100 choices, a fifth of the items, F from the others."""
    long = pd.read_csv(folder / "response_sets_long.csv", keep_default_na=False)
    long = long[long["id"].isin(long["id"].unique()[:items])]
    one = long["round1_labels"].where(long["round1_labels"].str.len() == 1)
    table = pd.DataFrame(
        {
            "item": long["id"],
            "rater": "annotator " + long["annotator"].astype(str),
            "choice": one,
            "response_set": ["|".join(x) or None for x in long["round2_valid_set"]],
        }
    )

    def counted(rows: pd.DataFrame) -> ratings.Ratings:
        return ratings.Ratings.from_frame(
            rows, positive="e", options=OPTIONS, response_set="response_set"
        )

    both = counted(table)
    compact = pd.read_csv(folder / "varierr_compact.csv").set_index("id")
    target = np.zeros(len(both.items), bool)
    fifth = len(target) // 5
    target[np.random.default_rng(1).choice(len(target), fifth, replace=False)] = True
    names = {name for name, held in zip(both.items, target, strict=True) if held}
    others = counted(table[~table["item"].isin(names)])
    # a flat Dirichlet for each set: the mean of its posterior
    seen = (others.paired[0] + 1) * others.members
    return both, compact.loc[list(both.items), list(OPTIONS)], target, seen / seen.sum(axis=0)


def paired_choices(both: ratings.Ratings, fit: ratings.Ratings) -> pd.DataFrame:
    rows = []
    draws = fit.draws("choice")[:, 0]
    for v, chosen_set in enumerate(both.sets):
        seen = both.paired[0, :, v]
        for k, option in enumerate(both.options):
            if len(chosen_set) == 1 or option not in chosen_set:
                continue
            low, high = np.quantile(draws[:, k, v], [0.025, 0.975])
            rows.append(
                {
                    "set": "|".join(chosen_set),
                    "choice": option,
                    "seen": int(seen[k]),
                    "of": int(seen.sum()),
                    "observed": seen[k] / seen.sum(),
                    "mean": draws[:, k, v].mean(),
                    "low": low,
                    "high": high,
                }
            )
    return pd.DataFrame(rows)


def recovered(
    both: ratings.Ratings, choices: pd.DataFrame, target: np.ndarray, matrix: np.ndarray, known: str
) -> dict[str, object]:
    """Endorsements of 100 items from their 100 choices, and what else is known."""
    rng = np.random.default_rng(1)
    endorsed = np.where(target[None, :, None], 0, both.endorsed)
    data = ratings.Ratings(
        chosen=choices.to_numpy()[None],
        options=OPTIONS,
        positive="e",
        endorsed=endorsed if known == "sets of others" else None,
        sets=both.sets,
        items=both.items,
        sources=("people",),
    )
    choice = ratings.KnownChoice(matrix) if known == "F known" else ratings.FreeChoice()
    begin = time.perf_counter()
    fit = ratings.fit(data, ratings.ResponseSets(choice=choice), random_seed=1, draws=500, tune=500)
    seconds = time.perf_counter() - begin
    shares = ratings.item_shares(fit, draws=200)[:, 0, target]
    n = both.endorsed[0].sum(axis=1)[target]
    asked = n > 0
    gave = both.endorsed[0][target][asked] / n[asked, None]
    said = gave @ both.members.T
    drawn = (shares @ both.members.T)[:, asked]
    # four annotators are themselves a sample: predict their share, not the population's
    again = rng.binomial(n[asked][None, :, None], np.clip(drawn, 0, 1)) / n[asked][None, :, None]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    low_said, high_said = np.quantile(again, [0.025, 0.975], axis=0)
    mean = drawn.mean(axis=(0, 1))
    return {
        "known": known,
        "r_hat": fit.diagnostics()["r_hat"].max(),
        "ess": fit.diagnostics()["ess_bulk"].min(),
        "seconds": seconds,
        "width": (high - low).mean(),
        "covers annotators": ((low_said <= said) & (said <= high_said)).mean(),
        "mean error": np.abs(drawn.mean(axis=0) - said).mean(),
        "set shares off by": np.abs(shares.mean(axis=0)[asked] - gave).sum(axis=-1).mean() / 2,
        **{f"mean {o}": m for o, m in zip(OPTIONS, mean, strict=True)},
        **{f"annotators {o}": m for o, m in zip(OPTIONS, said.mean(axis=0), strict=True)},
        "cautions": " ".join(c.id for c in fit.cautions),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--known", choices=KNOWN, help="all, and part 1, by default")
    parser.add_argument("--items", type=int, default=500)
    asked = parser.parse_args()
    both, choices, target, matrix = read(asked.folder, asked.items)
    each = [asked.known] if asked.known else KNOWN
    found = pd.DataFrame([recovered(both, choices, target, matrix, known) for known in each])
    path = RESULTS / "varierr.csv"
    if asked.known and path.exists():
        old = pd.read_csv(path)
        found = pd.concat([old[old["known"] != asked.known], found])
    found.round(4).to_csv(path, index=False)
    print(found.T.to_string())
    if not asked.known:
        pairs(both)


def pairs(both: ratings.Ratings) -> None:
    """Part 1: how people choose from a set."""
    print(f"{int(both.paired.sum())} paired answers, {both.stray} choices outside the own set")
    fit = ratings.fit(both, random_seed=1, draws=500, tune=500)
    print("cautions:", [c.id for c in fit.cautions])
    table = paired_choices(both, fit)
    table.round(4).to_csv(RESULTS / "varierr_choice.csv", index=False)
    print(table.round(3).to_string(index=False))
    ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")[1]
    labels = table["choice"] + " of {" + table["set"].str.replace("|", ", ") + "}"
    at = np.arange(len(table))
    ax.hlines(at, table["low"], table["high"], lw=3, alpha=0.6)
    ax.plot(table["mean"], at, "o", label="posterior mean, 95 % interval")
    ax.plot(table["observed"], at, "x", color="C1", label="observed, paired answers")
    ax.set_yticks(at, labels)
    ax.set(xlim=(0, 1), xlabel="chosen from the set", ylim=(len(table) - 0.5, -0.5))
    ax.legend(frameon=False)
    ax.figure.savefig(RESULTS / "varierr.png", dpi=90)


if __name__ == "__main__":
    main()
