"""Every kind of file gives the same counts, and a broken one says what is wrong."""

import contextlib
import gzip
import io
import json
import sqlite3
import subprocess
import sys
import types
import zipfile
from csv import writer as csv_writer

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from memory import PEAK
from pyarrow import csv, parquet
from refusals import refused

import bayesjudge as bj
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.readers import files, read_table, tables

LABELS = keep_labels(xstest().iloc[::7], 20, 1, by="system")
WAYS = {
    "labels.csv": lambda table, path: table.to_csv(path, index=False),
    "labels.CSV.gz": lambda table, path: table.to_csv(path, index=False, compression="gzip"),
    "labels.tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "labels.v2.parquet": lambda table, path: table.to_parquet(path),
    "labels.jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "labels.ndjson": lambda table, path: table.to_json(path, orient="records", lines=True),
}
TYPES = {
    "numbers": lambda column: column,
    "words": lambda column: column.map({1.0: "yes", 0.0: "no"}),
    "booleans": lambda column: column.map({1.0: True, 0.0: False}),
}


def counts_of(table, **values):
    return bj.prevalence.Counts.from_frame(
        table, by="system", item="item", calibration="random", unparsed="fail", **values
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("kind", TYPES)
def test_every_file_gives_the_counts_of_the_table(name, kind, tmp_path):
    labels = ["verdict", "truth"]
    table = LABELS.assign(**{column: TYPES[kind](LABELS[column]) for column in labels})
    WAYS[name](table, tmp_path / name)
    read = read_table(tmp_path / name, ["system", "item", *labels])
    assert read.column_names == ["system", "item", *labels]
    values = {"pass_value": "yes", "fail_value": "no"} if kind == "words" else {}
    found, expected = counts_of(read, **values), counts_of(LABELS)
    assert found.systems == expected.systems
    for field in ("test_n", "test_pass", "correct_n", "correct_pass", "incorrect_fail", "unparsed"):
        assert getattr(found, field).tolist() == getattr(expected, field).tolist(), field


@pytest.mark.slow
def test_labels_that_begin_late_are_found(tmp_path):
    """No type is guessed from a file's first block, where a column of labels is often empty."""
    n = 1_000_000  # more than one block
    path = tmp_path / "late.csv"
    lines = ["verdict,truth", *["pass,"] * n, "pass,good", "fail,7", "fail,"]
    path.write_text("\n".join(lines) + "\n")
    truth = read_table(path, ["truth"])["truth"]
    assert truth.null_count == n + 1
    assert truth.drop_null().to_pylist() == ["good", "7"]
    rows = [{"verdict": 1, "truth": None}] * 5000 + [{"verdict": "1", "truth": "good"}]
    lined = tmp_path / "late.jsonl"
    lined.write_text("\n".join(json.dumps(row) for row in rows))
    assert read_table(lined, ["truth"])["truth"].drop_null().to_pylist() == ["good"]


@pytest.mark.slow
def test_blocks_with_different_labels_can_be_grouped(tmp_path):
    n = 1_000_000  # some blocks
    path = tmp_path / "blocks.csv"
    csv.write_csv(pa.table({"verdict": np.repeat(["b", "a", "c"], n)}), path)
    read = read_table(path, ["verdict"])
    assert read["verdict"].num_chunks > 1
    rows, n_rows = bj.core.tables.count_rows(read, "verdict")
    assert dict(zip(rows["verdict"], n_rows, strict=True)) == dict.fromkeys("abc", n)


@pytest.mark.slow
def test_answers_may_have_line_breaks_quotes_and_commas(tmp_path):
    path = tmp_path / "answers.csv"
    answer = 'He said, "no".\nThen, nothing.\r\n' * 3000
    rows = pd.DataFrame({"answer": [answer] * 60, "verdict": [1, 0] * 30})
    rows.to_csv(path, index=False)  # some megabytes, so that a block ends inside an answer
    assert read_table(path, ["verdict"])["verdict"].to_pylist() == ["1", "0"] * 30


def test_numbers_are_floats(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("score,judge\n4,a\n,b\n3.5,a\n")
    assert read_table(path, ["judge"], numbers=["score"])["score"].to_pylist() == [4.0, None, 3.5]
    path.write_text("score\n4\nfour\n")
    with refused("four", id="unreadable", subject=str(path)):
        read_table(path, [], numbers=["score"])
    pd.DataFrame({"score": [4, 3]}).to_parquet(tmp_path / "scores.parquet")
    whole = read_table(tmp_path / "scores.parquet", [], numbers=["score"])["score"]
    assert whole.type == pa.float64()
    lined = tmp_path / "scores.jsonl"
    lined.write_text('{"score": 4}\n{"score": null}\n{"score": 3.5}\n')
    assert read_table(lined, [], numbers=["score"])["score"].to_pylist() == [4.0, None, 3.5]


def test_cells_that_mean_nothing_are_empty(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text('truth,n\n"",1\nNA,2\nnan,3\nNone,4\n1,5\n')
    assert read_table(path, ["truth"])["truth"].to_pylist() == [None, None, None, None, "1"]


def test_lines_of_mixed_types_are_read_one_by_one(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"v": 1}\n\n{"v": "pass"}\n{"v": true}\n{"w": 2}\n{"v": {"score": 1}}\n')
    assert read_table(path, ["v"])["v"].to_pylist() == ["1", "pass", "True", None, '{"score": 1}']


REFUSED = {
    "gone.csv": (None, "there is no such file; did you mean '.*gone2.csv'"),
    "gone2.csv": ("verdict,truth\n1,1\n", "no column 'verdct'; did you mean 'verdict'"),
    "table.xlsx": ("x", "ends in .xlsx, and holds csv"),
    "none.csv": ("", "cannot be read: the file is empty"),
    "semicolons.csv": ("verdict;truth\n1;1\n", "no column 'verdct'; did you mean 'verdict'"),
    "ragged.csv": ("verdct,truth\n1\n", "cannot be read: CSV parse error: .*Expected 2 columns"),
    "twice.csv": ("verdct,verdct\n1,1\n", r"columns \['verdct'\] occur more than once"),
    "bad.parquet": ("verdct", "ends in .parquet, and holds csv"),
    "bad.jsonl": ('{"verdct": 1}\n{oops\n', "line 2 is not JSON"),
    "list.jsonl": ("[1]\n", "entry 1 is not a JSON object"),
    "other.jsonl": ('{"verdict": 1}\n', "no column 'verdct'; did you mean 'verdict'"),
    "other.parquet": ("make", "no column 'verdct'; did you mean 'verdict'"),
    "bad.csv.gz": ("not gzip", "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_words(name, tmp_path):
    (tmp_path / "gone2.csv").write_text("verdict\n1\n")
    text, message = REFUSED[name]
    if text == "make":
        pd.DataFrame({"verdict": [1]}).to_parquet(tmp_path / name)
    elif text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(bj.InputError, match=message) as caught:
        read_table(tmp_path / name, ["verdct"])
    assert str(tmp_path / name) in str(caught.value)


def test_a_folder_without_tables_and_a_file_cut_short_are_refused(tmp_path):
    with refused(id="empty-folder"):
        read_table(tmp_path, ["verdict"])
    with refused(id="no-file-matches"):
        read_table(tmp_path / "*.parquet", ["verdict"])
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(b"verdict\n" + bytes(np.random.default_rng(1).bytes(9999)))[:99])
    with refused(id="unreadable"):
        read_table(path, ["verdict"])


ROWS = [("é, b; c | d\te", "pass", "1"), ('say "no",\nthen', "fail", ""), ("x", "pass", "0")]
HEAD = ("answer", "verdict", "truth")


def text_of(delimiter):
    made = io.StringIO()
    csv_writer(made, delimiter=delimiter).writerows([HEAD, *ROWS])
    return made.getvalue()


@pytest.mark.fast_one_in(5)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, pa.Codec("zstd").compress])
def test_every_separator_encoding_and_packing(delimiter, encoding, pack, tmp_path):
    """The text column holds all separators, and comes first."""
    packed = pack(text_of(delimiter).encode(encoding))
    path = tmp_path / "labels.txt"  # the name tells nothing
    path.write_bytes(bytes(memoryview(packed)))
    read = read_table(path, ["verdict", "truth", "answer"])
    assert read["verdict"].to_pylist() == ["pass", "fail", "pass"]
    assert read["truth"].to_pylist() == ["1", None, "0"]
    assert read["answer"].to_pylist()[0] == ROWS[0][0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_names_of_columns_with_accents(encoding, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes("réponse;jugé\nété, puis;oui\n;non\n".encode(encoding))
    assert read_table(path, ["jugé", "réponse"])["réponse"].to_pylist() == ["été, puis", None]
    assert files.File(path).columns == ["réponse", "jugé"]
    assert tables.names_in(path) == ["réponse", "jugé"]


@pytest.mark.slow
def test_a_message_names_some_of_many_columns(tmp_path):
    path = tmp_path / "wide.jsonl"
    path.write_text(json.dumps({f"c{i}": i for i in range(20_000)}))
    with refused("verdict", 19990):
        read_table(path, ["verdict"])


def test_one_wanted_column_finds_the_separator(tmp_path):
    """More commas than semicolons, in text without quotes."""
    path = tmp_path / "labels.csv"
    path.write_text("verdict;answer, in words, long\n1;a, b, c\n0;d, e, f\n")
    assert read_table(path, ["verdict"])["verdict"].to_pylist() == ["1", "0"]


def other_kinds(folder):
    rows = [dict(zip(HEAD, row, strict=True)) for row in ROWS]
    table = pd.DataFrame(rows).replace({"": None})
    (folder / "list.json").write_text(json.dumps(rows))
    (folder / "lines.jsonl.gz").write_bytes(
        gzip.compress("\n".join(map(json.dumps, rows)).encode())
    )
    table.to_excel(folder / "book.xlsx", index=False)
    (folder / "parts").mkdir()
    table[:1].to_parquet(folder / "parts" / "a.parquet")
    table[1:].assign(truth=[None, 0.0]).to_parquet(folder / "parts" / "b.parquet")
    with contextlib.closing(sqlite3.connect(folder / "one.db")) as base:
        table.to_sql("labels", base, index=False)
        base.execute("CREATE TABLE others (x)")
    with contextlib.closing(duckdb.connect(str(folder / "two.db"))) as base:
        base.execute("CREATE TABLE labels (answer VARCHAR, verdict VARCHAR, truth INTEGER)")
        base.executemany("INSERT INTO labels VALUES (?, ?, ?)", table.to_numpy().tolist())
    return ["list.json", "lines.jsonl.gz", "book.xlsx", "parts", "parts/*.parquet",
            "one.db::labels", "two.db", "two.db::labels"]  # fmt: skip


@pytest.mark.slow
def test_other_kinds_of_files(tmp_path):
    for name in other_kinds(tmp_path):
        assert {*tables.names_in(f"{tmp_path}/{name}")} == {*HEAD}
        read = read_table(f"{tmp_path}/{name}", ["verdict", "truth", "answer"])
        assert read["verdict"].to_pylist() == ["pass", "fail", "pass"], name
        assert read["truth"].to_pylist() == ["1", None, "0"], name
        if name[:5] != "parts":  # one part has text
            numbers = read_table(f"{tmp_path}/{name}", [], numbers=["truth"])
            assert numbers["truth"].to_pylist() == [1.0, None, 0.0], name
    with refused(2, id="several-inner", known="labels, others"):
        read_table(tmp_path / "one.db", ["verdict"])
    with refused("lables", id="no-inner", known="labels, others"):
        read_table(f"{tmp_path}/one.db::lables", ["verdict"])


def test_a_file_whose_name_looks_like_a_pattern_is_one_file(tmp_path):
    path = tmp_path / "run[1].csv"
    path.write_text("verdict\n1\n")
    assert tables.is_one_file(path)
    assert read_table(path, ["verdict"])["verdict"].to_pylist() == ["1"]
    assert not any(map(tables.is_one_file, (tmp_path, f"{tmp_path}/*.csv", "runs.db::labels")))


def test_what_is_no_table_is_refused_in_words(tmp_path):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with refused(id="zip-archive"):
        read_table(tmp_path / "some.zip", ["a"])
    for name, start in {"a.db": b"SQLite format 3\x00", "b.db": b"01234567DUCK"}.items():
        (tmp_path / name).write_bytes(start + b"\x01" * 200)
        with refused(id="unreadable"):
            read_table(tmp_path / name, ["a"])
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<a>")
    with refused(id="unreadable"):
        read_table(tmp_path / "b.xlsx", ["a"])
    (tmp_path / "one_line.csv").write_text(f"a,{'b' * files.HEAD}\n1,2\n")
    with refused(subject=str(tmp_path / "one_line.csv")):
        _ = files.File(tmp_path / "one_line.csv").columns


def test_empty_rows_of_a_sheet_are_no_rows(tmp_path):
    table = pd.DataFrame({"a": ["x", None, "y"], "b": [1.0, None, None]})
    table.to_excel(tmp_path / "b.xlsx", index=False)
    assert read_table(tmp_path / "b.xlsx", ["a"])["a"].to_pylist() == ["x", "y"]


def _repacked(source, target, change):
    """A copy of a book with some members changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change.get(name, lambda content: content)(old.read(name)))


SHEET = "xl/worksheets/sheet1.xml"
DAMAGED = {
    "cut": lambda content: content[: len(content) // 2],
    "no such text": lambda content: content.replace(b't="n"', b't="s"'),
}


def _of_a_newer_version(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("labels.csv", "a\n1\n")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 99  # the version that it takes to unpack: 9.9
    path.write_bytes(content)
    files.File(path).member("labels.csv")


def _of_late_times(path):
    parquet.write_table(pa.table({"at": pa.array([2**60], pa.timestamp("us"))}), path)
    list(files.File(path).records())


def _of_no_memory(path):
    path.write_text("a\n1\n")
    with files.File(path).broken():
        pa.allocate_buffer(2**62)


@pytest.mark.parametrize(
    ("name", "read", "cause"),
    [
        ("labels.zip", _of_a_newer_version, NotImplementedError),
        ("labels.parquet", _of_late_times, OverflowError),
        ("labels.csv", _of_no_memory, MemoryError),
    ],
)
def test_what_a_library_raises_of_a_file_is_refused_by_its_name(tmp_path, name, read, cause):
    with refused(subject=str(tmp_path / name)) as caught:
        read(tmp_path / name)
    assert isinstance(caught.value.__cause__, cause)


@pytest.mark.parametrize("damage", [*DAMAGED, "bytes", "encrypted"])
def test_a_damaged_book_is_refused_in_words(tmp_path, damage):
    whole, path = tmp_path / "whole.xlsx", tmp_path / "b.xlsx"
    pd.DataFrame({"a": range(9)}).to_excel(whole, index=False)
    _repacked(whole, path, {SHEET: DAMAGED.get(damage, lambda content: content)})
    content = bytearray(path.read_bytes())
    if damage == "bytes":
        content[content.index(b"<sheetData>")] ^= 1
    if damage == "encrypted":
        content[content.index(SHEET.encode(), content.index(b"PK\x01\x02")) - 46 + 8] |= 1
    path.write_bytes(content)
    with refused(id="archive-torn" if damage == "bytes" else "unreadable", subject=str(path)):
        read_table(path, ["a"])


def test_a_sheet_that_is_a_chart_is_no_table(tmp_path):
    from openpyxl.chart import BarChart

    path = tmp_path / "b.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        pd.DataFrame({"a": ["x", "y"]}).to_excel(book, sheet_name="data", index=False)
        book.book.create_chartsheet("chart", 0).add_chart(BarChart())
    assert read_table(path, ["a"])["a"].to_pylist() == ["x", "y"]
    with refused("chart"):
        read_table(tmp_path / "b.xlsx::chart", ["a"])


def test_titles_above_a_sheets_names_are_no_rows(tmp_path):
    """Empty rows and rows of one cell above those of several; of one column there is no title."""
    table = pd.DataFrame({"a": ["x", "y"], "b": [1.0, None]})
    with pd.ExcelWriter(tmp_path / "b.xlsx") as book:
        pd.DataFrame({"Review of November": ["by hand"]}).to_excel(book, startrow=1, index=False)
        table.to_excel(book, sheet_name="Sheet1", startrow=4, index=False)
        table[["a"]].to_excel(book, sheet_name="narrow", startrow=2, index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty")
    assert read_table(tmp_path / "b.xlsx", ["a"])["a"].to_pylist() == ["x", "y"]
    assert read_table(tmp_path / "b.xlsx::narrow", ["a"])["a"].to_pylist() == ["x", "y"]
    with refused("empty"):
        read_table(tmp_path / "b.xlsx::empty", ["a"])


def test_schemas_that_drift_between_files_name_the_file(tmp_path):
    pd.DataFrame({"verdict": [1]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"verdct": [1]}).to_parquet(tmp_path / "b.parquet")
    with refused("verdict", id="no-column"):
        read_table(tmp_path, ["verdict"])


def test_stdin_is_read_as_what_it_is(monkeypatch):
    packed = gzip.compress(b"verdict|truth\n1|1\n")
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(packed)))
    assert read_table("-", ["truth"])["truth"].to_pylist() == ["1"]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["openpyxl", "duckdb"])
def test_a_library_that_is_not_there_is_named(library, tmp_path, monkeypatch):
    names = {"openpyxl": "book.xlsx", "duckdb": "two.db::labels"}
    other_kinds(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    with refused(id=f"{library}-not-installed"):
        read_table(f"{tmp_path}/{names[library]}", ["verdict"])


def test_a_large_file_is_scanned_where_there_is_an_engine(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    LABELS.to_parquet(path)
    for rows, engine, scanned in ((1, True, True), (1, False, False), (10**6, True, False)):
        monkeypatch.setattr(tables, "LARGE", rows)
        monkeypatch.setattr(tables, "find_spec", lambda _, there=engine: there or None)
        assert bool(tables._scannable(path, ["truth"])) == scanned


# Ten million rows -------------------------------------------------------------------------------

MILLIONS = 10_000_000
COUNT = """
import sys, time
import pyarrow.csv, pyarrow.parquet
from bayesjudge.prevalence import Counts
from bayesjudge.readers import read_table
before, start = peak(), time.perf_counter()
table = read_table(sys.argv[1], ["verdict", "truth"])
counts = Counts.from_frame(table, calibration="random", pass_value="pass")
held = sum(table[c].nbytes for c in table.column_names)
print(counts.test_n, counts.test_pass, counts.labelled_n, held, peak() - before)
print(f"{sys.argv[1]}: {time.perf_counter() - start:.1f} s, {(peak() - before) / 2**20:.0f} MiB",
      file=sys.stderr)
"""


@pytest.fixture(scope="module")
def millions(tmp_path_factory):
    """Ten million rows as Parquet and CSV, with a column of text that nobody asks for."""
    folder = tmp_path_factory.mktemp("millions")
    row = np.arange(MILLIONS // 10)
    verdict = np.where(row % 10 < 6, "pass", "fail")
    truth = pa.array(np.where(row % 4 == 0, "pass", "fail"), mask=row % 10_000 != 0)
    text = pa.array(["an answer of some length"] * len(row))
    part = pa.table({"verdict": verdict, "answer": text, "truth": truth})
    # a tenth at a time, so that who writes it stays small too
    with (
        parquet.ParquetWriter(folder / "millions.parquet", part.schema) as as_parquet,
        csv.CSVWriter(folder / "millions.csv", part.schema) as as_csv,
    ):
        for _ in range(10):
            as_parquet.write_table(part)
            as_csv.write_table(part)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["millions.parquet", "millions.csv"])
def test_ten_million_rows_stay_a_count(name, millions):
    """Memory follows the columns asked for (4 bytes a cell), beside a CSV file that is mapped."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK + COUNT, str(millions / name)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    print(done.stderr)
    test_n, test_pass, labelled_n, held, grown = map(int, done.stdout.split())
    assert (test_n, labelled_n) == (MILLIONS - 1000, 1000)
    assert test_pass == 6 * MILLIONS // 10 - 1000  # the labelled rows end in 0: all passes
    assert held < 10 * MILLIONS
    mapped = (millions / name).stat().st_size
    assert grown < 7 * held + mapped


def test_a_folder_is_searched_for_a_near_name_only_if_a_file_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "some.csv").write_text("a,b\n1,2\n")
    asked = []
    monkeypatch.setattr(files, "nearest", lambda path: asked.append(path) or "")
    read_table(tmp_path / "some.csv", ["a"])
    assert not asked
    with refused(id="no-such-file"):
        read_table(tmp_path / "som.csv", ["a"])
    assert len(asked) == 1


def test_wide_characters_without_a_mark_are_text(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes("".join(f'{{"v": "é{i}"}}\n' for i in range(3)).encode("utf-16-le"))
    assert [row["v"] for row in files.File(path).records()] == ["é0", "é1", "é2"]


def test_bytes_that_are_no_utf8_are_latin(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes('[{"v": "é"}]'.encode("latin-1"))
    assert files.File(path).document == [{"v": "é"}]


def test_lines_are_told_from_a_document_by_what_they_hold(tmp_path):
    for text, kind in (('{"v": 1}\n{"v": 2}\n', "jsonl"), ('{"v":\n1}', "json")):
        path = tmp_path / "log.json"
        path.write_text(text)
        assert files.File(path).kind == kind


def test_names_within_a_base_may_hold_quotes(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "one.db")) as base:
        base.execute("""CREATE TABLE "a ""b" (verdict)""")
        base.execute("""INSERT INTO "a ""b" VALUES (1), (NULL)""")
        base.commit()
    assert read_table(tmp_path / "one.db", ["verdict"])["verdict"].to_pylist() == ["1", None]


def test_numbers_as_names_are_whole_in_all_files_or_in_some(tmp_path):
    for name, cells in {"a": [1.0, None], "b": [2, 3], "c": ["x", "4"]}.items():
        pd.DataFrame({"item": cells}).to_parquet(tmp_path / f"{name}.parquet")
    assert read_table(tmp_path, ["item"])["item"].to_pylist() == ["1", None, "2", "3", "x", "4"]


def test_fields_of_objects_are_columns(tmp_path):
    rows = [
        {"id": 1, "judge": None},
        {"id": 2, "judge": {"label": "good", "p": {"good": 0.25}}, "a.b": "x", "a": {"b": "y"}},
    ]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "rows.jsonl").write_text(lines)
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for path in tmp_path.iterdir():
        assert tables.names_in(path) == ["id", "judge.label", "judge.p.good", "a.b"], path
        table = read_table(path, ["judge.label", "a.b"], numbers=["judge.p.good"])
        assert table["judge.label"].to_pylist() == [None, "good"]
        assert table["judge.p.good"].to_pylist() == [None, 0.25]
        assert table["a.b"].to_pylist() == [None, "x"]  # a name as it stands comes first
        assert read_table(path, ["judge"])["judge"].to_pylist()[1].startswith('{"label"')
        with refused("label", "judge.label"):
            read_table(path, ["label"])
        with refused("judge.label.x"):
            read_table(path, ["judge.label.x"])


def test_the_row_numbers_of_pandas_are_no_column(tmp_path):
    rows = pd.DataFrame({"verdict": [1, 0, 1]}, index=[4, 9, 1])
    rows.to_parquet(tmp_path / "rows.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "rows.parquet").names
    assert tables.names_in(tmp_path / "rows.parquet") == ["verdict"]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["0,5", "1", "-2,25"], ["0.5", "1", "-2.25"]),
        (["1,234", "2,345"], ["1,234", "2,345"]),  # thousands, perhaps
        (["0,5", "yes"], ["0,5", "yes"]),
        (["0,5", "0.5"], ["0,5", "0.5"]),
        (["1", "2"], ["1", "2"]),
    ],
)
def test_decimal_commas(cells, read, tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"{cell};x\n" for cell in cells))
    assert read_table(tmp_path / "t.csv", ["a", "b"])["a"].to_pylist() == read
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f'"{cell}",x\n' for cell in cells))
    assert read_table(tmp_path / "t.csv", ["a"])["a"].to_pylist() == cells


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_row_that_is_empty_in_all_columns_is_no_row(mark, tmp_path):
    """As spreadsheets leave them; a row with an id is one, whatever else it lacks."""
    rows = [
        ["id", "verdict", "truth"],
        ["1", "yes", ""],
        ["", "", ""],
        ["2", "", ""],
        ["3", "no", ""],
    ]
    (tmp_path / "book.csv").write_text("\n".join(mark.join(row) for row in rows))
    table = read_table(tmp_path / "book.csv", ["verdict", "truth"])
    assert table["verdict"].to_pylist() == ["yes", None, "no"]


def test_an_object_that_is_null_in_some_rows_is_no_column_beside_its_fields(tmp_path):
    path = tmp_path / "rows.json"
    people = [{"label": "yes", "by": "kim"}, None, {}]
    path.write_text(json.dumps([{"id": i, "human": said} for i, said in enumerate(people)]))
    assert files.File(path).fields == ["id", "human.label", "human.by"]
    flat = [{"judge": "gpt", "judge.label": "yes"}, {"judge": None, "judge.label": "no"}]
    path.write_text(json.dumps(flat))
    assert files.File(path).fields == ["judge", "judge.label"]


def test_nan_in_json_lines_is_an_empty_cell(tmp_path):
    """Of a column of words it was a label that no command could show."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"judge": 1.0, "score": 0.5}\n{"judge": NaN, "score": NaN}\n')
    table = read_table(path, ["judge", "score"], numbers=["score"])
    assert table["judge"].to_pylist()[1] is None
    assert len(set(table["judge"].to_pylist())) == 2


def test_json_of_columns_is_read_by_the_numbers_of_its_rows(tmp_path):
    """In whatever order they stand; columns of other rows are one object, as any other is."""
    path = tmp_path / "log.json"
    path.write_text('{"a": {"0": "x", "1": "y"}, "b": {"1": "second", "0": "first"}}')
    assert read_table(path, ["a", "b"])["b"].to_pylist() == ["first", "second"]
    path.write_text('{"a": {"0": "x", "1": "y"}, "b": {"1": "second", "2": "third"}}')
    assert len(read_table(path, ["a", "b"])) == 1
