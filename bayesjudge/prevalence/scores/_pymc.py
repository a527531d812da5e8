"""The likelihood of numeric labels for the sampler: one pass over them, with its gradient."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from bayesjudge.compiled import in_numba

#: Added to the probability of each number, so that none is 0 far from its location.
LEAST = 1e-12
#: Compiled code is kept on disk by an operation's properties: new source must not find old code.
CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def add_labels(counted: np.ndarray, middle: Any, location: Any, noise: Any) -> None:
    """Add the density of numbers counted by bin, without its constant."""
    levels = counted.shape[-1]
    cell, level = np.nonzero(counted.reshape(-1, levels))
    given = np.column_stack([cell, level, counted.reshape(-1, levels)[cell, level]])
    pm.modelcontext(None).add_coord("given", np.arange(len(given)))
    kinds = pm.Data("labels_given", given.astype(np.int64), dims=("given", "kind"))
    inputs = kinds, middle, location.ravel(), noise.ravel()
    pm.Potential("truths", LogLikelihood()(*inputs)[0])


def _evaluate(given, middle, location, noise):
    """Logarithms of normal probabilities between middles, weighed, and their slopes."""
    value, location_bar, noise_bar = 0.0, np.zeros(location.size), np.zeros(noise.size)
    for i in range(given.shape[0]):
        v, k, n = given[i]
        chance, slope, stretch = LEAST, 0.0, 0.0
        low = (middle[k - 1] - location[v]) / noise[v] if k > 0 else -math.inf
        high = (middle[k] - location[v]) / noise[v] if k < middle.size else math.inf
        sign = -1.0 if low > 0 else 1.0  # differences of small probabilities lose no digits
        chance += 0.5 * sign * (math.erfc(-sign * high * HALF) - math.erfc(-sign * low * HALF))
        if k > 0:
            density = math.exp(-low * low / 2) * DENSITY
            slope += density
            stretch += density * low
        if k < middle.size:
            density = math.exp(-high * high / 2) * DENSITY
            slope -= density
            stretch -= density * high
        value += n * math.log(chance)
        location_bar[v] += n * slope / (noise[v] * chance)
        noise_bar[v] += n * stretch / (noise[v] * chance)
    return value, location_bar, noise_bar


HALF, DENSITY = 1 / math.sqrt(2), 1 / math.sqrt(2 * math.pi)


class LogLikelihood(Op):
    """What `_evaluate` finds from labels, middles, locations and noise, as one operation."""

    __props__ = ("code",)

    def __init__(self) -> None:
        self.code = CODE

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dscalar(), pt.dvector(), pt.dvector()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for storage, value in zip(output_storage, _evaluate(*inputs), strict=True):
            storage[0] = np.asarray(value)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        from pytensor.gradient import disconnected_type

        bar, no = cotangents[0], disconnected_type()
        return [no, no, bar * outputs[1], bar * outputs[2]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[i > 1, False, False] for i in range(4)]


@in_numba(LogLikelihood)
def _numba_likelihood(op: Any, node: Any, **_: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    evaluate = numba_njit(_evaluate)

    @numba_njit
    def likelihood(given, middle, location, noise):
        value, location_bar, noise_bar = evaluate(given, middle, location, noise)
        return np.asarray(value), location_bar, noise_bar

    return likelihood
