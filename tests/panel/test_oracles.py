"""Two models against code that is not theirs: enumeration, and a Gibbs sampler."""

import itertools

import numpy as np
import pytest
from arviz_stats.base import array_stats
from numpy.testing import assert_allclose
from scipy.special import expit

import bayesjudge as bj
from bayesjudge.panel import _em as em
from tests.panel.conftest import caries

Votes, DawidSkene = bj.panel.Votes, bj.panel.DawidSkene
pytestmark = pytest.mark.sampling

VOTES = Votes(
    votes=[[1, 0], [1, 0], [1, 0], [1, 1], [0, 0], [-1, 1], [1, -1], [0, 1]],
    truth=[1, 0, -1, -1, -1, 1, -1, -1],
    generator=[0, 0, 0, 0, 1, 1, 1, 1],
    generators=("x", "y"),
    judges=("a", "b"),
    count=[2, 1, 2, 1, 2, 1, 1, 1],
    calibration="random",
)
CHEAP = {"on_unused_input": "ignore", "mode": "FAST_COMPILE"}
WEIGHT, LEVEL = np.array([1.3, -0.4]), np.array([0.2, -0.5])
POINT = {
    "intercept": 0.3,
    "generator_spread": 0.5,
    "level": LEVEL,
    "vote_weight_mean": 0.6,
    "judge_spread": 0.7,
    "vote_weight": WEIGHT,
}


def chance_of(row):
    score = np.select([VOTES.votes[row] == 1, VOTES.votes[row] == 0], [0.5, -0.5], 0.0)
    return expit(LEVEL[VOTES.generator[row]] + score @ WEIGHT)


def given_point(output, **more):
    """Value of an expression of a model's unknowns."""
    from pytensor import function

    model, variable = output
    values = {name: np.asarray(v, float) for name, v in (POINT | more).items()}
    inputs = [model[name] for name in values]
    return function(inputs, variable, on_unused_input="ignore", mode="FAST_COMPILE")(
        *values.values()
    )


def test_vote_regression_is_a_binomial_of_labels_given_votes():
    import pymc as pm

    model = bj.panel.build_model(VOTES, bj.panel.VoteRegression())
    label = model["labelled_good"]
    found = given_point(
        (model, pm.logp(label, model.rvs_to_values[label])), prediction_error=np.zeros(2)
    )
    # pass and fail by x: two good and one bad; a pass by b on y: one good
    first = chance_of(int(np.flatnonzero((VOTES.truth == 1) & (VOTES.generator == 0))[0]))
    second = chance_of(int(np.flatnonzero((VOTES.truth == 1) & (VOTES.generator == 1))[0]))
    expected = np.log(3) + 2 * np.log(first) + np.log1p(-first) + np.log(second)
    assert np.sum(found) == pytest.approx(expected, rel=1e-9)


def test_share_of_vote_regression_by_listing_every_truth():
    model = bj.panel.build_model(VOTES, bj.panel.VoteRegression())
    centre, above = (
        given_point((model, model["prevalence"]), prediction_error=np.full(2, error))
        for error in (0.0, 1.0)
    )
    for g in (0, 1):
        rows = np.repeat(np.arange(8), VOTES.count)
        rows = rows[VOTES.generator[rows] == g]
        known = VOTES.truth[rows]
        open_ = rows[known < 0]
        shares, chances = [], []
        for guess in itertools.product((0, 1), repeat=len(open_)):
            p = np.array([chance_of(row) for row in open_])
            chances.append(np.prod(np.where(guess, p, 1 - p)))
            shares.append(((known == 1).sum() + sum(guess)) / len(rows))
        mean = np.dot(chances, shares)
        spread = np.sqrt(np.dot(chances, np.square(shares)) - mean**2)
        assert centre[g] == pytest.approx(mean, rel=1e-9)
        assert above[g] - centre[g] == pytest.approx(spread, rel=1e-5)


def test_bias_pooling_is_binomial_and_normal():
    from pymc.model.transform.conditioning import remove_value_transforms
    from scipy.stats import binom, norm

    # two generators: 200 items with 60 labels, and 150 items without any
    table = bj.panel.simulate(
        prevalence=(0.8, 0.6), items=100, labelled=(40, 0), missing=0.1, random_seed=1
    )
    votes = Votes.from_frame(table, calibration="random")
    level, bias = np.array([1.1, 0.4]), np.array([0.3, -0.2])
    point = {
        **{"level_mean": 0.7, "prevalence": expit(level)},
        **{"bias_mean": 0.1, "bias_spread": 0.4, "bias": bias},
    }
    model = bj.panel.build_model(votes, bj.panel.BiasPooling())
    plain = remove_value_transforms(model)
    found = {
        rv.name: float(plain.compile_logp(vars=[rv], **CHEAP)(point)) for rv in plain.observed_RVs
    }
    g, passing = expit(level), expit(level + bias)
    item, truth, generator = [], [], []
    for row, count in enumerate(votes.count):
        given = votes.votes[row][votes.votes[row] >= 0]
        if len(given):
            item += [given.mean()] * count
            truth += [votes.truth[row]] * count
            generator += [votes.generator[row]] * count
    item, truth, generator = map(np.array, (item, truth, generator))
    known = truth >= 0
    m, good = known.sum(), (truth == 1).sum()
    assert found["labelled_good"] == pytest.approx(binom.logpmf(good, m, g[0]))
    slope = item[truth == 1].mean() - item[truth == 0].mean()
    spread = [np.sqrt((item[generator == i].var() * n + 0.5) / (n + 1)) for i, n in
              enumerate(np.bincount(generator))]  # fmt: skip
    left = np.sqrt(spread[0] ** 2 - slope**2 * (good / m) * (1 - good / m))
    expected = norm.logpdf(
        item[known].mean(), passing[0] + slope * (good / m - g[0]), left / np.sqrt(m)
    )
    assert found["labelled_rate"] == pytest.approx(expected)
    expected = sum(
        norm.logpdf(
            item[~known & (generator == i)].mean(),
            passing[i],
            spread[i] / np.sqrt((~known & (generator == i)).sum()),
        )
        for i in (0, 1)
    )
    assert found["other_rate"] == pytest.approx(expected)


def gibbs(votes, draws, rng):
    """Draw from the posterior of independent judges with flat priors, truths and all."""
    passed, failed = votes.votes == 1, votes.votes == 0
    start = em.solve(em.Problem(votes)).rates
    g, s, c = start.shares[0, 1], start.confusion[:, 1, 1], start.confusion[:, 0, 0]
    kept = np.empty((draws, 1 + 2 * len(s)))
    for i in range(draws):
        good = np.log(g) + passed @ np.log(s) + failed @ np.log1p(-s)
        bad = np.log1p(-g) + passed @ np.log1p(-c) + failed @ np.log(c)
        n1 = rng.binomial(votes.count, expit(good - bad))
        n0 = votes.count - n1
        g = rng.beta(1 + n1.sum(), 1 + n0.sum())
        s = rng.beta(1 + n1 @ passed, 1 + n1 @ failed)
        c = rng.beta(1 + n0 @ failed, 1 + n0 @ passed)
        kept[i] = g, *s, *c
    return kept


@pytest.mark.study
def test_caries_by_bayes():
    # Espeland & Handelman (1989): maximum likelihood has .1997 and these rates, to three decimals
    votes = caries()
    fit = bj.panel.fit(votes, DawidSkene(), random_seed=1)
    chain = gibbs(votes, 20_000, np.random.default_rng(1))
    posterior = fit.idata["posterior"]
    names = ("prevalence", "sensitivity", "specificity")
    sampled = np.concatenate([posterior[n].to_numpy() for n in names], axis=2)
    published = [0.1997, 0.404, 0.706, 0.591, 0.485, 0.913, 0.994, 0.898, 0.987, 0.969, 0.696]
    for i, value in enumerate(published):
        draws, other = sampled[..., i], chain[None, :, i]
        error = np.hypot(
            array_stats.mcse(draws, method="mean"), array_stats.mcse(other, method="mean")
        )
        assert abs(draws.mean() - other.mean()) < 5 * error
        # a flat prior moves a mean from the mode by less than a posterior standard deviation
        assert abs(draws.mean() - value) < draws.std() + 5e-4
    assert_allclose(sampled.std(axis=(0, 1)), chain.std(axis=0), rtol=0.1)


def test_caries_likelihood_at_the_maximum():
    # log-likelihood -7410.942, with the constant of each pattern's count left out
    votes = caries()
    best = em.solve(em.Problem(votes))
    model = bj.panel.build_model(votes, DawidSkene(better_than_chance=False))
    point = {
        "prevalence": best.rates.shares[:, 1],
        "sensitivity": best.rates.confusion[:, 1, 1],
        "specificity": best.rates.confusion[:, 0, 0],
    }
    values = {}
    for rv in model.free_RVs:
        forward = model.rvs_to_transforms[rv].forward(point[rv.name], *rv.owner.inputs).eval()
        values[model.rvs_to_values[rv].name] = forward
    found = float(np.sum(model.compile_logp(vars=model.observed_RVs, mode="FAST_COMPILE")(values)))
    assert found == pytest.approx(-7410.942, abs=1e-3)
