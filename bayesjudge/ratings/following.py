"""How far each judge follows people item by item, and both sides' items drawn together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.ratings.aggregation import Profile
from bayesjudge.ratings.coupling import Pair, couple
from bayesjudge.ratings.items import concentrations, matrices, profile_of, taken_from


class Tie(NamedTuple):
    """What a pair says of the judge, without its items."""

    following: np.ndarray
    constancy: np.ndarray
    met: bool


#: Ties that were drawn already, by fit and then by (draws, seed): a large task takes minutes.
_DRAWN: WeakKeyDictionary[Fit, dict[tuple[int, int], list[Tie]]] = WeakKeyDictionary()


def pairs(fit: Fit, *, draws: int, random_seed: Any) -> Iterator[tuple[Pair, Profile, Profile]]:
    """Draw people and each judge together, one judge after the other.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`, of people and at least one judge.
    draws : int
        Draws of the fit to use.
    random_seed : int or numpy.random.Generator
        Same seed, same draws; a judge's are the same whoever else is among the sources.

    Yields
    ------
    Pair, Profile, Profile
        The draws; the judge's answers and people's, arrays of shape (draws, n_items, K).

    Raises
    ------
    InputError
        Where there is no judge, or more draws are asked for than the fit has.
    """
    with checking("following") as require:
        require(fit.data.judges, "there is no judge among the sources")
    taken = taken_from(fit, draws)
    alpha, (choice, error) = concentrations(fit, taken), matrices(fit, taken)
    seeds = np.random.default_rng(random_seed).integers(2**63)
    ties = []
    for judge in range(1, len(fit.data.sources)):
        rng = np.random.default_rng(seeds)
        pair = couple(fit.data, judge, fit.priors, alpha, choice, error, rng)
        ties.append(Tie(pair.following, pair.constancy, pair.met))
        answers = profile_of(fit.data, judge, pair.judge, choice, error)
        yield pair, answers, profile_of(fit.data, 0, pair.people, choice, error)
    if isinstance(random_seed, int):
        _DRAWN.setdefault(fit, {})[draws, random_seed] = ties


def _ties(fit: Fit, draws: int, random_seed: Any) -> list[Tie]:
    """Ties of every judge, from `pairs` unless it has drawn them before."""
    if isinstance(random_seed, int) and (draws, random_seed) in _DRAWN.get(fit, {}):
        return _DRAWN[fit][draws, random_seed]
    made = pairs(fit, draws=draws, random_seed=random_seed)
    return [Tie(pair.following, pair.constancy, pair.met) for pair, *_ in made]


def following(
    fit: Fit, *, ci_prob: float = 0.95, draws: int = 400, random_seed: Any = 0
) -> Estimate:
    """Estimate how far each judge follows people on each item.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.ratings.fit`, of people and at least one judge.
    ci_prob : float, default 0.95
        Probability that an interval should hold.
    draws : int, default 400
        Draws of the fit to use.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same draws.

    Returns
    -------
    Estimate
        Rows ``following[gpt]``: the share of a judge's expected answers to an item that is
        people's of this item, 0 for a judge that ignores the item and 1 for one that on average
        answers as people do; and ``constancy[gpt]``, how many ratings its expectation is worth
        where it does not answer as one of the people would: low for a judge that repeats itself.

    Raises
    ------
    InputError
        Where there is no judge, a setting is out of range, or more draws are asked for than the
        fit has.
    """
    tail = (1 - check_ci_prob(ci_prob)) / 2
    rows, apart = {}, []
    ties = _ties(fit, draws, random_seed)
    for judge, tie in zip(fit.data.judges, ties, strict=True):
        for name, drawn in (("following", tie.following), ("constancy", tie.constancy)):
            ends = np.quantile(drawn, [tail, 1 - tail])
            rows[f"{name}[{judge}]"] = (float(drawn.mean()), *map(float, ends))
        if not tie.met:
            apart.append(judge)
    return Estimate.from_rows(
        rows,
        method=fit.method,
        ci_prob=ci_prob,
        source=fit.source,
        interval="equal-tailed",
        assumptions=fit.assumptions,
        cautions=(*fit.cautions, *not_met(apart)),
    )


def not_met(judges: list[str]) -> tuple[Caution, ...]:
    """Say whose chains did not meet.

    Parameters
    ----------
    judges : list of str
        Names.

    Returns
    -------
    tuple of Caution
        One, or none where all met.
    """
    if not judges:
        return ()
    return (
        Caution(
            "not-met",
            f"chains of {', '.join(judges)} begun far from people and close to them still differ: "
            "how far these judges follow people is not known to the precision shown",
        ),
    )
