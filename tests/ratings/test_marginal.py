"""The exact likelihood of patterns of ratings, against enumeration."""

import numpy as np
import pytest
from conftest import MODULES
from enumeration import MEMBERS, OPTIONS, emission, enumerated
from numpy.testing import assert_allclose
from scipy.special import gammaln

from bayesjudge.core import counting
from bayesjudge.ratings import KnownChoice, Ratings, ResponseSets, _marginal
from bayesjudge.ratings._marginal import patterns_of, subsampled
from bayesjudge.ratings.model import _patterns_of
from bayesjudge.ratings.response_sets import all_response_sets, choice_matrix, error_matrix

SOURCES = ("people", "gpt", "claude")
(CONTRACT,) = (one for one in MODULES if one.name == "ratings")


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(1)
    return rng.integers(0, 3, (2, 5, 2)), rng.integers(0, 2, (2, 5, 3)), rng.gamma(2, 1, (2, 3))


def log_likelihood(patterns, alpha, seen):
    """Of each pattern's ratings in one order, from weights by source and probabilities of kinds."""
    flat = seen.reshape(-1, seen.shape[-1])
    rows = patterns.group, patterns.step_start, patterns.steps
    mine = alpha[patterns.source] + patterns.certain
    p, _ = _marginal._forward(alpha.shape[1])(mine, flat, *rows)
    g = patterns.pattern_group
    first, certain = alpha[patterns.source[g]], patterns.certain[g]
    held = (gammaln(first + certain) - gammaln(first)).sum(axis=1)
    total, n = first.sum(axis=1), certain.sum(axis=1)
    return np.log(p[patterns.row]) + held - gammaln(total + n) + gammaln(total)


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_likelihood_sums_over_every_latent_response_set(small, rate):
    chosen, endorsed, alpha = small
    error = error_matrix(MEMBERS, rate, 0.5)
    choice = np.stack([choice_matrix(MEMBERS, g) for g in (0.5, -1.0)])
    seen = emission(choice, error)
    patterns = patterns_of(chosen, endorsed, error_free=np.array([rate == 0, rate == 0]))
    by_hand = [
        np.log(enumerated(row, alpha[s], seen[s]))
        for row, s in zip(patterns.counts, patterns.source[patterns.pattern_group], strict=True)
    ]
    assert_allclose(log_likelihood(patterns, alpha, seen), by_hand, rtol=1e-12)
    assert patterns.weight.sum() == 10


def test_rows_are_found_also_if_a_row_is_too_large_for_one_number(small, monkeypatch):
    error_free = np.array([False, True])
    coded = patterns_of(*small[:2], error_free=error_free)
    monkeypatch.setattr(counting, "LARGEST_KEY", 50)
    plain = patterns_of(*small[:2], error_free=error_free)
    for name in ("group", "step_start", "steps", "row"):
        assert np.array_equal(getattr(coded, name), getattr(plain, name))


def test_likelihood_of_a_fully_specified_task_is_dirichlet_multinomial():
    counts = np.array([[[4, 1, 0], [0, 2, 3]]])
    alpha = np.array([[0.7, 2.0, 1.1]])
    patterns = patterns_of(counts, 0 * counts, error_free=np.ones(1, bool))
    found = log_likelihood(patterns, alpha, np.concatenate([np.eye(3)] * 2)[None])
    n = patterns.counts[:, :3]
    expected = (gammaln(alpha + n) - gammaln(alpha)).sum(axis=1) - (
        gammaln(alpha.sum() + n.sum(axis=1)) - gammaln(alpha.sum())
    )
    assert_allclose(found, expected, rtol=1e-12)


def test_gradient_of_the_recurrence_is_its_slope(small):
    chosen, endorsed, alpha = small
    seen = emission(np.stack([choice_matrix(MEMBERS, 0.5)] * 2), np.eye(3))
    patterns = patterns_of(chosen, endorsed, error_free=np.array([False, True]))
    steps = (patterns.group, patterns.step_start, patterns.steps)
    mine, flat = alpha[patterns.source] + patterns.certain, seen.reshape(-1, 3) * 0.9 + 0.05
    rng = np.random.default_rng(2)
    toward = rng.normal(size=mine.shape), rng.normal(size=flat.shape)

    def value(step):
        p = _marginal._forward(3)(mine + step * toward[0], flat + step * toward[1], *steps)[0]
        return weight @ np.log(p)

    weight = rng.normal(size=len(patterns.group))
    p, more = _marginal._forward(3)(mine, flat, *steps)
    found = _marginal._backward(3)(mine, flat, *steps, weight, np.log(p), more)
    slope = sum((g * t).sum() for g, t in zip(found, toward, strict=True))
    assert_allclose(slope, (value(1e-5) - value(-1e-5)) / 2e-5, rtol=1e-7)


# Subsampling ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_subsampling_keeps_sets_and_says_so():
    ratings = CONTRACT.simulated(2)
    many = Ratings(ratings.chosen * 20, OPTIONS, "yes", endorsed=ratings.endorsed, sources=SOURCES)
    chosen, endorsed, kept = subsampled(
        many.chosen, many.endorsed, error_free=np.ones(3, bool), most=2_000
    )
    assert kept is not None
    assert chosen.sum(axis=-1).max() <= kept
    assert (chosen <= many.chosen).all()
    assert np.array_equal(endorsed, many.endorsed)
    assert _patterns_of(ratings, ResponseSets())[1] is None


def test_choices_without_response_sets_are_few():
    """What more of them would add is the shape of a Dirichlet; with sets, or F known, all count."""
    counts = np.random.default_rng(3).multinomial(30, [0.5, 0.5], (2, 20))
    endorsed = np.zeros((2, 20, 3), int)
    endorsed[1, :5, 2] = 1
    ratings = Ratings(counts, OPTIONS, "yes", endorsed=endorsed, sources=("people", "gpt"))

    def most(data, **options):
        patterns, kept = _patterns_of(data, ResponseSets(**options))
        n = patterns.counts[:, :2].sum(axis=1)
        source = patterns.source[patterns.pattern_group]
        return [int(n[source == s].max()) for s in (0, 1)], kept

    assert most(ratings) == ([10, 30], 10)
    assert most(ratings, choice=KnownChoice(choice_matrix(MEMBERS))) == ([30, 30], None)
    specified = Ratings(counts, OPTIONS, "yes", sets=[("yes",), ("no",)])
    assert most(specified) == ([30, 30], None)


@pytest.mark.slow
def test_the_patterns_is_bearable_for_a_thousand_items_and_five_judges():
    rng = np.random.default_rng(8)
    sets = all_response_sets("abc")
    chosen = rng.multinomial(5, [0.5, 0.3, 0.2], (6, 1000))
    endorsed = rng.multinomial(3, np.full(7, 1 / 7), (6, 1000)) * (np.arange(1000) < 200)[:, None]
    ratings = Ratings(chosen, "abc", "a", endorsed=endorsed, sets=sets)
    patterns, _ = _patterns_of(ratings, ResponseSets())
    assert len(patterns.steps) * 7 < 1_000_000


def test_as_many_ratings_are_kept_as_additions_allow(small):
    chosen, endorsed = 9 * small[0], 6 * small[1]
    exact = np.array([True, False])
    kept_all = subsampled(chosen, endorsed, error_free=exact, most=10**9)
    assert kept_all[0] is chosen
    assert kept_all[2] is None
    most = _marginal._cost(chosen, endorsed, exact) // 3
    choices, sets, kept = subsampled(chosen, endorsed, error_free=exact, most=most)
    assert _marginal._cost(choices, sets, exact) <= most
    assert (choices <= chosen).all()
    assert_allclose(sets[0], endorsed[0])  # those without error cost nothing
    given = endorsed[1].sum(axis=-1)
    assert_allclose(sets[1].sum(axis=-1), np.minimum(given, kept))
    rest = np.array([np.full_like(given, kept), np.maximum(kept - given, 0)])
    assert_allclose(choices.sum(axis=-1), np.minimum(chosen.sum(axis=-1), rest))
