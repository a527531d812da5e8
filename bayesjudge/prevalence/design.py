"""Which items to label, and how wide the interval will be, before the labels are bought."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.intervals import z_score
from bayesjudge.prevalence import formulas

#: Stands for "as many test items as you like" in formulas that divide by their number.
ENDLESS = 1e15


class Allocation(NamedTuple):
    """How many good and how many bad items to label.

    Parameters
    ----------
    correct_n, incorrect_n : int or numpy.ndarray
        Labels among good items (they tell sensitivity) and among bad ones (specificity).
    """

    correct_n: Any
    incorrect_n: Any


def allocate(
    labelled: Any, pass_rate: Any, *, sensitivity: Any, specificity: Any, pilot: Any = 10
) -> Allocation:
    r"""Share labels out between good and bad items, by Algorithm 1 of source 1.

    With pass rate :math:`\hat p` and pilot estimates of the judge's error rates,

    .. math:: m_1^* = \frac{m}{1 + (1/\hat p - 1)\sqrt{(1-\tilde q_0)/(1-\tilde q_1)}}.

    Parameters
    ----------
    labelled : int or array_like of int
        Labels in all, twice `pilot` or more. Arguments broadcast.
    pass_rate : float or array_like
        The judge's pass rate on test items, in [0, 1].
    sensitivity, specificity : float or array_like
        Shares that the judge got right among the pilot's good and bad items, in [0, 1]. They are
        moved towards one half as the algorithm says: (right + 1) / (pilot + 2).
    pilot : int or array_like of int, default 10
        Items of each kind that are labelled already; each kind keeps at least so many.

    Returns
    -------
    Allocation
        Which sums to `labelled`. As the pass rate goes to 0, all but the pilot are bad items.

    Raises
    ------
    InputError
        Where a rate is not in [0, 1], or there are fewer labels than the pilot has used.

    References
    ----------
    Lee et al. (2025), Appendix A, Algorithm 1 and Proposition 5.2. Their published code gives the
    mirrored answer at a pass rate of 0; the algorithm as printed does not, and is followed here.

    Examples
    --------
    >>> allocate(200, 0.4, sensitivity=0.9, specificity=0.7)
    Allocation(correct_n=64, incorrect_n=136)
    """
    check_rates("allocate", pass_rate=pass_rate, sensitivity=sensitivity, specificity=specificity)
    with checking("allocate") as require:
        require(np.all(np.asarray(pilot) >= 1), f"pilot must be 1 or more, got {pilot}")
        enough = np.all(np.asarray(labelled) >= 2 * np.asarray(pilot))
        require(enough, f"labelled={labelled} is less than the pilot used: 2 * {pilot}")
    wrong_fail, wrong_pass = (
        1 - (np.asarray(pilot) * rate + 1) / (np.asarray(pilot) + 2)
        for rate in (sensitivity, specificity)
    )
    # the printed ratio with both its terms multiplied by the pass rate, which may be 0
    passed, failed = np.asarray(pass_rate), 1 - np.asarray(pass_rate)
    share = passed / (passed + failed * np.sqrt(wrong_pass / wrong_fail))
    correct = np.clip(np.rint(labelled * share), pilot, np.subtract(labelled, pilot)).astype(int)
    if correct.ndim == 0:
        return Allocation(int(correct), int(labelled - correct))
    return Allocation(correct, labelled - correct)


def best_allocation(
    labelled: int,
    pass_rate: float,
    *,
    sensitivity: float,
    specificity: float,
    items: float = np.inf,
    pilot: int = 1,
    ci_prob: float = 0.95,
) -> Allocation:
    """Find the allocation with the shortest interval, by trying every one.

    Algorithm 1 rests on an approximation for a judge that is nearly perfect; this is the exact
    integer optimum of eq. (6)'s length.

    Parameters
    ----------
    labelled : int
        Labels in all.
    pass_rate, sensitivity, specificity : float
        What is expected, in [0, 1].
    items : float, default infinity
        Test items.
    pilot : int, default 1
        Each kind gets at least so many.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Allocation
        Which sums to `labelled`. The interval is measured before it is cut off at 0 and 1: one
        that is pushed over an end would else look short.

    Raises
    ------
    InputError
        Where a rate is out of range, or there are too few labels.

    Examples
    --------
    >>> best_allocation(200, 0.4, sensitivity=0.9, specificity=0.7)
    Allocation(correct_n=32, incorrect_n=168)
    """
    with checking("best_allocation") as require:
        require(pilot >= 1, f"pilot must be 1 or more, got {pilot}")
        require(labelled >= 2 * pilot, f"labelled={labelled} is less than 2 * {pilot}")
    correct = np.arange(pilot, labelled - pilot + 1)
    widths = interval_width(
        correct,
        labelled - correct,
        pass_rate,
        sensitivity=sensitivity,
        specificity=specificity,
        items=items,
        ci_prob=ci_prob,
        clipped=False,
    )
    best = int(correct[np.argmin(widths)])
    return Allocation(best, labelled - best)


def interval_width(
    correct_n: Any,
    incorrect_n: Any,
    pass_rate: Any,
    *,
    sensitivity: Any,
    specificity: Any,
    items: Any = np.inf,
    ci_prob: float = 0.95,
    clipped: bool = True,
) -> Any:
    """Width of the Lang-Reiczigel interval that so many labels will give.

    Parameters
    ----------
    correct_n, incorrect_n : int or array_like of int
        Labels among good and among bad items. Arguments broadcast.
    pass_rate, sensitivity, specificity : float or array_like
        What the data are expected to show, in [0, 1].
    items : float or array_like, default infinity
        Test items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    clipped : bool, default True
        Measure what lies in [0, 1], which is what a user gets and what source 1's Figure 3 shows.

    Returns
    -------
    float or numpy.ndarray
        Share of items; ``inf`` (1 where `clipped`) where the judge is no better than chance.

    Raises
    ------
    InputError
        Where a rate or `ci_prob` is out of range.

    Examples
    --------
    >>> width = interval_width(100, 100, 0.62, sensitivity=0.9, specificity=0.7, items=1000)
    >>> f"{width:.3f}"
    '0.206'
    """
    rates = {"pass_rate": pass_rate, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("interval_width", **rates)
    n = np.minimum(items, ENDLESS)
    sizes = (n, np.asarray(incorrect_n, float), np.asarray(correct_n, float))
    _, low, high = formulas.lang_reiczigel(
        np.asarray(pass_rate, float),
        np.asarray(specificity, float),
        np.asarray(sensitivity, float),
        *sizes,
        z_score(ci_prob),
    )
    if clipped:
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    # the moved rates of eq. (7) beat chance exactly where these, times their sizes, do
    moved = [
        (m * rate + 1) / (m + 2)
        for m, rate in zip(sizes[1:], (specificity, sensitivity), strict=True)
    ]
    return np.where(moved[0] + moved[1] > 1, high - low, 1.0 if clipped else np.inf)[()]


def check_rates(subject: str, **rates: Any) -> None:
    """Raise unless every rate lies in [0, 1].

    Parameters
    ----------
    subject : str
        What is being computed.
    **rates
        By name; numbers or arrays.

    Raises
    ------
    InputError
        Where one does not; all are named.
    """
    with checking(subject) as require:
        for name, value in rates.items():
            ok = np.all((np.asarray(value) >= 0) & (np.asarray(value) <= 1))
            require(ok, f"{name} must lie in [0, 1], got {value!r}")
