"""What names of columns say: the words by which explicit rules tell people from judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bayesjudge.cli.source import HUMAN
from bayesjudge.core.words import words_in

#: By what they are about, as the comments in ``words.toml`` say.
_SAID: dict[str, list[str]] = words_in("bayesjudge.cli")["vocabulary"]
PEOPLE = (*_SAID["people"],)
LABELLERS = {*_SAID["labellers"]}
REFERENCES = {*_SAID["references"]}
SYSTEMS = (*_SAID["systems"],)
LLMS = (*_SAID["llms"],)
JUDGES = (*_SAID["judges"],)
OF_JUDGES = (*_SAID["of_judges"],)
GRADERS = (*JUDGES, *_SAID["graders"])
RATERS = (*_SAID["raters"], *OF_JUDGES[1:])
VERDICTS = (*_SAID["verdicts"],)
MACHINES = {*_SAID["machines"]}
FAMOUS = (*_SAID["famous"],)
MODELS = (*_SAID["models"],)
CHOICES = (*_SAID["choices"],)
ITEMS = {*_SAID["items"]}
NUMBERED = {*_SAID["numbered"]}
SCORES = {*_SAID["scores"]}
NO_SCORES = {*_SAID["no_scores"]}
VARIANTS = {*_SAID["variants"]}
BASELINES = {*_SAID["baselines"]}
REPEATS = {*_SAID["repeats"]}
ATTEMPTS = {*_SAID["attempts"]}
TESTED = {*_SAID["tested"]}
OTHER_COUNTS = {*_SAID["other_counts"]}
WRONG = {*_SAID["wrong"]}
DENIED = {*_SAID["denied"]}
CRITERIA = {*_SAID["criteria"]}
JURORS = {*_SAID["jurors"]}
MAKERS = {*_SAID["makers"]}
TOPICS = {*_SAID["topics"]}
CHANGES = {*_SAID["changes"]}
UNCHANGED, PERHAPS = {*_SAID["unchanged"]}, {*_SAID["perhaps"]}
CHANGED = {*_SAID["changed"]}
RELEASES = {*_SAID["releases"]} | VARIANTS
TIES = {*_SAID["ties"]}


def words_of(name: str) -> list[str]:
    """Words of a name, in lower case: ``asked_at`` and ``askedAt`` have two."""
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def says_person(name: str) -> bool:
    """Whether a column is called one of what people say."""
    called = any(word in name.lower() for word in (*HUMAN, *PEOPLE))
    return called and not says_judge(name)


def says_judge(name: str) -> bool:
    """Whether a column is called a judge's; reviewers give verdicts too, but for models."""
    lower, machine = name.lower(), is_model(name)
    if any(word in lower for word in PEOPLE):
        return machine
    if any(word in lower for word in ("review", "gold", "truth")):
        return machine or bool({*words_of(name)} & {"judge", "auto", "autorater"})
    words = {*words_of(name)}
    called = any(word in lower for word in VERDICTS) or bool(len(words) > 1 and words & MACHINES)
    return machine or called


def is_model(name: str) -> bool:
    """Whether a name is that of a language model."""
    begins = "|".join(map(re.escape, MODELS))
    return bool(re.search(rf"{'|'.join(FAMOUS)}|(^|[^a-z])({begins})", name.lower()))


def is_person(name: str) -> bool:
    """Whether a name is that of one who labels, and of nothing that is said."""
    return {*words_of(name)} <= LABELLERS | {*PEOPLE[1:], "annotator"}


def names_labellers(name: str) -> bool:
    """Whether a word of a name is one of those for people who label."""
    return bool({*words_of(name)} & LABELLERS) and not is_model(name)


def is_id(name: str) -> bool:
    """Whether a column is called some id."""
    return bool(re.search(r"(^|[\s_.-])id$", name.lower()))


def named(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """The first column with one of these names."""
    return next((n for n in columns if n.lower() in names), None)
