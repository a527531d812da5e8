"""Closed forms of several classes: the judge's confusions undone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bayesjudge.core.errors import UninformativeJudgeError, checking
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import wilson, z_score
from bayesjudge.prevalence.classes.data import SAME_CONFUSIONS, SOURCE, ClassCounts, judged
from bayesjudge.prevalence.labelling import ERRORS_CANCEL


def class_shares(
    counts: ClassCounts,
    *,
    ci_prob: float = 0.95,
    method: Literal["inverse", "least_squares"] = "least_squares",
) -> Estimate:
    """Correct the shares of the judge's verdicts for the judge's confusions.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    method : {"least_squares", "inverse"}
        The shares that fit the verdicts best among those that are none below 0 and sum to 1, or
        the inverse of the confusion matrix, which may leave that range (a caution says so).

    Returns
    -------
    Estimate
        ``prevalence`` by class, shares of items, with delta-method intervals; both are cut off at 0
        and 1, and the inverse's own value is kept as ``raw``. ``confusion`` by class and verdict,
        with Wilson's intervals. If classes have a credit, also ``win_rate``, their mean credit.

    Raises
    ------
    UninformativeJudgeError
        If the confusion matrix cannot be inverted: the judge does not tell some classes apart.
    InputError
        If `ci_prob` or `method` is unknown.

    Examples
    --------
    >>> counts = ClassCounts([50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]],
    ...                      classes=["win", "tie", "loss"], calibration="by_truth")
    >>> class_shares(counts).quantities["prevalence"].value.round(3).tolist()
    [0.52, 0.324, 0.157]
    """
    with checking("class_shares") as require:
        known = method in ("inverse", "least_squares")
        require(known, f"method must be inverse or least_squares, got {method!r}")
    z = z_score(ci_prob)
    raw = inverted(counts)
    half = z * np.sqrt(np.diag(covariance(counts, raw)))
    value = np.clip(raw, 0, 1) if method == "inverse" else _projected(counts)
    # the best value inside [0, 1] may lie beyond what is left of an interval about one outside
    ends = (
        np.minimum(np.clip(raw - half, 0, 1), value),
        np.maximum(np.clip(raw + half, 0, 1), value),
    )
    cautions = []
    if raw.min() < 0:
        worst = counts.classes[int(raw.argmin())]
        text = f"the inverse puts the share of {worst!r} at {raw.min():.3f}, below 0"
        cautions.append(Caution("outside-simplex", text))
    by_class = {"class": counts.classes}
    made: dict[str, Any] = {}
    if counts.credit is not None:
        made["win_rate"] = _credited(counts, value, raw, z)
    made["prevalence"] = Quantity.over((value, *ends, raw), by_class)
    sizes = counts.labelled.sum(axis=1, keepdims=True)
    shares = wilson(counts.labelled, np.broadcast_to(sizes, counts.labelled.shape), ci_prob)
    made["confusion"] = Quantity.over(shares, {**by_class, "verdict": counts.classes})
    assumptions, raised = judged(counts)
    told = (SAME_CONFUSIONS,) if counts.design.same_items else assumptions
    words = {"inverse": "confusion-matrix inverse", "least_squares": "constrained least squares"}
    return Estimate(
        made,
        method=f"Classes, {words[method]}",
        ci_prob=ci_prob,
        source=SOURCE,
        interval={"confusion": "Wilson", "prevalence": "delta method", "win_rate": "delta method"},
        assumptions=told,
        cautions=(*cautions, *raised),
    )


def judge_shares(counts: ClassCounts, *, ci_prob: float = 0.95) -> Estimate:
    """Shares of the judge's own verdicts, with Wilson's intervals."""
    seen = counts.test + (counts.labelled.sum(axis=0) if counts.design.same_items else 0)
    columns = wilson(seen, np.full_like(seen, seen.sum()), ci_prob)
    return Estimate(
        {"prevalence": Quantity.over(columns, {"class": counts.classes})},
        method="Judge's shares",
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
        assumptions=(ERRORS_CANCEL,),
    )


def _credited(
    counts: ClassCounts, value: np.ndarray, raw: np.ndarray, z: float
) -> tuple[float, float, float, float]:
    """Mean credit of an item, with its interval: the shares' errors partly cancel in it."""
    credit = np.asarray(counts.credit)
    half = z * float(np.sqrt(credit @ covariance(counts, raw) @ credit))
    centre, least, most = float(credit @ raw), credit.min(), credit.max()
    low, high = np.clip([centre - half, centre + half], least, most)
    whole = float(credit @ value)
    return whole, min(float(low), whole), max(float(high), whole), centre


def inverted(counts: ClassCounts) -> np.ndarray:
    """Solve for the shares that give the verdicts exactly; they sum to 1 and may be negative.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.

    Returns
    -------
    numpy.ndarray, shape (n_classes,)
        Shares of items.

    Raises
    ------
    UninformativeJudgeError
        If the confusion matrix has no inverse.
    """
    if np.linalg.matrix_rank(counts.confusion, tol=1e-9) < len(counts.classes):
        problem = (
            "the confusion matrix has no inverse: on the labelled items the judge does not tell "
            f"some of {list(counts.classes)} apart; merge classes, or label more items"
        )
        raise UninformativeJudgeError("class_shares", [problem])
    return np.linalg.solve(counts.confusion.T, counts.test / counts.test.sum())


def covariance(counts: ClassCounts, shares: np.ndarray) -> np.ndarray:
    """Covariance of `inverted` by the delta method; with two classes, source 1's eq. (9).

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    shares : numpy.ndarray, shape (n_classes,)
        Where to evaluate it.

    Returns
    -------
    numpy.ndarray, shape (n_classes, n_classes)
        Each row sums to 0, since the shares sum to 1.
    """

    def multinomial(p: np.ndarray, n: float) -> np.ndarray:
        return (np.diag(p) - np.outer(p, p)) / n

    rows, sizes = counts.confusion, counts.labelled.sum(axis=1)
    verdicts = multinomial(counts.test / counts.test.sum(), counts.test.sum())
    for share, row, size in zip(shares, rows, sizes, strict=True):
        verdicts = verdicts + share**2 * multinomial(row, size)
    inverse = np.linalg.inv(rows.T)
    return inverse @ verdicts @ inverse.T


def _projected(counts: ClassCounts) -> np.ndarray:
    """Shares at least 0 that sum to 1 and fit the verdicts best, by least squares.

    With s = 1'x, min |Cx|^2 + (1'x - 1)^2 over x >= 0 equals |Cu|^2 / (1 + |Cu|^2) at u = x / s on
    the simplex, which grows with |Cu|^2: non-negative least squares solves the constrained problem.
    """
    from scipy.optimize import nnls  # takes longer to load than everything else here

    matrix, seen = counts.confusion.T, counts.test / counts.test.sum()
    system = np.vstack([matrix - seen[:, None], np.ones(len(seen))])
    found, _ = nnls(system, np.append(np.zeros(len(seen)), 1.0))
    return found / found.sum()
