"""Every method side by side; systems on the same items compared and ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import compare
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.items.data import Items

if TYPE_CHECKING:
    import pandas as pd


@compare.register(Items)
def _compared(items: Items, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    made: list[Any] = [one for one in closed_forms(items, ci_prob=ci_prob) if "prevalence" in one]
    made.append(exact(items, ci_prob=ci_prob))
    if fit is not None:
        made.append(fit.estimate(ci_prob=ci_prob))
    return compare_results(*(one.only("prevalence") for one in made), ci_prob=ci_prob)
