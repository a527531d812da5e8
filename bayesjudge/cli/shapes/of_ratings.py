"""What several people and judges say of the same items: of one row per answer, or a column each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from bayesjudge.cli.shapes import WANTED, Lacking, Line, Match, Noted, Reading
from bayesjudge.cli.shapes.coding import MOST_LABELS, given, kind_of, meaning
from bayesjudge.cli.shapes.criteria import criteria
from bayesjudge.cli.shapes.of_one_judge import of_raters
from bayesjudge.cli.shapes.people import go_together, same_question
from bayesjudge.cli.shapes.table import LONGEST, Column, Table
from bayesjudge.cli.shapes.words import (
    has_part,
    is_model,
    is_named,
    named,
    says_judge,
    says_person,
)
from bayesjudge.core.labels import says_nothing
from bayesjudge.core.screen import few

#: What may stand between the options of a response set.
SEPARATORS = ("|", ";", ",", "/")


def matches(table: Table) -> Iterator[Match]:
    """Judges and people by the names of raters, or by the names of columns."""
    if table.log or table.labels:
        return
    for column in table:
        if column.labels and (between := separator_in(column)):
            parts = {part for cell in column.kinds for part in parts_of(cell, between)}
            yield Noted(f"response sets in {column.name}, of {few(sorted(parts), 10)}")
    rater = named(table.columns, "judges", "graders") or raters_in(table)
    if table.item and rater:
        readings = [*_long(table, rater)]
        yield from readings
        if readings:
            return
    yield from _wide(table)


def raters_in(table: Table) -> str | None:
    """A column of few names, some of which are models', that each item has once."""
    several = [c for c in table if table.item and c.name != table.item
               and 2 < len(c.kinds) <= MOST_LABELS and c.full and c.models
               and not all(map(is_model, c.kinds)) and not c.called("makers")]  # fmt: skip
    for column in several:
        rows = table.rows([str(table.item), column.name])
        if len({*rows}) == len(rows) > 1.5 * len(table[str(table.item)].kinds):
            return column.name
    return None


def _long(table: Table, rater: str) -> Iterator[Match]:
    """One row per answer: judges are told by their names."""
    choice = named(table.columns, "choices")
    choice = choice if choice and table[choice].labels and choice != rater else None
    free = [c for c in table if c.name not in (*table.keys, rater)]
    sets = next((c.name for c in free if separator_in(c)), None)
    choice = None if choice == sets else choice
    if choice is None and sets is None:
        return
    between = separator_in(table[sets]) if sets else ""
    said: dict[str, set[str]] = {}
    for name, option, several in {*table.rows([rater, choice or rater, sets or rater])}:
        answers = {option} if choice else set()
        said.setdefault(name, set()).update(answers, parts_of(several, between) if sets else ())
    said = {name: said[name] for name in table[rater].kinds}
    judges = [name for name in said if says_judge(name)]
    people = [name for name in said if name not in judges]
    # beside a column of truths, or under the name of judges, raters are judges unless called people
    if {*table.truths} - {choice} or is_named(rater, "of_judges"):
        people = [name for name in people if has_part(name, "people")]
        if not people:
            why = f"labels of single people: {rater} names judges only; the line of the panel says"
            yield Lacking("ratings", f"{why} how often each of them is right")
            return
        judges = [name for name in said if name not in people]
    if not judges or len(people) <= (len(judges) < 2):
        return
    options = given(item=table.item, rater=rater, choice=choice, response_set=sets)
    options |= given(separator=between, judge=judges)
    labels = set().union(*(said[name] for name in people))
    why = f"{rater} names models ({few(judges, 3)}) and people ({few(people, 3)})"
    yield from line_of(table.path, options, {n: said[n] for n in judges}, labels, [], [why])
    if len(judges) == 1 and choice and sets is None:
        yield from of_raters(table, rater, judges[0], choice)


def _wide(table: Table) -> Iterator[Match]:
    """A column of each grader: judges by their names, people by answers in the judges' words."""
    free = [c for c in table if c.name not in (table.item, table.order)]
    between = next((sep for c in free if says_judge(c.name) and (sep := separator_in(c))), "")
    if table.scores and not table.verdicts:
        judges = [n for n in table.scores if says_judge(n)]
        people = [*table.truths]
    else:
        answers = {c.name: options_of(c, between) for c in free}
        judges = [n for n in answers if says_judge(n) and answers[n]]
        others = [n for n in answers if n not in judges]
        people = [n for n in others if answers_like(n, judges, answers, table)]
    if not judges or len(people) < 2 or table.asked or criteria(table):
        if table.truths and len(same_question(table)) > 1:
            yield Lacking("ratings", "people's labels in the judge's words")
        return
    if table.row_name is None:
        yield Lacking("ratings", "a column that names the item (--item)")
        return
    options = given(item=table.row_name, people=people, judge=judges, separator=between)
    said = {n: set().union(*(parts_of(c, between) for c in table[n].kinds))
            for n in (*people, *judges)}  # fmt: skip
    theirs = set().union(*(said[name] for name in people))
    why = (f"ratings: the line takes {few(people, 5)} for people and {few(judges, 5)} for judges, "
           "by their names and answers")  # fmt: skip
    yield from line_of(table.path, options, {n: said[n] for n in judges}, theirs, [why], [why])


def line_of(
    path: str,
    options: Mapping[str, Sequence[str]],
    said: Mapping[str, Collection[str]],
    people: Collection[str],
    notes: list[str],
    why: Sequence[str],
) -> Iterator[Match]:
    """Compare judges with people: what counts as positive is a guess, told as one.

    A judge's label that people do not use is given the meaning of the one of theirs that says the
    same; `said` has the labels of each judge.
    """
    theirs = sorted({label for label in people if label})
    by_meaning = {meaning(label): label for label in reversed(theirs)}
    graded = len(theirs) > 2 and all(grade.lstrip("-").isdigit() for grade in theirs)
    recoded = [] if graded else [
        f"{judge}:{label}={by_meaning[meaning(label)]}"
        for judge, labels in said.items()
        for label in sorted({word for word in labels if word} - {*theirs})
        if meaning(label) is not None and meaning(label) in by_meaning
    ]  # fmt: skip
    if not theirs:
        return
    positive = by_meaning.get(True, theirs[0])
    if graded:
        notes = [*notes, "ratings: items are categorised by the highest grade; by another one: "
                  "--positive GRADE"]  # fmt: skip
    elif True not in by_meaning:
        notes = [*notes, f"ratings: that {positive!r} is the positive option is a guess"]
    more = given(positive=None if graded else positive, recode=recoded)
    yield Reading(Line("ratings", path, {**options, **more}), WANTED["ratings"], 0.4, why, notes)


def answers_like(
    name: str, judges: Sequence[str], answers: Mapping[str, set[str]], table: Table
) -> bool:
    """Whether a column answers in the judges' words; of pass and fail, also as they do."""
    words = {kind_of(answer) for answer in answers[name]}
    theirs = {kind_of(answer) for judge in judges for answer in answers[judge]}
    if not len(words & theirs) > 1 or len(words & theirs) < len(words) / 2:
        return False
    if says_person(name) or len(words) > 2:
        return True
    binary = [table[j] for j in judges if table[j].binary or len(table[j].said) == 2]
    return any(go_together(table[name], judge) for judge in binary)


def options_of(column: Column, between: str) -> set[str]:
    """The few short options of a column; none if it holds something else."""
    if len(column.kinds) > 3000:
        return set()
    options: set[str] = set().union(*(parts_of(cell, between) for cell in column.kinds))
    short = all(len(option) <= LONGEST for option in options)
    return options if short and 1 < len(options) <= MOST_LABELS else set()


def parts_of(cell: str, between: str) -> set[str]:
    """The options of a response set, or the one that was chosen."""
    parts = (part.strip() for part in (cell.split(between) if between else [cell]))
    return {part for part in parts if part and not says_nothing(part)}


def separator_in(column: Column) -> str:
    """What stands between the options of response sets; nothing if a column holds none."""
    if len(column.kinds) > 3000:
        return ""
    for between in SEPARATORS:
        parts = [[part.strip() for part in cell.split(between)] for cell in column.kinds]
        several = sum(len(each) > 1 for each in parts)
        options = options_of(column, between) if several > 1 else set()
        if options and len(options) < sum(map(len, parts)) and all(map(all, parts)):
            return between
    return ""
