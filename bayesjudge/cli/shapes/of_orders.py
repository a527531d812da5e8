"""One row per verdict on two answers, which change places within an item."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from bayesjudge.cli.shapes import WANTED, Lacking, Line, Match, Reading
from bayesjudge.cli.shapes.coding import given
from bayesjudge.cli.shapes.common import WITH_MISSING
from bayesjudge.cli.shapes.table import MOSTLY, Column, Table
from bayesjudge.cli.shapes.words import says_judge, vocabulary
from bayesjudge.core.labels import folded

#: Words for two answers, and for the places where they were shown, in their order.
ANSWERS = {("a", "b"), ("1", "2")}
PLACES = ANSWERS | {("first", "second"), ("left", "right")}
#: What names of columns say of either order.
ORDERS = (
    ("order1", "order2"),
    ("ordera", "orderb"),
    ("orderab", "orderba"),
    ("aborder", "baorder"),
)
#: Names of answers from which a column is of something else.
MOST_ANSWERS = 50


class Orders(NamedTuple):
    """Columns of a table with one row per verdict on two answers, shown in both orders."""

    item: str
    first: str
    second: str
    verdict: str
    #: Verdicts for the first answer, for the second, and ties.
    places: tuple[str, str]
    ties: tuple[str, ...]


def matches(table: Table) -> Iterator[Match]:
    """Both orders of two answers, by what the columns hold; or a column of each order."""
    named = order_columns([*table.columns])
    if named is not None:
        both = f"{named[0]} and {named[1]}"
        note = f"bias orders: {both} are read as naming the answer that won, wherever it was shown"
        yield Reading(Line("bias orders", table.path), WANTED["bias orders"], 0.6,
                      [f"columns {both}"], [note], ways=WITH_MISSING)  # fmt: skip
    pair = pair_in(table)
    if pair is None:
        return
    seen = in_both_orders(table)
    if seen is None:
        yield Lacking("bias orders", f"both orders of {pair[0]} and {pair[1]}, which are battles")
        return
    others = (seen.item, seen.first, seen.second, seen.verdict)
    options = given(
        item=seen.item,
        shown_first=seen.first,
        shown_second=seen.second,
        verdict=seen.verdict,
        winner=seen.places,
        tie_value=seen.ties,
        judge=None if table.judge in others else table.judge,
    )
    yield Reading(
        Line("bias orders", table.path, options),
        WANTED["bias orders"],
        0.6,
        [f"{seen.first} and {seen.second} change places within each {seen.item}"],
        [f"bias orders: the line says that {seen.first} was shown first, and that "
         f"{seen.places[0]} in {seen.verdict} is for it"],
        ways=WITH_MISSING,
    )  # fmt: skip


def order_columns(names: Sequence[str]) -> tuple[str, str] | None:
    """The columns of either order, if one pair is called so: ``verdict_order1``, ``ba_order``."""
    plain = {re.sub("[^a-z0-9]", "", name.lower()): name for name in names}
    pairs = [
        (plain[first], plain[second])
        for word, other in ORDERS
        for first in plain
        for second in [first.replace(word, other)]
        if word in first and second in plain
    ]
    return pairs[0] if len(pairs) == 1 else None


def winners_in(cells: Collection[str]) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """The words of answer 1 and of answer 2, and those of a tie; not words that say a place."""
    return _places(Column("", [*cells]), ANSWERS)


def pair_in(table: Table) -> tuple[str, str] | None:
    """Two columns of the same few names that differ in every row: battles of two."""
    few = (c for c in table if 2 <= len(c.kinds) <= MOST_ANSWERS and c.full)
    called = [c for c in few if not (c.numeric or c.binary)]  # 0 and 1 name no system
    for first, second in combinations(called, 2):
        if {*first.kinds} == {*second.kinds} and not any(
            a == b for a, b in zip(first.cells, second.cells, strict=True)
        ):
            return in_place(first.name, second.name)
    return None


def in_place(first: str, second: str) -> tuple[str, str]:
    """Both names, the one that says the second place last: `right` stands after `left`."""
    ends = tuple(re.sub("^.*[ _-]", "", folded(name)) for name in (second, first))
    return (second, first) if ends in PLACES else (first, second)


def in_both_orders(table: Table) -> Orders | None:
    """Columns of two answers that change places within an item, and of which place won."""
    pair = pair_in(table)
    if pair is None:
        return None
    shown = table.rows(pair)
    judged = [c for c in table if c.name not in pair and _places(c)]
    judged.sort(key=lambda c: not says_judge(c.name))
    items = [c for c in table if c.name not in pair and c not in judged]
    swap = [c for c in items if _change_places(c, shown)]
    won = _places(judged[0]) if judged else None
    if won is None or not swap:
        return None
    item = max(swap, key=lambda c: len(c.kinds))
    return Orders(item.name, *pair, judged[0].name, *won)


def _places(
    column: Column, known: Collection[tuple[str, ...]] = PLACES
) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """The words of the first place and of the second, and those of a tie."""
    if not column.labels:
        return None
    spelled = {folded(kind): kind for kind in column.kinds}
    ties = tuple(kind for word, kind in spelled.items() if word in vocabulary("ties"))
    places = sorted(w for w in spelled if w not in vocabulary("ties"))
    if len(places) != 2 or tuple(re.sub(r"^[a-z]+[ _-]", "", w) for w in places) not in known:
        return None
    return (spelled[places[0]], spelled[places[1]]), ties


def _change_places(item: Column, shown: Sequence[tuple[str, ...]]) -> bool:
    """Whether most pairs of answers to an item occur in both orders."""
    pairs = {(item_cell, *both) for item_cell, both in zip(item.cells, shown, strict=True)}
    back = sum((item_cell, b, a) in pairs for item_cell, a, b in pairs)
    return item.full and len(item.kinds) > 4 and back > (1 - MOSTLY) * len(pairs)
