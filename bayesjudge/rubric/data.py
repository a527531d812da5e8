"""`Rubric`: outputs judged on several criteria, some of which people judged too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bayesjudge.core.diagnosis import SELECTION, keep_selection
from bayesjudge.core.errors import Problem, Require, checking, expect
from bayesjudge.core.item_keys import set_fields
from bayesjudge.core.label_design import LabelDesign, declared, design_of
from bayesjudge.core.labels import folded, read_labels
from bayesjudge.core.numbers import array_of, numbers_of, scores_of
from bayesjudge.core.screen import few, fitted, how_many
from bayesjudge.core.tables import free_name, read_rows
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence.data import six_counts
from bayesjudge.prevalence.scores import Scores
from bayesjudge.prevalence.scores.data import require_scale
from bayesjudge.verdicts.reading import KEPT, UNLABELLED, Reading
from bayesjudge.verdicts.selection import Asked, how_labels_came

if TYPE_CHECKING:
    import pandas as pd

Failed = Literal["worst", "best", "drop"]
#: What a judge or a person says of a criterion that is not about an output, without `--recode`.
NOT_APPLICABLE = ("not applicable", "not_applicable", "n/a", "inapplicable")
#: Arrays with a row per output and a column per criterion.
SAID = ("judged", "people", "weight")
CELLS = ("judged", "people", "applies", "excused")


@dataclass(frozen=True, eq=False, repr=False)
class Rubric:
    """What a judge, and on some outputs people, said of each criterion.

    Parameters
    ----------
    judged : array_like of float, shape (n_outputs, n_criteria)
        The judge's verdicts from 0 (not met) to 1 (met); ``nan`` where a call failed, or the
        criterion does not apply.
    people : array_like of float, shape (n_outputs, n_criteria)
        People's, likewise; ``nan`` where nobody was asked.
    weight : array_like of float, shape (n_criteria,) or (n_outputs, n_criteria)
        Points of a criterion that is met; negative ones are lost.
    calibration : str or LabelDesign
        How the labelled outputs, or cells, were chosen: ``"random"``.
    criteria : sequence of str
        Names of the columns.
    items : sequence, optional
        What each output answers: systems are compared on the items that they share.
    systems : sequence of str, optional
        What made each output.
    applies : array_like of bool, shape (n_outputs, n_criteria), optional
        Where a criterion is about an output, as the judge says; everywhere by default.
    excused : array_like of bool, shape (n_outputs, n_criteria), optional
        Where people say that it is not; nowhere by default.
    failed : {"worst", "best", "drop"}, optional
        What a failed call is: what costs most points (not met, if its weight is positive, and met,
        if it is negative), what costs fewest, or left out as if the criterion did not apply. Needed
        where calls failed. Labels correct a total for any of them; the judge's own total moves.
    place : array_like of int, shape (n_outputs,), optional
        If labels went with a column: the class of each output within which they are taken as
        random, -1 in classes without labels.
    own_criteria : bool, default False
        Whether criteria were written for each item, so that only totals can be told.
    graded : bool, default False
        Whether verdicts are grades or probabilities, rather than met and not met.

    Raises
    ------
    InputError
        If shapes do not fit, a verdict lies outside [0, 1], nobody labelled anything, labels are no
        random sample, a criterion was never labelled, or calls failed and `failed` is not given.

    Examples
    --------
    >>> rubric = Rubric([[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [np.nan, np.nan]], [2, -1],
    ...                 "random", ["correct", "rude"])
    >>> rubric.totals()["people"].tolist()
    [1.0, -0.5, nan]
    """

    judged: Any
    people: Any
    weight: Any
    calibration: str | LabelDesign
    criteria: Sequence[str]
    items: Sequence[Any] | None = None
    systems: Sequence[str] | None = None
    applies: Any = None
    excused: Any = None
    failed: Failed | None = None
    place: Any = None
    own_criteria: bool = False
    graded: bool = False

    def __post_init__(self) -> None:
        shape = np.shape(self.judged)
        given = {
            **{name: array_of(float, "Rubric", **{name: getattr(self, name)}) for name in SAID},
            "applies": np.ones(shape, bool) if self.applies is None else np.asarray(self.applies),
            "excused": np.zeros(shape, bool) if self.excused is None else np.asarray(self.excused),
        }
        with checking("Rubric") as require:
            require(len(shape) == 2, f"judged: expected outputs x criteria, got shape {shape}")
            odd: dict[str, Any] = {
                name: given[name].shape for name in CELLS if given[name].shape != shape
            }
            for name in ("items", "systems"):
                array = getattr(self, name)
                odd |= {} if array is None or len(array) == shape[0] else {name: len(array)}
            odd |= {} if len(self.criteria) == shape[-1] else {"criteria": len(self.criteria)}
            fits = given["weight"].shape in (shape, shape[-1:])
            odd |= {} if fits else {"weight": given["weight"].shape}
            require(not odd, f"expected {shape[0]} outputs and {shape[-1]} criteria, got {odd}")
        given["weight"] = np.broadcast_to(given["weight"], shape)
        set_fields(self, **given, criteria=tuple(map(str, self.criteria)))
        with checking("Rubric") as require:
            self._check(require)

    def _check(self, require: Require) -> None:
        require(self.design.is_sample, _not_a_sample(self.design))
        for name in ("judged", "people"):
            cells = getattr(self, name)
            outside = cells[(cells < 0) | (cells > 1)]
            words = "expected 0 (not met) to 1 (met); give scale= or truth_scale="
            require(not outside.size, f"{name} has {few([f'{x:g}' for x in outside], 3)}: {words}")
        weights = self.weight[self.applies]
        finite = np.isfinite(weights).all()
        require(finite, "weights must be numbers: each criterion that applies has one")
        words = "no criterion has a weight above 0: a total is a share of the points to be had"
        require(not finite or (weights > 0).any(), words)
        known = get_args(Failed)
        require(self.failed in (None, *known), f"failed={self.failed!r}: expected {few(known)}")
        require(self.labelled.any(), "no-criterion-labelled")
        if not self.own_criteria:
            never = self.applies.any(axis=0) & ~self.labelled.any(axis=0)
            named = [name for name, absent in zip(self.criteria, never, strict=True) if absent]
            words = "label some outputs on each, or leave the criterion out"
            require(not named, "criteria-unlabelled", named=few(named, 5), words=words)
        lost = self.lost
        if lost.any() and self.failed is None:
            below = int((lost & (self.weight < 0)).sum())
            negative = f", {below:,} of them on criteria of negative weight" if below else ""
            require(False, Problem(
                f"{how_many(int(lost.sum()), 'call')} of the judge failed{negative}: is each worth "
                "what costs most points (worst), what costs fewest (best), or left out (drop)? "
                "Say failed=; 'not met' would raise a total where the weight is negative",
                "failed-calls", argument="failed",
            ))  # fmt: skip

    def __repr__(self) -> str:
        outputs, criteria = self.judged.shape
        kind = "criteria an item, at most" if self.own_criteria else "criteria"
        head = f"Rubric of {outputs:,} outputs and {criteria} {kind}"
        words = f"{int(self.whole.sum()):,} outputs labelled throughout, {self.partly:,} in part"
        return fitted([head, words, few(self.criteria, 8)])

    @property
    def design(self) -> LabelDesign:
        """How the labelled outputs were chosen."""
        return design_of(self.calibration, "Rubric", "plain")

    @property
    def lost(self) -> np.ndarray:
        """Calls of the judge that failed."""
        return self.applies & np.isnan(self.judged)

    @property
    def labelled(self) -> np.ndarray:
        """Cells of which people said something, of those that the judge takes to apply."""
        return self.applies & (~np.isnan(self.people) | self.excused)

    @property
    def whole(self) -> np.ndarray:
        """Outputs of which people judged every criterion that applies."""
        return self.labelled.any(axis=1) & (self.labelled | ~self.applies).all(axis=1)

    @property
    def partly(self) -> int:
        """Outputs of which people judged some criteria and not all."""
        return int((self.labelled.any(axis=1) & ~self.whole).sum())

    @property
    def names(self) -> list[str]:
        """The systems, in the order of their names; one without a name if none is given."""
        return [""] if self.systems is None else sorted({*self.systems})

    def system(self, name: str) -> Self:
        """Take the outputs of one system.

        Parameters
        ----------
        name : str
            One of `names`.

        Returns
        -------
        Rubric
            Of its outputs.
        """
        if self.systems is None:
            return self
        rows = np.array([system == name for system in self.systems])
        cells = {field: getattr(self, field)[rows] for field in (*CELLS, "weight")}
        items = None if self.items is None else [self.items[int(i)] for i in np.flatnonzero(rows)]
        cells["place"] = None if self.place is None else self.place[rows]
        return keep_selection(replace(self, **cells, items=items, systems=None), self)

    @property
    def used(self) -> np.ndarray:
        """Where criteria apply, as the judge says, but for failed calls that are left out."""
        return self.applies & ~self.lost if self.failed == "drop" else self.applies

    @property
    def said(self) -> np.ndarray:
        """The judge's verdicts, with failed calls as `failed` has them."""
        filled = (self.weight < 0) if self.failed == "worst" else (self.weight > 0)
        return np.where(self.used, np.where(self.lost, filled, self.judged), 0.0)

    def points(self, applies: np.ndarray) -> np.ndarray:
        """Share of all points that each met criterion is worth.

        Parameters
        ----------
        applies : array_like of bool, shape (n_outputs, n_criteria)
            Where criteria apply.

        Returns
        -------
        numpy.ndarray, shape (n_outputs, n_criteria)
            Weight by the sum of the output's positive weights; ``nan`` where none is positive.
        """
        weight = np.where(applies, self.weight, 0.0)
        most = np.maximum(weight, 0).sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(most > 0, weight / most, np.nan)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest total that an output can have."""
        each = (self.points(x) for x in (self.applies, self.used, self._seen))
        lowest = [np.nanmin(np.minimum(weights, 0).sum(axis=1), initial=0.0) for weights in each]
        return float(min(lowest)), 1.0

    @property
    def _seen(self) -> np.ndarray:
        """Cells of which people said met or not."""
        return ~np.isnan(self.people) & ~self.excused

    def totals(self) -> pd.DataFrame:
        """Total each output: points of the criteria that are met by those that can be.

        Returns
        -------
        pandas.DataFrame
            Columns ``item``, ``system``, ``judged`` and ``people``, ``nan`` unless people judged
            all that applies; outputs in which nothing gives points are left out.
        """
        import pandas as pd

        low, high = self.ends
        judged = (self.points(self.used) * self.said).sum(axis=1)
        given = (self.points(self._seen) * np.where(self._seen, self.people, 0.0)).sum(axis=1)
        people = np.where(self.whole, given, np.nan)
        items = range(len(judged)) if self.items is None else self.items
        systems = [""] * len(judged) if self.systems is None else self.systems
        cut = {"judged": np.clip(judged, low, high), "people": np.clip(people, low, high)}
        return pd.DataFrame({"item": [*items], "system": [*systems], **cut}).dropna(subset="judged")

    def scores(self) -> Scores:
        """Make totals scores, whose models and closed forms are those of `prevalence.scores`.

        Returns
        -------
        Scores
            Of all outputs.
        """
        table = self.totals()
        how: dict[str, Any] = {"calibration": self.calibration}
        how |= {"scale": self.ends, "truth_scale": self.ends}
        scores = Scores(table["judged"], table["people"], np.ones(len(table), int), **how)
        return keep_selection(scores, self)

    def criterion(self, name: str) -> Counts | Scores:
        """Take one criterion, on the outputs that it applies to.

        Parameters
        ----------
        name : str
            One of `criteria`.

        Returns
        -------
        Counts or Scores
            Of met and not met, or of grades.

        Raises
        ------
        InputError
            If there is no such criterion.
        """
        problem = f"{name!r}: expected one of {few(self.criteria, 8)}"
        expect("Rubric.criterion", name in self.criteria, problem)
        c = self.criteria.index(name)
        rows = self.used[:, c] & ~self.excused[:, c]
        judged, people = self.said[rows, c], self.people[rows, c]
        if not self.graded:
            return keep_selection(counted(judged == 1, people, self.calibration), self)
        numbers = {*people[~np.isnan(people)]} - {0.0, 1.0}
        ends: Any = (0.0, 1.0)
        how: dict[str, Any] = {"calibration": self.calibration, "scale": ends}
        how |= {"truth_scale": ends} if numbers else {}
        return keep_selection(Scores(judged, people, np.ones(len(judged), int), **how), self)

    def meets(self, at_least: float | None = None) -> Counts:
        """Count outputs that meet every criterion that applies, or have so high a total.

        Parameters
        ----------
        at_least : float, optional
            The lowest total, as a share of the points; all criteria if not given.

        Returns
        -------
        Counts
            Of outputs; people's verdict is known where they judged all criteria.
        """
        if at_least is None:
            bad = self.weight < 0
            judged = ((self.said >= 1) != bad) | ~self.used
            people = ((self.people >= 1) != bad) | ~self._seen
            truth = np.where(self.whole, people.all(axis=1), np.nan)
            return keep_selection(counted(judged.all(axis=1), truth, self.calibration), self)
        table, slack = self.totals(), 1e-9
        known = table["people"].notna()
        truth = np.where(known, table["people"] >= at_least - slack, np.nan)
        judged = (table["judged"] >= at_least - slack).to_numpy()
        return keep_selection(counted(judged, truth, self.calibration), self)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        criteria: Mapping[str, tuple[str, str]] | None = None,
        criterion: str = "criterion",
        verdict: str = "verdict",
        truth: str = "truth",
        weight: str | Mapping[str, float] | None = None,
        item: str | None = None,
        by: str | None = None,
        scale: tuple[float, float] | None = None,
        truth_scale: tuple[float, float] | None = None,
        failed: Failed | None = None,
        not_applicable: Sequence[Any] = NOT_APPLICABLE,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
    ) -> Self:
        """Read a row per output with columns for each criterion, or a row per criterion.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark; it is read into memory.
        calibration : str
            How the labelled outputs were chosen: ``"random"``.
        criteria : mapping of str to (str, str), optional
            Of a row per output: the judge's and people's column of each criterion.
        criterion, verdict, truth : str
            Of a row per criterion: columns with its name, the judge's verdict and people's.
        weight : str or mapping of str to float, optional
            Points by criterion, 1 if not given; of a row per criterion, also the column with them.
        item : str, optional
            Column that identifies the item; needed of a row per criterion.
        by : str, optional
            Column that names the system.
        scale, truth_scale : tuple of float, optional
            Lowest and highest number that the judge, and people, can give; met and not met if not
            given.
        failed : {"worst", "best", "drop"}, optional
            What a failed call is; needed where there are any.
        not_applicable : sequence, optional
            What is said where a criterion is not about an output.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean met, not met and none. 1/0, true/false, yes/no are understood without.

        Returns
        -------
        Rubric
            Criteria that occur with one item each are taken as written for the items.

        Raises
        ------
        InputError
            If a column is missing, a cell is not understood, an output repeats, or `Rubric` refuses
            what was read.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"judge_clear": [1, 1, 0], "human_clear": [1, 0, None],
        ...                       "judge_kind": [1, 0, 1], "human_kind": [1, 0, None]})
        >>> pairs = {name: (f"judge_{name}", f"human_{name}") for name in ("clear", "kind")}
        >>> Rubric.from_frame(table, criteria=pairs, calibration="random").meets().test_pass
        0
        """
        meanings = {"pass_value": pass_value, "fail_value": fail_value}
        read = _Cells((scale, truth_scale), meanings, missing_value, {*map(folded, not_applicable)})
        given: dict[str, Any] = {"calibration": declared(calibration), "failed": failed}
        given |= {"graded": scale is not None or truth_scale is not None}
        with checking("Rubric.from_frame") as require:
            for name, ends in (("scale", scale), ("truth_scale", truth_scale)):
                if ends is not None:
                    require_scale(name, ends, require)
            words = "names the output of each row; needed of a row per criterion"
            known = criteria is not None or item is not None
            require(known, Problem(f"item= {words}", "not-given", argument="item"))
            require(criteria != {}, "criteria= names no criterion")
            column = criteria is not None and isinstance(weight, str)
            words = "names a column: of a row per output, give the points by criterion"
            require(not column, f"weight={weight!r} {words}")
        keys = [name for name in (item, by) if name is not None]
        if criteria is None:
            more = [weight] if isinstance(weight, str) else []
            read_as = read_rows(table, verdict, truth, *more, names=[criterion, *keys])
            each = (read_as[name] for name in (criterion, verdict, truth, *more))
            rows = _Rows(read_as[keys], *each)
        else:
            rows = _stacked(table, criteria, keys)
        fields, place = _cells(rows, item, by, weight, read)
        rubric = cls(**fields, **given)
        judges, people = zip(*(criteria or {"": (verdict, truth)}).values(), strict=True)
        about: dict[str, Any] = {"subject": "Rubric.from_frame", "calibration": rubric.design}
        about |= {"verdict": judges, "truth": people, "item": item, "by": by, "unparsed": KEPT}
        how = Reading(**about)
        seen = how_labels_came(table, how, None, _asked(rubric, place, len(judges))).selection
        if seen is not None and seen.instead is not None:
            classes = np.empty(len(rubric.judged), int)
            classes[place[0]] = np.tile(seen.instead, len(judges))
            rubric, seen = replace(rubric, place=classes), seen._replace(instead=None)
        object.__setattr__(rubric, SELECTION, seen)
        return rubric


def _not_a_sample(design: LabelDesign) -> Problem:
    """Labels that no total can be made of: why, and what they are good for."""
    words = (
        f"calibration={design.name!r}: totals take labels that are a random sample of the outputs, "
        f"or of criteria of outputs (random), and these are not: {design.meaning}. Either label a "
        "random sample (`bayesjudge label` draws it) and leave the other labels empty; or take one "
        "criterion at a time, with its two columns: `bayesjudge prevalence FILE --verdict COLUMN "
        f"--truth COLUMN --calibration {design.name}`"
    )
    return Problem(words, "labels-not-random", "calibration", design.name, ("random",))


def counted(judged: np.ndarray, people: np.ndarray, calibration: Any) -> Counts:
    """Verdicts that are true or false, and people's, ``nan`` where there is none."""
    known = ~np.isnan(people)
    truth = np.where(known, np.where(known, people, 0) >= 1, UNLABELLED).astype(int)
    cells = np.zeros((3, 2), np.int64)
    np.add.at(cells, (truth, judged.astype(int)), 1)
    return Counts(**six_counts(cells), calibration=calibration)


def _asked(rubric: Rubric, place: tuple[np.ndarray, np.ndarray], columns: int) -> Asked:
    """Which cells people were asked about, by row of the table that has so many criteria a row."""
    labelled, applies = rubric.labelled, rubric.applies
    expected = np.zeros(labelled.shape)
    for name in rubric.names:
        of = np.ones(len(labelled), bool) if rubric.systems is None else (
            np.array([system == name for system in rubric.systems]))  # fmt: skip
        axis = None if rubric.own_criteria else 0
        share = labelled[of].sum(axis=axis) / np.maximum(applies[of].sum(axis=axis), 1)
        expected[of] = applies[of] * share
    each = (cells[place].reshape(columns, -1) for cells in (labelled, expected, applies))
    said, due, could = each
    return Asked(said.any(axis=0), (said - due).sum(axis=0), could.any(axis=0))


# Reading -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """How cells are read: scales of the judge and of people, meanings, and what is no verdict."""

    scales: tuple[Any, Any]
    meanings: Mapping[str, Any]
    missing: Any
    not_applicable: set[str]

    def of(self, column: pd.Series, who: int) -> tuple[np.ndarray, np.ndarray]:
        """Verdicts between 0 and 1, and where they are that the criterion does not apply."""
        cells = column.astype(object)
        excused = cells.map(
            lambda cell: isinstance(cell, str) and folded(cell) in self.not_applicable
        )
        excused = excused.to_numpy(bool)
        cells = cells.where(cells.notna() & ~excused, None)
        scale = self.scales[who]
        if scale is None:
            how = {**self.meanings, "missing_value": self.missing}
            return read_labels({"label": cells.tolist()}, **how)[0]["label"], excused
        low, high = scale
        return (scores_of(cells, self.missing, scale=scale) - low) / (high - low), excused


class _Rows(NamedTuple):
    """A row for each criterion of each output: what names the output, and what is said of it."""

    output: pd.DataFrame
    criterion: pd.Series
    verdict: pd.Series
    truth: pd.Series
    weight: pd.Series | None = None


def _stacked(table: Any, criteria: Mapping[str, tuple[str, str]], keys: list[str]) -> _Rows:
    """Columns of each criterion as rows."""
    import pandas as pd

    columns = dict.fromkeys(name for pair in criteria.values() for name in pair)
    rows = read_rows(table, *columns, names=keys)
    output = rows[keys].assign(**{free_name("output", keys): np.arange(len(rows))})
    twice = int(rows[keys].duplicated().sum()) if keys else 0
    words = "an item has several rows of one system; keep one, or name outputs apart"
    problem = f"{how_many(twice, 'row', 'repeat')} ({', '.join(keys)}): {words}"
    expect("Rubric.from_frame", not twice, problem)
    judged, people = (
        pd.concat([rows[pair[who]].astype(object) for pair in criteria.values()], ignore_index=True)
        for who in (0, 1)
    )
    names = pd.Series(np.repeat([*criteria], len(rows)))
    return _Rows(pd.concat([output] * len(criteria), ignore_index=True), names, judged, people)


def _points(names: Sequence[str], weight: Any, require: Any) -> list[float]:
    """The weight of each criterion, 1 if none is given."""
    given = {} if weight is None else dict(weight)
    unknown = [name for name in given if name not in names]
    require(not unknown, f"weight= of {few(unknown, 5)}: criteria are {few(names, 8)}")
    odd = {name: point for name, point in given.items() if not isinstance(point, Real)}
    require(not odd, f"weight= of {odd}: expected numbers")
    return [1.0 if odd else float(given.get(name, 1.0)) for name in names]


def _cells(
    rows: _Rows, item: str | None, by: str | None, weight: Any, read: _Cells
) -> tuple[dict[str, Any], tuple[np.ndarray, np.ndarray]]:
    """Arrays of outputs and criteria, of a row each; and the row's output and criterion."""
    import pandas as pd

    keys = [*rows.output]
    output, outputs = pd.factorize(pd.MultiIndex.from_frame(rows.output))
    code, names = pd.factorize(rows.criterion.astype(str))
    items_of = rows.output.groupby(code)[keys[0]].nunique()
    by_output = bool(len(outputs) > 1 and (items_of == 1).mean() > 0.5)
    with checking("Rubric.from_frame") as require:
        twice = int(pd.DataFrame({"o": output, "c": code}).duplicated().sum())
        words = f"one criterion of one output has several rows by {', '.join(keys)}"
        require(not twice, "criteria-repeat", n=twice, words=words)
        if rows.weight is not None:
            points = numbers_of(rows.weight)
        else:
            points = np.array(_points([*names], weight, require))[code]
    if by_output:  # the j-th criterion of each output
        code = rows.output.groupby(output).cumcount().to_numpy()
        names = [str(j + 1) for j in range(int(code.max()) + 1)]
    judged, away = read.of(rows.verdict, 0)
    people, excused = read.of(rows.truth, 1)
    cells = {"judged": judged, "people": people, "weight": points}
    cells |= {"applies": ~away, "excused": excused & ~away}
    fields: dict[str, Any] = {}
    for name, values in cells.items():
        nothing = False if values.dtype == bool else np.nan
        fields[name] = np.full((len(outputs), len(names)), nothing)
        fields[name][output, code] = values
    each = dict(zip(keys, zip(*outputs, strict=True), strict=True))
    systems = None if by is None else [str(cell) for cell in each[by]]
    items = None if item is None else each[item]
    fields |= {"criteria": [*names], "own_criteria": by_output}
    return {**fields, "items": items, "systems": systems}, (output, code)
