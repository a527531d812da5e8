"""From a PyMC model to something NUTS can run, without paying for the same compilation twice.

Compiling costs seconds where sampling costs a tenth of one. Two things make it cheap:

* a compiled model is kept, and found again by the *text* of its log-density graph. Data live in
  `pymc.Data`, so their values are not part of the text: other data, same compiled model;
* small models take the quick road. nutpie's own road wraps the log-density in a C callback that
  Numba cannot cache, which costs seconds in every process; the quick road calls PyTensor's
  function, which Numba does cache on disk, from Python. It compiles several times faster and
  samples several times slower, so it suits one fit, and the full road suits hundreds.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesjudge.core.compile_folder import tell_of_compile_folder

if TYPE_CHECKING:
    import pymc as pm

Road = Literal["auto", "quick", "full"]
#: The quick road pays up to here: unknowns, and numbers in the data. The rule looks at sizes, not
#: at clocks, so that a seed gives the same draws on every machine.
QUICK_UNKNOWNS, QUICK_DATA = 20, 2_000
#: Compiled models kept in memory.
KEPT = 16

_kept: OrderedDict[tuple[str, str], Any] = OrderedDict()


@dataclass(frozen=True)
class Compiled:
    """A compiled model, ready for any data of the same shape."""

    runnable: Any
    road: str

    def given(self, model: pm.Model) -> Compiled:
        """Put the data and starting points of `model` in place of those it was compiled with."""
        start = _start_of(model)
        # on the full road nutpie knows only the data that its functions read
        read = getattr(self.runnable, "shared_var_keys", None)
        known = None if read is None else {variable.name for variable in read}
        data = {k: v for k, v in _data_of(model).items() if known is None or k in known}
        updated = self.runnable.with_data(**data)
        name = "_make_initial_points" if self.road == "quick" else "initial_point_func"
        return replace(self, runnable=replace(updated, **{name: start}))


@contextmanager
def compiling() -> Iterator[None]:
    """Open wherever something is compiled: silences what a compiler tells its own developers.

    A function is compiled when it is first called, so the calls belong inside. What Numba says
    there is how PyTensor's code could run faster or be kept; it changes no number, nobody who uses
    this package can act on it, and it comes on a machine that has compiled nothing yet and never
    again. PyTensor hides it too, but once, when it is imported: filters that a caller sets later,
    as pytest does for each test, bring it back. The first such block of a process also says where
    a temporary folder is used.
    """
    from numba.core.errors import NumbaPerformanceWarning, NumbaWarning

    tell_of_compile_folder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        uncached = ".*Cannot cache compiled function"  # may begin with the codes of a colour
        warnings.filterwarnings("ignore", uncached, NumbaWarning)
        # a distribution that draws with NumPy, which Numba calls as it is
        warnings.filterwarnings("ignore", message="Numba will use object mode")
        yield


@compiling()
def compile_model(model: pm.Model, road: Road = "auto") -> Compiled:
    """Compile `model`, or take the compiled model of the same structure."""
    if road == "auto":
        numbers = sum(np.size(values) for values in _data_of(model).values())
        unknowns = sum(np.size(value) for value in model.initial_point(0).values())
        road = "quick" if unknowns <= QUICK_UNKNOWNS and numbers <= QUICK_DATA else "full"
    key = (road, _structure_of(model))
    if key not in _kept:
        _kept[key] = Compiled(_compile_quick(model) if road == "quick" else _compile(model), road)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    return _kept[key].given(model)


def _compile(model: pm.Model) -> Any:
    import nutpie

    return nutpie.compile_pymc_model(model, backend="numba")


def _compile_quick(model: pm.Model) -> Any:
    """Wrap PyTensor's function as it is: no C callback, so nothing that Numba cannot cache."""
    from nutpie.compiled_pyfunc import from_pyfunc
    from pymc.pytensorf import join_nonshared_inputs
    from pytensor import function

    point = model.initial_point(0)
    logp = model.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")._pytensor_function
    # what a reader knows by name: a free variable on its own scale, and what is derived from it
    named = {v.name for v in model.unobserved_RVs}
    kept = [v for v in model.unobserved_value_vars if v.name in named]
    outputs, joined = join_nonshared_inputs(point, kept, model.value_vars)
    expand = function([joined], outputs, mode="NUMBA", on_unused_input="ignore")
    names = [str(v.name) for v in kept]
    shapes = [np.shape(value) for value in expand(_flat(model, point))]

    def make_logp() -> Callable[..., Any]:
        run, names_in = logp.vm.jit_fn, [v.name for v in logp.get_shared()]

        def density(x: np.ndarray, **data: Any) -> tuple[float, np.ndarray]:
            value, gradient = run(x, *[data[name] for name in names_in])
            return float(value), np.ascontiguousarray(gradient)

        return density

    def make_expand(*_seeds: Any) -> Callable[..., Any]:
        run, names_in = expand.vm.jit_fn, [v.name for v in expand.get_shared()]

        def constrain(x: np.ndarray, **data: Any) -> dict[str, np.ndarray]:
            values = run(x, *[data[name] for name in names_in])
            return {
                name: np.asarray(value, dtype=float).reshape(shape)
                for name, value, shape in zip(names, values, shapes, strict=True)
            }

        return constrain

    return from_pyfunc(
        ndim=sum(np.size(value) for value in point.values()),
        make_logp_fn=make_logp,
        make_expand_fn=make_expand,
        expanded_dtypes=[np.dtype(float)] * len(names),
        expanded_shapes=shapes,
        expanded_names=names,
        coords={k: pd.Index(v) for k, v in model.coords.items() if v is not None},
        dims={k: v for k, v in model.named_vars_to_dims.items() if k in names},
        shared_data=_data_of(model),
        make_initial_point_fn=_start_of(model),
    )


def _data_of(model: pm.Model) -> dict[str, np.ndarray]:
    """Take the values of the model's `pymc.Data`, and the lengths of its dimensions."""
    shared = {v.name: v for v in model.data_vars} | {
        v.name: v for v in model.dim_lengths.values() if hasattr(v, "get_value")
    }
    return {str(name): np.asarray(v.get_value()) for name, v in shared.items()}


def _start_of(model: pm.Model) -> Callable[[int], np.ndarray]:
    """Start at the priors' centres, jittered by at most 1 on the unconstrained scale."""
    from pymc.initial_point import make_initial_point_fn

    make = make_initial_point_fn(
        model=model, jitter_rvs=set(model.free_RVs), return_transformed=True
    )
    one_at_a_time = Lock()  # chains begin together, and a PyTensor function serves one caller

    def start(seed: int) -> np.ndarray:
        with one_at_a_time:
            return _flat(model, make(seed))

    return start


def _flat(model: pm.Model, point: dict[str, np.ndarray]) -> np.ndarray:
    values = [np.ravel(point[str(v.name)]) for v in model.value_vars]
    return np.concatenate(values).astype(float)


def _structure_of(model: pm.Model) -> str:
    """Write out the log-density graph and everything that names its results."""
    import pytensor
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import ancestors

    outputs = [model.logp(), *model.deterministics]
    text = str(pytensor.dprint(outputs, file="str", print_type=True))
    constants = [
        repr(v.data.tolist())
        for v in ancestors(outputs)
        if isinstance(v, Constant) and np.size(v.data) > 1
    ]
    labels = {k: tuple(v) if v is not None else None for k, v in model.coords.items()}
    shapes = {name: np.shape(value) for name, value in model.initial_point(0).items()}
    names = (labels, shapes, model.named_vars_to_dims)
    return "\n".join([text, *constants, *map(repr, names)])
