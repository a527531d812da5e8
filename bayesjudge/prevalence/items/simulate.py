"""Logs whose rows share items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import betaincinv, expit, ndtr

from bayesjudge.core.errors import checking
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    import pandas as pd


def simulate(
    *,
    systems: Mapping[str, float] | float | None = None,
    items: int = 200,
    repeats: int = 3,
    of: Literal["system", "judge"] = "system",
    labelled: int = 60,
    label: Literal["item", "row"] = "item",
    icc: float = 1 / 3,
    correlation: float = 1.0,
    sensitivity: float = 0.9,
    specificity: float = 0.7,
    leniency: float = 0.0,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Draw the log that `Items.from_frame` reads; labels are a random sample.

    An item's success rates are Beta distributed; what makes it easy for one system makes it easy
    for the others (Gaussian copula).

    Parameters
    ----------
    systems : mapping of str to float, or float, optional
        True prevalence by system, 0.8 of "a" and 0.7 of "b" by default; a number for a single
        system without a name.
    items, repeats : int
        Items, 200 by default, and rows of each system and item: 3 by default.
    of : {"system", "judge"}
        What repeats: outputs of the system, or the judge's verdicts on one output.
    labelled : int, default 60
        Items, or rows, with a human label.
    label : {"item", "row"}
        Whether all rows of a labelled item have a label, or single rows (of all systems).
    icc : float, default 1/3
        Correlation of the truths of two outputs of one system for one item, in [0, 1).
    correlation : float, default 1
        Correlation of the systems' (normal) item effects.
    sensitivity, specificity : float
        Of the judge: 0.9 and 0.7 by default.
    leniency : float, default 0
        Standard deviation of the judge's leniency on an item, in logits.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same log.

    Returns
    -------
    pandas.DataFrame
        Columns ``item``, ``repeat``, ``verdict``, ``truth`` (empty without a label) and, of named
        systems, ``system``.

    Raises
    ------
    InputError
        If a share is out of range or more is to be labelled than there is.
    """
    import pandas as pd

    systems = {"a": 0.8, "b": 0.7} if systems is None else systems
    named = isinstance(systems, Mapping)
    rates = dict(systems) if isinstance(systems, Mapping) else {"system": systems}
    with checking("prevalence.items.simulate") as require:
        shares = {**rates, "sensitivity": sensitivity, "specificity": specificity}
        for name, value in shares.items():
            require(0 <= value <= 1, "must lie in [0, 1]", **{name: value})
        require(0 <= icc < 1, "must lie in [0, 1)", icc=icc)
        most = items if label == "item" else items * repeats
        require(0 < labelled <= most, f"must be 1 to {most}", labelled=labelled)
    rng = rng_of(random_seed)
    shared = rng.standard_normal((items, 1))
    luck = rng.standard_normal((items, len(rates)))
    effect = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * luck
    theta = np.array(list(rates.values()))
    success = _success(effect, theta, icc)[:, :, None]
    outputs = rng.random((items, len(rates), repeats if of == "system" else 1)) < success
    truth = np.broadcast_to(outputs, (items, len(rates), repeats))
    lean = leniency * rng.standard_normal((items, 1, 1))
    hit, wrong = (_moved(rate, lean, leniency) for rate in (sensitivity, 1 - specificity))
    verdict = rng.random(truth.shape) < np.where(truth, hit, wrong)
    chosen = np.zeros((items, repeats), bool)
    if label == "item":
        chosen[rng.permutation(items)[:labelled]] = True
    else:
        chosen.ravel()[rng.permutation(items * repeats)[:labelled]] = True
    i, s, r = np.indices(truth.shape)
    known = np.where(np.broadcast_to(chosen[:, None, :], truth.shape), truth, np.nan)
    log = {"item": i, "system": s, "repeat": r, "verdict": verdict.astype(int), "truth": known}
    table = pd.DataFrame({name: np.asarray(column).ravel() for name, column in log.items()})
    table["system"] = np.array(list(rates), object)[table["system"]]
    return table if named else table.drop(columns="system")


def _success(effect: np.ndarray, theta: np.ndarray, icc: float) -> np.ndarray:
    """Beta success rates with mean `theta` and correlation `icc` of two outcomes."""
    if icc == 0:
        return np.broadcast_to(theta, effect.shape)
    weight = 1 / icc - 1
    inside = np.clip(theta, 1e-9, 1 - 1e-9)
    chance = betaincinv(inside * weight, (1 - inside) * weight, ndtr(effect))
    return np.where((theta == 0) | (theta == 1), theta, chance)


def _moved(rate: float, lean: np.ndarray, spread: float) -> np.ndarray:
    """Move a rate by `lean` logits, so that its mean over items stays what it is."""
    if spread == 0 or rate in (0.0, 1.0):
        return np.full(lean.shape, rate)
    from scipy.optimize import brentq

    points, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    centre = brentq(lambda a: weights @ expit(a + spread * points) - rate, -40, 40)
    return expit(centre + lean)
