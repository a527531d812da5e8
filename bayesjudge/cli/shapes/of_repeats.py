"""One judge that was asked several times: in a column each, or in rows of one item."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bayesjudge.cli.shapes import WANTED, Lacking, Line, Match, Noted, Reading
from bayesjudge.cli.shapes.coding import MOST_LABELS, given, scale_seen, value_options
from bayesjudge.cli.shapes.common import are_attempts, values
from bayesjudge.cli.shapes.of_ratings import raters_in
from bayesjudge.cli.shapes.table import Asked, Table, is_number
from bayesjudge.cli.shapes.words import is_called, vocabulary, words_of
from bayesjudge.core.labels import folded, says_nothing
from bayesjudge.core.screen import few

CONTRADICTS = "How often does the judge contradict itself?"


def matches(table: Table) -> Iterator[Match]:
    """Answers of one judge side by side, or rows of an item that only answers tell apart."""
    for names in asked_again(table):
        yield from _side_by_side(table, names)
    yield from _ask_if_repeats(table)
    if table.log or not table.repeats or len(table.systems) > 1 or table.variant:
        return
    if raters_in(table) or are_attempts(table):
        return
    about = given(item=table.item, judge=table.judge, order=table.order)
    if table.scores and not table.truths:
        yield from _scores(table, about)
    elif len(table.verdicts) == 1 and not table.truths:
        yield from _verdicts(table, about)


def _scores(table: Table, about: Mapping[str, list[str]]) -> Iterator[Match]:
    score = table.scores[0]
    numbers = sorted({*table[score].within_scale})
    if len(numbers) > MOST_LABELS:
        return
    notes: list[str] = []
    scale, step = scale_seen(score, numbers, notes)
    width = f"{step / 2:g}"
    notes.append(f"repeats report: --half-width {width}, half a step of the scale, is how well "
                 "each mean is to be known; change it to your own number")  # fmt: skip
    options = {"--score": [score], **about, "--scale": [scale], "--half-width": [width]}
    yield Reading(Line("repeats report", table.path, options), WANTED["repeats report"], 0.7,
                  [f"{table.item} has several rows that nothing but {score} tells apart"],
                  notes)  # fmt: skip


def _verdicts(table: Table, about: Mapping[str, list[str]]) -> Iterator[Match]:
    """How often a judge of pass and fail contradicts itself."""
    notes: list[str] = []
    coded, (name,) = values(table, notes), table.verdicts
    if "--classes" in coded:
        return
    notes.append(
        "repeats report: the line says that the rows of an item are verdicts on one and the same "
        "output; it is no self-contradiction if each is on an output of its own"
    )
    options = {"--score": [name], **about, **coded}
    yield Reading(Line("repeats report", table.path, options), CONTRADICTS, 0.7,
                  [f"{table.item} has several rows that nothing but {name} tells apart"], notes,
                  ways=[{}, {"--scale": ["0-1"]}])  # in words; as numbers  # fmt: skip


def _side_by_side(table: Table, names: Sequence[str]) -> Iterator[Match]:
    """Answers of one judge in a column each."""
    item = table.row_name
    if item is None or len(table.systems) > 1:
        why = "a column that names the item (--item)" if item is None else "one system"
        yield Lacking("repeats report", f"of {few(names, 3)}: {why}")
        return
    said, notes = said_in(table, names), list[str]()
    kinds: Counter[str] = sum((table[n].kinds for n in names), Counter())
    shown = few([f"{k} {n}" for k, n in kinds.most_common()], 10)
    yield Noted(f"answers in {few(names, 5)}: {shown}")
    options = given(score=names, item=item, judge=table.judge)
    question, ways = WANTED["repeats report"], list[Mapping[str, Sequence[str]]]([{}])
    numeric = all(map(is_number, said))
    most = [table[n].most or 0.0 for n in names if table[n].most]
    if numeric and {float(cell) for cell in said} != {0.0, 1.0}:
        options["--scale"] = [scale_seen(names[0], sorted({*map(float, said), *most}), notes)[0]]
    else:
        coded = value_options({n: table[n].kinds for n in names}, notes)
        options |= {} if numeric else coded
        question, ways = CONTRADICTS, [{"--scale": ["0-1"]}] if numeric else [{}]
    judges = shlex.join(["--judges", *names])
    notes.append(
        f"repeats report: {few(names, 5)} are read, by their names, as answers of one judge about "
        "one and the same output; it is no self-contradiction if each is on an output of its own; "
        f"if they are judges: bayesjudge panel with {judges}"
    )
    yield Reading(Line("repeats report", table.path, options), question, 0.95,
                  [f"names of {few(names, 5)} count repeats"], notes, ways=ways)  # fmt: skip


def _ask_if_repeats(table: Table) -> Iterator[Match]:
    """Ask about columns that several judges may have filled, or one that was asked again.

    Beside people's labels either is compared with these.
    """
    columns = [] if table.truths else [*table.verdicts, *table.scores]
    for alike, names in numbered(columns).items():
        other = is_called(alike, "jurors") or {*words_of(alike)} & {"q", "question"}
        if other or not said_in(table, names):
            continue
        item = f" --item {shlex.quote(table.item)}" if table.item else ""
        text = (f"{few(names, 5)}: of several judges, or of one that was asked {len(names)} times? "
                f"If of one: bayesjudge repeats report {shlex.quote(table.path)}{item} "
                f"--score {shlex.join(names)}")  # fmt: skip
        yield Asked((*names,), text)


def asked_again(table: Table) -> list[list[str]]:
    """Columns with the answers of one judge that was asked several times, side by side."""
    groups = (names for alike, names in numbered(table.columns).items() if are_repeats(alike))
    return [names for names in groups if said_in(table, names)]


def said_in(table: Table, names: Sequence[str]) -> list[str]:
    """The few words, or numbers, that each of some columns holds; none if they hold others."""
    each = [{*table[n].kinds} for n in names]
    every = sorted(set.union(*each))
    alike = all(2 * len(cells & each[0]) >= len(cells) for cells in each)
    numeric = all(map(is_number, every)) and len(every) <= MOST_LABELS
    folds = {folded(cell) for cell in every}
    two = len({c for c in folds if not says_nothing(c) or (c == "n" and "y" in folds)}) == 2
    return every if alike and len(every) > 1 and (numeric or two) else []


def numbered(names: Iterable[str]) -> dict[str, list[str]]:
    """Columns whose names are alike but for a number that counts from 0 or 1, by what is alike.

    Examples
    --------
    >>> numbered(["id", "run1", "run2", "run3", "gpt4", "gpt5"])
    {'run#': ['run1', 'run2', 'run3']}
    """
    columns: dict[str, dict[int, str]] = {}
    for name in names:
        for part in re.finditer(r"\d{1,3}", name):
            alike = f"{name[: part.start()]}#{name[part.end() :]}"
            columns.setdefault(alike, {})[int(part[0])] = name
    return {
        alike: [ns[n] for n in sorted(ns)]
        for alike, ns in columns.items()
        if len(ns) > 1 and min(ns) in (0, 1) and max(ns) - min(ns) == len(ns) - 1
    }


def are_repeats(alike: str) -> bool:
    """Whether what is alike in columns' names says that one judge was asked again."""
    return any(word.removesuffix("s") in vocabulary("repeats") for word in words_of(alike))
