"""Several systems, or strata, compared: from the posterior of all of them at once."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.fit import Fit


def contrasts(fit: Fit, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Compare every two systems: by how much, and how surely.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.fit`, of two or more systems or strata.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.

    Returns
    -------
    pandas.DataFrame
        One row a pair: ``first``, ``second``, the mean difference of their prevalences ``value``
        with ``low`` and ``high`` (shares of items), and ``probability`` that the first is better.
        Systems that share a judge's rates err together, which cancels in a difference; intervals of
        single systems that overlap do not say that the difference is unknown.

    Raises
    ------
    InputError
        Where there are fewer than two systems, they are judges of the same items, or `ci_prob` is
        out of range.
    """
    draws, names = _draws(fit, ci_prob)
    tail = (1 - ci_prob) / 2
    rows = []
    for i, j in itertools.combinations(range(len(names)), 2):
        gap = draws[:, i] - draws[:, j]
        ends = np.quantile(gap, [tail, 1 - tail])
        rows.append((names[i], names[j], gap.mean(), *ends, (gap > 0).mean()))
    columns = ["first", "second", "value", "low", "high", "probability"]
    return pd.DataFrame(rows, columns=columns)


def ranking(fit: Fit, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Rank the systems, with how sure each rank is.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.fit`, of two or more systems or strata.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.

    Returns
    -------
    pandas.DataFrame
        Index ``system``, the best first; columns ``value``, ``low``, ``high`` (prevalence, a share
        of items), ``rank`` (posterior mean; 1 is the best), ``rank_low``, ``rank_high`` and
        ``best``, the probability of being the best of them.

    Raises
    ------
    InputError
        Where there are fewer than two systems, they are judges of the same items, or `ci_prob` is
        out of range.
    """
    draws, names = _draws(fit, ci_prob)
    tail = (1 - ci_prob) / 2
    ranks = 1 + np.argsort(np.argsort(-draws, axis=1), axis=1)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    # a rank is a whole number: ends that at least `ci_prob` of the draws lie between
    rank_low = np.quantile(ranks, tail, axis=0, method="inverted_cdf")
    rank_high = np.quantile(ranks, 1 - tail, axis=0, method="inverted_cdf")
    table = pd.DataFrame(
        {
            "value": draws.mean(axis=0),
            "low": low,
            "high": high,
            "rank": ranks.mean(axis=0),
            "rank_low": rank_low.astype(int),
            "rank_high": rank_high.astype(int),
            "best": (ranks == 1).mean(axis=0),
        },
        index=pd.Index(names, name="system"),
    )
    return table.sort_values("value", ascending=False)


def _draws(fit: Fit, ci_prob: float) -> tuple[np.ndarray, list[str]]:
    check_ci_prob(ci_prob)
    names = list(fit.data.systems or ())
    with checking("systems") as require:
        require(len(names) >= 2, f"nothing to compare: the fit has systems {names or None}")
        same = fit.data.dim == "judge"
        require(not same, f"{names} judge the same items: there is one prevalence to compare")
    return fit.draws("prevalence"), names
