"""From a PyMC model to its draws: by code that is kept on disk, or as nutpie itself would do it.

The fast road reaches into Numba, PyTensor and nutpie, of which any version may be built otherwise.
Whatever it raises, the plain one is taken: nutpie compiles the model, in each process anew, and
puts the draws into a tree. A line says so, and what failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesjudge.compiled.settings import compiling, own_settings, tell_of_failure

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesjudge.compiled.runnable import Runnable


@dataclass
class Compiled:
    """A compiled model with data, ready to be sampled."""

    model: pm.Model
    #: None where the fast road failed.
    runnable: Runnable | None
    #: What nutpie compiled in its place.
    plain: Any = None


@own_settings()
def compile_model(model: pm.Model, on_compile: Callable[[], None] = lambda: None) -> Compiled:
    """Compile `model`, or take the code of the same structure; `on_compile` is called before."""
    try:
        from bayesjudge.compiled.fast import runnable_of

        return Compiled(model, runnable_of(model, on_compile))
    except Exception as error:
        failed = error
    on_compile()
    return _by_nutpie(Compiled(model, None), failed)


def structure_of(model: pm.Model) -> str:
    """Hash the graphs of the log-density and of what is derived, with all names, but no data."""
    from bayesjudge.compiled.fast import named, structure

    return structure(model, model.logp(), named(model))


def draw(compiled: Compiled, statistics: Sequence[str], **settings: Any) -> xr.DataTree:
    """Draws of NUTS and some of its statistics, as nutpie names them."""
    if compiled.runnable is not None:
        try:
            from bayesjudge.compiled.nutpie_draws import import_nutpie, tree_of

            raw = _sampled(import_nutpie(), compiled.runnable, return_raw_trace=True, **settings)
            return tree_of(raw, compiled.runnable, statistics)
        except Exception as error:
            compiled = _by_nutpie(compiled, error)
    return _sampled(import_module("nutpie"), compiled.plain, **settings)


def _by_nutpie(compiled: Compiled, failed: Exception) -> Compiled:
    """Compile by nutpie; what failed before is the cause of what this may raise."""
    tell_of_failure(failed, "nutpie compiles models itself, in each process anew")
    try:
        with compiling():
            compile_ = import_module("nutpie.compile_pymc").compile_pymc_model
            compiled.runnable, compiled.plain = None, compile_(compiled.model)
    except Exception as error:
        raise error from failed
    return compiled


def _sampled(nutpie: Any, compiled: Any, **settings: Any) -> Any:
    """All draws, or none: nutpie's own waiting makes do with those before Ctrl-C."""
    quiet = {"save_warmup": False, "progress_bar": False}
    sampler = nutpie.sample(compiled, blocking=False, **quiet, **settings)
    try:
        return sampler.wait()
    except BaseException:
        sampler.cancel()
        raise
