"""Prior and predictive draws, and the log-likelihood, added to a posterior."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.compiling import compiling

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


def predict(model: pm.Model, idata: xr.DataTree, *, random_seed: Any = None) -> xr.DataTree:
    """Add prior, predictive and log-likelihood groups."""
    import pymc as pm

    rng = np.random.default_rng(random_seed)
    with model, compiling():
        # draws come from the posterior or are weighed below, so potentials have been counted
        warnings.filterwarnings("ignore", message="The effect of Potentials")
        prior = prior_draws(model, rng)
        after = pm.sample_posterior_predictive(idata, random_seed=rng, progressbar=False)
        likelihood = pm.compute_log_likelihood(
            idata.copy(), extend_inferencedata=False, progressbar=False
        )
    extended = idata.copy()
    for group in ("prior", "prior_predictive"):
        if group in prior:
            extended[group] = prior[group]
    if "posterior_predictive" in after:
        extended["posterior_predictive"] = after["posterior_predictive"]
    extended["log_likelihood"] = getattr(likelihood, "dataset", likelihood)
    return extended


def prior_draws(model: pm.Model, rng: np.random.Generator, draws: int = 1000) -> xr.DataTree:
    """Draw from the prior, a potential named ``*_prior_density`` being part of it."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import function
    from pytensor.graph.replace import vectorize_graph

    shaping = [v for v in model.potentials if str(v.name).endswith("_prior_density")]
    many_draws = 20 * draws if shaping else draws
    with model, compiling():
        # those that shape the prior are weighed below, and others have been told of at sampling
        warnings.filterwarnings("ignore", message="The effect of Potentials")
        prior = pm.sample_prior_predictive(draws=many_draws, random_seed=rng)
    if not shaping:
        return prior
    many = {v: pt.tensor(dtype=v.dtype, shape=(None, *v.type.shape)) for v in model.free_RVs}
    weigh = function(
        list(many.values()), vectorize_graph(shaping, replace=many), on_unused_input="ignore"
    )
    drawn = [prior["prior"][str(v.name)].to_numpy()[0] for v in model.free_RVs]
    log = np.sum(weigh(*drawn), axis=0)
    weights = np.exp(log - log.max())
    chosen = rng.choice(log.size, draws, p=weights / weights.sum())
    for group in ("prior", "prior_predictive"):
        if group in prior:
            thinned = prior[group].to_dataset().isel(draw=chosen)
            prior[group] = type(prior)(thinned.assign_coords(draw=np.arange(draws)))
    return prior
