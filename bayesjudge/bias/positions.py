"""Shift of scores by position, over two or more places, by least squares within items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtrit

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.numbers import number_of, scores_of
from bayesjudge.core.tables import read_rows

ADDITIVE = Assumption.of("additive-shift")
INDEPENDENT_ITEMS = Assumption.of("independent-items", "answers")
#: A judge whose scores would differ so rarely between positions, if none mattered, is named.
REJECT_P = 0.01


class _Shift(NamedTuple):
    """Least-squares shifts, their covariance, and how many answers tell of them."""

    value: np.ndarray
    covariance: np.ndarray
    answers: int


def position_shift(
    table: Any,
    *,
    score: str = "score",
    position: str = "position",
    answer: str = "answer",
    judge: str | None = None,
    ci_prob: float = 0.95,
) -> Estimate:
    r"""How far each place in the prompt moves the score of one and the same answer.

    A score is :math:`y = a_i + s_p + e` with an effect of the answer and one of its position; the
    shifts add to 0 over positions and come from least squares within answers, so that an answer
    may lack some positions, and repeats of a place need not be as many.

    Parameters
    ----------
    table : dataframe
        One row per score.
    score, position, answer : str
        Columns with the score (a number), the place that the answer had, and what names the answer
        (within the table, not within a prompt).
    judge : str, optional
        Column that names the judge; shifts are reported for each.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        By judge and position ``position_shift``, above 0 where a place raises scores, in their
        units; ``largest_gap`` by judge, the difference of the highest and the lowest shift, without
        an interval. The caution ``position-bias`` names judges whose shifts differ beyond chance.

    Raises
    ------
    InputError
        If a column is missing, a score is no number, or no answers were seen in two positions that
        link all others.

    Notes
    -----
    Answers are the sample: errors of one answer may depend on each other in any way. The covariance
    is the jackknife over answers (CR3), with Student's t for as many answers less one.

    References
    ----------
    Bell & McCaffrey (2002), Survey Methodology 28, 169-181.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(i, p, 5 + i + (p == 1) + 0.1 * (i * p % 3)) for i in range(6) for p in (1, 2, 3)]
    >>> found = position_shift(pd.DataFrame(rows, columns=["answer", "position", "score"]))
    >>> [round(found["position_shift", "judge", p].value, 2) for p in ("1", "2", "3")]
    [0.7, -0.3, -0.4]
    """
    check_ci_prob(ci_prob)
    names = [position, answer, *([judge] if judge else [])]
    rows = read_rows(table, score, names=names)
    numbers = scores_of(rows[score], remedy="leave those rows out")
    bad = int((~np.isfinite(numbers)).sum())
    expect("bias.position_shift", bad == 0, "scores-not-finite", bad=bad)
    judges = ["judge"] if judge is None else sorted(set(rows[judge]))
    named = np.repeat(judges, len(rows)) if judge is None else rows[judge].to_numpy(str)
    places = sorted(set(rows[position]), key=_in_order)
    at = np.array([places.index(place) for place in rows[position]])
    _, item = np.unique(rows[answer].to_numpy(str), return_inverse=True)
    columns_by_judge, gaps, cautions = [], [], []
    for name in judges:
        mine = named == name
        shift = _least_squares(numbers[mine], at[mine], item[mine], len(places), name)
        half = stdtrit(shift.answers - 1.0, (1 + ci_prob) / 2) * np.sqrt(np.diag(shift.covariance))
        columns_by_judge.append(np.stack([shift.value, shift.value - half, shift.value + half]))
        gaps.append(float(np.ptp(shift.value)))
        p_value = _together(shift)
        if p_value < REJECT_P / len(judges):
            first, last = places[int(shift.value.argmax())], places[int(shift.value.argmin())]
            cautions.append(
                Caution.of(
                    "position-bias",
                    "scores",
                    name=name,
                    gap=gaps[-1],
                    first=first,
                    last=last,
                    p_value=p_value,
                )
            )
    columns = np.stack(columns_by_judge, axis=1)
    none = np.full(len(judges), np.nan)
    where = {"judge": judges, "position": places}
    return Estimate(
        {
            "position_shift": Quantity.over(tuple(columns), where),
            "largest_gap": Quantity.over((np.array(gaps), none, none), {"judge": judges}),
        },
        method=methods.SHIFT_BY_POSITION,
        ci_prob=ci_prob,
        source="Bell & McCaffrey (2002), jackknife over answers",
        interval={"position_shift": "Student, by answer", "largest_gap": "none"},
        assumptions=(ADDITIVE, INDEPENDENT_ITEMS),
        cautions=tuple(cautions),
    )


def _in_order(place: str) -> tuple[float, str]:
    """Numbers by size, other names after them."""
    number = number_of(place)
    return (np.inf if number is None else number, place)


def _least_squares(
    score: np.ndarray, at: np.ndarray, item: np.ndarray, places: int, judge: str
) -> _Shift:
    """Shifts that add to 0, and their jackknife covariance over answers."""
    _, item = np.unique(item, return_inverse=True)
    seen = np.zeros((item.max() + 1, places))
    total = np.zeros_like(seen)
    np.add.at(seen, (item, at), 1)
    np.add.at(total, (item, at), score)
    n = seen.sum(axis=1, keepdims=True)
    several = (seen > 0).sum(axis=1) > 1
    seen, total, n = seen[several], total[several], n[several]
    # what an answer tells: its normal equations with its own effect taken out
    each = (
        np.einsum("ip,pq->ipq", seen, np.eye(places))
        - seen[:, :, None] * seen[:, None] / n[..., None]
    )
    right = total - seen * total.sum(axis=1, keepdims=True) / n
    whole = each.sum(axis=0)
    with checking("bias.position_shift") as require:
        linked = len(seen) > 2 and np.linalg.matrix_rank(whole) == places - 1
        require(
            linked,
            f"{judge}: answers scored in two or more positions ({len(seen)}) do not link "
            f"all {places} of them; at least 3 that do are needed",
        )
    value = _solved(whole, right.sum(axis=0))
    others = np.array(
        [_solved(whole - a, right.sum(axis=0) - b) for a, b in zip(each, right, strict=True)]
    )
    away = others - value
    size = len(seen)
    return _Shift(value, (size - 1) / size * away.T @ away, size)


def _solved(whole: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution that adds to 0."""
    level = np.full_like(whole, np.trace(whole) / len(whole) ** 2)
    return np.linalg.solve(whole + level, right - right.mean())


def _together(shift: _Shift) -> float:
    """P-value of no shift at all: Hotelling's statistic of all but one position."""
    k, n = len(shift.value) - 1, shift.answers
    if n <= k:
        return float("nan")
    statistic = shift.value[:-1] @ np.linalg.pinv(shift.covariance[:-1, :-1]) @ shift.value[:-1]
    return float(fdtrc(k, n - k, statistic * (n - k) / (k * (n - 1))))
