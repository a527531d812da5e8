"""The posterior at once: short chains with Metropolis steps by the curvature at the mode."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.prior_check import conflicts
from bayesjudge.core.randomness import rng_of
from bayesjudge.core.threads import one_blas_thread
from bayesjudge.leaderboard.cells import cells_of
from bayesjudge.leaderboard.closed_form import method_at
from bayesjudge.leaderboard.data import PEOPLE, Battles
from bayesjudge.leaderboard.density import Density, Scales
from bayesjudge.leaderboard.model import LIKING_DF, CalibratedBattles, derived, suited

#: Scales go from this part of their prior's scale to that; rounds in which the mode is looked for,
#: and the least scale of likings there, as a part of its prior's.
LEAST, MOST, ROUNDS, SMALL = 0.005, 5.0, 6, 0.1
#: Chains that run side by side, those of more parameters than are corrected, and first steps of
#: each that are left out.
CHAINS, FEWER, LEFT_OUT = 200, 40, 30
#: Where the curvature is all but 0, a chain starts no farther than this from the mode.
FAR = 5.0
#: Values of a scale that are drawn from, and standard deviation of the logarithm of a stretch.
GRID, STRETCH = 120, 0.4
#: Parameters from which SciPy's solver of triangles is the faster one.
LARGE = 80
#: Share of the steps that must be accepted, for the draws to be those of the model.
ENOUGH = 0.1
#: Most systems, and most parameters of which draws are corrected.
MOST_SYSTEMS, MOST_CORRECTED = 300, 220


def approximate(
    battles: Battles,
    model: CalibratedBattles | None = None,
    *,
    draws: int = 4000,
    random_seed: int = 1,
) -> Fit:
    """Draw from the posterior at once, without PyMC.

    200 short chains start about the mode. Each step draws the scales and the weight of every
    liking given the rest, and then all other parameters at once, by the curvature of the
    likelihood, with Metropolis' correction. NUTS agrees
    (``tests/leaderboard/test_laplace.py``), and ranks are uniform
    (``benchmarks/leaderboard/sbc.py``). Of more than 220 parameters (about 105 systems) the
    likelihood is taken as its parabola at the mode, which was held against NUTS on 200 systems
    (``benchmarks/leaderboard/large.py``), and on no more than these.

    Parameters
    ----------
    battles : Battles
        What was seen; 300 systems at most.
    model : CalibratedBattles, optional
        By default ``CalibratedBattles()``.
    draws : int, default 4000
        Draws to keep, a multiple of 200.
    random_seed : int, default 1
        Same seed, same draws.

    Returns
    -------
    Fit
        As `fit` makes it. The caution ``approximate-posterior`` tells if the likelihood is
        approximate: of many systems, or if steps are seldom accepted.

    Raises
    ------
    InputError
        If the model does not suit the data, or there are more than 300 systems.

    References
    ----------
    Rue, Martino & Chopin (2009), J. R. Stat. Soc. B 71, 319-392; Tierney (1994), Ann. Stat. 22,
    1701-1762.
    """
    chosen = suited(battles, model, "approximate")
    with checking("leaderboard.approximate") as require:
        k = len(battles.systems)
        require(k <= MOST_SYSTEMS, f"expected {MOST_SYSTEMS} systems at most, got {k}")
        some = draws > 0 and draws % CHAINS == 0
        require(some, f"must be a multiple of {CHAINS}", draws=draws)
    with one_blas_thread():
        cells = cells_of(battles, style=chosen.target == "equal length")
        density = Density.of(battles, cells, chosen)
        rng = rng_of(random_seed)
        stepped = partial(_stepped, density, *_likeliest(density), draws, rng)
        drawn, accepted = None, 0.0
        if density.size <= MOST_CORRECTED:
            drawn, accepted = stepped(exact=True)
            if accepted < ENOUGH:  # of a judge of no use a safe curvature is all but 0
                with suppress(np.linalg.LinAlgError):  # the whole may have no root
                    drawn, accepted = stepped(exact=True, safe=False)
        if drawn is None or accepted < ENOUGH:
            drawn, accepted = stepped(exact=False)[0], 0.0
    return _as_fit(battles, chosen, density, _named(density, drawn), accepted, random_seed)


#: Log-density of each row of parameters, but for levels and likings given their scales.
Height = Callable[[np.ndarray], np.ndarray]


class Drawn(NamedTuple):
    """Draws of the parameters and of their scales."""

    x: np.ndarray
    judge: np.ndarray
    liking: np.ndarray


def _likeliest(density: Density) -> tuple[np.ndarray, np.ndarray]:
    """The mode at scales that suit what is there, and the factor of its curvature."""
    model = density.model
    x, scales = density.start(), Scales(np.ones(max(density.judges, 1)), model.liking_scale)
    for _ in range(ROUNDS):
        x, curved = density.mode(x, scales)
        squares = x**2 + np.diag(np.linalg.inv(curved))
        spread = np.sqrt(squares[density.normal].reshape(-1, density.systems).mean(axis=1))
        liking = np.sqrt(squares[density.likings].mean() * (LIKING_DF - 2) / LIKING_DF)
        scales = Scales(spread, max(float(liking), SMALL * model.liking_scale))
    return x, np.linalg.cholesky(curved)


def _stepped(
    density: Density,
    mode: np.ndarray,
    factor: np.ndarray,
    draws: int,
    rng: np.random.Generator,
    *,
    exact: bool,
    safe: bool = True,
) -> tuple[Drawn, float]:
    """Draws of short chains, and the share of their steps that were accepted.

    If not `exact`, the log-density of `Density.rest` is its parabola at the mode, with a sharpness
    of at most `MOST` times its prior's scale, since the parabola knows no upper end of it.
    """
    chains = CHAINS if density.size <= MOST_CORRECTED else FEWER
    away = np.linalg.solve(factor.T, rng.standard_normal((density.size, chains))).T
    x = mode + np.clip(away, -FAR, FAR)
    slope, curved = density.derivatives(mode, safe=safe)

    def parabola(points: np.ndarray) -> np.ndarray:
        away, top = points - mode, np.log(MOST * density.sharpness_scale)
        inside = (points[:, density.sharpness] < top).all(axis=1)
        return np.where(inside, away @ slope - 0.5 * ((away @ curved) * away).sum(axis=1), -np.inf)

    height = density.rest if exact else parabola
    rest = height(x)
    kept: list[tuple[np.ndarray, ...]] = []
    accepted, steps = 0.0, LEFT_OUT + draws // chains
    for step in range(steps):
        spread, liking, pull = _scales_given(density, x, rng)
        x, rest, taken = _all_at_once(height, x, rest, pull, (mode, slope, curved), rng)
        x, rest, spread, liking = _stretched(density, height, x, rest, spread, liking, rng)
        x, rest = _sharpened(density, height, x, rest, rng)
        if step >= LEFT_OUT:
            kept.append((x, spread, liking))
            accepted += taken / (steps - LEFT_OUT)
    parts = [np.stack(part, axis=1) for part in zip(*kept, strict=True)]
    return Drawn(*(part.reshape(draws, *part.shape[2:]) for part in parts)), accepted


def _all_at_once(
    height: Height,
    x: np.ndarray,
    rest: np.ndarray,
    pull: np.ndarray,
    about: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, float]:
    """New parameters given the precision of levels and likings, by the curvature at the mode."""
    mode, slope, curved = about
    at = np.arange(pull.shape[1])
    precision = np.repeat(curved[None], len(x), axis=0)
    precision[:, at, at] += pull
    right = np.repeat(slope[None], len(x), axis=0)
    right[:, at] -= pull * mode[at]
    # less the mode, times the transposed factor, the proposal is standard normal about `middle`
    factor = np.linalg.cholesky(precision)
    middle = _solved(factor, right[..., None])
    away = rng.standard_normal(middle.shape)
    new = mode + _solved(factor, middle + away, "T")[..., 0]
    back = factor.swapaxes(1, 2) @ (x - mode)[..., None] - middle
    other = height(new)
    ratio = other - rest + 0.5 * (away**2 - back**2).sum(axis=(1, 2))
    ratio -= 0.5 * (pull * (new[:, at] ** 2 - x[:, at] ** 2)).sum(axis=1)
    taken = np.log(rng.random(len(x))) < ratio
    kept = np.where(taken[:, None], new, x)
    return kept, np.where(taken, other, rest), float(taken.mean())


def _solved(factors: np.ndarray, right: np.ndarray, trans: str = "N") -> np.ndarray:
    """Solve by each of many lower triangles, or by their transposes (``"T"``)."""
    if factors.shape[-1] < LARGE:  # by LAPACK's general solver, which NumPy calls for all at once
        return np.linalg.solve(factors.swapaxes(1, 2) if trans == "T" else factors, right)
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factors, right, lower=True, trans=trans))


def _scales_given(
    density: Density, x: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales given levels and likings, by a grid; and the precision of each of these."""
    k = density.systems
    levels = x[:, density.normal].reshape(len(x), -1, k)
    spreads = [
        _scale_given(levels[:, j], density.model.judge_scale, np.inf, rng)
        for j in range(levels.shape[1])
    ]
    spread = np.stack(spreads, axis=1)
    pull = np.repeat(1 / spread**2, k, axis=1)
    if not density.judges:
        return spread, np.ones(len(x)), pull
    likings = x[:, density.likings]
    liking = _scale_given(likings, density.model.liking_scale, LIKING_DF, rng)
    below = LIKING_DF + (likings / liking[:, None]) ** 2
    # of Student's t as a normal mixture
    weight = rng.chisquare(LIKING_DF + 1, likings.shape) / below
    return spread, liking, np.hstack([pull, weight / liking[:, None] ** 2])


def _scale_given(values: np.ndarray, top: float, df: float, rng: np.random.Generator) -> np.ndarray:
    """Scale of each row of values: of Student's t, Rayleigh; of a normal (df inf), half-normal."""
    logs = np.linspace(np.log(LEAST * top), np.log(MOST * top), GRID)
    scales = np.exp(logs)
    if np.isinf(df):
        tails = (values**2).sum(axis=1)[:, None] / (2 * scales**2)
    else:
        squares = (values[:, None] / scales[:, None]) ** 2
        tails = (df + 1) / 2 * np.log1p(squares / df).sum(axis=2)
    power = 1 if np.isinf(df) else 2
    logs_of = -tails + (power - values.shape[1]) * logs - 0.5 * (scales / top) ** 2
    chosen = np.argmax(logs_of + rng.gumbel(size=logs_of.shape), axis=1)
    return np.asarray(scales[chosen])


def _stretched(
    density: Density,
    height: Height,
    x: np.ndarray,
    rest: np.ndarray,
    spread: np.ndarray,
    liking: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Levels, and then likings, stretched with their scales: their density does not change."""
    k, model = density.systems, density.model
    for part in ("judge", "liking") if density.judges else ("judge",):
        top = model.judge_scale if part == "judge" else model.liking_scale
        old = spread if part == "judge" else liking[:, None]
        away = rng.normal(0, STRETCH, old.shape)
        new = old * np.exp(away)
        place = density.normal if part == "judge" else density.likings
        moved = x.copy()
        moved[:, place] *= np.repeat(np.exp(away), k, axis=1)
        other = height(moved)
        power = 1 if part == "judge" else 2  # half-normal and Rayleigh, by the logarithm
        ratio = other - rest + (power * away - 0.5 * (new**2 - old**2) / top**2).sum(axis=1)
        inside = ((new > LEAST * top) & (new < MOST * top)).all(axis=1)
        taken = (np.log(rng.random(len(x))) < ratio) & inside
        x, rest = np.where(taken[:, None], moved, x), np.where(taken, other, rest)
        kept = np.where(taken[:, None], new, old)
        spread, liking = (kept, liking) if part == "judge" else (spread, kept[:, 0])
    return x, rest, spread, liking


def _sharpened(
    density: Density, height: Height, x: np.ndarray, rest: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sharpness by a random walk of its logarithm, whose lower tail the curvature does not have."""
    moved = x.copy()
    moved[:, density.sharpness] += rng.standard_normal(x[:, density.sharpness].shape)
    other = height(moved)
    taken = np.log(rng.random(len(x))) < other - rest
    return np.where(taken[:, None], moved, x), np.where(taken, other, rest)


def _named(density: Density, drawn: Drawn) -> dict[str, np.ndarray]:
    """Draws by the names of the model's variables."""
    x = drawn.x
    judges, people = density.judges_levels(x), density.with_levels(x)[:, density.likings]
    values = {"strength": people - people.mean(axis=1, keepdims=True)}
    if density.judges:
        values["judge_strength"] = judges - judges.mean(axis=2, keepdims=True)
        values["sharpness"] = np.exp(x[:, density.sharpness])
        values["judge_scale"] = drawn.judge
        values["liking_scale"] = drawn.liking
    else:
        values["people_scale"] = drawn.judge[:, 0]
    for i, name in enumerate(density.tie_names):
        called = "people_tie" if name == PEOPLE else f"judge_tie_{name}"
        values[called] = np.exp(x[:, density.ties.start + i])
    order, style = x[:, density.order], x[:, density.style]
    values |= {"order_effect": order} if order.size else {}
    values |= {"people_style": style[:, -1]} if style.size else {}
    values |= {"judge_style": style[:, :-1]} if style.size and density.judges else {}
    return values


def _as_fit(
    battles: Battles,
    model: CalibratedBattles,
    density: Density,
    values: dict[str, np.ndarray],
    accepted: float,
    seed: int,
) -> Fit:
    """The draws as a fit."""
    import xarray as xr

    from bayesjudge.core.storage import checksum
    from bayesjudge.core.version import __version__

    by_judge = ("sharpness", "judge_scale", "order_effect", "judge_style")
    dims = {"strength": ["system"], "judge_strength": ["judge", "system"]}
    dims |= {name: ["judge"] for name in by_judge}
    shaped = {
        name: (["chain", "draw", *dims.get(name, [])], value.reshape(4, -1, *value.shape[1:]))
        for name, value in values.items()
    }
    labels = {"system": list(battles.systems), "judge": list(battles.judges)}
    assumptions, cautions = model._diagnosis(battles)
    cautions += conflicts(model, battles)
    method = methods.LAPLACE_BATTLES
    if accepted < ENOUGH:
        method = methods.PLAIN_LAPLACE_BATTLES
        cautions = (*cautions, Caution.of("approximate-posterior", parameters=density.size))
    coords = {"chain": range(4), "draw": range(len(values["strength"]) // 4), **labels}
    posterior = derived(xr.Dataset(shaped, coords), battles)
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs = {
        "random_seed": seed,
        "model": model.public_name(),
        "priors": model._words_for(battles),
        "data_sha256": checksum(battles),
        "bayesjudge_version": __version__,
        "accepted": accepted,
    }
    return Fit(
        idata=tree,
        data=battles,
        spec=model,
        quantities=model._quantities(battles),
        method=method_at(model.target, method),
        source=model._source,
        assumptions=assumptions,
        cautions=cautions,
        interval=model._interval,
    )
