"""Strata under priors of their own: how far these move what the strata add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.estimate import Caution
from bayesjudge.prevalence import formulas
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import pass_rate, passes_of_all
from bayesjudge.prevalence.model import Priors
from bayesjudge.prevalence.quadrature import posterior_of
from bayesjudge.prevalence.shares import NotIntegrated, Posterior

#: Standard deviations by which priors of single strata may move the overall posterior mean.
MOST = 0.5


def moved_by_priors(
    counts: Counts, priors: Priors, posteriors: Sequence[Posterior | None]
) -> Caution | None:
    """Say so where the overall posterior mean is not where the data put it.

    The mean of each posterior is off the closed form that uses the same data, by its prior and by
    its skewness: little, but in all strata to the same side, while the whole becomes more precise.
    What these shifts add up to, less what one table would have of it, is compared with the standard
    deviation of the whole.
    """
    if None in posteriors:
        return None  # another caution says so
    found = [one for one in posteriors if one is not None]
    mean, sd = np.array([(one.mean, one.sd) for one in found]).T
    raw, bias = _raw_values(counts)
    shift = mean - raw
    for i, name in enumerate(counts.systems or ()):
        if np.isnan(shift[i]):
            shift[i] = _moved_by_more(counts.system(name), priors, mean[i])
    shares = counts.shares
    moved = np.sum(shares * (1 - shares) * shift) + bias
    deviations = moved / np.sqrt(np.sum((shares * sd) ** 2))
    if abs(deviations) <= MOST:
        return None
    return Caution(
        "stratum-priors",
        f"no overall prevalence by quadrature: each of the {len(found)} strata has priors of its "
        f"own, which together move the overall mean by about {deviations:+.1f} standard "
        "deviations; use bayesjudge.prevalence.fit, whose strata share their priors "
        "(pooling='partial'), or merge strata",
    )


def _raw_values(counts: Counts) -> tuple[np.ndarray, float]:
    """Unclipped closed form of each stratum, and by how much the weighed sum is biased."""
    if counts.elsewhere is not None and counts.calibration not in ("by_truth", "separate"):
        return np.full(len(counts.shares), np.nan), 0.0  # no closed form uses all these labels
    with np.errstate(divide="ignore", invalid="ignore"):
        if counts.calibration in ("by_truth", "separate"):
            good, hits, bad, caught = counts.rate_labels.values()
            p, q0, q1 = pass_rate(counts), np.divide(caught, bad), np.divide(hits, good)
            raw = np.where(q0 + q1 > 1, formulas.invert(p, q0, q1), np.nan)
            bias = formulas.ratio_bias(counts.shares, p, q0, q1, bad, good)
            return raw, float(np.nan_to_num(bias))
        passes, items = passes_of_all(counts)
        n1, n0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
        ppv, npv = np.divide(counts.correct_pass, n1), np.divide(counts.incorrect_fail, n0)
        return passes / items * ppv + (1 - passes / items) * (1 - npv), 0.0


def _moved_by_more(counts: Counts, priors: Priors, mean: float) -> float:
    """By how much the mean moves with each prior counted twice: about as much as by the prior."""
    values = {field.name: getattr(priors, field.name) for field in fields(priors)}
    twice: dict[str, Any] = {
        name: BetaPrior(2 * prior.alpha, 2 * prior.beta)
        for name, prior in values.items()
        if isinstance(prior, BetaPrior)
    }
    try:
        return posterior_of(counts, replace(priors, **twice)).mean - mean
    except NotIntegrated:
        return np.inf
