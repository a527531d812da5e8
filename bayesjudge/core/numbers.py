"""Columns of numbers, of whatever type they are: numbers, or text and objects that say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import InputError, expect, problem
from bayesjudge.core.grades import Grade, grade_of, most_of
from bayesjudge.core.labels import listed, spell
from bayesjudge.core.screen import few

if TYPE_CHECKING:
    import pandas as pd

#: Values that a message shows.
SHOWN = 3
#: What a message proposes for cells without a number.
EMPTY = "leave cells without one empty"


def array_of(kind: type[float] | type[int], subject: str, **given: Any) -> np.ndarray:
    """The argument that is given, as numbers or whole numbers; what is none is refused, not cut."""
    ((name, value),) = given.items()
    try:
        array = np.asarray(value)
        array = array.astype(np.int64 if array.dtype.kind in "iub" else float, copy=False)
    except (TypeError, ValueError):  # texts, and lists of several lengths
        expect(subject, False, "must be numbers", **{name: repr(value)[:40]})
    if kind is int and array.dtype != np.int64:
        wrong = array[~(np.isfinite(array) & (array == np.floor(array)))][:SHOWN].tolist()
        expect(subject, not wrong, "must be whole numbers", **{name: wrong})
    return array.astype(kind, copy=False)


def numbers_of(column: pd.Series, missing_value: Any = None, *, remedy: str = EMPTY) -> np.ndarray:
    """Numbers of a column; empty cells, and those that mean none, are nan."""
    import pandas as pd

    if missing_value is None and pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy(float, na_value=np.nan)
    codes, cells = pd.factorize(column.astype(object))
    return numbers_in(codes, cells, column.name, missing_value, remedy=remedy)


def numbers_in(
    codes: np.ndarray,
    cells: Iterable[Any],
    name: Any,
    missing_value: Any = None,
    *,
    remedy: str = EMPTY,
) -> np.ndarray:
    """Numbers of a column by its distinct cells and the place of each row's, as `numbers_of`."""
    texts = _texts(cells, missing_value)
    values = [number_of(text) if text else np.nan for text in texts]
    wrong = [str(cell)[:40] for cell, value in zip(cells, values, strict=True) if value is None]
    many = len(wrong) > SHOWN
    shown = f"{len(wrong)} different values such as " * many + str(wrong[:SHOWN])
    expect(f"column {name!r}", not wrong, f"{shown} are not numbers; {remedy}")
    return np.array([*values, np.nan], float)[codes]


def scores_of(
    column: pd.Series,
    missing_value: Any = None,
    *,
    scale: Sequence[float] | str | None = None,
    remedy: str = EMPTY,
) -> np.ndarray:
    """Scores of a column on a scale: numbers, or grades that are all out of one number.

    ``4/5``, ``4 out of 5`` and ``80%`` are 4, 4 and 80, of a scale that ends at 5 and 100, or that
    nobody gave; on a scale from 0 to 1 they are 0.8.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) or isinstance(scale, str):
        return numbers_of(column, missing_value, remedy=remedy)
    codes, cells = pd.factorize(column.astype(object))
    texts = _texts(cells, missing_value)
    grades = {text: grade for text in texts if (grade := grade_of(text))}
    if not grades:
        return numbers_of(column, missing_value, remedy=remedy)
    most = _one_most(column.name, [text for text in texts if text], grades, remedy)
    unit = most if scale is not None and (scale[0], scale[-1]) == (0, 1) else 1.0
    if scale is not None and scale[-1] != most / unit:
        shown = {"grade": next(iter(grades)), "scale": f"{scale[0]:g} to {scale[-1]:g}"}
        words = problem("grades-off-scale", most=most, **shown)
        raise InputError(f"column {column.name!r}", [words])
    values = [grades[text].value / unit if text else np.nan for text in texts]
    return np.array([*values, np.nan], float)[codes]


def scale_of_threshold(lowest: float) -> Sequence[float] | None:
    """The scale of what a threshold cuts, if it tells: below 1 grades are shares."""
    number = isinstance(lowest, Real) and not isinstance(lowest, bool)
    expect("thresholds", number, "must be a number", truth_from=lowest)
    return (0.0, 1.0) if lowest < 1 else None


def graded(column: pd.Series, values: np.ndarray) -> str:
    """How grades of a column were read, by its first; empty if it has none."""
    cells = zip(column.astype(object), values.tolist(), strict=True)
    each = (f"{cell!r} read as {value:g}" for cell, value in cells if grade_of(spell(cell)))
    return next(each, "")


def _one_most(name: Any, texts: Sequence[str], grades: dict[str, Grade], remedy: str) -> float:
    """Out of which number all are; refuse numbers and words beside grades, and several scales."""
    words = [text[:40] for text in texts if text not in grades and number_of(text) is None]
    expect(f"column {name!r}", not words, f"{words[:SHOWN]} are not numbers; {remedy}")
    most = most_of(texts)
    if most is None:
        above = [text for text, grade in grades.items() if grade.value > grade.most]
        kinds: dict[float | None, str] = {}
        for text in texts:
            kinds.setdefault(grades[text].most if text in grades else None, text)
        values = few([repr(text) for text in above or kinds.values()], SHOWN)
        raise InputError(f"column {name!r}", [problem("grades-differ", values=values)])
    return most


def _texts(cells: Iterable[Any], missing_value: Any) -> list[str]:
    """Texts of cells; empty if they mean none."""
    none = {spell(marker) for marker in listed(missing_value) or ()}
    return ["" if (text := spell(cell)) in none else text for cell in cells]


def number_of(text: str) -> float | None:
    """The number that a text says; None if it says none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if "_" in text or value != value else value
