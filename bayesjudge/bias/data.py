"""What the estimators see: how far each re-judged score moved, and on which scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.bias import reading
from bayesjudge.bias.checks import UNITS, require_fields
from bayesjudge.bias.selecting import names_of, select
from bayesjudge.core.errors import checking


@dataclass(frozen=True, eq=False)
class Shifts:
    """How far each re-judged score moved from its baseline, in score points.

    Parameters
    ----------
    shift : numpy.ndarray of float, shape (n_rows, n_scores)
        Re-judged score less baseline score; sizes without a sign where `signed` is false.
    item, judge, perturbation, neighbour : array_like of int, shape (n_rows,)
        Place of each row in `items`, `judges` and `perturbations`, and the neighbouring context
        that it belongs to.
    items, judges, perturbations : sequence of str
        Names.
    scale : tuple of float
        Lowest and highest possible score.
    design : {"item", "batch"}
        What a neighbour is: one item perturbed, or all of them. See `DESIGNS`.
    reruns : sequence of str
        Those of `perturbations` in which nothing was changed.
    scores : sequence of str
        Names of the scores that are released.
    missing : array_like of int, shape (n_judges, n_perturbations), optional
        Re-judgements that were asked for and have no score.
    missing_as : str
        What was done with them: ``"drop"``, ``"worst"``, or nothing where there are none.
    signed : bool, default True
        Whether the direction of a shift is known.
    averaged : int, default 1
        How many calls of the judge are averaged into a released score.
    counts, means, squares, freedom : numpy.ndarray, optional
        Sufficient statistics of the scores themselves; see `bayesjudge.bias.reading.count_cells`.

    Raises
    ------
    InputError
        Where shapes or names do not fit, or a shift is larger than the scale allows.

    Examples
    --------
    >>> shifts = Shifts.from_differences([0, 0, 2, 0, 2], scale=(1, 5))
    >>> shifts.lengths.max(), shifts.largest
    (np.float64(2.0), 4.0)
    """

    shift: np.ndarray
    item: Any
    judge: Any
    perturbation: Any
    neighbour: Any
    items: Sequence[str]
    judges: Sequence[str]
    perturbations: Sequence[str]
    scale: tuple[float, float]
    design: str
    reruns: Sequence[str] = ()
    scores: Sequence[str] = ("score",)
    missing: Any = None
    missing_as: str = ""
    signed: bool = True
    averaged: int = 1
    counts: np.ndarray | None = None
    means: np.ndarray | None = None
    squares: np.ndarray | None = None
    freedom: np.ndarray | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name in ("items", "judges", "perturbations", "reruns", "scores"):
            set_(self, name, tuple(map(str, getattr(self, name))))
        for name in ("item", "judge", "perturbation", "neighbour"):
            set_(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        set_(self, "shift", np.asarray(self.shift, dtype=float))
        shape = (len(self.judges), len(self.perturbations))
        lost = np.zeros(shape) if self.missing is None else self.missing
        set_(self, "missing", np.asarray(lost, dtype=np.int64))
        with checking("bias.Shifts") as require:
            require_fields(self, require)

    @property
    def span(self) -> float:
        """Range of the scale, in score points."""
        return float(self.scale[1] - self.scale[0])

    @property
    def dim(self) -> int:
        """How many scores a release holds: items times scores."""
        return len(self.items) * len(self.scores)

    @property
    def largest(self) -> float:
        """Length of the largest shift that the scale allows one neighbour, in score points."""
        moved = self.dim if self.design == "batch" else len(self.scores)
        return self.span * float(np.sqrt(moved))

    @property
    def lengths(self) -> np.ndarray:
        """Euclidean length of each neighbour's shift, in score points; shape (n_neighbours,)."""
        _, place = np.unique(self.neighbour, return_inverse=True)
        return np.sqrt(np.bincount(place, weights=(self.shift**2).sum(axis=1)))

    @property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Judge and perturbation of each neighbour, in the order of `lengths`."""
        _, row = np.unique(self.neighbour, return_index=True)
        return self.judge[row], self.perturbation[row]

    def points(self, tolerance: float, units: str) -> float:
        """Turn a tolerance into score points.

        Parameters
        ----------
        tolerance : float
            Positive.
        units : {"points", "range"}
            What it is a number of: never guessed.

        Returns
        -------
        float
            In score points.

        Raises
        ------
        InputError
            Where it is not positive, or the units are unknown.
        """
        with checking("tolerance") as require:
            require(tolerance > 0, f"must be positive, got {tolerance!r}")
            require(units in UNITS, f"units={units!r}: what is the tolerance a number of? {UNITS}")
        return float(tolerance * (self.span if units == "range" else 1.0))

    def only(self, *, judge: str | None = None, perturbation: str | None = None) -> Self:
        """Keep one judge, or one perturbation.

        Parameters
        ----------
        judge, perturbation : str, optional
            Names.

        Returns
        -------
        Shifts
            With those rows, and all that repeated scores say of a judge's noise.

        Raises
        ------
        InputError
            Where there is no such name, or none of its rows.
        """
        return select(self, judge, perturbation)

    @classmethod
    def from_differences(
        cls,
        differences: Any,
        *,
        scale: tuple[float, float],
        items: int | None = None,
        perturbation: str = "perturbed",
        judge: str = "judge",
        signed: bool = False,
        missing: int = 0,
    ) -> Self:
        """Take score differences of one-item neighbours as they are.

        Parameters
        ----------
        differences : array_like of float, shape (n,)
            Re-judged less baseline score of `n` neighbours, or its size, in score points.
        scale : tuple of float
            Lowest and highest possible score.
        items : int, optional
            How many items are released; `n` by default.
        perturbation, judge : str
            Names.
        signed : bool, default False
            Whether differences keep their sign.
        missing : int, default 0
            Re-judgements without a score; they are left out of the differences.

        Returns
        -------
        Shifts
            Each difference is a neighbour of an item of its own.

        Raises
        ------
        InputError
            Where a difference is missing or larger than the scale allows.
        """
        values = np.asarray(differences, dtype=float).reshape(-1, 1)
        zeros = np.zeros(len(values), dtype=int)
        count = len(values) if items is None else items
        place = np.arange(len(values))
        return cls(
            shift=values,
            item=place % max(count, 1),
            judge=zeros,
            perturbation=zeros,
            neighbour=place,
            items=tuple(map(str, range(count))),
            judges=(judge,),
            perturbations=(perturbation,),
            scale=scale,
            design="item",
            missing=np.array([[missing]]),
            missing_as="drop" if missing else "",
            signed=signed,
        )

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        scale: tuple[float, float],
        design: Literal["item", "batch"],
        baseline: str = "baseline",
        rerun: str | Sequence[str] = (),
        item: str = "item",
        variant: str = "variant",
        score: str | Sequence[str] = "score",
        judge: str | None = None,
        repeats: Literal["mean", "neighbours"] | None = None,
        missing: Literal["drop", "worst"] | None = None,
    ) -> Self:
        """Read a long table: one row an item, variant (and judge).

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark.
        scale : tuple of float
            Lowest and highest possible score. It is not taken from the scores that occur.
        design : {"item", "batch"}
            What a neighbour is: one item perturbed and judged again, or all of them.
        baseline : str, default "baseline"
            The variant whose scores are released.
        rerun : str or sequence of str
            Variants in which nothing was changed: the baseline judged again.
        item, variant : str
            Columns.
        score : str or sequence of str
            Column of the released score, or of several: a shift is then a vector.
        judge : str, optional
            Column that names the judge.
        repeats : {"mean", "neighbours"}, optional
            What several scores of one item, variant and judge are; required where there are any.
            With ``"mean"``, a mean that lacks one of its scores is a missing score; to average the
            others, leave the rows without a score out of the table.
        missing : {"drop", "worst"}, optional
            What to do with scores that are missing; required where there are any. ``"drop"`` leaves
            a neighbour out (a batch that lacks one score too), which is right only if scores go
            missing regardless of their shift; ``"worst"`` takes the largest shift that the scale
            allows from the baseline, which can never make a certificate too good.

        Returns
        -------
        Shifts
            Of every re-judged score that has a baseline.

        Raises
        ------
        InputError
            Where a column, a variant or a baseline is missing, a score is off the scale, or
            repeats or missing scores were not spoken for.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [1, 1, 2, 2], "score": [3, 4, 5, 5],
        ...                       "variant": ["baseline", "bold", "baseline", "bold"]})
        >>> Shifts.from_frame(table, scale=(1, 5), design="item").lengths
        array([1., 0.])
        """
        fields = reading.read_fields(
            table,
            reading.Columns(item, variant, names_of(score), judge),
            scale=scale,
            design=design,
            baseline=baseline,
            reruns=names_of(rerun),
            repeats=repeats,
            missing=missing,
        )
        return cls(**fields)
