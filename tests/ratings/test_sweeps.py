"""The steps of a judge's Gibbs sampler, run by Python, against sums by hand."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln

from bayesjudge.ratings import _sweeps

U, W, KAPPA = 0.3, 0.6, 2.5
THETA, RHO = np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.6, 0.3])
CENTRE, SPREAD = np.log(8.0), 1.5
X = np.array([np.log(U / (1 - U)), np.log(W / (1 - W)), np.log(KAPPA)])
#: Ratings of two items, by response set; of the second all are of one.
M = np.array([[2, 0, 3], [0, 2, 0]])


def by_hand(m, u, w, kappa):
    """Probability of each way in which some of an item's ratings are the judge's own."""
    sets = np.repeat(np.arange(3), m)
    size = kappa * (w * THETA + (1 - w) * RHO)
    found = {}
    for own in itertools.product([False, True], repeat=len(sets)):
        mine = np.array(own)
        n = np.bincount(sets[mine], minlength=3)
        urn = (gammaln(size + n) - gammaln(size)).sum() - gammaln(kappa + n.sum()) + gammaln(kappa)
        copied = np.prod(u * THETA[sets[~mine]])
        way = tuple(n.tolist())
        found[way] = found.get(way, 0.0) + copied * (1 - u) ** n.sum() * np.exp(urn)
    return found


def log_prior(x):
    """Beta(1/2, 3/2) of u and Beta(1/2, 1) of w, by their log odds; kappa is log-normal."""
    u, w = 1 / (1 + np.exp(-x[:2]))
    odds = 0.5 * np.log(u) + 1.5 * np.log(1 - u) + 0.5 * np.log(w) + np.log(1 - w)
    return odds - 0.5 * ((x[2] - CENTRE) / SPREAD) ** 2


def test_items_count_by_which_ratings_are_copies():
    """What `by_hand` adds up for one way: as many times as there are ratings to choose."""
    own = np.array([[1, 0, 2], [0, 2, 0]])
    ways = [2 * 3, 1]
    items = [
        np.log(by_hand(m, U, W, KAPPA)[tuple(n.tolist())] / times) - np.log(THETA ** (m - n)).sum()
        for m, n, times in zip(M, own, ways, strict=True)
    ]
    density = _sweeps._log_density(M, own, np.tile(THETA, (2, 1)), RHO, X, CENTRE, SPREAD)
    assert_allclose(density, log_prior(X) + sum(items), rtol=1e-12)


def test_a_set_is_picked_as_often_as_it_weighs():
    rng, n, weights = np.random.default_rng(5), 4_000, np.array([0.2, 0.5, 2.3])
    picked = [_sweeps._pick(rng, weights.cumsum(), weights.size) for _ in range(n)]
    chance = weights / weights.sum()
    share = np.bincount(picked, minlength=weights.size) / n
    assert_allclose(share, chance, atol=4 * np.sqrt(chance * (1 - chance) / n).min())


def test_new_ratings_are_counted_by_where_they_come_from():
    rng, n, own, v = np.random.default_rng(6), 4_000, 3, 1
    held, besides = np.zeros(3), np.zeros(3, int)
    for _ in range(n):
        _sweeps._draw_new(rng, own, v, THETA, RHO, W, KAPPA, held, besides)
    size = KAPPA * (W * THETA[v] + (1 - W) * RHO[v])
    chance = size / (size + np.arange(own))
    error = np.sqrt((chance * (1 - chance)).sum() / n)
    assert abs((held[v] + besides[v]) / n - chance.sum()) < 4 * error
    new, from_people = held[v] + besides[v], KAPPA * W * THETA[v] / size
    assert abs(held[v] / new - from_people) < 4 * np.sqrt(from_people * (1 - from_people) / new)
    assert held.sum() + besides.sum() == new


@pytest.mark.parametrize("chains", [2, 40])
def test_steps_go_either_way_with_the_same_probability(chains):
    """Of one chain among others whose places are not symmetric around its own."""
    rng, n = np.random.default_rng(7), 3_000
    unknowns, new = np.random.default_rng(8).gamma(1.0, 1.0, (chains, 3)), np.empty(3)
    steps = np.empty((n, 3))
    for i in range(n):
        _sweeps._propose(rng, unknowns, 1, new)
        steps[i] = new - unknowns[1]
    assert np.all(np.abs((steps > 0).mean(axis=0) - 0.5) < 4 * 0.5 / np.sqrt(n))
    assert np.all(np.abs(steps.mean(axis=0)) < 4 * steps.std(axis=0) / np.sqrt(n))


def test_ratings_are_listed_with_the_sets_that_may_be_behind_them():
    counts, certain = np.array([[1, 2], [0, 0]]), np.array([[0, 0, 1], [0, 2, 0]])
    seen = np.array([[[0.9, 0.0, 0.4], [0.1, 1.0, 0.6]]])
    side = _sweeps.side_of(certain, counts, seen)
    assert side.start.tolist() == [0, 4, 6]
    assert side.kind.tolist() == [0, 1, 1, 4, 3, 3]
    behind = [side.behind[a:b].tolist() for a, b in itertools.pairwise(side.behind_start)]
    assert behind == [[0, 2], [0, 1, 2], [0], [1], [2]]
    assert side.chance.tolist() == [[0.9, 0.4, 0.1, 1.0, 0.6, 1.0, 1.0, 1.0]]


@pytest.mark.parametrize("rates", [False, True])
def test_without_ratings_of_a_judge_a_sweep_draws_from_priors(rates):
    """Shares of each item given its people's ratings, rho by its weights, kappa within reach."""
    chains, share, spread = 400, np.array([3.0, 1.0, 4.0]), 1e-3
    rng, none = np.random.default_rng(9), np.zeros((2, 3), int)
    counts = np.array([[4, 0, 1], [0, 2, 0]])
    seen = np.zeros((chains, 0, 3))
    people = _sweeps.side_of(counts, np.zeros((2, 0), int), seen)
    judge = _sweeps.side_of(counts * rates, np.zeros((2, 0), int), seen)
    alpha = np.tile([1.0, 2.0, 0.5], (chains, 1))
    start = rng.dirichlet(np.ones(3), (chains, 2))
    unknowns = np.tile([30.0 * rates, 0.0, CENTRE], (chains, 1))  # u of 1: all ratings are copies
    pairs = _sweeps.Pairs(start, start.copy(), start[:, 0].copy(), unknowns,
                          np.zeros((chains, *none.shape), int))  # fmt: skip
    if rates:
        unknowns[:, 0] = _sweeps.MOST_LOG_ODDS
    _sweeps._pairs(rng, alpha, people, judge, pairs, share, CENTRE, spread)

    def mean_and_spread(drawn, weights):
        mean = weights / weights.sum()
        variance = mean * (1 - mean) / (weights.sum() + 1)
        assert np.all(np.abs(drawn.mean(axis=0) - mean) < 4 * np.sqrt(variance / chains))
        assert_allclose(drawn.var(axis=0), variance, rtol=0.35)

    mean_and_spread(pairs.rho, share)
    for item, seen_here in enumerate(counts):
        mean_and_spread(pairs.theta[:, item], alpha[0] + (1 + rates) * seen_here)
    assert np.all(np.abs(unknowns[:, 2] - CENTRE) <= _sweeps.FARTHEST * spread)
    if not rates:
        assert np.unique(unknowns[:, 0]).size > chains / 5
