"""`certify`: a certificate from measured shifts, or from a fit of them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bayesjudge.bias.certificates.bounds import (
    Bound,
    bound_of_fit,
    bound_of_shifts,
    neighbours_needed,
)
from bayesjudge.bias.certificates.centers import Center
from bayesjudge.bias.certificates.certificate import BASES, Certificate
from bayesjudge.bias.certificates.noise import exact_noise_scale
from bayesjudge.bias.data import Shifts, Units
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit

#: Cautions of a fit that go with every certificate from it.
AGAINST_A_FIT = ("not-converged", "heavy-tailed-shifts", "shifts-together")


def certify(
    source: Shifts | Fit,
    *,
    tolerance: float,
    failure_prob: float,
    units: Units,
    alpha: float | None = None,
    noise_prob: float = 0.0,
    center: Literal["fixed", "holdout", "mean"] | Center = "fixed",
    basis: Literal["tail", "rms", "predictive", "source"] | None = None,
    mixture: bool = False,
) -> Certificate:
    r"""Certify released scores, with the error of estimating the shifts inside the failure budget.

    Scores are released as :math:`\alpha f + (1 - \alpha)\mu` plus noise. The certificate holds for
    every perturbation measured, the worst included, and for any mixture of them.

    Parameters
    ----------
    source : Shifts or Fit
        Measured shifts of one judge, or a fit of them. Shifts need no model: the bounds hold for
        any distribution on the scale. A fit's bound is as good as its model.
    tolerance : float
        Length of a shift to stay within.
    failure_prob : float
        Probability of leaving it, in (0, 1), estimation error included.
    units : {"points", "range"}
        What `tolerance` is a number of. Never guessed.
    alpha : float, optional
        Shrinkage factor in (0, 1]; by default the largest that can be certified.
    noise_prob : float, default 0
        Part of `failure_prob` that noise may use. Noise is allowed, it is not what is certified;
        the largest `alpha` leaves none for it.
    center : {"fixed", "holdout", "mean"} or Center
        What scores are shrunk towards. A mean of the same scores moves with them, and that is
        counted; so is the move of a `robust_center` of theirs.
    basis : {"tail", "rms", "predictive", "source"}, optional
        What bounds the shifts. ``"tail"``, the default for shifts: the upper credible bound of
        their tail. ``"rms"``, the default for a fit: that of the RMS shift, with Markov's
        inequality. ``"predictive"`` promises less: the probability is taken over the neighbours
        measured too. ``"source"`` ignores the estimation error, and says so.
    mixture : bool, default False
        Take the perturbations together as one random perturbation, rather than each on its own.

    Returns
    -------
    Certificate
        Its `text` says it in words. Where nothing can be certified its `alpha` is ``nan`` and its
        `reason` says why.

    Raises
    ------
    InputError
        If an argument is out of its range, `source` is something else, or shifts are of several
        judges.

    References
    ----------
    Feuer et al. (2026), Definition 3.2, Theorem 3.3, Appendix B; the finite-sample bounds are in
    `bayesjudge.bias.certificates.bounds`.

    Examples
    --------
    >>> shifts = Shifts.from_differences([0] * 150 + [1] * 50, scale=(1, 5))
    >>> card = certify(shifts, tolerance=0.5, failure_prob=0.05, units="points")
    >>> card.alpha, card.range_only
    (0.5, False)
    >>> certify(shifts, tolerance=0.5, failure_prob=0.01, units="points").alpha
    0.125
    """
    shifts = _shifts_of(source)
    basis = basis or ("rms" if isinstance(source, Fit) else "tail")
    _check(failure_prob, alpha, noise_prob, center, basis)
    length = shifts.points(tolerance, units)
    groups = shifts._lengths_by()
    if mixture and len(groups) > 1:
        groups = [("the mixture", np.concatenate([x for _, x in groups]))]
    budget = failure_prob - noise_prob
    taken = "tail" if basis == "source" else basis
    bound = (
        bound_of_fit(source, basis, budget, shifts.largest)
        if isinstance(source, Fit)
        else bound_of_shifts(groups, basis, budget, shifts.largest)
    )
    most = _largest_alpha(bound.length, length, center, shifts)
    chosen = most if alpha is None else (alpha if alpha <= most else np.nan)
    reason = _reason(bound, length, most, alpha, shifts) if not chosen > 0 else ""
    reach = _reach(bound.length, chosen, center, shifts)
    scale = _noise(reach, length, noise_prob, shifts.dim) if noise_prob and chosen > 0 else 0.0
    return Certificate(
        tolerance=length,
        failure_prob=failure_prob,
        alpha=float(chosen) if chosen > 0 else float("nan"),
        noise_scale=float(scale) if chosen > 0 else float("nan"),
        shift_bound=bound.length,
        shift_prob=budget - bound.estimation_prob,
        noise_prob=noise_prob,
        estimation_prob=bound.estimation_prob,
        neighbours=min(x.size for _, x in groups),
        needed=neighbours_needed(budget, groups=len(groups), basis=taken),
        basis=basis,
        range_only=basis != "source" and bound.length >= shifts.largest,
        worst=bound.worst,
        dim=shifts.dim,
        design=shifts.design,
        center=center,
        reason=reason,
        cautions=(*_basis_cautions(basis, source), *cautions_of(shifts)),
    )


def _shifts_of(source: Shifts | Fit) -> Shifts:
    shifts = source.data if isinstance(source, Fit) else source
    given = type(source).__name__ + f" of {type(shifts).__name__}" * isinstance(source, Fit)
    expect("certify", isinstance(shifts, Shifts), f"expected Shifts, or a fit of them, got {given}")
    with checking("certify") as require:
        require(
            len(shifts.judges) == 1 or isinstance(source, Fit),
            f"a certificate is for one judge; there are {list(shifts.judges)}: take one with "
            "shifts.only(judge=...)",
        )
    return shifts


def _noise(reach: float, length: float, noise_prob: float, dim: int) -> float:
    """Largest noise under which a shift as long as `reach` stays within `length`, exactly."""
    if reach >= length:
        return 0.0
    about: dict[str, Any] = {"dim": dim, "tolerance": length, "failure_prob": noise_prob}
    return exact_noise_scale(lengths=[reach], probs=[1.0], **about)


def _reach(shift: float, alpha: float, center: str | Center, shifts: Shifts) -> float:
    """Length of a shift of length `shift` after shrinkage."""
    if isinstance(center, Center):  # the lengths of both moves add
        return alpha * shift + (1 - alpha) * _move(center, shifts)
    if center != "mean":
        return alpha * shift
    if shifts.design == "batch":
        return shift  # a shift of all scores alike moves their mean as far
    # one score moves, its mean by 1/n: the two parts are at right angles but for that score
    n = len(shifts.items)
    return shift * float(np.sqrt(alpha**2 + (1 - alpha**2) / n))


def _largest_alpha(shift: float, length: float, center: str | Center, shifts: Shifts) -> float:
    """Largest shrinkage factor under which a shift of length `shift` stays within `length`."""
    if shift <= length:
        return 1.0
    moves = center == "mean" or isinstance(center, Center)
    if moves and shifts.design == "batch":
        return float("nan")
    if isinstance(center, Center):
        move = _move(center, shifts)
        return (length - move) / (shift - move) if move < length else float("nan")
    ratio = length / shift
    if not moves:
        return ratio if ratio > 0 else float("nan")
    n = len(shifts.items)
    square = (ratio**2 - 1 / n) / (1 - 1 / n) if n > 1 else -1.0
    return float(np.sqrt(square)) if square > 0 else float("nan")


def _move(center: Center, shifts: Shifts) -> float:
    """Length by which all scores move with the largest move of their centre (S_mu)."""
    return float(np.sqrt(shifts.dim)) * center.largest_move


def _reason(bound: Bound, length: float, most: float, alpha: float | None, shifts: Shifts) -> str:
    if not np.isfinite(bound.length):
        return (
            "the scale has no bound and there are too few neighbours to bound the shifts; give the "
            "scale's ends, or measure more"
        )
    if alpha is not None and most > 0:
        how = "as they are" if alpha == 1 else f"shrunk to {alpha:g} of their distance"
        return (
            f"of scores released {how}, shifts of {alpha * bound.length:.4g} points cannot be "
            f"excluded, and the tolerance is {length:.4g}; shrunk to {most:.4g} of their distance "
            "from the centre (the shrinkage factor, alpha) they can be certified, or measure more"
        )
    return (
        "the centre of the same scores moves too far by itself; shrink towards a fixed centre or "
        "the mean of other items (center='fixed', center='holdout')"
    )


def _basis_cautions(basis: str, source: Any) -> list[Caution]:
    raised = []
    if basis == "source":
        raised.append(Caution.of("estimation-error-ignored"))
    elif basis == "predictive":
        raised.append(Caution.of("average-over-measurements"))
    if isinstance(source, Fit):
        raised.append(Caution.of("rests-on-a-model", method=source.method))
        raised += [c for c in source.cautions if c.id in AGAINST_A_FIT]
    return raised


def _check(
    failure_prob: float,
    alpha: float | None,
    noise_prob: float,
    center: str | Center,
    basis: str,
) -> None:
    with checking("certify") as require:
        require(0 < failure_prob < 1, "must lie in (0, 1)", failure_prob=failure_prob)
        require(
            0 <= noise_prob < failure_prob, "must lie in [0, failure_prob)", noise_prob=noise_prob
        )
        require(alpha is None or 0 < alpha <= 1, "must lie in (0, 1]", alpha=alpha)
        require(basis in BASES, f"must be one of {list(BASES)}", basis=basis)
        known = isinstance(center, Center) or center in ("fixed", "holdout", "mean")
        require(known, f"center={center!r}: expected fixed, holdout, mean, or a robust_center()")
