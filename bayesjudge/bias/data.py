"""Data class `Shifts`: how far each re-judged score moved, and on which scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.bias import _pairing
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.names import require_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import few, fitted
from bayesjudge.core.tables import each_name

#: What a tolerance is a number of.
UNITS: dict[str, str] = {"points": "score points", "range": "fractions of the scale's range"}
Units = Literal["points", "range"]


@dataclass(frozen=True, eq=False)
class Shifts(ReadAtOnce):
    """How far each re-judged score moved from its baseline, in score points.

    Parameters
    ----------
    shift : numpy.ndarray of float, shape (n_rows, n_scores)
        Re-judged score less baseline score; sizes without a sign if `signed` is false.
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
        What was done with them: ``"drop"``, ``"worst"``, or nothing if there are none.
    signed : bool, default True
        Whether the direction of a shift is known.
    averaged : int, default 1
        How many calls of the judge are averaged into a released score.
    counts, means, squares, freedom : numpy.ndarray, optional
        Sufficient statistics of the scores themselves; the baseline first, reruns counted with
        it, and scatter within cells by judge; only if read by `from_frame` with one score.

    Raises
    ------
    InputError
        If shapes or names do not fit, or a shift is larger than the scale allows.

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
            set_(self, name, array_of(int, "bias.Shifts", **{name: getattr(self, name)}))
        set_(self, "shift", array_of(float, "bias.Shifts", shift=self.shift))
        shape = (len(self.judges), len(self.perturbations))
        lost = np.zeros(shape) if self.missing is None else self.missing
        set_(self, "missing", array_of(int, "bias.Shifts", missing=lost))
        with checking("bias.Shifts") as require:
            _require_fields(self, require)

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
    def _changed(self) -> tuple[str, ...]:
        """Perturbations in which something was changed: all but the reruns."""
        return tuple(name for name in self.perturbations if name not in self.reruns)

    @property
    def _judge_dims(self) -> tuple[str, ...]:
        """Dimensions of a quantity of each judge: none if there is one."""
        return ("judge",) if len(self.judges) > 1 else ()

    @property
    def _dims(self) -> tuple[str, ...]:
        """Dimensions of a quantity of each judge and perturbation."""
        return (*self._judge_dims, "perturbation")

    def _groups(self, *, reruns: bool = True) -> Iterator[tuple[tuple[str, ...], Self]]:
        """Coordinates in `_dims`, and the shifts, of each judge and perturbation that has any."""
        for j, judge in enumerate(self.judges):
            for p, perturbation in enumerate(self.perturbations):
                if not reruns and perturbation in self.reruns:
                    continue
                if np.any((self.judge == j) & (self.perturbation == p)):
                    where = (judge, perturbation)[2 - len(self._dims) :]
                    yield where, self.only(judge=judge, perturbation=perturbation)

    def _lengths_by(self) -> list[tuple[str, np.ndarray]]:
        """Perturbation and lengths of its neighbours; of the reruns if nothing was changed."""
        groups = list(self._groups(reruns=False)) or list(self._groups())
        return [(where[-1], group.lengths) for where, group in groups]

    def __repr__(self) -> str:
        scale = " to ".join(f"{end:g}" for end in self.scale)
        lines = [
            f"Shifts of {len(self.lengths)} neighbours ({_pairing.DESIGNS[self.design]}), "
            f"{len(self.items)} items, scale {scale}",
            f"  judges: {few(self.judges)}",
            f"  perturbations: {few(self._changed) or 'none'}",
            f"  reruns: {few(self.reruns) or 'none'}",
        ]
        lost = int(self.missing.sum())
        return fitted([*lines, *([f"  missing scores: {lost}"] if lost else [])])

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
            If it is not positive, or the units are unknown.
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
            If there is no such name, or none of its rows.
        """
        with checking("bias.Shifts.only") as require:
            for name, names in ((judge, self.judges), (perturbation, self.perturbations)):
                require(name is None or name in names, f"no {name!r}; there are {list(names)}")
        j = list(self.judges).index(judge) if judge is not None else None
        p = list(self.perturbations).index(perturbation) if perturbation is not None else None
        keep = np.full(len(self.judge), fill_value=True)
        keep &= (self.judge == j) | (j is None)
        keep &= (self.perturbation == p) | (p is None)
        problem = f"no re-judged score of {judge or 'any judge'} is left"
        expect("bias.Shifts.only", keep.any(), problem)
        rows = slice(None) if j is None else slice(j, j + 1)
        columns = slice(None) if p is None else slice(p, p + 1)
        return replace(
            self,
            shift=self.shift[keep],
            item=self.item[keep],
            neighbour=np.unique(self.neighbour[keep], return_inverse=True)[1],
            judge=self.judge[keep] * (j is None),
            perturbation=self.perturbation[keep] * (p is None),
            judges=self.judges[rows],
            perturbations=self.perturbations[columns],
            reruns=tuple(r for r in self.reruns if p is None or r == perturbation),
            missing=self.missing[rows, columns],
            **self._cells(rows, perturbation),
        )

    def _cells(self, rows: slice, perturbation: str | None) -> dict[str, Any]:
        """Statistics of the scores that are kept: reruns have no cells of their own."""
        names = ("counts", "means", "squares", "freedom")
        if self.counts is None or perturbation in self.reruns:
            return dict.fromkeys(names)
        assert self.means is not None
        assert self.squares is not None
        assert self.freedom is not None
        columns = [0, *(i for i, p in enumerate(self._changed, 1) if perturbation in (None, p))]
        return {
            "counts": self.counts[rows][..., columns],
            "means": self.means[rows][..., columns],
            "squares": self.squares[rows],
            "freedom": self.freedom[rows],
        }

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
            If a difference is missing or larger than the scale allows.
        """
        values = array_of(float, "bias.Shifts", differences=differences).reshape(-1, 1)
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
        baseline: str | None = None,
        rerun: str | Sequence[str] = (),
        item: str = "item",
        variant: str | None = "variant",
        score: str | Sequence[str] = "score",
        judge: str | None = None,
        repeats: Literal["mean", "neighbours"] | None = None,
        missing: Literal["drop", "worst"] | None = None,
    ) -> Self:
        """Read a long table (one row per item, variant and judge), or a wide one.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark.
        scale : tuple of float
            Lowest and highest possible score. It is not taken from the scores that occur.
        design : {"item", "batch"}
            What a neighbour is: one item perturbed and judged again, or all of them.
        baseline : str, optional
            The variant whose scores are released: ``"baseline"`` of a long table, the first of
            `score` of a wide one, if not said.
        rerun : str or sequence of str
            Variants in which nothing was changed: the baseline judged again.
        item : str
            Column that names the item.
        variant : str or None
            Column that names the variant; None of a wide table, with one row per item (and judge).
        score : str or sequence of str
            Column of the released score, or of several: a shift is then a vector. Of a wide table
            the columns of the score, one per variant, whose names are those of the variants.
        judge : str, optional
            Column that names the judge.
        repeats : {"mean", "neighbours"}, optional
            What several scores of one item, variant and judge are; required if there are any.
            With ``"mean"``, a mean that lacks one of its scores is a missing score; to average the
            others, leave the rows without a score out of the table.
        missing : {"drop", "worst"}, optional
            What to do with scores that are missing; required if there are any. ``"drop"`` leaves
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
            If a column, a variant or a baseline is missing, a score is off the scale, or
            `repeats=` or `missing=` is required and was not given.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [1, 1, 2, 2], "score": [3, 4, 5, 5],
        ...                       "variant": ["baseline", "bold", "baseline", "bold"]})
        >>> Shifts.from_frame(table, scale=(1, 5), design="item").lengths
        array([1., 0.])
        >>> wide = pd.DataFrame({"item": [1, 2], "before": [3, 5], "after": [4, 5]})
        >>> columns = {"variant": None, "score": ["before", "after"]}
        >>> Shifts.from_frame(wide, scale=(1, 5), design="item", **columns).lengths
        array([1., 0.])
        """
        scores = tuple(each_name(score))
        first = "baseline" if variant is not None else next(iter(scores), "")
        fields = _pairing.read_fields(
            table,
            _pairing.Columns(item, variant, scores, judge),
            scale=scale,
            design=design,
            baseline=first if baseline is None else baseline,
            reruns=tuple(each_name(rerun)),
            repeats=repeats,
            missing=missing,
        )
        return cls(**fields)


def _require_fields(shifts: Shifts, require: Any) -> None:
    """Note what does not fit together, arrays converted."""
    _pairing.require_scale(shifts.scale, require)
    _pairing.require_design(shifts.design, require)
    for name in ("items", "judges", "perturbations"):
        require_names(getattr(shifts, name), name, require)
    n = shifts.shift.shape[0]
    require(
        shifts.shift.ndim == 2 and shifts.shift.shape[1] == len(shifts.scores),
        f"shift has shape {shifts.shift.shape}, expected (n_rows, {len(shifts.scores)})",
    )
    require(n > 0, "no re-judged score has a baseline, so nothing is known of shifts")
    for name, size in (
        ("item", len(shifts.items)),
        ("judge", len(shifts.judges)),
        ("perturbation", len(shifts.perturbations)),
        ("neighbour", n),
    ):
        index = getattr(shifts, name)
        inside = index.shape == (n,) and bool(np.all((index >= 0) & (index < size)))
        require(inside, f"{name} must hold {n} places below {size}")
    finite = np.isfinite(shifts.shift)
    require(finite.all(), "shifts-not-finite")
    shape = (len(shifts.judges), len(shifts.perturbations))
    require(
        shifts.missing.shape == shape and bool(np.all(shifts.missing >= 0)),
        f"missing must hold a count for each judge and perturbation, shape {shape}",
    )
    require(
        shifts.missing_as in ("drop", "worst") or not shifts.missing.any(),
        f"{shifts.missing.sum()} re-judgements have no score; say missing='drop' (leave them out) "
        "or missing='worst' (as if they moved as far as the scale allows)",
    )
    unknown = [name for name in shifts.reruns if name not in shifts.perturbations]
    require(not unknown, f"reruns {unknown} are not among {list(shifts.perturbations)}")
    try:
        span = float(shifts.scale[1] - shifts.scale[0])
    except (TypeError, IndexError):
        return  # the scale has been reported
    far = int((np.abs(shifts.shift[finite]) > span * (1 + 1e-9)).sum())
    require(far == 0, "off-scale", far=far, scale=shifts.scale)
