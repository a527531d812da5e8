"""The data class: distinct patterns of votes, their counts, and the truth if people said it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import signature
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.core.diagnosis import SELECTION, keep_selection
from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.item_keys import hash_items, items_differ, keep_keys, keys_of, set_fields
from bayesjudge.core.label_design import LabelDesign
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import Shown, how_many
from bayesjudge.panel.label_design import find_design
from bayesjudge.verdicts.arrays import require_places
from bayesjudge.verdicts.by_item import Rows
from bayesjudge.verdicts.labels import PASS_OR_FAIL
from bayesjudge.verdicts.reading import KEPT, Reading, long_in_memory, wide_in_memory
from bayesjudge.verdicts.table import MISSING, Verdicts

#: What generators and classes are called where no column, or no argument, names them.
ONE_GENERATOR, BINARY = "all", ("0", "1")
#: Label designs of which labels are a random part of a generator's items, or all of them.
SAMPLES = ("random", "by_generator")


@dataclass(frozen=True, eq=False)
class Votes(Shown):
    """Votes of several judges on the outputs of several generators, some with the truth.

    Rows that agree in generator, truth and all votes become one row with a count, so that no
    estimator's cost depends on the number of items. Item by item or collapsed, the same votes make
    the same object.

    Parameters
    ----------
    votes : array_like of int, shape (n_patterns, n_columns)
        Index into `classes` of each vote; -1 if there is none.
    truth : array_like of int, shape (n_patterns,)
        Index into `classes` of what people said; -1 if nobody did.
    generator : array_like of int, shape (n_patterns,)
        Index into `generators`.
    generators, judges : sequence of str
        Names.
    count : array_like of int, shape (n_patterns,), optional
        Items that a row stands for; 1 each by default.
    classes : sequence of str, default ("0", "1")
        What can be voted. If there are two, the second means that the output is good.
    judge_of_column : array_like of int, shape (n_columns,), optional
        Index into `judges`, if a judge voted several times on one item; by default one column
        per judge.
    calibration : {"random", "by_generator", "by_truth", "separate", "by_verdict"}, optional
        How the labelled items were chosen. ``"random"``: within each generator that has labels, at
        random. ``"by_generator"``: all items of some generators. ``"by_truth"``: so many good
        and so many bad ones. ``"separate"``: other items, judged by the same panel. With these
        two, estimates are about the items without a label. ``"by_verdict"``: by the votes on
        them. It decides which methods are right, and must be said if some items of a generator are
        labelled and others are not; otherwise it is ``"by_generator"``.
    spelling : str, default ""
        How labels were read, in words, if not all of them were 1 and 0.
    pass_name : str, default ""
        The label that was read as pass, such as ``"unsafe"``, which sentences say in place of
        "pass"; empty if it is a word for it.
    distinct : bool, default True
        Whether no item has two rows. False after adding votes of which nobody knows the items:
        results then assume it.

    Raises
    ------
    InputError
        If shapes or indices do not fit, names repeat, there is no item, or how labelled items were
        chosen is neither said nor plain.

    Examples
    --------
    >>> votes = Votes([[1, 1], [1, 0], [1, 1]], [1, 0, 1], [0, 0, 0], ["gpt"], ["a", "b"])
    >>> votes.count.tolist(), votes.n_items
    ([1, 2], 3)
    """

    votes: Any
    truth: Any
    generator: Any
    generators: Sequence[str]
    judges: Sequence[str]
    count: Any = None
    classes: Sequence[str] = ("0", "1")
    judge_of_column: Any = None
    calibration: str | LabelDesign | None = None
    spelling: str = ""
    pass_name: str = ""
    distinct: bool = True

    def __post_init__(self) -> None:
        for name in ("generators", "judges", "classes"):
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        whole = partial(array_of, int, "panel.Votes")
        votes = np.atleast_2d(whole(votes=self.votes))
        count, columns = self.count, self.judge_of_column
        arrays = {
            "truth": whole(truth=self.truth),
            "generator": whole(generator=self.generator),
            "count": whole(count=np.ones(len(votes)) if count is None else count),
        }
        columns = np.arange(len(self.judges)) if columns is None else columns
        columns = whole(judge_of_column=columns)
        with checking("panel.Votes") as require:
            self._check(votes, arrays, columns, require)
            object.__setattr__(self, "calibration", self._chosen(arrays, require))
        keys = _keys(votes, arrays["truth"], arrays["generator"])
        first, counts = collapse(keys, arrays["count"].astype(np.int64))
        collapsed = {
            "votes": votes[first].astype(np.int8),
            "truth": arrays["truth"][first].astype(np.int8),
            "generator": arrays["generator"][first].astype(np.int64),
            "count": counts,
            "judge_of_column": columns.astype(np.int64),
        }
        set_fields(self, **collapsed)

    def _check(self, votes: Any, arrays: dict[str, Any], columns: Any, require: Any) -> None:
        require(len(votes) > 0 and votes.size > 0, "there is no vote; at least one item is needed")
        require(
            2 <= len(self.classes) <= 100, f"{len(self.classes)} classes; 2 to 100 are possible"
        )
        rows, classes = len(votes), len(self.classes)
        for name, array, length, low, high in (
            ("votes", votes, rows, MISSING, classes),
            ("truth", arrays["truth"], rows, MISSING, classes),
            ("generator", arrays["generator"], rows, 0, len(self.generators)),
            ("count", arrays["count"], rows, 1, np.inf),
            ("judge_of_column", columns, votes.shape[1], 0, len(self.judges)),
        ):
            require_places(name, array, length, low, high, require)
        for name in ("generators", "judges", "classes"):
            require_names(getattr(self, name), name, require)

    def _chosen(self, arrays: dict[str, Any], require: Any) -> str | LabelDesign | None:
        """The label design, if the arrays are sound enough to tell it."""
        truth, generator = arrays["truth"], arrays["generator"]
        if truth.shape != generator.shape:
            return self.calibration
        known = np.unique(generator[truth != MISSING])
        mixed = np.isin(generator[truth == MISSING], known).any()
        if self.calibration is None and not mixed:  # whole generators, or no label
            return "by_generator"
        try:
            find_design(self.calibration)
        except InputError as error:
            require(False, error.message, "unknown-calibration")
        return self.calibration

    def __add__(self, other: Self) -> Self:
        """Add votes on further items, of these generators and judges or of new ones.

        Items of both are refused where both know their items: read from a table in memory, with a
        column that identifies them.
        """
        if not isinstance(other, Votes):
            return NotImplemented
        parts = (self, other)
        # how labels were chosen does not matter where there are none
        known = [votes.calibration for votes in parts if votes.is_labelled.any()]
        designs = sorted({str(design): design for design in known})
        with checking("panel.Votes") as require:
            same = self.classes == other.classes
            require(same, f"classes must be the same, got {self.classes} and {other.classes}")
            require(
                len(designs) < 2,
                f"labels were chosen in two ways, {' and '.join(designs)}; name one design that "
                "holds for all of them, dataclasses.replace(votes, calibration=...)",
            )
        differ = items_differ(self, other)
        whole = designs == ["by_generator"] and not any(votes._partly_labelled for votes in parts)
        table = self.verdicts.joined(other.verdicts, "panel.Votes", differ, sort=False)
        return type(self).of(table, None if whole or not designs else known[0])

    def _keep_keys(self, hashes: np.ndarray, **items: np.ndarray) -> None:
        """Remember which pattern each item has, given its fields."""
        places = patterns_of(self, items["votes"], items["truth"], items["generator"])
        keep_keys(self, hashes, places)

    def with_labels(
        self,
        labels: Any,
        *,
        calibration: str | LabelDesign | None = None,
        item: str = "item",
        generator: str | None = "generator",
        truth: str = "truth",
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
    ) -> Self:
        """Add a batch of labels of items that were voted on.

        Parameters
        ----------
        labels : dataframe
            One row per labelled item; votes are not needed.
        calibration : str, optional
            How the labelled items were chosen, those of before and these; see `Votes`. By default
            as before.
        item, generator, truth : str
            Columns, as in `from_frame`. ``generator=None`` if there is one generator.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none, as in `from_frame`.

        Returns
        -------
        Votes
            As if labels and votes had been read at once.

        Raises
        ------
        InputError
            If the items of the votes are not known (they were not read from a table in memory, or
            changed since), a row has no label, an item was not voted on, or it has another truth.

        Examples
        --------
        >>> import pandas as pd
        >>> log = pd.DataFrame({"item": ["p", "p", "q"], "judge": ["a", "b", "a"],
        ...                     "vote": [1, 0, 1]})
        >>> votes = Votes.from_frame(log, generator=None, truth=None)
        >>> labels = pd.DataFrame({"item": ["q"], "truth": [1]})
        >>> votes.with_labels(labels, generator=None, calibration="random").labelled.tolist()
        [[0, 1]]
        """
        keys = keys_of(self)
        with checking("panel.Votes.with_labels") as require:
            require(keys is not None, "only-counted")
            alone = generator is not None or len(self.generators) == 1
            require(alone, f"generator=None, and there are {len(self.generators)} generators")
        assert keys is not None
        given = locals() | {"calibration": "random", "verdict": (), "by": generator}
        given["classes"] = None if self.classes == BINARY else self.classes
        how = Reading.of("panel.Votes.with_labels", given)
        source = Rows(labels, truth, names=[item, *how.keys])
        read = how.meanings(source)
        items, said = source.rows(item), source.places(read, truth)
        only = "" if self._unnamed else self.generators[0]
        of = source.rows(generator) if generator else np.full(len(items), only)
        known = self.truth[keys.places]
        places = self._places_of(keys.hashes, items, of, said, known)
        known[places] = said
        as_before = calibration or (self.calibration if self.is_labelled.any() else None)
        whole = calibration is None and as_before == "by_generator" and not self._partly_labelled
        each = {"votes": self.votes[keys.places], "generator": self.generator[keys.places]}
        labelled = replace(
            self,
            **each,
            truth=known,
            count=None,
            calibration=None if whole else as_before,
            spelling="; ".join(dict.fromkeys(s for s in (self.spelling, str(read.spelling)) if s)),
            pass_name=self.pass_name or pass_name_of(pass_value, read.spelling),
        )
        labelled._keep_keys(keys.hashes, truth=known, **each)
        return labelled

    def _places_of(
        self,
        hashes: np.ndarray,
        items: np.ndarray,
        generators: np.ndarray,
        said: np.ndarray,
        known: np.ndarray,
    ) -> np.ndarray:
        """Where labelled items are among hashes; refuse those that cannot be labelled so."""
        wanted = hash_items(generators, items)
        places = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        absent = items[hashes[places] != wanted]
        given = known.copy()
        given[places] = np.where(given[places] == MISSING, said, given[places])
        torn = list(dict.fromkeys(items[given[places] != said]))
        with checking("panel.Votes.with_labels") as require:
            unlabelled = int((said == MISSING).sum())
            require(not unlabelled, f"{unlabelled} rows have no human label; leave them out")
            require(
                not absent.size,
                f"nobody voted on {absent.size} of the labelled items, for example "
                f"{absent[:3].tolist()}; add items with votes + Votes.from_frame(...)",
            )
            require(absent.size or not torn, "truths-differ", torn=torn[:3])
        return places

    @property
    def _unnamed(self) -> bool:
        """Whether no column named generators."""
        return self.generators == (ONE_GENERATOR,)

    @property
    def _partly_labelled(self) -> bool:
        """Whether a generator has labelled items and others."""
        known = np.unique(self.generator[self.is_labelled])
        return bool(np.isin(self.generator[~self.is_labelled], known).any())

    def __repr__(self) -> str:
        counted = {
            "item": self.n_items,
            "generator": len(self.generators),
            "judge": len(self.judges),
            "pattern": len(self.count),
        }
        about = [how_many(n, name) for name, n in counted.items()]
        about.insert(1, f"{int(self.labelled.sum()):,} labelled")
        about.insert(4, f"{self.n_classes} classes")
        design = f", calibration={self.calibration!r}" if self.is_labelled.any() else ""
        spelled = f"; {self.spelling}" if self.spelling else ""
        return (
            f"Votes({', '.join(about)}, {self.missing_share:.1%} of votes missing{design}{spelled})"
        )

    @property
    def design(self) -> LabelDesign:
        """How the labelled items were chosen."""
        return find_design(self.calibration)

    @cached_property
    def verdicts(self) -> Verdicts:
        """The table that these votes are of."""
        table = Verdicts(
            self.votes,
            self.truth,
            self.generator,
            self.count,
            self.design,
            self.generators,
            self.judges,
            self.classes,
            judge_of_column=self.judge_of_column,
            dim="generator",
            distinct=self.distinct,
            spelling=self.spelling,
            pass_name=self.pass_name,
        )
        keys = keys_of(self)
        if keys is not None:
            keep_keys(table, keys.hashes, keys.places)
        return table

    @property
    def is_labelled(self) -> np.ndarray:
        """Whether the truth is known, shape (n_patterns,)."""
        return self.truth != MISSING

    @property
    def n_items(self) -> int:
        """How many items were voted on or labelled."""
        return int(self.count.sum())

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @property
    def items(self) -> np.ndarray:
        """Items of each generator, shape (n_generators,)."""
        return np.bincount(self.generator, self.count, len(self.generators)).astype(int)

    @property
    def labelled(self) -> np.ndarray:
        """Items of each generator by their truth, shape (n_generators, n_classes)."""
        table = np.zeros((len(self.generators), self.n_classes), int)
        known = self.truth != MISSING
        np.add.at(table, (self.generator[known], self.truth[known]), self.count[known])
        return table

    @property
    def missing_share(self) -> float:
        """Share of the votes that is missing."""
        return float((self.votes == MISSING).mean(axis=1) @ self.count / self.n_items)

    def tally(self) -> np.ndarray:
        """Count votes by generator, truth, judge and vote.

        Returns
        -------
        numpy.ndarray of int, shape (n_generators, n_classes + 1, n_judges, n_classes + 1)
            The last entry of the second axis holds items without truth, that of the fourth the
            missing votes.
        """
        k = self.n_classes
        table = np.zeros((len(self.generators), k + 1, len(self.judges), k + 1), int)
        for column, judge in enumerate(self.judge_of_column):
            where = (self.generator, self.truth, judge, self.votes[:, column])  # -1 is the last
            np.add.at(table, where, self.count)
        return table

    def hide(self, *generators: str) -> Self:
        """Forget the truth of some generators' items.

        Parameters
        ----------
        *generators : str
            Names.

        Returns
        -------
        Votes
            The same votes.

        Raises
        ------
        InputError
            If there is no such generator.
        """
        hidden = np.isin(self.generator, _indices(self.generators, generators))
        return replace(self, truth=np.where(hidden, MISSING, self.truth))

    def only(self, *generators: str) -> Self:
        """Keep some generators.

        Parameters
        ----------
        *generators : str
            Names.

        Returns
        -------
        Votes
            With their items only.

        Raises
        ------
        InputError
            If there is no such generator.
        """
        kept = np.sort(_indices(self.generators, generators))
        rows = np.isin(self.generator, kept)
        return replace(
            self,
            votes=self.votes[rows],
            truth=self.truth[rows],
            generator=np.searchsorted(kept, self.generator[rows]),
            count=self.count[rows],
            generators=tuple(self.generators[i] for i in kept),
        )

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        judges: Sequence[str] | None = None,
        item: str | None = "item",
        generator: str | None = "generator",
        judge: str = "judge",
        vote: str = "vote",
        truth: str | None = "truth",
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        classes: Iterable[Any] | None = None,
        repeated: Literal["error", "keep"] = "error",
        calibration: str | LabelDesign | None = None,
    ) -> Self:
        """Read a long table (one row per vote), or a wide one (one column per judge).

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark. What an engine holds (DuckDB, Spark, polars
            lazily) is counted there, so that rows never fill the memory.
        judges : sequence of str, optional
            Columns with the votes of a wide table. Without it the table is long.
        item : str or None, default "item"
            Column that identifies an item within its generator. In a wide table None means that
            every row is an item of its own.
        generator : str or None, default "generator"
            Column that names what made the item; None if there is one generator.
        judge, vote : str
            Columns of a long table. A row without a judge is an item that nobody voted on.
        truth : str or None, default "truth"
            Column with what people said, empty if nobody did; None if there is none.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0, true/false, yes/no, pass/fail, good/bad,
            correct/incorrect and C/I are understood without, in any case; others are refused.
        classes : iterable, optional
            The labels that can be voted, if they are not pass and fail.
        repeated : {"error", "keep"}, default "error"
            What to do with several votes of a judge on one item: refuse, or keep each as a vote
            with the same error rates.
        calibration : {"random", "by_generator", "by_truth", "separate", "by_verdict"}, optional
            How the labelled items were chosen; see `Votes`.

        Returns
        -------
        Votes
            One row for each distinct pattern. Generators and judges are in the order in which they
            occur; of an engine, whose rows have no order, sorted.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, an item has two truths, or a
            judge voted twice on an item, or how labelled items were chosen is not said.

        Examples
        --------
        >>> import pandas as pd
        >>> wide = pd.DataFrame({"a": [1, 0, 1], "b": [1, None, 1], "truth": [1, None, 1]})
        >>> Votes.from_frame(
        ...     wide, judges=["a", "b"], item=None, generator=None, calibration="random"
        ... ).votes.tolist()
        [[0, -1], [1, 1]]
        """
        return cls.of(Verdicts.read(table, _reading(locals())), calibration=calibration)

    @classmethod
    def of(cls, verdicts: Verdicts, calibration: str | LabelDesign | None = None) -> Self:
        """Take a table's verdicts as votes.

        Parameters
        ----------
        verdicts : Verdicts
            Of classes, each of which can be voted.
        calibration : str or LabelDesign, optional
            How the labelled items were chosen, in a panel's words; see `Votes`.

        Returns
        -------
        Votes
            Of the groups as generators.

        Raises
        ------
        InputError
            If verdicts are others than the classes, or how labelled items were chosen is not said.
        """
        same = verdicts.responses == verdicts.classes
        problem = f"verdicts {verdicts.responses} are not the classes {verdicts.classes}"
        expect("panel.Votes.of", same, problem)
        words = _in_words(verdicts)
        votes = cls(
            verdicts.response,
            verdicts.truth,
            verdicts.group,
            words["generators"],
            verdicts.judges,
            verdicts.count,
            words["classes"],
            verdicts.judge_of_column,
            calibration,
            verdicts.spelling,
            verdicts.pass_name,
            verdicts.distinct,
        )
        keys = keys_of(verdicts)
        if keys is not None:
            keep_keys(votes, keys.hashes, keys.places)
        keep_selection(votes, verdicts)
        if votes.design.name not in SAMPLES:
            object.__setattr__(votes, SELECTION, None)  # they were read as if they were
        return votes


def _reading(given: Mapping[str, Any]) -> Reading:
    """How `Votes.from_frame` reads a table; the label design is looked up in a panel's words."""
    judges, long = given["judges"], given["judges"] is None
    expect("panel.Votes.from_frame", long or len(judges) > 0, "judges=[] names no column")
    columns = {"verdict": given["vote"] if long else judges}
    columns |= {"judge": given["judge"] if long else None, "by": given["generator"]}
    columns |= {"calibration": "random", "unparsed": KEPT}
    return Reading.of("panel.Votes.from_frame", {**given, **columns})


def _in_words(verdicts: Verdicts) -> dict[str, tuple[str, ...]]:
    """What votes call the groups and classes of a table."""
    generators = (ONE_GENERATOR,) if verdicts.groups == ("",) else verdicts.groups
    classes = BINARY if verdicts.classes == PASS_OR_FAIL else verdicts.classes
    return {"generators": tuple(generators), "classes": tuple(classes)}


def read_items(table: Any, **reading: Any) -> tuple[dict[str, Any], np.ndarray]:
    """Fields of `Votes` with one row per item, and the names of items; as `from_frame` reads.

    Of judges, the name of each column's.
    """
    given = signature(Votes.from_frame).bind(table, **reading)
    given.apply_defaults()
    how = _reading(given.arguments)
    read = (wide_in_memory if how.judge is None else long_in_memory)(table, how)
    parsed, of_item = Verdicts(**read.fields), read.of_item
    each = {"votes": parsed.response, "truth": parsed.truth, "generator": parsed.group}
    fields: dict[str, Any] = {name: field[of_item] for name, field in each.items()}
    judges = np.array(parsed.judges)[parsed.judge_of_column]
    return fields | {"judges": judges} | _in_words(parsed), np.asarray(read.items)


def _keys(votes: np.ndarray, truth: np.ndarray, generator: np.ndarray) -> np.ndarray:
    """One row per pattern of whole numbers from 0 on."""
    return np.column_stack([generator, truth + 1, votes + 1]).astype(np.int64)


def patterns_of(
    votes: Votes, given: np.ndarray, truth: np.ndarray, generator: np.ndarray
) -> np.ndarray:
    """Index of each item's pattern; -1 if the votes have no such item."""
    known = _keys(votes.votes, votes.truth, votes.generator)
    _, place = distinct(np.concatenate([known, _keys(given, truth, generator)]))
    pattern = np.full(place.max() + 1, MISSING)
    pattern[place[: len(known)]] = np.arange(len(known))
    return pattern[place[len(known) :]]


def _indices(names: Sequence[str], wanted: tuple[str, ...]) -> np.ndarray:
    unknown = [name for name in wanted if name not in names]
    problem = f"no generator {unknown}; there are {list(names)}"
    expect("panel.Votes", wanted and not unknown, problem)
    return np.array([list(names).index(name) for name in dict.fromkeys(wanted)])
