"""Labels hidden in folds, so that what is predicted of an item has not seen its label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesjudge.panel.data import MISSING, Votes

#: Folds that labels are hidden in.
FOLDS = 5
#: Fewer labels than this say nothing when hidden.
FEWEST_LABELS = 20


def enough_labels(votes: Votes) -> bool:
    """Whether hidden labels tell anything: some of each class."""
    by_class = votes.labelled.sum(axis=0)
    return bool(by_class.sum() >= FEWEST_LABELS and by_class.min() >= 2)


def with_rows(
    votes: Votes, given: np.ndarray, truth: np.ndarray, generator: np.ndarray, count: np.ndarray
) -> Votes:
    """Other patterns of the same panel."""
    return Votes(
        *(given, truth, generator, votes.generators, votes.judges),
        count=count,
        classes=votes.classes,
        judge_of_column=votes.judge_of_column,
        calibration=votes.calibration,
    )


def _by_name(votes: Votes) -> np.ndarray:
    """Patterns in an order that neither that of the rows nor that of the names read changes."""
    judges = np.array(votes.judges, dtype=str)
    columns = np.arange(len(judges)) if votes.judge_of_column is None else votes.judge_of_column
    generators = np.array(votes.generators, dtype=str)[votes.generator]
    by_judge = votes.votes[:, np.argsort(judges[columns], kind="stable")]
    return np.lexsort((*by_judge.T[::-1], votes.truth, generators))


def folds(votes: Votes, rng: np.random.Generator) -> Iterator[tuple[Votes, Votes]]:
    """Votes with a fold's labels hidden, and the votes and labels of the fold."""
    known = votes.is_labelled
    order = _by_name(votes)
    rows = np.repeat(order, votes.count[order] * known[order])
    fold, rest = rng.permutation(len(rows)) % FOLDS, np.flatnonzero(~known)
    for i in range(FOLDS):
        mine, seen = rows[fold == i], rows[fold != i]
        # items that the estimate is not about tell nothing once their label is hidden
        back = mine if votes.design.same_items else mine[:0]
        at = np.concatenate([rest, seen, back])
        truth = votes.truth[at].copy()
        truth[len(rest) + len(seen) :] = MISSING
        count = np.concatenate([votes.count[rest], np.ones(len(seen) + len(back), int)])
        hidden = with_rows(
            *(votes, votes.votes[mine], votes.truth[mine], votes.generator[mine]),
            np.ones(len(mine), int),
        )
        yield with_rows(votes, votes.votes[at], truth, votes.generator[at], count), hidden
