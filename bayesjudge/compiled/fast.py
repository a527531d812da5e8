"""From a PyMC model to something NUTS can run, compiled once for a machine.

Compiling costs seconds where sampling costs a tenth of one. So the machine code of a model is kept,
in memory and on disk, under a name that says what it was compiled from: the graph of its
log-density, operation by operation, and the versions of everything that has a hand in it. Data live
in `pymc.Data`, so that neither their values nor their lengths are part of the graph, and a point's
parts are found by their lengths when the code is called: other data, more or fewer, same code.
What a process pays if the code is there is building the model, and reading one file.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.compiled.compile_folder import left
from bayesjudge.compiled.nutpie_draws import import_nutpie
from bayesjudge.compiled.settings import compiling, tell

if TYPE_CHECKING:
    import pymc as pm

    from bayesjudge.compiled.native import Array, Callback
    from bayesjudge.compiled.runnable import Runnable

#: Compiled models kept in memory.
KEPT = 32
#: Folder of code, within that of PyTensor.
NAME = "bayesjudge"

_kept: OrderedDict[str, dict[str, Callback]] = OrderedDict()
#: Inputs and outputs that one loop may have: without a C++ compiler PyTensor takes NumPy's limit of
#: 32, which is not Numba's, and makes a loop of every operation of a group that has more.
OPERANDS = 1024
_fusing = Lock()
_log = logging.getLogger(__name__)

Point = dict[str, np.ndarray]


@contextmanager
def _wide_loops() -> Iterator[None]:
    """Let operations be one loop however many arrays they read: half the time of some gradients."""
    from unittest import mock

    from pytensor.tensor.rewriting import elemwise

    name = "elemwise_max_operands_fct"
    with _fusing, mock.patch.object(elemwise, name, return_value=OPERANDS, create=True):
        yield


def runnable_of(model: pm.Model, on_compile: Callable[[], None]) -> Runnable:
    """Compile `model`, or take the code of the same structure; `on_compile` is called before."""
    logp, kept = model.logp(), named(model)
    key = key_of(model, logp, kept)
    if key not in _kept:
        callbacks = _read(key)
        if callbacks is None:
            on_compile()
            with compiling():
                callbacks = _compile(model, logp, kept)
            _write(key, callbacks)
        _kept[key] = callbacks
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    return _runnable(model, _kept[key], kept)


# What is kept on disk ---------------------------------------------------------------------------


def _folder() -> Path:
    import pytensor

    return Path(pytensor.config.base_compiledir) / NAME


def _read(key: str) -> dict[str, Callback] | None:
    """What another process compiled; what cannot be used is compiled anew, and one line says so."""
    from bayesjudge.compiled import native

    for folder in (_folder(), *(place / NAME for place in left)):
        try:
            read = native.read(folder, key, _rebuilt)
        except Exception as error:  # whatever a file made elsewhere may do when it is read
            read = f"{native.file_of(folder, key)} cannot be used ({error!r})"
        if isinstance(read, dict):
            return read
        if read:
            tell(f"{read}: compiling again")
    return None


def _rebuilt(kept: bytes, arrays: tuple[Array, ...]) -> Callback:
    from bayesjudge.compiled.compiler import rebuilt

    return rebuilt(kept, arrays)


def _write(key: str, callbacks: dict[str, Callback]) -> None:
    from bayesjudge.compiled import native

    if problem := native.write(_folder(), key, callbacks):
        tell(f"compiled code cannot be kept ({problem}): each process compiles anew")


# What code is compiled from ---------------------------------------------------------------------


def named(model: pm.Model) -> list[Any]:
    """What a reader knows by name: free variables on their own scale, and what is derived."""
    names = {v.name for v in model.unobserved_RVs}
    return [v for v in model.unobserved_value_vars if v.name in names]


def structure(model: pm.Model, logp: Any, kept: Sequence[Any]) -> str:
    """Hash graphs that were made before."""
    digest = hashlib.sha256()
    for part in _described([logp, *kept]):
        digest.update(part)
        digest.update(b"\0")
    for v in (*model.value_vars, *kept):
        digest.update(f"{v.name} {v.type!r}\n".encode())
    return digest.hexdigest()


def _described(outputs: Sequence[Any], inputs: Sequence[Any] = ()) -> Iterator[bytes]:
    """Every operation of a graph with its options, its inputs and their types."""
    from pytensor.graph.basic import Constant
    from pytensor.graph.op import HasMultipleInnerGraph
    from pytensor.graph.traversal import toposort

    numbers = {v: i for i, v in enumerate(inputs)}

    def numbered(v: Any) -> int:
        return numbers.setdefault(v, len(numbers))

    def describe(v: Any) -> Iterator[bytes]:
        if v.owner is None and v not in numbers:
            if isinstance(v, Constant):
                data = np.asarray(v.data)
                yield repr((v.type, data.dtype, data.shape)).encode() + data.tobytes()
            else:
                yield repr((v.name, v.type)).encode()

    for node in toposort(outputs):
        for v in node.inputs:
            yield from describe(v)
            numbered(v)
        op, options = node.op, _options_of(node.op)
        places = [numbered(v) for v in (*node.inputs, *node.outputs)]
        types = [v.type for v in node.outputs]
        yield repr((type(op), str(op), options, places, types)).encode()
        for inner in (op, *options.values()):
            if isinstance(inner, HasMultipleInnerGraph):
                for graph in inner.inner_graphs.values():
                    yield repr([v.type for v in graph.inputs]).encode()
                    yield from _described(graph.outputs, graph.inputs)
    for v in outputs:
        yield from describe(v)
        yield str(numbered(v)).encode()


def _options_of(op: Any) -> dict[str, Any]:
    from pytensor.scalar.basic import ScalarOp

    if hasattr(op, "_props_dict"):
        return op._props_dict()
    # types and names of scalar operations say all; of others nothing is left out, so that one that
    # cannot be written in words is compiled in each process
    return {} if isinstance(op, ScalarOp) else dict(vars(op))


def key_of(model: pm.Model, logp: Any, kept: Sequence[Any]) -> str:
    """Everything that machine code depends on, in words."""
    from bayesjudge.compiled import native

    return f"{native.machine()}\n{_versions()}\n{structure(model, logp, kept)}"


def _versions() -> str:
    import pymc
    import pytensor

    rewriting = ("optimizer", "optimizer_including", "optimizer_excluding")
    options = ("floatX", "numba__fastmath", *rewriting)
    settings = [getattr(pytensor.config, option) for option in options]
    return repr((pymc.__version__, pytensor.__version__, settings, OPERANDS))


# Compiling --------------------------------------------------------------------------------------


def _compile(model: pm.Model, logp: Any, kept: Sequence[Any]) -> dict[str, Callback]:
    """Both functions of a point on the unconstrained scale: density with gradient, and all names.

    The graph of the density is the one that nutpie makes of a model, so that draws are the same.
    Each unknown is an argument: a point's parts are found when the code is called, by their
    lengths.
    """
    import pytensor.tensor as pt
    from pymc.pytensorf import compile as compile_graph
    from pytensor.graph import clone_replace, rewrite_graph

    from bayesjudge.compiled import native
    from bayesjudge.compiled.compiler import Translated, make_code, translate_callback

    rewrites = ["canonicalize", "stabilize"]
    if not model.check_bounds:
        rewrites.append("local_remove_check_parameter")
    logp = rewrite_graph(logp, include=rewrites)
    values = [model.rvs_to_values[v] for v in model.free_RVs]
    gradient = pt.concatenate([pt.as_tensor(g).ravel() for g in pt.grad(logp, values)])
    parts = [pt.TensorType("float64", shape=v.type.shape)(name=v.name) for v in values]
    given = {v: part.astype(v.dtype) for v, part in zip(values, parts, strict=True)}
    drawn = pt.concatenate([pt.as_tensor(v).ravel() for v in kept])
    graphs = {"density": [logp, gradient], "expand": [drawn]}

    def translate() -> dict[str, Translated]:
        translated = {}
        for kind, outputs in graphs.items():
            replaced = clone_replace(outputs, given)
            with _wide_loops():
                run = compile_graph(parts, replaced, mode="NUMBA", on_unused_input="ignore")
            shared = [(v.name, np.asarray(v.get_value())) for v in run.get_shared()]
            arrays = [native.Array(str(name), a.dtype.str, a.ndim) for name, a in shared]
            translated[kind] = translate_callback(
                kind, run.vm.jit_fn, arrays, [part.ndim for part in parts]
            )
        return translated

    with model:
        try:
            from pytensor.link.numba.dispatch import elemwise

            from bayesjudge.compiled.compiler import make_callbacks

            return make_callbacks(translate, (elemwise, "_gemm"))
        except Exception:  # whatever happens if Numba is built otherwise
            _log.debug("compiling takes twice as long: make_callbacks failed", exc_info=True)
            return make_code(translate())


def _runnable(
    model: pm.Model,
    callbacks: dict[str, Callback],
    kept: Sequence[Any],
) -> Runnable:
    """Give code the data, names and starting points of `model`."""
    import_nutpie()
    from bayesjudge.compiled.runnable import Runnable

    start = _start_of(model)
    point = start(0)
    shapes = _shapes_of(model, kept, point)
    sizes = dict(zip([str(v.name) for v in kept], shapes, strict=True))
    lengths = _lengths_of(model)
    return Runnable(
        dims={k: v for k, v in model.named_vars_to_dims.items() if k in sizes},
        density=callbacks["density"],
        expand=callbacks["expand"],
        data=_data_of(model),
        start=lambda seed: _flat(model, start(seed)),
        parts=tuple(np.shape(point[str(v.name)]) for v in model.value_vars),
        named=sizes,
        labels={k: range(lengths[k]) if v is None else v for k, v in model.coords.items()},
    )


def _lengths_of(model: pm.Model) -> dict[str, int]:
    """How long each dimension is; mostly a constant or shared, for which nothing is compiled."""
    from pytensor.graph.basic import Constant

    def length(v: Any) -> int:
        if isinstance(v, Constant):
            return int(v.data)
        return int(v.get_value() if hasattr(v, "get_value") else v.eval())

    return {name: length(v) for name, v in model.dim_lengths.items()}


def _shapes_of(model: pm.Model, kept: Sequence[Any], point: Point) -> list[tuple[int, ...]]:
    """Of what has a name: by its dimensions or its type, else computed."""
    from pytensor import function

    lengths = _lengths_of(model)

    def known(v: Any) -> tuple[int | None, ...]:
        dims = model.named_vars_to_dims.get(v.name) or [None] * v.ndim
        return tuple(lengths.get(d, n) for d, n in zip(dims, v.type.shape, strict=True))

    shapes: Any = [known(v) for v in kept]
    if any(None in shape for shape in shapes):
        givens = [(v, point[str(v.name)]) for v in model.value_vars]
        outputs = [v.shape for v in kept]
        shapes = function(
            [], outputs, givens=givens, mode="FAST_COMPILE", on_unused_input="ignore"
        )()
    return [tuple(int(n) for n in shape) for shape in shapes]


def _data_of(model: pm.Model) -> dict[str, np.ndarray]:
    """Copy the values of the model's `pymc.Data`, and the lengths of its dimensions."""
    shared = {v.name: v for v in model.data_vars} | {
        v.name: v for v in model.dim_lengths.values() if hasattr(v, "get_value")
    }
    return {str(name): np.array(v.get_value(), order="C") for name, v in shared.items()}


def _start_of(model: pm.Model) -> Callable[[int], Point]:
    """Start at the priors' centres, jittered by at most 1 on the unconstrained scale."""
    from pymc.initial_point import make_initial_point_fn

    make = make_initial_point_fn(model=model, jitter_rvs=set(model.free_RVs))
    one_at_a_time = Lock()  # chains begin together, and a PyTensor function serves one caller

    def start(seed: int) -> Point:
        with one_at_a_time:
            return make(seed)

    return start


def _flat(model: pm.Model, point: Point) -> np.ndarray:
    values = [np.ravel(point[str(v.name)]) for v in model.value_vars]
    return np.concatenate(values).astype(float)
