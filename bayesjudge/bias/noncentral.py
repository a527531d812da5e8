"""What really happens to a release whose shifts are known: noncentral chi-squared, no bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chndtr

from bayesjudge.bias.formulas import split, squared_radius
from bayesjudge.core.errors import checking


def exact_failure(sigma: Any, *, lengths: Any, probs: Any, dim: int, tolerance: float) -> Any:
    r"""Exact probability that a released score vector moves further than the tolerance.

    The difference of two releases is :math:`\Delta + B` with :math:`B \sim N(0, 2\sigma^2 I_d)`, so
    that its squared length is noncentral :math:`\chi^2_d`, given the length of the shift.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, 0 or more.
    lengths, probs : array_like, shape (n,)
        Lengths of the shifts, in the units of `tolerance`, and their probabilities.
    dim : int
        How many scores are released.
    tolerance : float
        The length to stay within.

    Returns
    -------
    float
        Not accurate where it is below 1e-12.

    Raises
    ------
    InputError
        Where probabilities are negative or do not add up to 1.

    Examples
    --------
    >>> exact_failure(0, lengths=[0, 1], probs=[0.98, 0.02], dim=1, tolerance=0.9)
    0.02
    """
    x, p = np.asarray(lengths, dtype=float), np.asarray(probs, dtype=float)
    with checking("exact_failure") as require:
        require(np.all(p >= 0) and np.isclose(p.sum(), 1), f"probs must add up to 1, got {probs}")
        require(sigma >= 0, f"sigma must be 0 or more, got {sigma}")
    if sigma == 0:
        return float(p @ (x > tolerance))
    variance = 2 * sigma**2
    return float(p @ (1 - chndtr(tolerance**2 / variance, dim, x**2 / variance)))


def exact_noise_scale(
    *, lengths: Any, probs: Any, dim: int, tolerance: float, failure_prob: float
) -> float:
    """Largest noise whose exact failure probability stays within `failure_prob`.

    Parameters
    ----------
    lengths, probs : array_like, shape (n,)
        The distribution of the shifts' lengths, taken as known.
    dim : int
        How many scores are released.
    tolerance, failure_prob : float
        What is to hold.

    Returns
    -------
    float
        Standard deviation, in the units of `tolerance`; ``nan`` where shifts alone fail too often.

    Raises
    ------
    InputError
        Where an argument is out of its range.

    Examples
    --------
    >>> known = {"lengths": [0.0177], "probs": [1.0], "dim": 500}
    >>> round(exact_noise_scale(**known, tolerance=0.5, failure_prob=0.01), 6)
    0.014714
    """
    split(failure_prob)
    about: dict[str, Any] = {"lengths": lengths, "probs": probs, "dim": dim}
    about["tolerance"] = tolerance

    if exact_failure(0, **about) > failure_prob:
        return float("nan")
    high = tolerance / np.sqrt(2 * squared_radius(dim, failure_prob, "chi2"))
    # without any shift `high` fails exactly with the probability allowed: more noise fails more
    return float(
        brentq(
            lambda s: exact_failure(s, **about) - failure_prob,
            high * 1e-6,
            high * (1 + 1e-9),
            xtol=1e-14,
        )
    )
