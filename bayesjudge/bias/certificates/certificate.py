"""Result class `Certificate`."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from bayesjudge.core.estimate import Caution

#: What released scores are shrunk towards.
CENTERS: dict[str, str] = {
    "fixed": "a number fixed before the scores were seen",
    "holdout": "the mean of other items, which a perturbation of these leaves as it is",
    "mean": "the mean of the released scores themselves, which moves with them",
}
#: What the bound on shifts is taken from.
BASES: dict[str, str] = {
    "tail": "the upper credible bound of the tail of the shifts",
    "rms": "the upper credible bound of the RMS shift, and Markov's inequality",
    "predictive": "the posterior predictive tail of the next neighbour's shift",
    "source": "the measured RMS shift taken as true, and Markov's inequality",
}


#: Scores shrunk to less than this of their spread are of little use.
USEFUL = 0.2


@dataclass(frozen=True, eq=False)
class Certificate:
    """A promise about scores shrunk by `alpha`, or the reason why there is none.

    Parameters
    ----------
    tolerance : float
        Length of a shift of the released scores to stay within, in score points.
    failure_prob : float
        Probability of leaving it.
    alpha : float
        Shrinkage factor, in (0, 1]; ``nan`` where nothing can be certified.
    noise_scale : float
        Largest standard deviation of Gaussian noise on each released score, in score points.
    shift_bound : float
        Length of a shift of the judge's own scores that is not exceeded, but for the probabilities
        below, in score points.
    shift_prob, noise_prob, estimation_prob : float
        Parts of `failure_prob` given to shifts beyond the bound, to noise, and to a bound that is
        too small because few neighbours were measured. They add up to it.
    neighbours : int
        Measured, for the perturbation that has fewest.
    needed : int
        From which number on neighbours can say more than the scale.
    basis : {"tail", "rms", "predictive", "source"}
        What the bound was taken from; see `certify`.
    range_only : bool
        Whether the bound is the scale's range, so that no measurement is in it.
    worst : str
        The perturbation that set the bound.
    dim : int
        How many scores are released together.
    design : {"item", "batch"}
        What a neighbour is.
    center : {"fixed", "holdout", "mean"}
        What scores are shrunk towards.
    reason : str
        Why nothing is certified; empty if something is.
    cautions : tuple of Caution
        What a reader has to know.
    """

    tolerance: float
    failure_prob: float
    alpha: float
    noise_scale: float
    shift_bound: float
    shift_prob: float
    noise_prob: float
    estimation_prob: float
    neighbours: int
    needed: int
    basis: str
    range_only: bool
    worst: str
    dim: int
    design: str
    center: str
    reason: str = ""
    cautions: tuple[Caution, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether there is a promise."""
        return bool(np.isfinite(self.alpha))

    @property
    def text(self) -> str:
        """The certificate in words, to be read out with the scores."""
        return "\n".join([self.promise, *(f"Caution, {c.name}: {c.text}." for c in self.cautions)])

    @property
    def promise(self) -> str:
        """What is promised, or why nothing is, in words and without the cautions."""
        if not self.certified:
            return f"Nothing is certified: {self.reason}."
        moved = "one item is" if self.design == "item" else "all items are"
        change = (
            "as they are" if self.alpha == 1 else f"shrunk to {self.alpha:.4g} of their distance"
        )
        centre = {
            "fixed": "a centre fixed beforehand",
            "holdout": "the mean of other items",
            "mean": "their own mean",
        }[self.center]
        towards = "" if self.alpha == 1 else f" from {centre}"
        noise = f"noise up to {self.noise_scale:.3g} points" if self.noise_scale else "no noise"
        basis = (
            "This rests on the scale alone: no shift can be larger than its range, "
            f"and {self.neighbours} measured neighbour{'s' * (self.neighbours != 1)} cannot say "
            f"more ({self.needed} could)"
            if self.range_only
            else f"This rests on {BASES[self.basis]}, from {self.neighbours} neighbours of the "
            f"perturbation with fewest ({self.worst} sets the bound): shifts of the judge's own "
            f"scores stay within {self.shift_bound:.4g} points"
        )
        return (
            f"{self._in_vain}Released {change}{towards}, with {noise}, these {self.dim} scores "
            f"move by more than {self.tolerance:.4g} points, when {moved} perturbed in a way that "
            f"was measured, with probability {self.failure_prob:.3g} at most: "
            f"{self.shift_prob:.3g} for larger shifts, {self.noise_prob:.3g} for noise, "
            f"{self.estimation_prob:.3g} for measuring too few neighbours. {basis}."
        )

    @property
    def useful(self) -> bool:
        """Whether something is certified of scores that keep a fifth of their spread or more."""
        return self.certified and self.alpha >= USEFUL

    @property
    def _in_vain(self) -> str:
        """What comes before a promise that is of little use."""
        if self.useful:
            return ""
        n = f"{self.neighbours} neighbour{'s' * (self.neighbours != 1)}"
        more = (
            f"from {self.needed} neighbours on they say more than the scale does"
            if self.range_only
            else "the judge's own shifts are too large for this tolerance"
        )
        return (
            f"No useful certificate with {n}: only scores shrunk to {self.alpha:.2g} of their "
            f"spread could be certified; {more}. "
        )

    def __repr__(self) -> str:
        return self.promise

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.text.splitlines())
