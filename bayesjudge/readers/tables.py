"""Tables in files: only the columns that are needed, as Arrow.

Names and labels are read as text with a dictionary, so that ten million rows of a few distinct
labels are ten million small integers, and so that no type is guessed from a file's first rows (a
column of labels is often empty there). What a file stores as a whole number keeps all its digits.
`bayesjudge.core.tables` then reads labels ``1``, ``1.0`` and ``true`` alike, names never.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.names import name_of
from bayesjudge.core.tables import require_among

if TYPE_CHECKING:
    import pyarrow as pa

#: Cells of a CSV file that mean that there is nothing.
EMPTY = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"]
#: A cell of a CSV file, often a whole answer of a model, must fit in one block.
BLOCK = 4 * 2**20


def read_table(
    path: str | Path, columns: Sequence[str], *, numbers: Sequence[str] = ()
) -> pa.Table:
    r"""Read some columns of a file.

    Parameters
    ----------
    path : str or pathlib.Path
        A ``.csv``, ``.tsv``, ``.csv.gz``, ``.tsv.gz``, ``.parquet``, ``.jsonl`` or ``.ndjson``
        file, UTF-8 where it is text.
    columns : sequence of str
        Columns of labels and names; other columns are not kept.
    numbers : sequence of str
        Columns of numbers, read as floats.

    Returns
    -------
    pyarrow.Table
        `columns` and `numbers`, one row a row of the file. An empty cell is null.

    Raises
    ------
    InputError
        If there is no such file, its kind is unknown, it is broken, or a column is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("verdict,truth\n1,\n0,1\n")
    ...     read_table(path, ["truth"])["truth"].to_pylist()
    [None, '1']
    """
    path = Path(path)
    suffix = "".join(s.lower() for s in path.suffixes[-2:])
    kinds = {kind: read for kind, read in READERS.items() if suffix.endswith(kind)}
    with checking(str(path)) as require:
        if not path.exists():
            require(False, f"there is no such file{_nearest(path)}")
        require(not path.is_dir(), "is a folder; name a file")
        require(kinds, f"expected a file that ends in {', '.join(READERS)}")
    wanted = list(dict.fromkeys([*columns, *numbers]))
    try:
        read = kinds[max(kinds, key=len)]
        # blocks of a file have dictionaries of their own, which Arrow cannot group by
        return read(path, wanted, set(numbers)).unify_dictionaries()
    except InputError as error:
        raise InputError(str(path), error.problems) from None
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
        text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(str(path), [f"cannot be read: {text}"]) from error


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else ""


def _read_csv(path: Path, columns: list[str], numbers: set[str], delimiter: str = ",") -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    options: dict[str, Any] = {
        # a quoted answer of a model often has more than one line
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "read_options": csv.ReadOptions(block_size=BLOCK),
    }
    with csv.open_csv(path, **options) as opened:
        _require_delimiter(opened.schema.names, delimiter)
        _require(opened.schema, columns)
    label = pa.dictionary(pa.int32(), pa.string())
    convert = csv.ConvertOptions(
        include_columns=columns,
        column_types={c: pa.float64() if c in numbers else label for c in columns},
        null_values=EMPTY,
        strings_can_be_null=True,
    )
    # block by block: read at once, Arrow holds the text of all columns
    with csv.open_csv(path, **options, convert_options=convert) as opened:
        return pa.Table.from_batches(list(opened), opened.schema)


def _read_tsv(path: Path, columns: list[str], numbers: set[str]) -> pa.Table:
    return _read_csv(path, columns, numbers, delimiter="\t")


def _read_parquet(path: Path, columns: list[str], numbers: set[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    _require(parquet.read_schema(path), columns)
    labels = [c for c in columns if c not in numbers]
    table = parquet.read_table(path, columns=columns, read_dictionary=labels)
    cells = {c: table[c].cast(pa.float64()) if c in numbers else table[c] for c in columns}
    return pa.table(cells)


def _read_jsonl(path: Path, columns: list[str], numbers: set[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    kinds = {c: pa.float64() if c in numbers else _kind(path, c) for c in columns}
    try:
        table = arrow_json.read_json(
            path,
            read_options=arrow_json.ReadOptions(block_size=BLOCK),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(kinds.items()), unexpected_field_behavior="ignore"
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _read_json_lines(path, columns, numbers)
    if any(table[c].null_count == len(table) for c in columns):  # perhaps there is none such
        return _read_json_lines(path, columns, numbers)
    encoded = {c: table[c] if c in numbers else table[c].dictionary_encode() for c in columns}
    return pa.table(encoded)


def _kind(path: Path, column: str, rows: int = 100) -> pa.DataType:
    """Type of a column by its first cell; a wrong guess costs time, not truth."""
    import pyarrow as pa

    with path.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, rows):
            cell = rf'"{re.escape(column)}"\s*:\s*(?:(true|false)|-?\d+([.eE])?)'
            if found := re.search(cell, line):
                if found[1]:
                    return pa.bool_()
                return pa.float64() if found[2] else pa.int64()
    return pa.string()


def _read_json_lines(path: Path, columns: list[str], numbers: set[str]) -> pa.Table:
    """Read line by line: any mixture of types, and errors that name the line."""
    import pyarrow as pa

    cells: dict[str, list[Any]] = {c: [] for c in columns}
    seen: dict[str, None] = {}
    with path.open(encoding="utf-8") as lines:
        for i, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line, parse_float=Decimal)  # all its digits
            except json.JSONDecodeError as error:
                raise InputError("table", [f"line {i} is not JSON: {error}"]) from None
            if not isinstance(row, dict):
                raise InputError("table", [f"line {i} is not a JSON object"])
            seen |= dict.fromkeys(row)
            for column, values in cells.items():
                values.append(row.get(column))
    _require(pa.schema([(name, pa.null()) for name in seen]), columns)
    return pa.table({c: _array(values, c in numbers) for c, values in cells.items()})


def _array(values: list[Any], number: bool) -> pa.Array:
    import pyarrow as pa

    if number:
        floats = [float(v) if isinstance(v, Decimal) else v for v in values]
        return pa.array(floats, pa.float64())
    texts = [json.dumps(v, default=float) if isinstance(v, dict | list) else v for v in values]
    names = [None if v is None else name_of(v) for v in texts]
    return pa.array(names, pa.string()).dictionary_encode()


def _require_delimiter(names: list[str], delimiter: str) -> None:
    other = [mark for mark in ",;\t|" if mark != delimiter and mark in names[0]]
    with checking("table") as require:
        require(
            len(names) > 1 or not other,
            f"columns seem to be separated by {other}, expected {delimiter!r}; "
            "a .csv has commas, a .tsv has tabs",
        )


def _require(schema: pa.Schema, columns: list[str]) -> None:
    with checking("table") as require:
        repeated = [c for c in columns if schema.names.count(c) > 1]
        require(not repeated, f"columns {repeated} occur more than once")
    require_among(list(dict.fromkeys(schema.names)), *columns)


READERS: dict[str, Callable[[Path, list[str], set[str]], pa.Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_tsv,
    ".tsv.gz": _read_tsv,
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
}
