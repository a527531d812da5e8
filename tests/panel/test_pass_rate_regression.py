"""Source 2's regression: the loss as published, and its true minimum."""

import itertools
import json
import sys

import numpy as np
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.panel._pass_rate_regression import PassRates, loss_of, minimise
from bayesjudge.panel.voting import true_prevalence
from tests.panel.conftest import code_feedback


def reference():
    return json.loads(shared("reference/panel.json").read_text())


def pass_rates(level):
    counts = json.loads(shared("data/code_feedback/counts_14x14.json").read_text())
    table = counts[level]
    return np.array(table["valid"]) / np.array(table["labelled"]), counts["generators"]


def test_cross_entropy_is_the_published_one():
    rates, _ = pass_rates("noRepair")
    k = np.arange(14)
    nothing = np.full(14, np.nan)
    points = {
        "all .5, g=row mean": (rates.mean(axis=1), np.full(14, 0.5), np.full(14, 0.5)),
        "v+=.9+.005k, v-=.1+.02k, g=.8+.01i": (0.8 + 0.01 * k, 0.9 + 0.005 * k, 0.1 + 0.02 * k),
    }
    for case in reference()["loss_values"]["cases"]:
        loss = loss_of(PassRates(rates, nothing, nothing, nothing), *points[case["x"]])[0]
        assert loss == pytest.approx(case["bce"], rel=1e-12)


def test_calibration_loss_by_hand():
    # eq. (3): 2 * sqrt(.01) + 1 * sqrt((.01 + .04) / 2) + 10 * sqrt(.09 / 2)
    known = PassRates(
        np.full((2, 2), 0.5), np.array([0.6, np.nan]), np.array([0.4, 0.3]), np.array([0.5, 0.8])
    )
    half = np.full(2, 0.5)
    entropy = loss_of(PassRates(known.rates, *np.full((3, 2), np.nan)), half, half, half)[0]
    expected = 2 * 0.1 + np.sqrt(0.05 / 2) + 10 * np.sqrt(0.09 / 2)
    assert loss_of(known, half, half, half)[0] - entropy == pytest.approx(expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_gradient_is_the_slope_of_the_loss(smoothing):
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.2, 0.9, (4, 3))
    rates[1, 2] = np.nan
    prevalence = np.array([0.9, np.nan, 0.5, np.nan])
    known = PassRates(rates, prevalence, np.array([0.9, 0.8, 0.7]), np.array([0.3, 0.4, np.nan]))
    x = rng.uniform(0.2, 0.8, 10)

    def loss(at):
        return loss_of(known, *np.split(at, [4, 7]), smoothing=smoothing)

    numeric = [(loss(x + 1e-6 * e)[0] - loss(x - 1e-6 * e)[0]) / 2e-6 for e in np.eye(10)]
    assert_allclose(loss(x)[1], numeric, atol=1e-7)


def test_a_cell_that_was_never_run_is_left_out():
    rates = np.array([[0.9, 0.8], [0.7, np.nan]])
    nothing = np.full(2, np.nan)
    half = np.full(2, 0.5)
    loss = loss_of(PassRates(rates, nothing, nothing, nothing), half, half, half)[0]
    assert loss == pytest.approx(np.log(2))
    assert np.isfinite(minimise(PassRates(rates, nothing, nothing, nothing), starts=2).loss)


def held_out_errors(level, solver, calibrated, *, rounded=True):
    """Errors of generators whose labels were held out, over all calibration sets of a size."""
    rates, names = pass_rates(level)
    truth = {k: v["official_pGa_constant"] for k, v in reference()["table1"].items()}
    votes = code_feedback(level)
    if not rounded:  # the published constants differ from the labels, most for gpt-4-turbo
        truth = dict(zip(votes.generators, true_prevalence(votes), strict=True))
    errors, losses = [], []
    for chosen in itertools.combinations(votes.generators, calibrated):
        prevalence = np.full(14, np.nan)
        prevalence[[names.index(name) for name in chosen]] = [truth[name] for name in chosen]
        known = PassRates(rates, prevalence, *np.full((2, 14), np.nan))
        if chosen:
            own = PassRates.of(votes.only(*chosen))
            known = PassRates(rates, prevalence, own.sensitivity, own.specificity)
        found = minimise(known, solver=solver)
        others = [name for name in truth if name not in chosen]
        off = [abs(found.prevalence[names.index(name)] - truth[name]) for name in others]
        errors.append(100 * max(off))
        losses.append(found.loss)
    return np.array(errors), np.array(losses)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["noRepair", "fc", "fcnhp"])
def test_without_labels_the_source_solver_gives_the_published_error(level):
    rates, names = pass_rates(level)
    truth = {k: v["official_pGa_constant"] for k, v in reference()["table1"].items()}
    found = minimise(PassRates(rates, *np.full((3, 14), np.nan)), solver="source")
    off = [abs(found.prevalence[names.index(k)] - v) for k, v in truth.items()]
    published = reference()["regression_official_max_abs_error_pct"][level]["mean_by_s"][0]
    assert 100 * max(off) == pytest.approx(published, abs=0.3)


@pytest.mark.slow
def test_the_published_error_is_where_the_source_solver_stops():
    early, high = held_out_errors("fcnhp", "source", 5)
    true, low = held_out_errors("fcnhp", "exact", 5)
    # published 1.58 with starts that are not stated; the true minimum of the same loss is 7.0 off
    assert early.mean() < 2.0
    assert true.mean() == pytest.approx(7.0, abs=0.15)
    assert (low < high).all()


@pytest.mark.slow
def test_where_the_source_solver_stops_depends_on_its_start(monkeypatch):
    # one calibrated generator: 1.76 is published. It is a point on the way, not a minimum: from
    # starts at 1 we stop 2.7 off, from starts up to .01 below it 3.5 off, and neither is wrong
    found = {}
    for start in (0.0, 0.01):
        monkeypatch.setattr(sys.modules[minimise.__module__], "START", start)
        found[start] = held_out_errors("fcnhp", "source", 1)[0].mean()
    assert found[0.0] == pytest.approx(2.7, abs=0.3)
    assert found[0.01] - found[0.0] > 0.3


#: Percentage points off by generators that were calibrated on, as the source states them.
PUBLISHED = {1: 20.9, 2: 15.8, 3: 13.0, 4: 10.3, 5: 7.0}


@pytest.mark.slow
@pytest.mark.parametrize("size", study_but(PUBLISHED, 1, 5))
def test_the_true_minimum_at_every_size_of_calibration(size):
    found = held_out_errors("fcnhp", "exact", size, rounded=False)[0].mean()
    assert found == pytest.approx(PUBLISHED[size], abs=0.1)  # one unit of the last digit stated


@pytest.mark.slow
def test_all_starts_reach_the_same_minimum():
    votes = code_feedback()
    known = PassRates.of(votes.hide("gpt-4o"))
    assert np.ptp(minimise(known, starts=4).losses) < 1e-8


def test_regression_says_that_the_source_solver_stops_early():
    table = bj.panel.simulate(items=60, labelled=20, random_seed=1)
    votes = bj.panel.Votes.from_frame(table, calibration="random")
    early = bj.panel.regression(votes, solver="source", starts=2)
    assert "stops-early" in [caution.id for caution in early.cautions]
    assert not bj.panel.regression(votes, starts=2).cautions
