"""One table for a labelling budget: what each way of spending the labels is expected to buy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.prevalence.budget.allocation import (
    Allocation,
    allocate,
    check_rates,
    interval_width,
)
from bayesjudge.prevalence.budget.expected_width import Expected, expected_width
from bayesjudge.prevalence.model import ErrorRates, PredictiveValues
from bayesjudge.truth import influence

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["labelled", "strategy", "calibration", "correct_n", "incorrect_n"]
COLUMNS += ["width", "expected_width", "mc_error"]


class _Way(NamedTuple):
    """A way of spending labels: its name, design, expected good and bad labels, and width."""

    strategy: str
    calibration: str
    kinds: Allocation
    width: float
    expected: Expected


def plan(
    labelled: Sequence[int],
    *,
    prevalence: float,
    sensitivity: float,
    specificity: float,
    items: int,
    model: ErrorRates = ErrorRates(),
    by_verdict: PredictiveValues = PredictiveValues(),
    pilot: int = 10,
    ci_prob: float = 0.95,
    repeats: int = 16,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Tabulate the interval's width for each way of spending each number of labels.

    Parameters
    ----------
    labelled : sequence of int
        Numbers of labels, each twice `pilot` or more.
    prevalence, sensitivity, specificity : float
        What is assumed to be true, in [0, 1].
    items : int
        Test items that the judge sees.
    model : ErrorRates
        That will be fitted; flat priors by default.
    by_verdict : PredictiveValues
        That will be fitted to labels chosen by verdict.
    pilot : int, default 10
        Of the adaptive allocation: each kind gets at least so many.
    ci_prob : float, default 0.95
        Probability of the intervals.
    repeats : int, default 16
        Data sets that are simulated for each posterior width.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row a number and strategy: ``people only`` (a random sample is labelled and the judge
        left out), ``random sample`` (the same labels, joined with the judge's verdicts), ``half
        good, half bad``, ``adaptive`` (Algorithm 1 of source 1) and ``by verdict``. Columns
        ``labelled``, ``strategy``, ``calibration`` (what to declare), ``correct_n`` and
        ``incorrect_n`` (labels of good and bad items that are expected), ``width`` of the closed
        form's interval at the data expected, ``expected_width`` of the posterior's and its
        ``mc_error``; widths are shares of items.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], or there are too few labels.

    Examples
    --------
    >>> table = plan([100], prevalence=0.6, sensitivity=0.9, specificity=0.7, items=2000,
    ...              random_seed=1)
    >>> table.set_index("strategy")["width"].round(2).to_dict()["people only"]
    0.19
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("plan", **rates)
    check_ci_prob(ci_prob)
    with checking("plan") as require:
        require(items >= 1, f"items must be 1 or more, got {items}")
        require(len(labelled) > 0, "give at least one number of labels")
        for m in labelled:
            require(m >= 2 * pilot, f"labelled={m} is less than twice the pilot, {pilot}")
    rng = np.random.default_rng(random_seed)
    seed = int(rng.integers(2**32))  # the same random numbers for every row, so that rows compare
    simulated: dict[str, Any] = {"ci_prob": ci_prob, "repeats": repeats}
    models = {"by_verdict": by_verdict}
    rows = [
        (m, way.strategy, way.calibration, *way.kinds, way.width, way.expected[0], way.expected[2])
        for m in labelled
        for way in _ways(
            int(m), rates, items, pilot, {**simulated, "random_seed": seed}, models, model
        )
    ]
    import pandas as pd

    return pd.DataFrame(rows, columns=COLUMNS)


def labels_by_design(
    width: float,
    *,
    prevalence: float,
    sensitivity: float,
    specificity: float,
    items: int,
    ci_prob: float = 0.95,
) -> dict[str, int | None]:
    """Count the labels that a width takes under each way of choosing them.

    Parameters
    ----------
    width : float
        Wanted of the interval, as a share of items, in (0, 1).
    prevalence, sensitivity, specificity : float
        What is assumed to be true, in [0, 1].
    items : int
        Items without a label that the judge sees.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    dict of str to int or None
        By strategy, as in `plan`: ``random sample``, ``people only``, ``by verdict`` and ``half
        good, half bad``: the smallest number from which on the closed form's interval at the data
        expected is narrow enough; ``None`` if it takes more labels than there are items, which
        could all be labelled for less.

    Raises
    ------
    InputError
        If a rate or `width` is out of range.

    Examples
    --------
    >>> labels_by_design(0.1, prevalence=0.7, sensitivity=0.9, specificity=0.7, items=1000)
    {'random sample': 224, 'people only': 320, 'by verdict': 247, 'half good, half bad': None}
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("labels_by_design", **rates)
    z = z_score(check_ci_prob(ci_prob))
    with checking("labels_by_design") as require:
        require(0 < width < 1, f"width must lie in (0, 1), got {width!r}")
        require(items >= 1, f"items must be 1 or more, got {items}")
    found: dict[str, int | None] = {}
    for name in ("random sample", "people only", "by verdict", "half good, half bad"):
        expected = partial(_expected, name, rates=rates, items=items, z=z)
        found[name] = _fewest(expected, width, items)
    return found


def _fewest(width_of: Callable[[int], float], wanted: float, most: int) -> int | None:
    """The smallest number up to `most` that is enough: widths fall with the number of labels."""
    few, enough = 1, most
    if most < 2 or width_of(most) > wanted:
        return None
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if width_of(middle) > wanted else (few, middle)
    return enough


def _expected(name: str, m: int, *, rates: dict[str, float], items: int, z: float) -> float:
    """Width of the closed form's interval at the data that are expected."""
    good, hit, caught = rates.values()
    pass_rate = good * hit + (1 - good) * (1 - caught)
    level = float(2 * ndtr(z) - 1)
    if name == "people only":
        _, low, high = wilson(m * good, m, level)
        return float(high - low)
    if name == "half good, half bad":
        judge: Any = {"sensitivity": hit, "specificity": caught}
        kinds = (m + 1) // 2, m // 2
        return float(interval_width(*kinds, pass_rate, **judge, items=items, ci_prob=level))
    shares = np.array(
        [good * hit, good * (1 - hit), (1 - good) * (1 - caught), (1 - good) * caught]
    )
    if name == "random sample":
        return _clipped(
            influence.difference(*influence.of_verdicts(items * pass_rate, items, m * shares), z)[0]
        )
    n1, n0 = (m + 1) // 2, m // 2
    with np.errstate(invalid="ignore"):
        ppv, npv = np.divide(shares[0], pass_rate), np.divide(shares[3], 1 - pass_rate)
    return _clipped(_by_verdict(pass_rate, ppv, npv, items + m, n1, n0, z))


def _ways(
    m: int,
    rates: dict[str, float],
    items: int,
    pilot: int,
    simulated: dict[str, Any],
    models: dict[str, Any],
    model: ErrorRates,
) -> Iterator[_Way]:
    good, hit, caught = rates.values()
    pass_rate = good * hit + (1 - good) * (1 - caught)
    z = z_score(simulated["ci_prob"])
    judge = {"sensitivity": hit, "specificity": caught}
    how: dict[str, Any] = {**judge, "items": items, "ci_prob": simulated["ci_prob"]}

    def posterior(calibration: str, labels: Any) -> Expected:
        assumed: dict[str, Any] = {**rates, "items": items, **simulated}
        spec = models.get(calibration, model)
        return expected_width(**assumed, labelled=labels, calibration=calibration, model=spec)

    mixture = Allocation(m * good, m * (1 - good))
    _, low, high = wilson(m * good, m, simulated["ci_prob"])
    yield _Way(
        "people only",
        "random",
        mixture,
        high - low,
        _people(m, good, model.prevalence, **simulated),
    )
    shares = np.array(
        [good * hit, good * (1 - hit), (1 - good) * (1 - caught), (1 - good) * caught]
    )
    found, _ = influence.difference(*influence.of_verdicts(items * pass_rate, items, m * shares), z)
    width = _clipped(found)
    yield _Way("random sample", "random", mixture, width, posterior("random", m))
    splits = {
        "half good, half bad": Allocation((m + 1) // 2, m // 2),
        "adaptive": allocate(m, pass_rate, **judge, pilot=pilot),
    }
    for name, kinds in splits.items():
        width = interval_width(*kinds, pass_rate, **how)
        yield _Way(name, "by_truth", kinds, width, posterior("by_truth", tuple(kinds)))
    n1, n0 = (m + 1) // 2, m // 2
    with np.errstate(invalid="ignore"):
        ppv, npv = np.divide(shares[0], pass_rate), np.divide(shares[3], 1 - pass_rate)
    found = _by_verdict(pass_rate, ppv, npv, items + m, n1, n0, z)
    kinds = Allocation(n1 * ppv + n0 * (1 - npv), n1 * (1 - ppv) + n0 * npv)
    yield _Way("by verdict", "by_verdict", kinds, _clipped(found), posterior("by_verdict", m))


def _people(
    m: int, good: float, prior: Any, *, ci_prob: float, repeats: int, random_seed: int
) -> Expected:
    """Width of the posterior that labels alone give: a Beta."""
    seen = np.random.default_rng(random_seed).binomial(m, good, repeats)
    shape = prior.alpha + seen, prior.beta + m - seen
    low, high = (betaincinv(*shape, (1 + side * ci_prob) / 2) for side in (-1, 1))
    widths = high - low
    sd = float(widths.std(ddof=1))
    return Expected(float(widths.mean()), sd, sd / float(np.sqrt(repeats)))


def _by_verdict(
    rate: float, ppv: Any, npv: Any, items: float, n1: float, n0: float, z: float
) -> influence.Interval:
    """Post-stratification at the shares of good ones among passes and fails."""
    good = np.array([n1 * ppv, n0 * (1 - npv)])
    bins = items * np.array([rate, 1 - rate]), np.array([n1, n0]), good, good
    return influence.post_stratified(*bins, z)


def _clipped(found: influence.Interval) -> float:
    return float(np.clip(found.high, 0, 1) - np.clip(found.low, 0, 1))
