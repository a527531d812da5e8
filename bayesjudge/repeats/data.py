"""The data class: repeated scores, counted by item, judge and value of the scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesjudge.core.counting import ratio
from bayesjudge.core.errors import InputError, Require, checking, expect
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of, scores_of
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.tables import free_name, is_counted_in_place

if TYPE_CHECKING:
    import pandas as pd


#: Columns that name items: a table that has one with several names is not about one item.
ITEM_COLUMNS = ("item", "item_id", "id", "doc_id", "sample_id", "task_id", "example_id", "question")


@dataclass(frozen=True, eq=False)
class Scores(ReadAtOnce):
    """Repeated scores of items by judges, counted.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_judges, n_values)
        How often a judge gave an item each value of the scale. A judge here is a model with a
        prompt: whatever is asked again in the same way.
    scale : sequence of float
        Every value that a judge can give, in rising order, whether or not it occurs.
    items, judges : sequence of str
        Names.
    unparsed : array_like of int, shape (n_items, n_judges), default 0
        Answers that held no score.
    sequence : array_like of int, optional
        Places on the scale, from 0, of all scores: cell by cell (the judges of the first item,
        then those of the second), each cell's in the order asked. None if the order is unknown.

    Raises
    ------
    InputError
        If the scale is not rising, shapes differ, a count is negative, no score is left, or
        `sequence` does not hold the scores that `counts` counts.

    Examples
    --------
    >>> scores = Scores.from_values([4, 4, 5, None], scale=[1, 2, 3, 4, 5])
    >>> scores.counts.ravel().tolist(), int(scores.unparsed.sum())
    ([0, 0, 0, 2, 1], 1)
    """

    counts: Any
    scale: Sequence[float]
    items: Sequence[str]
    judges: Sequence[str]
    unparsed: Any = 0
    sequence: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(float(x) for x in self.scale))
        for name in ("items", "judges"):
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        cells = (len(self.items), len(self.judges))
        with checking("repeats.Scores") as require:
            _require_rising(self.scale, require)
            for name in ("items", "judges"):
                require_names(getattr(self, name), name, require)
            counts = np.asarray(self.counts)
            expected = (*cells, len(self.scale))
            require(counts.shape == expected, f"counts: shape {counts.shape}, expected {expected}")
            for name in ("counts", "unparsed"):
                values = array_of(int, "repeats.Scores", **{name: getattr(self, name)})
                require(np.all(values >= 0), f"{name} must be whole numbers, 0 or more")
            require(counts.sum() > 0, "there is no score; check the scale and the answers")
        with checking("repeats.Scores") as require:
            unparsed = array_of(int, "repeats.Scores", unparsed=self.unparsed)
            fits = unparsed.shape in ((), cells)
            require(fits, f"unparsed has shape {unparsed.shape}, expected {cells}")
            unparsed = np.broadcast_to(unparsed, cells) if fits else unparsed
            self._set(unparsed=unparsed, counts=counts.astype(np.int64))
            if self.sequence is not None:
                self._set(sequence=np.asarray(self.sequence, np.int16))
                require(
                    _counts_of(self.sequence, self.counts) == self.counts.tolist(), "other-sequence"
                )

    def describe(self) -> pd.DataFrame:
        """Each item's plain mean and standard deviation by judge, without shrinkage.

        Returns
        -------
        pandas.DataFrame
            One row per item and judge with a score: ``item``, ``judge``, ``scores`` (how many),
            ``mean``, and ``sd`` with one degree of freedom less (``nan`` of one score), in the
            units of the scale.

        References
        ----------
        Source 3, 'Problem: LLM evaluators are stochastic'.

        Examples
        --------
        >>> Scores.from_values([5, 4, 3, 4, 2], scale=[1, 2, 3, 4, 5]).describe()["sd"].round(2)[0]
        np.float64(1.14)
        """
        import pandas as pd

        n, scale = self.counts.sum(axis=-1), np.array(self.scale)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.counts @ scale / n
            away = (scale - mean[..., None]) ** 2
            sd = np.sqrt((self.counts * away).sum(axis=-1) / np.where(n > 1, n - 1, np.nan))
        i, j = np.nonzero(n)
        return pd.DataFrame(
            {
                "item": np.array(self.items)[i],
                "judge": np.array(self.judges)[j],
                "scores": n[i, j],
                "mean": mean[i, j],
                "sd": sd[i, j],
            }
        )

    def __repr__(self) -> str:
        return f"repeats.Scores({'; '.join(self._counts())})"

    def _counts(self) -> list[str]:
        """What there is, in a few words each."""
        sizes = {"item": len(self.items), "judge": len(self.judges)}
        sizes["score"] = int(self.repeats.sum())
        parts = [f"{n} {name}{'s' * (n != 1)}" for name, n in sizes.items()]
        parts += [f"{n} unparsed" for n in [int(self.unparsed.sum())] if n]
        values = [f"{x:g}" for x in self.scale]
        short = values if len(values) < 12 else [*values[:3], "…", values[-1]]
        return [*parts, f"scale {', '.join(short)}"]

    @property
    def repeats(self) -> np.ndarray:
        """Scores in each cell, shape (n_items, n_judges)."""
        return self.counts.sum(axis=-1)

    @property
    def means(self) -> np.ndarray:
        """Mean score of each cell, shape (n_items, n_judges); ``nan`` if there is no score."""
        return ratio(self.counts @ np.array(self.scale), self.repeats)

    @property
    def deviations(self) -> np.ndarray:
        """Sum of squared deviations from the cell's mean, shape (n_items, n_judges)."""
        scale, n = np.array(self.scale), self.repeats
        total, squares = self.counts @ scale, self.counts @ scale**2
        return np.maximum(squares - np.divide(total**2, n, where=n > 0, out=np.zeros(n.shape)), 0)

    @classmethod
    def from_values(cls, scores: Iterable[float | None], *, scale: Sequence[float]) -> Self:
        """Take the scores of one item by one judge, in the order in which they came.

        Parameters
        ----------
        scores : iterable of float or None
            None and ``nan`` are answers that could not be read.
        scale : sequence of float
            Every value that the judge can give, in rising order.

        Returns
        -------
        Scores
            Of one item, called ``item``, and one judge, called ``judge``.

        Raises
        ------
        InputError
            If a score is not on the scale.
        """
        import pandas as pd

        table = pd.DataFrame({"score": list(scores)}, dtype=float)
        return cls.from_frame(table, scale=scale, item=None)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        scale: Sequence[float],
        score: str | Sequence[str] = "score",
        item: str | None = "item",
        judge: str | None = None,
        order: str | None = None,
    ) -> Self:
        """Count the answers of a table of one row per answer, or one row per item.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark.
        scale : sequence of float
            Every value that a judge can give, in rising order, whether or not it occurs.
        score : str or sequence of str, default "score"
            Column of scores; an empty cell is an answer that could not be read. Of a table with
            one row per item, the columns of its answers by one judge, in the order asked.
        item : str or None, default "item"
            Column that names the item; None if all rows are about one item. Refused if the table
            has a column such as ``item``, ``id`` or ``question`` with several names in it.
        judge : str, optional
            Column that names the judge (a model with a prompt); one judge without.
        order : str, optional
            Column that says when within its cell an answer was asked for: numbers or ISO times,
            also as text, each once for an item and judge. Without it the rows' own order is taken,
            which only pandas, polars and Arrow tables have: what an engine holds (DuckDB, Spark,
            polars lazily) is counted there, and `sequence` is None. Columns of answers have
            their own order.

        Returns
        -------
        Scores
            Items and judges in the order in which they first occur; of an engine, sorted.

        Raises
        ------
        InputError
            If a column is missing, a score is not a number of the scale, or there is none, or
            `order` gives no order.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": ["a", "a", "b"], "score": [4, 5, 1]})
        >>> Scores.from_frame(table, scale=range(1, 6)).repeats.tolist()
        [[2], [1]]

        One row per item:

        >>> wide = pd.DataFrame({"item": ["a", "b"], "run1": [4, 1], "run2": [5, 1]})
        >>> Scores.from_frame(wide, scale=range(1, 6), score=["run1", "run2"]).repeats.tolist()
        [[2], [2]]
        """
        if isinstance(score, Sequence) and not isinstance(score, str):
            problem = "they stand in the order asked: leave order= out"
            expect("columns of scores", order is None, problem)
            table, score = stack_answers(table, score, item=item, judge=judge)
        values = tuple(scale)
        with checking("repeats.Scores") as require:
            _require_rising(values, require)
        counted = _read_scores(table, values, score=score, item=item, judge=judge, order=order)
        return cls(scale=values, **counted)


def _require_rising(scale: Sequence[float], require: Require) -> None:
    rising = len(scale) >= 2 and bool(np.all(np.diff(scale) > 0))
    require(rising, "must be two or more rising numbers", scale=list(scale))


def stack_answers(
    table: Any, scores: Sequence[str], *, item: str | None, judge: str | None
) -> tuple[Any, str]:
    """Put columns of answers under each other: one row per answer; and what their column is called.

    Rows are in the order of the columns, so that an item's answers keep theirs.
    """
    import narwhals as nw
    import pandas as pd

    from bayesjudge.core.tables import read_rows, require_columns

    keys = [c for c in (item, judge) if c is not None]
    with checking("columns of scores") as require:
        require(len(set(scores)) == len(scores) > 0, f"expected different ones, got {scores}")
        both = [name for name in scores if name in keys]
        require(not both, f"{both} name the item or the judge")
    with _naming(item):
        require_columns(table, *scores, *keys)
    if item is None:
        _require_one_item(table)
    if len(scores) == 1:
        return table, scores[0]
    called = free_name(few(list(scores), 3), keys)
    if not is_counted_in_place(table):
        rows = read_rows(table, *scores, names=keys)
        each = [rows[[*keys, name]].set_axis([*keys, called], axis=1) for name in scores]
        return pd.concat(each, ignore_index=True), called
    frame = nw.from_native(table).lazy()
    schema = frame.collect_schema()
    numeric = all(schema[name].is_numeric() for name in scores)
    answers = [nw.col(name).cast(nw.Float64 if numeric else nw.String) for name in scores]
    stacked = nw.concat([frame.select(*keys, answer.alias(called)) for answer in answers])
    return stacked.to_native(), called


def _read_scores(
    table: Any,
    scale: tuple[float, ...],
    *,
    score: str,
    item: str | None,
    judge: str | None,
    order: str | None,
) -> dict[str, Any]:
    """Count scores by item, judge and value."""
    import pandas as pd

    from bayesjudge.core.tables import count_rows

    if item is None:
        _require_one_item(table)
    counted = order is None and is_counted_in_place(table)  # its rows have no order of their own
    if counted:
        with _naming(item):
            rows, times = count_rows(table, score, names=[c for c in (item, judge) if c])
    else:
        rows = _read_rows(table, score, item, judge, order)
        times = np.ones(len(rows), np.int64)
    if order is not None:
        moments = _moments(rows[order], order)
        _require_one_answer_each(rows, [c for c in (item, judge) if c is not None], moments, order)
        rows = rows.iloc[np.argsort(moments, kind="stable")]

    def codes(column: str | None, name: str) -> tuple[list[str], np.ndarray]:
        if column is None:
            return [name], np.zeros(len(rows), np.int64)
        places, labels = pd.factorize(rows[column], sort=counted)
        return list(labels), places.astype(np.int64)

    (items, item_at), (judges, judge_at) = codes(item, "item"), codes(judge, "judge")
    values = _numbers(rows[score], score, scale)
    cells = (len(items), len(judges))
    cell, known = item_at * len(judges) + judge_at, ~np.isnan(values)
    unparsed = np.zeros(cells[0] * cells[1], np.int64)
    np.add.at(unparsed, cell[~known], times[~known])
    cell, at = cell[known], np.searchsorted(scale, values[known])
    counts = np.zeros((cells[0] * cells[1], len(scale)), np.int64)
    np.add.at(counts, (cell, at), times[known])
    return {
        "counts": counts.reshape(*cells, -1),
        "items": items,
        "judges": judges,
        "unparsed": unparsed.reshape(cells),
        "sequence": None if counted else at[np.argsort(cell, kind="stable")],
    }


def _read_rows(
    table: Any, score: str, item: str | None, judge: str | None, order: str | None
) -> pd.DataFrame:
    from bayesjudge.core.tables import read_rows

    names = [c for c in (item, judge) if c is not None]
    with _naming(item):
        return read_rows(table, score, *([] if order is None else [order]), names=names)


@contextmanager
def _naming(item: str | None) -> Iterator[None]:
    """Say what to do if there is no column of items."""
    try:
        yield
    except InputError as error:
        if not error.has("no-column", value=item):
            raise
        remedy = "name the column of items (item=…), or say item=None if there is one item"
        raise InputError(error.subject, [*error.problems, remedy]) from None


def _require_one_item(table: Any) -> None:
    """Refuse a table of many items that is said to be about one."""
    import narwhals as nw

    from bayesjudge.core.tables import require_columns

    require_columns(table)
    frame = nw.from_native(table).lazy()
    have = set(frame.collect_schema().names())
    there = [name for name in ITEM_COLUMNS if name in have]
    with checking("table") as require:
        for name in there:
            several = len(frame.select(name).drop_nulls().unique().collect())
            require(
                several < 2,
                f"column {name!r} names {several} items, and all rows are said to be about one: "
                f"name it (item={name!r}; --item {name}), or leave it out of the table",
            )


def _require_one_answer_each(
    rows: pd.DataFrame, names: list[str], moments: np.ndarray, order: str
) -> None:
    """Refuse two answers of one judge about one item at one time."""
    again = rows[names].set_axis(range(len(names)), axis=1).assign(moment=moments).duplicated()
    again = again.to_numpy()
    shown = rows[again][[*names, order]].head(3).astype(str).to_dict("records")
    expect(f"column {order!r}", not again.any(), "same-time", n=int(again.sum()), shown=shown)


def _moments(column: pd.Series, name: str) -> np.ndarray:
    """Place of each row in time, 0 the first."""
    import pandas as pd

    codes, cells = pd.factorize(column)
    empty = int(np.sum(codes < 0))
    problem = f"{how_many(empty, 'row', 'do')} not say when"
    expect(f"column {name!r}", not empty, f"{problem}; fill the column or leave them out")
    if isinstance(cells.dtype, pd.CategoricalDtype) and cells.dtype.ordered:
        keys = cells.codes
    elif cells.dtype.kind in "iufMm":  # numbers, times and spans of time
        keys = np.asarray(cells)
    else:
        keys = _parsed_moments([str(cell).strip() for cell in cells], name)
    return np.unique(keys, return_inverse=True)[1][codes]


def _parsed_moments(cells: list[str], name: str) -> np.ndarray:
    """Read all cells as numbers, or all as times."""
    for read in (Decimal, datetime.fromisoformat):
        try:
            moments = np.array([read(cell) for cell in cells], dtype=object)
            np.sort(moments)
        except (ArithmeticError, ValueError, TypeError):
            continue
        return moments
    words = [cell for cell in cells if not cell.replace(".", "", 1).lstrip("+-").isdecimal()]
    expect(f"column {name!r}", False, "no-order", words=words[:3])
    raise AssertionError


def _numbers(column: pd.Series, name: str, scale: tuple[float, ...]) -> np.ndarray:
    remedy = "leave the cells of answers without a score empty"
    values = scores_of(column, scale=scale, remedy=remedy)
    off = sorted(set(values[~np.isnan(values) & ~np.isin(values, scale)].tolist()))
    expect(f"column {name!r}", not off, f"{off[:3]} are not on the scale {list(scale)}")
    return values


def _counts_of(sequence: np.ndarray, counts: np.ndarray) -> Any:
    """Count a sequence by cell and value; None if it is not as long as `counts` says."""
    n, values = counts.sum(axis=-1).ravel(), counts.shape[-1]
    if sequence.shape != (n.sum(),) or not ((sequence >= 0) & (sequence < values)).all():
        return None
    keys = np.repeat(np.arange(n.size), n) * values + sequence
    return np.bincount(keys, minlength=counts.size).reshape(counts.shape).tolist()
