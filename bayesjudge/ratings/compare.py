"""Every closed form of the ratings, and every method side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesjudge.core.comparing import compare
from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.ratings.answer_rates import answer_rates
from bayesjudge.ratings.closed_form import agreement, endorsement_rates
from bayesjudge.ratings.data import Ratings
from bayesjudge.ratings.metrics import Definition
from bayesjudge.ratings.performance import performance
from bayesjudge.truth.pairs import DRAWS

if TYPE_CHECKING:
    import pandas as pd

    from bayesjudge.core.fit import Fit


def closed_forms(
    ratings: Ratings,
    *,
    ci_prob: float = 0.95,
    of: Sequence[Definition] | None = None,
    replicates: int = DRAWS,
    pseudo_count: float = 0.0,
    random_seed: Any = 0,
) -> tuple[Estimate, ...]:
    """Compute endorsement rates and, if there are judges, answer rates and agreement with people.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    of : sequence of Definition, optional
        Definitions of performance to evaluate; `definitions` by default.
    replicates : int, default 4000
        Draws of weights of items.
    pseudo_count : float, default 0
        Added to each option's choices of an item; see `agreement`.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same intervals.

    Returns
    -------
    tuple of Estimate
        `endorsement_rates`, `answer_rates` and `agreement`. If agreement cannot be computed, the
        reason is a caution of the first.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    rates = endorsement_rates(ratings, ci_prob=ci_prob)
    if not ratings.judges:
        return (rates,)
    settings = {"replicates": replicates, "pseudo_count": pseudo_count, "random_seed": random_seed}
    try:
        counted = agreement(ratings, of=of, **settings)
        answered = answer_rates(ratings, ci_prob=ci_prob, random_seed=random_seed)
    except InputError as error:
        refused = Caution.of("no-agreement", why=error.message)
        return (replace(rates, cautions=(*rates.cautions, refused)),)
    return rates, answered, counted.estimate(ci_prob=ci_prob)


@compare.register(Ratings)
def _compared(
    ratings: Ratings,
    fit: Fit | None = None,
    *,
    ci_prob: float = 0.95,
    of: Sequence[Definition] | None = None,
    draws: int = 400,
    random_seed: Any = 0,
) -> pd.DataFrame:
    from bayesjudge.core.side_by_side import compare_results

    estimates = list(closed_forms(ratings, ci_prob=ci_prob, of=of, random_seed=random_seed))
    if fit is not None:
        estimates.append(fit.estimate(ci_prob=ci_prob))
        if ratings.judges:
            judged = performance(fit, of=of, draws=draws, random_seed=random_seed)
            estimates.append(judged.estimate(ci_prob=ci_prob))
    return compare_results(*estimates, ci_prob=ci_prob)
