"""`Attempts`: several attempts of agents at the same tasks, each with a verdict and some with a
truth.

A data class of its own: `prevalence.items.Items` keeps patterns, and a task's name, its cost and
what is left without it (closed forms leave out one task after another) would not survive them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.attempts._likelihood import PLAIN, can_be_weighed
from bayesjudge.core.counting import distinct
from bayesjudge.core.errors import Problem, checking, expect
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of, numbers_in
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import (
    code_rows,
    columns_of,
    is_counted_in_place,
    not_single,
    require_distinct,
)
from bayesjudge.verdicts.arrays import whole_numbers
from bayesjudge.verdicts.by_item import Rows
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.reading import (
    BAD,
    GOOD,
    KEPT,
    OF_VERDICTS,
    TRUTHS,
    UNLABELLED,
    VERDICTS,
    Reading,
    one_row_an_output,
)
from bayesjudge.verdicts.view import View

#: Label designs that attempts can have.
CALIBRATIONS = ("random", "by_truth", "separate", "by_verdict")
#: Attempts of one agent at one task beyond which the truths are too many to sum over, and in how
#: many ways those of attempts that several people labelled may be shared out.
MOST_ATTEMPTS, MOST_WAYS = 100, 50_000
#: Columns that are looked at for people's names, and fewest rows of attempts that have several.
MOST_COLUMNS, FEWEST = 20, 20


@dataclass(frozen=True, eq=False)
class Attempts(View):
    """Attempts of agents at tasks, by what the judge and people say of each.

    Parameters
    ----------
    cells : array_like of int, shape (n_tasks, n_systems, 3, 2)
        Attempts at a task by agent, truth (bad, good, no label) and verdict (fail, pass); an agent
        may have none.
    tasks : sequence of str
        Names.
    systems : sequence of str
        Names of the agents.
    calibration : {"random", "by_truth", "separate", "by_verdict"}
        How the labelled attempts were chosen; see `bayesjudge.prevalence.LabelDesign`. Labels of
        several people are at random or by verdict.
    k : sequence of int, optional
        Numbers of tries that are asked for, such as ``(1, 4)``; by default 1, 2, 4 … and the
        largest number of attempts at a task.
    cost : array_like of float, shape (n_tasks, n_systems), optional
        What the attempts of an agent at a task cost together.
    judged : bool, default True
        Whether a judge gave verdicts. If not, every verdict is the attempt's truth.
    unparsed : array_like of int, shape (n_tasks, n_systems, 3), optional
        How many of the fails are attempts without a verdict, by truth: a third state in the model.
        Closed forms ask what the judge passed only, for which they are fails.
    spelling, pass_name : str, default ""
        How labels were read, and the label that was read as pass if it is no word for it.
    dropped : array_like of int, shape (n_systems,), optional
        Attempts without a verdict that were left out.
    people : sequence of str, default ()
        Names of several people who labelled, if they may err: truths in `cells` are then those that
        two gave alike or that were decided, and the model reads `kinds` and `states`.
    kinds : array_like of int, shape (n_kinds, 1 + n_people), optional
        What was decided of attempts, and what each person said; -1 for nothing.
    states : array_like of int, shape (n_tasks, n_systems, n_kinds, 3), optional
        Attempts by kind and verdict, none as the third; by default what `cells` says.

    Raises
    ------
    InputError
        If shapes differ, a count or cost is negative, `calibration` is unknown, an agent has no
        attempt or no label, a task has more than 100 attempts of one agent, or several people's
        labels were chosen otherwise or leave too many ways to share out the truths of a task.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"task": ["a", "a", "b", "b"], "verdict": [1, 1, 0, 1],
    ...                     "truth": [1, None, None, 0]})
    >>> Attempts.from_frame(log, calibration="random")
    2 tasks, 4 attempts, 2 of them labelled
    """

    cells: Any
    tasks: Sequence[str]
    systems: Sequence[str]
    calibration: str | LabelDesign
    k: Sequence[int] = ()
    cost: Any = None
    judged: bool = True
    unparsed: Any = None
    spelling: str = ""
    pass_name: str = ""
    dropped: Any = None
    people: Sequence[str] = ()
    kinds: Any = None
    states: Any = None

    def __post_init__(self) -> None:
        design_of(self.calibration, "Attempts", "plain", known=CALIBRATIONS)
        tasks, systems = (tuple(map(str, names)) for names in (self.tasks, self.systems))
        with checking("attempts.Attempts") as require:
            shape = (len(tasks), len(systems))
            cells = whole_numbers("cells", self.cells, (*shape, TRUTHS, VERDICTS), require)
            require_names(systems, "systems", require)
            cost = self.cost
            if cost is not None:
                cost = array_of(float, "attempts.Attempts", cost=cost)
                fits = cost.shape == shape and bool((np.isfinite(cost) & (cost >= 0)).all())
                require(fits, f"cost must be {shape} numbers of 0 or more")
            unparsed = self.unparsed
            if unparsed is not None:
                unparsed = whole_numbers("unparsed", unparsed, (*shape, TRUTHS), require)
                fits = self.judged and bool((unparsed <= cells[..., 0]).all())
                require(fits, "among-fails")
                unparsed = unparsed if unparsed.any() else None
            dropped = np.zeros(len(systems), int) if self.dropped is None else self.dropped
            dropped = whole_numbers("dropped", dropped, (len(systems),), require)
        with checking("attempts.Attempts") as require:
            kinds, states = self._kinds_and_states(cells, unparsed, require)
        n = cells.sum(axis=(2, 3))
        largest = int(n.max(initial=0))
        k = tuple(self.k) or (*(2**i for i in range(8) if 2**i < largest), max(largest, 1))
        with checking("attempts.Attempts") as require:
            words = f"a task has {largest} attempts of one agent; {MOST_ATTEMPTS} are the most"
            require(largest <= MOST_ATTEMPTS, words, "too-many-attempts")
            whole = all(isinstance(i, int | np.integer) and 0 < i <= MOST_ATTEMPTS for i in k)
            rising = whole and k == tuple(sorted(set(k)))
            require(rising, f"must be rising whole numbers from 1 to {MOST_ATTEMPTS}", k=k)
            known = cells[..., :UNLABELLED, :].sum(axis=(0, 2, 3))
            for name, attempts, labels in zip(systems, n.sum(axis=0), known, strict=True):
                where = f" of {name!r}" if len(systems) > 1 else ""
                require(attempts > 0, f"there is no attempt{where}")
                lack = "none-agree" if self.people else "no-truth"
                require(labels > 0 or not attempts, lack, where=where)
            if self.people:
                remedy = f"name one column of labels (truth={self.people[0]!r})"
                words = f"calibration={self.design.name!r}: several people, who err, label a sample"
                require(self.design.same_items, f"{words} of these attempts; {remedy}")
                undecided = states[:, :, kinds[:, 0] == MISSING]
                ways = np.prod(undecided + 1.0, axis=(2, 3)).max(initial=0)
                words = f"a task's truths can be shared out in {ways:,.0f} ways; {MOST_WAYS:,}"
                require(ways <= MOST_WAYS, f"{words} are the most; decide some, or {remedy}")
        self._set(cells=cells, tasks=tasks, systems=systems, k=tuple(map(int, k)), cost=cost)
        self._set(unparsed=unparsed, dropped=dropped, kinds=kinds, states=states)

    def _kinds_and_states(
        self, cells: np.ndarray, unparsed: np.ndarray | None, require: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """What is known of attempts, and how many there are of each by verdict, or none."""
        none = np.zeros_like(cells[..., 0]) if unparsed is None else unparsed
        states = np.stack([cells[..., 0] - none, cells[..., 1], none], axis=-1)
        if not self.people:
            return PLAIN, states
        there = self.kinds is not None and self.states is not None
        require(there, "people= needs kinds= and states=, what each said: from_frame reads them")
        if not there:
            return PLAIN, states
        kinds = np.asarray(self.kinds)
        labels = kinds.ndim == 2 and bool(np.isin(kinds, (MISSING, BAD, GOOD)).all())
        width = 1 + len(self.people)
        words = f"kinds must be rows of {width} labels (1, 0, -1): decided, and of each person"
        require(labels and kinds.shape[1] == width, f"{words}; got shape {kinds.shape}")
        by_kind = (*cells.shape[:2], len(kinds), states.shape[-1])
        given = whole_numbers("states", self.states, by_kind, require)
        same = given.shape == by_kind and (given.sum(axis=2) == states.sum(axis=2)).all()
        require(same, "states has other attempts than cells")
        return kinds, given

    def __repr__(self) -> str:
        several = f" of {len(self.systems)} agents" if len(self.systems) > 1 else ""
        labelled = f", {self.labelled_n:,} of them labelled" if self.judged else ""
        attempts = how_many(int(self.cells.sum()), "attempt")
        tasks = how_many(len(self.tasks), "task")
        return f"{tasks}, {attempts}{several}{labelled}{self.without_verdict}"

    @property
    def without_verdict(self) -> str:
        """``, 12 without a verdict``, for a sentence; nothing if every attempt has one."""
        lost = "" if self.unparsed is None else f", {int(self.unparsed.sum()):,} without a verdict"
        what = "a verdict" if self.judged else "an outcome"
        left = f", {int(self.dropped.sum()):,} more without {what} left out"
        return lost + left * bool(self.dropped.any())

    @property
    def labelled_n(self) -> int:
        """Attempts with a truth, or with a label of somebody."""
        labelled = (self.kinds != MISSING).any(axis=1)
        return int(self.states[:, :, labelled].sum())

    @property
    def known(self) -> bool:
        """Whether every attempt has a truth that tells the success."""
        labels = int(self.cells[..., :UNLABELLED, :].sum())
        return self.design.same_items and not self.people and labels == int(self.cells.sum())

    def _named(self, system: str) -> tuple[str, ...]:
        """An agent as results name it: not at all, if there is no other."""
        return (system,) if len(self.systems) > 1 else ()

    @cached_property
    def tries(self) -> np.ndarray:
        """Attempts by task and agent."""
        return np.asarray(self.cells.sum(axis=(2, 3)))

    @cached_property
    def can_be_weighed(self) -> bool:
        """Whether distinct tasks are few enough for the model; `closed_forms` take any number."""
        return can_be_weighed(self.states, self.kinds)

    @property
    def paired(self) -> bool:
        """Whether agents tried the same tasks."""
        return bool(((self.tries > 0).sum(axis=1) > 1).any())

    @property
    def labelled_twice(self) -> int:
        """Tasks of an agent with two labelled verdicts of one truth: they tell the persistence."""
        judged = self.cells[..., [BAD, GOOD], :].sum(axis=3)
        if self.unparsed is not None:
            judged = judged - self.unparsed[..., [BAD, GOOD]]
        return int((judged > 1).any(axis=2).sum())

    def system(self, *names: str) -> Self:
        """Keep some agents.

        Parameters
        ----------
        *names : str
            Of `systems`.

        Returns
        -------
        Attempts
            The tasks that they tried.

        Raises
        ------
        InputError
            If there is no such agent.
        """
        at = [self._place(name) for name in names]
        seen = self.tries[:, at].any(axis=1)
        counted = {"cells": self.cells, "states": self.states}
        counted |= {"cost": self.cost, "unparsed": self.unparsed}
        kept: dict[str, Any] = {
            name: x if x is None else x[seen][:, at] for name, x in counted.items()
        }
        tasks = [name for name, there in zip(self.tasks, seen, strict=True) if there]
        return replace(self, tasks=tasks, systems=names, dropped=self.dropped[at], **kept)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        task: str = "task",
        attempt: str | None = None,
        by: str | None = None,
        verdict: str | None = "verdict",
        truth: str | Sequence[str] = "truth",
        adjudicated: str | None = None,
        rater: str | None = None,
        cost: str | None = None,
        k: int | Sequence[int] = (),
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["verdict", "fail", "drop"] | None = None,
    ) -> Self:
        """Read a table: one row per attempt.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark, of which the named columns are read.
        calibration : {"random", "by_truth", "separate", "by_verdict"}
            How the labelled attempts were chosen. Without a judge none is needed.
        task : str, default "task"
            Column that names the task.
        attempt : str, optional
            Column that numbers the attempts at a task: no number may occur twice.
        by : str, optional
            Column that names the agent.
        verdict : str, optional
            Column with the judge's verdict; None if `truth` has the outcome of every attempt, as of
            tests that do not err.
        truth : str or sequence of str, default "truth"
            Column with the human label or the known outcome, empty where there is none; or a column
            for each of several people, who err too.
        adjudicated : str, optional
            Column with what was decided of attempts: it is the truth.
        rater : str, optional
            Column that names the person of a row, of a table with a row per person; it takes
            `attempt`. The judge may be one of them: `verdict` is then its name.
        cost : str, optional
            Column with what an attempt cost, in any currency.
        k : int or sequence of int, optional
            Numbers of tries that are asked for.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none; see `bayesjudge.prevalence.Counts.from_frame`.
        unparsed : {"verdict", "fail", "drop"}, optional
            What an attempt without a verdict is; required if there are any: a verdict of its own,
            whose probability given the truth the model learns from labels; the judge's fail, which
            persists as its fails do; or dropped, right if such attempts are as good as the others.

        Returns
        -------
        Attempts
            One entry per task and agent.

        Raises
        ------
        InputError
            If a column is missing, labels or costs are not understood, an attempt occurs twice, no
            two people agree on an attempt, or `unparsed` is required and was not given.
        """
        if verdict is None:
            calibration = calibration or "random"
            plain = isinstance(truth, str) and adjudicated is None
            problem = "outcomes stand in one column; people's labels go with a verdict="
            expect("attempts.Attempts", plain, problem)
        keys = [name for name in (by, task) if name is not None]
        if rater is not None:
            with checking("attempts.Attempts") as require:
                words = "rater= takes attempt=, a column that tells attempts at a task apart"
                require(attempt is not None and verdict is not None, words)
                require(cost is None, "cost= goes with a row per attempt, not with rater=")
            key = {"item": attempt, "by": None, "covariates": keys, "unparsed": KEPT}
            long = Reading.of("attempts.Attempts", locals() | key, several_people=True)
            table, wide = one_row_an_output(table, long)
            truth, rater = wide.people, None
        about = {"calibration": calibration, "verdict": verdict or truth, "by": by}
        ways = OF_VERDICTS if verdict is None else ("verdict", *OF_VERDICTS)
        how = Reading.of("attempts.Attempts", locals() | about, several_people=True)
        if attempt is not None:
            remedy = "an attempt has one row; with a row per person, name who labelled (rater=)"
            require_distinct(table, *keys, attempt, remedy=remedy)
        elif not is_counted_in_place(table):
            _require_row_per_attempt(table, keys, how)
        labelled = list(dict.fromkeys(how.labels))
        costs = [cost] if cost is not None else []
        grouped = not costs and is_counted_in_place(table)
        counts = _counts(
            Rows(table, *labelled, *costs, names=keys, in_order=True, grouped=grouped),
            *(how, task, by, cost),
            judged=verdict is not None,
        )
        return cls(calibration=how.calibration, k=np.atleast_1d(k).tolist(), **counts)


def _counts(
    source: Rows, how: Reading, task: str, by: str | None, cost: str | None, *, judged: bool
) -> dict[str, Any]:
    """Fields that rows tell; with many of them their memory is free once these are counted."""
    n = source.count
    labels = how.meanings(source)
    verdicts = source.places(labels, how.verdict[0])
    said = [source.places(labels, column) for column in (how.truth, *how.people)]
    truths = _agreed(*said)
    lost = verdicts == MISSING
    if judged:
        how.require_settled({how.verdict[0]: int(n[lost].sum())})
    else:
        _require_outcomes(how, int(n[lost].sum()))
    if how.unparsed in ("verdict", "fail"):
        verdicts = np.where(lost, 0, verdicts)
        truths = truths if judged else verdicts
        said = said if judged else [truths]
    tasks, place = source.groups(task)
    nobody = np.zeros(len(place), np.int64)
    systems, system = (("agent",), nobody) if by is None else source.groups(by)
    kept = verdicts != MISSING
    truths = np.where(truths == MISSING, UNLABELLED, truths)
    cells = np.zeros((len(tasks), len(systems), TRUTHS, VERDICTS), np.int64)
    np.add.at(cells, tuple(x[kept] for x in (place, system, truths, verdicts)), n[kept])
    counts: dict[str, Any] = {"cells": cells, "tasks": tasks, "systems": systems}
    if how.unparsed == "verdict":
        none = np.zeros(cells.shape[:3], np.int64)
        np.add.at(none, tuple(x[lost] for x in (place, system, truths)), n[lost])
        counts["unparsed"] = none
    if cost is not None:
        spent = np.zeros(cells.shape[:2])
        prices = numbers_in(*source.columns[cost], cost)
        with checking(f"column {cost!r}") as require:
            odd = ~(np.isfinite(prices) & (prices >= 0))
            wrong = list(dict.fromkeys(source.rows(cost)[odd]))
            words = "expected costs, numbers of 0 or more, got "
            require(not len(wrong), words + few(list(map(str, wrong))), "not-costs")
        np.add.at(spent, (place[kept], system[kept]), prices[kept])
        counts["cost"] = spent
    if how.people:
        first, kind = distinct(np.column_stack(said) + 1)
        states = np.zeros((*cells.shape[:2], len(first), VERDICTS + 1), np.int64)
        state = np.where(lost, VERDICTS, verdicts) if how.unparsed == "verdict" else verdicts
        np.add.at(states, tuple(x[kept] for x in (place, system, kind, state)), n[kept])
        kinds = np.column_stack(said)[first]
        counts |= {"people": how.people, "kinds": kinds, "states": states}
    dropped = np.bincount(system[~kept], n[~kept], len(systems)).astype(np.int64)
    name = pass_name_of(how.pass_value, labels.spelling)
    about = {"judged": judged, "spelling": str(labels.spelling), "pass_name": name}
    return counts | about | {"dropped": dropped}


def _require_row_per_attempt(table: Any, keys: Sequence[str], how: Reading) -> None:
    """Refuse rows of which several are of one attempt, each with what another person said.

    Two columns tell: one of attempts, whose rows have one verdict, and one of people, who label an
    attempt once and several of a task. Not where a column numbers the rows of each task.
    """
    times = Counter(columns_of(table))
    others = [c for c, n in times.items() if n == 1 and c not in (*keys, *how.labels)]
    if len(how.labels) != 2 or not 2 <= len(others) <= MOST_COLUMNS:
        return
    others = [c for c in others if not not_single(table, c)]
    rows = code_rows(table, *how.labels, names=keys, optional=others)
    there = {column: place >= 0 for column, (place, _) in rows.items()}
    labelled = there[str(how.truth)]

    def alike(*columns: str, among: np.ndarray | slice = slice(None)) -> np.ndarray:
        """How many rows there are of each combination with the keys."""
        places = [rows[column].place[among] for column in (*keys, *columns)]
        return np.bincount(distinct(np.column_stack(places) + 1)[1])

    single = [name for name in others if alike(name).max() == 1]
    if any(len(rows[name].cells) < len(labelled) for name in single):
        return
    people = [name for name in others if (there[name] == labelled).all()]
    for attempt in (name for name in others if name not in single and there[name].all()):
        again = alike(attempt, among=labelled)
        verdicts = alike(attempt, *how.verdict)
        if again[again > 1].sum() < FEWEST or len(verdicts) > len(alike(attempt)):
            continue
        for person in (name for name in people if name not in (attempt, *single)):
            twice = alike(attempt, person, among=labelled).max() > 1
            expect("attempts.Attempts", twice, "row-per-person", person=person, attempt=attempt)


def _require_outcomes(how: Reading, lost: int) -> None:
    """Ask what attempts without an outcome are: perhaps a column of labels was named."""
    words = (
        f"{how_many(lost, 'attempt', 'have')} no outcome; if these are people's labels, name "
        "the judge's column too (verdict=); else say what such attempts are: unparsed='fail' "
        "(no success) or unparsed='drop'"
    )
    problem = Problem(words, "no-verdict", "unparsed", lost)
    expect(f"column {how.verdict[0]!r}", not lost or how.unparsed, problem)


def _agreed(decided: np.ndarray, *people: np.ndarray) -> np.ndarray:
    """What was decided, or what two people or more said of an attempt, who all agree."""
    if not people:
        return decided
    said = np.stack(people)
    passes, several = (said == 1).sum(axis=0), (said != MISSING).sum(axis=0)
    alike = (several > 1) & ((passes == 0) | (passes == several))
    return np.where(alike & (decided == MISSING), passes > 0, decided)
