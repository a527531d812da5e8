"""A diagnosis: what must hold for a number to mean what it says, and what data say against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache, singledispatch
from typing import Any

from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.core.words import glossary

#: Cautions that contradict an assumption, by its id.
AGAINST: Mapping[str, frozenset[str]] = {
    assumption: frozenset(cautions) for assumption, cautions in glossary("contradicted_by").items()
}

#: Where data keep how their labels came, and other cautions of the rows that they were read from.
SELECTION, OF_ROWS = "_selection", "_of_rows"


@singledispatch
def findings(data: Any, target: Target) -> Iterable[Caution]:
    """What a reader should know before believing an estimate from a table, one after the other.

    Nothing of a table about which no module says more.
    """
    return ()


@lru_cache(maxsize=16)  # every method asks, and tables never change
def cautions_of(data: Any, target: Target = "population") -> tuple[Caution, ...]:
    """What a reader should know before believing an estimate from these data."""
    seen, of_rows = selection_of(data), getattr(data, OF_ROWS, ())
    chosen = (seen.caution,) if seen else ()
    return tuple(dict.fromkeys((*chosen, *of_rows, *findings(data, target))))


def selection_of(data: Any) -> Any:
    """How the labels of data came (`verdicts.selection`), if not as was declared."""
    return getattr(data, SELECTION, None)


def is_led_elsewhere(data: Any) -> bool:
    """Whether labels clearly came otherwise than declared, so that declared numbers do not hold."""
    selection = selection_of(data)
    return selection is not None and selection.instead is not None


def keep_selection[T](data: T, of: Any) -> T:
    """Let data, frozen or not, keep what is known of the rows of other data."""
    for name in (SELECTION, OF_ROWS):
        if (kept := getattr(of, name, None)) is not None:
            object.__setattr__(data, name, kept)
    return data


def contradicted(
    assumptions: Iterable[Assumption],
    cautions: Iterable[Caution],
    against: Mapping[str, Collection[str]] = AGAINST,
) -> tuple[Assumption, ...]:
    """Assumptions, each with the cautions raised that contradict it."""
    raised = tuple(dict.fromkeys(c.id for c in cautions))
    return tuple(
        a._replace(contradicted_by=tuple(x for x in raised if x in against.get(a.id, ())))
        for a in assumptions
    )
