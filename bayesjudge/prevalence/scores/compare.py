"""Every method of numeric scores side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import check_by_name, checking
from bayesjudge.core.estimate import Assumption, Estimate, Interval, Quantity
from bayesjudge.core.fit import Fit
from bayesjudge.prevalence.closed_form import closed_forms
from bayesjudge.prevalence.scores.data import Scores


def by_system(
    scores: Mapping[str, Scores] | Mapping[str, Fit],
    *,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
) -> tuple[Estimate, ...]:
    """Put the closed forms of several systems side by side, or their fits, each on its own.

    Parameters
    ----------
    scores : mapping of str to Scores or Fit
        By system; see `read_systems`.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    interval : {"eti", "hdi"}, optional
        Kind of interval of fits.

    Returns
    -------
    tuple of Estimate
        `closed_forms` with dimension ``system``; a method that suits some systems only has rows of
        these. Of fits, one estimate. Intervals are of one system each: items that systems share are
        not used.

    Raises
    ------
    InputError
        If there is no system, the answers differ in kind, or `ci_prob` is out of range.
    """
    data = _data(scores, "scores.by_system")
    answer = next(iter(data.values())).answer
    estimates: dict[str, tuple[Estimate, ...]] = {
        name: (table.estimate(ci_prob=ci_prob, interval=interval),)
        if isinstance(table, Fit)
        else closed_forms(table, ci_prob=ci_prob)
        for name, table in scores.items()
    }
    methods = dict.fromkeys(estimate.method for each in estimates.values() for estimate in each)
    made_of = []
    for method in methods:
        of_method = {
            k: estimate
            for k, each in estimates.items()
            for estimate in each
            if estimate.method == method
        }
        rows = {(k,): (*estimate[answer],) for k, estimate in of_method.items()}
        cautions = [
            c.within(k, (k,)) for k, estimate in of_method.items() for c in estimate.cautions
        ]
        made_of.append(
            replace(
                next(iter(of_method.values())),
                quantities={answer: Quantity.of_rows(rows, ("system",))},
                assumptions=joined(estimate.assumptions for estimate in of_method.values()),
                cautions=tuple(dict.fromkeys(cautions)),
                data=data,
            )
        )
    return tuple(made_of)


def _data(scores: Mapping[str, Scores] | Mapping[str, Fit], subject: str) -> dict[str, Scores]:
    """Scores of each system, of one kind."""
    check_by_name(Scores, Fit, scores=scores)
    data = {k: table.data if isinstance(table, Fit) else table for k, table in scores.items()}
    with checking(subject) as require:
        require(bool(data), "there is no system")
        kinds = sorted({table.answer for table in data.values()})
        require(len(kinds) < 2, f"systems have truths of different kinds: {kinds}")
    return data


def joined(several: Iterable[Sequence[Assumption]]) -> tuple[Assumption, ...]:
    """Assumptions of several estimates, with all that contradicts each in one of them."""
    by_name: dict[str, Assumption] = {}
    for assumption in (a for each in several for a in each):
        before = by_name.get(assumption.id, assumption).contradicted_by
        against = tuple(dict.fromkeys((*before, *assumption.contradicted_by)))
        by_name[assumption.id] = assumption._replace(contradicted_by=against)
    return tuple(by_name.values())


compare.register(Scores, of_closed_forms(closed_forms))
