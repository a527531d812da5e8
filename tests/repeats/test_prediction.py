"""Predictions of further scores, on simulated judges and on real ones."""

import gzip
import json
import re

import numpy as np
import pytest
from conftest import shared
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import kstest

import bayesjudge as bj
from bayesjudge.repeats import Scores, order_effects, predict_means
from bayesjudge.repeats.prediction import _probabilities_of_means


def counted(values, scale):
    counts = (values[:, None, :, None] == np.asarray(scale)).sum(axis=2)
    items = [str(i) for i in range(len(values))]
    return Scores(counts, scale=scale, items=items, judges=["judge"])


def test_coverage_where_some_items_are_noisier():
    rng = np.random.default_rng(1)
    scale = np.arange(1, 11)
    centre, spread = rng.uniform(4, 7, 3000), np.sqrt(1.2 / rng.chisquare(8, 3000) * 8)
    draws = np.rint(centre[:, None] + spread[:, None] * rng.normal(size=(3000, 8))).clip(1, 10)
    table = predict_means(counted(draws[:, :4], scale), repeats=4).table
    further = draws[:, 4:].mean(axis=1)
    covered = ((table["low"] <= further + 1e-9) & (further <= table["high"] + 1e-9)).mean()
    assert 0.95 - 5 * np.sqrt(0.95 * 0.05 / 3000) < covered < 0.985


def test_equal_variances_are_pooled_entirely():
    rng = np.random.default_rng(2)
    scale = np.arange(0, 200)
    draws = np.rint(100 + 10 * rng.normal(size=(500, 6)))
    found = predict_means(counted(draws, scale), repeats=1000)
    (text,) = [a.text for a in found.assumptions if a.id == "scattered-variances"]
    assert float(re.search(r"\b\d+(\.\d+)?(e\+\d+)?\b", text)[0]) > 50
    width = (found.table["high"] - found.table["low"]).mean()
    assert_allclose(width, 2 * 1.96 * 10 * np.sqrt(1 / 6), rtol=0.05)


def test_places_in_the_prediction_are_uniform_however_coarse_the_steps():
    rng = np.random.default_rng(4)
    centre = rng.uniform(8, 12, 4000)
    draws = np.rint(centre[:, None] + 0.8 * rng.normal(size=(4000, 6))).clip(0, 20)
    further = draws[:, 4:].mean(axis=1)
    scores = counted(draws[:, :4], np.arange(21))
    below, up_to = _probabilities_of_means(scores, further, repeats=2)
    assert (up_to - below).mean() > 0.15
    places = below + rng.uniform(size=4000) * (up_to - below)
    assert kstest(places, "uniform").pvalue > 1e-3
    uneven = Scores([[[1, 1, 0]]] * 3, scale=[0, 1, 5], items="abc", judges=["j"])
    with pytest.raises(bj.InputError, match="evenly spaced"):
        _probabilities_of_means(uneven, np.zeros(3), repeats=2)


def test_ends_are_values_that_the_mean_can_have():
    rng = np.random.default_rng(3)
    scores = counted(rng.integers(1, 4, size=(30, 4)), [1, 2, 3])
    table = predict_means(scores, repeats=2).table
    for end in ("low", "high"):
        assert set(2 * table[end]) <= set(range(2, 7)) | set(2 * table["value"])


@pytest.fixture(scope="module")
def composo():
    with gzip.open(shared("data/composo/base_both_k8.jsonl.gz"), "rt") as file:
        rows = [json.loads(line) for line in file]

    def read(judge):
        return np.array(
            [
                [[np.nan if s is None else s for s in response] for response in row[judge]]
                for row in rows
            ]
        )

    return {judge: read(judge) for judge in ("full_scores", "mini_scores")}


@pytest.mark.slow
def test_more_repeats_make_a_better_judge(composo):
    # the data's README: response 0 scored highest in .717 of the items with 1 repeat, .815 with 8
    scores = composo["full_scores"]
    one = np.nan_to_num(scores[:, :, 0], nan=-1)
    eight = np.nan_to_num(np.nanmean(scores, axis=2), nan=-1)
    shares = [(m[:, 0] > m[:, 1:].max(axis=1)).mean() for m in (one, eight)]
    assert_allclose(shares, [0.717, 0.815], atol=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["full_scores", "mini_scores"])
def test_four_repeats_predict_the_next_four(composo, judge):
    values = composo[judge].reshape(-1, 8)
    values = values[~np.isnan(values).any(axis=1)]
    scores = counted(values[:, :4], np.arange(1, 11))
    table = predict_means(scores, repeats=4).table
    further = values[:, 4:].mean(axis=1)
    hit = ((table["low"] <= further + 1e-9) & (further <= table["high"] + 1e-9)).to_numpy()
    agree = values[:, :4].std(axis=1) == 0
    # ends are whole quarters: the interval holds what it promises, ends included ...
    below, _ = _probabilities_of_means(scores, table["low"].to_numpy(), repeats=4)
    _, up_to = _probabilities_of_means(scores, table["high"].to_numpy(), repeats=4)
    promised = (up_to - below).mean()
    assert promised > 0.95
    assert abs(hit.mean() - promised) < 0.01
    # ... and without the steps the prediction covers what was asked for
    below, up_to = _probabilities_of_means(scores, further, repeats=4)
    ranks = below + np.random.default_rng(1).uniform(size=len(below)) * (up_to - below)
    inside = (ranks > 0.025) & (ranks < 0.975)
    for part in (slice(None), agree):
        assert 0.92 < inside[part].mean() < 0.97
    # what a t interval from the response's own four scores does there
    assert (further[agree] == values[agree, 0]).mean() < 0.75


@pytest.mark.slow
def test_real_repeats_are_checked_for_order(composo):
    values = composo["full_scores"].reshape(-1, 8)
    values = values[~np.isnan(values).any(axis=1)]
    first = values[:, 0]
    made = counted(values, np.arange(1, 11))
    scores = Scores(
        made.counts,
        scale=made.scale,
        items=made.items,
        judges=made.judges,
        sequence=values.ravel() - 1,
    )
    # nothing is claimed of these judges, but that the check's numbers can be computed by hand
    z = order_effects(scores)["first_call"].z
    spread = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    by_hand = (first - values.mean(axis=1)).sum() / np.sqrt(spread.sum() / 8)
    assert_allclose(z, by_hand)


def test_several_judges_are_refused():
    scores = Scores.from_frame(
        bj.repeats.simulate(random_seed=1), scale=range(1, 6), item="item", judge="judge"
    )
    with refused(6, subject="repeats.predict_means"):
        predict_means(scores, repeats=4)
