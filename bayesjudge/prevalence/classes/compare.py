"""Every method of several classes side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bayesjudge.core.errors import UninformativeJudgeError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import compare_results
from bayesjudge.prevalence.classes.closed_form import class_shares, judge_shares
from bayesjudge.prevalence.classes.data import ClassCounts

if TYPE_CHECKING:
    import pandas as pd


def closed_forms(counts: ClassCounts, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the data, the judge's own shares first.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        Of a judge that does not tell some classes apart, only its own shares, with the reason.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    first = judge_shares(counts, ci_prob=ci_prob)
    try:
        return (
            first,
            class_shares(counts, ci_prob=ci_prob, method="inverse"),
            class_shares(counts, ci_prob=ci_prob, method="least_squares"),
        )
    except UninformativeJudgeError as error:
        refused = Caution("no-better-than-chance", "; ".join(error.problems))
        return (replace(first, cautions=(*first.cautions, refused)),)


def compare(counts: ClassCounts, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Put every method side by side, with its assumptions.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    fit : Fit, optional
        A sampled posterior to add.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        As `bayesjudge.side_by_side`, with columns ``assumes`` and ``contradicted_by``.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    made = closed_forms(counts, ci_prob=ci_prob)
    return compare_results(*made, *([] if fit is None else [fit]), ci_prob=ci_prob)
