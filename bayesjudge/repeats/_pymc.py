"""The likelihood of counted scores for the sampler: one pass over the cells, with its gradient."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key

#: Compiled code is kept on disk by an operation's properties: new source must not find old code.
CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def log_probability(seen: np.ndarray, eta: Any, cuts: Any, row: np.ndarray) -> Any:
    """Log probability of the counts (cell, value) that were seen, without its constant.

    A cell has the cutpoints of its `row` of `cuts` (row, step). With logistic functions s on both
    sides of a cutpoint, log(s(a) - s(b)) is log s(a) + log s(-b) + log(1 - exp(b - a)): nothing
    cancels in the tails, and the last term is the same in all cells of a row.
    """
    import pymc as pm

    counts = pm.Data("counts", seen.astype(float), dims=("cell", "value"))
    at = pm.Data("cutpoints_of_cell", row.astype(np.int64), dims="cell")
    inner = np.zeros((row.max() + 1, seen.shape[1] - 2))
    np.add.at(inner, row, seen[:, 1:-1])
    gaps = pt.log1mexp(-(cuts[:, 1:] - cuts[:, :-1]))
    return LogLikelihood()(counts, eta, cuts, at)[0] + (pm.Data("inner", inner) * gaps).sum()


def _evaluate(counts, eta, cuts, row):
    """Logarithms of the logistic functions of all cells, weighed, and their slopes."""
    value, eta_bar, cuts_bar = 0.0, np.zeros(eta.size), np.zeros(cuts.shape)
    for i in range(eta.size):
        r = row[i]
        for k in range(cuts.shape[1]):
            below, above = counts[i, k], counts[i, k + 1]
            if below + above == 0:
                continue
            z = cuts[r, k] - eta[i]
            # log s(z) = min(z, 0) - log(1 + exp(-|z|)), and log s(-z) = -max(z, 0) less the same
            small = np.exp(-abs(z))
            less = small / (1 + small)
            value -= (below + above) * np.log(1 + small)
            if z > 0:
                value -= above * z
                slope = below * less - above * (1 - less)
            else:
                value += below * z
                slope = below * (1 - less) - above * less
            cuts_bar[r, k] += slope
            eta_bar[i] -= slope
    return value, eta_bar, cuts_bar


class LogLikelihood(Op):
    """What `_evaluate` finds from counts, effects and cutpoints of the cells, as one operation."""

    __props__ = ("code",)

    def __init__(self) -> None:
        self.code = CODE

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor_variable(x) for x in inputs]
        return Apply(self, variables, [pt.dscalar(), pt.dvector(), pt.dmatrix()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for storage, value in zip(output_storage, _evaluate(*inputs), strict=True):
            storage[0] = np.asarray(value)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        from pytensor.gradient import disconnected_type

        bar, no = cotangents[0], disconnected_type()
        return [no, bar * outputs[1], bar * outputs[2], no]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[i in (1, 2), False, False] for i in range(4)]


@register_funcify_default_op_cache_key(LogLikelihood)
def _numba_likelihood(op: Any, node: Any, **_: Any) -> Any:
    evaluate = numba_njit(_evaluate)

    @numba_njit
    def likelihood(counts, eta, cuts, row):
        value, eta_bar, cuts_bar = evaluate(counts, eta, cuts, row)
        return np.asarray(value), eta_bar, cuts_bar

    return likelihood
