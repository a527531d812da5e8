"""The Bayesian model: a Beta prior for each system, sampled with NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from bayesjudge.pass_share.closed_form import INDEPENDENT
from bayesjudge.pass_share.data import Passes

from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.priors import BetaPrior

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class PassShare(BayesianModel):
    r"""Each system passes an item with a probability of its own.

    .. math:: k_s \sim Binomial(n_s, \theta_s), \quad \theta_s \sim Beta(\alpha, \beta)

    Parameters
    ----------
    prevalence : BetaPrior or mapping of str to BetaPrior, default ``BetaPrior()``
        Of each system's share; one for all, or one for each by its name.

    Raises
    ------
    InputError
        If a prior is of another type.
    """

    prevalence: BetaPrior | Mapping[str, BetaPrior] = field(
        default=BetaPrior(), metadata={"by": "system"}
    )

    def _build(self, data: Passes) -> pm.Model:
        import pymc as pm

        priors = self.prevalence
        each = [priors[s] if isinstance(priors, Mapping) else priors for s in data.systems]
        with pm.Model(coords={"system": data.systems}) as model:
            alpha = pm.Data("alpha", np.array([one.alpha for one in each]), dims="system")
            beta = pm.Data("beta", np.array([one.beta for one in each]), dims="system")
            items = pm.Data("items", data.items.astype(float), dims="system")
            seen = pm.Data("passes_seen", data.passes.astype(float), dims="system")
            share = pm.Beta("prevalence", alpha, beta, dims="system")
            pm.Binomial("passes", items.astype("int64"), share, observed=seen, dims="system")
        return model


def build_model(passes: Passes, model: PassShare | None = None) -> pm.Model:
    """Build the PyMC model without sampling it.

    Parameters
    ----------
    passes : Passes
        Counts.
    model : PassShare, optional
        Priors; the default ones if not given.

    Returns
    -------
    pymc.Model
        ``prevalence`` by system.
    """
    return (model or PassShare())._build(passes)


def fit(
    passes: Passes,
    model: PassShare | None = None,
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
    """Sample the posterior.

    Parameters
    ----------
    passes : Passes
        Counts.
    model : PassShare, optional
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
        Of ``prevalence``.
    """
    from bayesjudge.core.sampling import sample

    model = model or PassShare()
    settings: dict[str, Any] = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    settings |= {"target_accept": target_accept, "random_seed": random_seed}
    return sample(
        data=passes,
        spec=model,
        quantities=("prevalence",),
        method="Bayesian (NUTS)",
        source="Beta-binomial",
        assumptions=(INDEPENDENT,),
        strict=strict,
        progress=progress,
        **settings,
    )
