"""Scores of a judge whose shifts and repeat noise are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.bias._pairing import require_scale
from bayesjudge.core.errors import check_several, checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    mean_shift: float | Sequence[float] = (3.0, 0.0),
    item_spread: float | Sequence[float] = (4.0, 2.0),
    noise: float = 3.0,
    perturbations: Sequence[str] = ("format", "order"),
    items: int = 100,
    reruns: int = 1,
    scale: tuple[float, float] = (0.0, 100.0),
    step: float | None = 1.0,
    judges: Sequence[str] | None = None,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `Shifts.from_frame` reads.

    Parameters
    ----------
    mean_shift, item_spread : float or sequence of float
        Mean shift of each perturbation, and standard deviation of an item's own shift about it, in
        score points.
    noise : float, default 3
        Standard deviation of a score when the same input is judged again, in score points.
    perturbations : sequence of str
        Names.
    items : int, default 100
        Items, each judged once a variant.
    reruns : int, default 1
        Times that the baseline is judged again: variants ``rerun``, ``rerun2``, …
    scale : tuple of float
        Lowest and highest possible score; scores are cut there.
    step : float, optional
        Scores are rounded to multiples of it; None leaves them as they are.
    judges : sequence of str, optional
        Names; the table then has a column ``judge``, with the same shifts for each.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``variant`` (``baseline`` and the others), ``score``, and ``judge`` where
        there are judges.

    Raises
    ------
    InputError
        If a size is negative or lengths differ.

    Examples
    --------
    >>> simulate(items=2, perturbations=["bold"], mean_shift=1, item_spread=0, random_seed=1).shape
    (6, 3)
    """
    import pandas as pd

    size = len(perturbations)
    with checking("bias.simulate") as require:
        for name, value in {"mean_shift": mean_shift, "item_spread": item_spread}.items():
            require(np.size(value) in (1, size), f"{name} needs 1 or {size} values")
        require(np.all(np.asarray(item_spread) >= 0) and noise >= 0, "spreads must be 0 or more")
        require_scale(scale, require)
        require(step is None or step > 0, "must be positive", step=step)
        require(items >= 1 and reruns >= 0 and size >= 1, f"sizes: {items=}, {reruns=}, {size=}")
    rng = rng_of(random_seed)
    again = [f"rerun{i + 1 if i else ''}" for i in range(reruns)]
    variants = ["baseline", *again, *perturbations]
    shift = np.concatenate([np.zeros(1 + reruns), np.broadcast_to(mean_shift, size)])
    spread = np.concatenate([np.zeros(1 + reruns), np.broadcast_to(item_spread, size)])
    low, high = scale
    tables = []
    names: list[str | None] = [None] if judges is None else [*check_several(judges=judges)]
    for judge in names:
        quality = rng.normal(low + 0.55 * (high - low), 0.12 * (high - low), size=(items, 1))
        moved = rng.normal(shift, spread, size=(items, len(variants)))
        score = quality + moved + rng.normal(0, noise, size=moved.shape)
        if step is not None:
            score = np.round(score / step) * step
        table = pd.DataFrame(np.clip(score, low, high), columns=variants).rename_axis("item")
        long = table.reset_index().melt("item", var_name="variant", value_name="score")
        tables.append(long if judge is None else long.assign(judge=judge))
    return pd.concat(tables, ignore_index=True)
