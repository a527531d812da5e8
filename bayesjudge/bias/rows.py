"""What the likelihood of the normal model sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesjudge.bias.data import Shifts
from bayesjudge.core.errors import checking


def freedom_of(shifts: Shifts) -> np.ndarray:
    """Count how often each judge was asked the same thing again.

    Parameters
    ----------
    shifts : Shifts
        Of any origin.

    Returns
    -------
    numpy.ndarray, shape (n_judges,)
        Degrees of freedom of the repeat noise.
    """
    return np.zeros(len(shifts.judges)) if shifts.freedom is None else shifts.freedom


def rows_of(shifts: Shifts, unit: float | None) -> dict[str, Any]:
    """Lay out a row for each item and judge that has a baseline and something else.

    Parameters
    ----------
    shifts : Shifts
        Made by ``from_frame`` with one score.
    unit : float or None
        Score points that the priors are fractions of; the scale's range by default.

    Returns
    -------
    dict of str to object
        Differences and counts, shape (n_rows, n_perturbations); sums of squares of the judges that
        were asked again.

    Raises
    ------
    InputError
        Where there are no scores, no rows, or no unit.
    """
    unit = shifts.span if unit is None else unit
    with checking("bias.fit") as require:
        require(shifts.counts is not None, _why_not(shifts))
        require(np.isfinite(unit), "the scale has no ends: give the priors a unit in score points")
    assert shifts.counts is not None
    assert shifts.means is not None
    assert shifts.squares is not None
    judge, item = np.nonzero((shifts.counts[..., 0] > 0) & (shifts.counts[..., 1:].sum(-1) > 0))
    with checking("bias.fit") as require:
        require(judge.size > 0, "no item has both a baseline and a perturbed score")
    counts, means = shifts.counts[judge, item], shifts.means[judge, item]
    seen = counts[:, 1:] > 0
    free = np.flatnonzero(freedom_of(shifts))
    return {
        "unit": float(unit),
        "length": float(np.sqrt(len(shifts.items))) if shifts.design == "batch" else 1.0,
        "judge": judge,
        "difference": np.where(seen, means[:, 1:] - means[:, :1], 0.0),
        "after": np.maximum(counts[:, 1:], 1.0),
        "seen": seen.astype(float),
        "before": counts[:, 0],
        "free": free,
        "squares": shifts.squares[free],
        "freedom": freedom_of(shifts)[free],
    }


def _why_not(shifts: Shifts) -> str:
    """Say what the model lacks, and what answers in its place.

    There is no model of sizes alone. Without signs, a mean shift and a spread about it cannot be
    told apart; and what is left, the distribution of sizes, has an exact posterior. Pooling it over
    judges would let a judge that was measured twice be certified by the neighbours of others.
    """
    if len(shifts.scores) > 1:
        return (
            f"the model is of one score and there are {len(shifts.scores)}; read each by itself "
            "(rms_shift, exact and certify take them together)"
        )
    if any(name in shifts.reruns for name in shifts.perturbations):
        return "only reruns are left, in which nothing was changed; keep a perturbation"
    kind = "differences" if shifts.signed else "sizes of differences without a sign"
    return (
        f"the model needs the scores themselves, and there are {kind} only: read the scores with "
        "Shifts.from_frame, or use bayesjudge.bias.exact and certify, which do with differences, "
        "and without sampling"
    )
