"""NUTS by nutpie, with the package's settings and its diagnostics gate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.compiled import Compiled, compile_model, draw, own_settings
from bayesjudge.core.diagnostics import against_exact, gate
from bayesjudge.core.errors import ConvergenceError, ConvergenceWarning, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.prior_check import conflicts
from bayesjudge.core.progress import Progress
from bayesjudge.core.progress import progress as progress_bar
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.storage import checksum
from bayesjudge.core.threads import one_blas_thread

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesjudge.compiled import Runnable

#: What is kept of the sampler's statistics; the rest is about the sampler, not about the model.
STATISTICS = ("diverging", "energy", "logp", "n_steps", "step_size", "depth", "maxdepth_reached")
#: Settings of a fit that names none.
DEFAULTS: dict[str, Any] = {"draws": 1000, "tune": 1000, "chains": 4, "target_accept": 0.9}
#: Cautions by which data contradict the declared label design: errors, if a fit is to be strict.
CONTRADICTS_DESIGN = ("label-shift", "label-selection", "pass-rate-out-of-range")
RECORDED = ("bayesjudge", "pymc", "pytensor", "nutpie", "numpy")


def sample(
    data: Any,
    spec: BayesianModel,
    *,
    cores: int | None,
    random_seed: int | np.random.Generator | None,
    strict: bool,
    progress: bool | None,
    **asked: Any,
) -> Fit:
    """Sample the model of `data`, in the form that suits NUTS, and keep what a report needs."""
    given = {name: value for name, value in asked.items() if value is not None}
    settings = {**DEFAULTS, **spec._sampling(data), **given}
    assumptions, cautions = spec._diagnosis(data)
    with checking("fit") as require:
        for name in ("draws", "tune", "chains"):
            value = settings[name]
            require(isinstance(value, int) and value >= 1, "must be 1 or more", **{name: value})
        rate = settings["target_accept"]
        require(0 < rate < 1, "must lie in (0, 1)", target_accept=rate)
        for caution in cautions if strict else ():
            words = f"{caution.id}: {caution.text}"
            require(caution.id not in CONTRADICTS_DESIGN, words, caution.id)
    method, source, quantities = spec._method, spec._source, spec._quantities(data)
    seed = _seed_of(random_seed)
    bar_of = progress_bar(progress, f"{method}: preparing")
    with bar_of as bar, one_blas_thread(), own_settings():
        model, form = spec._build(data), spec._sampling_form(data)
        once = f"{method}: compiling, once on this machine (about 10 s)"
        compiled = compile_model(model if form is None else form, lambda: bar.update(once))
        look = ""
        ready = compiled.runnable
        if ready and bar.shown and spec._has_preview and _is_long(ready, settings, cores):
            look = _first_look(ready, data=data, spec=spec, quantities=quantities)
        tree = draw(
            compiled,
            STATISTICS,
            **settings,
            cores=cores,
            seed=seed,
            adaptation="diag",
            progress_callback=_callback(bar, str(method), look),
        )
    idata = _tidy(tree, model, lambda draws: spec._with_derived(data, draws))
    idata.attrs = {
        "random_seed": seed,
        "model": spec.public_name(),
        "priors": spec._words_for(data),
        "data_sha256": checksum(data),
        **{f"{name}_version": version(name) for name in RECORDED},
    }
    failed = gate(idata, quantities)
    if failed and strict:
        raise ConvergenceError(f"{method}: {failed[0].text}")
    if failed:
        warnings.warn(f"{method}: {failed[0].text}", ConvergenceWarning, stacklevel=3)
    line, off = against_exact(idata, spec._exact_means(data))
    if line:
        idata.attrs["against_exact"] = line
    fit = Fit(
        idata=idata,
        data=data,
        spec=spec,
        quantities=quantities,
        method=method,
        source=source,
        assumptions=assumptions,
        cautions=(*failed, *off, *cautions, *conflicts(spec, data)),
        interval=spec._interval,
    )
    return replace(fit, cautions=(*fit.cautions, *spec._cautions_of_fit(fit)))


def sample_draws(compiled: Compiled, *, random_seed: int, **settings: Any) -> xr.DataTree:
    """Sample without gate or `Fit`: for studies that sample one model many times."""
    with one_blas_thread(), own_settings():
        return draw(compiled, STATISTICS, seed=random_seed, **settings)


def _seed_of(random_seed: int | np.random.Generator | None) -> int:
    rng = rng_of(random_seed)
    if isinstance(random_seed, int | np.integer):
        return int(random_seed)
    return int(rng.integers(2**32))


def _tidy(
    tree: xr.DataTree, model: pm.Model, derive: Callable[[xr.Dataset], xr.Dataset]
) -> xr.DataTree:
    """Keep the draws, the statistics that mean something for any sampler, and the data."""
    import xarray as xr
    from pymc.backends.arviz import find_constants, find_observations

    def dataset(values: Mapping[str, np.ndarray]) -> xr.Dataset:
        variables = {
            name: (
                model.named_vars_to_dims.get(name)
                or [f"{name}_dim_{i}" for i in range(array.ndim)],
                array,
            )
            for name, array in values.items()
        }
        used = {dim for dims, _ in variables.values() for dim in dims if dim in model.coords}
        return xr.Dataset(variables, {dim: np.asarray(model.coords[dim]) for dim in used})

    stats = tree["sample_stats"].to_dataset()
    posterior = tree["posterior"].to_dataset()
    named = [str(v.name) for v in model.unobserved_RVs]
    groups = {
        "posterior": derive(posterior[[name for name in named if name in posterior]]),
        "sample_stats": stats[[name for name in STATISTICS if name in stats]],
        "observed_data": dataset(find_observations(model)),
        "constant_data": dataset(find_constants(model)),
    }
    for group in groups.values():
        group.attrs = {}
    return xr.DataTree.from_dict(groups)


def _is_long(runnable: Runnable, settings: Mapping[str, Any], cores: int | None) -> bool:
    """Whether sampling is expected to take so long that a preview is worth its while."""
    from bayesjudge.core.preview import SECONDS, STEPS, seconds_of

    chains, at_once = settings["chains"], cores or os.cpu_count() or 1
    turns = -(-chains // at_once)
    gradients = STEPS * (settings["draws"] + settings["tune"]) * turns
    return seconds_of(runnable, gradients) > SECONDS


def _first_look(runnable: Runnable, **about: Any) -> str:
    """A line that stands below the progress bar until the draws arrive."""
    from bayesjudge.core.preview import preview, preview_line

    approximate = preview(runnable, **about)
    return "" if approximate is None else f"\n{preview_line(approximate)}"


def _callback(bar: Progress, what: str, look: str) -> Callable[[Any], None]:
    """For nutpie, which calls it with the state of the chains as they run."""

    def report(chains: Any) -> None:
        done = sum(chain.finished_draws for chain in chains)
        total = sum(chain.total_draws for chain in chains)
        bar.update(f"{what}: sampling{look}", done=done, total=total)

    return report
