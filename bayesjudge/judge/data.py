"""What judges and people said of the same outputs, and what the label design makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.label_design import LabelDesign
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import each_name, free_name, require_columns
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.prevalence.people.exact import drawn_from
from bayesjudge.prevalence.people.model import PeopleErrors
from bayesjudge.prevalence.scores import Scores
from bayesjudge.prevalence.scores.data import read_systems
from bayesjudge.truth.pairs import DRAWS, Pairs
from bayesjudge.verdicts.groups import adds_up
from bayesjudge.verdicts.table import Verdicts
from bayesjudge.verdicts.view import View


@dataclass(frozen=True, eq=False, repr=False)
class Judged(View):
    """What judges and people said of the same outputs.

    Parameters
    ----------
    verdicts : Verdicts, optional
        Of passes and fails or of classes; several judges have a column each.
    scores : mapping of (str, str) to Scores, optional
        In place of verdicts: numbers, by judge and system.
    tuned : int, default 0
        Labels left out, since the judge was tuned on them.
    people : prevalence.people.PeopleCounts, optional
        Of labels of several people, who err too: verdicts are then those beside labels that two
        gave alike, and shares come from the posterior of what is so behind all their labels.

    Raises
    ------
    InputError
        If neither or both are given, or no output has a label.

    Examples
    --------
    >>> table = Verdicts.from_counts([[70, 30], [10, 90], [380, 620]], calibration="random")
    >>> Judged(table).kind
    'verdicts'
    """

    verdicts: Verdicts | None = None
    scores: Mapping[tuple[str, str], Scores] | None = None
    tuned: int = 0
    people: PeopleCounts | None = None
    judges: tuple[str, ...] = field(init=False)
    systems: tuple[str, ...] = field(init=False)
    calibration: Any = field(init=False)
    propensity: Any = field(init=False)
    #: The label that was read as pass, if it is no word for it.
    pass_name: str = field(init=False)

    def __post_init__(self) -> None:
        with checking("judge.Judged") as require:
            either = (self.verdicts is None) != (self.scores is None)
            require(either, "expected verdicts or scores, one of the two")
            people = () if self.verdicts is None else self.verdicts.people
            words = "labels of several people: hand over prevalence.people.PeopleCounts, in which "
            words += "they err too, or name one column (truth=)"
            require(not people, words)
        if self.verdicts is not None:
            judges, systems = self.verdicts.judges, self.verdicts.groups
            systems = ("",) if adds_up(self.verdicts.dim) else systems
        else:
            judges, systems = (
                tuple(dict.fromkeys(x)) for x in zip(*self.scores or {}, strict=True)
            )
        object.__setattr__(self, "judges", tuple(map(str, judges)))
        object.__setattr__(self, "systems", tuple(map(str, systems)))
        for name in ("calibration", "propensity", "pass_name"):
            object.__setattr__(self, name, getattr(self.table, name))
        with checking("judge.Judged") as require:
            require(self.labelled, "no-labels-of-outputs")

    @property
    def table(self) -> Any:
        """The table of verdicts, or of scores one of them."""
        return self.verdicts or next(iter((self.scores or {}).values()))

    @property
    def kind(self) -> Literal["verdicts", "classes", "grades", "scores"]:
        """Pass and fail, several classes, numbers of both, or numbers against pass and fail."""
        if self.verdicts is not None:
            return "verdicts" if len(self.verdicts.classes) == 2 else "classes"
        return "grades" if self.table.numeric else "scores"

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Pairs]:
        """Kinds of pairs by judge and system."""
        if self.scores is not None:
            return {at: _of_scores(scores) for at, scores in self.scores.items()}
        verdicts = self.verdicts
        assert verdicts is not None
        pairs = {
            (judge, system): Pairs.of_verdicts(verdicts, j, None if len(self.systems) == 1 else s)
            for j, judge in enumerate(self.judges)
            for s, system in enumerate(self.systems)
        }
        return pairs if self.people is None else _behind_errors(self.people, pairs)

    @property
    def labelled(self) -> int:
        """Outputs with a label, of the judge with most."""
        return max(
            sum(self.pairs[judge, system].labelled for system in self.systems)
            for judge in self.judges
        )

    @property
    def seen(self) -> int:
        """All outputs that the answer is about, of the judge with most."""
        return max(
            int(sum(self.pairs[judge, system].all_n.sum() for system in self.systems))
            for judge in self.judges
        )

    @property
    def repeat_correlation(self) -> float | None:
        """Of passes in two calls of one judge on an output; None if it was not asked twice.

        None too of other labels than pass and fail, and of a judge that passes all, or none.
        """
        verdicts = self.verdicts
        if verdicts is None or self.kind != "verdicts" or len(self.judges) > 1:
            return None
        said, outputs = verdicts.response, verdicts.times
        calls, passes = (said >= 0).sum(axis=1), (said == 1).sum(axis=1)
        two, both = (outputs @ (n * (n - 1)) for n in (calls, passes))
        share = outputs @ passes / (outputs @ calls)
        varies = two > 0 and 0 < share < 1
        return float((both / two - share**2) / (share * (1 - share))) if varies else None

    @property
    def complete(self) -> bool:
        """Whether every output has a label, so that verdicts alone are yet to come."""
        return self.design.is_sample and self.seen <= self.labelled

    def __repr__(self) -> str:
        several = f", {len(self.judges)} judges" if len(self.judges) > 1 else ""
        several += f", {len(self.systems)} systems" if len(self.systems) > 1 else ""
        return (
            f"Judged: {self.kind} on {how_many(self.seen, 'output')}{several}, "
            f"{self.labelled:,} labelled {self.design.name}"
        )

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        verdict: str | Sequence[str] = "verdict",
        score: str | Sequence[str] | None = None,
        truth: str = "truth",
        scale: tuple[float, float] | str | None = None,
        truth_scale: tuple[float, float] | None = None,
        truth_from: float | None = None,
        by: str | None = None,
        item: str | None = None,
        repeats: Literal["system", "judge"] | None = None,
        propensity: str | None = None,
        classes: Sequence[Any] | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unparsed: Literal["fail", "drop"] | None = None,
        tuned: int = 0,
    ) -> Self:
        """Read a table of outputs.

        Parameters
        ----------
        table : dataframe
            One row per output; as for `Verdicts.from_frame`.
        calibration : str or LabelDesign
            How the labelled outputs were chosen: the name of one of
            `bayesjudge.prevalence.DESIGNS`.
        verdict, score : str or sequence of str
            Column with the judge's verdict or number; several, if several judges or prompts saw
            the same outputs.
        truth : str
            Column with the human label, empty where there is none.
        scale, truth_scale : tuple of float, optional
            Of scores and of numeric labels: the lowest and the highest.
        truth_from : float, optional
            The lowest human number that is a pass.
        by : str, optional
            Column by whose values numbers are given: systems, criteria, topics.
        item : str, optional
            Column that identifies the item of a row.
        repeats : {"system", "judge"}, optional
            What repeats if rows share items; needs `item`.
        propensity : str, optional
            With ``calibration="known_propensity"``: the probability of each row's label.
        classes : sequence, optional
            Classes, if they are not pass and fail.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none.
        unparsed : {"fail", "drop"}, optional
            What a row without a verdict is.
        tuned : int, default 0
            Labels that were left out; see `untuned`.

        Returns
        -------
        Judged
            Collapsed to distinct pairs.

        Raises
        ------
        InputError
            If a column is missing, labels are not understood, or none is left.

        Examples
        --------
        >>> import pandas as pd
        >>> log = pd.DataFrame({"verdict": [1, 0, 1, 1, 0], "truth": [1, 0, 0, None, None]})
        >>> Judged.from_frame(log, calibration="random")
        Judged: verdicts on 5 outputs, 3 labelled random
        """
        read: dict[str, Any] = {"calibration": calibration, "truth": truth, "item": item}
        read |= {"pass_value": pass_value, "fail_value": fail_value}
        read |= {"propensity": propensity, "missing_value": missing_value}
        read = {name: value for name, value in read.items() if value is not None}
        if score is None:
            more: dict[str, Any] = {"verdict": verdict, "by": by, "repeats": repeats}
            more |= {"classes": classes, "unparsed": unparsed}
            return cls(Verdicts.from_frame(table, **read, **more), tuned=tuned)
        with checking("judge.Judged.from_frame") as require:
            require(scale is not None, "scores need scale=, the lowest and the highest, as (1, 5)")
            require(unparsed != "fail", "rows without a score can be dropped: unparsed='drop'")
            require(classes is repeats is None, "classes= and repeats= need verdicts")
        read |= {"scale": scale, "truth_scale": truth_scale, "truth_from": truth_from}
        read |= {"unscored": unparsed}
        scores: dict[tuple[str, str], Scores] = {}
        for name in each_name(score):
            if by is None:
                scores[name, ""] = Scores.from_frame(table, score=name, **read)
            else:
                systems = read_systems(table, by=by, score=name, **read)
                scores |= {(name, system): each for system, each in systems.items()}
        return cls(scores=scores, tuned=tuned)


def as_judged(data: Any) -> Judged:
    """Take verdicts of another question: `Verdicts`, `Counts` and others of prevalence, or scores.

    Of labels of several people what is so behind their errors, if two labelled an output alike.
    """
    if isinstance(data, Judged):
        return data
    if isinstance(data, PeopleCounts) and len(data.people) == 1:  # as a column of labels is read
        return Judged(data.counts(data.labels[:, 0]).verdicts)
    if isinstance(data, PeopleCounts):
        with checking("judge") as require:
            words = "no output has a label that two people gave alike, or that was adjudicated: "
            words += "have two label some of the same outputs, or name one column (truth=)"
            require(bool(np.any(data.agreed.labelled_n)), words)
        return Judged(data.agreed.verdicts, people=data)
    if isinstance(data, Scores):
        return Judged(scores={("judge", ""): data})
    verdicts = data if isinstance(data, Verdicts) else getattr(data, "verdicts", None)
    with checking("judge") as require:
        known = "Judged, Verdicts, Counts, PeopleCounts, Items or Scores"
        words = f"expected {known}, got {type(data).__name__}"
        require(isinstance(verdicts, Verdicts), words, "no-table")
    return Judged(verdicts)


def untuned(
    table: Any, truth: str, tuned_on: str, *, within: Sequence[str] = ()
) -> tuple[Any, int]:
    """Leave out labels on which the judge was tuned: their rows stay, without a label.

    Parameters
    ----------
    table : dataframe
        With both columns.
    truth : str
        Column with the human label.
    tuned_on : str
        Column that is true, 1 or "yes" where the judge's prompt, examples or threshold were chosen
        with the row's label in sight.
    within : sequence of str
        Columns of the item, and of the system, of a table in which several rows have one label: one
        row that says so is enough, and labels are counted once.

    Returns
    -------
    table : dataframe
        Of the same kind, without the column that says so: it goes with labels now.
    left_out : int
        Labels that were left out.

    Raises
    ------
    InputError
        If the column says something else, or no label is left.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"truth": [1, 0, None], "shown": [True, False, False]})
    >>> untuned(log, "truth", "shown")[1]
    1
    """
    import narwhals as nw

    kept = labels_kept(table, truth, tuned_on, within)
    return nw.from_native(kept.table).drop(tuned_on).to_native(), kept.lost


class Kept(NamedTuple):
    """A table without labels on which a judge was tuned: how many it lost, and has; which rows."""

    table: Any
    lost: int
    left: int
    rows: list[int]


def labels_kept(table: Any, truth: str, tuned_on: str, within: Sequence[str] = ()) -> Kept:
    """What is left of labels."""
    import narwhals as nw

    require_columns(table, truth, tuned_on, *within)
    frame = nw.from_native(table)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    empty = {name: frame[name].is_null().to_list() for name in (truth, tuned_on)}
    said = zip(frame[tuned_on].to_list(), empty[tuned_on], strict=True)
    cells = ["" if none else str(cell).strip().lower() for cell, none in said]
    strange = sorted({cell for cell in cells if cell not in TUNED | UNTUNED})
    with checking(f"column {tuned_on!r}") as require:
        words = f"expected true or false (1 or 0, yes or no, train or test), got {strange[:3]}"
        require(not strange, words)
    labels = zip(frame[truth].to_list(), empty[truth], strict=True)
    known = [not none and label == label and label != "" for label, none in labels]
    used = [cell in TUNED for cell in cells]
    keys = [*frame.select(*within).iter_rows()] if within else [*range(len(cells))]
    shown = {key for key, there in zip(keys, used, strict=True) if there}
    used = [key in shown for key in keys]
    labelled = {key for key, there in zip(keys, known, strict=True) if there}
    n, left = len(labelled & shown), len(labelled - shown)
    if n and not left:
        raise InputError(
            f"column {tuned_on!r}",
            [
                f"the judge was tuned on all {n:,} labels: how it errs on other outputs is not "
                "known. Label a random sample that no prompt, example or threshold has seen"
            ],
        )
    mark = free_name("tuned", frame.columns)
    column = nw.new_series(mark, used, nw.Boolean, backend=frame.implementation)
    label = nw.when(~nw.col(mark)).then(nw.col(truth)).alias(truth)
    kept = frame.with_columns(column).with_columns(label).drop(mark).to_native()
    return Kept(kept, n, left, [row for row, lost in enumerate(used) if lost])


#: What a column of labels on which a judge was tuned can say.
TUNED = {"1", "1.0", "true", "yes", "y", "x", "train", "tuned", "dev", "few-shot"}
UNTUNED = {"0", "0.0", "false", "no", "n", "", "nan", "none", "test", "heldout", "held-out"}


def _behind_errors(
    people: PeopleCounts, pairs: Mapping[tuple[str, str], Pairs]
) -> dict[tuple[str, str], Pairs]:
    """The pairs, with their shares by the posterior in which people err too."""
    model, names = PeopleErrors(), people.systems
    values, judges = drawn_from(people, model, DRAWS), model._table(people).judges
    ours = [people.judge] if names is None else [f"{people.judge} on {name}" for name in names]
    good = values["prevalence"].reshape(DRAWS, -1)
    hit, right = (
        values[name][:, [judges.index(judge) for judge in ours]]
        for name in ("sensitivity", "specificity")
    )
    by_pair = {(1, 1): good * hit, (0, 1): good * (1 - hit)}
    by_pair |= {(0, 0): (1 - good) * right, (1, 0): (1 - good) * (1 - right)}
    same = np.zeros(good.shape)
    for person in map(judges.index, people.unchosen):
        passes = values["sensitivity"][:, [person]], 1 - values["specificity"][:, [person]]
        for (said, truth), share in by_pair.items():
            rate = passes[1 - truth]
            same += share * (rate if said else 1 - rate) / len(people.unchosen)
    # strata are one system, weighed by their shares
    weights = [people.shares] if people.adds_up else np.eye(good.shape[1])
    return {
        at: kinds._replace(
            behind=np.column_stack(
                [by_pair[s, t] @ weight for s, t in zip(kinds.said, kinds.truth, strict=True)]
            ),
            with_person=same @ weight,
        )
        for (at, kinds), weight in zip(pairs.items(), weights, strict=True)
    }


def _of_scores(scores: Scores) -> Pairs:
    """Pairs of numbers; the judge's are on the scale of people's, if those are numbers."""
    known = scores.known
    chance = np.ones(len(scores.n)) if scores.propensity is None else scores.propensity
    said = scores.in_units(scores.unit) if scores.numeric else scores.score
    values, place = np.unique(said[scores.about], return_inverse=True)
    return Pairs.of(
        said[known],
        scores.truth[known],
        scores.n[known],
        weight=1 / chance[known],
        verdicts=values,
        all_n=np.bincount(place, scores.n[scores.about], len(values)),
    )
