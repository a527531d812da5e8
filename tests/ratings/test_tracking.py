"""Tracking of people by a judge: against weighted prior draws, and on known judges."""

import sys

import numpy as np
import pytest
from conftest import MODULES
from enumeration import MEMBERS, OPTIONS, emission, enumerated_mean
from oracles import assert_mc_mean
from refusals import refused

import bayesjudge as bj
from bayesjudge.ratings import Definition, Ratings, TrackingPrior
from bayesjudge.ratings.response_sets import choice_matrix, error_matrix
from bayesjudge.ratings.tracking import CHAINS, _draw_pair

(CONTRACT,) = (one for one in MODULES if one.name == "ratings")
N_ITEMS = 3
ALPHA = np.array([1.2, 0.8, 0.9])
CHOICE = np.stack([choice_matrix(MEMBERS, g) for g in (0.6, -0.4)])


def tiny():
    """Two choices of people but for one item; of the judge two and one set: few to enumerate."""
    chosen = np.array([[[2, 0], [0, 2], [0, 0]], [[2, 0], [0, 2], [2, 0]]])
    endorsed = np.zeros((2, N_ITEMS, 3), int)
    endorsed[1] = np.eye(3, dtype=int)[[2, 1, 0]]
    return Ratings(chosen, OPTIONS, "yes", endorsed=endorsed, sources=("people", "gpt"))


def weighted_prior_draws(ratings, error, n=100_000):
    """Follow the model as it is written down, and weigh by the likelihood of every path."""
    rng = np.random.default_rng(2)
    # ratings in which the judge answers as people do, its leaning towards people, neither
    both = rng.dirichlet([0.5, 0.5, 1.0], n)
    u, w = both[:, 0], both[:, 1] / (1 - both[:, 0])
    kappa = np.exp(np.log(8.0) + 1.5 * rng.normal(size=n))
    rho = rng.dirichlet(np.ones(3), n)
    theta = rng.dirichlet(ALPHA, (n, N_ITEMS))
    log, cross, own = np.zeros(n), np.zeros((n, N_ITEMS)), np.zeros((n, N_ITEMS))
    people, judge = emission(CHOICE[0], error), emission(CHOICE[1], np.eye(3))
    for i in range(N_ITEMS):
        counts = [*ratings.chosen[0, i], *ratings.endorsed[0, i]]
        log += np.log(theta[:, i] @ people.T) @ counts
        alpha = kappa[:, None] * (w[:, None] * theta[:, i] + (1 - w[:, None]) * rho)
        counts = [*ratings.chosen[1, i], *ratings.endorsed[1, i]]
        # xi sums to 1, so that (c + B) xi = c + B xi
        seen = u[:, None, None] * (theta[:, i] @ judge.T)[:, :, None]
        seen = seen + (1 - u[:, None, None]) * judge
        whole, xi = enumerated_mean(counts, alpha, seen)
        log += np.log(whole)
        eta = u[:, None] * theta[:, i] + (1 - u[:, None]) * xi
        cross[:, i], own[:, i] = (theta[:, i] * eta).sum(axis=-1), eta[:, 0]
    weight = np.exp(log - log.max())
    return weight / weight.sum(), both[:, 0] + both[:, 1], np.log(kappa), theta[..., 0], own, cross


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_pairs_are_drawn_from_their_posterior(rate):
    """The Gibbs sampler and its urn, against weighted draws that know neither."""
    ratings, n = tiny(), 100 * CHAINS
    error = error_matrix(MEMBERS, rate, 0.5)
    pair = _draw_pair(
        ratings,
        1,
        1.0,
        TrackingPrior(),
        np.broadcast_to(np.stack([ALPHA, ALPHA]), (n, 2, 3)),
        np.broadcast_to(CHOICE, (n, 2, 2, 3)),
        None if rate == 0 else np.broadcast_to(np.stack([error, np.eye(3)]), (n, 2, 3, 3)),
        np.random.default_rng(3),
    )
    weight, tracks, log_size, people, judge, cross = weighted_prior_draws(ratings, error)
    effective = 1 / (weight**2).sum()
    assert effective > 4_000
    drawn = {
        "tracking": (pair.tracked.tracking, tracks),
        "concentration": (np.log(pair.tracked.concentration), log_size),
        **{
            f"item {i}": ((pair.people[:, i] * pair.judge[:, i]).sum(axis=-1), cross[:, i])
            for i in range(N_ITEMS)
        },
        **{f"people {i}": (pair.people[:, i, 0], people[:, i]) for i in range(N_ITEMS)},
        **{f"judge {i}": (pair.judge[:, i, 0], judge[:, i]) for i in range(N_ITEMS)},
    }
    for name, (values, prior) in drawn.items():
        mean = weight @ prior
        error_of_mean = np.sqrt(weight @ (prior - mean) ** 2 / effective)
        by_chain = values.reshape(-1, CHAINS).T
        # the oracle's own error, on top of the sampler's
        shift = np.clip(by_chain.mean() - mean, -4 * error_of_mean, 4 * error_of_mean)
        try:
            assert_mc_mean(by_chain, mean + shift)
        except AssertionError as failed:
            raise AssertionError(f"{name}: {failed}") from failed


def test_the_later_half_of_the_sweeps_says_whether_chains_have_mixed(monkeypatch):
    """Chains that are apart for nearly half of the sweeps, and alike from then on."""
    module, ratings, swept = sys.modules["bayesjudge.ratings.tracking"], tiny(), []
    weights = np.broadcast_to(ALPHA, (CHAINS, 2, 3)), np.broadcast_to(CHOICE, (CHAINS, 2, 2, 3))
    burn_in, _ = module._sweeps(ratings, 1, weights[0])
    rng = np.random.default_rng(1)

    def sweep(state, *_):
        swept.append(state)
        apart = 9 * (-1.0) ** np.arange(CHAINS) if len(swept) < 0.4 * burn_in else 0.0
        state.unknowns[:, 1] = apart + rng.normal(size=CHAINS)

    monkeypatch.setattr(module, "_sweep", sweep)
    pair = _draw_pair(ratings, 1, 1.0, TrackingPrior(), *weights, None, np.random.default_rng(4))
    assert pair.tracked.mixed
    assert len(swept) == burn_in


def test_compiled_sweeps_are_kept_where_pytensor_keeps_its_own():
    from pytensor.link.numba.cache import NUMBA_CACHE_PATH

    from bayesjudge.ratings._sweeps import compiled

    for name in ("items", "pairs"):
        assert compiled(name).stats.cache_path == NUMBA_CACHE_PATH


# Judges whose tracking is known ------------------------------------------------------------------


@pytest.mark.sampling
def test_a_judge_that_tracks_people_is_told_from_one_that_does_not(fit_of):
    """Three choices an item: the contract's judges share 90 % and 50 % with people."""
    found = bj.ratings.tracking(fit_of(CONTRACT), draws=200)
    gpt, claude = (found["tracking", j] for j in ("gpt", "claude"))
    assert gpt.value > claude.value
    assert gpt.low <= 0.9 <= gpt.high
    assert claude.low <= 0.5 <= claude.high
    assert "not-mixed" not in {c.id for c in found.cautions}


@pytest.mark.sampling
def test_tracking_mends_what_few_ratings_hide(fit_of):
    """Squared error between the judges' shares and people's, at three choices an item."""
    true = {}
    for judge, alike in (("gpt", 0.9), ("claude", 0.5)):
        # two independent Dirichlet shares of one mean: (1 - alike)^2 * 2 * variance, summed
        mean = MEMBERS @ np.array([0.35, 0.4, 0.25])
        true[judge] = (1 - alike) ** 2 * 2 * (mean * (1 - mean)).sum() / (1 + 4.0)
    mse = [Definition("mse")]
    off, best = {}, {}
    for prior in (TrackingPrior(), None):
        found = bj.ratings.performance(fit_of(CONTRACT), of=mse, draws=200, tracking=prior)
        tracked = prior is not None
        off[tracked] = [found.values[0, j] - true[name] for j, name in enumerate(found.judges)]
        best[tracked] = found.best().loc["mse (srs/srs)", "gpt"]
    assert np.abs(off[True]).max() < 0.4 * np.abs(off[False]).max()
    assert best[True] > best[False] + 0.2  # without it, the judge that tracks people looks worse


@pytest.mark.slow
def test_a_judges_draws_do_not_depend_on_other_judges():
    ratings, n = tiny(), CHAINS
    three = Ratings(
        ratings.chosen[[0, 1, 0]],
        OPTIONS,
        "yes",
        endorsed=ratings.endorsed[[0, 1, 1]],
        sources=("people", "gpt", "claude"),
    )
    made = []
    for data in (ratings, three):
        sources = len(data.sources)
        made.append(
            _draw_pair(
                data,
                1,
                1.0,
                TrackingPrior(),
                np.broadcast_to(ALPHA, (n, sources, 3)),
                np.broadcast_to(CHOICE[0], (n, sources, 2, 3)),
                None,
                np.random.default_rng(4),
            )
        )
    assert np.array_equal(made[0].judge, made[1].judge)


@pytest.mark.sampling
def test_pairs_are_drawn_once_for_performance_and_tracking(fit_of, monkeypatch):
    module, fit = sys.modules["bayesjudge.ratings.tracking"], fit_of(CONTRACT)
    settings = {"draws": 60, "random_seed": 5}
    drawn = bj.ratings.tracking(fit, **settings)
    module._DRAWN.clear()
    bj.ratings.performance(fit, of=[Definition("mse")], **settings)
    monkeypatch.setattr(module, "_draw_pair", None)  # to draw again would fail
    assert bj.ratings.tracking(fit, **settings).table.equals(drawn.table)
    with pytest.raises(TypeError):  # another prior is another posterior
        bj.ratings.tracking(fit, TrackingPrior(2.0), **settings)


@pytest.mark.slow
@pytest.mark.parametrize("field", ["concentration", "concentration_spread"])
def test_each_field_of_the_prior_is_read(field):
    ratings, n = tiny(), CHAINS
    made = []
    for prior in (TrackingPrior(), TrackingPrior(**{field: 0.3})):
        weights = np.broadcast_to(ALPHA, (n, 2, 3)), np.broadcast_to(CHOICE, (n, 2, 2, 3))
        pair = _draw_pair(ratings, 1, 1.0, prior, *weights, None, np.random.default_rng(4))
        made.append(np.log(pair.tracked.concentration))
    spread = [values.std() / np.sqrt(n) for values in made]
    if field == "concentration":
        assert made[0].mean() - made[1].mean() > 5 * np.hypot(*spread)
    else:
        assert made[1].std() < 0.5 * made[0].std()
    with refused(**{field: 0}):
        TrackingPrior(**{field: 0})
