"""More than two classes: what share of outputs is of each, when the judge mixes them up?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from bayesjudge.core.errors import UninformativeJudgeError, checking
from bayesjudge.core.intervals import z_score
from bayesjudge.core.results import Caution, Estimate
from bayesjudge.core.tables import count_rows, spell
from bayesjudge.prevalence.described import SAME_JUDGE, SAMPLED

SOURCE = "Lee et al. (2025), Section 9 and Appendix B.3; Buonaccorsi (2010)"
CLASS_CALIBRATIONS = ("random", "by_truth", "separate")
ASSUMED = {
    "random": SAMPLED,
    "by_truth": SAME_JUDGE.replace("sensitivity and specificity", "confusions"),
    "separate": SAME_JUDGE.replace("sensitivity and specificity", "confusions"),
}


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Verdicts of a judge who puts each item into one of several classes.

    Parameters
    ----------
    test : array_like of int, shape (n_classes,)
        Items without a human label, by the judge's verdict.
    labelled : array_like of int, shape (n_classes, n_classes)
        Items with one: rows are the truth, columns the verdict.
    classes : sequence of str
        Names, in the order of rows and columns.
    calibration : {"random", "by_truth", "separate"}
        How the labelled items were chosen; see `CALIBRATIONS`.

    Raises
    ------
    InputError
        Where a count is negative or no whole number, shapes differ, there are fewer than two
        classes, no test items, or a class without a labelled item.

    Examples
    --------
    >>> counts = ClassCounts([50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]],
    ...                      classes=["win", "tie", "loss"], calibration="by_truth")
    >>> counts.confusion[0].tolist()
    [0.9, 0.05, 0.05]
    """

    test: Any
    labelled: Any
    classes: Sequence[str]
    calibration: str

    def __post_init__(self) -> None:
        classes = tuple(map(str, self.classes))
        object.__setattr__(self, "classes", classes)
        size, subject = len(classes), "prevalence.ClassCounts"
        with checking(subject) as require:
            known = self.calibration in CLASS_CALIBRATIONS
            words = f"calibration must be one of {CLASS_CALIBRATIONS}, got {self.calibration!r}"
            require(known, words)
            require(size >= 2 and len(set(classes)) == size, f"classes must differ: {classes}")
            for name, shape in (("test", (size,)), ("labelled", (size, size))):
                array = np.asarray(getattr(self, name), float)
                require(array.shape == shape, f"{name} has shape {array.shape}, expected {shape}")
                whole = np.all(np.isfinite(array) & (array >= 0) & (array == np.floor(array)))
                require(whole, f"{name} must be whole numbers, 0 or more, got {array.tolist()}")
                if whole:
                    frozen = array.astype(np.int64)
                    frozen.flags.writeable = False
                    object.__setattr__(self, name, frozen)
        with checking(subject) as require:
            require(self.test.sum() > 0, "there are no test items")
            for name, n in zip(classes, self.labelled.sum(axis=1), strict=True):
                require(n > 0, f"no labelled item is {name!r}; label some, or merge classes")

    @property
    def confusion(self) -> np.ndarray:
        """Share of each verdict (columns) among labelled items of each class (rows)."""
        return self.labelled / self.labelled.sum(axis=1, keepdims=True)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str,
        verdict: str = "verdict",
        truth: str = "truth",
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Count the rows of a table: those with a human label calibrate, the others are the test.

        Parameters
        ----------
        table : dataframe
            One row an item; pandas, polars, Arrow, DuckDB or Spark.
        calibration : {"random", "by_truth", "separate"}
            How the labelled rows were chosen.
        verdict, truth : str
            Columns with the judge's class, and with the human one (empty where there is none).
        classes : sequence, optional
            The classes, in the order wanted; by default those that occur, sorted.

        Returns
        -------
        ClassCounts
            Of all rows.

        Raises
        ------
        InputError
            Where a column is missing, a row has no verdict, or a label is not among `classes`.
        """
        rows = count_rows(table, verdict, truth)
        empty = int(rows["n_rows"][rows[verdict].isna()].sum())
        seen = [rows[c].map(spell).where(rows[c].notna()) for c in (verdict, truth)]
        found = sorted({name for column in seen for name in column.dropna()})
        names = found if classes is None else [spell(c) for c in classes]
        with checking("prevalence.ClassCounts.from_frame") as require:
            require(empty == 0, f"{empty} rows have no verdict; drop them, or make them a class")
            unknown = [name for name in found if name not in names]
            require(not unknown, f"{unknown} are not among the classes {names}")
        labels = pd.DataFrame({"verdict": seen[0], "truth": seen[1], "n": rows["n_rows"]})
        test = labels[labels["truth"].isna()].groupby("verdict")["n"].sum()
        known = labels.dropna().pivot_table("n", "truth", "verdict", aggfunc="sum", fill_value=0)
        return cls(
            test.reindex(names, fill_value=0).to_numpy(),
            known.reindex(index=names, columns=names, fill_value=0).to_numpy(),
            classes=names,
            calibration=calibration,
        )


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
        ``prevalence[class]``, shares of items, with delta-method intervals; both are cut off at 0
        and 1, and the inverse's own value is kept as ``raw``.

    Raises
    ------
    UninformativeJudgeError
        Where the confusion matrix cannot be inverted: the judge does not tell some classes apart.
    InputError
        Where `ci_prob` or `method` is unknown.

    Examples
    --------
    >>> counts = ClassCounts([50, 30, 20], [[18, 1, 1], [2, 15, 3], [0, 4, 16]],
    ...                      classes=["win", "tie", "loss"], calibration="by_truth")
    >>> class_shares(counts).table["value"].round(3).tolist()
    [0.52, 0.324, 0.157]
    """
    with checking("class_shares") as require:
        known = method in ("inverse", "least_squares")
        require(known, f"method must be inverse or least_squares, got {method!r}")
    z = z_score(ci_prob)
    raw = inverted(counts)
    half = z * np.sqrt(np.diag(covariance(counts, raw)))
    value = np.clip(raw, 0, 1) if method == "inverse" else _projected(counts)
    cautions = []
    if raw.min() < 0:
        worst = counts.classes[int(raw.argmin())]
        text = f"the inverse puts the share of {worst!r} at {raw.min():.3f}, below 0"
        cautions.append(Caution("outside-simplex", text))
    words = {"inverse": "confusion-matrix inverse", "least_squares": "constrained least squares"}
    ends = (np.clip(raw - half, 0, 1), np.clip(raw + half, 0, 1))
    return Estimate.from_arrays(
        {"prevalence": (value, *ends, raw)},
        counts.classes,
        method=f"Classes, {words[method]}",
        ci_prob=ci_prob,
        source=SOURCE,
        interval="delta method",
        assumptions=(ASSUMED["separate"],),
        cautions=tuple(cautions),
    )


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
        Where the confusion matrix has no inverse.
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
    """Least squares on the simplex, exactly: the best solution over all sets of classes present."""
    matrix, seen = counts.confusion.T, counts.test / counts.test.sum()
    size, best, least = len(counts.classes), np.zeros(0), np.inf
    for count in range(1, size + 1):
        for kept in map(list, itertools.combinations(range(size), count)):
            part = matrix[:, kept]
            # Lagrange: the gradient is the same for all classes that are present
            system = np.block([[part.T @ part, np.ones((count, 1))], [np.ones(count), 0.0]])
            found = np.linalg.lstsq(system, np.append(part.T @ seen, 1.0), rcond=None)[0][:-1]
            loss = float(np.sum((part @ found - seen) ** 2))
            if found.min() > -1e-12 and loss < least - 1e-15:
                best, least = np.zeros(size), loss
                best[kept] = np.clip(found, 0, 1)
    return best
