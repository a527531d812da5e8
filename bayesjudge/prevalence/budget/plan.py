"""One table for a labelling budget: what each way of spending the labels is expected to buy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.core.planning import fewest
from bayesjudge.core.randomness import rng_of
from bayesjudge.prevalence.budget.allocation import Allocation, check_rates, interval_width
from bayesjudge.prevalence.budget.expected_width import Expected, expected_width
from bayesjudge.prevalence.model import ErrorRates, PredictiveValues
from bayesjudge.truth import influence

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["labelled", "strategy", "calibration", "correct_n", "incorrect_n"]
COLUMNS += ["width", "expected_width", "width_90", "mc_error"]


#: Ways of spending labels, and what to declare of each.
CALIBRATIONS = {
    "people only": "random",
    "random sample": "random",
    "half good, half bad": "by_truth",
    "by verdict": "by_verdict",
}
#: Share of tables that reach the width of a plan's last column.
NINE_IN_TEN = 0.9
#: Tables that are drawn to count labels with which a share of them is narrow enough.
DRAWN = 1000
#: Gives the number of so many that have something with a probability: expected, or drawn.
Count = Callable[[Any, Any], Any]


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
    ci_prob: float = 0.95,
    repeats: int = 16,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Tabulate the interval's width for each way of spending each number of labels.

    Parameters
    ----------
    labelled : sequence of int
        Numbers of labels, each 2 or more.
    prevalence, sensitivity, specificity : float
        What is assumed to be true, in [0, 1].
    items : int
        Test items that the judge sees.
    model : ErrorRates
        That will be fitted.
    by_verdict : PredictiveValues
        That will be fitted to labels chosen by verdict.
    ci_prob : float, default 0.95
        Probability of the intervals.
    repeats : int, default 16
        Data sets that are simulated for each posterior width.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row per number and strategy: ``people only`` (a random sample is labelled and the judge
        left out), ``random sample`` (the same labels, joined with the judge's verdicts), ``half
        good, half bad`` and ``by verdict``. Columns ``labelled``, ``strategy``, ``calibration``
        (what to declare), ``correct_n`` and ``incorrect_n`` (labels of good and bad items that are
        expected), ``width`` of the closed form's interval at the data expected, ``expected_width``
        of the posterior's and its ``mc_error``, and ``width_90``, which 9 of 10 tables reach;
        widths are shares of items.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], or there are too few labels.

    Notes
    -----
    Algorithm 1 of source 1 (`allocate`) is no way of its own: it shortens the closed form's
    interval. The posterior's is .99 to 1.48 times as wide with it as with half good, half bad for
    50 labels, and .92 to 1.02 times for 200 (``python benchmarks/decide/plans.py``).

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
        require(items >= 1, "must be 1 or more", items=items)
        require(len(labelled) > 0, "give at least one number of labels")
        for m in labelled:
            require(m >= 2, f"labelled={m}: two labels or more are needed")
        require(repeats >= 2, "must be 2 or more", repeats=repeats)
    rng = rng_of(random_seed)
    seed = int(rng.integers(2**32))  # the same random numbers for every row, so that rows compare
    simulated: dict[str, Any] = {"ci_prob": ci_prob, "repeats": repeats}
    models = {"by_verdict": by_verdict}
    rows = [
        (m, *way[:2], *way.kinds, way.width, way.expected[0], way.expected.at(), way.expected[2])
        for m in labelled
        for way in _ways(int(m), rates, items, {**simulated, "random_seed": seed}, models, model)
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
    chance: float | None = None,
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
    chance : float, optional
        Share of tables, in (0, 1), that are to be narrow enough: of 1,000 that are drawn.

    Returns
    -------
    dict of str to int or None
        By strategy, as in `plan`: the smallest number from which on the closed form's interval at
        the data expected, or with `chance` that share of them, is narrow enough; ``None`` if it
        takes more labels than there are items, which could all be labelled for less.

    Raises
    ------
    InputError
        If a rate or `width` is out of range.

    Examples
    --------
    >>> found = labels_by_design(0.1, prevalence=0.7, sensitivity=0.9, specificity=0.7, items=1000)
    >>> found["random sample"], found["people only"], found["by verdict"]
    (224, 320, 247)
    >>> found["half good, half bad"] is None
    True
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("labels_by_design", **rates)
    check_ci_prob(ci_prob)
    with checking("labels_by_design") as require:
        require(0 < width < 1, "must lie in (0, 1)", width=width)
        require(items >= 1, "must be 1 or more", items=items)
        inside = chance is None or 0 < chance < 1
        require(inside, "must lie in (0, 1)", chance=chance)

    def spare(name: str, labels: float) -> float:
        m = int(labels)
        if chance is None:
            return width - float(_widths(name, m, rates, items, ci_prob))
        return float(np.mean(_widths(name, m, rates, items, ci_prob, _drawn()) <= width)) - chance

    needed = {name: fewest(partial(spare, name), 1, items) for name in CALIBRATIONS}
    return {name: int(n) if np.isfinite(n) else None for name, n in needed.items()}


def _expected(size: Any, probability: Any) -> Any:
    return size * probability


def _drawn() -> Count:
    """The same random numbers at each call, so that more labels are narrower."""
    rng = np.random.default_rng(1)
    return lambda size, probability: rng.binomial(size, probability, DRAWN)


def _widths(
    name: str,
    m: int,
    rates: dict[str, float],
    items: int,
    level: float,
    count: Count = _expected,
) -> Any:
    """Width of the closed form's interval, at the data that are expected or of tables drawn."""
    good, hit, caught = rates.values()
    pass_rate, z = _pass_rate(rates), z_score(level)
    if name == "people only":
        _, low, high = wilson(count(m, good), m, level)
        return high - low
    half = (m + 1) // 2, m // 2
    if name == "random sample":
        right = count(m, good)
        passed, failed = count(right, hit), count(m - right, caught)
        table = [passed, right - passed, m - right - failed, failed]
        seen = influence.of_verdicts(count(items, pass_rate), items, table)
        return _clipped(influence.difference(*seen, z)[0])
    if name == "by verdict":
        ppv, missed = _good_by_verdict(rates)
        passes = count(items + m, pass_rate)
        right = np.stack([count(half[0], ppv), count(half[1], missed)], axis=-1)
        verdicts = np.stack([passes, items + m - passes], axis=-1)
        return _clipped(influence.post_stratified(verdicts, np.array(half, float), right, right, z))
    shares = {"sensitivity": count(half[0], hit) / half[0]}
    shares |= {"specificity": count(half[1], caught) / half[1]}
    rate = count(items, pass_rate) / items
    return interval_width(*half, rate, **shares, items=items, ci_prob=level)


def _good_by_verdict(rates: dict[str, float]) -> tuple[float, float]:
    """Share of good items among passes, and among fails."""
    good, hit, _ = rates.values()
    rate = _pass_rate(rates)
    passed = good * hit / rate if rate > 0 else 0.0
    return passed, good * (1 - hit) / (1 - rate) if rate < 1 else 0.0


def _pass_rate(rates: dict[str, float]) -> float:
    """Of the judge."""
    good, hit, caught = rates.values()
    return good * hit + (1 - good) * (1 - caught)


def _kinds(name: str, m: int, rates: dict[str, float]) -> Allocation:
    """Labels of good and of bad items that are expected of a way of choosing."""
    if CALIBRATIONS[name] == "by_truth":
        return Allocation((m + 1) // 2, m // 2)
    if CALIBRATIONS[name] == "by_verdict":
        passed, missed = _good_by_verdict(rates)
        right = (m + 1) // 2 * passed + m // 2 * missed
        return Allocation(right, m - right)
    good = m * rates["prevalence"]
    return Allocation(good, m - good)


def _ways(
    m: int,
    rates: dict[str, float],
    items: int,
    simulated: dict[str, Any],
    models: dict[str, Any],
    model: ErrorRates,
) -> Iterator[_Way]:
    for name, calibration in CALIBRATIONS.items():
        kinds = _kinds(name, m, rates)
        if name == "people only":
            expected = _people(m, rates["prevalence"], model.prevalence, **simulated)
        else:
            assumed: dict[str, Any] = {**rates, "items": items, **simulated}
            labels: Any = tuple(kinds) if calibration == "by_truth" else m
            spec = models.get(calibration, model)
            expected = expected_width(
                **assumed, labelled=labels, calibration=calibration, model=spec
            )
        width = float(_widths(name, m, rates, items, simulated["ci_prob"]))
        yield _Way(name, calibration, kinds, width, expected)


def _people(
    m: int, good: float, prior: Any, *, ci_prob: float, repeats: int, random_seed: int
) -> Expected:
    """Width of the posterior that labels alone give: a Beta."""
    seen = rng_of(random_seed).binomial(m, good, repeats)
    shape = prior.alpha + seen, prior.beta + m - seen
    low, high = (betaincinv(*shape, (1 + side * ci_prob) / 2) for side in (-1, 1))
    widths = high - low
    sd = float(widths.std(ddof=1))
    return Expected(float(widths.mean()), sd, sd / float(np.sqrt(repeats)))


def _clipped(interval: influence.Interval) -> Any:
    return np.clip(interval.high, 0, 1) - np.clip(interval.low, 0, 1)
