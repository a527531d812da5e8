"""Evaluation logs as tidy tables: `Log`, of the grades that a reader of a format gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.labels import spell
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import require_among

if TYPE_CHECKING:
    import pyarrow as pa

#: Columns of every log's table, in this order; what else a log tells of an item follows.
COLUMNS = ("item", "system", "judge", "repeat", "verdict", "swapped", "score", "truth", "failure")
FIRST, SECOND = "first", "second"
#: What a log says in place of a number, and a number in place of nothing.
CREDIT = {"win": 1.0, "tie": 0.5, "loss": 0.0}


class Grade(NamedTuple):
    """One verdict or score, by a judge, a program or a person.

    Parameters
    ----------
    item : str
        What was graded.
    metric : str
        By what: a scorer, an assertion, a feedback key.
    value : bool, number, str or None
        A verdict, or a score; None if there is none, and `failure` says why.
    score : float, optional
        A score beside a verdict.
    system : str
        What made the output, empty if the log does not say.
    judge : str
        Model that graded, empty of a program.
    human : bool
        Whether a person graded: the truth.
    repeat : int, optional
        Epoch or trial; if not given, grades alike in all else are numbered as they come.
    order : {"", "first", "second"}
        Of a pair: where the system's answer was shown.
    failure : str
        Why there is no value.
    output : int, optional
        Hash of what was graded, which tells whether repeats graded one output or several.
    about : mapping
        What else the log tells of the item: metadata, references, strata, labels.
    """

    item: str
    metric: str
    value: Any
    score: float | None = None
    system: str = ""
    judge: str = ""
    human: bool = False
    repeat: int | None = None
    order: str = ""
    failure: str = ""
    output: int | None = None
    about: Mapping[str, Any] = {}


@dataclass
class Notes:
    """What a reader has to tell beside the grades.

    Parameters
    ----------
    left_out : collections.Counter
        What was left out, by reason.
    sentences : list of str
        What else a reader of the log has to know.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Log:
    r"""What an evaluation log tells, one grade per row.

    Parameters
    ----------
    tool : str
        What wrote it.
    path : str
        File.
    grades : sequence of Grade
        All of them, numbered.
    notes : Notes
        What was left out and why.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from bayesjudge.readers import read_log
    >>> rows = [{"question_id": 1, "model": "m", "judge": ["gpt-4", "single-v1"], "turn": 1,
    ...          "score": s, "judgment": "..."} for s in (8, -1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gpt-4_single.jsonl"
    ...     _ = path.write_text("\n".join(map(json.dumps, rows)))
    ...     log = read_log(path)
    >>> log
    MT-bench: 2 grades of 1 item, 1 system; score by gpt-4 (8 to 8): 2 grades, 1 failed
    >>> log.table().column("score").to_pylist()
    [8.0, None]
    """

    tool: str
    path: str
    grades: Sequence[Grade]
    notes: Notes

    def __repr__(self) -> str:
        items = len({g.item for g in self.grades})
        systems = len(self.systems)
        head = f"{self.tool}: {how_many(len(self.grades), 'grade')} of {how_many(items, 'item')}"
        more = [how_many(systems, "system")] if systems else []
        return "; ".join([", ".join([head, *more]), *map(str, self.metrics.values())])

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """What was graded by judges and programs, by name."""
        return self._by_name(human=False)

    @cached_property
    def human(self) -> dict[str, Metric]:
        """What people graded, by name."""
        return self._by_name(human=True)

    def _by_name(self, *, human: bool) -> dict[str, Metric]:
        by_name: dict[str, list[Grade]] = {}
        for grade in self.grades:
            if grade.human == human:
                by_name.setdefault(grade.metric, []).append(grade)
        return {name: Metric(name, grades) for name, grades in by_name.items()}

    @cached_property
    def systems(self) -> list[str]:
        """What made the outputs."""
        return sorted({g.system for g in self.grades if g.system})

    @cached_property
    def sentences(self) -> list[str]:
        """What was read, what was left out and why: one sentence each."""
        lines = [f"{self.tool} log; {'; '.join(map(str, self.metrics.values()))}"]
        if self.human:
            lines.append(f"labels of people: {'; '.join(map(str, self.human.values()))}")
        lines += [f"left out: {reason} ({n:,})" for reason, n in self.notes.left_out.items()]
        return lines + self.notes.sentences

    def choose(
        self, metric: str | None = None, *, judges: bool = False, judge: str | None = None
    ) -> str:
        """Name the metric that is meant.

        Parameters
        ----------
        metric : str, optional
            Its name.
        judges : bool, default False
            Whether one with votes of several judges is wanted, if there is one.
        judge : str, optional
            Who graded it.

        Returns
        -------
        str
            `metric`, or the only one.

        Raises
        ------
        InputError
            If there is none of that name, or several of which none was named.
        """
        if metric is not None:
            require_among_metrics(self.path, metric, list(self.metrics))
            return metric
        by = [name for name, m in self.metrics.items() if judge in m.judges]
        metrics = [self.metrics[name] for name in by or self.metrics]
        several = [m.name for m in metrics if len(m.judges) > 1]
        single = [m.name for m in metrics if m.name not in several]
        wanted = (several or single) if judges else (single or several)
        with checking(self.path) as require:
            require(wanted, f"{self.tool} log without a grade; {'; '.join(self.sentences[1:])}")
            require(
                len(wanted) < 2,
                f"the log has {len(wanted)} metrics, and one is asked for: "
                + ", or ".join(f"metric={name!r}" for name in wanted)
                + f" ({'; '.join(str(self.metrics[name]) for name in wanted)})",
            )
        return wanted[0]

    def table(
        self,
        metric: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        judge: str | None = None,
        numbers: Sequence[str] = (),
    ) -> pa.Table:
        """One row per grade of one metric.

        Parameters
        ----------
        metric : str, optional
            Needed if the log has several.
        columns : sequence of str, optional
            Which columns; all if not said. Every log has item, system, judge, repeat, verdict,
            score and failure; truth if people graded by the same name; swapped (the verdict with
            the system's answer shown second) if pairs were judged in both orders; other metrics and
            what the log tells of items by their names.
        judge : str, optional
            Grades of this judge only.
        numbers : sequence of str, default ()
            Columns of numbers, read as floats.

        Returns
        -------
        pyarrow.Table
            Labels and names as text with a dictionary, ``score`` as floats.

        Raises
        ------
        InputError
            If there is no such metric or column.
        """
        import pyarrow as pa

        cells = self._columns(self.choose(metric), judge)
        wanted = list(cells) if columns is None else list(dict.fromkeys([*columns, *numbers]))
        try:
            require_among(list(cells), *wanted)
        except InputError as error:
            raise InputError(self.path, error.problems) from None
        floats = {*numbers, "score"} if columns is None else set(numbers)
        return pa.table({c: _array(cells[c], c in floats, c, self.path) for c in wanted})

    def _columns(self, metric: str, judge: str | None) -> dict[str, list[Any]]:
        grades = [g for g in self.metrics[metric].grades if judge in (None, g.judge)]
        swapped = {_key(g): g for g in grades if g.order == SECOND}
        if swapped:
            grades = _first_orders(grades)
        cells: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for g in grades:
            label, score = _value(g)
            names = (g.item, g.system or None, g.judge or None, g.repeat)
            row = (*names, label, None, score, None, g.failure or None)
            for column, cell in zip(COLUMNS, row, strict=True):
                cells[column].append(cell)
        if swapped:
            others = [swapped.get(_key(g)) for g in grades]
            cells["swapped"] = [None if other is None else _value(other)[0] for other in others]
        else:
            del cells["swapped"]
        for name in dict.fromkeys(name for g in grades for name in g.about):
            column = name if name not in cells else f"about.{name}"
            cells[_whole(column)] = [_plain(g.about.get(name)) for g in grades]
        for name, other in {**self.metrics, **self.human}.items():
            labels = self.human.get(metric) if name == metric else other
            if labels is None or (name == metric and not self.human):
                continue
            column = "truth" if name == metric else name
            values = _by_key(labels.grades, self.notes, column)
            if values is not None:
                cells[column] = [values.get(_place(g), values.get((g.item,))) for g in grades]
        if not any(cell is not None for cell in cells["truth"]):
            del cells["truth"]
        return cells

    @cached_property
    def repeating(self) -> str | None:
        """What repeats: ``"judge"`` (one output), ``"system"`` (several), or None if unknown."""
        outputs: dict[tuple[str, str], set[int | None]] = {}
        times: Counter[tuple[Any, ...]] = Counter()
        for g in self.grades:
            outputs.setdefault((g.item, g.system), set()).add(g.output)
            times[g.item, g.system, g.judge, g.metric, g.order, g.human] += 1
        if max(times.values(), default=0) < 2 or any(None in each for each in outputs.values()):
            return None
        return "judge" if all(len(each) == 1 for each in outputs.values()) else "system"


class Metric:
    """The grades of one name.

    Parameters
    ----------
    name : str
        Scorer, assertion or feedback key.
    grades : sequence of Grade
        In the log's order.
    """

    def __init__(self, name: str, grades: Sequence[Grade]):
        self.name, self.grades = name, grades

    def __str__(self) -> str:
        by = f" by {few(self.judges, 3)}" if self.judges else ""
        failed = f", {self.failures} failed" if self.failures else ""
        values = f" ({self.values})" if self.values else ""
        return f"{self.name}{by}{values}: {how_many(len(self.grades), 'grade')}{failed}"

    @cached_property
    def judges(self) -> list[str]:
        """Models that graded."""
        return sorted({g.judge for g in self.grades if g.judge})

    @cached_property
    def failures(self) -> int:
        """Grades without a value."""
        return sum(g.value is None for g in self.grades)

    @cached_property
    def labels(self) -> list[str]:
        """Distinct verdicts, if values are verdicts."""
        values = [g.value for g in self.grades if g.value is not None]
        return [] if self.numeric else sorted({_label(value) for value in values})

    @cached_property
    def numeric(self) -> bool:
        """Whether values are numbers other than 1 and 0."""
        values = [g.value for g in self.grades if g.value is not None]
        return _are_scores(values) and all(map(_is_number, values))

    @cached_property
    def repeats(self) -> int:
        """Most grades of one output by one judge."""
        return max((g.repeat or 1 for g in self.grades), default=0)

    @property
    def values(self) -> str:
        """Distinct verdicts, or the range of scores."""
        if self.numeric:
            numbers = [float(g.value) for g in self.grades if g.value is not None]
            return f"{min(numbers):g} to {max(numbers):g}" if numbers else ""
        return few(self.labels, 6)


def log_of(tool: str, path: str, grades: Iterable[Grade], notes: Notes) -> Log:
    """The log of what a reader found."""
    return Log(tool, path, _numbered(_without_words(list(grades)), notes), notes)


def _numbered(grades: Iterable[Grade], notes: Notes) -> list[Grade]:
    """Number repeats that the log does not number; a number that comes twice is a duplicate."""
    kept: dict[tuple[Any, ...], Grade] = {}
    times: Counter[tuple[Any, ...]] = Counter()
    duplicates = 0
    for given in grades:
        grade = _clean(given)
        key = (grade.item, grade.system, grade.judge, grade.metric, grade.order, grade.human)
        if grade.repeat is None:
            times[key] += 1
            # how often people labelled an item is no trial of its judge
            grade = grade._replace(repeat=-times[key] if grade.human else times[key])
        place = (*key, grade.repeat)
        duplicates += place in kept
        kept[place] = grade
    if duplicates:
        notes.left_out["grades that a later one of the same sample replaces"] += duplicates
    return list(kept.values())


def _clean(g: Grade) -> Grade:
    """Half characters, which JSON can hold and text cannot, as question marks."""
    texts = {name: getattr(g, name) for name in ("item", "metric", "value", "system", "judge")}
    texts["failure"] = g.failure
    pairs = texts.items()
    odd: dict[str, Any] = {k: _whole(v) for k, v in pairs if isinstance(v, str) and not v.isascii()}
    return g._replace(**odd) if odd else g


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _key(g: Grade) -> tuple[Any, ...]:
    return (g.item, g.system, g.judge, g.repeat)


def _place(g: Grade) -> tuple[Any, ...]:
    """Where a value belongs: a person who names no trial labels the item."""
    named = g.repeat is not None and g.repeat > 0
    return (g.item, g.system, g.repeat) if named else (g.item,)


def _first_orders(grades: Sequence[Grade]) -> list[Grade]:
    """The first order of each pair; if only the second was judged, an empty first."""
    firsts = {_key(g): g for g in grades if g.order == FIRST}
    alone = {
        _key(g): g._replace(value=None, score=None, order=FIRST, failure=g.failure)
        for g in grades
        if g.order == SECOND
    }
    return list({**alone, **firsts}.values())


def _value(g: Grade) -> tuple[str | None, float | None]:
    """Verdict and score: 1 and 0 are both, a word is a verdict, another number a score."""
    value, score = g.value, g.score
    if value is None:
        return None, None
    if isinstance(value, bool):
        return ("1" if value else "0"), (float(value) if score is None else score)
    if _is_number(value):
        number = float(value)
        return spell(value) if number in (0, 1) else None, number if score is None else score
    text = str(value)
    return text, CREDIT.get(text) if score is None else score


def label_of(grade: Grade) -> str | None:
    """A grade as a cell of text: its verdict, or its score."""
    label, score = _value(grade)
    return label if label is not None else None if score is None else f"{score:.15g}"


def _by_key(grades: Sequence[Grade], notes: Notes, name: str) -> dict[Any, str] | None:
    """Values by item, system and repeat, or by item; None if several judges gave them.

    Items of which people's labels differ have none, which is counted.
    """
    human = all(g.human for g in grades)
    if not human and len({g.judge for g in grades}) > 1:
        return None
    values: dict[Any, set[str]] = {}
    for g in grades:
        cell = label_of(g)
        if cell is not None:
            values.setdefault(_place(g), set()).add(cell)
    torn = sum(len(cells) > 1 for cells in values.values())
    if torn:
        notes.left_out[f"items of which people's labels in {name!r} differ: no truth"] = torn
    return {key: cells.pop() for key, cells in values.items() if len(cells) == 1}


def _label(value: Any) -> str:
    return f"{value:g}" if _is_number(value) else str(value)


def _are_scores(values: Sequence[Any]) -> bool:
    """Whether most values are numbers, and not all of these 1 and 0."""
    numbers = [v for v in values if _is_number(v)]
    return 2 * len(numbers) > len(values) and not {*numbers} <= {0, 1}


def _without_words(grades: Sequence[Grade]) -> list[Grade]:
    """A word among scores is a failure to give one."""
    by_metric: dict[tuple[str, bool], list[Any]] = {}
    for g in grades:
        if g.value is not None:
            by_metric.setdefault((g.metric, g.human), []).append(g.value)
    scored = {key for key, values in by_metric.items() if _are_scores(values)}
    return [
        g._replace(value=None, score=None, failure=f"not a number: {str(g.value)[:100]}")
        if (g.metric, g.human) in scored and g.value is not None and not _is_number(g.value)
        else g
        for g in grades
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """A cell: text, number or None; what has parts is written as JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return _whole(value) or None
    if value is None or isinstance(value, bool | int | float):
        return value
    import json

    return json.dumps(value, default=str, sort_keys=True)


def _array(cells: list[Any], number: bool, name: str, path: str) -> pa.Array:
    import pyarrow as pa

    from bayesjudge.core.names import name_of

    if number:
        try:
            return pa.array([None if c is None else float(c) for c in cells], pa.float64())
        except (TypeError, ValueError):
            raise InputError(path, [f"column {name!r} holds text, expected numbers"]) from None
    texts = [None if c is None else name_of(c) for c in cells]
    return pa.array(texts, pa.string()).dictionary_encode()


def require_among_metrics(path: str, metric: str, have: list[str]) -> None:
    """Refuse a metric that the log has not."""
    if metric in have:
        return
    from difflib import get_close_matches

    near = get_close_matches(metric, have, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {few(have)}"
    raise InputError(path, [f"no metric {metric!r}; {hint}"])
