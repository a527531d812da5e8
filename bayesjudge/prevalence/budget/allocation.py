"""Which items to label, and how wide the interval will be, before the labels are bought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.intervals import z_score
from bayesjudge.truth import inversion

if TYPE_CHECKING:
    import pandas as pd

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
        If a rate is not in [0, 1], or there are fewer labels than the pilot has used.

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
        require(np.all(np.asarray(pilot) >= 1), "must be 1 or more", pilot=pilot)
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


def interval_width(
    correct_n: Any,
    incorrect_n: Any,
    pass_rate: Any,
    *,
    sensitivity: Any,
    specificity: Any,
    items: Any = np.inf,
    ci_prob: float = 0.95,
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

    Returns
    -------
    float or numpy.ndarray
        Share of items, of what lies in [0, 1], as source 1's Figure 3 shows it; 1 where the judge
        is no better than chance.

    Raises
    ------
    InputError
        If a rate or `ci_prob` is out of range.

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
    _, low, high = inversion.lang_reiczigel(
        np.asarray(pass_rate, float),
        np.asarray(specificity, float),
        np.asarray(sensitivity, float),
        *sizes,
        z_score(ci_prob),
    )
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    # the moved rates of eq. (7) beat chance exactly where these, times their sizes, do
    moved = [
        (m * rate + 1) / (m + 2)
        for m, rate in zip(sizes[1:], (specificity, sensitivity), strict=True)
    ]
    return np.where(moved[0] + moved[1] > 1, high - low, 1.0)[()]


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
        If one does not; all are named.
    """
    with checking(subject) as require:
        for name, value in rates.items():
            ok = np.all((np.asarray(value) >= 0) & (np.asarray(value) <= 1))
            require(ok, "must lie in [0, 1]", **{name: value})


Split = Literal["equal", "adaptive"]


def judge_regime(
    sensitivity: Any, specificity: Any, *, labelled: Any = 0, items: Any = np.inf
) -> tuple[Any, Any]:
    r"""Find the prevalences at which labels are better spent on calibrating a judge.

    Either people label a random sample of m items and their share of good ones is reported, or the
    same m labels tell the judge's error rates and its n verdicts are corrected. The second has the
    smaller variance (eq. 9, with the labels' own mixture of good and bad) where a quadratic in the
    prevalence is negative. With n infinite and a symmetric judge of accuracy q that is Proposition
    6.1: :math:`1/2 \pm \sqrt{1/2 - 1/(4 (2q-1)^2)}`.

    Parameters
    ----------
    sensitivity, specificity : float or array_like
        In [0, 1]. Arguments broadcast.
    labelled : float or array_like, default 0
        Labels, m. Only their ratio to `items` matters.
    items : float or array_like, default infinity
        Test items that the judge sees, n.

    Returns
    -------
    low, high : float or numpy.ndarray
        Prevalences between which the judge is worth it; ``nan`` where it never is.

    Raises
    ------
    InputError
        If a rate is out of range, or a size is negative.

    Notes
    -----
    A random sample can do both jobs at once: `difference`, and the model with
    ``calibration="random"``, have no more variance than the labels alone, whatever the judge.
    `plan` puts all of them side by side.

    Examples
    --------
    >>> [round(float(end), 3) for end in judge_regime(0.95, 0.95)]
    [0.063, 0.937]
    >>> [round(float(end), 3) for end in judge_regime(0.95, 0.95, labelled=200, items=1000)]
    [0.097, 0.903]
    """
    check_rates("judge_regime", sensitivity=sensitivity, specificity=specificity)
    sizes = np.all(np.asarray(labelled) >= 0) and np.all(np.asarray(items) > 0)
    expect("judge_regime", sizes, f"sizes must be positive, got labelled={labelled}, items={items}")
    q1, q0, ratio = np.broadcast_arrays(
        np.asarray(sensitivity, float), np.asarray(specificity, float), np.divide(labelled, items)
    )
    youden, var1, var0 = q1 + q0 - 1, q1 * (1 - q1), q0 * (1 - q0)
    square = youden**2 * (1 - ratio)
    linear = ratio * youden * (2 * q0 - 1) + var1 - var0 - youden**2
    rest = linear**2 - 4 * square * var0 * (1 + ratio)
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.where((square > 0) & (youden > 0), np.sqrt(rest), np.nan)
        low, high = (-linear - root) / (2 * square), (-linear + root) / (2 * square)
    # at prevalences of 0 and 1 the quadratic is positive: both ends are shares, or neither is
    never = ~((low >= 0) & (high <= 1))
    return np.where(never, np.nan, low)[()], np.where(never, np.nan, high)[()]


def width_curves(
    labelled: Sequence[int],
    pass_rates: Sequence[float],
    *,
    sensitivity: float,
    specificity: float,
    items: float = np.inf,
    splits: Sequence[Split] = ("equal", "adaptive"),
    pilot: int = 10,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Tabulate the interval's width by number of labels: what `plot_widths` draws.

    Parameters
    ----------
    labelled : sequence of int
        Numbers of labels, each twice `pilot` or more.
    pass_rates : sequence of float
        The judge's pass rates, in [0, 1].
    sensitivity, specificity : float
        What is expected of the judge, in [0, 1].
    items : float, default infinity
        Test items.
    splits : sequence of {"equal", "adaptive"}
        How labels are shared out between good and bad items.
    pilot : int, default 10
        Of ``"adaptive"``: each kind gets at least so many.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    pandas.DataFrame
        Columns ``pass_rate``, ``split``, ``labelled``, ``correct_n``, ``incorrect_n``, ``width``.

    Raises
    ------
    InputError
        If a rate is out of range, or there are too few labels.
    """
    import pandas as pd

    problem = f"labelled must be {2 * pilot} or more, twice the pilot"
    expect("width_curves", min(labelled) >= 2 * pilot, problem)
    expected: dict[str, Any] = {"sensitivity": sensitivity, "specificity": specificity}
    sizes, tables = np.asarray(labelled, int), []
    for rate in pass_rates:
        for split in splits:
            kinds = Allocation((sizes + 1) // 2, sizes // 2)
            kinds = allocate(sizes, rate, **expected, pilot=pilot) if split == "adaptive" else kinds
            widths = interval_width(*kinds, rate, **expected, items=items, ci_prob=ci_prob)
            columns = {"pass_rate": rate, "split": split, "labelled": sizes}
            columns |= {"correct_n": kinds.correct_n, "incorrect_n": kinds.incorrect_n}
            tables.append(pd.DataFrame({**columns, "width": widths}))
    return pd.concat(tables, ignore_index=True)
