"""The agreement metrics of source 5, Table 1: from two arrays of rating vectors to a number.

Each takes rating vectors of a judge and of people, shape (..., n_items, K), and returns shape
(...). Leading axes are bootstrap replicates or posterior draws. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr, xlogy

SOURCE = "Guerdan et al. (2025), Validating LLM-as-a-Judge Systems in the Absence of Gold Labels"
HARD, SETS, ALL = ("hard",), ("hard", "hrs"), ("hard", "soft", "hrs", "srs")
PROBABILITIES = ("soft",)


class Metric(NamedTuple):
    """One way to compare a judge with people.

    Parameters
    ----------
    function : callable
        ``(judge, human) -> value``.
    higher_is_better : bool
        Direction.
    judge, human : tuple of str
        Aggregations that it accepts on either side; an empty one means that the side is not used.
    words : str
        What it is.
    """

    function: Callable[[Any, Any], Any]
    higher_is_better: bool
    judge: tuple[str, ...]
    human: tuple[str, ...]
    words: str


def _hit_rate(judge: Any, human: Any) -> Any:
    return (judge * human).sum(axis=-1).mean(axis=-1)


def _chance_corrected(observed: Any, expected: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)[()]


def _cohen(judge: Any, human: Any) -> Any:
    expected = (judge.mean(axis=-2) * human.mean(axis=-2)).sum(axis=-1)
    return _chance_corrected(_hit_rate(judge, human), expected)


def _scott(judge: Any, human: Any) -> Any:
    pooled = (judge + human).mean(axis=-2) / 2
    return _chance_corrected(_hit_rate(judge, human), (pooled**2).sum(axis=-1))


def _krippendorff(judge: Any, human: Any) -> Any:
    n = 2 * judge.shape[-2]
    total = (judge + human).sum(axis=-2)
    # ratings are paired without replacement, which is all that sets alpha apart from Scott's pi
    expected = ((total**2).sum(axis=-1) - n) / (n * (n - 1))
    return _chance_corrected(_hit_rate(judge, human), expected)


def _kl(first: Any, second: Any) -> Any:
    return rel_entr(first, second).sum(axis=-1).mean(axis=-1)


def _cross_entropy(first: Any, second: Any) -> Any:
    return -xlogy(first, second).sum(axis=-1).mean(axis=-1)


def _js(judge: Any, human: Any) -> Any:
    middle = (judge + human) / 2
    return (_kl(judge, middle) + _kl(human, middle)) / 2


def _coverage(judge: Any, human: Any) -> Any:
    # two sets meet or not; where one side is a single option (or shared by a tie), the sum is <= 1
    return np.minimum((judge * human).sum(axis=-1), 1.0).mean(axis=-1)


def _share_of(part: Any, whole: Any) -> Any:
    each, total = np.broadcast_arrays(part.sum(axis=-1), whole.sum(axis=-1))
    held = total > 0
    share = np.divide(each, total, out=np.zeros(total.shape), where=held)
    with np.errstate(invalid="ignore"):
        return share.sum(axis=-1) / held.sum(axis=-1)


def _binary_cross_entropy(judge: Any, human: Any) -> Any:
    loss = xlogy(human, judge) + xlogy(1 - human, 1 - judge)
    return -loss.sum(axis=-1).mean(axis=-1)


def _mse(judge: Any, human: Any) -> Any:
    return ((judge - human) ** 2).sum(axis=-1).mean(axis=-1)


#: By name: the fourteen rows of the source's Table 1, the two asymmetric ones in both directions.
METRICS: dict[str, Metric] = {
    "hit_rate": Metric(_hit_rate, True, HARD, HARD, "share of items with the same option"),
    "krippendorff_alpha": Metric(_krippendorff, True, HARD, HARD, "Krippendorff's alpha, nominal"),
    "fleiss_kappa": Metric(_scott, True, HARD, HARD, "Fleiss' kappa, which for two is Scott's pi"),
    "cohen_kappa": Metric(_cohen, True, HARD, HARD, "Cohen's kappa"),
    "scott_pi": Metric(_scott, True, HARD, HARD, "Scott's pi"),
    "kl_human_judge": Metric(
        lambda j, h: _kl(h, j), False, PROBABILITIES, PROBABILITIES, "KL(human || judge)"
    ),
    "kl_judge_human": Metric(_kl, False, PROBABILITIES, PROBABILITIES, "KL(judge || human)"),
    "cross_entropy_human_judge": Metric(
        lambda j, h: _cross_entropy(h, j),
        False,
        PROBABILITIES,
        PROBABILITIES,
        "cross-entropy of the judge's shares under people's",
    ),
    "cross_entropy_judge_human": Metric(
        _cross_entropy,
        False,
        PROBABILITIES,
        PROBABILITIES,
        "cross-entropy of people's shares under the judge's",
    ),
    "js_divergence": Metric(
        _js, False, PROBABILITIES, PROBABILITIES, "Jensen-Shannon divergence (not its root)"
    ),
    "coverage": Metric(_coverage, True, SETS, SETS, "share of items whose sets of options meet"),
    "predictive_efficiency": Metric(
        lambda j, h: j.sum(axis=-1).mean(axis=-1), False, SETS, (), "options that the judge names"
    ),
    "recall": Metric(
        lambda j, h: _share_of(j * h, h), True, SETS, SETS, "share of people's options it names"
    ),
    "precision": Metric(
        lambda j, h: _share_of(j * h, j), True, SETS, SETS, "share of its options people name"
    ),
    "binary_cross_entropy": Metric(
        _binary_cross_entropy, False, ALL, SETS, "log loss, summed over options"
    ),
    "mse": Metric(_mse, False, ALL, ALL, "squared error, summed over options"),
}


def inter_rater_alpha(counts: Any) -> float:
    """Compute Krippendorff's nominal alpha among raters, from counts.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, K)
        How many raters chose each option; items with fewer than two ratings say nothing.

    Returns
    -------
    float
        1 for full agreement, 0 for chance; ``nan`` where only one option was ever chosen.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> inter_rater_alpha([[2, 0], [0, 2], [1, 1]])
    0.4444444444444444
    """
    counts = np.asarray(counts, float)
    per_item = counts.sum(axis=1)
    counts, per_item = counts[per_item >= 2], per_item[per_item >= 2]
    total = counts.sum(axis=0)
    n = total.sum()
    if n == 0 or total.max() == n:
        return float("nan")
    apart = ((per_item**2 - (counts**2).sum(axis=1)) / (per_item - 1)).sum()
    return float(1 - (n - 1) * apart / (n**2 - (total**2).sum()))


def fleiss_kappa(counts: Any) -> float:
    """Compute Fleiss' kappa among raters, from counts with the same number of raters for each item.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, K)
        How many raters chose each option.

    Returns
    -------
    float
        ``nan`` where the numbers of raters differ (use `inter_rater_alpha`) or one option only was
        ever chosen.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.
    """
    counts = np.asarray(counts, float)
    per_item = counts.sum(axis=1)
    if per_item.size == 0 or np.ptp(per_item) > 0 or per_item[0] < 2:
        return float("nan")
    n = per_item[0]
    observed = ((counts**2).sum(axis=1) - n).mean() / (n * (n - 1))
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return float(_chance_corrected(observed, expected))
