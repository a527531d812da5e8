"""`Verdicts`: distinct patterns of verdicts and labels, each with a count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.core.errors import checking
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.names import require_names

#: Stands for a verdict that was not given, and for a truth that nobody established.
MISSING = -1


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
        Index into `judges`, if a judge looked several times; by default one column a judge.
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
    classes: Sequence[Any] = ("fail", "pass")
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

    def __post_init__(self) -> None:
        response = np.asarray(self.response, np.int64)
        response = response[:, None] if response.ndim == 1 else response
        columns = self.judge_of_column
        known = np.asarray(self.truth, np.int64) != MISSING
        values = {
            "response": response,
            "truth": np.asarray(self.truth, np.int64),
            "group": np.asarray(self.group, np.int64),
            "count": np.asarray(self.count, np.int64),
            "judge_of_column": np.arange(response.shape[1])
            if columns is None
            else np.asarray(columns, np.int64),
            "about": ~known | self.design.same_items
            if self.about is None
            else np.asarray(self.about, bool),
        }
        values["unparsed"] = np.broadcast_to(
            np.asarray(self.unparsed, np.int64), (len(self.groups), response.shape[1])
        )
        if self.propensity is not None:
            values["propensity"] = np.asarray(self.propensity, float)
        if self.item is not None:
            values |= {
                name: np.asarray(getattr(self, name), np.int64) for name in ("item", "items")
            }
        for name, array in values.items():
            array = array.copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in ("groups", "judges", "classes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        said = self.classes if self.responses is None else self.responses
        object.__setattr__(self, "responses", tuple(said))
        with checking("Verdicts") as require:
            self._check(require)

    def _check(self, require: Any) -> None:
        rows = len(self.response)
        for name in (
            "truth",
            "group",
            "count",
            "about",
            *(("item",) if self.item is not None else ()),
        ):
            shape = getattr(self, name).shape
            require(shape == (rows,), f"{name} has shape {shape}, expected one for each of {rows}")
        for name, low, high in (
            ("response", MISSING, len(self.responses or ())),
            ("truth", MISSING, len(self.classes)),
            ("group", 0, len(self.groups)),
            ("judge_of_column", 0, len(self.judges)),
        ):
            array = getattr(self, name)
            odd = np.unique(array[(array < low) | (array >= high)])[:3].tolist()
            require(not odd, f"{name} holds {odd}, expected {low} to {high - 1}")
        require((self.count >= 0).all(), "count must be 0 or more in each pattern")
        for name in ("groups", "judges"):
            names = getattr(self, name)
            if names != ("",):
                require_names(names, name, require)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        calibration: str | LabelDesign,
        external: Any = None,
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
        external : array_like of int, shape (n_groups, n_classes, n_responses), optional
            Labelled outputs that the estimate is not about: of another data set, for example.
        **coordinates
            `groups`, `classes`, `responses`, `judges` and `dim`, as in `Verdicts`.

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
        blocks = [np.asarray(each) for each in (counts, external) if each is not None]
        blocks = [each[None] if each.ndim == 2 else each for each in blocks]
        with checking("Verdicts.from_counts") as require:
            right = all(each.ndim == 3 for each in blocks)
            require(right, "counts need the axes group, truth and verdict")
        rows = [np.array(np.nonzero(each)) for each in blocks]
        group, truth, response = np.concatenate(rows, axis=1)
        count = np.concatenate([each[each != 0] for each in blocks])
        own = np.repeat([True, False][: len(rows)], [each.shape[1] for each in rows])
        truth = np.where(own & (truth == blocks[0].shape[1] - 1), MISSING, truth)
        made = cls(response, truth, group, count, calibration, **coordinates)
        return made if external is None else replace(made, about=made.about & own)

    @property
    def design(self) -> LabelDesign:
        """How the labelled outputs were chosen."""
        return design_of(self.calibration)

    @property
    def is_labelled(self) -> np.ndarray:
        """Whether people said what is true, shape (n_patterns,)."""
        return self.truth != MISSING

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
        found = np.zeros((*shape, len(self.responses or ())), np.int64)
        for column, response in enumerate(self.response.T):
            given = response != MISSING
            at = self.group[given], self.truth[given], response[given]
            np.add.at(found[column], at, self.times[given])
        return found

    def merged(self) -> Self:
        """Take all groups for one, as if no column had named them.

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
