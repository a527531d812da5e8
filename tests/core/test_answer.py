"""The sentence: numbers as people write them, and what happens if there is none."""

import math
from statistics import NormalDist

import numpy as np
import pytest
import xarray as xr

import bayesjudge as bj
from bayesjudge.core.answer import listed, numbers, percents, points, says_little
from bayesjudge.core.estimate import Row
from bayesjudge.core.fit import Fit

P = bj.prevalence


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (Row(0.388, 0.307, 0.466), "39 % (31 to 47 %, 95 % interval)"),
        (Row(0.5, 0.495, 0.505), "50.0 % (49.5 to 50.5 %, 95 % interval)"),
        (Row(0.25, 0.25, 0.25), "exactly 25.0 %"),
        (Row(0.25, math.nan, math.nan), "25 % (no interval)"),
    ],
)
def test_shares_have_the_digits_that_their_interval_is_worth(row, words):
    assert percents(row, 0.95) == words


def test_other_numbers():
    assert points(Row(0.13, -0.02, 0.2)) == "13 points (-2 to 20)"
    assert numbers(Row(3.3567, 3.1, 3.6), 0.9) == "3.36 (3.10 to 3.60, 90 % interval)"
    assert numbers(Row(1234.5, 900, 1600)) == "1234 (900 to 1600)"
    assert [listed(list(names)) for names in ("", "a", "ab", "abc")] == [
        *("", "a", "a and b", "a, b and c"),
    ]
    assert says_little(Row(math.nan, math.nan, math.nan))
    assert not says_little(Row(0.5, 0.2, 0.8))


def results(counts):
    return *P.closed_forms(counts), P.exact(counts)


def test_without_labels_the_judge_is_not_quoted_as_the_truth():
    """Its own rate is a number that no label corrects, however narrow its interval."""
    found = P.answer(*results(P.Counts(1000, 620, 0, 0, 0, 0, calibration="random")))
    assert not found.known
    assert "cannot tell" in found.text
    assert "62 %" not in found.text
    assert "random sample" in found.text


@pytest.mark.slow
def test_a_judge_that_tells_nothing_is_said_to():
    found = P.answer(*results(P.Counts(1000, 620, 10, 6, 10, 5, calibration="by_truth")))
    assert not found.known
    assert "anything from" in found.text
    assert "random sample" in found.text


def test_a_method_that_the_design_does_not_grant_is_never_quoted():
    counts = P.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    made = P.closed_forms(counts, mismatched=True)
    assert P.answer(*made).method.id == "rogan-gladen"


def two_systems(*labels):
    cells = ([300, 300], [200, 120], *([n, n - gone] for n, gone in labels))
    return P.Counts(*cells, systems=["old", "new"], calibration="by_truth")


@pytest.mark.slow
def test_the_pooled_model_is_quoted_if_it_was_asked_for():
    counts = two_systems((40, 0), (36, 0), (30, 0), (24, 0))
    draws = np.random.default_rng(1).beta(30, 20, (2, 100, 2))
    posterior = xr.Dataset(
        {"prevalence": (("chain", "draw", "system"), draws)}, coords={"system": ["old", "new"]}
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    made = P.exact(counts), *P.closed_forms(counts)
    pooled, separate = P.PooledErrorRates(), P.ErrorRates()
    for model, quoted in ((pooled, "nuts-partially-pooled"), (separate, "exact")):
        fit = Fit(tree, counts, model, ("prevalence",), model._method, "s")
        assert P.answer(*made, fit).method.id == quoted


@pytest.mark.slow
def test_one_system_without_labels_leaves_the_others_an_answer():
    found = P.answer(*results(two_systems((40, 40), (36, 36), (30, 30), (24, 24))))
    assert found.known
    assert found.text.startswith("People would pass")


def test_words_of_the_items_and_the_judges_errors():
    counts = P.Counts(350, 206, 36, 36, 64, 45, calibration="random")
    for target, words in (("items", "of these outputs ("), ("population", "of outputs like these")):
        made = P.exact(counts, target=target)
        rated = P.rogan_gladen(counts)
        found = P.answer(made, rated)
        assert words in found.text
        assert found.basis.startswith("450 items, 100 of ")
        rates = [percents(rated[name]) for name in ("sensitivity", "specificity")]
        assert found.notes[0] == (
            f"On the labelled items alone the judge passes {rates[0]} of good outputs "
            f"and fails {rates[1]} of bad ones."
        )


def test_a_difference_is_told_from_the_better_side():
    from bayesjudge.core.answer import difference_words
    from bayesjudge.prevalence.answer import neighbours

    found = {"first": "old", "second": "new", "value": -0.2, "low": -0.3, "high": -0.1}
    told = difference_words({**found, "probability": 0.02})
    assert told == "new is better than old: 20 points (10 to 30), better with probability 0.980"
    assert difference_words(found) == "new is better than old: 20 points (10 to 30)"
    assert difference_words({**found, "probability": np.nan}) == difference_words(found)
    pairs = [("a", "b", 0.1), ("a", "c", 0.3), ("b", "c", 0.2)]
    rows = [dict(zip(("first", "second", "value"), pair, strict=True)) for pair in pairs]
    near, far = ([(r["first"], r["second"]) for r in part] for part in neighbours(rows))
    assert (near, far) == ([("a", "b"), ("b", "c")], [("a", "c")])


@pytest.mark.slow
def test_several_systems_are_told_best_first_and_the_judges_own_beside():
    counts = P.Counts(
        *([300, 300], [200, 120], [40, 40], [36, 36], [30, 30], [24, 24]),
        systems=["old", "new"],
        calibration="by_truth",
    )
    found = P.answer(*results(counts))
    assert found.text.index("old's") < found.text.index("new's")
    assert "the judge passes" not in found.text  # its own stand in the table
    beside = dict(zip(found.table["system"], found.table["judge"], strict=True))
    assert beside == pytest.approx({"old": 200 / 300, "new": 120 / 300})


@pytest.mark.slow
def test_differences_without_a_fit_hold_the_difference_of_intervals():
    """MOVER by hand, and its sign."""
    from bayesjudge.core.answer import difference_words
    from bayesjudge.prevalence.answer import differences

    counts = P.Counts(
        *([300, 300], [120, 200], [40, 40], [36, 36], [30, 30], [24, 24]),
        systems=["old", "new"],
        calibration="by_truth",
    )
    made = results(counts)
    (found,) = differences(*made)
    old, new = (made[-1]["prevalence", name] for name in ("old", "new"))
    assert found["value"] == pytest.approx(old.value - new.value)
    low = found["value"] - math.hypot(old.value - old.low, new.high - new.value)
    assert found["low"] == pytest.approx(low)
    # old is the worse one: its upper end is that on the side of 0
    side = math.hypot(old.high - old.value, new.value - new.low)
    sure = NormalDist().cdf(NormalDist().inv_cdf(0.975) * found["value"] / side)
    assert found["probability"] == pytest.approx(sure)
    assert difference_words(found).startswith("new is better than old")


def test_the_paragraph_names_the_kind_of_interval():
    counts = P.Counts(350, 206, 36, 36, 64, 45, calibration="random")
    bayes = P.answer(*results(counts)).paragraph()
    assert "credible intervals" in bayes
    closed = P.answer(*P.closed_forms(counts)).paragraph()
    assert "confidence intervals" in closed
    assert "credible" not in closed


@pytest.mark.slow
def test_a_share_that_the_prior_makes_is_told_beside_that_of_the_labels():
    """Of 100 labelled fails none was wrong: the prior adds as much as was found."""
    P = bj.prevalence

    def said(found, wrong):
        """All 186 passes labelled, and 100 of 11,814 fails, of which some were wrong."""
        counts = P.Counts(
            11_714, 0, found + wrong, found, 286 - found - wrong, 100 - wrong,
            calibration="by_verdict",
        )  # fmt: skip
        return " ".join(P.answer(*P.closed_forms(counts), P.exact(counts)).notes)

    assert f"give {100 * 62 / 12_000:.2f} %: the difference is the prior's" in said(62, 0)
    assert "the prior's" not in said(62, 5)


@pytest.mark.parametrize("kind", ["system", "judge"])
def test_one_system_that_is_named_answers_as_one_that_is_not(kind):
    six = (350, 206, 36, 36, 64, 45)
    alone = bj.prevalence.Counts(*six, calibration="random")
    named = bj.prevalence.Counts(*([n] for n in six), calibration="random", systems=["a"], dim=kind)
    told = [bj.prevalence.answer(*bj.prevalence.closed_forms(one)).text for one in (alone, named)]
    assert told[0] == told[1]


def test_one_answer_and_one_comparison_take_every_table_of_one_judge():
    for module in (P.items, P.classes, P.scores):
        assert module.answer is P.answer
        assert module.compare is P.compare
        assert "contrasts" not in vars(module) or module.contrasts is P.contrasts
