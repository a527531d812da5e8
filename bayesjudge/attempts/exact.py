"""The posterior without a sampler: its mode, then importance sampling with Sobol points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from bayesjudge.attempts._likelihood import (
    OF_PEOPLE,
    SAID,
    UNPARSED,
    Tasks,
    chances,
    log_likelihood,
    said_by_people,
    success,
)
from bayesjudge.attempts.closed_form import CHANCES, too_many
from bayesjudge.attempts.data import Attempts
from bayesjudge.attempts.model import OF_SYSTEM, PersistentErrors, suited
from bayesjudge.core import methods
from bayesjudge.core.draws import summarise_interval
from bayesjudge.core.errors import check_ci_prob, checking, expect
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Quantity
from bayesjudge.truth.importance import weighed_points

#: Draws of each round of the proposal, and those that are kept.
ROUNDS, DRAWS = (1024, 2048, 4096, 8192), 4000
#: Effective draws below which the last round is repeated, how often at most, and those below which
#: importance sampling has failed.
ENOUGH, AGAIN, FEWEST = 1000, 2, 300
#: A task that is done so seldom is called one that the agent never does.
SELDOM = 0.05


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of the posterior of attempts, and how many independent ones they are worth.

    Parameters
    ----------
    values : mapping of str to numpy.ndarray
        Draws of the model's parameters: of agents with the shape (n_draws, n_systems).
    attempts : Attempts
        What they are of.
    model : PersistentErrors
        The model.
    effective : float
        Independent draws that weigh as much.
    """

    values: Mapping[str, np.ndarray]
    attempts: Attempts
    model: PersistentErrors
    effective: float

    @property
    def holds(self) -> bool:
        """Whether the weights are worth enough draws."""
        return self.effective >= FEWEST

    def chance(self, name: str, k: int) -> np.ndarray:
        """Draw pass@k or pass^k of each agent.

        Parameters
        ----------
        name : {"pass_at_k", "pass_hat_k"}
            Which.
        k : int
            Tries.

        Returns
        -------
        numpy.ndarray, shape (n_draws, n_systems)
            Shares of tasks.
        """
        return chances(self.values, (k,))[CHANCES.index(name)][..., 0]

    def seldom(self) -> np.ndarray:
        """Draw the share of tasks that each agent does less than once in 20 attempts.

        Returns
        -------
        numpy.ndarray, shape (n_draws, n_systems)
            Shares of tasks.
        """
        from scipy.special import betainc

        from bayesjudge.attempts._likelihood import nodes_of

        points, weights = nodes_of("shared_difficulty" in self.values)
        a, b, always, never = success(self.values, points)
        return np.asarray(((1 - always - never) * betainc(a, b, SELDOM) + never) @ weights)

    def estimate(self, *, ci_prob: float = 0.95, interval: str = "eti") -> Estimate:
        """Summarise the draws.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability of the intervals.
        interval : {"eti", "hdi"}, default "eti"
            Equal-tailed or shortest.

        Returns
        -------
        Estimate
            ``pass_at_k``, ``pass_hat_k``, and the model's parameters.

        Raises
        ------
        InputError
            If `ci_prob` or `interval` is unknown.
        """
        check_ci_prob(ci_prob)
        with checking("attempts.exact") as require:
            require(interval in ("eti", "hdi"), "must be eti or hdi", interval=interval)
        data, several = self.attempts, len(self.attempts.systems) > 1
        systems = {"system": data.systems} if several else {}
        drawn: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
            name: (values if several else values[:, 0], {**systems, "k": data.k})
            for name, values in zip(CHANCES, chances(self.values, tuple(data.k)), strict=True)
        }
        derived = {"seldom_done": self.seldom()}
        derived |= {SAID: said_by_people(self.values)} if data.people else {}
        for name, values in {**self.values, **derived}.items():
            judge = name in ("sensitivity", "specificity", "persistence")
            if judge and not data.judged:
                continue
            each = values.ndim > 1 and values.shape[1] > 1
            dims = {"person": data.people} if name in OF_PEOPLE else systems
            drawn[name] = (values if each else values.reshape(len(values)), dims if each else {})
        quantities = {}
        for name, (values, coords) in drawn.items():
            rows = [self._row(x, ci_prob, interval) for x in values.reshape(len(values), -1).T]
            quantities[name] = Quantity.over(tuple(np.transpose(rows)), coords)
        assumptions, cautions = self.model._diagnosis(data)
        return Estimate(
            quantities,
            method=methods.EXACT_ATTEMPTS,
            ci_prob=ci_prob,
            source=self.model._source,
            interval=INTERVALS[interval],
            assumptions=assumptions,
            cautions=(*self._failed(), *cautions, *self._rests_on_persistence()),
            data=data,
        )

    def differences(self, *, ci_prob: float = 0.95) -> Estimate:
        """Compare every two agents at each number of tries.

        Parameters
        ----------
        ci_prob : float, default 0.95
            Probability of the equal-tailed intervals.

        Returns
        -------
        Estimate
            ``pass_at_k_difference``, ``pass_hat_k_difference`` and ``probability_better`` (that
            pass^k of the first is higher) by ``first``, ``second`` and ``k``; ``nan`` if the
            weights are worth too few draws.

        Raises
        ------
        InputError
            If there is one agent, or `ci_prob` is out of range.
        """
        check_ci_prob(ci_prob)
        names, ks = self.attempts.systems, self.attempts.k
        pairs = list(combinations(range(len(names)), 2))
        expect("differences", bool(pairs), "a difference takes two agents")
        gaps: dict[str, dict[Any, Any]] = {f"{name}_difference": {} for name in CHANCES}
        better: dict[Any, float] = {}
        for name, drawn in zip(CHANCES, chances(self.values, tuple(ks)), strict=True):
            for (i, j), (at, k) in product(pairs, enumerate(ks)):
                gap, entry = drawn[:, i, at] - drawn[:, j, at], (names[i], names[j], k)
                gaps[f"{name}_difference"][entry] = self._row(gap, ci_prob, "eti")
                more = float((gap > 0).mean() + (gap == 0).mean() / 2)
                better[entry] = more if self.holds else np.nan
        dims = ("first", "second", "k")
        return Estimate(
            {
                n: Quantity.of_rows(r, dims)
                for n, r in {**gaps, "probability_better": better}.items()
            },
            method=methods.EXACT_ATTEMPTS,
            ci_prob=ci_prob,
            source=self.model._source,
            interval=INTERVALS["eti"],
            cautions=self._failed(),
            data=self.attempts,
        )

    def _row(self, draws: np.ndarray, ci_prob: float, interval: str) -> tuple[float, ...]:
        """Mean, low and high of draws that are worth enough."""
        if not self.holds:
            return (np.nan,) * 3
        return (draws.mean(), *summarise_interval(draws, ci_prob, interval))

    def _failed(self) -> tuple[Caution, ...]:
        poor = Caution.of("no-quadrature", "attempts", n=self.effective)
        return () if self.holds else too_many(self.attempts) or (poor,)

    def _rests_on_persistence(self) -> tuple[Caution, ...]:
        """How far pass^k moves with the persistence, if labels do not tell it."""
        data, again = self.attempts, self.values["persistence"]
        k = max(data.k)
        if not data.judged or k == 1 or data.labelled_twice or not self.holds:
            return ()
        power = self.chance("pass_hat_k", k).mean(axis=1)
        little, much = np.quantile(again, [1 / 3, 2 / 3])
        low, high = float(power[again <= little].mean()), float(power[again >= much].mean())
        numbers = {"k": k, "little": little, "low": low, "much": much, "high": high}
        return (Caution.of("persistence-unknown", "moves", **numbers),)


def exact(
    attempts: Attempts, model: PersistentErrors | None = None, *, random_seed: int = 1
) -> Posterior:
    """Compute the posterior of the model without a sampler.

    Parameters
    ----------
    attempts : Attempts
        Verdicts and truths by task.
    model : PersistentErrors, optional
        By default `PersistentErrors` with its default priors.
    random_seed : int, default 1
        Of the Sobol points: same seed, same draws.

    Returns
    -------
    Posterior
        4,000 draws. Mode and curvature on the scale of normal quantiles make a Student proposal,
        rounds of importance sampling adapt it, the last is resampled. If its weights are worth
        fewer than 300 draws, the estimate is ``nan`` with the caution ``no-quadrature``: `fit`
        samples. So it is, at once, if distinct tasks are too many to weigh (about 1,200 that four
        agents share, and far more of one agent; `fit` refuses them): `closed_forms` answer.

    Raises
    ------
    InputError
        If priors do not suit the agents.

    References
    ----------
    Cappé et al. (2008), Stat. Comput. 18, 447-459 (adaptive importance sampling).

    Examples
    --------
    >>> from bayesjudge.attempts import simulate
    >>> data = Attempts.from_frame(simulate(random_seed=1), calibration="random")
    >>> found = exact(data).estimate()["pass_hat_k", 4]
    >>> found.low < found.value < found.high
    True
    """
    density = _Density(attempts, suited(attempts, model, "exact"))
    if not attempts.can_be_weighed:
        return Posterior(density.values(np.zeros((1, density.size)))[0], attempts, density.model, 0)
    centre, root = _mode(density)
    points = weights = np.zeros(0)
    for n in (*ROUNDS, *ROUNDS[-1:] * AGAIN):
        points, weights = weighed_points(density, centre, root, n, random_seed)
        if n == ROUNDS[-1] and (weights**2).sum() < 1 / ENOUGH:
            break
        held = np.minimum(weights, 10 / n)  # one weight does not decide the next proposal
        held /= held.sum()
        if (held**2).sum() > 1 / 2:
            break  # the proposal is nowhere near: two points have no covariance to go on with
        centre = held @ points
        spread = np.cov(points.T, aweights=held).reshape(len(centre), -1)
        root = _root(spread, 1 / (held**2).sum())
    # as many of each point as its weight says, in steps of one draw
    at = np.searchsorted(np.cumsum(weights), (np.arange(DRAWS) + 0.5) / DRAWS)
    drawn = density.values(points[np.minimum(at, len(points) - 1)])[0]
    return Posterior(drawn, attempts, density.model, float(1 / (weights**2).sum()))


class _Density:
    """Log posterior density of points on the scale of normal quantiles, several at once."""

    def __init__(self, attempts: Attempts, model: PersistentErrors):
        self.model, self.attempts = model, attempts
        priors = {
            name: model._prior_of(name, attempts)
            for name in ("prevalence", "sensitivity", "specificity")
        }
        if attempts.unparsed is not None:
            priors |= dict.fromkeys(UNPARSED, model._prior_of("unparsed", attempts))
        if attempts.people:
            priors |= dict.fromkeys(OF_PEOPLE, model._prior_of("people", attempts))
        systems = len(attempts.systems)
        for name in OF_SYSTEM[1:]:
            priors[name] = np.array([tuple(getattr(model, name))] * systems)
        priors["persistence"] = np.array([tuple(model.persistence)])
        if attempts.paired:
            priors["shared_difficulty"] = np.array([tuple(model.shared_difficulty)])
        self.priors, self.systems = priors, systems
        self.size = sum(map(len, priors.values()))

    @cached_property
    def tasks(self) -> Tasks:
        """Distinct tasks with their terms."""
        data = self.attempts
        return Tasks.of_cells(data.states, data.design.same_items, data.kinds)

    def values(self, points: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Parameters at points, and the log density of the prior with the change of variables.

        The second rate's coordinate is the part of the first's complement that it leaves: their sum
        exceeds 1 everywhere.
        """
        from scipy.special import ndtr, xlogy

        values: dict[str, np.ndarray] = {}
        log_prior, begin = np.zeros(len(points)), 0
        for name, prior in self.priors.items():
            x = points[:, begin : begin + len(prior)]
            begin += len(prior)
            share, rest = ndtr(x), ndtr(-x)
            log_prior -= (x**2).sum(axis=1) / 2
            if name == "specificity":  # 1 - specificity is a part of the sensitivity
                log_prior += np.log(values["sensitivity"]).sum(axis=1)
                rest = rest * values["sensitivity"]
                share = 1 - rest
            a, b = prior.T
            log_prior += (xlogy(a - 1, share) + xlogy(b - 1, rest)).sum(axis=1)  # of share 0 too
            values[name] = share
        for name in ("persistence", "shared_difficulty"):
            if name in values:
                values[name] = values[name][:, 0]
        return values, log_prior

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Log density at each of the points, shape (n_points,)."""
        points = np.clip(points, -15, 15)
        values, log_prior = self.values(points)
        values = {name: np.clip(value, 1e-9, 1 - 1e-9) for name, value in values.items()}
        for name in values.keys() & {"sensitivity", "specificity", *UNPARSED}:
            values[name] = np.broadcast_to(values[name], (len(points), self.systems))
        return log_likelihood(self.tasks, values) + log_prior


def _mode(density: _Density) -> tuple[np.ndarray, np.ndarray]:
    """Where the density is highest, and a root of the inverse of its curvature there."""
    from scipy.optimize import minimize

    step, unit = 1e-4, np.eye(density.size)

    def slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        heights = -density(np.concatenate([x[None], x + step * unit, x - step * unit]))
        ahead, behind = heights[1:].reshape(2, -1)
        return float(heights[0]), (ahead - behind) / (2 * step)

    of_rates = ("sensitivity", "specificity", *OF_PEOPLE)
    sizes = [*map(len, density.priors.values())]
    start = np.repeat([0.9 * (name in of_rates) for name in density.priors], sizes)
    top = minimize(slope, start, jac=True, method="BFGS", options={"maxiter": 200}).x
    wide = 1e-2
    first, second = np.tril_indices(density.size)
    signs = wide * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    corners = top + signs[:, :1, None] * unit[first] + signs[:, 1:, None] * unit[second]
    heights = density(corners.reshape(-1, density.size)).reshape(4, -1)
    bend = np.zeros((density.size, density.size))
    bend[first, second] = (heights[0] - heights[1] - heights[2] + heights[3]) / (4 * wide**2)
    values, vectors = np.linalg.eigh(-bend)  # which reads the lower half
    # a direction in which the density hardly bends is no wider than quantiles of flat priors are
    spread = vectors @ np.diag(1 / np.maximum(values, 0.4)) @ vectors.T
    return top, _root(spread, np.inf)


def _root(spread: np.ndarray, draws: float) -> np.ndarray:
    """Root of a covariance; one of few draws is drawn towards its diagonal."""
    held = min(1.0, 5 * len(spread) / max(draws, 1)) * 0.5 if np.isfinite(draws) else 0.0
    spread = (1 - held) * spread + held * np.diag(np.diag(spread))
    return np.linalg.cholesky(spread + 1e-8 * np.eye(len(spread)))
