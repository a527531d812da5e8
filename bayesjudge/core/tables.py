"""From a user's table to checked counts. The only code that reads a table's columns.

A table is anything that narwhals knows: pandas, polars, Arrow, DuckDB, Spark. Rows are counted
where they live; what comes back is as long as there are distinct combinations of values.

A column holds names (ids of items, names of raters, judges, systems …) or labels (verdicts, truths,
scores). Labels may be numbers: 1, 1.0, "1" and true are one label (`to_binary`). Names never are:
"007" and "7" are two names (`bayesjudge.core.names`).
"""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import pandas as pd

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.names import to_names


def require_columns(table: Any, *columns: str) -> None:
    """Raise unless `table` has all of `columns`, naming the closest ones that it has."""
    try:
        have = list(nw.from_native(table).collect_schema().names())
    except TypeError:
        have = None
    with checking("table") as require:
        require(
            have is not None,
            f"expected a DataFrame (pandas, polars, Arrow, DuckDB …), got {type(table).__name__}",
        )
        for column in columns if have is not None else ():
            near = get_close_matches(str(column), [str(name) for name in have or ()], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {have}"
            require(column in (have or ()), f"no column {column!r}; {hint}")


def read_rows(
    table: Any, *columns: str, names: Collection[str] = (), optional: Collection[str] = ()
) -> pd.DataFrame:
    """Read `columns` of every row."""
    wanted = list(dict.fromkeys([*columns, *names, *optional]))
    require_columns(table, *wanted)
    frame = nw.from_native(table).lazy().select(wanted).collect()
    return _named(_to_pandas(frame, {*names, *optional}).reset_index(drop=True), names, optional)


def count_rows(table: Any, *columns: str, names: Collection[str] = ()) -> pd.DataFrame:
    """Count the rows of each distinct combination of `names` and `columns`."""
    wanted = list(dict.fromkeys([*names, *columns]))
    counted = _to_pandas(_grouped(table, wanted, names).collect(), names)
    counted = _named(counted, names)
    # polars tells NaN from null, pandas does not: one empty cell is one empty cell
    merged = counted.groupby(wanted, dropna=False, sort=False, as_index=False)["n_rows"].sum()
    order = merged[wanted].astype(object).map(str).sort_values(wanted, kind="stable").index
    return merged.loc[order].reset_index(drop=True)


def require_distinct(table: Any, *columns: str) -> None:
    """Raise where two rows agree in all of `columns`."""
    wanted = list(dict.fromkeys(columns))
    counted = _grouped(table, wanted, wanted)
    schema = counted.collect_schema()
    texts = [c for c in wanted if schema[c] in (nw.String, nw.Categorical)]
    blank = [nw.col(c).cast(nw.String).str.strip_chars() == "" for c in texts]
    null = [nw.col(c).is_null() for c in wanted]
    odd = counted.filter(nw.any_horizontal(nw.col("n_rows") > 1, *blank, *null, ignore_nulls=True))
    repeated = _to_pandas(odd.collect(), wanted)
    repeated = repeated if repeated.empty else _named(repeated, wanted)
    shown = repeated.drop(columns="n_rows").head(3).to_dict("records")
    with checking("table") as require:
        require(
            repeated.empty,
            f"{len(repeated)} combinations of {list(columns)} occur more than once, for example "
            f"{shown}; keep one row for each",
        )


def _grouped(table: Any, wanted: list[str], names: Collection[str]) -> nw.LazyFrame:
    """Count rows where they live."""
    require_columns(table, *wanted)
    if isinstance(table, pd.DataFrame):
        # to a hash table of Python objects, 1 and True are one
        objects = [c for c in names if pd.api.types.is_object_dtype(table[c])]
        table = table.assign(**{c: to_names(table[c], c, optional=True) for c in objects})
    frame = nw.from_native(table).lazy().select(wanted)
    return frame.group_by(wanted).agg(nw.len().alias("n_rows"))


def _to_pandas(frame: nw.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """Convert; names that are integers beside nulls as text, since pandas makes floats of them."""
    whole = [c for c in names if frame.schema[c].is_integer() and frame[c].null_count()]
    texts = [nw.col(c).cast(nw.String) for c in whole]
    return (frame.with_columns(*texts) if texts else frame).to_pandas()


def _named(
    rows: pd.DataFrame, names: Collection[str], optional: Collection[str] = ()
) -> pd.DataFrame:
    """Make names of some columns; the problems of all of them are raised together."""
    problems = [] if len(rows) else ["has no rows"]
    for column in dict.fromkeys([*names, *optional]):
        try:
            rows[column] = to_names(rows[column], column, optional=column in optional)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError("table", problems)
    return rows


def to_binary(
    values: pd.Series,
    name: str,
    *,
    pass_values: Iterable[Any] | None = None,
    fail_values: Iterable[Any] | None = None,
    missing_values: Iterable[Any] = (),
) -> pd.Series:
    """Map labels to 1, 0 and missing."""
    text = values.map(spell)
    passes = {spell(v) for v in pass_values} if pass_values is not None else {"1"}
    fails = {spell(v) for v in fail_values} if fail_values is not None else {"0"}
    missing = values.isna() | text.isin({spell(v) for v in missing_values})
    found = sorted(set(text[~missing]))
    others = [label for label in found if label not in passes | fails]
    if pass_values is not None and fail_values is None:
        others = [label for label in found if label not in passes]
        if len(others) == 1:
            fails, others = set(others), []
    with checking(f"column {name!r}") as require:
        both = sorted(passes & fails)
        require(not both, f"{both} cannot mean both pass and fail")
        require(
            not others,
            f"values found: {found}; {others} are neither pass nor fail; "
            "say which values mean pass, fail and missing "
            "(pass_value=, fail_value=, missing_value=)",
        )
    return text.isin(passes).astype(float).mask(missing)


def spell(value: Any) -> str:
    """Write a label so that 1, 1.0, True and "1" are one label, and 0.5 stays what it is."""
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return str(int(value))
    text = str(value).strip()
    if text.lower() in {"true", "false"}:
        return str(int(text.lower() == "true"))
    try:
        number = float(text)
    except ValueError:
        return text
    # larger floats are several whole numbers at once
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else text
