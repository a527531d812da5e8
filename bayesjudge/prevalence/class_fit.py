"""Priors of the model of several classes, and its sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.prevalence.classes import ASSUMED, SOURCE, ClassCounts, class_cautions


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
    from bayesjudge.prevalence.model_classes import class_model

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
