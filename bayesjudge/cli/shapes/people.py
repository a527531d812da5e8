"""Which columns hold what people said of the outputs: by explicit rules, or as a question.

A column is taken for people's labels if it says what a judge says (its words, pass and fail,
numbers of its scale), and is called after people, or fills a sample of the rows. Never a constant,
an id, a date, a person's name or a model's. Two that differ in more than who spoke are a question.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bayesjudge.cli.shapes.table import BY_CHANCE, Asked, Column, Guess, Table
from bayesjudge.cli.shapes.words import (
    has_part,
    is_id,
    is_model,
    is_person,
    named,
    names_labellers,
    says_judge,
    says_person,
)
from bayesjudge.core.labels import folded
from bayesjudge.core.screen import few


@dataclass
class Seen:
    """Columns of people's labels, those that may be some, and what was asked or guessed."""

    truths: list[str] = field(default_factory=list)
    perhaps: list[str] = field(default_factory=list)
    #: Columns that are called after people, whatever they hold.
    people: list[str] = field(default_factory=list)
    guessed: list[Guess] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


def find_labels(
    table: Table,
    given: Sequence[str],
    labels: Sequence[str],
    scores: Sequence[str],
    numbers: Sequence[str],
) -> Seen:
    """Find people's labels among columns of a few words and of numbers, or take those `given`."""
    people = [n for n in (*labels, *numbers) if says_person(n)]
    if given:
        return Seen([*given], people=[*given, *people])
    people = _the_same_for_judges(table, people)
    judged = [table[n] for n in (*labels, *numbers) if n not in people]
    truths = labels_first([table[n] for n in people], judged)
    guessed = [Guess((n,), alike) for n in people if (alike := all_alike(n, table.columns[n]))]
    if truths:
        asked = _two_candidates(table, truths, labels)
        kept = [n for n in truths if not any(n in question.columns for question in asked)]
        more = [n for question in asked for n in question.columns]
        return Seen([] if asked else kept, [], [*people, *more], guessed, asked)
    rest = [table[n] for n in labels if n not in people]
    like = _like_a_judge([table[n] for n in scores])
    perhaps = [c.name for c in like if c.lacks and not c.called("criteria")]
    ways = (
        ("read as people's scores, by name",
         [c for c in like if names_labellers(c.name) and not c.constant]),
        ("empty in most rows, and read as people's labels", _of_a_sample(rest, bool(scores))),
        ("read as people's labels, by name and for going with a judge's",
         [c for c in rest if names_labellers(c.name) and c.lacks and len(c.said) == 2 and (
             any(len(v.said) == 2 and go_together(c, v) for v in rest if not v.lacks)
             or any(_tells_apart(c, table[n]) for n in scores))]),
        ("read as people's labels, by name",
         [c for c in rest if _says_what_a_judge_says(c, rest)]),
        ("the numbers of the judges, and read as people's",
         _graded_like([table[n] for n in scores])
         if not any(says_judge(c.name) or c.binary for c in rest) else []),
    )  # fmt: skip
    for why, columns in ways:
        if columns:
            names = [c.name for c in columns]
            text = f"{few(names, 5)} {'is' if len(names) == 1 else 'are'} {why}"
            return Seen(names, [], people, [*guessed, Guess((*names,), text)])
    return Seen([], perhaps, people, guessed)


def labels_first(
    candidates: Sequence[Column], judged: Sequence[Column], beside: bool = True
) -> list[str]:
    """Of columns called after people those that may hold what they said, the surest first.

    Pass and fail and a judge's own words are said of outputs; so are numbers of a judge's scale,
    and two words that go with a judge's past any chance. If what is judged is not `beside` them, in
    the same rows, other words are too, but names of models, dates, and words of a column that is
    called a person.
    """
    free = [c for c in candidates if not (c.constant or is_id(c.name) or c.dates)]
    free = [c for c in free if not (c.numbers and c.called("no_scores"))]
    sure = [c.name for c in free if _says(c, judged)]
    beside = beside and bool(judged)
    return [*sure, *(c.name for c in free if c.name not in sure and _may_say(c, judged, beside))]


def _says(column: Column, judged: Sequence[Column]) -> bool:
    """Whether cells say pass and fail, or what a judge says."""
    theirs: set[str | bool] = set().union(*(c.meanings for c in judged if len(c.kinds) < 50))
    shared = bool(column.meanings & theirs - {True, False}) if len(column.kinds) < 50 else False
    return column.binary or (shared and not column.numbers)


def _may_say(column: Column, judged: Sequence[Column], beside: bool) -> bool:
    """Whether words or numbers that are not a judge's may be said of outputs all the same."""
    if column.numbers:
        like = [c for c in judged if c.numbers and column.within(c)]
        like += [c for c in judged if len(column.grades) > 2 and column.grades <= c.grades]
        sure = not is_person(column.name)
        return any(sure or not beside or _rise_together(column, c) for c in like) or (
            not judged and sure
        )
    if is_person(column.name) or column.models or column.times or not column.labels:
        return False
    if not beside:
        return True
    if len(column.said) != 2:
        return False
    two, scores = [c for c in judged if len(c.said) == 2], [c for c in judged if c.numbers]
    return any(go_together(column, c) for c in two) or (
        not any(c.labels for c in judged if says_judge(c.name))
        and any(_tells_apart(column, c) for c in scores)
    )


def _the_same_for_judges(table: Table, truths: Sequence[str]) -> list[str]:
    """Of columns beside one that names judges those that say one thing of an item: no votes."""
    if not table.item or not table.judge or len(truths) < 2:
        return [*truths]
    items = len(table[table.item].kinds)
    once = [n for n in truths if len({*table.rows([table.item, n])}) == items]
    return once or [*truths]


def _two_candidates(table: Table, truths: Sequence[str], labels: Sequence[str]) -> list[Asked]:
    """The question which column is meant, unless they differ only in who, or in what was graded."""
    first = table[truths[0]]
    rivals = [n for n in truths if n == first.name or table[n].meanings & first.meanings]
    # what was expected of an output is in the same words, and nobody said it of one
    rivals += [n for n in labels if n not in truths and not says_judge(n) and not first.lacks
               and table[n].called("references") and table[n].meanings == first.meanings
               and not table[n].constant]  # fmt: skip
    called = [table[n].words - {"label", "labels"} for n in rivals]
    same = set.intersection(*called) if called else set()
    people = [n for n in rivals if names_labellers(n) or is_person(n)]
    judges = [c.words for c in table if c.name not in rivals]
    graded = all(any(words & theirs for theirs in judges) for words in called)
    if len(rivals) < 2 or same or graded or (len(people) == len(rivals) and first.numbers):
        return []
    which = " or ".join(f"`{n}`" for n in rivals)
    several = one_question(rivals)
    text = (
        f"is {which} what people said of the outputs? They are in the same words: name it with "
        f"--truth, for example --truth {shlex.quote(rivals[0])}"
    )
    if len(several) > 1:
        text += f"; if each is of one of several people: --truth {shlex.join(several)}"
    return [Asked((*rivals,), text)]


def one_question(names: Sequence[str]) -> list[str]:
    """Columns of the first one's name but for a number or a letter: ann_1, ann_2; itself if none.

    They say who labelled, and not what: ``human_tone`` and ``human_facts`` are other questions.
    """
    stems = [re.sub(r"[\W_]*(\d+|[a-z])$", "", name.lower()) for name in names]
    return [name for name, stem in zip(names, stems, strict=True) if stem == stems[0]]


def same_question(table: Table) -> list[str]:
    """Columns of people who answered the first one's question in its two words; itself if none."""
    names = [*table.truths] if table.named else one_question(table.truths)
    columns = [table[name] for name in names]
    alike = all(len(c.said) == 2 and c.meanings == columns[0].meanings for c in columns)
    return names if alike else names[:1]


def all_alike(name: str, cells: Sequence[Any]) -> str:
    """What to tell of a column that says one thing in all of several rows; else nothing."""
    kinds = Counter(str(cell) for cell in cells if cell not in (None, ""))
    if len({*map(folded, kinds)}) != 1 or kinds.total() == 1:
        return ""
    filled = " that it fills" * (kinds.total() < len(cells))
    return (
        f"{name} says {next(iter(kinds))} in all {kinds.total():,} rows{filled}: hardly what "
        f"people said of the outputs; if it is: --truth {shlex.quote(name)}"
    )


def _rise_together(column: Column, other: Column) -> bool:
    """Whether numbers rise with others by more than chance."""
    from scipy.stats import spearmanr

    pairs = zip(column.cells, other.cells, strict=True)
    both = [(float(a), float(b)) for a, b in pairs if a and b]
    if len(both) < 3 or any(len({*side}) < 2 for side in zip(*both, strict=True)):
        return False
    tested = spearmanr(*zip(*both, strict=True))
    return bool(tested.statistic > 0 and tested.pvalue < BY_CHANCE)


def go_together(labels: Column, verdicts: Column) -> bool:
    """Whether two kinds of labels go with two kinds of verdicts, by Fisher's exact test."""
    from scipy.stats import fisher_exact

    if len(labels.cells) != len(verdicts.cells):
        return False
    pairs = Counter(zip(labels.cells, verdicts.cells, strict=True))
    seen: Counter[tuple[str, str]] = Counter()
    for (a, b), n in pairs.items():
        seen[folded(a), folded(b)] += n
    table = [[seen[a, b] for b in sorted(verdicts.said)] for a in sorted(labels.said)]
    return bool(fisher_exact(table).pvalue < BY_CHANCE)


def _tells_apart(labels: Column, scores: Column) -> bool:
    """Whether scores differ between two kinds of labels by more than chance."""
    from scipy.stats import mannwhitneyu

    if len(labels.cells) != len(scores.cells):
        return False
    by_label: dict[str, list[float]] = {}
    for label, score in zip(labels.cells, scores.cells, strict=True):
        if folded(label) in labels.said and score:
            by_label.setdefault(folded(label), []).append(float(score))
    return len(by_label) == 2 and bool(mannwhitneyu(*by_label.values()).pvalue < BY_CHANCE)


def _of_a_sample(labels: Sequence[Column], scored: bool) -> list[Column]:
    """Columns that most rows lack, of labels like a judge's: somebody labelled a sample.

    They say pass and fail, or the words of a column that has them in every row, or two words that
    go with those of such a column, past any chance.
    """
    full = [c for c in labels if not c.lacks and len(c.said) > 1]
    binary = [c for c in full if c.binary]
    some = [c for c in labels if c.lacks and not says_judge(c.name) and not c.constant]
    return [
        c for c in some
        if (c.binary and (scored or binary))
        or any(c.said == column.said for column in full)
        or (len(c.said) == 2 and any(go_together(c, column) for column in binary))
    ]  # fmt: skip


def _says_what_a_judge_says(column: Column, labels: Sequence[Column]) -> bool:
    """Whether a column that names people says what a column that names a judge says."""
    judges = [c for c in labels if c is not column and says_judge(c.name)]
    said = any(column.said == c.said or (column.binary and c.binary) for c in judges)
    return names_labellers(column.name) and not says_judge(column.name) and said and (
        len(column.said) > 1
    )  # fmt: skip


def _like_a_judge(scores: Sequence[Column]) -> list[Column]:
    """Columns of numbers on the scale of a column that has them in every row, not a judge's own.

    In some rows only; in all rows if a judge is named and the column names people.
    """
    full = [c for c in scores if not c.lacks and not names_labellers(c.name)]
    judges = [c for c in full if says_judge(c.name)]
    called = [c for c in scores if names_labellers(c.name)]  # such as teacher_grade
    some = [c for c in scores if c in called or not says_judge(c.name)]
    some = [c for c in some if c.lacks or (judges and c in called)]
    beside = judges or [c for c in full if c.called("scores")] or full[: len(full) == 1]
    return [c for c in some if any(c.within(judge) for judge in beside)]


def _graded_like(scores: Sequence[Column]) -> list[Column]:
    """Columns of the whole numbers that several judges give, which rise with theirs: people's."""
    judges = [c for c in scores if says_judge(c.name)]
    grades: set[float] = set().union(*(c.grades for c in judges))
    if len(judges) < 2 or not all(c.grades for c in judges):
        return []
    others = [c for c in scores if c not in judges and not c.called("scores", "criteria")]
    others = [c for c in others if len(c.grades) > 2 and c.grades <= grades]
    return [c for c in others if _rise_together(c, judges[0])]


def tell_if_whole(table: Table, truth: str, *, by_name: bool = True) -> str:
    """What to tell of a column that labels every row, unless its name says that people did."""
    if not table[truth].full or (by_name and has_part(truth, "people")):
        return ""
    same = table.one_label_an_item(truth)
    more = ", and the same one for all outputs of an item, of which verdicts differ" * same
    return (
        f"{truth} has a label for every row{more}: right if people judged the outputs; an expected "
        "answer, or a class that came with the test, says nothing of them"
    )


def ask_of_unit(table: Table, truth: str) -> Asked | None:
    """Whether labels are of items where verdicts are of their parts: it is asked."""
    if table.judge or table.counter or len(table.systems) > 1:  # of one output, or of several
        return None
    if table.part and table.labels_end_items(truth):
        text = (
            f"is `{truth}` of each {table.item}, or of its last {table.part}? Only the last row of "
            f"a {table.item} has a label, and verdicts are of others too. Keep the last rows, with "
            f"a verdict on what the label is about"
        )
        return Asked((truth, str(table.item)), text)
    together = table.labelled_together(truth)
    group = table.item if table.several else together and together[0]
    if not group or not table.but(item=group).one_label_an_item(truth):
        return None
    parts = table.part or "rows"
    return Asked(
        (truth, group),
        f"is `{truth}` of each {group}, or of each of its {parts}? All rows of one {group} have "
        f"one label, and verdicts on them differ. If a label is of the {group}, keep one row of "
        f"each with a verdict on all of it; if of each row: --truth {shlex.quote(truth)} --item "
        f"{shlex.quote(str(group))}",
    )


def who_labelled(table: Table) -> str | None:
    """The column of who labelled, if each row is one person's and an output has one verdict.

    A column that could name systems names people where no verdict differs between its values, and
    labels do.
    """
    said = {*table.verdicts, *table.truths}
    rater = named([n for n in table.columns if n not in said], "judges", "graders") or table.judge
    named_so, rater = bool(rater), rater or table.system
    if not (rater and table.item and len(table.verdicts) == 1 and table.truths):
        return None
    outputs = len(table[table.item].kinds)
    verdicts, labels = (
        {*table.rows([table.item, name])} for name in (table.verdicts[0], table.truths[0])
    )
    people = not any(map(is_model, table[rater].kinds)) and len(table.rows([rater])) > outputs
    differ = len(labels) > outputs and len(table[table.verdicts[0]].kinds) > 1
    return rater if len(verdicts) == outputs and people and (named_so or differ) else None
