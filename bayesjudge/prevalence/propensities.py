"""Labels drawn with known probabilities: each weighed by how rarely its like was drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.estimate import Estimate
from bayesjudge.prevalence import formulas
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.described import DRAWN, OVERALL, judged


def propensity_weighted(counts: Counts, *, ci_prob: float = 0.95, tuned: bool = True) -> Estimate:
    """Correct the pass rate by the labelled items' weighted mean correction.

    Parameters
    ----------
    counts : Counts
        With ``calibration="known_propensity"``.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    tuned : bool, default True
        Weigh the judge so that the variance is least, rather than fully. At a weight of 0 this is
        Hájek's estimator, which leaves the judge out.

    Returns
    -------
    Estimate
        ``overall_prevalence``, clipped to [0, 1] with the unclipped value as ``raw``; the strata
        have none of their own. The interval is normal.

    Raises
    ------
    InputError
        Where there are no propensities, or `ci_prob` is out of range.

    Notes
    -----
    With fewer than 5 labelled items that the judge gets wrong, or that are good, or bad, one
    imaginary item of each of the four kinds joins them for the interval and the judge's weight, as
    in `difference`; the strata share it by their numbers of items.

    References
    ----------
    Horvitz & Thompson (1952), J. Am. Stat. Assoc. 47, 663-685; Hájek (1971); Zrnic & Candès (2024),
    Active Statistical Inference, arXiv:2403.03208.

    Examples
    --------
    >>> counts = Counts([400, 500], [100, 450], [20, 45], [10, 44], [80, 5], [72, 3],
    ...                 calibration="known_propensity", propensity=[0.2, 0.1],
    ...                 systems=["0.2", "0.1"], dim="stratum")
    >>> [round(x, 3) for x in propensity_weighted(counts)["overall_prevalence"]]
    [0.578, 0.522, 0.633]
    """
    z = z_score(ci_prob)
    with checking("propensity_weighted") as require:
        known = counts.propensity is not None
        require(known, "needs calibration='known_propensity', with the propensity of each item")
    value, centre, sd = _weighted(counts, tuned)
    ends = (float(np.clip(x, 0, 1)) for x in (value, centre - z * sd, centre + z * sd))
    assumptions, raised = judged(counts, (DRAWN,))
    return Estimate.from_rows(
        {OVERALL: (*ends, value)},
        method="Propensity-weighted difference",
        ci_prob=ci_prob,
        source="Hájek (1971); Zrnic & Candès (2024)",
        interval="normal",
        assumptions=assumptions,
        cautions=tuple(dict.fromkeys((*raised, *cautions_of(counts)))),
    )


def _weighted(counts: Counts, tuned: bool) -> tuple[float, float, float]:
    """Value, centre of the interval and standard error."""
    c = counts
    labelled = [c.correct_pass, c.correct_n - c.correct_pass, c.incorrect_n - c.incorrect_fail]
    cells = np.array([*labelled, c.incorrect_fail, c.test_pass, c.test_n - c.test_pass], float)
    padded = cells.copy()
    if formulas.too_few(cells[:4], np.sum):
        padded[:4] += c.shares * (c.labelled_n > 0)
    best, by_judge, by_truth = _parts(padded, c.propensity)
    power = best if tuned else 1.0
    influence = by_truth.parts + power * by_judge.parts
    error = np.sqrt((padded * influence**2).sum()) / padded.sum()
    _, judged, labels = _parts(cells, c.propensity)
    value, centre = labels.mean + power * judged.mean, by_truth.mean + power * by_judge.mean
    return float(value), float(centre), float(error)


class _Part(NamedTuple):
    """A part of the estimate, and each item's influence on it."""

    mean: float
    parts: np.ndarray


def _parts(cells: np.ndarray, propensity: np.ndarray) -> tuple[float, _Part, _Part]:
    """Weight of least variance of the judge; what its verdicts add; what the labels say."""
    verdict, truth = np.array([[1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 0, 0]])[..., None]
    known = np.array([1, 1, 1, 1, 0, 0])[:, None]
    weight = known / propensity
    total, weights = cells.sum(), (cells * weight).sum()
    # Hájek: the weights of the labelled items sum to the number of items
    weight = weight * total / weights
    passes = (cells * verdict).sum() / total
    weighted_passes = (cells * weight * verdict).sum() / total
    good = (cells * weight * truth).sum() / total
    by_truth = weight * (truth - good)
    by_judge = (verdict - passes) - weight * (verdict - weighted_passes)
    variance = (cells * by_judge**2).sum()
    best = -(cells * by_judge * by_truth).sum() / variance if variance > 0 else 0.0
    judge = _Part(passes - weighted_passes, by_judge)
    return float(np.clip(best, 0, 1)), judge, _Part(good, by_truth)
