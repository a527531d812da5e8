"""Kinds of groups: what the names of a table's groups are of, and whether they make up a whole.

A new kind is a row of `KINDS`: its name is the coordinate of results and of a model's variables.
"""

from __future__ import annotations

from typing import NamedTuple


class GroupKind(NamedTuple):
    """What groups of one kind have in common."""

    plural: str
    #: Whether groups are parts of one whole, judged by one judge: then they have shares of its
    #: items, and beside the prevalence of each there is one overall.
    adds_up: bool = False


#: By the name of one group; that is the dimension of arrays.
KINDS: dict[str, GroupKind] = {
    "system": GroupKind("systems"),
    "stratum": GroupKind("strata", adds_up=True),
    "judge": GroupKind("judges"),
}


def adds_up(dim: str) -> bool:
    """Whether groups of this dimension are parts of one whole."""
    return dim in KINDS and KINDS[dim].adds_up


def plural(kind: str) -> str:
    """``strata`` of ``stratum``; systems that are named as weeks are are periods."""
    return KINDS[kind].plural if kind in KINDS else f"{kind}s"
