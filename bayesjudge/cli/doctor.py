"""``bayesjudge doctor``: what a file holds, and which commands answer which questions with it.

Each line that is proposed has been run before it is shown.
"""

from __future__ import annotations

import csv
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from cyclopts import Parameter

from bayesjudge.cli.options import DATA, GENERATOR, SEVERAL, Written
from bayesjudge.cli.output import deliver, write
from bayesjudge.cli.shapes import (
    BRIEFLY,
    NEEDS,
    WANTED,
    Labelling,
    Lacking,
    Line,
    Match,
    Noted,
    Reading,
    matches,
    of_shape,
)
from bayesjudge.cli.shapes.common import labelled
from bayesjudge.cli.shapes.elsewhere import join
from bayesjudge.cli.shapes.judging import of_the_judge
from bayesjudge.cli.shapes.labelled import same_for_all
from bayesjudge.cli.shapes.logs import matches_of_log
from bayesjudge.cli.shapes.of_bias import versions_of
from bayesjudge.cli.shapes.of_ratings import separator_in
from bayesjudge.cli.shapes.of_repeats import asked_again
from bayesjudge.cli.shapes.people import tell_if_whole
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.shapes.running import (
    cautions_in,
    first_that_runs,
    following_columns,
    run_line,
    try_labelling,
)
from bayesjudge.cli.shapes.table import Asked, Table
from bayesjudge.cli.shapes.words import is_model
from bayesjudge.cli.source import DATABASES, open_source
from bayesjudge.core.calls import called
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.labels import GRADED_TEXT
from bayesjudge.core.screen import continued, few, how_many, in_lines, visible, width_of
from bayesjudge.core.tables import each_name
from bayesjudge.readers.files import STDIN, File, cell_of
from bayesjudge.readers.recognition import read_as, recognise
from bayesjudge.readers.tables import (
    blank_rows,
    decimal_commas,
    is_one_file,
    names_in,
    read_table,
    rows_of,
)
from bayesjudge.render.page import Page, Section, Shell

_DATA = Parameter(group=DATA)
#: Rows of a table that are looked at.
MOST_ROWS = 10_000
#: Columns of a table that is looked at.
MOST_COLUMNS = 10_000
#: Cautions that tell of data that may be wrong, rather than of few of them.
ODD = {
    "label-shift",
    "label-selection",
    "judge-changes",
    "contradiction",
    "off-range",
    "pass-rate-out-of-range",
}
BLANK = "{rows} blank, and not looked at"
FOLLOWED = (
    "labels go with a column within each verdict too: the line says --calibration random, and the "
    "answer follows that column"
)
EACH = "Is each system's share at least 0.9 (put your own number), as an exit code for CI?"


def doctor(
    file: Annotated[Path, _DATA],
    /,
    labels: Annotated[Path | None, _DATA] = None,
    *,
    truth: Annotated[list[str] | None, SEVERAL] = None,
    item: Annotated[str | None, _DATA] = None,
    generator: Annotated[str | None, GENERATOR] = None,
    judge: Annotated[str | None, _DATA] = None,
    why: Annotated[bool, Parameter(negative="")] = False,
    written: Written = Written(),
) -> None:
    """Tell what a file holds, and which questions it can answer by which command.

    Each command has been run on the file and can be pasted. Oddities are listed: labels that say
    neither pass nor fail, verdicts that failed to parse, rows that repeat, codings that seem
    reversed. What only you know is asked.

    ```
    bayesjudge doctor run.eval
    ```

    Parameters
    ----------
    file : Path
        A table, or a log of Inspect, lm-eval, promptfoo, DeepEval, MLflow, Phoenix, LangSmith,
        Langfuse, OpenAI Evals, alpaca_eval, arena-hard or MT-bench.
    labels : Path
        Table with the human labels, if they are in another file.
    truth : list[str]
        Column with the human label, if its name does not tell; of several people a column each.
    item : str
        Of a table, the column that names the item, if its name does not tell.
    generator : str
        Of a table, the column that names what made the outputs.
    judge : str
        Of a table with one row per vote, the column that names the judge.
    why : bool
        Show below each command why it is proposed.

    Raises
    ------
    InputError
        If the file cannot be read at all, or has no such column.
    """
    with checking("options") as require:
        written.check_files(require)
    named = {"item": item, "system": generator, "judge": judge}
    seen = examine(file, truth, labels, {role: n for role, n in named.items() if n is not None})
    if written.on_screen:
        write(visible(seen.screen(width_of(sys.stdout), why=why)))
    deliver(seen.page(why=why), written)


@dataclass
class Diagnosis:
    """What a file holds, what is odd, what it can answer, what it cannot, and how to add labels."""

    path: str
    kind: str
    contents: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)
    #: Readings whose line has been run, with the question that it answers.
    answers: list[Reading] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    labelling: list[tuple[str, str]] = field(default_factory=list)
    #: Whether people's labels are what is missing, and where they may be or how to get some.
    lacks_labels: bool = False
    hints: list[str] = field(default_factory=list)
    #: Whether a pandas frame is looked at: what adds labels is then lines of Python.
    frame: bool = False

    @property
    def truth(self) -> str:
        """How a column of people's labels is named."""
        return 'bj.ask(table, truth="COLUMN")' if self.frame else "--truth COLUMN"

    @property
    def with_labels(self) -> Shell:
        """The line that looks at the rows together with people's labels."""
        file = f"bayesjudge doctor {shlex.quote(self.path)} LABELS"
        return Shell("bj.ask(table, labels)" if self.frame else file)

    @property
    def commands(self) -> set[str]:
        """Commands that answer."""
        return {answer.line.command for answer in self.answers}

    def hint(self, text: str) -> None:
        """Say where people's labels may be, after that they are needed."""
        if text and text not in self.hints:
            self.hints.append(text)
            needed = self.missing.get("prevalence", NEEDS["prevalence"])
            self.missing["prevalence"] = f"{needed}; {text}"

    def __repr__(self) -> str:
        return self.screen(100)

    def sections(self, *, why: bool = False) -> list[Section]:
        """What the screen and the page say below the first sentence, the reasons too if asked."""
        lines: list[str] = []
        for question in dict.fromkeys(answer.question for answer in self.answers):
            lines.append(question)
            for answer in (answer for answer in self.answers if answer.question == question):
                lines += [
                    Shell(answer.line),
                    *(f"  since {text}" for text in answer.reasons if why),
                ]
        hint = "; ".join(self.hints) or f"if a column holds them: {self.truth}"
        place = f"If they are in another {'table' if self.frame else 'file'}:"
        labels = [f"{hint[0].upper()}{hint[1:]}.", place, self.with_labels]
        labels *= self._unlabelled
        drawn = [text for what, line in self.labelling for text in (what, Shell(line))]
        need = f"What {'other ' * bool(self.answers)}questions need (in brackets the command; "
        return [
            Section(heading, texts)
            for heading, texts in {
                "What it can answer: paste a line": lines,
                "Which people's labels?": labels,
                "How to add people's labels": drawn,
                "What only you know": [question.text for question in self.questions],
                "Look at this": list(dict.fromkeys(self.odd)),
                "What is in it": list(dict.fromkeys([self.kind, *self.contents])),
                f"{need}bayesjudge COMMAND --help)": [
                    f"{BRIEFLY[command]} {text} ({command})"
                    for command, text in self.missing.items()
                ],
            }.items()
            if texts
        ]

    def page(self, *, why: bool = False) -> Page:
        """What ``--json`` and ``--html`` write, the reasons on the page if asked."""
        answers = [
            {"question": a.question, "command": str(a.line), "options": {**a.line.options},
             "shape": a.shape, "reasons": a.reasons,
             **({"if": a.condition} if a.condition else {})}
            for a in self.answers
        ]  # fmt: skip
        fields = {
            "contents": self.contents,
            "odd": self.odd,
            "questions": [{"columns": q.columns, "text": q.text} for q in self.questions],
            "missing": self.missing,
            "answers": answers,
            "labelling": [line for _, line in self.labelling],
        }
        return Page(
            f"bayesjudge doctor, {Path(self.path).name}",
            self.sentence,
            command="doctor",
            line=called("doctor"),
            inputs={"data": self.path, "kind": self.kind},
            sections=self.sections(why=why),
            fields=lambda: fields,
        )

    def screen(self, width: int, *, why: bool = False) -> str:
        """All of it as lines, the reasons too if asked."""
        lines = in_lines(self.sentence, width)
        for section in self.sections(why=why):
            lines += ["", *in_lines(section.heading, width)]
            to_paste = any(isinstance(text, Shell) for text in section.lines)
            for text in section.lines:
                if isinstance(text, Shell):
                    lines += continued(f"    {text}", width)
                else:
                    lines += _wrapped(text, width, "  " if to_paste else "  - ")
        return "\n".join(lines) + "\n"

    @property
    def _unlabelled(self) -> bool:
        """Whether nothing can be answered because no label of people is known."""
        return self.lacks_labels and not self.answers

    @property
    def sentence(self) -> str:
        """How many questions can be answered."""
        name = Path(self.path).name
        if self._unlabelled:
            return f"{name} answers no question yet: people's labels are missing."
        if not self.answers:
            return f"{name} answers no question as it is: nothing was found to paste."
        questions = dict.fromkeys(answer.question for answer in self.answers)
        return f"{name} can answer {how_many(len(questions), 'question')}."


def _wrapped(text: str, width: int, first: str) -> list[str]:
    indent = " " * (len(first) + len(text) - len(text.lstrip()))
    return in_lines(text, width, first=first, later=indent)


def examine(
    path: Path,
    truth: str | Sequence[str] | None = None,
    labels: Path | None = None,
    named: Mapping[str, str] = MappingProxyType({}),
    *,
    frame: bool = False,
) -> Diagnosis:
    """Look at a file, with people's labels in another one if they are, and try commands on it.

    Of a table the columns of some roles may be `named`; it may be what was a pandas `frame`.
    """
    truths = each_name(truth)
    for name in (path, labels):
        expect(str(name), str(name) != STDIN, "read-twice")
    file = File(path) if is_one_file(path) else None
    log_format = None if file is None or file.kind in DATABASES else recognise(file)
    diagnosis = Diagnosis(str(path), "", frame=frame)
    matched: list[Match]
    if log_format is not None and file is not None:
        words = "--item, --generator and --judge name columns, and this is a log"
        expect("options", not named, words)
        log = read_as(log_format, file)
        diagnosis.kind = f"{log.tool} log"
        matched = [of_shape(m, "logs") for m in matches_of_log(log, str(path), truths, labels)]
        needs = [match for match in matched if isinstance(match, Lacking)]
        lines = [match.line for match in matched if isinstance(match, Reading)]
        diagnosis.lacks_labels = not any("--truth" in line for line in lines) and any(
            need.command == "prevalence" and need.more for need in needs
        )
        _settle(matched, diagnosis)
    else:
        table, matched = _of_table(_read(path, file, diagnosis), truths, labels, named, diagnosis)
        _settle(matched, diagnosis)
        diagnosis.odd += _rows_that_repeat(table, diagnosis)
    if diagnosis.lacks_labels and diagnosis.answers and "prevalence" not in diagnosis.commands:
        diagnosis.hint(f"with people's labels in another file: {diagnosis.with_labels}")
    diagnosis.missing = {
        c: diagnosis.missing.get(c, NEEDS[c]) for c in WANTED if c not in diagnosis.commands
    }
    return diagnosis


def _settle(matched: Sequence[Match], diagnosis: Diagnosis) -> None:
    """Run the readings, the surest first, and keep what the shapes tell."""
    for part in matched:
        if isinstance(part, Noted):
            (diagnosis.odd if part.odd else diagnosis.contents).append(part.text)
        elif isinstance(part, Asked):
            diagnosis.questions.append(part)
        elif isinstance(part, Lacking):
            if part.more:
                diagnosis.hint(part.why)
            else:
                diagnosis.missing[part.command] = part.why
    readings = [match for match in matched if isinstance(match, Reading)]
    for reading in sorted(readings, key=lambda reading: -reading.score):
        _try(reading, diagnosis)
    for part in matched:
        if isinstance(part, Labelling):
            _add_labels(part, diagnosis)


def _try(reading: Reading, diagnosis: Diagnosis) -> None:
    """Keep a line that runs, with what it rests on, or why it does not."""
    line, way, text = first_that_runs(reading)
    command = reading.line.command
    if line is None:
        tried = shlex.join(reading.line.words)
        diagnosis.missing[command] = f"tried `{tried}`: {text[:300]}"
        return
    if any(str(answer.line) == str(line) for answer in diagnosis.answers):
        return
    followed, text = following_columns(line, text)
    if followed is not line:
        line = followed
        diagnosis.odd.append(FOLLOWED)
    lines = {reading.question: line}
    if "judge" not in diagnosis.commands:
        judged = of_the_judge(line, reading.together).items()
        running = {question: _that_runs(beside) for question, beside in judged}
        lines = {question: beside for question, beside in running.items() if beside} | lines
    answers = [replace(reading, line=asked, question=reading.asks(question))
               for question, asked in lines.items()]  # fmt: skip
    place = len(diagnosis.answers) if reading.condition else 0
    diagnosis.answers[place:place] = answers[:-1]
    diagnosis.answers.append(answers[-1])
    diagnosis.odd += reading.notes
    for key in (*way, *(value for values in way.values() for value in values)):
        diagnosis.odd += [reading.note_of_way[key]] if key in reading.note_of_way else []
    diagnosis.odd += [f"{command}: {c['text']}" for c in cautions_in(text) if c["id"] in ODD]
    if reading.gate and "gate" not in diagnosis.commands:
        gate = _that_runs(Line("gate", line.path, {**line.options, "--at-least": ["0.9"]}))
        if gate is not None:
            question = reading.asks(EACH if "--by" in gate else WANTED["gate"])
            diagnosis.answers.append(replace(reading, line=gate, question=question))


def _that_runs(line: Line) -> Line | None:
    """The line, or one of which rows without a verdict are fails; None if neither runs."""
    lines = [line, *([] if "--unparsed" in line else [line.plus({"--unparsed": ["fail"]})])]
    return next((candidate for candidate in lines if run_line(candidate.words)[0]), None)


def _add_labels(labelling: Labelling, seen: Diagnosis) -> None:
    """How people's labels are added, if nothing says that they are not what is missing."""
    if "ratings" in seen.commands:
        seen.missing["prevalence"] = f"which column has people's labels ({seen.truth})"
    table = "--item" in labelling.draw  # of a log the same rows can be repeats and be labelled
    unlabelled = {"ratings", "repeats report", "bias", "bias orders"}
    if (table and unlabelled & seen.commands) or seen.labelling:
        return
    ways: list[dict[str, list[str]]] = [{}, {"--unparsed": ["fail"]}, {"--unparsed": ["drop"]}]
    lines, problem = try_labelling(labelling.draw, labelling.read, labelling.said, ways)
    if lines:
        said = f"Fill in its column truth with {labelling.what}, then paste:"
        texts = [("Draw items at random into a sheet:", str(lines[0])), (said, str(lines[1]))]
        seen.labelling = lines[1].in_python(labelling.what) if seen.frame else texts
    else:
        seen.hint(f"drawing some failed: {problem[:300]}")


# Tables ------------------------------------------------------------------------------------------


def _read(path: Path, file: File | None, diagnosis: Diagnosis) -> Table:
    """The rows that are looked at, as text."""
    diagnosis.kind = "table" if file is None else f"{file.kind} table"
    if file is not None and file.kind == "csv":
        diagnosis.kind = f"table, separated by {file.delimiter!r}"
        diagnosis.odd += _mistakes(file)
    text = None if file is None or file.kind in DATABASES else file
    heads = names_in(path) if text is None else text.fields
    words = f"has {len(heads):,} columns, and more than {MOST_COLUMNS:,} are not looked at"
    example = "bayesjudge prevalence FILE --verdict COLUMN --truth COLUMN"
    expect(str(path), len(heads) <= MOST_COLUMNS, f"{words}; name those that you mean: {example}")
    if text is None:
        rows: list[Any] = read_table(path, heads).slice(0, MOST_ROWS).to_pylist()
    else:
        rows = text.some_records(MOST_ROWS)
    expect(str(path), rows, f"has no row below its head, {few(list(heads), 12)}")
    columns = {str(n).strip(): [_cell(cell_of(row, n)) for row in rows] for n in heads if n}
    if text is not None and text.kind == "csv" and text.delimiter != ",":
        _read_decimal_commas(columns, diagnosis)
    diagnosis.contents.append(f"{how_many(len(rows), 'row')}, columns {few(list(columns), 12)}")
    blank = 0 if file is None else blank_rows(path, MOST_ROWS)
    diagnosis.odd += [BLANK.format(rows=how_many(blank, "row", "are"))] if blank else []
    total = rows_of(path)
    if total > MOST_ROWS:
        diagnosis.contents.append(f"{len(rows):,} of {total:,} rows were looked at")
    elif len(rows) == MOST_ROWS:
        diagnosis.contents.append(f"only the first {MOST_ROWS:,} rows were looked at")
    return Table(columns, path=str(path))


def _of_table(
    table: Table,
    truths: Sequence[str],
    labels: Path | None,
    named: Mapping[str, str],
    diagnosis: Diagnosis,
) -> tuple[Table, list[Match]]:
    """What a table's columns are for, and what the shapes find in it."""
    other = None if labels is None else open_source(labels)
    people = {} if other is None else other.table_of_names(other.readable())
    path, rows = table.path, len(next(iter(table.columns.values())))
    filled = [i for i, row in enumerate(zip(*table.columns.values(), strict=True)) if any(row)]
    if len(filled) < rows:
        diagnosis.odd.append(BLANK.format(rows=how_many(rows - len(filled), "row", "are")))
        table = table.but(columns={n: [c[i] for i in filled] for n, c in table.columns.items()})
    seen = describe(table.columns, () if labels else truths, people).but(most=table.most)
    table = _as_named(seen, named)
    sets = [n for n in table.verdicts if separator_in(table[n])]
    table = table.but(path=path, verdicts=[n for n in table.verdicts if n not in sets])
    if not truths and table.truths and len(table.verdicts) == 1:
        diagnosis.odd += filter(None, [tell_if_whole(table, table.truths[0])])
    table = _judges_of_one(table, diagnosis)
    again = [name for names in asked_again(table) for name in names[1:]]
    table = table.but(
        verdicts=[n for n in table.verdicts if n not in again],
        scores=[n for n in table.scores if n not in again],
        again=[*table.again, *again],
    )
    _describe(table, diagnosis)
    judged = bool(table.verdicts or table.scores)
    diagnosis.lacks_labels = judged and labels is None and not table.truths
    if diagnosis.lacks_labels and table.verdicts:
        diagnosis.missing["gate"] = NEEDS["prevalence"]
    diagnosis.questions += table.asked
    if other is None:
        return table, [*matches(table)]
    if not judged:
        why = "a column with the judge's verdicts (--verdict) or scores"
        return table, [Lacking("prevalence", why)]
    joined = join(table, open_source(Path(path)), other, truths)
    if isinstance(joined, Lacking):
        return table, [joined, *matches(table)]
    outputs = table.rows(table.keys[: 1 + bool(table.system)]) if table.judge else []
    note = labelled(joined.truths[0], joined.columns[joined.truths[0]], outputs)
    by = joined.labels["--item"][0], *joined.labels.get("--by", ())
    diagnosis.contents.append(f"{labels}: {note}, by {' and '.join(by)}")
    return table, [*matches(joined)]


def _judges_of_one(table: Table, diagnosis: Diagnosis) -> Table:
    """Take systems for judges whose outputs people label alike."""
    n = same_for_all(table) if table.judge is None else 0
    if not n:
        return table
    diagnosis.odd.append(
        f"labels are the same for all values of {table.system} on the {n:,} items labelled under "
        "several: these look like judges of the same outputs, or prompts of one, and not like "
        "systems"
    )
    return table.but(judge=table.system, system=None)


def _as_named(table: Table, named: Mapping[str, str]) -> Table:
    """Give columns the roles that somebody named, which they then have alone."""
    with checking("options") as require:
        for name in named.values():
            words = f"no column {name!r}; it has {few(list(table.columns), 12)}"
            require(name in table.columns, words)
    if not named:
        return table
    roles = {"item": table.item, "system": table.system, "judge": table.judge}
    kept = {role: None if name in named.values() else name for role, name in roles.items()}
    lists = {"truths": table.truths, "verdicts": table.verdicts, "scores": table.scores}
    free = {role: [n for n in names if n not in named.values()] for role, names in lists.items()}
    guessed = [guess for guess in table.guessed if not {*guess.columns} & {*named.values()}]
    return table.but(**{**kept, **named}, **free, guessed=guessed)


def _mistakes(file: File) -> list[str]:
    """What is wrong with a text table as such."""
    notes = []
    if file.encoding == "latin-1":
        notes.append("the text is not UTF-8; it is read as Latin-1")
    if b"\x00" in file.head and not file.encoding.startswith(("utf-16", "utf-32")):
        notes.append("there are NUL bytes in it; take them out, no label is read with them")
    names = [n.strip() for n in file.columns]
    twice = sorted({n for n in names if n and names.count(n) > 1})
    if twice:
        notes.append(f"columns {few(twice)} occur more than once")
    if "" in names:
        notes.append(f"{how_many(names.count(''), 'column', 'have')} no name")
    ragged = []
    with file.broken(), file.text() as text:
        lines = (line.replace("\x00", "") for line in islice(text, file.before_head, None))
        for row in islice(reader := csv.reader(lines, delimiter=file.delimiter), 20 * MOST_ROWS):
            if row and len(row) != len(names):
                ragged.append(reader.line_num)
    if ragged:
        numbers = few([str(n) for n in ragged], 5)
        rows = how_many(len(ragged), "row", "have")
        notes.append(f"{rows} more or fewer cells than the head: lines {numbers}")
    return notes


def _read_decimal_commas(columns: dict[str, list[str]], diagnosis: Diagnosis) -> None:
    """Numbers of a table of Excel in some languages, as every command reads them."""
    read = [name for name, cells in columns.items() if decimal_commas(cells)]
    for name in read:
        columns[name] = [cell.replace(",", ".") for cell in columns[name]]
    if read:
        diagnosis.contents.append(f"numbers with a decimal comma in {few(read, 5)}")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).strip()


def _describe(table: Table, diagnosis: Diagnosis) -> None:
    """Tell what the columns hold, and what is guessed."""
    for column in table:
        if column.kinds and all(map(GRADED_TEXT.match, column.kinds)):
            words = "cells begin with [PASS] or [FAIL], as promptfoo writes them: read as verdicts"
            diagnosis.odd.append(
                f"{column.name}: {words} if it is named (--verdict), with labels of its own outputs"
            )
    for most in dict.fromkeys(table.most.values()):
        graded = few([name for name, of in table.most.items() if of == most], 5)
        diagnosis.contents.append(f"grades out of {most:g} in {graded}, read as numbers")
    for name in table.verdicts:
        kinds, lost = table[name].kinds, len(table[name].cells) - table[name].kinds.total()
        values = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
        failed = f"; {lost} without a verdict" if lost else ""
        diagnosis.contents.append(f"verdicts in {name}: {values}{failed}")
    versions = versions_of(table)
    for name in versions.columns if versions else table.scores[:1]:
        numbers, lost = [float(c) for c in table[name].kinds], table.columns[name].count("")
        empty = f"; {lost} empty" if lost else ""
        diagnosis.contents.append(f"scores in {name}: {min(numbers):g} to {max(numbers):g}{empty}")
    for name in table.truths if table.named else table.truths[:1]:
        diagnosis.contents.append(labelled(name, table.columns[name]))
    diagnosis.odd += [guess.text for guess in table.guessed]
    if table.truths and table.order and not table.counter:
        diagnosis.odd.append(
            f"{table.order} has times: the lines answer for all of them together. To compare "
            "periods, add a column with the period of each row, and name it with --by COLUMN: the "
            "first is compared with the last, and each with the next"
        )
    if not table.truths:
        others = _may_be_labels(table)
        which = "one of " * (len(others) > 1) + (few(others, 5) or "a column")
        judged = bool(table.verdicts or table.scores)
        diagnosis.hint(f"if {which} holds them: {diagnosis.truth}" if others or judged else "")


def _may_be_labels(table: Table) -> list[str]:
    """Columns of which nobody knows that they are not people's labels."""
    taken = {*table.keys, *table.again, table.order, table.counter}
    taken |= {*table.verdicts} if len(table.verdicts) == 1 else set()
    seen = versions_of(table)
    taken |= {*seen.columns} if seen else set()
    like = [n for n in table.scores[1:] if table[n].scale == table[table.scores[0]].scale]
    return [
        c.name
        for c in table
        if c.name not in taken
        and (c.labels or c.name in like)
        and len(c.kinds) > 1
        and not is_model(c.name)
        and not c.dates
    ]


def _rows_that_repeat(table: Table, diagnosis: Diagnosis) -> list[str]:
    """Tell of rows that are the same, and of items with several rows."""
    notes = []
    rows = table.rows(table.columns)
    same = len(rows) - len({*rows})
    if same:
        notes.append(f"{how_many(same, 'row', 'are')} the same as another one")
    if table.item is None:
        return notes
    keys = Counter(table.rows(table.keys))
    several = sum(n > 1 for n in keys.values())
    if several and "repeats report" not in diagnosis.commands and not table.part:
        what = f"{several} of {how_many(len(keys), 'item')} with several rows by "
        notes.append(f"{what}{', '.join(table.keys)}: repeats, or duplicates?")
    empty = table.columns[table.item].count("")
    if empty:
        notes.append(f"{how_many(empty, 'row', 'have')} no name in {table.item}")
    return notes
