"""Words of a judge and of people that are not the same: which go together, and what is asked."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from bayesjudge.cli.shapes.coding import kind_of
from bayesjudge.cli.shapes.people import go_together
from bayesjudge.cli.shapes.table import Asked, Column, Table
from bayesjudge.core.labels import likely_passes, says_nothing
from bayesjudge.core.screen import few

Kind = str | bool


class Pairing(NamedTuple):
    """Words of pass and of fail that judge and people do not share, and why they are taken so."""

    question: Asked
    #: A spelling of each word that does not say itself what it means; none if words do not pair.
    passes: Sequence[str] = ()
    fails: Sequence[str] = ()
    #: Whether one side's words say pass and fail, and the other's go with them past any chance.
    sure: bool = False

    @property
    def condition(self) -> str:
        """What must be so for lines to be right; empty if that is sure."""
        mean = "mean" if len(self.passes) > 1 else "means"
        return "" if self.sure else f"If {' and '.join(self.passes)} {mean} pass"


def pair_words(table: Table) -> Pairing | None:
    """Which words of a judge go with which of people's; None if they use the same."""
    if not (table.truths and table.verdicts):
        return None
    names = table.verdicts
    judge = Column(names[0], [cell for name in names for cell in table.columns[name]])
    truth = Column(table.truths[0], table.columns[table.truths[0]] * len(names))
    mine, theirs = _said(judge), _said(truth)
    known = [any(isinstance(kind, bool) for kind in kinds) for kinds in (mine, theirs)]
    shared = {*mine} & {*theirs}
    if len(shared) > 1 or all(known) or shared in ({*mine}, {*theirs}):
        return None
    columns = (*names, truth.name)
    says = " and ".join(f"`{column.name}` says {few([*kinds.values()], 5)}"
                        for column, kinds in ((judge, mine), (truth, theirs)))  # fmt: skip
    if not len(mine) == len(theirs) == 2:
        line = shlex.join(["bayesjudge", "judge", table.path, "--verdict", *names, "--truth",
                           truth.name, "--calibration", "random"])  # fmt: skip
        return Pairing(Asked(columns, f"{says}: what is the same? Write one column in the words of "
                             "the other, or fill in which of all words mean pass and which fail: "
                             f"{line} --pass-value WORDS --fail-value WORDS"))  # fmt: skip
    seen = Counter((kind_of(a), kind_of(b)) for a, b in zip(judge.cells, truth.cells, strict=True))
    sides = _sides([*mine], [*theirs], seen)
    guess = {*likely_passes([*mine]), *likely_passes([*theirs])}
    failed, passed = sorted(sides, key=lambda side: (
        (True in side) - (False in side), len({*side} & guess), side == sides[0]))  # fmt: skip
    words = {**mine, **theirs}
    passes, fails = ([words[kind] for kind in dict.fromkeys(side) if not isinstance(kind, bool)]
                     for side in (passed, failed))  # fmt: skip
    plain = len(judge.said) == len(truth.said) == 2
    sure = any(known) and not guess & {*failed} and plain and go_together(truth, judge)
    turned = shlex.join(["--pass-value", *passes, "--fail-value", *fails])
    rows = sum(seen[a, b] for a in mine for b in theirs)
    text = (
        f"{says}: which mean pass? {mine[passed[0]]} goes with {theirs[passed[1]]}, and "
        f"{mine[failed[0]]} with {theirs[failed[1]]}, in {seen[passed] + seen[failed]:,} of "
        f"{rows:,} rows that have both; move each word to where it belongs: {turned}"
    )
    return Pairing(Asked(columns, text), passes, fails, sure)


def _said(column: Column) -> dict[Kind, str]:
    """What a column says, words of pass and fail alike, with a spelling of each."""
    kinds = {kind_of(cell): cell for cell in column.kinds}
    return {kind: cell for kind, cell in kinds.items()
            if not says_nothing(cell) or (kind == "n" and "y" in kinds)}  # fmt: skip


def _sides(
    mine: list[Kind], theirs: list[Kind], seen: Counter[tuple[Kind, Kind]]
) -> list[tuple[Kind, Kind]]:
    """Each word of the judge with people's: the same one, or that with which it is seen most."""
    (a, b), (c, d) = mine, theirs
    turned = a == d or b == c or (a != c and b != d and (
        seen[a, d] * seen[b, c] > seen[a, c] * seen[b, d]))  # fmt: skip
    return [*zip(mine, reversed(theirs) if turned else theirs, strict=True)]
