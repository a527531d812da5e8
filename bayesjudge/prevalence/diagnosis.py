"""The diagnosis of a table of one judge: its declared label design has a say in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, singledispatch
from typing import Any

from bayesjudge.core.diagnosis import AGAINST, cautions_of
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Target
from bayesjudge.core.label_design import ROWS_ARE_ITEMS, about_others, checked


@singledispatch
def granted(data: Any) -> tuple[Assumption, ...]:
    """What the declared label design of a table assumes."""
    raise NotImplementedError(type(data).__name__)


@singledispatch
def contradictory(data: Any) -> Mapping[str, Sequence[Caution]]:
    """Cautions that contradict assumptions, by id: of those that the declared design makes told."""
    cautions = cautions_of(data)
    against = {
        assumption: [c for c in cautions if c.id in names] for assumption, names in AGAINST.items()
    }
    if data.design.check is not None:
        against[data.design.assumption.id] = list(checked(data.design, data))
    return against


def diagnose(
    data: Any, assumed: Sequence[Assumption] = (), target: Target = "population"
) -> Diagnosis:
    """Assumptions of a method, each with the cautions that contradict it, and all cautions.

    By default those that the declared label design grants.
    """
    against = _contradictory(data)
    rows_are_items = () if getattr(data, "distinct", True) else (ROWS_ARE_ITEMS,)
    marked = tuple(
        about_others(data.design, assumption)._replace(
            contradicted_by=tuple(dict.fromkeys(c.id for c in against.get(assumption.id, ())))
        )
        for assumption in (*(assumed or granted(data)), *rows_are_items)
    )
    raised = (caution for assumption in marked for caution in against.get(assumption.id, ()))
    return marked, tuple(dict.fromkeys((*cautions_of(data, target), *raised)))


@lru_cache(maxsize=16)
def _contradictory(data: Any) -> Mapping[str, Sequence[Caution]]:
    return contradictory(data)
