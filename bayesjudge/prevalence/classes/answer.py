"""The answer of the module: the share of each class, or a win rate."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    Answer,
    as_estimates,
    entries,
    listed,
    percents,
    preferred,
    says_little,
)
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import CHOSEN
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.classes.closed_form import judge_shares
from bayesjudge.prevalence.classes.data import ClassCounts

#: Most classes or systems in the sentence.
MOST = 4


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say what share of outputs people would put into each class, or how often ours wins.

    The exact posterior is quoted, then the sampled one, then the closed form of the design.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `ClassCounts`, for example all of `closed_forms` and a fit.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of the fits.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given, or no result has shares of classes.
    """
    made = as_estimates(results, ci_prob, interval)
    counts = next((one.data for one in made if isinstance(one.data, ClassCounts)), None)
    known = {quantity for one in made for quantity in one.quantities}
    quantity = next((q for q in ("win_rate", OVERALL) if q in known), "prevalence")

    quoted = preferred(made, quantity, lambda one: one.method.rank).only(quantity)
    judge = next((one for one in made if one.method == methods.JUDGE_SHARES), None)
    if judge is None and counts is not None:
        judge = judge_shares(counts, ci_prob=ci_prob)
    own = {} if judge is None else entries(judge)
    rows = entries(quoted)
    unknown = quoted.method == methods.JUDGE_SHARES or all(
        says_little(row) for row in rows.values()
    )
    parts = []
    for i, (key, row) in enumerate(rows.items()):
        name = ", ".join(map(str, key[1:]))
        beside = f" [judge: {100 * own[key].value:.0f} %]" if key in own else ""
        words = percents(row, None if i else ci_prob)
        parts.append(f"{name}: {words}{beside}" if name else words + beside)
    shown = parts[:MOST] + ([f"{len(parts) - MOST} more below"] if len(parts) > MOST else [])
    if unknown:
        text = "These data cannot tell the share of each class. Labels on a random sample of these "
        text += "items would tell."
    elif quantity == "win_rate":
        text = f"By people's verdicts our answers win {listed(shown)} of comparisons (ties: half)."
    else:
        text = f"People would put outputs like these into {listed(shown)}."
    return Answer(
        text,
        basis=_basis(counts),
        why=f"Quoted: {quoted.method}: verdicts and labels taken together.",
        notes=() if unknown or quantity != "prevalence" else _rounded(list(rows.values())),
        quoted=quoted,
        judge=judge and judge.only(quantity),
        known=not unknown,
    )


def _rounded(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the shares of one system add up to as they are shown, if not to 100 %."""
    if not abs(sum(row.value for row in rows) - 1) < 1e-6:  # of several, or one is unknown
        return ()
    total = sum(float(re.findall(r"[\d.]+", percents(row))[0]) for row in rows)
    if abs(total - 100) < 0.05:
        return ()
    return (f"Shares are rounded one by one: as shown they add up to {total:g} %.",)


def _basis(counts: ClassCounts | None) -> str:
    if counts is None:
        return ""
    labelled, rest = int(counts.labelled.sum()), int(np.sum(counts.test))
    chosen = CHOSEN.get(counts.design.name, counts.design.meaning)
    if counts.design.same_items:
        return f"{how_many(labelled + rest, 'item')}, {labelled:,} of them labelled ({chosen})."
    return f"{how_many(rest, 'item')} without a label, and {labelled:,} labelled ones ({chosen})."
