r"""Effects that items share, integrated out, as operations with slopes by hand.

What rows of one item have in common is summed out by quadrature: with nodes e of weight w, the
log-likelihood of patterns p, of which n items are one, is

.. math:: \sum_p n_p \log \sum_e w_e \prod_{k \in p} f_{ke},

whatever the factors f are: a system's rows of an item at its difficulty, votes of a few judges on
an item of one class at its own effect, a class's share, a label. Without a C++ compiler a graph of
array operations spends most of its time on passing arrays on: one operation takes a third to a
fifth of it.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy.special import expit, roots_hermitenorm

from bayesjudge.compiled import in_numba, jitable

#: Beyond so many standard deviations a normal effect is not integrated.
REACH = 4.5
#: Points of a rule beyond which NumPy's overflows, and SciPy's asymptotic one is as good.
MOST_EXACT = 150
#: Sums below it are computed by logarithms.
TINY = 1e-150
#: Newton steps to a centre at most; a handful are taken.
MOST_STEPS = 50
#: Logits further out are as good as there: products of their exponentials are numbers.
FAREST = 300.0


# Operations ---------------------------------------------------------------------------------------


class Operation(Op):
    """What one function finds: a value, and its slopes by the first inputs.

    A subclass says of how many dimensions results and these inputs are, and makes the function.
    """

    __props__ = ("sizes", "code")
    #: Dimensions of the value, and of the inputs by which there are slopes.
    value: ClassVar[int] = 0
    unknown: tuple[int, ...]
    #: Dimensions of what is found beside the value, if it is not these slopes.
    beside: ClassVar[tuple[int, ...] | None] = None

    def __init__(self, *sizes: Any) -> None:
        #: Sizes and flags that the function is made for.
        files = inspect.getfile(type(self)), __file__
        self.sizes, self.code = sizes, _code_of(files)

    @staticmethod
    def function(compiled: Callable[..., Any], *sizes: Any) -> Callable[..., Any]:
        """Make the function of all inputs, of functions that are `compiled`."""
        raise NotImplementedError

    def make_node(self, *inputs: Any) -> Apply:
        """Add the operation to a graph."""
        variables = [pt.as_tensor_variable(x) for x in inputs]
        dims = self.value, *self._outputs_beside
        return Apply(self, variables, [pt.TensorType("float64", (None,) * n)() for n in dims])

    @property
    def _outputs_beside(self) -> tuple[int, ...]:
        return self.unknown if self.beside is None else self.beside

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        """Compute value and slopes in Python."""
        values = self.function(plain, *self.sizes)(*inputs)
        for storage, value in zip(output_storage, values, strict=True):
            storage[0] = np.asarray(value)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        """Say what a cotangent of the value is by the inputs."""
        slopes = self._pulled(cotangents[0], outputs[1:])
        return [*slopes, *(disconnected_type() for _ in inputs[len(slopes) :])]

    def _pulled(self, bar: Any, slopes: Any) -> list[Any]:
        return [bar * slope for slope in slopes]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        """Say that the value depends on the first inputs, and that slopes have none."""
        n, others = len(self.unknown), [False] * len(self._outputs_beside)
        return [[i < n, *others] for i in range(len(node.inputs))]


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function run as it is."""
    return np.errstate(all="ignore")(function)


@in_numba(Operation)
def _in_numba(op: Any, node: Any, **_: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    def compiled(function: Callable[..., Any]) -> Any:
        return numba_njit(function, error_model="numpy")

    return op.function(compiled, *op.sizes)


@cache
def _code_of(files: tuple[str, ...]) -> str:
    """Compiled code is kept on disk by an operation's properties: new source has new ones."""
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()[:16]


# Sums over nodes of products ----------------------------------------------------------------------


def quadrature(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss-Hermite quadrature, those of no weight left out.

    A rule of higher order has its inner points closer together, and its outer ones where a normal
    effect never is; without these, as many points resolve an item of many rows better.
    """
    order = max(nodes, int(np.ceil((nodes * np.pi / (2 * REACH)) ** 2)))
    rule = np.polynomial.hermite_e.hermegauss if order <= MOST_EXACT else roots_hermitenorm
    points, weights = rule(order)
    inner = slice((order - nodes) // 2, (order - nodes) // 2 + nodes)
    points, weights = points[inner], weights[inner]
    # a normal effect of variance 1 whatever was left out
    weights = weights / weights.sum()
    points = points - weights @ points
    spread = float(np.sqrt(weights @ points**2))
    return points / spread, weights


@jitable
def summed_products(f, shift, weight, of, count):
    """Log-likelihood of patterns, and its slopes by their factors.

    Of factor k the logarithm is that of `f[k]` and `shift[k]` more. Those of pattern i are `of[i]`,
    -1 if there is none.
    """
    size, value, bar = f.shape[1], 0.0, np.zeros(f.shape)
    row = np.empty(size)
    for i in range(count.size):
        for e in range(size):
            row[e] = weight[e]
        for s in range(of.shape[1]):
            if of[i, s] >= 0:
                k = np.uint64(of[i, s])
                value += count[i] * shift[k]
                for e in range(size):
                    row[e] *= f[k, e]
        total = 0.0
        for e in range(size):
            total += row[e]
        if total < TINY:
            value += count[i] * _by_logs(row, f, weight, of[i])
            total = row.sum()
        value += count[i] * np.log(total)
        grown = count[i] / total
        for s in range(of.shape[1]):
            if of[i, s] >= 0:
                k = np.uint64(of[i, s])
                for e in range(size):
                    bar[k, e] += grown * row[e]
    for j in range(f.shape[0]):
        for e in range(size):
            bar[j, e] = bar[j, e] / f[j, e] if f[j, e] > 0 else 0.0
    return value, bar


@jitable
def _by_logs(row, f, weight, of):
    """Set `row` to a product over its largest value, and return the logarithm of that."""
    for e in range(row.size):
        row[e] = np.log(weight[e])
        for k in of:
            if k >= 0:
                row[e] += np.log(f[k, e])
    most = row.max()
    for e in range(row.size):
        row[e] = np.exp(row[e] - most) if most > -np.inf else 0.0
    return most


# Logits whose mean is a share ---------------------------------------------------------------------


@jitable
def centres(share, shift, weight):
    """Logits of an average item, by Newton's method, and their slopes by `share` and by `shift`.

    On the logit scale the mean over the nodes is
    all but linear in the centre. An exponential at each node serves all steps.
    """
    size = share.size, shift.size
    centre, by_share, by_shift = np.empty(share.size), np.empty(share.size), np.empty(size)
    variance, odds = 0.0, np.empty(shift.size)  # of a bad output, where the centre is 0
    for i in range(shift.size):
        variance += weight[i] * shift[i] ** 2
        odds[i] = np.exp(-min(max(shift[i], -FAREST), FAREST))
    for s in range(share.size):
        wanted = np.log(share[s]) - np.log1p(-share[s])
        at = wanted * np.sqrt(1 + 0.346 * variance)  # logistic by normal: Zeger et al. (1988)
        step, steps = 1.0, 0
        while abs(step) > 1e-7 and steps < MOST_STEPS:  # the next one would be of its square
            good, bad, slope, scale = 0.0, 0.0, 0.0, np.exp(-min(max(at, -FAREST), FAREST))
            for i in range(shift.size):
                p = 1 / (1 + scale * odds[i])
                q = scale * odds[i] * p
                good += weight[i] * p
                bad += weight[i] * q
                slope += weight[i] * p * q
            step = (np.log(good) - np.log(bad) - wanted) * good * bad / slope
            at -= step
            steps += 1
        slope, scale = 0.0, np.exp(-min(max(at, -FAREST), FAREST))
        for i in range(shift.size):
            p = 1 / (1 + scale * odds[i])
            by_shift[s, i] = -weight[i] * p * scale * odds[i] * p
            slope -= by_shift[s, i]
        centre[s], by_share[s] = at, 1 / slope
        by_shift[s] /= slope
    return centre, by_share, by_shift


class Centre(Operation):
    """Logits of an average item whose mean over the nodes is a share, by system.

    Inputs are the shares, and effects and weights at the nodes. The gradient is that of the
    equation that the centre solves, not of the steps to it.
    """

    value, unknown, beside = 1, (1, 1), (1, 2)

    @staticmethod
    def function(compiled: Callable[..., Any], *sizes: Any) -> Callable[..., Any]:
        """Solve the equation."""
        return compiled(centres)

    def _pulled(self, bar: Any, slopes: Any) -> list[Any]:
        by_share, by_shift = slopes
        return [bar * by_share, (bar[:, None] * by_shift).sum(axis=0)]


def centre(share: np.ndarray, shift: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Logits of an average item, by bisection: the mean over the last two axes is `share`."""
    low, high = np.full(share.shape, -60.0), np.full(share.shape, 60.0)
    for _ in range(70):
        middle = (low + high) / 2
        mean = (weight * expit(middle[..., None, None] + shift)).sum(axis=(-2, -1))
        low, high = np.where(mean < share, middle, low), np.where(mean < share, high, middle)
    return (low + high) / 2
