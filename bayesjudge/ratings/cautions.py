"""Assumptions of the estimators, and cautions that ratings raise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bayesjudge.core.answer import listed
from bayesjudge.core.diagnosis import findings
from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.response_sets import choice_matrix, identification

#: Standard errors by which a judge must run against people before its polarity is doubted.
POLARITY_Z = 3.0

#: Share of items without a single majority from which on it is said.
TIED = 0.1

RANDOM_ITEMS = Assumption.of("random-items")
RANDOM_SET_ITEMS = Assumption.of("random-set-items")
SAME_QUESTION = Assumption.of("same-question")
OWN_SET = Assumption.of("choice-from-own-set")
DIRICHLET_ITEMS = Assumption.of("dirichlet-items")
NO_ERRORS = Assumption.of("no-rater-errors")
NO_JUDGE_ERRORS = Assumption.of("no-judge-errors")
COUNTED_ENDORSEMENTS = Assumption.of("choices-are-endorsements")
TRACKING = Assumption.of("tracking-form")


@findings.register
def _of_ratings(ratings: Ratings, target: Target) -> tuple[Caution, ...]:
    """List ``polarity``, ``grades-as-names``, ``no-majority``, ``not-identified``,
    ``stray-choices`` and ``unrated-items``, if these ratings raise them.
    """
    return (
        *_polarity(ratings),
        *_without_order(ratings),
        *_tied(ratings),
        *_unidentified(ratings),
        *_stray(ratings),
        *_unrated(ratings),
    )


def _polarity(ratings: Ratings) -> Iterator[Caution]:
    k = ratings.positive_index
    people = ratings.profile(PEOPLE).chosen[:, k]
    for judge in ratings.judges:
        theirs = ratings.profile(judge).chosen[:, k]
        both = ~np.isnan(people) & ~np.isnan(theirs)
        if both.sum() < 10 or np.ptp(people[both]) == 0 or np.ptp(theirs[both]) == 0:
            continue
        r = float(np.corrcoef(people[both], theirs[both])[0, 1])
        if np.arctanh(np.clip(r, -0.999999, 0.999999)) * np.sqrt(both.sum() - 3) < -POLARITY_Z:
            other = ratings.options[1 - k] if len(ratings.options) == 2 else "…"
            yield Caution.of(
                "polarity", judge=judge, option=ratings.positive, r=r, items=both.sum(), other=other
            )


def graded(options: Sequence[str]) -> bool:
    """Whether options are grades: three numbers or more."""
    try:
        return len(options) > 2 and all(math.isfinite(float(option)) for option in options)
    except ValueError:
        return False


def _without_order(ratings: Ratings) -> Iterator[Caution]:
    if graded(ratings.options):
        low, *_, high = sorted(ratings.options, key=float)
        near = sorted(ratings.options, key=float)[-2]
        yield Caution.of("grades-as-names", low=low, high=high, near=near)


def _tied(ratings: Ratings) -> Iterator[Caution]:
    chosen = ratings.chosen[0]
    rated = chosen.sum(axis=1) > 0
    tied = (chosen == chosen.max(axis=1, keepdims=True)).sum(axis=1)[rated] > 1
    if rated.any() and tied.mean() >= TIED:
        yield Caution.of("no-majority", tied=tied.sum(), rated=rated.sum(), share=tied.mean())


def _unidentified(ratings: Ratings) -> Iterator[Caution]:
    if ratings.fully_specified:
        return
    identified = identification(ratings.sets, choice_matrix(ratings.members))
    forced = [n for n, e in zip(ratings.sources, ratings.endorsed, strict=True) if not e.sum()]
    if forced:
        shown = "; ".join(identified.confused[:3])
        yield Caution.of(
            "not-identified",
            sources=listed(list(map(repr, forced))),
            rank=identified.rank,
            sets=identified.sets,
            shown=shown,
        )


def _stray(ratings: Ratings) -> Iterator[Caution]:
    if ratings.stray:
        n = ratings.stray + int(ratings.paired.sum())
        yield Caution.of("stray-choices", stray=ratings.stray, n=n)


def _unrated(ratings: Ratings) -> Iterator[Caution]:
    n = len(ratings.items)
    for name, rated in zip(ratings.sources, ratings.rated.sum(axis=1), strict=True):
        if rated < n:
            yield Caution.of("unrated-items", name=name, rated=rated, n=n)
