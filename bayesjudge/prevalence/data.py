"""`Counts`: six counts a system, and how the labelled items were chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.diagnosis import keep_selection
from bayesjudge.core.errors import check_several, checking, expect
from bayesjudge.core.item_keys import items_differ, keep_keys, keys_of
from bayesjudge.core.label_design import Identified, LabelDesign, declared, design_of
from bayesjudge.core.names import to_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import ROWS, fitted, how_many, rows
from bayesjudge.verdicts.arrays import whole_numbers
from bayesjudge.verdicts.groups import KINDS, plural
from bayesjudge.verdicts.reading import Reading, other_systems
from bayesjudge.verdicts.table import Verdicts
from bayesjudge.verdicts.view import View

#: External labels, in this order.
LABELS = ("correct_n", "correct_pass", "incorrect_n", "incorrect_fail")

#: Heads of what is printed: of the items without a label, of the good and of the bad ones.
HEADS = ("test", "passed", "good", "passed", "bad", "failed")


def _numbers_or_names(values: Sequence[Any]) -> tuple[Any, ...]:
    """Floats if all of them are, else text."""
    try:
        return tuple(map(float, values))
    except (TypeError, ValueError):
        return tuple(map(str, values))


def _require_possible(counts: Counts, require: Any) -> None:
    """Note what no data can be: parts above their totals, no labels, names that repeat."""

    def everywhere(ok: Any, problem: str, **values: Any) -> None:
        for i in np.flatnonzero(~np.atleast_1d(ok))[:3]:
            shown = ", ".join(f"{n}={np.atleast_1d(v)[i]}" for n, v in values.items())
            require(False, f"{shown}{counts.places[i]}: {problem}")

    def within(origin: str, total: str, n: Any, part: str, k: Any) -> None:
        values = {part: k, total: n}
        everywhere((k >= 0) & (k <= n), f"{part}{origin} must lie between 0 and {total}", **values)

    within("", "test_n", counts.test_n, "test_pass", counts.test_pass)
    labels = [np.asarray(getattr(counts, name)) for name in LABELS]
    origins = (
        [("", labels)]
        if counts.external_labels is None
        else [("", labels), (" among external labels", counts.external_labels)]
    )
    for origin, (good, hits, bad, caught) in origins:
        within(origin, "correct_n", good, "correct_pass", hits)
        within(origin, "incorrect_n", bad, "incorrect_fail", caught)
    everywhere(
        (np.asarray(counts.test_n) > 0)
        | (
            counts.design.same_items
            or (counts.covariates is not None and np.sum(counts.test_n) > 0)
        ),
        "every item has a human label and these are not the items asked about; give unlabelled "
        "items, or declare calibration='random' if the labelled ones are",
        test_n=counts.test_n,
    )
    _require_names(counts, require)


def _require_names(counts: Counts, require: Any) -> None:
    counts._require_groups(tuple(KINDS), require)
    if counts.covariates is not None:
        sizes = {name: len(values) for name, values in counts.covariates.items()}
        right = counts.adds_up and set(sizes.values()) == {len(counts.systems or ())}
        require(right, f"covariates have one value for each stratum (dim='stratum'), got {sizes}")


def require_counts(counts: Any, function: str) -> None:
    """Refuse another data class, naming the function that takes it."""
    module = type(counts).__module__.rpartition(".")[0]
    near = f"; use {module}.{function}" if module.startswith("bayesjudge.prevalence.") else ""
    right = isinstance(counts, Counts)
    expect(f"prevalence.{function}", right, f"expected Counts, got {type(counts).__name__}{near}")


def six_counts(cells: np.ndarray) -> dict[str, Any]:
    """By the names of the fields, of one table of truth (bad, good, no label) and verdict, or more.

    Whole numbers if there is one table, arrays of those along the first axis else.
    """
    bad, good, test = np.moveaxis(cells, -2, 0)
    columns = test.sum(-1), test[..., 1], good.sum(-1), good[..., 1], bad.sum(-1), bad[..., 0]
    return dict(
        zip(FIELDS, (array if array.ndim else int(array) for array in columns), strict=True)
    )


def _read_counts(verdicts: Verdicts) -> dict[str, np.ndarray]:
    """The six counts and what was not read, of each system or judge."""
    counts = six_counts(verdicts.counts.reshape(-1, 3, 2))
    return counts | {"unparsed": verdicts.unparsed.ravel()}


def _names_of(verdicts: Verdicts) -> tuple[str, ...] | None:
    if verdicts.response.shape[1] > 1:
        return tuple(verdicts.judges)
    return None if tuple(verdicts.groups) == ("",) else tuple(verdicts.groups)


def _labels_alone(verdicts: Verdicts, wanted: Sequence[str] | None) -> np.ndarray:
    """External labels in the order of the table's systems."""
    names = _names_of(verdicts)
    with checking("external_labels") as require:
        _require_labelled(verdicts, names, wanted, "are not among those of the table,", require)
    cells = _spread_over(_read_counts(verdicts), names, wanted)
    table = np.array([cells[name] for name in LABELS])
    return table[:, 0] if wanted is None else table


def _require_labelled(
    verdicts: Verdicts, names: Any, wanted: Any, words: str, require: Any
) -> None:
    rows = int(np.sum(_read_counts(verdicts)["test_n"]))
    missing = how_many(rows, "row", "have")
    require(rows == 0, "unlabelled-rows", missing=missing)
    strange = sorted(set(names or ()) - set(wanted or ()))
    require(not strange, f"{strange} {words} {list(wanted or ())}")


def _as_plain_design(verdicts: Verdicts) -> Verdicts:
    """Known propensities that are no more than another design, as that one.

    One propensity is a random sample; one for passes and one for fails are labels by verdict.
    """
    if verdicts.propensity is None:
        return verdicts
    counts = verdicts.counts[0].sum(axis=1)
    share = counts[:, 1] / counts.sum(axis=1)
    if verdicts.propensity.size == 1:
        return replace(verdicts.merged(), calibration="random")
    if verdicts.propensity.size == 2 and {*share.tolist()} == {0, 1}:
        return replace(verdicts.merged(), calibration="by_verdict")
    return verdicts


def _by_truth(bad: Any, caught: Any, good: Any, hits: Any, test: Any, passed: Any) -> np.ndarray:
    """Counts as an array by system, truth (bad, good, no label) and verdict (fail, pass)."""
    rows = [(caught, bad - caught), (good - hits, hits), (test - passed, passed)]
    return np.moveaxis(np.array(rows), -1, 0)


SPREAD = ("unparsed", "external_labels")
FIELDS = ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_n", "incorrect_fail")


#: What `Counts.with_labels` hands on to the reader.
WITH_LABELS = {
    *("verdict", "truth", "item", "by", "stratum"),
    *("pass_value", "fail_value", "missing_value", "unparsed"),
}


def _spread_over(
    values: Mapping[str, Any], have: Sequence[str] | None, want: Sequence[str] | None
) -> dict[str, Any]:
    """Counts in the order of other systems, 0 for those that have none."""
    numbers = {k: np.asarray(values[k]) for k in values if k in (*FIELDS, *SPREAD)}
    if want is None or have is None:
        return numbers
    places = [list(want).index(name) for name in have]
    counts = {}
    for name, array in numbers.items():
        counts[name] = np.zeros((*array.shape[:-1], len(want)), int)
        counts[name][..., places] = array
    return counts


@dataclass(frozen=True, eq=False, repr=False)
class Counts(View):
    """Verdicts on unlabelled test items, and on calibration items that people labelled.

    Every count is one number, or one number per system.

    Parameters
    ----------
    test_n, test_pass : int or array_like of int, shape (n_systems,)
        Items without a human label, and those of them that the judge passed.
    correct_n, correct_pass : int or array_like of int
        Items that people labelled good, and those of them that the judge passed.
    incorrect_n, incorrect_fail : int or array_like of int
        Items that people labelled bad, and those of them that the judge failed.
    calibration : {"random", "by_truth", "separate", "by_verdict", "known_propensity"}
        How the labelled items were chosen: it decides which estimators are right. The name of one
        of `DESIGNS`, or a `LabelDesign`. Without any label, an answer takes priors of the judge's
        rates (stated by its vendor, for example).
    systems : sequence of str, optional
        Names, where counts are one number per system.
    unparsed : int or array_like of int, default 0
        Items whose verdict could not be read; how they count is said by ``from_frame``.
    dim : {"system", "stratum", "judge"}
        What `systems` names: systems; strata of one system's items; or judges of the same items.
    external_labels : array_like of int, shape (4,) or (4, n_systems), optional
        ``correct_n``, ``correct_pass``, ``incorrect_n``, ``incorrect_fail`` of further labelled
        items that tell the judge's rates only: picked by truth, or from another data set or run.
    propensity : array_like of float, shape (n_strata,), optional
        With ``calibration="known_propensity"``: the probability in (0, 1] with which each item of
        a stratum was labelled.
    distinct : bool, default False
        Whether a column showed that each row is an item of its own; if not, results assume it.
    spelling : str, default ""
        How labels were read, in words, if not all of them were 1 and 0.
    pass_name : str, default ""
        The label that was read as pass, such as ``"unsafe"``, which sentences say in place of
        "pass"; empty if it is a word for it.
    covariates : mapping of str to sequence, optional
        Of strata, for `LinearErrorRates`: each covariate's value in each stratum. Numbers, or
        classes.
    label_systems : sequence of str, optional
        Systems that labels come from, if they are others than that of the items asked about.
    dropped : bool, default False
        Whether items without a verdict were left out: shares are of what the judge could judge.

    Raises
    ------
    InputError
        If a count is negative or exceeds its total, a system has no test items, no item of any
        system is labelled, shapes differ, or `calibration` is unknown.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> counts.test_pass / counts.test_n
    0.62
    """

    test_n: Any
    test_pass: Any
    correct_n: Any
    correct_pass: Any
    incorrect_n: Any
    incorrect_fail: Any
    calibration: str | LabelDesign
    systems: Sequence[str] | None = None
    unparsed: Any = 0
    dim: str = "system"
    external_labels: Any = None
    propensity: Any = None
    distinct: bool = False
    spelling: str = ""
    pass_name: str = ""
    covariates: Mapping[str, Sequence[Any]] | None = None
    label_systems: Sequence[str] = ()
    dropped: bool = False

    def __post_init__(self) -> None:
        names = None if self.systems is None else check_several(systems=self.systems)
        systems = None if names is None else tuple(map(str, names))
        object.__setattr__(self, "systems", systems)
        object.__setattr__(self, "label_systems", tuple(map(str, self.label_systems)))
        shape = () if systems is None else (len(systems),)
        if self.propensity is not None:
            self._set(propensity=array_of(float, "prevalence.Counts", propensity=self.propensity))
        if self.covariates is not None:
            read = {str(name): _numbers_or_names(v) for name, v in self.covariates.items()}
            object.__setattr__(self, "covariates", read)
        design_of(self.calibration)
        with checking("prevalence.Counts") as require:
            shapes = dict.fromkeys((*FIELDS, "unparsed"), shape)
            if self.external_labels is not None:
                shapes["external_labels"] = (len(LABELS), *shape)
            of_systems = "" if systems is None else f" for each of the {len(systems)} systems"
            for name, wanted in shapes.items():
                value = getattr(self, name)
                if name == "unparsed" and np.ndim(value) == 0:
                    value = np.broadcast_to(value, wanted)
                expected = f"one number{of_systems}" if wanted == shape else ""
                array = whole_numbers(name, value, wanted, require, expected)
                plain = array.shape == wanted == ()
                object.__setattr__(self, name, array.item() if plain else array)
        with checking("prevalence.Counts") as require:
            _require_possible(self, require)

    def __repr__(self) -> str:
        columns = [getattr(self, name) for name in FIELDS]
        names = [""] if self.systems is None else list(self.systems)
        cells = [[f"{self.dim}", *HEADS]] if self.systems else [["", *HEADS]]
        numbers = np.transpose([np.atleast_1d(column)[:ROWS] for column in columns])
        cells += [[str(n), *map(str, row)] for n, row in zip(names, numbers.tolist(), strict=False)]
        entries = f"{len(names):,} {plural(self.kind)}, " if self.systems else ""
        items = int(np.sum(self.test_n) + np.sum(self.labelled_n))
        head = f"Counts of {items:,} items, {entries}labels {self.design.name}"
        external = 0 if self.external_labels is None else int(self.external_labels[::2].sum())
        more = [f"{external:,} external labels"] if external else []
        more += [f"{n:,} unparsed" for n in [int(np.sum(self.unparsed))] if n]
        spelled = [self.spelling] if self.spelling else []
        return fitted([", ".join([head, *more]), *spelled, *rows(cells, len(names))])

    @cached_property
    def verdicts(self) -> Verdicts:
        """The patterns of verdicts and labels that these counts are of."""
        labelled_here, external = self._tables
        return (
            labelled_here if self.external_labels is None else labelled_here.with_others(external)
        )

    @property
    def _tables(self) -> tuple[Verdicts, Verdicts]:
        """The items that the estimate is about, with those labelled, and the external labels."""
        good, hits, bad, caught = (np.atleast_1d(getattr(self, name)) for name in LABELS)
        test, passed = np.atleast_1d(self.test_n), np.atleast_1d(self.test_pass)
        cells = _by_truth(bad, caught, good, hits, test, passed)
        external = np.zeros((len(LABELS), len(test)), np.int64)
        if self.external_labels is not None:
            external = self.external_labels.reshape(external.shape)
        good, hits, bad, caught = external
        others = _by_truth(bad, caught, good, hits, 0 * test, 0 * test)
        about: dict[str, Any] = {"groups": self.systems or ("",), "dim": self.dim}
        about |= {"calibration": self.calibration, "propensity": self.propensity}
        about |= {"covariates": self.covariates, "distinct": self.distinct}
        remarks: dict[str, Any] = {"spelling": self.spelling, "pass_name": self.pass_name}
        remarks |= {"unparsed": np.reshape(self.unparsed, (-1, 1)), "dropped": self.dropped}
        verdicts = Verdicts.from_counts(cells, **about, **remarks)
        keys = keys_of(self)
        if keys is not None:
            keep_keys(verdicts, keys.hashes)
        return verdicts, Verdicts.from_counts(others, **about)

    @property
    def all_labels(self) -> dict[str, Any]:
        """Labelled items by the names of the fields, with the external ones."""
        labels = {name: getattr(self, name) for name in LABELS}
        if self.external_labels is None:
            return labels
        pairs = zip(LABELS, self.external_labels, strict=True)
        return {name: labels[name] + more for name, more in pairs}

    @property
    def rate_labels(self) -> dict[str, Any]:
        """Those of which a share tells a rate of the judge: not the ones chosen by verdict."""
        if "error_rates" in self.design.identifies or self.external_labels is None:
            return self.all_labels
        return dict(zip(LABELS, self.external_labels, strict=True))

    @property
    def predictive(self) -> bool:
        """Whether labels tell predictive values only: by verdict, and no external ones."""
        return "error_rates" not in self.design.identifies and self.external_labels is None

    @property
    def labels_tell_prevalence(self) -> bool:
        """Whether labels tell the prevalence and the judge's rates at once.

        To a model of the judge's rates, labels by verdict are as good as a random sample: both
        likelihoods are one function of prevalence and rates.
        """
        return self.design.same_items and not self.predictive

    def identifies(self, what: Identified) -> bool:
        """Tell whether the labels estimate something without bias.

        Parameters
        ----------
        what : {"prevalence", "error_rates", "predictive_values"}
            See `LabelDesign`.

        Returns
        -------
        bool
            By the label design, or by external labels, which tell the judge's error rates.
        """
        external = what == "error_rates" and self.external_labels is not None
        return external or what in self.design.identifies

    @property
    def takes_labels_as_right(self) -> bool:
        """Whether there is a label, which is then the truth."""
        return not self.unlabelled

    @property
    def has_quadrature(self) -> bool:
        """Whether the posterior is known by quadrature: not of a design with its own likelihood."""
        return self.propensity is None and self.design.likelihood is None

    @property
    def shares(self) -> Any:
        """Share of each stratum among the items that the estimate is about."""
        items = np.asarray(self.test_n)
        if self.design.same_items:
            items = items + self.labelled_n
        return items / items.sum()

    @property
    def labelled_n(self) -> Any:
        """Items with a human label, without the external ones."""
        return self.correct_n + self.incorrect_n

    @property
    def labelled_pass(self) -> Any:
        """Items with a human label that the judge passed."""
        return self.correct_pass + self.incorrect_n - self.incorrect_fail

    @property
    def unlabelled(self) -> bool:
        """Whether no item of any system has a human label."""
        return not np.any(self.all_labels["correct_n"] + self.all_labels["incorrect_n"])

    @property
    def unlabelled_systems(self) -> tuple[str, ...]:
        """Systems of which no item has a human label."""
        labels = np.atleast_1d(self.all_labels["correct_n"] + self.all_labels["incorrect_n"])
        return tuple(s for s, n in zip(self.systems or (), labels, strict=False) if n == 0)

    def system(self, name: str) -> Self:
        """Return the counts of one system.

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
            If there is no such system.
        """
        i = self._place(name)
        return self._reduced(lambda values: values[..., i])

    def __add__(self, other: Self) -> Self:
        """Add counts of further items, of these systems or of new ones.

        Items of both are refused where both know their items: read from a table in memory, with a
        column that identifies them. If not, results assume that each row is an item.
        """
        if not isinstance(other, Counts):
            return NotImplemented
        with checking("prevalence.Counts") as require:
            mine, theirs = str(self.calibration), str(other.calibration)
            require(mine == theirs, f"calibration must be the same, got {mine!r} and {theirs!r}")
            judges = self.dim != "judge" or self.systems == other.systems
            require(judges, f"judges must be the same, got {self.systems} and {other.systems}")
        differ = items_differ(self, other)
        (first, external), (others, more) = (table._tables for table in (self, other))
        asked = self.external_labels is not None or other.external_labels is not None
        return type(self).of(
            first.joined(others, "prevalence.Counts", differ),
            external.joined(more, "prevalence.Counts", differ) if asked else None,
            tuple(dict.fromkeys((*self.label_systems, *other.label_systems))),
        )

    def with_labels(self, labels: Any, *, of_counted_items: bool, **columns: Any) -> Self:
        """Add a batch of labelled items.

        Parameters
        ----------
        labels : dataframe
            Rows with a verdict and a human label, as in `from_frame`.
        of_counted_items : bool
            Whether the items are some that are counted already, as unlabelled ones, or more items.
        **columns
            ``verdict``, ``truth``, ``by``, ``stratum``, ``item``, ``pass_value``, ``fail_value``,
            ``missing_value`` and ``unparsed``, as in `from_frame`.

        Returns
        -------
        Counts
            As if all had been read at once.

        Raises
        ------
        InputError
            If a row has no label, systems are unknown, or fewer such items are counted than were
            labelled.

        Examples
        --------
        >>> import pandas as pd
        >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="random")
        >>> batch = pd.DataFrame({"verdict": [1, 0], "truth": [1, 1]})
        >>> more = counts.with_labels(batch, of_counted_items=True)
        >>> more.test_n, more.test_pass, more.correct_n
        (998, 619, 102)
        """
        with checking("prevalence.Counts.with_labels") as require:
            same = self.design.same_items or not of_counted_items
            require(
                same,
                f"calibration={self.design.name!r}: the labelled items are not some of the counted "
                "ones; of_counted_items=False",
            )
            known = self.propensity is None and self.dim != "judge"
            require(known, "of several judges, or with propensities, read everything at once")
        kind = "stratum" if self.adds_up else "by"
        with checking("prevalence.Counts.with_labels") as require:
            unknown = sorted(set(columns) - WITH_LABELS)
            require(not unknown, f"unknown arguments {unknown}; there are {sorted(WITH_LABELS)}")
            wanted = self.systems is not None
            require(
                wanted == (columns.get(kind) is not None),
                f"{kind}= (a column) belongs to counts of several systems, and to no others",
            )
        subject = "prevalence.Counts.with_labels"
        how = Reading(subject=subject, calibration=self.calibration, **columns)
        read = Verdicts.read(labels, how, guess_items=True)
        names = _names_of(read)
        with checking(subject) as require:
            _require_labelled(read, names, self.systems, "are not among", require)
        batch = _spread_over(_read_counts(read), names, self.systems)
        if self.systems is None:
            batch = {name: value[0] for name, value in batch.items()}
        mine = {name: np.asarray(getattr(self, name)) for name in (*FIELDS, "unparsed")}
        total = {name: mine[name] + batch[name] for name in mine}
        if of_counted_items:
            passed = batch["correct_pass"] + batch["incorrect_n"] - batch["incorrect_fail"]
            total["test_n"] = mine["test_n"] - batch["correct_n"] - batch["incorrect_n"]
            total["test_pass"] = mine["test_pass"] - passed
            total["unparsed"] = mine["unparsed"]
        return replace(self, **total)

    def merged(self) -> Self:
        """Add all systems or strata up.

        Returns
        -------
        Counts
            With plain numbers.
        """
        return self if self.systems is None else self._reduced(lambda values: values.sum(axis=-1))

    def _reduced(self, pick: Callable[[np.ndarray], Any]) -> Self:
        values: dict[str, Any] = {f: int(pick(getattr(self, f))) for f in (*FIELDS, "unparsed")}
        # within a stratum of one propensity, labels are a random sample
        design = "random" if self.propensity is not None else self.calibration
        external_labels = None if self.external_labels is None else pick(self.external_labels)
        about: dict[str, Any] = {"external_labels": external_labels, "distinct": self.distinct}
        about |= {"spelling": self.spelling, "pass_name": self.pass_name}
        about |= {"label_systems": self.label_systems, "dropped": self.dropped}
        return type(self)(**values, calibration=design, **about)

    @classmethod
    def from_counts(
        cls, table: Any, *, calibration: str | LabelDesign | None = None, system: str | None = None
    ) -> Self:
        """Read a table of counts, one row per system.

        Parameters
        ----------
        table : pandas.DataFrame
            Columns named as the six counts.
        calibration : str
            How the labelled items were chosen: the name of one of `DESIGNS`.
        system : str, optional
            Column of names; the index by default.

        Returns
        -------
        Counts
            One entry per row.

        Raises
        ------
        InputError
            If a column is missing or a count is impossible.
        """
        calibration = declared(calibration)
        wanted = [*FIELDS, *([system] if system else [])]
        missing = [column for column in wanted if column not in table.columns]
        problem = f"no columns {missing}; it has {list(table.columns)}"
        expect("table of counts", not missing, problem)
        names = to_names(table[system] if system else table.index.to_series(), system or "index")
        values: dict[str, Any] = {field: table[field].to_numpy() for field in FIELDS}
        return cls(**values, calibration=calibration, systems=tuple(names))

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        verdict: str | Sequence[str] = "verdict",
        truth: str = "truth",
        by: str | None = None,
        stratum: str | None = None,
        covariates: Sequence[str] | None = None,
        propensity: str | None = None,
        item: str | None = None,
        external_labels: Any = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["fail", "drop"] | None = None,
    ) -> Self:
        """Count the rows of a table: those with a human label calibrate, the others are the test.

        Parameters
        ----------
        table : dataframe
            One row per item; pandas, polars, Arrow, DuckDB or Spark, counted where they live.
        calibration : str
            How the labelled rows were chosen: the name of one of `DESIGNS`.
        verdict : str or sequence of str
            Column with the judge's verdict; or one column per judge, of several judges of the same
            items.
        truth : str
            Column with the human label, empty where there is none.
        by, stratum : str, optional
            Column that names the system, or the stratum (any covariate in classes), of each row.
        covariates : sequence of str, optional
            Columns of numbers or classes, for `LinearErrorRates`: rows that agree in all of them
            are one stratum.
        propensity : str, optional
            With ``calibration="known_propensity"``: column with the probability with which each row
            was to be labelled, whether it was or not. Rows of one propensity are one stratum, in
            which labels are a random sample. Where all rows have one propensity the counts are
            ``"random"``, and where all passes have one and all fails another, ``"by_verdict"``.
        item : str, optional
            Column that identifies the item of a row. An item with several rows of one system is an
            error that names `bayesjudge.prevalence.items`, which reads such tables; so is one in a
            column called ``item``, ``id``, ``sample_id``, ``question_id``, ``doc_id`` and the like
            if no column is named. Without any, results assume that each row is an item.
        external_labels : dataframe, optional
            More labelled rows with the same columns, chosen by truth or from another data set or
            run: they tell the judge's rates and nothing else.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0, true/false, yes/no, pass/fail, good/bad,
            correct/incorrect and C/I are understood without, in any case; others are refused.
        unparsed : {"fail", "drop"}, optional
            What to do with rows that have no verdict; required where there are any. ``"fail"``
            takes them for the judge's fails, which the calibration then corrects like any error;
            ``"drop"`` leaves them out: right if good and bad items fail to parse alike.

        Returns
        -------
        Counts
            One number each, or one per system, stratum or judge.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, or the counts allow no estimate.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"verdict": [1, 0, 1, 1, 0], "truth": [1, 0, 0, None, None]})
        >>> counts = Counts.from_frame(table, calibration="random")
        >>> counts.test_n, counts.test_pass, counts.labelled_n
        (2, 1, 3)
        """
        how = Reading.of("prevalence.Counts.from_frame", locals())
        mixed = propensity is not None and external_labels is not None
        expect(how.subject, not mixed, "known propensities take no external labels")
        verdicts = Verdicts.read(table, how, guess_items=True)
        if external_labels is None:
            return cls.of(verdicts, label_systems=other_systems([table], how))
        external = Verdicts.read(external_labels, how, guess_items=True)
        systems = other_systems([table, external_labels], how)
        return cls.of(verdicts, external, label_systems=systems)

    @classmethod
    def of(
        cls,
        verdicts: Verdicts,
        external_labels: Verdicts | None = None,
        label_systems: Sequence[str] = (),
    ) -> Self:
        """Count the passes and fails of one judge, or of each judge of the same outputs.

        Parameters
        ----------
        verdicts : Verdicts
            Of two classes, without items that outputs share.
        external_labels : Verdicts, optional
            More labelled outputs, which tell the judge's rates and nothing else.
        label_systems : sequence of str, optional
            Systems that labels come from, if they are others than that of the items asked about.

        Returns
        -------
        Counts
            One number each, or one per group or judge.

        Raises
        ------
        InputError
            If there are other classes, or several groups and several judges, or the counts allow
            no estimate.
        """
        with checking("prevalence.Counts.of") as require:
            two = len(verdicts.classes) == len(verdicts.responses or ()) == 2
            require(two, f"expected passes and fails, got classes {list(verdicts.classes)}")
            words = "labels of several people are read by prevalence.people.PeopleCounts"
            require(
                not verdicts.people, f"{list(verdicts.people)}: {words}; here name one (truth=)"
            )
            single = verdicts.response.shape[1] == 1 or len(verdicts.groups) == 1
            require(single, "several groups and several judges: take a part of them")
        plain = _as_plain_design(verdicts)
        names, values = _names_of(plain), _read_counts(plain)
        external = None if external_labels is None else _labels_alone(external_labels, names)
        counts = cls(
            **(values if names else {name: int(value[0]) for name, value in values.items()}),
            calibration=plain.calibration,
            systems=names,
            dim="judge" if plain.response.shape[1] > 1 else plain.dim,
            external_labels=external,
            propensity=plain.propensity,
            distinct=plain.distinct,
            spelling=plain.spelling,
            pass_name=plain.pass_name,
            covariates=plain.covariates,
            label_systems=label_systems,
            dropped=plain.dropped,
        )
        keys = keys_of(verdicts)
        if keys is not None:
            keep_keys(counts, keys.hashes)
        return keep_selection(counts, verdicts)
