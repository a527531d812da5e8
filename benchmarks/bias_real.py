"""The bias room on real judges: published neighbours, criteria prompts, presentation orders.

    python benchmarks/bias_real.py --data ../shared/data

writes benchmarks/results/bias_real.md. The folder has what the documentation of the data calls
bias_neighbours, composo and llmbar.
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import bias, side_by_side

RESULTS = Path(__file__).parent / "results"
PROMPTS = ("cal-low", "cal-cross", "criteria")


def neighbours(folder):
    """Four judges on Arena-Hard: score changes of 2 to 40 re-judged items, scale 1 to 5."""
    found = json.loads((folder / "bias_neighbours/neighbour_differences.json").read_text())
    rows = []
    for judge, own in found["judges"].items():
        measured = {}
        for kind in ("intrinsic", "formatting"):
            shifts = bias.Shifts.from_differences(own[kind]["diffs"], scale=(1, 5))
            measured[kind] = bias.exact(shifts, step=1, prior="spread")["rms_shift[perturbed]"]
            closed = bias.rms_shift(shifts)["rms_shift[perturbed]"]
            row = {"judge": judge, "kind": kind, "m": len(own[kind]["diffs"])}
            row |= {"RMS": closed.value}
            row |= {"posterior": interval(measured[kind])}
            row |= {"distribution-free": interval(free(shifts))}
            if kind == "formatting":
                about = {"tolerance": 0.5, "failure_prob": 0.01, "units": "range"}
                card = bias.certify(shifts, **about)
                published = bias.largest_alpha(closed.value / 4, tolerance=0.5, failure_prob=0.01)
                row |= {
                    "alpha, source": f"{published:.3f}",
                    "alpha, certified": f"{card.alpha:.3f}",
                }
                row |= {"rests on": "scale alone" if card.range_only else "neighbours"}
                row |= {"needed": card.needed}
            rows.append(row)
    return pd.DataFrame(rows).astype(object).fillna("")


def free(shifts):
    return bias.rms_shift(shifts, interval="distribution_free")["rms_shift[perturbed]"]


def interval(row):
    return f"{row.value:.3f} ({row.low:.3f}, {row.high:.3f})"


def composo(folder, judge):
    """Mean of 8 scores under four prompts, on the same responses; scale 1 to 10."""
    tables = []
    for prompt in ("base", *PROMPTS):
        path = folder / f"composo/{prompt}_both_k8.jsonl.gz"
        with gzip.open(path, "rt") as file:
            for line in file:
                item = json.loads(line)
                for response, scores in enumerate(item[f"{judge}_scores"] or []):
                    name = f"{item['subset']}/{item['id']}/{response}"
                    tables += [(name, prompt, score) for score in scores]
    table = pd.DataFrame(tables, columns=["item", "variant", "score"])
    table["score"] = table["score"].astype(float)
    known = set(table.loc[table["variant"] == "base", "item"])
    unknown = set(table["item"]) - known
    table = table[table["item"].isin(known)]
    print(f"{judge}: {len(known)} responses; {len(unknown)} have no base score and are left out")
    shifts = bias.Shifts.from_frame(
        table, scale=(1, 10), design="item", baseline="base", repeats="mean", missing="drop"
    )
    closed, fit = bias.variance_parts(shifts), bias.fit(shifts, random_seed=1)
    about = {"tolerance": 0.5, "failure_prob": 0.05, "units": "points"}
    return side_by_side(closed, fit), bias.certify(shifts, **about), fit


def orders(folder):
    """LLMBar Natural: six judges, fifteen prompts, 100 pairs in both orders."""
    table = pd.read_csv(folder / "llmbar/judgments_natural.csv.gz")
    read = bias.Orders.from_frame(table, by=["llm", "strategy"], missing="drop")
    found = bias.position_bias(read).table
    names = found.index.to_series().str.extract(r"(\w+)\[(.*)\]$")
    found = found.assign(quantity=names[0].to_numpy(), judge=names[1].to_numpy())
    shown = found.assign(text=[interval(row) for row in found.itertuples()])
    wide = shown.pivot(index="judge", columns="quantity", values="text").reset_index()
    return wide.assign(pairs=read.pairs, unparsed=read.missing)


def as_markdown(table):
    rows = [table.columns, ["---"] * table.shape[1], *table.to_numpy()]
    return ["| " + " | ".join(map(shown, row)) + " |" for row in rows]


def shown(value):
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    lines = ["# Real judges", "", "Made by `python benchmarks/bias_real.py --data FOLDER`.", ""]
    lines += ["## Published neighbours", "", *as_markdown(neighbours(data)), ""]
    for judge in ("full", "mini"):
        table, card, fit = composo(data, judge)
        lines += [f"## Prompts, judge {judge}", "", f"Converged: {fit.converged}.", ""]
        lines += [*as_markdown(table.drop(columns="interval")), "", card.text, ""]
    lines += ["## Presentation order", "", *as_markdown(orders(data))]
    (RESULTS / "bias_real.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
