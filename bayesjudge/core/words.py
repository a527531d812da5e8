"""The words of ``words.toml``: terms, names, and sentences of cautions and assumptions."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from bayesjudge.core.screen import how_many


@cache
def words_in(package: str) -> dict[str, Any]:
    """All that the ``words.toml`` of a package holds."""
    text = files(package).joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def glossary(kind: str) -> dict[str, Any]:
    """One table of the file, such as ``"terms"``, ``"cautions"`` or ``"options"``."""
    return dict(words_in("bayesjudge.core")[kind])


def words_for(kind: str) -> dict[str, str]:
    """What ids of a kind are called, for example ``"models"`` or ``"quantities"``."""
    return dict(words_in("bayesjudge.core")["names"][kind])


def sentences(kind: str) -> dict[str, str | dict[str, str]]:
    """Templates of ``"cautions"`` or ``"assumptions"`` by id, those with variants by variant."""
    return dict(words_in("bayesjudge.core")["sentences"][kind])


def sentence(kind: str, id: str, variant: str, numbers: Mapping[str, Any]) -> str:
    """The sentence of a caution or an assumption, with its numbers."""
    template = sentences(kind)[id]
    text = template if isinstance(template, str) else template[variant]
    return _Sentence().vformat(text, (), numbers)


class _Number(int):
    """A count with its noun: ``{n!n:item}`` is ``3 items``; a verb may follow, ``cell hold``."""

    def __format__(self, words: str) -> str:
        return how_many(int(self), *words.split())


class _Sentence(Formatter):
    """Fields as Python formats them; ``!n`` counts, ``!j`` joins names, ``!q`` quotes them too."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "n":
            return _Number(value)
        if conversion in ("j", "q"):
            return ", ".join(map(str if conversion == "j" else repr, value))
        return super().convert_field(value, conversion)
