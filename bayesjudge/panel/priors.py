"""Priors of the panel's models, in words that a user can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from bayesjudge.core.errors import checking
from bayesjudge.core.priors import BetaPrior


@dataclass(frozen=True)
class NormalPrior:
    """A normal distribution over something without bounds.

    Parameters
    ----------
    mean : float, default 0
        Centre.
    sd : float, default 1
        Standard deviation, positive.

    Raises
    ------
    InputError
        Where `sd` is not a positive number, or `mean` is none.

    Examples
    --------
    >>> print(NormalPrior(0, 1.5))
    Normal(0, 1.5)
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        with checking("NormalPrior") as require:
            require(abs(self.mean) < float("inf"), f"mean={self.mean!r} must be a finite number")
            require(0 < self.sd < float("inf"), f"sd={self.sd!r} must be positive and finite")

    def __iter__(self) -> Iterator[float]:
        return iter((self.mean, self.sd))

    def __str__(self) -> str:
        return f"Normal({self.mean:g}, {self.sd:g})"


@dataclass(frozen=True)
class Priors:
    """Priors of all four models; each model uses its own and ignores the others.

    A *spread* is the scale of a half-normal prior of a standard deviation. Scales are logits.

    Parameters
    ----------
    prevalence : BetaPrior
        Share of good outputs of each generator, in ``"dawid_skene"`` and ``"correlated"``.
    judges : {"alike", "unrelated"}
        Whether judges are drawn from a common population that is learnt from all of them, or each
        has the priors `sensitivity` and `specificity` for itself.
    discrimination : NormalPrior
        Logarithm of the population's mean discrimination, logit(sensitivity) + logit(specificity):
        exp(0.7), that is 2, is a judge with 0.73 and 0.73. It cannot be negative, so that a judge
        is better than chance.
    discrimination_spread : float
        How much the logarithm differs between judges.
    leaning : NormalPrior
        Half of logit(sensitivity) - logit(specificity) in the population: 0 leans neither way, 2
        is lenient (0.95 and 0.27 at discrimination 2).
    leaning_spread : float
        How much it differs between judges.
    sensitivity, specificity : BetaPrior
        Of each judge, where judges are unrelated.
    better_than_chance : bool, default True
        Restrict unrelated judges to sensitivity + specificity > 1. Judges drawn from a population
        always are.
    answering : BetaPrior
        Probability of a vote at all, by judge and truth, where missing votes are a response.
    share_concentration : float
        Of the Dirichlet prior of a generator's shares, with more than two classes.
    diagonal, off_diagonal : float
        Dirichlet weights of a right vote and of each wrong one, with more than two classes.
    shared_effect : float
        Spread of what all judges have in common on an item, in ``"correlated"``.
    level : NormalPrior
        Mean over generators of the logit of the prevalence, in ``"bias_pooling"``.
    level_spread : float
        Standard deviation of those logits between generators. It is not learnt, and wide, so that
        a generator unlike the others stays so.
    bias : NormalPrior
        Mean over generators of logit(panel's pass rate) - logit(prevalence).
    bias_spread : float
        How much that bias differs between generators.
    outset : NormalPrior
        Logit of the truth of an item without votes, in ``"vote_regression"``.
    generator_spread : float
        How much that differs between generators.
    vote_weight : NormalPrior
        What a pass rather than a fail adds to the logit, on average over judges.
    judge_spread : float
        How much that differs between judges.

    Raises
    ------
    InputError
        Where a spread or a weight is not positive.
    """

    prevalence: BetaPrior = BetaPrior()
    judges: Literal["alike", "unrelated"] = "alike"
    discrimination: NormalPrior = NormalPrior(0.7, 0.7)
    discrimination_spread: float = 0.5
    leaning: NormalPrior = NormalPrior(0.0, 1.5)
    leaning_spread: float = 1.0
    sensitivity: BetaPrior = BetaPrior()
    specificity: BetaPrior = BetaPrior()
    better_than_chance: bool = True
    answering: BetaPrior = BetaPrior()
    share_concentration: float = 1.0
    diagonal: float = 2.0
    off_diagonal: float = 1.0
    shared_effect: float = 1.5
    level: NormalPrior = NormalPrior(0.0, 2.0)
    level_spread: float = 1.5
    bias: NormalPrior = NormalPrior(0.0, 1.0)
    bias_spread: float = 0.5
    outset: NormalPrior = NormalPrior(0.0, 2.0)
    generator_spread: float = 1.0
    vote_weight: NormalPrior = NormalPrior(0.0, 1.0)
    judge_spread: float = 0.5

    def __post_init__(self) -> None:
        with checking("panel.Priors") as require:
            require(
                self.judges in ("alike", "unrelated"),
                f"judges={self.judges!r}: alike or unrelated",
            )
            for field in fields(self):
                value = getattr(self, field.name)
                if isinstance(field.default, float):
                    require(0 < value < float("inf"), f"{field.name}={value!r} must be positive")

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name)}" for f in fields(self))
