"""Votes that come later: added up, they are what reading everything at once gives."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

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
    more = read(rows.assign(truth=np.nan)[rows["generator"] == "g1"], calibration=None)
    with pytest.raises(bj.InputError, match="how were the labelled items chosen"):
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
