"""Dawid and Skene's model by expectation-maximisation, on distinct patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bayesjudge.panel.checks import subject
from bayesjudge.panel.data import MISSING, Votes

#: Keeps a logarithm finite if a rate is estimated as 0.
TINY = 1e-300


@dataclass(frozen=True)
class Rates:
    """What the model says of generators and judges."""

    shares: np.ndarray  # generator, class
    confusion: np.ndarray  # judge, class, response


@dataclass(frozen=True)
class Solution:
    """Result of expectation-maximisation."""

    rates: Rates
    log_likelihood: float
    posterior: np.ndarray
    iterations: int
    converged: bool


class Problem:
    """The votes as one matrix, so that each step of the algorithm is one matrix product."""

    def __init__(self, votes: Votes, missing: str = "skip"):
        k = votes.n_classes
        self.votes, self.n_classes = votes, k
        self.n_responses = k + (missing == "response")
        codes = votes.votes.astype(int)
        if missing == "response":
            codes = np.where(codes == MISSING, k, codes)
        patterns, columns = codes.shape
        # one column for each (judge, response); a judge who voted twice counts twice
        self.given = np.zeros((patterns, len(votes.judges) * self.n_responses))
        rows = np.arange(patterns)
        for column in range(columns):
            seen = codes[:, column] != MISSING
            at = votes.judge_of_column[column] * self.n_responses + codes[:, column]
            np.add.at(self.given, (rows[seen], at[seen]), 1.0)
        self.count = votes.count.astype(float)
        self.known = votes.truth != MISSING
        self.labels = np.eye(k)[votes.truth[self.known]]
        self.about = subject(votes)  # whose classes the shares are about

    def first_guess(self) -> np.ndarray:
        """Share of the votes for each class; a pattern without votes has equal chances."""
        by_class = self.given.reshape(len(self.given), -1, self.n_responses)[:, :, : self.n_classes]
        tally = by_class.sum(axis=1) + 1e-3
        return self._with_labels(tally / tally.sum(axis=1, keepdims=True))

    def maximise(self, posterior: np.ndarray, pseudo: float = 0.0) -> Rates:
        """Rates that fit the weighted classes best, after adding `pseudo` to every count."""
        shares, confusion = self.expected_counts(posterior)
        return Rates(_normalised(shares + pseudo), _normalised(confusion + pseudo))

    def expected_counts(self, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Items by generator and class, votes by judge, class and response."""
        weighted = posterior * self.count[:, None]
        size = len(self.votes.generators)
        shares = np.column_stack(
            [np.bincount(self.votes.generator, column * self.about, size) for column in weighted.T]
        )
        counts = (self.given.T @ weighted).reshape(-1, self.n_responses, self.n_classes)
        return shares, counts.swapaxes(1, 2)

    def expect(self, rates: Rates) -> tuple[np.ndarray, np.ndarray]:
        """Log probability of each pattern, and the probability of each class given it."""
        table = np.log(np.maximum(rates.confusion, TINY)).swapaxes(1, 2)
        joint = self.given @ table.reshape(-1, self.n_classes)
        shares = np.log(np.maximum(rates.shares, TINY))[self.votes.generator]
        joint += np.where(self.about[:, None], shares, 0.0)
        total = logsumexp(joint, axis=1)
        posterior = self._with_labels(np.exp(joint - total[:, None]))
        total[self.known] = (joint[self.known] * self.labels).sum(axis=1)
        return total, posterior

    def _with_labels(self, posterior: np.ndarray) -> np.ndarray:
        posterior[self.known] = self.labels
        return posterior


def solve(
    problem: Problem,
    *,
    start: np.ndarray | None = None,
    pseudo: float = 0.0,
    tolerance: float = 1e-10,
    max_iterations: int = 5000,
) -> Solution:
    """Alternate expectation and maximisation until the log-likelihood stops growing."""
    posterior = problem.first_guess() if start is None else start
    last, converged, iteration = -np.inf, False, 0
    while iteration < max_iterations and not converged:
        iteration += 1
        rates = problem.maximise(posterior, pseudo)
        log, posterior = problem.expect(rates)
        now = float(log @ problem.count) + pseudo * _log_prior(rates)
        converged = now - last < tolerance * (abs(now) + 1)
        last = now
    return Solution(rates, float(log @ problem.count), posterior, iteration, converged)


def covariance(problem: Problem, rates: Rates, pseudo: float) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors on the logit scale of shares and rates, from the curvature at the mode.

    The curvature is the change of the score, which expectation gives in closed form, along each
    coordinate of the softmax scale.
    """
    blocks = _rows(rates.shares) + _rows(rates.confusion)
    sizes = [len(row) for row in blocks]
    logits = np.concatenate([np.log(row[:-1] / row[-1]) for row in blocks])

    def rates_at(eta: np.ndarray) -> Rates:
        free = np.split(eta, np.cumsum([size - 1 for size in sizes])[:-1])
        rows = [_normalised(np.exp(np.append(part, 0.0))) for part in free]
        cut = len(rates.shares)
        return Rates(np.array(rows[:cut]), np.array(rows[cut:]).reshape(rates.confusion.shape))

    def score(eta: np.ndarray) -> np.ndarray:
        at = rates_at(eta)
        _, posterior = problem.expect(at)
        counts = [part + pseudo for part in problem.expected_counts(posterior)]
        parts = []
        for found, now in zip(counts, (at.shares, at.confusion), strict=True):
            gap = found - found.sum(axis=-1, keepdims=True) * now
            parts += [row[:-1] for row in _rows(gap)]
        return np.concatenate(parts)

    step = 1e-4
    hessian = np.array(
        [
            (score(logits + step * unit) - score(logits - step * unit)) / (2 * step)
            for unit in np.eye(logits.size)
        ]
    )
    sigma = np.linalg.pinv(-(hessian + hessian.T) / 2)
    errors, start = [], 0
    for row, size in zip(blocks, sizes, strict=True):
        part = sigma[start : start + size - 1, start : start + size - 1]
        errors.append(_logit_errors(row, part))
        start += size - 1
    cut = len(rates.shares)
    return np.array(errors[:cut]), np.array(errors[cut:]).reshape(rates.confusion.shape)


def _logit_errors(p: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Find standard errors of logit p from the covariance of the free softmax coordinates."""
    slope = (np.diag(p) - np.outer(p, p))[:, :-1] / (p * (1 - p))[:, None]
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slope, sigma, slope), 0))


def _rows(array: np.ndarray) -> list[np.ndarray]:
    return list(array.reshape(-1, array.shape[-1]))


def _normalised(array: np.ndarray) -> np.ndarray:
    """Rows that sum to 1; a row without any count says nothing and is level."""
    total = array.sum(axis=-1, keepdims=True)
    level = np.full_like(array, 1 / array.shape[-1])
    return np.divide(array, total, out=level, where=total > 0)


def _log_prior(rates: Rates) -> float:
    return float(
        sum(np.log(np.maximum(part, TINY)).sum() for part in (rates.shares, rates.confusion))
    )
