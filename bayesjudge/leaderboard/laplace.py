"""The posterior at once: Laplace by scale of people's likings, corrected by Metropolis steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.prior_check import conflicts
from bayesjudge.core.threads import one_blas_thread
from bayesjudge.leaderboard.cells import Cells, Pairs, cells_of
from bayesjudge.leaderboard.closed_form import method_at
from bayesjudge.leaderboard.data import PEOPLE, Battles
from bayesjudge.leaderboard.likelihood import climb, log_chances, slopes
from bayesjudge.leaderboard.model import (
    LIKING_DF,
    SHARPNESS_SD,
    STYLE_SD,
    TIE_SD,
    CalibratedBattles,
    derived,
    suited,
)

#: Nodes over the logarithm of the likings' scale, from this part of its prior's scale to that.
NODES, LEAST, MOST = 12, 0.02, 5.0
#: Chains that run side by side from draws of the approximation, and steps that are left out.
CHAINS, LEFT_OUT = 200, 30
#: Values of a scale that are drawn from, and standard deviation of the logarithm of a stretch.
GRID, STRETCH = 60, 0.4
#: Share of the steps that must be accepted, for the draws to be those of the model.
ENOUGH = 0.1
#: Numbers from which a design is sparse.
DENSE = 100_000
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

    At each of some scales of people's likings the other parameters are drawn about their mode by
    the curvature there. From these draws 200 short chains set out, each step of which draws the
    scale and the weight of every liking given the rest, and then all other parameters at once, by
    the curvature of the likelihood, with Metropolis' correction. NUTS agrees
    (``tests/leaderboard/test_laplace.py``), and ranks are uniform
    (``benchmarks/leaderboard/sbc.py``).

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
        As `fit` makes it. The caution ``approximate-posterior`` tells if the draws are those of the
        approximation: of many systems, or if steps are seldom accepted.

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
        require(some, f"draws must be a multiple of {CHAINS}, got {draws}")
    with one_blas_thread():
        cells = cells_of(battles, style=chosen.target == "equal length")
        density = Density.of(battles, cells, chosen)
        rng = np.random.default_rng(random_seed)
        drawn, mode = _laplace(density, draws, rng)
        accepted = 0.0
        if density.size <= MOST_CORRECTED:
            corrected, accepted = _corrected(density, drawn, mode, draws, rng)
            drawn = corrected if accepted >= ENOUGH else drawn
    return _as_fit(battles, chosen, density, _named(density, drawn), accepted, random_seed)


class Scales(NamedTuple):
    """Standard deviation of levels by judge (of people's without one); scale of likings."""

    judge: np.ndarray
    liking: float


@dataclass(frozen=True, eq=False)
class Source:
    """Verdicts of one source, and where its parameters stand."""

    pairs: Pairs
    #: Array (cells, parameters), sparse if it is large: the predictor, with people's levels in
    #: place of their likings.
    design: Any
    #: Place of the tie parameter; -1 without ties.
    tie: int


@dataclass(frozen=True, eq=False)
class Density:
    """The model's log-density given the scale of people's likings, and its derivatives.

    Parameters are judges' levels (judge, system), people's likings (system; their levels without a
    judge), logarithms of sharpness (judge) and of tie parameters, order effects (judge), and
    effects of length (judge, then people). Given their scales, levels and likings are normal, but
    for likings beside a judge, which are Student t.
    """

    systems: int
    judges: int
    size: int
    sources: Sequence[Source]
    sharpness: slice
    ties: slice
    order: slice
    style: slice
    tie_names: Sequence[str]
    model: CalibratedBattles

    @classmethod
    def of(cls, battles: Battles, cells: Cells, model: CalibratedBattles) -> Density:
        """Lay the parameters out."""
        from scipy.sparse import csr_array

        k, j = len(battles.systems), len(battles.judges)
        names = [name for name, pairs in cells.of.items() if pairs.tied]
        sizes = [(j + 1) * k, j, len(names), j * cells.ordered, (j + 1) * cells.style]
        ends = np.cumsum(sizes)
        parts = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
        _, sharpness, ties, order, style = parts
        sources = []
        for name, pairs in cells.of.items():
            place = j if name == PEOPLE else battles.judges.index(name)
            n = len(pairs.first)
            row, ones = np.arange(n), np.ones(n)
            entries = [(ones, row, place * k + pairs.first), (-ones, row, place * k + pairs.second)]
            if cells.ordered and place < j:
                entries.append((ones, row, np.full(n, order.start + place)))
            if cells.style:
                entries.append((pairs.style, row, np.full(n, style.start + place)))
            data, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
            design = csr_array((data, (rows, columns)), (n, int(ends[-1])))
            design = design.toarray() if n * int(ends[-1]) < DENSE else design
            tie = ties.start + names.index(name) if name in names else -1
            sources.append(Source(pairs, design, tie))
        return cls(k, j, int(ends[-1]), sources, sharpness, ties, order, style, names, model)

    @property
    def normal(self) -> slice:
        """Place of the levels with a normal prior: the judges', or people's without a judge."""
        return slice(0, max(self.judges, 1) * self.systems)

    @property
    def likings(self) -> slice:
        """Place of people's likings."""
        return slice(self.judges * self.systems, (self.judges + 1) * self.systems)

    def judges_levels(self, x: np.ndarray) -> np.ndarray:
        """Judges' levels, of parameters along the last axis."""
        cut = self.judges * self.systems
        return x[..., :cut].reshape(*x.shape[:-1], self.judges, self.systems)

    def with_levels(self, x: np.ndarray) -> np.ndarray:
        """Parameters with people's levels in place of their likings."""
        levels = x.copy()
        times = np.exp(x[..., self.sharpness])[..., None]
        levels[..., self.likings] += (times * self.judges_levels(x)).sum(axis=-2)
        return levels

    def start(self) -> np.ndarray:
        """Where the mode is sought from."""
        x = np.zeros(self.size)
        x[self.sharpness] = np.log(self.model.sharpness / max(self.judges, 1))
        x[self.ties] = self.model.tie_location
        return x

    def normals(self) -> Iterator[tuple[slice, float, float]]:
        """Parameters with a normal prior, its mean and standard deviation."""
        model = self.model
        yield self.ties, model.tie_location, TIE_SD
        yield self.order, 0.0, model.order_scale
        yield self.style, 0.0, STYLE_SD
        yield self.sharpness, float(np.log(model.sharpness / max(self.judges, 1))), SHARPNESS_SD

    def rest(self, x: np.ndarray) -> np.ndarray:
        """Log-density of each row of parameters, but for levels and likings given their scales."""
        total = np.zeros(len(x))
        for part, mean, sd in self.normals():
            total -= 0.5 * ((x[:, part] - mean) ** 2).sum(axis=1) / sd**2
        with_levels = self.with_levels(x)
        for source in self.sources:
            eta = source.design @ with_levels.T
            tie = x[:, source.tie] if source.tie >= 0 else -np.inf
            total += log_chances(eta, tie, source.pairs.weight.T[:, :, None]).sum(axis=0)
        return total

    def derivatives(self, x: np.ndarray, *, safe: bool) -> tuple[np.ndarray, np.ndarray]:
        """Gradient of `rest`, and minus its second derivative; a `safe` one is never negative."""
        gradient, curved = np.zeros(self.size), np.zeros((self.size, self.size))
        for part, mean, sd in self.normals():
            gradient[part] -= (x[part] - mean) / sd**2
            curved[part, part] += np.eye(part.stop - part.start) / sd**2
        times = np.exp(x[self.sharpness])
        levels, k = self.judges_levels(x), self.systems
        to_levels = np.eye(self.size)
        for j in range(self.judges):
            to_levels[self.likings, j * k : (j + 1) * k] = times[j] * np.eye(k)
            to_levels[self.likings, self.sharpness.start + j] = times[j] * levels[j]
        slope, bend = self._of_verdicts(self.with_levels(x))
        gradient += to_levels.T @ slope
        curved += to_levels.T @ bend @ to_levels
        if not safe:
            pull = slope[self.likings]
            for j in range(self.judges):
                of_judge, at = slice(j * k, (j + 1) * k), self.sharpness.start + j
                curved[of_judge, at] -= times[j] * pull
                curved[at, of_judge] -= times[j] * pull
                curved[at, at] -= times[j] * (levels[j] @ pull)
        return gradient, curved

    def _of_verdicts(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the likelihood by parameters with people's levels."""
        from scipy.sparse import diags_array

        gradient, curved = np.zeros(self.size), np.zeros((self.size, self.size))
        for source in self.sources:
            tie = float(levels[source.tie]) if source.tie >= 0 else -np.inf
            by_eta, by_tie, second, both, corner = slopes(
                source.design @ levels, tie, source.pairs.weight
            )
            gradient += source.design.T @ by_eta
            curved = curved + source.design.T @ (diags_array(second) @ source.design)
            if source.tie >= 0:
                across = source.design.T @ both
                gradient[source.tie] += by_tie.sum()
                curved[source.tie] += across
                curved[:, source.tie] += across
                curved[source.tie, source.tie] += corner.sum()
        return gradient, curved

    def mode(self, x: np.ndarray, scales: Scales) -> tuple[np.ndarray, np.ndarray, float]:
        """The mode given the scales, minus the second derivative and the density there."""
        x, height = climb(
            x, partial(self.at, scales=scales), partial(self.given, scales=scales, safe=True), 1e-5
        )
        _, curved = self.given(x, scales, safe=False)
        if np.linalg.eigvalsh(curved)[0] <= 1e-6:
            _, curved = self.given(x, scales, safe=True)
        return x, curved, height

    def at(self, x: np.ndarray, scales: Scales) -> float:
        """Log-density of one point given the scales."""
        total = float(self.rest(x[None])[0])
        total -= 0.5 * float(((x[self.normal] / np.repeat(scales.judge, self.systems)) ** 2).sum())
        if self.judges:
            squares = (x[self.likings] / scales.liking) ** 2
            total -= float((LIKING_DF + 1) / 2 * np.log1p(squares / LIKING_DF).sum())
            total -= self.systems * float(np.log(scales.liking))
        return total

    def given(self, x: np.ndarray, scales: Scales, *, safe: bool) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `at`; a `safe` normal touches Student's t from below."""
        gradient, curved = self.derivatives(x, safe=safe)
        pull = 1 / np.repeat(scales.judge, self.systems) ** 2
        gradient[self.normal] -= pull * x[self.normal]
        curved[self.normal, self.normal] += np.diag(pull)
        if self.judges:
            liking = x[self.likings]
            below = LIKING_DF * scales.liking**2 + liking**2
            bend = (LIKING_DF + 1) / below
            if not safe:
                bend *= (LIKING_DF * scales.liking**2 - liking**2) / below
            gradient[self.likings] -= (LIKING_DF + 1) * liking / below
            curved[self.likings, self.likings] += np.diag(bend)
        return gradient, curved


class Drawn(NamedTuple):
    """Draws of the parameters and of their scales."""

    x: np.ndarray
    judge: np.ndarray
    liking: np.ndarray


def _laplace(density: Density, draws: int, rng: np.random.Generator) -> tuple[Drawn, np.ndarray]:
    """Draws about the mode at each scale of likings, by its evidence; and the likeliest mode.

    Levels' standard deviations are those of the levels found.
    """
    scale = density.model.liking_scale
    nodes = np.exp(_log_scales(scale, NODES)) if density.judges else np.ones(1)
    spread, x = np.ones(max(density.judges, 1)), density.start()
    for _ in range(4):
        x, curved, _ = density.mode(x, Scales(spread, scale))
        squares = (x**2 + np.diag(np.linalg.inv(curved)))[density.normal]
        spread = np.sqrt(squares.reshape(-1, density.systems).mean(axis=1))
    modes, factors, evidence = [], [], []
    for node in nodes:
        x, curved, height = density.mode(x, Scales(spread, node))
        modes.append(x)
        factors.append(np.linalg.cholesky(curved))
        # the prior of the scale by its logarithm
        prior = np.log(node) - 0.5 * (node / scale) ** 2
        evidence.append(prior + height - np.log(np.diag(factors[-1])).sum())
    chance = np.exp(np.array(evidence) - max(evidence))
    node_of = rng.choice(len(nodes), draws, p=chance / chance.sum())
    points = rng.standard_normal((draws, density.size))
    for i in np.unique(node_of):
        at = node_of == i
        points[at] = modes[i] + np.linalg.solve(factors[i].T, points[at].T).T
    drawn = Drawn(points, np.repeat(spread[None], draws, axis=0), nodes[node_of])
    return drawn, modes[int(np.argmax(evidence))]


def _log_scales(top: float, n: int) -> np.ndarray:
    return np.linspace(np.log(LEAST * top), np.log(MOST * top), n)


def _corrected(
    density: Density, start: Drawn, mode: np.ndarray, draws: int, rng: np.random.Generator
) -> tuple[Drawn, float]:
    """Draws of the model itself, chain by chain; and the share of steps that were accepted."""
    first = rng.choice(len(start.x), CHAINS, replace=False)
    x, spread, liking = start.x[first], start.judge[first], start.liking[first]
    slope, curved = density.derivatives(mode, safe=True)
    rest = density.rest(x)
    kept: list[tuple[np.ndarray, ...]] = []
    accepted, steps = 0.0, LEFT_OUT + draws // CHAINS
    for step in range(steps):
        spread, liking, pull = _scales_given(density, x, rng)
        x, rest, taken = _all_at_once(density, x, rest, pull, (mode, slope, curved), rng)
        x, rest, spread, liking = _stretched(density, x, rest, spread, liking, rng)
        if step >= LEFT_OUT:
            kept.append((x, spread, liking))
            accepted += taken / (steps - LEFT_OUT)
    parts = [np.stack(part, axis=1) for part in zip(*kept, strict=True)]
    return Drawn(*(part.reshape(draws, *part.shape[2:]) for part in parts)), accepted


def _all_at_once(
    density: Density,
    x: np.ndarray,
    rest: np.ndarray,
    pull: np.ndarray,
    about: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, float]:
    """New parameters given the precision of levels and likings, by the curvature at the mode."""
    mode, slope, curved = about
    at = np.arange(pull.shape[1])
    precision = np.repeat(curved[None], CHAINS, axis=0)
    precision[:, at, at] += pull
    right = np.repeat(slope[None], CHAINS, axis=0)
    right[:, at] -= pull * mode[at]
    middle = mode + np.linalg.solve(precision, right[..., None])[..., 0]
    factor = np.linalg.cholesky(precision).swapaxes(1, 2)
    new = middle + np.linalg.solve(factor, rng.standard_normal(x.shape)[..., None])[..., 0]

    def proposed(y: np.ndarray) -> Any:
        gap = factor @ (y - middle)[..., None]
        return -0.5 * (gap**2).sum(axis=(1, 2))

    other = density.rest(new)
    ratio = other - rest + proposed(x) - proposed(new)
    ratio -= 0.5 * (pull * (new[:, at] ** 2 - x[:, at] ** 2)).sum(axis=1)
    taken = np.log(rng.random(CHAINS)) < ratio
    kept = np.where(taken[:, None], new, x)
    return kept, np.where(taken, other, rest), float(taken.mean())


def _scales_given(
    density: Density, x: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales given levels and likings, by a grid; and the precision of each of these."""
    k = density.systems
    levels = x[:, density.normal].reshape(CHAINS, -1, k)
    spreads = [
        _scale_given(levels[:, j], density.model.judge_scale, np.inf, rng)
        for j in range(levels.shape[1])
    ]
    spread = np.stack(spreads, axis=1)
    pull = np.repeat(1 / spread**2, k, axis=1)
    if not density.judges:
        return spread, np.ones(CHAINS), pull
    likings = x[:, density.likings]
    liking = _scale_given(likings, density.model.liking_scale, LIKING_DF, rng)
    below = LIKING_DF + (likings / liking[:, None]) ** 2
    # of Student's t as a normal mixture
    weight = rng.chisquare(LIKING_DF + 1, likings.shape) / below
    return spread, liking, np.hstack([pull, weight / liking[:, None] ** 2])


def _scale_given(values: np.ndarray, top: float, df: float, rng: np.random.Generator) -> np.ndarray:
    """Scale of each row of values, of Student's t or a normal, with a half-normal prior."""
    logs = _log_scales(top, GRID)
    scales = np.exp(logs)
    if np.isinf(df):
        tails = (values**2).sum(axis=1)[:, None] / (2 * scales**2)
    else:
        squares = (values[:, None] / scales[:, None]) ** 2
        tails = (df + 1) / 2 * np.log1p(squares / df).sum(axis=2)
    logs_of = -tails + (1 - values.shape[1]) * logs - 0.5 * (scales / top) ** 2
    chosen = np.argmax(logs_of + rng.gumbel(size=logs_of.shape), axis=1)
    return np.asarray(scales[chosen])


def _stretched(
    density: Density,
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
        other = density.rest(moved)
        ratio = other - rest + (away - 0.5 * (new**2 - old**2) / top**2).sum(axis=1)
        inside = ((new > LEAST * top) & (new < MOST * top)).all(axis=1)
        taken = (np.log(rng.random(CHAINS)) < ratio) & inside
        x, rest = np.where(taken[:, None], moved, x), np.where(taken, other, rest)
        kept = np.where(taken[:, None], new, old)
        spread, liking = (kept, liking) if part == "judge" else (spread, kept[:, 0])
    return x, rest, spread, liking


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
    if density.order.stop > density.order.start:
        values["order_effect"] = x[:, density.order]
    if density.style.stop > density.style.start:
        style = x[:, density.style]
        values["people_style"] = style[:, -1]
        values |= {"judge_style": style[:, :-1]} if density.judges else {}
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
    n = len(values["strength"])
    coords: dict[str, Any] = {"chain": range(4), "draw": range(n // 4)}
    coords |= {"system": list(battles.systems), "judge": list(battles.judges)}
    assumptions, cautions = model._diagnosis(battles)
    cautions += conflicts(model, battles)
    method = methods.LAPLACE_BATTLES
    if accepted < ENOUGH:
        method = methods.PLAIN_LAPLACE_BATTLES
        cautions = (*cautions, Caution.of("approximate-posterior", parameters=density.size))
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
