"""What the estimators see: how often each judge gave each item each value of a scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.core.names import require_names
from bayesjudge.repeats.reading import read_scores


@dataclass(frozen=True, eq=False)
class Scores:
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
    first : array_like of float, shape (n_items, n_judges), optional
        The first score of each cell, ``nan`` where there is none or the order is unknown.
    drift : array_like of float, shape (n_items, n_judges), optional
        Sum over a cell's scores, in the order asked, of (position - mean position) * score.

    Raises
    ------
    InputError
        Where the scale is not rising, shapes differ, a count is negative or no score is left.

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
    first: Any = np.nan
    drift: Any = np.nan

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(float(x) for x in self.scale))
        for name in ("items", "judges"):
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        cells = (len(self.items), len(self.judges))
        with checking("repeats.Scores") as require:
            rising = len(self.scale) >= 2 and bool(np.all(np.diff(self.scale) > 0))
            require(rising, f"scale must be two or more rising numbers, got {list(self.scale)}")
            for name in ("items", "judges"):
                require_names(getattr(self, name), name, require)
            counts = np.asarray(self.counts)
            expected = (*cells, len(self.scale))
            require(counts.shape == expected, f"counts: shape {counts.shape}, expected {expected}")
            for name in ("counts", "unparsed"):
                values = np.asarray(getattr(self, name), float)
                whole = bool(np.all(values == np.floor(values)) and np.all(values >= 0))
                require(whole, f"{name} must be whole numbers, 0 or more")
            require(counts.sum() > 0, "there is no score; check the scale and the answers")
        with checking("repeats.Scores") as require:
            for name, kind in (("unparsed", np.int64), ("first", float), ("drift", float)):
                values = np.asarray(getattr(self, name), kind)
                fits = values.shape in ((), cells)
                require(fits, f"{name} has shape {values.shape}, expected {cells}")
                self._freeze(name, np.broadcast_to(values, cells) if fits else values)
            self._freeze("counts", counts.astype(np.int64))

    def _freeze(self, name: str, values: np.ndarray) -> None:
        values = np.array(values)
        values.flags.writeable = False
        object.__setattr__(self, name, values)

    @property
    def repeats(self) -> np.ndarray:
        """Scores in each cell, shape (n_items, n_judges)."""
        return self.counts.sum(axis=-1)

    @property
    def means(self) -> np.ndarray:
        """Mean score of each cell, shape (n_items, n_judges); ``nan`` where there is no score."""
        with np.errstate(invalid="ignore"):
            return self.counts @ np.array(self.scale) / self.repeats

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
            Where a score is not on the scale.
        """
        return cls.from_frame(pd.DataFrame({"score": list(scores)}, dtype=float), scale=scale)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        scale: Sequence[float],
        score: str = "score",
        item: str | None = None,
        judge: str | None = None,
        order: str | None = None,
    ) -> Self:
        """Count the rows of a table of one row an answer.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark.
        scale : sequence of float
            Every value that a judge can give, in rising order, whether or not it occurs.
        score : str, default "score"
            Column of scores; an empty cell is an answer that could not be read.
        item, judge : str, optional
            Columns that name the item and the judge (a model with a prompt); one of each without.
        order : str, optional
            Column that says when within its cell an answer was asked for: numbers or ISO times,
            also as text. Without it the rows' own order is taken, which only pandas, polars and
            Arrow tables have.

        Returns
        -------
        Scores
            Items and judges in the order in which they first occur.

        Raises
        ------
        InputError
            Where a column is missing, a score is not a number of the scale, or there is none, or
            `order` gives no order.

        Examples
        --------
        >>> table = pd.DataFrame({"item": ["a", "a", "b"], "score": [4, 5, 1]})
        >>> Scores.from_frame(table, item="item", scale=range(1, 6)).repeats.tolist()
        [[2], [1]]
        """
        found = read_scores(table, tuple(scale), score=score, item=item, judge=judge, order=order)
        return cls(scale=tuple(scale), **found)
