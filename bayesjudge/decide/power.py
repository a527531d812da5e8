"""Power of the gate: the chance of a pass with so many labels, and the labels that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, betainc, ndtr, ndtri

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.planning import fewest
from bayesjudge.decide._posterior import LESS, posterior
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence.budget.allocation import check_rates
from bayesjudge.prevalence.data import FIELDS
from bayesjudge.truth.quadrature import NotIntegrated

PEOPLE = "people only"
#: What to declare of each way of choosing what is labelled, by the names of `budget.plan`.
STRATEGIES = {
    "random sample": "random",
    PEOPLE: "random",
    "by verdict": "by_verdict",
    "half good, half bad": "by_truth",
}
#: A number of labels is found to this part of it.
PRECISION = 0.005
#: Numbers of labels without a judge that are looked at, at most.
LOOKED_AT = 4000


def chance_to_pass(
    at_least: float,
    labelled: int,
    *,
    prevalence: float,
    sensitivity: float | None = None,
    specificity: float | None = None,
    items: int = 1000,
    strategy: str = "random sample",
    probability: float = 0.95,
) -> float:
    r"""Compute the chance that `gate` passes with a number of labels.

    Parameters
    ----------
    at_least : float
        The threshold, in (0, 1).
    labelled : int
        Labels, 1 or more.
    prevalence, sensitivity, specificity : float
        What is assumed to be true, in [0, 1]; of ``"people only"`` the judge's are not used.
    items : int, default 1000
        Items without a label that the judge sees; the labelled ones come on top.
    strategy : {"random sample", "people only", "by verdict", "half good, half bad"}
        How the labelled items are chosen, as in `prevalence.budget.plan`.
    probability : float, default 0.95
        How sure a pass must be, as in `gate`.

    Returns
    -------
    float
        Without a judge exact. With one, the score
        :math:`-\Phi^{-1}(P(\text{prevalence} < \text{threshold}))` of the gate's posterior is taken
        as normal; its mean and variance over data to come are those of a two-point rule for each
        independent share, which keeps the share's mean, variance and skewness.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> round(chance_to_pass(0.8, 100, prevalence=0.9, strategy="people only"), 3)
    0.876
    """
    judge = _checked(at_least, prevalence, sensitivity, specificity, items, probability)
    with checking("chance_to_pass") as require:
        require(strategy in STRATEGIES, f"strategy {strategy!r}: expected one of {[*STRATEGIES]}")
        require(labelled >= 1, "must be 1 or more", labelled=labelled)
        rated = strategy == PEOPLE or judge is not None
        require(rated, "rates-needed", strategy=strategy)
    if judge is None or strategy == PEOPLE:
        return float(_people_only(np.array([labelled]), at_least, prevalence, probability)[0])
    score = _score_with(strategy, items, (prevalence, *judge), at_least, int(labelled))
    return score.chance(probability)


def labels_to_pass(
    at_least: float,
    *,
    prevalence: float,
    sensitivity: float | None = None,
    specificity: float | None = None,
    items: int = 1000,
    probability: float = 0.95,
    power: float = 0.8,
    strategies: Sequence[str] = tuple(STRATEGIES),
) -> dict[str, int | None]:
    """Count the labels that make a pass of `gate` likely, under each way of choosing them.

    Parameters
    ----------
    at_least : float
        The threshold, in (0, 1).
    prevalence, sensitivity, specificity : float
        What is assumed to be true; the prevalence above `at_least`. Without the judge's rates only
        ``"people only"`` is counted.
    items : int, default 1000
        Items without a label that the judge sees; the labelled ones come on top.
    probability : float, default 0.95
        How sure a pass must be, as in `gate`.
    power : float, default 0.8
        Chance of a pass that is wanted, in (0, 1).
    strategies : sequence of str, optional
        Those to count, of the ones that `chance_to_pass` knows; by default all.

    Returns
    -------
    dict of str to int or None
        By strategy, as in `prevalence.budget.plan`: the smallest number with such a chance, to half
        a percent of it; ``None`` if it takes more labels than there are items, which could all be
        labelled for less.

    Raises
    ------
    InputError
        If a number is out of range, or the prevalence is not above the threshold: then no number
        of labels makes a pass likely.

    Notes
    -----
    Checked against the gate's decisions on simulated tables in ``benchmarks/decide/power.py``. For
    a two-sided width, ask `prevalence.budget.labels_by_design`.

    Examples
    --------
    >>> labels_to_pass(0.8, prevalence=0.9)
    {'people only': 82}
    """
    judge = _checked(at_least, prevalence, sensitivity, specificity, items, probability)
    with checking("labels_to_pass") as require:
        require(0 < power < 1, "must lie in (0, 1)", power=power)
        above = prevalence > at_least
        words = "no number of labels makes a pass likely; expected a prevalence above the threshold"
        unknown = {*strategies} - {*STRATEGIES}
        require(not unknown, f"strategies {sorted(unknown)}: expected some of {[*STRATEGIES]}")
        require(above, f"prevalence={prevalence:g}, at_least={at_least:g}: {words}")
    start = items_to_pass(at_least, prevalence, probability, power)
    needed: dict[str, int | None] = {}
    for strategy in strategies:
        if strategy == PEOPLE:
            needed[strategy] = _fewest_of_people(
                partial(_people_only, at_least=at_least, good=prevalence, probability=probability),
                power,
                start,
                items,
            )
        elif judge is not None:
            score = partial(_score_with, strategy, items, (prevalence, *judge), at_least)

            def spare(m: Any, score: Callable[[int], _Score] = score) -> float:
                return score(int(m)).spare(probability, power)

            labels = fewest(spare, 0, items, start=start, part=PRECISION)
            needed[strategy] = int(labels) if np.isfinite(labels) else None
    return needed


def items_to_pass(at_least: float, prevalence: float, probability: float, power: float) -> int:
    """Labels without a judge by the normal approximation, its error at the threshold and beyond."""
    z, z_power = ndtri(probability), ndtri(power)
    spread = [np.sqrt(share * (1 - share)) for share in (at_least, prevalence)]
    far = max(z * spread[0] + z_power * spread[1], 0.0) / (prevalence - at_least)
    return max(int(np.ceil(far**2)), 1)


def _checked(
    at_least: float,
    prevalence: float,
    sensitivity: float | None,
    specificity: float | None,
    items: int,
    probability: float,
) -> tuple[float, float] | None:
    """The judge's rates, if there are any."""
    with checking("gate") as require:
        require(0 < at_least < 1, "must lie in (0, 1)", at_least=at_least)
        require(0.5 <= probability < 1, "must lie in [0.5, 1)", probability=probability)
        require(items >= 1, "must be 1 or more", items=items)
        both = (sensitivity is None) == (specificity is None)
        require(both, "sensitivity and specificity come together")
    check_rates("gate", prevalence=prevalence)
    if sensitivity is None or specificity is None:
        return None
    check_rates("gate", sensitivity=sensitivity, specificity=specificity)
    better = sensitivity + specificity > 1
    words = "a judge no better than chance: leave its rates out"
    expect("gate", better, f"sensitivity={sensitivity:g}, specificity={specificity:g}: {words}")
    return sensitivity, specificity


# People only: exact -----------------------------------------------------------------------------


def _people_only(
    labelled: np.ndarray, at_least: float, good: float, probability: float
) -> np.ndarray:
    """Chance of a pass for each number of labels: of as many good ones as a pass takes."""

    def spare(passes: np.ndarray) -> Any:
        below = betainc(LESS[0] + passes, LESS[1] + labelled - passes, at_least)
        return 1 - probability - below

    enough = np.minimum(fewest(spare, -1, labelled), labelled + 1).astype(int)
    sure = np.where(enough == 0, 1.0, bdtrc(np.maximum(enough - 1, 0), labelled, good))
    return np.where(enough > labelled, 0.0, sure)


def _fewest_of_people(
    chance: Callable[[np.ndarray], np.ndarray], power: float, start: int, most: int
) -> int | None:
    """The smallest number that is enough; chances rise in the teeth of a saw."""
    if start > 2 * most:
        return None
    if 2 * start + 50 <= LOOKED_AT:
        sizes = np.arange(1, 2 * start + 51)
    else:
        sizes = np.unique(np.geomspace(start / 2, 2 * start, LOOKED_AT).astype(int))
    enough = int(sizes[np.argmax(chance(sizes) >= power)])
    return enough if enough <= most else None


# With a judge -----------------------------------------------------------------------------------


class _Expected(Counts):
    """Counts of data to come, which need not be whole numbers."""

    def __post_init__(self) -> None:
        """Take them as they are."""


class _Data(NamedTuple):
    """Independent shares of data to come, of how many each is, and the counts that they make."""

    shares: tuple[float, ...]
    sizes: tuple[float, ...]
    counts: Callable[..., tuple[float, ...]]


class _Score(NamedTuple):
    """Normal quantile of the probability that the prevalence is above the threshold."""

    mean: float
    sd: float

    def chance(self, probability: float) -> float:
        """Chance that it is as high as a pass asks."""
        far = self.mean - ndtri(probability)
        return float(ndtr(far / self.sd)) if self.sd > 0 else float(far >= 0)

    def spare(self, probability: float, power: float) -> float:
        """How much higher it is than a chance of `power` takes."""
        return float(self.mean - ndtri(probability) - ndtri(power) * self.sd)


def _data(strategy: str, m: int, items: int, rates: tuple[float, float, float]) -> _Data:
    good, hit, caught = rates
    rate = good * hit + (1 - good) * (1 - caught)
    first, second = (m + 1) // 2, m // 2
    if strategy == "by verdict":
        every = items + m

        def by_verdict(ppv: float, npv: float, share: float) -> tuple[float, ...]:
            passes = every * share
            passed, failed = min(first, passes), min(second, every - passes)
            right, refused = passed * ppv, failed * npv
            rest = every - passed - failed
            labels = right + failed - refused, right, passed - right + refused, refused
            return rest, passes - passed, *labels

        shares = good * hit / rate, (1 - good) * caught / (1 - rate) if rate < 1 else 1.0, rate
        return _Data(shares, (first, second, every), by_verdict)
    if strategy == "random sample":

        def random(share: float, q1: float, q0: float, passed: float) -> tuple[float, ...]:
            n1, n0 = m * share, m * (1 - share)
            return items, items * passed, n1, n1 * q1, n0, n0 * q0

        return _Data((*rates, rate), (m, m * good, m * (1 - good), items), random)

    def by_truth(q1: float, q0: float, passed: float) -> tuple[float, ...]:
        return items, items * passed, first, first * q1, second, second * q0

    return _Data((hit, caught, rate), (first, second, items), by_truth)


def _score_with(
    strategy: str, items: int, rates: tuple[float, float, float], at_least: float, m: int
) -> _Score:
    """Mean and standard deviation of the score with m labels: effects of the shares add up."""
    data, calibration = _data(strategy, m, items, rates), STRATEGIES[strategy]

    def score(*shares: float) -> float:
        return _score(data.counts(*shares), calibration, at_least)

    centre = score(*data.shares)
    mean, variance = centre, 0.0
    for i, (share, n) in enumerate(zip(data.shares, data.sizes, strict=True)):
        ends, weights = _two_points(share, n)
        scores = np.array([score(*data.shares[:i], end, *data.shares[i + 1 :]) for end in ends])
        average = float(weights @ scores)
        mean += average - centre
        variance += float(weights @ (scores - average) ** 2)
    return _Score(mean, float(np.sqrt(variance)))


def _two_points(share: float, n: float) -> tuple[list[float], np.ndarray]:
    """Two shares with the mean, variance and skewness of a binomial one; of one item 0 and 1."""
    sd = np.sqrt(share * (1 - share) / n) if n > 0 else 0.0
    if sd == 0:
        return [share], np.ones(1)
    skewness = (1 - 2 * share) / (n * sd)
    wide = np.sqrt(1 + skewness**2 / 4)
    low, high = (share + sd * (skewness / 2 + side * wide) for side in (-1, 1))
    low, high = max(float(low), 0.0), min(float(high), 1.0)
    return [low, high], np.array([high - share, share - low]) / (high - low)


@lru_cache(maxsize=10_000)
def _score(counts: tuple[float, ...], calibration: str, at_least: float) -> float:
    """Of the posterior whose lower limit `gate` holds against the threshold; ``nan`` if unknown."""
    try:
        of: dict[str, Any] = dict(zip(FIELDS, counts, strict=True))
        data = _Expected(**of, calibration=calibration)
        below = posterior(data, *LESS, checked=False).cdf(at_least)
    except NotIntegrated:
        return float("nan")
    return float(-ndtri(np.clip(below, 1e-300, 1 - 1e-16)))
