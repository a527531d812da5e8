"""Counting by the codes of Arrow's dictionaries, held against counting by hand."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.labels import spell
from bayesjudge.core.tables import (
    _codes,
    _counted_in_arrow,
    code_rows,
    count_cells,
    every_cell,
    require_distinct,
)

COLORS = ["red", None, "blue", "red", None, "blue", "red", "green"]
FLAGS = [1, 1, None, 0, 0, None, 1, 1]
BY_HAND = Counter(zip(COLORS, FLAGS, strict=True))


@pytest.mark.parametrize(
    "cells",
    [COLORS, FLAGS, [0.5, None, float("inf")], [True, None], [["a"], None], [None, None], []],
)
def test_every_cell_is_arrows(cells):
    for column in (pa.array(cells), pa.array([*cells, None]).slice(1)):
        blocks = pa.chunked_array([column, column.slice(1)])
        assert every_cell(blocks) == blocks.to_pylist()
        if not pa.types.is_nested(column.type):
            assert every_cell(blocks.dictionary_encode()) == blocks.to_pylist()


def as_counter(found):
    cells, counts = found
    return Counter(dict(zip(zip(*cells.values(), strict=True), counts.tolist(), strict=True)))


@pytest.mark.parametrize(
    "color",
    [
        pa.array(COLORS),
        pa.array(COLORS).dictionary_encode(),
        # blocks of a file, each with a dictionary of its own, in another order
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (COLORS[:3], COLORS[3:])]),
        # a slice of something longer: offsets that are no multiple of eight
        pa.array(["x", None, "red", *COLORS, "y"]).slice(3, len(COLORS)),
        pa.array(["x", None, "red", *COLORS, "y"]).dictionary_encode().slice(3, len(COLORS)),
        pa.array(COLORS, pa.large_string()),
        pa.DictionaryArray.from_arrays(
            pa.array([2, None, 0, 2, None, 0, 2, 1], pa.uint8()), ["blue", "green", "red"]
        ),
    ],
    ids=["plain", "dictionary", "blocks", "slice", "slice of codes", "large", "uint8"],
)  # fmt: skip
def test_arrow_is_counted_as_by_hand(color):
    table = pa.table({"color": color, "flag": FLAGS})
    assert as_counter(_counted_in_arrow(table, ["color", "flag"])) == BY_HAND
    assert as_counter(count_cells(table, "color", "flag")) == BY_HAND


def test_nulls_and_nans_are_empty_cells():
    table = pa.table({"x": [1.5, float("nan"), None, 1.5], "y": ["a", "b", "b", "a"]})
    assert as_counter(count_cells(table, "x", "y")) == {(1.5, "a"): 2, (None, "b"): 2}


def test_codes_are_read_where_they_lie():
    indices = pa.array([0, 3, None, 1, None, 2] * 5, pa.int16())
    for start, length in ((0, 30), (1, 11), (7, 9), (29, 1), (5, 0)):
        part = indices.slice(start, length)
        expected = [9 if code is None else code for code in part.to_pylist()]
        np.testing.assert_array_equal(_codes(part, null=9), expected)
    np.testing.assert_array_equal(_codes(pa.array([2, 1], pa.int8()), null=9), [2, 1])


@pytest.mark.parametrize("empty", [pa.array([], pa.string()), pa.array([None, None], pa.string())])
def test_a_column_without_a_label(empty):
    found = _counted_in_arrow(pa.table({"x": empty}), ["x"])
    assert as_counter(found) == ({(None,): 2} if len(empty) else {})


def test_combinations_beyond_the_integers_are_counted_otherwise():
    rows = 3000
    steps = (1, 7, 11, 13, 17, 19)  # none of which divides their number
    columns = {f"by {s}": pa.array([str(j * s % rows) for j in range(rows)]) for s in steps}
    table = pa.table(columns)
    assert _counted_in_arrow(table, list(columns)) is None  # 3,000 to the sixth
    three = list(columns)[:3]  # past what a table of all combinations holds
    expected = Counter(zip(*(columns[name].to_pylist() for name in three), strict=True))
    assert as_counter(_counted_in_arrow(table, three)) == expected


def test_columns_that_other_libraries_cannot_convert():
    """Dictionaries of nothing, which Arrow does not unify; integers that pandas does not know."""
    pl = pytest.importorskip("polars")
    nothing = pa.chunked_array([pa.nulls(2), pa.nulls(2)])
    for column in (nothing, nothing.dictionary_encode()):
        table = pa.table({"verdict": pa.chunked_array([[1, 0], [1, 1]]), "truth": column})
        assert bj.prevalence.Counts.from_frame(table, calibration="random").test_pass == 3
    columns = {"item": [1, 1, 2, 2**70], "judge": [*"abab"], "vote": [1, 0, 1, 1]}
    rows = pl.DataFrame(
        columns | {"generator": ["g"] * 4, "truth": [1, 1, None, None]},
        schema_overrides={"item": pl.Int128, "truth": pl.Int128},
    )
    votes = bj.panel.Votes.from_frame(rows, judge="judge", vote="vote", calibration="random")
    assert (votes.count.sum(), votes.labelled.sum()) == (3, 1)


TEXTS = pa.array(["b", "a", "b"])
NAMES = {
    "two_columns": ([TEXTS, pa.array([1, 1, 2])], True),
    "repeated": ([TEXTS, pa.array([1, 2, 1])], False),
    "alone": ([pa.array([3, 1, 2])], True),
    "dictionary": ([pa.array(["x", "y", "z"]).dictionary_encode()], True),
    "in_parts": ([pa.chunked_array([["x", "y"], ["x"]])], False),
    "empty": ([pa.array(["x", "y", None])], False),
    "blank": ([pa.array(["x", "y", "  "])], False),
    "nothing": ([pa.nulls(3)], False),
    "other_type": ([pa.array([True, False, None])], False),
}


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("names", NAMES)
def test_rows_of_arrow_differ_as_those_of_pandas_do(names):
    columns, differ = NAMES[names]
    table = pa.table({str(i): column for i, column in enumerate(columns)})
    for rows in (table, table.to_pandas()):
        if differ:
            require_distinct(rows, *table.column_names)
        else:
            with pytest.raises(bj.InputError):
                require_distinct(rows, *table.column_names)


def test_a_null_of_a_dictionary_names_nothing():
    cells = pa.DictionaryArray.from_arrays([0, 1, 2], ["x", None, "y"])
    with refused("x", subject="table"):
        require_distinct(pa.table({"x": cells}), "x")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["prevalence", "judge", "doctor"])
def test_a_table_with_items_is_read_without_pandas(command, tmp_path):
    """It takes a third of a second to load, which is more than the answer takes."""
    rows = [f"i{i},{i % 3 > 0:d},{i % 2 if i < 40 else ''}" for i in range(120)]
    (tmp_path / "table.csv").write_text("\n".join(["item,verdict,truth", *rows]))
    line = [command, "table.csv"]
    if command != "doctor":
        line += ["--verdict=verdict", "--truth=truth", "--calibration=random"]
    code = "import sys; from bayesjudge.cli import main"
    code += f"; code = main({line}); print('pandas' in sys.modules, code)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "False 0", done.stderr


# By their codes ----------------------------------------------------------------------------------

COLUMNS = {
    "texts": pa.array(["b", None, "a", "b"]),
    "whole numbers beside none": pa.array([7, None, 3, 7]),
    "zero of either sign": pa.array([0.0, -0.0, 1.0, None]),
    "not a number": pa.array([0.5, float("nan"), 0.5, 2.0]),
    "single precision": pa.array([0.1, 0.25, 0.1, None], pa.float32()),
    "truths": pa.array([True, None, False, True]),
    "some codes": pa.DictionaryArray.from_arrays([2, None, 0, 2], ["x", "y", "z"]),
    "a part of an array": pa.array(["c", "b", None, "a", "b"]).slice(1),
    "nothing": pa.nulls(4),
    "blanks": pa.array([" ", "b", "", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("how", ["label", "name"])
def test_columns_of_arrow_have_the_codes_of_pandas(name, how):
    table = pa.table({"c": COLUMNS[name]})
    ways = {"label": {}, "name": {"optional": ["c"]}}
    columns = ["c"] if how == "label" else []
    arrow, pandas = (
        code_rows(one, *columns, **ways[how])["c"] for one in (table, table.to_pandas())
    )
    said = [list(map(spell, one.cells)) for one in (arrow, pandas)]
    assert arrow.place.tolist() == pandas.place.tolist()
    assert said[0] == said[1]
    assert [spell(x) for x in arrow.rows()] == [spell(x) for x in pandas.rows()]
