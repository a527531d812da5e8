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
    results: list[Any] = [
        estimate for estimate in closed_forms(items, ci_prob=ci_prob) if "prevalence" in estimate
    ]
    results.append(exact(items, ci_prob=ci_prob))
    if fit is not None:
        results.append(fit.estimate(ci_prob=ci_prob))
    return compare_results(*(result.only("prevalence") for result in results), ci_prob=ci_prob)
