"""Posterior draws, one scalar at a time, and their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from bayesjudge.core.estimate import label

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def split_draws(
    posterior: xr.Dataset | xr.DataTree, names: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], list[tuple[Hashable, ...]], np.ndarray]]:
    """Walk over posterior variables: name, dims, coordinates of each entry, draws."""
    for name in names:
        variable = posterior[name].transpose(..., "chain", "draw")
        dims = tuple(map(str, variable.dims[:-2]))
        labels = list(product(*(variable[d].to_numpy().tolist() for d in dims)))
        values = variable.to_numpy()
        yield name, dims, labels, values.reshape(-1, *values.shape[-2:])


def labelled_draws(idata: xr.DataTree, names: Sequence[str]) -> list[tuple[str, np.ndarray]]:
    """Posterior variables one scalar at a time, named as ArviZ names them."""
    return [
        (label(name, where), values)
        for name, _, labels, draws in split_draws(idata["posterior"].to_dataset(), names)
        for where, values in zip(labels, draws, strict=True)
    ]


def summarise_ranks(draws: np.ndarray, ci_prob: float) -> dict[str, np.ndarray]:
    """Ranks of the columns, 1 the highest: mean, ends, and the probability of rank 1.

    A rank is a whole number: at least `ci_prob` of the draws lie between its ends, or on them.
    """
    tail = (1 - ci_prob) / 2
    ranks = 1 + np.argsort(np.argsort(-draws, axis=1), axis=1)
    low, high = (np.quantile(ranks, q, axis=0, method="inverted_cdf") for q in (tail, 1 - tail))
    return {
        "rank": ranks.mean(axis=0),
        "rank_low": low.astype(int),
        "rank_high": high.astype(int),
        "best": (ranks == 1).mean(axis=0),
    }


def tabulate_contrasts(
    draws: np.ndarray, names: Sequence[str], ci_prob: float, simultaneous: bool = False
) -> pd.DataFrame:
    """Differences of every two columns, and the probability that the first is the higher one.

    Intervals are equal-tailed, or bands that hold all differences at once.
    """
    import pandas as pd

    pairs = list(combinations(range(len(names)), 2))
    gaps = np.column_stack([draws[:, i] - draws[:, j] for i, j in pairs])
    mean, ends = gaps.mean(axis=0), [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    if simultaneous:
        sd = gaps.std(axis=0)
        half = np.quantile(np.abs((gaps - mean) / sd).max(axis=1), ci_prob) * sd
        low, high = mean - half, mean + half
    else:
        low, high = np.quantile(gaps, ends, axis=0)
    return pd.DataFrame(
        {
            "first": [names[i] for i, _ in pairs],
            "second": [names[j] for _, j in pairs],
            "value": mean,
            "low": low,
            "high": high,
            "probability": (gaps > 0).mean(axis=0),
        }
    )


def tabulate_ranks(draws: np.ndarray, names: Sequence[str], ci_prob: float) -> pd.DataFrame:
    """Values and ranks of the columns, the highest first, with equal-tailed intervals."""
    import pandas as pd

    low, high = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    table = {"value": draws.mean(axis=0), "low": low, "high": high}
    table |= summarise_ranks(draws, ci_prob)
    ranked = pd.DataFrame(table, index=pd.Index(names, name="system"))
    return ranked.sort_values("value", ascending=False)


def around(value: float, draws: np.ndarray, ci_prob: float) -> tuple[float, float, float]:
    """A value, and the equal-tailed interval of draws, moved to hold it."""
    low, high = summarise_interval(draws, ci_prob, "eti")
    return value, min(low, value), max(high, value)


def chances_of_best(
    draws: np.ndarray, weight: np.ndarray | None = None, tolerance: float = 0.0
) -> np.ndarray:
    """Share of draws, along the first axis, in which each along the last is the highest.

    Those that tie share a draw.
    """
    best = draws >= draws.max(axis=-1, keepdims=True) - tolerance
    return np.average(best / best.sum(axis=-1, keepdims=True), axis=0, weights=weight)


def summarise_interval(draws: np.ndarray, ci_prob: float, interval: str) -> tuple[float, float]:
    """Interval of a set of draws."""
    flat = np.sort(np.ravel(draws))
    if interval == "eti":
        tail = (1 - ci_prob) / 2
        low, high = np.quantile(flat, [tail, 1 - tail])
        return float(low), float(high)
    held = int(np.ceil(ci_prob * flat.size))
    widths = flat[held - 1 :] - flat[: flat.size - held + 1]
    start = int(widths.argmin())
    return float(flat[start]), float(flat[start + held - 1])
