"""The model of several classes: shares and confusions, each with a Dirichlet prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm

from bayesjudge.prevalence.classes import ClassCounts


def class_model(counts: ClassCounts, shares: float, right: float, wrong: float) -> pm.Model:
    """Build the model of several classes, without sampling it.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    shares : float
        Concentration of each class's share.
    right, wrong : float
        Concentrations of a class's own verdict, and of each other.

    Returns
    -------
    pymc.Model
        ``prevalence`` with dim ``class``, ``confusion`` with dims ``class`` and ``verdict``, and
        ``win_rate`` where classes have a credit.
    """
    size = len(counts.classes)
    weights = np.full((size, size), wrong) + (right - wrong) * np.eye(size)
    with pm.Model(coords={"class": counts.classes, "verdict": counts.classes}) as model:
        prevalence = _dirichlet("prevalence", np.full(size, shares), ("class",))
        confusion = _dirichlet("confusion", weights, ("class", "verdict"))
        _multinomial("test", counts.test, prevalence @ confusion, ("verdict",))
        _multinomial("labelled", counts.labelled, confusion, ("class", "verdict"))
        if counts.calibration == "random":
            _multinomial("labelled_truth", counts.labelled.sum(axis=1), prevalence, ("class",))
        if counts.credit is not None:
            credit = pm.Data("credit", np.array(counts.credit, float), dims=("class",))
            pm.Deterministic("win_rate", (prevalence * credit).sum())
    return model


def _dirichlet(name: str, weights: np.ndarray, dims: tuple[str, ...]) -> Any:
    return pm.Dirichlet(name, pm.Data(f"{name}_prior", weights, dims=dims), dims=dims)


def _multinomial(name: str, counts: np.ndarray, shares: Any, dims: tuple[str, ...]) -> None:
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    seen = pm.Data(f"{name}_seen", np.asarray(counts, float), dims=dims)
    total = pm.Data(f"{name}_of", np.asarray(counts.sum(axis=-1), float), dims=dims[:-1] or None)
    pm.Multinomial(name, total.astype("int64"), shares, observed=seen, dims=dims)
