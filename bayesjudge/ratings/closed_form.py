"""Closed forms: endorsement rates, and agreement with intervals from weighing items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.special import stdtrit

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.screen import how_many
from bayesjudge.ratings.cautions import (
    COUNTED_ENDORSEMENTS,
    RANDOM_ITEMS,
    RANDOM_SET_ITEMS,
    SAME_QUESTION,
)
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.metrics import SOURCE, Definition, Profile, definitions
from bayesjudge.ratings.performance import Performance
from bayesjudge.truth.pairs import DRAWS, MOST_NUMBERS


def endorsement_rates(ratings: Ratings, *, ci_prob: float = 0.95) -> Estimate:
    """Estimate the share of raters who would accept each option, averaged over items.

    Response sets identify it. Forced choices only bound it: an option is accepted at least as often
    as it is chosen, and at most as often as no choice excludes it.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``endorsement`` by source and option: the mean over items with response sets and its t
        interval (``nan`` if the share is that of every item); or, of a source without response
        sets, ``nan`` and an interval for the bounds.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> from bayesjudge.ratings import simulate
    >>> ratings = Ratings.from_frame(simulate(random_seed=1), positive="yes",
    ...                              judges=["gpt", "claude"], response_set="response_set")
    >>> [round(x, 2) for x in endorsement_rates(ratings)["endorsement", "people", "yes"]]
    [0.54, 0.45, 0.64]
    """
    check_ci_prob(ci_prob)
    rows = {}
    for i, name in enumerate(ratings.sources):
        shares = _from_sets(ratings, i, ci_prob) if ratings.endorsed[i].any() else None
        shares = shares or _from_choices(ratings, i, ci_prob)
        for option, row in zip(ratings.options, shares, strict=True):
            rows[name, option] = row
    cautions = (*_bounds_only(rows), *_without_spread(rows), *cautions_of(ratings))
    return Estimate(
        {"endorsement": Quantity.of_rows(rows, ("source", "option"))},
        method=methods.ENDORSEMENT,
        ci_prob=ci_prob,
        source=f"{SOURCE}, Section 4",
        interval="t, over items",
        assumptions=contradicted((RANDOM_ITEMS, RANDOM_SET_ITEMS), cautions),
        cautions=cautions,
        data=ratings,
    )


def _bounds_only(rows: dict[tuple[str, str], tuple[float, ...]]) -> Iterator[Caution]:
    names = list(dict.fromkeys(name for (name, _), row in rows.items() if np.isnan(row[0])))
    if names:
        yield Caution.of("no-response-sets", names=names)


def _without_spread(rows: dict[tuple[str, str], tuple[float, ...]]) -> Iterator[Caution]:
    names = [f"{name}: {option}" for (name, option), row in rows.items() if np.isnan(row[1])]
    if names:
        yield Caution.of("no-interval", "one-share", names="; ".join(names))


def _from_sets(ratings: Ratings, i: int, ci_prob: float) -> list[tuple[float, ...]] | None:
    n = ratings.endorsed[i].sum(axis=1)
    held = n > 0
    if held.sum() < 2:
        return None
    shares = (ratings.endorsed[i] @ ratings.members.T)[held] / n[held, None]
    return [
        (m, max(m - h, 0.0), min(m + h, 1.0)) if h > 1e-12 else (m, np.nan, np.nan)
        for m, h in _mean(shares, ci_prob)
    ]


def _from_choices(ratings: Ratings, i: int, ci_prob: float) -> list[tuple[float, ...]]:
    """Bounds: chosen at the least; at most what the choice of another option leaves possible."""
    counts = ratings.chosen[i] if ratings.chosen[i].any() else np.zeros_like(ratings.chosen[i])
    counts = counts[counts.sum(axis=1) > 0]
    if len(counts) < 2:
        return [(np.nan, 0.0, 1.0)] * len(ratings.options)
    shares = counts / counts.sum(axis=1, keepdims=True)
    together = (ratings.members @ ratings.members.T) > 0  # options that some set holds both of
    lowest, highest = _mean(shares, ci_prob), _mean(shares @ together, ci_prob)
    ends = [
        (np.nan, max(low - h, 0.0), min(high + g, 1.0))
        for (low, h), (high, g) in zip(lowest, highest, strict=True)
    ]
    return [row if row[2] - row[1] > 1e-12 else (np.nan,) * 3 for row in ends]


def _mean(values: np.ndarray, ci_prob: float) -> list[tuple[float, float]]:
    n = len(values)
    half = stdtrit(n - 1, (1 + ci_prob) / 2) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return [(float(m), float(h)) for m, h in zip(values.mean(axis=0), half, strict=True)]


def agreement(
    ratings: Ratings,
    *,
    of: Sequence[Definition] | None = None,
    replicates: int = DRAWS,
    pseudo_count: float = 0.0,
    ties: str = "share",
    random_seed: Any = 0,
) -> Performance:
    """Compare every judge with people under many definitions, from observed shares.

    Parameters
    ----------
    ratings : Ratings
        Of people and at least one judge.
    of : sequence of Definition, optional
        Definitions to evaluate; `definitions` by default.
    replicates : int, default 4000
        Draws of weights of items (the Bayesian bootstrap). Pairs of ratings are never weighed
        alone: those of one item are not independent, and intervals would be far too short.
    pseudo_count : float, default 0
        Added to each option's choices of an item. At 0, an option that people gave and the judge
        never did makes a divergence infinite.
    ties : {"share", "first"}
        See `bayesjudge.ratings.metrics.aggregate`.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same intervals.

    Returns
    -------
    Performance
        On the items that all sources rated.

    Raises
    ------
    InputError
        If there is no judge, fewer than two items were rated by all sources, or a setting is out of
        range.

    Notes
    -----
    Definitions that only ask which option people chose and which the judge did, such as Cohen's
    kappa, have the intervals of `bayesjudge.judge.quality`: of one person's labels they are the
    same numbers. Others weigh items, and have no interval where all items are alike.

    A judge that copies people's shares is not perfect by every definition. Where people tie between
    two options, hard aggregation shares the item between them, and the hit rate there is that of
    two draws, 1/2, whoever is compared; alpha and the kappas are made of it and stay below 1 too.
    ``ties="first"`` gives 1, and depends on the order of the options. A share at the cutoff counts
    as positive, whichever option that is: the caution ``ties-at-the-cutoff`` says how many items
    that decides.
    """
    with checking("agreement") as require:
        require(ratings.judges, "there is no judge among the sources")
        require(replicates >= 1, "must be 1 or more", replicates=replicates)
        require(pseudo_count >= 0, "must be 0 or more", pseudo_count=pseudo_count)
    chosen = tuple(of or definitions())
    how: dict[str, Any] = {"positive": ratings.positive_index, "ties": ties}
    common = ratings.rated.all(axis=0)
    n = int(common.sum())
    expect("agreement", n >= 2, f"{how_many(n, 'item', 'were')} rated by all sources; need two")
    profiles = {
        name: ratings.profile(name, pseudo_count=pseudo_count).items(common)
        for name in ratings.sources
    }
    # items that all sources answer alike share a weight
    answers = np.concatenate([part for profile in profiles.values() for part in profile], axis=1)
    _, first, count = np.unique(answers, axis=0, return_index=True, return_counts=True)
    distinct = {name: profile.items(first) for name, profile in profiles.items()}
    rng, size = rng_of(random_seed), max(1, MOST_NUMBERS // count.size)
    draws = np.empty((replicates, len(chosen), len(ratings.judges)))
    values = np.empty(draws.shape[1:])
    for begin in range(0, replicates, size):
        weights = rng.standard_gamma(count, (min(size, replicates - begin), count.size))
        weights /= weights.sum(axis=1, keepdims=True)
        for (i, d), (j, judge) in product(enumerate(chosen), enumerate(ratings.judges)):
            pair = distinct[judge], distinct[PEOPLE]
            draws[begin : begin + size, i, j] = d.value(*pair, **how, weights=weights)
    for (i, d), (j, judge) in product(enumerate(chosen), enumerate(ratings.judges)):
        values[i, j] = d.value(profiles[judge], profiles[PEOPLE], **how)
        posterior = d.posterior(profiles[judge], profiles[PEOPLE], **how)
        if posterior is not None:
            draws[:, i, j] = _in_order(posterior, draws[:, i, j])
    at_cutoff = _at_cutoff(ratings, profiles, chosen)
    cautions = (*cautions_of(ratings), *_stand_ins(ratings), *at_cutoff)
    assumed = [RANDOM_ITEMS, SAME_QUESTION]
    if not ratings.fully_specified:
        assumed.append(COUNTED_ENDORSEMENTS)
    return Performance(
        definitions=chosen,
        judges=ratings.judges,
        values=values,
        draws=draws,
        method=methods.AS_COUNTED,
        source=f"{SOURCE}, Table 1",
        interval="equal-tailed",
        assumptions=contradicted(assumed, cautions),
        cautions=cautions,
        target="population",
        data=ratings,
    )


def _in_order(draws: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """The distribution of draws in the order of others, which tell how judges vary together."""
    depth = (np.argsort(np.argsort(joint, kind="stable")) + 0.5) / joint.size
    return np.quantile(draws, depth, method="inverted_cdf")


def _at_cutoff(
    ratings: Ratings, profiles: dict[str, Profile], chosen: Sequence[Definition]
) -> Iterator[Caution]:
    """Items that are positive by a tie: with the other option as positive they would be so too."""
    k = ratings.positive_index
    for cutoff in dict.fromkeys(d.cutoff for d in chosen if d.downstream):
        tied = {
            name: int(np.isclose(p.endorsed[:, k], cutoff).sum()) for name, p in profiles.items()
        }
        parts = [
            f"{n} of {len(profiles[name].endorsed)} by {name!r}" for name, n in tied.items() if n
        ]
        if parts:
            yield Caution.of(
                "ties-at-the-cutoff", option=ratings.positive, cutoff=cutoff, tied=parts
            )


def _stand_ins(ratings: Ratings) -> tuple[Caution, ...]:
    if ratings.fully_specified:
        return ()
    held = (ratings.endorsed.sum(axis=2) > 0).sum(axis=1)
    lacking = [
        f"{name!r} ({n} of {ratings.chosen.shape[1]})"
        for name, n in zip(ratings.sources, held, strict=True)
        if n < ratings.chosen.shape[1]
    ]
    if not lacking:
        return ()
    return (Caution.of("choices-stand-in", sources=lacking),)
