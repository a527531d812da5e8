"""Repeats that a precision takes, and what they cost: planning before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.intervals import z_score
from bayesjudge.core.planning import Parts
from bayesjudge.repeats.checks import usable
from bayesjudge.repeats.closed_form import SEARLE, _alone, anova, exact
from bayesjudge.repeats.data import Scores

if TYPE_CHECKING:
    import pandas as pd


def third_of_a_bin(value_range: float, bins: int) -> float:
    """Half-width that keeps the intervals of neighbouring bins apart, with a third to spare.

    Parameters
    ----------
    value_range : float
        Greatest less least score, for example 4 on a scale from 1 to 5.
    bins : int
        Classes to tell apart, 1 or more.

    Returns
    -------
    float
        ``value_range / (3 * bins)``, in the units of the scale.

    Raises
    ------
    InputError
        If an argument is not positive.

    References
    ----------
    Source 3, 'Value of the half-interval d'.

    Examples
    --------
    >>> round(third_of_a_bin(4, 5), 3), round(third_of_a_bin(9, 10), 3)
    (0.267, 0.3)
    """
    with checking("repeats.third_of_a_bin") as require:
        require(value_range > 0, "must be positive", value_range=value_range)
        require(bins >= 1, "must be 1 or more", bins=bins)
    return value_range / (3 * bins)


def required_repeats(sd: Any, half_width: Any, *, ci_prob: float = 0.95) -> Any:
    r"""Count the scores that a mean known to within `half_width` takes, if `sd` is known.

    .. math:: n = \lceil (z s / d)^2 \rceil = \lceil 9 z^2 K^2 \delta^2 \rceil
              \quad\text{for}\quad d = R / 3K,\ \delta = s / R.

    Parameters
    ----------
    sd : float or array_like
        Standard deviation of one item's scores, in the units of the scale.
    half_width : float or array_like
        Wanted half-width of the mean's interval, in the same units; see `third_of_a_bin`.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    int or numpy.ndarray of int
        Broadcast over the arguments; 0 if `sd` is 0, which no pilot can show.

    Raises
    ------
    InputError
        If `sd` is negative, `half_width` is not positive or `ci_prob` is out of range.

    References
    ----------
    Source 3, 'Estimating the Number of Samples to Poll'.

    Examples
    --------
    >>> required_repeats(0.6, third_of_a_bin(4, 5), ci_prob=0.9)
    14
    """
    sd, half_width = np.asarray(sd, float), np.asarray(half_width, float)
    with checking("repeats.required_repeats") as require:
        require((sd >= 0).all(), "must be 0 or more", sd=sd.tolist())
        require((half_width > 0).all(), "must be positive", half_width=half_width.tolist())
    repeats = np.ceil(Parts(sd**2).labels(half_width / z_score(ci_prob))).astype(np.int64)
    return int(repeats) if repeats.ndim == 0 else repeats


def cost_table(
    sd: float,
    *,
    value_range: float,
    bins: Sequence[int] = (2, 3, 5, 10),
    ci_probs: Sequence[float] = (0.8, 0.9, 0.95, 0.99),
    items: int = 1,
    cost_per_call: float = 0.0,
    seconds_per_call: float = 0.0,
    concurrency: int = 10,
) -> pd.DataFrame:
    """Tabulate calls, cost and time by wanted precision.

    Parameters
    ----------
    sd : float
        Standard deviation of one item's scores, in the units of the scale, from a pilot or from
        earlier runs.
    value_range : float
        Greatest less least score.
    bins : sequence of int
        Classes to tell apart; each gives the half-width `third_of_a_bin`.
    ci_probs : sequence of float
        Probabilities of the interval.
    items : int, default 1
        Items to be scored so.
    cost_per_call : float, default 0
        In any currency.
    seconds_per_call : float, default 0
        Mean latency of a call.
    concurrency : int, default 10
        Calls in flight at once.

    Returns
    -------
    pandas.DataFrame
        One row per combination: ``bins``, ``ci_prob``, ``half_width`` (units of the scale),
        ``repeats`` (calls per item), ``calls``, ``cost``, ``seconds``.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> table = cost_table(0.6, value_range=4, bins=[5], ci_probs=[0.9], items=100,
    ...                    cost_per_call=0.001, seconds_per_call=2)
    >>> table[["repeats", "calls", "cost", "seconds"]].to_dict("records")
    [{'repeats': 14, 'calls': 1400, 'cost': 1.4, 'seconds': 280.0}]
    """
    import pandas as pd

    with checking("repeats.cost_table") as require:
        require(items >= 1, "must be 1 or more", items=items)
        require(cost_per_call >= 0, "must be 0 or more", cost_per_call=cost_per_call)
        require(seconds_per_call >= 0, "must be 0 or more", seconds_per_call=seconds_per_call)
        require(concurrency >= 1, "must be 1 or more", concurrency=concurrency)
    rows = []
    for k in bins:
        for ci_prob in ci_probs:
            half = third_of_a_bin(value_range, k)
            repeats = required_repeats(sd, half, ci_prob=ci_prob)
            calls = repeats * items
            rows.append(
                {
                    "bins": k,
                    "ci_prob": ci_prob,
                    "half_width": half,
                    "repeats": repeats,
                    "calls": calls,
                    "cost": round(calls * cost_per_call, 10),
                    "seconds": float(np.ceil(calls / concurrency) * seconds_per_call),
                }
            )
    return pd.DataFrame(rows)


def required_calls(scores: Scores, half_width: float, *, ci_prob: float = 0.95) -> Estimate:
    r"""Estimate how many calls an item needs, and what more judges would gain instead.

    With J judges, each asked r times, an item's mean over the judges that could be asked has a
    variance of :math:`(\sigma^2_{between} + \sigma^2_{repeat} / r) / J`: calls take away the second
    part only.

    Parameters
    ----------
    scores : Scores
        A pilot: some item was scored twice or more by one judge.
    half_width : float
        Wanted half-width of the interval of an item's mean, in the units of the scale; see
        `third_of_a_bin`.
    ci_prob : float, default 0.95
        Probability of that interval, and of those of the answers.

    Returns
    -------
    Estimate
        ``calls_per_item``: of one judge, until the mean of its own answers is known to within
        `half_width`; ``half_width_of_one``: of one such call. ``half_width_now``: of an item's mean
        at the judges and calls at hand. With several judges the rest are over the
        judges that could be asked: ``half_width_left``, that of the judges at hand however often
        they are asked; ``judges_needed``, asked once each. All from the components of `anova`,
        their ends from its ends.

    Raises
    ------
    InputError
        If `half_width` is not positive, or `anova` refuses the scores.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components, chapter 4.

    Examples
    --------
    >>> from bayesjudge.repeats import simulate
    >>> table = simulate(items=30, judges=4, repeats=4, random_seed=1)
    >>> scores = Scores.from_frame(table, scale=range(1, 6), judge="judge")
    >>> found = required_calls(scores, 0.4)
    >>> [round(found[name].value, 2) for name in ("calls_per_item", "judges_needed")]
    [20.0, 33.0]
    """
    expect("repeats.required_calls", half_width > 0, "must be positive", half_width=half_width)
    parts = (exact if scores.repeats.size == 1 else anova)(scores, ci_prob=ci_prob)
    z = z_score(ci_prob)
    read = usable(scores)
    n = read.repeats
    asked = n[n > 0]  # no score of an item could be read
    calls = asked.size / (1 / asked).sum()
    judges = len(scores.judges)
    if "repeat_sd" in parts:
        repeat = np.array(parts["repeat_sd"]) ** 2
    else:
        repeat = _repeat_variance(read, ci_prob)
    between = sum(
        np.array(parts[name]) ** 2 for name in ("judge_sd", "item_judge_sd") if name in parts
    )
    rows_of = {
        "calls_per_item": np.maximum(np.ceil(Parts(repeat).labels(half_width / z)), 1),
        "half_width_of_one": z * np.sqrt(repeat),
        "half_width_now": z * Parts(repeat, (between,)).error(calls * judges, judges),
    }
    if judges > 1:
        rows_of["half_width_left"] = z * np.sqrt(between / judges)
        rows_of["judges_needed"] = np.ceil(Parts(between + repeat).labels(half_width / z))
    rows: dict[str, Any] = {name: Row(*map(float, row)) for name, row in rows_of.items()}
    return Estimate(
        rows,
        method=methods.CALLS,
        ci_prob=ci_prob,
        source=SEARLE,
        interval="ends of the components",
        assumptions=parts.assumptions,
        # how far an item's own interval reaches has no part in the number of calls
        cautions=tuple(c for c in parts.cautions if c.id != "cut-at-the-scale"),
        data=scores,
    )


def _repeat_variance(scores: Scores, ci_prob: float) -> np.ndarray:
    """Variance of one item's scores by one judge, with its chi-square interval."""
    free = int(scores.repeats.item()) - 1
    expect("repeats.required_calls", free > 0, "judge-not-repeated")
    return np.array(_alone((float(scores.deviations.item()) / free, free), ci_prob))
