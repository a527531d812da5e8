"""Labels that are the same whatever the system: the "systems" look like judges of one output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.answer import chance
from bayesjudge.core.estimate import Caution

if TYPE_CHECKING:
    from bayesjudge.prevalence.items.data import Items

#: Largest correlation of the truths of two systems' outputs for one item that is allowed for.
MOST_ALIKE = 0.8
#: Probability below which labels of such outputs are taken not to be the same by chance.
BY_CHANCE = 0.01


def chance_of_same(labels: Sequence[float]) -> float:
    """Probability that different outputs get the same label on every item.

    `labels` counts the items of each label. Outputs of two systems for one item whose truths
    correlate by r get different labels with probability (1 - r) (1 - sum of squared shares).
    """
    counts = np.asarray(labels, float)
    n = counts.sum()
    differ = (1 - MOST_ALIKE) * (1 - ((counts / n) ** 2).sum()) if n else 0.0
    return float((1 - differ) ** n)


def same_labels(items: Items) -> Caution | None:
    """Tell if all items labelled under several systems have the same label under each."""
    units = items.units[:, :, :2].sum(axis=-1)  # (n_patterns, n_systems, 2): bad, good
    known = units.sum(axis=-1)
    several = (known > 0).sum(axis=1) > 1
    if not several.any():
        return None
    units, known, count = units[several], known[several], items.count[several]
    good = np.divide(units[..., 1], known, out=np.full(known.shape, np.nan), where=known > 0)
    if (np.nanmax(good, axis=1) - np.nanmin(good, axis=1) > 1e-9).any():
        return None
    share = float(count @ np.nanmean(good, axis=1))
    by_chance = chance_of_same((share, float(count.sum()) - share))
    if by_chance >= BY_CHANCE:
        return None
    whose = "both systems" if len(items.systems) == 2 else "several systems"
    return Caution.of(
        "same-labels", items=count.sum(), whose=whose, chance=chance(by_chance), alike=MOST_ALIKE
    )
