"""Every method side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesjudge.attempts.closed_form import closed_forms
from bayesjudge.attempts.data import Attempts
from bayesjudge.attempts.exact import exact
from bayesjudge.core.comparing import compare
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results

if TYPE_CHECKING:
    import pandas as pd


@compare.register(Attempts)
def _compared(attempts: Attempts, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    forms = closed_forms(attempts, ci_prob=ci_prob)
    estimates: list[Any] = [form for form in forms if "pass_hat_k" in form]
    estimates.append(exact(attempts).estimate(ci_prob=ci_prob).only("pass_at_k", "pass_hat_k"))
    return compare_results(*estimates, *([] if fit is None else [fit]), ci_prob=ci_prob)
