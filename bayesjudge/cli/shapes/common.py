"""What several shapes say alike: options of scales, of labels and of rows that are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bayesjudge.cli.shapes.coding import Options, given, value_options
from bayesjudge.cli.shapes.pairing import pair_words
from bayesjudge.cli.shapes.table import Table
from bayesjudge.core.labels import folded
from bayesjudge.core.screen import few

#: Judges of a table of whom a line each is shown.
MOST_JUDGES = 5
DROPPED = (
    "items that lack a score are left out (--missing drop), which is right if scores go missing "
    "whatever they are; to take each for the largest move: --missing worst"
)
#: What a table with some scores missing is tried with.
WITH_MISSING: list[Mapping[str, Sequence[str]]] = [{}, {"--missing": ["drop"]}]


def ends(table: Table, name: str, notes: list[str]) -> str:
    """Ends of the scale of a column; a guess, told as one."""
    scale = table[name].scale
    notes.append(f"{name}: the scale {scale} is a guess from the numbers seen")
    return scale


def absent(table: Table, names: Sequence[str], notes: list[str]) -> list[str]:
    """What these columns have in place of empty cells; it is told."""
    missing = {name: table.absent[name] for name in names if name in table.absent}
    for name, words in missing.items():
        notes.append(f"{name}: {few([repr(w) for w in words])} is read as an empty cell")
    return list(dict.fromkeys(word for words in missing.values() for word in words))


def values(table: Table, notes: list[str]) -> Options:
    """Options that say what the labels and verdicts mean."""
    names = [*table.truths[:1], *table.verdicts]
    empty = absent(table, names, notes)
    labels = {n: table[n].kinds for n in names if not table[n].numbers or table[n].binary}
    if turned := _says_what_is_wrong(table, list(labels), notes):
        return turned | given(missing_value=empty)
    pairing = pair_words(table)
    if pairing is not None and not pairing.passes:  # nobody knows what the words are to each other
        return given(missing_value=empty)
    meant = pairing and {"pass_value": pairing.passes, "fail_value": pairing.fails}
    return value_options(labels, notes, table.where, empty, meant) if table.verdicts else {}


def _says_what_is_wrong(table: Table, names: Sequence[str], notes: list[str]) -> Options:
    """Options of yes and no, or 1 and 0, where a column's name says that yes is bad."""
    wrong = (n for n in names if table[n].called("wrong") and not table[n].called("denied"))
    called = next(wrong, None)
    spelled = {folded(cell): cell for n in names for cell in table[n].kinds}
    pair = next((pair for pair in (("1", "0"), ("yes", "no")) if {*spelled} == {*pair}), None)
    if called is None or pair is None:
        return {}
    bad, good = (spelled[word] for word in pair)
    notes.append(
        f"{called} is read as saying what is wrong, by its name: {bad} as fail, {good} as pass; "
        f"for the share of {bad} leave out --pass-value and --fail-value"
    )
    return given(pass_value=good, fail_value=bad)


def are_attempts(table: Table) -> bool:
    """Whether rows of one item are attempts of an agent: counted, and labelled each by itself."""
    if not table.repeats or table.judge or table.variant:
        return False
    apart = bool(table.truths) and table.labels_differ(table.truths[0])
    kinds = ("attempts", "repeats") if apart else ("attempts",)
    counted = any(c.called(*kinds) for c in table if c.counts_to)
    tested = any(table[name].called("tested") for name in table.verdicts)
    agent = table.system is not None and bool(table[table.system].words & {"agent"})
    return agent or (counted and (tested or bool(table.truths)))


def labelled(name: str, cells: Sequence[Any], outputs: Sequence[tuple[str, ...]] = ()) -> str:
    """How many rows are labelled, and how; or how many `outputs`, if rows are votes on these."""
    rows, what = ["" if c is None else str(c) for c in cells], "rows"
    if outputs and len(outputs) == len(rows):  # of a large table only some rows were looked at
        rows, what = list(dict(sorted(zip(outputs, rows, strict=True))).values()), "outputs"
    kinds = Counter(filter(None, rows))
    shown = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
    return f"people's labels in {name}: {kinds.total():,} of {len(rows):,} {what} ({shown})"
