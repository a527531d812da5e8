r"""Closed forms: what people say, and what is so behind their errors.

Two people who err with probability e on good and on bad items alike agree on
:math:`A = 1 - 2 e (1 - e)` of them, so that :math:`e = (1 - \sqrt{2 A - 1}) / 2`; of a share
:math:`\theta_h` that they pass, :math:`\theta = (\theta_h - e) / (1 - 2 e)` is good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import z_score
from bayesjudge.core.methods import Method
from bayesjudge.prevalence.cautions import OVERALL
from bayesjudge.prevalence.closed_form import closed_forms as of_one_label
from bayesjudge.prevalence.closed_form import naive
from bayesjudge.prevalence.exact import exact
from bayesjudge.prevalence.people.data import PeopleCounts
from bayesjudge.prevalence.people.model import OVERALL_SAID, SAID, PeopleErrors

Rows = np.ndarray
#: Of the closed forms of scores, the mean label's: of a sample, and of labels by verdict.
OF_MEAN = (methods.PPI_TUNED.id, methods.BINNED.id, methods.POST_STRATIFIED.id, methods.PPI.id)


def error_of(agreement: float) -> float:
    """How often a person errs, on good and on bad items alike, from how often two agree.

    Parameters
    ----------
    agreement : float
        Share of pairs of labels of one item that agree.

    Returns
    -------
    float
        Between 0 and 1/2; ``nan`` below 1/2, where no such error agrees so rarely.

    Examples
    --------
    >>> round(error_of(0.905), 3)
    0.05
    """
    return float((1 - np.sqrt(2 * agreement - 1)) / 2) if agreement >= 0.5 else float("nan")


def closed_forms(counts: PeopleCounts, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make the closed forms of what people say, and of what is so.

    Parameters
    ----------
    counts : PeopleCounts
        Verdicts of a judge and labels of people.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        The judge's own rate; ``people_pass``, the share that one of these people, drawn at random,
        would pass (the mean label, by the closed form of the label design: people's disagreement is
        in its interval); ``prevalence`` of the labels that two people gave alike; and from how
        often two agree, right if people err on good and on bad items alike. Of labels of other
        items (``"separate"``) the judge's and that of labels alike only.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    >>> from bayesjudge.prevalence.people import simulate
    >>> table = simulate(random_seed=1)
    >>> counts = PeopleCounts.from_frame(table, truth=["ann1", "ann2"], calibration="random")
    >>> [one.method.id for one in closed_forms(counts)]
    ['judge', 'people-say', 'agreed-labels', 'symmetric-errors']
    """
    check_ci_prob(ci_prob)
    assumptions, cautions = PeopleErrors()._diagnosis(counts)
    return tuple(
        replace(
            _widened(form, counts),
            assumptions=assumptions,
            cautions=tuple(dict.fromkeys((*_kept(form), *cautions))),
            data=counts,
        )
        for form in _forms(counts, ci_prob)
    )


def _widened(estimate: Estimate, counts: PeopleCounts) -> Estimate:
    """Intervals of rows that share items, by the square root of the design effect."""
    if counts.design_effects is None:
        return estimate
    wider, quantities = np.sqrt(counts.design_effects), {}
    for name, quantity in estimate.quantities.items():
        low, high = (
            np.clip(quantity.value + wider * (end - quantity.value), 0, 1)
            for end in (quantity.low, quantity.high)
        )
        quantities[name] = replace(quantity, low=low, high=high)
    return replace(estimate, quantities=quantities)


def _kept(form: Estimate) -> tuple[Caution, ...]:
    """Cautions of a form that looks at some of the labels alone."""
    cautions = form.cautions if form.method == methods.PEOPLE_AGREE else ()
    return tuple(caution for caution in cautions if caution.id != "people-err")


def _forms(counts: PeopleCounts, ci_prob: float) -> Iterator[Estimate]:
    yield naive(counts.most, ci_prob=ci_prob)
    same = counts.design.same_items
    if same:
        mean_labels = _mean_labels(counts, ci_prob)
        yield _estimate(counts, (SAID, OVERALL_SAID), mean_labels, methods.PEOPLE_SAY, ci_prob)
    if np.all(counts.agreed.labelled_n):
        alike = exact(counts.agreed, ci_prob=ci_prob, interval="eti").only("prevalence", OVERALL)
        if all(np.isfinite(quantity.value).all() for quantity in alike.quantities.values()):
            yield replace(alike, method=methods.PEOPLE_AGREE)
    pairs, agree = counts.pairs
    if same and 2 * (agree + 1) > pairs + 2:
        rows = np.array([_symmetric(row, counts, ci_prob) for row in mean_labels])
        yield _estimate(counts, ("prevalence", OVERALL), rows, methods.PEOPLE_SYMMETRIC, ci_prob)


def _mean_labels(counts: PeopleCounts, ci_prob: float) -> Rows:
    """Mean label, low and high of each system; ``nan`` of one whose items have no label."""
    rows = []
    for group in range(len(counts.shares)):
        mine = counts.verdicts.group == group
        row = (np.nan, np.nan, np.nan)
        if np.isfinite(counts.said[mine]).any():
            forms = {
                form.method.id: form for form in of_one_label(counts.scores(group), ci_prob=ci_prob)
            }
            row = next(forms[name] for name in OF_MEAN if name in forms)["mean_score"]
        rows.append(row)
    return np.array(rows)


def _symmetric(row: Sequence[float], counts: PeopleCounts, ci_prob: float) -> tuple[float, ...]:
    """Delta method: what is said, and how often two people agree, both are estimates."""
    pairs, agree = counts.pairs
    # one pair more of either kind, so that no agreement is certain
    near = (agree + 1) / (pairs + 2)
    error = error_of(max(agree / pairs, near))
    value = (row[0] - error) / (1 - 2 * error)
    of_error = z_score(ci_prob) * np.sqrt(near * (1 - near) / (pairs + 2) / (2 * near - 1)) / 2
    moved = abs(2 * value - 1) * of_error
    low, high = (
        value + side * np.hypot(row[end] - row[0], moved) / (1 - 2 * error)
        for side, end in ((-1, 1), (1, 2))
    )
    clipped = np.clip([value, low, high], 0, 1)
    return (*map(float, clipped), float(value))


def _estimate(
    counts: PeopleCounts, names: tuple[str, str], rows: Rows, method: Method, ci_prob: float
) -> Estimate:
    """Of each system, and of strata their weighed sum, whose errors are independent."""
    coords = None if counts.systems is None else {counts.dim: counts.systems}
    quantities = {names[0]: Quantity.over(tuple(rows.T), coords)}
    if counts.adds_up:
        value = counts.shares @ rows[:, 0]
        off = [np.sqrt(counts.shares**2 @ (rows[:, end] - rows[:, 0]) ** 2) for end in (1, 2)]
        whole = (value, max(value - off[0], 0.0), min(value + off[1], 1.0))
        quantities = {names[1]: Quantity.of_rows({(): whole}, ()), **quantities}
    source = "Hui & Walter (1980), equal errors" if rows.shape[1] > 3 else "the mean label"
    return Estimate(quantities, method, ci_prob, source, "delta method")
