"""Every method side by side; systems on the same items compared and ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import compare
from bayesjudge.core.errors import UninformativeJudgeError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results
from bayesjudge.prevalence.items import closed_form
from bayesjudge.prevalence.items.data import Items
from bayesjudge.prevalence.items.exact import exact

if TYPE_CHECKING:
    import pandas as pd


#: The estimators that part 1 has too.
EVERY = ("naive", "human_only", "difference", "post_stratified", "rogan_gladen")


def closed_forms(
    items: Items, *, ci_prob: float = 0.95, mismatched: bool = False
) -> tuple[Estimate, ...]:
    """Make the closed forms that suit the declared label design, the naive one first.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    mismatched : bool, default False
        Make all of them; those that the design does not support have a caution ``design-mismatch``.

    Returns
    -------
    tuple of Estimate
        With the paired differences last, if there are several systems and labels that tell them. A
        closed form that refuses is left out, and its reason is a caution of the first estimate.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    made, refused = [], []
    for name in EVERY if mismatched else items.design.closed_forms:
        try:
            made.append(getattr(closed_form, str(name))(items, ci_prob=ci_prob))
        except UninformativeJudgeError as error:
            refused.append(Caution("no-better-than-chance", error.told))
    if len(items.systems) > 1 and "prevalence" in items.design.identifies:
        made.append(closed_form.paired_difference(items, ci_prob=ci_prob))
    made[0] = replace(made[0], cautions=(*made[0].cautions, *refused))
    return tuple(made)


@compare.register(Items)
def _compared(items: Items, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    made: list[Any] = [one for one in closed_forms(items, ci_prob=ci_prob) if "prevalence" in one]
    made.append(exact(items, ci_prob=ci_prob))
    if fit is not None:
        made.append(fit.estimate(ci_prob=ci_prob))
    return compare_results(*(one.only("prevalence") for one in made), ci_prob=ci_prob)
