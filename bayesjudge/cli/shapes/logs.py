"""What a log's metrics can answer: the shapes of its table, judges against each other, drift."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bayesjudge.cli.shapes import NEEDS, WANTED, Lacking, Line, Match, Noted, Reading
from bayesjudge.cli.shapes.coding import Options, given, scale_seen, usual_scale, value_options
from bayesjudge.cli.shapes.common import WITH_MISSING, labelled, values
from bayesjudge.cli.shapes.elsewhere import join
from bayesjudge.cli.shapes.labelled import CHOSEN
from bayesjudge.cli.shapes.of_attempts import of_log
from bayesjudge.cli.shapes.of_one_judge import matches as of_one_judge
from bayesjudge.cli.shapes.of_panel import ONE_SYSTEM
from bayesjudge.cli.shapes.of_ratings import line_of
from bayesjudge.cli.shapes.of_unlabelled import labelling, labelling_scores
from bayesjudge.cli.shapes.people import all_alike, labels_first, tell_if_whole
from bayesjudge.cli.shapes.table import Column, Table, is_number
from bayesjudge.cli.source import INPUTS, PAIRS, of_people, open_source
from bayesjudge.core.screen import few, how_many
from bayesjudge.readers.log import COLUMNS, Log, Metric

#: Columns of a log that name a test or what made its output.
NAMES = ("test", "description", "provider", "prompt")


def matches_of_log(
    log: Log, path: str, truths: Sequence[str], labels: Path | None
) -> Iterator[Match]:
    """What the log holds, and what each metric that a judge graded can answer."""
    items = len({g.item for g in log.grades})
    systems = f", by {few(log.systems, 5)}" if log.systems else ""
    yield Noted(f"{how_many(len(log.grades), 'grade')} of {how_many(items, 'item')}{systems}")
    for metric in log.metrics.values():
        by = "" if metric.judges else " (by a program, or the log names no judge)"
        yield Noted(f"metric {metric}{by}")
    yield from map(Noted, log.sentences[1:])
    if not log.metrics:
        yield Noted("there is no grade in it", odd=True)
    if log.repeating:
        outputs = "one output" if log.repeating == "judge" else "different outputs"
        yield Noted(f"the {log.repeating} repeats: repeats of an item grade {outputs}")
    judged = [m for m in log.metrics.values() if m.judges] or list(log.metrics.values())
    readable = [m for m in judged if m.failures < len(m.grades)]
    for metric in judged:
        if metric.failures:
            shown = Counter(g.failure for g in metric.grades if g.failure).most_common(1)[0][0]
            what = f"{metric.failures} of {len(metric.grades)} grades failed, such as: {shown[:80]}"
            yield Noted(f"{metric.name}: {what}", odd=True)
    known = False
    for metric in readable:
        of_metric = [*_of_metric(log, metric, path, truths, labels)]
        known |= any(isinstance(match, Reading) and "--truth" in match.line for match in of_metric)
        yield from of_metric
    if not readable:
        failed = f", and all {len(log.grades)} grades failed" if log.grades else ""
        yield Lacking("prevalence", f"verdicts that can be read{failed}; then people's labels")
    elif labels is None and not known:
        if any(not metric.numeric for metric in readable):
            yield Lacking("gate", NEEDS["prevalence"])
        yield from _add_labels(log, readable[0], path)


def _add_labels(log: Log, metric: Metric, path: str) -> Iterator[Match]:
    """How labels of people are added to a log that has none."""
    if len(log.systems) > 1 or log.repeating == "system":
        yield Lacking(
            "prevalence",
            "items have several outputs here: label outputs, in the tool (as a field of each, "
            "such as human_label) or in a file with columns item, system, repeat and truth: "
            f"bayesjudge doctor {shlex.quote(path)} FILE says how it is joined (--labels FILE)",
            more=True,
        )
        return
    about = _named(log, metric) | given(judge=metric.judges[:1] * (len(metric.judges) > 1))
    if metric.numeric:
        yield labelling_scores(path, about, "score", _scale(metric))
    elif {*metric.labels} <= {*PAIRS}:
        means = {"win": "--pass-value", "tie": "--missing-value", "loss": "--fail-value"}
        seen = {*log.table(metric.name)["verdict"].to_pylist()}  # of two orders, the first one's
        drawing = {means[said]: [said] for said in PAIRS if said in seen}
        yield labelling(path, about, drawing, said=PAIRS)
    else:
        coded = value_options({"verdict": list(metric.labels)}, [], metric.name)
        yield labelling(path, about | coded)


def _named(log: Log, metric: Metric) -> Options:
    """The option of the metric, if there are several."""
    return {"--metric": [metric.name]} if len(log.metrics) > 1 else {}


def _scale(metric: Metric) -> str:
    return usual_scale([float(g.value) for g in metric.grades if g.value is not None])


def _of_metric(
    log: Log, metric: Metric, path: str, truths: Sequence[str], labels: Path | None
) -> Iterator[Match]:
    """What the grades of one metric can answer."""
    rows = log.table(metric.name)
    cells = {
        n: ["" if c is None else str(c) for c in rows[n].to_pylist()] for n in rows.column_names
    }
    named = _named(log, metric)
    said = "score" if metric.numeric else "verdict"
    cells[said] = ["" if c is None else str(c) for c in rows["verdict"].to_pylist()]
    table = Table(cells, item="item", path=path, log=True, where=metric.name, about=named)
    table = table.but(**{"scores" if metric.numeric else "verdicts": [said]})
    people = [*truths] if truths and not labels else _truths(table, metric.name)
    yield from (Noted(note, odd=True) for n in people if n != "truth" and not truths
                if (note := all_alike(n, cells[n])))  # fmt: skip
    people = [n for n in people if truths or n == "truth" or not all_alike(n, cells[n])]
    if people and not truths and people[0] != "truth":
        note = tell_if_whole(table, people[0], by_name=False)
        yield from [Noted(note, odd=True)] if note else []
    table = table.but(truths=people[: len(truths) or 1], named=bool(truths))
    if labels is not None:
        joined = join(table.but(truths=()), open_source(Path(path), metric.name, judges=True),
                      open_source(labels), truths)  # fmt: skip
        if isinstance(joined, Lacking):
            yield joined
        table = table.but(truths=()) if isinstance(joined, Lacking) else joined
    several = len(metric.judges) > 1
    if several:
        yield from _judges(table, metric)
    if not metric.numeric:
        yield from _ratings(log, metric, table, people)
    for judge in metric.judges if several else [""]:
        yield from _of_judge(table, judge)
    line = Line("attempts", path, named)
    yield from of_log(log, metric, line, table.truths, values(table, []))
    if metric.repeats > 1 and not several and log.repeating != "system":
        guesses: list[str] = []
        asked = _scale_of(metric, guesses)
        yield Reading(Line("repeats report", path, named | asked), WANTED["repeats report"], 0.5,
                      ["the judge graded an item several times"], guesses)  # fmt: skip
    if "swapped" in cells:
        yield Reading(Line("bias orders", path, named), WANTED["bias orders"], 0.5,
                      ["pairs were judged in both orders"], ways=WITH_MISSING)  # fmt: skip
    if not table.truths and labels is None:
        others = [c for c in cells if c not in (*COLUMNS, *NAMES) and not c.startswith(INPUTS)]
        hint = f"the log has {few(others, 8)}: if one holds them, --truth NAME" if others else ""
        yield Lacking("prevalence", hint, more=True)


def _of_judge(table: Table, judge: str) -> Iterator[Match]:
    """Lines of one judge: of the first row of each system's item, which is what labels are of."""
    if not table.truths:
        return
    named = {"item", "system", "judge"} <= {*table.columns}
    first: dict[tuple[str, ...], int] = {}
    for i, (item, system, by) in enumerate(
        table.rows(("item", "system", "judge")) if named else ()
    ):
        if not judge or by == judge:
            first.setdefault((item, system), i)
    once = {n: [c[i] for i in first.values()] for n, c in table.columns.items()} if first else {}
    at = f"{table.where}: " if table.about else ""
    truth = table.truths[0]
    yield Noted(at + labelled(truth, table.columns[truth]))
    judged = table.but(columns=once or table.columns,
                       about={**table.about, **given(judge=judge)})  # fmt: skip
    yield from of_one_judge(judged)


def _judges(table: Table, metric: Metric) -> Iterator[Match]:
    """Several judges of a log: a panel, and the first two against each other."""
    notes: list[str] = []
    named, options = {**table.about}, {name: [*v] for name, v in table.labels.items()}
    options = options or given(truth=table.truths)
    coded = values(table, notes) if not metric.numeric else {}
    voted = {"--generator" if name == "--by" else name: v for name, v in options.items()}
    by_generator = len({*table.columns.get("system", ())}) > 1 or "--generator" in voted
    yield Reading(Line("panel", table.path, named | voted | coded),
                  WANTED["panel"] if by_generator or "--generator" in voted else ONE_SYSTEM,
                  0.9, ["the log names several judges"], notes,
                  ways=[{}, {"--calibration": ["random"]}],
                  note_of_way={"--calibration": CHOSEN})  # fmt: skip
    if "--classes" not in coded:
        two = {"--judge": metric.judges[:2]}
        yield Reading(Line("drift", table.path, named | two | options | coded, table.path),
                      WANTED["drift"], 0.85, ["two judges of the same outputs"])  # fmt: skip


def _truths(table: Table, metric: str) -> list[str]:
    """Columns of people's labels, the most likely first."""
    if "truth" in table.columns:
        return ["truth"]
    called = [table[n] for n in of_people([*table.columns]) if n not in (*COLUMNS, metric)]
    whole = [c for c in called if c.labels and all(
        float(k) % 1 == 0 for k in c.kinds if is_number(k))]  # shares are no labels  # fmt: skip
    judged = [Column("verdict", table.columns[[*table.verdicts, *table.scores][0]])]
    return [*(c.name for c in whole if c.constant), *labels_first(whole, judged)]


def _ratings(log: Log, metric: Metric, table: Table, truths: Sequence[str]) -> Iterator[Match]:
    """Two people and a judge, or two judges and a person: with fewer nothing is compared."""
    graded = log.human.get(metric.name)
    persons = len(truths) if graded is None else max(abs(g.repeat or 1) for g in graded.grades)
    if not persons or max(persons, len(metric.judges)) < 2 or table.labels:
        return
    said: dict[str, set[str]] = {judge: set() for judge in metric.judges or [metric.name]}
    for judge, label in {*table.rows(("judge", "verdict"))}:
        said.setdefault(judge or metric.name, set()).add(label)
    people = [*truths]
    theirs = {c for n in truths for c in table[n].kinds}
    theirs = {str(label) for label in graded.labels} if graded is not None else theirs
    options = {**table.about, **given(people=people if graded is None else ())}
    yield from line_of(table.path, options, said, theirs, [], ["people and judges graded"])


def _scale_of(metric: Metric, notes: list[str]) -> Options:
    """Every score that a judge can give; a guess, told as one, but for plain verdicts."""
    if all(g.value is None or isinstance(g.value, bool) for g in metric.grades):
        return given(score="verdict", scale="0,1")
    seen: set[Any] = {g.score if g.score is not None else g.value for g in metric.grades
                      if g.value is not None and not isinstance(g.value, str)}  # fmt: skip
    numbers = sorted(map(float, seen))
    if not numbers or {*numbers} <= {0.0, 1.0}:
        return {}
    return given(scale=scale_seen(metric.name, numbers, notes)[0])
