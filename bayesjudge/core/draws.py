"""Posterior draws, one scalar at a time: their labels and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def labelled_draws(idata: xr.DataTree, names: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Split posterior variables into scalars, labelled as ArviZ labels them.

    Parameters
    ----------
    idata : xarray.DataTree
        Has a group ``posterior``.
    names : tuple of str
        Variables of it.

    Returns
    -------
    list of (str, numpy.ndarray)
        ``name[label, …]`` and draws of shape (chain, draw).
    """
    found = []
    for name in names:
        variable = idata["posterior"][name].transpose("chain", "draw", ...)
        values = variable.to_numpy()
        dims = variable.dims[2:]
        for index in np.ndindex(values.shape[2:]):
            where = ", ".join(
                str(variable[d].to_numpy()[i]) for d, i in zip(dims, index, strict=True)
            )
            found.append((f"{name}[{where}]" if dims else name, values[(..., *index)]))
    return found


def summarise_interval(draws: np.ndarray, ci_prob: float, interval: str) -> tuple[float, float]:
    """Interval of a set of draws.

    Parameters
    ----------
    draws : numpy.ndarray
        Of any shape.
    ci_prob : float
        Probability that it should hold.
    interval : {"eti", "hdi"}
        Equal-tailed or highest density.

    Returns
    -------
    tuple of float
        Low and high.
    """
    flat = np.sort(np.ravel(draws))
    if interval == "eti":
        tail = (1 - ci_prob) / 2
        low, high = np.quantile(flat, [tail, 1 - tail])
        return float(low), float(high)
    held = int(np.ceil(ci_prob * flat.size))
    widths = flat[held - 1 :] - flat[: flat.size - held + 1]
    start = int(widths.argmin())
    return float(flat[start]), float(flat[start + held - 1])
