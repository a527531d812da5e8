"""Options that say which columns of a table, or of a log, hold what."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, Self

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.options import (
    BY,
    FIRST,
    LESSON,
    OF_TABLE,
    SEVERAL,
    TRUTH,
    Adjudicated,
    Item,
    LabelFile,
    LogJudge,
    Meanings,
    Metric,
    Rater,
    Truths,
    TunedOn,
    are,
    needed,
    unknown_calibration,
)
from bayesjudge.cli.source import Source, repeating
from bayesjudge.core.errors import InputError, Problem


@Parameter(name="*")
@dataclass(frozen=True)
class OfPeople:
    """Where people's labels are, and what labels and verdicts mean."""

    truth: Annotated[Truths, FIRST] = None
    adjudicated: Adjudicated = None
    rater: Rater = None
    labels: LabelFile = None
    tuned_on: TunedOn = None
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
class Labelled(OfPeople):
    """The verdicts of one judge, with labels on some.

    Parameters
    ----------
    calibration : str
        How the labelled items were chosen: random, by_truth, separate or by_verdict.
    verdict : list[str]
        Column with the judge's verdict.
    by : str
        Column that names the system of each row, each of which has a number of its own.
    repeats : str
        What repeats if an item has several rows of one system: system (each row is a new output),
        or judge (one output, judged several times). Needs --item.
    unparsed : str
        How a row without a verdict counts: as the judge's fail, or not at all (drop).
    """

    calibration: Annotated[str | None, OF_TABLE, FIRST] = None
    verdict: Annotated[list[str] | None, SEVERAL, FIRST] = None
    by: Annotated[str | None, BY, FIRST] = None
    item: Item = None
    repeats: Annotated[Literal["system", "judge"] | None, OF_TABLE] = None
    unparsed: Annotated[Literal["verdict", "fail", "drop"] | None, OF_TABLE] = None

    @property
    def judged(self) -> list[str]:
        """Columns of what the judge said."""
        return self.verdict or ["verdict"]

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
        elif self.calibration not in bj.prevalence.DESIGNS:
            problems = [unknown_calibration(self.calibration)]
        if problems:
            absent = [] if self.labels else source.absent(self.columns(*COLUMNS))
            raise InputError("options", [*problems, *absent])
        asked = replace(self, truth=self.truth or [source.truth(None, self.labels)])
        asked = asked if source.log is None else asked._of_log(source)
        item, by = asked.joined(source, asked.judged, asked.item, asked.by)
        return replace(asked, item=item, by=by)

    def _of_log(self, source: Source) -> Self:
        """With the columns that each log has."""
        item, by = source.keys(self.item, self.by)
        repeats = self.repeats or repeating(source)
        return replace(self, verdict=self.judged, item=item, by=by, repeats=repeats)


#: Options that name columns.
COLUMNS = ("verdict", "score", "truth", "by", "stratum", "propensity", "item", "swapped")
