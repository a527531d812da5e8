"""How labelled items were chosen: asked for, checked against the votes, and read by methods."""

import runpy
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.label_design import BUILT_IN
from bayesjudge.core.methods import JUDGE_BY_JUDGE, LOGIT_SHIFT, OWN_LABELS
from bayesjudge.core.words import words_for
from bayesjudge.panel import _em, label_design

panel = bj.panel
SHARES = {"g1": 0.9, "g2": 0.75, "g3": 0.6}


def labelled(calibration, chosen, *, seed=1, items=300, **simulation):
    """Votes on items of which those that `chosen` picks by truth and chance are labelled."""
    table = panel.simulate(items=items, labelled=items, random_seed=seed, **simulation)
    full = panel.Votes.from_frame(table)
    rows = np.repeat(np.arange(len(full.count)), full.count)
    truth, generator = full.truth[rows], full.generator[rows]
    known = chosen(truth, generator, np.random.default_rng(seed))
    about = (full.generators, full.judges)
    known_truth = np.where(known, truth, -1)
    return panel.Votes(full.votes[rows], known_truth, generator, *about, calibration=calibration)


def balanced(each):
    """As many good as bad ones of every generator."""

    def chosen(truth, generator, rng):
        known = np.zeros(len(truth), bool)
        for cell in range(2 * len(SHARES)):
            mine = np.flatnonzero((truth == cell % 2) & (generator == cell // 2))
            known[rng.permutation(mine)[:each]] = True
        return known

    return chosen


def at_random(n):
    return lambda truth, generator, rng: rng.permutation(len(truth)) < n


def names(votes):
    return {caution.id for caution in cautions_of(votes)}


@pytest.mark.slow
def test_the_design_is_asked_for_where_the_table_does_not_show_it():
    table = panel.simulate(items=20, labelled=5, random_seed=1)
    with pytest.raises(
        bj.InputError, match="calibration= is needed: how were the labelled items chosen"
    ):
        panel.Votes.from_frame(table)
    with pytest.raises(bj.InputError, match="calibration='best'"):
        panel.Votes.from_frame(table, calibration="best")
    whole = panel.simulate(items=20, labelled=(20, 20, 0), random_seed=1)
    assert panel.Votes.from_frame(whole).calibration == "by_generator"
    votes = panel.Votes.from_frame(table, calibration="random")
    assert votes.hide("g1").calibration == votes.only("g1").calibration == "random"


@pytest.mark.slow
def test_labels_balanced_by_truth_and_declared_random_are_found_out():
    votes = labelled("random", balanced(20))
    (caution,) = [c for c in cautions_of(votes) if c.id == "label-shift"]
    assert caution.numbers["labelled"] != caution.numbers["others"]
    for method in (panel.difference, panel.model_assisted, panel.dawid_skene_em):
        made = method(votes)
        contradicted = {one.id: one.contradicted_by for one in made.assumptions}
        assert contradicted["random-labels"] == ("label-shift",), made.method


@pytest.mark.slow
def test_random_labels_are_rarely_called_otherwise():
    alarms = sum(
        "label-shift" in names(labelled("random", at_random(90), seed=s)) for s in range(60)
    )
    # nominal 1 %: 4 or more of 60 would happen once in 300 such tests
    assert alarms <= 3


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "separate"])
def test_labels_by_truth_tell_error_rates_only(calibration):
    votes = labelled(calibration, balanced(25))
    assert "label-shift" not in names(votes)
    for method in (panel.difference, panel.model_assisted, panel.logit_shift):
        with pytest.raises(bj.InputError, match="do not, only with calibration='random'"):
            method(votes)
    for model in (panel.VoteRegression(), panel.BiasPooling()):
        with pytest.raises(bj.InputError, match="do not, only with calibration='random'"):
            panel.build_model(votes, model)
    with pytest.raises(bj.InputError, match="calibration='random'"):
        panel.cross_validate(votes)
    methods = [one.method.title for one in panel.closed_forms(votes)]
    assert JUDGE_BY_JUDGE.title in methods
    assert not {OWN_LABELS.title, LOGIT_SHIFT.title} & set(methods)


@pytest.mark.slow
def test_em_reads_the_design():
    # of 400 items 60 are labelled, half of them bad: as random labels they would count as such
    errors = {"by_truth": [], "random": []}
    for seed in range(12):
        for calibration, off in errors.items():
            votes = labelled(calibration, balanced(30), seed=seed, items=400)
            left = [(share * 400 - 30) / 340 for share in SHARES.values()]
            about = left if calibration == "by_truth" else list(SHARES.values())
            off.append(panel.dawid_skene_em(votes).quantities["prevalence"].value - about)
    mean = {name: np.mean(off, axis=0) for name, off in errors.items()}
    error = {name: np.std(off, axis=0) / np.sqrt(12) for name, off in errors.items()}
    assert (np.abs(mean["by_truth"]) < 4 * error["by_truth"]).all()
    assert mean["random"][0] < -4 * error["random"][0]


def test_likelihood_of_labels_by_truth_by_hand():
    votes = panel.Votes(
        *([[1, 1], [0, 1], [1, 0]], [-1, 0, 1], [0, 0, 0], ["g"], ["a", "b"]),
        calibration="by_truth",
    )
    g, sensitivity, false_passes = 0.7, np.array([0.9, 0.8]), np.array([0.3, 0.4])
    rates = _em.Rates(
        np.array([[1 - g, g]]),
        np.stack([np.stack([1 - r, r], -1) for r in (false_passes, sensitivity)], axis=1),
    )
    log, _ = _em.Problem(votes).expect(rates)
    by_hand = {
        (1, 1): g * 0.9 * 0.8 + (1 - g) * 0.3 * 0.4,
        (0, 1): 0.7 * 0.4,  # given that it is bad: how rare that is does not enter
        (1, 0): 0.9 * 0.2,
    }
    for row, found in zip(votes.votes, log, strict=True):
        assert np.exp(found) == pytest.approx(by_hand[tuple(row.tolist())])


@pytest.mark.sampling
def test_the_sampled_model_has_the_same_likelihood():
    votes = labelled("by_truth", balanced(5), items=40)
    model = panel.build_model(votes, panel.DawidSkene(better_than_chance=False))
    density = model.compile_fn(model.observedlogp, inputs=model.value_vars, mode="FAST_COMPILE")
    problem, logs = _em.Problem(votes), []
    for scale in (0.4, 0.7):
        size = {"prevalence": 3, "sensitivity": 4, "specificity": 4}
        point = {f"{k}_logodds__": np.linspace(-scale, scale, n) for k, n in size.items()}
        g, s, c = (1 / (1 + np.exp(-point[f"{k}_logodds__"])) for k in size)
        confusion = np.stack([np.stack([c, 1 - c], -1), np.stack([1 - s, s], -1)], axis=1)
        log, _ = problem.expect(_em.Rates(np.stack([1 - g, g], -1), confusion))
        logs.append((float(density(point)), float(log @ votes.count)))
    assert logs[0][0] == pytest.approx(logs[0][1])
    assert logs[1][0] == pytest.approx(logs[1][1])


@pytest.mark.slow
def test_labels_chosen_by_votes_tell_the_truth_given_votes():
    def disputed(truth, generator, rng):
        return rng.random(len(truth)) < 0.3

    votes = labelled("by_verdict", disputed)
    tells = words_for("tells")
    with pytest.raises(bj.InputError, match=tells["prevalence"]):
        panel.difference(votes)
    with pytest.raises(bj.InputError, match=tells["error_rates"]):
        panel.rogan_gladen(votes)
    made = panel.model_assisted(votes)
    assert [one.id for one in made.assumptions][-1] == "random-labels-by-verdict"


def test_judges_that_treat_labelled_items_differently_are_found_out():
    def without_doubt(truth, generator, rng):
        return rng.permutation(len(truth)) < 120

    votes = labelled("separate", without_doubt)
    assert "votes-out-of-range" not in names(votes)
    turned = np.where(votes.is_labelled[:, None] | (votes.votes < 0), votes.votes, 0)
    other = panel.Votes(
        *(turned, votes.truth, votes.generator, votes.generators, votes.judges),
        count=votes.count,
        calibration="separate",
    )
    assert "votes-out-of-range" in names(other)
    made = panel.rogan_gladen(other)
    contradicted = {one.id: one.contradicted_by for one in made.assumptions}
    assert contradicted["same-judges"] == ("votes-out-of-range",)


@pytest.mark.slow
def test_pass_rates_are_of_the_items_in_question():
    votes = labelled("by_truth", balanced(25))
    rest = panel.checks.about(votes)
    mean = panel.panel_mean(votes)
    for name in SHARES:
        # the rest has no label, and so another interval
        assert mean["prevalence", name].value == panel.panel_mean(rest)["prevalence", name].value
        values = [panel.voting(one)["prevalence", name].value for one in (votes, rest)]
        assert values[0] == values[1]
    with refused("calibration=", "separate", subject="panel"):
        panel.panel_mean(panel.Votes([[1]], [1], [0], ["g"], ["a"], calibration="separate"))


def test_a_design_that_suits_no_panel_is_refused_by_name():
    with pytest.raises(bj.InputError, match=r"calibration='known_propensity'.*by_generator"):
        panel.Votes.from_frame(panel.simulate(random_seed=1), calibration="known_propensity")


def test_a_design_of_the_core_is_one_of_votes(monkeypatch):
    """One that somebody adds is in no panel's words."""
    tenth = replace(BUILT_IN["random"], name="every_tenth", meaning="every tenth item")
    monkeypatch.setitem(BUILT_IN, "every_tenth", tenth)
    found = runpy.run_path(label_design.__file__)["DESIGNS"]
    assert found["every_tenth"] is tenth
    assert set(found) == {*label_design.DESIGNS, "every_tenth"}
