"""The log-density of `CalibratedBattles` in NumPy, and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.leaderboard.cells import Cells, Pairs
from bayesjudge.leaderboard.data import PEOPLE, Battles
from bayesjudge.leaderboard.likelihood import climb, log_chances, slopes
from bayesjudge.leaderboard.model import LIKING_DF, STYLE_SD, TIE_SD, CalibratedBattles

#: Numbers from which a design is sparse.
DENSE = 100_000


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

    @property
    def sharpness_scale(self) -> float:
        """Scale of the half-normal prior of each judge's sharpness."""
        return self.model.sharpness / max(self.judges, 1)

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
        x[self.sharpness] = np.log(self.sharpness_scale)
        x[self.ties] = self.model.tie_location
        return x

    def normals(self) -> Iterator[tuple[slice, float, float]]:
        """Parameters with a normal prior, its mean and standard deviation."""
        model = self.model
        yield self.ties, model.tie_location, TIE_SD
        yield self.order, 0.0, model.order_scale
        yield self.style, 0.0, STYLE_SD

    def rest(self, x: np.ndarray) -> np.ndarray:
        """Log-density of each row of parameters, but for levels and likings given their scales."""
        total = np.zeros(len(x))
        for part, mean, sd in self.normals():
            total -= 0.5 * ((x[:, part] - mean) ** 2).sum(axis=1) / sd**2
        logs = x[:, self.sharpness]  # half-normal, by its logarithm
        total += (logs - 0.5 * (np.exp(logs) / self.sharpness_scale) ** 2).sum(axis=1)
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
        squares = (times / self.sharpness_scale) ** 2
        gradient[self.sharpness] += 1 - squares
        curved[self.sharpness, self.sharpness] += np.diag(2 * squares)
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

    def mode(self, x: np.ndarray, scales: Scales) -> tuple[np.ndarray, np.ndarray]:
        """The mode given the scales, and minus the second derivative there."""
        derivatives = partial(self.given, scales=scales, safe=True)
        x = climb(x, partial(self.at, scales=scales), derivatives, 1e-5)
        _, curved = self.given(x, scales, safe=False)
        if np.linalg.eigvalsh(curved)[0] <= 1e-6:
            _, curved = self.given(x, scales, safe=True)
        return x, curved

    def at(self, x: np.ndarray, scales: Scales) -> float:
        """Log-density of one point given the scales, but for what these alone add."""
        total = float(self.rest(x[None])[0])
        total -= 0.5 * float(((x[self.normal] / np.repeat(scales.judge, self.systems)) ** 2).sum())
        if self.judges:
            squares = (x[self.likings] / scales.liking) ** 2
            total -= float((LIKING_DF + 1) / 2 * np.log1p(squares / LIKING_DF).sum())
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
