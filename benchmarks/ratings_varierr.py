"""What forced choices hide, on items where the same people gave both.

Run ``python benchmarks/ratings_varierr.py FOLDER`` with the folder that holds VariErr-NLI's
response_sets_long.csv and varierr_compact.csv (Weber-Genzel et al. 2024; not ours to pass on).

Part 1 estimates how people choose from a response set, from paired answers. Part 2 gives the model
100 forced choices of each of 100 items, of 400 others response sets (with), or not (without), and
compares the endorsements of the 100 with the sets that four annotators gave them. Writes
results/ratings_varierr.csv, results/ratings_varierr_choice.csv and results/ratings_varierr.png.
"""

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from bayesjudge import ratings as room

RESULTS = Path(__file__).parent / "results"
OPTIONS = ("e", "n", "c")


def read(folder: Path) -> tuple[room.Ratings, pd.DataFrame]:
    """Both rounds of the annotators, and the 100 choices."""
    long = pd.read_csv(folder / "response_sets_long.csv", keep_default_na=False)
    one = long["round1_labels"].where(long["round1_labels"].str.len() == 1)
    table = pd.DataFrame(
        {
            "item": long["id"],
            "rater": "annotator " + long["annotator"].astype(str),
            "choice": one,
            "response_set": ["|".join(x) or None for x in long["round2_valid_set"]],
        }
    )
    both = room.Ratings.from_frame(
        table, positive="e", options=OPTIONS, response_set="response_set"
    )
    compact = pd.read_csv(folder / "varierr_compact.csv").set_index("id")
    return both, compact.loc[list(both.items), list(OPTIONS)]


def paired_choices(both: room.Ratings, fit: room.Ratings) -> pd.DataFrame:
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


def recovered(both: room.Ratings, choices: pd.DataFrame, *, with_sets: bool) -> dict[str, object]:
    """Endorsements of 100 items from their 100 choices alone; others may have response sets."""
    rng = np.random.default_rng(1)
    target = np.zeros(len(both.items), bool)
    target[rng.choice(len(both.items), 100, replace=False)] = True
    endorsed = np.where(target[None, :, None], 0, both.endorsed)
    data = room.Ratings(
        chosen=choices.to_numpy()[None],
        options=OPTIONS,
        positive="e",
        endorsed=endorsed if with_sets else None,
        sets=both.sets,
        items=both.items,
        sources=("people",),
    )
    begin = time.perf_counter()
    fit = room.fit(data, random_seed=1, draws=500, tune=500)
    seconds = time.perf_counter() - begin
    drawn = room.item_profiles(fit, draws=200)["people"].endorsed[:, target]
    n = both.endorsed[0].sum(axis=1)[target]
    asked = n > 0
    said = (both.endorsed[0] @ both.members.T)[target][asked] / n[asked, None]
    drawn = drawn[:, asked]
    # four annotators are themselves a sample: predict their share, not the population's
    again = rng.binomial(n[asked][None, :, None], np.clip(drawn, 0, 1)) / n[asked][None, :, None]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    low_said, high_said = np.quantile(again, [0.025, 0.975], axis=0)
    mean = drawn.mean(axis=(0, 1))
    return {
        "response sets elsewhere": with_sets,
        "r_hat": fit.diagnostics()["r_hat"].max(),
        "ess": fit.diagnostics()["ess_bulk"].min(),
        "seconds": seconds,
        "width": (high - low).mean(),
        "covers annotators": ((low_said <= said) & (said <= high_said)).mean(),
        "mean error": np.abs(drawn.mean(axis=0) - said).mean(),
        **{f"mean {o}": m for o, m in zip(OPTIONS, mean, strict=True)},
        **{f"annotators {o}": m for o, m in zip(OPTIONS, said.mean(axis=0), strict=True)},
        "cautions": " ".join(c.name for c in fit.cautions),
    }


def main() -> None:
    both, choices = read(Path(sys.argv[1]))
    print(f"{int(both.paired.sum())} paired answers, {both.stray} choices outside the own set")
    fit = room.fit(both, random_seed=1, draws=500, tune=500)
    print("cautions:", [c.name for c in fit.cautions])
    table = paired_choices(both, fit)
    table.round(4).to_csv(RESULTS / "ratings_varierr_choice.csv", index=False)
    print(table.round(3).to_string(index=False))
    rows = [recovered(both, choices, with_sets=w) for w in (True, False)]
    found = pd.DataFrame(rows)
    # choices as they are, for the same items: the status quo
    found.round(4).to_csv(RESULTS / "ratings_varierr.csv", index=False)
    print(found.T.to_string())
    ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")[1]
    labels = table["choice"] + " of {" + table["set"].str.replace("|", ", ") + "}"
    at = np.arange(len(table))
    ax.hlines(at, table["low"], table["high"], lw=3, alpha=0.6)
    ax.plot(table["mean"], at, "o", label="posterior mean, 95 % interval")
    ax.plot(table["observed"], at, "x", color="C1", label="observed, paired answers")
    ax.set_yticks(at, labels)
    ax.set(xlim=(0, 1), xlabel="chosen from the set", ylim=(len(table) - 0.5, -0.5))
    ax.legend(frameon=False)
    ax.figure.savefig(RESULTS / "ratings_varierr.png", dpi=90)


if __name__ == "__main__":
    main()
