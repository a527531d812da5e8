"""Every method side by side; systems on the same items compared and ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.draws import tabulate_contrasts, tabulate_ranks
from bayesjudge.core.errors import UninformativeJudgeError, check_ci_prob, checking
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import compare_results
from bayesjudge.prevalence._bounds import with_value
from bayesjudge.prevalence.items import closed_form
from bayesjudge.prevalence.items.data import Items
from bayesjudge.prevalence.items.exact import exact

if TYPE_CHECKING:
    import pandas as pd


#: The estimators that part 1 has too.
EVERY = ("naive", "human_only", "difference", "post_stratified", "rogan_gladen")


def closed_forms(
    items: Items, *, ci_prob: float = 0.95, mismatched: bool = False
) -> tuple[Estimate, ...]:
    """Make the closed forms that suit the declared label design, the naive one first.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    mismatched : bool, default False
        Make all of them; those that the design does not support have a caution ``design-mismatch``.

    Returns
    -------
    tuple of Estimate
        With the paired differences last, if there are several systems and labels that tell them. A
        closed form that refuses is left out, and its reason is a caution of the first estimate.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    made, refused = [], []
    for name in EVERY if mismatched else items.design.closed_forms:
        try:
            made.append(getattr(closed_form, str(name))(items, ci_prob=ci_prob))
        except UninformativeJudgeError as error:
            refused.append(Caution("no-better-than-chance", error.told))
    if len(items.systems) > 1 and "prevalence" in items.design.identifies:
        made.append(closed_form.paired_difference(items, ci_prob=ci_prob))
    made[0] = replace(made[0], cautions=(*made[0].cautions, *refused))
    return tuple(made)


def compare(items: Items, fit: Fit | None = None, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Put every estimator of the prevalence side by side, with its assumptions.

    Parameters
    ----------
    items : Items
        Verdicts and labels.
    fit : Fit, optional
        A sampled posterior to add.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    pandas.DataFrame
        As `bayesjudge.side_by_side`, with columns ``assumes``, ``suited`` and ``contradicted_by``.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    made: list[Any] = [one for one in closed_forms(items, ci_prob=ci_prob) if "prevalence" in one]
    made.append(exact(items, ci_prob=ci_prob))
    if fit is not None:
        made.append(fit.estimate(ci_prob=ci_prob))
    return compare_results(*(one.only("prevalence") for one in made), ci_prob=ci_prob)


def contrasts(fit: Fit, *, ci_prob: float = 0.95, simultaneous: bool = False) -> pd.DataFrame:
    """Compare every two systems on the items that they share: by how much, and how surely.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.items.fit`, of two or more systems.
    ci_prob : float, default 0.95
        Probability of each interval; with ``simultaneous=True``, of all together.
    simultaneous : bool, default False
        Whether all intervals hold at once with probability `ci_prob`.

    Returns
    -------
    pandas.DataFrame
        One row a pair: ``first``, ``second``, the mean difference of their prevalences ``value``
        with ``low`` and ``high``, and ``probability`` that the first is better. Items that are hard
        for both systems cancel in it.

    Raises
    ------
    InputError
        If there are fewer than two systems, or `ci_prob` is out of range.
    """
    draws, names = _draws(fit, ci_prob)
    return tabulate_contrasts(draws, names, ci_prob, simultaneous)


def ranking(fit: Fit, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Rank the systems, with how sure each rank is.

    Parameters
    ----------
    fit : Fit
        From `bayesjudge.prevalence.items.fit`, of two or more systems.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals, of prevalences and of ranks.

    Returns
    -------
    pandas.DataFrame
        Index ``system``, the best first; columns ``value``, ``low``, ``high`` (prevalence),
        ``rank`` (posterior mean; 1 is the best), ``rank_low``, ``rank_high`` and ``best``, the
        probability of being the best of them. `contrasts` has simultaneous intervals of the
        differences.

    Raises
    ------
    InputError
        If there are fewer than two systems, or `ci_prob` is out of range.
    """
    draws, names = _draws(fit, ci_prob)
    return tabulate_ranks(draws, names, ci_prob)


def _draws(fit: Fit, ci_prob: float) -> tuple[np.ndarray, list[str]]:
    check_ci_prob(ci_prob)
    known = with_value(fit)
    names = [name for name, one in zip(fit.data.systems, known, strict=True) if one]
    with checking("systems") as require:
        require(len(names) >= 2, f"nothing to compare: the fit has systems {names}")
    return fit.draws("prevalence")[:, known], names
