"""Prior distributions: two shares whose sum exceeds 1, and others in coordinates for NUTS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.continuous import UnitContinuous
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.tensor.random.op import RandomVariable
from scipy.special import betaincinv

from bayesjudge.compiled import telling_numba

#: Pairs that are drawn for one that is kept, before a prior is called impossible.
MOST_PAIRS = 1_000_000
TINY = np.finfo(float).tiny


def pair_above_one(names: tuple[str, str], priors: Any, dims: Any = None) -> tuple[Any, Any]:
    """Two Beta variables, given that their sum exceeds 1: a judge better than chance.

    ``priors`` holds both parameters of the first, then of the second.
    """
    (a, b), (c, d) = priors
    # The first exceeds 1 - second, which is Beta(d, c); the second then exceeds 1 - first.
    first = GreaterBeta(names[0], a, b, d, c, dims=dims)
    second = pm.Truncated(names[1], pm.Beta.dist(c, d), lower=1 - first, upper=1, dims=dims)
    return first, second


def half_normal(name: str, scale: Any, *, text: bool, dims: Any = None) -> Any:
    """A standard deviation of effects, with a half-normal prior; for the sampler with a sign.

    Effects of mean 0 are as likely with the other sign, so that the density of a normal variable
    whose absolute value is the standard deviation is even, and smooth at 0. Its logarithm has a
    long tail towards 0 instead, and steps that suit the tail are short elsewhere.
    """
    if text:
        return pm.HalfNormal(name, scale, dims=dims)
    signed = pm.Normal(f"{name}_signed", 0, scale, dims=dims)
    pm.Deterministic(name, pt.abs(signed), dims=dims)
    return signed


def beta_share(name: str, alpha: Any, beta: Any, *, text: bool, dims: Any = None) -> Any:
    """A share with a Beta prior; for the sampler its logit, without the prior's constant."""
    if text:
        return pm.Beta(name, alpha, beta, dims=dims)
    centre = pt.log(alpha) - pt.log(beta)  # chains start there
    logit = centre + pm.Flat(f"{name}_logit", dims=dims)
    # with the derivative of the share by its logit
    density = -alpha * pt.softplus(-logit) - beta * pt.softplus(logit)
    pm.Potential(f"{name}_prior_density", density.sum())
    return pm.Deterministic(name, pt.sigmoid(logit), dims=dims)


def log_dirichlet(name: str, weights: np.ndarray) -> Any:
    """Logarithms of shares with a Dirichlet prior (last axis), for the sampler.

    Of the prior the constant is left out.

    The parts are halved, and halved again. Shares of the first half are independent Beta variables,
    and a part depends on few of them, as a sum of neighbouring parts does.
    """
    halves = list(_halves(0, weights.shape[-1]))
    inside = np.zeros((2, len(halves), weights.shape[-1]))
    for split, (begin, middle, end) in enumerate(halves):
        inside[0, split, begin:middle] = inside[1, split, middle:end] = 1
    first, second = (weights @ half.T for half in inside)
    logs = pt.concatenate(_log_shares(f"{name}_split", first, second), axis=-1)
    ways = pm.Data(f"{name}_halves", np.concatenate(inside))
    return logs @ ways


def _halves(begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Begin, middle and end of a range, then those of both halves."""
    if end - begin > 1:
        middle = (begin + end) // 2
        yield begin, middle, end
        yield from _halves(begin, middle)
        yield from _halves(middle, end)


def _log_shares(name: str, alpha: np.ndarray, beta: np.ndarray) -> tuple[Any, Any]:
    """Logarithms of Beta shares and of what they leave, of coordinates that are about normal.

    The logit's density falls off as exp(-alpha |z|) and exp(-beta |z|): far, if a weight is below
    1. The logit is therefore the square of the coordinate out there, and its median at 0.
    """
    low, high = (betaincinv(alpha, beta, 0.5), betaincinv(beta, alpha, 0.5))
    median = np.log(np.maximum(low, TINY)) - np.log(np.maximum(high, TINY))
    a, b = pm.Data(f"{name}_alpha", alpha), pm.Data(f"{name}_beta", beta)
    centre = pm.Data(f"{name}_centre", median + 0.25 / alpha - 0.25 / beta)
    t = pm.Flat(name, shape=a.shape)
    left, right = (pt.sqrt(t**2 + 8 * weight + 2) for weight in (a, b))
    down, up = ((left - t) / 2) ** 2 / a, ((right + t) / 2) ** 2 / b
    z = centre + (up - down) / 2
    share = -pt.softplus(-z)
    density = (a + b) * share - b * z + pt.log(down / left + up / right)
    pm.Potential(f"{name}_density", density.sum())
    return share, share - z


class _GreaterBetaRV(RandomVariable):
    name = "greater_beta"
    signature = "(),(),(),()->()"
    dtype = "floatX"
    _print_name = ("GreaterBeta", "\\operatorname{GreaterBeta}")

    @classmethod
    def rng_fn(cls, rng: np.random.Generator, *args: Any) -> np.ndarray:
        """Draw pairs until every first one is the greater."""
        a, b, c, d, size = args
        shape = np.broadcast_shapes(*map(np.shape, (a, b, c, d))) if size is None else size
        drawn, other = np.zeros(shape), np.ones(shape)
        for _ in range(MOST_PAIRS):
            wrong = drawn <= other
            if not wrong.any():
                return drawn
            drawn = np.where(wrong, rng.beta(a, b, shape), drawn)
            other = np.where(wrong, rng.beta(c, d, shape), other)
        raise ValueError(IMPOSSIBLE)


IMPOSSIBLE = "these priors all but exclude a judge better than chance"


def _core_of_greater_beta(op: Any, node: Any) -> Any:
    from pytensor.link.numba.dispatch.basic import numba_njit

    @numba_njit
    def draw(rng, a, b, c, d):
        for _ in range(MOST_PAIRS):
            drawn = rng.beta(a, b)
            if drawn > rng.beta(c, d):
                return drawn
        raise ValueError(IMPOSSIBLE)

    return draw, 1  # a version: PyTensor keeps the compiled function on disk by it


with telling_numba():
    from pytensor.link.numba.dispatch.random import numba_core_rv_funcify

    numba_core_rv_funcify.register(_GreaterBetaRV)(_core_of_greater_beta)


class GreaterBeta(UnitContinuous):
    """A Beta(a, b) variable, given that it exceeds an independent Beta(c, d) variable.

    Its log-density is known up to the log-probability of that, a constant of the priors.
    """

    rv_op = _GreaterBetaRV()

    @classmethod
    def dist(cls, a: Any, b: Any, c: Any, d: Any, **kwargs: Any) -> Any:
        """Make a variable that belongs to no model."""
        return super().dist([pt.as_tensor_variable(x) for x in (a, b, c, d)], **kwargs)

    def support_point(rv, size, a, b, c, d):
        """Start half-way between the own mean and 1, which exceeds whatever the other is."""
        point = (1 + a / (a + b)) / 2 + 0 * (c + d)
        return point if rv_size_is_none(size) else pt.full(size, point)

    def logp(value, a, b, c, d):
        """Beta density times the probability that the other is smaller."""
        return pm.logp(pm.Beta.dist(a, b), value) + pt.log(pt.betainc(c, d, value))
