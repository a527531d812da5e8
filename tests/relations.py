"""Relations that hold of every module's closed forms, on random tables.

A relation is a fact about the question, not about a formula: what the rows' order, a name, or more
of the same data can and cannot change. Each takes a module's contract entry, a table, the way to
read it and the closed forms of it, and yields what does not hold. All are in `RELATIONS`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from contract import MIRRORED, NAMES, Module

import bayesjudge as bj
from bayesjudge.core.answer import Answer, answer_of
from bayesjudge.core.estimate import Estimate, label
from bayesjudge.render.json import to_json
from bayesjudge.render.page import page_of

Read = Callable[[Any], Any]
Made = tuple[Estimate, ...]
Relation = Callable[[Module, Any, Read, Made], Iterator[str]]
#: A caution whose name begins so says why there is no value, or no interval.
NO_NUMBER = ("no-", "empty-", "few-", "unknown-")
RELATIONS: dict[str, Relation] = {}


def relation(check: Relation) -> Relation:
    """Join `RELATIONS`."""
    RELATIONS[check.__name__] = check
    return check


def forms(one: Module, read: Read, table: Any, **settings: Any) -> Made:
    """Closed forms of a table, by settings with which they are quick."""
    return one.module.closed_forms(read(table), **{**one.quick, **settings})


def entries(made: Iterable[Estimate]) -> dict[tuple[Any, ...], tuple[float, float, float]]:
    """Numbers by method, quantity and coordinates."""
    return {
        (one.method.title, quantity, *where.values()): tuple(row)
        for one in made
        for quantity, where, row in one.rows()
    }


def same(one: Iterable[float], other: Iterable[float], tolerance: float = 1e-7) -> bool:
    """Whether numbers agree, nan with nan."""
    return np.allclose(tuple(one), tuple(other), rtol=tolerance, atol=tolerance, equal_nan=True)


def as_drawn(one: Module, quantity: str, row: Any, again: Any, tolerance: float = 1e-7) -> bool:
    """`same`, but for ends that are quantiles of 4,000 draws, which move with the rows' order.

    The share of draws below one of 2.5 % has a standard error of .0025. Two of them are less than
    .014 apart in all but one in 10,000, by which an end moves by .085 of the interval of a normal
    density. Of one that falls from an end of its range as an exponential one does, the far end
    moves by .014 / .025 in units of which the interval has -log(.025), which is .152 of it.
    """
    (value, *ends), (other, *others) = row, again
    if quantity not in one.drawn:
        return same(row, again, tolerance)
    most = (0.085 if 0 < value < 1 else 0.152) * (ends[1] - ends[0])
    moved = np.abs(np.subtract(ends, others)) <= most
    return same([value], [other], tolerance) and bool(moved.all() or np.isnan(ends).any())


def differences(made: Made, other: Made) -> Iterator[str]:
    """Entries that are not the same in both."""
    ours, theirs = entries(made), entries(other)
    if ours.keys() != theirs.keys():
        yield f"entries differ: {sorted(map(str, ours.keys() ^ theirs.keys()))[:4]}"
    for entry in ours.keys() & theirs.keys():
        if not same(ours[entry], theirs[entry]):
            yield f"{entry}: {ours[entry]} and {theirs[entry]}"


# One answer --------------------------------------------------------------------------------------


@relation
def nan_has_a_caution(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """A number that is not there comes with a caution that says why."""
    for estimate in made:
        told = any(c.id.startswith(NO_NUMBER) for c in estimate.cautions)
        for quantity, where, row in estimate.rows():
            # the probability that a judge is the best is itself what is said of the uncertainty
            lacks = np.isnan(row.value) if quantity == "best" else np.isnan(row).any()
            if lacks and not told:
                names = sorted({caution.id for caution in estimate.cautions})
                yield f"{estimate.method}: {quantity} {where} is {row}, cautions {names}"


@relation
def value_lies_in_its_interval(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Low is at most the value, and the value at most high."""
    for estimate in made:
        for quantity, where, (value, low, high) in estimate.rows():
            slack = 1e-9 * max(1.0, *(abs(x) for x in (value, low, high) if np.isfinite(x)), 0)
            if low > high + slack or value < low - slack or value > high + slack:
                yield f"{estimate.method}: {quantity} {where}: {value} not in ({low}, {high})"


@relation
def an_interval_has_a_value(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """A number that is not there has no ends, unless only bounds are known."""
    for estimate in made:
        if any(c.id == "no-response-sets" for c in estimate.cautions):
            continue
        for quantity, where, (value, *ends) in estimate.rows():
            if np.isnan(value) and not np.isnan(ends).all():
                yield f"{estimate.method}: {quantity} {where} is nan, its interval {ends}"


@relation
def an_interval_has_a_width(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Data that show no variation do not make a number known; these items' own labels may."""
    for estimate in made:
        told = any(c.id in ("zero-width", "negative-variance") for c in estimate.cautions)
        for quantity, where, (value, low, high) in estimate.rows():
            if high - low <= 1e-12 and not told and estimate.target != "items":
                yield f"{estimate.method}: {quantity} {where} is {value}, its interval has no width"


@relation
def table_and_report_agree(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """The table, the dataset and the report show the numbers that the estimate holds."""
    for estimate in made:
        rows = list(estimate.rows())
        shown = estimate.table
        numbers = np.array([row for _, _, row in rows], float).reshape(-1, 3)
        keys = shown.drop(columns=["value", "low", "high", "raw"], errors="ignore")
        told = [{k: v for k, v in row.items() if v != ""} for row in keys.to_dict("records")]
        if told != [{"quantity": q, **where} for q, where, _ in rows]:
            yield f"{estimate.method}: the table's entries are others"
        if not np.array_equal(shown[["value", "low", "high"]], numbers, equal_nan=True):
            yield f"{estimate.method}: the table's numbers are others"
        dense = estimate.dataset
        for quantity, where, row in (rows[0], rows[-1]):
            cell = dense[quantity].sel({**where, "part": ["value", "low", "high"]})
            if not same(cell.to_numpy(), row, 0):
                yield f"{estimate.method}: {label(quantity, tuple(where.values()))} in the dataset"
        lines = [
            re.split(r"(?<!\\) \| ", line.strip("| "))
            for line in bj.report(estimate, ci_prob=estimate.ci_prob, digits=6).splitlines()
            if line.startswith("| ") and not line.startswith(("| quantity", "| ---"))
        ]
        # numbers that were computed from the estimate stand first, in bold under their own method
        # or as a quantity of their own, such as Elo points
        own = {f"**{estimate.method}**"}
        lines = [line for line in lines if not {c for c in line if c.startswith("**")} - own]
        told = answer_of([estimate], ci_prob=estimate.ci_prob, interval=None)
        computed = {*told.quoted.quantities} - {*estimate.quantities} if told else set()
        lines = [line for line in lines if line[0].replace("\\", "") not in computed]
        if len(lines) != len(numbers):
            yield f"{estimate.method}: {len(numbers)} numbers and {len(lines)} lines of a report"
        # what answers the question stands in a table of its own, before the others
        shown_rows = {tuple(line[i : i + 4]) for line in lines for i in range(len(line))}
        for row in numbers:
            expected = ["–" if np.isnan(x) else f"{x:.6f}" for x in (*row, row[2] - row[1])]
            if tuple(expected) not in shown_rows:
                yield f"{estimate.method}: the report has no line with {expected}"


@relation
def json_says_what_the_table_says(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """A command's JSON has each number once, unrounded, with its cautions; null is no number."""
    page = page_of(made, ci_prob=made[0].ci_prob, answer=Answer("", "", "", made[0]), title="")
    told = json.loads(to_json(page))
    ours = [(estimate.method.title, *row) for estimate in made for row in estimate.rows()]
    if _as_json(ours) != _of_json(told["estimates"]):
        yield "the JSON's estimates are others"
    if _as_json(ours[: len(made[0].table)]) != _of_json(
        [{"method": made[0].method.title, **entry} for entry in told["answer"]["estimates"]]
    ):
        yield "the JSON's answer has other numbers"
    if any(
        entry["width"] is not None and entry["width"] != entry["high"] - entry["low"]
        for entry in told["estimates"]
    ):
        yield "a width is not that of its interval"
    cautions = {(c.id, c.text) for estimate in made for c in estimate.cautions}
    if {(c["id"], c["text"]) for c in told["cautions"]} != cautions:
        yield "the JSON's cautions are others"
    if told["targets"] != {estimate.method.title: estimate.target for estimate in made}:
        yield "the JSON's targets are others"


def _as_json(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Method, quantity, coordinates and numbers in a common order; what is not finite is None."""
    return sorted(
        str((method, quantity, [(d, str(x)) for d, x in where.items()],
             [float(x) if np.isfinite(x) else None for x in row]))
        for method, quantity, where, row in rows
    )  # fmt: skip


def _of_json(listed: Iterable[dict[str, Any]]) -> list[str]:
    numbers = ("value", "low", "high")
    return sorted(
        str((entry["method"], entry["quantity"], [(d, str(x)) for d, x in entry["where"].items()],
             [entry[part] for part in numbers]))
        for entry in listed
    )  # fmt: skip


# The level ---------------------------------------------------------------------------------------


@relation
def intervals_are_nested(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """An interval of a lower level lies in one of a higher level."""
    least, most = (forms(one, read, table, ci_prob=level) for level in (0.5, 0.999))
    for inner, outer in itertools.pairwise([least, made, most]):
        narrow, wide = entries(inner), entries(outer)
        for entry in narrow.keys() & wide.keys():
            (_, low, high), (_, lowest, highest) = narrow[entry], wide[entry]
            slack = 1e-9 * max(1.0, *(abs(x) for x in (low, high) if np.isfinite(x)), 0)
            if low < lowest - slack or high > highest + slack:
                yield (
                    f"{entry}: {inner[0].ci_prob:.0%} ({low}, {high}) reaches beyond "
                    f"{outer[0].ci_prob:.1%} ({lowest}, {highest})"
                )


# Other tables of the same data -------------------------------------------------------------------


@relation
def order_of_rows_does_not_matter(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Rows are a set."""
    shuffled = table.sample(frac=1, random_state=1).reset_index(drop=True)
    yield from differences(made, forms(one, read, shuffled))


@relation
def backend_does_not_matter(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """An Arrow table is read as a pandas table is."""
    import pyarrow as pa

    arrow = pa.Table.from_pandas(table, preserve_index=False)
    yield from differences(made, forms(one, read, arrow))


@relation
def other_columns_do_not_matter(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """What is not asked for is not looked at."""
    more = table.assign(note=[{"free": "text"}] * len(table), extra=np.nan)
    yield from differences(made, forms(one, read, more))


@relation
def names_do_not_matter(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Other names in the same order give the same numbers under the new names."""
    columns = [c for c in NAMES if c in table and c not in one.spoken]
    called = table.assign(**{c: "z " + table[c].astype(str) for c in columns})
    made, again = (
        tuple(e for e in x if "bootstrap" not in str(e.interval))  # whose resamples go by place
        for x in (made, forms(one, read, called))
    )
    ours = {tuple(str(x).removeprefix("z ") for x in k): v for k, v in entries(again).items()}
    theirs = {tuple(map(str, entry)): v for entry, v in entries(made).items()}
    if ours.keys() != theirs.keys():
        yield f"entries differ: {sorted(map(str, ours.keys() ^ theirs.keys()))[:4]}"
    for entry in ours.keys() & theirs.keys():
        if not same(ours[entry], theirs[entry]):
            yield f"{entry}: {theirs[entry]} and {ours[entry]}"


@relation
def order_of_names_does_not_matter(
    one: Module, table: Any, read: Read, made: Made
) -> Iterator[str]:
    """Names whose alphabetical order is turned round: the values stay with what was named."""
    columns = [c for c in NAMES if c in table and c not in one.spoken]
    turned: dict[str, dict[Any, str]] = {}
    for c in columns:
        known = sorted(table[c].dropna().unique(), key=str)
        turned[c] = {x: f"{len(known) - i:06d} {x}" for i, x in enumerate(known)}
    called = table.assign(**{c: table[c].map(names) for c, names in turned.items()})
    back = {new: str(old) for names in turned.values() for old, new in names.items()}
    again = entries(forms(one, read, called))
    ours = {tuple(back.get(x, str(x)) for x in entry): v for entry, v in again.items()}
    for entry, row in entries(made).items():
        other = ours.get(tuple(map(str, entry)))
        if other is None:
            if not (one.ordered_pairs or np.isnan(row[0])):  # who leads is not known without values
                yield f"{entry} is gone"
        elif not same(row[:1], other[:1], 1e-6):
            yield f"{entry}: {row} and {other}"


@relation
def a_split_stratum_changes_no_other(
    one: Module, table: Any, read: Read, made: Made
) -> Iterator[str]:
    """Of strata, or systems, of which one is split in two, the others keep their numbers, and
    what is said of all does not contradict what was said before.
    """
    column = next((c for c in ("stratum", "system") if c in table), "")
    names = sorted(table[column].dropna().unique()) if column else []
    if len(names) < 2:
        return
    rows = table[column] == names[-1]
    second = rows & (rows.cumsum() % 2 == 0)
    split = table.assign(**{column: table[column].mask(second, f"{names[-1]} too")})
    try:
        other = entries(forms(one, read, split))
    except bj.InputError:  # a half has too few labels
        return
    bootstrap = {e.method.title for e in made if "bootstrap" in str(e.interval)}
    for (method, quantity, *where), (value, low, high) in entries(made).items():
        again = other.get((method, quantity, *where))
        if again is None or names[-1] in where or method in bootstrap:
            continue
        if where:
            if not as_drawn(one, quantity, (value, low, high), again):
                yield f"{(method, quantity, *where)}: {(value, low, high)} and {again}"
        elif again[1] > high or again[2] < low:
            yield f"{(method, quantity)}: {(value, low, high)} and {again} are apart"


# Other data --------------------------------------------------------------------------------------


@relation
def good_and_bad_exchanged_mirror(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Which of two answers is called good is a convention."""
    columns = [c for c in one.mirrored if c in table and table[c].isin([0, 1, np.nan]).all()]
    columns = list(one.mirrored) if one.mirrored != MIRRORED else columns
    if not columns:
        return
    other = entries(forms(one, read, table.assign(**{c: 1 - table[c] for c in columns})))
    for (method, quantity, *where), (value, low, high) in entries(made).items():
        if quantity not in one.mirror or method in one.leaning:
            continue
        name, turned = one.mirror[quantity]
        expected = (1 - value, 1 - high, 1 - low) if turned else (value, low, high)
        found = other.get((method, name, *where))
        if found is not None and not as_drawn(one, quantity, expected, found, 1e-6):
            yield f"{(method, quantity, *where)}: {expected} expected of the mirror, got {found}"


@relation
def copies_narrow_the_interval(one: Module, table: Any, read: Read, made: Made) -> Iterator[str]:
    """Each row nine times, as other items: no interval is wider, or apart from the first."""
    if "item" in table:
        parts = [table.assign(item=table["item"].astype(str) + f" {i}") for i in range(9)]
    else:
        parts = [table] * 9
    other = entries(forms(one, read, pd.concat(parts, ignore_index=True)))
    ours = entries(made)
    # a rate that runs into 0 or 1 takes the curvature of those with it that depend on it
    running = {e[0] for e in ours.keys() & other.keys() if _into_an_end(ours[e][0], other[e][0])}
    for entry, (value, low, high) in ours.items():
        again = other.get(entry, (np.nan,) * 3)
        if {entry[0], entry[1]} & set(one.not_narrowed):
            continue
        if entry[0] in one.not_narrowed_at_an_end and (
            entry[0] in running or _towards_an_end(value, again[0])
        ):
            continue
        if not np.isfinite([value, low, high, *again]).all():
            continue
        slack = 1e-9 * max(1.0, abs(value))
        if again[2] - again[1] > 1.0001 * (high - low) + slack:
            yield f"{entry}: wider, {(value, low, high)} and {again} of nine copies"
        if again[1] > high + slack or again[2] < low - slack:
            yield f"{entry}: {again} of nine copies, apart from {(value, low, high)}"


def _towards_an_end(before: float, after: float) -> bool:
    """Whether a share moved nearer to 0 or 1, or from one side of 1/2 to the other."""
    crossed = (before - 0.5) * (after - 0.5) < 0
    return crossed or abs(after - 0.5) > abs(before - 0.5)


def _into_an_end(before: float, after: float) -> bool:
    """Whether a share's distance to 0 or 1 became less than a quarter, as only half items, which
    weigh a ninth among nine copies, let it.
    """
    return min(after, 1 - after) < min(before, 1 - before) / 4
