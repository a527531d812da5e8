"""The Bayesian model: a Beta prior for each system, sampled with NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from bayesjudge.pass_share.closed_form import INDEPENDENT
from bayesjudge.pass_share.data import Passes

from bayesjudge.core.estimate import Diagnosis
from bayesjudge.core.model import BayesianModel, with_default
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

    _source = "Beta-binomial"

    def _diagnosis(self, data: Passes) -> Diagnosis:
        return (INDEPENDENT,), ()

    def _build(self, data: Passes) -> pm.Model:
        import pymc as pm

        priors = self.prevalence
        each = [priors[s] if isinstance(priors, Mapping) else priors for s in data.systems]
        with pm.Model(coords={"system": data.systems}) as model:
            alpha, beta = np.array([tuple(one) for one in each], float).T
            alpha = pm.Data("alpha", alpha, dims="system")
            beta = pm.Data("beta", beta, dims="system")
            items = pm.Data("items", data.items.astype(float), dims="system")
            seen = pm.Data("passes_seen", data.passes.astype(float), dims="system")
            share = pm.Beta("prevalence", alpha, beta, dims="system")
            pm.Binomial("passes", items.astype("int64"), share, observed=seen, dims="system")
        return model


with_default(Passes, lambda passes: PassShare())
