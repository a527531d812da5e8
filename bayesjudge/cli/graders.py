"""Tables of what several graders say: lines of ``bayesjudge ratings`` that compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesjudge.cli.proposals import MOST_LABELS, Findings, kind_of, try_ratings
from bayesjudge.cli.roles import (
    CHOICES,
    JUDGES,
    LONGEST,
    OF_JUDGES,
    PEOPLE,
    Roles,
    are_labels,
    go_together,
    is_binary,
    named,
    says_judge,
    says_person,
)
from bayesjudge.core.labels import says_nothing
from bayesjudge.core.screen import few

#: What may stand between the options of a response set.
SEPARATORS = ("|", ";", ",", "/")
#: What a column of raters is called here, beside those of judges.
GRADERS = (*JUDGES, "reviewer", "labeler", "labeller", "worker", "coder")


def propose_ratings(path: str, roles: Roles, found: Findings) -> None:
    """Compare judges with people: of one row an answer, or of a column of each grader."""
    rater = named(roles.columns, GRADERS)
    if roles.item and rater and _long(path, roles, rater, found):
        return
    _wide(path, roles, found)


def _long(path: str, roles: Roles, rater: str, found: Findings) -> bool:
    """One row an answer: judges are told by their names; whether there are such rows."""
    columns = roles.columns
    choice = named(columns, CHOICES)
    choice = choice if choice and are_labels(columns[choice]) else None
    free = [n for n in columns if n not in (*roles.keys, rater)]
    sets = next((n for n in free if separator_in(columns[n])), None)
    choice = None if choice == sets else choice
    if choice is None and sets is None:
        return False
    between = separator_in(columns[sets]) if sets else ""
    said: dict[str, set[str]] = {}
    for name, one, several in zip(
        columns[rater], columns[choice or rater], columns[sets or rater], strict=True
    ):
        answers = {one} if choice else set()
        said.setdefault(name, set()).update(answers, parts_of(several, between) if sets else ())
    judges = [name for name in said if says_judge(name)]
    people = [name for name in said if name not in judges]
    # beside a column of truths, or under the name of judges, raters are judges unless called people
    if {*roles.truths} - {choice} or rater.lower() in OF_JUDGES:
        people = [name for name in people if any(word in name.lower() for word in PEOPLE)]
        if not people:
            found.missing["ratings"] = (
                f"labels of single people: {rater} names judges only; the line of the panel says "
                "how often each of them is right"
            )
            return True
        judges = [name for name in said if name not in people]
    if judges and len(people) > (len(judges) < 2):
        line = ["ratings", path, "--item", str(roles.item), "--rater", rater]
        line += ["--choice", choice] if choice else []
        line += ["--response-set", sets, "--separator", between] if sets else []
        line += [word for name in judges for word in ("--judge", name)]
        labels = set().union(*(said[name] for name in people))
        try_ratings(line, {name: said[name] for name in judges}, labels, found)
    return True


def _wide(path: str, roles: Roles, found: Findings) -> None:
    """A column of each grader: judges by their names, people by answers in the judges' words."""
    free = {n: c for n, c in roles.columns.items() if n not in (roles.item, roles.order)}
    between = next((sep for n, c in free.items() if says_judge(n) and (sep := separator_in(c))), "")
    answers = {n: _options(c, between) for n, c in free.items()}
    grades = [*roles.truths, *roles.scores] if roles.scores and not roles.verdicts else []
    named_so = [n for n in roles.scores if says_judge(n)]
    people = list(roles.truths)
    if not grades:
        named_so = [n for n in answers if says_judge(n) and answers[n]]
        others = [n for n in free if n not in named_so]
        people = [n for n in others if _answers_like(n, named_so, answers, free)]
    if not named_so or len(people) < 2:
        return
    if roles.item is None:
        found.missing["ratings"] = "a column that names the item (--item)"
        return
    line = ["ratings", path, "--item", roles.item]
    line += [word for name in people for word in ("--people", name)]
    line += [word for name in named_so for word in ("--judge", name)]
    line += ["--separator", between] if between else []
    said = {n: set().union(*(parts_of(c, between) for c in free[n])) for n in (*people, *named_so)}
    theirs = set().union(*(said[name] for name in people))
    found.odd.append(
        f"ratings: the line takes {few(people, 5)} for people and {few(named_so, 5)} for judges, "
        "by their names and answers"
    )
    try_ratings(line, {name: said[name] for name in named_so}, theirs, found)


def _answers_like(
    name: str,
    judges: Sequence[str],
    answers: Mapping[str, set[str]],
    columns: Mapping[str, list[str]],
) -> bool:
    """Whether a column answers in the judges' words; of pass and fail, also as they do."""
    own = {kind_of(one) for one in answers[name]}
    theirs = {kind_of(one) for judge in judges for one in answers[judge]}
    if not len(own & theirs) > 1 or len(own & theirs) < len(own) / 2:
        return False
    if says_person(name) or len(own) > 2:
        return True
    binary = [j for j in judges if is_binary(columns[j])]
    return any(go_together(columns[name], columns[judge]) for judge in binary)


def _options(cells: Sequence[str], between: str) -> set[str]:
    """The few short options of a column; none if it holds something else."""
    found = set().union(*(parts_of(cell, between) for cell in {*cells}))
    short = all(len(one) <= LONGEST for one in found)
    return found if short and 1 < len(found) <= MOST_LABELS else set()


def parts_of(cell: str, between: str) -> set[str]:
    """The options of a response set, or the one that was chosen."""
    parts = (part.strip() for part in (cell.split(between) if between else [cell]))
    return {part for part in parts if part and not says_nothing(part)}


def separator_in(cells: Sequence[str]) -> str:
    """What stands between the options of response sets; nothing if a column holds none."""
    kinds = {cell for cell in cells if cell}
    for between in SEPARATORS:
        parts = [[part.strip() for part in cell.split(between)] for cell in kinds]
        several = sum(len(each) > 1 for each in parts)
        recurring = len(_options([*kinds], between)) < sum(map(len, parts))
        if several > 1 and recurring and _options([*kinds], between) and all(map(all, parts)):
            return between
    return ""
