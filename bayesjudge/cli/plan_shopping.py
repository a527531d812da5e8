"""``bayesjudge plan --pilot``: what to buy, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

import bayesjudge as bj
from bayesjudge.cli.options import Meanings, are, needed
from bayesjudge.cli.plan_pass import Plan, page_of_plan
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import chance, listed, percent_of
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.screen import few, how_many
from bayesjudge.render.page import Line, Table

#: Saved from the next plan, in parts of it, before a sentence says so.
WORTH_SAYING = 0.05
MOST_SHOWN = 8
#: Columns of the list, and their heads.
HEADS = {"cost": "cost", "way": "way", "labels": "labels", "more": "more", "items": "judged",
         "second": "stronger", "width": "width", "reached": "chance"}  # fmt: skip


@Parameter(name="*", group=Group("A pilot and prices", sort_key=1), negative="")
@dataclass(frozen=True)
class OfPilot:
    """A pilot, and what is sold.

    Parameters
    ----------
    pilot : Path
        Table or log in which people labelled a random sample of rows; --judge, --truth and, of two
        systems, --by and --item name its columns, which are found by their names if not said.
    price : list[str]
        Price of a label, of a call of any judge or of one, and of an item beyond those that there
        are, such as label=1.50 call=0.01 call:gpt-5=0.04 item=0.02.
    judge : list[str]
        Columns of a judge, several if it was asked several times: NAME=COLUMN,COLUMN, or COLUMN.
    truth : str
        Column with the human label.
    tuned_on : str
        Column that is true where the judge was tuned on the row's label: such labels are left out.
    by : str
        Column of two systems, whose difference is planned for; if not said, one called so of which
        both have labels of the same items. --by none plans for the mean of all rows.
    item : str
        Column of the item that systems share.
    scores : bool
        Whether judges and people give numbers.
    difference : bool
        What is wanted is to know which of two systems is better.
    """

    pilot: Path | None = None
    price: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    judge: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    truth: str | None = None
    tuned_on: str | None = None
    by: str | None = None
    item: str | None = None
    scores: bool = False
    difference: bool = False
    meanings: Meanings = Meanings()

    @property
    def given(self) -> list[str]:
        """Options that were given, as they are typed."""
        values = {**vars(self), "meanings": None, **vars(self.meanings)}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value]


def plan_shopping(asked: OfPilot, goal: Mapping[str, Any], guesses: Mapping[str, Any]) -> Plan:
    """Read a pilot, and list what reaches the goal."""
    goal = {**goal, "difference": asked.difference}
    with checking("options") as require:
        unused = [f"--{name}" for name, value in guesses.items() if value is not None]
        require(not unused, f"{are(unused)} not for a pilot, which tells that")
        prices = _prices(asked.price or [], require)
    path = asked.pilot or Path()
    pilot, about = _pilot(open_source(path), asked)
    table = bj.decide.shopping_list(pilot, prices, **goal)
    rows = [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in table.to_dict("records")
    ]
    answer = _answer(rows, goal)
    inputs = {"pilot": str(path), **about, "labelled": len(pilot.truth)}
    inputs |= {"prices": ", ".join(asked.price or [])}
    inputs |= {name: value for name, value in goal.items() if value not in (None, False)}
    lines = [Line([_cell(row, name) for name in HEADS]) for row in rows[:MOST_SHOWN]]
    heads = [*HEADS.values()]
    page = page_of_plan(
        inputs,
        answer,
        rows,
        Table(heads, lines, [name for name in heads if name != "way"]),
        "cost: of what the pilot does not have yet; labels: in all, and how many more; "
        "judged, stronger: items that the judge, and the stronger one, see; width: median of the "
        "interval's; chance: that the goal is reached (–: not with so many items).",
    )
    return Plan(page, "Read and wanted", inputs)


def _prices(given: Sequence[str], require: Any) -> dict[str, float]:
    """``label=1.5 call:gpt=0.01`` as a mapping."""
    prices = {}
    for text in given:
        name, sign, value = text.rpartition("=")
        try:
            prices[name.strip().replace(":", " ", 1)] = float(value.replace("$", ""))
        except ValueError:
            sign = ""
        words = "write NAME=PRICE, such as label=1.50, of a label, call, call:JUDGE or item"
        require(sign, f"--price {text}: {words}")
    require(given, needed("--price", "--price is needed: such as label=1.50 and call=0.01"))
    return prices


def _pilot(source: Source, asked: OfPilot) -> tuple[bj.decide.Pilot, dict[str, Any]]:
    """The pilot, and the columns that it was read from."""
    shown = [name for name in source.readable() if name != asked.tuned_on]
    cells = source.table_of_names(shown)
    table = describe(cells, [asked.truth] if asked.truth else [])
    truth = asked.truth or next(iter(table.truths), None)
    given = [text.rpartition("=") for text in asked.judge or []]
    judges = {name or value.split(",")[0]: value.split(",") for name, _, value in given}
    if not judges:
        columns = table.scores if asked.scores or not table.verdicts else table.verdicts
        judges = {name: [name] for name in columns if name != truth}
    if truth is None or not judges:
        raise InputError(str(source.path), ["say which columns are people's and the judge's: "
                                            "--truth COLUMN --judge COLUMN"])  # fmt: skip
    by, item = asked.by, asked.item or table.item
    if by is None and item and len(table.systems) == 2:
        by = str(table.system)
        done = {row[:2] for row in table.rows([item, by, truth]) if row[2]}
        by = by if len(done) > len({name for name, _ in done}) else None
    by, item = (None, None) if by in (None, "none") else (by, item)
    named = asked.meanings.pass_value or asked.meanings.fail_value
    numeric = asked.scores or (not named and table[truth].numbers and not table[truth].binary)
    how: dict[str, Any] = {"judges": judges, "truth": truth, "by": by, "item": item}
    used = [truth, *(c for chosen in judges.values() for c in chosen), *filter(None, (by, item))]
    source.leave_out(asked.tuned_on, [truth])
    how |= {"scores": numeric, **vars(asked.meanings)}
    read = bj.decide.Pilot.from_frame(source.table(used), **how)
    about = {"truth": truth, "judges": few([*judges], 6), "systems": by}
    about |= {caution.id: caution.text for caution in source.cautions}
    return read, {name: column for name, column in about.items() if column}


def _answer(rows: Sequence[Mapping[str, Any]], goal: Mapping[str, Any]) -> list[str]:
    """What the cheapest way costs, what it buys, and how much less that is."""
    can = [row for row in rows if row["cost"] is not None]
    aim = "a decision which system is better"
    if goal["width"] is not None:
        aim = f"an interval {goal['width']:g} wide"
    elif goal["at_least"] is not None:
        aim = f"a decision whether the mean is at least {goal['at_least']:g}"
    if not can:
        best = max(row["reached"] for row in rows)
        return [
            f"With these items nothing reaches {aim} with a chance of {percent_of(goal['power'])}: "
            f"{chance(best)} at most.",
            "More items would do (--items, or a price of an item).",
        ]
    first = can[0]
    sure = percent_of(round(first["reached"], 2))
    start = f"{money(first['cost'])} buys" if first["cost"] else "The pilot alone gives"
    text = f"{start} {aim} with a chance of {sure}."
    labels = f"{how_many(first['labels'], 'label')} ({first['more']:,} more)"
    goods = f"It takes {labels}{_bought(first)}."
    if first["sure"] is not None:
        goods += f" Decide with --probability {first['sure']:.3f}, since the pilot counts again."
    single = next((row for row in can[1:] if not row["stronger"]), None)
    people = next((row for row in can[1:] if not row["judge"]), None)
    others = [row for i, row in enumerate((single, people)) if row and (i == 0 or row != single)]
    saved = [(row["cost"] - first["cost"], row) for row in others]
    less = [
        f"{money(more)} less than {row['way']}"
        for more, row in saved
        if more > WORTH_SAYING * row["cost"]
    ]
    return [text, goods, *([f"That is {listed(less)}."] if less else [])]


def _bought(row: Mapping[str, Any]) -> str:
    """What the judges see."""
    if not row["judge"]:
        return ", and no judge"
    text = f", {how_many(row['items'], 'item')} judged by {row['judge']}"
    if row["stronger"]:
        return f"{text} and {row['second']:,.0f} of them by {row['stronger']}"
    return f"{text}, {'one call' if row['calls'] == 1 else f'{row["calls"]} calls'} each"


def money(value: float) -> str:
    """``$140``; cents of a small sum."""
    return f"${value:,.0f}" if value >= 100 or float(value).is_integer() else f"${value:,.2f}"


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if name == "cost" and value is not None:
        return money(value)
    if name == "reached":
        return f"{value:.2f}"
    if value is None:
        return "–"
    return (
        value if isinstance(value, str) else f"{value:.3g}" if name == "width" else f"{value:,.0f}"
    )
