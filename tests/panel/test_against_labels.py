"""A generator's own random labels against what is said of it; and labels of other generators."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import study_but
from scipy.stats import binom

import bayesjudge as bj
from bayesjudge.core.estimate import Caution, Quantity
from bayesjudge.panel.checks import REJECT_P, against_labels
from tests.panel.test_recommend import FULL, simulated, some_labelled

panel = bj.panel
BARRED = ("not-converged", "labels-contradict")


def names(one):
    return {c.id for c in one.cautions}


def labelled(good, n, generators=1, calibration="random"):
    """Votes of `generators`, each with `n` labels of which `good` are good, and as many without."""
    truth = np.tile(np.concatenate([np.arange(n) < good, np.full(n, -1)]), generators).astype(int)
    about = (np.repeat(np.arange(generators), 2 * n), [f"g{i}" for i in range(generators)], ["a"])
    return panel.Votes(np.ones((truth.size, 1), int), truth, *about, calibration=calibration)


@pytest.mark.parametrize("generators", [1, 3])
@pytest.mark.parametrize(("good", "n"), [(74, 100), (26, 100), (10, 10), (0, 40)])
def test_labels_too_rare_at_the_nearest_end_contradict(generators, good, n):
    votes, steps = labelled(good, n, generators), np.linspace(0, 1, 401)
    for low in steps[:-40:20]:
        high = low + 0.1
        one = Quantity.over(([low + 0.05] * generators, [low] * generators, [high] * generators),
                            {"generator": votes.generators})  # fmt: skip
        tail = min(binom.cdf(good, n, low), binom.sf(good - 1, n, high))
        found = tuple(against_labels(votes, one))
        assert bool(found) == (tail < REJECT_P / 2 / generators)
        if found:
            assert found[0].numbers["good"] == f"{good} of {n}"


@pytest.mark.parametrize("calibration", ["by_truth", "separate", "by_verdict"])
def test_labels_that_are_no_random_sample_contradict_no_share(calibration):
    votes = labelled(0, 100, calibration=calibration)
    one = Quantity.over(([0.9], [0.85], [0.95]), {"generator": votes.generators})
    assert not tuple(against_labels(votes, one))


def test_what_has_no_interval_or_no_label_is_not_contradicted():
    votes = labelled(0, 100)
    bare = Quantity.over(([0.9], [np.nan], [np.nan]), {"generator": votes.generators})
    assert not tuple(against_labels(votes, bare))
    nobody = votes.hide("g0")
    one = Quantity.over(([0.9], [0.85], [0.95]), {"generator": votes.generators})
    assert not tuple(against_labels(nobody, one))


@pytest.mark.slow
@pytest.mark.parametrize("runs", study_but([50, 150], 50))
def test_honest_numbers_are_rarely_contradicted(runs):
    """Of what is named and of labels alone: in 1 % at most."""
    alarms = {"named": 0, "alone": 0}
    for seed in range(runs):
        votes = simulated(60, seed=seed, shared_effect=1.0)
        made = panel.closed_forms(votes)
        alarms["named"] += "labels-contradict" in names(panel.answer(*made).quoted)
        alone = next(one for one in made if one.method.id == "human-only")
        alarms["alone"] += "labels-contradict" in names(alone)
    assert max(alarms.values()) <= binom.ppf(0.999, runs, REJECT_P)


@pytest.mark.slow
def test_numbers_that_labels_contradict_are_not_quoted():
    """The panel is taken at its word by a model of independent judges, and labels say otherwise."""
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.5).astype(int)
    lenient = (rng.random((600, 4)) < np.where(truth, 0.97, 0.85)[:, None]).astype(int)
    seen = np.where(np.arange(600) < 80, truth, -1)
    votes = panel.Votes(
        lenient, seen, np.zeros(600, int), ["g"], list("abcd"), calibration="random"
    )
    made = {one.method.title: one for one in panel.closed_forms(votes)}
    assert "labels-contradict" in names(made["Panel mean"])
    told = panel.answer(*made.values())
    assert not names(told.quoted) & set(BARRED)
    assert told.quoted["prevalence", "g"].low < truth.mean() < told.quoted["prevalence", "g"].high
    rest = [one for name, one in made.items() if name != told.method.title]
    assert panel.answer(*rest, told.quoted).method == told.method


@pytest.mark.parametrize("name", BARRED)
@pytest.mark.slow
def test_what_is_barred_is_quoted_only_if_there_is_nothing_else(name):
    votes = some_labelled(FULL, 100, 1)
    made = panel.closed_forms(votes)
    order, left = [], list(made)
    while left:  # what is quoted is barred next
        method = panel.answer(*left).method
        order.append(method)
        left = [one for one in left if one.method != method]
    for last in range(1, len(order)):
        barred = [
            replace(one, cautions=(*one.cautions, Caution(name, "")))
            if one.method in order[:last]
            else one
            for one in made
        ]
        assert panel.answer(*barred).method == order[last]
    every = [replace(one, cautions=(Caution(name, ""),)) for one in made]
    assert panel.answer(*every).method == order[0]


def test_without_labels_dawid_skene_is_quoted_only_if_there_is_nothing_else():
    made = panel.closed_forms(FULL.hide(*FULL.generators))
    assert panel.answer(*made).method.title == "Bias pooling (Laplace)"
    assert "rests-on-priors" in names(panel.answer(*made))
    em = next(one for one in made if one.method.title.startswith("Dawid"))
    assert "If judges err independently" in panel.answer(em).text


@pytest.mark.sampling
def test_a_fit_that_did_not_converge_is_told_and_not_quoted(model_fit):
    fit = model_fit(panel.PooledDawidSkene())
    fit = replace(fit, cautions=(Caution.of("not-converged", "few-draws", draws=20),))
    told = panel.answer(*panel.closed_forms(fit.data), fit)
    assert told.method != fit.method
    assert "Dawid-Skene (NUTS) did not converge and is not quoted" in told.why
    alone = panel.answer(fit)
    assert alone.method == fit.method


@pytest.mark.sampling
def test_a_fit_that_a_generators_labels_contradict_says_so(model_fit):
    """A prior that is sure of a share, and labels that deny it."""
    sure = panel.BiasPooling(level=panel.NormalPrior(-4, 0.05), level_spread=0.05)
    fit = model_fit(sure)
    assert "labels-contradict" in names(fit)
    assert "labels-contradict" in names(fit.estimate())
    told = panel.answer(*panel.closed_forms(fit.data), fit)
    assert told.method != fit.method
    if fit.converged:
        assert "is contradicted by a generator's own labels and is not quoted" in told.why
    honest = model_fit(panel.BiasPooling())
    assert not names(honest) & set(BARRED)
    assert panel.answer(*panel.closed_forms(honest.data), honest).method == honest.method


def everything(votes):
    return [*panel.closed_forms(votes), panel.dawid_skene_em(votes)]


@pytest.mark.parametrize("calibration", ["random", "by_generator", "by_verdict", "by_truth"])
@pytest.mark.slow
def test_generators_without_labels_are_told_of_by_what_speaks_of_them(calibration):
    for size in range(1, 6):
        only = list(FULL.generators[:size])
        n = 10**6 if calibration == "by_generator" else 40 * size
        votes = some_labelled(FULL, n, size, calibration, only)
        told = [c for one in everything(votes) for c in one.cautions if c.id == "other-systems"]
        assert bool(told) == (size < 5)
        assert all(name in one.text for one in told for name in FULL.generators[size:])
        assert all(name not in one.text for one in told for name in only)
        quoted = panel.answer(*panel.closed_forms(votes))
        assert ("other-systems" in names(quoted)) == (size < 5)
        own = {"Human labels only", "Difference estimator, own labels"}
        for one in everything(votes):  # these say nothing of a generator without labels
            assert not (one.method.title in own and "other-systems" in names(one))


def test_without_any_label_there_are_no_other_generators():
    nothing = FULL.hide(*FULL.generators)
    assert all("other-systems" not in names(one) for one in everything(nothing))


def test_of_more_classes_other_generators_are_told_too():
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(60) < 20, rng.integers(0, 3, 60), -1)
    generator = np.repeat([0, 1], 30)
    votes = panel.Votes(rng.integers(0, 3, (60, 3)), truth, generator, ["g", "h"], list("abc"),
                        classes="xyz", calibration="random")  # fmt: skip
    assert "other-systems" in names(panel.dawid_skene_em(votes))
