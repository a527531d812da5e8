"""Answer rates: how often one answer of a judge is what a person chooses, or accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.counting import ratio
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.draws import chances_of_best
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Estimate, Quantity
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.screen import how_many
from bayesjudge.ratings.cautions import RANDOM_ITEMS, SAME_QUESTION
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.metrics import posterior_of_pairs
from bayesjudge.truth.pairs import with_ends

SOURCE = "Guerdan et al. (2025), soft ratings; Rubin (1981), Ann. Stat. 9, 130-134"
#: Draws of weights that are held at a time, times items.
CHUNK = 2_000_000
#: Cautions of hard ratings and of endorsements, on which an answer rate does not rest.
OF_OTHERS = {"no-majority", "not-identified"}


def answer_rates(
    ratings: Ratings, *, ci_prob: float = 0.95, draws: int = 4000, random_seed: Any = 0
) -> Estimate:
    """Estimate how often one answer of a judge is what a person chooses, or accepts.

    Few choices an item identify it, even one: an item counts with the share of people whose answer
    agrees with the judge's, which needs no majority and no model of choices that were not made.

    Parameters
    ----------
    ratings : Ratings
        Of people and at least one judge.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.
    draws : int, default 4000
        Of the Bayesian bootstrap over items.
    random_seed : int or numpy.random.Generator, default 0
        Same seed, same intervals.

    Returns
    -------
    Estimate
        By source ``matched``, how often a person chooses what the judge chose, if people chose; and
        ``accepted``, how often a person's response set holds it, if people gave response sets on
        half of the items or more. Of ``people``, how often they match or accept each other. And
        ``best`` by rate and judge, the probability that no judge has a higher one.

    Raises
    ------
    InputError
        If there is no judge, fewer than two items were rated by all sources, or a setting is out of
        range.

    References
    ----------
    Rubin (1981), Ann. Stat. 9, 130-134.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": [1, 1, 1, 2, 2, 2], "rater": ["ann", "bob", "gpt"] * 2,
    ...                       "choice": ["yes", "no", "yes", "no", "no", "no"]})
    >>> ratings = Ratings.from_frame(table, positive="yes", judges=["gpt"])
    >>> answer_rates(ratings)["matched", "gpt"].value
    0.75
    """
    check_ci_prob(ci_prob)
    with checking("answer_rates") as require:
        require(ratings.judges, "there is no judge among the sources")
        require(draws >= 1, "must be 1 or more", draws=draws)
    by_rate = {name: values for name, values in _by_item(ratings).items() if len(values) >= 2}
    n = int(ratings.rated.all(axis=0).sum())
    problem = f"{how_many(n, 'item', 'were')} rated by all sources; need two"
    expect("answer_rates", bool(by_rate), problem)
    seed = rng_of(random_seed).integers(2**63)
    rates: dict[str, dict[str, tuple[float, float, float]]] = {}
    best: dict[tuple[str, str], float] = {}
    for name, values in by_rate.items():
        drawn = _bootstrap(values, draws, np.random.default_rng(seed))
        apart = [*drawn.T] if name == "accepted" else [drawn[:, 0], *_agreeing(ratings)]
        rates[name] = _rows(ratings, values, apart, ci_prob)
        best |= {
            (name, judge): chance
            for judge, chance in zip(ratings.judges, chances_of_best(drawn[:, 1:]), strict=True)
        }
    cautions = tuple(c for c in cautions_of(ratings) if c.id not in OF_OTHERS)
    quantities = {name: Quantity.of_rows(rows, ("source",)) for name, rows in rates.items()}
    return Estimate(
        {**quantities, "best": Quantity.of_rows(best, ("rate", "judge"))},
        method=methods.ANSWER_RATES,
        ci_prob=ci_prob,
        source=SOURCE,
        interval="equal-tailed",
        assumptions=contradicted((RANDOM_ITEMS, SAME_QUESTION), cautions),
        cautions=cautions,
        data=ratings,
    )


def _by_item(ratings: Ratings) -> dict[str, np.ndarray]:
    """Rates of each item, shape (n_items, sources), people first: ``nan`` if only one is there."""
    judged = ratings.rated.all(axis=0)
    said = np.stack([ratings.profile(judge).chosen for judge in ratings.judges], axis=1)
    chosen = ratings.chosen[0]
    parts_of = {"matched": (said, chosen, chosen.sum(axis=1), _matched_pairs(ratings))}
    sets = ratings.endorsed[0].sum(axis=1)
    if 2 * (judged & (sets > 0)).sum() >= judged.sum():
        accepting = ratings.endorsed[0] @ ratings.members.T
        parts_of["accepted"] = (said, accepting, sets, _accepted_pairs(ratings, accepting, sets))
    by_rate = {}
    for name, (answers, agreeing, n, people) in parts_of.items():
        here = judged & (n > 0)
        share = agreeing[here] / n[here, None]
        judges = np.einsum("ijk,ik->ij", answers[here], share)
        by_rate[name] = np.column_stack([people[here], judges])
    return by_rate


def _agreeing(ratings: Ratings) -> Iterator[np.ndarray]:
    """Draws of how often a person chooses what each judge chose, as a judge's accuracy is drawn."""
    here = ratings.rated.all(axis=0) & (ratings.chosen[0].sum(axis=1) > 0)
    people = ratings.chosen[0][here] / ratings.chosen[0][here].sum(axis=1, keepdims=True)
    for judge in ratings.judges:
        said = ratings.profile(judge).chosen[here]
        yield posterior_of_pairs(said, people, ratings.positive_index)["accuracy"]


def _matched_pairs(ratings: Ratings) -> np.ndarray:
    chosen = ratings.chosen[0]
    n = chosen.sum(axis=1)
    return ratio((chosen * (chosen - 1)).sum(axis=1), n * (n - 1))


def _accepted_pairs(ratings: Ratings, accepting: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Of pairs of two people: a choice of one, and whether the other accepts it."""
    if ratings.stray:  # whose choice belongs to which set is known in total only
        return np.full(len(sets), np.nan)
    with_themselves = ratings.paired_chosen[0].sum(axis=1)
    pairs = ratings.chosen[0].sum(axis=1) * sets - with_themselves
    return ratio((ratings.chosen[0] * accepting).sum(axis=1) - with_themselves, pairs)


def _bootstrap(values: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draws of the means of columns: weights of items, and of an imaginary one from Beta(1/2, 1/2).

    Items with the same values share a weight, so that time does not grow with the table.
    """
    patterns, counts = np.unique(values, axis=0, return_counts=True)
    there = np.isfinite(patterns)
    filled = np.where(there, patterns, 0.0)
    parts = []
    size = max(1, CHUNK // len(patterns))
    for begin in range(0, draws, size):
        n = min(size, draws - begin)
        weight = rng.standard_gamma(counts, size=(n, len(patterns)))
        prior = rng.standard_gamma(1.0, size=(n, 1))
        imagined = rng.beta(0.5, 0.5, size=(n, values.shape[1]))
        parts.append((weight @ filled + prior * imagined) / (weight @ there + prior))
    return np.concatenate(parts)


def _rows(
    ratings: Ratings, values: np.ndarray, draws: Sequence[np.ndarray], ci_prob: float
) -> dict[str, tuple[float, float, float]]:
    """Mean and interval of each source that has any; values and draws have people's first."""
    rows = {}
    for name, value, drawn in zip(ratings.sources, values.T, draws, strict=True):
        if np.isfinite(value).any():
            rows[name] = with_ends(float(np.nanmean(value)), drawn, ci_prob)
    return {name: rows[name] for name in (*ratings.judges, PEOPLE) if name in rows}
