"""`ClassCounts`: verdicts and labels of several classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import bdtr, chdtrc

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.screen import NAMES, few, fitted, rows
from bayesjudge.core.tables import count_rows, spell
from bayesjudge.prevalence.cautions import SHIFT_P
from bayesjudge.prevalence.labelling import LabelDesign, design_of

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "Lee et al. (2025), Section 9 and Appendix B.3; Buonaccorsi (2010)"
#: Two classes whose verdicts differ no more surely than this are not told apart.
WEAK_P = 0.05
#: Label designs of several classes.
CALIBRATIONS = ("random", "by_truth", "separate")
SAME_CONFUSIONS = Assumption(
    "same-judge", "the judge has the same confusions on labelled and on test items"
)


@dataclass(frozen=True, eq=False, repr=False)
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
        How the labelled items were chosen; see `bayesjudge.prevalence.LabelDesign`.
    credit : sequence of float, optional
        What an item of each class counts, such as 1, 1/2 and 0 for win, tie and loss. The mean
        credit is the ``win_rate``.
    leanings : tuple of int, optional
        Of pairs judged in both orders: for how many the verdict was better for the answer shown
        first, and for how many for the one shown second.

    Raises
    ------
    InputError
        If a count is negative or no whole number, shapes differ, there are fewer than two
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
    credit: Sequence[float] | None = None
    leanings: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        classes = tuple(map(str, self.classes))
        object.__setattr__(self, "classes", classes)
        size, subject = len(classes), "prevalence.ClassCounts"
        with checking(subject) as require:
            words = f"calibration must be one of {CALIBRATIONS}, got {self.calibration!r}"
            require(self.calibration in CALIBRATIONS, words)
            require(size >= 2 and len(set(classes)) == size, f"classes must differ: {classes}")
            if self.credit is not None:
                credit = tuple(map(float, self.credit))
                object.__setattr__(self, "credit", credit)
                words = f"credit needs a finite number for each class, got {credit}"
                require(len(credit) == size and np.all(np.isfinite(credit)), words)
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

    def __repr__(self) -> str:
        head = f"ClassCounts of {int(self.test.sum()):,} test items, labels {self.design.name}"
        size = len(self.classes)
        shown = range(min(size, NAMES))
        cells = [["truth", *("judged " + few([self.classes[k]]) for k in shown)]]
        counted = [
            *list(zip(self.classes, self.labelled, strict=True))[:NAMES],
            ("(test)", self.test),
        ]
        cells += [[few([name]), *(str(row[k]) for k in shown)] for name, row in counted]
        more = [f"… {size - NAMES} more classes"] if size > NAMES else []
        return fitted([head, *rows(cells, len(cells) - 2), *more])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @property
    def design(self) -> LabelDesign:
        """How the labelled items were chosen."""
        return design_of(self.calibration)

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
            If a column is missing, a row lacks a verdict, or a label is not among `classes`.
        """
        rows = _spelled(count_rows(table, verdict, truth), [verdict, truth])
        names = _named(rows, [verdict, truth], classes)
        return cls(**_tallied(rows, verdict, truth, names), calibration=calibration)

    @classmethod
    def from_pairs(
        cls,
        table: Any,
        *,
        calibration: str,
        verdict: str = "verdict",
        swapped: str = "swapped",
        truth: str = "truth",
        classes: Sequence[Any] = ("win", "tie", "loss"),
    ) -> Self:
        """Count comparisons of two answers that the judge saw in both orders.

        A verdict that both orders give is the item's; where they differ the item is a tie, as in
        Zheng et al. (2023). Whatever that rule gets wrong, the labelled items tell.

        Parameters
        ----------
        table : dataframe
            One row a pair of answers, ours and theirs.
        calibration : {"random", "by_truth", "separate"}
            How the labelled rows were chosen.
        verdict, swapped : str
            Columns with the judge's verdict on *our* answer: shown first, and shown second.
        truth : str
            Column with the human verdict on our answer (empty where there is none).
        classes : sequence of three, default ("win", "tie", "loss")
            How the columns spell win, tie and loss.

        Returns
        -------
        ClassCounts
            With credits 1, 1/2 and 0, whose mean is the ``win_rate``, and `leanings`.

        Raises
        ------
        InputError
            If a column is missing, a row lacks a verdict, or a label is not among `classes`.

        Examples
        --------
        >>> import pandas as pd
        >>> pairs = pd.DataFrame({"verdict": ["win", "win", "loss", "tie", "win", "loss"],
        ...                       "swapped": ["win", "loss", "loss", "tie", "win", "tie"],
        ...                       "truth": ["win", "tie", "loss", None, None, None]})
        >>> counts = ClassCounts.from_pairs(pairs, calibration="random")
        >>> counts.test.tolist(), counts.leanings
        ([1, 2, 0], (1, 1))
        """
        columns = [verdict, swapped, truth]
        rows = _spelled(count_rows(table, *columns), columns)
        with checking("prevalence.ClassCounts.from_pairs") as require:
            require(len(classes) == 3, f"classes are win, tie and loss, got {list(classes)}")
        names = _named(rows, columns, classes)
        ours, theirs = (rows[c].map(names.index) for c in (verdict, swapped))
        rows["both"] = rows[verdict].where(ours == theirs, names[1])
        first, second = (int(rows["n_rows"][x].sum()) for x in (ours < theirs, ours > theirs))
        counted = _tallied(rows, "both", truth, names)
        return cls(**counted, calibration=calibration, credit=(1, 0.5, 0), leanings=(first, second))


def _spelled(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    for column in columns:
        text = rows[column].astype(object)  # a file's labels come as a dictionary of text
        rows[column] = text.map(spell).where(text.notna())
    return rows


def _named(rows: pd.DataFrame, columns: list[str], classes: Sequence[Any] | None) -> list[str]:
    """Names of the classes; every row has a verdict, and each label is one of them."""
    found = sorted({name for column in columns for name in rows[column].dropna()})
    names = found if classes is None else [spell(c) for c in classes]
    with checking("prevalence.ClassCounts.from_frame") as require:
        empty = int(rows["n_rows"][rows[columns[:-1]].isna().any(axis=1)].sum())
        require(empty == 0, f"{empty} rows have no verdict; drop them, or make them a class")
        unknown = [name for name in found if name not in names]
        require(not unknown, f"{unknown} are not among the classes {names}")
    return names


def _tallied(rows: pd.DataFrame, verdict: str, truth: str, names: list[str]) -> dict[str, Any]:
    import pandas as pd

    labels = pd.DataFrame({"verdict": rows[verdict], "truth": rows[truth], "n": rows["n_rows"]})
    test = labels[labels["truth"].isna()].groupby("verdict")["n"].sum()
    known = labels.dropna().pivot_table("n", "truth", "verdict", aggfunc="sum", fill_value=0)
    return {
        "test": test.reindex(names, fill_value=0).to_numpy(),
        "labelled": known.reindex(index=names, columns=names, fill_value=0).to_numpy(),
        "classes": names,
    }


def judged(counts: ClassCounts) -> tuple[tuple[Assumption, ...], tuple[Caution, ...]]:
    """Assumptions, each with the cautions that contradict it, and all cautions."""
    cautions = tuple(class_cautions(counts))
    shifted = tuple(c.name for c in cautions if c.name == "label-shift")
    sampled = counts.design.same_items
    assumed = counts.design.assumption if sampled else SAME_CONFUSIONS
    return (assumed._replace(contradicted_by=shifted if sampled else ()),), cautions


def class_cautions(counts: ClassCounts) -> Iterator[Caution]:
    """List what a reader should know before believing an estimate from these counts.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.

    Yields
    ------
    Caution
        ``weak-judge``, where the labels do not show that two classes get different verdicts;
        ``label-shift``, where labels are said to be a random sample and their verdicts say
        otherwise; ``position-bias``, where the order of two answers moves the verdict one way.
    """
    for i, j in itertools.combinations(range(len(counts.classes)), 2):
        if _p_same(counts.labelled[[i, j]]) > WEAK_P:
            yield Caution(
                "weak-judge",
                f"the labelled items do not show that the judge tells {counts.classes[i]!r} from "
                f"{counts.classes[j]!r}: their shares are known together at best; merge them, or "
                "use a better judge or more labels",
            )
    if counts.calibration == "random":
        p_value = _p_same(np.array([counts.test, counts.labelled.sum(axis=0)]))
        if p_value < SHIFT_P:
            yield Caution(
                "label-shift",
                "the judge's verdicts on labelled items differ from those on the others by more "
                f"than a random sample's would (probability {p_value:.1e}): declare how the "
                "labelled items were drawn",
            )
    if counts.leanings is not None:
        first, second = counts.leanings
        if 2 * bdtr(min(first, second), first + second, 0.5) < SHIFT_P:
            total = int(counts.test.sum() + counts.labelled.sum())
            more, fewer = max(first, second), min(first, second)
            where = ("first", "second") if first > second else ("second", "first")
            yield Caution(
                "position-bias",
                f"of {total} pairs judged in both orders, the verdict was better for the answer "
                f"shown {where[0]} in {more} and for the one shown {where[1]} in {fewer}: the "
                "judge looks at the order; differing verdicts count as ties",
            )


def _p_same(seen: np.ndarray) -> float:
    """Pearson's test that both rows come from one distribution of verdicts."""
    seen = seen[:, seen.sum(axis=0) > 0]
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0) / seen.sum()
    return float(chdtrc(max(seen.shape[1] - 1, 1), ((seen - expected) ** 2 / expected).sum()))
