"""Laplace approximations of the models, for scoring on held-out labels: NUTS would take too long.

Each learns from votes, and predicts how many of some items are good, by generator, and the truth
of single items if its model does.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, logit

from bayesjudge.core.intervals import z_score
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.threads import one_blas_thread
from bayesjudge.panel._logistic import vote_scores
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import about, rows_of, subject
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import Correlated, PooledDawidSkene
from bayesjudge.panel.models.vote_regression import VoteRegression

#: Spreads that are summed over, in units of their half-normal prior's scale.
GRID = np.array([0.15, 0.5, 1.0, 1.8])
#: Median of a half-normal distribution with scale 1: a spread that is not learnt.
TYPICAL = 0.6745
#: Points of the quadrature over a shared effect.
NODES = 11


class Approximation(Protocol):
    """What has been learnt from votes."""

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the number of good items by generator, whatever their truth."""
        ...

    def log_score(self, labelled: Votes) -> np.ndarray:
        """Log probability of what people said of each pattern's items."""
        ...


def approximate(votes: Votes, model: PanelModel) -> Approximation:
    """Learn as the model does, in a fraction of a second."""
    with one_blas_thread():
        if isinstance(model, VoteRegression):
            return _Regression(votes, model)
        if isinstance(model, BiasPooling):
            return _Bias(votes, model)
        assert isinstance(model, PooledDawidSkene)
        return _LatentTruth(votes, model)


def _newton(x: np.ndarray, derivatives: object, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Mode and curvature there; a step is cut if it would jump across flat ends."""
    for _ in range(steps):
        gradient, curvature = derivatives(x)  # type: ignore[operator]
        step = np.linalg.solve(curvature, gradient)
        largest = np.abs(step).max()
        x = x + step * min(1.0, 2.0 / max(largest, 1e-12))
        if largest < 1e-7:
            break
    return x, curvature


def _quadratic(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Row by row ``r M r``."""
    return np.sum(rows @ matrix * rows, axis=1)


def _weights(logs: list[float]) -> np.ndarray:
    weight = np.exp(np.array(logs) - max(logs))
    return weight / weight.sum()


class _Regression:
    """`VoteRegression`: normal at the mode for each pair of spreads, weighed by their evidence."""

    def __init__(self, votes: Votes, model: VoteRegression):
        known = votes.is_labelled
        x, y = self._design(votes)[known], votes.truth[known].astype(float)
        n, size = votes.count[known].astype(float), len(votes.generators)
        mean = np.zeros(x.shape[1])
        mean[0], mean[size + 1] = model.intercept.mean, model.vote_weight.mean
        weights, logs, self.parts = mean, [], []
        for g in GRID * model.generator_spread:
            for j in GRID * model.judge_spread:
                own = [g] * size, [j] * len(votes.judges)
                scale = np.array([model.intercept.sd, *own[0], model.vote_weight.sd, *own[1]])

                def derivatives(
                    w: np.ndarray, scale: np.ndarray = scale
                ) -> tuple[np.ndarray, np.ndarray]:
                    p = expit(x @ w)
                    curvature = (x.T * (n * p * (1 - p))) @ x + np.diag(scale**-2.0)
                    return x.T @ (n * (y - p)) - (w - mean) / scale**2, curvature

                weights, curvature = _newton(weights, derivatives)
                at = x @ weights
                log = n @ (y * at - np.logaddexp(0, at))
                log -= 0.5 * np.sum(((weights - mean) / scale) ** 2) + np.log(scale).sum()
                log -= 0.5 * np.linalg.slogdet(curvature)[1]
                ratios = np.array([g / model.generator_spread, j / model.judge_spread])
                logs.append(float(log - 0.5 * np.sum(ratios**2) + np.log(ratios).sum()))
                self.parts.append((weights, np.linalg.inv(curvature)))
        self.weight = _weights(logs)

    @staticmethod
    def _design(votes: Votes) -> np.ndarray:
        score, own = vote_scores(votes), np.eye(len(votes.generators))[votes.generator]
        return np.column_stack([np.ones(len(score)), own, score.sum(axis=1), score])

    def _each(self, items: Votes) -> list[tuple[np.ndarray, np.ndarray]]:
        """Chance that each pattern's items are good, and the covariance, for each part."""
        x, found = self._design(items), []
        for w, covariance in self.parts:
            variance = _quadratic(x, covariance)
            # the mean of a logistic of a normal, nearly
            found.append((expit(x @ w / np.sqrt(1 + np.pi / 8 * variance)), covariance))
        return found

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        x, size = self._design(items), len(items.generators)
        mean, square = np.zeros(size), np.zeros(size)
        for weight, (p, covariance) in zip(self.weight, self._each(items), strict=True):
            total = np.bincount(items.generator, items.count * p, size)
            own = items.count * p * (1 - p)
            slope = np.zeros((size, x.shape[1]))
            np.add.at(slope, items.generator, own[:, None] * x)
            variance = _quadratic(slope, covariance)
            variance += np.bincount(items.generator, own, size)
            mean, square = mean + weight * total, square + weight * (variance + total**2)
        return mean, square - mean**2

    def log_score(self, labelled: Votes) -> np.ndarray:
        p = sum(w * each for w, (each, _) in zip(self.weight, self._each(labelled), strict=True))
        return np.log(np.where(labelled.truth == 1, p, 1 - p))


class _Bias:
    """`BiasPooling`: normal at the mode for each spread of the bias; no truth of single items."""

    def __init__(self, votes: Votes, model: BiasPooling):
        s, size = Summary.of(votes), len(votes.generators)
        known, other = np.flatnonzero(s.labelled_n > 0), np.flatnonzero(s.other_n > 0)
        m, good = s.labelled_n[known], s.labelled_good[known]
        errors = s.residual[known] / np.sqrt(m), s.spread[other] / np.sqrt(s.other_n[other])
        to_level = np.zeros((size, 2 + 2 * size))
        to_level[:, 0], to_level[:, 2 : 2 + size] = 1, model.level_spread * np.eye(size)
        centre = np.zeros(2 + 2 * size)
        centre[0], centre[1] = model.level.mean, model.bias.mean
        precision = np.ones(2 + 2 * size)
        precision[0], precision[1] = model.level.sd**-2.0, model.bias.sd**-2.0
        at, logs, means, variances = centre, [], [], []
        for spread in np.array([0.05, 0.2, 0.4, 0.7, 1.1, 1.7, 2.5]) * model.bias_spread:
            to_bias = np.zeros_like(to_level)
            to_bias[:, 1], to_bias[:, 2 + size :] = 1, spread * np.eye(size)

            def residuals(
                x: np.ndarray, to_bias: np.ndarray = to_bias
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
                g, passing = expit(to_level @ x), expit((to_level + to_bias) @ x)
                by_level = (g * (1 - g))[:, None] * to_level
                by_pass = (passing * (1 - passing))[:, None] * (to_level + to_bias)
                expected = passing[known] + s.slope * (good / m - g[known])
                first = (s.labelled_rate[known] - expected) / errors[0]
                second = (s.other_rate[other] - passing[other]) / errors[1]
                slopes = (by_pass[known] - s.slope * by_level[known]) / errors[0][:, None]
                others = by_pass[other] / errors[1][:, None]
                return g[known], first, second, slopes, others

            def derivatives(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                g, first, second, slopes, others = residuals(x)
                level = to_level[known]
                gradient = level.T @ (good - m * g) + slopes.T @ first + others.T @ second
                curvature = (level.T * (m * g * (1 - g))) @ level
                curvature = curvature + slopes.T @ slopes + others.T @ others
                return gradient - precision * (x - centre), curvature + np.diag(precision)

            at, curvature = _newton(at, derivatives)
            g, first, second, *_ = residuals(at)
            log = good @ np.log(g) + (m - good) @ np.log1p(-g)
            log -= 0.5 * (first @ first + second @ second + precision @ (at - centre) ** 2)
            ratio = spread / model.bias_spread
            log += np.log(ratio) - 0.5 * ratio**2 - 0.5 * np.linalg.slogdet(curvature)[1]
            logs.append(float(log))
            means.append(to_level @ at)
            covariance = np.linalg.inv(curvature)
            variances.append(_quadratic(to_level, covariance))
        weight = _weights(logs)
        level = weight @ np.array(means)
        variance = weight @ (np.array(variances) + np.array(means) ** 2) - level**2
        self.share = expit(level / np.sqrt(1 + np.pi / 8 * variance))
        self.variance = (self.share * (1 - self.share)) ** 2 * variance

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        n, g = items.items, self.share
        return n * g, n**2 * self.variance + n * g * (1 - g)

    def log_score(self, labelled: Votes) -> np.ndarray:
        g = self.share[labelled.generator]
        return np.log(np.where(labelled.truth == 1, g, 1 - g))


class _LatentTruth:
    """`PooledDawidSkene` and `Correlated` at their mode, under typical spreads of the judges.

    Parameters are the logits of the shares, the population's discrimination and each judge's own,
    the same of leniencies, and the logarithms of the shared effects. The curvature is that of the
    patterns' scores (their outer products).
    """

    def __init__(self, votes: Votes, model: PooledDawidSkene, start: np.ndarray | None = None):
        self.model, self.shared = model, isinstance(model, Correlated)
        points, weights = np.polynomial.hermite_e.hermegauss(NODES if self.shared else 1)
        self.points, self.log_weight = points, np.log(weights / weights.sum())
        self.size, self.judges = len(votes.generators), len(votes.judges)
        self.spreads = (TYPICAL * model.discrimination_spread, TYPICAL * model.leniency_spread)
        prior = model.prevalence
        each = [prior] if isinstance(prior, BetaPrior) else [prior[g] for g in votes.generators]
        self.ends = np.array([(one.alpha, one.beta) for one in each]).T
        g, j = self.size, self.judges
        at = np.zeros(g + 2 + 2 * j + 2 * self.shared)
        at[g], at[g + 1 + j] = model.discrimination.mean, model.leniency.mean
        if self.shared:
            at[-2:] = np.log(TYPICAL * model.shared_effect)  # type: ignore[attr-defined]
        told = _Told(votes)

        def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
            log, resp, at_node = self._expect(x, told)
            density, slope, _ = self._prior(x)
            slope += self._slope(x, told, resp, at_node)
            return -(told.count @ log + density), -slope

        found = minimize(
            *(loss, at if start is None else start),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 300, "ftol": 1e-9},
        )
        self.at = found.x
        _, resp, at_node = self._expect(self.at, told)
        scores = self._scores(self.at, told, resp, at_node)
        curvature = (scores.T * told.count) @ scores + np.diag(self._prior(self.at)[2])
        self.factor = cho_factor(curvature)

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Half of each judge's discrimination, its leniency, and the shared effects."""
        g, j = self.size, self.judges
        discrimination = x[g] + self.spreads[0] * x[g + 1 : g + 1 + j]
        leniency = x[g + 1 + j] + self.spreads[1] * x[g + 2 + j : g + 2 + 2 * j]
        effect = np.exp(x[g + 2 + 2 * j :]) if self.shared else np.zeros(2)
        return np.exp(discrimination) / 2, leniency, effect

    def _expect(
        self, x: np.ndarray, told: _Told, truth: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log density of each pattern, the weights of (truth, node), and P(pass) there."""
        half, leniency, effect = self._parts(x)
        logits = np.stack([leniency - half, leniency + half], axis=1)[:, :, None]
        logits = logits + effect[:, None] * self.points
        flat = logits.reshape(self.judges, -1)
        joint = told.passed @ -np.logaddexp(0, -flat) + told.failed @ -np.logaddexp(0, flat)
        joint = joint.reshape(len(joint), 2, -1) + self.log_weight
        log_share = np.stack([-np.logaddexp(0, x[: self.size]), -np.logaddexp(0, -x[: self.size])])
        joint += np.where(told.about, log_share[:, told.generator], 0.0).T[:, :, None]
        allowed = told.allowed if truth is None else np.where(np.arange(2) == truth, 0.0, -np.inf)
        joint += np.broadcast_to(allowed, (len(joint), 2))[:, :, None]
        peak = joint.max(axis=(1, 2))  # by hand: most of an evaluation would be logsumexp's checks
        resp = np.exp(joint - peak[:, None, None])
        total = resp.sum(axis=(1, 2))
        return peak + np.log(total), resp / total[:, None, None], expit(logits)

    def _slope(
        self, x: np.ndarray, told: _Told, resp: np.ndarray, at_node: np.ndarray
    ) -> np.ndarray:
        """Slope of the log density of all items: `_scores` summed, without one row a pattern."""
        half, _, effect = self._parts(x)
        weighted = resp * told.count[:, None, None]
        by_truth = weighted.sum(axis=2)
        given = (told.passed + told.failed).T @ weighted.reshape(len(resp), -1)
        expected = given.reshape(at_node.shape) * at_node
        bad, good = (told.passed.T @ by_truth - expected.sum(axis=2)).T
        gap = (by_truth[:, 1] - told.count * expit(x[told.generator])) * told.about
        g, j = self.size, self.judges
        slope = np.zeros(x.size)
        slope[:g] = np.bincount(told.generator, gap, g)
        apart, together = (good - bad) * half, good + bad
        slope[g], slope[g + 1 : g + 1 + j] = apart.sum(), apart * self.spreads[0]
        slope[g + 1 + j], slope[g + 2 + j : g + 2 + 2 * j] = (
            together.sum(),
            together * self.spreads[1],
        )
        if self.shared:
            passed = told.passed.sum(axis=1) @ (weighted @ self.points)
            slope[g + 2 + 2 * j :] = (passed - expected.sum(axis=0) @ self.points) * effect
        return slope

    def _scores(
        self, x: np.ndarray, told: _Told, resp: np.ndarray, at_node: np.ndarray
    ) -> np.ndarray:
        """Slope of each pattern's log density."""
        half, _, effect = self._parts(x)
        given, by_truth = told.passed + told.failed, resp.sum(axis=2)
        rows = np.arange(len(given))
        bad, good = (
            by_truth[:, [z]] * told.passed - given * (resp[:, z] @ at_node[:, z].T) for z in (0, 1)
        )
        g, j = self.size, self.judges
        scores = np.zeros((len(given), x.size))
        scores[rows, told.generator] = (by_truth[:, 1] - expit(x[told.generator])) * told.about
        apart, together = (good - bad) * half, good + bad
        scores[:, g], scores[:, g + 1 : g + 1 + j] = apart.sum(axis=1), apart * self.spreads[0]
        scores[:, g + 1 + j] = together.sum(axis=1)
        scores[:, g + 2 + j : g + 2 + 2 * j] = together * self.spreads[1]
        if self.shared:
            passes = told.passed.sum(axis=1)
            for z in (0, 1):
                moved = resp[:, z] * self.points
                expected = np.sum(moved * (given @ at_node[:, z]), axis=1)
                scores[:, g + 2 + 2 * j + z] = (moved.sum(axis=1) * passes - expected) * effect[z]
        return scores

    def _prior(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Log density, its slope, and its curvature (all but its sign)."""
        g, j = self.size, self.judges
        centre, precision = np.zeros(x.size), np.ones(x.size)
        for place, prior in ((g, self.model.discrimination), (g + 1 + j, self.model.leniency)):
            centre[place], precision[place] = prior.mean, prior.sd**-2.0
        precision[:g] = precision[g + 2 + 2 * j :] = 0
        slope = -precision * (x - centre)
        density = -0.5 * precision @ (x - centre) ** 2
        share, (a, b) = expit(x[:g]), self.ends
        density += np.sum(a * np.log(share) + b * np.log1p(-share))
        slope[:g], precision[:g] = a - (a + b) * share, (a + b) * share * (1 - share)
        if self.shared:
            ratio = (np.exp(x[-2:]) / self.model.shared_effect) ** 2  # type: ignore[attr-defined]
            density += np.sum(x[-2:] - 0.5 * ratio)
            slope[-2:], precision[-2:] = 1 - ratio, 2 * ratio
        return float(density), slope, precision

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        told = _Told(items, labels=False)
        chance = self._expect(self.at, told)[1].sum(axis=2)[:, 1]
        slopes = []
        for truth in (0, 1):
            _, resp, at_node = self._expect(self.at, told, truth)
            slopes.append(self._scores(self.at, told, resp, at_node))
        own = told.count * chance * (1 - chance)
        slope = np.zeros((self.size, self.at.size))
        np.add.at(slope, items.generator, own[:, None] * (slopes[1] - slopes[0]))
        variance = np.sum(slope * cho_solve(self.factor, slope.T).T, axis=1)
        mean = np.bincount(items.generator, told.count * chance, self.size)
        return mean, variance + np.bincount(items.generator, own, self.size)

    def log_score(self, labelled: Votes) -> np.ndarray:
        """Of the truth given the votes; of the votes given the truth if shares differ by design."""
        told = _Told(labelled)
        log = self._expect(self.at, told)[0]
        if not labelled.design.same_items:
            return log
        return log - self._expect(self.at, _Told(labelled, labels=False))[0]


class _Told:
    """Votes as two matrices, and what labels rule out."""

    def __init__(self, votes: Votes, *, labels: bool = True):
        rows = len(votes.count)
        self.passed, self.failed = np.zeros((2, rows, len(votes.judges)))
        for column, judge in enumerate(votes.judge_of_column):
            self.passed[:, judge] += votes.votes[:, column] == 1
            self.failed[:, judge] += votes.votes[:, column] == 0
        self.count, self.generator = votes.count.astype(float), votes.generator
        self.about = subject(votes) | (not labels)
        self.allowed = np.zeros((rows, 2))
        if labels:
            known = np.flatnonzero(votes.truth != MISSING)
            self.allowed[known, 1 - votes.truth[known]] = -np.inf


def share_estimate(votes: Votes, model: PanelModel, ci_prob: float) -> tuple[np.ndarray, ...]:
    """Shares among these items with intervals, normal on the logit scale."""
    mean, variance = approximate(votes, model).good(rows_of(votes, ~votes.is_labelled))
    known = votes.labelled[:, 1] if votes.design.same_items else 0
    items = about(votes).items
    value, error = (known + mean) / items, np.sqrt(variance) / items
    inside = np.clip(value, 1e-9, 1 - 1e-9)
    half = z_score(ci_prob) * error / (inside * (1 - inside))
    return value, expit(logit(inside) - half), expit(logit(inside) + half)
