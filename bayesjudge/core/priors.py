"""Priors that a user can state in the words of the problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from bayesjudge.core.errors import checking, expect

if TYPE_CHECKING:
    import numpy as np


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
                require(0 < value < float("inf"), "must be positive and finite", **{name: value})

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
            require(0 <= rate <= 1, "must lie in [0, 1]", rate=rate)
            require(0 <= n < float("inf"), "must be 0 or more, and finite", n=n)
        return cls(1 + n * rate, 1 + n * (1 - rate))

    @classmethod
    def from_interval(cls, low: float, high: float, prob: float = 0.95) -> Self:
        """Build the prior with a given equal-tailed interval.

        Parameters
        ----------
        low, high : float
            Ends of the interval, inside (0, 1).
        prob : float, default 0.95
            Its probability; half of the rest lies below `low`, half above `high`.

        Returns
        -------
        BetaPrior
            The one Beta distribution with these quantiles.

        Raises
        ------
        InputError
            If the ends are not ordered inside (0, 1), or `prob` is not inside (0, 1).

        Examples
        --------
        >>> print(BetaPrior.from_interval(0.8, 0.95, prob=0.9))
        Beta(41.489, 5.42575)
        """
        expect("BetaPrior.from_interval", 0 < prob < 1, "must lie in (0, 1)", prob=prob)
        return cls.from_quantiles({(1 - prob) / 2: low, (1 + prob) / 2: high})

    @classmethod
    def from_quantiles(cls, quantiles: Mapping[float, float]) -> Self:
        """Build the prior with two given quantiles.

        Parameters
        ----------
        quantiles : mapping of float to float
            Two probabilities with their quantiles, for example ``{0.5: 0.9, 0.05: 0.8}``: most
            likely around 0.9, below 0.8 with probability 0.05.

        Returns
        -------
        BetaPrior
            The one Beta distribution with these quantiles.

        Raises
        ------
        InputError
            If there are not two, they are not inside (0, 1) and in order, or no Beta distribution
            has them to six digits.

        Examples
        --------
        >>> print(BetaPrior.from_quantiles({0.05: 0.8, 0.5: 0.9}))
        Beta(33.1204, 3.97073)
        """
        pairs = sorted(quantiles.items())
        with checking("BetaPrior.from_quantiles") as require:
            require(len(pairs) == 2, f"expected two quantiles, got {dict(quantiles)!r}")
            inside = all(0 < x < 1 for pair in pairs for x in pair)
            require(inside, f"probabilities and quantiles must lie in (0, 1), got {dict(pairs)!r}")
            ordered = len(pairs) == 2 and pairs[0][0] < pairs[1][0] and pairs[0][1] < pairs[1][1]
            require(ordered, f"quantiles must rise with their probabilities, got {dict(pairs)!r}")
        return cls(*_beta_with_quantiles(pairs))

    @classmethod
    def from_counts(cls, successes: float, trials: float, discount: float = 1.0) -> Self:
        """Build the prior that an earlier study leaves.

        Parameters
        ----------
        successes, trials : float
            Of the earlier study: for the sensitivity, passes among its good items.
        discount : float, default 1
            Weight in [0, 1] of one earlier trial: 1 if the study was just like this one, 0.2 if
            five of its trials tell as much as one here (a power prior).

        Returns
        -------
        BetaPrior
            ``BetaPrior(1 + discount * successes, 1 + discount * (trials - successes))``.

        Raises
        ------
        InputError
            If successes exceed trials, or `discount` is not in [0, 1].

        Examples
        --------
        >>> print(BetaPrior.from_counts(successes=90, trials=100, discount=0.2))
        Beta(19, 3)
        """
        with checking("BetaPrior.from_counts") as require:
            right = 0 <= successes <= trials < float("inf")
            require(right, f"expected 0 <= successes <= trials, got {successes!r} and {trials!r}")
            require(0 <= discount <= 1, "must lie in [0, 1]", discount=discount)
        return cls(1 + discount * successes, 1 + discount * (trials - successes))

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


def _beta_with_quantiles(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Solve for both parameters, in logarithms, from the normal distribution on the logit scale."""
    import numpy as np
    from scipy.optimize import root
    from scipy.special import betainc, expit, logit, ndtri

    p, x = np.array(pairs).T
    sd = max((logit(x[1]) - logit(x[0])) / (ndtri(p[1]) - ndtri(p[0])), 1e-6)
    centre = expit(logit(x[0]) - sd * ndtri(p[0]))
    worth = 1 / (sd**2 * centre * (1 - centre))
    start = np.log([max(centre * worth, 1e-3), max((1 - centre) * worth, 1e-3)])

    def gap(logs: np.ndarray) -> np.ndarray:
        return logit(np.clip(betainc(*np.exp(logs)[:, None], x), 1e-300, 1 - 1e-16)) - logit(p)

    solved = root(gap, start, tol=1e-12)
    alpha, beta = (float(v) for v in np.exp(solved.x))
    close = bool(np.all(np.abs(betainc(alpha, beta, x) - p) < 1e-6))
    problem = f"no Beta distribution found with the quantiles {dict(pairs)!r}"
    expect("BetaPrior.from_quantiles", close, problem)
    return alpha, beta


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
            require(abs(self.mean) < float("inf"), "must be a finite number", mean=self.mean)
            require(0 < self.sd < float("inf"), "must be positive and finite", sd=self.sd)

    def __iter__(self) -> Iterator[float]:
        return iter((self.mean, self.sd))

    def __str__(self) -> str:
        return f"Normal({self.mean:g}, {self.sd:g})"
