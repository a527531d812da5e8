"""What is believed of the response sets before the ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.priors import BetaPrior
from bayesjudge.ratings.data import Ratings

POSITIVE = (
    *("share", "pool_size", "pool_spread", "selection", "constancy", "constancy_spread"),
    *("skew", "strength"),
)


@dataclass(frozen=True)
class Priors:
    """What is believed of the response sets before the ratings.

    Parameters
    ----------
    share : float or tuple of float, default 1
        Dirichlet weight of each response set in its mean share over items; 1 is flat. One for
        all, or one for each.
    pool_size : float, default 4
        Median of the concentration of items around the mean: ratings that the mean is worth.
    pool_spread : float, default 1
        Standard deviation of its logarithm.
    selection : float, default 1
        Dirichlet weight of each member in the choice from a response set; 1 is flat.
    constancy : float, default 8
        Median of a judge's constancy where it is tied to people: see `following`.
    constancy_spread : float, default 1.5
        Standard deviation of its logarithm.
    strength : float, optional
        Ties each source's F to one selection strength (see `choice_matrix`), Normal around 0 with
        this standard deviation. None (the default) leaves every column of F free.
    choice : tuple of tuple of float, shape (K, Q), optional
        F, where it is known: the same for every source. For one F a source, shape
        (n_sources, K, Q).
    error : BetaPrior, optional
        People's error rate. None (the default) for raters who make no errors.
    skew : float, default 0.5
        Standard deviation of the errors' skew around 0; see `error_matrix`.

    Raises
    ------
    InputError
        Where a number is not positive, or F is both tied and known.

    Examples
    --------
    >>> print(Priors(error=BetaPrior(1, 19)))
    share 1, pool size 4 (x e^±1), selection 1, constancy 8 (x e^±1.5), error Beta(1, 19), skew 0.5
    """

    share: float | tuple[float, ...] = 1.0
    pool_size: float = 4.0
    pool_spread: float = 1.0
    selection: float = 1.0
    constancy: float = 8.0
    constancy_spread: float = 1.5
    strength: float | None = None
    choice: tuple[Any, ...] | None = None
    error: BetaPrior | None = None
    skew: float = 0.5

    def __post_init__(self) -> None:
        with checking("ratings.Priors") as require:
            both = self.strength is not None and self.choice is not None
            require(not both, "F is known (choice) or tied (strength), not both")
            for name in POSITIVE:
                value = getattr(self, name)
                if value is None and name == "strength":
                    continue
                ok = np.all((np.asarray(value) > 0) & np.isfinite(value))
                require(ok, f"{name} must be positive and finite, got {value!r}")

        # F may come as an array; a tuple of numbers compares and is stored
        if self.choice is not None:
            object.__setattr__(self, "choice", _as_tuples(np.asarray(self.choice, float).tolist()))

    def __str__(self) -> str:
        share = "/".join(f"{x:g}" for x in np.atleast_1d(self.share))
        words = (
            f"share {share}, pool size {self.pool_size:g} (x e^±{self.pool_spread:g}), "
            f"{self._selection_words()}, "
            f"constancy {self.constancy:g} (x e^±{self.constancy_spread:g})"
        )
        return words + (
            f", error {self.error}, skew {self.skew:g}" if self.error else ", no errors"
        )

    def _selection_words(self) -> str:
        if self.choice is not None:
            return "F known"
        if self.strength is not None:
            return f"selection strength ±{self.strength:g}"
        return f"selection {self.selection:g}"


def check_choice(ratings: Ratings, priors: Priors) -> None:
    """Refuse a known F that does not fit the ratings.

    Parameters
    ----------
    ratings : Ratings
        Their options and response sets.
    priors : Priors
        Their F, if they have one.

    Raises
    ------
    InputError
        Where shapes differ, a column does not sum to 1, or an option is chosen from a set that
        does not hold it.
    """
    if priors.choice is None:
        return
    given, members = np.asarray(priors.choice), ratings.members
    shapes = (members.shape, (len(ratings.sources or ()), *members.shape))
    with checking("ratings.Priors") as require:
        require(given.shape in shapes, f"choice has shape {given.shape}, expected one of {shapes}")
    with checking("ratings.Priors") as require:
        require(np.allclose(given.sum(axis=-2), 1), "each column of choice must sum to 1")
        require((given >= 0).all(), "choice must not be negative")
        outside = given[..., members == 0].max(initial=0) > 0
        require(not outside, "choice gives an option a share of a set that does not hold it")


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
