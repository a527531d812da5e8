"""Criteria of one judge, paired with people's by what the names of columns share."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.shapes.table import Table
from bayesjudge.cli.shapes.words import is_called, is_model, vocabulary, words_of

#: Of how many criteria a line each is shown.
MOST_CRITERIA = 5
#: What columns with a row per criterion are called: its name, its points, and the judge's verdict.
CALLED = ("criterion", "criteria", "rubric_item", "rubric", "dimension", "aspect", "attribute")
POINTS = ("points", "weight", "weights")
MET = ("met", "criteria_met", "criterion_met", "is_met")
NEW_WORD, WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])"), re.compile(r"[^\W_]+")


def criteria(table: Table, most: int = MOST_CRITERIA) -> list[Table]:
    """For each column of people's labels the judge's of the same criterion, by words of the names.

    Empty if names do not tell: then verdicts and scores are of several judges.
    """
    judged = table.verdicts or table.scores
    about = {n: _about(n) for n in (*table.truths, *judged)}
    of_judges = set.intersection(*(about[n] for n in judged)) if len(judged) > 1 else set()
    groups = []
    for truth in table.truths[:most]:
        same = [n for n in judged if about[n] & (about[truth] - of_judges)]
        if len(same) == 1 and len(judged) > 1:
            verdicts, scores = (same, []) if table.verdicts else ([], same)
            groups.append(table.but(truths=[truth], verdicts=verdicts, scores=scores))
    alone = len({(group.verdicts or group.scores)[0] for group in groups}) == len(groups)
    # of one judge, which all columns name and people's do not, or of several criteria
    single = bool(of_judges - set().union(*(about[n] for n in table.truths)))
    called = not table.verdicts or all(is_called(n, "criteria") for n in judged)
    several = len(groups) > 1 or single or (called and not any(map(is_model, judged)))
    return groups if alone and several and len(groups) == len(table.truths[:most]) else []


def _about(name: str) -> set[str]:
    """What a name may share with another one: words, and letters with a number such as ``q3``."""
    words = {word for word in words_of(name) if len(word) > 1}
    words -= vocabulary("scores") | {"label", "labels"}
    return words | {*re.findall(r"(?<![^\W\d_])[a-z]\d+", NEW_WORD.sub(" ", name).lower())}


def pairs(table: Table) -> dict[str, tuple[str, str]]:
    """The judge's and people's column of each criterion, by what their names share.

    What all of people's columns are called, such as ``human``, names no criterion.
    """
    groups = criteria(table, len(table.truths))
    words = [WORD.findall(NEW_WORD.sub(" ", group.truths[0])) for group in groups]
    always = set.intersection(*map(set, words)) if len(words) > 1 else set()
    names = [" ".join(w for w in parts if w not in always) for parts in words]
    columns = [((group.verdicts or group.scores)[0], group.truths[0]) for group in groups]
    distinct = len({*names} - {""}) == len(names)
    return dict(zip(names if distinct else [b for _, b in columns], columns, strict=True))


def long_columns(
    columns: Mapping[str, list[str]], named: Mapping[str, str], nested: bool = False
) -> dict[str, str] | None:
    """Columns of a table with a row per criterion, by argument; None of another table."""
    lower = {name.lower(): name for name in columns}
    called = next((lower[n] for n in (*CALLED, *["name"] * nested) if n in lower), None)
    criterion = named.get("criterion") or called
    if criterion is None or criterion not in columns:
        return None
    taken = {criterion, *named.values()}
    table = describe({n: cells for n, cells in columns.items() if n not in taken})
    points = next((lower[n] for n in POINTS if n in lower), None)
    judged = [n for n in [*table.verdicts, *table.scores] if n != points]
    met = [n for n in columns if n.lower() in MET]
    truth = named.get("truth") or next(iter(table.truths), None)
    verdict = named.get("verdict") or next((n for n in [*met, *judged] if n != truth), None)
    item = table.item or ("record" if nested else None)
    if truth is None or verdict is None or item is None:
        return None if not named else {"criterion": criterion, **named, "item": item or ""}
    roles = {"criterion": criterion, "verdict": verdict, "truth": truth, "item": item}
    return roles | ({"weight": points} if points else {})
