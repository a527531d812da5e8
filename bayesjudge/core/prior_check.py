"""Prior-data conflict: what was observed beside what the prior expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.estimate import Caution, label

if TYPE_CHECKING:
    import pandas as pd

#: A table of observations from the prior raises the caution this often, at most.
CONFLICT_P = 0.01
COLUMNS = ("statistic", "observed", "low", "high", "p_value", "surprising")
#: A statistic's name with a dimension and the coordinate there, both empty if it has none; or with
#: several dimensions and coordinates.
Key = tuple[str, str | tuple[str, ...], str | tuple[str, ...]]


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
        found = {"observed": value, "low": low, "high": high, "p_value": p_value}
        rows.append({"statistic": name, **at, **found})
    table = pd.DataFrame(rows)
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
    dims = [
        c
        for c in table.columns[1:]
        if c not in ("observed", "low", "high", "p_value", "surprising")
    ]
    named = label(str(worst["statistic"]), tuple(str(worst[d]) for d in dims if worst[d]))
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return (
        Caution(
            "prior-data-conflict",
            f"{named} is {worst['observed']:.3g}, where the priors expect {worst['low']:.3g} to "
            f"{worst['high']:.3g} (p = {worst['p_value']:.1e}){more}: priors and data disagree, "
            "and the numbers are a compromise between them; check both, or take weaker priors",
        ),
    )
