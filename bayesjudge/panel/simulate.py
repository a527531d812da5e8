"""Votes of judges whose error rates are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, logit

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    prevalence: Sequence[float] = (0.9, 0.75, 0.6),
    sensitivity: Sequence[float] = (0.95, 0.9, 0.85, 0.8),
    specificity: Sequence[float] = (0.6, 0.7, 0.8, 0.9),
    items: int = 300,
    labelled: int | Sequence[int] = 100,
    missing: float = 0.05,
    shared_effect: float | tuple[float, float] = 0.0,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `Votes.from_frame` reads.

    Parameters
    ----------
    prevalence : sequence of float
        True share of good outputs, one per generator.
    sensitivity, specificity : sequence of float
        True rates, one per judge, averaged over items.
    items : int, default 300
        Outputs of each generator.
    labelled : int or sequence of int, default 100
        How many of them carry the truth, a random sample; one number or one per generator.
    missing : float, default 0.05
        Share of votes that are missing, whatever the truth.
    shared_effect : float or tuple of float, default 0
        Standard deviation, on the logit scale, of what all judges have in common on an item; 0
        makes their errors independent. A pair gives one for good and one for bad items.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``generator`` ("g1", …), ``judge`` ("a", …), ``vote`` (0, 1, empty) and
        ``truth`` (0, 1, empty); one row per item and judge.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], or sizes do not fit.

    Examples
    --------
    >>> simulate(items=2, labelled=1, random_seed=1).shape
    (24, 5)
    """
    import pandas as pd

    g, s1, s0 = (np.asarray(x, float) for x in (prevalence, sensitivity, specificity))
    with checking("panel.simulate") as require:
        for name, value in (("prevalence", g), ("sensitivity", s1), ("specificity", s0)):
            require(np.all((value >= 0) & (value <= 1)), f"{name}={value.tolist()}: not in [0, 1]")
        require(g.size and s1.size, "a generator and a judge are needed, at least")
        require(len(s1) == len(s0), f"{len(s1)} sensitivities for {len(s0)} specificities")
        require(0 <= missing < 1, f"missing={missing}, expected a share below 1")
        require(np.all(np.asarray(labelled) <= items), f"labelled={labelled} of items={items}")
        require(
            np.all(np.asarray(shared_effect) >= 0), f"shared_effect={shared_effect} is negative"
        )
    rng = rng_of(random_seed)
    spread = np.broadcast_to(shared_effect, 2)
    level = [_intercepts(s1, spread[0]), _intercepts(1 - s0, spread[1])]
    tables = []
    for i, (share, known) in enumerate(zip(g, np.broadcast_to(labelled, len(g)), strict=True)):
        truth = rng.random(items) < share
        effect = rng.standard_normal(items)[:, None] * np.where(truth, *spread)[:, None]
        chance = expit(np.where(truth[:, None], *level) + effect)
        vote = (rng.random(chance.shape) < chance).astype(float)
        vote[rng.random(chance.shape) < missing] = np.nan
        seen = np.where(np.arange(items) < known, truth.astype(float), np.nan)
        tables.append(_long(vote, seen, f"g{i + 1}"))
    return pd.concat(tables, ignore_index=True)


def _long(vote: np.ndarray, truth: np.ndarray, generator: str) -> pd.DataFrame:
    import pandas as pd

    items, judges = vote.shape
    return pd.DataFrame(
        {
            "item": np.repeat(np.arange(items), judges),
            "generator": generator,
            "judge": np.tile([judge_name(j) for j in range(judges)], items),
            "vote": vote.ravel(),
            "truth": np.repeat(truth, judges),
        }
    )


def judge_name(index: int) -> str:
    """Name judges a, b, …, z, j27, j28 and so on."""
    return chr(ord("a") + index) if index < 26 else f"j{index + 1}"


def _intercepts(rates: np.ndarray, spread: float) -> np.ndarray:
    """Logit levels at which rates averaged over the shared effect are `rates`, by bisection."""
    if spread == 0:
        return logit(rates)
    nodes, weights = hermegauss(61)
    weights = weights / weights.sum()
    low, high = np.full(rates.shape, -40.0), np.full(rates.shape, 40.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = expit(middle[:, None] + spread * nodes) @ weights > rates
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2
