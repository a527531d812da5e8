"""Patterns of votes and label as a multinomial variable: names, groups and replicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesjudge.core.counting import collapse, distinct
from bayesjudge.panel.data import MISSING, Votes

#: Of more patterns the coordinates are numbers.
MOST_NAMED = 20_000


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of votes, and for each group of items one more: the votes that none of them has.

    A group holds the items that could have had each other's votes, so that the number of its items
    is given: of one generator, with votes of the same judges, labelled or not. If labels were
    chosen by the votes, items with and without one are one group, and a pattern comes with the
    share of its items that were chosen. If the share of good ones among labelled items says
    nothing, those with one label are a group.
    """

    names: Any  #: of each pattern
    count: np.ndarray  #: items; none has the votes that stand for all others
    group: np.ndarray
    chosen: np.ndarray  #: share of the items with these votes that are labelled, or are not

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @classmethod
    def of(cls, votes: Votes, missing: str) -> Patterns:
        """Group the rows of `votes`."""
        known = votes.truth != MISSING
        by_votes = "prevalence" not in votes.design.identifies and votes.design.same_items
        label = known.astype(np.int64) * (not by_votes)
        if not votes.design.same_items:
            label = votes.truth.astype(np.int64) + 1
        there = (votes.votes != MISSING) | (missing == "response")
        keys = np.column_stack([votes.generator, label, there])
        first, _ = collapse(keys, votes.count)
        group, n = distinct(keys)[1], len(first)
        chosen = _labelled_share(votes, known) if by_votes else np.ones(len(known))
        rows = (
            _names(votes, there, first, by_votes)
            if len(known) + n <= MOST_NAMED
            else len(known) + n
        )
        return cls(
            names=np.arange(rows) if isinstance(rows, int) else rows,
            count=np.concatenate([votes.count, np.zeros(n)]).astype(float),
            group=np.concatenate([group, np.arange(n)]),
            chosen=np.concatenate([chosen, np.zeros(n)]),
        )


def _labelled_share(votes: Votes, known: np.ndarray) -> np.ndarray:
    """Of the items with the same votes, the share that is labelled, or of other rows is not."""
    of_votes = distinct(np.column_stack([votes.generator, votes.votes.astype(np.int64) + 1]))[1]
    labelled = np.bincount(of_votes, votes.count * known) / np.bincount(of_votes, votes.count)
    return np.where(known, labelled[of_votes], 1 - labelled[of_votes])


def _names(votes: Votes, there: np.ndarray, first: np.ndarray, by_votes: bool) -> list[str]:
    """For example ``g1, unlabelled: 1 0 -``, or ``? ? -`` for all that nobody has."""
    classes = np.array([*votes.classes, "-"])
    labels = np.array([*votes.classes, "unlabelled"], object)
    generators = np.array(votes.generators)[votes.generator]
    own = [
        f"{generator}, {label}: {' '.join(row)}"
        for generator, label, row in zip(
            generators, labels[votes.truth], classes[votes.votes], strict=True
        )
    ]
    labels[:-1] = "labelled" if votes.design.same_items else labels[:-1]
    others = [
        f"{generators[i]}, {'labelled or not' if by_votes else labels[votes.truth[i]]}: "
        + " ".join("?" if voted else "-" for voted in there[i])
        for i in first
    ]
    return [*own, *others]
