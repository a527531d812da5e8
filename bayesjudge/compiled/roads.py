"""From a PyMC model to its draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesjudge.compiled.settings import own_settings

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesjudge.compiled.runnable import Runnable


@dataclass
class Compiled:
    """A compiled model with data, ready to be sampled."""

    model: pm.Model
    runnable: Runnable


@own_settings()
def compile_model(model: pm.Model, on_compile: Callable[[], None] = lambda: None) -> Compiled:
    """Compile `model`, or take the code of the same structure; `on_compile` is called before."""
    from bayesjudge.compiled.fast import runnable_of

    return Compiled(model, runnable_of(model, on_compile))


def draw(compiled: Compiled, statistics: Sequence[str], **settings: Any) -> xr.DataTree:
    """Draws of NUTS and some of its statistics, as nutpie names them."""
    from bayesjudge.compiled.nutpie_draws import import_nutpie, tree_of

    raw = _sampled(import_nutpie(), compiled.runnable, return_raw_trace=True, **settings)
    return tree_of(raw, compiled.runnable, statistics)


def _sampled(nutpie: Any, compiled: Any, **settings: Any) -> Any:
    """All draws, or none: nutpie's own waiting makes do with those before Ctrl-C."""
    quiet = {"save_warmup": False, "progress_bar": False}
    sampler = nutpie.sample(compiled, blocking=False, **quiet, **settings)
    try:
        return sampler.wait()
    except BaseException:
        sampler.cancel()
        raise
