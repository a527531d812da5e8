"""Closed forms of several classes: pass and fail of each class, and the inverse of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import UninformativeJudgeError, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Quantity, Target
from bayesjudge.core.intervals import jeffreys, wilson, z_score
from bayesjudge.core.methods import Method
from bayesjudge.prevalence._samples import (
    Columns,
    Form,
    Intervals,
    Inverted,
    Prediction,
    Sample,
    sample_of,
    worded,
)
from bayesjudge.prevalence.classes.cautions import SAME_CONFUSIONS
from bayesjudge.prevalence.classes.data import SOURCE, ClassCounts
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.truth import influence, inversion
from bayesjudge.truth.influence import Interval, Labelled, Others

WORDS = worded(
    {
        "naive": {"method": methods.JUDGE_SHARES},
        "rogan_gladen": {
            "method": methods.LEAST_SQUARES,
            "source": SOURCE,
            "interval": "delta method",
            "assumption": SAME_CONFUSIONS,
        },
    }
)


class _ClassSample(Sample):
    """Each class against all others, along the second axis."""

    predictions = ("linear",)
    words = WORDS
    credit: _CreditSample | None = None

    def __init__(self, counts: ClassCounts, values: np.ndarray | None = None) -> None:
        self.data = self.counts = counts
        self.places = counts.places
        self.coords = {**counts.coords, "class": counts.classes}
        self.shares = counts.shares[:, None] if counts.adds_up else None
        self.credit = None if counts.credit is None else _CreditSample(counts)

    @property
    def values(self) -> np.ndarray:
        """Worth of each class (columns): of one class at a time, 1 and 0."""
        return np.eye(len(self.counts.classes))

    @property
    def entries(self) -> Sequence[str]:
        names = self.counts.classes
        return [f" of class {name!r}{place}" for place in self.places for name in names]

    @property
    def whole_coords(self) -> dict[str, Sequence[Any]]:
        return {"class": self.counts.classes}

    def forms(self, mismatched: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        counts = self.counts
        for name, _ in super().forms(mismatched):
            if name == "rogan_gladen" and (mismatched or not self.identifies("prevalence")):
                if len(counts.classes) == len(counts.responses or ()):
                    yield name, {"method": "inverse"}
                yield name, {}
            elif (
                name == "human_only"
                or (name in ("naive", "difference") and counts.named_verdicts)
                or (name == "post_stratified" and not self.identifies("prevalence"))
            ):
                yield name, {}
        if self.identifies("prevalence"):
            yield "post_stratified", {}

    def _said_of_classes(self) -> np.ndarray:
        """Verdicts on all items that the estimate is about, by class."""
        counts = self.counts
        words = f"verdicts {list(counts.responses or ())} are not the classes "
        expect("closed forms", counts.named_verdicts, f"{words}{list(counts.classes)}")
        return counts.tests + (counts.tables.sum(axis=1) if counts.design.same_items else 0)

    def said(self) -> tuple[Any, Any]:
        seen = self._said_of_classes()
        said = seen[:, self.counts.verdict_of_class]
        return said, np.broadcast_to(seen.sum(axis=1, keepdims=True), said.shape)

    def truths(self, items: bool = False) -> tuple[Any, Any]:
        known = self.counts.tables.sum(axis=2)
        return known, np.broadcast_to(known.sum(axis=1, keepdims=True), known.shape)

    def patterns(self) -> tuple[Labelled, Others]:
        self._said_of_classes()
        worth = self.values
        said = np.zeros((len(worth), len(self.counts.responses or ())))
        said[:, self.counts.verdict_of_class] = worth
        f, y = np.broadcast_arrays(said[:, None, :], worth[:, :, None])
        flat = (len(worth), -1)
        tables = self.counts.tables.reshape(len(self.places), 1, -1)
        labelled = Labelled(f.reshape(flat), y.reshape(flat), tables)
        return labelled, Others(said, self.counts.tests[:, None, :])

    def difference(self, ci_prob: float, g: Prediction, items: bool, **folds: Any) -> Intervals:
        """All classes with the weight of least summed variance, so that shares sum to 1."""
        patterns, z = self.patterns(), z_score(ci_prob)
        said = self.counts.tests + self.counts.tables.sum(axis=1)
        pooled = said[:, self.counts.verdict_of_class] / said.sum(axis=1, keepdims=True)
        spread = pooled * (1 - pooled)

        def alike(shares: Any) -> Interval:
            _, each = influence.difference(*patterns, z, shares=shares)
            weight = (each * spread).sum(axis=1) / np.maximum(spread.sum(axis=1), 1e-300)
            return influence.difference(*patterns, z, weight=weight[:, None], shares=shares)[0]

        intervals = alike(None)
        if self.shares is None:
            return (*intervals, intervals.value), None
        whole = influence.weighed(self.shares, *alike(self.shares))
        return (*intervals, intervals.value), (*whole, whole.value)

    def bins(self) -> tuple[Any, Any, Any, Any]:
        tables = self.counts.tables
        labels = tables.sum(axis=1)
        sums, squares = (
            np.einsum("ck,skv->scv", worth, tables) for worth in (self.values, self.values**2)
        )
        return (self.counts.tests + labels)[:, None], labels[:, None], sums, squares

    def invert(self, ci_prob: float, interval: str, method: str, items: bool) -> Inverted:
        counts, z = self.counts, z_score(ci_prob)
        square = len(counts.classes) == len(counts.responses or ())
        words = f"{len(counts.responses or ())} verdicts of {len(counts.classes)} classes"
        suits = square or method != "inverse"
        expect("rogan_gladen", suits, f"the inverse: {words} have none; use least_squares")
        _require_invertible(counts)
        pairs = list(zip(counts.tests, counts.tables, strict=True))
        raw = np.array([inversion.inverted(*pair) for pair in pairs])
        covariances = np.array(
            [inversion.covariance(*pair, x) for pair, x in zip(pairs, raw, strict=True)]
        )
        value = np.clip(raw, 0, 1)
        if method == "least_squares":
            value = np.array([inversion.projected(*pair) for pair in pairs])

        def about(value: np.ndarray, raw: np.ndarray, covariance: np.ndarray) -> Columns:
            """The best value inside [0, 1], and an interval about the one that may lie outside."""
            worth = self.values
            half = z * np.sqrt(np.einsum("ci,...ij,cj->...c", worth, covariance, worth))
            centre = raw @ worth.T
            return value @ worth.T, centre - half, centre + half, centre

        overall, shares = None, counts.shares
        if self.shares is not None:
            spread = np.einsum("s,sij->ij", shares**2, covariances)
            overall = about(shares @ value, shares @ raw, spread)
        sizes = np.broadcast_to(counts.labelled.sum(axis=-1, keepdims=True), counts.labelled.shape)
        confusion = jeffreys(counts.labelled, sizes, ci_prob, counts.labelled.shape[-1])
        coords = {**counts.coords, "class": counts.classes, "verdict": counts.responses or ()}
        return Inverted(
            (about(value, raw, covariances), overall),
            others={"confusion": Quantity.over(confusion, coords)},
            cautions=_outside(counts, raw) if square else (),
            method=methods.INVERSE if method == "inverse" else methods.LEAST_SQUARES,
        )

    def credit_for(self, form: Form) -> Sample | None:
        # a difference needs the credit of every verdict
        missing = set(self.counts.responses or ()) != set(self.counts.classes)
        return None if form == "difference" and missing else self.credit

    def diagnosis(self, assumptions: Sequence[Assumption], target: Target) -> Diagnosis:
        others = SAME_CONFUSIONS in assumptions and not self.design.same_items
        return diagnose(self.counts, () if others else assumptions, target)

    def complete(self) -> Any:
        return np.repeat(
            self.counts.tests.sum(axis=1, keepdims=True) == 0, len(self.values), axis=1
        )

    def unanswered(self, columns: Columns, method: Method) -> Iterator[Caution]:
        if np.isnan(columns[0]).any():
            yield Caution.of("no-labels", "verdict", method=method)


class _CreditSample(_ClassSample):
    """The mean credit of the classes, between the least and the most."""

    def __init__(self, counts: ClassCounts) -> None:
        self.data = self.counts = counts
        self.places = counts.places
        self.shares = counts.shares[:, None] if counts.adds_up else None
        self.coords = {} if counts.adds_up else dict(counts.coords)
        self.least, self.width = min(counts.credit or ()), float(np.ptp(counts.credit or ()))

    @property
    def values(self) -> np.ndarray:
        return (np.asarray(self.counts.credit, float)[None] - self.least) / self.width

    def in_units(self, values: Any) -> Any:
        return self.least + self.width * np.asarray(values)

    def mean(
        self, of: Literal["said", "truths"], ci_prob: float, find: Any = wilson, items: bool = False
    ) -> Intervals:
        """Mean credit with a normal interval."""
        n = self.said()[0] if of == "said" else self.truths()[0]
        size, worth = n.sum(axis=1, keepdims=True), self.values[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = n @ worth[:, None] / size
            squares = (n * (worth - mean) ** 2).sum(axis=1, keepdims=True)
            half = z_score(ci_prob) * np.sqrt(squares / (size * (size - 1)))
        interval = mean, mean - half, mean + half
        return interval, None if self.shares is None else influence.weighed(self.shares, *interval)

    def difference(self, ci_prob: float, g: Prediction, items: bool, **folds: Any) -> Intervals:
        """With a weight of its own, and no imaginary items: credits are no passes and fails."""
        patterns, z = self.patterns(), z_score(ci_prob)
        how: dict[str, Any] = {"most": np.inf, "corners": 0.0}
        interval, _ = influence.difference(*patterns, z, **how)
        if self.shares is None:
            return interval, None
        parts, _ = influence.difference(*patterns, z, shares=self.shares, **how)
        return interval, influence.weighed(self.shares, *parts)


@sample_of.register
def _(counts: ClassCounts) -> Sample:
    return _ClassSample(counts)


def _require_invertible(counts: ClassCounts) -> None:
    problems = []
    for place, test, table in zip(counts.places, counts.tests, counts.tables, strict=True):
        sizes = table.sum(axis=1)
        empty = [name for name, n in zip(counts.classes, sizes, strict=True) if not n]
        if not test.sum():
            problems.append(f"every item has a human label{place}: there are no shares to correct")
        elif empty:
            problems.append(f"no labelled item is {empty}{place}: label some, or merge classes")
        elif np.linalg.matrix_rank(inversion.rows_of(table), tol=1e-9) < len(table):
            problems.append(
                f"the confusion matrix has no inverse{place}: on the labelled items the judge does "
                f"not tell some of {list(counts.classes)} apart; merge classes, or label more items"
            )
    if problems:
        raise UninformativeJudgeError("rogan_gladen", problems)


def _outside(counts: ClassCounts, raw: np.ndarray) -> list[Caution]:
    cautions = []
    for place, value in zip(counts.places, raw, strict=True):
        if value.min() < 0:
            worst = counts.classes[int(value.argmin())]
            cautions.append(
                Caution.of("outside-simplex", worst=worst, place=place, share=value.min())
            )
    return cautions
