"""Verdicts or scores of one judge, and people's labels: what share is good, or what mean score."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence

from bayesjudge.cli.shapes import WANTED, Asked, Lacking, Line, Match, Noted, Reading
from bayesjudge.cli.shapes.coding import MOST_LABELS, Options, ask_if_reversed, given, value_options
from bayesjudge.cli.shapes.common import MOST_JUDGES, absent, are_attempts, ends, values
from bayesjudge.cli.shapes.criteria import criteria, long_columns
from bayesjudge.cli.shapes.labelled import (
    ALL_LABELLED,
    CHOSEN,
    label_design,
    systems_together,
    uneven,
)
from bayesjudge.cli.shapes.of_panel import are_no_judges
from bayesjudge.cli.shapes.pairing import pair_words
from bayesjudge.cli.shapes.people import ask_of_unit, same_question, who_labelled
from bayesjudge.cli.shapes.table import Column, Table
from bayesjudge.core.screen import few

#: The same questions, of several systems, of classes or of scores.
BETTER = "Which system is better?"
CLASSES = "What share of outputs would people put into each class?"
MEAN = "What mean score would people give?"
BETTER_MEAN = "Which system is better, by the mean score that people would give?"
#: Columns that may hold people's scores, of which a line each is shown.
MOST_PERHAPS = 3

Way = Mapping[str, Sequence[str]]


def matches(table: Table) -> Iterator[Match]:
    """A judge's column beside people's, or a pair of such columns a criterion."""
    rater = who_labelled(table)
    if rater:
        yield from of_raters(table, rater, table.verdicts[0], table.truths[0])
        return
    if table.verdicts and len(table.judges) > 1 and not table.log:  # a panel
        return
    if not (table.log or table.labels) and long_columns(table.columns, {}):  # rows are criteria
        return
    if table.truths and not (table.verdicts or table.scores):
        yield Lacking(
            "prevalence",
            "a column with the judge's verdicts (--verdict) or scores; if a log or another table "
            f"has them: bayesjudge doctor THAT_FILE {shlex.quote(table.path)}",
        )
    elif table.truths:
        asked = None if table.labels or table.log else ask_of_unit(table, table.truths[0])
        if asked is not None:
            yield asked
            return
        parts = criteria(table) or [table]
        for part in parts:
            of = f", by {part.truths[0]}" if len(parts) > 1 else ""
            yield from _with_labels(part, of)
    elif table.perhaps:
        yield from _perhaps(table)


def _with_labels(table: Table, of: str = "") -> Iterator[Match]:
    """Lines of one column of labels; `of` says which, if there are several criteria."""
    if table.verdicts:
        names = table.verdicts if table.labels else table.verdicts[:1]
        several = len(table.verdicts) > 1
        unclear = several and not table.labels and are_no_judges(table)
        if unclear:
            which = ", ".join(f"`{n}`" for n in table.verdicts)
            truth = table.truths[0]
            all_of = ["--verdict", *table.verdicts, "--truth", truth, "--calibration", "random"]
            line = shlex.join(["bayesjudge", "judge", table.path, *all_of])
            text = (
                f"which of {which} do the labels in `{truth}` check? Say --verdict; if they check "
                f"each of them, as of several judges or prompts: {line}"
            )
            yield Asked((*table.verdicts,), text)
            return
        asked = BETTER if "--by" in _systems(table) else WANTED["prevalence"]
        for name in names[:MOST_JUDGES]:
            question = f"{asked[:-1]}{f', by {name} alone' * several}{of}?" if several or of else ""
            yield from _verdicts(table.but(verdicts=[name]), question, several)
        return
    several = len(table.truths) > 1 and len(table.scores) > 1
    for name in table.scores[: MOST_JUDGES if several else 1]:
        yield from _scores(table.but(scores=[name]))


def _systems(table: Table) -> Options:
    """Options of the system, where there are several."""
    options = {name: [*values] for name, values in table.labels.items() if name == "--by"}
    if table.log or table.labels:
        return options
    return given(by=table.system) if len(table.systems) > 1 else {}


def _people(table: Table) -> Options:
    """Options of people's labels, in the same file or another one."""
    if table.labels:
        return {name: [*values] for name, values in table.labels.items()}
    return {"--truth": [table.truths[0]]}


def _several_people(table: Table, options: Collection[str]) -> list[str]:
    """Columns of several people's passes and fails on the same outputs, if they are some."""
    if (table.log and not table.named) or table.labels or "--classes" in options:
        return []
    names = same_question(table)
    return names if len(names) > 1 and any(map(all, table.rows(names))) else []


def of_raters(table: Table, rater: str, judge: str, label: str) -> Iterator[Match]:
    """The line of a table with a row per person; verdicts are a column, or rows of the judge."""
    notes = [f"{rater} names people who label the same outputs: they err too, as the judge does"]
    kinds = {name: table[name].kinds for name in (judge, label) if name in table.columns}
    coded = value_options(kinds, notes)
    if "--classes" in coded or not table[label].binary:
        return
    options = given(verdict=judge, truth=label, rater=rater, item=table.item) | coded
    line = Line("prevalence", table.path, options | given(calibration="random"))
    why = [f"{rater} names who labelled, and {judge} is the judge"]
    ways = [{}, {"--unparsed": ["drop"]}]
    yield Reading(line, WANTED["prevalence"], 0.6, why, [*notes, CHOSEN], ways,
                  note_of_way={"drop": DROP}, gate=True)  # fmt: skip


def _verdicts(table: Table, question: str, panel: bool) -> Iterator[Match]:
    (name,), truth = table.verdicts, table.truths[0]
    unjudged = _never_judged(table, name)
    notes = [f"{name} is empty in all rows where {unjudged}, and in no other"] if unjudged else []
    table = table.having(name) if unjudged else table
    said, labels = table.columns[name], table.columns[truth]
    contents: list[str] = []
    pairing = pair_words(table)
    if pairing is not None and not pairing.sure:
        yield pairing.question
        if not pairing.passes:
            return
    condition = pairing.condition if pairing else ""
    coded = values(table, [] if condition else notes)
    chosen = label_design(said, labels, notes, contents)
    notes += filter(None, [ask_if_reversed(said, labels, coded)])
    yield from map(Noted, contents)
    options = {**table.about, **given(verdict=None if table.log else name)}
    options |= _people(table) | coded | given(calibration=chosen)
    item, again = _clusters(table, notes)
    people = _several_people(table, {*options}) if not (item and again) else []
    if people:
        options["--truth"] = people
        notes.append(f"{few(people, 5)} label the same outputs: they err too, as the judge does")
    elif "--classes" in options and len(table.truths) > 1:
        rest = few(table.truths[1:], 5)
        notes.append(f"of classes one person's labels are read, {truth}; no line has {rest}")
    parts, preferred = _parts(table, chosen, "--stratum")
    notes += filter(None, [preferred])
    if not (table.log or table.labels):
        options |= _systems(table) | given(item=item) | parts
    if not question:
        question = CLASSES if "--classes" in options else WANTED["prevalence"]
        question = BETTER if "--by" in options and "--classes" not in options else question
    lost = _lost(coded, panel or bool(unjudged))
    words = "words of their own" if pairing else "words that both use"
    why = [f"{name} is of a judge, and {truth} of people, in {words}"]
    random = chosen == "random" and ALL_LABELLED not in contents and not preferred
    yield Reading(
        Line("prevalence", table.path, options),
        question,
        0.8,
        why,
        [*notes, *([CHOSEN] if random else [])],
        ways=[{}, *lost, *again, *({**a, **b} for a in again for b in lost)],
        condition=condition,
        note_of_way={"drop": DROP, "fail": FAIL},
        gate=not {"--classes", "--stratum"} & {*options},
        together=systems_together(table, item),
    )


DROP = ("rows without a verdict are left out (--unparsed drop); to count each as a fail: "
        "--unparsed fail")  # fmt: skip
FAIL = ("rows without a verdict count as fails (--unparsed fail); to leave them out: "
        "--unparsed drop")  # fmt: skip


def _never_judged(table: Table, verdict: str) -> str:
    """Which values of a column go with all rows without a verdict, and with no other row."""
    judged = [cell != "" for cell in table.columns[verdict]]
    free = [c for c in table if c.name not in (verdict, *table.truths)]
    free = sorted((c for c in free if len(c.kinds) < MOST_LABELS), key=lambda c: len(c.kinds))
    for column in free if not all(judged) else ():
        each = {*zip(column.cells, judged, strict=True)}
        without = sorted(kind for kind, there in each if not there)
        if "" not in without and len(each) == len({kind for kind, _ in each}) > len(without):
            return f"{column.name} is {few(without, 5)}"
    return ""


def _lost(coded: Options, panel: bool) -> list[Way]:
    """What can be done with rows without a verdict: what is read as missing is left out.

    A panel leaves missing votes out, so that a line beside it does the same.
    """
    fail, drop = {"--unparsed": ["fail"]}, {"--unparsed": ["drop"]}
    return [drop, fail] if panel or "--missing-value" in coded else [fail, drop]


def _scores(table: Table) -> Iterator[Match]:
    """Lines of a column of scores and one of people's labels, or of their scores."""
    (name,), truth, others = table.scores, table[table.truths[0]], few(table.truths[1:])
    alone = f"labels of {truth.name} alone are read, since scores take one column: not of {others}"
    notes: list[str] = [alone] if others else []
    contents: list[str] = []
    chosen = label_design([], truth.cells, notes, contents)
    yield from map(Noted, contents)
    empty = absent(table, [name, truth.name], notes)
    options = {**table.about, **given(score=name, scale=ends(table, name, notes)), **_people(table)}
    if truth.numbers:
        options["--truth-scale"] = [ends(table, truth.name, notes)]
        options |= given(missing_value=empty)
    else:
        options |= value_options({truth.name: truth.kinds}, notes, "", empty)
    options |= given(calibration=chosen)
    by, preferred = _parts(table, chosen, "--by")
    notes += filter(None, [preferred])
    if not (table.log or table.labels):
        item, _ = _clusters(table, notes)
        by = _systems(table) | given(item=item) | by
    random = chosen == "random" and ALL_LABELLED not in contents and not preferred
    notes += [CHOSEN] if random else []
    cut = _threshold(table[name], truth, empty) if preferred else ""
    why = [f"{name} has a judge's scores, and {truth.name} what people said"]
    drop: list[Way] = [{}, {"--unparsed": ["drop"]}]
    ways = {"drop": DROP}
    line = Line("prevalence", table.path, options)
    if cut and not table.systems and not truth.numbers:
        guess = (
            f"--pass-from {cut} is a guess, half-way between the mean scores of people's two "
            "labels; with another one the answer is right too, and may be less sure"
        )
        more = {"--pass-from": [cut], "--stratum": by["--by"]}
        yield Reading(line.plus(more), WANTED["prevalence"], 0.8, why, [*notes, guess], drop,
                      note_of_way=ways)  # fmt: skip
    several = "--by" in by and not preferred
    question = MEAN if truth.numbers else WANTED["prevalence"]
    if "--by" in by and not several:
        question = f"{question[:-1]}, in each {by['--by'][0]}?"
    elif several or "--by" in table.labels:
        question = BETTER_MEAN if truth.numbers else BETTER
    whole = systems_together(table, None) if several else None
    yield Reading(line.plus(by), question, 0.8, why, notes, drop, note_of_way=ways, together=whole)


def _perhaps(table: Table) -> Iterator[Match]:
    """Numbers on the scale of the judge's in some rows, which people may have given."""
    judge = next((n for n in table.scores if n not in table.perhaps), "")
    for name in [n for n in table.perhaps if n not in table.again][:MOST_PERHAPS]:
        if judge in table.again or not judge:
            return
        filled, rows = table[name].kinds.total(), len(table[name].cells)
        note = f"{name} has numbers like those of {judge}, in {filled:,} of {rows:,} rows: if"
        yield Noted(f"{note} people gave them, the line below is theirs; else it is not", odd=True)
        for r in _scores(table.but(truths=[name], scores=[judge])):
            if isinstance(r, Reading):
                condition = f"If {name} holds people's scores"
                yield Reading(r.line, r.question, 0.3, r.reasons, r.notes, r.ways,
                              condition, r.note_of_way)  # fmt: skip


def _threshold(scores: Column, labels: Column, empty: Sequence[str]) -> str:
    """The lowest score beyond the middle of the mean scores of two labels; empty if not two."""
    by_label: dict[str, list[float]] = {}
    for score, label in zip(scores.cells, labels.cells, strict=True):
        if score and label and label not in empty:
            by_label.setdefault(label, []).append(float(score))
    if len(by_label) != 2:
        return ""
    middle = sum(sum(of_label) / len(of_label) for of_label in by_label.values()) / 2
    return min((score for score in scores.kinds if float(score) >= middle), key=float)


def _parts(table: Table, chosen: str, option: str) -> tuple[Options, str]:
    """The option for a column of whose parts some have more labels, and what to tell of it."""
    elsewhere = table.log or table.labels or chosen != "random"
    seen = None if elsewhere else uneven(table)
    if seen is None:
        return {}, ""
    known = "--calibration known_propensity --propensity COLUMN"
    text = f"{seen}, which is no random sample: "
    if len(table.systems) > 1 or table.repeats:
        return {}, (
            f"{text}the line is wrong unless it answers for one {seen.column}; with a column of "
            f"each row's probability of a label: {known}"
        )
    if option == "--stratum":
        text += (
            f"the line takes labels as random within each {seen.column}, and weighs these by their "
            f"rows; if each row had a known probability of a label: {known}"
        )
    else:
        text += (
            f"the line answers for each {seen.column} by itself; for all together, a column with "
            f"each row's probability of a label (here the share labelled of its {seen.column}) in "
            f"place of --by {shlex.quote(seen.column)}: {known}"
        )
    return {option: [seen.column]}, text


def _clusters(table: Table, notes: list[str]) -> tuple[str | None, list[Way]]:
    """The column of the item, and what several rows of one may be.

    Where labels cover whole groups of rows, such as conversations, a group is the item.
    """
    judge: Way = {"--repeats": ["judge"]}
    outputs: Way = {"--repeats": ["system"]}
    if table.log or table.labels:
        return None, [judge, outputs]
    item = table.item
    again: list[Way] = [judge, outputs] if table.repeats else [outputs] if table.part else []
    again = [outputs] if are_attempts(table) else again
    together = table.labelled_together(table.truths[0])
    if together is not None:
        name, labelled, groups = together
        alone = item is None or len(table[item].kinds) == len(table[item].cells)
        item, again = (name, [outputs]) if alone else (item, again)
        notes.append(
            f"labels cover whole groups of {name}: {labelled:,} of {groups:,} have one on every "
            "row, the others on none, so that rows are no independent draws"
            + (f": the line says --item {name}, and would be too sure without" * (item == name))
        )
    if item and again == [outputs]:
        rows = f", counted by {table.part}," if table.part else ""
        notes.append(f"rows of one {item}{rows} are taken for outputs of their own "
                     "(--repeats system)")  # fmt: skip
    if item and not table[item].full:
        notes.append(f"rows without a name in {item} are left out of the line: it does not name it")
        return None, []
    return item, again
