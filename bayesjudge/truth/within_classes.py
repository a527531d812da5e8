"""Shares and means by labels that were chosen by a column: within its classes they are random.

Truths are regressed on the class and on what the judge says, and predicted for all outputs
(Cochran 1977, Section 7.10). Outputs of classes without labels may be anything: bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.estimate import Assumption, Estimate, Quantity, Row
from bayesjudge.core.intervals import FEW, holding
from bayesjudge.truth.influence import GOOD, PASSED, Errors
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.selection import Selection, system_of
from bayesjudge.verdicts.table import Verdicts

SOURCE = "Cochran (1977), Section 7.10; MacKinnon & White (1985), HC3"
#: Of what a labelled output tells by itself, the least part that others do not.
OWN = 0.05
#: Of outputs without labels in any class.
NOTHING = Errors(0.5, 0.5, np.inf)


class Patterns(NamedTuple):
    """Outputs by their class, what the judge says, what people do (``nan`` of none); how many.

    If outputs share items, the kind of item that each pattern is of, and how many items are of each
    kind; otherwise each output is an item.
    """

    place: np.ndarray
    said: np.ndarray
    truth: np.ndarray
    weight: np.ndarray
    item: np.ndarray | None = None
    items: np.ndarray | None = None

    def part(self, rows: np.ndarray) -> Patterns:
        """Some of them, classes numbered anew."""
        place = np.unique(self.place[rows], return_inverse=True)[1]
        item = None if self.item is None else self.item[rows]
        said, truth, weight = (column[rows] for column in (self.said, self.truth, self.weight))
        return Patterns(place, said, truth, weight, item, self.items)

    def joined(self, place: Any, said: Any, truth: Any, weight: Any) -> Patterns:
        """With further outputs, each of an item of its own."""
        item, items = self.item, self.items
        if item is not None and items is not None:
            item = np.append(item, len(items) + np.arange(len(place)))
            items = np.append(items, weight)
        rows = (self.place, place), (self.said, said), (self.truth, truth), (self.weight, weight)
        place, said, truth, weight = (np.append(*column) for column in rows)
        return Patterns(place, said, truth, weight, item, items)

    @property
    def of_kind(self) -> np.ndarray:
        """How many items are of each kind."""
        return self.weight if self.items is None else self.items

    def by_item(self, values: np.ndarray) -> np.ndarray:
        """What the outputs of one item of each kind add up to."""
        if self.item is None or self.items is None:
            return values
        return np.bincount(self.item, self.weight * values, len(self.items)) / self.items

    def holding(self, kind: np.ndarray) -> float:
        """How many items hold outputs of a kind; in part, if outputs are of it in part."""
        return float(self.of_kind @ np.minimum(self.by_item(kind), 1))


class Mean(NamedTuple):
    """A mean truth, and what an item of each kind adds to its error, and imaginary outputs do."""

    value: float
    centre: float
    influence: np.ndarray
    items: np.ndarray
    imaginary: float
    df: float

    @property
    def errors(self) -> Errors:
        """With its standard error."""
        variance = self.items @ self.influence**2 + self.imaginary
        return Errors(self.value, self.centre, float(np.sqrt(variance)), self.df)

    def less(self, other: Mean) -> Mean:
        """The difference of two means of outputs of the same items."""
        return Mean(
            self.value - other.value,
            self.centre - other.centre,
            self.influence - other.influence,
            self.items,
            self.imaginary + other.imaginary,
            min(self.df, other.df),
        )

    def times(self, share: float) -> Mean:
        """A part of it."""
        value, centre, influence = share * self.value, share * self.centre, share * self.influence
        return Mean(value, centre, influence, self.items, share**2 * self.imaginary, self.df)


def regressed(rows: Patterns) -> tuple[float, np.ndarray]:
    """The mean truth of all outputs, and each one's influence on it.

    Truths have a mean in each class and one slope on what the judge says. Residuals are divided by
    one less the leverage of their item, so that variances of few labels are not too small (HC3).
    """
    known, total = ~np.isnan(rows.truth), rows.weight.sum()
    design = np.column_stack([np.eye(rows.place.max() + 1)[rows.place], rows.said])
    weight, truth = np.where(known, rows.weight, 0.0), np.where(known, rows.truth, 0.0)
    inverse = np.linalg.pinv(design.T @ (weight[:, None] * design), hermitian=True)
    slopes = inverse @ design.T @ (weight * truth)
    mean, predicted = rows.weight @ design / total, design @ slopes
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    of_item = rows.by_item(np.where(known, leverage, 0.0))
    of_item = of_item if rows.item is None else of_item[rows.item]
    residual = np.where(known, truth - predicted, 0.0) / np.maximum(1 - of_item, OWN)
    value = float(mean @ slopes)
    return value, design @ inverse @ mean * residual + (predicted - value) / total


def mean_within(rows: Patterns) -> Errors:
    """The mean truth with its error, of truths and verdicts from 0 to 1."""
    return mean_of(rows).errors


def mean_of(rows: Patterns, few: bool | None = None) -> Mean:
    """The mean truth, by item.

    Passes and fails of which `few` are good, bad or misjudged do not tell how far they scatter: an
    imaginary output of each kind joins them for the interval, spread over the classes.
    """
    known = ~np.isnan(rows.truth)
    value, influence = regressed(rows)
    centre, imaginary, labelled = value, 0.0, rows.holding(known)
    if few is None:
        y, f = (np.where(known, x, 0.0) for x in (rows.truth, rows.said))
        held = min(map(rows.holding, (np.abs(y - f), y, known - y)))
        few = held < FEW and bool(np.isin(y, (0, 1)).all())
    if few:
        shares = np.bincount(rows.place, rows.weight) / rows.weight.sum()
        place = np.repeat(np.arange(len(shares)), len(GOOD))
        kinds = np.tile(PASSED, len(shares)), np.tile(GOOD, len(shares))
        centre, influence = regressed(rows.joined(place, *kinds, shares[place]))
        influence, added = np.split(influence, [len(known)])
        imaginary = float(shares[place] @ added**2)
    free = max(labelled - rows.place.max() - 2, 1)
    return Mean(value, centre, rows.by_item(influence), rows.of_kind, imaginary, free)


def _worth(
    verdicts: Verdicts, kind: Any, data: Any = None
) -> tuple[np.ndarray, tuple[float, float]]:
    """What each class counts for, from 0 to 1 (a pass or a `kind`), and the ends of that scale."""
    if verdicts.truth_scale is not None:
        least, most = verdicts.truth_scale
        numbers = np.array(verdicts.classes, float)
    elif kind is None and getattr(data, "credit", None) is not None:
        numbers = np.array(data.credit)
        least, most = numbers.min(), numbers.max()
    else:
        names = [*map(str, verdicts.classes)]
        at = 1 if kind is None else names.index(str(kind))
        return np.eye(len(names))[at], (0.0, 1.0)
    return (numbers - least) / (most - least), (least, most)


def patterns_of(verdicts: Verdicts, worth: np.ndarray, judge: int | None = None) -> Patterns:
    """Patterns with classes of a column as groups, and what their truths are `worth`.

    So are verdicts, if they are no scores; of several the mean, or those of one `judge`.
    """
    response = verdicts.response if judge is None else verdicts.response[:, [judge]]
    if verdicts.scale is None:  # a verdict that is no class is worth nothing
        said = np.zeros(len(verdicts.responses or ()) + 1)
        said[: len(worth)], said[MISSING] = worth, np.nan
    else:
        said = np.append(np.array(verdicts.responses, float), np.nan)
        least, most = np.nanmin(said[response]), np.nanmax(said[response])
        said = (said - least) / max(most - least, 1e-9)
    count, item, items = verdicts.count.astype(float), verdicts.item, verdicts.items
    if item is not None:
        count, items = count * items[item], items.astype(float)
    truth = np.append(worth, np.nan)[verdicts.truth]
    return Patterns(verdicts.group, _mean(said[response]), truth, count, item, items)


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
    quantity = next(iter(declared.quantities))
    of = declared.quantities[quantity]
    return shares_within(of.labels, of.dims, seen, ci_prob, data, quantity)


def shares_within(
    labels: Sequence[tuple[Any, ...]],
    dims: tuple[str, ...],
    seen: Selection,
    ci_prob: float,
    data: Any,
    quantity: str = "prevalence",
) -> Estimate:
    """The same of the coordinates that are asked for."""
    verdicts: Verdicts = seen.instead
    rows = {}
    for label in labels:
        at = dict(zip(dims, label, strict=True))
        worth, (least, most) = _worth(verdicts, at.pop("class", None), data)
        judge = verdicts.judges.index(at.pop("judge")) if "judge" in at else None
        system = "".join(map(str, at.values())) if "" not in seen.untold else ""
        part = _of_system(verdicts, patterns_of(verdicts, worth, judge), system)
        errors = mean_within(part) if len(part.place) else NOTHING
        row = np.array(bounded(errors, seen.untold[system], ci_prob))
        rows[label] = (least + (most - least) * row).tolist()
    return estimate_of({quantity: Quantity.of_rows(rows, dims)}, seen, ci_prob, data)


def _of_system(verdicts: Verdicts, patterns: Patterns, system: str) -> Patterns:
    """Patterns of a system's classes."""
    systems = np.array([system_of(name) for name in verdicts.groups])[verdicts.group]
    return patterns.part(systems == system)


def differences_within(
    seen: Selection, systems: Sequence[str], few_apart: Callable[[str, str], bool]
) -> dict[tuple[str, str], Errors]:
    """The shares of every two systems compared on the items that they share.

    Of systems that are `few_apart` imaginary outputs join both, as `mean_of` has them. What labels
    tell nothing of is left out (`bounded_difference`).
    """
    verdicts: Verdicts = seen.instead
    patterns = patterns_of(verdicts, _worth(verdicts, None)[0])
    parts = {name: _of_system(verdicts, patterns, name) for name in systems}

    def mean(name: str, few: bool) -> Mean:
        if not len(parts[name].place):
            return Mean(0.0, 0.0, np.zeros(len(patterns.of_kind)), patterns.of_kind, 0.0, np.inf)
        return mean_of(parts[name], few or None).times(1 - seen.untold[name])

    pairs = {pair: few_apart(*pair) for pair in itertools.combinations(systems, 2)}
    means = {(name, few): mean(name, few) for pair, few in pairs.items() for name in pair}
    return {(a, b): means[a, few].less(means[b, few]).errors for (a, b), few in pairs.items()}


def bounded_difference(errors: Errors, untold: tuple[float, float], ci_prob: float) -> Row:
    """A difference of shares; bounds, if labels tell nothing of some outputs of either system."""
    value, low, high = errors.interval(ci_prob)
    if not any(untold):
        return Row(*map(float, holding(value, *np.clip((low, high), -1, 1))))
    return Row(np.nan, *np.clip((low - untold[1], high + untold[0]), -1, 1).tolist())


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
