"""One table for a labelling budget: what each way of spending the labels is expected to buy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.core.planning import fewest
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


#: Ways of spending labels, and what to declare of each.
CALIBRATIONS = {
    "people only": "random",
    "random sample": "random",
    "half good, half bad": "by_truth",
    "adaptive": "by_truth",
    "by verdict": "by_verdict",
}
#: Labels that each kind gets at least if they are shared out by what a pilot says.
PILOT = 10


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
    pilot: int = PILOT,
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
        By strategy, as in `plan`: the smallest number from which on the closed form's interval at
        the data expected is narrow enough; ``None`` if it takes more labels than there are items,
        which could all be labelled for less.

    Raises
    ------
    InputError
        If a rate or `width` is out of range.

    Examples
    --------
    >>> found = labels_by_design(0.1, prevalence=0.7, sensitivity=0.9, specificity=0.7, items=1000)
    >>> found["random sample"], found["people only"], found["by verdict"], found["adaptive"]
    (224, 320, 247, None)
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("labels_by_design", **rates)
    z = z_score(check_ci_prob(ci_prob))
    with checking("labels_by_design") as require:
        require(0 < width < 1, f"width must lie in (0, 1), got {width!r}")
        require(items >= 1, f"items must be 1 or more, got {items}")
    found: dict[str, int | None] = {}
    for name in CALIBRATIONS:
        expected = partial(_expected, name, rates=rates, items=items, z=z)
        found[name] = fewest(partial(_is_narrow, expected, width), 1, items)
    return found


def _is_narrow(expected: Callable[[int], float], width: float, labels: int) -> bool:
    return expected(labels) <= width


def _expected(name: str, m: int, *, rates: dict[str, float], items: int, z: float) -> float:
    """Width of the closed form's interval at the data that are expected."""
    good, hit, caught = rates.values()
    level = float(2 * ndtr(z) - 1)
    pass_rate = _pass_rate(rates)
    if name == "people only":
        _, low, high = wilson(m * good, m, level)
        return float(high - low)
    shares = np.array(
        [good * hit, good * (1 - hit), (1 - good) * (1 - caught), (1 - good) * caught]
    )
    if name == "random sample":
        seen = influence.of_verdicts(items * pass_rate, items, m * shares)
        return _clipped(influence.difference(*seen, z)[0])
    kinds = _kinds(name, m, rates)
    if name == "by verdict":
        labels = np.array([(m + 1) // 2, m // 2], float)
        with np.errstate(invalid="ignore"):
            right = np.divide(shares[[0, 1]], [pass_rate, 1 - pass_rate]) * labels
        bins = (items + m) * np.array([pass_rate, 1 - pass_rate]), labels, right, right
        return _clipped(influence.post_stratified(*bins, z))
    judge: Any = {"sensitivity": hit, "specificity": caught}
    return float(interval_width(*kinds, pass_rate, **judge, items=items, ci_prob=level))


def _pass_rate(rates: dict[str, float]) -> float:
    """Of the judge."""
    good, hit, caught = rates.values()
    return good * hit + (1 - good) * (1 - caught)


def _kinds(name: str, m: int, rates: dict[str, float], pilot: int = PILOT) -> Allocation:
    """Labels of good and of bad items that are expected of a way of choosing."""
    good, hit, caught = rates.values()
    rate = _pass_rate(rates)
    if name == "half good, half bad" or (name == "adaptive" and m < 2 * pilot):
        return Allocation((m + 1) // 2, m // 2)
    if name == "adaptive":
        return allocate(m, rate, sensitivity=hit, specificity=caught, pilot=pilot)
    if name == "by verdict":
        with np.errstate(invalid="ignore"):
            ppv, npv = np.divide(good * hit, rate), np.divide((1 - good) * caught, 1 - rate)
        passed, failed = (m + 1) // 2, m // 2
        right = passed * ppv + failed * (1 - npv)
        return Allocation(right, m - right)
    return Allocation(m * good, m * (1 - good))


def _ways(
    m: int,
    rates: dict[str, float],
    items: int,
    pilot: int,
    simulated: dict[str, Any],
    models: dict[str, Any],
    model: ErrorRates,
) -> Iterator[_Way]:
    z = z_score(simulated["ci_prob"])
    for name, calibration in CALIBRATIONS.items():
        kinds = _kinds(name, m, rates, pilot)
        if name == "people only":
            expected = _people(m, rates["prevalence"], model.prevalence, **simulated)
        else:
            assumed: dict[str, Any] = {**rates, "items": items, **simulated}
            labels: Any = tuple(kinds) if calibration == "by_truth" else m
            spec = models.get(calibration, model)
            expected = expected_width(
                **assumed, labelled=labels, calibration=calibration, model=spec
            )
        yield _Way(
            name,
            calibration,
            kinds,
            _expected(name, m, rates=rates, items=items, z=z),
            expected,
        )


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


def _clipped(found: influence.Interval) -> float:
    return float(np.clip(found.high, 0, 1) - np.clip(found.low, 0, 1))
