"""The same rows are the same numbers, whatever library, type of column or file they come in."""

import contextlib
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from readings import readings, same

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.readers import read_table, tables

READINGS = readings()


# In memory ---------------------------------------------------------------------------------------


def with_nones(frame):
    """Columns that are no numbers as objects, an empty cell as None."""
    texts = [c for c in frame if frame[c].dtype.kind not in "fib"]
    return frame.astype({c: object for c in texts}).where(frame.notna(), None)


def from_csv(**how):
    """Through a CSV file, as pandas reads it."""

    def read(frame):
        names = [c for c in frame if frame[c].dtype.kind not in "fib"]
        text = io.StringIO(frame.to_csv(index=False))
        return pd.read_csv(text, dtype=dict.fromkeys(names, "string"), keep_default_na=False,
                           na_values=[""], **how)  # fmt: skip

    return read


def as_text(frame):
    return frame.map(lambda cell: None if pd.isna(cell) else str(cell)).astype(object)


def guessed(frame):
    """Ids are names, and a reader that guesses loses them: those of letters stay."""
    return pd.read_json(io.StringIO(frame.to_json(orient="records")), dtype=False)


IN_MEMORY = {
    "objects": lambda t: t.astype(object),
    "objects with None": lambda t: with_nones(t).astype(object).where(t.notna(), None),
    "numpy_nullable": lambda t: t.convert_dtypes(dtype_backend="numpy_nullable"),
    "pyarrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "read_csv numpy_nullable": from_csv(dtype_backend="numpy_nullable"),
    "read_csv pyarrow": from_csv(dtype_backend="pyarrow"),
    "read_json": guessed,
    "text": as_text,
    "categories": lambda t: as_text(t).astype("category"),
    "another index": lambda t: t.set_axis([3] * len(t)),
    "polars": lambda t: pl.from_pandas(with_nones(t)),
    "polars, text": lambda t: pl.from_pandas(as_text(t)),
    "Arrow": lambda t: pa.Table.from_pandas(with_nones(t), preserve_index=False),
    "Arrow, text": lambda t: pa.Table.from_pandas(as_text(t), preserve_index=False),
    "Arrow, codes": lambda t: pa.Table.from_pandas(
        as_text(t).astype("category"), preserve_index=False
    ),
}  # fmt: skip


def in_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_df(frame)


IN_ENGINES = {
    "polars lazily": lambda t: pl.from_pandas(with_nones(t)).lazy(),
    "polars lazily, text": lambda t: pl.from_pandas(as_text(t)).lazy(),
    "DuckDB": lambda t: in_duckdb(with_nones(t)),
    "DuckDB, text": lambda t: in_duckdb(as_text(t)),
}


@pytest.mark.parametrize("route", [*IN_MEMORY, *IN_ENGINES])
@pytest.mark.parametrize("name", READINGS)
def test_a_table_in_memory_or_in_an_engine(name, route):
    one = READINGS[name]
    convert = (IN_MEMORY | IN_ENGINES)[route]
    assert not same(one.of(convert(one.table)), one.of(one.table))


# In files ----------------------------------------------------------------------------------------


def to_csv(frame, path):
    frame.to_csv(path, index=False)


def to_duckdb(frame, path):
    duckdb = pytest.importorskip("duckdb")
    with contextlib.closing(duckdb.connect(str(path))) as base:
        base.register("frame", with_nones(frame))
        base.execute("CREATE TABLE rows AS SELECT * FROM frame")


FILES = {
    "csv": to_csv,
    "csv.gz": to_csv,
    "tsv": lambda t, path: t.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda t, path: t.to_json(path, orient="records", lines=True),
    "json": lambda t, path: t.to_json(path, orient="records"),
    "parquet": lambda t, path: with_nones(t).to_parquet(path, index=False),
    "duckdb": to_duckdb,
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", READINGS)
def test_a_file(name, kind, tmp_path):
    one = READINGS[name]
    path = tmp_path / f"rows.{kind}"
    FILES[kind](one.table[one.used], path)
    assert not same(one.of(read_table(path, one.used)), one.of(one.table))
    if path.suffix == ".parquet":  # as a large one is read
        pytest.importorskip("duckdb")
