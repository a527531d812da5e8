"""A judge's and people's verdicts on several criteria: what total people would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bayesjudge.cli.shapes import WANTED, Line, Match, Reading
from bayesjudge.cli.shapes.coding import Options, given, usual_scale, value_options
from bayesjudge.cli.shapes.common import absent
from bayesjudge.cli.shapes.criteria import criteria, long_columns
from bayesjudge.cli.shapes.labelled import CHOSEN, label_design
from bayesjudge.cli.shapes.table import Table

Way = Mapping[str, Sequence[str]]
LOST = (
    "failed calls count as what costs most points (--failed worst); to leave these criteria out: "
    "--failed drop"
)
EQUAL = "each criterion gives one point; to weigh them: --weight NAME=POINTS, below 0 if it is bad"
#: Endings with which a line is tried.
WAYS: list[Way] = [{}, {"--failed": ["worst"]}]


def matches(table: Table) -> Iterator[Match]:
    """Columns paired by criterion, a row per criterion, or a list of criteria in each row."""
    if table.log or table.labels:
        return
    line = Line("rubric", table.path, {"--calibration": ["random"]})
    lists = [c.name for c in table if c.cells and all(cell[:2] == "[{" for cell in c.cells if cell)]
    if lists:
        why = [f"{lists[0]} has a list of objects in each row: criteria"]
        yield Reading(line, WANTED["rubric"], 0.7, why, [CHOSEN], WAYS, note_of_way={"worst": LOST})
        return
    long = long_columns(table.columns, {})
    paired = [] if long else criteria(table, len(table.truths))
    if long is None and len(paired) < 2:
        return
    notes: list[str] = []
    truths = [long["truth"]] if long else [g.truths[0] for g in paired]
    judged = [long["verdict"]] if long else [(g.verdicts or g.scores)[0] for g in paired]
    designs = {label_design([], table.columns[n], [], []) for n in truths}
    if designs != {"random"}:  # as many good as bad: totals take a random sample
        return
    options = {"--calibration": ["random"], **_options(table, judged, truths, notes)}
    weighed = long is not None and "weight" in long
    notes += [CHOSEN, *([] if weighed else [EQUAL])]
    names = table.system if len(table.systems) > 1 and not long else None
    options |= given(by=names)
    why = ["a judge's and people's columns share what they are called, but for who speaks"]
    why = [f"{long['criterion']} names the criterion of each row"] if long else why
    yield Reading(line.plus(options), WANTED["rubric"], 0.85, why, notes, WAYS,
                  note_of_way={"worst": LOST})  # fmt: skip


def _options(
    table: Table, judged: Sequence[str], truths: Sequence[str], notes: list[str]
) -> Options:
    """Scales of grades, and what labels mean."""
    empty = absent(table, [*judged, *truths], notes)
    options = given(missing_value=empty)
    labels: dict[str, Mapping[str, int]] = {}
    for option, names in (("--scale", judged), ("--truth-scale", truths)):
        if all(table[n].numbers and not table[n].binary for n in names):
            numbers = [x for n in names for x in table[n].within_scale]
            options[option] = [usual_scale(numbers)]
            notes.append(f"{option} {options[option][0]} is a guess from the numbers seen")
        else:
            labels |= {n: table[n].kinds for n in names}
    return options | value_options(labels, notes, "", empty) if labels else options
