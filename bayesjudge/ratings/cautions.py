"""What the ratings say against an estimate: named, with the numbers, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesjudge.core.estimate import Caution
from bayesjudge.ratings.algebra import choice_matrix
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.identify import identification

#: Standard errors by which a judge must run against people before its polarity is doubted.
POLARITY_Z = 3.0


def cautions_of(ratings: Ratings) -> tuple[Caution, ...]:
    """List what a reader should know before believing an estimate from these ratings.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.

    Returns
    -------
    tuple of Caution
        Among ``polarity``, ``not-identified``, ``stray-choices`` and ``unrated-items``.
    """
    return (
        *_polarity(ratings),
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
        if np.arctanh(max(r, -0.999999)) * np.sqrt(both.sum() - 3) < -POLARITY_Z:
            other = ratings.options[1 - k] if len(ratings.options) == 2 else "…"
            yield Caution(
                "polarity",
                f"{judge!r} answers {ratings.positive!r} where people do not (correlation {r:.2f} "
                f"over {both.sum()} items): was it asked the opposite question? If so, say what "
                f"its answers mean: recode={{{judge!r}: {{{ratings.positive!r}: {other!r}, …}}}}",
            )


def _unidentified(ratings: Ratings) -> Iterator[Caution]:
    if ratings.fully_specified:
        return
    found = identification(ratings.sets or (), choice_matrix(ratings.members))
    for i, name in enumerate(ratings.sources or ()):
        if ratings.endorsed[i].sum() == 0:
            shown = "; ".join(found.confused[:3])
            yield Caution(
                "not-identified",
                f"{name!r} gave forced choices only (rank {found.rank} for {found.sets} response "
                f"sets): {shown}. Endorsements, and prevalences at a cutoff, rest on the prior and "
                "more choices will not help; ask some raters for all options that they would "
                "accept, or see how results move (shift_sweep, prior_check)",
            )


def _stray(ratings: Ratings) -> Iterator[Caution]:
    if ratings.stray:
        n = ratings.stray + int(ratings.paired.sum())
        yield Caution(
            "stray-choices",
            f"{ratings.stray} of {n} raters chose an option that their own response set leaves "
            "out; the model excludes that, so that these choices and sets were counted apart",
        )


def _unrated(ratings: Ratings) -> Iterator[Caution]:
    rated = (ratings.chosen.sum(axis=2) + ratings.endorsed.sum(axis=2)) > 0
    for name, missing in zip(ratings.sources or (), (~rated).sum(axis=1), strict=True):
        if missing:
            yield Caution(
                "unrated-items",
                f"{name!r} rated {rated.shape[1] - missing} of {rated.shape[1]} items; judges are "
                "compared on the items that all sources rated",
            )
