"""The exact posterior of the prevalence, by quadrature: quick, and the yardstick for NUTS.

Prevalence, pass rate and the judge's rates are tied by one equation: the one is a blend of two
others, total = share * first + (1 - share) * second. A density of the total is therefore an
integral over one of the two, with the other implied. The *broader* one is implied: its density is
evaluated where it is smooth, however thin the rest of the likelihood is (ten million verdicts make
a ridge of width 1e-4 that fixed nodes would miss).
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import Priors
from bayesjudge.prevalence.shares import Beta, Contradiction, Posterior, angle, inversion

#: Nodes of each integral.
NODES = 56
#: Half-width of an integration window, in standard deviations on the phi scale. At 10, a normal
#: density has fallen to e-50 and the likelihood of "no failure seen" to e-25.
REACH = 10.0
#: Data that disagree by more standard deviations than this get no quadrature.
MAX_CONFLICT = 60.0


class Rule(NamedTuple):
    """How an integral over a share is done."""

    reach: float
    points: np.ndarray
    log_weights: np.ndarray


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
    Contradiction
        Where labels and verdicts disagree by more than `MAX_CONFLICT` standard deviations.
    """
    if counts.predictive:
        return _from_predictive_values(counts, priors)
    good = priors.prevalence
    labels = (counts.correct_n, counts.incorrect_n) if counts.sampled else (0, 0)
    prevalence = Beta(good.alpha + labels[0], good.beta + labels[1])
    correct, hits, incorrect, caught = counts.all_labels.values()
    q1, q0 = priors.sensitivity, priors.specificity
    hit = Beta(q1.alpha + hits, q1.beta + correct - hits)
    false_pass = Beta(q0.beta + incorrect - caught, q0.alpha + caught)  # 1 - specificity
    passes = Beta(counts.test_pass + 1, counts.test_n - counts.test_pass + 1)
    above_chance = priors.better_than_chance
    rule = _rule_for(
        _conflict(prevalence, hit, false_pass, passes, above_chance, bool(sum(labels)))
    )

    def log_density(theta: np.ndarray) -> np.ndarray:
        log = prevalence.log_density(theta)
        moves = np.maximum(theta * hit.sd, (1 - theta) * false_pass.sd)
        thin = moves > passes.sd
        for mask, integral in ((thin, _blend_over_total), (~thin, _blend_over_parts)):
            if mask.any():
                args = (theta[mask], hit, false_pass, passes)
                log[mask] += integral(*args, above_chance, rule)
        return log

    return Posterior(log_density, prevalence.window(rule.reach))


def _from_predictive_values(counts: Counts, priors: Priors) -> Posterior:
    """Labels by verdict: pass rate, ppv and npv are independent Betas, prevalence follows."""
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    k, n = counts.test_pass + passed, counts.test_n + counts.labelled_n
    rate = Beta(priors.pass_rate.alpha + k, priors.pass_rate.beta + n - k)
    good = Beta(  # among passes: the positive predictive value
        priors.ppv.alpha + counts.correct_pass, priors.ppv.beta + passed - counts.correct_pass
    )
    missed = Beta(  # among fails: 1 - negative predictive value
        priors.npv.beta + failed - counts.incorrect_fail, priors.npv.alpha + counts.incorrect_fail
    )

    above_chance = priors.better_than_chance
    rule = _rule_for(inversion(good, missed) if above_chance else 0.0)

    def log_density(theta: np.ndarray) -> np.ndarray:
        p, log = _panels(theta, rate, good, missed, rule)
        log += rate.log_density(p)
        log += _log_blend(theta[:, None], p, good, missed, above_chance, rule)
        return _log_sum(log)

    return Posterior(log_density, (0.0, 1.0))


def _conflict(
    prevalence: Beta, hit: Beta, false_pass: Beta, passes: Beta, above_chance: bool, sampled: bool
) -> float:
    """By how many standard deviations, on the phi scale, the parts disagree."""
    seen = passes.mean
    expected = np.clip(seen, *sorted((false_pass.mean, hit.mean)))
    if sampled:  # the labels tell the prevalence, so they tell the pass rate
        expected = prevalence.mean * hit.mean + (1 - prevalence.mean) * false_pass.mean
    moved = np.hypot(prevalence.mean * hit.sd, (1 - prevalence.mean) * false_pass.sd)
    if sampled:
        moved = np.hypot(moved, (hit.mean - false_pass.mean) * prevalence.sd)
    sd = np.hypot(1 / np.sqrt(passes.a + passes.b), moved / np.sqrt(expected * (1 - expected)))
    off = abs(angle(seen) - angle(expected)) / sd
    return max(off, inversion(hit, false_pass) if above_chance else 0.0)


def _blend_over_total(
    theta: np.ndarray, hit: Beta, false_pass: Beta, passes: Beta, above_chance: bool, rule: Rule
) -> np.ndarray:
    """Likelihood of theta with the pass rate as a variable: where it is the best known one."""
    p, log = _panels(theta, passes, hit, false_pass, rule)
    log += passes.log_density(p)
    log += _log_blend(p, theta[:, None], hit, false_pass, above_chance, rule)
    return _log_sum(log)


def _blend_over_parts(
    theta: np.ndarray, hit: Beta, false_pass: Beta, passes: Beta, above_chance: bool, rule: Rule
) -> np.ndarray:
    """Likelihood of theta with the pass rate implied: where it is the least known one."""
    y_low, y_high = (np.full(theta.size, end) for end in false_pass.window(rule.reach))
    y, log_y = _nodes(y_low, y_high, rule)
    low, high = hit.window(rule.reach)
    z, log = _nodes(np.maximum(low, y) if above_chance else low + 0 * y, high + 0 * y, rule)
    share = theta[:, None, None]
    log += hit.log_density(z) + passes.log_density(share * z + (1 - share) * y[..., None])
    log += (log_y + false_pass.log_density(y))[..., None]
    return _log_sum(_log_sum(log))


def _panels(
    theta: np.ndarray, rate: Beta, first: Beta, second: Beta, rule: Rule
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes for the pass rate, in panels that end where the blend's density has a kink.

    It has one where both parts are at opposite ends of [0, 1], which puts the pass rate at theta
    or at 1 - theta; it matters where both densities reach those ends.
    """
    low, high = rate.window(rule.reach)
    (z_low, z_high), (y_low, y_high) = first.window(rule.reach), second.window(rule.reach)
    kinks = [theta] if z_high == 1 and y_low == 0 else []
    kinks += [1 - theta] if z_low == 0 and y_high == 1 else []
    outer = [np.full(theta.size, end) for end in (low, high)]
    ends = np.sort([*outer, *(np.clip(kink, low, high) for kink in kinks)], axis=0)
    panels = [_nodes(a, b, rule) for a, b in itertools.pairwise(ends)]
    p, log = (np.concatenate(part, axis=-1) for part in zip(*panels, strict=True))
    return p, log


def _log_blend(
    total: Any, share: Any, first: Beta, second: Beta, above_chance: bool, rule: Rule
) -> np.ndarray:
    """Log density at `total` of share * first + (1 - share) * second, of two independent Betas.

    Restricted to first > second where `above_chance`: then first > total > second.
    """
    total, share = np.broadcast_arrays(total, share)
    swap = share * first.sd < (1 - share) * second.sd  # imply the one that moves the total more
    implied, inner = (
        Beta(np.where(s, second.a, first.a), np.where(s, second.b, first.b)) for s in (swap, ~swap)
    )
    weight = np.clip(np.where(swap, 1 - share, share), 1e-300, 1)
    rest = np.maximum(1 - weight, 1e-300)
    ends = [(total - weight * z) / rest for z in reversed(implied.window(rule.reach))]
    low, high = (
        pick(own, end)
        for pick, own, end in zip(
            (np.maximum, np.minimum), inner.window(rule.reach), ends, strict=True
        )
    )
    if above_chance:
        low = np.where(swap, np.maximum(low, total), low)
        high = np.where(swap, high, np.minimum(high, total))
    y, log = _nodes(low, high, rule)
    z = (total[..., None] - rest[..., None] * y) / weight[..., None]
    implied, inner = (Beta(beta.a[..., None], beta.b[..., None]) for beta in (implied, inner))
    log += implied.log_density(z) + inner.log_density(y)
    return _log_sum(log) - np.log(weight)


def _log_sum(log: np.ndarray) -> np.ndarray:
    """Log of the sum over the last axis."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(log - top).sum(axis=-1)) + top[..., 0]


def _rule_for(conflict: float) -> Rule:
    """Widen the windows for parts that disagree: the posterior lies between them."""
    if not conflict < MAX_CONFLICT:
        raise Contradiction
    reach = max(REACH, conflict + 8)
    return _rule(reach, int(np.ceil(NODES * reach / REACH)))


@functools.lru_cache(maxsize=16)
def _rule(reach: float, nodes: int) -> Rule:
    """Gauss-Legendre in u with x = sin(u / 2)^2.

    The nodes crowd at both ends, where a density may be steep (with Jeffreys' prior, infinite).
    """
    u, weights = np.polynomial.legendre.leggauss(nodes)
    angle = (u + 1) * np.pi / 2
    return Rule(reach, np.sin(angle / 2) ** 2, np.log(weights * np.sin(angle) * np.pi / 4))


def _nodes(low: Any, high: Any, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and log weights on [low, high], along a new last axis; none where it is empty."""
    width = np.maximum(high - low, 0.0)[..., None]
    with np.errstate(divide="ignore"):
        return low[..., None] + width * rule.points, np.log(width) + rule.log_weights
