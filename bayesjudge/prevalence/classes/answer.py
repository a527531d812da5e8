"""The answer of the module: the share of each class, or a win rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import Answer, first_percent, labelled_words, listed, percents, quote
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.prevalence.answer import answer as answer  # of every table of one judge
from bayesjudge.prevalence.answer import told_of
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.closed_form import naive

#: Most classes or systems in the sentence.
MOST = 4


@told_of.register(ClassCounts)
def _answer(
    counts: ClassCounts, made: Sequence[Estimate], results: Sequence[Any], ci_prob: float
) -> Answer:
    known = {quantity for one in made for quantity in one.quantities}
    quantity = next((q for q in ("win_rate", OVERALL) if q in known), "prevalence")
    found = quote(
        made,
        quantity,
        methods.JUDGE_SHARES,
        judge_of=lambda: naive(counts, ci_prob=ci_prob),
    )
    parts = []
    for i, (name, row) in enumerate(found.rows.items()):
        beside = f" [judge: {100 * found.own[name].value:.0f} %]" if name in found.own else ""
        words = percents(row, None if i else ci_prob)
        parts.append(f"{name}: {words}{beside}" if name else words + beside)
    shown = parts[:MOST] + ([f"{len(parts) - MOST} more below"] if len(parts) > MOST else [])
    if found.unknown:
        text = "These data cannot tell the share of each class. Labels on a random sample of these "
        text += "items would tell."
    elif quantity == "win_rate":
        text = f"By people's verdicts our answers win {listed(shown)} of comparisons (ties: half)."
    else:
        text = f"People would put outputs like these into {listed(shown)}."
    rounded = quantity == "prevalence" and not found.unknown
    basis = labelled_words(int(counts.labelled.sum()), int(np.sum(counts.test)), counts.design)
    return Answer(
        text,
        basis=f"{basis}.",
        why=f"Quoted: {found.whole.method}: verdicts and labels taken together.",
        notes=_rounded(list(found.rows.values())) if rounded else (),
        quoted=found.shares,
        judge=found.judge,
        known=not found.unknown,
    )


def _rounded(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the shares of one system add up to as they are shown, if not to 100 %."""
    if not abs(sum(row.value for row in rows) - 1) < 1e-6:  # of several, or one is unknown
        return ()
    total = sum(float(first_percent(row)) for row in rows)
    if abs(total - 100) < 0.05:
        return ()
    return (f"Shares are rounded one by one: as shown they add up to {total:g} %.",)
