"""Every method of several classes side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import compare
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.classes.model import ClassModel
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.exact import exact

if TYPE_CHECKING:
    import pandas as pd


@compare.register(ClassCounts)
def _compared(
    counts: ClassCounts,
    fit: Fit | None = None,
    *,
    model: ClassModel | None = None,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    spec: Any = model if model is not None or fit is None else fit.spec
    estimates = [*closed_forms(counts, ci_prob=ci_prob), exact(counts, spec, ci_prob=ci_prob)]
    return compare_results(*estimates, *([] if fit is None else [fit]), ci_prob=ci_prob)
