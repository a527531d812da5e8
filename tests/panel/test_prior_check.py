"""What priors expect, beside what is there."""

import numpy as np
import pytest

import bayesjudge as bj
from bayesjudge.panel.priors import NormalPrior

Votes, Priors = bj.panel.Votes, bj.panel.Priors


def votes_of(**settings):
    return Votes.from_frame(bj.panel.simulate(items=60, labelled=30, random_seed=1, **settings))


def test_pass_rates_have_their_prior_mean():
    # Beta(8, 2) prevalence, Beta(6, 2) and Beta(3, 3) rates: .8 * .75 + .2 * .5 on average
    priors = Priors(
        prevalence=bj.BetaPrior(8, 2),
        judges="unrelated",
        sensitivity=bj.BetaPrior(6, 2),
        specificity=bj.BetaPrior(3, 3),
        better_than_chance=False,
    )
    drawn = {}
    table = bj.panel.prior_check(votes_of(), priors, random_seed=1, into=drawn)
    for name in ("g1", "g2", "g3"):
        values = drawn[f"pass_rate[{name}]"]
        error = values.std() / np.sqrt(values.size)
        assert values.mean() == pytest.approx(0.8 * 0.75 + 0.2 * 0.5, abs=5 * error)
    assert table["low"].between(0, 1).all()


def test_votes_that_the_priors_rule_out_are_named():
    worthless = Priors(
        judges="unrelated", sensitivity=bj.BetaPrior(50, 50), specificity=bj.BetaPrior(50, 50)
    )
    table = bj.panel.prior_check(votes_of(), worthless, random_seed=1)
    assert table.loc["agreement", "surprising"]
    assert table.loc["agreement", "below"] > 0.99
    assert not bj.panel.prior_check(votes_of(), random_seed=1)["surprising"].any()


@pytest.mark.parametrize(
    ("model", "name", "prior"),
    [
        ("vote_regression", "share_good[g1]", Priors(outset=NormalPrior(-6, 0.1))),
        ("bias_pooling", "pass_rate - share_good[g3]", Priors(bias=NormalPrior(-4, 0.1))),
    ],
)
def test_each_model_has_a_check(model, name, prior):
    lenient = votes_of(specificity=(0.2, 0.2, 0.2, 0.3))
    table = bj.panel.prior_check(lenient, prior, model=model, random_seed=1)
    assert table.loc[name, "surprising"]
    assert not bj.panel.prior_check(votes_of(), model=model, random_seed=1)["surprising"].any()


def test_shares_of_votes_with_more_classes():
    votes = Votes(
        [[0, 1, 2], [1, 1, -1], [2, 2, 2]], [0, -1, 2], [0, 0, 0], ["g"], "abc", classes="lmh"
    )
    drawn = {}
    bj.panel.prior_check(votes, random_seed=1, into=drawn)
    # classes are exchangeable in the prior
    means = [drawn[f"vote_share[{c}]"].mean() for c in "lmh"]
    error = max(drawn[f"vote_share[{c}]"].std() for c in "lmh") / np.sqrt(200)
    np.testing.assert_allclose(means, 1 / 3, atol=5 * error)
