"""One row per battle: two systems' answers, and who won for a judge or for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bayesjudge.cli.leaderboard import ONE_HOT, PAIRS, VOTER
from bayesjudge.cli.shapes import WANTED, Line, Match, Reading
from bayesjudge.cli.shapes.coding import given
from bayesjudge.cli.shapes.of_orders import MOST_ANSWERS, in_both_orders, pair_in
from bayesjudge.cli.shapes.table import MOSTLY, Column, Table, is_number
from bayesjudge.cli.shapes.words import says_person
from bayesjudge.core.screen import few

#: Most systems whose names are looked at.
MOST_SYSTEMS = 300
#: What says who won, where nobody says whose verdict it is.
WINNER = {"winner", "won", "preference", "preferred"}


class Won(NamedTuple):
    """A column that says who won, and its words that say nothing."""

    column: Column
    missing: Sequence[str]


def matches(table: Table) -> Iterator[Match]:
    """Two columns of systems, and columns that say which of the two won."""
    have = {*table.columns}
    known = next((pair for pair in PAIRS if {*pair} <= have), None)
    pair = known or pair_in(table)
    named = {*table.truths} if table.named else set()
    if pair is None or table.log or {*ONE_HOT} <= have or named & {*pair}:
        return
    systems = [*dict.fromkeys([*table[pair[0]].kinds, *table[pair[1]].kinds])]
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        return
    others = (c for c in table if c.name not in (*pair, table.item, table.judge))
    won = [winner for winner in (_won(c, systems) for c in others) if winner is not None]
    voters = table.judge is not None and all(map(VOTER.fullmatch, table[table.judge].kinds))
    by_people = {c.name for c in table if voters or c.name in named or says_person(c.name)}
    people = [winner for winner in won if winner.column.name in by_people]
    judges = [winner for winner in won if winner not in people]
    if not won or (not people and len(systems) == 2 and in_both_orders(table)):
        return
    missing, notes = dict.fromkeys(word for winner in won for word in winner.missing), list[str]()
    options = {} if known == PAIRS[0] else given(first=pair[0], second=pair[1])
    options |= given(
        verdict=[winner.column.name for winner in judges],
        people=[winner.column.name for winner in people],
        item=None if table.item in pair else table.item,
        judge=table.judge if len(judges) == 1 else None,
        missing_value=missing,
    )
    if missing:
        notes.append(f"{few([*map(repr, missing)])}: read as no verdict")
    if not people and {winner.column.name.lower() for winner in judges} & WINNER:
        name = judges[0].column.name
        notes.append(f"{name} is read as a judge's; if people gave it: --people {name}")
    yield Reading(
        Line("leaderboard", table.path, options),
        WANTED["leaderboard"],
        0.9 if people else 0.7,
        [f"{pair[0]} and {pair[1]} name two systems, {few([o.column.name for o in won])} who won"],
        notes,
    )


def _won(column: Column, systems: Sequence[str]) -> Won | None:
    """The column, if most of its words say which of two answers won, and both did."""
    from bayesjudge.leaderboard.spelling import read_cells

    kinds = [*column.kinds]
    numbers = all(map(is_number, kinds))
    if not kinds or (numbers and column.index) or (len(kinds) > MOST_ANSWERS and not numbers):
        return None
    read = read_cells(kinds, column.name, systems, {})
    unknown = [cell for problem in read.problems for cell in problem.value or ()]
    rows = sum(column.kinds[cell] for cell in unknown)
    if rows > MOSTLY * column.kinds.total() or len(unknown) == len(kinds):
        return None
    named = int((read.system >= 0).sum()) > 1
    both = read.shares[:, 0].any() and read.shares[:, 2].any()
    return Won(column, unknown) if named or both else None
