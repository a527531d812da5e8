"""Priors that a user can state in the words of the problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from bayesjudge.core.errors import checking


@dataclass(frozen=True)
class BetaPrior:
    """A Beta distribution over a probability.

    Parameters
    ----------
    alpha : float, default 1
        First shape parameter, positive. With ``beta``, 1 and 1 are flat.
    beta : float, default 1
        Second shape parameter, positive.

    Raises
    ------
    InputError
        If a parameter is not a positive number.

    Examples
    --------
    >>> BetaPrior()
    BetaPrior(alpha=1.0, beta=1.0)
    >>> BetaPrior.worth(rate=0.9, n=20).mean
    0.8636363636363636
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        with checking("BetaPrior") as require:
            for name in ("alpha", "beta"):
                value = getattr(self, name)
                require(
                    0 < value < float("inf"), f"{name} must be positive and finite, got {value!r}"
                )

    def __iter__(self) -> Iterator[float]:
        return iter((self.alpha, self.beta))

    @classmethod
    def jeffreys(cls) -> Self:
        """Build Jeffreys' prior of a binomial probability.

        Returns
        -------
        BetaPrior
            ``BetaPrior(0.5, 0.5)``.
        """
        return cls(0.5, 0.5)

    @classmethod
    def worth(cls, rate: float, n: float) -> Self:
        """Build the prior that a flat one becomes after `n` trials at `rate`.

        Parameters
        ----------
        rate : float
            Share of successes, between 0 and 1.
        n : float
            How many trials the belief is worth, 0 or more.

        Returns
        -------
        BetaPrior
            ``BetaPrior(1 + n * rate, 1 + n * (1 - rate))``.

        Raises
        ------
        InputError
            If `rate` is not a probability, or `n` is negative.

        Examples
        --------
        >>> BetaPrior.worth(rate=0.75, n=8)
        BetaPrior(alpha=7.0, beta=3.0)
        """
        with checking("BetaPrior.worth") as require:
            require(0 <= rate <= 1, f"rate must lie in [0, 1], got {rate!r}")
            require(0 <= n < float("inf"), f"n must be 0 or more, and finite, got {n!r}")
        return cls(1 + n * rate, 1 + n * (1 - rate))

    @property
    def mean(self) -> float:
        """Mean of the distribution."""
        return self.alpha / (self.alpha + self.beta)

    def __str__(self) -> str:
        if self.alpha == self.beta == 1:
            return "flat"
        if self.alpha == self.beta == 0.5:
            return "Jeffreys"
        return f"Beta({self.alpha:g}, {self.beta:g})"


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
        If `sd` is not a positive number, or `mean` is not finite.

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
