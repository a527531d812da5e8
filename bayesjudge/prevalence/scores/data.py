"""`Scores`: a judge's numeric scores, with human labels that are pass or fail or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit

from bayesjudge.core.diagnosis import keep_selection
from bayesjudge.core.errors import Require, check_several, checking, expect
from bayesjudge.core.label_design import (
    LabelDesign,
    design_of,
)
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import fitted, how_many
from bayesjudge.prevalence.data import Counts, six_counts
from bayesjudge.verdicts.arrays import whole_numbers
from bayesjudge.verdicts.reading import UNLABELLED, Reading
from bayesjudge.verdicts.scores import truths_of
from bayesjudge.verdicts.selection import of_each
from bayesjudge.verdicts.table import Verdicts
from bayesjudge.verdicts.view import View

#: Bins that are chosen by themselves: at most so many, of at least so many labelled items.
MOST_BINS, LEAST_LABELS = 10, 5
#: How many offending values a message shows.
SHOWN = 3
NO_SCORE = "missing_value= names what stands for none"


@dataclass(frozen=True, eq=False, repr=False)
class Scores(View):
    """A judge's scores of items, some of which people labelled; equal rows are counted.

    Parameters
    ----------
    score : array_like of float, shape (n_patterns,)
        The judge's scores, on `scale`.
    truth : array_like of float, shape (n_patterns,)
        Human labels, ``nan`` where there is none: 1 and 0 for pass and fail, or numbers on
        `truth_scale`.
    n : array_like of int, shape (n_patterns,)
        Items with that score and truth.
    calibration : {"random", "by_truth", "separate", "by_verdict", "known_propensity"}
        How the labelled items were chosen; see `bayesjudge.prevalence.LabelDesign`. ``by_verdict``
        means a fixed number in each bin of the score, and takes `edges`.
    scale : tuple of float or "log_odds"
        Lowest and highest score that the judge can give, such as (0, 1), (1, 5) or (0, 100); or
        log-odds, which have no ends.
    truth_scale : tuple of float, optional
        Lowest and highest number that people can give; pass and fail if not given.
    edges : sequence of float, optional
        Where bins of the score begin, but for the first. By default bins of about as many labelled
        items each, 10 at most; equal scores are in one bin.
    propensity : array_like of float, shape (n_patterns,), optional
        With ``calibration="known_propensity"``: the probability with which each item was to be
        labelled.
    unscored : int, default 0
        Rows without a score that were dropped.
    spelling : str, default ""
        How human labels were read, in words, if not all of them were 1 and 0.
    pass_name : str, default ""
        The label that was read as pass, such as ``"unsafe"``, which sentences say in place of
        "pass"; empty if it is a word for it.
    grouped : int, default 0
        Items without a label that stand at the mean of those in one of `CELLS` cells of the scale,
        because their scores were too many to keep each.
    read_together : int, default 1
        Systems, or pairs of systems, that are looked at together: false alarms of ``label-shift``
        are as rare for all of them as for one.
    rows : int, default 0
        Rows whose means by item these are, if an item had several; 0 if each row was an item.

    Raises
    ------
    InputError
        If scores or truths lie outside their scales, no item is labelled, there are no test items,
        or labels of the design do not tell the mean: numeric truths of labels chosen by truth.

    Examples
    --------
    >>> scores = Scores([1, 4, 5, 4], [0, 1, 1, float("nan")], [3, 5, 9, 80],
    ...                 calibration="random", scale=(1, 5))
    >>> scores.unit.tolist()
    [0.0, 0.75, 1.0, 0.75]
    """

    score: Any
    truth: Any
    n: Any
    calibration: str | LabelDesign
    scale: tuple[float, float] | str
    truth_scale: tuple[float, float] | None = None
    edges: tuple[float, ...] | None = None
    propensity: Any = None
    unscored: int = 0
    spelling: str = ""
    pass_name: str = ""
    grouped: int = 0
    read_together: int = 1
    rows: int = 0

    def __post_init__(self) -> None:
        design = design_of(self.calibration, "Scores", "plain")
        for name in ("scale", "truth_scale", "edges"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, name, tuple(float(x) for x in value))
        for name in ("score", "truth", "propensity"):
            value = getattr(self, name)
            if value is not None:
                self._set(**{name: array_of(float, "prevalence.Scores", **{name: value})})
        subject = "prevalence.Scores"
        with checking(subject) as require:
            given = (self.score, self.truth, self.propensity)
            shapes = {array.shape for array in given if array is not None}
            require(len(shapes) == 1, "shapes-differ", shapes=shapes)
            n = whole_numbers("n", self.n, self.score.shape, require)
            object.__setattr__(self, "n", n)
            require_scale("scale", self.scale, require, log_odds=True)
            if self.truth_scale is not None:
                require_scale("truth_scale", self.truth_scale, require)
        with checking(subject) as require:
            self._require_values(require)
            self._require_design(design, require)

    def _require_values(self, require: Require) -> None:
        low, high = (-np.inf, np.inf) if isinstance(self.scale, str) else self.scale
        wrong = ~np.isfinite(self.score) | (self.score < low) | (self.score > high)
        words = f"scale={self.scale}: declare the judge's own scale, or drop these rows"
        _require_none("scores outside", self.score[wrong], self.n[wrong], words, require)
        known = ~np.isnan(self.truth)
        if self.truth_scale is None:
            wrong = known & ~np.isin(self.truth, (0, 1))
            words = "pass (1) and fail (0): give truth_scale=, or truth_from= the lowest pass"
        else:
            wrong = known & (
                (self.truth < self.truth_scale[0]) | (self.truth > self.truth_scale[1])
            )
            words = f"truth_scale={self.truth_scale}"
        _require_none("truths outside", self.truth[wrong], self.n[wrong], words, require)
        require(np.all(self.n > 0), "n must be 1 or more in each pattern")
        require(known.any(), "no item has a human label, so the judge's errors are unknown")
        if self.edges is not None:
            rising = all(np.diff(self.edges) > 0)
            require(len(self.edges) and rising, f"edges must rise, got {self.edges[:SHOWN]}")

    def _require_design(self, design: LabelDesign, require: Require) -> None:
        known = ~np.isnan(self.truth)
        if not design.same_items:
            require((~known).any(), "every item has a human label: there are no test items")
            require(
                not self.numeric,
                f"calibration={design.name!r} and numeric truths: how many items of each truth are "
                "labelled was chosen, so the labels tell scores given the truth and not how common "
                "a truth is, and of a numeric truth the scores alone do not tell that either; draw "
                "labels at random, or ask for the share above a human threshold (truth_from=)",
            )
            both = len(set(self.truth[known])) == 2
            require(self.numeric or both, "labels must hold passes and fails")
        if design.identifies == {"predictive_values"}:
            two = np.unique(self.score).size == 2
            words = "edges= are needed: the bins of the score in each of which labels were drawn"
            require(self.edges is not None or two, words)
        self._require_propensity(require)

    def __repr__(self) -> str:
        low, high = self.score.min(), self.score.max()
        kind = "pass or fail" if self.truth_scale is None else f"numbers on {self.truth_scale}"
        head = f"Scores of {int(self.n.sum()):,} items, labels {self.design.name}"
        return fitted(
            [
                f"{head} ({int(self.n[self.known].sum()):,} of them), truths {kind}",
                f"scores from {low:g} to {high:g} on {self.scale}, {len(self.bins)} bins",
            ]
        )

    @cached_property
    def verdicts(self) -> Verdicts:
        """The patterns that these scores are of by bin, of known propensities as strata."""
        classes, place = truths_of(self.truth, self.truth_scale)
        strata = [""] if self.propensity is None else [f"{x:g}" for x in np.unique(self.propensity)]
        cells = np.zeros((self.n_cells, len(classes) + 1), np.int64)
        np.add.at(cells, (self.cells, place), self.n)  # the last is that of no label
        return Verdicts.from_counts(
            np.swapaxes(cells.reshape(len(strata), len(self.bins), -1), 1, 2),
            calibration=self.calibration,
            groups=strata,
            classes=classes,
            responses=self.bins,
            dim="system" if self.propensity is None else "stratum",
        )

    @property
    def numeric(self) -> bool:
        """Whether truths are numbers, rather than pass and fail."""
        return self.truth_scale is not None

    @property
    def takes_labels_as_right(self) -> bool:
        """Whether labels are passes and fails, and each the truth of its item."""
        return not self.numeric

    @property
    def answer(self) -> str:
        """What is estimated: ``prevalence``, or ``mean_score`` on the truths' scale."""
        return "mean_score" if self.numeric else "prevalence"

    @property
    def known(self) -> np.ndarray:
        """Which patterns have a truth."""
        return ~np.isnan(self.truth)

    @property
    def about(self) -> np.ndarray:
        """Which patterns are items that the estimate is about."""
        return np.ones(self.n.shape, bool) if self.design.same_items else ~self.known

    @property
    def unit(self) -> np.ndarray:
        """Scores between 0 and 1."""
        if isinstance(self.scale, str):
            return expit(self.score)
        return (self.score - self.scale[0]) / (self.scale[1] - self.scale[0])

    @property
    def unit_truth(self) -> np.ndarray:
        """Truths between 0 and 1."""
        least, most = self.truth_scale or (0.0, 1.0)
        return (self.truth - least) / (most - least)

    def in_units(self, values: Any) -> Any:
        """Put numbers between 0 and 1 on the truths' scale.

        Parameters
        ----------
        values : array_like
            Between 0 and 1.

        Returns
        -------
        numpy.ndarray
            Between the ends of `truth_scale`.
        """
        least, most = self.truth_scale or (0.0, 1.0)
        return least + (most - least) * np.asarray(values)

    @property
    def cuts(self) -> tuple[float, ...]:
        """Where bins begin, but for the first: `edges`, or those chosen by the labels' numbers."""
        return self.edges if self.edges is not None else _cuts(self)

    @property
    def bin_of(self) -> np.ndarray:
        """Bin of each pattern."""
        return np.searchsorted(self.cuts, self.score, side="right")

    @property
    def bins(self) -> tuple[str, ...]:
        """Names of the bins."""
        ends = [f"{x:g}" for x in self.cuts]
        if not ends:
            return ("all",)
        inner = [f"{a} to {b}" for a, b in pairwise(ends)]
        return (f"below {ends[0]}", *inner, f"{ends[-1]} and above")

    @property
    def cells(self) -> np.ndarray:
        """Stratum of each pattern: its bin or, with known propensities, propensity and bin."""
        if self.propensity is None:
            return self.bin_of
        _, which = np.unique(self.propensity, return_inverse=True)
        return which * len(self.bins) + self.bin_of

    @property
    def n_cells(self) -> int:
        """How many strata `cells` has."""
        classes = 1 if self.propensity is None else np.unique(self.propensity).size
        return classes * len(self.bins)

    def tally(self) -> dict[str, np.ndarray]:
        """Count items by cell.

        Returns
        -------
        dict of str to numpy.ndarray, shape (n_cells,)
            ``test`` items without a label, ``labels`` with one, and the ``sums`` and ``squares`` of
            their truths between 0 and 1.
        """
        y, known = np.where(self.known, self.unit_truth, 0.0), self.known
        weights = {"test": ~known, "labels": known, "sums": known * y, "squares": known * y * y}
        return {
            name: np.bincount(self.cells, self.n * w, minlength=self.n_cells)
            for name, w in weights.items()
        }

    def at_least(self, truth: float) -> Self:
        """Make numeric truths passes and fails.

        Parameters
        ----------
        truth : float
            The lowest truth that is a pass.

        Returns
        -------
        Scores
            With ``prevalence`` to be estimated: the share of items that people put so high.

        Raises
        ------
        InputError
            If truths are pass and fail already, or `truth` is outside their scale.
        """
        low, high = self.truth_scale or (1.0, 0.0)
        words = f"got {truth} for truths on {self.truth_scale}"
        problem = f"expected a number above the lowest truth, {words}"
        expect("prevalence.Scores.at_least", low < truth <= high, problem)
        cut = np.where(self.known, (self.truth >= truth).astype(float), np.nan)
        return replace(self, truth=cut, truth_scale=None)

    def to_counts(self, pass_from: float) -> Counts:
        """Make the judge's scores verdicts.

        Parameters
        ----------
        pass_from : float
            The lowest score that is a pass.

        Returns
        -------
        Counts
            Of verdicts and labels, for the functions of `bayesjudge.prevalence`.

        Raises
        ------
        InputError
            If truths are numbers, propensities are known, or `pass_from` lies outside the scale.
        """
        stated = self.propensity is None
        problem = "known propensities are not kept by counts; estimate from the scores"
        expect("prevalence.Scores.to_counts", stated, problem)
        require_threshold(self, pass_from)
        truth = np.where(self.known, self.truth, UNLABELLED).astype(int)
        cells = np.zeros((3, 2), np.int64)
        np.add.at(cells, (truth, (self.score >= pass_from).astype(int)), self.n)
        return Counts(**six_counts(cells), calibration=self.calibration)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        calibration: str | LabelDesign | None = None,
        scale: tuple[float, float] | str,
        score: str = "score",
        truth: str | Sequence[str] = "truth",
        adjudicated: str | None = None,
        truth_scale: tuple[float, float] | None = None,
        truth_from: float | None = None,
        edges: Sequence[float] | None = None,
        propensity: str | None = None,
        item: str | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        unscored: Literal["drop"] | None = None,
    ) -> Self:
        """Count the rows of a table: those with a human label calibrate, the others are the test.

        Parameters
        ----------
        table : dataframe
            One row per item; pandas, polars, Arrow, DuckDB or Spark. Of more than 100,000 different
            scores in an engine (DuckDB, Spark, polars lazily), those of items without a label are
            grouped there: their mean stays what it is; see `grouped`.
        calibration : str
            How the labelled rows were chosen: the name of one of `bayesjudge.prevalence.DESIGNS`.
        scale : tuple of float or "log_odds"
            Lowest and highest score that the judge can give.
        score, truth : str
            Columns with the judge's score and with the human label, empty where there is none. Of
            several people a column each: what they say on average is then the label, a number.
        adjudicated : str, optional
            Of several people: column with the label that was settled in the end, where one was.
        truth_scale : tuple of float, optional
            Lowest and highest number that people can give; labels are pass and fail without.
        truth_from : float, optional
            The lowest human number that is a pass: asks for the share of such items.
        edges : sequence of float, optional
            Where bins of the score begin, but for the first.
        propensity : str, optional
            With ``calibration="known_propensity"``: column with each row's probability of a label.
        item : str, optional
            Column that names the item of each row. Rows of one item, such as the epochs of a run,
            are not independent: they count as one, with the means of their scores and labels.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none. 1/0 and true/false are understood without.
        unscored : {"drop"}, optional
            What to do with rows without a score; required if there are any. Leaving them out is
            right if items that get no score are as good as the others.

        Returns
        -------
        Scores
            Of all rows.

        Raises
        ------
        InputError
            If a column is missing, a cell is not understood, scores allow no estimate, or items
            with several rows were not labelled at random.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"score": [1, 4, 5, 4, 2], "truth": ["no", "yes", "yes", "", ""]})
        >>> scores = Scores.from_frame(table, calibration="random", scale=(1, 5), pass_value="yes",
        ...                            fail_value="no", missing_value="")
        >>> scores.truth[-2:].tolist(), int(scores.n.sum())
        ([1.0, 1.0], 5)
        """
        numbers = {"verdict": score, "unparsed": unscored}
        given = locals() | numbers
        how = Reading.of("prevalence.Scores.from_frame", given, several_people=True)
        return cls.of(Verdicts.read(table, how), edges)

    @classmethod
    def of(cls, verdicts: Verdicts, edges: Sequence[float] | None = None) -> Self:
        """Take the scores of one judge.

        Parameters
        ----------
        verdicts : Verdicts
            Read with ``score=`` and ``scale=``.
        edges : sequence of float, optional
            Where bins of the score begin, but for the first; see `Scores`.

        Returns
        -------
        Scores
            Of all patterns.

        Raises
        ------
        InputError
            If verdicts are no scores, or they allow no estimate.
        """
        problem = "verdicts are not scores: give score= and scale="
        expect("prevalence.Scores.of", verdicts.scale is not None, problem)
        assert verdicts.scale is not None
        numeric = verdicts.truth_scale is not None
        truths = np.array([*(verdicts.classes if numeric else (0, 1)), np.nan], float)
        of_group = verdicts.propensity
        read = cls(
            np.array(verdicts.responses, float)[verdicts.response[:, 0]],
            truths[verdicts.truth],  # the last is that of no label
            verdicts.count,
            verdicts.calibration,
            verdicts.scale,
            verdicts.truth_scale,
            None if edges is None else check_several(edges=edges),
            None if of_group is None else of_group[verdicts.group],
            unscored=int(verdicts.unparsed.sum()),
            spelling=verdicts.spelling,
            pass_name=verdicts.pass_name,
            grouped=verdicts.grouped,
            rows=verdicts.rows,
        )
        return keep_selection(read, verdicts)


def read_systems(table: Any, *, by: str, **how: Any) -> dict[str, Scores]:
    """Read the scores of each system of a table.

    Parameters
    ----------
    table : data frame
        As for `Scores.from_frame`.
    by : str
        Column that names the system of each row.
    **how
        Arguments of `Scores.from_frame`, the same for all systems.

    Returns
    -------
    dict of str to Scores
        By system, in the order of their names.

    Raises
    ------
    InputError
        If a row has no system, or the scores of a system cannot be read; all systems at once.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"system": ["x", "x", "y", "y"], "score": [1, 2, 4, 5],
    ...                     "truth": [0, None, 1, None]})
    >>> list(read_systems(log, by="system", calibration="random", scale=(1, 5)))
    ['x', 'y']
    """
    tables = of_each(table, by, lambda rows: Scores.from_frame(rows, **how))
    each = {name: replace(table, read_together=len(tables)) for name, table in tables.items()}
    return {name: keep_selection(table, tables[name]) for name, table in each.items()}


def require_threshold(scores: Scores, pass_from: float) -> None:
    """Check that these scores and their truths can be passes and fails."""
    with checking("prevalence.Scores.to_counts") as require:
        words = "truths are numbers: say with truth_from= (or at_least) from which one passes"
        require(not scores.numeric, words)
        low, high = (-np.inf, np.inf) if isinstance(scores.scale, str) else scores.scale
        require(low < pass_from <= high, f"pass_from={pass_from} lies outside {scores.scale}")


def require_scale(name: str, scale: Any, require: Any, log_odds: bool = False) -> None:
    """Refuse what is no lowest and highest value."""
    if log_odds and scale == "log_odds":
        return
    pair = isinstance(scale, tuple) and len(scale) == 2 and np.isfinite(scale).all()
    words = " or 'log_odds'" if log_odds else ""
    require(
        pair and scale[0] < scale[1],
        f"{name}={scale!r}: expected the lowest and the highest value, such as (1, 5){words}",
    )


def _require_none(what: str, wrong: np.ndarray, n: np.ndarray, words: str, require: Any) -> None:
    """Note offending values: how many items, and the first few."""
    shown = [f"{x:g}" for x in np.unique(wrong)[:SHOWN]]
    require(
        not wrong.size,
        f"{how_many(int(n.sum()), 'item', 'have')} {what} {words}; for example {shown}",
    )


def _cuts(scores: Scores) -> tuple[float, ...]:
    """Cuts between distinct scores, so that bins hold about as many labelled items each."""
    values, which = np.unique(scores.score, return_inverse=True)
    middle = (values[1:] + values[:-1]) / 2
    if values.size <= 2:
        return tuple(middle)
    labels = np.bincount(which, scores.n * scores.known)
    wanted = max(LEAST_LABELS, labels.sum() / MOST_BINS - 1e-9)
    cuts, held, left = [], 0.0, labels.sum()
    for cut, more in zip(middle, labels[:-1], strict=True):
        held, left = held + more, left - more
        if held >= wanted and left >= LEAST_LABELS:
            cuts.append(float(cut))
            held = 0.0
    return tuple(cuts) or (float(middle[len(middle) // 2]),)
