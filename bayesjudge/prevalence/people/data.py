"""The data class: verdicts of one judge beside what each of several people said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.diagnosis import keep_selection
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.screen import fitted, how_many
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.verdicts.reading import KEPT, Reading, wide_in_memory
from bayesjudge.verdicts.table import MISSING, Verdicts
from bayesjudge.verdicts.view import View

#: Label designs of such tables; items of one known propensity are a stratum of a random one.
SUITED = ("random", "by_verdict", "by_truth", "separate")


def _of_verdicts(name: str, meaning: str) -> Any:
    """What the table of verdicts says."""
    return property(attrgetter(f"verdicts.{name}"), doc=meaning)


@dataclass(frozen=True, eq=False, repr=False)
class PeopleCounts(View):
    """Verdicts of a judge, and labels of people who err as it does: the truth is what nobody saw.

    Parameters
    ----------
    verdicts : Verdicts
        With passes and fails of one judge and of people (`Verdicts.people`), of systems or strata;
        a truth is what was adjudicated.
    design_effects : sequence of float, optional
        If rows share items: how many rows of each system one independent row is worth.

    Raises
    ------
    InputError
        If there is not one judge, nobody gave a label, or labels were chosen by those of the only
        person.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"verdict": [1, 0, 1, 1], "ann1": [1, 0, 0, None],
    ...                     "ann2": [1, 0, 1, None]})
    >>> counts = PeopleCounts.from_frame(log, truth=["ann1", "ann2"], calibration="random")
    >>> counts.people, counts.labelled_n, counts.agreement
    (('ann1', 'ann2'), 3, 0.6666666666666666)
    """

    verdicts: Verdicts
    design_effects: Sequence[float] | None = None

    def __post_init__(self) -> None:
        table = self.verdicts
        with checking("prevalence.people.PeopleCounts") as require:
            others = [name for name in table.judges if name not in table.people]
            single = len(others) == 1 and table.response.shape[1] == len(table.judges)
            require(single, f"expected one judge beside people, got {others}: take one at a time")
            require(table.people, "nobody is named as a person: truth=[one column per person]")
            two = len(table.classes) == len(table.responses or ()) == 2 and table.item is None
            require(two, f"expected passes and fails, got classes {list(table.classes)}")
            design = design_of(
                self.calibration, "prevalence.people.PeopleCounts", "plain", known=SUITED
            )
            require(bool(self.labelled_n) or not two, "no item has a label")
            same = design.same_items or self.design_effects is None
            require(same, "repeats= needs labels of these items")
            about = design.same_items or not two or bool(self.test_n)
            words = f"calibration={design.name!r}: no item without a label, which it is about"
            require(about, words)
            words = "calibration='by_truth': what the first person said chose the labelled items; "
            require(self.unchosen, f"{words}another person's labels tell how often people err")

    calibration = _of_verdicts("calibration", "How the labelled items were chosen.")
    dim = _of_verdicts("dim", "What `systems` are.")
    pass_name = _of_verdicts("pass_name", "The label that was read as pass, if no word for it.")
    distinct = _of_verdicts("distinct", "Whether a column showed that a row is an item of its own.")
    spelling = _of_verdicts("spelling", "How labels were read.")

    @property
    def systems(self) -> tuple[str, ...] | None:
        """Names of systems or strata, if there are several."""
        names = tuple(self.verdicts.groups)
        return None if names == ("",) else names

    @property
    def propensity(self) -> None:
        """None: items of one propensity are a stratum, within which labels are random."""
        return None

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people."""
        return tuple(self.verdicts.people)

    @property
    def unchosen(self) -> tuple[str, ...]:
        """The people whose labels did not choose which items are labelled: they tell their errors.

        By truth, it is the first person whose labels chose.
        """
        return self.people[self.design.name == "by_truth" :]

    @property
    def has_most(self) -> bool:
        """Whether most of the people are another question than one of them: there are three."""
        return len(self.unchosen) > 2

    @property
    def judge(self) -> str:
        """Name of the judge."""
        return next(name for name in self.verdicts.judges if name not in self.people)

    @cached_property
    def labels(self) -> np.ndarray:
        """What each person said, shape (n_patterns, n_people): 1 pass, 0 fail, -1 nothing."""
        table = self.verdicts
        return table.response[:, [table.judges.index(name) for name in self.people]]

    @property
    def verdict(self) -> np.ndarray:
        """What the judge said, shape (n_patterns,)."""
        return np.asarray(self.verdicts.response[:, self.verdicts.judges.index(self.judge)])

    @property
    def said(self) -> np.ndarray:
        """Share of the people who labelled them that pass items of a pattern; ``nan`` of none."""
        given = self.labels != MISSING
        total = np.where(given, self.labels, 0).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / given.sum(axis=1))

    @property
    def labelled_n(self) -> int:
        """Items with a label of somebody, or an adjudicated one."""
        return int(self.verdicts.count[self.has_label].sum())

    @property
    def has_label(self) -> np.ndarray:
        """Whether somebody labelled items of a pattern, or they were adjudicated."""
        return np.asarray((self.labels != MISSING).any(axis=1) | self.verdicts.is_labelled)

    @property
    def test_n(self) -> int:
        """Items without a label."""
        return int(self.verdicts.count.sum()) - self.labelled_n

    @property
    def shared_n(self) -> int:
        """Items with labels of two people or more."""
        several = (self.labels != MISSING).sum(axis=1) > 1
        return int(self.verdicts.count[several].sum())

    @property
    def checked_n(self) -> int:
        """Items with a label that another one, or what was adjudicated, checks."""
        given = (self.labels != MISSING).sum(axis=1) + self.verdicts.is_labelled
        return int(self.verdicts.count[given > 1].sum())

    @property
    def pairs(self) -> tuple[int, int]:
        """Pairs of labels of one item, and how many of them agree."""
        n = agree = 0
        for first, other in combinations(self.labels.T, 2):
            both = (first != MISSING) & (other != MISSING)
            n += int(self.verdicts.count[both].sum())
            agree += int(self.verdicts.count[both & (first == other)].sum())
        return n, agree

    @property
    def agreement(self) -> float:
        """Share of pairs of labels of one item that agree; ``nan`` if nobody shares an item."""
        n, agree = self.pairs
        return agree / n if n else float("nan")

    @property
    def shares(self) -> np.ndarray:
        """Share of each system or stratum among the items that the answer is about."""
        count = np.where(self.has_label & (not self.design.same_items), 0, self.verdicts.count)
        items = np.bincount(self.verdicts.group, count, minlength=len(self.verdicts.groups))
        return np.asarray(items / items.sum())

    def counts(self, truth: np.ndarray) -> Counts:
        """Take some labels for the truth, where nothing was adjudicated.

        Parameters
        ----------
        truth : array_like of int, shape (n_patterns,)
            1 good, 0 bad, -1 no label.

        Returns
        -------
        Counts
            Of the judge's verdicts and these labels, whose errors nobody asks about.
        """
        table = self.verdicts
        column = [table.judges.index(self.judge)]
        counts = Counts.of(
            replace(
                table,
                response=table.response[:, column],
                truth=np.where(table.is_labelled, table.truth, truth),
                judges=(self.judge,),
                judge_of_column=None,
                people=(),
                about=None,
                unparsed=np.asarray(table.unparsed)[:, column],
            ).collapsed()
        )
        return keep_selection(counts, table)

    @cached_property
    def agreed(self) -> Counts:
        """Labels that two people or more gave alike, and adjudicated ones; no other label."""
        several = (self.labels != MISSING).sum(axis=1) > 1
        alike = several & np.isin(self.said, (0, 1))
        return self.counts(np.where(alike, self.said, MISSING).astype(np.int64))

    @cached_property
    def most(self) -> Counts:
        """What most of an item's people said, and what was adjudicated; of a tie, a pass."""
        with np.errstate(invalid="ignore"):
            return self.counts(np.where(np.isnan(self.said), MISSING, self.said >= 0.5).astype(int))

    def scores(self, group: int) -> Scores:
        """Take verdicts of one system for scores, and the share of people that pass for labels.

        Parameters
        ----------
        group : int
            Place of the system among `systems`; 0 if there is one.

        Returns
        -------
        Scores
            Both from 0 to 1, with numeric labels.
        """
        mine = self.verdicts.group == group
        return Scores(
            self.verdict[mine].astype(float),
            self.said[mine],
            self.verdicts.count[mine],
            self.calibration,
            (0, 1),
            (0, 1),
            pass_name=self.pass_name,
        )

    def __repr__(self) -> str:
        pairs = f"{self.shared_n:,} by two or more, of whose labels {self.agreement:.0%} agree"
        return fitted(
            [
                f"PeopleCounts of {how_many(self.test_n + self.labelled_n, 'item')}, labels "
                f"{self.design.name}",
                f"judge {self.judge!r}; {len(self.people)} people: {', '.join(self.people)}",
                f"{self.labelled_n:,} labelled, {pairs if self.shared_n else 'none by two people'}",
            ]
        )

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        truth: str | Sequence[str],
        calibration: str | LabelDesign | None = None,
        verdict: str = "verdict",
        adjudicated: str | None = None,
        rater: str | None = None,
        item: str | None = None,
        repeats: Literal["system", "judge"] | None = None,
        by: str | None = None,
        stratum: str | None = None,
        propensity: str | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["fail", "drop"] | None = None,
    ) -> Self:
        """Count the rows of a table by what the judge and each person said.

        Parameters
        ----------
        table : dataframe
            One row per item, or a row per person (`rater`); pandas, polars, Arrow, DuckDB or Spark.
        truth : str or sequence of str
            Columns with the labels of each person, empty where there is none; one column with
            `rater`, or of a single person.
        calibration : {"random", "by_verdict", "by_truth", "separate", "known_propensity"}
            How the labelled items were chosen; separate: they are others, of which another share
            may be good; by_truth: by what the first person said, whose errors they do not tell.
        verdict : str
            Column with the judge's verdict.
        adjudicated : str, optional
            Column with the label that was settled in the end, where one was: it is the truth.
        rater : str, optional
            Column that names the person of a row; it takes `item`.
        item : str, optional
            Column that identifies the item of a row.
        repeats : {"system", "judge"}, optional
            What repeats if rows share items, as in `bayesjudge.prevalence.items`: the posterior is
            then that of as many independent rows as tell as much. Needs `item`.
        by, stratum : str, optional
            Columns of the system, or of the stratum.
        propensity : str, optional
            Column with the known probability of a label; each is a stratum.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none, as in `Counts.from_frame`.
        unparsed : {"fail", "drop"}, optional
            What rows without a verdict are; required where there are any.

        Returns
        -------
        PeopleCounts
            Items by pattern.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, a person labelled an item twice, or
            the design does not suit.
        """
        how = Reading.of("prevalence.people.PeopleCounts.from_frame", locals(), several_people=True)
        if repeats is None:
            return cls.of(Verdicts.read(table, how, guess_items=True), str(how.truth))
        alone = how.item is not None and how.rater is None and how.stratum is None
        expect(how.subject, alone, "repeats= takes item=, a column per person, and no strata")
        counts = cls.of(Verdicts.read(table, replace(how, item=None)), str(how.truth))
        return replace(counts, design_effects=_design_effects(table, how, repeats, counts))

    @classmethod
    def of(cls, verdicts: Verdicts, person: str = "person") -> Self:
        """Take a table of verdicts and of labels of several people, or of one.

        Parameters
        ----------
        verdicts : Verdicts
            Of two classes and one judge.
        person : str, default "person"
            What the one person is called whose labels are the table's truth.

        Returns
        -------
        PeopleCounts
            In which that person errs too.
        """
        came = verdicts
        if not verdicts.people:
            columns = np.column_stack([verdicts.response, verdicts.truth])
            none = np.zeros((len(verdicts.groups), 1), np.int64)
            verdicts = replace(
                verdicts,
                response=columns,
                truth=np.full(len(columns), MISSING),
                judges=(*verdicts.judges, person),
                judge_of_column=None,
                people=(person,),
                unparsed=np.column_stack([np.asarray(verdicts.unparsed), none]),
            )
        if verdicts.propensity is not None:
            verdicts = replace(verdicts, calibration="random", propensity=None)
        return keep_selection(cls(verdicts), came)


def _design_effects(
    table: Any, how: Reading, repeats: Literal["system", "judge"], counts: PeopleCounts
) -> tuple[float, ...]:
    """How many rows of each system one independent row is worth, by what most people said."""
    import pandas as pd

    from bayesjudge.prevalence.items.data import Items
    from bayesjudge.prevalence.items.effective import counts_of

    read = wide_in_memory(table, replace(how, unparsed=KEPT))
    rows = PeopleCounts.of(Verdicts(**read.fields), str(how.truth))
    verdict = np.where(rows.verdict == MISSING, 0, rows.verdict)
    most = np.where(np.isnan(rows.said), np.nan, rows.said >= 0.5)
    frame = pd.DataFrame({"item": read.items, "verdict": verdict, "truth": most})
    frame["system"] = np.array(rows.verdicts.groups, object)[rows.verdicts.group]
    frame["system"] = frame["system"].where(frame["system"] != "", "all")
    kept = frame[(rows.verdict != MISSING) | (how.unparsed == "fail")]
    items = Items.from_frame(
        kept, item="item", by="system", repeats=repeats, calibration=how.calibration
    )
    effects = []
    for name in counts.systems or ("all",):
        worth = counts_of(items, name, 0.95)
        n = float(np.sum(worth.test_n) + np.sum(worth.labelled_n))
        effects.append((kept["system"] == name).sum() / n)
    return tuple(map(float, effects))
