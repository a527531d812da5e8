"""The models' density for the sampler: all unknowns in a row, one pass with the gradient by hand.

Unknowns stand in the order of `Places`. Shares have the coordinates y of PyMC's simplex transform,
``softmax([y, -sum(y)])``; sums of effects that are 0 have those of its zero-sum transform, which
turn: as many independent normals, less one. Standard deviations are their prior's scale times the
exponential of a coordinate. Effects are sampled as they are, or as multiples of their standard
deviation: the same posterior in another shape.

With logistic functions s on both sides of a cutpoint, log(s(a) - s(b)) is log s(a) + log s(-b) +
log(1 - exp(b - a)): nothing cancels in the tails. Cells share the last term if they share the
cutpoints and the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytensor.tensor as pt

from bayesjudge.compiled import jitable
from bayesjudge.repeats.data import Scores
from bayesjudge.truth.effects import Operation

if TYPE_CHECKING:
    import pymc as pm

#: Logits whose exponentials can be multiplied; exponent up to which there is one.
TAME, LARGEST = 300.0, 700.0
#: A product of numbers between 1/2 and 1 that has come down here has its logarithm taken.
SMALLEST = 1e-280


#: Standard deviation of the priors of how noise depends on the level.
NOISE_SD = 0.5
#: Standard deviations, in the order in which the pass has them.
SCALES = ("item_scale", "judge_scale", "item_judge_scale", "cutpoint_scale")


# The models ---------------------------------------------------------------------------------------


class Places(NamedTuple):
    """Where blocks of unknowns begin, -1 if they are not there, and how long they are.

    Of items, judges, cells and gaps it is the logarithm of a standard deviation, then effects.
    """

    values: int  #: of the scale; their shares come first
    item: int
    items: int
    item_as_is: int  #: whether effects are sampled as they are
    judge: int
    judges: int
    judge_as_is: int
    cell: int
    cells: int
    gap: int
    gap_as_is: int
    noise: int
    offsets: int  #: to the end: what nothing but its prior knows of
    size: int

    @classmethod
    def of(cls, scores: Scores, has: Collection[str], as_is: Mapping[str, bool]) -> Places:
        """Lay out the blocks of the standard deviations and slopes that a model `has`."""
        values, items, judges = map(len, (scores.scale, scores.items, scores.judges))
        cells = int(np.count_nonzero(scores.repeats))
        lengths = {
            "item": items,
            "judge": judges,
            "cell": 1 + cells,
            "gap": 1 + (values - 2) * (judges - 1),
            "noise": 2,
        }
        names = dict(zip(lengths, (*SCALES, "noise_slope"), strict=True))
        at, place = dict.fromkeys(lengths, -1), values - 1
        for block, n in lengths.items():
            if names[block] in has:
                at[block], place = place, place + n
        offsets = sum(at[b] >= 0 for b in ("item", "judge")) + (values - 2) * (at["gap"] >= 0)
        shapes = {f"{block}_as_is": int(as_is[block]) for block in ("item", "judge", "gap")}
        sizes = {"values": values, "items": items, "judges": judges, "cells": cells}
        return cls(**sizes, **at, **shapes, offsets=place, size=place + offsets)


#: Where the pass finds them.
VALUES, ITEM, ITEMS, ITEM_AS_IS, JUDGE, JUDGES, JUDGE_AS_IS = range(7)
CELL, _, GAP, GAP_AS_IS, NOISE, OFFSETS, _ = range(7, len(Places._fields))
STARTS = (ITEM, JUDGE, CELL, GAP)


def sampling_form(
    scores: Scores,
    coords: Mapping[str, Sequence[Any]],
    priors: Mapping[str, Any],
    has: Collection[str],
    as_is: Mapping[str, bool],
) -> pm.Model:
    """Build the form of a model that NUTS runs, with the names of the model of the text.

    It `has` standard deviations, and perhaps slopes, of these names; `as_is` says which effects the
    data show so clearly that they are sampled as they are.
    """
    import pymc as pm

    by_level = "noise_slope" in has
    places, at = Places.of(scores, has, as_is), np.nonzero(scores.repeats)
    row = at[1] if places.gap >= 0 else np.zeros_like(at[1])
    terms, gaps = terms_of(scores.counts[at], row, each=by_level)
    given = {
        "places": np.array(places),
        "priors": np.array([float(priors.get(name, 1)) for name in SCALES]),
        "weights": np.full(places.values, float(priors["concentration"])),
        "item_of_cell": at[0],
        "judge_of_cell": at[1],
        "terms": terms,
        "gaps": gaps,
    }
    with pm.Model(coords=coords) as form:
        x = pm.Flat("unknowns", shape=places.size)
        data = {name: pm.Data(name, np.ascontiguousarray(v)) for name, v in given.items()}
        pm.Potential("density", LogDensity()(x, *data.values())[0])
        _name_unknowns(x, places, data["priors"])
    return form


def _name_unknowns(x: Any, places: Places, priors: Any) -> None:
    """Give unknowns in a row the names and shapes of the model of the text."""
    import pymc as pm
    from pymc.distributions.transforms import ZeroSumTransform, simplex

    def named(name: str, value: Any, *dims: str) -> Any:
        return pm.Deterministic(name, value, dims=dims or None)

    def block(i: int, start: int, n: int) -> tuple[Any, Any]:
        """Standard deviation, and the effects' own coordinates."""
        return named(SCALES[i], priors[i] * pt.exp(x[start])), x[start + 1 : start + n]

    turned, offset, gaps = ZeroSumTransform([-1]), places.offsets, places.values - 2
    share = named("value_share", simplex.backward(x[: places.values - 1]), "value")
    levels = (
        ("item", places.item, places.items, places.item_as_is),
        ("judge", places.judge, places.judges, places.judge_as_is),
    )
    for i, (name, start, n, as_is) in enumerate(levels):
        if start >= 0:
            scale, raw = block(i, start, n)
            effect = turned.backward(raw)
            judge = named(f"{name}_effect", effect if as_is else scale * effect, name)
            named(f"{name}_offset", x[offset])
            offset += 1
    if places.cell >= 0:
        scale, unit = block(2, places.cell, 1 + places.cells)
        named("item_judge_effect", scale * unit, "cell")
    if places.gap >= 0:
        scale, raw = block(3, places.gap, 1 + gaps * (places.judges - 1))
        stretch = turned.backward(raw.reshape((gaps, places.judges - 1)))
        stretch = named(
            "cutpoint_stretch", stretch if places.gap_as_is else scale * stretch, "gap", "judge"
        )
        own = own_cutpoints(cutpoints_of(share), stretch.T)
        named("judge_cutpoint", own - judge[:, None], "judge", "step")
        named("cutpoint_offset", x[offset : offset + gaps], "gap")
    if places.noise >= 0:
        for i, name in enumerate(("noise_slope", "noise_curve")):
            named(name, x[places.noise + i])


def cutpoints_of(share: Any) -> Any:
    """Cutpoints from shares; both sums are positive, so that neither tail loses digits."""
    above = share[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return pt.log(share.cumsum(axis=-1)[..., :-1]) - pt.log(above[..., 1:])


def own_cutpoints(cuts: Any, stretch: Any) -> Any:
    """Widen the gaps of cutpoints (step,) by factors with logarithms `stretch` (judge, gap), the
    weighted mean of the cutpoints staying where it is.
    """
    gaps = (cuts[1:] - cuts[:-1]) * pt.exp(stretch)
    moved = pt.concatenate([pt.zeros_like(gaps[:, :1]), gaps.cumsum(axis=-1)], axis=-1)
    weights = pt.sigmoid(cuts) * pt.sigmoid(-cuts)
    return moved + ((weights * (cuts - moved)).sum(-1) / weights.sum())[:, None]


def terms_of(seen: np.ndarray, row: np.ndarray, each: bool) -> tuple[np.ndarray, np.ndarray]:
    """What the counts (cell, value) ask for: logistic functions, and gaps between cutpoints.

    A column of the first says how many answers lie next to a cutpoint, how many of them below it,
    the cell and the place of the cutpoint; equal numbers stand together. A column of the second
    says how many answers lie in a gap, in which cell, and the cutpoint above it: of each cell, or
    of all that share cutpoints. `row` is the row of cutpoints of each cell.
    """
    counts = np.asarray(seen, np.int64)
    steps = counts.shape[1] - 1
    n, inner = counts[:, :-1] + counts[:, 1:], counts[:, 1:-1]
    cell, step = np.nonzero(n)
    terms = np.stack([n[cell, step], counts[cell, step], cell, row[cell] * steps + step])
    if not each:
        inner = np.zeros((row.max() + 1, steps - 1), np.int64)
        np.add.at(inner, row, counts[:, 1:-1])
    cell, gap = np.nonzero(inner)
    of_row = row[cell] if each else cell
    gaps = np.stack([inner[cell, gap], cell, of_row * steps + gap + 1])
    return terms[:, np.argsort(terms[0], kind="stable")], gaps


# The pass -----------------------------------------------------------------------------------------


def _evaluate(x, places, priors, weights, item, judge, terms, gaps):
    """Log-density of the unknowns `x`, but for a constant, and its slope."""
    slope, by_level = np.zeros(x.size), places[NOISE] >= 0
    value, scales = _priors(x, places, priors, slope)
    share, below, above, shared = _cutpoints(x[: places[VALUES] - 1])
    value += (weights * np.log(share)).sum()
    density, eta = _latent(x, places, scales, item, judge)
    value += density
    density, stretch, cuts = _own_cutpoints(x, places, scales[3], shared, below * above)
    value += density
    noise, level, spread = _noise(x, places, scales, eta)
    density, eta_bar, cuts_bar, noise_bar = _answers(terms, gaps, eta, cuts, noise, by_level)
    value += density
    # and back again, with the slopes by the standard deviations last
    scales_bar = np.zeros(4)
    if by_level:
        at = x[places[NOISE] :]
        scales_bar[:3] += scales[:3] * _noise_back(
            at, level, eta, spread, eta_bar, noise_bar, slope[places[NOISE] :]
        )
    _latent_back(x, places, scales, item, judge, eta_bar, slope, scales_bar)
    if places[GAP] >= 0:
        cuts_bar, stretch_bar = _stretched_back(shared, below, above, stretch, cuts_bar)
        n = places[JUDGES] - 1
        for g in range(stretch.shape[0]):
            at = places[GAP] + 1 + g * n
            scales_bar[3] += _effects_back(
                x[at : at + n], scales[3], places[GAP_AS_IS], stretch_bar[g], slope[at:]
            )
    for m in range(4):
        if places[STARTS[m]] >= 0:
            slope[places[STARTS[m]]] += scales_bar[m] * scales[m]
    _cutpoints_back(share, below, above, weights, cuts_bar, slope)
    return value, slope


@jitable
def _priors(x, places, priors, slope):
    """Standard deviations, and the density of them and of what has no part in the likelihood."""
    value, scales = 0.0, np.zeros(4)
    for i in range(places[OFFSETS], x.size):
        value -= 0.5 * x[i] * x[i]
        slope[i] = -x[i]
    for m in range(4):
        at = places[STARTS[m]]
        if at >= 0:
            ratio = np.exp(x[at])
            scales[m] = priors[m] * ratio
            value += x[at] - 0.5 * ratio * ratio
            slope[at] = 1 - ratio * ratio
    if places[NOISE] >= 0:
        for i in range(places[NOISE], places[NOISE] + 2):
            value -= 0.5 * (x[i] / NOISE_SD) ** 2
            slope[i] = -x[i] / NOISE_SD**2
    return value, scales


@jitable
def _latent(x, places, scales, item, judge):
    """Sum of the effects in each cell, and their density."""
    value, n, m = 0.0, places[ITEMS], places[JUDGES]
    a, b, eta = np.zeros(n), np.zeros(m), np.empty(item.size)
    if places[ITEM] >= 0:
        at = places[ITEM] + 1
        value += _effects(x[at : at + n - 1], scales[0], places[ITEM_AS_IS], a)
    if places[JUDGE] >= 0:
        at = places[JUDGE] + 1
        value += _effects(x[at : at + m - 1], scales[1], places[JUDGE_AS_IS], b)
    for c in range(item.size):
        eta[c] = a[item[c]] + b[judge[c]]
    if places[CELL] >= 0:
        for c in range(item.size):
            unit = x[places[CELL] + 1 + c]
            eta[c] += scales[2] * unit
            value -= 0.5 * unit * unit
    return value, eta


@jitable
def _latent_back(x, places, scales, item, judge, eta_bar, slope, scales_bar):
    """Add to the slopes by effects and standard deviations what those by `eta` tell."""
    n, m = places[ITEMS], places[JUDGES]
    a_bar, b_bar = np.zeros(n), np.zeros(m)
    for c in range(item.size):
        a_bar[item[c]] += eta_bar[c]
        b_bar[judge[c]] += eta_bar[c]
    if places[CELL] >= 0:
        for c in range(item.size):
            at = places[CELL] + 1 + c
            slope[at] = scales[2] * eta_bar[c] - x[at]
            scales_bar[2] += eta_bar[c] * x[at]
    if places[ITEM] >= 0:
        at = places[ITEM] + 1
        raw = x[at : at + n - 1]
        scales_bar[0] += _effects_back(raw, scales[0], places[ITEM_AS_IS], a_bar, slope[at:])
    if places[JUDGE] >= 0:
        at = places[JUDGE] + 1
        raw = x[at : at + m - 1]
        scales_bar[1] += _effects_back(raw, scales[1], places[JUDGE_AS_IS], b_bar, slope[at:])


@jitable
def _own_cutpoints(x, places, scale, shared, weight):
    """Logarithms of judges' gaps, their density, and all cutpoints in a row."""
    stretch, value, n = np.zeros((shared.size - 1, places[JUDGES])), 0.0, places[JUDGES] - 1
    if places[GAP] < 0:
        return value, stretch, shared
    for g in range(stretch.shape[0]):
        at = places[GAP] + 1 + g * n
        value += _effects(x[at : at + n], scale, places[GAP_AS_IS], stretch[g])
    return value, stretch, _stretched(shared, weight, stretch)


@jitable
def _cutpoints(y):
    """Shares, their sums below and above each cutpoint, both positive, and the cutpoints."""
    k = y.size + 1
    share = np.empty(k)
    share[: k - 1] = y
    share[k - 1] = -y.sum()
    share = np.exp(share - share.max())
    share /= share.sum()
    below, above = np.empty(k - 1), np.empty(k - 1)
    total = 0.0
    for i in range(k - 1):
        total += share[i]
        below[i] = total
    total = 0.0
    for i in range(k - 1, 0, -1):
        total += share[i]
        above[i - 1] = total
    return share, below, above, np.log(below) - np.log(above)


@jitable
def _cutpoints_back(share, below, above, weights, cuts_bar, slope):
    """Slopes by the coordinates of the shares, from those by the cutpoints."""
    k = share.size
    share_bar = np.zeros(k)
    total = 0.0
    for i in range(k - 2, -1, -1):
        total += cuts_bar[i] / below[i]
        share_bar[i] += total
    total = 0.0
    for i in range(1, k):
        total -= cuts_bar[i - 1] / above[i - 1]
        share_bar[i] += total
    mean = (share * share_bar).sum() + weights.sum()
    last = share[k - 1] * (share_bar[k - 1] - mean) + weights[k - 1]
    for i in range(k - 1):
        slope[i] = share[i] * (share_bar[i] - mean) + weights[i] - last


@jitable
def _effects(raw, scale, as_is, out):
    """Put effects that sum to 0 into `out`, and return the logarithm of their density."""
    n = raw.size + 1
    total = raw.sum()
    norm = total / (np.sqrt(n) + n)
    factor = 1.0 if as_is else scale
    for i in range(n - 1):
        out[i] = factor * (raw[i] - norm)
    out[n - 1] = factor * (-total / np.sqrt(n))
    if as_is:
        return -0.5 * (raw * raw).sum() / scale**2 - (n - 1) * np.log(scale)
    return -0.5 * (raw * raw).sum()


@jitable
def _effects_back(raw, scale, as_is, bar, slope):
    """Add what effects' slopes `bar` are by `raw`; return the slope by the standard deviation."""
    n = raw.size + 1
    inner = bar[: n - 1].sum() / (np.sqrt(n) + n) + bar[n - 1] / np.sqrt(n)
    of_scale = 0.0
    for i in range(n - 1):
        turned = bar[i] - inner
        if as_is:
            slope[i] += turned - raw[i] / scale**2
            of_scale += raw[i] * raw[i]
        else:
            slope[i] += scale * turned - raw[i]
            of_scale += turned * raw[i]
    return of_scale / scale**3 - (n - 1) / scale if as_is else of_scale


@jitable
def _stretched(shared, weight, stretch):
    """Cutpoints by judge, as `components.stretched` has them."""
    steps, judges = shared.size, stretch.shape[1]
    out, total = np.zeros((judges, steps)), weight.sum()
    for j in range(judges):
        off = weight[0] * shared[0]
        for i in range(1, steps):
            wide = np.exp(stretch[i - 1, j]) * (shared[i] - shared[i - 1])
            out[j, i] = out[j, i - 1] + wide
            off += weight[i] * (shared[i] - out[j, i])
        out[j] += off / total
    return out.ravel()


@jitable
def _stretched_back(shared, below, above, stretch, cuts_bar):
    """Slopes by the shared cutpoints, and by the logarithms of the gaps."""
    steps, judges = shared.size, stretch.shape[1]
    weight, bar, stretch_bar = below * above, cuts_bar.reshape(judges, steps), stretch.copy()
    total, found, weight_bar = weight.sum(), np.zeros(steps), np.zeros(steps)
    moved = np.zeros(steps)
    for j in range(judges):
        off = weight[0] * shared[0]
        for i in range(1, steps):
            gap = shared[i] - shared[i - 1]
            moved[i] = moved[i - 1] + np.exp(stretch[i - 1, j]) * gap
            off += weight[i] * (shared[i] - moved[i])
        off /= total
        off_bar, later = bar[j].sum(), 0.0
        for i in range(steps - 1, -1, -1):
            found[i] += off_bar * weight[i] / total
            weight_bar[i] += off_bar * (shared[i] - moved[i] - off) / total
            later += bar[j, i] - off_bar * weight[i] / total
            if i > 0:
                factor = np.exp(stretch[i - 1, j])
                stretch_bar[i - 1, j] = later * factor * (shared[i] - shared[i - 1])
                found[i] += later * factor
                found[i - 1] -= later * factor
    return found + weight_bar * weight * (above - below), stretch_bar


@jitable
def _noise(x, places, scales, eta):
    """Logarithm of each cell's noise, as `components.noise_at` has it; levels, and their unit."""
    noise, level, spread = np.zeros(eta.size), np.zeros(eta.size), 1.0
    if places[NOISE] >= 0:
        along, curve = x[places[NOISE]], x[places[NOISE] + 1]
        spread = np.sqrt((scales[:3] ** 2).sum())
        for c in range(eta.size):
            t = np.tanh(eta[c] / spread)
            noise[c], level[c] = along * t + curve * t * t, t
    return noise, level, spread


@jitable
def _noise_back(coefficients, level, eta, spread, eta_bar, noise_bar, slope):
    """Add to the slopes by the coefficients and by `eta`; that by the spread, over the spread."""
    spread_bar = 0.0
    for c in range(eta.size):
        t = level[c]
        slope[0] += noise_bar[c] * t
        slope[1] += noise_bar[c] * t * t
        by_level = noise_bar[c] * (coefficients[0] + 2 * coefficients[1] * t) * (1 - t * t)
        eta_bar[c] += by_level / spread
        spread_bar -= by_level * eta[c] / spread**2
    return spread_bar / spread


@jitable
def _answers(terms, gaps, eta, cuts, noise, by_level):
    """Log-likelihood of the answers, and its slopes by latent values, cutpoints and the logarithm
    of the noise.

    Of s(z) and s(-z) the greater one is a factor, and the logarithm of the other is less by abs(z):
    one logarithm serves many answers.
    """
    value, product, times = 0.0, 1.0, 0
    eta_bar, cuts_bar, noise_bar = np.zeros(eta.size), np.zeros(cuts.size), np.zeros(eta.size)
    tame = not by_level and max(np.abs(eta).max(), np.abs(cuts).max()) < TAME
    odds, more = (np.exp(cuts), np.exp(-eta)) if tame else (cuts, eta)
    narrow = np.exp(-noise) if by_level else noise
    for i in range(terms.shape[1]):
        n, low, c, at = terms[0, i], terms[1, i], np.uint64(terms[2, i]), np.uint64(terms[3, i])
        z = cuts[at] - eta[c]
        if by_level:
            z *= narrow[c]
        ratio = odds[at] * more[c] if tame else np.exp(min(z, LARGEST))
        over = 1 / (1 + ratio)
        under = ratio * over
        if n != times or product < SMALLEST:
            value += times * np.log(product)
            product, times = 1.0, n
        product *= max(over, under)
        value += low * min(z, 0.0) - (n - low) * max(z, 0.0)
        by_z = low * over - (n - low) * under
        if by_level:
            noise_bar[c] -= by_z * z
            by_z *= narrow[c]
        cuts_bar[at] += by_z
        eta_bar[c] -= by_z
    value += times * np.log(product)
    for i in range(gaps.shape[1]):
        n, c, at = gaps[0, i], gaps[1, i], gaps[2, i]
        factor = narrow[c] if by_level else 1.0
        wide = (cuts[at] - cuts[at - 1]) * factor
        value += n * np.log(-np.expm1(-wide))
        by_wide = n / np.expm1(min(wide, LARGEST))
        cuts_bar[at] += by_wide * factor
        cuts_bar[at - 1] -= by_wide * factor
        if by_level:
            noise_bar[c] -= by_wide * wide
    return value, eta_bar, cuts_bar, noise_bar


# As an operation ----------------------------------------------------------------------------------


class LogDensity(Operation):
    """What `_evaluate` finds, as one operation."""

    unknown = (1,)

    @staticmethod
    def function(compiled: Callable[..., Any], *told: Any) -> Callable[..., Any]:
        evaluate = compiled(_evaluate)

        def density(x, places, priors, weights, item, judge, terms, gaps):
            value, slope = evaluate(x, places, priors, weights, item, judge, terms, gaps)
            return np.asarray(value), slope

        return compiled(density)
