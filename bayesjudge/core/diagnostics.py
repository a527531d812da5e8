"""The diagnostics gate: did the chains converge, and are there enough draws?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.convergence import FEWEST, ess_bulk, ess_tail, mcse_mean, r_hat
from bayesjudge.core.draws import labelled_draws
from bayesjudge.core.estimate import Caution

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: R-hat above this: the chains disagree (Vehtari et al. 2021).
MAX_R_HAT = 1.01
#: Effective draws of the bulk and of the tails below this: quantiles are not to be trusted.
MIN_ESS = 400
#: More divergent transitions than this share: the sampler does not follow the posterior's shape.
#: A few are normal where a posterior leans on the edge of its range.
MAX_DIVERGENT = 0.01
#: Bayesian fraction of missing information below this: energy is not explored (Betancourt 2016).
MIN_BFMI = 0.3
#: Probability that the mean that is furthest from the exact one is too far by chance: beyond 4
#: Monte Carlo errors, if there is one mean.
CHANCE = 6.3e-5


def diagnose(idata: xr.DataTree, quantities: tuple[str, ...]) -> pd.DataFrame:
    """Tabulate convergence, effective sample sizes and Monte Carlo errors."""
    import pandas as pd

    rows = {}
    for name, values in labelled_draws(idata, quantities):
        if np.ptp(values) == 0:  # fixed by the data: nothing to mix
            rows[name] = (1.0, float(values.size), float(values.size), 0.0)
            continue
        rows[name] = (
            r_hat(values),
            ess_bulk(values),
            ess_tail(values),
            mcse_mean(values),
        )
    columns = ["r_hat", "ess_bulk", "ess_tail", "mcse_mean"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("quantity")


def gate(idata: xr.DataTree, quantities: tuple[str, ...]) -> tuple[Caution, ...]:
    """Look at R-hat, effective sample sizes, divergences and energy."""
    draws = idata["sample_stats"].sizes["draw"]
    if draws < FEWEST:
        return (Caution.of("not-converged", "few-draws", draws=draws),)
    table = diagnose(idata, quantities)
    problems = []
    worst = table["r_hat"].idxmax() if table["r_hat"].notna().any() else None
    if worst is not None and table.loc[worst, "r_hat"] > MAX_R_HAT:
        problems.append(f"R-hat of {worst} is {table.loc[worst, 'r_hat']:.3f}, above {MAX_R_HAT}")
    for column, part in (("ess_bulk", "centre"), ("ess_tail", "tails")):
        least = table[column].idxmin()
        if table.loc[least, column] < MIN_ESS:
            problems.append(
                f"{least} has {table.loc[least, column]:.0f} effective draws in the {part}, "
                f"below {MIN_ESS}"
            )
    stats = idata["sample_stats"]
    divergent = float(stats["diverging"].mean())
    if divergent > MAX_DIVERGENT:
        problems.append(f"{divergent:.1%} of the transitions diverged, above {MAX_DIVERGENT:.0%}")
    energy = stats["energy"].transpose("chain", "draw").to_numpy()
    bfmi = np.square(np.diff(energy, axis=1)).mean(axis=1) / energy.var(axis=1)
    if bfmi.min() < MIN_BFMI:
        problems.append(f"the energy is badly explored (BFMI {bfmi.min():.2f}, below {MIN_BFMI})")
    if not problems:
        return ()
    return (Caution.of("not-converged", "chains", problems="; ".join(problems)),)


def against_exact(
    idata: xr.DataTree, means: Mapping[str, np.ndarray]
) -> tuple[str, tuple[Caution, ...]]:
    """Hold sampled means against exact ones: a line for the report, and a caution.

    The more means there are, the further the worst of them may be off by chance.
    """
    from scipy.special import ndtri

    offs = {}
    for quantity, exact in means.items():
        drawn = labelled_draws(idata, (quantity,))
        for (name, values), mean in zip(drawn, np.ravel(exact), strict=True):
            error = mcse_mean(values)
            if np.isfinite(mean) and error > 0:
                offs[name] = abs(float(values.mean() - mean)) / error
    if not offs:
        return "", ()
    worst, count = max(offs, key=lambda name: offs[name]), len(offs)
    allowed = -float(ndtri(CHANCE / 2 / count))
    line = f"the mean of {worst} is {offs[worst]:.1f} Monte Carlo errors from the exact one"
    line += f", the furthest of {count}" if count > 1 else ""
    if offs[worst] <= allowed:
        return line, ()
    return line, (Caution.of("off-exact", line=line, allowed=allowed),)
