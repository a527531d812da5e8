"""`ClassCounts`: verdicts and labels of several classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.diagnosis import keep_selection
from bayesjudge.core.errors import Problem, Require, check_several, checking, expect
from bayesjudge.core.label_design import (
    LabelDesign,
    design_of,
)
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import NAMES, few, fitted, how_many
from bayesjudge.core.screen import rows as aligned
from bayesjudge.verdicts.arrays import whole_numbers
from bayesjudge.verdicts.groups import KINDS, adds_up
from bayesjudge.verdicts.labels import PASS_OR_FAIL
from bayesjudge.verdicts.reading import Reading
from bayesjudge.verdicts.table import MISSING, Verdicts
from bayesjudge.verdicts.view import View

SOURCE = "Lee et al. (2025), Section 9 and Appendix B.3; Buonaccorsi (2010)"


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(View):
    """Verdicts of a judge who puts each item into one of several classes.

    Parameters
    ----------
    test : array_like of int, shape (n_verdicts,) or (n_systems, n_verdicts)
        Items without a human label, by the judge's verdict.
    labelled : array_like of int, shape (n_classes, n_verdicts) or (n_systems, …)
        Items with one: rows are the truth, columns the verdict.
    classes : sequence of str
        Names of the true classes, in the order of the rows.
    calibration : {"random", "by_truth", "separate", "by_verdict", "known_propensity"}
        How the labelled items were chosen: the name of one of `bayesjudge.prevalence.DESIGNS`, or
        a `LabelDesign`.
    responses : sequence of str, optional
        Names of the verdicts, if they are others than the classes: with one more for verdicts that
        could not be read, for example.
    systems : sequence of str, optional
        Names, if there are several systems or strata.
    dim : {"system", "stratum"}
        What `systems` names: systems, or strata of one system's items.
    propensity : array_like of float, shape (n_strata,), optional
        With ``calibration="known_propensity"``: the probability in (0, 1] with which each item of
        a stratum was labelled.
    credit : sequence of float, optional
        What an item of each class counts, such as 1, 1/2 and 0 for win, tie and loss. The mean
        credit is the ``win_rate``.
    leanings : tuple of int, optional
        Of pairs judged in both orders: for how many the verdict was better for the answer shown
        first, and for how many for the one shown second.
    unparsed : int, default 0
        Rows without a verdict that were dropped.
    spelling : str, default ""
        Which labels were read as a class that is spelled otherwise.

    Raises
    ------
    InputError
        If a count is negative or no whole number, shapes differ, there are fewer than two
        classes, no item is labelled, or a system has no items that the estimate is about.

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
    calibration: str | LabelDesign
    responses: Sequence[str] | None = None
    systems: Sequence[str] | None = None
    dim: str = "system"
    propensity: Any = None
    credit: Sequence[float] | None = None
    leanings: tuple[int, int] | None = None
    unparsed: int = 0
    spelling: str = ""

    def __post_init__(self) -> None:
        design_of(self.calibration, "ClassCounts", "plain")
        for name in ("classes", "responses", "systems"):
            value = getattr(self, name)
            value = self.classes if value is None and name == "responses" else value
            names = None if value is None else tuple(map(str, check_several(**{name: value})))
            object.__setattr__(self, name, names)
        if self.propensity is not None:
            self._set(
                propensity=array_of(float, "prevalence.ClassCounts", propensity=self.propensity)
            )
        subject = "prevalence.ClassCounts"
        with checking(subject) as require:
            self._check_names(require)
            lead = () if self.systems is None else (len(self.systems),)
            sizes = len(self.classes), len(self.responses or ())
            for name, shape in (("test", (*lead, sizes[1])), ("labelled", (*lead, *sizes))):
                array = whole_numbers(name, getattr(self, name), shape, require)
                object.__setattr__(self, name, array)
        with checking(subject) as require:
            self._check_items(require)

    def __repr__(self) -> str:
        head = f"ClassCounts of {int(self.test.sum()):,} test items, labels {self.design.name}"
        if self.systems is not None:
            head += f", {self.dim} {few(self.systems)}; of all:"
        verdicts = (self.responses or ())[:NAMES]
        cells = [["truth", *(f"judged {few([name])}" for name in verdicts)]]
        labelled = zip(self.classes[:NAMES], self.tables.sum(axis=0), strict=False)
        for name, counted in [*labelled, ("(test)", self.tests.sum(axis=0))]:
            cells.append([few([name]), *map(str, counted[:NAMES])])
        size = len(self.classes)
        more = [f"… {size - NAMES} more classes"] if size > NAMES else []
        return fitted([head, *aligned(cells, len(cells) - 2), *more])

    def _check_names(self, require: Require) -> None:
        for name, most in (("classes", self.classes), ("responses", self.responses or ())):
            differ = len(most) >= 2 and len(set(most)) == len(most)
            require(differ, "must be two or more that differ", **{name: most})
        self._require_groups([dim for dim in KINDS if dim != "judge"], require)
        if self.credit is not None:
            credit = tuple(map(float, self.credit))
            object.__setattr__(self, "credit", credit)
            words = f"credit needs a finite number for each class, got {credit}"
            require(len(credit) == len(self.classes) and np.all(np.isfinite(credit)), words)

    def _check_items(self, require: Require) -> None:
        require(self.labelled.sum() > 0, "no-label")
        for place, test, labelled in zip(self.places, self.tests, self.tables, strict=True):
            about = test.sum() + (labelled.sum() if self.design.same_items else 0)
            require(about > 0, f"there are no test items{place}")

    @cached_property
    def verdicts(self) -> Verdicts:
        """The patterns of verdicts and labels that these counts are of."""
        return Verdicts.from_counts(
            np.concatenate([self.tables, self.tests[:, None]], axis=1),
            calibration=self.calibration,
            groups=self.systems or ("",),
            classes=self.classes,
            responses=self.responses,
            dim=self.dim,
        )

    @property
    def tests(self) -> np.ndarray:
        """Test items by system and verdict, with a system's axis even if there is one."""
        return self.test.reshape(-1, len(self.responses or ()))

    @property
    def tables(self) -> np.ndarray:
        """Labelled items by system, class and verdict, with a system's axis even of one."""
        return self.labelled.reshape(-1, len(self.classes), len(self.responses or ()))

    @property
    def shares(self) -> np.ndarray:
        """Share of each system or stratum among the items that the estimate is about."""
        items = self.tests.sum(axis=1)
        if self.design.same_items:
            items = items + self.tables.sum(axis=(1, 2))
        return items / items.sum()

    @property
    def confusion(self) -> np.ndarray:
        """Share of each verdict (columns) among labelled items of each class (rows)."""
        with np.errstate(invalid="ignore"):
            return self.labelled / self.labelled.sum(axis=-1, keepdims=True)

    @property
    def named_verdicts(self) -> bool:
        """Whether each class is among the verdicts."""
        return set(self.classes) <= set(self.responses or ())

    @property
    def verdict_of_class(self) -> list[int]:
        """Column of each class's own verdict."""
        return [(self.responses or ()).index(name) for name in self.classes]

    @property
    def coords(self) -> dict[str, tuple[str, ...]]:
        """Coordinates of the systems, or none."""
        return {} if self.systems is None else {self.dim: tuple(self.systems)}

    def by_item(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the items one by one.

        Returns
        -------
        tuple of numpy.ndarray
            System or stratum, class (-1: no label) and verdict of each item, as places.
        """
        rows = [
            np.repeat(np.array(np.nonzero(cells)), cells[np.nonzero(cells)], axis=1)
            for cells in (self.tests, self.tables)
        ]
        (place, verdict), (where, truth, seen) = rows
        classes = np.concatenate([np.full(place.size, -1), truth])
        return np.concatenate([place, where]), classes, np.concatenate([verdict, seen])

    def system(self, name: str) -> Self:
        """Return the counts of one system or stratum.

        Parameters
        ----------
        name : str
            One of `systems`.

        Returns
        -------
        ClassCounts
            With plain arrays.

        Raises
        ------
        InputError
            If there is no such system.
        """
        i = self._place(name)
        # within a stratum of one propensity, labels are a random sample
        return type(self)(
            self.test[i],
            self.labelled[i],
            self.classes,
            "random" if self.propensity is not None else self.calibration,
            responses=self.responses,
            credit=self.credit,
        )

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        verdict: str = "verdict",
        truth: str = "truth",
        classes: Sequence[Any] | None = None,
        by: str | None = None,
        stratum: str | None = None,
        propensity: str | None = None,
        item: str | None = None,
        unparsed: Literal["verdict", "drop"] | None = None,
        missing_value: Any = None,
    ) -> Self:
        """Count the rows of a table: those with a human label calibrate, the others are the test.

        Parameters
        ----------
        table : dataframe
            One row per item; pandas, polars, Arrow, DuckDB or Spark.
        calibration : str
            How the labelled rows were chosen: the name of one of `bayesjudge.prevalence.DESIGNS`.
        verdict, truth : str
            Columns with the judge's class, and with the human one (empty where there is none).
        classes : sequence, optional
            The classes, in the order wanted; by default those that occur, sorted. Labels that
            differ from a class only by case or blanks are read as it.
        by, stratum : str, optional
            Column that names the system, or the stratum, of each row.
        propensity : str, optional
            With ``calibration="known_propensity"``: column with the probability with which each row
            was to be labelled, whether it was or not.
        item : str, optional
            Column that identifies a row within its system; repeated ones are an error.
        unparsed : {"verdict", "drop"}, optional
            What to do with rows that have no verdict; required if there are any. ``"verdict"``
            makes them a verdict of its own, whose classes the labels tell; ``"drop"`` leaves them
            out: right if all classes fail to parse alike.
        missing_value : scalar or list, optional
            Labels that mean that there is none, such as ``"INVALID"``.

        Returns
        -------
        ClassCounts
            Of all rows.

        Raises
        ------
        InputError
            If a column is missing, a row lacks a verdict and `unparsed` is not given, or a label
            is not among `classes`.
        """
        classes = () if classes is None else classes  # those that occur
        how = Reading.of("prevalence.ClassCounts.from_frame", locals())
        return cls.of(Verdicts.read(table, how))

    @classmethod
    def of(cls, verdicts: Verdicts, **more: Any) -> Self:
        """Count the verdicts of one judge by class.

        Parameters
        ----------
        verdicts : Verdicts
            Of one judge, without items that outputs share.
        **more
            `credit` and `leanings`.

        Returns
        -------
        ClassCounts
            Of all groups.

        Raises
        ------
        InputError
            If there are several judges, or the counts allow no estimate.
        """
        judges = list(verdicts.judges)
        problem = f"expected one judge, got {judges}"
        expect("prevalence.ClassCounts.of", verdicts.response.shape[1] == 1, problem)
        counts = verdicts.counts[0]
        alone = tuple(verdicts.groups) == ("",)
        counts = counts[0] if alone else counts
        name, classes = verdicts.pass_name, verdicts.classes
        called = {"pass": name, "fail": f"not {name}"} if name and classes == PASS_OR_FAIL else {}
        counted = cls(
            counts[..., -1, :],
            counts[..., :-1, :],
            [called.get(name, name) for name in classes],
            verdicts.calibration,
            [called.get(name, name) for name in verdicts.responses or ()],
            None if alone else verdicts.groups,
            verdicts.dim if adds_up(verdicts.dim) else "system",
            verdicts.propensity,
            unparsed=int(verdicts.unparsed.sum()),
            spelling=verdicts.spelling,
            **more,
        )
        return keep_selection(counted, verdicts)

    @classmethod
    def from_pairs(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        verdict: str = "verdict",
        swapped: str = "swapped",
        truth: str = "truth",
        classes: Sequence[Any] = ("win", "tie", "loss"),
        unparsed: Literal["drop"] | None = None,
    ) -> Self:
        """Count comparisons of two answers that the judge saw in both orders.

        A verdict that both orders give is the item's; where they differ the item is a tie, as in
        Zheng et al. (2023). Whatever that rule gets wrong, the labelled items tell.

        Parameters
        ----------
        table : dataframe
            One row per pair of answers, ours and theirs.
        calibration : {"random", "by_truth", "separate", "by_verdict"}
            How the labelled rows were chosen.
        verdict, swapped : str
            Columns with the judge's verdict on *our* answer: shown first, and shown second.
        truth : str
            Column with the human verdict on our answer (empty where there is none).
        classes : sequence of three, default ("win", "tie", "loss")
            How the columns spell win, tie and loss.
        unparsed : {"drop"}, optional
            Leave out pairs without a verdict in one of the orders; needed if there are any.

        Returns
        -------
        ClassCounts
            With credits 1, 1/2 and 0, whose mean is the ``win_rate``, and `leanings`.

        Raises
        ------
        InputError
            If a column is missing, a row lacks a verdict and `unparsed` is not given, or a label
            is not among `classes`.

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
        with checking("prevalence.ClassCounts.from_pairs") as require:
            require(len(classes) == 3, f"classes are win, tie and loss, got {list(classes)}")
            require(unparsed in (None, "drop"), f"unparsed={unparsed!r}: pairs can be dropped only")
        both_orders = {"verdict": (verdict, swapped), "unparsed": "drop"}
        how = Reading.of("prevalence.ClassCounts.from_pairs", locals() | both_orders)
        both = Verdicts.read(table, how)
        ours, theirs = both.response.T
        seen = (both.response != MISSING).all(axis=1)
        dropped = int(both.count[~seen].sum())
        without = how_many(dropped, "pair", "have")
        words = f"{without} no verdict in one of the orders; unparsed='drop' leaves them out"
        some = Problem(words, "no-verdict", "unparsed", dropped)
        expect(how.subject, not dropped or unparsed, some)
        tie = 1
        verdicts = Verdicts(
            np.where(ours == theirs, ours, tie)[seen],
            both.truth[seen],
            both.group[seen],
            both.count[seen],
            both.calibration,
            classes=both.classes,
            unparsed=dropped,
            spelling=both.spelling,
        )
        better = ours < theirs, ours > theirs  # shown first, and shown second
        first, second = (int(both.count[seen & where].sum()) for where in better)
        counts = cls.of(verdicts, credit=(1, 0.5, 0), leanings=(first, second))
        return keep_selection(counts, both)
