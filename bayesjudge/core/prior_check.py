"""Prior-data conflict: what was observed beside what the prior expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.estimate import Caution, label
from bayesjudge.core.model import BayesianModel, model_of
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd

#: A table of observations from the prior raises the caution this often, at most.
CONFLICT_P = 0.01
#: Tables that the priors are asked for at first.
FIRST = 500
COLUMNS = ("statistic", "observed", "low", "high", "p_value", "surprising")
#: A statistic's name with a dimension and the coordinate there, both empty if it has none; or with
#: several dimensions and coordinates.
Key = tuple[str, str | tuple[str, ...], str | tuple[str, ...]]


def check_prior(
    data: Any, model: BayesianModel | None = None, *, random_seed: Any = None
) -> pd.DataFrame:
    """Compare the data with what the priors of a model expect of them: prior-data conflict.

    Each model has statistics that its priors are about: shares and pass rates of verdicts, labels
    and classes (`bayesjudge.prevalence`), and how often two verdicts on an item agree
    (`bayesjudge.prevalence.items`, `bayesjudge.panel`); how often a judge is right on labelled
    items (`bayesjudge.panel`); the mean of the scores, and how they scatter between items, judges
    and repeats (`bayesjudge.repeats`); mean, scatter and repeat noise of the shifts
    (`bayesjudge.bias`); ties, the first place and gaps between systems (`bayesjudge.leaderboard`);
    shares of the options, and how often two ratings of an item agree
    (`bayesjudge.ratings`).

    Parameters
    ----------
    data : Counts, Votes, Scores, Shifts, Ratings or another data class
        What was observed. What is drawn has its sizes, and misses what it misses.
    model : BayesianModel, optional
        As for the module's ``fit``.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        One row per statistic (and system, judge, bin …): the ``observed`` value, the prior's 95 %
        range ``low`` to ``high``, ``p_value``: how often the prior predictive distribution is as
        far out, on both sides, and ``surprising``: p below 0.01 divided by the number of rows, so
        that one table in a hundred from the priors has a surprising row, at most. ``fit`` looks at
        the same rows if its model states priors of one's own, and raises the caution
        ``prior-data-conflict``.

    Raises
    ------
    InputError
        If the model does not suit the data, or there is nothing to compare.

    Examples
    --------
    >>> from bayesjudge import BetaPrior, prevalence
    >>> vendor = BetaPrior.worth(0.99, 1000)
    >>> counts = prevalence.Counts(1000, 620, 100, 70, 100, 60, calibration="by_truth")
    >>> model = prevalence.ErrorRates(sensitivity=vendor, specificity=vendor)
    >>> check_prior(counts, model)["surprising"].tolist()
    [True, True, False]
    """
    chosen = model_of(data, model, "check_prior")
    return prior_table(chosen, data, rng_of(random_seed))


def conflicts(model: BayesianModel, data: Any) -> tuple[Caution, ...]:
    """Make the caution ``prior-data-conflict`` of a fit, for priors that somebody stated."""
    if not model._states_priors():
        return ()
    return prior_data_conflict(prior_table(model, data, np.random.default_rng(0), stated=True))


def conflicts_of_parts(parts: Mapping[str, tuple[BayesianModel, Any]]) -> tuple[Caution, ...]:
    """Make that caution of systems with data and a model each: they share one false-alarm rate."""
    stated = {name: part for name, part in parts.items() if part[0]._states_priors()}
    if not stated:
        return ()
    import pandas as pd

    tables = [
        prior_table(model, data, np.random.default_rng(0), stated=True).assign(system=name)
        for name, (model, data) in stated.items()
    ]
    every = pd.concat(tables)
    several = every if len(parts) > 1 else every.drop(columns="system")
    surprising = every["p_value"] < CONFLICT_P / max(len(every), 1)
    return prior_data_conflict(several.assign(surprising=surprising).reset_index(drop=True))


@singledispatch
def prior_table(
    model: Any, data: Any, rng: np.random.Generator, *, stated: bool = False
) -> pd.DataFrame:
    """Table of `check_prior`: of the shares of all binomial counts, if a model registers no other.

    If `stated`, statistics may be left out that only priors which nobody stated are about.
    """
    from bayesjudge.core.predictive import observed_shares

    return compare_with_prior(*observed_shares(model._build(data), rng))


def count_in_draws(
    observed: Mapping[Key, float], draw: Callable[[int], Mapping[Key, np.ndarray]]
) -> pd.DataFrame:
    """Tabulate statistics whose p-values are counted in so many tables drawn from the priors.

    More are drawn if a statistic lies at the end of the first ones: p-values counted in n draws
    are not below 2 / (n + 1).
    """
    drawn = draw(FIRST)
    table = compare_with_prior(observed, drawn)
    needed = ceil(2.1 * len(table) / CONFLICT_P)
    if needed > FIRST and (table["p_value"] < 5 / FIRST).any():
        more = draw(needed - FIRST)
        both = {key: np.concatenate([drawn[key], more[key]]) for key in observed}
        table = compare_with_prior(observed, both)
    return table


def compare_with_prior(
    observed: Mapping[Key, float],
    drawn: Mapping[Key, np.ndarray],
    p_values: Mapping[Key, float] | None = None,
) -> pd.DataFrame:
    """Tabulate each statistic with its prior predictive 95 % range and two-sided p-value.

    p-values are counted in the draws unless they are known better.
    """
    import pandas as pd

    rows = []
    for key, value in observed.items():
        draws = drawn[key][np.isfinite(drawn[key])]
        low, high = np.quantile(draws, [0.025, 0.975])
        reached = [1 + np.sum(draws <= value), 1 + np.sum(draws >= value)]
        counted = min(1.0, 2 * min(reached) / (1 + draws.size))
        p_value = counted if p_values is None else p_values[key]
        name, dims, where = key
        at = dict(zip(_several(dims), _several(where), strict=True))
        numbers = {"observed": value, "low": low, "high": high, "p_value": p_value}
        rows.append({"statistic": name, **at, **numbers})
    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=COLUMNS[:-1], dtype=float)
    table["surprising"] = table["p_value"] < CONFLICT_P / max(len(table), 1)
    every = list(dict.fromkeys(dim for _, dims, _ in observed for dim in _several(dims)))
    table[every] = table[every].fillna("")
    return table


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return names if isinstance(names, tuple) else (names,) if names else ()


def prior_data_conflict(table: pd.DataFrame) -> tuple[Caution, ...]:
    """Make the caution of a table of `compare_with_prior`, if a row of it is surprising.

    The rows share one false-alarm rate, `CONFLICT_P` (Bonferroni).
    """
    rows = table[table["surprising"]]
    if rows.empty:
        return ()
    worst = rows.loc[rows["p_value"].idxmin()]
    dims = [c for c in table.columns[1:] if c not in COLUMNS]
    named = label(str(worst["statistic"]), tuple(str(worst[d]) for d in dims if worst[d]))
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return (
        Caution.of(
            "prior-data-conflict",
            named=named,
            observed=worst["observed"],
            low=worst["low"],
            high=worst["high"],
            p_value=worst["p_value"],
            more=more,
        ),
    )
