"""Every method side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from bayesjudge.bias.closed_form import rms_shift, variance_parts
from bayesjudge.bias.data import Shifts
from bayesjudge.bias.exact import exact
from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Caution, Estimate

#: An exact posterior of more sizes of shift takes longer than a closed form may.
MOST_SIZES = 1000


def closed_forms(
    shifts: Shifts, *, ci_prob: float = 0.95, step: float | None = None
) -> tuple[Estimate, ...]:
    """Make every closed form that suits the data.

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.
    ci_prob : float, default 0.95
        Probability of the intervals.
    step : float, optional
        Distance between neighbouring scores of the scale: spreads the prior of `exact` over all
        sizes of shift that occur on it; without it the prior is the worst case.

    Returns
    -------
    tuple of Estimate
        `variance_parts`, and `exact` if the scale has ends and the sizes of shift are few; a
        caution of the first says why the second is missing. If a few shifts are much larger than
        the rest, also `rms_shift` with its distribution-free interval.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or `step` does not suit the scores.
    """
    grid = step is None or (np.isfinite(shifts.span) and len(shifts.scores) == 1)
    expect("step", grid, "step needs one score and a scale with ends")
    parts = variance_parts(shifts, ci_prob=ci_prob)
    sizes = np.unique(shifts.lengths.round(12)).size
    why = ""
    if not np.isfinite(shifts.span):
        why = "the scale has no ends, so that sizes of shift are not finitely many"
    elif sizes > MOST_SIZES:
        why = f"{sizes} different sizes of shift are more than {MOST_SIZES}, and would take long"
    if why:
        caution = Caution.of("no-exact-posterior", why=why)
        parts = replace(parts, cautions=(*parts.cautions, caution))
    estimates = [parts]
    heavy = any(caution.id == "heavy-tailed-shifts" for caution in parts.cautions)
    if heavy and np.isfinite(shifts.span):
        estimates.append(rms_shift(shifts, ci_prob=ci_prob, interval="distribution_free"))
    if not why:
        prior: Literal["spread", "worst"] = "worst" if step is None else "spread"
        estimates.append(exact(shifts, step=step, prior=prior, ci_prob=ci_prob))
    return tuple(estimates)


compare.register(Shifts, of_closed_forms(closed_forms))
