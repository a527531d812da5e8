"""Options that say which columns of a table, or of a log, hold what."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, Self

from cyclopts import Parameter

from bayesjudge.cli.options import (
    FIRST,
    LESSON,
    OF_TABLE,
    SEVERAL,
    TRUTH,
    Adjudicated,
    By,
    Item,
    LabelFile,
    LogJudge,
    Meanings,
    Metric,
    Randomized,
    Rater,
    Truths,
    TunedOn,
    are,
    needed,
    unknown_calibration,
)
from bayesjudge.cli.scales import scale_ends
from bayesjudge.cli.source import PAIRS, Source, repeating
from bayesjudge.core.errors import InputError, Problem, Require, expect
from bayesjudge.core.label_design import DESIGNS

#: Options that name columns, beside those of what judges said.
COLUMNS = ("truth", "adjudicated", "rater", "by", "stratum", "propensity", "item", "swapped")


@Parameter(name="*")
@dataclass(frozen=True)
class OfPeople:
    """Where people's labels are, and what labels and verdicts mean."""

    truth: Annotated[Truths, FIRST] = None
    adjudicated: Adjudicated = None
    rater: Rater = None
    labels: LabelFile = None
    tuned_on: TunedOn = None
    randomized: Randomized = None
    meanings: Meanings = Meanings()
    metric: Metric = None
    judge: LogJudge = None

    def values(self, *names: str) -> dict[str, Any]:
        """What was given of some options, by name."""
        known = {**vars(self), **vars(self.meanings), "truth": self.label or self.truth}
        usual = {field.name: field.default for field in (*fields(self), *fields(self.meanings))}
        return {n: known[n] for n in names if n in known and known[n] not in (usual[n], [])}

    def columns(self, *names: str) -> list[str]:
        """Columns that some options name."""
        values = self.values(*names).values()
        return [name for value in values for name in ([value] if isinstance(value, str) else value)]

    @property
    def labellers(self) -> tuple[str, ...]:
        """Columns of what people said, of who said it and of what was settled."""
        return tuple(self.columns("truth", "adjudicated", "rater"))

    @property
    def several_people(self) -> bool:
        """Whether people err too: there are labels of several."""
        return len(self.truth or ()) > 1 or bool(self.rater or self.adjudicated)

    @property
    def label(self) -> str:
        """The column of people's labels, if there is one."""
        return "".join(self.truth or ()) if len(self.truth or ()) == 1 else ""

    def joined(
        self, source: Source, verdicts: Sequence[str], item: str | None, by: str | None, **more: Any
    ) -> tuple[str | None, str | None]:
        """Leave out labels of tuning, and add those of another file; its names of item and by."""
        source.set_randomized(self.randomized)
        source.leave_out(self.tuned_on, [n for n in self.labellers if n != self.rater])
        if self.labels is None:
            source.people = self.labellers
            return item, by
        # columns that the table itself has are its own: what was settled may be elsewhere
        there = source.columns() if self.adjudicated else []
        truths = [name for name in self.labellers if name not in there] or self.labellers
        about: dict[str, Any] = {"verdicts": verdicts, "rater": self.rater, **more}
        return source.add_labels(self.labels, truth=truths, item=item, by=by, **about)


@Parameter(name="*")
@dataclass(frozen=True)
class OfVerdicts(OfPeople):
    """The verdicts of a judge, with labels on some.

    Parameters
    ----------
    calibration : str
        How the labelled items were chosen: random (a random sample of these items; or every fourth,
        say, if their order has nothing to do with what they are), by_truth (a fixed number of good
        and of bad ones), separate (another data set or run), by_verdict (a fixed number of the
        judge's passes and of its fails).
    verdict : list[str]
        Column with the judge's verdict.
    unparsed : str
        What a row without a verdict is: the judge's fail; a verdict of its own, whose rates the
        labels tell; or dropped: then the share is of the rows that the judge could judge.
    """

    calibration: Annotated[str | None, OF_TABLE, FIRST] = None
    verdict: Annotated[list[str] | None, SEVERAL, FIRST] = None
    by: Annotated[By, FIRST] = None
    unparsed: Annotated[Literal["verdict", "fail", "drop"] | None, OF_TABLE] = None


@Parameter(name="*")
@dataclass(frozen=True)
class Labelled(OfVerdicts):
    """Verdicts on items that may have several rows.

    Parameters
    ----------
    repeats : str
        What repeats if an item has several rows of one system: system (each row is a new output),
        or judge (one output, judged several times). Needs --item.
    """

    item: Item = None
    repeats: Annotated[Literal["system", "judge"] | None, OF_TABLE] = None

    @property
    def judged(self) -> list[str]:
        """Columns of what the judge said."""
        return self.verdict or ["verdict"]

    def needs(self, source: Source) -> list[str]:
        """Columns to read: a judge that is one of the raters has rows of its own."""
        return [*source.verdicts(self.judged, self.rater), *self.columns(*COLUMNS)]

    @property
    def reading(self) -> dict[str, Any]:
        """What every reader takes: columns, how labels were chosen, and what cells mean."""
        first, *others = self.judged
        settings = ("repeats", "calibration", "unparsed", *vars(self.meanings))
        return {"verdict": self.judged if others else first, **self.values(*COLUMNS, *settings)}

    def refuse(self, require: Any, why: str, *names: str) -> None:
        """Refuse options that a table has no use for."""
        given = self.given(*names)
        require(not given, f"{are(given)} {why}")

    def given(self, *names: str) -> list[str]:
        """Those of some options that were given, as they are typed."""
        typed = {"better_than_chance": "no-better-than-chance"}
        return ["--" + typed.get(name, name).replace("_", "-") for name in self.values(*names)]

    def completed(self, source: Source, *, unlabelled: bool = False) -> Self:
        """With the columns that a log has, and labels of another file; or of a run without labels.

        Raises
        ------
        InputError
            If it is not said how items were chosen, or which column has people's labels.
        """
        if unlabelled:
            return self if source.log is None else self._of_log(source)
        problems: list[Problem] = []
        if self.calibration is None:
            untold = [] if self.truth or source.log else [TRUTH]
            problems = [needed("--calibration", LESSON), *untold]
        elif self.calibration not in DESIGNS:
            problems = [unknown_calibration(self.calibration)]
        if problems:
            absent = (
                [] if self.labels else source.absent(self.columns("verdict", "score", *COLUMNS))
            )
            raise InputError("options", [*problems, *absent])
        asked = replace(self, truth=self.truth or [source.truth(None, self.labels)])
        asked = asked if source.log is None else asked._of_log(source)
        item, by = asked.joined(source, asked.judged, asked.item, asked.by)
        words = "--repeats needs --item, the column that identifies the item"
        lost = asked.repeats and item is None and asked.verdict  # of scores rows do not repeat
        expect("options", not lost, needed("--item", words))
        return replace(asked, item=item, by=by)

    def _of_log(self, source: Source) -> Self:
        """With the columns that each log has."""
        item, by = source.keys(self.item, self.by)
        repeats = self.repeats or repeating(source)
        return replace(self, verdict=self.judged, item=item, by=by, repeats=repeats)


@Parameter(name="*")
@dataclass(frozen=True)
class Scored(Labelled):
    """Verdicts, classes or scores of judges.

    Parameters
    ----------
    calibration : str
        How the labelled items were chosen: random (a random sample of these items; or every fourth,
        say, if their order has nothing to do with what they are), by_truth (a fixed number of good
        and of bad ones), separate (another data set or run), by_verdict (a fixed number of the
        judge's passes and of its fails), known_propensity (see --propensity).
    verdict : list[str]
        Column with the judge's verdict; several, if several judges or prompts saw the same items.
    score : list[str]
        Column with the judge's score, if it gives numbers; then in place of --verdict.
    scale : str
        Lowest and highest score that the judge can give, such as 1:5; or log_odds.
    truth_scale : str
        Lowest and highest number that people can give, if labels are numbers.
    truth_from : float
        Lowest human number that is a pass, if labels are numbers.
    propensity : str
        Column with the probability with which each row was to be labelled, whether it was or not.
    classes : list[str]
        Classes that verdict and truth can be, if they are more than pass and fail, in the order
        wanted.
    """

    score: Annotated[list[str] | None, SEVERAL] = None
    scale: Annotated[str | None, OF_TABLE] = None
    truth_scale: Annotated[str | None, OF_TABLE] = None
    truth_from: Annotated[float | None, OF_TABLE] = None
    propensity: Annotated[str | None, OF_TABLE] = None
    classes: Annotated[list[str] | None, SEVERAL] = None

    @property
    def judged(self) -> list[str]:
        """Columns of what judges said: verdicts, or scores."""
        return self.verdict or self.score or ["verdict"]

    def scales(self, require: Require) -> tuple[Any, Any]:
        """Ends of the judge's scale, or ``log_odds``, and of people's."""
        log_odds = self.scale == "log_odds"
        ends = "log_odds" if log_odds else scale_ends("--scale", self.scale, require)
        return ends, scale_ends("--truth-scale", self.truth_scale, require)

    def _in_both_orders(self, source: Source) -> bool:
        """Whether pairs of a log were judged in both orders."""
        return source.paired and not self.score and source.swapped

    def _of_log(self, source: Source) -> Self:
        assert source.log is not None
        verdicts = not self.score
        numeric = source.chosen.numeric and verdicts
        problem = f"{source.chosen} gives numbers: --score score --scale LOW:HIGH"
        expect(str(source.path), not numeric, problem)
        paired = source.paired and verdicts
        both = self._in_both_orders(source)
        single = self.score or both or len(source.log.systems) < 2
        of_pairs = PAIRS if paired and self.judged == ["verdict"] else None
        return replace(
            self,
            verdict=self.judged if verdicts else self.verdict,
            classes=self.classes or of_pairs,
            item=self.item or (None if both else "item"),
            by=self.by or (None if single else "system"),
            repeats=self.repeats or repeating(source),
        )
