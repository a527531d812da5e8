"""Every method of numeric scores side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import UninformativeJudgeError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import compare_results
from bayesjudge.prevalence.scores.closed_form import (
    binned,
    difference,
    human_mean,
    judge_mean,
    rogan_gladen,
)
from bayesjudge.prevalence.scores.data import Scores

if TYPE_CHECKING:
    import pandas as pd

#: Fewest labels of which an isotonic prediction is fitted.
ISOTONIC = 20


def closed_forms(scores: Scores, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the label design, the judge's own mean first.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        A closed form that refuses is left out, and its reason is a caution of the first estimate.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    told = scores.design.identifies
    kinds: list[Any] = []
    if "prevalence" in told:
        kinds = [] if scores.propensity is not None else [(human_mean, {})]
        kinds += [(difference, {"g": "identity"}), (difference, {"g": "linear"})]
        enough = scores.n[scores.known].sum() >= ISOTONIC
        kinds += [(difference, {"g": "isotonic"})] if enough else []
    if "predictive_values" in told:
        kinds.append((binned, {}))
    if told == {"error_rates"}:
        kinds.append((rogan_gladen, {}))
    made = [judge_mean(scores, ci_prob=ci_prob)]
    for method, options in kinds:
        try:
            made.append(method(scores, ci_prob=ci_prob, **options))
        except UninformativeJudgeError as error:
            refused = Caution("no-better-than-chance", "; ".join(error.problems))
            made[0] = replace(made[0], cautions=(*made[0].cautions, refused))
    return tuple(made)


def compare(scores: Scores, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Put every method side by side, with its assumptions.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
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
    made = closed_forms(scores, ci_prob=ci_prob)
    return compare_results(*made, *([] if fit is None else [fit]), ci_prob=ci_prob)
