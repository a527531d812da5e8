"""Tables in files: only the columns that are needed, as Arrow.

Names and labels are read as text with a dictionary, so that ten million rows of a few distinct
labels are ten million small integers, and so that no type is guessed from a file's first rows (a
column of labels is often empty there). What a file stores as a whole number keeps all its digits.
`bayesjudge.core.labels` then reads labels ``1``, ``1.0`` and ``true`` alike, names never.
"""

from __future__ import annotations

import contextlib
import glob
import io
import itertools
import json
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect, problem
from bayesjudge.core.names import name_of
from bayesjudge.core.screen import few
from bayesjudge.core.tables import empty_cells, free_name, require_among
from bayesjudge.readers.files import File, cell_of, fields_of, nearest

if TYPE_CHECKING:
    import pyarrow as pa

#: What openpyxl raises of a damaged book beside: of a member or text that is not there, of XML that
#: is cut or holds other things than a sheet does, of a member that is cut, and of an encrypted one.
OF_A_BROKEN_BOOK = (LookupError, SyntaxError, TypeError, AttributeError, EOFError, RuntimeError)
#: What a spreadsheet's formula finds where there is nothing.
NOT_AVAILABLE = "#N/A"
#: Cells of a CSV file that mean that there is nothing.
EMPTY = ["", "NA", "N/A", NOT_AVAILABLE, "NaN", "nan", "null", "NULL", r"\N", "None", "<NA>"]
#: A number with a decimal comma, or a whole one.
DECIMAL = re.compile(r"\s*[+-]?\d+(?:,(\d+))?\s*")
#: A cell of a CSV file, often a whole answer of a model, must fit in one block.
BLOCK = 4 * 2**20
#: Parquet of so many rows is scanned by DuckDB, which keeps within this memory and then spills.
LARGE, MEMORY = 1_000_000, "1GB"
#: Most of a disk that it may spill to.
SPILLED = "4GB"
#: Between a file and the table or sheet in it.
WITHIN = "::"
#: Who made a DuckDB file may have put into it what reads others of the user's, or addresses.
CLOSED = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
TABLES = """
SELECT table_schema, table_name, table_type FROM information_schema.tables
WHERE table_catalog = 'file'
"""


def read_table(
    path: str | Path | File, columns: Sequence[str], *, numbers: Sequence[str] = ()
) -> pa.Table:
    r"""Read some columns of a file.

    Parameters
    ----------
    path : str, pathlib.Path or File
        A text table (columns separated by comma, semicolon, tab or pipe; UTF-8, UTF-16 or Latin-1),
        JSON (a list, one object per line, or columns), either also as ``.gz``, ``.zst`` or
        ``.bz2``; Parquet (a file, a folder of them, or a pattern such as ``"logs/*.parquet"``);
        ``.xlsx``; an SQLite or DuckDB file. ``"file::name"`` names a table or sheet within; ``-``
        is stdin.
    columns : sequence of str
        Columns of labels and names; other columns are not kept. Of JSON, ``"judge.label"`` is the
        field ``label`` of the object in the column ``judge``.
    numbers : sequence of str
        Columns of numbers, read as floats.

    Returns
    -------
    pyarrow.Table
        `columns` and `numbers`, one row per row of the file. An empty cell is null.

    Raises
    ------
    InputError
        If there is no such file, it is broken, or a column is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("verdict;truth\n1;\n0;1\n")
    ...     read_table(path, ["truth"])["truth"].to_pylist()
    [None, '1']
    """
    import pyarrow as pa

    wanted = list(dict.fromkeys([*columns, *numbers]))
    tables = []
    for file, inner in _files(path):
        try:
            read = READERS.get(file.kind, _refuse)
            table = read(file, wanted, set(numbers), inner)
        except InputError as error:
            raise InputError(file.name, error.problems) from None
        except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
            text = str(error).strip().splitlines()[0] if str(error).strip() else ""
            shown = text or type(error).__name__
            raise InputError(file.name, [problem("unreadable", error=shown)]) from error
        tables.append(table.select(wanted))
    if len(tables) == 1:
        # blocks of a file have dictionaries of their own, which Arrow cannot group by
        return tables[0].unify_dictionaries()
    return pa.concat_tables([_alike(t, set(numbers)) for t in tables]).unify_dictionaries()


def is_one_file(path: str | Path) -> bool:
    """Whether a path names a file, and no folder, pattern or table within a file."""
    outer, inner = _within(path)
    return not (inner or outer.is_dir() or (glob.has_magic(str(outer)) and not outer.exists()))


def names_in(path: str | Path) -> list[str]:
    """Columns of what `read_table` reads; of several files, of the first."""
    file, inner = next(_files(path))
    opened = {"xlsx": _xlsx, "sqlite": _sqlite, "duckdb": _duckdb}.get(file.kind)
    if opened is None:
        names = file.fields
    else:
        with opened(file, inner) as (names, _):
            pass
    return [str(name) for name in dict.fromkeys(names) if str(name).strip()]


@contextlib.contextmanager
def scanned_parquet(path: str | Path | File, columns: Sequence[str]) -> Iterator[Any]:
    """Columns of a large Parquet file, folder or pattern, for DuckDB to count where they lie.

    Yields
    ------
    duckdb.DuckDBPyRelation or None
        None of what is no Parquet or not `LARGE`, where DuckDB is not installed, and of files in
        which it would take one column for another.
    """
    files = _scannable(path, columns)
    if not files:
        yield None
        return
    with (
        _duckdb_at_work(path.name if isinstance(path, File) else str(path)),
        contextlib.closing(_database()) as base,
    ):
        yield _scan(base, files, list(dict.fromkeys(columns)))


def _scannable(path: str | Path | File, columns: Sequence[str]) -> list[File]:
    """The files, if DuckDB reads `columns` of them as they are meant."""
    files = [file for file, _ in _files(path)]
    if any(file.kind != "parquet" or not file.plain for file in files):
        return []
    if rows_of(path) < LARGE or find_spec("duckdb") is None:
        return []
    kinds = set()
    for file in files:
        schema, name = file.schema, str(file.path.resolve())
        _require([*schema.names, *file.folders], columns)
        by_case = len({name.casefold() for name in schema.names}) < len(schema.names)
        if by_case or ("\\" in name and glob.has_magic(name)):
            return []  # it sees no case, and a pattern has another meaning of a backslash
        kinds.add(tuple("" if c in file.folders else str(schema.field(c).type) for c in columns))
    return files if len(kinds) == 1 else []


def _scan(base: Any, files: Sequence[File], columns: Sequence[str]) -> Any:
    """A relation of some columns, those that folders name included."""
    import pyarrow as pa

    stored = files[0].schema.names
    folders = {c: [file.folders[c] for file in files] for c in columns if c not in stored}
    key = free_name("name of file", [*folders, *(n for file in files for n in file.schema.names)])
    names = [str(file.path.resolve()) for file in files]
    cells = {name: pa.array(c, pa.string()) for name, c in {key: names, **folders}.items()}
    base.register("folders", pa.table(cells))
    chosen = [f"{'f' if c in folders else 'r'}.{_quoted(c)}" for c in columns]
    options = f"union_by_name=true, hive_partitioning=false, filename={_text(key)}"
    return base.sql(
        f"SELECT {', '.join(chosen)} FROM read_parquet($files, {options}) r "
        f"JOIN folders f ON r.{_quoted(key)} = f.{_quoted(key)}",
        params={"files": [glob.escape(name) for name in names]},
    )


@contextlib.contextmanager
def _duckdb_at_work(name: str) -> Iterator[None]:
    """Errors of DuckDB as errors of this file, and Ctrl-C, of which it makes one, as Ctrl-C."""
    import duckdb

    stopped: list[int] = []

    def note(number: int, frame: Any) -> None:
        stopped.append(number)
        signal.default_int_handler(number, frame)

    ours = threading.current_thread() is threading.main_thread()
    ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if stopped:
            raise KeyboardInterrupt from None
        if isinstance(error, duckdb.OutOfMemoryException):
            words = f"has too many different rows to count in {MEMORY} and {SPILLED} of disk"
            raise InputError(name, [f"{words}: leave --item out, or split it"]) from error
        if isinstance(error, duckdb.Error):
            message = str(error).splitlines()[0]
            raise InputError(name, [problem("unreadable", error=message)]) from error
        raise
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _database() -> Any:
    """A database in memory, which spills past `MEMORY`."""
    import tempfile

    import duckdb

    base = duckdb.connect()
    for setting, value in {
        "memory_limit": f"'{MEMORY}'",
        "temp_directory": _text(tempfile.gettempdir()),
        "max_temp_directory_size": f"'{SPILLED}'",
        "preserve_insertion_order": "false",
        "enable_progress_bar": "false",
    }.items():
        base.execute(f"SET {setting}={value}")
    return base


def rows_of(path: str | Path | File) -> int:
    """Rows of Parquet, by the footers; 0 of other files."""
    rows = 0
    for file, _ in _files(path):
        if file.kind == "parquet" and file.plain:
            from pyarrow import ArrowInvalid, parquet  # slow to load

            try:
                rows += int(parquet.read_metadata(file.seekable()).num_rows)
            except (ArrowInvalid, OSError):
                continue  # whoever reads it says what is wrong
    return rows


def _within(path: str | Path) -> tuple[Path, str]:
    """The file, folder or pattern that a path names, and the table within the file."""
    text = str(path)
    ends = [len(text), *(match.start() for match in re.finditer(WITHIN, text))]
    end = next((end for end in ends if Path(text[:end]).exists()), min(ends[1:], default=ends[0]))
    return Path(text[:end]), text[end + len(WITHIN) :]


def _files(path: str | Path | File) -> Iterator[tuple[File, str]]:
    """The files that a path names: itself, those of a folder or pattern; with the table within."""
    if isinstance(path, File):
        yield path, ""
        return
    outer, inner = _within(path)
    text = str(outer)
    if outer.is_dir():
        names = sorted(map(str, outer.glob("**/*.parquet")))
        expect(text, names, "empty-folder")
    elif not outer.exists() and glob.has_magic(text):
        names = sorted(glob.glob(text, recursive=True))
        expect(text, names, "no-file-matches", what="" if names else nearest(outer))
    else:
        names = [text]
    for name in names:
        yield File(name), inner


def _alike(table: pa.Table, numbers: set[str]) -> pa.Table:
    """Columns of one type, whatever types several files store them as."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())

    def cast(name: str) -> Any:
        cells = table[name]
        if name in numbers or cells.type == text:
            return cells
        names = [None if c is None else name_of(c) for c in cells.to_pylist()]
        return pa.array(names, pa.string()).dictionary_encode()

    return pa.table({name: cast(name) for name in table.column_names})


def _refuse(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    raise InputError(file.name, [problem("zip-archive", kind=file.kind)])


def _read_csv(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    encoding = file.marked_encoding or "utf-8"
    try:
        return _parse_csv(file, columns, numbers, encoding)
    except ValueError as error:
        undecoded = isinstance(error, UnicodeDecodeError) or "UTF8" in str(error)  # head, or rows
        if not undecoded or encoding != "utf-8":
            raise
    return _parse_csv(file, columns, numbers, "latin-1")


def _parse_csv(file: File, columns: list[str], numbers: set[str], encoding: str) -> pa.Table:
    """Numbers with a decimal comma are read as such where no comma separates columns."""
    if file.delimiter_for(columns) == ",":
        return _parse(file, columns, numbers, encoding)
    try:
        table = _parse(file, columns, numbers, encoding)
    except ValueError as error:
        if not numbers or "conversion error" not in str(error):
            raise
        table = _parse(file, columns, numbers, encoding, ",")
    for at, name in enumerate(table.column_names):
        if name not in numbers:
            table = table.set_column(at, name, _with_points(table[name]))
    return table


def decimal_commas(cells: Iterable[Any]) -> bool:
    """Whether all cells are numbers, and commas in them stand before decimals."""
    decimals = set()
    for cell in cells:
        match = DECIMAL.fullmatch(cell or "0")
        if not match:
            return False
        decimals.add(match[1])
    return bool(decimals - {None}) and {len(d) for d in decimals if d} != {3}


def _with_points(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of labels, with decimal points in place of commas."""
    import pyarrow as pa

    words = [chunk.dictionary.to_pylist() for chunk in cells.chunks]
    if not decimal_commas(itertools.chain(*words)):
        return cells
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, [word.replace(",", ".") for word in texts])
        for chunk, texts in zip(cells.chunks, words, strict=True)
    ]
    return pa.chunked_array(chunks)


def _parse(
    file: File, columns: list[str], numbers: set[str], encoding: str, point: str = "."
) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    def opened(**more: Any) -> Any:
        source = str(file.path) if file.plain else pa.PythonFile(file.stream(), mode="r")
        return csv.open_csv(
            source,
            # a quoted answer of a model often has more than one line
            parse_options=csv.ParseOptions(
                delimiter=file.delimiter_for(columns), newlines_in_values=True
            ),
            read_options=csv.ReadOptions(
                block_size=BLOCK,
                encoding="utf8" if encoding == "utf-8" else encoding,
                skip_rows=file.before_head,
            ),
            **more,
        )

    with opened() as head:
        _require(head.schema.names, columns)
    label = pa.dictionary(pa.int32(), pa.string())
    convert = csv.ConvertOptions(
        include_columns=columns,
        column_types={c: pa.float64() if c in numbers else label for c in columns},
        null_values=EMPTY[:1] if file.keeps_words else EMPTY,
        strings_can_be_null=True,
        decimal_point=point,
    )
    # block by block: read at once, Arrow holds the text of all columns
    with opened(convert_options=convert) as blocks:
        table = pa.Table.from_batches(list(blocks), blocks.schema)
    names = head.schema.names
    if len(names) < 3 or not all(column.null_count for column in table.columns):
        return table
    if not _empty_rows(table.to_batches()).any():
        return table
    # a row that is empty in all columns, as spreadsheets leave them, is none; of two columns it may
    # be a verdict that failed, without a label
    texts = dict.fromkeys(names, pa.string())
    every = csv.ConvertOptions(
        null_values=EMPTY, strings_can_be_null=True, column_types=texts, include_columns=[*texts]
    )
    with opened(convert_options=every) as blocks:
        empty = _empty_rows(blocks)
    return table.filter(pa.array(~empty)) if empty.any() else table


def _empty_rows(blocks: Iterable[pa.RecordBatch]) -> np.ndarray:
    """Which rows have nothing in any column."""
    each = [np.all([empty_cells(cells) for cells in block.columns], axis=0) for block in blocks]
    return np.concatenate(each)


def _read_parquet(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    _require([*file.schema.names, *file.folders], columns)
    stored = [c for c in columns if c not in file.folders]
    labels = [c for c in stored if c not in numbers]
    how: dict[str, Any] = {"columns": stored, "read_dictionary": labels, "partitioning": None}
    table = parquet.read_table(file.seekable(), **how)
    first = np.zeros(len(table), np.int32)
    whole = {c: _array([file.folders[c]], c in numbers).take(first) for c in file.folders}
    return pa.table(
        {
            c: whole[c] if c in whole else table[c].cast(pa.float64()) if c in numbers else table[c]
            for c in columns
        }
    )


def _read_jsonl(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    if not file.plain or file.marked_encoding:
        return _from_records(file.records(), columns, numbers)
    path = file.path
    try:
        kinds = {c: pa.float64() if c in numbers else _kind(path, c) for c in columns}
        table = arrow_json.read_json(
            path,
            read_options=arrow_json.ReadOptions(block_size=BLOCK),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(kinds.items()), unexpected_field_behavior="ignore"
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
        return _from_records(file.lines(Decimal), columns, numbers)
    # perhaps there is none such; and NaN is no label
    floats = [table[c] for c in columns if c not in numbers and table[c].type == pa.float64()]
    nan = any(chunk.is_nan().true_count for cells in floats for chunk in cells.chunks)
    if nan or any(table[c].null_count == len(table) for c in columns):
        return _from_records(file.lines(Decimal), columns, numbers)
    encoded = {c: table[c] if c in numbers else table[c].dictionary_encode() for c in columns}
    return pa.table(encoded)


def _kind(path: Path, column: str, rows: int = 100) -> pa.DataType:
    """Type of a column by its first cell; a wrong guess costs time, not truth."""
    import pyarrow as pa

    with path.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, rows):
            cell = rf'"{re.escape(column)}"\s*:\s*(?:(true|false)|-?\d+([.eE])?)'
            if match := re.search(cell, line):
                if match[1]:
                    return pa.bool_()
                return pa.float64() if match[2] else pa.int64()
    return pa.string()


def _read_json(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    return _from_records(file.records(), columns, numbers)


def _from_records(
    records: Iterable[Mapping[str, Any]], columns: list[str], numbers: set[str]
) -> pa.Table:
    import pyarrow as pa

    cells: dict[str, list[Any]] = {c: [] for c in columns}
    seen: dict[str, None] = {}
    for row in records:
        seen |= dict.fromkeys((*row, *fields_of(row)))
        for column, values in cells.items():
            values.append(cell_of(row, column))
    _require(list(map(str, seen)), columns)
    return pa.table({c: _array(values, c in numbers) for c, values in cells.items()})


def blank_rows(path: str | Path, most: int) -> int:
    """Rows of a spreadsheet with nothing in them between others, of so many at most."""
    ((file, inner),) = _files(path)
    if file.kind != "xlsx":
        return 0
    with _sheet(file, inner) as sheet:
        filled = [
            bool(_filled(row)) for row in itertools.islice(sheet.iter_rows(values_only=True), most)
        ]
    between = "".join("x" if cells else " " for cells in filled).strip()
    return between.count(" ")


@contextlib.contextmanager
def _xlsx(file: File, inner: str) -> Iterator[tuple[list[str], Iterator[tuple[Any, ...]]]]:
    """Names of columns, and rows."""
    with _sheet(file, inner) as sheet:
        head, rows = _below_titles(_filled_rows(file, sheet))
        expect(file.name, head, f"sheet {sheet.title!r} is empty")
        names, rows = _with_second_head(head, rows)
        yield [str(cell).strip() if cell is not None else "" for cell in names], rows


@contextlib.contextmanager
def _sheet(file: File, inner: str) -> Iterator[Any]:
    """The sheet that is named, or the first."""
    with checking(file.name) as require:
        try:
            import openpyxl
        except ImportError:
            openpyxl = None
        require(openpyxl is not None, "openpyxl-not-installed")
    with file.broken(*OF_A_BROKEN_BOOK), file.raw() as raw:
        content = io.BytesIO(raw.read())
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    try:
        sheets = [sheet.title for sheet in book.worksheets]  # without sheets that are charts
        yield book[_inner(file, sheets, inner, "sheet", first=True)]
    finally:
        book.close()


def _filled_rows(file: File, sheet: Any) -> Iterator[tuple[Any, ...]]:
    # openpyxl reads a sheet as its rows are asked for: only then does it show to be damaged
    with file.broken(*OF_A_BROKEN_BOOK):
        for row in sheet.iter_rows(values_only=True):
            cells = tuple(None if cell == NOT_AVAILABLE else cell for cell in row)
            if _filled(cells):
                yield cells


def _filled(row: Sequence[Any]) -> int:
    return sum(cell is not None for cell in row)


def _below_titles[T: tuple[Any, ...]](rows: Iterator[T]) -> tuple[T | tuple[()], Iterator[T]]:
    """Names of columns and the rows below: titles fill one cell each, above names of several."""
    narrow = []
    for row in rows:
        if _filled(row) > 1:
            return row, rows
        narrow.append(row)
    return next(iter(narrow), ()), iter(narrow[1:])


def _with_second_head(
    head: Sequence[Any], rows: Iterator[tuple[Any, ...]]
) -> tuple[Sequence[Any], Iterator[tuple[Any, ...]]]:
    """Names of columns where some of the first row span several, which the second row names."""
    second = next(rows, ())
    below = [*second, *[None] * len(head)][: len(head)]
    groups: list[Any] = list(
        itertools.accumulate(head, lambda left, cell: left if cell is None else cell)
    )
    pairs = list(zip(groups, below, strict=True))
    spanned = {groups[i] for i, cell in enumerate(head) if cell is None and below[i] is not None}
    texts = all(isinstance(cell, str) for cell in second if cell is not None)
    if not spanned or None in spanned or spanned != {g for g, cell in pairs if cell is not None}:
        texts = False
    if not texts or len(second) > len(head):
        return head, itertools.chain([second] if second else [], rows)
    full = [f"{g} {cell}" if below.count(cell) > 1 else cell for g, cell in pairs]
    empty = [cell is None for cell in below]
    return np.where(empty, np.array(head, object), np.array(full, object)).tolist(), rows


def _inner(file: File, names: Sequence[str], wanted: str, what: str, *, first: bool = False) -> str:
    """The table or sheet that is meant."""
    known = few(list(names), 10)
    with checking(file.name) as require:
        require(names, f"has no {what}")
        require(not wanted or wanted in names, "no-inner", what=what, wanted=wanted, known=known)
        single = wanted or first or len(names) < 2
        line = f"{file.name}{WITHIN}{names[0] if names else ''}"
        require(single, "several-inner", n=len(names), what=what, known=known, line=line)
    return wanted or names[0]


@contextlib.contextmanager
def _sqlite(file: File, inner: str) -> Iterator[tuple[list[str], Any]]:
    """Names of columns, and rows."""
    import sqlite3

    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.path.resolve().as_uri()}?mode=ro", uri=True)
        ) as base:
            names = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            name = _inner(file, [row[0] for row in names], inner, "table")
            cursor = base.execute(f"SELECT * FROM {_quoted(name)}")
            yield [column[0] for column in cursor.description], cursor
    except sqlite3.Error as error:
        raise InputError(file.name, [problem("unreadable", error=error)]) from error


def _read_rows(
    opened: Any, file: File, columns: list[str], numbers: set[str], inner: str
) -> pa.Table:
    with opened(file, inner) as (head, rows):
        _require(head, columns)
        records = (dict(zip(head, row, strict=False)) for row in rows)
        return _from_records(records, columns, numbers)


@contextlib.contextmanager
def _duckdb(file: File, inner: str) -> Iterator[tuple[list[str], Any]]:
    """Names of columns, and what asks for some of them."""
    with checking(file.name) as require:
        require(find_spec("duckdb") is not None, "duckdb-not-installed")
        path = file.path.resolve()
        words = "has a backslash in its name, which DuckDB takes for a folder's end: rename it"
        require(not any("\\" in part for part in path.parts[1:]), words)
    import duckdb

    with _duckdb_at_work(file.name), contextlib.closing(duckdb.connect()) as base:
        base.execute(f"ATTACH {_text(str(path))} AS file (READ_ONLY)")
        for setting, value in CLOSED.items():
            base.execute(f"SET {setting}={value}")
        rows = base.execute(TABLES).fetchall()
        named = {n if s == "main" else f"{s}.{n}": (s, n) for s, n, _ in rows}
        tables = [n for n, (*_, kind) in zip(named, rows, strict=True) if kind == "BASE TABLE"]
        view = next((n for n in named if n not in tables and (n == inner or not tables)), "")
        expect(file.name, not view, "a-view", view=view)
        schema, name = named[_inner(file, tables, inner, "table")]
        table = f"file.{_quoted(schema)}.{_quoted(name)}"
        have = base.execute(f"SELECT * FROM {table} LIMIT 0").description
        yield [c[0] for c in have], lambda asked: base.sql(f"SELECT {asked} FROM {table}")


def _read_duckdb(file: File, columns: list[str], numbers: set[str], inner: str) -> pa.Table:
    import pyarrow as pa

    with _duckdb(file, inner) as (have, select):
        _require(have, columns)
        kinds = {c: "DOUBLE" if c in numbers else "VARCHAR" for c in columns}
        asked = [f"CAST({_quoted(c)} AS {k}) AS {_quoted(c)}" for c, k in kinds.items()]
        cells = select(", ".join(asked)).to_arrow_table()
    arrays = {c: cells[c] if c in numbers else cells[c].dictionary_encode() for c in columns}
    return pa.table(arrays)


def _quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """A text as SQL takes it."""
    return "'" + value.replace("'", "''") + "'"


def _array(values: list[Any], number: bool) -> pa.Array:
    import pyarrow as pa

    if number:
        numbers = [float(v) if isinstance(v, Decimal | str) and v != "" else v for v in values]
        return pa.array([None if v == "" else v for v in numbers], pa.float64())
    texts = [json.dumps(v, default=float) if isinstance(v, dict | list) else v for v in values]
    names = [None if v is None or v == "" or v != v else name_of(v) for v in texts]
    return pa.array(names, pa.string()).dictionary_encode()


def _require(names: Sequence[str], columns: Sequence[str]) -> None:
    repeated = [c for c in columns if names.count(c) > 1]
    expect("table", not repeated, "columns-repeat", repeated=repeated)
    require_among(list(dict.fromkeys(names)), *columns)


READERS: dict[str, Callable[[File, list[str], set[str], str], pa.Table]] = {
    "csv": _read_csv,
    "parquet": _read_parquet,
    "jsonl": _read_jsonl,
    "json": _read_json,
    "xlsx": partial(_read_rows, _xlsx),
    "sqlite": partial(_read_rows, _sqlite),
    "duckdb": _read_duckdb,
}
