"""``bayesjudge doctor``: what a file holds, and which commands answer which questions with it.

Each line that is proposed has been run before it is shown.
"""

from __future__ import annotations

import contextlib
import csv
import json
import shlex
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from cyclopts import Parameter

from bayesjudge.cli.graders import parts_of, propose_ratings, separator_in
from bayesjudge.cli.label_file import keys_of
from bayesjudge.cli.labelled import same_for_all, uneven
from bayesjudge.cli.options import DATA, GENERATOR
from bayesjudge.cli.proposals import (
    BRIEFLY,
    CONTRADICTS,
    MEAN,
    MOST_LABELS,
    NEEDS,
    WANTED,
    Findings,
    all_alike,
    ask_if_reversed,
    label_design,
    lost_verdicts,
    scale_of,
    scale_seen,
    tell_if_whole,
    try_drift,
    try_gate,
    try_labelling,
    try_labelling_scores,
    try_lines,
    try_ratings,
    usual_scale,
    value_options,
)
from bayesjudge.cli.roles import (
    CRITERIA,
    PEOPLE,
    SCORES,
    Roles,
    are_labels,
    are_numbers,
    in_both_orders,
    is_binary,
    is_model,
    is_number,
    labels_first,
    roles_of,
    says_person,
)
from bayesjudge.cli.shapes import JURORS, Versions, are_repeats, numbered, versions_in, words_of
from bayesjudge.cli.source import DATABASES, INPUTS, PAIRS, Source, of_people, open_source
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.labels import folded, says_nothing
from bayesjudge.core.screen import as_words, continued, few, how_many, visible, width_of
from bayesjudge.readers.files import STDIN, File, cell_of
from bayesjudge.readers.log import COLUMNS, Log, Metric
from bayesjudge.readers.recognition import read_as, recognise
from bayesjudge.readers.tables import decimal_commas, is_one_file, names_in, read_table, rows_of

_DATA = Parameter(group=DATA)
#: Rows of a table that are looked at.
MOST_ROWS = 200_000
#: Columns of a log that name a test or what made its output.
NAMES = ("test", "description", "provider", "prompt")
#: Judges of a table of whom a line each is shown.
MOST_JUDGES = 5
#: Columns that may hold people's scores, of which a line each is shown.
MOST_PERHAPS = 3
#: Columns of a table that is looked at.
MOST_COLUMNS = 10_000


def doctor(
    file: Annotated[Path, _DATA],
    /,
    labels: Annotated[Path | None, _DATA] = None,
    *,
    truth: Annotated[str | None, _DATA] = None,
    item: Annotated[str | None, _DATA] = None,
    generator: Annotated[str | None, GENERATOR] = None,
    judge: Annotated[str | None, _DATA] = None,
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
    labels : Path
        Table with the human labels, if they are in another file.
    truth : str
        Column with the human label, if its name does not tell.
    item : str
        Of a table, the column that names the item, if its name does not tell.
    generator : str
        Of a table, the column that names what made the outputs.
    judge : str
        Of a table with one row a vote, the column that names the judge.
    json_ : bool
        Print one JSON document instead of text.

    Raises
    ------
    InputError
        If the file cannot be read at all, or has no such column.
    """
    named = {"item": item, "system": generator, "judge": judge}
    found = examine(file, truth, labels, {role: n for role, n in named.items() if n is not None})
    if json_:
        document = {"schema": "bayesjudge-doctor/1", "file": str(file), "kind": found.kind}
        document |= {"contents": found.contents, "odd": found.odd, "missing": found.missing}  # type: ignore[dict-item]
        answers = [{"question": q, "command": line} for q, line in found.answers]
        document |= {"answers": answers, "labelling": [line for _, line in found.labelling]}  # type: ignore[dict-item]
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    sys.stdout.write(visible(_screen(file, found)))


def examine(
    path: Path,
    truth: str | None = None,
    labels: Path | None = None,
    named: Mapping[str, str] = MappingProxyType({}),
) -> Findings:
    """Look at a file, with people's labels in another one if they are, and try commands on it.

    Of a table the columns of some roles may be `named`.
    """
    for one in (path, labels):
        with checking(str(one)) as require:
            require(str(one) != STDIN, "is read more than once here: save it to a file first")
    file = File(path) if is_one_file(path) else None
    log_format = None if file is None or file.kind in DATABASES else recognise(file)
    if log_format is not None and file is not None:
        with checking("options") as require:
            require(not named, "--item, --generator and --judge are of tables, and this is a log")
        found = _of_log(read_as(log_format, file), str(path), truth, labels)
    else:
        found = _of_table(path, file, truth, labels, named)
    if found.lacks_labels and found.answers and "prevalence" not in found.commands:
        elsewhere = f"with people's labels in another file: {_with_labels(str(path))}"
        found.missing["prevalence"] = f"{found.missing['prevalence']}; {elsewhere}"
    for command in WANTED:
        if command in found.commands:
            found.missing.pop(command, None)
        else:
            found.missing.setdefault(command, NEEDS[command])
    return found


# Logs --------------------------------------------------------------------------------------------


def _of_log(log: Log, path: str, truth: str | None, labels: Path | None) -> Findings:
    found = Findings(f"{log.tool} log")
    items = len({g.item for g in log.grades})
    systems = f", by {few(log.systems, 5)}" if log.systems else ""
    found.contents.append(
        f"{how_many(len(log.grades), 'grade')} of {how_many(items, 'item')}{systems}"
    )
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
        _of_metric(log, metric, path, truth, labels, found)
    readable = [m for m in judged if m.failures < len(m.grades)]
    if not readable:
        failed = f", and all {len(log.grades)} grades failed" if log.grades else ""
        found.missing["prevalence"] = f"verdicts that can be read{failed}; then people's labels"
    elif labels is None and found.missing.get("prevalence", "").startswith(NEEDS["prevalence"]):
        found.lacks_labels = True
        if any(not metric.numeric for metric in readable):
            found.missing["gate"] = NEEDS["prevalence"]
        _add_labels(log, readable[0], path, found)
    return found


def _add_labels(log: Log, metric: Metric, path: str, found: Findings) -> None:
    """How labels of people are added to a log that has none."""
    if len(log.systems) > 1 or log.repeating == "system":
        found.missing["prevalence"] += (
            "; items have several outputs here: label outputs, in the tool (as a field of each, "
            "such as human_label) or in a file with columns item, system, repeat and truth: "
            f"bayesjudge doctor {shlex.quote(path)} FILE says how it is joined (--labels FILE)"
        )
        return
    about = ["--metric", metric.name] if len(log.metrics) > 1 else []
    about += ["--judge", metric.judges[0]] if len(metric.judges) > 1 else []
    if metric.numeric:
        try_labelling_scores(path, about, "score", _scale(metric), found)
    elif {*metric.labels} <= {*PAIRS}:
        means = {"win": "--pass-value", "tie": "--missing-value", "loss": "--fail-value"}
        seen = {*log.table(metric.name)["verdict"].to_pylist()}  # of two orders, the first one's
        drawing = [word for said in PAIRS if said in seen for word in (means[said], said)]
        try_labelling(path, about, drawing, [], PAIRS, found)
    else:
        values = value_options({"verdict": list(metric.labels)}, found, metric.name)
        try_labelling(path, [*about, *values], [], [], ["1", "0"], found)


def _scale(metric: Metric) -> str:
    return usual_scale([float(g.value) for g in metric.grades if g.value is not None])


def _of_metric(log: Log, metric: Metric, path: str, truth: str | None, labels: Path | None,
               found: Findings) -> None:  # fmt: skip
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
    people = [truth] if truth and not labels else _truths(cells, metric.name, found)
    if not truth and people[:1] not in ([], ["truth"]):
        tell_if_whole(people[0], cells["verdict"], cells[people[0]], cells["item"], found)
    truths = people[:1]
    own = ["--truth", *truths] if truths else []
    voted, absent = own, list[str]()
    if labels is not None:
        joined = _join_log(path, metric, labels, truth, named, found)
        truths = [joined.truth] if joined else []
        own, voted = (joined.options(), joined.options("--generator")) if joined else ([], [])
        cells |= joined.cells if joined else {}
        absent = list(joined.absent) if joined else []
    known = {"verdict": cells["verdict"], **{name: cells[name] for name in truths}}
    values = as_words("--missing-value", absent)
    if not metric.numeric:
        values = value_options(known, found, metric.name, absent)
    several = len(metric.judges) > 1
    if several:
        line = ["panel", path, *named, *voted, *values]
        try_lines("panel", line, found, [[], ["--calibration", "random"]])
        try_drift(path, named, metric.judges, own, values, found)
    if not metric.numeric:
        _ratings(log, metric, path, named, people, cells, found)
    for judge in metric.judges if several else [""]:
        one = ["--judge", judge] if judge else []
        for name in truths:
            at = f"{metric.name}: " if named else ""
            found.contents.append(at + _labelled(name, cells[name]))
            line = ["prevalence", path, *named, *one, *own]
            _prevalence(line, metric, _once(cells, judge), name, values, found)
    if metric.repeats > 1 and not several:
        asked = scale_of(metric, found)
        try_lines("repeats report", ["repeats", "report", path, *named, *asked], found, [[]])
    if "swapped" in cells:
        try_lines(
            "bias orders", ["bias", "orders", path, *named], found, [[], ["--missing", "drop"]]
        )
    if not truths and labels is None:
        others = [c for c in cells if c not in (*COLUMNS, *NAMES) and not c.startswith(INPUTS)]
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
        score = ["--score", "score", "--scale", _scale(metric)]
        if are_numbers(cells[truth]):
            score += ["--truth-scale", usual_scale([float(c) for c in cells[truth] if c])]
        try_lines(
            "prevalence", [*line, *score, *values, *chosen], found, [[], ["--unparsed", "drop"]]
        )
        return
    extra = lost_verdicts(values, found)
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


def _once(cells: Mapping[str, list[Any]], judge: str) -> dict[str, list[Any]]:
    """The first row of each system's item, by one judge if one is named: what labels are of."""
    rows = list(zip(*(cells[name] for name in ("item", "system", "judge")), strict=True))
    first: dict[tuple[Any, Any], int] = {}
    for i, (item, system, by) in enumerate(rows):
        if not judge or by == judge:
            first.setdefault((item, system), i)
    return {name: [column[i] for i in first.values()] for name, column in cells.items()}


def _truths(cells: Mapping[str, list[Any]], metric: str, found: Findings) -> list[str]:
    """Columns of people's labels, the most likely first."""
    if "truth" in cells:
        return ["truth"]
    names = [n for n in of_people(list(cells)) if n not in (*COLUMNS, metric)]
    names = [n for n in names if are_labels(cells[n]) and _are_whole(cells[n])]
    found.odd += filter(None, (all_alike(n, cells[n]) for n in names))
    said = ["" if cell is None else str(cell) for cell in cells["verdict"]]
    return labels_first(names, cells, {"verdict": said})


def _are_whole(cells: Sequence[Any]) -> bool:
    """Whether no number is a fraction: shares and confidences are no labels."""
    return all(float(c) % 1 == 0 for c in cells if c not in (None, "") and is_number(c))


# Labels in another file --------------------------------------------------------------------------


@dataclass(frozen=True)
class Joined:
    """People's labels in another file: what names an output in it, and the label of each row."""

    path: Path
    truth: str
    item: str
    system: str
    cells: dict[str, list[Any]]
    #: What stands for an empty label.
    absent: Sequence[str] = ()

    def options(self, system: str = "--by") -> list[str]:
        """The options that join them, for commands that call a system `system`."""
        named = ["--labels", str(self.path), "--truth", self.truth, "--item", self.item]
        return [*named, *([system, self.system] if self.system else [])]


def _join_log(path: str, metric: Metric, labels: Path, truth: str | None, named: list[str],
              found: Findings) -> Joined | None:  # fmt: skip
    """People's labels in another file, of what all judges of a log's metric say."""
    source = open_source(Path(path), metric.name, judges=True)
    system = "system" if "system" in source.outputs else ""
    return _join(source, labels, truth, named, ["verdict"], found, system)


def _join_table(path: str, labels: Path, truth: str | None, roles: Roles, found: Findings) -> None:
    """People's labels in another file, of the verdicts or scores of judges in this one."""
    judged = list(roles.verdicts or roles.scores[:1])[:MOST_JUDGES]
    if not judged:
        found.missing["prevalence"] = "a column with the judge's verdicts (--verdict) or scores"
        return
    system = str(roles.system) if len(roles.systems) > 1 else ""
    joined = _join(open_source(Path(path)), labels, truth, [], judged, found, system)
    if joined is None:
        return
    said = joined.cells[joined.truth]
    names = " and ".join(name for name in (joined.item, joined.system) if name)
    outputs = [roles.columns[n] for n in (roles.item, roles.system) if n] if roles.judge else []
    told = _labelled(joined.truth, said, outputs)
    found.contents.append(f"{labels}: {told}, by {names}")
    if roles.verdicts:
        _panel(path, roles, found, joined)
    if roles.verdicts and len(roles.judges) > 1:  # of each item a row a judge
        return
    for name in judged:
        reading = ["--verdict", name]
        if not roles.verdicts:
            reading = ["--score", name, "--scale", _ends(name, roles, found)]
        line = ["prevalence", path, *reading, *joined.options()]
        asked = "Which system is better" if joined.system else "What share of outputs is good"
        alone = f"{asked}, by {name} alone?" if len(judged) > 1 else ""
        _try_joined(line, joined, name, found, alone)


def _join(source: Source, path: Path, truth: str | None, reading: list[str], judged: list[str],
          found: Findings, system: str = "") -> Joined | None:  # fmt: skip
    """Join people's labels in another file to the verdicts or scores in the columns `judged`."""
    other = open_source(path)
    columns = other.table_of_names(other.columns())
    named = [n for n, c in columns.items() if says_person(n) and (are_labels(c) or are_numbers(c))]
    said = source.table_of_names(judged)
    truths = [truth] if truth else labels_first(named, columns, said, beside=False)
    truths = truths or [n for n in roles_of(columns).truths if n not in named]
    binary = [n for n, c in columns.items() if are_labels(c) and is_binary(c)]
    truths = truths or [n for n in binary if not all_alike(n, columns[n])]
    keys = keys_of(source, other, truths[0], system) if truths else None
    if keys is None:
        words = "names of these items" if truths else "people's labels (--truth COLUMN)"
        shown = ""
        if truths and source.log is not None:
            shown = f"; here an item is called {source.table_of_names(['item'])['item'][0]!r}"
        found.missing["prevalence"] = (
            f"{words} in {path}, which has columns {few(list(columns), 8)}{shown}"
        )
        return None
    item, by = keys[0], keys[1] or (system if source.log is None else "")
    made = Joined(path, truths[0], item, by, {})
    try:
        source.add_labels(path, truth=truths[0], verdicts=judged, item=item, by=by or None)
        table = source.table([*judged, truths[0]])
    except InputError as error:
        line = shlex.join(["prevalence", str(source.path), *reading, *made.options()])
        found.missing["prevalence"] = f"tried `{line}`: {error.told[:300]}"
        return None
    absent = list(roles_of(columns, truths[0]).absent.get(truths[0], ()))
    if absent:
        found.odd.append(_read_as_empty(truths[0], absent))
    cells = {name: table[name].to_pylist() for name in table.column_names}
    cells[truths[0]] = [None if cell in absent else cell for cell in cells[truths[0]]]
    return replace(made, cells=cells, absent=absent)


def _read_as_empty(name: str, words: Sequence[str]) -> str:
    return f"{name}: {few([repr(w) for w in words])} is read as an empty cell"


def _try_joined(
    line: list[str], joined: Joined, judge: str, found: Findings, question: str = ""
) -> None:
    """Try a line of verdicts or scores, and of labels that were joined to them."""
    scored, truth = "--score" in line, joined.truth
    judged, said = joined.cells[judge], joined.cells[truth]
    if are_numbers(said):
        line += ["--truth-scale", usual_scale([float(c) for c in said if c])]
    cells = {} if are_numbers(said) else {truth: list(said)}
    cells |= {} if scored else {"verdict": list(judged)}
    values = value_options(cells, found, "", joined.absent)
    chosen = label_design([] if scored else judged, said, found)
    ways: list[list[str]] = [[], ["--unparsed", "drop"]]
    if not scored:
        again, lost = (
            [["--repeats", "judge"], ["--repeats", "system"]],
            lost_verdicts(values, found),
        )
        ways = [[], *lost, *again, *([*a, *b] for a in again for b in lost)]
    done = try_lines("prevalence", [*line, *values, *chosen], found, ways, question)
    if done:
        try_gate(done, found)


# Tables ------------------------------------------------------------------------------------------


def _of_table(
    path: Path,
    file: File | None,
    truth: str | None,
    labels: Path | None,
    named: Mapping[str, str],
) -> Findings:
    kind = "" if file is None else f"{file.kind} "
    found = Findings(f"{kind}table")
    if file is not None and file.kind == "csv":
        found.kind = f"table, separated by {file.delimiter!r}"
        found.odd += _mistakes(file)
    text = None if file is None or file.kind in DATABASES else file
    heads = names_in(path) if text is None else text.fields
    with checking(str(path)) as require:
        words = f"has {len(heads):,} columns, and more than {MOST_COLUMNS:,} are not looked at"
        example = "bayesjudge prevalence FILE --verdict COLUMN --truth COLUMN"
        require(len(heads) <= MOST_COLUMNS, f"{words}; name those that you mean: {example}")
    if text is None:
        rows: list[Any] = read_table(path, heads).slice(0, MOST_ROWS).to_pylist()
    else:
        rows = text.some_records(MOST_ROWS)
    with checking(str(path)) as require:
        require(rows, f"has no row below its head, {few(list(heads), 12)}")
    columns = {str(n).strip(): [_cell(cell_of(row, n)) for row in rows] for n in heads if n}
    if text is not None and text.kind == "csv" and text.delimiter != ",":
        _read_decimal_commas(columns, found)
    found.contents.append(f"{how_many(len(rows), 'row')}, columns {few(list(columns), 12)}")
    total = rows_of(path)
    if total > MOST_ROWS:
        found.contents.append(f"{len(rows):,} of {total:,} rows were looked at")
    elif len(rows) == MOST_ROWS:
        found.contents.append(f"only the first {MOST_ROWS:,} rows were looked at")
    other = None if labels is None else open_source(labels)
    people = {} if other is None else other.table_of_names(other.columns())
    roles = _as_named(roles_of(columns, None if labels else truth, people), named)
    columns = {**roles.columns}
    sets = [n for n in roles.verdicts if separator_in(columns[n])]
    roles = replace(roles, verdicts=[n for n in roles.verdicts if n not in sets])
    for name in sets:
        options = {part for c in columns[name] for part in parts_of(c, separator_in(columns[name]))}
        found.contents.append(f"response sets in {name}, of {few(sorted(options), 10)}")
    if not truth and roles.truths and len(roles.verdicts) == 1:
        name = roles.truths[0]
        items = columns[roles.item] if roles.item else range(len(rows))
        about = (columns[roles.verdicts[0]], columns[name], items)
        tell_if_whole(name, *about, found, any(word in name.lower() for word in PEOPLE))
    roles = _judges_of_one(roles, found)
    asked = _asked_again(roles)
    roles = _one_of_each(roles, asked)
    _describe(roles, found)
    judged = bool(roles.verdicts or roles.scores)
    found.lacks_labels = judged and labels is None and not roles.truths
    if found.lacks_labels and roles.verdicts:
        found.missing["gate"] = NEEDS["prevalence"]
    if roles.truths and roles.order and not roles.counter:
        found.odd.append(
            f"{roles.order} has times, which lines take all together; to compare periods, add a "
            "column with the one of each row, such as its week (2026-W36), and say --by COLUMN: "
            "the first is compared with the last, and each with the next"
        )
    if labels is not None:
        _join_table(str(path), labels, truth, roles, found)
    for names in asked:
        _side_by_side(str(path), names, roles, found)
    _ask_if_repeats(str(path), roles, found)
    apart = _by_criterion(roles)
    for one in apart:
        _shares(str(path), one, found)
    others = (_perhaps, _repeats_report, _bias, _orders)
    for propose in others if apart else (_panel, _shares, *others, propose_ratings):
        propose(str(path), roles, found)
    if labels is None:
        _label_some(str(path), roles, found)
    _repeated(roles, found)
    if {"order1", "order2"} <= set(columns):
        line = ["bias", "orders", str(path)]
        try_lines("bias orders", line, found, [[], ["--missing", "drop"]])
    return found


def _judges_of_one(roles: Roles, found: Findings) -> Roles:
    """Take systems for judges whose outputs people label alike."""
    n = same_for_all(roles) if roles.judge is None else 0
    if not n:
        return roles
    found.odd.append(
        f"labels are the same for all values of {roles.system} on the {n:,} items labelled under "
        "several: these look like judges of the same outputs, or prompts of one, and not like "
        "systems"
    )
    return replace(roles, judge=roles.system, system=None)


def _values(roles: Roles, found: Findings, joined: Joined | None = None) -> list[str]:
    """Options that say what the labels and verdicts mean, those `joined` from another file too."""
    if not roles.verdicts:
        return []
    named = {n: roles.columns[n] for n in (*roles.truths[:1], *roles.verdicts)}
    named |= joined.cells if joined else {}
    empty = list(joined.absent) if joined else []
    labels = {n: c for n, c in named.items() if not are_numbers(c) or is_binary(c)}
    return value_options(labels, found, "", [*empty, *_absent(roles, list(named), found)])


def _absent(roles: Roles, names: Sequence[str], found: Findings) -> list[str]:
    """What these columns have in place of empty cells; it is told."""
    told = {name: roles.absent[name] for name in names if name in roles.absent}
    for name, words in told.items():
        found.odd.append(_read_as_empty(name, words))
    return list(dict.fromkeys(word for words in told.values() for word in words))


def _panel(path: str, roles: Roles, found: Findings, joined: Joined | None = None) -> None:
    """Votes of several judges: a column of each, or one row a vote."""
    several = len(roles.verdicts) > 1
    if not several and not (len(roles.judges) > 1 and roles.verdicts):
        return
    if "panel" in found.commands:  # with labels of another file
        return
    wide = ["--judges", *roles.verdicts]
    line = ["panel", path]
    line += wide if several else ["--judge", str(roles.judge), "--vote", *roles.verdicts]
    line += ["--truth", roles.truths[0]] if roles.truths else []
    names = {"item": roles.item, "generator": roles.system}
    if joined is not None:
        names |= {"item": joined.item}
        line += ["--labels", str(joined.path), "--truth", joined.truth]
        names |= {"generator": joined.system} if joined.system else {}
    for option, name in names.items():
        line += [f"--{option}", name] if name else []
    needed = ["item"] if roles.truths or joined else list(names)  # of one system with labels
    absent = [f"the {option} (--{option})" for option in needed if not names[option]]
    if absent:
        found.missing["panel"] = f"a column that names {' and '.join(absent)}"
        return
    line += _values(roles, found, joined)
    if try_lines("panel", line, found, [[], ["--calibration", "random"]]) and roles.judge:
        by = ", by generator" if roles.system else ""
        found.missing["prevalence"] = f"the line of the panel has it{by}"
        found.missing["gate"] = "verdicts of one judge"


def _shares(path: str, roles: Roles, found: Findings) -> None:
    """Labels of people on some rows, beside verdicts or scores of one judge."""
    if not roles.truths or (len(roles.judges) > 1 and roles.verdicts):
        return
    columns, truth = roles.columns, roles.truths[0]
    own = ["--truth", truth]
    by = ["--by", str(roles.system)] if len(roles.systems) > 1 else []
    item, again = _clusters(roles, found)
    by += ["--item", item] if item else []
    if roles.verdicts:
        values = _values(roles, found)
        said = columns[roles.verdicts[0]]
        chosen = label_design(said, columns[truth], found)
        ask_if_reversed(said, columns[truth], values, found)
        by += _parts(roles, chosen, found, "--stratum")
        line = ["prevalence", path, "--verdict", *roles.verdicts[:1], *own, *values, *chosen]
        lost = lost_verdicts(values, found)
        ways = [[], *lost, *again, *([*a, *b] for a in again for b in lost)]
        alone = f"Which system is better, by {roles.verdicts[0]} alone?"
        several = len(roles.verdicts) > 1 and len(roles.systems) > 1
        done = try_lines("prevalence", [*line, *by], found, ways, alone if several else "")
        if done:
            try_gate(done, found)
    elif roles.scores:
        chosen = label_design([], columns[truth], found)
        empty = _absent(roles, [truth], found)
        if are_numbers(columns[truth]):
            own += [
                "--truth-scale",
                _ends(truth, roles, found),
                *as_words("--missing-value", empty),
            ]
        else:
            own += value_options({truth: columns[truth]}, found, "", empty)
        by += _parts(roles, chosen, found, "--by")
        several = len(roles.truths) > 1 and len(roles.scores) > 1
        for score in roles.scores[: MOST_JUDGES if several else 1]:
            line = ["prevalence", path, "--score", score, "--scale", _ends(score, roles, found)]
            line += [*own, *chosen]
            cut = _threshold(columns[score], columns[truth], empty) if found.uneven else ""
            if cut and not roles.systems and "--truth-scale" not in own:
                found.odd.append(
                    f"--pass-from {cut} is a guess, half-way between the mean scores of people's "
                    "two labels; with another one the answer is right too, and may be less sure"
                )
                more = ["--pass-from", cut, "--stratum", by[-1]]
                try_lines("prevalence", [*line, *more], found, [[], ["--unparsed", "drop"]])
            line += by
            mean = MEAN if "--truth-scale" in own else WANTED["prevalence"]
            alone = f"{mean[:-1]}, in each {by[-1]}?" if found.uneven and not roles.systems else ""
            try_lines("prevalence", line, found, [[], ["--unparsed", "drop"]], alone)
    else:
        found.missing["prevalence"] = (
            "a column with the judge's verdicts (--verdict) or scores; if a log or another table "
            f"has them: bayesjudge doctor THAT_FILE {shlex.quote(path)}"
        )


def _by_criterion(roles: Roles) -> list[Roles]:
    """For each column of people's labels the judge's of the same criterion, by words of the names.

    Empty if names do not tell: then verdicts and scores are of several judges.
    """
    judged = roles.verdicts or roles.scores
    every = {n: {*words_of(n)} - SCORES - {"label", "labels"} for n in (*roles.truths, *judged)}
    about = {n: {word for word in own if len(word) > 1} for n, own in every.items()}
    of_judges = set.intersection(*(about[n] for n in judged)) if len(judged) > 1 else set()
    found = []
    for truth in roles.truths[:MOST_JUDGES]:
        own = [n for n in judged if about[n] & about[truth]]
        if len(own) == 1 and len(judged) > 1:
            verdicts, scores = (own, []) if roles.verdicts else ([], own)
            found.append(replace(roles, truths=[truth], verdicts=verdicts, scores=scores))
    alone = len({(one.verdicts or one.scores)[0] for one in found}) == len(found)
    # of one judge, which all columns name and people's do not, or of several criteria
    one = bool(of_judges - set().union(*(about[n] for n in roles.truths)))
    called = not roles.verdicts or all({*words_of(n)} & CRITERIA for n in judged)
    criteria = len(found) > 1 or one or (called and not any(map(is_model, judged)))
    return found if alone and criteria and len(found) == len(roles.truths) else []


def _perhaps(path: str, roles: Roles, found: Findings) -> None:
    """Numbers on the scale of the judge's in some rows, which people may have given."""
    versions = _versions(roles)
    taken = {*roles.again, *(versions.columns if versions else ())}
    for name in [n for n in roles.perhaps if n not in taken][:MOST_PERHAPS]:
        (judge,) = [n for n in roles.scores if n not in roles.perhaps][:1] or [""]
        if judge in taken or not judge:
            return
        seen = Findings("")
        _shares(path, replace(roles, truths=[name], scores=[judge]), seen)
        told = f"{name} has numbers like those of {judge}, in {_share_of(roles.columns[name])} rows"
        found.odd.append(f"{told}: if people gave them, the line below is theirs; else it is not")
        answers = [(f"If {name} holds people's scores: {q[0].lower()}{q[1:]}", line)
                   for q, line in seen.answers]  # fmt: skip
        found.answers += answers
        found.odd += seen.odd
        found.commands |= seen.commands


def _share_of(cells: Sequence[str]) -> str:
    return f"{sum(c != '' for c in cells):,} of {len(cells):,}"


def _threshold(scores: Sequence[str], labels: Sequence[str], empty: Sequence[str]) -> str:
    """The lowest score beyond the middle of the mean scores of two labels; empty if not two."""
    by_label: dict[str, list[float]] = {}
    for score, label in zip(scores, labels, strict=True):
        if score and label and label not in empty:
            by_label.setdefault(label, []).append(float(score))
    if len(by_label) != 2:
        return ""
    middle = sum(sum(own) / len(own) for own in by_label.values()) / 2
    return min((score for score in scores if score and float(score) >= middle), key=float)


def _parts(roles: Roles, chosen: list[str], found: Findings, option: str) -> list[str]:
    """The option for a column of whose parts some have more labels, if labels seem random else."""
    seen = uneven(roles) if chosen[-1] == "random" else None
    if seen is None:
        return []
    name = shlex.quote(seen.column)
    known = "--calibration known_propensity --propensity COLUMN"
    found.uneven = True
    text = f"{seen}, which is no random sample: "
    if len(roles.systems) > 1 or roles.repeats:
        found.odd.append(
            f"{text}the line is wrong unless it answers for one {seen.column}; with a column of "
            f"each row's probability of a label: {known}"
        )
        return []
    if option == "--stratum":
        found.odd.append(
            f"{text}the line takes labels as random within each {seen.column}, and weighs these by "
            f"their rows; if each row had a known probability of a label: {known}"
        )
    else:
        found.odd.append(
            f"{text}the line answers for each {seen.column} by itself; for all together, a column "
            f"with each row's probability of a label (here the share labelled of its "
            f"{seen.column}) in place of --by {name}: {known}"
        )
    return [option, seen.column]


def _clusters(roles: Roles, found: Findings) -> tuple[str | None, list[list[str]]]:
    """The column of the item, and what several rows of one may be.

    Where labels cover whole groups of rows, such as conversations, a group is the item.
    """
    item = roles.item
    outputs = ["--repeats", "system"]
    again = [["--repeats", "judge"], outputs] if roles.repeats else [outputs] if roles.part else []
    together = roles.labelled_together(roles.truths[0])
    if together is not None:
        name, labelled, groups = together
        alone = item is None or len({*roles.columns[item]}) == len(roles.columns[item])
        item, again = (name, [outputs]) if alone else (item, again)
        found.odd.append(
            f"labels cover whole groups of {name}: {labelled:,} of {groups:,} have one on every "
            "row, the others on none, so that rows are no independent draws"
            + (f": the line says --item {name}, and would be too sure without" * (item == name))
        )
    if item and again == [outputs]:
        rows = f", counted by {roles.part}," if roles.part else ""
        found.odd.append(f"rows of one {item}{rows} are taken for outputs of their own "
                         "(--repeats system)")  # fmt: skip
    return item, again


def _label_some(path: str, roles: Roles, found: Findings) -> None:
    """How labels of people are added to a table that has none."""
    if roles.truths or len(roles.judges) > 1 or not (roles.verdicts or roles.scores):
        return
    if "ratings" in found.commands:
        found.missing["prevalence"] = "which column has people's labels (--truth COLUMN)"
        return
    if {"repeats report", "bias"} & found.commands:
        return
    item = roles.item
    if item is None or len({*roles.columns[item]}) < len(roles.columns[item]):
        several = f": {item} names several" if item else ""
        hint = f"; to have some drawn (bayesjudge label), add a column that numbers rows{several}"
        drawn = item is None or bool(roles.verdicts)
        found.missing["prevalence"] += hint * drawn
        return
    if roles.verdicts:
        judged = ["--verdict", roles.verdicts[0], *_values(roles, found)]
        try_labelling(path, ["--item", item, *judged], [], [], ["1", "0"], found)
        return
    score = roles.scores[0]
    try_labelling_scores(path, ["--item", item], score, _ends(score, roles, found), found)


def _ends(name: str, roles: Roles, found: Findings) -> str:
    """Ends of the scale of a column; a guess, told as one."""
    scale = usual_scale([float(c) for c in roles.columns[name] if c])
    found.odd.append(f"{name}: the scale {scale} is a guess from the numbers seen")
    return scale


def _as_named(roles: Roles, named: Mapping[str, str]) -> Roles:
    """Give columns the roles that somebody named, which they then have alone."""
    with checking("options") as require:
        for name in named.values():
            require(
                name in roles.columns, f"no column {name!r}; it has {few(list(roles.columns), 12)}"
            )
    if not named:
        return roles
    own = {"item": roles.item, "system": roles.system, "judge": roles.judge}
    kept = {role: name for role, name in own.items() if name not in named.values()}
    free = {
        "truths": [n for n in roles.truths if n not in named.values()],
        "verdicts": [n for n in roles.verdicts if n not in named.values()],
        "scores": [n for n in roles.scores if n not in named.values()],
    }
    guessed = [told for told in roles.guessed if not told.startswith(tuple(named.values()))]
    empty = dict.fromkeys(own)
    return replace(roles, **{**empty, **kept, **named}, **free, guessed=guessed)  # type: ignore[arg-type]


def _asked_again(roles: Roles) -> list[list[str]]:
    """Columns with the answers of one judge that was asked several times, side by side."""
    groups = (names for alike, names in numbered(roles.columns).items() if are_repeats(alike))
    return [names for names in groups if _said_in(names, roles)]


def _said_in(names: Sequence[str], roles: Roles) -> list[str]:
    """The few words, or numbers, that each of some columns holds; none if they hold others."""
    each = [{c for c in roles.columns[n] if c != ""} for n in names]
    every = sorted(set.union(*each))
    alike = all(2 * len(own & each[0]) >= len(own) for own in each)
    numeric = all(map(is_number, every)) and len(every) <= MOST_LABELS
    two = len({folded(one) for one in every if not says_nothing(one)}) == 2
    return every if alike and len(every) > 1 and (numeric or two) else []


def _one_of_each(roles: Roles, asked: Sequence[Sequence[str]]) -> Roles:
    """Of columns that repeat one judge, the first: they are no panel."""
    again = [name for names in asked for name in names[1:]]
    return replace(
        roles,
        verdicts=[n for n in roles.verdicts if n not in again],
        scores=[n for n in roles.scores if n not in again],
        again=[*roles.again, *again],
    )


def _ask_if_repeats(path: str, roles: Roles, found: Findings) -> None:
    """Ask about columns that several judges may have filled, or one that was asked again."""
    for alike, names in numbered([*roles.verdicts, *roles.scores]).items():
        if {*words_of(alike)} & (JURORS | {"q", "question"}) or not _said_in(names, roles):
            continue
        item = f" --item {shlex.quote(roles.item)}" if roles.item else ""
        found.odd.append(
            f"{few(names, 5)}: of several judges, or of one that was asked {len(names)} times? If "
            f"of one: bayesjudge repeats report {shlex.quote(path)}{item} "
            f"--score {shlex.join(names)}"
        )


def _side_by_side(path: str, names: Sequence[str], roles: Roles, found: Findings) -> None:
    """Answers of one judge in a column each."""
    if roles.item is None or len(roles.systems) > 1:
        found.missing["repeats report"] = f"of {few(names, 3)}: " + (
            "a column that names the item (--item)" if roles.item is None else "one system"
        )
        return
    said = _said_in(names, roles)
    kinds = Counter(c for n in names for c in roles.columns[n] if c)
    found.contents.append(
        f"answers in {few(names, 5)}: {few([f'{k} {n}' for k, n in kinds.most_common()], 10)}"
    )
    line = ["repeats", "report", path, "--score", *names, "--item", roles.item]
    line += ["--judge", roles.judge] if roles.judge else []
    question = ""
    ways: list[list[str]] = [[]]
    if all(map(is_number, said)) and {float(one) for one in said} != {0.0, 1.0}:
        line += ["--scale", scale_seen(names[0], sorted(map(float, said)), found)[0]]
    else:
        numbers = all(map(is_number, said))
        line += [] if numbers else value_options({n: roles.columns[n] for n in names}, found, "")
        question, ways = CONTRADICTS, [["--scale", "0-1"]] if numbers else [[]]
    if try_lines("repeats report", line, found, ways, question):
        judges = shlex.join(["--judges", *names])
        found.odd.append(
            f"repeats report: {few(names, 5)} are read, by their names, as answers of one judge "
            "about one and the same output; it is no self-contradiction if each is on an output "
            f"of its own; if they are judges: bayesjudge panel with {judges}"
        )


def _repeats_report(path: str, roles: Roles, found: Findings) -> None:
    """Several scores, or verdicts, of an item by one judge."""
    if not roles.repeats or len(roles.systems) > 1 or roles.variant:
        return
    if not roles.scores:
        _repeated_verdicts(path, roles, found)
        return
    score = roles.scores[0]
    numbers = sorted({float(c) for c in roles.columns[score] if c})
    if len(numbers) > MOST_LABELS:
        return
    scale, step = scale_seen(score, numbers, found)
    line = ["repeats", "report", path, "--score", score, "--item", str(roles.item)]
    line += ["--judge", roles.judge] if roles.judge else []
    line += ["--order", roles.order] if roles.order else []
    line += ["--scale", scale, "--half-width", f"{step / 2:g}"]
    if try_lines("repeats report", line, found, [[]]):
        wanted = f"--half-width {step / 2:g}, half a step of the scale"
        found.odd.append(f"repeats report: {wanted}, is how well each mean is to be known; change "
                         "it to your own number")  # fmt: skip


def _repeated_verdicts(path: str, roles: Roles, found: Findings) -> None:
    """How often a judge of pass and fail contradicts itself."""
    values = _values(roles, found) if len(roles.verdicts) == 1 and not roles.truths else []
    if len(roles.verdicts) != 1 or roles.truths or "--classes" in values:
        return
    line = ["repeats", "report", path, "--score", *roles.verdicts, "--item", str(roles.item)]
    line += ["--judge", roles.judge] if roles.judge else []
    line += ["--order", roles.order] if roles.order else []
    ways: list[list[str]] = [[], ["--scale", "0-1"]]  # in words; as numbers
    if try_lines("repeats report", [*line, *values], found, ways, CONTRADICTS):
        found.odd.append(
            "repeats report: the line says that the rows of an item are verdicts on one and the "
            "same output; it is no self-contradiction if each is on an output of its own"
        )


def _versions(roles: Roles) -> Versions | None:
    """Columns of scores of the same items before and after a change, on one scale."""
    numbers = {n: [float(c) for c in roles.columns[n] if c] for n in _numeric(roles)}
    seen = versions_in([*numbers])
    if seen is None or roles.variant or len({usual_scale(numbers[n]) for n in seen.columns}) > 1:
        return None
    return None if any(map(is_model, seen.columns)) else seen


def _numeric(roles: Roles) -> list[str]:
    """Columns of scores, and of verdicts that are 1 and 0."""
    zero_one = [n for n in roles.verdicts if all(map(is_number, filter(None, roles.columns[n])))]
    return [*roles.scores, *zero_one]


def _bias(path: str, roles: Roles, found: Findings) -> None:
    """Scores of the same items before and after a change."""
    seen = _versions(roles)
    if seen is not None:
        _bias_side_by_side(path, seen, roles, found)
        return
    said = versions_in(roles.verdicts)
    if said is not None and said.sure:
        found.missing["bias"] = f"numbers in {few(said.columns, 3)}: 1 for a pass and 0 for a fail"
    scores = roles.scores or roles.verdicts  # of a changed item these are 1 and 0
    if not (scores and roles.item and roles.variant and roles.baseline):
        return
    score = scores[0]
    line = ["bias", path, "--item", roles.item, "--variant", roles.variant, "--score", score]
    line += ["--judge", roles.judge] if roles.judge else []
    scale = _ends(score, roles, found).replace(":", "-") if roles.scores else "0,1"
    line += ["--baseline", roles.baseline, "--scale", scale]
    done = try_lines("bias", [*line, "--design", "item"], found, [[], ["--missing", "drop"]])
    if done:
        _tell_dropped(done, found)
        found.odd.append(
            f"bias: the line says that {roles.baseline!r} is the unchanged version, and that items "
            "were changed and judged one at a time; if all were changed and judged together: "
            "--design batch"
        )


def _tell_dropped(line: Sequence[str], found: Findings) -> None:
    if line[-1] == "drop":
        found.odd.append(
            "items that lack a score are left out (--missing drop), which is right if scores go "
            "missing whatever they are; to take each for the largest move: --missing worst"
        )


def _bias_side_by_side(path: str, seen: Versions, roles: Roles, found: Findings) -> None:
    """Scores of an item in a column of each version."""
    numbers = [float(c) for n in seen.columns for c in roles.columns[n] if c]
    scale = usual_scale(numbers).replace(":", "-")
    line = ["bias", path, *(["--item", roles.item] if roles.item else [])]
    line += ["--score", *seen.columns, "--judge" if roles.judge else "", roles.judge or ""]
    line = [*filter(None, line), "--scale", scale, "--design", "item"]
    tried = Findings("")
    done = try_lines("bias", line, tried, [[], ["--missing", "drop"]])
    names = few(seen.columns, 5)
    if done and not seen.sure:
        found.odd.append(
            f"{names}: of two systems or judges, or of one output before and after a change that "
            f"should not matter? If of one output: {tried.answers[0][1]}"
        )
        return
    found.answers += tried.answers
    found.odd += tried.odd
    found.commands |= tried.commands
    found.missing |= tried.missing
    if done:
        _tell_dropped(done, found)
        found.odd += [
            f"{names}: the scale {scale} is a guess from the numbers seen",
            f"bias: the line says that {seen.columns[0]!r} is the unchanged version, and that "
            "items were changed and judged one at a time; if all were changed and judged "
            "together: --design batch",
        ]


def _orders(path: str, roles: Roles, found: Findings) -> None:
    """One row a verdict on two answers, which change places."""
    seen = in_both_orders(roles.columns)
    if seen is None:
        return
    line = ["bias", "orders", path, "--item", seen.item, "--shown-first", seen.first]
    line += ["--shown-second", seen.second, "--verdict", seen.verdict]
    line += [word for place in seen.places for word in ("--winner", place)]
    line += [word for tie in seen.ties for word in ("--tie-value", tie)]
    others = (seen.item, seen.first, seen.second, seen.verdict)
    line += ["--judge", roles.judge] if roles.judge and roles.judge not in others else []
    if try_lines("bias orders", line, found, [[], ["--missing", "drop"]]):
        found.odd.append(f"bias orders: the line says that {seen.first} was shown first, and that "
                         f"{seen.places[0]} in {seen.verdict} is for it")  # fmt: skip


def _mistakes(file: File) -> list[str]:
    """What is wrong with a text table as such."""
    told = []
    if file.encoding == "latin-1":
        told.append("the text is not UTF-8; it is read as Latin-1")
    if b"\x00" in file.head and not file.encoding.startswith("utf-16"):
        told.append("there are NUL bytes in it; take them out, no label is read with them")
    names = [n.strip() for n in file.columns]
    twice = sorted({n for n in names if n and names.count(n) > 1})
    if twice:
        told.append(f"columns {few(twice)} occur more than once")
    if "" in names:
        told.append(f"{how_many(names.count(''), 'column', 'have')} no name")
    ragged = []
    with contextlib.suppress(csv.Error), file.broken(), file.text() as text:
        lines = (line.replace("\x00", "") for line in text)
        for row in islice(reader := csv.reader(lines, delimiter=file.delimiter), MOST_ROWS):
            if row and len(row) != len(names):
                ragged.append(reader.line_num)
    if ragged:
        lines_ = few([str(n) for n in ragged], 5)
        rows = how_many(len(ragged), "row", "have")
        told.append(f"{rows} more or fewer cells than the head: lines {lines_}")
    return told


def _read_decimal_commas(columns: dict[str, list[str]], found: Findings) -> None:
    """Numbers of a table of Excel in some languages, as every command reads them."""
    read = [name for name, cells in columns.items() if decimal_commas(cells)]
    for name in read:
        columns[name] = [cell.replace(",", ".") for cell in columns[name]]
    if read:
        found.contents.append(f"numbers with a decimal comma in {few(read, 5)}")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).strip()


def _describe(roles: Roles, found: Findings) -> None:
    columns = roles.columns
    for name in roles.verdicts:
        kinds = Counter(columns[name])
        empty = kinds.pop("", 0)
        values = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
        lost = f"; {empty} empty: verdicts that failed to parse" if empty else ""
        found.contents.append(f"verdicts in {name}: {values}{lost}")
    versions = _versions(roles)
    for name in versions.columns if versions else roles.scores[:1]:
        numbers = [float(c) for c in columns[name] if c]
        lost = f"; {columns[name].count('')} empty" if "" in columns[name] else ""
        found.contents.append(f"scores in {name}: {min(numbers):g} to {max(numbers):g}{lost}")
    if roles.variant:
        found.contents.append(f"versions in {roles.variant}: {few(_kinds(roles), 5)}")
    for name in roles.truths[:1]:
        found.contents.append(_labelled(name, columns[name]))
    found.odd += roles.guessed
    if not roles.truths:
        others = _may_be_labels(roles)
        which = few(others, 5) if others else "a column"
        judged = bool(roles.verdicts or roles.scores)
        hint = f"; if {which} holds them: --truth COLUMN" if others or judged else ""
        found.missing["prevalence"] = f"{NEEDS['prevalence']}{hint}"


def _may_be_labels(roles: Roles) -> list[str]:
    """Columns of which nobody knows that they are not people's labels."""
    taken = {*roles.keys, *roles.again, roles.order, roles.counter}
    taken |= {*roles.verdicts} if len(roles.verdicts) == 1 else set()
    seen = _versions(roles)
    taken |= {*seen.columns} if seen else set()
    ends = {n: usual_scale([float(c) for c in roles.columns[n] if c]) for n in roles.scores}
    like = [n for n in roles.scores[1:] if ends[n] == ends[roles.scores[0]]]
    return [
        n
        for n, c in roles.columns.items()
        if n not in taken
        and (are_labels(c) or n in like)
        and len({*c} - {""}) > 1
        and not is_model(n)
    ]


def _kinds(roles: Roles) -> list[str]:
    return list(dict.fromkeys(roles.columns[str(roles.variant)]))


def _labelled(name: str, cells: Sequence[Any], of: Sequence[Sequence[str]] = ()) -> str:
    """How many rows are labelled, and how; or how many outputs, if columns `of` name these."""
    rows = ["" if c is None else str(c) for c in cells]
    what = "rows"
    if of and len(of[0]) == len(rows):  # of a large table only some rows were looked at
        rows = list(dict(sorted(zip(zip(*of, strict=True), rows, strict=True))).values())
        what = "outputs"
    kinds = Counter(filter(None, rows))
    values = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
    return f"people's labels in {name}: {kinds.total():,} of {len(rows):,} {what} ({values})"


def _repeated(roles: Roles, found: Findings) -> None:
    """Tell of rows that are the same, and of items with several rows."""
    columns = list(roles.columns.values())
    rows = len(columns[0]) if columns else 0
    same = rows - len(set(zip(*columns, strict=True)))
    if same:
        found.odd.append(f"{how_many(same, 'row', 'are')} the same as another one")
    if roles.item is None:
        return
    keys = Counter(zip(*(roles.columns[n] for n in roles.keys), strict=True))
    several = sum(n > 1 for n in keys.values())
    if several and "repeats report" not in found.commands and not roles.part:
        by = ", ".join(roles.keys)
        what = f"{several} of {how_many(len(keys), 'item')} with several rows by {by}"
        found.odd.append(f"{what}: repeats, or duplicates?")
    empty = roles.columns[roles.item].count("")
    if empty:
        found.odd.append(f"{how_many(empty, 'row', 'have')} no name in {roles.item}")


# Screen ------------------------------------------------------------------------------------------


def _screen(path: Path, found: Findings) -> str:
    width = width_of(sys.stdout)
    lines = textwrap.wrap(f"{path}: {found.kind}", width, subsequent_indent="  ")
    if not found.answers:
        lines += ["", *textwrap.wrap(_nothing(found), width)]
    if not found.answers and found.lacks_labels:
        lines += continued(f"  {_with_labels(str(path))}", width)
    sections: list[tuple[str, Iterator[str]]] = [
        ("What is in it", iter(dict.fromkeys(found.contents))),
        ("Look at this", iter(dict.fromkeys(found.odd))),
    ]
    for heading, told in sections:
        body = [w for text in told for w in _wrapped(text, width)]
        lines += ["", heading, *body] if body else []
    lines += ["", "What it can answer: paste a line"] if found.answers else []
    for question in dict.fromkeys(q for q, _ in found.answers):
        lines += textwrap.wrap(question, width, initial_indent="  ", subsequent_indent="  ")
        pasted = [f"    {line}" for q, line in found.answers if q == question]
        lines += [part for line in pasted for part in continued(line, width)]
    lines += ["", "How to add people's labels"] if found.labelling else []
    for what, line in found.labelling:
        lines += [f"  {what}", *continued(f"    {line}", width)]
    if found.missing:
        lines += ["", *textwrap.wrap(f"What {'other ' * bool(found.answers)}{_NEED}", width)]
    for command, why in found.missing.items():
        lines += _wrapped(f"{BRIEFLY[command]} {why} ({command})", width)
    return "\n".join(lines) + "\n"


_NEED = "questions need (in brackets the command; bayesjudge COMMAND --help)"


def _nothing(found: Findings) -> str:
    if found.lacks_labels:
        how = " (how to add some, see below)" if found.labelling else ""
        return (
            f"No question can be answered yet: people's labels are missing{how}. If a column holds "
            "them: --truth COLUMN. If they are in another file:"
        )
    return "No question can be answered with it as it is: nothing was found to paste."


def _with_labels(path: str) -> str:
    """The line that looks at a file together with people's labels."""
    return f"bayesjudge doctor {shlex.quote(path)} LABELS"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  - ", subsequent_indent="    ")
