"""Noise by level can have several maxima: chains that sit at different ones, and the better one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit
from bayesjudge.repeats.loo import log_likelihood

if TYPE_CHECKING:
    import xarray as xr

#: Chains whose means lie further apart than so many of their standard deviations do not mix.
APART = 4.0
#: Draws of each chain by which maxima are compared.
COMPARED = 10


def several_maxima(fit: Fit) -> tuple[Caution, ...]:
    """Caution that chains sit at maxima of their own, and which of them fits the scores better."""
    after = fit.idata["posterior"].to_dataset()
    if "noise_slope" not in after:
        return ()
    groups = chains_apart(after)
    if len(groups) < 2:
        return ()
    maxima = []
    for chains in groups:
        part = after.isel(chain=chains)
        logs = log_likelihood(fit, chains=chains, kept=COMPARED)["log_likelihood"]["score"]
        means = {name: float(part[name].mean()) for name in ("noise_slope", "noise_curve")}
        numbers = ", ".join(str(int(c) + 1) for c in chains)
        maxima.append((float(logs.sum("item").mean()), numbers, means))
    maxima.sort(key=lambda maximum: maximum[0], reverse=True)
    each = "; ".join(
        f"chains {numbers}: slope {means['noise_slope']:.2f}, curve {means['noise_curve']:.2f}, "
        f"log-likelihood {log:,.1f}"
        for log, numbers, means in maxima
    )
    return (Caution.of("several-maxima", maxima=len(groups), each=each),)


def chains_apart(draws: xr.Dataset) -> list[np.ndarray]:
    """Groups of chains that agree on both coefficients of the noise."""
    groups = [np.arange(draws.sizes["chain"])]
    for name in ("noise_slope", "noise_curve"):
        values = draws[name].transpose("chain", "draw").to_numpy()
        groups = [part for group in groups for part in _split(group, values[group])]
    return groups


def _split(group: np.ndarray, values: np.ndarray) -> Iterator[np.ndarray]:
    """Cut chains in order of their means where the next mean is far from the last."""
    means, sd = values.mean(axis=1), values.std(axis=1)
    order = np.argsort(means)
    gaps = np.diff(means[order]) > APART * np.maximum(sd[order][1:], sd[order][:-1])
    for part in np.split(order, np.flatnonzero(gaps) + 1):
        yield np.sort(group[part])
