"""`Items`: rows that share an item, and several systems on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from bayesjudge.core.counting import collapse
from bayesjudge.core.diagnosis import keep_selection
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Assumption
from bayesjudge.core.label_design import LabelDesign, declared, design_of
from bayesjudge.core.names import require_names
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.cautions import shift_p_value
from bayesjudge.prevalence.data import Counts, six_counts
from bayesjudge.prevalence.items._shift import p_values
from bayesjudge.verdicts.arrays import whole_numbers
from bayesjudge.verdicts.reading import (
    GOOD,
    REPEATS,
    TRUTHS,
    UNLABELLED,
    VERDICTS,
    Reading,
)
from bayesjudge.verdicts.table import Verdicts
from bayesjudge.verdicts.view import View

Repeats = Literal["system", "judge"]
#: Label designs that rows of an item can have.
CALIBRATIONS = ("random", "by_truth", "separate", "by_verdict")
INDEPENDENT_ITEMS = Assumption.of("independent-items", "rows")


class Rows(NamedTuple):
    """Counts of rows by pattern of one system, each of shape (n_patterns,)."""

    labelled: np.ndarray
    good: np.ndarray
    labelled_pass: np.ndarray
    good_pass: np.ndarray
    test: np.ndarray
    test_pass: np.ndarray

    @classmethod
    def of(cls, cells: np.ndarray) -> Rows:
        """From cells of shape (…, 3, 2)."""
        known = cells[..., :UNLABELLED, :]
        return cls(
            known.sum(axis=(-2, -1)),
            cells[..., GOOD, :].sum(axis=-1),
            known[..., 1].sum(axis=-1),
            cells[..., GOOD, 1],
            cells[..., UNLABELLED, :].sum(axis=-1),
            cells[..., UNLABELLED, 1],
        )


@dataclass(frozen=True, eq=False)
class Items(View):
    """Verdicts and labels by item: rows of one item are not independent.

    Items with the same rows are one pattern. A system that has no row of an item did not see it.

    Parameters
    ----------
    cells : array_like of int, shape (n_patterns, n_systems, 3, 2)
        Rows of an item by system, truth (bad, good, no label) and verdict (fail, pass).
    count : array_like of int, shape (n_patterns,)
        Items of each pattern.
    systems : sequence of str
        Names.
    calibration : {"random", "by_truth", "separate", "by_verdict"}
        How the labelled items or rows were chosen; see `bayesjudge.prevalence.LabelDesign`.
    repeats : {"system", "judge"}, optional
        What repeats if an item has several rows of one system: the system, so that each row is an
        output with a truth of its own, or the judge, who saw one output several times. Required
        then.
    unparsed : int, default 0
        Rows whose verdict could not be read.
    spelling : str, default ""
        How labels were read, in words, if not all of them were 1 and 0.
    pass_name : str, default ""
        The label that was read as pass, such as ``"unsafe"``, which sentences say in place of
        "pass"; empty if it is a word for it.

    Raises
    ------
    InputError
        If shapes differ, a count is negative, `calibration` is unknown, `repeats` is required and
        was not given, an output that was judged several times has two truths, or a system has no
        labels.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"item": ["p", "p", "q", "q", "r"], "verdict": [1, 1, 0, 1, 1],
    ...                     "truth": [1, 0, None, None, None]})
    >>> items = Items.from_frame(log, calibration="random", repeats="system")
    >>> items
    3 items, 5 rows, 1 item labelled (2 rows); the system repeats
    """

    cells: Any
    count: Any
    systems: Sequence[str]
    calibration: str | LabelDesign
    repeats: Repeats | None = None
    unparsed: int = 0
    spelling: str = ""
    pass_name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", tuple(map(str, self.systems)))
        design_of(self.calibration, "Items", "plain", known=CALIBRATIONS)
        with checking("prevalence.items") as require:
            kinds = (len(self.count),)
            shapes = {"cells": (*kinds, len(self.systems), TRUTHS, VERDICTS), "count": kinds}
            for name, shape in shapes.items():
                array = whole_numbers(name, getattr(self, name), shape, require)
                object.__setattr__(self, name, array)
            require_names(self.systems, "systems", require)
        with checking("prevalence.items") as require:
            self._require_possible(require)

    def _require_possible(self, require: Any) -> None:
        rows = Rows.of(self.cells)
        several = int(self.count[((rows.labelled + rows.test) > 1).any(axis=1)].sum())
        require(
            not several or self.repeats in REPEATS,
            f"{how_many(several, 'item', 'have')} several rows of one system; say what repeats: "
            + "; ".join(f"repeats={name!r}: {words}" for name, words in REPEATS.items()),
        )
        if self.repeats == "judge":
            kinds = (self.cells.sum(axis=-1) > 0).sum(axis=-1)
            torn = int(self.count[(kinds > 1).any(axis=1)].sum())
            require(
                torn == 0,
                f"{how_many(torn, 'output', 'were')} judged several times with more than one truth"
                "; repeats='judge' means one truth for all verdicts on an output, repeats='system' "
                "a truth for each row",
            )
        for name, labels, seen in zip(
            self.systems, rows.labelled.T @ self.count, rows.test.T @ self.count, strict=True
        ):
            where = f" of system {name!r}" if len(self.systems) > 1 else ""
            require(labels + seen > 0, f"there is no row{where}")
            require(labels > 0 or not seen, "no-label-of-rows", where=where)
            require(
                seen > 0 or labels == 0 or self.design.same_items,
                f"every row{where} has a human label and these are not the items asked about; give "
                "unlabelled rows, or declare calibration='random' if the labelled ones are",
            )

    def __repr__(self) -> str:
        rows = Rows.of(self.cells)
        labelled = int(self.count[(rows.labelled > 0).any(axis=1)].sum())
        n_labels = int(self.count @ rows.labelled.sum(axis=1))
        several = f", {len(self.systems)} systems" if len(self.systems) > 1 else ""
        repeats = f"; the {self.repeats} repeats" if self.repeated else ""
        noun = "item" if labelled == 1 else "items"
        return (
            f"{self.n_items} items, {self.n_rows} rows{several}, {labelled} {noun} labelled "
            f"({n_labels} rows){repeats}"
        )

    @cached_property
    def verdicts(self) -> Verdicts:
        """The patterns of verdicts and labels by kind of item that these are of.

        A verdict per row or, of a judge that repeats, all looks at one output.
        """
        return Verdicts.from_item_cells(
            self.cells,
            self.count,
            repeats=self.repeats,
            calibration=self.calibration,
            groups=self.systems,
            spelling=self.spelling,
            pass_name=self.pass_name,
        )

    @property
    def takes_labels_as_right(self) -> bool:
        """Always: a row's label is its truth."""
        return True

    @property
    def n_items(self) -> int:
        """Items."""
        return int(self.count.sum())

    @property
    def n_rows(self) -> int:
        """Verdicts, of all systems."""
        return int(self.count @ self.cells.sum(axis=(1, 2, 3)))

    @property
    def repeated(self) -> bool:
        """Whether an item has several rows of one system."""
        return bool((self.cells.sum(axis=(2, 3)) > 1).any())

    @property
    def paired(self) -> bool:
        """Whether several systems answered the same items."""
        return bool(((self.cells.sum(axis=(2, 3)) > 0).sum(axis=1) > 1).any())

    @cached_property
    def shift_p_values(self) -> np.ndarray:
        """By system, how rarely random labels fall on as unusual a number of the judge's passes."""
        return p_values(self.cells, self.count) if self.repeated else shift_p_value(self.pooled())

    @property
    def units(self) -> np.ndarray:
        """Cells with one unit per truth: of an output that is judged n times, n verdicts of 1/n."""
        return self._units_of(self.cells)

    def _units_of(self, cells: np.ndarray) -> np.ndarray:
        if self.repeats != "judge":
            return cells.astype(float)
        return cells / np.maximum(cells.sum(axis=(-2, -1), keepdims=True), 1)

    def rows(self, system: str) -> Rows:
        """Count the rows of one system by pattern.

        Parameters
        ----------
        system : str
            One of `systems`.

        Returns
        -------
        Rows
            Counts of shape (n_patterns,), in units of truths.

        Raises
        ------
        InputError
            If there is no such system.
        """
        return Rows.of(self._units_of(self.cells[:, self._place(system)]))

    def system(self, name: str) -> Self:
        """Return the items of one system.

        Parameters
        ----------
        name : str
            One of `systems`.

        Returns
        -------
        Items
            The items that it has rows of.

        Raises
        ------
        InputError
            If there is no such system.
        """
        return self._of(name)

    def _of(self, *names: str) -> Self:
        """Some systems, with patterns of their own; kept, since every estimator asks for them."""
        if names not in self._parts:
            cells = self.cells[:, [self._place(name) for name in names]]
            flat = cells.reshape(len(cells), -1)
            seen = flat.any(axis=1)
            first, count = collapse(flat[seen], self.count[seen])
            patterns = flat[seen][first].reshape(-1, *cells.shape[1:])
            self._parts[names] = replace(self, cells=patterns, count=count, systems=names)
        return self._parts[names]

    @cached_property
    def _parts(self) -> dict[tuple[str, ...], Self]:
        return {}

    def pooled(self) -> Counts:
        """Count rows as if each were an item of its own: right if no item repeats.

        Returns
        -------
        Counts
            One entry per system; plain numbers of a single one.
        """
        cells = np.tensordot(self.count, self.cells, 1)
        about: dict[str, Any] = {"calibration": self.calibration, "pass_name": self.pass_name}
        if len(self.systems) == 1:
            return Counts(**six_counts(cells[0]), **about)
        return Counts(**six_counts(cells), **about, systems=self.systems)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        repeats: Repeats | None = None,
        item: str = "item",
        by: str | None = None,
        verdict: str = "verdict",
        truth: str = "truth",
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["fail", "drop"] | None = None,
    ) -> Self:
        """Read a log: one row per verdict.

        Parameters
        ----------
        table : dataframe
            Columns `item`, `verdict`, `truth` and, of several systems, `by`: pandas, polars, Arrow,
            or what an engine holds (DuckDB, Spark, polars lazily) and counts itself.
        calibration : {"random", "by_truth", "separate", "by_verdict"}
            How the labelled items or rows were chosen.
        repeats : {"system", "judge"}, optional
            What repeats if an item has several rows of one system; required then. With ``"judge"``
            a label on one row of an output holds for its other rows.
        item : str, default "item"
            Column that identifies the item; systems share items of one name.
        by : str, optional
            Column that names the system of each row.
        verdict, truth : str
            Columns with the judge's verdict, and with the human label (empty if there is none).
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none; see `Counts.from_frame`.
        unparsed : {"fail", "drop"}, optional
            What a row without a verdict is; required if there are any. See `Counts.from_frame`.

        Returns
        -------
        Items
            Collapsed to patterns.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, or `repeats` or `unparsed` is
            required and was not given.
        """
        design_of(declared(calibration), "Items", "plain", known=CALIBRATIONS)
        problem = f"repeats={repeats!r}: expected one of {REPEATS}"
        expect("prevalence.items", repeats in (None, *REPEATS), problem)
        how = Reading.of("prevalence.items", locals())
        return cls.of(Verdicts.read(table, how, repeats=repeats or "system"), repeats)

    @classmethod
    def of(cls, verdicts: Verdicts, repeats: Repeats | None = None) -> Self:
        """Take the passes and fails of one judge by item.

        Parameters
        ----------
        verdicts : Verdicts
            Of outputs that share items.
        repeats : {"system", "judge"}, optional
            What repeats; see `Items`.

        Returns
        -------
        Items
            Of the groups as systems.

        Raises
        ------
        InputError
            If no column said which item a row is of, or the rows allow no estimate.
        """
        with checking("prevalence.items.Items.of") as require:
            require(verdicts.item is not None, "these verdicts are not known by item: name item=")
            two = len(verdicts.classes) == len(verdicts.responses or ()) == 2
            require(two, f"expected passes and fails, got classes {list(verdicts.classes)}")
        systems = ("system",) if verdicts.groups == ("",) else verdicts.groups
        read = cls(
            verdicts.item_cells,
            verdicts.items,
            systems,
            verdicts.calibration,
            repeats,
            int(verdicts.unparsed.sum()),
            verdicts.spelling,
            verdicts.pass_name,
        )
        return keep_selection(read, verdicts)
