"""Closed forms of RMS shift, mean shift and repeat noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import chdtri, stdtrit

from bayesjudge.bias.cautions import EQUAL_NOISE, SAMPLED, tail_factor
from bayesjudge.bias.data import Shifts
from bayesjudge.core import dirichlet, methods
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import clopper_pearson
from bayesjudge.core.methods import Method

FEUER = "Feuer et al. (2026), Towards Provably Unbiased LLM Judges via Bias-Bounded Evaluation"
#: Below this many items an interval that trusts the central limit theorem is not offered.
FEW = 20


def rms_shift(
    shifts: Shifts,
    *,
    ci_prob: float = 0.95,
    interval: Literal["normal", "distribution_free"] = "normal",
) -> Estimate:
    r"""Root-mean-squared shift of each perturbation ("RMS sensitivity" in the source).

    .. math:: \Delta_2^* = \sqrt{E \lVert f(D) - f(D') \rVert^2}

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    interval : {"normal", "distribution_free"}
        Normal on the scale of the logarithm, with neighbours of one item counted together; or from
        the Dirichlet posteriors with one pseudo-neighbour at no shift (low end) and at the largest
        that the scale allows (high end). With fewer than 20 items, or no variation among them, the
        second is used in any case and a caution says so. Where a few shifts are much larger than
        the rest the first covers less than it claims, and a caution says that.

    Returns
    -------
    Estimate
        ``rms_shift`` by perturbation, and by judge if there are several, in score points.

    Raises
    ------
    InputError
        If `ci_prob` or `interval` is unknown.

    References
    ----------
    Feuer et al. (2026), Definition 3.1, Algorithm 1.

    Examples
    --------
    >>> shifts = Shifts.from_differences([0, 0, 2, 0, 2], scale=(1, 5))
    >>> [round(x, 2) for x in rms_shift(shifts)["rms_shift", "perturbed"]]
    [1.26, 0.46, 3.03]
    """
    kinds = ("normal", "distribution_free")
    expect("rms_shift", interval in kinds, f"must be one of {kinds}", interval=interval)
    check_ci_prob(ci_prob)
    rows, few, heavy = {}, [], []
    for where, group in shifts._groups():
        square = group.lengths**2
        ends = _log_normal_ends(group, square, ci_prob) if interval == "normal" else None
        if ends is None:
            few += [", ".join(where)] * (interval == "normal")
            ends = _distribution_free_ends(square, group.largest**2, ci_prob)
        elif tail_factor((square.mean(), (square**2).mean()), square.size) > 1:
            heavy.append(", ".join(where))
        rows[where] = tuple(np.sqrt([square.mean(), *ends]))
    return Estimate(
        {"rms_shift": Quantity.of_rows(rows, shifts._dims)},
        method=methods.RMS_SHIFT_NORMAL if interval == "normal" else methods.RMS_SHIFT,
        ci_prob=ci_prob,
        source=f"{FEUER}, Definition 3.1",
        interval="log-normal by item" if interval == "normal" else "distribution-free",
        assumptions=(SAMPLED,),
        cautions=(*cautions_of(shifts), *_against_normal(few, heavy)),
        data=shifts,
    )


def share_moved(shifts: Shifts, *, limit: float, ci_prob: float = 0.95) -> Estimate:
    """Share of re-judged scores that moved by more than a limit, by perturbation.

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.
    limit : float
        In score points, 0 or more; of several scores, or of whole batches, the length of a shift.
    ci_prob : float, default 0.95
        Coverage of the intervals, Clopper and Pearson's: at least as much if neighbours are
        independent.

    Returns
    -------
    Estimate
        ``share_moved`` by perturbation (reruns among them), and by judge if there are several.
        ``bayesjudge.decide.gate(..., at_most=0.05)`` turns it into pass, fail or unknown.

    Raises
    ------
    InputError
        If `ci_prob` or `limit` is out of range.

    Examples
    --------
    >>> shifts = Shifts.from_differences([0, 0, 2, 0, 2], scale=(1, 5))
    >>> share_moved(shifts, limit=1)["share_moved", "perturbed"].value
    0.4
    """
    check_ci_prob(ci_prob)
    expect("share_moved", 0 <= limit < np.inf, "must be a number of points, 0 or more", limit=limit)
    rows = {}
    for where, group in shifts._groups():
        moved = int((group.lengths > limit * (1 + 1e-9)).sum())
        rows[where] = tuple(map(float, clopper_pearson(moved, group.lengths.size, ci_prob)))
    return Estimate(
        {"share_moved": Quantity.of_rows(rows, shifts._dims)},
        method=Method(f"share-moved:{limit:g}", f"Share moved by more than {limit:g} points"),
        ci_prob=ci_prob,
        source="Clopper and Pearson (1934), Biometrika 26, 404-413",
        interval="Clopper-Pearson",
        assumptions=(SAMPLED,),
        cautions=cautions_of(shifts),
        data=shifts,
    )


def _against_normal(few: list[str], heavy: list[str]) -> Iterator[Caution]:
    if few:
        yield Caution.of("few-neighbours", parts="; ".join(few))
    if heavy:
        yield Caution.of("heavy-tailed-shifts", "formula", parts="; ".join(heavy))


def variance_parts(shifts: Shifts, *, ci_prob: float = 0.95) -> Estimate:
    """Split shifts into what is systematic and what a judge does when it is asked twice.

    Parameters
    ----------
    shifts : Shifts
        Re-judged scores and their baselines.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``rms_shift`` and ``mean_shift`` (signed) of each perturbation, and ``repeat_noise``, the
        RMS shift that judging again without any change would give, all in score points. For whole
        batches the mean is that of one score, while the RMS shift is the length of a batch's.
        ``nan`` where signs are unknown or nothing was judged twice; a caution says which.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": list("aabb") * 2, "variant": ["baseline"] * 4 + ["bold"] * 4,
    ...                       "score": [3, 3, 5, 4, 4, 4, 5, 5]})
    >>> shifts = Shifts.from_frame(table, scale=(1, 5), design="item", repeats="mean")
    >>> variance_parts(shifts)["mean_shift", "bold"].value
    0.75
    """
    about = rms_shift(shifts, ci_prob=ci_prob)
    cautions = list(about.cautions)
    unsigned = (np.nan,) * 3
    mean = {
        where: _mean(group, ci_prob) if shifts.signed else unsigned
        for where, group in shifts._groups(reruns=False)
    }
    rms = {where: about["rms_shift", *where] for where in mean}
    noise = _repeat_noise(shifts, ci_prob)
    if not shifts.signed:
        cautions.append(Caution.of("unsigned"))
    lost = [where for where, row in noise.items() if np.isnan(row[0])]
    if lost:
        by = ", ".join(judge for where in lost for judge in where)
        unless = ", unless an item's shifts are taken as independent" * (len(shifts._changed) > 1)
        cautions.append(
            Caution.of("repeat-noise-unknown", by=f" by {by}" if by else "", unless=unless)
        )
    return Estimate(
        {
            "rms_shift": Quantity.of_rows(rms, shifts._dims),
            "mean_shift": Quantity.of_rows(mean, shifts._dims),
            "repeat_noise": Quantity.of_rows(noise, shifts._judge_dims),
        },
        method=methods.VARIANCE_PARTS,
        ci_prob=ci_prob,
        source=f"{FEUER}, Definition 3.1; one-way analysis of variance",
        interval={
            "rms_shift": "log-normal by item",
            "mean_shift": "t by item",
            "repeat_noise": "chi-squared",
        },
        assumptions=(SAMPLED, EQUAL_NOISE),
        cautions=tuple(cautions),
        data=shifts,
    )


def _by_item(group: Shifts, values: np.ndarray) -> np.ndarray:
    """Average over the neighbours of an item, since they share its baseline; not over batches."""
    if group.design == "batch":
        return values
    _, row = np.unique(group.neighbour, return_index=True)
    _, place = np.unique(group.item[row], return_inverse=True)
    return np.bincount(place, weights=values) / np.bincount(place)


def _log_normal_ends(
    group: Shifts, square: np.ndarray, ci_prob: float
) -> tuple[float, float] | None:
    means = _by_item(group, square)
    if means.size < FEW or np.ptp(means) == 0:
        return None
    error = means.std(ddof=1) / np.sqrt(means.size) / means.mean()
    half = float(stdtrit(means.size - 1, (1 + ci_prob) / 2)) * error
    return square.mean() * np.exp(-half), square.mean() * np.exp(half)


def _distribution_free_ends(
    square: np.ndarray, largest: float, ci_prob: float
) -> tuple[float, float]:
    """Of the mean of what lies between 0 and `largest`."""
    tail = (1 - ci_prob) / 2
    return with_one_more(square, 0.0, tail), with_one_more(square, largest, 1 - tail)


def with_one_more(values: np.ndarray, extreme: float, prob: float) -> float:
    """Quantile of the mean of values under a Dirichlet posterior, with one more at an extreme."""
    if not np.isfinite(extreme):
        return float("inf")
    seen, count = np.unique(np.append(values, extreme), return_counts=True)
    return float(dirichlet.quantile(count, seen, prob))


def _mean(group: Shifts, ci_prob: float) -> tuple[float, float, float]:
    _, place = np.unique(group.neighbour, return_inverse=True)
    per = np.bincount(place, weights=group.shift[:, 0]) / np.bincount(place)
    means = _by_item(group, per)
    centre, alike = float(means.mean()), np.ptp(means) <= 1e-12 * group.span
    if means.size < 2 or (alike and not np.isfinite(group.span)):
        return centre, -group.span, group.span
    if alike:  # a standard error of 0 does not say that other items would move alike
        low, high = _distribution_free_ends(means + group.span, 2 * group.span, ci_prob)
        return centre, low - group.span, high - group.span
    half = float(stdtrit(means.size - 1, (1 + ci_prob) / 2))
    half *= float(means.std(ddof=1)) / np.sqrt(means.size)
    return centre, max(centre - half, -group.span), min(centre + half, group.span)


def _repeat_noise(shifts: Shifts, ci_prob: float) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """RMS shift of a rerun, by judge."""
    tail = (1 - ci_prob) / 2
    factor = 2 / shifts.averaged * (len(shifts.items) if shifts.design == "batch" else 1)
    rows: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for j, name in enumerate(shifts.judges):
        where = (name,) if shifts._judge_dims else ()
        free = 0.0 if shifts.freedom is None else float(shifts.freedom[j])
        if free == 0 or shifts.squares is None:
            rows[where] = (np.nan,) * 3
            continue
        total = float(shifts.squares[j]) * factor
        ends = total / chdtri(free, np.array([tail, 1 - tail]))
        rows[where] = tuple(np.sqrt([total / free, *ends]))
    return rows
