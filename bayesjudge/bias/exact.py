"""Exact posterior of the RMS shift: a Dirichlet prior of the sizes of shifts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bayesjudge.bias.cautions import INDEPENDENT, SAMPLED
from bayesjudge.bias.closed_form import FEUER
from bayesjudge.bias.data import Shifts
from bayesjudge.core import dirichlet, methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Estimate, Quantity

#: Nodes for the posterior mean of a root.
MEAN_NODES = 120
WORST_CASE = Assumption.of("worst-case-prior")


def exact(
    shifts: Shifts,
    *,
    step: float | None = None,
    prior: Literal["spread", "worst"] = "worst",
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Posterior of the RMS shift under a Dirichlet prior of the shifts' sizes.

    Scores live on a finite scale, so that a squared shift is one of finitely many numbers, its mean
    a weighted sum of Dirichlet shares, and its posterior exact.

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.
    step : float, optional
        Distance between neighbouring scores of the scale; needed for the prior ``"spread"``.
    prior : {"spread", "worst"}
        Total mass 1, spread evenly over all sizes that the scale allows; or all of it on the
        largest. The second is what `certificates.certify` uses, since its upper ends do not fail
        for rare large shifts. The first estimates better.
    ci_prob : float, default 0.95
        Probability of the equal-tailed interval.

    Returns
    -------
    Estimate
        ``rms_shift`` by perturbation, and by judge if there are several, in score points: posterior
        mean and interval.

    Raises
    ------
    InputError
        If the scale has no ends, a shift is no multiple of `step`, or an argument is unknown.

    Examples
    --------
    >>> shifts = Shifts.from_differences([3, 3], scale=(1, 5))
    >>> [round(x, 2) for x in exact(shifts, step=1, prior="spread")["rms_shift", "perturbed"]]
    [2.81, 1.92, 3.41]
    """
    check_ci_prob(ci_prob)
    with checking("bias.exact") as require:
        require(prior in ("spread", "worst"), f"prior={prior!r}: expected spread or worst")
        require(np.isfinite(shifts.span), "the scale has no ends, so sizes are not finitely many")
        if prior == "spread":
            single = shifts.design == "item" and len(shifts.scores) == 1
            require(single, "prior='spread' is for one-item neighbours and one score; use 'worst'")
            require(step is not None and step > 0, "must be positive", step=step)
    rows = {}
    for where, group in shifts._groups():
        sizes, weight = _categories(group, step if prior == "spread" else None)
        at = [(1 - ci_prob) / 2, 0.5, (1 + ci_prob) / 2]
        low, middle, high = np.sqrt(dirichlet.quantile(weight, sizes**2, at)).tolist()
        rows[where] = (_mean_of_root(sizes**2, weight, middle), low, high)
    cautions = cautions_of(shifts)
    assumed = (SAMPLED, INDEPENDENT, *(WORST_CASE,) * (prior == "worst"))
    return Estimate(
        {"rms_shift": Quantity.of_rows(rows, shifts._dims)},
        method=methods.SPREAD_PRIOR if prior == "spread" else methods.WORST_CASE,
        ci_prob=ci_prob,
        source=f"{FEUER}, Definition 3.1, with a Dirichlet prior of total mass 1",
        interval="equal-tailed",
        assumptions=contradicted(assumed, cautions),
        cautions=cautions,
        data=shifts,
    )


def _categories(group: Shifts, step: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of shift, and their posterior weights."""
    if step is None:
        sizes, count = np.unique(np.append(group.lengths, group.largest), return_counts=True)
        return sizes, count.astype(float)
    sizes = np.arange(round(group.span / step) + 1) * step
    place = np.rint(group.lengths / step).astype(int)
    with checking("bias.exact") as require:
        off = ~np.isclose(place * step, group.lengths)
        require(
            not off.any(),
            f"{off.sum()} shifts are not multiples of step={step:g}, for example "
            f"{group.lengths[off][:3].tolist()}; give the scale's step, or prior='worst'",
        )
    return sizes, np.bincount(place, minlength=sizes.size) + 1 / sizes.size


def _mean_of_root(values: np.ndarray, weight: np.ndarray, middle: float) -> float:
    """Integrate the probability that the root exceeds t, in two parts around its median."""
    x, w = np.polynomial.legendre.leggauss(MEAN_NODES)
    low, high = np.array([0.0, middle]), np.array([middle, np.sqrt(values.max())])
    t = low + (high - low) * (x[:, None] + 1) / 2
    above = 1 - dirichlet.distribution(weight, values, t**2)[0]
    return min(float((w @ above) @ (high - low) / 2), float(high[1]))  # which is rounded
