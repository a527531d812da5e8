"""Agents that try tasks several times: outcomes of attempts, or verdicts and some labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bayesjudge.cli.shapes import NEEDS, WANTED, Lacking, Line, Match, Reading
from bayesjudge.cli.shapes.coding import Options, given
from bayesjudge.cli.shapes.common import are_attempts, values
from bayesjudge.cli.shapes.labelled import label_design
from bayesjudge.cli.shapes.people import same_question
from bayesjudge.cli.shapes.table import Table
from bayesjudge.readers.log import Log, Metric

#: What can be done with attempts without a verdict, and with those without an outcome.
LOST: list[Mapping[str, Sequence[str]]] = [
    {},
    {"--unparsed": ["verdict"]},
    {"--unparsed": ["fail"]},
]
OF_WAY = {
    "verdict": "attempts without a verdict are one more verdict (--unparsed verdict)",
    "fail": "attempts without an outcome count as not passed (--unparsed fail)",
}
ONE_EACH = (
    "attempts: each row is taken for an attempt of its own, with an output of its own; if a judge "
    "was asked again about one output: bayesjudge repeats report"
)


def matches(table: Table) -> Iterator[Match]:
    """Rows of one task that are attempts, by what their columns are called."""
    if table.log or table.labels or not are_attempts(table) or len(table.verdicts) != 1:
        return
    (name,) = table.verdicts
    notes: list[str] = []
    coded = values(table, notes)
    if not table[name].binary and "--classes" in coded:
        return
    options = given(task=table.item, by=table.system if len(table.systems) > 1 else None)
    tested = table[name].called("tested")
    if table.truths:
        truth = table.truths[0]
        chosen = label_design(table.columns[name], table.columns[truth], [], [])
        # people err in a model of labels of a random sample only
        people = [truth] if chosen == "by_truth" else same_question(table)
        options |= given(verdict=name, truth=people, calibration=chosen)
    elif tested:
        options |= {"--truth": [name]}
        notes.append(f"attempts: {name} is taken for the outcome, as a test has it; if a judge "
                     "said it: --verdict, and --truth with people's labels")  # fmt: skip
    else:
        yield Lacking("attempts", NEEDS["attempts"])
        return
    options |= coded
    yield Reading(Line("attempts", table.path, options), WANTED["attempts"], 0.82,
                  [f"rows of one {table.item} are attempts, by what columns are called"],
                  [*notes, ONE_EACH], LOST, note_of_way=OF_WAY)  # fmt: skip


def of_log(
    log: Log, metric: Metric, line: Line, people: Sequence[str], coded: Options
) -> Iterator[Match]:
    """Epochs or trials of a log whose outputs differ, by a judge with labels, or by a program."""
    if log.repeating != "system" or metric.numeric or metric.repeats < 2:
        return
    if metric.judges and not people:
        yield Lacking("attempts", NEEDS["attempts"])
        return
    options = {"--truth": [*people[:1]]} if people and metric.judges else {}
    yield Reading(line.plus(options | coded), WANTED["attempts"], 0.6,
                  ["repeats of an item grade outputs that differ"], [], LOST,
                  note_of_way=OF_WAY)  # fmt: skip
