"""The answer of the module: the share of each class, or a win rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    Answer,
    Quoted,
    few_of,
    first_percent,
    labelled_words,
    listed,
    owned,
    percents,
    quote,
    share_words,
)
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import JUDGED, told_of
from bayesjudge.prevalence.answer import answer as answer  # of every table of one judge
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.closed_form import naive
from bayesjudge.verdicts.labels import PASS_OR_FAIL
from bayesjudge.verdicts.reading import UNPARSED

#: What rows without a verdict are, if they are one more verdict.
THIRD = "{n} no verdict, which is taken as one more verdict: labels tell how good these are."
#: Most classes or systems in the sentence.
MOST = 3


@told_of.register(ClassCounts)
def _answer(
    counts: ClassCounts, estimates: Sequence[Estimate], results: Sequence[Any], ci_prob: float
) -> Answer:
    known = {quantity for estimate in estimates for quantity in estimate.quantities}
    quantity = next((q for q in ("win_rate", OVERALL) if q in known), "prevalence")
    quoted = quote(
        estimates,
        quantity,
        methods.JUDGE_SHARES,
        judge_of=lambda: naive(counts, ci_prob=ci_prob),
    )
    if quoted.silent:
        text = "These data cannot tell the share of each class. Labels on a random sample of these "
        text += "items would tell."
    elif quantity == "win_rate":
        text = _wins(quoted, ci_prob)
    elif counts.classes == PASS_OR_FAIL and len(quoted.rows) == 2:
        text = f"{share_words(quoted.rows[PASS_OR_FAIL[1]], 'outputs like these', ci_prob)}."
    else:
        text = _shares(quoted, ci_prob, JUDGED if counts.unparsed else "outputs")
    rounded = quantity == "prevalence" and not quoted.unknown
    notes = _rounded(list(quoted.rows.values())) if rounded else ()
    if UNPARSED in (counts.responses or ()):
        column = (counts.responses or ()).index(UNPARSED)
        lost = int(counts.tests[:, column].sum() + counts.tables[:, :, column].sum())
        notes = (THIRD.format(n=how_many(lost, "output", "have")), *notes)
    basis = labelled_words(int(counts.labelled.sum()), int(np.sum(counts.test)), counts.design)
    return Answer(
        text,
        basis=f"{basis}.",
        why=f"Quoted: {quoted.whole.method}: verdicts and labels taken together.",
        notes=notes,
        quoted=quoted.shares,
        judge=quoted.judge,
        known=not quoted.unknown,
    )


def _wins(quoted: Quoted, ci_prob: float) -> str:
    """``By people's verdicts our answers win 48 % of comparisons (44 to 53 %, 95 % interval)``."""
    names, _ = few_of(quoted.rows)
    parts = []
    for i, name in enumerate(names):
        won = name if i else f"{name} wins" if name else "our answers win"
        of = "" if i else " of comparisons"
        parts.append(f"{won} {percents(quoted.rows[name], None if i else ci_prob, of)}")
    said = quoted.judge_rows.get("")
    judge = "" if said is None else f"; the judge says {100 * said.value:.0f} %"
    return f"By people's verdicts {listed(parts)}{judge}."


def _shares(quoted: Quoted, ci_prob: float, whose: str) -> str:
    """``People would put 48 % of outputs into a (44 to 53 %, 95 % interval) and 52 % into b``.

    Of several systems, what is so of the first: the table has the others.
    """
    rows = [(at, row) for _, at, row in quoted.shares.rows()]
    system = next((v for k, v in rows[0][0].items() if k != "class"), None)
    rows = [named for named in rows if system in named[0].values() or system is None]
    (at, row), *others = rows
    if system is not None:
        whose = f"{owned(short_names([str(system)])[str(system)])} outputs"
    parts = [percents(row, ci_prob, f" of {whose} into {at['class']}")]
    parts += [f"{first_percent(row) or 'an unknown'} % into {at['class']}" for at, row in others]
    if len(parts) > MOST:
        parts = [*parts[:2], f"the rest into {len(parts) - 2} others"]
    return f"People would put {listed(parts)}."


def _rounded(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the shares of one system add up to as they are shown, if not to 100 %."""
    if not abs(sum(row.value for row in rows) - 1) < 1e-6:  # of several, or one is unknown
        return ()
    total = sum(float(first_percent(row)) for row in rows)
    if abs(total - 100) < 0.05:
        return ()
    return (f"Shares are rounded one by one: as shown they add up to {total:g} %.",)
