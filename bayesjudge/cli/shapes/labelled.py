"""Which rows have people's labels: drawn by verdict, some topics more, the same for all systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.cli.shapes.coding import MOST_LABELS, counted_by
from bayesjudge.cli.shapes.table import Table
from bayesjudge.core.labels import folded
from bayesjudge.prevalence.items._same_labels import BY_CHANCE, chance_of_same

#: Probability below which labels are taken to have been drawn by verdict, and not at random.
BY_VERDICT_P = 1e-6
#: Probability with which a random sample is taken for one that prefers a topic, in any column.
UNEVEN_P = 1e-4
#: With fewer labelled rows expected in a part, the test by chi-square is not made.
FEWEST_EXPECTED = 5
ALL_LABELLED = "every row has a label"
CHOSEN = (
    "the line says that the labelled items are a random sample; if not: --calibration by_truth "
    "(chosen by what people said, such as 50 good and 50 bad ones), by_verdict (chosen by what the "
    "judge said, such as all its fails), separate (from another run)"
)


def same_for_all(table: Table) -> int:
    """Items that are labelled under several systems, if labels are the same under each.

    0 if they are not, or if labels of different systems' outputs might be the same by chance.
    """
    if table.system is None or table.item is None or not table.truths:
        return 0
    of_item: dict[str, dict[str, list[str]]] = {}
    for item, system, label in table.rows([table.item, table.system, table.truths[0]]):
        if label:
            of_item.setdefault(item, {}).setdefault(system, []).append(label)
    several = [list(map(sorted, groups.values())) for groups in of_item.values() if len(groups) > 1]
    if any(labels != groups[0] for groups in several for labels in groups):
        return 0
    kinds = Counter(groups[0][0] for groups in several)
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


def uneven(table: Table) -> Uneven | None:
    """The column of few values of which rows were labelled at rates that differ past chance."""
    labelled = [cell != "" for cell in table.columns[table.truths[0]]]
    taken = {*table.keys, *table.truths, *table.verdicts, *table.scores, table.order}
    free = [c for c in table if c.name not in taken and c.full and 2 <= len(c.kinds) <= MOST_LABELS]
    candidates: list[tuple[float, Uneven]] = []
    for column in free:
        rows, counts = column.kinds, Counter[str]()
        counts.update(c for c, known in zip(column.cells, labelled, strict=True) if known)
        p = chance_of_rates(rows, counts)
        if p < UNEVEN_P / len(free):
            order = sorted(rows, key=lambda kind: -counts[kind] / rows[kind])
            parts = {kind: (counts[kind], rows[kind]) for kind in order}
            candidates.append((p, Uneven(column.name, parts)))
    return min(candidates, key=lambda pair: pair[0])[1] if candidates else None


def chance_of_rates(rows: Mapping[str, int], labelled: Mapping[str, int]) -> float:
    """Probability that a random sample of the rows differs as much from part to part (Pearson)."""
    n, k = (np.array([counts[kind] for kind in rows], float) for counts in (rows, labelled))
    whole, drawn = n.sum(), k.sum()
    if len(n) < 2 or not 0 < drawn < whole or drawn * n.min() / whole < FEWEST_EXPECTED:
        return 1.0
    return _pearson(n, k)


def _pearson(n: np.ndarray, k: np.ndarray) -> float:
    """Probability by chi-square that rows of each kind were drawn at one rate."""
    from scipy.special import chdtrc

    whole, drawn = n.sum(), k.sum()
    expected = n * drawn / whole
    pearson = ((k - expected) ** 2 / expected).sum() * whole / (whole - drawn)
    return float(chdtrc(len(n) - 1, pearson))


def systems_together(table: Table, item: str | None) -> dict[str, list[str]] | None:
    """What a line of all systems together says more; None if some systems were labelled more."""
    if table.system is None:
        return None
    rows = table.rows([table.system, table.truths[0]])
    labelled = Counter(system for system, label in rows if label)
    if chance_of_rates(table[table.system].kinds, labelled) < UNEVEN_P:
        return None
    several = item is not None and len(table[item].kinds) < len(rows)
    return {"--repeats": ["system"]} if several else {}


def label_design(
    verdicts: Sequence[Any], truths: Sequence[Any], notes: list[str], contents: list[str]
) -> str:
    """How labelled rows seem to have been chosen: equal numbers, or verdicts, were asked for."""
    labelled = [c for c in truths if c not in (None, "")]
    if len(labelled) == len(truths):
        contents.append(ALL_LABELLED)
        return "random"
    by_truth = Counter(map(folded, labelled))
    pairs = [*zip(verdicts, truths, strict=True)] if verdicts else []
    every = counted_by(v for v, _ in pairs)
    known = counted_by(v for v, t in pairs if t not in (None, ""))
    by_verdict = Counter({kind: known[kind] for kind in every})
    for counted, design in ((by_truth, "by_truth"), (by_verdict, "by_verdict")):
        sizes = set(counted.values())
        if len(counted) == 2 and len(sizes) == 1 and min(sizes) >= 10:
            kinds = " and ".join(f"{n} {kind}" for kind, n in counted.items())
            notes.append(
                f"{kinds} are labelled, as many of one as of the other: {design}, which is right "
                "by chance too; if it is chance, --calibration random tells more"
            )
            return design
    if _drawn_unlike(every, by_verdict):
        spelled = {folded(v): str(v) for v, _ in reversed(pairs)}
        rates = [f"{by_verdict[k]} of {n:,} verdicts {spelled[k]}" for k, n in every.items()]
        notes.append(
            f"{' and '.join(rates)} have a label of people, which is no random sample: "
            "by_verdict, if the verdict decided what was labelled; if it was people's label: "
            "--calibration by_truth; if labels are from another run: separate"
        )
        return "by_verdict"
    return "random"


def _drawn_unlike(every: Mapping[str, int], labelled: Mapping[str, int]) -> bool:
    """Whether rows of different verdicts were labelled at rates that differ past any chance."""
    n, k = (np.array([counts[kind] for kind in every], float) for counts in (every, labelled))
    if not 2 <= len(n) <= MOST_LABELS or not 0 < k.sum() < n.sum():
        return False
    return _pearson(n, k) < BY_VERDICT_P
