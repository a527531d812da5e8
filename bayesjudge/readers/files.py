"""Files whatever they are packed in: what a file holds is told from its bytes, not its name.

Nothing is unpacked beyond `MOST` bytes, and nothing is written: an archive's paths are names only.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from bayesjudge.core.errors import InputError, checking, expect, problem

#: Bytes read to tell what a file is, and in which encoding.
HEAD = 2**16
#: Most bytes of a document that is read at once, unpacked.
MOST = 2**30
#: Most bytes that a byte of an archive may unpack to, once there are many.
RATIO, MANY = 1000, 2**26
#: Objects of JSON that are looked at for the names of their fields, and how deep.
SEEN, DEEPEST = 100, 4
#: Parts of a large Parquet file that are looked at.
STRETCHES = 20
#: Values of a folder's name that mean that there is none: what engines write for null.
NO_FOLDER = ("", "__HIVE_DEFAULT_PARTITION__")
#: Columns in which pandas keeps row numbers.
PANDAS_INDEX = "__index_level_"
#: Marks of encodings: that of UTF-32 begins with that of UTF-16.
BOMS = {
    **{b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32"},
    **{b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"},
}
#: Names of how a file is packed: Arrow's, from which byte on it shows, and how.
PACKED = {
    "gz": ("gzip", 0, b"\x1f\x8b"),
    "zst": ("zstd", 0, b"\x28\xb5"),
    "bz2": ("bz2", 4, b"1AY&SY"),
}
#: How binary files begin that are not read, and what they are.
FOREIGN = {
    b"\xfd7zXZ": "packed by xz",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"ARROW1": "an Arrow file (Feather)",
    b"\xff\xff\xff\xff": "a stream of Arrow",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "an array of NumPy",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of before 2007 (.xls)",
    b"%PDF": "a PDF",
}
#: Kinds of files whose names promise what only a library can open.
SAID = {
    ".parquet": ("parquet",),
    ".xlsx": ("xlsx",),
    ".eval": ("zip",),
    ".duckdb": ("duckdb",),
    ".db": ("duckdb", "sqlite"),
    ".sqlite": ("sqlite",),
}
DELIMITERS = ",;\t|"
STDIN = "-"
ZSTD, STORED, DEFLATED = 93, 0, 8
#: What a file that cannot be read raises. Disk and Arrow: OSError, ValueError, and MemoryError for
#: a file that asks for more than there is. Codecs of text: ValueError. Times of Parquet beyond the
#: year 9999: OverflowError. Archives of a version or method that Python lacks: NotImplementedError;
#: damaged ones: BadZipFile and, in their members, zlib.error.
OF_A_BROKEN_FILE: tuple[type[Exception], ...] = (
    *(OSError, ValueError, MemoryError, OverflowError, NotImplementedError),
    *(csv.Error, zipfile.BadZipFile, zlib.error),
)


class File:
    """A file: what kind it is, and its contents.

    Parameters
    ----------
    path : str or pathlib.Path
        ``-`` is stdin, which is read to its end.

    Raises
    ------
    InputError
        If there is no such file, or it is empty or broken.
    """

    def __init__(self, path: str | Path):
        self.name = str(path)
        self.path = Path(path)
        #: Whether NA, None and null in a CSV file are words, and no empty cells.
        self.keeps_words = False
        self._bytes = sys.stdin.buffer.read() if self.name == STDIN else None
        with checking(self.name) as require:
            there = self._bytes is not None or self.path.exists()
            near = "" if there else nearest(self.path)  # looks at the whole folder
            require(there, "no-such-file", near=near)
            require(not there or not self.path.is_dir(), "is a folder; name a file")

    @property
    def plain(self) -> bool:
        """Whether the bytes lie in a file as they are, for libraries that open it themselves."""
        return self._bytes is None and not self.packing

    @cached_property
    def folders(self) -> dict[str, str | None]:
        """Columns that only the folders of Parquet name: ``system`` of ``system=gpt/1.parquet``."""
        if self.kind != "parquet":
            return {}
        named = (part.partition("=") for part in self.path.parts[:-1] if "=" in part.strip("="))
        folders = {unquote(name): unquote(value) for name, _, value in named}
        stored = self.schema.names
        return {n: None if v in NO_FOLDER else v for n, v in folders.items() if n not in stored}

    @cached_property
    def schema(self) -> Any:
        """Columns of Parquet, with their types."""
        from pyarrow import parquet

        with self.broken():
            return parquet.read_schema(self.seekable())

    # Bytes ---------------------------------------------------------------------------------------

    def raw(self) -> BinaryIO:
        """The bytes as they are stored."""
        return io.BytesIO(self._bytes) if self._bytes is not None else self.path.open("rb")

    def stream(self) -> Any:
        """The bytes unpacked, if the file is packed."""
        if not self.packing:
            return self.raw()
        import pyarrow as pa

        size = len(self._bytes) if self._bytes is not None else self.path.stat().st_size
        source = pa.PythonFile(self.raw(), mode="r") if self._bytes is not None else str(self.path)
        opened = pa.CompressedInputStream(source, PACKED[self.packing][0])
        return _Bounded(opened, self.name, max(MOST, RATIO * size))

    @cached_property
    def packing(self) -> str:
        """A name of `PACKED`, or ``""``."""
        with self.raw() as opened:
            start = opened.read(16)
        shown = (name for name, (_, at, mark) in PACKED.items() if start[at:].startswith(mark))
        packing = next(shown, "")
        says = self.path.suffix.lower()[1:]
        packed = says not in PACKED or packing == says
        expect(self.name, packed, "not-packed-so", says=says)
        return packing

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        with self.broken(), self.stream() as opened:
            return opened.read(HEAD)

    @cached_property
    def kind(self) -> str:
        """What the bytes are: zip, xlsx, parquet, sqlite, duckdb, json, jsonl or csv."""
        head = self.head
        expect(self.name, head.strip(), "empty-file")
        if head[:4] == b"PK\x03\x04":
            return self._meant("xlsx" if any(n[:3] == "xl/" for n in self.members) else "zip")
        magic = {b"PAR1": "parquet", b"SQLite format 3\x00": "sqlite"}
        for start, kind in magic.items():
            if head.startswith(start):
                return self._meant(kind)
        if head[8:12] == b"DUCK":
            return self._meant("duckdb")
        what = next((name for start, name in FOREIGN.items() if head.startswith(start)), "")
        is_text = head.isascii() and b"\x00" not in head  # its first column may be called ORC
        expect(self.name, is_text or not what, "foreign", what=what)
        text = self.decoded_head.lstrip("\ufeff \r\n\t")
        if text[:1] not in ("{", "["):
            return self._meant("csv")
        return self._meant("jsonl" if text[0] == "{" and self._is_lines(text) else "json")

    def _meant(self, kind: str) -> str:
        """The kind, unless the name promises one that libraries could not open."""
        says = SAID.get(self.path.suffix.lower())
        kept = says is None or kind in says
        expect(self.name, kept, f"cannot be read: ends in {self.path.suffix}, and holds {kind}")
        return kind

    def _is_lines(self, start: str) -> bool:
        """Whether the first line is a document of its own, and another one follows."""
        line, _, more = start.partition("\n")
        if self.path.suffixes and {s.lower() for s in self.path.suffixes} & {".jsonl", ".ndjson"}:
            return True
        try:
            json.loads(line)
        except ValueError:
            return False
        return more.lstrip()[:1] == "{"

    # Text ----------------------------------------------------------------------------------------

    @cached_property
    def marked_encoding(self) -> str:
        """The encoding that a mark, or a first character in UTF-16, tells; empty if none does."""
        for mark, encoding in BOMS.items():
            if self.head.startswith(mark):
                return encoding
        if self.head[1:2] == b"\x00":
            return "utf-16-le"
        return "utf-16-be" if self.head[:1] == b"\x00" else ""

    @cached_property
    def encoding(self) -> str:
        """UTF-8 or UTF-16 if the bytes are; Latin-1, in which any bytes are text, if not."""
        if self.marked_encoding:
            return self.marked_encoding
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.broken(), self.stream() as opened:
            try:
                while block := opened.read(2**22):
                    decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return "latin-1"
        return "utf-8"

    @cached_property
    def decoded_head(self) -> str:
        """The first characters, by a guess of the encoding that never fails."""
        if not self.marked_encoding and not _is_utf8(self.head):
            return self.head.decode("latin-1")
        return self.head.decode(self.marked_encoding or "utf-8", errors="replace")

    def text(self) -> io.TextIOWrapper:
        """The text, decoded."""
        return io.TextIOWrapper(self.stream(), encoding=self.encoding, newline="")

    # Contents ------------------------------------------------------------------------------------

    @cached_property
    def document(self) -> Any:
        """The JSON document that the file is."""
        with self.broken(), self.text() as opened:
            text = opened.read(MOST + 1)
        problem = f"is larger than {MOST // 2**30} GiB of JSON; split it"
        expect(self.name, len(text) <= MOST, problem)
        return self.parsed(text, "the file")

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Objects: of a JSON list, of lines, or the rows of a table."""
        if self.kind == "jsonl":
            yield from self.lines()
        elif self.kind == "json":
            for i, record in enumerate(self._listed(), 1):
                expect(self.name, isinstance(record, dict), "not-objects", i=i)
                yield record
        elif self.kind == "csv":
            yield from self._rows()
        elif self.kind == "parquet":
            yield from self._parquet_rows()

    def some_records(self, most: int) -> list[Mapping[str, Any]]:
        """The first records; of a large Parquet file the first of its parts, evenly chosen.

        Rows of one system, or of one week, often lie together.
        """
        if self.kind == "parquet":
            from pyarrow import parquet

            with self.broken():
                about = parquet.read_metadata(self.seekable())
            if about.num_rows > most:
                chosen = range(0, about.num_row_groups, -(-about.num_row_groups // STRETCHES))
                of_each = most // len(chosen)
                stretches = (islice(self._parquet_rows([part]), of_each) for part in chosen)
                return list(chain.from_iterable(stretches))
        return list(islice(self.records(), most))

    def _parquet_rows(self, parts: Sequence[int] | None = None) -> Iterator[Mapping[str, Any]]:
        from pyarrow import parquet

        with self.broken(), parquet.ParquetFile(self.seekable()) as opened:
            for batch in opened.iter_batches(row_groups=parts):
                yield from ({**self.folders, **row} for row in batch.to_pylist())

    def _listed(self) -> list[Any]:
        whole = self.document
        if isinstance(whole, dict):
            named = [whole[name] for name in ("data", "items", "rows", "records") if name in whole]
            whole = named[0] if named else _rows_of_columns(whole)
        return whole if isinstance(whole, list) else [whole]

    def lines(self, parse_float: Any = None) -> Iterator[Mapping[str, Any]]:
        """Objects of JSON lines, one by one; with Decimal numbers keep all digits."""
        with self.broken(), self.text() as opened:
            for i, line in enumerate(opened, 1):
                if not line.strip():
                    continue
                record = self.parsed(line, f"line {i}", parse_float)
                expect(self.name, isinstance(record, dict), f"line {i} is not a JSON object")
                yield record

    @cached_property
    def before_head(self) -> int:
        """Lines before names of columns: spreadsheets say ``sep=;`` there."""
        return int(self.decoded_head.lstrip('\ufeff"')[:4].lower() == "sep=")

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        csv.field_size_limit(2**28)
        with self.broken(), self.text() as opened:
            lines = (line.replace("\x00", "") for line in islice(opened, self.before_head, None))
            for row in csv.DictReader(lines, delimiter=self.delimiter, strict=True):
                yield {name: cell for name, cell in row.items() if name is not None}

    @cached_property
    def columns(self) -> list[str]:
        """Columns of a table, or fields of the first object; none of what has no rows."""
        if self.kind == "parquet":
            stored = [name for name in self.schema.names if not name.startswith(PANDAS_INDEX)]
            return [*stored, *self.folders]
        if self.kind == "csv":
            first = next(iter(self._split(self.delimiter)), [])
            line = self.decoded_head.partition("\n")[0]
            whole = len(line) < len(self.decoded_head) or len(self.head) < HEAD
            problem = f"has a first line of more than {HEAD:,} bytes; is it a table?"
            expect(self.name, whole, problem)
            return first
        return list(self.first)

    @cached_property
    def fields(self) -> list[str]:
        """Columns, and of JSON the fields of objects in them: ``judge.label``."""
        if self.kind not in ("json", "jsonl"):
            return self.columns
        rows = [*islice(self.records(), SEEN)]
        names = dict.fromkeys(name for row in rows for name in fields_of(row))
        outer = {name.rpartition(".")[0] for name in names}  # an object, though null in some rows
        objects = {n for n in outer for row in rows if isinstance(cell_of(row, n), Mapping)}
        return [name for name in names if name not in objects]

    def columns_if(self, *kinds: str) -> set[str]:
        """Its columns, if it is of one of some kinds: of those of tables, if none is named."""
        tables = ("csv", "parquet", "json", "jsonl")
        return set(self.columns) if self.kind in (kinds or tables) else set()

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first object or row, empty if there is none."""
        if self.kind not in ("json", "jsonl", "csv", "parquet"):
            return {}
        return next(self.records(), {})

    @cached_property
    def delimiter(self) -> str:
        """Separator of a text table: the one that splits all first lines alike, into most parts."""
        return self.delimiter_for(())

    def delimiter_for(self, columns: Sequence[str]) -> str:
        """The separator, of those by which there are the most of `columns`."""

        def score(mark: str) -> tuple[float, ...]:
            rows = self._first_rows[mark] or [[]]
            wide = len(rows[0])
            alike = sum(len(row) == wide for row in rows) / len(rows)
            there = sum(column in rows[0] for column in columns)
            return (there, round(alike, 1), wide) if wide > 1 else (0, 0, 0)

        best = max(DELIMITERS, key=score)
        usual = "\t" if ".tsv" in self.path.suffixes else ","
        return best if any(score(best)) else usual

    @cached_property
    def _first_rows(self) -> dict[str, list[list[str]]]:
        """The first 200 rows by each separator."""
        return {mark: list(islice(self._split(mark), 200)) for mark in DELIMITERS}

    def _split(self, delimiter: str) -> Iterator[list[str]]:
        """The head as rows of cells; the last row may be cut."""
        csv.field_size_limit(2**28)
        lines = self.decoded_head.lstrip("\ufeff").replace("\x00", "").splitlines(keepends=True)
        whole = lines[:-1] if len(self.head) >= HEAD and len(lines) > 1 else lines
        try:
            rows = csv.reader(whole[self.before_head :], delimiter=delimiter)
            yield from (row for row in rows if row)
        except csv.Error:
            return

    def seekable(self) -> Any:
        """What Arrow opens: bytes, or a path from the root, since ``s3:x`` is an address to it."""
        with self.stream() as opened:
            return self.path.absolute() if self.plain else io.BytesIO(opened.read())

    def parsed(self, text: str | bytes, what: str, parse_float: Any = None) -> Any:
        """Parse JSON; what is not JSON is an error that says where."""
        try:
            return json.loads(text, parse_float=parse_float)
        except (ValueError, RecursionError) as error:
            message = str(error) or type(error).__name__
            raise InputError(self.name, [problem("not-json", what=what, message=message)]) from None

    # Archives ------------------------------------------------------------------------------------

    @cached_property
    def members(self) -> dict[str, zipfile.ZipInfo]:
        """Members of an archive by name; of several of one name the last, as archives are read."""
        with self.broken(), self.raw() as opened, zipfile.ZipFile(opened) as archive:
            return {entry.filename: entry for entry in archive.infolist()}

    @cached_property
    def repeated_members(self) -> int:
        """Members that another one of the same name replaces."""
        with self.broken(), self.raw() as opened, zipfile.ZipFile(opened) as archive:
            return len(archive.infolist()) - len(self.members)

    def member(self, name: str) -> bytes:
        """Unpack a member: stored, deflated or zstd, whichever Python this is."""
        entry = self.members[name]
        bomb = entry.file_size > max(MANY, RATIO * entry.compress_size)
        with checking(self.name) as require:
            big = bomb or entry.file_size > MOST
            require(not big, "too-large", name=name, file_size=entry.file_size)
            require(not entry.flag_bits & 1, f"{name!r} is encrypted")
        with self.broken(), self.raw() as opened:
            opened.seek(entry.header_offset)
            local = opened.read(30)
            lengths = struct.unpack("<HH", local[26:30]) if len(local) == 30 else (0, 0)
            opened.seek(entry.header_offset + 30 + sum(lengths))
            packed = opened.read(entry.compress_size)
            content = _unpacked(packed, entry)
        whole = len(content) == entry.file_size and zlib.crc32(content) == entry.CRC
        expect(self.name, whole, "damaged", name=name)
        return content

    @contextlib.contextmanager
    def broken(self, *more: type[Exception]) -> Iterator[None]:
        """Errors of a broken file, `more` of the library that reads it, as errors of this file."""
        try:
            yield
        except InputError:
            raise
        except (*OF_A_BROKEN_FILE, *more) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            torn = "archive-torn" if isinstance(error, zipfile.BadZipFile) else "unreadable"
            raise InputError(self.name, [problem(torn, error=lines[0][:300])]) from error


def _rows_of_columns(whole: Mapping[str, Any]) -> Any:
    """Rows of a JSON object of columns, or the object itself, if it is none.

    Columns are lists of cells, or objects that name each cell by its row's number, as pandas does.
    """
    numbers = next((rows.keys() for rows in whole.values() if isinstance(rows, dict)), None)
    named = numbers is not None and all(map(str.isdigit, numbers))
    columns = [
        [cells[row] for row in numbers]
        if named and isinstance(cells, dict) and cells.keys() == numbers
        else cells
        for cells in whole.values()
    ]
    lists = [cells for cells in columns if isinstance(cells, list)]
    one_length = len({len(cells) for cells in lists}) == 1 and len(lists) == len(columns)
    if not one_length or any(isinstance(cell, dict) for cells in lists for cell in cells):
        return whole
    return [dict(zip(whole, row, strict=True)) for row in zip(*columns, strict=True)]


def fields_of(row: Mapping[str, Any], depth: int = DEEPEST) -> Iterator[str]:
    """Names of the cells of a row; those of an object as ``outer.inner``."""
    for name, cell in row.items():
        if isinstance(cell, Mapping) and cell and depth:
            yield from (f"{name}.{inner}" for inner in fields_of(cell, depth - 1))
        else:
            yield name


def cell_of(row: Mapping[str, Any], name: str) -> Any:
    """A cell of a row, or the field of an object in it that ``outer.inner`` names."""
    if name in row:
        return row[name]
    outer, _, inner = name.partition(".")
    within = row.get(outer)
    return cell_of(within, inner) if inner and isinstance(within, Mapping) else None


def _is_utf8(start: bytes) -> bool:
    """Whether bytes are UTF-8; the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


class _Bounded(io.RawIOBase):
    """A stream that ends in an error where it unpacks to absurdly many bytes."""

    def __init__(self, stream: Any, name: str, most: int):
        self._stream, self._name, self._most, self._read = stream, name, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size if size >= 0 else self._most + 1)
        self._read += len(data)
        if self._read > self._most:
            message = f"unpacks to more than {self._most:,} bytes, {RATIO} for each of its own"
            raise InputError(self._name, [f"{message}; not read"])
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


def _unpacked(packed: bytes, entry: zipfile.ZipInfo) -> bytes:
    """Unpack at most what the member says that it holds, and one byte more."""
    if entry.compress_type == STORED:
        return packed
    if entry.compress_type == DEFLATED:
        return zlib.decompressobj(-15).decompress(packed, entry.file_size + 1)
    if entry.compress_type == ZSTD:
        import pyarrow as pa

        opened = pa.CompressedInputStream(pa.BufferReader(packed), "zstd")
        content: bytes = opened.read(entry.file_size + 1)
        return content
    raise ValueError(f"{entry.filename!r} is packed by method {entry.compress_type}")


def nearest(path: Path) -> str:
    """A name in the same folder that may have been meant, for a message."""
    from difflib import get_close_matches

    there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
