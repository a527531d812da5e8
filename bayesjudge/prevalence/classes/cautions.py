"""What counts of several classes say against an estimate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.special import bdtr

from bayesjudge.core.diagnosis import findings
from bayesjudge.core.estimate import Assumption, Caution, Target
from bayesjudge.core.label_design import STRATUM_SHARES, checked
from bayesjudge.core.randomization import same_shares
from bayesjudge.prevalence.cautions import SHIFT_P
from bayesjudge.prevalence.classes.data import ClassCounts
from bayesjudge.prevalence.diagnosis import granted

#: Two classes whose verdicts differ no more surely than this are not told apart.
WEAK_P = 0.05
SAME_CONFUSIONS = Assumption.of("same-judge", "classes")


@granted.register
def _assumed(counts: ClassCounts) -> tuple[Assumption, ...]:
    strata = counts.adds_up and counts.propensity is None
    of_design = counts.design.assumption if counts.design.same_items else SAME_CONFUSIONS
    return (of_design, *(STRATUM_SHARES,) * strata)


@findings.register
def _findings(counts: ClassCounts, target: Target) -> Iterator[Caution]:
    yield from checked(counts.design, counts)
    for place, test, labelled in zip(counts.places, counts.tests, counts.tables, strict=True):
        yield from _empty(counts, labelled, place)
        if counts.design.is_sample or counts.propensity is not None:
            yield from _shifted(test, labelled, place, SHIFT_P / len(counts.places))
    yield from _weak(counts)
    yield from _leaning(counts)
    if counts.unparsed:
        yield Caution.of("unparsed-verdicts", "classes", unparsed=counts.unparsed)


def _empty(counts: ClassCounts, labelled: np.ndarray, place: str) -> Iterator[Caution]:
    """Classes or, of labels by verdict, verdicts without a label."""
    by_verdict = counts.design.identifies == {"predictive_values"}
    names = (counts.responses if by_verdict else counts.classes) or ()
    empty = [
        x for x, n in zip(names, labelled.sum(axis=0 if by_verdict else 1), strict=True) if not n
    ]
    if empty:
        what = "verdict" if by_verdict else "truth"
        yield Caution.of("empty-class", "classes", what=what, names=empty, place=place)


def _weak(counts: ClassCounts) -> Iterator[Caution]:
    """Classes whose verdicts the labels do not show to differ; of strata, in all together."""
    tables = counts.tables.sum(axis=0)[None] if counts.adds_up else counts.tables
    places = [""] if counts.adds_up else counts.places
    for place, labelled in zip(places, tables, strict=True):
        for i, j in itertools.combinations(range(len(counts.classes)), 2):
            seen = labelled[[i, j]]
            if seen.sum(axis=1).all() and not same_shares(seen, WEAK_P) <= WEAK_P:
                yield Caution.of(
                    "weak-judge",
                    "classes",
                    first=counts.classes[i],
                    other=counts.classes[j],
                    place=place,
                )


def _shifted(test: np.ndarray, labelled: np.ndarray, place: str, level: float) -> Iterator[Caution]:
    seen = np.array([test, labelled.sum(axis=0)])
    if not seen.sum(axis=1).all() or not (p_value := same_shares(seen, level)) < level:
        return
    yield Caution.of("label-shift", "classes", place=place, p_value=p_value)


def _leaning(counts: ClassCounts) -> Iterator[Caution]:
    if counts.leanings is None:
        return
    first, second = counts.leanings
    if 2 * bdtr(min(first, second), first + second, 0.5) >= SHIFT_P:
        return
    total = int(counts.test.sum() + counts.labelled.sum())
    more, fewer = max(first, second), min(first, second)
    where = ("first", "second") if first > second else ("second", "first")
    yield Caution.of(
        "position-bias",
        "verdicts",
        total=total,
        first=where[0],
        more=more,
        second=where[1],
        fewer=fewer,
    )
