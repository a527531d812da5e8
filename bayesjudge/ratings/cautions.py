"""Assumptions of the estimators, and cautions that ratings raise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bayesjudge.core.answer import listed
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.response_sets import choice_matrix, identification

#: Standard errors by which a judge must run against people before its polarity is doubted.
POLARITY_Z = 3.0

#: Share of items without a single majority from which on it is said.
TIED = 0.1

RANDOM_ITEMS = Assumption("random-items", "items are a random sample of the population of items")
RANDOM_SET_ITEMS = Assumption(
    "random-set-items", "items with response sets are a random sample of the items"
)
SAME_QUESTION = Assumption(
    "same-question", "people and judges answered the same question, with the same options"
)
OWN_SET = Assumption(
    "choice-from-own-set",
    "raters choose from their own response set, in the same way for every item",
)
DIRICHLET_ITEMS = Assumption(
    "dirichlet-items",
    "a source's shares of response sets vary over items as a Dirichlet, independently by source",
)
NO_ERRORS = Assumption("no-rater-errors", "people give the response set that they hold")
NO_JUDGE_ERRORS = Assumption("no-judge-errors", "judges give the response set that they hold")
COUNTED_ENDORSEMENTS = Assumption(
    "choices-are-endorsements",
    "on items without response sets, raters accept only the option that they chose",
)
TRACKING = Assumption(
    "tracking-form",
    "a judge's shares of an item mix people's with its own, which lean towards people's",
)
#: Cautions, and the assumption that each contradicts.
CONTRADICTS = {
    "polarity": SAME_QUESTION,
    "stray-choices": OWN_SET,
    "choices-stand-in": COUNTED_ENDORSEMENTS,
}


def _cautions_of(ratings: Ratings) -> tuple[Caution, ...]:
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
            yield Caution(
                "polarity",
                f"{judge!r} answers {ratings.positive!r} where people do not (correlation {r:.2f} "
                f"over {both.sum()} items): was it asked the opposite question? If so, say what "
                f"its answers mean: recode={{{judge!r}: {{{ratings.positive!r}: {other!r}, …}}}}",
            )


def graded(options: Sequence[str]) -> bool:
    """Whether options are grades: three numbers or more."""
    try:
        return len(options) > 2 and all(math.isfinite(float(one)) for one in options)
    except ValueError:
        return False


def _without_order(ratings: Ratings) -> Iterator[Caution]:
    if graded(ratings.options):
        low, *_, high = sorted(ratings.options, key=float)
        near = sorted(ratings.options, key=float)[-2]
        yield Caution(
            "grades-as-names",
            f"agreement takes the grades {low} to {high} as names without an order: a {near} for a "
            f"{high} counts like a {low} for a {high}. Means and the judge's bias, which know the "
            f"order: bayesjudge prevalence --score JUDGE --truth PERSON --scale {low}:{high} "
            f"--truth-scale {low}:{high} (one row an item, one column a rater)",
        )


def _tied(ratings: Ratings) -> Iterator[Caution]:
    chosen = ratings.chosen[0]
    rated = chosen.sum(axis=1) > 0
    tied = (chosen == chosen.max(axis=1, keepdims=True)).sum(axis=1)[rated] > 1
    if rated.any() and tied.mean() >= TIED:
        yield Caution(
            "no-majority",
            f"{tied.sum()} of {rated.sum()} items ({tied.mean():.0%}) have no single option that "
            "most people chose: hard aggregation shares them between the options "
            "(ties='first' gives them to the first, as the source's code does), so that metrics "
            "of hard ratings say little about them; soft ones keep all answers",
        )


def _unidentified(ratings: Ratings) -> Iterator[Caution]:
    if ratings.fully_specified:
        return
    found = identification(ratings.sets, choice_matrix(ratings.members))
    forced = [n for n, e in zip(ratings.sources, ratings.endorsed, strict=True) if not e.sum()]
    if forced:
        shown = "; ".join(found.confused[:3])
        yield Caution(
            "not-identified",
            f"{listed(list(map(repr, forced)))} gave forced choices only (rank {found.rank} for "
            f"{found.sets} response sets): {shown}. Endorsements, and prevalences at a cutoff, "
            "rest on the prior, and more choices will not help: ask some raters for all options "
            "that they would accept, or see how results move (shift_sensitivity, "
            "prior_sensitivity)",
        )


def _stray(ratings: Ratings) -> Iterator[Caution]:
    if ratings.stray:
        n = ratings.stray + int(ratings.paired.sum())
        yield Caution(
            "stray-choices",
            f"{ratings.stray} of {n} raters chose an option that is not in their own response set; "
            "the model excludes that, and these choices and sets are counted apart",
        )


def _unrated(ratings: Ratings) -> Iterator[Caution]:
    n = len(ratings.items)
    for name, rated in zip(ratings.sources, ratings.rated.sum(axis=1), strict=True):
        if rated < n:
            yield Caution(
                "unrated-items",
                f"{name!r} rated {rated} of {n} items; judges are compared on the items that all "
                "sources rated",
            )
