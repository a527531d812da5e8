"""The model of several classes: shares and confusions, each with a Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel
from bayesjudge.prevalence.classes.data import SOURCE, ClassCounts, judged

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Confusions(BayesianModel):
    r"""Shares of the classes, and the judge's confusions.

    With shares :math:`\theta` and confusion rows :math:`C_k`, the verdicts on unlabelled items are
    multinomial with shares :math:`\theta C`, those on labelled items of class k with :math:`C_k`,
    and, if the labelled items are a random sample, their classes with :math:`\theta`.

    Parameters
    ----------
    share_concentration : float, default 1
        Dirichlet weight of each class's share among items; 1 is flat.
    right, wrong : float, default 1
        Dirichlet weights of a class's own verdict and of each other one. ``right`` above ``wrong``
        says that the judge is mostly right.

    Raises
    ------
    InputError
        If one is not positive.

    Examples
    --------
    >>> print(Confusions(right=3))
    share_concentration 1; right 3; wrong 1
    """

    share_concentration: float = 1.0
    right: float = 1.0
    wrong: float = 1.0

    def __post_init__(self) -> None:
        with checking("Confusions") as require:
            for name, value in vars(self).items():
                good = isinstance(value, int | float) and 0 < value < float("inf")
                require(good, f"{name} must be positive and finite, got {value!r}")

    def _build(self, data: ClassCounts) -> pm.Model:
        import pymc as pm

        size = len(data.classes)
        weights = np.full((size, size), self.wrong) + (self.right - self.wrong) * np.eye(size)
        with pm.Model(coords={"class": data.classes, "verdict": data.classes}) as model:
            flat = np.full(size, self.share_concentration)
            prevalence = _dirichlet("prevalence", flat, ("class",))
            confusion = _dirichlet("confusion", weights, ("class", "verdict"))
            _multinomial("test", data.test, prevalence @ confusion, ("verdict",))
            _multinomial("labelled", data.labelled, confusion, ("class", "verdict"))
            if data.design.same_items:
                _multinomial("labelled_truth", data.labelled.sum(axis=1), prevalence, ("class",))
            if data.credit is not None:
                credit = pm.Data("credit", np.array(data.credit, float), dims=("class",))
                pm.Deterministic("win_rate", (prevalence * credit).sum())
        return model


def build_model(counts: ClassCounts, model: Confusions | None = None) -> pm.Model:
    """Build the model without sampling it.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    model : Confusions, optional
        Priors; the default ones if not given.

    Returns
    -------
    pymc.Model
        ``prevalence`` with dim ``class``, ``confusion`` with dims ``class`` and ``verdict``, and
        ``win_rate`` if classes have a credit.
    """
    return (model or Confusions())._build(counts)


def fit(
    counts: ClassCounts,
    model: Confusions | None = None,
    *,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    target_accept: float | None = None,
    random_seed: int | np.random.Generator | None = None,
    strict: bool = False,
    progress: bool | None = None,
) -> Fit:
    """Sample the posterior of the shares of several classes.

    Parameters
    ----------
    counts : ClassCounts
        Verdicts and labels.
    model : Confusions, optional
        Priors; the default ones if not given.
    draws, tune, chains : int, optional
        Draws kept and discarded in each chain: 1000, 1000 and 4 by default.
    cores : int, optional
        Chains that run at once; all cores by default.
    target_accept : float, optional
        0.9 by default; higher is slower and follows a difficult posterior better.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.
    strict : bool, default False
        Raise if the sampler did not converge, rather than warn.
    progress : bool, optional
        Show progress; by default on a terminal.

    Returns
    -------
    Fit
        ``prevalence`` by class, shares of items, ``confusion`` by class and verdict and, if classes
        have a credit, their mean ``win_rate``.
    """
    from bayesjudge.core.sampling import sample

    model = model or Confusions()
    first = () if counts.credit is None else ("win_rate",)
    assumptions, cautions = judged(counts)
    settings: dict[str, Any] = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    settings |= {"target_accept": target_accept, "random_seed": random_seed}
    return sample(
        build_model(counts, model),
        data=counts,
        spec=model,
        quantities=(*first, "prevalence", "confusion"),
        method="Bayesian (NUTS), classes",
        source=SOURCE,
        assumptions=assumptions,
        cautions=cautions,
        strict=strict,
        progress=progress,
        **settings,
    )


def _dirichlet(name: str, weights: np.ndarray, dims: tuple[str, ...]) -> Any:
    import pymc as pm

    return pm.Dirichlet(name, pm.Data(f"{name}_prior", weights, dims=dims), dims=dims)


def _multinomial(name: str, counts: np.ndarray, shares: Any, dims: tuple[str, ...]) -> None:
    import pymc as pm

    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    seen = pm.Data(f"{name}_seen", np.asarray(counts, float), dims=dims)
    total = pm.Data(f"{name}_of", np.asarray(counts.sum(axis=-1), float), dims=dims[:-1] or None)
    pm.Multinomial(name, total.astype("int64"), shares, observed=seen, dims=dims)
