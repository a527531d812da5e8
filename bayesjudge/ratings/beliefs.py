"""What is believed of the response sets before the ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.priors import BetaPrior


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
    error : BetaPrior, optional
        People's error rate. None (the default) for raters who make no errors.
    skew : float, default 0.5
        Standard deviation of the errors' skew around 0; see `error_matrix`.

    Raises
    ------
    InputError
        Where a number is not positive.

    Examples
    --------
    >>> print(Priors(error=BetaPrior(1, 19)))
    share 1, pool size 4 (x e^±1), selection 1, error Beta(1, 19), skew 0.5
    """

    share: float | tuple[float, ...] = 1.0
    pool_size: float = 4.0
    pool_spread: float = 1.0
    selection: float = 1.0
    error: BetaPrior | None = None
    skew: float = 0.5

    def __post_init__(self) -> None:
        with checking("ratings.Priors") as require:
            for name in ("share", "pool_size", "pool_spread", "selection", "skew"):
                value = getattr(self, name)
                ok = np.all((np.asarray(value) > 0) & np.isfinite(value))
                require(ok, f"{name} must be positive and finite, got {value!r}")

    def __str__(self) -> str:
        share = "/".join(f"{x:g}" for x in np.atleast_1d(self.share))
        words = (
            f"share {share}, pool size {self.pool_size:g} (x e^±{self.pool_spread:g}), "
            f"selection {self.selection:g}"
        )
        return words + (
            f", error {self.error}, skew {self.skew:g}" if self.error else ", no errors"
        )
