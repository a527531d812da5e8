"""What a command reads: a table in a file, or an evaluation log, with the columns it has for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.screen import few
from bayesjudge.readers import read_table
from bayesjudge.readers.files import File
from bayesjudge.readers.log import Log, Metric, read_as, recognise

if TYPE_CHECKING:
    import pyarrow as pa

#: Fields of a log that say what people think, by the words in their names.
HUMAN = ("human", "label", "gold", "truth", "annotat", "expert", "review", "correct_answer")
PAIRS = ["win", "tie", "loss"]


@dataclass
class Source:
    """A file, and the log that it is, if it is one."""

    path: Path
    log: Log | None = None
    metric: str = ""
    judge: str | None = None

    def table(self, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pa.Table:
        """Read some columns."""
        if self.log is None:
            return read_table(self.path, columns, numbers=numbers)
        return self.log.table(self.metric, columns, judge=self.judge, numbers=numbers)

    @property
    def chosen(self) -> Metric:
        """The metric that is read, of a log."""
        assert self.log is not None
        return self.log.metrics[self.metric]

    @property
    def paired(self) -> bool:
        """Whether verdicts compare two answers."""
        return (
            self.log is not None
            and bool(self.chosen.labels)
            and set(self.chosen.labels) <= set(PAIRS)
        )

    @property
    def swapped(self) -> bool:
        """Whether pairs were judged in both orders."""
        return self.log is not None and any(g.order for g in self.chosen.grades)

    @property
    def scale(self) -> str | None:
        """Every score that verdicts can be, where the tool's verdicts have some."""
        if self.log is None or self.chosen.numeric:
            return None
        scores = {g.score for g in self.chosen.grades if g.score is not None}
        return "0,0.5,1" if 0.5 in scores else "0,1" if scores <= {0.0, 1.0} else None

    @property
    def own_truth(self) -> str | None:
        """``"truth"``, if people graded by the metric's name."""
        if self.log is None:
            return None
        columns = self.log.table(self.metric, judge=self.judge).column_names
        return "truth" if "truth" in columns else None

    def truth(self, given: str | None) -> str:
        """The column of people's labels: the one named, or the log's own."""
        if given is not None:
            return given
        words = "--truth is needed: Column with the human label, empty where there is none"
        if self.log is None:
            raise InputError("options", [words])
        if self.own_truth:
            return self.own_truth
        columns = self.log.table(self.metric, judge=self.judge).column_names
        near = [c for c in columns if any(word in c.lower() for word in HUMAN)]
        hint = f"for example {' or '.join(f'--truth {c}' for c in near)}" if near else "label some"
        raise InputError("options", [f"{words}; the log has {few(columns)}; {hint}"])

    @property
    def inputs(self) -> dict[str, str]:
        """File, and what was read of a log."""
        return {"data": str(self.path), **self.told}

    @property
    def told(self) -> dict[str, str]:
        """What was read, for the screen."""
        if self.log is None:
            return {}
        more = self.log.told[1:]
        about = {"log": f"{self.log.tool}, {self.chosen}"}
        others = [m for m in self.log.metrics if m != self.metric]
        if others:
            about["other metrics"] = few(others)
        return about | ({"of the log": "; ".join(more)} if more else {})


def open_source(
    path: Path, metric: str | None = None, *, judge: str | None = None, judges: bool = False
) -> Source:
    """Look at a file; a log is read. With `judges`, a metric of several judges is wanted."""
    log = _log(path)
    if log is None:
        with checking("options") as require:
            given = [f"--{n}" for n, v in (("metric", metric), ("judge", judge)) if v is not None]
            require(not given, f"{given} are of evaluation logs, and {str(path)!r} is a table")
        return Source(path)
    name = log.choose(metric, judges=judges)
    names = log.metrics[name].judges
    with checking(str(path)) as require:
        near = f"there are {few(names)}"
        require(judge is None or judge in names, f"no judge {judge!r} of {name!r}; {near}")
        several = len(names) > 1 and judge is None and not judges
        ways = ", or ".join(f"judge={one!r}" for one in names[:5])
        require(
            not several,
            f"{name!r} has several judges: {ways}; or all of them with bayesjudge panel",
        )
    return Source(path, log, name, judge)


def _log(path: Path) -> Log | None:
    """The log that a file is; None of a table, and of what only `read_table` knows to refuse."""
    if not path.is_file() or path.suffix.lower() in (".xlsx", ".db", ".duckdb", ".sqlite"):
        return None
    file = File(path)
    found = recognise(file)
    return None if found is None else read_as(found, file)


def inputs_of(source: Source | str) -> dict[str, str]:
    """What was read: of a source, or a name that stands for data without a file."""
    return {"data": source} if isinstance(source, str) else source.inputs


def repeating(source: Source) -> Any:
    """What repeats, if the log has several grades of one output by one judge."""
    if source.log is None or source.swapped:
        return None
    seen = [(g.item, g.system, g.judge) for g in source.chosen.grades]
    return source.log.repeating if len(set(seen)) < len(seen) else None
