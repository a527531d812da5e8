"""Curves that predict what people say from a score, fitted where they are not used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesjudge.truth.influence import Labelled, Others

#: Bins of the step function, and knots of the spline.
BINS, KNOTS = 5, 4
#: Part of the weight that all curves share evenly, since few labels tell weights badly.
EVEN = 0.25

Curve = Callable[[np.ndarray], np.ndarray]


def line(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Curve:
    """The straight line of least squares."""
    centre, mean = np.average(f, weights=weight), np.average(y, weights=weight)
    spread = weight @ (f - centre) ** 2
    slope = weight @ ((f - centre) * (y - mean)) / spread if spread > 1e-12 else 0.0
    return lambda x: mean + slope * (x - centre)


def steps(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Curve:
    """Means of bins with as many labels each, joined by one label of the overall mean."""
    cuts = np.unique(np.quantile(f, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    at = np.searchsorted(cuts, f)
    size, total = (np.bincount(at, x, minlength=cuts.size + 1) for x in (weight, weight * y))
    usual = weight.mean()  # of one label
    means = (total + usual * np.average(y, weights=weight)) / (size + usual)
    return lambda x: means[np.searchsorted(cuts, x)]


def isotonic(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Curve:
    """The rising step function that fits best, and straight lines between its steps."""
    from scipy.optimize import isotonic_regression  # slow to load

    knots, which = np.unique(f, return_inverse=True)
    total = np.bincount(which, weight)
    values = isotonic_regression(np.bincount(which, weight * y) / total, weights=total).x
    return lambda x: np.interp(x, knots, values)


def spline(f: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Curve:
    """The natural cubic spline of least squares, within the scores and labels that it has seen."""
    knots = np.unique(np.quantile(f, np.linspace(0.05, 0.95, KNOTS)))

    def bend(x: np.ndarray, k: int) -> np.ndarray:
        cubes = [np.maximum(x - knots[end], 0) ** 3 for end in (k, -1)]
        return (cubes[0] - cubes[1]) / (knots[-1] - knots[k]) / (knots[-1] - knots[0]) ** 2

    def basis(x: np.ndarray) -> np.ndarray:
        x = np.clip(x, f.min(), f.max())
        last = knots.size - 2
        bends = [bend(x, k) - bend(x, last) for k in range(last)]
        return np.stack([np.ones_like(x), x, *bends], axis=1)

    root = np.sqrt(weight)
    slopes = np.linalg.lstsq(basis(f) * root[:, None], y * root, rcond=1e-8)[0]
    return lambda x: np.clip(basis(x) @ slopes, y.min(), y.max())


#: By name, as `difference` takes them.
CURVES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Curve]] = {
    "line": line,
    "binned": steps,
    "isotonic": isotonic,
    "spline": spline,
}


def cross_fitted(
    labelled: Labelled,
    others: Others,
    propensity: Any,
    folds: int,
    rng: np.random.Generator,
    names: Sequence[str],
) -> tuple[Labelled, Others, Any, Mapping[str, float]]:
    """Predictions by a sum of curves; of a labelled item by curves that have not seen its label.

    The weights are those of least squares that are not negative (Wolpert 1992, Breiman 1996), with
    the part `EVEN` of them spread evenly.
    """
    weights = np.ones(labelled.f.shape) if propensity is None else 1 / propensity
    # in an order that does not depend on that of the table
    order = np.lexsort((weights, labelled.y, labelled.f))
    each = np.repeat(order, labelled.n[order].astype(int))
    f, y, weight = labelled.f[each], labelled.y[each], weights[each]
    fold = rng.permutation(np.arange(each.size) % folds)
    fitted, test = np.empty((each.size, len(names))), np.zeros((others.f.size, len(names)))
    for k in range(folds):
        seen = fold != k
        for column, name in enumerate(names):
            curve = CURVES[name](f[seen], y[seen], weight[seen])
            fitted[~seen, column] = curve(f[~seen])
            test[:, column] += curve(others.f) / folds
    parts = _parts(fitted, y, weight)
    drawn = None if propensity is None else propensity[each]
    sample = Labelled(fitted @ parts, y, np.ones(each.size)), Others(test @ parts, others.n)
    return *sample, drawn, dict(zip(names, parts.tolist(), strict=True))


def _parts(fitted: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What part each curve has, of 1 together."""
    from scipy.optimize import nnls  # slow to load

    root = np.sqrt(weight)
    centred = (fitted - np.average(fitted, axis=0, weights=weight)) * root[:, None]
    parts, _ = nnls(centred, (y - np.average(y, weights=weight)) * root)
    even = np.full(parts.size, 1 / parts.size)
    return even if not parts.sum() else (1 - EVEN) * parts / parts.sum() + EVEN * even
