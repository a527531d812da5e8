"""How often does a rubric say that labels did not come as declared, rightly and wrongly?

    python benchmarks/rubric/how_labels_came.py                          # 10 tables a setting, 25 s
    python benchmarks/rubric/how_labels_came.py --tables 70 --power 6    # 4 minutes

A table has 150 or 500 items (600 of planted ones) of one or two systems, judged on four criteria
that are about most outputs, or on 3 to 11 criteria of the item's own; a topic, tokens of the prompt
and of the output, a latency. Difficult items are longer and worse. It is read as a row a criterion,
and, of shared criteria, as a row an output as well.

Honest: whole ``items`` of all systems, ``outputs``, of each system another share (``systems``),
``cells``, of each criterion another share of cells (``criteria``), outputs without the cells that
are not about them (``applies``). Planted: ``longer`` outputs or ``long prompts`` (by length to the
power 1 or 2), the ``first`` items, cells that ``fail`` 2 or 4 times as often, outputs by how many
criteria fail (``many fail``).

Writes to benchmarks/rubric/results: how_labels_came.csv.

Quick: ``--tables 3 --power 1``

Found: of 2,030 honest tables 12 are blamed, .006 with an error of .002 (rows of shared criteria
.005, of outputs .008, of own criteria .004; no cells, .012 of outputs at the most). The first
items, long prompts and length squared are seen in each of 36 tables, with 50 and with 200 labelled
outputs; length by itself in .58 and 1, fails labelled twice as often in .22 and .92, four times in
.83 and 1, outputs with many fails in .22 and .89 (errors up to .08).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.diagnosis import selection_of
from bayesjudge.rubric import Rubric, answer, total

RESULTS = Path(__file__).parent / "results"
HONEST = ("items", "outputs", "systems", "cells", "criteria", "applies")
PLANTED = (
    *(("longer", 1), ("longer", 2), ("long prompts", 2), ("first", 0)),
    *(("fail", 2), ("fail", 4), ("many fail", 1)),
)
OF_OUTPUT = ["id", "model", "topic", "prompt", "length", "latency"]


def cells_of(rng: np.random.Generator, items: int, systems: int, own: bool) -> pd.DataFrame:
    """A row for each criterion of each output, with people's verdict on all."""
    difficulty = rng.normal(size=items)

    def tokens(least: float) -> np.ndarray:
        return np.exp(least + difficulty / 2 + rng.normal(size=items) / 2).round()

    about = {"id": np.arange(items), "topic": rng.choice([*"abcde"], items), "prompt": tokens(5)}
    parts = []
    for system in range(systems):
        each = {"model": "xy"[system], "length": tokens(6), "latency": rng.gamma(2, 1, items)}
        criteria = rng.integers(3, 12, items) if own else np.full(items, 4)
        for c in range(criteria.max()):
            odds = 1 - difficulty - 0.3 * (c + system)
            good = rng.random(items) < 1 / (1 + np.exp(-odds))
            judged = (good == (rng.random(items) < 0.85)).astype(int).astype(object)
            if c == 1 and not own:
                judged[rng.random(items) < 0.1] = "n/a"
            names = [f"own {i} {c}" if own else f"c{c}" for i in range(items)]
            rows = pd.DataFrame({**about, **each, "criterion": names, "verdict": judged})
            parts.append(rows.assign(good=good.astype(int), place=c)[criteria > c])
    return pd.concat(parts).sort_values(["id", "model", "place"], ignore_index=True)


def labelled(rng: np.random.Generator, rows: pd.DataFrame, how: str, power: float, m: int) -> Any:
    """Which cells people judged, of about `m` outputs."""
    name = rows["id"].astype(str) + rows["model"]
    _, first, output = np.unique(name, return_index=True, return_inverse=True)
    n, outputs, failed = rows["id"].max() + 1, len(first), (rows["verdict"] == 0).to_numpy()
    applies = (rows["verdict"] != "n/a").to_numpy()

    def of_items(weight: Any) -> Any:
        weight = np.asarray(weight, float)
        most = min(m, int((weight > 0).sum()))
        return rows["id"].isin(rng.choice(n, most, False, weight / weight.sum())).to_numpy()

    def of_outputs(weight: Any) -> np.ndarray:
        weight = np.asarray(weight, float)
        return np.isin(output, rng.choice(outputs, m, False, weight / weight.sum()))

    def of_cells(weight: Any) -> np.ndarray:
        return rng.random(len(rows)) < np.minimum(0.9, m / outputs * weight / np.mean(weight))

    ones, prompt = np.ones(outputs), rows.groupby("id")["prompt"].first()
    ways = {
        "items": lambda: of_items(np.ones(n)),
        "outputs": lambda: of_outputs(ones),
        "systems": lambda: of_outputs(np.where(rows["model"] == "x", 1, 3)[first]),
        "cells": lambda: of_cells(np.ones(len(rows))),
        "criteria": lambda: of_cells(1 + 0.7 * rows["place"].to_numpy()),
        "applies": lambda: of_outputs(ones) & applies,
        "longer": lambda: of_outputs(rows["length"].to_numpy()[first] ** power),
        "long prompts": lambda: of_items(prompt**power),
        "first": lambda: (rows["id"] < m).to_numpy(),
        "fail": lambda: of_cells(np.where(failed, power, 1.0)),
        "many fail": lambda: of_outputs(0.5 + power * np.bincount(output, failed)),
    }
    return ways[how]()


def read(rows: pd.DataFrame, picked: Any, by: str | None, wide: bool) -> Rubric:
    """The rubric of a table."""
    truth = np.where(rows["verdict"] == "n/a", "n/a", rows["good"].astype(object))
    table = rows.drop(columns=["good", "place"]).assign(truth=np.where(picked, truth, None))
    how: dict[str, Any] = {"calibration": "random", "item": "id", "by": by}
    if wide:
        names = [*table["criterion"].unique()]
        each = [part.set_index(["id", "model"]) for _, part in table.groupby("criterion")]
        columns = {}
        for name, part in zip(sorted(names), each, strict=True):
            columns |= {f"judge_{name}": part["verdict"], f"human_{name}": part["truth"]}
        about = table.drop_duplicates(["id", "model"])[OF_OUTPUT]
        table = about.merge(pd.DataFrame(columns).reset_index(), on=["id", "model"])
        how["criteria"] = {name: (f"judge_{name}", f"human_{name}") for name in names}
    return Rubric.from_frame(table, **how)


def held(rubric: Rubric, rows: pd.DataFrame) -> dict[str, float]:
    """Part of the systems whose total is inside the interval that is quoted; and as declared."""
    rows = rows[rows["verdict"] != "n/a"]
    by_output = rows.groupby(["model", "id"])["good"].mean().groupby("model").mean()
    means = [by_output.mean()] if len(rubric.names) == 1 else [*by_output]
    found = {}
    for name, told in (("quoted", rubric), ("declared", replace(rubric, place=None))):
        quoted = answer(*total(told)).quoted.only("total")
        ends = [row for *_, row in quoted.rows()]
        inside = [row.low <= x <= row.high for row, x in zip(ends, means, strict=True)]
        found |= {f"{name} holds": float(np.mean(inside))}
        found |= {f"{name} width": float(np.mean([row.high - row.low for row in ends]))}
    return found


def counted(setting: dict[str, Any], tables: int, seed: list[int]) -> dict[str, Any]:
    """A setting, and the share of its tables that say so."""
    own, systems = setting["criteria"] == "own", setting["systems"]
    wide, by = setting["rows"] == "output", "model" if systems > 1 else None
    how, power, spoken = setting["labels"], setting["strength"], 0
    clear: list[dict[str, float]] = []
    for i in range(tables):
        rng = np.random.default_rng([*seed, i])
        items = int(rng.choice([150, 500])) if setting["honest"] else 600
        m = int(rng.choice([30, 80])) if setting["honest"] else setting["m"]
        rows = cells_of(rng, items, systems, own)
        rubric = read(rows, labelled(rng, rows, how, power, m), by, wide)
        spoken += selection_of(rubric) is not None
        clear += [] if rubric.place is None else [held(rubric, rows)]
    share = spoken / max(tables, 1)
    return {**setting, "tables": tables, "speaks": share, "clear tables": len(clear),
            **pd.DataFrame(clear).mean().round(3),
            "mc error": round((share * (1 - share) / max(tables, 1)) ** 0.5, 4)}  # fmt: skip


def main() -> None:
    """Draw tables, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10, help="honest ones of each setting")
    parser.add_argument("--power", type=int, default=3, help="planted ones of each setting")
    asked = parser.parse_args()
    made = []
    kinds = [("shared", "criterion"), ("shared", "output"), ("own", "criterion")]
    for (criteria, rows), systems in product(kinds, (1, 2)):
        about = {"criteria": criteria, "rows": rows, "systems": systems}
        for k, how in enumerate(HONEST):
            if (how == "systems" and systems == 1) or (how in HONEST[4:] and criteria == "own"):
                continue
            setting = {**about, "honest": True, "labels": how, "strength": 0, "m": 0}
            made.append(counted(setting, asked.tables, [systems, criteria == "own", k]))
        for (k, (how, power)), m in product(enumerate(PLANTED), (50, 200)):
            setting = {**about, "honest": False, "labels": how, "strength": power, "m": m}
            made.append(counted(setting, asked.power, [systems, criteria == "own", k, m]))
    table = pd.DataFrame(made)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "how_labels_came.csv", index=False, lineterminator="\n")
    honest = table[table["honest"]]
    blamed, n = (honest["speaks"] * honest["tables"]).sum(), honest["tables"].sum()
    print(f"honest: {blamed:.0f} of {n} tables are blamed, {blamed / n:.4f}")
    planted = table[~table["honest"]]
    at = ["labels", "strength", "m"]
    print(planted.pivot_table(index=at, columns=["criteria", "rows", "systems"], values="speaks"))
    clear = planted[planted["clear tables"] > 0]
    weight = clear["clear tables"]
    for name in ("quoted holds", "declared holds", "quoted width", "declared width"):
        print(name, round(float((clear[name] * weight).sum() / weight.sum()), 3), int(weight.sum()))


if __name__ == "__main__":
    main()
