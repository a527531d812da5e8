"""Result class `Certificate`."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from bayesjudge.bias.certificates.centers import Center
from bayesjudge.core.estimate import Caution
from bayesjudge.core.screen import how_many
from bayesjudge.core.words import words_for

#: What released scores are shrunk towards.
CENTERS = words_for("centers")
CENTER_NAMES = words_for("center_names")
#: What the bound on shifts is taken from.
BASES = words_for("bases")


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
    center : {"fixed", "holdout", "mean"} or Center
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
    center: str | Center
    reason: str = ""
    cautions: tuple[Caution, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether there is a promise."""
        return bool(np.isfinite(self.alpha))

    @property
    def text(self) -> str:
        """The certificate in words, to be read out with the scores."""
        return "\n".join([self.promise, *(f"Caution, {c.id}: {c.text}." for c in self.cautions)])

    @property
    def promise(self) -> str:
        """What is promised, or why nothing is, in words and without the cautions."""
        if not self.certified:
            return f"Nothing is certified: {self.reason}."
        moved = "one item is" if self.design == "item" else "all items are"
        centre = CENTER_NAMES[str(self.center)]
        few = f"A certificate of {self.tolerance:.4g} points is of little use: released"
        change = "Released" if self.useful else few
        if self.alpha == 1:
            change += " as they are"
        else:
            change += f" shrunk to {self.alpha:.2g} of their distance from {centre}"
            change += " (the tolerance over the range of the scale)" * self._plain_ratio
        noise = f"noise up to {self.noise_scale:.3g} points" if self.noise_scale else "no noise"
        return (
            f"{change}, with {noise}, these {self.dim} "
            f"scores, as a vector, move by more than {self.tolerance:.4g} points, when {moved} "
            "perturbed in a way that was measured, with probability "
            f"{self.failure_prob:.3g} at most: {self.shift_prob:.3g} for larger shifts, "
            f"{self.noise_prob:.3g} for noise, {self.estimation_prob:.3g} for measuring too few "
            f"neighbours. {self._rests_on}."
        )

    @property
    def _plain_ratio(self) -> bool:
        """Whether the shrinkage holds nothing but the tolerance and the scale's range."""
        near = np.isclose(self.alpha * self.shift_bound, self.tolerance)
        return bool(self.range_only and near)

    @property
    def _rests_on(self) -> str:
        """What the bound was taken from."""
        each = f"{how_many(self.neighbours, 'neighbour')} of each perturbation (or more)"
        if self.range_only:
            return (
                "This rests on the scale alone: no shift can be larger than its range, and with "
                f"{each} no more can be said; with {self.needed} it could"
            )
        large = "" if self.useful else "; the shifts are too large for this tolerance"
        return (
            f"This rests on {BASES[self.basis]}, from {each} ({self.worst} sets the "
            f"bound): shifts of the judge's own scores stay within {self.shift_bound:.4g} points"
            f"{large}"
        )

    @property
    def useful(self) -> bool:
        """Whether something is certified of scores that keep a fifth of their spread or more."""
        return self.certified and self.alpha >= USEFUL

    def __repr__(self) -> str:
        return self.promise

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.text.splitlines())
