"""What the labels of a table's columns mean: pass and fail, or one of several classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.labels import (
    Spelling,
    by_spelling,
    folded,
    listed,
    objects_in,
    read_labels,
    respelled,
    spell,
)

#: Stands for a verdict that was not given, and for a truth that nobody established.
MISSING = -1
#: What labels can mean if no classes are named.
PASS_OR_FAIL = ("fail", "pass")
#: More labels than this are no classes, unless they are named.
MOST_CLASSES = 50
#: How many unknown labels a message shows.
SHOWN = 5

#: The arguments `pass_value`, `fail_value` and `missing_value`.
Meanings = tuple[Any, Any, Any]


class Labels(NamedTuple):
    """Place in `classes` of each label, by column; and which labels were read as what."""

    places: Mapping[str, Mapping[Any, int]]
    classes: tuple[str, ...]
    spelling: Spelling

    def of(self, column: str | None, cells: Sequence[Any]) -> np.ndarray:
        """Places of a column's cells, -1 where there is none; of no column, of all."""
        known = self.places.get(column or "", {})
        return np.array([known.get(cell, MISSING) for cell in cells], np.int64)

    def known(self, column: str) -> dict[Any, int]:
        """Places of the labels that are one of the classes."""
        return {cell: place for cell, place in self.places[column].items() if place != MISSING}


def meanings_of(
    seen: Mapping[str, Mapping[Any, int]],
    meanings: Meanings,
    classes: Sequence[Any] | None,
    subject: str,
) -> Labels:
    """Read the labels of some columns, given how often each occurs.

    As pass and fail without `classes`; as one of those, or of all that occur if they are empty.
    """
    if classes is not None:
        return _as_classes(seen, meanings[2], classes, subject)
    passes, fails, missing = meanings
    cells = {column: list(labels) for column, labels in seen.items()}
    read, spelling = read_labels(cells, pass_value=passes, fail_value=fails, missing_value=missing)
    places = {
        column: {
            cell: MISSING if np.isnan(value) else int(value)
            for cell, value in zip(cells[column], read[column], strict=True)
        }
        for column in cells
    }
    return Labels(places, PASS_OR_FAIL, spelling)


def _as_classes(
    cells: Mapping[str, Mapping[Any, int]], missing: Any, classes: Sequence[Any], subject: str
) -> Labels:
    none = {"", *(folded(value) for value in listed(missing) or ())}
    spelled = {
        column: {cell: spell(cell) for cell in labels if folded(cell) not in none}
        for column, labels in cells.items()
    }
    seen: Counter[str] = Counter()
    for column, labels in spelled.items():
        for cell, label in labels.items():
            seen[label] += cells[column][cell]
    usual = {folded(label): label for label, _ in reversed(seen.most_common())}
    names = [spell(each) for each in classes] if len(classes) else sorted(usual.values())
    means = by_spelling({name: name for name in names})
    with checking(subject) as require:
        objects = [objects_in(column, list(labels.values())) for column, labels in spelled.items()]
        for problem in filter(None, objects):
            require(False, problem)
        for column, labels in spelled.items():
            unknown = sorted({label for label in labels.values() if means(label) is None})
            require(
                not unknown or any(objects),
                f"column {column!r}: {unknown[:SHOWN]} are not among the classes {names}: name "
                "them too (classes=), or what is no verdict as missing_value=",
            )
        require(
            len(names) < MOST_CLASSES or len(classes),
            f"{len(names)} different labels, such as {names[:3]}: these are not classes",
        )
    read = {label: str(means(label)) for label in seen}
    places = {
        column: {cell: names.index(read[label]) for cell, label in labels.items()}
        for column, labels in spelled.items()
    }
    return Labels(places, tuple(names), respelled(read))
