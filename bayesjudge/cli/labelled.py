"""Which rows of a table have people's labels: the same for several judges, or some topics more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bayesjudge.cli.proposals import MOST_LABELS
from bayesjudge.cli.roles import Roles
from bayesjudge.prevalence.items._same_labels import BY_CHANCE, chance_of_same

#: Probability with which a random sample is taken for one that prefers a topic, in any column.
UNEVEN_P = 1e-4
#: With fewer labelled rows expected in a part, the test by chi-square is not made.
FEWEST_EXPECTED = 5


def same_for_all(roles: Roles) -> int:
    """Items that are labelled under several systems, if labels are the same under each.

    0 if they are not, or if labels of different systems' outputs might be the same by chance.
    """
    if roles.system is None or roles.item is None or not roles.truths:
        return 0
    columns = roles.columns
    named = (columns[roles.item], columns[roles.system], columns[roles.truths[0]])
    of_item: dict[str, dict[str, list[str]]] = {}
    for item, system, label in zip(*named, strict=True):
        if label:
            of_item.setdefault(item, {}).setdefault(system, []).append(label)
    several = [list(map(sorted, own.values())) for own in of_item.values() if len(own) > 1]
    if any(labels != own[0] for own in several for labels in own):
        return 0
    kinds = Counter(own[0][0] for own in several)
    return len(several) if chance_of_same(list(kinds.values())) < BY_CHANCE else 0


class Uneven(NamedTuple):
    """A column in some parts of which more rows are labelled than in others."""

    column: str
    #: Labelled rows and rows by part, the part with the largest share first.
    parts: dict[str, tuple[int, int]]

    def __str__(self) -> str:
        (first, most), *_, (last, least) = self.parts.items()
        return (
            f"labels are on {100 * most[0] / most[1]:.0f} % of the rows of {self.column} {first} "
            f"and on {100 * least[0] / least[1]:.0f} % of those of {last}"
        )


def uneven(roles: Roles) -> Uneven | None:
    """The column of few values of which rows were labelled at rates that differ past chance."""
    truth = roles.columns[roles.truths[0]]
    labelled = [cell != "" for cell in truth]
    taken = {*roles.keys, *roles.truths, *roles.verdicts, *roles.scores, roles.order}
    free = [
        name
        for name, cells in roles.columns.items()
        if name not in taken and 2 <= len({*cells}) <= MOST_LABELS and "" not in cells
    ]
    found: list[tuple[float, Uneven]] = []
    for name in free:
        rows, own = Counter(roles.columns[name]), Counter[str]()
        own.update(cell for cell, one in zip(roles.columns[name], labelled, strict=True) if one)
        p = chance_of_rates(rows, own)
        if p < UNEVEN_P / len(free):
            order = sorted(rows, key=lambda kind: -own[kind] / rows[kind])
            found.append((p, Uneven(name, {kind: (own[kind], rows[kind]) for kind in order})))
    return min(found, key=lambda one: one[0])[1] if found else None


def chance_of_rates(rows: Mapping[str, int], labelled: Mapping[str, int]) -> float:
    """Probability that a random sample of the rows differs as much from part to part (Pearson)."""
    from scipy.special import chdtrc

    n, k = (np.array([counts[kind] for kind in rows], float) for counts in (rows, labelled))
    whole, drawn = n.sum(), k.sum()
    if len(n) < 2 or not 0 < drawn < whole or drawn * n.min() / whole < FEWEST_EXPECTED:
        return 1.0
    expected = n * drawn / whole
    pearson = ((k - expected) ** 2 / expected).sum() * whole / (whole - drawn)
    return float(chdtrc(len(n) - 1, pearson))
