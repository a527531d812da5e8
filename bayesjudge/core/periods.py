"""Names of systems that are periods of time: their order is that of time, not of rank."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Words, or letters, that stand before the number of a period.
CALLED = "w|wk|kw|week|m|mon|month|d|day|q|quarter|y|year|h|hour|half|period"
NUMBERED = re.compile(rf"(?P<kind>{CALLED})[ _-]*(?P<number>\d{{1,4}})", re.IGNORECASE)
#: 2026, 2026-09, 2026-W36, 2026Q3, 2026-09-01.
DATED = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<kind>[-/. ]?[wqh]?)(?P<number>\d{0,2})(?:[-/.](?P<day>\d\d))?",
    re.I,
)


def kind_of(names: Iterable[str], several: bool = False) -> str:
    """What these names are of: ``"system"``, or ``"period"``; the plural if there are several."""
    return ("period" if in_time(names) else "system") + "s" * several


def in_time(names: Iterable[str]) -> list[str]:
    """Names in the order of time, if all of three or more are periods; else none."""
    keys: dict[str, tuple[int, ...]] = {}
    kinds = set()
    for name in names:
        numbered, dated = NUMBERED.fullmatch(name.strip()), DATED.fullmatch(name.strip())
        if numbered:
            kinds.add(numbered["kind"].lower())
            keys[name] = (int(numbered["number"]),)
        elif dated:
            kinds.add(f"year{dated['kind'].lower()}{dated['day'] is not None}")
            keys[name] = tuple(int(dated[part] or 0) for part in ("year", "number", "day"))
        else:
            return []
    ordered = sorted(keys, key=lambda name: keys[name])
    return ordered if len(ordered) > 2 and len(kinds) == 1 else []
