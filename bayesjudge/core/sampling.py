"""The one place that samples: NUTS by nutpie, with the package's settings and its gate."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesjudge.core.compiling import Compiled, Road, compile_model, compiling
from bayesjudge.core.diagnostics import gate
from bayesjudge.core.errors import ConvergenceError, ConvergenceWarning, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.prior_draws import prior_draws
from bayesjudge.core.results import Caution, Interval
from bayesjudge.core.storage import checksum

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

#: What is kept of the sampler's statistics; the rest is about the sampler, not about the model.
STATISTICS = ("diverging", "energy", "logp", "n_steps", "step_size", "depth", "maxdepth_reached")
RECORDED = ("bayesjudge", "pymc", "pytensor", "nutpie", "numpy")


def sample(
    model: pm.Model,
    *,
    data: Any,
    priors: Any,
    quantities: tuple[str, ...],
    room: str,
    method: str,
    source: str,
    options: Mapping[str, Any] | None = None,
    assumptions: tuple[str, ...] = (),
    cautions: tuple[Caution, ...] = (),
    interval: Interval = "eti",
    random_seed: int | np.random.Generator | None = None,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    target_accept: float = 0.9,
    adaptation: Literal["diag", "low_rank"] = "diag",
    progress: bool | None = None,
    strict: bool = False,
    road: Road = "auto",
) -> Fit:
    """Sample `model` and keep what a report needs.

    Parameters
    ----------
    model : pymc.Model
        What to sample, with its data in `pymc.Data`.
    data, priors, quantities, room, method, source, options, assumptions, cautions, interval
        Kept in the `Fit`; see there.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws, on any number of cores.
    draws, tune, chains : int
        Draws kept and discarded in each chain; 1000, 1000 and 4 by default.
    cores : int, optional
        Chains that run at once; all cores by default.
    target_accept : float, default 0.9
        Higher is slower and follows a difficult posterior better.
    adaptation : {"diag", "low_rank"}, default "diag"
        How the sampler learns the posterior's shape; low rank helps where unknowns are correlated.
    progress : bool, optional
        Show progress on stderr; by default on a terminal.
    strict : bool, default False
        Raise where the diagnostics gate fails, rather than warn.
    road : {"auto", "quick", "full"}, default "auto"
        How to compile; see `bayesjudge.core.compiling`.

    Returns
    -------
    Fit
        With a caution ``not-converged`` first where the gate failed.

    Raises
    ------
    InputError
        Where a setting is out of its range.
    ConvergenceError
        Where the gate failed and `strict` is true.

    Warns
    -----
    ConvergenceWarning
        Where the gate failed and `strict` is false.
    """
    import nutpie

    with checking("sampling") as require:
        for name, value in {"draws": draws, "tune": tune, "chains": chains}.items():
            require(isinstance(value, int) and value >= 1, f"{name} must be 1 or more, got {value}")
        require(0 < target_accept < 1, f"target_accept must lie in (0, 1), got {target_accept}")
    seed = _seed_of(random_seed)
    with _progress(progress, method) as callback, _one_thread_each(), compiling():
        compiled = compile_model(model, road)
        tree = nutpie.sample(
            compiled.runnable,
            draws=draws,
            tune=tune,
            chains=chains,
            cores=cores,
            seed=seed,
            adaptation=adaptation,
            target_accept=target_accept,
            save_warmup=False,
            progress_bar=False,
            progress_callback=callback,
        )
    idata = _tidy(tree, model)
    idata.attrs = {
        "random_seed": seed,
        "priors": str(priors),
        "data_sha256": checksum(data),
        "road": compiled.road,
        **{f"{name}_version": version(name) for name in RECORDED},
    }
    failed = gate(idata, quantities)
    if failed and strict:
        raise ConvergenceError(f"{method}: {failed[0].text}")
    if failed:
        warnings.warn(f"{method}: {failed[0].text}", ConvergenceWarning, stacklevel=3)
    return Fit(
        idata=idata,
        data=data,
        priors=priors,
        quantities=quantities,
        method=method,
        source=source,
        room=room,
        options=dict(options or {}),
        assumptions=assumptions,
        cautions=(*failed, *cautions),
        interval=interval,
    )


def sample_draws(compiled: Compiled, *, random_seed: int, **settings: Any) -> xr.DataTree:
    """Sample without gate or `Fit`: for studies that sample one model many times.

    Parameters
    ----------
    compiled : Compiled
        From `bayesjudge.core.compiling.compile_model`.
    random_seed : int
        Same seed, same draws.
    **settings
        Of ``nutpie.sample``: draws, tune, chains, cores, target_accept, adaptation.

    Returns
    -------
    xarray.DataTree
        With groups ``posterior`` and ``sample_stats``.
    """
    import nutpie

    quiet = {"save_warmup": False, "progress_bar": False}
    with _one_thread_each(), compiling():
        return nutpie.sample(compiled.runnable, seed=random_seed, **quiet, **settings)


def predict(model: pm.Model, idata: xr.DataTree, *, random_seed: Any = None) -> xr.DataTree:
    """Add prior, predictive and log-likelihood groups.

    Parameters
    ----------
    model : pymc.Model
        The model that `idata` was sampled from.
    idata : xarray.DataTree
        Left as it is.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws.

    Returns
    -------
    xarray.DataTree
        With ``prior``, ``prior_predictive``, ``posterior_predictive`` and ``log_likelihood``.
    """
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


def _seed_of(random_seed: int | np.random.Generator | None) -> int:
    if isinstance(random_seed, int | np.integer):
        return int(random_seed)
    return int(np.random.default_rng(random_seed).integers(2**32))


def _tidy(tree: xr.DataTree, model: pm.Model) -> xr.DataTree:
    """Keep the draws, the statistics that mean something for any sampler, and the data."""
    import xarray as xr
    from pymc.backends.arviz import find_constants, find_observations

    def dataset(values: Mapping[str, np.ndarray]) -> xr.Dataset:
        found = {
            name: (
                model.named_vars_to_dims.get(name)
                or [f"{name}_dim_{i}" for i in range(array.ndim)],
                array,
            )
            for name, array in values.items()
        }
        used = {dim for dims, _ in found.values() for dim in dims if dim in model.coords}
        return xr.Dataset(found, {dim: np.asarray(model.coords[dim]) for dim in used})

    stats = tree["sample_stats"].to_dataset()
    posterior = tree["posterior"].to_dataset()
    named = [str(v.name) for v in model.unobserved_RVs]
    groups = {
        "posterior": posterior[[name for name in named if name in posterior]],
        "sample_stats": stats[[name for name in STATISTICS if name in stats]],
        "observed_data": dataset(find_observations(model)),
        "constant_data": dataset(find_constants(model)),
    }
    for group in groups.values():
        group.attrs = {}
    return xr.DataTree.from_dict(groups)


def _one_thread_each() -> Any:
    """Let a matrix product use one thread.

    Chains use the cores already, and threads that wait for each other make a small product a
    hundred times slower.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


@contextmanager
def _progress(show: bool | None, what: str) -> Iterator[Callable[[Any], None] | None]:
    """Show compiling and sampling with rich, on a terminal unless told otherwise."""
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{what}: compiling", total=None)

        def callback(chains: Any) -> None:
            done = sum(chain.finished_draws for chain in chains)
            total = sum(chain.total_draws for chain in chains)
            bar.update(task, description=f"{what}: sampling", completed=done, total=total)

        yield callback
