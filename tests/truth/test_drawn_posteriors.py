"""Posteriors of weighed points: densities by hand, slopes by differences, means on a grid."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit, logsumexp
from scipy.stats import beta, binom, halfnorm, norm

import bayesjudge as bj
from bayesjudge.truth.hierarchy import PooledPosterior
from bayesjudge.truth.importance import BetaPosterior

SEED = 12


@pytest.fixture
def rng():
    """Draws of a test, whichever ran before it."""
    return np.random.default_rng(SEED)


#: By group, successes and failures of share, sensitivity, specificity and pass rate: unequal sizes.
CELLS = np.array(
    [
        [[7, 4], [6, 1], [3, 1], [33, 20]],
        [[2, 6], [2, 0], [4, 2], [11, 30]],
        [[9, 1], [7, 2], [1, 0], [5, 2]],
    ],
    float,
)
PRIORS = np.array([[2, 1], [3, 2], [4, 3]], float)


def differences(density, at, step=1e-5):
    """Slopes of a function of rows, at one row."""
    moves = step * np.eye(at.size)
    return (density(at + moves) - density(at - moves)) / (2 * step)


# Groups about typical rates ----------------------------------------------------------------------


def of_group(rates, cells):
    """Log-likelihood of a group, by scipy."""
    share, hit, caught = rates
    chances = [*rates, share * hit + (1 - share) * (1 - caught)]
    return sum(binom.logpmf(y, y + n, p) for p, (y, n) in zip(chances, cells, strict=True))


@pytest.mark.parametrize("pools", [True, False])
def test_a_group_has_its_likelihood_and_is_pulled_to_the_typical_rates(pools, rng):
    known = PooledPosterior(CELLS, PRIORS, 0.8, pools, True)
    points = rng.normal(0.4, 0.7, (5, 3, 3))
    steps = rng.normal(size=(5, 3, 3))
    found = known._log_group(points, steps, CELLS)
    pulled = norm.logpdf(steps[..., 0 if pools else 1 :]).sum(axis=-1)
    expected = pulled + [
        [of_group(expit(x), cells) for x, cells in zip(row, CELLS, strict=True)] for row in points
    ]
    assert_allclose(found - found[0], expected - expected[0], atol=1e-9)
    slopes, bends = known._slopes(points[:1])
    for i, cells in enumerate(CELLS):
        by_hand = differences(
            lambda rows, cells=cells: np.array([of_group(expit(x), cells) for x in rows]),
            points[0, i],
        )
        assert_allclose(slopes[0, i], by_hand, rtol=1e-5)
        assert (np.linalg.eigvalsh(bends[0, i]) > 0).all()


@pytest.mark.parametrize("pools", [True, False])
def test_a_spread_is_half_normal_and_a_mode_has_hardly_a_slope(pools, rng):
    known, size = PooledPosterior(CELLS, PRIORS, 0.8, pools, True), 3 if pools else 2
    outer = np.hstack([rng.normal(0.5, 0.3, (200, size)), rng.normal(size=(200, size))])
    centre, spread = known._population(outer)
    spreads = halfnorm.ppf(norm.cdf(outer[:, size:]), scale=0.8)
    assert_allclose(spread[:, 0, 3 - size :], spreads, rtol=1e-9)
    assert_allclose(centre[:, 0, 3 - size :], outer[:, :size])
    assert_allclose(known._spreads(outer), spreads, rtol=1e-9)
    steps, root = known._modes(centre, spread, known._alone)
    slope, bend = known._slopes(centre + spread * steps)
    pulled = steps * (np.arange(3) >= 3 - size)
    gap = np.abs(slope * spread - pulled).max(axis=(1, 2))
    # points are drawn about it: near will do. Of 4,000 such draws .04 and .11 are not that near
    assert np.mean(gap > 0.05) < 0.2
    precision = bend * spread[..., None] * spread[..., None, :]
    precision += np.diag(np.arange(3) >= 3 - size)
    assert_allclose(root @ np.swapaxes(root, -1, -2) @ precision, np.eye(3) + 0 * bend, atol=1e-6)


@pytest.mark.slow
def test_typical_rates_have_the_density_of_their_prior_and_of_integrated_groups():
    """Three groups of which only rates are pooled, each integrated on a grid of midpoints."""
    known = PooledPosterior(CELLS, PRIORS, 0.8, False, True)
    outer = np.array([[1.2, 0.9, 0.1, -0.4], [0.6, 1.4, -0.8, 0.5], [1.6, 0.3, 0.6, 0.2]])
    middle = (np.arange(40) + 0.5) / 40
    expected = []
    for x, y, *normal in outer:
        rates = [expit(c + s * norm.ppf(middle)) for c, s in
                 zip((x, y), halfnorm.ppf(norm.cdf(normal), scale=0.8), strict=True)]  # fmt: skip
        share, hit, caught = np.meshgrid(middle, *rates, indexing="ij")
        # the cells of a share hold its prior, in logits
        weight = np.log(share) + np.log1p(-share)
        total = sum(
            logsumexp(of_group((share, hit, caught), cells) - weight) for cells in CELLS
        )  # flat in the share's logit, of which the grid is not
        total += norm.logpdf(normal).sum()
        for value, prior in zip((x, y), PRIORS[1:], strict=True):
            total += beta.logpdf(expit(value), *prior) + np.log(expit(value) * expit(-value))
        expected.append(total)
    found = known.log_density(outer)
    assert_allclose(found - found[0], np.subtract(expected, expected[0]), atol=0.05)


# Shares and judges without a population ----------------------------------------------------------


@pytest.fixture(scope="module")
def votes():
    """Two judges' verdicts on outputs of two systems, a third of which people labelled."""
    n, rng = 90, np.random.default_rng(SEED)
    good, system = rng.random(n) < 0.6, np.where(np.arange(n) % 3, "a", "b")
    said = {name: np.where(rng.random(n) < p, good, ~good) for name, p in (("x", 0.9), ("y", 0.7))}
    truth = np.where(np.arange(n) % 3 == 1, good, np.nan)
    return pd.DataFrame({"system": system, "truth": truth, **said}).astype({"x": int, "y": int})


@pytest.mark.slow
def test_a_density_of_votes_sums_over_truths_and_has_its_slopes(votes, rng):
    table = bj.Verdicts.from_frame(
        votes, verdict=["x", "y"], truth="truth", by="system", calibration="random"
    )
    shares = np.array([[1, 2], [3, 1]], float)
    hits, right = np.array([[4, 1], [2, 2]], float), np.array([[3, 1], [5, 2]], float)
    known = BetaPosterior(table, shares, hits, right, better_than_chance=False)

    def by_hand(logits):
        rates = expit(logits)
        priors = np.concatenate([shares, hits, right])
        total = beta.logpdf(rates, *priors.T).sum() + np.log(rates * (1 - rates)).sum()
        for system, truth, *said in votes.itertuples(index=False):
            share = rates[list(table.groups).index(system)]
            good, bad = share, 1 - share
            for j, vote in enumerate(said):
                good *= rates[2 + j] if vote else 1 - rates[2 + j]
                bad *= 1 - rates[4 + j] if vote else rates[4 + j]
            total += np.log(good + bad if np.isnan(truth) else good if truth else bad)
        return total

    points = logit(rng.uniform(0.3, 0.9, (4, 6)))
    found, expected = known.log_density(points), np.array([by_hand(x) for x in points])
    assert_allclose(found - found[0], expected - expected[0], atol=1e-8)
    assert_allclose(
        known._slope(points[:1])[0], differences(known.log_density, points[0]), rtol=1e-4
    )
    assert_allclose(known._slope(known.mode()[None]), 0, atol=1e-3)
    likelihood = found + np.logaddexp(0, -points) @ known._priors[:, 0]
    likelihood += np.logaddexp(0, points) @ known._priors[:, 1]
    half = BetaPosterior(table, shares, hits, right, False, design_effects=[2.0, 2.0])
    assert_allclose(half.log_density(points) - found, -likelihood / 2)
