"""Criteria of one judge, paired with people's by what the names of columns share."""

from __future__ import annotations

from bayesjudge.cli.shapes.table import Table
from bayesjudge.cli.shapes.words import CRITERIA, SCORES, is_model, words_of

#: Of how many criteria a line each is shown.
MOST_CRITERIA = 5


def criteria(table: Table) -> list[Table]:
    """For each column of people's labels the judge's of the same criterion, by words of the names.

    Empty if names do not tell: then verdicts and scores are of several judges.
    """
    judged = table.verdicts or table.scores
    every = {n: {*words_of(n)} - SCORES - {"label", "labels"} for n in (*table.truths, *judged)}
    about = {n: {word for word in own if len(word) > 1} for n, own in every.items()}
    of_judges = set.intersection(*(about[n] for n in judged)) if len(judged) > 1 else set()
    found = []
    for truth in table.truths[:MOST_CRITERIA]:
        own = [n for n in judged if about[n] & (about[truth] - of_judges)]
        if len(own) == 1 and len(judged) > 1:
            verdicts, scores = (own, []) if table.verdicts else ([], own)
            found.append(table.but(truths=[truth], verdicts=verdicts, scores=scores))
    alone = len({(one.verdicts or one.scores)[0] for one in found}) == len(found)
    # of one judge, which all columns name and people's do not, or of several criteria
    one = bool(of_judges - set().union(*(about[n] for n in table.truths)))
    called = not table.verdicts or all({*words_of(n)} & CRITERIA for n in judged)
    several = len(found) > 1 or one or (called and not any(map(is_model, judged)))
    return found if alone and several and len(found) == len(table.truths) else []
