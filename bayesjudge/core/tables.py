"""From a user's table to checked counts. The only code that reads a table's columns.

A table is anything that narwhals knows: pandas, polars, Arrow, DuckDB, Spark. Rows are counted
where they live; what comes back is as long as there are distinct combinations of values.

A column holds names (ids of items, names of raters, judges, systems …) or labels (verdicts, truths,
scores). Labels may be numbers: 1, 1.0, "1" and true are one label (`bayesjudge.core.labels`). Names
never are: "007" and "7" are two names (`bayesjudge.core.names`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import InputError, Problem, checking, expect
from bayesjudge.core.names import check_names, name_of, names_of, to_names
from bayesjudge.core.screen import few

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd

#: Columns that a message names before it counts the others, and that a near name is sought among.
SHOWN_NAMES, MOST_NAMES = 30, 10_000


def require_columns(table: Any, *columns: str) -> None:
    """Raise unless `table` has each of `columns` once, with cells that are single values."""
    have = _names_of_columns(table)
    with checking("table") as require:
        require(
            have is not None,
            f"expected a DataFrame (pandas, polars, Arrow, DuckDB …), got {type(table).__name__}",
        )
        repeated = list(dict.fromkeys(c for c in have or [] if (have or []).count(c) > 1))
        require(not repeated, "columns-repeat", repeated=repeated)
    within = _names_of_index(table)
    with checking("table") as require:
        for column in dict.fromkeys(columns):
            require(column not in within, "index-column", column=column)
    require_among(have or [], *columns)
    with checking("table") as require:
        for column in dict.fromkeys(columns):
            odd = not_single(table, column)
            require(not odd, "strange-cells", column=column, odd=odd)


def _names_of_columns(table: Any) -> list[Any] | None:
    """Names as they are, also those that repeat; None for what is no table."""
    if _is_arrow(table):  # reading narwhals takes longer than counting a file
        return list(table.column_names)
    if _is_pandas(table):
        return list(table.columns)
    import narwhals as nw

    try:
        return list(nw.from_native(table).collect_schema().names())
    except TypeError:
        return None


def _names_of_index(table: Any) -> set[Any]:
    """Names in the index of a pandas table that no column has."""
    return {*table.index.names} - {*table.columns, None} if _is_pandas(table) else set()


def not_single(table: Any, column: str) -> str:
    """What a column holds in place of single values, in words."""
    if _is_arrow(table):
        return _not_single_in_arrow(table[column])
    if _is_pandas(table):
        return _not_single_in_pandas(table[column])
    import narwhals as nw

    dtype = nw.from_native(table).collect_schema()[column]
    if dtype.is_nested() or dtype in (nw.Binary, nw.Object):
        return f"cells of type {dtype}"
    return ""


def _not_single_in_pandas(cells: pd.Series) -> str:
    import pandas as pd

    if isinstance(cells.dtype, pd.ArrowDtype):
        import pyarrow as pa

        return _not_single_in_arrow(pa.chunked_array(cells.array.__arrow_array__()))
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return _not_single_in_pandas(cells.cat.categories.to_series())
    if not pd.api.types.is_object_dtype(cells.dtype):
        return ""
    kind = pd.api.types.infer_dtype(cells, skipna=True)
    if kind in ("integer", "floating", "boolean", "empty"):
        return ""
    odd = [cell for cell in (cells.unique() if kind == "string" else cells) if not _is_single(cell)]
    return f"{len(odd)} cells such as {_short(odd[0])} ({type(odd[0]).__name__})" if odd else ""


def _not_single_in_arrow(cells: Any) -> str:
    import pyarrow as pa

    kind = cells.type.value_type if hasattr(cells.type, "index_type") else cells.type
    if pa.types.is_nested(kind) or "binary" in str(kind):
        return f"cells of type {kind}"
    if "string" not in str(kind):
        return ""
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return "bytes that are not UTF-8"
    return ""


def _is_single(cell: Any) -> bool:
    """Whether a cell is one text that can be written, one number, one time, or nothing."""
    if isinstance(cell, str):
        return cell.isascii() or not any("\ud800" <= c <= "\udfff" for c in cell)
    if isinstance(cell, Number | date | time | timedelta | np.generic | None):
        return not isinstance(cell, np.void | np.bytes_ | complex)
    return type(cell).__name__ in ("NAType", "NaTType", "Period", "Interval")


def _short(cell: Any) -> str:
    text = ascii(cell)
    return text if len(text) <= 40 else text[:40] + "…"


def _is_arrow(table: Any) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(table, arrow.Table)


def _is_pandas(table: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def each_name(names: Any) -> list[Any]:
    """Columns of an argument that takes none, one or several; a name need not be a text."""
    if names is None:
        return []
    return [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)


def columns_of(table: Any) -> list[str]:
    """Names of a table's columns that are text, as all that are read; none of what is no table."""
    return [name for name in _names_of_columns(table) or [] if isinstance(name, str)]


def free_name(name: str, taken: Collection[str]) -> str:
    """A name like `name` that no column has, in any case: engines take no notice of case."""
    have = {str(label).casefold() for label in taken}
    while name.casefold() in have:
        name += "_"
    return name


def require_among(have: Sequence[str], *columns: str) -> None:
    """Raise unless `columns` are among those that a table has."""
    if problems := missing_columns(have, *columns):
        raise InputError("table", problems)


def missing_columns(have: Sequence[str], *columns: str) -> list[Problem]:
    """Say of each of `columns` that a table does not have it, and which it has."""
    from difflib import get_close_matches

    names = [str(name) for name in have[:MOST_NAMES]]
    there = f"it has {list(have)}" if len(have) <= SHOWN_NAMES else f"it has {few(have, 10)}"
    numbered = {str(name) for name in have if not isinstance(name, str)}
    problems = []
    for column in [c for c in columns if c not in have or not isinstance(c, str)]:
        near = get_close_matches(str(column), names, n=1)
        hint, id = f"did you mean {near[0]!r}?" if near else there, "no-column"
        if str(column) in numbered:
            hint, id = "columns are named by text: table.rename(columns=str)", "numbered-column"
        sentence = f"no column {column!r}; {hint}"
        problems.append(Problem(sentence, id, value=column, known=tuple(names)))
    return problems


def is_counted_in_place(table: Any) -> bool:
    """Whether rows live in an engine (DuckDB, Spark, polars lazily) that groups them itself."""
    if _is_arrow(table) or _is_pandas(table):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def is_in_memory(table: Any) -> bool:
    """Whether rows lie in a data frame, of pandas or polars: neither in an engine nor in Arrow."""
    return not _is_arrow(table) and not is_counted_in_place(table)


def read_rows(
    table: Any, *columns: str, names: Collection[str] = (), optional: Collection[str] = ()
) -> pd.DataFrame:
    """Read `columns` of every row."""
    import narwhals as nw

    wanted = list(dict.fromkeys([*columns, *names, *optional]))
    require_columns(table, *wanted)
    frame = nw.from_native(table).lazy().select(wanted).collect()
    rows = _to_pandas(frame, {*names, *optional}).reset_index(drop=True)
    return _named(rows, len(rows), names, optional)


class Coded(NamedTuple):
    """Distinct cells of a column as they occur, and the place of each row's: -1 if it is empty."""

    place: np.ndarray
    cells: Any

    def rows(self) -> np.ndarray:
        """The cell of each row, None if it is empty."""
        return np.append(self.cells, [None])[self.place]


def code_rows(
    table: Any, *columns: str, names: Collection[str] = (), optional: Collection[str] = ()
) -> dict[str, Coded]:
    """Read `columns` of every row by their distinct cells; of Arrow without pandas."""
    if not _is_arrow(table):
        return _factorized(read_rows(table, *columns, names=names, optional=optional))
    wanted = list(dict.fromkeys([*columns, *names, *optional]))
    require_columns(table, *wanted)
    coded = {c: _as_they_occur(table[c]) for c in wanted}
    return _named(coded, len(table), names, optional, _named_cells)


def group_rows(
    table: Any, *columns: str, names: Collection[str] = ()
) -> tuple[dict[str, Coded], np.ndarray]:
    """Read rows with one for those alike, in no order, and how many they are: for many such."""
    wanted = list(dict.fromkeys([*columns, *names]))
    counted = _grouped(table, wanted, names).collect()
    frame = counted.rename(dict(zip(_aliases(wanted), wanted, strict=True)))
    rows = _named(_to_pandas(frame.drop(N_ROWS), names), len(frame), names)
    return _factorized(rows), counted[N_ROWS].to_numpy()


def _factorized(rows: pd.DataFrame) -> dict[str, Coded]:
    import pandas as pd

    each = {column: pd.factorize(rows[column]) for column in rows}
    return {c: Coded(codes, np.asarray(cells.astype(object))) for c, (codes, cells) in each.items()}


def _as_they_occur(column: Any) -> Coded:
    """A column of Arrow by its distinct cells, in the order of the rows."""
    dictionary, codes = _coded(column)
    labels = [*dictionary.to_pylist(), None]
    first = np.full(len(labels), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    place: dict[Any, int] = {}
    rank = np.full(len(labels), -1)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    for code in order.tolist():
        if labels[code] is not None and not _is_nan(labels[code]):
            rank[code] = place.setdefault(labels[code], len(place))
    return Coded(rank[codes], _objects(place))


def every_cell(column: Any) -> list[Any]:
    """Cells of a column of Arrow, each distinct text made once: Arrow makes one for each row."""
    if not (hasattr(column.type, "index_type") or str(column.type).endswith("string")):
        return list(column.to_pylist())
    dictionary, codes = _coded(column)
    return list(np.append(_objects(dictionary.to_pylist()), [None])[codes])


def _named_cells(coded: Coded, column: str, *, optional: bool = False) -> Coded:
    """The same column with its cells as names, which blanks are not."""
    place: dict[str, int] = {}
    written = map(name_of, coded.cells)
    rank = [place.setdefault(name, len(place)) if name.strip() else -1 for name in written]
    named = Coded(np.array([*rank, -1])[coded.place], _objects(place))
    check_names(column, int((named.place < 0).sum()), coded.cells, optional)
    return named


def _objects(cells: Collection[Any]) -> np.ndarray:
    objects = np.empty(len(cells), object)
    objects[:] = list(cells)
    return objects


def count_rows(
    table: Any, *columns: str, names: Collection[str] = ()
) -> tuple[pd.DataFrame, np.ndarray]:
    """Distinct combinations of `names` and `columns`, and how many rows have each, as a frame."""
    import pandas as pd

    cells, n_rows = count_cells(table, *columns, names=names)
    return pd.DataFrame(cells, dtype=object), n_rows


def count_cells(
    table: Any, *columns: str, names: Collection[str] = ()
) -> tuple[dict[str, list[Any]], np.ndarray]:
    """Count the rows of each distinct combination of few: cells by column, and the counts.

    Without pandas, which takes longer to load than a closed form to compute. An empty cell is None.
    """
    wanted = list(dict.fromkeys([*names, *columns]))
    tally = _counted_in_arrow(table, wanted) if _is_arrow(table) else None
    if tally is None:
        counted = _grouped(table, wanted, names).collect()
        cells_of = zip(wanted, _aliases(wanted), strict=True)
        tally = {c: _cells(counted[name]) for c, name in cells_of}, counted[N_ROWS].to_numpy()
    cells = _named(tally[0], len(tally[1]), names, write=names_of)
    merged: dict[tuple[Any, ...], int] = {}
    for row, n in zip(zip(*cells.values(), strict=True), tally[1].tolist(), strict=True):
        merged[row] = merged.get(row, 0) + n
    ordered = sorted(merged, key=lambda row: tuple(map(str, row)))
    by_column = map(list, zip(*ordered, strict=True))
    return dict(zip(wanted, by_column, strict=True)), np.array([merged[row] for row in ordered])


def _counted_in_arrow(
    table: Any, wanted: list[str]
) -> tuple[dict[str, list[Any]], np.ndarray] | None:
    """Count by the codes of the columns' dictionaries: Arrow's own grouping loads pandas."""
    require_columns(table, *wanted)
    coded = [_coded(table[column]) for column in wanted]
    labels = [[*dictionary.to_pylist(), None] for dictionary, _ in coded]
    if (key := _key(coded)) is None:
        return None
    sizes = tuple(map(len, labels))
    if math.prod(sizes) < 2**24:
        every = np.bincount(key)
        occupied = np.flatnonzero(every)
        counts = every[occupied]
    else:
        occupied, counts = np.unique(key, return_counts=True)
    by_column = zip(labels, np.unravel_index(occupied, sizes), strict=True)
    cells = [[None if _is_nan(each[i]) else each[i] for i in codes] for each, codes in by_column]
    return dict(zip(wanted, cells, strict=True)), counts


def _coded(cells: Any) -> tuple[Any, np.ndarray]:
    """What cells of Arrow hold, and which of it each is: one code more is an empty cell's."""
    encoded = cells if hasattr(cells.type, "index_type") else cells.dictionary_encode()
    if str(encoded.type.value_type) == "null":  # Arrow unifies no dictionaries of nothing
        return cells.slice(0, 0), np.zeros(len(cells), np.int64)
    encoded = encoded.unify_dictionaries().combine_chunks()
    return encoded.dictionary, _codes(encoded.indices, null=len(encoded.dictionary))


def _key(coded: Sequence[tuple[Any, np.ndarray]]) -> np.ndarray | None:
    """One number for the codes of a row; None where they are too many."""
    sizes = [len(dictionary) + 1 for dictionary, _ in coded]
    if math.prod(sizes) >= 2**62:
        return None
    return np.ravel_multi_index([codes for _, codes in coded], sizes)


def _distinct_in_arrow(table: Any, wanted: list[str]) -> bool:
    """Whether rows of texts and whole numbers surely differ and none is empty, without pandas."""
    from pyarrow import types

    require_columns(table, *wanted)
    coded = [_coded(table[column]) for column in wanted]
    for dictionary, codes in coded:
        named = len(dictionary) and (
            types.is_integer(dictionary.type)
            or (types.is_string(dictionary.type) and _none_is_blank(dictionary))
        )
        # an empty cell has no code, or that of a null in the dictionary
        if not named or dictionary.null_count or (codes == len(dictionary)).any():
            return False
    key = _key(coded)
    return key is not None and len(np.unique(key)) == len(key)


def _none_is_blank(texts: Any) -> bool:
    """Whether the first byte of each text of Arrow comes after the blanks'."""
    _, ends, data = texts.buffers()
    starts = np.frombuffer(ends, np.int32)[texts.offset :][: len(texts) + 1]
    if not np.diff(starts).all():
        return False
    return bool((np.frombuffer(data, np.uint8)[starts[:-1]] >= ord("!")).all())


def _codes(indices: Any, null: int) -> np.ndarray:
    """Integers of an Arrow array, read where they lie: what converts nulls loads pandas."""
    if not len(indices):
        return np.zeros(0, np.int64)
    codes = np.frombuffer(indices.buffers()[1], str(indices.type))[indices.offset :]
    return np.where(empty_cells(indices), null, codes[: len(indices)].astype(np.int64))


def empty_cells(cells: Any) -> np.ndarray:
    """Where an Arrow array has nulls, read where they lie: Arrow's own way is slow to load."""
    valid = cells.buffers()[0]
    if valid is None or not cells.null_count:
        return np.full(len(cells), cells.null_count > 0)
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
    return bits[cells.offset :][: len(cells)] == 0


def code_of(column: str, codes: Mapping[Any, int]) -> nw.Expr:
    """The code of each cell of a column, in the engine; null where a cell has none."""
    import narwhals as nw

    cells_of: dict[int, list[Any]] = {}
    for cell, code in codes.items():
        cells_of.setdefault(code, []).append(cell)
    expression = nw.lit(None, nw.Int64)
    for code, cells in cells_of.items():
        here = nw.col(column)
        same = here == cells[0] if len(cells) == 1 else here.is_in(cells)
        expression = nw.when(same).then(nw.lit(code, nw.Int64)).otherwise(expression)
    return expression


def total(values: nw.Expr) -> nw.Expr:
    """A sum of whole numbers as 64 bits: DuckDB's own has 128, which no array holds."""
    import narwhals as nw

    return values.sum().cast(nw.Int64)


def empty_name(frame: nw.LazyFrame, column: str) -> nw.Expr:
    """Where a cell names nothing, in the engine: it is empty or blank."""
    import narwhals as nw

    dtype, here = frame.collect_schema()[column], nw.col(column)
    if dtype in (nw.String, nw.Categorical):
        text = here.cast(nw.String)
        blank = text.str.strip_chars() == ""
        # a text of blanks comes before "!", and comparing takes less time than stripping
        return here.is_null() | nw.when(text < "!").then(blank).otherwise(nw.lit(False))
    return here.is_null() | here.is_nan() if dtype.is_float() else here.is_null()


def no_name(frame: nw.LazyFrame, column: str) -> nw.Expr:
    """Where a cell is no name, in the engine: empty, or a float that has lost digits."""
    import narwhals as nw

    dtype, empty = frame.collect_schema()[column], empty_name(frame, column)
    if dtype.is_float():
        return empty | (nw.col(column).abs() >= 2.0 ** (24 if dtype == nw.Float32 else 53))
    return empty


def require_named(nameless: int, column: str) -> None:
    """Raise if cells of a column are no names (`no_name`)."""
    expect("table", not nameless, "empty-names", column=column, nameless=nameless)


def _cells(column: nw.Series) -> list[Any]:
    """The cells of a column; None for null and for NaN, of which some backends have both."""
    pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [None if null or _is_nan(cell) else cell for cell, null in pairs]


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def has_repeats(table: Any, column: str) -> bool:
    """Whether two rows agree in a column of names."""
    counted = _grouped(table, [column], [column]).collect()[N_ROWS]
    return bool(len(counted)) and int(counted.max()) > 1


def require_spoken(subject: str, silent: Sequence[str]) -> None:
    """Refuse columns that say nothing of any row: of such a judge only priors would tell."""
    expect(subject, not silent, "column-silent", silent=silent)


def require_distinct(
    table: Any, *columns: str, remedy: str = "keep one row for each", optional: bool = False
) -> None:
    """Raise if two rows agree in all of `columns`; empty cells are no names, or `optional`."""
    wanted = list(dict.fromkeys(columns))
    if _is_arrow(table) and _distinct_in_arrow(table, wanted):
        return
    import narwhals as nw

    aliases = _aliases(wanted)
    rows = _selected(table, wanted, wanted)
    empty = {c: empty_name(rows, c) for c in aliases}
    if optional:
        rows = rows.filter(~nw.any_horizontal(*empty.values(), ignore_nulls=False))
    counted = rows.select(
        nw.len().alias(N_ROWS), *(total(none.cast(nw.Int64)).alias(c) for c, none in empty.items())
    ).collect()
    if not optional:
        for column, c in zip(wanted, aliases, strict=True):
            check_names(column, counted[c][0] or 0)
    if _all_differ(rows, counted[N_ROWS][0]):
        return
    several = rows.group_by(aliases).agg(nw.len().alias(N_ROWS)).filter(nw.col(N_ROWS) > 1)
    shown = several.drop(N_ROWS).head(SHOWN_ROWS).collect()
    if not len(shown):
        return
    shown = shown.rename(dict(zip(aliases, wanted, strict=True)))
    repeated = _named(_to_pandas(shown, wanted), len(shown), wanted)
    n = several.select(nw.len()).collect().item()
    with checking("table") as require:
        require(
            False,
            f"{n} combinations of {list(columns)} occur more than once, for example "
            f"{repeated.to_dict('records')}; {remedy}",
            "rows-repeat",
        )


def _all_differ(rows: nw.LazyFrame, n: int) -> bool:
    """Whether rows of DuckDB differ by their hashes: eight bytes a row, where groups take ninety.

    False also if it is not known: of other engines, of very many rows, and if two hashes agree.
    """
    import narwhals as nw

    native = rows.to_native()
    if not nw.dependencies.is_duckdb_relation(native) or n > MOST_HASHES:
        return False
    hashed = native.project(f"hash({', '.join(native.columns)}) AS hashes")
    hashes = hashed.fetchnumpy()["hashes"]
    hashes.sort()  # in place: eight bytes a row once
    return not (hashes[1:] == hashes[:-1]).any()


#: Rows of each combination, in a table whose columns are `_aliases`.
N_ROWS = "n_rows"
#: Repeated rows that a message shows, and the most hashes that are compared in memory.
SHOWN_ROWS, MOST_HASHES = 3, 2**27


def _aliases(wanted: Sequence[str]) -> list[str]:
    """What columns are called while they are counted: a user's may be called anything."""
    return [f"c{i}" for i in range(len(wanted))]


def _grouped(table: Any, wanted: list[str], names: Collection[str]) -> nw.LazyFrame:
    """Count rows where they live: columns `_aliases`, and `N_ROWS`."""
    import narwhals as nw

    rows = _selected(table, wanted, names)
    return rows.group_by(_aliases(wanted)).agg(nw.len().alias(N_ROWS))


def _selected(table: Any, wanted: list[str], names: Collection[str]) -> nw.LazyFrame:
    """The columns that are wanted, by our names for them."""
    import narwhals as nw

    require_columns(table, *wanted)
    aliases = dict(zip(wanted, _aliases(wanted), strict=True))
    table = nw.to_native(table, pass_through=True)
    if _is_pandas(table):
        import pandas as pd

        # to a hash table of Python objects, 1 and True are one
        objects = [c for c in names if pd.api.types.is_object_dtype(table[c])]
        named = {c: to_names(table[c], c, optional=True) for c in objects}
        table = pd.DataFrame({aliases[c]: named.get(c, table[c]) for c in wanted})
        aliases = {name: name for name in table.columns}
    called = [nw.col(c).alias(name) for c, name in aliases.items()]
    return nw.from_native(table).lazy().select(called)


def _to_pandas(frame: nw.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """Convert; names that are integers beside nulls as text, since pandas makes floats of them.

    Integers of 128 bits, which pandas does not know, are text too; floats, if they are no names.
    """
    import narwhals as nw

    schema = frame.schema
    long = [c for c, dtype in schema.items() if dtype in (nw.Int128, nw.UInt128)]
    whole = [c for c in names if schema[c].is_integer() and (c in long or frame[c].null_count())]
    others = [nw.col(c).cast(nw.Float64) for c in long if c not in names]
    changed = [*(nw.col(c).cast(nw.String) for c in whole), *others]
    converted = (frame.with_columns(*changed) if changed else frame).to_pandas()
    converted = converted.copy(deep=False)  # before pandas 3 a part of a frame may be a view
    for column in converted:
        cells = converted[column]
        plain = _plain(cells)
        if plain is not cells:
            converted[column] = plain
    return converted


def _plain(cells: pd.Series) -> pd.Series:
    """Cells of a nullable type as NumPy's, or as objects if some are empty, which are None then."""
    import pandas as pd

    dtype = cells.dtype
    if isinstance(dtype, np.dtype):
        nullable = dtype.kind == "O"
    else:
        nullable = getattr(dtype, "na_value", None) is pd.NA and dtype.kind not in "Mm"
    if not nullable:
        return cells
    empty = cells.isna()
    if dtype.kind == "f" or (dtype.kind in "iu" and not empty.any()):
        kind = np.dtype(f"{dtype.kind}8")
        return pd.Series(cells.to_numpy(kind, na_value=np.nan), cells.index, name=cells.name)
    return cells.astype(object).where(~empty, None)


def _named[Columns: Any](
    rows: Columns,
    n: int,
    names: Collection[str],
    optional: Collection[str] = (),
    write: Callable[..., Any] = to_names,
) -> Columns:
    """Make names of some columns of `n` rows; the problems of all of them are raised together."""
    problems: list[str | Problem] = [] if n else ["has no rows"]
    for column in dict.fromkeys([*names, *optional]):
        try:
            rows[column] = write(rows[column], column, optional=column in optional)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError("table", problems)
    return rows
