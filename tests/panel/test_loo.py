"""Leaving one item out, against answers computed in another way."""

from dataclasses import replace

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from refusals import refused
from scipy.special import betaln

import bayesjudge as bj
from bayesjudge.panel.loo import log_likelihood_of
from tests.panel.effect_likelihood import likelihood_of_votes

Votes, DawidSkene = bj.panel.Votes, bj.panel.DawidSkene
pytestmark = pytest.mark.sampling


@pytest.mark.study
def test_labelled_items_left_out_have_beta_predictions(independent_fit):
    # all items labelled, flat priors: leaving an item out is a ratio of beta functions
    fit = independent_fit
    votes, expected = fit.data, 0.0
    tally, labelled = votes.tally(), votes.labelled
    by_truth = tally.sum(axis=0)
    for row, count in enumerate(votes.count):
        g, t = votes.generator[row], votes.truth[row]
        k, n = labelled[g, t], labelled[g].sum()
        one = betaln(k + 1, n - k + 1) - betaln(k, n - k + 1)
        for judge, vote in enumerate(votes.votes[row]):
            if vote >= 0:
                a, b = by_truth[t, judge, vote], by_truth[t, judge, 1 - vote]
                one += betaln(a + 1, b + 1) - betaln(a, b + 1)
        expected += count * one
    found = bj.panel.loo(fit, of="items")
    assert found.reliable
    assert found.n == votes.n_items
    # 1,000 draws: the error of the sum, from that of each item's density
    log, _, count = log_likelihood_of(fit, of="items")
    error = np.sqrt(np.sum((count * log.std(axis=0)) ** 2) / len(log)) * 3
    assert found.elpd == pytest.approx(expected, abs=max(error, 0.05))


@pytest.fixture(scope="module")
def independent_fit():
    votes = Votes.from_frame(bj.panel.simulate(items=60, labelled=60, missing=0.1, random_seed=1))
    return bj.panel.fit(votes, DawidSkene(better_than_chance=False), random_seed=1)


@pytest.mark.own_model
def test_patterns_weighed_are_items_one_by_one(model_fit):
    fit = model_fit(bj.panel.VoteRegression())
    log, _, count = log_likelihood_of(fit)
    each = np.repeat(log.reshape(4, -1, len(count)), count, axis=2)
    data = xr.Dataset({"label": (("chain", "draw", "item"), each)})
    posterior = xr.Dataset({"x": (("chain", "draw"), each.mean(axis=2))})
    tree = xr.DataTree.from_dict({"posterior": posterior, "log_likelihood": data})
    expected = arviz_stats.loo(tree, reff=1.0)
    found = bj.panel.loo(fit)
    assert found.elpd == pytest.approx(expected.elpd)
    assert found.se == pytest.approx(expected.se, rel=0.01)
    assert found.p_loo == pytest.approx(expected.p, rel=1e-6)


@pytest.mark.study
def test_densities_add_up_to_the_likelihood(model_fit):
    fit = model_fit(bj.panel.Correlated(), shared_effect=1.5, labelled=(150, 150, 0))
    log, _, count = log_likelihood_of(fit, of="items")
    each = len(fit.draws("prevalence")) // 4
    s = int(0.5 * each / 250)  # the first draw that is kept
    lenient, half = fit.draws("leniency")[s], np.exp(fit.draws("discrimination")[s]) / 2
    expected = likelihood_of_votes(
        fit.data,
        np.stack([lenient - half, lenient + half], axis=1),
        fit.draws("shared_effect")[s],
        fit.draws("prevalence")[s],
        fit.spec.nodes,
    )
    assert log[0] @ count == pytest.approx(expected)


def test_labels_given_votes_are_bayes_rule(model_fit):
    table = bj.panel.simulate(items=60, labelled=60, missing=0.1, random_seed=1)
    fit = replace(model_fit(bj.panel.PooledDawidSkene()), data=Votes.from_frame(table))
    joint, rows, _ = log_likelihood_of(fit, of="items")
    labels, same, _ = log_likelihood_of(fit)
    np.testing.assert_array_equal(rows, same)
    # the other truth of the same votes has the rest of the probability
    turned = Votes(
        fit.data.votes, 1 - fit.data.truth, fit.data.generator, fit.data.generators,
        fit.data.judges, count=fit.data.count,
    )  # fmt: skip
    other, at, _ = log_likelihood_of(replace(fit, data=turned), of="items")
    order = [
        next(
            i
            for i in at
            if turned.generator[i] == fit.data.generator[r]
            and turned.truth[i] == 1 - fit.data.truth[r]
            and (turned.votes[i] == fit.data.votes[r]).all()
        )
        for r in rows
    ]
    np.testing.assert_allclose(labels, joint - np.logaddexp(joint, other[:, order]), atol=1e-12)


def test_where_it_is_not_defined(model_fit):
    fit = model_fit(bj.panel.VoteRegression())
    with refused(id="not-defined", kind="VoteRegression"):
        bj.panel.loo(fit, of="items")
    with refused("of="):
        bj.panel.loo(fit, of="votes")
