"""Pass rate of the panel by generator, with its sampling error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesjudge.core.counting import ratio
from bayesjudge.panel.checks import vote_weights
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.voting import require_binary


@dataclass(frozen=True, eq=False)
class Summary:
    """Pass rate of the panel by generator, with sampling errors from item-level votes.

    An item's vote is the mean of the votes given on it: the votes on one item are not independent,
    so an item, and not a vote, is the unit that sampling errors are computed from.
    """

    generators: tuple[str, ...]
    labelled_n: np.ndarray  # labelled items that have a vote
    labelled_good: np.ndarray  # the good ones among them
    labelled_rate: np.ndarray  # their mean vote; 0.5 if there are none
    other_n: np.ndarray  # items without the truth that have a vote
    other_rate: np.ndarray
    spread: np.ndarray  # standard deviation of an item's vote
    slope: float  # a good item's vote less a bad one's, within generators
    residual: np.ndarray  # standard deviation of an item's vote given its truth

    @property
    def rate(self) -> np.ndarray:
        """Mean vote of all items of each generator."""
        n = self.labelled_n + self.other_n
        return ratio(self.labelled_n * self.labelled_rate + self.other_n * self.other_rate, n)

    @classmethod
    def of(cls, votes: Votes) -> Summary:
        """Summarise votes."""
        require_binary(votes, "panel.Summary")
        voted = (votes.votes != MISSING).any(axis=1)
        item = mean_vote(votes)[voted]
        generator, truth = votes.generator[voted], votes.truth[voted]
        count = votes.count[voted].astype(float)
        size = len(votes.generators)

        def total(values: np.ndarray, where: np.ndarray) -> np.ndarray:
            return np.bincount(generator[where], (count * values)[where], size)

        ones, known = np.ones_like(item), truth != MISSING
        m, n = total(ones, known), total(ones, ~known)
        k = total((truth == 1).astype(float), known)
        lab, oth = total(item, known), total(item, ~known)
        every = np.ones_like(known)
        everything, squares = total(item, every), total(item**2, every)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = everything / (m + n)
            # one passed and one failed item are added, so that no spread is estimated as 0
            spread = np.sqrt((squares - everything * centre + 0.5) / (m + n + 1))
            share = np.where(m > 0, k / m, 0.5)
            centred = (truth == 1) - share[generator]
            sxx = float(np.sum(count[known] * centred[known] ** 2))
            sxy = float(np.sum((count * centred * item)[known]))
            slope = sxy / sxx if sxx > 0 else 0.0
            residual = np.sqrt(np.maximum(spread**2 - slope**2 * share * (1 - share), 1e-6))
            return cls(
                generators=tuple(votes.generators),
                labelled_n=m,
                labelled_good=k,
                labelled_rate=np.where(m > 0, lab / m, 0.5),
                other_n=n,
                other_rate=np.where(n > 0, oth / n, 0.5),
                spread=spread,
                slope=slope,
                residual=np.where(m > 0, residual, spread),
            )


def mean_vote(votes: Votes) -> np.ndarray:
    """Share of the votes given on an item that pass it; unlabelled near copies count as one."""
    weight = vote_weights(votes)[votes.judge_of_column]
    return ratio((votes.votes == 1) @ weight, (votes.votes != MISSING) @ weight)
