"""Every method side by side."""

from __future__ import annotations

from dataclasses import replace

from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.repeats.closed_form import anova, as_if_iid, exact
from bayesjudge.repeats.data import Scores


def closed_forms(scores: Scores, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the data.

    Parameters
    ----------
    scores : Scores
        Counts.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        `exact` for one judge, `as_if_iid` for several; then `anova`, if there are several items or
        judges. If `anova` refuses the data, the first estimate says why, in a caution
        ``no-anova``.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    pooled = exact if len(scores.judges) == 1 else as_if_iid
    first = pooled(scores, ci_prob=ci_prob)
    if len(scores.items) + len(scores.judges) == 2:
        return (first,)
    try:
        return first, anova(scores, ci_prob=ci_prob)
    except InputError as error:
        return (
            replace(first, cautions=(*first.cautions, Caution.of("no-anova", why=error.message))),
        )


compare.register(Scores, of_closed_forms(closed_forms))
