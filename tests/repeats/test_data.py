import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import bayesjudge as bj
from bayesjudge.repeats import Scores

TABLE = pd.DataFrame(
    {
        "id": ["x", "x", "y", "x", "y", "x"],
        "model": ["a", "a", "a", "b", "b", "a"],
        "call": [2, 1, 1, 1, 1, 3],
        "score": [4, 2, 5, 3, None, 4],
    }
)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_counts_order_and_unparsed_answers(library):
    scores = Scores.from_frame(
        library(TABLE.to_dict("list")),
        scale=range(1, 6),
        item="id",
        judge="model",
        order="call",
    )
    assert scores.items == ("x", "y")
    assert scores.judges == ("a", "b")
    assert scores.counts[0, 0].tolist() == [0, 1, 0, 2, 0]
    assert scores.repeats.tolist() == [[3, 1], [1, 0]]
    assert scores.unparsed.tolist() == [[0, 0], [0, 1]]
    assert_allclose(scores.first, [[2, 3], [5, np.nan]])
    assert_allclose(scores.drift[0, 0], -1 * 2 + 0 * 4 + 1 * 4)
    assert_allclose(scores.means, [[10 / 3, 3], [5, np.nan]])
    assert_allclose(scores.deviations[0, 0], np.var([2, 4, 4]) * 3)


def test_all_problems_are_named_at_once():
    with pytest.raises(bj.InputError) as caught:
        Scores(np.zeros((1, 1, 2)), scale=[2, 1], items=["x"], judges=["a"])
    assert "rising" in str(caught.value)
    assert "there is no score" in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([1, 2, 7], r"\[7.0\] are not on the scale"),
        ([1, 2.5], r"\[2.5\] are not on the scale"),
    ],
)
def test_scores_off_the_scale_are_refused(scores, words):
    with pytest.raises(bj.InputError, match=words):
        Scores.from_values(scores, scale=[1, 2, 3])


def test_words_among_scores_are_refused():
    table = pd.DataFrame({"score": [1, "good", 2]})
    with pytest.raises(bj.InputError, match=r"'good'.*not numbers"):
        Scores.from_frame(table, scale=[1, 2])


def test_a_missing_column_is_named():
    with pytest.raises(bj.InputError, match="no column 'scores'; did you mean 'score'"):
        Scores.from_frame(TABLE, score="scores", scale=range(1, 6))


def test_rows_without_an_item_are_refused():
    table = TABLE.assign(id=["x", None, "y", "x", "y", "x"])
    with pytest.raises(bj.InputError, match="1 rows name no item"):
        Scores.from_frame(table, item="id", scale=range(1, 6))


def test_what_was_checked_stays_checked():
    scores = Scores.from_values([1, 2], scale=[1, 2])
    with pytest.raises(ValueError, match="read-only"):
        scores.counts[0, 0, 0] = 5
