"""Definitions of performance, intervals, ranks, and how they move."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.ratings import Definition, Performance, Ratings
from bayesjudge.ratings.metrics import METRICS, Profile, prevalence_at

SETS = ("hrs", "hrs")


def of(judge, human):
    judge, human = np.array(judge, float), np.array(human, float)
    return Profile(judge, judge), Profile(human, human)


@pytest.fixture(scope="module")
def ratings():
    table = bj.ratings.simulate(items=150, random_seed=5)
    return Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )


def test_set_metrics_by_hand():
    # the judge names {a}, {a, b}, nothing; people name {a, b}, {c}, {b}
    judge, human = of([[1, 0, 0], [1, 1, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 1], [0, 1, 0]])
    values = {m: Definition(m, *SETS).value(judge, human) for m in ("coverage", "recall")}
    assert values["coverage"] == pytest.approx(1 / 3)
    assert values["recall"] == pytest.approx((1 / 2 + 0 + 0) / 3)
    # an item where the judge names nothing has no precision
    assert Definition("precision", *SETS).value(judge, human) == pytest.approx((1 + 0) / 2)
    assert Definition("predictive_efficiency", *SETS).value(judge, human) == pytest.approx(1.0)
    assert Definition("mse", *SETS).value(judge, human) == pytest.approx((1 + 3 + 1) / 3)


def test_binary_cross_entropy_by_hand_and_where_a_judge_is_certain_and_wrong():
    judge, human = of([[0.8, 0.4]], [[1, 0]])
    found = Definition("binary_cross_entropy", "srs", "hrs").value(judge, human)
    assert found == pytest.approx(-np.log(0.8) - np.log(0.6))
    judge, _ = of([[0.0, 0.4]], [[1, 0]])
    assert Definition("binary_cross_entropy", "srs", "hrs").value(judge, human) == np.inf


def test_the_cutoff_is_reached_by_what_equals_it():
    judge, human = of([[0.3, 0.7]], [[3 / 10, 7 / 10]])
    assert Definition("decision_consistency", cutoff=0.3).value(judge, human) == 1
    assert prevalence_at(human, cutoff=0.1 + 0.2) == 1


def test_ties_are_shared_or_go_to_the_first():
    judge, human = of([[0.5, 0.5, 0], [1, 0, 0]], [[0, 1, 0], [0.5, 0.5, 0]])
    hit = Definition("hit_rate", "hard", "hard")
    assert hit.value(judge, human) == pytest.approx(0.5)
    assert hit.value(judge, human, ties="first") == pytest.approx(0.5)
    assert hit.value(human, human) == pytest.approx((1 + 0.5) / 2)
    assert hit.value(human, human, ties="first") == 1


def test_definitions_refuse_what_the_sources_table_excludes():
    with pytest.raises(bj.InputError, match="takes hard"):
        Definition("cohen_kappa", "soft", "hard")
    with refused("hit_rate", subject="Definition"):
        Definition("kappa", "hard", "hard")
    every = bj.ratings.definitions()
    assert {d.metric for d in every} >= set(METRICS)
    assert len(set(map(str, every))) == len(every)


def test_a_perfect_judge_is_best_under_every_definition(ratings):
    people = ratings.profile("people")
    held = ~np.isnan(people.endorsed[:, 0])
    same, other = people.items(held), ratings.profile("claude").items(held)
    for d in bj.ratings.definitions():
        if d.metric in ("predictive_efficiency", "binary_cross_entropy") or "cross" in d.metric:
            continue  # these are not at their best where the two agree
        assert d.loss(d.value(same, same)) <= d.loss(d.value(other, same)), str(d)


@pytest.mark.slow
def test_bootstrap_resamples_items(ratings):
    """Its spread is that of means over items, found by the textbook's formula."""
    of_one = [Definition("mse", "soft", "soft")]
    found = bj.ratings.agreement(ratings, of=of_one, replicates=4000, random_seed=1)
    judge, human = (ratings.profile(s).chosen for s in ("gpt", "people"))
    each = ((judge - human) ** 2).sum(axis=1)
    assert_allclose(found.values[0, 0], each.mean())
    error = each.std() / np.sqrt(each.size)
    assert found.draws[:, 0, 0].std() == pytest.approx(error, rel=5 / np.sqrt(2 * 4000))


@pytest.mark.slow
def test_bootstrap_is_reproducible_and_infinite_metrics_say_so(ratings):
    one, same = (bj.ratings.agreement(ratings, replicates=20, random_seed=2) for _ in range(2))
    assert np.array_equal(one.draws, same.draws, equal_nan=True)
    kl = one.estimate()["kl_human_judge", "s/s", "gpt"]
    assert kl.value == np.inf
    assert np.isnan(kl.low)
    smoothed = bj.ratings.agreement(ratings, replicates=20, pseudo_count=0.5)
    assert np.isfinite(smoothed.values).all()


@pytest.mark.slow
def test_best_ranks_and_contradictions(ratings):
    found = bj.ratings.agreement(ratings, replicates=300, pseudo_count=0.5)
    best = found.best()
    assert_allclose(best.sum(axis=1), 1)
    assert best.loc["mse (srs/srs)", "gpt"] > 0.9  # it shares most with people
    assert found.ranks().loc["mse (srs/srs)", "gpt"] == 1
    table = found.contradictions(prob=0.0)
    assert ((table["probability"] > 0) & (table["probability"] <= 1)).all()
    same = found.contradictions(prob=0.0).query("first == 'fleiss_kappa (h/h)'")
    assert "scott_pi (h/h)" not in set(same["second"])  # two names of one number


@pytest.mark.slow
def test_judges_that_are_right_where_the_other_is_not_vary_against_each_other():
    """P(best) of 104 and 96 of 200 items, none of both: that of a share of .52 to be above 1/2."""
    rows = [(i, who, "n" if (i < 104 and who == "b") or (i >= 104 and who == "a") else "p")
            for i in range(200) for who in ("Anna", "a", "b")]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    read = Ratings.from_frame(table, positive="p", judges=["a", "b"])
    best = bj.ratings.agreement(read, of=[Definition("hit_rate", "hard", "hard")]).best()
    assert best["a"].item() == pytest.approx(beta(104, 96).sf(0.5), abs=0.03)


def test_kl_and_mse_contradict_each_other_in_the_sources_example():
    """Appendix C, example 2: equal choices, unequal endorsements."""
    human = Profile(np.array([[0.4, 0.6]] * 2), np.array([[0.5, 0.6]] * 2))
    z = Profile(np.array([[0.4, 0.6]] * 2), np.array([[0.4, 1.0]] * 2))
    w = Profile(np.array([[0.5, 0.5]] * 2), np.array([[0.5, 0.6]] * 2))
    both = (Definition("kl_human_judge", "soft", "soft"), Definition("mse", "srs", "srs"))
    values = np.array([[d.value(j, human) for j in (z, w)] for d in both])
    found = Performance(both, ("z", "w"), values, values[None], "", "", "")
    (row,) = found.contradictions().to_dict("records")
    assert (row["better"], row["worse"], row["probability"]) == ("z", "w", 1.0)


def test_judges_and_definitions_are_kept_by_name():
    both = (Definition("kl_human_judge", "soft", "soft"), Definition("mse", "srs", "srs"))
    values = np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4]])
    whole = Performance(both, ("z", "w", "v"), values, values[None], "", "", "")
    kept = whole.only("v", "z").under(str(both[1]))
    assert kept.judges == ("v", "z")
    assert kept.definitions == both[1:]
    assert_allclose(kept.values, [[0.4, 0.6]])
    assert_allclose(kept.draws, [[[0.4, 0.6]]])
    with refused("x", "z", "w", "v", subject="Performance.only"):
        whole.only("x")
    with refused("mse", subject="Performance.under"):
        whole.under("mse")


@pytest.mark.slow
def test_endorsement_bounds_hold_where_choices_are_all_there_is():
    table = bj.ratings.simulate(items=400, set_items=0.0, random_seed=4)
    only = Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])
    found = bj.ratings.endorsement_rates(only)
    row = found["endorsement", "people", "yes"]
    assert np.isnan(row.value)
    assert row.low < 0.6 < row.high  # the truth: .35 + .25
    assert {c.id for c in found.cautions} == {"no-response-sets", "not-identified"}


# Sensitivity ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_shifts_start_at_the_counts_and_raise_the_prevalence():
    table = bj.ratings.simulate(items=200, set_items=0.0, choices=5, random_seed=6)
    only = Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])
    shifts = bj.ratings.shift_sensitivity(only)
    start = shifts[(shifts["shift_strength"] == 0) & (shifts["judge"] == "gpt")]
    counted = bj.ratings.agreement(only, replicates=1)
    value = start.set_index("definition")["value"]
    for i, d in enumerate(counted.definitions):
        assert_allclose(value[str(d)], counted.values[i, 0])
    people = shifts[shifts["quantity"] == "prevalence"]["value"].to_numpy()
    assert (np.diff(people) >= 0).all()
    assert people[-1] > people[0]


@pytest.mark.slow
def test_shifts_take_any_reverse_matrix():
    table = bj.ratings.simulate(items=60, set_items=0.0, random_seed=6)
    only = Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])
    settings = {"chosen": "no", "added": "yes", "shift_strength": 0.4}
    matrix = bj.ratings.response_sets.shift_matrix(only.options, only.sets, **settings)
    named = bj.ratings.shift_sensitivity(only, matrices={"mine": matrix})
    by_strength = bj.ratings.shift_sensitivity(only, shift_strengths=[0.4])
    assert_allclose(named["value"], by_strength["value"])


@pytest.mark.parametrize("named", [{}, {"chosen": "b"}, {"added": "a"}])
def test_a_shift_among_three_options_is_between_two_that_are_named(named):
    table = pd.DataFrame(
        [(item, who, "abc"[item % 3]) for item in range(30) for who in ("p1", "p2", "gpt")],
        columns=["item", "rater", "choice"],
    )
    only = Ratings.from_frame(table, positive="a", judges=["gpt"])
    with refused("a", "b", "c", subject="shift_sensitivity"):
        bj.ratings.shift_sensitivity(only, **named)
    shifts = bj.ratings.shift_sensitivity(only, chosen="b", added="a")
    assert len(shifts) > 0


# Entries of an estimate -------------------------------------------------------------------------


def test_definitions_are_told_apart_by_dimensions(ratings):
    of = [
        Definition("mse"),
        Definition("coverage", "hard", "hrs", 0.3),
        Definition("coverage", "hard", "hrs", 0.7),
        Definition("prevalence_bias", cutoff=0.7),
    ]
    found = bj.ratings.agreement(ratings, of=of, replicates=20)
    made = found.estimate()
    assert made["mse", "srs/srs", "gpt"].value == found.values[0, 0]
    assert made["coverage", "h/hrs", 0.7, "claude"].value == found.values[2, 1]
    assert made["prevalence_bias", 0.7, "gpt"].value == found.values[3, 0]
    assert made.quantities["coverage"].dims == ("aggregation", "cutoff", "judge")
    best = found.best_estimate()
    assert best["best", "mse (srs/srs)", "gpt"].value == found.best().loc["mse (srs/srs)", "gpt"]
    assert found.under(of[1]).definitions == (of[1],)


# Every closed form, and every method side by side -----------------------------------------------


@pytest.mark.slow
def test_closed_forms_are_all_that_suit(ratings):
    rates, answered, counted = bj.ratings.closed_forms(ratings, ci_prob=0.9, replicates=20)
    assert answered.table.equals(bj.ratings.answer_rates(ratings, ci_prob=0.9, random_seed=0).table)
    assert rates.table.equals(bj.ratings.endorsement_rates(ratings, ci_prob=0.9).table)
    again = bj.ratings.agreement(ratings, replicates=20).estimate(ci_prob=0.9)
    assert counted.table.equals(again.table)


def test_a_closed_form_that_refuses_is_a_caution():
    apart = np.zeros((2, 4, 2), int)
    apart[0, :2], apart[1, 2:] = 3, 3
    (rates,) = bj.ratings.closed_forms(Ratings(apart, ("yes", "no"), "yes"))
    (text,) = (c.text for c in rates.cautions if c.id == "no-agreement")
    assert "0 items were rated by all sources" in text
    (alone,) = bj.ratings.closed_forms(Ratings(apart[:1], ("yes", "no"), "yes"))
    assert "no-agreement" not in {c.id for c in alone.cautions}


def test_compare_says_what_contradicts_a_method(ratings):
    table = bj.ratings.compare(ratings, of=[Definition("mse")])
    rows = table.set_index("method")
    assert set(table["quantity"]) == {"endorsement", "mse", "matched", "accepted", "best"}
    assert rows.loc["As counted", "contradicted_by"].unique().tolist() == ["choices-stand-in"]
    assert (rows.loc["Mean endorsement", "contradicted_by"] == "").all()
    assert rows.loc["Mean endorsement", "assumes"].iloc[0]
