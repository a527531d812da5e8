"""Dawid and Skene's model by expectation-maximisation, on distinct patterns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array, diags_array, vstack

from bayesjudge.panel.checks import subject, vote_weights
from bayesjudge.panel.data import MISSING, Votes, patterns_of
from bayesjudge.truth.likelihood import given_responses, missing_as_response

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


class Pseudo(NamedTuple):
    """Counts added before rates are estimated: items of each class, votes of each kind."""

    shares: float
    confusion: float | np.ndarray  # one number, or by class and response

    def log_prior(self, rates: Rates) -> float:
        """Logarithm of the Dirichlet density that they stand for, without its constant."""
        logs = (np.log(np.maximum(part, TINY)) for part in (rates.shares, rates.confusion))
        return float(sum(np.sum(count * log) for count, log in zip(self, logs, strict=True)))


class Problem:
    """The votes as one matrix, so that each step of the algorithm is one matrix product."""

    def __init__(
        self, votes: Votes, missing: str = "skip", judge_weights: np.ndarray | None = None
    ):
        k = votes.n_classes
        self.votes, self.n_classes = votes, k
        self.n_responses = k + (missing == "response")
        table = votes.verdicts
        self.given = given_responses(missing_as_response(table) if missing == "response" else table)
        if judge_weights is not None:
            self.given *= np.repeat(judge_weights, self.n_responses)
        self.count = votes.count.astype(float)
        self.known = votes.truth != MISSING
        self.labels = np.eye(k)[votes.truth[self.known]]
        self.about = subject(votes)  # whose classes the shares are about

    def first_guess(self) -> np.ndarray:
        """Share of the votes for each class; a pattern without votes has equal chances."""
        by_class = self.given.reshape(len(self.given), -1, self.n_responses)[:, :, : self.n_classes]
        tally = by_class.sum(axis=1) + 1e-3
        return self._with_labels(tally / tally.sum(axis=1, keepdims=True))

    def maximise(self, posterior: np.ndarray, pseudo: Pseudo) -> Rates:
        """Rates that fit the weighted classes best, after adding `pseudo` to the counts."""
        counts = zip(self.expected_counts(posterior), pseudo, strict=True)
        return Rates(*(_normalised(count + more) for count, more in counts))

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
        peak = joint.max(axis=1)  # by hand: most of an iteration would be logsumexp's checks
        total = peak + np.log(np.exp(joint - peak[:, None]).sum(axis=1))
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
    pseudo: Pseudo | float = 0.0,
    tolerance: float = 1e-10,
    max_iterations: int = 5000,
) -> Solution:
    """Alternate expectation and maximisation until the log-likelihood stops growing."""
    posterior = problem.first_guess() if start is None else start
    pseudo = _both(pseudo)
    last, converged, iteration = -np.inf, False, 0
    while iteration < max_iterations and not converged:
        iteration += 1
        rates = problem.maximise(posterior, pseudo)
        log, posterior = problem.expect(rates)
        now = float(log @ problem.count) + pseudo.log_prior(rates)
        converged = now - last < tolerance * (abs(now) + 1)
        last = now
    return Solution(rates, float(log @ problem.count), posterior, iteration, converged)


def predict_hidden_votes(votes: Votes, prior_count: float) -> tuple[float, float]:
    """Mean log score of hidden votes under each judge's own rates, and under rates of all."""
    rng, rows = np.random.default_rng(0), np.repeat(np.arange(len(votes.count)), votes.count)
    given, truth, generator = votes.votes[rows], votes.truth[rows], votes.generator[rows]
    hidden = (given != MISSING) & (rng.random(given.shape) < HIDDEN)
    seen = np.where(hidden, MISSING, given)
    item, column = np.nonzero(hidden)
    kept: dict[str, Any] = {"classes": votes.classes, "calibration": votes.calibration}
    kept |= {"judge_of_column": votes.judge_of_column}
    visible = Votes(seen, truth, generator, votes.generators, votes.judges, **kept)
    scores = []
    for part in (visible, _as_one_judge(visible)):
        pseudo = pooled(part, "skip", prior_count)
        solution = solve(Problem(part), pseudo=pseudo, tolerance=1e-8)
        posterior = solution.posterior[patterns_of(part, seen, truth, generator)[item]]
        rates = solution.rates.confusion[part.judge_of_column[column], :, given[hidden]]
        chance = np.sum(posterior * rates, axis=1)
        scores.append(float(np.log(np.maximum(chance, TINY)).mean()))
    return scores[0], scores[1]


#: Share of the votes that are hidden to see whether judges can be told apart.
HIDDEN = 0.2
#: More free rates than this have no interval, since their covariance is one dense matrix.
MOST_RATES = 3000


def covariance(problem: Problem, rates: Rates, pseudo: Pseudo) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors on the logit scale of shares and rates, from the curvature at the mode.

    The curvature along the coordinates of the softmax scale is that of complete data less what is
    missing: the spread, over an item's classes, of its score (Louis 1982). A score has entries of
    the judges who voted on the item only, so it is sparse. All are ``nan`` if there are more than
    `MOST_RATES` free coordinates.
    """
    missing = _missing_scores(problem, rates)
    size = missing.shape[1]
    if size > MOST_RATES:
        return np.full_like(rates.shares, np.nan), np.full_like(rates.confusion, np.nan)
    expected = problem.expected_counts(problem.expect(rates)[1])
    rows = [*_rows(rates.shares), *_rows(rates.confusion)]
    counts = [(part + more).sum(axis=-1) for part, more in zip(expected, pseudo, strict=True)]
    n = np.concatenate([part.ravel() for part in counts])
    blocks = [m * (np.diag(p) - np.outer(p, p))[:-1, :-1] for p, m in zip(rows, n, strict=True)]
    information = block_diag(*blocks) - (missing.T @ missing).toarray()
    try:
        sigma = cho_solve(cho_factor(information), np.eye(size))
    except LinAlgError:  # a direction that the data do not tell
        sigma = np.linalg.pinv(information)
    errors, start = [], 0
    for row in rows:
        block = slice(start, start + len(row) - 1)
        errors.append(_logit_errors(row, sigma[block, block]))
        start = block.stop
    cut = len(rates.shares)
    return np.array(errors[:cut]), np.array(errors[cut:]).reshape(rates.confusion.shape)


def _missing_scores(problem: Problem, rates: Rates) -> Any:
    """One row per pattern and class: its score less the pattern's mean, weighed by its chance."""
    k, r = problem.n_classes, problem.n_responses
    posterior = problem.expect(rates)[1]
    # what labels tell has one class, and nothing missing
    rows = np.flatnonzero(posterior.max(axis=1) < 1 - 1e-12)
    posterior, given = posterior[rows], csr_array(problem.given[rows])
    judge, response = np.divmod(given.indices, r)
    item = np.repeat(np.arange(len(rows)), np.diff(given.indptr))
    generators, judges = len(rates.shares), len(rates.confusion)
    size = generators * (k - 1) + judges * k * (r - 1)
    scores = []
    for truth in range(k):
        first = generators * (k - 1) + (judge * k + truth) * (r - 1)
        parts = [(item, first + response, given.data, response < r - 1)]
        for other in range(r - 1):
            fitted = -given.data * rates.confusion[judge, truth, other]
            parts.append((item, first + other, fitted, np.full(len(item), True)))
        generator, about = problem.votes.generator[rows], problem.about[rows]
        for other in range(k - 1):
            gap = (truth == other) - rates.shares[generator, other]
            parts.append((np.arange(len(rows)), generator * (k - 1) + other, gap, about))
        at, column, value, kept = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        scores.append(coo_array((value[kept], (at[kept], column[kept])), (len(rows), size)).tocsr())
    mean = sum(diags_array(posterior[:, t]) @ scores[t] for t in range(k))
    weight = np.sqrt(posterior * problem.count[rows][:, None])
    return vstack([diags_array(weight[:, t]) @ (scores[t] - mean) for t in range(k)], format="csr")


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


def _both(pseudo: Pseudo | float) -> Pseudo:
    return pseudo if isinstance(pseudo, Pseudo) else Pseudo(pseudo, pseudo)


def pooled(votes: Votes, missing: str, prior_count: float) -> Pseudo:
    """Votes added to every judge's, in the proportions that rates common to all judges have."""
    if prior_count == 0:
        return Pseudo(0.0, 0.0)
    solution = solve(Problem(_as_one_judge(votes), missing), pseudo=prior_count, tolerance=1e-8)
    common = solution.rates.confusion[0]
    return Pseudo(prior_count, prior_count * common.shape[-1] * common)


def posterior_mode(
    votes: Votes, missing: str, prior_count: float
) -> tuple[Problem, Pseudo, Solution]:
    """The solution under `pooled`; near copies of a judge count as one."""
    problem = Problem(votes, missing, vote_weights(votes))
    pseudo = pooled(votes, missing, prior_count)
    return problem, pseudo, solve(problem, pseudo=pseudo)


def _as_one_judge(votes: Votes) -> Votes:
    return replace(votes, judges=("any",), judge_of_column=np.zeros_like(votes.judge_of_column))
