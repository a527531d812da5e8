"""Many groups whose rates are shrunk to each other: their estimate by weighed draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import MOST_NAMED, chance, entries, listed, percents
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Interval, Quantity
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence._boundary import depths_in_draws, extended, near_an_end
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.data import Counts
from bayesjudge.truth.hierarchy import PooledPosterior
from bayesjudge.truth.importance import NotWeighed, Weighed, intervals_of

if TYPE_CHECKING:
    from bayesjudge.prevalence.model import PooledErrorRates

#: Probability that a group has the lowest share of good outputs.
LOWEST = "lowest"
#: Probability from which on another group than the first is named.
LIKELY = 0.1
#: Draws in which ends at 0 and 1 are looked for.
DRAWS = 4000


def posterior_of_groups(counts: Counts, model: PooledErrorRates) -> PooledPosterior:
    """The posterior that `PooledErrorRates` samples."""
    good, hits, bad, caught = (np.asarray(x, float) for x in counts.all_labels.values())
    tells = float(counts.labels_tell_prevalence)
    known = np.array([counts.correct_n, counts.incorrect_n]) * tells
    pools = model._pools_shares(counts)
    priors: list[BetaPrior] = [model.sensitivity, model.specificity]
    if pools:
        assert isinstance(model.prevalence, BetaPrior)
        priors = [model.prevalence, *priors]
    else:
        each = [model.of_system(name).prevalence for name in counts.systems or ()]
        known = known + np.array([tuple(prior) for prior in each]).T
    passed = np.asarray(counts.test_pass)
    pairs = known, (hits, good - hits), (caught, bad - caught), (passed, counts.test_n - passed)
    cells = np.moveaxis(np.array(pairs, float), -1, 0)
    return PooledPosterior(
        cells, np.array([tuple(prior) for prior in priors]), model.spread, pools,
        model.better_than_chance,
    )  # fmt: skip


def pooled_estimate(
    counts: Counts, model: PooledErrorRates, ci_prob: float, interval: Interval
) -> Estimate:
    """Shares and rates of the groups, the strata's overall share, and which group is the lowest."""
    coords = {counts.dim: counts.systems or ()}
    assumptions, cautions = model._diagnosis(counts)
    quantities: dict[str, Quantity] = {}
    try:
        weighed = posterior_of_groups(counts, model).weighed()
        values, weight = dict(weighed.values), weighed.weight
    except NotWeighed as error:
        caution = Caution.of("no-quadrature", "people", error=str(error))
        cautions, weight = (caution, *cautions), np.ones(1)
        values = {name: np.full((1, len(counts.systems or ())), np.nan) for name in RATES}
        values |= {name: np.full(1, np.nan) for name in model._spreads(counts)}
    if counts.adds_up:
        values[OVERALL] = values["prevalence"] @ counts.shares
    for name in model._quantities(counts):
        by = {} if values[name].ndim == 1 else coords
        quantities[name] = Quantity.over(intervals_of(values[name], weight, ci_prob, interval), by)
    if interval == "eti_bounded" and len(weight) > 1:
        priors = [model.of_system(name).prevalence for name in counts.systems or ()]
        quantities |= _reaching_ends(quantities, Weighed(values, weight), ci_prob, priors)
    first = values["prevalence"].argmin(axis=1)
    chances = np.bincount(first, weight, len(counts.systems or ()))
    none = np.full(len(chances), np.nan)
    quantities[LOWEST] = Quantity.over((chances if len(weight) > 1 else none, none, none), coords)
    return Estimate(
        quantities,
        method=methods.EXACT_POOLED,
        ci_prob=ci_prob,
        source=f"{model._source}; importance weights (Geweke 1989; Tran et al. 2013)",
        interval=INTERVALS[interval],
        assumptions=assumptions,
        cautions=cautions,
        data=counts,
    )


RATES = ("prevalence", "sensitivity", "specificity")


def _reaching_ends(
    quantities: dict[str, Quantity], weighed: Weighed, ci_prob: float, priors: list[Any]
) -> dict[str, Quantity]:
    """Intervals with an end at 0 or 1 where the data do not exclude it, as those of a fit."""
    draws = weighed.resampled(DRAWS, np.random.default_rng(1))["prevalence"]
    none = (-np.inf, -np.inf)
    depths = [
        depths_in_draws(share, prior) if near_an_end(share) else none
        for share, prior in zip(draws.T, priors, strict=True)
    ]
    moved = {}
    for name, each in (("prevalence", depths), (OVERALL, [tuple(np.sum(depths, axis=0))])):
        if name in quantities:
            old = quantities[name]
            ends = [
                extended((low, high), depth, ci_prob)
                for low, high, depth in zip(old.low, old.high, each, strict=True)
            ]
            low, high = np.array(ends).T
            moved[name] = Quantity(old.value, low, high, old.dims, old.labels)
    return moved


def lowest_words(estimate: Estimate) -> tuple[str, ...]:
    """Which groups may have the lowest share, the likeliest first."""
    if LOWEST not in estimate:
        return ()
    chances = {key[-1]: row.value for key, row in entries(estimate.only(LOWEST)).items()}
    shares = {key[-1]: row for key, row in entries(estimate.only("prevalence")).items()}
    order = sorted(chances, key=lambda name: -chances[name])
    named = [name for i, name in enumerate(order[:MOST_NAMED]) if not i or chances[name] >= LIKELY]
    if not named or np.isnan(chances[named[0]]):
        return ()
    each = [
        f"{name} (probability {chance(chances[name])}; {percents(shares[name])})" for name in named
    ]
    return (f"Lowest of the {len(order)} is {listed(each, 'or')}.",)
