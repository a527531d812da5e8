"""Votes of several judges: a column of each, or one row per vote."""

from __future__ import annotations

from collections.abc import Iterator

from bayesjudge.cli.shapes import WANTED, Lacking, Line, Match, Reading
from bayesjudge.cli.shapes.coding import given
from bayesjudge.cli.shapes.common import values
from bayesjudge.cli.shapes.criteria import criteria
from bayesjudge.cli.shapes.labelled import CHOSEN
from bayesjudge.cli.shapes.pairing import pair_words
from bayesjudge.cli.shapes.people import go_together, one_question, who_labelled
from bayesjudge.cli.shapes.table import Table
from bayesjudge.cli.shapes.words import is_called, is_model, says_judge
from bayesjudge.core.screen import few

ONE_SYSTEM = "How reliable is each judge, and what share of outputs is good?"


def matches(table: Table) -> Iterator[Match]:
    """Judges of the same outputs, by their names or by a column that names them."""
    wide = len(table.verdicts) > 1
    if not (wide or (len(table.judges) > 1 and table.verdicts)) or table.log or criteria(table):
        return
    if who_labelled(table):
        return
    why = are_no_judges(table) if wide else ""
    if why:
        yield Lacking("panel", why)
        return
    votes = table.verdicts
    options = given(judges=votes) if wide else given(judge=table.judge, vote=votes)
    options |= {} if table.labels else given(truth=table.truths[:1])
    single = len(table.systems) == 1 and table.truths  # a column that says nothing
    names = {"item": table.row_name, "generator": None if single else table.system}
    if table.labels:
        labels = {name: [*value] for name, value in table.labels.items()}
        names["item"], *_ = labels.pop("--item")
        names["generator"] = next(iter(labels.pop("--by", [])), table.system)
        options |= labels
    needed = ([] if wide else ["item"]) if table.truths else list(names)  # of one system
    absent = [f"the {option} (--{option})" for option in needed if not names[option]]
    if absent:
        yield Lacking("panel", f"a column that names {' and '.join(absent)}")
        return
    notes: list[str] = []
    pairing = pair_words(table)
    if pairing is not None and not pairing.sure:
        if not (wide and pairing.passes):  # else it is asked beside the line of one of them
            yield pairing.question
        if not pairing.passes:
            return
    condition = pairing.condition if pairing else ""
    options |= given(**names) | values(table, [] if condition else notes)
    whole = table.truths and table[table.truths[0]].full
    how = f"{few(table.verdicts, 5)} are" if wide else f"{table.judge} names"
    yield Reading(
        Line("panel", table.path, options),
        WANTED["panel"] if names["generator"] else ONE_SYSTEM,
        0.9,
        [f"{how} judges, who judged the same outputs"],
        notes,
        ways=[{}, {"--calibration": ["random"]}],
        condition=condition,
        note_of_way={} if whole else {"--calibration": CHOSEN},
    )
    if table.judge and not wide:
        by = ", by generator" if names["generator"] else ""
        yield Lacking("prevalence", f"the line of the panel has it{by}")
        yield Lacking("gate", "verdicts of one judge")


def are_no_judges(table: Table) -> str:
    """Why columns of verdicts are not those of several judges; empty if they may be."""
    names = table.verdicts
    if any(map(is_model, names)):
        return ""
    if all(is_called(n, "criteria") for n in names):
        return f"votes of several judges: {few(names, 4)} are called criteria of one"
    if len(one_question(names)) == len(names) and _all_go_with_labels(table):
        return ""  # prompts or releases of one judge
    released = [n for n in names if is_called(n, "releases", "variants")]
    if len(released) == len(names) == 2:
        return f"votes on one output: is it one judge on two releases in {few(names, 4)}?"
    if not any(map(says_judge, names)):
        return f"votes of several judges: nothing says that {few(names, 4)} are"
    return ""


def _all_go_with_labels(table: Table) -> bool:
    """Whether each column of verdicts goes with people's labels past chance: all are of one thing.

    Criteria of one judge are of several.
    """
    names = [*table.truths[:1], *table.verdicts]
    columns = [table[n] for n in names]
    if len(names) < 3 or any(len(c.said) != 2 or c.called("criteria") for c in columns[1:]):
        return False
    return len(columns[0].said) == 2 and all(go_together(columns[0], c) for c in columns[1:])
