"""Laplace approximations of the models: closed forms of what `fit` samples.

Each learns from votes, and predicts how many of some items are good, by generator.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import betaincinv, expit, logit

from bayesjudge.core.estimate import Target
from bayesjudge.core.intervals import holding, z_score
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.threads import one_blas_thread
from bayesjudge.panel._summaries import Summary
from bayesjudge.panel.checks import about, rows_of, subject
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.dawid_skene import Correlated, PooledDawidSkene
from bayesjudge.panel.models.vote_regression import VoteRegression, vote_scores
from bayesjudge.truth.likelihood import given_responses

#: Spreads that are summed over, in units of their half-normal prior's scale: root mean squares of
#: its quarters, so that each is as probable as the others.
GRID = np.array([0.183, 0.502, 0.906, 1.701])
#: Median of a half-normal distribution with scale 1: a spread that is not learnt.
TYPICAL = 0.6745
#: Points of the quadrature over a shared effect.
NODES = 11
#: No effect is as large: its exponential would not be a number.
LARGEST = 6.0


def approximate(votes: Votes, model: PanelModel) -> _Bias | _LatentTruth:
    """Learn as the model does, in a fraction of a second; not for `VoteRegression`."""
    with one_blas_thread():
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


def _exp(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(np.minimum(x, LARGEST)))


def _mixture(
    parts: list[tuple[float, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a mixture of normals, weighed by Laplace's evidence of each."""
    logs, modes, curvatures = (np.array(each) for each in zip(*parts, strict=True))
    evidence = logs - 0.5 * np.linalg.slogdet(curvatures)[1]
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    mean = weight @ modes
    apart = modes - mean
    covariance = np.einsum("k,kij->ij", weight, np.linalg.inv(curvatures))
    return mean, covariance + (apart.T * weight) @ apart


class Regression:
    """`VoteRegression`: normal, with mean and covariance of the modes under each pair of spreads.

    Spreads are weighed by their evidence.
    """

    def __init__(self, votes: Votes, model: VoteRegression):
        known = votes.is_labelled
        x, y = self.design(votes)[known], votes.truth[known].astype(float)
        n, size = votes.count[known].astype(float), len(votes.generators)
        centre = np.zeros(x.shape[1])
        centre[0], centre[size + 1] = model.intercept.mean, model.vote_weight.mean
        at, parts = centre, []
        with one_blas_thread():
            for between in GRID:
                for apart in GRID:
                    scale = np.repeat(
                        [
                            *(model.intercept.sd, between * model.generator_spread),
                            *(model.vote_weight.sd, apart * model.judge_spread),
                        ],
                        [1, size, 1, len(votes.judges)],
                    )

                    def derivatives(
                        w: np.ndarray, scale: np.ndarray = scale
                    ) -> tuple[np.ndarray, np.ndarray]:
                        p = expit(x @ w)
                        curvature = (x.T * (n * p * (1 - p))) @ x + np.diag(scale**-2.0)
                        return x.T @ (n * (y - p)) - (w - centre) / scale**2, curvature

                    at, curvature = _newton(at, derivatives)
                    logits = x @ at
                    log = n @ (y * logits - np.logaddexp(0, logits))
                    log -= 0.5 * np.sum(((at - centre) / scale) ** 2) + np.log(scale).sum()
                    parts.append((float(log), at, curvature))
            self.weights, self.covariance = _mixture(parts)

    @staticmethod
    def design(votes: Votes) -> np.ndarray:
        """What the weights are of: level, generators, a vote of any judge, and of each."""
        score, generator = vote_scores(votes), np.eye(len(votes.generators))[votes.generator]
        return np.column_stack([np.ones(len(score)), generator, score.sum(axis=1), score])

    def chance(self, items: Votes) -> np.ndarray:
        """Probability that each pattern's items are good."""
        return self._chance(self.design(items))

    def _chance(self, x: np.ndarray) -> np.ndarray:
        # the mean of a logistic of a normal, nearly
        shrunk = np.sqrt(1 + np.pi / 8 * _quadratic(x, self.covariance))
        return np.asarray(expit(x @ self.weights / shrunk))

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the number of good items by generator, whatever their truth."""
        x, size = self.design(items), len(items.generators)
        p = self._chance(x)
        spread = items.count * p * (1 - p)
        slope = np.zeros((size, x.shape[1]))
        np.add.at(slope, items.generator, spread[:, None] * x)
        variance = _quadratic(slope, self.covariance) + np.bincount(items.generator, spread, size)
        return np.bincount(items.generator, items.count * p, size), variance


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
        at, parts = centre, []
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
            parts.append((float(log + np.log(ratio) - 0.5 * ratio**2), at, curvature))
        mean, covariance = _mixture(parts)
        self.level, self.level_variance = to_level @ mean, _quadratic(to_level, covariance)

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        n, g = items.items, expit(self.level / np.sqrt(1 + np.pi / 8 * self.level_variance))
        return n * g, n**2 * (g * (1 - g)) ** 2 * self.level_variance + n * g * (1 - g)

    def logit_share(self) -> tuple[np.ndarray, np.ndarray]:
        return self.level, self.level_variance


class _LatentTruth:
    """`PooledDawidSkene` and `Correlated` at their mode, under typical spreads of the judges.

    Parameters are the logits of the shares, the population's discrimination and each judge's own,
    the same of leniencies, and the logarithms of the shared effects. The curvature is that of the
    patterns' scores (their outer products).
    """

    def __init__(self, votes: Votes, model: PooledDawidSkene):
        from scipy.optimize import minimize  # slow to load

        self.model, self.shared = model, isinstance(model, Correlated)
        points, weights = np.polynomial.hermite_e.hermegauss(NODES if self.shared else 1)
        self.points, self.log_weight = points, np.log(weights / weights.sum())
        self.size, self.judges = len(votes.generators), len(votes.judges)
        self.spreads = (TYPICAL * model.discrimination_spread, TYPICAL * model.leniency_spread)
        prior = model.prevalence
        each = [prior] if isinstance(prior, BetaPrior) else [prior[g] for g in votes.generators]
        self.ends = np.array([(beta.alpha, beta.beta) for beta in each]).T
        g, j = self.size, self.judges
        at = np.zeros(g + 2 + 2 * j + 2 * self.shared)
        at[g], at[g + 1 + j] = model.discrimination.mean, model.leniency.mean
        if self.shared:
            at[-2:] = np.log(TYPICAL * model.shared_effect)  # type: ignore[attr-defined]
        known = _VoteMatrices(votes)

        def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
            log, resp, at_node = self._expect(x, known)
            density, slope, _ = self._prior(x)
            slope += known.count @ self._scores(x, known, resp, at_node)
            return -(known.count @ log + density), -slope

        limits = {"maxiter": 300, "ftol": 1e-9}
        optimum = minimize(loss, at, jac=True, method="L-BFGS-B", options=limits)
        self.at = optimum.x
        _, resp, at_node = self._expect(self.at, known)
        scores = self._scores(self.at, known, resp, at_node)
        curvature = (scores.T * known.count) @ scores + np.diag(self._prior(self.at)[2])
        self.factor = cho_factor(curvature)

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Half of each judge's discrimination, its leniency, and the shared effects."""
        g, j = self.size, self.judges
        discrimination = x[g] + self.spreads[0] * x[g + 1 : g + 1 + j]
        leniency = x[g + 1 + j] + self.spreads[1] * x[g + 2 + j : g + 2 + 2 * j]
        effect = _exp(x[g + 2 + 2 * j :]) if self.shared else np.zeros(2)
        return _exp(discrimination) / 2, leniency, effect

    def _expect(
        self, x: np.ndarray, known: _VoteMatrices, truth: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log density of each pattern, the weights of (truth, node), and P(pass) there."""
        half, leniency, effect = self._parts(x)
        logits = np.stack([leniency - half, leniency + half], axis=1)[:, :, None]
        logits = logits + effect[:, None] * self.points
        flat = logits.reshape(self.judges, -1)
        joint = known.passed @ -np.logaddexp(0, -flat) + known.failed @ -np.logaddexp(0, flat)
        joint = joint.reshape(len(joint), 2, -1) + self.log_weight
        log_share = np.stack([-np.logaddexp(0, x[: self.size]), -np.logaddexp(0, -x[: self.size])])
        joint += np.where(known.about, log_share[:, known.generator], 0.0).T[:, :, None]
        allowed = known.allowed if truth is None else np.where(np.arange(2) == truth, 0.0, -np.inf)
        joint += np.broadcast_to(allowed, (len(joint), 2))[:, :, None]
        peak = joint.max(axis=(1, 2))  # by hand: most of an evaluation would be logsumexp's checks
        resp = np.exp(joint - peak[:, None, None])
        total = resp.sum(axis=(1, 2))
        return peak + np.log(total), resp / total[:, None, None], expit(logits)

    def _scores(
        self, x: np.ndarray, known: _VoteMatrices, resp: np.ndarray, at_node: np.ndarray
    ) -> np.ndarray:
        """Slope of each pattern's log density."""
        half, _, effect = self._parts(x)
        given, by_truth = known.passed + known.failed, resp.sum(axis=2)
        rows = np.arange(len(given))
        bad, good = (
            by_truth[:, [z]] * known.passed - given * (resp[:, z] @ at_node[:, z].T) for z in (0, 1)
        )
        g, j = self.size, self.judges
        scores = np.zeros((len(given), x.size))
        scores[rows, known.generator] = (by_truth[:, 1] - expit(x[known.generator])) * known.about
        apart, together = (good - bad) * half, good + bad
        scores[:, g], scores[:, g + 1 : g + 1 + j] = apart.sum(axis=1), apart * self.spreads[0]
        scores[:, g + 1 + j] = together.sum(axis=1)
        scores[:, g + 2 + j : g + 2 + 2 * j] = together * self.spreads[1]
        if self.shared:
            passes = known.passed.sum(axis=1)
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
        density -= np.sum(a * np.logaddexp(0, -x[:g]) + b * np.logaddexp(0, x[:g]))
        slope[:g], precision[:g] = a - (a + b) * share, (a + b) * share * (1 - share)
        if self.shared:
            ratio = (_exp(x[-2:]) / self.model.shared_effect) ** 2  # type: ignore[attr-defined]
            density += np.sum(x[-2:] - 0.5 * ratio)
            slope[-2:], precision[-2:] = 1 - ratio, 2 * ratio
        return float(density), slope, precision

    def good(self, items: Votes) -> tuple[np.ndarray, np.ndarray]:
        known = _VoteMatrices(items)
        chance = self._expect(self.at, known)[1].sum(axis=2)[:, 1]
        slopes = []
        for truth in (0, 1):
            _, resp, at_node = self._expect(self.at, known, truth)
            slopes.append(self._scores(self.at, known, resp, at_node))
        spread = known.count * chance * (1 - chance)
        slope = np.zeros((self.size, self.at.size))
        np.add.at(slope, items.generator, spread[:, None] * (slopes[1] - slopes[0]))
        variance = np.sum(slope * cho_solve(self.factor, slope.T).T, axis=1)
        mean = np.bincount(items.generator, known.count * chance, self.size)
        return mean, variance + np.bincount(items.generator, spread, self.size)

    def logit_share(self) -> tuple[np.ndarray, np.ndarray]:
        return self.at[: self.size], np.diag(cho_solve(self.factor, np.eye(self.at.size)))[
            : self.size
        ]


class _VoteMatrices:
    """Votes of each pattern for and against, by judge, and which truths its label allows."""

    def __init__(self, votes: Votes):
        given, label = given_responses(votes.verdicts), votes.truth[:, None]
        self.failed, self.passed = given[:, ::2], given[:, 1::2]
        self.count, self.generator = votes.count.astype(float), votes.generator
        self.about = subject(votes)
        self.allowed = np.where((label != MISSING) & (label != [0, 1]), -np.inf, 0.0)


def share_estimate(
    votes: Votes, model: PanelModel, ci_prob: float, target: Target = "items"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of good ones with intervals: of these items, or of the population."""
    z = z_score(ci_prob)
    learnt = (
        Regression(votes, model) if isinstance(model, VoteRegression) else approximate(votes, model)
    )
    if target == "population" and not isinstance(learnt, Regression):
        centre, variance = learnt.logit_share()
        value = expit(centre / np.sqrt(1 + np.pi / 8 * variance))
        return holding(value, *(expit(centre + s * z * np.sqrt(variance)) for s in (-1, 1)))
    open_ = ~votes.is_labelled
    mean, variance = learnt.good(rows_of(votes, open_)) if open_.any() else np.zeros((2, 1))
    known = votes.labelled[:, 1] if votes.design.same_items else 0
    items = about(votes).items
    with np.errstate(invalid="ignore", divide="ignore"):  # a generator without items: nan
        value, error = (known + mean) / items, np.sqrt(variance) / items
    inside = np.clip(value, 1e-9, 1 - 1e-9)
    spread = error / (inside * (1 - inside))
    if target == "population":
        return holding(value, *_of_the_population(inside, spread, items, ci_prob))
    ends = (np.where(error == 0, value, expit(logit(inside) + s * z * spread)) for s in (-1, 1))
    return holding(value, *ends)


def _of_the_population(
    share: np.ndarray, spread: np.ndarray, items: np.ndarray, ci_prob: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends for the process that the items come from, by their share's spread on the logit scale.

    Jeffreys' interval, were the truths known, and that of the truths: their half-widths on the
    logit scale add as squares (Zou & Donner 2008).
    """
    a, b, z = items * share + 0.5, items * (1 - share) + 0.5, z_score(ci_prob)
    centre = logit(a / (items + 1))
    halves = (
        np.hypot(z * spread, centre - logit(betaincinv(a, b, prob)))
        for prob in ((1 - ci_prob) / 2, (1 + ci_prob) / 2)
    )
    low, high = halves
    return expit(centre - low), expit(centre + high)
