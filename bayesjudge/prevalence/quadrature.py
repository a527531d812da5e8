"""The exact posterior of the prevalence, by quadrature: quick, and the yardstick for NUTS.

Where labels tell the judge's rates, the density of a prevalence is its prior times the integral
of the likelihood over both rates. Where they tell predictive values, it is the density of the
blend of two shares by a third. Both are integrals over two shares (`integrals`), done for every
prevalence at which a `Posterior` asks for its density.

A problem with good and bad, pass and fail exchanged is the same problem with the two rates in the
other order of integration, so that it serves as the second rule.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.integrals import Piece, Rule, log_height, log_integral, shares_at
from bayesjudge.prevalence.model import Priors
from bayesjudge.prevalence.shares import Beta, Marginal, Posterior

#: The second rule has other ends, other nodes, and the integrals in the other order.
FIRST, SECOND = Rule(step=0.22, swap=True), Rule(drop=26.0)
Pair = tuple[float, float]
#: Integrals done at once: bounds the memory.
AT_ONCE = 256


def posterior_of(counts: Counts, priors: Priors) -> Posterior:
    """Exact posterior of one system's prevalence.

    Parameters
    ----------
    counts : Counts
        Plain numbers.
    priors : Priors
        One for each unknown of the declared design.

    Returns
    -------
    Posterior
        With ``mean``, ``sd``, ``cdf``, ``quantile`` and ``interval``.

    Raises
    ------
    NotIntegrated
        Where two rules for the same integral disagree.
    """
    power = Beta(1.0, 1.0)
    if counts.predictive:
        pieces = _predictive(counts, priors)
        size = counts.test_n + 2 * counts.labelled_n
    else:
        prior = priors.prevalence
        good, bad = (counts.correct_n, counts.incorrect_n) if counts.sampled else (0, 0)
        power = Beta(prior.alpha + good, prior.beta + bad)
        pieces = _error_rates(counts, priors)
        size = counts.test_n + sum(counts.all_labels.values())
    density = partial(_log_density, pieces, power)
    return Posterior(
        Marginal(
            rough=partial(density, log_height),
            first=partial(density, partial(log_integral, rule=FIRST)),
            second=partial(density, partial(log_integral, rule=SECOND)),
            power=power,
            noise=size * np.finfo(float).eps,
        )
    )


def _error_rates(counts: Counts, priors: Priors) -> list[tuple[Piece, int]]:
    """Labels tell the judge's rates: pieces, each with the side from which it sees the prevalence.

    The first has a pass rate below the prevalence, the second one above it, which is the first
    with good and bad, pass and fail exchanged. Where the judge may be worse than chance, the same
    two follow with the rates exchanged.
    """
    correct, hits, incorrect, caught = counts.all_labels.values()
    q1, q0 = priors.sensitivity, priors.specificity
    hit = q1.alpha + hits, q1.beta + correct - hits
    wrong = q0.beta + incorrect - caught, q0.alpha + caught
    seen = counts.test_pass, counts.test_n - counts.test_pass
    pieces = [(_from_rates(hit, wrong, seen), 1), (_from_rates(wrong[::-1], hit[::-1], seen[::-1]), -1)]
    if not priors.better_than_chance:
        pieces += [
            (_from_rates(wrong, hit, seen), -1),
            (_from_rates(hit[::-1], wrong[::-1], seen[::-1]), 1),
        ]
    return pieces


def _from_rates(hit: Pair, wrong: Pair, seen: Pair) -> Piece:
    """Pass rate w t, false-pass rate u w t: the density of both rates times the likelihood."""
    return Piece(
        theta_power=wrong[0] + seen[0],
        rest_power=0.0,
        w=hit[0] + wrong[0] + seen[0],
        u=wrong[0],
        near=hit[0] - 1,
        cross=hit[1] - 1,
        far=wrong[1] - 1,
        rest=seen[1],
        rate=(seen[0] + 0.5) / (sum(seen) + 1),
        second=wrong[0] / sum(wrong),
    )


def _predictive(counts: Counts, priors: Priors) -> list[tuple[Piece, int]]:
    """Labels by verdict: pass rate, ppv and npv are independent Betas, prevalence follows."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    k, n = counts.test_pass + passed, counts.test_n + counts.labelled_n
    prior, right, refused = priors.pass_rate, counts.correct_pass, counts.incorrect_fail
    rate = prior.alpha + k, prior.beta + n - k
    good = priors.ppv.alpha + right, priors.ppv.beta + passed - right
    missed = priors.npv.beta + failed - refused, priors.npv.alpha + refused
    pieces = [
        (_from_values(rate, good, missed), 1),
        (_from_values(rate[::-1], missed[::-1], good[::-1]), -1),
    ]
    if not priors.better_than_chance:
        pieces += [
            (_from_values(rate[::-1], missed, good), 1),
            (_from_values(rate, good[::-1], missed[::-1]), -1),
        ]
    return pieces


def _from_values(rate: Pair, good: Pair, missed: Pair) -> Piece:
    """Pass rate w t, positive predictive value 1 - (1 - t) u."""
    return Piece(
        theta_power=rate[0] + missed[0] - 1,
        rest_power=good[1] + missed[1] - 1,
        w=rate[0],
        u=good[1],
        near=good[0] - 1,
        cross=missed[0] - 1,
        far=missed[1] - 1,
        rest=rate[1] - sum(missed),
        rate=rate[0] / sum(rate),
        second=good[1] / sum(good),
    )


def _log_density(
    pieces: list[tuple[Piece, int]], power: Beta, integral: Any, logit: np.ndarray
) -> np.ndarray:
    """Log density of a prevalence's logit; at the ends themselves, but for its power there."""
    found = []
    for x in np.array_split(logit, -(-logit.size * len(pieces) // AT_ONCE)):
        every = Piece(*(np.repeat(np.array(part, float), x.size) for part in zip(*(p for p, _ in pieces), strict=True)))
        theta = shares_at(np.concatenate([side * x for _, side in pieces]))
        found.append(integral(every, theta, np.tile(np.arange(x.size), len(pieces))))
    theta = shares_at(logit)
    ends = np.isinf(logit)
    prior = np.where(ends, 0.0, power.a * theta.log_share + power.b * theta.log_rest)
    return prior + np.concatenate(found)
