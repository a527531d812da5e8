r"""Posterior of many small groups whose rates are shrunk to each other, without sampling.

Given the typical rates and how far groups scatter about them, groups are independent: each is an
integral over three logits, by points of a t distribution about its mode. Typical rates and spreads,
six unknowns at most, are points of a t distribution too, weighed by their priors times the groups'
integrals, which may be estimates (importance sampling squared: Tran et al. 2013, arXiv:1309.3339).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesjudge.truth.importance import Weighed, adapted, t_points
from bayesjudge.truth.quadrature import logistic

#: Points of typical rates and spreads, first and last; of each group's logits; and sets of these.
FIRST, LAST, INNER, SETS = 2**9, 2**11, 2**6, 2**7
#: Groups that are few; of more, half as many points of either kind.
FEW = 12
#: Points of which the groups are done together.
ROWS = 2**7
#: Draws of the groups for each point of the typical rates.
EACH = 4
#: Independent draws that the points have to be worth.
EFFECTIVE = 400
#: Newton's steps to the mode of a group; none is longer than this many logits.
STEPS, LONGEST = 8, 2.0
NAMES = ("prevalence", "sensitivity", "specificity")


@dataclass(frozen=True, eq=False)
class PooledPosterior:
    r"""Shares of groups, and a judge's two rates in each, about typical ones.

    Parameters
    ----------
    cells : numpy.ndarray, shape (n_groups, 4, 2)
        Successes and failures of share, sensitivity, specificity and pass rate. A share that is
        not pooled has its prior's counts in the cells.
    priors : numpy.ndarray, shape (3, 2)
        Beta priors of the typical rates.
    spread : float
        Scale of the half-normal prior of the standard deviations between groups, in logits.
    pools_shares : bool
        Whether shares are shrunk to each other too.
    better_than_chance : bool
        Whether the typical judge's rates add up to more than 1.
    """

    cells: np.ndarray
    priors: np.ndarray
    spread: float
    pools_shares: bool
    better_than_chance: bool

    @property
    def _first(self) -> int:
        """The first of the rates that is pooled."""
        return 0 if self.pools_shares else 1

    def _population(self, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centres and spreads of the three logits, shape (n, 1, 3); of no population 0 and 1."""
        size = 3 - self._first
        centre, spread = np.zeros((len(outer), 3)), np.ones((len(outer), 3))
        centre[:, self._first :] = outer[:, :size]
        spread[:, self._first :] = self._spreads(outer)
        return centre[:, None], spread[:, None]

    def _spreads(self, outer: np.ndarray) -> np.ndarray:
        """Half-normal, of standard normal ones: their tails are those of the t distribution."""
        from scipy.special import ndtr, ndtri

        below = ndtr(np.clip(outer[:, 3 - self._first :], -8, 8))
        return np.asarray(np.maximum(self.spread * ndtri((1 + below) / 2), 1e-9))

    def _log_group(self, logits: np.ndarray, steps: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Log density of each group's steps from the typical rates, but a constant."""
        odds = np.exp(np.minimum(logits, 500))
        share, hit, caught = np.moveaxis(odds / (1 + odds), -1, 0)
        rate = np.clip(share * hit + (1 - share) * (1 - caught), 1e-300, 1 - 1e-16)
        said = cells[..., 3, 0] * np.log(rate) + cells[..., 3, 1] * np.log1p(-rate)
        known = logits * cells[..., :3, 0] - cells[..., :3, :].sum(axis=-1) * np.log1p(odds)
        pooled = (steps[..., self._first :] ** 2).sum(axis=-1) / 2
        return np.asarray(said + known.sum(axis=-1) - pooled)

    def _slopes(self, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope and expected curvature of each group's log likelihood, in logits."""
        rates, _ = logistic(logits)
        share, hit, caught = np.moveaxis(rates, -1, 0)
        bends = rates * (1 - rates)
        rate = share * hit + (1 - share) * (1 - caught)
        by = bends * np.stack([hit + caught - 1, share, share - 1], axis=-1)
        passed, failed = self.cells[:, 3].T
        total = self.cells[:, :3].sum(axis=-1)
        slope = self.cells[:, :3, 0] - total * rates
        slope = slope + (passed / rate - failed / (1 - rate))[..., None] * by
        seen = np.sqrt((passed + failed) / (rate * (1 - rate)))[..., None] * by
        bend = seen[..., :, None] * seen[..., None, :] + np.eye(3) * (total * bends)[..., None, :]
        return slope, bend

    def _modes(
        self, centre: np.ndarray, spread: np.ndarray, start: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Each group's most probable steps, and a square root of their covariance."""
        precision = np.diag(np.arange(3) >= self._first).astype(float)
        steps = (start - centre) / spread
        for turn in range(STEPS + 1):
            slope, bend = self._slopes(centre + spread * steps)
            bend = bend * spread[..., :, None] * spread[..., None, :] + precision
            if turn == STEPS:
                break
            move = np.linalg.solve(bend, (slope * spread - steps @ precision)[..., None])[..., 0]
            longest = np.abs(move * spread).max(axis=-1, keepdims=True) / LONGEST
            steps = steps + move / np.maximum(longest, 1)
        return steps, np.linalg.cholesky(np.linalg.inv(bend))

    @cached_property
    def _alone(self) -> np.ndarray:
        """Logits of each group about rates that are neither known nor all alike."""
        start = np.broadcast_to([0.0, 1.5, 1.5], (1, len(self.cells), 3))
        centre, spread = np.array([[[0.0, 1.5, 1.5]]]), np.ones((1, 1, 3))
        steps, _ = self._modes(centre, spread, start)
        return np.asarray(centre + spread * steps)

    def _points(self, outer: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits (n, group, point, 3), and logarithms of what each point is worth.

        Each group has a set of points of its own, the first one that of `first`: what sets are off
        averages out over groups.
        """
        centre, spread = self._population(outer)
        steps, root = self._modes(centre, spread, self._alone)
        inner = INNER if len(self.cells) > FEW else 2 * INNER
        about, log_t = t_points(np.zeros(3), np.eye(3), inner * SETS, 1)
        turn = (first[:, None] + np.arange(len(self.cells))) % SETS
        about, log_t = (x.reshape(SETS, inner, *x.shape[1:])[turn] for x in (about, log_t))
        moved = steps[..., None, :] + about @ np.swapaxes(root, -1, -2)
        logits = centre[..., None, :] + spread[..., None, :] * moved
        volume = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)[..., None]
        worth = self._log_group(logits, moved, self.cells[:, None]) - log_t + volume
        return logits, worth

    def _log_integrals(self, outer: np.ndarray) -> np.ndarray:
        """Of all groups, up to a constant."""
        # the same sets for all: the noise of many groups would add up
        _, worth = self._points(outer, np.zeros(1, int))
        most = worth.max(axis=-1)
        each = most + np.log(np.exp(worth - most[..., None]).mean(axis=-1))
        return np.asarray(each.sum(axis=1))

    def log_density(self, outer: np.ndarray) -> np.ndarray:
        """Of typical logits and of what spreads are made of, up to a constant, of each row."""
        size = 3 - self._first
        logits, normal = outer[:, :size], outer[:, size:]
        alpha, beta = self.priors[self._first :].T
        prior = -(alpha * np.logaddexp(0, -logits) + beta * np.logaddexp(0, logits)).sum(axis=1)
        prior -= (normal**2).sum(axis=1) / 2
        density = prior + np.concatenate([self._log_integrals(outer[at]) for at in _parts(outer)])
        if self.better_than_chance:  # of two logits, a sum of shares above 1 is a sum above 0
            density = np.where(logits[:, -2] + logits[:, -1] > 0, density, -np.inf)
        return np.asarray(density)

    def weighed(self, seed: int = 1) -> Weighed:
        """Draw and weigh.

        Raises
        ------
        NotWeighed
            If the points do not cover the posterior.
        """
        start = self._alone[0, :, self._first :]
        size = start.shape[1]
        centre = np.concatenate([start.mean(axis=0), np.zeros(size)])
        width = np.concatenate([start.std(axis=0) + 0.3, np.ones(size)])
        half = 1 + (len(self.cells) > FEW)
        points, least = (FIRST, LAST // half), EFFECTIVE / half
        outer, weight = adapted(self.log_density, centre, np.diag(width), points, least, seed)
        return Weighed(self._drawn(outer, seed), np.repeat(weight / EACH, EACH))

    def _drawn(self, outer: np.ndarray, seed: int) -> Mapping[str, np.ndarray]:
        """Rates of the groups given points of the typical ones, `EACH` of a point."""
        rng = np.random.default_rng(seed)
        picked = np.concatenate([self._picked(outer[at], at, rng) for at in _parts(outer)])
        rates, _ = logistic(np.swapaxes(picked, 1, 2).reshape(-1, *picked.shape[1::2]))
        spreads = np.repeat(self._spreads(outer), EACH, axis=0)
        names = [f"{name}_spread" for name in NAMES[self._first :]]
        columns = (*np.moveaxis(rates, -1, 0), *spreads.T)
        return dict(zip((*NAMES, *names), columns, strict=True))

    def _picked(self, outer: np.ndarray, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Logits of the groups: point, group, draw and rate."""
        # other sets for each, so that draws are of many points
        logits, worth = self._points(outer, at)
        chance = np.exp(worth - worth.max(axis=-1, keepdims=True)).cumsum(axis=-1)
        wanted = rng.random((*worth.shape[:2], EACH)) * chance[..., -1:]
        picked = (chance[..., None, :] < wanted[..., None]).sum(axis=-1)
        return np.take_along_axis(logits, picked[..., None], axis=2)


def _parts(outer: np.ndarray) -> list[np.ndarray]:
    """Rows of parts that stay in a processor's memory."""
    return np.array_split(np.arange(len(outer)), max(len(outer) // ROWS, 1))
