"""Answers found by another road than the package's, and tolerances taken from a run itself."""

import numpy as np
from arviz_stats.base import array_stats
from scipy.special import betainc

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


def unit_nodes(panels, nodes=20):
    """Composite Gauss-Legendre nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    edges = np.linspace(0, 1, panels + 1)
    steps = np.diff(edges)[:, None]
    return (edges[:-1, None] + steps * (x + 1) / 2).ravel(), (steps * w / 2).ravel()


def prevalence_cdf(counts, theta, panels=60):
    """Posterior CDF of the prevalence, labels by truth, flat priors restricted to q0 + q1 > 1.

    The integral over theta is a difference of incomplete beta functions; the two that remain are
    done with 1200 nodes each, on the triangle itself.
    """
    u, w = unit_nodes(panels)
    q0 = u[:, None]
    q1 = 1 - q0 + q0 * u
    weight = w[:, None] * w * q0
    log = (
        counts.correct_pass * np.log(q1)
        + (counts.correct_n - counts.correct_pass) * np.log1p(-q1)
        + counts.incorrect_fail * np.log(q0)
        + (counts.incorrect_n - counts.incorrect_fail) * np.log1p(-q0)
    )
    density = np.exp(log - log.max()) * weight / (q0 + q1 - 1)
    a, b = counts.test_pass + 1, counts.test_n - counts.test_pass + 1
    start = betainc(a, b, 1 - q0)

    def mass(t):
        return (density * (betainc(a, b, 1 - q0 + t * (q0 + q1 - 1)) - start)).sum()

    return np.array([mass(t) for t in np.atleast_1d(theta)]) / mass(1.0)


def joint_prevalence_cdf(counts, theta, nodes=80):
    """Posterior CDF of the prevalence, labels a random sample, flat priors.

    With whole counts the posterior density is a polynomial, which Gauss-Legendre integrates
    exactly up to degree 159 in each unknown.
    """
    x, w = (v for v in unit_nodes(1, nodes))
    q1, q0 = x[:, None], x[None, :]
    judge = (
        q1**counts.correct_pass
        * (1 - q1) ** (counts.correct_n - counts.correct_pass)
        * q0**counts.incorrect_fail
        * (1 - q0) ** (counts.incorrect_n - counts.incorrect_fail)
        * w[:, None]
        * w
    )

    def mass(t):
        share = (t * x)[:, None, None]
        p = share * q1 + (1 - share) * (1 - q0)
        seen = p**counts.test_pass * (1 - p) ** (counts.test_n - counts.test_pass)
        labels = share**counts.correct_n * (1 - share) ** counts.incorrect_n
        return (seen * labels * judge * (t * w)[:, None, None]).sum()

    return np.array([mass(t) for t in np.atleast_1d(theta)]) / mass(1.0)


def assert_same_mean(draws, expected, error):
    """Both sides have a Monte Carlo error."""
    mcse = float(array_stats.mcse(np.asarray(draws), method="mean"))
    assert abs(float(np.mean(draws)) - expected) < SIGMAS * np.hypot(mcse, error)
