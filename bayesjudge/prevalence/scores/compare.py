"""Every method of numeric scores side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import checking
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
    made: dict[str, tuple[Estimate, ...]] = {
        name: (one.estimate(ci_prob=ci_prob, interval=interval),)
        if isinstance(one, Fit)
        else closed_forms(one, ci_prob=ci_prob)
        for name, one in scores.items()
    }
    methods = dict.fromkeys(one.method for each in made.values() for one in each)
    made_of = []
    for method in methods:
        own = {k: one for k, each in made.items() for one in each if one.method == method}
        rows = {(k,): (*one[answer],) for k, one in own.items()}
        told = [c.within(k, (k,)) for k, one in own.items() for c in one.cautions]
        made_of.append(
            replace(
                next(iter(own.values())),
                quantities={answer: Quantity.of_rows(rows, ("system",))},
                assumptions=joined(one.assumptions for one in own.values()),
                cautions=tuple(dict.fromkeys(told)),
                data=data,
            )
        )
    return tuple(made_of)


def _data(scores: Mapping[str, Scores] | Mapping[str, Fit], subject: str) -> dict[str, Scores]:
    """Scores of each system, of one kind."""
    data = {k: one.data if isinstance(one, Fit) else one for k, one in scores.items()}
    with checking(subject) as require:
        require(bool(data), "there is no system")
        kinds = sorted({one.answer for one in data.values()})
        require(len(kinds) < 2, f"systems have truths of different kinds: {kinds}")
    return data


def joined(several: Iterable[Sequence[Assumption]]) -> tuple[Assumption, ...]:
    """Assumptions of several estimates, with all that contradicts each in one of them."""
    found: dict[str, Assumption] = {}
    for assumption in (a for each in several for a in each):
        before = found.get(assumption.id, assumption).contradicted_by
        against = tuple(dict.fromkeys((*before, *assumption.contradicted_by)))
        found[assumption.id] = assumption._replace(contradicted_by=against)
    return tuple(found.values())


compare.register(Scores, of_closed_forms(closed_forms))
