"""The alternative annotator test: does a judge stand in for people as well as one of them does?"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of, contradicted
from bayesjudge.core.draws import around, chances_of_best
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import wilson_by_units
from bayesjudge.core.randomness import rng_of
from bayesjudge.ratings.cautions import RANDOM_ITEMS, SAME_QUESTION
from bayesjudge.ratings.data import Ratings

SOURCE = "Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge"
INDEPENDENT_ANNOTATORS = Assumption.of("separate-annotators")
#: The article's q, of how many annotators that count as won may not be.
FALSE_DISCOVERY = 0.05
#: With fewer annotators than this there is no consensus for one to be compared with.
FEW = 3
#: Numbers held at once.
CHUNK = 8_000_000

Scores = Literal["nominal", "numeric"]


def alt_test(
    ratings: Ratings,
    *,
    epsilon: float,
    scores: Scores = "nominal",
    min_items: int = 30,
    ci_prob: float = 0.95,
) -> Estimate:
    r"""Test, annotator by annotator, whether a judge represents the others as well: as published.

    One annotator is left out at a time. On each of its items, whoever of the annotator and the
    judge agrees more with the remaining annotators wins, or both do. The judge wins against the
    annotator if the share of items that the annotator wins exceeds that of the judge by less than
    `epsilon`, by a one-sided t test, the false discovery rate over annotators held at 0.05
    (Benjamini & Yekutieli). It passes if it wins against half of them. Items that fewer than two
    annotators rated are left out.

    Parameters
    ----------
    ratings : Ratings
        With ``annotations``, which `Ratings.from_frame` fills in, and at least one judge. Of a
        judge that answered an item several times the mean agreement counts.
    epsilon : float
        What the judge's lower cost is worth, as a difference of shares. The article suggests 0.2
        for experts, 0.15 for skilled annotators and 0.1 for crowd workers.
    scores : {"nominal", "numeric"}
        Agreement with the others: the share of them with the same answer, or minus the
        root-mean-square distance, for which every option must be a number.
    min_items : int, default 30
        Annotators with fewer items are left out, with a caution.
    ci_prob : float, default 0.95
        Coverage that the intervals of the advantages aim at.

    Returns
    -------
    Estimate
        By judge: ``winning_rate``, the share of annotators that it wins against (a number without
        an interval: see `alt_test_posterior`), and ``advantage_probability``, the probability that
        it does as well as an annotator or better, averaged over them, with Wilson's interval for
        as many independent items as give its standard error. By judge and annotator:
        ``advantage`` and ``p_value``.

    Raises
    ------
    InputError
        If there are no annotators, judges or items to compare, options are no numbers, or an
        argument is out of its range.

    References
    ----------
    Calderon, Reichart & Dror (2025), ACL, 16051-16081. Benjamini & Yekutieli (2001), Ann. Stat. 29.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(i, who, "yes" if i % 3 else "no") for i in range(40) for who in ("a", "b", "gpt")]
    >>> rows += [(i, "c", "yes" if i % 4 else "no") for i in range(40)]
    >>> table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    >>> found = alt_test(Ratings.from_frame(table, positive="yes", judges=["gpt"]), epsilon=0.1)
    >>> found["winning_rate", "gpt"].value, round(found["advantage_probability", "gpt"].value, 3)
    (1.0, 1.0)
    """
    check_ci_prob(ci_prob)
    duels = _duels(ratings, epsilon, scores, min_items)
    rows: dict[str, Any] = {
        name: {} for name in ("winning_rate", "advantage_probability", "advantage", "p_value")
    }
    for judge, duel in duels.items():
        p = duel.p_values(epsilon)
        rows["winning_rate"][(judge,)] = _rejected(p).mean()
        rows["advantage_probability"][(judge,)] = duel.advantage(ci_prob)
        for name, share, chance in zip(duel.names, duel.shares(), p, strict=True):
            rows["advantage"][judge, name], rows["p_value"][judge, name] = share, chance
    return _estimate(
        ratings,
        duels,
        rows,
        method=methods.ALT_TEST,
        ci_prob=ci_prob,
        interval="Wilson by item",
        min_items=min_items,
    )


def alt_test_posterior(
    ratings: Ratings,
    *,
    epsilon: float,
    scores: Scores = "nominal",
    min_items: int = 1,
    ci_prob: float = 0.95,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = 0,
) -> Estimate:
    r"""Posterior of the alternative annotator test: how sure, and which judge is better.

    Items are drawn from a population of unknown shares, with a Dirichlet process prior of total
    mass 1 that is spread evenly over the three outcomes of a comparison, the same for every
    annotator. The posterior of one annotator's shares is then a Dirichlet with a third added to
    each count, and annotators and judges who share items are as dependent as the items make them
    (Rubin's Bayesian bootstrap).

    Parameters
    ----------
    ratings : Ratings
        As in `alt_test`.
    epsilon : float
        The same.
    scores : {"nominal", "numeric"}
        The same.
    min_items : int, default 1
        Annotators with fewer items are left out, with a caution; the prior keeps those with few
        from deciding.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals.
    draws : int, default 4000
        Posterior draws.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.

    Returns
    -------
    Estimate
        By judge: ``winning_rate``, the share of annotators whose advantage over the judge is below
        `epsilon`; ``passes``, the probability that this is half of them or more;
        ``advantage_probability``; and ``best``, the probability that no judge has a greater one.

    Raises
    ------
    InputError
        If there are no annotators, judges or items to compare, options are no numbers, or an
        argument is out of its range.

    References
    ----------
    Calderon, Reichart & Dror (2025), ACL, 16051-16081. Rubin (1981), Ann. Stat. 9, 130-134.
    """
    check_ci_prob(ci_prob)
    duels = _duels(ratings, epsilon, scores, min_items)
    expect("alt_test_posterior", draws >= 1, "must be 1 or more", draws=draws)
    seed = rng_of(random_seed).integers(2**63)
    rate: dict[str, np.ndarray] = {}
    advantage: dict[str, np.ndarray] = {}
    for judge, duel in duels.items():  # the same weights of items for every judge
        judge_wins, person_wins = duel.posterior(draws, np.random.default_rng(seed))
        rate[judge] = (person_wins - judge_wins < epsilon).mean(axis=1)
        advantage[judge] = (1 - person_wins).mean(axis=1)

    def summary(drawn: dict[str, np.ndarray]) -> dict[Any, Any]:
        # few values: many draws alike
        return {(judge,): around(float(x.mean()), x, ci_prob) for judge, x in drawn.items()}

    best = chances_of_best(np.column_stack(list(advantage.values())))
    rows = {
        "winning_rate": summary(rate),
        "passes": {(judge,): (x >= 0.5).mean() for judge, x in rate.items()},
        "advantage_probability": summary(advantage),
        "best": {(judge,): x for judge, x in zip(duels, best, strict=True)},
    }
    return _estimate(
        ratings,
        duels,
        rows,
        method=methods.ALT_POSTERIOR,
        ci_prob=ci_prob,
        interval="equal-tailed",
        min_items=min_items,
    )


def _estimate(
    ratings: Ratings,
    duels: dict[str, _Duels],
    by_quantity: dict[str, Any],
    *,
    min_items: int,
    **about: Any,
) -> Estimate:
    cautions = (*cautions_of(ratings), *_few(duels, min_items))
    dims = {
        name: ("judge", "annotator")[: len(next(iter(rows)))] for name, rows in by_quantity.items()
    }
    assumed = (RANDOM_ITEMS, SAME_QUESTION, INDEPENDENT_ANNOTATORS)
    return Estimate(
        {name: Quantity.of_rows(rows, dims[name]) for name, rows in by_quantity.items()},
        source=SOURCE,
        assumptions=contradicted(assumed, cautions),
        cautions=cautions,
        data=ratings,
        **about,
    )


def _few(duels: dict[str, _Duels], min_items: int) -> list[Caution]:
    duel = next(iter(duels.values()))
    cautions = []
    if duel.left_out:
        few = "no item" if min_items == 1 else f"fewer than {min_items} items"
        cautions.append(Caution.of("few-items", left_out=duel.left_out, few=few))
    if len(duel.names) < FEW:
        cautions.append(Caution.of("few-annotators", annotators=len(duel.names)))
    return cautions


# Comparisons -------------------------------------------------------------------------------------


class _Duels(NamedTuple):
    """A judge against each annotator, one row per annotator and item, sorted by annotator.

    `outcome` is 1 if only the annotator wins, -1 if only the judge does, 0 if both do; `starts` are
    where an annotator's rows begin and `n` how many there are.
    """

    names: list[str]
    item: np.ndarray
    outcome: np.ndarray
    starts: np.ndarray
    n: np.ndarray
    left_out: int

    def shares(self) -> np.ndarray:
        """How often the judge does as well as each annotator, or better."""
        return 1 - np.add.reduceat(self.outcome > 0, self.starts) / self.n

    def p_values(self, epsilon: float) -> np.ndarray:
        """One-sided t tests of a mean outcome of `epsilon` or more."""
        mean = np.add.reduceat(self.outcome.astype(float), self.starts) / self.n
        off = self.outcome - np.repeat(mean, self.n)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(np.add.reduceat(off**2, self.starts) / (self.n - 1) / self.n)
            return stdtr(self.n - 1.0, (mean - epsilon) / error)

    def advantage(self, ci_prob: float) -> tuple[float, float, float]:
        """Mean share over annotators, with Wilson's interval for so many independent items as have
        its standard error: items are what was drawn, and a judge that errs on few is common.
        """
        shares = self.shares()
        mean = float(shares.mean())
        off = (self.outcome <= 0) - np.repeat(shares, self.n)
        per = off / np.repeat(self.n * len(self.n), self.n)
        by_item = np.bincount(self.item, weights=per)[np.unique(self.item)]
        items = len(by_item)
        if items < 2:
            return mean, np.nan, np.nan
        variance = float((by_item**2).sum()) * items / (items - 1)
        n = mean * (1 - mean) / variance if variance > 0 else items
        return wilson_by_units(mean, n, items, ci_prob)

    def posterior(self, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draws (draw, annotator) of the shares of items that only the judge, or only the
        annotator, wins.
        """
        parts = []
        size = max(1, CHUNK // max(len(self.item), int(self.item.max()) + 1))
        for begin in range(0, draws, size):
            count = min(size, draws - begin)
            # of all items, in the same order whoever rated them
            weight = rng.exponential(size=(count, int(self.item.max()) + 1))[:, self.item]
            # an imaginary item, on which every comparison ends alike
            prior = rng.exponential(size=(count, 1))
            split = rng.dirichlet([1 / 3] * 3, size=(count, 1))
            total = np.add.reduceat(weight, self.starts, axis=1) + prior
            won = [
                np.add.reduceat(weight * (self.outcome == side), self.starts, axis=1)
                + prior * split[..., place]
                for place, side in enumerate((-1, 1))
            ]
            parts.append(np.stack(won) / total)
        return tuple(np.concatenate(parts, axis=1))


def _duels(ratings: Ratings, epsilon: float, scores: Scores, min_items: int) -> dict[str, _Duels]:
    """Compare every judge with every annotator."""
    with checking("alt_test") as require:
        require(scores in ("nominal", "numeric"), f"scores={scores!r}: nominal or numeric")
        require(0 <= epsilon < 1, "must lie in [0, 1)", epsilon=epsilon)
        require(min_items >= 1, "must be 1 or more", min_items=min_items)
        require(ratings.judges, "there is no judge among the sources")
        require(len(ratings.annotators) > 1, "too-few-annotators")
    distance = _distances(ratings.options, scores)
    return {
        judge: _against(ratings, ratings.source(judge), distance, min_items)
        for judge in ratings.judges
    }


def _distances(options: Any, scores: Scores) -> np.ndarray:
    """Squared distance of each pair of options: 0 or 1 if they are names."""
    if scores == "nominal":
        return 1.0 - np.eye(len(options))
    try:
        values = np.array([float(option) for option in options])
    except ValueError:
        values = np.array([np.nan])
    problem = f"scores='numeric' needs numbers, options are {options}"
    expect("alt_test", np.isfinite(values).all(), problem)
    return (values[:, None] - values) ** 2


def _against(ratings: Ratings, source: int, distance: np.ndarray, min_items: int) -> _Duels:
    item, who, said = ratings.annotations.T
    shape = ratings.chosen.shape[1:]
    people = np.zeros(shape)
    np.add.at(people, (item, said), 1)
    judge = ratings.chosen[source]
    there = (people.sum(axis=1) >= 2) & (judge.sum(axis=1) > 0)
    item, who, said = (x[there[item]] for x in (item, who, said))
    often = np.bincount(who, minlength=len(ratings.annotators))
    kept = (often >= min_items)[who]
    order = np.argsort(who[kept], kind="stable")
    item, who, said = (x[kept][order] for x in (item, who, said))
    expect("alt_test", len(who) > 0, "too-few-items", n=min_items, sources=ratings.sources[source])
    others = people[item]
    others[np.arange(len(item)), said] -= 1
    # root-mean-square distance of every possible answer from the others'; for names, their squares
    off = others @ distance / others.sum(axis=1, keepdims=True)
    off = off if np.isin(distance, (0, 1)).all() else np.sqrt(off)
    share = judge[item] / judge[item].sum(axis=1, keepdims=True)
    person, machine = off[np.arange(len(item)), said], (off * share).sum(axis=1)
    outcome = np.where(np.abs(person - machine) < 1e-9, 0, np.sign(machine - person)).astype(int)
    names, starts, n = np.unique(who, return_index=True, return_counts=True)
    labels = [ratings.annotators[j] for j in names]
    return _Duels(labels, item, outcome, starts, n, int((often < min_items).sum()))


def _rejected(p: np.ndarray) -> np.ndarray:
    """Hypotheses that the procedure of Benjamini & Yekutieli rejects."""
    from scipy.stats import false_discovery_control

    # of one item a test has no p-value
    return false_discovery_control(np.nan_to_num(p, nan=1.0), method="by") <= FALSE_DISCOVERY
