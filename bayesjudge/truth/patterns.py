"""Patterns of responses and label as a multinomial variable: names, groups and replicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.verdicts.table import MISSING, Verdicts

#: Of more patterns the coordinates are numbers.
MOST_NAMED = 20_000


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of responses, and for each set of items one more: the responses that none of them has.

    A set holds the items that could have had each other's responses, so that the number of its
    items is given: of one group, with responses of the same judges, labelled or not. If labels were
    chosen by the responses, items with and without one are one set, and a pattern comes with the
    share of its items that were chosen. If the share of good ones among labelled items says
    nothing, those with one label are a set.
    """

    names: Any  #: of each pattern
    count: np.ndarray  #: items; none has the responses that stand for all others
    group: np.ndarray
    chosen: np.ndarray  #: share of the items with these responses that are labelled, or are not

    @classmethod
    def of(cls, table: Verdicts) -> Patterns:
        """Group the patterns of `table`."""
        known, design = table.is_labelled, table.design
        by_response = "prevalence" not in design.identifies and design.same_items
        label = known.astype(np.int64) * (not by_response)
        if not design.same_items:
            label = table.truth + 1
        there = table.response != MISSING
        keys = np.column_stack([table.group, label, there])
        first, _ = collapse(keys, table.count)
        group, n = distinct(keys)[1], len(first)
        chosen = _labelled_share(table) if by_response else np.ones(len(known))
        names = np.arange(len(known) + n)
        named = len(names) <= MOST_NAMED
        return cls(
            names=_names(table, first, by_response) if named else names,
            count=np.concatenate([table.count, np.zeros(n)]).astype(float),
            group=np.concatenate([group, np.arange(n)]),
            chosen=np.concatenate([chosen, np.zeros(n)]),
        )


def _labelled_share(table: Verdicts) -> np.ndarray:
    """Of the items with the same responses, the share that is labelled, or of others is not."""
    alike = distinct(np.column_stack([table.group, table.response + 1]))[1]
    known = table.is_labelled
    labelled = np.bincount(alike, table.count * known) / np.bincount(alike, table.count)
    return np.where(known, labelled[alike], 1 - labelled[alike])


def pattern_names(table: Verdicts) -> list[str]:
    """For example ``g1, unlabelled: 1 0 -``."""
    said = np.array([*map(str, table.responses or ()), "-"])
    labels = [*map(str, table.classes), "unlabelled"]
    return [
        f"{table.groups[group]}, {labels[truth]}: {' '.join(said[row])}"
        for group, truth, row in zip(table.group, table.truth, table.response, strict=True)
    ]


def _names(table: Verdicts, first: np.ndarray, by_response: bool) -> list[str]:
    """Of each pattern, and ``g1, unlabelled: ? -`` for all that nobody has."""
    labels = [*map(str, table.classes), "unlabelled"]
    if table.design.same_items:
        labels[:-1] = ["labelled"] * len(table.classes)
    others = [
        f"{table.groups[table.group[i]]}, "
        f"{'labelled or not' if by_response else labels[table.truth[i]]}: "
        + " ".join("-" if response == MISSING else "?" for response in table.response[i])
        for i in first
    ]
    return [*pattern_names(table), *others]
