r"""Posterior of shares and error rates of several sources, without sampling.

On the scale of logits the posterior of a few Beta shares is nearly normal. EM finds its mode, the
slope's differences its curvature; points of a scrambled Sobol sequence, as draws of a multivariate
t distribution there, are weighed by the density (Geweke 1989), and once more about the weighed
mean: means and quantiles are then right whatever the posterior's shape is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesjudge.truth import likelihood
from bayesjudge.truth.components import BetaShares, RateErrors
from bayesjudge.truth.quadrature import logistic
from bayesjudge.verdicts.table import Verdicts

#: Points of the first round and of later ones.
FIRST, LAST = 2**11, 2**13
#: Degrees of freedom of the t distribution: its tails outlast those of logits with Beta priors.
FREEDOM = 5
#: Rounds of the first points, until the density is found, and of later ones, until these are worth
#: enough: each about the weighed mean of the one before.
MOST_FAR, MOST_ROUNDS = 24, 7
#: Independent draws, by unknown, that points have to be worth to tell where the next ones lie.
TELL = 10
#: Powers of the weights, each this part of the one before, until they are.
FLATTER = 0.8
#: EM stops if no logit moves by more, or after so many steps.
STEP, MOST_STEPS = 1e-5, 3000
#: Independent draws that the points have to be worth; fewer, and there is no answer.
EFFECTIVE = 1000
#: Unknowns that the points are spread over, at most.
MOST_UNKNOWNS = 60


class NotWeighed(ValueError):
    """The points do not cover the posterior."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """Draws of each unknown, one per row, with weights that add up to 1."""

    values: Mapping[str, np.ndarray]
    weight: np.ndarray

    @property
    def effective(self) -> float:
        """Independent draws that these are worth."""
        return worth_of(self.weight)

    def resampled(self, size: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """As draws without weights."""
        at = rng.choice(len(self.weight), size, p=self.weight)
        return {name: values[at] for name, values in self.values.items()}


def interval_of(draws: np.ndarray, weight: np.ndarray, ci_prob: float, kind: str) -> np.ndarray:
    """Mean, low and high of weighed draws: equal-tailed, or the shortest."""
    order = np.argsort(draws)
    sorted_draws, below = draws[order], np.cumsum(weight[order]) - weight[order] / 2
    spare = 1 - ci_prob
    tails = np.linspace(0, spare, 257) if kind == "hdi" else np.array([spare / 2])
    low, high = (np.interp(tails + more, below, sorted_draws) for more in (0, ci_prob))
    best = int(np.argmin(high - low))
    return np.array([weight @ draws, low[best], high[best]])


def intervals_of(
    draws: np.ndarray, weight: np.ndarray, ci_prob: float, kind: str
) -> tuple[np.ndarray, ...]:
    """Means, lows and highs of weighed draws, one per row, in the order of the other axes."""
    columns = draws.reshape(len(weight), -1).T
    return tuple(np.transpose([interval_of(column, weight, ci_prob, kind) for column in columns]))


@dataclass(frozen=True, eq=False)
class BetaPosterior:
    """The density of logits of each group's share, and of each judge's two rates.

    Parameters
    ----------
    table : Verdicts
        Of two classes, with a truth or without.
    shares : array_like, shape (n_groups, 2)
        Beta priors.
    sensitivities, specificities : array_like, shape (n_judges, 2)
        Beta priors.
    better_than_chance : bool
        Whether each judge's rates add up to more than 1.
    design_effects : array_like, shape (n_groups,), optional
        By how many outputs of each group one independent output is worth (Rao & Scott 1992).
    """

    table: Verdicts
    shares: np.ndarray
    sensitivities: np.ndarray
    specificities: np.ndarray
    better_than_chance: bool = True
    design_effects: Sequence[float] | None = None

    @property
    def _count(self) -> np.ndarray:
        """Independent outputs of each pattern."""
        if self.design_effects is None:
            return np.asarray(self.table.count)
        return self.table.count / np.asarray(self.design_effects)[self.table.group]

    @property
    def _priors(self) -> np.ndarray:
        return np.concatenate([self.shares, self.sensitivities, self.specificities])

    def _named(self, rates: np.ndarray) -> dict[str, np.ndarray]:
        ends = np.cumsum([len(self.shares), len(self.sensitivities)])
        names = ("prevalence", "sensitivity", "specificity")
        return dict(zip(names, np.split(rates, ends, axis=-1), strict=True))

    def _joint(self, rates: np.ndarray) -> np.ndarray:
        """Of patterns and classes, by the one likelihood: its components read rates by name."""
        from bayesjudge.core.priors import BetaPrior
        from bayesjudge.truth.components import Apart

        flat = BetaPrior()
        shares = BetaShares(flat, Apart("group"))
        errors = RateErrors(flat, flat, False, Apart("judge"), "judge")
        blocks = likelihood.log_joint(self.table, shares, errors, self._named(rates))
        return np.concatenate([block + likelihood.log_allowed(self.table) for block in blocks])

    def log_density(self, logits: np.ndarray) -> np.ndarray:
        """Up to a constant, of each row."""
        rates, _ = logistic(logits)
        alpha, beta = self._priors.T
        # a Beta density and the Jacobian of the logit; log(1 - p) keeps its digits
        prior = -(alpha * np.logaddexp(0, -logits) + beta * np.logaddexp(0, logits)).sum(axis=1)
        density = prior + likelihood.log_sum(self._joint(rates)) @ self._count
        if self.better_than_chance:
            named = self._named(rates)
            above = named["sensitivity"] + named["specificity"] > 1
            density = np.where(above.all(axis=1), density, -np.inf)
        return np.asarray(density)

    def _expected(self, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Successes and failures of each rate, with those of its prior."""
        table, size = self.table, len(self.shares)
        chance = likelihood.truth_given_responses(self._joint(rates)) * self._count[:, None]
        of_group = (np.arange(size)[:, None] == table.group).astype(float)
        good = np.swapaxes(of_group @ chance, 1, 2)  # row, class, group
        said = likelihood.given_responses(table).T @ chance
        by_class = said.reshape(len(rates), -1, 2, 2)  # row, judge, response, class
        right = [good[:, 1], by_class[:, :, 1, 1], by_class[:, :, 0, 0]]
        wrong = [good[:, 0], by_class[:, :, 0, 1], by_class[:, :, 1, 0]]
        alpha, beta = self._priors.T
        return np.concatenate(right, axis=1) + alpha, np.concatenate(wrong, axis=1) + beta

    def mode(self) -> np.ndarray:
        """Logits at the mode, by EM (Dawid & Skene 1979)."""
        rates = np.concatenate(
            [np.full(len(self.shares), 0.5), np.full(len(self._priors) - len(self.shares), 0.85)]
        )
        logits = np.log(rates) - np.log1p(-rates)
        for _ in range(MOST_STEPS):
            right, wrong = self._expected(rates[None])
            moved = np.log(right[0]) - np.log(wrong[0])
            change = np.abs(moved - logits).max()
            logits, rates = moved, right[0] / (right[0] + wrong[0])
            if change < STEP:
                break
        return logits

    def _slope(self, logits: np.ndarray) -> np.ndarray:
        """Of the density's logarithm, of each row."""
        rates, _ = logistic(logits)
        right, wrong = self._expected(rates)
        return right * (1 - rates) - wrong * rates

    def weighed(self, seed: int = 1) -> Weighed:
        """Draw and weigh.

        Raises
        ------
        NotWeighed
            If the points are worth less than `EFFECTIVE` independent draws.
        """
        centre = self.mode()
        if self.better_than_chance:  # nothing is known where the density is nothing
            rates = self._named(centre)
            lacking = np.maximum(-(rates["sensitivity"] + rates["specificity"]) / 2, 0)
            centre[len(self.shares) :] += np.tile(lacking, 2)
        size = len(centre)
        if size > MOST_UNKNOWNS:
            raise NotWeighed(f"{size} unknowns are too many")
        steps = np.eye(size) * 1e-4
        curvature = (self._slope(centre - steps) - self._slope(centre + steps)) / 2e-4
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        # the prior bends each logit by more than this
        covariance = vectors / np.maximum(values, 1e-2) @ vectors.T
        spread = np.linalg.cholesky(covariance)  # signs of eigenvectors differ by machine
        points, least = (FIRST, LAST), EFFECTIVE
        logits, weight = adapted(self.log_density, centre, spread, points, least, seed)
        return Weighed(self._named(logistic(logits)[0]), weight)


def adapted(
    log_density: Callable[[np.ndarray], np.ndarray],
    centre: np.ndarray,
    spread: np.ndarray,
    points: tuple[int, int],
    least: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Points and their weights, in rounds of which each is about the weighed mean before.

    Parameters
    ----------
    log_density : callable
        Of rows, up to a constant.
    centre, spread : numpy.ndarray
        Of the first round: where, and a square root of the covariance.
    points : tuple of int
        Of the first round and of later ones.
    least : float
        Independent draws that the points have to be worth.
    seed : int
        Of the Sobol sequence.

    Returns
    -------
    tuple of numpy.ndarray
        Rows, and weights that add up to 1.

    Raises
    ------
    NotWeighed
        If the points are worth less than `least`.
    """
    (first, last), enough = points, TELL * len(centre)
    for _ in range(MOST_FAR):
        rows, weight = weighed_points(log_density, centre, spread, first, seed)
        centre, spread = _about(rows, weight, spread, enough)
        if worth_of(weight) > enough:
            break
    for _ in range(MOST_ROUNDS):
        rows, weight = weighed_points(log_density, centre, spread, last, seed)
        if worth_of(weight) > least:
            return rows, weight
        centre, spread = _about(rows, weight, spread, enough)
    raise NotWeighed(f"points are worth {worth_of(weight):.0f} independent draws")


def worth_of(weight: np.ndarray) -> float:
    """Independent draws that points with these weights are worth (Kong 1992)."""
    return float(1 / (weight**2).sum())


def _about(
    rows: np.ndarray, weight: np.ndarray, spread: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where the next points lie: mean and root of the covariance of these, and a bit of the last.

    Weights are flattened until points are worth `least`: of a density that is far away the nearest
    point has all of the weight, and no spread.
    """
    logs = np.log(np.maximum(weight, np.finfo(float).tiny))
    for power in FLATTER ** np.arange(40):
        flat = np.exp(power * logs)
        flat /= flat.sum()
        if worth_of(flat) >= least:
            break
    centre = flat @ rows
    off = (rows - centre) * np.sqrt(flat)[:, None]
    return centre, np.linalg.cholesky(off.T @ off + 0.01 * spread @ spread.T)


def weighed_points(
    log_density: Callable[[np.ndarray], np.ndarray],
    centre: np.ndarray,
    spread: np.ndarray,
    points: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a multivariate t distribution, and weights that make them draws of a density."""
    values, log_t = t_points(centre, spread, points, seed)
    logs = log_density(values) - log_t
    if not np.isfinite(logs.max()):
        raise NotWeighed("no point has a density")
    weight = np.exp(logs - logs.max())
    return values, weight / weight.sum()


def t_points(
    centre: np.ndarray, spread: np.ndarray, points: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points, and the logarithm of their density, but a constant."""
    from scipy.special import gammaincinv, ndtri
    from scipy.stats import qmc

    size = len(centre)
    uniform = np.clip(qmc.Sobol(size + 1, rng=seed).random(points), 1e-12, 1 - 1e-12)
    scale = 2 * gammaincinv(FREEDOM / 2, uniform[:, size]) / FREEDOM
    steps = ndtri(uniform[:, :size]) / np.sqrt(scale)[:, None]
    log_t = -(FREEDOM + size) / 2 * np.log1p((steps**2).sum(axis=1) / FREEDOM)
    return centre + steps @ spread.T, log_t
