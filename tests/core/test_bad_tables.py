"""Tables that no estimator can use: the package's own error, naming the column."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.tables import count_rows, read_rows, require_distinct

N = 6
PLAIN = {"item": [*"abcdef"], "score": [1, 2, 3, 1, 2, 3]}
BAD_UTF8 = pa.Array.from_buffers(
    pa.string(), N, pa.array([b"\xff"] * N, pa.binary()).buffers(), null_count=0
)


def with_cells(*cells):
    """A column of Python objects."""
    return pd.DataFrame(PLAIN | {"item": pd.Series([*cells, *"abcdef"][:N], dtype=object)})


TABLES = {
    "lists": with_cells([1]),
    "tuples": with_cells((1, 2)),
    "dicts": with_cells({"a": 1}),
    "sets": with_cells({1}),
    "arrays": with_cells(np.array([1, 2])),
    "bytes": with_cells(b"yes"),
    "objects": with_cells(object()),
    "complex": with_cells(1 + 2j),
    "a surrogate": with_cells("\ud800"),
    "categories": pd.DataFrame(PLAIN | {"item": pd.Categorical([(1, 2)] + [(3, 4)] * 5)}),
    "arrow lists": pa.table(PLAIN | {"item": [[1]] * N}),
    "arrow structs": pa.table(PLAIN | {"item": [{"a": 1}] * N}),
    "arrow binary": pa.table(PLAIN | {"item": [b"\xff"] * N}),
    "arrow not UTF-8": pa.table(PLAIN | {"item": BAD_UTF8}),
    "arrow arrays": pa.table(PLAIN | {"item": pa.array([[1, 2]] * N, pa.list_(pa.int8(), 2))}),
    "pandas arrow lists": pa.table(PLAIN | {"item": [[1]] * N}).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars lists": pl.DataFrame(PLAIN | {"item": [[1]] * N}),
    "polars structs": pl.DataFrame(PLAIN | {"item": [{"a": 1}] * N}),
    "polars binary": pl.DataFrame(PLAIN | {"item": [b"\xff"] * N}),
    "polars objects": pl.DataFrame(PLAIN | {"item": pl.Series([object()] * N, dtype=pl.Object)}),
}


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("read", [read_rows, count_rows, require_distinct])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_cells_that_are_not_single_values_are_refused_with_the_column(table, read):
    with refused("item", id="strange-cells"):
        read(table, "item")


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: pa.Table.from_batches(
    [pa.RecordBatch.from_arrays([pa.array(t.iloc[:, i]) for i in range(3)], [*t.columns])]
)])  # fmt: skip
def test_a_column_that_is_there_twice_is_named(convert):
    table = pd.DataFrame(PLAIN)
    twice = convert(pd.concat([table, table[["score"]]], axis=1))
    with refused("score", id="columns-repeat"):
        read_rows(twice, "item")


def test_other_columns_may_hold_anything():
    table = pd.DataFrame(PLAIN | {"answer": [{"free": "text"}] * N})
    assert len(count_rows(table, "item")[0]) == N


def test_strange_but_single_values_are_names():
    cells = [dt.date(2026, 1, 1), dt.timedelta(1), True, 10**30, "ä", "日本"]
    assert len(count_rows(with_cells(*cells), names=["item"])[0]) == N


@pytest.mark.parametrize("empty", [pd.DataFrame(PLAIN)[:0], pa.table(PLAIN)[:0]])
def test_no_rows(empty):
    with pytest.raises(bj.InputError, match="no rows"):
        bj.repeats.Scores.from_frame(empty, scale=[1, 2, 3])


def test_times_with_and_without_an_offset_give_no_order():
    moments = [dt.datetime(2026, 1, 1), *[dt.datetime(2026, 1, 1, tzinfo=dt.UTC)] * (N - 1)]
    table = pd.DataFrame(PLAIN | {"at": pd.Series(moments, dtype=object)})
    with refused(id="no-order"):
        bj.repeats.Scores.from_frame(table, scale=[1, 2, 3], order="at")


def test_a_column_that_a_number_names_is_told_from_one_that_is_not_there():
    by_text, by_number = (pd.DataFrame({name: [1]}) for name in ("0", 0))
    for column in (0, "0"):
        with refused(id="numbered-column"):
            read_rows(by_number, column)
    with refused(id="no-column"):
        read_rows(by_text, 0)


def test_a_name_of_the_index_is_told_from_one_that_is_not_there():
    table = pd.DataFrame({"item": ["a"], "verdict": [1]}).set_index("item")
    with refused(id="index-column", column="item"):
        read_rows(table, "item", "verdict")
    assert read_rows(table.reset_index(), "item", "verdict").shape == (1, 2)
    kept = table.assign(item="b")  # an index that is called like a column
    assert read_rows(kept, "item")["item"].tolist() == ["b"]
