"""Truth given votes by penalised logistic regression: the mode of what is sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayesjudge.panel.data import MISSING, Votes

#: Standard deviations of the normal priors on the logit scale: overall level, what is particular
#: to a generator, the weight of a vote that all judges share, and what is particular to a judge.
LEVEL, GENERATOR, SHARED, JUDGE = 2.0, 1.0, 1.0, 0.5


def vote_scores(votes: Votes) -> np.ndarray:
    """Code each judge's votes as numbers that a regression can weigh."""
    score = np.zeros((len(votes.count), len(votes.judges)))
    coded = np.select([votes.votes == 1, votes.votes == 0], [0.5, -0.5], 0.0)
    for column, judge in enumerate(votes.judge_of_column):
        score[:, judge] += coded[:, column]
    return score


@dataclass(frozen=True)
class Mode:
    """Posterior mode of the regression, with the curvature there."""

    weights: np.ndarray  # level, generators, shared weight of a vote, judges
    covariance: np.ndarray
    design: np.ndarray  # of every distinct pattern

    @property
    def chance(self) -> np.ndarray:
        """Probability that each pattern's items are good."""
        return expit(self.design @ self.weights)


def find_mode(votes: Votes) -> Mode:
    """Newton's method on the labelled items."""
    score = vote_scores(votes)
    size = len(votes.generators)
    design = np.column_stack(
        [np.ones(len(score)), np.eye(size)[votes.generator], score.sum(axis=1), score]
    )
    spread = np.concatenate([[LEVEL], [GENERATOR] * size, [SHARED], [JUDGE] * score.shape[1]])
    known = votes.truth != MISSING
    x, y, n = design[known], votes.truth[known].astype(float), votes.count[known].astype(float)
    weights = np.zeros(design.shape[1])
    for _ in range(100):
        p = expit(x @ weights)
        curvature = (x.T * (n * p * (1 - p))) @ x + np.diag(spread**-2.0)
        step = np.linalg.solve(curvature, x.T @ (n * (y - p)) - weights / spread**2)
        # a step is cut where it would jump across the flat ends of the logistic curve
        weights = weights + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-9:
            break
    return Mode(weights, np.linalg.inv(curvature), design)


def shares_at(votes: Votes, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
    """Share of good ones among each generator's items: known ones counted, others predicted."""
    p, unknown = mode.chance, votes.truth == MISSING
    expected = np.where(unknown, p, votes.truth)
    size, n = len(votes.generators), votes.items
    slope = np.zeros((size, mode.weights.size))
    spread = np.where(unknown, p * (1 - p), 0) * votes.count
    np.add.at(slope, votes.generator, spread[:, None] * mode.design)
    with np.errstate(invalid="ignore"):  # a generator without items has no share: nan
        value = np.bincount(votes.generator, votes.count * expected, size) / n
        slope /= n[:, None]
        own = np.bincount(votes.generator, spread, size) / n**2
    return value, np.sqrt(np.einsum("ij,jk,ik->i", slope, mode.covariance, slope) + own)
