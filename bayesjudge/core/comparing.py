"""`compare`, `contrasts` and `ranking`, the same for the results of every module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.draws import tabulate_contrasts, tabulate_ranks
from bayesjudge.core.errors import InputError, check_by_name, check_ci_prob, expect
from bayesjudge.core.estimate import Estimate, pass_name_in
from bayesjudge.core.fit import Fit
from bayesjudge.core.side_by_side import compare_results

if TYPE_CHECKING:
    import pandas as pd


@singledispatch
def compare(data: Any, fit: Fit | None = None, *, ci_prob: float = 0.95, **asked: Any) -> Any:
    """Put every method side by side, with its assumptions and what contradicts them.

    Parameters
    ----------
    data : Counts, Items, ClassCounts, Votes, Shifts, Ratings or Scores
        The checked data of any module.
    fit : Fit, optional
        A sampled posterior of these data to add.
    ci_prob : float, default 0.95
        Probability of the intervals.
    **asked
        Of `Counts` and `ClassCounts` ``model``, that of the exact posterior (by default that of
        `fit`, or the default one); of `Counts` ``target``, which items the numbers are about; of
        `Ratings` ``of``, the definitions of performance, ``draws`` of the fit to use for them, and
        ``random_seed``.

    Returns
    -------
    pandas.DataFrame
        One row per method and entry: the columns of `bayesjudge.side_by_side`, and ``assumes`` (in
        words), ``suited`` (whether the declared label design grants the method) and
        ``contradicted_by`` (names of cautions). Of `Counts` also ``mc_errors``, by how many Monte
        Carlo errors the sampled mean is off the exact one of the same model (beyond 4 one is
        wrong). Closed forms that refuse are not there.

    Raises
    ------
    InputError
        If a setting is out of range, or a model does not suit the data.

    Examples
    --------
    >>> from bayesjudge.prevalence import Counts, compare
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> table = compare(counts).set_index("method")
    >>> table.loc[["Human labels only", "Rogan-Gladen"], "suited"].tolist()
    [False, True]
    """
    kind = type(data).__name__
    raise InputError("compare", [f"expected data of one of the modules, got {kind}"])


def of_closed_forms(
    closed_forms: Callable[..., tuple[Estimate, ...]], exact: Callable[..., Estimate] | None = None
) -> Callable[..., pd.DataFrame]:
    """`compare`, where closed forms, an exact posterior if there is one, and a fit stand together.

    The posterior's model is that of the fit, if none is given.
    """

    def compared(
        data: Any, fit: Fit | None = None, *, ci_prob: float = 0.95, **model: Any
    ) -> pd.DataFrame:
        estimates = [*closed_forms(data, ci_prob=ci_prob)]
        if exact is not None:
            model = model or ({} if fit is None else {"model": fit.spec})
            estimates.append(exact(data, **model, ci_prob=ci_prob))
        else:
            expect("compare", not model, f"{type(data).__name__} take no {[*model]}")
        return compare_results(*estimates, *([] if fit is None else [fit]), ci_prob=ci_prob)

    return compared


def contrasts(
    fit: Fit | Mapping[str, Fit], *, ci_prob: float = 0.95, simultaneous: bool = False
) -> pd.DataFrame:
    """Compare every two systems that were sampled: by how much, and how surely.

    Parameters
    ----------
    fit : Fit, or mapping of str to Fit
        Of two or more systems, strata or generators; or of one system each, by its name. These are
        taken as independent: of items that they share `paired_difference` tells more.
    ci_prob : float, default 0.95
        Probability of each equal-tailed interval; with ``simultaneous=True``, of all together.
    simultaneous : bool, default False
        Whether all intervals hold at once with probability `ci_prob`.

    Returns
    -------
    pandas.DataFrame
        One row per pair: ``first``, ``second``, the mean difference of what was estimated ``value``
        with ``low`` and ``high``, and ``probability`` that the first is better. What is common to
        both, such as a judge's rates or an item's difficulty, cancels in a difference: intervals of
        single systems that overlap do not say that the difference is unknown.

    Raises
    ------
    InputError
        If there are fewer than two systems, they are judges of the same items, their answers differ
        in kind, or `ci_prob` is out of range.
    """
    draws, names = _draws(fit, ci_prob)
    return tabulate_contrasts(draws, names, ci_prob, simultaneous)


def ranking(fit: Fit | Mapping[str, Fit], *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Rank the systems that were sampled, with how sure each rank is.

    Parameters
    ----------
    fit : Fit, or mapping of str to Fit
        Of two or more systems, strata or generators; or of one system each, by its name.
    ci_prob : float, default 0.95
        Probability of the equal-tailed intervals, of values and of ranks.

    Returns
    -------
    pandas.DataFrame
        Index ``system``, the best first; columns ``value``, ``low``, ``high`` (of what was
        estimated), ``rank`` (posterior mean; 1 is the best), ``rank_low``, ``rank_high`` and
        ``best``, the probability of being the best of them. `contrasts` has intervals of the
        differences.

    Raises
    ------
    InputError
        If there are fewer than two systems, they are judges of the same items, their answers differ
        in kind, or `ci_prob` is out of range.
    """
    draws, names = _draws(fit, ci_prob)
    table = tabulate_ranks(draws, names, ci_prob)
    table.attrs["pass_name"] = pass_name_in([fit] if isinstance(fit, Fit) else fit.values())
    return table


def _draws(fit: Fit | Mapping[str, Fit], ci_prob: float) -> tuple[np.ndarray, Sequence[str]]:
    """Draws of what answers, a column per system that has a value."""
    check_ci_prob(ci_prob)
    draws, names = _together(fit) if isinstance(fit, Fit) else _apart(fit)
    expect("systems", len(names) >= 2, "nothing-to-compare", what=list(names) or None)
    return draws, names


def _compared(fit: Fit) -> str:
    """What answers of each system: of strata, not of all of them together."""
    return "prevalence" if "prevalence" in fit.idata["posterior"] else fit.quantities[0]


def _together(fit: Fit) -> tuple[np.ndarray, list[str]]:
    quantity = _compared(fit)
    draws, known = fit.draws(quantity), with_value(fit)
    dims = list(map(str, fit.idata["posterior"][quantity].transpose("chain", "draw", ...).dims[2:]))
    same = "judge" in dims
    expect("systems", not same, "judges of the same items: there is one prevalence to compare")
    names = fit.idata["posterior"][dims[0]].to_numpy()[known].tolist() if len(dims) == 1 else []
    return draws[:, known] if names else draws, names


def with_value(fit: Fit) -> np.ndarray:
    """Which of a fit's systems have a value, not bounds alone."""
    quantity = _compared(fit)
    bounds = fit.spec._bounds(fit, 0.95, fit.target).get(quantity)
    if bounds is None:
        sizes = fit.idata["posterior"][quantity].shape[2:]
        return np.full(sizes[0] if sizes else 1, True)
    return ~(np.isnan(bounds) == [True, False, False]).all(axis=1)


def differences_of(fit: Fit, ci_prob: float) -> list[dict[str, Any]]:
    """Rows of `contrasts`, with their method: none if fewer than two systems have a value."""
    if with_value(fit).sum() < 2:
        return []
    rows = contrasts(fit, ci_prob=ci_prob).to_dict("records")
    return [{**row, "method": fit.method.title} for row in rows]


def _apart(fits: Mapping[str, Fit]) -> tuple[np.ndarray, list[str]]:
    """Independent draws, a column per system."""
    check_by_name(Fit, fit=fits)
    kinds = sorted({_compared(fit) for fit in fits.values()})
    expect("systems", len(kinds) < 2, f"systems have truths of different kinds: {kinds}")
    each = [fit.draws(_compared(fit)) for fit in fits.values()]
    fewest = min(map(len, each), default=0)
    rng = np.random.default_rng(0)  # draws of one seed are alike in more than their distribution
    return np.column_stack([rng.permutation(draws)[:fewest] for draws in each]), list(fits)
