"""What priors and fits expect, beside the votes that are there."""

import numpy as np
import pytest
import xarray as xr

import bayesjudge as bj
from bayesjudge import BetaPrior
from bayesjudge.core.fit import Fit
from bayesjudge.panel import BiasPooling, DawidSkene, NormalPrior, VoteRegression, Votes
from bayesjudge.panel.predictive import expanded, prior_statistics
from bayesjudge.panel.simulate import _intercepts

pytestmark = pytest.mark.usefixtures("uncompiled")


def votes_of(**settings):
    table = bj.panel.simulate(items=60, labelled=30, random_seed=1, **settings)
    return Votes.from_frame(table, calibration="random")


def row_of(table, **where):
    (row,) = table.loc[(table[list(where)] == list(where.values())).all(axis=1)].itertuples()
    return row


@pytest.mark.sampling
def test_pass_rates_have_their_prior_mean():
    # Beta(8, 2) prevalence, Beta(6, 2) and Beta(3, 3) rates: .8 * .75 + .2 * .5 on average
    model = DawidSkene(
        prevalence=BetaPrior(8, 2),
        sensitivity=BetaPrior(6, 2),
        specificity=BetaPrior(3, 3),
        better_than_chance=False,
    )
    _, draw = prior_statistics(votes_of(), model, np.random.default_rng(1))
    drawn = draw(200)
    for name in ("g1", "g2", "g3"):
        values = drawn["pass_rate", "generator", name]
        error = values.std() / np.sqrt(values.size)
        assert values.mean() == pytest.approx(0.8 * 0.75 + 0.2 * 0.5, abs=5 * error)
    table = bj.panel.check_prior(votes_of(), model, random_seed=1)
    assert table["low"].between(0, 1).all()


@pytest.mark.study
def test_votes_that_the_priors_rule_out_are_named():
    worthless = DawidSkene(sensitivity=BetaPrior(50, 50), specificity=BetaPrior(50, 50))
    table = bj.panel.check_prior(votes_of(), worthless, random_seed=1)
    row = row_of(table, statistic="agreement")
    assert row.surprising
    assert row.observed > row.high
    assert not bj.panel.check_prior(votes_of(), random_seed=1)["surprising"].any()


@pytest.mark.sampling
@pytest.mark.parametrize(
    ("model", "name", "generator"),
    [
        (VoteRegression(intercept=NormalPrior(-6, 0.1)), "share_good", "g1"),
        (BiasPooling(bias=NormalPrior(-4, 0.1)), "pass_rate - share_good", "g3"),
    ],
)
def test_each_model_has_a_check(model, name, generator):
    lenient = votes_of(specificity=(0.2, 0.2, 0.2, 0.3))
    table = bj.panel.check_prior(lenient, model, random_seed=1)
    assert row_of(table, statistic=name, generator=generator).surprising
    found = bj.panel.check_prior(votes_of(), type(model)(), random_seed=1)
    assert not found["surprising"].any()


@pytest.mark.sampling
def test_shares_of_votes_with_more_classes():
    votes = Votes(
        *([[0, 1, 2], [1, 1, -1], [2, 2, 2]], [0, -1, 2], [0, 0, 0], ["g"], "abc"),
        classes="lmh",
        calibration="random",
    )
    _, draw = prior_statistics(votes, bj.panel.MulticlassDawidSkene(), np.random.default_rng(1))
    drawn = draw(200)
    # classes are exchangeable in the prior
    shares = [drawn["vote_share", "vote", c] for c in "lmh"]
    error = max(one.std() for one in shares) / np.sqrt(200)
    np.testing.assert_allclose([one.mean() for one in shares], 1 / 3, atol=5 * error)


SETTINGS = {
    "prevalence": (0.9, 0.75, 0.6),
    "sensitivity": (0.95, 0.9, 0.85, 0.8),
    "specificity": (0.6, 0.7, 0.8, 0.9),
}


def fit_at_truth(model, effect, **simulation):
    """A fit whose draws all are the truth that the votes were simulated from."""
    table = bj.panel.simulate(**SETTINGS, shared_effect=effect, random_seed=3, **simulation)
    values = {name: np.array(rate) for name, rate in SETTINGS.items()}
    own = effect if isinstance(model, bj.panel.Correlated) else 0.0
    high = _intercepts(values["sensitivity"], own)
    low = _intercepts(1 - values["specificity"], own)
    values |= {"discrimination": np.log(high - low), "leniency": (high + low) / 2}
    values |= {"shared_effect": np.full(2, own)}
    draws = {name: np.broadcast_to(v, (2, 50, *np.shape(v))) for name, v in values.items()}
    names = {name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
             for name, v in draws.items()}  # fmt: skip
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(names)})
    return Fit(
        tree,
        Votes.from_frame(table, calibration="random"),
        model,
        tuple(SETTINGS),
        method="",
        source="",
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", [bj.panel.PooledDawidSkene(), bj.panel.Correlated()])
def test_only_the_plain_model_is_rejected_if_judges_err_together(model):
    fit = fit_at_truth(model, 1.5, labelled=(150, 150, 0))
    table = bj.panel.dependence_check(fit, random_seed=1)
    if isinstance(model, bj.panel.Correlated):
        assert not table["rejected"].any()
        assert (table["observed"] > table["low"]).all()
    else:
        assert table.loc[["bad", "good"], "rejected"].all()
        assert (table.loc[["bad", "good"], "expected"].abs() < 0.02).all()


@pytest.mark.slow
def test_dependence_check_is_quiet_if_errors_are_independent():
    fit = fit_at_truth(bj.panel.PooledDawidSkene(), 0.0)
    table = bj.panel.dependence_check(fit, random_seed=1)
    assert not table["rejected"].any()
    # labelled or not, the votes hang together as much as truths and rates make them
    assert table["observed"].between(table["low"], table["high"]).all()
    assert table.loc["all", "expected"] > 0.05


def test_of_a_judge_who_voted_twice_the_first_votes_are_looked_at():
    about = {"judge_of_column": [0, 0, 1], "calibration": "random"}
    votes = Votes([[1, 0, 1], [0, 0, -1]], [1, -1], [0, 0], "g", "ab", [2, 1], **about)
    items = expanded(votes, np.random.default_rng(1))
    np.testing.assert_array_equal(items.response, [[0, -1], [1, 1], [1, 1]])
    np.testing.assert_array_equal(items.judge_of_column, [0, 1])
