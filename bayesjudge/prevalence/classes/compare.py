"""Every method of several classes side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import compare
from bayesjudge.core.errors import InputError, UninformativeJudgeError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results
from bayesjudge.prevalence.classes.closed_form import (
    class_shares,
    difference,
    human_shares,
    judge_shares,
    post_stratified,
)
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.classes.exact import exact
from bayesjudge.prevalence.classes.model import ClassModel

if TYPE_CHECKING:
    import pandas as pd


def _inverse(counts: ClassCounts, *, ci_prob: float) -> Estimate:
    return class_shares(counts, ci_prob=ci_prob, method="inverse")


def _forms(counts: ClassCounts) -> tuple[Any, ...]:
    """The closed forms that suit the design: what labels tell, at its least cost."""
    told = counts.design.identifies
    first = (judge_shares,) if counts.named_verdicts else ()
    if "prevalence" in told:
        own = () if counts.propensity is not None else (human_shares,)
        return (*first, *own, *((difference,) if first else ()), post_stratified)
    if "predictive_values" in told:
        return (*first, post_stratified)
    square = len(counts.classes) == len(counts.responses or ())
    return (*first, *((_inverse,) if square else ()), class_shares)


def closed_forms(counts: ClassCounts, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the label design, the judge's own shares first.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        Labels of the same items tell the shares themselves: then the shares of the labels alone
        stand beside those that correct or weigh the judge's, and confusions are not inverted. A
        closed form that refuses is left out, and its reason is a caution of the first estimate.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or no closed form suits the counts.
    """
    made, refused = [], []
    for method in _forms(counts):
        try:
            made.append(method(counts, ci_prob=ci_prob))
        except UninformativeJudgeError as error:
            caution = Caution("no-better-than-chance", error.told)
            refused += [caution] if caution not in refused else []
    if not made:
        raise InputError("closed_forms", [one.text for one in refused])
    first = made[0]
    made[0] = replace(first, cautions=(*first.cautions, *refused))
    return tuple(made)


@compare.register(ClassCounts)
def _compared(
    counts: ClassCounts,
    fit: Fit | None = None,
    *,
    model: ClassModel | None = None,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    spec: Any = model if model is not None or fit is None else fit.spec
    made = [*closed_forms(counts, ci_prob=ci_prob), exact(counts, spec, ci_prob=ci_prob)]
    return compare_results(*made, *([] if fit is None else [fit]), ci_prob=ci_prob)
