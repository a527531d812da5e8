"""Worth of judges in random labels, under every label design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesjudge.core.worth import Worth, worth_of_draws
from bayesjudge.judge.data import Judged, as_judged
from bayesjudge.truth import agreement
from bayesjudge.truth.pairs import Pairs, worth_of_sample


def worth(data: Any, *, ci_prob: float = 0.95) -> Mapping[tuple[str, str], Worth]:
    r"""How many more random labels a judge is worth to the share of good outputs, or their mean.

    Parameters
    ----------
    data : Judged, Verdicts, prevalence.Counts, Items or Scores
        Of one or several judges and systems.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    mapping of (str, str) to Worth
        By judge and system, ``""`` of one. If every output has a label, what it would be worth with
        endlessly many others; below 0 if the labels, which were not drawn at random,
        tell less with the judge than as many random ones would alone.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Notes
    -----
    Random labels: `worth_of_pairs`; of K classes with the share of the classes' variances that
    verdicts explain (Goodman and Kruskal's tau) in place of the squared correlation. Otherwise the
    variance V of the corrected share, by the delta method in each draw, stands for
    :math:`\theta (1 - \theta) / V` random labels:

    .. math:: V = \sum_v \frac{p_v^2 \phi_v (1 - \phi_v)}{m_v} + \frac{\mathrm{Var}(\phi_v)}{n},
              \quad
              V = \frac{p (1 - p) / n + \theta^2 q_1 (1 - q_1) / m_1 +
              (1 - \theta)^2 q_0 (1 - q_0) / m_0}{(q_0 + q_1 - 1)^2}

    with labels by verdict (:math:`\phi_v` the share of good outputs under verdict v) and by truth.

    References
    ----------
    Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361; Cochran (1977), Section 5A.9; Rogan &
    Gladen (1978), Am. J. Epidemiol. 107, 71-76.

    Examples
    --------
    >>> from bayesjudge import Verdicts
    >>> table = Verdicts.from_counts([[38, 20], [2, 40], [144, 206]], calibration="random")
    >>> print(worth(table)["judge", ""])
    37 more labels (18 to 65)
    """
    judged = as_judged(data)
    return {at: _of_pairs(judged, pairs, ci_prob) for at, pairs in judged.pairs.items()}


def _of_pairs(judged: Judged, pairs: Pairs, ci_prob: float) -> Worth:
    labels, items = pairs.labelled, float(pairs.all_n.sum())
    items = np.inf if judged.complete else items
    if labels < 2 or not pairs.knows_share(judged.design):
        return Worth(np.nan, np.nan, np.nan, labels, ci_prob)
    if "prevalence" in judged.design.identifies:
        numeric = judged.scores is not None
        return worth_of_sample(pairs, judged.design, items, ci_prob, numeric=numeric)
    shares = pairs.draws(judged.design)
    if judged.kind != "verdicts":
        return Worth(np.nan, np.nan, np.nan, labels, ci_prob)
    good = shares @ pairs.truth
    variance = _of_verdicts(pairs, shares, items)
    if judged.design.identifies == {"error_rates"}:
        variance = _of_errors(pairs, shares, items)
    return worth_of_draws(good * (1 - good) / variance - labels, labels, ci_prob)


def _of_verdicts(pairs: Pairs, shares: np.ndarray, items: float) -> np.ndarray:
    """Variance of the share of good outputs from labels by verdict."""
    within, square = np.zeros(len(shares)), np.zeros(len(shares))
    for value in pairs.verdicts:
        here = pairs.said == value
        p, given = shares @ here.astype(float), agreement.among(shares, pairs.truth, here)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = p**2 * given * (1 - given) / pairs.n[here].sum()
        within += np.where(p > 0, part, 0.0)
        square += p * np.nan_to_num(given) ** 2
    return within + (square - (shares @ pairs.truth) ** 2) / items


def _of_errors(pairs: Pairs, shares: np.ndarray, items: float) -> np.ndarray:
    """Variance of the share of good outputs from labels by truth (Rogan & Gladen's)."""
    rates = agreement.rates(pairs.said, pairs.truth, shares)
    good, rate = shares @ pairs.truth, shares @ pairs.said
    se, sp = rates["sensitivity"], rates["specificity"]
    n_good, n_bad = pairs.n @ pairs.truth, pairs.n @ (1 - pairs.truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = good**2 * se * (1 - se) / n_good + (1 - good) ** 2 * sp * (1 - sp) / n_bad
        return (rate * (1 - rate) / items + errors) / rates["youden"] ** 2
