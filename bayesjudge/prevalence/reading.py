"""From a table of items to the six counts, wherever the table lives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.tables import count_rows, require_distinct, spell, to_binary

#: How labelled items can have been chosen, and what carries over from them to the other items.
CALIBRATIONS: dict[str, str] = {
    "random": "labelled items are a random sample of the same items",
    "by_truth": "so many good and so many bad ones were labelled (balanced by the human label)",
    "separate": "labelled items come from another data set or run, under the same judge",
    "by_verdict": "so many passes and so many fails of the judge were labelled",
}


def require_calibration(calibration: object, require: Any) -> None:
    """Note a problem unless `calibration` is one of `CALIBRATIONS`.

    Parameters
    ----------
    calibration : object
        What the user gave.
    require : callable
        From `bayesjudge.core.errors.checking`.
    """
    choices = "; ".join(f"{name!r}: {meaning}" for name, meaning in CALIBRATIONS.items())
    require(
        calibration in CALIBRATIONS,
        f"calibration={calibration!r}: how were the labelled items chosen? {choices}",
    )


def count_cells(
    table: Any,
    *,
    calibration: str,
    columns: tuple[str, str],
    by: str | None,
    item: str | None,
    meanings: tuple[Any, Any, Any],
    unparsed: str | None,
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """Count items by verdict and label; the arguments are those of `Counts.from_frame`.

    Parameters
    ----------
    table : dataframe
        One row an item.
    calibration : str
        How the labelled rows were chosen.
    columns : tuple of str
        Verdict and truth.
    by, item : str or None
        Columns that name the system, and the item within it.
    meanings : tuple
        What means pass, fail and missing: a value, a list or None each.
    unparsed : {"fail", "drop"} or None
        What to do with rows that have no verdict.

    Returns
    -------
    counts : dict
        The fields of `Counts`, one number each or one a system.
    systems : tuple of str or None
        Their names.

    Raises
    ------
    InputError
        As `Counts.from_frame`.
    """
    verdict, truth = columns
    with checking("prevalence.Counts.from_frame") as require:
        require_calibration(calibration, require)
        require(unparsed in (None, "fail", "drop"), f"unparsed={unparsed!r}: fail or drop")
    if item is not None:
        require_distinct(table, *([by] if by else []), item)
    rows = count_rows(table, *([by] if by else []), verdict, truth)
    values = (_listed(meanings[0]), _listed(meanings[1]), _listed(meanings[2]) or ())
    v, t = _read_labels(rows, verdict, truth, values)
    missing = v.isna()
    with checking(f"column {verdict!r}") as require:
        n_missing = int(rows["n_rows"][missing].sum())
        require(
            n_missing == 0 or unparsed,
            f"{n_missing} rows have no verdict; say what they are: unparsed='fail' (the judge "
            "did not pass them, and calibration corrects that) or unparsed='drop'",
        )
        if by:
            require(not rows[by].isna().any(), f"column {by!r} has empty cells")
    if unparsed == "fail":
        v = v.fillna(0)
    cells = {
        "test_n": t.isna() & v.notna(),
        "test_pass": t.isna() & (v == 1),
        "correct_n": (t == 1) & v.notna(),
        "correct_pass": (t == 1) & (v == 1),
        "incorrect_n": (t == 0) & v.notna(),
        "incorrect_fail": (t == 0) & (v == 0),
        "unparsed": missing,
    }
    if by is None:
        summed = {k: int(rows["n_rows"][mask].sum()) for k, mask in cells.items()}
        return summed, None
    names = rows[by].astype(str)
    grouped = {k: rows["n_rows"].where(mask, 0).groupby(names).sum() for k, mask in cells.items()}
    systems = tuple(next(iter(grouped.values())).index)
    return {k: g.to_numpy() for k, g in grouped.items()}, systems


def _listed(value: Any) -> list[Any] | None:
    if value is None:
        return None
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _read_labels(
    rows: pd.DataFrame, verdict: str, truth: str, values: tuple[Any, Any, Any]
) -> tuple[pd.Series, pd.Series]:
    """Both columns as 1, 0 and nan; the problems of both are raised together."""
    passes, fails, missing = values
    found = {spell(cell) for column in (verdict, truth) for cell in rows[column].dropna()}
    absent = [value for value in passes or () if spell(value) not in found]
    problems = [f"no row has the pass value {absent}; values found: {sorted(found)}"] * bool(absent)
    read = []
    for column in (verdict, truth):
        try:
            read.append(
                to_binary(
                    rows[column],
                    column,
                    pass_values=passes,
                    fail_values=fails,
                    missing_values=missing,
                )
            )
        except InputError as error:
            problems += [f"column {column!r}: {problem}" for problem in error.problems]
    if problems:
        raise InputError("table", problems)
    return read[0], read[1]
