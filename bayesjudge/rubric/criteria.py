"""Each criterion: its share, the judge's quality on it, what it costs, and who should judge it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Quantity, Row
from bayesjudge.core.label_design import RANDOM_LABELS
from bayesjudge.core.planning import Parts
from bayesjudge.core.screen import how_many
from bayesjudge.judge import quality
from bayesjudge.prevalence import Counts, exact
from bayesjudge.prevalence.closed_form import difference, naive
from bayesjudge.rubric.data import Rubric
from bayesjudge.rubric.totals import TWO_PHASE, two_phase
from bayesjudge.truth.influence import t_quantile

#: What people reach among themselves, if nobody says: the judge's J, or its correlation, must be
#: able to be as high.
REACH = 0.5
#: How well a judge tells outputs apart, of verdicts, of grades and of probabilities.
MEASURES = ("youden", "correlation", "auc")
#: Fewest outputs labelled throughout from which is told what a criterion does to the interval.
FEWEST = 10


class CannotJudge(NamedTuple):
    """A criterion that the judge cannot judge: by which measure, and what people reach."""

    criterion: str
    system: str
    measure: str
    row: Row
    reach: float


def by_criterion(rubric: Rubric, *, ci_prob: float = 0.95) -> Estimate:
    r"""Estimate for each criterion its share, the judge's quality, and what it does to the total.

    Parameters
    ----------
    rubric : Rubric
        With criteria that all items share.
    ci_prob : float, default 0.95
        Probability of the intervals.

    Returns
    -------
    Estimate
        By ``criterion`` (and ``system``, if there are several): ``criterion_met``, the share of
        outputs that people would say meet it, or its mean grade between 0 and 1
        (`prevalence.exact`; PPI++ of grades); ``judge_met``, the judge's own; ``youden``,
        sensitivity + specificity - 1, or of grades ``correlation``, of probabilities ``auc``
        (`judge.quality`); ``points_lost``, its mean part of the points that outputs miss
        (`two_phase`); and without interval ``width_if_given``: of the total's interval, if people
        judged this criterion on all outputs, by ``width_now`` (both by `core.planning`; only with
        10 outputs or more labelled throughout).

        Each criterion's errors are estimated alone: criteria are fixed, and differ more than
        judges do, so that shrinking them towards each other gains next to nothing.

    Raises
    ------
    InputError
        If each item has criteria of its own.

    References
    ----------
    Youden (1950), Cancer 3, 32-35.
    """
    check_ci_prob(ci_prob)
    expect("rubric.by_criterion", not rubric.own_criteria, "own-criteria")
    several = len(rubric.names) > 1
    dims = ("criterion", "system") if several else ("criterion",)
    rows: dict[str, dict[Any, Row]] = {}
    cautions: list[Caution] = [*cautions_of(rubric)]
    for system in rubric.names:
        part = rubric.system(system)
        for c, name in enumerate(part.criteria):
            at = (name, system) if several else (name,)
            if not part.labelled[:, c].any():
                cautions.append(Caution.of("criterion-unlabelled", where=at, criterion=name))
                continue
            lost = int(part.lost[:, c].sum()) if rubric.failed == "drop" else 0
            if lost:
                total = how_many(int(part.used[:, c].sum()), "output")
                of: dict[str, Any] = {
                    "count": lost,
                    "place": f" of {', '.join(at)}",
                    "total": total,
                }
                cautions.append(Caution.of("unparsed-verdicts", "verdicts", where=at, **of))
            for quantity, row in _of_one(part, c, ci_prob):
                rows.setdefault(quantity, {})[at] = row
    return Estimate(
        {quantity: Quantity.of_rows(entries, dims) for quantity, entries in rows.items()},
        method=methods.BY_CRITERION,
        ci_prob=ci_prob,
        source=f"Youden (1950); {TWO_PHASE}",
        interval={
            "criterion_met": "t" if rubric.graded else "equal-tailed, reaching 0 and 1",
            "judge_met": "Wilson",
            "points_lost": "t",
            **dict.fromkeys(MEASURES, INTERVALS["eti"]),
        },
        assumptions=(RANDOM_LABELS,),
        cautions=tuple(cautions),
        data=rubric,
    )


def _of_one(rubric: Rubric, c: int, ci_prob: float) -> Iterator[tuple[str, Row]]:
    """The numbers of one criterion of one system."""
    data = rubric.criterion(rubric.criteria[c])
    estimate = exact if isinstance(data, Counts) else difference
    yield "criterion_met", next(estimate(data, ci_prob=ci_prob).rows())[2]
    agreement = quality(data, ci_prob=ci_prob)
    yield from ((name, agreement[name]) for name in MEASURES if name in agreement)
    yield "judge_met", next(naive(data, ci_prob=ci_prob).rows())[2]
    worth = rubric.points(rubric.used)
    rows = np.isfinite(worth).all(axis=1)
    cells = [x[rows][:, [c]] for x in (worth, rubric.said, rubric.people, rubric.used)]
    points, said, people, used = cells
    if (used & ~np.isnan(people)).sum() > 1:
        judge, truth = (np.abs(points) * np.where(points > 0, 1 - x, x) for x in (said, people))
        lost = np.clip(two_phase(judge, truth, used).interval(ci_prob), 0, np.abs(points).max())
        yield "points_lost", Row(*map(float, lost))
    for name, width in _widths(rubric, c, ci_prob).items():
        yield name, Row(width, np.nan, np.nan)


def _widths(rubric: Rubric, c: int, ci_prob: float) -> dict[str, float]:
    """Width of the total's interval now, and if people judged a criterion everywhere."""
    rows = rubric.whole & ~rubric.excused.any(axis=1)
    m, n = int(rows.sum()), len(rows)
    if m < FEWEST:
        return {}
    worth, said, people = (
        x[rows] for x in (rubric.points(rubric.used), rubric.said, rubric.people)
    )
    judged, truths = np.nan_to_num(worth * said), np.nan_to_num(worth * people)
    y = truths.sum(axis=1)
    given = judged.sum(axis=1) + truths[:, c] - judged[:, c]
    t = t_quantile(m - 1, ci_prob)
    widths = {}
    for name, f in (("width_now", judged.sum(axis=1)), ("width_if_given", given)):
        r2 = float(np.corrcoef(f, y)[0, 1] ** 2) if f.std() > 0 and y.std() > 0 else 0.0
        widths[name] = 2 * t * float(Parts.of(y.var(ddof=1), r2).error(m, n))
    return widths


def cannot_judge(
    criteria: Estimate, reach: float | Mapping[str, float] = REACH
) -> tuple[CannotJudge, ...]:
    """Name the criteria on which the judge is surely worse than people are among themselves.

    Parameters
    ----------
    criteria : Estimate
        From `by_criterion`.
    reach : float or mapping of str to float, default 0.5
        What people reach among themselves, by criterion if it differs: sensitivity +
        specificity - 1 of one person against another, their correlation, or 2 AUC - 1. The default
        is that of people who agree on three outputs in four, of which half meet the criterion.

    Returns
    -------
    tuple of NamedTuple
        Those whose interval lies below `reach`, with 95 % intervals 2.5 % of those on which the
        judge does reach it: ``criterion``, ``system``, ``measure`` (``"youden"`` or
        ``"correlation"``), ``row`` and ``reach``.

    Raises
    ------
    InputError
        If a reach is not inside (0, 1].
    """
    named = dict(reach) if isinstance(reach, Mapping) else {}
    usual = REACH if isinstance(reach, Mapping) else reach
    with checking("rubric.cannot_judge") as require:
        for level in (usual, *named.values()):
            require(0 < level <= 1, "must lie in (0, 1]", reach=level)
    return tuple(
        CannotJudge(name, str(at.get("system", "")), quantity, row, wanted)
        for quantity, at, row in criteria.rows()
        if quantity in MEASURES
        and (2 * row.high - 1 if quantity == "auc" else row.high)
        < (wanted := named.get(name := str(at["criterion"]), usual))
    )
