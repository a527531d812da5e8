"""Predicted means of further scores, with variances moderated over items."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr, stdtrit

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import contradicted
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Estimate, Quantity
from bayesjudge.core.screen import how_many
from bayesjudge.repeats.checks import EXCHANGEABLE, checked
from bayesjudge.repeats.data import Scores

SOURCE = "Smyth (2004), Stat. Appl. Genet. Mol. Biol. 3, Article 3, eqs. for moderated variances"
#: A prior of the variances worth more degrees of freedom than this is one variance for all.
MOST_DF = 1e4


def predict_means(scores: Scores, *, repeats: int, ci_prob: float = 0.95) -> Estimate:
    """Predict the mean of further scores of each item, with variances pooled over items.

    Four equal answers do not mean that the fifth is equal too. The variances of all items, by one
    judge, show how variances scatter; each item's own is moved towards theirs by as much as it is
    uncertain.

    Parameters
    ----------
    scores : Scores
        One judge, at least three items with two scores or more.
    repeats : int
        How many further scores are averaged, 1 or more.
    ci_prob : float, default 0.95
        Probability that an interval holds the mean of the further scores.

    Returns
    -------
    Estimate
        ``next_mean`` by item, in the units of the scale. On an evenly spaced scale the ends lie on
        values that such a mean can have, with a correction for continuity: both belong to the
        interval, which therefore holds more than `ci_prob`, by up to the probability of two values.

    Raises
    ------
    InputError
        If there are several judges or too few items, or an argument is out of its range.

    Examples
    --------
    >>> counts = [[[4, 0, 0]], [[3, 1, 0]], [[0, 4, 0]], [[0, 2, 2]], [[1, 0, 3]]]
    >>> scores = Scores(counts, scale=[1, 2, 3], items="vwxyz", judges=["judge"])
    >>> predict_means(scores, repeats=2)["next_mean", "v"]
    Row(value=1.0, low=1.0, high=2.0)
    """
    check_ci_prob(ci_prob)
    given = scores
    scores, cautions = checked(given)
    mean, spread, df, prior_df = _predictive(scores, repeats)
    half = stdtrit(df, (1 + ci_prob) / 2) * spread
    low, high = _on_the_grid(mean - half, mean + half, np.array(scores.scale), repeats)
    scatter = Assumption.of("scattered-variances", prior_df=prior_df)
    columns = mean, np.minimum(low, mean), np.maximum(high, mean)
    return Estimate(
        {"next_mean": Quantity.over(columns, {"item": scores.items})},
        method=methods.MODERATED,
        ci_prob=ci_prob,
        source=SOURCE,
        interval="predictive t",
        assumptions=contradicted((EXCHANGEABLE, scatter), cautions),
        cautions=cautions,
        data=given,
    )


def _probabilities_of_means(
    scores: Scores, means: np.ndarray, *, repeats: int
) -> tuple[np.ndarray, np.ndarray]:
    """Predictive probability of a mean below, and of one up to, what further scores averaged."""
    gaps = np.diff(scores.scale)
    expect("repeats.prediction", np.ptp(gaps) < 1e-9 * gaps[0], "the scale must be evenly spaced")
    mean, spread, df, _ = _predictive(scores, repeats)
    half_step, bottom, top = gaps[0] / repeats / 2, scores.scale[0], scores.scale[-1]
    below = stdtr(df, (means - half_step - mean) / spread)
    up_to = stdtr(df, (means + half_step - mean) / spread)
    slack = half_step / 1e3
    return np.where(means <= bottom + slack, 0, below), np.where(means >= top - slack, 1, up_to)


def _predictive(scores: Scores, repeats: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Centre, spread and degrees of freedom of the t distribution of each further mean."""
    n = scores.repeats[:, 0].astype(float)
    usable = n > 1
    with checking("repeats.predict_means") as require:
        judges = len(scores.judges)
        require(judges == 1, f"{judges} judges; predict one judge at a time")
        require(
            usable.sum() >= 3,
            f"{how_many(int(usable.sum()), 'item', 'have')} two scores or more; 3 are needed",
        )
        require(repeats >= 1, "must be 1 or more", repeats=repeats)
    df = np.maximum(n - 1, 0)
    squares = scores.deviations[:, 0]
    prior_df, prior_variance = _scatter_of_variances(squares[usable] / df[usable], df[usable])
    variance = (prior_df * prior_variance + squares) / (prior_df + df)
    with np.errstate(divide="ignore"):
        spread = np.sqrt(variance * (1 / n + 1 / repeats))
    return scores.means[:, 0], spread, prior_df + df, prior_df


def _scatter_of_variances(variances: np.ndarray, df: np.ndarray) -> tuple[float, float]:
    """Degrees of freedom and scale of the variances' prior, from their mean and variance."""
    mean = float((variances * df).sum() / df.sum())
    d = float(df.mean())
    ratio = float(variances.var(ddof=1)) / mean**2 if mean > 0 else 0.0
    excess = ratio * d - 2
    if excess <= 0:
        return MOST_DF, mean
    prior_df = min((4 * ratio * d + 2 * d - 4) / excess, MOST_DF)
    return prior_df, mean * (prior_df - 2) / prior_df


def _on_the_grid(
    low: np.ndarray, high: np.ndarray, scale: np.ndarray, repeats: int
) -> tuple[np.ndarray, np.ndarray]:
    """Move the ends to values that a mean of `repeats` scores can have."""
    gaps = np.diff(scale)
    if np.ptp(gaps) > 1e-9 * gaps[0]:
        return np.clip(low, scale[0], scale[-1]), np.clip(high, scale[0], scale[-1])
    step = gaps[0] / repeats
    first = np.floor((low - scale[0]) / step - 0.5 + 1e-9) + 1
    last = np.ceil((high - scale[0]) / step + 0.5 - 1e-9) - 1
    ends = scale[0] + step * np.stack([first, last])
    ends = np.clip(ends, scale[0], scale[-1])
    return ends[0], ends[1]
