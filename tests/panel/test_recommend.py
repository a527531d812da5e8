"""Advice on the model: none that needs equal error rates, if labels tell anything else."""

import numpy as np
import pytest
from conftest import shared

import bayesjudge as bj
from benchmarks.panel import systems as study
from tests.panel.conftest import code_feedback

panel = bj.panel
#: What models assume that need the same error rates of a judge on every generator.
EQUAL_RATES = "same-error-rates"


def some_labelled(full, n, seed, calibration="random", only=None):
    """The same votes with the labels of `n` random items, of some generators."""
    rows = np.repeat(np.arange(len(full.count)), full.count)
    asked = np.isin(np.array(full.generators)[full.generator[rows]], only or full.generators)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(asked))
    truth = np.full(len(rows), -1)
    truth[order[:n]] = full.truth[rows[order[:n]]]
    about = (full.generator[rows], full.generators, full.judges)
    return panel.Votes(full.votes[rows], truth, *about, calibration=calibration)


def simulated(n=100, seed=1, **settings):
    table = panel.simulate(items=300, labelled=300, random_seed=seed, **settings)
    return some_labelled(panel.Votes.from_frame(table), n, seed)


FULL = panel.Votes.from_frame(
    panel.simulate(prevalence=(0.9, 0.75, 0.6, 0.8, 0.7), items=80, labelled=80, random_seed=1)
)


@pytest.mark.parametrize("calibration", ["random", "by_generator", "by_verdict"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.slow
def test_nothing_named_or_quoted_needs_equal_error_rates(calibration, size):
    """Whichever generators have labels, and by every way to a number without sampling."""
    for seed in range(3):
        only = list(np.random.default_rng(seed).permutation(FULL.generators)[:size])
        n = 10**6 if calibration == "by_generator" else 40 * size
        votes = some_labelled(FULL, n, seed, calibration, only)
        model = panel.recommend(votes).model
        assumed = {one.id for one in model._assumptions}
        quoted = panel.answer(*panel.closed_forms(votes)).quoted
        assert EQUAL_RATES not in assumed | {one.id for one in quoted.assumptions}
        assert quoted.table["value"].notna().all()
        assert quoted.table[["low", "high"]].notna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "separate"])
def test_labels_that_tell_error_rates_only_leave_a_model_of_these(calibration):
    votes = some_labelled(FULL, 100, 1, calibration)
    advice = panel.recommend(votes)
    assert advice.model == panel.Correlated()
    assert "if rates are the same on every generator" in advice.why
    quoted = panel.answer(*panel.closed_forms(votes)).quoted
    assert EQUAL_RATES in {one.id for one in quoted.assumptions}


@pytest.mark.slow
def test_what_is_named_is_fitted_by_default_and_quoted_of_the_closed_forms():
    for votes in (
        some_labelled(FULL, 60, 1),
        some_labelled(FULL, 60, 1, only=["g1"]),
        some_labelled(FULL, 60, 1, "by_truth"),
        FULL.hide("g5"),
        FULL.hide(*FULL.generators),
    ):
        model = panel.recommend(votes).model
        assert bj.core.model.model_of(votes, None) == model
        quoted = panel.answer(*panel.closed_forms(votes)).quoted
        assert quoted.method.title.removesuffix(" (Laplace)") == model._title


@pytest.mark.parametrize("name", ["xstest", "pandalm", "cje_arena"])
@pytest.mark.parametrize("which", ["one", "two"])
@pytest.mark.slow
def test_real_systems_without_labels_are_covered(name, which):
    """By judges' error rates the 95 % intervals held .00 to .25 of them."""
    full, held = study.REAL[name](shared("data")), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table, population = study.resampled(full, rng)
        votes, labelled = study.labels(table, (which, "random", 100), rng)
        found = panel.answer(*panel.closed_forms(votes)).quoted.table
        share = np.array([population[g] for g in votes.generators])
        held.append(((found["low"] <= share) & (share <= found["high"]))[~labelled].mean())
    # of a draw's systems all may be off together: a draw is the unit
    assert np.mean(held) > 0.95 - 4 * max(np.std(held), 0.05) / np.sqrt(len(held))


@pytest.mark.slow
def test_of_a_real_panel_with_labels_of_one_generator_shares_are_held():
    full = code_feedback()
    share, held = full.labelled[:, 1] / full.items, []
    for seed in range(6):
        only = [full.generators[seed]]
        votes = some_labelled(full, 100, seed, only=only)
        found = panel.answer(*panel.closed_forms(votes), target="items").quoted.table
        held.append(((found["low"] <= share) & (share <= found["high"])).mean())
    assert np.mean(held) > 0.8


@pytest.mark.slow
def test_few_labels_name_the_same_model_as_many():
    for n in (1, 5, 19, 20, 200):
        advice = panel.recommend(simulated(n, prevalence=(0.7,)))
        assert advice.model == panel.VoteRegression()


def test_generators_without_labels_are_named():
    advice = panel.recommend(some_labelled(FULL, 60, 1, only=["g1", "g2"]))
    assert "g3, g4, g5 have no" in advice.why
    assert "g2 has no label" in panel.recommend(FULL.hide("g2")).why


def test_the_panels_bias_carries_over_from_generators_of_which_all_is_known():
    for size in range(1, 5):
        hidden = FULL.generators[size:]
        whole = panel.recommend(FULL.hide(*hidden)).model
        assert whole == (panel.BiasPooling() if size >= 3 else panel.VoteRegression())
        some = some_labelled(FULL, 40 * size, 1, only=FULL.generators[:size])
        assert panel.recommend(some).model == panel.VoteRegression()


def test_advice_is_short_to_read():
    shown = repr(panel.recommend(simulated(60)))
    assert shown.startswith("Advice(")
    assert len(shown) < 300
    assert "\n" not in shown
