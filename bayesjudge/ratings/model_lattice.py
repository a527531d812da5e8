"""The recurrence of `bayesjudge.ratings.lattice` as one operation with its gradient.

As a graph of array operations it takes a minute to compile, and again for each number of ratings;
as one operation it compiles in seconds, once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key


def _forward(mine: Any, seen: Any, layout: Any, ways: Any, pair_start: Any, pairs: Any) -> Any:
    n, sets = layout.shape[0], mine.shape[1]
    path, q, h = np.ones((n, sets)), np.zeros(n), np.ones(n)
    for i in range(n):
        size = layout[i, 3]
        if size == 0:
            continue
        group, kind, parent = layout[i, 0], layout[i, 1], layout[i, 2]
        total = 0.0
        for v in range(sets):
            path[i, v] = path[parent, v] * seen[kind, v]
            total += path[i, v] * mine[group, v]
        q[i] = ways[i] * total
        total = 0.0
        for p in range(pair_start[i], pair_start[i + 1]):
            total += q[pairs[p, 0]] * h[pairs[p, 1]]
        h[i] = total / size
    return path, q, h


def _backward(
    mine: Any,
    seen: Any,
    layout: Any,
    ways: Any,
    pair_start: Any,
    pairs: Any,
    h_bar: Any,
    path: Any,
    q: Any,
    h: Any,
) -> Any:
    n, sets = layout.shape[0], mine.shape[1]
    mine_bar, seen_bar = np.zeros(mine.shape), np.zeros(seen.shape)
    q_bar, path_bar = np.zeros(n), np.zeros((n, sets))
    for i in range(n - 1, -1, -1):
        size = layout[i, 3]
        if size == 0 or h_bar[i] == 0.0:
            continue
        share = h_bar[i] / size
        for p in range(pair_start[i], pair_start[i + 1]):
            a, b = pairs[p, 0], pairs[p, 1]
            q_bar[a] += share * h[b]
            h_bar[b] += share * q[a]
    for i in range(n - 1, -1, -1):
        if layout[i, 3] == 0:
            continue
        group, kind, parent = layout[i, 0], layout[i, 1], layout[i, 2]
        scale = q_bar[i] * ways[i]
        for v in range(sets):
            mine_bar[group, v] += scale * path[i, v]
            step = path_bar[i, v] + scale * mine[group, v]
            seen_bar[kind, v] += step * path[parent, v]
            path_bar[parent, v] += step * seen[kind, v]
    return mine_bar, seen_bar


class LogCoefficients(Op):
    """Logarithms of some coefficients of the power series.

    Inputs are concentrations by group (n_groups, Q), probabilities of each kind of rating
    (n_kinds, Q), the layout of a `Lattice`, and which coefficients are wanted.
    """

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take concentrations, probabilities and the layout.

        Parameters
        ----------
        *inputs : tensor
            As the class says.

        Returns
        -------
        Apply
            Of one vector.
        """
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dvector()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Evaluate without Numba.

        Parameters
        ----------
        node : Apply
            Not used.
        inputs : list of numpy.ndarray
            As the class says.
        output_storage : list
            Where the result goes.
        """
        *layout, wanted = inputs
        output_storage[0][0] = np.log(_forward(*layout)[2][wanted])

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Differentiate by concentrations and probabilities.

        Parameters
        ----------
        inputs, outputs, cotangents : list of tensor
            As PyTensor asks.

        Returns
        -------
        list of tensor
            The layout has no gradient.
        """
        from pytensor.gradient import disconnected_type

        mine_bar, seen_bar = LogCoefficientsGradient()(*inputs, cotangents[0])
        return [mine_bar, seen_bar, *(disconnected_type() for _ in inputs[2:])]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Say that the layout has no gradient.

        Parameters
        ----------
        node : Apply
            Its inputs are counted.

        Returns
        -------
        list of list of bool
            True for the first two.
        """
        return [[i < 2] for i in range(len(node.inputs))]


class LogCoefficientsGradient(Op):
    """Gradient of `LogCoefficients`."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take what `LogCoefficients` took, and the gradient by its result.

        Parameters
        ----------
        *inputs : tensor
            As the class says.

        Returns
        -------
        Apply
            Of two matrices.
        """
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dmatrix(), pt.dmatrix()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Evaluate without Numba.

        Parameters
        ----------
        node : Apply
            Not used.
        inputs : list of numpy.ndarray
            As `make_node` took them.
        output_storage : list
            Where the results go.
        """
        mine, seen, layout, ways, start, pairs, wanted, bar = inputs
        path, q, h = _forward(mine, seen, layout, ways, start, pairs)
        h_bar = np.zeros(h.size)
        np.add.at(h_bar, wanted, bar / h[wanted])
        found = _backward(mine, seen, layout, ways, start, pairs, h_bar, path, q, h)
        for storage, value in zip(output_storage, found, strict=True):
            storage[0] = value


@register_funcify_default_op_cache_key(LogCoefficients)
def _numba_value(op: Any, node: Any, **_: Any) -> Any:
    forward = numba_njit(_forward)

    @numba_njit
    def value(mine, seen, layout, ways, pair_start, pairs, wanted):
        h = forward(mine, seen, layout, ways, pair_start, pairs)[2]
        return np.log(h[wanted])

    return value


@register_funcify_default_op_cache_key(LogCoefficientsGradient)
def _numba_gradient(op: Any, node: Any, **_: Any) -> Any:
    forward, backward = numba_njit(_forward), numba_njit(_backward)

    @numba_njit
    def gradient(mine, seen, layout, ways, pair_start, pairs, wanted, bar):
        path, q, h = forward(mine, seen, layout, ways, pair_start, pairs)
        h_bar = np.zeros(h.size)
        for j in range(wanted.size):
            h_bar[wanted[j]] += bar[j] / h[wanted[j]]
        return backward(mine, seen, layout, ways, pair_start, pairs, h_bar, path, q, h)

    return gradient
