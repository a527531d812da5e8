"""When the share of good outputs changed, if it changed once: periods of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesjudge.core.answer import chance, listed, mirrored, points
from bayesjudge.core.errors import InputError, check_ci_prob, checking, expect
from bayesjudge.core.estimate import Row
from bayesjudge.core.periods import in_time
from bayesjudge.prevalence.data import Counts, require_counts
from bayesjudge.prevalence.model import ErrorRates
from bayesjudge.truth.quadrature import NotIntegrated, posterior_of

#: Steps of the share, and the least mass of one: what is rarer is lost to rounding.
STEPS, LEAST = 2000, 1e-15
#: Most dates that a sentence names, and the probability that is enough for it.
MOST_DATES, ENOUGH = 3, 0.85


@dataclass(frozen=True)
class ChangePoint:
    """When the share changed, if it changed once, and what speaks for a change.

    Parameters
    ----------
    periods : tuple of str
        In the order of time.
    probabilities : tuple of float
        That it changed after each period but the last, given that it changed once.
    bayes_factor : float
        How many times as well one change at some time explains the data as none.
    difference : Row
        The share after the change less that before it, over all dates that it may have; with its
        interval.
    ci_prob : float, default 0.95
        Probability of that interval.

    Examples
    --------
    >>> weeks = Counts([300] * 4, [252, 249, 219, 216], [36, 36, 30, 30], [34, 34, 28, 28],
    ...                [4, 4, 10, 10], [3, 3, 7, 8], calibration="random",
    ...                systems=["w1", "w2", "w3", "w4"])
    >>> [round(p, 2) for p in change_point(weeks).probabilities]
    [0.06, 0.9, 0.05]
    """

    periods: tuple[str, ...]
    probabilities: tuple[float, ...]
    bayes_factor: float
    difference: Row
    ci_prob: float = 0.95

    def dates(self) -> list[tuple[str, str, float]]:
        """List the periods between which it may have changed, the most probable first.

        Returns
        -------
        list of tuple
            The last period before, the first one after, and the probability.
        """
        spans = zip(self.periods, self.periods[1:], self.probabilities, strict=False)
        return sorted(spans, key=lambda span: -span[2])

    def __str__(self) -> str:
        dates = self.dates()
        named = 1 + next(
            i for i in range(len(dates)) if i + 1 in (len(dates), MOST_DATES)
            or sum(date[2] for date in dates[: i + 1]) >= ENOUGH
        )  # fmt: skip
        first, *others = [f"{a} and {b} ({chance(p)})" for a, b, p in dates[:named]]
        when = first.replace("(", "(probability ", 1)
        when += f"; else {listed(others)}" if others else ""
        row = self.difference
        if row.low <= 0 <= row.high:
            how = f"changed by {points(row, self.ci_prob)}, later less earlier,"
        else:
            size = row if row.value > 0 else mirrored(row)
            how = f"{'rose' if row.value > 0 else 'fell'} by {points(size, self.ci_prob)},"
        return f"If the share changed once, it {how} between {when}. {self._evidence()}"

    def _evidence(self) -> str:
        factor = self.bayes_factor
        if factor >= 1:
            strong = "strong" if factor >= 10 else "some" if factor >= 3 else "hardly any"
            times = "more than 1,000" if factor > 1000 else f"{factor:,.2g}"
            return (
                f"One change at some time explains these data {times} times as well as none, which "
                f"is {strong} evidence of a change."
            )
        times = "more than 1,000" if factor < 0.001 else f"{1 / factor:.2g}"
        return (
            f"No change explains these data {times} times as well as one at some time: that the "
            "share changed at all is not shown."
        )


def change_point(
    counts: Counts, model: ErrorRates | None = None, *, ci_prob: float = 0.95
) -> ChangePoint:
    r"""Find when the share of good outputs changed, if it changed once.

    Each period has its own judge's rates, which are integrated out, so that its data tell a
    likelihood :math:`L_t` of the share alone. With one share before the change and another after
    it, a priori independent, and every date as probable as any other,

    .. math:: P(\text{after } k) \propto \int \prod_{t \le k} L_t(\theta) p(\theta) d\theta
              \int \prod_{t > k} L_t(\theta) p(\theta) d\theta.

    Parameters
    ----------
    counts : Counts
        With systems that are periods (w01, 2026-09, Q3), three or more.
    model : ErrorRates, optional
        Priors, by default those of `ErrorRates`.
    ci_prob : float, default 0.95
        Probability of the interval of the difference.

    Returns
    -------
    ChangePoint
        Dates with their probabilities, the difference, and the Bayes factor against no change.

    Raises
    ------
    InputError
        If systems are not periods, labels were chosen by verdict or with known propensities, a
        period has no posterior, or `ci_prob` is out of range.

    References
    ----------
    Smith (1975), Biometrika 62, 407-416.
    """
    require_counts(counts, "change_point")
    check_ci_prob(ci_prob)
    model = model or ErrorRates()
    with checking("change_point") as require:
        suits = counts.has_quadrature and not counts.predictive
        require(suits, "change-not-random", name=counts.design.name, meaning=counts.design.meaning)
        alone = isinstance(model, ErrorRates) and not model._pools
        require(alone, "shared-rates")
    names = counts.systems or ()
    return change_of(
        {name: (counts.system(name), model.of_system(name)) for name in names}, ci_prob
    )


def change_of(each: Mapping[str, tuple[Counts, Any]], ci_prob: float) -> ChangePoint:
    """The same of counts and priors of each period."""
    from scipy.special import betainc, logsumexp  # slow to load

    periods = in_time(each)
    problem = f"expected three periods or more, such as w01 or 2026-09: {list(each)}"
    expect("change_point", periods, problem)
    edges = np.linspace(0, 1, STEPS + 1)
    priors, logs = [], []
    for name in periods:
        counts, model = each[name]
        priors.append(np.diff(betainc(*model.prevalence, edges)))
        try:
            mass = np.diff(posterior_of(counts, model).cdf(edges))
        except NotIntegrated as error:
            raise InputError("change_point", [f"{name}: no posterior ({error})"]) from error
        logs.append(np.log(np.maximum(mass, LEAST)) - np.log(np.maximum(priors[-1], LEAST)))
    sums, prior = np.cumsum(logs, axis=0), np.log(np.maximum(np.mean(priors, axis=0), LEAST))
    before, after = sums[:-1] + prior, sums[-1] - sums[:-1] + prior
    ends = logsumexp(before, axis=1, keepdims=True), logsumexp(after, axis=1, keepdims=True)
    log = (ends[0] + ends[1])[:, 0]
    weights = np.exp(log - logsumexp(log))
    factor = np.exp(logsumexp(log) - np.log(log.size) - logsumexp(sums[-1] + prior))
    shares = zip(np.exp(before - ends[0]), np.exp(after - ends[1]), weights, strict=True)
    apart = sum(w * np.convolve(late, early[::-1]) for early, late, w in shares)
    return ChangePoint(
        tuple(periods),
        tuple(map(float, weights)),
        float(factor),
        _summarised(np.asarray(apart), ci_prob),
        ci_prob,
    )


def _summarised(mass: np.ndarray, ci_prob: float) -> Row:
    """Mean and equal-tailed interval of differences from -1 to 1."""
    steps = np.arange(1 - STEPS, STEPS)
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    edges = np.append(steps - 0.5, STEPS - 0.5) / STEPS
    tail = (1 - ci_prob) / 2
    low, high = np.interp([tail, 1 - tail], below, edges)
    return Row(float(steps @ mass / mass.sum() / STEPS), float(low), float(high))
