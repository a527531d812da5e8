"""``bayesjudge doctor``: what a file holds, and which commands answer which questions with it.

Each line that is proposed has been run before it is shown.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayesjudge.cli.output import DATA, PLAIN_WIDTH
from bayesjudge.cli.proposals import (
    MOST_LABELS,
    NEEDS,
    WANTED,
    Findings,
    ask_if_reversed,
    label_design,
    scale_of,
    try_drift,
    try_gate,
    try_lines,
    try_ratings,
    usual_scale,
    value_options,
)
from bayesjudge.cli.source import HUMAN
from bayesjudge.core.labels import spell, unread
from bayesjudge.core.screen import few, visible
from bayesjudge.prevalence._reading import ITEM_COLUMNS
from bayesjudge.readers.files import File
from bayesjudge.readers.log import COLUMNS, Log, Metric, read_as, recognise

_DATA = Parameter(group=DATA)
#: Rows of a table that are looked at.
MOST_ROWS = 200_000
#: The longest label.
LONGEST = 40
#: Names of columns, by what they are of.
PEOPLE = ("human", "reviewer", "expert", "person", "people")
SYSTEMS = ("system", "model", "generator", "system_id", "model_name", "candidate")
JUDGES = ("judge", "judge_model", "evaluator", "annotator", "grader", "rater")
VERDICTS = ("verdict", "judge", "vote", "llm", "gpt", "claude", "gemini", "grade", "pred", "auto")
#: Columns with what a rater chose.
CHOICES = ("choice", "answer", "label", "rating", "verdict", "response", "vote")


def doctor(
    file: Annotated[Path, _DATA],
    /,
    *,
    truth: Annotated[str | None, _DATA] = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Tell what a file holds, and which questions it can answer by which command.

    Each command has been run on the file, and can be pasted. What is odd is told: labels that say
    neither pass nor fail, verdicts that failed to parse, rows that repeat, codings that seem
    reversed.

    ```
    bayesjudge doctor run.eval
    ```

    Parameters
    ----------
    file : Path
        A table, or a log of Inspect, lm-eval, promptfoo, DeepEval, MLflow, Phoenix, LangSmith,
        Langfuse, OpenAI Evals, alpaca_eval, arena-hard or MT-bench.
    truth : str
        Column with the human label, if its name does not tell.
    json_ : bool
        Print one JSON document instead of text.

    Raises
    ------
    InputError
        If the file cannot be read at all.
    """
    found = examine(file, truth)
    if json_:
        document = {"schema": "bayesjudge-doctor/1", "file": str(file), "kind": found.kind}
        document |= {"contents": found.contents, "odd": found.odd, "missing": found.missing}  # type: ignore[dict-item]
        answers = [{"question": q, "command": line} for q, line in found.answers]
        sys.stdout.write(json.dumps(document | {"answers": answers}, indent=2) + "\n")
        return
    sys.stdout.write(visible(_screen(file, found)))


def examine(path: Path, truth: str | None = None) -> Findings:
    """Look at a file and try commands on it."""
    file = File(path)
    log_format = recognise(file)
    if log_format is not None:
        found = _of_log(read_as(log_format, file), str(path), truth)
    else:
        found = _of_table(file, truth)
    for question in WANTED:
        answered = any(WANTED[question] == q for q, _ in found.answers)
        if not answered:
            found.missing.setdefault(question, NEEDS[question])
        else:
            found.missing.pop(question, None)
    return found


# Logs --------------------------------------------------------------------------------------------


def _of_log(log: Log, path: str, truth: str | None) -> Findings:
    found = Findings(f"{log.tool} log")
    items = len({g.item for g in log.grades})
    systems = f", by {few(log.systems, 5)}" if log.systems else ""
    found.contents.append(f"{len(log.grades)} grades of {items} items{systems}")
    for metric in log.metrics.values():
        by = "" if metric.judges else " (by a program, or the log names no judge)"
        found.contents.append(f"metric {metric}{by}")
    found.contents += log.told[1:]
    if not log.metrics:
        found.odd.append("there is no grade in it")
    repeats = {"judge": "the judge repeats: repeats of an item grade one output"}
    repeats["system"] = "the system repeats: repeats of an item grade different outputs"
    if log.repeating:
        found.contents.append(repeats[log.repeating])
    judged = [m for m in log.metrics.values() if m.judges] or list(log.metrics.values())
    for metric in judged:
        _of_metric(log, metric, path, truth, found)
    return found


def _of_metric(log: Log, metric: Metric, path: str, truth: str | None, found: Findings) -> None:
    """Try what the grades of one metric can answer."""
    named = ["--metric", metric.name] if len(log.metrics) > 1 else []
    if metric.failures:
        shown = Counter(g.failure for g in metric.grades if g.failure).most_common(1)[0][0]
        what = f"{metric.failures} of {len(metric.grades)} grades failed, such as: {shown[:80]}"
        found.odd.append(f"{metric.name}: {what}")
    if metric.failures == len(metric.grades):
        return
    table = log.table(metric.name)
    cells = {name: table[name].to_pylist() for name in table.column_names}
    truths = [truth] if truth else _truths(cells, metric.name)
    labels = {"verdict": cells["verdict"], **{name: cells[name] for name in truths[:1]}}
    values = value_options(labels, found, metric.name) if not metric.numeric else []
    several = len(metric.judges) > 1
    if several:
        own = ["--truth", truths[0]] if truths else []
        line = ["panel", path, *named, *own, *values]
        try_lines("panel", line, found, [[], ["--calibration", "random"]])
        try_drift(path, named, metric.judges, own, values, found)
    if not metric.numeric:
        _ratings(log, metric, path, named, truths, cells, found)
    for judge in metric.judges if several else [""]:
        one = ["--judge", judge] if judge else []
        for name in truths[:1]:
            at = f"{metric.name}: " if named else ""
            found.contents.append(at + _labelled(name, cells[name]))
            line = ["prevalence", path, *named, *one, "--truth", name]
            _prevalence(line, metric, _once(cells), name, values, found)
    if metric.repeats > 1 and not several:
        asked = scale_of(metric, found)
        try_lines("repeats report", ["repeats", "report", path, *named, *asked], found, [[]])
    if "swapped" in cells:
        try_lines(
            "bias orders", ["bias", "orders", path, *named], found, [[], ["--missing", "drop"]]
        )
    if not truths:
        others = [c for c in cells if c not in COLUMNS]
        hint = f"; the log has {few(others, 8)}: name one with --truth if it is" if others else ""
        found.missing["prevalence"] = f"{NEEDS['prevalence']}{hint}"


def _prevalence(
    line: list[str],
    metric: Metric,
    cells: Mapping[str, list[Any]],
    truth: str,
    values: list[str],
    found: Findings,
) -> None:
    chosen = label_design(cells["verdict"], cells[truth], found)
    ask_if_reversed(cells["verdict"], cells[truth], values, found)
    if metric.numeric:
        numbers = [float(g.value) for g in metric.grades if g.value is not None]
        score = ["--score", "score", "--scale", usual_scale(numbers)]
        try_lines(
            "prevalence", [*line, *score, *values, *chosen], found, [[], ["--unparsed", "drop"]]
        )
        return
    extra = [["--unparsed", "fail"], ["--unparsed", "drop"]]
    repeats = [["--repeats", "judge"], ["--repeats", "system"]] if metric.repeats > 1 else []
    ways = [[], *extra, *repeats, *([*a, *b] for a in repeats for b in extra)]
    done = try_lines("prevalence", [*line, *values, *chosen], found, ways)
    if done:
        try_gate(done, found)


def _ratings(
    log: Log,
    metric: Metric,
    path: str,
    named: list[str],
    truths: list[str],
    cells: Mapping[str, list[Any]],
    found: Findings,
) -> None:
    """Two people and a judge, or two judges and a person: with fewer nothing is compared."""
    graded = log.human.get(metric.name)
    persons = len(truths) if graded is None else max(abs(g.repeat or 1) for g in graded.grades)
    if not persons or max(persons, len(metric.judges)) < 2:
        return
    said: dict[str, set[Any]] = {judge: set() for judge in metric.judges or [metric.name]}
    for judge, label in zip(cells["judge"], cells["verdict"], strict=True):
        said[judge or metric.name].add(label)
    own = [] if graded is not None else [w for name in truths for w in ("--people", name)]
    people = graded.labels if graded is not None else [c for n in truths for c in cells[n]]
    try_ratings(["ratings", path, *named, *own], said, people, found)


def _once(cells: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The first row of each item: labels are counted by item."""
    first = {item: i for i, item in reversed(list(enumerate(cells["item"])))}
    return {name: [column[i] for i in sorted(first.values())] for name, column in cells.items()}


def _truths(cells: Mapping[str, list[Any]], metric: str) -> list[str]:
    """Columns of people's labels, the most likely first."""
    if "truth" in cells:
        return ["truth"]
    names = [n for n in cells if n not in COLUMNS and any(w in n.lower() for w in HUMAN)]
    return [n for n in names if n != metric and _are_labels(cells[n])]


# Tables ------------------------------------------------------------------------------------------


def _of_table(file: File, truth: str | None) -> Findings:
    kinds = {"csv": f"table, separated by {file.delimiter!r}" if file.kind == "csv" else ""}
    found = Findings(kinds.get(file.kind) or f"{file.kind} table")
    if file.kind == "csv":
        found.odd += _mistakes(file)
    rows = list(islice(file.records(), MOST_ROWS))
    columns = {str(n).strip(): [_cell(row.get(n)) for row in rows] for n in file.columns if n}
    found.contents.append(f"{len(rows)} rows, columns {few(list(columns), 12)}")
    if len(rows) == MOST_ROWS:
        found.contents.append(f"only the first {MOST_ROWS:,} rows were looked at")
    labels = {n: c for n, c in columns.items() if _are_labels(c)}
    scores = {n: c for n, c in columns.items() if n not in labels and _are_numbers(c)}
    item = _item_of(columns)
    system = _named(columns, SYSTEMS)
    judge = next((n for n in columns if n.lower() in JUDGES and n not in scores), None)
    judge = None if judge in labels and _is_binary(labels[judge]) else judge
    names = {item, system, judge}
    truths = [truth] if truth else [
        n for n in (*labels, *scores) if n not in names and _says_human(n)
    ]  # fmt: skip
    verdicts = [n for n in labels if n not in {*names, *truths} and _says_judge(n)]
    if not verdicts:
        verdicts = [n for n, c in labels.items() if n not in {*names, *truths} and _is_binary(c)]
    _repeated(rows, columns, [n for n in (item, system, judge) if n], found)
    _describe(columns, truths, verdicts, found)
    _try_table(file.name, columns, truths, verdicts, list(scores), (item, system, judge), found)
    return found


def _try_table(
    path: str,
    columns: Mapping[str, list[Any]],
    truths: list[str],
    verdicts: list[str],
    scores: list[str],
    names: tuple[str | None, str | None, str | None],
    found: Findings,
) -> None:
    item, system, judge = names
    scores = [n for n in scores if n not in truths and n not in names]
    labels = {n: columns[n] for n in (*truths[:1], *verdicts) if not _are_numbers(columns[n])
              or _is_binary(columns[n])}  # fmt: skip
    values = value_options(labels, found, "") if verdicts else []
    by = ["--by", system] if system and len({*columns[system]} - {""}) > 1 else []
    known = ["--item", item] if item else []
    own = ["--truth", truths[0]] if truths else []
    if len(verdicts) > 1 or (judge and verdicts):
        wide = ["--judges", *verdicts] if len(verdicts) > 1 else ["--judge", str(judge), "--vote"]
        wide += [] if len(verdicts) > 1 else verdicts
        more = [[], ["--calibration", "random"]]
        line = ["panel", path, *wide, *own, *values]
        if item:
            line += ["--item", item]
        if system:
            line += ["--generator", system]
        absent = [n for n, there in (("item", item), ("generator", system)) if not there]
        if not absent:
            try_lines("panel", line, found, more)
        else:
            needs = " and ".join(f"the {n} (--{n})" for n in absent)
            found.missing["panel"] = f"a column that names {needs}"
    if truths and verdicts and not judge:
        chosen = label_design(columns[verdicts[0]], columns[truths[0]], found)
        ask_if_reversed(columns[verdicts[0]], columns[truths[0]], values, found)
        line = ["prevalence", path, "--verdict", *verdicts[:1], *own, *values, *chosen]
        lost = [["--unparsed", "fail"], ["--unparsed", "drop"]]
        again = [["--repeats", "judge"], ["--repeats", "system"]]
        again = again if item and _repeats(columns[item]) else []
        ways = [[], *lost, *again, *([*a, *b] for a in again for b in lost)]
        done = try_lines("prevalence", [*line, *by, *known], found, ways)
        if done:
            try_gate(done, found)
    elif truths and scores and not judge:
        chosen = label_design([], columns[truths[0]], found)
        numbers = [float(c) for c in columns[scores[0]] if c]
        line = ["prevalence", path, "--score", scores[0], "--scale", usual_scale(numbers), *own]
        ends = []
        if _are_numbers(columns[truths[0]]):
            ends = ["--truth-scale", usual_scale([float(c) for c in columns[truths[0]] if c])]
        try_lines(
            "prevalence", [*line, *ends, *chosen, *known], found, [[], ["--unparsed", "drop"]]
        )
    elif truths and not judge:
        found.missing["prevalence"] = "a column with the judge's verdicts (--verdict) or scores"
    if scores and item:
        listed = ",".join(f"{x:g}" for x in sorted({float(c) for c in columns[scores[0]] if c}))
        line = ["repeats", "report", path, "--score", scores[0], "--item", item]
        line += ["--judge", judge] if judge else []
        if len(listed.split(",")) <= MOST_LABELS and _repeats(columns[item]):
            try_lines("repeats report", [*line, "--scale", listed], found, [[]])
    _long_ratings(path, columns, item, found)
    if {"order1", "order2"} <= set(columns):
        try_lines("bias orders", ["bias", "orders", path], found, [[], ["--missing", "drop"]])


def _long_ratings(
    path: str, columns: Mapping[str, list[Any]], item: str | None, found: Findings
) -> None:
    """A table with one row a label: its judges are told by their names."""
    rater, choice = _named(columns, JUDGES), _named(columns, CHOICES)
    if not (item and rater and choice) or not _are_labels(columns[choice]):
        return
    said: dict[str, set[Any]] = {}
    for name, label in zip(columns[rater], columns[choice], strict=True):
        said.setdefault(name, set()).add(label)
    judges = [name for name in said if _says_judge(name)]
    people = set().union(*(labels for name, labels in said.items() if name not in judges))
    if judges and len(said) - len(judges) > (len(judges) < 2):
        line = ["ratings", path, "--item", item, "--rater", rater, "--choice", choice]
        line += [word for name in judges for word in ("--judge", name)]
        try_ratings(line, {name: said[name] for name in judges}, people, found)


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _mistakes(file: File) -> list[str]:
    """What is wrong with a text table as such."""
    told = []
    if file.encoding == "latin-1":
        told.append("the text is not UTF-8; it is read as Latin-1")
    if b"\x00" in file.head and not file.encoding.startswith("utf-16"):
        told.append("there are NUL bytes in it; they are left out")
    names = [n.strip() for n in file.columns]
    twice = sorted({n for n in names if n and names.count(n) > 1})
    if twice:
        told.append(f"columns {few(twice)} occur more than once")
    if "" in names:
        told.append(f"{names.count('')} columns have no name")
    ragged = []
    with contextlib.suppress(csv.Error), file.broken(), file.text() as text:
        lines = (line.replace("\x00", "") for line in text)
        for row in islice(reader := csv.reader(lines, delimiter=file.delimiter), MOST_ROWS):
            if row and len(row) != len(names):
                ragged.append(reader.line_num)
    if ragged:
        lines_ = few([str(n) for n in ragged], 5)
        told.append(f"{len(ragged)} rows have more or fewer cells than the head: lines {lines_}")
    return told


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).strip()


def _are_labels(cells: Sequence[Any]) -> bool:
    found = {str(c).strip() for c in cells if c not in (None, "")}
    short = all(len(c) <= LONGEST for c in found)
    if not 0 < len(found) <= MOST_LABELS or not short:
        return False
    return len(found) <= 4 or not all(map(_is_number, found))


def _is_binary(cells: Sequence[Any]) -> bool:
    return not unread({"": {c for c in cells if c not in (None, "")}})


def _is_number(cell: Any) -> bool:
    try:
        return float(cell) == float(cell)
    except (TypeError, ValueError):
        return False


def _are_numbers(cells: Sequence[Any]) -> bool:
    found = [c for c in cells if c not in (None, "")]
    return (
        bool(found) and all(map(_is_number, found)) and not {spell(c) for c in found} <= {"0", "1"}
    )


def _says_human(name: str) -> bool:
    named = any(word in name.lower() for word in (*HUMAN, *PEOPLE))
    return named and not _says_judge(name)


def _says_judge(name: str) -> bool:
    """Reviewers give verdicts too, unless a model is named."""
    lower = name.lower()
    if any(word in lower for word in PEOPLE):
        return any(word in lower for word in ("llm", "gpt", "claude", "gemini"))
    return any(word in lower for word in VERDICTS)


def _item_of(columns: Mapping[str, Any]) -> str | None:
    """A column by a usual name, or the first one called some id."""
    named = [n for n in columns if n.lower() in ITEM_COLUMNS]
    ids = [
        n for n in columns if re.search(r"(^|[\s_.-])id$", n.lower()) and n.lower() not in SYSTEMS
    ]
    return next(iter([*named, *ids]), None)


def _named(columns: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((n for n in columns if n.lower() in names), None)


def _describe(
    columns: Mapping[str, list[Any]], truths: list[str], verdicts: list[str], found: Findings
) -> None:
    for name in verdicts:
        kinds = Counter(columns[name])
        empty = kinds.pop("", 0)
        values = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
        lost = f"; {empty} empty: verdicts that failed to parse" if empty else ""
        found.contents.append(f"verdicts in {name}: {values}{lost}")
    for name in truths[:1]:
        found.contents.append(_labelled(name, columns[name]))
    if not truths:
        found.missing["prevalence"] = NEEDS["prevalence"] + "; name it with --truth"


def _labelled(name: str, cells: Sequence[Any]) -> str:
    kinds = Counter(str(c) for c in cells if c not in (None, ""))
    values = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
    return f"people's labels in {name}: {sum(kinds.values())} of {len(cells)} rows ({values})"


def _repeated(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, list[Any]],
    names: list[str],
    found: Findings,
) -> None:
    """Tell of rows that are the same, and of items with several rows."""
    same = len(rows) - len(set(zip(*columns.values(), strict=True)))
    if same:
        found.odd.append(f"{same} rows are copies of another one")
    if names:
        keys = Counter(zip(*(columns[n] for n in names), strict=True))
        several = sum(n > 1 for n in keys.values())
        if several:
            what = f"{several} of {len(keys)} have several rows by {', '.join(names)}"
            found.odd.append(f"{what}: repeats, or duplicates?")
        empty = sum(columns[names[0]][i] == "" for i in range(len(rows)))
        if empty:
            found.odd.append(f"{empty} rows have no name in {names[0]}")


# Screen ------------------------------------------------------------------------------------------


def _screen(path: Path, found: Findings) -> str:
    lines = [f"{path}: {found.kind}"]
    sections: list[tuple[str, Iterator[str]]] = [
        ("What is in it", iter(dict.fromkeys(found.contents))),
        ("Look at this", iter(dict.fromkeys(found.odd))),
    ]
    for heading, told in sections:
        body = [w for text in told for w in _wrapped(text)]
        lines += ["", heading, *body] if body else []
    lines += ["", "What it can answer: paste a line"] if found.answers else []
    for question in dict.fromkeys(q for q, _ in found.answers):
        lines += [f"  {question}", *(f"    {line}" for q, line in found.answers if q == question)]
    lines += ["", "What is missing for other questions"]
    for command, why in found.missing.items():
        lines += _wrapped(f"{WANTED[command]} {why}")
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, PLAIN_WIDTH - 4, initial_indent="  - ", subsequent_indent="    ")
