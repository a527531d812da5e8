"""How often does `label-selection` speak of labels that came as declared, and of others?

    python benchmarks/verdicts/how_labels_came.py                     # 40 tables a design, 20 s
    python benchmarks/verdicts/how_labels_came.py --tables 400 --power 6 --shared 20    # 9 minutes

A table has 200, 1,000 or 4,000 rows with an id, a time, one of 3 systems, one of 8 topics, a
domain of Zipf-like frequencies, a number of tokens, a latency, a text and a verdict; 20 to 200
have a label. Longer outputs are worse, and the judge errs more often on them.

Honest designs: ``random``; ``stratified`` (as many labels in each topic, declared as strata);
``by group`` (other shares of each system, declared as systems); ``by verdict`` and ``propensity``
(longer outputs twice as often), each as declared; ``items`` (every row of a random item);
``unsure`` (at random, and the annotator gave one in eight no label, or called it unsure). Planted,
all declared as random: the ``first`` rows by time; ``one system``; ``longer`` (by length to the
power 1 or 2); ``by verdict`` (fails 2 or 4 times as often); ``hidden``: difficulty, of which
length is a trace, doubles or quadruples the odds of a label.

Planted tables are read as a ``share`` of one judge, by ``systems``, as ``classes`` or ``scores``
from 1 to 5, as a ``panel`` of three judges, and with two ``people`` who err in 1 of 20. Counted:
tables with the caution, those with the right column, and those so clear that the answer follows the
column. Of these also how often the interval (or the bounds) that is quoted, and the declared one,
holds what is true. Writes to benchmarks/verdicts/results: how_labels_came.csv.

Of three systems on shared items (two of which differ on 3 % of them) rows or whole items have
labels: honest ones by other shares of each system, or whole items; planted ones by length, which
goes with what is good of two systems only, or by the item's topic. Counted are differences too.

Quick: ``--tables 8 --power 0 --shared 1``

Found: of 2,800 honest tables 13 are blamed, .005 with a Monte Carlo error of .001 (.013 of those at
random, .010 of unsure people's, .003 or none of the other designs), and no answer follows a column
(of unsure people's .43 were blamed, and .42 followed the annotator, before these rows were known).
With ``--power 6``: the first rows, one system and length squared are clear in every table (of
systems, which are compared within themselves, one system is not), length by itself in all with 200
labels and in one of six with 50. Where labels go with length or the verdict, what is quoted holds
the truth in .97 of 152 numbers, the declared one in .78 of 159 (errors of .02 and more: the six
tables of a setting are the same for each kind); of classes, whose coverage was unknown, it is in
.99 of 27. Of the first rows and of one system there are bounds, which always hold. People have no
number in 7 of 51 clear tables, all with 50 labels. Of systems on shared items (``--shared 20``)
what is quoted holds .96 of 630 shares in 210 clear tables, the declared number .77 (errors of .01
and .03 by table); of as many differences .98 and .91 (.01 and .02). Of 800 honest ones 3 are
blamed, and no answer follows a column.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge import panel
from bayesjudge.core.answer import is_bounded
from bayesjudge.core.diagnosis import SELECTION, selection_of
from bayesjudge.prevalence import (
    Counts,
    answer,
    classes,
    closed_forms,
    difference,
    exact,
    items,
    paired_difference,
    people,
    scores,
)
from bayesjudge.prevalence.items.closed_form import within_classes

RESULTS = Path(__file__).parent / "results"
HONEST = ("random", "stratified", "by group", "by verdict", "propensity", "items", "unsure",
          "shared, by row", "shared, by item")  # fmt: skip
PLANTED = {
    "first": (("created", ""), (0,)),
    "one system": (("system",), (0,)),
    "longer": (("tokens", "text"), (1, 2)),
    "by verdict": (("verdict", "score"), (2, 4)),
    "hidden": (("tokens", "text"), (2, 4)),
}
#: Of systems on shared items: rows or whole items by their (mean) length, or by the item's topic.
SHARED = {
    "longer, by row": (("tokens",), (1, 2)),
    "longer, by item": (("tokens",), (1, 2)),
    "topic, by row": (("topic",), (3, 6)),
    "topic, by item": (("topic",), (3, 6)),
}


#: Data, what computes their results, and the shares or mean that people would say.
Asked = tuple[Any, Callable[[], tuple[Any, ...]], Sequence[float]]


def table_of(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows without labels, which are good, and how difficult each is."""
    difficulty = rng.normal(size=n)
    length = np.exp(6 + 0.5 * difficulty + 0.5 * rng.normal(size=n))
    good = rng.random(n) < 1 / (1 + np.exp(difficulty - 0.8))
    right = rng.random(n) < 1 / (1 + np.exp(0.5 * difficulty - 1.8))
    zipf = np.minimum(rng.zipf(1.6, n), 30)
    rows = pd.DataFrame(
        {
            "id": [f"q{i:05d}" for i in range(n)],
            "created": pd.date_range("2026-01-01", periods=n, freq="7min").astype(str),
            "system": rng.choice(["a", "b", "c"], n),
            "topic": rng.choice([f"topic {i}" for i in range(8)], n),
            "domain": [f"domain {i}" for i in zipf],
            "tokens": length.round(),
            "latency": rng.gamma(2, 1, n).round(3),
            "text": ["word " * max(int(x / 20), 9) for x in length],
            "verdict": np.where(good == right, "pass", "fail"),
        }
    )
    return rows, good, difficulty


def drawn(rng: np.random.Generator, weight: Any, m: int) -> np.ndarray:
    """So many rows, drawn in proportion to weights."""
    weight = np.asarray(weight, float)
    return rng.choice(len(weight), min(m, int((weight > 0).sum())), False, weight / weight.sum())


def honest(rng: np.random.Generator, design: str) -> Any:
    """Data read from a table whose labels came as declared."""
    n, m = int(rng.choice([200, 1000, 4000])), int(rng.choice([20, 60, 200]))
    if design.startswith("shared"):
        rows, good = shared_of(rng, n // 3)
        shares = rows["system"].map(dict(zip("abc", rng.dirichlet([2, 2, 2]) + 0.1, strict=True)))
        picked = drawn(rng, shares, min(m, n // 2))
        if design == "shared, by item":
            some = rng.choice(n // 3, min(m, n // 2) // 3, replace=False)
            picked = np.flatnonzero(rows["item"].isin(some))
        picked = np.union1d(picked, rows.groupby("system").sample(1, random_state=1).index)
        return items_of(rows, good, picked)
    rows, good, _ = table_of(rng, n)
    m, how = min(m, n // 2), {"calibration": "random"}
    picked = drawn(rng, np.ones(n), m)
    if design == "stratified":
        picked = np.concatenate([
            rng.choice(part, min(len(part), m // 8 + 1), replace=False)
            for part in rows.groupby("topic").indices.values()])  # fmt: skip
        how["stratum"] = "topic"
    elif design == "by group":
        shares = rows["system"].map(dict(zip("abc", rng.dirichlet([2, 2, 2]) + 0.1, strict=True)))
        picked, how["by"] = drawn(rng, shares, m), "system"
        picked = np.union1d(picked, rows.groupby("system").sample(1, random_state=1).index)
    elif design == "by verdict":
        picked, how["calibration"] = (
            drawn(rng, np.where(rows["verdict"] == "fail", 3, 1), m),
            design,
        )
    elif design == "propensity":
        rows["chance"] = np.where(rows["tokens"] > rows["tokens"].median(), 2, 1) * m / n / 1.5
        picked = np.flatnonzero(rng.random(n) < rows["chance"])
        how |= {"calibration": "known_propensity", "propensity": "chance"}
    elif design == "items":
        rows["id"], rows["topic"] = rows["id"].to_numpy()[np.arange(n) // 4], rows["topic"].iloc[0]
        rows["tokens"] = rows["tokens"].to_numpy()[np.arange(n) // 4 * 4]
        rows["domain"] = rows["domain"].to_numpy()[np.arange(n) // 4 * 4]
        picked = np.flatnonzero(np.isin(np.arange(n) // 4, rng.choice(n // 4, m // 4, False)))
    label(rows, good, picked)
    if design == "unsure":
        rows.loc[picked[: m // 8], "truth"] = rng.choice(["", "unsure"])
        how["missing_value"] = "unsure"
    how["calibration"] = how["calibration"].replace(" ", "_")
    if design == "items":
        return items.Items.from_frame(rows, item="id", repeats="system", **how)
    return Counts.from_frame(rows, **how)


def label(rows: pd.DataFrame, good: np.ndarray, picked: np.ndarray) -> None:
    """Write labels into a table, with who gave them."""
    truth = np.full(len(rows), None, object)
    truth[picked] = np.where(good[picked], "pass", "fail")
    rows["truth"], rows["annotator"] = truth, np.where(pd.notna(truth), "Ann", None)


def shared_of(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of three systems on the same items, and which are good; c differs from a on few."""
    topic = rng.integers(8, size=n)
    difficulty = rng.normal(size=n) + 0.2 * topic - 0.7
    own, luck = rng.normal(size=(3, n)), rng.random((3, n))
    hard, slope = difficulty + 0.5 * own, np.array([[1.5], [0.3], [1.5]])  # b fails easy ones too
    good = luck < 1 / (1 + np.exp(slope * hard - np.array([[1.0], [0.4], [1.0]])))
    good[2] = np.where(rng.random(n) < 0.03, ~good[0], good[0])
    right = rng.random((3, n)) < 1 / (1 + np.exp(0.5 * hard - 1.8))
    length = np.exp(6 + 0.4 * hard + 0.4 * rng.normal(size=(3, n))).round()
    rows = pd.DataFrame({
        "item": np.tile(np.arange(n), 3), "system": np.repeat([*"abc"], n),
        "topic": np.tile(topic, 3), "tokens": length.ravel(),
        "latency": rng.gamma(2, 1, 3 * n).round(3),
        "verdict": np.where(good == right, "pass", "fail").ravel()})  # fmt: skip
    seen = (rows["system"] != "b") | (rng.random(3 * n) < 0.9)
    return rows[seen].reset_index(drop=True), good.ravel()[seen]


def items_of(rows: pd.DataFrame, good: np.ndarray, picked: np.ndarray) -> items.Items:
    """Systems on the items that they share."""
    label(rows, good, picked)
    return items.Items.from_frame(rows, by="system", calibration="random")


def shared(rng: np.random.Generator, how: str, strength: float, m: int) -> Asked:
    """Data of shared items whose labels came otherwise, results, and shares of all such items."""
    rows, good = shared_of(rng, 400)
    column, unit = how.split(", by ")
    weight = rows["tokens"] ** strength
    if column == "topic":
        weight = np.where(rows["topic"] < 3, strength, 1.0)
    elif unit == "item":
        weight = rows.groupby("item")["tokens"].mean() ** strength
    if unit == "item":
        weight = np.asarray(weight) if column == "longer" else weight[:400]
        picked = np.flatnonzero(rows["item"].isin(drawn(rng, weight, m)))
    else:
        picked = drawn(rng, weight, 3 * m)
    data = items_of(rows, good, picked)
    return data, lambda: (*closed_forms(data), exact(data)), SHARES


def share_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """Passes and fails of one judge."""
    counts = Counts.from_frame(rows, calibration="random")
    return counts, lambda: (difference(counts), exact(counts)), [good.mean()]


def systems_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """The same by system."""
    counts = Counts.from_frame(rows, calibration="random", by="system")
    return counts, lambda: (exact(counts),), [*pd.Series(good).groupby(rows["system"]).mean()]


def worth_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Any:
    """What an output is worth to people, from 1 to 5, and to the judge that gave the verdict."""
    passed = rows["verdict"] == "pass"
    worth = np.clip(np.where(good, 4, 2) + rng.integers(-1, 2, len(rows)), 1, 5)
    return worth, np.where(passed, rng.integers(4, 6, len(rows)), rng.integers(1, 4, len(rows)))


def scores_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """Numbers from 1 to 5 of people and judge."""
    worth, said = worth_of(rows, good, rng)
    rows = rows.assign(score=said, truth=np.where(rows["truth"].isna(), np.nan, worth))
    scales = {"scale": (1, 5), "truth_scale": (1, 5)}
    read = scores.Scores.from_frame(rows.drop(columns="verdict"), calibration="random", **scales)
    return read, lambda: closed_forms(read), [worth.mean()]


def classes_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """Three classes of these numbers."""
    names = np.array(["", "bad", "bad", "fair", "good", "good"])
    worth, said = (names[x] for x in worth_of(rows, good, rng))
    rows = rows.assign(verdict=said, truth=np.where(rows["truth"].isna(), None, worth))
    read = classes.ClassCounts.from_frame(rows, calibration="random")
    return read, lambda: (difference(read), exact(read)), [
        (worth == name).mean() for name in read.classes]  # fmt: skip


def panel_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """Three judges, of whom two err in one output of five."""
    for name in ("second", "third"):
        wrong = rng.random(len(rows)) < 0.2
        rows = rows.assign(**{name: np.where(good != wrong, "pass", "fail")})
    judges = ["verdict", "second", "third"]
    votes = panel.Votes.from_frame(
        rows, judges=judges, item="id", generator=None, calibration="random"
    )
    return votes, lambda: panel.closed_forms(votes), [good.mean()]


def people_of(rows: pd.DataFrame, good: np.ndarray, rng: np.random.Generator) -> Asked:
    """Two people, who err in one label of twenty."""
    has, labels = rows["truth"].notna(), {}
    for name in ("ann1", "ann2"):
        said = np.where(good != (rng.random(len(rows)) < 0.05), "pass", "fail")
        labels[name] = np.where(has, said, None)
    rows = rows.drop(columns=["truth", "annotator"]).assign(**labels)
    read = people.PeopleCounts.from_frame(rows, truth=[*labels], calibration="random")
    return read, lambda: (exact(read),), [good.mean()]


def _of_all() -> list[float]:
    rows, good = shared_of(np.random.default_rng(1), 500_000)
    return [*pd.Series(good).groupby(rows["system"]).mean()]


#: Shares of good outputs of a, b and c, of items without end (error .0007).
SHARES = _of_all()

KINDS: dict[str, Callable[..., Asked]] = {
    "share": share_of, "systems": systems_of, "classes": classes_of, "scores": scores_of,
    "panel": panel_of, "people": people_of,
}  # fmt: skip


def planted(rng: np.random.Generator, kind: str, how: str, strength: float, m: int) -> Asked:
    """Data read from a table whose labels came otherwise, its results, and what is true."""
    rows, good, difficulty = table_of(rng, 1000)
    weight: Any = {
        "first": lambda: np.arange(1000) < m,
        "one system": lambda: rows["system"] == "a",
        "longer": lambda: rows["tokens"] ** strength,
        "by verdict": lambda: np.where(rows["verdict"] == "fail", strength, 1),
        "hidden": lambda: np.where(difficulty > 0, strength, 1),
    }[how]()
    label(rows, good, drawn(rng, weight, m))
    return KINDS[kind](rows, good, rng)


def holds(quoted: Any, shares: Sequence[float]) -> float:
    """Part of the intervals, or bounds, that hold what is true; of no number, none."""
    rows = [row for *_, row in quoted.rows()]
    return float(np.mean([r.low <= x <= r.high for r, x in zip(rows, shares, strict=True)]))


def power_of(kind: str, how: str, strength: float, m: int, tables: int) -> dict[str, Any]:
    """Shares of tables planted so that speak, name the column, and are answered otherwise."""
    seen: list[dict[str, float]] = []
    for i in range(tables):
        rng = np.random.default_rng([[*PLANTED, *SHARED].index(how), int(strength), m, i])
        draw = shared if kind == "items" else partial(planted, kind=kind)
        data, results, shares = draw(rng, how=how, strength=strength, m=m)
        selection = selection_of(data)
        row = {"speaks": float(selection is not None)}
        if selection is not None:
            named = selection.caution.numbers.get("column", "")
            row |= {"right column": named in (PLANTED | SHARED)[how][0]}
            row |= {"clear": selection.instead is not None}
        if selection is not None and selection.instead is not None:
            tell = panel.answer if kind == "panel" else answer
            estimates = results()
            led = tell(*estimates).quoted
            (_, _, first), *_ = led.rows()
            row |= {"no number": bool(np.isnan(first.low)), "bounds": is_bounded(first)}
            if not np.isnan(first.low):
                row |= {"quoted holds": holds(led, shares), "width": first.high - first.low}
            if kind == "items":
                gaps = [a - b for a, b in itertools.combinations(shares, 2)]
                _, compared = within_classes(data, 0.95)
                row |= {"quoted gaps hold": holds(compared, gaps)}
                row |= {"declared gaps hold": holds(paired_difference(data), gaps)}
            object.__delattr__(data, SELECTION)  # as if nobody had asked how labels came
            declared = tell(*estimates).quoted
            row |= {"declared holds": holds(declared, shares)}
        seen.append(row)
    made = pd.DataFrame(seen, columns=["speaks", "right column", "clear", "bounds", "no number",
                                       "quoted holds", "declared holds", "quoted gaps hold",
                                       "declared gaps hold", "width"],
                        dtype=float)  # fmt: skip
    made[["right column", "clear"]] = made[["right column", "clear"]].fillna(0)
    return {"kind": kind, "labels": how, "strength": strength, "m": m, "tables": tables,
            **made.mean().round(3), "clear tables": int(made["clear"].sum())}  # fmt: skip


def main() -> None:
    """Draw tables, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=40, help="honest ones of each design")
    parser.add_argument("--power", type=int, default=10, help="planted ones of each kind, or none")
    parser.add_argument("--shared", type=int, default=10, help="planted ones of shared items")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for place, design in enumerate(HONEST):
        spoken = clear = 0
        for i in range(asked.tables):
            selection = selection_of(honest(np.random.default_rng([place, i]), design))
            spoken += selection is not None
            clear += selection is not None and selection.instead is not None
        rows.append({"labels": design, "tables": asked.tables, "speaks": spoken / asked.tables,
                     "clear": clear / asked.tables})  # fmt: skip
    for kind in (*KINDS, "items"):
        plants, tables = (SHARED, asked.shared) if kind == "items" else (PLANTED, asked.power)
        if tables == 0:
            continue
        for how, (_, strengths) in plants.items():
            for strength in strengths:
                rows += [power_of(kind, how, strength, m, tables) for m in (50, 200)]
    table = pd.DataFrame(rows)
    table["mc error"] = np.sqrt(table["speaks"] * (1 - table["speaks"]) / table["tables"]).round(4)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "how_labels_came.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
