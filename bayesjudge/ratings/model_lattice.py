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


def _forward(mine: Any, seen: Any, group: Any, step_start: Any, steps: Any) -> Any:
    """Probability of each point, and with one more rating of each set; see `lattice`."""
    n, sets = group.shape[0], mine.shape[1]
    p, more = np.ones(n), np.ones((n, sets))
    for i in range(n):
        first, last = step_start[i], step_start[i + 1]
        if first == last:
            continue
        g, kind, less = group[i], steps[first, 0], steps[first, 1]
        total, found, ratings = 0.0, 0.0, 0
        for v in range(sets):
            total += mine[g, v]
            found += mine[g, v] * seen[kind, v] * more[less, v]
        p[i] = found / total
        for s in range(first, last):
            ratings += steps[s, 2]
        for v in range(sets):
            more[i, v] = found
        for s in range(first, last):
            kind, less, count = steps[s, 0], steps[s, 1], steps[s, 2]
            for v in range(sets):
                more[i, v] += count * seen[kind, v] * more[less, v]
        for v in range(sets):
            more[i, v] /= total + ratings
    return p, more


def _backward(
    mine: Any,
    seen: Any,
    group: Any,
    step_start: Any,
    steps: Any,
    p_bar: Any,
    p: Any,
    more: Any,
) -> Any:
    """Slopes by concentrations and probabilities, from those by each point; `p_bar` is used up."""
    n, sets = group.shape[0], mine.shape[1]
    mine_bar, seen_bar = np.zeros(mine.shape), np.zeros(seen.shape)
    more_bar, total_bar = np.zeros((n, sets)), np.zeros(mine.shape[0])
    for i in range(n - 1, -1, -1):
        first, last = step_start[i], step_start[i + 1]
        if first == last:
            continue
        g, total, ratings = group[i], 0.0, 0
        for v in range(sets):
            total += mine[g, v]
        for s in range(first, last):
            ratings += steps[s, 2]
        slope = 0.0
        for v in range(sets):
            more_bar[i, v] /= total + ratings
            slope += more_bar[i, v]
            total_bar[g] -= more_bar[i, v] * more[i, v]
        for s in range(first, last):
            kind, less, count = steps[s, 0], steps[s, 1], steps[s, 2]
            for v in range(sets):
                step = count * more_bar[i, v]
                more_bar[less, v] += step * seen[kind, v]
                seen_bar[kind, v] += step * more[less, v]
        step = slope + p_bar[i] / total
        total_bar[g] -= p_bar[i] * p[i] / total
        kind, less = steps[first, 0], steps[first, 1]
        for v in range(sets):
            mine_bar[g, v] += step * seen[kind, v] * more[less, v]
            seen_bar[kind, v] += step * mine[g, v] * more[less, v]
            more_bar[less, v] += step * mine[g, v] * seen[kind, v]
    for g in range(mine.shape[0]):
        for v in range(sets):
            mine_bar[g, v] += total_bar[g]
    return mine_bar, seen_bar


class LogProbabilities(Op):
    """Logarithms of the probabilities of some points of a lattice.

    Inputs are concentrations by group (n_groups, Q), probabilities of each kind of rating
    (n_kinds, Q), the points and steps of a `Lattice`, and which points are wanted.
    """

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take concentrations, probabilities and the lattice.

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
        *lattice, wanted = inputs
        output_storage[0][0] = np.log(_forward(*lattice)[0][wanted])

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Differentiate by concentrations and probabilities.

        Parameters
        ----------
        inputs, outputs, cotangents : list of tensor
            As PyTensor asks.

        Returns
        -------
        list of tensor
            The lattice has no gradient.
        """
        from pytensor.gradient import disconnected_type

        mine_bar, seen_bar = LogProbabilitiesGradient()(*inputs, cotangents[0])
        return [mine_bar, seen_bar, *(disconnected_type() for _ in inputs[2:])]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Say that the lattice has no gradient.

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


class LogProbabilitiesGradient(Op):
    """Gradient of `LogProbabilities`."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Take what `LogProbabilities` took, and the gradient by its result.

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
        mine, seen, group, step_start, steps, wanted, bar = inputs
        p, more = _forward(mine, seen, group, step_start, steps)
        p_bar = np.zeros(p.size)
        np.add.at(p_bar, wanted, bar / p[wanted])
        found = _backward(mine, seen, group, step_start, steps, p_bar, p, more)
        for storage, value in zip(output_storage, found, strict=True):
            storage[0] = value


@register_funcify_default_op_cache_key(LogProbabilities)
def _numba_value(op: Any, node: Any, **_: Any) -> Any:
    forward = numba_njit(_forward)

    @numba_njit
    def value(mine, seen, group, step_start, steps, wanted):
        return np.log(forward(mine, seen, group, step_start, steps)[0][wanted])

    return value


@register_funcify_default_op_cache_key(LogProbabilitiesGradient)
def _numba_gradient(op: Any, node: Any, **_: Any) -> Any:
    forward, backward = numba_njit(_forward), numba_njit(_backward)

    @numba_njit
    def gradient(mine, seen, group, step_start, steps, wanted, bar):
        p, more = forward(mine, seen, group, step_start, steps)
        p_bar = np.zeros(p.size)
        for j in range(wanted.size):
            p_bar[wanted[j]] += bar[j] / p[wanted[j]]
        return backward(mine, seen, group, step_start, steps, p_bar, p, more)

    return gradient
