"""What a fit will say, about: mode and curvature of its density, while NUTS has yet to run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.estimate import Estimate, label
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import PREVIEW
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.randomness import rng_of

if TYPE_CHECKING:
    from bayesjudge.compiled import Runnable

#: A fit that is expected to take longer than so many seconds has a preview.
SECONDS = 5.0
#: Gradients that a draw of NUTS takes, about.
STEPS = 12
#: Draws of the normal distribution around the mode.
DRAWS = 400
#: Least curvature: where the density hardly bends, it is not normal either, and a standard
#: deviation is held to 2, on the unconstrained scale.
FLATTEST = 0.25
#: Unknowns of which a matrix is still quick to make and to turn round.
MOST_UNKNOWNS = 500
#: Entries that a line shows.
SHOWN = 3


def seconds_of(runnable: Runnable, gradients: float) -> float:
    """How long so many gradients will take: the fastest of a few at the starting point."""
    x = runnable.start(0)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        runnable.log_density(x)
        times.append(time.perf_counter() - begin)
    return min(times) * gradients


def preview(
    runnable: Runnable,
    *,
    data: Any,
    spec: BayesianModel,
    quantities: tuple[str, ...],
    random_seed: int = 0,
) -> Estimate | None:
    """Approximate a posterior by a normal distribution where its density is highest.

    Parameters
    ----------
    runnable : Runnable
        What NUTS would run.
    data : object
        What the model saw.
    spec : BayesianModel
        The model.
    quantities : tuple of str
        What to tell.
    random_seed : int, default 0
        Same seed, same draws.

    Returns
    -------
    Estimate or None
        Means and 95 % intervals; `benchmarks/core/preview.py` has how far off they are. None if
        there is no such point, the numbers make no sense there, or unknowns are too many.
    """
    import xarray as xr

    if runnable.n_dim > MOST_UNKNOWNS:
        return None
    with np.errstate(all="ignore"):
        drawn = _around_mode(runnable.log_density, runnable.start(random_seed), random_seed)
        if drawn is None:
            return None
        values = runnable.expanded(drawn)
    if not all(np.isfinite(array).all() for array in values.values()):
        return None
    dims = {n: tuple((runnable.dims or {}).get(n, ())) for n in values}
    about = {
        name: (
            ("chain", "draw", *(dims[name] or [f"{name}_{i}" for i in range(array.ndim - 2)])),
            array,
        )
        for name, array in values.items()
    }
    used = {dim for n in dims for dim in dims[n]}
    coords = {dim: np.asarray(runnable.coords[dim]) for dim in used}
    posterior = spec._with_derived(data, xr.Dataset(about, coords))
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs = {"random_seed": random_seed}
    return Fit(tree, data, spec, quantities, method=PREVIEW, source="Laplace").estimate()


def preview_line(estimate: Estimate) -> str:
    """The first entries in one line, named as an approximation."""
    rows = [
        (label(quantity, where), *numbers.row(i))
        for quantity, numbers in estimate.quantities.items()
        for i, where in enumerate(numbers.labels)
    ]
    parts = [f"{name} {value:.3g} ({low:.3g} to {high:.3g})" for name, value, low, high in rows]
    return f"{PREVIEW}, until the draws arrive: {', '.join(parts[:SHOWN])}"


def _around_mode(density: Any, start: np.ndarray, random_seed: int) -> np.ndarray | None:
    """Draws of a normal distribution with the density's mode and curvature there."""
    from scipy.optimize import minimize

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = density(x)
        return (-value, -slope) if np.isfinite(value) else (1e300, slope)

    optimum = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    if not np.isfinite(optimum.fun) or optimum.fun >= 1e300:
        return None
    mode, step = optimum.x, 1e-4
    rows = [density(mode + d)[1] - density(mode - d)[1] for d in step * np.eye(mode.size)]
    curvature = -np.array(rows) / (2 * step)
    if not np.isfinite(curvature).all():
        return None
    bend, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    covariance = axes / np.maximum(bend, FLATTEST) @ axes.T
    spread = np.linalg.cholesky(covariance)  # signs of eigenvectors differ by machine
    normal = rng_of(random_seed).standard_normal((DRAWS // 2, mode.size))
    return mode + np.concatenate([normal, -normal]) @ spread.T
