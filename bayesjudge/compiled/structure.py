"""What the machine code of a model is compiled from: the graphs of its functions, in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pymc as pm


def named(model: pm.Model) -> list[Any]:
    """What a reader knows by name: free variables on their own scale, and what is derived."""
    names = {v.name for v in model.unobserved_RVs}
    return [v for v in model.unobserved_value_vars if v.name in names]


def structure_of(model: pm.Model) -> str:
    """Hash the graphs of the log-density and of what is derived, with all names, but no data."""
    return structure(model, model.logp(), named(model))


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
    import numpy as np
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
