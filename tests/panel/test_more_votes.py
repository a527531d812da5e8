"""Votes that come later: added up, they are what reading everything at once gives."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj

Votes = bj.panel.Votes
FIELDS = ("votes", "truth", "generator", "count", "judge_of_column")


def same(one, other):
    for name in ("generators", "judges", "classes", "calibration"):
        assert getattr(one, name) == getattr(other, name), name
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    return True


def long_table(**more):
    """In an order in which halves name everything as the whole does."""
    settings = {"items": 30, "labelled": (20, 10, 0), "missing": 0.2, "random_seed": 1}
    return bj.panel.simulate(**settings | more)


def read(rows, **more):
    return Votes.from_frame(rows, **{"calibration": "random"} | more)


def test_parts_by_item_add_up_to_the_whole():
    rows = long_table()
    late = rows["item"].isin(sorted(rows["item"].unique())[::3])
    assert same(read(rows[~late]) + read(rows[late]), read(pd.concat([rows[~late], rows[late]])))


def test_new_generators_and_judges_join():
    rows = long_table()
    old = rows[(rows["generator"] != "g3") & (rows["judge"] != "d")]
    new = rows[rows["generator"] == "g3"]
    made = read(old) + read(new)
    assert made.judges == tuple("abcd")
    assert same(made, read(pd.concat([old, new])))


def test_several_votes_of_a_judge():
    rows = long_table()
    first = rows[rows["generator"] != "g3"]
    twice = pd.concat([rows[rows["generator"] == "g3"]] * 2)
    made = read(first) + read(twice, repeated="keep")
    assert same(made, read(pd.concat([first, twice]), repeated="keep"))


def test_unlabelled_votes_take_the_design_of_the_others():
    rows = long_table(labelled=(20, 0, 0))
    more = rows[rows["generator"] == "g2"]
    assert read(more, calibration=None).calibration == "by_generator"
    assert (read(rows[rows["generator"] == "g1"]) + read(more)).calibration == "random"


def test_whole_generators_that_are_not_whole_any_more_are_asked_about():
    rows = long_table(labelled=(30, 0, 0))
    whole = read(rows[rows["generator"] == "g1"], calibration=None)
    others = rows[rows["generator"] == "g1"].assign(item=lambda t: "more" + t["item"].map(str))
    more = read(others.assign(truth=np.nan), calibration=None)
    with refused(id="unknown-calibration"):
        whole + more
    assert (replace(whole, calibration="random") + more).calibration == "random"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"calibration": "by_verdict"}, "chosen in two ways, by_verdict and random"),
        ({"classes": ("fail", "pass")}, "classes must be the same"),
    ],
)
def test_what_cannot_be_added_is_refused(change, words):
    votes = read(long_table())
    with pytest.raises(bj.InputError, match=words):
        votes + replace(votes, **change)
    with pytest.raises(TypeError):
        votes + 1


def labels_of(rows):
    """One row per labelled item, without votes."""
    known = rows[rows["truth"].notna()].drop_duplicates(["generator", "item"])
    return known[["generator", "item", "truth"]]


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["random", "by_truth"])
def test_a_batch_of_labels_alone(calibration):
    rows = long_table()
    labels = labels_of(rows)
    votes = read(rows.assign(truth=np.nan), calibration=None)
    whole = read(rows, calibration=calibration)
    assert same(votes.with_labels(labels, calibration=calibration), whole)
    batches = votes
    for i in range(3):
        batches = batches.with_labels(labels[i::3], calibration=calibration)
    assert same(batches, whole)


@pytest.mark.slow
def test_labels_of_votes_that_were_added():
    rows = long_table()
    bare = rows.assign(truth=np.nan)
    late = rows["item"].isin(sorted(rows["item"].unique())[::3])
    added = read(bare[~late], calibration=None) + read(bare[late], calibration=None)
    in_order = pd.concat([rows[~late], rows[late]])
    assert same(added.with_labels(labels_of(rows), calibration="random"), read(in_order))


def test_words_of_labels_and_one_generator():
    rows = long_table(prevalence=(0.8,), labelled=(20,))
    labels = labels_of(rows).drop(columns="generator")
    labels["truth"] = labels["truth"].map({0: "fail", 1: "pass"})
    votes = read(rows.drop(columns=["truth", "generator"]), generator=None, truth=None)
    made = votes.with_labels(labels, generator=None, calibration="random")
    assert made.spelling == "pass read as pass; fail read as fail"
    np.testing.assert_array_equal(made.labelled, read(rows).labelled)


def test_more_labels_make_whole_generators_partly_labelled():
    rows = long_table(labelled=(30, 30, 0))
    known = rows.assign(truth=rows["truth"].where(rows["generator"] == "g1"))
    votes = read(known, calibration=None)
    more = labels_of(rows[rows["generator"] == "g2"])
    assert votes.with_labels(more).calibration == "by_generator"
    with refused(id="unknown-calibration"):
        votes.with_labels(more[:5])
    assert votes.with_labels(more[:5], calibration="random").labelled[1].sum() == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"truth": np.nan}, "6 rows have no human label"),
        ({"item": "no such"}, "nobody voted on 6 of the labelled items, for example"),
        ({"truth": [0, 1] * 3, "item": "1", "generator": "g1"}, "items .* more than one truth"),
    ],
)
def test_labels_that_do_not_fit_are_refused(change, words):
    rows = long_table()
    rows["item"] = rows["item"].map(str)
    bare = read(rows.assign(truth=np.nan), calibration=None)
    with pytest.raises(bj.InputError, match=words):
        bare.with_labels(labels_of(rows)[:6].assign(**change), calibration="random")


@pytest.mark.slow
def test_another_truth_of_a_labelled_item_is_refused():
    rows = long_table()
    labels = labels_of(rows)
    assert same(read(rows).with_labels(labels), read(rows))  # the same once more
    with refused("0", subject="panel.Votes.with_labels"):
        read(rows).with_labels(labels.assign(truth=1 - labels["truth"]))


@pytest.mark.slow
def test_items_that_an_engine_counted_are_unknown():
    duckdb = pytest.importorskip("duckdb")
    rows = long_table()
    table = duckdb.from_df(rows)
    made = Votes.from_frame(table, calibration="random")
    assert not (made + made).distinct
    with refused(id="only-counted"):
        made.with_labels(labels_of(rows))
