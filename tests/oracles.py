"""Answers found by another road than the package's, and tolerances taken from a run itself."""

import numpy as np
from arviz_stats.base import array_stats

#: Five standard errors: wrong by chance once in two million comparisons.
SIGMAS = 5


def assert_mc_mean(draws, expected, *, sigmas=SIGMAS):
    """The mean of `draws` (chain, draw) is `expected`, within its own Monte Carlo error."""
    mcse = float(array_stats.mcse(np.asarray(draws), method="mean"))
    off = abs(float(np.mean(draws)) - expected)
    assert off < sigmas * mcse, f"mean is {off / mcse:.1f} Monte Carlo errors from {expected:.5f}"


def assert_mc_sd(draws, expected, *, sigmas=SIGMAS):
    """The standard deviation of `draws` is `expected`, within its own Monte Carlo error."""
    mcse = float(array_stats.mcse(np.asarray(draws), method="sd"))
    off = abs(float(np.std(draws, ddof=1)) - expected)
    assert off < sigmas * mcse, f"sd is {off / mcse:.1f} Monte Carlo errors from {expected:.5f}"


def assert_mc_quantile(draws, prob, expected, *, sigmas=SIGMAS):
    """The `prob` quantile of `draws` is `expected`, within its own Monte Carlo error.

    Where a density is steep the error of a quantile is badly estimated from the draws near it, so
    that the comparison is made of probabilities: how many draws lie below `expected`.
    """
    below = (np.asarray(draws) <= expected).astype(float)
    found = float(below.mean())
    ess = float(array_stats.ess(below)) if 0 < found < 1 else below.size
    error = np.sqrt(prob * (1 - prob) / min(ess, below.size))
    off = abs(found - prob)
    assert off < sigmas * error, (
        f"{found:.4f} of the draws lie below {expected:.5f}, expected {prob}: "
        f"{off / error:.1f} Monte Carlo errors"
    )
