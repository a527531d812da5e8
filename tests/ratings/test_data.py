"""What a table says, and what it must not be taken to say."""

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from refusals import refused

import bayesjudge as bj
from bayesjudge.ratings import Ratings

TABLE = pd.DataFrame(
    [
        ("i1", "ann", "yes", None),
        ("i1", "bob", "no", "no|yes"),
        ("i1", "gpt", "yes", "yes"),
        ("i1", "gpt", "yes", None),
        ("i2", "ann", "no", None),
        ("i2", "gpt", None, "no"),
        ("i2", "cy", "idk", None),
    ],
    columns=["item", "rater", "choice", "response_set"],
)


def read(table=TABLE, **more):
    settings = {"positive": "yes", "judges": ["gpt"], "response_set": "response_set"}
    return Ratings.from_frame(table, **{**settings, "missing_value": "idk", **more})


def test_rows_are_counted_by_source_and_item():
    ratings = read()
    assert ratings.options == ("yes", "no")
    assert ratings.sets == (("yes",), ("no",), ("yes", "no"))
    assert ratings.sources == ("people", "gpt")
    assert ratings.chosen.tolist() == [[[1, 1], [0, 1]], [[2, 0], [0, 0]]]
    assert ratings.endorsed.tolist() == [[[0, 0, 1], [0, 0, 0]], [[1, 0, 0], [0, 1, 0]]]
    assert ratings.unpaired.tolist() == [[[1, 0], [0, 1]], [[1, 0], [0, 0]]]
    assert ratings.paired.tolist() == [[[0, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 0]]]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_any_table_gives_the_same_counts(library):
    module = pytest.importorskip(library)
    table = module.from_pandas(TABLE) if library == "polars" else module.Table.from_pandas(TABLE)
    assert np.array_equal(read(table).chosen, read().chosen)


def test_problems_are_named_together():
    bad = TABLE.assign(choice=["yes|no", "perhaps", *TABLE["choice"][2:]])
    with pytest.raises(bj.InputError) as caught:
        read(bad, judges=["gpt", "claude"], options=["yes", "no"])
    text = str(caught.value)
    for words in ("claude", "yes|no", "response_set=", "perhaps"):
        assert words in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"judges": ["gtp"]}, "no rater 'gtp' for a judge; did you mean 'gpt'"),
        ({"judges": ["gpt", "gpt"]}, r"judges \['gpt'\] are named twice"),
        ({"positive": "unsafe"}, r"'unsafe' is nobody's answer; answers are \['no', 'yes'\]"),
        ({"separator": ";"}, r"\['no\|yes'\] are made of other options: does separator=';'"),
        ({"options": ["yes", "no", "yes"]}, "options repeat"),
    ],
)
def test_a_mistyped_setting_is_named(settings, words):
    with pytest.raises(bj.InputError, match=words):
        read(**settings)


def test_choices_and_sets_of_other_words_are_refused():
    """An engine reads yes and no as booleans, and leaves ``no|yes`` a text."""
    booleans = TABLE.assign(choice=TABLE["choice"].map({"yes": True, "no": False}))
    with refused(id="choices-unlike-sets", choices=["0", "1"], within=["no", "yes"]):
        read(booleans)


def test_a_negative_pseudo_count_is_refused():
    with pytest.raises(bj.InputError, match=r"pseudo_count must be 0 or more, got -0\.5"):
        bj.ratings.agreement(read(), pseudo_count=-0.5)


def test_a_person_who_answers_twice_is_named():
    twice = pd.concat([TABLE, TABLE.iloc[[0]]], ignore_index=True)
    with pytest.raises(bj.InputError, match="ann"):
        read(twice)


@pytest.mark.slow
@pytest.mark.parametrize("copy", ["yes", " yes"])
def test_copies_of_a_persons_answer_count_once_if_that_is_asked(copy):
    twice = pd.concat([TABLE, TABLE.iloc[[0, 3]].assign(choice=copy)], ignore_index=True)
    with pytest.raises(bj.InputError, match="repeated='one'"):
        read(twice)
    judged_again = read(pd.concat([TABLE, TABLE.iloc[[3]]], ignore_index=True))
    once = read(twice, repeated="one")
    assert once.chosen[0].tolist() == read().chosen[0].tolist()
    for name in ("chosen", "endorsed", "paired", "annotations"):  # a judge's calls stay apart
        assert np.array_equal(getattr(once, name), getattr(judged_again, name)), name


def test_a_persons_answers_that_differ_are_never_copies():
    other = pd.concat([TABLE, TABLE.iloc[[0]].assign(choice="no")], ignore_index=True)
    for repeated in ("error", "one"):
        with refused(id="answers-repeat") as raised:
            read(other, repeated=repeated)
        assert "repeated=" not in str(raised.value)
    with refused("repeated=", "first", subject="ratings.from_frame"):
        read(repeated="first")


@pytest.mark.parametrize("column", ["choice", "response_set"])
def test_several_rows_of_a_person_for_one_item_are_named(column):
    """They are not independent; a choice and a response set belong in one row."""
    other = {"choice": "response_set", "response_set": "choice"}[column]
    more = pd.DataFrame([{"item": "i1", "rater": "ann", column: "no", other: None}])
    with refused(id="answers-repeat"):
        read(pd.concat([TABLE, more], ignore_index=True))


def test_ratings_show_what_they_hold():
    text = repr(read())
    assert "2 items, options yes (positive), no" in text
    assert "people: 3 choices, 1 response sets, on 2 items" in text
    many = Ratings(np.ones((40, 2, 2), int), ("yes", "no"), "yes")
    assert len(repr(many).splitlines()) < 12
    assert "and 32 more judges" in repr(many)
    assert "<pre>Ratings of" in many._repr_html_()


def test_a_positive_option_must_be_one():
    with pytest.raises(bj.InputError, match="toxic"):
        Ratings(np.ones((1, 2, 2), int), ("yes", "no"), "toxic")


def test_a_positive_option_that_nobody_gave_is_no_new_option():
    with refused("Yes", "yes", subject="ratings.from_frame"):
        read(positive="Yes")
    assert read(positive="maybe", options=["maybe", "yes", "no"]).positive_index == 0


def test_paired_counts_that_cannot_be_are_refused():
    settings = {"options": ("yes", "no"), "positive": "yes"}
    paired = np.zeros((1, 2, 3), int)
    paired[0, 0, 1] = 1  # "yes" from the set {no}
    with refused() as caught:
        Ratings(np.array([[[0, 1]]]), **settings, paired=2 * paired, paired_chosen=[[[1, 0]]])
    ids = [problem.id for problem in caught.value.problems]
    assert ids == ["pairs-differ", "too-many-pairs", "pairs-outside"]


def test_a_choice_outside_the_own_set_is_counted_apart():
    stray = pd.concat(
        [TABLE, pd.DataFrame([("i2", "dee", "yes", "no")], columns=TABLE.columns)],
        ignore_index=True,
    )
    ratings = read(stray)
    assert ratings.stray == 1
    assert ratings.paired.sum() == 2
    assert "stray-choices" in {c.id for c in bj.ratings.endorsement_rates(ratings).cautions}


def opposite(seed=3):
    table = bj.ratings.simulate(items=400, random_seed=seed)
    wrong = table["rater"] == "gpt"
    turned = table.loc[wrong, "choice"].map({"yes": "no", "no": "yes"})
    return table.assign(choice=table["choice"].mask(wrong, turned)).drop(columns="response_set")


@pytest.mark.slow
def test_a_judge_that_was_asked_the_opposite_is_caught_and_can_be_recoded():
    def read_it(**more):
        return Ratings.from_frame(opposite(), positive="yes", judges=["gpt", "claude"], **more)

    found = bj.ratings.agreement(read_it(), replicates=10)
    named = [c.text for c in found.cautions if c.id == "polarity"]
    assert len(named) == 1
    assert "'gpt'" in named[0]
    assert "recode=" in named[0]
    mended = read_it(recode={"gpt": {"yes": "no", "no": "yes"}})
    assert not [
        c for c in bj.ratings.agreement(mended, replicates=10).cautions if c.id == "polarity"
    ]


@pytest.mark.slow
def test_unrated_items_are_counted_and_left_out_of_comparisons():
    table = bj.ratings.simulate(items=30, random_seed=1)
    some = table[~((table["rater"] == "gpt") & (table["item"] < 10))]
    ratings = Ratings.from_frame(
        some, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )
    told = {c.id: c.numbers for c in bj.ratings.agreement(ratings, replicates=5).cautions}
    assert told["unrated-items"] == {"name": "gpt", "rated": 20, "n": 30}


# Real data --------------------------------------------------------------------------------------


def dices(name):
    counts = pd.read_csv(shared(f"data/dices/{name}"))
    return counts[["n_unsafe_Yes", "n_safe_No", "n_unsure"]].to_numpy()


@pytest.mark.parametrize(
    ("name", "alpha"), [("counts_350_crowdsourced.csv", 0.161), ("counts_990.csv", 0.143)]
)
def test_dices_raters_agree_as_published(name, alpha):
    found = bj.ratings.metrics.inter_rater_alpha(dices(name))
    assert found == pytest.approx(alpha, abs=5e-4)


@pytest.mark.slow
def test_dices_read_with_the_wrong_polarity_is_caught():
    """The expert's gold, told as an answer to "is it safe?": the mistake that the data invite."""
    people = dices("counts_350_crowdsourced.csv")
    gold = pd.read_csv(shared("data/dices/dices350_counts_vs_expert.csv"))["expert_gold"]
    says_unsafe = (gold == "Yes").to_numpy().astype(int)
    right = np.stack([says_unsafe, 1 - says_unsafe, 0 * says_unsafe], axis=1)
    for judge, expected in ((right, False), (right[:, [1, 0, 2]], True)):
        ratings = Ratings(
            np.stack([people, judge]),
            ("unsafe", "safe", "unsure"),
            "unsafe",
            sources=("people", "expert"),
        )
        found = bj.ratings.agreement(ratings, replicates=10)
        assert ("polarity" in {c.id for c in found.cautions}) == expected
        kappa = found.estimate()["cohen_kappa", "h/h", "expert"].value
        assert (kappa < 0) == expected
