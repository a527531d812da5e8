"""Arguments of simulations and models that nothing can be made of are refused in our words."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.fitting import build_model
from bayesjudge.core.randomness import rng_of
from bayesjudge.repeats import confidence_sequence
from bayesjudge.rubric.totals import two_phase

SIMULATIONS = {
    "attempts": bj.attempts.simulate,
    "bias": bj.bias.simulate,
    "leaderboard": bj.leaderboard.simulate,
    "panel": bj.panel.simulate,
    "prevalence": bj.prevalence.simulate,
    "classes": bj.prevalence.classes.simulate,
    "items": bj.prevalence.items.simulate,
    "people": bj.prevalence.people.simulate,
    "scores": bj.prevalence.scores.simulate,
    "ratings": bj.ratings.simulate,
    "repeats": bj.repeats.simulate,
    "rubric": bj.rubric.simulate,
}
NO_SEEDS = [-1, 1.5, "a", [1, -2], np.array([0.5])]


@pytest.mark.parametrize("seed", NO_SEEDS, ids=map(str, NO_SEEDS))
@pytest.mark.parametrize("simulate", SIMULATIONS.values(), ids=SIMULATIONS)
def test_what_is_no_seed(simulate, seed):
    with refused("random_seed=", id="no-seed"):
        simulate(random_seed=seed)


@pytest.mark.parametrize("seed", [0, np.int64(3), [1, 2], np.random.default_rng(4), None])
def test_what_is_a_seed(seed):
    assert 0 <= rng_of(seed).random() < 1


def test_a_fit_refuses_a_seed_before_it_compiles():
    counts = bj.prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    with refused("random_seed=", id="no-seed"):
        bj.prevalence.fit(counts, random_seed=-1)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bias", {"scale": (100, 0)}),
        ("bias", {"scale": (1, 1)}),
        ("bias", {"step": 0}),
        ("ratings", {"concentration": -1}),
        ("ratings", {"set_items": 2}),
        ("panel", {"prevalence": ()}),
        ("panel", {"sensitivity": (), "specificity": ()}),
        ("leaderboard", {"strengths": 3}),
        ("leaderboard", {"strengths": (1.0,), "favours": (0.0,)}),
        ("leaderboard", {"favours": (0.0, 1.0)}),
        ("leaderboard", {"tie": -1}),
        ("leaderboard", {"sharpness": 0}),
        ("leaderboard", {"labelled": 1.5}),
        ("leaderboard", {"items": 0}),
    ],
)
def test_what_cannot_be_drawn(name, arguments):
    with refused():
        SIMULATIONS[name](random_seed=1, **arguments)


@pytest.mark.parametrize("scale", [[], [3], [2, 2], [0, np.nan]])
def test_a_confidence_sequence_needs_two_ends(scale):
    with refused("scale="):
        confidence_sequence([2.0, 2.0], scale)


@pytest.mark.parametrize("looks", [[0, 1], [2, 1], [1, 3], [0.5], 1])
def test_a_confidence_sequence_is_looked_at_in_order(looks):
    with refused("looks="):
        confidence_sequence([2.0, 2.0], [1, 5], looks=looks)


@pytest.mark.parametrize(
    ("judged", "people", "applies"),
    [
        ([[1, 0], [1, 1]], [[1, 0]], None),
        ([1, 0], [1, 0], None),
        ([[1, 0], [1, 1]], [[1, 0], [1, 1]], [True, False]),
        ([[1, 0], [1, 1]], [[1, 0], [1, 1]], True),
        ([[]], [[]], None),
    ],
)
def test_the_terms_of_a_sum_have_one_shape(judged, people, applies):
    with refused(subject="two_phase", id="other-shape"):
        two_phase(judged, people, applies)


def data_of_models():
    """Data of every kind that has a model, and a model of it."""
    drawn = {name: SIMULATIONS[name](random_seed=1) for name in ("attempts", "panel", "repeats")}
    counts = bj.prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    battles = bj.leaderboard.simulate(items=5, random_seed=1)
    columns = {"first": "model_a", "second": "model_b", "verdict": "winner"}
    shifts = bj.bias.simulate(items=9, random_seed=1)
    return {
        "Counts": (counts, "ErrorRates()"),
        "Votes": (bj.panel.Votes.from_frame(drawn["panel"], calibration="random"), "DawidSkene()"),
        "Shifts": (
            bj.bias.Shifts.from_frame(shifts, scale=(0, 100), design="item"),
            "NormalShifts()",
        ),
        "Scores": (
            bj.repeats.Scores.from_frame(drawn["repeats"], scale=range(1, 6)),
            "CumulativeLogit()",
        ),
        "Attempts": (
            bj.attempts.Attempts.from_frame(drawn["attempts"], calibration="random"),
            "PersistentErrors()",
        ),
        "Battles": (bj.leaderboard.Battles.from_frame(battles, **columns), "CalibratedBattles()"),
    }


MODELS = data_of_models()
FOREIGN = {
    "a word": "ErrorRates",
    "a number": 3,
    "a prior": bj.BetaPrior(1, 1),
    "a class": bj.prevalence.ErrorRates,
    "another question's": bj.ratings.ResponseSets(),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("model", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_model_of_the_data(kind, model):
    data, suits = MODELS[kind]
    for verb in (build_model, bj.prevalence.fit):
        with refused("model=", id="no-model") as caught:
            verb(data, model)
        assert suits in str(caught.value)


@pytest.mark.parametrize("model", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("verb", ["exact", "compare_designs", "check_prior", "label_next"])
def test_what_is_no_model_of_counts(verb, model):
    called = getattr(bj.prevalence, verb, None) or getattr(bj.prevalence.budget, verb)
    with refused("model=", id="no-model"):
        called(MODELS["Counts"][0], model)


@pytest.mark.slow
def test_a_model_of_ones_own_says_by_itself_what_suits():
    class Mine(bj.prevalence.ErrorRates):
        pass

    assert bj.prevalence.exact(MODELS["Counts"][0], Mine())["prevalence"].value > 0


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("Votes", "votes", [[0.5, 1], [1, 0]]),
        ("Votes", "truth", [np.nan, 1]),
        ("Votes", "generator", ["a", "b"]),
        ("Votes", "count", [1.5, 2]),
        ("Battles", "first", [0.5, 0]),
        ("Battles", "count", ["?", "1"]),
        ("Orders", "missing", [0.5]),
        ("Ratings", "annotations", [[0, 0, 0.5]]),
    ],
)
def test_numbers_of_an_array_are_not_cut_to_whole_ones(kind, name, value):
    given = {
        "Votes": ("panel", {"votes": [[1, 0], [0, 0]], "truth": [1, 0], "generator": [0, 0],
                            "generators": ["g"], "judges": ["a", "b"]}),
        "Battles": ("leaderboard", {"systems": ["a", "b"], "judges": ["j"], "first": [0, 0],
                                    "second": [1, 1], "count": [1, 1],
                                    "verdict": [[[1, 0, 0]], [[0, 1, 0]]],
                                    "people": [[1, 0, 0], [0, 0, 0]]}),
        "Orders": ("bias", {"judges": ["j"], "counts": [[[3, 1, 0], [1, 3, 0], [0, 0, 0]]]}),
        "Ratings": ("ratings", {"chosen": [[[1, 0], [0, 1]]], "options": ["a", "b"],
                                "positive": "a", "sets": [("a",), ("b",)]}),
    }  # fmt: skip
    module, arguments = given[kind]
    made = getattr(getattr(bj, module), kind)
    made(**arguments)
    with refused(f"{name}="):
        made(**{**arguments, name: value})


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (bj.prevalence.contrasts, "fit"),
        (bj.prevalence.ranking, "fit"),
        (bj.prevalence.scores.by_system, "scores"),
        (bj.prevalence.scores.unpaired_difference, "scores"),
        (bj.prevalence.items.by_judge, "items"),
        (partial(bj.panel.repair_labels, ["valid"]), "spellings"),
    ],
)
@pytest.mark.parametrize("given", [5, "word", ["a"], {"a": 5}, object], ids=str)
def test_what_is_taken_by_name_is_refused_otherwise(function, argument, given):
    """One result where several are expected, or several of another kind."""
    got = given if isinstance(given, str) else type(given).__name__
    got = {"a": "int"} if isinstance(given, dict) else got
    with refused(id="by-name", **{argument: got}):
        function(**{argument: given})


def test_two_answers_have_two_names():
    table = pd.DataFrame({"item": [1], "order1": [1], "order2": [2]})
    with refused(winners=("a",)):
        bj.bias.Orders.from_frame(table, winners=("a",))
    with refused(answers=5):
        bj.bias.Orders.from_frame(table, answers=5)
