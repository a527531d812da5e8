r"""Means and components of variance of a cumulative logit, in the units of the scores.

A score exceeds the k-th value with probability :math:`\sigma(\eta - c_k)`, where :math:`\eta` adds
normal effects of item, judge and their interaction. Integrals over effects are sums over fixed
nodes. All functions broadcast over leading axes, so one call serves all draws of a posterior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, ndtri

from bayesjudge.core.errors import checking

#: Normal integrals as sums over an even grid, which converge faster than any power of its step:
#: the finer grid for effects that are many times as wide as the steps of the cumulative logit.
FINE, COARSE = 61, 33
#: Where the grid ends, in standard deviations.
ENDS = 6.0
#: Most nodes of `enough`, and logarithm of the error that it allows.
MOST, EXACT = 401, np.log(1e-7)
#: Judges that stand for all judges, if each has cutpoints of its own.
JUDGES = 128
#: Numbers held at once, about: few enough for a processor's cache.
_CHUNK = 200_000
#: Logits whose exponentials can be multiplied without overflow.
_LARGEST = 300.0


class Effects(NamedTuple):
    """Standard deviations of effects on the logit scale, and the centre that they lie about.

    Each has the shape of the draws, for example (4000,); 0 for an effect that is not there. With
    `noise_slope` s and `noise_curve` c, the noise of an answer at level t has exp(s t + c t^2)
    times its usual spread (`noise_at`); None if it has the same everywhere.
    """

    item: Any = 0.0
    judge: Any = 0.0
    item_judge: Any = 0.0
    item_offset: Any = 0.0
    judge_offset: Any = 0.0
    noise_slope: Any = None
    noise_curve: Any = None


def score_components(
    value_share: Sequence[float],
    *,
    scale: Sequence[float],
    item_scale: float = 0.0,
    judge_scale: float = 0.0,
    item_judge_scale: float = 0.0,
    cutpoint_scale: float = 0.0,
    noise_slope: float = 0.0,
    noise_curve: float = 0.0,
) -> dict[str, float]:
    """Translate latent standard deviations to the scale of the scores.

    Parameters
    ----------
    value_share : sequence of float
        How often an average judge gives an average item each value; positive, adds up to 1.
    scale : sequence of float
        What each value is worth, in rising order.
    item_scale, judge_scale, item_judge_scale : float, default 0
        Standard deviations of the effects on the logit scale, 0 or more.
    cutpoint_scale : float, default 0
        Standard deviation of the logarithms of judges' gaps between cutpoints, 0 or more.
    noise_slope, noise_curve : float, default 0
        How the noise of an answer depends on the level, as `CumulativeLogit` with
        ``noise="by_level"`` has it.

    Returns
    -------
    dict of str to float
        ``mean_score``, ``item_sd``, ``judge_sd``, ``item_judge_sd`` and ``repeat_sd``: the
        components of variance that `anova` estimates.

    Raises
    ------
    InputError
        If shares do not fit the scale, or a standard deviation is negative.

    Examples
    --------
    >>> found = score_components([0.25, 0.5, 0.25], scale=[1, 2, 3], judge_scale=1)
    >>> {name: round(value, 3) for name, value in found.items()}
    {'mean_score': 2.0, 'item_sd': 0.0, 'judge_sd': 0.346, 'item_judge_sd': 0.0, 'repeat_sd': 0.672}
    """
    share, points = np.asarray(value_share, float), np.asarray(scale, float)
    with checking("repeats.score_components") as require:
        fits = share.shape == points.shape and (share > 0).all() and abs(share.sum() - 1) < 1e-9
        require(fits, f"value_share must be {points.size} positive shares that add up to 1")
        sds = (item_scale, judge_scale, item_judge_scale)
        every = (*sds, cutpoint_scale)
        require(min(every) >= 0, f"standard deviations must be 0 or more, got {every}")
    cuts, drawn = cutpoints(share), None
    effects = Effects(*sds, noise_slope=noise_slope, noise_curve=noise_curve)
    if cutpoint_scale > 0:
        judges = judge_nodes(2048, len(cuts))
        cuts, drawn = stretched(cuts, cutpoint_scale * judges[:, 1:]), judges[:, 0]
    values = components(cuts, points, effects, drawn, nodes=101 if cutpoint_scale > 0 else 201)
    return {name: float(value) for name, value in values.items()}


def components(
    cuts: Any, scale: np.ndarray, effects: Effects, drawn: Any = None, nodes: int | None = None
) -> dict[str, np.ndarray]:
    """Mean and components of draws (...) whose cutpoints (..., step) all judges share.

    Or each has its own (..., judge, step): judges drawn from all that could be asked, with effects
    of `drawn` (judge,) standard deviations. Every sum over judges has the same nodes, so that the
    components add up.
    """
    by_level = FINE if effects.noise_slope is not None else 0
    spread = np.hypot(np.asarray(effects.judge), np.asarray(effects.item_judge))
    cuts, among, light = _judges(cuts, drawn, nodes or by_level or enough(spread))
    item, judge, both, centre, cuts = _aligned(effects, cuts)
    z, weight = grid(nodes or by_level or enough(np.hypot(item, both)))
    eta = centre + np.hypot(item, both) * z[:, None]
    mean, square = moments(eta, cuts, scale, effects, judge * among)
    of_judges, squares = weight @ mean, weight @ mean**2
    overall = of_judges @ light
    others = np.hypot(judge, both) * among
    of_items = expected(centre + item * z[:, None], cuts, scale, effects, others) @ light
    among_items = of_items**2 @ weight - (of_items @ weight) ** 2
    variances = {
        "item_sd": among_items,
        "judge_sd": of_judges**2 @ light - overall**2,
        "item_judge_sd": (squares - of_judges**2) @ light - among_items,
        "repeat_sd": (weight @ square - squares) @ light,
    }
    roots = {name: np.sqrt(np.maximum(v, 0.0)) for name, v in variances.items()}
    return {"mean_score": np.asarray(overall), **roots}


def item_scores(
    cuts: Any, scale: np.ndarray, effects: Effects, of_items: Any, drawn: Any = None
) -> np.ndarray:
    """Mean score over judges (..., item) of items with effects `of_items` (..., item)."""
    spread = np.hypot(np.asarray(effects.judge), np.asarray(effects.item_judge))
    few = COARSE if effects.noise_slope is not None else enough(spread)
    cuts, among, light = _judges(cuts, drawn, few)
    _, judge, both, _, cuts = _aligned(effects, cuts)
    others = np.asarray(effects.judge_offset)[..., None, None] + np.hypot(judge, both) * among
    return expected(np.asarray(of_items)[..., None], cuts, scale, effects, others) @ light


def _judges(cuts: Any, drawn: Any, nodes: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Cutpoints (..., judge, step), and nodes and weights that stand for all judges."""
    if drawn is None:
        return np.asarray(cuts, float)[..., None, :], *grid(nodes)
    return cuts, drawn, np.full(len(drawn), 1 / len(drawn))


def in_chunks(draws: int, numbers: int) -> list[slice]:
    """Parts of `draws` that fit in memory, if one draw takes so many numbers."""
    size = max(1, _CHUNK // numbers)
    return [slice(i, i + size) for i in range(0, draws, size)]


def cutpoints(value_share: Any, xp: Any = np) -> Any:
    """Cutpoints (..., step) on the logit scale, from the shares of values (..., value) of an
    average item; both sums are positive, so that neither tail loses digits.
    """
    share = np.asarray(value_share, float) if xp is np else value_share
    above = share[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return xp.log(share.cumsum(axis=-1)[..., :-1]) - xp.log(above[..., 1:])


def stretched(cuts: Any, stretch: Any, xp: Any = np) -> Any:
    """Widen the gaps between cutpoints (..., step) by factors with logarithms `stretch` (..., gap).

    Their mean stays where it is, weighted by the slope of the average item's share above each:
    a stretch changes the scatter of scores and, to first order, not their mean.
    """
    gaps = xp.diff(cuts, axis=-1) * xp.exp(stretch)
    moved = xp.concatenate([xp.zeros_like(gaps[..., :1]), gaps.cumsum(axis=-1)], axis=-1)
    weights = 1 / (2 + 2 * xp.cosh(cuts))
    off = (weights * (cuts - moved)).sum(axis=-1) / weights.sum(axis=-1)
    return moved + off[..., None]


def log_chances(below: Any, xp: Any = np) -> Any:
    """Log probability of each value, from the logits (..., step) of a score below each cutpoint.

    A difference of two shares is a product: no digits are lost where both are near 1.
    """
    log_below, log_above = (
        log_expit(x) if xp is np else -xp.softplus(-x) for x in (below, -below)
    )  # fmt: skip
    gaps = xp.log(-xp.expm1(-xp.diff(below, axis=-1)))
    between = log_below[..., 1:] + log_above[..., :-1] + gaps
    return xp.concatenate([log_below[..., :1], between, log_above[..., -1:]], axis=-1)


def grid(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a standard normal distribution."""
    z = np.linspace(-ENDS, ENDS, nodes)
    weights = np.exp(-0.5 * z**2)
    return z, weights / weights.sum()


def enough(spreads: Any) -> int:
    r"""Nodes that are enough for logistic functions of effects with standard deviations `spreads`.

    The function :math:`\sigma(c + s z)` has its poles :math:`p = \pi/s` off the real line. Sums
    with step h leave :math:`e^{-2\pi y/h + y^2/2}` of its integral against a normal density, for
    any :math:`y \le p`; of its square too.
    """
    pole = np.pi / max(np.max(spreads, initial=0.0), 1e-9)
    y = min(pole, np.sqrt(-2 * EXACT))
    step = 2 * np.pi * y / (y**2 / 2 - EXACT)
    return min(int(np.ceil(2 * ENDS / step)) | 1, MOST)


def judge_nodes(number: int, dims: int) -> np.ndarray:
    """Evenly spread draws (number, dims) of independent standard normals, the same at every call.

    Half of them mirror the other half; means are 0, variances 1, correlations 0, exactly.
    """
    root = 1.0  # of x^(dims + 1) = x + 1: multiples of its powers fill the cube evenly
    for _ in range(100):
        root = (1 + root) ** (1 / (dims + 1))
    steps = root ** -np.arange(1, dims + 1)
    half = ndtri((0.5 + np.arange(1, number // 2 + 1)[:, None] * steps) % 1)
    points = np.concatenate([half, -half])
    spread = np.linalg.cholesky(points.T @ points / number)
    return np.linalg.solve(spread, points.T).T


def noise_at(eta: Any, effects: Effects) -> Any:
    """Factor (...) by which the noise of an answer is wider at latent values (draws, ...)."""
    if effects.noise_slope is None:
        return 1.0
    spread = np.sqrt(sum(np.asarray(x, float) ** 2 for x in effects[:3]))

    def over_nodes(x: Any) -> np.ndarray:
        return np.asarray(x, float)[(..., *[None] * (np.ndim(eta) - np.ndim(x)))]

    t = np.tanh(eta / over_nodes(np.maximum(spread, 1e-9)))
    return np.exp(over_nodes(effects.noise_slope) * t + over_nodes(effects.noise_curve) * t**2)


def expected(
    eta: Any, cuts: Any, scale: np.ndarray, effects: Effects, others: Any = 0.0
) -> np.ndarray:
    """Mean score at latent values eta + others (...), with cutpoints (..., step)."""
    mean: Any = None
    for step, above in zip(np.diff(scale), _shares_above(eta, others, cuts, effects), strict=True):
        above *= step
        mean = above + scale[0] if mean is None else np.add(mean, above, out=mean)
    return np.asarray(mean)


def moments(
    eta: Any, cuts: Any, scale: np.ndarray, effects: Effects, others: Any = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the same, and the mean squared score."""
    mean, square = np.zeros((2, *_shape(eta, others, cuts)))
    below = scale[0]
    for at, above in zip(scale[1:], _shares_above(eta, others, cuts, effects), strict=True):
        above *= at - below
        mean += above
        above *= at + below
        square += above
        below = at
    mean += scale[0]
    square += scale[0] ** 2
    return mean, square


def _shares_above(eta: Any, others: Any, cuts: Any, effects: Effects) -> Iterator[np.ndarray]:
    """Probability of a score above each step, in an array that the caller may use up before it
    asks for the next; odds are multiplied if they can be, so that few exponentials are taken.
    """
    largest = max(np.max(np.abs(x), initial=0.0) for x in (eta, others, cuts))
    if effects.noise_slope is not None or not largest < _LARGEST:
        eta = eta + others
        noise = noise_at(eta, effects)
        for k in range(cuts.shape[-1]):
            yield np.asarray(expit((eta - cuts[..., k]) / noise))
        return
    odds, more = np.exp(-eta), np.exp(-np.asarray(others))
    above = np.empty(_shape(eta, others, cuts))
    for k in range(cuts.shape[-1]):
        np.multiply(odds, more * np.exp(cuts[..., k]), out=above)
        above += 1.0
        yield np.divide(1.0, above, out=above)


def _shape(eta: Any, others: Any, cuts: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(np.shape(eta), np.shape(others), np.shape(cuts)[:-1])


def _aligned(effects: Effects, cuts: Any) -> tuple[Any, ...]:
    """Item, judge, both, centre and cutpoints, with axes for nodes after those of draws."""
    item, judge, both, *offsets = (np.asarray(x, float)[..., None, None] for x in effects[:5])
    return item, judge, both, offsets[0] + offsets[1], np.asarray(cuts, float)[..., None, :, :]
