"""`Verdicts`: distinct patterns of verdicts and labels, each with a count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.core.diagnosis import OF_ROWS, SELECTION
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.item_keys import hash_items, items_differ, keep_keys, keys_of, set_fields
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.tables import each_name
from bayesjudge.verdicts.arrays import require_places
from bayesjudge.verdicts.labels import MISSING, PASS_OR_FAIL
from bayesjudge.verdicts.reading import (
    KEPT,
    OF_VERDICTS,
    REPEATS,
    TRUTHS,
    UNLABELLED,
    VERDICTS,
    Reading,
    one_row_an_output,
    read_item_cells,
    read_table,
)
from bayesjudge.verdicts.row_order import changes_midway
from bayesjudge.verdicts.scores import Scale, read_scores
from bayesjudge.verdicts.selection import how_labels_came

#: What each pattern has.
ROWS = ("response", "truth", "group", "count", "about")


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Outputs by what judges and people said of them: equal ones are one pattern with a count.

    A value: it knows its patterns, coordinates and label design; what is asked of it lives with the
    question.

    Parameters
    ----------
    response : array_like of int, shape (n_patterns, n_columns)
        Index into `responses` of each verdict; -1 if there is none.
    truth : array_like of int, shape (n_patterns,)
        Index into `classes` of what people said; -1 if nobody did.
    group : array_like of int, shape (n_patterns,)
        Index into `groups`.
    count : array_like of int, shape (n_patterns,)
        Outputs of each pattern; with `item`, outputs of one item of its kind.
    calibration : str or LabelDesign
        How the labelled outputs were chosen.
    groups : sequence of str, default ("",)
        Systems, strata or periods, as `dim` says.
    judges : sequence of str, default ("judge",)
        Who gave the verdicts.
    classes : sequence of str or float, default ("fail", "pass")
        What can be true of an output; of numeric truths, the numbers.
    responses : sequence of str or float, optional
        What can be said of it: `classes` by default; of scores, the numbers.
    judge_of_column : array_like of int, shape (n_columns,), optional
        Index into `judges`, if a judge looked several times; by default one column per judge.
    about : array_like of bool, shape (n_patterns,), optional
        Whether the estimate is about these outputs, so that their truths tell its shares. By
        default labelled outputs are if the label design says so, and all others are.
    item : array_like of int, shape (n_patterns,), optional
        If outputs share items: the kind of item that each pattern belongs to.
    items : array_like of int, shape (n_kinds,), optional
        Items of each kind.
    dim : str, default "system"
        What `groups` names: ``"system"``, ``"stratum"``, ``"generator"`` …
    propensity : array_like of float, shape (n_groups,), optional
        With ``calibration="known_propensity"``: the probability in (0, 1] with which each output of
        a stratum was labelled.
    covariates : mapping of str to sequence, optional
        Of strata: each covariate's value in each.
    unparsed : array_like of int, shape (n_groups, n_columns), default 0
        Verdicts that could not be read; how they count is said where a table is read.
    distinct : bool, default False
        Whether a column showed that each row is an output of its own; if not, results assume it.
    spelling : str, default ""
        How labels were read, in words, if not all of them were 1 and 0.
    pass_name : str, default ""
        The label that was read as pass, such as ``"unsafe"``, which sentences say in place of
        "pass"; empty if it is a word for it.
    scale : tuple of float or "log_odds", optional
        Of scores: the lowest and highest that the judge can give, or that they are log-odds.
    truth_scale : tuple of float, optional
        Of numeric truths: the lowest and highest that people can give.
    grouped : int, default 0
        Outputs without a label whose scores were too many to keep each: they stand at means.
    rows : int, default 0
        Rows whose means by item the scores are, if an item had several.
    people : sequence of str, default ()
        Those of `judges` who are people, each with errors of their own: then `truth` is what was
        adjudicated, and -1 if nothing was.
    dropped : bool, default False
        Whether outputs without a verdict were left out: shares are of what the judge could judge.

    Raises
    ------
    InputError
        If shapes or indices do not fit, names repeat, or the label design is unknown.

    Examples
    --------
    >>> Verdicts([[1], [0], [1]], [1, -1, -1], [0, 0, 0], [2, 3, 4], "random").unlabelled_n
    7
    """

    response: Any
    truth: Any
    group: Any
    count: Any
    calibration: str | LabelDesign
    groups: Sequence[str] = ("",)
    judges: Sequence[str] = ("judge",)
    classes: Sequence[Any] = PASS_OR_FAIL
    responses: Sequence[Any] | None = None
    judge_of_column: Any = None
    about: Any = None
    item: Any = None
    items: Any = None
    dim: str = "system"
    propensity: Any = None
    covariates: Mapping[str, Sequence[Any]] | None = None
    unparsed: Any = 0
    distinct: bool = False
    spelling: str = ""
    pass_name: str = ""
    scale: Scale | None = None
    truth_scale: tuple[float, float] | None = None
    grouped: int = 0
    rows: int = 0
    people: Sequence[str] = ()
    dropped: bool = False

    def __post_init__(self) -> None:
        whole = partial(array_of, int, "Verdicts")
        response = whole(response=self.response)
        response = response[:, None] if response.ndim == 1 else response
        columns = self.judge_of_column
        truth = whole(truth=self.truth)
        values = {
            "response": response,
            "truth": truth,
            "group": whole(group=self.group),
            "count": whole(count=self.count),
            "judge_of_column": np.arange(response.shape[1])
            if columns is None
            else whole(judge_of_column=columns),
            "about": (truth == MISSING) | self.design.same_items
            if self.about is None
            else np.asarray(self.about, bool),
        }
        values["unparsed"] = np.broadcast_to(
            whole(unparsed=self.unparsed), (len(self.groups), response.shape[1])
        )
        if self.propensity is not None:
            values["propensity"] = array_of(float, "Verdicts", propensity=self.propensity)
        if self.item is not None:
            values |= {name: whole(**{name: getattr(self, name)}) for name in ("item", "items")}
        set_fields(self, **values)
        for name in ("groups", "judges", "classes", "people"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        said = self.classes if self.responses is None else self.responses
        object.__setattr__(self, "responses", tuple(said))
        with checking("Verdicts") as require:
            self._check(require)

    def _check(self, require: Any) -> None:
        rows, columns = self.response.shape
        for name, length, low, high in (
            ("response", rows, MISSING, len(self.responses or ())),
            ("truth", rows, MISSING, len(self.classes)),
            ("group", rows, 0, len(self.groups)),
            ("count", rows, 0, np.inf),
            ("about", rows, 0, 2),
            ("item", rows, 0, np.size(self.items)),
            ("judge_of_column", columns, 0, len(self.judges)),
        ):
            array = getattr(self, name)
            if array is not None:
                require_places(name, array, length, low, high, require)
        for name in ("groups", "judges"):
            names = getattr(self, name)
            if names != ("",):
                require_names(names, name, require)
        strange = [name for name in self.people if name not in self.judges]
        require(not strange, f"people {strange} are not among the judges {list(self.judges)}")

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        verdict: str | Sequence[str] = "verdict",
        truth: str | Sequence[str] | None = "truth",
        adjudicated: str | None = None,
        rater: str | None = None,
        judge: str | None = None,
        item: str | None = None,
        repeats: Literal["system", "judge"] | None = None,
        repeated: Literal["error", "keep"] = "error",
        by: str | None = None,
        stratum: str | None = None,
        covariates: Sequence[str] | None = None,
        propensity: str | None = None,
        classes: Sequence[Any] | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["verdict", "fail", "drop"] | None = None,
        score: str | None = None,
        scale: Scale | None = None,
        truth_scale: tuple[float, float] | None = None,
        truth_from: float | None = None,
        unscored: Literal["drop"] | None = None,
    ) -> Self:
        """Read a table of any kind of verdicts, where it lives.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark. What an engine holds (DuckDB, Spark, polars
            lazily) is counted there.
        calibration : str or LabelDesign
            How the labelled outputs were chosen: the name of one of
            `bayesjudge.prevalence.DESIGNS`, or a design of your own.
        verdict : str or sequence of str
            Column with the judge's verdict; of several judges of the same outputs a column each, in
            which a verdict may be missing; with `judge` the column of votes.
        truth : str or sequence of str, optional
            Column with the human label, empty where there is none; None if there are no labels. Of
            several people a column each: what they said is then no truth, but one more verdict.
        adjudicated : str, optional
            Of several people: column with the label that was settled in the end, where one was.
        rater : str, optional
            Of a table with a row per person: column that names the person whose label `truth` is;
            it takes `item`, and is read into memory.
        judge : str, optional
            Column that names the judge, of a table with a row per vote; it takes `item`.
        item : str, optional
            Column that identifies the item of a row.
        repeats : {"system", "judge"}, optional
            That rows may share items, and what repeats: the system, so that each row is an output
            with a truth of its own, or the judge, who saw one output several times.
        repeated : {"error", "keep"}, default "error"
            What to do with several votes of a judge on one output, of a row per vote.
        by, stratum : str, optional
            Column that names the system, or the stratum, of each row.
        covariates : sequence of str, optional
            Columns of numbers or classes: rows that agree in all of them are one stratum.
        propensity : str, optional
            With ``calibration="known_propensity"``: column with the probability with which each row
            was to be labelled.
        classes : sequence, optional
            What can be true, if it is not pass and fail; an empty one takes the labels that occur.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0, true/false, yes/no, pass/fail, good/bad,
            correct/incorrect and C/I are understood without, in any case; others are refused.
        unparsed : {"fail", "drop", "verdict"}, optional
            What rows without a verdict of the only judge are; required where there are any. Fails
            (of passes and fails), a verdict of their own (which `ClassCounts` takes), or left out:
            then shares are of what the judge could judge.
        score : str, optional
            Column with the judge's numbers, in place of verdicts; it takes `scale`. Rows of one
            item count as one, with the means of their scores and labels.
        scale : tuple of float or "log_odds", optional
            Lowest and highest score that the judge can give.
        truth_scale : tuple of float, optional
            Lowest and highest number that people can give; labels are pass and fail without.
        truth_from : float, optional
            The lowest human number that is a pass.
        unscored : {"drop"}, optional
            What rows without a score are; required where there are any.

        Returns
        -------
        Verdicts
            Collapsed to patterns.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, or an argument is required and was
            not given.

        Examples
        --------
        >>> import pandas as pd
        >>> log = pd.DataFrame({"verdict": [1, 0, 1, 1, 0], "truth": [1, 0, 0, None, None]})
        >>> table = Verdicts.from_frame(log, calibration="random")
        >>> table.labelled_n, table.unlabelled_n
        (3, 2)
        """
        several = judge is not None or each_name(verdict) != [verdict]
        subject = "Verdicts.from_frame"
        with checking(subject) as require:
            words = "score= and scale= come together, of one judge, without classes= or repeats="
            require((score is None) == (scale is None), words)
            others = several or not (classes is repeats is unparsed is None)
            require(score is None or not others, words)
        given = locals() | {"verdict": verdict if score is None else score}
        given["unparsed"] = KEPT if several and unparsed is None else unscored or unparsed
        if unparsed == "verdict" and classes is None and not several:
            given["ways"] = (*OF_VERDICTS, unparsed)
        how = Reading.of(subject, given, several_people=True)
        with checking(how.subject) as require:
            require(repeats in (None, *REPEATS), f"repeats={repeats!r}: expected one of {REPEATS}")
            require(
                repeats is None or (item is not None and not several and classes is None),
                "repeats= is about passes and fails of one judge, and takes item=",
            )
        return cls.read(table, how, repeats=repeats)

    @classmethod
    def read(
        cls, table: Any, how: Reading, *, guess_items: bool = False, repeats: str | None = None
    ) -> Self:
        """Read a table as arguments say that were checked: `from_frame` makes them.

        Parameters
        ----------
        table : object
            As for `from_frame`.
        how : Reading
            Which columns say what.
        guess_items : bool, default False
            Whether columns that name items by custom are looked at.
        repeats : {"system", "judge"}, optional
            What repeats if rows share items.

        Returns
        -------
        Verdicts
            Collapsed to patterns.
        """
        verdicts = cls._read(table, how, guess_items, repeats)
        read = partial(cls._read, repeats=repeats)
        came = how_labels_came(table, how, read, repeats=repeats)
        object.__setattr__(verdicts, SELECTION, came.selection)
        changes = changes_midway(table, how)
        object.__setattr__(verdicts, OF_ROWS, tuple(filter(None, (came.unanswered, changes))))
        return verdicts

    @classmethod
    def _read(
        cls, table: Any, how: Reading, guess_items: bool = False, repeats: str | None = None
    ) -> Self:
        if repeats is not None:
            cells = read_item_cells(table, how, repeats)
            return cls.from_item_cells(repeats=repeats, calibration=how.calibration, **cells)
        if how.scale is not None:
            return cls(**read_scores(table, how)).collapsed()
        if how.rater is not None:
            table, how = one_row_an_output(table, how)
        read = read_table(table, how, guess_items)
        collapsed, place = cls(**read.fields).collapsed_with_places()
        if read.hashes is not None:
            keep_keys(collapsed, read.hashes)
        if read.items is not None and read.of_item is not None:
            of_item = place[read.of_item]
            names = np.array(collapsed.groups, object)[collapsed.group[of_item]]
            keep_keys(collapsed, hash_items(names, read.items), of_item)
        return collapsed

    @classmethod
    def from_item_cells(
        cls, cells: np.ndarray, items: np.ndarray, *, repeats: str | None, **about: Any
    ) -> Self:
        """Take rows of one judge counted by kind of item.

        Parameters
        ----------
        cells : array_like of int, shape (n_kinds, n_groups, 3, 2)
            Rows of an item by group, truth (bad, good, no label) and verdict (fail, pass).
        items : array_like of int, shape (n_kinds,)
            Items of each kind.
        repeats : {"system", "judge"}, optional
            What repeats. If it is the judge, a pattern is an output with all that was said of it.
        **about
            Other fields of `Verdicts`.

        Returns
        -------
        Verdicts
            Of all groups.
        """
        if repeats != "judge":
            item, group, truth, given = np.nonzero(cells)
            count = cells[cells > 0]
        else:
            item, group, truth = np.nonzero(cells.sum(axis=-1))
            fails, passes = cells[item, group, truth].T
            looks = np.arange(int((fails + passes).max(initial=1)))
            given = np.where(looks < passes[:, None], 1, 0)
            given = np.where(looks < (fails + passes)[:, None], given, MISSING)
            count = np.ones(len(item), np.int64)
            about["judge_of_column"] = np.zeros(len(looks))
        truth = np.where(truth == UNLABELLED, MISSING, truth)
        return cls(given, truth, group, count, item=item, items=items, **about)

    @property
    def item_cells(self) -> np.ndarray:
        """Rows by kind of item, group, truth (bad, good, none) and verdict."""
        kinds = 0 if self.item is None else len(self.items)
        cells = np.zeros((kinds, len(self.groups), TRUTHS, VERDICTS), np.int64)
        for response in self.response.T if kinds else ():
            seen = response != MISSING
            at = self.item[seen], self.group[seen], self.truth[seen], response[seen]
            np.add.at(cells, at, self.count[seen])
        return cells

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        calibration: str | LabelDesign,
        **coordinates: Any,
    ) -> Self:
        """Take outputs counted by group, truth and verdict of one judge.

        Parameters
        ----------
        counts : array_like of int, shape (n_groups, n_classes + 1, n_responses)
            Outputs; the last entry of the second axis holds those without a label. Of one group
            its axis can be left out.
        calibration : str or LabelDesign
            How the labelled outputs were chosen.
        **coordinates
            `groups`, `classes`, `responses` and other fields of `Verdicts`.

        Returns
        -------
        Verdicts
            A pattern for each count that is not 0.

        Raises
        ------
        InputError
            If shapes, names or counts do not fit.

        Examples
        --------
        >>> table = Verdicts.from_counts([[70, 30], [10, 90], [380, 620]], calibration="by_truth")
        >>> table.unlabelled_n, table.labelled_n
        (1000, 200)
        """
        cells = np.asarray(counts)
        cells = cells[None] if cells.ndim == 2 else cells
        expect("Verdicts.from_counts", cells.ndim == 3, "no-axes")
        group, truth, response = np.nonzero(cells)
        truth = np.where(truth == cells.shape[1] - 1, MISSING, truth)
        return cls(response, truth, group, cells[cells != 0], calibration, **coordinates)

    def with_others(self, labelled: Self) -> Self:
        """Add outputs that the estimate is not about: labels of another data set, for example.

        Parameters
        ----------
        labelled : Verdicts
            Of the same groups, judges and classes.

        Returns
        -------
        Verdicts
            In which `about` tells them apart.
        """
        rows: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(labelled, name)]) for name in ROWS
        }
        rows["about"] = np.concatenate([self.about, np.zeros(len(labelled.count), bool)])
        return replace(self, **rows)

    @property
    def design(self) -> LabelDesign:
        """How the labelled outputs were chosen."""
        return design_of(self.calibration)

    @property
    def is_labelled(self) -> np.ndarray:
        """Whether people said what is true, shape (n_patterns,)."""
        return self.truth != MISSING

    @property
    def by_people(self) -> np.ndarray:
        """Whether a verdict is a person's, shape (n_columns,)."""
        return np.isin(self.judges, self.people)[self.judge_of_column]

    @property
    def tells(self) -> np.ndarray:
        """Whether the truth, known or not, tells the shares of its group."""
        return self.about | ~self.is_labelled

    @property
    def times(self) -> np.ndarray:
        """Outputs of each pattern over all items."""
        return self.count if self.item is None else self.count * self.items[self.item]

    @property
    def unlabelled_n(self) -> int:
        """Outputs of which nobody said what is true."""
        return int(self.times[~self.is_labelled].sum())

    @property
    def labelled_n(self) -> int:
        """Outputs of which people said what is true."""
        return int(self.times[self.is_labelled].sum())

    @property
    def counts(self) -> np.ndarray:
        """Outputs by column, group, truth and verdict; the last truth is none."""
        shape = (self.response.shape[1], len(self.groups), len(self.classes) + 1)
        counts = np.zeros((*shape, len(self.responses or ())), np.int64)
        for column, response in enumerate(self.response.T):
            given = response != MISSING
            at = self.group[given], self.truth[given], response[given]
            np.add.at(counts[column], at, self.times[given])
        return counts

    def __add__(self, other: Self) -> Self:
        """Add outputs that are not among these, of these groups and judges or of new ones."""
        if not isinstance(other, Verdicts):
            return NotImplemented
        designs = [str(table.calibration) for table in (self, other)]
        expect("Verdicts", designs[0] == designs[1], "must be the same", calibration=designs)
        return self.joined(other, "Verdicts", items_differ(self, other))

    def joined(self, other: Self, subject: str, differ: bool, *, sort: bool = True) -> Self:
        """Take the outputs of two tables together.

        Parameters
        ----------
        other : Verdicts
            Of other outputs, with the same classes.
        subject : str
            What errors are about.
        differ : bool
            Whether it is known that no output is in both.
        sort : bool, default True
            Whether groups stay in order if those of both are; else new ones come last.

        Returns
        -------
        Verdicts
            Of the groups and judges of both, with this one's label design.

        Raises
        ------
        InputError
            If the two are not of one kind.
        """
        parts = (self, other)
        with checking(subject) as require:
            require(self.scale is None is other.scale, "read-at-once")
            for name in ("dim",) if self.scale else ("dim", "classes", "responses"):
                mine, theirs = getattr(self, name), getattr(other, name)
                require(mine == theirs, f"{name} must be the same, got {mine!r} and {theirs!r}")
            alike = (self.groups == ("",)) == (other.groups == ("",))
            require(alike, "one has systems, the other has not")
            require(self.item is None is other.item, "rows that share items are read at once")
            given = [part.covariates and sorted(part.covariates) for part in parts]
            require(given[0] == given[1], f"covariates must be the same, got {given}")
            chances = [np.asarray(part.propensity, float) for part in parts]
            same = np.array_equal(chances[0], chances[1], equal_nan=True)
            require(same, "propensities must be the same")
        groups, judges = (
            tuple(dict.fromkeys((*getattr(self, name), *getattr(other, name))))
            for name in ("groups", "judges")
        )
        if sort and all(list(part.groups) == sorted(part.groups) for part in parts):
            groups = tuple(sorted(groups))
        times = np.max([part._looks(judges) for part in parts], axis=0)
        spread = [part._spread(groups, judges, times) for part in parts]
        rows: dict[str, Any] = {n: np.concatenate([part[n] for part in spread]) for n in ROWS}
        table, place = replace(
            self,
            **rows,
            groups=groups,
            judges=judges,
            people=tuple(dict.fromkeys((*self.people, *other.people))),
            judge_of_column=np.repeat(np.arange(len(judges)), times),
            unparsed=spread[0]["unparsed"] + spread[1]["unparsed"],
            covariates=self._covariates_with(other, groups),
            distinct=differ and self.distinct and other.distinct,
            dropped=self.dropped or other.dropped,
            spelling="; ".join(dict.fromkeys(part.spelling for part in parts if part.spelling)),
            pass_name=self.pass_name or other.pass_name,
        ).collapsed_with_places()
        mine, theirs = keys_of(self), keys_of(other)
        if mine is not None and theirs is not None:
            at = np.concatenate([mine.places, theirs.places + len(self.count)])
            hashes = np.concatenate([mine.hashes, theirs.hashes])
            keep_keys(table, hashes, place[at] if len(at) == len(hashes) else None)
        return table

    def _looks(self, judges: Sequence[str]) -> np.ndarray:
        """How many columns each of some judges has here."""
        place = np.array([judges.index(name) for name in self.judges])
        return np.bincount(place[self.judge_of_column], minlength=len(judges))

    def _spread(
        self, groups: Sequence[str], judges: Sequence[str], times: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Arrays by the names of a larger table, with so many columns of each judge."""
        group = np.array([groups.index(name) for name in self.groups])
        free, columns = np.cumsum(times) - times, []
        for judge in self.judge_of_column:
            j = judges.index(self.judges[judge])
            columns.append(free[j])
            free[j] += 1
        response = np.full((len(self.count), int(times.sum())), MISSING)
        response[:, columns] = self.response
        unparsed = np.zeros((len(groups), response.shape[1]), np.int64)
        unparsed[np.ix_(group, columns)] = self.unparsed
        rest = {"truth": self.truth, "count": self.count, "about": self.about}
        return {"response": response, "group": group[self.group], "unparsed": unparsed, **rest}

    def _covariates_with(self, other: Self, groups: Sequence[str]) -> Any:
        """Of all strata of two tables."""
        if self.covariates is None or other.covariates is None:
            return None
        of_group: dict[str, tuple[Any, ...]] = {}
        for table in (self, other):
            values = (table.covariates or {}).values()
            of_group |= zip(table.groups, zip(*values, strict=True), strict=True)
        columns = zip(*(of_group[name] for name in groups), strict=True)
        return dict(zip(self.covariates, columns, strict=True))

    def merged(self) -> Self:
        """Treat all groups as one, as if no column had named them.

        Returns
        -------
        Verdicts
            Of one group without a name.
        """
        return replace(
            self,
            group=np.zeros(len(self.group), np.int64),
            groups=("",),
            dim="system",
            propensity=None,
            covariates=None,
            unparsed=self.unparsed.sum(axis=0, keepdims=True),
        ).collapsed()

    def collapsed(self) -> Self:
        """Join equal patterns of one kind of item, and drop those without any output.

        Returns
        -------
        Verdicts
            In the order of group, truth and verdicts.
        """
        return self.collapsed_with_places()[0]

    def collapsed_with_places(self) -> tuple[Self, np.ndarray]:
        """Join equal patterns; and the new place of each.

        Returns
        -------
        Verdicts
            In the order of group, truth and verdicts.
        numpy.ndarray of int, shape (n_patterns,)
            -1 where there was no output.
        """
        kept = np.flatnonzero(self.count > 0)
        blocks = np.zeros(len(self.count), np.int64) if self.item is None else self.item
        columns = blocks, self.group, self.truth + 1, self.about, self.response + 1
        first, place = distinct(np.column_stack(columns).astype(np.int64)[kept])
        count = np.zeros(len(first), np.int64)
        np.add.at(count, place, self.count[kept])
        named = (
            "response",
            "truth",
            "group",
            "about",
            *(("item",) if self.item is not None else ()),
        )
        rows = {name: getattr(self, name)[kept][first] for name in named}
        places = np.full(len(self.count), MISSING)
        places[kept] = place
        return replace(self, **rows, count=count), places
