"""Posterior means and intervals by quadrature, as an `Estimate`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import INTERVALS, Caution, Estimate, Interval
from bayesjudge.prevalence.boundary import depths_of, extended
from bayesjudge.prevalence.cautions import cautions_of
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.declared import granted
from bayesjudge.prevalence.described import judged, with_overall
from bayesjudge.prevalence.model import SOURCE, Priors
from bayesjudge.prevalence.quadrature import posterior_of
from bayesjudge.prevalence.shares import NotIntegrated, Posterior
from bayesjudge.prevalence.strata import moved_by_priors

#: Steps of the grid on which the strata's posteriors add up.
STEPS = 2**14


def exact(
    counts: Counts,
    priors: Priors = Priors(),
    *,
    ci_prob: float = 0.95,
    interval: Interval = "eti_bounded",
) -> Estimate:
    """Posterior mean and interval by quadrature, in milliseconds and without sampling.

    Parameters
    ----------
    counts : Counts
        Verdicts and labels.
    priors : Priors, default ``Priors()``
        One for each unknown.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti_bounded", "eti", "hdi"}
        Equal-tailed with an end moved to 0 or 1 where the data do not exclude it; equal-tailed; or
        the shortest. A plain equal-tailed interval never holds 0 or 1 themselves, so that it never
        covers a prevalence of exactly 0 or 1; the moved end repairs that.

    Returns
    -------
    Estimate
        ``prevalence`` as `fit` with ``pooling="separate"`` estimates it, without Monte Carlo error;
        of strata, with their ``overall_prevalence``. ``nan`` with a caution where a system has no
        labels (``no-labels``), or where labels and verdicts disagree by more than 60 standard
        deviations (``contradiction``). The overall prevalence of strata is ``nan`` too where the
        priors, of which each stratum has its own, move it by too much (``stratum-priors``): then
        `fit` has an answer, whose strata share theirs.

    Raises
    ------
    InputError
        Where `ci_prob` or `interval` is unknown, or labels have known propensities: the shares of
        their classes are unknown too, which takes `fit`.

    Notes
    -----
    ``"eti_bounded"`` moves an end where the likelihood there, the judge's rates integrated out, is more
    than exp(-z**2 / 2) of its maximum, with z the normal quantile of `ci_prob`: the values that a
    likelihood ratio test would not reject. With labels by verdict, one good item among them
    excludes 0 and one bad item 1.

    It is the default of this room because of what ``python benchmarks/prevalence/coverage.py``
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
    posteriors, refused = _each_posterior(counts, priors)
    rows, depths = _rows(counts, priors, posteriors, ci_prob, interval)
    assumptions, raised = judged(counts, granted(counts))
    made = Estimate.from_arrays(
        {"prevalence": rows[0] if counts.systems is None else tuple(zip(*rows, strict=True))},
        counts.systems,
        method="Bayesian (exact)",
        ci_prob=ci_prob,
        source=f"{SOURCE}; quadrature",
        interval=INTERVALS[interval],
        assumptions=(*assumptions, f"priors: {priors}"),
        cautions=tuple(dict.fromkeys((*refused, *raised, *cautions_of(counts)))),
    )
    if counts.dim != "stratum":
        return made
    refusal = moved_by_priors(counts, priors, posteriors)
    if refusal is not None:
        made = replace(made, cautions=(refusal, *made.cautions))
        return with_overall(made, (np.nan, np.nan, np.nan))
    mean, low, high = _overall(counts, posteriors, ci_prob, interval)
    if interval == "eti_bounded" and None not in posteriors:
        low, high = extended((low, high), tuple(np.sum(depths, axis=0)), ci_prob)
    return with_overall(made, (mean, low, high))


def _rows(
    counts: Counts,
    priors: Priors,
    posteriors: list[Posterior | None],
    ci_prob: float,
    interval: str,
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float]]]:
    """Mean, low and high of each; and for ``"eti_bounded"``, how far the likelihood falls at the ends."""
    rows, depths = [], []
    for name, found in zip(counts.systems or ("",), posteriors, strict=True):
        if found is None:
            rows.append((np.nan, np.nan, np.nan))
            continue
        low, high = found.interval(ci_prob, interval.removesuffix("+"))
        if interval == "eti_bounded":
            depths.append(depths_of(counts.system(name) if name else counts, priors, found))
            low, high = extended((low, high), depths[-1], ci_prob)
        rows.append((found.mean, low, high))
    return rows, depths


def _each_posterior(counts: Counts, priors: Priors) -> tuple[list[Posterior | None], list[Caution]]:
    """One a system; None where there is none, with the reason unless a caution gives it anyway."""
    posteriors: list[Posterior | None] = []
    refused = []
    for name, place in zip(counts.systems or ("",), counts.places, strict=True):
        posteriors.append(None)
        if name in counts.unlabelled_systems:
            continue
        try:
            posteriors[-1] = posterior_of(counts.system(name) if name else counts, priors)
        except NotIntegrated:
            text = f"labels, verdicts and priors contradict each other{place}"
            refused.append(Caution("contradiction", f"{text}: no quadrature; check the data"))
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
