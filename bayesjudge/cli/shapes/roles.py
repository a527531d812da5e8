"""What each column of a table is for: by what tells rows apart, what was said, who made what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from bayesjudge.cli.shapes.coding import MOST_LABELS, kind_of
from bayesjudge.cli.shapes.people import find_labels, go_together
from bayesjudge.cli.shapes.table import MOST_MAKERS, MOSTLY, Column, Guess, Table, number_in
from bayesjudge.cli.shapes.words import (
    is_id,
    is_named,
    named,
    says_judge,
    says_person,
    vocabulary,
    words_of,
)
from bayesjudge.core.labels import DASHES, NUMBER, says_nothing, spell, unread
from bayesjudge.verdicts.reading import ITEM_COLUMNS

#: Words that stand for an empty cell where most cells say so; a dash always does.
NOTHING = {"na", "n/a", "nan", "null", "#n/a"}
#: Most values of a column of judges.
MOST_JUDGES = 12


def describe(
    columns: Mapping[str, list[str]],
    truths: Sequence[str] = (),
    people: Mapping[str, list[str]] = MappingProxyType({}),
) -> Table:
    """Say what each column is for.

    `truths` are columns that somebody named as people's labels, of several people a column each;
    `people` are the columns of a file with them.
    """
    absent = {name: _stand_for_nothing(cells) for name, cells in columns.items()}
    absent = {name: words for name, words in absent.items() if words}
    full = {n: ["" if c in words else c for c in columns[n]] for n, words in absent.items()}
    table = Table({**columns, **full}, absent=absent)
    counted = _repeats_in(table)
    if counted is None:
        return _by_names(table, truths, None, people)
    item, counter = counted
    twins = [n for n in columns if _one_to_one(table[n], table[counter])]
    rest = table.but(columns={n: c for n, c in table.columns.items() if n not in twins})
    seen = _by_names(rest, truths, item, people)
    judged = bool(seen.scores) != bool(seen.verdicts)
    if judged and not (seen.truths or seen.system or seen.variant or seen.asked):
        first = min(map(number_in, table[counter].kinds))
        note = f"{counter} counts from {first} within each {item}, and is read as the number of"
        order = next((n for n in twins if table[n].numeric), None)
        return seen.but(columns=table.columns, order=order, counter=counter, again=twins,
                        guessed=[Guess((counter,), f"{note} the repeat")])  # fmt: skip
    plain = _by_names(table, truths, item, people)
    return plain.but(
        scores=[n for n in plain.scores if n != counter],
        counter=counter if table[counter].called("repeats") else None,
    )


def _stand_for_nothing(cells: Sequence[str]) -> list[str]:
    """What a column has in place of empty cells, beside other words."""
    kinds = Counter(cells)
    blanks = [kind for kind in kinds if kind in DASHES and "+" not in kinds]
    most = [k for k, n in kinds.items() if 2 * n > len(cells)]
    nothing = [k for k in kinds if k.casefold() in NOTHING]
    words = {k for k in kinds if not re.fullmatch(NUMBER, k)} - {"", *blanks, *nothing}
    blanks += [k for k in nothing if k in most or not words]
    blanks += [k for k in most if k.casefold() == "none" and not unread({"": {*kinds} - {k, ""}})]
    return blanks if len({*kinds} - {*blanks, ""}) else []


def _by_names(
    table: Table, truths: Sequence[str], counted: str | None, people: Mapping[str, list[str]]
) -> Table:
    """Say what each column is for; `counted` is the item, if its rows are counted."""
    labels = _labels(table)
    numbers = [c for c in table if c.name not in labels and c.numbers]
    system = named(table.columns, "systems")
    if system in labels and _are_verdicts(table, str(system), labels):
        system = None
    table = table.but(
        item=counted or _item_of(table) or _crossed(table, labels),
        system=system,
        judge=_judge_of(table, labels, numbers),
        order=next((c.name for c in table if c.times), None),
    )
    names_of_raters = [c.name for c in numbers if is_named(c.name, "raters")]
    taken = {*table.keys, table.order, *names_of_raters}
    few = [n for n in labels if n not in taken]
    said, rest = _what_was_said(table, truths, few, [c for c in numbers if c.name not in taken])
    return _who_made_what(said, rest, people)


def _what_was_said(
    table: Table, truths: Sequence[str], labels: Sequence[str], numbers: Sequence[Column]
) -> tuple[Table, list[str]]:
    """Find scores, people's labels and verdicts; the columns of labels that are not people's."""
    scores = [c.name for c in numbers if not c.index and not says_person(c.name)]
    scores.sort(key=lambda n: not (table[n].called("scores") or says_judge(n)))
    seen = find_labels(table, truths, labels, scores, [c.name for c in numbers])
    scores = [n for n in scores if n not in seen.truths]
    scores.sort(key=seen.perhaps.__contains__)
    rest = [n for n in labels if n not in {*seen.truths, *seen.people}]
    verdicts = _verdicts(table, seen.truths, [table[n] for n in rest])
    of_people = {"truths": seen.truths, "perhaps": seen.perhaps, "guessed": seen.guessed}
    of_people |= {"asked": seen.asked, "named": bool(truths)}
    return table.but(verdicts=verdicts, scores=scores, **of_people), rest


def _verdicts(table: Table, truths: Sequence[str], among: Sequence[Column]) -> list[str]:
    """Columns that are called a judge's; else those of pass and fail, or in people's words."""
    usable = [c for c in among if not c.models
              and (not c.constant or (c.binary and says_judge(c.name)))]  # fmt: skip
    verdicts = [c.name for c in usable if says_judge(c.name)]
    verdicts = verdicts or [c.name for c in usable if c.binary]
    if truths and not verdicts:
        said = table[truths[0]].said
        verdicts = [c.name for c in usable if len(said) > 1 and c.said == said]
        verdicts = verdicts or _gone_with(table[truths[0]], usable)
    return verdicts


def _who_made_what(table: Table, rest: Sequence[str], people: Mapping[str, list[str]]) -> Table:
    """Find the columns of systems, judges and versions among those that hold no verdicts."""
    item, system, judge, truths = table.item, table.system, table.judge, table.truths
    names = _names_among(table, table.verdicts, truths)
    names = [n for n in names if len(table[n].kinds) != 2 or _arm(table, item, [n])]
    verdicts = [n for n in table.verdicts if n not in names]
    system = system or named([n for n in rest if n in names], "llms")
    counts = ("other_counts", "repeats", "attempts")
    counting = {c.name for c in table if c.numeric and c.called(*counts)}
    free = [n for n in rest if n not in verdicts and n not in counting]
    jury = None
    if item and judge is None and len(verdicts) == 1 and _one_label_each(table, item, truths):
        jury = jury_in(table, item, system, free, people)
    if jury is not None:
        return table.but(verdicts=verdicts, judge=jury.judge, system=jury.generator,
                         guessed=[*table.guessed, jury.guess])  # fmt: skip
    arm = None if system else _arm(table, item, free)
    changed = arm is not None and not truths and _changed(table, arm, table.scores, verdicts)
    return table.but(verdicts=verdicts, system=system or (None if changed else arm),
                     variant=arm if changed else None)  # fmt: skip


def _gone_with(truth: Column, columns: Sequence[Column]) -> list[str]:
    """The one column of two words that go with people's past any chance."""
    two = [c for c in columns if len(c.said) == len(truth.said) == 2 and not c.lacks]
    names = [c.name for c in two if go_together(truth, c)]
    return names if len(names) == 1 else []


def _labels(table: Table) -> list[str]:
    """Columns of a few short words; grades on a scale that another column shows are numbers."""
    columns = [c for c in table if c.labels]
    wide = [c.grades for c in table if not c.labels and says_judge(c.name)]
    columns = [c for c in columns if not (len(c.grades) > 2 and any(c.grades <= w for w in wide))]
    called = any(says_person(c.name) for c in table)  # then a judge's few grades are classes
    graded = [c for c in table if len(c.grades) > 2]
    judges = [c for c in graded if not c.lacks and (
        c.called("scores") or (says_judge(c.name) and not called))]  # fmt: skip
    some = [c for c in graded if c not in judges and c in columns and c.lacks and not c.index
            and any(c.grades <= judge.grades for judge in judges)]  # fmt: skip
    numbers = {c.name for c in (*some, *(judges if some else ()))}
    return [c.name for c in columns if c.name not in numbers]


def _judge_of(table: Table, labels: Sequence[str], numbers: Sequence[Column]) -> str | None:
    """The column that names who judged, which does not hold the verdicts."""
    called = [c for c in table if is_named(c.name, "judges") and c not in numbers and not c.lacks]
    called = [c for c in called if c.name not in labels or not _are_verdicts(table, c.name, labels)]
    called += [c for c in table if c.models and c.called("jurors")]  # such as judge.model
    return next((c.name for c in sorted(called, key=lambda c: c.constant)), None)


def _are_verdicts(table: Table, name: str, labels: Sequence[str]) -> bool:
    """Whether cells say what another column says, pass and fail, or two that name no model.

    Two such words may name judges too, unless the column is alone in saying anything.
    """
    column, others = table[name], [table[n] for n in labels if n != name]
    people = [c for c in others if says_person(c.name) or c.lacks]
    if column.binary or any(len(column.said & c.said) > 1 for c in people):
        return not column.models
    if any(len(column.said) > 1 and column.said <= c.said for c in others):
        return not column.models
    called = any(says_judge(c.name) or is_named(c.name, "choices") for c in others)
    scored = any(c.called("scores") for c in table if c.name not in labels and c.numbers)
    said = any(c.binary and not c.lacks for c in others)
    alone = not (called or scored or said) and is_named(name, "judges")
    return alone and len(column.said) == 2 and not column.models


def _item_of(table: Table) -> str | None:
    """A column by a usual name, or the first one called some id, or some word for an item."""
    usual = [n for n in table.columns if n.lower() in ITEM_COLUMNS]
    ids = [c.name for c in table if is_id(c.name) and not (says_person(c.name) and c.labels)
           and not is_named(c.name, "systems", "judges")]  # fmt: skip
    ids = [n for n in ids if not table[n].words & {"annotator", "reviewer", "user", "rater", "run"}]
    items = vocabulary("items", "numbered")
    called = [c.name for c in table if c.called("items") and c.words <= items
              and len(c.kinds) > 4 and not (c.numeric and c.called("other_counts"))]  # fmt: skip
    coming = [n for n in [*usual, *ids, *called] if not table[n].counts_to]
    return next(iter([*coming, *usual, *ids, *called]), None)


def _crossed(table: Table, labels: Sequence[str]) -> str | None:
    """A column whose values have each of some few words once, but for a few rows lost."""
    for words in (table[n] for n in labels):
        several = len(words.kinds)
        if several < 2 or not words.full or words.counts_to:
            continue
        for column in table:
            most = several * len(column.kinds)
            few = len(column.kinds) <= MOST_LABELS
            if not column.full or few or most * (1 - MOSTLY) > len(words.cells):
                continue
            if len({*zip(column.cells, words.cells, strict=True)}) == len(words.cells):
                return column.name
    return None


def _repeats_in(table: Table) -> tuple[str, str] | None:
    """The item and the counter of its rows: 1 to k within each item, but for a few rows lost."""
    counters = sorted((c for c in table if c.counts_to), key=lambda c: not c.numeric)
    usual = _item_of(table) if counters else None
    for name in dict.fromkeys([*([usual] if usual else []), *table.columns]):
        column = table[name]
        for counter in counters:
            times = counter.counts_to
            if column is counter or not column.full or max(column.kinds.values()) != times:
                continue
            items = len(column.kinds)
            if times > items and name != usual:  # rather items, each seen under every value
                continue
            pairs = len({*zip(column.cells, counter.cells, strict=True)})
            if items > 4 and pairs == len(column.cells) and pairs > (1 - MOSTLY) * items * times:
                return name, counter.name
    return None


def _one_to_one(column: Column, other: Column) -> bool:
    same = len({*column.cells}) == len({*other.cells})
    return same and len({*zip(column.cells, other.cells, strict=True)}) == len({*column.cells})


def _one_label_each(table: Table, item: str, truths: Sequence[str]) -> bool:
    """Whether no item has two labels of people: judges vote on one output."""
    rows = {*table.rows([item, *truths[:1]])}
    labelled = [row[0] for row in rows if row[-1] != ""]
    return not truths or len(labelled) == len({*labelled})


def _arm(table: Table, item: str | None, among: Sequence[str]) -> str | None:
    """The column whose few values each item has once: systems, or variants of the item."""
    for name in among if item else ():
        pairs = Counter(table.rows([str(item), name]))
        shared = len(pairs) > 1.5 * len({*table.columns[str(item)]})
        if shared and len(table[name].kinds) > 1 and max(pairs.values()) == 1:
            return name
    return None


def _changed(table: Table, arm: str, scores: Sequence[str], verdicts: Sequence[str]) -> bool:
    """Whether the values of a column are versions of an item, of which scores are compared."""
    values = {word for kind in table[arm].kinds for word in words_of(kind)}
    if scores and not verdicts:
        return bool(values & vocabulary("baselines") or table[arm].called("variants"))
    zero_one = len(verdicts) == 1 and {spell(c) for c in table[verdicts[0]].kinds} == {"0", "1"}
    return zero_one and bool(values & vocabulary("baselines"))


def _names_among(table: Table, verdicts: Sequence[str], truths: Sequence[str]) -> list[str]:
    """Columns that say nothing that people, or else other judges, say, beside some that do."""
    said = {n: {kind_of(k) for k in table[n].kinds if not says_nothing(k)} for n in verdicts}
    people = table[truths[0]].meanings if truths else set()
    judge = [n for n in verdicts if said[n] & people]
    judge = judge or [n for n in verdicts if said[n] <= {True, False}]
    judge = judge or [n for n in verdicts if any(said[n] & said[m] for m in verdicts if m != n)]
    models = [n for n in verdicts if table[n].models]
    return [n for n in verdicts if n in models or (judge and n not in judge)]


class Jury(NamedTuple):
    """Columns of a table with one row per vote: of the judge, and of what made the output."""

    judge: str
    generator: str | None
    guess: Guess


def jury_in(
    table: Table,
    item: str,
    system: str | None,
    among: Sequence[str],
    people: Mapping[str, list[str]],
) -> Jury | None:
    """The column of which each output has every value once, if its values are those of judges.

    They are if the column is called so, if another one with few values says what made each item,
    or if `people`'s labels, in a file of their own, are of items whatever the value. A column that
    is called a system is none of judges.
    """
    outputs = [" ".join(name) for name in table.rows([n for n in (item, system) if n])]
    no_judges = ("makers", "topics", "changes", "repeats")
    votes = [n for n in among if n not in (item, system)
             and 2 <= len(table[n].kinds) <= MOST_JUDGES and table[n].full
             and not table[n].called(*no_judges) and _once_each(outputs, table[n])]  # fmt: skip
    if not votes:
        return None
    judge = min(votes, key=lambda n: not table[n].called("jurors"))
    makers = [c.name for c in table if c.name not in (item, judge) and _names_maker(c, table[item])]
    generator = min(makers, key=lambda n: not table[n].called("makers"), default=None)
    of_items = bool(people) and not any({*c} & {*table[judge].kinds} for c in people.values())
    if not (table[judge].called("jurors") or generator or of_items):
        return None
    text = f"{judge} is read as the judge: each {item} has one row of each"
    if generator and generator != system:
        text += f", and {generator}, the same in all rows of one {item}, as what made the output"
    text += f"; if {judge} made the outputs: --generator {judge}"
    return Jury(judge, system or generator, Guess((judge,), text))


def _once_each(items: Sequence[str], column: Column) -> bool:
    """Whether an item has each of some values once, but for some rows lost."""
    pairs = Counter(zip(items, column.cells, strict=True))
    return len(pairs) > 1.5 * len({*items}) and max(pairs.values()) == 1


def _names_maker(column: Column, item: Column) -> bool:
    """Whether a column may say what made an item: few words, the same in all rows of one."""
    few = 2 <= len(column.kinds) <= MOST_MAKERS and column.full
    called = not column.called("topics") and (column.called("makers") or not column.numeric)
    if not (few and called and 2 * len(column.kinds) < len(item.kinds)):
        return False
    return len({*zip(item.cells, column.cells, strict=True)}) == len(item.kinds)
