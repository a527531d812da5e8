"""The posterior without sampling, and which labels look wrong by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import INTERVALS, Estimate, Interval, Quantity, Target
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.exact import exact, posterior_estimate
from bayesjudge.prevalence.people.closed_form import closed_forms
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.prevalence.people.model import (
    OF_LABELLED,
    OVERALL_EACH,
    SOURCE,
    PeopleErrors,
    suited,
)
from bayesjudge.truth import likelihood
from bayesjudge.truth.importance import NotWeighed, intervals_of
from bayesjudge.verdicts.reading import (
    KEPT,
    Reading,
    item_columns,
    one_row_an_output,
    wide_in_memory,
)
from bayesjudge.verdicts.table import MISSING, Verdicts

if TYPE_CHECKING:
    import pandas as pd

#: Draws over which the probability that a label is wrong is averaged.
DRAWS = 1000


@posterior_estimate.register(PeopleCounts)
def _of_people(
    counts: PeopleCounts,
    model: PeopleErrors | None,
    ci_prob: float,
    interval: Interval,
    target: Target,
) -> Estimate:
    """Draws weighed by the density; the shortest interval, which covers shares next to 1 too."""
    interval = "eti" if interval == "eti" else "hdi"
    model = suited(counts, model, "exact")
    assumptions, cautions = model._diagnosis(counts)
    coords: dict[str, Any] = model._coords(counts)
    quantities: dict[str, Quantity] = {}
    try:
        draws = model._posterior(counts).weighed()
        values = _with_derived(model, counts, draws.values)
        weight = draws.weight
    except NotWeighed as error:
        cautions = (model._refused(counts, error), *cautions)
        values, weight = {}, np.ones(1)
    for name in model._quantities(counts):
        by = _by(name, counts, coords)
        size = int(np.prod([len(labels) for labels in by.values()]))
        unknown = np.full((len(weight), size), np.nan)
        drawn = values.get(name, unknown)
        quantities[name] = Quantity.over(intervals_of(drawn, weight, ci_prob, interval), by)
    return Estimate(
        quantities,
        method=methods.EXACT_PEOPLE,
        ci_prob=ci_prob,
        source=f"{SOURCE}; importance weights (Geweke 1989)",
        interval=INTERVALS[interval],
        assumptions=assumptions,
        cautions=cautions,
        data=counts,
    )


def _by(name: str, counts: PeopleCounts, coords: dict[str, Any]) -> dict[str, Any]:
    """Dimensions of a quantity."""
    dim = {"sensitivity": "judge", "specificity": "judge"}.get(name, counts.dim)
    return {dim: coords[dim]} if dim in coords and name not in (OVERALL, *OVERALL_EACH) else {}


def _with_derived(
    model: PeopleErrors, counts: PeopleCounts, drawn: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Draws as the model names them: of one system without an axis of systems."""
    groups = len(counts.verdicts.groups)
    shares = {"prevalence": drawn["prevalence"][:, :groups]}
    if not counts.design.same_items:
        shares[OF_LABELLED] = drawn["prevalence"][:, groups:]
    if counts.systems is None:
        shares = {name: share[:, 0] for name, share in shares.items()}
    values = {**drawn, **shares}
    return values | model._derived(counts, values, np)


def drawn_from(counts: PeopleCounts, model: PeopleErrors, size: int) -> dict[str, np.ndarray]:
    """Draws from the posterior; an error if it has no exact ones."""
    try:
        weighed = model._posterior(counts).weighed()
    except NotWeighed as error:
        raise InputError("people", [f"no exact posterior: {error}"]) from error
    return _with_derived(model, counts, weighed.resampled(size, np.random.default_rng(1)))


def wrong_labels(counts: PeopleCounts, model: PeopleErrors | None = None) -> np.ndarray:
    """The probability that each label is wrong, given all that was said of its item.

    Parameters
    ----------
    counts : PeopleCounts
        Verdicts and labels.
    model : PeopleErrors, optional
        Priors.

    Returns
    -------
    numpy.ndarray, shape (n_patterns, n_people)
        By pattern of `counts.verdicts`; ``nan`` where a person gave no label.

    Raises
    ------
    InputError
        If the posterior has no exact draws.
    """
    model = suited(counts, model, "wrong_labels")
    drawn = drawn_from(counts, model, DRAWS)
    table = model._table(counts)
    joint = np.concatenate(list(model._log_joint(counts, drawn)))
    chance = likelihood.truth_given_responses(joint + likelihood.log_allowed(table))
    good = chance.mean(axis=0)[:, 1, None]
    wrong = np.where(counts.labels == 1, 1 - good, good)
    return np.where(counts.labels == MISSING, np.nan, wrong)


def doubtful(table: Any, model: PeopleErrors | None = None, **columns: Any) -> pd.DataFrame:
    """List labels by the probability that they are wrong, for a second look.

    Parameters
    ----------
    table : dataframe
        As for `PeopleCounts.from_frame`; it is read into memory.
    model : PeopleErrors, optional
        Priors: of how people err too, which labels of one person do not tell.
    **columns
        ``calibration``, ``verdict``, ``truth``, ``item`` and the other arguments of
        `PeopleCounts.from_frame`.

    Returns
    -------
    pandas.DataFrame
        One row per label, the most doubtful first: ``item`` (or the row's number), the system or
        stratum if there are several, ``person``, ``label``, ``verdict`` (1, 0, and -1 if none) and
        ``wrong``, the probability; summed up, it is how many wrong labels are expected.
        Adjudicated items are left out.

    Raises
    ------
    InputError
        As from `PeopleCounts.from_frame`.

    Examples
    --------
    >>> from bayesjudge.prevalence.people import simulate
    >>> log = simulate(random_seed=1)
    >>> rows = doubtful(log, truth=["ann1", "ann2"], calibration="random")
    >>> bool(rows["wrong"].is_monotonic_decreasing), len(rows)
    (True, 400)
    """
    import pandas as pd

    # a row without a verdict has labels that may be wrong too
    how = Reading.of(
        "prevalence.people.doubtful", columns | {"unparsed": KEPT}, several_people=True
    )
    person = str(how.truth)
    if how.rater is not None:
        table, how = one_row_an_output(table, how)
    how = replace(
        how, item=next(iter([*filter(None, [how.item]), *item_columns(table, how)]), None)
    )
    read = wide_in_memory(table, how, in_order=True)  # which draws are of which group
    rows = PeopleCounts.of(Verdicts(**read.fields), person)
    merged, place = rows.verdicts.collapsed_with_places()
    counts = PeopleCounts(merged)
    wrong = wrong_labels(counts, model)[place]
    names = np.asarray(read.items) if how.item else np.arange(len(place))
    systems = np.array(rows.verdicts.groups, object)[rows.verdicts.group]
    lists = [
        pd.DataFrame(
            {
                "item": names,
                **({} if rows.systems is None else {rows.dim: systems}),
                "person": name,
                "label": rows.labels[:, i],
                "verdict": rows.verdict,
                "wrong": wrong[:, i],
            }
        )
        for i, name in enumerate(rows.people)
    ]
    every = pd.concat([labels[~rows.verdicts.is_labelled] for labels in lists], ignore_index=True)
    known = every[every["wrong"].notna()]
    return known.sort_values("wrong", ascending=False, kind="stable", ignore_index=True)


compare.register(PeopleCounts, of_closed_forms(closed_forms, exact))
