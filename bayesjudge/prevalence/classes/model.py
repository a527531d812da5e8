"""The model of several classes: shares and confusions, each with a Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.prevalence.classes.data import ASSUMED, SOURCE, ClassCounts, class_cautions


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


@dataclass(frozen=True)
class ClassPriors:
    """Dirichlet concentrations; at 1 everywhere all shares are equally probable.

    Parameters
    ----------
    shares : float, default 1
        Of each class's share among items.
    right : float, default 1
        Of a class's own verdict. More than `wrong` says that the judge is mostly right.
    wrong : float, default 1
        Of each other verdict.

    Raises
    ------
    InputError
        Where one is not positive.
    """

    shares: float = 1.0
    right: float = 1.0
    wrong: float = 1.0

    def __post_init__(self) -> None:
        with checking("ClassPriors") as require:
            for name, value in vars(self).items():
                good = 0 < value < float("inf")
                require(good, f"{name} must be positive and finite, got {value!r}")

    def __str__(self) -> str:
        return f"Dirichlet: shares {self.shares:g}, right {self.right:g}, wrong {self.wrong:g}"


def fit_classes(
    counts: ClassCounts,
    priors: ClassPriors = ClassPriors(),
    *,
    random_seed: Any = None,
    **sampling: Any,
) -> Fit:
    """Sample the posterior of the shares of several classes.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    priors : ClassPriors, default ``ClassPriors()``
        Concentrations.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    **sampling
        Settings of `bayesjudge.core.sampling.sample`.

    Returns
    -------
    Fit
        ``prevalence[class]``, shares of items, ``confusion[class, verdict]`` and, where classes
        have a credit, their mean ``win_rate``.
    """
    from bayesjudge.core.sampling import sample
    from bayesjudge.prevalence.classes.model import class_model

    first = () if counts.credit is None else ("win_rate",)
    return sample(
        class_model(counts, **vars(priors)),
        data=counts,
        priors=priors,
        quantities=(*first, "prevalence", "confusion"),
        room="prevalence",
        method="Bayesian (NUTS), classes",
        source=SOURCE,
        assumptions=(ASSUMED[counts.calibration], f"priors: {priors}"),
        cautions=tuple(class_cautions(counts)),
        random_seed=random_seed,
        **sampling,
    )
