"""What the estimators see: six counts a system, and how the labelled items were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.prevalence.reading import count_cells, require_calibration

FIELDS = ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_n", "incorrect_fail")


@dataclass(frozen=True, eq=False)
class Counts:
    """Verdicts on unlabelled test items, and on calibration items that people labelled.

    Every count is one number, or one number a system.

    Parameters
    ----------
    test_n, test_pass : int or array_like of int, shape (n_systems,)
        Items without a human label, and those of them that the judge passed.
    correct_n, correct_pass : int or array_like of int
        Items that people labelled good, and those of them that the judge passed.
    incorrect_n, incorrect_fail : int or array_like of int
        Items that people labelled bad, and those of them that the judge failed.
    calibration : {"random", "by_truth", "separate", "by_verdict"}
        How the labelled items were chosen: it decides which estimators are right. See
        `CALIBRATIONS`.
    systems : sequence of str, optional
        Names, where counts are one number a system.
    unparsed : int or array_like of int, default 0
        Items whose verdict could not be read; how they count is said by ``from_frame``.

    Raises
    ------
    InputError
        Where a count is negative or exceeds its total, a system has no test items, no item of any
        system is labelled, shapes differ, or `calibration` is not one of the four.

    Examples
    --------
    >>> counts = Counts(test_n=1000, test_pass=620, correct_n=100, correct_pass=90,
    ...                 incorrect_n=100, incorrect_fail=70, calibration="by_truth")
    >>> counts.test_pass / counts.test_n
    0.62
    """

    test_n: Any
    test_pass: Any
    correct_n: Any
    correct_pass: Any
    incorrect_n: Any
    incorrect_fail: Any
    calibration: str
    systems: Sequence[str] | None = None
    unparsed: Any = 0

    def __post_init__(self) -> None:
        systems = None if self.systems is None else tuple(map(str, self.systems))
        object.__setattr__(self, "systems", systems)
        shape = () if systems is None else (len(systems),)
        with checking("prevalence.Counts") as require:
            require_calibration(self.calibration, require)
            for name in (*FIELDS, "unparsed"):
                object.__setattr__(self, name, _whole(name, getattr(self, name), shape, require))
        with checking("prevalence.Counts") as require:
            self._check(require)

    def _check(self, require: Any) -> None:
        def everywhere(ok: Any, problem: str, *names: str) -> None:
            bad = np.flatnonzero(~np.atleast_1d(ok))
            for i in bad[:3]:
                values = ", ".join(f"{n}={np.atleast_1d(getattr(self, n))[i]}" for n in names)
                require(False, f"{values}{self._where(i)}: {problem}")

        for total, part in (
            ("test_n", "test_pass"),
            ("correct_n", "correct_pass"),
            ("incorrect_n", "incorrect_fail"),
        ):
            n, k = getattr(self, total), getattr(self, part)
            everywhere((k >= 0) & (k <= n), f"{part} must lie between 0 and {total}", part, total)
        everywhere(
            np.asarray(self.test_n) > 0,
            "every item has a human label, so there is nothing to correct; report the labels with "
            "bayesjudge.prevalence.wilson",
            "test_n",
        )
        # among several systems one may be without labels: it can borrow from the others
        everywhere(
            (np.asarray(self.labelled_n) > 0) | np.any(np.asarray(self.labelled_n) > 0),
            "no item has a human label, so the judge's errors are unknown; label some",
            "correct_n",
            "incorrect_n",
        )
        if self.systems is not None:
            repeated = pd.Index(self.systems)[pd.Index(self.systems).duplicated()].tolist()
            require(not repeated, f"systems must differ, these repeat: {repeated}")

    def _where(self, i: int) -> str:
        return "" if self.systems is None else f" in system {self.systems[i]!r}"

    @property
    def labelled_n(self) -> Any:
        """Items with a human label."""
        return self.correct_n + self.incorrect_n

    @property
    def labelled_pass(self) -> Any:
        """Items with a human label that the judge passed."""
        return self.correct_pass + self.incorrect_n - self.incorrect_fail

    @property
    def unlabelled_systems(self) -> tuple[str, ...]:
        """Systems of which no item has a human label."""
        return tuple(
            name
            for name, n in zip(self.systems or (), np.atleast_1d(self.labelled_n), strict=False)
            if n == 0
        )

    def system(self, name: str) -> Self:
        """Take one system out.

        Parameters
        ----------
        name : str
            One of `systems`.

        Returns
        -------
        Counts
            With plain numbers.

        Raises
        ------
        InputError
            Where there is no such system.
        """
        systems = self.systems or ()
        with checking("prevalence.Counts") as require:
            require(name in systems, f"no system {name!r}; there are {list(systems)}")
        i = list(systems).index(name)
        values: dict[str, Any] = {f: int(getattr(self, f)[i]) for f in (*FIELDS, "unparsed")}
        return type(self)(**values, calibration=self.calibration)

    @classmethod
    def from_counts(cls, table: Any, *, calibration: str, system: str | None = None) -> Self:
        """Read a table of counts, one row a system.

        Parameters
        ----------
        table : pandas.DataFrame
            Columns ``test_n``, ``test_pass``, ``correct_n``, ``correct_pass``, ``incorrect_n``,
            ``incorrect_fail``.
        calibration : {"random", "by_truth", "separate", "by_verdict"}
            How the labelled items were chosen.
        system : str, optional
            Column of names; the index by default.

        Returns
        -------
        Counts
            One entry a row.

        Raises
        ------
        InputError
            Where a column is missing or a count is impossible.
        """
        wanted = [*FIELDS, *([system] if system else [])]
        with checking("table of counts") as require:
            missing = [column for column in wanted if column not in table.columns]
            require(not missing, f"no columns {missing}; it has {list(table.columns)}")
        names = table[system] if system else table.index
        values: dict[str, Any] = {field: table[field].to_numpy() for field in FIELDS}
        return cls(**values, calibration=calibration, systems=tuple(map(str, names)))

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str,
        verdict: str = "verdict",
        truth: str = "truth",
        by: str | None = None,
        item: str | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["fail", "drop"] | None = None,
    ) -> Self:
        """Count the rows of a table: those with a human label calibrate, the others are the test.

        Parameters
        ----------
        table : dataframe
            One row an item; pandas, polars, Arrow, DuckDB or Spark. Rows are counted where they
            live, so length does not matter.
        calibration : {"random", "by_truth", "separate", "by_verdict"}
            How the labelled rows were chosen.
        verdict, truth : str
            Columns with the judge's verdict, and with the human label (empty where there is none).
        by : str, optional
            Column that names the system of each row.
        item : str, optional
            Column that identifies a row within its system; repeated ones are an error.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0 and true/false are understood without.
        unparsed : {"fail", "drop"}, optional
            What to do with rows that have no verdict; required where there are any. ``"fail"``
            treats "not a readable pass" as the judge's fail, which the calibration then corrects
            like any other error; ``"drop"`` leaves the rows out, which is right only if a verdict
            fails to parse regardless of whether the item is good.

        Returns
        -------
        Counts
            One number each, or one a system where `by` is given.

        Raises
        ------
        InputError
            Where a column is missing, labels are not understood, items repeat, or the counts allow
            no estimate.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"verdict": [1, 0, 1, 1, 0], "truth": [1, 0, 0, None, None]})
        >>> counts = Counts.from_frame(table, calibration="random")
        >>> counts.test_n, counts.test_pass, counts.labelled_n
        (2, 1, 3)
        """
        summed, systems = count_cells(
            table,
            calibration=calibration,
            columns=(verdict, truth),
            by=by,
            item=item,
            meanings=(pass_value, fail_value, missing_value),
            unparsed=unparsed,
        )
        return cls(**summed, calibration=calibration, systems=systems)


def _whole(name: str, value: Any, shape: tuple[int, ...], require: Any) -> Any:
    """Whole numbers of the right shape: plain where there are no systems, frozen arrays else."""
    array = np.asarray(value)
    if name == "unparsed" and array.shape == ():
        array = np.broadcast_to(array, shape)
    numeric = np.issubdtype(array.dtype, np.number)
    whole = numeric and bool(np.all(array == np.floor(np.where(np.isfinite(array), array, 0.5))))
    require(whole, f"{name}={value!r} must be whole numbers")
    expected = "one number" if shape == () else f"one number for each of the {shape[0]} systems"
    require(array.shape == shape, f"{name} has shape {array.shape}, expected {expected}")
    if not whole or array.shape != shape:
        return value
    if shape == ():
        return int(array)
    frozen = array.astype(np.int64)
    frozen.flags.writeable = False
    return frozen
