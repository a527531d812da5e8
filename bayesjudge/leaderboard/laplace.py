"""The posterior at once: Laplace at each scale of people's likings, corrected by Metropolis steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit
from bayesjudge.core.threads import one_blas_thread
from bayesjudge.leaderboard.cells import Cells, Pairs, cells_of
from bayesjudge.leaderboard.data import PEOPLE, Battles
from bayesjudge.leaderboard.likelihood import log_chances, slopes
from bayesjudge.leaderboard.model import (
    LIKING_DF,
    SHARPNESS_SD,
    TIE_SD,
    CalibratedBattles,
    derived,
    suited,
)

#: Nodes over the logarithm of the likings' scale, from this part of its prior's scale to that.
NODES, LEAST, MOST = 12, 0.02, 5.0
#: Chains that run side by side from draws of the approximation, and steps that are left out.
CHAINS, LEFT_OUT = 200, 30
#: Share of the steps that must be accepted, for the draws to be those of the model.
ENOUGH = 0.1
#: Most systems, and most parameters of which draws are corrected.
MOST_SYSTEMS, MOST_CORRECTED = 300, 150


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
    (``benchmarks/leaderboard/laplace.py``).

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
        density = Density.of(battles, cells_of(battles, chosen), chosen)
        rng = np.random.default_rng(random_seed)
        start = _laplace(density, draws, rng)
        if density.size <= MOST_CORRECTED:
            x, scale, accepted = _corrected(density, start, draws, rng)
        else:
            x, scale, accepted = start.x, start.scale, float("nan")
        if accepted < ENOUGH:
            x, scale = start.x, start.scale
    return _as_fit(battles, chosen, density, _named(density, x, scale), accepted, random_seed)


@dataclass(frozen=True, eq=False)
class Source:
    """Verdicts of one source, and where its parameters stand."""

    pairs: Pairs
    #: Sparse, (cells, parameters): the predictor, with levels of people where their likings stand.
    design: Any
    #: Place of the tie parameter; -1 without ties.
    tie: int


@dataclass(frozen=True, eq=False)
class Density:
    """The model's log-density given the scale of people's likings, and its derivatives.

    Parameters are judges' levels (judge, system), people's likings (system), logarithms of
    sharpness (judge), of scales (judge; of people's levels without a judge) and of tie parameters,
    order effects (judge), and effects of length (judge, then people).
    """

    systems: int
    judges: int
    size: int
    sources: Sequence[Source]
    sharpness: slice
    scales: slice
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
        names = [name for name, one in cells.of.items() if one.tied]
        sizes = [(j + 1) * k, j, j or 1, len(names), j * cells.ordered, (j + 1) * cells.style]
        ends = np.cumsum(sizes)
        parts = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
        _, sharpness, scales, ties, order, style = parts
        made = []
        for name, one in cells.of.items():
            place = j if name == PEOPLE else battles.judges.index(name)
            n = len(one.first)
            row, ones = np.arange(n), np.ones(n)
            entries = [(ones, row, place * k + one.first), (-ones, row, place * k + one.second)]
            if cells.ordered and place < j:
                entries.append((ones, row, np.full(n, order.start + place)))
            if cells.style:
                entries.append((one.style, row, np.full(n, style.start + place)))
            data, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
            design = csr_array((data, (rows, columns)), (n, int(ends[-1])))
            tie = ties.start + names.index(name) if name in names else -1
            made.append(Source(one, design, tie))
        return cls(k, j, int(ends[-1]), made, sharpness, scales, ties, order, style, names, model)

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
        made = x.copy()
        times = np.exp(x[..., self.sharpness])[..., None]
        made[..., self.likings] += (times * self.judges_levels(x)).sum(axis=-2)
        return made

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
        yield self.style, 0.0, model.style_scale
        yield self.sharpness, float(np.log(model.sharpness / max(self.judges, 1))), SHARPNESS_SD

    def rest(self, x: np.ndarray) -> np.ndarray:
        """Log-density of each row of parameters, but for people's likings given a judge."""
        log_scale = x[:, self.scales]
        spread = np.exp(log_scale)
        total = (-0.5 * (spread / self.model.judge_scale) ** 2 + log_scale).sum(axis=1)
        for part, mean, sd in self.normals():
            total -= 0.5 * ((x[:, part] - mean) ** 2).sum(axis=1) / sd**2
        own = self.judges_levels(x) if self.judges else x[:, None, self.likings]
        total -= (0.5 * (own / spread[..., None]) ** 2 + log_scale[..., None]).sum(axis=(1, 2))
        with_levels = self.with_levels(x)
        for source in self.sources:
            eta = source.design @ with_levels.T
            tie = x[:, source.tie] if source.tie >= 0 else -np.inf
            total += log_chances(eta, tie, source.pairs.weight.T[:, :, None]).sum(axis=0)
        return np.asarray(total)

    def derivatives(self, x: np.ndarray, *, safe: bool) -> tuple[np.ndarray, np.ndarray]:
        """Gradient of `rest`, and minus its second derivative; a `safe` one is never negative."""
        gradient, curved = self._of_priors(x, safe=safe)
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
                own, at = slice(j * k, (j + 1) * k), self.sharpness.start + j
                curved[own, at] -= times[j] * pull
                curved[at, own] -= times[j] * pull
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
            curved += (source.design.T @ (diags_array(second) @ source.design)).toarray()
            if source.tie >= 0:
                across = source.design.T @ both
                gradient[source.tie] += by_tie.sum()
                curved[source.tie] += across
                curved[:, source.tie] += across
                curved[source.tie, source.tie] += corner.sum()
        return gradient, curved

    def _of_priors(self, x: np.ndarray, *, safe: bool) -> tuple[np.ndarray, np.ndarray]:
        k = self.systems
        gradient, curved = np.zeros(self.size), np.zeros((self.size, self.size))
        for part, mean, sd in self.normals():
            gradient[part] -= (x[part] - mean) / sd**2
            curved[part, part] += np.eye(part.stop - part.start) / sd**2
        for s in range(max(self.judges, 1)):
            own, at = slice(s * k, (s + 1) * k), self.scales.start + s
            spread = np.exp(x[at])
            squares = (x[own] @ x[own]) / spread**2
            prior = (spread / self.model.judge_scale) ** 2
            gradient[own] -= x[own] / spread**2
            gradient[at] += squares - k + 1 - prior
            curved[own, own] += np.eye(k) / spread**2
            curved[at, at] += 2 * (squares + prior)
            if not safe:
                curved[at, own] -= 2 * x[own] / spread**2
                curved[own, at] -= 2 * x[own] / spread**2
        return gradient, curved

    def mode(self, x: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray, float]:
        """The mode given the likings' scale, minus the second derivative and the density there."""
        now = self.at(x, scale)
        for _ in range(100):
            gradient, curved = self._with_likings(x, scale, safe=True)
            step = np.linalg.solve(curved, gradient)
            step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-12))
            new = self.at(x + step, scale)
            while new < now - 1e-8 and np.abs(step).max() > 1e-9:
                step /= 2
                new = self.at(x + step, scale)
            x, now = x + step, new
            if np.abs(step).max() < 1e-5:
                break
        _, curved = self._with_likings(x, scale, safe=False)
        if np.linalg.eigvalsh(curved)[0] <= 1e-6:
            _, curved = self._with_likings(x, scale, safe=True)
        return x, curved, now

    def at(self, x: np.ndarray, scale: float) -> float:
        """Log-density of one point given the likings' scale."""
        total = float(self.rest(x[None])[0])
        if self.judges:
            squares = (x[self.likings] / scale) ** 2
            total -= float((LIKING_DF + 1) / 2 * np.log1p(squares / LIKING_DF).sum())
            total -= self.systems * float(np.log(scale))
        return total

    def _with_likings(
        self, x: np.ndarray, scale: float, *, safe: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `at`: those of Student's t, or of the normal that touches it from below."""
        gradient, curved = self.derivatives(x, safe=safe)
        if self.judges:
            own = x[self.likings]
            below = LIKING_DF * scale**2 + own**2
            bend = (LIKING_DF + 1) / below
            if not safe:
                bend *= (LIKING_DF * scale**2 - own**2) / below
            gradient[self.likings] -= (LIKING_DF + 1) * own / below
            curved[self.likings, self.likings] += np.diag(bend)
        return gradient, curved


class Start(NamedTuple):
    """Draws of the approximation, and its mode at the likeliest scale."""

    x: np.ndarray
    scale: np.ndarray
    mode: np.ndarray


def _laplace(density: Density, draws: int, rng: np.random.Generator) -> Start:
    """Draws from the normal distribution about the mode at each scale, by its evidence."""
    nodes = _nodes(density)
    # the prior of the scale by its logarithm
    prior = -0.5 * (nodes / density.model.liking_scale) ** 2 + np.log(nodes)
    modes, factors, evidence = [], [], []
    x = density.start()
    for scale, log_prior in zip(nodes, prior, strict=True):
        x, curved, height = density.mode(x, float(scale))
        modes.append(x)
        factors.append(np.linalg.cholesky(curved))
        evidence.append(log_prior + height - np.log(np.diag(factors[-1])).sum())
    chance = np.exp(np.array(evidence) - max(evidence))
    node = rng.choice(len(nodes), draws, p=chance / chance.sum())
    found = rng.standard_normal((draws, density.size))
    for i in np.unique(node):
        at = node == i
        found[at] = modes[i] + np.linalg.solve(factors[i].T, found[at].T).T
    return Start(found, nodes[node], modes[int(np.argmax(evidence))])


def _nodes(density: Density) -> np.ndarray:
    """Scales of people's likings; one, which nothing reads, without a judge."""
    ends = np.log([LEAST * density.model.liking_scale, MOST * density.model.liking_scale])
    return np.exp(np.linspace(*ends, NODES if density.judges else 1))


def _corrected(
    density: Density, start: Start, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Draws of the model itself, chain by chain; and the share of steps that were accepted."""
    x = start.x[rng.choice(len(start.x), CHAINS, replace=False)]
    mode, own = start.mode, density.likings
    slope, curved = density.derivatives(mode, safe=True)
    rest = density.rest(x)
    kept, scales, accepted = [], [], 0.0
    steps = LEFT_OUT + draws // CHAINS
    for step in range(steps):
        scale, pull = _of_likings(density, x[:, own], rng)
        precision = np.repeat(curved[None], CHAINS, axis=0)
        at = np.arange(own.start, own.stop)
        precision[:, at, at] += pull
        right = np.repeat(slope[None], CHAINS, axis=0)
        right[:, own] -= pull * mode[own]
        factor = np.linalg.cholesky(precision)
        middle = mode + np.linalg.solve(precision, right[..., None])[..., 0]
        away = np.linalg.solve(factor.swapaxes(1, 2), rng.standard_normal(x.shape)[..., None])
        new = middle + away[..., 0]

        def proposed(y: np.ndarray, middle: Any = middle, precision: Any = precision) -> Any:
            gap = (y - middle)[:, None]
            return -0.5 * (gap @ precision @ gap.swapaxes(1, 2))[:, 0, 0]

        other = density.rest(new)
        ratio = other - rest + proposed(x) - proposed(new)
        ratio -= 0.5 * (pull * (new[:, own] ** 2 - x[:, own] ** 2)).sum(axis=1)
        taken = np.log(rng.random(CHAINS)) < ratio
        x = np.where(taken[:, None], new, x)
        rest = np.where(taken, other, rest)
        if step >= LEFT_OUT:
            kept.append(x)
            scales.append(scale)
            accepted += taken.mean() / (steps - LEFT_OUT)
    by_chain = np.stack(kept, axis=1).reshape(draws, -1)
    return by_chain, np.stack(scales, axis=1).ravel(), float(accepted)


def _of_likings(
    density: Density, own: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The scale given likings, by a grid, and then the precision of each, of Student's t."""
    if not density.judges:
        return np.ones(CHAINS), np.zeros_like(own)
    ends = np.log([LEAST * density.model.liking_scale, MOST * density.model.liking_scale])
    logs = np.linspace(*ends, 8 * NODES)
    nodes = np.exp(logs)
    squares = (own[:, None] / nodes[:, None]) ** 2
    density_of = -(LIKING_DF + 1) / 2 * np.log1p(squares / LIKING_DF).sum(axis=2)
    density_of += (1 - density.systems) * logs - 0.5 * (nodes / density.model.liking_scale) ** 2
    noise = rng.gumbel(size=density_of.shape)
    scale = nodes[np.argmax(density_of + noise, axis=1)]
    below = LIKING_DF + (own / scale[:, None]) ** 2
    return scale, rng.chisquare(LIKING_DF + 1, own.shape) / below / scale[:, None] ** 2


def _named(density: Density, x: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
    """Draws by the names of the model's variables."""
    judges, people = density.judges_levels(x), density.with_levels(x)[:, density.likings]
    found = {"strength": people - people.mean(axis=1, keepdims=True)}
    if density.judges:
        found["judge_strength"] = judges - judges.mean(axis=2, keepdims=True)
        found["sharpness"] = np.exp(x[:, density.sharpness])
        found["judge_scale"] = np.exp(x[:, density.scales])
        found["liking_scale"] = scale
    else:
        found["people_scale"] = np.exp(x[:, density.scales.start])
    for i, name in enumerate(density.tie_names):
        called = "people_tie" if name == PEOPLE else f"judge_tie_{name}"
        found[called] = np.exp(x[:, density.ties.start + i])
    if density.order.stop > density.order.start:
        found["order_effect"] = x[:, density.order]
    if density.style.stop > density.style.start:
        style = x[:, density.style]
        found["people_style"] = style[:, -1]
        found |= {"judge_style": style[:, :-1]} if density.judges else {}
    return found


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

    dims = {"strength": ["system"], "judge_strength": ["judge", "system"]}
    dims |= dict.fromkeys(("sharpness", "judge_scale", "order_effect", "judge_style"), ["judge"])
    shaped = {
        name: (["chain", "draw", *dims.get(name, [])], one.reshape(4, -1, *one.shape[1:]))
        for name, one in values.items()
    }
    n = len(values["strength"])
    coords: dict[str, Any] = {"chain": range(4), "draw": range(n // 4)}
    coords |= {"system": list(battles.systems), "judge": list(battles.judges)}
    assumptions, cautions = model._diagnosis(battles)
    method = methods.LAPLACE_BATTLES
    if not accepted >= ENOUGH:
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
        method=method,
        source=model._source,
        assumptions=assumptions,
        cautions=cautions,
        interval=model._interval,
    )
