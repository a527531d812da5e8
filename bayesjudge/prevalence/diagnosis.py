"""A diagnosis: what must hold for a number to mean what it says, and what data say against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, singledispatch
from typing import Any

from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Target
from bayesjudge.core.label_design import ROWS_ARE_ITEMS, about_others, checked

#: Cautions that contradict an assumption, by its id: the same words for every table of one judge.
AGAINST: dict[str, frozenset[str]] = {
    "random-labels": frozenset({"label-shift"}),
    "random-labels-by-verdict": frozenset({"label-shift"}),
    "random-labels-by-propensity": frozenset({"label-shift"}),
    "stated-propensities": frozenset({"label-shift", "propensity-mismatch"}),
    "same-judge": frozenset({"weak-judge", "inverted-judge", "pass-rate-out-of-range"}),
    "errors-cancel": frozenset({"errors-do-not-cancel"}),
}


@singledispatch
def findings(data: Any, target: Target) -> Iterator[Caution]:
    """What a reader should know before believing an estimate from a table, one after the other."""
    raise NotImplementedError(type(data).__name__)


@singledispatch
def granted(data: Any) -> tuple[Assumption, ...]:
    """What the declared label design of a table assumes."""
    raise NotImplementedError(type(data).__name__)


@singledispatch
def contradictory(data: Any) -> Mapping[str, Sequence[Caution]]:
    """Cautions that contradict assumptions, by id: of those that the declared design makes told."""
    told = cautions_of(data)
    found = {one: [c for c in told if c.id in names] for one, names in AGAINST.items()}
    if data.design.check is not None:
        found[data.design.assumption.id] = list(checked(data.design, data))
    return found


@lru_cache(maxsize=16)  # every method asks, and tables never change
def cautions_of(data: Any, target: Target = "population") -> tuple[Caution, ...]:
    """What a reader should know before believing an estimate from these data."""
    return tuple(dict.fromkeys(findings(data, target)))


def diagnose(
    data: Any, assumed: Sequence[Assumption] = (), target: Target = "population"
) -> Diagnosis:
    """Assumptions of a method, each with the cautions that contradict it, and all cautions.

    By default those that the declared label design grants.
    """
    against = _contradictory(data)
    own = () if getattr(data, "distinct", True) else (ROWS_ARE_ITEMS,)
    marked = tuple(
        about_others(data.design, one)._replace(
            contradicted_by=tuple(dict.fromkeys(c.id for c in against.get(one.id, ())))
        )
        for one in (*(assumed or granted(data)), *own)
    )
    raised = (caution for one in marked for caution in against.get(one.id, ()))
    return marked, tuple(dict.fromkeys((*cautions_of(data, target), *raised)))


@lru_cache(maxsize=16)
def _contradictory(data: Any) -> Mapping[str, Sequence[Caution]]:
    return contradictory(data)
