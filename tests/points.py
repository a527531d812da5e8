"""Random points in the place of NUTS: a fit in milliseconds, and all that comes after it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

#: The density is computed at so many points; draws lie between them, of each chain so many at most.
POINTS, MOST = 4, 120
#: So many draws from the priors stand for the thousands that data are compared with.
PRIOR_DRAWS = 200


def start_of(model: Any) -> list[np.ndarray]:
    """PyMC's initial point: an array each of the model's values."""
    from contract import in_python
    from pymc.initial_point import make_initial_point_expression

    start = make_initial_point_expression(
        free_rvs=model.free_RVs,
        rvs_to_transforms=model.rvs_to_transforms,
        initval_strategies=model.rvs_to_initial_values,
        return_transformed=True,
    )
    return in_python([], start)()


def at_points(model: Any, seed: int, points: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All variables at random points around the initial one, and terms of the log-density."""
    from contract import in_python

    terms, named = model.logp(sum=False), model.unobserved_value_vars
    run = in_python(model.value_vars, [*named, *terms])
    rng, start, found = np.random.default_rng(seed), start_of(model), []
    for _ in range(points):
        found.append(run(*[value + rng.normal(0, 0.4, value.shape) for value in start]))
    values = [np.array(each) for each in zip(*found, strict=True)]
    variables = dict(zip((str(v.name) for v in named), values, strict=False))
    return variables, np.column_stack([x.reshape(points, -1) for x in values[len(named) :]])


def drawn_between(
    compiled: Any, statistics: Sequence[str], *, draws: int, chains: int, seed: int, **_: Any
) -> Any:
    """What the sampler would return: mixtures of a few points, so that shares add up to 1."""
    import xarray as xr

    model, dims = compiled.model, compiled.model.named_vars_to_dims
    variables, terms = at_points(model, seed, POINTS)
    share = np.random.default_rng(seed).dirichlet(np.ones(POINTS), (chains, min(draws, MOST)))
    posterior = {}
    for name, values in variables.items():
        own = dims.get(name) or [f"{name}_dim_{i}" for i in range(values.ndim - 1)]
        posterior[name] = (("chain", "draw", *own), np.tensordot(share, values, 1))
    used = {dim for own, _ in posterior.values() for dim in own if dim in model.coords}
    density = share @ terms.sum(axis=1)
    about = {"diverging": density < -np.inf, "energy": -density, "logp": density}
    kept = {name: (("chain", "draw"), about[name]) for name in statistics if name in about}
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(posterior, {dim: list(model.coords[dim]) for dim in used}),
            "sample_stats": xr.Dataset(kept),
        }
    )


@contextlib.contextmanager
def in_place_of_nuts() -> Iterator[None]:
    """Let every fit take such draws."""
    with (
        mock.patch.multiple(
            "bayesjudge.core.sampling",
            compile_model=lambda model, say: SimpleNamespace(model=model, runnable=None),
            draw=drawn_between,
        ),
        mock.patch("bayesjudge.core.prior_check.FIRST", PRIOR_DRAWS),
        mock.patch("bayesjudge.core.predictive.DRAWS", PRIOR_DRAWS),
    ):
        yield
