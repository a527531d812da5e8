"""Shares and means by labels that were chosen by a column: within its classes they are random.

Truths are regressed on the class and on what the judge says, and predicted for all outputs
(Cochran 1977, Section 7.10). Outputs of classes without labels may be anything: bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.estimate import Assumption, Estimate, Quantity, Row
from bayesjudge.core.intervals import holding
from bayesjudge.truth.influence import GOOD, PASSED, Errors, Labelled, few
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.selection import Selection, system_of
from bayesjudge.verdicts.table import Verdicts

SOURCE = "Cochran (1977), Section 7.10; MacKinnon & White (1985), HC3"
#: Of what a labelled output tells by itself, the least part that others do not.
OWN = 0.05
#: Of outputs without labels in any class.
NOTHING = Errors(0.5, 0.5, np.inf)


class Patterns(NamedTuple):
    """Outputs by their class, what the judge says, what people do (``nan`` of none); how many."""

    place: np.ndarray
    said: np.ndarray
    truth: np.ndarray
    weight: np.ndarray

    def part(self, rows: np.ndarray) -> Patterns:
        """Some of them, classes numbered anew."""
        place = np.unique(self.place[rows], return_inverse=True)[1]
        return Patterns(place, *(column[rows] for column in self[1:]))


def regressed(rows: Patterns) -> tuple[float, np.ndarray]:
    """The mean truth of all outputs, and each one's influence on it.

    Truths have a mean in each class and one slope on what the judge says. Residuals are divided by
    one less their leverage, so that variances of few labels are not too small (HC3).
    """
    known, total = ~np.isnan(rows.truth), rows.weight.sum()
    design = np.column_stack([np.eye(rows.place.max() + 1)[rows.place], rows.said])
    weight, truth = np.where(known, rows.weight, 0.0), np.where(known, rows.truth, 0.0)
    inverse = np.linalg.pinv(design.T @ (weight[:, None] * design), hermitian=True)
    slopes = inverse @ design.T @ (weight * truth)
    mean, predicted = rows.weight @ design / total, design @ slopes
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residual = np.where(known, truth - predicted, 0.0) / np.maximum(1 - leverage, OWN)
    value = float(mean @ slopes)
    return value, design @ inverse @ mean * residual + (predicted - value) / total


def mean_within(rows: Patterns) -> Errors:
    """The mean truth with its error, of truths and verdicts from 0 to 1.

    Passes and fails of which few are good, bad or misjudged do not tell how far they scatter: an
    imaginary output of each kind joins them for the interval, spread over the classes.
    """
    known = ~np.isnan(rows.truth)
    (value, influence), labelled = regressed(rows), rows.weight[known].sum()
    centre, weight = value, rows.weight
    truths = Labelled(rows.said[known], rows.truth[known], rows.weight[known])
    if np.isin(truths.y, (0, 1)).all() and few(truths):
        shares = np.bincount(rows.place, rows.weight) / rows.weight.sum()
        place = np.repeat(np.arange(len(shares)), len(GOOD))
        kinds = np.tile(PASSED, len(shares)), np.tile(GOOD, len(shares)), shares[place]
        joined = Patterns(*map(np.append, rows, (place, *kinds)))
        (centre, influence), weight = regressed(joined), joined.weight
    error = float(np.sqrt(weight @ influence**2))
    return Errors(value, centre, error, max(labelled - rows.place.max() - 2, 1))


def patterns_of(
    verdicts: Verdicts, kind: int | None = None
) -> tuple[Patterns, tuple[float, float]]:
    """Patterns with classes of a column as groups, from 0 to 1, and the ends of the truths' scale.

    Truths are numbers, or whether an output is of a `kind`; so are verdicts, of several the mean.
    """
    said = np.array(verdicts.response, float)
    ends, truth = (0.0, 1.0), np.where(verdicts.truth == kind, 1.0, 0.0)
    if verdicts.scale is None:
        said = np.where(verdicts.response == MISSING, np.nan, verdicts.response == kind)
    else:
        said = np.append(np.array(verdicts.responses, float), np.nan)[verdicts.response]
        said = (said - np.nanmin(said)) / max(np.ptp(said[~np.isnan(said)]), 1e-9)
    if verdicts.truth_scale is not None:
        ends = verdicts.truth_scale
        numbers = (np.array(verdicts.classes, float) - ends[0]) / (ends[1] - ends[0])
        truth = numbers[verdicts.truth]
    truth = np.where(verdicts.truth == MISSING, np.nan, truth)
    return Patterns(verdicts.group, _mean(said), truth, verdicts.count.astype(float)), ends


def _mean(said: np.ndarray) -> np.ndarray:
    """Of each row, over what is there; of nothing, the mean of all."""
    there = ~np.isnan(said)
    mean = np.where(there, said, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    any_ = there.any(axis=1)
    return np.where(any_, mean, mean[any_].mean() if any_.any() else 0.0)


def bounds_of(estimate: Estimate, seen: Selection) -> Estimate:
    """The first number of an estimate, of all outputs where some may be anything."""
    untold, (quantity, *_) = max(seen.untold.values(), default=0.0), estimate.quantities
    if not untold:
        return estimate
    (_, _, row), *_ = estimate.only(quantity).rows()
    return replace(estimate, quantities={quantity: Quantity.over(_bounds(row, untold))})


def within_classes(declared: Estimate, seen: Selection, ci_prob: float, data: Any) -> Estimate:
    """The first numbers of an estimate by their coordinates, within classes of the column found."""
    verdicts: Verdicts = seen.instead
    quantity = next(iter(declared.quantities))
    systems = np.array([system_of(name) for name in verdicts.groups])[verdicts.group]
    dims, labels = declared.quantities[quantity].dims, declared.quantities[quantity].labels
    rows = {}
    for label in labels:
        at = dict(zip(dims, label, strict=True))
        kind = [*map(str, verdicts.classes)].index(str(at.pop("class"))) if "class" in at else 1
        system = "".join(map(str, at.values())) if "" not in seen.untold else ""
        patterns, (least, most) = patterns_of(verdicts, kind)
        of = systems == system
        errors = mean_within(patterns.part(of)) if of.any() else NOTHING
        row = np.array(bounded(errors, seen.untold[system], ci_prob))
        rows[label] = (least + (most - least) * row).tolist()
    return estimate_of({quantity: Quantity.of_rows(rows, dims)}, seen, ci_prob, data)


def estimate_of(
    quantities: Mapping[str, Quantity], seen: Selection, ci_prob: float, data: Any
) -> Estimate:
    """Numbers by labels that are taken as random within classes of the column found."""
    column = seen.caution.numbers["column"]
    return Estimate(
        quantities,
        method=methods.WITHIN_CLASSES,
        ci_prob=ci_prob,
        source=SOURCE,
        interval="t",
        assumptions=(Assumption.of("random-labels-by-column", column=column),),
        cautions=(seen.caution,),
        data=data,
    )


def bounded(errors: Errors, untold: float, ci_prob: float) -> Row:
    """A share or mean from 0 to 1 with its interval; bounds, if labels tell nothing of some."""
    row = Row(*map(float, holding(*np.clip(errors.interval(ci_prob), 0, 1))))
    return _bounds(row, untold) if untold else row


def _bounds(row: Row, untold: float) -> Row:
    """Ends of a share or mean of all outputs, if those of which labels tell nothing may be any."""
    return Row(np.nan, (1 - untold) * row.low, (1 - untold) * row.high + untold)
