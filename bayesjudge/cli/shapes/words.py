"""What names of columns say: the words by which explicit rules tell people from judges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from bayesjudge.cli.source import HUMAN
from bayesjudge.core.words import words_in


@cache
def vocabulary(*kinds: str) -> frozenset[str]:
    """The words of some kinds, as the comments in ``words.toml`` say what these are."""
    kept = words_in("bayesjudge.cli")["vocabulary"]
    return frozenset(word for kind in kinds for word in kept[kind])


def words_of(name: str) -> list[str]:
    """Words of a name, in lower case: ``asked_at`` and ``askedAt`` have two."""
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def says_person(name: str) -> bool:
    """Whether a column is called one of what people say."""
    called = any(word in name.lower() for word in HUMAN) or has_part(name, "people")
    return called and not says_judge(name)


def says_judge(name: str) -> bool:
    """Whether a column is called a judge's; reviewers give verdicts too, but for models."""
    lower, machine = name.lower(), is_model(name)
    if has_part(name, "people"):
        return machine
    if any(word in lower for word in ("review", "gold", "truth")):
        return machine or bool({*words_of(name)} & {"judge", "auto", "autorater"})
    called = has_part(name, "verdicts") or (
        is_called(name, "evaluations") and not is_called(name, "labellers")
    )
    return machine or called or (len({*words_of(name)}) > 1 and is_called(name, "machines"))


@cache
def _models() -> re.Pattern[str]:
    begins = "|".join(map(re.escape, vocabulary("models")))
    return re.compile(rf"{'|'.join(vocabulary('famous'))}|(^|[^a-z])({begins})")


def is_model(name: str) -> bool:
    """Whether a name is that of a language model."""
    return bool(_models().search(name.lower()))


def is_person(name: str) -> bool:
    """Whether a name is that of one who labels, and of nothing that is said."""
    return {*words_of(name)} <= vocabulary("labellers", "people") - {"human"} | {"annotator"}


def names_labellers(name: str) -> bool:
    """Whether a word of a name is one of those for people who label."""
    return is_called(name, "labellers") and not is_model(name)


def is_id(name: str) -> bool:
    """Whether a column is called some id."""
    return bool(re.search(r"(^|[\s_.-])id$", name.lower()))


def has_part(name: str, *kinds: str) -> bool:
    """Whether a name has a word of some kinds in it, be it a part of a longer one."""
    return any(word in name.lower() for word in vocabulary(*kinds))


def is_called(name: str, *kinds: str) -> bool:
    """Whether a word of a name is of some kinds."""
    return not vocabulary(*kinds).isdisjoint(words_of(name))


def is_named(name: str, *kinds: str) -> bool:
    """Whether a name is, as a whole, of some kinds."""
    return name.lower() in vocabulary(*kinds)


def named(columns: Iterable[str], *kinds: str) -> str | None:
    """The first column whose name is, as a whole, of some kinds."""
    return next((name for name in columns if is_named(name, *kinds)), None)
