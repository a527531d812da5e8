"""`ratings.build_model` is the model of the text: replicates of items, and their own shares."""

import numpy as np
import pymc as pm
import pytest
from pymc.model.transform.conditioning import remove_value_transforms

import bayesjudge as bj
from bayesjudge.compiled import compiling
from bayesjudge.ratings import RaterErrors, Ratings, ResponseSets

OPTIONS = ("yes", "no")
ERRORS = ResponseSets(error=RaterErrors(bj.BetaPrior(2, 18)))


def one_item():
    """Four choices and three response sets of people on one item; one judge's choices."""
    return Ratings([[[3, 1]], [[1, 2]]], OPTIONS, "yes", endorsed=[[[1, 1, 1]], [[0, 0, 0]]])


def over_shares(n=24):
    """Points and weights of a product rule over shares of three: the stick broken twice."""
    x, w = np.polynomial.legendre.leggauss(n)
    x, w = (x + 1) / 2, w / 2
    first, second = np.meshgrid(x, x, indexing="ij")
    points = np.stack([first, (1 - first) * second, (1 - first) * (1 - second)], axis=-1)
    return points.reshape(-1, 3), (np.outer(w, w) * (1 - first)).ravel()


@pytest.mark.slow
def test_integrating_the_shares_out_gives_the_collapsed_model():
    """Dirichlet weights are whole numbers here, so that the rule is exact for polynomials."""
    ratings = one_item()
    collapsed, full = (
        remove_value_transforms(bj.ratings.build_model(ratings, ERRORS, collapsed=c))
        for c in (True, False)
    )
    one, every = (m.compile_logp(mode="FAST_COMPILE") for m in (collapsed, full))
    shares, weights = over_shares()
    rng, gaps = np.random.default_rng(1), []
    for size, share in ((8, (0.5, 0.25, 0.25)), (10, (0.3, 0.3, 0.4))):
        point = {
            "set_share": np.array([share, share]),
            "choice_of_2": rng.dirichlet([2, 2], (2, 1)),
            "concentration": np.array([size, size], float),
            "error_rate": np.array(rng.uniform(0.05, 0.3)),
            "skew": np.array(rng.normal()),
        }
        total = 0.0  # sources are independent: over the shares of one, and then of the other
        centre = np.full(3, 1 / 3)
        at = [{**point, "item_share": np.stack([s, centre])} for s in shares]
        total += np.log(weights @ np.exp([every(p) for p in at]))
        at = [{**point, "item_share": np.stack([centre, s])} for s in shares]
        total += np.log(weights @ np.exp([every(p) for p in at]))
        total -= every({**point, "item_share": np.stack([centre, centre])})
        gaps.append(one(point) - total)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-8)


@pytest.mark.study
def test_replicates_are_of_items_and_not_of_patterns():
    """One replicate an item: the mean over items is that of the model, rare patterns or not."""
    table = bj.ratings.simulate(items=30, choices=4, response_sets=2, random_seed=1)
    ratings = Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    made = bj.ratings.build_model(ratings)
    share = np.tile([0.5, 0.2, 0.3], (3, 1))
    fixed = pm.do(
        made,
        {
            "set_share": share,
            "choice_of_2": np.tile([0.7, 0.3], (3, 1, 1)),
            "concentration": np.full(3, 4.0),
        },
    )
    with compiling():
        drawn = pm.sample_prior_predictive(400, model=fixed, random_seed=1)["prior_predictive"]
    drawn = drawn["ratings"].to_numpy()[0]
    seen = made["ratings_seen"].get_value()
    assert drawn.shape[1] == len(seen) == len(made.coords["rated_item"]) == 90
    np.testing.assert_array_equal(drawn[..., :2].sum(-1), np.tile(seen[:, :2].sum(-1), (400, 1)))
    np.testing.assert_array_equal(drawn[..., 2:].sum(-1), np.tile(seen[:, 2:].sum(-1), (400, 1)))
    chance = np.array([0.5 + 0.3 * 0.7, 0.2 + 0.3 * 0.3, *share[0]])
    expected = chance * np.repeat([seen[:, :2].sum(), seen[:, 2:].sum()], [2, 3])
    total = drawn.sum(axis=1)
    assert (abs(total.mean(0) - expected) < 5 * total.std(0) / np.sqrt(400)).all()
    # items differ: more variance than ratings that are independent of each other
    n, p = 2, share[0, 0]
    spread = drawn[:, seen[:, 2:].sum(-1) == n, 2].var()
    assert spread == pytest.approx(n * p * (1 - p) * (1 + (n - 1) / (4 + 1)), rel=0.05)
