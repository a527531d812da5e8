"""Scores of the same items before and after a change that should not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bayesjudge.cli.shapes import WANTED, Asked, Lacking, Line, Match, Noted, Reading
from bayesjudge.cli.shapes.coding import given, usual_scale
from bayesjudge.cli.shapes.common import DROPPED, WITH_MISSING, ends
from bayesjudge.cli.shapes.table import Table
from bayesjudge.cli.shapes.words import is_called, is_model, vocabulary, words_of
from bayesjudge.core.screen import few

#: What goes with such a name, and nothing else does.
PARTNERS = {"before": "after", "pre": "post", "a": "b", "old": "new"}
BATCH = ("and that items were changed and judged one at a time; if all were changed and judged "
         "together: --design batch")  # fmt: skip


class Versions(NamedTuple):
    """Columns of one score of an item in several versions, the unchanged one's first."""

    columns: list[str]
    #: Whether names leave no doubt that an item was changed, and is no other system's.
    sure: bool


def matches(table: Table) -> Iterator[Match]:
    """Versions in a column each, or in rows of a column that names them."""
    seen = versions_of(table)
    if table.log:
        return
    if seen is not None:
        yield from _side_by_side(table, seen)
        return
    said = versions_in(table.verdicts)
    if said is not None and said.sure:
        names = few(said.columns, 3)
        yield Lacking("bias", f"numbers in {names}: 1 for a pass and 0 for a fail")
    scores = table.scores or table.verdicts  # of a changed item these are 1 and 0
    if not (scores and table.item and table.variant and table.baseline):
        return
    notes: list[str] = []
    scale = ends(table, scores[0], notes).replace(":", "-") if table.scores else "0,1"
    options = given(item=table.item, variant=table.variant, score=scores[0], judge=table.judge)
    options |= given(baseline=table.baseline, scale=scale, design="item")
    notes.append(f"bias: the line says that {table.baseline!r} is the unchanged version, {BATCH}")
    yield Noted(f"versions in {table.variant}: {few([*table[table.variant].kinds], 5)}")
    yield Reading(Line("bias", table.path, options), WANTED["bias"], 0.6,
                  [f"each {table.item} has one score of each {table.variant}"], notes,
                  ways=WITH_MISSING, note_of_way={"drop": DROPPED})  # fmt: skip


def _side_by_side(table: Table, seen: Versions) -> Iterator[Match]:
    scale = usual_scale([x for n in seen.columns for x in table[n].within_scale]).replace(":", "-")
    options = given(item=table.item, score=seen.columns, judge=table.judge)
    options |= given(scale=scale, design="item")
    names, line = few(seen.columns, 5), Line("bias", table.path, options)
    if not seen.sure:
        text = (f"{names}: of two systems or judges, or of one output before and after a change "
                f"that should not matter? If of one output: {line}")  # fmt: skip
        yield Asked((*seen.columns,), text)
        return
    unchanged = f"bias: the line says that {seen.columns[0]!r} is the unchanged version, {BATCH}"
    notes = [f"{names}: the scale {scale} is a guess from the numbers seen", unchanged]
    yield Reading(line, WANTED["bias"], 0.6, [f"names of {names} say what was done to an item"],
                  notes, ways=WITH_MISSING, note_of_way={"drop": DROPPED})  # fmt: skip


def versions_of(table: Table) -> Versions | None:
    """Columns of scores of the same items before and after a change, on one scale."""
    numeric = [*table.scores, *(n for n in table.verdicts if table[n].numeric)]
    seen = versions_in(numeric)
    if seen is None or table.variant:
        return None
    if len({table[n].scale.partition(":")[2] for n in seen.columns}) > 1:
        return None
    return None if any(map(is_model, seen.columns)) else seen


def versions_in(names: Sequence[str]) -> Versions | None:
    """Columns whose names are alike but for what was done to the item, such as before and after.

    Examples
    --------
    >>> versions_in(["score_before", "score_after", "seconds"])
    Versions(columns=['score_before', 'score_after'], sure=True)
    >>> versions_in(["score_a", "score_b"]).sure
    False
    >>> versions_in(["helpfulness", "clarity"])
    """
    words = {name: words_of(name) for name in names}
    unchanged, perhaps = vocabulary("unchanged"), vocabulary("perhaps")
    for first, own_words in words.items():
        said = next((word for word in own_words if word in unchanged | perhaps), None)
        if said is None:
            continue
        alike = {*own_words} - {said}
        others = [n for n in names if n != first and alike < {*words[n]}]
        partner = PARTNERS.get(said)
        paired = [n for n in others if partner in words[n]]
        changed = [n for n in others if is_called(n, "changed")]
        if said in perhaps and partner:
            others = paired
        elif not alike or paired:
            others = paired or changed
        if others:
            sure = said in unchanged or len(changed) == len(others)
            return Versions([first, *others], sure)
    return None
