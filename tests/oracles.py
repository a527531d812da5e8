"""Answers found in another way than the package's, and tolerances taken from a run itself."""

import numpy as np
from arviz_stats.base import array_stats
from scipy.special import betainc, expit, logit, xlog1py, xlogy

from bayesjudge import BetaPrior
from bayesjudge.prevalence import ErrorRates, PredictiveValues

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


def flat_model(counts, prior=None, **options):
    """The model of the label design with one prior, flat by default, of every unknown."""
    kind = PredictiveValues if counts.predictive else ErrorRates
    return kind(*[prior or BetaPrior()] * 3, **options)


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


class NotResolved(ArithmeticError):
    """The trapezoidal rule with fewer nodes says something else."""


def prevalence_moments(counts, priors, nodes=(72, 96), also=()):
    """Posterior mean and sd of the prevalence by a trapezoidal rule in three dimensions.

    Then the expectations of the smooth functions `also` of its logit.

    The coordinates are not the package's: the pass rate p, how far the false-pass rate lies on the
    way from 0 to p, and the sensitivity on the way from p to 1, all as logits; of predictive
    values, the pass rate, the lower one, and how far the other lies on the way from it to 1. A
    judge worse than chance is one with the two rates exchanged. Two numbers of nodes have to agree.
    """
    every = []
    for n in nodes:
        sums = [_moments_of(counts, priors, n, False, also)]
        if not priors.better_than_chance:
            sums.append(_moments_of(counts, priors, n, True, also))
        top = max(log for log, *_ in sums)
        mass, *found = sum(np.exp(log - top) * np.array([1.0, *m]) for log, *m in sums)
        mean, square, *more = (x / mass for x in found)
        every.append((mean, np.sqrt(max(square - mean**2, 0.0)), *more))
    (mean, sd, *more), (mean_2, sd_2, *more_2) = every
    same = abs(mean - mean_2) < 1e-5 * sd_2 and abs(sd / sd_2 - 1) < 1e-5
    if not (same and np.allclose(more, more_2, rtol=0, atol=1e-6)):
        raise NotResolved(f"mean {mean} or {mean_2}, sd {sd} or {sd_2}")
    return every[1]


def smoothed_cdf(at, width):
    """Smooth step of a logit from 1 to 0, whose expectation is a smoothed distribution function."""
    return lambda logit: 1 / (1 + np.exp(np.clip((logit - at) / width, -700, 700)))


def end_off(found, end, expected, width):
    """By how many posterior sd an end of an interval is off, given the expected `smoothed_cdf`.

    `found` is the posterior in question, whose distribution function is smoothed alike.
    """
    at = np.log(end) - np.log1p(-end)
    steps = np.linspace(-36, 36, 1441)
    bump = 1 / (4 * np.cosh(steps / 2) ** 2) * (steps[1] - steps[0])
    share = 1 / (1 + np.exp(-(at + width * steps)))
    cumulated = found.cdf(share)
    density = np.sum(np.gradient(cumulated, steps) * bump) / width
    off = np.sum(cumulated * bump) - expected
    return off / density * end * (1 - end) / found.sd


def _moments_of(counts, priors, nodes, exchanged, also=()):
    """Log normaliser and moments, the judge above chance or (exchanged) below it."""

    def logs(x):
        return -np.logaddexp(0, -x), -np.logaddexp(0, x)

    def of_values(rate, below, above):
        (t, t_), (y, y_), (v, v_) = logs(rate), logs(below), logs(above)
        measure = t + t_ + y + 2 * y_ + v + v_
        z, z_ = np.logaddexp(y, y_ + v), y_ + v_
        if exchanged:
            y, y_, z, z_ = z, z_, y, y_
        m1, m0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
        k, n = counts.test_pass + m1, counts.test_n + counts.labelled_n
        log = _power(priors.pass_rate, k, n, t, t_)
        log = log + _power(priors.ppv, counts.correct_pass, m1, z, z_)
        log = log + _power(priors.npv, counts.incorrect_fail, m0, y_, y)
        return log + measure, np.logaddexp(t + z, t_ + y), np.logaddexp(t + z_, t_ + y_)

    def of_rates(p, a, b):
        (lp, lq), (la, la_), (lb, lb_) = logs(p), logs(a), logs(b)
        y, y_ = lp + la, np.logaddexp(lq, lp + la_)  # logs of a rate and of its complement
        z, z_ = np.logaddexp(lp, lq + lb), lq + lb_
        gap = np.logaddexp(lp + la_, lq + lb)
        t, t_ = lp + la_ - gap, lq + lb - gap
        if exchanged:
            y, y_, z, z_, t, t_ = z, z_, y, y_, t_, t
        measure = 2 * (lp + lq) + la + la_ + lb + lb_
        m1, a1, m0, a0 = counts.all_labels.values()
        told = counts.labels_tell_prevalence
        good, labels = (counts.correct_n, counts.labelled_n) if told else (0, 0)
        log = _power(priors.prevalence, good, labels, t, t_)
        log += _power(priors.sensitivity, a1, m1, z, z_)
        log += _power(priors.specificity, a0, m0, y_, y)
        k, n = counts.test_pass, counts.test_n
        return log + k * lp + (n - k) * lq + measure - gap, t, t_

    log_posterior = of_values if counts.predictive else of_rates
    low, high = np.full(3, -60.0), np.full(3, 60.0)
    for _ in range(40):
        axes = [np.linspace(a, b, 40) for a, b in zip(low, high, strict=True)]
        log, *_ = log_posterior(axes[0][:, None, None], axes[1][:, None], axes[2])
        for i in range(3):
            profile = log.max(axis=tuple({0, 1, 2} - {i}))
            held = np.flatnonzero(profile > log.max() - 27)
            low[i], high[i] = axes[i][max(held[0] - 1, 0)], axes[i][min(held[-1] + 1, 39)]
        if all(high[i] - low[i] > 0.8 * (axes[i][-1] - axes[i][0]) for i in range(3)):
            break
    axes = [np.linspace(a, b, nodes) for a, b in zip(low, high, strict=True)]
    log, share, rest = log_posterior(axes[0][:, None, None], axes[1][:, None], axes[2])
    weights = np.exp(log - log.max())
    step = sum(np.log(x[1] - x[0]) for x in axes)
    mass = weights.sum()
    values = [np.exp(share), np.exp(2 * share), *(f(share - rest) for f in also)]
    moments = ((weights * value).sum() / mass for value in values)
    return (log.max() + np.log(mass) + step, *moments)


def _power(prior, successes, trials, log, log_rest):
    return (prior.alpha + successes - 1) * log + (prior.beta + trials - successes - 1) * log_rest


def pooled_oracle(counts, draws=400_000, seed=1):
    """Posterior means by importance sampling from the prior; rates pooled, shares of strata too."""
    rng = np.random.default_rng(seed)
    typical = rng.uniform(size=(3, 3 * draws))
    typical[0] = rng.beta(0.5, 0.5, 3 * draws)
    typical = typical[:, typical[1:].sum(axis=0) > 1][:, :draws]
    spread = np.abs(rng.normal(size=(3, draws)))
    log, each = 0.0, []
    for i in range(len(counts.systems)):
        good, hit, caught = expit(logit(typical) + spread * rng.normal(size=(3, draws)))
        good = good if counts.adds_up else rng.beta(0.5, 0.5, draws)
        rate = good * hit + (1 - good) * (1 - caught)
        c = counts.system(counts.systems[i])
        for k, n, p in (
            (c.test_pass, c.test_n, rate),
            (*((c.correct_n, c.labelled_n) if c.labels_tell_prevalence else (0, 0)), good),
            (c.correct_pass, c.correct_n, hit),
            (c.incorrect_fail, c.incorrect_n, caught),
        ):
            log = log + xlogy(k, p) + xlog1py(n - k, -p)
        each.append((good, hit, caught))
    weights = np.exp(log - log.max())
    values = np.array(each)
    means = (values * weights).sum(axis=-1) / weights.sum()
    errors = np.sqrt((((values - means[..., None]) * weights) ** 2).sum(axis=-1)) / weights.sum()
    return means, errors
