"""Verdicts of a judge whose error rates are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.label_design import design_of
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    prevalence: float | Sequence[float] = 0.8,
    sensitivity: float | Sequence[float] = 0.9,
    specificity: float | Sequence[float] = 0.7,
    items: int = 1000,
    labelled: int = 200,
    calibration: str = "random",
    systems: Sequence[str] | None = None,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the table that `Counts.from_frame` reads.

    Parameters
    ----------
    prevalence, sensitivity, specificity : float or sequence of float
        True rates in [0, 1], or one per system.
    items : int, default 1000
        Items without a human label.
    labelled : int, default 200
        Items with one; half of each kind where labels are balanced.
    calibration : {"random", "by_truth", "separate", "by_verdict", "known_propensity"}
        How the labelled items are chosen. With the last, half of the items are hard (less often
        good) and labelled four times as often; `labelled` is then an expectation.
    systems : sequence of str, optional
        Names; the table then has a column ``system``, with as many items for each.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Columns ``verdict`` (0, 1) and ``truth`` (0, 1, empty), ``propensity`` where it is known,
        and ``system`` where there are systems; one row per item. With labels by verdict there may
        be fewer labelled items than asked for: as many as the judge passed and failed.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], a size is negative, or `calibration` is unknown.

    Examples
    --------
    >>> simulate(items=3, labelled=2, random_seed=1)["truth"].isna().sum()
    np.int64(3)
    """
    import pandas as pd

    names = [None] if systems is None else list(systems)
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    calibration = design_of(calibration, "simulate", "none").name
    with checking("prevalence.simulate") as require:
        require(items >= 1 and labelled >= 0, f"sizes: items={items}, labelled={labelled}")
        for name, value in rates.items():
            require(np.all((np.asarray(value) >= 0) & (np.asarray(value) <= 1)), f"{name}={value}")
            require(np.size(value) in (1, len(names)), f"{name} needs 1 or {len(names)} values")
    rng = rng_of(random_seed)
    each = {name: np.broadcast_to(value, len(names)) for name, value in rates.items()}
    tables = []
    for i, system in enumerate(names):
        true = (each["prevalence"][i], each["sensitivity"][i], each["specificity"][i])
        table = _table(true, items, labelled, calibration, rng)
        tables.append(table if system is None else table.assign(system=system))
    return pd.concat(tables, ignore_index=True)


def _table(
    rates: tuple[float, float, float],
    items: int,
    labelled: int,
    calibration: str,
    rng: np.random.Generator,
) -> pd.DataFrame:
    import pandas as pd

    prevalence, sensitivity, specificity = rates

    def judge(truth: np.ndarray) -> np.ndarray:
        return rng.binomial(1, np.where(truth == 1, sensitivity, 1 - specificity))

    size = items + labelled
    truth = rng.binomial(1, prevalence, size)
    if calibration == "known_propensity":
        hard = np.arange(size) % 2
        truth = rng.binomial(1, prevalence + (0.5 - hard) * min(prevalence, 1 - prevalence))
        propensity = np.minimum(np.where(hard, 1.6, 0.4) * labelled / size, 1)
        known = rng.random(size) < propensity
        table = pd.DataFrame({"verdict": judge(truth), "truth": np.where(known, truth, np.nan)})
        return table.assign(propensity=propensity)
    if calibration in ("by_truth", "separate"):
        truth[items:] = np.arange(labelled) % 2
    verdict = judge(truth)
    known = np.arange(items + labelled) >= items
    if calibration == "by_verdict":
        half = (labelled + 1) // 2, labelled // 2
        chosen = [np.flatnonzero(verdict == v)[:h] for v, h in zip((1, 0), half, strict=True)]
        known = np.isin(np.arange(items + labelled), np.concatenate(chosen))
    return pd.DataFrame({"verdict": verdict, "truth": np.where(known, truth, np.nan)})
