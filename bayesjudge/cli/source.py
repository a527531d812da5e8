"""What a command reads: a table in a file, or an evaluation log, with the columns it has for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesjudge.cli.label_file import Labels
from bayesjudge.cli.options import TRUTH
from bayesjudge.cli.rows import DATABASES, Rows
from bayesjudge.core.errors import InputError, Problem, checking, expect
from bayesjudge.core.estimate import Caution
from bayesjudge.core.progress import progress
from bayesjudge.core.screen import few
from bayesjudge.core.tables import each_name
from bayesjudge.readers import tables
from bayesjudge.readers.files import File
from bayesjudge.readers.log import Metric, label_of
from bayesjudge.readers.recognition import read_as, recognise
from bayesjudge.verdicts.selection import WHOLE, Whole

if TYPE_CHECKING:
    import pyarrow as pa

#: Fields of a log that say what people think, by the words in their names.
HUMAN = ("human", "label", "gold", "truth", "annotat", "expert", "review", "correct_answer")
PAIRS = ["win", "tie", "loss"]
#: How a log calls what a test puts in, which people do not say.
INPUTS = "vars."
#: Bytes of a file from which a bar says that it is read.
LARGE_FILE = 50_000_000
#: Bytes up to which all columns are read, to see how labels came.
SMALL_FILE = 5_000_000


@dataclass
class Tuned:
    """The column that says on which labels the judge was tuned, and those of labels."""

    column: str
    truths: tuple[str, ...]
    #: Columns of what a label is about, if several rows have it.
    within: tuple[str, ...] = ()
    #: Labels that were left out, and that are left.
    labels: int = 0
    left: int = 0
    #: Rows of the table that lost one.
    rows: Sequence[int] = ()

    def left_out(self, table: Any) -> Any:
        """The table without these labels; of several people, the most that one lost is counted."""
        from bayesjudge.judge.data import labels_kept

        each = []
        for truth in self.truths:
            each.append(labels_kept(table, truth, self.column, self.within))
            table = each[-1].table
        self.labels, self.left = max(kept.lost for kept in each), max(kept.left for kept in each)
        self.rows = each[-1].rows
        return table


@dataclass
class Source(Rows):
    """A file that a command reads, with people's labels of another one if there are some."""

    labels: Labels | None = None
    #: Columns of people's labels, if they may be in a file of their own.
    people: tuple[str, ...] = ()
    #: What is done to the table before it is counted.
    changed: Callable[[Any], Any] | None = None
    #: Labels on which the judge was tuned, if a column says which these are.
    tuned: Tuned | None = None
    #: Columns that are no reason why rows have labels.
    randomized: Sequence[str] = ()

    def leave_out(
        self, tuned_on: str | None, truths: Sequence[str], within: Sequence[str | None] = ()
    ) -> None:
        """Leave out labels on which the judge was tuned, wherever a column of labels is read."""
        if tuned_on is not None:
            self.tuned = Tuned(tuned_on, tuple(truths), tuple(filter(None, within)))

    def set_randomized(self, columns: Sequence[str] | None) -> None:
        """Ask no column that chance put rows into why rows have labels.

        Raises
        ------
        InputError
            If there is no such column.
        """
        self.randomized = columns or ()
        if unknown := self.absent(self.randomized):
            raise InputError("--randomized", unknown)

    def without_tuned(self, table: Any) -> Any:
        """The table, without labels on which the judge was tuned."""
        return table if self.tuned is None else self.tuned.left_out(table)

    @property
    def left_out(self) -> int:
        """Labels that were left out, once they were read."""
        return 0 if self.tuned is None else self.tuned.labels

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What is told of the labels that were left out, once they were read."""
        tuned = self.tuned
        if tuned is None or not tuned.labels:
            return ()
        return (Caution.of("tuned-labels", labels=tuned.labels, left=tuned.left),)

    def table(self, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pa.Table:
        """Read some columns, with the labels of another file, and without those of tuning."""
        wanted = list(dict.fromkeys([*columns, *numbers]))
        tuned = self.tuned
        if tuned is None or not {*tuned.truths} & {*wanted}:
            return self._with_labels(columns, numbers)
        needed = list(dict.fromkeys([*columns, tuned.column, *tuned.within, *tuned.truths]))
        read = self._with_labels(needed, numbers)
        return self.without_tuned(read).select(wanted)

    def _with_labels(self, columns: Sequence[str], numbers: Sequence[str]) -> pa.Table:
        if self.labels is None:
            return self.own_table(columns, numbers)
        return self.labels.added(self, list(dict.fromkeys([*columns, *numbers])), numbers)

    @contextmanager
    def counted(self, columns: Sequence[str], *, quiet: bool = False) -> Iterator[Any]:
        """A table to be counted, with a bar meanwhile if it is large.

        Large Parquet is scanned by DuckDB, where that is installed, and never read as a whole.
        """
        path, plain, rows = self.file or self.path, self.log is None, self._rows
        size = self.path.stat().st_size if self.path.is_file() else 0
        many = f"{rows:,} rows" if rows else f"{size / 1e6:,.0f} MB"
        large = plain and (self.counts_in_place or size >= LARGE_FILE)
        shown = None if large and not quiet else False
        with progress(shown, f"counting {many} of {self.path.name}"), ExitStack() as opened:
            table = None
            if large and self.labels is None and self.tuned is None:
                with self._labels_elsewhere():
                    table = opened.enter_context(tables.scanned_parquet(path, columns))
            table = self.table(columns) if table is None else table
            small = not large and 0 < size <= SMALL_FILE
            lost = self.tuned.rows if self.tuned else ()
            token = WHOLE.set(Whole(partial(self.whole, columns), lost) if small else None)
            opened.callback(WHOLE.reset, token)
            yield table if self.changed is None else self.changed(table)

    def whole(self, columns: Sequence[str] = ()) -> pa.Table:
        """Read all columns that may tell how labels came, with labels of another file."""
        left_out = {*self.randomized, *([self.tuned.column] if self.tuned else ())}
        table = self.table([*columns, *(n for n in self.readable() if n not in left_out)])
        return table if self.changed is None else self.changed(table)

    @property
    def is_small(self) -> bool:
        """Whether it is a table in a file so small that all its columns are read."""
        path = self.path
        return self.log is None and path.is_file() and path.stat().st_size <= SMALL_FILE

    @property
    def counts_in_place(self) -> bool:
        """Whether there are so many rows that they are counted where they lie."""
        return self._rows >= tables.LARGE

    @property
    def _rows(self) -> int:
        return 0 if self.log is not None else tables.rows_of(self.file or self.path)

    def verdicts(self, named: Sequence[str], rater: str | None) -> list[str]:
        """Columns of verdicts: a judge that is one of the raters has rows of its own instead."""
        return [name for name in named if rater is None or name in self.columns()]

    def absent(self, columns: Sequence[str]) -> list[Problem]:
        """What is wrong with the names of some columns."""
        if not columns:
            return []
        try:
            self.own_table(columns)
        except InputError as error:
            return error.problems
        return []

    def add_labels(
        self,
        path: Path,
        *,
        truth: str | Sequence[str],
        item: str | None,
        verdicts: Sequence[str],
        by: str | None = None,
        rater: str | None = None,
        **more: Any,
    ) -> tuple[str | None, str | None]:
        """Take people's labels from another file; this one's columns of the item and the system.

        `item` and `by` name columns of either file; with a `rater` an item has a row per person.
        `more` is of `Labels`.
        """
        key = "item" if self.log is not None else None
        truths = tuple(each_name(truth))
        about = item or key, by, tuple(verdicts), rater
        self.labels = Labels(open_source(path), truths, *about, **more)
        self.labels.find_keys(self)
        keys = self.labels.item_and_system(self)
        return item and keys[0], by and keys[1]

    def own_table(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> pa.Table:
        """Read some columns, without labels of another file."""
        with self._labels_elsewhere():
            return super().own_table(columns, numbers)

    @contextmanager
    def _labels_elsewhere(self) -> Iterator[None]:
        """If there is no column of people's labels: how they come from another file."""
        try:
            yield
        except InputError as error:
            if any(error.has("no-column", value=name) for name in self.people):
                words = "if people's labels are in another file: --labels FILE"
                error.problems.append(Problem(words))
            raise

    @property
    def chosen(self) -> Metric:
        """The metric that is read, of a log."""
        assert self.log is not None
        return self.log.metrics[self.metric]

    @property
    def judges(self) -> list[str]:
        """Raters of a log that are no people."""
        return self.chosen.judges or [self.metric]

    def raters(self, people: Sequence[str]) -> pa.Table:
        """One row per answer, of a log: by its judges, and by people."""
        import pyarrow as pa

        log, metric = self.log, self.metric
        assert log is not None
        answers = log.table(metric, ["item", "system", "judge", "verdict", *people]).to_pylist()
        rows, seen = [], set()
        for answer in answers:
            item = " · ".join(x for x in (answer["item"], answer["system"]) if x)
            rows.append((item, answer["judge"] or metric, answer["verdict"]))
            if item not in seen:  # a person answers once
                seen.add(item)
                rows += [(item, name, answer[name]) for name in people]
        if not people:
            graded = log.human[metric].grades if metric in log.human else ()
            for g in graded:
                item = " · ".join(x for x in (g.item, g.system) if x)
                rows.append((item, f"person {abs(g.repeat or 1)}", label_of(g)))
            others = of_people(self.columns())
            near = f", for example {' or '.join(f'--people {c}' for c in others)}"
            words = f"nobody but judges graded {metric!r}: name columns with people's answers"
            expect(str(self.path), graded, words + (near if others else ", --people COLUMN"))
        columns = zip(*rows, strict=True)
        named = zip(("item", "rater", "choice"), columns, strict=True)
        return pa.table({name: pa.array(cells, pa.string()) for name, cells in named})

    @property
    def paired(self) -> bool:
        """Whether verdicts compare two answers."""
        labels = {*self.chosen.labels} if self.log is not None else set()
        return bool(labels) and labels <= {*PAIRS}

    @property
    def graded_pairs(self) -> bool:
        """Whether scores of pairs are probabilities that the system wins, as verdicts say."""
        if not self.paired:
            return False
        graded = [(g.score, g.value) for g in self.chosen.grades if g.score is not None]
        agree = all(0 <= p <= 1 and (p > 0.5) == (value == "win") for p, value in graded)
        return agree and any(p not in (0, 0.5, 1) for p, _ in graded)

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
        return "truth" if self.log is not None and "truth" in self.columns() else None

    def truth(self, given: str | None, labels: Path | None = None) -> str:
        """The column of people's labels: the one named, the log's own, or ``truth`` of `labels`."""
        if given is not None or labels is not None:
            return given or "truth"
        if self.log is None:
            raise InputError("options", [TRUTH])
        if self.own_truth:
            return self.own_truth
        columns = self.columns()
        near = of_people(columns)
        hint = f"for example {' or '.join(f'--truth {c}' for c in near)}" if near else "label some"
        raise InputError("options", [f"{TRUTH}; the log has {few(columns)}; {hint}"])

    def keys(self, item: str | None, by: str | None) -> tuple[str | None, str | None]:
        """Columns of the item and of the system: those named, or a log's own."""
        if self.log is None:
            return item, by
        return item or "item", by or ("system" if len(self.log.systems) > 1 else None)

    @property
    def inputs(self) -> dict[str, str]:
        """File, and what was read of a log."""
        more = {"labels from": self.labels.note} if self.labels is not None else {}
        return {"data": str(self.path), **self.notes, **more}

    @property
    def notes(self) -> dict[str, str]:
        """What was read, for the screen."""
        if self.log is None:
            return {}
        more = self.log.sentences[1:]
        about = {"log": f"{self.log.tool}, {self.chosen}"}
        others = [m for m in self.log.metrics if m != self.metric]
        if others:
            about["other metrics"] = few(others)
        return about | ({"of the log": "; ".join(more)} if more else {})


def open_source(
    path: Path, metric: str | None = None, *, judge: str | None = None, judges: bool = False
) -> Source:
    """Look at a file; a log is read. With `judges`, a metric of several judges is wanted."""
    file = File(path) if tables.is_one_file(path) else None
    log_format = None if file is None or file.kind in DATABASES else recognise(file)
    log = None if log_format is None or file is None else read_as(log_format, file)
    if log is None:
        given = [f"--{n}" for n, v in (("metric", metric), ("judge", judge)) if v is not None]
        problem = f"{given} are of evaluation logs, and {str(path)!r} is a table"
        expect("options", not given, problem)
        return Source(path, file)
    name = log.choose(metric, judges=judges, judge=judge)
    names = log.metrics[name].judges
    with checking(str(path)) as require:
        near = f"there are {few(names)}"
        require(judge is None or judge in names, f"no judge {judge!r} of {name!r}; {near}")
        several = len(names) > 1 and judge is None and not judges
        ways = ", or ".join(f"judge={known!r}" for known in names[:5])
        require(not several, "judges-of-metric", name=name, ways=ways)
    return Source(path, file, log, name, judge)


def of_people(columns: Sequence[str]) -> list[str]:
    """Columns that say by their names what people think."""
    return [
        c for c in columns if any(word in c.lower() for word in HUMAN) and not c.startswith(INPUTS)
    ]


def repeating(source: Source) -> Any:
    """What repeats, if the log has several grades of one output by one judge."""
    if source.log is None or source.swapped:
        return None
    seen = [(g.item, g.system, g.judge) for g in source.chosen.grades]
    return source.log.repeating if len(set(seen)) < len(seen) else None
