"""Posterior means and intervals by quadrature, as an `Estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Interval, Quantity
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence import _formulas as formulas
from bayesjudge.prevalence._boundary import depths_of, extended
from bayesjudge.prevalence._quadrature import NotIntegrated, Posterior, posterior_of
from bayesjudge.prevalence.cautions import OVERALL, cautions_of, contradictions, judged
from bayesjudge.prevalence.closed_form import pass_rate, passes_of_all
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.model import (
    SOURCE,
    ErrorRates,
    PredictiveValues,
    PrevalenceModel,
    granted,
)

#: Steps of the grid on which the strata's posteriors add up.
STEPS = 2**14


def exact(
    counts: Counts,
    model: PrevalenceModel | None = None,
    *,
    ci_prob: float = 0.95,
    interval: Interval = "eti_bounded",
) -> Estimate:
    """Posterior mean and interval by quadrature, in milliseconds and without sampling.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    model : ErrorRates or PredictiveValues, optional
        Priors, flat by default; each system or stratum has its own unknowns.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti_bounded", "eti", "hdi"}
        Equal-tailed with an end moved to 0 or 1 where the data do not exclude it; equal-tailed; or
        the shortest. A plain equal-tailed interval never holds 0 or 1 themselves, so that it never
        covers a prevalence of exactly 0 or 1; the moved end repairs that.

    Returns
    -------
    Estimate
        ``prevalence`` as `fit` estimates it if systems are separate, without Monte Carlo error;
        of strata, with their ``overall_prevalence``. ``nan`` with a caution if a system has no
        labels (``no-labels``), two rules for the same integral disagree (``no-quadrature``), or
        strata have priors of their own that would move their sum (``stratum-priors``: then `fit`
        has an answer, whose strata share theirs). A caution ``contradiction`` says with which
        probability labels and verdicts as unlike as these would occur under the declared design
        and priors, if that is below one in a million; the numbers then describe a model that the
        data do not.

    Raises
    ------
    InputError
        Where `ci_prob` or `interval` is unknown, or labels have known propensities: the shares of
        their classes are unknown too, which takes `fit`.

    Notes
    -----
    ``"eti_bounded"`` moves an end where the likelihood there, the judge's rates integrated out, is
    more than exp(-z**2 / 2) of its maximum, with z the normal quantile of `ci_prob`: the values
    that a likelihood ratio test would not reject. With labels by verdict, one good item among them
    excludes 0 and one bad item 1.

    It is the default because of what ``python benchmarks/prevalence/intervals.py``
    counts (n = 1000, m = 200 and 500, rates .7 and .9): inside, for prevalences of .05 to .95, it
    covers .950 or more, as the plain equal-tailed interval does; at 0 and 1 it covers .969 to .972,
    where the plain one covers nothing; and it costs 0.4 to 1.6 % of mean width. The shortest
    interval falls to .927 inside.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> value, low, high = exact(counts)["prevalence"]
    >>> f"{value:.3f} ({low:.3f}, {high:.3f})"
    '0.534 (0.422, 0.639)'
    """
    check_ci_prob(ci_prob)
    with checking("exact") as require:
        require(interval in INTERVALS, f"expected one of {list(INTERVALS)}, got {interval!r}")
        require(counts.propensity is None, "known propensities have no quadrature; use fit")
    model = model or (PredictiveValues() if counts.predictive else ErrorRates())
    with checking("exact") as require:
        model._suits_priors(counts, require)
        if not counts.predictive:
            known = isinstance(model, ErrorRates) and not model._pools
            require(known, "rates that systems share have no quadrature; use ErrorRates(), or fit")
        else:
            require(isinstance(model, PredictiveValues), "labels by verdict: PredictiveValues()")
    posteriors, refused = _each_posterior(counts, model)
    refused += contradictions(counts, model.better_than_chance)
    rows, depths = _rows(counts, model, posteriors, ci_prob, interval)
    assumptions, raised = judged(counts, granted(counts))
    coords = None if counts.systems is None else {counts.dim: counts.systems}
    quantities: dict[str, Any] = {"prevalence": Quantity.over(tuple(np.transpose(rows)), coords)}
    told = [*refused, *raised, *cautions_of(counts)]
    if counts.dim == "stratum":
        refusal = _moved_by_priors(counts, model, posteriors)
        whole = (np.nan, np.nan, np.nan)
        if refusal is None:
            whole = _overall(counts, posteriors, ci_prob, interval)
            if interval == "eti_bounded" and None not in posteriors:
                depth = tuple(np.sum(depths, axis=0))
                whole = (whole[0], *extended(whole[1:], depth, ci_prob))
        else:
            told.insert(0, refusal)
        quantities = {OVERALL: whole, **quantities}
    return Estimate(
        quantities,
        method="Bayesian (exact)",
        ci_prob=ci_prob,
        source=f"{SOURCE}; quadrature",
        interval=INTERVALS[interval],
        assumptions=assumptions,
        cautions=tuple(dict.fromkeys(told)),
    )


def _rows(
    counts: Counts,
    model: PrevalenceModel,
    posteriors: list[Posterior | None],
    ci_prob: float,
    interval: str,
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float]]]:
    """Mean, low and high of each; and how far the likelihood falls at the ends."""
    rows, depths = [], []
    for name, found in zip(counts.systems or ("",), posteriors, strict=True):
        if found is None:
            rows.append((np.nan, np.nan, np.nan))
            continue
        low, high = found.interval(ci_prob, "hdi" if interval == "hdi" else "eti")
        if interval == "eti_bounded":
            depths.append(depths_of(*_of_system(counts, model, name), found))
            low, high = extended((low, high), depths[-1], ci_prob)
        rows.append((found.mean, low, high))
    return rows, depths


def _of_system(counts: Counts, model: PrevalenceModel, name: str) -> tuple[Counts, PrevalenceModel]:
    return (counts.system(name), model.of_system(name)) if name else (counts, model)


def _each_posterior(
    counts: Counts, model: PrevalenceModel
) -> tuple[list[Posterior | None], list[Caution]]:
    """One a system; None where there is none, with the reason unless a caution gives it anyway."""
    posteriors: list[Posterior | None] = []
    refused = []
    for name, place in zip(counts.systems or ("",), counts.places, strict=True):
        posteriors.append(None)
        if name in counts.unlabelled_systems:
            continue
        try:
            posteriors[-1] = posterior_of(*_of_system(counts, model, name))
        except NotIntegrated as error:
            text = f"no number{place}: the quadrature cannot be trusted ({error}); use fit"
            refused.append(Caution("no-quadrature", text))
    return posteriors, refused


def _overall(
    counts: Counts, posteriors: list[Posterior | None], ci_prob: float, interval: str
) -> tuple[float, float, float]:
    """Mean and interval of the weighed sum: the strata's posteriors are independent."""
    whole, mean = np.ones(1), 0.0
    for share, found in zip(counts.shares, posteriors, strict=True):
        if found is None:
            return np.nan, np.nan, np.nan
        steps = int(np.ceil(share * STEPS)) + 1
        # half a step off, so that a step's mass stands at its middle
        below = found.cdf((np.arange(steps + 1) - 0.5) / (share * STEPS))
        size = whole.size + steps - 1
        whole = np.fft.irfft(np.fft.rfft(whole, size) * np.fft.rfft(np.diff(below), size), size)
        mean += float(share) * found.mean
    cumulated = np.concatenate([[0.0], np.cumsum(np.maximum(whole, 0))])
    cumulated /= cumulated[-1]
    edges = np.clip((np.arange(cumulated.size) - 0.5) / STEPS, 0, 1)
    spare = 1 - ci_prob
    tails = np.linspace(0, spare, 513) if interval == "hdi" else np.array([spare / 2])
    low, high = (np.interp(tails + more, cumulated, edges) for more in (0, ci_prob))
    best = int(np.argmin(high - low))
    return mean, float(low[best]), float(high[best])


#: Standard deviations by which priors of single strata may move the overall posterior mean.
MOST = 0.5


def _moved_by_priors(
    counts: Counts, model: PrevalenceModel, posteriors: Sequence[Posterior | None]
) -> Caution | None:
    """Say so where the overall posterior mean is not where the data put it.

    The mean of each posterior is off the closed form that uses the same data, by its prior and by
    its skewness: little, but in all strata to the same side, while the whole becomes more precise.
    What these shifts add up to, less what one table would have of it, is compared with the standard
    deviation of the whole.
    """
    if None in posteriors:
        return None  # another caution says so
    found = [one for one in posteriors if one is not None]
    mean, sd = np.array([(one.mean, one.sd) for one in found]).T
    raw, bias = _raw_values(counts)
    shift = mean - raw
    for i, name in enumerate(counts.systems or ()):
        if np.isnan(shift[i]):
            shift[i] = _moved_by_more(*_of_system(counts, model, name), mean[i])
    shares = counts.shares
    moved = np.sum(shares * (1 - shares) * shift) + bias
    deviations = moved / np.sqrt(np.sum((shares * sd) ** 2))
    if abs(deviations) <= MOST:
        return None
    return Caution(
        "stratum-priors",
        f"no overall prevalence by quadrature: each of the {len(found)} strata has priors of its "
        f"own, which together move the overall mean by about {deviations:+.1f} standard "
        "deviations; use bayesjudge.prevalence.fit, whose strata share their priors "
        "(pooling='partial'), or merge strata",
    )


def _raw_values(counts: Counts) -> tuple[np.ndarray, float]:
    """Unclipped closed form of each stratum, and by how much the weighed sum is biased."""
    if counts.external_labels is not None and counts.design.same_items:
        return np.full(len(counts.shares), np.nan), 0.0  # no closed form uses all these labels
    with np.errstate(divide="ignore", invalid="ignore"):
        if not counts.design.same_items:
            good, hits, bad, caught = counts.rate_labels.values()
            p, q0, q1 = pass_rate(counts), np.divide(caught, bad), np.divide(hits, good)
            raw = np.where(q0 + q1 > 1, formulas.invert(p, q0, q1), np.nan)
            bias = formulas.ratio_bias(counts.shares, p, q0, q1, bad, good)
            return raw, float(np.nan_to_num(bias))
        passes, items = passes_of_all(counts)
        n1, n0 = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
        ppv, npv = np.divide(counts.correct_pass, n1), np.divide(counts.incorrect_fail, n0)
        return passes / items * ppv + (1 - passes / items) * (1 - npv), 0.0


def _moved_by_more(counts: Counts, model: PrevalenceModel, mean: float) -> float:
    """By how much the mean moves with each prior counted twice: about as much as by the prior."""
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    twice: dict[str, Any] = {
        name: BetaPrior(2 * prior.alpha, 2 * prior.beta)
        for name, prior in values.items()
        if isinstance(prior, BetaPrior)
    }
    try:
        return posterior_of(counts, replace(model, **twice)).mean - mean
    except NotIntegrated:
        return np.inf
