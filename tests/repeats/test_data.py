import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from refusals import refused

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
    assert (scores.sequence + 1).tolist() == [2, 4, 4, 3, 5]
    assert_allclose(scores.means, [[10 / 3, 3], [5, np.nan]])
    assert_allclose(scores.deviations[0, 0], np.var([2, 4, 4]) * 3)


ORDERS = {
    "numbers as text": ["1", "10", "2", "11"],
    "numbers and such text": [1, "10", 2.0, "11"],
    "numbers beyond floats": [
        "90071992547409920",
        "90071992547409993",
        "90071992547409921",
        "90071992547409994",
    ],
    "decimals as text": ["-1.5", "1e1", "2", "1.1e1"],
    "times with offsets": [
        "2026-01-31T09:00:00Z",
        "2026-01-31T07:00:00-05:00",
        "2026-01-31T09:30:00+00:00",
        "2026-01-31T13:00:00Z",
    ],
    "dates": ["2026-01-09", "2026-01-31", "2026-01-10", "2026-02-01"],
    "times": pd.to_datetime(["2026-01-09", "2026-01-31", "2026-01-10", "2026-02-01"]),
    "an order of the user's": pd.Categorical(list("azbq"), list("abzq"), ordered=True),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_answers_are_put_in_the_order_in_which_they_came(order):
    """First, third, second, fourth; sorted as text most of them would not be."""
    table = pd.DataFrame({"when": order, "score": [1, 4, 2, 5]})
    scores = Scores.from_frame(table, scale=range(1, 6), item=None, order="when")
    assert (scores.sequence + 1).tolist() == [1, 2, 4, 5]


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("name", ["numbers as text", "dates", "times"])
def test_tables_of_every_kind_are_put_in_order(name, kind):
    table = kind(pd.DataFrame({"when": ORDERS[name], "score": [1, 4, 2, 5]}))
    scores = Scores.from_frame(table, scale=range(1, 6), item=None, order="when")
    assert (scores.sequence + 1).tolist() == [1, 2, 4, 5]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["1", "2", "three", "4"], r"\['three'\] give no order: expected numbers"),
        ([1, pd.Timestamp("2026-01-31"), "2", 3], "give no order"),
        ([1, "a", None, 2], "1 row does not say when"),
        (["2026-01-31T09:00:00", "2026-01-31T09:00:00Z"] * 2, "offset from UTC in all"),
        (["31/01/2026", "01/02/2026"] * 2, "give no order"),
        (["1", "nan", "2", "3"], "'nan'.* give no order"),
        (["1", " ", "2", "3"], "give no order"),
        ([True, "b", 2, ("x", 1)], r"\('x', 1\) \(tuple\), expected one text"),
    ],
)
def test_an_order_that_is_none_is_refused_in_words(order, message):
    table = pd.DataFrame({"when": pd.Series(order, dtype=object), "score": [1, 4, 2, 5]})
    with pytest.raises(bj.InputError, match=f"column 'when'.*{message}"):
        Scores.from_frame(table, scale=range(1, 6), item=None, order="when")


@pytest.mark.parametrize("sequence", [[0, 0], [0, 1, 1], [1, 0, 2], [0, -1, 0]])
def test_a_sequence_of_other_scores_is_refused(sequence):
    counts = [[[2, 1]]]
    assert Scores(counts, [1, 2], ["x"], ["a"], sequence=[0, 1, 0]).sequence.tolist() == [0, 1, 0]
    with refused(id="other-sequence"):
        Scores(counts, scale=[1, 2], items=["x"], judges=["a"], sequence=sequence)


@pytest.mark.parametrize("items", [2, 40])
def test_a_table_of_several_items_is_not_one_item(items):
    table = pd.DataFrame({"doc_id": np.repeat(range(items), 160 // items), "score": 3})
    with refused("doc_id", "item=", items, subject="table"):
        Scores.from_frame(table, scale=range(1, 6), item=None)
    one = table.assign(doc_id=7)
    assert Scores.from_frame(one, scale=range(1, 6), item=None).repeats.item() == 160


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
        Scores.from_frame(table, scale=[1, 2], item=None)


def test_a_missing_column_is_named():
    with refused("scores", "score", subject="table"):
        Scores.from_frame(TABLE, score="scores", item="id", scale=range(1, 6))


def test_rows_without_an_item_are_refused():
    table = TABLE.assign(id=["x", None, "y", "x", "y", "x"])
    with refused("id", subject="table"):
        Scores.from_frame(table, item="id", scale=range(1, 6))


def test_what_was_checked_stays_checked():
    scores = Scores.from_values([1, 2], scale=[1, 2])
    with pytest.raises(ValueError, match="read-only"):
        scores.counts[0, 0, 0] = 5


def test_a_table_is_about_one_item_only_if_it_says_so():
    table = TABLE.drop(columns="id")
    with pytest.raises(bj.InputError, match=r"no column 'item'(?s:.*)item=None if there is one"):
        Scores.from_frame(table, scale=range(1, 6))
    assert Scores.from_frame(table, scale=range(1, 6), item=None).items == ("item",)
    assert Scores.from_frame(TABLE.rename(columns={"id": "item"}), scale=range(1, 6)).items == (
        "x",
        "y",
    )


@pytest.mark.parametrize("again", ["1", "1.0", " 1"])
def test_two_answers_at_one_time_are_refused(again):
    """Of one judge about one item; another judge, or another item, may answer at that time."""
    table = pd.DataFrame(
        {
            "item": ["x", "x", "y", "x"],
            "judge": ["a", "b", "a", "a"],
            "call": ["1", "1", "1", again],
            "score": [1, 2, 3, 4],
        }
    )
    with refused("call", 1, id="same-time"):
        Scores.from_frame(table, scale=range(1, 6), judge="judge", order="call")
    kept = Scores.from_frame(table[:3], scale=range(1, 6), judge="judge", order="call")
    assert kept.repeats.tolist() == [[1, 1], [1, 0]]


def test_scores_show_themselves_on_one_line():
    scores = Scores.from_frame(TABLE, item="id", judge="model", scale=range(1, 6))
    assert repr(scores) == (
        "repeats.Scores(2 items; 2 judges; 5 scores; 1 unparsed; scale 1, 2, 3, 4, 5)"
    )
    assert "2 judges" in scores._repr_html_()
    long = Scores.from_values([1, 2], scale=range(100))
    assert "scale 0, 1, 2, …, 99" in repr(long)
    assert len(repr(long)) < 100


@pytest.mark.fast_named("pandas", "lazy")
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "lazy"])
def test_a_column_of_each_answer_is_counted_like_a_row_of_each(kind):
    import polars as pl

    wide = pd.DataFrame({"item": ["a", "b", "a"], "judge": ["x", "x", "y"], "first": [1, 5, 3],
                         "second": [2, None, 3], "third": [2, 4, 1]})  # fmt: skip
    names = ["first", "second", "third"]
    rows = wide.melt(["item", "judge"], names, value_name="score")
    expected = Scores.from_frame(rows, scale=range(1, 6), judge="judge")
    made = {
        "pandas": wide,
        "polars": pl.from_pandas(wide),
        "arrow": pl.from_pandas(wide).to_arrow(),
        "lazy": pl.from_pandas(wide).lazy(),
    }
    found = Scores.from_frame(made[kind], scale=range(1, 6), score=names, judge="judge")
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.unparsed.tolist() == expected.unparsed.tolist() == [[0, 0], [1, 0]]
    if kind != "lazy":
        assert found.sequence.tolist() == expected.sequence.tolist() == [0, 1, 1, 2, 2, 0, 4, 3]
    one = Scores.from_frame(made[kind], scale=range(1, 6), score=["first"], judge="judge")
    assert one.repeats.sum() == 3
    with refused("order=", subject="columns of scores"):
        Scores.from_frame(wide, scale=range(1, 6), score=names, order="judge")


def test_plain_means_and_spreads_of_few_scores():
    # the three evaluators of source 3: 4.6 / .55, 3.6 / 1.14, 4.6 / .55
    table = {"1": [4, 4, 5, 5, 5], "2": [5, 4, 3, 4, 2], "3": [5, 4, 5, 4, 5]}
    rows = pd.DataFrame(
        [("a", judge, score) for judge, scores in table.items() for score in scores],
        columns=["item", "judge", "score"],
    )
    scores = bj.repeats.Scores.from_frame(rows, scale=range(1, 6), judge="judge")
    found = scores.describe().set_index("judge")
    assert found["mean"].tolist() == pytest.approx([4.6, 3.6, 4.6])
    assert found["sd"].round(2).tolist() == [0.55, 1.14, 0.55]
    one = bj.repeats.Scores.from_values([4], scale=[1, 2, 3, 4, 5]).describe()
    assert np.isnan(one["sd"][0])


def test_each_row_without_a_score_is_counted_also_in_an_engine():
    import polars as pl

    rows = pd.DataFrame({"item": list("aaab"), "score": [None, None, 3, 1]})
    found = Scores.from_frame(pl.from_pandas(rows).lazy(), scale=range(1, 6))
    assert found.unparsed.tolist() == [[2], [0]]
