"""The total of a rubric: one number per output, whose errors go together over criteria."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import selection_of
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.label_design import RANDOM_LABELS
from bayesjudge.prevalence import exact, paired_difference
from bayesjudge.prevalence.scores import PairedScores, closed_forms
from bayesjudge.rubric.data import Rubric
from bayesjudge.truth.influence import Errors
from bayesjudge.truth.within_classes import (
    NOTHING,
    Patterns,
    bounded,
    estimate_of,
    mean_within,
    regressed,
)

TWO_PHASE = "Cochran (1977), Section 12.6; Angelopoulos, Duchi & Zrnic (2023), eq. 5"

#: Fewest labels of a criterion in a class that tell anything of it.
LEAST = 2


def two_phase(judged: Any, people: Any, applies: Any = None) -> Errors:
    r"""Estimate the mean of a sum of which people know some terms of some outputs.

    Each term's mean is that of its own labelled outputs, and the judge's sum of all outputs takes
    part with one weight:

    .. math:: \hat S = \sum_c a_c \left(\bar y_c^{L_c} - \lambda \bar p_c^{L_c}\right) +
              \lambda \bar f,

    where :math:`L_c` are the outputs labelled on c, :math:`a_c` the share to which it applies,
    y and p what people and the judge say, and f the judge's sum. Its variance is that of the
    outputs' influence values, so that errors may go together over the terms of an output in any
    way; the weight makes it least.

    Parameters
    ----------
    judged, people : array_like of float, shape (n_outputs, n_terms)
        Terms as the judge and as people have them, ``nan`` where nobody was asked.
    applies : array_like of bool, shape (n_outputs, n_terms), optional
        Where a term is not 0 whatever is said.

    Returns
    -------
    Errors
        Value, standard error, and the labelled outputs less 1 as degrees of freedom.

    Raises
    ------
    InputError
        If a term is not labelled on two outputs.

    References
    ----------
    Cochran (1977), Sampling Techniques, Section 12.6; Angelopoulos, Duchi & Zrnic (2023), eq. 5.

    Examples
    --------
    >>> two_phase([[1.0, 0], [1, 1], [0, 1]], [[1.0, 0], [1, 1], [0, 0]]).value
    1.0
    """
    p, y = np.asarray(judged, float), np.asarray(people, float)
    there = np.ones(p.shape, bool) if applies is None else np.asarray(applies, bool)
    shapes = {"judged": p.shape, "people": y.shape, "applies": there.shape}
    words = f"expected arrays of one shape, (n_outputs, n_terms), got {shapes}"
    alike = p.ndim == 2 and p.size and len({*shapes.values()}) == 1
    expect("two_phase", alike, words, "other-shape")
    known, n = there & ~np.isnan(y), len(p)
    of = known.sum(axis=0)
    few = np.flatnonzero(there.any(axis=0) & (of < 2))
    problem = f"terms {few.tolist()}: fewer than 2 labels, which have no spread"
    expect("two_phase", not few.size, problem)
    p, y = np.where(there, p, 0.0), np.where(known, y, 0.0)
    share, size = there.mean(axis=0), np.maximum(of, 1)

    def parts(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means of labelled terms, and each output's influence on the sum of them."""
        mean = np.where(known, terms, 0.0).sum(axis=0) / size
        of_labels = np.where(known, terms - mean, 0.0) * share / size
        return mean * share, (of_labels + (there - share) * mean / n).sum(axis=1)

    (truths, by_truth), (said, by_judge) = parts(y), parts(p)
    total = p.sum(axis=1)
    moved = (total - total.mean()) / n - by_judge
    square = float(moved @ moved)
    weight = max(-float(by_truth @ moved) / square, 0.0) if square > 1e-30 else 0.0
    labelled = int(known.any(axis=1).sum())
    spread = float(((by_truth + weight * moved) ** 2).sum()) * labelled / max(labelled - 1, 1)
    value = float(truths.sum() + weight * (total.mean() - said.sum()))
    return Errors(value, value, float(np.sqrt(spread)), labelled - 1)


def total(rubric: Rubric, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Estimate the mean total that people would give, and the judge's own beside it.

    Where all labelled outputs are labelled throughout, totals are scores (`prevalence.scores`):
    each closed form of these. Where some are labelled in part, `two_phase`.

    Parameters
    ----------
    rubric : Rubric
        Verdicts, weights and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        ``total`` as a share of the points (by ``system`` if there are several), the one to quote by
        its rank. Outputs are independent; criteria of one output are not taken to be.

    Raises
    ------
    InputError
        If a system has too few labels, or `ci_prob` is out of range.

    Examples
    --------
    >>> rubric = Rubric([[1, 0], [1, 1], [0, 1], [1, 0]],
    ...                 [[1, 0], [0, 1], [1, 1], [np.nan, np.nan]], [1, 1], "random", ["a", "b"])
    >>> [one.method.title for one in total(rubric)][:2]
    ["Judge's mean score", 'Human labels only']
    """
    check_ci_prob(ci_prob)
    return _by_system(rubric, lambda part: _totals(part, ci_prob), "total")


def _totals(rubric: Rubric, ci_prob: float) -> Sequence[Estimate]:
    if not rubric.partly:
        return closed_forms(rubric.scores(), ci_prob=ci_prob)
    judged = rubric.totals()["judged"].to_numpy()
    error = float(judged.std(ddof=1)) / np.sqrt(len(judged)) if len(judged) > 1 else np.nan
    mean = float(judged.mean())
    disputed = int((rubric.excused & rubric.applies).sum())
    return [
        Estimate(
            {"mean_score": Quantity.over(np.clip(row.interval(ci_prob), rubric.ends[0], 1.0))},
            method=method,
            ci_prob=ci_prob,
            source=TWO_PHASE,
            interval=interval,
            assumptions=(RANDOM_LABELS,),
            cautions=(Caution.of("applies-disputed", cells=disputed),) if disputed else (),
        )
        for method, interval, row in (
            (methods.JUDGE_SCORE, "normal", Errors(mean, mean, error)),
            (methods.TWO_PHASE, "t", two_phase(*_terms(rubric))),
        )
    ]


def _terms(rubric: Rubric, rows: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of each criterion as the judge and as people say, and where the judge has it apply.

    What people excuse gives no points: a sum of terms has one denominator.
    """
    worth, used = rubric.points(rubric.used), rubric.used
    rows = np.isfinite(worth).all(axis=1) if rows is None else rows
    people = np.where(used, worth * np.where(rubric.excused, 0.0, rubric.people), 0.0)
    return (worth * rubric.said)[rows], people[rows], used[rows]


def within_classes(rubric: Rubric, ci_prob: float) -> Estimate:
    """The ``total``, and ``criterion_met`` if items share criteria, by labels within classes.

    Labels that go with a column are taken as random within its classes (`Rubric.place`); a class
    without labels of a criterion may be anything.
    """
    (low, high), several, n = rubric.ends, len(rubric.names) > 1, len(rubric.criteria)
    totals: dict[Any, Any] = {}
    met: dict[Any, Any] = {}
    for system in rubric.names:
        part, at = rubric.system(system), (system,) * several
        has_labels = [_has_labels(part, c) for c in range(n)]
        rows = np.all(has_labels, axis=0) & np.isfinite(part.points(part.used)).all(axis=1)
        errors = _sum_within(*_terms(part, rows), part.place[rows]) if rows.any() else NOTHING
        value, centre, error = (np.array(errors[:3]) - [low, low, 0]) / (high - low)
        row = bounded(Errors(value, centre, error, errors.df), 1 - float(rows.mean()), ci_prob)
        totals[at] = (low + (high - low) * np.array(row)).tolist()
        for c, name in enumerate([] if rubric.own_criteria else rubric.criteria):
            applies = part.used[:, c] & ~part.excused[:, c]
            rows = has_labels[c] & applies
            cells = Patterns(
                part.place, part.said[:, c], part.people[:, c], np.ones(len(has_labels[c]))
            )
            errors = mean_within(cells.part(rows)) if rows.any() else NOTHING
            met[name, *at] = bounded(errors, 1 - float(has_labels[c][applies].mean()), ci_prob)
    dims = ("system",) * several
    quantities = {"total": Quantity.of_rows(totals, dims)}
    if met:
        quantities["criterion_met"] = Quantity.of_rows(met, ("criterion", *dims))
    return estimate_of(quantities, selection_of(rubric), ci_prob, rubric)


def _has_labels(rubric: Rubric, c: int) -> np.ndarray:
    """Outputs of a class with two labels of a criterion, or to which it does not apply at all."""
    of_class = np.maximum(rubric.place, 0)
    used, known = rubric.used[:, c], rubric.labelled[:, c] & rubric.used[:, c]
    enough = np.bincount(of_class, known & (rubric.place >= 0)) >= LEAST
    return (rubric.place >= 0) & (enough[of_class] | ~used)


def _sum_within(judged: Any, people: Any, applies: Any, place: Any) -> Errors:
    """The mean of a sum of terms, each by its own labels within classes of the outputs."""
    value, influence = 0.0, np.zeros(len(judged))
    for said, truth, there in zip(judged.T, people.T, applies.T, strict=True):
        if there.any():
            cells = Patterns(place, said, truth, np.ones(len(said))).part(there)
            mean, each = regressed(cells)
            value += there.mean() * mean
            influence += (there - there.mean()) * mean / len(there)
            influence[there] += there.mean() * each
    labelled = int((applies & ~np.isnan(people)).any(axis=1).sum())
    free = max(labelled - len(np.unique(place)) - 1, 1)
    return Errors(value, value, float(np.sqrt(influence @ influence)), free)


def _paired(rubric: Rubric, first: str, second: str) -> Errors:
    """The difference of two systems' totals, item by item, of outputs that are labelled in part."""
    pair = [rubric.system(name) for name in (first, second)]
    places = [{item: i for i, item in enumerate(part.items or ())} for part in pair]
    shared = [item for item in places[0] if item in places[1]]
    (p, y, used), (other_p, other_y, other_used) = (
        _terms(part, [place[item] for item in shared])
        for part, place in zip(pair, places, strict=True)
    )
    whole = np.isfinite(p + other_p).all(axis=1)
    terms = (p - other_p, y - other_y, used | other_used)
    return two_phase(*(term[whole] for term in terms))


def differences(rubric: Rubric, *, ci_prob: float = 0.95) -> Estimate:
    """Compare the totals of every two systems on the items that they share.

    Parameters
    ----------
    rubric : Rubric
        Of two systems or more, with items.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``difference`` by ``first`` and ``second``, as a share of the points: by
        `prevalence.paired_difference`, or where outputs are labelled in part by `two_phase` of the
        differences by item and criterion.

    Raises
    ------
    InputError
        If there are fewer than two systems, no items, or fewer than two items of which both outputs
        are labelled.
    """
    with checking("rubric.differences") as require:
        require(len(rubric.names) > 1, "name the systems: by=, two or more")
        require(rubric.items is not None, "name the items that systems share: item=")
    if rubric.partly:
        pairs = itertools.combinations(rubric.names, 2)
        rows = {pair: _paired(rubric, *pair).interval(ci_prob) for pair in pairs}
        return Estimate(
            {"difference": Quantity.of_rows(rows, ("first", "second"))},
            method=methods.TWO_PHASE,
            ci_prob=ci_prob,
            source=TWO_PHASE,
            interval="t",
            assumptions=(RANDOM_LABELS,),
            data=rubric,
        )
    table = rubric.totals()
    how: dict[str, Any] = {"by": "system", "item": "item", "score": "judged", "truth": "people"}
    how |= {"calibration": rubric.calibration, "scale": rubric.ends, "truth_scale": rubric.ends}
    return paired_difference(PairedScores.from_frame(table, **how), ci_prob=ci_prob)


def meets(
    rubric: Rubric, at_least: float | None = None, *, ci_prob: float = 0.95
) -> tuple[Estimate, ...]:
    """Estimate the share of outputs that meet all criteria, or have so high a total.

    Parameters
    ----------
    rubric : Rubric
        Verdicts, weights and labels.
    at_least : float, optional
        The lowest total, as a share of the points; all criteria if not given.
    ci_prob : float, default 0.95
        Probability of the interval.

    Returns
    -------
    tuple of Estimate
        ``all_met``, or ``at_least`` by ``total``, by `prevalence.exact` of outputs labelled
        throughout.

    Raises
    ------
    InputError
        If no output is labelled throughout.
    """

    def of(part: Rubric) -> list[Estimate]:
        return [exact(part.meets(at_least), ci_prob=ci_prob)]

    if at_least is None:
        return _by_system(rubric, of, "all_met")
    return _by_system(rubric, of, "at_least", total=at_least)


def _by_system(
    rubric: Rubric, make: Callable[[Rubric], Sequence[Estimate]], quantity: str, **at: float
) -> tuple[Estimate, ...]:
    """Estimates of each system under one name, and with the coordinates `at`, by method."""
    each: Mapping[str, Sequence[Estimate]] = {k: make(rubric.system(k)) for k in rubric.names}
    estimates = []
    for method in dict.fromkeys(
        estimate.method for answers in each.values() for estimate in answers
    ):
        by_name = {
            k: estimate
            for k, answers in each.items()
            for estimate in answers
            if estimate.method == method
        }
        several = len(rubric.names) > 1
        first = {k: next(estimate.rows())[2] for k, estimate in by_name.items()}
        rows = {((k,) if several else ()) + (*at.values(),): row for k, row in first.items()}
        cautions = [
            c.within(k, (k,)) if several else c
            for k, estimate in by_name.items()
            for c in estimate.cautions
        ]
        dims = ("system",) * several + (*at,)
        estimates.append(replace(
            next(iter(by_name.values())),
            quantities={quantity: Quantity.of_rows(rows, dims)},
            cautions=tuple(dict.fromkeys(cautions)),
            data=rubric,
        ))  # fmt: skip
    return tuple(estimates)
