"""The same rows are the same numbers, whatever library, type of column or file they come in."""

import contextlib
import io
import json
import shutil
import sqlite3
from urllib.parse import quote

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commands import commands, leaves, run
from conftest import each_in_turn, in_turn, study_but
from readings import readings, same
from refusals import command_refused, refused

from bayesjudge.readers import read_table, tables

READINGS, COMMANDS = readings(), commands()
#: Readings of few columns, for the fast tier; the others are slow.
FEW = ("Counts by", "ClassCounts", "Scores", "Shifts")


def marked(names):
    return [n if n in FEW else pytest.param(n, marks=pytest.mark.slow) for n in names]


# In another order --------------------------------------------------------------------------------


def shuffled(frame, seed=1):
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


#: Whose numbers are by the place of a judge, or an item: that of its first row.
BY_PLACE = {"Verdicts of votes", "repeats.Scores in order"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n, one in READINGS.items() if not (one.in_order or n in BY_PLACE)]
)
def test_the_order_of_rows_does_not_matter(name):
    reading = READINGS[name]
    one = reading.of(reading.table)
    assert not same(one, reading.of(shuffled(reading.table)))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_the_order_of_rows(name, tmp_path):
    """Where draws are made too: which draws are of which group is told by its name."""
    command, path = COMMANDS[name], tmp_path / "rows.csv"
    command.table.to_csv(path, index=False)
    one = command.numbers(path)
    shuffled(command.table).to_csv(path, index=False)
    assert not same(one, command.numbers(path))


# In memory ---------------------------------------------------------------------------------------


def with_nones(frame):
    """Columns that are no numbers as objects, an empty cell as None."""
    texts = [c for c in frame if frame[c].dtype.kind not in "fib"]
    return frame.astype(dict.fromkeys(texts, object)).where(frame.notna(), None)


def from_csv(**how):
    """Through a CSV file, as pandas reads it."""

    def read(frame):
        names = [c for c in frame if frame[c].dtype.kind not in "fib"]
        text = io.StringIO(frame.to_csv(index=False))
        how_names = dict.fromkeys(names, "string")
        return pd.read_csv(text, dtype=how_names, keep_default_na=False, na_values=[""], **how)

    return read


def as_text(frame):
    return frame.map(lambda cell: None if pd.isna(cell) else str(cell)).astype(object)


def in_duckdb(frame):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_df(frame)


ROUTES = {
    "objects": lambda t: t.astype(object),
    "objects with None": lambda t: with_nones(t).astype(object).where(t.notna(), None),
    "objects with NA": lambda t: t.astype(object).where(t.notna(), pd.NA),
    "numpy_nullable": lambda t: t.convert_dtypes(dtype_backend="numpy_nullable"),
    "pyarrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "read_csv numpy_nullable": from_csv(dtype_backend="numpy_nullable"),
    "read_csv pyarrow": from_csv(dtype_backend="pyarrow"),
    "read_json": lambda t: pd.read_json(io.StringIO(t.to_json(orient="records")), dtype=False),
    "text": as_text,
    "categories": lambda t: as_text(t).astype("category"),
    "another index": lambda t: t.set_axis([3] * len(t)),
    "narwhals": nw.from_native,
    "polars": lambda t: pl.from_pandas(with_nones(t)),
    "polars, text": lambda t: pl.from_pandas(as_text(t)),
    "polars lazily": lambda t: pl.from_pandas(with_nones(t)).lazy(),
    "polars lazily, text": lambda t: pl.from_pandas(as_text(t)).lazy(),
    "Arrow": lambda t: pa.Table.from_pandas(with_nones(t), preserve_index=False),
    "Arrow, text": lambda t: pa.Table.from_pandas(as_text(t), preserve_index=False),
    "Arrow, codes": lambda t: pa.Table.from_pandas(
        as_text(t).astype("category"), preserve_index=False
    ),
    "DuckDB": lambda t: in_duckdb(with_nones(t)),
    "DuckDB, text": lambda t: in_duckdb(as_text(t)),
}


@pytest.mark.parametrize("name", marked(READINGS))
@pytest.mark.slow
@each_in_turn
def test_a_table_in_memory_or_in_an_engine(name, turns):
    one = READINGS[name]
    expected = one.of(one.table)
    wrong = {
        route: differ
        for route in in_turn(ROUTES, READINGS, name, turns)
        if (differ := same(one.of(ROUTES[route](one.table)), expected))
    }
    assert not wrong


# In files ----------------------------------------------------------------------------------------


def to_duckdb(frame, path):
    duckdb = pytest.importorskip("duckdb")
    with contextlib.closing(duckdb.connect(str(path))) as base:
        base.register("frame", with_nones(frame))
        base.execute("CREATE TABLE rows AS SELECT * FROM frame")


def to_sqlite(frame, path):
    with contextlib.closing(sqlite3.connect(path)) as base:
        with_nones(frame).to_sql("rows", base, index=False)


def to_parquet(frame, path):
    with_nones(frame).to_parquet(path, index=False)


def repeating_a_column(frame):
    notes = pd.DataFrame([["x", "y"]] * len(frame), frame.index, ["note"] * 2)
    return pd.concat([frame, notes], axis=1)


FILES = {
    "csv": lambda t, path: t.to_csv(path, index=False),
    "csv.gz": lambda t, path: t.to_csv(path, index=False),
    "semicolon.csv": lambda t, path: t.to_csv(path, index=False, sep=";"),
    "pipe.csv": lambda t, path: t.to_csv(path, index=False, sep="|"),
    "utf-16.csv": lambda t, path: t.to_csv(path, index=False, encoding="utf-16"),
    "utf-32.csv": lambda t, path: t.to_csv(path, index=False, encoding="utf-32"),
    "csv.bz2": lambda t, path: t.to_csv(path, index=False),
    "sep.csv": lambda t, path: path.write_text("sep=;\n" + t.to_csv(index=False, sep=";")),
    "null.csv": lambda t, path: t.to_csv(path, index=False, na_rep=r"\N"),
    "repeated.csv": lambda t, path: repeating_a_column(t).to_csv(path, index=False),
    "tsv": lambda t, path: t.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda t, path: t.to_json(path, orient="records", lines=True),
    "json": lambda t, path: t.to_json(path, orient="records"),
    "columns.json": lambda t, path: t.to_json(path, orient="columns"),
    "lists.json": lambda t, path: path.write_text(json.dumps(t.to_dict("list"))),  # with NaN
    "nan.jsonl": lambda t, path: path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in t.to_dict("records"))
    ),
    "parquet": to_parquet,
    "duckdb": to_duckdb,
    "sqlite": to_sqlite,
    "xlsx": lambda t, path: with_nones(t).to_excel(path, index=False),
    "n-a.xlsx": lambda t, path: t.to_excel(path, index=False, na_rep="#N/A"),
}


#: The kind that DuckDB counts if it is large; of the others the size changes nothing.
COUNTED = ("parquet",)


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True])
def test_every_route_of_one_table(large, tmp_path, monkeypatch):
    """Of a table without labels in some cells; slow tests ask every reading, in turn."""
    if large:
        monkeypatch.setattr(tables, "LARGE", 1)
    one, wrong = READINGS["Verdicts by item"], {}
    expected, rows = one.of(one.table), one.table[one.used]
    for route, changed in ({} if large else ROUTES).items():
        wrong[route] = same(one.of(changed(rows)), expected)
    for kind in COUNTED if large else FILES:
        FILES[kind](rows, path := tmp_path / f"rows.{kind}")
        wrong[kind] = same(one.of(read_table(path, one.used)), expected)
    assert not any(wrong.values()), wrong


NOT_READ = {
    "csv.xz": ("foreign", lambda t, path: t.to_csv(path, index=False)),
    "feather": ("foreign", lambda t, path: with_nones(t).to_feather(path)),
    "orc": ("foreign", lambda t, path: with_nones(t).to_orc(path)),
    "pkl": ("foreign", lambda t, path: t.to_pickle(path)),
    "zip": ("zip-archive", lambda t, path: t.to_csv(path, index=False)),
    "split.json": ("not-objects", lambda t, path: t.to_json(path, orient="split")),
    "values.json": ("not-objects", lambda t, path: t.to_json(path, orient="values")),
    "twice.csv": ("columns-repeat", lambda t, path: pd.concat([t, t], axis=1).to_csv(path)),
    "twice.xlsx": ("columns-repeat", lambda t, path: pd.concat([t, t], axis=1).to_excel(path)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOT_READ)
def test_a_file_of_another_kind_is_refused_in_words(kind, tmp_path):
    one, (id, write) = COMMANDS["prevalence"], NOT_READ[kind]
    write(one.table, path := tmp_path / f"rows.{kind}")
    with refused(id=id):
        read_table(path, ["verdict"])
    with command_refused(id=id):
        assert run(one.line(path))[0] == 2


@pytest.mark.slow
def test_a_column_that_nobody_names_may_stand_twice(tmp_path):
    """Also where a command looks at all columns of a small file."""
    table = COMMANDS["prevalence"].table.assign(
        verdict=lambda t: t["verdict"].replace("", None).fillna("Fail")
    )
    lines = {
        "prevalence": "prevalence {} --verdict=verdict --truth=truth --calibration=random",
        "rubric": "rubric {} --criterion=topic --verdict=verdict --item=case --by=system "
        "--calibration=random --failed=worst",
        "plan": "plan --pilot {} --truth=truth --judge=verdict --price=label=2 --price=call=1 "
        "--width=0.2 --by=system --item=case",
    }
    path, wrong = tmp_path / "rows.csv", {}
    for command, line in lines.items():
        shown = []
        for kind in ("csv", "repeated.csv"):
            FILES[kind](table, path)
            shown.append(run(line.format(path).split()))
        wrong[command] = "" if shown[0] == shown[1] and shown[0][0] == 0 else shown
    assert not any(wrong.values()), wrong


@pytest.mark.parametrize("name", marked(READINGS))
@pytest.mark.slow
@each_in_turn
def test_a_file(name, turns, tmp_path):
    one = READINGS[name]
    expected, wrong = one.of(one.table), {}
    for kind in in_turn(FILES, READINGS, name, turns):
        path = tmp_path / f"rows.{kind}"
        FILES[kind](one.table[one.used], path)
        wrong[kind] = same(one.of(read_table(path, one.used)), expected)
    assert not any(wrong.values()), wrong


@pytest.fixture(params=["as it is", "as if large"])
def size(request, monkeypatch):
    """Files as they are, and Parquet as if it had many rows, which DuckDB then counts."""
    if request.param == "as if large":
        pytest.importorskip("duckdb")
        monkeypatch.setattr(tables, "LARGE", 1)
    return request.param


def in_folders(frame, folder, column):
    """Parquet files in folders that name the value of a column, which the files do not hold."""
    for value, rows in frame.groupby(column, dropna=False, sort=False):
        name = "__HIVE_DEFAULT_PARTITION__" if pd.isna(value) else quote(str(value), safe="")
        place = folder / f"{column}={name}" / "more"
        place.mkdir(parents=True)
        to_parquet(rows.drop(columns=column), place / "part-0.parquet")


def without_lists(numbers):
    """But for single labels to look at again, which large tables, only counted, do not list."""
    return {place: n for place, n in numbers.items() if place[0] != "second_look"}


@pytest.mark.slow
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("name", COMMANDS)
@each_in_turn
def test_a_command_and_the_kind_of_file(name, turns, tmp_path):
    one = COMMANDS[name]
    expected, wrong = {}, {}
    kinds = in_turn(FILES, COMMANDS, name, turns) if tables.LARGE > 1 else COUNTED
    for kind in dict.fromkeys(["csv", *kinds]):
        path = tmp_path / f"rows.{kind}"
        FILES[kind](one.table, path)
        found = without_lists(one.numbers(path))
        expected = expected or found
        wrong[kind] = same(found, expected)
    for split in [c for c in ("system", "judge", "generator", "variant") if c in one.table]:
        folder = tmp_path / f"by {split}"
        in_folders(one.table, folder, split)
        for place in (folder, f"{folder}/**/*.parquet"):
            wrong[str(place)] = same(without_lists(one.numbers(place)), expected)
    assert not any(wrong.values()), wrong


@pytest.mark.slow
@pytest.mark.parametrize("stacked", [False, True])
def test_labels_in_a_file_of_any_kind_beside_a_table_of_any_kind(stacked, tmp_path):
    """Labels are whole numbers, fractions with empty cells, or text, as each file stores them."""
    one, kinds = COMMANDS["prevalence of items"], ("csv", "jsonl", "json", "parquet", "duckdb")
    rows = one.table[["case", "system", "verdict", "truth"]]
    labels = rows.drop(columns="verdict")
    table = rows.drop(columns="truth")
    if stacked:  # rows of their own
        known = rows["truth"].notna() & (rows["case"] < "q3")
        table, labels = rows[~known], rows[known]
    whole = labels.dropna(subset="truth").astype({"truth": int})
    for kind in kinds:
        FILES[kind](table, tmp_path / f"rows.{kind}")
        FILES[kind](labels, tmp_path / f"labels.{kind}")
        FILES[kind](whole, tmp_path / f"whole.{kind}")
    expected, wrong = None, {}
    pairs = dict.fromkeys([*(("csv", k) for k in kinds), *((k, "parquet") for k in kinds)])
    for kind, own in pairs:
        for called in ("labels", "whole"):
            line = one.line(tmp_path / f"rows.{kind}")
            code, text, told = run([*line, f"--labels={tmp_path}/{called}.{own}"])
            assert code == 0, (kind, own, called, told)
            found = dict(leaves(json.loads(text)))
            expected = found if expected is None else expected
            wrong[kind, own, called] = same(found, expected)
    assert not any(wrong.values()), wrong


#: Names that a library may take for a pattern, an address, a database, an option or a home.
STRANGE = ["run[1]", "run*", "run?", "[!r]un1", "{a,b}", "a::b", "a::", "~", "$HOME", "%41", "#1",
           "md:x", ":memory:", "file:x", "s3:x", "-x", " ", "a b ", "ü", "日本", "a'b", 'a"b',
           "a;b", "a\\b", "a\\b[1]", "a\nb", "_x", ".x", "x.csv", "run1.parquet", "a&b",
           "a=b"]  # fmt: skip


#: Kinds of such files, and the command that tells whose rows were read: of those that are read in
#: one way only, one that takes little time.
KINDS = {
    kind: COMMANDS["prevalence" if kind in COUNTED else "bias orders"]
    for kind in ("csv", "parquet", "jsonl", "duckdb")
}


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A folder with files that strange names would find as patterns, of other rows."""
    monkeypatch.chdir(tmp_path)
    for kind, one in KINDS.items():
        FILES[kind](one.table[: len(one.table) // 2], tmp_path / f"run1.{kind}")
        for name in ("runx", "x", "a", "b", "A"):
            shutil.copy(tmp_path / f"run1.{kind}", tmp_path / f"{name}.{kind}")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turns", study_but([2, 1], 2))
def test_a_file_may_be_called_anything(kind, turns, beside, size):
    """Each name in full or from its folder: the other way in the other size."""
    one, wrong = KINDS[kind], {}
    FILES[kind](one.table, beside / f"plain.{kind}")
    expected = one.numbers(beside / f"plain.{kind}")
    assert same(one.numbers(beside / f"run1.{kind}"), expected)
    (beside / "a").mkdir()
    shutil.copy(beside / f"run1.{kind}", beside / "a" / f"b.{kind}")  # of other rows
    for i, name in in_turn(enumerate(STRANGE), KINDS, kind, turns):
        path = beside / f"{name}.{kind}"
        shutil.copy(beside / f"plain.{kind}", path)
        given = path if i % 2 == (size == "as it is") else f"./{path.name}"
        if kind == "duckdb" and "\\" in name:
            code, _, told = run(one.line(given))
            wrong[str(given)] = (code, "has a backslash in its name" in told) != (2, True)
        else:
            wrong[str(given)] = same(one.numbers(given), expected)
        path.unlink()
    assert not any(wrong.values()), wrong


@pytest.mark.slow
def test_a_folder_may_be_called_anything(beside, size):
    """Each as itself or as part of a file's name: the other way in the other size."""
    one, wrong = COMMANDS["prevalence"], {}
    FILES["csv"](one.table, beside / "plain.txt")
    expected = one.numbers(beside / "plain.txt")
    for i, name in enumerate(STRANGE):
        folder = beside / f"{name}.d"
        folder.mkdir()
        to_parquet(one.table, folder / "part[0].parquet")
        given = folder if i % 2 == (size == "as it is") else folder / "part[0].parquet"
        wrong[str(given)] = same(one.numbers(given), expected)
    assert not any(wrong.values()), wrong


@pytest.mark.slow
@pytest.mark.usefixtures("size")
def test_columns_that_differ_by_case_only(tmp_path):
    """DuckDB takes no notice of case."""
    one = COMMANDS["prevalence"]
    other = one.table["verdict"].replace({"PASS": "Fail", "Fail": "PASS"})
    twice = one.table.assign(Verdict=other)[["Verdict", "verdict", "truth"]]
    twice["note"] = "seen"  # a row of three empty columns would be none
    found = []
    for kind in ("csv", "parquet"):
        FILES[kind](twice, tmp_path / f"twice.{kind}")
        found.append(one.numbers(tmp_path / f"twice.{kind}"))
    FILES["csv"](one.table, tmp_path / "one.csv")
    expected = one.numbers(tmp_path / "one.csv")
    assert [same(each, expected) for each in found] == [[], []]


@pytest.mark.slow
@pytest.mark.usefixtures("size")
def test_a_column_in_the_files_goes_before_one_that_folders_name(tmp_path):
    one = COMMANDS["prevalence of systems"]
    folder = tmp_path / "system=other"
    folder.mkdir()
    to_parquet(one.table, folder / "rows.parquet")
    FILES["csv"](one.table, tmp_path / "rows.csv")
    assert not same(one.numbers(tmp_path), one.numbers(tmp_path / "rows.csv"))


@pytest.mark.slow
@pytest.mark.usefixtures("size")
def test_files_that_store_a_column_as_another_type(tmp_path):
    """Items are 1 in one file and 1.0 in another, for a cell was empty there once."""
    one = COMMANDS["prevalence of items"]
    places = {name: i for i, name in enumerate(dict.fromkeys(one.table["case"]))}
    rows = one.table.assign(case=one.table["case"].map(places))
    for system, part in rows.groupby("system"):
        kind = int if system == "1" else float
        to_parquet(part.astype({"case": kind}), tmp_path / f"{system}.parquet")
    FILES["csv"](rows, tmp_path / "rows.csv")
    found = one.numbers(f"{tmp_path}/*.parquet")
    assert not same(found, one.numbers(tmp_path / "rows.csv"))


# Files that somebody else made -------------------------------------------------------------------

SECRET = "item,verdict,truth\nthe words of nobody else,1,1\nq,0,\n"


@pytest.fixture
def hostile(tmp_path):
    """A DuckDB file whose view reads a file of the user, and one with a table too."""
    duckdb = pytest.importorskip("duckdb")
    secret = tmp_path / "secret.csv"
    secret.write_text(SECRET)
    made = {
        "text": f"SELECT content AS item, 1 AS verdict, 1 AS truth FROM read_text('{secret}')",
        "rows": f"SELECT * FROM read_csv('{secret}')",
        "other": f"SELECT * FROM '{secret}'",
        "address": "SELECT * FROM read_csv('http://127.0.0.1:9/rows.csv')",
        "environment": "SELECT * FROM glob('/*')",
    }
    for name, query in made.items():
        with contextlib.closing(duckdb.connect(str(tmp_path / f"{name}.duckdb"))) as base:
            if name != "address":
                base.execute(f"CREATE VIEW rows AS {query}")
                base.execute(f"CREATE MACRO rows_of(x) AS TABLE {query}")
            base.execute("CREATE TABLE own AS SELECT 1 AS item, 1 AS verdict, 1 AS truth")
    return [tmp_path / f"{name}.duckdb" for name in made if name != "address"]


@pytest.mark.slow
def test_a_view_of_somebody_elses_database_reads_no_file(hostile, tmp_path):
    for path in hostile:
        for given in (f"{path}::rows", f"{path}::main.rows"):
            with refused() as caught:
                read_table(given, ["item"])
            assert caught.value.has("a-view", "no-inner")
        assert read_table(path, ["item"])["item"].to_pylist() == ["1"]  # its only table
        for command in (["prevalence", f"{path}::rows", "--verdict=verdict", "--truth=truth",
                         "--calibration=random"], ["doctor", f"{path}::rows"]):  # fmt: skip
            code, out, told = run(command)
            assert code == 2
            assert "nobody else" not in out + told


def test_what_a_database_runs_reaches_nothing_outside(tmp_path):
    """Whatever a table's own expressions call: the connection is closed to other files."""
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "own.duckdb"
    to_duckdb(pd.DataFrame({"item": ["a"]}), path)
    (tmp_path / "secret.csv").write_text(SECRET)
    with tables._duckdb(tables.File(path), "") as (_, select):
        for query in (f"(SELECT content FROM read_text('{tmp_path}/secret.csv'))",
                      f"(SELECT count(*) FROM '{tmp_path}/secret.csv')",
                      "(SELECT count(*) FROM glob('/*'))"):  # fmt: skip
            with pytest.raises(duckdb.Error, match="disabled"):
                select(query).fetchall()
